"""Generated networks, as the simulator wires them, against networkx graphs: diameters, mean paths,
bisections.

Distances are between switches with nodes. A bisection is the least cut into halves of the switches:
exact for 16 switches, else between the spectral bound (Fiedler: n times the algebraic connectivity,
over 4) and the cut that Kernighan and Lin's exchange finds.
"""

from __future__ import annotations

import itertools
import math
import random
import tomllib
from fractions import Fraction

import networkx as nx
import pytest

import elanite as el
from elanite import _core
from elanite.inputs import sources, toml
from elanite.inputs.plan import plan
from elanite.store import frame

PING = {
    "from": 0,
    "to": 1,
    "directions": "one",
    "source": "main",
    "destination": "main",
    "message": "0 B",
}


def wired(**topology: object) -> nx.MultiGraph:
    """A topology's nodes and switches by name, and its cables, with a shipped machine's links."""
    content = tomllib.loads(sources.read("machine", "infiniband-ndr").text)
    if topology.get("kind", "torus") not in ("torus", "clos"):
        topology["routing"] = "minimal"
    content["topology"] = {
        key: {"value": value, "source": "test"} for key, value in topology.items()
    }
    content["link"]["channels"]["value"] = 32
    content["link"]["hop_delay"]["value"] = "115.2 ns"
    source = sources.Source("machine", "own", "own.toml", "own.toml", toml.machine(content))
    series = {"name": "ping", "ping": PING | {"repeats": 1}}
    own = el.Experiment.from_dict(
        {"title": "t", "source": "t", "machine": "infiniband-ndr", "series": [series]}
    )
    ways = frame(_core.wiring(plan(own.file, [source]).points[0].json))
    graph = nx.MultiGraph()
    links = [(row["from"], row["to"]) for row in ways.iter_rows(named=True)]
    # A cable has a link in each direction.
    for one, other in links:
        if one < other:
            graph.add_edge(one, other)
    assert 2 * graph.number_of_edges() == len(links)
    return graph


def switches(graph: nx.MultiGraph) -> nx.Graph:
    return nx.Graph(graph.subgraph([name for name in graph if name.startswith("switch")]))


def seats(graph: nx.MultiGraph) -> list[str]:
    """The switches with nodes."""
    return sorted({next(iter(graph[name])) for name in graph if name.startswith("node")})


def distances(graph: nx.MultiGraph) -> dict[int, Fraction]:
    """By distance: the share among the ordered pairs of switches with nodes."""
    own, ends = switches(graph), seats(graph)
    lengths = dict(nx.all_pairs_shortest_path_length(own))
    found = [lengths[one][other] for one, other in itertools.permutations(ends, 2)]
    return {length: Fraction(found.count(length), len(found)) for length in sorted(set(found))}


def lift(vertices: int, copies: int, seed: int) -> nx.Graph:
    """A random lift of a complete graph: a random matching between every two vertices' copies."""
    draw = random.Random(seed)
    graph = nx.Graph()
    for one, other in itertools.combinations(range(vertices), 2):
        ends = draw.sample(range(copies), copies)
        graph.add_edges_from(((one, copy), (other, end)) for copy, end in enumerate(ends))
    return graph


def polarity(order: int) -> nx.Graph:
    """Erdős and Rényi's graph: points in the projective plane, joined where they are orthogonal."""
    points = (
        [(1, x, y) for x in range(order) for y in range(order)]
        + [(0, 1, x) for x in range(order)]
        + [(0, 0, 1)]
    )
    graph = nx.empty_graph(len(points))
    for (one, a), (other, b) in itertools.combinations(enumerate(points), 2):
        if sum(x * y for x, y in zip(a, b, strict=True)) % order == 0:
            graph.add_edge(one, other)
    return graph


@pytest.mark.parametrize(
    ("topology", "expected"),
    [
        (
            {"kind": "slim-fly", "order": 5, "terminals": 2, "nodes": 100},
            nx.hoffman_singleton_graph(),
        ),
        ({"kind": "polar-fly", "order": 5, "terminals": 2, "nodes": 62}, polarity(5)),
        (
            {"kind": "torus", "dimensions": [4, 3], "nodes": 12},
            nx.grid_graph((4, 3), periodic=True),
        ),
        (
            {"kind": "torus", "dimensions": [4, 3], "wraparound": False, "nodes": 12},
            nx.grid_graph((4, 3)),
        ),
        (
            {"kind": "hyperx", "dimensions": [4, 3], "terminals": 1, "nodes": 12},
            nx.cartesian_product(nx.complete_graph(4), nx.complete_graph(3)),
        ),
        ({"down": [4, 6], "up": [3], "nodes": 24}, nx.complete_bipartite_graph(6, 3)),
        ({"kind": "clos", "radix": 8, "levels": 2, "nodes": 32}, nx.complete_bipartite_graph(8, 4)),
    ],
    ids=lambda each: str(each.get("kind", "tree")) if isinstance(each, dict) else "",
)
def test_families_are_graphs_of_networkx(topology: dict[str, object], expected: nx.Graph) -> None:
    found = wired(**topology)
    assert nx.is_isomorphic(switches(found), expected)


@pytest.mark.parametrize(
    ("topology", "shares"),
    [
        ({"kind": "slim-fly", "order": 7, "terminals": 1, "nodes": 98}, {1: 11, 2: 86}),
        (
            {"kind": "polar-fly", "order": 7, "terminals": 1, "nodes": 57},
            {1: 448, 2: 57 * 56 - 448},
        ),
        # Four-switch groups, each with two cables to others: nine groups, with one cable between
        # any two.
        (
            {
                "kind": "dragonfly",
                "group": 4,
                "global": 2,
                "groups": 9,
                "terminals": 1,
                "nodes": 36,
            },
            None,
        ),
        # Nine groups with four leaves and four spines: a group's leaves meet at any spine.
        (
            {"kind": "megafly", "group": 4, "global": 2, "groups": 9, "terminals": 2, "nodes": 72},
            {2: 3, 3: 32},
        ),
        # Eight pods with four leaves.
        ({"kind": "clos", "radix": 8, "levels": 3, "nodes": 128}, {2: 3, 4: 28}),
    ],
    ids=lambda each: str(each.get("kind", "")) if isinstance(each, dict) else "",
)
def test_distances_in_closed_form(
    topology: dict[str, object], shares: dict[int, int] | None
) -> None:
    found = distances(wired(**topology))
    if shares is None:
        # 3 within the group and 2 beside it; the end of a cable from the group, or from the own
        # cable's group; the rest.
        assert max(found) == 3
        assert found[1] == Fraction(3 + 2, 35)
        return
    whole = sum(shares.values())
    assert found == {length: Fraction(count, whole) for length, count in shares.items()}


@pytest.mark.parametrize("kind", ["jellyfish", "xpander"])
def test_random_families_are_as_wide_as_random_graphs(kind: str) -> None:
    """66 switches with ten links: the distances equal those in random graphs from the family,
    within their spread.

    A Jellyfish is a random regular graph, an Xpander a lift of the complete graph of eleven.
    """
    own = switches(wired(kind=kind, switches=66, degree=10, terminals=1, nodes=66))
    assert set(dict(own.degree()).values()) == {10}
    others = [
        nx.random_regular_graph(10, 66, seed=seed) if kind == "jellyfish" else lift(11, 6, seed)
        for seed in range(20)
    ]
    means = [nx.average_shortest_path_length(each) for each in others]
    spread = max(means) - min(means)
    assert min(means) - spread <= nx.average_shortest_path_length(own) <= max(means) + spread
    assert nx.diameter(own) in {nx.diameter(each) for each in others}


@pytest.mark.parametrize(
    ("topology", "cables"),
    [
        ({"kind": "torus", "dimensions": [4, 4], "nodes": 16}, 8),
        ({"kind": "torus", "dimensions": [4, 4], "wraparound": False, "nodes": 16}, 4),
        ({"kind": "hyperx", "dimensions": [4, 4], "terminals": 1, "nodes": 16}, 16),
    ],
    ids=["torus", "mesh", "hyperx"],
)
def test_bisections_of_grids(topology: dict[str, object], cables: int) -> None:
    """The least cut overall: two links per ring, one per row, and four per complete row."""
    graph = nx.convert_node_labels_to_integers(switches(wired(**topology)))
    near = [sum(1 << other for other in graph[at]) for at in range(16)]

    def least() -> int:
        halves = (sum(1 << at for at in half) for half in itertools.combinations(range(15), 8))
        return min(
            sum((near[at] & ~half).bit_count() for at in range(16) if half >> at & 1)
            for half in halves
        )

    assert least() == cables


@pytest.mark.parametrize(
    ("topology", "connectivity"),
    [
        # The Hoffman-Singleton graph has the eigenvalues 7, 2 and -3.
        ({"kind": "slim-fly", "order": 5, "terminals": 1, "nodes": 50}, 5.0),
        ({"kind": "jellyfish", "switches": 50, "degree": 7, "terminals": 1, "nodes": 50}, None),
    ],
    ids=["slim-fly", "jellyfish"],
)
def test_bisections_between_spectrum_and_exchange(
    topology: dict[str, object], connectivity: float | None
) -> None:
    graph = switches(wired(**topology))
    found = sorted(nx.laplacian_spectrum(graph))[1]
    if connectivity is not None:
        assert found == pytest.approx(connectivity)
    half, _ = nx.community.kernighan_lin_bisection(graph, seed=1)
    exchanged = nx.cut_size(graph, half)
    assert len(graph) * found / 4 <= exchanged
    # Bollobás (1988): hardly a random graph with seven links has a smaller cut.
    assert exchanged >= len(graph) * (7 / 4 - math.sqrt(7 * math.log(2)) / 2)
