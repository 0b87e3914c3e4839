"""ns-3 topologies and flows as HPCC's branch reads them, and its descendants: PowerTCP, ASTRA-sim,
SimAI.

``topology.txt`` begins with the vertex, switch and link counts, and the switch list; all other
vertices are hosts. A link is a line with its ends, rate, delay and error rate; a sixth number, a
routing weight, is left out::

    11 3 10     # SimAI: vertices, GPUs of a server, NVLink switches, switches, links, GPU
    8 9 10
    0 8 25Gbps 0.8us 0

PowerTCP's first line has the count of leaf switches before that of the links, and Reverie's two
capacities behind it. A rate without a unit is in bits per second.

Some generators state each direction as a separate link: if every link comes in both directions
equally often, two lines are one cable. ``flow.txt`` begins with the flow count; a flow is a line
with source, destination, priority group, port, bytes and the start in seconds; ConWeave's have no
port. Ports are left out. Nodes are numbered in host number order.

Source: the readers ``scratch/third.cc`` in HPCC and ``scratch/common.h`` in ASTRA-sim's ns-3.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from typing import TYPE_CHECKING

from elanite.base.text import counted
from elanite.formats import quantities
from elanite.formats.network import MOST_NODES, Cable, Flow, Network, checked, fail

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TOPOLOGY = "ns-3 topology (topology.txt of HPCC)"
FLOWS = "list of flows of ns-3 (flow.txt of HPCC)"

LINE = re.compile(
    r"\d+\s+\d+\s+(?:[\d.]+[^\s=]*b(?:ps|/s)\s+[^\s=]+"
    r"|[\d.]+(?:e\d+)?\s+[\d.]+(?:m|u|n|p)?s)(?:\s.*)?",
    re.IGNORECASE,
)
"""A link. Elanite's own graphs write `rate=25Gb/s`."""


def statements(text: str) -> Iterator[tuple[int, list[str]]]:
    """The lines' words without remarks, with their numbers."""
    for line, written in enumerate(text.splitlines(), 1):
        if words := re.split(r"#|//", written, maxsplit=1)[0].split():
            yield line, words


def topology(text: str, file: Path) -> Network:
    """Read a topology. Raises ``UsageError``."""
    lines = statements(text)
    line, head = next(lines, (1, []))
    numbers = [
        int(word) if word.isascii() and word.isdigit() and len(word) < 10 else -1 for word in head
    ]
    network = Network(TOPOLOGY)
    match numbers:
        case [vertices, switches, links] | [vertices, switches, _, links] if min(numbers) >= 0:
            pass
        case [vertices, switches, _, links, _, _] if min(numbers) >= 0:
            pass
        case [vertices, _, special, others, links, *_] if (
            len(numbers) in (5, 6) and min(numbers[:5]) >= 0
        ):
            switches = special + others
            network.notes.append(
                f"{special} of the switches join the GPUs of a server (NVLink); they are switches"
                " here"
            )
        case _:
            fail(
                file,
                line,
                "the first line has the numbers of vertices, switches and links: three numbers,"
                " PowerTCP's four, or SimAI's six words",
            )
    if not 0 < vertices <= MOST_NODES + 4096 or switches > vertices:
        fail(
            file,
            line,
            f"{vertices} vertices with {switches} switches are no network of 1 to {MOST_NODES:,}"
            " nodes",
        )
    chosen, last = _switches(lines, file, vertices, switches, line)
    network.nodes = {str(number): last for number in range(vertices) if number not in chosen}
    network.switches = {str(number): last for number in sorted(chosen)}
    lossy = sum(
        _link(network, file, line, words, vertices)
        for line, words in itertools.islice(lines, links)
    )
    if len(network.cables) < links:
        fail(
            file,
            1,
            f"line 1 promises {links} links, and the file has {len(network.cables)}: correct the"
            " number",
        )
    _rest(network, lines, counted(links, "link"))
    if lossy:
        network.notes.append(
            f"the error rates of {counted(lossy, 'link')} are left out: state them as faults of an"
            " experiment"
        )
    _merged(network)
    if len(numbers) > 4 and not (len(numbers) == 6 and min(numbers) >= 0):
        _accelerators(network)
    return checked(network, file)


def _switches(
    lines: Iterator[tuple[int, list[str]]], file: Path, vertices: int, switches: int, line: int
) -> tuple[set[int], int]:
    """The switches' numbers, and the line that lists the last switch."""
    chosen: set[int] = set()
    while len(chosen) < switches:
        line, words = next(lines, (line, []))
        if not words:
            fail(
                file,
                line,
                f"{switches} switches are promised, and {len(chosen)} are listed: list them in"
                " line 2",
            )
        for word in words:
            number = int(word) if word.isascii() and word.isdigit() and len(word) < 10 else -1
            if not 0 <= number < vertices or number in chosen:
                fail(
                    file,
                    line,
                    f"`{word}` is not a further switch: list {switches} numbers from 0 to"
                    f" {vertices - 1}",
                )
            chosen.add(number)
    return chosen, line


def _link(network: Network, file: Path, line: int, words: list[str], vertices: int) -> bool:
    """Add a link; whether it loses packets."""
    if not 4 <= len(words) <= 6:
        fail(
            file,
            line,
            f"{len(words)} words are no link: write two vertices, rate, delay and error rate",
        )
    ends = []
    for word in words[:2]:
        if not (word.isascii() and word.isdigit()) or len(word) > 9 or int(word) >= vertices:
            fail(file, line, f"`{word}` is not a vertex: they have the numbers 0 to {vertices - 1}")
        ends.append(str(int(word)))
    rate, delay = quantities.rate(words[2]), quantities.time(words[3])
    if rate is None and (bits := quantities.number(words[2])) is not None:
        rate = quantities.gigabits(bits / 10**9)
    if rate is None:
        fail(file, line, f"`{words[2]}` is not a rate: write for example 25Gbps")
    if delay is None:
        fail(file, line, f"`{words[3]}` is not a delay: write for example 0.8us")
    loss = quantities.number(words[4]) if len(words) > 4 else 0
    if loss is None or loss > 1:
        fail(file, line, f"`{words[4]}` is not an error rate: write a number from 0 to 1")
    network.cables.append(Cable(ends[0], ends[1], rate, delay, line))
    return loss > 0


def _rest(network: Network, lines: Iterator[tuple[int, list[str]]], what: str) -> None:
    """Notes the lines behind those that line 1 promises, which ns-3 does not read either."""
    if left := [line for line, _ in lines]:
        network.notes.append(
            f"line 1 promises {what}: line {left[0]} and all behind it are not read"
        )


def _merged(network: Network) -> None:
    """Merges two links in opposite directions into one cable, where every link has an opposite
    one.
    """
    directed: dict[tuple[object, ...], list[Cable]] = {}
    for each in network.cables:
        directed.setdefault((each.one, each.other, each.rate, each.delay), []).append(each)
    for (one, other, rate, delay), links in directed.items():
        if len(links) != len(directed.get((other, one, rate, delay), ())):
            return
    if network.cables:
        network.cables = [each for each in network.cables if int(each.one) < int(each.other)]
        network.notes.append(
            "each direction is a link of its own in the file: two opposite links are one cable"
        )


def _accelerators(network: Network) -> None:
    """Lets nodes with several cables forward: GPUs at a switch of their server and at one of the
    network.
    """
    cables = Counter(end for each in network.cables for end in (each.one, each.other))
    network.forward = {node: "yes" for node in network.nodes if cables[node] > 1}
    if network.forward:
        network.notes.append(
            f"{len(network.forward)} GPUs have several cables: they pass on packets of others where"
            " that is shortest, as NCCL does through the GPU of a server at the right rail (PXN);"
            " SimAI sends none through GPUs"
        )


def flows(text: str, file: Path) -> Network:
    """Read a flow list. Raises ``UsageError``."""
    lines = statements(text)
    line, head = next(lines, (1, []))
    if len(head) != 1 or not (head[0].isascii() and head[0].isdigit()):
        fail(file, line, "the first line has the number of flows alone: write it above the flows")
    network = Network(FLOWS)
    count = int(head[0][:9])
    for line, words in itertools.islice(lines, count):
        if len(words) < 5:
            fail(
                file,
                line,
                f"{len(words)} words are no flow: write source, destination, priority group, port,"
                " bytes and start",
            )
        *head, began = words[: 5 if len(words) == 5 else 6]
        numbers = [
            int(word) if word.isascii() and word.isdigit() and len(word) < 19 else -1
            for word in head
        ]
        start = quantities.time(began)
        if min(numbers) < 0 or start is None or re.search(r"[a-z]", began.replace("e", "")):
            fail(
                file,
                line,
                "source, destination, group, port and bytes are whole numbers, and the start is"
                " seconds",
            )
        source, destination, group, *_, size = numbers
        network.flows.append(Flow(start, str(source), str(destination), size, line, group))
    if len(network.flows) < count:
        fail(
            file,
            1,
            f"line 1 promises {count} flows, and the file has {len(network.flows)}: correct the"
            " number",
        )
    _rest(network, lines, counted(count, "flow"))
    return network
