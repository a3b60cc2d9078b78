"""Writes docs/errors/, the list of all errors by topic, from the source: `python
tools/errors.py`.

Every message that is raised is read off the syntax tree: what is fixed in it as it
stands, what is filled in later as an ellipsis. A test compares the pages with the
source, so no message is typed in.
"""

from __future__ import annotations

import ast
import functools
import itertools
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeGuard

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # as a script

from dither.errors import MissingExtra, sentence
from tools import pages as made

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "dither"
TOOL = "tools/errors.py"
FILLED = "…"
MOST = 8
"""How many forms of one message are shown."""
DEEPEST = 4
"""How many names are followed from a message to its parts."""
IMPERATIVE = re.compile(r"(state|say|write|choose|name|pass) ")
WAY_OUT = re.compile(
    r"[;:.] (?=(?:did you mean|there (?:is|are) .* only|(?:or )?(?:add|aggregate|allow|ask|call|cast|change|check|choose|"
    r"clamp|close|compare|connect|convert|copy|count|cut|declare|divide|drop|enter|export|fit|give|group|group by|install|"
    r"join|keep|leave|list|load|look|lower|make|merge|move|name|open|order|pass|pick|put|raise|read|remove|rename|repeat|"
    r"replace|reset|restore|round|run|save|say|select|set|spell|split|start|state|store|swap|take|thaw|train|try|turn|update|upgrade|use|wait|"
    r"wrap|write)\b))",
    re.IGNORECASE,
)
"""What stands before the way out of a message."""
RANGE = ("above", "below", "between", "from", "such")
NO_NOUN = ("as", "fewer", "for", "less", "named", "smaller:", "stated")
"""Words after "must be" that cannot follow "pass" alone."""
ADJECTIVES = ("positive", "finite")
AS_SAID = "do as the message says"
"""What to do about a message that is nothing but what to do."""
AS_ENDS = "the end of the message says what to do"
"""What to do if the way out is filled in."""
PROBLEMS = ("problem", "problem_at")
INTRODUCTION = """\
Every error that Dither raises on purpose, what it means, and what to do. Choose the topic by what you were doing, or by
the module in the last lines of the traceback. To find a message by its text, search for two or three of its longer words in
quotation marks.

In a message, … stands for what is filled in: a name, a number, a place. No message ever holds a value from private rows.
"""


@dataclass(frozen=True)
class Topic:
    """A page: its title, what its readers were doing, and the modules it covers, each
    with all that is below it.
    """

    title: str
    doing: str
    modules: tuple[str, ...]


TOPICS = {
    "sql": Topic(
        "SQL questions",
        "You asked a question in SQL or as a data-frame expression, or previewed one.",
        ("query", "question", "table", "release", "dataset", "cost"),
    ),
    "tables": Topic(
        "Tables and catalogues",
        "You opened or declared a table: a file, a data frame, a database, a catalogue.",
        (
            *("query.open", "query.load", "query.database", "query.draft"),
            *("query.catalogue", "query.engines", "query.plugins", "frames"),
        ),
    ),
    "budgets": Topic(
        "Budgets and ledgers",
        "You opened a ledger or an account, charged it, shared it, or verified it.",
        ("ledger", "query.account"),
    ),
    "arrays": Topic(
        "Arrays, mechanisms and guarantees",
        "You released a statistic of an array, used a mechanism, or composed guarantees.",
        ("query.arrays", "mechanisms", "noise", "privacy", "by_name", "items", "ids"),
    ),
    "devices": Topic(
        "Devices",
        "You wrote a task, answered it on a device, collected messages, or estimated.",
        ("local",),
    ),
    "training": Topic(
        "Training",
        "You trained a model: alone, on clients, in hospitals, or with teachers that vote.",
        ("learn",),
    ),
    "estimators": Topic(
        "Estimators",
        "You fitted an estimator in the style of scikit-learn, or searched its parameters.",
        ("learn.estimators",),
    ),
    "sciences": Topic(
        "Sciences",
        "You released graphs, maps, genomes, trials, a census, or synthetic tables.",
        ("science",),
    ),
    "explaining": Topic(
        "Explanations and audits",
        "You asked what an ε means, planned, drew a picture, audited, or ran an attack.",
        ("explain", "audit", "chart", "axes", "picture", "text"),
    ),
    "commands": Topic(
        "Command line",
        "You ran `dither` in a terminal. Other messages that it prints are on the page of"
        " their topic.",
        ("cli", "terminal", "progress"),
    ),
}


def topic_of(module: str) -> str:
    """The page of a module: that of the longest name above it."""
    below = f"{module.removeprefix('dither.')}."
    found = [
        (len(one), name)
        for name, topic in TOPICS.items()
        for one in topic.modules
        if below.startswith(f"{one}.")
    ]
    if not found:
        raise ValueError(f"no topic has {module}: add it to TOPICS in {TOOL}")
    return max(found)[1]


Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, order=True)
class Raised:
    """A message of the source: the module, the kind of error, what is wrong, what to
    do.
    """

    module: str
    kind: str
    cause: str
    way_out: str


def classes() -> dict[str, ast.ClassDef]:
    """The kinds of errors, in the order of the source."""
    tree = ast.parse((SOURCE / "errors.py").read_text(encoding="utf-8"))
    return {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}


def described(kind: ast.ClassDef) -> tuple[str, str]:
    """What a kind of error means, and the way out."""
    means, _, way_out = (ast.get_docstring(kind) or "").partition("Way out:")
    return " ".join(means.split()), " ".join(way_out.split())


@dataclass(frozen=True)
class Module:
    """One file of the source, and the texts that its names stand for."""

    name: str
    tree: ast.Module

    @classmethod
    def of(cls, path: Path) -> Module:
        parts = path.relative_to(SOURCE.parent).with_suffix("").parts
        return cls(
            ".".join(part for part in parts if part != "__init__"),
            ast.parse(path.read_text(encoding="utf-8")),
        )

    def raised(self, kinds: dict[str, ast.ClassDef]) -> Iterator[Raised]:
        for function, call in self._calls(self.tree, None):
            name = (
                call.func.attr
                if isinstance(call.func, ast.Attribute)
                else getattr(call.func, "id", "")
            )
            kind = "QueryError" if name in PROBLEMS else name
            if kind == "MissingExtra" and len(call.args) == 2:
                yield self._missing(call)
            elif kind in kinds and call.args:
                yield from self._messages(kind, call, function)

    def _missing(self, call: ast.Call) -> Raised:
        package, extra = (self.texts(argument, None)[0] for argument in call.args)
        cause, way_out = parted(str(MissingExtra(package, extra)))
        return Raised(self.name, "MissingExtra", cause, way_out)

    def _calls(
        self, node: ast.AST, inside: Function | None
    ) -> Iterator[tuple[Function | None, ast.Call]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Call):
                yield inside, child
            yield from self._calls(
                child, child if isinstance(child, Function) else inside
            )

    def _messages(
        self, kind: str, call: ast.Call, function: Function | None
    ) -> Iterator[Raised]:
        named = isinstance(call.func, ast.Name) and kind not in ("QueryError", *UNNAMED)
        arguments = self.texts(call.args[0], function) if named else [""]
        message = call.args[1] if named and len(call.args) > 1 else call.args[0]
        for argument, text in itertools.product(
            arguments, self.texts(message, function)
        ):
            if len(text.replace(FILLED, "").strip(" :;,.")) > 3:
                cause, way_out = parted(text)
                shown = sentence(argument, cause) if argument else cause
                yield Raised(self.name, kind, shown, way_out)

    def texts(
        self, node: ast.AST | None, function: Function | None, depth: int = 0
    ) -> list[str]:
        """The forms that an expression of text can take."""
        found = [FILLED]
        match node:
            case ast.Constant(value=str(text)):
                found = [text]
            case ast.JoinedStr(values=parts):
                found = _joined([self.texts(part, function, depth) for part in parts])
            case ast.FormattedValue(value=value):
                found = self.texts(value, function, depth)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                found = _joined(
                    [
                        self.texts(left, function, depth),
                        self.texts(right, function, depth),
                    ]
                )
            case ast.IfExp(body=one, orelse=other):
                found = [
                    *self.texts(one, function, depth),
                    *self.texts(other, function, depth),
                ][:MOST]
            case ast.Name(id=name) if depth < DEEPEST:
                found = self._named(name, function, depth + 1)
            case ast.Subscript(value=ast.Name(id=name), slice=key) if depth < DEEPEST:
                found = self._listed(name, key, depth + 1)
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if (
                depth < DEEPEST
            ):
                found = self._returned(name, depth + 1)
        return found

    def _named(self, name: str, function: Function | None, depth: int) -> list[str]:
        """What a name stands for: in its function, else in the module."""
        inside = [] if function is None else list(ast.walk(function))
        for scope in (inside, self.tree.body):
            values = [node.value for node in scope if _assigns(node, name)]
            found = [
                text for value in values for text in self.texts(value, function, depth)
            ]
            if found:
                return found[:MOST]
        other = self._imported(name)
        return [FILLED] if other is None else other._named(name, None, depth)

    def _imported(self, name: str) -> Module | None:
        """The module of Dither from which this one imports a name."""
        sources = (
            node.module
            for node in self.tree.body
            if isinstance(node, ast.ImportFrom) and node.module and not node.level
            if any(alias.name == name and not alias.asname for alias in node.names)
        )
        source = next(sources, "")
        path = SOURCE.parent / f"{source.replace('.', '/')}.py"
        return _module_at(path) if path.is_file() else None

    def _listed(self, name: str, wanted: ast.expr, depth: int) -> list[str]:
        """The texts that a table of the module holds: under one key, or under any where
        it is not known.
        """
        tables = [node.value for node in self.tree.body if _assigns(node, name)]
        items = [
            item
            for table in tables
            if isinstance(table, ast.Dict)
            for item in _items(table)
        ]
        under = [
            value
            for key, value in items
            if key is not None and ast.dump(key) == ast.dump(wanted)
        ]
        every = [
            text
            for value in under or [one for _, one in items]
            for text in self.texts(value, None, depth)
        ]
        return list(dict.fromkeys(every)) or [FILLED]

    def _returned(self, name: str, depth: int) -> list[str]:
        """What a function of the module returns, if that is text."""
        made = [
            node
            for node in ast.walk(self.tree)
            if isinstance(node, Function) and node.name == name
        ]
        returns = [
            (one, node.value)
            for one in made
            for node in ast.walk(one)
            if isinstance(node, ast.Return)
        ]
        found = [
            text for one, value in returns for text in self.texts(value, one, depth)
        ]
        if made:
            return list(dict.fromkeys(found))[:MOST] or [FILLED]
        other = self._imported(name)
        return [FILLED] if other is None else other._returned(name, depth)


@functools.cache
def _module_at(path: Path) -> Module:
    return Module.of(path)


UNNAMED = (
    "CollectorError",
    "DeviceError",
    "DitherError",
    "EngineFailed",
    "BudgetExceeded",
    "LedgerError",
    "MachineFailed",
    "AccountFrozen",
    "MissingExtra",
)
"""Errors whose message does not begin with the name of an argument."""


def _assigns(node: ast.AST, name: str) -> TypeGuard[ast.Assign | ast.AnnAssign]:
    targets = (
        node.targets
        if isinstance(node, ast.Assign)
        else [node.target]
        if isinstance(node, ast.AnnAssign)
        else []
    )
    return any(isinstance(target, ast.Name) and target.id == name for target in targets)


def parted(text: str) -> tuple[str, str]:
    """A message as its cause and the way out: what begins with an imperative, else what
    follows the first semicolon, or what something must be.
    """
    found = WAY_OUT.search(text)
    if found:
        return text[: found.start()], text[found.end() :]
    cause, _, way_out = text.partition("; ")
    if way_out.strip(f"{FILLED} "):
        return cause, way_out
    if IMPERATIVE.match(text):
        return text, AS_SAID
    _, must, wanted = cause.partition("must ")
    advised = _advised(wanted.partition(", not …")[0]) if must else ""
    filled = way_out or cause.endswith((f": {FILLED}", f", {FILLED}"))
    return cause, advised or (AS_ENDS if filled else "")


def _advised(wanted: str) -> str:
    """What to do about something that must be what is wanted; empty if the cause says
    it already.
    """
    verb, _, rest = wanted.partition(" ")
    first = rest.partition(" ")[0]
    if verb == "lie" or (verb == "be" and first in RANGE):
        return f"pass a value {rest}"
    if verb != "be" or first in NO_NOUN:
        return ""
    return f"pass {'a value that is ' * (first in ADJECTIVES)}{rest}"


def _items(table: ast.Dict) -> Iterator[tuple[ast.expr | None, ast.expr]]:
    return zip(table.keys, table.values, strict=True)


def _joined(parts: list[list[str]]) -> list[str]:
    return ["".join(form) for form in itertools.islice(itertools.product(*parts), MOST)]


@functools.cache
def found() -> tuple[Raised, ...]:
    """All messages of the source."""
    kinds = classes()
    modules = [
        Module.of(path)
        for path in sorted(SOURCE.rglob("*.py"))
        if path.name != "errors.py"
    ]
    return tuple(
        dict.fromkeys(raised for module in modules for raised in module.raised(kinds))
    )


def pages() -> made.Pages:
    """The pages as the source has them."""
    topics = {f"errors/{name}.md": _topic(name) for name in TOPICS}
    return {"errors/index.md": _overview(), **topics}


def _overview() -> str:
    """The topics, how the kinds of errors hang together, and what each one means."""
    topics = [
        f"| [{topic.title}]({name}.md) | {topic.doing} | {_modules(topic)} |"
        for name, topic in TOPICS.items()
    ]
    return made.page(
        TOOL,
        "Errors",
        INTRODUCTION,
        "\n".join(
            ["| topic | what you were doing | modules |", "|---|---|---|", *topics]
        ),
        "## Kinds of errors",
        "Every error is a `DitherError`; below it:",
        "\n".join(["```text", _tree(), "```"]),
        *(_kind(name, kind) for name, kind in classes().items()),
    )


def _modules(topic: Topic) -> str:
    """The modules of a topic that raise anything, themselves or below."""
    names = [f"dither.{module}" for module in topic.modules]
    raising = [f"{one.module}." for one in found()]
    return ", ".join(
        f"`{name}`"
        for name in names
        if any(one.startswith(f"{name}.") for one in raising)
    )


def _tree() -> str:
    """The kinds of errors, as the source draws them."""
    drawn = ast.parse((SOURCE / "errors.py").read_text(encoding="utf-8"))
    lines = (ast.get_docstring(drawn) or "").splitlines()
    return "\n".join(
        line.removeprefix("    ") for line in lines if line.startswith("    ")
    )


def _kind(name: str, kind: ast.ClassDef) -> str:
    means, way_out = described(kind)
    said = f"**What to do.** {way_out[:1].upper()}{way_out[1:]}"
    return "\n".join([f"### {name} {{ #dither.{name} }}", "", means, "", said])


def _topic(name: str) -> str:
    """The messages of a topic, by module and by kind of error."""
    topic = TOPICS[name]
    mine = [one for one in found() if topic_of(one.module) == name]
    modules = dict.fromkeys(one.module for one in mine)
    parts = [
        _module(module, [one for one in mine if one.module == module])
        for module in modules
    ]
    return made.page(TOOL, f"Errors: {topic.title}", topic.doing, SAID, *parts)


SAID = (
    "The messages are listed by the module that raises them. In a message, … stands for "
    "what is filled in. [Errors](index.md) explains the kinds."
)


def _module(module: str, raised: list[Raised]) -> str:
    lines = [f"## {module} {{ #{module} }}", ""]
    for name, kind in classes().items():
        mine = [one for one in raised if one.kind == name]
        if mine:
            lines += [f"| [{name}](index.md#dither.{name}) | what to do |"]
            lines += ["|---|---|"]
            lines += [_row(one, described(kind)[1]) for one in mine]
            lines.append("")
    return "\n".join(lines)


def _row(one: Raised, usual: str) -> str:
    """A message and what to do: as it says, or as is usual for its kind. Nothing is
    usual for an argument: its message says what it must be.
    """
    says = one.way_out.strip(" …?")
    otherwise = "" if one.kind == "ArgumentError" else usual
    return (
        f"| {made.cell(one.cause)} | {made.cell(one.way_out if says else otherwise)} |"
    )


if __name__ == "__main__":
    made.write(pages())
