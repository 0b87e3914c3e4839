"""Petrini2003's figures 19 and 20: a job that computes beside a job that does I/O."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

import altair as alt
import polars as pl

from elanite.base.rows import rows as rows_of
from elanite.figures import axes, grouping, published_values
from elanite.figures.curves import ends, loads, of_loads, signs
from elanite.figures.style import (
    DASH_DASH_DOT,
    DASHED,
    FORMAT,
    HOT,
    Figure,
    colour,
    layered,
    shipped_lines,
)
from elanite.results.numbers import Number, at_least, averaged, ratio
from elanite.validation.claims import claims
from elanite.validation.measures.rows import compute, of_jobs

if TYPE_CHECKING:
    from collections.abc import Iterator


IO_NODES = ("shared", "dedicated")

LIGHT = "light-"
"""The name prefix of a series with the compute job's lower loads."""

MAPPINGS = {"1c": "clustered 1c", "1i": "clustered 1i", "distributed": "distributed"}
"""The paper's names: 1c has the compute job on the machine's first half, 1i the I/O job."""

UNDISTURBED = 0.95
"""A job that keeps this fraction of its bandwidth does not suffer from another (petrini2003 s5.7
gives no figure).
"""

STATES = {True: "undisturbed", False: "suffers", None: "not resolved"}


def draw(rows: pl.DataFrame) -> Iterator[Figure]:
    """The compute job's accepted over offered load for each I/O load, and its bandwidth at
    saturation.
    """
    loads = [name for name in rows.columns if name.split(".")[-1] in ("load", "load_MBps")]
    yield from grouping.part_figures(rows, ("job", "nodes", "compute.nodes", *loads), _draw)


def _draw(rows: pl.DataFrame) -> Iterator[Figure]:
    rows = of_jobs(rows).with_columns(pl.col("series").str.strip_prefix(LIGHT))
    beside = rows.filter(pl.col("io.load_MBps").is_not_null()).with_columns(
        io_nodes=pl.col("series").str.split("-").list.first(),
        mapping=pl.col("series").str.split("-").list.last().replace(MAPPINGS),
    )
    alone = rows.filter((pl.col("series") == "alone") & (pl.col("job") == "compute"))
    letters = iter("abcdef")
    every = beside.filter(pl.col("job") == "compute")
    to = None
    if len(every):
        right, top = ends(
            of_loads(every, ["io.load_MBps", "io_nodes", "mapping", "compute.load_MBps"])
        )
        others = of_loads(alone, ["nodes", "load_MBps"])["mean"].to_list() if len(alone) else []
        stated = published_values.drawn(published_values.of_claims(every, "combined.alone"))
        to = right, max([top, *others, *(axes.HEADROOM * value for value in stated)])
    for io_load in beside["io.load_MBps"].unique().sort().to_list():
        for io_nodes in IO_NODES:
            here = beside.filter(
                (pl.col("io.load_MBps") == io_load) & (pl.col("io_nodes") == io_nodes)
            )
            letter = next(letters, "")
            if not here.is_empty():
                yield _load(here, alone, (letter, io_load, io_nodes), to)
    if found := kept(rows):
        yield _summary(found, beside)


def fraction(io_load: float) -> str:
    """An I/O client's load as in the paper: a fraction of the asymptotic rate that a node can
    inject.
    """
    (most,) = (claim.value for claim in claims() if claim.id == "ping.bi.elan.bandwidth")
    return f"{io_load / (most or 1.0):.1f} ({io_load:g} MB/s)"


def _load(
    beside: pl.DataFrame,
    alone: pl.DataFrame,
    panel: tuple[str, float, str],
    to: tuple[float, float] | None,
) -> Figure:
    letter, io_load, io_nodes = panel
    title = f"Combined traffic: {io_nodes} I/O nodes, I/O load {fraction(io_load)}"
    compute = beside.filter(pl.col("job") == "compute").with_columns(
        load=pl.col("compute.load_MBps")
    )
    data = of_loads(compute, ["mapping", "load"])
    places = compute.select("mapping", nodes="compute.nodes").unique(maintain_order=True)
    top = to or ends(data)
    same = alone.with_columns(load=pl.col("load_MBps")).join(
        places, on="nodes", maintain_order="right"
    )
    caption = (
        "Accepted against offered load of the compute job: solid beside the I/O job, dashed alone"
        f" on the same nodes. {signs(data, top[1], 'mapping')} 1c: the compute job is on the first"
        " half of the machine, away from clustered I/O nodes; 1i: it is on the second half. Long"
        " dashes: the paper's figure for the compute job alone. The I/O load is that of each I/O"
        f" client, as a fraction of the 280 MB/s that a node can inject. {_io_words(_io(beside))}"
    )
    layers = loads(data, "mapping", "I/O nodes", "MB/s per node", to=top)
    if not same.is_empty():
        order = data["mapping"].unique(maintain_order=True).to_list()
        layers.append(_compute_alone(of_loads(same, ["mapping", "load"]), order))
    layers += published_values.layers(
        published_values.of_claims(beside, "combined.alone"), axes.rounded((0.0, top[1]))
    )
    return Figure(f"19{letter}", title, f"figure 19 {letter}", caption, layered(title, layers))


def _compute_alone(data: pl.DataFrame, order: list[str]) -> alt.Chart:
    """The compute job alone, in the colours for mappings with the same nodes."""
    base: alt.Chart = alt.Chart(data).mark_line(strokeDash=DASHED, strokeWidth=1.2)
    chart = base.encode(
        x=alt.X("offered:Q"), y=alt.Y("mean:Q"), color=colour("mapping", order, "I/O nodes")
    )
    return shipped_lines(chart, data, DASH_DASH_DOT, DASHED)


Server = TypedDict(
    "Server", {"mapping": str, "io.load_MBps": float, "mean": float, "offered": float, "state": str}
)
"""An I/O node's load."""


def _io(beside: pl.DataFrame) -> list[Server]:
    """Each I/O node's accepted load at the compute job's highest load, for each I/O load and
    mapping.
    """
    rows = beside.filter(
        (pl.col("job") == "io") & (pl.col("compute.load_MBps") == pl.col("compute.load_MBps").max())
    )
    if "server_accepted" not in rows["metric"]:
        return []
    keys = ["io.load_MBps", "io_nodes", "mapping"]
    found = of_loads(rows, keys, "server_accepted", "server_offered")
    return rows_of(found.sort(keys[0], maintain_order=True), Server)


def _io_words(found: list[Server]) -> str:
    """The I/O job at one load, for each mapping."""
    if not found:
        return ""
    words = [
        f"{row['mapping']} {row['mean']:.0f} of {row['offered']:.0f}"
        + ("" if row["state"] == "steady" else f", {row['state']}")
        for row in found
    ]
    return f"Of what is offered to it, in MB/s, an I/O node gets: {'; '.join(words)}."


def _io_summary(found: list[Server]) -> str:
    """The I/O jobs at all loads, over the mappings."""
    words = []
    for io_load in dict.fromkeys(row["io.load_MBps"] for row in found):
        here = [row for row in found if row["io.load_MBps"] == io_load]
        got = sorted(row["mean"] for row in here)
        saturated, undecided = (
            sum(row["state"] == state for row in here) for state in ("saturated", "undecided")
        )
        said = (
            "none"
            if not saturated
            else "all"
            if saturated == len(here)
            else f"{saturated} of {len(here)}"
        )
        rest = f", {undecided} undecided" if undecided else ""
        words.append(
            f"{got[0]:.0f} to {got[-1]:.0f} MB/s at {fraction(io_load)}, {said} saturated{rest}"
        )
    if not words:
        return ""
    return (
        f" An I/O node gets, over the mappings: {'; '.join(words)}. Where the I/O job is saturated,"
        " more load makes no more traffic."
    )


def _summary(found: list[KeptBandwidth], beside: pl.DataFrame) -> Figure:
    title = "Combined traffic: where the compute job suffers"
    names = {
        f"{io_nodes}-{short}": f"{io_nodes}, {name}"
        for io_nodes in IO_NODES
        for short, name in MAPPINGS.items()
    }
    data = pl.DataFrame(
        [
            {
                "mapping": names.get(one.series, one.series),
                "io_load": fraction(one.io_load),
                "order": one.io_load,
                "kept": one.kept.mean,
                "text": (
                    f"{100 * one.kept.mean:.1f}"
                    + ("%" if one.few else f" ± {100 * one.kept.half:.1f}%")
                ),
                "state": STATES[one.undisturbed],
                "beside": one.beside.mean,
                "alone": one.alone.mean,
            }
            for one in found
        ]
    ).sort("order", maintain_order=True)
    base = alt.Chart(data).encode(
        x=alt.X(
            "io_load:O",
            sort=data["io_load"].unique(maintain_order=True).to_list(),
            title="I/O load of each node, of what it can inject",
            axis=alt.Axis(labelAngle=0),
        ),
        y=alt.Y(
            "mapping:O",
            sort=list(names.values()),
            title="I/O nodes, mapping of the jobs",
            axis=alt.Axis(labelLimit=0),
        ),
        tooltip=[
            alt.Tooltip("mapping"),
            alt.Tooltip("io_load:O", title="I/O load"),
            alt.Tooltip("text:N", title="kept"),
            alt.Tooltip("state"),
            alt.Tooltip("beside:Q", title="beside the I/O job, MB/s", format=FORMAT),
            alt.Tooltip("alone:Q", title="alone, MB/s", format=FORMAT),
        ],
    )
    blocks = base.mark_rect(stroke="white").encode(
        color=alt.Color(
            "kept:Q",
            title="bandwidth kept",
            scale=alt.Scale(
                domain=[0.5, 1.0], range=[HOT, "#ffffff"], interpolate="rgb", clamp=True
            ),
            legend=alt.Legend(format="%", direction="horizontal"),
        )
    )
    suffers = f"datum.state == '{STATES[False]}'"
    look = alt.condition(suffers, alt.value(1.0), alt.value(0.65))
    figures = base.mark_text(fontSize=13, dy=-8, color="black").encode(
        text=alt.Text("text:N"), opacity=look
    )
    states = base.mark_text(fontSize=11, dy=9, color="black").encode(
        text=alt.Text("state:N"), opacity=look
    )
    caption = (
        "The fraction of its bandwidth alone on the same nodes that the compute job keeps at its"
        " highest load, with half of its 95% confidence interval. The job suffers if the whole"
        f" interval is below {UNDISTURBED:.0%}, and is undisturbed if the whole interval is above;"
        " otherwise the case is not resolved. The claims are about 0.1 and the load that the I/O"
        " nodes of table 1 carry." + _io_summary(_io(beside))
    )
    return Figure("20", title, "figure 20", caption, layered(title, [blocks, figures, states]))


class KeptBandwidth:
    """The bandwidth that the compute job keeps at its highest load, beside an I/O job at one
    load.
    """

    def __init__(self, series: str, io_load: float, beside: Number, alone: Number) -> None:
        self.series = series
        self.io_load = io_load
        """The I/O job's load, in MB/s for each node."""
        self.beside = beside
        self.alone = alone
        """The same job on the same nodes without an I/O job."""
        self.kept = ratio(beside, alone)
        self.few = beside.few or alone.few
        """Whether the interval is not known."""

    @property
    def undisturbed(self) -> bool | None:
        """Whether the job keeps (nearly) all its bandwidth; `None` if the interval is too wide or
        not known.
        """
        return None if self.few else at_least(self.kept, UNDISTURBED)


def kept(rows: pl.DataFrame) -> list[KeptBandwidth]:
    """The bandwidth that the compute job keeps, by series and I/O load; cases without a run alone
    are left out.
    """
    rows = compute(rows).filter(pl.col("metric") == "accepted")
    groups = rows.group_by("series", "compute_nodes", "io_load", maintain_order=True)
    found = {key: averaged(group) for key, group in groups}
    alone = {nodes: figure for (_, nodes, io_load), figure in found.items() if io_load is None}
    return [
        KeptBandwidth(str(series), float(io_load), figure, alone[nodes])
        for (series, nodes, io_load), figure in found.items()
        if isinstance(io_load, float) and nodes in alone
    ]
