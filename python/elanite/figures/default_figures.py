"""Default figures for experiments without ``[[figure]]``, by benchmark kind.

Each kind names its metrics and the horizontal axis's parameter (``_core.plots``). If this parameter
does not vary, if a sweep would have more than ``MOST_CURVES`` curves over it, or if the kind names
no parameter, the axis has the numeric parameter with the most values; without such parameters a
list, such as ``topology.up``, or else the names with the most values. All other parameters
distinguish curves and panels.

A job's load is nominal: its sources offer it on average. Where a window's offered load differs from
it beyond its interval, and by more than 5%, the axis has the offered load.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from elanite import _core
from elanite.base.text import MEAN, SCALE, YES_OR_NO, heading, number, with_half, worded
from elanite.figures import axes, dodge, grouping
from elanite.figures.colours import PALETTE
from elanite.figures.grouping import CURVE, Panel
from elanite.figures.style import FORMAT, HEIGHT, Figure, colour, layered, shape
from elanite.results.frames import STATE, SUFFIX, averaged, resolved, summarise
from elanite.results.states import LOST, QueueState, with_states

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from elanite.figures.axes import Ends
    from elanite.figures.curves import Layers
    from elanite.figures.grouping import Grouping

INTERVALS = "Bars are its 95% confidence intervals."

OFFERED, NOMINAL = "offered", "load_MBps"
"""The metric with the load that the sources offered, and the column with a job's nominal load."""

SEARCHED = "saturation"
"""The metric in searches for the saturation point."""

LOWER_END = "The values are those of the lower end of the search of the saturation point."
"""The caption sentence about a search's other metrics."""

OF_LATENCY = ("latency", "slowdown")
"""The beginnings of all metrics that are latencies, or ratios of these."""

GROWING = (
    "At saturated loads, queues grow: latencies there depend on the length of the measured window."
)
"""The caption sentence on latencies at saturated loads."""

SIZE = 45
"""A mark's area, in square pixels."""

LABEL = "_label"
"""The column with list or name labels on the horizontal axis."""

MOST_CURVES = 4 * grouping.CURVES
"""Most curves over the kind's own parameter; beyond, the axis has the parameter with the most
values.
"""

LOWEST = 0.05
"""The part of a linear axis below which a curve lies on its lower end."""


def draw(rows: pl.DataFrame, kinds: Mapping[str, str] | None = None) -> Iterator[Figure]:
    """The figures by series and metric; ``kinds`` are the series' kinds."""
    plots = {kind: (over, metrics) for kind, over, metrics in _core.plots()}
    for series in rows["series"].unique(maintain_order=True).to_list():
        here = grouping.numbers(rows.filter(pl.col("series") == series))
        units = dict(here.select("metric", "unit").unique(maintain_order=True).iter_rows())
        scale = pl.col("unit").replace_strict(SCALE, default=1.0, return_dtype=pl.Float64)
        here = here.with_columns(
            pl.col("value") * scale
        )  # as the symbol in the axis title: fractions in %
        over, metrics = plots.get((kinds or {}).get(series, ""), ("", list(units)))
        offered = here.filter(pl.col("metric") == OFFERED)
        off = _off_nominal(offered)
        late = (
            with_states(here).filter(pl.col(STATE) == QueueState.SATURATED)
            if not offered.is_empty()
            else offered
        )
        growing = [name for name in late["metric"].unique() if name.startswith(OF_LATENCY)]
        for metric in metrics:
            if metric in units:
                words = series, metric, units[metric]
                of_metric = here.filter(pl.col("metric") == metric)
                more = [
                    GROWING if metric in growing else "",
                    LOWER_END if SEARCHED in units and metric != SEARCHED else "",
                    axes.unmeasured(here, of_metric),
                ]
                for figure in _metric(of_metric, words, over, offered if off else None, off):
                    yield replace(figure, caption=" ".join(filter(None, [figure.caption, *more])))


def _off_nominal(offered: pl.DataFrame) -> str:
    """The sentence on the point with the offered load farthest from the nominal one; empty if all
    are near.
    """
    if offered.is_empty() or NOMINAL not in offered.columns:
        return ""
    load = pl.col(NOMINAL)
    off = ((pl.col("mean") - load) / load).abs()
    beyond = (pl.col("mean") - load).abs() > pl.max_horizontal(
        (pl.col("high") - pl.col("low")) / 2, LOST * load
    )
    means = resolved(summarise(offered))
    far = means.drop_nulls("low").filter(beyond).sort(off, descending=True)
    if far.is_empty():
        return ""
    row = far.row(0, named=True)
    got = with_half(row["mean"], (row["high"] - row["low"]) / 2)
    alike = means.filter(load == row[NOMINAL])["mean"].sort().to_list()
    least, most = number(alike[0]), number(alike[-1])
    if least != most:
        got = f"{least} to {most}"
    return (
        "The horizontal axis is the load that the sources offered in the measured window, which"
        f" differs from the nominal one: at {row['load']} they offered {got} {row['unit']}."
    )


def _metric(
    rows: pl.DataFrame,
    words: tuple[str, str, str],
    over: str,
    offered: pl.DataFrame | None = None,
    off: str = "",
) -> Iterator[Figure]:
    """One metric's figures; ``offered`` are the rows for the axis where the nominal load is not on
    it.
    """
    series, metric, unit = words
    main = _main(rows, over)
    found = grouping.grouped(rows, [main] if main else [])
    panels = list(grouping.panels(rows, found, metric))
    labels = _labels(rows, main, found.common)
    data = [_means(panel, main, found, metric, labels) for panel in panels]
    x = _horizontal(rows, main, labels)
    if offered is not None and main == "load":
        keys = [
            main,
            *(name for name in found.configuration if name in offered.columns and name != main),
        ]
        measured = offered.group_by(list(dict.fromkeys(keys))).agg(
            pl.col("value").mean().alias(OFFERED)
        )
        data = [
            one.join(measured, on=measured.columns[:-1], how="left", nulls_equal=True)
            for one in data
        ]
        place: str | None = OFFERED
        title = f"offered load, {offered['unit'][0]} per node"
        x = alt.X(f"{OFFERED}:Q", title=title, scale=alt.Scale(zero=False), axis=axes.plain())
    else:
        off, place = "", LABEL if labels else main and grouping.numeric(rows, main)
    data = [dodge.moved(one, place, x) for one in data]
    log = _log(rows, main, unit, data)
    common = axes.share_scale(data, log=log)
    ends = axes.ends(pl.concat([one.select("mean", "low", "high") for one in data]), log=log)
    title = f"{series}: {worded(metric)}"
    for nth, (panel, means) in enumerate(zip(panels, data, strict=True), 1):
        name = f"{series}-{metric}" + (f"-{nth}" if len(panels) > 1 else "")
        here = ", ".join(filter(None, [title, panel.words]))
        reach = ends if common else axes.ends(means, log=log)
        if not (log or _joined(means, main, found) or dodge.words(means)):
            means = dodge.separated(means, place, x, "mean", _mark_height(reach))
        layers = _layers(means, x, (metric, unit), main, found, reach, log=log)
        cut = axes.cut(means, reach, _mark(means, main, found), log=log)
        more = [
            (
                INTERVALS
                if axes.widths(means)
                else ""
                if metric in YES_OR_NO
                else axes.few_values(means)
            ),
            axes.missing_intervals(means),
            dodge.words(means),
            dodge.hidden_marks(means, LABEL if labels else main, reach, log=log),
            cut,
            off,
            found.words,
            "" if common else axes.OWN_AXES,
        ]
        first = _averaged(metric, panel.rows)
        caption = " ".join(filter(None, [first, *more]))
        yield Figure(name, here, "", caption, layered(here, layers))


def _averaged(metric: str, rows: pl.DataFrame) -> str:
    """The caption sentence on the values behind each mark."""
    over, name = averaged(rows), worded(metric)
    if not over:
        return "Each mark is one value."
    mean = f"{name[:1].upper()}{name[1:]}" if name.startswith(MEAN) else f"Mean of {name}"
    return f"{mean} over {over}."


def _main(rows: pl.DataFrame, over: str) -> str | None:
    """The horizontal axis's parameter; `None` if no parameter varies."""
    names = grouping.distinct(rows)
    if over in names and rows.select(names).n_unique() > MOST_CURVES * rows[over].n_unique():
        over = ""

    def rank(name: str) -> tuple[bool, bool, bool, int]:
        kind = grouping.numeric(rows, name) is not None
        ordered = kind and not grouping.identifies(name)
        return kind and name == over, ordered, grouping.lists(rows, name), rows[name].n_unique()

    return max(names, key=rank, default=None)


def _labels(rows: pl.DataFrame, main: str | None, shared: Sequence[str]) -> dict[object, str]:
    """The labels for lists and names on the horizontal axis, without ``shared`` changes; empty for
    numbers.
    """
    if main is None or grouping.numeric(rows, main) is not None:
        return {}
    values = rows[main].unique(maintain_order=True).to_list()
    return dict(zip(values, axes.labels(main, values, shared), strict=True))


def _horizontal(rows: pl.DataFrame, main: str | None, labels: Mapping[object, str]) -> alt.X:
    """The horizontal axis, the same in all panels."""
    if main is None:
        return alt.X(f"{CURVE}:N", title="", axis=alt.Axis(labelAngle=0))
    column = grouping.numeric(rows, main)
    if column is None:
        return axes.of_names(LABEL, grouping.word(main), list(labels.values()))
    return axes.of_numbers(main, column, sorted(set(rows[column].drop_nulls().to_list())))


def _means(
    panel: Panel, main: str | None, found: Grouping, metric: str, labels: Mapping[object, str]
) -> pl.DataFrame:
    """A mean with its interval for each configuration in a panel, in axis order."""
    column = grouping.numeric(panel.rows, main) if main else None
    keys = [CURVE, *([main] if main else []), *([column] if column else []), *found.configuration]
    data = resolved(summarise(panel.rows, list(dict.fromkeys(keys))))
    if metric in YES_OR_NO:  # a mean over yes and no has no interval
        data = data.with_columns(pl.lit(None, pl.Float64).alias(end) for end in ("low", "high"))
    if main is None or not labels:
        return data
    return data.with_columns(
        pl.col(main).replace_strict(labels, return_dtype=pl.String).alias(LABEL)
    )


def _mark(
    data: pl.DataFrame, main: str | None, found: Grouping
) -> Callable[[Mapping[str, object]], str]:
    """Mark names in captions: their curves and their places on the axis."""
    several = bool(found.curves) and data[CURVE].n_unique() > 1
    at = LABEL if LABEL in data.columns else main

    def named(row: Mapping[str, object]) -> str:
        words = [str(row[CURVE])] if several else []
        return " at ".join(
            [
                *words,
                *(
                    [f"{grouping.word(main)} {grouping.value_label(row[at])}"]
                    if main and at
                    else []
                ),
            ]
        )

    return named


def _layers(
    data: pl.DataFrame,
    x: alt.X,
    words: tuple[str, str],
    main: str | None,
    found: Grouping,
    ends: Ends,
    *,
    log: bool,
) -> Layers:
    metric, unit = words
    order = data[CURVE].unique(maintain_order=True).to_list()
    base = alt.Chart(data).encode(x=x)
    legend = ", ".join(map(grouping.word, found.curves))
    label = heading(worded(metric), unit)
    marks = axes.decades(ends) if log else alt.Undefined
    y = alt.Y("mean:Q", title=label, scale=axes.scale(ends, log=log), axis=marks)
    names = dict.fromkeys(name for name in (main, *found.configuration) if name)
    tips = [alt.Tooltip(axes.field(name), title=grouping.word(name)) for name in names]
    tips += [alt.Tooltip(f"{OFFERED}:Q", format=FORMAT)] if OFFERED in data.columns else []
    aside = dodge.offset(data) if len(order) > 1 else alt.Undefined
    tint = alt.Undefined if len(order) > 1 else PALETTE[0]
    ends_of = [
        alt.Tooltip(f"{end}:Q", format=FORMAT) for end in ("low", "high") if data["low"].count()
    ]
    points = base.mark_point(filled=True, size=SIZE, opacity=1, color=tint, xOffset=aside).encode(
        y=y, tooltip=[*tips, alt.Tooltip("mean:Q", format=FORMAT), *ends_of]
    )
    layers: Layers = [points]
    if data["low"].count():
        # A layer without any interval would have an axis without ends.
        layers.insert(
            0,
            base.mark_rule(color=tint, xOffset=aside).encode(
                y=alt.Y("low:Q", title=label), y2=alt.Y2("high:Q")
            ),
        )
    if _joined(data, main, found):
        layers.insert(0, base.mark_line(color=tint, xOffset=aside).encode(y=y))
    if len(order) > 1:
        by_curve = colour(CURVE, order, legend)
        layers = [layer.encode(color=by_curve) for layer in layers if isinstance(layer, alt.Chart)]
        layers[-1] = points.encode(color=by_curve, shape=shape(CURVE, order, legend))
    return layers


def _joined(data: pl.DataFrame, main: str | None, found: Grouping) -> bool:
    """Whether lines join the marks."""
    return main is not None and found.lines and grouping.measurable(data, main)


def _mark_height(reach: Ends) -> float:
    """A mark's height, in vertical axis units."""
    low, high = axes.rounded(reach)
    return math.sqrt(SIZE) * (high - low) / HEIGHT


def _log(rows: pl.DataFrame, main: str | None, unit: str, panels: Sequence[pl.DataFrame]) -> bool:
    """Whether small values would lie on the end of a linear axis: some of times over sizes, or all
    of a curve, such as that of a slow machine beside a fast one.
    """
    values = [value for panel in panels for value in panel["mean"].drop_nulls().to_list()]
    if not values or min(values) <= 0:
        return False
    sizes = main is not None and grouping.numeric(rows, main) == main + SUFFIX["B"]
    if sizes and unit == "us" and max(values) > 10 * min(values):
        return True
    most = [panel.group_by(CURVE).agg(pl.col("mean").max())["mean"].to_list() for panel in panels]
    return any(min(ends) < LOWEST * max(ends) for ends in most)
