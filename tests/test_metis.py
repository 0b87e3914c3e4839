"""Graphs of METIS: each vertex's neighbours, with and without weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

import networkx as nx
import pytest

from elanite.errors import UsageError
from elanite.formats import drawings, metis, recognition
from test_formats import joined, read

if TYPE_CHECKING:
    from pathlib import Path

    from elanite.formats.network import Network

PETERSEN = nx.petersen_graph()


def written(graph: nx.Graph, form: str = "", before: str = "", behind: str = "") -> str:
    """A graph with the vertices 0, 1, ... as METIS has it."""
    head = f"{len(graph)} {graph.number_of_edges()} {form}".rstrip()
    rows = (
        " ".join([before, *(f"{near + 1}{behind}" for near in sorted(graph[vertex]))]).strip()
        for vertex in sorted(graph)
    )
    return f"% made for a test\n{head}\n" + "".join(f"{row}\n" for row in rows)


def same(found: Network, graph: nx.Graph) -> bool:
    edges = {frozenset((int(one) - 1, int(other) - 1)) for one, other, _ in joined(found).edges}
    return edges == set(map(frozenset, graph.edges)) and len(found.cables) == len(edges)


def test_neighbours_are_cables(tmp_path: Path) -> None:
    found = read(tmp_path, written(PETERSEN))
    assert (found.format, len(found.switches), len(found.cables)) == (metis.NAME, 10, 15)
    assert same(found, PETERSEN)
    assert (found.count(), found.notes) == (10, [])


@pytest.mark.parametrize(
    ("form", "before", "behind"),
    [
        ("1", "", " 7"),
        ("11", "5", " 7"),
        ("10", "5", ""),
        ("10 2", "5 6", ""),
        ("111", "9 5", " 7"),
    ],
)
def test_weights_are_left_out(tmp_path: Path, form: str, before: str, behind: str) -> None:
    found = read(tmp_path, written(PETERSEN, form, before, behind))
    assert same(found, PETERSEN)
    assert found.notes == ["weights have no unit: left out"]


def test_a_ring_is_no_list_of_edges(tmp_path: Path) -> None:
    """A ring has as many edges as vertices, and two words in a line; so has a list of edges."""
    ring = nx.cycle_graph(12)
    assert same(read(tmp_path, written(ring)), ring)
    listed = "12 12\n" + "".join(f"{one} {(one + 1) % 12}\n" for one in range(12))
    found = read(tmp_path, listed)
    assert found.format == drawings.EDGES
    assert len(found.cables) == 12


def test_the_beginning_of_a_long_file_is_recognised(tmp_path: Path) -> None:
    """More than the letters in which a format must show."""
    graph = nx.random_regular_graph(40, 1600, seed=3)
    text = written(graph)
    assert len(text) > recognition._SAMPLE
    assert same(read(tmp_path, text), graph)


def test_vertices_without_neighbours_and_other_files(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r":4: switch `3` has no cable"):
        read(tmp_path, "3 1\n2\n1\n\n")
    assert read(tmp_path, "3 2\n1 2\n2 3\n").format == drawings.EDGES  # with counts
    cut = written(nx.random_regular_graph(40, 1600, seed=3)).splitlines()
    for rows, said in (
        (cut[:-1], r":2: 1600 vertices are stated, and 1599 lines follow"),
        ([*cut[:-1], "1 x 3"], r":1602: there is no vertex x: they are 1 to 1600"),
    ):
        with pytest.raises(UsageError, match=said):
            read(tmp_path, "\n".join(rows))
    with pytest.raises(UsageError, match=r"this is a graph of DIMACS, and no network\n  write its"):
        read(tmp_path, "c a graph\np edge 3 2\ne 1 2\ne 2 3\n")
