"""The frame for figures that compare two sides: measured and simulated values, or two result
folders.

Every mark is one configuration. ``elanite.figures.grouping`` decides which parameter is on the
axis, which distinguish curves and which panels, as in all figures. A figure's panels share their
horizontal axis.
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
"""The column with list or name labels on the horizontal axis."""


@dataclass(frozen=True)
class Side:
    """One panel: its rows, and the encoding for their places and curves."""

    words: str
    """The panel's parameters in words; empty if it is the only panel."""
    rows: pl.DataFrame
    x: alt.X
    """The horizontal axis, the same in all of a figure's panels."""
    legend: str
    """The parameters that distinguish curves."""
    tooltips: list[alt.Tooltip]
    """A mark's parameters."""
    lines: bool
    """Whether a curve's marks have an order on the axis, so that lines may join them."""
    place: str | None = None
    """The horizontal axis's column; `None` without one."""

    @property
    def curves(self) -> list[str]:
        """The curve names, in row order."""
        return list(self.rows[CURVE].unique(maintain_order=True))

    def moved(self, *ends: str) -> Side:
        """The panel with marks beside each other that would hide each other's intervals.

        ``ends`` are the columns with the marks and their intervals' low and high ends.
        """
        mean, low, high = ends
        return replace(self, rows=dodge.moved(self.rows, self.place, self.x, (mean, low, high)))

    def apart(self, column: str, height: float) -> Side:
        """The panel with marks beside each other that would hide each other: a column's marks,
        without intervals.

        ``height`` is a mark's height, in vertical axis units.
        """
        return replace(self, rows=dodge.separated(self.rows, self.place, self.x, column, height))

    def chart(self, colours: Colours) -> alt.Chart:
        """The rows' chart, with the horizontal axis and the curves' ``colours``."""
        base = alt.Chart(self.rows).encode(x=self.x)
        order = self.curves
        if len(order) < 2:
            return base
        return base.encode(
            color=colour(CURVE, order, self.legend, [colours[self.legend][name] for name in order])
        )


Colours = dict[str, dict[str, str]]
"""Each curve's colour by its legend's title and by its name."""


def colours(some: Iterable[Side]) -> Colours:
    """A colour for each curve: the same in all panels and figures with one legend title.

    Curves in other legends may share it: more names than colours would need shades that are hard to
    distinguish.
    """
    names: dict[str, dict[str, None]] = {}
    for side in some:
        names.setdefault(side.legend, {}).update(dict.fromkeys(side.curves))
    return {
        legend: dict(zip(here, tints(list(here)), strict=True)) for legend, here in names.items()
    }


def panels(
    parameters: Sequence[Mapping[str, object]], **values: Sequence[object]
) -> Iterator[Side]:
    """The panels for some marks, each with its ``parameters`` and with ``values`` in columns with
    these names.
    """
    about = pl.DataFrame(
        [quantities(each) for each in parameters], infer_schema_length=None, strict=False
    )
    columns = [pl.Series(f"_{name}", column) for name, column in values.items()]
    rows = grouping.numbers(about).with_columns(
        each.cast(pl.Float64) if each.dtype == pl.Null else each for each in columns
    )
    names = grouping.distinct(rows)
    main = max(
        names,
        key=lambda name: (grouping.measurable(rows, name), rows[name].n_unique()),
        default=None,
    )
    found = grouping.grouped(rows, [main] if main else [])
    column = grouping.numeric(rows, main) if main else None
    if main is None:
        x = alt.X(f"{CURVE}:N", title="", axis=alt.Axis(labels=False, ticks=False))
    elif column is None:
        places = rows[main].unique(maintain_order=True).to_list()
        labels = axes.labels(main, places, found.common)
        kept = dict(zip(places, labels, strict=True))
        rows = rows.with_columns(
            pl.col(main).replace_strict(kept, return_dtype=pl.String).alias(LABEL)
        )
        x = axes.of_names(LABEL, grouping.word(main), labels)
    else:
        x = axes.of_numbers(main, column, sorted(set(rows[column].drop_nulls().to_list())))
    place = main and (column or LABEL)
    tips = [alt.Tooltip(axes.field(name), title=grouping.word(name)) for name in names]
    legend = ", ".join(map(grouping.word, found.curves))
    lines = column is not None and grouping.measurable(rows, main or "") and found.lines
    for panel in grouping.panels(rows, found):
        yield Side(panel.words, panel.rows, x, legend, tips, lines, place)
