"""Two stores beside each other: which figures differ, by how much, and whether the difference is more than noise.

Points are the same work if experiment, series and parameters agree; their machines, windows, seeds and model
revisions may differ, which is what is compared. A store may hold the same work twice, with different overrides or
machines: such points are counted and left out, since nothing says which of them is meant. A figure *differs* if the
95% interval of the difference does not contain zero; a figure with fewer than three values on a side has no interval
and differs if the means are not equal.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from elanite import _core
from elanite.measures.numbers import averaged, difference, ratio
from elanite.text import FEWEST, plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from elanite.measures import Number
    from elanite.store import Store

Key = tuple[str, str, str]
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
    def differs(self) -> bool:
        """Whether the figures differ by more than their intervals explain."""
        if min(len(self.a.values), len(self.b.values)) < FEWEST:
            return self.a.mean != self.b.mean
        change = difference(self.b, self.a)
        return change.low > 0 or change.high < 0

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
        """The figures that differ."""
        return [line for line in self.lines if line.differs]


def compare(a: Store, b: Store, experiments: Sequence[str] = ()) -> Comparison:
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


def _place(key: Key) -> tuple[str, str, list[tuple[str, float, str]]]:
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


def _points(store: Store, experiments: Sequence[str]) -> dict[Key, list[str]]:
    """The points of a store by their work; several seeds are one work."""
    found: dict[Key, list[str]] = {}
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


def _lines(key: Key, a: pl.DataFrame, b: pl.DataFrame) -> list[Line]:
    experiment, series, parameters = key
    others = {tuple(names): rows for names, rows in b.group_by(["job", "metric", "unit"], maintain_order=True)}
    found = []
    for names, rows in a.group_by(["job", "metric", "unit"], maintain_order=True):
        if tuple(names) in others:
            job, metric, unit = (str(name or "") for name in names)
            pair = (averaged(rows), averaged(others[tuple(names)]))
            found.append(Line(experiment, series, json.loads(parameters), job, metric, unit, *pair))
    return found
