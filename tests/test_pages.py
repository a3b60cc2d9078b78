"""The pages that tools make are written and compared in one way."""

from __future__ import annotations

from pathlib import Path

from tools.pages import cell, outdated, page, write


def test_a_page_is_ranked_down_and_names_its_tool() -> None:
    text = page("tools/some.py", "Title", "One.", "Two.\n\n")
    assert text.startswith("---\nsearch:\n  boost: 0.01\n---\n")
    assert "boost: 2\n" in page("tools/some.py", "Title", boost=2)
    assert "made by `python tools/some.py`" in text
    assert text.endswith("\n# Title\n\nOne.\n\nTwo.\n")


def test_text_in_a_table_is_shown_as_it_is() -> None:
    assert cell("a | b\n<c> *d* `e` [f]") == r"a \| b &lt;c> \*d\* \`e\` \[f]"


def test_pages_are_written_compared_and_removed(tmp_path: Path) -> None:
    pages = {"top.md": "top\n", "more/index.md": "index\n", "more/one.md": "one\n"}
    assert outdated(pages, tmp_path) == sorted(pages)
    write(pages, tmp_path)
    assert outdated(pages, tmp_path) == []
    (tmp_path / "other.md").write_text("by hand\n")
    (tmp_path / "top.md").write_text("changed\n")
    del pages["more/one.md"]
    assert outdated(pages, tmp_path) == ["more/one.md", "top.md"]
    write(pages, tmp_path)
    assert outdated(pages, tmp_path) == []
    assert not (tmp_path / "more" / "one.md").exists()
    assert (tmp_path / "other.md").exists()
