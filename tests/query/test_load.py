"""Catalogue files on a disk, and the keys that they take from public tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from dither.errors import ArgumentError
from dither.query.catalogue.model import Catalogue
from dither.query.load import load_catalogue, parse_catalogue
from tests.query.catalogue.test_file import SMALL, changed


def test_places_are_beside_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "c.toml").write_text(
        'book = "postgresql://host/books"\n' + SMALL, encoding="utf-8-sig"
    )
    monkeypatch.chdir(tmp_path)
    found = load_catalogue("c.toml")
    assert found.tables[0].source == str(tmp_path / "visits.csv")
    assert found.book == "postgresql://host/books"
    (tmp_path / "c.toml").write_text(
        changed("visits.csv", "/data/visits.csv"), encoding="utf-8"
    )
    assert load_catalogue("c.toml").tables[0].source == "/data/visits.csv"


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="does not exist; pass the path"):
        load_catalogue(tmp_path / "gone.toml")
    (tmp_path / "c.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(ArgumentError, match="not UTF-8"):
        load_catalogue(tmp_path / "c.toml")


def public(tmp_path: Path, keys_from: str, public: str = "public = true") -> Catalogue:
    (tmp_path / "places.csv").write_text(
        "place,size\nb,2\na,1\na,x\n,3\n", encoding="utf-8"
    )
    text = changed('keys = ["A", "B"]', f'keys_from = "{keys_from}"')
    text += f'[tables.places]\nsource = "places.csv"\n{public}\n[tables.places.columns]\nid = "integer"\n'
    return parse_catalogue(text, "c.toml", tmp_path)


def test_keys_from_a_public_table(tmp_path: Path) -> None:
    assert public(tmp_path, "places.place").table("visits").field("ward").keys == (
        "a",
        "b",
    )
    assert public(tmp_path, "Places.PLACE").table("visits").field("ward").keys == (
        "a",
        "b",
    )
    with pytest.raises(ArgumentError, match=r"did you mean place\?"):
        public(tmp_path, "places.plac")
    with pytest.raises(ArgumentError, match=r"did you mean places\?"):
        public(tmp_path, "place.place")
    with pytest.raises(ArgumentError, match="the table 'places' is not public"):
        public(tmp_path, "places.place", "")
