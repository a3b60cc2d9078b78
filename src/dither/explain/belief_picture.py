"""The picture of an ε: beliefs before and after, and the best test anybody can make."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dither.explain import laws, words
from dither.explain.picture import Panel, document, percents
from dither.privacy import Relation

if TYPE_CHECKING:
    from dither.explain.belief import Meaning

__all__ = ["draw"]

SIZE = (640, 390)
SIDE = 230
DIAGONAL = ((0.0, 0.0), (1.0, 1.0))
PLACES = (0.0, 1e-6, *(i / 100 for i in range(1, 100)), 1.0 - 1e-6, 1.0)


def draw(meaning: Meaning, alarms: float) -> str:
    description = " ".join(meaning.sentences)
    return document(
        meaning.title, description, SIZE, [beliefs(meaning), tests(meaning, alarms)]
    )


def beliefs(meaning: Meaning) -> Panel:
    """Every belief on the left has its band of beliefs afterwards; without the record
    it stays on the diagonal.
    """
    low, high = meaning.posterior
    lower, upper = (
        [(prior, meaning.belief(prior)[end]) for prior in PLACES] for end in (0, 1)
    )
    without, beside = _worlds(meaning)
    panel = Panel(
        52, 34, SIDE, SIDE, percents(f"belief {without}"), percents(f"belief {beside}")
    )
    panel = panel.area(upper, lower).line(upper, accent=True).line(lower, accent=True)
    panel = panel.line(DIAGONAL).line(
        [(meaning.prior, low), (meaning.prior, high)], dashed=True
    )
    panel = (
        panel.dot((meaning.prior, high))
        .dot((meaning.prior, low))
        .dot((meaning.prior, meaning.prior), accent=False)
    )
    before, after = (
        words.share(meaning.prior),
        f"{words.at_least(low)} to {words.at_most(high)}",
    )
    panel = panel.legend(f"{before} becomes {after}", accent=True, area=True)
    if meaning.promise[1]:
        panel = panel.remark(f"or leaves that: at most {words.one_in(meaning.outside)}")
    return panel.legend(f"{without}: it stays")


def _worlds(meaning: Meaning) -> tuple[str, str]:
    if meaning.relation is Relation.REPLACE:
        return "with made-up data", "with the true data"
    return (
        ("without you", "with you")
        if meaning.group == 1
        else ("without them", "with them")
    )


def tests(meaning: Meaning, alarms: float) -> Panel:
    """The ROC curve: what share of true positives is possible for each share of false
    ones.
    """
    total, missed = meaning.promise
    corner = (1.0 - missed) / (1.0 + laws.exp(total))
    curve = [(0.0, missed), (corner, 1.0 - corner), (1.0 - missed, 1.0), (1.0, 1.0)]
    panel = Panel(
        382, 34, SIDE, SIDE, percents("false positives"), percents("true positives")
    )
    panel = panel.area(curve, DIAGONAL).line(curve, accent=True)
    panel = panel.line(DIAGONAL)
    found = meaning.power(alarms)
    panel = panel.dot((alarms, found))
    panel = panel.legend(
        f"best test: {words.at_most(found)} at {words.share(alarms)} false",
        accent=True,
        area=True,
    )
    panel = panel.legend("blind guess")
    gaussian = meaning.gaussian
    if gaussian is None:
        return panel
    points = [(share, gaussian.power(share)) for share in PLACES]
    panel = panel.line(points, dashed=True)
    return panel.legend(
        f"Gaussian noise: {words.at_most(gaussian.power(alarms))} at "
        f"{words.share(alarms)}",
        dashed=True,
    )
