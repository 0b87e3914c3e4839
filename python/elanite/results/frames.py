"""Result tables: tidy frames from the store, and their means with confidence intervals.

Python groups; the intervals themselves come from the simulator's statistics.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from elanite import _core
from elanite.base.text import FEWEST
from elanite.results.independent_values import independent
from elanite.store import empty

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from elanite.inputs.plan import Plan, Point
    from elanite.store import Store, Table

SUFFIX = {"B": "_bytes", "MB/s": "_MBps", "us": "_us"}
"""A parameter that is a quantity also has a numeric column, named with its unit: ``message`` and
``message_bytes``.
"""

MEASURED = ("metric", "unit", "batch", "value")

SHIPPED = "shipped"
"""The column that marks rows from the shipped reference results (see ``reference``); other tables
lack it.
"""

DRAWN = "drawn"
"""The column with whether the simulator drew random numbers for the point, or did not record it
(see ``samples``); only claim tables have it.
"""

SHORT = "short"
"""The column with whether a short run has shortened the point (see ``quick``); only claim tables
from short runs have it.
"""

FOREIGN = "foreign"
"""The column that marks rows from machines outside the experiment (see ``figures.origin``)."""

STATE = "state"
"""The column with the state of a point's load (see ``states``)."""

CLOSED = {"goodput": "accepted"}
"""Kinds in closed form with their metric: the packets of their runs, without errors, measure
nothing.
"""

REASON = "because"
"""The column with the comparison that decides the state."""


def finished(plan: Plan, store: Store) -> list[Point]:
    """The plan's points that the store holds."""
    return [point for point in plan.points if store.get(point.id) is not None]


def tidy(points: Sequence[Point], store: Store, table: Table = "rows") -> pl.DataFrame:
    """One row per (point, metric, batch), with the point's parameters.

    ``table`` may be another name in ``store.TABLES``, with rows that come with the same parameters.
    """
    if not points:
        columns = {"id": pl.String, "experiment": pl.String, "series": pl.String, "seed": pl.Int64}
        return pl.DataFrame(schema=columns | dict(empty(table).schema))
    tables = store.tables([point.id for point in points], table)
    if table == "rows":
        measured = [CLOSED.get(point.kind) for point in points]
        tables = [
            one.filter(pl.col("metric") == metric) if metric else one
            for one, metric in zip(tables, measured, strict=True)
        ]
    return joined(points, tables)


def joined(points: Sequence[Point], tables: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """All points' tables with one name as one table, each row with its point's parameters.

    The tables' columns keep their names: a parameter with the same name, such as a ping's node
    ``from`` beside links, becomes ``parameter_from``.
    """
    keys = pl.DataFrame(
        [identity(point) for point in points], infer_schema_length=None, strict=False
    )
    rows = pl.concat(tables, how="vertical_relaxed")
    numbers = [number for number, table in enumerate(tables) for _ in range(table.height)]
    rows = rows.with_columns(pl.Series("_point", numbers, pl.UInt32))
    keys = keys.rename({name: f"parameter_{name}" for name in keys.columns if name in rows.columns})
    return (
        keys.with_row_index("_point")
        .join(rows, on="_point", maintain_order="left_right")
        .drop("_point")
    )


def parameters(frame: pl.DataFrame) -> list[str]:
    """A tidy or summarised frame's columns that identify a row's configuration (without the
    seed).
    """
    other = {
        *MEASURED,
        SHIPPED,
        DRAWN,
        SHORT,
        FOREIGN,
        STATE,
        REASON,
        "id",
        "seed",
        "mean",
        "low",
        "high",
        "n",
    }
    return [name for name in frame.columns if name not in other]


def padded(frame: pl.DataFrame, **columns: type[pl.DataType]) -> pl.DataFrame:
    """The frame with columns in these types: null if no finished point has such a parameter yet."""
    missing = [
        pl.lit(None, dtype).alias(name)
        for name, dtype in columns.items()
        if name not in frame.columns
    ]
    return frame.with_columns(missing) if missing else frame


def varying(frame: pl.DataFrame) -> list[str]:
    """The parameters that differ within the frame, without their numeric twins."""
    twins = {name + suffix for name in frame.columns for suffix in SUFFIX.values()}
    return [name for name in parameters(frame) if name not in twins and frame[name].n_unique() > 1]


def summarise(frame: pl.DataFrame, by: Sequence[str] | None = None) -> pl.DataFrame:
    """Means over batches and seeds with 95% confidence intervals: columns mean, low, high and n.

    ``by`` are a group's columns; all parameters and the metric by default. ``n`` is the count of
    independent values (``elanite.results.independent_values``). A mean over shipped values stays
    marked.
    """
    keys = list(by) if by is not None else [*parameters(frame), "metric", "unit"]
    marks = [pl.col(SHIPPED).fill_null(value=False).any()] if SHIPPED in frame.columns else []
    seeds = pl.col("seed").alias("_seed")
    groups = (
        padded(frame, seed=pl.Int64)
        .group_by(keys, maintain_order=True)
        .agg(pl.col("value"), seeds, *marks)
    )
    units = [
        independent(*both)
        for both in zip(groups["value"].to_list(), groups["_seed"].to_list(), strict=True)
    ]
    intervals = [_core.interval(values) for values in units]
    return groups.with_columns(
        pl.Series("mean", [mean for mean, _, _ in intervals], pl.Float64),
        pl.Series("low", [low for _, low, _ in intervals], pl.Float64),
        pl.Series("high", [high for _, _, high in intervals], pl.Float64),
        pl.Series("n", [len(values) for values in units], pl.UInt32),
    ).drop("value", "_seed")


def averaged(frame: pl.DataFrame) -> str:
    """The repetitions behind the means of a metric's rows: ``batches and seeds``, ``seeds``.

    A percentile is a run's, and has no batches.
    """
    repeated = (
        padded(frame, seed=pl.Int64)
        .group_by(parameters(frame), maintain_order=True)
        .agg(pl.len().alias("values"), pl.col("seed").n_unique().alias("seeds"))
    )
    several = {
        "batches": bool((repeated["values"] > repeated["seeds"]).any()),
        "seeds": bool((repeated["seeds"] > 1).any()),
    }
    return " and ".join(name for name, found in several.items() if found)


def resolved(means: pl.DataFrame) -> pl.DataFrame:
    """Means without intervals from fewer than three values."""
    enough = pl.col("n") >= FEWEST
    return means.with_columns(
        pl.when(enough).then(pl.col(end)).alias(end) for end in ("low", "high")
    )


def sustained(rows: pl.DataFrame) -> pl.DataFrame:
    """``accepted`` rows at the load with the highest accepted load, for each configuration without
    its load.

    A job among several has a separate load, ``a.load_MBps`` for the job ``a``; the others' loads
    are part of the configuration. Rows without an offered load are left out.
    """
    accepted = rows.filter(pl.col("metric") == "accepted").with_row_index("_row")
    bare = unloaded(accepted).filter(pl.col("_load").is_not_null())
    keys = [name for name in parameters(bare) if name not in ("_row", "_load", "series")]
    means = bare.group_by([*keys, "_load"], maintain_order=True).agg(
        pl.col("value").mean().alias("_mean")
    )
    best = means.sort("_mean", "_load", descending=[True, False]).unique(
        keys, keep="first", maintain_order=True
    )
    kept = bare.join(best, on=[*keys, "_load"], how="semi", nulls_equal=True, maintain_order="left")
    return accepted.filter(pl.col("_row").is_in(kept["_row"].implode())).drop("_row")


def unloaded(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows without their own job's load, which is in the column ``_load``, in MB/s; null
    without one.
    """
    suffix = SUFFIX["MB/s"]
    owned = [name for name in rows.columns if name.split(".")[-1] in ("load", f"load{suffix}")]
    job = pl.col("job") if "job" in rows.columns else pl.lit(None, pl.String)
    own = {
        name: job == name.rpartition(".")[0] if "." in name else pl.lit(value=True)
        for name in owned
    }
    loads = [
        pl.when(own[name]).then(pl.col(name))
        for name in sorted(owned, reverse=True)
        if name.endswith(suffix)
    ]
    return rows.with_columns(
        pl.coalesce([*loads, pl.lit(None, pl.Float64)]).alias("_load"),
        *(pl.when(~own[name]).then(pl.col(name)).alias(name) for name in owned),
    )


def identity(point: Point) -> dict[str, object]:
    """The columns that identify a point: names, seed, parameters, and parameters as numbers."""
    row: dict[str, object] = {
        "id": point.id,
        "experiment": point.experiment,
        "series": point.series,
        "seed": point.seed,
    }
    return row | quantities(point.parameters)


def quantities(parameters: Mapping[str, object]) -> dict[str, object]:
    """Parameters, and those that are quantities as numbers, too: ``message`` and
    ``message_bytes``.
    """
    row: dict[str, object] = {}
    for name, value in parameters.items():
        row[name] = value
        quantity = _core.quantity(value) if isinstance(value, str) else None
        if quantity is not None and quantity[1] in SUFFIX:
            amount, unit = quantity
            row[name + SUFFIX[unit]] = int(amount) if unit == "B" else amount
    return row
