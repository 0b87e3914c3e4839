"""Deviations: where a machine departs from a documented fact, and what the fact itself would give.

They are data (``data/deviations.toml``), listed on the validation page and in the report, so that nobody takes a fitted
departure for hardware. Their figures are measured like claims, but judge nothing.
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
"""What experiments call the machine without any change."""


@dataclass(frozen=True)
class Deviation:
    """A parameter that departs from what is documented."""

    machine: str
    parameter: str
    fact: str
    """What is documented, and where."""
    says: str
    """What the machine has instead, and why."""
    figures: tuple[tuple[Claim, Claim], ...]
    """Published figures: how each is measured on the machine as it is, and on one that follows the fact."""


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
    """Each deviation with its figures, as far as they are simulated: as it is, and following the fact."""
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
