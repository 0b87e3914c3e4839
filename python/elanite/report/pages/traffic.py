"""Message and link tables, findings and figures for run and replay pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from elanite.base.rows import first
from elanite.base.rows import rows as rows_of
from elanite.base.text import counted, part
from elanite.base.units import size_text
from elanite.figures import matrix_comparison
from elanite.mpirun.summary import Link, Sizes, busiest, hottest, named, size, waits
from elanite.report.pages.frame import PageTable, Section
from elanite.results.congestion import Fault, in_words, of_tables, parallel
from elanite.store import empty

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

MOST_PAIRS = 12
"""Rows in the pair table."""

MOST_LINKS = 8
"""Links in the table, at nodes and between switches each."""

MOST_FAULTS = 64
MOST_RANKS = 128
"""Rows in the rank table."""


def messages(sizes: Sequence[Sizes], pairs: pl.DataFrame) -> list[PageTable]:
    """Messages by size and by pair; ``pairs`` has each message's ``source``, ``destination`` and
    ``bytes``.
    """
    if not sizes:
        return []
    by_size = [(one.label, f"{one.messages:,}", size(one.bytes)) for one in sizes]
    sums = by_pair(pairs)
    by_bytes = [
        (f"rank {source} → rank {destination}", f"{count:,}", size(total))
        for source, destination, count, total in sums.head(MOST_PAIRS).iter_rows()
    ]
    left = (
        f"{MOST_PAIRS} of {counted(len(sums), 'pair')}, by payload."
        if len(sums) > MOST_PAIRS
        else ""
    )
    return [
        PageTable(
            ("message size", "messages", "payload"),
            by_size,
            "Messages by size",
            ("messages", "payload"),
        ),
        PageTable(
            ("pair", "messages", "payload"),
            by_bytes,
            "Pairs of ranks with the most payload",
            ("messages", "payload"),
            note=left,
        ),
    ]


def by_pair(pairs: pl.DataFrame) -> pl.DataFrame:
    """``source``, ``destination``, ``messages`` and ``bytes``, a row for each rank pair, by
    bytes.
    """
    sums = pairs.group_by("source", "destination").agg(
        messages=pl.len(), bytes=pl.col("bytes").sum()
    )
    return sums.sort("bytes", "source", "destination", descending=[True, False, False])


def largest_messages(sizes: Sequence[Sizes], pairs: pl.DataFrame) -> str:
    """The finding about the messages that carry most payload; empty without payload."""
    total = sum(one.bytes for one in sizes)
    if not total:
        return ""
    most = max(sizes, key=lambda one: one.bytes)
    source, destination, count, carried = (sums := by_pair(pairs)).row(0)
    alike = len(sums.filter(pl.col("bytes") == carried))
    pair = (
        f"from rank {source} to rank {destination} go {size(carried)} in"
        f" {counted(count, 'message')}"
    )
    pair += (
        ", more than between any other pair"
        if alike == 1
        else f", as many bytes as between {counted(alike - 1, 'other pair')}"
    )
    volume = "" if most.messages == 1 else f" with {size(most.bytes)}"
    return (
        f"Largest messages by volume: {counted(most.messages, 'message')} {_class(most, pairs)}"
        f"{volume}, {part(most.bytes / total, 1)} of the payload; {pair}."
    )


def crossing(pairs: pl.DataFrame, ranks: pl.DataFrame, packets: int) -> str:
    """The sentence on messages between ranks on one node, which are in no packet, and on the
    others' packets.

    ``pairs`` has each message's ``source``, ``destination`` and ``bytes``, and ``ranks`` each
    rank's node.
    """
    nodes = dict(ranks.select("rank", "node").iter_rows())
    within = pairs.filter(
        pl.col("source").replace_strict(nodes) == pl.col("destination").replace_strict(nodes)
    )
    said = f"{counted(packets, 'packet')} {'crosses' if packets == 1 else 'cross'} the network"
    if within.is_empty():
        return f"{said}."
    kept = f"{counted(len(within), 'message')} with {size(float(within['bytes'].sum()))}"
    return f"{said}; {kept} {'stays' if len(within) == 1 else 'stay'} within a node."


def _class(sizes: Sizes, messages: pl.DataFrame) -> str:
    """A size class within a sentence: its messages' least and greatest size."""
    here = pl.col("bytes") >= sizes.least
    if sizes.most is not None:
        here &= pl.col("bytes") <= sizes.most
    own = messages.filter(here)["bytes"]
    least, most = (size_text(float(str(end))) for end in (own.min(), own.max()))
    return f"of {least}" if least == most else f"of {least} to {most}"


def with_others(
    ranks: pl.DataFrame, rank: Mapping[str, object], column: str, one: str, several: str
) -> str:
    """A rank with its verb, and the count of other ranks with the same value:
    ``rank 0 and 15 others compute``.
    """
    others = len(ranks.filter(pl.col(column) == rank[column])) - 1
    if not others:
        return f"rank {rank['rank']} {one}"
    return f"rank {rank['rank']} and {counted(others, 'other')} {several}"


HOTTEST = "Hottest link, by the time that packets waited for it"
"""How all pages' sentences begin; pages have one definition of heat
(``mpirun.summary.hottest``).
"""


def link(links: pl.DataFrame, time_us: float, point: str) -> str:
    """The finding about the hottest and the busiest link; empty if no link was busy."""
    links = named(links, point)
    some = hottest(links, time_us)
    if some.is_empty():
        return ""
    top, busy = first(some, Link), first(busiest(links, time_us), Link)
    share = f"busy {_busy(busy)} of the time{_equal_links(some, busy, _busy)}"
    if not top["waiting_us"]:
        return f"No packet waited at a switch. Busiest link: {_place(busy)}, {share}."
    crossed = (
        f"{counted(top['packets'], 'packet')} {'crosses' if top['packets'] == 1 else 'cross'} it"
    )
    waited = f"{crossed}, with {waits(top)} µs of waits in total{_equal_links(some, top, waits)}"
    if _busy(busy) == _busy(top):
        return f"{HOTTEST}: {_place(top)}; {waited}; the link is also the busiest, {share}."
    return (
        f"{HOTTEST}: {_place(top)}; {waited}, busy {_busy(top)} of the time. Busiest link:"
        f" {_place(busy)}, {share}."
    )


def _place(link: Link) -> str:
    return (
        f"{link['from']} → {link['to']}"
        f" ({'of a node' if link['level'] == 0 else 'between switches'})"
    )


def _busy(link: Link) -> str:
    return part(link["busy"], 1)


def _equal_links(links: pl.DataFrame, one: Link, written: Callable[[Link], str]) -> str:
    """The count of other links with the same figure, as pages write it."""
    others = sum(written(each) == written(one) for each in rows_of(links, Link)) - 1
    return f", as {counted(others, 'other link')}" if others else ""


def network(point: str, tables: Mapping[str, pl.DataFrame], time_us: float) -> Section:
    """The links, the congestion matrix and the faults; ``point`` is the machine's configuration as
    JSON.
    """
    links, faults = tables["links"], tables["faults"]
    busy = hottest(named(links, point), time_us)
    of_nodes = pl.col("level") == 0
    shown = [
        row
        for kind in (of_nodes, ~of_nodes)
        for row in rows_of(busy.filter(kind).head(MOST_LINKS), Link)
    ]
    apart = parallel(point) if shown else {}
    rows = [
        (
            apart.get(row["link"], f"{row['from']} → {row['to']}"),
            "node and switch" if row["level"] == 0 else "switches",
            _busy(row),
            f"{row['packets']:,}",
            waits(row),
        )
        for row in shown
    ]
    note = (
        "Waits: sum over all packets that waited for the link; waits for links from nodes are not"
        " counted."
    )
    if len(busy) > len(shown):
        note += (
            f" {len(shown)} of {len(busy):,} busy links: the hottest of nodes, and between"
            " switches."
        )
    right = ("busy", "packets", "waits, µs")
    found = (
        [PageTable(("link", "between", *right), rows, "Hottest links", right, note=note)]
        if rows
        else []
    )
    if len(faults):
        words = [(in_words(one),) for one in rows_of(faults.head(MOST_FAULTS), Fault)]
        more = f"{MOST_FAULTS} of {len(faults):,} failures." if len(faults) > MOST_FAULTS else ""
        found.append(PageTable(("failure",), words, "Failures", note=more))
    text, drawn = [], []
    if links["delay_ps"].sum():
        congestion = of_tables(point, links, empty("slices"), (0.0, time_us), 0, faults)
        drawn = matrix_comparison.draw([matrix_comparison.PicturePoint("", congestion)])
    elif len(busy):
        text = ["No packet waited for a link, so that the congestion matrix is zero."]
    return Section("Links", text, drawn, found)


def sent_and_received(rank: Mapping[str, float]) -> tuple[str, str]:
    """Two cells in the rank table: sent and received messages, with their payload."""
    kinds = ("sent", "received")
    sent, received = (
        f"{rank[f'messages_{kind}']:,} · {size(rank[f'bytes_{kind}'])}" for kind in kinds
    )
    return sent, received


def cut(
    rows: Sequence[tuple[str, ...]], most: int, of: str
) -> tuple[Sequence[tuple[str, ...]], str]:
    """The first rows, and a note on the omitted count."""
    if len(rows) <= most:
        return rows, ""
    return rows[:most], f"{most:,} of {len(rows):,} {of}."
