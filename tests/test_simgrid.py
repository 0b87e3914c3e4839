"""Platforms of SimGrid whose cables follow from routes of several links."""

from __future__ import annotations

from typing import TYPE_CHECKING

import networkx as nx
import pytest

from elanite.errors import UsageError
from test_formats import delays, joined, rates, read

if TYPE_CHECKING:
    from pathlib import Path

    from elanite.formats.network import Network

Ways = dict[tuple[str, str], str]


def platform(
    folder: Path, hosts: str, links: dict[str, str], ways: Ways, more: str = "", mark: str = ""
) -> Network:
    """A platform with routes from one host to another, given as the links' names."""
    listed = "".join(f'<host id="{name}" speed="1Gf"/>\n' for name in hosts.split())
    wires = "".join(f'<link id="{name}" {about}/>\n' for name, about in links.items())
    routes = "".join(
        f'<route src="{one}" dst="{other}"{mark}>'
        + "".join(f'<link_ctn id="{link}"/>' for link in used.split())
        + "</route>\n"
        for (one, other), used in ways.items()
    )
    return read(
        folder,
        f'<platform version="4.1"><zone id="z" routing="Full">\n{listed}{wires}{more}{routes}'
        "</zone></platform>",
    )


FAST, SLOW = 'bandwidth="10Gbps" latency="1us"', 'bandwidth="1Gbps" latency="5us"'


def test_a_dumbbell(tmp_path: Path) -> None:
    """Two hosts on each side of one slow link, which all routes across share."""
    links = {"a1": FAST, "a2": FAST, "mid": SLOW, "b1": FAST, "b2": FAST}
    ways = {(f"A{one}", f"B{other}"): f"a{one} mid b{other}" for one in (1, 2) for other in (1, 2)}
    found = platform(tmp_path, "A1 A2 B1 B2", links, ways | {("A1", "A2"): "a1 a2"})
    assert (len(found.nodes), len(found.switches), len(found.cables)) == (4, 2, 5)
    assert (rates(found), delays(found)) == ({"10": 4, "1": 1}, {1000: 4, 5000: 1})
    graph = nx.Graph(joined(found))
    for (one, other), used in ways.items():
        assert nx.shortest_path_length(graph, one, other) == len(used.split())
    assert nx.shortest_path_length(graph, "A1", "A2") == 2


def test_a_chain_has_a_switch_between_two_links(tmp_path: Path) -> None:
    found = platform(tmp_path, "a b", dict.fromkeys("xyz", FAST), {("a", "b"): "x y z"})
    assert nx.is_isomorphic(nx.Graph(joined(found)), nx.path_graph(4))
    assert list(found.nodes) == ["a", "b"]


def test_links_in_each_direction_are_one_cable(tmp_path: Path) -> None:
    """Each host has a link up and one down; routes are given for both directions."""
    hosts = ("a", "b", "c")
    links = {f"{host}{way}": FAST for host in hosts for way in ("U", "D")}
    ways = {(one, to): f"{one}U {to}D" for one in hosts for to in hosts if one != to}
    found = platform(tmp_path, "a b c", links, ways, mark=' symmetrical="NO"')
    assert nx.is_isomorphic(nx.Graph(joined(found)), nx.star_graph(3))
    assert len(found.cables) == 3
    links["aD"] = SLOW
    found = platform(tmp_path, "a b c", links, ways, mark=' symmetrical="NO"')
    assert any("1 cable with another rate or delay in each" in note for note in found.notes)


def test_a_link_of_three_hosts_is_no_cable_of_each_pair(tmp_path: Path) -> None:
    """A medium: a switch with a cable to each host, and half of the delay in each cable."""
    ways = {("a", "b"): "l", ("a", "c"): "l", ("b", "c"): "l"}
    found = platform(tmp_path, "a b c", {"l": SLOW}, ways)
    assert nx.is_isomorphic(nx.Graph(joined(found)), nx.star_graph(3))
    assert (rates(found), delays(found)) == ({"1": 3}, {2500: 3})
    assert "1 link between more than two places (l): a medium" in found.notes[0]
    wide = SLOW + ' sharing_policy="FATPIPE"'
    assert platform(tmp_path, "a b c", {"l": wide}, ways).notes == []


def test_a_medium_between_the_links_of_hosts(tmp_path: Path) -> None:
    links = {"a": FAST, "b": FAST, "c": FAST, "bus": SLOW}
    ways = {("A", "B"): "a bus b", ("A", "C"): "a bus c", ("B", "C"): "b bus c"}
    found = platform(tmp_path, "A B C", links, ways)
    assert nx.is_isomorphic(nx.Graph(joined(found)), nx.star_graph(3))
    assert (rates(found), delays(found)) == ({"10": 3}, {3500: 3})


def test_hosts_at_one_end_of_a_link_share_it(tmp_path: Path) -> None:
    """Two hosts reach a third one by the same link: one cable of its rate, behind a switch."""
    found = platform(tmp_path, "a b c", {"l": SLOW}, {("a", "c"): "l", ("b", "c"): "l"})
    graph = joined(found)
    (switch,) = found.switches
    assert set(graph[switch]) == {"a", "b", "c"}
    assert (len(found.cables), delays(found)) == (3, {0: 2, 5000: 1})


def test_limiters_of_flat_clusters_are_left_out_with_a_note(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        '<platform version="4.1"><cluster id="c" prefix="n" suffix="" radical="0-1" speed="1Gf"'
        ' bw="1GBps" lat="1us" limiter_link="2GBps"/></platform>',
    )
    assert found.notes == ["limiter_link of cluster c is left out"]


def test_routers_of_clusters_by_their_own_names(tmp_path: Path) -> None:
    """Routes through a zone name the router that SimGrid gives a cluster."""
    zone = (
        '<zone id="site" routing="Full"><cluster id="c" prefix="n-" suffix=".x" radical="1-2"'
        ' speed="1f" bw="1Gbps" lat="1us"/></zone>'
    )
    route = (
        '<zoneRoute src="site" dst="z" gw_src="n-c_router.x" gw_dst="h"><link_ctn id="l"/>'
        "</zoneRoute>"
    )
    found = platform(tmp_path, "h", {"l": FAST}, {}, zone + route)
    assert nx.is_isomorphic(nx.Graph(joined(found)), nx.star_graph(3))


def test_hosts_and_cabinets_of_a_cluster_zone(tmp_path: Path) -> None:
    zone = """<zone id="c" routing="Cluster"><router id="r"/>
      <cabinet id="cab" prefix="n" suffix="" radical="1-3" speed="1f" bw="1Gbps" lat="1us"/>
      <host id="own" speed="1f"/><link id="lu" bandwidth="10Gbps" latency="2us"/>
      <link id="ld" bandwidth="10Gbps" latency="2us"/><host_link id="own" up="lu" down="ld"/>
      <host id="two" speed="1f"/><link id="d" bandwidth="10Gbps" latency="2us"
        sharing_policy="SPLITDUPLEX"/><host_link id="two" up="d_UP" down="d_DOWN"/>
      <backbone id="b" bandwidth="5Gbps" latency="8us"/></zone>"""
    found = platform(tmp_path, "", {}, {}, zone)
    assert (set(joined(found)["r"]), rates(found)) == (
        {"n1", "n2", "n3", "own", "two"},
        {"1": 3, "10": 2},
    )
    assert delays(found) == {5000: 3, 6000: 2}


@pytest.mark.parametrize(
    ("ways", "said"),
    [
        ({("a", "b"): "x", ("b", "a"): "x y"}, r":6: the routes give link `y` no two ends"),
        ({("a", "b"): "x nowhere"}, r"there is no link `nowhere`"),
        ({("a", "b"): ""}, r"the route from `a` has no link"),
        ({("a", "b"): "x", ("b", "c"): "y", ("c", "d"): "z"}, r"there is no node and no switch `d"),
    ],
)
def test_routes_that_no_cabling_has(tmp_path: Path, ways: Ways, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        platform(tmp_path, "a b c", dict.fromkeys("xyz", FAST), ways, mark=' symmetrical="no"')
