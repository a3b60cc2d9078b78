"""Random SQL from a grammar that also writes what cannot be asked: it is bound, or
refused in words; nothing else.
"""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from dither.errors import ArgumentError
from dither.query.plan.choose import plan_of
from dither.query.plan.describe import describe
from dither.query.plan.request import request_of
from dither.query.sql.bind import bind
from dither.query.sql.parse import parse
from tests.attacks.analyst import row, visits
from tests.query.sql.clinic import CLINIC, SURVEY

GRAMMAR = (Path(__file__).parents[1] / "fixtures" / "questions.grammar").read_text(
    encoding="utf-8"
)
RULES = {
    name: [choice.strip(" ") for choice in rule.split("¦")]
    for name, rule in re.findall(
        r"^(\w+): ?(.*)$", GRAMMAR.replace("\n    ¦", " ¦"), re.MULTILINE
    )
}
FIRST = 3
"""So many choices of each rule lead to an end soon."""
JUNK = ["(", ")", "'", '"', ";", "--", "/*", "\\", "$", "é", "", "\n", "[", "{", "?"]


class Writer:
    """Writes questions by chance, from a number."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)

    def expand(self, rule: str, depth: int) -> str:
        choices = RULES[rule] if depth > 0 else RULES[rule][:FIRST]
        text = re.sub(
            r"\{(\w+)\}",
            lambda part: self.expand(part[1], depth - 1),
            self.chance.choice(choices),
        )
        return (
            f" {text}" if rule in ("on", "where", "group", "after") and text else text
        )

    def question(self) -> str:
        text = self.expand("question", self.chance.randint(2, 6))
        if self.chance.random() < 0.1:
            place = self.chance.randrange(len(text))
            text = text[:place] + self.chance.choice(JUNK) + text[place + 1 :]
        return text


def terms(unit):
    with visits([row()], unit=unit, budget=(3.0, 1e-6)) as database:
        return database.account.terms


WORLDS = [(CLINIC, terms("patient_id")), (SURVEY, terms("row"))]


def asked(sql, catalogue, account):
    """Whether a question can be asked: it is then described and planned as well."""
    found = False
    try:
        question = bind(parse(sql), catalogue)
        found = bool(describe(question))
        plan_of(question, request_of({"epsilon": 0.5}), account)
    except ArgumentError as problem:
        return found, str(problem)
    return found, ""


def check(seeds):
    count = 0
    for seed in seeds:
        sql = Writer(seed).question()
        for world in WORLDS:
            try:
                found, message = asked(sql, *world)
            except Exception as problem:
                raise AssertionError(
                    f"{type(problem).__name__} for number {seed}: {sql}"
                ) from problem
            assert message == "" or 10 < len(message) < 1000
            count += found
    assert count > len(seeds) / 20


def test_random_questions():
    check(range(1_000))


@pytest.mark.full
def test_many_random_questions():
    check(range(10_000, 40_000))
