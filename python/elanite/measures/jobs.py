"""Measures of hot-spots, I/O and combined jobs (000 s5.5-5.7)."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import polars as pl

from elanite.frames import padded
from elanite.measures.base import (
    LITTLE,
    Finding,
    Number,
    at_least,
    averaged,
    difference,
    measure,
    of_whole,
    ratio,
    together,
    with_interval,
    within,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from elanite.claims import Claim

UNDISTURBED = 0.95
"""A job that keeps this fraction of its bandwidth does not suffer from another one (000 s5.7 gives no figure)."""

GAIN = (15.0, 20.0)
"""By how many MB/s an I/O node does better where I/O nodes are shared and clustered (000 s5.6)."""

ALL = "0-63"
"""The nodes of the I/O job where I/O nodes are shared."""


@measure("of-nodes")
def of_nodes(rows: pl.DataFrame, claim: Claim) -> Number:
    """Mean accepted load of some nodes, from the table of nodes; the interval is over seeds.

    Neighbours compete: their figures are not independent, and are averaged first, as the distributions are.
    """
    first, last = claim.nodes
    here = rows.filter(pl.col("node").is_between(first, last))
    return averaged(here.with_columns(value=pl.col("accepted")))


@measure("flat")
def flat(rows: pl.DataFrame, claim: Claim) -> Number:
    """A metric with the most nodes; besides, that with fewer is little off it."""
    found = _by_nodes(rows, claim.metric)
    most = found[max(found)]
    besides = together(within(ratio(one, most), 1 - LITTLE, 1 + LITTLE) for one in found.values() if one is not most)
    words = ", ".join(f"{nodes} nodes {one.mean:.1f}" for nodes, one in found.items())
    return Number(most.mean, most.low, most.high, f"{words} MB/s", besides)


@measure("loss")
def loss(rows: pl.DataFrame, claim: Claim) -> Number:
    """What is lost of a metric with the most nodes, as a fraction of that with the fewest."""
    found = _by_nodes(rows, claim.metric)
    few, many = min(found), max(found)
    left = ratio(found[many], found[few])
    note = f"{with_interval(found[few])} at {few} nodes, {with_interval(found[many])} at {many}"
    return Number(1 - left.mean, 1 - left.high, 1 - left.low, note)


def _by_nodes(rows: pl.DataFrame, metric: str) -> dict[int, Number]:
    here = rows.filter(pl.col("metric") == metric)
    return {nodes: averaged(here.filter(pl.col("nodes") == nodes)) for nodes in here["nodes"].unique().sort().to_list()}


@measure("read-write")
def read_write(rows: pl.DataFrame, claim: Claim) -> Finding:
    """How far the load of the I/O nodes depends on the fraction of reads, for each mapping and kind of traffic."""
    parts, words, numbers = [], [], []
    for (series, pattern), here in _groups(rows, claim.metric, ["series", "pattern"]):
        found = {writes: averaged(group) for (writes,), group in _groups(here, claim.metric, ["writes"])}
        ordered = sorted(found.values(), key=lambda one: one.mean)
        parts.append(within(ratio(ordered[-1], ordered[0]), 0.0, 1 + LITTLE))
        each = ", ".join(f"{writes:g}: {with_interval(found[writes])}" for writes in sorted(found))
        words.append(f"{series}, {pattern}, fraction written {each}")
        numbers += ordered
    return Finding(together(parts), "; ".join(words), tuple(numbers))


@measure("application-mapping")
def application_mapping(rows: pl.DataFrame, claim: Claim) -> Finding:
    """Shared against dedicated I/O nodes, for each mapping and kind of traffic."""
    parts, words, numbers = [], [], []
    for (series, pattern), here in _groups(rows, claim.metric, ["series", "pattern"]):
        shared, dedicated = (averaged(here.filter(nodes)) for nodes in (pl.col("nodes") == ALL, pl.col("nodes") != ALL))
        gain = difference(shared, dedicated)
        if series == "clustered":
            # A gain that is there, of a size that its interval cannot tell from the published one.
            near = gain.low <= GAIN[1] and gain.high >= GAIN[0]
            parts.append(together([near, at_least(gain, 0.0)]))
        else:
            parts.append(within(ratio(shared, dedicated), 1 - LITTLE, 1 + LITTLE))
        words.append(
            f"{series}, {pattern}: {with_interval(shared)} shared, {with_interval(dedicated)} dedicated, difference"
            f" {gain.mean:+.1f} [{gain.low:+.1f}, {gain.high:+.1f}]"
        )
        numbers += [shared, dedicated]
    return Finding(together(parts), "; ".join(words), tuple(numbers))


def _groups(rows: pl.DataFrame, metric: str, keys: list[str]) -> Iterable[tuple[tuple[Any, ...], pl.DataFrame]]:
    return rows.filter(pl.col("metric") == metric).group_by(keys, maintain_order=True)


@measure("undisturbed")
def undisturbed(rows: pl.DataFrame, claim: Claim) -> Finding:
    """What the compute job keeps of its bandwidth beside an I/O job, in some series: all of it."""
    found = kept(rows, claim.metric)
    holds = together(at_least(one.kept, UNDISTURBED) for one in found)
    return Finding(holds, _kept_words(found), _kept_numbers(found))


@measure("degradation")
def degradation(rows: pl.DataFrame, claim: Claim) -> Number:
    """The largest fraction of its bandwidth that the compute job loses to an I/O job; besides, it suffers from any.

    The interval is that of the largest of several: of what is kept, from the lowest low end to the lowest high one.
    """
    found = kept(rows, claim.metric)
    besides = together(None if (state := one.undisturbed) is None else not state for one in found)
    least = min(one.kept.mean for one in found)
    low, high = min(one.kept.low for one in found), min(one.kept.high for one in found)
    return Number(1 - least, 1 - high, 1 - low, _kept_words(found), besides)


@measure("falling")
def falling(rows: pl.DataFrame, claim: Claim) -> Finding:
    """The bandwidth of the compute job falls from each load of the I/O job to the next, by more than the intervals."""
    found = sorted(kept(rows, claim.metric), key=lambda one: one.io_load)
    steps = [("alone", found[0].alone), *((f"{one.io_load:g} MB/s", one.beside) for one in found)]
    parts, words = [], []
    for (before, one), (after, other) in pairwise(steps):
        fall = difference(one, other)
        parts.append(at_least(fall, 0.0))
        said = ", not resolved" if parts[-1] is None else ""
        words.append(f"{before} to {after}: {-fall.mean:+.1f} ± {fall.half:.1f} MB/s{said}")
    return Finding(together(parts), f"{_kept_words(found)}; {'; '.join(words)}", _kept_numbers(found))


def jobs(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows of `qsnet/combined` with the parameters of one job and of two, whatever is finished."""
    return padded(
        rows,
        **{"load_MBps": pl.Float64, "compute.load_MBps": pl.Float64, "io.load_MBps": pl.Float64},
        **{"nodes": pl.String, "compute.nodes": pl.String},
    )


class Kept:
    """What the compute job keeps of its bandwidth at its highest load, beside an I/O job of one load."""

    def __init__(self, series: str, io_load: float, beside: Number, alone: Number) -> None:
        self.series = series
        self.io_load = io_load
        """Load of the I/O job, in MB/s for each of its nodes."""
        self.beside = beside
        self.alone = alone
        """The same job on the same nodes without an I/O job."""
        self.kept = ratio(beside, alone)

    @property
    def undisturbed(self) -> bool | None:
        """Whether it keeps (nearly) all; None if the interval is too wide to say."""
        return at_least(self.kept, UNDISTURBED)


def kept(rows: pl.DataFrame, metric: str = "accepted") -> list[Kept]:
    """What the compute job keeps, by series and load of the I/O job; without what lacks its run alone."""
    rows = jobs(rows)
    compute = rows.filter((pl.col("job") == "compute") & (pl.col("metric") == metric))
    compute = compute.with_columns(
        compute_load=pl.coalesce("load_MBps", "compute.load_MBps"),
        compute_nodes=pl.coalesce("nodes", "compute.nodes"),
        io_load=pl.col("io.load_MBps"),
    )
    compute = compute.filter(pl.col("compute_load") == pl.col("compute_load").max())
    groups = compute.group_by("series", "compute_nodes", "io_load", maintain_order=True)
    found = {key: averaged(group) for key, group in groups}
    alone = {nodes: figure for (_, nodes, io_load), figure in found.items() if io_load is None}
    return [
        Kept(str(series), float(io_load), figure, alone[nodes])
        for (series, nodes, io_load), figure in found.items()
        if isinstance(io_load, float) and nodes in alone
    ]


def _kept_words(found: Sequence[Kept]) -> str:
    said = {True: "", False: ", suffers", None: ", not resolved"}
    words = [
        f"{one.series}, I/O load {one.io_load:g} MB/s: {with_interval(one.beside)} of {with_interval(one.alone)},"
        f" {of_whole(one.kept)}{said[one.undisturbed]}"
        for one in found
    ]
    return "; ".join(words)


def _kept_numbers(found: Sequence[Kept]) -> tuple[Number, ...]:
    return tuple(figure for one in found for figure in (one.beside, one.alone))
