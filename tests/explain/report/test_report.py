"""A report as a file, in a terminal and in a notebook."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import dither
from dither.errors import ArgumentError
from dither.explain.report import Report, Section
from dither.explain.report.glossary import WORDS

ROOT = Path(__file__).parents[3]


def small() -> Report:
    return dither.count([1, 2, 3], epsilon=0.5).report()


def test_it_is_written_by_the_ending_of_its_name(tmp_path: Path) -> None:
    made = small()
    assert made.save(tmp_path / "a.html").read_text("utf-8") == made.html()
    assert json.loads(made.save(tmp_path / "a.json").read_text("utf-8"))["about"]
    with pytest.raises(ArgumentError, match=r"\.html or \.json"):
        made.save(tmp_path / "a.pdf")


def test_in_words() -> None:
    made = small()
    told = " ".join(str(made).split())
    for section in made.sections:
        assert section.title in told
        assert all(" ".join(one.split()) in told for one in section.words)


def test_a_notebook_shows_it_in_a_frame() -> None:
    shown = small()._repr_html_()
    assert shown.startswith("<iframe title=")
    assert " sandbox " in shown
    assert shown.count("<") == 2  # the page inside is escaped


def test_sections_by_name() -> None:
    assert small()["promise"].title == "What is promised"
    with pytest.raises(ArgumentError, match="pass one of asked"):
        small()["nothing"]


def test_infinity_is_null_in_the_data() -> None:
    section = Section("a", "b", data={"one": float("inf"), "two": [1.5]})
    assert section.to_dict()["data"] == {"one": None, "two": [1.5]}


def test_the_margin_has_the_words_of_the_glossary() -> None:
    page = (ROOT / "docs" / "glossary.md").read_text("utf-8")
    found = dict(re.findall(r"^\| \*\*(\w+)\*\* \| (.*) \|$", page, re.M))
    assert dict(WORDS) == {word: found[word] for word, _ in WORDS}


def test_nothing_in_the_data_turns_a_terminal_around() -> None:
    odd = "a\u202eb\x9bc\ud800"
    section = Section("s", "S", data={odd: odd, "list": [odd]})
    shown = Report("release", "r", (), (section,)).to_json()
    assert not set("\u202e\x9b\ud800") & set(shown)
    assert "a\\\\u202eb" in shown
