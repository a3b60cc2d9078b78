"""A burn-down of an account as a small picture, for notebooks."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dither.ledger.balance import Balance

__all__ = ["burn_down"]

WIDTH, HEIGHT = 320, 90


def burn_down(account: Balance) -> str:
    """The remaining share after each charge, as a falling line below the account in
    words.
    """
    shares = account.burn_down()
    step = WIDTH / max(len(shares) - 1, 1)
    points = " ".join(
        f"{i * step:.1f},{HEIGHT * (1 - share) + 5:.1f}"
        for i, share in enumerate(shares)
    )
    words = html.escape(str(account)).replace("\n", "<br>")
    frame = (
        f'<rect x="0" y="5" width="{WIDTH}" height="{HEIGHT}" fill="none" '
        'stroke="#999"/>'
    )
    line = (
        f'<polyline points="{points}" fill="none" stroke="#2563eb" stroke-width="2"/>'
    )
    size = f'width="{WIDTH}" height="{HEIGHT + 10}" viewBox="0 0 {WIDTH} {HEIGHT + 10}"'
    title = "<title>remaining share of the budget after each charge</title>"
    return f'<div>{words}<br><svg role="img" {size}>{title}{frame}{line}</svg></div>'
