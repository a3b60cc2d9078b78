"""Draws the pictures of the pages on plans and reports: `python tools/report_pictures.py`
writes docs/pictures/plan.svg, deployments.svg and report_burn_down.svg.
"""

from __future__ import annotations

import contextlib
import tempfile

import dither
from dither import explain
from tools.pictures import FOLDER, INK, PAPER


def on_paper(drawn: str) -> str:
    """A picture that takes its colour from the page, on paper of its own."""
    paper = f'<rect width="100%" height="100%" fill="{PAPER}"/>'
    return drawn.replace("</desc>", f"</desc>{paper}").replace("currentColor", INK)


def plan() -> str:
    found = explain.plan("count", error=0.03, n=200, questions=50, delta=1e-6)
    return on_paper(found.svg())


def deployments() -> str:
    return on_paper(explain.deployments().svg())


def burn_down() -> str:
    """Four questions to the example."""
    with contextlib.ExitStack() as stack:
        # the example is copied to the current folder
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        stack.enter_context(contextlib.chdir(folder))
        clinic = stack.enter_context(dither.open(dither.example("clinic")))
        for epsilon in (0.5, 0.25, 1.0, 0.25):
            clinic.sql("SELECT COUNT(*) AS n FROM visits", epsilon=epsilon)
        return on_paper(clinic.account.report()["burn-down"].picture)


if __name__ == "__main__":
    for make in (plan, deployments, burn_down):
        name = "report_burn_down" if make is burn_down else make.__name__
        (FOLDER / f"{name}.svg").write_text(make(), encoding="utf-8")
