"""Hosts with several cables that pass on no packets of others: ports at one switch or at two."""

from __future__ import annotations

import json
from itertools import pairwise, product
from typing import TYPE_CHECKING

import networkx as nx
import pytest

from elanite import formats
from elanite.errors import UsageError
from elanite.inputs import network_import, sources
from elanite.inputs.machine import Machine
from test_importing import lines, link, texts

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Elanite

BASE = sources.read("machine", "infiniband-ndr")


def topology(hosts: int, switches: int, cables: list[tuple[int, int]], delay: str = "1us") -> str:
    """A topology.txt; the switches have the numbers behind the hosts."""
    listed = " ".join(str(hosts + number) for number in range(switches))
    links = "".join(f"{one} {other} 25Gbps {delay} 0\n" for one, other in cables)
    return f"{hosts + switches} {switches} {len(cables)}\n{listed}\n{links}"


TREE = [*product(range(4), (4, 5)), *product((4, 5), (6, 7))]
"""Four hosts, each at both leaves, and two spines."""
PEERS = [*product(range(4), (6, 7)), (4, 6), (5, 7), (6, 7)]
"""The same with two hosts of one cable, and a cable between the leaves: no tree."""


def used(elanite: Elanite, name: str) -> dict[tuple[str, str], int]:
    """The packets of each link that carries any."""
    ended = elanite("run", f"{name}.traffic.toml", "--table", "links", "--format", "json")
    assert ended.code == 0, ended
    rows = json.loads(ended.out)
    rows = rows if isinstance(rows, list) else rows["rows"]
    return {(row["from"], row["to"]): row["packets"] for row in rows if row["packets"]}


def imported(
    folder: Path, elanite: Elanite, text: str, flows: list[tuple[int, int, int]]
) -> list[dict[str, float]]:
    """The flows' results on an imported network."""
    listed = "".join(f"{one} {other} 3 100 {size} 2.0\n" for one, other, size in flows)
    (folder / "topology.txt").write_text(text)
    (folder / "flow.txt").write_text(f"{len(flows)}\n{listed}")
    ended = elanite("import", "topology.txt", "flow.txt", "--output", "two.toml")
    assert ended.code == 0, ended
    ended = elanite("run", "two.traffic.toml", "--table", "flows", "--format", "json")
    assert ended.code == 0, ended
    rows = json.loads(ended.out)
    return rows if isinstance(rows, list) else rows["rows"]


def test_a_tree_keeps_its_roots(tmp_path: Path) -> None:
    files = texts(tmp_path, topology(4, 4, TREE))
    assert ".routes.txt" not in files
    assert 'roots = { value = ["6", "7"]' in files[".toml"]
    assert files[".graph.txt"].count(" forward=yes") == 4
    assert lines(files[".graph.txt"]) == [f"{one} {other}" for one, other in TREE]
    assert link(files[".toml"])["rate"] == ["50 Gb/s", "25 Gb/s"]
    assert "4 hosts with several cables: an adapter feeds them all" in files[".toml"]


def test_two_cables_carry_twice_the_rate(tmp_path: Path, elanite: Elanite) -> None:
    """One message over both cables: half of the time of a host with one."""
    (two,) = imported(tmp_path, elanite, topology(4, 4, TREE), [(0, 1, 1_000_000)])
    assert two["fct_ps"] == pytest.approx(1_000_000 * 8 / 50e9 * 1e12, rel=0.06)
    packets = used(elanite, "two")
    assert packets["switch 0", "switch 4"] == pytest.approx(packets["switch 0", "switch 5"], abs=2)


def test_packets_of_others_pass_through_no_such_host(tmp_path: Path, elanite: Elanite) -> None:
    """Between the leaves, ways through a host have the length of those over a spine."""
    cables = [*product(range(4), (6, 7)), (4, 6), (5, 7), (6, 8), (7, 8)]
    for each in (cables, PEERS):
        for file in tmp_path.glob("two.*"):
            file.unlink()
        switches = max(max(pair) for pair in each) - 5
        (row,) = imported(tmp_path, elanite, topology(6, switches, each), [(4, 5, 200_000)])
        assert row["slowdown"] == pytest.approx(1, rel=0.01)
        ends = {end for pair in used(elanite, "two") for end in pair}
        assert not ends & {f"switch {host}" for host in range(4)}
        assert {"switch 6", "switch 7"} < ends


def test_tables_where_the_network_is_no_tree(tmp_path: Path) -> None:
    """Each entry leads to a nearer switch, and through no host; all leaves reach each other."""
    text = topology(6, 2, PEERS)
    files = texts(tmp_path, text)
    entries = [line.split() for line in files[".routes.txt"].splitlines() if line[0] != "#"]
    graph = nx.Graph([(str(one), str(other)) for one, other in PEERS])
    for at, to, *onward in entries:
        for each in onward:
            assert graph.has_edge(at, each)
            assert each in ("6", "7", to)
    assert {(at, to) for at, to, *_ in entries} == {
        (one, other)
        for one in ("0", "1", "2", "3", "6", "7")
        for other in ("0", "1", "2", "3", "6", "7")
        if one != other
    }
    assert "hop_classes = { value = 2" in files[".toml"]


def test_ports_at_one_switch(tmp_path: Path) -> None:
    cables = [pair for host in range(3) for pair in ((host, 3), (host, 3))]
    files = texts(tmp_path, topology(3, 1, cables))
    assert 'roots = { value = ["3"]' in files[".toml"]
    assert len(lines(files[".graph.txt"])) == 6


def test_other_formats_have_such_hosts(tmp_path: Path) -> None:
    names = [f"{'h' if end < 4 else 's'}{end}" for end in range(8)]
    drawn = nx.MultiGraph((names[one], names[other]) for one, other in TREE)
    nx.set_node_attributes(
        drawn, {name: "host" if name[0] == "h" else "switch" for name in names}, "kind"
    )
    nx.write_graphml(drawn, tmp_path / "net.graphml")
    vertices = "".join(f"{'node' if name[0] == 'h' else 'switch'} {name}\n" for name in names)
    edges = "".join(f"{names[one]} {names[other]}\n" for one, other in TREE)
    (tmp_path / "net.txt").write_text(vertices + edges)
    for file in ("net.graphml", "net.txt"):
        network = formats.read(tmp_path / file)[1]
        made = network_import.machine(network, file, "net", BASE)
        assert made.nodes == 4
        assert made.texts[".graph.txt"].count(" forward=yes") == 4


def test_a_way_without_delays_is_as_long_as_with_one_cable(tmp_path: Path) -> None:
    """The link to a host's own switch takes a cycle, and its cables what first links take."""
    vertices = "".join(f"node h{host}\n" for host in range(3)) + "switch a\nswitch b\nswitch t\n"
    cables = "h0 a\nh0 b\nh1 a\nh1 b\nh2 a\na t\nb t\n"
    (tmp_path / "net.txt").write_text(vertices + cables)
    made = network_import.machine(formats.read(tmp_path / "net.txt")[1], "net.txt", "net", BASE)
    alone = Machine.of(BASE, BASE.overrides)
    plain = dict(
        pair.split(" delay=") for pair in lines(made.texts[".graph.txt"]) if "delay" in pair
    )
    assert set(plain) == {"h0 a", "h0 b", "h1 a", "h1 b", "h2 a rate=400Gb/s"}
    (delay,) = set(plain.values())
    first = alone["link.hop_delay"]
    stated = first[0] if isinstance(first, list) else first
    assert float(delay.removesuffix("ns")) == pytest.approx(
        float(str(stated).split()[0]) * (1000 if str(stated).endswith("us") else 1), rel=0.05
    )


def test_no_way_beside_hosts(tmp_path: Path) -> None:
    cables = [(0, 3), (0, 4), (1, 3), (2, 4), *pairwise((3, 5, 6, 3))]
    with pytest.raises(
        UsageError, match=r"net\.any: no way leads from `.*` to `.*` but through hosts with several"
    ):
        texts(tmp_path, topology(3, 4, cables))
