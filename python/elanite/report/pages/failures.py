"""Failure counters: packets that were refused or lost and sent again, and messages that ended with
an error.

Packet counters belong to the network, message counters to jobs. A figure is the mean over a
configuration's seeds, summed over its jobs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from elanite.base.text import counted, number
from elanite.base.units import stated
from elanite.report.pages.curves import label_of, loadless
from elanite.report.pages.frame import PageTable
from elanite.report.pages.wording import some_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from elanite.inputs.plan import Point
    from elanite.store import Store

METRICS = {
    "packets_unreachable": "refused without a living link",
    "packets_corrupted": "corrupted",
    "packets_timed_out": "timed out",
    "packets_resent": "sent again",
    "packets_repeated": "repeated",
    "given_up": "given up",
    "failed": "messages with an error",
}
"""The counters, and their names for people."""

REASONS = ("packets_unreachable", "packets_corrupted", "packets_timed_out")
"""The reasons for which packets are sent again."""


def failures(rows: pl.DataFrame, columns: Sequence[str]) -> tuple[list[str], list[PageTable]]:
    """The finding and the table for tidy rows with failures; ``columns`` distinguish their
    configurations.
    """
    here = rows.filter(pl.col("metric").is_in(list(METRICS)))
    if here.is_empty():
        return [], []
    names = [name for name in columns if name != "job"]
    keys = list(dict.fromkeys(["series", *names]))
    runs = here.group_by([*keys, "id", "metric"], maintain_order=True).agg(pl.col("value").sum())
    found: dict[str, dict[str, float]] = {}
    curves = set()
    for row in (
        runs.group_by([*keys, "metric"], maintain_order=True)
        .agg(pl.col("value").mean())
        .iter_rows(named=True)
    ):
        found.setdefault(label_of(row, names) or "all", {})[row["metric"]] = row["value"]
        curves.add(label_of(row, loadless(names)))
    shown = [name for name in METRICS if any(name in one for one in found.values())]
    lines = [
        (label, *(number(one[name]) if name in one else "" for name in shown))
        for label, one in found.items()
    ]
    heads = [METRICS[name] for name in shown]
    note = (
        "Packets, and in the last column messages, in the measured window of a run; means over"
        " seeds."
    )
    seeds = here["seed"].n_unique()
    resent = runs.filter(pl.col("metric") == "packets_resent")["value"].max()
    most = float(resent) if isinstance(resent, int | float) else 0.0
    table = PageTable(
        ("configuration", *heads),
        lines,
        "Packets refused, lost and sent again",
        right=heads,
        note=note,
    )
    return [_sentence(found, len(curves), seeds, most)], [table]


def rails(points: Sequence[Point], store: Store) -> list[str]:
    """A sentence on each rail that a series lets fail (``failure``).

    The other rails carry its messages: there are no counters of refused and resent packets.
    """
    found: dict[tuple[str, str, str], list[bool]] = {}
    for point in points:
        if failure := point.failure:
            faults = store.table(point.id, "faults").filter(pl.col("fault").is_null())
            key = (point.series, f"rail {failure['rail']}", number(stated(failure["at"], "us")))
            found.setdefault(key, []).append(not faults.is_empty())
    several = len({point.series for point in points}) > 1
    said = []
    for (series, rail, at), down in found.items():
        if not any(down):
            where = f"in the points of {series}, " if several else ""
            said.append(f"Failures: {where}{rail} has not failed: the runs end before {at} µs.")
            continue
        of = f"{sum(down)} of {counted(len(down), 'point')}{f' of {series}' if several else ''}"
        said.append(
            f"Failures: {rail} is down from {at} µs to the end in {of}; lost packets are not"
            " counted."
        )
    return said


def _sentence(
    found: Mapping[str, Mapping[str, float]], curves: int, seeds: int, most: float
) -> str:
    """The configuration that sends most packets again; ``curves`` are the configurations without
    their loads, and ``most`` belongs to the run that sends most again.
    """
    if not any(value for one in found.values() for value in one.values()):
        return "Failures: no packet was refused or lost."
    label, worst = max(
        found.items(), key=lambda one: (one[1].get("packets_resent", 0.0), sum(one[1].values()))
    )
    shown = ("packets_resent", *REASONS)
    equal = sum(all(one.get(name) == worst.get(name) for name in shown) for one in found.values())
    tied = f"; as many {some_of(equal, len(found), curves)}" if equal > 1 else ""
    where = f" ({label}{tied})" if len(found) > 1 else ""
    bound = "at most " if len(found) > 1 else ""
    why = [f"{number(worst[name])} {METRICS[name]}" for name in REASONS if worst.get(name)]
    of = f"as the mean of {seeds} seeds" if seeds > 1 else "in a run"
    said = (
        f"Failures: {bound}{number(worst.get('packets_resent', 0.0))} packets sent again"
        f" {of}{where}"
    )
    said += f", {', '.join(why)}" if why else ""
    said += f"; at most {number(most)} packets sent again in a run" if seeds > 1 else ""
    errors = sum(bool(one.get("failed")) for one in found.values())
    some = f"messages end with an error {some_of(errors, len(found), curves)}"
    return f"{said}; {some if errors else 'no message ends with an error'}."
