"""`Dataset.trial`: columns of a table in the places of a test's arrays."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from typing import Any

from dither.dataset import ColumnFacts, Dataset, Kind
from dither.errors import ArgumentError
from dither.science.trials.checks import chosen
from dither.science.trials.columns import label, names
from dither.science.trials.hints import unavailable
from dither.science.trials.result import RECORD
from dither.science.trials.stored import KEEP, People, Stored
from dither.text import clean

__all__ = ["TESTS", "ask"]

Call = tuple[tuple[Any, ...], dict[str, Any]]

COLUMNS = ("outcome", "arm", "event", "baseline", "entry")
"""The keywords that name columns."""
STUDY = ("arms", "keep", "table", "where", "of")
WORDS = {
    "one": "a random one counts",
    "mean": "their mean counts",
    "min": "the smallest counts",
    "max": "the largest counts",
}
PREDICTORS = "predictors"


@dataclass(frozen=True)
class Study:
    """What a caller said about the columns of a trial."""

    dataset: Dataset
    named: Mapping[str, str]
    arms: Any = None
    keep: str = KEEP[0]
    table: str | None = None
    where: Mapping[str, Any] | None = None
    of: Any = None
    used: set[str] = field(default_factory=set)

    def facts(self, role: str) -> ColumnFacts:
        """What is public about the column in a role."""
        name = self.named.get(role)
        if name is None:
            words = f'is missing; name the column, such as {role}="{EXAMPLES[role]}"'
            raise ArgumentError(role, words)
        return self._found(name)

    def _found(self, name: str) -> ColumnFacts:
        if self.table is not None and name not in self.dataset.facts:
            name = f"{self.table}.{name}"
        return self.dataset[name].facts

    @cached_property
    def people(self) -> People:
        where = self._where()
        self._check_keep()
        tables = {self.facts(role).table for role in self.named}
        tables |= {one.table for one in where}
        if len(tables) > 1:
            raise ArgumentError(
                "table",
                "all columns must come from one table; name columns of one table",
            )
        return People(
            self.dataset,
            tuple(dict.fromkeys(self.facts(role).column for role in self.named)),
            self.facts("arm").column if "arm" in self.named else None,
            self.keep,
            next(iter(tables)),
            {one.column: wanted for one, wanted in where.items()},
        )

    def _check_keep(self) -> None:
        """A text has no mean."""
        kinds = {self.facts(role).kind for role in self.named if role != "arm"}
        if self.keep != KEEP[0] and kinds & {Kind.OTHER, Kind.ANYTHING}:
            raise ArgumentError(
                "keep",
                f'must be "{KEEP[0]}" if a column does not hold numbers; pass '
                f'keep="{KEEP[0]}"',
            )

    def _where(self) -> dict[ColumnFacts, Any]:
        """The labels of a subgroup, by column."""
        if self.where is None:
            return {}
        if not isinstance(self.where, Mapping) or not self.where:
            raise ArgumentError(
                "where", 'must map columns to labels; pass one such as {"sex": "f"}'
            )
        found = {self._found(name): one for name, one in self.where.items()}
        for facts, one in found.items():
            names("where", (one,))
            _check_declared("where", (one,), facts)
        return found

    def column(self, role: str, arm: Any = None) -> Stored:
        """The column in a role, of all people or of one arm."""
        self.used.add(role)
        return self.people.column(self.facts(role).column, arm)

    def labels(self, role: str) -> tuple[Any, ...]:
        """The public labels of a column: those stated, else those declared for it."""
        stated = self.arms if role == "arm" else None
        found = stated if stated is not None else self.facts(role).keys
        if found is None:
            raise ArgumentError(
                "arms" if role == "arm" else "levels",
                f"the labels of {clean(self.facts(role).column)!r} are not declared; pass "
                'arms=("treatment", "control"), or declare the keys of the column',
            )
        names("arms", found)
        _check_declared("arms", found, self.facts(role))
        return tuple(found)

    def split(self, count: int | None = None) -> tuple[Stored, ...]:
        """The outcome of each arm, in the order of the labels."""
        self.facts("outcome")
        arms = self.labels("arm")
        self.used.add("arm")
        if count is not None and len(arms) != count:
            words = f'must be {count} labels; pass arms=("treatment", "control")'
            raise ArgumentError("arms", words)
        return tuple(self.column("outcome", arm) for arm in arms)

    def told(self) -> Iterator[str]:
        """What a reader must know about how rows became records."""
        if "arm" in self.named:
            arms = ", ".join(clean(str(one)) for one in self.labels("arm"))
            yield f"arms in this order: {arms}"
        rows = self.dataset.caps.get(self.people.table or "")
        several = not self.dataset.single and rows != 1
        rule = f": of several rows {WORDS[self.keep]}" if several else ""
        yield f"{RECORD} {self.dataset.unit.name}{rule}"

    def bounds(self) -> dict[str, Any]:
        """The declared bounds of the outcome, if there are any."""
        found = self.facts("outcome").bounds
        return {} if found is None else {"bounds": found}


EXAMPLES = {
    "outcome": "pain",
    "arm": "arm",
    "event": "died",
    "baseline": "pain_before",
    "entry": "entry",
}


def _two(study: Study) -> Call:
    return study.split(2), {}


def _two_bounded(study: Study) -> Call:
    return study.split(2), study.bounds()


def _many(study: Study) -> Call:
    return study.split(), {}


def _before_and_after(study: Study) -> Call:
    roles = [role for role in ("outcome", "baseline") if role in study.named]
    return tuple(study.column(role) for role in roles), {}


def _one(study: Study) -> Call:
    return (study.column("outcome"),), {}


def _one_bounded(study: Study) -> Call:
    return (study.column("outcome"),), study.bounds()


def _survival(study: Study) -> Call:
    more: dict[str, Any] = {}
    if "arm" in study.named:
        more = {"groups": study.column("arm"), "arms": study.labels("arm")}
    if "entry" in study.named:
        more["entry"] = study.column("entry")
    return (study.column("outcome"), study.column("event")), more


def _labelled(study: Study) -> Call:
    columns = study.column("outcome"), study.column("arm")
    return columns, {"arms": study.labels("arm")}


def _contingency(study: Study) -> Call:
    columns = study.column("arm"), study.column("outcome")
    levels = study.arms or study.facts("arm").keys, study.facts("outcome").keys
    return columns, {} if None in levels else {"levels": levels}


def _blocks(study: Study) -> Call:
    if study.of is None:
        raise ArgumentError("of", 'is missing; name a test, such as of="ttest_ind"')
    columns = study.of, *_before_and_after(study)[0]
    if "arm" not in study.named:
        return columns, {}
    return columns, {"arm": study.column("arm"), "arms": study.labels("arm")}


def _regressed(study: Study) -> Call:
    roles = [role for role in study.named if role.startswith(PREDICTORS)]
    if not roles:
        words = 'are missing; name the columns, such as predictors=["age", "dose"]'
        raise ArgumentError(PREDICTORS, words)
    columns = {study.named[role]: study.column(role) for role in roles}
    bounds = {study.named[role]: study.facts(role).bounds for role in roles}
    own = study.facts("outcome").bounds
    more: dict[str, Any] = {} if None in bounds.values() else {"x_bounds": bounds}
    more |= {} if own is None else {"y_bounds": own}
    return (columns, study.column("outcome")), more


ROOM = "dither.science.trials"
TESTS: dict[str, Callable[[Study], Call]] = {
    "binomtest": _one,
    "chi2_contingency": _contingency,
    "chisquare": _one,
    "kaplan_meier": _survival,
    "kruskal": _many,
    "linregress": _regressed,
    "location_shift": _two,
    "mannwhitneyu": _two,
    "mean": _one_bounded,
    "mean_difference": _two_bounded,
    "median": _one_bounded,
    "median_difference": _two_bounded,
    "odds_ratio": _labelled,
    "risk_difference": _labelled,
    "test_of_tests": _blocks,
    "wilcoxon": _before_and_after,
}


def _check_used(test: str, study: Study) -> None:
    """A column that a test does not look at was meant for something."""
    for role in study.named:
        if role not in study.used:
            word = role.partition(" ")[0]
            raise ArgumentError(word, f"is not used by {test}; leave it out")


def _check_declared(argument: str, labels: Sequence[Any], facts: ColumnFacts) -> None:
    """A label that is not among the declared ones is mistyped: nobody would have it."""
    if facts.keys is None:
        return
    declared = {label(one) for one in facts.keys}
    wrong = [one for one in labels if label(one) not in declared]
    if wrong:
        listed = ", ".join(clean(str(one)) for one in facts.keys[:8])
        raise ArgumentError(
            argument,
            f"{clean(str(wrong[0]))!r} is not a declared key of {facts.column!r}; use one "
            f"of {listed}",
        )


def ask(dataset: Dataset, test: str, study: Mapping[str, Any]) -> Any:
    """Run a test on columns of a dataset, which its account pays for."""
    if unavailable(test):
        raise ArgumentError("test", unavailable(test))
    shape = TESTS[chosen("test", test, tuple(TESTS))]
    words = dict(study)
    roles = {role: words.pop(role, None) for role in COLUMNS}
    named = {role: name for role, name in roles.items() if name is not None}
    named |= _predictors(words.pop(PREDICTORS, None))
    how = {name: words.pop(name) for name in STUDY if name in words}
    asked = Study(dataset, named, **how)
    columns, more = shape(asked)
    _check_used(test, asked)
    function = getattr(import_module(ROOM), test)
    known = inspect.signature(function).parameters
    if "success" in known:
        success = words.get("success", known["success"].default)
        _check_declared("success", (success,), asked.facts("outcome"))
    more = {name: value for name, value in more.items() if name in known}
    found = function(*columns, **(more | words))
    others = (note for note in found.notes if RECORD not in note)
    return replace(found, notes=(*others, *asked.told()))


def _predictors(found: Any) -> dict[str, str]:
    """Roles of the columns that an outcome may follow."""
    listed = [found] if isinstance(found, str) else list(found or ())
    return {f"{PREDICTORS} {place}": name for place, name in enumerate(listed)}
