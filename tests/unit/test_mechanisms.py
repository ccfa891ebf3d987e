"""The mechanisms: shapes, one generator, no noise at large ε, no overflow, bad input. Laws are in tests/claims."""

from math import inf, nan

import numpy as np
import pytest

from dplib.mechanisms import (exponential, exponential_probabilities, gaussian, gaussian_scale, laplace,
                              report_noisy_max)

rng = np.random.default_rng
ADD = {"laplace": lambda a, g, eps=1., repeats=None: laplace(a, .1, eps, g, repeats),
       "gaussian": lambda a, g, eps=1., repeats=None: gaussian(a, .1, eps, 1e-6, g, repeats=repeats)}
SELECT = {"exponential": lambda s, g, eps=1., repeats=None: exponential(s, .1, eps, g, repeats),
          "noisy max": lambda s, g, eps=1., repeats=None: report_noisy_max(s, .1, eps, g, repeats)}


@pytest.mark.parametrize("name", ADD)
def test_noise_keeps_the_shape_and_repeats_stack(name):
    for shape in [(), (3,), (2, 3)]:
        a = np.zeros(shape)
        assert np.shape(ADD[name](a, rng(0))) == shape
        assert ADD[name](a, rng(0), repeats=5).shape == (5, *shape)
    one = ADD[name](np.zeros(3), rng(0), repeats=1)[0]
    assert np.array_equal(one, ADD[name](np.zeros(3), rng(0)))  # the single run is the case R = 1 of the same code


@pytest.mark.parametrize("name", SELECT)
def test_selection_takes_the_last_axis_and_repeats_stack(name):
    for shape in [(4,), (2, 4), (3, 2, 4)]:
        s = np.zeros(shape)
        assert np.shape(SELECT[name](s, rng(0))) == shape[:-1]
        assert SELECT[name](s, rng(0), repeats=5).shape == (5, *shape[:-1])
    assert SELECT[name](np.zeros((1000, 3)), rng(0)).min() >= 0
    assert len(set(SELECT[name](np.zeros(3), rng(0), repeats=100))) == 3        # rows and runs have their own noise


@pytest.mark.parametrize("name", ADD | SELECT)
def test_a_huge_epsilon_silences_the_noise(name):
    values = np.array([.2, .9, .5])
    out = (ADD | SELECT)[name](values, rng(0), eps=1e9)
    assert out == 1 if name in SELECT else np.allclose(out, values, atol=1e-4)


class Recorder(np.random.Generator):
    """Logs which law was drawn, with scale and shape, and returns zeros."""

    def __init__(self):
        super().__init__(np.random.PCG64(0))
        self.log = []

    def _draw(self, law, scale, size):
        self.log.append((law, scale, size))
        return np.zeros(size)

    def laplace(self, loc=0., scale=1., size=None):
        return self._draw("laplace", scale, size)

    def normal(self, loc=0., scale=1., size=None):
        return self._draw("normal", scale, size)

    def gumbel(self, loc=0., scale=1., size=None):
        return self._draw("gumbel", scale, size)


def test_draws_come_from_the_generator_alone_at_the_right_scale():
    g = Recorder()
    assert laplace([1., 2.], .5, 2, g).tolist() == [1, 2]
    assert gaussian([1., 2.], .5, 1, 1e-5, g).tolist() == [1, 2]
    assert exponential([1., 2.], .5, 2, g) == 1 and report_noisy_max([1., 2.], .5, 2, g, repeats=3).tolist() == [1] * 3
    assert g.log == [("laplace", .25, (2,)), ("normal", gaussian_scale(.5, 1, 1e-5), (2,)),
                     ("gumbel", 1., (2,)), ("laplace", .5, (3, 2))]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("call", [
    lambda: exponential_probabilities([0, 1], 1e-320, 1), lambda: exponential([0, 1], 1e-320, 1, rng(0)),
    lambda: exponential([1e300, 0], 1e-10, 1, rng(0)), lambda: exponential_probabilities([-1e300, 0], 1e-10, 1),
    lambda: laplace([0.], 1e200, 1e-200, rng(0)), lambda: laplace([0.], 1e-200, 1e200, rng(0)),
    lambda: report_noisy_max([0., 1.], 1e200, 1e-200, rng(0)), lambda: gaussian([0.], 1e300, 1e-300, 1e-300, rng(0)),
])
def test_what_overflows_is_refused(call):
    with pytest.raises(ValueError, match="must be"):
        call()


@pytest.mark.filterwarnings("error")
def test_weights_never_overflow():
    law = exponential_probabilities([1e6, 0, -1e6], 1, 100)
    assert law.tolist() == [1, 0, 0]
    assert exponential([-1e300, -2e300], 1, 1, rng(0)) == 0


@pytest.mark.parametrize("epsilon", [1e-6, 1e-3, 1, 30, 1000])
@pytest.mark.parametrize("delta", [1e-300, 1e-12, .5, 1 - 1e-9])
def test_the_gaussian_scale_exists_everywhere(epsilon, delta):
    sigma = gaussian_scale(1, epsilon, delta)
    assert 0 < sigma < inf


def test_the_gaussian_scale_refuses_a_delta_without_digits():
    with pytest.raises(ValueError, match="delta must be at least 1e-300"):
        gaussian_scale(1, 1, 1e-310)
    assert 0 < gaussian_scale(1, 1e300, 1e-6) < 1e-100


BAD = [
    lambda: gaussian([nan], 1, 1, 1e-6, rng(0)), lambda: gaussian([1, inf], 1, 1, 1e-6, rng(0)), lambda: gaussian([], 1, 1, 1e-6, rng(0)),
    lambda: exponential([nan, 1], 1, 1, rng(0)), lambda: report_noisy_max([nan, 1], 1, 1, rng(0)), lambda: exponential_probabilities([nan], 1, 1),
    lambda: laplace([nan], 1, 1, rng(0)), lambda: laplace([1], 0, 1, rng(0)), lambda: laplace([1], 1, -1, rng(0)),
    lambda: laplace([1], 1, 1, 0), lambda: laplace([1], 1, 1, rng(0), repeats=0), lambda: laplace([1], 1, 1, rng(0), repeats=1.5),
    lambda: laplace([], 1, 1, rng(0)), lambda: laplace([1], inf, 1, rng(0)),
    lambda: gaussian([1], 1, 1, 0, rng(0)), lambda: gaussian([1], 1, 1, 1, rng(0)), lambda: gaussian([1], 1, nan, 1e-6, rng(0)),
    lambda: gaussian([1], 1, 2, 1e-6, rng(0), method="classical"), lambda: gaussian_scale(1, 1, 1e-6, "exact"),
    lambda: gaussian_scale(-1, 1, 1e-6),
    lambda: exponential([], 1, 1, rng(0)), lambda: exponential(1., 1, 1, rng(0)), lambda: exponential([inf], 1, 1, rng(0)),
    lambda: exponential([1], 1, 0, rng(0)), lambda: report_noisy_max([1], 0, 1, rng(0)), lambda: exponential_probabilities([], 1, 1),
]


@pytest.mark.parametrize("call", BAD)
def test_bad_input_is_refused(call):
    with pytest.raises(ValueError, match="must|proved"):
        call()


def test_nothing_is_drawn_before_the_checks():
    g = rng(0)
    before = g.bit_generator.state
    for call in (lambda: laplace([nan], 1, 1, g), lambda: exponential([1], 1, -1, g), lambda: gaussian([1], 1, 1, 2, g)):
        with pytest.raises(ValueError):
            call()
    assert g.bit_generator.state == before
