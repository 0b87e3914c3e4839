"""A joint refit: values for all fitted parameters together that come nearest to all fitted claims
together.

Parameters were fitted one after the other, each to a few claims. ``scipy.optimize``'s least squares
looks for values that fit all these claims better; predicted claims play no part, and are measured
before and after. A claim's error counts in units of its tolerance. All runs have the same seeds and
the studies' short windows (see ``study``). The machine file stays as it is.

A parameter takes part if a machine takes values near its own: parameters that only have a few
values, names and switches stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from elanite import campaign
from elanite.errors import ConfigError, UsageError
from elanite.results.numbers import Number
from elanite.study.basis import measured
from elanite.study.minimum import solver
from elanite.study.search import Search, Simulate
from elanite.study.variation import scaled
from elanite.validation.verdict import judge

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from elanite.inputs.machine import Parameter
    from elanite.inputs.plan import Plan
    from elanite.store import Store
    from elanite.study.basis import Study
    from elanite.study.search import Figures, Texts
    from elanite.validation.claim import Claim
    from elanite.validation.verdict import Verdict

NEAREST = 0.03
"""A parameter takes part if the machine takes a value that differs by no more than this fraction,
up or down.
"""

DIFFERENCE = 0.05
"""Derivatives are taken over this fraction of a value: less than a coarse parameter's step would be
meaningless.
"""

FARTHEST = 2.0
"""A parameter is at most this many times higher or lower than in the machine file."""

Residuals = Callable[[Sequence[float]], "NDArray[np.float64]"]
"""The claims' errors by the parameters' factors."""

Ends = tuple[float, float]
"""The lowest and the highest factor of a parameter."""

Optimiser = Callable[[Residuals, list[float], Sequence[Ends]], list[float]]
"""Returns the factors with the least errors, from a start."""


@dataclass(frozen=True)
class RefitValue:
    """A fitted parameter before and after."""

    key: str
    before: str
    after: str


@dataclass(frozen=True)
class RefitResult:
    """A joint refit's result."""

    values: list[RefitValue]
    stay: list[str]
    """Fitted parameters that did not take part."""
    verdicts: list[tuple[Verdict, Verdict]]
    """Every claim in the study before and after, first the fitted ones that took part."""
    taken: list[str]
    """The claims that took part."""
    before: float
    """Root mean square of these claims' errors, in tolerances, before."""
    after: float
    machines: int
    """The count of tried value sets."""


def refit(
    study: Study, store: Store, jobs: int | None = None, most: int | None = None
) -> RefitResult:
    """Search better values; at most ``most`` value sets, without those for derivatives.

    Raises ``UsageError`` without a parameter to fit, or without SciPy.
    """
    taken = fitted(study)
    parameters, stay = adjustable(study)
    require(study, parameters, taken)
    search = ClaimSearch(
        study, parameters, taken, store, partial(campaign.run, store=store, jobs=jobs)
    )
    start = [1.0] * len(parameters)
    own, best = (search.texts(each) for each in (start, search.nearest(start, _optimiser(most))))
    before, after = search.verdicts(own), search.verdicts(best)
    order = sorted(before, key=lambda claim: claim not in {each.id for each in taken})
    return RefitResult(
        values=[
            RefitValue(each.key, *texts) for each, *texts in zip(parameters, own, best, strict=True)
        ],
        stay=stay,
        verdicts=[(before[claim], after[claim]) for claim in order if claim in after],
        taken=[claim.id for claim in taken],
        before=search.root(own),
        after=search.root(best),
        machines=len(search.tried),
    )


def require(study: Study, parameters: Sequence[Parameter], taken: Sequence[Claim]) -> None:
    """Raise ``UsageError`` without a parameter to fit, or without a claim."""
    if not parameters or not taken:
        name = study.machine.name
        raise UsageError(
            f"{name} has no fitted parameter that can change, or no fitted claim among the chosen"
            " ones"
        )


def fitted(study: Study) -> list[Claim]:
    """The claims that take part: the fitted ones that state a number."""
    return [
        claim
        for claim in study.claims
        if claim.role == "fitted" and claim.kind in ("value", "range")
    ]


def adjustable(study: Study) -> tuple[list[Parameter], list[str]]:
    """The fitted parameters that take part, each with a claim that does, and the other fitted ones'
    names.
    """
    taken = {claim.id for claim in fitted(study)}
    found: list[Parameter] = []
    stay: list[str] = []
    for each in study.machine.parameters:
        if not each.fitted_to:
            continue
        near = (scaled(study.machine, each, 1 + side * NEAREST) for side in (1, -1))
        moves = any(text is not None and text != str(each.value) for text in near)
        if moves and not taken.isdisjoint(each.fitted_to):
            found.append(each)
        else:
            stay.append(each.key)
    return found, stay


@dataclass
class ClaimSearch(Search):
    """Claim errors over parameter factors, in tolerances: 1 is the bound for a claim that holds."""

    refused = 10.0

    study: Study
    parameters: Sequence[Parameter]
    taken: Sequence[Claim]
    store: Store
    simulate: Simulate
    tried: dict[Texts, Figures | None] = field(default_factory=dict)

    @property
    def goals(self) -> Sequence[tuple[float, float]]:
        """The middle of each claim's bounds, and half the distance between them."""
        ends = (claim.bounds for claim in self.taken)
        return [((low + high) / 2, (high - low) / 2) for low, high in ends]

    @property
    def fast(self) -> Study:
        """The study with the participating claims alone."""
        return replace(
            self.study, parts={claim.id: self.study.parts[claim.id] for claim in self.taken}
        )

    def nearest(self, start: list[float], optimiser: Optimiser) -> list[float]:
        """The best factors that the optimiser finds, or the start's if it does not find better
        ones.
        """
        ends = [self.ends(each) for each in self.parameters]
        best = optimiser(lambda factors: self.residuals(self.texts(factors)), start, ends)
        return best if self.root(self.texts(best)) < self.root(self.texts(start)) else start

    def ends(self, each: Parameter) -> tuple[float, float]:
        """Between which factors a parameter may be; a direction in which the machine takes no value
        is closed.
        """
        low, high = (scaled(self.study.machine, each, 1 + side * DIFFERENCE) for side in (-1, 1))
        return 1 / FARTHEST if low else 1.0, FARTHEST if high else 1.0

    def texts(self, factors: Sequence[float]) -> Texts:
        """The parameters' values; a value that the machine refuses stays as it was."""
        pairs = zip(self.parameters, factors, strict=True)
        return tuple(
            (
                str(each.value)
                if factor == 1.0
                else scaled(self.study.machine, each, factor) or str(each.value)
            )
            for each, factor in pairs
        )

    def run(self, sets: Sequence[Texts]) -> None:
        """Simulate the participating claims' points."""
        for texts in dict.fromkeys(sets):
            if texts in self.tried:
                continue
            plans = self._finished(self.fast, texts)
            figures = (measured(claim, plans, self.store) for claim in self.taken if plans)
            found = [each.mean if isinstance(each, Number) else None for each in figures]
            self.tried[texts] = found or None

    def verdicts(self, texts: Texts) -> dict[str, Verdict]:
        """The verdicts on all claims in the study."""
        plans = self._finished(self.study, texts) or {}
        found = {}
        for claim in self.study.claims:
            figure = measured(claim, plans, self.store) if plans else None
            if figure is not None:
                found[claim.id] = judge(claim, figure)
        return found

    def _finished(self, study: Study, texts: Texts) -> dict[str, Plan] | None:
        """The finished points with these values; `None` if the machine refuses them."""
        pairs = zip(self.parameters, texts, strict=True)
        overrides = [f"{each.key}={text}" for each, text in pairs if text != str(each.value)]
        try:
            plans = study.plans(overrides)
        except ConfigError:
            return None
        self.finish(list(plans.values()))
        return plans


def _optimiser(most: int | None) -> Optimiser:
    """SciPy's: trust regions within bounds, derivatives by differences."""
    solve = solver()

    def search(residuals: Residuals, start: list[float], ends: Sequence[Ends]) -> list[float]:
        # A closed direction still needs some room, as the optimiser stays within its bounds.
        bounds = ([low - 1e-6 for low, _ in ends], [high + 1e-6 for _, high in ends])
        found = solve(residuals, start, bounds=bounds, diff_step=DIFFERENCE, max_nfev=most)
        return [float(factor) for factor in found.x]

    return search
