"""Figures 7 to 20 of 004: policies of several rails, over load, message size, nodes and rails."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from elanite.figures.curves import SATURATED, curves, loads, of_loads
from elanite.figures.style import Figure, layered, size_axis
from elanite.frames import summarise
from elanite.policies import ordered, told

if TYPE_CHECKING:
    from collections.abc import Iterator

    from elanite.figures.curves import Layers

POLICY = "policy"

UNIT = "part of what a node's links carry"
"""The unit of loads: "normalized with the unidirectional bandwidth of the links" (004 s5.3)."""

ACCEPTED = f"maximum accepted load, {UNIT}"

MAXIMUM = (
    "The maximum accepted load is what is accepted when every process has a message to send all the time. A node's"
    " buses carry no more than half of what its links do. Bars are 95% confidence intervals over batches."
)

STEADY = "The mean latency, from the arrival of a message to its end, only where the point is not saturated."


def bandwidth(rows: pl.DataFrame) -> Iterator[Figure]:
    """Figures 7 to 11: accepted load and latency over the load for each message size, and latency over that size."""
    rows = told(rows)
    swept = rows.filter(pl.col("load_MBps").n_unique().over("message_bytes") > 1)
    numbers = iter((("7", "8"), ("9", "10")))
    for (message,), here in swept.sort("message_bytes").group_by("message", maintain_order=True):
        accepted, latency = next(numbers, (f"{message}-accepted", f"{message}-latency"))
        yield _accepted(here, accepted, f"{message} messages")
        yield from _latency(here, latency, f"{message} messages")
    sizes = pl.col("message_bytes").n_unique().over("load_MBps")
    by_size = rows.filter((sizes > 1) & (sizes == sizes.max()))
    steady = _steady(by_size)
    if steady["message_bytes"].n_unique() > 1:
        x = size_axis("message_bytes", "mean message size", steady["message_bytes"].to_list())
        title = f"Latency over message size at a load of {_load(steady):.2f}"
        yield Figure("11", title, "figure 11", STEADY, layered(title, _latencies(steady, x)))


def nodes(rows: pl.DataFrame) -> Iterator[Figure]:
    """Figure 12: the maximum over the number of nodes."""
    x = alt.X("nodes:O", title="nodes", axis=alt.Axis(labelAngle=0))
    yield from _maximum(told(rows), "12", "nodes", x, "Maximum accepted load over the number of nodes")


def rails(rows: pl.DataFrame) -> Iterator[Figure]:
    """Figures 13 to 15: the maximum over message size and over the rails, and latency over the rails."""
    rows = told(rows)
    beyond = rows.filter(pl.col("load_MBps") == pl.col("load_MBps").max())
    by_size = beyond.filter(pl.col("message_bytes").n_unique().over("curve", "rails") > 1)
    if not by_size.is_empty():
        count = pl.col("rails").cast(pl.String) + pl.when(pl.col("rails") == 1).then(pl.lit(" rail")).otherwise(
            pl.lit(" rails")
        )
        named = by_size.with_columns(curve=pl.format("{}, {}", "curve", count))
        x = size_axis("message_bytes", "mean message size", named["message_bytes"].to_list())
        title = f"Maximum accepted load over message size, {_nodes(named)}"
        yield from _maximum(named, "13", "message_bytes", x, title)
    x = alt.X("rails:O", title="rails", axis=alt.Axis(labelAngle=0))
    by_rails = beyond.filter(pl.col("rails").n_unique().over("message") == pl.col("rails").n_unique())
    if by_rails["rails"].n_unique() > 1:
        title = f"Maximum accepted load over the number of rails, {_nodes(by_rails)}"
        yield from _maximum(by_rails, "14", "rails", x, title)
    light = _steady(rows.filter(pl.col("load_MBps") < pl.col("load_MBps").max()))
    if light["rails"].n_unique() > 1:
        title = f"Latency over the number of rails at a load of {_load(light):.2f}"
        yield Figure("15", title, "figure 15", STEADY, layered(title, _latencies(light, x)))


def saturation(rows: pl.DataFrame) -> Iterator[Figure]:
    """Figure 16: the saturation point over the message size."""
    rows = told(rows)
    found = rows.filter(pl.col("metric") == "saturation_part")
    if found.is_empty():
        return
    data = _ranked(summarise(found, ["policy", "curve", "message_bytes"])).sort("rank", "message_bytes")
    x = size_axis("message_bytes", "mean message size", data["message_bytes"].to_list())
    title = "Saturation point over message size"
    caption = (
        "The least offered load that was found saturated, so that less is accepted than arrives, by halving an interval"
        " of loads: the greatest one that is not saturated is less by no more than the resolution of the search."
    )
    layers = curves(data, "curve", POLICY, x, f"saturation point, {UNIT}", unit=UNIT, digits=3)
    yield Figure("16", title, "figure 16", caption, layered(title, layers))


def hybrid(rows: pl.DataFrame) -> Iterator[Figure]:
    """Figures 17 to 20: accepted load and latency over the load, without and with striping."""
    rows = told(rows)
    for striping, accepted, latency in (("no striping", "17", "18"), ("full striping", "19", "20")):
        here = rows.filter(pl.col("striping").is_in(["", striping]) & (pl.col("policy") != "local-dynamic"))
        if striping not in here["striping"].to_list():
            continue
        here = here.with_columns(curve=pl.col("curve").str.replace(f", {striping}", ""))
        words = f"{here['message'][0]} messages, {striping}"
        yield _accepted(here, accepted, words)
        yield from _latency(here, latency, words)


def _accepted(rows: pl.DataFrame, number: str, words: str) -> Figure:
    title = f"Several rails: accepted load, {words}"
    data = of_loads(rows, ["policy", "curve", "load_MBps"], "accepted_part", "offered_part")
    data = _ranked(data).sort("rank", "load_MBps")
    caption = f"Accepted against offered load, {_nodes(rows)}, as parts of what a node's links carry. {SATURATED}"
    layers = loads(data, "curve", POLICY, UNIT, digits=3)
    return Figure(number, title, f"figure {number}" if number.isdigit() else "", caption, layered(title, layers))


def _latency(rows: pl.DataFrame, number: str, words: str) -> Iterator[Figure]:
    steady = _steady(rows)
    if steady.is_empty():
        return
    title = f"Several rails: latency, {words}"
    x = alt.X("offered:Q", title=f"offered load, {UNIT}")
    layers = _latencies(steady, x)
    yield Figure(number, title, f"figure {number}" if number.isdigit() else "", STEADY, layered(title, layers))


def _maximum(rows: pl.DataFrame, number: str, over: str, x: alt.X, title: str) -> Iterator[Figure]:
    here = rows.filter(pl.col("metric") == "accepted_part")
    if here[over].n_unique() < 2:
        return
    data = _ranked(summarise(here.drop("series").unique(maintain_order=True), ["policy", "curve", over])).sort(
        "rank", over
    )
    caption = f"{MAXIMUM} Mean message size: {_sizes(here)}."
    layers = curves(data, "curve", POLICY, x, ACCEPTED, unit=UNIT, digits=3)
    yield Figure(number, title, f"figure {number}", caption, layered(title, layers))


def _steady(rows: pl.DataFrame) -> pl.DataFrame:
    """Mean latencies of the points that are not saturated, with the load that was offered."""
    keys = ["policy", "curve", "rails", "message_bytes", "load_MBps"]
    value = pl.col("value")
    found = rows.group_by([*keys, "id"], maintain_order=True).agg(
        saturated=value.filter(pl.col("metric") == "saturated").max(),
        offered=value.filter(pl.col("metric") == "offered_part").mean(),
        rate=value.filter(pl.col("metric") == "offered").mean(),
        value=value.filter(pl.col("metric") == "latency_cycles").mean(),
        seed=pl.col("seed").first(),
    )
    of_all_seeds = pl.col("saturated").max().over(keys) < 0.5
    found = found.filter(of_all_seeds & pl.col("value").is_not_null())
    found = found.with_columns(
        offered=pl.col("offered").mean().over(keys),
        # What was asked for: what is offered in a window varies with the arrivals.
        load=pl.col("load_MBps") * (pl.col("offered") / pl.col("rate")).mean().over(keys),
    )
    means = summarise(found, [*keys, "offered", "load"])
    ids = found.select([*keys, "id"]).unique(keys, maintain_order=True)
    return _ranked(means.join(ids, on=keys, maintain_order="left")).sort("rank", "rails", "message_bytes", "load_MBps")


def _latencies(steady: pl.DataFrame, x: alt.X) -> Layers:
    return curves(steady, "curve", POLICY, x, "latency, cycles", unit="cycles", log=True)


def _ranked(data: pl.DataFrame) -> pl.DataFrame:
    """The data with the place of each curve in the legend."""
    order = {name: rank for rank, name in enumerate(ordered(data))}
    return data.with_columns(rank=pl.col("curve").replace_strict(order, return_dtype=pl.Int64))


def _load(data: pl.DataFrame) -> float:
    """The load that curves have in common."""
    loads: list[float] = data["load"].to_list()
    return loads[0]


def _nodes(rows: pl.DataFrame) -> str:
    counts: list[int] = rows["nodes"].to_list()
    return f"{max(counts)} nodes"


def _sizes(rows: pl.DataFrame) -> str:
    names: list[str] = rows.sort("message_bytes")["message"].unique(maintain_order=True).to_list()
    return names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}"
