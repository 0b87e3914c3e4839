"""Pages for runs by ``elanite mpirun`` and ``elanite prun``, from their tables.

A run that failed has a page, too.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import polars as pl

from elanite.base.text import counted, digits_apart, number, part, simulated
from elanite.inputs.machine import Machine
from elanite.mpirun.summary import (
    collective_calls,
    rank_list,
    size,
    summarise,
    time_in_files,
    time_in_mpi,
)
from elanite.report.pages import lanes, traffic
from elanite.report.pages.frame import Page, PageTable, Section
from elanite.report.pages.timeline import drawing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from elanite.inputs.sources import Source
    from elanite.mpirun.session import Run
    from elanite.mpirun.summary import Summary
    from elanite.report.pages.inputs import Inputs

MOST_CALLS = 64
"""Rows in the call table."""

STRAGGLES, LEAST = 2.0, 0.01
"""A straggler spends at least this many times any other rank's time outside calls, and this share
of the run.
"""

OF_THE_LIBRARY = "(?i)_(init|init_thread|finalize)$"
"""The calls with messages from the library, not from the program."""

UNENDED = "Calls that did not end are not counted."

_EARLY = {
    "deadlock": "a deadlock",
    "died": "a rank ended before the others",
    "stopped": "a host stopped",
    "limit": "a bound was passed",
    "corrupted": "the bytes of a message changed",
    "launcher gone": "mpiexec ended",
}
"""The reason for a run's early end, by the simulator's word."""


def page(run: Run, machine: Source, command: Sequence[str], inputs: Inputs) -> Page:
    """The page for a run that kept its calls; ``command`` are the words that ran it."""
    figures = summarise(run.tables) if run.tables else None
    message = run.ended.message.strip()
    return Page(
        title=(
            f"{shlex.join(run.words)} on {counted(len(run.placement), 'rank')} of"
            f" {run.cluster.name}"
        ),
        command=command,
        inputs=inputs,
        about=_about(run),
        notes=[message.splitlines()[0]] if message else [],
        findings=_findings(run, figures) if figures is not None else [],
        sections=list(_sections(run, figures, message)),
        machines=[Machine.of(machine, run.cluster.overrides)],
    )


def _about(run: Run) -> str:
    nodes = counted(len(set(run.placement)), "node")
    calls = run.tables["calls"]["call"] if run.tables else pl.Series(dtype=pl.String)
    calls_mpi = not run.native or calls.str.starts_with("MPI_").any()
    parts = [
        f"{nodes} of {run.cluster.name}",
        *([run.mpi.kind] if calls_mpi else []),
        f"{run.host_seconds:.2f} s on this host",
    ]
    if run.options.network == "ideal":
        parts[0] = "ideal network without contention"
    if run.tables:
        why = run.unrepeatable
        parts += [
            f"not repeatable: {why}" if why else "repeatable",
            f"digest {run.summary['digest']}",
        ]
    return " · ".join(parts)


def _findings(run: Run, figures: Summary) -> list[str]:
    totals, ranks = figures.totals, lanes.ended(run)
    calls = "calls" if run.native else "MPI"
    found = []
    if run.ended.finished:
        found += [
            f"The run takes {simulated(totals['time_us'])} of simulated time;"
            f" {_last(run, ranks, calls)}."
        ]
        found += _straggler(run, ranks, calls)
    else:
        why = _EARLY.get(run.ended.end, run.ended.end)
        found.append(
            f"The run ended early, at {simulated(run.ended.time_us)} of simulated time: {why}."
        )
        found += _waits_in_short(run)
    total = float(ranks["end_us"].sum())
    times, *notes = time_in_mpi(figures, run.ended.unseen, run.options.compute)
    if run.ended.unseen:
        found.append(f"The time in {calls} is {times}.")
    elif total and run.ended.finished:
        spent = part(float(ranks["mpi_us"].sum()) / total, 1)
        share = f"The ranks spend {spent} of their time in {calls}: {times}"
        found.append("; ".join([share, *notes]) + ".")
    found += [
        f"Files: {one}." for one in time_in_files(figures.files, "files" in run.cluster.parameters)
    ]
    found += [
        one
        for one in (
            traffic.link(run.tables["links"], float(totals["time_us"]), run.cluster.point),
            traffic.largest_messages(figures.sizes, run.tables["messages"]),
        )
        if one
    ]
    if ways := collective_calls(totals):
        found.append(f"Collective operations, as calls of ranks: {'; '.join(ways)}.")
    if totals["packets_resent"]:
        found.append(
            f"{counted(totals['packets_resent'], 'packet')} sent again after failures of the"
            " machine."
        )
    return found


def _last(run: Run, ranks: pl.DataFrame, calls: str) -> str:
    """The rank that ends last, or the time within which all ranks end, if pages would not
    distinguish their times.
    """
    last = ranks.sort("end_us", "rank", descending=[True, False]).row(0, named=True)
    ends = ranks.sort("end_us")["end_us"].to_list()
    tied = ends.count(ends[-1])
    if tied < len(ends) and number(ends[0]) == number(ends[-1]):
        return (
            f"all ranks end within {number(ends[-1] - ends[0])} µs of one another, rank"
            f" {last['rank']} as the last"
        )
    first = f"; rank {last['rank']} is the first of them" if tied > 1 else ""
    slowest = traffic.with_others(ranks, last, "end_us", "is the slowest", "are the slowest")
    return slowest + (
        "" if run.ended.unseen else f"{first}, with {number(last['mpi_us'])} µs in {calls}"
    )


def _straggler(run: Run, ranks: pl.DataFrame, calls: str) -> list[str]:
    """The rank with clearly more time outside calls than the others: they wait for it in their
    calls.
    """
    outside = ranks.select("rank", us=pl.col("end_us") - pl.col("mpi_us")).sort(
        "us", "rank", descending=[True, False]
    )
    if run.ended.unseen or len(outside) < 2 or outside["us"][1] * STRAGGLES > outside["us"][0]:
        return []
    rank, most = outside.row(0)
    if most < run.summary["time_us"] * LEAST:
        return []
    others = number(outside["us"][1])
    return [
        f"Rank {rank} spends {number(most)} µs outside of {calls}, any other rank {others} µs at"
        " most."
    ]


def _waits_in_short(run: Run) -> list[str]:
    groups = _waiting(run)
    if not groups:
        return []
    waiting, call, wanted = groups[0]
    more = f", and {counted(len(groups) - 1, 'other group')} of ranks" if len(groups) > 1 else ""
    return [f"At the end, {waiting} in {call}{f': {wanted}' if wanted else ''}{more}."]


def _waiting(run: Run) -> list[tuple[str, str, str]]:
    """The ranks that wait at the end, by their call and the awaited operation; the largest group
    first.
    """
    groups: dict[tuple[str, str], list[int]] = {}
    for one in run.ended.waiting:
        groups.setdefault((one.call, one.what), []).append(one.rank)
    ordered = sorted(groups.items(), key=lambda each: (-len(each[1]), each[1][0]))
    return [(rank_list(who), call, what) for (call, what), who in ordered]


def _sections(run: Run, figures: Summary | None, message: str) -> list[Section]:
    found = []
    waiting = _waiting(run)
    if message:
        rows, left = traffic.cut(waiting, traffic.MOST_RANKS, "groups of ranks")
        table = PageTable(
            ("ranks", "call", "waits for"), rows, "Ranks at the end of the run", note=left
        )
        lines = [] if waiting else message.splitlines()[1:]
        found.append(
            Section(
                "End of the run", [message.splitlines()[0], *lines], tables=[table] if rows else []
            )
        )
    if figures is None:
        return found
    time_us = float(figures.totals["time_us"])
    unseen = (
        [f"Elanite saw no call of {rank_list(run.ended.unseen)}: their lanes are empty."]
        if run.ended.unseen
        else []
    )
    found.append(
        Section("Timeline", unseen, drawings=[drawing(lanes.of_run(run), "Ranks over time")])
    )
    found.append(Section("Ranks and calls", tables=[*_calls(run), _ranks(run)]))
    sizes = traffic.messages(figures.sizes, run.tables["messages"])
    if sizes:
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in figures.kinds.items())
        totals = figures.totals
        words = [
            f"{counted(totals['messages'], 'message')} ({kinds}) with {size(totals['bytes'])}."
        ]
        if run.options.network != "ideal":
            words.append(
                traffic.crossing(run.tables["messages"], run.tables["ranks"], totals["packets"])
            )
        found.append(Section("Messages", [" ".join(words), *_of_library(run)], tables=sizes))
    if run.options.network == "ideal":
        found.append(
            Section(
                "Links", ["The ideal network has no links, and so neither load nor congestion."]
            )
        )
    else:
        found.append(traffic.network(run.cluster.point, run.tables, time_us))
    return found


def _of_library(run: Run) -> list[str]:
    """The count of messages that the library sends to start and to end; empty for runs without
    any.
    """
    within = run.tables["calls"].filter(pl.col("call").str.contains(OF_THE_LIBRARY))
    posted = (
        run.tables["messages"].select("bytes", "posted_us", rank="source").join(within, on="rank")
    )
    here = posted.filter(
        pl.col("posted_us") >= pl.col("begin_us"), pl.col("posted_us") < pl.col("end_us")
    )
    if here.is_empty():
        return []
    names = " and ".join(here["call"].unique().sort())
    share = f"{len(here):,} of {counted(len(run.tables['messages']), 'message')}"
    return [
        f"{share}, with {size(int(here['bytes'].sum()))}, are not the program's own: the library"
        f" sends them in {names}."
    ]


def by_call(calls: pl.DataFrame) -> pl.DataFrame:
    """``call``, ``calls``, ``total_us``, ``mean_us`` and ``longest_us``, the largest total
    first.
    """
    length = pl.col("end_us") - pl.col("begin_us")
    return (
        calls.group_by("call")
        .agg(
            calls=pl.len(),
            total_us=length.sum(),
            mean_us=length.mean(),
            longest_us=length.max(),
        )
        .sort("total_us", "call", descending=[True, False])
    )


def _calls(run: Run) -> list[PageTable]:
    calls = by_call(run.tables["calls"])
    if calls.is_empty():
        return []
    whole = max(float(lanes.ended(run)["end_us"].sum()), 1e-12)
    found = [
        (call, f"{count:,}", *map(number, (total, mean, longest)), part(total / whole, 1))
        for call, count, total, mean, longest in calls.iter_rows()
    ]
    rows, left = traffic.cut(found, MOST_CALLS, "kinds of calls, by their time")
    notes = [one for one in (left, "" if run.ended.finished else UNENDED) if one]
    right = ("calls", "total, µs", "mean, µs", "longest, µs", "share")
    caption = "Calls by their share of all ranks' time"
    return [PageTable(("call", *right), rows, caption, right, note=" ".join(notes))]


def _ranks(run: Run) -> PageTable:
    slowest = lanes.ended(run).sort("end_us", "mpi_us", "rank", descending=[True, True, False])
    times = [("end, µs", pl.col("end_us"))]
    ends = slowest["end_us"].to_list()
    digits = digits_apart(min(ends), max(ends)) if ends else 0
    if not run.ended.unseen:
        times.append(("in calls, µs" if run.native else "in MPI, µs", pl.col("mpi_us")))
        if run.ended.finished:
            times.append(("outside, µs", pl.col("end_us") - pl.col("mpi_us")))
    shown = slowest.head(traffic.MOST_RANKS).with_columns(**dict(times))
    rows = [
        (
            f"rank {row['rank']}",
            str(row["node"]),
            *(number(row[name], digits if name == times[0][0] else 0) for name, _ in times),
            *traffic.sent_and_received(row),
        )
        for row in shown.iter_rows(named=True)
    ]
    left = (
        f"{len(rows)} of {len(slowest):,} ranks, the slowest." if len(rows) < len(slowest) else ""
    )
    notes = [one for one in (left, "" if run.ended.finished else UNENDED) if one]
    columns = ("rank", "node", *(name for name, _ in times), "sent", "received")
    return PageTable(
        columns,
        rows,
        "Ranks, the slowest first",
        columns[1:],
        folded=len(rows) > 8,
        note=" ".join(notes),
    )
