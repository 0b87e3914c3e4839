"""Figures of a comparison: the change of every figure of a series, by metric.

A mark is one configuration: the second folder's mean over the first one's, less 1, with its 95% interval. The sign of a
mark is the state of the figure (``SIGNS``). Figures of which the first mean is 0 have no ratio, and stand in the table,
as do metrics without any change.

The figures stand in the order of the points, and so do their panels and curves, whatever the changes are. One name has
one colour in all figures of a comparison, and the panels of a metric share their axes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import altair as alt
import polars as pl

from elanite.figures import sides
from elanite.figures.style import RULE, Figure, layered
from elanite.samples import State

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from elanite.differences import Line
    from elanite.figures.curves import Layers
    from elanite.figures.sides import Side

CAPTION = (
    "The mean of B relative to that of A, less 1, with its 95% interval; points without random numbers have none."
    " Filled circles: the figures differ; hollow circles: they are equal; crosses: undecided."
)

SIGNS: dict[State, tuple[Literal["circle", "cross"], bool]] = {
    State.DIFFERS: ("circle", True),
    State.EQUAL: ("circle", False),
    State.UNDECIDED: ("cross", False),
}
"""The shape of each state, and whether it is filled."""

PERCENT = "+.4~%"


def draw(lines: Sequence[Line]) -> dict[tuple[str, str], list[Figure]]:
    """The figures by experiment and series: one for each metric, or several panels.

    ``lines`` are those of the entire comparison, in the order of its points.
    """
    metrics: dict[tuple[str, str, str], list[Line]] = {}
    for line in lines:
        if line.pair.ratio:
            metrics.setdefault((line.experiment, line.series, line.metric), []).append(line)
    # Metrics without any change stand in the table alone.
    panels = {
        names: list(_panels(here))
        for names, here in metrics.items()
        if any(line.state is not State.EQUAL for line in here)
    }
    colours = sides.colours(side for several in panels.values() for side in several)
    found: dict[tuple[str, str], list[Figure]] = {}
    for (experiment, series, metric), several in panels.items():
        found.setdefault((experiment, series), []).extend(_metric(experiment, series, metric, several, colours))
    return found


def _panels(lines: Sequence[Line]) -> Iterator[Side]:
    ratios = [ratio for line in lines if (ratio := line.pair.ratio)]
    bounded = [line.pair.difference is not None for line in lines]
    return sides.panels(
        [line.parameters | {"job": line.job or None} for line in lines],
        change=[ratio.mean - 1 for ratio in ratios],
        low=[ratio.low - 1 if known else None for ratio, known in zip(ratios, bounded, strict=True)],
        high=[ratio.high - 1 if known else None for ratio, known in zip(ratios, bounded, strict=True)],
        state=[str(line.state) for line in lines],
    )


def _metric(
    experiment: str, series: str, metric: str, panels: Sequence[Side], colours: Mapping[str, str]
) -> Iterator[Figure]:
    changes = pl.concat([side.rows.select("_change", "_low", "_high") for side in panels])
    ends = [0.0, *(value for column in changes for value in column.drop_nulls())]
    scale = alt.Scale(padding=8, domain=[min(ends), max(ends)] if max(ends) > min(ends) else alt.Undefined)
    for number, side in enumerate(panels, 1):
        title = ", ".join(filter(None, [f"{series}: {metric.replace('_', ' ')}", side.words]))
        file = f"{experiment}-{series}-{metric}" + (f"-{number}" if len(panels) > 1 else "")
        yield Figure(file, title, "", CAPTION, layered(title, _layers(side, scale, colours)))


def _layers(side: Side, scale: alt.Scale, colours: Mapping[str, str]) -> Layers:
    y = alt.Y("_change:Q", title="B / A - 1", axis=alt.Axis(format="+.3~%"), scale=scale)
    zero = alt.Chart(pl.DataFrame({"zero": [0.0]})).mark_rule(color=RULE).encode(y=alt.Y("zero:Q"))
    titles = {"_change": "change", "_low": "95% interval from", "_high": "to"}
    tips = [*side.tooltips, *(alt.Tooltip(f"{name}:Q", title=titles[name], format=PERCENT) for name in titles)]
    base = side.chart(colours)
    points = base.encode(y=y, tooltip=[*tips, alt.Tooltip("_state:N", title="state")])
    bars = base.mark_rule().encode(y=alt.Y("_low:Q", title="B / A - 1"), y2=alt.Y2("_high"))
    return [
        zero,
        *([bars] if side.rows["_low"].count() else []),
        *(
            points.mark_point(shape=shape, filled=filled, size=50, opacity=1).transform_filter(
                alt.FieldEqualPredicate(field="_state", equal=str(state))
            )
            for state, (shape, filled) in SIGNS.items()
        ),
    ]
