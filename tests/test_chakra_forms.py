"""Chakra traces from other writers: the former schema, STAGE's JSON, PyTorch traces, and processor
rates.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import elanite as el
from elanite.errors import RunError, UsageError
from elanite.traces import translate
from elanite.traces.chakra_file import read
from elanite.traces.chakra_reading import ReadingOptions, Roofline
from elanite.traces.chakra_schema import COLLECTIVES, FORMER_COLLECTIVES, FORMER_KINDS, former
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
from test_chakra_jobs import collective, job, traffic

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Ended

pytest.importorskip("google.protobuf")

ROOT = Path(__file__).parents[1]


def graphs() -> list[Graph]:
    """Two ranks that compute, sum, and exchange a message, in groups with numbers."""

    def of(rank: int) -> Graph:
        last = message(4, "COMM_RECV" if rank else "COMM_SEND", 0, 1, 3, size=77)
        work = node(1, "COMP", num_ops=10**9, tensor_size=800)
        return [
            work,
            collective(2, 1, comm_group="5"),
            collective(3, 2, what=ALL_GATHER, comm_group="5"),
            last,
        ]

    return [of(0), of(1)]


def former_binary(path: Path, graph: Graph) -> None:
    """Write a rank's trace by schema version 0.0.1."""
    made = former()
    content = b""
    for each in graph:
        attributes = dict(each["attributes"])
        if "comm_group" in attributes:
            attributes["communicator_id"] = int(attributes.pop("comm_group"))
        if "comm_type" in attributes:
            attributes["comm_type"] = FORMER_COLLECTIVES.index(COLLECTIVES[attributes["comm_type"]])
        one = made(
            id=each["id"],
            name=f"n{each['id']}",
            node_type=FORMER_KINDS.index(each["kind"]),
            parent=each["after"],
            simulated_run_time=each["us"],
            **attributes,
        ).SerializeToString()
        content += varint(len(one)) + one
    path.write_bytes(content)


def of_stage(path: Path, graph: Graph) -> None:
    """Write a rank's trace as STAGE writes JSON."""
    nodes = []
    for each in graph:
        kind = "coll_comm_node" if each["kind"] == "COMM_COLL" else f"{each['kind']}_NODE".lower()
        one = {
            "id": each["id"],
            "name": f"n{each['id']}",
            "node_type": kind,
            "data_deps": list(each["after"]),
        }
        one |= {"ctrl_deps": [], **each["attributes"]}
        if "comm_type" in one:
            one["comm_type"] = COLLECTIVES[one["comm_type"]]
        nodes.append(one)
    path.write_text(json.dumps({"nodes": nodes}))


def test_all_forms_give_the_same_trace(tmp_path: Path) -> None:
    """Also where a name ends as in another form."""
    how, found = ReadingOptions(roofline=Roofline(1e12, 1e9)), []
    for name, write in (
        ("et", binary),
        ("json", plain),
        ("et", former_binary),
        ("json", of_stage),
        ("json", binary),
    ):
        files = [tmp_path / f"job.{rank}.{name}" for rank in range(2)]
        for file, graph in zip(files, graphs(), strict=True):
            write(file, graph)
        found.append(translate(files, tmp_path / "job.goal", how).path.read_text())
    assert len(set(found)) == 1
    assert "l0: calc 1000000 cpu 1" in found[0]
    assert traffic(tmp_path / "job.goal") == (2 + 2 + 1, 2 * 1000 + 2 * 1000 + 77)


def test_other_ways_to_write_json(tmp_path: Path) -> None:
    """A byte order mark, line ends of Windows, small letters, and whole numbers with a point."""
    how, file = ReadingOptions(roofline=Roofline(1e12, 1e9)), tmp_path / "job.0.json"
    other = tmp_path / "job.1.json"
    for each, graph in zip((file, other), graphs(), strict=True):
        of_stage(each, graph)
    plain_text = translate([file, other], tmp_path / "job.goal", how).path.read_text()
    for each in (file, other):
        written = each.read_text().replace('"ALL_REDUCE"', '"all_reduce"').replace(", ", ",\r\n")
        written = re.sub(r'("comm_size": \d+)', r"\1.0", written)
        each.write_text(written, encoding="utf-8-sig", newline="")
    assert translate([file, other], tmp_path / "job.goal", how).path.read_text() == plain_text
    file.write_text(file.read_text(encoding="utf-8-sig").replace(".0", ".5"))
    with pytest.raises(RunError, match=r"`comm_size` is \d+\.5, and must be a number from 0 to"):
        translate([file, other], tmp_path / "job.goal", how)


def test_durations_of_the_former_schema_are_nanoseconds(tmp_path: Path) -> None:
    former_binary(tmp_path / "job.0.et", [node(0, "COMP", us=1500)])
    assert [one.micros for one in read(tmp_path / "job.0.et")] == [1.5]


def test_durations_of_json_have_two_names(tmp_path: Path) -> None:
    """The feeder's, and that of the messages; a computation without anything is counted."""
    common = {"Id": 0, "NodeType": 4}
    for key, wanted in (("runtime", 5000), ("duration_micros", 5000), ("time", 0)):
        (tmp_path / "job.0.json").write_text(json.dumps({"workload_graph": [common | {key: 5}]}))
        named = {"id": 0, "node_type": "comp_node", key: 5}
        (tmp_path / "job.1.json").write_text(json.dumps({"nodes": [named]}))
        made = translate([tmp_path / "job.0.json", tmp_path / "job.1.json"], tmp_path / "out.goal")
        assert made.path.read_text().count(f"calc {wanted} cpu 1") == 2
        idle = "2 computations without duration, operations and bytes take no time"
        assert (idle in made.notes) == (wanted == 0)


def test_a_long_first_message_is_no_json(tmp_path: Path) -> None:
    """A length of 123 bytes is a brace, and the metadata's first field a new line."""
    binary(tmp_path / "job.0.et", [node(0, "COMP", us=1)])
    content = (tmp_path / "job.0.et").read_bytes()
    first = b"\n\x05" + b"0.0.4" + b"\x12\x72" + b"\x0a\x70" + b"a" * 112
    (tmp_path / "job.0.et").write_bytes(varint(len(first)) + first + content[1 + content[0] :])
    assert (tmp_path / "job.0.et").read_bytes().startswith(b"{\n")
    assert len(list(read(tmp_path / "job.0.et"))) == 1


def test_lists_without_dependencies_may_be_left_out(tmp_path: Path) -> None:
    """Printers of protobuf leave empty lists out."""
    kind = {"NodeType": 7, "comm_type": 0, "comm_size": 3000}
    (tmp_path / "job.0.json").write_text(json.dumps({"workload_graph": [{"Id": 0, **kind}]}))
    named = {"node_type": "coll_comm_node", "comm_type": "ALL_REDUCE", "comm_size": 3000}
    (tmp_path / "job.1.json").write_text(json.dumps({"nodes": [{"id": 0, **named}]}))
    done = translate([tmp_path / "job.0.json", tmp_path / "job.1.json"], tmp_path / "job.goal")
    assert done.ranks == 2


@pytest.mark.parametrize(
    ("content", "wrong"),
    [
        (
            {"deviceProperties": [], "traceEvents": []},
            "a trace of PyTorch's profiler .*chakra_trace_link",
        ),
        (
            {"schema": "1.0.2-chakra.0.0.4", "nodes": [{"id": 2}]},
            "an execution trace of PyTorch .*chakra_converter",
        ),
        (
            {"nodes": [{"id": 1, "node_type": "gather_node", "data_deps": []}]},
            r"nodes\[0\]: there is no type of nodes",
        ),
        (
            {"nodes": [{"id": 1, "data_deps": []}]},
            r"nodes\[0\]: a node has `id` and `node_type`, and `data_deps` is a list",
        ),
        (
            {
                "nodes": [
                    {"id": 1, "node_type": "coll_comm_node", "data_deps": [], "comm_type": "SUM"}
                ]
            },
            r"nodes\[0\]: there is no collective operation with the name SUM",
        ),
    ],
)
def test_json_that_is_refused(tmp_path: Path, content: Any, wrong: str) -> None:
    (tmp_path / "job.0.json").write_text(json.dumps(content))
    with pytest.raises((RunError, UsageError), match=wrong):
        translate([tmp_path / "job.0.json"], tmp_path / "out.goal")
    (tmp_path / "job.0.et").touch()
    with pytest.raises(RunError, match="the file is empty"):
        translate([tmp_path / "job.0.et"], tmp_path / "out.goal")


def test_a_trace_of_pytorch_stands_for_all(tmp_path: Path) -> None:
    """A host call launches an accelerator kernel; callers give no order; a broadcast names no
    root.
    """
    path = tmp_path / "chakra.0.et"
    kernel = {"is_cpu_op": False, "involved_dim": [True]}
    graph = [
        node(3, "COMP", us=5, is_cpu_op=True, control=(1,)),
        node(4, "COMM_COLL", 3, us=85, is_cpu_op=True, control=(99,)),
        collective(5, 4, what=BROADCAST, size=640, **kernel),
        # The caller is behind its call: control dependencies would be a circle.
        node(6, "COMP", 5, us=9, is_cpu_op=True, control=(7,)),
        collective(7, 6, what=ALL_REDUCE, size=64, **kernel),
    ]
    binary(path, graph)
    done = translate([path], tmp_path / "out.goal", ReadingOptions(replicate=4))
    assert traffic(done.path) == (3 + 4 * 2, 3 * 640 + 8 * 64)
    assert "l1: calc 85000\n" in done.path.read_text()
    assert done.notes == (
        "chakra.0.et stands for 4 ranks",
        "8 collective operations without a group: all 4 ranks",
        "4 collective operations without a root: the group's first rank",
        (
            "rank 0 and 3 more: control dependencies lead to nodes that are not there, and are"
            " taken for calls of PyTorch; data dependencies give the order"
        ),
    )
    assert el.replay(done.path, machine="infiniband-ndr").summary["messages"] == 11


def test_without_a_root_the_first_of_unknown_members_is_it(tmp_path: Path) -> None:
    graph = [collective(1, what=BROADCAST, pg_name="x", size=10)]
    done = job(tmp_path, [[node(1, "COMP", us=1)], graph, graph])
    text = done.path.read_text().split("rank 1 {")[1]
    assert "send 10b to 2" in text.split("}")[0]


def test_a_processor_gives_the_rates_that_are_not_given(
    tmp_path: Path, elanite: Callable[..., Ended]
) -> None:
    """Six operations in a step, and main memory's rate for one processor; a given rate comes
    first.
    """
    for rank, graph in enumerate(graphs()):
        plain(tmp_path / f"job.{rank}.json", graph)
    files = [str(tmp_path / f"job.{rank}.json") for rank in range(2)]
    line = ["goal", "import", *files, "-o", str(tmp_path / "job.goal"), "--machine", "es40-qsnet"]
    processor = ["--set", "processor.step=2 ns", "--set", "processor.core_memory=1 MB/s"]
    # 10^9 operations at 3 in a nanosecond; 800 bytes at 1 in a microsecond.
    for rates, ns in (
        ([], 333333333),
        (["--flops", "1000T"], 800000),
        (["--memory-rate", "0.000001 TB/s"], 333333333),
    ):
        ended = elanite(*line, *processor, *rates)
        assert ended.code == 0, ended
        assert f"l0: calc {ns} cpu 1" in (tmp_path / "job.goal").read_text()
        assert "6 operations in processor.step (2 ns)" in ended.err or "--flops" in rates
        assert "processor.core_memory (1 MB/s)" in ended.err or "--memory-rate" in rates
    # An accelerator's rates: 2 * 10^9 operations in a second, and 800 bytes at 2 in a microsecond.
    accelerator = ["--set", "processor.flops=2e9", "--set", "processor.flops_memory=2 MB/s"]
    for rates, ns in (
        ([], 500000000),
        (["--flops", "1000T"], 400000),
        (["--memory-rate", "0.000001 TB/s"], 500000000),
    ):
        ended = elanite(*line, *processor, *accelerator, *rates)
        assert ended.code == 0, ended
        assert f"l0: calc {ns} cpu 1" in (tmp_path / "job.goal").read_text()
        assert "operations at processor.flops (2e+09/s)" in ended.err or "--flops" in rates
        assert "bytes at processor.flops_memory (2 MB/s)" in ended.err or "--memory-rate" in rates
        assert "operations in processor.step" not in ended.err
        assert "bytes at processor.core_memory" not in ended.err
    ended = elanite(*line)
    assert (
        ended.code,
        "it has no section [processor]; measure one with `elanite calib" in ended.err,
    ) == (2, True)
    ended = elanite(*line[:-2], "--set", "processor.step=2 ns")
    assert (ended.code, "--set: it changes a machine; name one with --machine" in ended.err) == (
        2,
        True,
    )
    ended = elanite(*line[:-2], "--channels", "2")
    assert (ended.code, "are NCCL's; choose its --algorithm, too" in ended.err) == (2, True)


@pytest.mark.parametrize("name", ["rank{}_step7.et", "8npus.{}.et", "r{}-of-2.et", "job.00{}.et"])
def test_the_number_by_which_names_differ_is_the_rank(tmp_path: Path, name: str) -> None:
    files = [tmp_path / name.format(rank) for rank in range(2)]
    for file, graph in zip(files, graphs(), strict=True):
        binary(file, graph)
    how = ReadingOptions(roofline=Roofline(1e12, 1e9))
    found = translate(files[::-1], tmp_path / "job.goal", how)
    assert found.ranks == 2
    assert traffic(tmp_path / "job.goal") == (2 + 2 + 1, 2 * 1000 + 2 * 1000 + 77)
