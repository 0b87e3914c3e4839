"""The report: one HTML page with the cover, every figure and every claim, which works without a
network.

The page is drawn from the store alone. It begins with the picture of all claims (``cover``), then
has a chapter for each paper (``papers``), in it the experiments with their figures and claims, and
ends with the page's basis. The figures are specifications with their data inside, drawn by the
reader's browser when the reader scrolls to them, so that the page opens immediately; the Vega
libraries are embedded as text and started with the first figure. Without scripts the page still has
the cover, all claims and all tables.

A report's content is a ``ReportContent`` (``content``). ``layout`` lays it out as one page,
``site.write`` as a folder of pages, with the same templates. The user's experiments have separate
pages (``elanite.report.pages``).
"""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from typing import TYPE_CHECKING

from elanite import figures
from elanite.base import build, whole
from elanite.base.seeds import FIRST_SEED
from elanite.base.text import are, counted
from elanite.inputs import sources
from elanite.report.content import ExperimentSection, MachineSensitivity, ReportContent
from elanite.report.layout import page_of
from elanite.results import frames
from elanite.store.places import Folder
from elanite.study import heat_map
from elanite.study.basis import studies, study
from elanite.study.changes import read
from elanite.study.sensitivity import FOLDER, kept
from elanite.study.variation import varied
from elanite.validation import readings, reference
from elanite.validation.claims import claims
from elanite.validation.scoreboard import verdicts
from elanite.validation.short_runs import NOTE, looks_plan, planned

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

    import polars as pl

    from elanite.inputs.plan import Plan, Point
    from elanite.store import Store
    from elanite.validation.verdict import Verdict


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
