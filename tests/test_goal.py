"""Traces: generated ones have their closed form's messages and bytes, carry the right data, and are
replayed.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict, deque
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import elanite as el
from conftest import command, environment, execute
from elanite.base import build
from elanite.traces import goal

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


Operation = tuple[str, int, int, list[int]]
"""Kind, size, peer, and the operations that it requires."""

SIZE = 1003


def blocks(lines: Iterable[str]) -> list[list[Operation]]:
    """Each rank's operations."""
    found: list[list[Operation]] = []
    for line in lines:
        if match := re.fullmatch(r"l(\d+): (send|recv) (\d+)b (?:to|from) (\d+)\n", line):
            assert int(match[1]) == len(found[-1])
            found[-1].append((match[2], int(match[3]), int(match[4]), []))
        elif match := re.fullmatch(r"l(\d+): calc (\d+)\n", line):
            found[-1].append(("calc", int(match[2]), -1, []))
        elif match := re.fullmatch(r"l(\d+) requires l(\d+)\n", line):
            found[-1][int(match[1])][3].append(int(match[2]))
        elif line.startswith("rank "):
            found.append([])
        else:
            assert line == "}\n" or line.startswith("num_ranks "), line
    return found


def traffic(ranks: list[list[Operation]]) -> tuple[int, int]:
    """Messages and bytes."""
    sizes = [size for operations in ranks for kind, size, _, _ in operations if kind == "send"]
    return len(sizes), sum(sizes)


def known(ranks: list[list[Operation]]) -> list[set[int]]:
    """For each rank, the ranks with computation before its last operations, when all have been
    executed.
    """
    news: list[list[set[int] | None]] = [[None] * len(operations) for operations in ranks]
    messages: dict[tuple[int, int], deque[tuple[int, set[int]]]] = defaultdict(deque)
    moved = True
    while moved:
        moved = False
        for rank, operations in enumerate(ranks):
            for number, (kind, size, peer, after) in enumerate(operations):
                before = [news[rank][other] for other in after]
                if news[rank][number] is not None or None in before:
                    continue
                here = set().union(*(one for one in before if one is not None))
                if kind == "recv":
                    if not messages[peer, rank]:
                        continue
                    length, there = messages[peer, rank].popleft()
                    assert length == size
                    here |= there
                elif kind == "send":
                    messages[rank, peer].append((size, here))
                else:
                    here.add(rank)
                news[rank][number] = here
                moved = True
    assert all(one is not None for each in news for one in each), "operations wait for ever"
    assert not any(messages.values()), "messages are left"
    return [set().union(*(one for one in each if one is not None)) for each in news]


def all_reduces(p: int, g: int) -> list[tuple[Any, int, int]]:
    """All-reduces with their messages and bytes."""
    q = 1 << (p.bit_length() - 1)
    doubling = q * (q.bit_length() - 1) + 2 * (p - q)
    m = p // g
    return [
        (goal.all_reduce(p, SIZE, "ring"), 2 * p * (p - 1), 2 * (p - 1) * SIZE),
        (goal.all_reduce(p, SIZE, "tree"), 2 * (p - 1), 2 * (p - 1) * SIZE),
        (goal.all_reduce(p, SIZE, "recursive-doubling"), doubling, doubling * SIZE),
        (
            goal.all_reduce(p, SIZE, "hierarchical", group=g),
            2 * p * (g - 1) + 2 * p * (m - 1),
            2 * m * (g - 1) * SIZE + 2 * (m - 1) * SIZE,
        ),
    ]


@pytest.mark.parametrize(("p", "g"), [(1, 1), (2, 1), (3, 3), (8, 2), (12, 4), (13, 13), (16, 4)])
def test_an_all_reduce_has_its_messages_and_everybody_hears_of_everybody(p: int, g: int) -> None:
    for lines, messages, size in all_reduces(p, g):
        ranks = blocks(lines)
        assert traffic(ranks) == (messages, size)
        assert known(ranks) == [set(range(p))] * p


@pytest.mark.parametrize(("p", "g"), [(1, 1), (4, 2), (9, 3), (7, 7)])
def test_groups_hear_of_their_members_and_of_nobody_else(p: int, g: int) -> None:
    m = p // g
    patterns = [
        (goal.all_gather(p, SIZE, group=g), p * (g - 1), m * (g - 1) * SIZE),
        (goal.all_gather(p, SIZE, group=g, scatter=True), p * (g - 1), m * (g - 1) * SIZE),
        (goal.all_to_all(p, SIZE, group=g), p * (g - 1), p * (g - 1) * SIZE),
        (
            goal.expert(p, SIZE, group=g, layers=3, compute=7),
            12 * p * (g - 1),
            12 * p * (g - 1) * SIZE,
        ),
    ]
    for lines, messages, size in patterns:
        ranks = blocks(lines)
        assert traffic(ranks) == (messages, size)
        assert known(ranks) == [set(range(rank // g * g, rank // g * g + g)) for rank in range(p)]


def test_a_call_waits_for_the_call_before() -> None:
    ranks = blocks(goal.all_reduce(4, SIZE, calls=3, compute=50))
    assert traffic(ranks) == (3 * 24, 3 * 6 * SIZE)
    for operations in ranks:
        begins = [number for number, (kind, *_) in enumerate(operations) if kind == "calc"]
        assert len(begins) == 3
        waited = {other for _, _, _, after in operations for other in after}
        for begin in begins[1:]:
            reached = set(operations[begin][3])
            while (
                further := reached | {one for each in reached for one in operations[each][3]}
            ) != reached:
                reached = further
            assert reached == set(range(begin))
        assert begins[0] in waited


def replayed(tmp_path: Path, lines: Iterable[str], **options: Any) -> el.replay.Replay:  # type: ignore[name-defined]
    path = tmp_path / "trace.goal"
    path.write_text("".join(lines))
    return el.replay(path, **options)


@pytest.mark.parametrize(("stages", "batches"), [(1, 3), (4, 1), (4, 2), (4, 16)])
def test_a_pipeline_takes_the_time_of_its_bubble(tmp_path: Path, stages: int, batches: int) -> None:
    lines = list(goal.pipeline(stages, SIZE, batches=batches, compute=1_000_000))
    messages = 2 * (stages - 1) * batches
    assert traffic(blocks(lines)) == (messages, messages * SIZE)
    found = replayed(tmp_path, lines, network="ideal")
    ideal = (batches + stages - 1) * 3000.0
    assert ideal <= found.summary["time_us"] <= ideal * 1.01
    assert found.summary["messages"] == messages
    assert found.tables["ranks"]["computed_us"].to_list() == [batches * 3000.0] * stages


def test_a_ring_on_an_ideal_network_takes_a_latency_each_step(tmp_path: Path) -> None:
    found = replayed(tmp_path, goal.all_reduce(16, SIZE, compute=5000), network="ideal")
    # Steps do not overlap: each begins when the previous step's message is there.
    assert found.summary["time_us"] == 5 + 30 * 1.0
    assert found.summary["bytes"] == 30 * SIZE
    assert found.tables["ranks"]["messages_received"].to_list() == [30] * 16


@pytest.mark.parametrize("algorithm", goal.ALGORITHMS)
def test_every_all_reduce_is_replayed_on_a_machine(
    tmp_path: Path, algorithm: goal.Algorithm
) -> None:
    group = 4 if algorithm == "hierarchical" else None
    lines = list(goal.all_reduce(16, 65536, algorithm, group=group))
    one = replayed(tmp_path, lines, ranks_per_node=4)
    assert (one.summary["messages"], one.summary["bytes"]) == traffic(blocks(lines))
    assert one.summary["packets"] > 0
    assert one.summary == replayed(tmp_path, lines, ranks_per_node=4).summary
    ideal = replayed(tmp_path, lines, network="ideal")
    assert one.summary["time_us"] > ideal.summary["time_us"]
    assert set(one.tables["ranks"]["node"]) == {0, 1, 2, 3}


def test_noise_and_seed_change_a_replay_and_the_same_seed_does_not(tmp_path: Path) -> None:
    lines = list(goal.all_reduce(2, 8, compute=10_000_000))
    times = [
        replayed(tmp_path, lines, machine="opteron-qsnet2", seed=seed).summary["time_us"]
        for seed in (1, 1, 2)
    ]
    assert times[0] == times[1] != times[2]
    assert min(times) > 10_000


def test_operations_are_kept_on_request(tmp_path: Path) -> None:
    found = replayed(tmp_path, goal.all_reduce(2, 8, compute=1000), operations=True)
    operations = found.tables["operations"].sort("rank", "operation")
    assert operations["kind"].to_list() == ["calc", "send", "recv", "send", "recv"] * 2
    assert operations["peer"].to_list() == [None, 1, 1, 1, 1, None, 0, 0, 0, 0]
    assert operations.filter(pl.col("end_us") < pl.col("free_us")).is_empty()
    assert operations["end_us"].max() == found.summary["time_us"]


def test_the_hottest_links_between_switches_are_shown_beside_those_of_nodes(tmp_path: Path) -> None:
    """Four ranks under one switch send through one up-link: it is busy, and node links do not hide
    it.
    """
    narrow = ["topology.nodes=16", "topology.down=[4, 4]", "topology.up=[1]"]
    machine = el.Machine.load("es40-qsnet", narrow)
    found = replayed(tmp_path, goal.all_to_all(16, SIZE), machine=machine)
    links = found.as_json()["links"]
    assert [link["level"] for link in links] == [0, 0, 0, 1, 1, 1]
    for level in (0, 1):
        busy = [link["busy"] for link in links if link["level"] == level]
        assert busy == sorted(busy, reverse=True)
        most = found.tables["links"].filter(level=level)["busy_ps"].max()
        assert busy[0] == pytest.approx(most / 1e6 / found.summary["time_us"])
    inside = replayed(tmp_path, goal.all_to_all(4, SIZE), machine=machine).as_json()["links"]
    assert {link["level"] for link in inside} == {0}, "nothing leaves the switch"
    path = tmp_path / "sixteen.goal"
    path.write_text("".join(goal.all_to_all(16, SIZE)), encoding="ascii")
    words = [
        "replay",
        str(path),
        "--out",
        str(tmp_path),
        *(word for each in narrow for word in ("--set", each)),
    ]
    shown = execute(command(*words), env=environment()).out
    assert shown.index("of nodes:") < shown.index("between switches:") < shown.index("digest")


def test_the_command_line_makes_and_replays_a_trace(tmp_path: Path) -> None:
    trace = tmp_path / "f.goal"
    made = execute(
        command("goal", "allreduce", "--algorithm", "ring", "--ranks", "8", "--size", "1 KB")
    )
    assert (made.code, made.err) == (0, ""), made
    trace.write_text(made.out)
    words = ["replay", str(trace), "--out", str(tmp_path), "--operations"]
    table = execute(command(*words))
    assert table.code == 0, table
    assert re.search(r"8 ranks on 8 nodes of es40-qsnet", table.out), table
    assert re.search(r"messages +112\n", table.out), table
    figures = json.loads(execute(command(*words, "--format", "json")).out)
    assert (figures["messages"], figures["bytes"]) == (112, 14 * 1024)
    assert figures["slowest"]["end_us"] == figures["simulated_us"]
    assert re.search(rf"slowest +ranks? {figures['slowest']['rank']}\b", table.out), table
    assert re.search(rf"build +{re.escape(str(build.own_build()))}\n", table.out), table
    assert figures["versions"] == build.own_build().versions()
    folder = tmp_path / "replay"
    assert [str(one) for one in folder.iterdir()] == [figures["folder"]]
    kept = pl.read_parquet(folder.glob("*/operations.parquet").__next__())
    assert len(kept) == 8 * (1 + 2 * 14)


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        (
            "num_ranks 1\nrank 0 {\nl1: calc -5\n}\n",
            2,
            r"t\.goal:3: .* is negative: `-5`; write 0 or more",
        ),
        ("num_ranks 1\nrank 0 {\nl1: calc 5\n", 2, r"t\.goal:2: .* truncated"),
        ("num_ranks 1\nrank 0 {\nl1: calc 5\nl1 requires l1\n}\n", 2, r"t\.goal:3: .* circle"),
        (
            "num_ranks 2\nrank 0 {\nrecv 5b from 1\n}\nrank 1 {\n}\n",
            3,
            r"t\.goal:3: .*message that never comes",
        ),
        (
            "num_ranks 2\nrank 0 {\nsend 5b to 1\n}\nrank 1 {\n}\n",
            3,
            r"t\.goal:3: .*nobody receives",
        ),
        (
            "num_ranks 100\n" + "".join(f"rank {rank} {{ }}\n" for rank in range(100)),
            2,
            "--nodes 100",
        ),
    ],
)
def test_a_trace_that_cannot_be_replayed_is_an_error_with_its_line(
    tmp_path: Path, text: str, code: int, words: str
) -> None:
    trace = tmp_path / "t.goal"
    trace.write_text(text)
    ended = execute(command("replay", str(trace), "--out", str(tmp_path)), env=environment())
    assert ended.code == code, ended
    assert re.search(words, ended.err), ended
    assert "Traceback" not in ended.err
    assert not (tmp_path / "replay").exists()


@pytest.mark.parametrize(
    ("words", "about"),
    [
        (("allreduce", "--ranks", "4", "--size", "8 apples"), "--size: `8 apples`"),
        (("allreduce", "--ranks", "4", "--size", "8B", "--compute", "8B"), "--compute: `8B`"),
        (("allreduce", "--ranks", "4", "--size", "8B", "--algorithm", "hierarchical"), "--group"),
        (("allreduce", "--ranks", "4", "--size", "8B", "--group", "2"), "has no groups"),
        (("alltoall", "--ranks", "4", "--size", "8B", "--group", "3"), "do not make groups of 3"),
    ],
)
def test_wrong_options_of_patterns_are_named(words: tuple[str, ...], about: str) -> None:
    ended = execute(command("goal", *words))
    assert (ended.code, ended.out) == (2, ""), ended
    assert about in ended.err
