"""The cables behind SimGrid's routes.

A ``<route>`` lists the links between two ends, in their order, and a platform states no other
wiring. A link is one cable, however many routes contain it: its neighbours in the routes, which are
links and ends, are on two sides, opposite ones in each route. Ends of links that follow each other
in a route meet in a switch, or at the host or router where a route begins. Two exceptions:

- a link with neighbours that are on no two sides, such as one that three hosts use among each
  other, is a *medium*: it becomes a switch, and half of its delay is part of each cable there. Its
  rate, which all messages share in SimGrid, is that of the cables from hosts, and no limit for
  cables that have their own;
- two routes between the same ends in opposite directions with different links: the links pair by
  their places, and each pair is one cable.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from elanite.base.text import counted
from elanite.formats.network import Cable, Network, fail

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from fractions import Fraction
    from pathlib import Path

Token = tuple[str, str]
"""A neighbour in a route: ("end", a host's or a router's name), or ("link", its id)."""
Corner = tuple[str, str, int]
"""A place where cables meet: ("end", name, 0), ("side", link, 0 or 1) or ("hub", link, 0)."""
Sides = dict[Token, int]


class Link(NamedTuple):
    """A link of a platform."""

    rate: Fraction | None
    delay: int | None
    line: int
    fat: bool = False
    """Whether messages do not share its rate."""


class Route(NamedTuple):
    """A way between two ends: hosts and routers by their names."""

    ends: tuple[str, str]
    links: tuple[str, ...]
    line: int
    both: bool
    """Whether it holds for both directions."""


@dataclass
class _Joints:
    """The corners that are the same place (a forest of unions)."""

    above: dict[Corner, Corner] = field(default_factory=dict)

    def find(self, corner: Corner) -> Corner:
        """The corner that stands for this one's place."""
        while (up := self.above.setdefault(corner, corner)) != corner:
            self.above[corner] = self.above[up]
            corner = up
        return corner

    def join(self, one: Corner, other: Corner) -> None:
        """Make two corners one place; the first one's stands for it."""
        self.above[self.find(other)] = self.find(one)


def add(network: Network, routes: Sequence[Route], links: Mapping[str, Link], file: Path) -> None:
    """Add the routes' cables, and the switches where they meet. Raises ``UsageError``."""
    for route in routes:
        for link in route.links:
            if link not in links:
                fail(file, route.line, f"there is no link `{link}`")
        if not route.links:
            fail(file, route.line, f"the route from `{route.ends[0]}` has no link")
    beside = _neighbours(routes, _opposite(routes, links, network))
    sides = {link: _sides(pairs) for link, pairs in beside.items()}
    joints = _Joints()
    for link, pairs in beside.items():
        for token in dict.fromkeys(token for pair in pairs for token in pair):
            near = _corner(link, sides, token)
            if token[0] == "link":
                joints.join(near, _corner(token[1], sides, ("link", link)))
            elif near[0] == "side":
                joints.join(("end", token[1], 0), near)
    media = [link for link, found in sides.items() if found is None]
    halves: dict[Corner, int] = {}
    for link in media:
        hub = joints.find(("hub", link, 0))
        halves[hub] = halves.get(hub, 0) + (links[link].delay or 0) // 2
    names = _named(joints, sides, network)
    for link, pairs in beside.items():
        rate, delay, line, _ = links[link]
        if sides[link] is None:
            hub = joints.find(("hub", link, 0))
            ends = dict.fromkeys(token for pair in pairs for token in pair)
            network.cables += [
                Cable(end, names[hub], rate, halves[hub], line)
                for kind, end in ends
                if kind == "end"
            ]
            continue
        corners = [joints.find(("side", link, side)) for side in (0, 1)]
        if corners[0] == corners[1]:
            fail(
                file,
                line,
                f"the routes give link `{link}` no two ends: no cabling has all these ways; give"
                " routers, and a route of one link between neighbours",
            )
        total = None if delay is None else delay + sum(halves.get(each, 0) for each in corners)
        network.cables.append(Cable(names[corners[0]], names[corners[1]], rate, total, line))
    _seats(network, joints, names, sides, links)
    if shared := [link for link in media if not links[link].fat]:
        network.notes.append(
            f"{counted(len(shared), 'link')} between more than two places ({', '.join(shared[:4])}"
            f"{', ...' if shared[4:] else ''}): a medium whose rate all messages share; here a"
            " switch without this limit"
        )


def _opposite(
    routes: Sequence[Route], links: Mapping[str, Link], network: Network
) -> dict[str, str]:
    """By link: the one in the other direction that is the same cable."""
    same: dict[str, str] = {}
    ways = {route.ends: route for route in routes}
    unlike = 0
    for route in routes:
        back = ways.get((route.ends[1], route.ends[0]))
        if back is None or len(back.links) != len(route.links) or (route.both and back.both):
            continue
        for one, other in zip(route.links, reversed(back.links), strict=True):
            if one != other and not {one, other} & (same.keys() | set(same.values())):
                same[other] = one
                unlike += links[one][:2] != links[other][:2]
    if unlike:
        network.notes.append(
            f"{counted(unlike, 'cable')} with another rate or delay in each direction: both have"
            " the first one's"
        )
    return same


def _neighbours(
    routes: Sequence[Route], same: Mapping[str, str]
) -> dict[str, list[tuple[Token, Token]]]:
    """By link: its neighbours in each route, before it and behind it."""
    beside: dict[str, list[tuple[Token, Token]]] = {}
    for route in routes:
        tokens: list[Token] = [("link", same.get(link, link)) for link in route.links]
        tokens = [("end", route.ends[0]), *tokens, ("end", route.ends[1])]
        for before, (_, link), behind in zip(tokens, tokens[1:], tokens[2:], strict=False):
            beside.setdefault(link, []).append((before, behind))
    return beside


def _sides(pairs: list[tuple[Token, Token]]) -> Sides | None:
    """By neighbour: its side of the link, 0 or 1; `None` if they are on no two sides."""
    near: dict[Token, list[Token]] = {}
    for before, behind in pairs:
        near.setdefault(before, []).append(behind)
        near.setdefault(behind, []).append(before)
    found: Sides = {}
    for pair in pairs:
        for side, token in enumerate(pair):
            rest = [] if token in found else [token]
            found.setdefault(token, side)
            while rest:
                at = rest.pop()
                for other in near.pop(at, ()):
                    if found.setdefault(other, 1 - found[at]) == found[at]:
                        return None
                    rest.append(other)
    return found


def _corner(link: str, sides: Mapping[str, Sides | None], token: Token) -> Corner:
    """The place at which a link meets a neighbour."""
    found = sides[link]
    return ("hub", link, 0) if found is None else ("side", link, found[token])


def _named(
    joints: _Joints, sides: Mapping[str, Sides | None], network: Network
) -> dict[Corner, str]:
    """The names of all places: a host's, a router's, or a new switch's."""
    names: dict[Corner, str] = {}
    ends: dict[Corner, list[str]] = {}
    for kind, name, _ in list(joints.above):
        if kind == "end":
            ends.setdefault(joints.find((kind, name, 0)), []).append(name)
    for link, found in sides.items():
        for kind, side in (("hub", 0),) if found is None else (("side", 0), ("side", 1)):
            place = joints.find((kind, link, side))
            if place in names:
                continue
            if len(own := ends.get(place, [])) == 1:
                names[place] = own[0]
                continue
            base = name = link if kind == "hub" else f"{link}.{side}"
            for number in itertools.count(2):
                if name not in network.switches and name not in network.nodes:
                    break
                name = f"{base}-{number}"
            names[place] = name
            network.switches[name] = None
    return names


def _seats(
    network: Network,
    joints: _Joints,
    names: Mapping[Corner, str],
    sides: Mapping[str, Sides | None],
    links: Mapping[str, Link],
) -> None:
    """Join the ends that share a link's side to the switch there, by the fastest link's rate."""
    fastest: dict[Corner, Fraction] = {}
    for link in sides:
        for side in (0, 1):
            place = joints.find(("side", link, side))
            if (rate := links[link].rate) is not None:
                fastest[place] = max(rate, fastest.get(place, rate))
    for kind, name, _ in [corner for corner in joints.above if corner[0] == "end"]:
        place = joints.find((kind, name, 0))
        if names[place] != name:
            network.cables.append(Cable(name, names[place], fastest.get(place), 0))
