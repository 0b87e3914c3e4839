"""The smallest network of a kind that holds the given nodes, from switches with a given port count.

"Smallest" is the fewest switches, then the fewest cables between them. Nodes stand at the first
positions; positions that are left over stay empty.

- *Fat tree*: the fewest levels, 1 to 3. Leaves have links down and up in the oversubscription's
  ratio; the levels above keep the full rate. All of a switch's up-links go to equally many parents.
- *Torus*: three dimensions, one node at a switch, the longest ring at most twice the shortest.
- *Dragonfly*: balanced, a = 2 p = 2 h (Kim, Dally, Scott and Abts, ISCA 2008), with three groups at
  least, for detours, and equally many links between every two groups. *Megafly*: the same with a =
  p = h.
- *HyperX*: two dimensions, or three; each row has at least two switches per node on a switch, so
  that a cut through the middle carries a half's traffic.
- *Slim Fly*, *PolarFly*: the smallest odd prime, with at most half as many nodes as links at a
  switch.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count, product
from math import ceil, gcd, prod
from typing import TYPE_CHECKING

from elanite.base.text import counted
from elanite.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Rows = dict[str, tuple[object, str]]
"""``[topology]`` keys, each with its value and its source."""

MOST_SWITCHES = 4096
"""Most switches in a graph."""


@dataclass(frozen=True)
class Shape:
    """A network."""

    kind: str
    rows: Rows
    levels: int
    """Link levels, which may each have a separate delay."""
    classes: int
    """Channel classes that end deadlocks."""
    switches: int
    cables: int
    """Cables between switches."""
    positions: int
    words: str
    """Its parts, as a sentence."""


@dataclass(frozen=True)
class Ratio:
    """A leaf's links down to nodes, and up."""

    down: int
    up: int

    @classmethod
    def of(cls, text: str) -> Ratio:
        """Read ``2:1``. Raises ``UsageError`` for another text."""
        down, colon, up = text.partition(":")
        if not (colon and down.isdecimal() and up.isdecimal() and len(text) < 10) or int(up) < 1:
            raise UsageError(
                f"--oversubscription {text}: this is not a ratio\n  write whole numbers, links down"
                " to links up of a leaf: 1:1, 2:1, 3:2"
            )
        if int(down) < int(up):
            raise UsageError(
                f"--oversubscription {text}: a leaf would have more links up than nodes\n  write"
                f" the links down first: {up}:{down}"
            )
        shared = gcd(int(down), int(up))
        return cls(int(down) // shared, int(up) // shared)

    def __str__(self) -> str:
        return f"{self.down}:{self.up}"


FULL = Ratio(1, 1)


def fat_tree(nodes: int, ports: int, ratio: Ratio = FULL) -> Shape:
    """A fat tree with a ratio of links down and up at its leaves."""
    if nodes <= ports:
        words = (
            f"one switch for {counted(nodes, 'node')}; without links up there is no"
            " oversubscription"
        )
        rows: Rows = {
            "down": ([nodes], f"one switch with {ports} ports holds all nodes"),
            "up": ([], "one switch"),
        }
        return Shape("fat-tree", rows, 1, 1, 1, 0, nodes, words)
    trees = list(_two_levels(nodes, ports, ratio)) or list(_three_levels(nodes, ports, ratio))
    if trees:
        return min(trees, key=lambda tree: (tree.switches, tree.cables, tree.positions))
    share = ports // (ratio.down + ratio.up)
    if not share:
        raise UsageError(
            f"--oversubscription {ratio}: a switch with {ports} ports has no room for {ratio.down}"
            f" links down and {ratio.up} up\n  give a smaller ratio, or --ports"
        )
    most = share * ratio.down * (ports // 2) * ports
    raise UsageError(
        f"--nodes {nodes}: three levels of switches with {ports} ports hold {most:,} nodes at"
        f" {ratio}\n  give fewer nodes, a larger oversubscription, or switches with more ports:"
        " --ports"
    )


def _leaves(nodes: int, ports: int, ratio: Ratio) -> Iterator[tuple[int, int, int]]:
    """A leaf's links down and up, and the leaf count."""
    for share in range(1, ports // (ratio.down + ratio.up) + 1):
        yield share * ratio.down, share * ratio.up, ceil(nodes / (share * ratio.down))


def _two_levels(nodes: int, ports: int, ratio: Ratio) -> Iterator[Shape]:
    for down, up, leaves in _leaves(nodes, ports, ratio):
        for spines in _divisors(up):
            parallel = up // spines
            if leaves < 2 or leaves * parallel > ports:
                continue
            rows: Rows = {
                "down": (
                    [down, leaves],
                    f"{leaves} leaves, the fewest of {ports} ports that hold all nodes",
                ),
                "up": ([up], f"--oversubscription {ratio}: {down} links down and {up} up"),
                "parallel": (
                    [parallel],
                    f"{counted(spines, 'spine')}, the fewest with room for the links of all leaves",
                ),
            }
            words = (
                f"{leaves} leaves with {down} positions and {counted(up, 'link')} up ({ratio}),"
                f" {counted(spines, 'spine')} with {counted(leaves * parallel, 'link')} down"
            )
            yield Shape("fat-tree", rows, 2, 1, leaves + spines, leaves * up, leaves * down, words)


def _three_levels(nodes: int, ports: int, ratio: Ratio) -> Iterator[Shape]:
    for down, up, leaves in _leaves(nodes, ports, ratio):
        for middles in _divisors(up):
            parallel = up // middles
            widest = ports // 2 // parallel
            if not widest or (pods := ceil(leaves / widest)) < 2:
                continue
            pod = ceil(leaves / pods)
            higher = pod * parallel
            for tops in _divisors(higher):
                second = higher // tops
                if pods * second > ports:
                    continue
                rows: Rows = {
                    "down": (
                        [down, pod, pods],
                        f"{pods} pods of {pod} leaves, the fewest of {ports} ports",
                    ),
                    "up": (
                        [up, higher],
                        f"--oversubscription {ratio} at the leaves; the level above loses nothing",
                    ),
                    "parallel": (
                        [parallel, second],
                        "the fewest switches with room for these links",
                    ),
                }
                words = (
                    f"{pods} pods of {pod} leaves with {down} positions and {counted(up, 'link')}"
                    f" up ({ratio}) and {counted(middles, 'middle switch', 'middle switches')} with"
                    f" {counted(higher, 'link')} up;"
                    f" {counted(middles * tops, 'top switch', 'top switches')}"
                )
                switches = pods * (pod + middles) + middles * tops
                cables = pods * pod * up + pods * middles * higher
                yield Shape("fat-tree", rows, 3, 1, switches, cables, pods * pod * down, words)


def _divisors(number: int) -> list[int]:
    return [each for each in range(1, number + 1) if number % each == 0]


def torus(nodes: int, ports: int) -> Shape:
    """A three-dimensional torus."""
    _room("a torus of three dimensions", 7, ports)
    sides = min(
        (
            (x, y, z)
            for x in range(2, max(3, ceil(nodes ** (1 / 3)) + 1))
            for y in range(x, 2 * x + 1)
            for z in [max(y, ceil(nodes / (x * y)))]
            if z <= 2 * x
        ),
        key=lambda sides: (prod(sides), sum(sides)),
    )
    size = prod(sides)
    # Routes use one of the two cables in a ring of two.
    cables = sum(size if side > 2 else size // 2 for side in sides)
    words = f"a torus of {' x '.join(map(str, sides))} switches with a node each"
    rows: Rows = {
        "dimensions": (
            list(sides),
            "the fewest switches, with the longest ring at most twice the shortest",
        )
    }
    return Shape("torus", rows, 4, 2, size, cables, size, words)


def dragonfly(nodes: int, ports: int) -> Shape:
    """A balanced dragonfly."""

    def made(half: int, groups: int) -> Shape:
        between = 2 * half * half // (groups - 1)
        words = (
            f"{groups} groups of {2 * half} switches with {counted(half, 'position')} and"
            f" {counted(half, 'link')} to other groups each; {counted(between, 'link')} between"
            " every two groups"
        )
        switches = groups * 2 * half
        cables = groups * half * (2 * half - 1) + switches * half // 2
        rows = _groups(
            half, 2 * half, half, groups, "balanced, a = 2 p = 2 h (Kim et al., ISCA 2008)"
        )
        return Shape("dragonfly", rows, 3, 3, switches, cables, switches * half, words)

    return _grouped(
        "dragonfly",
        nodes,
        ports,
        lambda half: 4 * half - 1,
        lambda half: (2 * half, 2 * half * half),
        made,
    )


def megafly(nodes: int, ports: int) -> Shape:
    """A balanced Megafly, also Dragonfly+."""

    def made(half: int, groups: int) -> Shape:
        words = (
            f"{groups} groups of {half} leaves with {counted(half, 'position')} each and {half}"
            f" spines with {counted(half, 'link')} to other groups each"
        )
        cables = groups * half * half + groups * half * half // 2
        rows = _groups(
            half,
            half,
            half,
            groups,
            "balanced: as many nodes as spines and as links to other groups",
        )
        return Shape("megafly", rows, 2, 2, 2 * half * groups, cables, groups * half * half, words)

    return _grouped(
        "Megafly", nodes, ports, lambda half: 2 * half, lambda half: (half, half * half), made
    )


def _groups(terminals: int, group: int, links: int, groups: int, source: str) -> Rows:
    return {
        "terminals": (terminals, source),
        "group": (group, source),
        "global": (links, source),
        "groups": (
            groups,
            "the fewest that hold all nodes, with equally many links between every two",
        ),
        "routing": (
            "ugal-local",
            "assumed: each packet takes the better of a minimal way and a detour",
        ),
    }


def _grouped(
    noun: str,
    nodes: int,
    ports: int,
    needed: Callable[[int], int],
    group: Callable[[int], tuple[int, int]],
    made: Callable[[int, int], Shape],
) -> Shape:
    """The best network of groups.

    ``group`` has a group's switches with nodes, and its links to others.
    """
    found = [
        made(half, groups)
        for half in range(1, ports)
        if needed(half) <= ports
        for switches, links in [group(half)]
        for groups in range(max(3, ceil(nodes / (switches * half))), links + 2)
        if links % (groups - 1) == 0
    ]
    return _smallest(noun, nodes, ports, found)


def hyperx(nodes: int, ports: int) -> Shape:
    """A HyperX network with two dimensions, or three."""
    for dimensions in (2, 3):
        found = []
        for sides in product(range(2, ports + 1), repeat=dimensions):
            size = prod(sides)
            terminals = ceil(nodes / size)
            links = sum(side - 1 for side in sides)
            if (
                list(sides) != sorted(sides)
                or sides[-1] > 2 * sides[0]
                or terminals > max(1, sides[0] // 2)
                or links + terminals > ports
            ):
                continue
            rows: Rows = {
                "dimensions": (
                    list(sides),
                    "the fewest switches whose halves have a link for each node of a half",
                ),
                "terminals": (terminals, "the fewest that hold all nodes"),
                "routing": (
                    "ugal-local",
                    "assumed: each packet takes the better of a minimal way and a detour",
                ),
            }
            words = (
                f"{' x '.join(map(str, sides))} switches with {counted(terminals, 'position')} each"
            )
            found.append(
                Shape(
                    "hyperx",
                    rows,
                    1 + dimensions,
                    2,
                    size,
                    size * links // 2,
                    size * terminals,
                    words,
                )
            )
        if found:
            return _smallest("HyperX network", nodes, ports, found)
    return _smallest("HyperX network", nodes, ports, [])


def slim_fly(nodes: int, ports: int) -> Shape:
    """A Slim Fly from a prime."""
    return _of_prime(
        "Slim Fly",
        "slim-fly",
        nodes,
        ports,
        lambda order: (2 * order * order, (3 * order - (1 if order % 4 == 1 else -1)) // 2),
    )


def polar_fly(nodes: int, ports: int) -> Shape:
    """A PolarFly from a prime."""
    return _of_prime(
        "PolarFly", "polar-fly", nodes, ports, lambda order: (order * order + order + 1, order + 1)
    )


def _of_prime(
    noun: str, kind: str, nodes: int, ports: int, size: Callable[[int], tuple[int, int]]
) -> Shape:
    """The network from the smallest odd prime; ``size`` has its switches, and a switch's links."""
    for order in count(3, 2):
        switches, links = size(order)
        if links > ports or switches > MOST_SWITCHES:
            break
        terminals = ceil(nodes / switches)
        prime = all(order % each for each in range(3, order, 2))
        if not prime or terminals > ceil(links / 2) or links + terminals > ports:
            continue
        rows: Rows = {
            "order": (
                order,
                "the smallest prime with at most half as many nodes as links at a switch",
            ),
            "terminals": (terminals, "the fewest that hold all nodes"),
            "routing": (
                "ugal-local",
                "assumed: each packet takes the better of a minimal way and a detour",
            ),
        }
        # In a PolarFly, order + 1 switches have one link less.
        ends = switches * links - (order + 1 if kind == "polar-fly" else 0)
        words = (
            f"{switches} switches with {counted(terminals, 'position')} and {links} links to others"
            " each"
        )
        return Shape(kind, rows, 2, 4, switches, ends // 2, switches * terminals, words)
    return _smallest(noun, nodes, ports, [])


def _smallest(noun: str, nodes: int, ports: int, found: list[Shape]) -> Shape:
    if not found:
        raise UsageError(
            f"--nodes {nodes}: no {noun} of switches with {ports} ports has so many nodes\n"
            "  give fewer nodes, switches with more ports (--ports), or another --topology"
        )
    return min(found, key=lambda shape: (shape.switches, shape.cables, shape.positions))


def _room(noun: str, needed: int, ports: int) -> None:
    if ports < needed:
        raise UsageError(
            f"--ports {ports}: a switch of {noun} needs {needed}\n  give --ports {needed} or more"
        )


SHAPES: dict[str, Callable[[int, int], Shape]] = {
    "fat-tree": fat_tree,
    "torus": torus,
    "dragonfly": dragonfly,
    "megafly": megafly,
    "hyperx": hyperx,
    "slim-fly": slim_fly,
    "polar-fly": polar_fly,
}
"""The kinds, each with its rule."""
