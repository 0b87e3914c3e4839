"""Two folders of results side by side: which figures differ, by how much, and which cannot be
decided.

``compare_stores`` compares all points in two stores. Points are the same work if experiment, series
and parameters agree; their machines, windows, seeds and model revisions may differ, which is the
comparison. Where a store has a work on several machines, machines with the same name are compared,
whether a run had them alone or side by side. A store may hold the same work twice, with different
overrides: such points are counted and left out, since the choice between them is ambiguous.

Each figure *differs*, is *equal* or is *undecided*; ``elanite.results.samples`` has the rules.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import polars as pl

from elanite.base.text import YES_OR_NO, counted, number, plain
from elanite.base.units import amount
from elanite.inputs.plan import ON
from elanite.results.samples import ComparisonState, Sample, SamplePair
from elanite.results.settings import differing_settings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from elanite.results.settings import Setting
    from elanite.store import Store
    from elanite.store.manifest import Manifest

SEEDS = "--set run.seeds=5"
"""A remedy for figures with too few values."""

_Work = tuple[str, str, str]
"""Experiment, series, and the parameters as JSON, without the machine."""

_Key = tuple[str, str, str, str]
"""The same with the machine's name; the name is empty where both stores have the work on one
machine.
"""


@dataclass(frozen=True)
class StoreLine:
    """One figure in both stores."""

    experiment: str
    series: str
    parameters: dict[str, object]
    job: str
    metric: str
    unit: str
    pair: SamplePair
    """The figure in the first store and in the second."""
    settings: tuple[Setting, ...] = ()
    """The inputs in which both stores' points differ."""

    @property
    def state(self) -> ComparisonState:
        """Whether the figures differ."""
        return self.pair.state

    @property
    def change(self) -> float:
        """The figures' distance as a fraction of the smaller one."""
        return self.pair.change

    @property
    def flag(self) -> bool:
        """Whether the figure counts runs with an event, such as saturation."""
        return self.metric in YES_OR_NO

    @property
    def texts(self) -> tuple[str, str, str]:
        """Both figures and their ratio for people; for flags the run counts, without a ratio."""
        if not self.flag:
            return self.pair.texts(self.unit)
        a, b = (
            f"{number(sum(side.values))} of {len(side.values)}"
            for side in (self.pair.a, self.pair.b)
        )
        return a, b, ""


@dataclass(frozen=True)
class Comparison:
    """Two stores' figures side by side."""

    lines: tuple[StoreLine, ...]
    """All figures for points that are in both stores with different records."""
    same: int
    """Configurations whose points have the same records, byte for byte."""
    only_a: int
    only_b: int
    ambiguous: int
    """Configurations that a store holds more than once with the same seed."""
    unrecorded: int = 0
    """The lines' points, in both stores, that do not record whether random numbers were drawn."""
    settings: tuple[Setting, ...] = ()
    """The inputs that differ between points with the same work."""
    compared: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    """The identities of A's and B's points with a counterpart, those with the same records
    included.
    """

    @cached_property
    def _by_state(self) -> dict[ComparisonState, list[StoreLine]]:
        found: dict[ComparisonState, list[StoreLine]] = {state: [] for state in ComparisonState}
        for line in sorted(self.lines, key=lambda line: -line.change):
            found[line.state].append(line)
        return found

    def of(self, state: ComparisonState) -> list[StoreLine]:
        """A state's figures, the largest change first."""
        return self._by_state[state]

    @property
    def counts(self) -> list[str]:
        """The configuration counts, and the figure counts by state, as sentences without a full
        stop.
        """
        points = (
            f"{counted(self.same, 'identical configuration')}; only in A: {self.only_a}; only in B:"
            f" {self.only_b}"
        )
        if not self.lines:
            return [points]
        differing, equal, undecided = (len(self.of(state)) for state in ComparisonState)
        which = "other configurations"
        if not self.same:
            which = "the configurations in both folders"
        figures = (
            f"{counted(len(self.lines), 'figure')} of {which}: {differing} differ, {equal} equal,"
        )
        return [points, f"{figures} {undecided} undecided"]

    @property
    def notes(self) -> list[str]:
        """Limits of the comparison: chance, undecided figures, points without a draw record,
        ambiguous points.
        """
        found = []
        chance = sum(not line.pair.exact for line in self.of(ComparisonState.DIFFERS))
        judged = sum(
            not line.pair.exact and line.pair.difference is not None for line in self.lines
        )
        if chance:
            found.append(
                f"{counted(chance, 'figure')} of random points differ{'s' * (chance == 1)} by a 95%"
                f" interval; of {judged} such intervals, about {max(1, round(judged / 20))} may"
                " exclude zero by chance"
            )
        if undecided := self.of(ComparisonState.UNDECIDED):
            few = sum(line.pair.difference is None for line in undecided)
            reasons = [f"{few} of fewer than three values"] if few else []
            reasons += (
                [f"{len(undecided) - few} with wide intervals"] if few < len(undecided) else []
            )
            found.append(f"undecided: {', '.join(reasons)}; more seeds decide: {SEEDS}")
        if self.unrecorded:
            one = self.unrecorded == 1
            found.append(
                f"{counted(self.unrecorded, 'point')} of an older version {'does' if one else 'do'}"
                f" not record whether random numbers were drawn, and {'counts' if one else 'count'}"
                " as random; run again with a new --out"
            )
        if self.ambiguous:
            found.append(
                f"left out: {counted(self.ambiguous, 'configuration')} that a folder holds with"
                " several settings; run each setting with an --out of its own"
            )
        return found

    @property
    def series(self) -> dict[tuple[str, str], list[StoreLine]]:
        """The figures by experiment and series: those that differ first, the largest change
        first.
        """
        found: dict[tuple[str, str], list[StoreLine]] = {}
        for state in ComparisonState:
            for line in self.of(state):
                found.setdefault((line.experiment, line.series), []).append(line)
        return found


def varying_parameters(lines: Sequence[StoreLine]) -> list[str]:
    """The parameters that distinguish figures."""
    keys = dict.fromkeys(key for line in lines for key in line.parameters)
    return [key for key in keys if len({plain(line.parameters.get(key)) for line in lines}) > 1]


def compare_stores(a: Store, b: Store, experiments: Sequence[str] = ()) -> Comparison:
    """Compare two stores; all experiments unless some are named."""
    here, there = _matched(*(_works(store, experiments) for store in (a, b)))
    twice = {
        key
        for points, store in ((here, a), (there, b))
        for key, ids in points.items()
        if _twice(store, ids)
    }
    lines: list[StoreLine] = []
    same = unrecorded = 0
    compared: tuple[list[str], list[str]] = ([], [])
    manifests = []
    for key, points in sorted(here.items(), key=lambda item: _place(item[0])):
        others = there.get(key)
        if others is None or key in twice:
            continue
        for side, ids in zip(compared, (points, others), strict=True):
            side += ids
        pair = _manifests(a, points), _manifests(b, others)
        manifests.append(pair)
        if _digests(a, points) == _digests(b, others):
            same += 1
            continue
        sides = _rows(a, points), _rows(b, others)
        lines += _lines(key, *sides, differing_settings([pair]))
        unrecorded += sum(drew is None for _, random in sides for drew in random)
    only = [len(one.keys() - other.keys()) for one, other in ((here, there), (there, here))]
    found = tuple(compared[0]), tuple(compared[1])
    return Comparison(
        tuple(lines),
        same,
        only[0],
        only[1],
        len(twice),
        unrecorded,
        differing_settings(manifests),
        found,
    )


def _place(key: _Key) -> tuple[str, str, list[tuple[str, float, str]]]:
    """Where a point stands among the others: by experiment, series and parameters, quantities by
    their size.
    """
    experiment, series, _, machine = key
    found = [
        (name, _size(value), plain(value)) for name, value in _parameters(key).items() if name != ON
    ]
    return experiment, series, [*found, (ON, 0.0, machine)]


def _parameters(key: _Key) -> dict[str, object]:
    """A work's parameters, including the machine if there are several."""
    _, _, parameters, machine = key
    others: dict[str, object] = json.loads(parameters)
    return {ON: machine, **others} if machine else others


def _size(value: object) -> float:
    """A number, or a quantity's amount; names come last."""
    if isinstance(value, int | float):
        return value
    found = amount(value) if isinstance(value, str) else None
    return float("inf") if found is None else found


def _twice(store: Store, points: Sequence[str]) -> bool:
    """Whether a seed occurs twice among points with the same work."""
    seeds = [
        manifest.data["point"]["seed"] for one in points if (manifest := store.get(one)) is not None
    ]
    return len(set(seeds)) < len(seeds)


@dataclass
class _Machines:
    """A work's points in a store."""

    points: dict[str, list[str]] = field(default_factory=dict)
    """By the machine's name; several seeds are one work."""
    alone: bool = True
    """Whether all points were run without other machines beside theirs."""

    @property
    def one(self) -> bool:
        """Whether there is one machine, which no run compared with others: it may have another name
        elsewhere.
        """
        return self.alone and len(self.points) == 1


def _works(store: Store, experiments: Sequence[str]) -> dict[_Work, _Machines]:
    """A store's points by work and machine.

    A point is the same alone or beside other machines, and has the parameter ``on`` if the first
    run that needed it had several machines, which is not a property of the point.
    """
    found: dict[_Work, _Machines] = {}
    for identity in store.identities():
        manifest = store.get(identity)
        if manifest is None or (experiments and manifest.data["experiment"] not in experiments):
            continue
        parameters = {
            name: value for name, value in manifest.data["parameters"].items() if name != ON
        }
        work = (
            manifest.data["experiment"],
            manifest.data["series"],
            json.dumps(parameters, sort_keys=True),
        )
        machines = found.setdefault(work, _Machines())
        name = str(
            manifest.data["parameters"].get(ON)
            or manifest.data["point"]["machine"]["machine"]["name"]
        )
        machines.points.setdefault(name, []).append(identity)
        machines.alone &= ON not in manifest.data["parameters"]
    return found


def _matched(*stores: Mapping[_Work, _Machines]) -> list[dict[_Key, list[str]]]:
    """Stores' points by their keys, equal where they are compared."""
    found: list[dict[_Key, list[str]]] = []
    for store in stores:
        points: dict[_Key, list[str]] = {}
        for work, machines in store.items():
            nameless = all(other[work].one for other in stores if work in other)
            points |= {
                (*work, "" if nameless else name): ids for name, ids in machines.points.items()
            }
        found.append(points)
    return found


def _manifests(store: Store, points: Iterable[str]) -> list[Manifest]:
    return [manifest for one in points if (manifest := store.get(one)) is not None]


def _digests(store: Store, points: Iterable[str]) -> list[str]:
    return sorted(str(manifest.data["digest"]) for manifest in _manifests(store, points))


def _rows(store: Store, points: Iterable[str]) -> tuple[pl.DataFrame, list[bool | None]]:
    """Points' rows with their seeds, and whether each point drew random numbers."""
    tables, random = [], []
    for one in points:
        if (manifest := store.get(one)) is not None:
            tables.append(
                store.table(one, "rows").with_columns(seed=pl.lit(manifest.data["seed"], pl.UInt64))
            )
            random.append(manifest.random)
    return pl.concat(tables, how="vertical_relaxed"), random


def _lines(
    key: _Key,
    a: tuple[pl.DataFrame, list[bool | None]],
    b: tuple[pl.DataFrame, list[bool | None]],
    settings: tuple[Setting, ...],
) -> Iterator[StoreLine]:
    experiment, series, *_ = key
    names = ["job", "metric", "unit"]
    others = {tuple(figure): rows for figure, rows in b[0].group_by(names, maintain_order=True)}
    for figure, rows in a[0].group_by(names, maintain_order=True):
        if tuple(figure) in others:
            job, metric, unit = (str(name or "") for name in figure)
            pair = SamplePair(Sample.of(rows, a[1]), Sample.of(others[tuple(figure)], b[1]))
            yield StoreLine(experiment, series, _parameters(key), job, metric, unit, pair, settings)
