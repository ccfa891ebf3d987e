"""Find a Chromium for the tests and pictures, or get one, or say what to install.

    python website/browser.py                     # print the path of a Chromium that starts
    python website/browser.py picture FILE.png    # the README's picture, from the built site

In order: the variable CHROMIUM; a Chromium or Chrome on the path; the one Playwright has downloaded; a download by
Playwright; the system's package manager. Nothing is ever skipped: where none can be had, this fails.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
APPLICATIONS = ("/Applications/Chromium.app/Contents/MacOS/Chromium", "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome")
# No host but our own server resolves, so a page that asks for anything else fails visibly.
FLAGS = (
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
)
HELP = """No Chromium was found and none could be installed. Do one of these, then run the command again:
  - install Chromium or Google Chrome (Debian and Ubuntu: apt-get install chromium; Fedora: dnf install chromium;
    macOS: brew install --cask chromium) so that it is on the path;
  - set CHROMIUM to the path of one that you have;
  - let Playwright download its own where the network allows: .venv/bin/playwright install --with-deps chromium"""


def flags() -> list[str]:
    """Chromium's own sandbox does not work as root, as in most containers."""
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    return [*FLAGS, "--no-sandbox"] if root else list(FLAGS)


def starts(path: str | None) -> bool:
    """Whether this is a browser that starts, libraries and all."""
    if not path or not Path(path).is_file():
        return False
    with tempfile.TemporaryDirectory() as home:
        command = [path, "--headless", *flags(), f"--user-data-dir={home}", "--dump-dom", "data:text/html,<p>up</p>"]
        try:
            run = subprocess.run(command, capture_output=True, timeout=60, text=True, env={**os.environ, "HOME": home})
        except (OSError, subprocess.TimeoutExpired):
            return False
    return "<p>up</p>" in run.stdout


def candidates():
    """Places where a Chromium may be, best first."""
    if "CHROMIUM" in os.environ:
        yield shutil.which(os.environ["CHROMIUM"]) or os.environ["CHROMIUM"]
        return  # the reader chose; another browser would be a surprise
    for name in NAMES:
        yield shutil.which(name)
    yield from APPLICATIONS
    yield playwrights_own()


def playwrights_own() -> str:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        return playwright.chromium.executable_path


def installers():
    """Commands that may bring a Chromium, gentlest first."""
    yield [[sys.executable, "-m", "playwright", "install", "chromium"]]
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    if root and shutil.which("apt-get"):
        yield [["apt-get", "update"], ["apt-get", "install", "-y", "--no-install-recommends", "chromium"]]
    if root and shutil.which("dnf"):
        yield [["dnf", "install", "-y", "chromium"]]
    if root and shutil.which("apk"):
        yield [["apk", "add", "chromium"]]


def find() -> str | None:
    return next((path for path in candidates() if starts(path)), None)


def find_or_install() -> str:
    """The path of a Chromium that starts; exits with what to do when there is none to be had."""
    found = find()
    if found:
        return found
    if "CHROMIUM" in os.environ:
        sys.exit(f"CHROMIUM is {os.environ['CHROMIUM']!r}, which does not start as a browser. Correct or unset it.")
    for commands in installers():
        for command in commands:
            print("No Chromium yet, trying:", " ".join(command), flush=True)
            if subprocess.run(command, env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"}).returncode:
                break
        found = find()
        if found:
            return found
    sys.exit(HELP)


@contextmanager
def launched():
    """A running headless browser whose profile and home are thrown away afterwards."""
    from playwright.sync_api import sync_playwright

    path = find_or_install()
    with tempfile.TemporaryDirectory() as home, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path,
            args=flags(),
            chromium_sandbox="--no-sandbox" not in flags(),
            env={**os.environ, "HOME": home},
        )
        try:
            yield browser
        finally:
            browser.close()


def picture(target: Path, page_name: str = "chapters/06-sparse-vector.html") -> None:
    """The first slider figure of a page, as the README shows it."""
    site = Path(__file__).parent.parent / "_build" / "html"
    with launched() as browser:
        page = browser.new_page(viewport={"width": 1000, "height": 900}, color_scheme="light", device_scale_factor=1.5)
        page.goto((site / page_name).as_uri())
        page.wait_for_load_state("networkidle")
        figure = page.locator("figure.dplib-explore").first
        figure.evaluate("f => { f.style.padding = '16px'; f.style.background = '#fff'; }")
        figure.screenshot(path=target)
    print(f"wrote {target}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["picture"]:
        picture(Path(sys.argv[2]))
    else:
        print("Chromium:", find_or_install())
