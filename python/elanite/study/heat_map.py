"""Claim changes by uncertain parameters as a heat map: a row for each parameter, a column for each
claim.

A cell's left half is the change with the parameter a step lower, the right half with the parameter
a step higher. Rows are sorted by their largest change. Changes within noise are left blank, and so
are rows without any other change.
"""

from __future__ import annotations

from typing import TypedDict

import altair as alt
import polars as pl

from elanite.base.rows import rows as rows_of
from elanite.base.text import number, percent
from elanite.figures.colours import PALETTE
from elanite.figures.style import RULE, Figure, layered, pixels
from elanite.study.changes import LEAST, resolved, turned

MOST = 0.2
"""From this change on, colours do not grow darker: the claim changes as much as the parameter."""

LEFT, ROW, LETTER = 220, 20, 6.4
"""Pixels for parameter names, for a row, and for a letter in a claim's name."""

WIDEST = 44
"""The widest column, in pixels."""

WIDTH, NARROWEST = 1180, 480
"""The widest and the narrowest picture, in pixels: titles and legend need some room."""

FITTED, ASSUMED, TURNS = "●", "○", "x"


class ChangeRow(TypedDict):
    """A row in the change table."""

    parameter: str
    claim: str
    step: str
    value: str
    changed: str
    usual: float | None
    simulated: float
    change: float
    low: float
    high: float


def draw(machine: str, table: pl.DataFrame) -> Figure | None:
    """A change table's heat map (see ``elanite.study.changes``); `None` without changes."""
    told = table.filter(resolved(), pl.col("change").abs() >= LEAST)
    if told.is_empty():
        return None
    most = told.group_by("parameter", maintain_order=True).agg(pl.col("change").abs().max())
    parameters = most.sort("change", descending=True, maintain_order=True)["parameter"].to_list()
    claims = table["claim"].unique(maintain_order=True).to_list()
    column = min(WIDEST, (WIDTH - LEFT) / len(claims))
    head = 12 + LETTER * max(map(len, claims))
    turns = {
        (row["parameter"], row["step"], row["claim"]) for row in turned(table).iter_rows(named=True)
    }
    cells: list[dict[str, object]] = []
    for row in rows_of(told, ChangeRow):
        left = (
            LEFT
            + claims.index(row["claim"]) * column
            + (column / 2 if row["step"] == "more" else 0)
        )
        top = head + parameters.index(row["parameter"]) * ROW
        marks = (row["parameter"], row["step"], row["claim"]) in turns
        place = {"x": left, "x2": left + column / 2, "y": float(top), "y2": float(top + ROW)}
        cells.append(
            place
            | {
                "change": row["change"],
                "turns": TURNS if marks else "",
                "says": _tooltip(row),
            }
        )
    title = f"Sensitivity of the claims about {machine}"
    chart = _chart(
        cells,
        _labels(table, parameters, claims, head, column),
        [head, column],
        len(parameters),
        len(claims),
        title,
    )
    caption = (
        "Change of each claim with each parameter a fifth lower (left half of a cell) and higher"
        " (right half). The change of a number is a fraction of the published figure; that of a"
        f" finding is the change of the figure behind it that changes most. {FITTED} fitted,"
        f" {ASSUMED} assumed; {TURNS}: the verdict turns. Blank: less than {LEAST:.1%}, or not told"
        " from noise."
    )
    return Figure(f"sensitivity-{machine}", title, "", caption, chart, wide=True)


def _tooltip(row: ChangeRow) -> str:
    """The tooltip for a cell."""
    half = (row["high"] - row["low"]) / 2
    sure = f" ± {half:.1%}" if half >= LEAST / 10 else ""
    numbers = (
        f": {number(row['usual'])} to {number(row['simulated'])}"
        if row["usual"] is not None
        else ""
    )
    change = percent(row["change"])
    return (
        f"{row['parameter']} {row['value']} to {row['changed']}, {row['claim']}"
        f" {change}{sure}{numbers}"
    )


def _labels(
    table: pl.DataFrame, parameters: list[str], claims: list[str], head: float, column: float
) -> list[dict[str, object]]:
    """The parameter names with their values, at the left, and the claim names, at the top from
    below.
    """
    about = {row["parameter"]: row for row in table.iter_rows(named=True)}
    found: list[dict[str, object]] = []
    for index, name in enumerate(parameters):
        mark = FITTED if about[name]["fitted"] else ASSUMED
        text = f"{mark} {name} {about[name]['value']}"
        found.append(
            {"x": LEFT - 6.0, "y": head + (index + 0.5) * ROW, "text": text, "kind": "parameter"}
        )
    for index, name in enumerate(claims):
        found.append(
            {"x": LEFT + (index + 0.5) * column, "y": head - 6.0, "text": name, "kind": "claim"}
        )
    return found


def _chart(
    cells: list[dict[str, object]],
    labels: list[dict[str, object]],
    sizes: list[float],
    rows: int,
    columns: int,
    title: str,
) -> alt.LayerChart:
    """The picture; ``sizes`` are the claim names' height and a column's width."""
    head, column = sizes
    height, right = head + rows * ROW, LEFT + columns * column
    width = max(NARROWEST, right)
    x, y = pixels(width, height)
    heat = alt.Color(
        "change:Q",
        title="change of the claim",
        scale=alt.Scale(
            domain=[-MOST, 0.0, MOST],
            range=[PALETTE[4], "#ffffff", PALETTE[0]],
            interpolate="rgb",
            clamp=True,
        ),
        legend=alt.Legend(
            format="+.0%",
            orient="bottom",
            direction="horizontal",
            gradientLength=320,
            titleLimit=420,
            values=[-MOST, -MOST / 2, 0.0, MOST / 2, MOST],
        ),
    )
    lines = [
        {"x": float(LEFT), "x2": right, "y": head + row * ROW, "y2": head + row * ROW}
        for row in range(rows + 1)
    ]
    sides = [LEFT + index * column for index in range(columns + 1)]
    lines += [{"x": side, "x2": side, "y": head, "y2": height} for side in sides]
    grid = alt.Chart(pl.DataFrame(lines, dict.fromkeys(("x", "x2", "y", "y2"), pl.Float64)))
    squares = alt.Chart(pl.DataFrame(cells))
    words = alt.Chart(pl.DataFrame(labels)).encode(x=x, y=y, text=alt.Text("text:N"))
    dark = alt.condition(
        f"abs(datum.change) > {0.6 * MOST}", alt.value("white"), alt.value("black")
    )
    layers: list[alt.Chart | alt.LayerChart] = [
        squares.mark_rect().encode(
            x=x,
            x2=alt.X2("x2:Q"),
            y=y,
            y2=alt.Y2("y2:Q"),
            color=heat,
            tooltip=[alt.Tooltip("says:N")],
        ),
        grid.mark_rule(color=RULE, strokeWidth=0.5, opacity=0.5).encode(
            x=x, x2=alt.X2("x2:Q"), y=y, y2=alt.Y2("y2:Q")
        ),
        squares.transform_calculate(x="(datum.x + datum.x2) / 2", y="(datum.y + datum.y2) / 2")
        .mark_text(baseline="middle", fontSize=13, fontWeight="bold")
        .encode(x=x, y=y, text=alt.Text("turns:N"), color=dark),
        words.transform_filter("datum.kind == 'parameter'").mark_text(
            align="right", baseline="middle", fontSize=11
        ),
        words.transform_filter("datum.kind == 'claim'").mark_text(
            align="left", baseline="middle", angle=270, fontSize=11
        ),
    ]
    return layered(title, layers, width, height)
