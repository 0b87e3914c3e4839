"""The gallery: a thumbnail for each figure of the papers' pages, and for each picture in ``docs``.

A thumbnail is a small PNG, made from the figure's SVG, and leads to the page with the figure. Its
alternative text is the figure's title; the text below is the finding, where there is one.
"""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING

import vl_convert
from PIL import Image

from elanite.report import site as papers

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from elanite.report.index import Report

WIDTH, HEIGHT = 320, 220
"""Pixels; a card is narrower on a large screen."""

COLOURS = 48
"""Colours of a thumbnail: enough for the lines, areas and edges of a figure."""


def page(pages: Path, docs: Path, report: Report | None, folder: str) -> str:
    """The page's text; ``pages`` gets the thumbnails, and ``folder`` has the papers' pages."""
    parts = [
        "# Gallery",
        "Figures as `elanite report` draws them from finished points, and pictures of other pages.",
    ]
    (pages / "figures").mkdir(exist_ok=True)
    chapters: dict[str, list[str]] = {}
    for one in papers.shown(report) if report is not None else ():
        svg = vl_convert.vegalite_to_svg(one.figure.spec())
        file = f"figures/{one.name}.png"
        (pages / file).write_bytes(thumbnail(svg))
        link = (f"{folder}/{one.name}.html", "url")
        where = f"{one.where}, `{one.section.plan.experiment.name}`"
        found = card(one.title, file, one.figure.title, link, where)
        chapters.setdefault(one.chapter.name, []).append(found)
    for name, cards in chapters.items():
        parts += [f"## {plain(name)}", grid(cards)]
    return (
        "\n\n".join([*parts, "## Pictures of other pages", grid(list(of_docs(pages, docs)))]) + "\n"
    )


def of_docs(pages: Path, docs: Path) -> Iterator[str]:
    """The cards for the pictures of the pages in ``docs``."""
    for text in sorted(docs.glob("*.md")):
        for title, file in re.findall(
            r"!\[([^\]]*)\]\(([^)/]+\.svg)\)", text.read_text(encoding="utf-8")
        ):
            small = f"figures/docs-{file.removesuffix('.svg')}.png"
            (pages / small).write_bytes(thumbnail((docs / file).read_text(encoding="utf-8")))
            yield card(title, small, title, (f"docs/{text.stem}", "doc"), f"page `{text.stem}`")


def thumbnail(svg: str) -> bytes:
    """An SVG's upper part as a small PNG of few colours."""
    size = re.search(r'<svg[^>]* width="([\d.]+)', svg) or re.search(r'viewBox="0 0 ([\d.]+)', svg)
    if size is None:
        raise ValueError("the picture has no width")
    made = vl_convert.svg_to_png(svg, scale=WIDTH / float(size[1]), ppi=72)
    picture = Image.open(io.BytesIO(made)).convert("RGBA")
    paper = Image.new("RGBA", (WIDTH, HEIGHT), "white")
    paper.alpha_composite(
        picture.crop((0, 0, min(WIDTH, picture.width), min(HEIGHT, picture.height)))
    )
    small = io.BytesIO()
    paper.convert("RGB").quantize(COLOURS).save(small, "PNG", optimize=True)
    return small.getvalue()


def grid(cards: list[str]) -> str:
    """Cards side by side: two on a phone."""
    return "\n".join(["::::{grid} 2 3 3 4", ":gutter: 2", "", *cards, "::::"])


def card(title: str, picture: str, alt: str, link: tuple[str, str], where: str) -> str:
    """A thumbnail with its text, which leads to a page."""
    words = " ".join(alt.split())
    return (
        f":::{{grid-item-card}}\n:img-top: {picture}\n:img-alt: {words}\n:link: {link[0]}\n"
        f":link-type: {link[1]}\n\n{plain(title)}\n\n{where}\n:::"
    )


def plain(text: str) -> str:
    """A text whose characters have no meaning to Markdown."""
    return re.sub(r"([\\`*_{}\[\]<>#|$~^])", r"\\\1", " ".join(text.split()))
