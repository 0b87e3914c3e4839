"""Chakra execution traces, as MLCommons defines them for training jobs, translated into GOAL.

| of the trace | in the block of the rank |
|---|---|
| control and data dependencies | ``requires`` |
| a node with a duration, of the host | a computation |
| a node with a duration, of the accelerator (``is_cpu_op`` false) | a computation in stream 1, beside the host's |
| a node without a duration, with ``num_ops`` or ``tensor_size`` | a computation of the time by a ``Roofline`` |
| ``COMM_SEND``, ``COMM_RECV`` | a send, a receive |
| ``COMM_COLL`` | the messages of ``elanite.traces.calls``, in a group |
| metadata | a computation of 0 ns, which keeps the dependencies |

A file is a rank, whose number its name ends with: ``job.0.et``; or one file stands for all ranks (``replicate``).
``elanite.traces.chakra_groups`` finds the group of a collective operation. The operations of a group are paired in the
order of the numbers of their nodes. ``comm_size`` is the bytes that a rank puts in: of an all-reduce, reduce-scatter,
broadcast or reduce the whole vector, of an all-gather, gather or scatter the part of a rank, of an all-to-all its parts
for all. The root of an operation is ``comm_src`` or ``comm_dst``. The durations that communication took in the trace
are not used. The nodes of a rank without any dependency follow each other by their numbers, one at a time on the host,
on the accelerator and in communication, as ASTRA-sim issues them; receives wait beside these.

Refused with the node: a size, a partner or a root that the trace lacks, a group whose members it does not tell, sizes
that differ within a group, dependencies on nodes that do not exist or in a circle, and work in operations or bytes
without the rates of the roofline. The traces are read twice; one rank must fit in memory.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, replace
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, NoReturn

from elanite import _core
from elanite.base.text import counted
from elanite.errors import RunError, UsageError
from elanite.traces import nccl
from elanite.traces.calls import Call, expand
from elanite.traces.chakra_file import read
from elanite.traces.chakra_groups import Copies, Group, GroupError, group, of_file, of_metadata
from elanite.traces.collectives import Block
from elanite.traces.writing import Writing

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from elanite.traces.chakra_node import Node
    from elanite.traces.nccl import Algorithm

_OPERATIONS: tuple[str, ...] = ("ALLREDUCE", "REDUCE", "ALLGATHER", "GATHER", "SCATTER", "BCAST", "ALLTOALL")
_OPERATIONS += ("REDUCE_SCATTER_BLOCK", "REDUCE_SCATTER_BLOCK", "BARRIER")
"""Collective operations by the numbers of ``comm_type``."""
_OF_NCCL = {
    "ALLREDUCE": "all_reduce",
    "ALLGATHER": "all_gather",
    "REDUCE_SCATTER_BLOCK": "reduce_scatter",
    "BCAST": "broadcast",
    "REDUCE": "reduce",
}
_ROOTS = {"BCAST": "comm_src", "SCATTER": "comm_src", "REDUCE": "comm_dst", "GATHER": "comm_dst"}
_STEP_OPERATIONS = 6
"""Operations in a step of the noise test, which ``processor.step`` is the time of."""
_FIRST = -2
"""The root of an operation that names none, in a group with unknown members: the first of these."""
_ACCELERATOR = 1
"""The stream of what an accelerator computes."""
_LARGEST = 2**63
_LONGEST = 100 * 24 * 3600 * 10**6
"""The longest computation of GOAL, in µs."""


@dataclass(frozen=True)
class Roofline:
    """The accelerator: work takes the longer one of its operations' time and of its bytes' time.

    Williams, Waterman and Patterson, Commun. ACM 52 (2009). None: unknown.
    """

    flops: float | None = None
    """Operations in a second."""
    memory: float | None = None
    """Bytes in a second."""
    source: str = ""
    """The parameters of a machine that gave these rates."""

    @classmethod
    def of_processor(cls, step: str, core_memory: str | None, flops: float | None, memory: float | None) -> Roofline:
        """Rates that are given, and for others those of a processor: its steps, and its rate of main memory.

        A step has six operations, each of which waits for the one before: the rate of a scalar processor.
        """
        sources = []
        if flops is None and (found := _core.quantity(step)):
            flops = _STEP_OPERATIONS / found[0] * 1e6
            sources.append(f"{_STEP_OPERATIONS} operations in processor.step ({step})")
        if memory is None and core_memory is not None and (found := _core.quantity(core_memory)):
            memory = found[0] * 1e6
            sources.append(f"bytes at processor.core_memory ({core_memory})")
        return cls(flops, memory, ", ".join(sources))

    def micros(self, operations: float, size: float) -> float:
        """The time of work. Raises ``ValueError`` with the options that are missing."""
        both = ((operations, self.flops, "--flops"), (size, self.memory, "--memory-rate"))
        if missing := [option for amount, rate, option in both if amount and rate is None]:
            raise ValueError(" and ".join(missing))
        return max(amount / rate * 1e6 if rate else 0.0 for amount, rate, _ in both)


@dataclass(frozen=True)
class Nccl:
    """How NCCL carries the data of collective operations (``elanite.traces.nccl``)."""

    algorithm: Algorithm
    """For the operations that have it; others take rings."""
    channels: int = 1
    chunk: int | None = None
    share: int = 1
    """Ranks of a host, with numbers next to each other."""


@dataclass(frozen=True)
class Reading:
    """How traces are read that leave things open."""

    groups: Path | None = None
    """A file with the members of groups."""
    roofline: Roofline = Roofline()
    replicate: int | None = None
    """One trace stands for so many ranks."""
    nccl: Nccl | None = None
    """Collective operations are NCCL's; None: those of MPI."""


def _in_words(what: str, size: int, root: int) -> str:
    return f"{what} of {size} bytes" + (f" with its root at place {root} of the group" if root >= 0 else "")


def _numbered(path: Path, *, alone: bool) -> int:
    """The number of a rank at the end of a name; 0 for a file without numbers that is alone."""
    numbers = re.findall(r"\d+", path.stem)
    if not numbers and not alone:
        raise UsageError(f"{path}: the name does not end with the number of a rank, as in job.0.et")
    return int(numbers[-1]) if numbers else 0


def _some(ranks: Sequence[int]) -> str:
    return f"rank {ranks[0]}" + (f" and {len(ranks) - 1:,} more" if ranks[1:] else "")


def _after_all(node: Node, *, calls: bool) -> Node:
    """The node with all its dependencies. Control dependencies that are calls give no order."""
    return node if calls or not node.control else replace(node, after=(*node.control, *node.after))


def _called(node: Node) -> Node:
    """The node; a call of the host that launches a message of the accelerator is a computation."""
    launches = node.kind.startswith("COMM_") and node.of_host and "comm_size" not in node.attributes
    return replace(node, kind="COMP") if launches and "comm_type" not in node.attributes else node


def _in_turn(working: Sequence[Node]) -> dict[int, Node]:
    """Nodes without dependencies, each behind the node before of its resource."""
    last: dict[str, int] = {}
    found: dict[int, Node] = {}
    for node in working:
        resource = "host" if node.of_host else "accelerator"
        if node.kind in ("COMM_SEND", "COMM_COLL"):
            resource = "communication"
        elif node.kind == "COMM_RECV":
            continue
        found[node.id] = replace(node, after=(last[resource],)) if resource in last else node
        last[resource] = node.id
    return found


class Job(Writing):
    """The traces of all ranks of a job."""

    def __init__(self, traces: Sequence[Path], how: Reading | None = None) -> None:
        self._how = how or Reading()
        self._copies: Copies | None = None
        count = self._how.replicate
        if count is not None:
            if len(traces) > 1:
                raise UsageError(f"{traces[1]}: --replicate makes all ranks from one trace; name one file")
            self._copies = Copies(_numbered(traces[0], alone=True) % count, count)
            self._files = [traces[0]] * count
        else:
            self._files = self._of_all(traces)
        self._known = of_file(self._how.groups, self.ranks) if self._how.groups else None
        self._metadata: dict[str, tuple[int, ...]] = {}
        """The process groups in the metadata of the rank that is read."""
        self._members: dict[Group, list[int]] = {}
        self._calls: dict[Group, list[tuple[Node, str, int, int]]] = defaultdict(list)
        """The operations of a group: the node of the first rank that has them, operation, size, place of the root."""
        self._made: dict[tuple[Group, int], int] = defaultdict(int)
        """How many operations of a group a rank has."""
        self._tags: dict[tuple[Group, int], int] = {}
        self._unnamed = 0
        self._rootless = 0
        self._loose: list[int] = []
        self._called: list[int] = []
        """Ranks whose control dependencies are calls."""

    @staticmethod
    def _of_all(traces: Sequence[Path]) -> list[Path]:
        numbered: dict[int, Path] = {}
        for path in traces:
            rank = _numbered(path, alone=len(traces) == 1)
            if rank in numbered:
                raise UsageError(f"{path}: rank {rank} has another file, {numbered[rank]}")
            numbered[rank] = path
        if len(traces) == 1 and 0 not in numbered:
            remedy = "name the files of all ranks, or make them from this one with --replicate N"
            raise UsageError(f"{traces[0]}: rank 0 is missing; {remedy}")
        for rank in range(len(traces)):
            if rank not in numbered:
                raise UsageError(f"{traces[0]}: of {len(traces)} ranks, rank {rank} is missing; name the files of all")
        return [numbered[rank] for rank in range(len(traces))]

    @property
    def ranks(self) -> int:
        """How many files there are."""
        return len(self._files)

    def lines(self) -> Iterator[str]:
        """The lines of the trace."""
        for rank in range(self.ranks):
            self._survey(rank)
        self._whole()
        self.notes = self._noted()
        yield from (f"// {note}\n" for note in self.notes)
        yield f"num_ranks {self.ranks}\n"
        for rank in range(self.ranks):
            block = self._block(rank)
            yield f"rank {rank} {{\n"
            yield from (f"{line}\n" for line in block.lines)
            yield "}\n"
            self.operations += block.operations

    def _noted(self) -> list[str]:
        """The assumptions of the translation."""
        notes = []
        if self._copies is not None:
            notes.append(f"{self._files[0].name} stands for {counted(self.ranks, 'rank')}")
        if self._unnamed:
            notes.append(f"{counted(self._unnamed, 'collective operation')} without a group: all {self.ranks:,} ranks")
        if self._rootless:
            notes.append(f"{counted(self._rootless, 'collective operation')} without a root: the group's first rank")
        if self._how.roofline.source:
            notes.append(f"work takes {self._how.roofline.source}")
        if self._how.nccl is not None:
            notes += self._of_nccl(self._how.nccl)
        if self._loose:
            notes.append(f"no node of {_some(self._loose)} depends on another: they follow each other by their numbers")
        if self._called:
            what = "control dependencies lead to nodes that are not there, and are taken for calls of PyTorch"
            notes.append(f"{_some(self._called)}: {what}; data dependencies give the order")
        return notes

    def _of_nccl(self, chosen: Nccl) -> list[str]:
        """How collective operations are carried."""
        rings: dict[str, int] = defaultdict(int)
        for one, calls in self._calls.items():
            to = nccl.Communicator.of(self._members[one], chosen.share, chosen.channels)
            for _, what, _, _ in calls:
                if what in _OF_NCCL and self._algorithm(what, to) != chosen.algorithm:
                    rings[_OF_NCCL[what]] += 1
        notes = [f"collective operations as NCCL's {chosen.algorithm}, {counted(chosen.channels, 'channel')}"]
        return notes + [f"{counted(count, 'call')} of {what} by rings" for what, count in rings.items()]

    def _algorithm(self, what: str, to: nccl.Communicator) -> Algorithm:
        """The chosen algorithm if NCCL has it for this operation, and else a ring."""
        chosen = self._how.nccl
        return "ring" if chosen is None or to.refusal(_OF_NCCL[what], chosen.algorithm) else chosen.algorithm

    def _refuse(self, rank: int, node: Node, what: str) -> NoReturn:
        raise RunError(f"{self._files[rank]}: rank {rank}, {node}: {what}")

    @cached_property
    def _one(self) -> list[Node]:
        """The nodes of the only trace."""
        return list(read(self._files[0]))

    def _nodes(self, rank: int) -> dict[int, Node]:
        """The nodes of a rank, in the order of their numbers."""
        found: dict[int, Node] = {}
        copies = self._copies
        for node in self._one if copies else read(self._files[rank]):
            if node.id in found:
                self._refuse(rank, node, "another node has the same number")
            found[node.id] = copies.node(_called(node), rank) if copies else _called(node)
        self._metadata = of_metadata(found.values(), self.ranks)
        calls = any(other not in found for node in found.values() for other in node.control)
        if calls and rank not in self._called:
            self._called.append(rank)
        nodes = {number: _after_all(found[number], calls=calls) for number in sorted(found)}
        working = [node for node in nodes.values() if node.kind != "METADATA"]
        if len(working) < 2 or any(node.after for node in nodes.values()):
            return nodes
        if rank not in self._loose:
            self._loose.append(rank)
        return nodes | _in_turn(working)

    def _number(self, rank: int, node: Node, name: str, most: int = _LARGEST) -> int:
        value = node.attributes.get(name)
        if value is None:
            self._refuse(rank, node, f"there is no `{name}`")
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < most:
            self._refuse(rank, node, f"`{name}` is {value}, and must be a number from 0 to {most - 1}")
        return value

    def _survey(self, rank: int) -> None:
        """Note the collective operations of a rank."""
        nodes = self._nodes(rank)
        messages = ("COMM_COLL", "COMM_SEND", "COMM_RECV")
        if self.ranks == 1 and self._copies is None:
            for node in nodes.values():
                if node.kind in messages:
                    what = "it communicates, and the trace is the only one"
                    self._refuse(rank, node, f"{what}; name the files of all ranks, or make them with --replicate N")
        numbers: dict[Group, int] = defaultdict(int)
        for node in nodes.values():
            if node.kind != "COMM_COLL":
                continue
            group = self._group(rank, node)
            members = self._members.setdefault(group, list(group.ranks or ()))
            if rank not in members:
                members.append(rank)
            self._unnamed += group.name == "" and "ranks" not in node.attributes
            number = numbers[group]
            numbers[group] += 1
            what = _OPERATIONS[self._number(rank, node, "comm_type", len(_OPERATIONS))]
            size = 0 if what == "BARRIER" else self._number(rank, node, "comm_size")
            root = self._root(rank, node, group, _ROOTS[what]) if what in _ROOTS else -1
            calls = self._calls[group]
            if number == len(calls):
                calls.append((node, what, size, root))
            other = calls[number]
            if other[1:] != (what, size, root):
                mine, others = _in_words(what, size, root), _in_words(*other[1:])
                self._refuse(rank, node, f"it is {mine}, and {other[0]} of another rank of its group is {others}")
        for group, count in numbers.items():
            self._made[group, rank] = count

    def _group(self, rank: int, node: Node) -> Group:
        copies = self._copies
        try:
            found = group(node, copies.own if copies else rank, self.ranks, self._known, self._metadata)
            return copies.group(found, rank) if copies else found
        except GroupError as error:
            self._refuse(rank, node, str(error))

    def _root(self, rank: int, node: Node, group: Group, name: str) -> int:
        """The place of the root in the group; of a group with unknown members, its rank."""
        if name not in node.attributes:
            self._rootless += 1
            return 0 if group.ranks is not None else _FIRST
        root = self._number(rank, node, name, self.ranks)
        if group.ranks is None:
            return root
        # Copies have the root at the same place of their groups.
        members = self._group(self._copies.own, node).ranks if self._copies else group.ranks
        if members is None or root not in members:
            self._refuse(rank, node, f"the root {root} is not in the group")
        return members.index(root)

    def _whole(self) -> None:
        """Refuse groups in which a rank has fewer operations than others, and roots outside their groups."""
        for named, calls in self._calls.items():
            members = self._members[named]
            for rank in members:
                made = self._made[named, rank]
                if made < len(calls):
                    missing = f"rank {rank} of its group has {made} operations, and others have {len(calls)}"
                    raise RunError(f"{self._files[rank]}: {calls[made][0]} of another rank: {missing}")
            if named.ranks is not None:
                continue
            for place, (node, what, size, root) in enumerate(calls):
                if root >= 0 and root not in members:
                    raise RunError(f"{self._files[members[0]]}: {node}: the root {root} is not in the group")
                calls[place] = (node, what, size, members.index(root) if root >= 0 else 0 if root == _FIRST else root)

    def _block(self, rank: int) -> Block:
        nodes, block = self._nodes(rank), Block()
        graph = TopologicalSorter({number: node.after for number, node in nodes.items()})
        try:
            order = list(graph.static_order())
        except CycleError as error:
            first = nodes[error.args[1][0]]
            self._refuse(rank, first, f"dependencies in a circle: {' -> '.join(map(str, error.args[1]))}")
        for node in nodes.values():
            for other in node.after:
                if other not in nodes:
                    self._refuse(rank, node, f"it depends on node {other}, which does not exist")
        numbers: dict[Group, int] = defaultdict(int)
        places: dict[int, tuple[Group, int]] = {}
        for node in nodes.values():
            if node.kind == "COMM_COLL":
                group = self._group(rank, node)
                places[node.id] = (group, numbers[group])
                numbers[group] += 1
        last: dict[int, list[int]] = {}
        for number in order:
            node = nodes[number]
            after = list(dict.fromkeys(one for other in node.after for one in last[other]))
            last[number] = self._operations(rank, block, node, places.get(number), after)
        return block

    def _operations(
        self, rank: int, block: Block, node: Node, place: tuple[Group, int] | None, after: list[int]
    ) -> list[int]:
        """Write the operations of a node; returns the last ones."""
        if place is not None:
            return self._collective(rank, block, place, block.calc(0, after))
        if node.kind == "COMM_SEND":
            self._own(rank, node, "comm_src")
            to, size = self._number(rank, node, "comm_dst", self.ranks), self._number(rank, node, "comm_size")
            block.tag = self._tag(rank, node)
            return [block.send(size, to, after)]
        if node.kind == "COMM_RECV":
            self._own(rank, node, "comm_dst")
            source, size = self._number(rank, node, "comm_src", self.ranks), self._number(rank, node, "comm_size")
            block.tag = self._tag(rank, node)
            return [block.recv(size, source, after)]
        micros = node.micros or self._estimated(rank, node)
        if not 0 <= micros <= _LONGEST:
            self._refuse(rank, node, f"it takes {micros:g} µs, and must take 0 to 100 days")
        stream = 0 if node.of_host or node.kind == "METADATA" else _ACCELERATOR
        return [block.calc(round(micros * 1000), after, stream)]

    def _estimated(self, rank: int, node: Node) -> float:
        """The time of a node without a duration, by its operations and bytes."""
        work = []
        for name in ("num_ops", "tensor_size"):
            value = node.attributes.get(name, 0)
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < _LARGEST:
                self._refuse(rank, node, f"`{name}` is {value}, and must be a number from 0 to {_LARGEST - 1}")
            work.append(value)
        try:
            return self._how.roofline.micros(*work)
        except ValueError as missing:
            what = f"it has {work[0]:,} operations, {work[1]:,} bytes and no duration"
            self._refuse(rank, node, f"{what}; give the rates of the accelerator with {missing}")

    def _own(self, rank: int, node: Node, name: str) -> None:
        """Refuse a message of others."""
        if name in node.attributes and self._number(rank, node, name, self.ranks) != rank:
            self._refuse(rank, node, f"`{name}` is {node.attributes[name]}, and this is the trace of rank {rank}")

    def _tag(self, rank: int, node: Node) -> int:
        """Tags of messages are even, and those of collective operations odd."""
        return 2 * self._number(rank, node, "comm_tag", 2**31 - 1) if "comm_tag" in node.attributes else 0

    def _collective(self, rank: int, block: Block, place: tuple[Group, int], begin: int) -> list[int]:
        group, number = place
        members = self._members[group]
        count = len(members)
        _, what, size, root = self._calls[group][number]
        if count == 1:
            return [begin]
        part = -(-size // count)
        chosen = self._how.nccl
        if chosen is not None and what in _OF_NCCL:
            block.tag = 2 * self._tags.setdefault(place, len(self._tags)) * chosen.channels + 1
            given = part if what == "REDUCE_SCATTER_BLOCK" else size
            to = nccl.Communicator.of(members, chosen.share, chosen.channels, chosen.chunk)
            return nccl.write(block, rank, to, _OF_NCCL[what], given, self._algorithm(what, to), [begin], members[root])
        # As Score-P would count the bytes, with those of a rank for itself.
        counted = {"ALLREDUCE": size * count, "ALLGATHER": size * count, "ALLTOALL": part * count}
        sent, received = counted.get(what, size), part * count if what == "REDUCE_SCATTER_BLOCK" else size
        call = Call(what, max(root, 0), count, {0: sent}, {0: received})
        channels = chosen.channels if chosen is not None else 1
        block.tag = 2 * self._tags.setdefault(place, len(self._tags)) * channels + 1
        return expand(block, members, members.index(rank), call, [begin])
