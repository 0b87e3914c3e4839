"""Groups for collective operations in Chakra execution traces: the ranks that take part.

| a node has | its group |
|---|---|
| the list ``ranks`` | these ranks |
| ``pg_name`` or ``comm_group``, and the file of groups has it | the members from the file |
| the same, and the rank's metadata have it (PyTorch's process groups) | those; `[]` is all |
| the name ``0``, an empty name or none | all ranks of the job, as in ASTRA-sim |
| any other name, without a file of groups | all ranks whose traces name it |

A group file is JSON as ASTRA-sim reads it and STAGE writes it: ``{"1": [0, 1], "2": [2, 3]}``.
Members from a file, from metadata or from ``ranks`` take part whether their traces have the
operation or not, so that a missing one is an error. Refused: a group by network dimensions
(``involved_dim`` with a false entry), since the members follow from the job's network.

In a job made from copies of one trace (``Copies``) all rank numbers are the traced rank's. Another
rank has the same distances: its messages go equally far around the job. Its groups are found by the
nested-grid rule: if the members are ``first + k * stride``, this name's groups are the rows in a
grid with this stride, and the rank is in one row. Other lists have no such rule, and are refused.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeGuard

from elanite.errors import UsageError
from elanite.traces.chakra_json import objects

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from elanite.traces.chakra_node import Node

EVERYBODY = ("", "0")
"""Names for the group of all ranks."""


@dataclass(frozen=True)
class ProcessGroup:
    """A group by its name, its members, or both."""

    name: str
    ranks: tuple[int, ...] | None
    """The members; `None` if these are the ranks with traces that name the group."""


class GroupError(Exception):
    """A node's group is wrong, or unknown."""


def of_file(path: Path, ranks: int) -> dict[str, tuple[int, ...]]:
    """A file's groups, by their names.

    Raises ``UsageError`` if it is not a group file for this rank count.
    """
    if not path.is_file():
        raise UsageError(f"--groups {path}: there is no such file")
    content = objects(path)[0]
    if not isinstance(content, dict) or "workload_graph" in content:
        raise UsageError(
            f'--groups {path}: a file of groups is an object such as {{"1": [0, 1], "2": [2, 3]}}'
        )
    for name, members in content.items():
        # A node that names a group without members is refused.
        if members != [] and not _members(members, ranks):
            what = (
                f"group `{name}` is {members}, and must be a list of different ranks from 0 to"
                f" {ranks - 1}"
            )
            raise UsageError(f"--groups {path}: {what}")
    return {name: tuple(members) for name, members in content.items()}


def of_metadata(nodes: Iterable[Node], ranks: int) -> dict[str, tuple[int, ...]]:
    """The process groups that PyTorch has written into a rank's metadata; values in another form
    are ignored.
    """
    found: dict[str, tuple[int, ...]] = {}
    for node in nodes:
        # A list with one text, printed by Python: ['[{"pg_name": "0", "ranks": []}]'].
        begin, end = node.inputs.find("[{"), node.inputs.rfind("}]")
        if node.kind != "METADATA" or begin < 0 or end < begin:
            continue
        try:
            groups = json.loads(node.inputs[begin : end + 2])
        except ValueError:
            continue
        for one in groups:
            if "pg_name" in one and isinstance(one.get("ranks"), list):
                found[str(one["pg_name"])] = tuple(one["ranks"] or range(ranks))
    return found


def _members(value: object, ranks: int) -> TypeGuard[list[int] | tuple[int, ...]]:
    if not isinstance(value, list | tuple) or not value:
        return False
    return all(type(one) is int and 0 <= one < ranks for one in value) and len(set(value)) == len(
        value
    )


def group(
    node: Node,
    rank: int,
    ranks: int,
    known: dict[str, tuple[int, ...]] | None,
    metadata: dict[str, tuple[int, ...]],
) -> ProcessGroup:
    """The group for a rank's collective operation; ``known`` are a file's groups, if there is one.

    Raises ``GroupError`` with the mistake.
    """
    listed = node.attributes.get("ranks")
    if listed is not None:
        if not _members(listed, ranks) or rank not in listed:
            raise GroupError(
                f"`ranks` is {listed}, and must have different ranks of the job, {rank} too"
            )
        return ProcessGroup("", tuple(listed))
    dimensions = node.attributes.get("involved_dim", ())
    if not all(dimensions if isinstance(dimensions, list | tuple) else (dimensions,)):
        raise GroupError(
            "its group is given by dimensions of the network (`involved_dim`), and the trace does"
            " not tell its members; name a group in `pg_name`, and the file of groups with --groups"
        )
    name = str(node.attributes.get("pg_name", node.attributes.get("comm_group", "")))
    members = (known or {}).get(name, metadata.get(name))
    if not members and name in EVERYBODY:
        members = tuple(range(ranks))
    if members is None and known is not None:
        raise GroupError(f"its group `{name}` is not in the file of groups")
    if members is not None and (not _members(members, ranks) or rank not in members):
        raise GroupError(
            f"its group `{name}` has the ranks {list(members)}, and must have different ranks,"
            f" {rank} too"
        )
    return ProcessGroup(name, members)


@dataclass(frozen=True)
class Copies:
    """A job made from copies of one trace: ``own`` is the rank that was traced."""

    own: int
    ranks: int

    def node(self, node: Node, rank: int) -> Node:
        """The traced rank's node, as another rank has it."""
        turned = {
            name: (value + rank - self.own) % self.ranks
            for name in ("comm_src", "comm_dst")
            if node.kind in ("COMM_SEND", "COMM_RECV")
            and type(value := node.attributes.get(name)) is int
            and 0 <= value < self.ranks
        }
        return replace(node, attributes={**node.attributes, **turned})

    def group(self, of_own: ProcessGroup, rank: int) -> ProcessGroup:
        """Another rank's group, from the traced rank's."""
        members = of_own.ranks
        if self.ranks == 1:
            return ProcessGroup(of_own.name, (0,))
        if members is None:
            what = (
                f"its group `{of_own.name}` is of unknown ranks; give its members in a file with"
                " --groups"
            )
            raise GroupError(what)
        if len(members) == self.ranks or rank == self.own:
            return of_own
        ordered, count = sorted(members), len(members)
        stride = ordered[1] - ordered[0] if count > 1 else 1
        grid = stride * count
        even = ordered == list(range(ordered[0], ordered[0] + grid, stride))
        if not even or self.ranks % grid or ordered[0] % grid >= stride:
            what = (
                f"its group is {list(members)}, and --replicate needs rows of a grid of"
                f" {self.ranks} ranks"
            )
            raise GroupError(f"{what}; name the traces of all ranks")
        first = rank // grid * grid + rank % stride
        return ProcessGroup(
            of_own.name,
            self._ordered(members, ordered, [first + stride * place for place in range(count)]),
        )

    @staticmethod
    def _ordered(members: Sequence[int], ordered: list[int], others: list[int]) -> tuple[int, ...]:
        """Another group's members, in this one's order."""
        return tuple(others[ordered.index(one)] for one in members)
