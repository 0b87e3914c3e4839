"""Chakra execution traces, as MLCommons defines them for training jobs, translated into GOAL.

| of the trace | in the block of the rank |
|---|---|
| control and data dependencies | ``requires`` |
| a node with a duration, of the host | a computation |
| a node with a duration, of the accelerator (``is_cpu_op`` false) | a computation in stream 1, beside the host's |
| ``COMM_SEND``, ``COMM_RECV`` | a send, a receive |
| ``COMM_COLL`` | the messages of ``elanite.traces.calls``, in a group |
| metadata | a computation of 0 ns, which keeps the dependencies |

A file is a rank, whose number its name ends with: ``job.0.et``. The group of a collective operation is the attribute
``ranks``; without it, all ranks whose traces name the same ``pg_name`` or ``comm_group``. The operations of a group are
paired in the order of the numbers of their nodes. ``comm_size`` is the bytes that a rank puts in: of an all-reduce,
reduce-scatter, broadcast or reduce the whole vector, of an all-gather, gather or scatter the part of a rank, of an
all-to-all its parts for all. The root of an operation is ``comm_src`` or ``comm_dst``. The durations that communication
took in the trace are not used.

Refused with the node: what is not in the trace. That is a duration that stands as a number of operations or bytes, a
size, a partner, a group or a root, sizes that differ within a group, dependencies on nodes that do not exist or in a
circle, and a rank with several nodes and no dependency at all. The traces are read twice; one rank must fit in memory.
"""

from __future__ import annotations

import re
from collections import defaultdict
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, NoReturn

from elanite.collectives import Block
from elanite.errors import RunError, UsageError
from elanite.traces import Writing
from elanite.traces.calls import Call, expand
from elanite.traces.chakra_file import Node, read

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

Group = str | tuple[int, ...]
"""A group by its name, or by its ranks."""

_OPERATIONS: tuple[str, ...] = ("ALLREDUCE", "REDUCE", "ALLGATHER", "GATHER", "SCATTER", "BCAST", "ALLTOALL")
_OPERATIONS += ("REDUCE_SCATTER_BLOCK", "REDUCE_SCATTER_BLOCK", "BARRIER")
"""Collective operations by the numbers of ``comm_type``."""
_ROOTS = {"BCAST": "comm_src", "SCATTER": "comm_src", "REDUCE": "comm_dst", "GATHER": "comm_dst"}
_ACCELERATOR = 1
"""The stream of what an accelerator computes."""
_LARGEST = 2**63
_LONGEST = 100 * 24 * 3600 * 10**6
"""The longest computation of GOAL, in µs."""


def _in_words(what: str, size: int, root: int) -> str:
    return f"{what} of {size} bytes" + (f" with root {root}" if root >= 0 else "")


class Job(Writing):
    """The traces of all ranks of a job."""

    def __init__(self, traces: Sequence[Path]) -> None:
        self._files: list[Path] = []
        numbered: dict[int, Path] = {}
        for path in traces:
            numbers = re.findall(r"\d+", path.stem)
            if not numbers and len(traces) > 1:
                raise UsageError(f"{path}: the name does not end with the number of a rank, as in job.0.et")
            rank = int(numbers[-1]) if numbers else 0
            if rank in numbered:
                raise UsageError(f"{path}: rank {rank} has another file, {numbered[rank]}")
            numbered[rank] = path
        for rank in range(len(traces)):
            if rank not in numbered:
                raise UsageError(f"{traces[0]}: of {len(traces)} ranks, rank {rank} is missing; name the files of all")
            self._files.append(numbered[rank])
        self._members: dict[Group, list[int]] = {}
        self._calls: dict[Group, list[tuple[Node, str, int, int]]] = defaultdict(list)
        """The operations of a group: the node of the first rank that has them, operation, size, root."""
        self._made: dict[tuple[Group, int], int] = defaultdict(int)
        """How many operations of a group a rank has."""
        self._tags: dict[tuple[Group, int], int] = {}

    @property
    def ranks(self) -> int:
        """How many files there are."""
        return len(self._files)

    def lines(self) -> Iterator[str]:
        """The lines of the trace."""
        for rank in range(self.ranks):
            self._survey(rank)
        self._whole()
        yield f"num_ranks {self.ranks}\n"
        for rank in range(self.ranks):
            block = self._block(rank)
            yield f"rank {rank} {{\n"
            yield from (f"{line}\n" for line in block.lines)
            yield "}\n"
            self.operations += block.operations

    def _refuse(self, rank: int, node: Node, what: str) -> NoReturn:
        raise RunError(f"{self._files[rank]}: rank {rank}, {node}: {what}")

    def _nodes(self, rank: int) -> dict[int, Node]:
        """The nodes of a rank, in the order of their numbers."""
        found: dict[int, Node] = {}
        for node in read(self._files[rank]):
            if node.id in found:
                self._refuse(rank, node, "another node has the same number")
            found[node.id] = node
        return {number: found[number] for number in sorted(found)}

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
        working = [node for node in nodes.values() if node.kind != "METADATA"]
        if len(working) > 1 and not any(node.after for node in nodes.values()):
            self._refuse(rank, working[1], "no node of the rank depends on another, so that no order is in the trace")
        numbers: dict[Group, int] = defaultdict(int)
        for node in nodes.values():
            if node.kind != "COMM_COLL":
                continue
            group = self._group(rank, node)
            if isinstance(group, str):
                members = self._members.setdefault(group, [])
                if rank not in members:
                    members.append(rank)
            else:
                self._members[group] = list(group)
            number = numbers[group]
            numbers[group] += 1
            what = _OPERATIONS[self._number(rank, node, "comm_type", len(_OPERATIONS))]
            size = 0 if what == "BARRIER" else self._number(rank, node, "comm_size")
            root = self._number(rank, node, _ROOTS[what], self.ranks) if what in _ROOTS else -1
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
        ranks = node.attributes.get("ranks")
        if ranks is not None:
            whole = isinstance(ranks, list) and all(isinstance(one, int) and 0 <= one < self.ranks for one in ranks)
            if not whole or rank not in ranks or len(set(ranks)) < len(ranks):
                self._refuse(rank, node, f"`ranks` is {ranks}, and must have different ranks of the job, {rank} too")
            return tuple(ranks)
        name = node.attributes.get("pg_name", node.attributes.get("comm_group"))
        if name in (None, ""):
            self._refuse(rank, node, "there is no group: neither `ranks` nor `pg_name` nor `comm_group`")
        return str(name)

    def _whole(self) -> None:
        """Refuse groups in which a rank has fewer operations than others, and roots outside their groups."""
        for group, calls in self._calls.items():
            for rank in self._members[group]:
                made = self._made[group, rank]
                if made < len(calls):
                    missing = f"rank {rank} of its group has {made} operations, and others have {len(calls)}"
                    raise RunError(f"{self._files[rank]}: {calls[made][0]} of another rank: {missing}")
            for node, _, _, root in calls:
                if root >= 0 and root not in self._members[group]:
                    raise RunError(
                        f"{self._files[self._members[group][0]]}: {node}: the root {root} is not in the group"
                    )

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
        if not node.micros and (node.attributes.get("num_ops") or node.attributes.get("tensor_size")):
            self._refuse(rank, node, "it has a number of operations or bytes and no duration; measure or estimate it")
        if not 0 <= node.micros <= _LONGEST:
            self._refuse(rank, node, f"it takes {node.micros:g} µs, and must take 0 to 100 days")
        stream = 0 if node.attributes.get("is_cpu_op", True) else _ACCELERATOR
        return [block.calc(round(node.micros * 1000), after, stream)]

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
        # As Score-P would count the bytes, with those of a rank for itself.
        counted = {"ALLREDUCE": size * count, "ALLGATHER": size * count, "ALLTOALL": part * count}
        sent, received = counted.get(what, size), part * count if what == "REDUCE_SCATTER_BLOCK" else size
        call = Call(what, members.index(root) if root >= 0 else 0, count, {0: sent}, {0: received})
        block.tag = 2 * self._tags.setdefault(place, len(self._tags)) + 1
        return expand(block, members, members.index(rank), call, [begin])
