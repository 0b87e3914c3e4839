"""Flows, and links that programs share, on an experiment's page with programs side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from elanite.base.text import counted, number
from elanite.figures import flows
from elanite.mpirun.summary import size
from elanite.report.pages.curves import PROGRAMS, label_of
from elanite.report.pages.frame import Section, Table
from elanite.store import empty

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from elanite.figures import Figure
    from elanite.inputs.plan import Point
    from elanite.store import Store

FLOWS = "fct_"
"""The prefix of flow metrics."""

MOST_FLOWS, MOST_LINKS = 10, 12
"""Rows in the tables for flows and shared links."""

MOST_POINTS = 6
"""Points with a shared-link table."""

MOST_SAID = 6
"""Sentences on flows."""


def sections(points: Sequence[Point], store: Store, columns: Sequence[str]) -> list[Section]:
    """All points' flows, and the links that programs share in each; empty without programs side by side."""
    found = []
    every = _every(points, store, columns)
    if not every.is_empty():
        found.append(Section("Flows", figures=list(flows.draw(every)), tables=[_slowest(every)]))
    own = [point for point in points if point.kind == PROGRAMS]
    shared = list(shared_links(own, store, columns))
    if shared:
        found.append(Section("Shared links", tables=shared))
    return found


def figures(points: Sequence[Point], store: Store, columns: Sequence[str]) -> list[Figure]:
    """The figures for all points' flows."""
    every = _every(points, store, columns)
    return [] if every.is_empty() else list(flows.draw(every))


def findings(points: Sequence[Point], store: Store, columns: Sequence[str]) -> list[str]:
    """A sentence on each flow list's completion times in each configuration."""
    said = []
    for (label,), here in _every(points, store, columns).drop_nulls("slowdown").group_by("label", maintain_order=True):
        parts = [f"{name} {number(flows.rank(here['slowdown'], rank))}" for name, rank in flows.PER_MILLE.items()]
        said.append(f"FCT slowdown of {counted(len(here), 'flow')} ({label}): {', '.join(parts)}.")
    return said[:MOST_SAID]


def _every(points: Sequence[Point], store: Store, columns: Sequence[str]) -> pl.DataFrame:
    """All points' flows, each with its configuration as ``label``."""
    own = [point for point in points if point.kind == PROGRAMS]
    tables = [table for point in own if not (table := _flows(point, store, columns)).is_empty()]
    return pl.concat(tables, how="vertical_relaxed") if tables else empty("flows").with_columns(label=pl.lit(""))


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
    return table.with_columns(label=pl.concat_str(parts, separator=", "), seed=pl.lit(point.seed))


def _slowest(every: pl.DataFrame) -> Table:
    """The flows with the largest slowdown."""
    columns = ("flow", "from", "to", "size", "start, µs", "completion time, µs", "ideal, µs", "slowdown")
    last = every.drop_nulls("slowdown").sort("slowdown", "start_ps", "flow", descending=[True, False, False])
    rows = [
        (
            f"{row['label']}, {row['flow']}",
            f"node {row['source']}",
            f"node {row['destination']}",
            size(row["size"]),
            number(row["start_ps"] / 1e6),
            number(row["fct_ps"] / 1e6),
            number(row["ideal_ps"] / 1e6),
            number(row["slowdown"]),
        )
        for row in last.head(MOST_FLOWS).iter_rows(named=True)
    ]
    ended = every["fct_ps"].null_count()
    note = (
        "Flows count from 0, in the order of the file. Ideal: the same flow alone on the idle machine without faults."
    )
    if ended:
        note += f" Faults have ended {counted(ended, 'flow')}, which have no completion time."
    return Table(columns, rows, "Flows with the largest slowdown", right=columns[3:], note=note)


def shared(shares: pl.DataFrame, links: pl.DataFrame) -> pl.DataFrame:
    """The links that several programs use, sorted by the bytes of all but a link's largest program.

    Columns ``link``, ``from``, ``to``, ``waiting_ps`` and, for each program, its bytes.
    """
    own = shares.drop_nulls("job")
    used = own.group_by("link").agg(
        several=pl.col("job").n_unique() > 1, less=pl.col("bytes").sum() - pl.col("bytes").max()
    )
    wide = own.pivot("job", index=["link", "from", "to"], values="bytes").fill_null(0)
    waits = links.select("link", "waiting_ps")
    found = wide.join(used, on="link").filter("several").join(waits, on="link", how="left")
    return found.sort("less", "link", descending=[True, False]).drop("several", "less")


def shared_links(points: Sequence[Point], store: Store, columns: Sequence[str]) -> Iterator[Table]:
    """The links that programs share in each point, with each program's bytes."""
    for point in points[:MOST_POINTS]:
        shares = store.table(point.id, "shares")
        found = shared(shares, store.table(point.id, "links"))
        if found.is_empty():
            continue
        programs = [name for name in found.columns if name not in ("link", "from", "to", "waiting_ps")]
        rows = [
            (
                f"{row['from']} → {row['to']}",
                *(size(row[name]) if row[name] else "" for name in programs),
                number((row["waiting_ps"] or 0) / 1e6),
            )
            for row in found.head(MOST_LINKS).iter_rows(named=True)
        ]
        own = _label(point, columns)
        names = ("link", *programs, "waits, µs")
        note = "Bytes of packets, with headers. Waits: sum over all packets that waited for the link."
        if len(found) > len(rows):
            note += (
                f" {len(rows)} of {counted(len(found), 'shared link')}, by the bytes of all but the largest program."
            )
        caption = f"Links that programs share{f': {own}' if own else ''}"
        yield Table(names, rows, caption, right=names[1:], note=note)
