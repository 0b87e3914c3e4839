"""Multirail figures, from synthetic results."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING

import polars as pl

from conftest import Row, data, figures_of, frame
from test_multirail_measures import BASIC, DYNAMIC, HYBRID, KB, LINKS, LOCAL, point

if TYPE_CHECKING:
    from elanite import figures

FIVE = (BASIC, f"{LOCAL}0.0", f"{LOCAL}1.0", f"{DYNAMIC}0.0", f"{DYNAMIC}1.0")


def drawn(experiment: str, points: list[list[Row]]) -> list[figures.Figure]:
    """The points' figures; a point in several series has one identity."""
    common = {
        "experiment": experiment,
        "pattern": "uniform",
        "sizes": "exponential",
        "arrivals": "exponential",
    }
    rows = [
        common
        | {
            "series": "series",
            "unit": "",
            "message": f"{row['message_bytes'] // KB} KB",
            "id": identity(one),
        }
        | row
        for one in points
        for row in one
    ]
    return figures_of(experiment, frame(rows))


def identity(rows: list[Row]) -> str:
    return json.dumps(
        [{key: value for key, value in row.items() if key != "series"} for row in rows]
    )


def curves(figure: figures.Figure) -> list[str]:
    return list(dict.fromkeys(row["curve"] for row in data(figure, "curve")))


def names(found: list[figures.Figure]) -> list[tuple[str, str]]:
    return [(figure.name, figure.paper) for figure in found]


def test_figures_7_to_11() -> None:
    points = [
        point(label, load, min(load, 0.3), saturated=load > 0.3, message_bytes=size * KB)
        for label, load, size in itertools.product(FIVE, (0.05, 0.15, 0.45), (4, 64))
    ]
    points += [point(label, 0.15, 0.15, message_bytes=16 * KB) for label in FIVE]
    found = drawn("multirail/bandwidth", points)
    assert names(found) == [(str(number), f"figure {number}") for number in range(7, 12)]
    accepted, latency, long, _, by_size = found
    assert "4 KB" in accepted.title
    assert "64 KB" in long.title
    assert "at a light load" in by_size.title
    assert curves(accepted) == curves(by_size)
    assert curves(by_size)[:2] == ["basic", "local-dynamic, no striping"]
    assert {row["state"] for row in data(accepted, "state")} == {"steady", "saturated"}
    assert all(row["offered"] < 0.2 for row in data(latency, "load")), (
        "only where it is not saturated"
    )
    assert {row["message_bytes"] for row in data(by_size, "message_bytes")} == {
        4 * KB,
        16 * KB,
        64 * KB,
    }


def test_figure_12() -> None:
    points = [point(label, nodes=nodes) for label, nodes in itertools.product(FIVE, (32, 64, 128))]
    (figure,) = drawn("multirail/nodes", points)
    assert figure.paper == "figure 12"
    assert {row["nodes"] for row in data(figure, "nodes")} == {32, 64, 128}
    (figure,) = drawn("multirail/nodes", points[:1])
    assert curves(figure) == ["basic"], "one number of nodes is one mark"


def test_figures_13_to_15() -> None:
    points = [
        point(f"rails.count={rails}, {label}", 1400 / LINKS, message_bytes=size * KB)
        for label, rails, size in itertools.product((BASIC, f"{DYNAMIC}1.0"), (1, 2), (32, 64))
    ]
    points += [point(f"rails.count=7, {label}", 1400 / LINKS) for label in (BASIC, f"{DYNAMIC}1.0")]
    points += [
        point(f"rails.count={rails}, {label}", 0.15)
        for label, rails in itertools.product(FIVE, (1, 7))
    ]
    found = drawn("multirail/rails", points)
    assert names(found) == [("13", "figure 13"), ("14", "figure 14"), ("15", "figure 15")]
    assert curves(found[0])[0] == "basic, 1 rail"
    assert "basic, 7 rails" not in curves(found[0]), "one message size is no curve"
    assert {row["rails"] for row in data(found[1], "rails")} == {1, 2, 7}
    assert "at a light load" in found[2].title


def test_figure_16() -> None:
    points = []
    for policy, size in itertools.product(("basic", "dynamic"), (4, 64)):
        rows = point(f"rails.policy={policy}", message_bytes=size * KB)
        points.append([*rows, rows[-1] | {"metric": "saturation_part", "value": 0.25}])
    (figure,) = drawn("multirail/saturation", points)
    assert figure.paper == "figure 16"
    assert curves(figure) == ["basic", "dynamic"]


def rows_of_rails() -> pl.DataFrame:
    """Rows for four policies, as in ``multirail/hybrid``."""
    labels = (
        BASIC,
        f"{DYNAMIC}0.0",
        f"{HYBRID}0.0, rails.threshold=1 KB",
        f"{HYBRID}1.0, rails.threshold=1 KB",
    )
    common = {"series": "any", "unit": "", "message": "32 KB", "pattern": "uniform"}
    return frame(
        [common | row for label in labels for load in (0.05, 0.45) for row in point(label, load)]
    )


def test_figures_17_to_20() -> None:
    labels = [
        f"{HYBRID}{ratio}, rails.threshold={size} KB"
        for ratio in ("0.0", "1.0")
        for size in (1, 32)
    ]
    points = [
        point(label, load, min(load, 0.3), saturated=load > 0.3, series=series)
        for label, load in itertools.product((*FIVE, *labels), (0.05, 0.45))
        for series in (("without", "with") if label == BASIC else ("any",))
    ]
    found = drawn("multirail/hybrid", points)
    assert names(found) == [(str(number), f"figure {number}") for number in range(17, 21)]
    assert curves(found[0]) == ["basic", "dynamic", "hybrid, up to 1 KB", "hybrid, up to 32 KB"]
    assert "full striping" in found[3].title


def test_beyond_the_paper() -> None:
    three = (BASIC, f"{LOCAL}1.0", f"{DYNAMIC}1.0")
    points = []
    for series, label in itertools.product(("half-duplex", "failure", "hot-spot", "mine"), three):
        rows = point(label, accepted=0.2 if label == BASIC else 0.3, series=series)
        metric = "server_accepted" if series == "hot-spot" else "accepted"
        loads = [
            row | {"metric": metric, "value": 1600 * row["value"]}
            for row in rows
            if row["metric"] == "accepted_part"
        ]
        points.append(
            [row | {"servers": "0" if series == "hot-spot" else None} for row in rows + loads]
        )
    found = drawn("multirail/beyond", points)
    assert [figure.name for figure in found] == ["beyond", "failure"]
    said = {row["says"] for row in data(found[0], "says")}
    assert any(
        "all send to one node, dynamic, full striping: 480 MB/s, 150.0% of basic" in words
        for words in said
    )
    assert any(words.startswith("mine, basic") for words in said)
    assert {row["batch"] for row in data(found[1], "batch")} == {0, 1, 2, 3}
    without = [one for one in points if one[0]["series"] != "failure"]
    assert [figure.name for figure in drawn("multirail/beyond-es40", without)] == ["beyond"]
