"""The scoreboard: every published claim beside the simulated result.

Verdicts depend on the store's finished points alone. A missed claim is never hidden: a claim with a
``known_miss`` reason is shown as missed, with the reason, but does not make a run fail.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from elanite.base.seeds import FIRST_SEED
from elanite.base.text import are
from elanite.inputs import sources
from elanite.results.looks import LAST, RUNS
from elanite.store import Store
from elanite.validation import admissible_ranges
from elanite.validation.claims import claims
from elanite.validation.measures import kinds
from elanite.validation.measures.quantities import MissingError
from elanite.validation.short_runs import planned, shortened
from elanite.validation.verdict import RangeEnd, Verdict, judge

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import polars as pl

    from elanite.inputs.plan import Plan, Point
    from elanite.validation.claim import Claim
    from elanite.validation.measures import Measurement


def verdict(claim: Claim, planned: Plan | None, store: Store, look: int | None = None) -> Verdict:
    """Judge one claim from its experiment's finished points; ``look`` is as in ``judge``."""
    if planned is None:
        return Verdict(claim, note="not yet simulated")
    found = _verdict(
        claim, [point for point in planned.points if claim.asks_for(point)], store, look
    )
    return (
        found
        if look is not None or not claim.admissible or not found.judged
        else _over_range(found, planned, store)
    )


def _verdict(claim: Claim, points: Sequence[Point], store: Store, look: int | None) -> Verdict:
    """Judge one claim from these points, if all are finished."""
    missing = sum(store.get(point.id) is None for point in points)
    if not points:
        return Verdict(claim, note=f"{claim.experiment} has no point with these parameters")
    if missing:
        return Verdict(
            claim, note=f"not run: {missing} of {len(points)} points {are(missing)} missing"
        )
    return _judged(claim, points, store, look)


def _judged(
    claim: Claim, points: Sequence[Point], store: Store, look: int | None = None
) -> Verdict:
    """Judge one claim from finished points."""
    try:
        return judge(claim, measurement(claim, points, store, look), look)
    except MissingError as error:
        if "steady" not in kinds(claim.measure):
            raise
        return Verdict(
            claim, simulated=f"not judged, as other points are saturated: {error}", look=look
        )


def _over_range(found: Verdict, planned: Plan, store: Store) -> Verdict:
    """The verdict, with verdicts at the ends of the admissible range as far as these were run."""
    claim = found.claim
    range_ = admissible_ranges.of_claim(claim, planned)
    ends = []
    for value in range_.ends:
        points = [
            p
            for p in admissible_ranges.plan_at(planned, claim.admissible, value).points
            if claim.asks_for(p)
        ]
        if all(store.get(point.id) is not None for point in points):
            ends.append(RangeEnd(value, _judged(claim, points, store)))
    return replace(found, range=range_, ends=tuple(ends))


def measurement(
    claim: Claim, points: Sequence[Point], store: Store, look: int | None = None
) -> Measurement:
    """A claim's simulated figures, from finished points; ``look`` is as in ``judge``."""
    return measured(claim, _table(claim, points, store, look), look)


def measured(claim: Claim, rows: pl.DataFrame, look: int | None = None) -> Measurement:
    """The simulated figures for a claim with a measure, from its points' rows; ``look`` is as in
    ``judge``.
    """
    assert claim.measure, claim.id  # noqa: S101 - the claims reader refuses an experiment without a measure
    return claim.measure.measured(rows, look)


def scoreboard(
    out: str | Path = "out", seed: int = FIRST_SEED, *, quick: bool = False
) -> list[Verdict]:
    """Judge all claims from the finished points below ``out``, on the machines that the experiments
    name.

    ``quick`` takes a quick run's points (see ``elanite.validation.short_runs``).
    """
    return verdicts(Store(Path(out) / "store"), seed, quick=quick)


def verdicts(
    store: Store,
    seed: int = FIRST_SEED,
    *,
    quick: bool = False,
    known: Mapping[str, Verdict] | None = None,
) -> list[Verdict]:
    """The verdicts on all claims, from a store's finished points; ``quick`` takes short runs'
    points.

    ``known`` has verdicts by claim name that rest on all their points, and need no second
    judgement.
    """
    plans = plans_of(claims(), seed)
    known = known or {}
    return [
        known.get(claim.id)
        or (
            look_record(claim, store, seed).verdict
            if quick
            else verdict(claim, plans.get(claim.experiment), store)
        )
        for claim in claims()
    ]


@dataclass(frozen=True)
class LookRecord:
    """The looks at a claim so far."""

    verdict: Verdict
    """From the first look that resolves the claim, or from the last one with finished points."""
    missing: tuple[Point, ...] = ()
    """The next look's points that are to be simulated; empty without a next look."""


def look_record(
    claim: Claim, store: Store, seed: int = FIRST_SEED, *, mine: bool = False
) -> LookRecord:
    """Look at a claim again and again, as far as points are finished; ``mine`` takes only this
    build's points.

    Each look adds runs of the configurations on which the verdict hangs. A claim with a whole run's
    points is judged as in a whole run.
    """
    name = claim.experiment
    if name not in plans_of([claim], seed):
        return LookRecord(verdict(claim, None, store))
    if not shortened(claim, seed):
        return LookRecord(verdict(claim, planned(name, seed), store))
    has = store.current if mine else store.get
    points = {point.id: point for point in planned(name, seed, 0).points if claim.asks_for(point)}
    found = _verdict(claim, list(points.values()), store, 0)
    for look in range(1, len(RUNS)):
        if not found.open:
            break
        hanging = found.hanging & points.keys() or points.keys()
        places = {points[identity].place for identity in hanging}
        points |= {
            point.id: point for point in planned(name, seed, look).points if point.place in places
        }
        if missing := tuple(point for point in points.values() if has(point.id) is None):
            return LookRecord(found, missing)
        found = _verdict(claim, list(points.values()), store, look)
    return LookRecord(found)


def plans_of(
    chosen: Iterable[Claim], seed: int = FIRST_SEED, look: int | None = None
) -> dict[str, Plan]:
    """The plans for the experiments that the claims are measured on, by name; ``look`` is as in
    ``quick.planned``.
    """
    names = dict.fromkeys(claim.experiment for claim in chosen if claim.experiment)
    available = set(sources.shipped("experiment"))
    return {name: planned(name, seed, look) for name in names if name in available}


def failed(verdicts: Sequence[Verdict]) -> bool:
    """Whether a command that shows these verdicts fails."""
    return any(verdict.failed for verdict in verdicts)


def _table(claim: Claim, points: Sequence[Point], store: Store, look: int | None) -> pl.DataFrame:
    from elanite.results import congestion, frames

    if claim.table == "congestion":
        return congestion.links(points, store)
    exact = [
        point.id
        for point in points
        if (known := store.get(point.id)) is not None and known.random is False
    ]
    rows = frames.tidy(points, store, claim.table)
    rows = rows.with_columns((~rows["id"].is_in(exact)).alias(frames.DRAWN))
    if look is None:
        return rows
    usual = [
        point.id for point in planned(claim.experiment, min(point.seed for point in points)).points
    ]
    return rows.with_columns((~rows["id"].is_in(usual)).alias(frames.SHORT))


def further(chosen: Iterable[Claim], store: Store, seed: int) -> list[Plan]:
    """The points for the next looks at claims that are not resolved, by experiment."""
    needed: dict[str, dict[str, Point]] = {}
    for claim in chosen:
        for point in look_record(claim, store, seed, mine=True).missing:
            needed.setdefault(claim.experiment, {})[point.id] = point
    return [
        replace(planned(name, seed, LAST), points=tuple(points.values()))
        for name, points in needed.items()
    ]
