"""Flows, and links that programs share, on an experiment's page with programs side by side."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import polars as pl

from elanite.base.text import counted, number
from elanite.base.units import size_text
from elanite.figures import flows
from elanite.mpirun.summary import named, size
from elanite.report.pages.curves import PROGRAMS, label_of
from elanite.report.pages.frame import PageTable, Section
from elanite.results.congestion import parallel
from elanite.store import empty

if TYPE_CHECKING:
    from collections.abc import Sequence

    from elanite.figures import Figure
    from elanite.inputs.plan import Point
    from elanite.store import Store

JOBS = "jobs"
"""The kind of steady traffic without other programs."""

SLOWDOWN, SATURATED = "slowdown", "saturated"
"""The metrics of a program beside others, and of a job with growing queues."""

QUEUES = "its queues grow"
"""The remark on a slowdown at a saturated load."""

LENGTH = " Where queues grow, the slowdown depends on the length of the measured window."
"""The sentence on such slowdowns."""

FLOWS = "fct_"
"""The prefix of flow metrics."""

MOST_FLOWS, MOST_LINKS = 10, 12
"""Rows in the tables for flows and shared links."""

MOST_POINTS = 6
"""Points with a shared-link table."""

MOST_SAID = 6
"""Sentences on flow lists."""


def sections(points: Sequence[Point], store: Store, columns: Sequence[str]) -> list[Section]:
    """All points' flows, and the links that programs share in each; empty without programs side by
    side.
    """
    found = []
    every = _every(points, store, columns)
    if not every.is_empty():
        found.append(Section("Flows", figures=list(flows.draw(every)), tables=[_slowest(every)]))
    own = [point for point in points if _counted_apart(point)]
    shared, left = shared_links(own, store, columns)
    if shared:
        found.append(Section("Shared links", [left] if left else [], tables=shared))
    return found


def figures(points: Sequence[Point], store: Store, columns: Sequence[str]) -> list[Figure]:
    """The figures for all points' flows."""
    every = _every(points, store, columns)
    return [] if every.is_empty() else list(flows.draw(every))


def findings(points: Sequence[Point], store: Store, columns: Sequence[str]) -> list[str]:
    """A sentence on each flow list's completion times in each configuration; several seeds have
    means.
    """
    lists = (
        _every(points, store, columns)
        .drop_nulls("slowdown")
        .partition_by("label", maintain_order=True)
    )
    said = []
    for here in lists[:MOST_SAID]:
        parts = [f"{name} {number(slowdown)}" for name, slowdown in flows.percentiles(here).items()]
        means = " (means of the seeds)" if here["seed"].n_unique() > 1 else ""
        said.append(
            f"FCT slowdown of {flows.flow_count(here)} ({here['label'][0]}):"
            f" {', '.join(parts)}{means}."
        )
    if len(lists) > len(said):
        said.append(
            f"FCT slowdown: sentences for {len(said)} of {len(lists)} flow lists; the figures show"
            " all."
        )
    return said


def _every(points: Sequence[Point], store: Store, columns: Sequence[str]) -> pl.DataFrame:
    """All points' flows, each with its configuration as ``label``."""
    own = [point for point in points if point.kind == PROGRAMS]
    tables = [table for point in own if not (table := _flows(point, store, columns)).is_empty()]
    return (
        pl.concat(tables, how="vertical_relaxed")
        if tables
        else empty("flows").with_columns(label=pl.lit(""))
    )


def slowdowns(rows: pl.DataFrame, columns: Sequence[str]) -> list[str]:
    """A sentence on each program's largest slowdown beside the others; several seeds have means.

    ``rows`` are the measured values of an experiment's points.
    """
    own = rows.filter(pl.col("metric") == SLOWDOWN).drop_nulls("job")
    if own.is_empty():
        return []
    means = own.group_by(list(columns) or ["job"], maintain_order=True).agg(pl.col("value").mean())
    late = rows.filter((pl.col("metric") == SATURATED) & (pl.col("value") > 0.5))
    grown = {label_of(row, columns) for row in late.iter_rows(named=True)}
    worst = means.sort("value", descending=True, maintain_order=True).unique(
        "job", keep="first", maintain_order=True
    )
    where = [name for name in columns if name != "job"]
    parts = []
    for row in worst.head(MOST_SAID).iter_rows(named=True):
        more = [label_of(row, where), QUEUES if label_of(row, columns) in grown else ""]
        words = ", ".join(filter(None, more))
        parts.append(f"{row['job']} {number(row['value'])}{f' ({words})' if words else ''}")
    if len(worst) > len(parts):
        parts.append(f"{len(worst) - len(parts)} others less")
    length = LENGTH if any(QUEUES in part for part in parts) else ""
    return [f"Largest slowdown beside the other programs: {'; '.join(parts)}.{length}"]


def _counted_apart(point: Point) -> bool:
    """Whether a point has each program's share of the links."""
    if point.kind == JOBS:
        return bool(json.loads(point.json)["workload"][JOBS].get("alone"))
    return point.kind == PROGRAMS


def _label(point: Point, columns: Sequence[str]) -> str:
    """A point's configuration in words, without the job."""
    columns = [name for name in columns if name != "job"]
    return label_of({"series": point.series} | point.parameters, columns)


def _flows(point: Point, store: Store, columns: Sequence[str]) -> pl.DataFrame:
    """A point's flows, each with its configuration and its list as ``label``."""
    table = store.table(point.id, "flows")
    several = table["job"].n_unique() > 1
    own = _label(point, columns)
    parts = [pl.lit(own)] if own else []
    parts += [pl.col("job")] if several or not own else []
    ends = {
        name: pl.format("node {}", column)
        for name, column in (("from", "source"), ("to", "destination"))
    }
    label = pl.concat_str(parts, separator=", ")
    table = table.with_columns(label=label, seed=pl.lit(point.seed), **ends)
    return named(table, point.json)


def _slowest(every: pl.DataFrame) -> PageTable:
    """The flows with the largest slowdown, each with its seed if there are several."""
    seeds = every["seed"].n_unique() > 1
    columns = (
        "flow",
        *(["seed"] if seeds else []),
        "from",
        "to",
        "size",
        "start, µs",
        "completion time, µs",
        "ideal, µs",
        "slowdown",
    )
    last = every.drop_nulls("slowdown").sort(
        "slowdown", "start_ps", "flow", "seed", descending=[True, False, False, False]
    )
    rows = [
        (
            f"{row['label']}, {row['flow']}",
            *([str(row["seed"])] if seeds else []),
            row["from"],
            row["to"],
            size_text(row["size"]),
            number(row["start_ps"] / 1e6),
            number(row["fct_ps"] / 1e6),
            number(row["ideal_ps"] / 1e6),
            number(row["slowdown"]),
        )
        for row in last.head(MOST_FLOWS).iter_rows(named=True)
    ]
    ended = every["fct_ps"].null_count()
    note = (
        "Flows count from 0, in the order of the file. Ideal: the same flow alone on the idle"
        " machine without faults."
    )
    if ended:
        note += f" Faults have ended {counted(ended, 'flow')}, which have no completion time."
    return PageTable(
        columns,
        rows,
        "Flows with the largest slowdown",
        right=columns[columns.index("size") :],
        note=note,
    )


def shared(shares: pl.DataFrame, links: pl.DataFrame) -> pl.DataFrame:
    """The links that several programs use, sorted by the bytes of all but a link's largest program.

    Columns ``link``, ``from``, ``to``, ``waiting_ps`` (null for links from nodes, as in
    ``results.congestion``) and, for each program, its bytes.
    """
    own = shares.drop_nulls("job")
    used = own.group_by("link").agg(
        several=pl.col("job").n_unique() > 1, less=pl.col("bytes").sum() - pl.col("bytes").max()
    )
    wide = own.pivot("job", index=["link", "from", "to"], values="bytes").fill_null(0)
    from_node = (pl.col("level") == 0) & pl.col("up")
    waits = links.select("link", pl.when(~from_node).then("waiting_ps").alias("waiting_ps"))
    found = wide.join(used, on="link").filter("several").join(waits, on="link", how="left")
    return found.sort("less", "link", descending=[True, False]).drop("several", "less")


def shared_links(
    points: Sequence[Point], store: Store, columns: Sequence[str]
) -> tuple[list[PageTable], str]:
    """The links that programs share in some points, with each program's bytes, and a sentence on
    the other points.

    Each configuration's first seed comes before all further seeds.
    """
    seeds = len({point.seed for point in points}) > 1
    labels = [_label(point, columns) for point in points]
    order = sorted(
        range(len(points)), key=lambda place: (labels[:place].count(labels[place]), place)
    )
    found: dict[int, PageTable] = {}
    for seen, place in enumerate(order):
        if len(found) == MOST_POINTS:
            left = f"{len(found)} of {counted(len(points), 'point')}"
            without = (
                f"; {seen - len(found)} of the others have no shared link"
                if seen > len(found)
                else ""
            )
            return [found[place] for place in sorted(found)], f"Tables for {left}{without}."
        point = points[place]
        words = ", ".join(filter(None, [labels[place], f"seed {point.seed}" if seeds else ""]))
        table = _shared_links(point, store, words)
        if table:
            found[place] = table
    left = ""
    if len(found) < len(points):
        left = (
            f"Tables for {len(found)} of {counted(len(points), 'point')}; the others have no shared"
            " link."
        )
    return [found[place] for place in sorted(found)], left


def _shared_links(point: Point, store: Store, words: str) -> PageTable | None:
    """A point's links that programs share; ``words`` are its configuration."""
    found = shared(store.table(point.id, "shares"), store.table(point.id, "links"))
    if found.is_empty():
        return None
    found, apart = named(found, point.json), parallel(point.json)
    programs = [name for name in found.columns if name not in ("link", "from", "to", "waiting_ps")]
    rows = [
        (
            apart.get(row["link"], f"{row['from']} → {row['to']}"),
            *(size(row[name]) if row[name] else "" for name in programs),
            "" if row["waiting_ps"] is None else number(row["waiting_ps"] / 1e6),
        )
        for row in found.head(MOST_LINKS).iter_rows(named=True)
    ]
    names = ("link", *programs, "waits, µs")
    note = (
        "Bytes of packets, with headers. Waits: sum over all packets that waited for the link;"
        " those in a node, before its own link, are not counted."
    )
    if len(found) > len(rows):
        note += (
            f" {len(rows)} of {counted(len(found), 'shared link')}, by the bytes of all but the"
            " largest program."
        )
    caption = f"Links that programs share{f': {words}' if words else ''}"
    return PageTable(names, rows, caption, right=names[1:], note=note)
