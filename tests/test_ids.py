"""Ids are compared in one form, whatever type a reader holds them in."""

from __future__ import annotations

import io
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dither import ArgumentError
from dither.ids import StoredIds, hashed, identity, mixed
from dither.science import genomes, maps
from dither.science.genomes.clusters import Roster
from dither.science.genomes.panel import Panel
from dither.science.genomes.reading import genotypes
from dither.science.graphs.reading import Reader
from dither.science.maps.reading import floats

SEVEN = [7, 7.0, "7", b"7", " 7 ", "7.0", "007", np.int8(7), np.float32(7), 7 + 0j]
NONE = [None, float("nan"), 7.5, 2.0**60, 1j, Decimal("nan"), Decimal("1e999999"), []]


@pytest.mark.parametrize("held", [*SEVEN, Decimal(7), Fraction(14, 2)])
def test_a_whole_number_is_its_digits(held: Any) -> None:
    assert identity(held) == "7"


@pytest.mark.parametrize("held", NONE)
def test_what_is_no_id(held: Any) -> None:
    assert identity(held) is None


def test_texts_stay_what_they_are() -> None:
    assert [identity(one) for one in ("a", " a", "7a", "-0", "-7", "1e3")] == [
        *("a", " a", "7a", "0", "-7", "1e3")
    ]
    assert identity(10**30) == identity(str(10**30)) == "1" + "0" * 30


EDGES = "source,target\n" + "".join(f"{i},{i + 1}\n" for i in range(10))


@pytest.mark.parametrize("vertices", [20, list(range(20)), [str(i) for i in range(20)]])
@pytest.mark.parametrize("odd", ["", "x,3\n", " ,3\n", ",3\n", "2.5,3\n"])
def test_one_odd_end_erases_no_other_edge(odd: str, vertices: Any) -> None:
    """It makes a column of numbers one of texts, or of reals."""
    frame = pd.read_csv(io.StringIO(EDGES + odd))
    assert len(Reader.of(frame, vertices, None).edges()) == 10
    texts = np.array([line.split(",") for line in (EDGES + odd).split()[1:]][:10])
    assert len(Reader.of(texts, vertices, None).edges()) == 10


def test_floats_do_not_merge_long_ids() -> None:
    ids = [(1 << 60) + i for i in range(3)]
    frame = pd.DataFrame({"source": ids, "target": [*ids[1:], ids[0]]})
    assert len(Reader.of(frame, ids, None).edges()) == 3
    missing = pd.concat([frame, pd.DataFrame({"source": [None], "target": [ids[0]]})])
    with pytest.raises(ArgumentError, match="floats"):
        Reader.of(missing.astype({"source": float}), ids, None)


PEOPLE = "id,rs1,rs2\n" + "".join(f"{i},1,2\n" for i in range(1, 9))


@pytest.mark.parametrize("odd", ["", ",0,0\n", "9.5,0,0\n", "x,0,0\n"])
def test_one_odd_person_erases_no_other(odd: str) -> None:
    frame = pd.read_csv(io.StringIO(PEOPLE + odd), index_col=0)
    roster = Roster.of(dict.fromkeys(range(1, 9), "all"), None)
    data = genotypes(frame)
    data.check(roster)
    found = data.count(Panel.of(["rs1", "rs2"]), roster)
    assert found.called.tolist() == [[8, 8]]


def test_ids_that_follow_each_other_are_ids() -> None:
    """pandas makes a RangeIndex of them, until one person is missing."""
    frame = pd.read_csv(io.StringIO(PEOPLE), index_col=0)
    roster = dict.fromkeys(range(1, 9), "all")
    for some in (frame, frame.drop(index=4)):
        genomes.frequencies(some, panel=["rs1"], clusters=roster, epsilon=9)


def test_one_odd_coordinate_erases_no_other() -> None:
    held = pd.Series(["1.5", "2", "x", None, "7" * 100], dtype=object)
    assert floats(held)[:2].tolist() == [1.5, 2.0]
    assert np.isnan(floats(held)[2:]).all()
    frame = pd.DataFrame({"x": held[:3], "y": held[:3]})
    maps.heatmap(frame, x="x", y="y", bounds=(0, 0, 9, 9), cells=(3, 3), epsilon=9)


def test_hashes_depend_on_the_id_and_the_key_alone() -> None:
    rows = np.array([0, 2, 1])
    mine = hashed(["a", 7, "b"], rows, b"key")
    assert hashed(np.array(["a", "007", "b"], object), rows, b"key").tolist() == (
        mine.tolist()
    )
    assert hashed(["b", "x", "y", "a"], np.array([3, 0]), b"key").tolist() == (
        mine[:2].tolist()
    )
    assert not set(hashed(["a", 7, "b"], rows, b"other")) & set(mine)
    # A dataset tells "7" and "007" apart, and so does the hash.
    one, two = hashed(StoredIds(["7", "007"]), rows[[0, 2]], b"key")
    assert one != two


def test_words_are_mixed_one_to_one() -> None:
    words = np.arange(1 << 16, dtype=np.uint64)
    found = mixed(words)
    assert np.unique(found).size == words.size
    ones = [int(found[i] ^ found[i ^ 1]).bit_count() for i in range(0, 4096, 2)]
    assert 28 < np.mean(ones) < 36
    assert words[1] == 1  # and what was passed is as it was
