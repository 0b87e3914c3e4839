"""Pages for replays, from their tables.

A replay that stops before its end has a page up to that moment.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from elanite.base.rows import first as row_of
from elanite.base.rows import rows as rows_of
from elanite.base.text import counted, number, part, simulated
from elanite.base.units import size_text
from elanite.errors import Exit
from elanite.figures.flows import PER_MILLE, rank
from elanite.inputs.machine import Machine
from elanite.mpirun.summary import by_size, rank_list, size
from elanite.report.pages import lanes, traffic
from elanite.report.pages.frame import Page, PageTable, Section
from elanite.report.pages.timeline import drawing
from elanite.results.congestion import Fault, in_words
from elanite.traces.replay import PendingOperation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from elanite.inputs.sources import Source
    from elanite.report.pages.inputs import Inputs
    from elanite.traces.replay import Replay, UnfinishedReplay

UNENDED = "Operations that did not end are not counted."


def page(replay: Replay, machine: Source, command: Sequence[str], inputs: Inputs) -> Page:
    """The page for a replay that kept its operations; ``command`` are the words that ran it."""
    return _page(
        replay, machine, command, inputs, "repeatable", _findings(replay), _sections(replay)
    )


def unfinished(
    error: UnfinishedReplay, machine: Source, command: Sequence[str], inputs: Inputs
) -> Page:
    """The page for a replay that stopped before its end: why, the operations that wait, and all
    until then.
    """
    replay = error.replay
    *lines, last = str(error).splitlines()
    if error.exit_code == Exit.FAILED:
        why = "a bound was passed"
    else:
        why = "operations have no partner" if lines else "a deadlock of packets"
    said = last.replace(": see the lines before", "")
    rows = [(line,) for line in lines]
    partners = PageTable(
        ("operation",), rows, "Operations that wait, or whose messages have no receive"
    )
    end = Section(
        "End of the replay", [said], tables=[*([partners] if rows else []), *_waiting(replay)]
    )
    return _page(
        replay,
        machine,
        command,
        inputs,
        "no end",
        [
            (
                f"The replay ended early, at {simulated(replay.summary['time_us'])} of simulated"
                f" time: {why}."
            ),
            *_failed(replay),
            *_oldest(replay),
            *_of_traffic(replay),
        ],
        [end, *_sections(replay, UNENDED)],
    )


def _failed(replay: Replay) -> list[str]:
    """The finding on machine failures before the end: operations may have lost their partners by
    them.
    """
    faults = replay.tables["faults"]
    if faults.is_empty():
        return []
    failed = in_words(row_of(faults, Fault))
    more = f", and {counted(len(faults) - 1, 'other failure')}" if len(faults) > 1 else ""
    return [
        f"Before the end, the machine failed: {failed}{more}; operations may wait because of it."
    ]


def _oldest(replay: Replay) -> list[str]:
    """The finding on the operations that had not ended, and the one that was free first."""
    waiting = replay.tables["waiting"].sort("free_us", "rank", "operation")
    if waiting.is_empty():
        return []
    count, ranks = len(waiting), rank_list(waiting["rank"].unique().sort().to_list())
    earliest = row_of(waiting, PendingOperation)
    oldest = (
        f"{_in_words(earliest)} at rank {earliest['rank']}, since {number(earliest['free_us'])} µs"
    )
    if count == 1:
        return [f"At the end, one operation had not ended: {oldest}."]
    return [
        f"At the end, {count:,} operations of {ranks} had not ended; the first of them: {oldest}."
    ]


def _in_words(operation: PendingOperation) -> str:
    """An operation: ``recv of 5 B from rank 1 with tag 3``."""
    kind, amount, peer, tag = (
        operation["kind"],
        operation["size"],
        operation["peer"],
        operation["tag"],
    )
    if kind == "calc":
        return f"calc of {number(amount / 1e3)} µs"
    whom = "any rank" if peer is None else f"rank {peer}"
    way = "to" if kind in lanes.SENDING else "from"
    label = "any tag" if tag is None else f"tag {tag}"
    tagged = "" if kind in ("get", "atomic", "swap") else f" with {label}"
    return f"{kind} of {size_text(amount)} {way} {whom}{tagged}"


def _waiting(replay: Replay) -> list[PageTable]:
    found = [
        (f"rank {row['rank']}", str(row["operation"]), _in_words(row), number(row["free_us"]))
        for row in rows_of(replay.tables["waiting"], PendingOperation)
    ]
    rows, left = traffic.cut(found, traffic.MOST_RANKS, "operations that had not ended")
    columns = ("rank", "number", "operation", "since, µs")
    right = ("number", "since, µs")
    return (
        [PageTable(columns, rows, "Operations that had not ended", right, note=left)]
        if rows
        else []
    )


def _page(
    replay: Replay,
    machine: Source,
    command: Sequence[str],
    inputs: Inputs,
    end: str,
    findings: Sequence[str],
    sections: Sequence[Section],
) -> Page:
    ideal = replay.options.network == "ideal"
    totals = replay.summary
    nodes = counted(len(set(replay.placement)), "node")
    where = "ideal network without contention" if ideal else f"{nodes} of {replay.cluster.name}"
    about = [
        where,
        f"{replay.cpu_seconds:.2f} s of processor time",
        end,
        f"digest {totals['digest']}",
    ]
    return Page(
        title=(
            f"{replay.trace.name} on {counted(replay.options.ranks, 'rank')} of"
            f" {replay.cluster.name}"
        ),
        command=command,
        inputs=inputs,
        about=" · ".join(about),
        findings=findings,
        sections=sections,
        machines=[Machine.of(machine, replay.cluster.overrides)],
    )


def _findings(replay: Replay) -> list[str]:
    totals, slowest, ranks = replay.summary, replay.slowest, replay.tables["ranks"]
    one, several = "is the slowest,", "are the slowest, the first"
    found = [
        f"The replay takes {simulated(totals['time_us'])} of simulated time;"
        f" {traffic.with_others(ranks, slowest, 'end_us', one, several)}"
        f" with {number(slowest['computed_us'])} µs of computation."
    ]
    total = float(ranks["end_us"].sum())
    if total and len(ranks) > 1:
        most = ranks.sort("computed_us", "rank", descending=[True, False]).row(0, named=True)
        computed = float(ranks["computed_us"].sum())
        share = f"Computation adds up to {part(computed / total, 1)} of the ranks' time"
        who = traffic.with_others(ranks, most, "computed_us", "has", "have")
        longest = f"{who} most, {number(most['computed_us'])} µs"
        if ranks["computed_us"].n_unique() == 1:
            longest = f"each rank has {number(most['computed_us'])} µs"
        if (ranks["computed_us"] > ranks["end_us"]).any():
            longest += ", some of it at the same time"
        found.append(f"{share}; {longest}." if computed else "The trace has no computation.")
    return found + _of_traffic(replay)


def _of_traffic(replay: Replay) -> list[str]:
    """The findings on links, messages and packets that were sent again."""
    totals, sends = replay.summary, _sends(replay)
    found = [
        one
        for one in (
            traffic.link(replay.tables["links"], totals["time_us"], replay.cluster.point),
            traffic.largest_messages(by_size(sends), sends),
        )
        if one
    ]
    if totals["packets_resent"]:
        found.append(
            f"{counted(totals['packets_resent'], 'packet')} sent again after failures of the"
            " machine."
        )
    return found


def _sections(replay: Replay, note: str = "") -> list[Section]:
    """All events; ``note`` stands below the operation and rank tables."""
    totals, sends = replay.summary, _sends(replay)
    found = [
        Section("Timeline", drawings=[drawing(lanes.of_replay(replay), "Ranks over time")]),
        Section(
            "Ranks and operations",
            tables=[_operations(replay, note), _ranks(replay, note), *_regions(replay, note)],
        ),
    ]
    sizes = traffic.messages(by_size(sends), sends)
    ideal = replay.options.network == "ideal"
    if sizes:
        sizes = [*sizes, *_times(replay)]
        words = [f"{counted(totals['messages'], 'message')} with {size(totals['bytes'])}."]
        if not ideal:
            words.append(traffic.crossing(sends, replay.tables["ranks"], totals["packets"]))
        found.append(Section("Messages", [" ".join(words)], tables=sizes))
    if ideal:
        found.append(
            Section(
                "Links", ["The ideal network has no links, and so neither load nor congestion."]
            )
        )
    else:
        found.append(traffic.network(replay.cluster.point, replay.tables, float(totals["time_us"])))
    return found


def _messages(replay: Replay) -> pl.DataFrame:
    """All messages' ``bytes`` and ``us``: from the moment at which the send may begin to the
    receive's end.
    """
    found = lanes.messages_of(lanes.timed(replay.tables["operations"]))
    return found.select("bytes", us=(pl.col("end_ps") - pl.col("begin_ps")) / 1e6)


def percentiles(messages: pl.DataFrame) -> list[tuple[str, ...]]:
    """By size class with messages, and for all: their count, p50, p99, p99.9 and the longest
    time.
    """
    classes = [
        (
            one.label,
            messages.filter(
                pl.col("bytes").is_between(one.least, one.most if one.most is not None else 2**62)
            ),
        )
        for one in by_size(messages)
    ]
    every = [("all", messages)] if len(classes) > 1 else []
    return [
        (
            label,
            f"{len(here):,}",
            *(number(rank(here["us"], per_mille)) for per_mille in PER_MILLE.values()),
            number(max(here["us"].to_list())),
        )
        for label, here in [*classes, *every]
    ]


def _times(replay: Replay) -> list[PageTable]:
    messages = _messages(replay)
    if messages.is_empty():
        return []
    right = ("messages", *(f"{name}, µs" for name in PER_MILLE), "longest, µs")
    note = (
        "From the moment at which the send may begin to the end of the receive: a receive that"
        " comes late counts, and so does a processor that is busy. Percentiles are times of"
        " messages, by their rank."
    )
    return [
        PageTable(
            ("message size", *right),
            percentiles(messages),
            "Times of messages by size",
            right,
            note=note,
        )
    ]


def _sends(replay: Replay) -> pl.DataFrame:
    """All messages' ``source``, ``destination`` and ``bytes``."""
    operations = replay.tables["operations"]
    sends = operations.filter(pl.col("kind").is_in(["send", "active"]))
    return pl.concat(
        [
            sends.select(source="rank", destination="peer", bytes="size"),
            lanes.accesses(operations).select("source", "destination", "bytes"),
        ]
    )


def by_kind(operations: pl.DataFrame) -> pl.DataFrame:
    """``kind``, ``operations``, ``mean_us`` and ``longest_us`` from free to end, by kind name."""
    length = pl.col("end_us") - pl.col("free_us")
    return (
        operations.group_by("kind")
        .agg(operations=pl.len(), mean_us=length.mean(), longest_us=length.max())
        .sort("kind")
    )


def _operations(replay: Replay, note: str) -> PageTable:
    rows = [
        (kind, f"{count:,}", number(mean), number(longest))
        for kind, count, mean, longest in by_kind(replay.tables["operations"]).iter_rows()
    ]
    right = ("operations", "mean, µs", "longest, µs")
    words = "Times from the moment at which all dependencies are met to the end of the operation."
    return PageTable(
        ("operation", *right),
        rows,
        "Operations by kind",
        right,
        note=" ".join(filter(None, (words, note))),
    )


def _regions(replay: Replay, note: str) -> list[PageTable]:
    rows = [
        (
            row["name"] or "outside the regions",
            row["bound"] or "",
            f"{row['executions']:,}",
            number(row["computed_us"]),
            number(row["longest_us"]),
            str(row["longest_rank"]),
        )
        for row in replay.regions
    ]
    shown, left = traffic.cut(rows, traffic.MOST_RANKS, "regions")
    columns = ("region", "bound by", "executions", "computes, µs", "longest, µs", "at rank")
    title = "Computation by region, the longest first"
    note = " ".join(filter(None, (left, note)))
    return (
        [PageTable(columns, shown, title, columns[2:], folded=len(shown) > 8, note=note)]
        if rows
        else []
    )


def _ranks(replay: Replay, note: str) -> PageTable:
    ranks = replay.tables["ranks"]
    slowest = ranks.sort("end_us", "rank", descending=[True, False])
    if note:  # the last operation that ended tells nothing about a rank that waits
        since = replay.tables["waiting"].group_by("rank").agg(pl.col("free_us").min())
        slowest = ranks.join(since, on="rank", how="left").sort("free_us", "rank", nulls_last=True)
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
    order = "longest wait" if note else "slowest"
    left = (
        f"{len(rows)} of {len(slowest):,} ranks, the {order} first."
        if len(rows) < len(slowest)
        else ""
    )
    end = "last end, µs" if note else "end, µs"
    columns = ("rank", "node", end, "computation, µs", "operations", "sent", "received")
    sums = "Computation is the sum over a rank's operations, of which several may run together."
    note = " ".join(filter(None, (left, note, sums)))
    return PageTable(
        columns, rows, f"Ranks, the {order} first", columns[1:], folded=len(rows) > 8, note=note
    )
