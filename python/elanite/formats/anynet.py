"""BookSim2 networks: the file for its topology ``anynet``.

A line begins with a router or a node and lists the routers and nodes that it is joined to; a number
behind one is the channel's delay in cycles, 1 without::

    router 0 node 0 node 1 router 1 2 router 2
    router 1 node 2 node 3               # remarks are left out

Both lines in a pair may list the channel; it is one cable. A delay holds for its own direction, and
for both if the other lacks one. BookSim has no time unit, and moves a flit over a channel in a
cycle: this is the machine's cycle, so that only delays with other lengths are kept.

Source: ``src/networks/anynet.cpp`` in booksim/booksim2.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from elanite.base.text import counted
from elanite.formats.network import MOST_NODES, Cable, Network, checked, fail

if TYPE_CHECKING:
    from pathlib import Path

NAME = "network of BookSim2 (anynet)"
MOST_CYCLES = 1023
"""Most cycles in a machine's link delay."""


def read(text: str, file: Path) -> Network:
    """Read a network; cable delays are cycles. Raises ``UsageError``."""
    network = Network(NAME, cycles=True)
    seats: dict[str, tuple[str, int, int]] = {}
    channels: dict[tuple[str, str], tuple[int, int]] = {}
    for line, written in enumerate(text.splitlines(), 1):
        words = re.split(r"#|//", written, maxsplit=1)[0].split()
        if not words:
            continue
        parts = list(_parts(words, file, line))
        (kind, head, delay), others = parts[0], parts[1:]
        if delay is not None:
            fail(
                file,
                line,
                f"a delay stands behind the first name of the line, {kind} {head}: write it behind"
                " a peer",
            )
        _known(network, kind, head, line)
        for other, name, cycles in others:
            _known(network, other, name, line)
            if kind == other == "node":
                fail(
                    file,
                    line,
                    f"node {head} is joined to node {name}: BookSim joins nodes to routers",
                )
            if kind == other:
                channels[(head, name)] = (1 if cycles is None else cycles, line)
                continue
            node, router = (head, name) if kind == "node" else (name, head)
            found = seats.setdefault(node, (router, 1 if cycles is None else cycles, line))
            if found[0] != router:
                fail(
                    file,
                    line,
                    f"node {node} is at router {found[0]} (line {found[2]}) and at {router}: a node"
                    " has one",
                )
    for node, (router, cycles, line) in sorted(seats.items(), key=lambda each: int(each[0])):
        network.cables.append(Cable(f"n{node}", f"r{router}", None, cycles, line))
    unlike = 0
    for (one, other), (cycles, line) in channels.items():
        back = channels.get((other, one))
        if back is not None and int(other) < int(one):
            continue
        longest = max(cycles, back[0]) if back else cycles
        unlike += back is not None and 1 not in (back[0], cycles) and back[0] != cycles
        network.cables.append(Cable(f"r{one}", f"r{other}", None, longest, line))
    network.nodes = dict(sorted(network.nodes.items(), key=lambda each: int(each[0][1:])))
    if unlike:
        network.notes.append(
            f"{counted(unlike, 'channel')} with another delay in each direction: both have the"
            " longer one"
        )
    network.notes.append(
        "a cycle of BookSim is a cycle of the machine; its delays of routers are not in this file"
    )
    return checked(network, file)


def _parts(words: list[str], file: Path, line: int) -> list[tuple[str, str, int | None]]:
    """The kinds, numbers and delays on a line."""
    found: list[tuple[str, str, int | None]] = []
    rest = words
    while rest:
        kind, number = rest[0], rest[1] if len(rest) > 1 else ""
        if kind not in ("router", "node"):
            fail(file, line, f"`{kind}` stands where `router` or `node` belongs")
        if not re.fullmatch(r"\d{1,6}", number) or int(number) >= MOST_NODES:
            fail(file, line, f"`{kind} {number}`: a number is needed, 0 to {MOST_NODES - 1}")
        rest = rest[2:]
        delay = None
        if rest and rest[0] not in ("router", "node"):
            if not re.fullmatch(r"\d{1,4}", rest[0]) or not 1 <= int(rest[0]) <= MOST_CYCLES:
                fail(file, line, f"`{rest[0]}` is not a delay: write 1 to {MOST_CYCLES} cycles")
            delay = int(rest[0])
            rest = rest[1:]
        found.append((kind, str(int(number)), delay))
    return found


def _known(network: Network, kind: str, number: str, line: int) -> None:
    if kind == "node":
        network.nodes.setdefault(f"n{number}", line)
    else:
        network.switches.setdefault(f"r{number}", line)
