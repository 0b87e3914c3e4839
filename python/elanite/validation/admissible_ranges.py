"""Claims over a range that a source leaves open, such as "a few hundreds of clock cycles".

A machine file has one value for each parameter. If the source states a range, the file states it
beside the value (``admissible = { low = ..., high = ..., source = "..." }``). A claim that the
parameter may decide names it (``admissible = "rails.handle"`` in ``data/claims.toml``) and is
measured at both ends of the range, too. The value's verdict stands; beside it stands whether the
claim holds *within the admissible range*: at an end, or between two ends with one figure below and
the other above the published one. No value is chosen by its result.

Only points that the parameter can change are simulated at an end. A quick run leaves the ends out.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from elanite.base.text import plain
from elanite.errors import UsageError
from elanite.inputs import sources
from elanite.inputs.machine import Machine
from elanite.inputs.plan import plan
from elanite.validation.cells import simulated, spread
from elanite.validation.verdict import AdmissibleRange, Verdict, holds_within

if TYPE_CHECKING:
    from collections.abc import Hashable

    from elanite.inputs.plan import Plan, Point
    from elanite.validation.claim import Claim

UNMOVED = {"rails.handle": ("basic",)}
"""Policies that a parameter does not touch: basic has no control messages and no status for threads
to handle.
"""


@cache
def of_machine(name: str) -> dict[str, AdmissibleRange]:
    """A shipped machine's admissible ranges, by parameter."""
    return {
        each.key: AdmissibleRange(
            each.key, plain(each.value), plain(of["low"]), plain(of["high"]), of["source"]
        )
        for each in Machine.load(name).parameters
        if (of := each.admissible) is not None
    }


def of_claim(claim: Claim, planned: Plan) -> AdmissibleRange:
    """The range over which a claim is judged.

    Raises ``UsageError`` if the experiment's machine file has no such range.
    """
    (machine,) = planned.machines
    found = of_machine(machine.name)
    if claim.admissible not in found:
        near = sources.did_you_mean(claim.admissible, list(found))
        raise UsageError(
            f"claim `{claim.id}`: {machine.name} states no admissible range of"
            f" `{claim.admissible}`{near}\n  help: write admissible = {{ low = ..., high = ...,"
            ' source = "..." } beside the value'
        )
    return found[claim.admissible]


def plan_at(planned: Plan, key: str, end: str) -> Plan:
    """A plan at an end of a parameter's range; points that the parameter cannot change stay as they
    are.
    """
    return _plan_at(planned.experiment.name, planned.seed, key, end)


@cache
def _plan_at(name: str, seed: int, key: str, end: str) -> Plan:
    usual = plan(sources.read("experiment", name), seed=seed)
    changed = plan(usual.experiment, overrides=[f"{key}={end}"], seed=seed)
    own = {_place(point): point for point in usual.points}
    points = tuple(
        own[_place(point)] if _unmoved(point, key) else point for point in changed.points
    )
    return replace(
        changed, experiment=replace(usual.experiment, name=f"{name}, {key}={end}"), points=points
    )


def _place(point: Point) -> Hashable:
    return point.series, json.dumps(point.parameters, sort_keys=True), point.seed


def _unmoved(point: Point, key: str) -> bool:
    machine = str(point.parameters.get("machine", ""))
    return any(f"rails.policy={policy}" in machine.split(", ") for policy in UNMOVED.get(key, ()))


def plans(planned: Plan, claims: tuple[Claim, ...]) -> list[Plan]:
    """The points at the ends of claims' ranges beyond their experiment's points: a plan for each
    end.
    """
    usual = {point.id for point in planned.points}
    needed: dict[tuple[str, str], dict[str, Point]] = {}
    for claim in claims:
        if claim.admissible and claim.experiment == planned.experiment.name:
            for end in of_claim(claim, planned).ends:
                points = needed.setdefault((claim.admissible, end), {})
                points |= {
                    p.id: p
                    for p in plan_at(planned, claim.admissible, end).points
                    if claim.asks_for(p)
                }
    return [
        replace(
            plan_at(planned, *place), points=tuple(p for p in points.values() if p.id not in usual)
        )
        for place, points in needed.items()
    ]


def verdict_words(verdict: Verdict) -> str:
    """The verdict over the range in words, with the figures at the ends; empty without a range or
    before it was run.
    """
    claim = verdict.claim
    if not verdict.ends:
        return ""
    range_ = verdict.range
    assert range_ is not None  # noqa: S101 - a verdict with ends has the ends' range
    held = {True: "holds within", False: "missed in", None: "not resolved in"}[
        holds_within(verdict)
    ]
    figures = ", ".join(f"{end.value}: {_figure(end.verdict)}" for end in verdict.ends)
    return (
        f"{held} the admissible range {range_.low} to {range_.high} of {claim.admissible}; at"
        f" {figures}"
    )


def _figure(verdict: Verdict) -> str:
    if isinstance(verdict.simulated, str):
        return {True: "holds", False: "missed", None: "not resolved"}[verdict.holds]
    return " ".join(filter(None, (simulated(verdict), spread(verdict))))
