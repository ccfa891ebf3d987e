"""The call `explore`: what it says, and what it refuses, in words that name the culprit."""

import numpy as np
import pytest

from dplib.explore import Check, Plot, bound, domain, explore, measured, small_multiples, truth
from dplib.plot import number

X = np.array([1.0, 10.0, 100.0])
WORDS = {"caption": "A caption.", "alt": "What one sees."}


def rising(epsilon, beta=0.05):
    right = 6 * np.log((X + 1) / beta) / epsilon
    left = right / 2
    return Plot(X, [measured("measured", left, 0.9 * left, 1.1 * left, draws=[left, 1.05 * left]), bound("bound", right), truth("zero", 0 * X)],
                "queries k", "error", xscale="log", check=Check(left[-1], right[-1], "at k = 100"))


def plot(y=X, x=X, **more):
    return Plot(x, [bound("b", y)], "x", "y", **more)


def call(fn=rising, **more):
    return explore(fn, **{**WORDS, "epsilon": [0.5, 1, 2], **more})


@pytest.fixture(params=["live", "static"])
def mode(request, monkeypatch):
    monkeypatch.setenv("DPLIB_EXPLORE", request.param)
    return request.param


# ---- what it says

def test_text_is_the_sentence_at_the_start_point(mode):
    figure = call(beta=[0.01, 0.05], start={"epsilon": 1, "beta": 0.05})
    assert repr(figure) == "epsilon = 1, beta = 0.05: 22.8 <= 45.7 (2.0x slack) at k = 100"
    assert figure._repr_mimebundle_()["text/plain"] == repr(figure)


def test_start_defaults_to_the_middle_false_and_the_first_string():
    def fn(epsilon, drop, variant):
        return plot()

    assert call(fn, drop=[False, True], variant=["right", "wrong"]).start == {"epsilon": 1, "drop": False, "variant": "right"}


def test_without_a_check_the_sentence_gives_the_last_values():
    assert repr(call(lambda epsilon: plot(X / epsilon))) == "epsilon = 1: b 100 at x = 100"


@pytest.mark.parametrize("left, right, said", [
    (0.041, 0.118, "0.041 <= 0.118 (2.9x slack)"),
    (0.141, 0.118, "0.141 > 0.118 (bound broken)"),
    (0.118, 0.118, "0.118 <= 0.118 (1.0x slack)"),
    (0.1 + 0.2, 0.3, "0.3 <= 0.3 (1.0x slack)"),         # left is larger in the last bit only
    (1234, 1234.4, "1234 <= 1234 (1.0x slack)"),  # a whole number is written in full
    (2219, 2218.07, "2219 > 2218 (bound broken)"),
    (0.11801, 0.118, "0.11801 > 0.118 (bound broken)"),  # as many digits as tell the two apart
    (0.0, 0.118, "0 <= 0.118"),
    (-1.0, 2.0, "-1 <= 2"),
    (0.001, 12.0, "0.001 <= 12 (12000x slack)"),
])
def test_check_in_numbers(left, right, said):
    assert str(Check(left, right)) == said
    assert Check(left, right).holds == (" <= " in said)
    assert str(Check(left, right, "at n = 4")) == said + " at n = 4"


@pytest.mark.parametrize("value, text", [(0.04137, "0.0414"), (59.44, "59.4"), (84812.0, "84800"), (1000, "1000"), (1234567, "1234567"),
                                         (1.234e-7, "1.23e-07"), (0.0, "0"), (True, "yes"), (False, "no"), ("as is", "as is")])
def test_numbers_have_three_digits_and_integers_all(value, text):
    assert number(value) == text


def test_axes_hold_every_curve_band_draw_and_mark_of_the_grid():
    plots = [plot(X), Plot(X, [measured("m", X, X - 1, X + 900, draws=[2 * X])], "x", "y", marks=[("far", 400)])]
    (x0, x1), (y0, y1) = domain(plots)
    assert x0 <= 1 and 400 <= x1 < 500 and y0 == 0 and 1000 <= y1 < 1100
    (_, _), (y0, y1) = domain([plot(X, yscale="log")])
    assert 0 < y0 <= 1 and 100 <= y1 < 200


def test_kernel_evaluates_corners_only_and_page_the_whole_grid(monkeypatch):
    grid = [1, 2, 3, 4, 5, 6, 7]
    for mode, count in (("live", 9), ("static", 49)):
        monkeypatch.setenv("DPLIB_EXPLORE", mode)
        assert len(call(epsilon=grid, beta=[b / 100 for b in grid]).plots) == count


# ---- what it refuses

def never(epsilon):
    raise AssertionError("the callback must not run before its grids are checked")


@pytest.mark.parametrize("grids, message", [
    ({"epsilon": [1]}, r"epsilon needs at least two values.*\[1\]"),
    ({"epsilon": []}, r"epsilon needs at least two values"),
    ({"epsilon": 1}, r"epsilon must be a list of values, got 1"),
    ({"epsilon": "abc"}, r"epsilon must be a list of values, got 'abc'"),
    ({"epsilon": [1, 1, 2]}, r"epsilon has duplicate values: \[1, 1, 2\]"),
    ({"epsilon": [1, 3, 2]}, r"epsilon must be in increasing order, got \[1, 3, 2\]"),
    ({"epsilon": [1, float("nan")]}, r"epsilon must be finite"),
    ({"epsilon": [1, "two"]}, r"epsilon must be all numbers"),
    ({"epsilon": [True, 2]}, r"epsilon must be all numbers"),
    ({"epsilon": [None, 2]}, r"epsilon must be all numbers"),
    ({"gamma": [1, 2]}, r"never takes \['epsilon'\], it has no parameter \['gamma'\]"),
    ({"epsilon": [1, 2], "start": {"epsilon": 3}}, r"start has epsilon = 3, which is not on its grid \[1, 2\]"),
    ({"epsilon": [1, 2], "start": {"eps": 1}}, r"start names \['eps'\]"),
    ({"epsilon": [1, 2], "labels": {"eps": "ε"}}, r"labels names \['eps'\]"),
    ({"epsilon": [1, 2], "caption": ""}, "needs caption="),
    ({"epsilon": [1, 2], "alt": None}, "needs alt="),
    ({}, "at least one parameter grid"),
])
def test_bad_call(mode, grids, message):
    with pytest.raises(ValueError, match=message):
        explore(never, **{**WORDS, **grids})


def test_missing_parameter_of_the_function():
    def fn(epsilon, delta):
        return plot()

    with pytest.raises(ValueError, match=r"fn also needs \['delta'\]"):
        call(fn)


@pytest.mark.parametrize("make, message", [
    (lambda: plot([1, np.nan, 3]), "curve 'b' is not finite: nan at x = 10"),
    (lambda: plot([1, 2, np.inf]), "curve 'b' is not finite: inf at x = 100"),
    (lambda: plot([1, 0, 2], yscale="log"), "curve 'b' is not positive on a log axis: 0.0 at x = 10"),
    (lambda: plot(x=[0, 1, 2], xscale="log"), "x is not positive on a log axis: 0.0"),
    (lambda: plot([1, 2]), r"curve 'b' has shape \(2,\) but x has \(3,\)"),
    (lambda: plot([[1, 2, 3]]), r"curve 'b' has shape \(1, 3\)"),
    (lambda: Plot(X, [], "x", "y"), "at least one curve"),
    (lambda: Plot(X, [bound("b", X), truth("b", X)], "x", "y"), "names must differ"),
    (lambda: plot(x=[1], y=[1]), "x must be a row of at least two"),
    (lambda: plot(yscale="cubic"), "yscale must be 'linear' or 'log', got 'cubic'"),
    (lambda: plot(marks=[("m", np.nan)]), "marks is not finite"),
    (lambda: plot(check=Check(np.nan, 1)), "left side must be finite, got nan"),
    (lambda: Plot(X, [measured("m", X, low=X)], "x", "y"), "both low and high"),
    (lambda: Plot(X, [measured("m", X, X + 1, X)], "x", "y"), "low > high"),
    (lambda: Plot(X, [measured("m", X, draws=X)], "x", "y"), r"draws of 'm' must have shape \(r, 3\)"),
    (lambda: Plot(X, [measured("m", X, draws=[[1, 2]])], "x", "y"), r"'m' has shape \(2,\)"),
    (lambda: 1 / 0, "division by zero"),
    (lambda: None, "must return a Plot, got NoneType"),
])
def test_bad_plot_names_the_grid_point(mode, make, message):
    def fn(epsilon, variant):
        return make() if epsilon == 2 and variant == "wrong" else plot()

    with pytest.raises(ValueError, match=f"at epsilon = 2, variant = wrong: .*{message}"):
        call(fn, variant=["right", "wrong"], start={"variant": "right"})


def test_cause_of_a_failing_function_is_kept():
    with pytest.raises(ValueError) as caught:
        call(lambda epsilon: 1 / 0)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


@pytest.mark.parametrize("other, what", [
    (lambda: plot(X[:2], X[:2]), "length of x"),
    (lambda: Plot(X, [bound("c", X)], "x", "y"), "curves"),
    (lambda: Plot(X, [truth("b", X)], "x", "y"), "curves"),
    (lambda: Plot(X, [bound("b", X), truth("t", X)], "x", "y"), "curves"),
    (lambda: Plot(X, [bound("b", X)], "x", "z"), "labels"),
    (lambda: plot(yscale="log"), "scales"),
    (lambda: plot(check=Check(1, 2)), "presence of a check"),
    (lambda: plot(marks=[("m", 2)]), "number of marks"),
])
def test_plots_of_one_figure_have_one_shape(mode, other, what):
    with pytest.raises(ValueError, match=rf"at epsilon = 2: {what}.* differs from the start"):
        call(lambda epsilon: other() if epsilon == 2 else plot())


def test_x_may_move_if_its_length_stays():
    assert len(call(lambda epsilon: plot(x=X * epsilon)).plots) == 3


# ---- the static twin

def test_small_multiples_one_panel_per_value_with_its_inequality():
    figure = small_multiples(rising, epsilon=[0.5, 1, 2], beta=0.05)
    assert len(figure.axes) == 3
    assert repr(figure).splitlines()[1] == "epsilon = 1, beta = 0.05: 22.8 <= 45.7 (2.0x slack) at k = 100"
    assert [ax.get_title().strip() for ax in figure.axes] == ["privacy ε = 0.5", "privacy ε = 1", "privacy ε = 2"]
    assert [text.get_text() for text in figure.axes[1].texts] == ["22.8 ≤ 45.7 (2.0× slack)"]
    assert len({ax.get_ylim() for ax in figure.axes}) == 1


def test_small_multiples_of_two_lists_run_across_and_down():
    figure = small_multiples(rising, epsilon=[0.5, 1, 2], beta=[0.01, 0.05])
    assert [line.split(":")[0] for line in repr(figure).splitlines()][2:4] == ["epsilon = 2, beta = 0.01", "epsilon = 0.5, beta = 0.05"]


@pytest.mark.parametrize("parameters, message", [
    ({"epsilon": 1}, "one or two parameters with lists"),
    ({"epsilon": [1]}, "epsilon needs at least two values"),
    ({"epsilon": [1, 2], "gamma": 1}, "no parameter"),
    ({"beta": [0.1, 0.2]}, r"also needs \['epsilon'\]"),
    ({"epsilon": [1, 2], "labels": {"n": "n"}}, "labels names"),
])
def test_small_multiples_refuses(parameters, message):
    with pytest.raises(ValueError, match=message):
        small_multiples(rising, **parameters)
