"""The plots of 002: barriers and broadcasts by hardware and by software, alone and among other traffic.

The paper shows them on slides without numbers, so that they have names here. What is simulated on larger trees than the
paper's is a prediction, and says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from elanite.claims import claims
from elanite.figures.curves import DECADES, curves
from elanite.figures.style import BYTES, MARKS, RULE, Figure, colour, layered, published, size_axis
from elanite.frames import padded, summarise

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from elanite.figures.curves import Layers

NAMES = {
    "hgsync": "hardware, busy-wait (elan_hgsync)",
    "hgsyncevent": "hardware, event-based (elan_hgsyncevent)",
    "gsync": "software (elan_gsync)",
    "hbcast": "hardware (elan_hbcast)",
    "bcast": "software (elan_bcast)",
}
"""What is called, as a curve is named."""

MEMORY = {"elan": "Elan memory", "main": "main memory"}

LEGEND = "operation"

BARS = "Bars are 95% confidence intervals over batches and seeds."

SHORT = 4096
"""Largest message, in bytes, of the latency figures."""

TRAFFIC = pl.col("background.pattern")
"""The other traffic; null for none."""

OTHER = {"background.pattern": pl.String, "background.nodes": pl.Int64, "background.message": pl.String}
"""The columns that say what the other traffic is; a series without any lacks them."""

BESIDE = 1.25
"""What the axis of a distribution has more than the distribution on either side, as a factor."""

STEPS = 500
"""Steps of a cumulative distribution that are drawn."""


def _named(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows with the name of their curve, in the order of the names, and with the columns of all series."""
    rows = padded(rows, memory=pl.String, **OTHER)
    order = {name: index for index, name in enumerate(NAMES)}
    operation = pl.col("operation").replace_strict(NAMES, default=pl.col("operation"))
    memory = pl.col("memory").replace(MEMORY)
    return rows.with_columns(
        curve=pl.when(pl.col("memory").is_null()).then(operation).otherwise(pl.format("{}, {}", operation, memory))
    ).sort(
        pl.col("operation").replace_strict(order, default=len(NAMES), return_dtype=pl.Int64),
        "memory",
        maintain_order=True,
    )


def _background(rows: pl.DataFrame) -> str:
    """What sends the other traffic of some rows; nothing where there is none."""
    rows = rows.filter(TRAFFIC.is_not_null())
    if rows.is_empty():
        return ""
    nodes, message = rows.select("background.nodes", "background.message").row(0)
    return (
        f" The other traffic: {nodes} nodes send messages of {message} on average from and to adapter memory, each as"
        " much as it can; how large those of the paper are is not said."
    )


def barriers(rows: pl.DataFrame) -> Iterator[Figure]:
    """Latency of the barriers over the number of nodes: alone, and with each background traffic."""
    rows = _named(rows)
    rows = rows.filter(pl.col("metric") == "latency")
    idle = rows.filter(pl.col("series") == "idle")
    if not idle.is_empty():
        title = "Barriers: latency by number of nodes"
        caption = f"Mean time of a call. {BARS} Dashed: what the paper gives for 64 nodes."
        layers = [
            *curves(_over_nodes(idle), "curve", LEGEND, _nodes(idle), "latency, µs", unit="µs"),
            *published("barrier.hardware.64", label="64 nodes"),
            *published("barrier.software.64", label="64 nodes"),
        ]
        yield Figure("barrier", title, "", caption, layered(title, layers))
    loaded = rows.filter((pl.col("series") == "loaded") & TRAFFIC.is_not_null())
    for (pattern,), here in loaded.group_by("background.pattern", maintain_order=True):
        title = f"Barriers: latency by number of nodes, with {pattern} traffic"
        caption = (
            f"Mean time of a call on a logarithmic axis, among {pattern} traffic; dashed: without."
            f"{_background(here)} {BARS} The paper finds the software barrier up to 40 times as slow as"
            " without, the hardware barriers twice."
        )
        data = _over_nodes(here)
        layers = [
            *curves(data, "curve", LEGEND, _nodes(here), "latency, µs", unit="µs", log=True),
            *_without(_over_nodes(idle), data, "nodes"),
        ]
        yield Figure(f"barrier-{pattern}", title, "", caption, layered(title, layers))


def distributions(table: pl.DataFrame) -> Iterator[Figure]:
    """The share of calls that took no longer than so long, with and without other traffic, on the most nodes."""
    rows = padded(table, **OTHER).filter(pl.col("series").is_in(["distribution", "hardware-loaded", "software-loaded"]))
    rows = rows.filter(pl.col("nodes") == pl.col("nodes").max())
    for operation, word in (("hgsync", "hardware"), ("gsync", "software")):
        here = rows.filter(pl.col("operation") == operation)
        if not here.is_empty():
            yield _distribution(here, operation, word)


def _distribution(rows: pl.DataFrame, operation: str, word: str) -> Figure:
    title = f"Distribution of the latency of the {word} barrier, {rows['nodes'][0]} nodes"
    traffic = pl.when(TRAFFIC.is_null()).then(pl.lit("no other traffic")).otherwise(pl.format("{} traffic", TRAFFIC))
    rows = rows.with_columns(traffic=traffic, latency=pl.col("lower_ps") / 1e6)
    least, most = (float(one) for one in rows.select(pl.col("latency").min(), most=pl.col("latency").max()).row(0))
    ends = (least / BESIDE, most * BESIDE)
    data = pl.concat([_cumulative(here, *ends) for _, here in rows.group_by("traffic", maintain_order=True)])
    order = data["traffic"].unique(maintain_order=True).to_list()
    axis = alt.Axis(values=DECADES, grid=False)
    x = alt.X("latency:Q", title="latency, µs", scale=alt.Scale(type="log", nice=False), axis=axis)
    base = alt.Chart(data).encode(x=x)
    lines = base.mark_line(interpolate="step-after").encode(
        y=alt.Y("share:Q", title="calls that take no longer, %", scale=alt.Scale(domain=[0, 100])),
        color=colour("traffic", order, "background"),
        tooltip=[
            "traffic",
            alt.Tooltip("latency:Q", title="µs", format=".2f"),
            alt.Tooltip("share:Q", title="%", format=".1f"),
        ],
    )
    caption = (
        f"The share of the calls of all processes that take no longer, over the time that they take.{_background(rows)}"
        " Dashed: the points that the paper states."
    )
    return Figure(f"distribution-{word}", title, "", caption, layered(title, [lines, *_stated(operation, ends[0])]))


def _cumulative(rows: pl.DataFrame, left: float, right: float) -> pl.DataFrame:
    """A distribution as steps between two ends, few enough to be drawn; calls of all seeds count alike."""
    bins = rows.group_by("traffic", "latency").agg(pl.col("count").sum()).sort("latency")
    steps = bins.with_columns(share=100 * pl.col("count").cum_sum() / pl.col("count").sum())
    step = (pl.col("share") * STEPS / 100).floor()
    kept = steps.filter((step != step.shift(1)).fill_null(True) | (pl.col("latency") == pl.col("latency").max()))
    ends = pl.DataFrame({"traffic": [rows["traffic"][0]] * 2, "latency": [left, right], "share": [0.0, 100.0]})
    return pl.concat([ends, kept.select("traffic", "latency", "share")]).sort("latency")


def _stated(operation: str, left: float) -> Layers:
    """The published points of a distribution: so many per cent of the calls take less than so long."""
    points = [
        {"latency": claim.value, "share": share, "left": left, "zero": 0.0, "text": f"{share:g}% < {claim.value:g} µs"}
        for claim in claims()
        if claim.metric.startswith("latency_p") and claim.value and ("operation", (operation,)) in claim.where
        for share in [float(claim.metric.removeprefix("latency_p"))]
    ]
    if not points:
        return []
    base = alt.Chart(pl.DataFrame(points)).encode(x="latency:Q", y="share:Q")
    rule = base.mark_rule(strokeDash=[6, 4], color=RULE, strokeWidth=1.5)
    down, across = rule.encode(y2="zero:Q"), rule.encode(x2="left:Q")
    words = base.mark_text(align="left", baseline="middle", dx=6, color=RULE)
    return [
        down,
        across,
        words.encode(y=alt.value(HEIGHT_OF_WORDS), text=alt.value("published")),
        words.encode(y=alt.value(HEIGHT_OF_WORDS + 14), text="text:N"),
    ]


HEIGHT_OF_WORDS = 250
"""Where the names of published points stand, in pixels from the top: below the curves."""


def broadcasts(rows: pl.DataFrame) -> Iterator[Figure]:
    """Bandwidth and latency over the message size, bandwidth over the number of nodes; the same with other traffic."""
    rows = _named(rows)
    size = pl.col("message_bytes")
    bandwidth, latency = (rows.filter(pl.col("metric") == metric) for metric in ("bandwidth", "latency"))
    for loaded in (False, True):
        name = "-loaded" if loaded else ""
        series = pl.col("series").is_in([f"latency{name}", f"bandwidth{name}"])
        idle = pl.col("series").is_in(["latency", "bandwidth"])
        sizes = bandwidth.filter(series & (size > 0))
        short = latency.filter(series & (size <= SHORT))
        # Without other traffic there are messages of the length of those with it, too, for comparison.
        nodes = bandwidth.filter(pl.col("series") == f"nodes{name}").filter(size == size.max())
        if not sizes.is_empty():
            yield _bandwidth(
                sizes, bandwidth.filter(idle & (size > 0)) if loaded else None, f"broadcast-bandwidth{name}"
            )
        if not short.is_empty():
            yield _latency(short, latency.filter(idle) if loaded else None, f"broadcast-latency{name}")
        if not nodes.is_empty():
            same = (pl.col("series") == "nodes") & (size == nodes["message_bytes"][0])
            yield _scalability(nodes, bandwidth.filter(same) if loaded else None, f"broadcast-nodes{name}")


def _among(rows: pl.DataFrame) -> str:
    """The other traffic of some rows, as a title ends with it."""
    patterns = rows["background.pattern"].drop_nulls().unique(maintain_order=True).to_list()
    return f", with {' and '.join(patterns)} traffic" if patterns else ""


def _bandwidth(rows: pl.DataFrame, alone: pl.DataFrame | None, name: str) -> Figure:
    title = f"Broadcast, {rows['nodes'][0]} nodes: bandwidth{_among(rows)}"
    data = _over_sizes(rows)
    x = size_axis("message_bytes", "message size", data["message_bytes"].to_list())
    layers = curves(data, "curve", LEGEND, x, "bandwidth, MB/s")
    caption = f"Size of the message over the mean time of a call, which begins with a barrier. {BARS}"
    if alone is None:
        layers += [*published("broadcast.elan.bandwidth", label="Elan memory")]
        layers += [*published("broadcast.main.bandwidth", label="main memory")]
        caption += " Dashed: the asymptotes that the paper states."
    else:
        layers += _without(_over_sizes(alone), data, "message_bytes")
        caption += f" Dashed: without other traffic.{_background(rows)}"
    return Figure(name, title, "", caption, layered(title, layers))


def _latency(rows: pl.DataFrame, alone: pl.DataFrame | None, name: str) -> Figure:
    title = f"Broadcast, {rows['nodes'][0]} nodes: latency of short messages{_among(rows)}"
    data = _over_sizes(rows)
    sizes = data["message_bytes"].unique().sort().to_list()
    marks = [size for size in sizes if size == 0 or size in MARKS]
    axis = alt.Axis(values=marks, labelExpr=BYTES, labelAngle=0)
    x = alt.X("message_bytes:O", sort=sizes, title="message size", axis=axis)
    layers = curves(data, "curve", LEGEND, x, "latency, µs", unit="µs")
    caption = f"Mean time of a call, which begins with a barrier. {BARS}"
    if alone is None:
        layers += published("broadcast.hardware.latency.256B", label="to 256 B, hw")
        caption += " Dashed: what the paper gives as the most for hardware, Elan memory, up to 256 bytes."
    else:
        layers += _without(_over_sizes(alone).filter(pl.col("message_bytes").is_in(sizes)), data, "message_bytes", "O")
        caption += f" Dashed: without other traffic.{_background(rows)}"
    return Figure(name, title, "", caption, layered(title, layers))


def _scalability(rows: pl.DataFrame, alone: pl.DataFrame | None, name: str) -> Figure:
    title = f"Broadcast of {rows['message'][0]}: bandwidth by number of nodes{_among(rows)}"
    data = _over_nodes(rows)
    layers = curves(data, "curve", LEGEND, _nodes(rows), "bandwidth, MB/s")
    caption = (
        f"Size of the message over the mean time of a call. {BARS} Up to 4 nodes share a switch, up to 16 are below"
        " switches of the second level, more below those of the third."
    )
    if alone is not None:
        layers += _without(_over_nodes(alone), data, "nodes")
        dashed = " Dashed: without other traffic." if len(alone) else ""
        caption += f"{dashed}{_background(rows)}"
    return Figure(name, title, "", caption, layered(title, layers))


def predictions(rows: pl.DataFrame) -> Iterator[Figure]:
    """Barriers and broadcasts on larger trees than anybody has published figures of."""
    rows = _named(rows)
    for series, metric, unit, what in (
        ("barrier", "latency", "µs", "latency of barriers"),
        ("broadcast", "bandwidth", "MB/s", "bandwidth of broadcasts"),
    ):
        here = rows.filter((pl.col("series") == series) & (pl.col("metric") == metric))
        if here.is_empty():
            continue
        most = here["nodes"].sort()[-1]
        title = f"Prediction: {what} on up to {most:,} nodes"
        layers = curves(_over_nodes(here), "curve", LEGEND, _nodes(here), f"{metric}, {unit}", unit=unit)
        caption = (
            "A prediction: nothing is published of more than 64 nodes. Trees of the same switches, links and adapters"
        )
        caption += f", with {most:,} nodes; a group uses no more of the tree than it needs."
        if metric == "bandwidth":
            caption += f" Messages of {here['message'][0]}."
        yield Figure(f"prediction-{series}", title, "", caption, layered(title, layers))


def _over_nodes(rows: pl.DataFrame) -> pl.DataFrame:
    return summarise(rows, ["curve", "nodes"])


def _over_sizes(rows: pl.DataFrame) -> pl.DataFrame:
    return summarise(rows, ["curve", "message_bytes"])


def _nodes(rows: pl.DataFrame) -> alt.X:
    """A logarithmic axis of numbers of nodes."""
    marks: Sequence[int] = rows["nodes"].unique().sort().to_list()
    scale = alt.Scale(type="log", base=2, domain=[marks[0], marks[-1]], nice=False)
    return alt.X("nodes:Q", title="nodes", scale=scale, axis=alt.Axis(values=marks, format=",d", grid=False))


def _without(alone: pl.DataFrame, data: pl.DataFrame, x: str, kind: str = "Q") -> Layers:
    """The same curves without other traffic, dashed, as far as those with it go."""
    order = data["curve"].unique(maintain_order=True).to_list()
    low, high = data[x].min(), data[x].max()
    same = alone.filter(pl.col("curve").is_in(order) & pl.col(x).is_between(low, high))
    base = alt.Chart(same).mark_line(strokeDash=[4, 3], strokeWidth=1.2)
    return [base.encode(x=f"{x}:{kind}", y="mean:Q", color=colour("curve", order, LEGEND))] if len(same) else []
