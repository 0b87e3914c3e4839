"""The papers: which experiment and which claim belongs to which, and in which order a reader meets
them.

The papers are data (``data/papers.toml``). An experiment belongs to the paper with whose key its
``source`` begins, unless this ``source`` calls it a prediction or not in the papers. A paper's
experiments stand in the order of its figures; those without published figures follow, in the order
of the claims that are measured on them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from math import inf
from typing import TYPE_CHECKING

from elanite.base import bounded
from elanite.inputs.tables import loaded
from elanite.validation.claims import claims

if TYPE_CHECKING:
    from elanite.inputs.plan import Plan
    from elanite.validation.claim import Claim

OTHERS, BEYOND, TODAY = "others", "beyond", "today"
"""The chapters outside of papers: other publications, experiments beyond the papers, current
networks.
"""

_NEW = re.compile(r"not in the papers?\b|\bprediction\b|no published figure")
_FIGURE = re.compile(r"figures? (\d+)")


@dataclass(frozen=True)
class Paper:
    """A publication."""

    key: str
    name: str
    """The publication in a few words."""
    authors: str
    title: str
    where: str
    url: str
    short: str = ""
    """Its chapter's name; empty for a publication without one."""
    about: str = ""
    chapter: bool = True


@cache
def papers() -> dict[str, Paper]:
    """All publications by their keys, those with chapters first."""
    text = bounded.packaged("data", "papers.toml")
    found = [entry.filled(Paper, {}) for entry in loaded(text, "papers.toml").tables("paper")]
    return {paper.key: paper for paper in found}


def keys(source: str) -> list[str]:
    """The publications that a ``source`` cites, the one that it follows first."""
    return [word for word in re.findall(r"[\w-]+", source) if word in papers()]


def citations(source: str) -> str:
    """The publications that a ``source`` cites, in a few words; the source itself without a
    citation.
    """
    return " and ".join(papers()[key].name for key in keys(source)) or source


def chapter_of_claim(claim: Claim) -> str:
    """A claim's chapter: its first paper with a chapter, or the other publications, or current
    networks.
    """
    if claim.today:
        return TODAY
    first = keys(claim.source)[:1]
    return first[0] if first and papers()[first[0]].chapter else OTHERS


def chapter(plan: Plan) -> str:
    """An experiment's chapter."""
    if plan.experiment.name.startswith(f"{TODAY}/"):
        return TODAY
    first = re.match(r"[\w-]+", plan.document)
    key = first[0] if first else ""
    if key not in papers() or _NEW.search(plan.document):
        return BEYOND
    return key if papers()[key].chapter else OTHERS


def place(plan: Plan) -> tuple[float, float, str]:
    """Where an experiment stands in its chapter: its first published figure, its first claim, its
    name.
    """
    name = plan.experiment.name
    figure = _FIGURE.search(plan.document)
    first = next((index for index, claim in enumerate(claims()) if claim.experiment == name), inf)
    return (float(figure[1]) if figure else inf), first, name
