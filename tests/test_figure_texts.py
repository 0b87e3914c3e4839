"""User figures name their panel, unit and columns, and have places for all values."""

from __future__ import annotations

import math
import re
import tomllib
from typing import Any

import altair as alt
import polars as pl
import pytest

import drawings
from elanite import figures
from elanite.base.text import distinct, label, minus, number, part, simulated, with_half, worded
from elanite.base.units import size_text, stated
from elanite.figures import axes, curves, default_figures, published_values, request_layers, tabular
from elanite.figures.axes import OWN_AXES
from elanite.figures.style import BYTES, Figure
from elanite.inputs import sources
from elanite.validation.claims import claims
from test_figure_grouping import base
from test_figure_images import pings, traffic


def own(rows: pl.DataFrame, **wanted: Any) -> list[Figure]:
    return list(figures.draw(base() | wanted, rows))


def two(factor: float = 2.0) -> pl.DataFrame:
    """Two message sizes; one has values that are this many times larger."""
    rows = traffic(message=("1 KB", "16 KB"))
    value = pl.when(pl.col("message") == "16 KB").then(factor * pl.col("value")).otherwise("value")
    return rows.with_columns(value.alias("value"), unit=pl.lit("us"))


def latency(rows: pl.DataFrame, **wanted: Any) -> list[Figure]:
    return own(rows, metric="latency_mean", **{"title": "Mine", "panel": "message"} | wanted)


def domains(found: list[Figure]) -> set[tuple[float, float]]:
    return {tuple(drawings.domain(one)) for one in found}


def title_of(figure: Figure, channel: str = "y") -> str:
    return str(drawings.means(figure)["encoding"][channel]["title"])


def test_panels_without_a_text_of_their_column_are_told_apart() -> None:
    assert [one.title for one in latency(two())] == ["Mine, message 1 KB", "Mine, message 16 KB"]
    assert [one.title for one in latency(two(), title="{message}, mine")] == [
        "1 KB, mine",
        "16 KB, mine",
    ]
    assert [one.title for one in latency(two(), caption="Messages of {message}.")] == [
        "Mine",
        "Mine",
    ]
    assert [
        one.title
        for one in own(two(), draw="loads", metric="", x="", title="My loads", panel="message")
    ] == [
        "My loads, message 1 KB",
        "My loads, message 16 KB",
    ]


def test_panels_share_their_axes_unless_one_would_be_flat() -> None:
    near, far = latency(two(3.0)), latency(two(50.0))
    assert len(domains(near)) == 1
    assert not any(OWN_AXES in one.caption for one in near)
    assert len(domains(far)) == 2
    assert all(OWN_AXES in one.caption for one in far)


def test_an_axis_without_a_title_has_the_unit_of_its_metric() -> None:
    for draw in ("curves", "bars"):
        assert {title_of(one) for one in latency(two(), draw=draw)} == {"mean latency, µs"}
    (one,) = latency(two(), panel="", curve=["{message}"], y_title="mine")
    assert title_of(one) == "mine"


def test_the_title_of_a_legend_has_the_columns_of_the_names() -> None:
    rows = traffic(("uniform", "tornado"), message=("1 KB", "16 KB"))
    for curve, title, name in (
        (["{pattern}"], "pattern, message", "uniform, 1 KB"),
        (["to {message}", "{pattern}"], "message, pattern", "to 1 KB, uniform"),
    ):
        (one,) = latency(rows, panel="", curve=curve)
        (legend,) = tabular.legends(one.spec())
        assert legend.title == title
        assert legend.keys[0].name == name
        assert len(legend.keys) == 4


def test_means_of_two_values_say_that_they_have_no_interval() -> None:
    rows = two().filter(pl.col("batch").is_null() | (pl.col("batch") < 2))
    for drawn in (
        latency(rows),
        default_figures.draw(rows.filter(pl.col("metric") == "latency_mean"), {}),
    ):
        assert all("Means of 2 values, no interval." in one.caption for one in drawn)
    assert not any("no interval" in one.caption for one in latency(two()))


def test_a_caption_names_means_without_an_interval_beside_intervals() -> None:
    """Two seeds that differ are two values, without an interval: a mark without a bar is not an
    exact value.
    """
    torn, seed, odd = pl.col("pattern") == "tornado", pl.col("batch") // 2, pl.col("batch") % 2
    rows = traffic(("uniform", "tornado")).filter(pl.col("metric") == "accepted")
    rows = rows.with_columns(
        seed=seed,
        value=pl.col("load_MBps")
        + (100 + seed) * odd
        + pl.when(torn).then(900 * seed).otherwise(0),
    )
    few, sure = rows.filter(torn), rows.filter(~torn)
    for draw in (
        lambda some: default_figures.draw(some, {}),
        lambda some: own(some, metric="accepted"),
        lambda some: own(some, metric="accepted", draw="bars", x="load"),
    ):
        assert all(axes.LACKING in one.caption for one in draw(rows))
        assert not any(axes.LACKING in one.caption for part in (few, sure) for one in draw(part))


def test_intervals_of_equal_values_are_no_bars() -> None:
    """Sums of equal values differ by their rounding, which no bar shows."""
    rows = (
        traffic()
        .filter(pl.col("metric") == "accepted")
        .with_columns(value=pl.lit(0.1) + pl.lit(0.2))
    )
    for one in (
        *default_figures.draw(rows, {}),
        *own(rows, metric="accepted"),
        *own(rows, metric="accepted", draw="bars"),
    ):
        assert "Bars are" not in one.caption


def test_a_caption_names_the_intervals_that_the_frame_cuts() -> None:
    wide = pl.DataFrame({"curve": ["a", "b"], "x": [4096, 1024], "mean": [10.0, 12.0]})
    wide = wide.with_columns(low=pl.Series([-70.0, 11.9]), high=pl.Series([90.0, 12.1]))
    said = "Longer than the axis, and cut at the frame: the interval of {} (-70 to 90)."
    for log in (False, True):
        named = request_layers.mark("x_bytes", several=True)
        rows = wide.rename({"x": "x_bytes"})
        assert axes.cut(rows, axes.ends(rows, log=log), named, log=log) == said.format(
            "a at x 4 KB"
        )
    assert axes.cut(wide.tail(1), axes.ends(wide), lambda _: "b") == ""
    rows = traffic()
    apart = pl.when(pl.col("batch") == 3).then(3.7).otherwise(0.1) * pl.col("value")
    rows = rows.with_columns(
        value=pl.when(pl.col("load") == "20 GB/s", pl.col("metric") != "offered")
        .then(apart)
        .otherwise("value")
    )
    drawn = {
        "load 20,000 MB/s": own(rows, metric="latency_mean"),
        "20 GB/s at uniform": own(rows, metric="latency_mean", draw="bars", x="pattern"),
        "19,920 offered": own(rows, metric="", draw="loads", x=""),
        "load 20 GB/s": default_figures.draw(rows.filter(pl.col("metric") == "latency_mean"), {}),
    }
    for at, (figure,) in drawn.items():
        (mark,) = (
            mark for mark in drawings.marks(figure) if drawings.cut(mark, drawings.domain(figure))
        )
        assert mark.low is not None
        assert mark.high is not None
        words = f"the interval of {at} ({number(mark.low)} to {number(mark.high)})."
        assert f"Longer than the axis, and cut at the frame: {words}" in figure.caption


@pytest.mark.parametrize(
    ("factor", "said"),
    [
        (1.0, "Curves with equal values lie on each other: x behind y."),
        (1.001, "Curves too near to be told apart: x behind y."),
        (1.2, None),
    ],
)
def test_hidden_curves_of_loads_are_named(factor: float, said: str | None) -> None:
    """The offered loads of near curves need not be equal to the bit."""
    rows = traffic().with_columns(kind=pl.lit("x"))
    other = rows.with_columns(kind=pl.lit("y"), value=factor * pl.col("value"))
    (figure,) = own(pl.concat([rows, other]), draw="loads", metric="", x="")
    assert (said in figure.caption) if said else (" behind " not in figure.caption)


def test_zero_has_a_place_on_every_axis() -> None:
    rows = pings().filter(pl.col("source") == "elan", pl.col("destination") == "elan")
    for scale in ("log", "sizes", "decades"):
        (one,) = own(rows, metric="latency", x="message_bytes", x_scale=scale)
        along = drawings.means(one)["encoding"]["x"]
        assert along["type"] == "ordinal"
        assert 0 in along["scale"]["domain"]
        (one,) = own(
            rows.filter(pl.col("message_bytes") > 0),
            metric="latency",
            x="message_bytes",
            x_scale=scale,
        )
        assert drawings.means(one)["encoding"]["x"]["type"] == "quantitative"


def test_tooltips_and_tables_have_four_significant_digits() -> None:
    rows = pings().with_columns(value=pl.col("value") / 10)
    for draw in ("curves", "bars"):
        for one in own(rows, metric="latency", x="message_bytes", x_scale="steps", draw=draw):
            tooltips = drawings.means(one)["encoding"]["tooltip"]
            assert {
                tip.get("format") for tip in tooltips if tip["field"] in ("mean", "low", "high")
            } == {",.5~r"}
            heads, table = tabular.table(one)
            column = heads.index("latency, µs")
            means = sorted(mark.mean for mark in drawings.marks(one))
            for text, mean in zip(
                sorted(float(row[column].replace(",", "")) for row in table), means, strict=True
            ):
                assert abs(text - mean) <= 5e-4 * mean
    (loads,) = own(traffic(), draw="loads", metric="", x="")
    assert ",.5~r" in str(drawings.means(loads)["encoding"]["tooltip"])
    (default,) = default_figures.draw(traffic().filter(pl.col("metric") == "latency_mean"), {})
    formats = {
        tip["field"]: tip.get("format") for tip in drawings.means(default)["encoding"]["tooltip"]
    }
    assert {formats[field] for field in ("mean", "low", "high")} == {",.5~r"}


def test_tooltips_have_the_titles_of_axes_and_legends() -> None:
    """A reader finds a mark's values where the axes have them: by their titles, in their units."""
    rows, loads = pings(), traffic(("uniform", "tornado"))
    by_size = {"metric": "latency", "x": "message_bytes", "curve": ["{destination}"]}
    for found in (
        own(rows, x_scale="steps", **by_size),
        own(rows, draw="bars", **by_size),
        own(loads, draw="loads", metric="", x="", curve=["{pattern}"]),
        list(default_figures.draw(loads, {})),
    ):
        assert found
        for one in found:
            layer = drawings.means(one)
            titles = [tip["title"] for tip in layer["encoding"]["tooltip"]]
            assert len(set(titles)) == len(titles)
            assert not any("_" in title for title in titles), titles
            for channel in ("y", "color"):
                assert layer["encoding"].get(channel, {}).get("title", titles[0]) in titles
            _, _, unit = title_of(one).partition(", ")
            ends = {", ".join(filter(None, [f"interval {end}", unit])) for end in ("from", "to")}
            assert ends <= {*titles} or not any(mark.low for mark in drawings.marks(one))
    sizes = own(rows, x_scale="steps", **by_size)
    words = {row[1] for one in sizes for row in tabular.table(one)[1]}
    assert words == {*rows["message"]}, "as the experiment writes sizes"


@pytest.mark.parametrize("most", [1.0, 51.0, 101.0, 157.0, 201.0, 204.0, 286.0, 1577.0, 9999.0])
def test_less_than_a_quarter_of_an_axis_is_empty(most: float) -> None:
    low, high = axes.rounded((0.0, most))
    assert low == 0.0
    assert most <= high <= 1.25 * most
    data = pl.DataFrame({"offered": [most], "mean": [most], "low": [0.0], "high": [10 * most]})
    assert curves.ends(data)[1] <= 1.25 * most


@pytest.mark.parametrize(
    "ends",
    [(151.0, 912.0), (210.0, 490.0), (2.1, 4.9), (1.0, 1e6), (0.36, 2.2), (12.0, 13.0), (3.0, 3.0)],
)
def test_logarithmic_axes_have_labels_near_their_ends(ends: tuple[float, float]) -> None:
    low, high = ends
    labels = axes.decades(ends).to_dict()["values"]
    assert labels == sorted(set(labels))
    assert all(low <= label <= high for label in labels)
    if low < high:
        assert len(labels) >= 2
        for end, label in zip(ends, (labels[0], labels[-1]), strict=True):
            assert abs(math.log(label / end)) <= 0.3 * math.log(high / low)


@pytest.mark.parametrize("scale", ["", "log", "sizes", "decades"])
def test_no_mark_lies_on_the_frame_at_the_sides(scale: str) -> None:
    rows = pings().filter(pl.col("message_bytes") > 0)
    for one in own(rows, metric="latency", x="message_bytes", x_scale=scale):
        assert drawings.means(one)["encoding"]["x"]["scale"]["padding"] > 0
    for one in figures.default_figures.draw(rows):
        assert drawings.means(one)["encoding"]["x"]["scale"]["padding"] > 0


def test_changes_that_all_machines_share_stand_in_the_caption() -> None:
    worm = "switch.circuit=wormhole"
    some = (f"link.channels=2, {worm}", f"link.channels=4, {worm}, topology.up=[4, 2]")
    accepted = pl.col("metric") == "accepted"
    (figure,) = default_figures.draw(traffic(machine=some).filter(accepted), {})
    assert {mark.curve for mark in drawings.marks(figure)} == {
        "link.channels=2",
        "link.channels=4, topology.up=[4, 2]",
    }
    assert f"All machines have {worm}." in figure.caption
    panels = list(default_figures.draw(traffic(tuple("abcdef"), machine=some).filter(accepted), {}))
    assert [one.title.split(", ", 1)[1] for one in panels] == [
        "changes link.channels=2",
        "changes link.channels=4, topology.up=[4, 2]",
    ]
    # A machine may have no change besides.
    (figure,) = default_figures.draw(traffic(machine=(worm, some[0])).filter(accepted), {})
    assert {mark.curve for mark in drawings.marks(figure)} == {"no other change", "link.channels=2"}
    assert f"All machines have {worm}." in figure.caption


def test_lists_in_the_names_of_curves_end_where_the_next_value_begins() -> None:
    rows = traffic(**{"topology.up": ("[4, 4]", "[2, 4]"), "message": ("1", "16")})
    (figure,) = default_figures.draw(rows.filter(pl.col("metric") == "accepted"), {})
    assert {mark.curve for mark in drawings.marks(figure)} == {
        "4, 4; 1",
        "4, 4; 16",
        "2, 4; 1",
        "2, 4; 16",
    }


@pytest.mark.parametrize(
    ("values", "marks"),
    [
        ([1e-9, 1e-6, 1e-5], [1e-9, 1e-6, 1e-5]),
        ([2e-9, 3e-8, 4e-8, 5e-7, 6e-6, 7e-5], [1e-8, 1e-7, 1e-6, 1e-5]),
        ([1.0, 3.0, 10.0, 30.0, 100.0, 300.0], [1.0, 10.0, 100.0]),
    ],
)
def test_long_axes_are_marked_at_their_values_or_at_powers_of_ten(
    values: list[float], marks: list[float]
) -> None:
    """The default marks are all digits in all decades, and the labels that stay are any of
    these.
    """
    found = axes.of_numbers("fault.bit_error_rate", "fault.bit_error_rate", values).to_dict()
    assert found["axis"]["values"] == pytest.approx(marks)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.0, "0"),
        (1.0, "1"),
        (0.5, "0.5"),
        (1e-7, "1e-7"),
        ("0 ps", "0"),
        ("0 us", "0"),
        ("0 B", "0 B"),
        ("10 us", "10 µs"),
    ],
)
def test_zero_has_no_digits_and_no_unit_of_time(value: object, shown: str) -> None:
    assert label(value) == shown


def test_negative_numbers_have_a_minus_sign() -> None:
    minus_sign = "\N{MINUS SIGN}"
    assert minus("intervals (-80.35 to 358.7); nodes 0-7; -1.2% of 3-4, --set x=-5") == (
        f"intervals ({minus_sign}80.35 to 358.7); nodes 0-7; {minus_sign}1.2% of 3-4, --set x=-5"
    )


@pytest.mark.parametrize("name", sources.shipped("experiment"))
def test_captions_call_published_values_as_they_are_drawn(name: str) -> None:
    """A value at one place is a dash; a value over several places, or without a place, is a dashed
    line.
    """
    known = {claim.id: claim for claim in claims()}
    for one in tomllib.loads(sources.read("experiment", name).text).get("figure", []):
        there = [
            len(
                [entry["x"]]
                if "x" in entry
                else published_values.places(known[entry["claim"]], one.get("x", ""))
            )
            for entry in one.get("published", [])
        ]
        if there and set(there) == {1} and "beside" not in one and "mark" not in one:
            assert one["dashed"].startswith("Grey dashes: "), one["name"]


SIZES = {
    0: "0 B",
    1000: "1000 B",
    1536: "1.5 KB",
    20_000: "20000 B",
    1_000_000: "1000000 B",
    (1 << 20) + 1: "1048577 B",
    3 << 20: "3 MB",
    5 << 28: "1.25 GB",
}
"""Sizes as the simulator writes them in points, tables and files."""


def test_sizes_on_an_axis_are_those_of_tables() -> None:
    """A size that is not a short number of KB is not rounded to one: 1000000 B."""
    vl_convert = pytest.importorskip("vl_convert")
    assert {size: size_text(size) for size in SIZES} == SIZES
    assert {size: stated(text, "B") for size, text in SIZES.items()} == {one: one for one in SIZES}
    axis = alt.Axis(labelExpr=BYTES, labelOverlap=False, labelAngle=0)
    chart = (
        alt.Chart(pl.DataFrame({"size": list(SIZES)}), width=2000)
        .mark_point()
        .encode(x=alt.X("size:O", axis=axis))
    )
    drawn = vl_convert.vegalite_to_svg(chart.to_json(validate=False))
    assert re.findall(r">([\d.]+ [KMG]?B)<", drawn) == list(SIZES.values())


def test_percentiles_in_headings_have_a_point() -> None:
    assert worded("fct_slowdown_p99_9") == "FCT slowdown p99.9"
    assert worded("latency_p99") == "latency p99"
    assert worded("latency_mean") == "mean latency"
    assert worded("fct_slowdown_mean") == "mean FCT slowdown"
    assert worded("packets_timed_out") == "packets timed out"
    assert worded("above_1_percent") == "share above 1%", "0.05 is no 0.05%"


def test_whole_numbers_in_data_tables_have_separators() -> None:
    """As in the other tables and in sentences."""
    data = pl.DataFrame({"link": ["a"], "packets": [1320], "down": [True], "gap": ["0 ps"]})
    figure = Figure("links", "Links", "", "", alt.Chart(data).mark_point(), data=data)
    assert tabular.table(figure) == (list(data.columns), [["a", "1,320", "true", "0"]])


def test_long_times_are_in_words_too() -> None:
    assert simulated(2069.4) == "2,069 µs"
    assert simulated(7.2e9 + 5002) == "7,200,005,002 µs (2.0 h)"


def test_shares_and_small_numbers_are_not_rounded_to_none_or_all() -> None:
    assert [part(share) for share in (0.0, 0.004, 0.25, 0.996, 1.0)] == [
        "0%",
        "less than 1%",
        "25%",
        "more than 99%",
        "100%",
    ]
    assert [part(share, 1) for share in (0.0, 0.0004, 0.0006, 0.9997, 1.0)] == [
        "0.0%",
        "less than 0.1%",
        "0.1%",
        "more than 99.9%",
        "100.0%",
    ]
    small = [0.0, -0.0, 0.001234, 0.0009, 0.00049996, -0.0001234, 2.5e-9, -1e-12]
    assert [number(value) for value in small] == [
        *("0", "0", "0.001", "0.0009", "0.0005", "-0.000123", "2.5e-9", "-1e-12")
    ], "only zero is written as 0"
    assert with_half(0.5, 0.0004) == "0.5", "an interval that the mean does not show"
    assert with_half(0.0004, 0.00002) == "0.0004 ± 0.00002"
    assert with_half(2e-9, 1e-10) == "2e-9 ± 1e-10"
    assert distinct(0.00012341, 0.00012342) == ("0.00012341", "0.00012342")


def test_captions_name_the_repetitions_behind_each_mark() -> None:
    """Percentiles have no batches, and one seed is no repetition."""
    rows = pl.DataFrame(
        {
            "series": "s",
            "nodes": nodes,
            "seed": seed,
            "metric": metric,
            "unit": "us",
            "batch": batch,
            "value": float(nodes + seed + (batch or 0)),
        }
        for nodes in (2, 4)
        for seed in (1, 2, 3)
        for metric, batches in (("latency_mean", (0, 1)), ("latency_p99", (None,)))
        for batch in batches
    )
    captions = {
        (metric, seeds): next(
            default_figures.draw(
                rows.filter((pl.col("metric") == metric) & (pl.col("seed") <= seeds))
            )
        ).caption
        for metric in ("latency_mean", "latency_p99")
        for seeds in (1, 3)
    }
    assert captions["latency_mean", 3].startswith("Mean latency over batches and seeds. ")
    assert captions["latency_mean", 1].startswith("Mean latency over batches. ")
    assert captions["latency_p99", 3].startswith("Mean of latency p99 over seeds. ")
    assert captions["latency_p99", 1].startswith("Each mark is one value.")
    (asked,) = own(rows.filter(pl.col("metric") == "latency_p99"), metric="latency_p99", x="nodes")
    assert "Bars are 95% confidence intervals over seeds." in asked.caption


@pytest.mark.parametrize(("fastest", "kind"), [(9000.0, "linear"), (47_000.0, "log")])
def test_curves_of_a_slow_machine_do_not_lie_on_the_end_of_the_axis(
    fastest: float, kind: str
) -> None:
    """Beside a machine whose curve reaches twenty times as high, the axis is logarithmic."""
    rows = pl.DataFrame(
        {"series": "s", "id": f"{on}-{load}", "seed": 1, "on": on, "load": load}
        | {"metric": "bandwidth", "unit": "MB/s", "batch": None, "value": most * load / 3}
        for on, most in (("old", 600.0), ("new", fastest))
        for load in (1, 2, 3)
    )
    (found,) = default_figures.draw(rows)
    assert drawings.means(found)["encoding"]["y"]["scale"].get("type", "linear") == kind


def test_the_axis_of_a_wide_sweep_has_the_parameter_with_the_most_values() -> None:
    """Twelve figures for a thousand points, not one for each seven curves over two messages."""
    rows = pl.DataFrame(
        {"series": "s", "id": f"{rate} {start} {size}", "seed": 1, "batch": None}
        | {"message": f"{size} B", "message_bytes": size, "metric": "latency", "unit": "us"}
        | {"bus.rate": rate, "adapter.dma_start": start, "value": size / rate + start}
        for size in (64, 512)
        for rate in range(1, 26)
        for start in range(1, 21)
    )
    found = list(default_figures.draw(rows, {"s": "ping"}))
    assert [one.title for one in found] == [
        f"s: latency, message {size} B, {part} of 20"
        for size in (64, 512)
        for part in ("1 to 7", "8 to 14", "15 to 20")
    ]
    assert sum(len(drawings.marks(one)) for one in found) == 1000


@pytest.mark.parametrize("values", [40, 35])
def test_a_sample_over_two_messages_is_one_figure_of_marks(values: int) -> None:
    """Also of buffers, which are texts, and of keys with fewer values than points."""
    rows = pl.DataFrame(
        {"series": "s", "id": f"{one} {size}", "seed": 1, "batch": None, "value": float(size + one)}
        | {"message": f"{size} B", "message_bytes": size, "metric": "bandwidth", "unit": "MB/s"}
        | {"bus.rate": one, "link.buffer": f"{64 + 7 * one % 40} flits", "hop": 13 * one % values}
        for size in (64, 512)
        for one in range(40)
    )
    (found,) = default_figures.draw(rows, {"s": "ping"})
    assert len(drawings.marks(found)) == 80
    assert "Marks differ in link.buffer and hop, too" in found.caption


def test_an_axis_of_whole_numbers_has_no_marks_between_them() -> None:
    vl_convert = pytest.importorskip("vl_convert")
    for values, marks in (([0, 1], {"0", "1"}), ([1.0, 3.0], {"1", "2", "3"})):
        x = axes.of_numbers("fault.rail", "fault.rail", values)
        chart = alt.Chart(pl.DataFrame({"fault.rail": values})).mark_point().encode(x=x)
        drawn = vl_convert.vegalite_to_svg(chart.to_json(validate=False))
        assert set(re.findall(r">([\d.]+)</text>", drawn)) == marks
    for times, marks in (
        ([0.0, 1e-5, 0.1, 1e6], ["0", "1e-5", "0.1", "1,000,000"]),
        ([0.1, 10.0, 1e6], ["0.1", "10", "1,000,000"]),
    ):
        chart = alt.Chart(pl.DataFrame({"compute_us": times})).mark_point()
        x = axes.of_numbers("compute", "compute_us", times)
        drawn = vl_convert.vegalite_to_svg(chart.encode(x=x).to_json(validate=False))
        assert re.findall(r">([\d.,e-]+)</text>", drawn) == marks
    sizes = axes.of_numbers("message", "message_bytes", [0, 32_768]).to_dict()
    assert sizes["type"] == "ordinal", "sizes have their names, not thousands of bytes"
