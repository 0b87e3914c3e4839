"""A chart's content as texts: its data rows for readers without a view of it, and its legend.

A chart's tooltips name the columns with a meaning for readers, with titles and formats; the table
has these. A figure with a chart that is laid out in pixels brings its own table (``Figure.data``).
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from elanite.base.text import grouped, label, number
from elanite.results.frames import SHIPPED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from elanite.figures.style import Figure, Spec


@dataclass(frozen=True)
class Key:
    """A legend entry: a name with its colour and its points' shape."""

    name: str
    colour: str = ""
    """Empty for the text's colour."""
    shape: str = "circle"


@dataclass(frozen=True)
class Legend:
    """A legend: its title and its entries."""

    title: str
    keys: tuple[Key, ...]


def table(figure: Figure) -> tuple[list[str], list[list[str]]]:
    """Headings and rows for the data behind a figure, all as texts."""
    if figure.data is not None:
        return list(figure.data.columns), [
            [_value_text(value) for value in row] for row in figure.data.iter_rows()
        ]
    layer, rows = main(figure.spec())
    columns = _columns(layer)
    heads = [title for _, title, _ in columns]
    lines = [[_value_text(row.get(field), form) for field, _, form in columns] for row in rows]
    if any(row.get(SHIPPED) for row in rows):
        heads.append("results of")
        lines = [
            [*line, "shipped run" if row.get(SHIPPED) else "this run"]
            for line, row in zip(lines, rows, strict=True)
        ]
    return heads, lines


def legends(spec: Spec) -> list[Legend]:
    """A chart's legends that list names; gradients are left to the chart."""
    found: dict[str, dict[str, Key]] = {}
    for layer in _layers(spec):
        for channel in ("color", "shape"):
            encoding = layer.get("encoding", {}).get(channel, {})
            scale = encoding.get("scale") or {}
            if encoding.get("legend", {}) is None or not isinstance(scale.get("range"), list):
                continue
            if encoding.get("type") not in ("nominal", "ordinal"):
                continue
            keys = found.setdefault(str(encoding.get("title") or ""), {})
            for name, value in zip(scale["domain"], scale["range"], strict=False):
                old = keys.get(name, Key(name))
                keys[name] = (
                    Key(name, value, old.shape)
                    if channel == "color"
                    else Key(name, old.colour, value)
                )
    return [Legend(title, tuple(keys.values())) for title, keys in found.items()]


def _layers(spec: Spec) -> Iterator[Spec]:
    if "layer" in spec:
        for layer in spec["layer"]:
            yield from _layers({"data": spec.get("data", {}), **layer})
    else:
        yield spec


def main(spec: Spec) -> tuple[Spec, list[Spec]]:
    """The layer with the most telling tooltip, and its rows."""
    best: Spec = {}
    for layer in _layers(spec):
        if len(_columns(layer)) > len(_columns(best)):
            best = layer
    return best, spec["datasets"].get((best.get("data") or spec.get("data") or {}).get("name"), [])


def _columns(layer: Spec) -> list[tuple[str, str, str]]:
    """A layer's tooltip: field, title and format of each column."""
    tooltip = layer.get("encoding", {}).get("tooltip")
    return [_column(one) for one in tooltip] if isinstance(tooltip, list) else []


def _column(tooltip: Spec) -> tuple[str, str, str]:
    field = re.sub(r"\\(.)", r"\1", tooltip["field"])
    return field, tooltip.get("title") or field.replace("_", " "), tooltip.get("format", "")


def _value_text(value: object, form: str = "") -> str:
    """A value as text, in the tooltip's format, if there is one."""
    if value is None:
        return ""
    if isinstance(value, float) or (
        isinstance(value, int) and form and not isinstance(value, bool)
    ):
        found = re.fullmatch(r"(\+?,?(?:\.\d+)?)(~?)([fd%]?)", form)
        if not found or not form:
            return _exact(value)
        text = format(value, found[1] + found[3])
        # The format's "~" leaves out zeros at the end; Python has no format for this.
        return re.sub(r"\.?0+(?=%?$)", "", text) if found[2] and "." in text else text
    if isinstance(value, dict):
        return json.dumps(value)
    return label(value) if isinstance(value, str) else grouped(value)


def _exact(value: float) -> str:
    """A figure with at least four significant digits."""
    size = abs(value)
    more = (
        0
        if size >= 10 or not size or not math.isfinite(size)
        else 1
        if size >= 1
        else -math.floor(math.log10(size))
    )
    return number(value, more)
