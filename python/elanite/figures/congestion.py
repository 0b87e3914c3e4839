"""Petrini2003's figure 15: the congestion matrices for all points with time slices."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from elanite.base.text import plain
from elanite.figures import matrix
from elanite.results import congestion

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from elanite.figures.style import Figure
    from elanite.inputs.contents import FigureSection
    from elanite.inputs.plan import Point
    from elanite.store import Store


def matrices(
    points: Sequence[Point],
    store: Store,
    asked: Sequence[FigureSection] = (),
    foreign: Collection[str] = (),
) -> list[Figure]:
    """The congestion matrices for the points with slices: two for each configuration, from its
    first seed.

    A ping has no slices and no delays. Series that a figure requests have this figure's name and
    number; points on ``foreign`` machines have no number.
    """
    chosen: dict[str, Point] = {}
    texts = {name: one for one in asked if one["draw"] == "congestion" for name in one["series"]}
    for point in points:
        if point.run["slices"] and not store.table(point.id, "slices").is_empty():
            chosen.setdefault(json.dumps([point.experiment, point.series, point.parameters]), point)
    figures: list[Figure] = []
    for point in chosen.values():
        neighbours = [other.parameters for other in chosen.values() if other.series == point.series]
        varying = [
            key
            for key, value in point.parameters.items()
            if any(other.get(key) != value for other in neighbours)
        ]
        title = ", ".join(
            [
                f"Congestion matrix: {point.series}",
                *(plain(point.parameters[key]) for key in varying),
            ]
        )
        text = texts.get(point.series)
        figures += matrix.draw(
            congestion.matrix(point, store),
            text["name"] if text else f"{point.series}-{point.id[:8]}",
            text["title"] if text else title,
            "" if point.machine in foreign or text is None else text["paper"],
            ", ".join(f"{key} {plain(value)}" for key, value in point.parameters.items()),
        )
    return figures
