"""DUMPI text becomes GOAL: programs written here as by dumpi2ascii, and wrong ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import elanite as el
from elanite.errors import RunError, UsageError
from elanite.traces import translate
from test_chakra_jobs import pairs, traffic

if TYPE_CHECKING:
    from pathlib import Path

WORLD = "MPI_Comm comm=2 (MPI_COMM_WORLD)"
INT = "MPI_Datatype datatype=9 (MPI_INT)"
Call = tuple[str, ...]
TWO = (
    "int sendcount=25",
    "MPI_Datatype sendtype=9 (MPI_INT)",
    "int recvcount=25",
    "MPI_Datatype recvtype=9 (MPI_INT)",
)


def recorded(path: Path, calls: list[Call], thread: int = 0) -> None:
    """Write a rank's calls: each takes 1 µs, with 2 µs between two."""
    lines, at = ["version=1.0.0", "meshsize=[]"], 5 * 10**9
    for name, *arguments in [("Init", "int argc=1"), *calls, ("Finalize",)]:
        for word, ns in (("entering", 2000), ("returning", 1000)):
            at += ns
            stamp = f"{at // 10**9}.{at % 10**9:09d}"
            lines.append(
                f"MPI_{name} {word} at walltime {stamp}, cputime 0.5 seconds in thread {thread}."
            )
            lines += arguments if word == "entering" else []
    path.write_text("\n".join([*lines, "MPI_Send called 0 times and ignored 0 times"]) + "\n")


def imported(tmp_path: Path, ranks: list[list[Call]]) -> Path:
    files = [tmp_path / f"dumpi-{rank:04d}.txt" for rank in range(len(ranks))]
    for file, calls in zip(files, ranks, strict=True):
        recorded(file, calls)
    return translate(files, tmp_path / "out.goal").path


def send(to: int, count: int = 10, kind: str = INT, tag: int = 3, comm: str = WORLD) -> Call:
    return "Send", f"int count={count}", kind, f"int dest={to}", f"int tag={tag}", comm


def recv(
    source: str, tag: str = "3", status: str = "<IGNORED>", comm: str = WORLD, kind: str = INT
) -> Call:
    return (
        "Recv",
        "int count=10",
        kind,
        f"int source={source}",
        f"int tag={tag}",
        comm,
        f"MPI_Status status={status}",
    )


def coll(name: str, *arguments: str, comm: str = WORLD) -> Call:
    return name, *arguments, comm


def test_a_ring_of_sends_that_do_not_block(tmp_path: Path) -> None:
    """Each call follows the one before after 2 µs; the wait for the send comes after the
    receive.
    """
    ranks: list[list[Call]] = [
        [
            ("Isend", *send((rank + 1) % 3)[1:], "MPI_Request request=[7]"),
            recv(str((rank + 2) % 3)),
            ("Wait", "MPI_Request request=[7]", "MPI_Status status=<IGNORED>"),
        ]
        for rank in range(3)
    ]
    path = imported(tmp_path, ranks)
    assert path.read_text().split("rank 1 {")[0].splitlines() == [
        "num_ranks 3",
        "rank 0 {",
        "l0: calc 2000",
        "l1: send 40b to 1 tag 0",
        "l1 requires l0",
        "l2: calc 2000",
        "l2 irequires l1",
        "l3: recv 40b from 2 tag 0",
        "l3 requires l2",
        "l4: calc 2000",
        "l4 requires l3",
        "l5: calc 2000",
        "l5 requires l4",
        "l5 requires l1",
        "}",
    ]
    for options in ({"network": "ideal"}, {"machine": "es40-qsnet"}):
        summary = el.replay(path, **options).summary
        assert (summary["messages"], summary["bytes"]) == (3, 120)
        assert summary["time_us"] >= 8


def test_wild_cards_take_the_message_of_their_status(tmp_path: Path) -> None:
    status = "[{bytes=40, cancelled=0, source=2, tag=8, error=0}]"
    one = "{bytes=40, cancelled=0, source=1, tag=5, error=0}"
    late = f"MPI_Status statuses[2]=[{one}, {one.replace('tag=5', 'tag=6')}]"
    anything = ("-1 (MPI_ANY_SOURCE)", "-1 (MPI_ANY_TAG)")
    posted = [("Irecv", *recv(*anything)[1:6], f"MPI_Request request=[{one}]") for one in (4, 5)]
    first = [
        recv(*anything, status=status),
        *posted,
        ("Waitall", "int count=2", "MPI_Request requests[2]=[4, 5]", late),
        recv("-1 (MPI_ANY_SOURCE)", "9"),
        recv("-2", "9"),
    ]
    path = imported(
        tmp_path,
        [first, [send(0, tag=5), send(0, tag=6)], [send(0, tag=8), send(0, tag=9), send(-2)]],
    )
    text = path.read_text()
    found = [line.split(": ")[1] for line in text.splitlines() if "recv" in line and ":" in line]
    tags = {
        name: text.split(f"send 40b to 0 tag {name}")[0].count("send 40b to 0") for name in range(4)
    }
    assert found == [
        "recv 40b from 2 tag 0",
        "recv 40b from 1 tag 1",
        "recv 40b from 1 tag 2",
        "recv 40b from -1 tag 3",
    ]
    assert tags[0] == 2
    assert el.replay(path, network="ideal").summary["messages"] == 4


@pytest.mark.parametrize(
    ("call", "messages", "size"),
    [
        (coll("Barrier"), 4 * 2, 0),
        (coll("Bcast", "int count=25", INT, "int root=1"), 3, 3 * 100),
        (coll("Reduce", "int count=25", INT, "MPI_Op op=3 (MPI_SUM)", "int root=1"), 3, 3 * 100),
        (coll("Allreduce", "int count=25", INT, "MPI_Op op=3 (MPI_SUM)"), 8, 8 * 100),
        (coll("Allreduce", "int count=1024", INT, "MPI_Op op=3 (MPI_SUM)"), 24, 2 * 3 * 4096),
        (coll("Scan", "int count=25", INT, "MPI_Op op=3 (MPI_SUM)"), 3, 3 * 100),
        (
            coll(
                "Gather",
                *TWO,
                "int root=3",
            ),
            3,
            300,
        ),
        (coll("Scatter", *TWO, "int root=3"), 3, 300),
        (coll("Allgather", *TWO), 12, 12 * 100),
        (coll("Alltoall", *TWO), 12, 12 * 100),
        (
            coll(
                "Allgatherv",
                "int commsize=4",
                *TWO[:2],
                "int recvcounts[4]=[25, 25, 25, 25]",
                TWO[3],
            ),
            12,
            12 * 100,
        ),
        (
            coll("Reduce_scatter", "int commsize=4", "int recvcounts[4]=[1, 2, 3, 4]", INT),
            12,
            3 * 40,
        ),
    ],
)
def test_collective_operations_have_their_messages(
    tmp_path: Path, call: Call, messages: int, size: int
) -> None:
    path = imported(tmp_path, [[call, call]] * 4)
    assert traffic(path) == (2 * messages, 2 * size)
    assert el.replay(path, network="ideal").summary["messages"] == 2 * messages


def test_data_in_place_and_calls_of_files(tmp_path: Path) -> None:
    """The sent part is in the received one: it has no type, and its count is ignored."""
    place = ("int sendcount=0", "MPI_Datatype sendtype=0 (MPI_DATATYPE_NULL)", *TWO[2:])
    calls = [coll("Allgather", *place), coll("Alltoall", *place), ("File_write", "int count=9")]
    path = imported(tmp_path, [calls] * 4)
    assert traffic(path) == (24, 24 * 100)
    assert path.read_text().startswith("// 4 calls of MPI-IO left out: files take no time\n")


def test_a_byte_order_mark_before_the_first_call(tmp_path: Path) -> None:
    plain = imported(tmp_path, [[], []]).read_text()
    for file in sorted(tmp_path.glob("*.txt")):
        calls = file.read_text()
        file.write_text(calls[calls.index("MPI_Init") :], encoding="utf-8-sig")
    files = sorted(tmp_path.glob("*.txt"))
    assert translate(files, tmp_path / "out.goal").path.read_text() == plain


def test_an_all_to_all_has_the_sizes_of_each_pair(tmp_path: Path) -> None:
    counts = [[0, 1, 2], [3, 0, 5], [6, 7, 0]]

    def exchange(rank: int) -> Call:
        gives, takes = counts[rank], [row[rank] for row in counts]
        kinds = [f"MPI_Datatype {name}type=14 (MPI_DOUBLE)" for name in ("send", "recv")]
        return coll(
            "Alltoallv",
            f"int sendcounts[3]={gives}",
            kinds[0],
            f"int recvcounts[3]={takes}",
            kinds[1],
        )

    path = imported(tmp_path, [[exchange(rank)] for rank in range(3)])
    assert traffic(path) == (6, 8 * sum(map(sum, counts)))
    assert el.replay(path, network="ideal").summary["bytes"] == 8 * 24


def test_parts_and_duplicates_of_communicators_and_types(tmp_path: Path) -> None:
    """Even and odd ranks, the odd ones in the other order; a type with 3 x 2 8-byte integers."""

    def program(rank: int) -> list[Call]:
        key = -rank if rank % 2 else rank
        part, again = "MPI_Comm comm=6 (user-defined-comm)", "MPI_Comm comm=9 (user-defined-comm)"
        split = (
            "Comm_split",
            "MPI_Comm oldcomm=2 (MPI_COMM_WORLD)",
            f"int color={rank % 2}",
            f"int key={key}",
        )
        dup = (
            "Comm_dup",
            "MPI_Comm oldcomm=6 (user-defined-comm)",
            "MPI_Comm newcomm=9 (user-defined-comm)",
        )
        long = "MPI_Datatype oldtype=11 (MPI_LONG)"
        kind = (
            "Type_contiguous",
            "int count=6",
            long,
            "MPI_Datatype newtype=40 (user-defined-datatype)",
        )
        at = 0 if (rank < 2) != (rank % 2 == 1) else 1
        other = send(1, 1, "MPI_Datatype datatype=40 (user-defined-datatype)", comm=again)
        last = other if at == 0 else recv("0", comm=again, kind=other[2])
        alone = coll("Barrier", comm="MPI_Comm comm=3 (MPI_COMM_SELF)")
        made = (*split, "MPI_Comm newcomm=6 (user-defined-comm)")
        return [
            made,
            dup,
            kind,
            alone,
            coll("Bcast", "int count=1", INT, "int root=0", comm=part),
            last,
        ]

    path = imported(tmp_path, [program(rank) for rank in range(4)])
    assert pairs(path) == {(0, 2), (3, 1)}
    assert traffic(path) == (4, 2 * 4 + 2 * 48)


@pytest.mark.parametrize(
    ("calls", "wrong"),
    [
        (
            [send(2)],
            "dumpi-0000.txt:6: MPI_Send: there is no rank 2 in its communicator, which has 2",
        ),
        (
            [send(1, comm="MPI_Comm comm=7 (user)")],
            "communicator 7 was made by a call that is not read",
        ),
        (
            [send(1, kind="MPI_Datatype datatype=44 (user)")],
            r"type 44 \(user\) has an unknown size",
        ),
        (
            [recv("1", "-1 (MPI_ANY_TAG)")],
            "it accepts any tag, and the trace lacks the status with the received tag",
        ),
        ([("Irecv", *recv("1")[1:6], "MPI_Request request=[4]")], "MPI_Irecv: it never ends"),
        ([("Send_init", *send(1)[1:])], "MPI_Send_init: this call is not read"),
        ([("Put", "int origincount=1")], "MPI_Put: this call is not read"),
        ([coll("Ibcast", "int count=1", INT, "int root=0")], "MPI_Ibcast: this call is not read"),
        ([coll("Iallreduce", "int count=1", INT)], "MPI_Iallreduce: this call is not read"),
        ([coll("Alltoallw", "int sendcounts[2]=[1, 1]")], "MPI_Alltoallw: this call is not read"),
        ([coll("Reduce_scatter_block", "int count=1", INT)], "_block: this call is not read"),
        ([("Mrecv", "int count=10", INT)], "MPI_Mrecv: this call is not read"),
        (
            [coll("Bcast", "int count=1", INT, "int root=0")],
            "has 1 of 2 ranks; name the files of all",
        ),
        ([("Send", "int count=1")], "MPI_Send: there is no argument `dest`"),
    ],
)
def test_programs_that_are_refused(tmp_path: Path, calls: list[Call], wrong: str) -> None:
    with pytest.raises(RunError, match=wrong):
        imported(tmp_path, [calls, []])
    assert not (tmp_path / "out.goal").exists()


def test_files_that_are_wrong(tmp_path: Path) -> None:
    path, out = tmp_path / "dumpi-0000.txt", tmp_path / "out.goal"
    recorded(path, [send(0)])
    whole = path.read_text()
    for text, wrong in (
        ("", "there is no MPI_Init; name the text that dumpi2ascii writes"),
        (
            whole[: whole.index("MPI_Send returning")],
            r"0000\.txt:6: MPI_Send: the file ends within this call",
        ),
        (
            whole.replace("MPI_Send returning", "MPI_Recv returning"),
            "MPI_Recv is returning within another call",
        ),
        (
            whole.replace("thread 0.", "thread 1."),
            "MPI_Init is called in thread 1; calls of thread 0 alone",
        ),
        (whole.replace("walltime 5.000005", "walltime 4.000005"), "the clock goes back"),
        (whole.replace("walltime 5.000005000", "walltime 5.0"), "has no walltime with nine digits"),
    ):
        path.write_text(text)
        with pytest.raises(RunError, match=wrong):
            translate([path], out)
    path.write_bytes(b"\xff\xaa\xddDUMPI\x00")
    with pytest.raises(
        UsageError, match="a binary trace of DUMPI; write its text with dumpi2ascii"
    ):
        translate([path], out)
    for text, what in (
        ("// by Schedgen\n\nnum_ranks 1\nrank 0 {\n}\n", "a trace in GOAL already; use elanite re"),
        ("# uniform\nNodes 4\nConnections 1\n", "a connection matrix of htsim; use elanite import"),
        ('<algo name="ring" nchannels="1">\n', "an algorithm of MSCCL"),
        ("MICRO\n1\nfirst -1 1 NONE 0 1 NONE 0 1 ALLREDUCE 64 1\n", "a workload of ASTRA-sim 1"),
        ("0 init\n0 isend 1 0 1e6\n", "a time-independent trace of SimGrid"),
        ("#Paraver (1/1/26 at 9:00):9:1(1):1:1(1:1)\n", "a trace of Paraver"),
    ):
        path.write_text(text)
        with pytest.raises(UsageError, match=rf"this is {what}"):
            translate([path], out)
    recorded(path, [])
    path.rename(tmp_path / "dumpi-0001.txt")
    with pytest.raises(UsageError, match="of 1 ranks, rank 0 is missing"):
        translate([tmp_path / "dumpi-0001.txt"], out)


@pytest.mark.parametrize(
    ("calls", "wrong"),
    [
        ([recv("0x10")], "Recv: `source` has 0x10, which is no whole number"),
        ([send(1, count=10**26)], f"Send: `count` has {10**26}, which is no whole number"),
        ([recv("1e3")], "Recv: `source` has 1e3, which is no whole number"),
        (
            [
                ("Isend", *send(1)[1:], "MPI_Request request=[7]"),
                ("Wait", "MPI_Request request=[x]"),
            ],
            r"Wait: `request` is \[x\], and must be a number",
        ),
    ],
)
def test_numbers_that_are_none(tmp_path: Path, calls: list[Call], wrong: str) -> None:
    with pytest.raises(RunError, match=wrong):
        imported(tmp_path, [calls, [recv("0")]])
