"""The machine on which a program runs, as far as Python must know it: its nodes, and its resolved
file.

The simulator returns these for points. So this module makes a point from the smallest experiment,
and never simulates it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING, NotRequired, TypedDict

from elanite import _core
from elanite.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from elanite.inputs.sources import Source

_EXPERIMENT = """title = "The machine itself"
source = "none"
machine = "none"
[[series]]
name = "wires"
title = "Never simulated"
[series.ping]
from = 0
to = 1
directions = "one"
source = "main"
destination = "main"
message = "0 B"
repeats = 1
"""


class ParameterValue(TypedDict):
    """A parameter in a resolved machine file."""

    value: object


class TopologySection(TypedDict):
    """The resolved machine file's section that is read here."""

    nodes: ParameterValue


class Rails(TypedDict, total=False):
    """The section on adapters."""

    count: ParameterValue


class Parameters(TypedDict):
    """A resolved machine file; further sections concern the simulator only."""

    topology: TopologySection
    rails: NotRequired[Rails]
    files: NotRequired[dict[str, ParameterValue]]


@dataclass(frozen=True)
class Cluster:
    """A machine with all overrides applied."""

    name: str
    argument: str
    """Its file name on the command line."""
    overrides: tuple[str, ...]
    parameters: Parameters = field(repr=False)
    """The resolved machine file."""
    point: str = field(repr=False)

    @classmethod
    def of(cls, machine: Source, overrides: Sequence[str] = ()) -> Cluster:
        """A file's machine.

        Raises ``ConfigError`` if the file or an override is wrong, and ``UsageError`` if the
        machine has no two nodes, between which the experiment's messages go.
        """
        # The simulator would look in the experiment for a key that no machine has.
        if _values(machine, overrides).get("topology.nodes") == 1:
            raise UsageError(
                f"{machine.name} has one node, and a network connects two or more; ask for --nodes"
                " 2: ranks on one node (--ranks-per-node) leave the other one idle"
            )
        points = _core.plan(
            machine.text, machine.file, "mpirun", _EXPERIMENT, "mpirun", list(overrides), 1
        )
        (point, _, _) = points[0]
        parameters = json.loads(point)["machine"]
        return cls(machine.name, machine.argument, tuple(overrides), parameters, point)

    @property
    def nodes(self) -> int:
        """How many nodes it has."""
        nodes = self.parameters["topology"]["nodes"]["value"]
        if not isinstance(nodes, int):
            raise UsageError(f"{self.name}: the number of nodes is {nodes}")
        return nodes

    @property
    def rails(self) -> int:
        """How many adapters a node has."""
        rails = self.parameters.get("rails")
        count = rails["count"]["value"] if rails and "count" in rails else 1
        return count if isinstance(count, int) else 1


def tree_of(machine: Source, nodes: int) -> list[str]:
    """The overrides that give a machine this node count, in the smallest fat tree from its
    switches.

    The levels that the machine has stay as they are; further levels are like its lowest one, and
    have as many links up as down, each to a separate parent, with the highest level's delay. Raises
    ``UsageError`` if the machine is not a fat tree.
    """
    values = _values(machine)
    down, up = values.get("topology.down"), values.get("topology.up")
    if not isinstance(down, list) or not isinstance(up, list):
        raise UsageError(
            f"--nodes: {machine.name} is not a fat tree; set its topology in the machine file"
        )
    down, up = list(down), list(up)
    while len(down) > 1 and prod(down[:-1]) >= nodes:
        down.pop()
        up.pop()
    while prod(down) < nodes:
        # The switches that were at the top have links to the new level.
        up.append(down[-1])
        down.append(down[0])
    changes = [f"topology.nodes={nodes}", f"topology.down={down}", f"topology.up={up}"]
    lists = {"topology.parallel": (values.get("topology.parallel"), len(up), 1)}
    for key in ("link.hop_delay", "link.credit_delay"):
        delays = values.get(key)
        if isinstance(delays, list):
            lists[key] = (delays, len(down), delays[-1])
    for key, (old, levels, further) in lists.items():
        if isinstance(old, list) and len(old) != levels:
            changes.append(f"{key}={json.dumps([*old, *[further] * levels][:levels])}")
    return changes


def _values(machine: Source, overrides: Sequence[str] = ()) -> dict[str, object]:
    """A machine's values by their keys."""
    loaded = json.loads(_core.load_machine(machine.text, machine.file, list(overrides)))
    return {one["key"]: one["value"] for one in loaded["parameters"]}
