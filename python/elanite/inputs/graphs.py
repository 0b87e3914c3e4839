"""Networks from files and from Python: the graph for a machine of kind ``graph``, and its
forwarding tables.

The simulator reads no files. So a machine file's text is completed as soon as it is read: behind
its end stand ``[topology.cables]`` and ``[topology.routes]`` with the content of its named files.
Engine workers, stores and notebooks have the whole machine. Point keys depend on the content, and
not on the file names.

A file that ends in ``.graphml`` is GraphML, which networkx reads; any other one is an edge list,
see ``crates/machine/src/graph.rs``. Edges may have the data ``rate`` and ``delay``, such as "25
Gb/s" and "800 ns". Forwarding tables are lines with a switch, a destination and the next switches,
see ``crates/machine/src/routes.rs``. Errors name the file and the line.

``Machine.with_graph`` makes the same texts from a Python graph and tables.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, NoReturn, Protocol, runtime_checkable
from xml.parsers import expat

from elanite import _core
from elanite.base import bounded
from elanite.base.foreign import optional, reading
from elanite.base.text import word
from elanite.errors import UsageError
from elanite.inputs import toml

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

GRAPHML = ".graphml"
KINDS = ("node", "switch")
WORDS = ("rate", "delay")


@runtime_checkable
class Graph(Protocol):
    """A networkx graph, as far as it is read here."""

    def is_directed(self) -> bool:
        """Whether its edges have directions."""

    def nodes(self, *, data: bool) -> Iterable[tuple[Hashable, Mapping[str, object]]]:
        """The vertices with their data."""

    def edges(self, *, data: bool) -> Iterable[tuple[Hashable, Hashable, Mapping[str, object]]]:
        """Two vertices each, and the edge's data."""


def completed(text: str, machine: Path) -> str:
    """A machine file's text with the cables and routes from its named files; the same text without
    any.

    Raises ``UsageError`` if a file cannot be read, or is wrong.
    """
    topology = _topology(text)
    cables = _value(topology, "cables")
    if (file := _named(topology, "file", "cables", machine)) is not None:
        content, lines = _content(file, "file", machine), None
        if file.suffix.lower() == GRAPHML:
            content, lines = _graphml(content, file)
        else:
            _foreign(content, file)
        if (mistake := _core.graph_mistake(content)) is not None:
            line, message = mistake
            _fail(file, lines[line - 1] if lines and line else line, message)
        text, cables = with_content(text, "cables", content, _value(topology, "file")), content
    if (file := _named(topology, "routes_file", "routes", machine)) is not None:
        content = _content(file, "routes_file", machine)
        terminals = _value(topology, "terminals")
        if (
            isinstance(cables, str)
            and (mistake := _mistake(cables, terminals, content)) is not None
        ):
            _fail(file, *mistake)
        text = with_content(text, "routes", content, _value(topology, "routes_file"))
    return text


def _named(topology: dict[str, object], key: str, content: str, machine: Path) -> Path | None:
    """The file that a key names, unless the machine file has its content."""
    named = _value(topology, key)
    # The simulator reports values with another type.
    return machine.parent / named if isinstance(named, str) and content not in topology else None


def _content(file: Path, key: str, machine: Path) -> str:
    return bounded.text(
        file, bounded.TABLE, f"topology.{key} of {machine} names it, relative to the machine file"
    )


def _foreign(content: str, file: Path) -> None:
    """Refuses another tool's network by its format's name: its words may be taken for edges."""
    # Few commands read a graph, and the formats' parsers take long to import.
    from elanite.formats import recognition

    found = recognition.of_text(content)
    if (
        isinstance(found, recognition.FileFormat)
        and found is not recognition.KnownFormat.EDGES.value
    ):
        message = f"this is a file of another tool, {found.name}, and no list of cables"
        _fail(file, None, f"{message}\n  write a machine of it: elanite import {word(file)}")


def with_content(text: str, key: str, content: str, source: object) -> str:
    """A machine file with its graph file's cables, or its routes, behind its end."""
    return (
        f"{text.rstrip()}\n\n[topology.{key}]\nvalue = {toml.value(content)}\nsource ="
        f" {toml.value(source)}\n"
    )


def _mistake(cables: str, terminals: object, routes: str) -> tuple[int | None, str] | None:
    """The first mistake in routes, as far as the topology's rest is right: the line, and a
    message.
    """
    if terminals is not None and not (type(terminals) is int and 0 <= terminals < 2**32):
        return None
    return _core.routes_mistake(cables, terminals, routes)


def _topology(text: str) -> dict[str, object]:
    """A machine file's section, if the file names a graph file or a route file."""
    if re.search(r"\b(routes_)?file\b", text) is None:
        return {}
    try:
        topology = tomllib.loads(text).get("topology")
    except (ValueError, RecursionError):  # the simulator names the place
        return {}
    return topology if isinstance(topology, dict) else {}


def _value(section: dict[str, object], key: str) -> object:
    parameter = section.get(key)
    return parameter.get("value") if isinstance(parameter, dict) else None


def section(
    graph: Graph | Iterable[Sequence[Hashable]],
    routes: Mapping[object, Mapping[object, object]] | None,
    terminals: int | None,
    roots: Sequence[object],
    hop_classes: int | None,
    routing: str | None,
    ways: int | None,
    source: str,
) -> dict[str, dict[str, object]]:
    """The section ``[topology]`` for a Python graph; see ``Machine.with_graph``."""
    cables, own = _listed(graph)
    if not own and terminals is None:
        raise UsageError(
            "the graph has no nodes\n  give terminals=N, the number of nodes of each switch, or the"
            ' vertices the data kind, "node" or "switch"'
        )
    if own and terminals is not None:
        raise UsageError(
            f"the graph has {own} nodes of its own, and terminals={terminals} asks for others\n "
            " leave it out"
        )
    if (mistake := _core.graph_mistake(cables)) is not None:
        raise UsageError(f"the graph is wrong: {mistake[1]}")
    switches = sum(line.startswith("switch ") for line in cables.splitlines())
    values: dict[str, object] = {
        "kind": "graph",
        "nodes": own or switches * (terminals or 0),
        "cables": cables,
    }
    if terminals is not None:
        values["terminals"] = terminals
    if roots:
        values["roots"] = [_name(root) for root in roots]
    if routes is not None:
        values["routes"] = written = _tables(routes)
        if (mistake := _mistake(cables, terminals, written)) is not None:
            line, message = mistake
            entry = written.splitlines()[line - 1].split() if line else []
            place = f" at switch {entry[0]} for {entry[1]}" if entry else ""
            raise UsageError(f"the routes are wrong{place}: {message}")
    if hop_classes is not None:
        values["hop_classes"] = hop_classes
    if routing is not None:
        values["routing"] = routing
    if ways is not None:
        values["ways"] = ways
    return {key: {"value": value, "source": source} for key, value in values.items()}


def _listed(graph: Graph | Iterable[Sequence[Hashable]]) -> tuple[str, int]:
    """A networkx graph, or switch pairs, as a cable list; and its node count."""
    kinds: dict[Hashable, object]
    edges: list[Sequence[Hashable]]
    if isinstance(graph, Graph):
        if graph.is_directed():
            raise UsageError(
                "the graph is directed, and cables lead both ways: give graph.to_undirected()"
            )
        kinds = {name: data.get("kind") for name, data in graph.nodes(data=True)}
        edges = [(one, other, _words(data)) for one, other, data in graph.edges(data=True)]
    else:
        pairs = [tuple(edge) for edge in graph]
        if wrong := [edge for edge in pairs if len(edge) != 2]:
            raise UsageError(
                f"the edge {wrong[0]!r} has {len(wrong[0])} ends: an edge is two switches"
            )
        kinds = dict.fromkeys((end for edge in pairs for end in edge), None)
        edges = [(one, other, "") for one, other in pairs]
    parted = any(kinds.values())
    names: dict[str, object] = {}
    lines = []
    for vertex, kind in kinds.items():
        name = _name(vertex)
        if name in names:
            raise UsageError(
                f"the vertices {names[name]!r} and {vertex!r} have the same name `{name}`:"
                " rename one"
            )
        if parted and kind not in KINDS:
            raise UsageError(
                f"`{name}` is neither a node nor a switch: give it the data kind, `node` or"
                " `switch`"
            )
        names[name] = vertex
        lines.append(f"{kind if parted else 'switch'} {name}")
    lines += [f"{_name(one)} {_name(other)}{words}" for one, other, words in edges]
    return "\n".join(lines), sum(kind == "node" for kind in kinds.values())


def _words(data: Mapping[str, object]) -> str:
    """A cable's words, from its edge's data."""
    return "".join(f" {key}={''.join(str(data[key]).split())}" for key in WORDS if key in data)


def _tables(routes: Mapping[object, Mapping[object, object]]) -> str:
    """Forwarding tables as lines."""
    lines = []
    for switch, row in routes.items():
        if not isinstance(row, Mapping):
            raise UsageError(
                f"the routes of switch {switch!r} are not a dictionary: write {{destination: next"
                " switches}"
            )
        for destination, found in row.items():
            several = (
                [found]
                if isinstance(found, Hashable)
                else sorted(found)
                if isinstance(found, set)
                else found
            )
            names = [_name(each) for each in several]
            if not names:
                raise UsageError(
                    f"the routes are wrong at switch {_name(switch)} for {_name(destination)}:"
                    " there is no next switch: name at least one neighbour"
                )
            lines.append(" ".join([_name(switch), _name(destination), *names]))
    return "\n".join(lines)


def _name(vertex: object) -> str:
    """A vertex's name; for a tuple, its parts with dots between them."""
    name = ".".join(map(_name, vertex)) if isinstance(vertex, tuple) else str(vertex)
    if not name or re.search(r"[\s,#]", name):
        raise UsageError(
            f"the name `{name}` has a blank, a comma or a #: name the vertex otherwise"
        )
    return name


def _fail(file: Path, line: int | None, message: str) -> NoReturn:
    place = f"{file}:{line}" if line else f"{file}"
    raise UsageError(f"{place}: {message}")


def _graphml(content: str, file: Path) -> tuple[str, list[int]]:
    """GraphML as an edge list, and the file line for each list line."""
    with optional(f"{file}: GraphML needs the package networkx: pip install networkx"):
        import networkx as nx
    parts, ends = _elements(content, file)
    with reading(file, "not a graph in GraphML", "draw it anew, or write a list of cables"):
        graph = nx.parse_graphml(content, force_multigraph=True)
    if graph.is_directed():
        _fail(
            file,
            None,
            'the graph is directed, and cables lead both ways: write edgedefault="undirected"',
        )
    text: list[str] = []
    lines: list[int] = []
    kinds = {name: data.get("kind") for name, data in graph.nodes(data=True)}
    parted = any(kinds.values())
    for name, line in parts.items():
        if re.search(r"[\s,#]", name) or not name:
            _fail(file, line, f"the name `{name}` has a blank, a comma or a #: take another id")
        kind = kinds.get(name) if parted else "switch"
        if kind not in KINDS:
            _fail(
                file,
                line,
                f"`{name}` is neither a node nor a switch: give it the data kind, `node` or"
                " `switch`",
            )
        text.append(f"{kind} {name}")
        lines.append(line)
    # Edges between the same two vertices stand in file order.
    words: dict[frozenset[str], list[str]] = {}
    for start, end, data in graph.edges(data=True):
        words.setdefault(frozenset((start, end)), []).append(_words(data))
    for start, end, line in ends:
        for name in (start, end):
            if name not in parts:
                _fail(file, line, f"there is no node and no switch `{name}`")
        text.append(f"{start} {end}{words[frozenset((start, end))].pop(0)}")
        lines.append(line)
    return "\n".join(text), lines


def _elements(content: str, file: Path) -> tuple[dict[str, int], list[tuple[str, str, int]]]:
    """GraphML vertices and edges with their lines, which networkx forgets."""
    parts: dict[str, int] = {}
    ends: list[tuple[str, str, int]] = []
    parser = expat.ParserCreate("utf-8")

    def start(tag: str, attributes: dict[str, str]) -> None:
        line = parser.CurrentLineNumber
        match tag.rpartition(":")[2]:
            case "node":
                name = attributes.get("id", "")
                if name in parts:
                    _fail(file, line, f"the name `{name}` is taken: line {parts[name]} has it")
                parts[name] = line
            case "edge":
                ends.append((attributes.get("source", ""), attributes.get("target", ""), line))

    parser.StartElementHandler = start
    try:
        parser.Parse(content.encode(), True)
    except expat.ExpatError as error:
        _fail(file, error.lineno, f"not a graph in GraphML: {expat.ErrorString(error.code)}")
    return parts, ends
