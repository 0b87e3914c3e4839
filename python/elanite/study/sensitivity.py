"""Sensitivity: each claim's change if an uncertain parameter is a fifth lower or higher.

A machine's uncertain parameters (see ``vary``) are changed one at a time, and the points behind
claims (see ``basis``) run again, with the same seeds, after probes (see ``probes``): a step that
does not act on a claim's points changes it by zero.

A number's change is a fraction of the published figure. A finding's change is that of the figure
behind it that changes most, as a fraction of this figure. A change's interval has both sides'
uncertainty, batch by batch; a change with an interval that contains zero is not distinguished from
noise.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from elanite import _core
from elanite.results.numbers import Number, difference, ratio
from elanite.store import Store, keep, versions
from elanite.study.basis import claim_points, measured, traffic
from elanite.study.changes import SCHEMA
from elanite.study.probes import probed
from elanite.study.variation import varied
from elanite.validation.verdict import judge

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from elanite.campaign import CampaignOutcome, Observer
    from elanite.inputs.plan import Plan
    from elanite.study.basis import Study
    from elanite.study.variation import UncertainParameter
    from elanite.validation.claim import Claim
    from elanite.validation.measures import Finding, Measurement, Order
    from elanite.validation.verdict import Verdict

FOLDER = "sensitivity"
"""The folder for change tables, beside the store."""


@dataclass(frozen=True)
class Perturbation:
    """The claims' points with one parameter changed; points on which it does not act are as
    usual.
    """

    varied: UncertainParameter
    step: str
    plans: Mapping[str, Plan]


def run(
    study: Study,
    store: Store,
    jobs: int | None = None,
    observer: Observer | None = None,
    out: str | None = None,
) -> tuple[CampaignOutcome, list[Perturbation]]:
    """Simulate the points that the store lacks.

    The changes are empty after an interrupt. A point that fails leaves a gap in the table, and so
    does a step that the machine takes and an experiment refuses.
    """
    taken = steps(study)
    changes = [[override(*each)] for each in taken]
    outcome, found = probed(study, store, changes, jobs, observer, out)
    changed = [Perturbation(*taken[number], plans) for number, plans in found.items()]
    return outcome, changed


def steps(study: Study) -> list[tuple[UncertainParameter, str]]:
    """A machine's uncertain numbers, each with the steps that it takes."""
    numbers, _ = varied(study.machine)
    return [(one, step) for one in numbers for step in one.steps]


def override(each: UncertainParameter, step: str) -> str:
    """The machine file override of a step."""
    return f"{each.key}={each.steps[step]}"


def effects(study: Study, changed: Sequence[Perturbation], store: Store) -> pl.DataFrame:
    """The change table; see ``changes.SCHEMA``.

    Claims without results on the machine as it is are left out.
    """
    rows = []
    for claim in study.claims:
        usual = measured(claim, study.usual, store)
        if usual is None:
            continue
        before = judge(claim, usual)
        for one in changed:
            points = claim_points(claim, one.plans)
            same = {point.id for point in points} == {
                point.id for point in claim_points(claim, study.usual)
            }
            after = usual if same else measured(claim, one.plans, store)
            rows.append(_row(claim, one, usual, before, after))
    return pl.DataFrame(rows, SCHEMA, orient="row")


def identity(study: Study) -> str:
    """A hash over everything that decides a change table."""
    points = [point.id for planned in study.usual.values() for point in planned.points]
    numbers, _ = varied(study.machine)
    content = [_core.MODEL_REVISION, points, [repr(claim) for claim in study.claims], repr(numbers)]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:20]


def write(study: Study, table: pl.DataFrame, out: Path) -> Path:
    """Keep a change table below ``out``, where the report finds it; returns its folder."""
    folder = out / FOLDER
    Store(folder).clean()
    found = identity(study)
    data: dict[str, object] = {
        "id": found,
        "machine": study.machine.name,
        "parts": dict(study.parts),
        "files": {},
        "versions": versions(),
    }
    shutil.rmtree(folder / found, ignore_errors=True)  # it may have gaps
    keep(folder, found, {"effects": table}, data)
    return folder / found


def kept(study: Study, out: Path) -> pl.DataFrame | None:
    """A study's change table, if it was kept below ``out``."""
    path = out / FOLDER / identity(study) / "effects.parquet"
    return pl.read_parquet(path) if path.is_file() else None


def _row(
    claim: Claim, one: Perturbation, usual: Measurement, before: Verdict, after: Measurement | None
) -> tuple[object, ...]:
    """A table row."""
    moved = change(claim, usual, after) if after else None
    numbers = [each.mean if isinstance(each, Number) else None for each in (usual, after)]
    interval: tuple[float | None, ...] = (
        (moved.mean, moved.low, moved.high) if moved else (None, None, None)
    )
    if (
        moved
        and moved.mean
        and moved.low == moved.high
        and any(traffic(p) for p in claim_points(claim, one.plans))
    ):
        interval = (moved.mean, None, None)  # one value from a random process
    holds = judge(claim, after).holds if after else None
    each = one.varied
    fits = (bool(each.fitted_to), claim.id in each.fitted_to)
    about = (each.key, each.value, *fits, one.step, each.steps[one.step], claim.id, claim.role)
    return (*about, *numbers, *interval, before.holds, holds)


def change(claim: Claim, before: Measurement, after: Measurement) -> Number | None:
    """A claim's change as a fraction; `None` for a finding without figures, or with other figures
    than before.
    """
    if before == after:
        return Number(0.0, 0.0, 0.0)
    if isinstance(before, Number) and isinstance(after, Number):
        published = claim.value if claim.value is not None else sum(claim.bounds) / 2
        return difference(after, before).turned(1 / abs(published)) if published else None
    if isinstance(before, Number) or isinstance(after, Number):
        return None
    return _largest_change(before, after)


def _largest_change(before: Finding | Order, after: Finding | Order) -> Number | None:
    """The largest change in a figure behind a finding, among those distinguished from noise if
    there are any.
    """
    if len(before.numbers) != len(after.numbers):
        return None
    pairs = zip(after.numbers, before.numbers, strict=True)
    moved = [ratio(one, other).turned(1.0, -1.0) for one, other in pairs if other.mean]
    told = [one for one in moved if one.low > 0 or one.high < 0]
    return max(told or moved, key=lambda one: abs(one.mean), default=None)
