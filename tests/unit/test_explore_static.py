"""The static figure: the page carries the function's own numbers, and the same call gives the same page."""

import html as escaping
import itertools
import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest

from dplib.explore import Check, Plot, bound, explore, measured, truth
from dplib.explore_page import DIGITS, html, vlq

EPSILON, SIZES = [0.1, 0.5, 1, 4], [10, 100, 1000]
X = np.logspace(0, 3, 25)


def fn(epsilon, n, halved, variant):
    """Curves of very different sizes, one with a sign, one rough, one that does not depend on anything."""
    rough = np.random.default_rng(n).exponential(size=(3, len(X)))
    y = X**1.5 / epsilon * (0.5 if halved else 1)
    return Plot(X * (2 if variant == "wide" else 1), [measured("m", y, 0.9 * y, 1.2 * y, draws=y * rough), bound("b", np.log1p(X) - 3), truth("t", 0 * X + 1e-5)],
                "x", "y", check=Check(y[-1], 1e5 / epsilon * (1 if n > 10 else 1e-3), f"at n = {n}"), marks=[(f"n = {n}", n)])


def make(**more):
    words = {"caption": "A < B & C", "alt": 'It "rises"', "name": "fig-test", **more}
    return explore(fn, epsilon=EPSILON, n=SIZES, halved=[False, True], variant=["plain", "wide"], start={"epsilon": 1}, **words)


@pytest.fixture
def page(monkeypatch):
    monkeypatch.setenv("DPLIB_EXPLORE", "static")
    return make()._repr_mimebundle_()["text/html"]


def integers(text):
    """The inverse of vlq, written from the format's description."""
    out, value, shift = [], 0, 0
    for digit in map(DIGITS.index, text):
        value, shift = value + ((digit & 31) << shift), shift + 5
        if not digit & 32:
            out.append(-(value >> 1) if value & 1 else value >> 1)
            value = shift = 0
    return out


def decode(page):
    """The embedded grid back as numbers: for each point [x, rows of all curves, marks], and its words."""
    data = json.loads(re.search(r'class="dx-data">(.*?)</script>', page, re.S)[1])
    x_unit, y_unit = (axis["scale"] for axis in data["axes"])

    def row(index, unit):
        levels = np.cumsum(integers(data["rows"][index][1:]))
        return np.sinh((np.cumsum(levels) if data["rows"][index][0] == "2" else levels) / data["resolution"]) * unit

    points = len(data["broken"])
    at, said = (np.cumsum(integers(data[key])).reshape(points, -1) for key in ("at", "said"))
    last = at.shape[1] - 1
    rows = [[row(i, x_unit if j in (0, last) else y_unit) for j, i in enumerate(indices)] for indices in at]
    return data, rows, [[data["words"][i] for i in indices] for indices in said]


def test_vlq_round_trip():
    values = [0, 1, -1, 15, 16, -16, 511, 512, -12345, 10**6]
    assert integers(vlq(values)) == values
    assert len(vlq([15])) == 1 and len(vlq([-511])) == 2


def test_page_holds_the_functions_values_to_three_digits(page):
    _, rows, _ = decode(page)
    for point, decoded in zip(itertools.product(EPSILON, SIZES, [False, True], ["plain", "wide"]), rows, strict=True):
        plot = fn(*point)
        expected = [plot.x, *(r for c in plot.curves for r in c.rows()), [at for _, at in plot.marks]]
        for want, got in zip(expected, decoded, strict=True):
            np.testing.assert_allclose(got, want, rtol=5e-4)


def test_every_grid_point_has_its_own_sentence(page):
    data, _, words = decode(page)
    for point, said, broken in zip(itertools.product(EPSILON, SIZES, [False, True], ["plain", "wide"]), words, data["broken"], strict=True):
        plot = fn(*point)
        assert said[0] == plot.check.numbers().replace("<=", "≤").replace("x slack", "× slack")
        assert said[1:] == [plot.check.what, plot.marks[0][0]]
        assert broken == ("1" if plot.check.left > plot.check.right else "0")
    assert {"0", "1"} == set(data["broken"])


def test_controls_are_native_and_labelled(page):
    ids = re.findall(r'<(?:input|select)[^>]* id="([^"]+)"', page)
    assert len(ids) == 4 and re.findall(r'<label for="([^"]+)"', page) == ids
    assert page.count('<input type="range"') == 2 and page.count('type="checkbox"') == 1 and page.count("<select") == 1
    assert 'max="3" step="1" value="2" aria-valuetext="1"' in page
    assert "privacy ε" in page and "records n" in page


def test_texts_are_escaped_and_present(page):
    assert page.count("A &lt; B &amp; C</figcaption>") == 1
    assert page.count(escaping.escape('It "rises"')) == 2  # the drawing and its stand-in without script
    assert "<noscript><img src=\"data:image/png;base64," in page
    assert 'data-name="fig-test"' in page
    assert "31600 ≤ 100000 (3.2× slack)" in page


def test_page_asks_nobody(page):
    assert not re.search(r'(?:src|href)="(?!data:)', page) and "@import" not in page and "url(http" not in page
    assert re.findall(r"https?://[^\"' )]+", page) == ["http://www.w3.org/2000/svg"]  # a name, not an address


def test_a_name_cannot_close_the_script(monkeypatch):
    monkeypatch.setenv("DPLIB_EXPLORE", "static")
    figure = explore(lambda epsilon: Plot(X, [bound("</script><b>", X)], "x", "y"), epsilon=[1, 2], caption="c", alt="a")
    assert html(figure).count("</script>") == 2


def test_page_is_small(monkeypatch):
    """Three sliders, 175 points, three curves."""
    def curves(epsilon, beta, c):
        k = np.logspace(0, 4, 40)
        y = c * np.log((k + 1) / beta) / epsilon
        return Plot(k, [measured("m", y * np.random.default_rng(1).uniform(0.6, 0.8, 40)), bound("6", y), bound("8", 8 / 6 * y)], "k", "error",
                    xscale="log", check=Check(1, y[-1]))

    monkeypatch.setenv("DPLIB_EXPLORE", "static")
    figure = explore(curves, epsilon=[0.25, 0.5, 1, 2, 4], beta=[0.01, 0.02, 0.05, 0.1, 0.2], c=list(range(1, 8)), caption="c", alt="a")
    assert len(figure.plots) == 175 and len(html(figure).encode()) < 60_000


def test_same_call_same_page_and_id_is_a_hash_of_content(page, monkeypatch):
    monkeypatch.setenv("DPLIB_EXPLORE", "static")
    ids = {re.search(r'id="(dx-[0-9a-f]{10})"', html(make(**more)))[1] for more in ({}, {}, {"alt": "other"}, {"name": "fig-2"}, {"caption": "other"})}
    assert len(ids) == 4
    assert html(make()) == page


def test_same_page_in_another_process(page, tmp_path):
    """No order of a set, no address, no clock."""
    code = "import sys; sys.path[:0] = sys.argv[1:]; from test_explore_static import make, html; sys.stdout.buffer.write(html(make()).encode())"
    here = os.path.dirname(__file__)
    out = subprocess.run([sys.executable, "-c", code, here, os.path.dirname(os.path.dirname(here))], capture_output=True, check=True,
                         env={**os.environ, "DPLIB_EXPLORE": "static", "PYTHONHASHSEED": "7"}).stdout
    assert out.decode() == page


def test_bundle_has_a_picture_for_print(monkeypatch):
    import base64

    monkeypatch.setenv("DPLIB_EXPLORE", "static")
    bundle = make()._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html", "image/png"}
    assert base64.b64decode(bundle["image/png"]).startswith(b"\x89PNG")
