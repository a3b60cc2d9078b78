"""PATE: accuracy of the student and answered queries against ε, beside the settings of
TF-Privacy's research on the same votes; 250 teachers on 60,000 images.
"""

from __future__ import annotations

import resource
import time
from dataclasses import dataclass
from statistics import mean
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from bench.harness import Goal, Report, Row, at_least, at_most, versions
from bench.voting.images import images
from dither.learn import pate
from dither.learn.pate.teachers import Crew, assigned
from dither.learn.pate.votes import counted
from dither.learn.pate.worker import Setup
from dither.privacy import gaussian_mu

EPSILONS = (0.5, 1.0, 2.0, 4.0, 8.0)
DELTA = 1e-5
REPEATS = 5
MINE, EVERY = "dither", "dither, all answered"
OTHER, PLAIN = "TF-Privacy's settings", "no privacy"
NOISE, FEWEST, PART = 50.0, 40, 0.5
"""How many answers are asked for at an ε: as many as noise of 50 votes allows, and 40 at
least. The threshold is half of the teachers."""
TF = {"threshold": 200, "sigma_threshold": 150.0, "sigma": 40.0}
TF_QUERIES = 640
CLASSES = tuple(range(10))
NOTES = (
    "Images: ten classes of three strokes, shifted, bent and noisy, 8 × 8 pixels, made by "
    "the benchmark: 60,000 private ones in 250 teachers (support vectors), 2,000 public "
    "queries, 5,000 to test. Digits: those of scikit-learn, 1,200 private ones in 240 "
    "teachers of about five rows (nearest neighbour), 300 queries, 297 to test.",
    "δ = 1e-5. Votes are made once and are the same for both; noise is drawn five times, "
    "and figures are means. Students are support vectors.",
    "dither: Confident-GNMax by a rule that was fixed beforehand: threshold at half of the "
    "teachers, a tenth of μ² for the tests, as many answers as noise of 50 votes allows "
    "(40 at least), twice as many queries. All answered (a column that was "
    "added after a first look): GNMax on as many queries as that has answers.",
    "TF-Privacy's settings: those of its research for MNIST (threshold 200, σ₁ = 150, "
    "σ₂ = 40, 640 queries), with as many answers as the same ε pays for by the same "
    "data-independent account; where the tests alone cost more, nothing is answered. Its "
    "settings for SVHN (threshold 300) need more than 300 teachers. On digits the "
    "threshold is scaled to 240 teachers: 192.",
)


@dataclass(frozen=True)
class Set:
    """Private records, public queries, records to test on, and the kind of a model."""

    name: str
    private: tuple[NDArray[Any], NDArray[Any]]
    public: tuple[NDArray[Any], NDArray[Any]]
    tested: tuple[NDArray[Any], NDArray[Any]]
    model: Any
    student: Any
    teachers: int
    threshold: float


def sets() -> tuple[Set, Set]:
    made = [
        images(count, seed) for count, seed in ((60_000, 10), (2_000, 11), (5_000, 12))
    ]
    inputs, labels = load_digits(return_X_y=True)
    order = np.random.default_rng(3).permutation(len(labels))  # a public split
    inputs, labels = inputs[order] / 16, labels[order]
    parts = [slice(0, 1200), slice(1200, 1500), slice(1500, None)]
    cut = [(inputs[one], labels[one]) for one in parts]
    svm, near = SVC(C=10.0), KNeighborsClassifier(1)
    return (
        Set(
            "images", made[0], made[1], made[2], svm, SVC(C=10.0), 250, TF["threshold"]
        ),
        Set("digits", cut[0], cut[1], cut[2], near, SVC(C=10.0), 240, 192),
    )


def votes_of(one: Set) -> tuple[NDArray[np.int16], dict[str, float]]:
    """What teachers vote, and how long they took."""
    before, began = _spent(), time.monotonic()
    setup = Setup(one.model, one.public[0], CLASSES, 600)
    with Crew(setup, 2) as crew:
        of = assigned(None, len(one.private[1]), one.teachers)
        found = crew.votes(*one.private, of, one.teachers, lambda _done, _all: None)
    took = {"CPU-seconds": _spent() - before, "seconds": time.monotonic() - began}
    return found, took


def _spent() -> float:
    """CPU time of this process and of those that it started and waited for."""
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    used = [resource.getrusage(kind) for kind in kinds]
    return sum(one.ru_utime + one.ru_stime for one in used)


def mine(one: Set, epsilon: float) -> tuple[pate.ConfidentGNMax, int]:
    """Settings at an ε, by public figures alone, and how many queries are asked."""
    allowed = 0.9 * gaussian_mu(epsilon, DELTA) ** 2 * NOISE**2 / 2
    queries = min(len(one.public[1]), 2 * max(FEWEST, int(allowed)))
    answers = min(queries, max(FEWEST, int(allowed)))
    return pate.ConfidentGNMax(threshold=PART * one.teachers, answers=answers), queries


def every(one: Set, epsilon: float) -> tuple[pate.GNMax, int]:
    """GNMax on as many queries, all of them answered."""
    voting, _ = mine(one, epsilon)
    return pate.GNMax(), voting.answers


def peer(one: Set, epsilon: float) -> tuple[pate.ConfidentGNMax | None, int]:
    """The settings of the research, with the answers that the same ε pays for."""
    queries = min(TF_QUERIES, len(one.public[1]))
    left = gaussian_mu(epsilon, DELTA) ** 2 - queries / TF["sigma_threshold"] ** 2
    answers = min(queries, int(left * TF["sigma"] ** 2 / 2))
    if answers < 1:
        return None, queries
    return pate.ConfidentGNMax(
        threshold=one.threshold,
        answers=answers,
        sigma_threshold=TF["sigma_threshold"],
        sigma=TF["sigma"],
    ), queries


def measured(
    one: Set, votes: NDArray[np.int16], voting: Any, queries: int, epsilon: float
) -> dict[str, float]:
    """Answers, how many of them are right, and the accuracy of the student."""
    if voting is None:
        return {"answered": 0.0, "student": float("nan"), "labels": float("nan")}
    cost: dict[str, Any] = {} if voting.settled else {"epsilon": epsilon}
    seen: dict[str, list[float]] = {"answered": [], "labels": [], "student": []}
    for _ in range(REPEATS):
        found = pate.label_votes(
            votes[:, :queries],
            classes=CLASSES,
            teachers=one.teachers,
            queries=one.public[0][:queries],
            voting=voting,
            delta=DELTA,
            **cost,
        )
        truth = one.public[1][:queries][found.answered]
        seen["answered"].append(len(found.labels))
        if len(set(found.labels.tolist())) > 1:
            seen["labels"].append(float((found.labels == truth).mean()))
            seen["student"].append(_score(found.student(one.student), one))
    return {
        name: mean(values) if values else float("nan") for name, values in seen.items()
    }


def _score(model: Any, one: Set) -> float:
    return float(model.score(*one.tested))


def plain(one: Set, votes: NDArray[np.int16]) -> dict[str, float]:
    """Without privacy: one teacher, all teachers, and a student with true labels."""
    truth = one.public[1]
    winners = counted(votes, len(CLASSES)).argmax(axis=1)
    taught = one.student.fit(*one.public)
    return {
        "one teacher": float((votes == truth).mean()),
        "all teachers": float((winners == truth).mean()),
        "student": _score(taught, one),
    }


def of_set(one: Set) -> list[Row]:
    votes, took = votes_of(one)
    rows = [
        Row(one.name, MINE, f"teaching, {name}", value) for name, value in took.items()
    ]
    rows.append(Row(one.name, MINE, "teachers", float(one.teachers)))
    figures = plain(one, votes).items()
    rows += [Row(one.name, PLAIN, name, value) for name, value in figures]
    for epsilon in EPSILONS:
        for system, settings in ((MINE, mine), (EVERY, every), (OTHER, peer)):
            voting, queries = settings(one, epsilon)
            found = measured(one, votes, voting, queries, epsilon)
            case = f"{one.name}, ε = {epsilon:g}"
            rows.append(Row(case, system, "queries", float(queries)))
            rows += [
                Row(case, system, name, _known(value)) for name, value in found.items()
            ]
    return rows


def _known(value: float) -> float | None:
    return None if np.isnan(value) else value


def goals(rows: list[Row]) -> tuple[Goal, ...]:
    held = {(row.case, row.system, row.metric): row.value for row in rows}

    def gain(case: str) -> float | None:
        ours, theirs = (held[case, one, "student"] for one in (MINE, OTHER))
        if ours is None:
            return None
        return ours - (theirs or 0.0)

    ceiling = held["images", PLAIN, "student"]
    best = held["images, ε = 8", MINE, "student"]
    distance = None if ceiling is None or best is None else ceiling - best
    return (
        at_most(
            "seconds to teach 250 teachers on 60,000 images, two processes",
            300,
            held["images", MINE, "teaching, seconds"],
        ),
        at_least(
            "images, ε = 1: student's gain over TF-Privacy's settings",
            0,
            gain("images, ε = 1"),
        ),
        at_least(
            "images, ε = 2: student's gain over TF-Privacy's settings",
            0,
            gain("images, ε = 2"),
        ),
        at_most("images, ε = 8: student below one with true labels", 0.05, distance),
    )


def run() -> Report:
    rows = [row for one in sets() for row in of_set(one)]
    used = versions("scikit-learn", "numpy")
    return Report(tuple(rows), goals(rows), NOTES, used)
