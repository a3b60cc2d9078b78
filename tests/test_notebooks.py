"""Notebooks hold what their pages hold, and their cells run from top to bottom."""

from __future__ import annotations

import contextlib
import io
import json
from pathlib import Path
from typing import Any

import pytest

from tools.notebooks import PAGES, notebook, place


def _name(page: Path) -> str:
    return page.stem


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_a_notebook_is_its_page(page):
    made = place(page).read_text(encoding="utf-8")
    assert made == notebook(page), "run python tools/notebooks.py"


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_cells_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for cell in json.loads(place(page).read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] != "code":
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec("".join(cell["source"]), namespace)
        assert bool(printed.getvalue()) == bool(cell["outputs"])
