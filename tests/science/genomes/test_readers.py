"""Files written here are read as plain numpy and cyvcf2 read them."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import cyvcf2
import numpy as np
import pytest
import zarr

from dither import ArgumentError
from dither.science import genomes
from dither.science.genomes.clusters import Roster
from dither.science.genomes.counts import Counts
from dither.science.genomes.matrix import Calls, Matrix
from dither.science.genomes.panel import Panel
from dither.science.genomes.reading import genotypes
from tests.science.genomes.cohort import cohort, names

PEOPLE, VARIANTS = 37, 50
IDS = [f"s{number}" for number in range(PEOPLE)]
TABLE = cohort(PEOPLE, VARIANTS, missing=0.2, seed=3)
CLUSTERS = {name: "ab"[number % 2] for number, name in enumerate(IDS) if number % 5}
ROSTER = Roster.of(CLUSTERS, None)


def same(one: Counts, two: Counts) -> bool:
    pairs = ((one.none, two.none), (one.one, two.one), (one.two, two.two))
    return all((a == b).all() for a, b in pairs)


def expected(panel: Panel) -> Counts:
    roster = Roster.of(CLUSTERS, IDS)
    return Matrix(TABLE, names(VARIANTS)).count(panel, roster)


def write_bed(path: Path, table: Any) -> None:
    """Codes as PLINK has them: 3 - copies of A1, and a missing call is 1."""
    path.with_suffix(".fam").write_text(
        "".join(f"f {name} 0 0 0 -9\n" for name in IDS), encoding="utf-8"
    )
    path.with_suffix(".bim").write_text(
        "".join(f"1 rs{at} 0 {100 + at} G A\n" for at in range(table.shape[1])),
        encoding="utf-8",
    )
    codes = np.select([table == 0, table == 1, table == 2], [3, 2, 0], 1)
    rows = bytearray(b"\x6c\x1b\x01")
    for column in codes.T:
        for start in range(0, len(column), 4):
            four = enumerate(column[start : start + 4])
            rows.append(sum(int(code) << (2 * at) for at, code in four))
    path.with_suffix(".bed").write_bytes(bytes(rows))


HEAD = (
    "##fileformat=VCFv4.2\n"
    '##FORMAT=<ID=GT,Number=1,Type=String,Description="Genotype">\n'
    '##FORMAT=<ID=DP,Number=1,Type=Integer,Description="Depth">\n'
    "##contig=<ID=1>\n##contig=<ID=X>\n"
)


def write_vcf(path: Path, records: list[str], people: list[str] = IDS) -> None:
    """Text, packed text, or BCF as cyvcf2 writes it."""
    if path.suffix == ".bcf":
        write_vcf(path.with_suffix(".vcf"), records, people)
        source = cyvcf2.VCF(str(path.with_suffix(".vcf")))
        written = cyvcf2.Writer(str(path), source, "wb")
        for one in source:
            written.write_record(one)
        written.close()
        return
    columns = "\t".join(
        [
            "#CHROM",
            "POS",
            "ID",
            "REF",
            "ALT",
            "QUAL",
            "FILTER",
            "INFO",
            "FORMAT",
            *people,
        ]
    )
    text = HEAD + columns + "\n" + "".join(f"{one}\n" for one in records)
    if path.suffix.casefold() == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text, encoding="utf-8")


def record(at: int, column: Any) -> str:
    """Every other call phased, and missing ones in all their spellings."""
    words = []
    for person, copies in enumerate(column.tolist()):
        bar = "|" if person % 2 else "/"
        whole = {0: ("0", "0"), 1: ("0", "1"), 2: ("1", "1")}
        gone = ((".", "."), (".", "1"), ("0", "."))[person % 3]
        words.append(bar.join(whole.get(copies, gone)) + ":7")
    return "\t".join(
        ["1", str(100 + at), f"rs{at}", "A", "G", ".", ".", ".", "GT:DP", *words]
    )


RECORDS = [record(at, TABLE[:, at]) for at in range(VARIANTS)]
PANEL = Panel.of(["rs7", "rs3", "nowhere", ("1", 105, "A", "G"), "rs49"])
SAME = Panel.of(["rs7", "rs3", "nowhere", "rs5", "rs49"])


def test_plink_files_are_counted_as_the_matrix_is(tmp_path: Path) -> None:
    write_bed(tmp_path / "a.bed", TABLE)
    found = genotypes(tmp_path / "a.bed").count(PANEL, ROSTER)
    assert same(found, expected(SAME))


def test_plink_counts_the_other_allele_where_that_is_named(tmp_path: Path) -> None:
    write_bed(tmp_path / "a.bed", TABLE)
    panel = Panel.of([("1", 105, "A", "G"), ("1", 106, "G", "A")])
    found = genotypes(str(tmp_path / "a.bim")).count(panel, ROSTER)
    plain = expected(Panel.of(["rs5", "rs6"]))
    assert (found.two[:, 0] == plain.two[:, 0]).all()
    assert (found.two[:, 1] == plain.none[:, 1]).all()
    assert (found.none[:, 1] == plain.two[:, 1]).all()


def test_a_plink_file_that_breaks_off_has_missing_calls(tmp_path: Path) -> None:
    write_bed(tmp_path / "a.bed", TABLE)
    file = tmp_path / "a.bed"
    file.write_bytes(file.read_bytes()[: 3 + 10 * 20 + 4])
    found = genotypes(file).count(Panel.of(["rs3", "rs40"]), ROSTER)
    assert found.called[:, 0].sum() > 0
    assert found.called[:, 1].sum() == 0


@pytest.mark.parametrize("name", ["a.vcf", "a.vcf.gz", "a.bcf"])
def test_vcf_files_are_counted_as_the_matrix_is(name: str, tmp_path: Path) -> None:
    write_vcf(tmp_path / name, RECORDS)
    found = genotypes(tmp_path / name).count(PANEL, ROSTER)
    assert same(found, expected(SAME))


def test_counts_are_those_of_cyvcf2(tmp_path: Path) -> None:
    write_vcf(tmp_path / "a.vcf", RECORDS)
    roster = Roster.of(None, IDS)
    found = genotypes(tmp_path / "a.vcf").count(Panel.of(names(VARIANTS)), roster)
    for at, one in enumerate(cyvcf2.VCF(str(tmp_path / "a.vcf"), strict_gt=True)):
        assert found.none[0, at] == one.num_hom_ref
        assert found.one[0, at] == one.num_het
        assert found.two[0, at] == one.num_hom_alt
        assert found.called[0, at] == one.num_called


ODD = [
    "1\t5\trsM\tA\tG,T\t.\t.\t.\tGT\t0/1\t1/2\t2|2\t./2",
    "1\t6\trsH\tA\tG\t.\t.\t.\tGT\t1\t.\t0\t1/1",
    "1\t7\trsN\tA\tG\t.\t.\t.\tDP\t1\t2\t3\t4",
    "1\t8\trsD\tA\tG\t.\t.\t.\tGT\t0/1\t0/1\t0/1\t0/1",
    "1\t8\trsD\tA\tG\t.\t.\t.\tGT\t1/1\t1/1\t1/1\t1/1",
    "1\t9\trsR\tA\t.\t.\t.\t.\tGT\t0/0\t0/0\t0/0\t0/0",
]


@pytest.mark.parametrize("name", ["odd.vcf", "odd.bcf"])
def test_odd_records_have_a_fixed_treatment(name: str, tmp_path: Path) -> None:
    """Several alternatives, calls of one allele, no calls at all, a record twice, none
    but the reference: (people without, with one and with two copies).
    """
    write_vcf(tmp_path / name, ODD, ["a", "b", "c", "d"])
    entries = {
        "rsM": [0, 1, 2],
        "1:5:A:T": [1, 1, 1],
        "1:5:A:G": [1, 2, 0],
        "rsH": [0, 0, 1],
        "rsN": [0, 0, 0],
        "rsD": [0, 4, 0],
        "rsR": [4, 0, 0],
    }
    roster = Roster.of(None, ["a", "b", "c", "d"])
    found = genotypes(tmp_path / name).count(Panel.of(list(entries)), roster)
    planes = np.stack([found.none, found.one, found.two])[:, 0]
    assert dict(zip(entries, planes.T.tolist(), strict=True)) == entries


@pytest.mark.parametrize("name", ["a.vcf.gz", "a.vcf"])
def test_a_vcf_that_is_none_is_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(b"hello\nworld")
    with pytest.raises(ArgumentError, match="does not begin like a VCF"):
        genomes.frequencies(tmp_path / name, panel=["rs1"], samples=9, rho=9)


@pytest.mark.parametrize("spelled", ["1:105:A:G", "chr1:105:A:G", "Chr1:105:A:G"])
def test_chromosomes_are_spelled_either_way(spelled: str, tmp_path: Path) -> None:
    roster = Roster.of(CLUSTERS, None)
    plain = expected(Panel.of(["rs5"]))
    write_vcf(tmp_path / "a.vcf", RECORDS)
    write_vcf(tmp_path / "b.vcf", [f"chr{one}" for one in RECORDS])
    for name in ("a.vcf", "b.vcf"):
        found = genotypes(tmp_path / name).count(Panel.of([spelled]), roster)
        assert same(found, plain)


def texts(values: Any) -> Any:
    return np.array(values, np.dtypes.StringDType())


def write_zarr(path: Path, form: Any = 2, **left_out: bool) -> Any:
    group = zarr.create_group(store=str(path), zarr_format=form)
    calls = np.full((VARIANTS, PEOPLE, 2), -1, np.int8)
    for copies, pair in enumerate(((0, 0), (1, 0), (1, 1))):
        calls[copies == TABLE.T] = pair
    half = np.argwhere(TABLE.T < 0)[::2]
    calls[half[:, 0], half[:, 1], 0] = 1
    arrays: dict[str, Any] = {
        "call_genotype": calls,
        "sample_id": texts(IDS),
        "variant_id": texts(names(VARIANTS)),
        "variant_position": np.arange(100, 100 + VARIANTS),
        "variant_contig": np.zeros(VARIANTS, np.int8),
        "contig_id": texts(["1"]),
        "variant_allele": texts([["A", "G", ""]] * VARIANTS),
    }
    for name, data in arrays.items():
        if name not in left_out:
            chunks = (8, 10, 2) if name == "call_genotype" else data.shape
            group.create_array(name, data=data, chunks=chunks)
    return group


@pytest.mark.parametrize("form", [2, 3])
def test_vcf_zarr_is_counted_as_the_matrix_is(form: int, tmp_path: Path) -> None:
    group = write_zarr(tmp_path / "a.vcz", form)
    for data in (tmp_path / "a.vcz", group):
        assert same(genotypes(data).count(PANEL, ROSTER), expected(SAME))


def test_vcf_zarr_with_names_only(tmp_path: Path) -> None:
    write_zarr(
        tmp_path / "a.zarr", variant_allele=True, variant_contig=True, contig_id=True
    )
    found = genotypes(tmp_path / "a.zarr").count(SAME, ROSTER)
    assert same(found, expected(SAME))


def test_calls_in_memory_are_counted_as_the_matrix_is(tmp_path: Path) -> None:
    calls = write_zarr(tmp_path / "a.vcz")["call_genotype"][:]
    roster = Roster.of(CLUSTERS, IDS)
    found = Calls(calls, names(VARIANTS)).count(SAME, roster)
    assert same(found, expected(SAME))


@pytest.mark.parametrize(
    "name", ["a.bed", "a.vcf", "a.vcz", "a.zarr", "a.bcf", "folder/a.vcf.gz"]
)
def test_a_file_that_is_not_there_is_refused_before_the_charge(
    name: str, tmp_path: Path
) -> None:
    with pytest.raises(ArgumentError, match="does not exist"):
        genomes.frequencies(tmp_path / name, panel=["rs1"], samples=9, rho=9)


def test_files_of_another_kind_are_refused(tmp_path: Path) -> None:
    write_bed(tmp_path / "a.bed", TABLE)
    (tmp_path / "a.bed").write_bytes(b"\x6c\x1b\x00")
    zarr.create_group(store=str(tmp_path / "b.zarr"))
    (tmp_path / "c").mkdir()
    for name, words in (
        ("a.bed", "make-bed"),
        ("b.zarr", "lacks 'call_genotype'"),
        ("c", "not a zarr"),
    ):
        with pytest.raises(ArgumentError, match=words):
            genomes.frequencies(tmp_path / name, panel=["rs1"], samples=9, rho=9)
