"""A machine file and a graph file for a network that another tool describes.

The network decides the graph, the rates and the delays; a base machine gives all else: adapters,
buses, hosts and switch rules. The network's fastest rate is the machine's (``imported_clock``);
slower cables state their rates on their lines. A link's delay is its cable's and that of the switch
behind it: for a format that states switches apart from cables, a way's two links at nodes have half
a switch each, so that the way's sum is right. Delays are whole cycles.

A node that forwards has a switch of its own behind its adapter. No cable leads there: the link in
between takes a cycle where the file states delays, and feeds all of the node's cables together
where these are a good deal faster than one.

Packets go up and down a tree, and take the shortest ways in any other network, in as many channel
layers as these ways need.

Every value names its source. Information that the file lacks is a comment at the head of both
files, and a note from the command.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from elanite import _core
from elanite.base.rows import section
from elanite.base.text import counted
from elanite.errors import ConfigError, UsageError
from elanite.formats.network import Network, graph_names, top
from elanite.formats.quantities import exact, shown
from elanite.inputs import graphs, network_ports, toml
from elanite.inputs import network_clock as clocks
from elanite.inputs.machine import Machine
from elanite.inputs.sources import Source

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from elanite.formats.network import Cable

MOST_CHANNELS = 32
LIMITS = "at most 4,096 switches with at most 1,024 ports"
"""Of a graph (``crates/fabric/src/topology/graph.rs``)."""


@dataclass(frozen=True)
class ImportedFiles:
    """An imported network's files, by the suffix behind their common name."""

    texts: dict[str, str]
    notes: list[str]
    nodes: int
    channels: int
    """Those of a link."""


def machine(network: Network, origin: str, name: str, base: Source) -> ImportedFiles:
    """A network's machine file and graph file; ``origin`` is its file's name.

    Raises ``UsageError`` or ``ConfigError`` if the machine cannot hold the network.
    """
    made = NetworkImport(network, origin, name, base)
    files = made.files()
    made.check(files)
    return files


class NetworkImport:
    """A network with the data that the two files share."""

    def __init__(self, network: Network, origin: str, name: str, base: Source) -> None:
        self.network, self.origin, self.name, self.base = network, origin, name, base
        self.machine = Machine.of(base, base.overrides)
        self.notes = list(network.notes)
        if network.terminals is not None:
            each = counted(network.terminals, "node")
            self.notes.append(f"there are no nodes: each switch has {each} (`--terminals`)")
        self.names = graph_names((*network.switches, *network.nodes))
        joined = {each.one for each in network.cables if each.other in network.nodes} | {
            each.other for each in network.cables if each.one in network.nodes
        }
        stated = {node for node in network.nodes if network.forward.get(node) == "yes"}
        self.several = network_ports.several(network)
        """Hosts with several cables that pass on no packets of others."""
        self.forwarding = network.nodes.keys() & joined | stated | self.several
        """Nodes with a switch of their own."""
        self.seated = network.nodes.keys() - self.forwarding
        """Nodes with one cable, to a switch."""
        self.clock = clocks.clock(
            network, self.machine, (origin, base.name), self.forwarding, self.notes
        )
        self.timed = not network.cycles and any(each.delay is not None for each in network.cables)
        self.first = 0
        """A first link's cycles on the base machine, if the link to a node's own switch differs."""
        self.hops = self._hops()
        self.roots = [self.names[name] for name in self._top()]
        self.channels = self._channels()
        self.tables = self._tables()

    def _top(self) -> list[str]:
        """The switches at the top of the tree; empty for another network."""
        alone = bool(self.several) and len(self.network.switches) == 1
        return list(self.network.switches) if alone else top(self.network)

    def _tables(self) -> network_ports.ForwardingTables | None:
        """Forwarding tables that keep packets out of hosts with several cables; `None` if no way
        leads there.
        """
        if not self.several:
            return None
        many = counted(len(self.several), "host")
        said = f"{many} with several cables: an adapter feeds them all, and passes on no packets"
        if self.roots:
            self.notes.append(f"{said} of others, as ways in a tree go up and down")
            return None
        found = network_ports.tables(
            self.network, self.forwarding, self.several, self.names, self.origin
        )
        each = self.channels or int(str(self.machine["link.channels"]))
        self.channels = max(found.classes, min(MOST_CHANNELS, found.classes * each))
        if found.classes > MOST_CHANNELS:
            raise UsageError(
                f"{self.origin}: {said} of others; ways have up to {found.classes} links, and need"
                f" a channel class for each, of which a link has at most {MOST_CHANNELS}"
            )
        self.notes.append(
            f"{said} of others: the network is no tree of levels, and its forwarding tables have"
            f" the shortest ways beside these hosts, in {found.classes} classes of channels"
        )
        return found

    def files(self) -> ImportedFiles:
        """Both files' texts."""
        graph = f"{self.name}.graph.txt"
        cables = list(self._graph())
        routing = "" if self.tables else self._shortest(cables)
        machine = "\n".join(self._machine(graph, routing)) + "\n"
        text = "\n".join([*self._head("The graph"), *cables]) + "\n"
        channels = self.channels or int(str(self.machine["link.channels"]))
        texts = {".toml": machine, ".graph.txt": text}
        if self.tables:
            texts[".routes.txt"] = (
                "\n".join(self._head("The forwarding tables")) + f"\n{self.tables.text}"
            )
        return ImportedFiles(texts, self.notes, self.network.count(), channels)

    def check(self, files: ImportedFiles) -> None:
        """Raises ``UsageError`` or ``ConfigError`` if the simulator refuses the machine."""
        machine, text = files.texts[".toml"], files.texts[".graph.txt"]
        if (mistake := _core.graph_mistake(text)) is not None:
            line, message = mistake
            limits = LIMITS + ("; hosts with several cables have one each" if self.several else "")
            place = f" ({text.splitlines()[line - 1]})" if line else f"; allowed are {limits}"
            raise UsageError(
                f"{self.origin}: the network is none that a machine may have: {message}{place}"
            )
        file = f"{self.name}.toml"
        whole = graphs.with_content(machine, "cables", text, f"{self.name}.graph.txt")
        if (routes := files.texts.get(".routes.txt")) is not None:
            whole = graphs.with_content(whole, "routes", routes, f"{self.name}.routes.txt")
        Machine.of(Source("machine", self.name, file, file, whole))

    def _level(self, cable: Cable) -> int:
        """The level of a cable's link: 0 at a node with one cable to a switch, else 1."""
        return 0 if self.seated & {cable.one, cable.other} else 1

    def _hops(self) -> tuple[int, int]:
        """The two levels' delays in cycles: the file's most frequent ones, or the base's."""
        found = self._base("link.hop_delay") or [1, 1]
        stated = [
            [each.delay for each in self.network.cables if self._level(each) == level]
            for level in (0, 1)
        ]
        known = [Counter(each for each in level if each is not None) for level in stated]
        if self.network.cycles or not any(known):
            if not self.network.cycles:
                self.notes.append(
                    f"there are no delays: links have those of {self.base.name}, in whole cycles"
                )
            if self.several:
                self.first, found[0] = found[0], 1  # from an adapter to its own switch
            return found[0], found[1]
        for level in (0, 1):
            if level == 0 and self.forwarding:
                found[0] = 1  # from an adapter to its own switch
            elif delays := known[level] or known[1 - level]:
                found[level] = self._with_switch(delays.most_common(1)[0][0], level)
        if missing := sum(each is None for level in stated for each in level):
            self.notes.append(
                f"{counted(missing, 'cable')} without a delay: the most frequent one of its level"
            )
        if self.network.switch_delay is None:
            self.notes.append(
                "delays are those of the file's links; switches take no further time, as none is"
                " stated"
            )
        return found[0], found[1]

    def _base(self, key: str) -> list[int] | None:
        """A base delay at the two levels, in machine cycles; `None` if the base lacks it."""
        own = next((each.value for each in self.machine.parameters if each.key == key), None)
        listed = own if isinstance(own, list) else [own]
        if own is None:
            return None
        return [
            self.clock.cycles(exact(listed[min(level, len(listed) - 1)], "us") * 10**6)
            for level in (0, 1)
        ]

    def _with_switch(self, delay: int, level: int) -> int:
        """A hop's cycles: the cable, and the switch behind it; half a switch at each of a way's
        ends.
        """
        switch = self.network.switch_delay or 0
        return self.clock.cycles(Fraction(delay) + (Fraction(switch, 2) if level == 0 else switch))

    def _graph(self) -> Iterator[str]:
        """The graph file's lines."""
        for name, kind in [*((name, "switch") for name in self.network.switches)] + [
            (name, "node") for name in self.network.nodes
        ]:
            about = self.network.remarks.get(name) or (name if self.names[name] != name else "")
            remark = f"  # {' '.join(about.split())}" if about else ""
            passes = "yes" if name in self.several else self.network.forward.get(name)
            forward = f" forward={passes}" if passes else ""
            yield f"{kind} {self.names[name]}{forward}{remark}"
        for cable in self.network.cables:
            words = [self.names[cable.one], self.names[cable.other]]
            level = self._level(cable)
            rate = cable.rate or self.clock.stated
            if rate != self.clock.stated or (level == 0 and self.clock.feeds):
                words.append(f"rate={shown(rate).replace(' ', '')}")
            hop = self.hops[level]
            if cable.delay is not None:
                hop = (
                    hop + cable.delay - 1
                    if self.network.cycles
                    else self._with_switch(cable.delay, level)
                )
            elif level == 0 and self.timed and self.forwarding:
                hop = self.hops[1]
            elif self.first and (level == 0 or self.several & {cable.one, cable.other}):
                hop = self.first
            if hop != self.hops[level]:
                words.append(f"delay={self.clock.time(hop).replace(' ', '')}")
            yield " ".join(words)

    def _head(self, what: str) -> Iterator[str]:
        count = self.network.count()
        yield (
            f"# {what} of {self.origin} ({self.network.format}): {counted(count, 'node')},"
            f" {counted(len(self.network.switches), 'switch', 'switches')},"
            f" {counted(len(self.network.cables), 'cable')}."
        )
        for note in self.notes:
            yield f"# - {note}"

    def _shortest(self, lines: Sequence[str]) -> str:
        """The routing, with channels for its layers: empty for up*/down* ways.

        Rates and delays decide no way, so that the layers depend on the cables alone.
        """
        words = [line.partition("#")[0].split() for line in lines]
        cables = "".join(f"{' '.join(each if each[0] == 'node' else each[:2])}\n" for each in words)
        switches = len(self.network.switches) + len(self.forwarding)
        if self.roots or switches < 2 or _core.graph_mistake(cables) is not None:
            return ""
        rows = {
            "kind": "graph",
            "nodes": self.network.count(),
            "cables": cables,
            "routing": "minimal",
        }
        if self.network.terminals is not None:
            rows["terminals"] = self.network.terminals
        content = tomllib.loads(self.base.text)
        content["topology"] = _parameters(
            {key: (value, self.origin) for key, value in rows.items()}
        )
        many = _parameters({"channels": (MOST_CHANNELS, "as many as there are")})
        content["link"] = {**section(content["link"]), **many}
        text = toml.machine(content | {"machine": {"name": self.name, "title": self.name}})
        try:
            layers = (
                Machine.of(Source("machine", self.name, self.origin, self.origin, text)).layers or 1
            )
        except ConfigError as error:
            if (needed := re.search(r"needs (\d+) layers of channels", str(error))) is None:
                raise
            self.notes.append(
                f"the network is no tree of levels, and its shortest ways need {needed[1]} layers"
                f" of channels, of which a link has at most {MOST_CHANNELS}: packets take up*/down*"
                " ways, which lead through few switches"
            )
            return ""
        if layers > 1:
            each = self.channels or int(str(self.machine["link.channels"]))
            self.channels = max(layers, min(MOST_CHANNELS, layers * each))
            said = f", in {layers} layers of channels: {self.channels} channels, {each} for each"
            if layers * each > MOST_CHANNELS:
                said = (
                    f", in {layers} layers of channels: {self.channels} channels, though each needs"
                    f" {each}"
                )
        else:
            said = ", which need one layer of channels"
        self.notes.append(
            "the network is no tree of levels: packets take shortest ways"
            f" (`topology.routing`){said}"
        )
        return "minimal"

    def _machine(self, graph: str, routing: str) -> Iterator[str]:
        """The machine file: its head, and its content as text."""
        origin, base = self.origin, self.base.name
        yield from self._head("A machine with the network")
        yield f"# Sources that begin with {base} are those of that machine. KB is 1024 bytes."
        yield ""
        rows: dict[str, tuple[object, str]] = {
            "kind": ("graph", f"as {origin} has it"),
            "nodes": (self.network.count(), f"all of {origin}"),
            "file": (graph, f"made of {origin}"),
        }
        if self.network.terminals is not None:
            rows["terminals"] = (self.network.terminals, f"assumed: {origin} has no nodes")
        if self.roots:
            rows["roots"] = (
                self.roots,
                "the switches farthest from the nodes: the top of the tree",
            )
        if self.tables:
            classes = "a class for each link between switches on a way"
            rows["routes_file"] = (f"{self.name}.routes.txt", f"assumed: {origin} has no routing")
            rows["hop_classes"] = (self.tables.classes, classes)
        if routing:
            rows["routing"] = (
                routing,
                f"assumed: {origin} has no routing, and is no tree of levels",
            )
        content = _of(tomllib.loads(self.base.text), base)
        content["link"] = {**section(content["link"]), **_parameters(self._changed())}
        about = {
            "name": self.name,
            "title": f"the network of {origin}, with the adapters of {base}",
        }
        yield toml.machine(content | {"machine": about, "topology": _parameters(rows)}).rstrip()

    def _changed(self) -> dict[str, tuple[object, str]]:
        """The link parameters that the network decides."""
        clock, origin = self.clock, self.origin
        delays = [clock.time(hop) for hop in self.hops]
        own = any(each.rate is not None for each in self.network.cables)
        timed = self.timed
        hop = f"{origin}, in whole cycles" if timed else f"{self.base.name}, in whole cycles"
        found: dict[str, tuple[object, str]] = {
            "flit": (
                f"{clock.flit} B",
                f"{self.base.name}; a whole number of picoseconds at this rate",
            ),
            "rate": (
                [shown(clock.rate), shown(clock.stated)] if clock.feeds else shown(clock.rate),
                f"{origin}: its fastest cable" if own else f"{self.base.name}",
            ),
            "hop_delay": (delays, hop),
        }
        if timed:
            found["credit_delay"] = (delays, "assumed: a credit takes as long as a flit")
        elif (credit := self._base("link.credit_delay")) is not None:
            found["credit_delay"] = ([clock.time(each) for each in credit], hop)
        if self.channels is not None:
            found["channels"] = (
                self.channels,
                (
                    "assumed: credits for the packets of a round trip, and one more, in each layer"
                    " of channels"
                ),
            )
        return found

    def _channels(self) -> int | None:
        """Channels that cover a packet's round trip on the longest link; `None` if the base's do.

        A packet with P flits holds a channel for P + D + C cycles
        (``crates/fabric/src/credits.rs``).
        """
        payload = exact(self.machine["packet.payload"], "B") + exact(
            self.machine["packet.header"], "B"
        )
        packet = math.ceil(payload / self.clock.flit)
        longest = max(self.hops)
        if not self.network.cycles:
            longest = max(
                [
                    longest,
                    *(
                        self._with_switch(each.delay or 0, self._level(each))
                        for each in self.network.cables
                    ),
                ]
            )
        needed = math.ceil(Fraction(packet + 2 * longest, packet)) + 1
        if needed <= int(str(self.machine["link.channels"])):
            return None
        share = Fraction(MOST_CHANNELS * packet, packet + 2 * longest)
        if share < 1:
            self.notes.append(
                f"the longest link needs credits for {needed} packets, and a machine has at most"
                f" {MOST_CHANNELS}: one stream has at most {float(share):.0%} of the rate"
            )
        return min(needed, MOST_CHANNELS)


def _parameters(rows: Mapping[str, tuple[object, str]]) -> dict[str, object]:
    return {key: {"value": value, "source": source} for key, (value, source) in rows.items()}


def _of(content: dict[str, object], base: str) -> dict[str, object]:
    """A machine file's content, with sources that name the machine.

    The sources' claims and ranges belong to that machine, and are left out.
    """
    found: dict[str, object] = {}
    for key, each in content.items():
        if isinstance(each, dict) and "value" in each:
            found[key] = {"value": each["value"], "source": f"{base}: {each.get('source', '')}"}
        else:
            found[key] = _of(each, base) if isinstance(each, dict) else each
    return found
