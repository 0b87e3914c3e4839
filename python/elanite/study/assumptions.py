"""Assumed parameters: values that no source gives and no claim was fitted to, and their effects.

The effects are those that a machine's shipped study has computed (``study.study_findings``). A
machine whose study has found none has no warning.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from elanite import _core
from elanite.inputs import sources
from elanite.inputs.machine import Machine
from elanite.inputs.overrides import of_experiment
from elanite.study import study_findings
from elanite.study.variation import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from elanite.inputs.machine import Parameter
    from elanite.inputs.plan import Plan
    from elanite.inputs.sources import Source
    from elanite.study.study_findings import Effect

NAMED = 3
"""Most values, parameters or alike limits that a line names."""

_AS_ON = re.compile(r"\bas on ([a-z][\w-]*)")

_IDLE = "of no effect"
"""Marks, in a parameter's provenance, a value without use in the machine."""


@dataclass(frozen=True)
class AssumedParameters:
    """The assumed parameters of a machine."""

    machine: str
    share: str
    """How many of its parameters: ``25 of 59``."""
    effects: str
    """Their computed effects, in words."""


def is_assumed(parameter: Parameter) -> bool:
    """Whether a parameter's value is assumed: it has no source and no claim that it was fitted
    to.
    """
    if parameter.fitted_to or _IDLE in parameter.source:
        return False
    if UNKNOWN.search(parameter.source):
        return True
    elsewhere = _AS_ON.search(parameter.source)
    return elsewhere is not None and parameter.key in _assumed_on(elsewhere[1])


@cache
def _assumed_on(name: str) -> frozenset[str]:
    """A shipped machine's assumed parameters."""
    if name not in sources.shipped("machine"):
        return frozenset()
    return frozenset(each.key for each in Machine.load(name).parameters if is_assumed(each))


def of_plan(plan: Plan, fitted: Collection[str] = ()) -> list[AssumedParameters]:
    """The assumed parameters that a plan rests on, without the ``fitted`` ones, for each machine
    that has some.

    Named effects come from the machine's shipped study: on this experiment's claims, or, for a
    user's experiment, on any claim in the study. Without a computed effect, a machine is named
    only where no study could have found one: for machines without a study.
    """
    changes = [change for change in plan.overrides if not of_experiment(change)]
    found = []
    for base in plan.machines:
        machine = Machine.of(base, [*base.overrides, *changes])
        keys = [
            each.key for each in machine.parameters if is_assumed(each) and each.key not in fitted
        ]
        if keys and (effects := _effects(plan, machine, keys)):
            total = f"{len(keys)} of {len(machine.parameters)}"
            found.append(AssumedParameters(base.name, total, effects))
    return found


def _effects(plan: Plan, machine: Machine, keys: Sequence[str]) -> str:
    """The computed effects of some machine parameters in words; empty if its study has none."""
    study = study_findings.shipped().get(machine.file.name)
    if study is None or not _is_shipped(machine.file):
        return (
            "no study has computed their effects; vary them: elanite sweep EXPERIMENT --vary"
            " KEY=VALUES"
        )
    claims = _claims(plan, study.claims)
    strongest: dict[str, Effect] = {}
    for each in study.effects:  # the strongest first
        if each.parameter in keys and each.claim in claims:
            strongest.setdefault(each.parameter, each)
    same = {key for key in strongest if study.values[key]["value"] == str(machine[key])}
    strongest = {key: each for key, each in strongest.items() if each.size and key in same}
    named = [f"{key} ({each.claim} by {each.size:.1%})" for key, each in strongest.items()]
    if not named:
        return ""
    more = f" and {len(named) - NAMED} more" if len(named) > NAMED else ""
    named_claims = {each.claim for each in strongest.values()}
    revisions = {study.older.get(claim, study.revision) for claim in named_claims} - {
        _core.MODEL_REVISION
    }
    older = (
        f" (some in a study of model revision {', '.join(map(str, sorted(revisions)))})"
        if revisions
        else ""
    )
    moved = f"small steps of {len(named)} of these move claims{older}"
    return f"{moved}: {', '.join(named[:NAMED])}{more}; elanite explain KEY"


def _is_shipped(source: Source) -> bool:
    return source.argument in sources.shipped(source.kind)


def _claims(plan: Plan, studied_: Sequence[str]) -> set[str]:
    """The studied claims that an experiment decides; all studied claims for a user's experiment."""
    from elanite.validation.claims import claims

    own = {claim.id for claim in claims() if claim.experiment == plan.experiment.name} & set(
        studied_
    )
    return own if _is_shipped(plan.experiment) else set(studied_)
