"""Mistakes of a first hour in all rooms, the message of each, and what its way out
does: tests/fixtures/mistakes.txt.

Each is tried in a folder of its own with the files below; then the lines that begin
with "then", which do what the message advises, must work. With DITHER_UPDATE_MISTAKES=1
the messages are written to the fixture: read the diff, and ask of every message whether
it says what is wrong, where, and what to do.
"""

from __future__ import annotations

import os
import re
import shlex
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import CliRunner

import dither
from dither.cli import main
from dither.errors import DitherError

FIXTURE = Path(__file__).parent / "fixtures" / "mistakes.txt"
HEAD, BETWEEN = "=" * 20 + "\n", "\n" + "-" * 20 + "\n"
PYTHON, SHELL, THEN = ">>> ", "$ ", "then "
VISITS = (
    "patient_id,age,ward,weight,case\np1,30,A,61.5,1\np1,31,B,60.25,0\np2,52,A,88.0,1\n"
)
CATALOGUE = """name = "clinic"
unit = "patient_id"
population = 2500
[budget]
epsilon = 3.0
[tables.visits]
source = "visits.csv"
[tables.visits.columns]
patient_id = "text"
ward = { type = "text", keys = ["A", "B"] }
age = { type = "integer", low = 0, high = 110 }
"""
FACTS: dict[str, Any] = {
    "unit": "patient_id",
    "bounds": {"age": (0, 110), "case": (0, 1)},
    "keys": {"ward": ["A", "B"]},
    "types": {"weight": "real"},
    "budget": 3.0,
}
VERBS = (
    "add|ask|call|change|check|choose|clamp|combine|compose|convert|declare|drop|give|group by|install|join|leave|list|make"
    "|move|name|open|pass|publish|put|raise|read|remove|rename|restore|run|save|say|select|sign|start|state|swap|thaw|try|use|write"
)
DOES = re.compile(
    rf"(?:(?:[;:.,(?]|\b(?:or|and|then))\s+(?:first\s)?|\A(?!name (?:is|must|cannot)))"
    rf"(?:{VERBS})\b"
    r"|did you mean",
    re.IGNORECASE,
)
"""A verb in the imperative, at the start of a clause: "must be the name of …" is not
advice, and an example alone is none.
"""
KIND = re.compile(r"\A\w+: |^Usage: .*\n|^Try '.*\n", re.MULTILINE)
"""What stands before a message: its kind, and what the command line says of usage. A
subject after it, such as "name", is not a verb.
"""


def advises(message: str) -> bool:
    return bool(DOES.search(KIND.sub("", message)))


@dataclass(frozen=True)
class Mistake:
    """What somebody wanted, what they did, the message, and what they did then."""

    title: str
    tried: tuple[str, ...]
    told: str
    then: tuple[str, ...]


def read() -> list[Mistake]:
    _, _, text = FIXTURE.read_text(encoding="utf-8").partition(HEAD)
    return [_read(block) for block in text.strip("\n").split(BETWEEN)]


def _read(block: str) -> Mistake:
    title, *lines = block.splitlines()
    tried = [line for line in lines if line.startswith((PYTHON, SHELL))]
    then = [line for line in lines if line.startswith(THEN)]
    told = "\n".join(lines[len(tried) : len(lines) - len(then)])
    plain = [line.removeprefix(THEN) for line in then]
    return Mistake(title, tuple(tried), told, tuple(plain))


def written(mistakes: list[Mistake]) -> str:
    head, _, _ = FIXTURE.read_text(encoding="utf-8").partition(HEAD)
    blocks = [
        "\n".join(
            (one.title, *one.tried, one.told, *(THEN + line for line in one.then))
        )
        for one in mistakes
    ]
    return head + HEAD + BETWEEN.join(blocks) + "\n"


class Person:
    """Somebody at a prompt, who does one line after the other."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.names: dict[str, Any] = {"dither": dither, "pandas": pd, "FACTS": FACTS}

    def told(self, lines: tuple[str, ...]) -> str:
        """The message at the end, as it is seen: of a command, or an error with its
        kind.
        """
        said = ""
        for line in lines:
            said = (
                _command(line[len(SHELL) :])
                if line.startswith(SHELL)
                else _statement(line[len(PYTHON) :], self.names)
            )
        return said.replace(f"{self.folder}/", "").rstrip("\n")

    def close(self) -> None:
        for thing in self.names.values():
            if isinstance(thing, dither.Dataset):
                thing.close()


def _command(line: str) -> str:
    done = CliRunner().invoke(main, shlex.split(line)[1:], prog_name="dither")
    assert done.exit_code == 0 or isinstance(done.exception, SystemExit), line
    return done.stderr if done.exit_code else ""


def _statement(line: str, names: dict[str, Any]) -> str:
    try:
        exec(line, names)
    except DitherError as error:
        return f"{type(error).__name__}: {error}"
    return ""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("USER", "ana")
    monkeypatch.setenv("LOGNAME", "ana")
    (tmp_path / "visits.csv").write_text(VISITS, encoding="utf-8")
    (tmp_path / "patients.csv").write_text(
        "id,born\np1,1990\np2,1971\n", encoding="utf-8"
    )
    (tmp_path / "wide.csv").write_text(VISITS, encoding="utf-16")
    (tmp_path / "visits.xlsx").write_bytes(b"PK\x03\x04")
    (tmp_path / "clinic.toml").write_text(CATALOGUE, encoding="utf-8")
    (tmp_path / "draft.toml").write_text(
        CATALOGUE.replace('"patient_id"\npop', '"?"\npop'), encoding="utf-8"
    )
    (tmp_path / "typo.toml").write_text(
        CATALOGUE.replace("population", "popluation"), encoding="utf-8"
    )
    (tmp_path / "broken.toml").write_text(
        CATALOGUE.replace("3.0", "3,0"), encoding="utf-8"
    )
    (tmp_path / "nodelta.toml").write_text(
        CATALOGUE.replace("population = 2500\n", "").replace(', keys = ["A", "B"]', ""),
        encoding="utf-8",
    )
    return tmp_path


MISTAKES = read()


def test_only_advice_passes_for_advice() -> None:
    assert not advises("ArgumentError: name must be a string that is not empty")
    assert not advises("ArgumentError: pairs must list inputs, such as [(0, 1)]")
    assert not advises("Usage: dither\nTry 'dither --help'.\n\nError: No option '-1'.")
    assert advises("ArgumentError: name is empty; pass one")
    assert advises("Error: there is no column 'agee'; did you mean age?")


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda one: one.title)
def test_a_mistake_is_told_with_a_way_out(mistake: Mistake, folder: Path) -> None:
    person = Person(folder)
    found = person.told(mistake.tried)
    if os.environ.get("DITHER_UPDATE_MISTAKES"):
        MISTAKES[MISTAKES.index(mistake)] = replace(mistake, told=found)
        FIXTURE.write_text(written(MISTAKES), encoding="utf-8")
    else:
        assert found == mistake.told
    assert advises(found), "it does not say what to do"
    assert len(found) < 600
    assert not re.search(r"\bp[12]\b|61\.5|60\.25|Traceback|0x", found), (
        "it tells more than it should"
    )
    for line in mistake.then:
        assert person.told((line,)) == "", line
    person.close()


def test_no_two_are_alike_and_most_have_a_way_out_that_runs() -> None:
    assert len({one.tried for one in MISTAKES}) == len(MISTAKES) >= 184
    assert sum(bool(one.then) for one in MISTAKES) >= 177
    assert FIXTURE.read_text(encoding="utf-8") == written(MISTAKES)
