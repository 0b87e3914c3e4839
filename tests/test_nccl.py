"""NCCL calls: their closed forms' messages, bytes and steps, their data order, slots, and
refusals.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from dataclasses import dataclass, field
from itertools import pairwise
from math import ceil, log2
from typing import TYPE_CHECKING

import pytest

import elanite as el
from elanite.errors import UsageError
from elanite.traces import goal, translate
from elanite.traces.chakra_reading import NcclTransport, ReadingOptions
from elanite.traces.nccl_call import NcclCall
from elanite.traces.nccl_trees import Aggregation, double_binary, gathering, scattering
from test_chakra import ALL_GATHER, ALL_REDUCE, ALL_TO_ALL, BROADCAST, REDUCE, REDUCE_SCATTER, plain
from test_chakra_jobs import collective

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from conftest import Ended
    from elanite.traces.nccl import Algorithm

KB, MB = 1 << 10, 1 << 20


@dataclass
class Operation:
    """A rank's operation."""

    kind: str
    size: int
    peer: int = -1
    tag: int = 0
    ends: list[int] = field(default_factory=list)
    """The operations that have ended before it starts."""
    starts: list[int] = field(default_factory=list)
    known: set[int] | None = None
    """The ranks that contributed its data, by ends alone."""
    hops: int = 0
    """The messages on the longest path to its end."""


def blocks(lines: Iterable[str]) -> list[list[Operation]]:
    found: list[list[Operation]] = []
    for line in lines:
        if match := re.fullmatch(
            r"l\d+: (send|recv) (\d+)b (?:to|from) (\d+)(?: tag (\d+))?\n", line
        ):
            found[-1].append(Operation(match[1], int(match[2]), int(match[3]), int(match[4] or 0)))
        elif match := re.fullmatch(r"l\d+: calc (\d+)\n", line):
            found[-1].append(Operation("calc", int(match[1])))
        elif match := re.fullmatch(r"l(\d+) (i?)requires l(\d+)\n", line):
            one = found[-1][int(match[1])]
            (one.starts if match[2] else one.ends).append(int(match[3]))
        elif line.startswith("rank "):
            found.append([])
    return found


def run(lines: Iterable[str]) -> list[list[Operation]]:
    """The operations, with their data after all were executed in an order that their dependencies
    allow.
    """
    ranks = blocks(lines)
    ways: dict[tuple[int, int, int], deque[Operation]] = defaultdict(deque)
    moved = True
    while moved:
        moved = False
        for rank, operations in enumerate(ranks):
            for one in operations:
                before = [operations[other] for other in one.ends]
                begun = [operations[other] for other in one.starts]
                if one.known is not None or any(each.known is None for each in (*before, *begun)):
                    continue
                sent = None
                if one.kind == "recv":
                    way = ways[one.peer, rank, one.tag]
                    if not way:
                        continue
                    sent = way.popleft()
                    assert sent.size == one.size
                one.known = set().union(
                    *(each.known or set() for each in before), *([sent.known] if sent else [])
                )
                one.hops = max(
                    [each.hops for each in before] + ([sent.hops + 1] if sent else []), default=0
                )
                if one.kind == "send":
                    ways[rank, one.peer, one.tag].append(one)
                elif one.kind == "calc":
                    one.known.add(rank)
                moved = True
    assert all(one.known is not None for each in ranks for one in each), "operations wait for ever"
    assert not any(ways.values()), "messages are left"
    return ranks


def traffic(ranks: list[list[Operation]]) -> tuple[int, int]:
    sizes = [one.size for each in ranks for one in each if one.kind == "send"]
    return len(sizes), sum(sizes)


def made(
    text: str, algorithm: Algorithm = "ring", chunk: int | None = None, calls: int = 1
) -> list[list[Operation]]:
    return run(goal.nccl(NcclCall.of(text, algorithm, chunk=chunk), calls=calls))


@pytest.mark.parametrize(
    ("call", "algorithm", "messages", "size", "steps"),
    [
        # c channels, n ranks, a turn with n 2 MB chunks in two messages each: 2 n (n - 1) 2 c.
        (
            "all_reduce 64 MB over 2 x 4 with 4 channels",
            "ring",
            2 * 8 * 7 * 2 * 4,
            2 * 7 * 64 * MB,
            14,
        ),
        ("all_gather 64 MB over 8 with 4 channels", "ring", 8 * 7 * 2 * 4, 7 * 64 * MB, 7),
        ("reduce_scatter 16 MB over 8", "ring", 8 * 7 * 2, 7 * 16 * MB, 7),
        # 512 KB chunks go along a chain, up a tree and down again.
        ("broadcast 1 MB over 8 with 2 channels", "ring", 7 * 2, 7 * MB, 7),
        ("reduce 1 MB over 8 with 2 channels", "ring", 7 * 2, 7 * MB, 7),
        ("all_reduce 1 MB over 16 with 2 channels", "tree", 2 * 15 * 2, 2 * 15 * MB, 2 * 4),
        ("all_reduce 2 MB over 9 with 4 channels", "tree", 2 * 8 * 4, 2 * 8 * 2 * MB, 2 * 4),
        # In a 4-rank host, the longest path is from one chain's end to another's.
        ("all_reduce 1 MB over 2 x 4 with 2 channels", "tree", 2 * 7 * 2, 2 * 7 * MB, 2 * 4),
        # All trees share a message for each distance bit; no number below 11 has four bits.
        ("all_gather 8 KB over 8", "pat", 8 * 3, 7 * 8 * KB, 3),
        ("reduce_scatter 11 KB over 11", "pat", 11 * 4, 10 * 11 * KB, 3),
        # 512 KB parts fill a chunk: a message for each other rank, and three-bit places.
        ("all_gather 4 MB over 8", "pat", 8 * 7, 7 * 4 * MB, 3),
    ],
)
def test_messages_bytes_and_steps_of_a_chunk(
    call: str, algorithm: Algorithm, messages: int, size: int, steps: int
) -> None:
    chunk = 512 * KB if algorithm == "pat" and size > MB else None
    ranks = made(call, algorithm, chunk)
    assert traffic(ranks) == (messages, size)
    if call.split()[0] != "reduce":
        first = 0 if call.startswith("broadcast") else len(ranks)
        assert all(len(operations[-1].known or ()) >= first for operations in ranks)
    assert max(one.hops for operations in ranks for one in operations) == steps


@pytest.mark.parametrize("ranks", [2, 3, 4, 7, 12])
@pytest.mark.parametrize(
    ("what", "algorithm"),
    [
        ("all_reduce", "ring"),
        ("all_reduce", "tree"),
        ("all_gather", "ring"),
        ("all_gather", "pat"),
        ("reduce_scatter", "ring"),
        ("reduce_scatter", "pat"),
        ("broadcast", "ring"),
        ("reduce", "ring"),
    ],
)
def test_bytes_of_any_size_and_everybody_has_the_data(
    what: str, algorithm: Algorithm, ranks: int
) -> None:
    """Sizes that no chunk divides, in several turns, for two calls; each rank then has all data."""
    size = 1003 * ranks
    found = made(f"{what} {size}B over {ranks} with 2 channels", algorithm, chunk=128, calls=2)
    turns = 2 if what == "all_reduce" else 1
    assert traffic(found)[1] == 2 * turns * (ranks - 1) * size
    for rank, operations in enumerate(found):
        known = (
            {0, rank}
            if what == "broadcast"
            else set(range(ranks))
            if what != "reduce" or rank == 0
            else {rank}
        )
        assert known <= (operations[-1].known or set())


@pytest.mark.parametrize("share", [1, 3])
def test_a_ring_sends_what_it_has_received(share: int) -> None:
    """Step s's message has data from s + 1 ranks, and from all behind the turn; a ring over two
    hosts, or over six.
    """
    for operations in made(f"all_reduce 6 MB over {6 // share} x {share} with 1 channel", chunk=MB):
        sends = [one for one in operations if one.kind == "send"]
        # Each 1 MB chunk goes in two messages.
        assert [len(one.known or ()) for one in sends] == [
            min(step // 2 + 1, 6) for step in range(2 * 10)
        ]
        assert {one.size for one in sends} == {512 * KB}


def test_channels_of_a_ring_leave_a_host_by_different_ranks() -> None:
    ranks = made("all_reduce 8 MB over 2 x 4 with 4 channels")
    leaves = {
        rank
        for rank, each in enumerate(ranks)
        for one in each
        if one.kind == "send" and one.peer // 4 != rank // 4
    }
    assert leaves == set(range(8))


def test_the_last_turn_of_a_ring_has_equal_chunks() -> None:
    """With 8 MB over 8 ranks a chunk has 1 MB, in two messages, and not a whole turn's 2 MB."""
    ranks = made("all_reduce 8 MB over 8")
    assert {one.size for each in ranks for one in each if one.kind == "send"} == {512 * KB}


def test_half_of_the_channels_are_in_each_tree() -> None:
    """The first two channels have one tree's edges, and the other two its mirror's."""
    edges: dict[int, set[tuple[int, int]]] = defaultdict(set)
    for rank, each in enumerate(made("all_reduce 1 MB over 8 with 4 channels", "tree")):
        for one in each:
            if one.kind == "send":
                edges[one.tag].add((rank, one.peer))
    mirrored = {(7 - rank, 7 - peer) for rank, peer in edges[0]}
    assert [edges[tag] for tag in (0, 2, 4, 6)] == [edges[0], edges[0], mirrored, mirrored]
    assert edges[0] != mirrored


def test_sends_of_aggregated_trees_start_in_their_order() -> None:
    for operations in made("all_gather 4 MB over 8", "pat", 512 * KB):
        sends = [number for number, one in enumerate(operations) if one.kind == "send"]
        assert all(before in operations[after].starts for before, after in pairwise(sends))


@pytest.mark.parametrize("count", [1, 2, 3, 8, 9, 14, 31, 64])
def test_a_host_has_children_in_one_tree(count: int) -> None:
    """Both trees have all hosts, parents and children agree, ways have log2 steps, and no host has
    more than 2 + 1.
    """
    pairs = [double_binary(count, place) for place in range(count)]
    for tree in range(2):
        places = [pair[tree] for pair in pairs]
        assert sum(one.up is None for one in places) == 1
        for place, one in enumerate(places):
            assert one.up is None or places[one.up].down[one.is_second] == place
            depth, at = 0, one
            while at.up is not None:
                depth, at = depth + 1, places[at.up]
            assert depth <= ceil(log2(count))
    inner = [sum(any(child is not None for child in one.down) for one in pair) for pair in pairs]
    assert count < 4 or inner.count(2) <= 2


def test_the_trees_of_fourteen_ranks_are_those_of_nccl() -> None:
    """The picture in ``src/graph/trees.cc``: the first tree, and its mirror."""
    first = {
        0: None,
        8: 0,
        4: 8,
        12: 8,
        2: 4,
        6: 4,
        10: 12,
        1: 2,
        3: 2,
        5: 6,
        7: 6,
        9: 10,
        11: 10,
        13: 12,
    }
    for place in range(14):
        one, other = double_binary(14, place)
        assert one.up == first[place]
        mirrored = first[13 - place]
        assert other.up == (None if mirrored is None else 13 - mirrored)


@pytest.mark.parametrize(
    ("ranks", "size", "gathered", "scattered"),
    [
        (8, 100, [(4, 1), (2, 2), (1, 4)], [(1, 4), (2, 2), (4, 1)]),
        (7, 100, [(4, 1), (2, 2), (1, 3)], [(1, 3), (2, 2), (4, 1)]),
        (
            12,
            40000,
            [
                (8, 1),
                (4, 1),
                (2, 1),
                (2, 1),
                (2, 1),
                (1, 1),
                (1, 1),
                (1, 1),
                (1, 1),
                (1, 1),
                (1, 1),
            ],
            [
                (1, 1),
                (1, 1),
                (1, 1),
                (1, 1),
                (1, 1),
                (1, 1),
                (2, 1),
                (2, 1),
                (2, 1),
                (4, 1),
                (8, 1),
            ],
        ),
    ],
)
def test_parallel_aggregated_trees_are_those_of_nccl(
    ranks: int, size: int, gathered: list[tuple[int, int]], scattered: list[tuple[int, int]] | None
) -> None:
    """Message distances and part counts, from NCCL 2.30's own classes, for 64 KB chunks."""
    how = Aggregation.of(ranks, size, 64 * KB, 8)
    assert [(distance, len(places)) for distance, places in gathering(ranks, how)] == gathered
    assert [(distance, len(places)) for distance, places in scattering(ranks, how)] == scattered


@pytest.mark.parametrize(("algorithm", "slots"), [("ring", 4), ("tree", 8)])
def test_a_rank_is_at_most_so_many_slots_ahead(algorithm: Algorithm, slots: int) -> None:
    """A rank's k-th receive waits for the one that many before it, and for the sends that forward
    its data.
    """
    call = "all_reduce 32 MB over 4 with 2 channels"
    for operations in made(call, algorithm, chunk=256 * KB):
        rows: dict[tuple[str, int, int], list[int]] = defaultdict(list)
        for number, one in enumerate(operations):
            if one.kind == "calc":
                continue
            row = rows[one.kind, one.peer, one.tag]
            if len(row) >= slots:
                assert row[-slots] in one.ends
            assert not row or row[-1] in one.starts
            row.append(number)
            if one.kind == "send":
                received = [other for other in one.ends if operations[other].kind == "recv"]
                later = [
                    each
                    for each in operations
                    if each.kind == "recv" and set(received) & set(each.ends)
                ]
                assert all(number in each.starts for each in later)
        assert max(map(len, rows.values())) > 2 * slots


@pytest.mark.parametrize(
    ("call", "algorithm", "wrong"),
    [
        (
            "all_reduce 64 MB",
            "ring",
            "is not a call of NCCL; write for example all_reduce 64 MB over 8 x 8",
        ),
        ("all_reduce 64 over 8", "ring", "the size 64 is not understood"),
        (
            "scan 64 MB over 8",
            "ring",
            "`scan` is not an operation of NCCL here; there are all_reduce, all_gather",
        ),
        ("alltoall_perf 64 MB over 8", "ring", "there are .*; write it with elanite goal alltoall"),
        ("all_reduce 64 MB over 8 with 0 channels", "ring", "0 channels; there are 1 to 64"),
        ("all_reduce 64 MB over 0 x 8", "ring", "0 ranks; there are 1 to"),
        (
            "all_reduce 64 MB over 8 with 3 channels",
            "tree",
            "an even number of channels, not 3; add one",
        ),
        ("all_reduce 64 MB over 8", "pat", "NCCL has no all_reduce by pat; take ring or tree"),
        ("broadcast 64 MB over 8", "tree", "NCCL has no broadcast by tree; take ring"),
        ("all_gather 64 MB over 8 x 8", "pat", "pat with one rank in each host; take ring"),
        (
            "all_gather 1001B over 8",
            "ring",
            "1001 bytes cannot be divided among 8 ranks; write 1000B",
        ),
    ],
)
def test_calls_that_are_refused(call: str, algorithm: Algorithm, wrong: str) -> None:
    with pytest.raises(UsageError, match=wrong):
        NcclCall.of(call, algorithm)


def test_names_and_sizes_of_nccl_tests_are_calls() -> None:
    assert NcclCall.of("all_reduce_perf 64M over 8", "ring") == NcclCall.of(
        "AllReduce 64 MB over 8", "ring"
    )
    assert NcclCall.of("broadcast 1G over 2 x 4", "ring").size == 2**30


def test_the_command_writes_a_call_that_a_machine_replays(
    tmp_path: Path, elanite: Callable[..., Ended]
) -> None:
    words = ["goal", "nccl", "AllReduce", "1", "MB", "over", "2", "x", "4", "with", "4", "channels"]
    ended = elanite(*words, "--algorithm", "tree", "--chunk", "64 KB", "--calls", "2")
    assert ended.code == 0
    assert ended.out.startswith(
        "// NCCL: all_reduce of 1048576 bytes by tree, 4 channels\nnum_ranks 8\n"
    )
    path = tmp_path / "tree.goal"
    path.write_text(ended.out)
    for options in ({"network": "ideal"}, {"machine": "infiniband-ndr"}):
        summary = el.replay(path, **options).summary
        # 4 chunks in each of 4 channels, 7 edges, both ways, twice.
        assert (summary["messages"], summary["bytes"]) == (4 * 4 * 7 * 2 * 2, 2 * 2 * 7 * MB)
    wrong = elanite("goal", "nccl", "all_reduce 1 MB over 8", "--chunk", "1B")
    assert (wrong.code, "--chunk: it is 1B; chunks have 64 B to 1 GB" in wrong.err) == (2, True)


def test_collective_operations_of_chakra_by_nccl(tmp_path: Path) -> None:
    """NCCL's operations use its algorithm, or rings; each call and channel has its own tag."""
    graph = [
        collective(1, size=1000),
        collective(2, 1, what=ALL_GATHER, size=100),
        collective(3, 2, what=REDUCE_SCATTER, size=800),
        collective(4, 3, what=BROADCAST, size=10, comm_src=5),
        collective(5, 4, what=REDUCE, size=10, comm_dst=5),
        collective(6, 5, what=ALL_TO_ALL, size=80),
        collective(7, 6, what=ALL_REDUCE, size=8, ranks=[0, 2, 4, 6]),
    ]
    files = [tmp_path / f"job.{rank}.json" for rank in range(8)]
    for rank, file in enumerate(files):
        plain(file, graph if rank % 2 == 0 else graph[:-1])
    for algorithm, share, rings in (("tree", 2, 4), ("pat", 1, 4), ("pat", 2, 6), ("ring", 4, 0)):
        how = ReadingOptions(nccl=NcclTransport(algorithm, 2, None, share))  # type: ignore[arg-type]
        done = translate(files, tmp_path / "job.goal", how)
        ranks = run(done.path.read_text().splitlines(keepends=True))
        size = 2 * 7 * 1000 + 8 * 7 * 100 + 7 * 800 + 7 * 10 + 7 * 10 + 8 * 7 * 10 + 2 * 3 * 8
        assert traffic(ranks)[1] == size
        notes = [note for note in done.notes if note.endswith("by rings")]
        assert sum(int(note.split()[0]) for note in notes) == rings
        assert f"collective operations as NCCL's {algorithm}, 2 channels" in done.notes
        assert el.replay(done.path, network="ideal").summary["bytes"] == size
