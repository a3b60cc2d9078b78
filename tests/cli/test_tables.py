"""`dither tables` shows what is declared."""

from __future__ import annotations

from click.testing import CliRunner

import dither
from dither.cli import main


def test_tables_are_shown_as_declared(tmp_path):
    found = CliRunner().invoke(main, ["tables", str(dither.example(tmp_path))])
    assert found.exit_code == 0
    assert "visits (private, owner patient_id, at most 90 rows a unit)" in found.output
    assert "keys cardiology, emergency" in found.output
    assert "regions (public)" in found.output
    assert not list(tmp_path.glob("*.db*"))


def test_a_missing_catalogue_is_refused(tmp_path):
    found = CliRunner().invoke(main, ["tables", str(tmp_path / "no.toml")])
    assert found.exit_code == 2
    assert "no.toml" in found.output
