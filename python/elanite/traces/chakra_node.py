"""A node in a Chakra execution trace, as its readers give it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from elanite.errors import RunError
from elanite.traces.chakra_schema import KINDS

if TYPE_CHECKING:
    from pathlib import Path

    from google.protobuf.message import Message

ATTRIBUTES: tuple[str, ...] = (
    "is_cpu_op",
    "involved_dim",
    "num_ops",
    "tensor_size",
    "comm_type",
    "comm_size",
    "comm_src",
    "comm_dst",
    "comm_tag",
)
ATTRIBUTES += ("pg_name", "comm_group", "ranks")
"""Attributes that a translation reads."""


@dataclass(frozen=True)
class Node:
    """A node in a rank's graph."""

    id: int
    name: str
    kind: str
    after: tuple[int, ...]
    """The nodes that must have ended: data dependencies, until all of the rank's nodes are
    known.
    """
    micros: float
    """Its duration in microseconds; 0 without one."""
    attributes: dict[str, object] = field(default_factory=dict)
    inputs: str = ""
    """Its inputs' values, as text; in PyTorch metadata, the process groups."""
    control: tuple[int, ...] = ()
    """Control dependencies, or in PyTorch traces the caller."""

    @property
    def of_host(self) -> bool:
        """Whether it is the host's; without `is_cpu_op` it is the accelerator's, as Chakra's feeder
        has it.
        """
        return bool(self.attributes.get("is_cpu_op", False))

    def __str__(self) -> str:
        return f"node {self.id} ({self.kind}_NODE `{self.name}`)"


def kind_of(path: Path, where: str, number: object, kinds: tuple[str, ...] = KINDS) -> str:
    """A node's type by its number. Raises ``RunError`` for an unknown number."""
    if not isinstance(number, int) or not 0 < number < len(kinds):
        raise RunError(f"{path}: {where}: there is no type of nodes with the number {number}")
    return kinds[number]


def of_message(path: Path, one: Message, where: str) -> Node:
    """The node from a version 0.0.4 message."""
    found = {}
    for each in one.attr:
        if each.name in ATTRIBUTES and (which := each.WhichOneof("value")):
            value = getattr(each, which)
            found[each.name] = list(value.values) if which.endswith("_list") else value
    after, kind = tuple(one.data_deps), kind_of(path, where, one.type)
    return Node(
        one.id,
        one.name,
        kind,
        after,
        one.duration_micros,
        found,
        one.inputs.values,
        tuple(one.ctrl_deps),
    )
