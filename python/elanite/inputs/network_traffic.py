"""The traffic of an imported network: its flow lists as CSV, an experiment with them, and a
placement file.

Flows keep their starts to the picosecond. Several priority groups are traffic classes, in the order
of their numbers, for which the experiment divides the machine's channels: each has its own queue at
a switch, as in ns-3. A list without a network has no machine with classes, and leaves them out.
Flows without bytes, or from a node to itself, are left out, and counted in a note. Nodes have the
network's numbers; flow files without a network have numbers already.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from elanite.base.text import counted
from elanite.errors import UsageError
from elanite.inputs import toml
from elanite.inputs.network_import import MOST_CHANNELS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from elanite.formats.network import Flow, Network

MOST_SIZE = 2**31 - 1
"""Most bytes in a flow."""


def flows(lists: Sequence[tuple[str, Network]], network: Network | None) -> tuple[str, list[str]]:
    """Several files' flow list, by file name, as CSV, and notes.

    Node numbers are the network's; without one, the files'. Raises ``UsageError``.
    """
    notes = [note for _, each in lists for note in each.notes]
    numbers = NodeNumbers(network)
    groups = priorities(lists)
    if network is None and len(groups) > 1:
        notes.append(
            f"priority groups ({_listed(groups)}) are left out: all flows are in one class"
        )
        groups = groups[:1]
    elif len(groups) > 1:
        said = (
            f"priority groups {_listed(groups)} are the traffic classes"
            f" {_listed(range(len(groups)))}"
        )
        notes.append(f"{said}, with channels of their own; none goes first")
    rows, skipped = [], 0
    for origin, each in lists:
        for flow in each.flows:
            ends = numbers.ends(flow, origin)
            if flow.size > MOST_SIZE:
                raise UsageError(
                    f"{origin}:{flow.line}: {flow.size:,} bytes are more than a flow may have,"
                    f" {MOST_SIZE:,}"
                )
            if ends[0] == ends[1] or flow.size == 0:
                skipped += 1
                continue
            row = f"{_start(flow.start)},{ends[0]},{ends[1]},{flow.size} B"
            rows.append(f"{row},{groups.index(flow.group)}" if len(groups) > 1 else row)
    if skipped and not rows:
        raise UsageError(
            f"{lists[0][0]}: no flow is left: {skipped} have no bytes, or lead from a node to"
            " itself"
        )
    if skipped:
        notes.append(
            f"{counted(skipped, 'flow')} without bytes, or from a node to itself, left out"
        )
    if numbers.renumbered:
        notes.append(
            "nodes are numbered from 0 on in the order of the hosts' numbers, in flows as well"
        )
    named = " and ".join(f"{origin} ({each.format})" for origin, each in lists)
    columns = (
        "start,source,destination,size,class"
        if len(groups) > 1
        else "start,source,destination,size"
    )
    head = [f"# Flows of {named}.", *(f"# - {note}" for note in notes), columns]
    return "\n".join([*head, *rows]) + "\n", notes


def priorities(lists: Sequence[tuple[str, Network]]) -> list[int]:
    """The priority groups of several files' flows."""
    return sorted({flow.group for _, each in lists for flow in each.flows})


def _listed(numbers: Iterable[int]) -> str:
    return ", ".join(map(str, numbers))


class NodeNumbers:
    """The node numbers of flows: the network's; without one, the files'."""

    def __init__(self, network: Network | None) -> None:
        self.count = network.count() if network else None
        self._numbers = (
            {name: number for number, name in enumerate(network.nodes)} if network else {}
        )
        # ns-3 and htsim number hosts; a reader that names them otherwise keeps their order.
        self._plain = network is None or not all(name.isdecimal() for name in self._numbers)

    @property
    def renumbered(self) -> bool:
        """Whether a node has another number than its name."""
        return not self._plain and any(
            int(name) != number for name, number in self._numbers.items()
        )

    def ends(self, flow: Flow, origin: str) -> tuple[int, int]:
        """A flow's nodes. Raises ``UsageError``."""
        source, destination = (
            self._number(end, flow, origin) for end in (flow.source, flow.destination)
        )
        return source, destination

    def _number(self, end: str, flow: Flow, origin: str) -> int:
        found = self._numbers.get(end)
        if found is None and not end.isdecimal():
            remedy = "correct the name" if self._numbers else "import the network beside the flows"
            raise UsageError(f"{origin}:{flow.line}: there is no node `{end}`: {remedy}")
        if found is None and (self._plain or not self._numbers):
            found = int(end) if self.count is None or int(end) < self.count else None
        if found is None:
            raise UsageError(
                f"{origin}:{flow.line}: there is no node {end} in the network, which has"
                f" {self.count:,}"
            )
        return found


def _start(picoseconds: int) -> str:
    """A start in the largest unit that divides it."""
    unit, size = next(
        (unit, size)
        for unit, size in (("us", 10**6), ("ns", 1000), ("ps", 1))
        if picoseconds % size == 0
    )
    return f"{picoseconds // size} {unit}"


def placement(network: Network) -> str:
    """The nodes in their order with their names, as a placement file: a line for each rank."""
    lines = [f"{number} # {name}" for number, name in enumerate(network.nodes)]
    head = (
        "# Hosts and their numbers. A placement has one line for each rank: keep those of the hosts"
        " of your job."
    )
    return "\n".join([head, *lines]) + "\n"


def experiment(name: str, machine: str, flows: str, classes: int, channels: int) -> str:
    """An experiment with a list's flows on a machine with so many channels, divided among the
    classes.
    """
    series: dict[str, object] = {"name": "flows", "title": name, "flows": {"list": {"file": flows}}}
    if classes > 1:
        divided = {"channels": min(MOST_CHANNELS, classes * channels), "classes": classes}
        series = {
            "name": "flows",
            "title": name,
            "machine": {"link": divided},
            "flows": series["flows"],
        }
    content = {
        "title": f"The flows of {Path(flows).name}",
        "source": "my own",
        "machine": machine,
        "series": [series],
    }
    return toml.text(content)
