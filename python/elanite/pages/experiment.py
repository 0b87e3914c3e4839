"""The page of an experiment or a sweep, from its finished points."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elanite import figures, frames
from elanite.api import Machine
from elanite.pages.frame import Page, Section
from elanite.text import counted, number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from elanite.pages.inputs import Inputs
    from elanite.plan import Plan
    from elanite.store import Store


def page(plan: Plan, store: Store, command: Sequence[str], inputs: Inputs) -> Page:
    """The page of the finished points of a plan; ``command`` are the words of the command line that ran it."""
    return Page(
        title=plan.title,
        command=command,
        inputs=inputs,
        about=_about(plan, store),
        notes=_notes(plan, store),
        sections=[Section("Figures", figures=figures.drawn(plan, store))],
        machines=[Machine.of(machine, machine.overrides) for machine in plan.machines],
    )


def _about(plan: Plan, store: Store) -> str:
    """The experiment, its machines, and the size of the runs."""
    manifests = [manifest for point in plan.points if (manifest := store.get(point.id)) is not None]
    machines = " and ".join(machine.name for machine in plan.machines)
    packets = number(sum(manifest["packets"] for manifest in manifests))
    seconds = number(sum(manifest.cpu_seconds for manifest in manifests))
    parts = [
        f"{plan.experiment.name} on {machines}",
        counted(len(manifests), "point"),
        f"{packets} packets",
        f"{seconds} processor seconds",
    ]
    return " · ".join([plan.document, *parts] if plan.document else parts)


def _notes(plan: Plan, store: Store) -> list[str]:
    """Missing points."""
    missing = len(plan.points) - len(frames.finished(plan, store))
    return [f"Incomplete: {missing} of {len(plan.points)} points are missing."] if missing else []
