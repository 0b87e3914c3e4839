"""All seeds count for a page's hottest links and congestion; the point it shows is named with its
seed.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from elanite.base.text import number
from elanite.library.api import load_results
from test_pages import Parts, tables_of
from test_pages_findings import Run, placements, results


def test_the_hottest_link_is_that_of_all_seeds(elanite: Run, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(
        placements(["60 MB/s", "330 MB/s", "400 MB/s"], seeds=4), encoding="utf-8"
    )
    results(elanite("run", "mine.toml", "--html", "page.html", "--format", "csv"))
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    found = load_results(tmp_path / "mine.toml", out=tmp_path / "out")
    links = {}
    for point in found.points:
        counted = found.congestion(point).links.sort(
            "waiting_us", "link", descending=[True, False], nulls_last=True
        )
        links[point.id] = counted.row(0, named=True)
    best = max(found.points, key=lambda point: links[point.id]["waiting_us"])
    link, load = links[best.id], best.parameters["a.load"]
    assert best.seed != 1, "the first seed does not have the hottest link"
    label = f"({best.series}, a.load {load}, seed {best.seed})"
    said = next(one for one in Parts(page).findings if one.startswith("Hottest link"))
    assert f"{link['from']} → {link['to']} {label}" in said
    assert f"{number(link['waiting_us'])} µs" in said
    tables = tables_of(page)
    assert f"Hottest links: {label[1:-1]}" in tables
    head, *rows = tables["Hottest link of every configuration and load"]
    assert head[:3] == ["configuration", "seed", "hottest link"]
    for configuration, seed, where, _, _, waits in rows:
        series, _, each = configuration.partition(", a.load ")
        points = [
            point
            for point in found.points
            if (point.series, point.parameters["a.load"]) == (series, each)
        ]
        assert len(points) == 4
        most = max(points, key=lambda point: links[point.id]["waiting_us"])
        hot = links[most.id]
        assert (seed, where, waits) == (
            str(most.seed),
            f"{hot['from']} → {hot['to']}",
            number(hot["waiting_us"]),
        )


def test_the_pictures_count_all_points_and_begin_with_the_hottest(
    elanite: Run, tmp_path: Path
) -> None:
    (tmp_path / "mine.toml").write_text(
        placements(["60 MB/s", "330 MB/s", "400 MB/s"], seeds=4), encoding="utf-8"
    )
    results(elanite("run", "mine.toml", "--html", "page.html", "--format", "csv"))
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "The 12 of 24 points with the longest waits" in page
    said = next(one for one in Parts(page).findings if one.startswith("Hottest link"))
    label = re.search(r"\(([^)]*seed \d)\)", said)
    assert label
    lists = _lists(page)
    assert len(lists) == 4, "waits, delays, and their differences"
    assert {labels[value] for labels, value in lists} == {label[1]}


def _lists(page: str) -> list[tuple[list[str], int]]:
    """The pictures' point lists, the first one for differences: their labels, and the chosen
    place.
    """
    starts = [match.start() for match in re.finditer(r'\{"name": ?"point_', page)]
    params = [json.JSONDecoder().raw_decode(page[start:])[0] for start in starts]
    return [(param["bind"]["labels"], param["value"]) for param in params]


FEW = """
title = "Few messages"
machine = "es40-qsnet"
[run]
warm_up = "1 ms"
window = "2 ms"
batches = 4
seeds = 1
[[series]]
name = "once"
[series.jobs.a]
pattern = "neighbor"
nodes = 4
message = "256 KB"
sizes = "exponential"
arrivals = "exponential"
load = "100 MB/s"
[[series]]
name = "often"
run = { seeds = 6 }
[series.jobs.a]
pattern = "butterfly"
nodes = 4
message = "256 KB"
sizes = "exponential"
arrivals = "exponential"
load = "100 MB/s"
"""


def test_a_configuration_has_the_messages_of_its_own_seeds(elanite: Run, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(FEW, encoding="utf-8")
    rows = results(elanite("run", "mine.toml", "--html", "page.html", "--format", "csv"))
    messages = dict.fromkeys(("once", "often"), 0)
    for row in rows:
        if row["metric"] == "messages":
            messages[row["series"]] += int(float(row["value"]))
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    (said,) = (one for one in Parts(page).findings if one.startswith("Mean latency"))
    _, *body = tables_of(page)["Throughput of every configuration"]
    for series, count in messages.items():
        assert re.search(rf"\(of {count} messages\) \({series}\)", said), said
        assert next(row[-1] for row in body if row[0] == series).endswith(f"(of {count} messages)")
    assert "points of 6 seeds" not in page, "one series has one seed"
