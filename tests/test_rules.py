"""Every rule that is cited stands in docs/rules.md, and every rule there is kept by
files and tests that exist.
"""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")
RULES = {
    found[1]: found[2]
    for found in re.finditer(r"^## (R\d+): .*?\n(.*?)(?=^## |\Z)", PAGE, re.M | re.S)
}
NUMBERS = r"R\d+(?:(?:, | and | to |, and )R\d+)*"
CITED = re.compile(rf"\brules?\s+(?:of )?({NUMBERS})|\(({NUMBERS})[,)]", re.IGNORECASE)


def cited(text: str) -> set[str]:
    """The rules a text cites. Comments may break a citation over two lines."""
    plain = re.sub(r"\s+(?:#\s*)?", " ", text)
    found = (one[1] or one[2] for one in CITED.finditer(plain))
    return {rule for several in found for rule in re.findall(r"R\d+", several)}


def test_citations_are_seen() -> None:
    assert cited("nothing (rule R4)") == {"R4"}
    assert cited("both (rules R1\n# and R33), or (R7)") == {"R1", "R33", "R7"}
    assert cited("from Rule R11 to R9") == {"R11", "R9"}
    assert cited("region R07, R² and R55") == set()


def test_every_cited_rule_is_on_the_page() -> None:
    places = ("src", "tests", "docs", "tools", "bench", "clients")
    files = [
        path
        for place in places
        for path in (ROOT / place).rglob("*")
        if path.suffix in {".py", ".md", ".js"}
        and not {"node_modules", ".venv"} & set(path.parts)
    ]
    missing = {
        rule: path.relative_to(ROOT).as_posix()
        for path in (*files, *ROOT.glob("*.md"))
        if path != Path(__file__)
        for rule in cited(path.read_text(encoding="utf-8")) - set(RULES)
    }
    assert missing == {}


def test_rules_are_numbered_without_gaps() -> None:
    assert list(RULES) == [f"R{number}" for number in range(1, len(RULES) + 1)]


def test_every_rule_says_what_why_where_and_names_living_tests() -> None:
    wrong = []
    for rule, text in RULES.items():
        parts = ("**What holds.**", "**Why.**", "**Where.**", "**Tests.**")
        wrong += [f"{rule}: no {part}" for part in parts if text.count(part) != 1]
        places = re.findall(r"`((?:src|tests)/[^`]+)`", text)
        wrong += [f"{rule}: {place}" for place in places if not alive(place)]
        wrong += [f"{rule}: no test"] * (not any("::" in place for place in places))
    assert wrong == []


def alive(place: str) -> bool:
    """Whether a file is there, and the test in it."""
    name, _, test = place.partition("::")
    path = ROOT / name
    return path.is_file() and (
        not test or f"def {test}(" in path.read_text(encoding="utf-8")
    )
