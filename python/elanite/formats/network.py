"""A network as other tools' formats describe it: nodes, switches and cables with rates and delays,
and flows.

Every reader in the package makes a ``Network``. Rates are exact fractions in bits per second,
delays whole picoseconds; a format without one has `None`. Names are the file's; ``graph_names``
turns them into graph file words, which have no blank, no comma and no ``#``. ``notes`` are
sentences on the reader's assumptions about missing information, and on the information that Elanite
leaves out.

A node is an adapter with its own process. A host with several adapters is several nodes.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NoReturn

from elanite.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from fractions import Fraction
    from pathlib import Path

MOST_NODES = 262_144
"""Most nodes in a machine, and so in a file's range."""
MOST_CABLES = 4_000_000
"""Most cables that a reader makes: those between 4,096 switches with about 1,000 ports."""


@dataclass(frozen=True)
class Cable:
    """A cable between two switches or nodes, with both directions."""

    one: str
    other: str
    rate: Fraction | None = None
    """Bits per second, in each direction."""
    delay: int | None = None
    """Picoseconds from end to end, without switches."""
    line: int | None = None
    """The file's line that states it first."""


@dataclass(frozen=True)
class Flow:
    """A message from node to node."""

    start: int
    """Picoseconds."""
    source: str
    destination: str
    size: int
    """Bytes."""
    line: int
    group: int = 0
    """Its priority group."""
    waits: tuple[tuple[int, bool], ...] = ()
    """It begins at the ends of these earlier flows: their places in the list, and whether an end
    counts at the destination instead of the source.
    """


@dataclass
class Network:
    """A file's content."""

    format: str
    """The format's name, as people call it."""
    nodes: dict[str, int | None] = field(default_factory=dict)
    """The nodes by number, each with its line."""
    switches: dict[str, int | None] = field(default_factory=dict)
    cables: list[Cable] = field(default_factory=list)
    flows: list[Flow] = field(default_factory=list)
    terminals: int | None = None
    """Nodes per switch for a graph without nodes."""
    cycles: bool = False
    """Whether cable delays are machine cycles and not picoseconds."""
    switch_delay: int | None = None
    """Each switch's picoseconds, where a format states them apart from the cables'."""
    forward: dict[str, str] = field(default_factory=dict)
    """By node, where the file states it: ``yes`` or ``no``, whether other nodes' packets pass
    through.
    """
    remarks: dict[str, str] = field(default_factory=dict)
    """By name: a description of a switch or a node, for a comment."""
    notes: list[str] = field(default_factory=list)

    def count(self) -> int:
        """The node count."""
        return len(self.nodes) or len(self.switches) * (self.terminals or 0)


def fail(file: Path, line: int | None, message: str) -> NoReturn:
    """Raise the error for a line, or for the whole file."""
    raise UsageError(f"{file}:{line}: {message}" if line else f"{file}: {message}")


def checked(network: Network, file: Path) -> Network:
    """A network with parts that fit together.

    Raises ``UsageError`` with the line of the first misfit.
    """
    known = network.nodes.keys() | network.switches.keys()
    for name in network.nodes.keys() & network.switches.keys():
        fail(file, network.nodes[name], f"`{name}` is both a node and a switch: rename one")
    if not known:
        fail(file, None, f"this {network.format} has no switch and no node")
    seen: set[str] = set()
    for cable in network.cables:
        if cable.one == cable.other:
            fail(file, cable.line, f"a cable joins `{cable.one}` to itself: remove it")
        for end in (cable.one, cable.other):
            if end not in known:
                fail(
                    file,
                    cable.line,
                    f"there is no node and no switch `{end}`: add it, or correct the name",
                )
        seen |= {cable.one, cable.other}
    for name, line in (network.nodes | (network.switches if len(known) > 1 else {})).items():
        if name not in seen:
            kind = "node" if name in network.nodes else "switch"
            fail(file, line, f"{kind} `{name}` has no cable: add one, or remove the {kind}")
    _refuse_parts(network, file)
    return network


def _refuse_parts(network: Network, file: Path) -> None:
    """Refuses a network in several parts."""
    near: dict[str, list[str]] = {name: [] for name in (*network.switches, *network.nodes)}
    for cable in network.cables:
        near[cable.one].append(cable.other)
        near[cable.other].append(cable.one)
    first = next(iter(near))
    reached, rest = {first}, [first]
    while rest:
        for name in near[rest.pop()]:
            if name not in reached:
                reached.add(name)
                rest.append(name)
    if lost := [name for name in near if name not in reached]:
        line = network.switches.get(lost[0], network.nodes.get(lost[0]))
        fail(
            file,
            line,
            f"the network is in several parts: no way leads from `{first}` to `{lost[0]}`"
            f" ({len(lost):,} of {len(near):,} switches and nodes are apart): join the parts, or"
            " remove one",
        )


def graph_names(names: Iterable[str]) -> dict[str, str]:
    """Names as graph file words, each different from the others."""
    found: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        word = re.sub(r"[\s,#]+", "_", name.strip()) or "unnamed"
        if word in ("switch", "node"):
            word += "_"
        base, number = word, 1
        while word in taken:
            number += 1
            word = f"{base}.{number}"
        taken.add(word)
        found[name] = word
    return found


def sort_key(name: str) -> tuple[tuple[int, int, str], ...]:
    """The key that sorts ``n9`` before ``n10``."""
    parts = re.findall(r"\d+|\D+", name)
    return tuple(
        (0, int(part), part) if part.isascii() and part.isdigit() else (1, 0, part)
        for part in parts
    )


def top(network: Network) -> list[str]:
    """The switches at a tree's top; empty if the network is not a tree with levels, or has a single
    switch.

    A switch's level is its distance from the nearest node. In a tree every cable joins neighbouring
    levels, and the switches without one above them have the same level. A network with nodes that
    forward is no tree.
    """
    nodes = network.nodes
    if "yes" in network.forward.values() or any(
        each.one in nodes and each.other in nodes for each in network.cables
    ):
        return []
    near: dict[str, list[str]] = {name: [] for name in network.switches}
    level: dict[str, int] = {}
    for cable in network.cables:
        ends = [end for end in (cable.one, cable.other) if end in near]
        if len(ends) == 2:
            near[ends[0]].append(ends[1])
            near[ends[1]].append(ends[0])
        else:
            level |= dict.fromkeys(ends, 0)
    if not level or len(near) < 2:
        return []
    rest = list(level)
    for name in rest:
        for other in near[name]:
            if other not in level:
                level[other] = level[name] + 1
                rest.append(other)
    highest = [name for name in near if all(level[other] < level[name] for other in near[name])]
    flat = any(abs(level[name] - level[other]) != 1 for name in near for other in near[name])
    return [] if flat or len({level[name] for name in highest}) != 1 else highest


def cable_counts(cables: Sequence[Cable]) -> Counter[tuple[str, str]]:
    """The cable count between each two ends, whatever their order."""
    return Counter((min(each.one, each.other), max(each.one, each.other)) for each in cables)
