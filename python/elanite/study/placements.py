"""Job placements on a machine's nodes, and their quality.

A job's *slow-down* is its time beside the other jobs over its time alone, both simulated, where
"alone" is the tried placement in which the job is fastest alone. So one number holds the price of
the place and the price of the company, and different placements' numbers can be compared. *Sharing*
is the company's price: the time beside the others over the time alone in the same place. A
placement is as good as its slowest job's slow-down; the mean slow-down decides between equals.

Tried are, each once:

- ``packed``: the jobs one after the other, from node 0 on;
- ``aligned``: each job from a leaf of its own on, a group of a dragonfly, or a switch's nodes;
- ``spread``: over all nodes in the machine, the jobs' nodes in turn;
- ``blocks-b``: the first nodes in blocks of b nodes, which the jobs get in turn, b = 2, 4, 8, ...;
- ``random-s``: drawn, by the seed;
- ``search-k``: a descent from the best of these. A step draws four neighbours, in which two jobs,
  or a job and the free nodes, have exchanged a count of nodes, all are simulated, and the best one
  is the next step's start if it is better. The exchanged node count begins with a quarter of the
  smallest job and is halved after each step.

All is deterministic by the seed. The search ends after a fixed count of steps and promises no
optimum.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING

from elanite.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

Nodes = tuple[int, ...]

AT_A_TIME = 4
"""Neighbours per search step."""


@dataclass(frozen=True)
class Placement:
    """Each job's nodes."""

    name: str
    nodes: tuple[Nodes, ...]


@dataclass(frozen=True)
class PlacementTrial:
    """A placement with each job's simulated times in microseconds."""

    placement: Placement
    times: tuple[float, ...]
    """Beside the other jobs."""
    alone: tuple[float, ...]
    """Alone in the same place."""

    def sharing(self) -> tuple[float, ...]:
        """The time beside the others over the time alone in the same place."""
        return tuple(time / alone for time, alone in zip(self.times, self.alone, strict=True))


@dataclass(frozen=True)
class PlacementScore:
    """A placement that was tried, with each job's slow-down."""

    tried: PlacementTrial
    slowdowns: tuple[float, ...]

    @property
    def score(self) -> tuple[float, float]:
        """Less is better: the slowest job's slow-down, then the mean."""
        return max(self.slowdowns), sum(self.slowdowns) / len(self.slowdowns)


def ranked(tried: Sequence[PlacementTrial]) -> list[PlacementScore]:
    """All placements, the best first; among equals the one that was tried first."""
    fastest = [min(times) for times in zip(*(each.alone for each in tried), strict=True)]
    found = [
        PlacementScore(
            each, tuple(time / alone for time, alone in zip(each.times, fastest, strict=True))
        )
        for each in tried
    ]
    return sorted(found, key=lambda each: each.score)


def first(
    nodes: int, sizes: Sequence[int], leaf: int | None, seeds: Sequence[int]
) -> list[Placement]:
    """The placements before the search, without those that are the same.

    Raises ``UsageError`` without room.
    """
    if sum(sizes) > nodes:
        raise UsageError(
            f"the jobs have {sum(sizes)} nodes, and the machine has {nodes}\n  give smaller jobs,"
            " or a larger machine"
        )
    named: dict[str, tuple[Nodes, ...] | None] = {"packed": _dealt(range(nodes), sizes, max(sizes))}
    named["aligned"] = _aligned(nodes, sizes, leaf) if leaf else None
    total = sum(sizes)
    named["spread"] = _dealt([place * nodes // total for place in range(total)], sizes, 1)
    block = 2
    while block < max(sizes) and len(sizes) > 1:
        named[f"blocks-{block}"] = _dealt(range(nodes), sizes, block)
        block *= 2
    named |= {f"random-{seed}": _random(nodes, sizes, seed) for seed in seeds}
    found: dict[tuple[Nodes, ...], Placement] = {}
    for name, each in named.items():
        if each is not None:
            found.setdefault(each, Placement(name, each))
    return list(found.values())


def neighbours(
    best: Placement, nodes: int, step: int, draws: random.Random, known: set[tuple[Nodes, ...]]
) -> Iterator[Placement]:
    """The search's next placements, without known ones."""
    exchanged = max(1, min(map(len, best.nodes)) // 4 >> step)
    for number in range(AT_A_TIME):
        parties = [list(each) for each in best.nodes]
        taken = {node for each in parties for node in each}
        parties.append([node for node in range(nodes) if node not in taken])
        able = [place for place, each in enumerate(parties) if each]
        if len(able) < 2:
            return
        one, other = sorted(draws.sample(able, 2))
        many = min(exchanged, len(parties[one]), len(parties[other]))
        given, got = (set(draws.sample(parties[place], many)) for place in (one, other))
        parties[one] = [node for node in parties[one] if node not in given] + list(got)
        parties[other] = [node for node in parties[other] if node not in got] + list(given)
        made = tuple(tuple(sorted(each)) for each in parties[:-1])
        if made not in known:
            known.add(made)
            yield Placement(f"search-{step * AT_A_TIME + number + 1}", made)


def leaf(parameters: Mapping[str, object]) -> int | None:
    """The nodes in a leaf, a dragonfly's group, or a switch; `None` where they are not known."""
    down, group, terminals = (
        parameters.get(f"topology.{key}") for key in ("down", "group", "terminals")
    )
    if isinstance(down, list) and len(down) > 1:
        return int(down[0])
    if isinstance(terminals, int):
        return terminals * prod([group] if isinstance(group, int) else [])
    return None


def text(nodes: Nodes) -> str:
    """The nodes as experiment files have them: ``0-3, 8``, or ``0-62:2``."""
    steps = {after - before for before, after in pairwise(nodes)}
    if len(nodes) > 2 and len(steps) == 1 and steps != {1}:
        return f"{nodes[0]}-{nodes[-1]}:{steps.pop()}"
    runs: list[list[int]] = []
    for node in nodes:
        if runs and runs[-1][1] == node - 1:
            runs[-1][1] = node
        else:
            runs.append([node, node])
    return ", ".join(str(low) if low == high else f"{low}-{high}" for low, high in runs)


def _dealt(slots: Sequence[int], sizes: Sequence[int], block: int) -> tuple[Nodes, ...]:
    """Slots in blocks, each for the job with the smallest placed share; among equals the first."""
    found: list[list[int]] = [[] for _ in sizes]
    place = 0
    while open_ := [job for job, size in enumerate(sizes) if len(found[job]) < size]:
        job = min(open_, key=lambda job: (len(found[job]) / sizes[job], job))
        many = min(block, sizes[job] - len(found[job]))
        found[job] += slots[place : place + many]
        place += many
    return tuple(map(tuple, found))


def _aligned(nodes: int, sizes: Sequence[int], leaf: int) -> tuple[Nodes, ...] | None:
    """Each job from its own leaf on; `None` without room."""
    found, start = [], 0
    for size in sizes:
        found.append(tuple(range(start, start + size)))
        start = -(-(start + size) // leaf) * leaf
    return tuple(found) if found[-1][-1] < nodes else None


def _random(nodes: int, sizes: Sequence[int], seed: int) -> tuple[Nodes, ...]:
    drawn = random.Random(seed).sample(range(nodes), sum(sizes))  # noqa: S311 - no secret
    found, start = [], 0
    for size in sizes:
        found.append(tuple(sorted(drawn[start : start + size])))
        start += size
    return tuple(found)
