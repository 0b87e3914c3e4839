"""The report as a site: a page for each paper and for each figure, in a folder that works from a
disk or a server.

The content is a ``ReportContent``, and the texts, figures and claims come from the templates of the
one-page report: a site is another layout, with no other numbers. A figure's page has its finding as
the title (``figures.finding``), computed from the rows of the chart; a chart without a finding
keeps its own title. A paper's page has a small picture and the finding of each figure, and the
claims, folded. Every page finds figures, experiments and claims (``search.js``), and shares the
style, the script and the Vega libraries, which are files here. The pictures are at the width of a
paper's column, as SVG, PDF and PNG (``figures.column``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from elanite.base import html, whole
from elanite.figures import column, finding, vega
from elanite.report.content import in_order
from elanite.report.layout import facts, templates
from elanite.report.pages.frame import template

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from elanite.figures import Figure
    from elanite.report.content import Chapter, ExperimentSection, ReportContent

ASSETS = ("report.css", "site.css", "report.js", "site.js")
"""The files that all pages share, besides the libraries and the search's entries."""

OTHER = {
    "fidelity": "How faithful is the model?",
    "ablations": "Ablations",
    "sensitivity": "Sensitivity",
    "sources": "Machines and sources",
}
"""The pages beside papers and figures: name and title. Pages without content are left out."""

ANCHORS = {
    "missed": "fidelity",
    "machines": "sources",
    "reproduce": "sources",
    "bibliography": "sources",
}
"""Places on these pages that links of the shared templates lead to."""


@dataclass(frozen=True)
class FigurePage:
    """A figure with a page of its own."""

    figure: Figure
    section: ExperimentSection
    chapter: Chapter
    name: str
    """The page's and the pictures' file name, without a suffix."""
    found: str
    """The finding; empty if the chart has none."""

    @property
    def title(self) -> str:
        """The page's title: the finding, or the figure's title without one."""
        return self.found or self.figure.title

    @property
    def where(self) -> str:
        """Its place in the paper, or the paper's name."""
        number = self.figure.paper
        return f"{self.chapter.name}, {number}" if number else self.chapter.name


def write(folder: Path, report: ReportContent, explore: str = "", model: str = "") -> list[Path]:
    """Write all pages and pictures, and return the pages, the front page first.

    ``explore`` and ``model`` are the addresses of the explorer and of the guide for a network of
    one's own, where a larger site has them; without them, the front page has the commands. Raises
    ``ElaniteError`` if a file cannot be written.
    """
    figures = list(shown(report))
    pages = dict(render(report, figures, explore, model))
    for name in ASSETS:
        whole.write(folder / name, template(name))
    whole.write(folder / "vega.js", vega.libraries().replace("<\\/script", "</script"))
    whole.write(
        folder / "search.js", f"const ENTRIES = {html.embedded(list(entries(report, figures)))};\n"
    )
    for one in figures:
        for suffix, content in column.files(one.figure).items():
            whole.write(folder / "figures" / f"{one.name}.{suffix}", content)
    for name, text in pages.items():
        whole.write(folder / f"{name}.html", text)
    return [folder / f"{name}.html" for name in pages]


def shown(report: ReportContent) -> Iterator[FigurePage]:
    """The figures in the papers' order."""
    for chapter in report.chapters:
        for section in chapter.sections:
            for figure in in_order(section.figures):
                name = re.sub(r"[^A-Za-z0-9-]+", "-", f"{section.anchor}-{figure.name}")
                yield FigurePage(figure, section, chapter, name, finding.sentence(figure))


def render(
    report: ReportContent, figures: list[FigurePage], explore: str = "", model: str = ""
) -> Iterator[tuple[str, str]]:
    """All pages' names and texts, the front page first."""
    content = facts(report)
    places = dict(_places(report))
    drawn: dict[str, Any] = {
        "figures": figures,
        "verdicts_of": lambda section: [
            v for v in report.verdicts if v.claim.experiment == section.plan.experiment.name
        ],
        "by_section": {
            section.anchor: [one for one in figures if one.section.anchor == section.anchor]
            for section in report.sections
        },
        "explore": explore,
        "model": model,
        "others": {
            name: title for name, title in OTHER.items() if name == "sources" or _has(name, content)
        },
    }
    page = templates("site.html.j2", lambda anchor: f"{places[anchor]}.html#{anchor}")

    def written(kind: str, title: str, **more: object) -> str:
        return page.render(
            **content, **drawn, kind=kind, title=title, **{"chapter": None, "shown": None} | more
        )

    yield "index", written("index", "The papers")
    for chapter in report.chapters:
        yield chapter.key, written("chapter", chapter.name, chapter=chapter)
    for number, one in enumerate(figures):
        before, after = figures[number - 1] if number else None, (*figures, None)[number + 1]
        yield (
            one.name,
            written(
                "figure", one.title, shown=one, chapter=one.chapter, before=before, after=after
            ),
        )
    for name, title in drawn["others"].items():
        yield name, written(name, title)


def _has(name: str, content: dict[str, object]) -> bool:
    """Whether one of the other pages has content."""
    ablations = content["ablations"]
    return bool(
        {
            "fidelity": True,
            "ablations": getattr(ablations, "ablated", ()),
            "sensitivity": content["sensitivities"],
        }[name]
    )


def _places(report: ReportContent) -> Iterator[tuple[str, str]]:
    """The page of each anchor that the shared templates link to."""
    yield from ANCHORS.items()
    for chapter in report.chapters:
        yield chapter.key, chapter.key
        yield f"paper-{chapter.key}", "sources"
        for section in chapter.sections:
            yield section.anchor, chapter.key
        for verdict in (*chapter.others, *chapter.judged):
            yield f"claim-{verdict.claim.id}", chapter.key
        for verdict in report.verdicts:
            if any(
                verdict.claim.experiment == section.plan.experiment.name
                for section in chapter.sections
            ):
                yield f"claim-{verdict.claim.id}", chapter.key
    if report.table is not None:
        yield "readings", report.table.paper


def entries(report: ReportContent, figures: list[FigurePage]) -> Iterator[dict[str, str]]:
    """The search's entries: address, title, place, and further words."""
    for chapter in report.chapters:
        yield {
            "at": f"{chapter.key}.html",
            "title": chapter.name,
            "where": "paper" if chapter.paper else "chapter",
            "words": f"{chapter.about} {chapter.paper.title if chapter.paper else ''}",
        }
    for one in figures:
        more = " ".join(
            [
                one.figure.title,
                one.section.plan.title,
                one.section.plan.experiment.name,
                one.figure.caption,
            ]
        )
        where = f"{one.figure.title}; {one.where}" if one.found else one.where
        yield {"at": f"{one.name}.html", "title": one.title, "where": where, "words": more}
    places = dict(_places(report))
    for verdict in report.verdicts:
        claim = verdict.claim
        if place := places.get(f"claim-{claim.id}"):
            where = f"claim, {verdict.state}"
            yield {
                "at": f"{place}.html#claim-{claim.id}",
                "title": claim.says,
                "where": where,
                "words": claim.id,
            }
