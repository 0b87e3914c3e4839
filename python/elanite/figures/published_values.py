"""Published values in figures: marks at their places, or rules across where a claim has no place.

A claim with a ``where`` that fixes the horizontal axis's parameter is a dash at this value, or a
dashed line over several values. The caption has its figure, so that no text lies on the data. Any
other claim, such as a maximum, is a dashed rule across. Rule names stand beside the chart, in value
order, and do not overlap.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from elanite import _core
from elanite.base.units import amount
from elanite.errors import UsageError
from elanite.figures import origin
from elanite.figures.style import HEIGHT, RULE
from elanite.inputs import sources
from elanite.inputs.plan import ON
from elanite.inputs.sources import did_you_mean
from elanite.results.frames import SUFFIX
from elanite.results.selection import chosen
from elanite.validation import papers
from elanite.validation.cells import published as stated
from elanite.validation.claims import claims

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from elanite.figures.axes import Ends
    from elanite.figures.curves import Layers
    from elanite.inputs.contents import FigureSection
    from elanite.validation.claim import Claim

PUBLISHED = "published"
"""The label for a value that needs no other."""

APART = 28
"""Pixels between the middles of two rule names with two lines each."""

Place = float | str


@dataclass(frozen=True)
class PlottedValue:
    """A published value in a figure."""

    claim: Claim
    label: str = PUBLISHED
    places: tuple[Place, ...] = ()
    """The values on the horizontal axis for which it was published; empty for a rule across."""
    machine: str = ""
    """The claim's machine, in a figure that other machines share."""

    @property
    def values(self) -> tuple[float, ...]:
        """The figure, or a range's two ends."""
        found = (
            (self.claim.low, self.claim.high) if self.claim.kind == "range" else (self.claim.value,)
        )
        return tuple(float(value) for value in found if value is not None)

    @property
    def text(self) -> str:
        """The figure with its unit, as people write it."""
        return stated(self.claim).replace(" us", " µs")

    @property
    def source(self) -> str:
        """The publication in a few words, with the machine in a figure for several machines."""
        on = f" on {self.machine}" if self.machine else ""
        return f"{papers.citations(self.claim.source)}{on}"


def of_figure(asked: FigureSection, rows: pl.DataFrame, column: str = "") -> list[PlottedValue]:
    """A ``[[figure]]``'s published values that the rows do not contradict; ``column`` is the axis's
    column.
    """
    known = {claim.id: claim for claim in claims()}
    found = []
    for entry in asked["published"]:
        claim = known.get(entry["claim"])
        if claim is None:
            raise UsageError(
                f"the figure `{asked['name']}` has published values of `{entry['claim']}`, which is"
                f" not a claim{did_you_mean(entry['claim'], list(known))}"
            )
        if fits(claim, rows):
            own = () if entry["x"] is None else (entry["x"],)
            machine = (
                " and ".join(_machines(claim.experiment))
                if claim.experiment and origin.shared(rows)
                else ""
            )
            found.append(PlottedValue(claim, entry["label"], own or places(claim, column), machine))
    return found


def of_claims(rows: pl.DataFrame, *identities: str) -> list[PlottedValue]:
    """Claims' published values as rules across; empty for rows from other machines."""
    return [
        PlottedValue(claim)
        for claim in claims()
        if claim.id in identities and _measured(claim, rows)
    ]


def places(claim: Claim, column: str) -> tuple[Place, ...]:
    """The column values to which a claim belongs, in increasing order; empty if it does not name
    the column.
    """
    for name, values in claim.where:
        if name == column and column:
            return (
                tuple(sorted(values))
                if all(isinstance(one, int | float) for one in values)
                else tuple(values)
            )
        if any(name + suffix == column for suffix in SUFFIX.values()):
            amounts = sorted(found for value in values if (found := amount(value)) is not None)
            return tuple(int(one) if one == int(one) else one for one in amounts)
    return ()


def drawn(values: Sequence[PlottedValue]) -> list[float]:
    """The figures, which the vertical axis has to reach."""
    return [figure for value in values for figure in value.values]


def layers(
    values: Sequence[PlottedValue], ends: Ends, kind: str = "Q", *, log: bool = False
) -> Layers:
    """The marks and rules for published values on a vertical axis with these ends.

    ``kind`` is Vega-Lite's kind for the horizontal axis.
    """
    found: Layers = []
    across = [value for value in values if not value.places]
    if across:
        rows = [_row(value, figure) for value in across for figure in value.values]
        rule = alt.Chart(pl.DataFrame(rows)).mark_rule(
            strokeDash=[6, 4], color=RULE, strokeWidth=1.5
        )
        found.append(rule.encode(y=alt.Y("value:Q"), tooltip=alt.Tooltip("text:N", title="")))
        found += _rule_names([value for value in across if value.label], ends, log=log)
    points = [value for value in values if len(value.places) == 1]
    if points:
        rows = [
            _row(value, figure) | {"at": value.places[0]}
            for value in points
            for figure in value.values
        ]
        dash = alt.Chart(pl.DataFrame(rows)).mark_tick(
            orient="horizontal", thickness=3, color=RULE, size=26
        )
        found.append(
            dash.encode(
                x=alt.X(f"at:{kind}"), y=alt.Y("value:Q"), tooltip=alt.Tooltip("text:N", title="")
            )
        )
    spans = [value for value in values if len(value.places) > 1]
    if spans:
        rows = [
            _row(value, figure) | {"at": value.places[0], "to": value.places[-1]}
            for value in spans
            for figure in value.values
        ]
        line = alt.Chart(pl.DataFrame(rows)).mark_rule(strokeDash=[6, 4], color=RULE, strokeWidth=2)
        found.append(
            line.encode(
                x=alt.X(f"at:{kind}"),
                x2=alt.X2("to"),
                y=alt.Y("value:Q"),
                tooltip=alt.Tooltip("text:N", title=""),
            )
        )
    return found


def caption(values: Sequence[PlottedValue], at: Mapping[Place, str]) -> str:
    """A sentence with the marks' figures, by their sources; ``at`` has the places in words."""
    words: dict[str, list[str]] = {}
    for value in values:
        if value.places:
            first, last = (
                at.get(place, f"{place}") for place in (value.places[0], value.places[-1])
            )
            where = f"at {first}" if first == last else f"from {first} to {last}"
            label = "" if value.label in ("", PUBLISHED) else f" ({value.label})"
            words.setdefault(value.source, []).append(f"{value.text} {where}{label}")
    return " ".join(
        f"Published by {source}: {', '.join(figures)}." for source, figures in words.items()
    )


def separated_places(places: Sequence[float], apart: float, low: float, high: float) -> list[float]:
    """Places that are so far apart, in the same order, between two ends, and near where they
    were.
    """
    order = sorted(range(len(places)), key=lambda index: places[index])
    apart = min(apart, (high - low) / max(len(places) - 1, 1))
    found = [0.0] * len(places)
    last = low - apart
    for index in order:
        last = found[index] = max(places[index], last + apart)
    last = high + apart
    for index in reversed(order):
        last = found[index] = min(found[index], last - apart)
    return found


def _rule_names(values: Sequence[PlottedValue], ends: Ends, *, log: bool) -> Layers:
    """The rule names at the chart's right."""
    if not values:
        return []
    low, high = (math.log10(end) if log else end for end in ends)
    middles = [sum(value.values) / len(value.values) for value in values]
    along = [math.log10(middle) if log else middle for middle in middles]
    apart = APART / HEIGHT * (high - low)
    found = separated_places(along, apart, low + apart / 2, high - apart / 2)
    rows = [
        {"value": 10**place if log else place, "text": f"{_named(value)}\n{value.text}"}
        for value, place in zip(values, found, strict=True)
    ]
    words = alt.Chart(pl.DataFrame(rows)).mark_text(
        align="left", baseline="middle", dx=5, dy=-7, color=RULE, lineBreak="\n", lineHeight=13
    )
    return [words.encode(y=alt.Y("value:Q"), x=alt.value("width"), text=alt.Text("text:N"))]


def _row(value: PlottedValue, figure: float) -> dict[str, object]:
    label = PUBLISHED if value.label in ("", PUBLISHED) else f"{PUBLISHED}, {value.label}:"
    return {"value": figure, "text": f"{label} {value.text} ({value.source})"}


@cache
def _machines(experiment: str) -> tuple[str, ...]:
    """The machines that a shipped experiment names, on which its claims are measured."""
    source = sources.read("experiment", experiment)
    found: str | list[str] = json.loads(_core.load_experiment(source.text, source.file, []))[
        "machine"
    ]
    return (found,) if isinstance(found, str) else tuple(found)


def _named(value: PlottedValue) -> str:
    """A rule's name beside the chart."""
    return f"{value.label}, {value.machine}" if value.machine else value.label


def _measured(claim: Claim, rows: pl.DataFrame) -> bool:
    """Whether rows are from a claim's machine."""
    if not origin.owned(rows):
        return False
    return (
        ON not in rows.columns
        or not claim.experiment
        or bool(set(rows[ON]) & set(_machines(claim.experiment)))
    )


def fits(claim: Claim, rows: pl.DataFrame) -> bool:
    """Whether rows have a claim's parameters, and its machine; parameters with several values do
    not count.
    """
    if not _measured(claim, rows):
        return False
    alike = [
        (name, values)
        for name, values in claim.where
        if name in rows.columns and rows[name].n_unique() == 1
    ]
    return not chosen(rows, {name: list(values) for name, values in alike}).is_empty()


def all_places(values: Sequence[PlottedValue]) -> Iterator[Place]:
    """All values' places, which the horizontal axis has to reach."""
    return (place for value in values for place in value.places)
