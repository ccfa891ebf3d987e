"""The slider figure in a real Chromium, from a single file and with every host blocked."""

import re

import numpy as np
import pytest
from checks import AXE

from dplib.explore import Check, Plot, bound, explore, measured, truth
from dplib.explore_page import html

PAGE = """<!doctype html><html lang="en" data-theme="light"><head><meta charset="utf-8"><title>One figure</title>
<meta name="viewport" content="width=device-width"><style>body {{ margin: 1rem; background: #fff; color: #222; font-family: sans-serif }}
html[data-theme="dark"] body {{ background: #14181e; color: #ced6dd }}</style></head><body><main><h1>One figure</h1>{}</main></body></html>"""
X = np.logspace(0, 4, 20)


def fn(epsilon, n, halved, variant):
    y = np.log(X + 1) / epsilon * (2 if halved else 1) * (1.5 if variant == "worse" else 1)
    return Plot(X, [measured("measured quantile", y, 0.8 * y, 1.1 * y, draws=[0.9 * y, y]), bound("bound", 1.3 * np.log(X + 1) / epsilon), truth("truth", 1 + 0 * X)],
                "queries k", "error α", xscale="log", yscale="log", check=Check(y[-1], 1.3 * np.log(X[-1] + 1) / epsilon, f"at n = {n}"), marks=[("here", n)])


@pytest.fixture(scope="module")
def lone_page(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DPLIB_EXPLORE", "static")
        figure = explore(fn, epsilon=[0.5, 1, 2], n=[10, 100, 1000], halved=[False, True], variant=["plain", "worse"], start={"epsilon": 1},
                         caption="The error grows with k.", alt="A curve rises below a dashed one.", labels={"halved": "halve the noise"})
        other = explore(lambda n: Plot([1e9, 2e10], [bound("line", [0, n])], "x", "y", xscale="log"), n=[1, 2, 3], caption="Another.", alt="A line.")
        rows = np.geomspace(0.0013, 0.1, 26)
        apart = explore(lambda n: Plot(rows, [measured("counted", n + rows, joined=False), bound("line", rows)], "x", "y", xscale="log"), n=[1, 2], caption="Dots.", alt="Dots.")
        pages = html(figure) + html(other) + html(apart)
    path = tmp_path_factory.mktemp("page") / "figure.html"
    path.write_text(PAGE.format(pages), "utf-8")
    return path.as_uri()


def status(page):
    return " ".join(page.locator("[role=status]").first.inner_text().split())


def curve(page):
    return page.locator(".dx-line").nth(3).get_attribute("d")  # after the three of the legend


def test_start_point_is_the_one_python_wrote(opened):
    said = status(opened())
    assert said == "9.21 ≤ 12 (1.3× slack) at n = 100 privacy ε = 1, records n = 100, halve the noise = no, variant = plain"


def test_keyboard_moves_figure_numbers_and_what_is_read_aloud(opened):
    page = opened()
    slider = page.get_by_label("privacy ε")
    before = curve(page)
    slider.focus()
    page.keyboard.press("ArrowRight")
    assert slider.get_attribute("aria-valuetext") == "2" and curve(page) != before
    assert status(page).startswith("4.61 ≤ 5.99 (1.3× slack)")
    page.keyboard.press("Home")
    assert slider.get_attribute("aria-valuetext") == "0.5" and status(page).startswith("18.4 ≤ 23.9")
    assert page.locator(".dx-value").first.inner_text() == "0.5"


def test_mouse_moves_the_slider(opened):
    page = opened()
    box = page.get_by_label("privacy ε").bounding_box()
    before = curve(page)
    page.mouse.click(box["x"] + box["width"] - 4, box["y"] + box["height"] / 2)
    assert status(page).startswith("4.61 ≤ 5.99") and curve(page) != before


def test_every_grid_point_shows_the_functions_values(opened):
    """The drawn path, read back from pixels, is the curve: the script's decoder agrees with Python at each point."""
    page = opened()
    script = """([e, n, h, v]) => {
        const f = document.querySelector('figure.dplib-explore'), i = f.querySelectorAll('.dx-control input, .dx-control select');
        i[0].value = e; i[1].value = n; i[2].checked = h; i[3].selectedIndex = v; i[0].dispatchEvent(new Event('input'));
        return [f.querySelector('[role=status]').innerText, f.querySelectorAll('.dx-plot > svg .dx-line')[0].getAttribute('d'),
                f.querySelectorAll('.dx-plot > svg .dx-line')[1].getAttribute('d')]; }"""
    heights = {}
    for e, epsilon in enumerate([0.5, 1, 2]):
        for n, records in enumerate([10, 100, 1000]):
            for h in (0, 1):
                for v, variant in enumerate(["plain", "worse"]):
                    said, *paths = page.evaluate(script, [e, n, h, v])
                    plot = fn(epsilon, records, bool(h), variant)
                    assert " ".join(said.split()).startswith(str(plot.check).replace("<=", "≤").replace("x slack", "× slack"))
                    for path, drawn in zip(paths, plot.curves):
                        pixels = [float(pair.split()[1]) for pair in re.split("[ML]", path)[1:]]
                        heights.update(zip(pixels, np.log(drawn.y), strict=True))
    # one straight line maps log y to pixels at all points, up to a tenth of a pixel of rounding
    pixel, value = np.array(sorted(heights.items())).T
    slope, offset = np.polyfit(value, pixel, 1)
    assert np.abs(pixel - slope * value - offset).max() < 0.25 and slope < -20


def test_broken_bound_is_said_and_marked_without_colour(opened):
    page = opened()
    line = page.locator("[role=status]").first
    assert line.get_attribute("data-broken") is None
    page.get_by_label("halve the noise").check()
    assert status(page).startswith("18.4 > 12 (bound broken) at n = 100") and "halve the noise = yes" in status(page)
    assert line.get_attribute("data-broken") == ""
    assert line.evaluate("e => getComputedStyle(e).borderLeftStyle") == "double"
    page.get_by_label("halve the noise").uncheck()
    page.get_by_label("variant").select_option("worse")
    assert status(page).startswith("13.8 > 12 (bound broken)")


def test_drawing_is_named_and_curves_differ_without_colour(opened):
    page = opened()
    assert page.get_by_role("img", name="A curve rises below a dashed one.").count() == 1
    lines = page.locator("figure").first.locator(".dx-plot > svg .dx-line")
    dashes = [lines.nth(i).get_attribute("stroke-dasharray") for i in range(3)]
    assert dashes[0] == "" and dashes[1] != "" and page.locator(".dx-plot > svg .dx-dots").first.get_attribute("d")
    assert page.locator(".dx-plot > svg .dx-band").first.get_attribute("d") and page.locator(".dx-plot > svg .dx-draw").first.get_attribute("d")


def test_two_figures_share_one_name_and_do_not_meddle(opened):
    page = opened()
    before = status(page)
    page.get_by_label("records n").nth(1).press("End")
    assert page.locator("[role=status]").nth(1).inner_text().startswith("line 3 at x = 2e+10") and status(page) == before
    known = page.evaluate("""() => { const f = document.createElement('iframe'); document.body.append(f);
        const own = Object.keys(window).filter(k => !(k in f.contentWindow) && isNaN(k)); f.remove(); return own }""")
    assert known == ["dplibExplore"]


@pytest.mark.parametrize("width", [320, 390, 1000])
def test_nothing_is_cut_off_or_overlaps(opened, width):
    page = opened(width)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    boxes = page.evaluate("""() => [...document.querySelectorAll('.dplib-explore .dx-plot svg text, .dplib-explore .dx-legend li')].map(e => {
        const r = e.getBoundingClientRect(); return [r.left, r.top, r.right, r.bottom, e.textContent] })""")
    for i, (left, top, right, bottom, text) in enumerate(boxes):
        assert left >= 0 and right <= width, f"{text!r} leaves the page"
        for other in boxes[:i]:
            apart = left >= other[2] - 1 or right <= other[0] + 1 or top >= other[3] - 4 or bottom <= other[1] + 4
            assert apart, f"{text!r} lies on {other[4]!r}"


def test_figure_follows_the_width(opened):
    page = opened(1000)
    page.set_viewport_size({"width": 390, "height": 800})
    page.wait_for_function("document.querySelector('.dx-plot > svg').viewBox.baseVal.width < 400")
    assert page.locator(".dx-plot > svg text").first.evaluate("e => parseFloat(getComputedStyle(e).fontSize)") >= 12


def test_print_shows_values_and_no_controls(opened):
    page = opened(theme="dark")
    page.get_by_label("privacy ε").press("End")
    page.emulate_media(media="print")
    assert not page.locator(".dx-controls").first.is_visible() and page.locator(".dx-plot > svg").first.is_visible()
    assert "privacy ε = 2" in status(page)
    assert page.locator("figure").first.evaluate("e => getComputedStyle(e).color") == "rgb(0, 0, 0)"


def test_without_script_there_is_a_picture_and_no_dead_control(opened):
    page = opened(java_script_enabled=False)
    picture = page.get_by_role("img", name="A curve rises below a dashed one.")
    assert picture.count() == 1 and picture.bounding_box()["width"] > 300
    assert not page.locator(".dx-controls").first.is_visible()
    assert status(page).startswith("9.21 ≤ 12 (1.3× slack) at n = 100")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1000])
@pytest.mark.parametrize("broken", [False, True])
def test_axe_finds_nothing(opened, theme, width, broken):
    page = opened(width, theme)
    if broken:
        page.get_by_label("halve the noise").check()
    page.add_script_tag(content=AXE)
    found = page.evaluate("axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] })")
    assert [(rule["id"], [node["html"] for node in rule["nodes"]]) for rule in found["violations"]] == []
    assert len(found["passes"]) > 10


@pytest.mark.parametrize("theme, paper", [("light", (255, 255, 255)), ("dark", (20, 24, 30))])
def test_strokes_stand_out(opened, theme, paper):
    """WCAG 1.4.11: what carries meaning has contrast 3:1; axe does not look at strokes."""
    def luminance(rgb):
        parts = [c / 255 for c in rgb]
        return np.dot([0.2126, 0.7152, 0.0722], [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts])

    page = opened(theme=theme)
    for name in ["--dx-1", "--dx-2", "--dx-3", "--dx-4", "--dx-5", "--dx-6", "--dx-grey", "--dx-bad"]:
        code = page.locator("figure").first.evaluate(f"e => getComputedStyle(e).getPropertyValue('{name}')").strip().lstrip("#")
        light, dark = sorted([luminance(paper), luminance([int(code[i:i + 2], 16) for i in (0, 2, 4)])], reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 3, name


def test_a_curve_that_is_not_joined_is_a_marker_at_each_point(opened):
    lines, dots = opened().evaluate("""() => ["line", "dots"].map((kind) => [...document.querySelectorAll("figure")[2].querySelectorAll(`.dx-plot > svg .dx-${kind}`)].map((e) => e.getAttribute("d")))""")
    assert lines[0] == "" and lines[1].count("L") == 25 and dots[0].count("Z") == 26


@pytest.mark.parametrize("width", [320, 360, 1000])
def test_labels_of_a_logarithmic_axis_keep_apart_and_keep_the_powers_of_ten(opened, width):
    """A hundredfold range has labels at 1, 2 and 5; on a phone the 2s and 5s give way."""
    labels = opened(width).evaluate("""() => [...document.querySelectorAll("figure")[2].querySelectorAll(".dx-plot > svg text[text-anchor=middle]")].map((e) => {
        const r = e.getBoundingClientRect(); return [e.textContent, r.left, r.right]; }).sort((a, b) => a[1] - b[1])""")
    assert all(one[2] < other[1] for one, other in zip(labels, labels[1:]))
    shown = [text for text, _, _ in labels]
    assert {"0.01", "0.1"} <= set(shown) and (width < 1000 or shown == ["0.002", "0.005", "0.01", "0.02", "0.05", "0.1"])
