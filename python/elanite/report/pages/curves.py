"""An experiment's configurations as curves.

A *curve* is one configuration over its benchmark kind's axis: jobs over the load they offer, pings
over message size, collective operations over the node count (node sets have no order). Two
machines, patterns, placements, jobs or values for any other key are two curves. A *place* on a
curve is one configuration's mean over batches and seeds, exactly a row of the results' summary;
nothing is averaged over configurations, fitted or interpolated.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import takewhile
from typing import TYPE_CHECKING

import polars as pl

from elanite import _core
from elanite.base.text import FEWEST, YES_OR_NO, label, plain
from elanite.inputs.plan import ON
from elanite.results.frames import REASON, STATE, SUFFIX, parameters, summarise, varying
from elanite.results.states import QueueState, with_states

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

JOBS = "jobs"
"""The benchmark kind with offered loads."""

PROGRAMS = "mix"
"""The kind with flows, traces and jobs side by side, which are jobs in the rows."""

BARE = (ON, "series", "pattern", "job")
"""Columns with values that name a configuration without the column's name."""

LATENCY = "latency_mean"

SEARCHED = "saturation"
"""The metric that only saturation point searches have."""

MOST_NAMED = 4
"""Series that a title names."""


@dataclass(frozen=True)
class CurvePoint:
    """One configuration's means."""

    x: float | None
    """The value on the axis, as a number; `None` without an axis."""
    at: str
    """The same for people."""
    means: Mapping[str, float]
    """Each metric's mean over batches and seeds."""

    halves: Mapping[str, float] = field(default_factory=dict)
    """Half each metric's interval; metrics with fewer than three values have no interval."""
    state: QueueState = QueueState.STEADY
    """Its load's state, as in load figures (``states``)."""
    reason: str = ""
    """The comparison that decides it."""
    seeds: int = 1

    @property
    def messages(self) -> int | None:
        """The measured messages for all seeds; `None` if they were not counted."""
        mean = self.means.get("messages")
        return None if mean is None else round(mean * self.seeds)


@dataclass
class Curve:
    """One configuration over its axis."""

    kind: str
    label: str
    """The values that distinguish it from other curves of its kind; empty without others."""
    axis: str
    """The axis parameter; empty if the curve has one place."""
    places: list[CurvePoint] = field(default_factory=list)
    group: str = ""
    """The series that it is compared with; empty for all of a page.

    Jobs beside a benchmark have its series.
    """
    job: str = ""
    """The job or program, if there are several or if it runs beside a benchmark: different jobs'
    loads, times and latencies are not compared.
    """
    beside: str = ""
    """The label without the job."""

    @property
    def searched(self) -> bool:
        """Whether its place is the lower end of a saturation point search."""
        return any(SEARCHED in place.means for place in self.places)

    @property
    def best(self) -> CurvePoint:
        """The place with the highest accepted load, the first one among equals."""
        return max(self.places, key=lambda place: place.means.get("accepted", 0.0))

    @property
    def steady(self) -> CurvePoint | None:
        """The highest load up to which all loads are steady."""
        found = list(takewhile(lambda place: place.state is QueueState.STEADY, self.places))
        return found[-1] if found else None

    @property
    def saturated(self) -> CurvePoint | None:
        """The lowest saturated load."""
        return next((place for place in self.places if place.state is QueueState.SATURATED), None)

    @property
    def undecided(self) -> list[CurvePoint]:
        """The undecided loads."""
        return [place for place in self.places if place.state is QueueState.UNDECIDED]


def curves(rows: pl.DataFrame, kinds: Mapping[str, str]) -> list[Curve]:
    """The curves in tidy rows, in row order; ``kinds`` are the series' benchmark kinds."""
    found: list[Curve] = []
    groups: list[tuple[str, list[str]]] = []
    sought = searches(rows)
    for kind in dict.fromkeys(kinds.values()):
        series = [name for name, of in kinds.items() if of == kind]
        searching = [name for name in series if name in sought]
        apart = [searching, [name for name in series if name not in sought]]
        groups += [
            (kind, group)
            for group in (filter(None, apart) if kind == JOBS else comparable(rows, series))
        ]
    for kind, group in groups:
        here = rows.filter(pl.col("series").is_in(group))
        name = series_names(group) if len(groups) > 1 else ""
        if kind == JOBS:
            found += _of_kind(_of_jobs(here), kind, name)
            continue
        own = pl.col("job").is_not_null() if kind == PROGRAMS else pl.col("job").is_null()
        found += _of_kind(here.filter(own) if here["job"].null_count() else here, kind, name)
        beside = _of_jobs(here.filter(pl.col("job").is_not_null()))
        if not beside.is_empty():
            found += _of_kind(beside, JOBS, name, aside=True)
    return found


def unsearched(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows without the first loads in saturation point searches: no result uses such a load."""
    found = searches(rows)
    loads = [
        name for name in rows.columns if name.split(".")[-1] in ("load", f"load{SUFFIX['MB/s']}")
    ]
    if not found:
        return rows
    kept = pl.when(~pl.col("series").is_in(found))
    return rows.with_columns(kept.then(pl.col(name)).alias(name) for name in loads)


def searches(rows: pl.DataFrame) -> list[str]:
    """The series that search the saturation point."""
    return rows.filter(pl.col("metric") == SEARCHED)["series"].unique(maintain_order=True).to_list()


def _of_jobs(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows for jobs with a load; others, such as the packets that a fault corrupts, belong to
    the network.
    """
    loaded = rows.filter(pl.col("metric") == "accepted").select("job").unique()
    return rows.join(loaded, on="job", how="semi", nulls_equal=True, maintain_order="left")


def comparable(rows: pl.DataFrame, series: Sequence[str]) -> list[list[str]]:
    """The series that vary the same keys, together: an experiment's barriers and broadcasts are not
    compared.
    """
    found: dict[tuple[str, ...], list[str]] = {}
    for name in series:
        keys = varying(rows.filter(pl.col("series") == name))
        found.setdefault(tuple(sorted(keys)), []).append(name)
    return list(found.values())


def series_names(series: Sequence[str]) -> str:
    """Some series' names, the first one if there are many."""
    return (
        ", ".join(series)
        if len(series) <= MOST_NAMED
        else f"{series[0]} and {len(series) - 1} more"
    )


def label_of(row: Mapping[str, object], columns: Sequence[str]) -> str:
    """A configuration's values in words: ``fast, uniform, message 4 KB``."""
    words = []
    for name in columns:
        if row.get(name) in (None, ""):
            continue
        value = label(row[name])
        if value.startswith("[") and value.endswith("]"):  # a list, such as topology.up
            value = value[1:-1]
        words.append(
            f"job {value}"
            if name == "job"
            else value
            if name.split(".")[-1] in BARE
            else f"{name} {value}"
        )
    return ", ".join(words)


def loadless(columns: Sequence[str]) -> list[str]:
    """The columns without loads: those that distinguish curves over a load."""
    return [name for name in columns if name.split(".")[-1] != "load"]


def distinguishing(rows: pl.DataFrame) -> list[str]:
    """The columns that distinguish configurations, without those that the series decides."""
    names = varying(rows)
    if "series" not in names:
        return names
    decided = rows.group_by("series").agg(
        pl.col(name).n_unique() for name in names if name != "series"
    )
    return [name for name in names if name == "series" or decided[name].max() != 1]


def within_kinds(rows: pl.DataFrame, kinds: Mapping[str, str]) -> dict[str, set[str]]:
    """For each series the columns that distinguish configurations of its kind: labels of pings have
    no jobs' keys.
    """
    found: dict[str, set[str]] = {}
    for kind in dict.fromkeys(kinds.values()):
        series = [name for name, of in kinds.items() if of == kind]
        names = {"series", *distinguishing(rows.filter(pl.col("series").is_in(series)))}
        found |= dict.fromkeys(series, names)
    return found


def _program(job: str | None) -> str:
    """The program of a row: ``web`` for its flows of a size class, ``web, to 10 KB``."""
    return (job or "").partition(", ")[0]


def _of_kind(rows: pl.DataFrame, kind: str, group: str, *, aside: bool = False) -> Iterator[Curve]:
    """One kind's curves; jobs ``aside`` run beside the benchmark of their group."""
    over = {name: axis for name, axis, _ in _core.plots()}.get(kind, "")
    if kind == PROGRAMS and len({_program(job) for job in rows["job"].unique()}) > 1:
        over = ""  # a program's start is a parameter of the others
    names = distinguishing(rows)
    means: dict[str, dict[str, float]] = {}
    halves: dict[str, dict[str, float]] = {}
    found: dict[tuple[str, str], Curve] = {}
    judged = with_states(rows) if kind == JOBS else rows.with_columns(_STEADY)
    keys = [*parameters(judged), STATE, REASON]
    seeds = judged.group_by(keys).agg(pl.col("seed").n_unique().alias("_seeds"))
    summary = summarise(judged, [*keys, "metric", "unit"])
    summary = summary.join(seeds, on=keys, nulls_equal=True, maintain_order="left")
    for row in summary.iter_rows(named=True):
        key = repr(
            [
                value
                for name, value in row.items()
                if name not in ("metric", "unit", "mean", "low", "high", "n")
            ]
        )
        if key not in means:
            axis = next(
                (
                    name
                    for name in (f"{_program(row['job'])}.{over}", over)
                    if row.get(name) is not None
                ),
                "",
            )
            if kind != JOBS and (axis not in names or _numeric(row, axis) is None):
                axis = ""  # node sets, such as "0-14:2", have no order
            own = label_of(row, [name for name in names if name != axis])
            means[key] = {}
            beside = label_of(row, [name for name in names if name not in (axis, "job")])
            job = (
                plain(row["job"] or "")
                if aside or (kind in (JOBS, PROGRAMS) and "job" in names)
                else ""
            )
            curve = found.setdefault((axis, own), Curve(kind, own, axis, [], group, job, beside))
            at = label(row[axis]) if axis else ""
            halves[key] = {}
            state = QueueState(row[STATE]), row[REASON], row["_seeds"]
            curve.places.append(
                CurvePoint(_numeric(row, axis), at, means[key], halves[key], *state)
            )
        means[key][row["metric"]] = row["mean"]
        if row["n"] >= FEWEST and row["metric"] not in YES_OR_NO:
            halves[key][row["metric"]] = (row["high"] - row["low"]) / 2
    for curve in found.values():
        curve.places.sort(key=lambda place: (place.x is None, place.x or 0.0))
    yield from found.values()


_STEADY = pl.lit(QueueState.STEADY.value).alias(STATE), pl.lit("").alias(REASON)
"""The state for points without loads."""


def _numeric(row: Mapping[str, object], name: str) -> float | None:
    values = (row.get(name + suffix) for suffix in ("", *SUFFIX.values()))
    return next((float(one) for one in values if isinstance(one, int | float)), None)
