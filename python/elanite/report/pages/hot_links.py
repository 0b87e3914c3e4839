"""An experiment's hottest links, and the jobs with packets on them.

A link is hotter the longer packets waited for it in the measured window; among links without waits,
the busier one. Links from nodes count with their busy time only: the packets that wait for them are
an adapter's backlog (``elanite.results.congestion``).

The *shares* of flows, traces and jobs side by side are counted as they run. Jobs alone are not
counted apart: their shares come from a second run for the point with the hottest link, which
records the circuits of the measured window's first packets: the run is deterministic, so these are
the point's own packets. A share is the part of the link's flits that came from a job's nodes.
Several jobs' nodes cannot be distinguished, and a point with such nodes has no shares; nor has a
long run. Nodes without a job are servers, which send what jobs read.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from elanite import _core
from elanite.base.text import counted, number, part
from elanite.base.units import stated
from elanite.errors import RunError
from elanite.mpirun.summary import named
from elanite.report.pages.curves import label_of, loadless
from elanite.report.pages.frame import PageTable
from elanite.report.pages.traffic import HOTTEST
from elanite.report.pages.wording import some_of
from elanite.results.congestion import NAMED, waits, window
from elanite.store import frame

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from elanite.inputs.plan import Point
    from elanite.store import Store

MOST_LINKS = 10
"""Links in the table."""

MOST_OPEN = 12
"""Configurations up to which their table is open."""

MOST_SECONDS = 10.0
"""Processor time in seconds up to which a point is run again for its jobs' shares."""

MOST_PACKETS = 100_000
"""The approximate count of packets with recorded circuits for the shares."""


SERVERS = ""
"""The name for nodes without a job, among jobs."""


@dataclass(frozen=True)
class Hottest:
    """One point's links that carried packets, the hottest first."""

    point: Point
    configuration: str
    """The point's configuration, among the experiment's."""
    curve: str
    """The configuration without its loads."""
    label: str
    """The configuration, and the seed if the experiment has several."""
    links: pl.DataFrame
    """``link``, ``name``, ``packets``, ``busy`` (fraction of the measured window), ``waiting_us``
    (0 for links from nodes), ``from_node``.
    """


@dataclass(frozen=True)
class Shares:
    """The jobs on a point's links."""

    jobs: tuple[str, ...]
    links: dict[int, dict[str, float]]
    """For each link the fraction of its flits that each job sent."""
    recorded_us: float
    """The recorded time, from the measured window's start on."""
    whole: bool
    """Whether this is the whole window."""


def hottest(points: Sequence[Point], store: Store, columns: Sequence[str]) -> list[Hottest]:
    """Each point's hottest links, in point order; ``columns`` distinguish configurations."""
    found = []
    seeds = len({point.seed for point in points})
    for point in points:
        counted = store.table(point.id, "links")
        if counted.is_empty():
            continue
        begin, end = window(point, store)
        length = (end - begin) * 1e6
        links = (
            named(waits(point.json, counted), point.json)
            .select(
                "link",
                name=NAMED,
                waiting_us=pl.col("waiting_us").fill_null(0.0),
                from_node=pl.col("waiting_us").is_null(),
            )
            .join(
                counted.select("link", "packets", "flits", "busy_ps"),
                on="link",
                how="inner",
                maintain_order="left",
            )
            .filter(pl.col("packets") > 0)
            .with_columns(busy=pl.col("busy_ps") / length if length > 0 else pl.lit(0.0))
            .sort("waiting_us", "busy", "link", descending=[True, True, False])
        )
        if not links.is_empty():
            about = {"series": point.series} | point.parameters
            configuration = label_of(about, columns)
            curve = label_of(about, loadless(columns))
            label = with_seed(configuration, point, seeds)
            found.append(Hottest(point, configuration, curve, label, links))
    return found


def with_seed(configuration: str, point: Point, seeds: int) -> str:
    """The label for a point in an experiment with some seeds."""
    return ", ".join(
        one for one in (configuration, f"seed {point.seed}" if seeds > 1 else "") if one
    )


def heat(one: Hottest) -> tuple[float, float]:
    """The point order: the waits for their hottest link in µs, then the window's busy fraction."""
    link = one.links.row(0, named=True)
    return float(link["waiting_us"]), float(link["busy"])


def first(found: Sequence[Hottest]) -> Hottest | None:
    """The point with the hottest link over all points and seeds."""
    return max(found, key=heat, default=None)


def shares(point: Point, store: Store) -> Shares | None:
    """The jobs' shares on a point's links; `None` where they are not known.

    Programs side by side are counted apart as they run. For jobs alone, the shares come from a
    second run.
    """
    counted_apart = store.table(point.id, "shares").drop_nulls("job")
    if not counted_apart.is_empty():
        return _counted(counted_apart)
    nodes = store.table(point.id, "nodes")
    jobs = tuple(nodes["job"].unique(maintain_order=True).to_list()) if not nodes.is_empty() else ()
    manifest = store.get(point.id)
    if (
        manifest is None
        or manifest.cpu_seconds > MOST_SECONDS
        or point.kind != "jobs"
        or len(jobs) < 2
    ):
        return None
    if nodes["node"].n_unique() != len(nodes):
        return None
    content = json.loads(point.json)
    window = manifest.data["simulated_ps"] / 1e6 - stated(content["run"]["warm_up"], "us")
    recorded = min(window, window * MOST_PACKETS / max(manifest.data["packets"], 1))
    content["run"]["watch"] = f"{round(recorded * 1e6)} ps"
    try:
        records = _core.simulate(json.dumps(content), _core.Cancel())
    except RunError:  # the recording needs more memory than the run may take
        return None
    if not frame(records["tables"]["links"]).equals(store.table(point.id, "links")):
        return None  # another build computed the point
    circuits = frame(records["tables"]["circuits"])
    owners = nodes.select(source="node", job="job")
    flits = (
        circuits.join(owners, on="source", how="left")
        .with_columns(pl.col("job").fill_null(SERVERS))
        .group_by("link", "job")
        .agg(pl.col("flits").cast(pl.Float64).sum())
        .sort("link", "job")
    )
    found: dict[int, dict[str, float]] = {}
    jobs += (SERVERS,) if SERVERS in flits["job"] else ()
    for link, job, count in flits.iter_rows():
        found.setdefault(link, dict.fromkeys(jobs, 0.0))[job] = count
    parts = {
        link: {job: count / sum(of.values()) for job, count in of.items()}
        for link, of in found.items()
    }
    return Shares(jobs, parts, recorded, recorded >= window)


def _counted(table: pl.DataFrame) -> Shares | None:
    """The shares from a run that has counted them; `None` if one program alone has run."""
    jobs = tuple(table["job"].unique(maintain_order=True).to_list())
    if len(jobs) < 2:
        return None
    parts: dict[int, dict[str, float]] = {}
    whole = table.with_columns(part=pl.col("flits") / pl.col("flits").sum().over("link"))
    for link, job, share in whole.select("link", "job", "part").iter_rows():
        parts.setdefault(link, dict.fromkeys(jobs, 0.0))[job] = share
    return Shares(jobs, parts, 0.0, whole=True)


def sentence(one: Hottest, found: Sequence[Hottest], known: Shares | None) -> str:
    """The hottest link in a sentence, with the jobs' shares where they are known; ``found`` are all
    points.
    """
    link = one.links.row(0, named=True)
    alike = sum(_written(each) == _written(link) for each in one.links.iter_rows(named=True)) - 1
    equal = {
        each.configuration
        for each in found
        if _written(each.links.row(0, named=True)) == _written(link)
    }
    every, lines = (
        len({each.configuration for each in found}),
        len({each.curve for each in found}),
    )
    tied = f"as hot {some_of(len(equal), every, lines)}" if len(equal) > 1 else ""
    words = "; ".join(
        filter(None, [one.label, f"as {counted(alike, 'other link')}" if alike else "", tied])
    )
    where = f" ({words})" if words else ""
    share = f"{link['name']}{where}, busy {part(link['busy'], 1)} of the measured window"
    said = f"No packet waited at a switch. Busiest link: {share}"
    if link["waiting_us"]:
        said = f"{HOTTEST}: {share}; packets waited {number(link['waiting_us'])} µs for it in total"
    if known is not None and link["link"] in known.links:
        each = known.links[link["link"]]
        owners = (f"{_owner(job)} ({part(share)})" for job, share in each.items() if share)
        said += f"; its flits come from {', '.join(owners)}"
        said += "" if known.whole else f" in the first {number(known.recorded_us)} µs of the window"
    return f"{said}."


def _owner(job: str) -> str:
    """A share's senders in words."""
    return "servers" if job == SERVERS else f"job {job}"


def _written(link: Mapping[str, float]) -> str:
    """A link's heat as pages write it: its waits, or its load without any."""
    return number(link["waiting_us"]) if link["waiting_us"] else part(link["busy"], 1)


def tables(found: Sequence[Hottest], best: Hottest, known: Shares | None) -> list[PageTable]:
    """The hottest links at the point with the hottest link, and each configuration's hottest link
    in any seed.
    """
    jobs = known.jobs if known else ()
    columns = ("link", "busy", "packets", "waits, µs", *(f"flits of {_owner(job)}" for job in jobs))
    rows = []
    for link in best.links.head(MOST_LINKS).iter_rows(named=True):
        each = known.links.get(link["link"], {}) if known else {}
        parts = (part(each[job]) if job in each else "" for job in jobs)
        rows.append((*_cells(link), *parts))
    where = f": {best.label}" if best.label else ""
    note = (
        "Busy: share of the measured window. Waits: sum over all packets that waited for the link;"
        " waits for links from nodes are not counted."
    )
    if known and not known.whole:
        note += f" Jobs: in the first {number(known.recorded_us)} µs of the window."
    seeds = len({one.point.seed for one in found})
    if seeds > 1:
        note += " Of all points with all seeds, this one has the hottest link."
    made = [PageTable(columns, rows, f"Hottest links{where}", right=columns[1:], note=note)]
    hot: dict[str, Hottest] = {}
    for one in found:
        hot[one.configuration] = max(hot.get(one.configuration, one), one, key=heat)
    if len(hot) > 1:
        columns = (
            "configuration",
            *(("seed",) if seeds > 1 else ()),
            "hottest link",
            "busy",
            "packets",
            "waits, µs",
        )
        rows = []
        for one in hot.values():
            seed = (str(one.point.seed),) if seeds > 1 else ()
            rows.append((one.configuration, *seed, *_cells(one.links.row(0, named=True))))
        loads = len(hot) > len({one.curve for one in found})
        name = f"Hottest link of every configuration{' and load' if loads else ''}"
        note = "The hottest link with any of its seeds, and this seed." if seeds > 1 else ""
        made.append(
            PageTable(
                columns, rows, name, right=columns[-3:], note=note, folded=len(rows) > MOST_OPEN
            )
        )
    return made


def _cells(link: dict[str, object]) -> tuple[str, ...]:
    busy, packets, waits = link["busy"], link["packets"], link["waiting_us"]
    assert isinstance(busy, float)  # noqa: S101 - columns in ``Hottest.links``
    assert isinstance(packets, int)  # noqa: S101
    assert isinstance(waits, float)  # noqa: S101
    return (
        str(link["name"]),
        part(busy, 1),
        f"{packets:,}",
        "" if link["from_node"] else number(waits),
    )
