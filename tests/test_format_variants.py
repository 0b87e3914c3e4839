"""Ways in which people write the formats: encodings, headings, units, quotes, plugins, and their
broken forms.
"""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING

import networkx as nx
import pytest
import yaml

from elanite import formats
from elanite.errors import UsageError
from elanite.inputs import network_import, sources
from formats_files import ALL
from test_formats import delays, joined, rates, read
from test_importing import lines, link, texts

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Elanite
    from elanite.formats.network import Network

BASE = sources.read("machine", "infiniband-ndr")


def of_bytes(folder: Path, content: bytes) -> Network:
    file = folder / "file.any"
    file.write_bytes(content)
    return formats.read(file)[1]


@pytest.mark.parametrize("name", sorted(ALL.keys() - {"matrix", "flows"}))
def test_encodings_and_line_ends(tmp_path: Path, name: str) -> None:
    plain = of_bytes(tmp_path, ALL[name].encode())
    windows = ALL[name].replace("\n", "\r\n").rstrip()
    for content in (windows.encode(), windows.encode("utf-8-sig"), windows.encode("utf-16")):
        found = of_bytes(tmp_path, content)
        assert (list(found.nodes), list(found.switches)) == (
            list(plain.nodes),
            list(plain.switches),
        )
        assert [each[:4] for each in map(_cable, found.cables)] == [
            each[:4] for each in map(_cable, plain.cables)
        ]


def _cable(each: object) -> tuple[object, ...]:
    return tuple(vars(each).values())


def pairs(network: Network) -> list[tuple[str, str]]:
    return [(each.one, each.other) for each in network.cables]


def test_xml_has_the_encoding_of_its_declaration(tmp_path: Path) -> None:
    named = ALL["graphml"].replace(
        '<?xml version="1.0"?>', '<?xml version="1.0" encoding="ISO-8859-1"?>'
    )
    found = of_bytes(tmp_path, named.replace("h1", "hôte").encode("latin-1"))
    assert list(found.nodes) == ["hôte", "h2"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (
            "leaf é\n".encode("latin-1"),
            "this is a text that is not UTF-8 (byte 5), and no network\n  convert it: iconv",
        ),
        (b"\xff\xfea\x00b", "this is a binary file"),
    ],
)
def test_bytes_that_are_no_text_have_a_remedy(tmp_path: Path, content: bytes, said: str) -> None:
    with pytest.raises(UsageError) as refused:
        of_bytes(tmp_path, content)
    assert said in str(refused.value)


def test_columns_of_a_table(tmp_path: Path) -> None:
    """Cells have the meaning of their column, whatever separates them; other columns are named and
    left out.
    """
    rows = [
        "source,target,type,bandwidth (Gbps),latency_us",
        '"rack 1",spine,up,100,0.5',
        "rack 2,spine,up,20,2",
    ]
    for between in ",;\t":
        found = read(tmp_path, "".join(f"{row.replace(',', between)}\n" for row in rows))
        assert list(found.switches) == ["rack 1", "spine", "rack 2"]
        assert (rates(found), delays(found)) == ({"100": 1, "20": 1}, {500: 1, 2000: 1})
        assert "columns left out: type" in found.notes
    found = read(tmp_path, "src dst speed\nh1 s1 100G\nh2 s1 25GbE\nh3 s1 40gbps\n")
    assert rates(found) == {"100": 1, "25": 1, "40": 1}
    found = read(tmp_path, "src,dst,bandwidth\na,b,100\nb,c,20\n")
    assert (rates(found), found.notes[-1]) == ({"": 2}, "left out, as they have no unit: bandwidth")
    wide = "from,to,sport,dport,rack,row,speed\na,b,1,1,r1,x,100G\n"
    assert rates(read(tmp_path, wide)) == {"100": 1}
    found = read(tmp_path, "node_a,node_b,num_links,link_speed\nl0,s0,4,100G\nl0,s1,2,25G\n")
    assert rates(found) == {"100": 4, "25": 2}
    assert rates(read(tmp_path, "from,to,Gbps,ms\na,b,100,1\nb,c,25,1\n")) == {"100": 1, "25": 1}
    with pytest.raises(UsageError, match=r":3: bandwidth \(Gbps\) `fast` is not a rate"):
        read(tmp_path, "\n".join(rows[:2]).replace(",100,", ",fast,").replace("source", "\nsource"))


def test_columns_of_kinds_and_of_counts(tmp_path: Path) -> None:
    text = (
        "source,source_type,target,target_type,rate,links\n"
        "h1,host,s1,switch,1000M,1\ns1,switch,s2,switch,25gbit,3\ns2,,h2,host,1000M,\n"
    )
    made = read(tmp_path, text)
    assert (list(made.nodes), list(made.switches)) == (["h1", "h2"], ["s1", "s2"])
    assert rates(made) == {"1": 2, "25": 3}
    assert made.notes[-1] == "1 edge with several cables each, by their count"
    for old, new, message in (
        ("s2,,h2,host", "s1,host,h2,host", r":4: `s1` is a host here, and a switch in line 2"),
        ("25gbit,3", "25gbit,many", r":3: `many` is not a number of cables: write 1 to 9999"),
    ):
        with pytest.raises(UsageError, match=rf"file\.any{message}"):
            read(tmp_path, text.replace(old, new))


def test_opposite_edges_of_several_cables(tmp_path: Path) -> None:
    made = read(tmp_path, 'digraph { a -> b [count=2]; b -> a [count=2]; b -> c [label="100G"] }')
    assert rates(made) == {"": 2, "100": 1}


def test_labels_units_and_kinds_of_drawings(tmp_path: Path) -> None:
    """Labels with a number of cables, units in attributes of their own, and longer names of kinds
    have their meaning.
    """
    made = read(
        tmp_path,
        'graph { a [node_type=host]; b [node_type=host]; s [node_type=switch]; a -- s [label="2x'
        ' 100G"]; b -- s [speed=40, speed_unit=Gbps]; }',
    )
    assert (list(made.nodes), list(made.switches)) == (["a", "b"], ["s"])
    assert rates(made) == {"100": 2, "40": 1}
    made = read(
        tmp_path,
        'graph { a [Type="Compute Node"]; b [Type=gpu_server]; s [Type="Leaf Switch"]; t'
        " [Type=nvswitch]; a -- s -- t -- b; }",
    )
    assert (list(made.nodes), made.notes) == (["a", "b"], [])
    made = read(tmp_path, "graph { a [kind=h]; s [kind=s]; a -- s; }")
    assert made.notes == ["all vertices are switches, as no kind is a word for a node: h, s"]
    made = read(tmp_path, "source,target,LinkSpeed,LinkSpeedUnits\na,b,2.5,G\nb,c,155,M\n")
    assert (rates(made), made.notes) == ({"2.5": 1, "0.155": 1}, [])
    made = read(tmp_path, "a,b,4xEDR\nb,c,HDR\nc,d,NDR200\nd,e,2xQDR\n")
    assert rates(made) == {"100": 1, "200": 2, "20": 1}


def test_a_width_in_lanes_belongs_to_the_rate(tmp_path: Path) -> None:
    text = "from_guid,to_guid,Active Width,Active Speed\n0xa,0xc,4X,EDR\n0xb,0xc,2x,HDR\n"
    assert rates(read(tmp_path, text)) == {"100": 2}
    with pytest.raises(UsageError, match=r":3: .*`50 Gb/s` with the width 2x may be a lane's or"):
        read(tmp_path, text.replace("HDR", "50 Gb/s"))


def test_cables_that_are_down_are_left_out(tmp_path: Path) -> None:
    text = (
        "System Name A,Port A,System Name B,Port B,Link Speed,Status\nleaf,1,top,1,400"
        " Gbps,Active\nleaf,2,top,2,400 Gbps,Down\nhost,1,leaf,3,200 Gbps,\n"
    )
    made = read(tmp_path, text)
    assert pairs(made) == [("leaf", "top"), ("host", "leaf")]
    assert made.notes == ["1 edge left out, by a state such as down"]
    with pytest.raises(UsageError, match=r":4: all edges of `host` have a state such as down"):
        read(tmp_path, text.replace("200 Gbps,", "200 Gbps,failed"))
    made = read(tmp_path, 'graph { a -- b [link_state="down"]; a -- b; b -- c [state=up]; }')
    assert pairs(made) == [("a", "b"), ("b", "c")]


def test_words_of_an_edge(tmp_path: Path) -> None:
    with pytest.raises(
        UsageError, match=r":2: `cpus=8` stands where the other end of `n2` belongs"
    ):
        read(tmp_path, "n1 s1\nn2 cpus=8\n")
    for between in ("\t", " ", ","):
        text = "1 2;100 Gbps;500 ns\n2 s;25 Gbps;1 us\n3 2;10 Gb/s;1 us\n".replace(";", between)
        made = read(tmp_path, text.replace(" 2", f"{between}2").replace(" s;", f"{between}s;"))
        assert (rates(made), delays(made)) == ({"100": 1, "25": 1, "10": 1}, {500: 1, 1000: 2})
    assert pairs(read(tmp_path, '"a" "b"\nb -> c\nc -- d\n')) == [
        ("a", "b"),
        ("b", "c"),
        ("c", "d"),
    ]
    assert rates(read(tmp_path, "a b 100G\nb c 25gbps 1us\n")) == {"100": 1, "25": 1}
    assert delays(read(tmp_path, "0 1 25Gbps 1us\n1 2 25Gbps 1us\n")) == {1000: 2}


def test_edges_in_both_directions_are_cables(tmp_path: Path) -> None:
    graph = nx.petersen_graph()
    written = io.BytesIO()
    nx.write_edgelist(graph.to_directed(), written, data=False)
    found = of_bytes(tmp_path, written.getvalue())
    assert len(found.cables) == graph.number_of_edges()
    assert nx.is_isomorphic(nx.Graph(joined(found)), graph)
    # A cable in one direction alone: the others are two cables each.
    assert len(read(tmp_path, "a b\nb a\nb c\n").cables) == 3
    unlike = 'digraph { a -> b [rate="100 Gb/s"]; b -> a [rate="20 Gb/s"]; }'
    assert "1 cable with another rate or delay in each direction" in read(tmp_path, unlike).notes[1]


def test_a_first_edge_is_no_count_of_vertices_and_edges(tmp_path: Path) -> None:
    """The path 1, 2, 3 as a matrix, and as a list: `2 1` is an edge, though one edge with two ends
    follows.
    """
    for head in ("%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n", ""):
        found = read(tmp_path, f"{head}2 1\n3 2\n")
        assert (found.count(), pairs(found)) == (3, [("2", "1"), ("3", "2")])


def test_remarks_before_a_graph_in_dot(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        "/* drawn\n * by hand */\n# a line\n// another\nGRAPH {\n a -- b -- c;\n}\n".replace(
            "GRAPH", "graph"
        ),
    )
    assert pairs(found) == [("a", "b"), ("b", "c")]


def test_hosts_among_vertices_with_other_words(tmp_path: Path) -> None:
    """Cumulus writes `function`; a word that is not known is no node."""
    vertices = "l1 [function=leaf]; f1 [function=firewall]; h1 [function=host];"
    found = read(tmp_path, f'graph {{ {vertices} "h1":"eth0" -- "l1":"swp1"; l1 -- f1; }}')
    assert (list(found.nodes), list(found.switches)) == (["h1"], ["l1", "f1"])
    assert (
        "vertices with another function than those of nodes are switches: firewall" in found.notes
    )


SLURM_YAML = """\
---
- topology: blocks
  cluster_default: false
  block:
    block_sizes: [2, 4]
    blocks:
      - {block: b1, nodes: "gb[01-02]"}
      - {block: b2, nodes: "gb[03-04]"}
- topology: main
  cluster_default: true
  tree:
    switches:
      - switch: top
        children: leaf[0-1]
      - switch: leaf0
        nodes: cn[1-2]
      - switch: leaf1
        nodes: cn[10-11]
"""


def test_topologies_of_slurm_in_yaml(tmp_path: Path) -> None:
    found = read(tmp_path, SLURM_YAML)
    assert (list(found.nodes), list(found.switches)) == (
        ["cn1", "cn2", "cn10", "cn11"],
        ["top", "leaf0", "leaf1"],
    )
    assert pairs(found)[:2] == [("leaf0", "top"), ("leaf1", "top")]
    assert "topology `main` is read; the others are left out: `blocks`" in found.notes
    listed = SLURM_YAML.replace("leaf[0-1]", "[leaf0, leaf1]").replace("cn[1-2]", "[cn1, cn2]")
    assert pairs(read(tmp_path, listed)) == pairs(found)
    plain = (
        "SwitchName=top Switches=leaf[0-1]\nSwitchName=leaf0 Nodes=cn[1-2]\nSwitchName=leaf1"
        " Nodes=cn[10-11]\n"
    )
    assert pairs(read(tmp_path, plain)) == pairs(found)


def test_blocks_of_slurm_have_switches_that_are_assumed(tmp_path: Path) -> None:
    conf = "BlockName=b1 Nodes=gb[01-02]\nBlockName=b2 Nodes=gb[03-04]\nBlockSizes=2,4\n"
    for text in (conf, SLURM_YAML.replace("cluster_default: false", "cluster_default: true")):
        found = read(tmp_path, text)
        assert sorted(pairs(found)) == sorted(
            [
                ("gb01", "b1"),
                ("gb02", "b1"),
                ("gb03", "b2"),
                ("gb04", "b2"),
                ("b1", "top"),
                ("b2", "top"),
            ]
        )
        assert "one switch, `top`, with a cable to each block is assumed" in found.notes[1]


def test_switches_of_slurm_in_a_range_are_alike(tmp_path: Path) -> None:
    leaves = "SwitchName=leaf0 Nodes=n[0-1]\nSwitchName=leaf1 Nodes=n[2-3]\n"
    found = read(tmp_path, f"{leaves}SwitchName=s[0-1] Switches=leaf[0-1]\n")
    assert [pair for pair in pairs(found) if pair[1].startswith("s")] == [
        ("leaf0", "s0"),
        ("leaf1", "s0"),
        ("leaf0", "s1"),
        ("leaf1", "s1"),
    ]
    shown = (
        "SwitchName=leaf0 Level=0 LinkSpeed=1 Nodes=n[0-1]\nSwitchName=leaf1 Level=0 LinkSpeed=1"
        " Nodes=n[2-3]\nSwitchName=s0 Level=1 LinkSpeed=1 Nodes=n[0-3] Switches=leaf[0-1]\n"
    )
    top = f"{leaves}SwitchName=s0 Switches=leaf[0-1]\n"
    assert pairs(read(tmp_path, shown)) == pairs(read(tmp_path, top))
    shown = "BlockName=b1 BlockIndex=0 Nodes=n[1-2] BlockSize=2\n"
    more = "AggregatedBlock=b1 BlockIndex=1 Nodes=n[1-2] BlockSize=4\n"
    assert pairs(read(tmp_path, shown + more)) == [("n1", "b1"), ("n2", "b1")]
    with pytest.raises(UsageError, match=r":1: `s\[0-1\]` are 2 switches, and a node is at one"):
        read(tmp_path, "SwitchName=s[0-1] Nodes=n[0-3]\n")


def test_nodes_of_slurm_at_several_switches_have_several_cables(tmp_path: Path) -> None:
    """As in a cluster with a leaf for each rail, of which Slurm only warns."""
    rails = "".join(f"SwitchName=rail{each} Nodes=n[0-1]\n" for each in range(2))
    found = read(tmp_path, f"{rails}SwitchName=top Switches=rail[0-1]\n")
    assert list(found.nodes) == ["n0", "n1"]
    assert [pair for pair in pairs(found) if pair[0] == "n0"] == [("n0", "rail0"), ("n0", "rail1")]
    assert found.notes[1].startswith("2 nodes at several switches, such as `n0` (line 2)")
    with pytest.raises(UsageError, match=r":2: node `n1` is in two blocks: line 1 has it, too"):
        read(tmp_path, "BlockName=b0 Nodes=n[0-1]\nBlockName=b1 Nodes=n1\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "SwitchName=a Nodes=n[0-1]\nSwitchName=b Nodes=n[2-3]\n",
            r":2: the file has 2 trees, a, b, .* Switches=a,b, or",
        ),
        (
            "include more.conf\nSwitchName=a Nodes=n1\n",
            r":1: `include more.conf`: one file is read",
        ),
        (
            "SwitchName=a Nodes=n1\nBlockName=b Nodes=n2\n",
            r":2: line 1 has a switch, and this one a block",
        ),
        (
            "- topology: f\n  flat: true\n",
            r":1: the plugin topology/flat states no network",
        ),
        (
            SLURM_YAML.replace("children: leaf[0-1]", "children: leaf[0-2]"),
            r":13: there is no line SwitchName=leaf2",
        ),
        (
            SLURM_YAML.replace("- switch: leaf0", "- name: leaf0"),
            r":15: `switches` lists mappings",
        ),
    ],
)
def test_networks_of_slurm_that_are_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UsageError, match=rf"file\.any{message}"):
        read(tmp_path, text)


def test_an_infrastructure_in_a_line_of_json(tmp_path: Path) -> None:
    plain = read(tmp_path, ALL["infragraph"])
    assert pairs(read(tmp_path, json.dumps(yaml.safe_load(ALL["infragraph"])))) == pairs(plain)


def test_an_infrastructure_before_version_1_is_refused_with_a_remedy(tmp_path: Path) -> None:
    content = yaml.safe_load(ALL["infragraph"])
    content["devices"] = {each["name"]: each for each in content["devices"]}
    with pytest.raises(UsageError, match=r"`devices` is a mapping, .* write a list, in which"):
        read(tmp_path, yaml.safe_dump(content))


def test_hosts_keep_their_names_where_adapters_have_one_description(tmp_path: Path) -> None:
    text = ALL["ibnetdiscover"].replace("cn2 mlx5_1", "cn2 mlx5_0")
    assert list(read(tmp_path, text).nodes) == ["cn2.H-a2.1", "cn2.H-a3.1", "cn3", "cn10"]


def test_a_description_in_a_fabric_states_no_rate(tmp_path: Path) -> None:
    text = ALL["ibnetdiscover"]
    named = text.replace('" lid', ' 4xSDR" lid')
    assert named != text
    assert rates(read(tmp_path, named)) == rates(read(tmp_path, text))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "0 1 3 100 1000 2.0\n1 0 3 100 1000 2.1\n",
            r":1: the first line has the number of flows alone",
        ),
        (ALL["ns3"].replace("40Gbps 0.5us", "40GBPS 0.5us"), r":3: `40GBPS` is not a rate"),
    ],
)
def test_a_spoilt_file_of_ns3_is_one_of_ns3(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UsageError, match=rf"file\.any{message}"):
        read(tmp_path, text)


def test_topologies_of_powertcp_and_reverie(tmp_path: Path) -> None:
    """The leaves are counted before the links; a rate without a unit is in bits per second."""
    links = (
        "2 4\n0 2 25000000000.0 1us 0\n1 4 25000000000.0 1us 0\n3 4 1e9 1us 0\n2 4 100000000000.0"
        " 1us 0\n"
    )
    for head in ("5 2 2 4", "5 2 2 4 25 100"):
        found = read(tmp_path, f"{head}\n{links}")
        assert (list(found.nodes), list(found.switches), found.forward) == (
            ["0", "1", "3"],
            ["2", "4"],
            {},
        )
        assert rates(found) == {"25": 2, "1": 1, "100": 1}


def test_routes_of_simgrid_from_a_host_to_itself(tmp_path: Path) -> None:
    links = (
        '<link id="l" bandwidth="1GBps" latency="1us"/><link id="own" bandwidth="9GBps"'
        ' latency="0"/>'
    )
    hosts = '<host id="a" speed="1Gf"/><host id="b" speed="1Gf"/>'
    routes = "".join(
        f'<route src="{one}" dst="{other}"><link_ctn id="{name}"/></route>'
        for one, other, name in (("a", "b", "l"), ("a", "a", "own"))
    )
    found = read(
        tmp_path,
        '<platform version="4"><zone id="z"'
        f' routing="Full">{hosts}{links}{routes}</zone></platform>',
    )
    assert (pairs(found), found.notes) == ([("a", "b")], ["1 route from a host to itself left out"])


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('{"logical-dims": ["8"]}', "the logical dimensions of ASTRA-sim"),
        (
            "# from the busbw of a test\ntopology: [ Ring ]\nnpus_count: [ 8 ]\n",
            "a network of ASTRA-sim's analytical",
        ),
        ('{"nodes": [{"id": 0}], "adjacency": [[]]}', "the adjacency lists of networkx as JSON"),
        ("0b000001 0b000101 100 100 9000 2000 103 102\n", "completion times of flows"),
        ("node1 slots=8\nnode2 slots=8\n", "a list of hosts for mpirun"),
        ("0: 1, 2\n1: 0 2\n2: 0,1\n", "a list of neighbours"),
        ("0 1 1\n1 0 1\n1 1 0\n", "a square matrix"),
        ("0,9e3,2\n1,0,3\n4,1,0\n", "a square matrix"),
        ("network N { submodules: a: Host; }\n", "a network of OMNeT++"),
        ('Ca\t: 0x0002c9 ports 1 devid 0x1 vendid 0x2 "n"\n', "output of ibnetdiscover -l"),
        ("import networkx as nx\nfrom x import y\ng = nx.Graph()\n", "a program in Python"),
        ('{"a": 1,\n "b": 2}\n', "JSON of no known kind"),
        ("nodes:\n- name: n1\n  switch: s1\n- name: n2\n  switch: s1\n", "YAML of no known kind"),
    ],
)
def test_documents_of_no_known_kind_are_named(tmp_path: Path, text: str, name: str) -> None:
    with pytest.raises(UsageError) as refused:
        read(tmp_path, text)
    assert f"this is {name}" in str(refused.value)


@pytest.mark.parametrize(
    ("rate", "made"), [("33.3", "33.28"), ("54.54", "54.5"), ("0.941", "0.94")]
)
def test_a_rate_without_a_flit_of_whole_picoseconds_is_rounded(
    tmp_path: Path, rate: str, made: str
) -> None:
    files = texts(
        tmp_path, f"4 1 3\n3\n0 3 {rate}Gbps 1us 0\n1 3 {rate}Gbps 1us 0\n2 3 0.5Gbps 1us 0\n"
    )
    assert link(files[".toml"])["rate"] == f"{made} Gb/s"
    flit = int(link(files[".toml"])["flit"].removesuffix(" B"))
    assert (flit * 8 * 10**12) % round(float(made) * 10**9) == 0
    assert abs(float(made) / float(rate) - 1) < 0.002
    assert f"# - the rate {rate} Gb/s is {made} Gb/s here" in files[".toml"]
    assert lines(files[".graph.txt"]) == ["0 3", "1 3", "2 3 rate=0.5Gb/s"]


def test_a_cable_that_is_too_slow_is_refused_by_its_own_line(tmp_path: Path) -> None:
    """A link takes at most 512 cycles for a flit: a cable for management beside 800 Gb/s is none of
    the network.
    """
    network = read(tmp_path, "3 1 2\n2\n0 2 800Gbps 1us 0\n1 2 1Gbps 1us 0\n")
    with pytest.raises(
        UsageError,
        match=r"^net\.txt:4: 1 Gb/s beside 800 Gb/s: a cable is at most 512 times slower",
    ):
        network_import.machine(network, "net.txt", "net", BASE)


def test_limits_of_graphs_are_named(tmp_path: Path) -> None:
    network = read(tmp_path, "".join(f"s{number} s{number + 1}\n" for number in range(4096)))
    with pytest.raises(
        UsageError, match=r"the graph has 4097 switches; allowed are at most 4,096 switches"
    ):
        network_import.machine(network, "net.txt", "net", BASE)


def test_priority_groups_are_traffic_classes(tmp_path: Path, elanite: Elanite) -> None:
    """Two flows of other groups share 25 Gb/s: each takes twice its ideal time, and has its own
    row.
    """
    (tmp_path / "topology.txt").write_text(
        "4 1 3\n3\n0 3 25Gbps 1us 0\n1 3 25Gbps 1us 0\n2 3 25Gbps 1us 0\n"
    )
    (tmp_path / "flow.txt").write_text("2\n0 2 3 100 1000000 2.0\n1 2 1 100 1000000 2.0\n")
    ended = elanite("import", "topology.txt", "flow.txt", "--output", "two.toml")
    assert ended.code == 0, ended
    assert "priority groups 1, 3 are the traffic classes 0, 1" in ended.err
    written = (tmp_path / "two.flows.csv").read_text().splitlines()
    assert written[-3:] == [
        "start,source,destination,size,class",
        "2000000 us,0,2,1000000 B,1",
        "2000000 us,1,2,1000000 B,0",
    ]
    ended = elanite("run", "two.traffic.toml", "--table", "flows", "--format", "json")
    assert ended.code == 0, ended
    rows = json.loads(ended.out)
    rows = rows if isinstance(rows, list) else rows["rows"]
    assert [row["class"] for row in rows] == [1, 0]
    assert [row["slowdown"] for row in rows] == pytest.approx([2, 2], rel=0.05)
    alone = elanite("import", "flow.txt", "--output", "alone.toml")
    assert "priority groups (1, 3) are left out: all flows are in one class" in alone.err
    assert "size,class" not in (tmp_path / "alone.flows.csv").read_text()
