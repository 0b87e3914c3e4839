"""The frame of figures that compare two sides: measured and simulated values, or two folders of results.

Every mark is one configuration. ``elanite.figures.grouping`` decides which parameter is on the axis, which distinguish
curves and which panels, as in all figures. The panels of one figure share their horizontal axis.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from elanite.figures import axes, dodge, grouping
from elanite.figures.colours import tints
from elanite.figures.grouping import CURVE
from elanite.figures.style import colour
from elanite.results.frames import quantities

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

LABEL = "_label"
"""The column with the label of a list or a name on the horizontal axis."""


@dataclass(frozen=True)
class Side:
    """One panel: its rows, and the encoding of their places and curves."""

    words: str
    """The parameters of the panel in words; empty if it is the only panel."""
    rows: pl.DataFrame
    x: alt.X
    """The horizontal axis, the same in all panels of a figure."""
    legend: str
    """The parameters that distinguish curves."""
    tooltips: list[alt.Tooltip]
    """A mark's parameters."""
    lines: bool
    """Whether a curve's marks have an order on the axis, so that lines may join them."""
    place: str | None = None
    """The column of the horizontal axis; None without one."""

    @property
    def curves(self) -> list[str]:
        """The curves' names, in the order of the rows."""
        return list(self.rows[CURVE].unique(maintain_order=True))

    def moved(self, *ends: str) -> Side:
        """The panel with marks beside each other that would hide each other's intervals.

        ``ends`` are the marks' columns, and of the low and high ends of their intervals.
        """
        mean, low, high = ends
        return replace(self, rows=dodge.moved(self.rows, self.place, self.x, (mean, low, high)))

    def apart(self, column: str, height: float) -> Side:
        """The panel with marks beside each other that would hide each other: marks of a column, without intervals.

        ``height`` is that of a mark, in units of the vertical axis.
        """
        return replace(self, rows=dodge.apart(self.rows, self.place, self.x, column, height))

    def chart(self, colours: Colours) -> alt.Chart:
        """The chart of the rows, with the horizontal axis and the ``colours`` of the curves."""
        base = alt.Chart(self.rows).encode(x=self.x)
        order = self.curves
        if len(order) < 2:
            return base
        return base.encode(color=colour(CURVE, order, self.legend, [colours[self.legend][name] for name in order]))


Colours = dict[str, dict[str, str]]
"""The colour of each curve by the title of its legend and by its name."""


def colours(some: Iterable[Side]) -> Colours:
    """A colour for each curve: the same in all panels and figures whose legends have one title.

    Curves of other legends may share it: more names than colours would need shades that are hard to tell apart.
    """
    names: dict[str, dict[str, None]] = {}
    for side in some:
        names.setdefault(side.legend, {}).update(dict.fromkeys(side.curves))
    return {legend: dict(zip(here, tints(list(here)), strict=True)) for legend, here in names.items()}


def panels(parameters: Sequence[Mapping[str, object]], **values: Sequence[object]) -> Iterator[Side]:
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
    if main is None:
        x = alt.X(f"{CURVE}:N", title="", axis=alt.Axis(labels=False, ticks=False))
    elif column is None:
        places = rows[main].unique(maintain_order=True).to_list()
        labels = axes.labels(main, places, found.common)
        kept = dict(zip(places, labels, strict=True))
        rows = rows.with_columns(pl.col(main).replace_strict(kept, return_dtype=pl.String).alias(LABEL))
        x = axes.of_names(LABEL, grouping.word(main), labels)
    else:
        x = axes.of_numbers(main, column, sorted(set(rows[column].drop_nulls().to_list())))
    place = main and (column or LABEL)
    tips = [alt.Tooltip(axes.field(name), title=grouping.word(name)) for name in names]
    legend = ", ".join(map(grouping.word, found.curves))
    for panel in grouping.panels(rows, found):
        yield Side(panel.words, panel.rows, x, legend, tips, column is not None and found.lines, place)
