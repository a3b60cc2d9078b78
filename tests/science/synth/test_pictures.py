"""Pictures of errors."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import pytest

from dither.science import synth
from dither.science.synth.pictures import draw
from tests.science.synth.tables import DOMAIN, NAMES, people

SPACE = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def made() -> synth.Synthetic:
    return synth.mst(people(), domain=DOMAIN, rho=0.5, pairs=[("age", "smokes")])


def texts(picture: Any) -> list[str]:
    tree = ElementTree.fromstring(picture.svg())
    return [one.text or "" for one in tree.iter(f"{SPACE}text")]


def test_all_columns_are_named_and_errors_written(made: synth.Synthetic) -> None:
    shown = texts(made.plot())
    for name in NAMES:
        assert name in shown
    assert sum(one.startswith(".") for one in shown) == 10
    assert any("measured privately" in one for one in shown)
    again = texts(made.sample(5).plot())
    assert any("rows released first" in one for one in again)


def test_measured_pairs_are_framed(made: synth.Synthetic) -> None:
    tree = ElementTree.fromstring(made.plot().svg())
    frames = [
        one for one in tree.iter(f"{SPACE}rect") if one.get("stroke") == "#000000"
    ]
    assert len(frames) == 2 * 3 + 1 + 2  # three pairs, the scale, the legend


def test_what_is_not_known_is_crossed_out() -> None:
    found = synth.mst(people(), domain=DOMAIN, rho=0.5, check=0)
    tree = ElementTree.fromstring(found.plot().svg())
    assert len(list(tree.iter(f"{SPACE}path"))) == 2 * 3 + 2  # three pairs, the legend


@pytest.mark.parametrize("columns", [1, 2, 60])
def test_few_and_many_columns(columns: int) -> None:
    domain = synth.Domain({f"a long name {i}": ["x", "y"] for i in range(columns)})
    table = {name: ["x"] * 30 for name in domain.names}
    found = synth.mst(table, domain=domain, rho=1)
    picture = draw(found.report())
    assert picture.width < 1000
    assert picture.height < 1000
    ElementTree.fromstring(picture.svg())


def test_png(made: synth.Synthetic, tmp_path: Any) -> None:
    pytest.importorskip("PIL")
    made.plot().save(tmp_path / "errors.png")
    assert (tmp_path / "errors.png").read_bytes().startswith(b"\x89PNG")


def test_names_are_shown_as_text() -> None:
    domain = synth.Domain({"<b>&": ["x", "y"], "\x1b[31m": ["x", "y"]})
    table = {name: ["x"] * 9 for name in domain.names}
    found = synth.mst(table, domain=domain, rho=1)
    assert "\x1b" not in str(found) + found.plot().svg() + found._repr_html_()
    assert "<b>" not in found.plot().svg()
    assert "<b>" not in found._repr_html_()
