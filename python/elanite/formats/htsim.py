"""htsim's fat trees, as csg-htsim and the UEC branch read them.

A ``.topo`` states nodes, tiers and the hosts in a pod, and for each tier its switches' ports
downwards and upwards, the rate and the delay for the links below it, and the count of parallel
links (``Bundle``) to a switch below::

    Nodes 16
    Tiers 2
    Podsize 16
    Tier 0
    Downlink_speed_Gbps 100
    Radix_Down 4
    Radix_Up 2
    Downlink_Latency_ns 700
    ...

Ports decide the wiring. In a pod every tier 0 switch is joined to every tier 1 switch. The tier 1
switch at place p in its pod is joined to the tier 2 switches p, p + A, p + 2 A, ..., where a pod
has A tier 1 switches. Queues are left out: links are lossless here.

Source: ``fat_tree_topology.cpp`` in spcl/HTSIM.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TYPE_CHECKING

from elanite.formats.network import MOST_CABLES, MOST_NODES, Cable, Network, checked, fail
from elanite.formats.quantities import gigabits

if TYPE_CHECKING:
    from pathlib import Path

TOPOLOGY = "htsim topology (.topo)"

_HEADER = ("nodes", "tiers", "podsize")
_KEYS = (
    "downlink_speed_gbps",
    "radix_down",
    "radix_up",
    "downlink_latency_ns",
    "switch_latency_ns",
    "bundle",
    "oversubscribed",
    "queue_up",
    "queue_down",
)

Values = dict[str, tuple[int, int]]
"""Key values, each with its line."""


def topology(text: str, file: Path) -> Network:
    """Read a topology. Raises ``UsageError``."""
    header, tiers = _read(text, file)
    network = Network(TOPOLOGY)
    nodes, count, pod = (_needed(header, key, file, "the header") for key in _HEADER)
    line = header["nodes"][1]
    if nodes > MOST_NODES:
        fail(file, line, f"{nodes:,} nodes are more than {MOST_NODES:,}")
    if count not in (2, 3):
        fail(file, header["tiers"][1], f"{count} tiers: htsim has 2 or 3")
    if nodes % pod or (count == 2 and nodes != pod):
        fail(
            file,
            header["podsize"][1],
            f"{pod} hosts of a pod do not divide {nodes} nodes, or are not all of 2 tiers",
        )
    for number in range(count):
        if number not in tiers:
            fail(file, None, f"tier {number} is missing: add `Tier {number}` and its keys")
    down = [_needed(tiers[number], "radix_down", file, f"tier {number}") for number in range(count)]
    up = [_needed(tiers[number], "radix_up", file, f"tier {number}") for number in range(count - 1)]
    bundle = [tiers[number].get("bundle", (1, 0))[0] for number in range(count)]
    links = []
    for number in range(count):
        values = tiers[number]
        rate = gigabits(Fraction(_needed(values, "downlink_speed_gbps", file, f"tier {number}")))
        if rate is None:
            fail(file, values["downlink_speed_gbps"][1], "no link is as fast as that: write Gb/s")
        delay = values["downlink_latency_ns"][0] * 1000 if "downlink_latency_ns" in values else None
        links.append((rate, delay))
    _wire(network, file, (nodes, pod), down, up, bundle, links, tiers)
    _notes(network, tiers, count)
    return checked(network, file)


def _read(text: str, file: Path) -> tuple[Values, dict[int, Values]]:
    header: Values = {}
    tiers: dict[int, Values] = {}
    here: Values | None = None
    for line, written in enumerate(text.splitlines(), 1):
        words = written.split()
        if not words or words[0].startswith("#"):
            continue
        key = words[0].lower()
        if len(words) < 2 or not re.fullmatch(r"\d{1,12}", words[1]):
            fail(file, line, f"`{written.strip()[:60]}`: a whole number is needed behind the key")
        value = int(words[1])
        if key == "tier":
            if value in tiers or value > 2:
                fail(file, line, f"tier {value} comes twice, or is none of 0, 1 and 2")
            here = tiers.setdefault(value, {})
            continue
        allowed = _HEADER if here is None else _KEYS
        if key not in allowed:
            fail(
                file,
                line,
                f"`{words[0]}` is not a key here; allowed: {', '.join((*allowed, 'tier'))}",
            )
        section = header if here is None else here
        if key in section:
            fail(file, line, f"`{words[0]}` comes twice: line {section[key][1]} has it")
        section[key] = (value, line)
    return header, tiers


def _needed(values: Values, key: str, file: Path, place: str) -> int:
    if key not in values:
        fail(file, None, f"`{key}` is missing in {place}")
    if values[key][0] < 1:
        fail(file, values[key][1], f"`{key}` is 0: write 1 or more")
    return values[key][0]


def _wire(
    network: Network,
    file: Path,
    size: tuple[int, int],
    down: list[int],
    up: list[int],
    bundle: list[int],
    links: list[tuple[Fraction, int | None]],
    tiers: dict[int, Values],
) -> None:
    nodes, pod = size
    line = tiers[0]["radix_down"][1]
    if pod % down[0]:
        fail(file, line, f"{down[0]} ports downwards do not divide the {pod} hosts of a pod")
    if bundle[0] != 1:
        fail(
            file,
            tiers[0]["bundle"][1],
            "hosts with several cables are not known to htsim: leave the bundle out",
        )
    leaves, pods = pod // down[0], nodes // pod
    middle = _uplinks(file, tiers, 0, up[0], bundle[1])
    if leaves * up[0] != middle * down[1]:
        message = (
            f"the {leaves} switches of tier 0 in a pod have {leaves * up[0]} ports upwards, and the"
            f" {middle} of tier 1 {middle * down[1]} downwards: radix_up, radix_down and bundle"
            " contradict each other"
        )
        fail(file, tiers[1]["radix_down"][1], message)
    made = nodes + pods * leaves * up[0] * (1 + (up[1] if len(down) == 3 else 0))
    if made > MOST_CABLES:
        fail(file, line, f"the tree has more than {MOST_CABLES:,} cables")
    for host in range(nodes):
        network.nodes[f"host{host}"] = None
        network.switches.setdefault(f"tor{host // down[0]}", line)
        network.cables.append(Cable(f"host{host}", f"tor{host // down[0]}", *links[0], line))
    line = tiers[1]["radix_down"][1]
    for leaf in range(pods * leaves):
        for place in range(middle):
            agg = f"agg{leaf // leaves * middle + place}"
            network.switches.setdefault(agg, line)
            network.cables += [Cable(f"tor{leaf}", agg, *links[1], line)] * bundle[1]
    if len(down) == 3:
        _core(network, file, pods, middle, down[2], up[1], bundle[2], links[2], tiers)


def _uplinks(file: Path, tiers: dict[int, Values], tier: int, up: int, bundle: int) -> int:
    """The count of next-tier switches that a switch is joined to."""
    if up % bundle:
        fail(
            file,
            tiers[tier]["radix_up"][1],
            f"bundles of {bundle} links do not divide {up} ports upwards",
        )
    return up // bundle


def _core(
    network: Network,
    file: Path,
    pods: int,
    middle: int,
    down: int,
    up: int,
    bundle: int,
    link: tuple[Fraction, int | None],
    tiers: dict[int, Values],
) -> None:
    line = tiers[2]["radix_down"][1]
    above = _uplinks(file, tiers, 1, up, bundle)
    if pods * bundle != down:
        message = (
            f"{pods} pods with bundles of {bundle} links need {pods * bundle} ports downwards of a"
            f" switch of tier 2, and radix_down is {down}"
        )
        fail(file, line, message)
    for agg in range(pods * middle):
        for number in range(above):
            core = f"core{agg % middle + middle * number}"
            network.switches.setdefault(core, line)
            network.cables += [Cable(f"agg{agg}", core, *link, line)] * bundle


def _notes(network: Network, tiers: dict[int, Values], count: int) -> None:
    if any(key in values for values in tiers.values() for key in ("queue_up", "queue_down")):
        network.notes.append(
            "queues are left out: links are lossless, and a packet waits where it is"
        )
    delays = {values.get("switch_latency_ns", (0, 0))[0] for values in list(tiers.values())[:count]}
    if delays != {0}:
        network.switch_delay = max(delays) * 1000
        if len(delays) > 1:
            network.notes.append(
                f"the tiers have switches of several delays: all have the longest, {max(delays)} ns"
            )
    for number, values in tiers.items():
        stated = values.get("oversubscribed")
        if stated and number < count - 1:
            below, above = values["radix_down"][0], values["radix_up"][0]
            if below != above * stated[0]:
                network.notes.append(
                    f"tier {number}: `Oversubscribed {stated[0]}` (line {stated[1]}) contradicts"
                    f" {below} ports down and {above} up; the ports decide"
                )
