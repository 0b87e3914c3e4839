"""Slurm's switch trees: ``topology.conf`` for the plugin ``topology/tree``.

A line names a switch and the nodes or the switches below it, as host lists (``cn[001-006,010]``)::

    SwitchName=leaf0 Nodes=cn[001-006]
    SwitchName=top Switches=leaf[0-1] LinkSpeed=200

Slurm needs neighbourhood and not cables: the file has no cable count and no rate. One cable is assumed between a switch
and each one below it, so that a tree is narrower than the cluster where several cables lead up. ``LinkSpeed`` has no
unit, and Slurm itself ignores it. Nodes are numbered by name, in the order in which Slurm numbers a job's tasks. The
blocks in ``topology/block`` have no network between them, and are refused by name.

Source: Slurm's ``topology.conf(5)``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from elanite.formats.network import MOST_NODES, Cable, Network, checked, natural, wrong

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NAME = "Slurm topology.conf"

_WORD = re.compile(r"(\w+)\s*=\s*(\"[^\"]*\"|\S+)")
_KEYS = {"switchname": "SwitchName", "nodes": "Nodes", "switches": "Switches", "linkspeed": "LinkSpeed"}


def read(text: str, file: Path) -> Network:
    """Read a tree. Raises ``UsageError``."""
    network = Network(NAME)
    below: list[tuple[str, str, str, int]] = []
    speeds = 0
    for line, words in _lines(text, file):
        if "BlockName" in words or "BlockSizes" in words:
            wrong(
                file,
                line,
                "blocks of the plugin topology/block have no network between them: give the topology.conf of"
                " topology/tree, or the output of ibnetdiscover",
            )
        if "SwitchName" not in words:
            wrong(file, line, "the line has no SwitchName")
        if ("Nodes" in words) == ("Switches" in words):
            wrong(file, line, f"switch `{words['SwitchName']}` needs either Nodes or Switches")
        names = expanded(words["SwitchName"], file, line)
        if len(names) != 1:
            wrong(file, line, f"`{words['SwitchName']}` are {len(names)} switches: a line has one")
        if names[0] in network.switches:
            wrong(file, line, f"switch `{names[0]}` comes twice: line {network.switches[names[0]]} has it")
        network.switches[names[0]] = line
        speeds += "LinkSpeed" in words
        key = "Nodes" if "Nodes" in words else "Switches"
        below += [(names[0], key, name, line) for name in expanded(words[key], file, line)]
    for switch, key, name, line in below:
        if key == "Nodes":
            if name in network.nodes:
                wrong(file, line, f"node `{name}` is at two switches: line {network.nodes[name]} has it, too")
            network.nodes[name] = line
        elif name not in network.switches:
            wrong(file, line, f"there is no line SwitchName={name}")
        network.cables.append(Cable(name, switch, None, None, line))
    network.nodes = {name: network.nodes[name] for name in sorted(network.nodes, key=natural)}
    network.notes.append("topology.conf has no number of cables: one is assumed from each switch to each one below it")
    if speeds:
        network.notes.append("LinkSpeed has no unit, and Slurm ignores it: left out")
    return checked(network, file)


def _lines(text: str, file: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Each line's keys; a line that ends in a backslash goes on."""
    begun, start = "", 0
    for line, written in enumerate(text.splitlines(), 1):
        start = start if begun else line
        begun += written.partition("#")[0]
        if begun.rstrip().endswith("\\"):
            begun = begun.rstrip()[:-1] + " "
            continue
        written, begun = begun.strip(), ""
        if not written:
            continue
        if rest := _WORD.sub("", written).strip():
            wrong(file, start, f"`{rest[:60]}` is no KEY=VALUE")
        words: dict[str, str] = {}
        for key, value in _WORD.findall(written):
            name = _KEYS.get(key.lower(), key if key.lower() in ("blockname", "blocksizes") else "")
            name = {"blockname": "BlockName", "blocksizes": "BlockSizes"}.get(key.lower(), name)
            if not name or name in words:
                wrong(file, start, f"`{key}` is not a key here, or comes twice; allowed: {', '.join(_KEYS.values())}")
            words[name] = value.strip('"')
        yield start, words


def expanded(text: str, file: Path, line: int) -> list[str]:
    """The hosts in a Slurm list: ``a,cn[001-003,7]`` is a, cn001, cn002, cn003 and cn7."""
    found: list[str] = []
    for part in re.findall(r"(?:[^,\[\]]|\[[^\[\]]*\])+", text):
        names = [""]
        for piece in re.findall(r"\[[^\[\]]*\]|[^\[\]]+", part):
            ends = _range(piece, file, line) if piece.startswith("[") else [piece]
            if len(names) * len(ends) > MOST_NODES:
                wrong(file, line, f"`{part}` stands for more than {MOST_NODES:,} names")
            names = [name + end for name in names for end in ends]
        found += names
    if not found or "[" in re.sub(r"\[[^\[\]]*\]", "", text) or "]" in re.sub(r"\[[^\[\]]*\]", "", text):
        wrong(file, line, f"`{text}` is not a list of names: write for example cn[001-006,010]")
    return found


def _range(piece: str, file: Path, line: int) -> list[str]:
    found: list[str] = []
    for part in piece[1:-1].split(","):
        ends = re.fullmatch(r"(\d{1,9})(?:-(\d{1,9}))?", part.strip())
        last = int(ends[2] or ends[1]) if ends else -1
        if ends is None or not int(ends[1]) <= last < int(ends[1]) + MOST_NODES:
            wrong(file, line, f"`{part}` in `{piece}` is no range: write for example 001-006")
        found += [f"{number:0{len(ends[1])}d}" for number in range(int(ends[1]), last + 1)]
    return found
