"""Choices of one of several values: CASE, COALESCE, NULLIF, LEAST and GREATEST."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sqlglot import exp

from dither.query.catalogue.types import Range, Type
from dither.query.operations import ranges
from dither.query.operations.arguments import (
    TypeProblem,
    certain,
    expect,
    is_null,
    literal,
    unify,
)
from dither.query.operations.expressions import Call, Expr
from dither.query.operations.logic import condition
from dither.query.operations.reading import BINARY, Reading, Written
from dither.query.operations.record import (
    UNKNOWN,
    Builder,
    Group,
    Known,
    Operation,
    Options,
    register,
)
from dither.query.operations.writing import Args, Spelling, Writer, function

__all__: list[str] = []

LISTED = ("this", "expressions")
Hull = Callable[[Sequence[Range], Sequence[Range]], Range]


# Reading


def _read_case(written: Written) -> Expr:
    node, binder = written.node, written.binder
    subject = None if node.this is None else written.arg()
    args: list[Expr] = []
    for branch in node.args["ifs"]:
        binder.only(branch, "this", "true")
        when = binder.bind(branch.this)
        if subject is not None:
            when = binder.call(branch, "eq", subject, when)
        args += [when, binder.bind(branch.args["true"])]
    return written.call("case", *args, _otherwise(written, "default"))


def _read_if(written: Written) -> Expr:
    # the last value is bound first: its problem is the one that is shown
    last = _otherwise(written, "false")
    return written.call("case", written.arg(), written.arg("true"), last)


def _otherwise(written: Written, part: str) -> Expr:
    there = written.node.args.get(part) is not None
    return written.arg(part) if there else literal(None)


def _read_list(op: str) -> Callable[[Written], Expr]:
    """A function of one argument or more."""
    return lambda written: written.call(op, written.arg(), *written.many())


# Types and ranges


def _case(args: tuple[Expr, ...], _: Options) -> Expr:
    """Pairs of a condition and a value, then the value otherwise."""
    if len(args) % 2 == 0 or len(args) < 3:
        raise TypeProblem(
            "CASE needs WHEN … THEN … pairs; write CASE WHEN x > 0 THEN 1 ELSE 0 END"
        )
    conditions = [condition("WHEN", arg) for arg in args[:-1:2]]
    values = unify("CASE", (*args[1::2], args[-1]))
    pairs = [
        part for pair in zip(conditions, values[:-1], strict=True) for part in pair
    ]
    return Call(values[0].type, _hull(values), "case", (*pairs, values[-1]))


def _hull(values: tuple[Expr, ...]) -> Range:
    return ranges.hull(
        [value.range for value in values if not is_null(value)] or [values[0].range]
    )


def _coalesce(args: tuple[Expr, ...], _: Options) -> Expr:
    if not args:
        raise TypeProblem("COALESCE needs an argument; write COALESCE(x, 0)")
    args = unify("COALESCE", args)
    last = next(
        (place for place, arg in enumerate(args) if certain(arg)), len(args) - 1
    )
    args = args[: last + 1]
    return Call(args[0].type, _hull(args), "coalesce", args)


def _nullif(args: tuple[Expr, ...], _: Options) -> Expr:
    expect("NULLIF", args, 2)
    args = unify("NULLIF", args)
    return Call(args[0].type, args[0].range, "nullif", args)


def _extreme(op: str, rule: Hull) -> Builder:
    def build(args: tuple[Expr, ...], _: Options) -> Expr:
        if not args:
            raise TypeProblem(
                f"{op.upper()} needs an argument; write {op.upper()}(x, 100)"
            )
        args = unify(op.upper(), args)
        present = [arg for arg in args if not is_null(arg)] or [args[0]]
        if any(arg.type is Type.BOOLEAN for arg in present):
            raise TypeProblem(
                f"{op.upper()} does not take conditions; join them with AND or OR"
            )
        surely = [arg.range for arg in present if certain(arg)]
        range_ = rule([arg.range for arg in present], surely)
        return Call(args[0].type, range_, op, args)

    return build


def _any(args: Sequence[Expr]) -> Sequence[Expr]:
    return args


# Python


def _python_case(*parts: Any) -> Any:
    pairs = zip(parts[:-1:2], parts[1::2], strict=True)
    return next((value for condition, value in pairs if condition), parts[-1])


def _python_coalesce(*values: Any) -> Any:
    return next((value for value in values if value is not None), None)


def _python_extreme(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *values: function(
        (value for value in values if value is not None), default=None
    )


# Ends of intervals


def _case_ends(group: Group, expr: Call) -> Known:
    """The branch that the keys choose."""
    for when, chosen in zip(expr.args[:-1:2], expr.args[1::2], strict=True):
        if not group.fixed(when):
            return UNKNOWN
        if group.value(when):
            return group.known(chosen)
    return group.known(expr.args[-1])


def _coalesce_ends(group: Group, expr: Call) -> Known:
    """Operands after a value that is certainly present are never chosen."""
    args = _present(group, expr)
    sure = next((place for place, arg in enumerate(args) if arg.sure), len(args))
    return _one_of(args[: sure + 1], lambda found, _: ranges.hull(found))


def _extreme_ends(rule: Hull) -> Callable[[Group, Call], Known]:
    return lambda group, expr: _one_of(_present(group, expr), rule)


def _present(group: Group, expr: Call) -> list[Known]:
    args = [group.known(arg) for arg in expr.args]
    return [arg for arg in args if not arg.null]


def _one_of(args: list[Known], rule: Hull) -> Known:
    found = [arg.range for arg in args if arg.range is not None]
    if len(found) < len(args):
        return UNKNOWN
    surely = [arg.range for arg in args if arg.sure and arg.range is not None]
    return Known(rule(found, surely), any(arg.sure for arg in args))


# SQL


def _write_case(_: Call, args: Args, __: Spelling) -> str:
    pairs = zip(args[:-1:2], args[1::2], strict=True)
    whens = " ".join(f"WHEN {condition} THEN {value}" for condition, value in pairs)
    return f"(CASE {whens} ELSE {args[-1]} END)"


def _write_nullif(_: Call, args: Args, spelling: Spelling) -> str:
    return spelling.once(
        args[0], lambda it: f"(CASE WHEN {it} = {args[1]} THEN NULL ELSE {it} END)"
    )


def _spark_extreme(name: str) -> Writer:
    """Spark's need two arguments at least."""
    return lambda _, args, __: (
        f"{name}({', '.join(args)})" if len(args) > 1 else args[0]
    )


register(
    Operation(
        "case",
        reads=(
            Reading(exp.Case, also=("ifs", "default"), bind=_read_case),
            Reading(exp.If, ("this", "true", "false"), bind=_read_if),
        ),
        functions=("IF",),
        build=_case,
        chooses=lambda args: [*args[1::2], args[-1]],
        python=_python_case,
        strict=False,
        ends=_case_ends,
        sql=_write_case,
    ),
    Operation(
        "coalesce",
        reads=(
            Reading(
                exp.Coalesce, LISTED, ("ignore_nulls",), bind=_read_list("coalesce")
            ),
        ),
        functions=("COALESCE", "IFNULL"),
        build=_coalesce,
        chooses=_any,
        python=_python_coalesce,
        strict=False,
        skips_null=True,
        ends=_coalesce_ends,
        sql=function("coalesce"),
    ),
    Operation(
        "nullif",
        reads=(Reading(exp.Nullif, BINARY),),
        functions=("NULLIF",),
        build=_nullif,
        chooses=lambda args: args[:1],
        python=lambda a, b: None if a is not None and a == b else a,
        strict=False,
        sql=_write_nullif,
        postgres=function("nullif"),
    ),
    Operation(
        "least",
        reads=(
            Reading(exp.Least, LISTED, ("ignore_nulls",), bind=_read_list("least")),
        ),
        functions=("LEAST",),
        build=_extreme("least", ranges.least),
        chooses=_any,
        python=_python_extreme(min),
        strict=False,
        skips_null=True,
        ends=_extreme_ends(ranges.least),
        sql=function("least"),
        spark=_spark_extreme("least"),
    ),
    Operation(
        "greatest",
        reads=(
            Reading(
                exp.Greatest, LISTED, ("ignore_nulls",), bind=_read_list("greatest")
            ),
        ),
        functions=("GREATEST",),
        build=_extreme("greatest", ranges.greatest),
        chooses=_any,
        python=_python_extreme(max),
        strict=False,
        skips_null=True,
        ends=_extreme_ends(ranges.greatest),
        sql=function("greatest"),
        spark=_spark_extreme("greatest"),
    ),
)
