"""Pages for replays, from their tables; a replay that cannot end has a page, too."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from elanite.api import Machine
from elanite.mpirun.summary import by_size, size
from elanite.pages import lanes, traffic
from elanite.pages.frame import Page, Section, Table
from elanite.pages.timeline import drawing
from elanite.text import counted, number

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from elanite.errors import RunError
    from elanite.pages.inputs import Inputs
    from elanite.replay import Replay
    from elanite.sources import Source


def page(replay: Replay, machine: Source, command: Sequence[str], inputs: Inputs) -> Page:
    """The page for a replay that kept its operations; ``command`` are the words that ran it."""
    ideal = replay.options.network == "ideal"
    totals = replay.summary
    nodes = counted(len(set(replay.placement)), "node")
    where = "ideal network without contention" if ideal else f"{nodes} of {replay.cluster.name}"
    about = [where, f"{replay.cpu_seconds:.2f} s of processor time", "repeatable", f"digest {totals['digest']}"]
    return Page(
        title=f"{replay.trace.name} on {counted(replay.options.ranks, 'rank')} of {replay.cluster.name}",
        command=command,
        inputs=inputs,
        about=" · ".join(about),
        findings=_findings(replay),
        sections=_sections(replay),
        machines=[Machine.of(machine, replay.cluster.overrides)],
    )


def failed(
    trace: Path, error: RunError, machine: Source, overrides: Sequence[str], command: Sequence[str], inputs: Inputs
) -> Page:
    """The page of a replay without an end: the operations without a partner, as the error lists them."""
    *lines, last = str(error).splitlines()
    rows = [(line,) for line in lines]
    table = Table(("operation",), rows, "Operations that wait, or whose messages have no receive")
    return Page(
        title=f"{trace.name} on {machine.name}: no end",
        command=command,
        inputs=inputs,
        notes=[last],
        sections=[Section("End of the replay", [last], tables=[table] if rows else [])],
        machines=[Machine.of(machine, overrides)],
    )


def _findings(replay: Replay) -> list[str]:
    totals, slowest, ranks = replay.summary, replay.slowest, replay.tables["ranks"]
    found = [
        f"The replay takes {number(totals['time_us'])} µs of simulated time;"
        f" {traffic.with_others(ranks, slowest, 'end_us', 'is the slowest and', 'are the slowest; the first')}"
        f" computes {number(slowest['computed_us'])} µs of it."
    ]
    total = float(ranks["end_us"].sum())
    if total and len(ranks) > 1:
        most = ranks.sort("computed_us", "rank", descending=[True, False]).row(0, named=True)
        computed = float(ranks["computed_us"].sum())
        share = f"The ranks compute {computed / total:.1%} of their time"
        who = traffic.with_others(ranks, most, "computed_us", "computes", "compute")
        longest = f"{who} most, {number(most['computed_us'])} µs"
        found.append(f"{share}; {longest}." if computed else "The trace has no computation.")
    sends = _sends(replay)
    found += [
        one
        for one in (traffic.link(replay.tables["links"], totals["time_us"]), traffic.largest(by_size(sends), sends))
        if one
    ]
    if totals["packets_resent"]:
        found.append(f"{counted(totals['packets_resent'], 'packet')} sent again after failures of the machine.")
    return found


def _sections(replay: Replay) -> list[Section]:
    totals, sends = replay.summary, _sends(replay)
    found = [
        Section("Timeline", drawings=[drawing(lanes.of_replay(replay), "Ranks over time")]),
        Section("Ranks and operations", tables=[_operations(replay), _ranks(replay)]),
    ]
    sizes = traffic.messages(by_size(sends), sends)
    ideal = replay.options.network == "ideal"
    if sizes:
        words = [f"{counted(totals['messages'], 'message')} with {size(totals['bytes'])}."]
        if not ideal:
            words.append(traffic.crossing(sends, replay.tables["ranks"], totals["packets"]))
        found.append(Section("Messages", [" ".join(words)], tables=sizes))
    if ideal:
        found.append(Section("Links", ["The ideal network has no links, and so neither load nor congestion."]))
    else:
        found.append(traffic.network(replay.cluster.point, replay.tables, float(totals["time_us"])))
    return found


def _sends(replay: Replay) -> pl.DataFrame:
    """``source``, ``destination`` and ``bytes`` of all messages."""
    sends = replay.tables["operations"].filter(pl.col("kind") == "send")
    return sends.select(source="rank", destination="peer", bytes="size")


def by_kind(operations: pl.DataFrame) -> pl.DataFrame:
    """``kind``, ``operations``, ``mean_us`` and ``longest_us`` from free to end, by the name of the kind."""
    length = pl.col("end_us") - pl.col("free_us")
    return (
        operations.group_by("kind")
        .agg(operations=pl.len(), mean_us=length.mean(), longest_us=length.max())
        .sort("kind")
    )


def _operations(replay: Replay) -> Table:
    rows = [
        (kind, f"{count:,}", number(mean), number(longest))
        for kind, count, mean, longest in by_kind(replay.tables["operations"]).iter_rows()
    ]
    right = ("operations", "mean, µs", "longest, µs")
    note = "Times from the moment at which all dependencies are met to the end of the operation."
    return Table(("operation", *right), rows, "Operations by kind", right, note=note)


def _ranks(replay: Replay) -> Table:
    slowest = replay.tables["ranks"].sort("end_us", "rank", descending=[True, False])
    rows = [
        (
            f"rank {row['rank']}",
            str(row["node"]),
            number(row["end_us"]),
            number(row["computed_us"]),
            f"{row['operations']:,}",
            *traffic.sent_and_received(row),
        )
        for row in slowest.head(traffic.MOST_RANKS).iter_rows(named=True)
    ]
    left = f"{len(rows)} of {len(slowest):,} ranks, the slowest." if len(rows) < len(slowest) else ""
    columns = ("rank", "node", "end, µs", "computes, µs", "operations", "sent", "received")
    return Table(columns, rows, "Ranks, the slowest first", columns[1:], folded=len(rows) > 8, note=left)
