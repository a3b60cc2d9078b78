"""Comparisons, and AND, OR and NOT. They cannot fail, and all engines write them alike."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from sqlglot import exp

from dither.query.catalogue.types import Type
from dither.query.operations.arguments import (
    TRUTH,
    TypeProblem,
    describe,
    is_null,
    null,
    of_type,
    unify,
)
from dither.query.operations.expressions import Call, Expr
from dither.query.operations.reading import BINARY, Reading, Written, plain
from dither.query.operations.record import Builder, Operation, Options, register
from dither.query.operations.writing import Args, Spelling, infix, suffix

__all__ = ["condition"]


# Reading


def _chain(op: str) -> Callable[[Written], Expr]:
    """A chain of AND or OR as one operation, however long it is."""

    def bind(written: Written) -> Expr:
        links: list[exp.Expr] = []
        rest = [written.node]
        while rest:
            found = rest.pop()
            if type(found) is type(written.node):
                written.binder.only(found, *BINARY)
                rest += [found.expression, found.this]
            else:
                links.append(found)
        return written.call(op, *[written.binder.bind(link) for link in links])

    return bind


def _is_not_null(written: Written) -> Expr | None:
    """x IS NOT NULL, which is parsed as NOT x IS NULL."""
    inner = plain(written.node.this)
    if not isinstance(inner, exp.Is) or not isinstance(inner.expression, exp.Null):
        return None
    written.binder.only(inner, *BINARY)
    return written.call("is_not_null", written.binder.bind(inner.this))


def _is_null(written: Written) -> Expr | None:
    """The first of the operations that IS may mean, so it refuses what none of them
    takes.
    """
    wanted, value = written.node.expression, written.arg()
    if isinstance(wanted, exp.Null):
        return written.call("is_null", value)
    if isinstance(wanted, exp.Boolean):
        return None
    raise written.problem(
        "IS only compares with NULL, TRUE or FALSE; write = for other values"
    )


def _is_truth(op: str, truth: bool) -> Callable[[Written], Expr | None]:
    def bind(written: Written) -> Expr | None:
        if bool(written.node.expression.this) is not truth:
            return None
        return written.call(op, written.arg())

    return bind


def _in(written: Written) -> Expr:
    if written.node.args.get("query") is not None:
        raise written.problem(
            "IN (SELECT …) is allowed only in WHERE, alone or combined with other "
            "conditions by AND; move it there"
        )
    if not written.node.expressions:
        raise written.problem("IN needs a list of values; write x IN (1, 2)")
    return written.call("in", written.arg(), *written.many())


# Types


def condition(what: str, arg: Expr) -> Expr:
    if not of_type(arg, Type.BOOLEAN):
        raise TypeProblem(
            f"{what} needs a condition, not {describe(arg)}; write a "
            "comparison such as x <> 0"
        )
    return null(Type.BOOLEAN) if is_null(arg) else arg


def _comparison(op: str, sign: str, count: int | None = 2) -> Builder:
    def build(args: tuple[Expr, ...], _: Options) -> Expr:
        if len(args) < 2 or (count is not None and len(args) != count):
            raise TypeProblem(
                f"{sign} takes {count or 'two or more'} arguments, not {len(args)}"
            )
        return Call(Type.BOOLEAN, TRUTH, op, unify(sign, args))

    return build


def _null_test(op: str) -> Builder:
    return lambda args, _: Call(Type.BOOLEAN, TRUTH, op, args[:1])


def _logic(op: str, what: str) -> Builder:
    def build(args: tuple[Expr, ...], _: Options) -> Expr:
        conditions = tuple(condition(what, arg) for arg in args)
        return Call(Type.BOOLEAN, TRUTH, op, conditions)

    return build


# Python: a third truth, None, as in SQL


def _both(*values: bool | None) -> bool | None:
    return False if False in values else None if None in values else True


def _either(*values: bool | None) -> bool | None:
    return True if True in values else None if None in values else False


def _not(value: bool | None) -> bool | None:
    return None if value is None else not value


def _compared(function: Callable[[Any, Any], bool], a: Any, b: Any) -> bool | None:
    return None if a is None or b is None else function(a, b)


def _between(value: Any, low: Any, high: Any) -> bool | None:
    return _both(
        _compared(operator.ge, value, low), _compared(operator.le, value, high)
    )


def _among(value: Any, *options: Any) -> bool | None:
    return _either(*(_compared(operator.eq, value, option) for option in options))


# SQL


def _listed(_: Call, args: Args, __: Spelling) -> str:
    return f"({args[0]} IN ({', '.join(args[1:])}))"


def _bounded(_: Call, args: Args, __: Spelling) -> str:
    return f"({args[0]} BETWEEN {args[1]} AND {args[2]})"


def _comparing(
    op: str, sign: str, node: type[exp.Expr], function: Callable[[Any, Any], bool]
) -> Operation:
    """The record of one of the six comparisons, which differ in their sign only."""
    return Operation(
        op,
        reads=(Reading(node, BINARY),),
        sign=sign,
        build=_comparison(op, sign),
        python=function,
        sql=infix(sign),
    )


register(
    _comparing("eq", "=", exp.EQ, operator.eq),
    _comparing("ne", "<>", exp.NEQ, operator.ne),
    _comparing("lt", "<", exp.LT, operator.lt),
    _comparing("le", "<=", exp.LTE, operator.le),
    _comparing("gt", ">", exp.GT, operator.gt),
    _comparing("ge", ">=", exp.GTE, operator.ge),
    Operation(
        "is_distinct",
        reads=(Reading(exp.NullSafeNEQ, BINARY),),
        sign="IS DISTINCT FROM",
        build=_comparison("is_distinct", "IS DISTINCT FROM"),
        python=operator.ne,
        strict=False,
        sql=infix("IS DISTINCT FROM"),
    ),
    Operation(
        "is_not_distinct",
        reads=(Reading(exp.NullSafeEQ, BINARY),),
        sign="IS NOT DISTINCT FROM",
        build=_comparison("is_not_distinct", "IS NOT DISTINCT FROM"),
        python=operator.eq,
        strict=False,
        sql=infix("IS NOT DISTINCT FROM"),
    ),
    Operation(
        "between",
        reads=(Reading(exp.Between, ("this", "low", "high")),),
        build=_comparison("between", "BETWEEN", 3),
        python=_between,
        strict=False,
        sql=_bounded,
    ),
    Operation(
        "in",
        reads=(Reading(exp.In, also=("expressions", "query", "field"), bind=_in),),
        build=_comparison("in", "IN", None),
        python=_among,
        strict=False,
        sql=_listed,
    ),
    Operation(
        "is_null",
        reads=(Reading(exp.Is, BINARY, bind=_is_null),),
        build=_null_test("is_null"),
        python=lambda value: value is None,
        strict=False,
        sql=suffix("IS NULL"),
    ),
    Operation(
        "is_not_null",
        reads=(Reading(exp.Not, bind=_is_not_null),),
        build=_null_test("is_not_null"),
        python=lambda value: value is not None,
        strict=False,
        sql=suffix("IS NOT NULL"),
    ),
    Operation(
        "and",
        reads=(Reading(exp.And, BINARY, bind=_chain("and")),),
        sign="AND",
        build=_logic("and", "AND"),
        python=_both,
        strict=False,
        sql=infix("AND"),
    ),
    Operation(
        "or",
        reads=(Reading(exp.Or, BINARY, bind=_chain("or")),),
        sign="OR",
        build=_logic("or", "OR"),
        python=_either,
        strict=False,
        sql=infix("OR"),
    ),
    Operation(
        "not",
        reads=(Reading(exp.Not, last=True),),
        build=_logic("not", "NOT"),
        python=_not,
        strict=False,
        sql=lambda _, args, __: f"(NOT {args[0]})",
    ),
    Operation(
        "is_true",
        reads=(Reading(exp.Is, BINARY, bind=_is_truth("is_true", True)),),
        build=_logic("is_true", "IS TRUE"),
        python=lambda value: value is True,
        strict=False,
        sql=suffix("IS NOT DISTINCT FROM TRUE"),
    ),
    Operation(
        "is_false",
        reads=(Reading(exp.Is, BINARY, bind=_is_truth("is_false", False)),),
        build=_logic("is_false", "IS FALSE"),
        python=lambda value: value is False,
        strict=False,
        sql=suffix("IS NOT DISTINCT FROM FALSE"),
    ),
)
