"""What all explanations share."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from dither import explain

SOURCE = Path(__file__).parent.parent.parent / "src"
ALL = [
    explain.epsilon(0.5),
    explain.epsilon(1, delta=1e-6),
    explain.composition(0.1, 5, delta=1e-6),
    explain.tradeoff("mean", 1000),
    explain.definitions(),
]


@pytest.mark.parametrize("found", ALL, ids=lambda found: type(found).__name__)
def test_words_picture_and_data(found: explain.Explanation, tmp_path: Path) -> None:
    assert len(found.sentences) == 2
    assert all(
        sentence.endswith(".") and len(sentence) < 300 for sentence in found.sentences
    )
    shown, page = str(found), found._repr_html_()
    assert " ".join(shown.split()).startswith(
        f"{found.title} {' '.join(found.sentences)}"
    )
    assert all(cell.strip() in shown for row in found.rows for cell in row)
    assert page.count("<tr>") == len(found.rows) + bool(found.heading)
    assert found.to_dict()["sentences"] == found.sentences
    found.save(tmp_path / "picture.svg")
    assert (tmp_path / "picture.svg").read_text(encoding="utf-8") == found.svg()


def test_html_is_escaped() -> None:
    class Odd(explain.Meaning):
        title = "<b>"  # type: ignore[assignment]
        sentences = ("a < b", "c & d")  # type: ignore[assignment]

    page = Odd(0.5)._repr_html_()
    assert "<b>" not in page
    assert "a &lt; b" in page


def test_explaining_needs_the_standard_library_only() -> None:
    code = (
        "import sys; from dither import explain; str(explain.epsilon(1, delta=1e-6)); explain.definitions().svg()\n"
        "str(explain.tradeoff('count', 10)); explain.composition(1, 2, delta=1e-6).to_json()\n"
        "print({'numpy', 'scipy', 'matplotlib', 'duckdb', 'rich', 'dither.query', 'dither.noise'} & set(sys.modules))"
    )
    command, environment = (
        [sys.executable, "-W", "error", "-c", code],
        os.environ | {"PYTHONPATH": str(SOURCE)},
    )
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == "set()\n"
