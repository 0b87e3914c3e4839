"""The style for all figures: their size, colours, shapes and legends, and size axes."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import altair as alt

from elanite.base.units import SIZES
from elanite.figures.colours import RED, tints
from elanite.figures.tooltips import titled
from elanite.results.frames import SHIPPED

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import polars as pl

    from elanite.figures.grid import Grid

FORMAT = ",.5~r"
"""The format for values in tooltips: five significant digits; data tables have at least four
(``text.number``).
"""

HOT = RED
"""The colour for losses and congestion."""

SHAPES = ["circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right"]
"""Shapes with an area: filled marks have no outline."""

WIDTH, HEIGHT = 560, 320
RULE = "#888888"

QUIET = "#555555"
"""The caption colour in pictures."""

LETTER, LEAST_LETTERS = 6.5, 60
"""A letter's mean width in these captions in pixels, in a wide font, and the fewest letters in a
line.
"""

FONT = "Verdana, DejaVu Sans, sans-serif"
"""The picture fonts: both are wide, and alike in their widths, so that legends and lines have
enough room.
"""

REASONS = "Tooltips and data have the comparison that decides each state."
"""The caption for load figures, if a point is not steady."""

SLIDES = "The slider moves through the slices of time; at its end is the measured window."
"""The caption for congestion matrices with slices."""

BUILDS_UP = (
    "The slider shows how congestion builds up, slice by slice from the start of the run, relative"
    " to the most loaded link and switch of any slice; at its end is the measured window."
)
"""The caption for such matrices that are relative to their most loaded link."""

LIVE = (REASONS, SLIDES, BUILDS_UP)
"""Sentences on parts that only a page has: sliders, tooltips, tables."""

PADDING = 8
"""Pixels between the frame and the first and the last place on a horizontal axis."""

OUTLINE, DASH_DOT, DOTTED = [3.0, 1.5], [8, 3, 2, 3], [2, 2]
"""The dashes of shipped results, which were not simulated in a report's run: of their marks'
outlines, of their lines, and of their intervals. Other lines are dashed or dotted.
"""

DASHED = [4, 3]
"""The dashes of curves for other rows beside the solid ones."""

DASH_DASH_DOT = [*DASHED, 1, 3]
"""The dashes of such curves along shipped results."""

SOLID = [1, 0]

OUTLINED, AREA, LARGE = 1.5, 55, 130
"""The width of these outlines in pixels, the area of a figure's marks in square pixels, and that of
marks with dashed outlines, which need room for their dashes.
"""

BYTES = (
    " : ".join(
        f"datum.value >= {size} && datum.value * 1000 % {size} == 0"
        f" ? format(datum.value / {size}, '.3~f') + ' {unit}'"
        for unit, size in SIZES.items()
        if size > 1
    )
    + " : format(datum.value, 'd') + ' B'"
)
"""Vega expression that writes a byte count as ``size_text`` does, and tables with it."""


SMALL = "datum.value && abs(datum.value) < 1e-4 ? format(datum.value, '~e') : datum.label"
"""Vega expression that writes a number as ``text.plain`` does: ``1e-5``, not ``0.00001``."""
STEP = SMALL.replace("datum.label", "format(datum.value, ',.9~r')")
"""The same for the steps of an axis, whose labels have no thousands separators of their own."""

FEW = 5
"""Most sizes on an axis that are all labelled, if each is twice the one before at least."""

MARKS = [4**power for power in range(16)]
"""Sizes in bytes that axes are labelled at."""


Spec = dict[str, Any]
"""A Vega-Lite specification, as Altair makes it."""


@dataclass(frozen=True)
class Figure:
    """One chart with its texts."""

    name: str
    """Short name, unique within the experiment: ``9a``."""
    title: str
    paper: str
    """The corresponding figure in the paper; empty without one."""
    caption: str
    chart: alt.LayerChart = field(repr=False)
    wide: bool = False
    """Whether it needs a page's whole width."""
    data: pl.DataFrame | None = field(default=None, repr=False)
    """The chart's data as a table for readers; `None` if the chart's tooltips name it (see
    ``tabular``).
    """
    grid: Grid | None = field(default=None, repr=False)
    """The cells for a chart that is a table: a page shows these, which fit any width, and not the
    chart.
    """

    def apart(self, words: str, number: int) -> Figure:
        """The same figure as one of several, with the parameters that distinguish it in
        ``words``.
        """
        title = f"{self.title}, {words}"
        return replace(
            self,
            name=f"{self.name}-{number}",
            title=title,
            chart=self.chart.properties(title=title),
        )

    def captioned(self, *, still: bool = False) -> alt.VConcatChart:
        """The chart with the caption below, for pictures without a page around them; ``still`` ones
        do not react.
        """
        width = self.chart.width if isinstance(self.chart.width, int | float) else WIDTH
        caption = self.caption
        for words in LIVE if still else ():
            caption = caption.replace(words, "")
        lines = wrap(" ".join(caption.split()), max(int(width / LETTER), LEAST_LETTERS))
        below = alt.Title(
            lines,
            orient="bottom",
            anchor="start",
            fontSize=11,
            fontWeight="normal",
            color=QUIET,
            offset=10,
        )
        chart: alt.VConcatChart = alt.vconcat(self.chart)
        return chart.properties(title=below) if lines else chart

    @property
    def shipped(self) -> bool:
        """Whether the chart has points from the shipped reference results (see ``reference``)."""
        return any(row.get(SHIPPED) for rows in self.spec()["datasets"].values() for row in rows)

    def spec(self) -> Spec:
        """The chart as a Vega-Lite specification with its data inside; do not change it, it is
        kept.
        """
        return self._spec

    @cached_property
    def _spec(self) -> Spec:
        # The tests check that charts fit Vega-Lite's schema; no report needs to.
        spec: Spec = self.chart.to_dict(validate=False)
        return spec


def static_picture(figures: Iterable[Figure]) -> alt.VConcatChart:
    """Figures with their captions, one below the other, as one picture that does not react.

    Legends have room around them, because a viewer may have a wider font than the maker of the
    picture.
    """
    charts = alt.vconcat(*(figure.captioned(still=True) for figure in figures))
    apart = charts.resolve_scale(color="independent", shape="independent", fill="independent")
    found: alt.VConcatChart = apart.configure(
        font=FONT, padding=16, legend=alt.LegendConfig(padding=8)
    )
    return found


def layered(
    title: str,
    layers: Sequence[alt.Chart | alt.LayerChart],
    width: float = WIDTH,
    height: float = HEIGHT,
) -> alt.LayerChart:
    """Layers in one frame, by default in the common size."""
    chart = alt.layer(*titled(layers)).properties(title=title, width=width, height=height)
    assert isinstance(chart, alt.LayerChart)  # noqa: S101 - it is a facet only where a layer is one
    return chart


def pixels(width: float, height: float) -> tuple[alt.X, alt.Y]:
    """The axes for a picture that is laid out in pixels, from the upper left corner on."""
    x = alt.X("x:Q", scale=alt.Scale(domain=[0, width], nice=False), axis=None)
    y = alt.Y("y:Q", scale=alt.Scale(domain=[0, height], nice=False, reverse=True), axis=None)
    return x, y


def colour(column: str, order: Sequence[str], title: str, given: Sequence[str] = ()) -> alt.Color:
    """A category's colour, in a given order; ``given`` are the colours, if other figures decide
    them.
    """
    return alt.Color(
        f"{column}:N",
        title=title,
        scale=alt.Scale(domain=list(order), range=list(given) or tints(order)),
        legend=below(opacity=1),
    )


def shipped_lines(
    lines: alt.Chart, data: pl.DataFrame, dashes: Sequence[float], usual: Sequence[float] = SOLID
) -> alt.Chart:
    """Lines with the ``dashes`` along shipped reference results, which no line joins to others;
    elsewhere they keep their ``usual`` ones.
    """
    if SHIPPED not in data.columns:
        return lines
    found: alt.Chart = lines.encode(strokeDash=_by_origin(list(dashes), list(usual)))
    if lines.encoding.detail is alt.Undefined:
        found = found.encode(detail=alt.Detail(f"{SHIPPED}:N"))
    return found


def shipped_marks(marks: alt.Chart, data: pl.DataFrame, tint: alt.Color | str) -> alt.Chart:
    """Filled marks that are hollow, with dashed outlines, for shipped reference results."""
    if SHIPPED not in data.columns:
        return marks
    stroke = (
        alt.StrokeValue(tint)
        if isinstance(tint, str)
        else alt.Stroke(tint["shorthand"], scale=tint["scale"], legend=None)
    )
    hollow = marks.encode(
        fillOpacity=_by_origin(0, 1), stroke=stroke, strokeWidth=_by_origin(OUTLINED, 0)
    )
    return shipped_outlines(hollow, data)


def shipped_outlines(marks: alt.Chart, data: pl.DataFrame) -> alt.Chart:
    """Marks with outlines, which are dashed for shipped reference results."""
    if SHIPPED not in data.columns:
        return marks
    found: alt.Chart = marks.encode(strokeDash=_by_origin(OUTLINE, SOLID))
    return found


def area(data: pl.DataFrame) -> alt.SizeValue:
    """The area of points, which is larger for shipped reference results."""
    return _by_origin(LARGE, AREA) if SHIPPED in data.columns else alt.SizeValue(AREA)


def shipped_intervals(rules: alt.Chart, data: pl.DataFrame) -> alt.Chart:
    """Intervals that are dotted for shipped reference results."""
    if SHIPPED not in data.columns:
        return rules
    found: alt.Chart = rules.encode(strokeDash=_by_origin(DOTTED, SOLID))
    return found


def _by_origin(shipped: object, usual: object) -> Any:
    """A value for shipped reference results, and the value for others."""
    return alt.condition(f"datum.{SHIPPED}", alt.value(shipped), alt.value(usual))


def shape(column: str, order: Sequence[str], title: str) -> alt.Shape:
    """A category's point shape, so that colour is not the only sign."""
    scale = alt.Scale(
        domain=list(order), range=[SHAPES[place % len(SHAPES)] for place in range(len(order))]
    )
    return alt.Shape(f"{column}:N", title=title, scale=scale, legend=below(opacity=1))


def below(*, opacity: float | None = None) -> alt.Legend:
    """A legend below the chart, uncut: published values' names need the space beside the chart."""
    shown = alt.Undefined if opacity is None else opacity
    return alt.Legend(
        orient="bottom",
        direction="vertical",
        columns=1,
        labelLimit=0,
        titleLimit=0,
        symbolOpacity=shown,
    )


def size_axis(column: str, title: str, values: Sequence[float]) -> alt.X:
    """A logarithmic axis for sizes in bytes, marked at a few values, else at its start and at
    powers of four.
    """
    places = sorted(set(values))
    low, high = places[0], places[-1]
    few = len(places) <= FEW and all(after >= 2 * before for before, after in pairwise(places))
    marks = places if few else [low, *(mark for mark in MARKS if low < mark <= high)]
    return alt.X(
        f"{column}:Q",
        title=title,
        scale=alt.Scale(type="log", base=2, domain=[low, high], nice=False, padding=PADDING),
        axis=alt.Axis(
            values=marks,
            labelExpr=BYTES,
            labelOverlap="parity",
            labelSeparation=6,
            grid=False,
        ),
    )
