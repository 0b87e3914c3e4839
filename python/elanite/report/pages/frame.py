"""A page's frame: types for its content, and the HTML writer.

The content is data. The template ``page.html.j2`` lays it out, with the style, the script and the
Vega libraries that the papers' report has, too. The browser draws all charts from the data inside
the page as soon as the page has loaded, so that a printed page is complete. All texts are escaped;
only a ``Drawing`` brings its own HTML.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, ClassVar

from elanite.base import bounded, build, html, whole
from elanite.base.text import minus, number, percent, plain
from elanite.figures import tabular, vega
from elanite.figures.curves import OFFERED, SAID
from elanite.figures.table import tint

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    import jinja2
    from jinja2.bccache import Bucket

    from elanite.figures import Figure
    from elanite.inputs.machine import Machine
    from elanite.report.pages.inputs import Inputs


@dataclass(frozen=True)
class PageTable:
    """A section's table; all cells are texts, numbers formatted for people."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str
    """The table's name, a line above it."""
    right: Sequence[str] = ()
    """The columns with numbers, which are aligned at the right."""
    folded: bool = False
    """Whether the table is closed at first; folded tables are not printed."""
    note: str = ""
    """A sentence below the table: units, or rows that were left out."""


@dataclass(frozen=True)
class Drawing:
    """A drawing with its own script, for pictures that are not Vega charts, such as a timeline."""

    title: str
    markup: str
    """The drawing's HTML, inserted as it is: the maker escapes all texts (``html.escape``,
    ``html.embedded``).
    """
    caption: str = ""
    style: str = ""
    """CSS; a page has each distinct style once."""
    script: str = ""
    """JavaScript, run once after the page has loaded; a page has each distinct script once."""


@dataclass(frozen=True)
class Section:
    """A page's part: texts, then drawings, figures and tables."""

    heading: str
    text: Sequence[str] = ()
    """Plain text paragraphs."""
    figures: Sequence[Figure] = ()
    tables: Sequence[PageTable] = ()
    drawings: Sequence[Drawing] = ()


@dataclass(frozen=True)
class Page:
    """A page's content."""

    title: str
    command: Sequence[str]
    """The command-line words that made the results, exactly as it ran."""
    inputs: Inputs
    """The files that the command read, and the command that gives the same results in a folder with
    these files.
    """
    about: str = ""
    """A line below the title: machines, point count, processor time."""
    findings: Sequence[str] = ()
    """One sentence per finding, with its numbers; the most important one first."""
    notes: Sequence[str] = ()
    """Warnings that decide how the page is read, such as missing points."""
    sections: Sequence[Section] = ()
    machines: Sequence[Machine] = ()
    """The machines; the page lists their parameters and sources."""


def write(path: Path, page: Page) -> None:
    """Write a page's file. Raises ``ElaniteError`` if it cannot be written."""
    whole.write(path, render(page))


def render(page: Page) -> str:
    """A page's HTML."""
    sections = [
        {"anchor": f"section-{place}", "of": replace(each, figures=list(signs_once(each.figures)))}
        for place, each in enumerate(page.sections, 1)
    ]
    drawings = [drawing for each in page.sections for drawing in each.drawings]
    return (
        environment()
        .get_template("page.html.j2")
        .render(
            page=page,
            sections=sections,
            command=shlex.join(page.command),
            rerun=page.inputs.command,
            inputs=page.inputs.block(),
            style="\n".join([template("report.css"), template("page.css")]),
            styles=list(dict.fromkeys(one.style for one in drawings if one.style)),
            script=template("report.js"),
            scripts=list(dict.fromkeys(one.script for one in drawings if one.script)),
            libraries=vega.libraries(),
            build=footer(),
        )
    )


def footer() -> dict[str, str]:
    """A page's date and the build that made it: names and values."""
    return {"made": datetime.now(UTC).strftime("%d %B %Y, %H:%M UTC")} | build.own_build().facts()


def environment(**filters: Callable[..., object]) -> jinja2.Environment:
    """The templates for pages with figures, with the filters that figures need and further ones."""
    import jinja2

    found = jinja2.Environment(
        loader=jinja2.FunctionLoader(template),
        bytecode_cache=_compiled(),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters.update(
        number=number,
        percent=percent,
        minus=minus,
        plain=plain,
        tint=tint,
        legends=lambda figure: tabular.legends(figure.spec()),
        embedded=_embedded,
        **filters,
    )
    return found


@cache
def _compiled() -> jinja2.BytecodeCache:
    """The templates that this process has compiled: a campaign writes its report many times."""
    import jinja2

    class Compiled(jinja2.BytecodeCache):
        codes: ClassVar[dict[str, bytes]] = {}

        def load_bytecode(self, bucket: Bucket) -> None:
            if bucket.key in self.codes:
                bucket.bytecode_from_string(self.codes[bucket.key])

        def dump_bytecode(self, bucket: Bucket) -> None:
            self.codes[bucket.key] = bucket.bytecode_to_string()

    return Compiled()


def template(name: str) -> str:
    """The text in a template folder's file."""
    return bounded.packaged("templates", name)


def signs_once(drawn: Iterable[Figure]) -> Iterator[Figure]:
    """A section's figures; a sentence on symbols that they share is in the caption of the first one
    only.
    """
    told: dict[str, str] = {}
    for figure in drawn:
        caption = minus(figure.caption)
        said = [words for words in (OFFERED, *SAID.values()) if words in caption]
        known = [words for words in said if words in told]
        for words in known[1:]:
            caption = caption.replace(f" {words}", "")
        if known:
            places = " and ".join(dict.fromkeys(told[words] for words in known))
            caption = caption.replace(known[0], f"Symbols as in {places}.")
        told |= dict.fromkeys(said, figure.paper or f"“{figure.title}”") | told
        yield replace(figure, caption=caption)


def _embedded(figure: Figure) -> str:
    """A figure's data for the page's script: the chart, and the table behind it."""
    head, rows = tabular.table(figure)
    content: dict[str, object] = {"spec": figure.spec(), "head": head, "rows": rows}
    return html.embedded(content)
