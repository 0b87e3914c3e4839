"""The table of claim changes: its columns, the rows that count, and the conclusions.

A change is *resolved* if it is distinguished from noise; it counts from half a percent on, and is
strong from five percent on.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

LEAST = 0.005
"""A smaller change does not count as one."""

STRONG = 0.05
"""From this claim change on, a parameter counts as one that matters to the claim."""

SCHEMA = {
    "parameter": pl.String,
    "value": pl.String,
    "fitted": pl.Boolean,
    "own": pl.Boolean,
    "step": pl.String,
    "changed": pl.String,
    "claim": pl.String,
    "role": pl.String,
    "usual": pl.Float64,
    "simulated": pl.Float64,
    "change": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "held": pl.Boolean,
    "holds": pl.Boolean,
}
"""The columns in a change table: one row for each parameter, step (less or more) and claim.

``fitted`` is a parameter that was fitted to some claim, ``own`` one that was fitted to this claim.
``usual`` and ``simulated`` are the numbers before and after, empty for findings; ``low`` and
``high`` are the ends of the change's interval, empty for a single value from a random process;
``held`` and ``holds`` are whether the claim holds before and after, empty if this is not resolved.
"""

SIGN = {"less": "-", "more": "+"}
"""Steps in short."""


def resolved() -> pl.Expr:
    """Whether a change is distinguished from noise."""
    return (pl.col("low") > 0) | (pl.col("high") < 0)


def turned(table: pl.DataFrame) -> pl.DataFrame:
    """The rows in which the verdict turns: the claim held and is missed, or the other way round.

    A number with a single value from a random process turns no verdict.
    """
    known = pl.col("low").is_not_null() | pl.col("simulated").is_null()
    return table.filter(known, pl.col("held").ne(pl.col("holds")))


@dataclass(frozen=True)
class ChangeSummary:
    """The sentences for a change table."""

    steady: list[str]
    """Claims with a verdict that no step turns, apart from parameters that were fitted to the
    claim.
    """
    turning: dict[str, list[str]]
    """Claims with a verdict that turns, and the steps in such other parameters that turn it:
    ``bus.burst -``.
    """
    open: list[str]
    """Claims without a verdict, even as the machine is."""
    strong: dict[str, list[str]]
    """Parameters that change some claim much, and these claims, the most powerful parameter
    first.
    """
    idle: list[str]
    """Parameters that change no claim."""


def read(table: pl.DataFrame) -> ChangeSummary:
    """The trusted claims, and the parameters that matter."""
    turning: dict[str, list[str]] = {}
    for row in turned(table).filter(~pl.col("own")).iter_rows(named=True):
        turning.setdefault(row["claim"], []).append(f"{row['parameter']} {SIGN[row['step']]}")
    claims = table.group_by("claim", maintain_order=True).agg(pl.col("held").first())
    open_ = claims.filter(pl.col("held").is_null())["claim"].to_list()
    told = table.filter(resolved(), pl.col("change").abs() >= LEAST)
    size = pl.col("change").abs().max()
    much = (
        told.filter(pl.col("change").abs() >= STRONG)
        .group_by("parameter", "claim", maintain_order=True)
        .agg(size)
    )
    strong: dict[str, list[str]] = {}
    for parameter, claim, _ in much.sort(
        "change", descending=True, maintain_order=True
    ).iter_rows():
        strong.setdefault(parameter, []).append(claim)
    acting = set(told["parameter"])
    return ChangeSummary(
        steady=[claim for claim in claims["claim"] if claim not in turning and claim not in open_],
        turning=turning,
        open=open_,
        strong=strong,
        idle=[
            name for name in table["parameter"].unique(maintain_order=True) if name not in acting
        ],
    )
