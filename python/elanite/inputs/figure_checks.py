"""Checks on an experiment file's ``[[figure]]`` tables, beyond the names that the simulator checks.

Three mistakes would show only in a picture, or not at all:

- The special figure kinds (``draw = "kept"``, ``"nodes"``, ...) draw one shipped experiment's
  series. An experiment without such series would have no figure.
- A figure kind has no use for a key, such as a ``mark`` across bars.
- The unit in an axis title is not the values' unit. A unit with the same dimension on the vertical
  axis converts the values (``factor``); any other is an error.

An error names file, line, key and remedy, before a point is simulated.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from elanite import _core
from elanite.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from elanite.inputs.contents import Description, FigureSection
    from elanite.inputs.sources import Source

JOBS = ("jobs",)

NEEDS: dict[str, tuple[tuple[str, ...], tuple[str, ...], str]] = {
    "nodes": (JOBS, ("nodes",), "qsnet/hotspot"),
    "io-table": (JOBS, (), "qsnet/io"),
    "kept": (JOBS, ("alone",), "qsnet/combined"),
    "ablations": (JOBS, (), "qsnet/ablations"),
    "policies": (JOBS, (), "multirail/beyond"),
    "distribution": (
        ("collective",),
        ("distribution", "hardware-loaded", "software-loaded"),
        "collectives/barrier",
    ),
    "histogram": (("noise",), (), "qsnet2/noise"),
    "noise": (("collective",), (), "qsnet2/noise-scaling"),
    "deadlocks": (("collective",), (), "collectives/deadlock"),
    "cycles": (("collective",), (), "collectives/deadlock"),
    "allocation": (("allocation",), (), "multirail/allocation"),
    "matrices": (("allocation",), ("figure-3", "figure-4"), "multirail/allocation"),
}
"""By special kind: the benchmarks and the series names that it draws, and an experiment with such
series.
"""

_ROWS = ("sustained", "steady", "twice", "beside")
_AXES = ("x", "x_title", "x_scale", "log", "offered", "mark", "published")

UNUSED = {
    "loads": (*_ROWS, "x", "x_title", "x_scale", "log"),
    "bars": ("beside", "offered", "x_scale", "log", "mark", "published"),
    "curves": ("offered",),
    **dict.fromkeys(
        (*NEEDS, "machines", "congestion"), (*_ROWS, *_AXES, "y_title", "metric", "curve", "legend")
    ),
}
"""Keys without a meaning in a figure kind."""

QUANTITIES = {"B": "_bytes", "MB/s": "_MBps", "us": "_us"}
"""Units that convert, with the suffixes of column names in them: ``frames.SUFFIX``, without its
libraries.
"""

SYMBOLS = {"us": "µs", "fraction": "%"}
"""Units as people write them: a part of ``text.SYMBOL``."""

UNITS = {
    **dict.fromkeys(
        ("accepted", "offered", "server_accepted", "server_offered", "saturation"), "MB/s"
    ),
    **dict.fromkeys(("bandwidth", "wire_bandwidth"), "MB/s"),
    **dict.fromkeys(
        ("latency", "latency_mean", "latency_p50", "latency_p93", "latency_p94", "latency_p99"),
        "us",
    ),
    **dict.fromkeys(
        ("latency_max", "step", "call", "compute_phase", "wait", "round", "elapsed"), "us"
    ),
    **dict.fromkeys(("elapsed_p50", "elapsed_p99", "elapsed_p99_99", "elapsed_max"), "us"),
    **dict.fromkeys(("availability", "over"), "fraction"),
    **dict.fromkeys(
        ("accepted_part", "offered_part", "saturation_part", "saturated", "messages", "deadlock"),
        "",
    ),
    "latency_cycles": "cycles",
}
"""Metric units, as in result rows."""


def unit_of(title: str) -> str:
    """The unit in a title, as files write it: the first word after the last comma, or a title that
    is a unit alone.
    """
    head, comma, end = title.rpartition(", ")
    words = end.split(" per ")[0].split()
    word = (words or [""])[0].replace("µ", "u").replace("μ", "u")
    if comma:
        return word
    return (
        word
        if len(words) == 1 and not head and (word == "%" or _core.quantity(f"1 {word}"))
        else ""
    )


def factor(title: str, unit: str) -> float | None:
    """The factor from a unit's values to an axis with this title; `None` if the title has another
    dimension.
    """
    said = unit_of(title)
    if not said or said == unit:
        return 1.0
    found = _core.quantity(f"1 {said}")
    if unit in QUANTITIES:
        return 1.0 / found[0] if found is not None and found[1] == unit else None
    if said == "%":
        return 100.0 if unit == "fraction" else None
    return None if found is not None or unit == "cycles" else 1.0


def check(source: Source, about: Description) -> None:
    """Raise ``ConfigError`` for the first wrong ``[[figure]]``; ``about`` is the experiment as it
    was read.
    """
    for index, figure in enumerate(about.get("figure", ())):
        for key, message, hint in _problems(figure, about):
            raise _error(source, index, f"figure.{figure['name']}.{key}", message, hint)


def _problems(figure: FigureSection, about: Description) -> Iterator[tuple[str, str, str]]:
    """Key, message and remedy for each problem with a figure."""
    draw = figure["draw"]
    series = [
        one for one in about["series"] if not figure["series"] or one["name"] in figure["series"]
    ]
    if draw in NEEDS:
        benchmarks, names, shipped = NEEDS[draw]
        if not any(
            set(benchmarks) & set(one) and (not names or one["name"] in names) for one in series
        ):
            of = f" with the name {_either(names)}" if names else ""
            wanted = f"series of the benchmark {_either(benchmarks)}{of}, as {shipped} has"
            remedy = (
                "name such a series, or write draw = curves, bars or loads; `elanite show"
                f" {shipped}` is an example"
            )
            yield "draw", f"`{draw}` draws nothing of this experiment: it draws {wanted}", remedy
    values: Mapping[str, object] = figure
    for key in UNUSED[draw]:
        if values[key] not in (None, "", [], {}, False, "linear"):
            yield (
                key,
                f"a figure with draw = `{draw}` has no use for `{key}`",
                "leave it out, or choose another `draw`",
            )
    yield from _units(figure)


def _units(figure: FigureSection) -> Iterator[tuple[str, str, str]]:
    metric = figure["metric"] or ("accepted" if figure["draw"] == "loads" else "")
    if metric in UNITS and (problem := wrong_unit(figure["y_title"], metric, UNITS[metric])):
        yield "y_title", *problem
    elif (
        figure["published"] and metric in UNITS and factor(figure["y_title"], UNITS[metric]) != 1.0
    ):
        unit = _people(UNITS[metric])
        yield (
            "y_title",
            f"published values are in {unit}, but the title is in another unit",
            f"write {unit}",
        )
    x, title = figure["x"], figure["x_title"]
    of_x = next((unit for unit, suffix in QUANTITIES.items() if x.endswith(suffix)), UNITS.get(x))
    if of_x is not None and factor(title, of_x) != 1.0:
        remedy = f"write {_people(of_x)} after the last comma" if of_x else "leave the unit out"
        yield "x_title", f"`{x}` is {_in(of_x)}, but the title says `{title}`", remedy


def wrong_unit(title: str, metric: str, unit: str) -> tuple[str, str] | None:
    """Message and remedy if the unit in a vertical axis title has another dimension than the
    metric's unit.
    """
    if factor(title, unit) is not None:
        return None
    others = {
        "us": ", or ps, ns, ms or s, which convert the values",
        "MB/s": ", or KB/s or GB/s, which convert the values",
    }
    remedy = (
        f"write {_people(unit)} after the last comma{others.get(unit, '')}"
        if unit
        else "leave the unit out"
    )
    return f"`{metric}` is {_in(unit)}, but the title says `{title}`", remedy


def _people(unit: str) -> str:
    return SYMBOLS.get(unit, unit)


def _in(unit: str) -> str:
    return f"in {_people(unit)}" if unit else "without a unit"


def _either(names: tuple[str, ...]) -> str:
    *most, last = (f"`{name}`" for name in names)
    return f"{', '.join(most)} or {last}" if most else last


def _error(source: Source, index: int, key: str, message: str, hint: str) -> ConfigError:
    line, column, text = _place(source.text, index, key.rpartition(".")[2])
    words = [
        f"error: {key}: {message}",
        f"  --> {source.file}:{line}:{column}",
        "   |",
        f"{line} | {text}",
        "   |",
    ]
    problem = {
        "file": source.file,
        "line": line,
        "column": column,
        "key": key,
        "message": message,
        "hint": hint,
    }
    return ConfigError("\n".join([*words, f"   = help: {hint}"]), json.dumps([problem]))


def _place(text: str, index: int, key: str) -> tuple[int, int, str]:
    """Line, column and text for a key in a ``[[figure]]``; for the header without such a line."""
    lines = text.splitlines()
    heads = [
        number for number, line in enumerate(lines) if re.match(r"\s*\[\[\s*figure\s*\]\]", line)
    ]
    if index >= len(heads):
        return 1, 1, (lines or [""])[0]
    start = heads[index]
    for number in range(start + 1, len(lines)):
        if re.match(rf"\s*{re.escape(key)}\s*=", lines[number]):
            return number + 1, len(lines[number]) - len(lines[number].lstrip()) + 1, lines[number]
        if re.match(r"\[[^\]]+\]\]?\s*(#.*)?$", lines[number]):
            break
    return start + 1, 1, lines[start]
