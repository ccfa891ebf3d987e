"""The house style: what is dashed, what has markers, and that an update leaves no old data behind."""

import numpy as np
import pytest

from dplib.explore import Check, Plot, bound, measured, truth
from dplib.figures import GREY, MEASURED, PALETTE, canvas, draw, style, to_png

X = np.array([1.0, 10.0, 100.0])


def plot(factor=1.0, **more):
    y = factor * X
    return Plot(X, [measured("m1", y, y / 2, 2 * y, draws=[y, 1.5 * y]), measured("m2", 2 * y), bound("b1", 3 * y), bound("b2", 4 * y), truth("t", y + 1)],
                "queries k", "error", check=Check(1, 2), marks=[("here", 50 * factor)], **more)


@pytest.fixture
def axes():
    from matplotlib.figure import Figure

    with style():
        return Figure().add_subplot()


def test_bounds_are_black_and_dashed_measured_solid_with_markers_truth_grey(axes):
    m1, m2, b1, b2, t = draw(axes, plot()).lines
    assert [b.get_color() for b in (b1, b2)] == ["black", "black"] and b1.is_dashed() and b2.is_dashed()
    assert b1._dash_pattern != b2._dash_pattern
    assert (m1.get_color(), m2.get_color()) == MEASURED[:2] and m1.get_marker() != m2.get_marker() and not m1.is_dashed()
    assert t.get_color() == GREY and t.get_marker() == ""
    assert set(MEASURED) <= set(PALETTE.values())


def test_update_moves_every_artist(axes):
    drawing = draw(axes, plot(), ((0, 300), (0, 1000)))
    drawing.update(plot(2.0))
    np.testing.assert_allclose(drawing.lines[0].get_ydata(), 2 * X)
    np.testing.assert_allclose(drawing.bands[0].get_xy()[:6, 1], [*X, *4 * X[::-1]])
    np.testing.assert_allclose(drawing.draws[0].get_segments()[1][:, 1], 3 * X)
    assert list(drawing.marks[0][0].get_xdata()) == [100, 100] and drawing.marks[0][1].get_text().strip() == "here"
    assert axes.get_ylim() == (0, 1000)


def test_labels_and_log_ticks(axes):
    draw(axes, plot(xscale="log", yscale="log"), ((1, 1e6), (1, 100)))
    assert axes.get_xlabel() == "queries k" and axes.get_title(loc="left") == "error"
    axes.figure.canvas.draw()
    assert "$\\mathdefault{10^{3}}$" in [t.get_text() for t in axes.get_xticklabels()]
    assert "10" in [t.get_text() for t in axes.get_yticklabels()]


def test_style_is_a_context_that_restores():
    import matplotlib as mpl

    before = mpl.rcParams["axes.spines.top"]
    with style():
        assert not mpl.rcParams["axes.spines.top"] and not mpl.rcParams["figure.constrained_layout.use"]
        assert mpl.rcParams["axes.prop_cycle"].by_key()["color"][0] == PALETTE["blue"]
    assert mpl.rcParams["axes.spines.top"] == before


def test_nothing_is_cut_off():
    """The outermost pixels of a figure are background: labels, ticks and legend lie inside."""
    from io import BytesIO

    from PIL import Image

    figure, axes, _ = canvas(plot(), ((0, 10000), (0, 50000)))
    pixels = np.asarray(Image.open(BytesIO(to_png(figure))).convert("L"))
    for edge in (pixels[:2], pixels[-2:], pixels[:, :2], pixels[:, -2:]):
        assert (edge == 255).all()


def test_palette_png_is_smaller():
    figure = canvas(plot(), ((0, 300), (0, 1000)))[0]
    assert len(to_png(figure, 16)) < len(to_png(figure)) / 1.5


def test_multiples_page_has_an_alternative_text(monkeypatch):
    from dplib.explore import small_multiples

    figure = small_multiples(lambda n: plot(n), n=[1.0, 2.0], alt='A "b"', caption="C < D")
    assert "text/html" not in figure._repr_mimebundle_()
    monkeypatch.setenv("DPLIB_EXPLORE", "static")
    page = figure._repr_mimebundle_()["text/html"]
    assert 'alt="A &quot;b&quot;"' in page and "C &lt; D</figcaption>" in page and page.count("data:image/png") == 2
