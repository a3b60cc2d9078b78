"""What a terminal shows that has no Greek letters (cp1252, ASCII): they are spelled
out, and nothing fails.

Only signs that Dither itself prints are replaced. What a program prints of its own
fails there or not as before.
"""

from __future__ import annotations

import codecs
import io
import sys

__all__ = ["SPELLED", "adapt", "adapt_all", "spelled"]

SPELLED = {
    **{
        "ε": "epsilon",
        "δ": "delta",
        "ρ": "rho",
        "μ": "mu",
        "σ": "sigma",
        "α": "alpha",
        "β": "beta",
        "γ": "gamma",
    },
    **{
        "λ": "lambda",
        "κ": "kappa",
        "τ": "tau",
        "θ": "theta",
        "π": "pi",
        "φ": "phi",
        "Φ": "Phi",
        "Δ": "Delta",
    },
    **{
        "Σ": "Sum",
        "√": "sqrt",
        "∞": "inf",
        "±": "+/-",
        "≈": "~",
        "≤": "<=",
        "≥": ">=",
        "−": "-",
        "–": "-",
    },
    **{
        "×": "x",
        "·": "*",
        "…": "...",
        "→": "->",
        "½": "1/2",
        "²": "^2",
        "′": "'",
        "“": '"',
        "”": '"',
        "’": "'",
    },
    **{
        "₀": "0",
        "₁": "1",
        "₂": "2",
        "‖": "||",
        "─": "-",
        "━": "-",
        "│": "|",
        "└": "+",
        "├": "+",
        "┤": "+",
    },
    # A burn-down: the higher the bar, the darker its sign.
    **{"▁": "_", "▂": ".", "▃": ":", "▄": "-", "▅": "=", "▆": "+", "▇": "*", "█": "#"},
}
ONLY_OURS, ANY = "dither.ours", "dither.any"


def _spelled(error: UnicodeError) -> tuple[str, int]:
    """Replace what is ours; if anything else is in between, the error stays one."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    signs = error.object[error.start : error.end]
    if any(sign not in SPELLED for sign in signs):
        raise error
    return "".join(SPELLED[sign] for sign in signs), error.end


def _spelled_or_asked(error: UnicodeError) -> tuple[str, int]:
    """Replace what is ours; a question mark stands for anything else."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    signs = error.object[error.start : error.end]
    return "".join(SPELLED.get(sign, "?") for sign in signs), error.end


codecs.register_error(ONLY_OURS, _spelled)
codecs.register_error(ANY, _spelled_or_asked)


def adapt() -> None:
    """Let `print` spell out our signs where it would fail for them, and leave it alone
    everywhere else.
    """
    stream = sys.stdout
    if (
        isinstance(stream, io.TextIOWrapper)
        and stream.errors == "strict"
        and not _unicode(stream.encoding)
    ):
        stream.reconfigure(errors=ONLY_OURS)


def adapt_all() -> None:
    """For the command, whose streams are its own: they never fail for a sign."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=ANY)


def spelled(text: str) -> str:
    """The text as standard output will show it, so that a table is laid out for what it
    really holds.
    """
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    return text if _unicode(encoding) else text.encode(encoding, ANY).decode(encoding)


def _unicode(encoding: str) -> bool:
    return encoding.lower().replace("_", "-").startswith(("utf", "gb18030"))
