"""Machines that are asked for by nodes, links and oversubscription: `elanite new machine --link`.

The oracle is the simulator: heavy uniform traffic from all nodes to all crosses every cable, and
the cables that carried packets are counted and cut.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from math import prod
from pathlib import Path

import networkx as nx
import pytest

import elanite as el
from conftest import Ended
from elanite import _core
from elanite.errors import UsageError
from elanite.explain.templates import machine_file
from elanite.inputs import shapes, sources
from elanite.inputs.designs import MachineRequest
from elanite.inputs.links import LINKS, find
from elanite.inputs.shapes import SHAPES, Ratio

Run = Callable[..., Ended]
Cables = Counter[tuple[str, str]]


def written(wanted: MachineRequest, name: str = "made") -> str:
    base = sources.read("machine", wanted.link.base)
    return machine_file(name, base, None, wanted.design(base))


def values(text: str) -> dict[str, object]:
    return {
        one["key"]: one["value"]
        for one in json.loads(_core.load_machine(text, "file", []))["parameters"]
    }


def crossed(text: str, nodes: int, folder: Path) -> Cables:
    """The cables that carried packets, in the direction away from the nodes or, between equals, in
    both.
    """
    (folder / "made.toml").write_text(text)
    experiment = el.jobs(
        "uniform", nodes=nodes, message="4 KB", load="40 GB/s", processes=16, memory="elan"
    ).measured("60 us", warm_up="20 us")
    result = experiment.on(folder / "made.toml").run(out=folder / "out")
    return Counter(
        (row["from"], row["to"])
        for row in result.table("links").iter_rows(named=True)
        if row["packets"]
    )


def switches(cables: Cables) -> Cables:
    return Counter(
        {
            ends: many
            for ends, many in cables.items()
            if all(end.startswith("switch") for end in ends)
        }
    )


def ratio(cables: Cables) -> set[float]:
    """Links to nodes over links up, for every leaf that has all its nodes."""
    nodes, up = Counter[str](), Counter[str]()
    for (source, target), many in cables.items():
        if source.startswith("node"):
            nodes[target] += many
    for (source, target), many in cables.items():
        if source in nodes and target.startswith("switch"):
            up[source] += many
    return {nodes[leaf] / up[leaf] for leaf in nodes if nodes[leaf] == max(nodes.values())}


def bisection(cables: Cables, nodes: int) -> float:
    """The maximum flow from the first half of the nodes to the second, in links."""
    graph = nx.DiGraph()
    for (source, target), many in cables.items():
        graph.add_edge(source, target, capacity=many)
    for node in range(nodes):
        ends = ("first", f"node {node}") if node < nodes // 2 else (f"node {node}", "second")
        graph.add_edge(*ends, capacity=nodes)
    return float(nx.maximum_flow_value(graph, "first", "second"))


@pytest.mark.parametrize(("text", "ports", "up"), [("1:1", 12, 6), ("2:1", 12, 4), ("3:2", 10, 4)])
def test_cables_have_the_oversubscription_and_the_bisection(
    text: str, ports: int, up: int, tmp_path: Path
) -> None:
    down = int(text[0]) * up // int(text[-1])
    nodes = 4 * down  # half of the nodes are at whole leaves
    wanted = MachineRequest(nodes, find("NDR"), "fat-tree", Ratio.of(text), ports)
    cables = crossed(written(wanted), nodes, tmp_path)
    assert ratio(cables) == {down / up}
    shape = wanted.shape()
    # Each cable carries both directions, and both were seen.
    assert sum(switches(cables).values()) == 2 * shape.cables
    assert len({end for ends in switches(cables) for end in ends}) == shape.switches
    assert bisection(cables, nodes) == nodes / 2 * up / down


def test_the_oracle_finds_a_tree_with_fewer_links(tmp_path: Path) -> None:
    """A planted mistake: leaves with 3 links up instead of 4."""
    text = written(MachineRequest(32, find("NDR"), "fat-tree", Ratio.of("2:1"), 12))
    wrong = text.replace("up = { value = [4]", "up = { value = [3]").replace(
        "parallel = { value = [2]", "parallel = { value = [3]"
    )
    assert wrong != text
    cables = crossed(wrong, 32, tmp_path)
    assert ratio(cables) == {8 / 3}
    assert bisection(cables, 32) == 6


@pytest.mark.parametrize("kind", [kind for kind in SHAPES if kind != "fat-tree"])
def test_cables_of_other_networks_are_those_that_the_notes_count(kind: str, tmp_path: Path) -> None:
    wanted = MachineRequest(18, find("NDR"), kind)
    shape = wanted.shape()
    full = MachineRequest(shape.positions, find("NDR"), kind)
    cables = switches(crossed(written(full), shape.positions, tmp_path))
    assert sum(cables.values()) == 2 * shape.cables
    assert len({end for ends in cables for end in ends}) == shape.switches
    assert shape.positions >= 18


@pytest.mark.parametrize("kind", SHAPES)
def test_every_number_of_nodes_has_a_network(kind: str) -> None:
    """The simulator takes each of them, and the positions hold the nodes."""
    for nodes in (2, 3, 17, 64, 65, 199, 200):
        wanted = MachineRequest(nodes, find("HDR"), kind)
        about = values(written(wanted))
        assert about["topology.nodes"] == nodes
        assert wanted.shape().positions >= nodes


def test_trees_are_the_smallest() -> None:
    """No two-level tree with equal leaves and spines has fewer switches: all such trees are
    tried.
    """
    for nodes in (13, 24, 50, 71, 72):
        ports = 12
        shape = shapes.fat_tree(nodes, ports, Ratio(2, 1))
        found = []
        for up in range(1, 5):
            leaves = -(-nodes // (2 * up))
            for spines in range(1, up + 1):
                fits = up % spines == 0 and leaves * up // spines <= ports
                found += [leaves + spines] if fits else []
        assert shape.switches == min(found), nodes


@pytest.mark.parametrize("link", LINKS)
def test_every_link_has_its_rate_and_a_source(link: str) -> None:
    text = written(MachineRequest(100, find(link), "fat-tree", Ratio.of("2:1")))
    about = values(text)
    # Named by the rate, or by an InfiniBand generation, each with twice the previous one's rate.
    digits = re.search(r"\d+", link)
    expected = int(digits[0]) if digits else {"EDR": 100, "HDR": 200, "NDR": 400, "XDR": 800}[link]
    assert _core.quantity(str(about["link.rate"])) == (expected * 125.0, "MB/s")
    assert f'rate = {{ value = "{expected} Gb/s", source = "' in text
    assert "fitted_to = " not in text


def test_a_network_of_three_levels() -> None:
    shape = shapes.fat_tree(100, 8)
    about = values(written(MachineRequest(100, find("NDR"), ports=8)))
    down, up, parallel = (about[f"topology.{key}"] for key in ("down", "up", "parallel"))
    assert isinstance(down, list)
    assert isinstance(up, list)
    assert isinstance(parallel, list)
    assert prod(down) == shape.positions >= 100
    assert down[0] + up[0] <= 8
    assert down[1] * parallel[0] + up[1] <= 8
    assert down[1] * parallel[0] == up[1]
    assert down[2] * parallel[1] <= 8


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--link", "NRD", "--nodes", "8"], "did you mean"),
        (["--link", "NDR"], "--nodes 200"),
        (["--nodes", "8", "--oversubscription", "2:1"], "--link NDR"),
        (["--link", "NDR", "--nodes", "8", "--oversubscription", "1:2"], "2:1"),
        (["--link", "NDR", "--nodes", "8", "--oversubscription", "1.5:1"], "3:2"),
        (["--link", "NDR", "--nodes", "200000"], "--ports"),
        (
            ["--link", "NDR", "--nodes", "80", "--topology", "torus", "--oversubscription", "2:1"],
            "fat-tree",
        ),
        (["--link", "NDR", "--nodes", "80", "--ports", "4", "--topology", "torus"], "--ports 7"),
        (["--link", "NDR", "--nodes", "8", "--from", "es40-qsnet"], "infiniband-ndr"),
        ([], "elanite new machine NAME"),
    ],
)
def test_mistakes_have_remedies(
    words: list[str], message: str, elanite: Run, tmp_path: Path
) -> None:
    ended = elanite("new", "machine", *words)
    assert ended.code == 2
    assert message in ended.err
    assert not list(tmp_path.glob("*.toml"))


def test_the_command_writes_what_it_says(elanite: Run, tmp_path: Path) -> None:
    ended = elanite(
        "new", "machine", "--nodes", "199", "--oversubscription", "2:1", "--link", "ndr"
    )
    assert ended.code == 0, ended
    assert ended.out == "ndr-199.toml\n"
    assert "199 nodes do not fill it" in ended.err
    text = (tmp_path / "ndr-199.toml").read_text(encoding="utf-8")
    notes = [
        line.removeprefix("note: ") for line in ended.err.splitlines() if line.startswith("note: ")
    ]
    assert len(notes) > 5
    assert all(f"# - {note}\n" in text for note in notes)
    assert elanite("check", "ndr-199.toml").code == 0
    refused = elanite("new", "experiment", "x", "--link", "NDR")
    assert refused.code == 2
    assert "belongs to a machine" in refused.err


def test_a_ratio_without_room_names_the_ports() -> None:
    with pytest.raises(UsageError, match="no room for 7 links down and 2 up"):
        shapes.fat_tree(20, 8, Ratio(7, 2))


def test_ratios_are_shortened() -> None:
    assert str(Ratio.of("40:30")) == "4:3"
