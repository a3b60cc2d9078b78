"""Draws the pictures of docs/ideas: `python tools/idea_pictures.py` writes
docs/pictures/idea_*.svg. Curves are the library's own figures; charts are of real runs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist, median

import networkx as nx
import numpy as np

import dither
from dither import explain, local
from dither.explain.picture import Axis, Panel, document, logarithmic, percents
from dither.science import graphs
from tools.pictures import FOLDER, on_paper

SIZE = (460, 400)
BOX = (70.0, 34.0, 360.0, 260.0)


def curves(
    title: str,
    description: str,
    axes: tuple[Axis, Axis],
    lines: dict[str, list[tuple[float, float]]],
) -> str:
    """Named curves; the first one is accented, the others are dashed."""
    panel = Panel(*BOX, *axes)
    for place, (name, points) in enumerate(lines.items()):
        accent = place == 0
        panel = panel.line(points, accent=accent, dashed=not accent)
        panel = panel.legend(name, accent=accent, dashed=not accent)
    return on_paper(document(title, description, SIZE, [panel]))


def coin() -> str:
    return on_paper(explain.epsilon(math.log(3), relation="replace").svg())


def belief() -> str:
    return on_paper(explain.epsilon(0.5).svg())


def group() -> str:
    return on_paper(explain.epsilon(0.3).for_group(5).svg())


def delta() -> str:
    return on_paper(explain.definitions().svg())


def mean() -> str:
    return on_paper(explain.tradeoff("mean", 1000, bounds=(0, 220)).svg())


def tradeoff() -> str:
    return on_paper(explain.tradeoff("count", 10_000).svg())


def salaries() -> str:
    return on_paper(explain.tradeoff("mean", 5_000, bounds=(0, 150_000)).svg())


def composition() -> str:
    return on_paper(explain.composition(0.1, 500, delta=1e-6).svg())


def kl() -> str:
    epsilons = [0.01 * 1000 ** (i / 60) for i in range(61)]
    lines = {
        "KL divergence at most ε · tanh(ε/2)": [
            (one, explain.epsilon(one).kl) for one in epsilons
        ],
        "worst case: ε": [(one, one) for one in epsilons],
        "ε²/2": [(one, one * one / 2) for one in epsilons],
    }
    values = [value for line in lines.values() for _, value in line]
    return curves(
        "What ε allows on average and in the worst case",
        "The KL divergence against ε, below the line of the worst case and near ε²/2"
        " if ε is small.",
        (logarithmic("ε", epsilons), logarithmic("nats", values)),
        lines,
    )


def winner() -> str:
    leads = range(1, 41)
    across = Axis(
        "lead in votes", 1, 40, tuple((at, f"{at}") for at in (1, 10, 20, 30, 40))
    )
    kinds = (dither.PermuteAndFlip, dither.Exponential)
    polls = [kind(sensitivity=1, epsilon=0.5, monotone=True) for kind in kinds]
    lines = {
        f"{type(poll).__name__}, ε = 0.5": [
            (lead, poll.wrong_winner(lead, candidates=3)) for lead in leads
        ]
        for poll in polls
    }
    return curves(
        "How often the wrong one of three wins",
        "The probability of a wrong winner against the lead of the right one: it falls"
        " quickly.",
        (across, percents("wrong winner")),
        lines,
    )


def votes() -> str:
    leads = range(61)
    across = Axis(
        "lead in votes", 0, 60, tuple((at, f"{at}") for at in range(0, 61, 20))
    )
    lines = {
        f"noise of σ = {sigma}": [
            (lead, NormalDist(0, sigma * math.sqrt(2)).cdf(lead)) for lead in leads
        ]
        for sigma in (8, 20)
    }
    return curves(
        "How often the class in the lead is the label",
        "The probability that the leading one of two classes wins the noisy vote"
        " against its lead, for two sizes of the noise.",
        (across, percents("the leading class wins")),
        lines,
    )


def hospitals() -> str:
    numbers = range(1, 21)
    across = Axis("hospitals", 1, 20, tuple((at, f"{at}") for at in (1, 5, 10, 15, 20)))
    upwards = Axis("noise of the average", 0, 1, ((0, "0"), (0.5, "0.5"), (1, "1")))
    lines = {
        "each adds noise of its own": [(k, 1 / math.sqrt(k)) for k in numbers],
        "one trusted server adds noise once": [(k, 1 / k) for k in numbers],
    }
    return curves(
        "What it costs that nobody trusts a server",
        "The noise of the averaged update against the number of hospitals of one size:"
        " with noise of their own it falls with the root of their number.",
        (across, upwards),
        lines,
    )


def processed() -> str:
    ages = np.random.default_rng(3).normal(45, 15, 2000)
    found = dither.histogram(ages, bins=11, bounds=(0, 110), epsilon=0.5)
    return on_paper(
        found.plot().svg(), "Eleven bars, one for each ten years, with their intervals."
    )


def triangles() -> str:
    people = 1000
    school = nx.powerlaw_cluster_graph(people, 5, 0.6, seed=1)
    true = sum(nx.triangles(school).values()) // 3
    steps = [10 ** (place / 8 - 1) for place in range(17)]  # 0.1 to 10
    ladder, worst = [], []
    for epsilon in steps:
        # The width depends on the noise too, so this is the median of many
        ends = [
            graphs.triangles(school, vertices=range(people), epsilon=epsilon).interval()
            for _ in range(25)
        ]
        ladder.append((epsilon, median((high - low) / 2 for low, high in ends) / true))
        noise = dither.Laplace(sensitivity=people - 2, epsilon=epsilon)
        worst.append((epsilon, noise.error(0.95) / true))
    shares = [share for _, share in (*ladder, *worst)]
    return curves(
        "The noise on a number of triangles",
        f"Half of a 95 percent interval for {true:,} triangles, as a share of them,"
        " against ε: the ladder needs far less noise than the worst case of all graphs.",
        (
            logarithmic("ε", steps),
            logarithmic("± at 95 %, share of triangles", shares),
        ),
        {"ladder mechanism": ladder, "noise for the worst case": worst},
    )


def emoji() -> str:
    names = ["joy", "heart", "party", "thumbs", "fire"]
    task = local.task("emoji", domain=names, epsilon=1, n=60_000)
    held = ["joy"] * 30_000 + ["heart"] * 20_000 + ["party"] * 10_000
    found = task.tally(task.randomize(held)).estimate()
    return on_paper(found.plot().svg(), "Shares of five emoji, each with its interval.")


def rappor() -> str:
    task = local.task("page", every="week", epsilon=2, for_ever=4, n=20_000)
    pages = [f"page {i}" for i in range(10)]
    shares = [0.4, *[0.6 / 9] * 9]
    held = np.random.default_rng(7).choice(10, 20_000, p=shares)
    tally = task.tally(task.randomize([pages[i] for i in held]))
    return on_paper(
        tally.estimate(pages).plot().svg(),
        "Shares of ten pages, each with its interval.",
    )


PICTURES: tuple[Callable[[], str], ...] = (
    *(coin, belief, group, delta, mean, tradeoff, salaries, composition, kl, winner),
    *(votes, hospitals, processed, triangles, emoji, rappor),
)

if __name__ == "__main__":
    for make in PICTURES:
        (FOLDER / f"idea_{make.__name__}.svg").write_text(make(), encoding="utf-8")
