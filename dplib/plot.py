"""What a slider figure shows: curves (`measured`, `bound`, `truth`), the inequality behind them, and the numbers in words."""

import re
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Curve:
    """One curve y over the plot's x; a measured one may have a band low..high and single draws of shape (r, len(x))."""

    kind: str
    name: str
    y: np.ndarray
    low: np.ndarray | None = None
    high: np.ndarray | None = None
    draws: np.ndarray | None = None
    joined: bool = True  # or markers alone, one at every x

    def rows(self):
        """Every row of numbers to draw: y, then low and high if there is a band, then the draws."""
        band = [] if self.low is None else [self.low, self.high]
        return [self.y, *band, *([] if self.draws is None else self.draws)]

    def shape(self):
        """What must not change from one grid point to the next."""
        return self.kind, self.name, self.low is not None, 0 if self.draws is None else len(self.draws), self.joined


def measured(name, y, low=None, high=None, draws=None, joined=True):
    """What an algorithm did: solid with markers, with a quantile band and single draws if given; not joined, markers alone."""
    if (low is None) != (high is None):
        raise ValueError(f"curve {name!r} needs both low and high for its band, got only one of them")
    return Curve("measured", name, *(None if a is None else np.asarray(a, float) for a in (y, low, high, draws)), joined)


def bound(name, y):
    """The right-hand side of a theorem: dashed."""
    return Curve("bound", name, np.asarray(y, float))


def truth(name, y):
    """A value known exactly, or a reference line: grey."""
    return Curve("truth", name, np.asarray(y, float))


@dataclass(frozen=True)
class Check:
    """The inequality left <= right in numbers, and in words where it was read off ("at k = 1000").

    >>> print(Check(0.041, 0.118), Check(0.141, 0.118, "at k = 10"), sep=";  ")
    0.041 <= 0.118 (2.9x slack);  0.141 > 0.118 (bound broken) at k = 10
    """

    left: float
    right: float
    what: str = ""

    def __post_init__(self):
        for side in ("left", "right"):
            if not np.isfinite(getattr(self, side)):
                raise ValueError(f"the check's {side} side must be finite, got {getattr(self, side)}")

    @property
    def holds(self):
        """Whether left <= right, up to rounding in the last bits."""
        return bool(self.left <= self.right + 1e-12 * max(abs(self.left), abs(self.right)))

    def numbers(self):
        """The inequality without the words that place it."""
        # as many digits as it takes to see which is larger: neither "0.118 > 0.118" nor "1234 <= 1230"
        shown = [(number(self.left, d), number(self.right, d)) for d in range(3, 18)]
        if not self.holds:
            left, right = next(pair for pair in shown if float(pair[0]) > float(pair[1]))
            return f"{left} > {right} (bound broken)"
        left, right = next((pair for pair in shown if float(pair[0]) <= float(pair[1])), shown[0])  # none: equal up to rounding
        slack = self.right / self.left if self.left > 0 else None
        return f"{left} <= {right}" + (f" ({_ratio(slack)}x slack)" if slack else "")

    def __str__(self):
        return f"{self.numbers()} {self.what}".rstrip()


@dataclass(frozen=True, eq=False)
class Plot:
    """Curves over a common x with axis labels, an optional `Check` and vertical marks [(name, x0), ...]."""

    x: np.ndarray
    curves: tuple
    xlabel: str
    ylabel: str
    xscale: str = "linear"
    yscale: str = "linear"
    check: Check | None = None
    marks: tuple = ()

    def __post_init__(self):
        object.__setattr__(self, "x", np.asarray(self.x, float))
        object.__setattr__(self, "curves", tuple(self.curves))
        object.__setattr__(self, "marks", tuple((str(name), float(at)) for name, at in self.marks))
        for axis, scale in (("xscale", self.xscale), ("yscale", self.yscale)):
            if scale not in ("linear", "log"):
                raise ValueError(f"{axis} must be 'linear' or 'log', got {scale!r}")
        if self.x.ndim != 1 or len(self.x) < 2:
            raise ValueError(f"x must be a row of at least two numbers, got shape {self.x.shape}")
        if not self.curves:
            raise ValueError("a plot needs at least one curve, got none")
        names = [curve.name for curve in self.curves]
        if len(set(names)) < len(names):
            raise ValueError(f"curve names must differ, got {names}")
        _numbers("x", self.x, self.x, self.xscale)
        _numbers("marks", np.array([at for _, at in self.marks]), None, self.xscale)
        for curve in self.curves:
            self._check_curve(curve)

    def _check_curve(self, curve):
        if curve.draws is not None and curve.draws.ndim != 2:
            raise ValueError(f"draws of {curve.name!r} must have shape (r, {len(self.x)}), got {curve.draws.shape}")
        for row in curve.rows():
            if row.shape != self.x.shape:
                raise ValueError(f"curve {curve.name!r} has shape {row.shape} but x has {self.x.shape}")
            _numbers(f"curve {curve.name!r}", row, self.x, self.yscale)
        if curve.low is not None and np.any(curve.low > curve.high):
            raise ValueError(f"the band of {curve.name!r} has low > high")

    def shape(self):
        """What must not change from one grid point to the next."""
        return {"length of x": len(self.x), "curves (kind, name, has a band, draws, joined)": [c.shape() for c in self.curves],
                "labels": (self.xlabel, self.ylabel), "scales": (self.xscale, self.yscale),
                "presence of a check": self.check is not None, "number of marks": len(self.marks)}

    @property
    def broken(self):
        """Whether the plot has a check and it fails."""
        return self.check is not None and not self.check.holds

    def sentence(self):
        """The check in numbers; without one, every curve's value at the last x."""
        if self.check is not None:
            return str(self.check)
        ends = ", ".join(f"{curve.name} {number(curve.y[-1])}" for curve in self.curves)
        return f"{ends} at {self.xlabel} = {number(self.x[-1])}"


def _numbers(what, values, x, scale):
    """Refuse NaN, infinities, and what a logarithmic axis cannot show."""
    where = (lambda i: "") if x is None or x is values else (lambda i: f" at x = {number(x[i])}")
    for bad, why in ((~np.isfinite(values), "not finite"), ((values <= 0) & (scale == "log"), "not positive on a log axis")):
        if bad.any():
            first = int(np.flatnonzero(bad)[0])
            raise ValueError(f"{what} is {why}: {values[first]}{where(first)}")


def typeset(sentence):
    """The inequality with the signs a printer would use."""
    return re.sub(r"(?<=\d)x slack", "× slack", sentence.replace(" <= ", " ≤ "))


def number(value, digits=3):
    """Three significant digits without needless zeros or exponents: 0.0414, 59.4, 84800, 1.2e-07."""
    if isinstance(value, (bool, np.bool_, str)):
        return {True: "yes", False: "no"}.get(value, value) if not isinstance(value, str) else value
    if isinstance(value, (int, np.integer)):
        return str(value)
    rounded = float(f"{value:.{digits}g}")
    if rounded == 0 or 1e-4 <= abs(rounded) < 1e7:
        return np.format_float_positional(rounded, trim="-")
    return f"{rounded:g}" if digits <= 6 else f"{rounded:.{digits}g}"


def _ratio(slack):
    return f"{slack:.1f}" if slack < 99.95 else number(slack)
