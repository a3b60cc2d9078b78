"""Published ε values of others, so that a reader can place theirs. A list of what was
published, not of what is right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dither.explain import check, words
from dither.explain.explanation import Explanation, Rows
from dither.explain.picture import Axis, Panel, document, logarithmic

__all__ = ["PUBLISHED", "Deployment", "Deployments", "deployments"]

UNCHECKED = "no figure that could be checked"
TALL = 24
_REGISTRY = "Differential Privacy Deployments Registry (registry.opendp.org)"


@dataclass(frozen=True)
class Deployment:
    """One published use. `epsilon` is for the unit and the time that are named, and so
    not comparable with one for another unit; None where only ρ was published, or nothing
    that could be checked. `delta` is 0 for a pure ε.
    """

    who: str
    what: str
    year: int
    model: str
    unit: str
    period: str
    epsilon: float | None
    delta: float | None
    source: str
    note: str = ""

    @property
    def numbers(self) -> str:
        """ε and δ as the source states them."""
        if self.epsilon is None:
            return self.note
        missed = "" if not self.delta else f", δ = {words.tiny(self.delta)}"
        return f"ε = {words.tiny(self.epsilon)}{missed}"

    def to_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


PUBLISHED: tuple[Deployment, ...] = (
    Deployment(
        "US Census Bureau",
        "2020 redistricting data, tables of persons",
        2021,
        "central",
        "person (replace, given exact state totals)",
        "one release",
        17.14,
        1e-10,
        "Abowd et al. 2022, arXiv:2204.08986",
        "ρ = 2.56",
    ),
    Deployment(
        "US Census Bureau",
        "2020 redistricting data, tables of housing units",
        2021,
        "central",
        "housing unit (replace)",
        "one release",
        2.47,
        1e-10,
        "Abowd et al. 2022, arXiv:2204.08986",
        "ρ = 0.07",
    ),
    Deployment(
        "Apple",
        "new words (QuickType)",
        2017,
        "local",
        "user",
        "a day",
        16.0,
        0.0,
        "Apple, Differential Privacy Overview; Desfontaines, list of real-world uses",
    ),
    Deployment(
        "Apple",
        "lookup hints",
        2017,
        "local",
        "user",
        "a day",
        8.0,
        0.0,
        "Apple, Differential Privacy Overview; Desfontaines, list of real-world uses",
    ),
    Deployment(
        "Apple",
        "popular emojis",
        2017,
        "local",
        "event: one typed emoji",
        "each event; events of a day are limited",
        4.0,
        0.0,
        "Apple, Learning with Privacy at Scale, 2017",
    ),
    Deployment(
        "Apple",
        "health types in use (HealthKit)",
        2017,
        "local",
        "user",
        "a day",
        2.0,
        0.0,
        "Apple, Differential Privacy Overview; Desfontaines, list of real-world uses",
    ),
    Deployment(
        "Microsoft",
        "time in apps, Windows telemetry",
        2017,
        "local",
        "user",
        "six hours",
        1.672,
        0.0,
        "Ding, Kulkarni & Yekhanin 2017",
    ),
    Deployment(
        "Google",
        "Community Mobility Reports",
        2020,
        "central",
        "user",
        "a day",
        2.64,
        0.0,
        "Aktay et al. 2020, arXiv:2004.04145",
    ),
    Deployment(
        "LinkedIn",
        "Audience Engagements API",
        2020,
        "central",
        "user",
        "a month",
        34.9,
        7e-9,
        "Rogers et al. 2020, arXiv:2002.05839",
    ),
    Deployment(
        "LinkedIn",
        "hiring reports, top employers",
        2020,
        "central",
        "event: one hire",
        "each report date",
        4.8,
        4e-10,
        "Rogers et al. 2020, arXiv:2010.13981",
    ),
    Deployment(
        "Facebook",
        "URLs shared, full data set",
        2020,
        "central",
        "all actions of a user (for 96.6 % of users)",
        "one release",
        1.453,
        1e-5,
        "Messing et al. 2020, doi:10.7910/DVN/TDOAPG",
        "ρ = 0.0728",
    ),
    Deployment(
        "Israel, Ministry of Health",
        "registry of live births of 2014, synthetic",
        2024,
        "central",
        "one birth",
        "one release",
        9.98,
        0.0,
        f"birth.dataset.pub; {_REGISTRY}",
    ),
    Deployment(
        "Wikimedia Foundation",
        "page views by country",
        2023,
        "central",
        "device, ten pages",
        "a day",
        None,
        None,
        "Adeleye et al. 2023, arXiv:2308.16298",
        "ρ = 0.015",
    ),
    Deployment(
        "Google",
        "RAPPOR in Chrome",
        2014,
        "local",
        "client and value",
        "as long as a value is kept",
        None,
        None,
        "Erlingsson, Pihur & Korolova 2014, arXiv:1407.6981",
        UNCHECKED,
    ),
)


@dataclass(frozen=True)
class Deployments(Explanation):
    """Published uses of differential privacy; `beside` is an ε of one's own to place
    among them.
    """

    beside: float | None = None
    published: tuple[Deployment, ...] = PUBLISHED

    @property
    def _ranked(self) -> list[Deployment]:
        """Uses with an ε, the smallest first; then the others."""
        return sorted(
            self.published, key=lambda one: (one.epsilon is None, one.epsilon or 0.0)
        )

    @property
    def title(self) -> str:
        return "ε values that others have published"

    @property
    def sentences(self) -> tuple[str, str]:
        known = [one.epsilon for one in self.published if one.epsilon is not None]
        low, high = words.tiny(min(known)), words.tiny(max(known))
        where = ""
        if self.beside is not None:
            where = f" {_place(self.beside, known)}"
        return (
            f"{len(known)} of these {len(self.published)} uses state an ε, from {low} "
            f"to {high}, each for its own unit and its own time.{where}",
            "Two of them compare only where unit, time and model are the same: an ε "
            "for a day is spent again every day, and one for an event again with "
            "every event.",
        )

    @property
    def heading(self) -> tuple[str, ...]:
        return "who and what", "model", "one unit", "for", "ε and δ", "source"

    @property
    def rows(self) -> Rows:
        return tuple(
            (
                f"{one.who}: {one.what} ({one.year})",
                one.model,
                one.unit,
                one.period,
                one.numbers,
                one.source,
            )
            for one in self._ranked
        )

    @property
    def notes(self) -> tuple[str, ...]:
        return (
            "This list is not an endorsement: a published ε is not automatically right "
            "for other people.",
            "Local: the device adds the noise. Central: a trusted curator does. A "
            "figure that could not be checked is left out, never guessed.",
        )

    def to_dict(self) -> dict[str, Any]:
        return {
            "beside": self.beside,
            "deployments": [one.to_dict() for one in self._ranked],
            "sentences": self.sentences,
            "notes": self.notes,
        }

    def svg(self) -> str:
        shown = [one for one in self._ranked if one.epsilon is not None]
        height = TALL * len(shown)
        places = [one.epsilon or 0.0 for one in shown]
        axis = logarithmic("ε", [*places, *([self.beside] if self.beside else [])])
        panel = Panel(20, 34, 620, height, axis, _lines(len(shown)))
        for place, one in enumerate(reversed(shown)):
            panel = _drawn(panel, place + 0.5, one)
        panel = panel.remark("central: a full dot; local: a ring")
        if self.beside is not None:
            ends = [(self.beside, 0.0), (self.beside, float(len(shown)))]
            own = f"yours: ε = {words.tiny(self.beside)}"
            panel = panel.line(ends, dashed=True).legend(own, dashed=True)
        size = (680, 34 + height + 58 + 18 * panel.named)
        return document(self.title, " ".join(self.sentences), size, [panel])


def _place(own: float, known: Sequence[float]) -> str:
    """The rank of an ε among those that are known."""
    less = sum(one < own for one in known)
    mine = f"An ε of {words.tiny(own)} is"
    if less == 0:
        return f"{mine} no larger than any of them."
    if less == len(known):
        return f"{mine} larger than all of them."
    return f"{mine} larger than {less} of them, and no larger than {len(known) - less}."


def _lines(count: int) -> Axis:
    return Axis("each for its own unit and time", 0.0, float(count), ())


def _drawn(panel: Panel, place: float, one: Deployment) -> Panel:
    """A mark and its words, on the side where there is room."""
    point = (one.epsilon or 0.0, place)
    panel = panel.dot(point) if one.model == "central" else panel.ring(point)
    right = panel.across.place(point[0]) < 0.5
    unit = one.unit.partition(" (")[0].partition(":")[0]
    text = f"{one.who} {one.year}: {unit}, {one.period.partition(';')[0]}"
    shift = (9.0, 4.0) if right else (-9.0, 4.0)
    return panel.words(point, text, anchor="start" if right else "end", shift=shift)


def deployments(beside: float | None = None) -> Deployments:
    """ε values that others have published, with unit, time, model and source, so that a
    reader can place theirs (`beside`). No endorsement.
    """
    return Deployments(None if beside is None else check.loss(beside))
