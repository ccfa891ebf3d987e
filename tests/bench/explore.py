"""How fast a slider figure answers: the page's script and paint in Chromium, and the live figure in a kernel.

    python tests/bench/explore.py

Prints a table; nothing is asserted, for times belong to a machine and not to a test.
"""

import os
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "website")]

from browser import launched  # noqa: E402

from dplib.explore import Check, Plot, bound, explore, measured  # noqa: E402
from dplib.explore_live import Picture, widget  # noqa: E402
from dplib.explore_page import html  # noqa: E402

QUERIES = np.unique(np.round(np.logspace(0, 4, 33)).astype(int))
GRIDS = {"epsilon": [0.25, 0.5, 1, 2, 4], "beta": [0.01, 0.02, 0.05, 0.1, 0.2], "scale": [1, 2, 3, 4, 5, 6, 8]}
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
NOISE = np.random.default_rng(6)
THRESHOLD = NOISE.exponential(size=(2000, 1))
ANSWERS = np.maximum.accumulate(NOISE.exponential(size=(2000, 10_000)), axis=1)[:, QUERIES - 1]


def accuracy(epsilon, beta, scale):
    """AboveThreshold's error on k queries: |Lap(2/ε)| + max |Lap(scale/ε)|, its 1 - β quantile against 6 ln((k+1)/β)/ε."""
    error = (2 * THRESHOLD + scale * ANSWERS) / epsilon
    low, high, quantile = np.quantile(error, [0.1, 0.9, 1 - beta], axis=0)
    right = 6 * np.log((QUERIES + 1) / beta) / epsilon
    return Plot(QUERIES, [measured("1 − β quantile", quantile, low, high, draws=error[:6]), bound("6 ln((k+1)/β)/ε", right), bound("8 ln((k+1)/β)/ε", 8 / 6 * right)],
                "queries k", "error α", xscale="log", yscale="log", check=Check(quantile[-1], right[-1], "at k = 10000"))


def figure(mode):
    os.environ["DPLIB_EXPLORE"] = mode
    return explore(accuracy, **GRIDS, start={"epsilon": 1, "beta": 0.05, "scale": 4}, caption="AboveThreshold.", alt="A curve under two bounds.")


def timed(function, arguments):
    """Milliseconds of each call, after one call that is not counted."""
    function(arguments[0])
    times = []
    for argument in arguments:
        start = time.perf_counter()
        function(argument)
        times.append(1000 * (time.perf_counter() - start))
    return times


def live():
    explored = figure("live")
    picture, box = Picture(explored.start_plot, explored.domain), widget(explored)
    slider = box.children[0]
    values = [value for _, value in slider.options] * 2
    plots = [accuracy(value, 0.05, 4) for value in values]
    yield "live: the figure function", timed(lambda value: accuracy(value, 0.05, 4), values)
    yield "live: picture from a plot (set data, paint, PNG)", timed(picture.frame, plots)
    yield "live: whole move (function, picture, sentence)", timed(lambda value: setattr(slider, "value", value), values)


def static():
    start = time.perf_counter()
    explored = figure("static")
    yield f"static: grid of {len(explored.plots)} points", [1000 * (time.perf_counter() - start)]
    start = time.perf_counter()
    page = html(explored)
    yield f"static: HTML of {len(page.encode()) / 1000:.0f} kB", [1000 * (time.perf_counter() - start)]
    with launched() as browser, TemporaryDirectory() as folder:
        path = Path(folder) / "figure.html"
        path.write_text(f'<!doctype html><html lang="en"><meta charset="utf-8"><title>bench</title>{page}', "utf-8")
        tab = browser.new_page(viewport={"width": 1000, "height": 900})
        tab.goto(path.as_uri())
        script, paint = tab.evaluate(MOVES)
    yield "static: script of a move", script
    yield "static: move to the end of its frame", paint


def main():
    print(f"{'':52}{'median':>10}{'95 %':>10}{'largest':>10}   ms")
    for measure in (live, static):
        for name, times in measure():
            print(f"{name:52}{np.median(times):10.2f}{np.quantile(times, 0.95):10.2f}{max(times):10.2f}", flush=True)


if __name__ == "__main__":
    main()
