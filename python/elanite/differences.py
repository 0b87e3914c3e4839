"""What differs between results, by how much, and whether the difference is more than noise.

``compare`` puts results side by side: configurations are the same if all parameters of the workload and the metric are
the same. A configuration that only one result has is left out. The interval of a ratio has the uncertainty of both
figures; points with the same seeds are compared batch by batch, so that what both have in common does not widen it.

``compare_stores`` does it for all points of two stores. Points are the same work if experiment, series and parameters
agree; their machines, windows, seeds and model revisions may differ, which is what is compared. A store may hold the
same work twice, with different overrides or machines: such points are counted and left out, since nothing says which
of them is meant.

A figure *differs* if the 95% interval of the difference does not contain zero. A figure with fewer than three values on
a side has no interval. If its means are not equal, nothing tells a change from noise, unless one knows that the
benchmark draws no random numbers, as a ping does not: such a figure is neither said to differ nor to be the same.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from elanite import _core
from elanite.beside import beside
from elanite.errors import UsageError
from elanite.measures.numbers import averaged, difference, ratio
from elanite.plan import ON
from elanite.text import FEWEST, plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from elanite.api import Result
    from elanite.measures import Number
    from elanite.store import Store

_SCHEMA = {"on": pl.String, "reference": pl.Float64, "mean": pl.Float64, "low": pl.Float64, "high": pl.Float64}
_SCHEMA |= {"ratio": pl.Float64, "ratio_low": pl.Float64, "ratio_high": pl.Float64, "differs": pl.Boolean}


def compare(first: Result, *others: Result) -> pl.DataFrame:
    """Compare results with the first one, or the machines of one result with the first machine.

    A row is a configuration and a metric ``on`` one of the others: ``reference`` (the mean of the first), ``mean``
    with its interval ``low`` to ``high``, ``ratio`` to the first with its interval (null if the first is 0), and
    ``differs``: whether the interval of the difference excludes 0 (null if there is no interval and the means are not
    equal). Raises ``UsageError`` if there is nothing to compare.
    """
    rows = _side_by_side(first, *others)
    found = []
    for (series,), here in rows.group_by(["series"], maintain_order=True):
        for line in beside(here):
            reference = line.figures[line.first]
            for machine, figure in line.figures.items():
                if machine == line.first:
                    continue
                ratio = line.ratios.get(machine)
                found.append(
                    {"series": series, **line.parameters, "metric": line.metric, "unit": line.unit, "on": machine}
                    | {"reference": reference.mean, "mean": figure.mean, "low": figure.low, "high": figure.high}
                    | {"ratio": ratio and ratio.mean, "ratio_low": ratio and ratio.low}
                    | {"ratio_high": ratio and ratio.high, "differs": differs(reference, figure)}
                )
    if not found:
        raise UsageError("the results have no configuration in common; compare results of the same experiment")
    table = pl.DataFrame(found, infer_schema_length=None).cast(dict(_SCHEMA.items()))
    given = [name for name in table.columns if name not in ("metric", "unit", *_SCHEMA)]
    return table.select(*given, "metric", "unit", *_SCHEMA)


def _side_by_side(*results: Result) -> pl.DataFrame:
    """The tidy rows of all results, with a column ``on`` that tells them apart."""
    frames = []
    for result in results:
        frame = result.frame()
        if ON not in frame.columns:
            frame = frame.with_columns(pl.lit(_name(result)).alias(ON))
        frames.append(frame)
    names = [name for frame in frames for name in frame[ON].unique(maintain_order=True)]
    if len(names) < 2:
        raise UsageError("there is nothing to compare; give two results, or a result on several machines")
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"two results are of `{name}`; name one of the machines: machine.with_(..., name=...)")
    return pl.concat(frames, how="diagonal_relaxed").drop("id", "experiment")


def _name(result: Result) -> str:
    (machine,) = result.plan.machines
    return ", ".join([machine.name, *result.plan.overrides])


def differs(a: Number, b: Number) -> bool | None:
    """Whether the interval of the difference excludes 0; None if the means differ and there is no interval."""
    if a.mean == b.mean:
        return False
    if min(len(a.values), len(b.values)) < FEWEST:
        return None
    change = difference(b, a)
    return change.low > 0 or change.high < 0


_Key = tuple[str, str, str]
"""Experiment, series, and the parameters as JSON."""


@dataclass(frozen=True)
class Line:
    """One figure in both stores."""

    experiment: str
    series: str
    parameters: dict[str, object]
    job: str
    metric: str
    unit: str
    a: Number
    b: Number

    @property
    def differs(self) -> bool | None:
        """Whether the figures differ by more than their intervals explain; None if no interval can tell."""
        return differs(self.a, self.b)

    @property
    def change(self) -> float:
        """How far the figures are apart, as a fraction of the smaller one: 0.5 for half as much more or less."""
        low, high = sorted(abs(side.mean) for side in (self.a, self.b))
        if self.a.mean * self.b.mean <= 0:
            return 0.0 if self.a.mean == self.b.mean else math.inf
        return high / low - 1

    @property
    def ratio(self) -> Number | None:
        """The second figure relative to the first; None if that is 0."""
        return ratio(self.b, self.a) if self.a.mean else None


@dataclass(frozen=True)
class Comparison:
    """What two stores say of the same work."""

    lines: tuple[Line, ...]
    """All figures of points that are in both stores and whose records are not the same."""
    same: int
    """Points whose records are the same, byte for byte."""
    only_a: int
    only_b: int
    ambiguous: int
    """Points that a store holds more than once with the same seed."""

    @property
    def differing(self) -> list[Line]:
        """The figures that differ by more than their intervals explain, the largest change first."""
        return _largest(line for line in self.lines if line.differs)

    @property
    def unknown(self) -> list[Line]:
        """The figures that are not equal and have no interval, the largest change first."""
        return _largest(line for line in self.lines if line.differs is None)


def _largest(lines: Iterable[Line]) -> list[Line]:
    return sorted(lines, key=lambda line: -line.change)


def compare_stores(a: Store, b: Store, experiments: Sequence[str] = ()) -> Comparison:
    """Compare two stores; all experiments unless some are named."""
    here, there = (_points(store, experiments) for store in (a, b))
    twice = {key for points, store in ((here, a), (there, b)) for key, ids in points.items() if _twice(store, ids)}
    lines: list[Line] = []
    same = 0
    for key, points in sorted(here.items(), key=lambda item: _place(item[0])):
        others = there.get(key)
        if others is None or key in twice:
            continue
        if _digests(a, points) == _digests(b, others):
            same += 1
            continue
        lines += _lines(key, _rows(a, points), _rows(b, others))
    only = [len(one.keys() - other.keys()) for one, other in ((here, there), (there, here))]
    return Comparison(tuple(lines), same, only[0], only[1], len(twice))


def _place(key: _Key) -> tuple[str, str, list[tuple[str, float, str]]]:
    """Where a point stands among the others: by experiment, series and parameters, quantities by their size."""
    experiment, series, parameters = key
    return experiment, series, [(name, _size(value), plain(value)) for name, value in json.loads(parameters).items()]


def _size(value: object) -> float:
    """A number, or the amount of a quantity; names come last."""
    if isinstance(value, int | float):
        return value
    found = _core.quantity(value) if isinstance(value, str) else None
    return found[0] if found else float("inf")


def _twice(store: Store, points: Sequence[str]) -> bool:
    """Whether a seed occurs twice among points of the same work."""
    seeds = [manifest["point"]["seed"] for one in points if (manifest := store.get(one)) is not None]
    return len(set(seeds)) < len(seeds)


def _points(store: Store, experiments: Sequence[str]) -> dict[_Key, list[str]]:
    """The points of a store by their work; several seeds are one work."""
    found: dict[_Key, list[str]] = {}
    for identity in store.identities():
        manifest = store.get(identity)
        if manifest is None or (experiments and manifest["experiment"] not in experiments):
            continue
        parameters = json.dumps(manifest["parameters"], sort_keys=True)
        found.setdefault((manifest["experiment"], manifest["series"], parameters), []).append(identity)
    return found


def _digests(store: Store, points: Iterable[str]) -> list[str]:
    return sorted(str(manifest["digest"]) for one in points if (manifest := store.get(one)) is not None)


def _rows(store: Store, points: Iterable[str]) -> pl.DataFrame:
    tables = [store.table(one, "rows").with_columns(seed=pl.lit(number)) for number, one in enumerate(points)]
    return pl.concat(tables, how="vertical_relaxed")


def _lines(key: _Key, a: pl.DataFrame, b: pl.DataFrame) -> list[Line]:
    experiment, series, parameters = key
    others = {tuple(names): rows for names, rows in b.group_by(["job", "metric", "unit"], maintain_order=True)}
    found = []
    for names, rows in a.group_by(["job", "metric", "unit"], maintain_order=True):
        if tuple(names) in others:
            job, metric, unit = (str(name or "") for name in names)
            pair = (averaged(rows), averaged(others[tuple(names)]))
            found.append(Line(experiment, series, json.loads(parameters), job, metric, unit, *pair))
    return found
