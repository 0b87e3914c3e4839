"""Programs with ranks that send by a traffic pattern, as GOAL text: short jobs with a beginning and
an end.

In step k rank r sends a message to ``partners(r, k)``. A rank has at most eight steps in flight: it
begins a step when its messages from eight steps before have been sent and have arrived. Receives
are posted at the start. So a program is bound by the network, and not by message latency.

| pattern | partner of rank r of n in step k |
|---|---|
| ``alltoall`` | r + 1 + k, over all others in turn |
| ``shift``, ``shift 8`` | r + n / 2, or r + 8 |
| ``tornado`` | r + n / 2 - 1, rounded up |
| ``complement`` | n - 1 - r |
| ``neighbor`` | the other one of 0 and 1, 2 and 3, ... |
| ``uniform`` | drawn for each message, by the seed |
| ``allreduce`` | r + 1: the ring; 2 (n - 1) steps, each with the data from the one before |

Limits: processes do not compute between messages.
"""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING

from elanite.errors import UsageError
from elanite.traces import goal
from elanite.traces.collectives import Block

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

WINDOW = 8
"""A rank's steps in flight."""

NAMES = ("alltoall", "allreduce", "shift", "tornado", "complement", "neighbor", "uniform")
"""The patterns."""

Partners = list[list[int]]
"""By step, each rank's partner; a rank that would send to itself does not send."""


def known(pattern: str) -> bool:
    """Whether there is such a pattern."""
    return pattern in NAMES or re.fullmatch(r"shift [1-9]\d{0,5}", pattern) is not None


def partners(pattern: str, ranks: int, steps: int, seed: int) -> Partners:
    """All ranks' partners. Raises ``UsageError`` where the pattern needs other ranks."""
    if pattern == "neighbor" and ranks % 2:
        raise UsageError(
            f"--job {ranks}:neighbor: pairs need an even number of ranks; take {ranks + 1}, or"
            " shift 1"
        )
    if pattern == "uniform":
        drawn = random.Random(seed)  # noqa: S311 - no secret
        return [
            [(rank + drawn.randint(1, ranks - 1)) % ranks for rank in range(ranks)]
            for _ in range(steps)
        ]
    by = int(pattern.partition(" ")[2] or ranks // 2)
    rules: dict[str, Callable[[int, int], int]] = {
        "alltoall": lambda rank, step: (rank + 1 + step % (ranks - 1)) % ranks,
        "shift": lambda rank, _: (rank + by) % ranks,
        "tornado": lambda rank, _: (rank + (ranks + 1) // 2 - 1) % ranks,
        "complement": lambda rank, _: ranks - 1 - rank,
        "neighbor": lambda rank, _: rank ^ 1,
    }
    rule = rules[pattern.partition(" ")[0]]
    return [[rule(rank, step) for rank in range(ranks)] for step in range(steps)]


def program(pattern: str, ranks: int, steps: int, size: int, seed: int) -> Iterator[str]:
    """The lines of a program in which ranks send ``steps`` messages with ``size`` bytes; a ring has
    its own steps.
    """
    if pattern == "allreduce":
        yield from goal.all_reduce(ranks, size * ranks)
        return
    chosen = partners(pattern, ranks, steps, seed)
    came: list[list[list[int]]] = [[[] for _ in range(ranks)] for _ in range(steps)]
    for step, row in enumerate(chosen):
        for rank, to in enumerate(row):
            came[step][to].append(rank)
    yield f"num_ranks {ranks}\n"
    for rank in range(ranks):
        block = Block()
        under_way: list[list[int]] = []
        for step in range(steps):
            before = under_way[step - WINDOW] if step >= WINDOW else []
            to = chosen[step][rank]
            here = [block.send(size, to, before)] if to != rank else []
            here += [block.recv(size, source, []) for source in came[step][rank] if source != rank]
            under_way.append(here or before)
        yield f"rank {rank} {{\n"
        yield from (f"{line}\n" for line in block.lines)
        yield "}\n"


def messages(pattern: str, ranks: int, steps: int) -> int:
    """A program's messages."""
    return ranks * (2 * (ranks - 1) if pattern == "allreduce" else steps)
