"""What must hold of a page, as functions that return the faults they find; test_checks_can_fail.py shows that each can find one."""

import re
from collections import Counter
from dataclasses import dataclass, field
from importlib.metadata import distribution
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

from bs4 import BeautifulSoup

AXE = next(f for f in distribution("axe-playwright-python").files if f.name == "axe.min.js").locate().read_text("utf-8")
TAGS = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa")
LOADED = {"link": "href", "img": "src", "script": "src", "iframe": "src", "source": "src", "video": "src", "audio": "src"}
# Links of the head that name something without loading it.
NAMED_ONLY = {"canonical", "license", "author", "search", "prev", "next", "index"}


def pages(site: Path) -> list[str]:
    """Every page of the built site, as a path from its root; index.html there only sends on to the front page."""
    ours = (path.relative_to(site) for path in site.rglob("*.html"))
    return sorted(path.as_posix() for path in ours if path.parts[0] not in ("_static", "_sources", "vendor", "index.html"))


@dataclass(frozen=True)
class Document:
    """What one file links to, loads, and can be linked at."""

    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)
    anchors: frozenset[str] = frozenset()
    nameless_images: list[str] = field(default_factory=list)
    repeated_ids: list[str] = field(default_factory=list)


def read(html: str) -> Document:
    soup = BeautifulSoup(html, "html.parser")
    for fallback in soup.find_all("noscript"):
        fallback.unwrap()
    loads = [
        tag[attribute]
        for name, attribute in LOADED.items()
        for tag in soup.find_all(name)
        if tag.get(attribute) and not NAMED_ONLY & set(tag.get("rel") or [])
    ]
    styles = " ".join(tag.get_text() for tag in soup.find_all("style")) + " ".join(t["style"] for t in soup.find_all(style=True))
    loads += re.findall(r"url\(\s*['\"]?([^'\")]+)", styles) + re.findall(r"@import\s+['\"]([^'\"]+)", styles)
    ids = [tag["id"] for tag in soup.find_all(id=True)]
    return Document(
        links=[a["href"] for a in soup.find_all("a", href=True)],
        loads=loads,
        anchors=frozenset(ids) | frozenset(a["name"] for a in soup.find_all("a", attrs={"name": True})),
        nameless_images=[str(i)[:200] for i in soup.find_all("img") if not (i.get("alt") or "").strip() and i.get("aria-hidden") != "true"]
        + [str(s)[:200] for s in soup.find_all("svg", role="img") if not s.get("aria-label") and not s.find("title")],
        repeated_ids=[name for name, times in Counter(ids).items() if times > 1],
    )


def external_loads(document: Document) -> list[str]:
    """What the page would ask another host for."""
    return [url for url in document.loads if re.match(r"(https?:)?//", url)]


def dead_links(site: Path, documents: dict[str, Document]) -> list[str]:
    """Internal links and loaded files whose file or anchor does not exist."""
    dead = []
    for page, document in documents.items():
        for url in (*document.links, *document.loads):
            parts = urlsplit(url)
            if parts.scheme or parts.netloc:
                continue
            target = unquote(urljoin(page, parts.path)) if parts.path else page
            if not (site / target).is_file():
                dead.append(f"{page}: {url} (no such file)")
            elif parts.fragment and target.endswith(".html"):
                there = documents.get(target) or read((site / target).read_text("utf-8"))
                if unquote(parts.fragment) not in there.anchors:
                    dead.append(f"{page}: {url} (no such anchor)")
    return dead


# Run in the page: what a reader would see of mathematics that was not typeset.
MATHEMATICS = r"""() => {
  const faults = [...document.querySelectorAll("mjx-merror, [data-mjx-error]")].map((e) => "error in a formula: " + e.textContent);
  for (const box of document.querySelectorAll(".math, .MathJax_Preview"))
    if (!box.querySelector("mjx-container")) faults.push("not typeset: " + box.textContent.slice(0, 80));
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT, (node) =>
    node.parentElement.closest("pre, code, script, style, noscript, mjx-container, textarea") ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT);
  const raw = /\\[([\])]|\$\$|\$[^$\s][^$\n]*\$|\\(begin|end|frac|varepsilon|Pr|le|ge|ln|sqrt|sum)\b/;
  for (let node; (node = walker.nextNode()); ) if (raw.test(node.data)) faults.push("raw: " + node.data.trim().slice(0, 80));
  return faults;
}"""

# axe needs ten seconds for a long listing, whose rows are all alike: keep each row that shows something new.
SHORTEN = """() => {
  const seen = new Set();
  for (const row of document.querySelectorAll(".dp-source .dp-row")) {
    const kinds = [...row.querySelectorAll("*")].map((e) => `${e.localName} ${e.className}`);
    if (kinds.every((kind) => seen.has(kind))) row.remove();
    kinds.forEach((kind) => seen.add(kind));
  }
}"""

# Everything axe knows under these tags, also what it holds back as experimental (labels that differ from their text).
ACCESSIBILITY = """async (tags) => {
  const rules = axe.getRules(tags).filter((rule) => !rule.tags.includes("deprecated")).map((rule) => rule.ruleId);
  const { violations } = await axe.run(document, { runOnly: { type: "rule", values: rules }, resultTypes: ["violations"] });
  return violations.flatMap((v) => v.nodes.map((n) => `${v.id}: ${n.target.join(" ")}: ${n.html.slice(0, 160)} ${n.failureSummary}`));
}"""

# Formulas set, fonts there, and no colour still fading from one theme to another.
SETTLED = """async () => {
  await window.MathJax?.startup?.promise;
  await document.fonts.ready;
  for (const fading of document.getAnimations()) if (fading instanceof CSSTransition) fading.finish();
}"""


class Visit:
    """A page loaded in a tab, and everything that went wrong while it loaded."""

    def __init__(self, page, url: str):
        self.page, self.faults, self.origin = page, [], "{0.scheme}://{0.netloc}".format(urlsplit(url))
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.faults.append(f"script error: {error}"))
        page.on("request", self._request)
        page.on("requestfailed", lambda request: self.faults.append(f"failed request: {request.url}"))
        page.on("response", self._response)
        page.goto(url, wait_until="load")
        page.evaluate(SETTLED)

    def _console(self, message):
        if message.type in ("error", "warning"):
            self.faults.append(f"console {message.type}: {message.text}")

    def _request(self, request):
        if not request.url.startswith((self.origin, "data:", "blob:", "about:")):
            self.faults.append(f"external request: {request.url}")

    def _response(self, response):
        if response.status >= 400:
            self.faults.append(f"status {response.status}: {response.url}")

    def mathematics(self) -> list[str]:
        return self.page.evaluate(MATHEMATICS)

    def accessibility(self) -> list[str]:
        """Faults by axe. It fetches stylesheets in its own way, so what it asks for is not held against the page."""
        before = list(self.faults)
        self.page.evaluate(SHORTEN)
        self.page.evaluate(AXE)
        found = self.page.evaluate(ACCESSIBILITY, TAGS)
        self.faults = before
        return found

    def sideways(self) -> list[str]:
        """Whether the page as a whole scrolls sideways, and what sticks out."""
        return self.page.evaluate("""() => {
          const width = document.documentElement.clientWidth;
          if (document.documentElement.scrollWidth <= width + 1) return [];
          const wide = [...document.querySelectorAll("article *")].filter((e) => e.getBoundingClientRect().right > width + 1);
          return ["the page is wider than the screen", ...wide.slice(0, 5).map((e) => e.outerHTML.slice(0, 120))];
        }""")


def sliders(visit: Visit) -> list[str]:
    """Move every slider of every figure with the mouse and with the keyboard; say which moves changed nothing."""
    faults = []
    for number, figure in enumerate(visit.page.locator("figure.dplib-explore").all()):
        ranges = figure.locator("input[type=range]").all()
        if not ranges and not figure.locator("input, select").count():
            faults.append(f"figure {number} has nothing to move")
        for index, slider in enumerate(ranges):
            for way, move in (("keyboard", by_keyboard), ("mouse", by_mouse)):
                before = shown(figure)
                move(visit.page, slider)
                after = shown(figure)
                for what, old, new in zip(("drawing", "numbers"), before, after):
                    if old == new:
                        faults.append(f"figure {number}, slider {index}: the {what} did not change by {way}")
    return faults


def games(visit: Visit) -> list[str]:
    """Play one round of every game with the mouse and one with the keyboard; say which changed nothing."""
    faults = []
    for number, figure in enumerate(visit.page.locator("figure.dplib-player").all()):
        buttons = figure.locator(".pl-main button").all()
        if len(buttons) != 2:
            faults.append(f"game {number} has {len(buttons)} buttons to play with")
        for way, button in zip(("mouse", "keyboard"), buttons):
            before = shown(figure)
            button.click() if way == "mouse" else button.press("Enter")
            for what, old, new in zip(("drawing", "numbers"), before, shown(figure)):
                if old == new:
                    faults.append(f"game {number}: the {what} did not change by {way}")
    return faults


def shown(figure) -> tuple[str, str]:
    return figure.locator(".dx-plot > svg").inner_html(), figure.locator("[role=status]").inner_text()


def by_keyboard(page, slider):
    """One step up, or down from the top."""
    slider.focus()
    at_top = slider.evaluate("s => s.value === s.max")
    page.keyboard.press("ArrowLeft" if at_top else "ArrowRight")


def by_mouse(page, slider):
    """Press on the far end of the track."""
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    low = slider.evaluate("s => 2 * (s.value - s.min) <= s.max - s.min")
    page.mouse.click(box["x"] + box["width"] * (0.97 if low else 0.03), box["y"] + box["height"] / 2)
