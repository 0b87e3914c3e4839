"""Findings as sentences: a claim's statement, the simulation's result, and the two or three figures
that decide.

A finding may rest on dozens of figures. A statement's sentence names those that decide: the figures
that fail if the statement fails, those that are not resolved if it is not resolved, else those that
hold; if these are many, the lowest, the middle and the highest one. The verdict's text
(``Verdict.simulated``, ``Verdict.note``) has all figures.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from elanite.results.numbers import Case, StatementPart
    from elanite.validation.verdict import Verdict

DECISIVE = 3
"""Most figures in a sentence."""

ANSWER = {True: "yes", False: "no", None: "not resolved"}


@dataclass(frozen=True)
class Sentence:
    """One statement in a finding."""

    holds: bool | None
    says: str
    """The paper's statement, in short."""
    figures: str
    """The figures that decide, and the bound."""

    @property
    def answer(self) -> str:
        """Whether the simulation shows it, in a word."""
        return ANSWER[self.holds]


def sentences(verdict: Verdict) -> list[Sentence]:
    """A judged claim's statements; empty for a claim that is one number and for special
    measures.
    """
    return [_sentence(part) for part in verdict.parts]


def figure_words(verdict: Verdict) -> str:
    """All figures behind a verdict, as text; empty if the sentences have all."""
    text = verdict.simulated if isinstance(verdict.simulated, str) else verdict.note
    shown = all(len(part.cases) <= DECISIVE for part in verdict.parts)
    return "" if verdict.parts and shown else text


def _sentence(part: StatementPart) -> Sentence:
    cases = decisive(part)
    words = [f"{case.name}: {_figure(case)}".removeprefix(": ") for case in cases]
    alike = sum(case.holds is part.holds for case in part.cases)
    said = "; ".join(words)
    if len(cases) < len(part.cases):
        said += f"; {alike} of {len(part.cases)} cases alike"
    return Sentence(
        part.holds, part.says, said + (f". Has to be {part.needs}." if part.needs else ".")
    )


def decisive(part: StatementPart) -> Sequence[Case]:
    """The figures that decide a statement, in the statement's order."""
    same = [case for case in part.cases if case.holds is part.holds] or list(part.cases)
    if len(same) <= DECISIVE:
        return same
    # The ends and the middle describe a range of groups.
    ranked = sorted(same, key=lambda case: case.number.mean)
    chosen = (ranked[0], ranked[len(ranked) // 2], ranked[-1])
    return [case for case in same if any(case is one for one in chosen)]


def _figure(case: Case) -> str:
    figure = case.number
    return f"{figure.text} ({figure.note})" if figure.note else figure.text
