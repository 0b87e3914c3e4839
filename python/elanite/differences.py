"""Results side by side: what has changed, by how much, and whether the intervals tell the figures apart.

Configurations are the same if all parameters of the workload and the metric are the same. A configuration that only
one result has is left out. The interval of a ratio has the uncertainty of both figures; points with the same seeds are
compared batch by batch, so that what both have in common does not widen it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from elanite.beside import beside
from elanite.errors import UsageError
from elanite.measures.numbers import difference
from elanite.plan import ON

if TYPE_CHECKING:
    from elanite.api import Result

_SCHEMA = {"on": pl.String, "reference": pl.Float64, "mean": pl.Float64, "low": pl.Float64, "high": pl.Float64}
_SCHEMA |= {"ratio": pl.Float64, "ratio_low": pl.Float64, "ratio_high": pl.Float64, "differs": pl.Boolean}


def compare(first: Result, *others: Result) -> pl.DataFrame:
    """Compare results with the first one, or the machines of one result with the first machine.

    A row is a configuration and a metric ``on`` one of the others: ``reference`` (the mean of the first), ``mean``
    with its interval ``low`` to ``high``, ``ratio`` to the first with its interval (null if the first is 0), and
    ``differs``: whether the interval of the difference excludes 0. Raises ``UsageError`` if there is nothing to
    compare.
    """
    rows = _side_by_side(first, *others)
    found = []
    for (series,), here in rows.group_by(["series"], maintain_order=True):
        for line in beside(here):
            reference = line.figures[line.first]
            for machine, figure in line.figures.items():
                if machine == line.first:
                    continue
                ratio = line.ratios.get(machine)
                gap = difference(figure, reference)
                found.append(
                    {"series": series, **line.parameters, "metric": line.metric, "unit": line.unit, "on": machine}
                    | {"reference": reference.mean, "mean": figure.mean, "low": figure.low, "high": figure.high}
                    | {"ratio": ratio and ratio.mean, "ratio_low": ratio and ratio.low}
                    | {"ratio_high": ratio and ratio.high, "differs": gap.low > 0 or gap.high < 0}
                )
    if not found:
        raise UsageError("the results have no configuration in common; compare results of the same experiment")
    table = pl.DataFrame(found, infer_schema_length=None).cast(dict(_SCHEMA.items()))
    given = [name for name in table.columns if name not in ("metric", "unit", *_SCHEMA)]
    return table.select(*given, "metric", "unit", *_SCHEMA)


def _side_by_side(*results: Result) -> pl.DataFrame:
    """The tidy rows of all results, with a column ``on`` that tells them apart."""
    frames = []
    for result in results:
        frame = result.frame()
        if ON not in frame.columns:
            frame = frame.with_columns(pl.lit(_name(result)).alias(ON))
        frames.append(frame)
    names = [name for frame in frames for name in frame[ON].unique(maintain_order=True)]
    if len(names) < 2:
        raise UsageError("there is nothing to compare; give two results, or a result on several machines")
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"two results are of `{name}`; name one of the machines: machine.with_(..., name=...)")
    return pl.concat(frames, how="diagonal_relaxed").drop("id", "experiment")


def _name(result: Result) -> str:
    (machine,) = result.plan.machines
    return ", ".join([machine.name, *result.plan.overrides])
