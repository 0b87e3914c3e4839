"""``elanite import``: machines, graphs and flow lists from other tools' networks."""

from __future__ import annotations

import io
import math
import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import elanite as el
from elanite import formats
from elanite.errors import UsageError
from elanite.inputs import graphs, network_import, sources
from formats_files import ALL

if TYPE_CHECKING:
    from conftest import Elanite

BASE = sources.read("machine", "infiniband-ndr")

TWO_RATES = """\
11 3 10
8 9 10
0 8 25Gbps 0.8us 0
1 8 25Gbps 0.8us 0
2 8 25Gbps 0.8us 0
3 8 25Gbps 0.8us 0
4 9 25Gbps 0.8us 0
5 9 25Gbps 0.8us 0
6 9 25Gbps 0.8us 0
7 9 25Gbps 0.8us 0
8 10 100Gbps 0.8us 0
9 10 100Gbps 0.8us 0
"""

UNIFORM = """\
title = "Uniform traffic"
source = "my own"
machine = "net.toml"

[run]
warm_up = "20 us"
window = "200 us"
batches = 2

[[series]]
name = "uniform"
title = "uniform"
[series.jobs.traffic]
pattern = "uniform"
nodes = 16
message = "4 KB"
sizes = "fixed"
arrivals = "exponential"
load = "4000 MB/s"
"""


def texts(folder: Path, text: str) -> dict[str, str]:
    """A network's files, without the simulator's checks."""
    file = folder / "net.any"
    file.write_text(text)
    network = formats.read(file)[1]
    return network_import.NetworkImport(network, file.name, "net", BASE).files().texts


def link(machine: str) -> dict[str, Any]:
    return {key: each["value"] for key, each in tomllib.loads(machine)["link"].items()}


def lines(graph: str) -> list[str]:
    return [line for line in graph.splitlines() if not line.startswith(("#", "switch ", "node "))]


def test_rates_and_delays_stand_in_the_machine_or_at_the_cable(tmp_path: Path) -> None:
    """160 Gb/s: 64 bytes in 3.2 ns.

    Host links have 0.5 us, which is 156 cycles; switch links 1 us.
    """
    files = texts(tmp_path, ALL["ns3"])
    found = link(files[".toml"])
    assert (found["flit"], found["rate"]) == ("64 B", "160 Gb/s")
    assert found["hop_delay"] == found["credit_delay"] == ["499.2 ns", "998.4 ns"]
    assert lines(files[".graph.txt"]) == [
        "1 0 rate=40Gb/s",
        "2 0 rate=40Gb/s",
        "3 4 rate=40Gb/s",
        "5 4 rate=40Gb/s",
        "6 4 rate=40Gb/s delay=2000ns",
        "0 4",
    ]


def test_the_sum_of_a_way_is_that_of_its_cables_and_switches(tmp_path: Path) -> None:
    """Cables with 600, 700 and 800 ns, switches with 100: half a switch on each of a path's two
    node links.
    """
    files = texts(tmp_path, ALL["topo"])
    cycle = 2.56
    near, far = (float(each.removesuffix(" ns")) for each in link(files[".toml"])["hop_delay"])
    assert near == pytest.approx(650, abs=cycle / 2)
    assert far == pytest.approx(800, abs=cycle / 2)
    cores = [line for line in lines(files[".graph.txt"]) if "core" in line]
    assert len(cores) == 4
    for line in cores:
        assert float(line.split("delay=")[1].removesuffix("ns")) == pytest.approx(
            900, abs=cycle / 2
        )
    assert tomllib.loads(files[".toml"])["topology"]["roots"]["value"] == ["core0", "core1"]


def test_channels_cover_the_longest_round_trip(tmp_path: Path) -> None:
    """1 us at 100 Gb/s: P = 65, D = C = 195, and (P + D + C) / P = 7."""
    text = "3 1 2\n2\n0 2 100Gbps 1us 0\n1 2 100Gbps 1us 0\n"
    files = texts(tmp_path, text)
    assert link(files[".toml"])["channels"] == 7 + 1
    assert (
        "at most 32: one stream has at most 66%"
        in texts(tmp_path, text.replace("100Gbps", "800Gbps"))[".toml"]
    )


RING = "s0 s1\ns1 s2\ns2 s3\ns3 s0\n"


def test_shortest_ways_where_no_tree_leads(tmp_path: Path) -> None:
    """A ring of four needs two layers, each with infiniband-ndr's channels.

    Trees keep their roots.
    """
    files = texts(tmp_path, RING)
    machine = el.Machine.of(
        sources.Source(
            "machine",
            "net",
            "net.toml",
            "net.toml",
            graphs.with_content(files[".toml"], "cables", files[".graph.txt"], "net.graph.txt"),
        )
    )
    assert (machine["topology.routing"], machine.layers, machine["link.channels"]) == (
        "minimal",
        2,
        10,
    )
    assert "in 2 layers of channels: 10 channels, 5 for each" in files[".graph.txt"]
    assert "# - there are no nodes: each switch has 1 node (`--terminals`)" in files[".toml"]
    one = texts(tmp_path, RING.replace("s3 s0", "s3 s1").replace("s0 s1", "s0 s1\ns0 s2\ns0 s3"))
    assert "which need one layer of channels" in one[".toml"]
    assert link(one[".toml"])["channels"] == 5
    assert "routing" not in tomllib.loads(texts(tmp_path, ALL["slurm"])[".toml"])["topology"]


def test_more_layers_than_channels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network_import, "MOST_CHANNELS", 1)
    files = texts(tmp_path, RING)
    assert (
        "its shortest ways need 2 layers of channels, of which a link has at most 1: packets"
        " take up" in files[".toml"]
    )
    assert "routing" not in tomllib.loads(files[".toml"])["topology"]


@pytest.mark.parametrize(
    ("rate", "flit"), [("56Gbps", 63), ("2880Gbps", 63), ("400Gbps", 64), ("10Gbps", 64)]
)
def test_a_flit_takes_a_whole_number_of_picoseconds(tmp_path: Path, rate: str, flit: int) -> None:
    files = texts(
        tmp_path, f"3 1 2\n2\n0 2 {rate} 1us 0\n1 2 {rate} 1us 0\n".replace("1us", "10ns")
    )
    found = int(link(files[".toml"])["flit"].removesuffix(" B"))
    assert found == flit
    assert found * 8000 % int(rate.removesuffix("Gbps")) == 0


def test_cycles_of_booksim_are_cycles_of_the_machine(tmp_path: Path) -> None:
    """One-cycle channels have the base delay, 115.2 ns; four-cycle channels three cycles of 1.28 ns
    more.
    """
    files = texts(tmp_path, ALL["anynet"])
    assert link(files[".toml"])["hop_delay"] == ["71.68 ns", "115.2 ns"]
    assert "r0 r1 delay=119.04ns" in lines(files[".graph.txt"])
    assert "n3 r0 delay=72.96ns" in lines(files[".graph.txt"])


def test_nodes_that_forward_stay_so(tmp_path: Path) -> None:
    """Cables between nodes are at level 1, as those between switches."""
    files = texts(
        tmp_path,
        "node a forward=yes\nnode b\nnode c forward=no\nswitch s\na b rate=50Gb/s\nb s\nc s"
        " rate=100Gb/s\n",
    )
    assert (
        "node a forward=yes\nnode b\nnode c forward=no\na b rate=50Gb/s\nb s\nc s"
        in files[".graph.txt"]
    )
    hosts = "node a forward=yes\nnode b\nnode c\nswitch s\nswitch t\na s\na t\nb s\nc t\n"
    assert "take shortest ways" in texts(tmp_path, hosts)[".toml"]
    with pytest.raises(UsageError, match=r":1: forward `perhaps` of `a`; a node has yes or no"):
        texts(tmp_path, "node a forward=perhaps\nswitch s\na s\n")


def test_graphs_of_the_product_are_no_other_format(tmp_path: Path) -> None:
    """A cable between numbered ends with a rate and a delay of its own is no link of ns-3."""
    files = texts(tmp_path, TWO_RATES.replace("7 9 25Gbps 0.8us", "7 9 10Gbps 2us"))
    assert re.search(r"^7 9 rate=10Gb/s delay=[\d.]+ns$", files[".graph.txt"], re.MULTILINE)
    assert formats.format_of(files[".graph.txt"].encode()).name == "list of edges"


def test_remarks_and_heads_of_columns(tmp_path: Path) -> None:
    plain = ALL["anynet"]
    remarked = "// routers\r\n" + plain.replace("\n", "  # a remark\r\n")
    assert lines(texts(tmp_path, remarked)[".graph.txt"]) == lines(
        texts(tmp_path, plain)[".graph.txt"]
    )
    table = "a,b,rate,latency\r\ng0,g1,100 Gb/s,600 ns\r\ng1,g2,25 Gb/s,600 ns\r\n"
    assert lines(texts(tmp_path, table)[".graph.txt"]) == ["g0 g1", "g1 g2 rate=25Gb/s"]


def test_accelerators_of_simai_forward(tmp_path: Path) -> None:
    """Two servers with two GPUs each: an NVLink switch for both, and one in the network."""
    cables = [(0, 4), (1, 4), (2, 5), (3, 5), *((gpu, 6) for gpu in range(4))]
    links = "".join(
        f"{one} {other} {2400 if other < 6 else 400}Gbps 0.0005ms 0\n" for one, other in cables
    )
    files = texts(tmp_path, f"7 2 2 1 {len(cables)} H100\n4 5 6\n{links}")
    assert files[".graph.txt"].count(" forward=yes") == 4
    assert "4 GPUs have several cables: they pass on packets of others" in files[".toml"]
    several = f"7 3 {len(cables)}\n4 5 6\n{links}"
    (tmp_path / "net.any").write_text(several)
    network = formats.read(tmp_path / "net.any")[1]
    made = network_import.machine(network, "net.any", "net", BASE)
    assert "4 hosts with several cables: an adapter feeds them all" in made.texts[".toml"]


def test_a_distance_beyond_all_delays(tmp_path: Path) -> None:
    with pytest.raises(
        UsageError, match=r"net\.any: a link of 5000000 ns at 100 Gb/s is longer than 1023 flits"
    ):
        texts(tmp_path, "3 1 2\n2\n0 2 100Gbps 5ms 0\n1 2 100Gbps 1us 0\n")


def test_other_rates_than_the_first_level_are_never_lost(tmp_path: Path) -> None:
    """Every cable with another rate than the machine's is marked, in every format that has
    rates.
    """
    for name in ("ibnetdiscover", "ns3", "topo", "infragraph", "graphml", "edges"):
        (tmp_path / "net.any").write_text(ALL[name])
        network = formats.read(tmp_path / "net.any")[1]
        fastest = max(each.rate for each in network.cables if each.rate is not None)
        slower = sum(each.rate not in (None, fastest) for each in network.cables)
        written = texts(tmp_path, ALL[name])[".graph.txt"].count(" rate=")
        assert written == slower > 0, name


def test_a_slow_cable_is_the_hottest_of_its_group(tmp_path: Path, elanite: Elanite) -> None:
    """Four four-node leaves below two switches, all at 100 Gb/s except a cable that has trained to
    20 Gb/s.
    """
    cables = [f"leaf{leaf} top{top} rate=100Gb/s" for leaf in range(4) for top in range(2)]
    cables[3] = cables[3].replace("100", "20")
    cables += [f"n{node} leaf{node // 4} rate=100Gb/s" for node in range(16)]
    switches = [f"switch {name}" for name in ("leaf0", "leaf1", "leaf2", "leaf3", "top0", "top1")]
    (tmp_path / "net.any").write_text(
        "\n".join([*switches, *(f"node n{node}" for node in range(16)), *cables, ""])
    )
    ended = elanite("import", "net.any")
    assert ended.code == 0, ended
    (tmp_path / "uniform.toml").write_text(UNIFORM)
    ended = elanite("run", "uniform.toml", "--table", "links", "--format", "csv", "--out", "out")
    assert ended.code == 0, ended
    links = pl.read_csv(io.StringIO(ended.out)).filter(pl.col("level") == 1)
    links = links.with_columns(flit=pl.col("busy_ps") / pl.col("flits")).sort(
        "flit", descending=True
    )
    assert set(links["from"][:2]) == set(links["to"][:2]) == {"switch leaf1", "switch top1"}
    # A 64-byte flit; links are also busy for the acknowledgement slots, one per 65-flit packet.
    assert links["flit"][:2].to_list() == pytest.approx([25_600] * 2, rel=0.06)
    assert links["flit"][2:].to_list() == pytest.approx([5_120] * 14, rel=0.06)
    # The way down has no choice: packets wait there, and longer than anywhere else.
    waits = links.sort("waiting_ps", descending=True)
    assert (waits["from"][0], waits["to"][0]) == ("switch top1", "switch leaf1")


def test_flows_share_a_slow_cable(tmp_path: Path, elanite: Elanite) -> None:
    """Hosts at 25 Gb/s, switches joined at 100: two 700 kB flows to one host share its cable.

    The payload alone takes 448 us. 4 KB packets have 65 64-byte flits with their header, which is
    1.6% more; a flow ends its last packet's latency later: within 2% of payload and latency.
    """
    (tmp_path / "topology.txt").write_text(TWO_RATES)
    (tmp_path / "flow.txt").write_text(
        "3\n0 5 3 100 700000 0.0\n1 5 3 100 700000 0.0\n6 2 3 100 40000 0.00002\n"
    )
    ended = elanite("import", "topology.txt", "flow.txt", "--output", "two.toml")
    assert ended.code == 0, ended
    ended = elanite(
        "run", "two.traffic.toml", "--table", "flows", "--format", "csv", "--out", "out"
    )
    assert ended.code == 0, ended
    flows = pl.read_csv(io.StringIO(ended.out)).filter(pl.col("size") == 700_000)
    assert len(flows) == 2
    packets = math.ceil(700_000 / 4096)
    wire = packets * 65 * 64 * 8 / 25e3  # us
    latency = flows["ideal_ps"].max() / 1e6 - wire
    assert 0 < latency < 10
    assert flows["fct_ps"].max() / 1e6 == pytest.approx(2 * wire + latency, rel=0.003)
    assert flows["fct_ps"].min() / 1e6 == pytest.approx(2 * wire + latency, rel=0.02)
    payload = 2 * 700_000 * 8 / 25e3
    assert payload < flows["fct_ps"].max() / 1e6 == pytest.approx(payload + latency, rel=0.02)


@pytest.mark.parametrize("name", ["simgrid", "slurm"])
def test_an_imported_machine_runs(tmp_path: Path, elanite: Elanite, name: str) -> None:
    (tmp_path / "net.any").write_text(ALL[name])
    ended = elanite("import", "net.any")
    assert ended.code == 0, ended
    assert ended.out.splitlines() == ["net.toml", "net.graph.txt", "net.placement.txt"]
    assert "note: " in ended.err
    machine = el.Machine.load(tmp_path / "net.toml")
    placement = [
        line for line in (tmp_path / "net.placement.txt").read_text().splitlines() if line[0] != "#"
    ]
    assert len(placement) == machine["topology.nodes"]
    assert "infiniband-ndr: " in (tmp_path / "net.toml").read_text()
    again = elanite("import", "net.any")
    assert again.code == 2
    assert "net.toml exists; remove it, or give another name by --output" in again.err


def test_flows_have_the_numbers_of_the_network(tmp_path: Path, elanite: Elanite) -> None:
    """The topology's hosts are 1, 2, 3, 5 and 6: nodes 0 to 4."""
    (tmp_path / "topology.txt").write_text(
        re.sub(r"\d+Gbps|5000MBps|40Gb/s", "40Gbps", ALL["ns3"]).replace("2us", "0.5us")
    )
    (tmp_path / "flow.txt").write_text(ALL["flows"])
    ended = elanite("import", "topology.txt", "flow.txt", "--output", "two.toml")
    assert ended.code == 0, ended
    written = [
        line
        for line in (tmp_path / "two.flows.csv").read_text().splitlines()
        if not line.startswith("#")
    ]
    assert written == [
        "start,source,destination,size,class",
        "0 us,0,3,700000 B,1",
        "2500 ns,1,3,700000 B,1",
        "123 ps,4,1,40000 B,0",
    ]
    content = tomllib.loads((tmp_path / "two.traffic.toml").read_text())
    assert content["machine"] == "two.toml"
    assert content["series"][0]["flows"]["list"]["file"] == "two.flows.csv"
    (tmp_path / "flow.txt").write_text("1\n1 9 3 100 10 0\n")
    ended = elanite("import", "topology.txt", "flow.txt", "--output", "three.toml")
    assert ended.code == 2
    assert "flow.txt:2: there is no node 9 in the network, which has 5" in ended.err


def test_flows_alone(tmp_path: Path, elanite: Elanite) -> None:
    (tmp_path / "incast.cm").write_text(ALL["matrix"])
    ended = elanite("import", "incast.cm")
    assert ended.out.splitlines() == ["incast.flows.csv"], ended
    assert "1 us,5,0,300000 B\n2 ps,15,3,4096 B\n" in (tmp_path / "incast.flows.csv").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("slurm", "simgrid"), "are both networks: import one at a time"),
        (("slurm", "--terminals", "2"), "--terminals: the network has nodes of its own"),
        (("matrix", "--terminals", "2"), "--terminals: the network has nodes of its own"),
        (("slurm", "--output", "x.txt"), "--output x.txt: a machine file ends in .toml"),
        (("nothing",), "nothing: No such file or directory"),
        (("slurm", "--from", "es41"), "there is no machine `es41`"),
    ],
)
def test_wrong_imports(
    tmp_path: Path, elanite: Elanite, arguments: tuple[str, ...], message: str
) -> None:
    for name, text in ALL.items():
        (tmp_path / name).write_text(text)
    before = sorted(tmp_path.iterdir())
    ended = elanite("import", *arguments)
    assert ended.code == 2
    assert message in ended.err
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("name", "said"), [("topo", "htsim topology"), ("slurm", "Slurm topology.conf")]
)
def test_a_graph_file_of_another_format_is_named(tmp_path: Path, name: str, said: str) -> None:
    """Their words may be taken for edges."""
    (tmp_path / "net.any").write_text(ALL[name])
    machine = '[topology]\nfile = { value = "net.any", source = "x" }\n'
    with pytest.raises(
        UsageError,
        match=rf"net\.any: this is a file of another tool, {said}[^\n]*\n  .*elanite import",
    ):
        graphs.completed(machine, tmp_path / "own.toml")
