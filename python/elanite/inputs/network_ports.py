"""Hosts with several cables that pass on no packets of others: two ports, or two rails.

In a machine such a host has a switch of its own behind its adapter, which feeds all of its cables.
In a tree of levels its cables lead to the lowest switches, so that up*/down* ways, which never go
down and up again, do not lead through it. In any other network forwarding tables have the shortest
ways among those that lead through no such host. Each link between switches takes another channel
class, which no tables can deadlock.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from elanite.formats.network import fail

if TYPE_CHECKING:
    from collections.abc import Mapping
    from collections.abc import Set as AbstractSet

    from elanite.formats.network import Network

MOST_ENTRIES = 1_000_000
"""Most entries in a network's forwarding tables."""


@dataclass(frozen=True)
class ForwardingTables:
    """Forwarding tables as text."""

    text: str
    classes: int
    """The links between switches on the longest way."""


def several(network: Network) -> set[str]:
    """The hosts with several cables that pass on nothing."""
    nodes = network.nodes
    cables = Counter(end for each in network.cables for end in (each.one, each.other))
    joined = {
        end
        for each in network.cables
        if each.one in nodes and each.other in nodes
        for end in (each.one, each.other)
    }
    return {
        node
        for node in nodes
        if cables[node] > 1 and node not in joined and network.forward.get(node) != "yes"
    }


def tables(
    network: Network,
    forwarding: AbstractSet[str],
    ending: AbstractSet[str],
    names: Mapping[str, str],
    origin: str,
) -> ForwardingTables:
    """Tables with the shortest ways that lead through no host of ``ending``.

    ``forwarding`` are the nodes with a switch of their own. Raises ``UsageError``.
    """
    near: dict[str, dict[str, None]] = {
        name: {} for name in (*network.switches, *sorted(forwarding))
    }
    leaves = dict.fromkeys(name for name in network.nodes if name in forwarding)
    for each in network.cables:
        ends = [end for end in (each.one, each.other) if end in near]
        leaves |= dict.fromkeys(ends if len(ends) == 1 else ())
        if len(ends) == 2:
            near[ends[0]][ends[1]] = None
            near[ends[1]][ends[0]] = None
    if len(leaves) * len(near) > MOST_ENTRIES:
        fail(
            Path(origin),
            None,
            f"{len(ending):,} hosts have several cables, and the network is no tree of levels: its"
            f" forwarding tables have {len(leaves) * len(near):,} entries, and at most"
            f" {MOST_ENTRIES:,} are possible",
        )
    lines, longest = [], 1
    for leaf in leaves:
        distance, rest = {leaf: 0}, [leaf]
        for at in rest:
            if at in ending and at != leaf:
                continue
            for other in near[at]:
                if other not in distance:
                    distance[other] = distance[at] + 1
                    rest.append(other)
        if lost := [other for other in leaves if other not in distance]:
            fail(
                Path(origin),
                None,
                f"no way leads from `{lost[0]}` to `{leaf}` but through hosts with several cables:"
                " add a cable between switches",
            )
        longest = max(longest, *(distance[other] for other in leaves))
        for at in rest[1:]:
            onward = [
                names[other]
                for other in near[at]
                if distance.get(other) == distance[at] - 1
                and (other not in ending or other == leaf)
            ]
            lines.append(f"{names[at]} {names[leaf]} {' '.join(onward)}\n")
    return ForwardingTables("".join(lines), longest)
