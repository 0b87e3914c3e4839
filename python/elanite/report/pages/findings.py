"""An experiment's findings: sentences on its best and worst configurations.

- A curve's *highest accepted load* is the largest ``accepted`` mean at any load that was run.
- The *knee* lies between two loads that were run: the highest one up to which all loads are steady,
  and the lowest saturated one. Undecided points (``states``) are counted apart.
- A saturation point search has no load on its axis: its results come from the search's lower end,
  and are compared as such.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from elanite import _core
from elanite.base.text import ROUNDING, YES_OR_NO, are, counted, distinct, number, worded
from elanite.report.pages.curves import JOBS, LATENCY, SEARCHED, Curve, CurvePoint
from elanite.report.pages.programs import FLOWS
from elanite.report.pages.wording import LOWER_END, few_messages, mean_of, scaled, united, with_half
from elanite.results.states import SILENT, QueueState

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

MOST_KNEES = 3
"""Saturation loads that a sentence names; of more, it names the first and the last."""

MOST_JOBS = 6
"""Jobs or programs of a group that have sentences."""

ALIKE = "; the difference is within the intervals"


def sentences(found: Sequence[Curve], units: Mapping[str, str]) -> list[str]:
    """One sentence per finding; ``units`` are the metrics' units."""
    said: list[str] = []
    for kind, group in dict.fromkeys((curve.kind, curve.group) for curve in found):
        here = [curve for curve in found if (curve.kind, curve.group) == (kind, group)]
        measured = [] if kind == JOBS else _metrics(kind, units)
        jobs = [
            job
            for job in dict.fromkeys(curve.job for curve in here)
            if not measured  # the flows of one size are no job: they have no time of their own
            or any(curve.job == job and _has(curve, measured) for curve in here)
        ]
        for job in jobs[:MOST_JOBS]:
            alone = [
                replace(curve, label=curve.beside) if job else curve
                for curve in here
                if curve.job == job
            ]
            of = (
                f" of job {job}{f' in {group}' if group else ''}"
                if job
                else f" of {group}"
                if group
                else ""
            )
            if kind == JOBS:
                said += _of_searches([curve for curve in alone if curve.searched], units, of)
                said += _of_loads([curve for curve in alone if not curve.searched], units, of)
            else:
                said += _of_metrics(alone, kind, units, of)
        if len(jobs) > MOST_JOBS:
            said.append(
                "The tables have"
                f" {counted(len(jobs) - MOST_JOBS, 'more job')}{f' of {group}' if group else ''}."
            )
    return said


def _metrics(kind: str, units: Mapping[str, str]) -> list[str]:
    """A benchmark kind's metrics with sentences here; flows have sentences of their own."""
    found = next((metrics for name, _, metrics in _core.plots() if name == kind), list(units))
    return [metric for metric in found if not metric.startswith(FLOWS)]


def _has(curve: Curve, metrics: Sequence[str]) -> bool:
    return any(metric in place.means for place in curve.places for metric in metrics)


def _named(label: str) -> str:
    return f" ({label})" if label else ""


def _by(at: str) -> str:
    return f" at {at}" if at else ""


def _configurations(count: int, of: int, label: str) -> str:
    """The configurations with a figure, within a sentence: one by its label, several by their
    number.
    """
    if count == 1:
        return _named(label)
    every = "both" if of == 2 else f"all {of}"
    return f" ({every} configurations)" if count == of else f" in {count} of {of} configurations"


def _measured(some: Sequence[Curve], found: Sequence[Curve]) -> str:
    """The configurations with a quantity, if others have none."""
    return _configurations(len(some), len(found), some[0].label) if len(some) < len(found) else ""


def _of_loads(found: Sequence[Curve], units: Mapping[str, str], job: str) -> Iterator[str]:
    unit = f"{units.get('accepted', 'MB/s')} per node"
    found = [curve for curve in found if "accepted" in curve.best.means]
    if not found:
        return
    highest = max(curve.best.means["accepted"] for curve in found)
    top = [curve for curve in found if number(curve.best.means["accepted"]) == number(highest)]
    last = max(_last(curve) for curve in found)
    known = [curve for curve in found if curve.saturated or _last(curve) == last]
    means = [curve.best.means["accepted"] for curve in known]
    low = [curve for curve in known if number(curve.best.means["accepted"]) == number(min(means))]
    said = (
        f"Highest accepted load{job}:"
        f" {_best(top, unit)}{_configurations(len(top), len(found), top[0].label)}"
    )
    if low and len({number(mean) for mean in means}) > 1:
        said += f"; the lowest of the {len(known)} maxima is {_best(low, unit)}"
        said += _configurations(len(low), len(found), low[0].label)
        said += ALIKE if _within(top[0].best, low[0].best, "accepted") else ""
    yield f"{said}{_unknown(found, known)}."
    yield from _knees(found, job)
    yield from _undecided(found, unit, job)
    yield from _latencies(found, units, job)


def _unknown(found: Sequence[Curve], known: Sequence[Curve]) -> str:
    """The configurations that do not saturate and were offered less than others: their maximum is
    unknown.
    """
    rest = [curve for curve in found if curve not in known]
    if not rest:
        return ""
    return (
        f"; {_others(rest, len(found))} not saturated, with loads up to"
        f" {max(rest, key=_last).places[-1].at}"
    )


def _others(rest: Sequence[Curve], of: int) -> str:
    if len(rest) == 1 and rest[0].label:
        return f"{rest[0].label} is"
    return f"{len(rest)} of {of} configurations {are(len(rest))}"


def _highest_loads(found: Sequence[Curve]) -> str:
    """The configurations' highest loads: the lowest one and, if they differ, the highest one, with
    their curves.
    """
    lasts = sorted({_last(curve) for curve in found})
    ends = []
    for last in dict.fromkeys((lasts[0], lasts[-1])):
        here = [curve for curve in found if _last(curve) == last]
        which = _configurations(len(here), len(found), here[0].label) if len(lasts) > 1 else ""
        ends.append(f"up to {here[0].places[-1].at}{which}")
    between = sum(_last(curve) not in (lasts[0], lasts[-1]) for curve in found)
    return f" {', '.join(ends)}{f', in the other {between} between these loads' if between else ''}"


def _best(curves: Sequence[Curve], unit: str) -> str:
    """The highest accepted load for curves that share it, and its offered load if this is the same,
    too.
    """
    best = [curve.best for curve in curves]
    at = _by(best[0].at) if len({place.at for place in best}) == 1 else ""
    return f"{with_half(best, 'accepted')} {unit}{at}"


def _within(one: CurvePoint, other: CurvePoint, metric: str) -> bool:
    """Whether the difference between two means is less than its interval; False for means without
    intervals.
    """
    halves = [place.halves.get(metric, 0.0) for place in (one, other)]
    return abs(one.means[metric] - other.means[metric]) < math.hypot(*halves)


def _knees(found: Sequence[Curve], job: str) -> Iterator[str]:
    """From which load on the sources' queues grow: the first and the last curves to saturate."""
    knees = [
        (curve.saturated.x, curve)
        for curve in found
        if curve.saturated and curve.saturated.x is not None
    ]
    if not knees:
        if len({place.x for curve in found for place in curve.places}) > 1 and not any(
            c.undecided for c in found
        ):
            yield f"No saturation{job} at any load{_highest_loads(found)}."
        return
    loads = sorted({x for x, _ in knees})
    named = loads if len(loads) <= MOST_KNEES else [loads[0], loads[-1]]
    ends = [_knees_at([curve for x, curve in knees if x == load], len(found)) for load in named]
    between = sum(x not in named for x, _ in knees)
    said = (
        f"Saturation{job}:"
        f" {'; '.join(ends)}{f'; the other {between} between these loads' if between else ''}"
    )
    steady = sum(all(place.state is QueueState.STEADY for place in curve.places) for curve in found)
    if steady:
        calm = [
            curve
            for curve in found
            if all(place.state is QueueState.STEADY for place in curve.places)
        ]
        up_to = _highest_loads(calm) if len({_last(curve) for curve in found}) > 1 else ""
        said += (
            f"; {steady} of {len(found)} configurations {are(steady)} steady at all loads{up_to}"
        )
    yield f"{said}."


def _undecided(found: Sequence[Curve], unit: str, job: str) -> Iterator[str]:
    """The undecided points, with the one that loses most."""
    there = [(curve, place) for curve in found for place in curve.undecided]
    if not there:
        return
    heard = [one for one in there if one[1].means.get("offered") != 0] or there
    curve, worst = min(
        heard, key=lambda one: one[1].means["accepted"] / (one[1].means.get("offered") or math.inf)
    )
    count = sum(len(one.places) for one in found)
    loads = counted(count, "load") + (" of all configurations" if len(found) > 1 else "")
    said = (
        f"Undecided{job} at {len(there)} of {loads}, whose window is too short or whose seeds"
        " differ"
    )
    if worst.means.get("offered") == 0:
        said += f": {SILENT}{_by(worst.at)}{_named(curve.label)}"
    elif "offered" in worst.means:
        got, offered = distinct(worst.means["accepted"], worst.means["offered"])
        said += f": accepted {got} of {offered} {unit} offered{_by(worst.at)}{_named(curve.label)}"
    yield f"{said}."


def _of_searches(found: Sequence[Curve], units: Mapping[str, str], job: str) -> Iterator[str]:
    """The saturation points, and the results at the searches' lower ends."""
    names = {
        SEARCHED: f"Saturation point{job}",
        "accepted": f"Accepted load{job}",
        LATENCY: f"Mean latency{job}",
    }
    for metric, name in names.items():
        here = [curve for curve in found if all(metric in place.means for place in curve.places)]
        if not here:
            continue
        at = _measured(here, found) + ("" if metric == SEARCHED else f" {LOWER_END}")
        per = (
            units
            if metric == LATENCY
            else {**units, metric: f"{units.get(metric, 'MB/s')} per node"}
        )
        if len(here) == 1:
            yield f"{name}{at}: {mean_of(here[0].places[0], metric, per)}."
        else:
            yield from _at_common(here, metric, f"{name}{at}", per, ends=1)


def _knees_at(curves: Sequence[Curve], of: int) -> str:
    """The knee for curves that saturate at the same load."""
    first, same = curves[0], len({_knee(curve) for curve in curves}) == 1
    said = (
        _knee(first) if same or first.saturated is None else f"saturated from {first.saturated.at}"
    )
    return said + _configurations(len(curves), of, first.label)


def _knee(curve: Curve) -> str:
    steady, saturated = curve.steady, curve.saturated
    assert saturated is not None  # noqa: S101 - only saturated curves are asked for
    return (
        f"steady up to {steady.at}, saturated from {saturated.at}"
        if steady
        else f"saturated from {saturated.at}"
    )


def _last(curve: Curve) -> float:
    return curve.places[-1].x or 0.0


def _latencies(found: Sequence[Curve], units: Mapping[str, str], job: str) -> Iterator[str]:
    """The mean latency: for one curve at its ends, for several at the lowest load that all have."""
    here = [curve for curve in found if all(LATENCY in place.means for place in curve.places)]
    if not here:
        return
    if len(here) == 1:
        (curve,) = here
        first, end = curve.places[0], curve.steady or curve.places[0]
        said = (
            f"Mean latency{job}{_measured(here, found)}:"
            f" {mean_of(first, LATENCY, units)}{_by(first.at)}{_saturation_clause([first])}"
        )
        yield said + (
            f", {mean_of(end, LATENCY, units)} at {end.at}, the highest steady load."
            if end is not first
            else "."
        )
        return
    name = f"Mean latency{job}{_measured(here, found)}"
    yield from _at_common(here, LATENCY, name, units, ends=1)


def _saturation_clause(places: Sequence[CurvePoint]) -> str:
    """A clause on saturated places: the sources' queues grow there, and latency with the window."""
    count = sum(place.state is QueueState.SATURATED for place in places)
    if not count:
        return ""
    if count == len(places):
        return "; this load is saturated, and latency grows with the window"
    return (
        f"; the load is saturated in {count} of {len(places)} configurations, whose latency grows"
        " with the window"
    )


def _of_metrics(
    found: Sequence[Curve], kind: str, units: Mapping[str, str], of: str
) -> Iterator[str]:
    """Each metric's ends for a benchmark kind; ``of`` names the job and the series in words."""
    for metric in _metrics(kind, units):
        here = [curve for curve in found if _has(curve, [metric])]
        if not here:
            continue
        name = worded(metric).capitalize() + of + _measured(here, found)
        if metric in YES_OR_NO:
            places = [place for curve in here for place in curve.places if metric in place.means]
            count = sum(place.means[metric] > 0 for place in places)
            yield f"{name} in {count} of {counted(len(places), 'configuration')}."
        elif len(here) > 1:
            yield from _at_common(here, metric, name, units, ends=2)
        else:
            (curve,) = here
            places = [place for place in curve.places if metric in place.means]
            first, last = places[0], places[-1]
            said = f"{name}: {mean_of(first, metric, units)}{_at(curve, first)}"
            yield said + (
                f", {mean_of(last, metric, units)}{_at(curve, last)}." if last is not first else "."
            )


def _at_common(
    found: Sequence[Curve], metric: str, name: str, units: Mapping[str, str], ends: int
) -> Iterator[str]:
    """The lowest and the highest curve at the first (and the last) place on the axis that all
    curves have.
    """
    held = [{place.x: place for place in curve.places if metric in place.means} for curve in found]
    common = set.intersection(*(set(each) for each in held)) if held else set()
    for x in _ends(common, ends) if common else [None]:
        if common:
            pairs = [(curve, each[x]) for curve, each in zip(found, held, strict=True)]
        else:  # curves over different axes: all their places
            pairs = [
                (curve, place) for curve in found for place in curve.places if metric in place.means
            ]
        low = min(pairs, key=lambda pair: pair[1].means[metric])
        high = max(pairs, key=lambda pair: pair[1].means[metric])
        axis = found[0].axis
        where = f" at {axis} {pairs[0][1].at}" if common and axis else ""
        late = _saturation_clause([place for _, place in pairs]) if metric == LATENCY else ""
        if math.isclose(low[1].means[metric], high[1].means[metric], rel_tol=ROUNDING):
            if low[1].means[metric]:
                unit = units.get(metric, "")
                figure = united(with_half([place for _, place in pairs], metric, unit), unit)
                figure += few_messages([place for _, place in pairs], metric)
                yield f"{name}{where}: {figure} in all configurations{late}."
            continue
        unit = units.get(metric, "")
        figures = distinct(*(scaled(place.means[metric], unit) for _, place in (low, high)))
        least, most = (
            united(
                with_half(
                    [place for _, place in _curves_at_end(pairs, end, metric)], metric, unit, figure
                ),
                unit,
            )
            + few_messages([place for _, place in _curves_at_end(pairs, end, metric)], metric)
            + _configurations_at_end(pairs, end, metric, bool(common))
            for figure, end in zip(figures, (low, high), strict=True)
        )
        alike = ALIKE if _within(low[1], high[1], metric) else ""
        yield f"{name}{where}: lowest {least}; highest {most}{alike}{late}."


def _curves_at_end(
    pairs: Sequence[tuple[Curve, CurvePoint]], end: tuple[Curve, CurvePoint], metric: str
) -> list[tuple[Curve, CurvePoint]]:
    """The configurations with an end's figure."""
    others = [place.means[metric] for _, place in pairs]
    # Figures that are equal as written are equal here, unless the ends themselves need more digits.
    shown = number if number(min(others)) != number(max(others)) else "{:.9g}".format
    return [pair for pair in pairs if shown(pair[1].means[metric]) == shown(end[1].means[metric])]


def _configurations_at_end(
    pairs: Sequence[tuple[Curve, CurvePoint]],
    end: tuple[Curve, CurvePoint],
    metric: str,
    common: bool,
) -> str:
    """The configurations with an end's figure; without a common axis, one configuration with its
    place on its axis.
    """
    alike = _curves_at_end(pairs, end, metric)
    curve, place = end
    same = len({_at(*pair) for pair in alike}) == 1
    return (_at(curve, place) if same and not common else "") + _configurations(
        len(alike), len(pairs), curve.label
    )


def _ends(common: set[float | None], ends: int) -> list[float | None]:
    ordered = sorted(common, key=lambda x: (x is None, x or 0.0))
    return list(dict.fromkeys([ordered[0], ordered[-1]][:ends]))


def _at(curve: Curve, place: CurvePoint) -> str:
    return f" at {curve.axis} {place.at}" if curve.axis else ""
