"""One person's record changes that person's counts only, however odd it is; and data
that is held the wrong way round is refused.
"""

from __future__ import annotations

import contextlib
import datetime
import decimal
import gzip
import io
import warnings
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import zarr

from dither import ArgumentError
from dither.question import Question
from dither.science import genomes
from dither.science.genomes.clusters import Roster
from dither.science.genomes.counts import Counts
from dither.science.genomes.matrix import Calls
from dither.science.genomes.panel import Panel
from dither.science.genomes.plan import Plan
from dither.science.genomes.reading import genotypes
from tests.science.genomes.cohort import cohort, names
from tests.science.genomes.test_readers import write_bed, write_vcf

FOUR = ["a", "b", "c", "d"]
ROSTER = Roster.of(None, FOUR)


def planes(found: Counts) -> Any:
    return np.stack([found.none, found.one, found.two])[:, 0].T.tolist()


def line(at: int, *calls: str, other: str = "G", form: str = "GT") -> str:
    words = ["1", str(at), f"rs{at}", "A", other, ".", ".", ".", form, *calls]
    return "\t".join(words)


WORSE = [
    "0/0/1",
    "1",
    "x/y",
    "-1/1",
    "/1/0",
    "",
    "0/" + "9" * 5000,
    "0/²",
    "1/1\r0/0",
    "99/99",
    "1/1/.",
    "\x0c",
]


@pytest.mark.parametrize("name", ["a.vcf", "a.vcf.gz", "A.VCF.GZ"])
@pytest.mark.parametrize("call", WORSE, ids=range(len(WORSE)))
def test_a_malformed_call_is_that_persons_alone(
    call: str, name: str, tmp_path: Path
) -> None:
    records = [line(1, "0/0", call, "0/1", "1/1"), line(2, "0/0", "0/1", "0/1", "1/1")]
    write_vcf(tmp_path / name, records, FOUR)
    found = genotypes(tmp_path / name).count(Panel.of(["rs1", "rs2"]), ROSTER)
    assert planes(found) == [[1, 1, 1], [1, 2, 1]]


def test_another_ploidy_is_that_persons_alone(tmp_path: Path) -> None:
    """In memory and in VCF-Zarr, where the last axis is as wide as the largest."""
    calls = np.full((1, 4, 3), -2, np.int8)
    calls[0, :, :2] = [[0, 0], [0, 1], [1, 1], [0, 0]]
    calls[0, 3, 2] = 1
    roster = Roster.of(None, FOUR)
    assert planes(Calls(calls).count(Panel.of(["rs1"]), roster)) == [[1, 1, 1]]
    text = np.dtypes.StringDType()
    group = zarr.create_group(store=str(tmp_path / "a.vcz"), zarr_format=2)
    group.create_array("call_genotype", data=calls)
    group.create_array("sample_id", data=np.array(FOUR, text))
    group.create_array("variant_id", data=np.array(["rs1"], text))
    assert planes(genotypes(group).count(Panel.of(["rs1"]), roster)) == [[1, 1, 1]]


def test_a_third_allele_of_one_person_leaves_the_others_as_they_are(
    tmp_path: Path,
) -> None:
    for other in ("G", "G,T", "T,G"):
        number = other.split(",").index("G") + 1
        held = f"0/{number}"
        last = "0/0" if other == "G" else f"0/{3 - number}"
        write_vcf(
            tmp_path / "a.vcf", [line(1, "0/0", held, held, last, other=other)], FOUR
        )
        panel = Panel.of(["rs1", "1:1:A:G"])
        found = planes(genotypes(tmp_path / "a.vcf").count(panel, ROSTER))
        assert found[1] == [2, 2, 0]
        assert found[0] == ([2, 2, 0] if other == "G" else [1, 3, 0])


def test_an_allele_that_nobody_has_has_no_copies(tmp_path: Path) -> None:
    """So a lone carrier moves the counts by one: the site is there without them too."""
    records = [
        line(1, "0/0", "0/0", "./.", "0/0", other="."),
        line(5, "0/1", *["0/0"] * 3),
    ]
    write_vcf(tmp_path / "a.vcf", records, FOUR)
    panel = Panel.of(["rs1", "1:1:A:G", "1:5:A:T", "1:5:A:G"])
    found = planes(genotypes(tmp_path / "a.vcf").count(panel, ROSTER))
    assert found == [[3, 0, 0], [3, 0, 0], [4, 0, 0], [3, 1, 0]]


def test_split_records_count_the_one_that_names_the_allele(tmp_path: Path) -> None:
    records = [
        line(1, "0/1", "0/0", "0/0", "0/0", other="T"),
        line(1, "0/0", "1/1", "0/0", "0/0", other="G"),
    ]
    for order in (records, records[::-1]):
        write_vcf(tmp_path / "a.vcf", order, FOUR)
        found = genotypes(tmp_path / "a.vcf").count(Panel.of(["1:1:A:G"]), ROSTER)
        assert planes(found) == [[3, 0, 1]]


def test_plink_sites_that_all_share_are_found(tmp_path: Path) -> None:
    """PLINK writes 0 for an allele that nobody has."""
    table = np.array([[0, 2, 1]] * 36 + [[-1, 2, 0]], np.int8)
    write_bed(tmp_path / "a.bed", table)
    (tmp_path / "a.bim").write_text(
        "1 x 0 100 0 A\n1 y 0 101 0 G\n1 z 0 102 G A\n", encoding="utf-8"
    )
    (tmp_path / "a.bed").write_bytes(_swapped((tmp_path / "a.bed").read_bytes()))
    panel = Panel.of(["1:100:A:G", "1:101:A:G", "1:102:A:G", "1:102:A:T"])
    roster = Roster.of(None, [f"s{at}" for at in range(37)])
    found = planes(genotypes(tmp_path / "a.bed").count(panel, roster))
    assert found == [[36, 0, 0], [0, 0, 37], [1, 36, 0], [37, 0, 0]]


def _swapped(data: bytes) -> bytes:
    """The second record with A2 for A1, as it is where A1 is 0: all bits set."""
    width = 10
    start = 3 + width
    return data[:start] + b"\xff" * width + data[start + width :]


@pytest.mark.parametrize("absent", ["missing", "reference"])
def test_a_record_that_is_not_there(absent: str, tmp_path: Path) -> None:
    """Without its only carrier a VCF lacks the record: as reference they alone count."""
    write_vcf(tmp_path / "a.vcf", [line(1, *["0/0"] * 4)], FOUR)
    found = genomes.frequencies(
        tmp_path / "a.vcf", panel=["rs9"], samples=FOUR, rho=1e6, absent=absent
    )
    low, high = found.interval(1 - 1e-8)
    assert (low[0], high[0]) == (0, 1) if absent == "missing" else high[0] < 0.01


def test_frames_of_polars_are_read_by_their_columns() -> None:
    table = cohort(20, 3, missing=0.2)
    held = [[None if one < 0 else int(one) for one in row] for row in table.tolist()]
    frame = pl.DataFrame(held, schema=names(3), orient="row")
    panel, roster = Panel.of(["rs2", "no", "rs0"]), Roster.of(None, 20)
    found = genotypes(frame).count(panel, roster)
    expected = genotypes(table, variants=names(3)).count(panel, roster)
    assert planes(found) == planes(expected)


def test_another_ploidy_in_bcf_is_that_persons_alone(tmp_path: Path) -> None:
    records = [line(1, "0/0", "0/1", "1/1", "0/0/1"), line(2, "1", "0/1", "1/1", "0/0")]
    write_vcf(tmp_path / "a.bcf", records, FOUR)
    found = genotypes(tmp_path / "a.bcf").count(Panel.of(["rs1", "rs2"]), ROSTER)
    assert planes(found) == [[1, 1, 1], [1, 1, 1]]


@pytest.mark.parametrize("shape", [(5, 30), (30, 5, 2)])
def test_data_held_the_other_way_round_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ArgumentError, match="X seems to be transposed"):
        genomes.frequencies(np.zeros(shape), panel=names(5), samples=30, rho=50)


def test_a_list_held_the_other_way_round_is_refused() -> None:
    with pytest.raises(ArgumentError, match="X seems to be transposed"):
        genomes.frequencies([[0] * 30] * 5, panel=names(5), samples=30, rho=50)


def test_nobody_is_answered_like_anybody() -> None:
    for data in (np.array([]), [], np.zeros((0, 2)), np.array([[0, 1]])):
        found = genomes.frequencies(data, panel=names(2), samples=100, rho=1)
        assert len(found.value) == 2


class Rude(float):
    def __eq__(self, other: object) -> bool:
        raise RuntimeError("no")

    __hash__ = float.__hash__


class Ruder(list[int]):
    def __iter__(self) -> Any:
        raise RuntimeError("no")


@pytest.mark.parametrize("row", [[Rude(1.0), 1], Ruder([1, 1])])
def test_values_that_raise_are_missing(row: Any) -> None:
    found = genotypes([[2, 2], row]).count(Panel.of(names(2)), Roster.of(None, 2))
    assert found.two.tolist() == [[1, 1]]
    assert found.one.sum() <= 2


def odd_group(path: Path, **arrays: Any) -> Any:
    text = np.dtypes.StringDType()
    group = zarr.create_group(store=str(path), zarr_format=2)
    plain: dict[str, Any] = {
        "call_genotype": np.zeros((2, 4, 2), np.int8),
        "sample_id": np.array(FOUR, text),
        "variant_id": np.array(["rs1", "rs2"], text),
    }
    for name, data in {**plain, **arrays}.items():
        group.create_array(name, data=data)
    return group


@pytest.mark.parametrize(
    "arrays",
    [
        {"variant_position": np.array([np.nan, 2.0])},
        {"variant_id": np.array(["rs1"], np.dtypes.StringDType())},
        {"variant_allele": np.array([["A", "G"]], np.dtypes.StringDType())},
        {"variant_contig": np.array([7]), "contig_id": np.array(["1"], "T")},
    ],
)
def test_odd_metadata_of_vcf_zarr_is_absent(arrays: Any, tmp_path: Path) -> None:
    group = odd_group(tmp_path / "a.vcz", **arrays)
    found = genotypes(group).count(Panel.of(["rs1", "1:2:A:G"]), ROSTER)
    assert found.none[0, 0] in (0, 4)


def test_calls_of_two_dimensions_are_refused(tmp_path: Path) -> None:
    group = odd_group(tmp_path / "a.vcz", call_genotype=np.zeros((2, 4), np.int8))
    with pytest.raises(ArgumentError, match="three dimensions"):
        genomes.frequencies(group, panel=["rs1"], samples=FOUR, rho=9)


def test_positions_beyond_numbers_are_absent(tmp_path: Path) -> None:
    write_bed(tmp_path / "a.bed", np.zeros((37, 1), np.int8))
    long = "9" * 5000
    (tmp_path / "a.bim").write_text(f"1 rs0 0 {long} G A\n", encoding="utf-8")
    roster = Roster.of(None, [f"s{at}" for at in range(37)])
    found = genotypes(tmp_path / "a.bed").count(Panel.of(["rs0"]), roster)
    assert found.none[0, 0] == 37
    write_vcf(tmp_path / "a.vcf", [f"1\t{long}\trs1\tA\tG\t.\t.\t.\tGT\t0/0"], ["a"])
    genotypes(tmp_path / "a.vcf").count(Panel.of(["rs1"]), ROSTER)


def test_a_file_that_breaks_off_is_missing_from_there_on(tmp_path: Path) -> None:
    write_vcf(
        tmp_path / "a.vcf.gz", [line(at, *["0/1"] * 4) for at in range(3000)], FOUR
    )
    packed = (tmp_path / "a.vcf.gz").read_bytes()
    assert gzip.decompress(packed)
    (tmp_path / "a.vcf.gz").write_bytes(packed[: len(packed) // 2])
    found = genotypes(tmp_path / "a.vcf.gz").count(Panel.of(["rs0", "rs2999"]), ROSTER)
    assert found.one[0].tolist() == [4, 0]


@pytest.mark.parametrize("at", [-1.0, 0.0, 1.0])
def test_a_wanted_error_is_reached_at_every_frequency(at: float) -> None:
    """The public width where all calls are there, for a ratio of -1, 0 and 1."""
    question = Question.of("x", {"error": 0.05})
    plan = Plan.of(question, 20, Roster.of(None, 1000), "counted")
    first, second = plan.weights
    spread = np.hypot(1 / first, at / second) * plan.mechanism.scale
    assert 1.96 * spread / 2000 <= 0.0501


@pytest.mark.parametrize("label", [np.float32("nan"), None, float("nan")])
def test_labels_that_are_no_labels_put_a_person_into_no_cluster(label: Any) -> None:
    assert Roster.of(["a", label], None).names == ("a",)


def test_missing_labels_of_pandas() -> None:
    import pandas as pd

    for label in (pd.NA, pd.NaT):
        assert Roster.of(["a", label], None).names == ("a",)


def test_an_empty_roster_is_a_bad_question() -> None:
    with pytest.raises(ArgumentError, match="samples"):
        genomes.frequencies([[1]], panel=["rs1"], samples=[], rho=1)


def test_one_place_in_two_spellings_is_named_twice() -> None:
    with pytest.raises(ArgumentError, match="is repeated"):
        Panel.of(["1:100:A:G", "1:0100:A:G"])


@pytest.mark.parametrize("odd", ["NA", "", "2 ", None, "x"])
def test_one_text_among_numbers_is_that_persons_alone(odd: Any) -> None:
    """numpy and CSV files make a text of every number beside a text."""
    import pandas as pd

    panel, roster = Panel.of(["rs0"]), Roster.of(None, 4)
    texts = np.array([["0"], ["1"], ["2.0"], [str(odd)]])
    frame = pd.DataFrame({"rs0": ["0", "1", "2.0", odd]})
    last = 2 if odd == "2 " else 1
    for data in (texts, texts.astype("S"), frame):
        assert planes(genotypes(data).count(panel, roster)) == [[1, 1, last]]


def test_one_complex_number_is_that_persons_alone() -> None:
    data = np.array([[0], [1], [2], [1 + 1j]])
    found = genotypes(data).count(Panel.of(["rs0"]), Roster.of(None, 4))
    assert planes(found) == [[1, 1, 1]]


def test_a_frame_that_only_numbers_its_rows_needs_their_ids() -> None:
    import pandas as pd

    frame = pd.DataFrame({"rs0": [0, 1]})
    with pytest.raises(ArgumentError, match="samples"):
        genomes.frequencies(frame, panel=["rs0"], clusters={"x": 1, "y": 1}, rho=9)


ODD: list[Any] = [
    *(None, "NA", "", b"x", 1.5, -9, 9, float("nan"), 1j, 10**400, -(10**30), 2**63),
    *(
        decimal.Decimal("7"),
        datetime.date(2020, 1, 1),
        np.timedelta64(9),
        [1, 2],
        {1: 2},
    ),
    *(object(), np.uint64(2**64 - 1), "0x1", "2020-01-01", "1,0"),
]
PEOPLE = [[0, 1, 2], [1, 1, 0], [2, 0, 1]]


def forms(rows: Any) -> Any:
    """What numpy, pandas and Polars make of rows, where they make anything."""
    import pandas as pd

    def csv() -> Any:
        lines = [",".join(f'"{one}"' for one in row) for row in [names(3), *rows]]
        return pd.read_csv(io.StringIO("\n".join(lines)))

    for made in (
        lambda: rows,
        lambda: np.array(rows),
        lambda: pd.DataFrame(rows, columns=names(3)),
        lambda: pd.DataFrame(rows, columns=names(3)).convert_dtypes(),
        csv,
        lambda: pl.DataFrame(rows, schema=names(3), orient="row", strict=False),
    ):
        with contextlib.suppress(Exception), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = made()
            if len(getattr(found, "shape", (0, 0))) == 2:
                yield found


@pytest.mark.parametrize("odd", ODD, ids=range(len(ODD)))
@pytest.mark.parametrize("where", [slice(0, 3), slice(1, 2)])
def test_one_persons_odd_value_leaves_the_others_as_they_are(
    odd: Any, where: slice
) -> None:
    """The last person is not in the roster, so nothing may move."""
    panel, roster = Panel.of(names(3)), Roster.of(None, 3)
    expected = planes(genotypes(np.array(PEOPLE)).count(panel, roster))
    last = [0, 0, 0]
    last[where] = [odd] * len(last[where])
    seen = [genotypes(data).count(panel, roster) for data in forms([*PEOPLE, last])]
    assert len(seen) >= 2
    assert all(planes(found) == expected for found in seen)


def test_an_id_that_is_spelled_like_a_place_counts_the_allele_it_names(
    tmp_path: Path,
) -> None:
    """PLINK may have the alternative as its second allele."""
    write_bed(tmp_path / "a.bed", np.array([[2]] * 30 + [[0]] * 7, np.int8))
    (tmp_path / "a.bim").write_text("1 1:100:A:G 0 100 A G\n", encoding="utf-8")
    roster = Roster.of(None, [f"s{at}" for at in range(37)])
    found = genotypes(tmp_path / "a.bed").count(Panel.of(["1:100:A:G"]), roster)
    assert planes(found) == [[30, 0, 7]]  # 30 people have two copies of A
    record = line(1, "0/0", "0/1", "0/2", "2/2", other="T,G").replace("rs1", "1:1:A:G")
    write_vcf(tmp_path / "a.vcf", [record], FOUR)
    found = genotypes(tmp_path / "a.vcf").count(Panel.of(["1:1:A:G"]), ROSTER)
    assert planes(found) == [[2, 1, 1]]


def test_an_id_that_is_spelled_like_a_place_is_found_without_positions(
    tmp_path: Path,
) -> None:
    ids = np.array(["1:1:A:G", "rs2"], np.dtypes.StringDType())
    group = odd_group(tmp_path / "a.vcz", variant_id=ids)
    found = genotypes(group).count(Panel.of(["1:1:A:G"]), ROSTER)
    assert planes(found) == [[4, 0, 0]]


def test_how_many_rows_a_frame_has_decides_nothing() -> None:
    """Its index names people, so one who is missing is a row that is not there: as many
    variants as people in the roster must not tell the two apart.
    """
    table = pd.DataFrame(cohort(5, 5), index=list("abcde"), columns=names(5))
    roster = dict.fromkeys("abcde", "all")
    for some in (table, table.iloc[:4], table.iloc[:0]):
        genomes.frequencies(some, panel=names(5), clusters=roster, epsilon=50)
    with pytest.raises(ArgumentError, match=r"X\.T"):
        genomes.frequencies(table.T, panel=names(5), clusters=roster, epsilon=50)


def _odd_calls() -> dict[str, Any]:
    """Calls of five people, of whom two are missing, in types that one odd value of the
    first person makes of them all.
    """
    whole = np.array([[[0, 0], [0, 1], [-1, -1], [-1, 1], [1, 1]]], np.int8)
    reals = whole.astype(float)
    reals[0, 0, 0] = np.nan
    objects = whole.astype(object)
    objects[0, 0] = [None, Fraction(1, 2)]
    texts = whole.astype(object)
    texts[0, 0, 0] = "odd"
    large = whole.astype(np.int64)
    large[0, 0] = 1 << 40
    masked = np.ma.masked_array(np.where(whole < 0, 0, whole), whole < 0)
    masked[0, 0] = np.ma.masked
    gone = whole.copy()
    gone[0, 0] = -1
    complexes = whole.astype(complex)
    complexes[0, 0, 0] = 1j
    return {
        "integers": gone,
        "reals": reals,
        "objects": objects,
        "texts": texts.astype(str),
        "large": large,
        "masked": masked,
        "complex": complexes,
        "durations": np.where(whole == 0, whole, whole).astype("m8[s]"),
    }


@pytest.mark.parametrize("kind", _odd_calls())
def test_one_persons_odd_allele_leaves_the_others_as_they_are(kind: str) -> None:
    calls = _odd_calls()[kind]
    found = Calls(calls).count(Panel.of(["rs1"]), Roster.of(None, list("abcde")))
    first = 1 if kind == "durations" else 0  # there nobody is odd
    assert planes(found) == [[first, 1, 1]]
