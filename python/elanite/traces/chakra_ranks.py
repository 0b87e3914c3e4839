"""The nodes of a job's ranks, from Chakra execution trace files.

A file is a rank, and its name has the rank's number: the last one by which names differ, as in
``job.0.et`` or ``rank0_step7.et``; or one file stands for all ranks (``replicate``). Control
dependencies on nodes that do not exist are PyTorch calls, and give no order. A rank's nodes without
any dependency follow each other by number, one at a time on the host, on the accelerator and in
communication, as ASTRA-sim issues them; receives wait beside these. One rank's nodes are in memory
at a time.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, NoReturn

from elanite.base import packed
from elanite.base.text import counted
from elanite.errors import RunError, UsageError
from elanite.traces.chakra_file import read
from elanite.traces.chakra_groups import (
    Copies,
    GroupError,
    ProcessGroup,
    group,
    of_file,
    of_metadata,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from elanite.traces.chakra_node import Node
    from elanite.traces.chakra_reading import ReadingOptions

LARGEST = 2**63
"""Numbers in node attributes are below."""


def _numbers(path: Path) -> list[int]:
    """The numbers in a file's name, as far as a rank may have them."""
    found = re.findall(r"\d+", packed.plain(path).stem)
    return [int(number) for number in found if len(number) < 10]


def _numbered(traces: Sequence[Path]) -> list[int]:
    """Each file's rank: the last number in its name by which the names differ, 0 for a file without
    numbers that is alone.
    """
    found = [_numbers(path) or ([0] if len(traces) == 1 else []) for path in traces]
    for path, numbers in zip(traces, found, strict=True):
        if not numbers:
            raise UsageError(
                f"{path}: the name does not end with the number of a rank, as in job.0.et"
            )
    for place in range(1, 1 + min(map(len, found))):
        ranks = [numbers[-place] for numbers in found]
        if len(set(ranks)) == len(ranks) > 1:
            return ranks
    return [numbers[-1] for numbers in found]


def _some(ranks: Sequence[int]) -> str:
    return f"rank {ranks[0]}" + (f" and {len(ranks) - 1:,} more" if ranks[1:] else "")


def _after_all(node: Node, *, calls: bool) -> Node:
    """The node with all its dependencies. Control dependencies that are calls give no order."""
    return node if calls or not node.control else replace(node, after=(*node.control, *node.after))


def _called(node: Node) -> Node:
    """The node; a host call that launches an accelerator message is a computation."""
    launches = node.kind.startswith("COMM_") and node.of_host and "comm_size" not in node.attributes
    return replace(node, kind="COMP") if launches and "comm_type" not in node.attributes else node


def _is_idle(node: Node) -> bool:
    """Whether a computation on an accelerator takes no time, as the trace lacks all about it."""
    about = node.attributes.keys() & {"num_ops", "tensor_size"}
    return node.kind == "COMP" and not (node.micros or about or node.of_host)


def _in_turn(working: Sequence[Node]) -> dict[int, Node]:
    """Nodes without dependencies, each behind its resource's previous node."""
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


class Ranks:
    """The traces of all ranks in a job."""

    def __init__(self, traces: Sequence[Path], how: ReadingOptions) -> None:
        self.copies: Copies | None = None
        count = how.replicate
        if count is not None:
            if len(traces) > 1:
                raise UsageError(
                    f"{traces[1]}: --replicate makes all ranks from one trace; name one file"
                )
            self.copies = Copies(_numbered(traces)[0] % count, count)
            self.files = [traces[0]] * count
        else:
            self.files = self._of_all(traces)
        self._known = of_file(how.groups, self.count) if how.groups else None
        self._metadata: dict[str, tuple[int, ...]] = {}
        """The process groups in the current rank's metadata."""
        self._loose: list[int] = []
        self._idle: dict[int, int] = {}
        """By rank: computations without duration, operations and bytes."""
        self._called: list[int] = []
        """Ranks with calls as control dependencies."""

    @property
    def count(self) -> int:
        """How many ranks there are."""
        return len(self.files)

    @staticmethod
    def _of_all(traces: Sequence[Path]) -> list[Path]:
        numbered: dict[int, Path] = {}
        for path, rank in zip(traces, _numbered(traces), strict=True):
            if rank in numbered:
                raise UsageError(f"{path}: rank {rank} has another file, {numbered[rank]}")
            numbered[rank] = path
        if len(traces) == 1 and 0 not in numbered:
            remedy = "name the files of all ranks, or make them from this one with --replicate N"
            raise UsageError(f"{traces[0]}: rank 0 is missing; {remedy}")
        for rank in range(len(traces)):
            if rank not in numbered:
                raise UsageError(
                    f"{traces[0]}: of {len(traces)} ranks, rank {rank} is missing; name the files"
                    " of all"
                )
        return [numbered[rank] for rank in range(len(traces))]

    @cached_property
    def _one(self) -> list[Node]:
        """The only trace's nodes."""
        return list(read(self.files[0]))

    def nodes(self, rank: int) -> dict[int, Node]:
        """A rank's nodes, by number."""
        found: dict[int, Node] = {}
        copies = self.copies
        for node in self._one if copies else read(self.files[rank]):
            if node.id in found:
                self.refuse(rank, node, "another node has the same number")
            found[node.id] = copies.node(_called(node), rank) if copies else _called(node)
        self._metadata = of_metadata(found.values(), self.count)
        calls = any(other not in found for node in found.values() for other in node.control)
        if calls and rank not in self._called:
            self._called.append(rank)
        nodes = {number: _after_all(found[number], calls=calls) for number in sorted(found)}
        working = [node for node in nodes.values() if node.kind != "METADATA"]
        self._idle[rank] = sum(map(_is_idle, found.values()))
        if len(working) < 2 or any(node.after for node in nodes.values()):
            return nodes
        if rank not in self._loose:
            self._loose.append(rank)
        return nodes | _in_turn(working)

    def number(self, rank: int, node: Node, name: str, most: int = LARGEST) -> int:
        """A number in a node's attributes, from 0 to below ``most``."""
        value = node.attributes.get(name)
        if value is None:
            self.refuse(rank, node, f"there is no `{name}`")
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < most:
            text = "the text " if isinstance(value, str) else ""
            self.refuse(
                rank, node, f"`{name}` is {text}{value}, and must be a number from 0 to {most - 1}"
            )
        return value

    def group_of(self, rank: int, node: Node) -> ProcessGroup:
        """The group for a rank's collective operation."""
        copies = self.copies
        try:
            found = group(
                node, copies.own if copies else rank, self.count, self._known, self._metadata
            )
            return copies.group(found, rank) if copies else found
        except GroupError as error:
            self.refuse(rank, node, str(error))

    def refuse(self, rank: int, node: Node, what: str) -> NoReturn:
        """Raise ``RunError`` with a node's place."""
        raise RunError(f"{self.files[rank]}: rank {rank}, {node}: {what}")

    @property
    def copied(self) -> list[str]:
        """The assumption behind copies."""
        return (
            []
            if self.copies is None
            else [f"{self.files[0].name} stands for {counted(self.count, 'rank')}"]
        )

    @property
    def ordered(self) -> list[str]:
        """The assumptions on node order and missing durations."""
        notes = []
        if idle := sum(self._idle.values()):
            notes.append(
                f"{counted(idle, 'computation')} without duration, operations and bytes take no"
                " time"
            )
        if self._loose:
            notes.append(
                f"no node of {_some(self._loose)} depends on another: they follow each other by"
                " their numbers"
            )
        if self._called:
            what = (
                "control dependencies lead to nodes that are not there, and are taken for calls of"
                " PyTorch"
            )
            notes.append(f"{_some(self._called)}: {what}; data dependencies give the order")
        return notes
