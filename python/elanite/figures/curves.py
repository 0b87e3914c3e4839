"""Curves that several figures share: accepted over offered load, and a bandwidth over any
parameter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from elanite.base.text import FEWEST
from elanite.base.text import number as figure
from elanite.figures import axes, dodge, tooltips
from elanite.figures.style import (
    DASH_DOT,
    FORMAT,
    REASONS,
    RULE,
    area,
    below,
    colour,
    shape,
    shipped_intervals,
    shipped_lines,
    shipped_marks,
    shipped_outlines,
)
from elanite.results.frames import REASON, SHIPPED, STATE
from elanite.results.numbers import number
from elanite.results.states import LOST, QueueState, with_states

if TYPE_CHECKING:
    from collections.abc import Sequence

SIGNS = {"steady": "circle", "saturated": "triangle-up", "undecided": "diamond"}
"""Each state's shape in ``loads``; steady points are filled."""

Layers = list["alt.Chart | alt.LayerChart"]

WIDE = 0.25
"""The share of the vertical axis from which on an interval is a bar, not a band."""

OFFERED = (
    "The offered load is the load that the sources offered in the measured window. Dotted: accepted"
    " = offered."
)
"""The caption for ``loads``."""

SAID = {
    QueueState.STEADY: (
        "Filled circles are steady points: the sources' queues grow in no seed, the accepted load"
        f" is at least {1 - LOST:.0%} of the offered load, and its uncertainty is small, or a"
        " higher load is steady."
    ),
    QueueState.SATURATED: (
        "Triangles are saturated points: the nominal load exceeds the highest accepted load of its"
        " curve by more than its interval, or the sources' queues grow in all seeds."
    ),
    QueueState.UNDECIDED: (
        "Diamonds are undecided: seeds differ, the nominal load is within the interval of the"
        " highest accepted load, or the accepted load is below the offered load or too uncertain"
        " although the queues did not grow; a longer window decides."
    ),
}
"""The caption for each state in ``loads``."""

INTERVALS = (
    "are 95% confidence intervals by Student's t, over batches and seeds: at steady points of"
    " accepted minus offered load of each batch, drawn around the accepted load; at all others of"
    " the accepted load."
)
"""The caption on the intervals in ``loads``, if there are any."""


def signs(data: pl.DataFrame, top: float, curve: str) -> str:
    """The caption on the signs in ``loads`` for some data, with an axis that ends at ``top``."""
    words = " ".join([OFFERED, *(SAID[state] for state in SAID if state in data["state"])])
    words += f" {REASONS}" if REASON in data.columns else ""
    if not data["low"].count():
        return words
    several = f"{{{curve}}} at " if data[curve].n_unique() > 1 else ""
    cut = axes.cut(
        data,
        (0.0, top),
        lambda row: f"{several.format_map(row)}{figure(float(str(row['offered'])))} offered",
    )
    words = f"{words} {'Bars' if wide(data, top) else 'Bands'} {INTERVALS}"
    return " ".join(filter(None, [words, axes.missing_intervals(data), cut]))


def of_loads(
    rows: pl.DataFrame, keys: Sequence[str], accepted: str = "accepted", offered: str = "offered"
) -> pl.DataFrame:
    """The data for ``loads``, a row for each group: offered and accepted load with its interval,
    and the state.

    Below saturation, all offered messages are accepted in the end. Over the window, offered and
    accepted load differ by the messages in flight at its two ends. The interval belongs to this
    difference, batch by batch: arrival noise is on the offered-load axis, not in the interval. (It
    is a little wide: a message that one batch offers and the next one accepts counts in both
    differences, with opposite signs.) Fewer than three batches have no interval.
    """
    rows = rows if STATE in rows.columns else with_states(rows)
    value = pl.col("value")
    parts = rows.filter(pl.col("metric").is_in([accepted, offered])).group_by(
        [*keys, "seed", "batch"], maintain_order=True
    )
    batches = parts.agg(
        accepted=value.filter(pl.col("metric") == accepted).mean(),
        offered=value.filter(pl.col("metric") == offered).mean(),
    ).sort("seed", "batch")
    said = [name for name in (STATE, REASON) if accepted == "accepted" or name == STATE]
    groups = rows.group_by(keys, maintain_order=True).agg(pl.col(said).drop_nulls().first())
    if SHIPPED in rows.columns:
        marks = rows.group_by(keys, maintain_order=True).agg(
            pl.col(SHIPPED).fill_null(value=False).any()
        )
        groups = groups.join(marks, on=keys, how="left", nulls_equal=True)
    points = []
    for group in groups.iter_rows(named=True):
        here = batches.filter(pl.all_horizontal(pl.col(key).eq_missing(group[key]) for key in keys))
        if here.is_empty():
            continue
        seeds = here["seed"].to_list()
        got = number(here["accepted"].to_list(), seeds=seeds)
        mean = here["offered"].mean()
        assert mean is None or isinstance(mean, float)  # noqa: S101 - a number column
        found = group[STATE]
        lost = number((here["accepted"] - here["offered"]).to_list(), seeds=seeds)
        drawn = lost if found == QueueState.STEADY else got
        half = drawn.half if drawn.n >= FEWEST else None
        low, high = (None, None) if half is None else (got.mean - half, got.mean + half)
        points.append(
            {key: group[key] for key in (*keys, SHIPPED) if key in group}
            | {"offered": mean, "mean": got.mean, "low": low, "high": high}
            | {name: group[name] for name in said}
        )
    return pl.DataFrame(
        points,
        infer_schema_length=None,
        schema_overrides=dict.fromkeys(("low", "high"), pl.Float64),
    )


def ends(data: pl.DataFrame) -> tuple[float, float]:
    """The axis ends for ``loads``, in x and y; a figure's panels share the ends of all their
    data.
    """
    return max(data["offered"].to_list()) * 1.02, axes.ends(data)[1]


def loads(
    data: pl.DataFrame,
    curve: str,
    legend: str,
    unit: str,
    *,
    to: tuple[float, float] | None = None,
    tips: Sequence[alt.Tooltip] = (),
) -> Layers:
    """Accepted over offered load in some unit, a curve for each column value.

    The axes begin at 0 and end at ``to``, by default at the data's ``ends``. ``tips`` are more
    tooltips.
    """
    order = data[curve].unique(maintain_order=True).to_list()
    right, top = to or ends(data)
    along = alt.Scale(domain=[0.0, right], nice=True)
    base = alt.Chart(data).encode(
        x=alt.X("offered:Q", title=f"offered load, {unit}", scale=along, axis=axes.plain()),
        color=colour(curve, order, legend),
    )
    title = f"accepted load, {unit}"
    y = alt.Y("mean:Q", title=title, scale=axes.scale((0.0, top)))
    signs = {state: sign for state, sign in SIGNS.items() if state in data["state"]}
    points = base.mark_point(strokeWidth=1.5, opacity=1).encode(
        y=y,
        size=area(data),
        fill=alt.condition(
            f"datum.state == 'steady' && !datum.{SHIPPED}",
            colour(curve, order, legend),
            alt.value("transparent"),
        ),
        shape=alt.Shape(
            "state:N",
            title="point",
            scale=alt.Scale(domain=list(signs), range=list(signs.values())),
            legend=below(),
        ),
        tooltip=[
            alt.Tooltip(curve),
            *tips,
            alt.Tooltip("offered:Q", format=FORMAT),
            alt.Tooltip("mean:Q", format=FORMAT),
            alt.Tooltip("low:Q", format=FORMAT),
            alt.Tooltip("high:Q", format=FORMAT),
            alt.Tooltip("state", title="state"),
            *([alt.Tooltip(REASON)] if REASON in data.columns else []),
        ],
    )
    corner = min(right, top)
    diagonal = alt.Chart(pl.DataFrame({"x": [0.0, corner], "y": [0.0, corner]})).mark_line(
        strokeDash=[2, 3], strokeWidth=1, color=RULE
    )
    found: Layers = []
    if data["low"].count():
        marks = base.mark_rule(opacity=0.7) if wide(data, top) else base.mark_errorband(opacity=0.2)
        found.append(marks.encode(y=alt.Y("low:Q", title=title), y2=alt.Y2("high:Q")))
    return [
        *found,
        shipped_lines(base.mark_line().encode(y=y), data, DASH_DOT),
        shipped_outlines(points, data),
        diagonal.encode(x=alt.X("x:Q"), y=alt.Y("y:Q")),
    ]


def wide(data: pl.DataFrame, top: float) -> bool:
    """Whether some interval covers so large a part of the axis that bands would hide each other."""
    return any(
        high - low > WIDE * top for low, high in data.select("low", "high").drop_nulls().rows()
    )


def curves(
    data: pl.DataFrame,
    curve: str,
    legend: str,
    x: alt.X,
    y: str,
    *,
    reach: axes.Ends | None = None,
    log: bool = False,
    lines: bool = True,
    tips: Sequence[alt.Tooltip] = (),
) -> Layers:
    """Means with their intervals over a quantity, one curve for each column value.

    The vertical axis has the ends ``reach``, by default the data's. Without ``lines``, marks are
    not joined. ``tips`` are more tooltips. Rows may have been ``dodge.moved``.
    """
    order = data[curve].unique(maintain_order=True).to_list()
    moved = dodge.offset(data)
    reach = reach or axes.ends(data, log=log)
    base = alt.Chart(data).encode(x=x, color=colour(curve, order, legend))
    up = alt.Y(
        "mean:Q",
        title=y,
        scale=axes.scale(reach, log=log),
        axis=axes.decades(reach) if log else alt.Undefined,
    )
    points = base.mark_point(filled=True, opacity=1, xOffset=moved).encode(
        y=up,
        size=area(data),
        shape=shape(curve, order, legend),
        tooltip=[
            alt.Tooltip(curve),
            tooltips.at(data, x),
            *tips,
            alt.Tooltip("mean:Q", format=FORMAT),
            alt.Tooltip("low:Q", format=FORMAT),
            alt.Tooltip("high:Q", format=FORMAT),
        ],
    )
    joined = base.mark_line(xOffset=moved).encode(y=up)
    found: Layers = [shipped_lines(joined, data, DASH_DOT)] if lines else []
    if data["low"].count():
        # A layer without any interval would have an axis without ends.
        bars = base.mark_rule(xOffset=moved).encode(y=alt.Y("low:Q", title=y), y2=alt.Y2("high:Q"))
        found.append(shipped_intervals(bars, data))
    return [*found, shipped_marks(points, data, colour(curve, order, legend))]
