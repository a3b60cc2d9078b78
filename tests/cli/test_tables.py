"""`dither tables` shows what is declared."""

from __future__ import annotations

import json

from click.testing import CliRunner

import dither
from dither.cli import main


def test_tables_are_shown_as_declared(tmp_path):
    found = CliRunner().invoke(main, ["tables", str(dither.example(tmp_path))])
    assert found.exit_code == 0
    assert (
        "visits (private, owner patient_id, at most 90 rows per unit)" in found.output
    )
    assert "keys cardiology, emergency" in found.output
    assert "regions (public)" in found.output
    assert not list(tmp_path.glob("*.db*"))


def test_tables_as_data(tmp_path):
    words = ["tables", str(dither.example(tmp_path)), "--json"]
    found = json.loads(CliRunner().invoke(main, words).stdout)
    assert (found["unit"], found["given"]) == ("patient_id", [])
    tables = {one["name"]: one for one in found["tables"]}
    visits = {one["name"]: one for one in tables["visits"]["columns"]}
    assert (visits["day"]["low"], visits["cost"]["high"]) == ("2023-01-01", 20_000)
    assert visits["ward"]["keys"][:2] == ["cardiology", "emergency"]
    assert tables["diagnoses"]["link"]["table"] == "visits"
    assert tables["regions"]["public"] is True


def test_a_missing_catalogue_is_refused(tmp_path):
    found = CliRunner().invoke(main, ["tables", str(tmp_path / "no.toml")])
    assert found.exit_code == 2
    assert "no.toml" in found.output
