"""A network's drawing: the places of its nodes, switches and links, from the wiring alone.

Trees have a row for each level, with the nodes below. Tori and HyperX networks are grids; their
third and further dimensions are planes side by side. A link around the end of a ring is a stub at
both of its ends, and a link that passes switches of its row is an arc. Dragonflies and graphs are
rings of switches, group after group, with the nodes outside. The rails of a machine are networks of
their own with the same places.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict

from elanite import _core
from elanite.store import frame

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_RAIL = " of rail "
_DIGITS = 4
"""Digits of a place: finer than the pixels of a drawing at any zoom."""


class Spot(TypedDict):
    """A node's or switch's place, from 0 to 1."""

    name: str
    x: float
    y: float


class DrawnLink(TypedDict):
    """A link's ends by the places of their spots, null at empty positions; its name, rail, and
    form.

    The links of a ``group`` lead to the same place, or upwards from the same switch.
    """

    start: int | None
    end: int | None
    name: str
    group: int
    rail: int
    form: str


@dataclass(frozen=True)
class NetworkDrawing:
    """A network's drawing."""

    nodes: int
    rails: int
    spots: list[Spot]
    """One rail's nodes, and then its switches."""
    links: list[DrawnLink]
    """By link number, of all rails."""
    aspect: float | None
    """Height over width; `None` if the drawing may have any."""
    pitch: float
    """The distance of neighbouring switches, as a part of the width."""


@dataclass(frozen=True)
class _Switches:
    """One rail's switches by their names, with levels, and each node's switch."""

    levels: Mapping[str, int]
    seats: Mapping[int, str]

    def seated(self) -> Iterator[tuple[int, str, float]]:
        """Each node with its switch and its place beside this, from -0.5 to 0.5."""
        mates: dict[str, list[int]] = {}
        for node, switch in self.seats.items():
            mates.setdefault(switch, []).append(node)
        for switch, here in mates.items():
            for place, node in enumerate(sorted(here)):
                yield node, switch, (place + 0.5) / len(here) - 0.5


def network(point_json: str) -> NetworkDrawing:
    """The drawing of the network of a point's machine."""
    topology = json.loads(point_json)["machine"]["topology"]
    nodes = int(topology["nodes"]["value"])
    rows = list(frame(_core.wiring(point_json)).sort("link").iter_rows(named=True))
    levels: dict[str, int] = {}
    seats: dict[int, str] = {}
    for row in rows:
        (start, rail), (end, _) = _end_of_link(row["from"]), _end_of_link(row["to"])
        if rail:
            continue
        for name, level in ((start, row["level"]), (end, row["enters_level"])):
            if level is not None:
                levels.setdefault(name, level)
        node = _node(start)
        if node is not None and node < nodes:
            seats.setdefault(node, end)
    switches = _Switches(levels, seats)
    if "down" in topology:
        places, aspect, pitch = _tree(switches, nodes)
    elif "," in next(iter(levels)):
        places, aspect, pitch = _grid(switches)
    else:
        places, aspect, pitch = _ring(switches)
    order = [*(f"node {node}" for node in range(nodes)), *sorted(levels, key=_numbers)]
    index = {name: place for place, name in enumerate(order)}
    spots: list[Spot] = [
        {"name": name, "x": round(places[name][0], _DIGITS), "y": round(places[name][1], _DIGITS)}
        for name in order
    ]
    links: list[DrawnLink] = []
    groups: dict[tuple[str, str], int] = {}
    wraps = _wraps([(_end_of_link(row["from"])[0], _end_of_link(row["to"])[0]) for row in rows])
    for row in rows:
        (start, rail), (end, _) = _end_of_link(row["from"]), _end_of_link(row["to"])
        group = groups.setdefault((row["from"], "up" if row["up"] else row["to"]), len(groups))
        links.append(
            {
                "start": index.get(start),
                "end": index.get(end),
                "name": f"{row['from']} → {row['to']}",
                "group": group,
                "rail": rail,
                "form": _form(start, end, wraps=wraps),
            }
        )
    return NetworkDrawing(
        nodes, 1 + max(link["rail"] for link in links), spots, links, aspect, pitch
    )


def _end_of_link(end: str) -> tuple[str, int]:
    """A link's end without its rail, and the rail."""
    name, _, rail = end.partition(_RAIL)
    return name, int(rail or 0)


def _node(name: str) -> int | None:
    found = re.fullmatch(r"node (\d+)", name)
    return int(found[1]) if found else None


def _numbers(name: str) -> list[tuple[int, int | str]]:
    """A name's order: numbers by their value."""
    return [
        (0, int(part)) if part.isdigit() else (1, part) for part in re.split(r"(\d+)", name) if part
    ]


def _coordinates(name: str) -> list[int]:
    """A switch's coordinates."""
    return [int(part) for part in name.removeprefix("switch ").split(",")]


def _tree(
    switches: _Switches, nodes: int
) -> tuple[dict[str, tuple[float, float]], float | None, float]:
    top = max(switches.levels.values())
    places = {f"node {node}": ((node + 0.5) / nodes, 0.96) for node in range(nodes)}
    widest = 1
    for level in range(1, top + 1):
        row = sorted((name for name, of in switches.levels.items() if of == level), key=_numbers)
        widest = max(widest, len(row))
        places |= {
            name: ((place + 0.5) / len(row), 0.96 - 0.92 * level / top)
            for place, name in enumerate(row)
        }
    return places, None, 1 / widest


def _grid(switches: _Switches) -> tuple[dict[str, tuple[float, float]], float | None, float]:
    at = {name: _coordinates(name) for name in switches.levels}
    sides = [1 + max(each) for each in zip(*at.values(), strict=True)]
    columns, rows = sides[0], sides[1]
    planes = math.prod(sides[2:])
    across = math.ceil(math.sqrt(planes * rows / columns)) if planes > 1 else 1
    width = across * columns + 0.6 * (across - 1)
    down = -(-planes // across)
    height = down * rows + 0.6 * (down - 1)
    places: dict[str, tuple[float, float]] = {}
    for name, (x, y, *others) in at.items():
        plane = 0
        for side, other in zip(sides[2:], others, strict=True):
            plane = plane * side + other
        left, above = (columns + 0.6) * (plane % across), (rows + 0.6) * (plane // across)
        places[name] = ((left + x + 0.42) / width, (above + y + 0.42) / height)
    for node, switch, aside in switches.seated():
        x0, y0 = places[switch]
        places[f"node {node}"] = (
            x0 + (0.24 + 0.28 * aside) / width,
            y0 + (0.3 - 0.28 * aside) / height,
        )
    return places, height / width, 1 / width


def _ring(switches: _Switches) -> tuple[dict[str, tuple[float, float]], float | None, float]:
    """Switches in the order of their names; a name such as "3.1" is in the group 3."""
    names = sorted(switches.levels, key=_numbers)
    groups = [name.rpartition(".")[0] for name in names]
    gap = 1.2 if len(set(groups)) > 1 else 0.0
    angles: dict[str, float] = {}
    at = 0.0
    for place, name in enumerate(names):
        if place and groups[place] != groups[place - 1]:
            at += gap
        angles[name] = at
        at += 1
    steps = at + gap
    places: dict[str, tuple[float, float]] = {}

    def put(name: str, step: float, radius: float) -> None:
        angle = 2 * math.pi * step / steps - math.pi / 2
        places[name] = (0.5 + radius * math.cos(angle), 0.5 + radius * math.sin(angle))

    for name, step in angles.items():
        put(name, step, 0.42)
    for node, switch, aside in switches.seated():
        put(f"node {node}", angles[switch] + 0.8 * aside, 0.475)
    return places, 1.0, 2 * math.pi * 0.42 / steps


def _wraps(ends: Sequence[tuple[str, str]]) -> bool:
    """Whether the links of a grid that pass switches go around its ends, as in a torus."""
    between = [
        (_coordinates(start), _coordinates(end))
        for start, end in ends
        if "," in start and "," in end
    ]
    if not between:
        return False
    sides = [max(each) for each in zip(*(start for start, _ in between), strict=True)]
    steps = ([abs(a - b) for a, b in zip(start, end, strict=True)] for start, end in between)
    long = [step for step in steps if sum(step) > 1]
    return all(any(one == side for one, side in zip(step, sides, strict=True)) for step in long)


def _form(start: str, end: str, *, wraps: bool) -> str:
    if "," not in start or "," not in end:
        return "line"
    step = sum(abs(a - b) for a, b in zip(_coordinates(start), _coordinates(end), strict=True))
    if step <= 1:
        return "line"
    return "stub" if wraps else "arc"
