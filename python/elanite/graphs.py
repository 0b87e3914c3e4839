"""Networks from files: the graph that a machine of the kind ``graph`` names.

The simulator reads no files. So the text of a machine file is completed as soon as it is read: behind its end stands
``[topology.cables]`` with the content of the graph file, and from then on nobody needs the graph file: workers of
engines, stores and notebooks have the whole machine. The content decides the keys of points, the name of the file does
not.

A file that ends in ``.graphml`` is GraphML, which networkx reads; any other one is a list of edges, see
``crates/machine/src/graph.rs``. What is wrong is said with the file and the line.
"""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING, Any, NoReturn
from xml.parsers import expat

from elanite import _core, toml
from elanite.errors import UsageError
from elanite.foreign import reading

if TYPE_CHECKING:
    from pathlib import Path

GRAPHML = ".graphml"
KINDS = ("node", "switch")


def completed(text: str, machine: Path) -> str:
    """The text of a machine file with the cables of the graph file that it names; the same text if it names none.

    Raises ``UsageError`` if the graph file cannot be read, or is wrong.
    """
    topology = _topology(text)
    named = _value(topology, "file")
    if not isinstance(named, str) or "cables" in topology:
        return text  # what does not fit is said by the simulator
    file = machine.parent / named
    try:
        content = file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"{file}: not a text file in UTF-8 (byte {error.start})") from error
    except OSError as error:
        raise UsageError(
            f"{file}: {error.strerror}\n  topology.file of {machine} names it, relative to the machine file"
        ) from error
    lines = None
    if file.suffix.lower() == GRAPHML:
        content, lines = _graphml(content, file)
    mistake = _core.graph_mistake(content)
    if mistake is not None:
        line, message = mistake
        _wrong(file, lines[line - 1] if lines and line else line, message)
    return f"{text.rstrip()}\n\n[topology.cables]\nvalue = {toml.value(content)}\nsource = {toml.value(named)}\n"


def _topology(text: str) -> dict[str, Any]:
    """The section of a machine file, if the file names a graph file."""
    if re.search(r"\bfile\b", text) is None:
        return {}
    try:
        topology = tomllib.loads(text).get("topology")
    except (ValueError, RecursionError):  # the simulator names the place
        return {}
    return topology if isinstance(topology, dict) else {}


def _value(section: dict[str, Any], key: str) -> Any:
    parameter = section.get(key)
    return parameter.get("value") if isinstance(parameter, dict) else None


def _wrong(file: Path, line: int | None, message: str) -> NoReturn:
    place = f"{file}:{line}" if line else f"{file}"
    raise UsageError(f"{place}: {message}")


def _graphml(content: str, file: Path) -> tuple[str, list[int]]:
    """GraphML as a list of edges, and the line in the file for each line of the list."""
    try:
        import networkx as nx
    except ImportError as error:
        raise UsageError(f"{file}: GraphML needs the package networkx: pip install networkx") from error
    parts, ends = _elements(content, file)
    with reading(file, "not a graph in GraphML", "draw it anew, or write a list of cables"):
        graph = nx.parse_graphml(content, force_multigraph=True)
    if graph.is_directed():
        _wrong(file, None, 'the graph is directed, and cables lead both ways: write edgedefault="undirected"')
    text: list[str] = []
    lines: list[int] = []
    kinds = {name: data.get("kind") for name, data in graph.nodes(data=True)}
    parted = any(kinds.values())
    for name, line in parts.items():
        if re.search(r"[\s,#]", name) or not name:
            _wrong(file, line, f"the name `{name}` has a blank, a comma or a #: take another id")
        kind = kinds.get(name) if parted else "switch"
        if kind not in KINDS:
            _wrong(file, line, f"`{name}` is neither a node nor a switch: give it the data kind, `node` or `switch`")
        text.append(f"{kind} {name}")
        lines.append(line)
    for start, end, line in ends:
        for name in (start, end):
            if name not in parts:
                _wrong(file, line, f"there is no node and no switch `{name}`")
        text.append(f"{start} {end}")
        lines.append(line)
    return "\n".join(text), lines


def _elements(content: str, file: Path) -> tuple[dict[str, int], list[tuple[str, str, int]]]:
    """The vertices and edges of GraphML with their lines, which networkx forgets."""
    parts: dict[str, int] = {}
    ends: list[tuple[str, str, int]] = []
    parser = expat.ParserCreate("utf-8")

    def start(tag: str, attributes: dict[str, str]) -> None:
        line = parser.CurrentLineNumber
        match tag.rpartition(":")[2]:
            case "node":
                name = attributes.get("id", "")
                if name in parts:
                    _wrong(file, line, f"the name `{name}` is taken: line {parts[name]} has it")
                parts[name] = line
            case "edge":
                ends.append((attributes.get("source", ""), attributes.get("target", ""), line))

    parser.StartElementHandler = start
    try:
        parser.Parse(content.encode(), True)
    except expat.ExpatError as error:
        _wrong(file, error.lineno, f"not a graph in GraphML: {expat.ErrorString(error.code)}")
    return parts, ends
