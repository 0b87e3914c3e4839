"""A page's slowest node has the smallest accepted part of its own offer, over all runs."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import elanite as el
from elanite.base.text import number
from elanite.report.pages import hot_links, slow_nodes


def run(tmp_path: Path, loads: list[str], seeds: int = 2) -> el.Results:
    job = {
        "nodes": 16,
        "message": "1 KB",
        "sizes": "fixed",
        "arrivals": "exponential",
        "processes": 4,
    }
    experiment = {
        "title": "Own traffic",
        "machine": "es40-qsnet",
        "run": {"warm_up": "10 us", "window": "100 us", "batches": 4, "seeds": seeds},
        "series": [{"name": "load", "jobs": {"all": job | {"pattern": "uniform", "load": loads}}}],
    }
    return el.run(el.Experiment.from_dict(experiment), out=tmp_path / "out")


def test_the_slowest_node_has_the_smallest_part_of_its_offer(tmp_path: Path) -> None:
    found = run(tmp_path, ["40 MB/s", "1 GB/s"])
    (said,) = slow_nodes.slowest(found.points, found.store, ["load"])
    nodes = found.table("nodes").rows(named=True)
    least = min(nodes, key=lambda node: node["accepted"] / node["offered"])
    assert min(nodes, key=lambda node: node["accepted"])["node"] != least["node"], (
        "least offered is not served worst"
    )
    assert said.startswith(
        f"Slowest node: node {least['node']} (load 1 GB/s, seed {least['seed']}), with"
    )
    assert (
        f"with {number(least['accepted'])} MB/s accepted of {number(least['offered'])} MB/s offered"
        in said
    )
    assert f"({least['accepted'] / least['offered']:.0%})" in said


def test_no_node_is_slow_where_all_are_served_within_noise(tmp_path: Path) -> None:
    """At a steady load, a node that drew few messages, or has one in flight, is not slow."""
    found = run(tmp_path, ["40 MB/s"])
    nodes = found.table("nodes")
    assert (nodes["accepted"] < slow_nodes.BEHIND * nodes["accepted"].mean()).any(), (
        "some nodes drew few messages"
    )
    (said,) = slow_nodes.slowest(found.points, found.store, ["load"])
    part = (nodes["accepted"] / nodes["offered"]).min()
    assert isinstance(part, float)
    assert part < slow_nodes.BEHIND, "some nodes have messages on their way"
    assert said.startswith(
        "No node is slow beyond the chance of few messages; the smallest accepted part: node"
    )
    assert said.endswith(f"({part:.0%}).")


def test_a_smaller_part_by_chance_is_named_beside_the_slowest_node(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Readers find the smallest part in the node table, whatever its cause."""
    found = run(tmp_path, ["40 MB/s", "1 GB/s"], seeds=1)
    real = slow_nodes._starved

    def mixed(*args: Any) -> list[Any]:
        first, *others = sorted(real(*args), key=lambda node: node.part)
        return [replace(first, behind=False), *others]

    monkeypatch.setattr(slow_nodes, "_starved", mixed)
    (said,) = slow_nodes.slowest(found.points[-1:], found.store, [])
    slow, chance = re.findall(r"node \d+, with .*? offered \((\d+)%\)", said)
    assert "; a smaller part, by the chance of few messages: node" in said
    assert int(slow) > int(chance)

    def equal(*args: Any) -> list[Any]:
        first, *_ = sorted(real(*args), key=lambda node: node.part)
        return [replace(first, behind=False), replace(first, behind=True)]

    monkeypatch.setattr(slow_nodes, "_starved", equal)
    (said,) = slow_nodes.slowest(found.points[-1:], found.store, [])
    assert "smaller part" not in said, "both accept the same part"


def test_the_hottest_link_names_its_equals(tmp_path: Path) -> None:
    found = run(tmp_path, ["40 MB/s", "1 GB/s"], seeds=1)
    links = hot_links.hottest(found.points, found.store, ["load"])
    best = hot_links.first(links)
    assert best is not None
    assert "(load 1 GB/s), busy" in hot_links.sentence(best, links, None)
    twice = best.links.head(1).with_columns(link=pl.lit(999, best.links.schema["link"]))
    same = replace(
        best,
        configuration="the other",
        links=pl.concat([best.links.head(1), twice, best.links.tail(-1)]),
    )
    said = hot_links.sentence(same, [*links, same], None)
    assert "(load 1 GB/s; as 1 other link; as hot at 2 of 3 loads), busy" in said
    apart = [*links, replace(same, curve="the other")]
    assert "as hot at 2 of 3 loads of all configurations)" in hot_links.sentence(same, apart, None)
    longer = replace(same, links=best.links.with_columns(busy=pl.col("busy") / 2))
    said = hot_links.sentence(best, [*links, longer], None)
    assert "as hot at 2 of 3 loads" in said, "by waits, whatever the part of a longer window"
    alone = [replace(one, curve=one.configuration) for one in apart]
    assert "as hot in 2 of 3 configurations)" in hot_links.sentence(same, alone, None)
    link = best.links["link"][0]
    known = hot_links.Shares(
        ("a", "b", ""), {link: {"a": 0.997, "b": 0.003, "": 0.0}}, 0.0, whole=True
    )
    assert hot_links.sentence(best, links, known).endswith(
        "; its flits come from job a (more than 99%), job b (less than 1%)."
    )


def test_the_slowest_node_names_its_equals_and_no_part_of_none(tmp_path: Path) -> None:
    """A job with nodes of its own is as slow beside any load of the other."""
    job = {"sizes": "fixed", "arrivals": "fixed", "pattern": "neighbor"}
    jobs = {
        "slow": job | {"nodes": "0-1", "message": "1 B", "load": "300 MB/s"},
        "other": job | {"nodes": "2-3", "message": "1 KB", "load": ["1 MB/s", "2 MB/s"]},
    }
    content = {
        "title": "Two",
        "machine": "es40-qsnet",
        "run": {"warm_up": "10 us", "window": "100 us", "batches": 1},
        "series": [{"name": "two", "jobs": jobs}],
    }
    found = el.run(el.Experiment.from_dict(content), out=tmp_path / "out")
    (said,) = slow_nodes.slowest(found.points, found.store, ["other.load"])
    assert (
        "node 0 of job slow (other.load 1 MB/s; as 1 other node; as slow at 2 of 2 loads)" in said
    )
    assert said.endswith("MB/s offered (less than 1%).")
