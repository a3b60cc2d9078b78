"""The code of docs/spark.md runs in a session that is there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conformance.spark_asking import session
from tests.test_docs import ROOT, blocks

pytestmark = [pytest.mark.engine("spark"), pytest.mark.full]


def test_the_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"spark": session()}
    page = (ROOT / "docs" / "spark.md").read_text(encoding="utf-8")
    found = [block for block in blocks(page) if block.language == "py"]
    assert found
    for block in found:
        exec(compile(block.code, "docs/spark.md", "exec"), names)
    names["clinic"].close()
    session().catalog.dropTempView("visits")
    assert all(path.name.startswith("clinic.dither.db") for path in Path().iterdir())
