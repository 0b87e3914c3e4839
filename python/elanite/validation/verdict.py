"""Verdicts: a claim beside its simulated counterpart, and whether it holds.

A number holds if its mean is within the published bounds. It is missed only if its whole 95%
confidence interval is outside; else it is not resolved. If the paper states no figure, so that an
unresolved finding's bound is ours, and the simulated figure stays at this bound, the source is too
vague to settle the claim (``vague``).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from typing import TYPE_CHECKING

from elanite.base.text import FEWEST
from elanite.results.looks import more_looks_possible
from elanite.results.numbers import (
    Finding,
    Number,
    Order,
    all_hold,
    at_least,
    difference,
    prediction,
)
from elanite.validation.measures import Statements

if TYPE_CHECKING:
    from collections.abc import Sequence

    from elanite.results.numbers import StatementPart
    from elanite.validation.claim import Claim, Role
    from elanite.validation.measures import Measurement


@dataclass(frozen=True)
class AdmissibleRange:
    """The parameter values that its source admits."""

    key: str
    value: str
    """The machine's value."""
    low: str
    high: str
    source: str
    """The words that leave the value open."""

    @property
    def ends(self) -> tuple[str, ...]:
        """The ends that are not the machine's value."""
        return tuple(end for end in (self.low, self.high) if end != self.value)


@dataclass(frozen=True)
class RangeEnd:
    """A claim at one end of a range."""

    value: str
    """The parameter's value."""
    verdict: Verdict


@dataclass(frozen=True)
class Verdict:
    """A claim beside its simulated counterpart."""

    claim: Claim
    simulated: float | list[str] | str | None = None
    """A number, a name order, an inequality's figures in words, or `None` without results."""
    low: float | None = None
    """Lower end of the simulated number's 95% confidence interval; `None` with fewer than three
    values, or if the number is exact.
    """
    high: float | None = None
    """Upper end of this interval."""
    error: float | None = None
    """simulated/published - 1; for a range the distance from its nearest end, 0 inside."""
    holds: bool | None = None
    """`None` if the claim cannot be judged, or if the intervals are too wide to judge."""
    one_run: tuple[float, float] | None = None
    """The prediction interval for one run, by which a figure from one run is judged."""
    range: AdmissibleRange | None = None
    """The admissible range that the claim is judged over as well."""
    ends: tuple[RangeEnd, ...] = ()
    """The verdicts at this range's ends that are not the machine's value; empty if they were not
    run.
    """
    note: str = ""
    """The figures behind an order or a mean, or the reason why the claim is not judged."""
    widest: float | None = None
    """The compared figures' widest 95% confidence interval: half its width as a fraction of the
    mean.
    """
    look: int | None = None
    """The look at short runs that it rests on (see ``looks``); `None` if it rests on a whole run's
    points.
    """
    parts: tuple[StatementPart, ...] = ()
    """A finding's statements, each with its figures."""
    points: frozenset[str] = frozenset()
    """The identities of the simulated number's points, and of groups that may be picked in its
    place.
    """
    few: bool = False
    """Whether a figure has fewer than three values, and a whole run may have more: its interval is
    not known then.
    """

    @property
    def role(self) -> Role:
        """The claim's role."""
        return self.claim.role

    @property
    def quick(self) -> bool:
        """Whether it was measured on points that a short run shortened."""
        return self.look is not None

    @property
    def judged(self) -> bool:
        """Whether there are results to judge."""
        return self.simulated is not None

    @property
    def complete(self) -> bool:
        """Whether it is judged, at its range's ends as well."""
        return self.judged and (self.range is None or len(self.ends) == len(self.range.ends))

    @property
    def state(self) -> str:
        """The verdict in words: a key of ``cells.SIGN``."""
        if not self.judged:
            return "not run" if self.claim.experiment else "not yet simulated"
        if self.role == "inconsistent":
            return "inconsistent"
        if self.holds is None:
            return "source too vague" if self.claim.vague and not self.few else "not resolved"
        if self.claim.known_miss:
            return "holds again" if self.holds else "known miss"
        return "holds" if self.holds else "missed"

    @property
    def open(self) -> bool:
        """Whether a later look at short runs may resolve it."""
        return more_looks_possible(self.look) and self.state == "not resolved"

    @property
    def hanging(self) -> frozenset[str]:
        """The points on which the verdict hangs: the figure's points, and those in cases that are
        not resolved.

        Empty if the verdict hangs on all points.
        """
        if not isinstance(self.claim.measure, Statements) and not self.points:
            return frozenset()
        open_ = (
            case.number.points for part in self.parts for case in part.cases if case.holds is None
        )
        return self.points.union(*open_)

    @property
    def unresolved(self) -> str:
        """The reason why a claim is not resolved; empty in other states."""
        if self.state != "not resolved":
            return ""
        return "fewer than three values" if self.few else "the interval has the bound inside"

    @property
    def failed(self) -> bool:
        """Whether this verdict makes a command fail."""
        return self.state == "missed"

    def as_json(self) -> dict[str, object]:
        """The verdict as it stands in ``scoreboard.json``."""
        claim = self.claim
        return {
            "id": claim.id,
            "kind": claim.kind,
            "rank": claim.rank,
            "rests_on": list(claim.rests_on) or None,
            "because": claim.because or None,
            "ours": claim.ours or None,
            "one_miss": claim.one_miss or None,
            "published": claim.published,
            "simulated": self.simulated,
            "low": self.low,
            "high": self.high,
            "error": self.error,
            "holds": self.holds,
            "role": self.role,
            "state": self.state,
            "unresolved": self.unresolved or None,
            "unit": claim.unit,
            "tolerance": claim.tolerance,
            "says": claim.says,
            "source": claim.source,
            "experiment": claim.experiment or None,
            "test": claim.test,
            "note": self.note,
            "widest": self.widest,
            "range": _range(self),
            "one_run": list(self.one_run) if self.one_run else None,
            "known_miss": claim.known_miss or None,
            "proof": claim.proof and claim.proof.text,
            "inference": claim.inference or None,
            "vague": claim.vague or None,
            "confidence": claim.confidence,
            "quick": self.quick,
            "look": self.look,
        }


def holds_within(verdict: Verdict) -> bool | None:
    """Whether a claim holds somewhere in its range; `None` without resolved results at the ends."""
    found = [verdict, *(end.verdict for end in verdict.ends)]
    if not verdict.ends:
        return None
    if any(each.holds for each in found):
        return True
    numbers = [each.simulated for each in found if isinstance(each.simulated, int | float)]
    published = verdict.claim.value
    if numbers and published is not None and min(numbers) < published < max(numbers):
        return True
    return None if any(each.holds is None for each in found) else False


def _range(verdict: Verdict) -> dict[str, object] | None:
    """A verdict's range as in ``scoreboard.json``; `None` without a range, or if its ends were not
    run.
    """
    if verdict.range is None or not verdict.ends:
        return None
    return {
        "parameter": verdict.range.key,
        "low": verdict.range.low,
        "high": verdict.range.high,
        "holds": holds_within(verdict),
        "ends": [
            {"value": end.value, "simulated": end.verdict.simulated, "holds": end.verdict.holds}
            for end in verdict.ends
        ],
    }


def judge(claim: Claim, measurement: Measurement, look: int | None = None) -> Verdict:
    """Compare a measurement with the published figure. A figure that its source contradicts is not
    judged.

    The figures from a ``look`` at short runs (see ``looks``) decide only if they have intervals:
    fewer than three values resolve no statement, not even one with a distant bound. A claim is
    missed by one statement with figures that have intervals, whatever its other figures are. Before
    the last look, the whole intervals decide.
    """
    if isinstance(measurement, Finding):
        widest = _widest(measurement.numbers)
        found = Verdict(
            claim,
            simulated=measurement.text,
            holds=measurement.holds,
            widest=widest,
            parts=measurement.parts,
        )
    elif isinstance(measurement, Order):
        found = Verdict(
            claim,
            simulated=measurement.names,
            holds=_in_order(claim, measurement, look),
            note=measurement.note,
            widest=_widest(measurement.numbers),
        )
    else:
        one_run = _one_run(claim, measurement, look)
        found = Verdict(
            claim,
            simulated=measurement.mean,
            low=None if measurement.few or measurement.exact else measurement.low,
            high=None if measurement.few or measurement.exact else measurement.high,
            error=_error(claim, measurement.mean),
            holds=all_hold([_near(claim, measurement, one_run), measurement.besides]),
            one_run=one_run,
            note=measurement.note,
            widest=_widest([measurement]),
            parts=measurement.parts,
            points=measurement.points,
        )
    found = replace(found, few=_has_few_values(measurement), look=look)
    if claim.role == "inconsistent":
        return replace(found, holds=None)
    if look is not None and found.few:
        return replace(
            found, holds=False if _missed_by_one(measurement) and not claim.vague else None
        )
    return (
        replace(found, holds=_certain_verdict(claim, measurement, found.holds, look))
        if more_looks_possible(look)
        else found
    )


def _certain_verdict(
    claim: Claim, measurement: Measurement, holds: bool | None, look: int | None
) -> bool | None:
    """The verdict from a look before the last one: `None` unless its figures' whole intervals agree
    with it.
    """
    if holds is False and claim.vague:
        return (
            None  # the figure is near a bound that is ours, where a short run is even less certain
        )
    if isinstance(measurement, Number):
        low, high = claim.bounds
        inside = True if low <= measurement.low and measurement.high <= high else None
        return all_hold([inside, measurement.besides]) if holds else holds
    if isinstance(measurement, Order) and holds:
        return all_hold(
            at_least(difference(a, b).at(look), 0.0) for a, b in pairwise(measurement.numbers)
        )
    return holds


def _has_few_values(measurement: Measurement) -> bool:
    """Whether an interval is not known: a figure has fewer than three values, or no figure was
    kept.

    Figures from points that a short run has not shortened equal a whole run's, and need no more
    values than there.
    """
    numbers = [measurement] if isinstance(measurement, Number) else list(measurement.numbers)
    if isinstance(measurement, Finding) and measurement.parts:
        numbers = [case.number for part in measurement.parts for case in part.cases]
    return not numbers or any(number.lacking for number in numbers)


def _missed_by_one(measurement: Measurement) -> bool:
    """Whether a finding's statement is missed by figures that all have intervals."""
    parts = measurement.parts if isinstance(measurement, Finding) else ()
    return any(
        part.holds is False and not any(case.number.lacking for case in part.cases)
        for part in parts
    )


def _widest(figures: Sequence[Number]) -> float | None:
    return max((figure.relative for figure in figures), default=None)


def _error(claim: Claim, simulated: float) -> float:
    """The distance from the published figure as a fraction of it; from the nearest end of a range,
    0 inside.
    """
    if claim.kind != "range":
        return simulated / (claim.value or 0.0) - 1
    low, high = claim.bounds
    return (
        simulated / low - 1
        if simulated < low
        else simulated / high - 1
        if simulated > high
        else 0.0
    )


def _one_run(claim: Claim, figure: Number, look: int | None) -> tuple[float, float] | None:
    """The place of a single run, for a figure that the source took in one run; `None` with too few
    simulated runs.
    """
    return prediction(figure.runs, look) if claim.one_run and len(figure.runs) >= FEWEST else None


def _near(claim: Claim, figure: Number, one_run: tuple[float, float] | None) -> bool | None:
    """Whether the mean is within the bounds; `None` if the mean is outside, but not its whole
    interval.

    A figure from one run is near, too, if the prediction interval for one run has it, and is not
    near otherwise.
    """
    low, high = claim.bounds
    if low <= figure.mean <= high:
        return True
    if one_run:
        return one_run[0] <= (claim.value or 0.0) <= one_run[1]
    return False if figure.high < low or figure.low > high else None


def _in_order(claim: Claim, order: Order, look: int | None) -> bool | None:
    """Whether the names have the published order; `None` if another one, and no interval excludes
    the published.
    """
    if tuple(order.names) == claim.order:
        return True
    found = dict(zip(order.names, order.numbers, strict=True))
    if found.keys() != set(claim.order):
        return False
    pairs = (
        difference(found[better], found[worse]).at(look)
        for better, worse in combinations(claim.order, 2)
    )
    return False if any(at_least(figure, 0.0) is False for figure in pairs) else None
