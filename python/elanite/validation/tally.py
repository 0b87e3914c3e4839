"""The claim count: claims that hold, by weight.

The headline counts only predicted values and orders with a verdict that a removed mechanism turns
(see ``ablated``): a bound that no model could miss, a fitted figure's consequence, an
implementation's verification and a figure that stands in the source twice have separate lines, as
have fitted claims, authors' inferences and claims that their own source contradicts. Claims that
one cause makes fail (``Claim.one_miss``) count as one miss.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from elanite.validation import ablation_verdicts
from elanite.validation.claim import COUNTED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from elanite.validation.verdict import Verdict

NAMES = {
    "headline": "predicted values and orders",
    "steady": "predicted values and orders whose verdict no removed mechanism turns",
    "open": "predicted values and orders (ablation pending)",
    "bound": "bounds",
    "consequence": "consequences of fitted figures",
    "verification": "verifications of an implementation",
    "repeat": "repeats",
    "fitted": "fitted claims",
    "inference": "inferences of the authors",
}
"""The count's lines, in their order; claims that are inconsistent in their source have no line."""

PREDICTED = ("headline", "steady", "open")
"""The lines that together have all predicted values and orders."""

RANKED = ("bound", "consequence", "verification", "repeat")
"""The lines for predicted claims with other ranks."""


def line_of(verdict: Verdict) -> str:
    """The line that counts a verdict: a key of ``NAMES``, or empty for a claim that its source
    contradicts.
    """
    claim = verdict.claim
    if claim.role != "predicted":
        return "" if claim.role == "inconsistent" else claim.role
    if claim.rank not in COUNTED:
        return claim.rank
    if claim.today:
        return "headline"  # the removed mechanisms belong to the Quadrics networks
    falsifiable = ablation_verdicts.falsifiable(claim)
    return "open" if falsifiable is None else "headline" if falsifiable else "steady"


@dataclass(frozen=True)
class Count:
    """One line's count, or several lines'."""

    name: str
    holds: int
    missed: int
    """Misses, those with one cause counted once."""
    alike: int
    """Missed claims that count as one miss with another."""
    unresolved: int
    vague: int

    @property
    def total(self) -> int:
        """The number of counted claims."""
        return self.holds + self.missed + self.unresolved + self.vague

    @property
    def text(self) -> str:
        """The count in words: ``3 of 5 bounds hold, 2 missed``."""
        counts = {
            "missed": self.missed,
            "not resolved": self.unresolved,
            "with too vague a source": self.vague,
        }
        others = [f"{count} {words}" for words, count in counts.items() if count]
        if self.alike:
            others.append(f"{self.alike} more missed with one of these")
        return ", ".join([f"{self.holds} of {self.total} {self.name} hold", *others])


def count(verdicts: Sequence[Verdict], name: str) -> Count:
    """The count of judged claims among some verdicts."""
    judged = [verdict for verdict in verdicts if verdict.judged]
    missed = {verdict.claim.id for verdict in judged if verdict.holds is False}
    alike = sum(
        verdict.claim.id in missed and verdict.claim.one_miss in missed for verdict in judged
    )
    states = [verdict.state for verdict in judged]
    holds = sum(verdict.holds is True for verdict in judged)
    return Count(
        name,
        holds,
        len(missed) - alike,
        alike,
        states.count("not resolved"),
        states.count("source too vague"),
    )


def counts(verdicts: Sequence[Verdict]) -> dict[str, Count]:
    """The counts of all lines with judged claims."""
    by_line = {line: [v for v in verdicts if v.judged and line_of(v) == line] for line in NAMES}
    return {line: count(some, NAMES[line]) for line, some in by_line.items() if some}


def lines(verdicts: Sequence[Verdict]) -> list[str]:
    """The count's lines in words, the headline first.

    If some predicted values and orders are not in the headline, the count of all follows
    immediately.
    """
    found = counts(verdicts)
    said = {line: one.text for line, one in found.items()}
    besides = [line for line in PREDICTED[1:] if line in found]
    if besides and "headline" in found:
        every = count([v for v in verdicts if v.judged and line_of(v) in PREDICTED], "")
        others = " and ".join(
            f"{found[line].total + found[line].alike} {words}"
            for line, words in (
                ("steady", "whose verdict no removed mechanism turns"),
                ("open", "not yet ablated"),
            )
            if line in found
        )
        missed = f", {every.missed} missed" if every.missed else ""
        said = {
            "headline": said["headline"],
            "all": f"with the {others}, {every.holds} of {every.total} hold{missed}",
        } | {line: words for line, words in said.items() if line not in PREDICTED}
    contradicted = sum(verdict.state == "inconsistent" for verdict in verdicts)
    return [
        *said.values(),
        *([f"inconsistent in the source: {contradicted}"] if contradicted else []),
    ]


def unranked_count(verdicts: Sequence[Verdict]) -> str:
    """The count before claims had ranks: predicted claims with all ranks alike, each miss for
    itself.
    """
    judged = [v for v in verdicts if v.judged and v.role == "predicted" and not v.claim.today]
    holds, missed = (sum(v.holds is one for v in judged) for one in (True, False))
    return f"{holds} of {len(judged)} predicted claims of all ranks hold, {missed} missed"
