"""The frame of figures that compare two sides: measured and simulated values, or two folders of results.

Every mark is one configuration. ``elanite.figures.grouping`` decides which parameter is on the axis, which distinguish
curves and which panels, as in all figures.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import altair as alt
import polars as pl

from elanite.figures import axes, grouping
from elanite.figures.grouping import CURVE
from elanite.figures.style import colour
from elanite.frames import quantities

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

LABEL = "_label"
"""The column with the label of a list or a name on the horizontal axis."""


@dataclass(frozen=True)
class Side:
    """One panel: its rows, and the encoding of their places and curves."""

    words: str
    """The parameters of the panel in words; empty if it is the only panel."""
    rows: pl.DataFrame
    base: alt.Chart
    """The chart of the rows, with the horizontal axis and the colours of the curves."""
    tooltips: list[alt.Tooltip]
    """The parameters of a mark."""
    lines: bool
    """Whether the marks of a curve have an order on the axis, so that lines may join them."""


def panels(parameters: Sequence[Mapping[str, Any]], **values: Sequence[Any]) -> Iterator[Side]:
    """The panels of some marks, each with its ``parameters`` and with ``values`` in columns of these names."""
    about = pl.DataFrame([quantities(each) for each in parameters], infer_schema_length=None, strict=False)
    columns = [pl.Series(f"_{name}", column) for name, column in values.items()]
    rows = grouping.numbers(about).with_columns(
        each.cast(pl.Float64) if each.dtype == pl.Null else each for each in columns
    )
    names = grouping.distinct(rows)
    main = max(names, key=lambda name: (grouping.measurable(rows, name), rows[name].n_unique()), default=None)
    found = grouping.grouped(rows, [main] if main else [])
    column = grouping.numeric(rows, main) if main else None
    for panel in grouping.panels(rows, found):
        here = panel.rows
        if main is None:
            x = alt.X(f"{CURVE}:N", title="", axis=alt.Axis(labels=False, ticks=False))
        elif column is None:
            labels = axes.texts(here[main].unique(maintain_order=True).to_list())
            kept = dict(zip(here[main].unique(maintain_order=True).to_list(), labels, strict=True))
            here = here.with_columns(pl.col(main).replace_strict(kept, return_dtype=pl.String).alias(LABEL))
            x = axes.of_names(LABEL, grouping.word(main), labels)
        else:
            x = axes.of_numbers(main, column, sorted(set(here[column].drop_nulls().to_list())))
        base = alt.Chart(here).encode(x=x)
        order = here[CURVE].unique(maintain_order=True).to_list()
        if len(order) > 1:
            base = base.encode(color=colour(CURVE, order, ", ".join(map(grouping.word, found.curves))))
        tips = [alt.Tooltip(axes.field(name), title=grouping.word(name)) for name in names]
        yield Side(panel.words, here, base, tips, main is not None and column is not None and found.lines)
