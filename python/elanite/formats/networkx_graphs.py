"""Graphs as networkx and drawing programs keep them: GML, and node-link JSON.

Node-link JSON (``networkx.node_link_data``, D3) has ``nodes`` and ``links``, or ``edges``. The ends
of a link are the nodes' ids, or their places in the list; in Cytoscape's and graphology's files
each node and link has its data in an object of its own. networkx reads GML. The names of its
vertices are their labels, if these are all different, and otherwise their ids; edges may repeat.
Attributes have the meaning that they have in GraphML (``drawings``).
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from elanite.base.foreign import optional, reading
from elanite.formats.drawings import AttributedGraph, network
from elanite.formats.network import MOST_CABLES, fail

if TYPE_CHECKING:
    from pathlib import Path

    from elanite.formats.network import Network

GML, NODE_LINK = "graph in GML", "graph in node-link JSON (networkx, D3, Cytoscape)"

MOST_LETTERS = 16 * 2**20
"""Most letters of a graph in GML: a few hundred thousand edges."""


def gml(text: str, file: Path) -> Network:
    """Read GML. Raises ``UsageError``."""
    if len(text) > MOST_LETTERS:
        fail(
            file,
            None,
            f"a graph in GML has at most {MOST_LETTERS:,} letters here: write it as a list of edges"
            " (networkx.write_edgelist)",
        )
    with optional(f"{file}: GML needs the package networkx: pip install networkx"):
        import networkx
    if not re.search(r"^\s*multigraph\s+\d", text, re.MULTILINE):  # edges may repeat
        text = re.sub(r"\bgraph\s*\[", "graph [ multigraph 1", text, count=1)
    with reading(file, "it is no graph in GML", "correct the place"):
        graph = networkx.parse_gml(text, label="id")
    labels = {vertex: str(about.get("label", "")) for vertex, about in graph.nodes(data=True)}
    by_label = "" not in labels.values() and len(set(labels.values())) == len(labels)
    names = labels if by_label else {vertex: str(vertex) for vertex in labels}
    drawn = AttributedGraph(directed=graph.is_directed())
    for vertex, about in graph.nodes(data=True):
        drawn.vertex(names[vertex], dict(about), None)
    for one, other, about in graph.edges(data=True):
        drawn.edges.append((names[one], names[other], dict(about), None))
    return network(drawn, GML, file)


def node_link(text: str, file: Path) -> Network:
    """Read node-link JSON. Raises ``UsageError``."""
    with reading(file, "it is no JSON", "correct the place"):
        content = json.loads(text)
    if not isinstance(content, dict):
        fail(file, None, "a graph in JSON is an object with `nodes` and `links`")
    if isinstance(content.get("elements"), dict):
        content = content | content["elements"]
    nodes = _objects(content, "nodes", file)
    links = _objects(content, "links" if "links" in content else "edges", file)
    if len(nodes) + len(links) > MOST_CABLES:
        fail(file, None, f"the graph has more than {MOST_CABLES:,} nodes and links")
    drawn = AttributedGraph(directed=content.get("directed") is True)
    ids = [
        _name(next((each[key] for key in ("id", "key", "name", "label") if key in each), at))
        for at, each in enumerate(nodes)
    ]
    for at, (name, about) in enumerate(zip(ids, nodes, strict=True)):
        if not name or name in drawn.vertices:
            fail(file, None, f"nodes[{at}]: the id `{name}` is missing, or taken")
        drawn.vertex(name, {key: each for key, each in about.items() if key != "id"}, None)
    ends = [
        (each.get("source", each.get("from")), each.get("target", each.get("to"))) for each in links
    ]
    named = {name: name for name in ids}
    flat = [end for both in ends for end in both]
    if all(type(end) is int for end in flat) and not named.keys() >= set(map(_name, flat)):
        named = {str(place): name for place, name in enumerate(ids)}
    for at, (both, about) in enumerate(zip(ends, links, strict=True)):
        if None in both:
            fail(file, None, f"links[{at}]: `source` or `target` is missing")
        for end in both:
            if _name(end) not in named:
                fail(file, None, f"links[{at}]: there is no node `{str(end)[:40]}`")
        one, other = (named[_name(end)] for end in both)
        drawn.edges.append((one, other, about, None))
    return network(drawn, NODE_LINK, file)


def _objects(content: dict[str, object], key: str, file: Path) -> list[dict[str, object]]:
    found = content.get(key)
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        fail(file, None, f"`{key}` is no list of objects")
    inner = ("data", "attributes")
    return [
        {name: value for name, value in each.items() if name not in inner}
        | {name: value for at in inner for name, value in _inside(each.get(at)).items()}
        for each in found
    ]


def _inside(value: object) -> dict[str, object]:
    """An object's values, if it is one."""
    return {str(name): each for name, each in value.items()} if isinstance(value, dict) else {}


def _name(value: object) -> str:
    """An id as a name: a tuple's parts with points between them, as in ``1.0``."""
    parts = value if isinstance(value, list) else [value]
    plain = all(isinstance(part, str | int | float) for part in parts)
    return ".".join(str(part).strip() for part in parts) if plain else ""
