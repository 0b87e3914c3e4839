"""Timeline data: operations by rank, messages between ranks, and link load over time.

A timeline has a lane for each rank. A lane has rows, and a row has intervals: program calls or
trace operations. ``Timeline`` is bounded, so that its page opens immediately, and counts the parts
that a bound leaves out:

- *ranks*: beyond ``MOST_LANES``, every k-th rank has a lane, and the rank that ends last;
- *intervals*: beyond ``MOST_INTERVALS``, short neighbours in a row are one interval with their
  count, their summed durations, and the kind with the largest part in that sum; longer intervals
  stay as they are;
- *messages*: beyond ``MOST_MESSAGES``, every k-th between the ranks with lanes, in posting order;
- *links*: the ``MOST_LINKS`` busiest node links, and the same number between switches.

All times are whole picoseconds since the ranks began, as the simulator has them. Load is in
thousandths of the link's bandwidth in each period.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Mapping

    from elanite.mpirun.session import Run
    from elanite.traces.replay import Replay

MOST_LANES = 1024
MOST_INTERVALS = 60_000
MOST_MESSAGES = 20_000
MOST_LINKS = 12

GROUPS = (
    "send",
    "receive",
    "exchange",
    "wait",
    "collective",
    "one-sided",
    "compute",
    "unended",
    "other",
)
"""Kind groups, each with its own colour."""

SENDING = ("send", "active", "put", "atomic", "swap")
RECEIVING = ("recv", "probe", "poll", "handle", "await", "get")
"""The kinds of a trace's operations in the rows of sends and of receives."""

UNENDED = ", not ended"
"""The name suffix for an operation that had not ended when the replay did."""

_GROUP_OF = (
    ("unended", f"{UNENDED}$"),
    ("other", r"^mpi_file_"),
    ("wait", r"wait|test(?!_inter)|probe|poll|fence|flush|(?<![bc])lock|quiet|parrived|get_status"),
    ("one-sided", r"win_|put|_r?get(?!_(?!c$))|accumulate|fetch|swap|atomic|_inc$|_add$"),
    (
        "collective",
        r"barrier|bcast|reduce|gather|scatter|toall|scan|sync|broadcast|collect|gsync|hgsync",
    ),
    ("exchange", r"sendrecv|^mpi_start"),  # a persistent request may be either
    ("receive", r"recv|rx|^handle$|^await$"),
    ("send", r"send|(?<!c)tx|pready|^active$"),
    ("compute", r"^calc$"),
)
"""A call's group by its name; the first pattern that is found decides."""


@dataclass(frozen=True)
class Timeline:
    """One timeline's bounded data."""

    end_ps: int
    """When the last rank, or the run, ends."""
    rows: tuple[str, ...]
    """Each lane's rows, from above."""
    kinds: tuple[tuple[str, int], ...]
    """Kinds of intervals: name and row."""
    lanes: pl.DataFrame
    """The drawn ranks: ``rank``, ``node``, ``end_ps``."""
    intervals: pl.DataFrame
    """``rank``, ``kind`` (a place in ``kinds``), ``begin_ps``, ``end_ps``; ``count`` and
    ``time_ps`` (the summed durations; more than 1 and less than the length for merged intervals);
    ``bytes`` and ``peer``, null where unknown. Ordered by rank and begin.
    """
    messages: pl.DataFrame
    """``source``, ``destination``, ``bytes``, ``kind``, ``begin_ps`` (posted) and ``end_ps``
    (arrived, or null).
    """
    links: pl.DataFrame
    """``link``, ``name``, ``level`` (0 for node links), ``busy`` (share of the run), each level's
    busiest first.
    """
    periods: pl.DataFrame
    """The load's periods, ``begin_ps`` and ``end_ps``; all links are idle in gaps between
    periods.
    """
    loads: tuple[tuple[float, ...], ...]
    """For each link: its load in each period, in thousandths, whole ones but beside 0 and 1000."""
    totals: Mapping[str, int]
    """The numbers without any bound: ``ranks``, ``intervals``, ``messages``, ``links`` (that were
    busy).
    """
    ends: Mapping[int, str] = field(default_factory=dict)
    """By rank: the operation in which it waits at a failed run's end. The call has no interval, as
    it has no end; it began at some time after the last interval.
    """

    @property
    def exact(self) -> pl.DataFrame:
        """The intervals that are not merged."""
        return self.intervals.filter(pl.col("count") == 1)

    def notes(self) -> list[str]:
        """A sentence for each bound that leaves something out."""
        found = []
        lanes, all_lanes = len(self.lanes), self.totals["ranks"]
        if lanes < all_lanes:
            found.append(
                f"{lanes:,} of {all_lanes:,} ranks drawn: one in {_step(all_lanes, MOST_LANES)},"
                " and the last to end."
            )
        merged = self.intervals.filter(pl.col("count") > 1)
        if len(merged):
            found.append(
                f"{len(self.exact):,} of {self.totals['intervals']:,} intervals drawn one by one;"
                f" {len(merged):,} others stand for {int(merged['count'].sum()):,} short"
                " neighbours, with their number and duration."
            )
        if len(self.messages) < (total := self.totals["messages"]):
            found.append(
                f"{len(self.messages):,} of {total:,} messages drawn, evenly chosen in posting"
                " order."
            )
        if len(self.links) < (total := self.totals["links"]):
            found.append(
                f"{len(self.links):,} of {total:,} busy links drawn: the busiest at nodes and"
                " between switches."
            )
        return found

    def as_json(self) -> dict[str, object]:
        """The timeline as plain data.

        A lane's begins are sorted, and each is the difference to the one before.
        """
        of_rank = {
            rank: rows for (rank,), rows in self.intervals.group_by("rank", maintain_order=True)
        }
        empty = self.intervals.clear()
        messages = self.messages
        return {
            "end": self.end_ps,
            "rows": list(self.rows),
            "kinds": [[name, row, GROUPS.index(group(name))] for name, row in self.kinds],
            "groups": list(GROUPS),
            "lanes": [
                _lane(rank, node, end, of_rank.get(rank, empty))
                for rank, node, end in self.lanes.select("rank", "node", "end_ps").iter_rows()
            ],
            "ends": {str(rank): text for rank, text in self.ends.items()},
            "messages": {
                "source": messages["source"].to_list(),
                "destination": messages["destination"].to_list(),
                "bytes": messages["bytes"].to_list(),
                "kind": messages["kind"].to_list() if messages["kind"].n_unique() > 1 else [],
                "begin": messages["begin_ps"].to_list(),
                "took": (messages["end_ps"] - messages["begin_ps"]).to_list(),
            },
            "links": [
                [name, level, float(f"{busy:.4g}")]
                for name, level, busy in self.links.select("name", "level", "busy").iter_rows()
            ],
            "periods": [list(row) for row in self.periods.iter_rows()],
            "loads": [list(one) for one in self.loads],
            "totals": dict(self.totals),
        }


def group(kind: str) -> str:
    """The group for a call or operation, by name."""
    name = kind.lower()
    return next((found for found, pattern in _GROUP_OF if re.search(pattern, name)), "other")


def of_run(run: Run) -> Timeline:
    """The timeline for a run that kept its calls.

    The run may have failed after its ranks had attached.
    """
    ranks = ended(run).with_columns(end_ps=_ps("end_us"))
    end_ps = round(1e6 * max(run.summary["time_us"], run.ended.time_us))
    calls = run.tables["calls"].select(
        "rank",
        name="call",
        row=pl.lit(0),
        begin_ps=_ps("begin_us"),
        end_ps=_ps("end_us"),
        bytes=pl.lit(None, pl.UInt64),
        peer=pl.lit(None, pl.UInt32),
    )
    messages = run.tables["messages"].select(
        "source",
        "destination",
        "bytes",
        "kind",
        begin_ps=_ps("posted_us"),
        end_ps=_ps("arrived_us"),
    )
    ends = {
        one.rank: f"{one.call}: {one.what}" if one.what else one.call for one in run.ended.waiting
    }
    return _bounded(("calls",), ranks, calls, messages, _links(run.tables, end_ps), end_ps, ends)


def ended(run: Run) -> pl.DataFrame:
    """The rank table; a rank that has not finished ends with the run."""
    unfinished = pl.lit(not run.ended.finished) & (pl.col("end_us") == 0)
    end_us = max(float(run.summary["time_us"]), run.ended.time_us)
    return run.tables["ranks"].with_columns(
        end_us=pl.when(unfinished).then(end_us).otherwise("end_us")
    )


def of_replay(replay: Replay) -> Timeline:
    """The timeline for a replay that kept its operations, and may have stopped before its end.

    Operations that had not ended last until then, and so do their ranks; a message that had not
    arrived has no line.
    """
    end_ps = round(1e6 * replay.summary["time_us"])
    waiting = replay.tables["waiting"].with_columns(
        begin_ps=_ps("free_us"), end_ps=pl.lit(end_ps, pl.Int64)
    )
    waits = pl.col("rank").is_in(waiting["rank"].implode())
    last = pl.when(waits).then(pl.lit(end_ps)).otherwise(_ps("end_us"))
    ranks = replay.tables["ranks"].with_columns(end_ps=last)
    rows = {"calc": 0} | dict.fromkeys(SENDING, 1) | dict.fromkeys(RECEIVING, 2)
    operations = timed(replay.tables["operations"])
    ended = operations.with_columns(name="kind")
    unended = waiting.with_columns(name=pl.col("kind") + UNENDED)
    intervals = pl.concat([ended, unended], how="diagonal").select(
        "rank",
        "begin_ps",
        "end_ps",
        "name",
        row=pl.col("kind").replace_strict(rows, return_dtype=pl.Int32),
        bytes=pl.when(~pl.col("kind").is_in(["calc", "probe", "poll", "await"])).then("size"),
        peer=pl.coalesce("sender", "peer"),
    )
    return _bounded(
        ("compute", "send", "receive"),
        ranks,
        intervals,
        messages_of(operations),
        _links(replay.tables, end_ps),
        end_ps,
        {},
    )


def timed(operations: pl.DataFrame) -> pl.DataFrame:
    """A replay's operations with ``begin_ps``, when their dependencies are met, and ``end_ps``."""
    return operations.with_columns(begin_ps=_ps("free_us"), end_ps=_ps("end_us"))


def messages_of(operations: pl.DataFrame) -> pl.DataFrame:
    """Each message's ``source``, ``destination``, ``bytes``, the send's ``begin_ps``, the
    receive's ``end_ps`` and its kind's name, as in MPI runs; accesses to memory have their own
    times.

    The operations are ``timed``.
    """
    sends = operations.filter(pl.col("kind").is_in(["send", "active"])).select(
        source="rank",
        sent_by="operation",
        bytes="size",
        begin_ps="begin_ps",
        kind=pl.col("kind").replace_strict({"send": "tagged", "active": "untagged"}),
    )
    receives = operations.filter(pl.col("sent_by").is_not_null()).select(
        "sent_by", "end_ps", source="sender", destination="rank"
    )
    columns = ("source", "destination", "bytes", "begin_ps", "end_ps", "kind")
    messages = sends.join(receives, on=["source", "sent_by"]).select(columns)
    return pl.concat([messages, accesses(operations).select(columns)])


def accesses(operations: pl.DataFrame) -> pl.DataFrame:
    """Puts, gets and atomics with their ``source``, ``destination`` and ``bytes``."""
    gets = pl.col("kind") == "get"
    return operations.filter(pl.col("kind").is_in(["put", "get", "atomic", "swap"])).with_columns(
        source=pl.when(gets).then("peer").otherwise("rank"),
        destination=pl.when(gets).then("rank").otherwise("peer"),
        bytes="size",
        kind=pl.col("kind").replace("swap", "atomic"),
    )


@dataclass(frozen=True)
class _Links:
    """The busiest links' load."""

    links: pl.DataFrame
    periods: pl.DataFrame
    loads: tuple[tuple[float, ...], ...]
    busy: int


def _links(tables: Mapping[str, pl.DataFrame], end_ps: int) -> _Links:
    from elanite.mpirun.summary import busiest

    busy = busiest(tables["links"], end_ps / 1e6)
    of_nodes = pl.col("level") == 0
    chosen = pl.concat([busy.filter(kind).head(MOST_LINKS) for kind in (of_nodes, ~of_nodes)])
    series = tables["series"].select(
        "thing", "id", "busy", begin_ps=_ps("time_us"), end_ps=_ps("end_us")
    )
    periods = series.select("begin_ps", "end_ps").unique().sort("begin_ps")
    place = periods.with_row_index("period")
    ours = series.filter(pl.col("thing") == "link", pl.col("id").is_in(chosen["link"].to_list()))
    filled = ours.join(place, on=["begin_ps", "end_ps"]).select(
        "id", "period", load=_thousandths(pl.col("busy"))
    )
    loads = []
    for link in chosen["link"]:
        of_link = dict(filled.filter(pl.col("id") == link).select("period", "load").iter_rows())
        loads.append(tuple(of_link.get(period, 0) for period in range(len(periods))))
    named = chosen.select("link", "level", "busy", name=pl.format("{} → {}", "from", "to"))
    return _Links(named, periods, tuple(loads), len(busy))


def _thousandths(share: pl.Expr) -> pl.Expr:
    """A share in whole thousandths; one that would be 0 or 1000 without being so is exact."""
    exact, whole = 1000 * share, (1000 * share).round()
    return pl.when(((whole == 0) | (whole == 1000)) & (exact != whole)).then(exact).otherwise(whole)


def _bounded(
    rows: tuple[str, ...],
    ranks: pl.DataFrame,
    intervals: pl.DataFrame,
    messages: pl.DataFrame,
    links: _Links,
    end_ps: int,
    ends: Mapping[int, str],
) -> Timeline:
    """The timeline within the bounds. ``intervals`` have their kind's ``name`` and ``row``."""
    totals = {
        "ranks": len(ranks),
        "intervals": len(intervals),
        "messages": len(messages),
        "links": links.busy,
    }
    lanes = _spread(ranks)
    drawn = lanes["rank"].to_list()
    if len(lanes) < len(ranks):
        intervals = intervals.filter(pl.col("rank").is_in(drawn))
        messages = messages.filter(
            pl.col("source").is_in(drawn), pl.col("destination").is_in(drawn)
        )
    kinds = intervals.select("name", "row").unique().sort("row", "name")
    numbered = intervals.join(kinds.with_row_index("kind"), on=["name", "row"]).drop("name")
    messages = messages.sort("begin_ps", "source", "destination", maintain_order=True)
    return Timeline(
        end_ps,
        rows,
        tuple((str(name), int(row)) for name, row in kinds.iter_rows()),
        lanes.select("rank", "node", "end_ps"),
        merged(numbered, end_ps, MOST_INTERVALS),
        messages.gather_every(_step(len(messages), MOST_MESSAGES)),
        links.links,
        links.periods,
        links.loads,
        totals,
        {rank: text for rank, text in ends.items() if rank in set(drawn)},
    )


def _spread(ranks: pl.DataFrame) -> pl.DataFrame:
    """The ranks that have lanes: all, or every k-th and the one that ends last."""
    step = _step(len(ranks), MOST_LANES)
    last = ranks.sort("end_ps", "rank", descending=[True, False])["rank"][0] if len(ranks) else None
    return ranks.filter((pl.col("rank") % step == 0) | (pl.col("rank") == last)).sort("rank")


def merged(intervals: pl.DataFrame, end_ps: int, most: int) -> pl.DataFrame:
    """At most about ``most`` intervals: intervals shorter than a width, which is doubled until they
    fit, are merged.

    Intervals that begin in the same multiple of the width, in one row, are merged into one. A row
    keeps at least one.
    """
    order = ["rank", "begin_ps", "row", "end_ps"]
    whole = intervals.with_columns(
        count=pl.lit(1, pl.UInt32), time_ps=pl.col("end_ps") - pl.col("begin_ps")
    ).select("rank", "row", "kind", "begin_ps", "end_ps", "count", "time_ps", "bytes", "peer")
    found, width = whole, max(end_ps >> 20, 1)
    while len(found) > most and width <= 2 * max(end_ps, 1):
        short = pl.col("time_ps") < width
        place = [pl.col("rank"), pl.col("row"), (pl.col("begin_ps") // width).alias("place")]
        known = pl.col("bytes").is_not_null()
        by_kind = (
            whole.filter(short)
            .group_by(*place, "kind")
            .agg(
                begin_ps=pl.col("begin_ps").min(),
                end_ps=pl.col("end_ps").max(),
                count=pl.len().cast(pl.UInt32),
                time_ps=pl.col("time_ps").sum(),
                bytes=pl.when(known.any()).then(pl.col("bytes").sum()),
                peer=pl.col("peer").first(),
            )
            .sort("time_ps", "kind", descending=[True, False])
        )
        groups = by_kind.group_by("rank", "row", "place").agg(
            kind=pl.col("kind").first(),  # with the largest sum
            begin_ps=pl.col("begin_ps").min(),
            end_ps=pl.col("end_ps").max(),
            count=pl.col("count").sum(),
            time_ps=pl.col("time_ps").sum(),
            bytes=pl.when(known.any()).then(pl.col("bytes").sum()),
            peer=pl.when(pl.col("count").sum() == 1).then(pl.col("peer").first()),
        )
        found = pl.concat([whole.filter(~short), groups.select(whole.columns)])
        width *= 2
    return found.sort(order, maintain_order=True).drop("row")


def _lane(rank: int, node: int, end: int, rows: pl.DataFrame) -> dict[str, object]:
    begins = rows["begin_ps"].to_list()
    several = (
        rows.with_row_index("place").filter(pl.col("count") > 1).select("place", "count", "time_ps")
    )
    lane: dict[str, object] = {
        "rank": rank,
        "node": node,
        "end": end,
        "kind": rows["kind"].to_list(),
        "begin": [one - before for one, before in zip(begins, [0, *begins], strict=False)],
        "length": (rows["end_ps"] - rows["begin_ps"]).to_list(),
        "several": [list(row) for row in several.iter_rows()],
    }
    if rows["bytes"].null_count() < len(rows):
        lane |= {"bytes": rows["bytes"].to_list(), "peer": rows["peer"].to_list()}
    return lane


def _ps(column: str) -> pl.Expr:
    """A time in us as whole picoseconds, which is the simulator's unit."""
    return (1e6 * pl.col(column)).round().cast(pl.Int64)


def _step(count: int, most: int) -> int:
    """The step with which at most ``most`` of ``count`` items are taken."""
    return max(1, -(-count // most))
