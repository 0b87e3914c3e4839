"""The ablation table: for each claim that the headline may count, the mechanisms that turn its
verdict by removal.

The rows are shipped (see ``ablated``). The report shows the table, and the page that
``docs/ablations.py`` writes.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from elanite import _core
from elanite.base import bounded
from elanite.study import ablation
from elanite.validation import ablation_verdicts
from elanite.validation.ablation_verdicts import WHOLE, Ablation
from elanite.validation.claim import COUNTED
from elanite.validation.claims import claims

if TYPE_CHECKING:
    from elanite.validation.claim import Claim

SIGN = {"holds": "+", "missed": "-", "not resolved": "?"}
"""Verdicts in short."""


@dataclass(frozen=True)
class AblationLine:
    """One claim's ablations."""

    claim: Claim
    rows: tuple[Ablation, ...]
    """Empty if the claim is not yet ablated."""

    @property
    def whole(self) -> Ablation:
        """The verdict on the unchanged machine."""
        return next(row for row in self.rows if row.mechanism == WHOLE)

    @property
    def agrees(self) -> bool:
        """Whether the short runs give the scoreboard's verdict on the unchanged machine."""
        return ablation_verdicts.agrees(self.claim, self.rows)

    @property
    def turning(self) -> list[Ablation]:
        """The verdicts that turn."""
        names = ablation_verdicts.turning(self.rows)
        return [row for row in self.rows if row.mechanism in names]

    def cell(self, mechanism: str) -> str:
        """A verdict's sign; bold if it turns, followed by a point if only the figure changes."""
        row = next((row for row in self.rows if row.mechanism == mechanism), None)
        if row is None:
            return ""
        sign = SIGN[row.verdict]
        if row in self.turning:
            return f"**{sign}**"
        return sign if row.figure == self.whole.figure else f"{sign}·"


@dataclass(frozen=True)
class AblationTable:
    """The ablations for all claims that the headline may count."""

    lines: tuple[AblationLine, ...]
    revision: int | None
    """The rows' model revision; `None` without any row."""
    date: str

    @cached_property
    def ablated(self) -> list[AblationLine]:
        """The claims with rows."""
        return [line for line in self.lines if line.rows]

    @property
    def mechanisms(self) -> list[str]:
        """The mechanisms that were removed."""
        removed = {row.mechanism for line in self.ablated for row in line.rows}
        return [name for name in ablation.all_mechanisms() if name in removed]

    @property
    def never(self) -> list[str]:
        """The claims with a verdict that no removed mechanism turns."""
        return [line.claim.id for line in self.lines if line.agrees and not line.turning]

    @property
    def apart(self) -> list[str]:
        """The claims on which short runs and the scoreboard differ for the unchanged machine."""
        return [line.claim.id for line in self.ablated if not line.agrees]

    @property
    def open(self) -> list[str]:
        """The claims without rows."""
        return [line.claim.id for line in self.lines if not line.rows]

    @property
    def stale(self) -> str:
        """A sentence if the rows are from another model revision."""
        if self.revision in (None, _core.MODEL_REVISION):
            return ""
        return (
            f"These ablations are of model revision {self.revision}; the model has revision"
            f" {_core.MODEL_REVISION}."
        )


def table() -> AblationTable:
    """The shipped table."""
    head = (
        tomllib.loads(text)
        if (text := bounded.packaged_or_none("data", ablation_verdicts.FILE))
        else {}
    )
    shipped = ablation_verdicts.shipped()
    lines = tuple(
        AblationLine(claim, shipped.get(claim.id, ()))
        for claim in claims()
        if claim.role == "predicted" and claim.rank in COUNTED and not claim.today
    )
    return AblationTable(lines, head.get("revision"), str(head.get("date", "")))
