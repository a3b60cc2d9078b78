"""The bundled clinic, copied to a folder."""

from __future__ import annotations

from pathlib import Path

from dither.query.examples import FILES, example
from dither.query.load import load_catalogue


def test_it_is_copied_once(tmp_path: Path) -> None:
    place = example(tmp_path / "new" / "clinic")
    assert place == tmp_path / "new" / "clinic" / "clinic.toml"
    assert sorted(path.name for path in place.parent.iterdir()) == sorted(FILES)
    place.write_text(place.read_text(encoding="utf-8") + "# mine\n", encoding="utf-8")
    assert example(place.parent) == place
    assert place.read_text(encoding="utf-8").endswith("# mine\n")


def test_its_catalogue_can_be_read(tmp_path: Path) -> None:
    tables = [table.name for table in load_catalogue(example(tmp_path)).tables]
    assert tables == ["patients", "visits", "diagnoses", "regions"]
