"""An experiment's tables: every configuration in a row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elanite import _core
from elanite.base.text import YES_OR_NO, heading, worded
from elanite.report.pages.curves import JOBS, LATENCY, PROGRAMS, SEARCHED
from elanite.report.pages.frame import PageTable
from elanite.report.pages.wording import LOWER_END, cell, few_messages, with_half

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from elanite.report.pages.curves import Curve


MOST_OPEN = 50
"""Configurations up to which their table is open; a sweep may have thousands."""


def tables(found: Sequence[Curve], units: Mapping[str, str]) -> list[PageTable]:
    """Every curve in a row: for jobs the highest accepted load and the knee, else each metric's
    range.
    """
    made = []
    for kind, group in dict.fromkeys((curve.kind, curve.group) for curve in found):
        here = [curve for curve in found if (curve.kind, curve.group) == (kind, group)]
        if kind == JOBS:
            searches, loads = (
                [one for one in here if one.searched is which] for which in (True, False)
            )
            made += [_saturations(searches, units)] if searches else []
            made += [_throughput(loads, units), _states(loads, units)] if loads else []
        elif len(here) > 1:
            made.append(_ranges(here, kind, units))
    return made


def _label(curve: Curve) -> str:
    """The configuration, with a job that runs beside a benchmark."""
    job = f"job {curve.job}" if curve.job and curve.label == curve.beside else ""
    return ", ".join(filter(None, [curve.label, job])) or "all"


def _of(found: Sequence[Curve]) -> str:
    return f" of {found[0].group}" if found[0].group else ""


def _every(found: Sequence[Curve]) -> str:
    return f"every configuration{_of(found)}"


def _saturations(found: Sequence[Curve], units: Mapping[str, str]) -> PageTable:
    accepted, saturation = (
        f"{units.get(name, 'MB/s')} per node" for name in ("accepted", SEARCHED)
    )
    columns = (
        "configuration",
        heading("saturation point", saturation),
        heading(f"accepted {LOWER_END}", accepted),
        heading(f"mean latency {LOWER_END}", units.get(LATENCY, "")),
    )
    rows = [
        (
            _label(curve),
            *(cell(curve.places[0], each, units) for each in (SEARCHED, "accepted", LATENCY)),
        )
        for curve in found
    ]
    return _table(columns, rows, f"Saturation point of {_every(found)}")


def _throughput(found: Sequence[Curve], units: Mapping[str, str]) -> PageTable:
    accepted = heading("highest accepted", f"{units.get('accepted', 'MB/s')} per node")
    latency = heading("mean latency at the lowest load", units.get(LATENCY, ""))
    rows = []
    for curve in found:
        best, steady, saturated = curve.best, curve.steady, curve.saturated
        first = curve.places[0]
        rows.append(
            (
                _label(curve),
                with_half(best, "accepted") if "accepted" in best.means else "",
                best.at,
                steady.at if steady else "",
                saturated.at if saturated else "",
                *(
                    [", ".join(place.at for place in curve.undecided)]
                    if any(one.undecided for one in found)
                    else []
                ),
                with_half(first, LATENCY) + few_messages(first, LATENCY)
                if LATENCY in first.means
                else "",
            )
        )
    doubt = ["undecided at"] if any(one.undecided for one in found) else []
    columns = ("configuration", accepted, "at", "steady up to", "saturated from", *doubt, latency)
    return _table(columns, rows, f"Throughput of {_every(found)}")


def _states(found: Sequence[Curve], units: Mapping[str, str]) -> PageTable:
    """Every load with the comparison that decides its state."""
    offered, accepted = (
        f"{name}, {units.get(name, 'MB/s')} per node" for name in ("offered", "accepted")
    )
    columns = ("configuration", "load", offered, accepted, "state", "because")
    rows = [
        (
            _label(curve),
            place.at,
            *(
                with_half(place, name) if name in place.means else ""
                for name in ("offered", "accepted")
            ),
            place.state.value,
            place.reason,
        )
        for curve in found
        for place in curve.places
    ]
    return PageTable(
        columns, rows, f"State of every load{_of(found)}", right=columns[1:4], folded=True
    )


def _ranges(found: Sequence[Curve], kind: str, units: Mapping[str, str]) -> PageTable:
    metrics = next((metrics for name, _, metrics in _core.plots() if name == kind), list(units))
    metrics = [
        each
        for each in metrics
        if each not in YES_OR_NO and any(each in c.places[0].means for c in found)
    ]
    axis = found[0].axis
    columns = ["configuration"]
    for metric in metrics:
        name = heading(worded(metric), units.get(metric, ""))
        columns += [f"{name}, first", f"{name}, last"] if axis else [name]
    rows = []
    for curve in found:
        cells = [_label(curve)]
        for metric in metrics:
            ends = (curve.places[0], curve.places[-1]) if axis else curve.places[:1]
            cells += [cell(place, metric, units) for place in ends]
        rows.append(cells)
    note = f"First and last {axis} of each configuration: {_spans(found)}." if axis else ""
    name = found[0].group or ("" if kind == PROGRAMS else kind)
    caption = f"Every configuration{f' of {name}' if name else ''}"
    return _table(columns, rows, caption, note)


def _table(
    columns: Sequence[str], rows: Sequence[Sequence[str]], caption: str, note: str = ""
) -> PageTable:
    """A table with a row for each configuration; a long one is closed at first."""
    folded = len(rows) > MOST_OPEN
    return PageTable(columns, rows, caption, right=columns[1:], note=note, folded=folded)


def _spans(found: Sequence[Curve]) -> str:
    return "; ".join(
        dict.fromkeys(f"{curve.places[0].at} and {curve.places[-1].at}" for curve in found)
    )
