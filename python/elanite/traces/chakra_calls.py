"""The collective operations in Chakra execution traces, group by group, from all ranks' traces
together.

A group's operations are paired by node number. ``comm_size`` is the bytes that a rank puts in: for
an all-reduce, reduce-scatter, broadcast or reduce the whole vector, for an all-gather, gather or
scatter a rank's part, for an all-to-all its parts for all. An operation's root is ``comm_src`` or
``comm_dst``. Refused are sizes and roots that differ within a group, and ranks that lack an
operation in their group.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from elanite.base.text import counted
from elanite.errors import RunError

if TYPE_CHECKING:
    from elanite.traces.chakra_groups import ProcessGroup
    from elanite.traces.chakra_node import Node
    from elanite.traces.chakra_ranks import Ranks

_OPERATIONS: tuple[str, ...] = (
    "ALLREDUCE",
    "REDUCE",
    "ALLGATHER",
    "GATHER",
    "SCATTER",
    "BCAST",
    "ALLTOALL",
)
_OPERATIONS += ("REDUCE_SCATTER_BLOCK", "REDUCE_SCATTER_BLOCK", "BARRIER")
"""Collective operations by ``comm_type`` number."""
_ROOTS = {"BCAST": "comm_src", "SCATTER": "comm_src", "REDUCE": "comm_dst", "GATHER": "comm_dst"}
_FIRST = -2
"""The default root for an operation in a group with unknown members: the first member."""


class GroupOperation(NamedTuple):
    """A group's collective operation."""

    node: Node
    """The first rank's node for it."""
    what: str
    size: int
    root: int
    """Its place in the group; negative for operations without one."""


def _in_words(what: str, size: int, root: int) -> str:
    return f"{what} of {size} bytes" + (
        f" with its root at place {root} of the group" if root >= 0 else ""
    )


class OperationRegister:
    """All groups' collective operations: ``survey`` each rank, then ``close``."""

    def __init__(self, ranks: Ranks) -> None:
        self._ranks = ranks
        self.members: dict[ProcessGroup, list[int]] = {}
        self.by_group: dict[ProcessGroup, list[GroupOperation]] = defaultdict(list)
        self._made: dict[tuple[ProcessGroup, int], int] = defaultdict(int)
        """A rank's operation count per group."""
        self._unnamed = 0
        self._rootless = 0

    def survey(self, rank: int) -> None:
        """Note a rank's collective operations."""
        nodes = self._ranks.nodes(rank)
        messages = ("COMM_COLL", "COMM_SEND", "COMM_RECV")
        if self._ranks.count == 1 and self._ranks.copies is None:
            for node in nodes.values():
                if node.kind in messages:
                    what = (
                        "it communicates, and the trace is the only one; name the files of all"
                        " ranks, or make them"
                    )
                    self._ranks.refuse(rank, node, f"{what} with --replicate N")
        numbers: dict[ProcessGroup, int] = defaultdict(int)
        for node in nodes.values():
            if node.kind != "COMM_COLL":
                continue
            group = self._ranks.group_of(rank, node)
            members = self.members.setdefault(group, list(group.ranks or ()))
            if rank not in members:
                members.append(rank)
            self._unnamed += group.name == "" and "ranks" not in node.attributes
            number = numbers[group]
            numbers[group] += 1
            what = _OPERATIONS[self._ranks.number(rank, node, "comm_type", len(_OPERATIONS))]
            size = 0 if what == "BARRIER" else self._ranks.number(rank, node, "comm_size")
            root = self._root(rank, node, group, _ROOTS[what]) if what in _ROOTS else -1
            calls = self.by_group[group]
            if number == len(calls):
                calls.append(GroupOperation(node, what, size, root))
            other = calls[number]
            if other[1:] != (what, size, root):
                mine, others = _in_words(what, size, root), _in_words(*other[1:])
                what = f"it is {mine}, and {other.node} of another rank of its group is {others}"
                self._ranks.refuse(rank, node, what)
        for group, count in numbers.items():
            self._made[group, rank] = count

    def _root(self, rank: int, node: Node, group: ProcessGroup, name: str) -> int:
        """The root's place in the group; for a group with unknown members, its rank."""
        if name not in node.attributes:
            self._rootless += 1
            return 0 if group.ranks is not None else _FIRST
        root = self._ranks.number(rank, node, name, self._ranks.count)
        if group.ranks is None:
            return root
        # Copies have the root at the same place in their groups.
        members = (
            self._ranks.group_of(self._ranks.copies.own, node).ranks
            if self._ranks.copies
            else group.ranks
        )
        if members is None or root not in members:
            self._ranks.refuse(rank, node, f"the root {root} is not in the group")
        return members.index(root)

    def close(self) -> None:
        """Refuse groups in which a rank has fewer operations than others, and roots outside their
        groups.
        """
        for named, calls in self.by_group.items():
            members = self.members[named]
            for rank in members:
                made = self._made[named, rank]
                if made < len(calls):
                    missing = (
                        f"rank {rank} of its group has {made} operations, and others have"
                        f" {len(calls)}"
                    )
                    raise RunError(
                        f"{self._ranks.files[rank]}: {calls[made].node} of another rank: {missing}"
                    )
            if named.ranks is not None:
                continue
            for place, (node, what, size, root) in enumerate(calls):
                if root >= 0 and root not in members:
                    raise RunError(
                        f"{self._ranks.files[members[0]]}: {node}: the root {root} is not in the"
                        " group"
                    )
                at = members.index(root) if root >= 0 else 0 if root == _FIRST else root
                calls[place] = GroupOperation(node, what, size, at)

    @property
    def notes(self) -> list[str]:
        """The assumptions on groups and roots."""
        notes = []
        if self._unnamed:
            everyone = f"all {self._ranks.count:,} ranks"
            notes.append(
                f"{counted(self._unnamed, 'collective operation')} without a group: {everyone}"
            )
        if self._rootless:
            notes.append(
                f"{counted(self._rootless, 'collective operation')} without a root: the group's"
                " first rank"
            )
        return notes
