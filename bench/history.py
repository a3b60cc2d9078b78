"""How the figures of a results file changed from commit to commit: `python -m bench
history` draws the ratios of `smoke`, `python -m bench history NAME` the goals of another.
"""

from __future__ import annotations

import json
import math
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.smoke import RATIO
from dither.picture import GREY, LINES, Dot, Line, Picture, Shape, Text

__all__ = ["Point", "draw", "history", "points"]

ROOT = Path(__file__).parent.parent
LABELS, WIDTH, VALUES, STEP, TOP = 430, 360, 130, 34, 46
BLUE = LINES[1]


@dataclass(frozen=True)
class Point:
    """The figures of one commit, by case."""

    commit: str
    day: str
    figures: dict[str, float]


def git(*arguments: str, root: Path) -> str | None:
    """What git says, or None if there is no git, repository or such object."""
    try:
        done = subprocess.run(
            ["git", "-C", str(root), *arguments],
            capture_output=True,
            check=False,
            encoding="utf-8",
        )
    except FileNotFoundError:
        return None
    return done.stdout if done.returncode == 0 else None


def points(name: str, root: Path = ROOT) -> list[Point]:
    """Every committed version of a results file, the oldest first; none without a
    history.
    """
    path = f"bench/results/{name}.json"
    listed = git("log", "--format=%h %cs", "--", path, root=root) or ""
    found = []
    for line in reversed(listed.splitlines()):
        commit, _, day = line.partition(" ")
        text = git("show", f"{commit}:{path}", root=root)
        if text is not None:  # None where a commit removed the file
            found.append(Point(commit, day, figures(json.loads(text))))
    return found


def figures(content: dict[str, Any]) -> dict[str, float]:
    """Ratios where there are any, and otherwise what was got for each goal."""
    ratios = {
        row["case"]: row["value"] for row in content["rows"] if row["metric"] == RATIO
    }
    found = ratios or {goal["goal"]: goal["got"] for goal in content["goals"]}
    return {case: value for case, value in found.items() if value is not None}


def draw(name: str, found: Sequence[Point]) -> Picture:
    """A line for each case, each on a scale of its own that starts at zero, with the
    last value behind it.
    """
    cases = list(found[-1].figures)
    height = TOP + STEP * len(cases) + 12
    first, last = found[0], found[-1]
    title = f"{name}: {commits(found)}, each line on a scale from zero"
    shapes: list[Shape] = [
        Text(12, 18, title, bold=True),
        Text(LABELS, 38, f"{first.day} {first.commit}", size=10, fill=GREY),
        Text(LABELS + WIDTH, 38, f"{last.day} {last.commit}", 10, "end", fill=GREY),
    ]
    for row, case in enumerate(cases):
        shapes += strip(case, found, TOP + STEP * row)
    return Picture.of(LABELS + WIDTH + VALUES, height, shapes, title)


def commits(found: Sequence[Point]) -> str:
    return f"{len(found)} commit{'' if len(found) == 1 else 's'}"


def strip(case: str, found: Sequence[Point], top: int) -> Iterator[Shape]:
    """One case: its name, its values over commits, the last and the first value."""
    bottom = top + STEP - 8
    known = [
        (place, point.figures[case])
        for place, point in enumerate(found)
        if case in point.figures and math.isfinite(point.figures[case])
    ]
    yield Text(LABELS - 12, bottom - 6, case, 11, "end")
    yield Line(((LABELS, bottom), (LABELS + WIDTH, bottom)), GREY, 0.5)
    if not known:
        return
    most = max(abs(value) for _, value in known) or 1.0
    across = WIDTH / max(len(found) - 1, 1)
    spots = [
        (LABELS + across * place, bottom - (STEP - 14) * max(value, 0.0) / most)
        for place, value in known
    ]
    if len(spots) > 1:
        yield Line(tuple(spots), BLUE, 1.5)
    for x, y in spots:
        yield Dot(x, y, 2.0, BLUE)
    before, now = known[0][1], known[-1][1]
    was = f" (was {before:.3g})" if len(known) > 1 else ""
    yield Text(LABELS + WIDTH + 12, bottom - 6, f"{now:.3g}{was}", 11)


def history(name: str, folder: Path, root: Path = ROOT) -> int:
    """Write the picture and say where it is."""
    found = points(name, root)
    if not found:
        print(
            f"bench/results/{name}.json has no git history here. Run this in a clone "
            "with its history, after a result was committed."
        )
        return 0
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"history-{name}.svg"
    draw(name, found).save(path)
    print(f"{commits(found)} drawn: {path}")
    return 0
