"""SimGrid's clusters: a ``<cluster>`` with its hosts, links and topology; see ``simgrid``."""

from __future__ import annotations

import itertools
import math
import re
from typing import TYPE_CHECKING

from elanite.formats import quantities
from elanite.formats.network import MOST_CABLES, MOST_NODES, Cable, Network, fail

if TYPE_CHECKING:
    from fractions import Fraction
    from pathlib import Path

    from elanite.formats.xml import Element

Link = tuple["Fraction | None", "int | None"]


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
    if kind == "FLAT":
        return _flat(network, cluster, name, hosts, link)
    makers = {"FAT_TREE": _fat_tree, "TORUS": _torus, "DRAGONFLY": _dragonfly}
    if kind not in makers:
        fail(
            file,
            cluster.line,
            f'topology="{kind}" is not known; allowed: FLAT, {", ".join(makers)}',
        )
    makers[kind](network, name, hosts, link, shapes, file, cluster.line)
    for key in ("limiter_link", "loopback_bw"):
        if key in cluster.attributes:
            network.notes.append(f"{key} of cluster {name} is left out")
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


def _fits(count: int, hosts: list[str], cables: int, file: Path, line: int) -> None:
    if count != len(hosts):
        fail(
            file,
            line,
            f"topo_parameters give {count} hosts, and radical {len(hosts)}: make both equal",
        )
    if cables > MOST_CABLES:
        fail(file, line, f"the topology has more than {MOST_CABLES:,} cables")


def _fat_tree(
    network: Network,
    name: str,
    hosts: list[str],
    link: Link,
    shapes: list[list[int]],
    file: Path,
    line: int,
) -> None:
    if (
        len(shapes) != 4
        or len(shapes[0]) != 1
        or any(len(each) != shapes[0][0] for each in shapes[1:])
    ):
        fail(
            file,
            line,
            "topo_parameters of a FAT_TREE are levels;down,...;up,...;cables,... with a number for"
            " each level",
        )
    (levels,), down, up, parallel = shapes
    # A level's elements: below it by the places that `down` counts, at it and above by those that
    # `up` counts.
    sizes = [math.prod(down[level:]) * math.prod(up[:level]) for level in range(levels + 1)]
    cables = sum(sizes[level] * up[level] * parallel[level] for level in range(levels))
    _fits(sizes[0], hosts, cables, file, line)
    if sum(sizes[1:]) > MOST_NODES:
        fail(file, line, "the tree has too many switches")

    def named(level: int, place: tuple[int, ...]) -> str:
        """The element with these digits, level 0 first: below `level` digits in `up`, then in
        `down`.
        """
        number = 0
        radix = [*up[:level], *down[level:]]
        for digit, base in zip(reversed(place), reversed(radix), strict=True):
            number = number * base + digit
        return hosts[number] if level == 0 else f"{name}.{level}.{number}"

    for level in range(levels):
        for place in itertools.product(*(range(base) for base in (*up[:level], *down[level:]))):
            for above in range(up[level]):
                upper = named(level + 1, (*place[:level], above, *place[level + 1 :]))
                network.switches.setdefault(upper, line)
                network.cables += [Cable(named(level, place), upper, *link, line)] * parallel[level]


def _torus(
    network: Network,
    name: str,  # noqa: ARG001 - the other topologies name their switches by it
    hosts: list[str],
    link: Link,
    shapes: list[list[int]],
    file: Path,
    line: int,
) -> None:
    if len(shapes) != 1:
        fail(file, line, "topo_parameters of a TORUS are x,y,...")
    (sizes,) = shapes
    _fits(math.prod(sizes), hosts, math.prod(sizes) * len(sizes), file, line)
    for number, host in enumerate(hosts):
        step = 1
        for size in sizes:
            place = number // step % size
            near = number + step if place < size - 1 else number - step * (size - 1)
            if size > 1:
                network.cables.append(Cable(host, hosts[near], *link, line))
            step *= size
    network.notes.append("a host of a torus is a router in SimGrid; here it forwards")


def _dragonfly(
    network: Network,
    name: str,
    hosts: list[str],
    link: Link,
    shapes: list[list[int]],
    file: Path,
    line: int,
) -> None:
    if [len(each) for each in shapes] != [2, 2, 2, 1]:
        fail(
            file,
            line,
            "topo_parameters of a DRAGONFLY are groups,blue;chassis,black;routers,green;nodes",
        )
    (groups, blue), (chassis, black), (routers, green), (nodes,) = shapes
    own = chassis * routers
    total = groups * own
    cables = (
        len(hosts) + total * (routers * green + chassis * black) // 2 + groups * groups * blue // 2
    )
    _fits(total * nodes, hosts, cables, file, line)
    if groups > max(own, 1) and groups > 1:
        fail(file, line, f"{groups} groups need as many routers in each, which has {own}")

    def router(group: int, place: int) -> str:
        return f"{name}.{group}.{place}"

    for number, host in enumerate(hosts):
        seat = router(number // nodes // own, number // nodes % own)
        network.switches.setdefault(seat, line)
        network.cables.append(Cable(host, seat, *link, line))
    for group in range(groups):
        for one, other in itertools.combinations(range(own), 2):
            if one // routers == other // routers:
                network.cables += [
                    Cable(router(group, one), router(group, other), *link, line)
                ] * green
            elif one % routers == other % routers:
                network.cables += [
                    Cable(router(group, one), router(group, other), *link, line)
                ] * black
    for one, other in itertools.combinations(range(groups), 2):
        network.cables += [Cable(router(one, other), router(other, one), *link, line)] * blue
    network.notes.append(
        "the numbers behind groups, chassis and routers are parallel cables, each of the rate bw"
    )
