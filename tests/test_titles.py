"""Titles and captions of shipped experiments state no count that a selection or an override can
change.

A count in a title is a parameter in braces, which has the values of the points.
"""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING

import polars as pl
import pytest

from conftest import figures_of, frame
from elanite.figures.grouping import DERIVED
from elanite.inputs import sources
from elanite.inputs.plan import plan
from elanite.results import frames

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conftest import Ended

NUMBER = r"\b(?:\d[\d,.]*|[Tt]wo|[Tt]hree|[Ff]our|[Ff]ive|[Ss]ix|[Ss]even|[Ee]ight|[Nn]ine|[Tt]en)"

NOUN = (
    r"(?:nodes|hosts|adapters|processes|rails|spines|switches|cables|links|groups|[KM]?B\b(?!/s))"
)

COUNT = re.compile(rf"{NUMBER} (?:dead |other )?{NOUN}")

FACTS = (
    "nothing is published of more than 64 nodes",
    "of QsNET with more than 64 nodes",
    "Up to 4 nodes share a switch",
    "up to 16 nodes are below switches",
    "between two nodes",
    "of two nodes of a",
    "all eight links of an Elite",
    "from node 0 to node 63 over six links",
    "for writes of up to 32 nodes",
    "The paper has 32 nodes",
    "238 to 288 cables between switches",
)
"""Statements about papers, and about networks that only another series changes."""

DEFINED = re.compile(r"^Figure 15: a load of \{load\}, \d rails")
"""Titles of series that a machine of their own defines."""


def texts(name: str) -> Iterator[tuple[str, str]]:
    """An experiment's titles and captions, each with its place."""
    about = tomllib.loads(sources.read("experiment", name).text)
    yield "title", about["title"]
    for series in about.get("series", []):
        yield f"series {series['name']}", series.get("title", "")
    for figure in about.get("figure", []):
        for key in ("title", "caption"):
            yield f"figure {figure['name']}", figure.get(key, "")


@pytest.mark.parametrize("name", sources.shipped("experiment"))
def test_titles_have_no_counts_of_their_own(name: str) -> None:
    for place, text in texts(name):
        words = " ".join(text.split())
        if DEFINED.match(words):
            continue
        for fact in FACTS:
            words = words.replace(fact, "")
        found = COUNT.search(words)
        assert not found, (
            f"{name}, {place}: `{found and found[0]}` is no result of the points: write {{nodes}}"
            " or none"
        )


@pytest.mark.parametrize("name", sources.shipped("experiment"))
def test_titles_name_parameters_of_their_points(name: str) -> None:
    planned = plan(sources.read("experiment", name))
    for series, _ in planned.titles:
        assert "{" not in planned.title_of(series)
    for figure in planned.figures:
        here = [
            point
            for point in planned.points
            if not figure["series"] or point.series in figure["series"]
        ]
        known = {column for point in here for column in frames.identity(point)} | {
            *DERIVED,
            "letter",
            "series",
        }
        named = re.findall(r"\{([^{}]+)\}", figure["title"] + figure["caption"] + figure["name"])
        assert set(named) <= known | {"policy", "rails", "striping", "threshold"}, figure["name"]


def test_titles_of_series_have_the_values_of_the_selected_points(
    elanite: Callable[..., Ended],
) -> None:
    planned = plan(sources.read("experiment", "faults/links"))
    assert planned.title_of("whole-1024") == "Uniform traffic, 1,024 nodes, nothing fails"
    shown = elanite("show", "collectives/broadcast", "--set", "series.latency.nodes=[16, 32]")
    assert "Latency of short messages, 16, 32 nodes" in shown.out
    changed = elanite("show", "faults/bit-errors", "--set", "series.latency.uniform.message=2 KB")
    assert "latency: Latency of messages of 2 KB at a twentieth of the highest load" in changed.out


@pytest.mark.parametrize("most", [16, 64])
def test_a_hot_spot_of_few_nodes_has_no_lines_of_64(most: int) -> None:
    common = {"series": "nodes", "seed": 1, "sizes": "uniform", "arrivals": "uniform"}
    rows = frame(
        [
            common | {"nodes": nodes, "node": node, "accepted": 300 / nodes}
            for nodes in (8, most)
            for node in range(1, nodes)
        ]
    )
    (figure,) = figures_of("qsnet/hotspot", rows, "nodes")
    assert figure.title == f"Hot-spot: bandwidth of each of {most - 1} nodes that write"
    assert figure.chart.title == figure.title
    lines = [
        one
        for rows in figure.spec()["datasets"].values()
        for one in rows
        if "published" in str(one)
    ]
    assert (
        bool(lines)
        == ("Dashed" in figure.caption)
        == ("Published" in figure.caption)
        == (most == 64)
    )
    other = rows.with_columns(pl.lit(value=True).alias(frames.FOREIGN))
    (figure,) = figures_of("qsnet/hotspot", other, "nodes")
    assert "Dashed" not in figure.caption
