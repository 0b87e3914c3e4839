"""The slowest node of a page is the node with the smallest accepted part of its own offer, of all runs."""

from __future__ import annotations

from pathlib import Path

import elanite as el
from elanite.pages import hottest
from elanite.text import number


def run(tmp_path: Path, loads: list[str], seeds: int = 2) -> el.Results:
    job = {"nodes": 16, "message": "1 KB", "sizes": "fixed", "arrivals": "exponential", "processes": 4}
    experiment = {
        "title": "Own traffic",
        "machine": "es40-qsnet",
        "run": {"warm_up": "10 us", "window": "100 us", "batches": 4, "seeds": seeds},
        "series": [{"name": "load", "jobs": {"all": job | {"pattern": "uniform", "load": loads}}}],
    }
    return el.run(el.Experiment.from_dict(experiment), out=tmp_path / "out")


def test_the_slowest_node_has_the_smallest_part_of_its_offer(tmp_path: Path) -> None:
    found = run(tmp_path, ["40 MB/s", "1 GB/s"])
    (said,) = hottest.slowest(found.points, found.store, ["load"])
    nodes = found.table("nodes").rows(named=True)
    least = min(nodes, key=lambda node: node["accepted"] / node["offered"])
    assert min(nodes, key=lambda node: node["accepted"])["node"] != least["node"], "least offered is not served worst"
    assert said.startswith(f"Slowest node: node {least['node']} (load 1 GB/s, seed {least['seed']}), with")
    assert f"with {number(least['accepted'])} MB/s accepted of {number(least['offered'])} MB/s offered" in said
    assert f"({least['accepted'] / least['offered']:.0%})" in said


def test_no_node_is_slow_where_all_are_served_within_noise(tmp_path: Path) -> None:
    """At a steady load, a node that drew few messages, or has one of them on its way, is not slow."""
    found = run(tmp_path, ["40 MB/s"])
    nodes = found.table("nodes")
    assert (nodes["accepted"] < hottest.BEHIND * nodes["accepted"].mean()).any(), "some nodes drew few messages"
    assert (nodes["accepted"] < nodes["offered"]).any(), "some nodes have messages on their way"
    assert hottest.slowest(found.points, found.store, ["load"]) == []
