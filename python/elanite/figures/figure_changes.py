"""A comparison's figures: every figure's change in a series, by metric.

A mark is one configuration: the second folder's mean over the first one's, less 1, with its 95%
interval; 0 if both means are 0. A mark's sign is the figure's state (``SIGNS``). Figures with only
the first mean at 0 have no ratio: the caption counts them, and the table has them, as it has flags,
such as saturation, and metrics without any change. A parameter that varies in the series, but not
among a metric's marks, is part of the title.

The figures stand in point order, and so do their panels and curves, whatever the changes are. One
name has one colour in all figures with the same legend, and a metric's panels share their axes.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from elanite.base.text import counted, worded
from elanite.figures import dodge, grouping, sides
from elanite.figures.style import HEIGHT, RULE, Figure, layered
from elanite.results.folders import varying_parameters
from elanite.results.samples import ComparisonState

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from elanite.figures.curves import Layers
    from elanite.figures.sides import Colours, Side
    from elanite.results.folders import StoreLine

CAPTION = (
    "The mean of B relative to that of A, less 1, with its 95% interval; figures of fewer than"
    " three values have none, nor have points without random numbers. Filled circles: the figures"
    " differ; hollow circles: they are equal; diagonal crosses: undecided."
)

SIGNS: dict[ComparisonState, tuple[str, bool]] = {
    ComparisonState.DIFFERS: ("circle", True),
    ComparisonState.EQUAL: ("circle", False),
    ComparisonState.UNDECIDED: ("M-1,-1L1,1M1,-1L-1,1", False),
}
"""Each state's shape, and whether it is filled."""

AREA = 55
"""A mark's area, in pixels."""

PERCENT = "+,.4~%"


def draw(lines: Sequence[StoreLine]) -> dict[tuple[str, str], list[Figure]]:
    """The figures by experiment and series: one for each metric, or several panels.

    ``lines`` cover the entire comparison, in point order.
    """
    metrics: dict[tuple[str, str, str], list[StoreLine]] = {}
    for line in lines:
        if not line.flag:
            metrics.setdefault((line.experiment, line.series, line.metric), []).append(line)
    # Metrics without any change stand in the table alone.
    marks = {
        names: [line for line in here if _change(line) is not None]
        for names, here in metrics.items()
    }
    panels = {
        names: list(_panels(here))
        for names, here in marks.items()
        if any(line.state is not ComparisonState.EQUAL for line in here)
    }
    colours = sides.colours(side for several in panels.values() for side in several)
    found: dict[tuple[str, str], list[Figure]] = {}
    for names, several in panels.items():
        experiment, series, _ = names
        every = [line for line in lines if (line.experiment, line.series) == (experiment, series)]
        fixed, lacking = _fixed(marks[names], every), len(metrics[names]) - len(marks[names])
        found.setdefault((experiment, series), []).extend(
            _metric(names, several, colours, fixed, lacking)
        )
    return found


def _change(line: StoreLine) -> float | None:
    """The second mean relative to the first, less 1; `None` if only the first one is 0."""
    if line.pair.ratio:
        return line.pair.ratio.mean - 1
    return None if line.pair.b.figure.mean else 0.0


def _fixed(marks: Sequence[StoreLine], every: Sequence[StoreLine]) -> str:
    """The parameters that vary among all figures in the series, but not among the marks, in
    words.
    """
    names = [name for name in varying_parameters(every) if name not in varying_parameters(marks)]
    values = {name: marks[0].parameters.get(name) for name in names}
    return ", ".join(
        f"{grouping.word(name)} {grouping.value_label(value)}"
        for name, value in values.items()
        if value is not None
    )


def _panels(lines: Sequence[StoreLine]) -> Iterator[Side]:
    intervals = [
        line.pair.ratio if line.pair.difference and not line.pair.exact else None for line in lines
    ]
    return sides.panels(
        [line.parameters | {"job": line.job or None} for line in lines],
        change=[_change(line) for line in lines],
        low=[ratio.low - 1 if ratio else None for ratio in intervals],
        high=[ratio.high - 1 if ratio else None for ratio in intervals],
        state=[str(line.state) for line in lines],
    )


def _metric(
    names: tuple[str, str, str], panels: Sequence[Side], colours: Colours, fixed: str, lacking: int
) -> Iterator[Figure]:
    experiment, series, metric = names
    changes = pl.concat([side.rows.select("_change", "_low", "_high") for side in panels])
    ends = [0.0, *(value for column in changes for value in column.drop_nulls())]
    scale = alt.Scale(
        padding=8, domain=[min(ends), max(ends)] if max(ends) > min(ends) else alt.Undefined
    )
    for number, side in enumerate(panels, 1):
        title = ", ".join(filter(None, [f"{series}: {worded(metric)}", fixed, side.words]))
        file = f"{experiment}-{series}-{metric}" + (f"-{number}" if len(panels) > 1 else "")
        side = side.moved("_change", "_low", "_high")
        if not dodge.words(side.rows):
            side = side.apart("_change", (max(ends) - min(ends)) * math.sqrt(AREA) / HEIGHT)
        beside = f" {words}" if (words := dodge.words(side.rows)) else ""
        more = (
            f" Without a mark, because A is 0: {counted(lacking, 'figure')}; the table has them."
            if lacking
            else ""
        )
        yield Figure(
            file, title, "", CAPTION + beside + more, layered(title, _layers(side, scale, colours))
        )


def _layers(side: Side, scale: alt.Scale, colours: Colours) -> Layers:
    marks = alt.Axis(format="+,.3~%", labelExpr="datum.value ? datum.label : '0%'")
    y = alt.Y("_change:Q", title="B / A - 1", axis=marks, scale=scale)
    zero = alt.Chart(pl.DataFrame({"zero": [0.0]})).mark_rule(color=RULE).encode(y=alt.Y("zero:Q"))
    titles = {"_change": "change", "_low": "95% interval from", "_high": "to"}
    tips = [
        *side.tooltips,
        *(alt.Tooltip(f"{name}:Q", title=titles[name], format=PERCENT) for name in titles),
    ]
    base = side.chart(colours)
    points = base.encode(y=y, tooltip=[*tips, alt.Tooltip("_state:N", title="state")])
    look = dodge.offset(side.rows)
    bars = base.mark_rule(xOffset=look).encode(
        y=alt.Y("_low:Q", title="B / A - 1"), y2=alt.Y2("_high")
    )
    return [
        zero,
        *([bars] if side.rows["_low"].count() else []),
        *(
            points.mark_point(
                shape=shape, filled=filled, size=AREA, strokeWidth=2, opacity=1, xOffset=look
            ).transform_filter(alt.FieldEqualPredicate(field="_state", equal=str(state)))
            for state, (shape, filled) in SIGNS.items()
        ),
    ]
