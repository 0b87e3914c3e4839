"""Measured values as a CSV file, and their points in experiments.

The columns are those in the tidy rows that `elanite run --format csv` prints: those that identify a
configuration (``experiment``, ``series``, parameters such as ``message`` or ``nodes``, ``job``),
``metric``, and ``value``. A column ``sigma`` gives the standard error of a value; without it, a
value counts as known within 1%. An empty cell has no meaning, so that several experiments' rows
share a file. Rows need only the columns that distinguish their configuration from all others;
several rows for one configuration are measurements of the same value. Other columns in tidy rows
(``id``, ``seed``, ``batch``, ``state``, ``because``) are ignored. A column ``unit`` converts values
and sigmas to the metric's unit: ``0.085`` in ``ms`` is ``85`` in ``us``. Without it, they are in
the metric's unit.

OSU, IMB, NCCL-tests and perftest output is read as well (``formats.benchmarks``): a message size
belongs to the point of a ping with this message, for a collective operation to that of the same
operation, or, for a bandwidth test, to the point of a job with a load.

All mistakes are ``UsageError`` with file, line, column and remedy. Only metric names are checked
later: the metrics are known when the first points are finished.
"""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from elanite import _core
from elanite.base import bounded, packed
from elanite.base.foreign import reading
from elanite.errors import UsageError
from elanite.formats import benchmarks, recognition
from elanite.inputs import figure_checks
from elanite.inputs.sources import did_you_mean
from elanite.results import frames
from elanite.results.metrics import MEANINGS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from elanite.formats.benchmarks import BenchmarkValue
    from elanite.inputs.plan import Plan, Point

UNKNOWN = 0.01
"""The standard error of a value without a sigma, as a fraction of the value."""

IGNORED = frozenset({"id", "seed", "batch", frames.STATE, frames.REASON})
OWN = frozenset({"metric", "value", "sigma", "unit", "job"})

UNITS = figure_checks.UNITS | {
    **dict.fromkeys(("time", "time_alone", "latency_alone", "fct_alone"), "us"),
    **dict.fromkeys(("fct_mean", "fct_p50", "fct_p99", "fct_p99_9"), "us"),
}
"""The units of metrics, which a file's units convert to."""

Key = tuple[str, str, str]
"""A configuration's experiment, series and parameters, for points that differ only in their seed
and machine.
"""


@dataclass(frozen=True)
class MeasuredValue:
    """A measured value and its configuration."""

    place: str
    """File and line."""
    key: Key
    metric: str
    job: str | None
    value: float
    sigma: float
    stated: bool
    """Whether the file states the sigma."""

    @property
    def group(self) -> tuple[str, str, str]:
        """Experiment, series and metric."""
        return self.key[0], self.key[1], self.metric


def key(point: Point) -> Key:
    """A point's configuration."""
    return point.experiment, point.series, json.dumps(point.parameters)


def read(
    file: Path, plans: Iterable[Plan], note: Callable[[str], None] | None = None
) -> list[MeasuredValue]:
    """Read measured values, and find the configuration of each among the plans' points.

    ``note`` gets sentences on values in a benchmark's output that are left out.
    """
    with reading(file, "it cannot be read", "give a CSV file in UTF-8"):
        content = packed.unpacked(bounded.typed(file, bounded.TABLE), file, bounded.TABLE)
        text = recognition.decoded(content)
    format_ = recognition.of_text(text)
    if getattr(format_, "remedy", None) == recognition.MEASURED:
        return _printed(file, text, plans, note)
    reader = csv.DictReader(io.StringIO(text, newline=""))
    with reading(lambda: f"{file}:{reader.line_num}", "this is no CSV"):
        rows = [(reader.line_num, row) for row in reader]
    columns = [name for name in reader.fieldnames or () if name is not None]
    points = {key(point): frames.identity(point) for each in plans for point in each.points}
    if "metric" not in columns and format_ not in (
        recognition.KnownFormat.EDGES.value,
        recognition.of_text(""),
    ):
        raise UsageError(
            f"{file}: this is {format_.name}, and no measured values\n  give them as CSV with the"
            " columns metric and value, or the table that OSU, IMB, NCCL-tests or perftest prints"
        )
    _check(file, columns, {name for about in points.values() for name in about})
    index: dict[tuple[str, ...], dict[tuple[object, ...], list[Key]]] = {}
    found = []
    for line, row in rows:
        place = f"{file}:{line}"
        if None in row or None in row.values():
            raise UsageError(f"{place}: the line has another number of cells than the first line")
        cells = {name: cell.strip() for name, cell in row.items()}
        told = {name: cells[name] for name in columns if cells[name] and name not in OWN | IGNORED}
        names = tuple(told)
        if names not in index:
            index[names] = _indexed(points, names)
        candidates = index[names].get(tuple(_canonical(cell) for cell in told.values()), [])
        if len(candidates) != 1:
            raise UsageError(
                f"{place}: {_configuration(told)}: {_ambiguity(told, points, candidates)}"
            )
        found.append(_measured(place, candidates[0], cells))
    if not found:
        raise UsageError(f"{file}: there is no measured value\n  add a line for each")
    return found


def _printed(
    file: Path, text: str, plans: Iterable[Plan], note: Callable[[str], None] | None = None
) -> list[MeasuredValue]:
    """The values of a benchmark's output at the sizes that the experiments have."""
    by_size: dict[tuple[str, object, str], list[Key]] = {}
    abouts: dict[Key, Mapping[str, object]] = {}
    for point in (point for each in plans for point in each.points):
        about = frames.identity(point)
        metric = "accepted" if "load" in about else "latency"
        # A job's pattern is none of an operation.
        what = (
            ""
            if metric == "accepted"
            else benchmarks.operation(f"{about.get('operation', about.get('pattern', ''))}")
        )
        abouts[key(point)] = about
        same = by_size.setdefault((metric, about.get("message_bytes"), what), [])
        if (where := key(point)) not in same:
            same.append(where)
    found: list[MeasuredValue] = []
    left: list[BenchmarkValue] = []
    why: dict[str, None] = {}
    by_point: dict[Key, dict[tuple[str, int | None], int]] = {}
    values = benchmarks.values(text, file, note)
    for each in values:
        alike = by_size.get((each.metric, each.message, each.operation), [])
        candidates = [one for one in alike if not _mismatch(each, abouts[one])]
        if len(candidates) > 1:
            series = ", ".join(f"{experiment} {name}" for experiment, name, _ in candidates)
            raise UsageError(
                f"{file}:{each.line}: {each.message} B: {len(candidates)} configurations are meant:"
                f" {series}\n  give an experiment with one of them, or the values as CSV with the"
                " columns that tell them apart"
            )
        if not candidates:
            left.append(each)
            if alike:
                why.setdefault(f"{file}:{each.line}: {_mismatch(each, abouts[alike[0]])}")
            continue
        (where,) = candidates
        runs = by_point.setdefault(where, {})
        runs.setdefault((each.benchmark, each.processes), each.line)
        if len(runs) > 1:
            listed = ", ".join(
                f"{name or 'the benchmark'}{f' by {count} processes' if count else ''} (line"
                f" {line})"
                for (name, count), line in runs.items()
            )
            raise UsageError(
                f"{file}:{each.line}: {each.message} B: several benchmarks measured this point,"
                f" {listed}\n  give the one that is meant a file of its own"
            )
        sigma = UNKNOWN * each.value
        place = f"{file}:{each.line}"
        found.append(
            MeasuredValue(place, where, each.metric, None, each.value, sigma, stated=False)
        )
    if not found and why:
        raise UsageError(next(iter(why)))
    if not found:
        kinds = {_kind(each): None for each in left}
        sizes = [each.message for each in left]
        raise UsageError(
            f"{file}: no point has a message of one of the sizes in the file, {min(sizes)} to"
            f" {max(sizes)} B, in {', or '.join(kinds)}\n"
            f'  give such a series these sizes: message = ["{left[0].message} B", ...]'
        )
    used = {each.place for each in found}
    count = max(each.pairs for each in values if f"{file}:{each.line}" in used)
    if count > 1 and note and found[0].metric == "accepted":
        note(
            f"{file}: the values are sums over {count} pairs of ranks: a node's, if the pairs are"
            f" on two nodes; if each pair has its own nodes, a node's value is 1/{count} of it: run"
            " the test with one pair, or give the values as CSV"
        )
    if left and note:
        names = list(dict.fromkeys(each.benchmark for each in values if each.benchmark))
        of = f" ({', '.join(dict.fromkeys(each.benchmark for each in left))})" if names[1:] else ""
        note(f"{file}: {len(left)} of {len(values)} sizes are of no point, and left out{of}")
    return found


def _mismatch(value: BenchmarkValue, about: Mapping[str, object]) -> str:
    """Why a value with a point's size and operation is not the point's; empty if it may be."""
    if value.operation and value.processes:
        count = _ranks(about)
        if count not in (None, value.processes):
            return (
                f"{value.processes} processes measured this, and the points have {count}\n  give a"
                " series so many nodes times `processes`, or the values as CSV"
            )
    directions = "both" if value.both else "one"
    if value.metric == "latency" and about.get("directions", directions) != directions:
        other = "in both directions at the same time" if value.both else "in one direction"
        return (
            f"{value.benchmark} measures messages {other}, and the points have others\n  give the"
            f' ping directions = "{directions}"'
        )
    return ""


def _kind(value: BenchmarkValue) -> str:
    """The kind of point that a value belongs to, for errors."""
    if value.metric == "accepted":
        return "a job with a load"
    return f"an operation `{value.operation}`" if value.operation else "a ping"


def _ranks(about: Mapping[str, object]) -> int | None:
    """The ranks of a collective operation's point; `None` if its parameters do not give them."""
    nodes = 0
    for part in str(about.get("nodes", "")).split(","):
        found = re.fullmatch(r"\s*(\d{1,9})(?:-(\d{1,9})(?::(\d{1,9}))?)?\s*", part)
        if found is None:
            return None
        first, last, step = (int(each or 0) for each in found.groups())
        nodes += len(range(first, last + 1, step or 1)) if found[2] else 1
    if isinstance(about.get("nodes"), int):
        nodes = int(str(about["nodes"]))
    processes = about.get("processes")
    if not isinstance(processes, int):
        return nodes if processes is None else None
    return processes if "operation" in about else nodes * processes


def _check(file: Path, columns: Sequence[str], parameters: set[str]) -> None:
    for name in ("metric", "value"):
        if name not in columns:
            raise UsageError(
                f"{file}:1: there is no column `{name}`\n  the first line names the columns"
            )
    known = parameters | OWN | IGNORED
    for name in columns:
        if columns.count(name) > 1:
            raise UsageError(f"{file}:1: there are two columns `{name}`\n  leave one of them out")
        if name not in known:
            allowed = ", ".join(sorted(known))
            raise UsageError(
                f"{file}:1: the experiments have no column `{name}`{did_you_mean(name, known)}\n "
                f" {allowed}"
            )


def _measured(place: str, where: Key, cells: Mapping[str, str]) -> MeasuredValue:
    numbers: dict[str, float] = {}
    for name in ("value", "sigma"):
        cell = cells.get(name, "")
        if not cell and name == "sigma":
            continue
        try:
            numbers[name] = float(cell)
        except ValueError:
            numbers[name] = float("nan")
        if not abs(numbers[name]) < float("inf"):
            raise UsageError(
                f"{place}: {name}: `{cell}` is not a number\n  write a plain number; the column"
                " `unit` has its unit"
            )
    if not cells["metric"]:
        raise UsageError(
            f"{place}: metric: the cell is empty\n  name the metric, for example latency"
        )
    times = _factor(place, cells["metric"], cells.get("unit", ""))
    numbers = {name: times * number for name, number in numbers.items()}
    value = numbers["value"]
    sigma = numbers.get("sigma", UNKNOWN * abs(value))
    if sigma <= 0:
        remedy = (
            "a value of 0 needs a sigma" if "sigma" not in numbers else "a sigma is more than 0"
        )
        raise UsageError(
            f"{place}: sigma: {remedy}; give the standard error of the value, or leave the line out"
        )
    return MeasuredValue(
        place, where, cells["metric"], cells.get("job") or None, value, sigma, "sigma" in numbers
    )


def _factor(place: str, metric: str, unit: str) -> float:
    """The factor from values in a file's unit to the metric's unit."""
    own = UNITS.get(metric)
    if not unit or unit == own:
        return 1.0
    if unit == "%" and own == "fraction":
        return 0.01
    found = _core.quantity(f"1 {unit.replace('µ', 'u')}")
    if own in figure_checks.QUANTITIES and found is not None and found[1] == own:
        return found[0]
    if own is None and metric in MEANINGS:
        own = ""  # counts and ratios
    if own is None:  # a metric that is not known: the points have an error for it
        return 1.0
    inside = (
        f"a unit that converts to {own}"
        if own in figure_checks.QUANTITIES
        else own or "an empty cell"
    )
    raise UsageError(f"{place}: unit: `{unit}` is not a unit of {metric}\n  write {inside}")


def _indexed(
    points: Mapping[Key, Mapping[str, object]], names: Sequence[str]
) -> dict[tuple[object, ...], list[Key]]:
    """The configurations by their values in some columns."""
    found: dict[tuple[object, ...], list[Key]] = {}
    for where, about in points.items():
        if all(name in about for name in names):
            found.setdefault(tuple(_canonical(str(about[name])) for name in names), []).append(
                where
            )
    return found


@cache
def _canonical(text: str) -> object:
    """Equal for `64 KB` and `65536 B`, for 1 and 1.0."""
    quantity = _core.quantity(text)
    if quantity is not None:
        return f"{quantity[0]:.12g}", quantity[1]
    try:
        return f"{float(text):.12g}"
    except ValueError:
        return text.lower() if text in ("True", "False") else text


def _configuration(told: Mapping[str, str]) -> str:
    return (
        ", ".join(f"{name} = {cell}" for name, cell in told.items()) or "no configuration is named"
    )


def _ambiguity(
    told: Mapping[str, str], points: Mapping[Key, Mapping[str, object]], found: Sequence[Key]
) -> str:
    """Why a line has not one configuration."""
    if found:
        all_ = [points[where] for where in found]
        differ = [
            name
            for name in all_[0]
            if name not in told and len({str(each.get(name)) for each in all_}) > 1
        ]
        names = [name for name in differ if name not in ("id", "seed")]
        return f"{len(found)} configurations are meant\n  tell them apart by {' or '.join(names)}"
    for name, cell in told.items():
        values = list(dict.fromkeys(str(about[name]) for about in points.values() if name in about))
        if _canonical(cell) not in {_canonical(value) for value in values}:
            listed = ", ".join(values[:12]) + (", ..." if len(values) > 12 else "")
            return f"no point has this {name}{did_you_mean(cell, values)}\n  points have: {listed}"
    return (
        "no point has all of these values\n  add the configuration to the experiment, or leave the"
        " line out"
    )


@dataclass(frozen=True)
class ValueComparison:
    """A measured value beside the simulated ones."""

    about: Mapping[str, object]
    """The columns that identify the point, as in tidy rows."""
    job: str | None
    metric: str
    unit: str
    measured: float
    sigma: float
    stated: bool
    """Whether the file with measured values states the sigma."""
    error: float
    """The standard error of the measured and the simulated value together, the unit for
    residuals.
    """
    before: float
    """Simulated on the machine as it is."""
    after: float
    """Simulated on the resulting machine."""

    @property
    def residual(self) -> float:
        """The result's value less the measured one, in standard errors for both."""
        return (self.after - self.measured) / self.error
