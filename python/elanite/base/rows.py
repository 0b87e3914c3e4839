"""Table rows and JSON texts as typed dictionaries.

To a type checker, a table's rows are dictionaries with any values. A ``TypedDict`` names their
columns and types; the functions compare its keys with the columns, so that rows are complete.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeVar, cast

if TYPE_CHECKING:
    import polars as pl

Row = TypeVar("Row")


def rows(table: pl.DataFrame, shape: type[Row]) -> list[Row]:
    """All rows; ``shape`` is a ``TypedDict``. Raises ``KeyError`` if the table lacks a column."""
    missing = shape.__annotations__.keys() - set(table.columns)
    if missing:
        raise KeyError(f"a table has no column {', '.join(sorted(missing))}")
    return cast("list[Row]", table.to_dicts())


def first(table: pl.DataFrame, shape: type[Row]) -> Row:
    """A table's first row, which must exist."""
    return rows(table.head(1), shape)[0]


def section(value: object) -> Mapping[str, object]:
    """A value that is known to be a JSON or TOML table. Raises ``TypeError`` if it is another."""
    if not isinstance(value, Mapping):
        raise TypeError(f"a table is needed, not {value!r}")
    return value
