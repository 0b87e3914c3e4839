"""A list of flows that wait for each other, as a trace in GOAL.

Each flow is a send and a receive with a tag of its own. All receives are posted at the beginning. A
send waits for its start, which a computation in a stream of its own measures, or for the sends and
receives of its node that it names. GOAL counts nanoseconds: starts are rounded to them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from elanite.errors import UsageError
from elanite.inputs.network_traffic import MOST_SIZE, NodeNumbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from elanite.formats.network import Network


def needed(lists: Sequence[tuple[str, Network]]) -> bool:
    """Whether a flow waits for another."""
    return any(flow.waits for _, each in lists for flow in each.flows)


def trace(lists: Sequence[tuple[str, Network]], network: Network | None) -> tuple[str, list[str]]:
    """Several files' flows as a trace, and notes. Raises ``UsageError``."""
    notes = [note for _, each in lists for note in each.notes]
    numbers = NodeNumbers(network)
    operations: dict[int, list[str]] = {}
    orders: dict[int, list[str]] = {}
    starts: dict[int, set[int]] = {}
    first = last = remote = 0
    rounded = False
    for origin, each in lists:
        for place, flow in enumerate(each.flows):
            source, destination = numbers.ends(flow, origin)
            place += first
            last = max(last, source, destination)
            if source == destination or not 0 < flow.size <= MOST_SIZE:
                raise UsageError(
                    f"{origin}:{flow.line}: a flow of a trace leads to another node, with 1 to"
                    f" {MOST_SIZE:,} bytes"
                )
            operations.setdefault(source, []).append(
                f"s{place}: send {flow.size}b to {destination} tag {place}"
            )
            operations.setdefault(destination, []).append(
                f"r{place}: recv {flow.size}b from {source} tag {place}"
            )
            mine = orders.setdefault(source, [])
            start = round(flow.start / 1000)
            rounded |= start * 1000 != flow.start
            if start:
                starts.setdefault(source, set()).add(start)
                mine.append(f"s{place} requires t{start}")
            for other, received in flow.waits:
                remote += received
                mine.append(f"s{place} requires {'r' if received else 's'}{first + other}")
        first += len(each.flows)
    if remote:
        notes.append(
            f"{remote} flows begin at the receiver of another one: when its bytes have arrived"
        )
    if rounded:
        notes.append("starts are rounded to nanoseconds, GOAL's unit")
    named = " and ".join(f"{origin} ({each.format})" for origin, each in lists)
    ranks = numbers.count or last + 1
    lines = [f"// Flows of {named}.", *(f"// - {note}" for note in notes), f"num_ranks {ranks}"]
    for rank in range(ranks):
        clock: list[str] = []
        before = 0
        for start in sorted(starts.get(rank, ())):
            clock.append(f"t{start}: calc {start - before} cpu 1")
            if before:
                clock.append(f"t{start} requires t{before}")
            before = start
        inside = [*clock, *operations.get(rank, ()), *orders.get(rank, ())]
        lines += [f"rank {rank} {{", *(f"  {line}" for line in inside), "}"]
    return "\n".join(lines) + "\n", notes
