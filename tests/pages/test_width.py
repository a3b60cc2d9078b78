"""Code on pages is at most 82 columns wide, so that no reader scrolls sideways.

Sentences that a program printed may be longer: the site wraps them.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
WIDEST = 82
FENCE = re.compile(
    r"^(?P<indent> *)```(?P<language>\w*)[^\n]*\n(?P<code>.*?)^(?P=indent)``` *$",
    re.MULTILINE | re.DOTALL,
)
COLUMNS = re.compile(r"\S {3,}\S")
PRINTED = ("text",)
# Printed tables that are wider: the page, and how their lines begin.
EXCEPTIONS = {
    "api/explain.md": ("explain.",),
    "sql.md": ("visits ", "stay "),
    "tutorial/first-answer.md": ("region ", "ward "),
    "tutorial/own-data.md": ("next: ",),
}
# Made from help texts and messages, which are shown as they are
MADE = ("cli", "errors")
PAGES = [ROOT / "README.md"] + [
    page
    for page in sorted(DOCS.rglob("*.md"))
    if page.relative_to(DOCS).with_suffix("").parts[0] not in MADE
]


def name(page: Path) -> str:
    return page.relative_to(DOCS if DOCS in page.parents else ROOT).as_posix()


def wide(text: str) -> list[tuple[str, str]]:
    """The language and the text of each line of code that is too wide."""
    return [
        (block["language"], line.strip())
        for block in FENCE.finditer(text)
        for line in block["code"].splitlines()
        if len(line) - len(block["indent"]) > WIDEST
    ]


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_code_is_narrow(page: Path) -> None:
    excused = EXCEPTIONS.get(name(page), ())
    found = [
        line
        for language, line in wide(page.read_text(encoding="utf-8"))
        if language not in PRINTED
        or (COLUMNS.search(line) and not line.startswith(excused))
    ]
    assert found == []


def test_the_site_wraps_what_was_printed() -> None:
    style = (DOCS / "site.css").read_text(encoding="utf-8")
    for language in PRINTED:
        assert f".language-{language} code {{\n    white-space: pre-wrap" in style


def test_wide_lines_are_found() -> None:
    long = "x" * 83
    text = (
        f"```python\n{long}\n{long[1:]}\n```\n\n- item\n\n  ```text\n  {long}\n  ```\n"
    )
    assert wide(text) == [("python", long), ("text", long)]
