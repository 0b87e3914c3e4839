"""Ablations: the verdict on each claim with one model mechanism removed at a time.

A claim is worth more, the more ways there are to miss it. The data file ``data/mechanisms.toml``
names the model's mechanisms, and each machine file's changes that remove them. Each claim about a
machine is measured on the unchanged machine and without each mechanism, with the same seed, on a
study's short runs (see ``basis``); probes find the mechanisms that do not act on a point (see
``probes``).

Short runs' verdicts can differ from the scoreboard's. Both sides in a comparison have runs with the
same length, and only their difference counts: a mechanism *decides* a claim if the claim holds with
it and is missed without it, or the other way round.
"""

from __future__ import annotations

import tomllib
from dataclasses import asdict, dataclass, fields
from functools import cache
from typing import TYPE_CHECKING, TypedDict

import polars as pl

from elanite.base import bounded
from elanite.base.text import number
from elanite.errors import UsageError
from elanite.inputs.sources import did_you_mean
from elanite.study.basis import measured
from elanite.study.probes import probed
from elanite.validation.ablation_verdicts import OUTCOME, WHOLE, Ablation
from elanite.validation.board import measured as figure_of
from elanite.validation.verdict import judge

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from elanite.campaign import CampaignOutcome, Observer
    from elanite.inputs.plan import Plan
    from elanite.store import Store
    from elanite.study.basis import Study
    from elanite.validation.claim import Claim
    from elanite.validation.verdict import Verdict

MOST, MOST_NUMBERS = 200, 8
"""Most characters in a figure, and most numbers in a finding."""


@dataclass(frozen=True)
class Mechanism:
    """A model mechanism, and the changes that remove it from one machine."""

    name: str
    says: str
    changes: tuple[str, ...]


class MechanismEntry(TypedDict):
    """A mechanism in the data file, without the machines: these are further keys."""

    says: str
    words: str


@cache
def all_mechanisms() -> dict[str, MechanismEntry]:
    """All mechanisms by their names, as the data file has them."""
    return tomllib.loads(bounded.packaged("data", "mechanisms.toml"))


def mechanisms(machine: str) -> tuple[Mechanism, ...]:
    """A shipped machine's mechanisms."""
    found = []
    for name, entry in all_mechanisms().items():
        of_machine: Mapping[str, object] = entry
        changes = of_machine.get(machine)
        if isinstance(changes, list):
            found.append(Mechanism(name, entry["says"], tuple(changes)))
    return tuple(found)


def chosen(machine: str, names: Sequence[str] = ()) -> list[Mechanism]:
    """The mechanisms with these names, by default all of a machine's.

    Raises ``UsageError`` for an unknown name.
    """
    known = {each.name: each for each in mechanisms(machine)}
    for name in names:
        if name not in known:
            raise UsageError(
                f"{machine} has no mechanism `{name}`{did_you_mean(name, known)}\n  mechanisms:"
                f" {', '.join(known)}"
            )
    return [known[name] for name in names or known]


def run(
    study: Study,
    mechanisms: Sequence[Mechanism],
    store: Store,
    jobs: int | None = None,
    observer: Observer | None = None,
    out: str | None = None,
) -> tuple[CampaignOutcome, list[Ablation]]:
    """Simulate the points that the store lacks; returns all claims' rows, empty after an interrupt.

    A claim without results on the unchanged machine has no rows. A mechanism has no rows if an
    experiment needs it, or if its points fail.
    """
    outcome, plans = probed(
        study, store, [each.changes for each in mechanisms], jobs, observer, out
    )
    if outcome.interrupted:
        return outcome, []
    cases = [
        (WHOLE, study.usual),
        *((mechanisms[number].name, found) for number, found in plans.items()),
    ]
    return outcome, [row for claim in study.claims for row in rows(claim, cases, store)]


def rows(
    claim: Claim, cases: Sequence[tuple[str, Mapping[str, Plan]]], store: Store
) -> list[Ablation]:
    """The verdicts on a claim in some cases; the first one is the unchanged machine."""
    found = []
    for name, plans in cases:
        if (measurement := measured(claim, plans, store)) is not None:
            verdict = judge(claim, measurement)
            found.append(Ablation(claim.id, name, OUTCOME[verdict.holds], figure(verdict)))
        elif name == WHOLE:
            return []
    return found


def frame(rows: Sequence[Ablation]) -> pl.DataFrame:
    """The rows as a table with their fields as columns."""
    return pl.DataFrame(
        [asdict(row) for row in rows], schema={each.name: pl.String for each in fields(Ablation)}
    )


def figure(verdict: Verdict) -> str:
    """The simulated figure in words; for a finding, its figures, and the parts that do not hold."""
    if not verdict.parts or not isinstance(verdict.simulated, str):
        return figure_of(verdict)[:MOST]
    numbers = [number(case.number.mean) for part in verdict.parts for case in part.cases]
    lacking = [part.says for part in verdict.parts if part.holds is False]
    open_ = [part.says for part in verdict.parts if part.holds is None]
    words = [f"{', '.join(numbers[:MOST_NUMBERS])}{', ...' if len(numbers) > MOST_NUMBERS else ''}"]
    words += [f"not: {'; '.join(lacking)}"] if lacking else []
    words += [f"not resolved: {'; '.join(open_)}"] if open_ else []
    return "; ".join(words)[:MOST]
