"""Petrini2001's deadlock: broadcasts that wait for each other in a cycle, and serialised ones,
which do not.

This module lays out the picture in pixels, as in ``elanite.figures.matrix``. A short cycle's
packets stand on an ellipse, and an arrow leads from each packet to the packet that holds the
awaited channel. A long cycle is a list.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, TypedDict

import altair as alt
import polars as pl

from elanite.base.rows import rows as rows_of
from elanite.figures import grouping
from elanite.figures.style import FORMAT, HOT, Figure, colour, layered, pixels
from elanite.figures.table import LESS
from elanite.results.frames import padded, summarise

if TYPE_CHECKING:
    from collections.abc import Iterator

    from elanite.figures.curves import Layers

WIDTH, HEIGHT = 1180, 300
"""A short cycle's picture size in pixels."""

RADIUS = 320
"""Half the ellipse's width, which leaves room for words on its sides."""

ROOM = 40
"""Half the ellipse's height for each packet in the cycle, so that boxes do not overlap."""

CIRCLE = 8
"""Packets in the longest cycle that is drawn as a circle."""

ROW = 22
"""Row height in a long cycle's list."""

COLUMNS = (10, 430, 890)
"""The list columns' starts: a packet, its wait, and the packet that holds the awaited channel."""

BOX, TALL = 230, 66
"""Size of a packet's box."""

LINE = 16
"""Height of a text line."""

SAMPLES = 90
"""Points on an arrow."""

ROOTS = {
    "unchanged": "serialised through one root switch",
    "switch.broadcast=by-source": "each through its own root switch",
}
"""How broadcasts climb, by the machine's change."""


Packet = TypedDict(
    "Packet",
    {
        "id": str,
        "machine": str,
        "groups": int,
        "seed": int,
        "source": int,
        "sequence": int,
        "first": int,
        "last": int,
        "holder_source": int,
        "link": int | None,
        "channel": int | None,
        "from": str | None,
        "to": str | None,
        "switch_name": str | None,
    },
)
"""A packet that waits, in the deadlock table for several runs."""

Row = dict[str, float | str]
"""A picture's part: its place in pixels, and its text."""


def draw(rows: pl.DataFrame) -> Iterator[Figure]:
    """A call's time if all calls complete, and the cases with a deadlock."""
    rows = padded(rows, job=pl.String).filter(pl.col("job").is_null())
    rows = rows.with_columns(roots=pl.col("machine").replace(ROOTS))
    yield from grouping.part_figures(rows, ("machine", "groups"), _draw)


def _draw(rows: pl.DataFrame) -> Iterator[Figure]:
    ended = (
        rows.filter(pl.col("metric") == "deadlock")
        .group_by("roots", "groups", maintain_order=True)
        .agg(deadlocks=pl.col("value").sum(), runs=pl.len())
    )
    if ended.is_empty():
        return
    latency = summarise(rows.filter(pl.col("metric") == "latency"), ["roots", "groups"])
    means = latency.select("roots", "groups", at="mean")
    stuck = (
        ended.filter(pl.col("deadlocks") > 0)
        .join(means, on=["roots", "groups"], how="left", maintain_order="left")
        .with_columns(
            text=pl.format("deadlock: {} of {} runs", pl.col("deadlocks").cast(int), "runs"),
            on_bar=pl.col("at").is_not_null(),
            foot=pl.lit(0.0),
        )
    )
    order = ended["roots"].unique(maintain_order=True).to_list()
    title = "Broadcasts at the same time: completed and deadlocked runs"
    x = alt.X(
        "groups:O", title="groups that broadcast at the same time", axis=alt.Axis(labelAngle=0)
    )
    offset = alt.XOffset("roots:N", sort=order)
    color = colour("roots", order, "broadcasts climb")
    bars = (
        alt.Chart(latency)
        .mark_bar()
        .encode(
            x=x,
            xOffset=offset,
            y=alt.Y("mean:Q", title="mean time of a call, µs"),
            color=color,
            tooltip=[
                alt.Tooltip("roots"),
                alt.Tooltip("groups"),
                alt.Tooltip("mean:Q", format=FORMAT),
            ],
        )
    )
    figures = (
        alt.Chart(latency)
        .mark_text(baseline="bottom", dy=-3)
        .encode(x=x, xOffset=offset, y=alt.Y("mean:Q"), text=alt.Text("mean:Q", format=".0f"))
    )
    layers: Layers = [bars, figures]
    if not stuck.is_empty():
        # Upright in the bar's column; its neighbours may be higher.
        words = alt.Chart(stuck).mark_text(
            angle=270, align="left", dx=6, fontWeight="bold", fontSize=12
        )
        tone = alt.condition("datum.on_bar", alt.value("white"), alt.value(HOT))
        layers.append(
            words.encode(
                x=x, xOffset=offset, y=alt.Y("foot:Q"), text=alt.Text("text:N"), color=tone
            )
        )
    caption = (
        f"Groups of {rows['nodes'][0]} nodes, each with another root, broadcast"
        f" {rows['message'][0]} again and again, among {rows['background.pattern'][0]} traffic;"
        " bars are means of the runs that complete. Serialised, all calls complete; otherwise the"
        " broadcasts of several roots may wait for each other for ever."
    )
    yield Figure("completion", title, "", caption, layered(title, layers))


def cycles(table: pl.DataFrame) -> Iterator[Figure]:
    """Each deadlock's cycle: its packets, with each one's held and awaited channel."""
    for (_,), here in table.group_by("id", maintain_order=True):
        waits = rows_of(here.filter(pl.col("step").is_not_null()).sort("step"), Packet)
        held = here.filter(pl.col("step").is_null()).group_by("source", "sequence").len()
        yield _cycle(
            waits, {(source, sequence): count for source, sequence, count in held.iter_rows()}
        )


def _cycle(waits: list[Packet], held: dict[tuple[int, int], int]) -> Figure:
    first = waits[0]
    groups = first["groups"]
    title = (
        f"Deadlock: the cycle of {len(waits)} packets that wait for each other, {groups} groups,"
        f" seed {first['seed']}"
    )
    packets = ", ".join(str(wait["source"]) for wait in waits)
    roots = ROOTS.get(first["machine"], first["machine"])
    circle = len(waits) <= CIRCLE
    how = (
        "A box is a packet with the channels of links that it holds, up and down its tree as far as"
        " this is set up. An arrow leads to the packet that it waits for, and says where and for"
        " which channel."
        if circle
        else (
            "A row is a packet with the channels of links that it has, up and down its tree as far"
            " as that is set up; then the place and the channel for which it waits, and the packet"
            " that holds this channel, in the next row."
        )
    )
    caption = (
        f"{groups} groups broadcast at the same time, {roots}. {how} Each packet waits for the"
        " next, and the last for the first, so that none ever goes on: the packets of nodes"
        f" {packets}. Switches are named by level and number."
    )
    chart = _picture(waits, held, title) if circle else _list(waits, held, title)
    data = pl.DataFrame(
        [
            {"packet": "; ".join(_packet(wait, held)), "waits": " ".join(_waits(wait))}
            for wait in waits
        ]
    )
    return Figure(f"cycle-{first['id'][:8]}", title, "", caption, chart, wide=True, data=data)


def _list(waits: list[Packet], held: dict[tuple[int, int], int], title: str) -> alt.LayerChart:
    """A row for each packet in the cycle, in its order."""
    words = []
    for row, wait in enumerate(waits):
        where, *which = _waits(wait)
        texts = ("; ".join(_packet(wait, held)), " ".join([where, *which[:-1]]), which[-1])
        words += [
            {"x": x, "y": ROW * (row + 0.5), "text": text}
            for x, text in zip(COLUMNS, texts, strict=True)
        ]
    height = ROW * len(waits)
    x, y = pixels(WIDTH, height)
    text = alt.Chart(pl.DataFrame(words)).mark_text(align="left", baseline="middle", fontSize=12)
    rules = pl.DataFrame({"y": [float(ROW * row) for row in range(1, len(waits))]})
    lines = alt.Chart(rules).mark_rule(color=LESS)
    return layered(
        title, [lines.encode(y=y), text.encode(x=x, y=y, text=alt.Text("text:N"))], WIDTH, height
    )


def _picture(waits: list[Packet], held: dict[tuple[int, int], int], title: str) -> alt.LayerChart:
    count = len(waits)
    tall = max(HEIGHT / 2 - TALL - 2 * LINE, ROOM * count)
    height = 2 * (tall + TALL + LINE)
    middle = (WIDTH / 2, height / 2)

    def place(angle: float, further: float = 0.0) -> tuple[float, float]:
        return middle[0] + (RADIUS + further) * math.cos(angle), middle[1] + (
            tall + further
        ) * math.sin(angle)

    # The first packet stands on the left, and the others follow clockwise.
    angles = [math.pi + 2 * math.pi * step / count for step in range(count)]
    boxes = [
        {"x": x - BOX / 2, "x2": x + BOX / 2, "y": y - TALL / 2, "y2": y + TALL / 2}
        for x, y in map(place, angles)
    ]
    words: list[Row] = []
    arrows: list[Row] = []
    heads: list[Row] = []
    for step, (wait, angle, box) in enumerate(zip(waits, angles, boxes, strict=True)):
        words += _lines(
            _packet(wait, held), (box["x"] + BOX / 2, box["y"] + TALL / 2), "center", "box"
        )
        path = [
            place(angle + 2 * math.pi * sample / (count * SAMPLES)) for sample in range(SAMPLES + 1)
        ]
        path = [point for point in path if not any(_inside(point, other) for other in boxes)]
        arrows += [
            {"step": step, "order": order, "x": x, "y": y} for order, (x, y) in enumerate(path)
        ]
        (x1, y1), (x2, y2) = path[-3], path[-1]
        heads.append({"x": x2, "y": y2, "angle": math.degrees(math.atan2(y2 - y1, x2 - x1)) + 90})
        half = angle + math.pi / count
        side = math.cos(half)
        align = "center" if abs(side) < 0.2 else "left" if side > 0 else "right"
        # Words in three lines, to the side of the arrow or above or below it.
        words += _lines(
            _waits(wait), place(half, 18 + 1.5 * LINE * abs(math.sin(half))), align, "arrow"
        )

    x, y = pixels(WIDTH, height)
    layers: Layers = [
        alt.Chart(pl.DataFrame(arrows))
        .mark_line(color=HOT, strokeWidth=2)
        .encode(x=x, y=y, order=alt.Order("order:Q"), detail=alt.Detail("step:N")),
        alt.Chart(pl.DataFrame(heads))
        .mark_point(shape="triangle", filled=True, size=160, color=HOT, opacity=1)
        .encode(x=x, y=y, angle=alt.Angle("angle:Q", scale=None)),
        alt.Chart(pl.DataFrame(boxes))
        .mark_rect(fill=LESS, stroke=HOT, cornerRadius=8)
        .encode(x=x, x2=alt.X2("x2:Q"), y=y, y2=alt.Y2("y2:Q")),
    ]
    text = alt.Chart(pl.DataFrame(words)).encode(x=x, y=y, text=alt.Text("text:N"))
    for kind, align in (
        ("box", "center"),
        ("arrow", "left"),
        ("arrow", "center"),
        ("arrow", "right"),
    ):
        here = text.transform_filter(f"datum.kind == '{kind}' && datum.align == '{align}'")
        # Words on a tint are black in light and dark; all others have the page's text colour.
        color = "black" if kind == "box" else alt.Undefined
        layers.append(
            here.mark_text(align=_ALIGN[align], baseline="middle", color=color, fontSize=12)
        )
    return layered(title, layers, WIDTH, height)


_ALIGN: dict[str, Literal["left", "center", "right"]] = {
    "left": "left",
    "center": "center",
    "right": "right",
}


def _inside(point: tuple[float, float], box: dict[str, float], margin: float = 7.0) -> bool:
    x, y = point
    return box["x"] - margin < x < box["x2"] + margin and box["y"] - margin < y < box["y2"] + margin


def _lines(lines: list[str], place: tuple[float, float], align: str, kind: str) -> list[Row]:
    x, y = place
    top = y - LINE * (len(lines) - 1) / 2
    return [
        {"x": x, "y": top + LINE * index, "text": line, "align": align, "kind": kind}
        for index, line in enumerate(lines)
    ]


def _packet(wait: Packet, held: dict[tuple[int, int], int]) -> list[str]:
    """A packet, and the channels that it holds."""
    return [
        f"packet {wait['sequence']} of node {wait['source']}",
        f"to nodes {wait['first']} to {wait['last']}",
        f"holds {held.get((wait['source'], wait['sequence']), 0)} channels",
    ]


def _waits(wait: Packet) -> list[str]:
    """A packet's awaited channel, and the packet that holds it."""
    holder = f"which the packet of node {wait['holder_source']} holds"
    if wait["link"] is None:
        return [f"waits for its turn at {wait['switch_name']},", holder.replace("holds", "has")]
    return [
        f"waits at {wait['from']} for channel {wait['channel']}",
        f"of the link to {wait['to']},",
        holder,
    ]
