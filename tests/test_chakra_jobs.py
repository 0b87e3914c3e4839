"""Chakra traces as training simulators write them: groups, work in place of durations, one rank for
all, JSON.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import elanite as el
from elanite.errors import RunError, UsageError
from elanite.traces import Translation, translate
from elanite.traces.chakra_file import read
from elanite.traces.chakra_reading import ReadingOptions, Roofline
from elanite.traces.chakra_schema import messages
from test_chakra import (
    ALL_GATHER,
    ALL_REDUCE,
    BROADCAST,
    Graph,
    binary,
    message,
    node,
    plain,
    varint,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Ended

pytest.importorskip("google.protobuf")


def collective(
    number: int, *after: int, size: int = 1000, what: int = ALL_REDUCE, **attributes: Any
) -> Any:
    return node(number, "COMM_COLL", *after, comm_type=what, comm_size=size, **attributes)


def job(tmp_path: Path, graphs: list[Graph], how: ReadingOptions | None = None) -> Translation:
    files = [tmp_path / f"job.{rank}.json" for rank in range(len(graphs))]
    for file, graph in zip(files, graphs, strict=True):
        plain(file, graph)
    return translate(files, tmp_path / "job.goal", how)


def traffic(path: Path) -> tuple[int, int]:
    """A trace's messages and bytes, counted in its text."""
    sizes = [
        int(line.split()[2][:-1]) for line in path.read_text().splitlines() if " send " in line
    ]
    return len(sizes), sum(sizes)


def pairs(path: Path) -> set[tuple[int, int]]:
    """The sender and receiver pairs."""
    rank, found = -1, set()
    for line in path.read_text().splitlines():
        words = line.split()
        if words[0] == "rank":
            rank = int(words[1])
        elif " send " in line:
            found.add((rank, int(words[4])))
    return found


@pytest.mark.parametrize("named", [{}, {"pg_name": ""}, {"pg_name": "0"}])
def test_no_group_is_all_ranks(tmp_path: Path, named: dict[str, str]) -> None:
    """A ring over 4 ranks: 2 (p - 1) messages, each a quarter, from each rank."""
    done = job(tmp_path, [[collective(0, size=2097152, is_cpu_op=False, **named)]] * 4)
    assert traffic(done.path) == (24, 2 * 3 * 2097152)
    summary = el.replay(done.path, machine="infiniband-ndr").summary
    assert (summary["messages"], summary["bytes"]) == (24, 12582912)
    if named.get("pg_name") == "0":
        assert done.notes == ()
    else:
        assert done.notes == ("4 collective operations without a group: all 4 ranks",)
        assert done.path.read_text().startswith(f"// {done.notes[0]}\nnum_ranks 4\n")


def test_members_come_from_the_file_of_groups(tmp_path: Path) -> None:
    groups = tmp_path / "groups.json"
    groups.write_text('{"1": [0, 1], "2": [3, 2]}')
    graphs = [[collective(0, pg_name=str(1 + rank // 2))] for rank in range(4)]
    done = job(tmp_path, graphs, ReadingOptions(groups))
    assert pairs(done.path) == {(0, 1), (1, 0), (2, 3), (3, 2)}
    assert done.notes == ()
    # A member without the operation in its trace is missed; without the file, there is no such
    # member.
    short = [*graphs[:3], [node(0, "COMP", us=1)]]
    with pytest.raises(
        RunError, match=r"job\.3\.json: .* rank 3 of its group has 0 operations, and others have 1"
    ):
        job(tmp_path, short, ReadingOptions(groups))
    assert pairs(job(tmp_path, short).path) == {(0, 1), (1, 0)}
    with pytest.raises(
        RunError, match=r"rank 0, node 0 .* its group `7` is not in the file of groups"
    ):
        job(tmp_path, [[collective(0, pg_name="7")]] * 4, ReadingOptions(groups))
    with pytest.raises(
        RunError, match=r"rank 2, .* its group `1` has the ranks \[0, 1\], and must have .*, 2 too"
    ):
        job(tmp_path, [[collective(0, pg_name="1")]] * 4, ReadingOptions(groups))


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        (
            '{"1": [0, 4]}',
            r"group `1` is \[0, 4\], and must be a list of different ranks from 0 to 3",
        ),
        ('{"1": [0, 0]}', "must be a list of different ranks"),
        ('{"1": ["0", "1"]}', "must be a list of different ranks"),
        ('{"1": [true, 1]}', "must be a list of different ranks"),
        ('{"1": 3}', "must be a list of different ranks"),
        ("[1]", "a file of groups is an object such as"),
        ('{"workload_graph": []}', "a file of groups is an object such as"),
        ("{", "this is not JSON"),
        (None, "there is no such file"),
    ],
)
def test_files_of_groups_that_are_wrong(tmp_path: Path, text: str | None, wrong: str) -> None:
    groups = tmp_path / "groups.json"
    if text is not None:
        groups.write_text(text)
    with pytest.raises((UsageError, RunError), match=rf"groups\.json: .*{wrong}"):
        job(tmp_path, [[collective(0)]] * 4, ReadingOptions(groups))


def test_a_group_without_members_is_nobodys(tmp_path: Path) -> None:
    """Only a node that names such a group is wrong; the group of all ranks may be empty, as in
    PyTorch.
    """
    groups = tmp_path / "groups.json"
    groups.write_text('\ufeff{"0": [], "1": [0, 1], "2": [2, 3], "7": []}', encoding="utf-8")
    graphs = [
        [collective(0, pg_name=str(1 + rank // 2)), collective(1, 0, pg_name="0")]
        for rank in range(4)
    ]
    assert traffic(job(tmp_path, graphs, ReadingOptions(groups)).path) == (4 + 8, (4 + 8) * 1000)
    with pytest.raises(RunError, match=r"rank 0, node 0 .* its group `7` has the ranks \[\]"):
        job(tmp_path, [[collective(0, pg_name="7")]] * 4, ReadingOptions(groups))


def test_a_file_of_groups_among_the_traces_is_named_as_that(tmp_path: Path) -> None:
    (tmp_path / "job.0.json").write_text('{"1": [0]}')
    with pytest.raises(UsageError, match="a file of groups and no trace; name it with --groups"):
        translate([tmp_path / "job.0.json"], tmp_path / "out.goal")


def test_process_groups_of_pytorch_are_in_the_metadata(tmp_path: Path) -> None:
    listed = [
        {"pg_name": "0", "ranks": []},
        {"pg_name": "3", "ranks": [0, 2]},
        {"pg_name": "4", "ranks": [1, 3]},
    ]
    _, _, kind = messages()
    files = []
    for rank in range(4):
        files.append(tmp_path / f"job.{rank}.et")
        binary(
            files[-1],
            [collective(2, 1, pg_name=str(3 + rank % 2)), collective(3, 2, pg_name="0", size=8)],
        )
        groups = kind(id=1, name="process_group:init", type=1)
        groups.inputs.values = f"{[json.dumps(listed)]}"
        content = groups.SerializeToString()
        files[-1].write_bytes(files[-1].read_bytes() + varint(len(content)) + content)
    assert next(node for node in read(files[0]) if node.id == 1).inputs.startswith("['[{")
    done = translate(files, tmp_path / "out.goal")
    assert traffic(done.path) == (4 + 8, 4 * 1000 + 8 * 8)
    assert {(0, 2), (2, 0), (1, 3), (3, 1)} <= pairs(done.path)


@pytest.mark.parametrize(
    ("attributes", "micros"),
    [
        ({"num_ops": 4_000_000_000, "tensor_size": 8_000_000}, 4000),  # by its operations
        ({"num_ops": 1_000_000, "tensor_size": 8_000_000}, 80),  # by its bytes
        ({"num_ops": 1_000_000}, 1),
        ({"tensor_size": 1_000_000}, 10),
        ({}, 0),
    ],
)
def test_work_takes_the_time_of_a_roofline(
    tmp_path: Path, attributes: dict[str, int], micros: int
) -> None:
    graph = [node(0, "COMP", is_cpu_op=False, **attributes), collective(1, 0)]
    done = job(tmp_path, [graph] * 2, ReadingOptions(roofline=Roofline(1e12, 100e9)))
    assert f"l0: calc {micros * 1000} cpu 1" in done.path.read_text()


def test_a_duration_comes_before_an_estimate(tmp_path: Path) -> None:
    graph = [node(0, "COMP", us=3, num_ops=10**9, tensor_size=8), collective(1, 0)]
    assert "l0: calc 3000 cpu 1\n" in job(tmp_path, [graph] * 2).path.read_text()


def test_nodes_without_dependencies_follow_each_other(tmp_path: Path) -> None:
    """One at a time on the host, on the accelerator and in communication; the receive waits beside
    these.
    """
    graph = [
        node(1, "COMP", us=1, is_cpu_op=True),
        node(2, "COMP", us=2, is_cpu_op=True),
        node(3, "COMP", us=3),
        node(4, "COMP", us=4, is_cpu_op=False),
    ]
    first = [
        *graph,
        message(5, "COMM_SEND", 0, 1),
        message(6, "COMM_SEND", 0, 1),
        message(7, "COMM_RECV", 1, 0),
    ]
    second = [
        message(5, "COMM_RECV", 0, 1),
        message(6, "COMM_RECV", 0, 1),
        message(7, "COMM_SEND", 1, 0),
    ]
    done = job(tmp_path, [first, second])
    lines = done.path.read_text().splitlines()
    requires = [line for line in lines if "requires" in line]
    assert requires == ["l4 requires l0", "l5 requires l1", "l6 requires l2"]
    assert {line.split(": ")[0] for line in lines if "calc 1000" in line} == {"l0"}
    assert done.notes == (
        "no node of rank 0 and 1 more depends on another: they follow each other by their numbers",
    )
    assert el.replay(done.path, network="ideal").summary["messages"] == 3


def test_one_rank_stands_for_all(tmp_path: Path) -> None:
    """Neighbours are neighbours everywhere, and groups are one grid's rows and columns."""
    path = tmp_path / "part.6.json"
    plain(
        path,
        [
            collective(1, ranks=[4, 5, 6, 7]),
            collective(2, 1, ranks=[2, 6, 10, 14], what=BROADCAST, comm_src=14, size=16),
            message(3, "COMM_SEND", 6, 7, 2),
            message(4, "COMM_RECV", 5, 6, 2),
            collective(5, 3, 4, what=ALL_GATHER, size=8),
        ],
    )
    done = translate([path], tmp_path / "out.goal", ReadingOptions(replicate=16))
    summary = el.replay(done.path, machine="infiniband-ndr").summary
    assert done.ranks == 16
    assert (summary["messages"], summary["bytes"]) == (
        4 * 8 + 4 * 3 + 16 + 16 * 15,
        4 * 2 * 4 * 1000 + 4 * 3 * 16 + 16 * 64 + 16 * 15 * 8,
    )
    sends = pairs(done.path)
    assert {(15, 0), (8, 9), (9, 8), (13, 1)} <= sends
    assert not {(0, 5), (1, 14), (3, 8)} & sends
    assert done.notes[0] == "part.6.json stands for 16 ranks"


@pytest.mark.parametrize(
    ("graph", "wrong"),
    [
        (
            [collective(1, ranks=[0, 1, 3])],
            r"its group is \[0, 1, 3\], and --replicate needs rows of a grid of 12",
        ),
        ([collective(1, ranks=[0, 1, 2, 3, 4])], "--replicate needs rows of a grid of 12 ranks"),
        (
            [collective(1, pg_name="7")],
            "its group `7` is of unknown ranks; give its members in a file with --groups",
        ),
        ([message(1, "COMM_SEND", 1, 2)], "`comm_src` is 1, and this is the trace of rank 0"),
        ([message(1, "COMM_SEND", 0, 12)], "`comm_dst` is 12, and must be a number from 0 to 11"),
    ],
)
def test_traces_that_do_not_stand_for_all(tmp_path: Path, graph: Graph, wrong: str) -> None:
    plain(tmp_path / "part.json", graph)
    with pytest.raises(RunError, match=wrong):
        translate([tmp_path / "part.json"], tmp_path / "out.goal", ReadingOptions(replicate=12))


def test_json_as_chakras_own_tool_prints_it(tmp_path: Path) -> None:
    """The same trace in binary and as messages in JSON, one after the other; a number of 0 is not
    printed.
    """
    from google.protobuf.json_format import MessageToJson

    graph = [
        node(0, "COMP", us=5, is_cpu_op=False),
        collective(1, 0, pg_name="0", involved_dim=[True]),
        message(2, "COMM_SEND", 0, 1, 1),
        node(3, "COMP", control=(2,), us=2),
    ]
    path = tmp_path / "job.0.et"
    binary(path, graph)
    names = dict(
        enumerate(("INVALID_NODE", "METADATA_NODE", "", "", "COMP_NODE", "COMM_SEND_NODE"))
    )
    metadata, _, kind = messages()
    printed = [MessageToJson(metadata(version="0.0.4"))]
    content, at = path.read_bytes(), 0
    while at < len(content):
        length = content[at]
        one = kind.FromString(content[at + 1 : at + 1 + length])
        at += 1 + length
        if one.type:
            text = json.loads(MessageToJson(one))
            text["type"] = names.get(one.type) or "COMM_COLL_NODE"
            printed.append(json.dumps(text))
    (tmp_path / "job.0.json").write_text("".join(printed))
    assert '"id"' not in printed[1]
    assert list(read(tmp_path / "job.0.json")) == list(read(path))


def test_the_command(tmp_path: Path, elanite: Callable[..., Ended]) -> None:
    graph = [
        node(0, "COMP", num_ops=10**9, tensor_size=8_000_000, is_cpu_op=False),
        collective(1, 0, pg_name="1"),
    ]
    for rank in range(2):
        plain(tmp_path / f"job.{rank}.json", graph)
    groups = tmp_path / "groups.json"
    groups.write_text('{"1": [0, 1]}')
    files = [str(tmp_path / f"job.{rank}.json") for rank in range(2)]
    line = ["goal", "import", *files, "-o", str(tmp_path / "job.goal"), "--groups", str(groups)]
    assert elanite(*line, "--flops", "0.5T", "--memory-rate", "100 GB/s").code == 0
    assert "l0: calc 2000000 cpu 1" in (tmp_path / "job.goal").read_text()
    for option, value, wrong in (
        ("--flops", "fast", "--flops: `fast` is not understood; write for example 312T or 312e12"),
        ("--flops", "0", "--flops: `0` is not understood"),
        (
            "--memory-rate",
            "2 KB",
            "--memory-rate: `2 KB` is not understood; write for example '2039 GB/s'",
        ),
        ("--memory-rate", "0 B/s", "--memory-rate: "),
        ("--replicate", "4", "--replicate makes all ranks from one trace; name one file"),
    ):
        ended = elanite(*line, option, value)
        assert (ended.code, wrong in ended.err) == (2, True), ended
    ended = elanite(*line)
    assert ended.code != 0
    assert "it has 1,000,000,000 operations, 8,000,000 bytes and no duration" in ended.err
    assert "--flops" in ended.err
