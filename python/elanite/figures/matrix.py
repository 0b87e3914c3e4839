"""The congestion matrix as in petrini2003's figure 15, for any network.

Every switch level has a row of blocks, the top level first. A block is a switch: the squares above
are its links to the level above, the squares below its links to the level below, and the square
between them is the switch itself. A hotter square is darker. There are two pictures. For the
*delays*, as in the paper: each square is a link by which packets come in, and the links that enter
nodes have a row below. For the *waits*: each square is a link by which packets leave. A run with
slices gets a slider: first each time slice, relative to the hottest slice, and at its end the
measured window.

``elanite.figures.matrix_places`` has each square's place.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from elanite.base.text import number
from elanite.figures.matrix_places import (
    DIGITS,
    HEAD,
    LEFT,
    MOST_BLOCKS,
    WIDTH,
    View,
    blocks,
    flat,
    grouped,
    largest,
    layout,
    parts_of,
)
from elanite.figures.style import BUILDS_UP, FORMAT, RULE, Figure, layered, pixels
from elanite.results.congestion import HEAT, NAMED

if TYPE_CHECKING:
    from elanite.results.congestion import Matrix

LEAVING = "links that leave switches"
"""The links in the wait picture."""

BACKLOG = (
    "Links from nodes have no square: packets wait for them in the adapters, and this backlog is no"
    " congestion of the network."
)
"""The wait picture's caption."""

_KINDS = "^(nodes|local|global|dimension .*)$"

_KIND = (
    pl.col("way")
    .str.replace("^(from|to) the nodes.*", "nodes")
    .str.replace("^.*within groups$", "local")
    .str.replace("^.*between groups$", "global")
    .str.replace("^.*along (dimension .*)$", "$1")
    .pipe(lambda kind: pl.when(kind.str.contains(_KINDS)).then(kind).otherwise(pl.lit("links")))
)
"""A link's kind, whatever its direction: ``nodes``, ``local``, ``global``, ``dimension 1``."""


def _flat_words(matrix: Matrix, numbers: str) -> str:
    ordered = matrix.switches.sort("switch")["name"].to_list()
    names = [str(name).removeprefix("switch ") for name in ordered]
    group = -(-len(names) // MOST_BLOCKS)
    column = (
        "A column is a switch with its links"
        if group == 1
        else f"A column is {group} switches with their links"
    )
    few = names if len(names) <= 5 else [*names[:3], f"… to {names[-1]}"]
    return (
        f"{column}, a row for each kind of links. From left to right, the switches are"
        f" {'; '.join(few)}. {numbers}"
    )


def draw(
    matrix: Matrix, name: str, title: str, paper: str = "", parameters: str = ""
) -> list[Figure]:
    """A matrix's delay and wait pictures; ``parameters`` describe the traffic in the captions."""
    waits = (f"{name}-waits", f"{title}, waits for {LEAVING}", "")
    views = zip(((name, title, paper), waits), (of_delays(matrix), of_waits(matrix)), strict=True)
    return [_figure(view, *texts, parameters) for texts, view in views]


def of_delays(matrix: Matrix) -> View:
    """Packets' waits since their injection, at the port by which they come in."""
    named = matrix.links.select(
        *("link", "packets", "switch", "level", "enters", "enters_level"),
        name=NAMED,
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
        says=(
            _flat_words(
                matrix,
                "A square is a link that enters the switch; the last row has the links that enter"
                " nodes. The number of a link is the sum of the delays with which packets come in"
                " by this link: what they have waited since their injection. The number of a switch"
                " is the sum over its links.",
            )
            if flat(matrix)
            else (
                "Links that come in from above are above the switch, links that come in from below"
                " are below; the last row has the links that enter nodes. The number of a link is"
                " the sum of the delays with which packets come in by this link: what they have"
                " waited since their injection, at their node and at all switches on their way. The"
                " number of a switch is the sum over its links."
            )
        ),
        matrix=matrix,
    )


def of_waits(matrix: Matrix) -> View:
    """Packets' waits for each link that leaves a switch."""
    links = matrix.links.drop_nulls("switch")
    return View(
        links=links.select(
            *("link", "packets", "switch", "level"),
            name=NAMED,
            kind=_KIND,
            us="waiting_us",
            above="up",
        ),
        ends=links.clear(),
        switches=matrix.switches.select("switch", "level", "name", "packets", us="waiting_us"),
        slices=matrix.slices.drop_nulls("switch").select(
            "slice", "link", "switch", us="waiting_us"
        ),
        rows=("up", "down"),
        flat=flat(matrix),
        says=(
            _flat_words(
                matrix,
                "A square is a link that leaves the switch. The number of a link is the sum of the"
                " times that packets waited for this link; the number of a switch is the sum over"
                f" its links. {BACKLOG}",
            )
            if flat(matrix)
            else (
                "Links upwards are above the switch, links downwards are below; those of the first"
                " level lead to the nodes. The number of a link is the sum of the times that"
                " packets waited for this link; the number of a switch is the sum over its links."
                f" {BACKLOG} The delays of the other picture are the sums of the waits along the"
                " way of each packet, for the link from its node, too."
            )
        ),
        matrix=matrix,
    )


def _figure(view: View, name: str, title: str, paper: str, parameters: str) -> Figure:
    caption = (
        f"{blocks(view)}{view.says} The most loaded link in the picture and the most loaded switch"
        " have 100."
    )
    if grouped(view):
        caption += " The packets of such a square are those of all."
    if view.matrix.slice_count:
        caption += f" {BUILDS_UP}"
    if view.matrix.failed:
        caption += " A cross in place of a number marks links that were down in the run."
    if parameters:
        caption += f" Parameters: {parameters}."
    return Figure(
        name, title, paper, caption, _chart(view, name, title), wide=True, data=_reader_table(view)
    )


def _chart(view: View, name: str, title: str) -> alt.LayerChart:
    matrix = view.matrix
    members, labels, height = layout(view)
    # The moments that the slider shows; a Vega expression picks the one from the lists below.
    moments = moments_of(matrix)
    moment = alt.param(
        name="moment_" + "".join(c if c.isalnum() else "_" for c in name), value=len(moments)
    )
    if matrix.slice_count:
        slider = alt.binding_range(
            min=1, max=len(moments), step=1, name="time slice, then the measured window "
        )
        moment = alt.param(name=moment.name, value=len(moments), bind=slider)
    most = json.dumps(largest(view))

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
            orient="bottom",
            direction="horizontal",
            gradientLength=320,
            titleLimit=320,
            values=[0, 25, 50, 75, 100],
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
        .transform_calculate(
            size=f"datum.kind == 'switch' && datum.x2 - datum.x >= {2 * DIGITS} ? 13 : 9"
        )
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
    """The name of the slider's chosen moment."""
    found: alt.Chart = (
        alt.Chart(pl.DataFrame({"moments": [moments], "x": [float(LEFT)], "y": [HEAD / 3]}))
        .transform_calculate(text=f"datum.moments[{chosen} - 1]")
        .mark_text(align="left", baseline="middle", color=RULE, fontSize=13)
        .encode(x=alt.X("x:Q"), y=alt.Y("y:Q"), text=alt.Text("text:N"))
    )
    return found


def moments_of(matrix: Matrix) -> list[str]:
    """The names of the time slices and the measured window."""
    ends = [number(matrix.slice_us * index / 1000) for index in range(matrix.slice_count + 1)]
    last = "measured window" if matrix.window[0] > 0 else "entire run"
    begin, end = (number(each / 1000) for each in matrix.window)
    return [f"{one} to {two} ms" for one, two in pairwise(ends)] + [f"{last}, {begin} to {end} ms"]


def _reader_table(view: View) -> pl.DataFrame:
    """The measured window's figures, as a table for readers: links, then switches."""
    links = pl.concat(
        [part.select("name", "packets", "us") for part in (view.links, view.ends) if len(part)]
    )
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
class MatrixScene:
    """The delay picture at every moment, for separate drawing. Lengths are in pixels."""

    squares: pl.DataFrame
    """``x``, ``x2``, ``y``, ``y2``, ``name``, ``kind``, and ``relative``, the list of all moments'
    figures.
    """
    labels: pl.DataFrame
    """``x``, ``y``, ``text``, and ``align`` (left or center)."""
    moments: list[str]
    width: int
    height: int


def scene(matrix: Matrix) -> MatrixScene:
    """A matrix's delay picture, at every moment that it has."""
    view = of_delays(matrix)
    members, labels, height = layout(view)
    most = largest(view)
    parts = parts_of(members, view)
    relative = [
        [100 * delay / most[kind][moment] for moment, delay in enumerate(delays)]
        for kind, delays in parts.select("kind", "delays").iter_rows()
    ]
    squares = parts.select("x", "x2", "y", "y2", "name", "kind").with_columns(
        relative=pl.Series(relative, dtype=pl.List(pl.Float64))
    )
    return MatrixScene(squares, labels, moments_of(matrix), WIDTH, height)
