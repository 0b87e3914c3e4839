"""A table as a picture, with the page's own fonts and colours.

Columns have widths and rows a height; this module lays everything out in pixels, as in
``elanite.figures.matrix``. A cell may have a tint, which shows its figure's distance from a
reference: white is equal, orange less, blue more.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from elanite.figures.colours import mixed
from elanite.figures.style import RULE, layered, pixels

if TYPE_CHECKING:
    from elanite.figures.grid import Align, Grid

WIDTH = 1180
"""The picture's width, which columns share in proportion to their widths."""

LINE, PAD = 15, 7
"""Height of a text line, and of the margins above and below a cell's lines."""

LESS, MORE = "#f0a875", "#85bce0"
"""Orange and blue, light enough for black text."""


def tint(ratio: float) -> str:
    """A cell's colour for a figure relative to its reference, as on the picture's scale."""
    way = max(-1.0, min(1.0, 2 * (ratio - 1)))
    return mixed("#FFFFFF", MORE if way > 0 else LESS, abs(way))


def table(grid: Grid, title: str) -> alt.LayerChart:
    """A table's picture."""
    columns, rows, legend = grid.columns, grid.rows, grid.legend
    scale = WIDTH / sum(column.width for column in columns)
    edges = [
        scale * sum(column.width for column in columns[:index]) for index in range(len(columns) + 1)
    ]
    words: list[dict[str, object]] = []
    squares: list[dict[str, object]] = []
    top = 0.0

    def write(lines: list[str], index: int, top: float, height: float, kind: str) -> None:
        align = columns[index].align
        x = edges[index] + 4 if align == "left" else (edges[index] + edges[index + 1]) / 2
        first = top + (height - LINE * (len(lines) - 1)) / 2
        for number, line in enumerate(lines):
            size = 11 if kind == "heading" else 12 if number == 0 or align == "left" else 10.5
            words.append(
                {
                    "x": x,
                    "y": first + LINE * number,
                    "text": line,
                    "align": align,
                    "kind": kind,
                    "size": size,
                }
            )

    headings = [column.heading.split("\n") for column in columns]
    height = max(map(len, headings)) * LINE + 2 * PAD
    for index, lines in enumerate(headings):
        write(lines, index, top, height, "heading")
    top += height
    rules = [top]
    for row in rows:
        texts = [cell.text.split("\n") for cell in row]
        height = max(map(len, texts)) * LINE + 2 * PAD
        for index, (cell, lines) in enumerate(zip(row, texts, strict=True)):
            if cell.ratio is not None:
                place = {"x": edges[index], "x2": edges[index + 1], "y": top, "y2": top + height}
                squares.append(place | {"ratio": cell.ratio, "says": cell.says})
            write(lines, index, top, height, "tinted" if cell.ratio is not None else "plain")
        top += height
        rules.append(top)
    return _chart(words, squares, rules, top, legend, title)


def _chart(
    words: list[dict[str, object]],
    squares: list[dict[str, object]],
    rules: list[float],
    height: float,
    legend: str,
    title: str,
) -> alt.LayerChart:
    x, y = pixels(WIDTH, height)
    tint = alt.Color(
        "ratio:Q",
        title=legend,
        scale=alt.Scale(
            domain=[0.5, 1.0, 1.5], range=[LESS, "#ffffff", MORE], interpolate="rgb", clamp=True
        ),
        legend=alt.Legend(
            format="%",
            orient="bottom",
            direction="horizontal",
            gradientLength=320,
            titleLimit=420,
            titleAnchor="start",
        ),
    )
    schema = {
        "x": pl.Float64,
        "x2": pl.Float64,
        "y": pl.Float64,
        "y2": pl.Float64,
        "ratio": pl.Float64,
    }
    tinted = alt.Chart(pl.DataFrame(squares, schema=schema | {"says": pl.String}))
    lines = alt.Chart(
        pl.DataFrame({"x": [0.0] * len(rules), "x2": [float(WIDTH)] * len(rules), "y": rules})
    )
    squared = tinted.mark_rect(stroke="white").encode(
        x=x, x2=alt.X2("x2:Q"), y=y, y2=alt.Y2("y2:Q"), color=tint, tooltip=[alt.Tooltip("says:N")]
    )
    layers: list[alt.Chart | alt.LayerChart] = [
        *([squared] if squares else []),
        lines.mark_rule(color=RULE, strokeWidth=0.5, opacity=0.6).encode(
            x=x, x2=alt.X2("x2:Q"), y=y
        ),
    ]
    text = alt.Chart(pl.DataFrame(words)).encode(
        x=x, y=y, text=alt.Text("text:N"), size=alt.Size("size:Q", scale=None, legend=None)
    )
    aligns: tuple[Align, ...] = ("left", "center")
    for kind, align in product(("heading", "tinted", "plain"), aligns):
        if any(word["kind"] == kind and word["align"] == align for word in words):
            here = text.transform_filter(f"datum.kind == '{kind}' && datum.align == '{align}'")
            # Words on a tint are black on light and dark pages; all other words have the page's
            # text colour.
            layers.append(
                here.mark_text(
                    align=align,
                    baseline="middle",
                    color="black" if kind == "tinted" else alt.Undefined,
                    fontWeight="bold" if kind == "heading" else "normal",
                )
            )
    return layered(title, layers, WIDTH, height)
