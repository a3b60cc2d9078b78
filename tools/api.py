"""Writes docs/api/, the reference of all public names, from their signatures and
docstrings: `python tools/api.py`. One page for each room of the package.

A test compares the pages with the source, so nothing on them is typed in but the
titles, one sentence for each page, and the table of the overview.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import importlib
import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # as a script

import dither
from tools import pages as made

TOOL = "tools/api.py"
WIDTH = 82
ERRORS = "Errors"


@dataclasses.dataclass(frozen=True)
class Room:
    """A page: its title, what it is about, the groups of top-level names on it with the
    modules that they come from, and the modules that it shows whole.
    """

    title: str
    about: str
    groups: dict[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    modules: tuple[str, ...] = ()


ROOMS = {
    "dither": Room(
        "Open and ask",
        "Open tables, ask questions in SQL or about arrays, and read the answers.",
        {
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
            ERRORS: ("dither.errors",),
        },
    ),
    "ledger": Room(
        "Budgets and ledgers",
        "Keep the budget of a dataset: accounts, receipts, shares of analysts.",
        {"The ledger": ("dither.ledger",)},
    ),
    "privacy": Room(
        "Guarantees",
        "State, compose and convert privacy guarantees.",
        {"Guarantees": ("dither.privacy",)},
    ),
    "mechanisms": Room(
        "Mechanisms",
        "Release single values: noise for numbers, selection, thresholds, streams.",
        {"Mechanisms": ("dither.mechanisms",)},
    ),
    "local": Room(
        "Devices",
        "Randomize answers on devices, collect the messages, and estimate.",
        modules=("local", "local.collector"),
    ),
    "learn": Room(
        "Training and estimators",
        "Train PyTorch models, and fit estimators in the style of scikit-learn.",
        modules=("learn",),
    ),
    "learn-federated": Room(
        "Federated training",
        "Train on clients that send updates to a trusted aggregator.",
        modules=("learn.federated",),
    ),
    "learn-pate": Room(
        "Teachers that vote",
        "Label public inputs by the noisy votes of private teachers (PATE).",
        modules=("learn.pate",),
    ),
    "learn-hospitals": Room(
        "Hospitals",
        "Train one model in several hospitals without a trusted server.",
        modules=("learn.hospitals",),
    ),
    "science-graphs": Room(
        "Graphs",
        "Release degrees, triangles and other statistics of private graphs.",
        modules=("science.graphs",),
    ),
    "science-maps": Room(
        "Maps",
        "Release heat maps, and blur single places.",
        modules=("science.maps",),
    ),
    "science-genomes": Room(
        "Genomes",
        "Release allele frequencies, associations with a trait, and a beacon's answers.",
        modules=("science.genomes",),
    ),
    "science-trials": Room(
        "Trials",
        "Test hypotheses of clinical trials, and plan their sizes.",
        modules=("science.trials",),
    ),
    "science-census": Room(
        "Census",
        "Release the tables of a census, over a hierarchy of areas.",
        modules=("science.census",),
    ),
    "science-synth": Room(
        "Synthetic tables",
        "Make synthetic tables, and measure how good they are.",
        modules=("science.synth",),
    ),
    "explain": Room(
        "Explanations",
        "Say what an ε means, plan questions, and draw both.",
        modules=("explain",),
    ),
    "audit": Room(
        "Audits",
        "Try to refute a claimed guarantee.",
        modules=("audit",),
    ),
    "audit-attacks": Room(
        "Attacks",
        "Attack exact answers, and releases of the same data.",
        modules=("audit.attacks",),
    ),
}
WANTED = {
    "open a file, a data frame, a database or a catalogue": ("dither.open",),
    "copy the example data": ("dither.example",),
    "ask a question in SQL": ("dither.Dataset.sql",),
    "see what a question costs before it is asked": (
        "dither.Dataset.preview",
        "dither.Dataset.plan",
    ),
    "release a statistic of an array": (
        "dither.count",
        "dither.sum",
        "dither.mean",
        "dither.variance",
        "dither.quantile",
        "dither.histogram",
    ),
    "keep a budget in a file or a database": ("dither.Ledger.open",),
    "keep a budget in this process only": ("dither.Budget",),
    "add noise to a number": ("dither.laplace", "dither.gaussian", "dither.geometric"),
    "choose one of several options": ("dither.exponential",),
    "randomize one answer": ("dither.randomized_response",),
    "compose guarantees": ("dither.compose",),
    "ask devices": ("dither.local.task", "dither.local.choose"),
    "train a model": ("dither.learn.train", "dither.learn.search"),
    "fit an estimator to columns of a table": ("dither.Dataset.fit",),
    "test a hypothesis": ("dither.Dataset.trial",),
    "make a synthetic table": ("dither.Dataset.synth",),
    "explain an ε, or plan a number of questions": (
        "dither.explain.epsilon",
        "dither.explain.plan",
    ),
    "test a guarantee": ("dither.audit.mechanism", "dither.audit.query"),
    "attack a release": ("dither.audit.attacks.run",),
    "ask in a notebook": ("dither.load_ipython_extension",),
}
"""What a reader wants to do, and the names that do it."""
INTRODUCTION = """\
Every public name of Dither. A name that is not on these pages is not public and may change.
"""
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
UNSEARCHED = '```{ .py data-search-exclude="" }'
"""A block of code that the search leaves out: names and descriptions are enough."""
Shown = dict[tuple[type, str], str]
"""Under which class a member of a base was shown in full."""
PARTS = re.compile(r"^(Guarantee|Why|Assumes):", re.MULTILINE)
REFERENCE = re.compile(r"`?docs/((?:proofs/)?(\w+)\.md)`?")


def names() -> dict[str, list[str]]:
    """The public top-level names of each group, functions before classes, as the
    package lists them.
    """
    homes = dither._HOMES
    groups = {
        title: one for room in ROOMS.values() for title, one in room.groups.items()
    }
    found = {
        title: [name for module in modules for name in homes[module]]
        for title, modules in groups.items()
    }
    left = set(homes) - {module for modules in groups.values() for module in modules}
    if left:
        raise ValueError(f"no group shows {', '.join(sorted(left))}")
    return {
        title: sorted(listed, key=_order) if title != ERRORS else listed
        for title, listed in found.items()
    }


def _order(name: str) -> tuple[bool, bool]:
    value = getattr(dither, name)
    return inspect.isclass(value), not callable(value)


@functools.cache
def places() -> dict[str, str]:
    """The page of each public name."""
    found = {}
    for page, room in ROOMS.items():
        for title in room.groups:
            found |= {f"dither.{name}": page for name in names()[title]}
        for module in room.modules:
            home = f"dither.{module}"
            public = importlib.import_module(home).__all__
            found |= {f"{home}.{name}": page for name in public}
    return found


def link(name: str) -> str:
    """A public name, or a member of a public class, with a link to its entry."""
    entry = name if name in places() else name.rpartition(".")[0]
    page = places().get(entry)
    return f"`{name}`" if page is None else f"[`{name}`]({page}.md#{entry})"


def pages() -> made.Pages:
    """The pages as the source has them."""
    shown = Shown()
    rooms = {f"api/{name}.md": room_page(room, shown) for name, room in ROOMS.items()}
    return {"api/index.md": overview(), **rooms}


def overview() -> str:
    """Where to look: by what one wants to do, and by page."""
    wanted = [
        f"| {what} | {', '.join(link(_checked(name)) for name in listed)} |"
        for what, listed in WANTED.items()
    ]
    rooms = [
        f"| [{room.title}]({name}.md) | {_examples(room)} | {room.about} |"
        for name, room in ROOMS.items()
    ]
    return made.page(
        TOOL,
        "API",
        INTRODUCTION,
        "## By task",
        "\n".join(["| to | call |", "|---|---|", *wanted]),
        "## By page",
        "\n".join(["| page | names | what it is for |", "|---|---|---|", *rooms]),
        "The [command line](../cli.md) and the [errors](../errors/index.md) have pages of "
        "their own.",
    )


def _checked(name: str) -> str:
    """The name, which must exist."""
    functools.reduce(getattr, name.split(".")[1:], _loaded(name))
    return name


def _loaded(name: str) -> Any:
    """The package, with the module of a name imported."""
    for room in ROOMS.values():
        for module in room.modules:
            if name.startswith(f"dither.{module}."):
                importlib.import_module(f"dither.{module}")
    return dither


def _examples(room: Room) -> str:
    """How the names on a page begin, or some of them."""
    some = [f"`dither.{name}`" for title in room.groups for name in names()[title]]
    modules = [f"`dither.{module}.…`" for module in room.modules]
    return ", ".join([*some[:3], "…"] if some else modules)


def room_page(room: Room, shown: Shown) -> str:
    """One page: its groups of top-level names, and its modules."""
    lines, alone = [], len(room.groups) == 1
    for title in room.groups:
        listed = names()[title]
        lines += [] if alone else [f"## {title}", ""]
        lines += (
            errors(listed)
            if title == ERRORS
            else every("dither", dither, listed, shown, "##" if alone else "###")
        )
    for module in room.modules:
        lines += module_part(f"dither.{module}", shown)
    return made.page(TOOL, room.title, room.about, "\n".join(lines))


def module_part(home: str, shown: Shown) -> Iterator[str]:
    """A heading, what the module says of itself, and its public names."""
    module = importlib.import_module(home)
    yield from (f"## {home}", "", *described(module))
    listed = sorted(
        module.__all__, key=lambda name: _bases_first(getattr(module, name))
    )
    yield from every(home, module, listed, shown)


def every(
    prefix: str,
    module: ModuleType,
    listed: list[str],
    shown: Shown,
    level: str = "###",
) -> Iterator[str]:
    for name in listed:
        yield from entry(f"{prefix}.{name}", getattr(module, name), shown, level)


def _bases_first(value: Any) -> int:
    return len(value.__mro__) if inspect.isclass(value) else 0


def errors(listed: list[str]) -> Iterator[str]:
    """Errors by name; pages of their own say more."""
    yield "[Errors](../errors/index.md) lists every message and what to do about it."
    yield ""
    for name in listed:
        first = " ".join(described(getattr(dither, name))).partition("Way out:")[0]
        target = f"../errors/index.md#dither.{name}"
        yield f"- [`dither.{name}`]({target}): {first.strip()}"
    yield ""


def entry(name: str, value: Any, shown: Shown, level: str = "###") -> Iterator[str]:
    """A heading, how it is called, what it does, and what a class has besides."""
    yield from (f"{level} {name} {{ #{name} }}", "")
    if not callable(value):
        yield from _constant(name, value)
        return
    if not isinstance(value, type) or not issubclass(value, enum.Enum):
        yield from (UNSEARCHED, signature(name, value), "```", "")
    yield from described(value)
    if inspect.isclass(value):
        yield from members(name, value, shown)


def _constant(name: str, value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        lines = (f"{key}: {one}" for key, one in value.items())
        yield from ("```text", *lines, "```", "")
        return
    yield from ("```py", *_assigned(name, value), "```", "", *described(type(value)))


def _assigned(name: str, value: Any) -> list[str]:
    """A constant on one line, or a record with a field a line."""
    line = f"{name} = {value!r}"
    if len(line) <= WIDTH or not dataclasses.is_dataclass(value):
        return [line]
    fields = [
        f"    {one.name}={getattr(value, one.name)!r},"
        for one in dataclasses.fields(value)
        if one.repr
    ]
    return [f"{name} = {type(value).__name__}(", *fields, ")"]


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
        same = ", ".join(f"`{member}`" for member in listed)
        yield f"- The same as in {link(first)}: {same}"
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
    return [REFERENCE.sub(r"[\2](../\1)", joined)]


if __name__ == "__main__":
    made.write(pages())
