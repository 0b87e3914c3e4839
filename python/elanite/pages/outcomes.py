"""The findings of an experiment: its configurations as curves, and sentences on the best and the worst of them.

A *curve* is one configuration over the axis of its kind of benchmark: jobs over the load they offer, pings over
size of messages, collective operations over the number of nodes (sets of nodes have no order). Two machines, patterns,
placements, jobs or values of any other key are two curves. A *place* of a curve is the mean over batches and seeds of
one configuration, exactly a row of the summary of the results; nothing is averaged over configurations, fitted or
interpolated.

- The *highest accepted load* of a curve is the largest mean of ``accepted`` at any load that was run.
- The *knee* lies between two loads that were run: the highest one up to which all loads are steady, and the lowest
  saturated one. Points that are neither (``states``) are counted apart.
- A search of the saturation point has no load on its axis: its results are those of the lower end of the search, and
  are compared as such.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import TYPE_CHECKING, Any

import polars as pl

from elanite import _core
from elanite.frames import REASON, STATE, SUFFIX, parameters, summarise, varying
from elanite.pages.frame import Table
from elanite.plan import ON
from elanite.states import State, with_states
from elanite.text import FEWEST, SCALE, YES_OR_NO, are, counted, distinct, heading, number, plain, symbol

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

JOBS = "jobs"
"""The kind of benchmark with offered loads."""

BARE = (ON, "series", "pattern", "job")
"""Columns whose values name a configuration without the name of the column."""

LATENCY = "latency_mean"

SEARCHED = "saturation"
"""The metric that searches of the saturation point alone have."""

LOWER_END = "at the lower end of the search"

MOST_KNEES = 3
"""Loads of saturation that a sentence names; of more, it names the first and the last."""

TIGHT = ("fraction", "ratio")
"""Units whose symbols follow the figure without a space."""

MOST_NAMED = 4
"""Series that a title names."""

FEW = 30
"""Messages below which a latency comes with their number."""

ALIKE = "; the difference is within the intervals"


@dataclass(frozen=True)
class Place:
    """The means of one configuration."""

    x: float | None
    """The value on the axis, as a number; None without an axis."""
    at: str
    """The same for people."""
    means: Mapping[str, float]
    """The mean of each metric over batches and seeds."""

    halves: Mapping[str, float] = field(default_factory=dict)
    """Half the interval of each metric; metrics with fewer than three values have none."""
    state: State = State.STEADY
    """The state of its load, as in the figures of loads (``states``)."""
    reason: str = ""
    """The comparison that decides it."""
    seeds: int = 1

    @property
    def messages(self) -> int | None:
        """The measured messages of all seeds; None if they were not counted."""
        mean = self.means.get("messages")
        return None if mean is None else round(mean * self.seeds)


@dataclass
class Curve:
    """One configuration over its axis."""

    kind: str
    label: str
    """The values that tell it from the other curves of its kind; empty if there are no others."""
    axis: str
    """The parameter of the axis; empty if the curve has one place."""
    places: list[Place] = field(default_factory=list)
    group: str = ""
    """The series of its kind that it is compared with; empty for all of them."""
    job: str = ""
    """The job of loads, if there are several: loads and latencies of different jobs are not compared."""
    beside: str = ""
    """The label without the job."""

    @property
    def searched(self) -> bool:
        """Whether its place is the lower end of a search of the saturation point."""
        return any(SEARCHED in place.means for place in self.places)

    @property
    def best(self) -> Place:
        """The place with the highest accepted load, the first one of equals."""
        return max(self.places, key=lambda place: place.means.get("accepted", 0.0))

    @property
    def steady(self) -> Place | None:
        """The highest load up to which all loads are steady."""
        found = list(takewhile(lambda place: place.state is State.STEADY, self.places))
        return found[-1] if found else None

    @property
    def saturated(self) -> Place | None:
        """The lowest saturated load."""
        return next((place for place in self.places if place.state is State.SATURATED), None)

    @property
    def undecided(self) -> list[Place]:
        """The loads that are neither steady nor saturated."""
        return [place for place in self.places if place.state is State.UNDECIDED]


def curves(rows: pl.DataFrame, kinds: Mapping[str, str]) -> list[Curve]:
    """The curves of tidy rows, in the order of the rows; ``kinds`` are the kinds of benchmark of the series."""
    found: list[Curve] = []
    for kind in dict.fromkeys(kinds.values()):
        series = [name for name, of in kinds.items() if of == kind]
        groups = [series] if kind == JOBS else alike(rows, series)
        for group in groups:
            here = rows.filter(pl.col("series").is_in(group))
            if kind == JOBS:
                here = _of_jobs(here)
            elif here["job"].null_count():  # the others are jobs in the background
                here = here.filter(pl.col("job").is_null())
            found += _of_kind(here, kind, named(group) if len(groups) > 1 else "")
    return found


def unsearched(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows without the loads with which searches of the saturation point begin: no result is of such a load."""
    found = searches(rows)
    loads = [name for name in rows.columns if name.split(".")[-1] in ("load", f"load{SUFFIX['MB/s']}")]
    if not found:
        return rows
    kept = pl.when(~pl.col("series").is_in(found))
    return rows.with_columns(kept.then(pl.col(name)).alias(name) for name in loads)


def searches(rows: pl.DataFrame) -> list[str]:
    """The series that search the saturation point."""
    return rows.filter(pl.col("metric") == SEARCHED)["series"].unique(maintain_order=True).to_list()


def _of_jobs(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows of jobs with a load; others, such as the packets that a fault corrupts, belong to the network."""
    loaded = rows.filter(pl.col("metric") == "accepted").select("job").unique()
    return rows.join(loaded, on="job", how="semi", nulls_equal=True, maintain_order="left")


def alike(rows: pl.DataFrame, series: Sequence[str]) -> list[list[str]]:
    """The series that vary the same keys, together: barriers and broadcasts of an experiment are not compared."""
    found: dict[tuple[str, ...], list[str]] = {}
    for name in series:
        keys = varying(rows.filter(pl.col("series") == name))
        found.setdefault(tuple(sorted(keys)), []).append(name)
    return list(found.values())


def named(series: Sequence[str]) -> str:
    """The names of some series, the first one if there are many."""
    return ", ".join(series) if len(series) <= MOST_NAMED else f"{series[0]} and {len(series) - 1} more"


def sentences(found: Sequence[Curve], units: Mapping[str, str]) -> list[str]:
    """One sentence per finding; ``units`` are those of the metrics."""
    said: list[str] = []
    for kind, group in dict.fromkeys((curve.kind, curve.group) for curve in found):
        here = [curve for curve in found if (curve.kind, curve.group) == (kind, group)]
        if kind != JOBS:
            said += _of_metrics(here, kind, units)
            continue
        for job in dict.fromkeys(curve.job for curve in here):
            alone = [replace(curve, label=curve.beside) if job else curve for curve in here if curve.job == job]
            of = f" of job {job}" if job else ""
            said += _of_searches([curve for curve in alone if curve.searched], units, of)
            said += _of_loads([curve for curve in alone if not curve.searched], units, of)
    return said


def tables(found: Sequence[Curve], units: Mapping[str, str]) -> list[Table]:
    """Every curve in a row: for jobs the highest accepted load and the knee, else the range of each metric."""
    made = []
    for kind, group in dict.fromkeys((curve.kind, curve.group) for curve in found):
        here = [curve for curve in found if (curve.kind, curve.group) == (kind, group)]
        if kind == JOBS:
            searches, loads = ([one for one in here if one.searched is which] for which in (True, False))
            made += [_saturations(searches, units)] if searches else []
            made += [_throughput(loads, units), _states(loads, units)] if loads else []
        elif len(here) > 1:
            made.append(_ranges(here, kind, units))
    return made


def label_of(row: Mapping[str, Any], columns: Sequence[str]) -> str:
    """The values of a configuration in words: ``fast, uniform, message 4 KB``."""
    words = []
    for name in columns:
        if row.get(name) in (None, ""):
            continue
        value = plain(row[name])
        if value.startswith("[") and value.endswith("]"):  # a list, such as topology.up
            value = value[1:-1]
        words.append(f"job {value}" if name == "job" else value if name.split(".")[-1] in BARE else f"{name} {value}")
    return ", ".join(words)


def distinguishing(rows: pl.DataFrame) -> list[str]:
    """The columns that tell configurations apart, without those that the series decides."""
    names = varying(rows)
    if "series" not in names:
        return names
    decided = rows.group_by("series").agg(pl.col(name).n_unique() for name in names if name != "series")
    return [name for name in names if name == "series" or decided[name].max() != 1]


def _of_kind(rows: pl.DataFrame, kind: str, group: str) -> Iterator[Curve]:
    over = {name: axis for name, axis, _ in _core.plots()}.get(kind, "")
    names = distinguishing(rows)
    means: dict[str, dict[str, float]] = {}
    halves: dict[str, dict[str, float]] = {}
    found: dict[tuple[str, str], Curve] = {}
    seeds = rows["seed"].n_unique()
    judged = with_states(rows) if kind == JOBS else rows.with_columns(_STEADY)
    keys = [*parameters(judged), STATE, REASON, "metric", "unit"]
    for row in summarise(judged, keys).iter_rows(named=True):
        key = repr([value for name, value in row.items() if name not in ("metric", "unit", "mean", "low", "high", "n")])
        if key not in means:
            axis = next((name for name in (f"{row['job']}.{over}", over) if row.get(name) is not None), "")
            if kind != JOBS and (axis not in names or _numeric(row, axis) is None):
                axis = ""  # sets of nodes, such as "0-14:2", have no order
            label = label_of(row, [name for name in names if name != axis])
            means[key] = {}
            beside = label_of(row, [name for name in names if name not in (axis, "job")])
            job = plain(row["job"] or "") if kind == JOBS and "job" in names else ""
            curve = found.setdefault((axis, label), Curve(kind, label, axis, [], group, job, beside))
            at = plain(row[axis]) if axis else ""
            halves[key] = {}
            state = State(row[STATE]), row[REASON], seeds
            curve.places.append(Place(_numeric(row, axis), at, means[key], halves[key], *state))
        means[key][row["metric"]] = row["mean"]
        if row["n"] >= FEWEST and row["metric"] not in YES_OR_NO:
            halves[key][row["metric"]] = (row["high"] - row["low"]) / 2
    for curve in found.values():
        curve.places.sort(key=lambda place: (place.x is None, place.x or 0.0))
    yield from found.values()


_STEADY = pl.lit(State.STEADY.value).alias(STATE), pl.lit("").alias(REASON)
"""The state of points without loads."""


def _numeric(row: Mapping[str, Any], name: str) -> float | None:
    values = (row.get(name + suffix) for suffix in ("", *SUFFIX.values()))
    return next((float(one) for one in values if isinstance(one, int | float)), None)


def _named(label: str) -> str:
    return f" ({label})" if label else ""


def _by(at: str) -> str:
    return f" at {at}" if at else ""


def _tied(count: int, of: int, label: str) -> str:
    """The configurations with a figure, within a sentence: one by its label, several by their number."""
    if count == 1:
        return _named(label)
    return f" (all {of} configurations)" if count == of else f" in {count} of {of} configurations"


def _of_loads(found: Sequence[Curve], units: Mapping[str, str], job: str) -> Iterator[str]:
    unit = f"{units.get('accepted', 'MB/s')} per node"
    found = [curve for curve in found if "accepted" in curve.best.means]
    if not found:
        return
    means = [curve.best.means["accepted"] for curve in found]
    top, low = (
        [curve for curve, mean in zip(found, means, strict=True) if number(mean) == number(end)]
        for end in (max(means), min(means))
    )
    said = f"Highest accepted load{job}: {_best(top, unit)}{_tied(len(top), len(found), top[0].label)}"
    if len(top) < len(found):
        said += f"; the lowest of the {len(found)} maxima is {_best(low, unit)}"
        said += _tied(len(low), len(found), low[0].label)
        said += ALIKE if _within(top[0].best, low[0].best, "accepted") else ""
    yield f"{said}."
    yield from _knees(found, job)
    yield from _undecided(found, unit, job)
    yield from _latencies(found, units, job)


def _best(curves: Sequence[Curve], unit: str) -> str:
    """The highest accepted load of curves that have the same one, and its offered load if this is the same, too."""
    best = [curve.best for curve in curves]
    at = _by(best[0].at) if len({place.at for place in best}) == 1 else ""
    return f"{_with_half(best[0], 'accepted')} {unit}{at}"


def _with_half(place: Place, metric: str, unit: str = "", text: str = "") -> str:
    """A mean with half its interval, if it has one, as a number; ``text`` is the mean if it needs more digits."""
    scale = SCALE.get(unit, 1.0)
    half = number(scale * place.halves.get(metric, 0.0))
    mean = text or number(scale * place.means[metric])
    return mean if half == "0" else f"{mean} ± {half}"


def _within(one: Place, other: Place, metric: str) -> bool:
    """Whether the difference of two means is less than its interval; False for means without intervals."""
    halves = [place.halves.get(metric, 0.0) for place in (one, other)]
    return abs(one.means[metric] - other.means[metric]) < math.hypot(*halves)


def _few(place: Place, metric: str) -> str:
    """The number of messages behind a latency, if they are few."""
    few = metric == LATENCY and place.messages is not None and place.messages < FEW
    return f" (of {counted(place.messages or 0, 'message')})" if few else ""


def _knees(found: Sequence[Curve], job: str) -> Iterator[str]:
    """From which load on the sources' queues grow: the first and the last curves to saturate."""
    knees = [(curve.saturated.x, curve) for curve in found if curve.saturated and curve.saturated.x is not None]
    if not knees:
        if len({place.x for curve in found for place in curve.places}) > 1 and not any(c.undecided for c in found):
            yield f"No saturation{job} at any load up to {max(found, key=_last).places[-1].at}."
        return
    loads = sorted({x for x, _ in knees})
    named = loads if len(loads) <= MOST_KNEES else [loads[0], loads[-1]]
    ends = [_knees_at([curve for x, curve in knees if x == load], len(found)) for load in named]
    between = sum(x not in named for x, _ in knees)
    said = f"Saturation{job}: {'; '.join(ends)}{f'; the other {between} between these loads' if between else ''}"
    steady = sum(all(place.state is State.STEADY for place in curve.places) for curve in found)
    if steady:
        said += f"; {steady} of {len(found)} configurations {are(steady)} steady at all loads"
    yield f"{said}."


def _undecided(found: Sequence[Curve], unit: str, job: str) -> Iterator[str]:
    """The points that are neither steady nor saturated, with the one that loses most."""
    there = [(curve, place) for curve in found for place in curve.undecided]
    if not there:
        return
    curve, worst = min(there, key=lambda one: one[1].means["accepted"] / (one[1].means.get("offered") or math.inf))
    count = sum(len(one.places) for one in found)
    loads = counted(count, "load") + (" of all configurations" if len(found) > 1 else "")
    said = f"Undecided{job} at {len(there)} of {loads}, whose window is too short or whose seeds differ"
    if "offered" in worst.means:
        got, offered = distinct(worst.means["accepted"], worst.means["offered"])
        said += f": accepted {got} of {offered} {unit} offered{_by(worst.at)}{_named(curve.label)}"
    yield f"{said}."


def _of_searches(found: Sequence[Curve], units: Mapping[str, str], job: str) -> Iterator[str]:
    """The saturation points, and the results at the lower ends of the searches."""
    names = {SEARCHED: f"Saturation point{job}", "accepted": f"Accepted load{job}", LATENCY: f"Mean latency{job}"}
    for metric, name in names.items():
        here = [curve for curve in found if all(metric in place.means for place in curve.places)]
        if not here:
            continue
        at = "" if metric == SEARCHED else f" {LOWER_END}"
        per = units if metric == LATENCY else {**units, metric: f"{units.get(metric, 'MB/s')} per node"}
        if len(here) == 1:
            yield f"{name}{at}: {_mean(here[0].places[0], metric, per)}."
        else:
            yield from _at_common(here, metric, f"{name}{at}", per, ends=1)


def _knees_at(curves: Sequence[Curve], of: int) -> str:
    """The knee of curves that saturate at the same load."""
    first, same = curves[0], len({_knee(curve) for curve in curves}) == 1
    said = _knee(first) if same or first.saturated is None else f"saturated from {first.saturated.at}"
    return said + _tied(len(curves), of, first.label)


def _knee(curve: Curve) -> str:
    steady, saturated = curve.steady, curve.saturated
    assert saturated is not None  # noqa: S101 - only saturated curves are asked for
    return f"steady up to {steady.at}, saturated from {saturated.at}" if steady else f"saturated from {saturated.at}"


def _last(curve: Curve) -> float:
    return curve.places[-1].x or 0.0


def _latencies(found: Sequence[Curve], units: Mapping[str, str], job: str) -> Iterator[str]:
    """The mean latency: of one curve at its ends, of several at the lowest load that all have."""
    here = [curve for curve in found if all(LATENCY in place.means for place in curve.places)]
    if not here:
        return
    if len(here) == 1:
        (curve,) = here
        first, end = curve.places[0], curve.steady or curve.places[0]
        said = f"Mean latency{job}: {_mean(first, LATENCY, units)}{_by(first.at)}"
        yield said + (
            f", {_mean(end, LATENCY, units)} at {end.at}, the highest steady load." if end is not first else "."
        )
        return
    yield from _at_common(here, LATENCY, f"Mean latency{job}", units, ends=1)


def _of_metrics(found: Sequence[Curve], kind: str, units: Mapping[str, str]) -> Iterator[str]:
    """The ends of each metric of a kind of benchmark."""
    metrics = next((metrics for name, _, metrics in _core.plots() if name == kind), list(units))
    for metric in metrics:
        here = [curve for curve in found if any(metric in place.means for place in curve.places)]
        if not here:
            continue
        name = metric.replace("_", " ").capitalize() + (f" of {here[0].group}" if here[0].group else "")
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
            said = f"{name}: {_mean(first, metric, units)}{_at(curve, first)}"
            yield said + (f", {_mean(last, metric, units)}{_at(curve, last)}." if last is not first else ".")


def _at_common(found: Sequence[Curve], metric: str, name: str, units: Mapping[str, str], ends: int) -> Iterator[str]:
    """The lowest and the highest curve at the first (and the last) place of the axis that all curves have."""
    held = [{place.x: place for place in curve.places if metric in place.means} for curve in found]
    common = set.intersection(*(set(each) for each in held)) if held else set()
    for x in _ends(common, ends) if common else [None]:
        if common:
            pairs = [(curve, each[x]) for curve, each in zip(found, held, strict=True)]
        else:  # curves over different axes: all of their places
            pairs = [(curve, place) for curve in found for place in curve.places if metric in place.means]
        low = min(pairs, key=lambda pair: pair[1].means[metric])
        high = max(pairs, key=lambda pair: pair[1].means[metric])
        axis = found[0].axis
        where = f" at {axis} {pairs[0][1].at}" if common and axis else ""
        if low[1].means[metric] == high[1].means[metric]:
            if low[1].means[metric]:
                yield f"{name}{where}: {_mean(low[1], metric, units)} in all configurations."
            continue
        unit = units.get(metric, "")
        figures = distinct(*(_scaled(place.means[metric], unit) for _, place in (low, high)))
        least, most = (
            _united(_with_half(end[1], metric, unit, figure), unit)
            + _few(end[1], metric)
            + _alike(pairs, end, metric, bool(common))
            for figure, end in zip(figures, (low, high), strict=True)
        )
        alike = ALIKE if _within(low[1], high[1], metric) else ""
        yield f"{name}{where}: lowest {least}; highest {most}{alike}."


def _alike(pairs: Sequence[tuple[Curve, Place]], end: tuple[Curve, Place], metric: str, common: bool) -> str:
    """The configurations with the figure of an end; without a common axis, one of them with its place on its axis."""
    value = end[1].means[metric]
    others = [place.means[metric] for _, place in pairs]
    # Figures that are equal as written are equal here, unless the ends themselves need more digits.
    shown = number if number(min(others)) != number(max(others)) else "{:.9g}".format
    count = sum(shown(each) == shown(value) for each in others)
    curve, place = end
    return ("" if common or count > 1 else _at(curve, place)) + _tied(count, len(pairs), curve.label)


def _ends(common: set[float | None], ends: int) -> list[float | None]:
    ordered = sorted(common, key=lambda x: (x is None, x or 0.0))
    return list(dict.fromkeys([ordered[0], ordered[-1]][:ends]))


def _at(curve: Curve, place: Place) -> str:
    return f" at {curve.axis} {place.at}" if curve.axis else ""


def _mean(place: Place, metric: str, units: Mapping[str, str]) -> str:
    unit = units.get(metric, "")
    return _united(_with_half(place, metric, unit), unit) + _few(place, metric)


def _united(figure: str, unit: str) -> str:
    """A figure, with or without its interval, and its unit."""
    return f"{figure}{'' if unit in TIGHT else ' '}{symbol(unit)}".rstrip()


def _saturations(found: Sequence[Curve], units: Mapping[str, str]) -> Table:
    accepted, saturation = (f"{units.get(name, 'MB/s')} per node" for name in ("accepted", SEARCHED))
    columns = (
        "configuration",
        heading("saturation point", saturation),
        heading(f"accepted {LOWER_END}", accepted),
        heading(f"mean latency {LOWER_END}", units.get(LATENCY, "")),
    )
    rows = [
        (curve.label or "all", *(_cell(curve.places[0], each, units) for each in (SEARCHED, "accepted", LATENCY)))
        for curve in found
    ]
    return Table(columns, rows, "Saturation point of every configuration", right=columns[1:])


def _cell(place: Place, metric: str, units: Mapping[str, str]) -> str:
    """A mean with half its interval in a table, whose heading has the unit; empty if there is none."""
    if metric not in place.means:
        return ""
    return _with_half(place, metric, units.get(metric, "")) + _few(place, metric)


def _throughput(found: Sequence[Curve], units: Mapping[str, str]) -> Table:
    accepted = heading("highest accepted", f"{units.get('accepted', 'MB/s')} per node")
    latency = heading("mean latency at the lowest load", units.get(LATENCY, ""))
    rows = []
    for curve in found:
        best, steady, saturated = curve.best, curve.steady, curve.saturated
        first = curve.places[0]
        rows.append(
            (
                curve.label or "all",
                _with_half(best, "accepted") if "accepted" in best.means else "",
                best.at,
                steady.at if steady else "",
                saturated.at if saturated else "",
                *([", ".join(place.at for place in curve.undecided)] if any(one.undecided for one in found) else []),
                _with_half(first, LATENCY) + _few(first, LATENCY) if LATENCY in first.means else "",
            )
        )
    doubt = ["undecided at"] if any(one.undecided for one in found) else []
    columns = ("configuration", accepted, "at", "steady up to", "saturated from", *doubt, latency)
    return Table(columns, rows, "Throughput of every configuration", right=columns[1:])


def _states(found: Sequence[Curve], units: Mapping[str, str]) -> Table:
    """Every load with the comparison that decides its state."""
    offered, accepted = (f"{name}, {units.get(name, 'MB/s')} per node" for name in ("offered", "accepted"))
    columns = ("configuration", "load", offered, accepted, "state", "because")
    rows = [
        (
            curve.label or "all",
            place.at,
            *(_with_half(place, name) if name in place.means else "" for name in ("offered", "accepted")),
            place.state.value,
            place.reason,
        )
        for curve in found
        for place in curve.places
    ]
    return Table(columns, rows, "State of every load", right=columns[1:4], folded=True)


def _ranges(found: Sequence[Curve], kind: str, units: Mapping[str, str]) -> Table:
    metrics = next((metrics for name, _, metrics in _core.plots() if name == kind), list(units))
    metrics = [each for each in metrics if each not in YES_OR_NO and any(each in c.places[0].means for c in found)]
    axis = found[0].axis
    columns = ["configuration"]
    for metric in metrics:
        name = heading(metric.replace("_", " "), units.get(metric, ""))
        columns += [f"{name}, first", f"{name}, last"] if axis else [name]
    rows = []
    for curve in found:
        cells = [curve.label or "all"]
        for metric in metrics:
            ends = (curve.places[0], curve.places[-1]) if axis else curve.places[:1]
            cells += [_cell(place, metric, units) for place in ends]
        rows.append(cells)
    note = f"First and last {axis} of each configuration: {_spans(found)}." if axis else ""
    return Table(columns, rows, f"Every configuration of {found[0].group or kind}", right=columns[1:], note=note)


def _spans(found: Sequence[Curve]) -> str:
    return "; ".join(dict.fromkeys(f"{curve.places[0].at} and {curve.places[-1].at}" for curve in found))


def _scaled(value: float, unit: str) -> float:
    return value * SCALE.get(unit, 1.0)
