"""Defaults and labels in drawings, and tables of cables with their ports."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from test_formats import rates, read

if TYPE_CHECKING:
    from pathlib import Path


def test_defaults_of_graphml_hold_without_an_own_value(tmp_path: Path) -> None:
    """A default rate and a default kind, and values of their own beside them."""
    text = """<?xml version="1.0"?><graphml><key id="k" for="node" attr.name="type">
      <default>switch</default></key>
      <key id="c" for="edge" attr.name="capacity_gbps"><default>100</default></key>
      <graph edgedefault="undirected"><node id="h1"><data key="k">host</data></node>
      <node id="h2"><data key="k">host</data></node><node id="s"/>
      <edge source="h1" target="s"/><edge source="h2" target="s"><data key="c">25</data></edge>
      </graph></graphml>"""
    found = read(tmp_path, text)
    assert (list(found.nodes), list(found.switches)) == (["h1", "h2"], ["s"])
    assert (rates(found), found.notes) == ({"100": 1, "25": 1}, [])


def test_defaults_of_dot_hold_behind_their_statement(tmp_path: Path) -> None:
    """Of the graph that they stand in, and of those within it."""
    found = read(
        tmp_path,
        """graph { first [kind=host]; first -- s0;
          node [kind=host]; h1; h2; node [kind=switch]; edge [rate="100Gb/s"];
          s1 -- h1; s1 -- h2; s1 -- s0;
          subgraph x { edge [rate="25Gb/s"]; node [kind=host]; s1 -- h3 }
          s1 -- s2; s2 -- h1 [rate="50Gb/s"] }""",
    )
    assert list(found.nodes) == ["first", "h1", "h2", "h3"]
    assert set(found.switches) == {"s0", "s1", "s2"}
    assert rates(found) == {"": 1, "100": 4, "25": 1, "50": 1}


def test_a_quote_in_a_name_of_dot_is_no_escape(tmp_path: Path) -> None:
    found = read(tmp_path, r'graph { "a\"1"; "a\"1":port -- "b\c"; "b\c" -- d }')
    assert set(found.switches) == {'a"1', r"b\c", "d"}


def test_labels_of_edges_are_rates_where_they_are_one(tmp_path: Path) -> None:
    found = read(tmp_path, 'graph { a -- b [label="100G"]; b -- c [label="25 Gb/s"]; }')
    assert rates(found) == {"100": 1, "25": 1}
    found = read(tmp_path, 'graph { a -- b [label="uplink"]; b -- c [label="7", rate="25 Gb/s"]; }')
    assert rates(found) == {"": 1, "25": 1}


@pytest.mark.parametrize(
    "heading",
    [
        "source_device,source_port,destination_device,destination_port,speed",
        "local_host,local_interface,remote_host,remote_interface,speed",
        "Switch A,Port A,Switch B,Port B,Speed",
        "from node,from port,to node,to port,speed",
    ],
)
def test_cables_between_ports(tmp_path: Path, heading: str) -> None:
    """A cable that both devices list is one; two cables between other ports are two."""
    rows = ("leaf,1,spine,1,100G", "spine,1,leaf,1,100G", "leaf,2,spine,2,100G", "leaf,9,h,1,25G")
    for between in ",;\t":
        text = "".join(f"{row}\n" for row in (heading, *rows)).replace(",", between)
        found = read(tmp_path, text)
        assert set(found.switches) == {"leaf", "spine", "h"}
        assert rates(found) == {"100": 2, "25": 1}
        assert found.notes == ["1 cable listed at both ends, by the same ports: one each"]


def test_an_edge_of_letters_is_no_heading(tmp_path: Path) -> None:
    assert rates(read(tmp_path, "a b 100G\nb z 25G\n")) == {"100": 1, "25": 1}
