"""A figure's machines: its experiment's, as the paper has them, or others.

A figure's number in a paper and the published values belong to the machines that the experiment
names, without changes. Results from another machine, or from the same one with an override, are
marked in the column ``FOREIGN``. A figure or panel with such results alone has no number and no
published values; in a figure that machines share, the published values name their machine.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import polars as pl

from elanite import _core
from elanite.inputs.plan import ON, machine_of
from elanite.results.frames import FOREIGN

if TYPE_CHECKING:
    from collections.abc import Iterable

    from elanite.inputs.contents import FigureSection
    from elanite.inputs.plan import Plan

TRAFFIC = ("run", "series")
"""First words in keys that change the traffic or its measurement, not the machine."""


def foreign_machines(plan: Plan) -> frozenset[str]:
    """The names of a plan's machines that its experiment does not name, or that an override
    changes.
    """
    every = frozenset(machine.name for machine in plan.machines)
    if _change_machines(plan.overrides):
        return every
    named: list[str] = []
    if plan.machine_given:
        file = plan.experiment
        one = json.loads(_core.load_experiment(file.text, file.file, []))["machine"]
        named = [one] if isinstance(one, str) else list(one)
    own = (
        {machine_of(plan.experiment, name).text for name in named} if plan.machine_given else set()
    )
    return frozenset(
        machine.name
        for machine in plan.machines
        if _change_machines(machine.overrides) or (plan.machine_given and machine.text not in own)
    )


def marked(rows: pl.DataFrame, plan: Plan) -> pl.DataFrame:
    """The rows with the column ``FOREIGN``, if the plan has foreign machines."""
    names = foreign_machines(plan)
    if not names:
        return rows
    ids = [point.id for point in plan.points if point.machine in names]
    here = pl.col(ON).is_in(sorted(names)) if ON in rows.columns else pl.col("id").is_in(ids)
    return rows.with_columns(here.fill_null(value=False).alias(FOREIGN))


def owned(rows: pl.DataFrame) -> bool:
    """Whether some rows are from one of the experiment's machines."""
    return FOREIGN not in rows.columns or not rows[FOREIGN].fill_null(value=False).all()


def shared(rows: pl.DataFrame) -> bool:
    """Whether rows are from several machines."""
    return ON in rows.columns and rows[ON].n_unique() > 1


def section_for(asked: FigureSection, rows: pl.DataFrame) -> FigureSection:
    """A ``[[figure]]`` as it belongs to some rows: foreign machines' rows have no number and no
    published values.
    """
    return asked if owned(rows) else asked | {"paper": "", "published": []}


def _change_machines(overrides: Iterable[str]) -> bool:
    keys = (change.partition("=")[0].strip().split(".") for change in overrides)
    return any(key[0] not in TRAFFIC or "machine" in key for key in keys)
