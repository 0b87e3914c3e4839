"""Machines side by side: every figure in an experiment on each of several machines, and their
ratios.

A ratio relates a machine to the first machine. Its interval includes both uncertainties; points
with the same seeds are compared batch by batch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from elanite.inputs.plan import ON
from elanite.results.frames import varying
from elanite.results.numbers import averaged, ratio

if TYPE_CHECKING:
    from collections.abc import Iterator

    from elanite.results.numbers import Number


@dataclass(frozen=True)
class MachineLine:
    """One figure on several machines."""

    parameters: dict[str, object]
    """The parameters that identify its configuration within the series, without the machine."""
    metric: str
    unit: str
    figures: dict[str, Number]
    """By machine, in plan order, as far as points are finished."""

    @property
    def quantity(self) -> str:
        """The metric with its unit."""
        return f"{self.metric}, {self.unit}" if self.unit else self.metric

    @property
    def first(self) -> str:
        """The machine that the others are compared with."""
        return next(iter(self.figures))

    @property
    def ratios(self) -> dict[str, Number]:
        """The other machines' figures relative to the first machine's; empty if that is 0."""
        (_, reference), *others = self.figures.items()
        return {machine: ratio(figure, reference) for machine, figure in others if reference.mean}


def machine_lines(rows: pl.DataFrame) -> Iterator[MachineLine]:
    """One series' lines, from its tidy rows (see ``elanite.results.frames.tidy``)."""
    names = [name for name in varying(rows) if name not in (ON, "series")]
    machines = rows[ON].unique(maintain_order=True).to_list()
    for key, here in rows.group_by([*names, "metric", "unit"], maintain_order=True):
        parts = {machine: here.filter(pl.col(ON) == machine) for machine in machines}
        *values, metric, unit = key
        yield MachineLine(
            dict(zip(names, values, strict=True)),
            str(metric),
            str(unit or ""),
            {machine: averaged(part) for machine, part in parts.items() if not part.is_empty()},
        )
