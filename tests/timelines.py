"""Timelines, read back from the HTML and compared with the run's tables; and random runs to
draw.
"""

from __future__ import annotations

import json
import math
import random
import re
from collections import Counter
from dataclasses import dataclass
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

from elanite.inputs import sources
from elanite.mpirun import Options
from elanite.mpirun.cluster import Cluster
from elanite.mpirun.launcher import Mpi
from elanite.mpirun.session import Run
from elanite.mpirun.verdict import RunEnd as End
from elanite.mpirun.verdict import Waiting
from elanite.report.pages import Inputs, render
from elanite.report.pages import run as of_run
from elanite.store import empty, frame
from files.columns import columns

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

Interval = tuple[int, str, int, int]
"""Rank, kind, begin and end in ps."""


def embedded(page: str) -> dict[str, Any]:
    """A page's timeline data."""
    match = re.search(
        r'<div class="timeline".*?<script type="application/json">(.*?)</script>', page, re.DOTALL
    )
    assert match is not None, "the page has a timeline"
    found: dict[str, Any] = json.loads(match[1])
    return found


def intervals(data: Mapping[str, Any]) -> tuple[Counter[Interval], dict[Interval, tuple[int, int]]]:
    """The intervals one by one, and the merged ones with their number and total duration."""
    one: Counter[Interval] = Counter()
    several: dict[Interval, tuple[int, int]] = {}
    for lane in data["lanes"]:
        counts = {place: (count, time) for place, count, time in lane["several"]}
        begin = 0
        for place, (kind, gap, length) in enumerate(
            zip(lane["kind"], lane["begin"], lane["length"], strict=True)
        ):
            begin += gap
            interval = (lane["rank"], data["kinds"][kind][0], begin, begin + length)
            if place in counts:
                assert interval not in several
                several[interval] = counts[place]
            else:
                one[interval] += 1
    return one, several


def ps(time_us: float) -> int:
    return round(time_us * 1e6)


def of_calls(calls: pl.DataFrame) -> Counter[Interval]:
    rows = calls.select("rank", "call", "begin_us", "end_us").iter_rows()
    return Counter((rank, call, ps(begin), ps(end)) for rank, call, begin, end in rows)


def of_operations(operations: pl.DataFrame) -> Counter[Interval]:
    rows = operations.select("rank", "kind", "free_us", "end_us").iter_rows()
    return Counter((rank, kind, ps(free), ps(end)) for rank, kind, free, end in rows)


Message = tuple[int, int, int, int, int | None]
"""Source, destination, bytes, posted and arrived in ps."""


def messages(data: Mapping[str, Any]) -> Counter[Message]:
    sent = data["messages"]
    columns = (sent[name] for name in ("source", "destination", "bytes", "begin", "took"))
    rows = zip(*columns, strict=True)
    return Counter(
        (*ends, begin, None if took is None else begin + took) for *ends, begin, took in rows
    )  # type: ignore[misc]


def of_messages(table: pl.DataFrame) -> Counter[Message]:
    rows = table.select("source", "destination", "bytes", "posted_us", "arrived_us").iter_rows()
    return Counter(
        (*ends, ps(posted), None if end is None else ps(end)) for *ends, posted, end in rows
    )  # type: ignore[misc]


def of_pairs(operations: pl.DataFrame) -> Counter[Message]:
    """A replay's messages: a send, and the receive that names it; and accesses to memory."""
    rows = list(operations.iter_rows(named=True))
    sends = {
        (row["rank"], row["operation"]): row for row in rows if row["kind"] in ("send", "active")
    }
    found: Counter[Message] = Counter()
    for row in rows:
        ends = (row["rank"], row["peer"])
        if row["kind"] in ("put", "get", "atomic", "swap"):
            way = ends[::-1] if row["kind"] == "get" else ends
            found[*way, row["size"], ps(row["free_us"]), ps(row["end_us"])] += 1
        if row["kind"] in ("recv", "handle"):
            send = sends[row["sender"], row["sent_by"]]
            assert send["peer"] == row["rank"]
            found[
                send["rank"], row["rank"], send["size"], ps(send["free_us"]), ps(row["end_us"])
            ] += 1
    return found


def agree(data: Mapping[str, Any], tables: Mapping[str, pl.DataFrame]) -> None:
    """Check a timeline without merged parts against a run's or replay's tables."""
    calls = "calls" in tables
    lanes = [(lane["rank"], lane["node"], lane["end"]) for lane in data["lanes"]]
    ranks = tables["ranks"].select("rank", "node", "end_us").sort("rank").iter_rows()
    assert lanes == [(rank, node, ps(end)) for rank, node, end in ranks], "a lane for each rank"
    one, several = intervals(data)
    assert not several
    expected = of_calls(tables["calls"]) if calls else of_operations(tables["operations"])
    assert one == expected, "an interval for each row"
    sent = of_messages(tables["messages"]) if calls else of_pairs(tables["operations"])
    assert messages(data) == sent, "a line for each message"
    assert data["totals"] == {
        "ranks": len(lanes),
        "intervals": expected.total(),
        "messages": sent.total(),
        "links": len(tables["links"].filter(tables["links"]["busy_ps"] > 0)),
    }
    if len(tables["links"]):
        loads(data, tables)


def loads(data: Mapping[str, Any], tables: Mapping[str, pl.DataFrame]) -> None:
    """Check every drawn link's load in every period, and that the drawn links are the busiest."""
    names = {f"{row['from']} → {row['to']}": row for row in tables["links"].iter_rows(named=True)}
    series = tables["series"].filter(tables["series"]["thing"] == "link")
    expected = {
        (row["id"], ps(row["time_us"]), ps(row["end_us"])): (
            whole
            if 0 < (whole := round(1000 * row["busy"])) < 1000 or row["busy"] in (0, 1)
            else 1000 * row["busy"]
        )
        for row in series.iter_rows(named=True)
    }
    drawn = [names[name] for name, *_ in data["links"]]
    shown = {
        (row["link"], begin, end): load
        for row, list_ in zip(drawn, data["loads"], strict=True)
        for (begin, end), load in zip(data["periods"], list_, strict=True)
        if load
    }
    links = {row["link"] for row in drawn}
    assert shown == {
        place: load for place, load in expected.items() if place[0] in links and load
    }, "the load of links"
    for of_nodes in (True, False):
        level = [
            row for row in names.values() if (row["level"] == 0) is of_nodes and row["busy_ps"]
        ]
        here = [row["busy_ps"] for row in drawn if (row["level"] == 0) is of_nodes]
        assert here == sorted((row["busy_ps"] for row in level), reverse=True)[: len(here)], (
            "the busiest links"
        )
    for name, _, busy in data["links"]:
        assert math.isclose(busy, names[name]["busy_ps"] / data["end"], rel_tol=1e-3)


@dataclass(frozen=True)
class Listed:
    """A page's table."""

    columns: list[str]
    rows: list[list[str]]


class Tables(HTMLParser):
    """A page's tables by their captions."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: dict[str, Listed] = {}
        self._tag = ""
        self._caption = ""
        self._rows: list[list[str]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._tag = tag
        if tag == "table":
            self._caption, self._rows = "", []
        if tag == "tr":
            self._rows.append([])
        if tag in ("td", "th") and self._rows:
            self._rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        self._tag = ""
        if tag == "table" and self._rows:
            self.found[self._caption] = Listed(self._rows[0], self._rows[1:])

    def handle_data(self, data: str) -> None:
        if self._tag == "caption":
            self._caption += data
        if self._tag in ("td", "th") and self._rows:
            self._rows[-1][-1] += data


CALLS = ("MPI_Send", "MPI_Recv", "MPI_Waitall", "MPI_Barrier", "MPI_Init")


def a_run(seed: int, ranks: int, calls: int, *, end: str = "finished") -> Run:
    """A run with random calls, one after the other in each rank, and random messages, some lost."""
    draw = random.Random(seed)
    made: list[Any] = []
    ends: list[float] = []
    for rank in range(ranks):
        at = 0
        for _ in range(calls):
            begin = at + draw.choice((0, 0, draw.randrange(4_000_000)))
            at = begin + draw.choice((0, draw.randrange(2_000), draw.randrange(9_000_000)))
            made.append((rank, draw.choice(CALLS), begin / 1e6, at / 1e6))
        ends.append(at / 1e6)
    last = max(ends)
    sent: list[Any] = []
    for _ in range(3 * calls):
        posted = draw.randrange(int(last * 1e6) + 1)
        arrived = None if draw.random() < 0.1 else (posted + draw.randrange(10**7)) / 1e6
        ends_of = (draw.randrange(ranks), draw.randrange(ranks))
        sent.append(
            (
                *ends_of,
                draw.choice((0, 8, 70_000)),
                draw.randrange(9),
                "tagged",
                posted / 1e6,
                None,
                arrived,
            )
        )
    names = [f"node {link}" for link in range(40)] + [f"switch 2.{link}" for link in range(40)]
    wires = [
        (
            link,
            name,
            f"switch 1.{link}",
            link // 40,
            link < 40,
            9,
            90,
            draw.randrange(int(last * 1e6) + 1),
            0,
            0,
        )
        for link, name in enumerate(names)
    ]
    periods = [(begin * last / 8, (begin + 1) * last / 8) for begin in range(8)]
    series = [
        (begin, until, thing, draw.randrange(80), draw.random() ** 9)  # some below 0.0005
        for begin, until in periods
        for thing in ("link", "link", "link", "bus")
    ]
    one_each = {row[:4]: row for row in series}.values()
    spent = [sum(e - b for r, _, b, e in made if r == rank) for rank in range(ranks)]
    last_of = [ends[rank] if end == "finished" else 0 for rank in range(ranks)]
    rows = [
        (r, r, 3, 30, 4, 40, spent[r], 0.0, last_of[r], *(0, 0, 0, 0.0, 0, 0, 0))
        for r in range(ranks)
    ]
    totals = (last, len(sent), sum(row[2] for row in sent), 7, 0, 70, "abc", True, 0, 0, 0)
    tables = {
        "calls": columns(made, "rank", "call", "begin_us", "end_us"),
        "messages": columns(
            sent,
            "source",
            "destination",
            "bytes",
            "tag",
            "kind",
            "posted_us",
            "sent_us",
            "arrived_us",
        ),
        "series": columns(list(one_each), "time_us", "end_us", "thing", "id", "busy"),
        "links": columns(
            wires,
            "link",
            "from",
            "to",
            "level",
            "up",
            "packets",
            "flits",
            "busy_ps",
            "waiting_ps",
            "delay_ps",
        ),
        "ranks": columns(
            rows,
            *("rank", "node", "messages_sent", "bytes_sent", "messages_received", "bytes_received"),
            *("mpi_us", "clocks_us", "end_us"),
            *("file_operations", "file_bytes_read", "file_bytes_written", "files_us"),
            *("untimed_operations", "untimed_bytes_read", "untimed_bytes_written"),
        ),
        "summary": columns(
            [totals],
            *(
                "time_us",
                "messages",
                "bytes",
                "packets",
                "packets_resent",
                "events",
                "digest",
                "repeatable",
            ),
            *("collectives_hardware", "collectives_elan", "collectives_mpi"),
        ),
    }
    waiting = (
        ()
        if end == "finished"
        else (Waiting(1, "MPI_Recv", "receives a message of rank 0, tag 7"),)
    )
    ended = End(
        end, "" if end == "finished" else "deadlock at 9 µs: every rank waits", 0, last, waiting
    )
    known = {name: frame(one) for name, one in tables.items()} | {"faults": empty("faults")}
    cluster = Cluster.of(sources.read("machine", "es40-qsnet"))
    mpi = Mpi("mpiexec", "MPICH", "5")
    return Run(
        ("x",), Options(ranks, timeline=True), cluster, tuple(range(ranks)), mpi, ended, 0.1, known
    )


def page_of(run: Run) -> str:
    machine = sources.read("machine", "es40-qsnet")
    return render(of_run.page(run, machine, ("elanite", "mpirun"), Inputs(("elanite", "mpirun"))))
