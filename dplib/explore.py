"""One call, two displays: a figure whose sliders are bound to a theorem.

A callback maps parameters to a `Plot` (curves and the inequality they illustrate); `explore` puts sliders around it.
In a kernel they are widgets and the callback runs again at each move; in the built book (`DPLIB_EXPLORE=static`) the
callback is evaluated on the whole grid and the page carries the numbers and a few lines of script.

>>> def error(epsilon):
...     k = np.array([1, 10, 100])
...     return Plot(k, [bound("bound", np.log(k + 1) / epsilon)], "queries k", "error", check=Check(2, 4.62 / epsilon))
>>> explore(error, epsilon=[0.5, 1, 2], start={"epsilon": 1}, caption="Error grows with k.", alt="One rising curve.")
epsilon = 1: 2 <= 4.62 (2.3x slack)
"""

import inspect
import itertools
import os
from dataclasses import dataclass

import numpy as np

from dplib.plot import Check, Curve, Plot, bound, measured, number, truth
from dplib.progress import progress

__all__ = ["Check", "Curve", "Plot", "bound", "explore", "measured", "small_multiples", "truth"]

LABELS = {
    "epsilon": "privacy ε", "delta": "δ", "beta": "failure probability β", "alpha": "accuracy α", "eta": "step size η",
    "sigma": "noise σ", "sensitivity": "sensitivity Δ", "n": "records n", "m": "universe size m", "k": "queries k",
    "T": "rounds T", "N": "experts N", "c": "hits c", "d": "attributes d", "rounds": "rounds T", "queries": "queries k",
}


# ---- the grid ----------------------------------------------------------------------------------------------------

@dataclass(frozen=True)
class Parameter:
    """One control: its name, its label, the values it takes and the index it starts at."""

    name: str
    label: str
    values: tuple
    start: int

    @property
    def control(self):
        """"slider" for numbers, "check" for two booleans, "select" for strings."""
        first = self.values[0]
        return "check" if isinstance(first, bool) else "select" if isinstance(first, str) else "slider"


def _values(name, grid):
    """The grid of one parameter as a tuple of plain bools, strings or increasing numbers."""
    if isinstance(grid, (str, bytes)) or not hasattr(grid, "__iter__"):
        raise ValueError(f"{name} must be a list of values, got {grid!r}; fix a parameter inside the function instead")
    values = tuple(v.item() if isinstance(v, np.generic) else v for v in grid)
    if len(values) < 2:
        raise ValueError(f"{name} needs at least two values to move between, got {list(values)}")
    kinds = {"bool" if isinstance(v, bool) else "str" if isinstance(v, str) else "number" for v in values}
    if len(kinds) > 1 or not all(isinstance(v, (bool, str, int, float)) for v in values):
        raise ValueError(f"{name} must be all numbers, all strings or two booleans, got {list(values)}")
    if len(set(values)) < len(values):
        raise ValueError(f"{name} has duplicate values: {list(values)}")
    if kinds == {"number"} and not all(np.isfinite(values)):
        raise ValueError(f"{name} must be finite, got {list(values)}")
    if kinds == {"number"} and list(values) != sorted(values):
        raise ValueError(f"{name} must be in increasing order, got {list(values)}")
    return values


def _parameters(fn, grids, start, labels):
    """Check names against the callback's signature and turn the grids into `Parameter`s."""
    if not grids:
        raise ValueError("explore needs at least one parameter grid, such as epsilon=[0.5, 1, 2]")
    start, labels = dict(start or {}), dict(labels or {})
    for source, names in (("start", start), ("labels", labels)):
        unknown = [name for name in names if name not in grids]
        if unknown:
            raise ValueError(f"{source} names {unknown}, which are not among the parameters {list(grids)}")
    _match_signature(fn, grids)
    parameters = []
    for name, grid in grids.items():
        values = _values(name, grid)
        default = False if isinstance(values[0], bool) else values[0 if isinstance(values[0], str) else len(values) // 2]
        first = start.get(name, default)
        if first not in values:
            raise ValueError(f"start has {name} = {first!r}, which is not on its grid {list(values)}")
        parameters.append(Parameter(name, labels.get(name, LABELS.get(name, name.replace("_", " "))), values, values.index(first)))
    return tuple(parameters)


def _match_signature(fn, grids):
    signature = inspect.signature(fn).parameters.values()
    takes_any = any(p.kind is p.VAR_KEYWORD for p in signature)
    known = [p.name for p in signature if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    needed = [p.name for p in signature if p.name in known and p.default is p.empty]
    name = getattr(fn, "__name__", "the function")
    unknown = [] if takes_any else [g for g in grids if g not in known]
    if unknown:
        raise ValueError(f"{name} takes {known}, it has no parameter {unknown}")
    missing = [p for p in needed if p not in grids]
    if missing:
        raise ValueError(f"{name} also needs {missing}, for which no values were given")


def describe(point):
    """The parameter values in words: "epsilon = 1, beta = 0.05"."""
    return ", ".join(f"{name} = {value if isinstance(value, (bool, str)) else number(value, 6)}" for name, value in point.items())


def evaluate(fn, point):
    """The callback at one point; whatever goes wrong is reported with the point."""
    try:
        plot = fn(**point)
    except Exception as error:
        raise ValueError(f"at {describe(point)}: {error}") from error
    if not isinstance(plot, Plot):
        raise ValueError(f"at {describe(point)}: the function must return a Plot, got {type(plot).__name__}")
    return plot


def same_shape(plot, point, model):
    """Refuse a plot whose curves, labels or lengths are not those of the start."""
    for what, expected in model.shape().items():
        if plot.shape()[what] != expected:
            raise ValueError(f"at {describe(point)}: {what} differs from the start: {plot.shape()[what]} against {expected}")


def domain(plots):
    """The x and y ranges that hold every curve, band, draw and mark of all plots: fixed axes make a move visible."""
    xs = [value for p in plots for value in (p.x.min(), p.x.max(), *(at for _, at in p.marks))]
    ys = [value for p in plots for c in p.curves for row in c.rows() for value in (row.min(), row.max())]
    return _padded(min(xs), max(xs), plots[0].xscale, 0.02, 0.02), _padded(min(ys), max(ys), plots[0].yscale, 0.04, 0.06)


def _padded(low, high, scale, below, above):
    if scale == "log":
        ratio = max(high / low, 1.5)
        return low / ratio**below, high * ratio**above
    if 0 <= low < high / 2:  # an axis of sizes starts at nothing
        return 0.0, high * (1 + above)
    width = (high - low) or abs(high) or 1.0
    return low - below * width, high + above * width


# ---- the call ----------------------------------------------------------------------------------------------------

class Exploration:
    """A slider figure: `points` (parameter values), their `plots`, and one display for kernel or page."""

    def __init__(self, fn, parameters, points, plots, caption, alt, name):
        self.fn, self.parameters, self.points, self.plots = fn, parameters, points, plots
        self.caption, self.alt, self.name = caption, alt, name
        self.start = {p.name: p.values[p.start] for p in parameters}
        self.start_plot = plots[points.index(self.start)]
        self.domain = domain(plots)
        self.static = is_static()

    def __repr__(self):
        return f"{describe(self.start)}: {self.start_plot.sentence()}"

    def _repr_mimebundle_(self, include=None, exclude=None):
        if self.static:
            from dplib.explore_page import html, png
            return {"text/plain": repr(self), "text/html": html(self), "image/png": png(self)}
        from dplib.explore_live import view
        return {**view(self), "text/plain": repr(self)}


def is_static():
    """Whether a book is being built: the page then has no kernel behind it."""
    return os.environ.get("DPLIB_EXPLORE") == "static"


def explore(fn, *, caption=None, alt=None, name=None, start=None, labels=None, **grids):
    """A slider figure of `fn(**parameters) -> Plot` over `grids`.

    A grid of increasing numbers is a slider, [False, True] a checkbox, strings a choice. `fn` must be a deterministic
    function of its parameters (it makes its own generator from a fixed seed, so that a move changes the picture
    smoothly). `alt` says what one should see, `caption` what it means; both are required. `start` gives the first
    point, `labels` the words at the controls. Anything wrong with grids, names or curves raises `ValueError` here.
    """
    for what, text in (("caption", caption), ("alt", alt)):
        if not isinstance(text, str) or not text.strip():
            raise ValueError(f"explore needs {what}=..., a sentence {'about' if what == 'caption' else 'saying what to see in'} the figure")
    parameters = _parameters(fn, grids, start, labels)
    points = _points(parameters)
    model = evaluate(fn, {p.name: p.values[p.start] for p in parameters})
    plots = []
    for point in progress(points, getattr(fn, "__name__", "figure")):
        plots.append(evaluate(fn, point))
        same_shape(plots[-1], point, model)
    return Exploration(fn, parameters, points, plots, caption, alt, name)


def _points(parameters):
    """The whole grid for a page; for a kernel its corners and the start, enough to fix the axes and find mistakes."""
    names = [p.name for p in parameters]
    choices = [p.values if is_static() or p.control != "slider" else sorted({p.values[0], p.values[p.start], p.values[-1]})
               for p in parameters]
    return [dict(zip(names, values)) for values in itertools.product(*choices)]


def small_multiples(fn, *, alt=None, caption=None, labels=None, **parameters):
    """The static twin of `explore`: one panel for each value of the one or two parameters that are lists.

    Scalars are held fixed. Axes are shared, each panel carries its own inequality. Returns a matplotlib figure whose
    text form repeats the inequalities. The first list runs across, the second down.
    """
    _match_signature(fn, parameters)
    unknown = [label for label in labels or {} if label not in parameters]
    if unknown:
        raise ValueError(f"labels names {unknown}, which are not among the parameters {list(parameters)}")
    lists = {name: _values(name, v) for name, v in parameters.items() if not isinstance(v, (str, bytes)) and hasattr(v, "__iter__")}
    if not 1 <= len(lists) <= 2:
        raise ValueError(f"small_multiples needs one or two parameters with lists of values, got {len(lists)}")
    points = [{**parameters, **dict(zip(reversed(lists), values))} for values in itertools.product(*reversed(lists.values()))]
    plots = [evaluate(fn, point) for point in points]
    for point, plot in zip(points, plots):
        same_shape(plot, point, plots[0])
    from dplib.figures import multiples
    words = {**LABELS, **(labels or {})}
    titles = [", ".join(f"{words.get(name, name)} = {number(point[name], 6)}" for name in lists) for point in points]
    text = "\n".join(f"{describe(point)}: {plot.sentence()}" for point, plot in zip(points, plots))
    return multiples(plots, titles, domain(plots), columns=len(next(iter(lists.values()))), text=text, alt=alt, caption=caption)
