"""Run timelines, checked as Perfetto checks them: order, balance, flows, counters."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from elanite.errors import ElaniteError
from elanite.inputs import sources
from elanite.mpirun import Options, timeline
from elanite.mpirun.cluster import Cluster
from elanite.mpirun.launcher import Mpi
from elanite.mpirun.session import Run
from elanite.mpirun.verdict import RunEnd
from elanite.store import empty, frame
from files.columns import columns

pytest.importorskip("perfetto")

Rows = list[tuple[Any, ...]]

CALLS: Rows = [
    (0, "MPI_Send", 1.0, 3.0),
    (0, "MPI_Recv", 3.0, 9.5),
    (1, "MPI_Recv", 0.5, 6.25),
    (1, "MPI_Send", 6.25, 7.0),
    (1, "MPI_Wtime", 7.0, 7.0),
]

MESSAGES: Rows = [
    (0, 1, 1024, 7, "tagged", 1.5, 2.5, 6.0004),
    (1, 0, 0, 2**63 + 5, "tagged", 6.25, 6.5, 9.5),
    (0, 1, 8, 0, "put", 10.0, 10.5, 11.0),  # outside of calls, both ends
    (0, 1, 9, 0, "tagged", 12.0, None, None),  # nobody received it
]


def a_run(
    calls: Rows = CALLS, messages: Rows = MESSAGES, links: int = 2, faults: Rows | None = None
) -> Run:
    series: Rows = [
        (0.0, 2.0, "bus", 0, 0.5),
        (2.0, 4.0, "bus", 0, 1.0),
        (6.0, 8.0, "bus", 0, 0.25),
    ]
    series += [(2.0, 4.0, "thread", 1, 0.125)]
    series += [(2.0, 4.0, "link", link, 0.001 * (1 + link)) for link in range(links)]
    wires: Rows = [
        (link, f"node {link}", "switch 1.0", 0, True, 3, 300, 1000 * (1 + link), 0)
        for link in range(links)
    ]
    given = {
        "calls": columns(calls, "rank", "call", "begin_us", "end_us"),
        "messages": columns(
            messages,
            "source",
            "destination",
            "bytes",
            "tag",
            "kind",
            "posted_us",
            "sent_us",
            "arrived_us",
        ),
        "series": columns(series, "time_us", "end_us", "thing", "id", "busy"),
        "links": columns(
            wires, "link", "from", "to", "level", "up", "packets", "flits", "busy_ps", "waiting_ps"
        ),
        "summary": columns(
            [(12.0, 4, 64, 6, 0, 90, "0x1", True, 0, 0, 0)],
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
    cluster = Cluster.of(sources.read("machine", "es40-qsnet"))
    ended = RunEnd("finished", "", 0, 12.0)
    tables = {name: frame(one) for name, one in given.items()}
    tables["faults"] = pl.DataFrame(faults or [], schema=empty("faults").schema, orient="row")
    return Run(
        ("x",), Options(2), cluster, (0, 5), Mpi("mpiexec", "MPICH", "5"), ended, 0.1, tables
    )


class Trace:
    """A trace as it is read back."""

    def __init__(self, path: Path) -> None:
        from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace as Parsed

        parsed = Parsed()
        parsed.ParseFromString(path.read_bytes())
        self.tracks: dict[int, Any] = {}
        self.events: list[tuple[int, Any, str, dict[str, Any]]] = []
        names: dict[int, str] = {}
        notes: dict[int, str] = {}
        for packet in parsed.packet:
            assert packet.trusted_packet_sequence_id == 1
            names |= {one.iid: one.name for one in packet.interned_data.event_names}
            notes |= {one.iid: one.name for one in packet.interned_data.debug_annotation_names}
            if packet.HasField("track_descriptor"):
                self.tracks[packet.track_descriptor.uuid] = packet.track_descriptor
            if packet.HasField("track_event"):
                event = packet.track_event
                kept = {
                    notes[one.name_iid]: getattr(one, str(one.WhichOneof("value")))
                    for one in event.debug_annotations
                }
                self.events.append((packet.timestamp, event, names.get(event.name_iid, ""), kept))

    def of(self, name: str) -> list[tuple[int, Any, str, dict[str, Any]]]:
        (uuid,) = [uuid for uuid, track in self.tracks.items() if track.name == name]
        return [event for event in self.events if event[1].track_uuid == uuid]


def written(run: Run, folder: Path) -> tuple[Trace, int]:
    path = folder / "run.perfetto"
    hidden = timeline.write(run, path)
    assert [entry.name for entry in folder.iterdir()] == ["run.perfetto"], (
        "nothing half-written stays"
    )
    return Trace(path), hidden


def check(trace: Trace) -> None:
    """Sorted; each event on a track that is described; slices balanced; a flow from its start to
    its end.
    """
    times = [time for time, *_ in trace.events]
    assert times == sorted(times)
    depth: dict[int, int] = defaultdict(int)
    flows: dict[int, list[str]] = defaultdict(list)
    for _, event, _, _ in trace.events:
        counter = trace.tracks[event.track_uuid].HasField("counter")
        assert counter == (event.type == event.TYPE_COUNTER)
        if event.type == event.TYPE_SLICE_BEGIN:
            depth[event.track_uuid] += 1
        if event.type == event.TYPE_SLICE_END:
            depth[event.track_uuid] -= 1
        assert depth[event.track_uuid] in (0, 1)
        for flow in event.flow_ids:
            flows[flow].append("from")
        for flow in event.terminating_flow_ids:
            flows[flow].append("to")
    assert not any(depth.values())
    assert all(ends == ["from", "to"] for ends in flows.values())
    for track in trace.tracks.values():
        assert track.HasField("process") or trace.tracks[track.parent_uuid].HasField("process")


def test_groups_and_tracks(tmp_path: Path) -> None:
    trace, hidden = written(a_run(), tmp_path)
    check(trace)
    assert hidden == 0
    groups = [
        track.process.process_name for track in trace.tracks.values() if track.HasField("process")
    ]
    assert groups == ["ranks of es40-qsnet", "adapters of es40-qsnet", "links of es40-qsnet"]
    assert [track.name for track in trace.tracks.values() if track.name] == [
        "rank 0 on node 0",
        "rank 1 on node 5",
        "node 0: I/O bus",
        "node 1: adapter's processor",
        "node 1 to switch 1.0",
        "node 0 to switch 1.0",
    ]


def test_calls_and_messages(tmp_path: Path) -> None:
    trace, _ = written(a_run(), tmp_path)
    kinds = {1: "begin", 2: "end", 3: "instant"}
    seen = [
        (time, kinds[event.type], name) for time, event, name, _ in trace.of("rank 1 on node 5")
    ]
    assert seen == [
        (500, "begin", "MPI_Recv"),
        (6000, "instant", "from rank 0"),
        (6250, "end", ""),
        (6250, "begin", "MPI_Send"),
        (6250, "instant", "to rank 0"),
        (7000, "end", ""),
        (7000, "begin", "MPI_Wtime"),
        (7000, "end", ""),
        (11000, "instant", "from rank 0"),
    ]
    (_, event, _, notes) = trace.of("rank 1 on node 5")[1]
    assert list(event.terminating_flow_ids) == [1]
    assert notes == {
        "bytes": 1024,
        "tag": 7,
        "kind": "tagged",
        "µs": 6.0004,
        "under way, µs": pytest.approx(4.5004),
    }
    (_, event, _, notes) = trace.of("rank 1 on node 5")[4]
    assert list(event.flow_ids) == [2]
    assert notes["tag"] == 2**63 + 5
    (*_, (_, event, name, _)) = trace.of("rank 0 on node 0")
    assert (name, list(event.flow_ids)) == ("to rank 1", []), "an arrow to nowhere is none"


def test_counters_fall_to_zero_where_nothing_is_said(tmp_path: Path) -> None:
    trace, _ = written(a_run(), tmp_path)
    bus = [(time, event.double_counter_value) for time, event, *_ in trace.of("node 0: I/O bus")]
    assert bus == [(0, 50.0), (2000, 100.0), (4000, 0.0), (6000, 25.0), (8000, 0.0)]
    link = [
        (time, event.double_counter_value) for time, event, *_ in trace.of("node 1 to switch 1.0")
    ]
    assert link == [(0, 0.0), (2000, 0.2), (4000, 0.0)]


def test_only_the_busiest_links_have_tracks(tmp_path: Path) -> None:
    trace, hidden = written(a_run(links=timeline.MOST_LINKS + 3), tmp_path)
    assert hidden == 3
    names = [track.name for track in trace.tracks.values() if track.HasField("counter")]
    assert "node 3 to switch 1.0" in names
    assert "node 2 to switch 1.0" not in names


def test_calls_of_several_threads_have_tracks_of_their_own(tmp_path: Path) -> None:
    calls: Rows = [(0, "MPI_Recv", 1.0, 5.0), (0, "MPI_Send", 2.0, 7.0), (0, "MPI_Send", 5.0, 6.0)]
    trace, _ = written(a_run(calls), tmp_path)
    check(trace)
    assert [time for time, *_ in trace.of("rank 0 on node 0, 1")] == [2000, 7000]


def test_what_failed_has_a_track_of_its_own(tmp_path: Path) -> None:
    """A part that fails twice, one that is not repaired, and cables with bit errors, which are not
    down.
    """
    name, us = "cable from node 0 to switch 1.0", 1_000_000
    faults: Rows = [
        (0, "link", name, "node 0", "switch 1.0", None, 2 * us, 4 * us, 3 * us),
        (0, "link", name, "node 0", "switch 1.0", None, 6 * us, 7 * us, None),
        (1, "node", "host of node 5", None, None, None, 9 * us, None, None),
        (2, "links", "all cables", None, None, 1e-9, None, None, None),
    ]
    trace, _ = written(a_run(faults=faults), tmp_path)
    check(trace)
    groups = [
        track.process.process_name for track in trace.tracks.values() if track.HasField("process")
    ]
    assert groups[-1] == "faults of es40-qsnet"
    cable = [(time, text) for time, _, text, _ in trace.of(name)]
    assert cable == [
        (2000, "down"),
        (3000, "known to the sources"),
        (4000, ""),
        (6000, "down"),
        (7000, ""),
    ]
    assert [(time, text) for time, _, text, _ in trace.of("host of node 5")] == [
        (9000, "down"),
        (12_000, ""),
    ]
    assert not any(track.name == "all cables" for track in trace.tracks.values())


def test_a_run_without_calls_and_messages(tmp_path: Path) -> None:
    trace, _ = written(a_run([], [], 0), tmp_path)
    check(trace)
    assert trace.of("rank 0 on node 0") == []


def test_a_file_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ElaniteError, match=r"run\.perfetto cannot be written"):
        timeline.write(a_run(), tmp_path / "file" / "run.perfetto")
    assert list(tmp_path.iterdir()) == [tmp_path / "file"]
