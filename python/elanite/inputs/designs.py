"""Machine values from a short request: nodes, links, a network kind, an oversubscription.

The network is the smallest that holds the nodes (``elanite.inputs.shapes``), and the links have a
name (``elanite.inputs.links``). All else comes from a base machine. Its delays are rounded to whole
cycles at the new rate, and there are as many channels as a round trip on the longest link needs for
each routing class. Each value has its source, and ``notes`` has sentences on the network and on the
assumptions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from elanite.base.text import counted
from elanite.errors import UsageError
from elanite.formats.quantities import decimal, exact, span
from elanite.inputs import shapes
from elanite.inputs.links import HEADER, LinkKind
from elanite.inputs.machine import Machine

if TYPE_CHECKING:
    from elanite.inputs.shapes import Ratio, Shape
    from elanite.inputs.sources import Source

MOST_CHANNELS = 32
LONGEST_HOP = 1023
"""Most cycles in a link delay."""


@dataclass(frozen=True)
class Design:
    """The values by which a machine differs from the one to begin from."""

    title: str
    values: dict[str, tuple[object, str]]
    """By key: the value and its source; all ``topology`` keys are here."""
    notes: list[str]


@dataclass(frozen=True)
class MachineRequest:
    """A machine that is asked for."""

    nodes: int
    link: LinkKind
    topology: str = "fat-tree"
    ratio: Ratio | None = None
    """A tree's oversubscription; 1:1 by default."""
    ports: int | None = None

    def shape(self) -> Shape:
        """The smallest network. Raises ``UsageError`` if none exists."""
        ports = self.ports or self.link.ports
        if self.topology == "fat-tree":
            return shapes.fat_tree(self.nodes, ports, self.ratio or shapes.FULL)
        if self.ratio is not None:
            raise UsageError(
                f"--oversubscription {self.ratio}: leaves of a tree have links down and up, and a"
                f" {self.topology} has no leaves\n  leave it out, or take --topology fat-tree"
            )
        return shapes.SHAPES[self.topology](self.nodes, ports)

    def design(self, base: Source) -> Design:
        """The values. Raises ``UsageError`` if the machine to begin from has no such links."""
        machine = Machine.of(base, base.overrides)
        if machine["switch.circuit"] != "cut-through":
            raise UsageError(
                f"--from {base.name}: --link needs a machine whose switches have cut-through and"
                f" credits, as {self.link.base} has\n  leave --from out, or give such a machine"
            )
        shape = self.shape()
        values = self._network(shape) | self._links(shape, machine, base.name)
        notes = list(self._notes(shape, base.name, str(values["switch.ascent"][0])))
        ratio = f", {self.ratio}" if self.ratio and shape.cables else ""
        link = f"{self.link.family} {self.link.name}" if not self.link.ethernet else self.link.name
        title = f"{counted(self.nodes, 'node')} with {link}, {self.topology}{ratio}"
        return Design(title, values, notes)

    def _network(self, shape: Shape) -> dict[str, tuple[object, str]]:
        rows: shapes.Rows = {"kind": (shape.kind, "asked for by --topology; a fat tree without it")}
        nodes = "asked for; all positions are taken"
        if shape.positions > self.nodes:
            nodes = f"asked for; at the first of {shape.positions:,} positions"
        return {
            f"topology.{key}": each
            for key, each in (rows | {"nodes": (self.nodes, nodes)} | shape.rows).items()
        }

    def _links(self, shape: Shape, machine: Machine, base: str) -> dict[str, tuple[object, str]]:
        link, bus = self.link, self.link.bus
        flit = exact(machine["link.flit"], "B")
        cycle = flit * 8 * 10**6 / exact(link.rate, "MB/s") / 8
        if cycle.denominator != 1:
            raise UsageError(
                f"--link {link.name}: a flit of {machine['link.flit']} takes no whole picoseconds"
            )
        here = f"{base}, in whole flits"
        values: dict[str, tuple[object, str]] = {"link.rate": (link.rate, link.source)}
        hops: dict[str, list[int]] = {}
        for key in ("link.hop_delay", "link.credit_delay"):
            if key not in {each.key for each in machine.parameters}:
                continue
            own = machine[key]
            listed = own if isinstance(own, list) else [own]
            # Rows in tori and HyperX networks are alike; a tree and a dragonfly have longer cables
            # further up.
            last = 1 if shape.kind in ("torus", "hyperx") else len(listed) - 1
            picked = [listed[min(level, last, len(listed) - 1)] for level in range(shape.levels)]
            hops[key] = [_cycles(each, cycle, link) for each in picked]
            values[key] = ([span(int(cycles * cycle)) for cycles in hops[key]], here)
        values["link.channels"] = self._channels(shape, machine, flit, hops)
        values["switch.ascent"] = self._ascent(shape)
        values["switch.combine"] = (
            span(int(_cycles(machine["switch.combine"], cycle, link) * cycle)),
            here,
        )
        slice_ = Fraction(65536 * 8 * 10**3) / (exact(link.rate, "MB/s") * 8)
        values["adapter.time_slice"] = (
            f"{decimal(slice_, 1)} ns",
            "assumed: 64 KB at the rate of the link",
        )
        values["bus.rate"] = (bus.rate, bus.source)
        values["bus.burst_overhead"] = (
            bus.overhead,
            "PCIe: 26 bytes of framing, header and checksum at this rate",
        )
        if link.ethernet:
            values["packet.header"] = HEADER
        return values

    def _channels(
        self, shape: Shape, machine: Machine, flit: Fraction, hops: dict[str, list[int]]
    ) -> tuple[object, str]:
        """A link's channels: for each class the packets in a round trip on the longest link, and
        one more.

        A packet with P flits holds a channel for P + D + C cycles
        (``crates/fabric/src/credits.rs``).
        """
        header = exact(HEADER[0] if self.link.ethernet else machine["packet.header"], "B")
        packet = math.ceil((exact(machine["packet.payload"], "B") + header) / flit)
        delay, credit = max(hops["link.hop_delay"]), max(hops.get("link.credit_delay", [1]))
        needed = math.ceil(Fraction(packet + delay + credit, packet)) + 1
        each = min(needed, MOST_CHANNELS // shape.classes)
        classes = f" for each of {shape.classes} classes of ways" if shape.classes > 1 else ""
        why = (
            f"assumed: credits for {each} packets{classes}; a round trip of the longest link needs"
            f" {needed - 1}"
        )
        return each * shape.classes, why

    def _ascent(self, shape: Shape) -> tuple[object, str]:
        if shape.kind in ("torus", "dragonfly", "hyperx"):
            return "adaptive", f"of no effect on a {shape.kind}"
        if self.link.ethernet:
            return (
                "flow-hash",
                "assumed: Ethernet switches spread flows by a hash (ECMP); adaptive if yours adapt",
            )
        return (
            "adaptive",
            "assumed: packets take the least loaded link, as InfiniBand with adaptive routing",
        )

    def _notes(self, shape: Shape, base: str, ascent: str) -> list[str]:
        link = self.link
        ports = self.ports or link.ports
        found = [
            f"{counted(shape.switches, 'switch', 'switches')}, {counted(shape.cables, 'cable')}"
            f" between switches: {shape.words}"
        ]
        if shape.positions > self.nodes:
            found.append(
                f"{self.nodes:,} nodes do not fill it: the smallest of its kind has"
                f" {shape.positions:,} positions, and the last ones stay empty"
            )
        found.append(f"{link.rate}: {link.source}")
        if shape.kind == "fat-tree" and self.ratio is None and shape.cables:
            found.append(
                "assumed: leaves with as many links up as down; --oversubscription 2:1 for fewer"
            )
        if self.ports is None:
            found.append(
                f"assumed: switches with {ports} ports, as {link.switch} has; --ports N for others"
            )
        found.append(
            "assumed: adapters behind"
            f" {link.bus.source.partition(', 128')[0].partition(', 236')[0]}"
        )
        if shape.kind not in ("torus", "dragonfly", "hyperx") and shape.cables:
            found.append(
                "assumed: ways up are"
                f" {'adaptive' if ascent == 'adaptive' else 'a hash of the flow (ECMP)'}"
            )
        if link.ethernet:
            found.append("assumed: Ethernet without loss (PFC); congestion control is not modelled")
        found.append(f"all else, delays of switches and start-up times among it, is that of {base}")
        return found


def _cycles(time: object, cycle: Fraction, link: LinkKind) -> int:
    """The nearest whole cycles for a time, at least one."""
    found = max(1, round(exact(time, "us") * 10**6 / cycle))
    if found > LONGEST_HOP:
        raise UsageError(
            f"--link {link.name}: a delay of {time} is longer than {LONGEST_HOP} flits at"
            f" {link.rate}"
        )
    return found
