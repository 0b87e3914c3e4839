"""A report's content: its experiments with their figures, in chapters for papers, and the verdicts.

The content is the same whatever pages it is laid out on (``layout``, ``site``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING

from elanite.base.seeds import FIRST_SEED
from elanite.validation import papers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from elanite.figures import Figure
    from elanite.inputs.plan import Plan
    from elanite.study.changes import ChangeSummary
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
