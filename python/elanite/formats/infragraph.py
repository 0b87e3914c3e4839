"""InfraGraph: infrastructures as YAML or JSON, and the graph that its service derives.

An infrastructure has devices (component graphs), their instances, and edges between instances'
components. A ``one2one`` edge joins components one by one, ``many2many`` each with each;
``nic[0:4]`` is a slice as in Python. The service's graph names every component
``instance.0.component.0`` and gives its type, in networkx's node-link form as YAML or JSON, or as
GraphML.

A device with a component of type xpu, nic or memory is a host, every other one a switch. Each host
component at an edge of the infrastructure is a node, so that a host with eight adapters is eight
nodes in a row. The links within a host (NVLink, PCIe) are left out, with a note. An infrastructure
without edges between instances is a scale-up network: its xpus are the nodes, and the links that
join them to each other and to switches its cables.

Source: the schema and the service in Keysight/infragraph.
"""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from elanite.base.text import counted
from elanite.formats import quantities
from elanite.formats.network import MOST_CABLES, Cable, Network, checked, fail, sort_key
from elanite.formats.yaml import LINE, loaded

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from fractions import Fraction
    from pathlib import Path

NAME = "InfraGraph"
HOST = ("xpu", "nic", "memory")
_RATES = {"gigabits_per_second": 1, "gigabytes_per_second": 8}
_TIMES = {"ms": 10**9, "us": 10**6, "ns": 1000}


class Edge(NamedTuple):
    """A link between two components."""

    one: str
    other: str
    rate: Fraction | None
    delay: int | None
    link: str
    line: int | None


@dataclass
class Components:
    """The graph with all instances' components."""

    types: dict[str, str] = field(default_factory=dict)
    edges: list[Edge] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def read(text: str, file: Path) -> Network:
    """Read an infrastructure, or the graph that the service derives. Raises ``UsageError``."""
    content = loaded(text, file)
    if not isinstance(content, dict):
        fail(file, 1, "an InfraGraph is a mapping with devices, instances and edges")
    inner = content.get("infrastructure", content.get("infragraph", content))
    content = inner if isinstance(inner, dict) else content
    components = _linked(content, file) if "nodes" in content else _Expansion(content, file).made()
    return network(components, file)


def network(components: Components, file: Path) -> Network:
    """The nodes, switches and cables in a component graph."""
    _merge(components)
    outside = [each for each in components.edges if _device(each.one) != _device(each.other)]
    made = _scale_out(components, outside, file) if outside else _scale_up(components, file)
    made.notes += components.notes
    return checked(made, file)


def _merge(components: Components) -> None:
    """Keep one edge between two components, with its last link, as the service's graph does."""
    found: dict[tuple[str, str], Edge] = {}
    unlike = 0
    for each in components.edges:
        ends = min(each.one, each.other), max(each.one, each.other)
        unlike += ends in found and found[ends][2:5] != each[2:5]
        found[ends] = each
    components.edges = list(found.values())
    if unlike:
        components.notes.append(
            f"{counted(unlike, 'edge')} between components that are joined already: the last link"
            " replaces the one before"
        )


def _device(name: str) -> str:
    return ".".join(name.split(".")[:2])


def _scale_out(components: Components, outside: list[Edge], file: Path) -> Network:
    made = Network(NAME)
    hosts = {
        _device(name)
        for name, kind in components.types.items()
        if kind in HOST or "nic" in kind.lower()
    }
    order: dict[str, int] = {}
    for name in components.types:
        order.setdefault(_device(name), len(order))
    ends = {end: each.line for each in outside for end in (each.one, each.other)}
    nodes = [end for end in ends if _device(end) in hosts]
    if not nodes:
        fail(
            file,
            None,
            f"no device is a host: a host has a component of the type {', '.join(HOST[:-1])} or"
            f" {HOST[-1]}",
        )
    for end in sorted(nodes, key=lambda each: (order.get(_device(each), 0), sort_key(each))):
        made.nodes[end] = ends[end]
    for end, line in ends.items():
        if end not in made.nodes:
            made.switches.setdefault(_device(end), line)
    names = {end: end if end in made.nodes else _device(end) for end in ends}
    made.cables = [
        Cable(names[each.one], names[each.other], each.rate, each.delay, each.line)
        for each in outside
    ]
    idle = [name for name, kind in components.types.items() if kind == "nic" and name not in ends]
    if idle and not any("port" in name.rsplit(".", 2)[-2] for name in nodes):
        made.notes.append(f"{counted(len(idle), 'adapter')} without a cable left out")
    if idle_switches := {_device(name) for name in components.types} - hosts - made.switches.keys():
        made.notes.append(
            f"{counted(len(idle_switches), 'switch', 'switches')} without a cable left out"
        )
    inside = Counter(
        each.link for each in components.edges if _device(each.one) == _device(each.other) in hosts
    )
    if inside:
        made.notes.append(
            f"left out: the links within a host ({', '.join(sorted(inside))}); an adapter is a node"
        )
    return made


def _scale_up(components: Components, file: Path) -> Network:
    made = Network(NAME)
    types = components.types
    joined = [
        each
        for each in components.edges
        if {types.get(each.one), types.get(each.other)} in ({"xpu"}, {"xpu", "switch"}, {"switch"})
    ]
    links = {each.link for each in joined if "xpu" in (types.get(each.one), types.get(each.other))}
    # PCIe joins accelerators to the host, not to each other.
    fast = {link for link in links if "pci" not in link.lower()} or links
    if not fast:
        fail(file, None, "no edge joins instances, and no link joins xpus: there is no network")
    for each in joined:
        if each.link in fast:
            for end in (each.one, each.other):
                (made.nodes if types[end] == "xpu" else made.switches).setdefault(end, each.line)
            made.cables.append(Cable(each.one, each.other, each.rate, each.delay, each.line))
    made.nodes = dict(sorted(made.nodes.items(), key=lambda each: sort_key(each[0])))
    made.notes.append(
        f"no edge joins instances: the xpus are the nodes, joined by {', '.join(sorted(fast))}"
    )
    return made


def _linked(content: dict[str, object], file: Path) -> Components:
    """The node-link form from networkx."""
    made = Components()
    for each in _listed(content, "nodes", file):
        name = each.get("id")
        if not isinstance(name, str):
            fail(file, _line(each), "a node has no id")
        made.types[name] = str(each.get("type", ""))
    for each in _listed(content, "edges" if "edges" in content else "links", file):
        ends = each.get("source"), each.get("target")
        for end in ends:
            if end not in made.types:
                fail(file, _line(each), f"there is no node `{end}`")
        made.edges.append(attributed(str(ends[0]), str(ends[1]), each, _line(each), file))
    return made


def attributed(one: str, other: str, data: dict[str, object], line: int | None, file: Path) -> Edge:
    """An edge with the data that the service gives it: link, bandwidth and latency as text."""
    given = {key: str(data[key]) for key in ("bandwidth", "latency") if data.get(key) is not None}
    fast = quantities.rate(given["bandwidth"]) if "bandwidth" in given else None
    long = quantities.time(given["latency"]) if "latency" in given else None
    for key, value in (("bandwidth", fast), ("latency", long)):
        if key in given and value is None and "GT/s" not in given[key]:
            fail(
                file,
                line,
                f"{key} `{given[key]}` is not understood: write for example 100 Gbps and 500 ns",
            )
    return Edge(one, other, fast, long, str(data.get("link", "")), line)


def _line(at: Mapping[str, object]) -> int | None:
    """A mapping's line, as far as it is known."""
    found = at.get(LINE)
    return found if isinstance(found, int) else None


def _listed(content: dict[str, object], key: str, file: Path) -> list[dict[str, object]]:
    """A list of mappings; empty without the key."""
    found = content.get(key) or []
    if isinstance(found, dict):
        message = (
            f"`{key}` is a mapping, as in files before version 1 of InfraGraph: write a list, in"
            " which every entry has its `name`"
        )
        fail(file, _line(found), message)
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        fail(file, _line(content), f"`{key}` is not a list of mappings")
    return found


class _Expansion:
    """An infrastructure's components and edges, written out."""

    def __init__(self, content: dict[str, object], file: Path) -> None:
        self.content, self.file = content, file
        known = (content, *_listed(content, "devices", file))
        if old := [each for each in known if "connections" in each]:
            fail(
                file,
                _line(old[-1]),
                "`connections` are of an InfraGraph before version 1: write edges with ep1 and ep2",
            )
        self.devices = {
            self._text(each, "name"): each for each in _listed(content, "devices", file)
        }
        self.counts: dict[str, dict[str, tuple[int, str]]] = {}
        for name, device in self.devices.items():
            parts = _listed(device, "components", file)
            self.counts[name] = {
                self._text(each, "name"): (self._count(each), self._type(each)) for each in parts
            }
        self.graph = Components()

    def made(self) -> Components:
        """Write out all instances, and the edges between them."""
        instances = {
            self._text(each, "name"): each for each in _listed(self.content, "instances", self.file)
        }
        if not instances:
            message = "there are no instances: list them with name, device and count"
            fail(self.file, _line(self.content), message)
        for name, instance in instances.items():
            device = self._device(self._text(instance, "device"), instance)
            for number in range(self._count(instance)):
                self._place(f"{name}.{number}", device, instance, 0)
        for edge in _listed(self.content, "edges", self.file):
            ends = []
            for key in ("ep1", "ep2"):
                end = self._mapping(edge, key)
                written = self._text(end, "instance")
                head = written.split("[")[0]
                if head not in instances:
                    fail(self.file, _line(end), f"there is no instance `{head}`")
                numbers = self._slice(written, self._count(instances[head]), end)
                device = self._device(self._text(instances[head], "device"), end)
                parts = self._parts(device, self._text(end, "component"), end)
                self._bound(len(numbers) * len(parts), end)
                ends.append([f"{head}.{number}.{part}" for number in numbers for part in parts])
            self._join(edge, ends[0], ends[1], _listed(self.content, "links", self.file))
        return self.graph

    def _place(self, prefix: str, device: str, at: dict[str, object], depth: int) -> None:
        """Add a device's components and edges; composed devices are parts with a device's name."""
        if depth > 8:
            fail(
                self.file,
                _line(at),
                f"device `{device}` contains itself, or devices within more than eight others",
            )
        for name, (count, kind) in self.counts[device].items():
            self._bound(len(self.graph.types) + count, at)
            for number in range(count):
                if kind == "device":
                    self._place(f"{prefix}.{name}.{number}", self._device(name, at), at, depth + 1)
                else:
                    self.graph.types[f"{prefix}.{name}.{number}"] = kind
        links = _listed(self.devices[device], "links", self.file)
        for edge in _listed(self.devices[device], "edges", self.file):
            ends = []
            for key in ("ep1", "ep2"):
                end = self._mapping(edge, key)
                within = f"{end['device']}." if isinstance(end.get("device"), str) else ""
                ends.append(
                    [
                        f"{prefix}.{part}"
                        for part in self._parts(device, within + self._text(end, "component"), end)
                    ]
                )
            self._join(edge, ends[0], ends[1], links)

    def _parts(self, device: str, written: str, at: dict[str, object]) -> list[str]:
        """The components that an end names: ``cx5[0:8].port[0]``."""
        found = [""]
        for word in written.split("."):
            name = word.split("[")[0]
            if name not in self.counts[device]:
                known = ", ".join(self.counts[device]) or "none"
                fail(
                    self.file,
                    _line(at),
                    f"device `{device}` has no component `{name}`; it has: {known}",
                )
            count, kind = self.counts[device][name]
            numbers = self._slice(word, count, at)
            self._bound(len(found) * len(numbers), at)
            found = [
                f"{each}{'.' if each else ''}{name}.{number}"
                for each in found
                for number in numbers
            ]
            device = name if kind == "device" and name in self.counts else device
        return found

    def _slice(self, written: str, count: int, at: dict[str, object]) -> range:
        found = re.fullmatch(
            r"[^\[\]]+(?:\[(?:(\d{1,9})|(\d{0,9}):(\d{0,9})(?::([1-9]\d{0,8}))?)\])?", written
        )
        if found is None:
            fail(
                self.file,
                _line(at),
                f"`{written}` is no name with a slice: write for example nic[0:4]",
            )
        one, start, stop, step = found.groups()
        if one is not None:
            start, stop = one, str(int(one) + 1)
        numbers = range(int(start or 0), int(stop) if stop else count, int(step or 1))
        if (numbers and numbers[-1] >= count) or not numbers:
            fail(self.file, _line(at), f"`{written}` names none, or more than there are: {count}")
        return numbers

    def _join(
        self,
        edge: dict[str, object],
        one: list[str],
        other: list[str],
        links: list[dict[str, object]],
    ) -> None:
        name = self._text(edge, "link")
        link = next((each for each in links if each.get("name") == name), None)
        if link is None:
            fail(self.file, _line(edge), f"there is no link `{name}`")
        rate = self._physical(link, "bandwidth", _RATES)
        delay = self._physical(link, "latency", _TIMES)
        fast = quantities.gigabits(rate) if rate is not None else None
        long = round(delay) if delay is not None else None
        if (rate is not None and fast is None) or (long or 0) > quantities.LONGEST:
            fail(self.file, _line(link), f"link `{name}` is beyond all links: correct its unit")
        match edge.get("scheme"):
            case "one2one":
                pairs: Iterator[tuple[str, str]] = zip(one, other, strict=False)
                said = (
                    f"line {_line(edge)}: one2one joins {len(one)} and {len(other)} components;"
                    " those without a partner are left out"
                )
                if len(one) != len(other) and said not in self.graph.notes:
                    self.graph.notes.append(said)
            case "many2many":
                self._bound(len(self.graph.edges) + math.prod((len(one), len(other))), edge)
                pairs = itertools.product(one, other)
            case scheme:
                fail(
                    self.file,
                    _line(edge),
                    f"the scheme `{scheme}` is not read; allowed: one2one, many2many",
                )
        for start, end in pairs:
            if start != end:
                self.graph.edges.append(Edge(start, end, fast, long, name, _line(edge)))
        self._bound(len(self.graph.edges), edge)

    def _physical(
        self, link: dict[str, object], key: str, units: dict[str, int]
    ) -> Fraction | None:
        inner = link.get("physical")
        about = (inner if isinstance(inner, dict) else link).get(key)
        if not isinstance(about, dict):
            return None
        unit = about.get("choice") or next((each for each in units if each in about), "")
        if unit not in units:
            return None  # transfers per second, without a stated width
        value = quantities.number(str(about.get(unit)))
        if value is None or (not value and units is _RATES):
            least = "no number above 0" if units is _RATES else "no number"
            fail(self.file, _line(about), f"{key}: `{about.get(unit)}` is {least}")
        return value * units[unit]

    def _mapping(self, at: dict[str, object], key: str) -> dict[str, object]:
        found = at.get(key)
        if not isinstance(found, dict):
            fail(self.file, _line(at), f"`{key}` is missing, or is no mapping")
        return found

    def _text(self, at: dict[str, object], key: str) -> str:
        found = at.get(key)
        if not isinstance(found, str) or not found:
            fail(self.file, _line(at), f"`{key}` is missing, or is no text")
        return found

    def _count(self, at: dict[str, object]) -> int:
        found = at.get("count", 1)
        if type(found) is not int or not 0 <= found <= MOST_CABLES:
            fail(self.file, _line(at), f"count: `{found}` is no number from 0 to {MOST_CABLES:,}")
        return found

    def _type(self, at: dict[str, object]) -> str:
        kind = at.get("choice", at.get("type", ""))
        custom = at.get("custom")
        return (
            str(custom.get("type", "custom"))
            if kind == "custom" and isinstance(custom, dict)
            else str(kind)
        )

    def _device(self, name: str, at: dict[str, object]) -> str:
        if name not in self.counts:
            fail(
                self.file,
                _line(at),
                f"there is no device `{name}`; there are: {', '.join(self.counts) or 'none'}",
            )
        return name

    def _bound(self, count: int, at: dict[str, object]) -> None:
        if count > MOST_CABLES:
            fail(
                self.file,
                _line(at),
                f"the infrastructure has more than {MOST_CABLES:,} components or edges",
            )
