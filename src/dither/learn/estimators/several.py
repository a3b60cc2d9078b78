"""Fits by the tools of scikit-learn, such as `cross_val_score`: they fit copies again and
again, or after steps that are not private. An estimator with a budget refuses them
before any charge, unless it says that each fit is charged.
"""

from __future__ import annotations

import sys
from types import FrameType

from dither.errors import ArgumentError

__all__ = ["check_clone", "check_stated", "check_tool", "tool_notes"]

SKLEARN = "sklearn"
NOT_TOOLS = ("sklearn.base", "sklearn.utils")
"""Modules that our own methods run in, such as `fit_transform`: they fit once."""
INSTEAD = (
    "use learn.GridSearch to choose settings and learn.make_pipeline for steps, or pass "
    "several_fits=True if each fit may be charged; scores of folds are computed from "
    "private rows without noise, so they are private numbers too"
)


def check_stated(several_fits: object) -> None:
    """Refuse what is not a boolean: any other value could pay for fits by mistake."""
    if not isinstance(several_fits, bool):
        raise ArgumentError("several_fits", "must be True or False")


def check_tool() -> None:
    """Refuse a fit or a clone that a tool of scikit-learn asks for."""
    tool = _tool()
    if tool is not None:
        raise ArgumentError(
            "budget",
            f"scikit-learn's {tool} may fit an estimator several times, and after steps "
            "that are not private, and each fit would be charged to the budget; "
            f"{INSTEAD}",
        )


def tool_notes() -> tuple[str, ...]:
    """The note of a release whose fit a tool of scikit-learn has asked for."""
    tool = _tool()
    if tool is None:
        return ()
    return (
        f"fitted by scikit-learn's {tool}: the guarantee does not cover steps of "
        "scikit-learn before this fit",
    )


def check_clone(cloned: bool) -> None:
    """Refuse to fit a clone, wherever it was made: another library may have asked for
    it, or another process may hold it.
    """
    if cloned:
        raise ArgumentError(
            "budget",
            "a clone made by scikit-learn has the budget of its original, so each fit of "
            f"the clone would be charged there again; {INSTEAD}",
        )


def _tool() -> str | None:
    """The outermost function of scikit-learn that called this one, or the class whose
    method it is.
    """
    found: FrameType | None = None
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if _is_tool(str(frame.f_globals.get("__name__"))):
            found = frame
        frame = frame.f_back
    if found is None:
        return None
    held = found.f_locals.get("self")
    return found.f_code.co_name if held is None else type(held).__name__


def _is_tool(module: str) -> bool:
    return module.startswith(f"{SKLEARN}.") and not any(
        module == one or module.startswith(f"{one}.") for one in NOT_TOOLS
    )
