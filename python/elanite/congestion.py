"""The congestion matrix: where packets wait, switch by switch and link by link (petrini2003 s5.4, figure 15).

For every link that leaves a switch, the matrix has the sum of the delays of packets before the link, in per cent of the
most loaded link; for every switch, it has the sum over the links of the switch, in per cent of the most loaded switch.
A delay begins when the header of a packet is at the switch, and ends when the first flit of the packet is on the link.

The paper writes a delay at the port by which the packet enters the switch. This matrix writes it at the port by which
the packet leaves, because the packet waits for this link. The sums of the switches are the same either way. If packets
only pass through, as with complement traffic, delays below a switch in one picture are above it in the other.

The links from the nodes into the network leave no switch and are not in the matrix: the packets that wait for these
links are the backlog of the adapters, which at saturation is larger than all other delays. The table of links has it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from elanite import _core, frames
from elanite.store import frame

if TYPE_CHECKING:
    from collections.abc import Sequence

    from elanite.plan import Point
    from elanite.store import Store

HEAT = ["#fff7ec", "#fee8c8", "#fdd49e", "#fdbb84", "#fc8d59", "#ef6548", "#d7301f", "#b30000", "#7f0000"]
"""White to dark red (OrRd of ColorBrewer): lightness alone shows the order."""


@dataclass(frozen=True)
class Matrix:
    """The congestion matrix of one finished point. Delays are in us; ``relative`` is 100 for the most loaded part."""

    links: pl.DataFrame
    """One row per link that leaves a switch, switch by switch, downwards before upwards, in the order of the ports:
    ``switch`` (number), ``from``, ``to``, ``level`` (of the switch), ``link_level``, ``up``, ``way`` (in words),
    ``link``, ``packets``, ``waiting_us``, ``relative``."""
    switches: pl.DataFrame
    """One row per switch: ``switch``, ``name``, ``level``, ``packets``, ``waiting_us``, ``relative``."""
    slices: pl.DataFrame
    """Delays over time, from the start of the run on, one row per slice and link with any: ``slice``, ``switch``,
    ``link``, ``waiting_us``. Empty if the run has no slices."""
    window: tuple[float, float]
    """Start and end of the measured window, in us, for which links and switches are counted."""
    slice_count: int

    @property
    def slice_us(self) -> float:
        """Length of a slice."""
        return self.window[1] / max(self.slice_count, 1)


def matrix(point: Point, store: Store) -> Matrix:
    """The congestion matrix of a finished point, for any topology; idle links and switches have zeros."""
    run = point.run
    manifest = store.get(point.id)
    begin = _us(run["warm_up"])
    end = manifest["simulated_ps"] / 1e6 if manifest else begin
    counted, slices = store.table(point.id, "links"), store.table(point.id, "slices")
    return of_tables(point.json, counted, slices, (begin, end), run["slices"])


def of_tables(
    point_json: str, counted: pl.DataFrame, slices: pl.DataFrame, window: tuple[float, float], slice_count: int
) -> Matrix:
    """The congestion matrix of the machine of a point, from the counters of links in a window and delays over time."""
    wiring = frame(_core.wiring(point_json)).filter(pl.col("switch").is_not_null())
    counted = counted.select("link", "packets", waiting_us=pl.col("waiting_ps") / 1e6)
    links = (
        wiring.join(counted, on="link", how="left", maintain_order="left")
        .with_columns(pl.col("packets", "waiting_us").fill_null(0))
        .with_columns(relative=_relative("waiting_us"))
        .sort("switch", "up", "link")
        .select("switch", "from", "to", "level", "link_level", "up", "way", "link", "packets", "waiting_us", "relative")
    )
    switches = (
        links.group_by("switch", pl.col("from").alias("name"), "level", maintain_order=True)
        .agg(pl.col("packets", "waiting_us").sum())
        .with_columns(relative=_relative("waiting_us"))
    )
    slices = slices.join(links.select("link", "switch"), on="link", how="inner", maintain_order="left").select(
        "slice", "switch", "link", waiting_us=pl.col("waiting_ps") / 1e6
    )
    return Matrix(links, switches, slices, window, slice_count)


def links(points: Sequence[Point], store: Store) -> pl.DataFrame:
    """The links of the congestion matrices of finished points in one table, with the parameters of each point."""
    return frames.joined(points, [matrix(point, store).links for point in points])


def path(links: pl.DataFrame) -> pl.DataFrame:
    """The steps of the longest path, in order from the first switch to the destination.

    ``links`` are those of one or several matrices. Each step has ``up``, ``level`` and ``way`` as the links have, and
    ``least``, ``mean`` and ``most`` of the relative delays of its links.
    """
    up = links.filter(pl.col("up")).sort("link_level", maintain_order=True)
    down = links.filter(~pl.col("up")).sort("link_level", descending=True, maintain_order=True)
    return (
        pl.concat([up, down])
        .group_by("up", "level", "way", maintain_order=True)
        .agg(
            pl.col("relative").min().alias("least"),
            pl.col("relative").mean().alias("mean"),
            pl.col("relative").max().alias("most"),
        )
    )


def _relative(column: str) -> pl.Expr:
    most = pl.col(column).max()
    return pl.when(most > 0).then(pl.col(column) / most * 100).otherwise(0.0)


def _us(text: str) -> float:
    quantity = _core.quantity(text)
    assert quantity is not None, text  # noqa: S101 - the simulator wrote it
    return quantity[0]
