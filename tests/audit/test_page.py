"""The page on audits shows what was measured."""

import json

from tools.figures import ROOT, filled

PAGE = (ROOT / "docs" / "audit.md").read_text(encoding="utf-8")


def test_figures_are_the_measured_ones():
    results = json.loads(
        (ROOT / "bench" / "results" / "audit.json").read_text(encoding="utf-8")
    )
    needed = [row for row in results["rows"] if row["metric"] == "draws needed"]
    assert len(needed) >= 8
    for row in needed:
        assert f"| {row['case']} | {row['value']:,.0f} |\n" in PAGE
    assert filled(PAGE) == PAGE
