"""What the tests of all figure modules ask."""

import numpy as np


def drawn_twice(callback, arguments):
    """The picture, after making sure that it depends on its parameters alone: the same curves and numbers the second time."""
    first, second = (callback(**arguments) for _ in range(2))
    for one, other in zip(first.curves, second.curves, strict=True):
        assert (np.array(one.rows()) == np.array(other.rows())).all()
    assert first.check == second.check
    return first


def curves(plot):
    return {curve.name: curve.y for curve in plot.curves}
