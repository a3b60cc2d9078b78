"""Numbers are passed by name, and a wrong call is told so without its values."""

from __future__ import annotations

import inspect

import pytest

import dither
from dither.by_name import by_name, constructed
from dither.errors import ArgumentError


def test_help_shows_every_keyword() -> None:
    for function in (dither.Dataset.sql, dither.Dataset.preview, dither.mean):
        assert "epsilon" in inspect.signature(function).parameters
        assert "cost" not in inspect.signature(function).parameters


@by_name("area(3, width=2)")
def area(height: int, *, width: int) -> int:
    return height * width


def test_a_right_call_goes_through() -> None:
    assert area(3, width=2) == 6


@pytest.mark.parametrize(
    ("places", "names", "words"),
    [
        ((3, 47110815), {}, "takes one argument by position"),
        (
            (3,),
            {"wdth": 47110815},
            "has no argument 'wdth' \\(did you mean 'width'\\?\\); write area",
        ),
        (
            (3,),
            {"zz": 47110815},
            "has no argument 'zz' \\(it takes width\\); write area",
        ),
    ],
)
def test_a_wrong_call_shows_an_example_and_no_value(
    places: tuple[int, ...], names: dict[str, int], words: str
) -> None:
    with pytest.raises(ArgumentError, match=words) as refused:
        area(*places, **names)
    assert "write area(3, width=2)" in str(refused.value)
    assert "47110815" not in str(refused.value)


def test_an_error_inside_stays_what_it_is() -> None:
    @by_name("broken(1)")
    def broken(number: int) -> int:
        raise TypeError(f"of its own, about {number}")

    with pytest.raises(TypeError, match="of its own"):
        broken(1)


def test_what_is_missing_is_named() -> None:
    @by_name("f(x, epsilon=1, n=2)")
    def f(x: int, *, epsilon: float, n: int, more: int = 0) -> float:
        return x + epsilon + n + more

    with pytest.raises(
        ArgumentError, match="was called without epsilon and n; write f"
    ):
        f(1)  # type: ignore[call-arg]
    with pytest.raises(ArgumentError, match="was called without n; write f"):
        f(1, epsilon=2)  # type: ignore[call-arg]
    with pytest.raises(ArgumentError, match="one argument by position"):
        f(1, 2, 3)  # type: ignore[call-arg, misc]
    assert f(1, epsilon=2, n=3) == 6


@constructed("Area(3, width=2)")
class Area:
    def __init__(self, height: int, *, width: int) -> None:
        if height < 0:
            raise TypeError("of its own")
        self.size = height * width


def test_a_constructor_is_named_as_its_class() -> None:
    assert Area(3, width=2).size == 6
    assert list(inspect.signature(Area).parameters) == ["height", "width"]
    with pytest.raises(ArgumentError, match=r"^Area was called without width; write A"):
        Area(3)  # type: ignore[call-arg]
    with pytest.raises(ArgumentError, match=r"did you mean 'width'\?"):
        Area(3, wdth=2)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="of its own"):
        Area(-1, width=2)


@pytest.mark.parametrize(
    "made",
    [dither.Budget, dither.PureDP, dither.ApproxDP, dither.ZeroConcentratedDP],
)
def test_budgets_and_guarantees_say_what_they_need(made: type) -> None:
    with pytest.raises(ArgumentError, match=f"^{made.__name__} was called without "):
        made()
