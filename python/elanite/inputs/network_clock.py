"""The clock of an imported network: the machine's rate, its flit, and a cycle of whole picoseconds.

The fastest cable gives the rate. Where a node forwards over several cables, the link behind its
adapter feeds them all, with their sum, if this is a good deal more. A flit has the size nearest to
the base machine's at which its time is a whole number of picoseconds; without such a size, the rate
is rounded. Long cables take larger flits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from elanite.base.text import counted
from elanite.errors import UsageError
from elanite.formats.network import fail
from elanite.formats.quantities import exact, shown, span

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet

    from elanite.formats.network import Network
    from elanite.inputs.machine import Machine

LONGEST_HOP = 1023
"""Most cycles in a link delay."""
MOST_CYCLES = 512
"""Most cycles in which a slow link takes a flit."""
NEAR = Fraction(1, 500)
"""The largest part by which a rate is rounded, where no flit takes whole picoseconds at it."""
GOOD_DEAL = Fraction(3, 2)
"""A node's cables together over the fastest cable, from which on the link to them has their sum."""
LARGEST_FLIT, SMALLEST_FLIT = 1024, 33
"""Bytes in a flit: in the smallest size, 128 flits hold a 4 KB packet."""


@dataclass(frozen=True)
class Clock:
    """The machine's rate, flit and cycle."""

    rate: Fraction
    stated: Fraction
    """The rate that the file states for the fastest cables; without ``feeds`` the machine's but for
    rounding.
    """
    feeds: bool
    """Whether the machine's rate is that of links that feed all cables of a node."""
    flit: int
    cycle: int
    """Picoseconds."""

    def cycles(self, picoseconds: Fraction | int) -> int:
        """The nearest cycle count, at least one."""
        return max(1, round(Fraction(picoseconds) / self.cycle))

    def time(self, cycles: int) -> str:
        """A cycle count as a time with its unit."""
        return span(cycles * self.cycle)


def clock(
    network: Network,
    machine: Machine,
    names: tuple[str, str],
    forwarding: AbstractSet[str],
    notes: list[str],
) -> Clock:
    """A network's clock on a base machine; ``names`` are the file's and the base machine's.

    Raises ``UsageError``.
    """
    origin, base = names
    rates = {each.rate for each in network.cables if each.rate is not None}
    flit = exact(machine["link.flit"], "B")
    if not rates:
        notes.append(f"there are no rates: all links have that of {base}")
        own = machine["link.rate"]
        stated = (
            max(exact(each, "MB/s") for each in (own if isinstance(own, list) else [own]))
            * 8
            * 10**6
        )
        fastest = _feed(network, stated, base, forwarding, notes)
        if fastest == stated:
            return Clock(stated, stated, False, int(flit), int(flit * 8 * 10**12 / stated))
    else:
        stated = max(rates)
        if missing := sum(each.rate is None for each in network.cables):
            notes.append(
                f"{counted(missing, 'cable')} without a rate: the fastest, {shown(stated)}"
            )
        fastest = _feed(network, stated, base, forwarding, notes)
    longest = (
        max((each.delay or 0 for each in network.cables), default=0) if not network.cycles else 0
    )
    longest += network.switch_delay or 0
    sizes = sorted(
        range(SMALLEST_FLIT, 2 * int(flit) + 1), key=lambda size: (abs(size - flit), size)
    )
    found, rate = next(
        ((size, fastest) for size in sizes if (size * 8 * 10**12 / fastest).denominator == 1),
        None,
    ) or _rounded(fastest, sizes, origin, notes)
    for cable in network.cables:
        if cable.rate is not None and cable.rate * MOST_CYCLES < rate:
            fail(
                Path(origin),
                cable.line,
                f"{shown(cable.rate)} beside {shown(rate)}: a cable is at most {MOST_CYCLES} times"
                " slower",
            )
    while longest > LONGEST_HOP * found * 8 * 10**12 / rate and 2 * found <= LARGEST_FLIT:
        found *= 2
    cycle = int(found * 8 * 10**12 / rate)
    if longest > LONGEST_HOP * cycle:
        raise UsageError(
            f"{origin}: a link of {span(longest)} at {shown(fastest)} is longer than {LONGEST_HOP}"
            f" flits of {LARGEST_FLIT} bytes, {span(LONGEST_HOP * cycle)}: such distances are not"
            " modelled"
        )
    if found != flit:
        notes.append(f"a flit has {found} bytes, so that it takes {span(cycle)} at {shown(rate)}")
    return Clock(rate, stated, fastest != stated, found, cycle)


def _feed(
    network: Network, fastest: Fraction, base: str, forwarding: AbstractSet[str], notes: list[str]
) -> Fraction:
    """The rate at which a node that forwards feeds its cables: the largest sum, or the fastest
    cable's.
    """
    sums: dict[str, Fraction] = {}
    for cable in network.cables:
        for end in {cable.one, cable.other} & forwarding:
            sums[end] = sums.get(end, Fraction(0)) + (cable.rate or fastest)
    most = max(sums.values(), default=fastest)
    if most < GOOD_DEAL * fastest:
        return fastest
    notes.append(
        f"nodes with several cables feed them at {shown(most)} together (`link.rate` of level 0),"
        f" as far as the adapters of {base} can"
    )
    return most


def _rounded(
    fastest: Fraction, sizes: Sequence[int], origin: str, notes: list[str]
) -> tuple[int, Fraction]:
    """A flit and the nearest rate, in whole bytes per second, at which it takes whole
    picoseconds.
    """
    near: list[tuple[Fraction, int, Fraction]] = []
    for place, size in enumerate(sizes):
        bits = size * 8 * 10**12
        first, last = (
            math.ceil(bits / fastest / (1 + NEAR)),
            math.floor(bits / fastest / (1 - NEAR)),
        )
        rates = [
            Fraction(bits, cycle) for cycle in range(first, last + 1) if bits % (8 * cycle) == 0
        ]
        near += [(abs(rate - fastest), place, rate) for rate in rates]
    if not near:
        raise UsageError(
            f"{origin}: no flit of {min(sizes)} to {max(sizes)} bytes takes whole picoseconds at"
            f" {shown(fastest)}, nor at a rate within 0.2%: round the rate in the file"
        )
    _, place, rate = min(near)
    off = abs(rate - fastest) / fastest
    said = f"the rate {shown(fastest)} is {shown(rate)} here, {float(off):.2%} off"
    notes.append(f"{said}, so that a flit takes whole picoseconds")
    return sizes[place], rate
