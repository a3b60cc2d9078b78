"""Writes docs/api.md, the reference of all public names, from their signatures and
docstrings: `python tools/api.py`.

A test compares the page with the source, so nothing on it is typed in but the headings.
"""

from __future__ import annotations

import dataclasses
import enum
import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import dither

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "api.md"
WIDTH = 100
HEAD = """\
# API

Every public name, as `import dither` gives it. This page is made from the source by `python tools/api.py`. What is not
here is not public and may change.
"""
ERRORS = "Errors"
GROUPS = {
    "Opening and asking": (
        "dither.query.open",
        "dither.query.examples",
        "dither.dataset",
        "dither.query.preview",
        "dither.query.catalogue.model",
        "dither.query.magic",
    ),
    "Releases": ("dither.table", "dither.release"),
    "Arrays": ("dither.query",),
    "The ledger": ("dither.ledger",),
    "Guarantees": ("dither.privacy",),
    "Mechanisms": ("dither.mechanisms",),
    ERRORS: ("dither.errors",),
}
ROOMS = (
    "local",
    "local.collector",
    "learn",
    "learn.federated",
    "learn.pate",
    "learn.hospitals",
    "science.graphs",
    "science.maps",
    "science.genomes",
    "science.trials",
    "science.census",
    "science.synth",
    "explain",
    "audit",
    "audit.attacks",
)
INTERNAL = {
    "Collector": ("check", "count", "read"),
    "Ledger": (
        "append",
        "changing",
        "charge",
        "freeze_all",
        "keep",
        "new_name",
        "open_account",
        "promised",
        "write",
    ),
    "Policy": ("check", "of", "to_json"),
    "Receipt": ("promise",),
    "Preview": ("cost_in_words", "rows_in_words"),
}
"""What other modules of the package call, and nobody else should."""
RULES = re.compile(r" \(rules? R\d+[^)]*\)")
Shown = dict[tuple[type, str], str]
"""Under which class a member of a base was shown in full."""
PARTS = re.compile(r"^(Guarantee|Why|Assumes):", re.MULTILINE)
REFERENCE = re.compile(r"`?docs/((?:proofs/)?(\w+)\.md)`?")


def names() -> dict[str, list[str]]:
    """The public names of each group, functions before classes, as the package lists
    them.
    """
    homes = dither._HOMES
    found = {
        title: [name for module in modules for name in homes[module]]
        for title, modules in GROUPS.items()
    }
    left = set(homes) - {module for modules in GROUPS.values() for module in modules}
    if left:
        raise ValueError(f"no group shows {', '.join(sorted(left))}")
    return {
        title: sorted(listed, key=_order) if title != ERRORS else listed
        for title, listed in found.items()
    }


def _order(name: str) -> tuple[bool, bool]:
    value = getattr(dither, name)
    return inspect.isclass(value), not callable(value)


def page() -> str:
    """The page as the source has it."""
    lines, shown = [HEAD], Shown()
    for title, listed in names().items():
        lines += [f"## {title}", ""]
        lines += (
            errors(listed)
            if title == ERRORS
            else every("dither", dither, listed, shown)
        )
    for room in ROOMS:
        module = importlib.import_module(f"dither.{room}")
        lines += [f"## dither.{room}", "", *described(module)]
        lines += every(
            f"dither.{room}",
            module,
            sorted(
                module.__all__, key=lambda name: _bases_first(getattr(module, name))
            ),
            shown,
        )
    return "\n".join(lines).rstrip() + "\n"


def every(
    prefix: str, module: ModuleType, listed: list[str], shown: Shown
) -> Iterator[str]:
    for name in listed:
        yield from entry(f"{prefix}.{name}", getattr(module, name), shown)


def _bases_first(value: Any) -> int:
    return len(value.__mro__) if inspect.isclass(value) else 0


def errors(listed: list[str]) -> Iterator[str]:
    """Errors by name; a page of their own says more."""
    yield "[Errors](errors.md) lists every message with its cause and the way out."
    yield ""
    for name in listed:
        first = " ".join(described(getattr(dither, name))).partition("Way out:")[0]
        yield f"- `dither.{name}`: {first.strip()}"
    yield ""


def entry(name: str, value: Any, shown: Shown) -> Iterator[str]:
    """A heading, how it is called, what it does, and what a class has besides."""
    yield f"### {name}"
    yield ""
    if not callable(value):
        yield from _constant(name, value)
        return
    if not isinstance(value, type) or not issubclass(value, enum.Enum):
        yield from ("```py", signature(name, value), "```", "")
    yield from described(value)
    if inspect.isclass(value):
        yield from members(name, value, shown)


def _constant(name: str, value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        lines = (f"{key}: {one}" for key, one in value.items())
        yield from ("```text", *lines, "```", "")
        return
    yield from ("```py", f"{name} = {value!r}", "```", "", *described(type(value)))


def members(name: str, kind: type, shown: Shown) -> Iterator[str]:
    """The public attributes and methods, each in full where it is met for the first
    time.
    """
    again: dict[str, list[str]] = {}
    found = [member for one in kind.__mro__ for member in _own(one)]
    for member in dict.fromkeys(found):
        home = next(one for one in reversed(kind.__mro__) if member in _own(one))
        first = shown.setdefault((home, member), name)
        if first == name:
            yield from _member(kind, member)
        else:
            again.setdefault(first, []).append(member)
    for first, listed in again.items():
        yield f"- as in `{first}`: {', '.join(f'`{member}`' for member in listed)}"
    if found:
        yield ""


def _member(kind: type, name: str) -> Iterator[str]:
    value = inspect.getattr_static(kind, name)
    if isinstance(value, kind):
        yield f"- `{name}`: `{value.value!r}`"  # one of an enumeration
        return
    first, *rest = [line for line in described(getattr(kind, name)) if line] or [""]
    call = _call(name, _plain(value)) if callable(_plain(value)) else name
    yield f"- `{call}`" + (f": {first}" if first else "")
    yield from (f"    {line}".rstrip() for one in rest for line in ("", one))


def _own(kind: type) -> list[str]:
    """Names that a class of this package defines itself; the fields of a dataclass
    stand in its signature.
    """
    if not kind.__module__.startswith("dither"):
        return []
    fields = (
        {one.name for one in dataclasses.fields(kind)}
        if dataclasses.is_dataclass(kind)
        else set()
    )
    left_out = {*fields, *INTERNAL.get(kind.__name__, ())}
    return [name for name in vars(kind) if name[0] != "_" and name not in left_out]


def _plain(value: Any) -> Any:
    """The function behind a class method or a static one."""
    return value.__func__ if isinstance(value, classmethod | staticmethod) else value


def signature(name: str, value: Any) -> str:
    """How it is called, on one line or with a parameter a line."""
    line = _call(name, value)
    if len(line) <= WIDTH:
        return line
    parts = [f"    {part}," for part in _parameters(inspect.signature(value))]
    return "\n".join([f"{name}(", *parts, f"){_returns(value)}"])


def _call(name: str, value: Any) -> str:
    return (
        f"{name}({', '.join(_parameters(inspect.signature(value)))}){_returns(value)}"
    )


def _returns(value: Any) -> str:
    found = inspect.signature(value).return_annotation
    return (
        ""
        if inspect.isclass(value) or found in (inspect.Signature.empty, None)
        else f" -> {_annotation(found)}"
    )


def _parameters(found: inspect.Signature) -> Iterator[str]:
    kinds = inspect.Parameter
    before = None
    for one in (
        one for one in found.parameters.values() if one.name not in ("self", "cls")
    ):
        if one.kind is kinds.KEYWORD_ONLY and before not in (
            kinds.KEYWORD_ONLY,
            kinds.VAR_POSITIONAL,
        ):
            yield "*"
        if before is kinds.POSITIONAL_ONLY and one.kind is not kinds.POSITIONAL_ONLY:
            yield "/"
        before = one.kind
        yield _parameter(one)


def _parameter(one: inspect.Parameter) -> str:
    star = {
        inspect.Parameter.VAR_POSITIONAL: "*",
        inspect.Parameter.VAR_KEYWORD: "**",
    }.get(one.kind, "")
    typed = (
        ""
        if one.annotation is inspect.Parameter.empty
        else f": {_annotation(one.annotation)}"
    )
    if one.default is inspect.Parameter.empty:
        return f"{star}{one.name}{typed}"
    return f"{star}{one.name}{typed}{' = ' if typed else '='}{_default(one.default)}"


def _default(value: Any) -> str:
    """A default as it is written; objects and functions have no short text."""
    text = f'"{value}"' if isinstance(value, str) else repr(value)
    return "…" if text.startswith("<") or len(text) > 40 else text


def _annotation(value: Any) -> str:
    return value if isinstance(value, str) else getattr(value, "__name__", str(value))


def described(value: Any) -> list[str]:
    """A docstring as Markdown: its paragraphs, and Guarantee, Why and Assumes each in
    one of its own.
    """
    text = RULES.sub("", inspect.getdoc(value) or "")
    # What dataclasses write by themselves
    if inspect.isclass(value) and text.startswith(f"{value.__name__}("):
        text = ""
    lines = []
    for paragraph in re.split(r"\n\s*\n", PARTS.sub(r"\n**\1:**", text)):
        lines += [*_paragraph(paragraph.strip("\n")), ""]
    return lines if text else []


def _paragraph(text: str) -> list[str]:
    if text.startswith("    "):
        return ["```text", *inspect.cleandoc(text).splitlines(), "```"]
    joined = " ".join(text.split())
    return [REFERENCE.sub(r"[\2](\1)", joined)]


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
