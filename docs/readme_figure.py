"""Renew the README's scoreboard sentence and its pictures from finished points.

``make docs`` runs this, with a reproduction's folder. Three pictures show answers for networks of
today, one the congestion that the QsNET paper describes. The three are as wide as a phone, and
follow the reader's choice of light or dark.
"""

from __future__ import annotations

import re
import sys
import textwrap
from html import escape
from pathlib import Path

import altair as alt
import polars as pl
import vl_convert

import elanite as el
from elanite.figures.animation import animated
from elanite.figures.colours import BLUE, ORANGE, RED, SKY
from elanite.figures.style import FONT, colour, pixels, shape
from elanite.validation.board import headline

DOCS = Path(__file__).parent
TITLE = "Complement traffic on 64 nodes: how congestion builds up"

WIDTH = 400
"""Picture width in pixels: a phone shows 360 of them."""

DARK = """
@media (prefers-color-scheme: dark) {
  .paper { fill: #0d1117 }
  text { fill: #e6edf3 }
  .role-axis line { stroke: #3d444d }
}
"""
"""Colours for readers who prefer dark pages. Marks keep theirs, which are readable on both."""

CELL, GAP, LABEL = (9, 7), 8, 106
"""A link's width and height in pixels, the space between levels, and the labels' width."""

SWITCHES = 32
"""Switches in a level of the tree in ``today/topologies``."""

LEVELS = [
    (2, True, "up to the top"),
    (1, True, "up from leaves"),
    (2, False, "down from top"),
    (1, False, "down to leaves"),
]
"""The links between its switches: level, direction, and name."""


def networks(out: str) -> tuple[alt.LayerChart, int]:
    """Accepted load on networks of equal cost: uniform traffic, and the worst pattern."""
    figures = el.load_results("today/topologies", out=out).figures()
    rows = pl.concat(rows_of(figure.chart) for figure in figures)
    worst = rows.group_by("curve", maintain_order=True).agg(pl.col("mean").min() / 1000)
    uniform = rows.filter(pattern="uniform").select("curve", pl.col("mean") / 1000)
    kinds = {"worst of five patterns": worst, "uniform traffic": uniform}
    dots = pl.concat(data.with_columns(kind=pl.lit(kind)) for kind, data in kinds.items())
    order = worst.sort("mean", descending=True)["curve"].to_list()
    best, last = worst.sort("mean").row(-1), worst.sort("mean").row(0)
    y = alt.Y("curve:N", sort=order, title=None, axis=alt.Axis(labelLimit=0))
    title = "accepted load, GB/s per node"
    x = alt.X("mean:Q", title=title, scale=alt.Scale(domain=[0, 50]))
    chart = alt.Chart(dots).encode(y=y)
    lines = chart.mark_rule(color="#8C8C8C").encode(
        x=alt.X("min(mean):Q", title=title), x2="max(mean):Q"
    )
    marks = chart.mark_point(filled=True, size=90, opacity=1).encode(
        x=x,
        color=colour("kind", list(kinds), "", [RED, BLUE]),
        shape=shape("kind", list(kinds), ""),
    )
    found = [
        f"Worst pattern: from {last[1]:.0f} GB/s ({last[0]})",
        f"to {best[1]:.0f} GB/s ({best[0]})",
    ]
    return alt.layer(lines, marks).properties(title=found), 330


def links(out: str) -> tuple[alt.LayerChart, int]:
    """Where packets wait for the links between switches of a fat tree, by the ascent's routing."""
    result = el.load_results("today/topologies", out=out)
    (rows,) = [rows_of(figure.chart) for figure in result.figures() if figure.name == "patterns-1"]
    cells, strips, texts = [], [], []
    y = 0
    for name in ("fat tree, adaptive", "fat tree, destination modulo"):
        here = rows.filter(curve=name, pattern="bit-reversal").row(0, named=True)
        (point,) = [
            point
            for point in result.points
            if (point.parameters["pattern"], point.parameters["machine"])
            == (here["pattern"], here["machine"])
        ]
        matrix = result.congestion(point)
        texts.append(
            {"x": 0, "y": y + 6, "text": f"{name}: {here['mean'] / 1000:.0f} GB/s per node"}
        )
        y += 20
        for level, up, label in LEVELS:
            found = matrix.links.filter(link_level=level, up=up)
            below = pl.col("from" if up else "to").str.extract(r"\.(\d+)$").cast(pl.Int64)
            waits = found.sort(below, "link")["waiting_us"]
            each = len(waits) // SWITCHES
            for number, waited in enumerate(waits):
                column, row = divmod(number, each)
                cells.append(
                    {"x": LABEL + column * CELL[0], "y": y + row * CELL[1], "waited": waited}
                )
            strips.append(
                {"x": LABEL, "y": y, "x2": LABEL + SWITCHES * CELL[0], "y2": y + each * CELL[1]}
            )
            texts.append({"x": 0, "y": y + each * CELL[1] / 2, "text": label})
            y += each * CELL[1] + GAP
        y += GAP
    x_axis, y_axis = pixels(LABEL + SWITCHES * CELL[0], y)
    data = pl.DataFrame(cells).with_columns(
        x2=pl.col("x") + CELL[0] - 1, y2=pl.col("y") + CELL[1] - 1
    )
    # Squares too pale to be seen are left out.
    hot = data.filter(pl.col("waited") > 0.02 * data["waited"].max())
    waited = alt.Opacity(
        "waited:Q",
        title="µs that packets waited for a link",
        scale=alt.Scale(type="sqrt", domain=[0, data["waited"].max()], range=[0, 1]),
        legend=alt.Legend(
            orient="bottom",
            values=[1000, 2000, 3000],
            symbolType="square",
            symbolFillColor=RED,
            symbolStrokeColor="transparent",
            titleLimit=0,
        ),
    )
    ends = {"x": x_axis, "x2": "x2", "y": y_axis, "y2": "y2"}
    frames = alt.Chart(pl.DataFrame(strips)).mark_rect(color="#8C8C8C", opacity=0.18).encode(**ends)
    squares = alt.Chart(hot).mark_rect(color=RED).encode(opacity=waited, **ends)
    words = alt.Chart(pl.DataFrame(texts)).mark_text(align="left", baseline="middle", fontSize=12)
    chart = alt.layer(frames, squares, words.encode(x=x_axis, y=y_axis, text="text:N"))
    return (
        chart.properties(
            title=["Bit reversal on 128 nodes: where packets wait", "for links between switches"]
        ),
        y + 110,
    )


def placement(out: str) -> tuple[alt.LayerChart, int]:
    """The accepted load of a job among others, by its place and the network."""
    (figure,) = [
        one for one in el.load_results("today/placement", out=out).figures() if one.name == "beside"
    ]
    names = {
        "fat tree, every fourth": ("fat tree, every fourth node", SKY),
        "fat tree, next to each other": ("fat tree, two leaves", BLUE),
        "dragonfly, UGAL-L, every fourth": ("dragonfly, every fourth node", ORANGE),
        "dragonfly, UGAL-L, next to each other": ("dragonfly, one group", RED),
    }
    rows = rows_of(figure.chart).filter(pl.col("curve").is_in(list(names)))
    rows = rows.with_columns(
        kind=pl.col("curve").replace_strict({key: name for key, (name, _) in names.items()}),
        others=pl.col("others_load_MBps") / 1000,
        mean=pl.col("mean") / 1000,
    )
    kinds = dict(names.values())
    chart = alt.Chart(rows).encode(
        x=alt.X(
            "others:Q",
            title="load that the others offer, GB/s per node",
            axis=alt.Axis(values=[2, 10, 20, 30]),
        ),
        y=alt.Y("mean:Q", title="the job's load, GB/s per node", scale=alt.Scale(domain=[0, 25])),
        color=colour("kind", list(kinds), "", list(kinds.values())),
    )
    marks = chart.mark_point(filled=True, size=90, opacity=1).encode(
        shape=shape("kind", list(kinds), "")
    )
    lines = chart.mark_line(strokeWidth=2)
    return (
        alt.layer(lines, marks).properties(
            title=["A job of 64 nodes among 192 others:", "its place and its load"]
        ),
        360,
    )


PICTURES = {"readme-networks": networks, "readme-links": links, "readme-placement": placement}
"""Each picture's file name and the function that draws it, with its height in pixels."""


def rows_of(chart: alt.LayerChart) -> pl.DataFrame:
    """The rows of a figure's chart."""
    (rows,) = chart.to_dict(validate=False)["datasets"].values()
    return pl.DataFrame(rows)


def drawn(chart: alt.LayerChart, height: int) -> str:
    """A chart as an SVG of this width, with its own background and colours for dark pages."""
    title = " ".join(chart.title)
    fitted = chart.properties(
        width=WIDTH, height=height, autosize=alt.AutoSizeParams(type="fit", contains="padding")
    )
    styled = fitted.configure(
        font=FONT,
        padding=8,
        background="white",
        axis=alt.AxisConfig(
            labelFontSize=12, titleFontSize=12, titleFontWeight="normal", gridColor="#dddddd"
        ),
        legend=alt.LegendConfig(labelFontSize=12, titleFontSize=12, titleFontWeight="normal"),
        title=alt.TitleConfig(fontSize=13, anchor="start", frame="bounds", offset=10),
        view=alt.ViewConfig(stroke=None),
    )
    svg: str = vl_convert.vegalite_to_svg(styled.to_json())
    svg = re.sub(r' aria-[a-z]+="[^"]*"| role="[^"]*"', "", svg)
    svg = re.sub(r"(\.\d\d)\d+", r"\1", svg)
    svg = svg.replace('fill="white"/>', 'class="paper" fill="white"/>', 1)
    return (
        svg.replace(">", f' role="img"><title>{escape(title)}</title><style>{DARK}</style>', 1)
        + "\n"
    )


def main(out: str) -> None:
    """Write everything."""
    for name, picture in PICTURES.items():
        (DOCS / f"{name}.svg").write_text(drawn(*picture(out)), encoding="utf-8")
    result = el.load_results(el.Experiment.load("qsnet/congestion"), out=out)
    points = [point for point in result.points if point.series == "build-up"]
    (point,) = [point for point in points if point.parameters["pattern"] == "complement"][:1]
    (DOCS / "congestion.svg").write_text(
        animated(result.congestion(point), TITLE), encoding="utf-8"
    )
    readme = DOCS.parent / "README.md"
    sentence = textwrap.fill(f"**{headline(el.scoreboard(out))}**", 100, break_on_hyphens=False)
    text = re.sub(r"(?ms)^\*\*\d+ of .*?\*\*", sentence, readme.read_text(encoding="utf-8"))
    readme.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
