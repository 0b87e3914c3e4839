"""The layers for the figures that experiment files request: axes, curves, dashed curves for other
rows, and bars.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from elanite.base.text import SCALE, heading, worded
from elanite.errors import UsageError
from elanite.figures import axes, dodge, published_values, tooltips
from elanite.figures import curves as layers_of
from elanite.figures import grouping as grouping_of
from elanite.figures.colours import PALETTE
from elanite.figures.style import (
    BYTES,
    DASH_DASH_DOT,
    DASHED,
    DOTTED,
    FORMAT,
    MARKS,
    PADDING,
    RULE,
    STEP,
    colour,
    shipped_intervals,
    shipped_lines,
    shipped_marks,
    size_axis,
)
from elanite.inputs.figure_checks import UNITS, factor, wrong_unit
from elanite.results.frames import SHIPPED, SUFFIX, averaged, summarise

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from elanite.figures.curves import Layers
    from elanite.figures.grouping import Grouping
    from elanite.figures.published_values import PlottedValue
    from elanite.inputs.contents import FigureSection

BARS = "Bars are 95% confidence intervals over"

CURVE = grouping_of.CURVE

LOGARITHMIC = ("sizes", "log", "decades")
"""The logarithmic scales for horizontal axes."""

TEMPLATE = "_template"
"""The column with the name that the file gives to a curve, without the parameters that were added
to it.
"""


def axis(
    asked: FigureSection, data: pl.DataFrame, stated: Sequence[PlottedValue]
) -> tuple[alt.X, str]:
    """The horizontal axis, and its kind in Vega-Lite."""
    x, scale = asked["x"], asked["x_scale"]
    title = asked["x_title"] or axes.title(x)
    if data.schema[x] == pl.String:
        return axes.of_names(x, title, data[x].unique(maintain_order=True).to_list()), "N"
    marks = data[x].unique().sort().to_list()
    # Published values may stand where no point is finished yet.
    beyond = [
        one
        for one in published_values.all_places(stated)
        if isinstance(one, int | float) and one not in marks
    ]
    marks = sorted([*marks, *dict.fromkeys(beyond)])
    first, last = marks[0], marks[-1]
    if scale != "steps" and first == last:
        first, last = (first / 2, last * 2) if first > 0 else (first, first + 1)
    if scale == "sizes":
        return size_axis(x, title, [first, *marks, last]), "Q"
    if scale == "steps":
        sizes = x.endswith("_bytes")
        shown = [mark for mark in marks if mark == 0 or mark in MARKS] if sizes else marks
        shown = shown if {0, *shown} - {0} else marks
        label = BYTES if sizes else STEP
        steps = alt.Axis(values=shown, labelExpr=label, labelAngle=0)
        return alt.X(f"{x}:O", scale=alt.Scale(domain=marks), title=title, axis=steps), "O"
    if scale == "log":
        along = alt.Scale(type="log", base=2, domain=[first, last], nice=False, padding=PADDING)
        powers = alt.Axis(values=marks, format=",d", grid=False, labelExpr=_labels(data, x))
        return alt.X(f"{x}:Q", title=title, scale=along, axis=powers), "Q"
    if scale == "decades":
        along = alt.Scale(type="log", domain=[first, last], nice=False, padding=PADDING)
        tens = [
            10.0**power
            for power in range(math.floor(math.log10(first)), math.ceil(math.log10(last)) + 1)
        ]
        tens_axis = alt.Axis(values=tens, labelExpr=STEP, grid=False)
        return alt.X(f"{x}:Q", title=title, scale=along, axis=tens_axis), "Q"
    labels = _labels(data, x)
    whole = (
        alt.Axis(values=marks, grid=False, labelExpr=labels)
        if data.schema[x].is_integer()
        else axes.plain()
    )
    along = alt.Scale(domain=[first, last], nice=False, padding=PADDING)
    return alt.X(f"{x}:Q", title=title, scale=along, axis=whole), "Q"


def _labels(data: pl.DataFrame, x: str) -> str | alt.UndefinedType:
    """The expression that writes the axis labels of sizes with their units."""
    sizes = x.endswith(SUFFIX["B"]) and data.schema[x].is_numeric()
    return BYTES if sizes else alt.Undefined


def stepped(asked: FigureSection, data: pl.DataFrame) -> FigureSection:
    """The figure with steps for a horizontal axis that shows zero, for which a logarithmic one has
    no place.
    """
    x = asked["x"]
    numbers = data.schema[x].is_numeric() and data[x].min() is not None
    if numbers and asked["x_scale"] in LOGARITHMIC and (data[x] <= 0).any():
        return asked | {"x_scale": "steps"}
    return asked


def titled(asked: FigureSection, rows: pl.DataFrame) -> FigureSection:
    """The figure with a title for its vertical axis: by default, the metric with the rows' unit."""
    return asked | {"y_title": asked["y_title"] or heading(worded(asked["metric"]), _unit(rows))}


def _unit(rows: pl.DataFrame) -> str:
    """All rows' unit; empty if there are several."""
    units = rows["unit"].drop_nulls().unique().to_list() if "unit" in rows.columns else []
    return units[0] if len(units) == 1 else ""


def converted(asked: FigureSection, rows: pl.DataFrame, metrics: Sequence[str]) -> pl.DataFrame:
    """The rows with some metrics' values in the unit in the vertical axis title."""
    own = pl.col("metric").is_in(metrics)
    here = rows.filter(own)
    unit = UNITS[metrics[0]] if metrics[0] in UNITS else _unit(here)
    times = factor(asked["y_title"], unit) if asked["y_title"] else SCALE.get(unit, 1.0)
    if times is None:
        message, hint = wrong_unit(asked["y_title"], metrics[0], unit) or ("", "")
        raise UsageError(f"the figure `{asked['name']}` has a wrong y_title: {message}\n  {hint}")
    if times == 1.0:
        return rows
    return rows.with_columns(value=pl.when(own).then(pl.col("value") * times).otherwise("value"))


def companion_curves(
    asked: FigureSection, other: pl.DataFrame, rows: pl.DataFrame, grouping: Grouping
) -> tuple[Layers, list[float]]:
    """The curves for other rows, dashed in their names' colours, as far as the solid curves reach;
    their means.

    Other rows have the names of those solid curves with the same parameters, apart from parameters
    that they lack.
    """
    x = asked["x"]
    if other.is_empty():
        return [], []
    other = _shared(
        other, rows, [name for name in (*grouping.curves, *grouping.panels) if name != CURVE]
    )
    order = rows[CURVE].unique(maintain_order=True).to_list()
    steps = asked["x_scale"] == "steps"
    along = (
        pl.col(x).is_in(rows[x].implode())
        if steps
        else pl.col(x).is_between(rows[x].min(), rows[x].max())
    )
    same = other.filter(pl.col(CURVE).is_in(order) & along)
    if same.is_empty():
        return [], []
    free = [name for name in grouping_of.distinct(same) if name not in (x, CURVE)]
    data = summarise(same, list(dict.fromkeys([CURVE, x, *free])))
    # Each line has one value at a place; what its place decides would cut it into points.
    several = data.group_by(CURVE, x).agg(pl.col(free).n_unique())
    apart = [name for name in free if (several[name] > 1).any()]
    shipped = [name for name in data.columns if name == SHIPPED]
    data = data.select(CURVE, x, *apart, "mean", *shipped)
    base = alt.Chart(data).encode(
        x=alt.X(f"{x}:{'O' if steps else 'Q'}"),
        y=alt.Y("mean:Q"),
        color=colour(CURVE, order, asked["legend"]),
        detail=[alt.Detail(f"{axes.field(name)}:N") for name in (*apart, *shipped)],
    )
    found = (
        shipped_lines(
            base.mark_line(strokeDash=DASHED, strokeWidth=1.2), data, DASH_DASH_DOT, DASHED
        )
        if grouping_of.measurable(rows, x)
        else base.mark_point(size=90, strokeDash=DOTTED, strokeWidth=1.2)
    )
    return [found], data["mean"].to_list()


def _shared(other: pl.DataFrame, rows: pl.DataFrame, added: Sequence[str]) -> pl.DataFrame:
    """Other rows with the curve names of some rows, by the columns that distinguish the curves."""
    known = [
        name for name in added if name in other.columns and other[name].null_count() < len(other)
    ]
    if not added:
        return other
    keys = [*known, TEMPLATE] if TEMPLATE in rows.columns and TEMPLATE in other.columns else known
    names = rows.select(*keys, CURVE).unique(subset=keys or None, keep="first", maintain_order=True)
    bare = other.drop(CURVE, strict=False)
    return bare.join(names, on=keys, nulls_equal=True, maintain_order="left") if keys else other


def bars(
    asked: FigureSection,
    data: pl.DataFrame,
    every: pl.DataFrame,
    reach: pl.DataFrame,
    more: Sequence[alt.Tooltip] = (),
) -> tuple[Layers, str]:
    """Bars with their intervals, side by side where there are several curves, and the caption on
    cut intervals.

    ``every`` are all panels' data; the vertical axis has the ends of the data ``reach``. ``more``
    are tooltips.
    """
    x = asked["x"]
    title = asked["y_title"]
    curves = data[CURVE].unique(maintain_order=True).to_list()
    steps = every[x].unique(maintain_order=True).to_list()
    along = alt.X(
        f"{x}:N",
        title=asked["x_title"] or axes.title(x),
        sort=steps,
        axis=alt.Axis(labelAngle=0, labelExpr=_labels(every, x)),
    )
    data = tooltips.placed(data, x)
    alone = len(curves) <= 1
    tint = colour(CURVE, curves, asked["legend"])
    base = alt.Chart(data).encode(
        x=along,
        color=alt.Undefined if alone else tint,
        xOffset=alt.Undefined if alone else alt.XOffset(f"{CURVE}:N", sort=curves),
    )
    ends = axes.ends(reach)
    scale = axes.scale(ends)
    tips = [alt.Tooltip(f"{end}:Q", format=FORMAT) for end in ("mean", "low", "high")]
    bars = base.mark_bar(
        size=70 if alone else alt.Undefined, color=PALETTE[0] if alone else alt.Undefined
    ).encode(
        y=alt.Y("mean:Q", title=title, scale=scale, stack=None),
        tooltip=[
            tooltips.at(data, along),
            alt.Tooltip(CURVE, title=asked["legend"]),
            *more,
            *tips,
        ],
    )
    bars = shipped_marks(bars, data, PALETTE[0] if alone else tint)
    if not axes.widths(data):
        return [bars], ""
    rules = base.mark_rule(strokeWidth=1.5).encode(
        y=alt.Y("low:Q", title=title), y2=alt.Y2("high:Q"), color=alt.ColorValue(RULE)
    )
    return [bars, shipped_intervals(rules, data)], axes.cut(data, ends, mark(x, several=not alone))


def curves(
    asked: FigureSection,
    data: pl.DataFrame,
    around: tuple[pl.DataFrame, pl.DataFrame, Sequence[float]],
    stated: Sequence[PlottedValue],
    *,
    lines: bool,
    tips: Sequence[alt.Tooltip] = (),
) -> tuple[Layers, str]:
    """Curves with their published values, and the caption on these and on intervals that the frame
    cuts.

    ``around`` are all panels' data, the data for which the vertical axis is made, and more values
    on this axis. ``tips`` are more tooltips.
    """
    every, reach, more = around
    title = asked["y_title"]
    log, x = asked["log"], asked["x"]
    along, kind = axis(asked, every, stated)
    data = tooltips.placed(dodge.moved(data, x, along), x)
    ends = axes.ends(reach, [*published_values.drawn(stated), *more], log=log)
    found = layers_of.curves(
        data,
        CURVE,
        asked["legend"],
        along,
        title,
        reach=ends,
        log=log,
        lines=lines,
        tips=tips,
    )
    rules = published_values.layers(stated, ends if log else axes.rounded(ends), kind, log=log)
    rules += crossing(asked, kind)
    at = {one: axes.place(one, x) for one in published_values.all_places(stated)}
    cut = axes.cut(data, ends, mark(x, several=data[CURVE].n_unique() > 1), log=log)
    behind = dodge.hidden_marks(data, x, ends, log=log)
    return found + rules, " ".join(
        filter(None, [dodge.words(data), behind, cut, published_values.caption(stated, at)])
    )


def crossing(asked: FigureSection, kind: str = "Q") -> Layers:
    """The dashed line across a figure at its horizontal axis's ``mark``, if it has one."""
    if asked["mark"] is None:
        return []
    line = alt.Chart(pl.DataFrame({"x": [asked["mark"]]})).mark_rule(strokeDash=[6, 4], color=RULE)
    return [line.encode(x=alt.X(f"x:{kind}"))]


def mark(x: str, *, several: bool) -> Callable[[Mapping[str, object]], str]:
    """Mark names in captions: their places on the axis ``x``, with their curves if there are
    several.
    """

    def named(row: Mapping[str, object]) -> str:
        bare = isinstance(row[x], str) or x == "nodes"
        here = row[x]
        place = here if isinstance(here, int | float) else str(here)
        at = f"{'' if bare else f'{grouping_of.word(x)} '}{axes.place(place, x)}"
        return f"{row[CURVE]} at {at}" if several else at

    return named


def intervals(data: pl.DataFrame, rows: pl.DataFrame) -> str:
    """The caption sentence about intervals, or about means over too few values; ``rows`` have the
    values.
    """
    if axes.widths(data):
        bars = f"{BARS} {averaged(rows)}."
        return " ".join(filter(None, [bars, axes.missing_intervals(data)]))
    return axes.few_values(data)
