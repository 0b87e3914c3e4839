"""InfiniBand fabrics: ``ibnetdiscover`` output, and ``ibsim`` networks.

A section begins with ``Switch``, ``Ca`` or ``Rt``, the port count and a name in quotes. Each line
in it is a port with its peer; the remark behind ``#`` has the width and the speed that the cable
was trained at::

    Switch  36 "S-0b00000000000000"         # "leaf 0" base port 0 lid 1 lmc 0
    [1]     "H-0a00000000000000"[1](a00000000000000)        # "node1 HCA-1" lid 100 4xEDR
    [25]    "S-0b00000000000004"[1]         # "spine 0" lid 5 4xEDR

The tool prints a cable at both ends; the port pair distinguishes its two lines from a second cable.
Lines before the first section, and the tool's warnings between the others, are skipped.
An active port on a channel adapter is a node. Nodes are numbered by name, so that a host's nodes
are in a row. Switches keep the GUID as their name: descriptions often repeat.

The rate is the nominal one for width and speed: 4xEDR is 100 Gb/s, 4xDDR 20 Gb/s. Source:
InfiniBand Architecture Specification, volume 1; ``ibnetdiscover(8)``.
"""

from __future__ import annotations

import re
from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING

from elanite.base.text import counted
from elanite.formats.network import Cable, Network, checked, fail, sort_key
from elanite.formats.quantities import gigabits

if TYPE_CHECKING:
    from pathlib import Path

NAME = "output of ibnetdiscover"

_HEAD = re.compile(r'\s*(Switch|Ca|Hca|Rt|Router)\s+(\d{1,6})\s+"([^"]*)"(.*)', re.IGNORECASE)
_PORT = re.compile(
    r"""\s*\[(\d{1,6})\](?:\[ext\s+\d+\])?(?:\([0-9A-Fa-fx<>\w]*\))? # the port, its panel, its GUID
        \s+"([^"]*)"\s*\[(\d{1,6})\](?:\[ext\s+\d+\])?(?:\([^)]*\))?  # the peer and its port
        (.*)""",
    re.VERBOSE,
)
_TRAINED = re.compile(r"\b(1|2|4|8|12)x(SDR|DDR|QDR|FDR10|FDR|EDR|HDR|NDR|XDR)\b")
_LANE = {
    "SDR": "2.5",
    "DDR": "5",
    "QDR": "10",
    "FDR10": "10",
    "FDR": "14",
    "EDR": "25",
    "HDR": "50",
    "NDR": "100",
} | {"XDR": "200"}
"""Nominal Gb/s per lane."""
_GENERATION = re.compile(
    r"(?:(1|2|4|8|12)x ?)?(FDR10|[SDQFEHNX]DR)((?<=HDR)100|(?<=NDR)200|(?<=XDR)400)?", re.IGNORECASE
)
"""A cable's generation, with four lanes if nothing is said; `HDR100` has two."""
_IGNORED = re.compile(
    r"\s*(#|$|(vendid|devid|sysimgguid|switchguid|caguid|rtguid)\s*="
    r"|Non-Chassis|Chassis\b|Hostname:|ibwarn:|module\b|\S+\.c:\d+;)",
    re.IGNORECASE,
)


def read(text: str, file: Path) -> Network:
    """Read ``ibnetdiscover`` output. Raises ``UsageError``."""
    network = Network(NAME)
    described: dict[str, str] = {}
    kinds: dict[str, tuple[str, int]] = {}
    ends: dict[tuple[tuple[str, str], tuple[str, str]], tuple[str, int]] = {}
    here = ""
    unlike: list[int] = []
    for line, written in enumerate(text.splitlines(), 1):
        if head := _HEAD.fullmatch(written):
            here = head[3]
            # With grouping, the switches of a chassis come a second time.
            kinds.setdefault(here, (head[1].lower(), line))
            described[here] = _described(head[4]) or described.get(here, "")
        elif port := _PORT.fullmatch(written):
            if not here:
                fail(
                    file,
                    line,
                    "a port stands before the first section: begin with a line `Switch`, `Ca` or"
                    " `Rt`",
                )
            peer, remark = port[2], port[4]
            own, other = (here, port[1]), (peer, port[3])
            key = (own, other) if (other, own) not in ends else (other, own)
            if kinds[here][0] == "switch" and (words := _described(remark)):
                described.setdefault(peer, words)
            own_rate, known = (_trained(each) for each in (remark, ends.get(key, ("", 0))[0]))
            if known is None:  # the other end may lack it
                ends[key] = remark, ends.get(key, ("", line))[1]
            elif own_rate is not None and own_rate[0] != known[0]:
                unlike.append(line)
        elif kinds and not _IGNORED.match(written):
            fail(
                file,
                line,
                f"`{written.strip()[:60]}` is not a line of ibnetdiscover: a section begins with"
                ' Switch, Ca or Rt, and a port is [1] "S-..."[2] # ... 4xEDR',
            )
    _fill(network, file, kinds, described, ends)
    if unlike:
        network.notes.append(
            f"{counted(len(unlike), 'cable')} with another rate at each end (line {unlike[0]}): the"
            " first one holds"
        )
    return checked(network, file)


def nominal(text: str) -> Fraction | None:
    """A cable's bits per second by its generation: `4xEDR`, `HDR` with four lanes, `NDR200`."""
    found = _GENERATION.fullmatch(text.strip())
    if found is None:
        return None
    width, name, rate = found.groups()
    return gigabits(Fraction(rate or Fraction(_LANE[name.upper()]) * int(width or 4)))


def _trained(remark: str) -> re.Match[str] | None:
    """Width and speed, which a description in quotes may have, too."""
    return _TRAINED.search(re.sub(r'"[^"]*"', "", remark))


def _described(remark: str) -> str:
    found = re.search(r'#.*?"([^"]*)"', remark)
    return found[1].strip() if found else ""


def _fill(
    network: Network,
    file: Path,
    kinds: dict[str, tuple[str, int]],
    described: dict[str, str],
    ends: dict[tuple[tuple[str, str], tuple[str, str]], tuple[str, int]],
) -> None:
    used: dict[tuple[str, str], int] = {}
    adapters: dict[tuple[str, str], int] = {}
    left: set[str] = set()
    kept = []
    for (own, other), (remark, line) in ends.items():
        for end in (own, other):
            if used.setdefault(end, line) != line:
                fail(
                    file,
                    line,
                    f"port {end[1]} of `{end[0]}` has two cables: line {used[end]} has the"
                    " other one",
                )
        if lost := {
            end[0]
            for end in (own, other)
            if "aggregation node" in described.get(end[0], "").lower()
        }:
            left |= lost
            continue
        kept.append((own, other, remark, line))
        for end in (own, other):
            kind = kinds.get(end[0], ("switch" if end[0].startswith("S-") else "ca", line))[0]
            if kind in ("switch", "rt", "router"):
                network.switches.setdefault(end[0], kinds.get(end[0], ("", line))[1])
            else:
                adapters.setdefault(end, line)
    network.remarks |= {name: described[name] for name in network.switches if described.get(name)}
    names = _named(adapters, described)
    for end in sorted(adapters, key=lambda each: sort_key(names[each])):
        network.nodes[names[end]] = adapters[end]
    unknown = 0
    for own, other, remark, line in kept:
        found = _trained(remark)
        unknown += found is None
        rate = gigabits(Fraction(_LANE[found[2]]) * int(found[1])) if found else None
        network.cables.append(
            Cable(names.get(own, own[0]), names.get(other, other[0]), rate, None, line)
        )
    if 0 < unknown < len(network.cables):
        network.notes.append(
            f"{counted(unknown, 'cable')} without width and speed: the fastest rate of the others"
        )
    if left:
        network.notes.append(
            f"left out: {counted(len(left), 'aggregation node')} of SHARP, within switches"
        )
    if any(kind in ("rt", "router") for kind, _ in kinds.values()):
        network.notes.append("routers are switches here")
    several = len(adapters) - len({end[0] for end in adapters})
    if several:
        network.notes.append(
            f"each active port of an adapter is a node: {counted(several, 'port')} beside the first"
        )
    network.notes.append(
        "rates are nominal: 4xSDR is 10, DDR 20, QDR and FDR10 40, FDR 56, EDR 100, HDR 200, NDR"
        " 400, XDR 800 Gb/s"
    )


def _named(
    adapters: dict[tuple[str, str], int], described: dict[str, str]
) -> dict[tuple[str, str], str]:
    """Node names: the description's first word, the host, with more words or the GUID where several
    have it.
    """
    found: dict[tuple[str, str], str] = {}

    def candidates(end: tuple[str, str]) -> list[str]:
        words = described.get(end[0], "").split()
        own = f"{end[0]}.{end[1]}"
        return (
            [words[0], ".".join(words), ".".join([*words, end[1]]), f"{words[0]}.{own}"]
            if words
            else [own]
        )

    hosts: dict[str, list[tuple[str, str]]] = {}
    for end in adapters:
        hosts.setdefault(candidates(end)[0], []).append(end)
    for several in hosts.values():
        for names in zip(*map(candidates, several), strict=False):
            if len(set(names)) == len(names):
                found |= dict(zip(several, names, strict=True))
                break
    twice = {name for name, count in Counter(found.values()).items() if count > 1}
    return {end: f"{end[0]}.{end[1]}" if name in twice else name for end, name in found.items()}
