"""The comparison with other tools: the pages show the facts and the measured figures,
and each fact has a source and a date.
"""

from __future__ import annotations

import json
import re
from datetime import date
from typing import Any

import pytest

from dither import __version__
from tools.compare import (
    FACTS,
    OURS,
    PAGES,
    RACERS,
    RESULTS,
    ROOT,
    SHORT,
    UNSEEN,
    ahead,
    features,
    filled,
    sources,
    systems,
)

KNOWN: dict[str, Any] = json.loads(FACTS.read_text(encoding="utf-8"))
PEERS = {one["name"]: one for one in KNOWN["systems"]}
CLAIMS = [
    (one["feature"], claim) for one in KNOWN["features"] for claim in one["claims"]
]
READ = date.fromisoformat(KNOWN["read"])
DEMANDED = {
    "OpenDP",
    "Tumult Analytics",
    "SmartNoise SQL",
    "PipelineDP",
    "diffprivlib",
    "Opacus",
    "DP Wizard",
    "Lomas",
}


@pytest.mark.parametrize("page", PAGES)
def test_the_pages_show_the_facts_and_the_figures(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    assert "<!-- compare: " in text
    assert filled(text) == text, "run python tools/compare.py"


def test_every_tool_has_a_version_a_date_and_a_source() -> None:
    assert set(PEERS) == DEMANDED
    for one in PEERS.values():
        assert one["version"] in one["source"]
        assert date.fromisoformat(one["first"]) <= date.fromisoformat(one["released"])
        assert date.fromisoformat(one["released"]) <= READ


def test_every_claim_about_a_peer_has_a_version_a_date_and_a_source() -> None:
    for feature, claim in CLAIMS:
        assert claim["says"], feature
        assert claim["detail"], feature
        if claim["system"] != OURS:
            assert claim["system"] in PEERS, feature
            assert claim["version"], feature
            assert date.fromisoformat(claim["date"]) <= READ, feature
            assert claim["source"].startswith("https://"), feature


def test_a_source_of_another_package_is_named_as_such() -> None:
    """Tumult Core, on which Tumult Analytics is built, has versions of its own."""
    projects = {
        name: re.findall(r"^https://pypi.org/project/([^/]+)/", one["source"])
        for name, one in PEERS.items()
    }
    for feature, claim in CLAIMS:
        found = re.match(r"https://pypi.org/project/([^/]+)/", claim["source"])
        if found and claim["system"] in PEERS:
            same = found[1] in projects[claim["system"]]
            assert same != ("package" in claim), feature
    assert "- Tumult Core 0.20.0 (" in sources()


def test_claims_about_dither_lead_to_its_pages() -> None:
    ours = [claim["source"] for _, claim in CLAIMS if claim["system"] == OURS]
    assert len(ours) == len(KNOWN["features"])
    assert [one for one in ours if not (ROOT / "docs" / one).is_file()] == []


def test_no_feature_says_two_things_of_one_tool() -> None:
    named = [(feature, claim["system"]) for feature, claim in CLAIMS]
    assert len(named) == len(set(named))
    assert set(SHORT) <= {feature for feature, _ in CLAIMS}


def test_other_tools_lead_in_six_rows_at_least() -> None:
    rows = ahead().splitlines()[2:]
    assert len(rows) >= 6
    for one in KNOWN["features"]:
        leads = any(claim.get("leads") for claim in one["claims"])
        assert leads == bool(one["ahead"]), one["feature"]


def test_what_was_not_measured_is_said() -> None:
    lines = systems().splitlines()[2:]
    assert len(lines) == 1 + len(PEERS)
    unmeasured = [line for line in lines if line.endswith("| not measured |")]
    assert len(unmeasured) == 1 + len(PEERS) - len(RACERS)


def test_a_cell_without_a_claim_is_unseen() -> None:
    line = next(
        line
        for line in features().splitlines()
        if line.startswith("| Federated training")
    )
    assert line.count(f" {UNSEEN} ") == len(PEERS)


@pytest.mark.parametrize(
    ("benchmark", "package", "name"),
    [
        ("query_peers", "opendp[polars]", "OpenDP"),
        ("query_peers", "tmlt.analytics", "Tumult Analytics"),
        ("query_peers", "smartnoise-sql", "SmartNoise SQL"),
        ("query_peers", "pipeline-dp", "PipelineDP"),
        ("learn", "opacus", "Opacus"),
        ("estimators", "diffprivlib", "diffprivlib"),
    ],
)
def test_the_version_described_is_the_one_measured(
    benchmark: str, package: str, name: str
) -> None:
    text = (RESULTS / f"{benchmark}.json").read_text(encoding="utf-8")
    assert json.loads(text)["versions"][package] == PEERS[name]["version"]


def test_the_readme_is_short_and_names_the_version() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 120
    assert f"**{OURS}** {__version__}" in text


def test_nothing_installs_from_an_index_that_does_not_have_it() -> None:
    """Neither a page (written or generated) nor a message or docstring of the source."""
    texts = [
        ROOT / "README.md",
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "src").rglob("*.py"),
    ]
    wrong = [
        text.name
        for text in texts
        if re.search(r"pip install ['\"]?dither", text.read_text(encoding="utf-8"))
    ]
    assert wrong == []


def test_the_wheel_has_the_name_that_its_version_gives() -> None:
    text = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    assert set(re.findall(r"dither-(\S+?)-py3", text)) == {__version__}
