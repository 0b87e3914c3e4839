"""Slurm's networks: ``topology.conf``, and ``topology.yaml``, its form since version 25.05.

A line of the plugin ``topology/tree`` names a switch and the nodes or the switches below it, as
host lists (``cn[001-006,010]``)::

    SwitchName=leaf0 Nodes=cn[001-006]
    SwitchName=top Switches=leaf[0-1] LinkSpeed=200

Several switches in ``SwitchName`` are alike: each one is above all switches of the line. A node at
several switches, of which Slurm warns, has a cable to each, as in a cluster with rails. A line of
``topology/block`` has a block of nodes, ``BlockName=b1 Nodes=cn[01-18]``. The YAML form lists the
same, several topologies in a file; the first one with ``cluster_default`` is read, or else the
first one::

    - topology: main
      cluster_default: true
      tree:
        switches:
          - {switch: top, children: "leaf[0-1]"}
          - {switch: leaf0, nodes: "cn[001-006]"}

``scontrol show topology`` prints the same lines with each switch's ``Level``, and all nodes below a
switch beside its ``Switches``, which hold then; aggregated blocks are left out.

Slurm needs neighbourhood and not cables: the file has no cable count and no rate. One cable is
assumed between a switch and each one below it, so that a tree is narrower than the cluster where
several cables lead up. Blocks have no switches in the file: one switch for each block is assumed,
and one above all blocks. ``LinkSpeed`` has no unit, and Slurm itself ignores it. Nodes are numbered
by name, in the order in which Slurm numbers a job's tasks. The plugins ``flat``, ``torus`` and
``ring`` are refused by name.

Source: Slurm's ``topology.conf(5)`` and ``topology.yaml(5)``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from elanite.base.text import counted
from elanite.formats.network import MOST_NODES, Cable, Network, checked, fail, sort_key
from elanite.formats.yaml import LINE, loaded

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

NAME, YAML = "Slurm topology.conf", "Slurm topology.yaml"

_WORD = re.compile(r"(\w+)\s*=\s*(\"[^\"]*\"|\S+)")
_KEYS = ("SwitchName", "BlockName", "BlockSizes", "Nodes", "Switches", "LinkSpeed")
_SHOWN = ("Level", "BlockIndex", "BlockSize", "AggregatedBlock")
"""Further keys of ``scontrol show topology``."""
_TOP = "top"
"""The switch above all blocks."""


class SlurmEntry(NamedTuple):
    """A switch or a block, with the host lists that the file has."""

    line: int
    name: str
    nodes: str
    below: str = ""
    """Switches."""


def read(text: str, file: Path) -> Network:
    """Read a ``topology.conf``. Raises ``UsageError``."""
    switches: list[SlurmEntry] = []
    blocks: list[SlurmEntry] = []
    speeds = False
    for line, words in _lines(text, file):
        speeds |= "LinkSpeed" in words
        if list(words) == ["BlockSizes"] or "AggregatedBlock" in words:
            continue
        kind = next((key for key in ("SwitchName", "BlockName") if key in words), None)
        if kind is None:
            fail(file, line, "the line has no SwitchName and no BlockName")
        if "Level" in words and words.get("Switches"):
            words["Nodes"] = ""
        entry = SlurmEntry(line, words[kind], words.get("Nodes", ""), words.get("Switches", ""))
        (switches if kind == "SwitchName" else blocks).append(entry)
    if switches and blocks:
        fail(
            file,
            blocks[0].line,
            f"line {switches[0].line} has a switch, and this one a block: a file has one kind",
        )
    network = Network(NAME)
    if speeds:
        network.notes.append("LinkSpeed has no unit, and Slurm ignores it: left out")
    return _blocks(network, blocks, file) if blocks else _tree(network, switches, file)


def read_yaml(text: str, file: Path) -> Network:
    """Read a ``topology.yaml``. Raises ``UsageError``."""
    content = loaded(text, file)
    listed = content if isinstance(content, list) else []
    found = [each for each in listed if isinstance(each, dict) and "topology" in each]
    if not found:
        fail(file, 1, "a topology.yaml is a list of topologies: - topology: NAME")
    chosen = next((each for each in found if each.get("cluster_default") is True), found[0])
    network = Network(YAML)
    if len(found) > 1:
        others = ", ".join(f"`{each['topology']}`" for each in found if each is not chosen)
        network.notes.append(
            f"topology `{chosen['topology']}` is read; the others are left out: {others}"
        )
    tree, block = chosen.get("tree"), chosen.get("block")
    if isinstance(block, dict):
        return _blocks(network, list(_entries(block, "blocks", "block", file)), file)
    if not isinstance(tree, dict):
        plugin = next(
            (key for key in chosen if key not in ("topology", "cluster_default", LINE)), "flat"
        )
        fail(
            file,
            chosen[LINE],
            f"the plugin topology/{plugin} states no network that is read; allowed: tree, block",
        )
    return _tree(network, list(_entries(tree, "switches", "switch", file)), file)


def _entries(part: dict[str, object], key: str, name: str, file: Path) -> Iterator[SlurmEntry]:
    listed = part.get(key)
    for each in listed if isinstance(listed, list) else ():
        if not isinstance(each, dict) or not isinstance(each.get(name), str | int):
            fail(file, _line(each, part), f"`{key}` lists mappings with the key `{name}`")
        nodes, below = (_hosts(each.get(one)) for one in ("nodes", "children"))
        yield SlurmEntry(_line(each, part), str(each[name]), nodes, below)


def _hosts(written: object) -> str:
    """A host list, which may be a list in YAML, too."""
    return ",".join(map(str, written)) if isinstance(written, list) else str(written or "")


def _line(*places: object) -> int:
    return next((int(each[LINE]) for each in places if isinstance(each, dict)), 1)


def _tree(network: Network, entries: Sequence[SlurmEntry], file: Path) -> Network:
    below: list[tuple[str, bool, str, int]] = []
    alike = 0
    for line, written, nodes, switches in entries:
        if bool(nodes) == bool(switches):
            fail(file, line, f"switch `{written}` needs either Nodes or Switches")
        names = expanded(written, file, line)
        if nodes and len(names) > 1:
            fail(
                file,
                line,
                f"`{written}` are {len(names)} switches, and a node is at one: write a line for"
                " each",
            )
        alike += len(names) > 1
        for name in names:
            if name in network.switches:
                fail(
                    file, line, f"switch `{name}` comes twice: line {network.switches[name]} has it"
                )
            network.switches[name] = line
            listed = expanded(nodes or switches, file, line)
            below += [(name, bool(nodes), each, line) for each in dict.fromkeys(listed)]
    several: dict[str, int] = {}
    for switch, is_node, name, line in below:
        if is_node:
            if name in network.nodes:
                several.setdefault(name, line)
            network.nodes.setdefault(name, line)
            network.cables.append(Cable(name, switch, None, None, line))
        elif name not in network.switches:
            fail(file, line, f"there is no line SwitchName={name}")
        else:
            network.cables.append(Cable(name, switch, None, None, line))
    _connected(network, {name for _, is_node, name, _ in below if not is_node}, file)
    network.notes.insert(
        0, "the file has no number of cables: one is assumed from each switch to each one below it"
    )
    if several:
        name, line = next(iter(several.items()))
        network.notes.append(
            f"{counted(len(several), 'node')} at several switches, such as `{name}` (line {line}):"
            " a cable to each"
        )
    if alike:
        lines = counted(alike, "line")
        network.notes.append(
            f"several switches in {lines}: each of them is above all switches of its line"
        )
    return _sorted(network, file)


def _connected(network: Network, below: set[str], file: Path) -> None:
    """Refuses several trees, which Slurm allows: no job spans them, and no cable joins them."""
    roots = [name for name in network.switches if name not in below]
    seen: dict[str, str] = {}
    near: dict[str, list[str]] = {}
    for each in network.cables:
        near.setdefault(each.one, []).append(each.other)
        near.setdefault(each.other, []).append(each.one)
    for root in roots:
        rest = [root] if root not in seen else []
        while rest:
            name = rest.pop()
            if name not in seen:
                seen[name] = root
                rest += near.get(name, ())
    parts = sorted({seen[root] for root in roots}, key=sort_key)
    if len(parts) > 1:
        fail(
            file,
            network.switches[parts[1]],
            f"the file has {len(parts)} trees,"
            f" {', '.join(parts[:4])}{', ...' if parts[4:] else ''}, and no cable between them: add"
            f" a line such as SwitchName=core Switches={','.join(parts[:4])}, or leave trees out",
        )


def _blocks(network: Network, entries: Sequence[SlurmEntry], file: Path) -> Network:
    for line, name, nodes, _ in entries:
        if not nodes:
            fail(file, line, f"block `{name}` has no Nodes")
        if name in network.switches:
            fail(file, line, f"block `{name}` comes twice: line {network.switches[name]} has it")
        network.switches[name] = line
        for node in expanded(nodes, file, line):
            if node in network.nodes:
                fail(
                    file,
                    line,
                    f"node `{node}` is in two blocks: line {network.nodes[node]} has it, too",
                )
            network.nodes[node] = line
            network.cables.append(Cable(node, name, None, None, line))
    network.notes.insert(
        0, "a block has no switches in the file: one with a cable to each node is assumed"
    )
    if len(entries) > 1:
        if _TOP in network.switches or _TOP in network.nodes:
            fail(
                file,
                network.switches.get(_TOP),
                f"the name `{_TOP}` is that of the switch above all: rename it",
            )
        network.switches[_TOP] = None
        network.cables += [Cable(each.name, _TOP, None, None, each.line) for each in entries]
        network.notes.insert(
            1,
            f"one switch, `{_TOP}`, with a cable to each block is assumed: add cables that you"
            " know",
        )
    return _sorted(network, file)


def _sorted(network: Network, file: Path) -> Network:
    network.nodes = {name: network.nodes[name] for name in sorted(network.nodes, key=sort_key)}
    return checked(network, file)


def _lines(text: str, file: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Each line's keys; a line that ends in a backslash goes on."""
    names = {key.lower(): key for key in (*_KEYS, *_SHOWN)}
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
        if re.match(r"include\s", written, re.IGNORECASE):
            fail(file, start, f"`{written[:60]}`: one file is read; put its lines here")
        if rest := _WORD.sub("", written).strip():
            fail(file, start, f"`{rest[:60]}` is no KEY=VALUE")
        words: dict[str, str] = {}
        for key, value in _WORD.findall(written):
            name = names.get(key.lower(), "")
            if not name or name in words:
                fail(
                    file,
                    start,
                    f"`{key}` is not a key here, or comes twice; allowed: {', '.join(_KEYS)}",
                )
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
                fail(file, line, f"`{part}` stands for more than {MOST_NODES:,} names")
            names = [name + end for name in names for end in ends]
        found += names
    if (
        not found
        or "[" in re.sub(r"\[[^\[\]]*\]", "", text)
        or "]" in re.sub(r"\[[^\[\]]*\]", "", text)
    ):
        fail(file, line, f"`{text}` is not a list of names: write for example cn[001-006,010]")
    return found


def _range(piece: str, file: Path, line: int) -> list[str]:
    found: list[str] = []
    for part in piece[1:-1].split(","):
        ends = re.fullmatch(r"(\d{1,9})(?:-(\d{1,9}))?", part.strip())
        last = int(ends[2] or ends[1]) if ends else -1
        if ends is None or not int(ends[1]) <= last < int(ends[1]) + MOST_NODES:
            fail(file, line, f"`{part}` in `{piece}` is no range: write for example 001-006")
        found += [f"{number:0{len(ends[1])}d}" for number in range(int(ends[1]), last + 1)]
    return found
