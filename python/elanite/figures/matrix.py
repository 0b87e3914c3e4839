"""The congestion matrix as the picture of figure 15 of petrini2003, for any network.

Every level of switches has a row of blocks, the top level first. A block is a switch: the squares above are its links
to the level above, the squares below its links to the level below, and the square between them is the switch itself. A
hotter square is darker. There are two pictures. Of the *delays*, as in the paper: each square is a link by which
packets come in, and the links that enter nodes have a row below. Of the *waits*: each square is a link by which packets
leave. A run with slices gets a slider: first each slice of time, relative to the hottest slice, and at its end the
measured window.

Networks without levels, such as a torus or a dragonfly, have one row of switches. Their links have a row for each kind
below the switches: by dimension, local and global ones, and those of nodes.

If a level has more switches or links than there is room for, groups of neighbours share a square with the highest
figure of the group, so that averages hide no hot link. Squares without room for a number have only a colour.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from elanite.base.text import number
from elanite.figures.style import BUILDS_UP, FORMAT, RULE, Figure, layered, pixels
from elanite.results.congestion import HEAT

if TYPE_CHECKING:
    from elanite.results.congestion import Matrix

MOST_BLOCKS, MOST_SQUARES = 64, 256
"""The numbers of switches, and of links in one direction, for which a row has room."""

LEAVING = "links that leave switches"
"""The links of the picture of the waits."""

BACKLOG = (
    "Links from nodes have no square: packets wait for them in the adapters, and this backlog is no congestion of the"
    " network."
)
"""The caption of the picture of the waits."""

WIDTH, LEFT = 1180, 70
"""Width of the picture, and of the names of its rows, in pixels; so are the heights below."""
HEAD, SQUARE, CENTRE, GAP = 28, 21, 27, 30

DIGITS = 15
"""Width of a square that has room for three digits."""


@dataclass(frozen=True)
class View:
    """The numbers of a matrix that one picture shows. All frames have the time in ``us``."""

    links: pl.DataFrame
    """The links of switches: ``link``, ``name``, ``packets``, ``us``, the ``switch`` and its ``level``, whether the
    link is drawn ``above`` it, and its ``kind`` (see ``kinds``)."""
    ends: pl.DataFrame
    """The links that enter nodes, with the switch that they leave, if they have a row of their own."""
    switches: pl.DataFrame
    """``switch``, ``level``, ``name``, ``packets``, ``us``."""
    slices: pl.DataFrame
    """``slice``, ``link``, ``switch``, ``us``."""
    rows: tuple[str, str]
    """The names of the rows above and below the switches."""
    says: str
    """What the caption says of the numbers."""
    matrix: Matrix
    flat: bool = False
    """Whether the network has no levels: links have a row for each kind."""


_KINDS = "^(nodes|local|global|dimension .*)$"

_KIND = (
    pl.col("way")
    .str.replace("^(from|to) the nodes.*", "nodes")
    .str.replace("^.*within groups$", "local")
    .str.replace("^.*between groups$", "global")
    .str.replace("^.*along (dimension .*)$", "$1")
    .pipe(lambda kind: pl.when(kind.str.contains(_KINDS)).then(kind).otherwise(pl.lit("links")))
)
"""The kind of a link, whatever its direction: ``nodes``, ``local``, ``global``, ``dimension 1``."""


def flat(matrix: Matrix) -> bool:
    """Whether switches of one level are connected with one another, as in a torus or a dragonfly: no up or down."""
    return matrix.links.filter(pl.col("level") == pl.col("enters_level")).height > 0


def _flat_words(matrix: Matrix, numbers: str) -> str:
    ordered = matrix.switches.sort("switch")["name"].to_list()
    names = [str(name).removeprefix("switch ") for name in ordered]
    group = -(-len(names) // MOST_BLOCKS)
    column = "A column is a switch with its links" if group == 1 else f"A column is {group} switches with their links"
    few = names if len(names) <= 5 else [*names[:3], f"… to {names[-1]}"]
    return f"{column}, a row for each kind of links. From left to right, the switches are {'; '.join(few)}. {numbers}"


def draw(matrix: Matrix, name: str, title: str, paper: str = "", parameters: str = "") -> list[Figure]:
    """The pictures of the delays and of the waits of a matrix; ``parameters`` describe the traffic in the captions."""
    waits = (f"{name}-waits", f"{title}, waits for {LEAVING}", "")
    views = zip(((name, title, paper), waits), (of_delays(matrix), of_waits(matrix)), strict=True)
    return [_figure(view, *texts, parameters) for texts, view in views]


def of_delays(matrix: Matrix) -> View:
    """What packets have waited since their injection, at the port by which they come in."""
    named = matrix.links.select(
        *("link", "packets", "switch", "level", "enters", "enters_level"),
        name=pl.format("{} → {}", "from", "to"),
        kind=_KIND,
        us="delay_us",
        above=~pl.col("up"),
    )
    entering = named.drop_nulls("enters").drop("switch", "level")
    return View(
        links=entering.rename({"enters": "switch", "enters_level": "level"}).sort("switch", "link"),
        ends=named.filter(pl.col("enters").is_null()),
        switches=matrix.switches.select("switch", "level", "name", "packets", us="delay_us"),
        slices=matrix.slices.select("slice", "link", switch="enters", us="delay_us"),
        rows=("from above", "from below"),
        flat=flat(matrix),
        says=_flat_words(
            matrix,
            "A square is a link that enters the switch; the last row has the links that enter nodes. The number of a"
            " link is the sum of the delays with which packets come in by this link: what they have waited since their"
            " injection. The number of a switch is the sum over its links.",
        )
        if flat(matrix)
        else (
            "Links that come in from above are above the switch, links that come in from below are below; the last row"
            " has the links that enter nodes. The number of a link is the sum of the delays with which packets come in"
            " by this link: what they have waited since their injection, at their node and at all switches on their"
            " way. The number of a switch is the sum over its links."
        ),
        matrix=matrix,
    )


def of_waits(matrix: Matrix) -> View:
    """What packets have waited for each link that leaves a switch."""
    links = matrix.links.drop_nulls("switch")
    return View(
        links=links.select(
            *("link", "packets", "switch", "level"),
            name=pl.format("{} → {}", "from", "to"),
            kind=_KIND,
            us="waiting_us",
            above="up",
        ),
        ends=links.clear(),
        switches=matrix.switches.select("switch", "level", "name", "packets", us="waiting_us"),
        slices=matrix.slices.drop_nulls("switch").select("slice", "link", "switch", us="waiting_us"),
        rows=("up", "down"),
        flat=flat(matrix),
        says=_flat_words(
            matrix,
            "A square is a link that leaves the switch. The number of a link is the sum of the times that packets"
            f" waited for this link; the number of a switch is the sum over its links. {BACKLOG}",
        )
        if flat(matrix)
        else (
            "Links upwards are above the switch, links downwards are below; those of the first level lead to the"
            " nodes. The number of a link is the sum of the times that packets waited for this link; the number of a"
            f" switch is the sum over its links. {BACKLOG} The delays of the other picture are the sums of the waits"
            " along the way of each packet, for the link from its node, too."
        ),
        matrix=matrix,
    )


def _figure(view: View, name: str, title: str, paper: str, parameters: str) -> Figure:
    caption = f"{blocks(view)}{view.says} The most loaded link in the picture and the most loaded switch have 100."
    if view.matrix.slice_count:
        caption += f" {BUILDS_UP}"
    if view.matrix.failed:
        caption += " A cross in place of a number marks links that were down in the run."
    if parameters:
        caption += f" Parameters: {parameters}."
    return Figure(name, title, paper, caption, _chart(view, name, title), wide=True, data=_told(view))


def blocks(view: View) -> str:
    """The sentence on blocks and rows of a network with levels."""
    return "" if view.flat else "A block is a switch, and a row is a level. "


def _chart(view: View, name: str, title: str) -> alt.LayerChart:
    matrix = view.matrix
    members, labels, height = layout(view)
    # The moments that the slider shows; a Vega expression picks the one from the lists below.
    moments = moments_of(matrix)
    moment = alt.param(name="moment_" + "".join(c if c.isalnum() else "_" for c in name), value=len(moments))
    if matrix.slice_count:
        slider = alt.binding_range(min=1, max=len(moments), step=1, name="time slice, then the measured window ")
        moment = alt.param(name=moment.name, value=len(moments), bind=slider)
    most = json.dumps(_most(view))

    x, y = pixels(WIDTH, height)
    base = (
        alt.Chart(parts_of(members, view))
        .transform_calculate(delay=f"datum.delays[{moment.name} - 1]")
        .transform_calculate(relative=f"100 * datum.delay / {most}[datum.kind][{moment.name} - 1]")
        .transform_calculate(centre="(datum.x + datum.x2) / 2", middle="(datum.y + datum.y2) / 2")
    )
    heat = alt.Color(
        "relative:Q",
        title="sum, most loaded = 100",
        scale=alt.Scale(domain=[0, 100], range=HEAT),
        legend=alt.Legend(
            orient="bottom", direction="horizontal", gradientLength=320, titleLimit=320, values=[0, 25, 50, 75, 100]
        ),
    )
    tooltip = [
        alt.Tooltip("name:N", title="where"),
        alt.Tooltip("delay:Q", title="sum, µs", format=FORMAT),
        alt.Tooltip("relative:Q", title="most loaded = 100", format=FORMAT),
        alt.Tooltip("packets:Q", title="packets in the window", format=",d"),
    ]
    squares = base.mark_rect(stroke="#9a9a9a").encode(
        x=x,
        x2=alt.X2("x2:Q"),
        y=y,
        y2=alt.Y2("y2:Q"),
        color=heat,
        strokeWidth=alt.condition(_WIDE, alt.value(0.6), alt.value(0.2)),
        tooltip=tooltip,
    )
    rows = alt.Chart(labels).encode(x=alt.X("x:Q"), y=alt.Y("y:Q"), text=alt.Text("text:N"))
    names = [
        rows.transform_filter(alt.FieldEqualPredicate(field="align", equal=align)).mark_text(
            align=align, baseline="middle", color=RULE, fontSize=11
        )
        for align in ("left", "center")
    ]
    layers = [squares, _numbers(base, tooltip), *names, _head(moments, moment.name)]
    if matrix.failed:
        crosses = base.transform_filter("datum.failed").mark_point(
            shape="cross", angle=45, size=90, filled=False, strokeWidth=2, color=RULE
        )
        layers.insert(1, crosses.encode(x=alt.X("centre:Q"), y=alt.Y("middle:Q"), tooltip=tooltip))
    return layered(title, layers, WIDTH, height).add_params(moment)


_WIDE = f"datum.x2 - datum.x >= {DIGITS}"
"""Vega expression: whether a square has room for digits."""


def _numbers(base: alt.Chart, tooltip: list[alt.Tooltip]) -> alt.Chart:
    """The sums as numbers in their squares."""
    found: alt.Chart = (
        base.transform_filter(f"{_WIDE} && !datum.failed")
        .transform_calculate(size=f"datum.kind == 'switch' && datum.x2 - datum.x >= {2 * DIGITS} ? 13 : 9")
        .mark_text(baseline="middle")
        .encode(
            x=alt.X("centre:Q"),
            y=alt.Y("middle:Q"),
            text=alt.Text("relative:Q", format=".0f"),
            size=alt.Size("size:Q", scale=None, legend=None),
            color=alt.condition("datum.relative > 55", alt.value("#ffffff"), alt.value("#1b1f24")),
            tooltip=tooltip,
        )
    )
    return found


def _head(moments: list[str], chosen: str) -> alt.Chart:
    """The name of the moment that the slider has chosen."""
    found: alt.Chart = (
        alt.Chart(pl.DataFrame({"moments": [moments], "x": [float(LEFT)], "y": [HEAD / 3]}))
        .transform_calculate(text=f"datum.moments[{chosen} - 1]")
        .mark_text(align="left", baseline="middle", color=RULE, fontSize=13)
        .encode(x=alt.X("x:Q"), y=alt.Y("y:Q"), text=alt.Text("text:N"))
    )
    return found


def moments_of(matrix: Matrix) -> list[str]:
    """The names of the slices of time, and of the measured window."""
    ends = [number(matrix.slice_us * index / 1000) for index in range(matrix.slice_count + 1)]
    last = "measured window" if matrix.window[0] > 0 else "entire run"
    begin, end = (number(each / 1000) for each in matrix.window)
    return [f"{one} to {two} ms" for one, two in pairwise(ends)] + [f"{last}, {begin} to {end} ms"]


def _told(view: View) -> pl.DataFrame:
    """The figures of the measured window, as a table for readers: links, then switches."""
    links = pl.concat([part.select("name", "packets", "us") for part in (view.links, view.ends) if len(part)])
    parts = [links, view.switches.select("name", "packets", "us")]
    share = 100 * pl.col("us") / pl.max_horizontal(pl.col("us").max(), 1e-9)
    named = [part.sort("us", descending=True).with_columns(relative=share) for part in parts]
    return pl.concat(named).select(
        pl.col("name").alias("where"),
        pl.col("us").alias("sum, µs"),
        pl.col("relative").round(1).alias("most loaded = 100"),
        pl.col("packets").alias("packets in the window"),
    )


@dataclass(frozen=True)
class Scene:
    """The picture of the delays at every moment, for those who draw it themselves. Lengths are in pixels."""

    squares: pl.DataFrame
    """``x``, ``x2``, ``y``, ``y2``, ``name``, ``kind``, and ``relative``, the list of the figures of all moments."""
    labels: pl.DataFrame
    """``x``, ``y``, ``text``, and ``align`` (left or center)."""
    moments: list[str]
    width: int
    height: int


def scene(matrix: Matrix) -> Scene:
    """The picture of the delays of a matrix, at every moment that it knows."""
    view = of_delays(matrix)
    members, labels, height = layout(view)
    most = _most(view)
    parts = parts_of(members, view)
    relative = [
        [100 * delay / most[kind][moment] for moment, delay in enumerate(delays)]
        for kind, delays in parts.select("kind", "delays").iter_rows()
    ]
    squares = parts.select("x", "x2", "y", "y2", "name", "kind").with_columns(
        relative=pl.Series(relative, dtype=pl.List(pl.Float64))
    )
    return Scene(squares, labels, moments_of(matrix), WIDTH, height)


def layout(view: View) -> tuple[pl.DataFrame, pl.DataFrame, int]:
    """The place of every switch and link (a group has one place), the labels, and the total height."""
    members: list[pl.DataFrame] = []
    labels: list[tuple[float, float, str, str]] = []
    top = HEAD
    above, below = view.rows
    lowest = view.switches["level"].min()
    for level in view.switches["level"].unique().sort(descending=True).to_list():
        switches = view.switches.filter(pl.col("level") == level)
        links = view.links.filter(pl.col("level") == level)
        rows = [
            (above, links.filter(pl.col("above")), SQUARE),
            (f"level {level}", switches, CENTRE),
            (below, links.filter(~pl.col("above")), SQUARE),
        ]
        if view.flat:
            kinds = sorted(links["kind"].unique())
            node = "from nodes" if len(view.ends) else "to nodes"
            of_kinds = (
                (node if kind == "nodes" else kind, links.filter(pl.col("kind") == kind), SQUARE) for kind in kinds
            )
            several = view.switches["level"].n_unique() > 1
            rows = [(f"level {level}" if several else "switches", switches, CENTRE), *of_kinds]
        if level == lowest:
            rows.append(("at nodes", view.ends, SQUARE))
        rows = [row for row in rows if not row[1].is_empty()]
        for label, row, height in rows:
            placed = _row(row, switches).with_columns(y=pl.lit(float(top)), y2=pl.lit(float(top + height)))
            members.append(placed)
            labels.append((6.0, top + height / 2, label, "left"))
            top += height
        if level == lowest:
            labels += _nodes(members[-1], top)
        top += GAP
    schema = {"x": pl.Float64, "y": pl.Float64, "text": pl.String, "align": pl.String}
    return pl.concat(members), pl.DataFrame(labels, schema=schema, orient="row"), top


def _row(row: pl.DataFrame, switches: pl.DataFrame) -> pl.DataFrame:
    """The places of a row of links in one direction, or of the switches themselves, from left to right."""
    group = -(-len(switches) // MOST_BLOCKS)
    blocks = -(-len(switches) // group)
    links = "link" in row.columns
    # The switches of a graph may have different numbers of links, and numbers with gaps.
    order = {switch: place for place, switch in enumerate(switches["switch"].sort().to_list())}
    block = pl.col("switch").replace_strict(order, return_dtype=pl.Int64) // group
    inside = max(row.select(block)["switch"].value_counts()["count"].to_list()) if links else group
    squares = min(inside, MOST_SQUARES // blocks) if links else 1
    share = -(-inside // squares)
    pitch = (WIDTH - LEFT) / blocks
    gap = min(8.0, pitch * 0.1)
    width = (pitch - gap) / -(-inside // share)
    return (
        row.select(
            "name",
            "packets",
            "us",
            kind=pl.lit("link" if links else "switch"),
            id=pl.col("link" if links else "switch"),
            block=block,
        )
        .with_columns(
            x=LEFT + pl.col("block") * pitch + pl.int_range(pl.len()).over("block") // share * width,
        )
        .with_columns(x2=pl.col("x") + width)
    )


def _nodes(placed: pl.DataFrame, top: int) -> list[tuple[float, float, str, str]]:
    """The nodes below each block of the first level, as labels, if there is room for them."""
    node = pl.col("name").str.split("node ").list.last()
    at_nodes = placed.filter(pl.col("name").str.contains("node "))
    spans = at_nodes.group_by("block", maintain_order=True).agg(
        pl.col("x").min(), pl.col("x2").max(), first=node.first(), last=node.last()
    )
    found = [
        ((row["x"] + row["x2"]) / 2, top + 11.0, _span(row["first"], row["last"]), "center")
        for row in spans.iter_rows(named=True)
        if row["x2"] - row["x"] >= 3 * DIGITS
    ]
    return [(6.0, top + 11.0, "nodes", "left"), *found] if found else []


def _span(first: int, last: int) -> str:
    """The numbers of the nodes of a switch."""
    return str(first) if first == last else f"{first}-{last}"


def parts_of(members: pl.DataFrame, view: View) -> pl.DataFrame:
    """The data of the picture, one row per square, with the highest figure of its members at every moment."""
    place = ["kind", "x", "x2", "y", "y2"]
    parts = members.group_by(place, maintain_order=True).agg(
        pl.col("id"),
        pl.col("packets").sum(),
        window=pl.col("us").max(),
        first=pl.col("name").first(),
        last=pl.col("name").last(),
        hottest=pl.col("name").get(pl.col("us").arg_max()),
        size=pl.len(),
    )
    group = pl.format("{} … {}, {} together; in the window the hottest is {}", "first", "last", "size", "hottest")
    parts = parts.with_columns(name=pl.when(pl.col("size") > 1).then(group).otherwise("first")).with_row_index("part")
    delays = [[0.0] * view.matrix.slice_count + [_short(window)] for window in parts["window"].to_list()]
    owner = parts.select("part", "kind", "id").explode("id")
    links = view.slices.select("slice", "us", kind=pl.lit("link"), id="link")
    switches = _by_switch(view).select("slice", "us", kind=pl.lit("switch"), id="switch")
    sums = pl.concat([links, switches]).join(owner, on=["kind", "id"])
    for part, slice_, most in sums.group_by("part", "slice").agg(pl.col("us").max()).iter_rows():
        delays[part][slice_] = _short(most)
    kept = parts.select(*place, "name", "packets").with_columns(delays=pl.Series(delays, dtype=pl.List(pl.Float64)))
    if not view.matrix.failed:
        return kept
    down = pl.element().is_in(list(view.matrix.failed)).any()
    return kept.with_columns(
        failed=parts.select((pl.col("kind") == "link") & pl.col("id").list.eval(down).list.first()).to_series()
    )


def _by_switch(view: View) -> pl.DataFrame:
    """The sums of the switches, slice by slice."""
    return view.slices.drop_nulls("switch").group_by("slice", "switch", maintain_order=True).agg(pl.col("us").sum())


def _most(view: View) -> dict[str, list[float]]:
    """The times that are 100 at every moment, in us, of links and of switches."""
    links = pl.concat([view.links["us"], view.ends["us"]]) if len(view.ends) else view.links["us"]
    tables = {"link": (view.slices, links), "switch": (_by_switch(view), view.switches["us"])}
    found = {}
    for kind, (slices, window) in tables.items():
        sums = [slices["us"]] * view.matrix.slice_count + [window]
        found[kind] = [_short(max([0.0, *values.top_k(1).to_list()])) or 1.0 for values in sums]
    return found


def _short(us: float) -> float:
    """A time with the digits that pages keep: a few ns are as large a part of the largest sum as in longer runs."""
    return float(f"{us:.5g}")
