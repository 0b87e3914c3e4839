"""A figure at the width of a paper's column, as SVG, PNG and PDF.

A chart is laid out anew in the column's width, so that its letters have the size of a caption's;
the title is left to the caption. A wide picture, such as a congestion matrix, takes the width of
the page.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import altair as alt

if TYPE_CHECKING:
    from elanite.figures.style import Figure, Spec

COLUMN, PAGE = 88.9, 181.0
"""The widths of a column and of a page with two columns, in mm, as in most proceedings."""

PIXELS = 460
"""The column's width while it is drawn; marks and names of published values have fixed sizes in
pixels.
"""

HEIGHT = 300

LETTERS = 12
"""The size of letters in these pixels: 6.5 points in print."""

DOTS = 600
"""The dots in an inch of a PNG."""

FONT = "Helvetica, Arial, DejaVu Sans, sans-serif"


def files(figure: Figure) -> dict[str, bytes]:
    """The figure's files by suffix: svg, pdf, png; ``host.require_drawing`` comes before."""
    import vl_convert as vlc

    wanted = ".".join(alt.SCHEMA_VERSION.lstrip("v").split(".")[:2])
    versions: list[str] = vlc.get_vegalite_versions()
    chart = spec(figure)
    drawn = vlc.vegalite_to_svg(chart, vl_version=wanted if wanted in versions else versions[-1])
    width = PAGE if figure.wide else COLUMN
    # The converters take the SVG's size without a unit as points.
    points = sized(drawn, width / 25.4 * 72, "")
    pdf: bytes = vlc.svg_to_pdf(points)
    png: bytes = vlc.svg_to_png(points, ppi=DOTS)
    return {"svg": sized(drawn, width, "mm").encode(), "pdf": pdf, "png": png}


def spec(figure: Figure) -> Spec:
    """The chart's specification in a column's width, with its data inside and without its title."""
    letters = {
        "labelFontSize": LETTERS,
        "titleFontSize": LETTERS,
        "titleFontWeight": "normal",
        "labelLimit": 0,
    }
    config = {
        "font": FONT,
        "background": "white",
        "padding": 2,
        "axis": letters | {"titleLimit": 0},
        "axisX": {"tickCount": 6},
        "legend": letters | {"orient": "bottom", "direction": "vertical", "titleLimit": 0},
        "text": {"fontSize": LETTERS},
        "view": {"stroke": None},
    }
    chart = {name: part for name, part in figure.spec().items() if name != "title"}
    chart["config"] = config
    if not figure.wide:
        chart |= {
            "width": PIXELS,
            "height": HEIGHT,
            "autosize": {"type": "fit-x", "contains": "padding"},
        }
    return chart


def sized(svg: str, width: float, unit: str) -> str:
    """An SVG with this width; its height follows."""
    across, high = (float(size) for size in re.findall(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg)[0])
    head, rest = svg.split(">", 1)
    head = re.sub(r' width="[^"]*"', f' width="{width:g}{unit}"', head, count=1)
    head = re.sub(r' height="[^"]*"', f' height="{width * high / across:.2f}{unit}"', head, count=1)
    return f"{head}>{rest}"
