"""The report: one HTML page with the cover, every figure and every claim, which works without a
network.

The page is drawn from the store alone. It begins with the picture of all claims (``cover``), then
has a chapter for each paper (``papers``), in it the experiments with their figures and claims, and
ends with the page's basis. The figures are specifications with their data inside, drawn by the
reader's browser when the reader scrolls to them, so that the page opens immediately; the Vega
libraries are embedded as text and started with the first figure. Without scripts the page still has
the cover, all claims and all tables.

A report's content is a ``ReportContent``. ``render`` lays it out as one page, ``site.write`` as a
folder of pages, with the same templates. The user's experiments have separate pages
(``elanite.report.pages``).
"""

from __future__ import annotations

import json
import platform
import re
import shlex
from collections import Counter
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from importlib.metadata import version
from math import inf
from typing import TYPE_CHECKING, Any

from elanite import figures
from elanite.base import build, whole
from elanite.base.seeds import FIRST_SEED
from elanite.base.text import are, counted
from elanite.figures import vega
from elanite.inputs import sources
from elanite.inputs.machine import Machine
from elanite.report import cover
from elanite.report.pages.frame import environment, signs_once, template
from elanite.results import frames
from elanite.store.places import Folder
from elanite.study import ablation_table, heat_map
from elanite.study.basis import studies, study
from elanite.study.changes import STRONG, ChangeSummary, read
from elanite.study.sensitivity import FOLDER, kept
from elanite.study.vary import varied
from elanite.validation import admissible, findings, papers, readings, reference, tally
from elanite.validation.board import fitted, headline, of_today, widest
from elanite.validation.cells import SIGN, one_run, simulated, spread
from elanite.validation.cells import published as published_text
from elanite.validation.claim import fitted_parameters
from elanite.validation.claims import claims
from elanite.validation.quick import NOTE, looks_plan, planned
from elanite.validation.scoreboard import verdicts

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence
    from pathlib import Path

    import jinja2
    import polars as pl

    from elanite.figures import Figure
    from elanite.inputs.plan import Plan, Point
    from elanite.store import Store
    from elanite.validation.papers import Paper
    from elanite.validation.readings import Readings
    from elanite.validation.verdict import Verdict

NAMES = {
    papers.OTHERS: "Other publications",
    papers.BEYOND: "Beyond the papers",
    papers.TODAY: "Networks of today",
}
"""The chapters that are no paper."""

ABOUT = {
    papers.OTHERS: (
        "What other publications say of the same hardware; no parameter is fitted to it."
    ),
    papers.BEYOND: (
        "What no paper shows: larger machines, failures, the effect of each mechanism. No paper has"
        " figures to compare them with."
    ),
    papers.TODAY: (
        "The same questions for networks of today. Their machines and their claims are counted"
        " apart from those of the papers."
    ),
}


@dataclass(frozen=True)
class ExperimentSection:
    """One experiment in the report."""

    plan: Plan
    finished: int
    figures: list[Figure]
    packets: int
    events: int
    cpu_seconds: float
    renewed: int = 0
    """Points that this build has computed."""
    same: ExperimentSection | None = None
    """The section before this one that has all its points, and so its figures."""

    @property
    def anchor(self) -> str:
        """The section's identifier within the page."""
        return self.plan.experiment.name.replace("/", "-")


@dataclass(frozen=True)
class Chapter:
    """A paper, or the material outside of papers: its experiments, and its claims without an
    experiment.
    """

    key: str
    paper: Paper | None
    sections: list[ExperimentSection]
    others: list[Verdict]
    judged: list[Verdict]
    """The chapter's claims with results."""

    @property
    def name(self) -> str:
        """The chapter's heading."""
        return self.paper.short if self.paper else NAMES[self.key]

    def label(self, section: ExperimentSection) -> str:
        """A section's title in short: the part before the colon, or after it if others begin
        alike.
        """
        first, _, rest = section.plan.title.partition(": ")
        alike = sum(other.plan.title.split(": ")[0] == first for other in self.sections)
        return rest[:1].upper() + rest[1:] if alike > 1 and rest else first

    @property
    def about(self) -> str:
        """The chapter's contents, in a sentence."""
        return self.paper.about if self.paper else ABOUT[self.key]


@dataclass(frozen=True)
class MachineSensitivity:
    """The sensitivity of one machine's claims."""

    machine: str
    figure: Figure
    reading: ChangeSummary
    others: list[str]
    """Uncertain parameters that are no numbers."""
    chosen: int
    """How many claims about the machine the study covers."""


@dataclass(frozen=True)
class ReportContent:
    """A report's content, whatever pages it is laid out on."""

    sections: Sequence[ExperimentSection]
    verdicts: Sequence[Verdict]
    """Without verdicts there are no paper chapters."""
    seed: int = FIRST_SEED
    sensitivities: Sequence[MachineSensitivity] = ()
    note: str = ""
    """A text for the cover, such as that the runs were short."""
    table: Readings | None = None
    """The statements that can be read in several ways, which stand in their paper's chapter."""
    again: Sequence[str] = ()
    """The commands that simulate the report's experiments."""

    @cached_property
    def chapters(self) -> list[Chapter]:
        """The papers with their experiments and claims, then the chapters that are no paper."""
        return list(_chapters(self.sections, self.verdicts))


def studied(out: Path, seed: int = FIRST_SEED) -> list[MachineSensitivity]:
    """The sensitivity studies that were kept below ``out`` and still hold for the machines as they
    are.
    """
    found = []
    for machine in studies() if (out / FOLDER).is_dir() else []:
        chosen = study(machine, seed=seed)
        table = kept(chosen, out)
        figure = heat_map.draw(machine, table) if table is not None else None
        if table is not None and figure is not None:
            others = [each.key for each in varied(chosen.machine)[1]]
            found.append(
                MachineSensitivity(machine, figure, read(table), others, len(chosen.claims))
            )
    return found


class Writer:
    """Writes a campaign's report, again and again.

    Parts without a change since the last time are not judged or drawn again.
    """

    def __init__(
        self,
        out: Path,
        store: Store,
        seed: int = FIRST_SEED,
        *,
        quick: bool = False,
        asked: Collection[str] | None = None,
    ) -> None:
        """``asked`` are the campaign's experiments; `None` for a report on finished points
        alone.
        """
        self.out, self.store, self.seed, self.quick, self.asked = out, store, seed, quick, asked
        self._drawn: dict[str, ExperimentSection] = {}
        self._judged: dict[str, Verdict] = {}
        self._readings = readings.Reader(store, seed, quick=quick)
        self.left_out = ""
        """A sentence on finished points that the last report left out; empty without any."""
        prepare(out)

    def write(self, only: Collection[str] | None = None) -> tuple[Path, list[Verdict]]:
        """Write ``out/report/index.html`` and ``out/scoreboard.json``; returns the page and the
        verdicts.

        The page shows these experiments ``only``, or else all experiments that have finished
        points.
        """
        report = self.read(only)
        page = self.out / "report" / "index.html"
        whole.write(page, page_of(report))
        board = [verdict.as_json() for verdict in report.verdicts]
        whole.write(
            self.out / "scoreboard.json", json.dumps(board, indent=1, ensure_ascii=False) + "\n"
        )
        return page, list(report.verdicts)

    def read(self, only: Collection[str] | None = None) -> ReportContent:
        """The report's content, from the finished points of all experiments or of these
        ``only``.
        """
        found = verdicts(self.store, self.seed, quick=self.quick, known=self._judged)
        # Another build's points may be replaced by this one's before the next report.
        if not build.note(self.store.builds()):
            self._judged = {
                verdict.claim.id: verdict
                for verdict in found
                if verdict.complete and not verdict.open
            }
        else:
            self._readings.forget()
        names = [name for name in sources.shipped("experiment") if only is None or name in only]
        shown = [section for name in names if (section := self._section(name)) is not None]
        mixed = build.note(self.store.builds())
        if self.asked is None and not self.quick:
            self.left_out = left_out(self.store, self.seed)
        return ReportContent(
            sections=shown,
            verdicts=found,
            seed=self.seed,
            sensitivities=studied(self.out, self.seed),
            note=" ".join(
                filter(
                    None,
                    [
                        NOTE if self.quick else self.left_out,
                        f"{mixed[0].upper()}{mixed[1:]}." if mixed else "",
                    ],
                )
            ),
            table=self._readings.read(),
            again=commands(shown, self.seed, quick=self.quick),
        )

    def _section(self, name: str) -> ExperimentSection | None:
        plan = looks_plan(name, self.store, self.seed) if self.quick else planned(name, self.seed)
        points = frames.finished(plan, self.store)
        if not self._belongs(plan, points):
            return None
        renewed = sum(self.store.current(point.id) is not None for point in points)
        before = self._drawn.get(name)
        if points and (
            before is None or (before.finished, before.renewed) != (len(points), renewed)
        ):
            shown = section(plan, points, self.store, reference.rows(plan) if self.quick else None)
            self._drawn[name] = replace(shown, renewed=renewed)
        return self._drawn.get(name)

    def _belongs(self, plan: Plan, finished: Sequence[Point]) -> bool:
        """Whether an experiment was asked for, now or before.

        An experiment may have points that were simulated for others alone: its figures would lack
        most marks.
        """
        name = plan.experiment.name
        asked = len(finished) == len(plan.points) if self.asked is None else name in self.asked
        own = (manifest for point in finished if (manifest := self.store.get(point.id)) is not None)
        return asked or any(one["experiment"] == name for one in own)


def left_out(store: Store, seed: int) -> str:
    """A sentence on the finished points of short runs, which a report on whole runs does not
    show.
    """
    manifests = (store.get(identity) for identity in store.identities())
    held = {manifest.data["experiment"] for manifest in manifests if manifest is not None}
    short: set[str] = set()
    for name in held & set(sources.shipped("experiment")):
        finished = {point.id for point in frames.finished(looks_plan(name, store, seed), store)}
        short |= finished - {point.id for point in planned(name, seed).points}
    if not short:
        return ""
    return (
        f"The figures and claims rest on whole runs; {counted(len(short), 'finished point')} of"
        f" quick runs {are(len(short))} left out: elanite report --quick shows them."
    )


def commands(found: Sequence[ExperimentSection], seed: int, *, quick: bool) -> list[str]:
    """The commands that simulate the experiments on a page again: one, and another for those
    without a quick form.
    """
    names = {section.plan.experiment.name for section in found}
    decisive = {claim.experiment for claim in claims()}
    every = set(sources.shipped("experiment")) & (
        decisive if quick else set(sources.shipped("experiment"))
    )
    more = ["--seed", str(seed)] if seed != FIRST_SEED else []
    chosen = (
        [] if names >= every or not names & every else ["--only", ",".join(sorted(names & every))]
    )
    words = (
        [["elanite", "reproduce", *chosen, *(["--quick"] if quick else []), *more]]
        if names & every
        else []
    )
    if others := sorted(names - every):
        words.append(["elanite", "reproduce", "--only", ",".join(others), *more])
    return [shlex.join(each) for each in words]


def prepare(out: Path) -> None:
    """See whether the report can be written, before anything is simulated for it.

    Raises ``UsageError`` if a file stands where a folder belongs, ``StoreError`` if the folder
    cannot be written.
    """
    Folder(out / "report").prepare()


def section(
    plan: Plan, points: Sequence[Point], store: Store, beside: pl.DataFrame | None = None
) -> ExperimentSection:
    """An experiment's section, from the finished points; figures also draw the rows ``beside``
    them, marked.
    """
    manifests = [manifest for point in points if (manifest := store.get(point.id)) is not None]
    return ExperimentSection(
        plan=plan,
        finished=len(points),
        figures=figures.drawn(plan, store, beside),
        packets=sum(manifest.data["packets"] for manifest in manifests),
        events=sum(manifest.data["events"] for manifest in manifests),
        cpu_seconds=sum(manifest.cpu_seconds for manifest in manifests),
    )


def write(
    out: Path, store: Store, seed: int = FIRST_SEED, *, quick: bool = False
) -> tuple[Path, list[Verdict]]:
    """Write ``out/report/index.html`` and ``out/scoreboard.json`` once; returns the page and the
    verdicts.
    """
    return Writer(out, store, seed, quick=quick).write()


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
        ranged=admissible.verdict_words,
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
        "pale": any(
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


def _chapters(found: Sequence[ExperimentSection], verdicts: Sequence[Verdict]) -> Iterator[Chapter]:
    """The papers with their experiments and claims, then the chapters that are no paper."""
    known: dict[str, list[ExperimentSection]] = {}
    for section in sorted(_without_twins(found), key=lambda section: papers.place(section.plan)):
        known.setdefault(papers.chapter(section.plan), []).append(section)
    chapters = {key: paper for key, paper in papers.papers().items() if paper.chapter}
    shown = {section.plan.experiment.name: key for key, some in known.items() for section in some}
    for key in (*chapters, papers.OTHERS, papers.BEYOND, papers.TODAY):
        here = [
            v
            for v in verdicts
            if shown.get(v.claim.experiment, papers.chapter_of_claim(v.claim)) == key
        ]
        others = [v for v in here if v.claim.experiment not in shown]
        if known.get(key) or others:
            judged = [v for v in here if v.judged]
            yield Chapter(key, chapters.get(key), known.get(key, []), others, judged)


def _without_twins(found: Sequence[ExperimentSection]) -> Iterator[ExperimentSection]:
    """The sections; one with all its points in a larger one refers to that one, and has no
    figures.
    """
    points = {id(section): {point.id for point in section.plan.points} for section in found}
    for section in found:
        mine = points[id(section)]
        same = next((other for other in found if mine < points[id(other)]), None)
        yield replace(section, same=same, figures=[]) if same else section


def in_order(drawn: Sequence[Figure]) -> list[Figure]:
    """An experiment's figures: the published ones by their numbers, then those that no paper
    has.
    """

    def number(figure: Figure) -> tuple[float, str]:
        found = re.match(r"figures? (\d+) ?(\w?)", figure.paper)
        return (float(found[1]), found[2]) if found else (inf, "")

    return sorted(drawn, key=number)
