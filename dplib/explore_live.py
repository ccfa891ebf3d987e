"""The live display of `explore`: widgets around a matplotlib picture that is drawn once and then only given new data."""

import html
import io
from base64 import b64encode

import numpy as np

from dplib.plot import number, typeset


def finer(values, between=4):
    """A slider's scale: the grid with `between` values more in every gap, geometric if the grid is, integers if it is.

    >>> finer((1, 10, 100), between=1)
    [1, 3, 10, 32, 100]
    >>> finer((0.0, 1.0), between=1)
    [0.0, 0.5, 1.0]
    """
    whole = all(isinstance(v, int) for v in values)
    scale = [values[0]]
    for low, high in zip(values, values[1:]):
        steps = np.arange(1, between + 1) / (between + 1)
        inner = low * (high / low) ** steps if _geometric(values) else low + (high - low) * steps
        inner = [round(v) if whole else float(f"{v:.3g}") for v in inner]
        scale += [v for v in dict.fromkeys(inner) if low < v < high and v > scale[-1]] + [high]
    return scale


def _geometric(values):
    """Whether the grid's ratios vary less than its differences."""
    if values[0] <= 0:
        return False
    gaps, ratios = np.diff(values), np.diff(np.log(values))
    if len(values) == 2:
        return ratios[0] > np.log(4)
    return ratios.std() / ratios.mean() < gaps.std() / gaps.mean()


class Picture:
    """PNG frames of plots of one shape: axes, ticks and legend are painted once, a frame repaints what moves."""

    def __init__(self, plot, domain):
        from dplib.figures import canvas

        self.figure, self.axes, self.drawing = canvas(plot, domain)
        self.domain = domain
        self._background()

    def _background(self):
        for artist in self.drawing.artists:
            artist.set_animated(True)
        self.figure.canvas.draw()
        self.background = self.figure.canvas.copy_from_bbox(self.figure.bbox)

    def frame(self, plot):
        """The PNG bytes of a plot. Between the grid's corners a curve may leave the axes; they then grow, once."""
        from PIL import Image

        from dplib.explore import domain
        from dplib.figures import _rgb

        ranges = tuple((min(a[0], b[0]), max(a[1], b[1])) for a, b in zip(self.domain, domain([plot])))
        if ranges != self.domain:
            self.domain = ranges
            self.axes.set(xlim=ranges[0], ylim=ranges[1])
            self._background()
        agg = self.figure.canvas
        agg.restore_region(self.background)
        self.drawing.update(plot)
        for artist in self.drawing.artists:
            self.axes.draw_artist(artist)
        out = io.BytesIO()
        Image.fromarray(_rgb(agg)).save(out, "PNG", compress_level=1)
        return out.getvalue()


def controls(parameters):
    """One ipywidgets control for each parameter."""
    import ipywidgets as widgets

    wide = {"style": {"description_width": "11em"}, "layout": {"width": "32em"}}
    made = []
    for p in parameters:
        first = p.values[p.start]
        if p.control == "check":
            made.append(widgets.Checkbox(first, description=p.label, indent=False))
        elif p.control == "select":
            made.append(widgets.Dropdown(options=p.values, value=first, description=p.label, **wide))
        else:
            options = [(number(v, 6), v) for v in finer(p.values)]
            made.append(widgets.SelectionSlider(options=options, value=first, description=p.label, **wide))
    return made


def sentence(plot):
    """The inequality as HTML; a broken bound is bold, ruled and named, not only coloured."""
    look = "border-left:4px double #b3261e;padding-left:.6em;font-weight:bold" if plot.broken else "padding-left:.6em"
    return f'<div role="status" style="font-size:1.1em;line-height:1.6;{look}">{html.escape(typeset(plot.sentence()))}</div>'


def shown(png, alt):
    """A picture as HTML: ipywidgets' own Image has no alternative text."""
    return f'<img src="data:image/png;base64,{b64encode(png).decode()}" alt="{html.escape(alt)}" style="max-width:100%">'


def widget(exploration):
    """The box of controls, picture and sentence; a move calls the function again and repaints."""
    import ipywidgets as widgets

    from dplib.explore import evaluate, same_shape

    picture = Picture(exploration.start_plot, exploration.domain)
    image = widgets.HTML(shown(picture.frame(exploration.start_plot), exploration.alt))
    says = widgets.HTML(sentence(exploration.start_plot))
    caption = widgets.HTML(f'<div style="max-width:44em;opacity:.8">{html.escape(exploration.caption)}</div>')
    handles = controls(exploration.parameters)

    def move(_change):
        point = {p.name: handle.value for p, handle in zip(exploration.parameters, handles)}
        try:
            plot = evaluate(exploration.fn, point)
            same_shape(plot, point, exploration.start_plot)
        except ValueError as error:
            says.value = f'<div role="status"><b>No figure here.</b> {html.escape(str(error))}</div>'
            return
        image.value = shown(picture.frame(plot), exploration.alt)
        says.value = sentence(plot)

    for handle in handles:
        handle.observe(move, "value")
    return widgets.VBox([*handles, image, says, caption])


def view(exploration):
    """The mime bundle of the widget; without ipywidgets, of a picture at the start point."""
    try:
        import ipywidgets  # noqa: F401
    except ImportError:
        from dplib.explore_page import png
        return {"image/png": png(exploration)}
    return widget(exploration)._repr_mimebundle_()
