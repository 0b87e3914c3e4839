"""A study: claims about a machine, and the points on which they rest, with few seeds and for a
shorter time than usual.

Studies change machine parameters and look at the claims (see ``sensitivity`` and ``refit``). Both
sides in a comparison have the same seed and see the same messages at the same times, so that a
shorter time is enough. The data file ``data/sensitivity.toml`` lists each machine's claims that are
studied by default, and the duration of their traffic. All points are ordinary store points.
"""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, TypedDict

from elanite import _core
from elanite.base import bounded
from elanite.base.seeds import FIRST_SEED
from elanite.base.units import stated
from elanite.errors import UsageError
from elanite.inputs import sources
from elanite.inputs.machine import Machine
from elanite.inputs.plan import plan
from elanite.validation.claims import claims
from elanite.validation.measures.quantities import MissingError
from elanite.validation.scoreboard import measurement

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from elanite.inputs.plan import Plan, Point
    from elanite.inputs.sources import Source
    from elanite.store import Store
    from elanite.validation.claim import Claim
    from elanite.validation.measures import Measurement

OTHERWISE = 0.2
"""How long traffic runs for claims that are chosen and not among the default ones."""

FEWEST_CALLS, FEWEST_BATCHES = 5, 5
"""A collective operation among traffic is called as often, in so many batches, or as often as usual
if that is less.
"""

MOST_SEEDS = 3
"""Seeds for figures without batches; all others have one seed."""


@dataclass(frozen=True)
class Study:
    """Claims about a machine, and their points on the machine as it is."""

    machine: Machine
    parts: Mapping[str, float]
    """The traffic duration for each claim, as a fraction of its experiment's warm-up and window."""
    seed: int
    usual: Mapping[str, Plan]
    """The claims' points on the machine as it is, by experiment."""

    @property
    def claims(self) -> list[Claim]:
        """The claims, in document order."""
        return [claim for claim in claims() if claim.id in self.parts]

    def plans(self, overrides: Iterable[str] = (), share: float = 1.0) -> dict[str, Plan]:
        """The claims' points on a changed machine, run for a share of the study's time."""
        parts = {name: part * share for name, part in self.parts.items()}
        return _plans(self.machine, parts, self.seed, tuple(overrides))

    def longer(self, times: float) -> Study:
        """The same claims with this many times the traffic, at most their experiments'."""
        parts = {name: min(part * times, 1.0) for name, part in self.parts.items()}
        return replace(self, parts=parts, usual=_plans(self.machine, parts, self.seed, ()))


def studies() -> dict[str, dict[str, float]]:
    """The default studies, by machine: claim names, and the duration of their traffic."""
    text = bounded.packaged("data", "sensitivity.toml")
    return tomllib.loads(text)


def study(machine: str, chosen: Sequence[str] = (), seed: int = FIRST_SEED) -> Study:
    """The study of a shipped machine, with the default claims or those that ``chosen`` names, in
    full or in part.
    """
    known = studies()
    if machine not in known:
        names = ", ".join(known)
        raise UsageError(
            f"there is no study of `{machine}`{sources.did_you_mean(machine, known)}\n  machines:"
            f" {names}"
        )
    base, usual = Machine.load(machine), known[machine]
    here = [claim.id for claim in machine_claims(machine)]
    parts: dict[str, float] = {}
    for name in chosen or usual:
        found = [claim for claim in here if _named(claim, name)]
        if not found:
            raise UsageError(
                f"no claim about {machine} is named `{name}`{sources.did_you_mean(name, here)}"
            )
        parts |= {claim: _part(claim, usual) for claim in found}
    return Study(base, parts, seed, _plans(base, parts, seed, ()))


def claim_points(claim: Claim, plans: Mapping[str, Plan]) -> list[Point]:
    """The points on which a claim is measured."""
    return [point for point in plans[claim.experiment].points if claim.asks_for(point)]


def measured(claim: Claim, plans: Mapping[str, Plan], store: Store) -> Measurement | None:
    """A claim's simulated figures; `None` if the store lacks some points, or if they do not give a
    figure.

    In short runs a figure can be missing that the experiment has, such as a latency if no load is
    steady.
    """
    points = claim_points(claim, plans)
    if not points or any(store.get(point.id) is None for point in points):
        return None
    try:
        return measurement(claim, points, store)
    except MissingError:
        return None


@cache
def machine_claims(machine: str) -> list[Claim]:
    """The claims that are measured on a machine alone."""
    alone = {}
    for name in dict.fromkeys(claim.experiment for claim in claims() if claim.experiment):
        source = sources.read("experiment", name)
        alone[name] = (
            json.loads(_core.load_experiment(source.text, source.file, []))["machine"] == machine
        )
    return [claim for claim in claims() if alone.get(claim.experiment)]


def _part(claim: str, usual: Mapping[str, float]) -> float:
    """A claim's traffic duration as a fraction: the longest of its names counts."""
    names = [name for name in usual if _named(claim, name)]
    return usual[max(names, key=len)] if names else OTHERWISE


def _named(claim: str, name: str) -> bool:
    return claim == name or claim.startswith(name + ".")


def _plans(
    machine: Machine, parts: Mapping[str, float], seed: int, overrides: tuple[str, ...]
) -> dict[str, Plan]:
    """Claims' points by experiment, with few seeds and for a part of the time."""
    wanted = [claim for claim in claims() if claim.id in parts]
    found = {}
    for name in dict.fromkeys(claim.experiment for claim in wanted):
        here = [claim for claim in wanted if claim.experiment == name]
        changes = _shorter(_only(_full_plan(machine.file, name, seed), here), here, parts)
        planned = plan(
            sources.read("experiment", name), [machine.file], (*changes, *overrides), seed
        )
        found[name] = _only(planned, here)
    return found


@cache
def _full_plan(machine: Source, experiment: str, seed: int) -> Plan:
    """An experiment on a machine as they are."""
    return plan(sources.read("experiment", experiment), [machine], (), seed)


def _only(planned: Plan, wanted: Sequence[Claim]) -> Plan:
    points = tuple(
        point for point in planned.points if any(claim.asks_for(point) for claim in wanted)
    )
    return replace(planned, points=points)


def _shorter(planned: Plan, wanted: Sequence[Claim], parts: Mapping[str, float]) -> list[str]:
    """Experiment changes that give its series few seeds and shorter runs, as long as its claims
    need.
    """
    found: dict[str, list[str]] = {}
    for point in planned.points:
        here = f"series.{point.series}"
        if point.series not in found and (about := traffic(point)):
            series = planned.series(point.series)
            asking = [claim for claim in wanted if any(claim.asks_for(other) for other in series)]
            part = max(parts[claim.id] for claim in asking)
            # A figure without batches has no interval unless there are several seeds.
            batched = all(claim.table == "rows" and not claim.one_run for claim in asking)
            seeds = 1 if batched else min(point.run["seeds"], MOST_SEEDS)
            changes = [f"{here}.run.seeds={seeds}", f"{here}.run.precision=0"]
            warm_up, window = (
                1000 * stated(point.run["warm_up"], "us"),
                1000 * stated(point.run["window"], "us"),
            )
            if part < 1 and point.kind == "jobs":
                length = part * (warm_up + window)
                warm, window = (length / 3, 2 * length / 3) if warm_up else (0.0, length)
                changes += [
                    f"{here}.run.warm_up={warm:.0f} ns",
                    f"{here}.run.window={window:.0f} ns",
                ]
            elif part < 1:
                calls = about["repeats"]
                batches = min(max(point.run["batches"], FEWEST_BATCHES), calls)
                fewer = max(min(calls, FEWEST_CALLS), round(part * calls / batches) * batches)
                changes += [f"{here}.repeats={fewer}", f"{here}.run.batches={batches}"]
            found[point.series] = changes
    return [change for changes in found.values() for change in changes]


class StudyTraffic(TypedDict, total=False):
    """A collective operation, or jobs by their names."""

    repeats: int


def traffic(point: Point) -> StudyTraffic:
    """The collective operation among a point's traffic, or the traffic alone; empty without
    traffic.
    """
    (workload,) = json.loads(point.json)["workload"].values()
    if not workload.get("jobs"):
        return {}
    found: StudyTraffic = workload.get("collective", workload["jobs"])
    return found
