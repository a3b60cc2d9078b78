import numpy as np
import pytest

import dither


def test_one_line_each():
    assert isinstance(dither.laplace(500, sensitivity=1, epsilon=0.5), int)
    assert isinstance(dither.geometric(500, epsilon=0.5), int)
    assert isinstance(dither.gaussian(500.0, sensitivity=1, epsilon=0.5, delta=1e-6), float)
    assert dither.gaussian(np.zeros(4), sensitivity=1, rho=0.5).shape == (4,)
    assert dither.exponential(["a", "b"], [0, 1000], sensitivity=1, epsilon=1) == "b"
    assert dither.exponential(["a", "bbb"], len, sensitivity=0.001, epsilon=1) == "bbb"
    assert dither.randomized_response("yes", epsilon=30, categories=["yes", "no"]) == "yes"


def test_bad_questions():
    with pytest.raises(dither.ArgumentError, match="sensitivity"):
        dither.laplace(1, sensitivity=[1], epsilon=1)
    with pytest.raises(dither.ArgumentError, match="candidates"):
        dither.exponential([], [], sensitivity=1, epsilon=1)
    with pytest.raises(dither.ArgumentError, match="scores"):
        dither.exponential(["a"], [1, 2], sensitivity=1, epsilon=1)
