"""Puts the comparison with other tools into the README and docs/compare.md: `python
tools/compare.py`.

What the tools offer stands in bench/peers_facts.json, each claim with its version, date
and source. Speed and errors are those of bench/results. Nothing is typed into a page.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # as a script this file knows only its own folder

from bench.race.page import QUESTIONS, shown  # noqa: E402

PAGES = ("README.md", "docs/compare.md")
FACTS = ROOT / "bench" / "peers_facts.json"
RESULTS = ROOT / "bench" / "results"
MARKED = re.compile(r"(<!-- compare: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
OURS = "Dither"
UNSEEN = "–"
RECURRENT = ("LSTM", "GRU", "RNN")
SHORT = {
    "Questions in SQL": "SQL",
    "Budget survives a restart": "budget survives a restart",
    "Error shown before spending": "error shown before spending",
    "Trains models": "trains models",
    "Synthetic tables": "synthetic tables",
}
"""The features that README shows, and their column heads there."""

RACERS = {
    "Dither": "dither",
    "OpenDP": "OpenDP",
    "Tumult Analytics": "Tumult",
    "SmartNoise SQL": "SmartNoise, PostgreSQL",
    "PipelineDP": "PipelineDP",
}
"""The names of the systems in the results of the race."""

Figures = dict[tuple[str, str, str], float | None]


def facts() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(FACTS.read_text(encoding="utf-8"))
    return found


def figures(name: str) -> Figures:
    """The measured figures of a benchmark, by case, system and metric."""
    text = (RESULTS / f"{name}.json").read_text(encoding="utf-8")
    return {
        (row["case"], row["system"], row["metric"]): row["value"]
        for row in json.loads(text)["rows"]
    }


def systems() -> str:
    """A line for each tool: its version and date, five features, one measured question."""
    known = facts()
    features = {one["feature"]: _by_system(one) for one in known["features"]}
    race = figures("query_peers")
    lines = [
        f"| | {' | '.join(SHORT.values())} | grouped count of 1 M rows: "
        "CPU-seconds, error |",
        "|---|" + "---|" * (len(SHORT) + 1),
    ]
    for name, head in _heads(known):
        cells = [_says(features[feature].get(name)) for feature in SHORT]
        lines.append(f"| {head} | {' | '.join(cells)} | {_raced(race, name)} |")
    return _table(lines)


def ahead() -> str:
    """Where another tool is ahead, and what there is here instead."""
    lines = ["| what | who is ahead | Dither |", "|---|---|---|"]
    for one in facts()["features"]:
        if one["ahead"]:
            leaders = [claim for claim in one["claims"] if claim.get("leads")]
            told: dict[tuple[str, str], list[str]] = {}
            for claim in leaders:
                told.setdefault((claim["says"], claim["source"]), []).append(
                    claim["system"]
                )
            who = "; ".join(
                f"{', '.join(names)}: [{says}]({source})"
                for (says, source), names in told.items()
            )
            lines.append(
                f"| {one['ahead']} | {who} | {_by_system(one)[OURS]['says']} |"
            )
    return _table(lines)


def versions() -> str:
    lines = [
        "| | version | date | licence | first release | final releases |",
        "|---|---|---|---|---|---:|",
    ]
    lines += [
        f"| [{one['name']}]({one['source']}) | {one['version']} | {one['released']} | "
        f"{one['licence']} | {one['first']} | {one['releases']} |"
        for one in facts()["systems"]
    ]
    return _table(lines)


def features() -> str:
    """Features down, tools across; each cell links to its source."""
    known = facts()
    names = [OURS, *(one["name"] for one in known["systems"])]
    lines = [f"| | {' | '.join(names)} |", "|---|" + "---|" * len(names)]
    for one in known["features"]:
        claims = _by_system(one)
        cells = [
            f"[{claims[name]['says']}]({claims[name]['source']})"
            if name in claims
            else UNSEEN
            for name in names
        ]
        lines.append(f"| {one['feature']} | {' | '.join(cells)} |")
    return _table(lines)


def sources() -> str:
    """A line for each claim: what exactly was seen, in which version, of which date."""
    lines = []
    for one in facts()["features"]:
        lines.append(f"\n**{one['feature']}**\n\n")
        lines += [
            f"- {claim.get('package', claim['system'])} {claim['version']} "
            f"({claim['date']}): "
            f"{claim['detail']}. [Source]({claim['source']})\n"
            for claim in one["claims"]
            if claim["system"] != OURS
        ]
        if len(one["claims"]) == 1:
            lines.append("- not seen in any of the others\n")
    return "".join(lines).lstrip("\n")


def measured() -> str:
    """Dither beside the tools that were measured in the same run."""
    lines = ["| measured | compared with | result |", "|---|---|---|"]
    lines += [f"| {what} | {whom} | {got} |" for what, whom, got in _measurements()]
    return _table(lines)


def _measurements() -> Iterable[tuple[str, str, str]]:
    race = figures("query_peers")
    answer = f"whole answers to {len(QUESTIONS)} questions,"
    opendp = f"OpenDP {_version('query_peers', 'opendp[polars]')}"
    for system, told in (
        ("OpenDP", ""),
        ("OpenDP, first rows", ", keeping each user's first rows"),
    ):
        ratios = _slower(race, "10 M rows", system)
        yield (
            f"{answer} 10 M rows",
            f"{opendp}{told}",
            f"needs {_times(ratios)} Dither's CPU time",
        )
    yield (
        f"{answer} 1 M rows",
        "the fastest of all private systems that were measured",
        f"needs {_times(_fastest(race))} Dither's CPU time",
    )
    yield (
        "noise sampling alone",
        f"OpenDP {_version('noise', 'opendp-numpy')}",
        f"needs {_times(_noise(figures('noise'), 'opendp'))} Dither's CPU time",
    )
    opacus = f"Opacus {_version('learn', 'opacus')}"
    recurrent, others = _steps(figures("learn"))
    for kind, ratios in (("feed-forward", others), ("recurrent", recurrent)):
        yield (
            f"private training steps of {len(ratios)} {kind} models, on a CPU",
            f"{opacus}, its fastest mode",
            f"needs {_times(ratios)} Dither's CPU time",
        )
    yield "accuracy on digits, ε = 1, same features", opacus, _gain()
    for case in ("grouped count", "private keys"):
        best = _best(race, f"{case}, 1 M rows")
        yield (
            f"error of {case}, 1 M rows",
            f"{best}, the most accurate",
            f"{_error(race, case, best)}{_named(race, case, best)}; "
            f"Dither {_error(race, case, 'dither')}{_named(race, case, 'dither')}",
        )


def _gain() -> str:
    found = figures("learn_accuracy")
    case = "digits, ε = 1, both on edges"
    gain, deviation = (
        100 * _known(found, case, "dither", metric)
        for metric in ("gain", "standard error of it")
    )
    side = "higher" if gain > 0 else "lower"
    return f"Dither {abs(gain):.1f} points {side}, standard error {deviation:.1f}"


def _version(benchmark: str, package: str) -> str:
    """The measured version of a package: results name it, or the command that installs
    it.
    """
    text = (RESULTS / f"{benchmark}.json").read_text(encoding="utf-8")
    named: str = json.loads(text)["versions"][package]
    return named.partition("==")[2].partition(",")[0] or named


def _slower(race: Figures, size: str, system: str) -> list[float]:
    return [
        _known(race, f"{case}, {size}", system, "CPU-seconds")
        / _known(race, f"{case}, {size}", "dither", "CPU-seconds")
        for case in QUESTIONS
    ]


def _fastest(race: Figures) -> list[float]:
    return [
        min(
            value
            for (case, system, metric), value in race.items()
            if (case, metric) == (f"{question}, 1 M rows", "CPU-seconds")
            and value is not None
            and system not in ("dither", "OpenDP, first rows", "DuckDB", "PostgreSQL")
        )
        / _known(race, f"{question}, 1 M rows", "dither", "CPU-seconds")
        for question in QUESTIONS
    ]


def _noise(noise: Figures, peer: str) -> list[float]:
    metric = "samples per CPU-second"
    rates: dict[tuple[str, str], float] = {
        (case.rpartition(", ")[0], system): value
        for (case, system, found), value in noise.items()
        if found == metric and value is not None
    }
    return [
        value / rates[case, peer]
        for (case, system), value in rates.items()
        if system == "dither" and (case, peer) in rates
    ]


def _steps(learn: Figures) -> tuple[list[float], list[float]]:
    """How much slower the fastest mode of Opacus is: recurrent models, and others."""
    metric = "whole step, ms"
    ratios = {
        case: min(
            value
            for (found, system, kind), value in learn.items()
            if (found, kind) == (case, metric)
            and system.startswith("Opacus")
            and value is not None
        )
        / _known(learn, case, "dither", metric)
        for case, system, kind in learn
        if (system, kind) == ("dither", metric)
    }
    recurrent = [ratio for case, ratio in ratios.items() if case.startswith(RECURRENT)]
    others = [ratio for case, ratio in ratios.items() if not case.startswith(RECURRENT)]
    return recurrent, others


def _best(race: Figures, case: str) -> str:
    errors = {
        system: value
        for (found, system, metric), value in race.items()
        if (found, metric) == (case, "mean relative error") and value is not None
    }
    return min(errors, key=lambda system: errors[system])


def _error(race: Figures, case: str, system: str) -> str:
    value = _known(race, f"{case}, 1 M rows", system, "mean relative error")
    return shown(value, "mean relative error")


def _named(race: Figures, case: str, system: str) -> str:
    found = race.get((f"{case}, 1 M rows", system, "keys found"))
    return "" if found is None else f" on {found:.0f} keys"


def _known(found: Figures, case: str, system: str, metric: str) -> float:
    value = found[case, system, metric]
    assert value is not None, (case, system, metric)
    return value


def _times(ratios: list[float]) -> str:
    """The smallest and the largest of some ratios, in two or three digits."""
    low, high = (
        f"{value:.2f}"
        if value < 2
        else f"{value:.1f}"
        if value < 10
        else f"{value:,.0f}"
        for value in (min(ratios), max(ratios))
    )
    return f"{low} to {high} times"


def _heads(known: dict[str, Any]) -> list[tuple[str, str]]:
    from dither import __version__

    ours = (OURS, f"**{OURS}** {__version__}<br>alpha")
    return [
        ours,
        *(
            (
                one["name"],
                f"[{one['name']}]({one['source']}) {one['version']}<br>{one['released']}",
            )
            for one in known["systems"]
        ),
    ]


def _raced(race: Figures, name: str) -> str:
    case = "grouped count, 1 M rows"
    system = RACERS.get(name, "")
    seconds = race.get((case, system, "CPU-seconds"))
    if seconds is None:
        return "not measured"
    return f"{shown(seconds, 'CPU-seconds')} s, {_error(race, 'grouped count', system)}"


def _by_system(feature: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {claim["system"]: claim for claim in feature["claims"]}


def _says(claim: dict[str, Any] | None) -> str:
    return UNSEEN if claim is None else str(claim["says"])


def _table(lines: list[str]) -> str:
    return "\n".join(lines) + "\n"


PARTS: dict[str, Callable[[], str]] = {
    "systems": systems,
    "ahead": ahead,
    "versions": versions,
    "features": features,
    "sources": sources,
    "measured": measured,
}


def filled(text: str) -> str:
    return MARKED.sub(lambda found: found[1] + PARTS[found[2]]() + found[3], text)


def main() -> None:
    for page in PAGES:
        path = ROOT / page
        path.write_text(filled(path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
