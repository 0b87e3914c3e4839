"""Tooltips: a mark's values have the titles and units of the axes and legends that show them.

A figure's tooltips name columns; ``titled`` gives each column without a title that of the axis or
legend with this column. The ends of an interval have the vertical axis's unit. A legend without a
title belongs to a single curve, and its tooltips have no name of a curve.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from elanite.base.units import size_text
from elanite.results.frames import SUFFIX

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

CHANNELS = ("shape", "color", "x", "y")
"""The channels with titles; the last one with a column decides its title."""

ENDS = {"low": "interval from", "high": "interval to"}
"""The titles of an interval's ends, without their unit."""

PLACE = "_place"
"""The column with a mark's place on an axis of sizes, in words."""

EXACT = ",.9~r"
"""The format for numbers on horizontal axes: without the rounding errors of their conversion."""


def titled(layers: Sequence[alt.Chart | alt.LayerChart]) -> list[alt.Chart | alt.LayerChart]:
    """The layers with a title for each value in their tooltips."""
    return [_titled(layer) if isinstance(layer, alt.Chart) else layer for layer in layers]


def placed(data: pl.DataFrame, x: str) -> pl.DataFrame:
    """The data with the sizes on an axis ``x`` in words, for tooltips; other axes are numbers."""
    if not (x.endswith(SUFFIX["B"]) and data.schema[x].is_numeric()):
        return data
    texts = {value: size_text(value) for value in data[x].unique().to_list()}
    return data.with_columns(pl.col(x).replace_strict(texts, return_dtype=pl.String).alias(PLACE))


def at(data: pl.DataFrame, x: alt.X) -> alt.Tooltip:
    """The tooltip for a mark's place on the horizontal axis."""
    title = _text(x, "title")
    if PLACE in data.columns:
        return alt.Tooltip(PLACE, title=title)
    column = _column(x).replace("\\", "")
    real = column in data.columns and data.schema[column].is_float()
    return alt.Tooltip(x.shorthand, title=title, format=EXACT if real else alt.Undefined)


def _titled(layer: alt.Chart) -> alt.Chart:
    tips = layer.encoding.tooltip
    if not isinstance(tips, list):
        return layer
    titles = dict(_titles(layer))
    named = [alt.Tooltip(tip) if isinstance(tip, str) else tip for tip in tips]
    found: alt.Chart = layer.encode(tooltip=list(_named(named, titles, _unit(titles))))
    return found


def _named(tips: Sequence[alt.Tooltip], titles: dict[str, str], unit: str) -> Iterator[alt.Tooltip]:
    """The tooltips with their titles, each of which occurs once: Vega keeps the last of several."""
    taken: set[str] = set()
    for tip in tips:
        column = _column(tip)
        title = _text(tip, "title")
        title = titles.get(column) if title is None else title
        if column in ENDS:
            title = ", ".join(filter(None, [ENDS[column], unit]))
        if title == "":
            continue
        title = column.replace("\\", "").replace("_", " ") if title is None else title
        if title in taken:
            title = f"{title} ({column})"
        taken.add(title)
        named = tip.copy()
        named["title"] = title
        yield named


def _titles(layer: alt.Chart) -> Iterator[tuple[str, str]]:
    """The columns with the titles of their channels."""
    for name in CHANNELS:
        channel = getattr(layer.encoding, name)
        title = None if channel is alt.Undefined else _text(channel, "title")
        if title is not None:
            yield _column(channel), title


def _unit(titles: dict[str, str]) -> str:
    """The unit in the title of the means."""
    _, found, unit = titles.get("mean", "").rpartition(", ")
    return unit if found else ""


def _column(channel: alt.X | alt.Tooltip) -> str:
    """The column of a channel or tooltip, as Vega reads it."""
    text = _text(channel, "shorthand") or _text(channel, "field") or ""
    column, kind, _ = text.rpartition(":")
    return column if kind else text


def _text(channel: alt.X | alt.Tooltip, key: str) -> str | None:
    """A channel's key, if it is a text."""
    try:
        found = channel[key]
    except KeyError:
        return None
    return found if isinstance(found, str) else None
