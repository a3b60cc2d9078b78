"""The pages from the idea to the command: each topic has all its parts, and the list of
topics names each of them.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

IDEAS = Path(__file__).parents[2] / "docs" / "ideas"
BOX = '!!! note "Often told differently"'
BOXES = 17
PARTS = {
    "code": r"^```(python|sh)$",
    "output": r'^```text title="Output"$',
    "a picture": r"^!\[.+\]\(\.\./pictures/\w+\.svg\)$",
    "what to read next": r"^Next: .*\]\(",
}
# A heading, which may name its own anchor, and what follows it
HEADED = r"^## (.+?)(?: \{.+\})?\n((?:(?!## ).*\n?)*)"
TEXTS = {
    page.name: page.read_text(encoding="utf-8") for page in sorted(IDEAS.glob("*.md"))
}
TOPICS = {
    (name, title): text
    for name, whole in TEXTS.items()
    for title, text in re.findall(HEADED, whole, re.MULTILINE)
}


@pytest.mark.parametrize("part", PARTS)
def test_each_topic_has_all_parts(part: str) -> None:
    assert [
        topic
        for topic, text in TOPICS.items()
        if not re.search(PARTS[part], text, re.MULTILINE)
    ] == []


def test_what_is_often_told_differently_is_counted() -> None:
    assert sum(text.count(BOX) for text in TEXTS.values()) == BOXES


def test_the_index_lists_each_topic_once() -> None:
    listed = re.findall(r"^\d+\. \[(.+)\]\((.+?)#", TEXTS["index.md"], re.MULTILINE)
    assert sorted((page, title) for title, page in listed) == sorted(TOPICS)
