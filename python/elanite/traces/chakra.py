"""Chakra execution traces, as MLCommons defines them for training jobs, translated into GOAL.

| in the trace | in the rank's block |
|---|---|
| control and data dependencies | ``requires`` |
| a node with a duration, of the host | a computation |
| a node with a duration, of the accelerator (``is_cpu_op`` false) | a computation in stream 1 |
| a node with ``num_ops`` or ``tensor_size`` only | a computation, timed by a ``Roofline`` |
| ``COMM_SEND``, ``COMM_RECV`` | a send, a receive |
| ``COMM_COLL`` | the messages of ``elanite.traces.calls``, in a group |
| metadata | a computation of 0 ns, which keeps the dependencies |

``elanite.traces.chakra_ranks`` reads a rank's nodes, ``elanite.traces.chakra_groups`` finds a
collective operation's group, and ``elanite.traces.chakra_calls`` a group's operations. The
durations that communication took in the trace are not used.

Refused with the node: a size, a partner or a root that the trace lacks, a group without listed
members, sizes that differ within a group, dependencies on nodes that do not exist or in a circle,
and work in operations or bytes without the roofline's rates. The traces are read twice; one rank
must fit in memory.
"""

from __future__ import annotations

from collections import defaultdict
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING

from elanite.base.text import counted
from elanite.traces import nccl
from elanite.traces.calls import CollectiveCall, expand
from elanite.traces.chakra_calls import OperationRegister
from elanite.traces.chakra_ranks import LARGEST, Ranks
from elanite.traces.chakra_reading import NcclTransport, ReadingOptions
from elanite.traces.collectives import Block
from elanite.traces.goal_lines import Writing

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from elanite.traces.chakra_groups import ProcessGroup
    from elanite.traces.chakra_node import Node
    from elanite.traces.nccl import Algorithm

_OF_NCCL = {
    "ALLREDUCE": "all_reduce",
    "ALLGATHER": "all_gather",
    "REDUCE_SCATTER_BLOCK": "reduce_scatter",
    "BCAST": "broadcast",
    "REDUCE": "reduce",
}
_ACCELERATOR = 1
"""The stream for an accelerator's computations."""
_LONGEST = 100 * 24 * 3600 * 10**6
"""GOAL's longest computation, in µs."""


class ChakraJob(Writing):
    """The traces of all ranks in a job."""

    def __init__(self, traces: Sequence[Path], how: ReadingOptions | None = None) -> None:
        self._how = how or ReadingOptions()
        self._ranks = Ranks(traces, self._how)
        self._calls = OperationRegister(self._ranks)
        self._tags: dict[tuple[ProcessGroup, int], int] = {}

    @property
    def ranks(self) -> int:
        """How many ranks the job has."""
        return self._ranks.count

    def lines(self) -> Iterator[str]:
        """The trace's lines."""
        for rank in range(self.ranks):
            self._calls.survey(rank)
        self._calls.close()
        self.notes = [*self._ranks.copied, *self._calls.notes, *self._noted(), *self._ranks.ordered]
        yield from (f"// {note}\n" for note in self.notes)
        yield f"num_ranks {self.ranks}\n"
        for rank in range(self.ranks):
            block = self._block(rank)
            yield f"rank {rank} {{\n"
            yield from (f"{line}\n" for line in block.lines)
            yield "}\n"
            self.operations += block.operations

    def _noted(self) -> list[str]:
        """The assumptions on durations and messages."""
        notes = [f"work takes {self._how.roofline.source}"] if self._how.roofline.source else []
        return notes + self._of_nccl(self._how.nccl) if self._how.nccl is not None else notes

    def _of_nccl(self, chosen: NcclTransport) -> list[str]:
        """How collective operations are carried."""
        rings: dict[str, int] = defaultdict(int)
        for one, calls in self._calls.by_group.items():
            to = nccl.Communicator.of(self._calls.members[one], chosen.share, chosen.channels)
            for call in calls:
                if call.what in _OF_NCCL and self._algorithm(call.what, to) != chosen.algorithm:
                    rings[_OF_NCCL[call.what]] += 1
        notes = [
            f"collective operations as NCCL's {chosen.algorithm},"
            f" {counted(chosen.channels, 'channel')}"
        ]
        return notes + [
            f"{counted(count, 'call')} of {what} by rings" for what, count in rings.items()
        ]

    def _algorithm(self, what: str, to: nccl.Communicator) -> Algorithm:
        """The chosen algorithm if NCCL has it for this operation, and else a ring."""
        chosen = self._how.nccl
        return (
            "ring"
            if chosen is None or to.refusal(_OF_NCCL[what], chosen.algorithm)
            else chosen.algorithm
        )

    def _block(self, rank: int) -> Block:
        nodes, block = self._ranks.nodes(rank), Block()
        graph = TopologicalSorter({number: node.after for number, node in nodes.items()})
        try:
            order = list(graph.static_order())
        except CycleError as error:
            first = nodes[error.args[1][0]]
            self._ranks.refuse(
                rank, first, f"dependencies in a circle: {' -> '.join(map(str, error.args[1]))}"
            )
        for node in nodes.values():
            for other in node.after:
                if other not in nodes:
                    self._ranks.refuse(
                        rank, node, f"it depends on node {other}, which does not exist"
                    )
        numbers: dict[ProcessGroup, int] = defaultdict(int)
        places: dict[int, tuple[ProcessGroup, int]] = {}
        for node in nodes.values():
            if node.kind == "COMM_COLL":
                group = self._ranks.group_of(rank, node)
                places[node.id] = (group, numbers[group])
                numbers[group] += 1
        last: dict[int, list[int]] = {}
        for number in order:
            node = nodes[number]
            after = list(dict.fromkeys(one for other in node.after for one in last[other]))
            last[number] = self._operations(rank, block, node, places.get(number), after)
        return block

    def _operations(
        self,
        rank: int,
        block: Block,
        node: Node,
        place: tuple[ProcessGroup, int] | None,
        after: list[int],
    ) -> list[int]:
        """Write a node's operations; returns the last ones."""
        if place is not None:
            return self._collective(rank, block, place, block.calc(0, after))
        if node.kind == "COMM_SEND":
            self._own(rank, node, "comm_src")
            to = self._ranks.number(rank, node, "comm_dst", self.ranks)
            size = self._ranks.number(rank, node, "comm_size")
            block.tag = self._tag(rank, node)
            return [block.send(size, to, after)]
        if node.kind == "COMM_RECV":
            self._own(rank, node, "comm_dst")
            source = self._ranks.number(rank, node, "comm_src", self.ranks)
            size = self._ranks.number(rank, node, "comm_size")
            block.tag = self._tag(rank, node)
            return [block.recv(size, source, after)]
        micros = node.micros or self._estimated(rank, node)
        if not 0 <= micros <= _LONGEST:
            self._ranks.refuse(rank, node, f"it takes {micros:g} µs, and must take 0 to 100 days")
        stream = 0 if node.of_host or node.kind == "METADATA" else _ACCELERATOR
        return [block.calc(round(micros * 1000), after, stream)]

    def _estimated(self, rank: int, node: Node) -> float:
        """The time for a node without a duration, by its operations and bytes."""
        work = []
        for name in ("num_ops", "tensor_size"):
            value = node.attributes.get(name, 0)
            if (
                isinstance(value, bool)
                or not isinstance(value, int | float)
                or not 0 <= value < LARGEST
            ):
                self._ranks.refuse(
                    rank, node, f"`{name}` is {value}, and must be a number from 0 to {LARGEST - 1}"
                )
            work.append(value)
        try:
            return self._how.roofline.micros(*work)
        except ValueError as missing:
            what = f"it has {work[0]:,} operations, {work[1]:,} bytes and no duration"
            self._ranks.refuse(
                rank, node, f"{what}; give the rates of the accelerator with {missing}"
            )

    def _own(self, rank: int, node: Node, name: str) -> None:
        """Refuse a message between other ranks."""
        if name in node.attributes and self._ranks.number(rank, node, name, self.ranks) != rank:
            self._ranks.refuse(
                rank,
                node,
                f"`{name}` is {node.attributes[name]}, and this is the trace of rank {rank}",
            )

    def _tag(self, rank: int, node: Node) -> int:
        """Message tags are even, and tags in collective operations odd."""
        return (
            2 * self._ranks.number(rank, node, "comm_tag", 2**31 - 1)
            if "comm_tag" in node.attributes
            else 0
        )

    def _collective(
        self, rank: int, block: Block, place: tuple[ProcessGroup, int], begin: int
    ) -> list[int]:
        group, number = place
        members = self._calls.members[group]
        count = len(members)
        _, what, size, root = self._calls.by_group[group][number]
        if count == 1:
            return [begin]
        part = -(-size // count)
        chosen = self._how.nccl
        if chosen is not None and what in _OF_NCCL:
            block.tag = 2 * self._tags.setdefault(place, len(self._tags)) * chosen.channels + 1
            given = part if what == "REDUCE_SCATTER_BLOCK" else size
            to = nccl.Communicator.of(members, chosen.share, chosen.channels, chosen.chunk)
            return nccl.write(
                block,
                rank,
                to,
                _OF_NCCL[what],
                given,
                self._algorithm(what, to),
                [begin],
                members[root],
            )
        # Bytes in Score-P's counting, with a rank's bytes for itself.
        counted = {"ALLREDUCE": size * count, "ALLGATHER": size * count, "ALLTOALL": part * count}
        sent, received = (
            counted.get(what, size),
            part * count if what == "REDUCE_SCATTER_BLOCK" else size,
        )
        call = CollectiveCall(what, max(root, 0), count, {0: sent}, {0: received})
        channels = chosen.channels if chosen is not None else 1
        block.tag = 2 * self._tags.setdefault(place, len(self._tags)) * channels + 1
        return expand(block, members, members.index(rank), call, [begin])
