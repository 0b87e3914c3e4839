"""Every point's tables, as the simulator defines them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elanite import _core

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

Table = str
"""A name in ``TABLES``."""

TABLES: dict[Table, dict[str, str]] = {
    name: {column: kind for column, kind, _, _ in columns} for name, columns in _core.tables()
}
"""Every point's tables, as the simulator defines them: column names and their types."""


def frame(columns: Mapping[str, tuple[str, Sequence[object]]]) -> pl.DataFrame:
    """A data frame from the simulator's columns, each with its type."""
    import polars as pl

    return pl.DataFrame(
        [pl.Series(name, values, getattr(pl, kind)) for name, (kind, values) in columns.items()]
    )


def empty(table: Table) -> pl.DataFrame:
    """A point's table without rows."""
    return frame({column: (kind, []) for column, kind in TABLES[table].items()})


def fit(schema: Mapping[str, object], table: Table, *, complete: bool) -> None:
    """Compare a stored table's columns with those of its kind.

    ``complete``: this build has written it, so that it has all of them and no others. Raises
    ``ValueError`` with the difference.
    """
    import polars as pl

    known = TABLES[table]
    for name, kind in known.items():
        if name not in schema:
            if complete:
                raise ValueError(f"the column {name} is missing")
        elif schema[name] != getattr(pl, kind):
            raise ValueError(f"the column {name} has another type")
    if complete and (more := [name for name in schema if name not in known]):
        raise ValueError(f"there is no column {more[0]}")
