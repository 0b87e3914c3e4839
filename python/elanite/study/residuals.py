"""A calibration's figures: measured values against simulated ones, and the residuals.

Each series and metric has two charts. The first has the measured values with their 95% intervals,
and as lines the values that were simulated on the machine before and after the calibration. The
second has the residuals after the calibration, in standard errors for both values together: if the
machine explains the values, most are within two.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from elanite.base.text import SCALE, heading, worded
from elanite.figures import axes, dodge, grouping, sides
from elanite.figures.style import FORMAT, RULE, Figure, layered
from elanite.study.measurements import UNKNOWN, ValueComparison

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from elanite.figures.curves import Layers
    from elanite.figures.sides import Colours, Side

NORMAL = 1.96
"""Standard errors on either side of a 95% interval."""

AREA, LOW = 50, 180
"""A mark's area, and the residual pictures' height, in pixels."""

LINES = (
    "Points: measured, with 95% intervals; lines: simulated with the result; dashed: with the"
    " values before."
)
STROKES = (
    "Points: measured, with 95% intervals; strokes: simulated with the result; pale strokes: with"
    " the values before."
)
"""The captions for values along a number axis, which lines join, and for values by name."""

ASSUMED = f"Values without a sigma count with a standard error of {UNKNOWN:.0%}."
"""The caption sentence about errors that the file with measured values does not state."""

RESIDUAL = "residual, standard errors"
"""The title of residuals."""

RESIDUALS = (
    "Simulated with the result less measured, in standard errors of both: that of the measured"
    " value, and that of the simulated one, if it draws random numbers. The band is ±2."
)


def draw(
    everywhere: Sequence[ValueComparison], swept: Mapping[tuple[str, str], Sequence[str]]
) -> Iterator[Figure]:
    """Two figures for each series and metric, in the measured values' file order."""
    groups: dict[tuple[str, str, str], list[ValueComparison]] = {}
    for place in everywhere:
        groups.setdefault(
            (str(place.about["experiment"]), str(place.about["series"]), place.metric), []
        ).append(place)
    panels = {names: list(_panels(places)) for names, places in groups.items()}
    colours = sides.colours(side for several in panels.values() for side in several)
    for names, several in panels.items():
        fixed = _fixed(groups[names], swept.get(names[:2], ()))
        yield from _group(names, groups[names][0].unit, several, colours, fixed)


def _fixed(places: Sequence[ValueComparison], swept: Sequence[str]) -> str:
    """The parameters that the series varies, and that are the same for all marks, in words."""
    values = {name: [each.about.get(name) for each in places] for name in swept}
    same = {
        name: here[0]
        for name, here in values.items()
        if here[0] is not None and here.count(here[0]) == len(here)
    }
    return ", ".join(
        f"{grouping.word(name)} {grouping.value_label(value)}" for name, value in same.items()
    )


def _panels(places: Sequence[ValueComparison]) -> Iterator[Side]:
    left_out = ("id", "seed", "experiment", "series")
    scales = [SCALE.get(each.unit, 1.0) for each in places]
    scaled = list(zip(places, scales, strict=True))
    return sides.panels(
        [
            {k: v for k, v in each.about.items() if k not in left_out} | {"job": each.job}
            for each in places
        ],
        measured=[scale * each.measured for each, scale in scaled],
        low=[scale * (each.measured - NORMAL * each.sigma) for each, scale in scaled],
        high=[scale * (each.measured + NORMAL * each.sigma) for each, scale in scaled],
        before=[scale * each.before for each, scale in scaled],
        after=[scale * each.after for each, scale in scaled],
        residual=[each.residual for each in places],
        stated=[each.stated for each in places],
    )


def _group(
    names: tuple[str, str, str], unit: str, panels: Sequence[Side], colours: Colours, fixed: str
) -> Iterator[Figure]:
    experiment, series, metric = names
    rows = pl.concat(
        [side.rows.select("_low", "_high", "_before", "_after", "_residual") for side in panels]
    )
    scale, marks = _scale(rows)
    far = max(3.0, *rows["_residual"].abs())
    for number, side in enumerate(panels, 1):
        title = ", ".join(
            filter(None, [f"{series}: {metric.replace('_', ' ')}", fixed, side.words])
        )
        name = f"{experiment}-{series}-{metric}" + (f"-{number}" if len(panels) > 1 else "")
        label = heading(worded(metric), unit)
        assumed = "" if side.rows["_stated"].all() else ASSUMED
        here = side.moved("_measured", "_low", "_high")
        caption = " ".join(
            filter(None, [LINES if side.lines else STROKES, dodge.words(here.rows), assumed])
        )
        yield Figure(
            name,
            title,
            "",
            caption,
            layered(
                title, _values(here, alt.Y(title=label, scale=scale, axis=marks), colours, unit)
            ),
        )
        title = f"{title}, residuals"
        here = side.apart("_residual", 2 * far * math.sqrt(AREA) / LOW)
        caption = " ".join(filter(None, [RESIDUALS, dodge.words(here.rows), assumed]))
        chart = layered(title, _residuals(here, far, colours, unit), height=LOW)
        yield Figure(f"{name}-residuals", title, "", caption, chart)


def _scale(rows: pl.DataFrame) -> tuple[alt.Scale, alt.Axis]:
    """The scale for all panels' values, and its labels."""
    values = [
        value for name in ("_low", "_high", "_before", "_after") for value in rows[name].to_list()
    ]
    low, high = min(values), max(values)
    domain = [low, high] if low < high else alt.Undefined
    if low > 0 and high > 10 * low:
        return axes.scale((low, high), log=True), axes.decades((low, high))
    return alt.Scale(zero=False, domain=domain, padding=8), alt.Axis()


def _values(side: Side, vertical: alt.Y, colours: Colours, unit: str) -> Layers:
    """Measured and simulated values."""
    base = side.chart(colours)

    def y(name: str) -> alt.Y:
        along: alt.Y = vertical.copy()
        along["shorthand"] = f"{name}:Q"
        return along

    dash, width = [4, 4], 24
    look = dodge.offset(side.rows)
    if side.lines:
        before, after = (
            base.mark_line(strokeDash=dash, opacity=0.6, xOffset=look),
            base.mark_line(xOffset=look),
        )
    else:
        before = base.mark_tick(
            orient="horizontal", thickness=2, size=width, opacity=0.4, xOffset=look
        )
        after = base.mark_tick(orient="horizontal", thickness=2, size=width, xOffset=look)
    bars = base.mark_rule(xOffset=look).encode(y=y("_low"), y2=alt.Y2("_high"))
    points = base.mark_point(filled=True, size=AREA, opacity=1, xOffset=look).encode(
        y=y("_measured"), tooltip=_tooltip(side, unit)
    )
    return [before.encode(y=y("_before")), after.encode(y=y("_after")), bars, points]


def _residuals(side: Side, far: float, colours: Colours, unit: str) -> Layers:
    """Differences in standard errors, with the band that holds 95%; the axis ends at ``far``."""
    y = alt.Y(
        "_residual:Q",
        title=RESIDUAL,
        scale=alt.Scale(domain=[-far, far], padding=8),
    )
    band = alt.Chart(pl.DataFrame({"low": [-2.0], "high": [2.0]})).mark_rect(
        opacity=0.12, color=RULE
    )
    zero = alt.Chart(pl.DataFrame({"zero": [0.0]})).mark_rule(color=RULE).encode(y=alt.Y("zero:Q"))
    look = dodge.offset(side.rows)
    points = (
        side.chart(colours)
        .mark_point(filled=True, size=AREA, opacity=1, xOffset=look)
        .encode(y=y, tooltip=_tooltip(side, unit))
    )
    return [band.encode(y=alt.Y("low:Q"), y2=alt.Y2("high")), zero, points]


def _tooltip(side: Side, unit: str) -> list[alt.Tooltip]:
    titles = {name: heading(name, unit) for name in ("measured", "before", "after")}
    titles["residual"] = RESIDUAL
    return [
        *side.tooltips,
        *(alt.Tooltip(f"_{name}:Q", title=titles[name], format=FORMAT) for name in titles),
    ]
