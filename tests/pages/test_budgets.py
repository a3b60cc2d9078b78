"""A reader may try all pages in one folder: no account runs dry on the way."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import pytest

import dither
from tests.test_docs import ROOT, blocks, run_python

OPENED = re.compile(r'dither\.example\(("[\w-]+")?\)\)|demo --copy (\S+)')
"""Copies of the example whose account is durable."""
SHARED = {"README.md", "docs/index.md"}
"""They ask the same question: the second time it is answered from the ledger."""


def test_every_other_page_has_a_copy_of_its_own() -> None:
    pages = defaultdict(set)
    for path in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md")):
        name = path.relative_to(ROOT).as_posix()
        if name.startswith(("docs/api/", "docs/errors/")):
            continue
        for block in blocks(path.read_text(encoding="utf-8")):
            if block.language in {"python", "sh"}:
                for found in OPENED.finditer(block.code):
                    folder = (found[1] or found[2] or '"clinic"').strip('"')
                    pages[folder].add(name)
    assert pages.pop("clinic") == SHARED
    assert {folder: used for folder, used in pages.items() if len(used) > 1} == {}


def test_the_first_steps_are_one_charge(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in sorted(SHARED):
        page = ROOT / name
        namespace: dict[str, object] = {}
        for block in blocks(page.read_text(encoding="utf-8")):
            if block.language == "python":
                run_python(page, block, namespace)
    with dither.open(tmp_path / "clinic" / "clinic.toml") as clinic:
        assert clinic.account.charges == 1
