"""Selects rows by claims' and figures' ``where``.

For a column, ``where`` gives a value, a list of values, or a table with bounds: ``least`` and
``most`` (inclusive), ``above`` and ``below`` (exclusive), or ``not`` with the values to leave out.
The empty text stands for rows without such a parameter, and ``{other}`` for another column's value.
Columns that no row has are empty.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from elanite.results.frames import padded

if TYPE_CHECKING:
    from collections.abc import Mapping

    Scalar = str | int | float | bool

BOUNDS = {"least": pl.Expr.ge, "most": pl.Expr.le, "above": pl.Expr.gt, "below": pl.Expr.lt}


def chosen(rows: pl.DataFrame, where: Mapping[str, object]) -> pl.DataFrame:
    """The selected rows."""
    rows = padded(rows, **dict.fromkeys(where, pl.String))
    return (
        rows.filter([_condition(rows, name, wanted) for name, wanted in where.items()])
        if where
        else rows
    )


def empty(rows: pl.DataFrame, name: str) -> pl.Expr:
    """Whether rows lack a parameter's value."""
    column = pl.col(name)
    return column.is_null() | (column == "") if rows.schema[name] == pl.String else column.is_null()


def _condition(rows: pl.DataFrame, name: str, wanted: object) -> pl.Expr:
    column = pl.col(name)
    if isinstance(wanted, dict) and "not" in wanted:
        return ~_condition(rows, name, wanted["not"])
    if isinstance(wanted, dict):
        return pl.all_horizontal(BOUNDS[bound](column, value) for bound, value in wanted.items())
    if isinstance(wanted, str) and wanted.startswith("{"):
        return column.eq_missing(pl.col(wanted.strip("{}")))
    values = list(wanted) if isinstance(wanted, list | tuple) else [wanted]
    if rows.schema[name] == pl.String:
        numbers = [value for value in values if isinstance(value, float)]
        values = [str(value) for value in values]
        same = [
            column.cast(pl.Float64, strict=False).eq_missing(value) for value in numbers
        ]  # a text such as 1e-7
    else:
        same = []
    equal = [column.eq_missing(value) for value in values if value != ""]
    meant = pl.any_horizontal(pl.lit(False), *equal, *same)
    return meant | empty(rows, name) if "" in values else meant
