"""Graphs without a network tool behind them: GraphML and DOT, and the drawing that edge lists
become, too.

Vertices are nodes and switches by their attribute ``kind``, ``type``, ``role`` or ``function``
(``node_type``), where a vertex has a word for a node there; without such a word all are switches,
and the caller passes each switch's node count. Edges have rates, delays and counts by their
attributes (``attributes``). Defaults (``<default>``, ``edge [...]``) hold where an edge or
a vertex has no own value. Edges in a directed graph are cables, which lead both ways; two opposite
ones are a single cable.
"""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from elanite.base.foreign import optional, reading
from elanite.base.text import counted
from elanite.formats import attributes, infragraph
from elanite.formats.network import Cable, Network, checked, fail
from elanite.formats.xml import parsed

if TYPE_CHECKING:
    from pathlib import Path

    from elanite.formats.xml import Element

EDGES, GRAPHML, DOT = "list of edges", "graph in GraphML", "graph in DOT"

_NODES = (
    "node",
    "host",
    "server",
    "compute",
    "endpoint",
    "terminal",
    "hca",
    "nic",
    "gpu",
    "xpu",
    "client",
    "accelerator",
    "npu",
    "tpu",
    "storage",
    "login",
    "worker",
)
_SWITCHES = (
    "switch",
    "router",
    "leaf",
    "spine",
    "core",
    "aggregation",
    "agg",
    "edge",
    "tor",
    "top",
    "superspine",
)
_FLAG = re.compile(
    r"(?:is[\s_.-]*)?(?:(host|server|node|endpoint|terminal|gpu)|(switch|router))", re.IGNORECASE
)
"""A vertex's kind as an attribute that is true or false."""
_KIND = re.compile(
    r"(?:(?:node|vertex|device|component)[\s_.-]*)?(kind|type|role|function)", re.IGNORECASE
)
"""A vertex's kind: the attribute's name."""


@dataclass
class AttributedGraph:
    """Vertices and edges with their attributes, and their lines where these are known."""

    directed: bool = False
    vertices: dict[str, tuple[dict[str, object], int | None]] = field(default_factory=dict)
    edges: list[tuple[str, str, dict[str, object], int | None]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def vertex(self, name: str, data: dict[str, object], line: int | None) -> None:
        """Add a vertex, or a vertex's attributes."""
        known, first = self.vertices.get(name) or ({}, line)
        self.vertices[name] = (known | data, first)


def graphml(text: str, file: Path) -> Network:
    """Read GraphML, including an InfraGraph's graph. Raises ``UsageError``."""
    root = parsed(text, file, "a graph")
    graphs = root.of("graph")
    if root.name != "graphml" or len(graphs) != 1:
        fail(file, root.line, "a document with one <graph> in <graphml> is needed")
    (graph,) = graphs
    keys = {
        each.attributes.get("id", ""): each.attributes.get("attr.name", "")
        for each in root.of("key")
    }
    defaults = [
        (each.attributes.get("for", "all"), each.attributes.get("attr.name", ""), value.text)
        for each in root.of("key")
        for value in each.of("default")
    ]
    usual = str(graph.attributes.get("edgedefault") == "directed").lower()
    ways = {each.attributes.get("directed", usual) for each in graph.of("edge")}
    drawn = AttributedGraph(directed=ways == {"true"})
    for each in graph.of("graph", "hyperedge"):
        fail(
            file, each.line, f"<{each.name}> within a graph is not read: draw nodes and edges alone"
        )

    def data(element: Element) -> dict[str, object]:
        own: dict[str, object] = {
            keys.get(each.attributes.get("key", ""), ""): each.text.strip()
            for each in element.of("data")
        }
        found: dict[str, object] = {
            name: text.strip() for to, name, text in defaults if to in (element.name, "all")
        }
        return found | own

    for each in graph.of("node"):
        name = each.attributes.get("id", "")
        if not name or name in drawn.vertices:
            fail(file, each.line, f"the id `{name}` of a node is missing, or taken")
        drawn.vertex(name, data(each), each.line)
    for each in graph.of("edge"):
        ends = each.attributes.get("source", ""), each.attributes.get("target", "")
        for end in ends:
            if end not in drawn.vertices:
                fail(file, each.line, f"there is no node `{end}`")
        drawn.edges.append((*ends, data(each), each.line))
    if drawn.vertices and all("composed_device" in about for about, _ in drawn.vertices.values()):
        made = infragraph.Components(
            {name: str(about.get("type", "")) for name, (about, _) in drawn.vertices.items()}
        )
        made.edges = [infragraph.attributed(*each, file) for each in drawn.edges]
        return infragraph.network(made, file)
    return network(drawn, GRAPHML, file)


def dot(text: str, file: Path) -> Network:
    """Read a Graphviz graph. Raises ``UsageError``."""
    drawn = AttributedGraph()
    graphs: list[Any] = []  # pydot has no types for users
    with warnings.catch_warnings():
        # pydot calls pyparsing functions by their former names.
        warnings.simplefilter("ignore", DeprecationWarning)
        with optional(f"{file}: DOT needs the package pydot: pip install pydot"):
            import pydot
        with reading(file, "it is no graph in DOT", "correct the place"):
            graphs += pydot.graph_from_dot_data(text) or []
    with reading(file, "it is no graph in DOT", "correct the place"):
        if len(graphs) != 1:
            raise ValueError(f"there are {len(graphs)} graphs, or a place is wrong")
        drawn.directed = graphs[0].get_type() == "digraph"
        _draw(drawn, graphs[0], {}, {})
        if graphs[0].obj_dict.get("strict"):
            _merge(drawn)
    return network(drawn, DOT, file)


def _draw(
    drawn: AttributedGraph, part: Any, vertices: dict[str, object], edges: dict[str, object]
) -> None:
    """Add a graph's statements in their order, with the defaults that stand before them."""
    statements = [*part.get_nodes(), *part.get_edges(), *part.get_subgraphs()]
    for each in sorted(statements, key=lambda one: one.get_sequence() or 0):
        about = _plain(each.get_attributes())
        if hasattr(each, "get_subgraphs"):
            _draw(drawn, each, dict(vertices), dict(edges))
        elif hasattr(each, "get_source"):
            for one in _ends(each.get_source()):
                for other in _ends(each.get_destination()):
                    for name in (one, other):
                        if name not in drawn.vertices:
                            drawn.vertex(name, vertices, None)
                    drawn.edges.append((one, other, edges | about, None))
        elif (name := _unquoted(each.get_name())) == "node":
            vertices = vertices | about
        elif name == "edge":
            edges = edges | about
        elif name not in ("graph", "\\n"):
            drawn.vertex(name, about if name in drawn.vertices else vertices | about, None)


def _merge(drawn: AttributedGraph) -> None:
    """Keep one edge between two vertices, with all attributes, as in a strict graph."""
    found: dict[tuple[str, str], tuple[str, str, dict[str, object], int | None]] = {}
    for one, other, data, line in drawn.edges:
        key = (one, other) if drawn.directed or one < other else (other, one)
        before = found[key][2] if key in found else {}
        found[key] = (*key, before | data, line)
    drawn.edges = list(found.values())


def _ends(end: Any) -> list[str]:
    """The vertices at an edge's end: one, without its port, or a group in braces."""
    if isinstance(end, str):
        quoted = re.match(r'"((?:[^"\\]|\\.)*)"', end)
        return [_unquoted(quoted[0]) if quoted else end.partition(":")[0]]
    names = (
        end.get("nodes")
        if hasattr(end, "get")
        else {each.get_name(): None for each in end.get_nodes()}
    )
    return [_unquoted(str(name)) for name in names or ()]


def _unquoted(text: str) -> str:
    """A name without its quotes; the only escape in DOT is that of a quote."""
    quoted = len(text) > 1 and text[0] == text[-1] == '"'
    return text[1:-1].replace('\\"', '"') if quoted else text


def _plain(data: dict[str, object]) -> dict[str, object]:
    return {str(key): _unquoted(str(value)) for key, value in data.items()}


def network(drawn: AttributedGraph, name: str, file: Path) -> Network:
    """A drawing's nodes, switches and cables."""
    made = Network(name, notes=list(drawn.notes))
    kinds = _kinds(drawn, made.notes)
    for vertex, (about, line) in drawn.vertices.items():
        (made.nodes if kinds.get(vertex) == "node" else made.switches)[vertex] = line
        if (label := str(about.get("label", "")).strip()) not in ("", vertex):
            made.remarks[vertex] = label
        if (passes := str(about.get("forward", ""))) in ("yes", "no") and vertex in made.nodes:
            made.forward[vertex] = passes
        elif passes:
            fail(
                file,
                line,
                f"forward `{passes}` of `{vertex}`; a node has yes or no, and a switch has none",
            )
    if not made.nodes:
        made.terminals = 1
    left: set[str] = set()
    opposite: dict[tuple[str, str], list[Cable]] = {}
    unlike = several = 0
    down: dict[str, int | None] = {}
    lost = 0
    for one, other, data, line in drawn.edges:
        if attributes.is_down(data):
            lost += 1
            down |= {one: line, other: line}
            continue
        cable = Cable(
            one,
            other,
            attributes.rate(data, left, file, line),
            attributes.delay(data, left, file, line),
            line,
        )
        if drawn.directed and (back := opposite.get((other, one))):
            first = back[0]
            del back[: attributes.count(data, file, line)]
            unlike += (first.rate, first.delay) != (cable.rate, cable.delay)
            continue
        cables = [cable] * attributes.count(data, file, line)
        several += len(cables) > 1
        opposite.setdefault((one, other), []).extend(cables)
        made.cables += cables
    if drawn.directed:
        made.notes.append(
            "the graph is directed, and cables lead both ways: two opposite edges are one cable"
        )
    if unlike:
        made.notes.append(
            f"{counted(unlike, 'cable')} with another rate or delay in each direction: both have"
            " the first one's"
        )
    for vertex in sorted(
        down.keys() - {end for each in made.cables for end in (each.one, each.other)}
    ):
        fail(
            file,
            down[vertex],
            f"all edges of `{vertex}` have a state such as down: remove it, or correct a state",
        )
    if lost:
        made.notes.append(f"{counted(lost, 'edge')} left out, by a state such as down")
    if several:
        made.notes.append(f"{counted(several, 'edge')} with several cables each, by their count")
    if left:
        made.notes.append(f"left out, as they have no unit: {', '.join(sorted(left))}")
    loops = [each for each in made.cables if each.one == each.other]
    if loops and name != EDGES:
        made.notes.append(f"{counted(len(loops), 'edge')} from a vertex to itself left out")
        made.cables = [each for each in made.cables if each.one != each.other]
    return checked(made, file)


def _kinds(drawn: AttributedGraph, notes: list[str]) -> dict[str, str]:
    """Each vertex's kind by the first attribute in which all have a known word, or some a word for
    a node.
    """
    named = {key for data, _ in drawn.vertices.values() for key in data if _KIND.fullmatch(key)}
    order = ("kind", "type", "role", "function")
    every = {
        key: {
            name: str(data.get(key, "")).strip().lower()
            for name, (data, _) in drawn.vertices.items()
        }
        for key in sorted(
            named, key=lambda each: (order.index(_KIND.sub(r"\1", each).lower()), each)
        )
    }
    found = {
        key: {name: _kind(word) for name, word in words.items()} for key, words in every.items()
    }
    for kinds in found.values():
        if kinds and all(kinds.values()):
            return kinds
    if flags := _flags(drawn):
        return flags
    for key, kinds in found.items():
        other = sorted({word or "none" for name, word in every[key].items() if not kinds[name]})
        if "node" in kinds.values():
            notes.append(
                f"vertices with another {key} than those of nodes are switches:"
                f" {', '.join(other[:8])}"
            )
            return {name: kind or "switch" for name, kind in kinds.items()}
    for key in found:
        words = ", ".join(sorted(set(filter(None, every[key].values())))[:8])
        notes.append(f"all vertices are switches, as no {key} is a word for a node: {words}")
        break
    return {}


def _flags(drawn: AttributedGraph) -> dict[str, str]:
    """Each vertex's kind by an attribute that is true or false, such as ``host``, where it
    distinguishes nodes from switches; a vertex without it counts as false.
    """
    words = {
        "true": True,
        "yes": True,
        "1": True,
        "false": False,
        "no": False,
        "0": False,
        "": False,
    }
    named = {
        key: found
        for data, _ in drawn.vertices.values()
        for key in data
        if (found := _FLAG.fullmatch(key))
    }
    for key, found in sorted(named.items()):
        stated = {
            name: words.get(str(data.get(key, "")).strip().lower())
            for name, (data, _) in drawn.vertices.items()
        }
        kinds = {
            name: "node" if flag == (found[1] is not None) else "switch"
            for name, flag in stated.items()
        }
        if None not in stated.values() and len(set(kinds.values())) == 2:
            return kinds
    return {}


def _kind(word: str) -> str:
    """`node` or `switch` by a word or some (`compute node`, `leaf_switch`); empty for others."""
    parts = re.findall(r"[a-z0-9]+", word)
    if any(part.endswith("switch") or part == "router" for part in parts):
        return "switch"
    for part in reversed(parts):
        if part in _NODES or part.endswith(("node", "host", "server")):
            return "node"
        if part in _SWITCHES:
            return "switch"
    return ""
