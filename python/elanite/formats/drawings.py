"""Graphs without a network tool behind them: edge lists, GraphML and DOT.

Vertices are nodes and switches by their attribute ``kind``, ``type`` or ``role``, if every vertex has a known word
there; otherwise all are switches, and the caller passes each switch's node count. An edge has a rate by ``rate``,
``bandwidth``, ``capacity`` or ``speed``, and a delay by ``delay`` or ``latency``, with a unit; the Topology Zoo's raw
rates are bits per second. Edges in a directed graph are cables, which lead both ways; two opposite ones are a single
cable.

In an edge list, words behind the ends are Elanite's own (``rate=25Gb/s``), a weight, or the dictionary that networkx
writes.
"""

from __future__ import annotations

import ast
import re
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from elanite.base.foreign import reading
from elanite.errors import UsageError
from elanite.formats import infragraph, quantities
from elanite.formats.network import Cable, Network, checked, wrong
from elanite.formats.xml import parsed

if TYPE_CHECKING:
    from fractions import Fraction
    from pathlib import Path

    from elanite.formats.xml import Element

EDGES, GRAPHML, DOT = "list of edges", "graph in GraphML", "graph in DOT"

_NODES = ("node", "host", "server", "compute", "endpoint", "terminal", "hca", "nic", "gpu", "xpu", "end-host")
_SWITCHES = ("switch", "router", "leaf", "spine", "core", "aggregation", "agg", "edge", "tor", "top")
_RATES = ("rate", "bandwidth", "capacity", "speed", "linkspeed", "bw")
_DELAYS = ("delay", "latency", "lat")
UNIT = re.compile(r"(?<=[,;])(\s*[\d.]+)[ \t]+([a-zA-Zµ/]+)(?=[ \t]*(?:[,;]|$))")
"""A number and its unit in a cell."""
_ETHERNET = re.compile(r"([\d.]+)\s*G(?:bE|E|b)?")
"""A rate as switches print it: 100G, 25GE, 400GbE."""
_HEADS = ({"source", "target"}, {"from", "to"}, {"src", "dst"}, {"source", "destination"}, {"node1", "node2"})


@dataclass
class Drawing:
    """Vertices and edges with their attributes, and their lines where these are known."""

    directed: bool = False
    vertices: dict[str, tuple[dict[str, object], int | None]] = field(default_factory=dict)
    edges: list[tuple[str, str, dict[str, object], int | None]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def vertex(self, name: str, data: dict[str, object], line: int | None) -> None:
        """Add a vertex, or a vertex's attributes."""
        known, first = self.vertices.get(name) or ({}, line)
        self.vertices[name] = (known | data, first)


def edges(text: str, file: Path) -> Network:
    """Read an edge list, with or without Elanite's node and switch lines. Raises ``UsageError``."""
    drawn = Drawing(directed=text.startswith("%%MatrixMarket") and " general" in text.partition("\n")[0].lower())
    weights = 0
    sized = _matrix(text)
    for line, written in enumerate(text.splitlines(), 1):
        bare = re.split(r"[#%]|//", written, maxsplit=1)[0].strip()
        data, bare = _dictionary(bare, file, line)
        if len(re.findall("[,;]", bare)) > 1:
            bare = UNIT.sub(r"\1\2", bare)
        words = [word for word in re.split(r"[\s,;]+", bare) if word]
        if not words or (not drawn.edges and _heads(words)):
            continue
        if words[0] in ("switch", "node") and len(words) >= 2:
            if words[1] in drawn.vertices:
                wrong(file, line, f"the name `{words[1]}` is taken: line {drawn.vertices[words[1]][1]} has it")
            drawn.vertex(words[1], {"kind": words[0]} | _pairs(words[2:], file, line), line)
            continue
        if len(words) == 1:
            wrong(file, line, f"`{words[0]}` is alone: a line is a switch, a node, or the two ends of a cable")
        if line == sized:
            continue
        if len(words) == 3 and quantities.number(words[2]) is not None:
            weights += 1
            words = words[:2]
        drawn.edges.append((words[0], words[1], data | _pairs(words[2:], file, line), line))
    _counted(drawn)
    if weights:
        drawn.notes.append(f"the third words of {weights} lines are weights without a unit: left out")
    if not drawn.vertices:
        for one, other, _, place in drawn.edges:
            drawn.vertex(one, {}, place)
            drawn.vertex(other, {}, place)
    return network(drawn, EDGES, file)


def _heads(words: list[str]) -> bool:
    """Whether a first line has the names of columns."""
    low = [word.lower() for word in words]
    return set(low[:2]) in _HEADS or (len(low) > 2 and all(word in (*_RATES, *_DELAYS, "weight") for word in low[2:]))


def _matrix(text: str) -> int | None:
    """The line in a Matrix Market matrix with its rows, columns and entries; `None` for another text."""
    lines = enumerate(text.splitlines(), 1)
    if not text.startswith("%%MatrixMarket"):
        return None
    return next((line for line, written in lines if written.strip() and not written.startswith("%")), None)


def _counted(drawn: Drawing) -> None:
    """Removes a first line with the vertex and edge counts."""
    if drawn.edges and not drawn.vertices:
        vertices, count, _, line = drawn.edges[0]
        ends = {end for edge in drawn.edges[1:] for end in edge[:2]}
        if (vertices, count) == (str(len(ends)), str(len(drawn.edges) - 1)):
            del drawn.edges[0]
            drawn.notes.append(f"line {line} has the numbers of vertices and edges, and is no edge")


def _dictionary(text: str, file: Path, line: int) -> tuple[dict[str, object], str]:
    """The dictionary at the end of a networkx line, and the line's rest."""
    start = text.find("{")
    if start < 0:
        return {}, text
    with reading(f"{file}:{line}", "the data of the edge are no dictionary", "write {'rate': '25 Gb/s'}"):
        data = ast.literal_eval(text[start:])
        return {str(key): value for key, value in data.items()}, text[:start]


def _pairs(words: list[str], file: Path, line: int) -> dict[str, object]:
    found: dict[str, object] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if quantities.rate(word) is not None:
            key, equals, value = "rate", "=", word
        elif quantities.number(word) is None and quantities.time(word) is not None:
            key, equals, value = "delay", "=", word
        if not equals or key not in ("rate", "delay", "forward"):
            wrong(file, line, f"`{word}` is no word of an edge: write rate=25Gb/s, delay=500ns, or a weight alone")
        found[key] = value
    return found


def graphml(text: str, file: Path) -> Network:
    """Read GraphML, including an InfraGraph's graph. Raises ``UsageError``."""
    root = parsed(text, file, "a graph")
    graphs = root.of("graph")
    if root.name != "graphml" or len(graphs) != 1:
        wrong(file, root.line, "a document with one <graph> in <graphml> is needed")
    (graph,) = graphs
    keys = {each.attributes.get("id", ""): each.attributes.get("attr.name", "") for each in root.of("key")}
    drawn = Drawing(directed=graph.attributes.get("edgedefault") == "directed")
    for each in graph.of("graph", "hyperedge"):
        wrong(file, each.line, f"<{each.name}> within a graph is not read: draw nodes and edges alone")

    def data(element: Element) -> dict[str, object]:
        return {keys.get(each.attributes.get("key", ""), ""): each.text.strip() for each in element.of("data")}

    for each in graph.of("node"):
        name = each.attributes.get("id", "")
        if not name or name in drawn.vertices:
            wrong(file, each.line, f"the id `{name}` of a node is missing, or taken")
        drawn.vertex(name, data(each), each.line)
    for each in graph.of("edge"):
        ends = each.attributes.get("source", ""), each.attributes.get("target", "")
        for end in ends:
            if end not in drawn.vertices:
                wrong(file, each.line, f"there is no node `{end}`")
        drawn.edges.append((*ends, data(each), each.line))
    if drawn.vertices and all("composed_device" in about for about, _ in drawn.vertices.values()):
        made = infragraph.Components({name: str(about.get("type", "")) for name, (about, _) in drawn.vertices.items()})
        made.edges = [infragraph.attributed(*each, file) for each in drawn.edges]
        return infragraph.network(made, file)
    return network(drawn, GRAPHML, file)


def dot(text: str, file: Path) -> Network:
    """Read a Graphviz graph. Raises ``UsageError``."""
    drawn = Drawing()
    graphs: list[Any] = []  # pydot has no types for users
    with warnings.catch_warnings():
        # pydot calls pyparsing functions by their former names.
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            import pydot
        except ImportError as error:
            raise UsageError(f"{file}: DOT needs the package pydot: pip install pydot") from error
        with reading(file, "it is no graph in DOT", "correct the place"):
            graphs += pydot.graph_from_dot_data(text) or []
    with reading(file, "it is no graph in DOT", "correct the place"):
        if len(graphs) != 1:
            raise ValueError(f"there are {len(graphs)} graphs, or a place is wrong")
        drawn.directed = graphs[0].get_type() == "digraph"
        for part in graphs:  # which grows
            for each in part.get_nodes():
                if (name := _unquoted(each.get_name())) not in ("node", "edge", "graph", "\\n"):
                    drawn.vertex(name, _plain(each.get_attributes()), None)
            for edge in part.get_edges():
                for one in _ends(edge.get_source()):
                    for other in _ends(edge.get_destination()):
                        drawn.edges.append((one, other, _plain(edge.get_attributes()), None))
            graphs += part.get_subgraphs()
    for one, other, _, _ in drawn.edges:
        drawn.vertex(one, {}, None)
        drawn.vertex(other, {}, None)
    return network(drawn, DOT, file)


def _ends(end: Any) -> list[str]:
    """The vertices at an edge's end: one, without its port, or a group in braces."""
    if isinstance(end, str):
        quoted = re.match(r'"((?:[^"\\]|\\.)*)"', end)
        return [quoted[1] if quoted else end.partition(":")[0]]
    names = end.get("nodes") if hasattr(end, "get") else {each.get_name(): None for each in end.get_nodes()}
    return [_unquoted(str(name)) for name in names or ()]


def _unquoted(text: str) -> str:
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] == '"' else text


def _plain(data: dict[str, object]) -> dict[str, object]:
    return {str(key): _unquoted(str(value)) for key, value in data.items()}


def network(drawn: Drawing, name: str, file: Path) -> Network:
    """A drawing's nodes, switches and cables."""
    made = Network(name, notes=list(drawn.notes))
    kinds = _kinds(drawn)
    for vertex, (about, line) in drawn.vertices.items():
        (made.nodes if kinds.get(vertex) == "node" else made.switches)[vertex] = line
        if (label := str(about.get("label", "")).strip()) not in ("", vertex):
            made.remarks[vertex] = label
        if (passes := str(about.get("forward", ""))) in ("yes", "no") and vertex in made.nodes:
            made.forward[vertex] = passes
        elif passes:
            wrong(file, line, f"forward `{passes}` of `{vertex}`: a node says yes or no, and a switch nothing")
    if not made.nodes:
        made.terminals = 1
    left: set[str] = set()
    opposite: dict[tuple[str, str], int] = {}
    for one, other, data, line in drawn.edges:
        rate, delay = _rate(data, left, file, line), _delay(data, left, file, line)
        if drawn.directed and opposite.get((other, one), 0) > 0:
            opposite[(other, one)] -= 1
            continue
        opposite[(one, other)] = opposite.get((one, other), 0) + 1
        made.cables.append(Cable(one, other, rate, delay, line))
    if drawn.directed:
        made.notes.append("the graph is directed, and cables lead both ways: two opposite edges are one cable")
    if left:
        made.notes.append(f"left out, as they have no unit: {', '.join(sorted(left))}")
    loops = [each for each in made.cables if each.one == each.other]
    if loops and name != EDGES:
        made.notes.append(f"{len(loops)} edges from a vertex to itself are left out")
        made.cables = [each for each in made.cables if each.one != each.other]
    return checked(made, file)


def _kinds(drawn: Drawing) -> dict[str, str]:
    """Each vertex's kind by the first attribute that every vertex has."""
    for key in ("kind", "type", "role"):
        words = {name: str(data.get(key, "")).strip().lower() for name, (data, _) in drawn.vertices.items()}
        if words and all(word in _NODES or word in _SWITCHES for word in words.values()):
            return {name: "node" if word in _NODES else "switch" for name, word in words.items()}
    return {}


def _rate(data: dict[str, object], left: set[str], file: Path, line: int | None) -> Fraction | None:
    low = {str(key).lower(): str(value) for key, value in data.items()}
    if (raw := quantities.number(low.get("linkspeedraw", ""))) is not None:
        return quantities.gigabits(raw / 10**9)
    for key in _RATES:
        if key in low:
            value = quantities.rate(_ETHERNET.sub(r"\1Gb/s", low[key]) if _ETHERNET.fullmatch(low[key]) else low[key])
            if value is None and quantities.number(low[key]) is None:
                wrong(file, line, f"{key} `{low[key]}` is not a rate: write for example 25 Gb/s")
            if value is None:
                left.add(key)
            else:
                return value
    return None


def _delay(data: dict[str, object], left: set[str], file: Path, line: int | None) -> int | None:
    low = {str(key).lower(): str(value) for key, value in data.items()}
    for key in _DELAYS:
        if key in low:
            if quantities.number(low[key]) is not None:
                left.add(key)
                continue
            value = quantities.time(low[key])
            if value is None:
                wrong(file, line, f"{key} `{low[key]}` is not a time: write for example 500 ns")
            return value
    return None
