"""The congestion matrix as an animation: an SVG that plays the time slices, as the report's slider
does.

The picture needs no script, so that it moves in a README, too: every square has the list of its
colours, and the slider's knob the list of its places. At the end the picture rests on the measured
window.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from elanite.figures.colours import mixed
from elanite.figures.matrix import scene
from elanite.figures.matrix_places import HEAD, LEFT
from elanite.results.congestion import HEAT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from elanite.results.congestion import Matrix

SECONDS, REST = 0.35, 6
"""How long a slice is shown, and for how many slices the picture rests on the measured window."""

FOOT = 46
"""Height of the slider in pixels."""

INK, QUIET, KNOB = "#1b1f24", "#6a737d", "#0B62A4"


def animated(matrix: Matrix, title: str) -> str:
    """A matrix's delays over its time slices, as an SVG."""
    drawn = scene(matrix)
    count = len(drawn.moments)
    order = [*range(count), *[count - 1] * REST]
    time = f'dur="{SECONDS * len(order):.2f}s" calcMode="discrete" repeatCount="indefinite"'
    parts = []
    for row in drawn.squares.iter_rows(named=True):
        fills = [heat(value) for value in row["relative"]]
        place = f'x="{row["x"]:.1f}" y="{row["y"]:.0f}" width="{row["x2"] - row["x"]:.1f}"'
        values = ";".join(fills[moment] for moment in order)
        parts.append(
            f'<rect {place} height="{row["y2"] - row["y"]:.0f}" fill="{fills[-1]}" stroke="#9a9a9a"'
            f' stroke-width=".5"><animate attributeName="fill" values="{values}" {time}/></rect>'
        )
    for row in drawn.labels.iter_rows(named=True):
        anchor = "start" if row["align"] == "left" else "middle"
        parts.append(
            _text(row["x"], row["y"] + 4, row["text"], 11, QUIET, f'text-anchor="{anchor}"')
        )
    parts += _slider(drawn.moments, order, time, (drawn.width, drawn.height))
    parts.append(_text(LEFT, HEAD - 10, title, 14, INK, 'font-weight="600"'))
    height = drawn.height + FOOT
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {drawn.width} {height}"'
        f' width="{drawn.width}" height="{height}" role="img" font-family="system-ui, Segoe UI,'
        f' Helvetica, Arial, sans-serif"><title>{escape(title)}</title><rect width="{drawn.width}"'
        f' height="{height}" fill="#ffffff"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def heat(relative: float) -> str:
    """The colour of a figure between 0 and 100, on the report's scale."""
    place = min(max(relative, 0.0), 100.0) / 100 * (len(HEAT) - 1)
    low = min(int(place), len(HEAT) - 2)
    return mixed(HEAT[low], HEAT[low + 1], place - low)


def _slider(
    moments: Sequence[str], order: Sequence[int], time: str, size: tuple[int, int]
) -> list[str]:
    """The slider with each moment's name."""
    y, right = size[1] + 16, size[0] - 260
    places = [
        LEFT + (right - LEFT) * moment / max(len(moments) - 1, 1) for moment in range(len(moments))
    ]
    values = ";".join(f"{places[moment]:.0f}" for moment in order)
    parts = [
        (
            f'<line x1="{LEFT}" x2="{right}" y1="{y}" y2="{y}" stroke="#c9d1d9" stroke-width="4"'
            ' stroke-linecap="round"/>'
        ),
        (
            f'<circle cx="{places[-1]:.0f}" cy="{y}" r="8" fill="{KNOB}">'
            f'<animate attributeName="cx" values="{values}" {time}/></circle>'
        ),
    ]
    for moment, name in enumerate(moments):
        shown = ";".join("visible" if one == moment else "hidden" for one in order)
        words = _text(right + 22, y + 5, name, 13, INK, "", close=False)
        animate = f'<animate attributeName="visibility" values="{shown}" {time}/></text>'
        still = "" if moment == len(moments) - 1 else ' visibility="hidden"'
        parts.append(words.replace("<text", f"<text{still}", 1) + animate)
    return parts


def _text(
    x: float, y: float, text: str, size: int, fill: str, more: str, *, close: bool = True
) -> str:
    end = "</text>" if close else ""
    return (
        f'<text x="{x:.0f}" y="{y:.0f}" font-size="{size}" fill="{fill}" {more}>{escape(text)}{end}'
    )
