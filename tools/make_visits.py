"""Write the synthetic hospital visits that ship with Dither.

    python tools/make_visits.py > src/dither/data/visits.csv

No person stands behind any row. The same script gives the same bytes on every machine.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from math import log
from random import Random  # allowed: synthetic demo data
from typing import TextIO

PATIENTS = 1_750
COLUMNS = ("patient_id", "ward", "age", "days", "cost")

# name, share of patients, mean age, spread of age, mean stay in days, cost of a day
WARDS = (
    ("cardiology", 0.20, 66.0, 13.0, 5.0, 940.0),
    ("emergency", 0.30, 44.0, 24.0, 1.4, 710.0),
    ("maternity", 0.16, 31.0, 5.5, 2.6, 620.0),
    ("oncology", 0.12, 61.0, 14.0, 6.5, 1310.0),
    ("surgery", 0.22, 52.0, 18.0, 4.1, 1120.0),
)

# Only Random.random() is promised to stay the same across Python versions, so every other draw is built on it.


def around(rng: Random, mean: float, spread: float) -> float:
    """A bell-shaped draw: twelve uniforms have variance one."""
    return mean + spread * (sum(rng.random() for _ in range(12)) - 6)


def pick_ward(rng: Random) -> tuple[str, float, float, float, float, float]:
    left = rng.random()
    for ward in WARDS:
        left -= ward[1]
        if left < 0:
            return ward
    return WARDS[-1]


def count_visits(rng: Random) -> int:
    """Most come once, a few come often."""
    return 1 + min(14, int(-0.92 * log(1 - rng.random()) * (3 if rng.random() < 0.12 else 1)))


def visits() -> Iterator[tuple[str, str, int, int, int]]:
    rng = Random(20_240_229)  # allowed: synthetic demo data
    for number in range(1, PATIENTS + 1):
        home = pick_ward(rng)
        age = min(104, max(0, round(around(rng, home[2], home[3]))))
        for _ in range(count_visits(rng)):
            ward = home if rng.random() < 0.7 or home[0] == "maternity" else pick_ward(rng)
            if ward[0] == "maternity" and home[0] != "maternity":
                ward = home
            days = 1 + min(59, int(-ward[4] * log(1 - rng.random())))
            cost = round(days * ward[5] * (0.75 + 0.5 * rng.random()) + 180)
            yield f"P{number:04d}", ward[0], age, days, cost


def write(target: TextIO) -> None:
    table = csv.writer(target, lineterminator="\n")
    table.writerow(COLUMNS)
    table.writerows(visits())


if __name__ == "__main__":
    write(sys.stdout)
