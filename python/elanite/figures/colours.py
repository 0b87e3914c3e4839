"""Which colour a curve has: the same thing has the same colour in all figures.

Names that occur in several figures have a fixed colour: multirail policies, hardware and software,
buffer kinds, routing. A policy's variants (its striping, its rails, its threshold) are shades of
the policy's colour. All other names get the palette's colours that the figure leaves free, in
legend order. A figure with more names than colours repeats colours in other shades; the point
shapes then distinguish curves.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

BLUE, ORANGE, GREEN, PINK, RED, SKY, GREY = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#CC79A7",
    "#D55E00",
    "#56B4E9",
    "#8C8C8C",
)

PALETTE = [BLUE, ORANGE, GREEN, PINK, RED, SKY, GREY]
"""Colours that colour-blind people distinguish (Okabe and Ito), readable on light and dark."""

POLICY = {"static": GREY, "basic": BLUE, "local-dynamic": ORANGE, "dynamic": GREEN, "hybrid": PINK}
"""Each multirail policy's colour (coll2003)."""

UNSTRIPED = "no striping"
"""The policy variant that is lighter than the policy in all figures."""

KNOWN = [
    (r"QsNET, (hardware.*|64 nodes)", BLUE),
    (r"QsNET, (software.*|1,024 nodes)", SKY),
    (r"QsNetII, (hardware.*|64 nodes)", RED),
    (r"QsNetII, (software.*|1,024 nodes)", ORANGE),
    (r"hardware, event-based.*|hardware.*, main memory", SKY),
    (r"software.*, main memory", RED),
    (r"hardware.*", BLUE),
    (r"software.*", ORANGE),
    (r"reduction.*", GREEN),
    (r"elan → elan", BLUE),
    (r"elan → main", ORANGE),
    (r"main → elan", GREEN),
    (r"main → main", PINK),
    (r"MPI, main → main", RED),
    (r"fixed ascent", ORANGE),
    (r"fixed ascent, new tables", RED),
    (r"adaptive ascent", BLUE),
    (r"adaptive ascent, new tables", GREEN),
]
"""Names with a fixed colour; the first pattern that fits a whole name decides."""

LIGHT, DARK = 0.5, 0.35
"""How far the lightest shade is from the colour to white, and the darkest from the colour to
black.
"""


def tints(names: Sequence[str]) -> list[str]:
    """Each name's colour, in name order."""
    found: dict[str, str] = {}
    for policy in POLICY:
        family = [name for name in names if name.split(",")[0] == policy]
        found |= dict(zip(family, _variants(policy, family), strict=True))
    for name in names:
        if name not in found and (known := _known(name)):
            found[name] = known
    free = [colour for colour in PALETTE if colour not in found.values()] or PALETTE
    others = [name for name in names if name not in found]
    for index, name in enumerate(others):
        again = index // len(free)
        found[name] = mixed(
            free[index % len(free)], "#ffffff" if again % 2 else "#000000", 0.4 if again else 0.0
        )
    return [found[name] for name in names]


def mixed(colour: str, other: str, part: float) -> str:
    """A colour with a part of another colour."""
    pairs = zip(_channels(colour), _channels(other), strict=True)
    return "#" + "".join(f"{round(one + (two - one) * part):02X}" for one, two in pairs)


def _channels(colour: str) -> list[int]:
    return [int(colour[place : place + 2], 16) for place in (1, 3, 5)]


def _known(name: str) -> str | None:
    return next((colour for pattern, colour in KNOWN if re.fullmatch(pattern, name)), None)


def _variants(policy: str, family: Sequence[str]) -> list[str]:
    """The shades for a policy's variants in one figure."""
    base = POLICY[policy]
    if (
        len(
            {name.removesuffix(f", {UNSTRIPED}").removesuffix(", full striping") for name in family}
        )
        < 2
    ):
        return [
            mixed(base, "#ffffff", LIGHT) if name.endswith(UNSTRIPED) else base for name in family
        ]
    last = len(family) - 1
    shades = []
    for index in range(len(family)):
        way = 2 * index / last - 1
        shades.append(
            mixed(
                base, "#000000" if way > 0 else "#ffffff", DARK * way if way > 0 else -LIGHT * way
            )
        )
    return shades
