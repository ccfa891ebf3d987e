"""The checks of the site can fail: each is shown a page with one thing broken and names it."""

from pathlib import Path

import browser as chromium
import checks
import pytest

GOOD = """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Good</title><link rel="icon" href="data:,"></head>
<body><main><h1 id="top">Good</h1><p>All is <a href="#top">well</a>.</p><p><!-- here --></p></main></body></html>"""


@pytest.fixture
def broken(tmp_path, address, visit):
    """The good page with something put into it, visited."""
    where = address(tmp_path)

    def put(fault, **mode):
        (tmp_path / "page.html").write_text(GOOD.replace("<!-- here -->", fault), "utf-8")
        return visit(f"{where}/page.html", **mode)

    return put


def test_the_good_page_has_no_fault(broken):
    seen = broken("")
    assert [*seen.mathematics(), *seen.sideways(), *seen.accessibility(), *seen.faults] == []


@pytest.mark.parametrize(
    "fault, found",
    [
        ('<img alt="x" src="https://example.org/x.png">', "external request: https://example.org/x.png"),
        ('<img alt="x" src="missing.png">', "status 404"),
        ("<script>console.error('out of order')</script>", "out of order"),
        ("<script>undefinedFunction()</script>", "script error"),
        ("<script>fetch('https://example.org/count')</script>", "external request: https://example.org/count"),
        ("<style>@font-face {font-family: F; src: url(https://example.org/f.woff)} p {font-family: F}</style>", "https://example.org/f.woff"),
    ],
)
def test_a_fault_while_loading_is_seen(broken, fault, found):
    seen = broken(fault)
    seen.page.wait_for_timeout(100)
    assert any(found in line for line in seen.faults), seen.faults


@pytest.mark.parametrize(
    "fault",
    [
        r"\(x^2\)",
        r"for $\delta > 0$ we",
        r"$$ x $$",
        r"\[ x \]",
        r"so \frac{1}{2}",
        '<span class="math">x</span>',
        "<mjx-merror>Undefined control sequence</mjx-merror>",
    ],
)
def test_mathematics_that_is_not_typeset_is_seen(broken, fault):
    assert broken(fault).mathematics()


def test_a_price_and_a_code_sample_are_not_mathematics(broken):
    assert broken(r"it costs $5, or <code>\(x\)</code>").mathematics() == []


@pytest.mark.parametrize(
    "fault, rule",
    [
        ('<img src="data:,">', "image-alt"),
        ('<span style="color:#999;background:#fff">faint</span>', "color-contrast"),
        ('<button aria-label="Open">Search</button>', "label-content-name-mismatch"),
        ('<span role="list"><span role="doc-biblioentry">x</span></span>', "aria-deprecated-role"),
        ('<input type="range">', "label"),
        ('<span role="slider">x</span>', "aria"),
    ],
)
def test_axe_is_listened_to(broken, fault, rule):
    assert any(rule in line for line in broken(fault).accessibility())


def test_axe_sees_every_kind_of_row_in_a_listing(broken):
    row = '<span class="dp-row"><span class="{}" style="color:{}">word</span></span>'
    rows = row.format("n", "#000") * 50 + row.format("c", "#bbb") + row.format("n", "#000")
    assert any("color-contrast" in line for line in broken(f'<span class="dp-source">{rows}</span>').accessibility())


def test_a_page_wider_than_a_phone_is_seen(broken):
    assert broken('<span style="display:inline-block;width:600px">wide</span>', size=(390, 844)).sideways()


FIGURE = """<figure class="dplib-explore"><div class="dx-plot"><svg><path d="M0 0"></path></svg></div>
<label for="s">size</label><input id="s" type="range" min="0" max="4" value="2"><p role="status">2</p></figure>
<script>document.querySelector("#s").addEventListener("input", (e) => { %s })</script>"""
DRAW = 'document.querySelector("path").setAttribute("d", "M0 " + e.target.value);'
SAY = 'document.querySelector("[role=status]").textContent = e.target.value;'


@pytest.mark.parametrize("script, faults", [(DRAW + SAY, 0), (DRAW, 2), (SAY, 2), ("", 4)], ids=["alive", "mute", "still", "dead"])
def test_a_dead_slider_is_seen(broken, script, faults):
    assert len(checks.sliders(broken(FIGURE % script))) == faults


GAME = """<figure class="dplib-player"><div class="dx-plot"><svg><path d="M0 0"></path></svg></div><p role="status">0</p>
<div class="pl-main"><button>U</button>%s</div></figure><script>let e = { target: { value: 0 } };
for (const b of document.querySelectorAll("button")) b.addEventListener("click", () => { e.target.value++; %s })</script>"""


@pytest.mark.parametrize("other, script, faults", [("<button>D</button>", DRAW + SAY, 0), ("<button>D</button>", DRAW, 2), ("<button>D</button>", SAY, 2),
                                                   ("<button>D</button>", "", 4), ("", DRAW + SAY, 1)], ids=["alive", "mute", "still", "dead", "halved"])
def test_a_dead_game_is_seen(broken, other, script, faults):
    assert len(checks.games(broken(GAME % (other, script)))) == faults


@pytest.mark.parametrize(
    "html, dead",
    [
        ('<a href="other.html#there">x</a>', 0),
        ('<a href="other.html#gone">x</a>', 1),
        ('<a href="gone.html">x</a>', 1),
        ('<a href="#gone">x</a>', 1),
        ('<script src="gone.js"></script>', 1),
        ('<a href="https://example.org/">x</a>', 0),
    ],
)
def test_a_dead_link_is_seen(tmp_path: Path, html, dead):
    files = {"page.html": html, "other.html": '<p id="there">here</p>'}
    for name, text in files.items():
        (tmp_path / name).write_text(text, "utf-8")
    assert len(checks.dead_links(tmp_path, {name: checks.read(text) for name, text in files.items()})) == dead


@pytest.mark.parametrize(
    "html, outside",
    [
        ('<script src="https://example.org/a.js"></script>', 1),
        ('<link rel="stylesheet" href="//example.org/a.css">', 1),
        ("<style>@import 'https://example.org/b.css';</style>", 1),
        ('<p style="background: url(https://example.org/c.png)">x</p>', 1),
        ('<link rel="canonical" href="https://example.org/">', 0),
        ('<a href="https://example.org/">a link loads nothing</a>', 0),
    ],
)
def test_a_load_from_another_host_is_seen(html, outside):
    assert len(checks.external_loads(checks.read(html))) == outside


@pytest.mark.parametrize("html, nameless", [('<img src="a.png">', 1), ('<img alt=" " src="a.png">', 1), ('<img alt="a rising curve" src="a.png">', 0),
                                            ('<svg role="img"></svg>', 1), ('<svg role="img" aria-label="x"></svg>', 0)])
def test_an_image_without_words_is_seen(html, nameless):
    assert len(checks.read(html).nameless_images) == nameless


def test_a_repeated_anchor_is_seen():
    assert checks.read('<p id="a">x</p><p id="b">y</p><p id="a">z</p>').repeated_ids == ["a"]


def test_a_browser_that_does_not_start_is_an_error_and_not_a_skip(monkeypatch):
    monkeypatch.setenv("CHROMIUM", "/nowhere/chromium")
    with pytest.raises(SystemExit, match="does not start"):
        chromium.find_or_install()


def test_without_any_browser_the_reader_is_told_what_to_install(monkeypatch):
    monkeypatch.delenv("CHROMIUM", raising=False)
    monkeypatch.setattr(chromium, "candidates", lambda: iter([None, "/nowhere/chromium"]))
    monkeypatch.setattr(chromium, "installers", lambda: iter([[["false"]]]))
    with pytest.raises(SystemExit, match="apt-get install chromium"):
        chromium.find_or_install()
