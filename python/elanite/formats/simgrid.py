"""SimGrid platforms in XML.

A ``<cluster>`` has a host ``prefix`` + number + ``suffix`` for each number in ``radical``, links
with ``bw`` and ``lat``, and a topology: flat (all hosts at one switch), FAT_TREE, TORUS or
DRAGONFLY, with these ``topo_parameters``:

- FAT_TREE ``levels;down,...;up,...;cables,...``: for each level the elements below a switch, the
  switches above an element, and the cables between the two (a parallel-ports generalised fat tree);
- TORUS ``x,y,...``: a host is a torus router; here it forwards;
- DRAGONFLY ``groups,blue;chassis,black;routers,green;nodes``: green cables join all routers in a
  chassis, black ones the routers at one place in all of a group's chassis, blue ones router j in
  group i and router i in group j.

A zone with ``routing="Cluster"`` has hosts with a ``<host_link>`` each, cabinets, which are lists
of such hosts, and a router. Outside clusters, cables follow from the links in the routes
(``simgrid_routes``). Bypass routes and loopbacks are left out. Rates are from SimGrid's model,
which reaches 97% of them; a link has its rate in each direction, which SimGrid's default policy,
SHARED, divides between both.

A backbone (``bb_bw``, ``<backbone>``) is a medium that all messages share: its delay is divided
between the cables at the cluster's switch, and its rate is no limit here.

Source: the SimGrid 3.36 manual and ``FatTreeZone.cpp``, ``TorusZone.cpp``, ``DragonflyZone.cpp``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from elanite.base.text import counted
from elanite.formats import simgrid_routes
from elanite.formats.network import Cable, Network, checked, fail
from elanite.formats.simgrid_clusters import backbone, cluster, given, linked, numbered
from elanite.formats.simgrid_routes import Link, Route
from elanite.formats.xml import Element, parsed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NAME = "SimGrid platform"

_PROFILES = ("bandwidth_file", "latency_file", "state_file")
_LINK_PROFILES = ("LINK_AVAIL", "BANDWIDTH", "LATENCY")


def read(text: str, file: Path) -> Network:
    """Read a platform. Raises ``UsageError``."""
    root = parsed(text, file, "a platform of SimGrid")
    return checked(_Platform(file).read(root), file)


class _Platform:
    """A platform's parts."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.network = Network(NAME)
        self.links: dict[str, Link] = {}
        self.routes: list[Element] = []
        self.gates: dict[str, str] = {}
        """By cluster, and by its router's name in SimGrid: its switch."""
        self.media: dict[str, int] = {}
        """By switch: half of its backbone's delay."""
        self.backbones: list[str] = []
        self.bypasses = 0
        self.profiles = 0
        """Links whose rate, delay or state changes with time."""

    def read(self, root: Element) -> Network:
        """The network in a document."""
        for each in _below(root):
            match each.name:
                case "cluster":
                    self._cluster(each)
                case "zone" | "AS" if each.attributes.get("routing", "").lower() == "cluster":
                    self._hosts(each)
                case "zone" | "AS" if each.attributes.get("routing", "").lower() == "vivaldi":
                    fail(
                        self.file,
                        each.line,
                        "a zone with the routing Vivaldi has coordinates in place of links: give"
                        " its inner zones, or routes",
                    )
                case "host":
                    self._add(self.network.nodes, each)
                case "router":
                    self._add(self.network.switches, each)
                case "link":
                    fat = each.attributes.get("sharing_policy", "").upper() == "FATPIPE"
                    made = linked(each, "bandwidth", "latency", self.file)
                    self.links[given(each, "id", self.file)] = Link(*made, each.line, fat)
                    self.profiles += any(key in each.attributes for key in _PROFILES)
                case "route" | "zoneRoute" | "ASroute":
                    self.routes.append(each)
                case "bypassRoute" | "bypassZoneRoute" | "bypassASroute":
                    self.bypasses += 1
                case "trace_connect":
                    self.profiles += each.attributes.get("kind", "").upper() in _LINK_PROFILES
                case "actor" | "process":
                    fail(
                        self.file,
                        each.line,
                        f"`{each.name}` is a part of a deployment: give the platform, without"
                        " actors",
                    )
                case "peer" | "include":
                    fail(
                        self.file,
                        each.line,
                        f"`{each.name}` is not read: describe the network by clusters, or by"
                        " routes",
                    )
        self._route()
        self.network.cables = [self._through(each) for each in self.network.cables]
        if self.backbones:
            listed = ", ".join(self.backbones[:4]) + (", ..." if self.backbones[4:] else "")
            self.network.notes.append(
                f"{counted(len(self.backbones), 'backbone')} left out ({listed}): a medium that all"
                " messages share, and a switch has no such limit; its delay is in the cables there"
            )
        if self.profiles:
            self.network.notes.append(
                f"profiles of {counted(self.profiles, 'link')} left out: rates, delays and states"
                " are constant"
            )
        if self.bypasses:
            self.network.notes.append(f"{counted(self.bypasses, 'bypass route')} left out")
        return self.network

    def _add(self, to: dict[str, int | None], element: Element) -> str:
        name = given(element, "id", self.file)
        if name in self.network.nodes or name in self.network.switches:
            fail(self.file, element.line, f"the name `{name}` is taken")
        to[name] = element.line
        return name

    def _cluster(self, element: Element) -> None:
        switch = cluster(self.network, element, self.file)
        name, about = given(element, "id", self.file), element.attributes
        router = f"{about.get('prefix', '')}{name}_router{about.get('suffix', '')}"
        if switch:
            self.gates |= {name: switch, about.get("router_id", router): switch}
            if "bb_bw" in about:
                self.backbones.append(f"{about['bb_bw']} of {name}")
                self.media[switch] = backbone(element, "bb_lat", self.file)

    def _hosts(self, zone: Element) -> None:
        """Add the hosts in a zone with the routing "Cluster", each with a cable to its router."""
        network, file = self.network, self.file
        routers, name = zone.of("router"), given(zone, "id", file)
        switch = routers[0].attributes.get("id", "") if routers else f"{name}.switch"
        for each in zone.children:
            match each.name:
                case "cabinet":
                    made = linked(each, "bw", "lat", file)
                    for host in numbered(network, each, file):
                        network.cables.append(Cable(host, switch, *made, each.line))
                case "host_link":
                    up = given(each, "up", file)
                    found = self.links.get(up) or self.links.get(up.removesuffix("_UP"))
                    found = found or _own_link(zone, up, file)
                    if found is None:
                        fail(file, each.line, f"there is no link `{up}`")
                    host = given(each, "id", file)
                    network.cables.append(Cable(host, switch, *found[:2], each.line))
                case "backbone":
                    self.media[switch] = backbone(each, "latency", file)
                    self.backbones.append(f"{each.attributes.get('bandwidth', '')} of {name}")
        if not routers:
            network.switches[switch] = zone.line
        self.gates[name] = switch

    def _route(self) -> None:
        """Add the routes' cables."""
        found, loops = [], 0
        known: dict[tuple[str, str, bool], tuple[tuple[str, ...], int]] = {}
        for route in self.routes:
            about = route.attributes
            if about.get("src", "") == about.get("dst"):
                loops += 1
                continue
            used = tuple(each.attributes.get("id", "") for each in route.of("link_ctn"))
            both = about.get("symmetrical", "").lower() not in ("no", "false", "0")
            way = about.get("src", ""), about.get("dst", "")
            for (one, other), links in [(way, used), *([(way[::-1], used[::-1])] if both else ())]:
                key = one, other, route.name == "route"
                before, line = known.setdefault(key, (links, route.line))
                if before != links:
                    fail(
                        self.file,
                        route.line,
                        f"line {line} has another route from `{one}` to `{other}`: remove one; a"
                        ' route for one direction has symmetrical="no"',
                    )
            ends = (self._end(route, "src", "gw_src"), self._end(route, "dst", "gw_dst"))
            found.append(Route(ends, used, route.line, both))
        if loops:
            self.network.notes.append(f"{counted(loops, 'route')} from a host to itself left out")
        simgrid_routes.add(self.network, found, self.links, self.file)

    def _end(self, route: Element, end: str, gate: str) -> str:
        """A route's end: a host, a router, or a cluster's switch."""
        zone = route.name != "route"
        name = given(route, gate if zone and gate in route.attributes else end, self.file)
        if name in self.network.nodes or name in self.network.switches:
            return name
        return self.gates.get(name) or self.gates.get(route.attributes.get(end, ""), name)

    def _through(self, cable: Cable) -> Cable:
        """A cable with half of the delay of the media at its ends."""
        half = sum(self.media.get(end, 0) for end in (cable.one, cable.other))
        return replace(cable, delay=(cable.delay or 0) + half) if half else cable


def _own_link(zone: Element, name: str, file: Path) -> Link | None:
    """A link that stands behind its host in a zone."""
    for each in zone.of("link"):
        if each.attributes.get("id") in (name, name.removesuffix("_UP")):
            return Link(*linked(each, "bandwidth", "latency", file), each.line)
    return None


def _below(element: Element) -> Iterator[Element]:
    rest = [element]
    while rest:
        each = rest.pop()
        yield each
        if each.name != "cluster":
            rest += reversed(each.children)
