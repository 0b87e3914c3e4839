"""Other tools' networks and flows: a small file in each format, spoilt ones, and files in other
formats.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import networkx as nx
import pytest

from elanite import formats
from elanite.errors import UsageError
from elanite.formats import recognition
from elanite.formats.network import Network, graph_names, sort_key, top
from formats_files import ALL, SPOILT
from spoiling import (
    attempt,
    cases,
    fuzzing,
    say_how_to_see_it_again,  # noqa: F401 - a fixture of all tests
    spoil,
)

if TYPE_CHECKING:
    from pathlib import Path


def read(folder: Path, text: str) -> Network:
    file = folder / "file.any"
    file.write_text(text)
    return formats.read(file)[1]


def rates(network: Network) -> dict[str, int]:
    """How many cables have each rate, in Gb/s."""
    return dict(
        Counter(f"{float(each.rate / 10**9):g}" if each.rate else "" for each in network.cables)
    )


def delays(network: Network) -> dict[int | None, int]:
    """How many cables have each delay, in nanoseconds."""
    return dict(Counter(each.delay and each.delay // 1000 for each in network.cables))


def joined(network: Network) -> nx.MultiGraph:
    graph = nx.MultiGraph()
    graph.add_edges_from((each.one, each.other) for each in network.cables)
    return graph


def test_infiniband(tmp_path: Path) -> None:
    """A host's ports are consecutive nodes, in number order; a cable stated by both ends is one."""
    found = read(tmp_path, ALL["ibnetdiscover"])
    assert list(found.nodes) == ["cn2.mlx5_0", "cn2.mlx5_1", "cn3", "cn10"]
    assert list(found.switches) == ["S-51", "S-53", "S-52"]
    assert rates(found) == {"200": 6, "20": 1}
    assert [(each.one, each.other) for each in found.cables if each.rate == 20 * 10**9] == [
        ("S-51", "S-53")
    ]
    assert found.remarks["S-53"] == "MF0;top:MQM8700/U1"
    assert any("1 aggregation node of SHARP" in note for note in found.notes)
    assert top(found) == ["S-53"]


def test_ns3(tmp_path: Path) -> None:
    found = read(tmp_path, ALL["ns3"])
    assert list(found.nodes) == ["1", "2", "3", "5", "6"]
    assert list(found.switches) == ["0", "4"]
    assert rates(found) == {"40": 5, "160": 1}
    assert delays(found) == {500: 4, 2000: 1, 1000: 1}
    assert any("error rates of 1 link" in note for note in found.notes)


def test_links_of_each_direction_are_one_cable(tmp_path: Path) -> None:
    text = "5 1 8\n4\n" + "".join(
        f"{a} {b} 400Gbps 0.0005ms 0\n" for n in range(4) for a, b in ((n, 4), (4, n))
    )
    found = read(tmp_path, text)
    assert [(each.one, each.other) for each in found.cables] == [(str(n), "4") for n in range(4)]
    # One link without an opposite one: there are parallel cables, not directions.
    assert len(read(tmp_path, text.replace("5 1 8", "5 1 9") + "0 4 100Gbps 1us 0\n").cables) == 9


def test_the_header_of_simai(tmp_path: Path) -> None:
    text = "5 2 1 2 4 H100\n2 3 4\n0 2 2880Gbps 0.000025ms 0\n1 2 2880Gbps 0.000025ms 0\n"
    text += "0 3 400Gbps 0.5us 0\n3 4 1Tbps 1us 0\n"
    found = read(tmp_path, text)
    assert list(found.nodes) == ["0", "1"]
    assert rates(found) == {"2880": 2, "400": 1, "1000": 1}
    assert delays(found)[25] == 2


def test_flows_of_ns3(tmp_path: Path) -> None:
    found = read(tmp_path, ALL["flows"])
    starts = [(each.start, each.source, each.destination, each.size) for each in found.flows]
    assert starts == [(0, "1", "5", 700000), (2_500_000, "2", "5", 700000), (123, "6", "2", 40000)]
    assert any(
        "line 1 promises 3 flows: line 5 and all behind it are not read" in note
        for note in found.notes
    )
    assert [each.group for each in found.flows] == [3, 3, 1]


def test_flows_without_ports(tmp_path: Path) -> None:
    found = read(tmp_path, "2\n0 1 3 700000 2.000000100\n1 0 3 1000 2.1\n")
    assert [(each.start, each.size) for each in found.flows] == [
        (2_000_000_100_000, 700_000),
        (2_100_000_000_000, 1000),
    ]


def test_htsim(tmp_path: Path) -> None:
    """Two pods with two leaves and one aggregation switch with bundles of two; two cores, each
    joined to both pods.
    """
    found = read(tmp_path, ALL["topo"])
    assert (len(found.nodes), len(found.switches)) == (16, 8)
    assert rates(found) == {"100": 16 + 8, "200": 4}
    assert delays(found) == {600: 16, 700: 8, 800: 4}
    assert found.switch_delay == 100_000
    graph = joined(found)
    assert graph.number_of_edges("tor0", "agg0") == 2
    assert sorted(graph["core1"]) == ["agg0", "agg1"]
    assert top(found) == ["core0", "core1"]


def test_ports_decide_where_an_oversubscription_contradicts_them(tmp_path: Path) -> None:
    found = read(tmp_path, ALL["topo"].replace("Oversubscribed 2", "Oversubscribed 3"))
    assert any(
        "`Oversubscribed 3` (line 12) contradicts 4 ports down and 2 up" in note
        for note in found.notes
    )


def test_connections_of_htsim(tmp_path: Path) -> None:
    found = read(tmp_path, ALL["matrix"])
    assert [(each.start, each.source, each.size) for each in found.flows] == [
        (1_000_000, "5", 300_000),
        (2, "15", 4096),
    ]


def test_anynet(tmp_path: Path) -> None:
    """Delays are cycles; the delay in router 2's line holds for both directions, as router 1 does
    not state any.
    """
    found = read(tmp_path, ALL["anynet"])
    cables = {(each.one, each.other): each.delay for each in found.cables}
    assert cables == {
        ("n0", "r0"): 1,
        ("n1", "r1"): 1,
        ("n2", "r2"): 1,
        ("n3", "r0"): 2,
        ("r0", "r1"): 4,
        ("r1", "r2"): 3,
    }
    assert found.cycles
    assert list(found.nodes) == ["n0", "n1", "n2", "n3"]


def test_a_fat_tree_of_simgrid(tmp_path: Path) -> None:
    """Four hosts a leaf; two leaves, each with two cables to each of two tops."""
    found = read(tmp_path, ALL["simgrid"])
    assert list(found.nodes) == [f"n{number}.x" for number in (0, 1, 2, 3, 4, 5, 7, 8)]
    graph = joined(found)
    assert len(found.switches) == 4
    assert len(found.cables) == 8 + 2 * 2 * 2
    assert len(set(graph["n0.x"]) | set(graph["n3.x"])) == 1
    assert set(graph["n0.x"]) != set(graph["n4.x"])
    assert rates(found) == {"10": 16}
    assert delays(found) == {2000: 16}
    assert len(top(found)) == 2


def shape(folder: Path, kind: str, hosts: int, parameters: str) -> Network:
    text = ALL["simgrid"].replace("0-5,7,8", f"0-{hosts - 1}").replace("FAT_TREE", kind)
    return read(folder, text.replace("2;4,2;1,2;1,2", parameters))


def test_tori_and_dragonflies_of_simgrid(tmp_path: Path) -> None:
    torus = shape(tmp_path, "TORUS", 60, "3,4,5")
    assert nx.is_isomorphic(nx.Graph(joined(torus)), nx.grid_graph((3, 4, 5), periodic=True))
    assert (len(torus.nodes), len(torus.switches), len(torus.cables)) == (60, 0, 180)
    dragonfly = shape(tmp_path, "DRAGONFLY", 3 * 2 * 4 * 2, "3,2;2,3;4,1;2")
    graph = joined(dragonfly)
    groups, chassis, places = 3, 2, 4
    green = groups * chassis * places * (places - 1) // 2
    black = groups * places * chassis * (chassis - 1) // 2 * 3
    blue = groups * (groups - 1) // 2 * 2
    assert len(dragonfly.cables) == 48 + green + black + blue
    assert graph.number_of_edges("tree.0.1", "tree.1.0") == 2
    assert graph.number_of_edges("tree.0.1", "tree.0.5") == 3
    with pytest.raises(UsageError, match=r"9 groups need as many routers in each, which has 8"):
        shape(tmp_path, "DRAGONFLY", 9 * 8 * 2, "9,2;2,3;4,1;2")


def test_flat_clusters_of_simgrid_and_routes_of_one_link(tmp_path: Path) -> None:
    text = """<platform version="4.1"><zone id="w" routing="Floyd">
      <cluster id="c" prefix="c" suffix="" radical="0-3" speed="1f"
        bw="125MBps" lat="50us" bb_bw="2GBps" bb_lat="1us"/>
      <zone id="v" routing="Floyd"><host id="h" speed="1f"/><router id="r"/>
      <link id="l" bandwidth="10Gbps" latency="1us"/>
      <route src="h" dst="r"><link_ctn id="l"/></route></zone>
      <link id="m" bandwidth="1.25e9" latency="5us"/>
      <zoneRoute src="c" dst="v" gw_src="c-router" gw_dst="r"><link_ctn id="m"/></zoneRoute>
    </zone></platform>"""
    found = read(tmp_path, text)
    assert set(found.switches) == {"c.switch", "r"}
    assert rates(found) == {"1": 4, "10": 2}
    assert delays(found) == {50_500: 4, 1000: 1, 5500: 1}  # half of the backbone's 1 us
    assert any("1 backbone left out (2GBps of c)" in note for note in found.notes)


def test_slurm(tmp_path: Path) -> None:
    found = read(tmp_path, ALL["slurm"])
    assert list(found.nodes) == ["cn01x", "cn02x", "cn7x", "cn10", "login"]
    assert len(found.cables) == 5 + 2
    assert any("one is assumed" in note for note in found.notes)
    assert any("LinkSpeed has no unit" in note for note in found.notes)


def test_infragraph(tmp_path: Path) -> None:
    """A card with an adapter is a device within a host; each adapter is a node."""
    found = read(tmp_path, ALL["infragraph"])
    assert list(found.nodes) == [
        "h.0.card.0.nic.0",
        "h.0.card.1.nic.0",
        "h.1.card.0.nic.0",
        "h.1.card.1.nic.0",
    ]
    assert list(found.switches) == ["leaf.0", "leaf.1"]
    assert rates(found) == {"100": 4, "400": 1}
    assert delays(found) == {300: 4, None: 1}
    assert any("1 switch without a cable" in note for note in found.notes)
    assert any("the links within a host (inner, pcie)" in note for note in found.notes)


def test_a_scale_up_network_of_infragraph(tmp_path: Path) -> None:
    found = read(tmp_path, ALL["linked"])
    assert list(found.nodes) == ["gpu.0.xpu.0", "gpu.0.xpu.1"]
    assert list(found.switches) == ["gpu.0.nvsw.0"]
    assert rates(found) == {"3200": 2}


def test_graphml(tmp_path: Path) -> None:
    found = read(tmp_path, ALL["graphml"])
    assert list(found.nodes) == ["h1", "h2"]
    assert rates(found) == {"25": 1, "100": 1}
    assert graph_names(found.switches) == {"a b": "a_b"}
    assert any("the graph is directed" in note for note in found.notes)


def test_dot(tmp_path: Path) -> None:
    found = read(tmp_path, ALL["dot"])
    assert list(found.nodes) == ["h1", "h2"]
    assert list(found.switches) == ["leaf 0"]
    assert rates(found) == {"": 1, "25": 1}
    assert delays(found) == {None: 1, 600: 1}


def test_edges(tmp_path: Path) -> None:
    found = read(tmp_path, ALL["edges"])
    assert (list(found.switches), found.terminals, found.count()) == (["a", "b", "c"], 1, 3)
    assert rates(found) == {"": 1, "10": 1, "20": 1}
    assert delays(found) == {None: 2, 2000: 1}


def test_cells_of_a_list_of_edges(tmp_path: Path) -> None:
    """Rates and delays without a key, with the unit in their cell."""
    found = read(tmp_path, "source,target,bandwidth,latency\na,b,100 Gb/s,500 ns\nb, c, 25Gbps\n")
    assert (list(found.switches), rates(found), delays(found)) == (
        ["a", "b", "c"],
        {"25": 1, "100": 1},
        {None: 1, 500: 1},
    )
    with pytest.raises(UsageError, match=r":2: `3` is no word of an edge"):
        read(tmp_path, "a b\nb c 3 7\n")


def test_matrices_are_graphs(tmp_path: Path) -> None:
    ring = "".join(f"{at} {(at + 1) % 5 + 1}\n" for at in (2, 3, 4, 5, 1))
    found = read(
        tmp_path, f"%%MatrixMarket matrix coordinate pattern symmetric\n% own\n5 5 5\n{ring}"
    )
    assert (found.count(), len(found.cables)) == (5, 5)
    both = "1 2 0.5\n2 1 0.5\n2 3 1e3\n3 2 1e3\n"
    found = read(tmp_path, f"%%MatrixMarket matrix coordinate real general\n3 3 4\n{both}")
    assert (found.count(), len(found.cables)) == (3, 2)


def test_a_line_with_the_numbers_of_vertices_and_edges_is_no_edge(tmp_path: Path) -> None:
    graph = nx.petersen_graph()
    text = "10 15\n" + "".join(f"{one} {other}\n" for one, other in graph.edges())
    assert nx.is_isomorphic(nx.Graph(joined(read(tmp_path, text))), graph)
    # An edge like any other one.
    assert len(read(tmp_path, text.replace("10 15", "0 7")).cables) == 16


@pytest.mark.parametrize(("name", "old", "new", "message"), SPOILT)
def test_a_wrong_file(tmp_path: Path, name: str, old: str, new: str, message: str) -> None:
    assert old in ALL[name]
    with pytest.raises(UsageError, match=rf"^{tmp_path}/file\.any({message})"):
        read(tmp_path, ALL[name].replace(old, new, 1))


@pytest.mark.parametrize("name", ALL)
def test_spoilt_files_are_refused_with_the_file_or_read_otherwise(
    tmp_path: Path, name: str
) -> None:
    whole = ALL[name].encode()
    file = tmp_path / "file.any"
    refused = count = 0
    for draw in cases(f"formats {name}", 60):
        file.write_bytes(spoil(whole, draw))
        found, said = attempt(lambda: formats.read(file))
        assert found is not None or said.startswith(str(file)), said
        refused += found is None
        count += 1
    assert 0 < refused < count or fuzzing()


OTHERS = {
    "MPI_Init entering at walltime 1.5, cputime 0.1 seconds in thread 0.\n": (
        "a trace of DUMPI as text"
    ),
    "num_ranks 2\nrank 0 {\n}\n": "a trace in GOAL",
    "# OSU MPI Latency Test v7.4\n# Size  Latency (us)\n1 1.2\n": "output of the OSU benchmarks",
    "#----\n# Intel(R) MPI Benchmarks 2021.7\n": "output of the Intel MPI benchmarks",
    'CA: n1 HCA-1:\n 0x1 3 1[  ] ==( 4X 25.78125 Gbps Active/ LinkUp)==> 1 2[  ] "sw" ( )\n': (
        "output of iblinkinfo"
    ),
    '< Switch\t8 "S-1"\t# "sw"\n> [1]\t"H-1"[1](1) \t# "n1" lid 3 4xHDR\n': (
        "a difference of two fabrics (ibnetdiscover --diff)"
    ),
    "SW     1 12 0x04 4x HDR - CA     3  1 0xb8 ( 'sw' - 'n1 HCA-1' )\n": (
        "output of ibnetdiscover -p"
    ),
    "{ CA Ports:01 SystemGUID:1 NodeGUID:1 } { SW Ports:29 } PHY=4x LOG=ACT SPD=50\n": (
        "the list of links of OpenSM"
    ),
    "\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tNV18\t0-47\n": "output of nvidia-smi topo",
    "directed: false\nedges:\n- source: a.0.b.0\n  target: a.1.b.0\nnodes:\n- id: a.0.b.0\n": (
        "a graph of networkx as YAML"
    ),
    "topology = anynet;\nnetwork_file = net;\n": "a configuration of BookSim2",
    "ENABLE_QCN 1\nTOPOLOGY_FILE mix/topology.txt\n": "a configuration of ns-3 (HPCC)",
    "0 0\n1000 15\n20000 100\n": "a distribution of flow sizes",
    "# nThread 1 nGpus 8 minBytes 8\n": "output of NCCL-tests",
    " #bytes     #iterations    BW peak[MB/sec]\n 65536 5000 1 2 3\n": "output of perftest",
    '{"schema": "1.0.2-chakra.0.0.4", "nodes": []}': "a Chakra trace",
    "topology: [ Ring ]\nnpus_count: [ 8 ]\n": "a network of ASTRA-sim's analytical model",
    '<gexf version="1.3"><graph/></gexf>': "a graph in GEXF",
    '*Vertices 2\n1 "a"\n2 "b"\n*Edges\n1 2\n': "a graph in Pajek's format",
    '{"schemaVersion": 1, "traceEvents": []}': "a trace of PyTorch's profiler (Kineto)",
    '<?xml version="1.0"?><topology version="2.0"></topology>': (
        "the hardware of one computer (lstopo of hwloc)"
    ),
    "<html><p>": "XML with the root `html`",
    '[machine]\nname = "x"\n': "a file of Elanite",
    "OTF2\0\x01": "the anchor of an OTF2 archive",
    "\0\x01\x02": "a binary file",
    "3 1\n0 10 20\n1 30 40\n2 5 5\n0 1 7\n": "a list of places and edges (Inet)",
    "To be or not to be, that is the question.\nWhether it is nobler\n": "of no known format",
}


@pytest.mark.parametrize(("text", "name"), OTHERS.items())
def test_a_file_of_another_format_is_named(tmp_path: Path, text: str, name: str) -> None:
    with pytest.raises(UsageError) as refused:
        read(tmp_path, text)
    assert f"this is {name}" in str(refused.value)
    assert "and no network" in str(refused.value)


def test_an_empty_file_and_one_that_is_large_without_sense(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="the file is empty"):
        read(tmp_path, " \n")
    for text in ("\n" * 300_000, "<!--" * 70_000, "graph " * 50_000, "router 0 " * 30_000):
        assert recognition.of_text(text).name


def test_names_sort_by_their_numbers() -> None:
    assert sorted(["n10", "n9", "a", "n²"], key=sort_key) == ["a", "n9", "n10", "n²"]
    assert graph_names(["a b", "a,b", "switch", "a_b"]) == {
        "a b": "a_b",
        "a,b": "a_b.2",
        "switch": "switch_",
        "a_b": "a_b.3",
    }
