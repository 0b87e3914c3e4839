"""Timeline data: every rank, call, message and load, and an account for everything left out."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import elanite
from elanite.mpirun import Options
from elanite.mpirun.session import Run
from elanite.mpirun.verdict import RunEnd as End
from elanite.report.pages import lanes, timeline
from elanite.report.pages.frame import template
from timelines import (
    Tables,
    a_run,
    agree,
    embedded,
    intervals,
    loads,
    messages,
    of_calls,
    of_messages,
    page_of,
)


@pytest.mark.parametrize("seed", range(6))
def test_a_timeline_has_every_rank_call_message_and_load(seed: int) -> None:
    run = a_run(seed, ranks=1 + 3 * seed, calls=40)
    agree(embedded(page_of(run)), run.tables)


def wrong_lane(data: dict[str, Any]) -> None:
    data["lanes"].pop()


def wrong_node(data: dict[str, Any]) -> None:
    data["lanes"][0]["node"] += 1


def lost_interval(data: dict[str, Any]) -> None:
    for name in ("kind", "begin", "length"):
        data["lanes"][1][name].pop()


def late_interval(data: dict[str, Any]) -> None:
    data["lanes"][2]["begin"][3] += 1


def other_kind(data: dict[str, Any]) -> None:
    kinds = data["lanes"][0]["kind"]
    kinds[5] = (kinds[5] + 1) % len(data["kinds"])


def swapped_ends(data: dict[str, Any]) -> None:
    sent = data["messages"]
    place = next(
        one
        for one, ends in enumerate(zip(sent["source"], sent["destination"], strict=True))
        if len({*ends}) > 1
    )
    sent["source"][place], sent["destination"][place] = (
        sent["destination"][place],
        sent["source"][place],
    )


def early_arrival(data: dict[str, Any]) -> None:
    sent = data["messages"]
    place = next(one for one, took in enumerate(sent["took"]) if took)
    sent["took"][place] -= 1


def found_message(data: dict[str, Any]) -> None:
    sent = data["messages"]
    sent["took"][sent["took"].index(None)] = 5


def cooler_link(data: dict[str, Any]) -> None:
    list_ = next(list_ for list_ in data["loads"] if any(list_))
    place = next(one for one, load in enumerate(list_) if load)
    list_[place] //= 2


def other_links(data: dict[str, Any]) -> None:
    data["links"][0], data["links"][-1] = data["links"][-1], data["links"][0]


def wrong_total(data: dict[str, Any]) -> None:
    data["totals"]["intervals"] -= 1


MISTAKES = (
    wrong_lane,
    wrong_node,
    lost_interval,
    late_interval,
    other_kind,
    swapped_ends,
    early_arrival,
    found_message,
)
MISTAKES += (cooler_link, other_links, wrong_total)


@pytest.mark.parametrize("plant", MISTAKES)
def test_a_mistake_in_a_timeline_is_found(plant: Callable[[dict[str, Any]], None]) -> None:
    run = a_run(1, ranks=4, calls=40)
    data = lanes.of_run(run).as_json()
    plant(data)
    with pytest.raises(AssertionError):
        agree(data, run.tables)


@pytest.mark.parametrize("most", [40, 100, 250, 400])
def test_merged_intervals_account_for_every_call(
    monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    """Kept intervals are rows; merged ones have the count and total time of the rows that they
    replace.
    """
    monkeypatch.setattr(lanes, "MOST_INTERVALS", most)
    run = a_run(most, ranks=7, calls=60)
    found = lanes.of_run(run)
    one, several = intervals(found.as_json())
    calls = of_calls(run.tables["calls"])
    assert one <= calls
    rest = calls - one
    counts, times = Counter[int](), Counter[int]()
    for (rank, _, begin, end), (count, time) in several.items():
        assert count > 1
        inside = [
            row for row in rest.elements() if row[0] == rank and begin <= row[2] and row[3] <= end
        ]
        assert count <= len(inside)
        assert time <= sum(row[3] - row[2] for row in inside)
        counts[rank] += count
        times[rank] += time
    for rank in range(7):
        of_rank = [row for row in rest.elements() if row[0] == rank]
        assert counts[rank] == len(of_rank), "no call is lost"
        assert times[rank] == sum(row[3] - row[2] for row in of_rank), "no time is lost"
    assert one.total() + len(several) <= max(most, 2 * 7)
    assert several, "the bound is too wide for this test"
    words = (
        f"{one.total():,} of {calls.total():,} intervals drawn one by one; {len(several):,} others"
        " stand for"
    )
    assert f"{words} {rest.total():,} short neighbours" in " ".join(found.notes())


def test_what_bounds_leave_out_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lanes, "MOST_LANES", 10)
    monkeypatch.setattr(lanes, "MOST_MESSAGES", 20)
    run = a_run(3, ranks=45, calls=30)
    data = embedded(page := page_of(run))
    drawn = [lane["rank"] for lane in data["lanes"]]
    last = run.tables["ranks"].sort("end_us", "rank", descending=[True, False])["rank"][0]
    assert drawn == sorted({*range(0, 45, 5), last})
    one, _ = intervals(data)
    assert one == Counter(
        {row: count for row, count in of_calls(run.tables["calls"]).items() if row[0] in drawn}
    )
    between = [
        row for row in of_messages(run.tables["messages"]).elements() if {*row[:2]} <= {*drawn}
    ]
    shown = messages(data)
    assert shown <= Counter(between)
    assert 10 <= min(20, len(between)) / 2 <= shown.total() <= 20 or shown.total() == len(between)
    assert data["totals"]["messages"] == len(run.tables["messages"])
    loads(data, run.tables)
    assert len(data["links"]) == 2 * lanes.MOST_LINKS
    for words in (
        f"{len(drawn)} of 45 ranks drawn: one in 5, and the last to end.",
        f"{shown.total()} of 90 messages drawn",
        f"{2 * lanes.MOST_LINKS} of 80 busy links drawn",
    ):
        assert words in page


def test_a_large_run_has_a_page_of_bounded_size() -> None:
    """Ranks, calls and messages far beyond the bounds."""
    calls = 200_000
    rank = pl.int_range(calls, eager=True) % 2000
    begin = (pl.int_range(calls, eager=True) // 2000) * 10.0
    run = a_run(5, ranks=4, calls=10)
    tables = dict(run.tables)
    tables["calls"] = pl.DataFrame({"rank": rank.cast(pl.UInt32), "begin_us": begin}).with_columns(
        end_us=pl.col("begin_us") + 4.0,
        call=pl.when(pl.col("rank") % 3 == 0)
        .then(pl.lit("MPI_Send"))
        .otherwise(pl.lit("MPI_Recv")),
    )
    tables["ranks"] = pl.concat([run.tables["ranks"]] * 500).with_columns(
        rank=pl.int_range(2000).cast(pl.UInt32), end_us=pl.lit(1000.0)
    )
    tables["summary"] = tables["summary"].with_columns(time_us=pl.lit(1000.0))
    tables["messages"] = pl.concat([run.tables["messages"]] * 3000)
    large = Run(
        run.words,
        Options(2000),
        run.cluster,
        tuple(range(2000)),
        run.mpi,
        End("finished", "", 0, 1000.0),
        0.1,
        tables,
    )
    found = lanes.of_run(large)
    assert len(found.lanes) <= lanes.MOST_LANES
    assert len(found.intervals) <= lanes.MOST_INTERVALS
    assert len(found.messages) <= lanes.MOST_MESSAGES
    assert len(json.dumps(found.as_json())) < 3_000_000


def test_a_call_without_an_end_has_no_interval() -> None:
    """A rank that waits when a failed run ends: its lane ends with the run, and names the call."""
    run = a_run(2, ranks=3, calls=20, end="deadlock")
    data = embedded(page := page_of(run))
    one, _ = intervals(data)
    assert one == of_calls(run.tables["calls"])
    assert data["ends"] == {"1": "MPI_Recv: receives a message of rank 0, tag 7"}
    assert {lane["end"] for lane in data["lanes"]} == {data["end"]}
    table = Tables(page).found["Ranks at the end of the run"]
    assert table.rows == [["rank 1", "MPI_Recv", "receives a message of rank 0, tag 7"]]
    assert "% of their time" not in page, (
        "a share of the time of a run without an end means nothing"
    )
    assert page.count("Calls that did not end are not counted.") == 2


CALLS = {
    "send": (
        "send bsend ssend rsend isend ibsend issend irsend psend_init pready pready_list"
        " pready_range"
    ),
    "receive": "recv irecv mrecv imrecv precv_init",
    "exchange": "sendrecv sendrecv_replace isendrecv isendrecv_replace start startall",
    "wait": (
        "wait waitall waitany waitsome test testall testany testsome probe iprobe mprobe improbe"
        " parrived request_get_status request_get_status_all request_get_status_any"
        " request_get_status_some buffer_flush buffer_iflush comm_flush_buffer comm_iflush_buffer"
        " session_flush_buffer session_iflush_buffer win_fence win_flush win_flush_all"
        " win_flush_local win_flush_local_all win_lock win_lock_all win_unlock win_unlock_all"
        " win_test win_wait"
    ),
    "one-sided": (
        "put get rput rget accumulate raccumulate get_accumulate rget_accumulate fetch_and_op"
        " compare_and_swap win_allocate win_allocate_shared win_create win_create_dynamic win_free"
        " win_post win_start win_complete win_sync win_get_attr win_set_info win_shared_query"
    ),
}
"""The MPI calls in each group, without the collective operations."""

COLLECTIVE = (
    "barrier bcast gather gatherv scatter scatterv allgather allgatherv alltoall alltoallv"
    " alltoallw reduce allreduce reduce_scatter reduce_scatter_block scan exscan neighbor_allgather"
    " neighbor_allgatherv neighbor_alltoall neighbor_alltoallv neighbor_alltoallw"
)


def test_every_call_of_mpi_has_the_colour_of_its_group() -> None:
    """A call that sends and receives is not a send or a receive; ``reduce_scatter_block`` is not a
    lock.
    """
    group_of = {name: group for group, names in CALLS.items() for name in names.split()}
    group_of |= {prefix + name: "collective" for name in COLLECTIVE.split() for prefix in ("", "i")}
    library = (Path(elanite.__file__).parent / "libelanite-fi.so").read_bytes()
    calls = {name.decode() for name in re.findall(rb"(?<=\0)(MPI_[A-Z]\w+)(?=\0)", library)}
    assert {f"MPI_{name.capitalize()}" for name in group_of} <= calls
    for call in calls:
        name = call.removeprefix("MPI_").removesuffix("_c").lower()
        assert lanes.group(call) == group_of.get(name, "other"), call
    assert lanes.group("shmem_ctx_create") == "other"


def test_every_group_has_a_colour_and_a_name() -> None:
    colours = dict(re.findall(r"--([\w-]+): (#\w+);", template("timeline.css")))
    assert len({colours[group] for group in lanes.GROUPS}) == len(lanes.GROUPS)
    assert set(timeline.NAMES) == set(lanes.GROUPS)
