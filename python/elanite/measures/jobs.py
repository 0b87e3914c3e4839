"""Measures of hot-spots, I/O and combined jobs (000 s5.5-5.7)."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import polars as pl

from elanite.frames import padded
from elanite.measures.base import Finding, Number, measure, number, with_interval

if TYPE_CHECKING:
    from elanite.claims import Claim

LITTLE = 0.05
"""A difference of no more than this fraction is little, or no significant effect (000 s5.6 gives no figure)."""

UNDISTURBED = 0.95
"""A job that keeps this fraction of its bandwidth does not suffer from another one (000 s5.7 gives no figure)."""

ALL = "0-63"
"""The nodes of the I/O job where I/O nodes are shared."""


@measure("of-nodes")
def of_nodes(rows: pl.DataFrame, claim: Claim) -> Number:
    """Mean accepted load of some nodes, from the table of nodes; the interval is over nodes and seeds."""
    first, last = claim.nodes
    here = rows.filter(pl.col("node").is_between(first, last))
    return number(here["accepted"].to_list())


@measure("loss")
def loss(rows: pl.DataFrame, claim: Claim) -> Number:
    """The fraction by which a metric is lower with the most nodes than with the fewest."""
    here = rows.filter(pl.col("metric") == claim.metric)
    few, many = (here.filter(pl.col("nodes") == nodes) for nodes in (here["nodes"].min(), here["nodes"].max()))
    keys = ["sizes", "arrivals", "seed", "batch"]
    pairs = few.join(many, on=keys, maintain_order="left")
    found = [number(side["value"].to_list()) for side in (few, many)]
    note = f"{with_interval(found[0])} at {few['nodes'][0]} nodes, {with_interval(found[1])} at {many['nodes'][0]}"
    return number((1 - pairs["value_right"] / pairs["value"]).to_list(), note)


@measure("read-write")
def read_write(rows: pl.DataFrame, claim: Claim) -> Finding:
    """How far the load of the I/O nodes depends on the fraction of reads, for each mapping and kind of traffic."""
    means = _means(rows, claim.metric, ["series", "pattern", "writes"])
    spreads = means.group_by("series", "pattern", maintain_order=True).agg(
        (pl.col("value").max() / pl.col("value").min() - 1).alias("spread"), pl.col("writes"), pl.col("value")
    )
    words = [
        f"{row['series']}, {row['pattern']}: "
        + ", ".join(f"{value:.0f}" for value in row["value"])
        + f" MB/s with {', '.join(f'{writes:g}' for writes in row['writes'])} written"
        for row in spreads.iter_rows(named=True)
    ]
    return Finding(bool((spreads["spread"] <= LITTLE).all()), "; ".join(words))


@measure("application-mapping")
def application_mapping(rows: pl.DataFrame, claim: Claim) -> Finding:
    """Shared against dedicated I/O nodes, for each mapping and kind of traffic."""
    shared = pl.when(pl.col("nodes") == ALL).then(pl.lit("shared")).otherwise(pl.lit("dedicated"))
    means = _means(rows.with_columns(mapping=shared), claim.metric, ["series", "pattern", "mapping"])
    wide = means.pivot(on="mapping", index=["series", "pattern"], values="value", maintain_order=True)
    wide = wide.with_columns(gain=pl.col("shared") - pl.col("dedicated"))
    clustered = wide.filter(pl.col("series") == "clustered")
    distributed = wide.filter(pl.col("series") == "distributed")
    holds = bool(
        (clustered["gain"] > 0).all() and (distributed["gain"].abs() <= LITTLE * distributed["dedicated"]).all()
    )
    words = [
        f"{row['series']}, {row['pattern']}: {row['shared']:.0f} shared, {row['dedicated']:.0f} dedicated"
        for row in wide.iter_rows(named=True)
    ]
    return Finding(holds, "; ".join(words) + " MB/s")


@measure("undisturbed")
def undisturbed(rows: pl.DataFrame, claim: Claim) -> Finding:
    """What the compute job keeps of its bandwidth beside an I/O job, in some series: all of it."""
    found = kept(rows, claim.metric)
    return Finding(bool((found["kept"] >= UNDISTURBED).all()), _kept_words(found))


@measure("degradation")
def degradation(rows: pl.DataFrame, claim: Claim) -> Number:
    """The largest fraction of its bandwidth that the compute job loses beside an I/O job."""
    found = kept(rows, claim.metric)
    worst = found.sort("kept").row(0, named=True)
    least = number(worst["values"])
    low, high = (1 - bound / worst["alone"] for bound in (least.high, least.low))
    return Number(1 - worst["kept"], low, high, _kept_words(found))


@measure("falling")
def falling(rows: pl.DataFrame, claim: Claim) -> Finding:
    """The bandwidth of the compute job falls from each load of the I/O job to the next."""
    found = kept(rows, claim.metric).sort("series", "io_load")
    holds = all(before > after for before, after in pairwise([1.0, *found["kept"].to_list()]))
    return Finding(holds, _kept_words(found))


def _means(rows: pl.DataFrame, metric: str, keys: list[str]) -> pl.DataFrame:
    here = rows.filter(pl.col("metric") == metric)
    return here.group_by(keys, maintain_order=True).agg(pl.col("value").mean())


def jobs(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows of `qsnet/combined` with the parameters of one job and of two, whatever is finished."""
    return padded(
        rows,
        **{"load_MBps": pl.Float64, "compute.load_MBps": pl.Float64, "io.load_MBps": pl.Float64},
        **{"nodes": pl.String, "compute.nodes": pl.String},
    )


def kept(rows: pl.DataFrame, metric: str = "accepted") -> pl.DataFrame:
    """What the compute job keeps of its bandwidth at its highest load, by series and load of the I/O job.

    Columns: series, compute_nodes, io_load (MB/s), value (mean), values, alone (mean on the same nodes without an I/O
    job) and kept, the ratio of the two means.
    """
    rows = jobs(rows)
    compute = rows.filter((pl.col("job") == "compute") & (pl.col("metric") == metric))
    compute = compute.with_columns(
        compute_load=pl.coalesce("load_MBps", "compute.load_MBps"),
        compute_nodes=pl.coalesce("nodes", "compute.nodes"),
        io_load=pl.col("io.load_MBps"),
    )
    compute = compute.filter(pl.col("compute_load") == pl.col("compute_load").max())
    groups = compute.group_by("series", "compute_nodes", "io_load", maintain_order=True).agg(
        pl.col("value").mean(), pl.col("value").alias("values")
    )
    alone = groups.filter(pl.col("io_load").is_null()).select("compute_nodes", alone="value")
    beside = groups.filter(pl.col("io_load").is_not_null()).join(alone, on="compute_nodes", maintain_order="left")
    return beside.with_columns(kept=pl.col("value") / pl.col("alone"))


def _kept_words(found: pl.DataFrame) -> str:
    words = [
        f"{row['series']}, I/O load {row['io_load']:g} MB/s: {row['value']:.0f} of {row['alone']:.0f} MB/s"
        for row in found.iter_rows(named=True)
    ]
    return "; ".join(words)
