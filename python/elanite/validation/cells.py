"""A claim and its verdict as table cells: the published and the simulated figure in short."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elanite.base.text import SCALE, digits, number, quantity, symbol

if TYPE_CHECKING:
    from elanite.validation.claim import Claim
    from elanite.validation.verdict import Verdict

SIGN = {
    "holds": "✓",
    "holds again": "✓",
    "missed": "✗",
    "known miss": "✗",
    "not resolved": "?",
    "source too vague": "~",
    "inconsistent": "≠",
    "not run": "·",
    "not yet simulated": "·",
}
"""One character per verdict state."""


def published(claim: Claim) -> str:
    """The document's statement, in short."""
    if claim.kind == "range":
        low = number((claim.low or 0) * SCALE.get(claim.unit, 1.0))
        return f"{low} to {quantity(claim.high or 0, claim.unit)}"
    if claim.kind == "order":
        return " > ".join(claim.order)
    if claim.value is None:
        return "a finding"
    bound = {"max": "at most ", "min": "at least "}.get(claim.kind, "")
    return f"{bound}{quantity(claim.value, claim.unit)}"


def simulated(verdict: Verdict) -> str:
    """The simulated figure, in short."""
    value = verdict.simulated
    if value is None:
        return ""
    if isinstance(value, list):
        return " > ".join(value)
    if isinstance(value, str):
        return value
    return quantity(value, verdict.claim.unit)


def spread(verdict: Verdict) -> str:
    """A simulated number's confidence interval, if it has any width."""
    if verdict.low is None or verdict.high is None or verdict.low == verdict.high:
        return ""
    scale = SCALE.get(verdict.claim.unit, 1.0)
    places = digits(scale * verdict.high)
    return f"[{scale * verdict.low:,.{places}f}, {scale * verdict.high:,.{places}f}]"


def one_run(verdict: Verdict) -> str:
    """The place of a single run, for a figure from one run: ``one run would give 18 to 25 µs``;
    empty for others.
    """
    if verdict.one_run is None:
        return ""
    low, high = (SCALE.get(verdict.claim.unit, 1.0) * end for end in verdict.one_run)
    return f"one run would give {number(low)} to {number(high)} {symbol(verdict.claim.unit)}"
