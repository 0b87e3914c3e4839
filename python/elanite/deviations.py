"""Deviations: parameters with which a machine departs from a documented fact, and the results with the fact itself.

Deviations are data (``data/deviations.toml``). The validation page and the report list them, so that nobody takes a
fitted deviation for hardware. Their figures are measured like claims, but judge nothing.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from elanite.claims import Claim, claim_of, plans_of, verdict
from elanite.plan import FIRST_SEED

if TYPE_CHECKING:
    from elanite.claims import Verdict
    from elanite.store import Store

AS_IT_IS = "unchanged"
"""The name of the unchanged machine in experiments."""


@dataclass(frozen=True)
class Deviation:
    """A parameter that departs from a documented fact."""

    machine: str
    parameter: str
    fact: str
    """The documented fact, and its source."""
    says: str
    """The value that the machine has instead, and why."""
    figures: tuple[tuple[Claim, Claim], ...]
    """Published figures: how to measure each on the machine as it is, and on a machine that follows the fact."""


@cache
def deviations() -> tuple[Deviation, ...]:
    """All deviations of the shipped machines."""
    text = files("elanite").joinpath("data", "deviations.toml").read_text(encoding="utf-8")
    found = []
    for entry in tomllib.loads(text)["deviation"]:
        fields = dict(entry)
        figures = tuple(_figure(figure) for figure in fields.pop("figure"))
        found.append(Deviation(**fields, figures=figures))
    return tuple(found)


def measured(store: Store, seed: int = FIRST_SEED) -> list[tuple[Deviation, list[tuple[Verdict, Verdict]]]]:
    """Each deviation with its simulated figures: on the machine as it is, and on one that follows the fact."""
    wanted = [claim for deviation in deviations() for pair in deviation.figures for claim in pair]
    plans = plans_of(wanted, seed)

    def judged(claim: Claim) -> Verdict:
        return verdict(claim, plans.get(claim.experiment), store)

    return [
        (deviation, [(judged(as_it_is), judged(changed)) for as_it_is, changed in deviation.figures])
        for deviation in deviations()
    ]


def _figure(entry: dict[str, Any]) -> tuple[Claim, Claim]:
    fields = {"id": "", "kind": "value"} | entry
    where, changed = fields.pop("where"), fields.pop("changed")
    as_it_is, instead = (claim_of(fields | {"where": where | {"machine": name}}) for name in (AS_IT_IS, changed))
    return as_it_is, instead
