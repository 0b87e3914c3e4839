"""htsim's connection matrices (``.cm``), as csg-htsim and the UEC branch read them.

A file has the node and connection counts, then a line ``5->0 id 1 start 1000000 size 300000`` for
each: the start in picoseconds and the size in bytes. Connections without an end (``size 0``) are
refused.

A connection may wait for a trigger instead of a start, and fire one when its sender has the last
acknowledgement, or its receiver the last byte::

    3->7 id 1 start 0 size 4096 send_done_trigger 1
    3->9 id 2 trigger 1 size 4096
    trigger id 1 oneshot

A ``oneshot`` is fired once; a ``barrier`` starts its connections when it has been fired ``count``
times. A trigger acts at once in all nodes. Here a connection waits for one that its own node sends
or receives, and any other wait is refused; so is a ``multishot``, which starts one connection at
each end, in the order of the ends.

Source: ``connection_matrix.cpp`` and ``trigger.cpp`` in spcl/HTSIM.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from elanite.formats.network import MOST_NODES, Flow, Network, fail

if TYPE_CHECKING:
    from pathlib import Path

NAME = "htsim connection matrix (.cm)"

_CONNECTION = re.compile(r"(\d{1,9})->(\d{1,9})")
_FIRED = ("send_done_trigger", "recv_done_trigger")
_NUMBERED = ("id", "msg", "start", "trigger", "size", "prio", *_FIRED)
_COUNTED = ("Nodes", "Connections", "Triggers", "Failures")


@dataclass
class _Trigger:
    """A trigger: how it is fired, and by which connections."""

    line: int
    kind: str = ""
    count: int = 1
    fired: list[int] = field(default_factory=list)
    """Places of the connections that fire it."""


def read(text: str, file: Path) -> Network:
    """Read a connection matrix. Raises ``UsageError``."""
    network = Network(NAME)
    header: dict[str, tuple[int, int]] = {}
    triggers: dict[int, _Trigger] = {}
    waiting: list[tuple[int, int]] = []
    for line, written in enumerate(text.splitlines(), 1):
        words = written.split()
        if not words or words[0].startswith("#"):
            continue
        if ends := _CONNECTION.fullmatch(words[0]):
            values = _values(file, line, words[1:])
            place = len(network.flows)
            network.flows.append(_flow(file, line, ends, values))
            for key in (each for each in _FIRED if each in values):
                triggers.setdefault(values[key], _Trigger(line)).fired.append(place)
            if "trigger" in values:
                waiting.append((place, values["trigger"]))
        elif words[0] == "trigger":
            _define(file, line, words[1:], triggers)
        elif words[0] == "failure":
            _failures(file, line)
        elif words[0] in _COUNTED:
            if len(words) < 2 or not re.fullmatch(r"\d{1,9}", words[1]):
                fail(file, line, f"`{words[0]}` needs a whole number")
            header[words[0]] = (int(words[1]), line)
        else:
            fail(
                file,
                line,
                f"`{written.strip()[:60]}` is not a line of a connection matrix: write 5->0 start 0"
                " size 1000",
            )
    _counts(network, header, file)
    _wait(network, waiting, triggers, file)
    if any(" prio " in line for line in text.splitlines()):
        network.notes.append(
            "prio is the order of a receiver's credits (pulls), which there are not here: left out"
        )
    return network


def _counts(network: Network, header: dict[str, tuple[int, int]], file: Path) -> None:
    if header.get("Failures", (0, 0))[0]:
        _failures(file, header["Failures"][1])
    count, line = header.get("Connections", (len(network.flows), 0))
    if count != len(network.flows):
        fail(file, line, f"{count} connections are promised, and the file has {len(network.flows)}")
    nodes = header.get("Nodes", (MOST_NODES, 0))[0]
    for flow in network.flows:
        for end in (flow.source, flow.destination):
            if int(end) >= nodes:
                fail(
                    file, flow.line, f"there is no node {end}: there are {nodes}, 0 to {nodes - 1}"
                )


def _failures(file: Path, line: int) -> None:
    fail(file, line, "a list of flows has no failures; state failures as faults of the experiment")


def _values(file: Path, line: int, words: list[str]) -> dict[str, int]:
    """The numbers of a connection. ``msg`` may be alone: the connection is a message."""
    values: dict[str, int] = {}
    rest = list(words)
    while rest:
        key, value = rest[0], rest[1] if len(rest) > 1 else ""
        if key == "msg" and not value.isdigit():
            rest = rest[1:]
            continue
        # htsim reads starts as decimal picoseconds.
        if key not in _NUMBERED or not re.fullmatch(r"\d{1,18}(\.\d{0,12})?", value):
            fail(
                file,
                line,
                f"`{key} {value}` is not a part of a connection; allowed: {', '.join(_NUMBERED)}",
            )
        values[key] = int(value.partition(".")[0])
        rest = rest[2:]
    return values


def _flow(file: Path, line: int, ends: re.Match[str], values: dict[str, int]) -> Flow:
    if "start" in values and "trigger" in values:
        fail(file, line, "the connection has a start and a trigger: leave one out")
    if "start" not in values and "trigger" not in values:
        fail(file, line, "the connection has no start: write start and a number")
    if "size" not in values:
        fail(file, line, "the connection has no size: write size and a number")
    if values["size"] == 0:
        fail(
            file,
            line,
            "a size of 0 is a connection until the simulation ends in htsim: write its bytes",
        )
    source, destination = (str(int(end)) for end in ends.groups())
    return Flow(values.get("start", 0), source, destination, values["size"], line)


def _define(file: Path, line: int, words: list[str], triggers: dict[int, _Trigger]) -> None:
    found = re.fullmatch(
        r"id (\d{1,9}) (oneshot|multishot|barrier)(?: count (\d{1,9}))?"
        r"|id (\d{1,9}) count (\d{1,9}) (barrier)",
        " ".join(words),
    )
    if found is None:
        fail(file, line, "a trigger is for example: trigger id 1 oneshot")
    number, kind = int(found[1] or found[4]), found[2] or found[6]
    if kind == "multishot":
        fail(
            file,
            line,
            f"trigger {number} is a multishot: its connections start in the order in which others"
            " end, and a trace in GOAL has a fixed order; write oneshot triggers",
        )
    trigger = triggers.setdefault(number, _Trigger(line))
    if trigger.kind:
        fail(file, line, f"trigger {number} comes twice: line {trigger.line} has it")
    trigger.line, trigger.kind = line, kind
    trigger.count = int(found[3] or found[5] or 1) if kind == "barrier" else 1


def _wait(
    network: Network,
    waiting: list[tuple[int, int]],
    triggers: dict[int, _Trigger],
    file: Path,
) -> None:
    """Make each triggered connection wait for those that fire its trigger."""
    for place, number in waiting:
        flow = network.flows[place]
        trigger = triggers.get(number)
        if trigger is None or not trigger.kind:
            fail(
                file, flow.line, f"there is no trigger {number}: write trigger id {number} oneshot"
            )
        if len(trigger.fired) != trigger.count:
            fail(
                file,
                trigger.line,
                f"{len(trigger.fired)} connections fire trigger {number}, a {trigger.kind} of"
                f" {trigger.count}: it never starts its own, or too often",
            )
        waits = []
        for before in trigger.fired:
            earlier = network.flows[before]
            if flow.source not in (earlier.source, earlier.destination):
                fail(
                    file,
                    flow.line,
                    f"the connection waits for that of line {earlier.line}, which node"
                    f" {flow.source} neither sends nor receives: no message tells it",
                )
            waits.append((before, flow.source != earlier.source))
        network.flows[place] = replace(flow, waits=tuple(waits))
