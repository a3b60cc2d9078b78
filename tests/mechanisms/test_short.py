import numpy as np
import pytest

import dither
from tests.chance import chance


@chance(1e-12)
def test_one_line_each():
    assert isinstance(dither.laplace(500, sensitivity=1, epsilon=0.5), int)
    assert isinstance(dither.geometric(500, epsilon=0.5), int)
    assert isinstance(
        dither.gaussian(500.0, sensitivity=1, epsilon=0.5, delta=1e-6), float
    )
    assert dither.gaussian(np.zeros(4), sensitivity=1, rho=0.5).shape == (4,)
    assert dither.exponential(["a", "b"], [0, 1000], sensitivity=1, epsilon=1) == "b"
    assert dither.exponential(["a", "bbb"], len, sensitivity=0.001, epsilon=1) == "bbb"
    assert (
        dither.randomized_response("yes", epsilon=30, categories=["yes", "no"]) == "yes"
    )


def test_bad_questions():
    with pytest.raises(dither.ArgumentError, match="sensitivity"):
        dither.laplace(1, sensitivity=[1], epsilon=1)
    with pytest.raises(dither.ArgumentError, match="candidates"):
        dither.exponential([], [], sensitivity=1, epsilon=1)
    with pytest.raises(dither.ArgumentError, match="scores"):
        dither.exponential(["a"], [1, 2], sensitivity=1, epsilon=1)


@pytest.mark.parametrize(
    "call",
    [
        lambda: dither.laplace(7777, 1, 0.5),  # type: ignore[misc]
        lambda: dither.laplace(5),  # type: ignore[call-arg]
        lambda: dither.gaussian(7777, 1, 0.5, 1e-6),  # type: ignore[misc]
        lambda: dither.geometric(5, 0.5),  # type: ignore[misc]
        lambda: dither.randomized_response([True], 0.5),  # type: ignore[misc]
    ],
)
def test_numbers_are_passed_by_name_and_the_value_is_never_shown(call) -> None:
    with pytest.raises(
        dither.ArgumentError,
        match=r"(others by name|was called without .*); write \w+\(\w+, ",
    ) as problem:
        call()
    assert "7777" not in str(problem.value)


def test_a_name_that_is_unknown() -> None:
    with pytest.raises(
        dither.ArgumentError,
        match=r"has no argument 'sens' \(it takes sensitivity, epsilon",
    ):
        dither.laplace(5, sens=1, epsilon=0.5)  # type: ignore[call-arg]
