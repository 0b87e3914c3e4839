"""Files that state a cable several times, contradict themselves, or leave their traffic open."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from elanite.errors import UsageError
from elanite.inputs import network_traffic
from formats_files import ALL
from test_formats import delays, joined, rates, read
from test_simgrid import FAST, SLOW, platform

if TYPE_CHECKING:
    from pathlib import Path


def edge(one: str, other: str, **about: str) -> dict[str, Any]:
    """An InfraGraph edge between components, each written as instance and component."""
    ends = [
        dict(zip(("instance", "component"), each.split(), strict=True)) for each in (one, other)
    ]
    return {"ep1": ends[0], "ep2": ends[1], "scheme": "one2one", "link": "wire", **about}


def infrastructure(*edges: dict[str, Any], latency: int = 300) -> dict[str, Any]:
    """Three hosts with an adapter, and a switch with four ports."""
    physical = {"bandwidth": {"gigabits_per_second": 100}, "latency": {"ns": latency}}
    slow = {"bandwidth": {"gigabits_per_second": 25}}
    parts = {"host": ("nic", "nic", 1), "box": ("port", "port", 4)}
    return {
        "devices": [
            {"name": name, "components": [{"name": part, "choice": kind, "count": count}]}
            for name, (part, kind, count) in parts.items()
        ],
        "instances": [
            {"name": "h", "device": "host", "count": 3},
            {"name": "s", "device": "box", "count": 1},
        ],
        "links": [{"name": "wire", "physical": physical}, {"name": "slow", "physical": slow}],
        "edges": list(edges),
    }


MESH = edge("h nic", "h nic", scheme="many2many")
STAR = edge("h nic", "s port[0:3]")


@pytest.mark.parametrize("written", [yaml.dump, json.dumps])
def test_one_edge_of_infragraph_between_two_components(tmp_path: Path, written: Any) -> None:
    """The service keeps a simple graph: each pair once, whatever the direction, by the last
    link.
    """
    mesh = read(tmp_path, written(infrastructure(MESH, edge("h[0] nic", "s port[0]"))))
    assert (len(mesh.nodes), len(mesh.cables)) == (3, 4)
    back = edge("s port[2:3]", "h[2] nic", link="slow")
    star = read(tmp_path, written(infrastructure(STAR, STAR, back)))
    assert rates(star) == {"100": 2, "25": 1}
    assert any("1 edge between components that are joined already" in each for each in star.notes)
    few = read(tmp_path, written(infrastructure(edge("h nic", "s port[0:2]"))))
    assert len(few.cables) == 2
    assert any("one2one joins 3 and 2 components" in each for each in few.notes)


def test_a_link_of_infragraph_without_delay(tmp_path: Path) -> None:
    assert delays(read(tmp_path, json.dumps(infrastructure(STAR, latency=0)))) == {0: 3}
    with pytest.raises(UsageError, match="link `wire` is beyond all links"):
        read(tmp_path, json.dumps(infrastructure(STAR, latency=10**13)))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('strict graph { a -- b [rate="1Gb/s"]; b -- a [rate="2Gb/s"]; b -- c }', {"2": 1, "": 1}),
        ('strict digraph { a -> b [rate="1Gb/s"]; a -> b; b -> a }', {"1": 1}),
        ('graph { a -- b [rate="1Gb/s"]; b -- a [rate="2Gb/s"] }', {"1": 1, "2": 1}),
    ],
)
def test_a_strict_graph_has_an_edge_once(tmp_path: Path, text: str, found: dict[str, int]) -> None:
    assert rates(read(tmp_path, text)) == found


def test_directed_edges_of_graphml(tmp_path: Path) -> None:
    both = "".join(
        f'<edge source="{one}" target="{other}" directed="true"/>' for one, other in ("ab", "ba")
    )
    text = f'<graphml><graph edgedefault="undirected"><node id="a"/><node id="b"/>{both}</graph>'
    assert len(read(tmp_path, f"{text}</graphml>").cables) == 1


def test_routes_of_simgrid_that_contradict_each_other(tmp_path: Path) -> None:
    links, ways = {"x": FAST, "y": SLOW}, {("a", "b"): "x", ("b", "a"): "y"}
    message = r":\d+: line \d+ has another route from `b` to `a`: remove one"
    with pytest.raises(UsageError, match=message):
        platform(tmp_path, "a b", links, ways)
    assert len(platform(tmp_path, "a b", links, ways, mark=' symmetrical="no"').cables) == 1
    again = platform(tmp_path, "a b", {"x": FAST}, {("a", "b"): "x", ("b", "a"): "x"})
    assert rates(again) == {"10": 1}


def test_parts_of_simgrid_that_change_with_time(tmp_path: Path) -> None:
    timed = {"x": f'{FAST} bandwidth_file="x.profile"'}
    found = platform(tmp_path, "a b", timed, {("a", "b"): "x"})
    assert any("profiles of 1 link left out" in each for each in found.notes)
    with pytest.raises(UsageError, match=":1: a zone with the routing Vivaldi has coordinates"):
        read(tmp_path, '<platform><zone id="z" routing="Vivaldi"/></platform>')
    with pytest.raises(UsageError, match=":1: `actor` is a part of a deployment"):
        read(tmp_path, '<platform><actor host="a" function="f"/></platform>')


def test_a_rate_at_either_end_of_a_cable(tmp_path: Path) -> None:
    """The file has each cable twice: the end without a rate has that of the other one."""
    text = ALL["ibnetdiscover"]
    plain = read(tmp_path, text)
    line = next(each for each in text.splitlines() if each.startswith("[") and "4xHDR" in each)
    assert rates(read(tmp_path, text.replace(line, line.replace("4xHDR", "")))) == rates(plain)
    unlike = read(tmp_path, text.replace(line, line.replace("4xHDR", "4xSDR")))
    assert any("1 cable with another rate at each end" in each for each in unlike.notes)


def test_a_list_of_neighbours_is_no_list_of_edges(tmp_path: Path) -> None:
    message = ":1: `3` may be a weight or a neighbour: write a weight on every line"
    with pytest.raises(UsageError, match=message):
        read(tmp_path, "1 2 3\n2 4\n3 4\n")
    assert len(read(tmp_path, "1 2 3\n2 4 1\n3 4 1\n").cables) == 3


def test_a_switch_of_slurm_that_is_listed_twice(tmp_path: Path) -> None:
    text = "SwitchName=leaf Nodes=a,b,a\nSwitchName=top Switches=leaf,leaf\n"
    wanted = [{"a", "leaf"}, {"b", "leaf"}, {"leaf", "top"}]
    assert [set(each) for each in joined(read(tmp_path, text)).edges()] == wanted


def test_flows_without_an_end_or_bytes(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=":3: a size of 0 is a connection until the simulation"):
        read(tmp_path, "Nodes 2\nConnections 1\n0->1 start 0 size 0\n")
    empty = read(tmp_path, "1\n0 1 3 100 0 2.0\n")
    with pytest.raises(UsageError, match=r"flow\.txt: no flow is left: 1 have no bytes"):
        network_traffic.flows([("flow.txt", empty)], None)
