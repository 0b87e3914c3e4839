"""Chakra execution traces become GOAL: traces that are written here, in both forms, and wrong
ones.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import elanite as el
from elanite.errors import RunError, UsageError
from elanite.traces import translate
from elanite.traces.chakra_schema import KINDS, messages

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("google.protobuf")

ALL_REDUCE, REDUCE, ALL_GATHER, GATHER, SCATTER, BROADCAST, ALL_TO_ALL, REDUCE_SCATTER = range(8)
BARRIER = 9
Graph = list[dict[str, Any]]


def node(
    number: int,
    kind: str,
    *after: int,
    us: int = 0,
    control: tuple[int, ...] = (),
    **attributes: Any,
) -> Any:
    """A node: number, type, the nodes it waits for, and attributes."""
    return {
        "id": number,
        "kind": kind,
        "after": after,
        "control": control,
        "us": us,
        "attributes": attributes,
    }


def varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def binary(path: Path, graph: Graph) -> None:
    """Write a rank's trace as protobuf messages."""
    metadata, attribute, kind = messages()
    written = [metadata(version="0.0.4")]
    for each in graph:
        attributes = []
        for name, value in each["attributes"].items():
            one = attribute(name=name)
            if isinstance(value, list):
                (one.bool_list if isinstance(value[0], bool) else one.int64_list).values.extend(
                    value
                )
            else:
                setattr(
                    one, {bool: "bool_val", int: "int64_val", str: "string_val"}[type(value)], value
                )
            attributes.append(one)
        written.append(
            kind(
                id=each["id"],
                name=f"n{each['id']}",
                type=KINDS.index(each["kind"]),
                data_deps=each["after"],
                ctrl_deps=each["control"],
                duration_micros=each["us"],
                attr=attributes,
            )
        )
    contents = [one.SerializeToString() for one in written]
    path.write_bytes(b"".join(varint(len(content)) + content for content in contents))


def plain(path: Path, graph: Graph) -> None:
    """Write a rank's trace as JSON."""
    nodes = [
        {
            "Id": each["id"],
            "Name": f"n{each['id']}",
            "NodeType": KINDS.index(each["kind"]),
            "data_deps": each["after"],
            "ctrl_deps": each["control"],
            "runtime": each["us"],
            **each["attributes"],
        }
        for each in graph
    ]
    path.write_text(json.dumps({"workload_graph": nodes}))


def translated(tmp_path: Path, graphs: list[Graph], form: str = "et") -> Path:
    files = [tmp_path / f"job.{rank}.{form}" for rank in range(len(graphs))]
    for file, graph in zip(files, graphs, strict=True):
        (binary if form == "et" else plain)(file, graph)
    return translate(files, tmp_path / "job.goal").path


def message(
    number: int, kind: str, source: int, to: int, *after: int, size: int = 64, tag: int = 3
) -> Any:
    return node(number, kind, *after, comm_src=source, comm_dst=to, comm_size=size, comm_tag=tag)


def test_both_forms_give_the_same_trace(tmp_path: Path) -> None:
    """Concurrent host and accelerator computation, a message, and a node before its dependency."""
    first = [
        node(0, "METADATA"),
        node(3, "COMM_SEND", 1, comm_src=0, comm_dst=1, comm_size=64, comm_tag=3),
        node(1, "COMP", 0, us=5, is_cpu_op=True),
        node(2, "COMP", 0, us=9),
    ]
    second = [message(7, "COMM_RECV", 0, 1), node(8, "COMP", us=2, control=(7,), is_cpu_op=True)]
    path = translated(tmp_path, [first, second])
    text = path.read_text()
    assert text == translated(tmp_path, [first, second], "json").read_text()
    assert text.splitlines() == [
        "num_ranks 2",
        "rank 0 {",
        "l0: calc 0",
        "l1: calc 5000",
        "l1 requires l0",
        "l2: calc 9000 cpu 1",
        "l2 requires l0",
        "l3: send 64b to 1 tag 6",
        "l3 requires l1",
        "}",
        "rank 1 {",
        "l0: recv 64b from 0 tag 6",
        "l1: calc 2000",
        "l1 requires l0",
        "}",
    ]
    # On the ideal network a message takes 1 µs; the accelerator's computation continues beside it.
    assert el.replay(path, network="ideal").summary["time_us"] == pytest.approx(9, abs=0.5)


N, S = 4, 4096


@pytest.mark.parametrize(
    ("what", "messages", "size"),
    [
        (ALL_REDUCE, 2 * N * (N - 1), 2 * (N - 1) * S),
        (REDUCE, N - 1, (N - 1) * S),
        (ALL_GATHER, N * (N - 1), N * (N - 1) * S),
        (GATHER, N - 1, (N - 1) * S),
        (SCATTER, N - 1, (N - 1) * S),
        (BROADCAST, N - 1, (N - 1) * S),
        (ALL_TO_ALL, N * (N - 1), (N - 1) * S),
        (REDUCE_SCATTER, N * (N - 1), (N - 1) * S),
        (BARRIER, N * 2, 0),
    ],
)
def test_collective_operations_have_their_messages(
    tmp_path: Path, what: int, messages: int, size: int
) -> None:
    roots = {BROADCAST: "comm_src", SCATTER: "comm_src", REDUCE: "comm_dst", GATHER: "comm_dst"}
    attributes = {"comm_type": what, "comm_size": S, "pg_name": "0"} | (
        {roots[what]: 2} if what in roots else {}
    )
    graph = [node(1, "COMP", us=1), node(2, "COMM_COLL", 1, **attributes), node(3, "COMP", 2, us=1)]
    summary = el.replay(translated(tmp_path, [graph] * N), network="ideal").summary
    assert (summary["messages"], summary["bytes"]) == (messages, size)
    assert summary["time_us"] >= 3


def test_groups_by_their_name_and_by_their_ranks(tmp_path: Path) -> None:
    """Two groups with a name each; one group by its ranks, in another order.

    Node numbers pair the operations.
    """

    def graph(rank: int) -> Graph:
        def sum_of(number: int, size: int, *after: int, **group: Any) -> Any:
            return node(number, "COMM_COLL", *after, comm_type=ALL_REDUCE, comm_size=size, **group)

        pair = f"pair{rank // 2}"
        nodes = [
            sum_of(1, 8, pg_name=pair),
            sum_of(2, 16, 1, comm_group=pair),
            sum_of(3, 32, ranks=[2, 0, 3, 1]),
        ]
        return nodes if rank % 2 else nodes[::-1]

    summary = el.replay(
        translated(tmp_path, [graph(rank) for rank in range(4)]), network="ideal"
    ).summary
    assert (summary["messages"], summary["bytes"]) == (4 + 4 + 8, 4 * 8 + 4 * 16 + 8 * 32)


def _sum(number: int, *after: int, **attributes: Any) -> Any:
    return node(
        number,
        "COMM_COLL",
        *after,
        **{"comm_type": ALL_REDUCE, "comm_size": 8, "pg_name": "0"} | attributes,
    )


@pytest.mark.parametrize(
    ("graphs", "wrong"),
    [
        (
            [[_sum(1)]],
            (
                r"rank 0, node 1 \(COMM_COLL_NODE `n1`\): it communicates, and the trace is the"
                r" only one"
            ),
        ),
        ([[node(1, "COMM_COLL", comm_type=0, pg_name="0")], []], "there is no `comm_size`"),
        (
            [[_sum(1, involved_dim=[True, False])], []],
            "its group is given by dimensions of the network",
        ),
        ([[_sum(1, comm_type=23)], []], "`comm_type` is 23, and must be a number from 0 to 9"),
        (
            [[_sum(1)], [_sum(1, comm_size=9)]],
            r"it is ALLREDUCE of 9 bytes, and node 1 .* of its group is ALLREDUCE of 8 bytes$",
        ),
        (
            [[_sum(1)], [_sum(1), _sum(2, 1)]],
            "rank 0 of its group has 1 operations, and others have 2",
        ),
        (
            [[_sum(1, comm_type=BROADCAST, comm_src=7)], []],
            "`comm_src` is 7, and must be a number from 0 to 1",
        ),
        (
            [[_sum(1, ranks=[1])], []],
            r"`ranks` is \[1\], and must have different ranks of the job, 0 too",
        ),
        (
            [[node(1, "COMP", 2, us=1), node(2, "COMP", 1, us=1)]],
            "dependencies in a circle: 2 -> 1 -> 2|1 -> 2 -> 1",
        ),
        ([[node(1, "COMP", 5, us=1)]], "it depends on node 5, which does not exist"),
        (
            [[node(1, "COMP", num_ops=1000, tensor_size=8)]],
            "has 1,000 operations, 8 bytes and no duration; .* --flops",
        ),
        (
            [[node(1, "MEM_LOAD", tensor_size=8)]],
            "give the rates of the accelerator with --memory-rate",
        ),
        ([[node(1, "COMP", num_ops=-1)]], "`num_ops` is -1, and must be a number from 0"),
        ([[node(1, "COMP", us=10**13)]], "it takes 1e.13 µs, and must take 0 to 100 days"),
        ([[node(1, "COMP", us=1), node(1, "COMP", us=1)]], "another node has the same number"),
        (
            [[message(1, "COMM_SEND", 0, 4)], []],
            "`comm_dst` is 4, and must be a number from 0 to 1",
        ),
        ([[message(1, "COMM_RECV", 0, 1)], []], "`comm_dst` is 1, and this is the trace of rank 0"),
        ([[node(1, "COMM_SEND", comm_dst=0)], []], "there is no `comm_size`"),
        ([[message(1, "COMM_SEND", 0, 0, size=-5)], []], "`comm_size` is -5"),
    ],
)
@pytest.mark.parametrize("form", ["et", "json"])
def test_what_is_not_in_the_trace_is_refused_with_its_node(
    tmp_path: Path, graphs: list[Graph], wrong: str, form: str
) -> None:
    with pytest.raises(RunError, match=wrong):
        translated(tmp_path, graphs, form)
    assert not list(tmp_path.glob("*job.goal*"))


def test_files_that_are_wrong(tmp_path: Path) -> None:
    path = tmp_path / "job.0.et"
    binary(path, [node(1, "COMP", us=1)])
    whole = path.read_bytes()
    out = tmp_path / "out.goal"
    path.write_bytes(whole[:-1])
    with pytest.raises(RunError, match=r"job\.0\.et: byte 9: a message of \d+ bytes is cut short"):
        translate([path], out)
    path.write_bytes(whole + b"\xff\xff\xff\xff\xff\xff")
    with pytest.raises(RunError, match="the length of a message is cut short or too large"):
        translate([path], out)
    path.write_bytes(whole + b"\x02\xff\xff")
    with pytest.raises(RunError, match="this is not a node of Chakra"):
        translate([path], out)
    path.write_bytes(whole + b"\x02\x18\x63")
    with pytest.raises(RunError, match="there is no type of nodes with the number 99"):
        translate([path], out)
    other = tmp_path / "job.2.et"
    other.write_bytes(whole)
    with pytest.raises(UsageError, match="of 2 ranks, rank 1 is missing"):
        translate([path, other], out)
    with pytest.raises(UsageError, match="rank 2 has another file"):
        translate([other, other], out)
    mixed = tmp_path / "job.1.json"
    mixed.write_text("{}")
    with pytest.raises(UsageError, match="all with the same"):
        translate([path, mixed], out)
    for text in (
        "",
        "[]",
        "[" * 100_000,
        '{"workload_graph": 3}',
        '{"workload_graph": [{"Id": 1}]}',
        '{"workload_graph": [7]}',
    ):
        (tmp_path / "one.json").write_text(text)
        with pytest.raises(RunError, match=r"one\.json"):
            translate([tmp_path / "one.json"], out)
    with pytest.raises(UsageError, match="No such file"):
        translate([tmp_path / "none.et"], out)
    assert not out.exists()
