"""Slider figure and game in a running JupyterLab: what `make lab` gives to a class."""

import os
import socket
import subprocess
import sys
import time
import urllib.request

import nbformat
import pytest

CELLS = (
    """from dplib.explore import Check, Plot, bound, explore
def line(n):
    return Plot([1, 2], [bound("line", [n, n])], "x", "y", check=Check(n, 5))
explore(line, n=[1, 2, 3], start={"n": 2}, caption="A line.", alt="What to see.")""",
    """from dplib.player import play
play(caption="A game.", alt="A falling curve.")""",
)


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """The address of a JupyterLab with one notebook in it."""
    folder = tmp_path_factory.mktemp("lab")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(notebook, folder / "figures.ipynb")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}", "--IdentityProvider.token=",
               "--ServerApp.password=", f"--ServerApp.root_dir={folder}", "--LabApp.news_url=", "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"]
    environment = {name: value for name, value in os.environ.items() if name != "DPLIB_EXPLORE"}
    with open(folder / "log", "w") as log:
        server = subprocess.Popen(command, env=environment | {"JUPYTER_PREFER_ENV_PATH": "1"}, stdout=log, stderr=log)
    try:
        address = f"http://127.0.0.1:{port}/lab/tree/figures.ipynb"
        for _ in range(120):
            try:
                urllib.request.urlopen(address, timeout=5).close()
                break
            except OSError:
                assert server.poll() is None, (folder / "log").read_text()
                time.sleep(0.5)
        yield address
    finally:
        server.terminate()
        server.wait(20)


def test_a_slider_redraws_and_the_game_is_played(browser, lab):
    page, faults = browser.new_page(viewport={"width": 1200, "height": 1600}), []
    page.on("console", lambda message: "create a view" in message.text and faults.append(message.text))
    page.goto(lab)
    page.locator(".jp-Notebook .jp-CodeCell").nth(1).wait_for(timeout=60_000)
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_text("Run All Cells", exact=True).click()

    picture = page.locator('img[alt="What to see."]')
    picture.wait_for(timeout=90_000)
    before = picture.get_attribute("src")
    page.locator(".widget-slider [role=slider], .noUi-handle").first.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("before => document.querySelector('img[alt=\"What to see.\"]').src !== before", arg=before, timeout=30_000)

    game = page.locator("figure.dplib-player[data-ready]")
    game.wait_for(timeout=60_000)
    game.get_by_role("button", name="heaviest-first").click()
    assert "Round 1" in game.locator("[role=status]").inner_text()
    assert page.get_by_text("Click to show javascript error").count() == 0 and faults == []
    page.close()
