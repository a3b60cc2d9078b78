"""The picture of an ε."""

from __future__ import annotations

from dither import explain

from . import pictures


def test_the_picture_tells_the_numbers() -> None:
    texts = pictures.words(pictures.check(explain.epsilon(0.5)))
    assert "50 % becomes 37.75 % to 62.25 %" in texts
    assert "best test: 8.244 % at 5 % false" in texts
    texts = pictures.words(pictures.check(explain.epsilon(0.5, delta=1e-6)))
    assert any(text.startswith("Gaussian noise: 6.4") for text in texts)
    assert any("1 in 58,000" in text for text in texts)
    assert "belief without them" in pictures.words(
        pictures.check(explain.epsilon(0.5, group=3))
    )
