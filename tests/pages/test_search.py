"""The search box finds the page that answers a question, among its first three results.

The site is built as readers get it, and the theme's own search runs in Node.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.clients import node

HERE = Path(__file__).parent
QUESTIONS = [
    (question, page)
    for line in (HERE / "questions.txt").read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
    for question, page in [re.split(r" {2,}", line)]
]
FIRST = 3


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """The pages that the search box lists for each question, the best first."""
    node.program("node", "the search of the documentation")
    site = tmp_path_factory.mktemp("site")
    subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "-q", "-d", str(site)],
        cwd=node.ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        check=True,
    )
    asked = [question for question, _ in QUESTIONS]
    printed = node.run(
        [str(HERE / "search.cjs"), str(site)], given=json.dumps(asked), folder=HERE
    )
    return dict(zip(asked, json.loads(printed), strict=True))


def test_there_are_forty_questions_about_many_pages() -> None:
    assert len({question for question, _ in QUESTIONS}) >= 40
    assert len({page for _, page in QUESTIONS}) >= 35
    assert all((node.ROOT / "docs" / page).exists() for _, page in QUESTIONS)


def test_the_page_is_among_the_first_results(found: dict[str, list[str]]) -> None:
    missed = [
        f"{question}: {page} is not among {', '.join(found[question][:FIRST])}"
        for question, page in QUESTIONS
        if page.replace(".md", ".html") not in found[question][:FIRST]
    ]
    assert missed == []
