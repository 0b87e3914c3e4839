"""Deliberate mistakes in the NCCL schedules: their tests find them.

Slow: each runs these tests again.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from conftest import environment
from mpi_fuzz.mistakes import Mistake

ROOT = Path(__file__).parents[1]
CALLS = "python/elanite/traces/nccl.py"
TREES = "python/elanite/traces/nccl_trees.py"

MISTAKES = [
    Mistake(
        "a ring sends before it has received",
        CALLS,
        "self.send(size, one, came)",
        "self.send(size, one, ())",
    ),
    Mistake(
        "a ring stops a step early",
        CALLS,
        "for step in range(steps + 1):",
        "for step in range(steps):",
    ),
    Mistake("slots are never used again", CALLS, "before or self._begin", "self._begin"),
    Mistake("sends start in any order", CALLS, "self._latest = [number]", "self._latest = []"),
    Mistake(
        "a slot is free before its data have been sent on",
        CALLS,
        "[*earlier[-1:], *passed]",
        "earlier[-1:]",
    ),
    Mistake("channels have one tag", CALLS, "block.tag = tag + 2 * channel", "block.tag = tag"),
    Mistake("all channels are in the first tree", CALLS, "[channel // half]", "[0]"),
    Mistake(
        "all channels leave a host by one rank", CALLS, "host[channel % len(host) :]", "host[0:]"
    ),
    Mistake("the last turn has whole chunks", CALLS, "-(-rest // (16 * count)) * 16", "chunk"),
    Mistake(
        "a part goes to one of its places", CALLS, "line.send(one * len(places)", "line.send(one"
    ),
    Mistake(
        "trees combine children of other places",
        CALLS,
        "place - (place & -place) in places",
        "place in places",
    ),
    Mistake(
        "the second tree is the first",
        TREES,
        "count - 1 - place if even else (place - 1) % count",
        "place",
    ),
    Mistake(
        "a child beyond the end has no other",
        TREES,
        "while right >= count and low > 1:",
        "while low > count:",
    ),
    Mistake(
        "near places before far ones",
        TREES,
        "scale = trees // 2\n    while scale:",
        "scale = 1\n    while scale:",
    ),
    Mistake("trees never share a message", TREES, ">= 2 and shared <", ">= 2 and shared < 1 <"),
]


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda one: one.name)
def test_a_mistake_stands_in_the_sources(mistake: Mistake) -> None:
    assert (ROOT / mistake.source).read_text(encoding="utf-8").count(mistake.old) == 1, (
        mistake.source
    )


@pytest.mark.slow
@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda one: one.name)
def test_the_tests_of_nccl_find_a_mistake(mistake: Mistake, tmp_path: Path) -> None:
    mistake.plant(ROOT, tmp_path)
    words = [sys.executable, "-m", "pytest", "-x", "tests/test_nccl.py"]
    around = {**environment(), "PYTHONPATH": str(tmp_path / "python")}
    done = subprocess.run(
        words, cwd=tmp_path, env=around, timeout=600, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1, done.stdout + done.stderr
