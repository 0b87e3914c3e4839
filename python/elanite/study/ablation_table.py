"""The table of ablations: for each claim that the headline may count, the mechanisms whose removal turns its verdict.

The rows are shipped (see ``ablated``); the page ``docs/ablations.md`` and the report show the same table.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from elanite import _core
from elanite.base import bounded
from elanite.study import ablation
from elanite.validation import ablated
from elanite.validation.ablated import WHOLE, Ablation
from elanite.validation.claim import COUNTED
from elanite.validation.claims import claims

if TYPE_CHECKING:
    from collections.abc import Iterator

    from elanite.validation.claim import Claim

SIGN = {"holds": "+", "missed": "-", "not resolved": "?"}
"""Verdicts in short."""

INTRODUCTION = (
    "A claim whose verdict stays the same whatever is taken from the model says little about the model. This page has"
    " the verdict on every predicted value and order about the papers' machines with one mechanism of the model removed"
    " at a time. The headline of the [scoreboard](validation.md) counts a claim only if its verdict turns at least"
    " once: it holds with the mechanism and is missed without it, or the other way round.",
    "`elanite ablate MACHINE` removes the mechanisms; `python benches/ablations.py` renews the data of this page. Runs"
    " are much shorter than those of the scoreboard, with the same seed on both sides, so that the column *none* (the"
    " unchanged machine) may differ from the scoreboard. Such claims count as not yet ablated.",
)


@dataclass(frozen=True)
class Line:
    """The ablations of one claim."""

    claim: Claim
    rows: tuple[Ablation, ...]
    """Empty if the claim is not yet ablated."""

    @property
    def whole(self) -> Ablation:
        """The verdict on the unchanged machine."""
        return next(row for row in self.rows if row.mechanism == WHOLE)

    @property
    def agrees(self) -> bool:
        """Whether the short runs give the verdict of the scoreboard on the unchanged machine."""
        return ablated.agrees(self.claim, self.rows)

    @property
    def turning(self) -> list[Ablation]:
        """The verdicts that turn."""
        names = ablated.turning(self.rows)
        return [row for row in self.rows if row.mechanism in names]

    def cell(self, mechanism: str) -> str:
        """The sign of a verdict; bold if it turns, followed by a point if only the figure changes."""
        row = next((row for row in self.rows if row.mechanism == mechanism), None)
        if row is None:
            return ""
        sign = SIGN[row.verdict]
        if row in self.turning:
            return f"**{sign}**"
        return sign if row.figure == self.whole.figure else f"{sign}·"


@dataclass(frozen=True)
class Table:
    """The ablations of all claims that the headline may count."""

    lines: tuple[Line, ...]
    revision: int | None
    """The model revision of the rows; None without any row."""
    date: str

    @cached_property
    def ablated(self) -> list[Line]:
        """The claims with rows."""
        return [line for line in self.lines if line.rows]

    @property
    def mechanisms(self) -> list[str]:
        """The mechanisms that were removed."""
        removed = {row.mechanism for line in self.ablated for row in line.rows}
        return [name for name in ablation.every() if name in removed]

    @property
    def never(self) -> list[str]:
        """The claims whose verdict no removed mechanism turns."""
        return [line.claim.id for line in self.lines if line.agrees and not line.turning]

    @property
    def apart(self) -> list[str]:
        """The claims of which short runs give another verdict on the unchanged machine than the scoreboard."""
        return [line.claim.id for line in self.ablated if not line.agrees]

    @property
    def open(self) -> list[str]:
        """The claims without rows."""
        return [line.claim.id for line in self.lines if not line.rows]

    @property
    def stale(self) -> str:
        """A sentence if the rows are of another model revision."""
        if self.revision in (None, _core.MODEL_REVISION):
            return ""
        return f"These ablations are of model revision {self.revision}; the model has revision {_core.MODEL_REVISION}."


def table() -> Table:
    """The shipped table."""
    head = tomllib.loads(text) if (text := bounded.packaged_or_none("data", ablated.FILE)) else {}
    shipped = ablated.shipped()
    lines = tuple(
        Line(claim, shipped.get(claim.id, ()))
        for claim in claims()
        if claim.role == "predicted" and claim.rank in COUNTED and not claim.today
    )
    return Table(lines, head.get("revision"), str(head.get("date", "")))


def markdown(found: Table) -> str:
    """The page ``docs/ablations.md``."""
    return "\n".join(["# Ablations", "", "<!-- Written by `make docs`; do not edit. -->", "", *_page(found)])


def _page(found: Table) -> Iterator[str]:
    for paragraph in (*INTRODUCTION, found.stale):
        if paragraph:
            yield from (paragraph, "")
    count = sum(line.agrees and bool(line.turning) for line in found.ablated)
    made = f" Measured with model revision {found.revision}, {found.date}." if found.revision else ""
    done, every = sum(line.agrees for line in found.lines), len(found.lines)
    yield f"Ablated: {done} of {every} claims; the verdict of {count} turns.{made}"
    yield from ("", "## Mechanisms", "")
    yield from (f"- *{name}*: {ablation.every()[name]['says']}." for name in found.mechanisms)
    yield from ("", "## Verdicts", "")
    yield "`+` holds, `-` missed, `?` not resolved; bold: turned; a point: the figure changes; blank: not measured."
    names = [WHOLE, *found.mechanisms]
    yield from ("", f"| claim | {' | '.join(names)} |", f"|---|{'---|' * len(names)}")
    for line in found.ablated:
        yield f"| `{line.claim.id}` | {' | '.join(line.cell(name) for name in names)} |"
    yield from ("", "## Verdicts that turn", "", "| claim | unchanged | without | figure |", "|---|---|---|---|")
    for line in found.ablated:
        for row in line.turning:
            unchanged = f"{line.whole.figure}: {line.whole.verdict}"
            yield f"| `{line.claim.id}` | {_plain(unchanged)} | {row.mechanism} | {_plain(row.figure)}: {row.verdict} |"
    yield from ("", "## Verdicts that never turn", "")
    yield ", ".join(f"`{name}`" for name in found.never) or "None."
    yield from ("", "## Verdicts that differ from the scoreboard in short runs", "")
    yield ", ".join(f"`{name}`" for name in found.apart) or "None."
    yield from ("", "## Not yet ablated", "")
    yield ", ".join(f"`{name}`" for name in found.open) or "None."
    yield ""


def _plain(text: str) -> str:
    return text.replace("|", "\\|")
