"""A figure's grouping: the parameters for its axis, its curves and its panels. No figure averages
configurations.

A *configuration* is everything but the seed: all parameter values, the machine, the job and the
series. Seeds and batches in one configuration give a mean with its interval; two configurations
never share a mark. ``grouped`` takes the selected rows, the horizontal axis's column and the
columns that the figure names itself, and adds every other parameter that distinguishes
configurations: to the curves, and to panels if a panel had more than ``CURVES`` curves.

A parameter adds no curve if the axis and the curves determine it, as a tree's levels grow with the
nodes on the axis, but it may cause a difference. Where the file does not name the curves, it is
part of curve or panel names, if it has one value in each, as in a sample over several keys.
Otherwise it is in tooltips, data and caption (``beside``). Text parameters, such as patterns and
machines, always distinguish curves, also where each one has its own places on the axis.
"""

from __future__ import annotations

import json
import math
import re
import tomllib
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import polars as pl

from elanite.base.text import label, plain
from elanite.inputs.plan import ON
from elanite.results.frames import SUFFIX, parameters, varying

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from elanite.figures.style import Figure

CURVES = 7
"""Most curves in a panel: the colour count."""

PANELS = 12
"""Most panels whose curves are not divided; beyond, fewer panels with a part of the curves each."""

CURVE = "curve"
"""The column with the name of a row's curve."""

MACHINE = "machine"
"""The column with the machine's changes; ``ON`` has the machine's name."""

LAST = (MACHINE, "job", "series")
"""Columns that distinguish configurations only if no other parameter does, in this order."""

EFFORT = ("series", "repeats")
"""Columns for the repetitions and the place of a measurement in the file, unless configurations
differ in them.
"""

DERIVED = ("rails", "policy", "striping", "threshold")
"""Columns that ``policies.with_policies`` makes from the machine's changes."""

ALONE = "no other change"
"""The label for a machine that has only the changes that all machines share."""

IDENTIFIERS = {"from", "to", "node", "adapter", "rail", "cpu", "class"}
"""Parameters, without their tables, whose numbers only identify a part of the machine."""

WORDS = {ON: "machine", MACHINE: "changes"}
"""Column names in titles and legends; other columns have their own names."""


@dataclass(frozen=True)
class Grouping:
    """The parameters' roles in a figure."""

    axis: tuple[str, ...]
    """The horizontal axis's parameters; several if a measured quantity is on the axis."""
    curves: tuple[str, ...]
    """The parameters that distinguish a panel's curves; with ``CURVE`` if the figure names its
    curves.
    """
    panels: tuple[str, ...] = ()
    """The parameters that distinguish panels."""
    sampled: tuple[str, ...] = ()
    """Parameters that go up and down along the axis, as in samples; lines must not join their
    marks.
    """
    configuration: tuple[str, ...] = ()
    """All parameters that vary: one mark's rows have the same values for all these."""
    beside: tuple[str, ...] = ()
    """Parameters that vary, but are not on the axis and not in a curve's or a panel's name."""
    covered: tuple[str, ...] = ()
    """Parameters in the names that the file gives to curves."""
    common: tuple[str, ...] = ()
    """Changes that all machines share; they stand in the caption and not in each name."""

    @property
    def lines(self) -> bool:
        """Whether lines may join a curve's marks."""
        return not self.sampled

    @property
    def words(self) -> str:
        """The caption sentences about marks that differ in more than their place, and about shared
        changes.
        """
        found = [name for name in self.beside if name not in EFFORT]
        sentences = [f"All machines have {', '.join(self.common)}."] if self.common else []
        if found:
            named = " and ".join(map(word, found))
            sentences.append(f"Marks differ in {named}, too; tooltips and data have the values.")
        return " ".join(sentences)


@dataclass(frozen=True)
class Panel:
    """One panel in a figure."""

    words: str
    """The panel's parameters in words; empty if it is the only panel."""
    rows: pl.DataFrame
    """Its rows, with their curve's name in the column ``CURVE``."""


def grouped(
    rows: pl.DataFrame,
    axis: Sequence[str] = (),
    named: Sequence[str] = (),
    covered: Sequence[str] = (),
) -> Grouping:
    """The grouping for one metric's rows.

    ``axis`` are the horizontal axis's columns, ``named`` those by which the figure distinguishes
    curves. Columns that are ``covered`` are part of curve names; they distinguish configurations
    that have the same name.
    """
    free = [name for name in distinct(rows) if name not in (*axis, *named)]
    found = list(named)
    for name in free:
        if _several(rows, name, [*found, *axis]) or (
            name not in covered and _separates_curves(rows, name, found, axis)
        ):
            found.append(name)
    sampled: list[str] = []
    if axis and found and (count := rows.select(found).n_unique()) > CURVES:
        marks = rows.select(*found, *axis).n_unique()
        fixed = [name for name in found if name in named or not measurable(rows, name)]
        beside = [name for name in found if name in fixed or _several(rows, name, axis)]
        for rest in (fixed, beside) if 2 * count > marks else ():
            if len(rest) < len(found) and rows.select(*rest, *axis).n_unique() == marks:
                sampled = [name for name in found if name not in rest]
                found = rest
                break
    sampled += [
        name
        for name in free
        if name not in (*found, *covered) and _sampled(rows, name, found, axis)
    ]
    panels = _panels(rows, found, [name for name in found if name not in named]) if found else ()
    curves = tuple(name for name in found if name not in panels)
    rest = [name for name in free if name not in (*found, *covered) and not on_axis(name, axis)]
    if "series" in (*covered, *axis):  # a series' name stands for all that the series decides
        rest = [name for name in rest if _several(rows, name, ["series"])]
    if found and not named:
        alone = [name for name in rest if name not in EFFORT and not _several(rows, name, found)]
        of_panels = [name for name in alone if panels and not _several(rows, name, panels)]
        panels += tuple(of_panels)
        curves += tuple(name for name in alone if name not in of_panels)
        rest = [name for name in rest if name not in alone]
    shared = (
        common(rows[MACHINE].unique(maintain_order=True))
        if MACHINE in (*curves, *panels, *axis)
        else ()
    )
    sampled = list(dict.fromkeys(sampled))
    return Grouping(
        tuple(axis),
        curves,
        panels,
        tuple(sampled),
        tuple(free),
        tuple(rest),
        tuple(covered),
        shared,
    )


def common(labels: Iterable[object]) -> tuple[str, ...]:
    """The changes that several machine labels share."""
    parts = [_changes(label) for label in dict.fromkeys(labels)]
    if len(parts) < 2:
        return ()
    return tuple(one for one in parts[0] if all(one in others for others in parts))


def label_without(label: object, shared: Sequence[str]) -> str:
    """The label for a machine's changes without shared ones; ``ALONE`` if it has no others."""
    return ", ".join(one for one in _changes(label) if one not in shared) or ALONE


def _changes(label: object) -> list[str]:
    """The changes in a label: ``topology.up=[4, 2]`` and ``link.channels=2``."""
    return _CHANGE.split(str(label or ""))


_CHANGE = re.compile(r", (?=[\w.-]+=)")


def distinct(rows: pl.DataFrame) -> list[str]:
    """The parameters that vary, in the order in which they are taken to distinguish
    configurations.
    """
    left_out = {"experiment", CURVE, *(DERIVED if MACHINE in rows.columns else ())}
    names = [name for name in varying(rows) if name not in left_out and not name.startswith("_")]
    return sorted(
        names, key=lambda name: -1 if name == ON else LAST.index(name) + 1 if name in LAST else 0
    )


def panels(rows: pl.DataFrame, grouping: Grouping, legend: str = "") -> Iterator[Panel]:
    """A figure's panels, in row order; empty without rows.

    ``legend`` is the name for curves that differ in no parameter.
    """
    for key, here in _parts(rows, grouping.panels):
        pairs = zip(grouping.panels, key, strict=True)
        own = {
            name: label_without(value, grouping.common) if name == MACHINE else value
            for name, value in pairs
        }
        words = ", ".join(f"{word(name)} {value_label(value)}" for name, value in own.items())
        curves = (
            here.select(grouping.curves).unique(maintain_order=True)
            if grouping.curves
            else pl.DataFrame()
        )
        if curves.is_empty():
            yield Panel(words, here.with_columns(pl.lit(legend).alias(CURVE)))
            continue
        texts = names(curves, grouping.common)
        each = math.ceil(len(texts) / math.ceil(len(texts) / CURVES))
        for first in range(0, len(texts), each):
            some = slice(first, first + each)
            named = curves[some].with_columns(pl.Series("_curve", texts[some]))
            part = here.join(
                named, on=list(grouping.curves), nulls_equal=True, maintain_order="left"
            )
            part = part.drop(CURVE, strict=False).rename({"_curve": CURVE})
            number = (
                f"{first + 1} to {first + len(texts[some])} of {len(texts)}"
                if each < len(texts)
                else ""
            )
            yield Panel(", ".join(filter(None, [words, number])), part)


def parts(rows: pl.DataFrame, known: Sequence[str]) -> Iterator[tuple[str, pl.DataFrame]]:
    """The rows for each figure in a kind that distinguishes the ``known`` columns and series, with
    the others in words.

    Rows without a parameter that distinguishes others, such as a lone job's, belong to every part.
    """
    shared = [name for name in (*known, "series") if name in rows.columns]
    apart: list[str] = []
    for name in distinct(rows):
        if name not in shared and _several(
            rows.filter(pl.col(name).is_not_null()), name, [*shared, *apart]
        ):
            apart.append(name)
    if not apart:
        yield "", rows
        return
    for key in rows.select(apart).drop_nulls().unique(maintain_order=True).rows():
        here = [
            pl.col(name).eq_missing(value) | pl.col(name).is_null()
            for name, value in zip(apart, key, strict=True)
        ]
        words = ", ".join(
            f"{word(name)} {value_label(value)}" for name, value in zip(apart, key, strict=True)
        )
        yield words, rows.filter(here)


def part_figures(
    rows: pl.DataFrame, known: Sequence[str], draw: Callable[[pl.DataFrame], Iterable[Figure]]
) -> Iterator[Figure]:
    """The figures in a kind that distinguishes the ``known`` columns only: one for each part in
    ``parts``.
    """
    found = list(parts(rows, known))
    for number, (words, here) in enumerate(found, 1):
        for figure in draw(here):
            yield figure.apart(words, number) if len(found) > 1 else figure


def names(curves: pl.DataFrame, shared: Sequence[str] = ()) -> list[str]:
    """A name for each row in a table with curves' parameters; no two rows have the same name.

    ``shared`` are changes that no name needs. Lists have commas inside, so that semicolons separate
    them.
    """
    if MACHINE in curves.columns:
        own = [value and label_without(value, shared) for value in curves[MACHINE].to_list()]
        curves = curves.with_columns(pl.Series(MACHINE, own, pl.String))
    ends = [name.split(".")[-1] for name in curves.columns]
    owned = [
        "." in name and ends.count(end) > 1 for name, end in zip(curves.columns, ends, strict=True)
    ]
    heads = [
        f"{word(name)} " if several else ""
        for name, several in zip(curves.columns, owned, strict=True)
    ]
    inside = any(listed(value) is not None for row in curves.rows() for value in row)
    comma = "; " if inside and curves.width > 1 else ", "
    short = [
        comma.join(
            head + value_label(value)
            for head, value in zip(heads, row, strict=True)
            if value not in (None, "")
        )
        for row in curves.rows()
    ]
    if len(set(short)) == len(short):
        return short
    long = [
        ", ".join(f"{word(name)} {value}" for name, value in zip(curves.columns, row, strict=True))
        for row in curves.rows()
    ]
    return (
        long
        if len(set(long)) == len(long)
        else [f"{text} ({index + 1})" for index, text in enumerate(long)]
    )


def word(name: str) -> str:
    """A parameter's name in titles and legends."""
    suffix = next((suffix for suffix in SUFFIX.values() if name.endswith(suffix)), "")
    return WORDS.get(
        name,
        name.removesuffix(suffix) if "." in name else name.removesuffix(suffix).replace("_", " "),
    )


def value_label(value: object) -> str:
    """A parameter value in a legend or on an axis: ``8, 8`` for a list, ``1,024`` for a number."""
    if isinstance(value, str) and (items := listed(value)) is not None:
        return plain(items)
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else label(value)


def listed(value: object) -> list[object] | None:
    """The items in a list from a machine's or an experiment's key, such as ``[8, 8]``; `None` for
    others.
    """
    if not isinstance(value, str) or not value.startswith("["):
        return None
    try:
        found = json.loads(value)
    except ValueError:
        try:
            found = tomllib.loads(f"list = {value}")["list"]
        except tomllib.TOMLDecodeError:
            return None
    return found if isinstance(found, list) else None


def lists(rows: pl.DataFrame, name: str) -> bool:
    """Whether all column values are lists."""
    values = rows[name].unique().to_list()
    return rows.schema[name] == pl.String and all(listed(value) is not None for value in values)


def numeric(rows: pl.DataFrame, name: str) -> str | None:
    """The column with a parameter's values as numbers: itself or its twin with a unit; `None` if it
    is text.
    """
    if rows.schema[name].is_numeric():
        return name
    return next(
        (twin for suffix in SUFFIX.values() if (twin := name + suffix) in rows.columns), None
    )


def measurable(rows: pl.DataFrame, name: str) -> bool:
    """Whether a parameter's values are numbers, quantities or lists, not names: lines may join
    marks along it.
    """
    return not identifies(name) and (
        numeric(rows, name) is not None or lists(rows, name) or _flits(rows, name)
    )


def _flits(rows: pl.DataFrame, name: str) -> bool:
    """Whether all column values are buffers: 64 flits."""
    return (
        rows.schema[name] == pl.String
        and rows[name].drop_nulls().str.contains(r"^\d+ flits?$").all()
    )


def identifies(name: str) -> bool:
    """Whether a parameter's numbers are names of parts: rail 2 is not twice rail 1."""
    return re.split(r"[._]", name)[-1] in IDENTIFIERS


def numbers(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows with numbers in columns where all texts are numbers: varied keys are texts, as on
    the command line.
    """
    found = []
    for name in parameters(rows):
        if rows.schema[name] == pl.String and numeric(rows, name) is None:
            for kind in (pl.Int64, pl.Float64):
                cast = rows[name].cast(kind, strict=False)
                if cast.null_count() == rows[name].null_count() < len(rows):
                    found.append(cast)
                    break
    return rows.with_columns(found)


def _several(rows: pl.DataFrame, name: str, within: Sequence[str]) -> bool:
    """Whether rows that are alike in some columns differ in another one."""
    if not within:
        return rows[name].n_unique() > 1
    alike = list(dict.fromkeys(within))
    return rows.select(*alike, name).n_unique() > rows.select(alike).n_unique()


def on_axis(name: str, axis: Sequence[str]) -> bool:
    """Whether a parameter is on the axis, itself or as a number, perhaps by a name without dots."""
    twins = [name + suffix for suffix in ("", *SUFFIX.values())]
    return any(twin in axis or twin.replace(".", "_") in axis for twin in twins)


def _separates_curves(
    rows: pl.DataFrame, name: str, curves: Sequence[str], axis: Sequence[str]
) -> bool:
    """Whether a parameter separates curves, although the axis has different places for its values.

    A number does not if each place has its own value: it grows with the axis. Names on the axis
    separate everything.
    """
    if name in EFFORT or not _several(rows, name, curves):
        return False
    if not axis:
        return True
    if not measurable(rows, axis[0]):
        return False
    if not measurable(rows, name):
        return True
    counts = [
        pl.col(name).n_unique().alias("_values"),
        pl.struct(name, axis[0]).n_unique().alias("_places"),
    ]
    found = rows.group_by(curves).agg(counts) if curves else rows.select(counts)
    return not found.filter(
        (pl.col("_values") > 1) & (pl.col("_places") > pl.col("_values"))
    ).is_empty()


def _sampled(rows: pl.DataFrame, name: str, curves: Sequence[str], axis: Sequence[str]) -> bool:
    """Whether a number goes up and down along a curve, as in a sample over several parameters."""
    column = numeric(rows, name)
    if not axis or column is None or name in EFFORT or not measurable(rows, axis[0]):
        return False
    place = numeric(rows, axis[0]) or axis[0]
    if column == place:
        return False
    for here in rows.partition_by(curves) if curves else [rows]:
        steps = here.select(place, column).unique().sort(place)[column].diff().drop_nulls()
        if (steps > 0).any() and (steps < 0).any():
            return True
    return False


def _panels(rows: pl.DataFrame, found: Sequence[str], free: Sequence[str]) -> tuple[str, ...]:
    """The fewest panels with at most ``CURVES`` curves each. If these are more than ``PANELS``, or
    if every choice has more curves, the fewest panels after a division of the curves.
    """
    if rows.select(found).n_unique() <= CURVES:
        return ()
    whole: dict[tuple[str, ...], int] = {}
    divided: dict[tuple[str, ...], int] = {}
    for size in range(1, len(free) + 1):
        for chosen in combinations(free, size):
            if len(chosen) == len(found):
                continue
            rest = [name for name in found if name not in chosen]
            most = rows.group_by(chosen).agg(pl.struct(rest).n_unique().alias("_n"))["_n"].to_list()
            divided[chosen] = sum(math.ceil(curves / CURVES) for curves in most)
            if max(most) <= CURVES:
                whole[chosen] = len(most)
    if whole and min(whole.values()) <= PANELS:
        divided = whole
    return min(divided, key=divided.__getitem__, default=())


def _parts(
    rows: pl.DataFrame, columns: Sequence[str]
) -> Iterator[tuple[tuple[object, ...], pl.DataFrame]]:
    if not columns:
        if not rows.is_empty():
            yield (), rows
        return
    yield from rows.group_by(columns, maintain_order=True)
