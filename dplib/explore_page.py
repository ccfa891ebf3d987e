"""The static display of `explore`: one self-contained piece of HTML with the whole grid in it and a script to show it.

A row of numbers is stored as round(RESOLUTION asinh(value/scale)): a relative error below 5e-4 whatever the axis.
The integers are differenced (once or twice, whichever is shorter) and written in the variable-length base 64 of source
maps; rows that occur at several grid points are stored once.
"""

import hashlib
import html as escaping
import json
import re
from base64 import b64encode
from importlib.resources import files

import numpy as np

from dplib.plot import number, typeset

RESOLUTION = 1500
DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


def vlq(integers):
    """Signed integers as text, five bits a character, small ones in one character.

    >>> vlq([0, 1, -1, 1000])
    'ACDw+B'
    """
    text = []
    for value in integers:
        rest = (-value << 1) | 1 if value < 0 else value << 1
        while rest > 31:
            text.append(DIGITS[(rest & 31) | 32])
            rest >>= 5
        text.append(DIGITS[rest])
    return "".join(text)


def row_text(values, scale):
    """One row of numbers: the order of differencing, then the differences."""
    levels = np.rint(RESOLUTION * np.arcsinh(np.asarray(values) / scale)).astype(int)
    once = np.diff(levels, prepend=0)
    twice = np.diff(once, prepend=0)
    return min(("1" + vlq(once.tolist()), "2" + vlq(twice.tolist())), key=len)


def scale_of(rows):
    """The size below which digits no longer matter: the smallest number that is not zero, or 1e-12 of the largest."""
    sizes = np.abs(np.concatenate([np.ravel(row) for row in rows]))
    return float(f"{max(sizes[sizes > 0].min(), 1e-12 * sizes.max()):.3g}") if sizes.any() else 1.0


def payload(exploration):
    """All that the script needs, as plain lists and strings; `at` names the rows of each grid point in order."""
    plots, first = exploration.plots, exploration.start_plot
    xscale = scale_of([row for p in plots for row in (p.x, [at for _, at in p.marks])])
    yscale = scale_of([row for p in plots for c in p.curves for row in c.rows()])
    rows, words = {}, {"": 0}
    at, said = [], []
    for p in plots:
        texts = [row_text(p.x, xscale), *(row_text(r, yscale) for c in p.curves for r in c.rows()),
                 *([row_text([x for _, x in p.marks], xscale)] if p.marks else [])]
        at += [rows.setdefault(text, len(rows)) for text in texts]
        said += [words.setdefault(text, len(words)) for text in (*_said(p), *(name for name, _ in p.marks))]
    return {
        "parameters": [{"label": p.label, "control": p.control, "values": [number(v, 6) for v in p.values], "start": p.start}
                       for p in exploration.parameters],
        "axes": [{"label": label, "log": scale == "log", "range": [float(f"{v:.6g}") for v in span], "scale": unit}
                 for label, scale, span, unit in zip((first.xlabel, first.ylabel), (first.xscale, first.yscale),
                                                     exploration.domain, (xscale, yscale))],
        "curves": [{"kind": c.kind, "name": c.name, "band": c.low is not None, "draws": 0 if c.draws is None else len(c.draws),
                    **({} if c.joined else {"apart": True})}
                   for c in first.curves],
        "marks": len(first.marks), "check": first.check is not None, "resolution": RESOLUTION, "points": len(first.x),
        "rows": list(rows), "at": vlq(np.diff(at, prepend=0).tolist()), "words": list(words), "said": vlq(np.diff(said, prepend=0).tolist()),
        "broken": "".join("01"[p.broken] for p in plots),
    }


def _said(plot):
    """The inequality, and the words that place it."""
    return (typeset(plot.check.numbers()), plot.check.what) if plot.check else (plot.sentence(), "")


def png(exploration, colours=None):
    """The picture at the start point, for print and for a page without script."""
    from dplib.figures import canvas, to_png

    return b64encode(to_png(canvas(exploration.start_plot, exploration.domain)[0], colours)).decode()


def html(exploration):
    """The figure as HTML that asks nobody for anything; its id is a hash of what it shows."""
    data = json.dumps(payload(exploration), ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    text = escaping.escape
    code = hashlib.sha256("\0".join([data, exploration.caption, exploration.alt, exploration.name or ""]).encode()).hexdigest()[:10]
    key = f"dx-{code}"
    name = f' data-name="{text(exploration.name)}"' if exploration.name else ""
    said, what = _said(exploration.start_plot)
    broken = " data-broken" if exploration.start_plot.broken else ""
    values = ", ".join(f"{p.label} = {number(p.values[p.start], 6)}" for p in exploration.parameters)
    return (
        f'<figure class="dplib-figure dplib-explore" id="{key}"{name}>\n{style()}\n'
        f'<div class="dx-controls" role="group" aria-label="parameters of the figure">'
        f'{"".join(_control(p, f"{key}-{i}") for i, p in enumerate(exploration.parameters))}</div>\n'
        f'<div class="dx-plot" data-alt="{text(exploration.alt)}"></div>\n'
        f'<noscript><img src="data:image/png;base64,{png(exploration, 16)}" alt="{text(exploration.alt)}"></noscript>\n'
        f'<p class="dx-says" role="status"{broken}><span class="dx-check">{text(said)}</span> <span class="dx-what">{text(what)}</span> '
        f'<span class="dx-where">{text(values)}</span></p>\n'
        f'<figcaption class="dx-caption">{text(exploration.caption)}</figcaption>\n'
        f'<script type="application/json" class="dx-data">{data}</script>\n{script("explore.js")}\n</figure>'
    )


def _control(p, key):
    """The native control of one parameter."""
    label = f'<label for="{key}">{escaping.escape(p.label)}</label>'
    if p.control == "check":
        checked = " checked" if p.values[p.start] else ""
        return f'<div class="dx-control dx-tick"><input type="checkbox" id="{key}" autocomplete="off"{checked}>{label}</div>'
    if p.control == "select":
        options = "".join(f'<option{" selected" if i == p.start else ""}>{escaping.escape(v)}</option>' for i, v in enumerate(p.values))
        return f'<div class="dx-control">{label}<select id="{key}" autocomplete="off">{options}</select></div>'
    value = number(p.values[p.start], 6)
    return (f'<div class="dx-control">{label}<span class="dx-value" aria-hidden="true">{value}</span>'
            f'<input type="range" id="{key}" min="0" max="{len(p.values) - 1}" step="1" value="{p.start}" '
            f'aria-valuetext="{value}" autocomplete="off"></div>')


def style(*names):
    """The style of all our figures, then that of the named files, inline."""
    return f'<style>{"".join(map(_asset, ("figure.css", *names)))}</style>'


def script(name):
    """A script of ours inline, in a function together with what our scripts share: no name leaks into the page."""
    return f'<script>(() => {{\n{_asset("figure.js")}{_asset(name)}}})();</script>'


def _asset(name):
    """The text of a file of ours without comment lines and indentation."""
    lines = files("dplib").joinpath(name).read_text("utf-8").splitlines()
    kept = (line.strip() for line in lines if not re.match(r"\s*(//|/\*.*\*/\s*$)", line))
    return "".join(line + "\n" for line in kept if line)
