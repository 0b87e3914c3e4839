"""Stalled replays report the reason, and buffered sends continue: by the command, from a Chakra
trace to its time.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import elanite as el
from elanite.errors import UsageError
from elanite.traces import translate
from elanite.traces.replay import UnfinishedReplay

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Ended

STEPS, RANKS, SIZE = 3, 4, 200_000


@pytest.fixture
def ring(tmp_path: Path) -> Path:
    """A ring as collective compilers write it: each rank sends, then receives, and again."""
    files = []
    for rank in range(RANKS):
        graph = []
        for number in range(2 * STEPS):
            send = number % 2 == 0
            source, to = (rank, (rank + 1) % RANKS) if send else ((rank - 1) % RANKS, rank)
            graph.append(
                {
                    "Id": number,
                    "NodeType": 5 if send else 6,
                    "data_deps": [number - 1] if number else [],
                    "comm_src": source,
                    "comm_dst": to,
                    "comm_size": SIZE,
                    "comm_tag": 0,
                }
            )
        files.append(tmp_path / f"job.{rank}.json")
        files[-1].write_text(json.dumps({"workload_graph": graph}))
    return translate(files, tmp_path / "ring.goal").path


def test_sends_that_wait_for_each_other_are_a_deadlock(
    ring: Path, elanite: Callable[..., Ended]
) -> None:
    ended = elanite("replay", str(ring), "--machine", "infiniband-ndr")
    assert ended.code == 3
    lines = ended.err.splitlines()
    assert (
        "it waits for operation 1 of rank 1 (`recv 200000b from 0 tag 0` on line"
        in lines[-RANKS - 1]
    )
    assert (
        f"{RANKS} operations wait for each other in a circle (a deadlock): see the first lines"
        in lines[-1]
    )
    assert "receive first, or buffer the sends (`--buffered`)" in lines[-1]
    assert "add the" not in ended.err


def test_buffered_sends_take_all_steps(ring: Path, elanite: Callable[..., Ended]) -> None:
    words = ("replay", str(ring), "--machine", "infiniband-ndr", "--buffered", "1 MB")
    ended = elanite(*words, "--format", "json")
    assert ended.code == 0, ended
    found = json.loads(ended.out)
    assert (found["messages"], found["bytes"]) == (STEPS * RANKS, STEPS * RANKS * SIZE)
    assert found["buffered_bytes"] == 1 << 20
    # The steps follow each other: each takes at least a message's time on its link.
    alone = 8 * SIZE / 400e9 * 1e6
    assert STEPS * alone < found["simulated_us"] < 3 * STEPS * alone
    assert "buffers         1 MB for each pair of ranks" in elanite(*words).out
    assert (
        el.replay(ring, machine="infiniband-ndr", buffered="200000 B").summary["bytes"]
        == found["bytes"]
    )
    with pytest.raises(UnfinishedReplay, match="deadlock"):
        el.replay(ring, machine="infiniband-ndr", buffered="199999 B")


def test_a_page_with_buffers_has_its_command(
    ring: Path, tmp_path: Path, elanite: Callable[..., Ended]
) -> None:
    page = tmp_path / "page.html"
    assert elanite("replay", str(ring), "--buffered", "1 MB", "--html", str(page)).code == 0
    there = tmp_path / "there"
    assert elanite("open", str(page), "--into", str(there)).code == 0
    assert "--buffered '1 MB'" in (there / "command.sh").read_text()


@pytest.mark.parametrize(
    ("size", "network", "wrong"),
    [
        ("many", "machine", "`many` is not understood; write for example '4 MB'"),
        ("0 B", "machine", "`0 B` is not understood"),
        ("3 us", "machine", "`3 us` is not understood"),
        ("4 MB", "ideal", "no send waits for its receive on the ideal network; leave it out"),
    ],
)
def test_buffers_that_are_wrong(ring: Path, size: str, network: str, wrong: str) -> None:
    with pytest.raises(UsageError, match=f"--buffered: {wrong}"):
        el.replay(ring, machine="infiniband-ndr", buffered=size, network=network)


def test_a_fault_is_named_as_what_came_before(ring: Path, elanite: Callable[..., Ended]) -> None:
    words = (
        "--machine",
        "infiniband-ndr",
        "--buffered",
        "1 MB",
        "--fault",
        "node = 3, at = '2 us'",
    )
    ended = elanite("replay", str(ring), *words)
    assert ended.code == 3, ended
    assert (
        "operations wait for ever; before that, there failed host of node 3 at 2 us"
        in ended.err.splitlines()[-1]
    )
    assert "add the" not in ended.err


def test_a_label_twice_is_a_warning(tmp_path: Path, elanite: Callable[..., Ended]) -> None:
    trace = tmp_path / "twice.goal"
    trace.write_text(
        "num_ranks 2\nrank 0 {\nl1: send 100b to 1\nl1: calc 5\n}\nrank 1 {\nl1: recv 100b from"
        " 0\n}\n"
    )
    ended = elanite("replay", str(trace), "--network", "ideal")
    assert ended.code == 0, ended
    assert f"warning: {trace}:4: the label `l1` stands on line 3 of this rank already" in ended.err
    assert len(el.replay(trace, network="ideal").warnings) == 1
