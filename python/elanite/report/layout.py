"""A report as one HTML page: its content in the terms of the templates, which the site shares."""

from __future__ import annotations

import platform
from collections import Counter
from datetime import UTC, datetime
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from elanite.base import build
from elanite.base.seeds import FIRST_SEED
from elanite.figures import vega
from elanite.inputs.machine import Machine
from elanite.report import cover
from elanite.report.content import ReportContent, in_order
from elanite.report.pages.frame import environment, signs_once, template
from elanite.study import ablation_table
from elanite.study.changes import STRONG
from elanite.validation import admissible_ranges, findings, papers, tally
from elanite.validation.board import fitted, headline, of_today, widest
from elanite.validation.cells import SIGN, one_run, simulated, spread
from elanite.validation.cells import published as published_text
from elanite.validation.claim import fitted_parameters

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import jinja2

    from elanite.report.content import ExperimentSection, MachineSensitivity
    from elanite.validation.readings import Readings
    from elanite.validation.verdict import Verdict


def render(
    found: Sequence[ExperimentSection],
    verdicts: Sequence[Verdict],
    seed: int = FIRST_SEED,
    sensitivities: Sequence[MachineSensitivity] = (),
    note: str = "",
    table: Readings | None = None,
    again: Sequence[str] = (),
) -> str:
    """A report as one page's text; arguments as the fields of ``ReportContent``."""
    return page_of(ReportContent(found, verdicts, seed, sensitivities, note, table, again))


def page_of(report: ReportContent) -> str:
    """A report as one page's text."""
    page = templates("report.html.j2", lambda anchor: f"#{anchor}")
    return page.render(
        style=template("report.css"),
        script=template("report.js"),
        libraries=vega.libraries(),
        **facts(report),
    )


def templates(name: str, at: Callable[[str], str]) -> jinja2.Template:
    """A template for a report's pages; ``at`` is the address of an anchor."""
    found = environment(
        published=published_text,
        simulated=simulated,
        spread=spread,
        one_run=one_run,
        ranged=admissible_ranges.verdict_words,
        says=cover.row_text,
        sentences=findings.sentences,
        behind=findings.figure_words,
        in_order=lambda drawn: list(signs_once(in_order(drawn))),
    )
    found.globals.update(at=at)
    return found.get_template(name)


def facts(report: ReportContent) -> dict[str, Any]:
    """A report's content as its templates name it."""
    found, verdicts = report.sections, report.verdicts
    unjudged = [v for v in verdicts if not v.judged]
    today = [v for v in verdicts if v.claim.today]
    machines = dict.fromkeys(machine for section in found for machine in section.plan.machines)
    return {
        "chapters": report.chapters,
        "sections": found,
        "headline": headline(verdicts),
        "note": report.note,
        "shipped": any(
            figure.shipped for section in found for figure in section.figures if figure.grid is None
        ),
        **_of_papers([v for v in verdicts if not v.claim.today]),
        "sign": SIGN,
        "unjudged": unjudged,
        "unjudged_today": sum(v.claim.today for v in unjudged),
        "of_today": of_today([v for v in today if v.judged]),
        "again": report.again or ["elanite reproduce"],
        "widest": widest([v for v in verdicts if not v.claim.today]),
        "fitted": [
            fitted(machine, parameters) for machine, parameters in fitted_parameters().items()
        ],
        "ablations": ablation_table.table(),
        "sensitivities": report.sensitivities,
        "readings": report.table if report.table is not None and report.table.judged else None,
        "strong": f"{STRONG:.0%}",
        "machines": [Machine.of(source) for source in machines],
        "papers": papers.papers(),
        "seed": report.seed,
        "first_seed": FIRST_SEED,
        "date": datetime.now(UTC).strftime("%d %B %Y, %H:%M UTC"),
        "versions": {
            **build.own_build().facts(),
            "Python": platform.python_version(),
            "Altair": version("altair"),
            "Polars": version("polars"),
            "first seed": report.seed,
        },
    }


def _of_papers(verdicts: Sequence[Verdict]) -> dict[str, object]:
    """The papers' claims, as the cover counts and shows them; those about current networks have a
    chapter.
    """
    counted = [v for v in verdicts if v.role in ("predicted", "fitted")]
    return {
        "judged": [v for v in verdicts if v.judged],
        "missed": [v for v in counted if v.holds is False],
        "unresolved": [v for v in counted if v.state == "not resolved"],
        "reasons": Counter(v.unresolved for v in counted if v.state == "not resolved"),
        "vague": [v for v in counted if v.state == "source too vague"],
        "inferred": [v for v in verdicts if v.judged and v.role == "inference"],
        "contradicted": [v for v in verdicts if v.judged and v.role == "inconsistent"],
        "counts": tally.counts(verdicts),
        "cover": {
            "predicted": cover.groups(verdicts, tally.PREDICTED),
            "fitted": cover.groups(verdicts, ["fitted"]),
        },
        "statements": cover.groups(verdicts, (*tally.PREDICTED, "fitted")),
        "ranked": cover.groups(verdicts, tally.RANKED),
        "apart": cover.groups(verdicts, ("inference", "")),
        "typical": cover.typical(verdicts, tally.PREDICTED),
        "marks": [(mark, cover.place(mark)) for mark in cover.MARKS],
    }
