"""Results side by side: which figures differ, by how much, and which cannot be decided.

``compare`` puts results side by side: configurations are the same if all workload parameters and
the metric are the same. A configuration in only one result is left out. ``elanite.results.folders``
compares all points of two stores.

Each figure *differs*, is *equal* or is *undecided*; ``elanite.results.samples`` has the rules.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import polars as pl

from elanite.errors import UsageError
from elanite.inputs.plan import ON
from elanite.results.frames import varying
from elanite.results.samples import Sample, SamplePair

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from elanite.inputs.plan import Plan, Point
    from elanite.store.manifest import Manifest

_SCHEMA = {
    "on": pl.String,
    "reference": pl.Float64,
    "mean": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
}
_SCHEMA |= {
    "ratio": pl.Float64,
    "ratio_low": pl.Float64,
    "ratio_high": pl.Float64,
    "state": pl.String,
}


class PlanResult(Protocol):
    """A plan's finished points, such as a library ``Result``."""

    @property
    def plan(self) -> Plan:
        """All points, finished or not."""

    @property
    def points(self) -> Sequence[Point]:
        """The finished points."""

    def manifest(self, point: Point) -> Manifest:
        """A finished point's manifest."""

    def frame(self) -> pl.DataFrame:
        """Tidy rows for the finished points."""


def compare(first: PlanResult, *others: PlanResult) -> pl.DataFrame:
    """Compare results with the first one, or one result's machines with the first machine.

    A row is a configuration and a metric ``on`` one of the others: ``reference`` (the mean of the
    first), ``mean`` with its interval ``low`` to ``high``, ``ratio`` to the first (null if the
    first is 0) with its interval, and ``state``: ``differs``, ``equal`` or ``undecided`` (see
    ``elanite.results.samples``). Intervals from fewer than three random values are null. Raises
    ``UsageError`` without results to compare.
    """
    rows = _side_by_side(first, *others)
    found = []
    for about, on, pair in _pairs(rows):
        figure, ratio = pair.b.figure, pair.ratio
        low, high = (figure.low, figure.high) if pair.b.bounded else (None, None)
        ends = (ratio.low, ratio.high) if ratio and pair.difference else (None, None)
        found.append(
            {**about, "on": on}
            | {"reference": pair.a.figure.mean, "mean": figure.mean, "low": low, "high": high}
            | {"ratio": ratio and ratio.mean, "ratio_low": ends[0], "ratio_high": ends[1]}
            | {"state": str(pair.state)}
        )
    if not found:
        raise UsageError(
            "the results have no configuration in common; compare results of the same experiment"
        )
    table = pl.DataFrame(found, infer_schema_length=None).cast(dict(_SCHEMA.items()))
    given = [name for name in table.columns if name not in ("metric", "unit", *_SCHEMA)]
    return table.select(*given, "metric", "unit", *_SCHEMA)


def _pairs(rows: pl.DataFrame) -> Iterator[tuple[dict[str, object], str, SamplePair]]:
    """Each configuration's figures: their identification, another machine, and its pair with the
    first one.
    """
    machines = rows[ON].unique(maintain_order=True).to_list()
    for (series,), here in rows.group_by(["series"], maintain_order=True):
        names = [name for name in varying(here.drop(_RANDOM)) if name not in (ON, "series")]
        for key, figures in here.group_by([*names, "metric", "unit"], maintain_order=True):
            parts = {
                machine: part
                for machine in machines
                if (part := figures.filter(pl.col(ON) == machine)).height
            }
            (_, reference), *others = (
                (name, Sample.of(part, part[_RANDOM])) for name, part in parts.items()
            )
            *values, metric, unit = key
            about = {
                "series": series,
                **dict(zip(names, values, strict=True)),
                "metric": metric,
                "unit": unit or "",
            }
            for machine, sample in others:
                yield about, machine, SamplePair(reference, sample)


_RANDOM = "_random"
"""Column: whether the row's point drew random numbers."""


def _side_by_side(*results: PlanResult) -> pl.DataFrame:
    """All results' tidy rows, with a column ``on`` that distinguishes them, and ``_RANDOM``."""
    frames = []
    for result in results:
        drawn = {point.id: result.manifest(point).random for point in result.points}
        frame = result.frame()
        random = [drawn[one] for one in frame["id"]]
        frame = frame.with_columns(pl.Series(_RANDOM, random, pl.Boolean))
        if ON not in frame.columns:
            frame = frame.with_columns(pl.lit(_name(result)).alias(ON))
        frames.append(frame)
    names = [name for frame in frames for name in frame[ON].unique(maintain_order=True)]
    if len(names) < 2:
        raise UsageError("a comparison needs two results, or one result on several machines")
    for name in names:
        if names.count(name) > 1:
            raise UsageError(
                f"two results are of `{name}`; name one of the machines: machine.with_(...,"
                " name=...)"
            )
    return pl.concat(frames, how="diagonal_relaxed").drop("id", "experiment")


def _name(result: PlanResult) -> str:
    (machine,) = result.plan.machines
    return ", ".join([machine.name, *result.plan.overrides])
