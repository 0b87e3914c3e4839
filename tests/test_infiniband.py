"""Output of ibnetdiscover with its options, and among other lines of a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import networkx as nx
import pytest

from elanite.errors import UsageError
from test_formats import joined, rates, read

if TYPE_CHECKING:
    from pathlib import Path

HOSTS = 4


def port(own: int, peer: str, there: int, about: str, speed: str) -> str:
    guid = f"({peer[2:].lstrip('0')}) " if peer.startswith("H") else ""
    return f'[{own}]\t"{peer}"[{there}]{guid}\t\t# "{about}" lid {own + 7} {speed}\n'


def section(guid: str, about: str, ports: list[str], remark: str = "") -> str:
    return (
        f"\nvendid=0x2c9\ndevid=0xd2f2\nsysimgguid=0x{guid}\t\t# Chassis 1\n"
        f'switchguid=0x{guid}({guid}){remark}\nSwitch\t36 "S-{guid}"\t\t# "{about}" enhanced port 0'
        f" lid 3 lmc 0\n{''.join(ports)}"
    )


def chassis() -> tuple[str, str]:
    """A director switch with a spine chip and two line chips: its chips, and its hosts."""
    spine = [
        port(1, "S-a1", 36, "MF0;dir/L01/U1", "4xHDR"),
        port(2, "S-a2", 36, "MF0;dir/L02/U1", "2xHDR"),
    ]
    chips = section("b1", "MF0;dir/S01/U1", spine, "\t# Spine Chip 1")
    hosts = ""
    for line in (1, 2):
        ports = [port(36, "S-b1", line, "MF0;dir/S01/U1", "4xHDR" if line == 1 else "2xHDR")]
        for place in (1, 2):
            host = f"H-c{line}{place}"
            ports.append(port(place, host, 1, f"gpu{line}{place} mlx5_0", "4xHDR"))
            hosts += (
                f'\ncaguid=0x{host[2:]}\nCa\t1 "{host}"\t\t# "gpu{line}{place} mlx5_0"\n'
                f'[1]({host[2:]}) \t"S-a{line}"[{place}]\t\t# lid 9 lmc 0 "x" lid 3 4xHDR\n'
            )
        chips += section(f"a{line}", f"MF0;dir/L0{line}/U1", ports, "\t# Line Chip 1")
    return chips, hosts


HEAD = (
    "#\n# Topology file: generated on Tue Mar  3 09:00:00 2026\n#\n# Initiated from node 1 port 1\n"
)


def test_a_chassis_lists_its_switches_twice_with_grouping(tmp_path: Path) -> None:
    chips, hosts = chassis()
    plain = read(tmp_path, HEAD + chips + hosts)
    grouped = (
        f"{HEAD}\nChassis 1 (guid 0xb1)\nHostname: dir\n\n# Spine Nodes{chips}\n# Line Nodes\n"
        f"# Chassis Switches{chips}\n# Chassis CAs\n\nNon-Chassis Nodes\n{hosts}"
    )
    found = read(tmp_path, grouped)
    for each in (plain, found):
        assert (len(each.nodes), len(each.switches), len(each.cables)) == (HOSTS, 3, HOSTS + 2)
        assert rates(each) == {"200": 5, "100": 1}
    assert nx.utils.graphs_equal(nx.Graph(joined(found)), nx.Graph(joined(plain)))


def test_lines_of_a_terminal_and_of_the_tool(tmp_path: Path) -> None:
    chips, hosts = chassis()
    full = chips.replace("HDR\n", "HDR s=4 w=2 v=4\n").replace(
        "\nvendid",
        "\nsrc/query_smp.c:227; umad (DR path slid 0; dlid 0; 0,1) bad status 110; timed out\n"
        "ibwarn: [77] mad_rpc: _do_madrpc failed; dport (DR path)\nvendid",
        1,
    )
    found = read(tmp_path, f"[root@gpu11 ~]# ibnetdiscover -f\n{HEAD}{full}{hosts}")
    assert (len(found.nodes), len(found.switches), rates(found)) == (4, 3, {"200": 5, "100": 1})
    with pytest.raises(UsageError, match=r":\d+: `Switch cut short` is not a line of ibnetdisc"):
        read(tmp_path, f"{HEAD}{chips}Switch cut short\n")
