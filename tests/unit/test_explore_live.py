"""The live figure: widgets whose every move shows the function's own answer."""

import io
import subprocess
import sys

import numpy as np
import pytest

import dplib.progress
from dplib.explore import Check, Plot, bound, explore, measured
from dplib.explore_live import Picture, finer, widget
from dplib.progress import progress

X = np.arange(1.0, 11.0)


def fn(epsilon, n, drop, variant):
    if variant == "fails" and epsilon > 1:
        raise ZeroDivisionError("no such thing")
    y = X / epsilon * (4 if drop else 1)
    return Plot(X, [measured("m", y, y / 2, y * 1.5, draws=[y, y * 1.2]), bound("b", 2 * X / epsilon)], "x", "y",
                check=Check(y[-1], 20 / epsilon, f"at n = {n}"), marks=[("here", 1 + epsilon)])


@pytest.fixture
def box(monkeypatch):
    monkeypatch.delenv("DPLIB_EXPLORE", raising=False)
    figure = explore(fn, epsilon=[0.5, 1, 2], n=[1, 10, 100], drop=[False, True], variant=["works", "also"], start={"n": 10}, caption="c", alt="What to see.")
    return figure, widget(figure)


def test_each_parameter_has_its_control(box):
    names = [type(child).__name__ for child in box[1].children]
    assert names == ["SelectionSlider", "SelectionSlider", "Checkbox", "Dropdown", "HTML", "HTML", "HTML"]
    epsilon, n, drop, variant = box[1].children[:4]
    assert (epsilon.value, n.value, drop.value, variant.value) == (1, 10, False, "works")
    assert epsilon.description == "privacy ε" and 'alt="What to see."' in box[1].children[4].value


def test_a_move_changes_picture_and_sentence(box):
    epsilon, n, drop, _, image, says, _ = box[1].children
    before = image.value
    assert before.startswith('<img src="data:image/png;base64,iVBOR') and "10 ≤ 20 (2.0× slack) at n = 10" in says.value
    epsilon.value = epsilon.options[-1][1]
    assert image.value != before and "5 ≤ 10 (2.0× slack) at n = 10" in says.value
    n.value = 100
    assert "at n = 100" in says.value
    drop.value = True
    assert "20 &gt; 10 (bound broken)" in says.value and "bold" in says.value
    epsilon.value, n.value, drop.value = 1, 10, False
    assert image.value == before


def test_a_point_that_fails_says_so_and_the_next_works(monkeypatch):
    figure = explore(lambda epsilon: fn(epsilon, 1, False, "fails" if epsilon not in (0.5, 1, 2) else ""), epsilon=[0.5, 1, 2], caption="c", alt="a")
    epsilon, _, says, _ = widget(figure).children
    epsilon.value = epsilon.options[-2][1]
    assert "No figure here" in says.value and "no such thing" in says.value
    epsilon.value = 2
    assert "5 ≤ 10" in says.value


@pytest.mark.parametrize("grid, scale", [
    ((1, 10, 100), [1, 2, 3, 4, 6, 10, 16, 25, 40, 63, 100]),
    ((1, 2, 3), [1, 2, 3]),
    ((0.0, 1.0, 2.0), [0.0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0]),
    ((-1, 1), [-1, 0, 1]),
    ((10, 20), [10, 12, 14, 16, 18, 20]),
])
def test_sliders_are_finer_than_the_grid(grid, scale):
    assert finer(grid) == scale
    assert all(type(v) is type(grid[0]) for v in finer(grid))


def test_geometric_grid_gets_a_geometric_scale():
    scale = finer((0.25, 0.5, 1.0, 2.0, 4.0))
    assert len(scale) == 21 and np.allclose(np.diff(np.log(scale)), np.log(2) / 5, rtol=0.03)


def test_frame_equals_a_picture_drawn_from_scratch(box):
    """Setting data and repainting what moves must give what a whole redraw gives."""
    from PIL import Image

    figure, _ = box
    moved = Picture(figure.start_plot, figure.domain)
    for epsilon in (0.5, 2, 1.3):
        plot = fn(epsilon, 1, False, "")
        pixels = [np.asarray(Image.open(io.BytesIO(p.frame(plot)))) for p in (moved, Picture(plot, figure.domain))]
        np.testing.assert_array_equal(*pixels)


def test_axes_grow_when_a_curve_leaves_them_and_stay_grown(box):
    figure, _ = box
    picture = Picture(figure.start_plot, figure.domain)
    picture.frame(fn(0.1, 1, False, ""))
    top = picture.axes.get_ylim()[1]
    assert top > 200 > figure.domain[1][1]
    picture.frame(figure.start_plot)
    assert picture.axes.get_ylim()[1] == top


def test_text_needs_neither_matplotlib_nor_widgets():
    """Importing dplib.explore, and the sentence, stay light."""
    code = ("import sys; from dplib.explore import *; print(explore(lambda n: Plot([1, 2], [bound('b', [n, n])], 'x', 'y'), n=[1, 2], caption='c', alt='a'));"
            "print([m for m in ('matplotlib', 'ipywidgets', 'scipy', 'IPython') if m in sys.modules])")
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout
    assert out == "n = 2: b 2 at x = 2\n[]\n"


def test_progress_is_silent_for_a_second_then_counts(capsys, monkeypatch):
    assert list(progress(range(5), "quick")) == [0, 1, 2, 3, 4]
    assert capsys.readouterr() == ("", "")
    clock = iter(np.arange(0, 100, 0.6))
    monkeypatch.setattr(dplib.progress.time, "monotonic", lambda: next(clock))
    assert list(progress(range(5), "slow")) == [0, 1, 2, 3, 4]
    out, err = capsys.readouterr()
    assert out == "" and "slow: 1/5" in err and "slow: 4/5" in err and err.endswith("\n")
