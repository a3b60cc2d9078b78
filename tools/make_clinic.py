"""Write the synthetic clinic that ships with Dither: patients, their visits and
diagnoses, and public regions.

    python tools/make_clinic.py src/dither/data/clinic

No person stands behind any row. The same script gives the same rows on every machine.
"""

from __future__ import annotations

import csv
import io
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from datetime import date, timedelta
from math import log
from pathlib import Path
from random import Random  # allowed: synthetic demo data
from statistics import median
from typing import NamedTuple

import duckdb

PATIENTS = 25_000
FIRST = date(2023, 1, 1)
DAYS = 731

# Only Random.random() is promised to stay the same across Python versions, so every
# other draw is built on it.


class Ward(NamedTuple):
    """A ward: its share of patients, ages, length of stay in days, cost of a day,
    winter's extra, diagnoses.
    """

    name: str
    share: float
    age: float
    spread: float
    stay: float
    rate: float
    winter: float
    codes: str


WARDS = (
    Ward(
        "cardiology",
        0.17,
        66,
        13,
        4.5,
        940,
        0.2,
        "I25 I48 I50 I21 I10 I20 I47 I35 I42 I49",
    ),
    Ward(
        "emergency",
        0.29,
        43,
        24,
        0.6,
        710,
        0.5,
        "R07 S61 R10 J06 S93 R55 T78 S06 A09 R51 N39 S52",
    ),
    Ward("maternity", 0.13, 31, 5.5, 2.2, 620, 0.0, "O80 O82 O42 O48 O70 O13 O24 O60"),
    Ward(
        "oncology",
        0.10,
        62,
        13,
        6.0,
        1310,
        0.0,
        "C50 C34 C18 C61 C25 C20 C67 C43 C56 C91",
    ),
    Ward("paediatrics", 0.11, 7, 4.5, 1.5, 560, 0.7, "J20 J21 A08 J45 R56 J18 H66 R50"),
    Ward(
        "surgery",
        0.20,
        52,
        18,
        3.6,
        1120,
        0.0,
        "K80 M17 K35 S72 K40 M16 K57 M51 K43 I83",
    ),
)
ALSO = ("I10", "E11", "E78", "J44", "N18", "F32", "E66", "Z95", "D64", "K21")
"""What patients of any ward may have besides."""

# name, country, beds, share of patients
REGIONS = (
    ("Aldermoor", "Norland", 410, 0.17),
    ("Brackwater", "Norland", 265, 0.10),
    ("Cairnholm", "Norland", 150, 0.06),
    ("Dunmere", "Norland", 90, 0.04),
    ("Eastfold", "Estmark", 380, 0.15),
    ("Fennick", "Estmark", 210, 0.09),
    ("Grayling", "Estmark", 175, 0.07),
    ("Hollowby", "Estmark", 60, 0.02),
    ("Innermouth", "Sudria", 330, 0.13),
    ("Juniper Bay", "Sudria", 240, 0.09),
    ("Kettlemarsh", "Sudria", 120, 0.05),
    ("Lowen", "Sudria", 75, 0.03),
)


def around(rng: Random, mean: float, spread: float) -> float:
    """A bell-shaped draw: twelve uniforms have variance one."""
    return mean + spread * (sum(rng.random() for _ in range(12)) - 6)


def pick(rng: Random, shares: Sequence[float]) -> int:
    """A place, each with its share."""
    left = rng.random() * sum(shares)
    for place, share in enumerate(shares):
        left -= share
        if left < 0:
            return place
    return len(shares) - 1


def zipf(rng: Random, items: Sequence[str]) -> str:
    """The first items are far more common than the last."""
    return items[pick(rng, [1 / (place + 1) ** 1.1 for place in range(len(items))])]


def waited(rng: Random, mean: float) -> int:
    return int(-mean * log(1 - rng.random()))


def count_visits(rng: Random, age: int) -> int:
    """Half come once or twice; the chronically ill come often, and a few of them every
    week or two.
    """
    if rng.random() >= (0.085 if age >= 50 else 0.03):
        return 1 + waited(rng, 1.45)
    return min(90, int(4.5 / (1 - rng.random()) ** 0.9))


def day(rng: Random, ward: Ward) -> date:
    """Fewer planned stays begin at weekends, and some wards are fuller in winter."""
    while True:
        found = FIRST + timedelta(days=int(DAYS * rng.random()))
        season = 1 + ward.winter * (1 if found.month in (11, 12, 1, 2) else -0.3)
        weekend = (
            0.35
            if found.weekday() >= 5
            and ward.name in ("cardiology", "oncology", "surgery")
            else 1
        )
        if rng.random() * 1.8 < season * weekend:
            return found


class Patient(NamedTuple):
    """A row of patients, and the ward that suits them."""

    id: str
    sex: str
    born: int
    age: int
    region: str
    home: Ward


class Visit(NamedTuple):
    """A row of visits before it has a number."""

    day: date
    patient: str
    ward: str
    age: int
    days: int
    cost: str


def patient(rng: Random, number: int) -> Patient:
    home = WARDS[pick(rng, [ward.share for ward in WARDS])]
    age = min(104, max(1, round(around(rng, home.age, home.spread))))
    sex = "F" if home.name == "maternity" or rng.random() < 0.5 else "M"
    region = (
        ""
        if rng.random() < 0.01
        else REGIONS[pick(rng, [one[3] for one in REGIONS])][0]
    )
    return Patient(f"P{number:05d}", sex, 2024 - age, age, region, home)


def visit(rng: Random, who: Patient) -> Visit:
    ward = who.home
    if rng.random() >= 0.72:
        other = WARDS[
            pick(
                rng,
                [
                    0 if one.name in ("maternity", "paediatrics") else one.share
                    for one in WARDS
                ],
            )
        ]
        ward = other if who.age >= 16 else ward
    when = day(rng, ward)
    days = min(60, waited(rng, ward.stay) + (0 if ward.name == "emergency" else 1))
    cost = (
        (days + 0.3)
        * ward.rate
        * (0.75 + 0.5 * rng.random())
        * (3 if rng.random() < 0.012 else 1)
    )
    named = who.id if rng.random() >= 0.002 else ""
    return Visit(
        when,
        named,
        ward.name,
        when.year - who.born,
        days,
        "" if rng.random() < 0.005 else str(round(cost)),
    )


def codes(rng: Random, ward: str) -> list[str]:
    """One diagnosis of the ward, and perhaps others."""
    own = next(one for one in WARDS if one.name == ward).codes.split()
    found = [zipf(rng, own)]
    while rng.random() < 0.22:
        found.append(zipf(rng, ALSO if rng.random() < 0.7 else own))
    return list(dict.fromkeys(found))


def tables() -> dict[str, list[tuple[object, ...]]]:
    """All rows of all tables, under a line of names."""
    rng = Random(20_241_231)  # allowed: synthetic demo data
    people = [patient(rng, number) for number in range(1, PATIENTS + 1)]
    visits = sorted(
        visit(rng, who) for who in people for _ in range(count_visits(rng, who.age))
    )
    numbered = list(enumerate(visits, start=1))
    return {
        "patients": [
            ("patient_id", "sex", "born", "age", "region"),
            *(who[:5] for who in people),
        ],
        "visits": [
            ("visit_id", "patient_id", "day", "ward", "age", "days", "cost"),
            *(
                (number, one.patient, one.day, one.ward, one.age, one.days, one.cost)
                for number, one in numbered
            ),
        ],
        "diagnoses": [
            ("visit_id", "code"),
            *(
                (number, code)
                for number, one in numbered
                for code in codes(rng, one.ward)
            ),
        ],
        "regions": [("region", "country", "beds"), *(one[:3] for one in REGIONS)],
    }


def as_csv(rows: list[tuple[object, ...]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


CATALOGUE = """\
# A synthetic clinic. No person stands behind any row; README.md says how it was made.
name = "clinic"
unit = "patient_id"
population = 25000
version = "1"

[budget]
epsilon = 4.0
delta = 1e-8

[tables.patients]
source = "patients.parquet"
rows = 1   # one line for each patient

[tables.patients.columns]
patient_id = "text"
sex = { type = "text", keys = ["F", "M"], by = "the clinic, from its registration form" }
born = { type = "integer", low = 1914, high = 2024, by = "the clinic: nobody is older than 110" }
age = { type = "integer", low = 0, high = 110, by = "the clinic: nobody is older than 110" }
region = { type = "text", keys_from = "regions.region", by = "the public list of regions" }

[tables.visits]
source = "visits.parquet"
rows = 90   # the clinic: from the 91st stay in two years on, a patient is cared for elsewhere

[tables.visits.columns]
visit_id = "integer"
patient_id = "text"
day = { type = "date", low = 2023-01-01, high = 2024-12-31, by = "the clinic: the years of this extract" }
ward = { type = "text", keys = [WARDS], by = "the clinic's floor plan" }
age = { type = "integer", low = 0, high = 110, by = "the clinic: nobody is older than 110" }
days = { type = "integer", low = 0, high = 60, by = "the clinic: longer stays move to a nursing home" }
cost = { type = "integer", low = 0, high = 20000, by = "the clinic's price list" }

[tables.diagnoses]
source = "diagnoses.parquet"
link = { column = "visit_id", to = "visits.visit_id" }
rows = 180   # the clinic: two diagnoses a visit are coded on average, for nobody more

[tables.diagnoses.columns]
visit_id = "integer"
code = "text"

[tables.regions]
source = "regions.csv"
public = true

[tables.regions.columns]
region = "text"
country = { type = "text", keys = [COUNTRIES] }
beds = { type = "integer", low = 0, high = 1000 }
"""

CARD = """\
# Clinic: a data card

**Synthetic.** A script drew every row, and no person stands behind any of them. It is there so that `dither demo`, the
README and the documentation have something realistic to ask about without a download. Dedicated to the public domain
(CC0 1.0).

| table | rows | columns |
|---|---|---|
| `patients` | {patients:,} | `patient_id`, `sex`, `born` (year), `age` (in 2024), `region` |
| `visits` | {visits:,} | `visit_id`, `patient_id`, `day`, `ward`, `age` (in that year), `days` (of the stay), `cost` |
| `diagnoses` | {diagnoses:,} | `visit_id`, `code` (one of {codes}, like those of the ICD) |
| `regions` | {regions} | `region`, `country`, `beds`; public |

`clinic.toml` declares them: the unit is a patient with at most 90 visits and {coded} diagnoses (nobody has more than
{most} and {busiest}), diagnoses belong to the patient of their visit, wards and regions are public keys, codes are
private ones. The private tables are Parquet files.

**How it was made.** `tools/make_clinic.py` in the repository writes the same rows again. Each patient has a ward that
suits them, an age that suits the ward, and a heavy-tailed number of visits in 2023 and 2024: half of the patients have
at most {median}, one in a hundred at least {high}, {often} at least 50, and nobody more than {most}. Emergency and
paediatrics are fuller in winter, planned stays seldom begin at weekends, and costs follow the ward and the length of
stay. Codes follow Zipf's law within a ward, and any patient may have common ones besides.

**Quirks, on purpose.** {ownerless} visits have no `patient_id` and {costless} no `cost`; {regionless} patients have no
`region`; {above} costs are above their declared bound. An age is the difference of two years and may be one too high.
Regions and countries do not exist.

**Not for** medical research: nothing here was fitted to real data.
"""


def card(rows: dict[str, list[tuple[object, ...]]]) -> str:
    visits, patients = rows["visits"][1:], rows["patients"][1:]
    counts = sorted(Counter(row[1] for row in visits if row[1]).values())
    owner = {row[0]: row[1] for row in visits}
    coded = Counter(owner[row[0]] for row in rows["diagnoses"][1:] if owner[row[0]])
    return CARD.format(
        coded=180,
        busiest=max(coded.values()),
        **{name: len(found) - 1 for name, found in rows.items()},
        codes=len({row[1] for row in rows["diagnoses"][1:]}),
        median=int(median(counts)),
        high=counts[-(len(counts) // 100)],
        most=counts[-1],
        ownerless=sum(not row[1] for row in visits),
        costless=sum(not row[6] for row in visits),
        regionless=sum(not row[4] for row in patients),
        above=sum(int(str(row[6] or 0)) > 20_000 for row in visits),
        often=sum(count >= 50 for count in counts),
    )


def quoted(names: list[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def texts(rows: dict[str, list[tuple[object, ...]]]) -> dict[str, str]:
    """The text of every file that is one."""
    catalogue = CATALOGUE.replace("WARDS", quoted([ward.name for ward in WARDS]))
    catalogue = catalogue.replace(
        "COUNTRIES", quoted(sorted({one[1] for one in REGIONS}))
    )
    return {
        "regions.csv": as_csv(rows["regions"]),
        "clinic.toml": catalogue,
        "README.md": card(rows),
    }


TYPES = {
    "visit_id": "INTEGER",
    "born": "SMALLINT",
    "age": "SMALLINT",
    "days": "SMALLINT",
    "cost": "INTEGER",
}
PRIVATE = ("patients", "visits", "diagnoses")


def parquet(rows: list[tuple[object, ...]], target: Path) -> None:
    """A file of typed columns; an empty text is a missing value."""
    names = [str(name) for name in rows[0]]
    types = {
        name: TYPES.get(name, "DATE" if name == "day" else "VARCHAR") for name in names
    }
    with tempfile.TemporaryDirectory() as folder, duckdb.connect() as connection:
        source = Path(folder, "rows.csv")
        source.write_text(as_csv(rows), encoding="utf-8")
        read = (
            f"SELECT * FROM read_csv('{source}', header = true, nullstr = '', "
            f"columns = {types})"
        )
        connection.execute("SET threads = 1")
        connection.execute(
            f"COPY ({read}) TO '{target}' (FORMAT parquet, COMPRESSION zstd, "
            "COMPRESSION_LEVEL 19)"
        )


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    rows = tables()
    for name, text in texts(rows).items():
        (folder / name).write_bytes(text.encode())
    for name in PRIVATE:
        parquet(rows[name], folder / f"{name}.parquet")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
