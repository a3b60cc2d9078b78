"""The result of every attack: what was done, how often it was right, what it shows, and
what differential privacy does not stop.
"""

from __future__ import annotations

from abc import abstractmethod
from pathlib import Path
from typing import Any, ClassVar

from dither.audit.attacks.drawn import bars
from dither.audit.attacks.rates import Rate
from dither.audit.attacks.rebuilt import percent
from dither.explain.explanation import Explanation
from dither.picture import Picture

__all__ = ["Attack"]

Row = tuple[str, ...]


class Attack(Explanation):
    """An attack that was run: `print` shows it in words, `plot()` draws it, `rates`
    holds the numbers. It is about real people if the data is: not for publishing.
    """

    _name: ClassVar[str]
    _not_stopped: ClassVar[str]

    @property
    def name(self) -> str:
        """What `dither attack` calls it."""
        return self._name

    @property
    def not_stopped(self) -> str:
        """What differential privacy does not stop about it."""
        return self._not_stopped

    @property
    @abstractmethod
    def rates(self) -> tuple[Rate, ...]:
        """How often the attack was right about each release."""

    @property
    def heading(self) -> tuple[str, ...]:
        return ("attack on", "right", "± at 95 %", "guessing", "allowed")

    @property
    def rows(self) -> tuple[Row, ...]:
        return tuple(map(_row, self.rates))

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes next to the numbers; the last one is what differential privacy does not
        stop.
        """
        stops = f"Not stopped by differential privacy: {self.not_stopped}"
        return (*map(_above, filter(_beyond, self.rates)), stops)

    @property
    def kept(self) -> bool:
        """Whether each release with a guarantee kept to it, within three standard
        errors.
        """
        return all(one.kept is not False for one in self.rates)

    def plot(self) -> Picture:
        """How often the attack is right about each release, beside guessing and what
        is allowed.
        """
        return bars(self.title, self.rates)

    def svg(self) -> str:
        return self.plot().svg()

    def save(self, path: str | Path) -> None:
        """Write the picture to a file that ends in .svg or .png."""
        self.plot().save(path)

    def to_dict(self) -> dict[str, Any]:
        return {
            "attack": self.name,
            "title": self.title,
            "sentences": list(self.sentences),
            "rates": [one.to_dict() for one in self.rates],
            "kept": self.kept,
            "notes": list(self.notes),
        } | self._more()

    def _more(self) -> dict[str, Any]:
        """Numbers of this attack alone."""
        return {}


def _beyond(one: Rate) -> bool:
    return one.above is not None and one.above >= 0.05


def _above(one: Rate) -> str:
    """A rate above its bound, and whether chance explains it."""
    why = (
        "chance explains up to three"
        if one.kept
        else "chance hardly explains more than three, so the guarantee looks broken"
    )
    far = f"{one.above:.1f} standard errors above what the guarantee allows"
    return f"{one.release}: {far}, in {one.tries:,} tries; {why}."


def _row(one: Rate) -> Row:
    allowed = "no promise" if one.bound is None else percent(one.bound, 1)
    return (
        one.release,
        percent(one.share, 1),
        percent(one.within, 1),
        percent(one.guessing, 1),
        allowed,
    )
