"""Figures of a comparison: the change of every figure of a series, by metric.

A mark is one configuration: the second folder's mean over the first one's, less 1, with its 95% interval. Filled marks
differ, hollow ones are equal or undecided. Figures of which the first mean is 0 have no ratio, and stand in the table,
as do metrics without any change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from elanite.figures import sides
from elanite.figures.style import RULE, Figure, layered
from elanite.samples import State

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from elanite.differences import Line

CAPTION = (
    "The mean of B relative to that of A, less 1, with its 95% interval; points without random numbers have none."
    " Filled: the figures differ; hollow: they are equal or undecided."
)


def draw(lines: Sequence[Line]) -> Iterator[Figure]:
    """The figures of one series: one for each metric, or several panels."""
    for metric in dict.fromkeys(line.metric for line in lines):
        yield from _metric(metric, [line for line in lines if line.metric == metric and line.pair.ratio])


def _metric(metric: str, lines: Sequence[Line]) -> Iterator[Figure]:
    if all(line.state is State.EQUAL for line in lines):  # the table has them
        return
    ratios = [ratio for line in lines if (ratio := line.pair.ratio)]
    bounded = [line.pair.difference is not None for line in lines]
    panels = list(
        sides.panels(
            [line.parameters | {"job": line.job or None} for line in lines],
            change=[ratio.mean - 1 for ratio in ratios],
            low=[ratio.low - 1 if known else None for ratio, known in zip(ratios, bounded, strict=True)],
            high=[ratio.high - 1 if known else None for ratio, known in zip(ratios, bounded, strict=True)],
            state=[str(line.state) for line in lines],
        )
    )
    name = f"{lines[0].experiment}-{lines[0].series}-{metric}"
    for number, side in enumerate(panels, 1):
        title = ", ".join(filter(None, [f"{lines[0].series}: {metric.replace('_', ' ')}", side.words]))
        y = alt.Y("_change:Q", title="B / A - 1", axis=alt.Axis(format="+.3~%"), scale=alt.Scale(padding=8))
        zero = alt.Chart(pl.DataFrame({"zero": [0.0]})).mark_rule(color=RULE).encode(y=alt.Y("zero:Q"))
        change = alt.Tooltip("_change:Q", title="change", format="+.4~%")
        tips = [*side.tooltips, change, alt.Tooltip("_state:N", title="state")]
        filled = alt.FieldEqualPredicate(field="_state", equal=str(State.DIFFERS))
        points = side.base.encode(y=y, tooltip=tips)
        bars = side.base.mark_rule().encode(y=alt.Y("_low:Q", title="B / A - 1"), y2=alt.Y2("_high"))
        layers = [
            zero,
            *([bars] if side.rows["_low"].count() else []),
            points.mark_point(filled=False, size=50, opacity=1).transform_filter({"not": filled}),
            points.mark_point(filled=True, size=50, opacity=1).transform_filter(filled),
        ]
        file = name + (f"-{number}" if len(panels) > 1 else "")
        yield Figure(file, title, "", CAPTION, layered(title, layers))
