"""Sensitivity: how much each claim changes if a parameter that nobody knows is a fifth lower or higher.

A study takes the uncertain parameters of a machine (see ``vary``), one at a time, and the points on which claims rest,
with fewer seeds and shorter windows. All runs have the same seeds: both sides of a comparison see the same messages at
the same times. Three rounds keep the study affordable. The first one runs the points as they are. The second one runs
each point for a fifth of that time, as it is and with each parameter one step higher. If all tables of such a probe are
the same byte for byte, the parameter does not act on this point, and its change is zero. The third round runs the other
points with each parameter a step lower and higher. All points are ordinary points of the store.

A change of a number is a fraction of the published figure. A change of a finding is that of the figure behind it that
changes most, as a fraction of this figure. The interval of a change has the uncertainty of both sides, batch by batch;
a change whose interval contains zero is not told from noise.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import polars as pl

from elanite import _core, campaign, sources
from elanite.api import Machine
from elanite.claims import Claim, Verdict, claims, judge, measurement
from elanite.errors import UsageError
from elanite.measures.numbers import Finding, Number, Order, difference, ratio
from elanite.plan import FIRST_SEED, plan
from elanite.store import Store, keep, versions
from elanite.vary import varied

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from elanite.api import Parameter
    from elanite.campaign import Observer, Outcome
    from elanite.measures import Measurement
    from elanite.plan import Plan, Point
    from elanite.vary import Varied

FOLDER = "sensitivity"
"""Where tables of changes are kept, beside the store."""

PROBE = 0.2
"""How long a probe is, as a fraction of the run for which it stands."""

OTHERWISE = 0.2
"""How long traffic runs for claims that are chosen and not among the default ones."""

FEWEST_CALLS = 20
"""A collective operation among traffic is called as often, or as often as usual if that is less."""

SCHEMA = {
    "parameter": pl.String,
    "value": pl.String,
    "fitted": pl.Boolean,
    "step": pl.String,
    "changed": pl.String,
    "claim": pl.String,
    "role": pl.String,
    "usual": pl.Float64,
    "simulated": pl.Float64,
    "change": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "held": pl.Boolean,
    "holds": pl.Boolean,
}
"""The columns of a table of changes: one row for each parameter, step (less or more) and claim. ``usual`` and
``simulated`` are the numbers before and after, empty for findings; ``low`` and ``high`` are the ends of the interval of
the change; ``held`` and ``holds`` say whether the claim holds before and after, empty if this is not resolved."""

Key = tuple[str, str, int]


@dataclass(frozen=True)
class Study:
    """What is studied: a machine, its uncertain parameters, and claims."""

    machine: Machine
    parts: Mapping[str, float]
    """How long traffic runs for each claim, as a fraction of the warm-up and the window of its experiment."""
    seed: int
    varied: tuple[Varied, ...]
    others: tuple[Parameter, ...]
    """Uncertain parameters that are no numbers, and therefore have no steps."""
    usual: Mapping[str, Plan]
    """The points of the claims on the machine as it is, by experiment."""

    @property
    def claims(self) -> list[Claim]:
        """The claims, in the order of the documents."""
        return [claim for claim in claims() if claim.id in self.parts]

    @property
    def identity(self) -> str:
        """A hash of all that decides the results."""
        points = [point.id for planned in self.usual.values() for point in planned.points]
        content = [_core.MODEL_REVISION, points, [repr(claim) for claim in self.claims], repr(self.varied)]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:20]

    def plans(self, overrides: Iterable[str] = (), share: float = 1.0) -> dict[str, Plan]:
        """The points of the claims on a changed machine, run for a share of the time of the study."""
        parts = {name: part * share for name, part in self.parts.items()}
        return _plans(self.machine, parts, self.seed, tuple(overrides))


@dataclass(frozen=True)
class Changed:
    """The points of the claims with one parameter changed; points on which it does not act are those as usual."""

    varied: Varied
    step: str
    plans: Mapping[str, Plan]


def studies() -> dict[str, dict[str, float]]:
    """What is studied by default, by machine: names of claims, and how long their traffic runs."""
    text = files("elanite").joinpath("data", "sensitivity.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def study(machine: str, chosen: Sequence[str] = (), seed: int = FIRST_SEED) -> Study:
    """The study of a shipped machine, of the default claims or of those that ``chosen`` names, in full or in part."""
    known = studies()
    if machine not in known:
        names = ", ".join(known)
        raise UsageError(f"there is no study of `{machine}`{sources.did_you_mean(machine, known)}\n  machines: {names}")
    base, usual = Machine.load(machine), known[machine]
    here = [claim.id for claim in _about(machine)]
    parts: dict[str, float] = {}
    for name in chosen or usual:
        found = [claim for claim in here if _named(claim, name)]
        if not found:
            raise UsageError(f"no claim about {machine} is named `{name}`{sources.did_you_mean(name, here)}")
        parts |= {claim: min((usual[n] for n in usual if _named(claim, n)), default=OTHERWISE) for claim in found}
    numbers, others = varied(base)
    return Study(base, parts, seed, tuple(numbers), tuple(others), _plans(base, parts, seed, ()))


def run(
    study: Study, store: Store, jobs: int | None = None, observer: Observer | None = None, out: str | None = None
) -> tuple[Outcome, list[Changed]]:
    """Simulate what the store lacks; the outcome is that of all rounds, or of the one that did not end well."""
    still = study.plans(share=PROBE)
    probes = {each.key: study.plans([_override(each, _up(each))], PROBE) for each in study.varied}
    rounds = [study.usual, still, *probes.values()]
    first = campaign.run([p for plans in rounds for p in plans.values()], store, jobs, observer, out)
    if first.interrupted or first.failures:
        return first, []
    changed = [_changed(study, store, still, probes[each.key], each, step) for each in study.varied for step in each.steps]
    last = campaign.run([p for one in changed for p in one.plans.values()], store, jobs, observer, out)
    last.reused += first.reused
    last.simulated += first.simulated
    return last, changed


def effects(study: Study, changed: Sequence[Changed], store: Store) -> pl.DataFrame:
    """The table of changes; see ``SCHEMA``. Claims without results on the machine as it is are left out."""
    rows = []
    for claim in study.claims:
        usual = _measured(claim, study.usual, store)
        if usual is None:
            continue
        before = judge(claim, usual)
        for one in changed:
            points = _asked(claim, one.plans)
            same = {point.id for point in points} == {point.id for point in _asked(claim, study.usual)}
            after = usual if same else _measured(claim, one.plans, store)
            rows.append(_row(claim, one, usual, before, after))
    return pl.DataFrame(rows, SCHEMA, orient="row")


def write(study: Study, table: pl.DataFrame, out: Path) -> Path:
    """Keep a table of changes below ``out``, where the report finds it; returns its folder."""
    folder = out / FOLDER
    Store(folder).clean()
    data = {
        "id": study.identity,
        "machine": study.machine.name,
        "parts": dict(study.parts),
        "others": [each.key for each in study.others],
        "files": {},
        "versions": versions(),
    }
    if not (folder / study.identity).exists():
        keep(folder, study.identity, {"effects": table}, data)
    return folder / study.identity


def kept(study: Study, out: Path) -> pl.DataFrame | None:
    """The table of changes of a study, if it was kept below ``out``."""
    path = out / FOLDER / study.identity / "effects.parquet"
    return pl.read_parquet(path) if path.is_file() else None


def resolved(table: pl.DataFrame) -> pl.Expr:  # noqa: ARG001 - says of which table
    """Whether a change is told from noise."""
    return (pl.col("low") > 0) | (pl.col("high") < 0)


def turned(table: pl.DataFrame) -> pl.DataFrame:
    """The rows in which the verdict turns: the claim held and is missed, or the other way round."""
    return table.filter(pl.col("held").ne(pl.col("holds")))


def _about(machine: str) -> list[Claim]:
    """The claims that are measured on a machine alone."""
    alone = {}
    for name in dict.fromkeys(claim.experiment for claim in claims() if claim.experiment):
        source = sources.read("experiment", name)
        alone[name] = json.loads(_core.load_experiment(source.text, source.file, []))["machine"] == machine
    return [claim for claim in claims() if alone.get(claim.experiment)]


def _named(claim: str, name: str) -> bool:
    return claim == name or claim.startswith(name + ".")


def _plans(machine: Machine, parts: Mapping[str, float], seed: int, overrides: tuple[str, ...]) -> dict[str, Plan]:
    """The points of claims by experiment, with one seed and for a part of the time."""
    wanted = [claim for claim in claims() if claim.id in parts]
    found = {}
    for name in dict.fromkeys(claim.experiment for claim in wanted):
        here = [claim for claim in wanted if claim.experiment == name]
        source = sources.read("experiment", name)
        changes = _shorter(_only(plan(source, [machine.file], (), seed), here), here, parts)
        found[name] = _only(plan(source, [machine.file], (*changes, *overrides), seed), here)
    return found


def _only(planned: Plan, wanted: Sequence[Claim]) -> Plan:
    points = tuple(point for point in planned.points if any(claim.asks_for(point) for claim in wanted))
    return replace(planned, points=points)


def _shorter(planned: Plan, wanted: Sequence[Claim], parts: Mapping[str, float]) -> list[str]:
    """Changes of an experiment that give its series one seed and shorter runs, as long as its claims need."""
    found: dict[str, list[str]] = {}
    for point in planned.points:
        here = f"series.{point.series}"
        if point.series not in found and (traffic := _traffic(point)):
            part = max(parts[claim.id] for claim in wanted if claim.asks_for(point))
            changes = [f"{here}.run.seeds=1", f"{here}.run.precision=0"]
            warm_up, window = (_ns(point.run[key]) for key in ("warm_up", "window"))
            if part < 1 and point.kind == "jobs":
                length = part * (warm_up + window)
                warm, window = (length / 3, 2 * length / 3) if warm_up else (0.0, length)
                changes += [f"{here}.run.warm_up={warm:.0f} ns", f"{here}.run.window={window:.0f} ns"]
            elif part < 1:
                calls, batches = traffic["repeats"], point.run["batches"]
                fewer = max(min(calls, FEWEST_CALLS), round(part * calls / batches) * batches)
                changes += [f"{here}.repeats={fewer}"]
            found[point.series] = changes
    return [change for changes in found.values() for change in changes]


def _traffic(point: Point) -> dict[str, Any]:
    """The collective operation among the traffic of a point, or the traffic alone; nothing if there is no traffic."""
    (workload,) = json.loads(point.json)["workload"].values()
    if not workload.get("jobs"):
        return {}
    found: dict[str, Any] = workload.get("collective", workload["jobs"])
    return found


def _ns(text: str) -> float:
    quantity = _core.quantity(text)
    return quantity[0] * 1000 if quantity else 0.0


def _up(each: Varied) -> str:
    return "more" if each.more is not None else "less"


def _override(each: Varied, step: str) -> str:
    return f"{each.key}={each.steps[step]}"


def _changed(
    study: Study, store: Store, still: Mapping[str, Plan], probes: Mapping[str, Plan], each: Varied, step: str
) -> Changed:
    """The points with a step of a parameter, and the points as usual where the probe did not change."""
    found = {}
    for name, planned in study.plans([_override(each, step)]).items():
        before, after = (_by_key(plans[name]) for plans in (still, probes))
        usual = _by_key(study.usual[name])
        points = []
        for key, point in _by_key(planned).items():
            same = key in after and key in before and _tables(store, before[key]) == _tables(store, after[key])
            points.append(usual[key] if same else point)
        found[name] = replace(planned, points=tuple(points))
    return Changed(each, step, found)


def _by_key(planned: Plan) -> dict[Key, Point]:
    """The points by what distinguishes them on one machine."""
    return {(point.series, json.dumps(point.parameters), point.seed): point for point in planned.points}


def _tables(store: Store, point: Point) -> object:
    """The checksums of all tables of a finished point."""
    manifest = store.get(point.id)
    return manifest["files"] if manifest else point.id


def _asked(claim: Claim, plans: Mapping[str, Plan]) -> list[Point]:
    return [point for point in plans[claim.experiment].points if claim.asks_for(point)]


def _measured(claim: Claim, plans: Mapping[str, Plan], store: Store) -> Measurement | None:
    points = _asked(claim, plans)
    if not points or any(store.get(point.id) is None for point in points):
        return None
    return measurement(claim, points, store)


def _row(
    claim: Claim, one: Changed, usual: Measurement, before: Verdict, after: Measurement | None
) -> tuple[Any, ...]:
    """A row of the table."""
    moved = change(claim, usual, after) if after else None
    numbers = [each.mean if isinstance(each, Number) else None for each in (usual, after)]
    interval = (moved.mean, moved.low, moved.high) if moved else (None, None, None)
    holds = judge(claim, after).holds if after else None
    each = one.varied
    about = (each.key, each.value, bool(each.fitted_to), one.step, each.steps[one.step], claim.id, claim.role)
    return (*about, *numbers, *interval, before.holds, holds)


def change(claim: Claim, before: Measurement, after: Measurement) -> Number | None:
    """The change of a claim as a fraction; None for a finding without figures, or with other figures than before."""
    if before == after:
        return Number(0.0, 0.0, 0.0)
    if isinstance(before, Number) and isinstance(after, Number):
        published = claim.value if claim.value is not None else sum(claim.bounds) / 2
        return difference(after, before).turned(1 / abs(published)) if published else None
    if isinstance(before, Number) or isinstance(after, Number):
        return None
    return _most(before, after)


def _most(before: Finding | Order, after: Finding | Order) -> Number | None:
    """The largest change of a figure behind a finding, of those that are told from noise if there are any."""
    if len(before.numbers) != len(after.numbers):
        return None
    pairs = zip(after.numbers, before.numbers, strict=True)
    moved = [ratio(one, other).turned(1.0, -1.0) for one, other in pairs if other.mean]
    told = [one for one in moved if one.low > 0 or one.high < 0]
    return max(told or moved, key=lambda one: abs(one.mean), default=None)
