"""Imported networks in which nodes are joined to nodes: delays, rates and ways without a switch
between.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest

import elanite as el
from elanite import formats
from elanite.inputs import network_import, sources
from test_importing import BASE, lines, link, texts

if TYPE_CHECKING:
    from pathlib import Path


def ping(ranks: int, one: int, other: int) -> str:
    """A trace in which a rank sends eight bytes to another one."""
    blocks = {one: f"a: send 8b to {other}", other: f"a: recv 8b from {one}"}
    return f"num_ranks {ranks}\n" + "".join(
        f"rank {each} {{\n{blocks.get(each, '')}\n}}\n" for each in range(ranks)
    )


def machine(folder: Path, text: str) -> el.Machine:
    """A network's machine, as `elanite import` writes it."""
    (folder / "net.any").write_text(text)
    made = network_import.machine(
        formats.read(folder / "net.any")[1], "net.any", "net", sources.read("machine", BASE.name)
    )
    for ending, content in made.texts.items():
        (folder / f"net{ending}").write_text(content)
    return el.Machine.load(folder / "net.toml")


@pytest.mark.parametrize(
    ("hosts", "cables"),
    [("3 0 3\n\n0 1 {0}\n1 2 {0}\n2 0 {0}\n", 1), ("3 1 2\n2\n0 2 {0}\n1 2 {0}\n", 2)],
)
def test_a_way_has_the_delay_of_its_cables(tmp_path: Path, hosts: str, cables: int) -> None:
    """One more microsecond for each cable: the link from an adapter to its own switch is none."""
    (tmp_path / "ping.goal").write_text(ping(2, 0, 1))
    times = []
    for delay in ("1us", "2us"):
        own = machine(tmp_path, hosts.format(f"100Gbps {delay} 0"))
        times.append(el.replay(tmp_path / "ping.goal", machine=own).summary["time_us"])
    assert times[1] - times[0] == pytest.approx(cables, abs=0.01)


def test_a_node_feeds_all_of_its_cables(tmp_path: Path) -> None:
    """An all-to-all among four joined accelerators takes less than half of the time that one
    cable's rate allows.
    """
    mesh = "".join(
        f"g{one} g{other} rate=5GB/s\n" for one, other in itertools.combinations(range(4), 2)
    )
    own = machine(tmp_path, "".join(f"node g{number}\n" for number in range(4)) + mesh)
    assert link((tmp_path / "net.toml").read_text())["rate"] == ["120 Gb/s", "40 Gb/s"]
    assert (
        "# - nodes with several cables feed them at 120 Gb/s together"
        in (tmp_path / "net.toml").read_text()
    )
    blocks = ["num_ranks 4"]
    for rank in range(4):
        others = [other for other in range(4) if other != rank]
        sends = [f"s{other}: send 2000000b to {other} tag {rank}" for other in others]
        receives = [f"r{other}: recv 2000000b from {other} tag {other}" for other in others]
        blocks += [f"rank {rank} {{", *sends, *receives, "}"]
    (tmp_path / "all.goal").write_text("\n".join(blocks) + "\n")
    # 2 MB at 5 GB/s, with a header of 64 bytes for each 4,096.
    wire = 400 * 4160 / 4096
    assert wire < el.replay(tmp_path / "all.goal", machine=own).summary["time_us"] < 3 * wire / 2


def test_a_ring_of_nodes_has_shortest_ways(tmp_path: Path) -> None:
    """Eight nodes without a switch, as ASTRA-sim has them: a message goes to the other side in four
    links.
    """
    ring = "".join(f"{one} {(one + 1) % 8} 100Gbps 1us 0\n" for one in range(8))
    own = machine(tmp_path, f"8 0 8\n\n{ring}")
    assert 'routing = { value = "minimal"' in (tmp_path / "net.toml").read_text()
    times: dict[int, list[float]] = {}
    for one, other in itertools.combinations(range(8), 2):
        (tmp_path / "ping.goal").write_text(ping(8, one, other))
        done = el.replay(tmp_path / "ping.goal", machine=own)
        times.setdefault(min(other - one, 8 - other + one), []).append(done.summary["time_us"])
    for cables in range(1, 5):
        assert times[cables] == pytest.approx(
            [times[1][0] + cables - 1] * len(times[cables]), abs=0.05
        )


def test_hosts_beside_nodes_that_forward_state_their_rates_and_delays(tmp_path: Path) -> None:
    """Level 0 is the link within a node: a host's cable to a switch has its own words."""
    cables = "a b rate=100Gb/s delay=1us\nb c\nb s\nd s\ne s rate=50Gb/s delay=2us\n"
    files = texts(tmp_path, f"node a\nnode b\nnode c\nnode d\nnode e\nswitch s\n{cables}")
    about = link(files[".toml"])
    assert about["rate"] == ["300 Gb/s", "100 Gb/s"]
    cycle, hop = (float(each.removesuffix(" ns")) for each in about["hop_delay"])
    assert (cycle, hop) == (int(about["flit"].split()[0]) * 8 / 300, pytest.approx(1000, abs=cycle))
    *between, d, e = lines(files[".graph.txt"])
    assert between == ["a b", "b c", "b s"]
    assert d == f"d s rate=100Gb/s delay={hop:g}ns"
    assert float(e.removeprefix("e s rate=50Gb/s delay=").removesuffix("ns")) == pytest.approx(
        2000, abs=cycle
    )
