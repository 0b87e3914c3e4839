"""The places of a congestion matrix's squares, and the numbers that a picture shows there.

Networks without levels, such as a torus or a dragonfly, have one switch row. Their links have a row
for each kind below the switches: by dimension, local and global ones, and node links.

If a level has more switches or links than there is room for, neighbour groups share a square with
the group's highest figure, so that averages hide no hot link. Squares without room for a number
have only a colour.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from elanite.results.congestion import Matrix

MOST_BLOCKS, MOST_SQUARES = 64, 256
"""The counts of switches, and of links in one direction, for which a row has room."""

WIDTH, LEFT = 1180, 70
"""Width of the picture and its rows' names, in pixels; so are the heights below."""
HEAD, SQUARE, CENTRE, GAP = 28, 21, 27, 30

SEVERAL = "A square of several links or switches has the time of the hottest of them."
"""The caption's sentence about groups."""

DIGITS = 15
"""Width of a square with room for three digits."""


@dataclass(frozen=True)
class View:
    """A matrix's numbers that one picture shows. All frames have the time in ``us``."""

    links: pl.DataFrame
    """The switches' links: ``link``, ``name``, ``packets``, ``us``, the ``switch`` and its
    ``level``, whether the link is drawn ``above`` it, and its ``kind`` (see ``kinds``).
    """
    ends: pl.DataFrame
    """The links that enter nodes, with the switch that they leave, if they have a separate row."""
    switches: pl.DataFrame
    """``switch``, ``level``, ``name``, ``packets``, ``us``."""
    slices: pl.DataFrame
    """``slice``, ``link``, ``switch``, ``us``."""
    rows: tuple[str, str]
    """The names for the rows above and below the switches."""
    says: str
    """The caption's part about the numbers."""
    matrix: Matrix
    flat: bool = False
    """Whether the network has no levels: links have a row for each kind."""


def flat(matrix: Matrix) -> bool:
    """Whether switches on one level are connected with one another, as in a torus or a dragonfly:
    no up or down.
    """
    return matrix.links.filter(pl.col("level") == pl.col("enters_level")).height > 0


def blocks(view: View) -> str:
    """The sentences on blocks and rows in a network with levels, on rails, and on squares of
    several.
    """
    said = ""
    most = view.switches["level"].value_counts()["count"].max()
    if not view.flat:
        several = isinstance(most, int) and most > MOST_BLOCKS
        said = (
            f"A block is a switch{', or several neighbours' if several else ''}, and a row is a"
            " level. "
        )
    rails = (
        view.switches.sort("switch")["name"]
        .str.extract(r" of rail (\d+)$")
        .drop_nulls()
        .unique(maintain_order=True)
    )
    if len(rails) > 1:
        said += (
            f"In a row, the switches of rail {rails[0]} are on the left, those of rail {rails[-1]}"
            " on the right. "
        )
    return said + (f"{SEVERAL} " if grouped(view) else "")


def grouped(view: View) -> bool:
    """Whether any square stands for several links or switches."""
    return bool((layout(view)[0].group_by("kind", "x", "y").len()["len"] > 1).any())


def layout(view: View) -> tuple[pl.DataFrame, pl.DataFrame, int]:
    """The places of all switches and links (a group has one place), the labels, and the total
    height.
    """
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
                (node if kind == "nodes" else kind, links.filter(pl.col("kind") == kind), SQUARE)
                for kind in kinds
            )
            several = view.switches["level"].n_unique() > 1
            rows = [(f"level {level}" if several else "switches", switches, CENTRE), *of_kinds]
        if level == lowest:
            rows.append(("at nodes", view.ends, SQUARE))
        rows = [row for row in rows if not row[1].is_empty()]
        for label, row, height in rows:
            placed = _row(row, switches).with_columns(
                y=pl.lit(float(top)), y2=pl.lit(float(top + height))
            )
            members.append(placed)
            labels.append((0.0, top + height / 2, label, "left"))
            top += height
        if level == lowest:
            labels += _nodes(members[-1], top)
        top += GAP
    schema = {"x": pl.Float64, "y": pl.Float64, "text": pl.String, "align": pl.String}
    return pl.concat(members), pl.DataFrame(labels, schema=schema, orient="row"), top


def _row(row: pl.DataFrame, switches: pl.DataFrame) -> pl.DataFrame:
    """The places in a row of links in one direction, or of the switches themselves, from left to
    right.
    """
    group = -(-len(switches) // MOST_BLOCKS)
    blocks = -(-len(switches) // group)
    links = "link" in row.columns
    # A graph's switches may have different link counts, and numbers with gaps.
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
            x=LEFT
            + pl.col("block") * pitch
            + pl.int_range(pl.len()).over("block") // share * width,
        )
        .with_columns(x2=pl.col("x") + width)
    )


def _nodes(placed: pl.DataFrame, top: int) -> list[tuple[float, float, str, str]]:
    """The nodes below each block on the first level, as labels, if there is room for them."""
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
    return [(0.0, top + 11.0, "nodes", "left"), *found] if found else []


def _span(first: int, last: int) -> str:
    """A switch's node numbers."""
    return str(first) if first == last else f"{first}-{last}"


def parts_of(members: pl.DataFrame, view: View) -> pl.DataFrame:
    """The picture's data, one row per square, with its members' highest figure at every moment."""
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
    group = pl.format(
        "hottest of {}, {} … {}; in the window {}", "size", "first", "last", "hottest"
    )
    parts = parts.with_columns(
        name=pl.when(pl.col("size") > 1).then(group).otherwise("first")
    ).with_row_index("part")
    delays = [
        [0.0] * view.matrix.slice_count + [_short(window)] for window in parts["window"].to_list()
    ]
    owner = parts.select("part", "kind", "id").explode("id")
    links = view.slices.select("slice", "us", kind=pl.lit("link"), id="link")
    switches = _by_switch(view).select("slice", "us", kind=pl.lit("switch"), id="switch")
    sums = pl.concat([links, switches]).join(owner, on=["kind", "id"])
    for part, slice_, most in sums.group_by("part", "slice").agg(pl.col("us").max()).iter_rows():
        delays[part][slice_] = _short(most)
    kept = parts.select(*place, "name", "packets").with_columns(
        delays=pl.Series(delays, dtype=pl.List(pl.Float64))
    )
    if not view.matrix.failed:
        return kept
    down = pl.element().is_in(list(view.matrix.failed)).any()
    return kept.with_columns(
        failed=parts.select(
            (pl.col("kind") == "link") & pl.col("id").list.eval(down).list.first()
        ).to_series()
    )


def _by_switch(view: View) -> pl.DataFrame:
    """The switches' sums, slice by slice."""
    return (
        view.slices.drop_nulls("switch")
        .group_by("slice", "switch", maintain_order=True)
        .agg(pl.col("us").sum())
    )


def maxima(view: View) -> dict[str, list[float]]:
    """The largest times at every moment, in us, for links and for switches."""
    links = pl.concat([view.links["us"], view.ends["us"]]) if len(view.ends) else view.links["us"]
    tables = {"link": (view.slices, links), "switch": (_by_switch(view), view.switches["us"])}
    found = {}
    for kind, (slices, window) in tables.items():
        sums = [slices["us"]] * view.matrix.slice_count + [window]
        found[kind] = [max([0.0, *values.top_k(1).to_list()]) for values in sums]
    return found


def largest(view: View) -> dict[str, list[float]]:
    """The times that are 100 at every moment, with the digits of the squares; 1 where all are 0."""
    return {kind: [_short(us) or 1.0 for us in moments] for kind, moments in maxima(view).items()}


def _short(us: float) -> float:
    """A time with the digits that pages keep: a few ns are as large a part of the largest sum as in
    longer runs.
    """
    return float(f"{us:.5g}")
