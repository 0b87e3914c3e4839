"""A run's figures: for people on the command line, as JSON for programs."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict

import polars as pl

from elanite.base import html
from elanite.base.rows import first, rows
from elanite.base.text import number, part, ranks
from elanite.mpirun.evidence import RunTotals

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


SIZES = [0, 64, 1024, 16 * 1024, 256 * 1024, 4 * 1024 * 1024]
"""Upper ends of message size classes, in bytes; the last class is open."""

LEAST_AT_CLOCKS = 0.01
"""The share of simulated time in clock readings from which on a summary mentions them."""

MOST_LINKS = 3
"""Node links that the summary shows, and links between switches."""


Link = TypedDict(
    "Link",
    {
        "link": int,
        "from": str,
        "to": str,
        "level": int,
        "up": bool,
        "packets": int,
        "busy": float,
        "waiting_us": float | None,
    },
)
"""A row of ``busiest``: a link that was busy."""


@dataclass(frozen=True)
class Sizes:
    """Messages in one size class."""

    least: int
    most: int | None
    messages: int
    bytes: int

    @property
    def label(self) -> str:
        """The class for people."""
        if self.most is None:
            return f"above {size(self.least - 1)}"
        return size(self.most) if self.least == self.most else f"to {size(self.most)}"


@dataclass(frozen=True)
class FileTotals:
    """Operations on files, of all ranks."""

    operations: int
    """Those that took simulated time."""
    bytes_read: int
    bytes_written: int
    time: float
    """The longest time of a rank in them, in us."""
    ranks: tuple[int, ...]
    """All ranks with this time."""
    untimed_operations: int
    """Those that took no simulated time."""
    untimed_bytes_read: int
    untimed_bytes_written: int


@dataclass(frozen=True)
class Summary:
    """A run's figures."""

    totals: RunTotals
    """The run's totals, as the simulator counts them."""
    kinds: dict[str, int]
    """Messages by kind."""
    sizes: list[Sizes]
    mpi: dict[str, tuple[float, list[int]]]
    """Time in MPI, in us, and all ranks with this time: ``least``, ``mean`` (without ranks) and
    ``most``.
    """
    clocks: tuple[float, int]
    """The longest time, in us, that a rank spent in successive clock readings, and the rank."""
    files: FileTotals
    links: list[Link]
    """The hottest node links, then those between switches: ``from``, ``to``, ``level`` (0 for node
    links), ``up``, ``busy`` (share of the run), ``packets``, ``waiting_us`` (sum over all packets;
    `None` from nodes).
    """


def summarise(tables: Mapping[str, pl.DataFrame]) -> Summary:
    """A run's figures from its tables; its ranks have attached."""
    messages, totals = tables["messages"], first(tables["summary"], RunTotals)
    kinds = messages.group_by("kind").len().sort("len", "kind", descending=[True, False])
    return Summary(
        totals,
        {str(kind): int(count) for kind, count in kinds.iter_rows()},
        by_size(messages),
        _in_mpi(tables["ranks"]),
        _at_clocks(tables["ranks"]),
        _in_files(tables["ranks"]),
        hottest_of_each(tables["links"], totals["time_us"]),
    )


def busiest(links: pl.DataFrame, time_us: float) -> pl.DataFrame:
    """The links that were busy, the busiest first.

    Links from nodes have no wait: packets wait for them in the adapters, from the moment at which
    they are offered (``elanite.results.congestion``).
    """
    from_node = (pl.col("level") == 0) & pl.col("up")
    return (
        links.filter(pl.col("busy_ps") > 0)
        .sort("busy_ps", "link", descending=[True, False])
        .select(
            "link",
            "from",
            "to",
            "level",
            "up",
            "packets",
            busy=pl.col("busy_ps") / (time_us * 1e6) if time_us else pl.lit(0.0),
            waiting_us=pl.when(~from_node).then(pl.col("waiting_ps") / 1e6),
        )
    )


def hottest(links: pl.DataFrame, time_us: float) -> pl.DataFrame:
    """The links that were busy, the hottest first: by the time that packets waited for them, then
    the busiest.
    """
    waits = pl.col("waiting_us").fill_null(0.0)
    return busiest(links, time_us).sort(waits, "busy", "link", descending=[True, True, False])


def hottest_of_each(links: pl.DataFrame, time_us: float) -> list[Link]:
    """The hottest node links, and the hottest links between switches.

    All packets of a node take its one link, so that node links are the busiest ones wherever the
    load is even, and would hide the links between switches, which are scarce in a reduced tree.
    """
    busy = hottest(links, time_us)
    of_nodes = pl.col("level") == 0
    return [
        row
        for kind in (of_nodes, ~of_nodes)
        for row in rows(busy.filter(kind).head(MOST_LINKS), Link)
    ]


def host_names(point: str) -> dict[str, str]:
    """The nodes with the names of a graph's file: ``node 3`` is ``node 3 (rack1-07)``.

    ``point`` is the machine's configuration as JSON. Empty for a network that has no names.
    """
    cables = json.loads(point)["machine"]["topology"].get("cables", {}).get("value")
    words = (line.split() for line in str(cables or "").splitlines())
    names = [line[1] for line in words if line[:1] == ["node"]]
    return {
        f"node {number}": f"node {number} ({name})"
        for number, name in enumerate(names)
        if name != str(number)
    }


def named(links: pl.DataFrame, point: str) -> pl.DataFrame:
    """Links whose nodes have the names of the graph's file, for people."""
    names = host_names(point)
    ends = (pl.col(end).replace_strict(names, default=pl.col(end)) for end in ("from", "to"))
    return links.with_columns(ends) if names else links


def waits(link: Link) -> str:
    """A cell with a link's summed waits; empty for links from nodes."""
    return "" if link["waiting_us"] is None else number(link["waiting_us"])


def in_cell(found: Summary, host_seconds: float) -> list[str]:
    """A run's figures as HTML: its totals, and folded below them its messages and its hottest
    links.
    """
    totals: dict[str, float] = {
        "simulated time, µs": found.totals["time_us"],
        "host time, s": host_seconds,
    }
    totals |= {"messages": found.totals["messages"], "bytes": found.totals["bytes"]}
    totals["packets"] = found.totals["packets"]
    sizes = [(each.label, each.messages, size(each.bytes)) for each in found.sizes]
    links = [
        (f"{link['from']} to {link['to']}", part(link["busy"], 1), link["packets"], waits(link))
        for link in found.links
    ]
    return [
        html.table(tuple(totals), [tuple(totals.values())]),
        html.folded("messages by size", html.table(("message size", "messages", "payload"), sizes)),
        html.folded("hottest links", html.table(("link", "busy", "packets", "waits, µs"), links)),
    ]


def time_in_mpi(found: Summary, unseen: Sequence[int], compute: str) -> list[str]:
    """All ranks' time in MPI for people, and notes that are needed to read it, one text each.

    Every summary prints these texts, so that a time that is unknown, or 100% by construction, never
    looks measured.
    """
    if unseen:
        return [f"unknown: Elanite saw no call of {rank_list(unseen)}"]
    times = (
        f"{word} {number(time)} µs{f' ({rank_list(tied)})' if tied else ''}"
        for word, (time, tied) in found.mpi.items()
    )
    files = ", and files" if found.files.operations else ""
    notes = (
        [f"100% by construction, but for sleeps and clocks{files}: --compute none"]
        if compute == "none"
        else []
    )
    (time, rank), whole = found.clocks, found.totals["time_us"]
    if time > LEAST_AT_CLOCKS * whole:
        notes.append(
            f"{number(time)} µs of rank {rank} ({part(time / whole, 1)} of the run) passed while it"
            " read a clock in a row, as a loop does that waits; if it measures computation, let it"
            " read less often"
        )
    return [", ".join(times), *notes]


def time_in_files(files: FileTotals, modelled: bool) -> list[str]:
    """The operations on files for people, one text for those that took simulated time and one for
    the others.

    ``modelled`` says whether the machine has a file system. A time of zero is never left unsaid.
    """
    texts = []
    if files.operations:
        moved = _moved(files.operations, files.bytes_read, files.bytes_written)
        texts.append(f"{moved}; at most {number(files.time)} µs ({rank_list(files.ranks)})")
    if files.untimed_operations:
        moved = _moved(
            files.untimed_operations, files.untimed_bytes_read, files.untimed_bytes_written
        )
        why = (
            "by threads without MPI, or outside of MPI"
            if modelled
            else "the machine has no section [files]"
        )
        texts.append(f"{moved} took no simulated time: {why}")
    return texts


def _moved(operations: int, read: int, written: int) -> str:
    return (
        f"{operations:,} operation{'s' * (operations != 1)}, {size(read)} read, {size(written)}"
        " written"
    )


def rank_list(some: Sequence[int]) -> str:
    """Some ranks with their noun: ``rank 3``, ``ranks 0, 2 to 63``."""
    return f"rank{'s' * (len(some) > 1)} {ranks(some)}"


def collectives(totals: RunTotals) -> dict[str, int]:
    """Barriers, broadcasts and reductions by their executor, counted in rank calls."""
    return {
        "hardware": totals["collectives_hardware"],
        "elan": totals["collectives_elan"],
        "mpi": totals["collectives_mpi"],
    }


def collective_calls(totals: RunTotals) -> list[str]:
    """The executors of collective operations for people, one text each; none without such calls.

    Elanlib's operations are no messages, so that their bytes appear in no figure.
    """
    calls = collectives(totals)
    if not any(calls.values()):
        return []
    names = {"hardware": "hardware", "elan": "Elanlib's trees", "mpi": "the MPI library"}
    texts = [", ".join(f"{calls[way]:,} by {name}" for way, name in names.items())]
    if calls["hardware"] or calls["elan"]:
        texts.append("messages and payload are without those by hardware and Elanlib")
    return texts


def size(count: float) -> str:
    """A byte count for people, as the papers write it."""
    for unit, scale in (("GB", 1 << 30), ("MB", 1 << 20), ("KB", 1 << 10)):
        if count >= scale:
            return f"{count / scale:.1f}".removesuffix(".0") + f" {unit}"
    return f"{count:.0f} B"


def by_size(messages: pl.DataFrame) -> list[Sizes]:
    """The size classes with messages; ``messages`` has the column ``bytes``."""
    lower = [0, *(most + 1 for most in SIZES)]
    found = []
    for least, most in zip(lower, [*SIZES, None], strict=True):
        inside = pl.col("bytes") >= least
        here = messages.filter(inside & (pl.col("bytes") <= most) if most is not None else inside)
        if len(here):
            found.append(Sizes(least, most, len(here), int(here["bytes"].sum())))
    return found


def _in_mpi(ranks: pl.DataFrame) -> dict[str, tuple[float, list[int]]]:
    times = ranks["mpi_us"]
    least, mean, most = (
        float(str(value or 0.0)) for value in (times.min(), times.mean(), times.max())
    )
    return {
        word: (
            time,
            ranks.filter(pl.col("mpi_us") == time)["rank"].to_list() if word != "mean" else [],
        )
        for word, time in (("least", least), ("mean", mean), ("most", most))
    }


def _at_clocks(ranks: pl.DataFrame) -> tuple[float, int]:
    time, rank = (
        ranks.sort("clocks_us", "rank", descending=[True, False]).select("clocks_us", "rank").row(0)
    )
    return float(time), int(rank)


def _in_files(ranks: pl.DataFrame) -> FileTotals:
    def total(name: str) -> int:
        return int(ranks[name].sum())

    time = float(str(ranks["files_us"].max() or 0.0))
    tied = ranks.filter(pl.col("files_us") == time)["rank"].to_list()
    return FileTotals(
        total("file_operations"),
        total("file_bytes_read"),
        total("file_bytes_written"),
        time,
        tuple(tied),
        total("untimed_operations"),
        total("untimed_bytes_read"),
        total("untimed_bytes_written"),
    )
