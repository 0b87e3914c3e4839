"""Short runs for the shipped experiments: all papers in a few minutes' processor time.

``data/quick.toml`` has the experiments with short runs, and their changes: ordinary overrides, such
as shorter windows and lists without some values. These experiments' points without a claim are left
out. ``reproduce --quick`` makes the first look at each claim, with these runs;
``reproduce --decide`` adds runs with other seeds where a claim is not resolved (see ``looks``).
Series that the table does not name run whole, and share their points with a whole run.
"""

from __future__ import annotations

import tomllib
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from elanite.base import bounded
from elanite.base.seeds import FIRST_SEED
from elanite.inputs import sources
from elanite.inputs.plan import Plan, Point, plan
from elanite.results.looks import LAST, RUNS
from elanite.validation.claims import claims

if TYPE_CHECKING:
    from elanite.inputs.sources import Source
    from elanite.store import Store
    from elanite.validation.claim import Claim


@cache
def table() -> dict[str, tuple[str, ...]]:
    """Short runs' overrides, as ``key=value``, by shipped experiment name."""
    text = bounded.packaged("data", "quick.toml")
    return {name: tuple(changes) for name, changes in tomllib.loads(text).items()}


def left_out(name: str) -> tuple[Point, ...]:
    """The points in an experiment's whole run with configurations that its short runs leave out.

    No claim is measured on them, or the table shortens the list that holds their value.
    """
    if name not in table():
        return ()
    lists = [change for change in table()[name] if change.partition("=")[2].startswith("[")]
    kept = {point.id for point in plan(sources.read("experiment", name), overrides=lists).points}
    return tuple(
        point for point in planned(name).points if point.id not in kept or not _asked(point, name)
    )


def _asked(point: Point, name: str) -> bool:
    return any(claim.experiment == name and claim.asks_for(point) for claim in claims())


def planned(name: str, seed: int = FIRST_SEED, look: int | None = None) -> Plan:
    """A shipped experiment's plan: whole, or with one look's short runs.

    Raises ``UsageError`` if there is no such experiment.
    """
    return _planned(sources.read("experiment", name), name, seed, look)


@cache
def _planned(source: Source, name: str, seed: int, look: int | None) -> Plan:
    if look is None or name not in table():
        return plan(source, seed=seed)
    found = plan(source, overrides=(*table()[name], *_more(source, name, seed, look)), seed=seed)
    return replace(found, points=tuple(point for point in found.points if _asked(point, name)))


def _more(source: Source, name: str, seed: int, look: int) -> list[str]:
    """The overrides that give the changed series a look's runs; runs differ by their seeds."""
    if look == 0:
        return []
    whole, first = (_planned(source, name, seed, one) for one in (None, 0))
    usual = {point.id for point in whole.points}
    runs: dict[str, set[int]] = {}
    for point in first.points:
        runs.setdefault(point.series, set()).add(point.seed)
    changed = [
        series
        for series in runs
        if len(first.series(series)) < len(whole.series(series))
        or any(point.id not in usual for point in first.series(series))
    ]
    return [f"series.{series}.run.seeds={max(RUNS[look], len(runs[series]))}" for series in changed]


def looks_plan(name: str, store: Store, seed: int = FIRST_SEED) -> Plan:
    """The plan with the short runs so far: the first look's, and the later looks' finished ones."""
    first = planned(name, seed, 0)
    usual = {point.id for point in first.points}
    if all(store.get(identity) is None for identity in usual):
        return first  # later looks follow a first one; their plan takes longer than the first one's
    last = planned(name, seed, LAST)
    points = tuple(
        point for point in last.points if point.id in usual or store.get(point.id) is not None
    )
    return replace(first, points=points)


def shortened(claim: Claim, seed: int = FIRST_SEED) -> bool:
    """Whether the short runs change any point that a claim is measured on."""
    here, there = (
        {
            point.id
            for point in planned(claim.experiment, seed, look).points
            if claim.asks_for(point)
        }
        for look in (0, None)
    )
    return here != there


NOTE = (
    "This is a quick run: windows are shorter, one seed stands for several, and points that no"
    " claim needs are left out; figures show the shipped results of these points, hollow. A claim"
    " whose points were shortened is resolved only if its whole interval decides; elanite reproduce"
    " --decide adds runs to the others."
)
"""The text for quick runs' reports and scoreboards."""
