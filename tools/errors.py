"""Writes docs/errors.md, the index of all errors, from the source: `python
tools/errors.py`.

Every message that is raised is read off the syntax tree: what is fixed in it as it
stands, what is filled in later as an ellipsis. A test compares the page with the
source, so no message is typed in.
"""

from __future__ import annotations

import ast
import functools
import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeGuard

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "dither"
PAGE = ROOT / "docs" / "errors.md"
FILLED = "…"
MOST = 8
"""How many forms of one message are shown."""
DEEPEST = 4
"""How many names are followed from a message to its parts."""
IMPERATIVE = re.compile(r"(state|say|write|choose|name) ")
PROBLEMS = ("problem", "problem_at")
HEAD = """\
# Errors

Every error that Dither raises on purpose, with its cause and the way out. This page is made from the source by
`python tools/errors.py`; … stands for what the message fills in: a name, a number, a place. No message ever holds a
value from private rows.

```
{tree}
```
"""

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
        return Raised(
            self.name,
            "MissingExtra",
            f"this needs {package}",
            f"pip install 'dither[{extra}]'",
        )

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
                shown = f"{argument}: {cause}" if argument else cause
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
        return [FILLED]

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
        return list(dict.fromkeys(found))[:MOST] or [FILLED]


UNNAMED = (
    "DeviceError",
    "DitherError",
    "EngineFailed",
    "BudgetExceeded",
    "LedgerError",
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
    """A message as its cause and the way out: what follows the first semicolon, or what
    something must be.
    """
    cause, _, way_out = text.partition("; ")
    if way_out:
        return cause, way_out
    if IMPERATIVE.match(text):
        return "it is not clear what is wanted", text
    _, must, wanted = text.partition("must ")
    wanted = wanted.partition(", not …")[0]
    if not must:
        return text, ""
    return text, f"pass {wanted[3:]}" if wanted.startswith(
        "be "
    ) else f"let it {wanted}"


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


def page() -> str:
    """The page as the source has it."""
    tree = (
        ast.get_docstring(ast.parse((SOURCE / "errors.py").read_text(encoding="utf-8")))
        or ""
    )
    drawn = "\n".join(
        line.removeprefix("    ")
        for line in tree.splitlines()
        if line.startswith("    ")
    )
    every = found()
    sections = [_section(name, kind, every) for name, kind in classes().items()]
    return "\n".join([HEAD.format(tree=drawn), *sections])


def _section(name: str, kind: ast.ClassDef, every: tuple[Raised, ...]) -> str:
    means, way_out = described(kind)
    lines = [
        f"## {name}",
        "",
        means,
        "",
        f"**Way out.** {way_out[:1].upper()}{way_out[1:]}",
        "",
    ]
    mine = [one for one in every if one.kind == name]
    for module in dict.fromkeys(one.module for one in mine):
        lines += [
            f"### {module} ({name})",
            "",
            "| what is wrong | what to do |",
            "|---|---|",
        ]
        lines += [
            (
                f"| {_cell(one.cause)} | "
                f"{_cell(one.way_out if one.way_out.strip(' …?') else way_out)} |"
            )
            for one in mine
            if one.module == module
        ]
        lines.append("")
    return "\n".join(lines)


def _cell(text: str) -> str:
    """A text on one line of a table, shown as it is."""
    plain = " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
    for sign in "*_`[":
        plain = plain.replace(sign, f"\\{sign}")
    return plain


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
