"""The built site, served on this machine, and one browser that can reach nothing else."""

import sys
import threading
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "website"), str(Path(__file__).parent)]

import browser as chromium  # noqa: E402
import checks  # noqa: E402
import serve  # noqa: E402

SITE = ROOT / "_build" / "html"
NO_SITE = "There is no built site in _build/html: run `make site` first, or `make test`, which does both."


def pytest_generate_tests(metafunc):
    """A test that asks for `path` runs once for every page."""
    if "path" in metafunc.fixturenames:
        found = checks.pages(SITE)
        if not found:
            pytest.exit(NO_SITE, returncode=2)
        metafunc.parametrize("path", found)


@pytest.fixture(scope="session")
def site() -> Path:
    if not (SITE / "index.html").is_file():
        pytest.exit(NO_SITE, returncode=2)
    return SITE


@pytest.fixture(scope="session")
def documents(site):
    return {page: checks.read((site / page).read_text("utf-8")) for page in checks.pages(site)}


@pytest.fixture(scope="session")
def address():
    """Serve a folder; gives a function from folder to address."""
    running = []

    def serving(folder):
        httpd = serve.server(folder, [0])
        running.append(httpd)
        threading.Thread(target=httpd.serve_forever, daemon=True).start()
        return f"http://{serve.HOST}:{httpd.server_port}"

    yield serving
    for httpd in running:
        httpd.shutdown()
        httpd.server_close()


@pytest.fixture(scope="session")
def root(site, address):
    return address(site)


@pytest.fixture(scope="session")
def browser():
    with chromium.launched() as running:
        yield running


@pytest.fixture(scope="session")
def visit(browser):
    """Load an address in a colour scheme at a width; the tab is closed by the next visit."""
    contexts, tabs = {}, []

    def visiting(url, scheme="light", size=(1280, 900)):
        if (scheme, size) not in contexts:
            contexts[scheme, size] = browser.new_context(color_scheme=scheme, viewport={"width": size[0], "height": size[1]})
        while tabs:
            tabs.pop().close()
        tabs.append(contexts[scheme, size].new_page())
        return checks.Visit(tabs[-1], url)

    yield visiting
    for context in contexts.values():
        context.close()


@pytest.fixture
def opened(request, browser, lone_page):
    """Open the module's `lone_page` at a width and theme; at the end nothing may have been asked for or complained about.

    HELPERS, if the module has them, are functions for its tests to call in the page.
    """
    contexts, complaints = [], []

    def open_(width=1000, theme="light", **options):
        context = browser.new_context(viewport={"width": width, "height": 800}, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda asked: asked.url == lone_page or asked.url.startswith("data:") or complaints.append(asked.url))
        page.goto(lone_page)
        if options.get("java_script_enabled", True):
            page.evaluate("theme => { document.documentElement.dataset.theme = theme }", theme)
            page.evaluate(getattr(request.module, "HELPERS", "null"))
        return page

    yield open_
    for context in contexts:
        context.close()
    assert complaints == []
