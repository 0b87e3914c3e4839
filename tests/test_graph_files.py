"""Graphs in GML and node-link JSON, vertices with flags, and tables of flows."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import networkx as nx
import pytest

from elanite import formats
from elanite.errors import UsageError
from elanite.formats import networkx_graphs, recognition
from elanite.inputs import network_traffic
from formats_files import ALL
from test_formats import read

if TYPE_CHECKING:
    from pathlib import Path

    from elanite.formats.network import Network


@pytest.mark.parametrize("name", ["gml", "node-link"])
def test_graphs_as_programs_keep_them(tmp_path: Path, name: str) -> None:
    found = read(tmp_path, ALL[name])
    assert (list(found.switches), list(found.nodes)) == (["leaf"], ["h0", "h1"])
    assert [(each.one, each.other) for each in found.cables] == [
        ("leaf", "h0"),
        ("leaf", "h1"),
        ("leaf", "h1"),
    ]
    assert [each.rate for each in found.cables] == [10**11, 25 * 10**9, 25 * 10**9]


def test_what_networkx_writes_is_the_same_graph(tmp_path: Path) -> None:
    graph = nx.Graph()
    graph.add_nodes_from(((0, each) for each in range(3)), kind="switch")
    graph.add_nodes_from(((1, each) for each in range(3)), kind="node")
    for each in range(3):
        graph.add_edge((0, each), (0, (each + 1) % 3), rate="200 Gb/s", delay="30 ns")
        graph.add_edge((0, each), (1, each), rate="100 Gb/s")
    texts = [json.dumps(nx.node_link_data(graph, edges=key)) for key in ("links", "edges")]
    texts.append("\n".join(nx.generate_gml(graph, stringizer=str)))
    for text in texts:
        found = read(tmp_path, text)
        assert (len(found.switches), len(found.nodes), len(found.cables)) == (3, 3, 6)
        assert sum(each.rate or 0 for each in found.cables) == 900 * 10**9
    long = json.dumps(nx.node_link_data(nx.path_graph(9000), edges="links"), indent=4)
    assert long.index('"links"') > recognition._SAMPLE
    assert len(read(tmp_path, long).cables) == 8999
    plain = read(tmp_path, json.dumps(nx.cytoscape_data(nx.convert_node_labels_to_integers(graph))))
    assert (len(plain.switches), len(plain.nodes), len(plain.cables)) == (3, 3, 6)
    directed = nx.node_link_data(graph.to_directed(), edges="links")
    assert len(read(tmp_path, json.dumps(directed)).cables) == 6


def test_ends_in_json_may_be_places_in_the_list(tmp_path: Path) -> None:
    nodes = [{"name": "s", "host": False}, {"name": "a", "host": True}, {"name": "b", "host": True}]
    links = [{"source": 0, "target": 2}, {"source": 1, "target": 0}]
    found = read(tmp_path, json.dumps({"links": links, "nodes": nodes}))
    assert [(each.one, each.other) for each in found.cables] == [("s", "b"), ("a", "s")]
    assert list(found.nodes) == ["a", "b"]
    for wrong in (3, 4):
        text = json.dumps({"links": [*links, {"source": 0, "target": wrong}], "nodes": nodes})
        with pytest.raises(UsageError, match=rf"links\[2\]: there is no node `{wrong}`"):
            read(tmp_path, text)


def test_links_have_both_ends(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"links\[0\]: `source` or `target` is missing"):
        read(tmp_path, '{"nodes": [{"id": "a"}], "links": [{"id": "l", "source": "a"}]}')


def test_drawings_in_javascript_have_other_keys(tmp_path: Path) -> None:
    kinds = [{"kind": "switch"}, {"kind": "node"}]
    nodes = [{"key": each, "attributes": about} for each, about in zip("ab", kinds, strict=True)]
    edges = [{"source": "a", "target": "b", "attributes": {"rate": "25 Gb/s"}}]
    vis = [{"from": "a", "to": "b", "rate": "25 Gb/s"}]
    for each in (edges, vis):
        found = read(tmp_path, json.dumps({"nodes": nodes, "edges": each}))
        assert (list(found.nodes), found.cables[0].rate) == (["b"], 25 * 10**9)


def test_labels_that_repeat_are_no_names(tmp_path: Path) -> None:
    found = read(tmp_path, ALL["gml"].replace('"h1"', '"h0"'))
    assert list(found.nodes) == ["7", "9"]
    assert found.remarks == {"4": "leaf", "7": "h0", "9": "h0"}


def test_gml_has_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(networkx_graphs, "MOST_LETTERS", 100)
    with pytest.raises(UsageError, match="at most 100 letters here: write it as a list of edges"):
        read(tmp_path, ALL["gml"])


@pytest.mark.parametrize(
    ("flag", "nodes"),
    [
        ('a [host=true]; b [host="True"]', ["a", "b"]),
        ("s [is_switch=1]; a [is_switch=0]", ["a", "b"]),
        ("a [server=yes]; b [server=yes]; s [server=no]", ["a", "b"]),
        ("a [host=rack1]; b [host=rack2]", []),
        ("s [host=false]", []),
    ],
)
def test_flags_of_vertices_are_their_kinds(tmp_path: Path, flag: str, nodes: list[str]) -> None:
    found = read(tmp_path, f"graph g {{ s; a; b; {flag}; s -- a; s -- b; }}")
    assert list(found.nodes) == nodes


def flow_lines(lists: str, folder: Path, network: Network | None = None) -> list[str]:
    file = folder / "f.csv"
    file.write_text(lists)
    format_, found = formats.read(file)
    assert (format_.name, format_.flows) == ("table of flows", True)
    text, _ = network_traffic.flows([(file.name, found)], network)
    return [line for line in text.splitlines() if not line.startswith("#")][1:]


@pytest.mark.parametrize(
    ("table", "line"),
    [
        ("flow_id,src,dst,size_bytes,start_us\n7,0,5,700000,12.5\n", "12500 ns,0,5,700000 B"),
        ("start,source,destination,size\n2 us,0,5,64 KB\n", "2 us,0,5,65536 B"),
        ("source;destination;size (MiB);start (ms)\n0;5;1.5;2\n", "2000 us,0,5,1572864 B"),
        ("from\tto\tbytes\tArrival Time (s)\n0\t5\t9\t1e-6\n", "1 us,0,5,9 B"),
        ("src dst bytes start_ns\n0 5 9 4\n", "4 ns,0,5,9 B"),
        ("time_us,src,dst,bytes\n3,0,5,9\n", "3 us,0,5,9 B"),
        ("src,dst,flow size\n0,5,9\n", "0 us,0,5,9 B"),
    ],
)
def test_tables_of_flows(tmp_path: Path, table: str, line: str) -> None:
    assert flow_lines(table, tmp_path) == [line]


def test_flows_between_hosts_by_name(tmp_path: Path) -> None:
    table = "src,dst,bytes,start_us,priority\nh1,h0,9,1,3\nh0,h1,8,2,0\n"
    network = read(tmp_path, ALL["gml"])
    assert flow_lines(table, tmp_path, network) == ["1 us,1,0,9 B,1", "2 us,0,1,8 B,0"]
    with pytest.raises(UsageError, match=r"f\.csv:2: there is no node `h1`: import the network"):
        flow_lines(table, tmp_path)
    with pytest.raises(UsageError, match=r"f\.csv:3: there is no node `h7`: correct the name"):
        flow_lines(table.replace("h0,h1", "h7,h1"), tmp_path, network)


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("src,dst,size,start\n0,1,9,0.5\n", r":2: `0\.5` is no start with its unit: name the"),
        ("src,dst,packets,start_us\n0,1,9,5\n", r":1: no column has the flows' bytes"),
        ("timestamp,src,dst,bytes\n3,0,1,9\n", r":2: `3` is no start with its unit"),
        ("src,dst,size,t_start\n0,1,9,3\n", r":1: `t start` may be the flows' start"),
        ("src,dst,size\n0,1,9.5\n", r":2: `9\.5` is no whole number of bytes"),
        ("src,dst,size\n0,1\n", r":2: 2 cells stand under 3 names of columns"),
        ("src,dst,size,class\n0,1,9,high\n", r":2: `high` is no number of a class"),
        ("src,dst,size\n", r":1: there are no flows"),
    ],
)
def test_tables_without_clear_flows(tmp_path: Path, table: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        flow_lines(table, tmp_path)
