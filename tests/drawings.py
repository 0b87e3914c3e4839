"""Figure marks as a reader sees them: each with its curve, its place, its mean and its interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from elanite.figures import Figure

Layer = dict[str, Any]


@dataclass(frozen=True)
class Mark:
    """A point or a bar."""

    panel: str
    curve: str
    x: Any
    mean: float
    low: float | None
    high: float | None


def layers(figure: Figure) -> list[Layer]:
    """A figure's layers, each with its rows."""
    spec = figure.spec()

    def inside(one: Layer, data: Layer) -> Iterator[Layer]:
        data = one.get("data", data)
        if "layer" in one:
            for each in one["layer"]:
                yield from inside(each, data)
        else:
            yield one | {"rows": spec["datasets"][data["name"]]}

    return list(inside(spec, {}))


def kind(layer: Layer) -> str:
    mark = layer["mark"]
    return str(mark["type"] if isinstance(mark, dict) else mark)


def means(figure: Figure) -> Layer:
    """The layer with the mean marks."""
    found = [
        layer
        for layer in layers(figure)
        if kind(layer) in ("point", "bar") and layer["encoding"]["y"].get("field") == "mean"
    ]
    (layer,) = found
    return layer


def marks(figure: Figure) -> list[Mark]:
    """A figure's marks; a row that lies under another one in the same curve counts once."""
    layer = means(figure)
    x = layer["encoding"]["x"]["field"].replace("\\.", ".")
    colour = layer["encoding"].get("color", {}).get("field")
    found = [
        Mark(
            figure.title,
            row[colour] if colour else "",
            row[x],
            row["mean"],
            row["low"],
            row["high"],
        )
        for row in layer["rows"]
    ]
    return list({(mark.curve, str(mark.x)): mark for mark in found}.values())


def intervals(figure: Figure) -> int:
    """The count of drawn intervals."""
    return sum(
        row["low"] is not None
        for layer in layers(figure)
        if kind(layer) in ("rule", "errorband")
        and layer["encoding"].get("y", {}).get("field") == "low"
        for row in layer["rows"]
    )


def cut(mark: Mark, ends: tuple[float, float]) -> bool:
    """Whether a mark's interval is longer than an axis."""
    low, high = ends
    near = 1e-9 * (high - low)
    return (
        mark.low is not None
        and mark.high is not None
        and not low - near <= mark.low <= mark.high <= high + near
    )


def domain(figure: Figure) -> tuple[float, float]:
    """The vertical axis's ends."""
    low, high = means(figure)["encoding"]["y"]["scale"]["domain"]
    return low, high


def width(figure: Figure) -> object:
    """The horizontal axis's ends, or its names."""
    return means(figure)["encoding"]["x"]["scale"]["domain"]


def across(figure: Figure) -> list[dict[str, Any]]:
    """The rules for published values without a place on the horizontal axis."""
    return [
        row
        for layer in layers(figure)
        if kind(layer) == "rule" and layer["encoding"].get("y", {}).get("field") == "value"
        for row in layer["rows"]
        if "x" not in layer["encoding"]
    ]


def names_of_rules(figure: Figure) -> list[float]:
    """The heights of the published values' names beside the chart, on its vertical axis."""
    return [
        row["value"] for layer in layers(figure) if kind(layer) == "text" for row in layer["rows"]
    ]


def outside(figure: Figure) -> list[float]:
    """Means and published values beyond the vertical axis's ends, where they would lie on the
    frame.
    """
    if not any(layer["encoding"].get("y", {}).get("field") == "mean" for layer in layers(figure)):
        return []
    low, high = domain(figure)
    return [
        row[field]
        for layer in layers(figure)
        if (field := layer["encoding"].get("y", {}).get("field")) in ("mean", "value")
        for row in layer["rows"]
        if row[field] is not None and not low <= row[field] <= high
    ]
