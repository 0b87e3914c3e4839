"""The congestion matrix: where packets wait, switch by switch and link by link (petrini2003 s5.4,
figure 15).

A packet waits for a link from the moment when its header is at the switch until its first flit is
on the link. The matrix counts this time in two ways:

- The *delay* is the wait of the packets that come in by a link, on their whole way since their
  injection: the paper's "the sum of the delay experienced by the packets incoming from the
  corresponding link". A switch's number is the sum over the links that enter it. The paper's figure
  has no blocks for nodes, but its text names the delay on the links that enter nodes as the
  greatest; these links are in the matrix, too.
- The *wait* is the time that packets have waited for one link: it shows the link that holds packets
  up. A switch's number is the sum over the links that leave it. Links from the nodes into the
  network leave no switch, and have no wait in the matrix: the packets that wait for them are the
  adapters' backlog, which at saturation is larger than all other waits. The link table has it.

Each is scaled, so that the most loaded link and the most loaded switch have 100 per cent. A packet
is injected when it takes a channel on the link from its node, and its age is counted from there;
its delay includes the wait until its first flit is on this link, and excludes the time in the
adapter's queue.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict

import polars as pl

from elanite import _core
from elanite.base import html
from elanite.base.text import number
from elanite.base.units import stated
from elanite.results import frames
from elanite.store import frame

if TYPE_CHECKING:
    from collections.abc import Sequence

    from elanite.inputs.plan import Point
    from elanite.store import Store

HEAT = [
    "#fff7ec",
    "#fee8c8",
    "#fdd49e",
    "#fdbb84",
    "#fc8d59",
    "#ef6548",
    "#d7301f",
    "#b30000",
    "#7f0000",
]
"""White to dark red (OrRd from ColorBrewer): lightness alone shows the order."""

WARMED = ("jobs", "collective", "mix")
"""Benchmark kinds that have a warm-up; others are measured from the start on."""


_ALIKE = pl.len().over("from", "to")

_ORDINAL = pl.col("link").rank("ordinal").over("from", "to")
"""A link's place among parallel cables, from 1 on, in both directions."""

_PLACE = re.compile(r" \(cable (\d+) of \d+\)$")
"""The place among parallel cables in a fault's name."""

NAMED = pl.format("{} → {}", "from", "to") + pl.when(_ALIKE > 1).then(
    pl.format(" (cable {} of {})", _ORDINAL, _ALIKE)
).otherwise(pl.lit(""))
"""A link's name in a network's wiring: its ends, and its place among parallel cables."""


@dataclass(frozen=True, repr=False)
class Matrix:
    """One finished point's congestion matrix.

    Times are in us; the relative ones are 100 for the most loaded.
    """

    links: pl.DataFrame
    """One row per link, those from the nodes first and then switch by switch, downwards before
    upwards, in port order: ``switch`` and ``level`` (number and level of the switch that it leaves,
    null for a node), ``from``, ``to``, ``enters`` and ``enters_level`` (for the switch that it
    enters, null for a node), ``link_level``, ``up``, ``way`` (in words), ``link``, ``packets``,
    ``waiting_us`` and ``relative`` (null for links from nodes), ``delay_us`` and
    ``relative_delay``.
    """
    switches: pl.DataFrame
    """One row per switch: ``switch``, ``name``, ``level``, ``packets`` (that it sent on),
    ``waiting_us``, ``relative``, ``delay_us``, ``relative_delay``.
    """
    slices: pl.DataFrame
    """Waits and delays over time, from the run's start on, one row per slice and link with any:
    ``slice``, ``switch``, ``enters``, ``link``, ``waiting_us`` (null for links from nodes),
    ``delay_us``. Empty if the run has no slices.
    """
    faults: pl.DataFrame
    """The run's faults: the fault table."""
    failed: frozenset[int]
    """The links that were down at any time in the run."""
    window: tuple[float, float]
    """The measured window's start and end, in us, for which links and switches are counted."""
    slice_count: int

    def __repr__(self) -> str:
        return (
            f"Matrix(links={len(self.links)}, switches={len(self.switches)},"
            f" slices={self.slice_count})"
        )

    def _repr_html_(self) -> str:
        hottest = (
            self.links.filter(pl.col("relative") > 0)
            .sort("relative", "link", descending=[True, False])
            .head(5)
        )
        rows = hottest.select(
            "from", "to", "packets", "waiting_us", pl.col("relative").round(1)
        ).rows()
        links = html.table(("from", "to", "packets", "waits, µs", "relative"), rows)
        return html.block("Congestion matrix: the links for which packets waited longest", links)

    @property
    def slice_us(self) -> float:
        """Slice length."""
        return self.window[1] / max(self.slice_count, 1)


def matrix(point: Point, store: Store) -> Matrix:
    """A finished point's congestion matrix, for any topology; idle links and switches have
    zeros.
    """
    counted, slices, faults = (
        store.table(point.id, name) for name in ("links", "slices", "faults")
    )
    return of_tables(point.json, counted, slices, window(point, store), point.run["slices"], faults)


def window(point: Point, store: Store) -> tuple[float, float]:
    """A finished point's measured window, in us: its start and end."""
    manifest = store.get(point.id)
    begin = stated(point.run["warm_up"], "us") if point.kind in WARMED else 0.0
    return begin, manifest.data["simulated_ps"] / 1e6 if manifest else begin


def of_tables(
    point_json: str,
    counted: pl.DataFrame,
    slices: pl.DataFrame,
    window: tuple[float, float],
    slice_count: int,
    faults: pl.DataFrame,
) -> Matrix:
    """The congestion matrix of a point's machine, from link counters in a window and over time."""
    links = (
        waits(point_json, counted)
        .with_columns(relative=_relative("waiting_us"), relative_delay=_relative("delay_us"))
        .sort("switch", "up", "link")
        .select(
            *(
                "switch",
                "from",
                "to",
                "level",
                "enters",
                "enters_level",
                "link_level",
                "up",
                "way",
                "link",
            ),
            *("packets", "waiting_us", "relative", "delay_us", "relative_delay"),
        )
    )
    entered = (
        links.drop_nulls("enters")
        .group_by("enters", maintain_order=True)
        .agg(pl.col("delay_us").sum())
    )
    switches = (
        links.drop_nulls("switch")
        .group_by("switch", pl.col("from").alias("name"), "level", maintain_order=True)
        .agg(pl.col("packets", "waiting_us").sum())
        .join(entered, left_on="switch", right_on="enters", maintain_order="left")
        .with_columns(relative=_relative("waiting_us"), relative_delay=_relative("delay_us"))
        .select(
            "switch",
            "name",
            "level",
            "packets",
            "waiting_us",
            "relative",
            "delay_us",
            "relative_delay",
        )
    )
    ends = links.select("link", "switch", "enters")
    slices = (
        slices.join(ends, on="link", how="inner", maintain_order="left")
        .select("slice", "switch", "enters", "link", *_TIMES)
        .with_columns(_WAITED)
    )
    return Matrix(links, switches, slices, faults, _failed(links, faults), window, slice_count)


def waits(point_json: str, counted: pl.DataFrame) -> pl.DataFrame:
    """The links of a point's machine with their packets, waits and delays in a window; links from
    nodes have no waits.

    A part of the matrix, in a third of its time: pages rank the links of all points by it.
    """
    return (
        _attached(frame(_core.wiring(point_json)), point_json)
        .join(
            counted.select("link", "packets", *_TIMES), on="link", how="left", maintain_order="left"
        )
        .with_columns(pl.col("packets", "waiting_us", "delay_us").fill_null(0))
        .with_columns(_WAITED)
    )


def parallel(point_json: str) -> dict[int, str]:
    """The names of all links in a point's network that have parallel ones."""
    several = frame(_core.wiring(point_json)).filter(_ALIKE > 1)
    return dict(several.select("link", NAMED.alias("name")).iter_rows())


def _attached(wiring: pl.DataFrame, point_json: str) -> pl.DataFrame:
    """A network's links, without those at empty positions in a partly populated one."""
    nodes = json.loads(point_json)["machine"]["topology"]["nodes"]["value"]
    node = pl.concat_str("from", pl.lit(" "), "to").str.extract(r"\bnode (\d+)\b").cast(pl.UInt32)
    return wiring.filter(node.is_null() | (node < nodes))


class Fault(TypedDict):
    """A row in the fault table."""

    name: str
    bit_error_rate: float | None
    down_ps: int | None
    up_ps: int | None
    known_ps: int | None


def in_words(fault: Fault) -> str:
    """A fault table row for people."""
    if fault["bit_error_rate"] is not None:
        return f"{fault['name']}: bit error rate {fault['bit_error_rate']:g}"
    times = {"down": fault["down_ps"], "up": fault["up_ps"], "known": fault["known_ps"]}
    shown = {key: f"{number(time / 1e6)} µs" for key, time in times.items() if time is not None}
    end = f" to {shown['up']}" if "up" in shown else ""
    told = f", known to the sources at {shown['known']}" if "known" in shown else ""
    return f"{fault['name']}: down from {shown['down']}{end}{told}"


def _failed(links: pl.DataFrame, faults: pl.DataFrame) -> frozenset[int]:
    """The links that were down: cables' and adapters' links by their ends and, of parallel cables,
    by their place; switches' and rails' links by name.
    """
    found: set[int] = set()
    down = faults.filter(pl.col("down_ps").is_not_null())
    for fault in down.unique(["part", "name"], maintain_order=True).iter_rows(named=True):
        start, end = pl.col("from"), pl.col("to")
        if fault["from"] is not None:
            ends = [fault["from"], fault["to"]]
            here = start.is_in(ends) & end.is_in(ends)
            if place := _PLACE.search(fault["name"]):
                here &= pl.lit(int(place[1])) == _ORDINAL
        elif fault["part"] == "switch":
            here = (start == fault["name"]) | (end == fault["name"])
        elif fault["part"] == "rail":
            of_rail = f" of {fault['name']}"
            several = links["from"].str.contains(" of rail ").any()
            here = start.str.ends_with(of_rail) if several else pl.lit(True)
        else:
            continue
        found.update(links.filter(here)["link"].to_list())
    return frozenset(found)


def links(points: Sequence[Point], store: Store) -> pl.DataFrame:
    """The links in finished points' congestion matrices as one table, with each point's
    parameters.
    """
    return frames.joined(points, [matrix(point, store).links for point in points])


def path(links: pl.DataFrame) -> pl.DataFrame:
    """The longest path's steps, in order from the source to the destination.

    ``links`` come from one or several matrices. Each step has ``up``, ``link_level`` and ``way`` as
    the links have, ``least``, ``mean`` and ``most`` for its links' relative waits, and
    ``least_delay``, ``mean_delay`` and ``most_delay`` for their relative delays. The step from the
    nodes has no waits.
    """
    up = links.filter(pl.col("up")).sort("link_level", maintain_order=True)
    down = links.filter(~pl.col("up")).sort("link_level", descending=True, maintain_order=True)
    wait, delay = pl.col("relative"), pl.col("relative_delay")
    return (
        pl.concat([up, down])
        .group_by("up", "link_level", "way", maintain_order=True)
        .agg(
            least=wait.min(),
            mean=wait.mean(),
            most=wait.max(),
            least_delay=delay.min(),
            mean_delay=delay.mean(),
            most_delay=delay.max(),
        )
    )


_TIMES = (
    (pl.col("waiting_ps") / 1e6).alias("waiting_us"),
    (pl.col("delay_ps") / 1e6).alias("delay_us"),
)

_WAITED = pl.when(pl.col("switch").is_not_null()).then(pl.col("waiting_us")).alias("waiting_us")
"""Packets that wait for the link from their node are an adapter's backlog."""


def _relative(column: str) -> pl.Expr:
    value, most = pl.col(column), pl.col(column).max()
    # The most loaded has 100 exactly: polars may divide by a multiplication with the reciprocal.
    return (
        pl.when(most == 0).then(value).when(value == most).then(100.0).otherwise(value / most * 100)
    )
