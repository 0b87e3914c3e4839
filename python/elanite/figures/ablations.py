"""Each mechanism's effect on each figure: one mechanism is changed at a time, over patterns and the
hot-spot.
"""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING

import polars as pl

from elanite.figures import grouping
from elanite.figures.grid import Cell, Column, Grid
from elanite.figures.style import Figure
from elanite.figures.table import table
from elanite.results.frames import SHIPPED, padded
from elanite.results.numbers import Number, averaged, ratio

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

UNCHANGED = "unchanged"

NAMES = {
    UNCHANGED: "the machine as it is",
    "switch.circuit=until-delivered": (
        "circuits closed when the packet is delivered, all at once: nothing waits for the"
        " acknowledgement"
    ),
    "switch.circuit=wormhole": (
        "wormhole switching: a link is free when the tail of the packet has left it"
    ),
    "switch.circuit=cut-through": (
        "virtual cut-through: as wormhole switching, with buffers for whole packets"
    ),
    "switch.ascent=deterministic": (
        "the link up is fixed by the destination, the same digit at every level"
    ),
    "switch.ascent=source-fixed": "the link up is fixed by the source",
    "switch.arbitration=round-robin": "arbitration in turn: ages are ignored",
    "switch.multiplexing=round-robin": (
        "channels of a link served flit by flit in turn, not the oldest first"
    ),
    "switch.age_bits=32": "ages that count every cycle up to the cap, not in 4 bits",
    "switch.age_bits=32, switch.age_cap=1 s": "ages that count every cycle, without a cap",
    "switch.tokens=false": "acknowledgements and end-of-packet tokens take no time on the link",
    "switch.priorities=false": "one priority level",
    "link.channels=1": "one virtual channel instead of two",
    "packet.transaction_overhead=0 B": "transactions without overhead",
    "adapter.packets_in_flight=1": "one packet of an adapter in flight instead of two",
    "adapter.turnaround=0 ns": "adapters acknowledge at once",
    "adapter.share_burst=0 flits": "adapters send and receive at full rate at the same time",
    "adapter.time_slice=10 s": "a DMA is never interrupted by another one",
}
"""Change names; other changes have the experiment file's text."""

SIGN = "°"
"""The sign for figures from the shipped reference results (see ``reference``)."""

NOTABLE = 0.03
"""A figure's change by less than this fraction is not mentioned."""

PATTERNS = {"bit-reversal": "bit\nreversal"}
"""Pattern headings with a line feed."""


def draw(rows: pl.DataFrame) -> Iterator[Figure]:
    """One table: machine changes in rows, traffic kinds in columns, and a column for notable
    effects.
    """
    rows = padded(rows, servers=pl.String, machine=pl.String)
    hot = pl.col("servers").is_not_null()
    metric = pl.when(hot).then(pl.lit("server_accepted")).otherwise(pl.lit("accepted"))
    traffic = (
        pl.when(hot).then(pl.format("hot-spot of {}", pl.col("nodes"))).otherwise(pl.col("pattern"))
    )
    rows = rows.filter(pl.col("metric") == metric).with_columns(traffic=traffic)
    yield from grouping.part_figures(rows, ("machine", "traffic"), _draw)


def _draw(rows: pl.DataFrame) -> Iterator[Figure]:
    found: dict[str, dict[str, Number]] = {}
    shipped = set()
    for (machine, kind), here in rows.group_by("machine", "traffic", maintain_order=True):
        found.setdefault(str(machine), {})[str(kind)] = averaged(here)
        if SHIPPED in here.columns and here[SHIPPED].any():
            shipped.add((str(machine), str(kind)))
    if found:
        yield _table(found, shipped)


def _table(
    found: Mapping[str, Mapping[str, Number]], shipped: Collection[tuple[str, str]]
) -> Figure:
    title = "Ablations: the effect of each mechanism"
    kinds = list(dict.fromkeys(kind for figures in found.values() for kind in figures))
    usual = found.get(UNCHANGED, {})
    headings = [PATTERNS.get(kind, kind.replace(" of ", "\nof ")) for kind in kinds]
    columns = [
        Column("change of the machine", 3.2, "left"),
        *(Column(heading, 1.1) for heading in headings),
        Column("what it makes", 4.6, "left"),
    ]
    rows = []
    for machine, figures in found.items():
        signs = {kind: SIGN if (machine, kind) in shipped else "" for kind in kinds}
        cells = [
            _cell(machine, kind, figures.get(kind), usual.get(kind), signs[kind]) for kind in kinds
        ]
        name = "\n".join(wrap(NAMES.get(machine, machine), 31, break_on_hyphens=False))
        reading = "\n".join(wrap(_reading(machine, figures, usual), 44, break_on_hyphens=False))
        rows.append([Cell(name), *cells, Cell(reading)])
    caption = (
        "Accepted load at saturation, in MB/s per node that sends, or of the hot node, with half"
        " of its 95% confidence interval: on the machine as it is, and with one mechanism or"
        " parameter changed at a time. The tint shows the distance of a figure from that of the"
        f" machine as it is; the last column names the figures that change by {NOTABLE:.0%} or"
        " more, and by more than the intervals. Fewer than three values have no interval."
    )
    if shipped:
        caption += f" {SIGN}: shipped results of the whole run, not simulated in this one."
    grid = Grid(columns, rows, "of the figure of the machine as it is")
    return Figure("ablations", title, "", caption, table(grid, title), wide=True, grid=grid)


def _cell(machine: str, kind: str, figure: Number | None, usual: Number | None, sign: str) -> Cell:
    if figure is None:
        return Cell("")
    text = f"{figure.mean:.0f}{sign}" + ("" if figure.few else f"\n± {figure.half:.1f}")
    if usual is None:
        return Cell(text)
    relative = 1.0 if machine == UNCHANGED else figure.mean / usual.mean
    return Cell(
        text,
        relative,
        f"{machine}, {kind}: {figure.mean:.1f} MB/s, {relative:.1%} of {usual.mean:.1f}",
    )


def _reading(machine: str, figures: Mapping[str, Number], usual: Mapping[str, Number]) -> str:
    """The figures that the change makes lower or higher, the largest change first."""
    if machine == UNCHANGED:
        return "the reference of all others"
    changes = []
    for kind, figure in figures.items():
        if kind in usual:
            change = ratio(figure, usual[kind])
            off = change.mean - 1
            few = figure.few or usual[kind].few
            if abs(off) >= NOTABLE and (few or abs(off) > change.half):
                changes.append((off, f"{kind} {off:+.0%}"))
    parts = [
        f"{word}: {', '.join(said for _, said in sorted(some, key=lambda one: -abs(one[0])))}"
        for word, some in (
            ("lower", [one for one in changes if one[0] < 0]),
            ("higher", [one for one in changes if one[0] > 0]),
        )
        if some
    ]
    return "; ".join(parts) or f"no figure by {NOTABLE:.0%} or more"
