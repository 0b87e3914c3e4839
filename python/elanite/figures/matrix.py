"""The congestion matrix as the picture of figure 15 of petrini2003, for any tree.

Every level of switches has a row of blocks, the top level first. A block is a switch: the squares above are its links
upwards, the squares below its links downwards, and the square between them is the switch itself. A hotter square is
darker. The links of the first level lead down to the nodes. A run with slices gets a slider: first each slice of time,
relative to the hottest slice, and at its end the measured window.

If a level has more switches or links than there is room for, groups of neighbours share a square with the highest
figure of the group, so that averages hide no hot link. Squares without room for a number have only a colour.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from elanite.congestion import HEAT
from elanite.figures.style import RULE, Figure, layered, pixels
from elanite.text import number

if TYPE_CHECKING:
    from elanite.congestion import Matrix

MOST_BLOCKS, MOST_SQUARES = 64, 256
"""The numbers of switches, and of links in one direction, for which a row has room."""

WIDTH, LEFT = 1180, 70
"""Width of the picture, and of the names of its rows, in pixels; so are the heights below."""
HEAD, SQUARE, CENTRE, GAP = 28, 21, 27, 30

DIGITS = 15
"""Width of a square that has room for three digits."""


def draw(matrix: Matrix, name: str, title: str, paper: str = "", parameters: str = "") -> Figure:
    """The picture of a congestion matrix; ``parameters`` describe the traffic at the end of the caption."""
    caption = (
        "A block is a switch, a row a level. Links upwards are above the switch, links downwards below; those of the"
        " first level lead to the nodes. The number of a link is the sum of the delays of packets before the link; the"
        " number of a switch is the sum over its links. The most loaded link and the most loaded switch have 100. A"
        " delay is written at the port by which the packet leaves the switch, because the packet waits for this link;"
        " the paper writes it at the port by which the packet came in. The sums of switches are the same either way."
    )
    if matrix.slice_count:
        caption += (
            " The slider shows how congestion builds up, slice by slice from the start of the run, relative to the most"
            " loaded link and switch of any slice; at its end is the measured window."
        )
    if parameters:
        caption += f" Parameters: {parameters}."
    return Figure(name, title, paper, caption, _chart(matrix, name, title), wide=True)


def _chart(matrix: Matrix, name: str, title: str) -> alt.LayerChart:
    members, labels, height = _layout(matrix)
    # The moments that the slider shows; a Vega expression picks the one from the lists below.
    moments = [
        f"{number(matrix.slice_us * index / 1000)} to {number(matrix.slice_us * (index + 1) / 1000)} ms"
        for index in range(matrix.slice_count)
    ]
    begin, end = matrix.window
    moments.append(f"measured window, {number(begin / 1000)} to {number(end / 1000)} ms")
    moment = alt.param(name="moment_" + "".join(c if c.isalnum() else "_" for c in name), value=len(moments))
    if matrix.slice_count:
        slider = alt.binding_range(min=1, max=len(moments), step=1, name="time slice, then the measured window ")
        moment = alt.param(name=moment.name, value=len(moments), bind=slider)
    most = json.dumps(_most(matrix))

    x, y = pixels(WIDTH, height)
    base = (
        alt.Chart(_parts(members, matrix))
        .transform_calculate(delay=f"datum.delays[{moment.name} - 1]")
        .transform_calculate(relative=f"100 * datum.delay / {most}[datum.kind][{moment.name} - 1]")
        .transform_calculate(centre="(datum.x + datum.x2) / 2", middle="(datum.y + datum.y2) / 2")
    )
    heat = alt.Color(
        "relative:Q",
        title="sum of delays, most loaded = 100",
        scale=alt.Scale(domain=[0, 100], range=HEAT),
        legend=alt.Legend(
            orient="bottom", direction="horizontal", gradientLength=320, titleLimit=320, values=[0, 25, 50, 75, 100]
        ),
    )
    tooltip = [
        alt.Tooltip("name:N", title="where"),
        alt.Tooltip("delay:Q", title="delays, µs", format=",.2f"),
        alt.Tooltip("relative:Q", title="most loaded = 100", format=".1f"),
        alt.Tooltip("packets:Q", title="packets in the window", format=",d"),
    ]
    wide = f"datum.x2 - datum.x >= {DIGITS}"
    squares = base.mark_rect(stroke="#9a9a9a").encode(
        x=x,
        x2="x2:Q",
        y=y,
        y2="y2:Q",
        color=heat,
        strokeWidth=alt.condition(wide, alt.value(0.6), alt.value(0.2)),
        tooltip=tooltip,
    )
    numbers = (
        base.transform_filter(wide)
        .transform_calculate(size=f"datum.kind == 'switch' && datum.x2 - datum.x >= {2 * DIGITS} ? 13 : 9")
        .mark_text(baseline="middle")
        .encode(
            x="centre:Q",
            y="middle:Q",
            text=alt.Text("relative:Q", format=".0f"),
            size=alt.Size("size:Q", scale=None, legend=None),
            color=alt.condition("datum.relative > 55", alt.value("#ffffff"), alt.value("#1b1f24")),
            tooltip=tooltip,
        )
    )
    rows = alt.Chart(labels).encode(x="x:Q", y="y:Q", text="text:N")
    names = [
        rows.transform_filter(alt.FieldEqualPredicate(field="align", equal=align)).mark_text(
            align=align, baseline="middle", color=RULE, fontSize=11
        )
        for align in ("left", "center")
    ]
    head = (
        alt.Chart(pl.DataFrame({"moments": [moments], "x": [float(LEFT)], "y": [HEAD / 3]}))
        .transform_calculate(text=f"datum.moments[{moment.name} - 1]")
        .mark_text(align="left", baseline="middle", color=RULE, fontSize=13)
        .encode(x="x:Q", y="y:Q", text="text:N")
    )
    return layered(title, [squares, numbers, *names, head], WIDTH, height).add_params(moment)


def _layout(matrix: Matrix) -> tuple[pl.DataFrame, pl.DataFrame, int]:
    """The place of every switch and link (a group has one place), the labels, and the total height."""
    members: list[pl.DataFrame] = []
    labels: list[tuple[float, float, str, str]] = []
    top = HEAD
    for level in matrix.switches["level"].unique().sort(descending=True).to_list():
        switches = matrix.switches.filter(pl.col("level") == level)
        links = matrix.links.filter(pl.col("level") == level)
        rows = (
            ("up", links.filter(pl.col("up")), SQUARE),
            (f"level {level}", switches, CENTRE),
            ("down", links.filter(~pl.col("up")), SQUARE),
        )
        for label, row, height in rows:
            if row.is_empty():
                continue
            placed = _row(row, switches).with_columns(y=pl.lit(float(top)), y2=pl.lit(float(top + height)))
            members.append(placed)
            labels.append((6.0, top + height / 2, label, "left"))
            top += height
            if level == 1 and label == "down":
                labels += _nodes(placed, top)
        top += GAP
    schema = {"x": pl.Float64, "y": pl.Float64, "text": pl.String, "align": pl.String}
    return pl.concat(members), pl.DataFrame(labels, schema=schema, orient="row"), top


def _row(row: pl.DataFrame, switches: pl.DataFrame) -> pl.DataFrame:
    """The places of a row of links in one direction, or of the switches themselves, from left to right."""
    group = -(-len(switches) // MOST_BLOCKS)
    blocks = -(-len(switches) // group)
    links = "link" in row.columns
    inside = len(row) // len(switches) * group if links else group
    squares = min(inside, MOST_SQUARES // blocks) if links else 1
    share = -(-inside // squares)
    pitch = (WIDTH - LEFT) / blocks
    gap = min(8.0, pitch * 0.1)
    width = (pitch - gap) / -(-inside // share)
    named = pl.format("{} → {}", "from", "to") if links else pl.col("name")
    return (
        row.select(
            kind=pl.lit("link" if links else "switch"),
            id=pl.col("link" if links else "switch"),
            name=named,
            packets="packets",
            waiting_us="waiting_us",
            block=(pl.col("switch") - switches["switch"].min()) // group,
        )
        .with_columns(
            x=LEFT + pl.col("block") * pitch + pl.int_range(pl.len()).over("block") // share * width,
        )
        .with_columns(x2=pl.col("x") + width)
    )


def _nodes(placed: pl.DataFrame, top: int) -> list[tuple[float, float, str, str]]:
    """The nodes below each block of the first level, as labels, if there is room for them."""
    node = pl.col("name").str.split("node ").list.last()
    spans = placed.group_by("block", maintain_order=True).agg(
        pl.col("x").min(), pl.col("x2").max(), first=node.first(), last=node.last()
    )
    found = [
        ((row["x"] + row["x2"]) / 2, top + 11.0, f"{row['first']}-{row['last']}", "center")
        for row in spans.iter_rows(named=True)
        if row["x2"] - row["x"] >= 3 * DIGITS
    ]
    return [(6.0, top + 11.0, "nodes", "left"), *found] if found else []


def _parts(members: pl.DataFrame, matrix: Matrix) -> pl.DataFrame:
    """The data of the picture, one row per square, with the highest delay of its members at every moment."""
    place = ["kind", "x", "x2", "y", "y2"]
    parts = members.group_by(place, maintain_order=True).agg(
        pl.col("id"),
        pl.col("packets").sum(),
        window=pl.col("waiting_us").max(),
        first=pl.col("name").first(),
        last=pl.col("name").last(),
        hottest=pl.col("name").get(pl.col("waiting_us").arg_max()),
        size=pl.len(),
    )
    group = pl.format("{} … {}, {} together; in the window the hottest is {}", "first", "last", "size", "hottest")
    parts = parts.with_columns(name=pl.when(pl.col("size") > 1).then(group).otherwise("first")).with_row_index("part")
    delays = [[0.0] * matrix.slice_count + [round(window, 2)] for window in parts["window"].to_list()]
    owner = parts.select("part", "kind", "id").explode("id")
    links = matrix.slices.select("slice", "waiting_us", kind=pl.lit("link"), id="link")
    switches = matrix.slices.group_by("slice", "switch").agg(pl.col("waiting_us").sum())
    switches = switches.select("slice", "waiting_us", kind=pl.lit("switch"), id="switch")
    sums = pl.concat([links, switches]).join(owner, on=["kind", "id"])
    for part, slice_, most in sums.group_by("part", "slice").agg(pl.col("waiting_us").max()).iter_rows():
        delays[part][slice_] = round(most, 2)
    return parts.select(*place, "name", "packets").with_columns(delays=pl.Series(delays, dtype=pl.List(pl.Float64)))


def _most(matrix: Matrix) -> dict[str, list[float]]:
    """The delays that are 100 at every moment, in us, of links and of switches."""
    by_switch = matrix.slices.group_by("slice", "switch").agg(pl.col("waiting_us").sum())
    tables = {"link": (matrix.slices, matrix.links), "switch": (by_switch, matrix.switches)}
    found = {}
    for kind, (slices, window) in tables.items():
        sums = [slices["waiting_us"]] * matrix.slice_count + [window["waiting_us"]]
        found[kind] = [max([0.0, *values.top_k(1).to_list()]) or 1.0 for values in sums]
    return found
