"""What the tools that write pages of the reference share: how a page begins, and how a
test compares the pages with the source.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
Pages = dict[str, str]
"""The text of each page, by its path below docs/."""
LISTS = 0.01
"""The weight in the search of pages that list everything. They hold nearly every word
there is, and a title counts a thousand times as much as text: so a page that explains a
word comes before one that lists it.
"""
HEAD = """\
---
search:
  boost: {boost}
---

<!-- This page is made by `python {tool}`. Change the source and make it again. -->

# {title}
"""


def page(tool: str, title: str, *parts: str, boost: float = LISTS) -> str:
    """A page: its settings, its title, and its parts, with an empty line between."""
    head = HEAD.format(boost=boost, tool=tool, title=title)
    return "\n".join(part.rstrip() + "\n" for part in (head, *parts))


def cell(text: str) -> str:
    """Plain text on one line of a table, with Markdown's characters shown as they
    are.
    """
    plain = " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
    for sign in "*_`[":
        plain = plain.replace(sign, f"\\{sign}")
    return plain


def outdated(pages: Mapping[str, str], docs: Path = DOCS) -> list[str]:
    """The pages that differ from the source, those that are missing, and those in the
    same folders that are no longer made.
    """
    wrong = [name for name, text in pages.items() if _text(docs / name) != text]
    return sorted([*wrong, *_left_over(pages, docs)])


def write(pages: Mapping[str, str], docs: Path = DOCS) -> None:
    """Write the pages, and remove those in the same folders that are no longer made."""
    for name in _left_over(pages, docs):
        (docs / name).unlink()
    for name, text in pages.items():
        (docs / name).parent.mkdir(parents=True, exist_ok=True)
        (docs / name).write_text(text, encoding="utf-8")


def _left_over(pages: Mapping[str, str], docs: Path) -> list[str]:
    folders = {Path(name).parent for name in pages} - {Path()}
    found = (path for one in folders for path in (docs / one).glob("*.md"))
    return [
        name
        for path in found
        if (name := path.relative_to(docs).as_posix()) not in pages
    ]


def _text(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.is_file() else None
