"""The house style of figures: bound black and dashed, measured solid with markers, truth grey, colours of Okabe and Ito.

`draw` puts a `dplib.plot.Plot` on matplotlib axes once; afterwards `Drawing.update` only sets data, which is what makes
a live slider fast. The scripts of the built page (figure.js) follow the same rules.
"""

import html as _html
import io
import os
from base64 import b64encode

# Okabe and Ito's palette: apart for colour-blind readers too; always paired with a marker or a dash
PALETTE = {"blue": "#0072B2", "vermillion": "#D55E00", "green": "#009E73", "purple": "#CC79A7",
           "orange": "#E69F00", "sky": "#56B4E9", "yellow": "#F0E442", "black": "#000000"}
MEASURED = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
MARKERS = ("o", "s", "^", "D", "v", "P")
DASHES = ((6, 3.5), (1.6, 2.4), (9, 3, 2, 3), (12, 4))
GREYS = ((None, None), (1.5, 2), (5, 2), (8, 2, 2, 2))
GREY = "#767676"

RC = {
    "font.size": 10, "axes.titlesize": 10, "axes.labelsize": 10, "legend.fontsize": 9.5, "xtick.labelsize": 9, "ytick.labelsize": 9,
    "axes.spines.top": False, "axes.spines.right": False, "axes.edgecolor": "#555555", "axes.linewidth": 0.8,
    "axes.grid": True, "grid.color": "#dddddd", "grid.linewidth": 0.6, "axes.axisbelow": True,
    "xtick.color": "#555555", "ytick.color": "#555555", "xtick.labelcolor": "black", "ytick.labelcolor": "black",
    "lines.linewidth": 1.8, "lines.markersize": 5, "legend.frameon": False, "legend.handlelength": 2.8,
    "figure.constrained_layout.use": False, "figure.autolayout": False, "savefig.dpi": 110, "figure.dpi": 110,
}


def style():
    """A context with the house style: `with style(): fig, ax = plt.subplots()`."""
    import matplotlib as mpl
    from cycler import cycler

    return mpl.rc_context({**RC, "axes.prop_cycle": cycler(color=MEASURED, marker=MARKERS)})


class Drawing:
    """The artists of one plot on one axes; `update` moves them to another plot of the same shape."""

    def __init__(self, ax, plot):
        from matplotlib.collections import LineCollection
        from matplotlib.patches import Polygon

        self.bands, self.draws, self.lines, self.marks = [], [], [], []
        seen = {"measured": 0, "bound": 0, "truth": 0}
        for curve in plot.curves:
            look = _look(curve, seen[curve.kind], len(plot.x))
            seen[curve.kind] += 1
            band = curve.low is not None and ax.add_patch(Polygon([(0, 0)], color=look["color"], alpha=0.18, lw=0, zorder=2))
            runs = curve.draws is not None and ax.add_collection(
                LineCollection([], colors=look["color"], alpha=0.35, lw=0.7, zorder=2.5), autolim=False)
            (line,) = ax.plot([], [], label=curve.name, **look)
            self.bands.append(band or None), self.draws.append(runs or None), self.lines.append(line)
        for _ in plot.marks:
            rule = ax.axvline(1, color=GREY, lw=1, ls=(0, (2, 2)), zorder=1.5)
            text = ax.text(1, 0.995, "", transform=ax.get_xaxis_transform(), fontsize=8.5, color="#444444", va="top", zorder=4)
            self.marks.append((rule, text))
        self.update(plot)

    @property
    def artists(self):
        """Everything that moves, back to front."""
        moving = [*self.bands, *self.draws, *self.lines, *(artist for mark in self.marks for artist in mark)]
        return sorted((artist for artist in moving if artist is not None), key=lambda artist: artist.get_zorder())

    def update(self, plot):
        """Set the data of every artist; axes, ticks and legend stay as they are."""
        import numpy as np

        for curve, line, band, draws in zip(plot.curves, self.lines, self.bands, self.draws):
            line.set_data(plot.x, curve.y)
            if band is not None:
                band.set_xy(np.column_stack([np.r_[plot.x, plot.x[::-1]], np.r_[curve.low, curve.high[::-1]]]))
            if draws is not None:
                draws.set_segments([np.column_stack([plot.x, row]) for row in curve.draws])
        for row, ((name, at), (rule, text)) in enumerate(zip(plot.marks, self.marks)):
            rule.set_xdata([at, at])
            low, high = text.axes.get_xlim()
            right = (at - low) > (high - low) / 2 if text.axes.get_xscale() == "linear" else at > (low * high) ** 0.5
            text.set(x=at, text=f" {name} ", ha="right" if right else "left", y=0.995 - 0.06 * row)


def _look(curve, index, points):
    """Line properties of a curve that is the index-th of its kind."""
    if curve.kind == "measured":
        dots = {"markevery": -(-points // 12)} if curve.joined else {"linestyle": ""}
        return {"color": MEASURED[index % len(MEASURED)], "marker": MARKERS[index % len(MARKERS)], "zorder": 3, **dots}
    if curve.kind == "bound":
        return {"color": "black", "dashes": DASHES[index % len(DASHES)], "zorder": 3, "marker": "", "lw": 1.6}
    return {"color": GREY, "dashes": GREYS[index % len(GREYS)], "zorder": 2.8, "marker": "", "lw": 1.4}


def draw(ax, plot, domain=None, labels=True):
    """Draw a `Plot` on matplotlib axes with fixed ranges ((x0, x1), (y0, y1)); returns the `Drawing` to update."""
    if domain is None:
        from dplib.explore import domain as ranges
        domain = ranges([plot])
    ax.set(xscale=plot.xscale, yscale=plot.yscale, xlim=domain[0], ylim=domain[1])
    for axis, scale, span in ((ax.xaxis, plot.xscale, domain[0]), (ax.yaxis, plot.yscale, domain[1])):
        _ticks(axis, scale, span)
    if labels:
        ax.set_xlabel(plot.xlabel)
        ax.set_title(plot.ylabel, loc="left", fontweight="normal")
    return Drawing(ax, plot)


def _ticks(axis, scale, span):
    from matplotlib.ticker import FuncFormatter, LogFormatterMathtext, LogLocator, MaxNLocator, NullFormatter

    from dplib.plot import number

    if scale == "linear":
        axis.set_major_locator(MaxNLocator(6))
        return
    short = span[1] / span[0] < 100
    axis.set_major_locator(LogLocator(10, subs=(1, 2, 5) if short else (1,)))
    axis.set_minor_formatter(NullFormatter())
    plain = span[0] >= 0.005 and span[1] <= 20000
    axis.set_major_formatter(FuncFormatter(lambda v, _: number(v)) if plain or short else LogFormatterMathtext())


def canvas(plot, domain, size=(6.4, 4.0)):
    """One plot as a figure with fixed margins and its legend above; returns (figure, axes, drawing)."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with style():
        rows = -(-len(plot.curves) // 2)
        fig = Figure(figsize=size)
        FigureCanvasAgg(fig)
        ax = fig.add_axes((0.105, 0.135, 0.855, 0.775 - 0.052 * rows))
        drawing = draw(ax, plot, domain)
        fig.legend(*ax.get_legend_handles_labels(), loc="upper left", ncols=2, bbox_to_anchor=(0.085, 1.0), borderaxespad=0.3)
    return fig, ax, drawing


def to_png(fig, colours=None):
    """The figure as PNG bytes; with `colours`, on a small palette, for a page that should stay light."""
    from PIL import Image

    fig.canvas.draw()
    image = Image.fromarray(_rgb(fig.canvas))
    if colours:
        image = image.quantize(colours, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    out = io.BytesIO()
    image.save(out, "PNG", optimize=bool(colours))
    return out.getvalue()


def _rgb(agg):
    import numpy as np

    return np.ascontiguousarray(np.asarray(agg.buffer_rgba())[..., :3])


# the theme lays a light plate behind outputs in dark mode and dims pictures; white paper of its own is enough here
_TWIN_CSS = """
html[data-theme="dark"] .bd-content div.cell_output .text_html.text_html:has(> figure.dplib-multiples) { background: none; color: inherit; padding: 0; }
html[data-theme] .dplib-multiples.dplib-multiples picture img { background: #fff; filter: none; padding: 0; max-width: 100%; height: auto; }
.dplib-multiples.dplib-multiples { margin: 1.25rem 0; text-align: left; }
.dplib-multiples.dplib-multiples figcaption { margin: .35rem 0 0; padding: 0; font: inherit; font-size: .9rem; text-align: left; color: inherit; }
"""


def multiples(plots, titles, domain, columns, text, alt=None, caption=None):
    """Panels with shared axes, one for each plot, the inequality of each under its title."""
    from matplotlib.figure import Figure

    class Multiples(Figure):
        """A figure whose text form is the sentence of each panel, so that a notebook test compares the numbers."""

        def __repr__(self):
            return text

        __str__ = __repr__

        def _repr_mimebundle_(self, include=None, exclude=None):
            bundle = {"text/plain": text, "image/png": _base64(self)}
            if alt and os.environ.get("DPLIB_EXPLORE") == "static":
                narrow = _panels(Figure, plots, titles, domain, 1)
                bundle["text/html"] = _twin_html(_base64(self, 48), _base64(narrow, 48), alt, caption)
            return bundle

    return _panels(Multiples, plots, titles, domain, columns)


def _panels(kind, plots, titles, domain, columns):
    """A figure of the given class with the panels in rows of `columns` and one legend above."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    from dplib.plot import typeset

    rows, wide = -(-len(plots) // columns), min(3.1, 10 / columns)
    key = 0.3 * -(-len(plots[0].curves) // columns) + 0.1
    width, height = max(columns * wide, 4) + 0.5, rows * 2.9 + key + 0.1
    with style():
        fig = kind(figsize=(width, height))
        FigureCanvasAgg(fig)
        axes = fig.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
        fig.subplots_adjust(left=0.6 / width, right=1 - 0.3 / width, bottom=0.55 / height, top=1 - (key + 0.5) / height,
                            wspace=0.12, hspace=0.42)
        for ax, plot, title in zip(axes.flat, plots, titles):
            draw(ax, plot, domain, labels=False)
            ax.set_title(title + "\n", fontsize=10 if len(title) < 30 else 8.5)
            if plot.check is not None:
                ax.text(0.5, 1.025, typeset(plot.check.numbers()), transform=ax.transAxes, ha="center", fontsize=8.5,
                        color="#444444", weight="bold" if plot.broken else "normal")
        for ax in axes[-1]:
            ax.set_xlabel(plots[0].xlabel)
        for ax in axes[:, 0]:
            ax.set_ylabel(plots[0].ylabel)
        fig.legend(*axes.flat[0].get_legend_handles_labels(), loc="upper center", ncols=columns, borderaxespad=0.2)
    return fig


def _base64(fig, colours=None):
    return b64encode(to_png(fig, colours)).decode()


def _twin_html(wide, narrow, alt, caption):
    """The picture for a page: panels side by side, or one below the other at phone width."""
    said = f"<figcaption>{_html.escape(caption)}</figcaption>" if caption else ""
    return (f'<figure class="dplib-multiples"><style>{_TWIN_CSS}</style><picture>'
            f'<source media="(max-width: 600px)" srcset="data:image/png;base64,{narrow}">'
            f'<img src="data:image/png;base64,{wide}" alt="{_html.escape(alt)}"></picture>{said}</figure>')
