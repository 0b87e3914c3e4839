"""The row kinds that claims name by ``rows``, for rows that columns cannot select."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from elanite.results.frames import REASON, STATE, padded, sustained
from elanite.results.policies import with_policies
from elanite.results.states import QueueState, is_steady, with_states

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

OF_JOBS = {"load_MBps": pl.Float64, "compute.load_MBps": pl.Float64, "io.load_MBps": pl.Float64}
"""Load columns for one job and for two jobs, which rows may lack."""


def prepared(rows: pl.DataFrame, kind: str, each: Sequence[str]) -> pl.DataFrame:
    """One kind's rows, with columns for the rails and policies of their machines."""
    rows = (
        with_policies(rows) if "machine" in rows.columns and "curve" not in rows.columns else rows
    )
    return KINDS[kind](rows, each)


def of_jobs(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows for one job or two, with the columns of both."""
    return padded(rows, **OF_JOBS, **{"nodes": pl.String, "compute.nodes": pl.String})


def compute(rows: pl.DataFrame, each: Sequence[str] = ()) -> pl.DataFrame:  # noqa: ARG001 - as all kinds
    """The compute job at its highest load, with the other job's load in ``io_load``, empty without
    one.
    """
    rows = of_jobs(rows).filter(pl.col("job") == "compute")
    rows = rows.with_columns(
        compute_load=pl.coalesce("load_MBps", "compute.load_MBps"),
        compute_nodes=pl.coalesce("nodes", "compute.nodes"),
        io_load=pl.col("io.load_MBps"),
    )
    return rows.filter(pl.col("compute_load") == pl.col("compute_load").max())


def steady(rows: pl.DataFrame, each: Sequence[str] = ()) -> pl.DataFrame:  # noqa: ARG001
    """Steady points (see ``states``)."""
    return with_states(rows).filter(is_steady()).drop(STATE, REASON)


def saturation(rows: pl.DataFrame, each: Sequence[str] = ()) -> pl.DataFrame:  # noqa: ARG001
    """The ``saturated`` rows by point state: 1 at saturated points, 0 at steady ones.

    An undecided point has both values, so that its interval contains both.
    """
    rows = with_states(rows).filter(pl.col("metric") == "saturated")
    no = rows.filter(pl.col(STATE) != QueueState.SATURATED).with_columns(value=pl.lit(0.0))
    yes = rows.filter(pl.col(STATE) != QueueState.STEADY).with_columns(value=pl.lit(1.0))
    both = pl.concat([no.with_columns(batch=pl.lit(0)), yes.with_columns(batch=pl.lit(1))])
    return both.drop(STATE, REASON)


def longest(rows: pl.DataFrame, each: Sequence[str]) -> pl.DataFrame:
    """The longest series' rows, for configurations that several series have."""
    count = pl.len().over("series", *each)
    return rows.filter(count == count.max().over(each))


KINDS: dict[str, Callable[[pl.DataFrame, Sequence[str]], pl.DataFrame]] = {
    "": lambda rows, _: rows,
    "sustained": lambda rows, _: sustained(rows),
    "steady": steady,
    "saturation": saturation,
    "compute": compute,
    "longest": longest,
}
"""All rows; at the load with the highest accepted load; for steady points; ``saturated`` by point
state; for the compute job; for the longest series.
"""
