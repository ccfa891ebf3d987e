"""How fast the book's slider figures answer: the function and the whole move in a kernel, script and paint on the page.

    python tests/bench/explore.py

Every `explore(...)` call of the chapters is measured. Prints a table; nothing is asserted, for times belong to a
machine and not to a test.
"""

import io
import itertools
import json
import os
import sys
import time
from contextlib import redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib

matplotlib.use("agg")
import numpy as np  # noqa: E402

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "website")]

from browser import launched  # noqa: E402

import dplib.explore  # noqa: E402
from dplib.explore_live import widget  # noqa: E402
from dplib.explore_page import html  # noqa: E402

MOVES = """async () => {
  const inputs = [...document.querySelectorAll('input[type=range]')], script = [], paint = [];
  for (let i = 0; i < 120; i++) {
    const input = inputs[i % inputs.length];
    input.value = (+input.value + 1) % (+input.max + 1);
    await new Promise(requestAnimationFrame);
    const start = performance.now();
    input.dispatchEvent(new Event('input'));
    script.push(performance.now() - start);
    await new Promise(done => requestAnimationFrame(() => { const c = new MessageChannel(); c.port1.onmessage = done; c.port2.postMessage(0); }));
    paint.push(performance.now() - start);
  }
  return [script, paint];
}"""


def figures_of(chapter):
    """The arguments of each `explore` call of a notebook, found by running its cells."""
    calls, original = [], dplib.explore.explore

    def record(fn, **options):
        calls.append((fn, options))

    dplib.explore.explore, room = record, {}
    try:
        for cell in json.loads(chapter.read_text("utf-8"))["cells"]:
            if cell["cell_type"] == "code":
                with redirect_stdout(io.StringIO()):
                    exec("".join(cell["source"]), room)
    finally:
        dplib.explore.explore = original
    return calls


def built(mode, fn, options):
    os.environ["DPLIB_EXPLORE"] = mode
    return dplib.explore.explore(fn, **options)


def timed(function, arguments):
    """Milliseconds of each call, after one call that is not counted."""
    function(arguments[0])
    times = []
    for argument in arguments:
        start = time.perf_counter()
        function(argument)
        times.append(1000 * (time.perf_counter() - start))
    return times


def live(fn, options):
    """The figure function on every point of its grid, and whole moves of the first slider."""
    explored = built("live", fn, options)
    grids = {parameter.name: parameter.values for parameter in explored.parameters}
    points = [dict(zip(grids, values)) for values in itertools.product(*grids.values())]
    yield "function", timed(lambda point: fn(**point), points)
    slider = widget(explored).children[0]
    values = [option[1] if isinstance(option, tuple) else option for option in slider.options]
    yield "whole move", timed(lambda value: setattr(slider, "value", value), values)


def static(browser, folder, fn, options):
    """Script and paint of a move on the page."""
    page = html(built("static", fn, options))
    path = Path(folder) / "figure.html"
    path.write_text(f'<!doctype html><html lang="en"><meta charset="utf-8"><title>bench</title>{page}', "utf-8")
    tab = browser.new_page(viewport={"width": 1000, "height": 900})
    tab.goto(path.as_uri())
    script, paint = tab.evaluate(MOVES)
    tab.close()
    yield f"page script ({len(page.encode()) / 1000:.0f} kB)", script
    yield "page, to the end of the frame", paint


def main():
    print(f"{'':62}{'median':>9}{'95 %':>9}{'largest':>9}   ms")
    with launched() as browser, TemporaryDirectory() as folder:
        for chapter in sorted((ROOT / "chapters").glob("*.ipynb")):
            for fn, options in figures_of(chapter):
                for what, times in (*live(fn, options), *static(browser, folder, fn, options)):
                    name = f"{chapter.stem}: {fn.__name__}: {what}"
                    print(f"{name:62}{np.median(times):9.2f}{np.quantile(times, 0.95):9.2f}{max(times):9.2f}", flush=True)


if __name__ == "__main__":
    main()
