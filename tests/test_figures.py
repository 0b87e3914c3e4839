"""The shipped experiments' figures, from synthetic results: each of the paper's figures is there
and valid.
"""

from __future__ import annotations

import itertools
import re
from itertools import pairwise
from random import Random
from statistics import mean, stdev
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import drawings
import elanite as el
from conftest import FILES, figures_of
from elanite import figures
from elanite.errors import UsageError
from elanite.figures import curves
from elanite.figures.tabular import legends, table

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Ended

KB = 1024


def ping() -> pl.DataFrame:
    sizes = {"0 B": 0, "64 B": 64, "4 KB": 4 * KB, "4 MB": 4 * KB * KB}
    rows: list[dict[str, Any]] = [
        {
            "id": "x",
            "experiment": "qsnet/ping",
            "series": "size",
            "seed": 1,
            "directions": directions,
            "source": source,
            "destination": destination,
            "message": message,
            "message_bytes": size,
            "metric": metric,
            "unit": unit,
            "batch": None,
            "value": size + 1.0,
        }
        for directions, source, destination, (message, size), (metric, unit) in itertools.product(
            ("one", "both"),
            ("elan", "main"),
            ("elan", "main"),
            sizes.items(),
            (("latency", "us"), ("bandwidth", "MB/s")),
        )
    ]
    return pl.DataFrame(rows)


def uniform() -> pl.DataFrame:
    def row(
        series: str,
        nodes: int,
        size: int,
        kinds: tuple[str, str],
        load: int,
        metric: str,
        batch: int,
    ) -> dict[str, Any]:
        accepted = float(min(load, 4000 // nodes))
        values = {"accepted": accepted, "offered": 1.02 * load, "saturated": float(load > accepted)}
        return {
            "id": "x",
            "experiment": "qsnet/uniform",
            "series": series,
            "seed": 1,
            "nodes": nodes,
            "message": f"{size} B",
            "message_bytes": size,
            "sizes": kinds[0],
            "arrivals": kinds[1],
            "load": f"{load} MB/s",
            "load_MBps": float(load),
            "metric": metric,
            "unit": "MB/s",
            "batch": batch,
            "value": values[metric],
        }

    kinds = list(itertools.product(("uniform", "exponential"), repeat=2))
    measured = list(itertools.product(("accepted", "offered", "saturated"), (0, 1)))
    loads = list(itertools.product((16, 32, 64), kinds, (10, 100, 300), measured))
    sizes = itertools.product((320, 16 * KB, KB * KB), measured)
    rows = [row("load", nodes, 256 * KB, kind, load, *one) for nodes, kind, load, one in loads]
    rows += [
        row("saturation", nodes, 256 * KB, kind, 300, *one)
        for nodes, kind, load, one in loads
        if load == 300
    ]
    rows += [row("size", 64, size, kinds[0], 350, *one) for size, one in sizes]
    return pl.DataFrame(rows)


def names(drawn: list[figures.Figure]) -> list[str]:
    for figure in drawn:
        spec = figure.spec()  # validates against the Vega-Lite schema
        assert spec["title"]
        assert figure.caption
        if figure.wide:  # a table has no axes
            assert "MB/s" in figure.caption
            continue
        titles = [
            layer["encoding"]["y"].get("title")
            for layer in spec["layer"]
            if "y" in layer["encoding"]
        ]
        assert any(title and "," in title for title in titles), (
            f"{figure.name}: the axis has no unit"
        )
    return [figure.paper for figure in drawn]


def test_ping_gives_figures_9_and_10() -> None:
    expected = ["figure 9 a", "figure 9 b", "figure 10 a", "figure 10 b"]
    assert names(figures_of("qsnet/ping", ping())) == expected


def test_uniform_gives_figures_11_and_12() -> None:
    expected = ["figure 11 a", "figure 11 b", "figure 11 c", "figure 11 d", "figure 12"]
    assert names(figures_of("qsnet/uniform", uniform())) == expected


def test_saturated_points_are_marked() -> None:
    spec = figures_of("qsnet/uniform", uniform())[0].spec()
    values = next(iter(data for data in spec["datasets"].values() if "state" in data[0]))
    assert {value["state"] for value in values} == {"steady", "saturated"}
    assert {value["offered"] for value in values} == {
        10.2,
        102.0,
        306.0,
    }, "what was offered, not what was asked for"


def measured(
    offered: list[float], accepted: list[float], saturated: float, seed: int = 1
) -> pl.DataFrame:
    """One point's batches."""
    rows = [
        {"curve": "x", "seed": seed, "metric": metric, "batch": batch, "value": value}
        for metric, values in (("offered", offered), ("accepted", accepted))
        for batch, value in enumerate(values)
    ]
    return pl.DataFrame(
        [
            *rows,
            {"curve": "x", "seed": seed, "metric": "saturated", "batch": None, "value": saturated},
        ]
    )


def test_the_noise_of_arrivals_is_no_noise_of_the_curve() -> None:
    """A network that accepts all offered traffic, however uneven, is known exactly below
    saturation.
    """
    uneven = [10.0, 50.0, 20.0, 40.0, 30.0]
    (steady,) = curves.of_loads(measured(uneven, uneven, 0.0), ["curve"]).to_dicts()
    assert (steady["offered"], steady["low"], steady["mean"], steady["high"]) == (
        30.0,
        30.0,
        30.0,
        30.0,
    )
    (saturated,) = curves.of_loads(measured(uneven, uneven, 1.0), ["curve"]).to_dicts()
    assert saturated["low"] < 20 < 40 < saturated["high"]


def test_the_interval_below_saturation_covers_what_is_under_way_at_the_ends() -> None:
    """Sources offer at random, and a random amount is in flight at the end of each batch.

    At least 95% of the intervals hold: batches share the traffic in flight between them, with
    opposite signs.
    """
    random = Random(1)
    points, inside, halves = 400, 0, []
    for seeds in (1, 3):
        for _ in range(points):
            runs = []
            for seed in range(seeds):
                under_way = [random.gauss(20, 4) for _ in range(9)]
                offered = [random.gauss(100, 30) for _ in range(8)]
                accepted = [
                    o + a - b for o, (a, b) in zip(offered, pairwise(under_way), strict=True)
                ]
                runs.append(measured(offered, accepted, 0.0, seed))
            (point,) = curves.of_loads(pl.concat(runs), ["curve"]).to_dicts()
            inside += point["low"] <= point["offered"] <= point["high"]
            halves.append(point["high"] - point["mean"])
    assert inside / (2 * points) >= 0.95
    assert max(halves) < 10, "that of the accepted load alone is some 25"


def test_legends_leave_the_space_beside_the_chart_to_published_values() -> None:
    """Also where only the chart is drawn, as for the README."""
    (figure,) = [one for one in figures_of("qsnet/uniform", uniform()) if one.name == "11c"]
    encodings = [layer["encoding"] for layer in figure.spec()["layer"]]
    legends = [
        one[name]["legend"]
        for one in encodings
        for name in ("color", "shape")
        if "legend" in one.get(name, {})
    ]
    assert {legend["orient"] for legend in legends} == {"bottom"}
    assert any(one.get("x") == {"value": "width"} for one in encodings), (
        "the names of published values"
    )


def test_the_message_size_axis_names_its_start() -> None:
    (figure,) = [one for one in figures_of("qsnet/uniform", uniform()) if one.name == "12"]
    axes = [
        layer["encoding"]["x"].get("axis")
        for layer in figure.spec()["layer"]
        if "x" in layer["encoding"]
    ]
    assert next(axis["values"][0] for axis in axes if axis) == 320


def test_a_network_that_accepts_nothing_has_an_axis() -> None:
    nothing = uniform().with_columns(value=pl.lit(0.0))
    for figure in figures_of("qsnet/uniform", nothing):
        low, high = drawings.domain(figure)
        assert low == 0.0 < high


def test_incomplete_results_give_fewer_figures() -> None:
    some = uniform().filter((pl.col("nodes") == 16) & (pl.col("series") == "load"))
    assert names(figures_of("qsnet/uniform", some)) == ["figure 11 a"]
    assert figures_of("qsnet/uniform", uniform().clear()) == []


def test_an_experiment_of_ones_own_gets_plain_figures() -> None:
    drawn = list(figures.default_figures.draw(ping()))
    assert [figure.name for figure in drawn] == [
        "size-latency-1",
        "size-latency-2",
        "size-bandwidth-1",
        "size-bandwidth-2",
    ]
    names(drawn)


def test_congestion_compares_top_levels() -> None:
    rows = [
        {
            "series": "top-level",
            "machine": machine,
            "metric": "accepted",
            "unit": "MB/s",
            "batch": batch,
            "value": value,
        }
        for machine, value in (
            ("unchanged", 280.0),
            ("topology.up=[4,2]", 140.0),
            ("topology.parallel=[1,2]", 280.0),
        )
        for batch in range(3)
    ]
    (drawn,) = figures_of("qsnet/congestion", pl.DataFrame(rows))
    names([drawn])


OWN = str(FILES / "own-figures.toml")


def test_an_experiment_of_ones_own_ends_in_the_figures_that_it_asks_for(
    elanite: Callable[..., Ended], tmp_path: Path
) -> None:
    ended = elanite("run", OWN, "--out", str(tmp_path), "--format", "csv")
    assert ended.code == 0, ended
    drawn = el.load_results(el.Experiment.load(OWN), out=tmp_path).figures()
    assert [figure.title for figure in drawn] == [
        "Bandwidth from Elan memory",
        "Bandwidth from main memory",
    ]
    assert [figure.name for figure in drawn] == ["a", "b"]
    elan, main = (figure.spec() for figure in drawn)
    (data,) = [rows for rows in elan["datasets"].values() if "curve" in rows[0]]
    assert {row["curve"] for row in data} == {"to node 1", "to node 63"}
    stated = "Published by Petrini et al. 2003 and Petrini et al. 2001: 335 MB/s at 4 MB."
    assert drawn[0].caption.endswith(f"Dashed: what is published. {stated}")
    assert "published 335 MB/s (Petrini et al. 2003" in str(elan["datasets"])
    assert "published" not in str(main["datasets"]), "the claim is about the other memory"


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("x", "message_byte", "the results have no such parameter; did you mean `message_bytes`?"),
        ("panel", "sauce", "did you mean `source`?"),
        ("curve", ["to {too}"], "parameters: "),
        (
            "published",
            [{"claim": "ping.uni", "label": "", "x": None}],
            "`ping.uni`, which is not a claim",
        ),
    ],
)
def test_what_a_figure_asks_for_in_vain_is_told(
    campaign_of_own: Path, key: str, value: object, message: str
) -> None:
    result = el.load_results(el.Experiment.load(OWN), out=campaign_of_own)
    (asked,) = result.plan.figures
    with pytest.raises(UsageError, match=re.escape(message)):
        figures.draw(asked | {key: value}, result.frame())


@pytest.fixture(scope="module")
def campaign_of_own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("own")
    el.run(el.Experiment.load(OWN), out=out)
    return out


def test_the_caption_of_loads_says_of_which_quantity_the_interval_is() -> None:
    several = pl.concat([uniform(), uniform().with_columns(batch=pl.col("batch") + 2)])
    caption = figures_of("qsnet/uniform", several)[0].caption
    assert "at steady points of accepted minus offered load of each batch" in caption
    assert "--format" not in caption


def test_intervals_of_loads_follow_from_the_printed_rows() -> None:
    """Student's t over all seeds' batches: for the differences at a steady point, else for the
    accepted load.
    """
    offered, accepted = (
        [[20.0, 50.0, 30.0], [40.0, 35.0, 45.0]],
        [[22.0, 47.0, 30.0], [36.0, 37.0, 46.0]],
    )
    flat = list(zip(itertools.chain(*accepted), itertools.chain(*offered), strict=True))
    for growing, values in ((0.0, [a - o for a, o in flat]), (1.0, [a for a, _ in flat])):
        runs = [
            measured(o, a, growing, seed)
            for seed, (o, a) in enumerate(zip(offered, accepted, strict=True))
        ]
        (point,) = curves.of_loads(pl.concat(runs), ["curve"]).to_dicts()
        half = 2.570582 * stdev(values) / 6**0.5
        assert point["mean"] == pytest.approx(mean(a for a, _ in flat))
        assert (point["mean"] - point["low"], point["high"] - point["mean"]) == pytest.approx(
            (half, half), rel=1e-5
        )


def test_legend_and_caption_have_the_states_that_are_drawn() -> None:
    rows = uniform()
    steady = figures_of("qsnet/uniform", rows.filter(pl.col("load_MBps") == 10))[0]
    words = {
        state: any(key.name == state for one in legends(steady.spec()) for key in one.keys)
        for state in curves.SIGNS
    }
    assert words == {"steady": True, "saturated": False, "undecided": False}
    assert "Triangles" not in steady.caption
    both = figures_of("qsnet/uniform", rows)[0]
    assert "Filled circles" in both.caption
    assert "Triangles" in both.caption


def test_data_of_loads_have_the_comparison_that_decides_each_state() -> None:
    columns, rows = table(figures_of("qsnet/uniform", uniform())[0])
    found = {row[columns.index("because")] for row in rows}
    reasons = {
        "queues grow in 0 of 1 seed; accepted 10 ≥ 95% of 10.2 offered",
        "queues grow in 1 of 1 seed",
    }
    assert reasons <= found
