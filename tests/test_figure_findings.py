"""The finding of a figure is true for the marks that it draws."""

from __future__ import annotations

import random
import re
from typing import Any

import altair as alt
import polars as pl
import pytest

from elanite.figures import finding
from elanite.figures.style import Figure, colour, layered

X = ("nodes:Q", "nodes")
Y = "bandwidth, MB/s"


def figure(
    rows: list[dict[str, Any]], x: tuple[str, str] = X, y: str = Y, *, curves: bool = True
) -> Figure:
    data = pl.DataFrame(rows, infer_schema_length=None)
    encoding: dict[str, Any] = {
        "x": alt.X(x[0], title=x[1]),
        "y": alt.Y("mean:Q", title=y),
        "tooltip": [x[0], "mean:Q"],
    }
    if curves:
        encoding["color"] = colour("curve", sorted(set(data["curve"])), "curve")
    return Figure("f", "t", "", "", layered("t", [alt.Chart(data).mark_point().encode(**encoding)]))


def row(
    curve: str, nodes: object, mean: float, half: float = 0.0, **more: object
) -> dict[str, Any]:
    return {
        "curve": curve,
        "nodes": nodes,
        "mean": mean,
        "low": mean - half,
        "high": mean + half,
        **more,
    }


TWO = [row("a (fast)", 2, 10.0), row("b", 2, 90.0), row("a (fast)", 64, 50.0), row("b", 64, 20.0)]


@pytest.mark.parametrize(
    ("drawn", "expected"),
    [
        (figure(TWO), "Bandwidth at 64 nodes: 20 MB/s (b) to 50 MB/s (a, fast), a factor of 2.5"),
        (
            figure([*TWO, row("b", 1024, 1.0)]),
            "Bandwidth at 64 nodes: 20 MB/s (b) to 50 MB/s (a, fast), a factor of 2.5",
        ),
        (
            figure([row("a", 64, 50.0, 2.0), row("b", 64, 49.0, 2.0)]),
            "Bandwidth at 64 nodes: 49 MB/s (b) to 50 MB/s (a), within the intervals",
        ),
        (
            figure([row("a", 64, 50.0), row("b", 64, 50.0)]),
            "Bandwidth at 64 nodes: 50 MB/s for all 2",
        ),
        (
            figure([row("a", 2, 50.0), row("a", 1024, 7.0)]),
            "Bandwidth: 50 MB/s at 2 nodes, 7 MB/s at 1,024 nodes",
        ),
        (figure([row("a", 2, 1.0), row("b", 4, 1.0)]), ""),
        (
            figure(
                [row("a", n, m, offered=n) for n, m in ((1, 1.0), (2, 5.0), (3, 4.0))]
                + [row("b", 1, 2.0, offered=1)],
                ("offered:Q", "offered load, MB/s"),
                "accepted load, part of the links",
            ),
            "Peaks of the accepted load: 200% (b) to 500% of the links (a), a factor of 2.5",
        ),
        (
            figure(
                [
                    row(c, p, m)
                    for c, p, m in (
                        ("a", "x", 1.0),
                        ("b", "x", 2.0),
                        ("a", "y", 3.0),
                        ("b", "y", 9.0),
                    )
                ],
                ("nodes:N", "pattern"),
            ),
            "Bandwidth differs most for y: 3 MB/s (a) to 9 MB/s (b), a factor of 3",
        ),
        (figure([row("a", 64, 50.0), row("b", 64, 20.0)], y="no unit"), ""),
    ],
)
def test_the_finding_names_the_ends(drawn: Figure, expected: str) -> None:
    assert finding.sentence(drawn) == expected


def test_marks_of_the_shipped_run_do_not_count() -> None:
    """A quick run draws them hollow beside its own.

    A title without the curve's name would be that of all curves.
    """
    rows = [{**one, "shipped": one["curve"] == "b"} for one in TWO]
    assert (
        finding.sentence(figure(rows))
        == "Bandwidth (a, fast): 10 MB/s at 2 nodes, 50 MB/s at 64 nodes"
    )
    rows = [{**one, "shipped": False} for one in TWO] + [row("c", 64, 900.0, shipped=True)]
    compared = "Bandwidth at 64 nodes: 20 MB/s (b) to 50 MB/s (a, fast), a factor of 2.5"
    assert finding.sentence(figure(rows)) == f"{compared}; shipped curves do not count"
    rows[-1] = row("b", 128, 900.0, shipped=True)
    assert finding.sentence(figure(rows)) == compared
    assert finding.sentence(figure([{**one, "shipped": True} for one in TWO])) == ""


def test_a_congestion_matrix_has_its_most_loaded_link() -> None:
    data = pl.DataFrame(
        {
            "where": ["switch 1.0", "node 1 → switch 1.0", "node 2 → switch 1.0"],
            "sum, µs": [9.0, 1, 2],
        }
    )
    one = figure(TWO)
    matrix = Figure("m", "t", "", "", one.chart, data=data)
    assert finding.sentence(matrix) == "Most loaded link: node 2 → switch 1.0, 2 µs in all packets"


@pytest.mark.parametrize("seed", range(60))
def test_the_ends_are_those_of_the_table(seed: int) -> None:
    """An oracle of its own: the last place that all curves have, the least and the greatest mean
    there.
    """
    draw = random.Random(seed)
    places = [(curve, nodes) for curve in "abcd" for nodes in (2, 4, 8, 16)]
    chosen = draw.sample(places, draw.randint(2, 14))
    means = {place: draw.randint(1, 9999) for place in sorted(chosen)}
    said = finding.sentence(
        figure([row(curve, nodes, float(mean)) for (curve, nodes), mean in means.items()])
    )
    named = [
        (name, int(text.replace(",", "")))
        for text, name in re.findall(r"([\d,]+) MB/s \((\w)\)", said)
    ]
    curves = {curve for curve, _ in means}
    common = [nodes for nodes in (2, 4, 8, 16) if all((curve, nodes) in means for curve in curves)]
    if len(curves) == 1:
        ends = [means[end] for end in (min(means), max(means))]
        assert [int(text.replace(",", "")) for text in re.findall(r"([\d,]+) MB/s", said)] == ends
    elif not common:
        assert said == ""
    else:
        here = {curve: means[curve, common[-1]] for curve in curves}
        assert f" at {common[-1]} nodes: " in said
        assert [number for _, number in named] == [min(here.values()), max(here.values())]
        assert all(here[curve] == number for curve, number in named)
