"""The words of an ε say what its numbers say."""

from __future__ import annotations

import re

import pytest

from dither import explain


def percents(text: str, phrase: str) -> float:
    match = re.search(rf"{phrase} ([\d.e+-]+) %", text)
    assert match is not None
    return float(match[1]) / 100


@pytest.mark.parametrize("epsilon", [1e-3, 0.01, 0.1, 0.5, 1, 2, 5, 12])
@pytest.mark.parametrize("delta", [0, 1e-6])
@pytest.mark.parametrize("prior", [0.001, 0.5, 0.97])
def test_the_sentences_are_true(epsilon: float, delta: float, prior: float) -> None:
    """What is called a most is not below the bound, what is called a least not above
    it, and both are close.
    """
    found = explain.epsilon(epsilon, delta=delta, prior=prior)
    first, second = found.sentences
    low, high = found.posterior
    assert low * 0.998 <= percents(first, "at least") <= low * (1 + 1e-9)
    assert high * (1 - 1e-9) <= percents(first, "becomes at most") <= high * 1.002
    assert (
        found.power() * (1 - 1e-9)
        <= percents(second, "you at most")
        <= found.power() * 1.002
    )
    guess = (1 + found.advantage) / 2
    assert guess * (1 - 1e-9) <= percents(second, "right at most") <= guess * 1.002
    if delta:
        chance = re.search(r"chance of at most 1 in ([\d,]+)\.", first)
        assert chance is not None
        assert (
            found.outside <= 1 / int(chance[1].replace(",", "")) <= found.outside * 1.1
        )
    else:
        assert "except" not in first
    assert all(len(sentence) < 260 for sentence in found.sentences)
