"""The ranks in each communicator after ``Make`` steps, by MPI's rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .steps import WORLD, Make, Ref

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .steps import Step


@dataclass(frozen=True)
class Comm:
    """A communicator: its MPI_COMM_WORLD ranks, in its order; two groups if it is an
    inter-communicator.
    """

    ref: Ref
    groups: tuple[tuple[int, ...], ...]
    how: str = "world"
    neighbours: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] = ()
    """For each rank: its sources and its destinations; -1 is no peer."""
    dims: tuple[int, ...] = ()
    periods: tuple[bool, ...] = ()

    @property
    def inter(self) -> bool:
        return len(self.groups) == 2

    @property
    def members(self) -> tuple[int, ...]:
        return tuple(rank for group in self.groups for rank in group)

    def world(self, side: int, rank: int) -> int:
        """A group rank's MPI_COMM_WORLD rank."""
        return self.groups[side if self.inter else 0][rank]

    def size(self, side: int) -> int:
        return len(self.groups[side if self.inter else 0])

    @property
    def variable(self) -> str:
        return variable(self.ref.name)


def variable(name: int) -> str:
    """A communicator's name in C."""
    return "MPI_COMM_WORLD" if name == WORLD else f"c{name}"


def known(ranks: int, steps: Iterable[Step]) -> dict[Ref, Comm]:
    """All communicators after these steps."""
    found = {Ref(): Comm(Ref(), (tuple(range(ranks)),))}
    for step in steps:
        if isinstance(step, Make):
            for comm in made(step, ranks, found):
                found[comm.ref] = comm
    return found


def made(step: Make, ranks: int, before: dict[Ref, Comm]) -> list[Comm]:
    """The communicators that a step makes; empty if that is impossible with this rank count."""
    parents = [comm for ref, comm in before.items() if ref.name == step.parent]
    match step.how:
        case "dup" | "idup":
            return [Comm(Ref(step.name, one.ref.which), one.groups, step.how) for one in parents]
        case "split":
            return _split(step, parents)
        case "create" | "group":
            chosen = [rank for rank in step.keys if rank < ranks]
            return [Comm(Ref(step.name), (tuple(chosen),), step.how)] if chosen else []
        case "inter":
            low, high = (
                tuple(rank for rank in range(ranks) if step.colors[rank] == side) for side in (0, 1)
            )
            return [Comm(Ref(step.name), (low, high), step.how)] if low and high else []
        case "merge":
            found = []
            for one in parents:
                if one.inter:
                    low, high = one.groups if step.salt % 2 == 0 else one.groups[::-1]
                    found.append(Comm(Ref(step.name, one.ref.which), (low + high,), step.how))
            return found
        case "cart":
            return [_cart(step, ranks)]
        case "graph":
            return [_graph(step, ranks)]
    raise AssertionError(step.how)


def _split(step: Make, parents: list[Comm]) -> list[Comm]:
    found = []
    for parent in parents:
        if parent.inter:
            return []
        colors = sorted({step.colors[rank] for rank in parent.members} - {-1})
        for color in colors:
            those = [rank for rank in parent.members if step.colors[rank] == color]
            # By key, then by rank in the parent, which is the order in which they stand here.
            those.sort(key=lambda rank: step.keys[rank])
            found.append(
                Comm(Ref(step.name, parent.ref.which * 8 + color), (tuple(those),), "split")
            )
    return found


def _cart(step: Make, ranks: int) -> Comm:
    """A grid with one or two dimensions; only long ones are rings, since short ones have the same
    neighbour twice.
    """
    rows = (
        max(one for one in range(1, ranks + 1) if ranks % one == 0 and one * one <= ranks)
        if step.salt % 3
        else 1
    )
    dims = (ranks,) if rows == 1 else (rows, ranks // rows)
    periods = tuple(size >= 3 and bool(step.salt >> 2 + axis & 1) for axis, size in enumerate(dims))
    steps = (ranks // dims[0], 1)[: len(dims)]
    neighbours = []
    for rank in range(ranks):
        those = []
        for size, period, apart in zip(dims, periods, steps, strict=True):
            place = rank // apart % size
            for move in (-1, 1):
                other = place + move
                those.append(
                    rank + (other % size - place) * apart if period or 0 <= other < size else -1
                )
        neighbours.append((tuple(those), tuple(those)))
    return Comm(Ref(step.name), (tuple(range(ranks)),), "cart", tuple(neighbours), dims, periods)


def _graph(step: Make, ranks: int) -> Comm:
    edges = [(source, to) for source, to in step.edges if source < ranks and to < ranks]
    neighbours = tuple(
        (
            tuple(source for source, to in edges if to == rank),
            tuple(to for source, to in edges if source == rank),
        )
        for rank in range(ranks)
    )
    return Comm(Ref(step.name), (tuple(range(ranks)),), "graph", neighbours)
