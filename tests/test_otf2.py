"""OTF2 archives become GOAL: archives written here, with typical MPI programs, and wrong ones."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

import elanite as el
from elanite.errors import RunError, UsageError
from elanite.traces import translate
from elanite.traces.calls import share

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

otf2 = pytest.importorskip("otf2")

US = 1000
"""Ticks per microsecond: the archives' clock here has a resolution of 1 ns, unless a test asks for
another.
"""


class Recorder:
    """One rank's events, in MPI calls of 1 µs."""

    def __init__(self, writer: Any, regions: dict[str, Any], comms: dict[str, Any]) -> None:
        self.events, self.regions, self.comms, self.time = writer, regions, comms, 5 * US

    @contextmanager
    def call(self, name: str = "MPI") -> Iterator[Recorder]:
        """An MPI call's events, or another region's."""
        self.events.enter(self.time, self.regions[name])
        yield self
        self.time += US
        self.events.leave(self.time, self.regions[name])

    def compute(self, ticks: int) -> None:
        self.time += ticks

    def send(self, to: int, tag: int, size: int, comm: str = "world") -> None:
        with self.call():
            self.events.mpi_send(self.time, to, self.comms[comm], tag, size)

    def recv(self, source: int, tag: int, size: int, comm: str = "world") -> None:
        with self.call():
            self.events.mpi_recv(self.time, source, self.comms[comm], tag, size)

    def together(
        self, op: str, sent: int, received: int, root: int = 0, comm: str = "world"
    ) -> None:
        with self.call():
            self.events.mpi_collective_begin(self.time)
            kind = getattr(otf2.CollectiveOp, op)
            self.events.mpi_collective_end(self.time, kind, self.comms[comm], root, sent, received)


def archive(
    folder: Path,
    ranks: int,
    write: Callable[[Recorder, int], None],
    *,
    resolution: int = 10**9,
    groups: dict[str, list[int]] | None = None,
) -> Path:
    """Write the archive for a program that begins with MPI_Init."""
    paradigm = otf2.Paradigm.MPI
    with otf2.writer.open(str(folder / "run"), timer_resolution=resolution) as trace:
        known = trace.definitions
        node = known.system_tree_node("node")
        regions = {
            "MPI": known.region("MPI", paradigm=paradigm),
            "program": known.region("program", paradigm=otf2.Paradigm.USER),
        }
        places = [
            known.location(
                "main", group=known.location_group(f"Rank {rank}", system_tree_parent=node)
            )
            for rank in range(ranks)
        ]
        known.group("world", otf2.GroupType.COMM_LOCATIONS, paradigm, otf2.GroupFlag.NONE, places)
        members = {"world": list(range(ranks)), **(groups or {})}
        comms = {
            name: known.comm(
                name,
                known.group(
                    f"of {name}",
                    otf2.GroupType.COMM_GROUP,
                    paradigm,
                    members=[places[one] for one in these],
                ),
            )
            for name, these in members.items()
        }
        alone = known.group("self", otf2.GroupType.COMM_SELF, paradigm, members=[])
        comms["self"] = known.comm("self", alone)
        for rank, place in enumerate(places):
            recorder = Recorder(trace.event_writer_from_location(place), regions, comms)
            with recorder.call():
                pass
            write(recorder, rank)
            with recorder.call():
                pass
    return folder / "run" / "traces.otf2"


def translated(
    tmp_path: Path, ranks: int, write: Callable[[Recorder, int], None], **options: Any
) -> Path:
    return translate([archive(tmp_path, ranks, write, **options)], tmp_path / "run.goal").path


def block(path: Path, rank: int) -> list[str]:
    lines = path.read_text().splitlines()
    first = lines.index(f"rank {rank} {{")
    return lines[first + 1 : lines.index("}", first)]


def test_messages_and_computation(tmp_path: Path) -> None:
    """A ping with computation between: the blocks in full, and the replay time."""

    def write(to: Recorder, rank: int) -> None:
        with to.call("program"):
            to.compute(20 * US)
        if rank == 0:
            to.send(1, 7, 4096)
            to.recv(1, 9, 8)
        else:
            to.recv(0, 7, 4096)
            to.compute(3 * US)
            to.send(0, 9, 8)

    path = translated(tmp_path, 2, write)
    assert block(path, 0) == [
        "l0: calc 21000",
        "l1: send 4096b to 1 tag 0",
        "l1 requires l0",
        "l2: recv 8b from 1 tag 1",
        "l2 requires l1",
    ]
    assert block(path, 1)[-4:] == [
        "l2: calc 3000",
        "l2 requires l1",
        "l3: send 8b to 0 tag 1",
        "l3 requires l2",
    ]
    # On the ideal network a message takes 1 µs.
    assert el.replay(path, network="ideal").summary["time_us"] == pytest.approx(
        21 + 1 + 3 + 1, abs=0.6
    )


def test_a_clock_of_another_resolution_loses_nothing(tmp_path: Path) -> None:
    def write(to: Recorder, rank: int) -> None:
        for _ in range(300):
            to.compute(1)
            to.together("BARRIER", 0, 0, comm="self")
        del rank

    path = translated(tmp_path, 1, write, resolution=3 * 10**6)
    total = sum(int(line.split()[-1]) for line in block(path, 0) if "calc" in line)
    assert total == 300 * 333 + 100


def test_the_flushes_of_the_recording_are_no_computation(tmp_path: Path) -> None:
    def write(to: Recorder, rank: int) -> None:
        del rank
        to.events.buffer_flush(to.time, to.time + 50 * US)
        to.compute(57 * US)

    assert block(translated(tmp_path, 1, write), 0) == ["l0: calc 7000"]


def test_receives_that_do_not_block_are_posted_where_they_were_requested(tmp_path: Path) -> None:
    """Two receives with one tag end in the other order; the first posted takes the first sent."""

    def write(to: Recorder, rank: int) -> None:
        world = to.comms["world"]
        if rank == 0:
            to.send(1, 5, 100)
            to.send(1, 5, 200)
            return
        for request in (1, 2):
            with to.call():
                to.events.mpi_irecv_request(to.time, request)
        to.compute(2 * US)
        with to.call():
            to.events.mpi_irecv(to.time, 0, world, 5, 200, 2)
            to.events.mpi_irecv(to.time, 0, world, 5, 100, 1)

    path = translated(tmp_path, 2, write)
    assert block(path, 1) == [
        "l2: calc 2000",
        "l1: recv 200b from 0 tag 0",
        "l2 irequires l1",
        "l0: recv 100b from 0 tag 0",
        "l1 irequires l0",
    ]
    assert el.replay(path, network="ideal").summary["bytes"] == 300


def test_all_ranks_send_and_receive_at_once(tmp_path: Path) -> None:
    """A ring of long MPI_Sendrecv calls, which would wait for ever if a send had to end before the
    receive begins.
    """

    def write(to: Recorder, rank: int) -> None:
        with to.call():
            to.events.mpi_send(to.time, (rank + 1) % 3, to.comms["world"], 1, 1 << 20)
            to.events.mpi_recv(to.time, (rank - 1) % 3, to.comms["world"], 1, 1 << 20)

    summary = el.replay(translated(tmp_path, 3, write)).summary
    assert (summary["messages"], summary["bytes"]) == (3, 3 << 20)


def test_sends_waits_probes_and_cancelled_receives(tmp_path: Path) -> None:
    def write(to: Recorder, rank: int) -> None:
        world = to.comms["world"]
        if rank == 0:
            with to.call():
                to.events.mpi_isend(to.time, 1, world, 2, 64, 40)
            with to.call():
                to.events.mpi_isend(to.time, 1, world, 3, 32, 41)
            with to.call():
                to.events.mpi_isend_complete(to.time, 41)
                to.events.mpi_isend_complete(to.time, 40)
            to.send(1, 4, 1)
            return
        with to.call():
            to.events.mpi_irecv_request(to.time, 7)
        with to.call():
            to.events.mpi_probe(to.time, 0, world, 3, 77)
        with to.call():
            to.events.mpi_probe(to.time, 0, world, 2, 2**64 - 1)
        to.recv(0, 2, 64)
        with to.call():
            to.events.mpi_mrecv(to.time, 77, 32)
        with to.call():
            to.events.mpi_request_cancelled(to.time, 7)
        to.recv(0, 4, 1)

    path = translated(tmp_path, 2, write)
    assert block(path, 0)[-3:] == ["l2: send 1b to 1 tag 2", "l2 requires l1", "l2 requires l0"]
    assert block(path, 1) == [
        "l2: recv 64b from 0 tag 0",
        "l1: recv 32b from 0 tag 1",
        "l2 irequires l1",
        "l0: calc 0",
        "l1 irequires l0",
        "l3: recv 1b from 0 tag 2",
        "l3 requires l2",
        "l3 requires l1",
    ]
    assert el.replay(path, network="ideal").summary["messages"] == 3


# Score-P's counts for a call on N ranks with S-byte blocks: (sent, received) at the root, and
# elsewhere.
N, S = 5, 3000
COUNTED: dict[str, tuple[tuple[int, int], tuple[int, int], int, int]] = {
    # operation: root, others, messages, bytes
    "BARRIER": ((0, 0), (0, 0), 4 * 2 + 2, 0),
    "BCAST": ((N * S, S), (0, S), N - 1, (N - 1) * S),
    "REDUCE": ((S, N * S), (S, 0), N - 1, (N - 1) * S),
    "GATHER": ((S, N * S), (S, 0), N - 1, (N - 1) * S),
    "SCATTER": ((N * S, S), (0, S), N - 1, (N - 1) * S),
    "ALLREDUCE": ((N * S, N * S), (N * S, N * S), 2 * N * (N - 1), 2 * (N - 1) * S),
    "ALLGATHER": ((N * S, N * S), (N * S, N * S), N * (N - 1), N * (N - 1) * S),
    "ALLTOALL": ((N * S, N * S), (N * S, N * S), N * (N - 1), N * (N - 1) * S),
    "REDUCE_SCATTER_BLOCK": ((N * S, N * S), (N * S, N * S), N * (N - 1), N * (N - 1) * S),
    "CREATE_HANDLE": ((0, 0), (0, 0), 4 * 2 + 2, 0),
    "DESTROY_HANDLE": ((0, 0), (0, 0), 0, 0),
}


@pytest.mark.parametrize("op", COUNTED)
def test_collective_operations_have_their_messages(tmp_path: Path, op: str) -> None:
    at_root, elsewhere, messages, size = COUNTED[op]
    path = translated(
        tmp_path,
        N,
        lambda to, rank: to.together(op, *(at_root if rank == 3 else elsewhere), root=3),
    )
    summary = el.replay(path, network="ideal").summary
    assert (summary["messages"], summary["bytes"]) == (messages, size)


def test_collective_operations_with_sizes_of_each_rank(tmp_path: Path) -> None:
    own = [10, 0, 300, 41]

    def write(to: Recorder, rank: int) -> None:
        mine, total = own[rank], sum(own)
        to.together("GATHERV", mine, total if rank == 1 else 0, root=1)
        to.together("SCATTERV", total if rank == 1 else 0, mine, root=1)
        to.together("ALLGATHERV", 4 * mine, total)
        to.together("REDUCE_SCATTER", total, 4 * mine)
        to.together("ALLTOALLV", 4 * mine, total)
        to.together("SCAN", (4 - rank) * 8, (rank + 1) * 8)
        to.together("EXSCAN", (3 - rank) * 8, rank * 8)

    summary = el.replay(translated(tmp_path, 4, write), network="ideal").summary
    # In the all-to-all, each rank sends a fourth of its bytes to each other: all get the same.
    expected = 2 * (sum(own) - own[1]) + 3 * 3 * sum(own) + 2 * 3 * 8
    assert summary["bytes"] == expected


def test_in_place(tmp_path: Path) -> None:
    assert [share(size, 5) for size in (5 * 8, 4 * 8 * 3, 4 * 8, 7)] == [8, 24, 8, 2]
    path = translated(tmp_path, 5, lambda to, _: to.together("ALLTOALL", 4 * 8, 4 * 8))
    assert el.replay(path, network="ideal").summary["bytes"] == 20 * 8


def test_ranks_are_read_in_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Five ranks in groups of two, with lines that leave memory after each event: the same
    messages.
    """
    monkeypatch.setattr("elanite.traces.otf2._GROUP", 2)
    monkeypatch.setattr("elanite.traces.otf2._LINES", 0)

    def write(to: Recorder, rank: int) -> None:
        to.compute(rank * US)
        to.together("ALLREDUCE", N * S, N * S)
        to.send((rank + 1) % N, 1, 10)
        to.recv((rank - 1) % N, 1, 10)

    summary = el.replay(translated(tmp_path, N, write), network="ideal").summary
    assert (summary["messages"], summary["bytes"]) == (
        2 * N * (N - 1) + N,
        2 * (N - 1) * S + 10 * N,
    )


def test_groups_have_their_own_ranks_and_tags(tmp_path: Path) -> None:
    """The group's rank 0 is the world's rank 2; messages with one tag in two communicators do not
    meet.
    """

    def write(to: Recorder, rank: int) -> None:
        if rank == 2:
            to.send(1, 5, 10, comm="odd")
            to.send(0, 5, 20)
        if rank == 0:
            to.recv(2, 5, 20)
            to.recv(0, 5, 10, comm="odd")
        if rank != 1:
            to.together("BCAST", 2 * 7 if rank == 2 else 0, 7, comm="odd")
        to.together("BARRIER", 0, 0, comm="self")

    summary = el.replay(
        translated(tmp_path, 3, write, groups={"odd": [2, 0]}), network="ideal"
    ).summary
    assert (summary["messages"], summary["bytes"]) == (3, 37)


def test_collective_operations_that_do_not_block(tmp_path: Path) -> None:
    """Two end in different orders on the two ranks; computation continues beside them."""

    def write(to: Recorder, rank: int) -> None:
        world = to.comms["world"]
        for request in (1, 2):
            with to.call():
                to.events.non_blocking_collective_request(to.time, request)
        to.compute(10 * US)
        with to.call():
            ends = {1: ("BCAST", 2 * 64 if rank == 0 else 0, 64), 2: ("ALLREDUCE", 16, 16)}
            for request in (1, 2) if rank else (2, 1):
                op, *sizes = ends[request]
                kind = getattr(otf2.CollectiveOp, op)
                to.events.non_blocking_collective_complete(to.time, kind, world, 0, *sizes, request)

    summary = el.replay(translated(tmp_path, 2, write), network="ideal").summary
    assert (summary["messages"], summary["bytes"]) == (3, 64 + 16)
    assert summary["time_us"] < 13


def _missing_rank(to: Recorder, rank: int) -> None:
    if rank:
        to.together("BARRIER", 0, 0)


def _other(to: Recorder, rank: int) -> None:
    to.together("BARRIER" if rank else "REDUCE", 0, 0)


def _bare(to: Recorder, rank: int) -> None:
    to.events.mpi_send(to.time, 1 - rank, to.comms["world"], 0, 8)


def _open(to: Recorder, rank: int) -> None:
    with to.call():
        to.events.mpi_irecv_request(to.time, 10 + rank)


def _unknown(to: Recorder, _rank: int) -> None:
    with to.call():
        to.events.mpi_isend_complete(to.time, 3)


def _far(to: Recorder, _rank: int) -> None:
    to.send(9, 0, 8)


def _paused(to: Recorder, _rank: int) -> None:
    to.events.measurement_on_off(to.time, otf2.MeasurementMode.OFF)


def _unended(to: Recorder, _rank: int) -> None:
    with to.call():
        to.events.non_blocking_collective_request(to.time, 3)


@pytest.mark.parametrize(
    ("write", "message"),
    [
        (_missing_rank, r"call 0 of communicator 0 \(BARRIER\) is recorded by 1 of 2 ranks"),
        (
            _other,
            (
                r"rank 1, location 1, event 4 \(MpiCollectiveEnd at .*\): call 0 of communicator 0"
                r" is BARRIER"
            ),
        ),
        (_bare, r"rank 0, location 0, event 2 \(MpiSend at 0.000006000 s\): it is in no MPI call"),
        (_open, "1 receives have not ended"),
        (_unknown, "request 3 has not been made"),
        (_far, "there is no rank 9 in communicator 0, which has 2"),
        (_paused, "the recording pauses"),
        (_unended, "is never completed"),
    ],
)
def test_what_is_missing_is_refused_with_its_place(
    tmp_path: Path, write: Callable[[Recorder, int], None], message: str
) -> None:
    (tmp_path / "run.goal").write_text("before")
    with pytest.raises(RunError, match=message):
        translated(tmp_path, 2, write)
    assert (tmp_path / "run.goal").read_text() == "before"
    assert {path.name for path in tmp_path.iterdir()} == {"run", "run.goal"}


def test_archives_that_are_none_or_lack_a_part(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.otf2"
    wrong.write_text("no archive")
    with pytest.raises(RunError, match=r"wrong\.otf2: the archive cannot be read"):
        translate([wrong], tmp_path / "run.goal")
    os.truncate(wrong, 5_000_000_000)  # the package would read for minutes
    with pytest.raises(UsageError, match=r"wrong\.otf2: it has 5,000,000,000 bytes, and at most"):
        translate([wrong], tmp_path / "run.goal")
    anchor = archive(tmp_path, 2, lambda to, rank: to.send(1 - rank, 0, 8))
    (tmp_path / "run" / "traces" / "1.evt").unlink()
    with pytest.raises(RunError, match=r"ranks 0 to 1: the archive cannot be read"):
        translate([anchor], tmp_path / "run.goal")
    with pytest.raises(UsageError, match="an OTF2 archive has all ranks"):
        translate([anchor, anchor], tmp_path / "run.goal")
    assert not (tmp_path / "run.goal").exists()
