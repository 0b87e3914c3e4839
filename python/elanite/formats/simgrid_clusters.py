"""SimGrid's clusters: a ``<cluster>`` with its hosts, links and topology; see ``simgrid``."""

from __future__ import annotations

import itertools
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from elanite.formats import quantities
from elanite.formats.network import MOST_CABLES, MOST_NODES, Cable, Network, fail

if TYPE_CHECKING:
    from fractions import Fraction
    from pathlib import Path

    from elanite.formats.xml import Element

Link = tuple["Fraction | None", "int | None"]


@dataclass(frozen=True)
class ShapedCluster:
    """A cluster with a topology."""

    name: str
    hosts: list[str]
    link: Link
    """Each cable's rate and delay."""
    shapes: list[list[int]]
    """The lists in ``topo_parameters``."""
    file: Path
    line: int

    def cable(self, one: str, other: str) -> Cable:
        """A cable between two elements."""
        return Cable(one, other, *self.link, self.line)

    def refuse(self, message: str) -> NoReturn:
        """Raise ``UsageError`` with the cluster's place."""
        fail(self.file, self.line, message)


def given(element: Element, key: str, file: Path) -> str:
    """An attribute that an element must have. Raises ``UsageError``."""
    value = element.attributes.get(key, "").strip()
    if not value:
        fail(file, element.line, f"`{element.name}` has no {key}")
    return value


def linked(element: Element, rate: str, delay: str, file: Path) -> Link:
    """The rate and the delay in two attributes. Raises ``UsageError``."""
    fast = quantities.rate(given(element, rate, file))
    if fast is None:
        # Without a unit, SimGrid means bytes in a second.
        plain = quantities.number(element.attributes[rate])
        fast = quantities.gigabits(plain * 8 / 10**9) if plain else None
    if fast is None:
        fail(
            file,
            element.line,
            f'{rate}="{element.attributes[rate]}" is not a rate: write for example 125MBps',
        )
    text = element.attributes.get(delay, "0s")
    long = quantities.time(text)
    if long is None:
        fail(file, element.line, f'{delay}="{text}" is not a time: write for example 50us')
    return fast, long


def numbered(network: Network, element: Element, file: Path) -> list[str]:
    """Add the hosts of a cluster or a cabinet; returns their names."""
    numbers = _radical(given(element, "radical", file), file, element.line)
    prefix, suffix = element.attributes.get("prefix", ""), element.attributes.get("suffix", "")
    hosts = [f"{prefix}{number}{suffix}" for number in numbers]
    for host in hosts:
        if host in network.nodes:
            fail(file, element.line, f"the name `{host}` is taken")
        network.nodes[host] = element.line
    return hosts


def backbone(element: Element, key: str, file: Path) -> int:
    """Half of a backbone's delay."""
    text = element.attributes.get(key, "0s")
    if (long := quantities.time(text)) is None:
        fail(file, element.line, f'{key}="{text}" is not a time: write for example 50us')
    return long // 2


def cluster(network: Network, cluster: Element, file: Path) -> str:
    """Add a cluster; returns the switch that leads outside, empty without one."""
    name = given(cluster, "id", file)
    hosts = numbered(network, cluster, file)
    link = linked(cluster, "bw", "lat", file)
    kind = cluster.attributes.get("topology", "FLAT").upper()
    shapes = [
        _whole_numbers(part, file, cluster.line)
        for part in cluster.attributes.get("topo_parameters", "").split(";")
        if part.strip()
    ]
    for key in ("limiter_link", "loopback_bw"):
        if key in cluster.attributes:
            network.notes.append(f"{key} of cluster {name} is left out")
    if kind == "FLAT":
        return _flat(network, cluster, name, hosts, link)
    makers = {"FAT_TREE": _fat_tree, "TORUS": _torus, "DRAGONFLY": _dragonfly}
    if kind not in makers:
        fail(
            file,
            cluster.line,
            f'topology="{kind}" is not known; allowed: FLAT, {", ".join(makers)}',
        )
    makers[kind](network, ShapedCluster(name, hosts, link, shapes, file, cluster.line))
    return ""


def _flat(network: Network, cluster: Element, name: str, hosts: list[str], link: Link) -> str:
    switch = cluster.attributes.get("router_id") or f"{name}.switch"
    network.switches[switch] = cluster.line
    network.cables += [Cable(host, switch, *link, cluster.line) for host in hosts]
    return switch


def _radical(text: str, file: Path, line: int) -> list[int]:
    found: list[int] = []
    for part in text.split(","):
        ends = re.fullmatch(r"\s*(\d{1,9})(?:\s*-\s*(\d{1,9}))?\s*", part)
        last = int(ends[2] or ends[1]) if ends else -1
        if (
            ends is None
            or not int(ends[1]) <= last < int(ends[1]) + MOST_NODES
            or len(found) > MOST_NODES
        ):
            fail(
                file, line, f'radical="{text[:60]}" is not a set of numbers: write for example 0-15'
            )
        found += range(int(ends[1]), last + 1)
    if len(set(found)) != len(found):
        fail(file, line, f'radical="{text[:60]}" has a number twice')
    return found


def _whole_numbers(part: str, file: Path, line: int) -> list[int]:
    if not re.fullmatch(r"\s*\d{1,6}(\s*,\s*\d{1,6})*\s*", part) or 0 in (
        found := [int(word) for word in part.split(",")]
    ):
        fail(file, line, f"topo_parameters: `{part.strip()}` is not a list of numbers from 1 on")
    return found


def _fits(shaped: ShapedCluster, count: int, cables: int) -> None:
    if count != len(shaped.hosts):
        shaped.refuse(
            f"topo_parameters give {count} hosts, and radical {len(shaped.hosts)}: make both equal"
        )
    if cables > MOST_CABLES:
        shaped.refuse(f"the topology has more than {MOST_CABLES:,} cables")


def _fat_tree(network: Network, shaped: ShapedCluster) -> None:
    if (
        len(shaped.shapes) != 4
        or len(shaped.shapes[0]) != 1
        or any(len(each) != shaped.shapes[0][0] for each in shaped.shapes[1:])
    ):
        shaped.refuse(
            "topo_parameters of a FAT_TREE are levels;down,...;up,...;cables,... with a number for"
            " each level",
        )
    (levels,), down, up, parallel = shaped.shapes
    # A level's elements: below it by the places that `down` counts, at it and above by those that
    # `up` counts.
    sizes = [math.prod(down[level:]) * math.prod(up[:level]) for level in range(levels + 1)]
    cables = sum(sizes[level] * up[level] * parallel[level] for level in range(levels))
    _fits(shaped, sizes[0], cables)
    if sum(sizes[1:]) > MOST_NODES:
        shaped.refuse("the tree has too many switches")

    def named(level: int, place: tuple[int, ...]) -> str:
        """The element with these digits, level 0 first: below `level` digits in `up`, then in
        `down`.
        """
        number = 0
        radix = [*up[:level], *down[level:]]
        for digit, base in zip(reversed(place), reversed(radix), strict=True):
            number = number * base + digit
        return shaped.hosts[number] if level == 0 else f"{shaped.name}.{level}.{number}"

    for level in range(levels):
        for place in itertools.product(*(range(base) for base in (*up[:level], *down[level:]))):
            for above in range(up[level]):
                upper = named(level + 1, (*place[:level], above, *place[level + 1 :]))
                network.switches.setdefault(upper, shaped.line)
                network.cables += [shaped.cable(named(level, place), upper)] * parallel[level]


def _torus(network: Network, shaped: ShapedCluster) -> None:
    if len(shaped.shapes) != 1:
        shaped.refuse("topo_parameters of a TORUS are x,y,...")
    (sizes,) = shaped.shapes
    _fits(shaped, math.prod(sizes), math.prod(sizes) * len(sizes))
    for number, host in enumerate(shaped.hosts):
        step = 1
        for size in sizes:
            place = number // step % size
            near = number + step if place < size - 1 else number - step * (size - 1)
            if size > 1:
                network.cables.append(shaped.cable(host, shaped.hosts[near]))
            step *= size
    network.notes.append("a host of a torus is a router in SimGrid; here it forwards")


def _dragonfly(network: Network, shaped: ShapedCluster) -> None:
    if [len(each) for each in shaped.shapes] != [2, 2, 2, 1]:
        shaped.refuse(
            "topo_parameters of a DRAGONFLY are groups,blue;chassis,black;routers,green;nodes",
        )
    (groups, blue), (chassis, black), (routers, green), (nodes,) = shaped.shapes
    own = chassis * routers
    total = groups * own
    cables = (
        len(shaped.hosts)
        + total * (routers * green + chassis * black) // 2
        + groups * groups * blue // 2
    )
    _fits(shaped, total * nodes, cables)
    if groups > max(own, 1) and groups > 1:
        shaped.refuse(f"{groups} groups need as many routers in each, which has {own}")

    def router(group: int, place: int) -> str:
        return f"{shaped.name}.{group}.{place}"

    for number, host in enumerate(shaped.hosts):
        seat = router(number // nodes // own, number // nodes % own)
        network.switches.setdefault(seat, shaped.line)
        network.cables.append(shaped.cable(host, seat))
    for group in range(groups):
        for one, other in itertools.combinations(range(own), 2):
            if one // routers == other // routers:
                network.cables += [shaped.cable(router(group, one), router(group, other))] * green
            elif one % routers == other % routers:
                network.cables += [shaped.cable(router(group, one), router(group, other))] * black
    for one, other in itertools.combinations(range(groups), 2):
        network.cables += [shaped.cable(router(one, other), router(other, one))] * blue
    network.notes.append(
        "the numbers behind groups, chassis and routers are parallel cables, each of the rate bw"
    )
