"""Frequencies as people of the field expect them: tables, PLINK's form, pictures."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dither import ArgumentError
from dither.science import genomes
from dither.science.genomes.releases import Frequencies
from tests.chance import chance
from tests.science.genomes.cohort import cohort, names

PANEL = ["rs0", "1:5:A:G", "rs2"]


def released(clusters: Any = ("north", "south"), panel: Any = PANEL) -> Frequencies:
    labels = [clusters[at % len(clusters)] for at in range(400)]
    return genomes.frequencies(
        cohort(400, len(panel)), panel=panel, clusters=labels, rho=50.0
    )


def test_an_entry_is_found_by_its_cluster_and_variant() -> None:
    found = released()
    one = found["south", "rs2"]
    assert one.value == found.matrix[1, 2] == found.cluster("south")["rs2"].value
    assert one.interval() == pytest.approx(
        tuple(end[5] for end in found.interval()), abs=0
    )
    apart = found["south", "rs2"] - found["north", "rs2"]
    assert not hasattr(apart, "panel")
    assert np.isfinite(apart.interval()).all()


def test_a_cluster_that_is_not_there() -> None:
    with pytest.raises(ArgumentError, match="pass one of north, south"):
        released().cluster("west")


def test_frames_have_a_row_for_each_cluster_and_variant() -> None:
    found = released()
    frame = found.to_pandas()
    assert list(frame.columns) == [
        *("cluster", "variant", "frequency", "low", "high", "called"),
    ]
    assert frame["variant"].tolist() == PANEL * 2
    assert (frame["low"] <= frame["frequency"]).all()
    assert (frame["frequency"] <= frame["high"]).all()
    assert found.to_polars()["cluster"].to_list() == ["north"] * 3 + ["south"] * 3


@chance(1e-20)
def test_the_form_of_plink(tmp_path: Path) -> None:
    found = released(["all"])
    lines = [line.split() for line in (found.to_frq() or "").splitlines()]
    assert lines[0] == ["CHR", "SNP", "A1", "A2", "MAF", "NCHROBS", "LOW", "HIGH"]
    assert lines[2][:4] == ["1", "1:5:A:G", "G", "A"]
    assert lines[1][:4] == ["0", "rs0", "0", "0"]
    assert abs(int(lines[1][5]) - 800) < 40
    released().to_frq(tmp_path / "a.frq.strat")
    text = (tmp_path / "a.frq.strat").read_text(encoding="utf-8")
    assert text.splitlines()[0].split()[2] == "CLST"
    assert len(text.splitlines()) == 7


def test_printed_are_the_first_entries() -> None:
    found = released(panel=names(30))
    assert "north rs0: " in str(found)
    assert "… and 40 more" in str(found)


@pytest.mark.parametrize("variants", [1, 3, 48, 49, 700])
@pytest.mark.parametrize("clusters", [1, 2, 6])
def test_pictures_are_drawn_for_every_panel(variants: int, clusters: int) -> None:
    found = released([f"c{at}" for at in range(clusters)], names(variants))
    picture = found.plot()
    ET.fromstring(picture.svg())
    assert f"{variants:,} variants" in picture.title
    assert ("4 of 6 clusters" in picture.title) == (clusters == 6)


def test_names_are_shown_as_they_are_and_do_no_harm() -> None:
    found = released(["<b>", "\x1b[31m"], ["<rs>&", "x" * 50])
    text = found.plot().svg()
    ET.fromstring(text)
    assert "\x1b" not in text
    assert "\x1b" not in str(found)


def test_rounding_and_maps_leave_a_plain_release() -> None:
    found = released().round(2)
    assert not isinstance(found, Frequencies)
    assert len(found.value) == 6


def test_other_forms() -> None:
    found = released()
    lines = (found.to_csv() or "").splitlines()
    assert lines[0] == "cluster,variant,frequency,low,high,called"
    assert len(lines) == 7
    assert found._repr_html_().startswith("<pre>allele frequency")
    assert '"guarantee"' in found.to_json()
    chosen = genomes.top_snps(cohort(20, 3), [1, 0] * 10, 2, panel=PANEL, epsilon=1)
    assert (chosen.to_csv() or "").startswith("rank,variant\n1,")
    assert "top variants" in chosen.to_json()


@chance(1e-12)
def test_a_frequency_of_nobody_is_said() -> None:
    """A noisy count of nobody seems to be of somebody once in 40 times: here one of
    nine.
    """
    absent = [f"chr9:{at}" for at in range(9)]
    found = genomes.frequencies(
        cohort(400, 1), panel=["rs0", *absent], variants=["rs0"], samples=400, rho=50.0
    )
    assert re.search(r"[1-9] of 10 frequencies may have no calls", str(found))
    assert re.search(
        r"guarantee: ε = \S+ at δ = 1e-06, protects one person", str(found)
    )
    assert found.called is not None
    assert abs(found.called[0, 0] - 400) < 60
    assert abs(found.called[0, 1:]).max() < 60


def test_a_cluster_is_an_entry_too() -> None:
    found = released()
    assert found["north"].value.tolist() == found.cluster("north").value.tolist()
    assert "south rs2: " in str(found["south", "rs2"])
    assert repr(found) == "<Frequencies allele frequency: 6 entries>"
