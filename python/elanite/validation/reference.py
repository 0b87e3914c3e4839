"""Reference results: the points that a quick reproduction leaves out, as the whole run has them.

A quick run leaves out points that no claim is measured on (see ``quick``), and a figure that draws
them would have empty axes. ``data/reference.parquet`` ships these points' measured rows, found by
identity. A quick run's report draws them beside its own points and marks them: each row has the
column ``shipped``, means keep it, marks are hollow with dashed outlines, and captions mention it.
Claims and stores never see these rows.

An identity contains the model revision: rows from an older revision are not found, and a figure
lacks them rather than mixes revisions. ``make docs`` renews the file from a whole run
(``docs/reference.py``).
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import polars as pl

from elanite.base import bounded
from elanite.results import frames
from elanite.store import TABLES
from elanite.validation import short_runs

if TYPE_CHECKING:
    from pathlib import Path

    from elanite.inputs.plan import Plan
    from elanite.store import Store

FILE = "reference.parquet"
"""Columns: ``id``, the point's identity, and the columns of the table ``rows``."""


def rows(plan: Plan) -> pl.DataFrame | None:
    """The tidy rows of the points that a plan's quick form leaves out, marked; `None` if no rows
    are shipped.
    """
    points = {point.id: point for point in short_runs.left_out(plan.experiment.name)}
    found = _table().filter(pl.col("id").is_in(list(points)))
    tables = found.partition_by("id", as_dict=True, include_key=False, maintain_order=True)
    here = [points[str(identity)] for (identity,) in tables]
    if not here:
        return None
    return frames.joined(here, list(tables.values())).with_columns(
        pl.lit(True).alias(frames.SHIPPED)
    )


def completed(own: pl.DataFrame, beside: pl.DataFrame) -> pl.DataFrame:
    """A run's rows, then the shipped rows for configurations that the run does not have.

    Series may share configurations, and a quick run may have simulated one with a shorter window.
    """
    rows = pl.concat([own, beside], how="diagonal_relaxed")
    keys = [name for name in frames.parameters(rows) if name not in ("series", "job")]
    mine, shipped = rows.head(len(own)), rows.tail(len(beside))
    return pl.concat(
        [mine, shipped.join(mine, on=keys, how="anti", nulls_equal=True, maintain_order="left")]
    )


def write(store: Store, file: Path) -> int:
    """Write the file from a store and return the point count.

    Raises ``LookupError`` if the store lacks a point.
    """
    tables = []
    for name in short_runs.table():
        for point in short_runs.left_out(name):
            if store.get(point.id) is None:
                raise LookupError(
                    f"the store has no point {point.id} of {name}, series {point.series}"
                )
            tables.append(store.table(point.id, "rows").with_columns(pl.lit(point.id).alias("id")))
    table = pl.concat(tables, how="vertical_relaxed").select("id", *TABLES["rows"])
    table.write_parquet(file, compression="zstd", compression_level=19, statistics=False)
    return len(tables)


@cache
def _table() -> pl.DataFrame:
    return pl.read_parquet(bounded.packaged_bytes("data", FILE))
