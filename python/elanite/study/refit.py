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

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from elanite import campaign
from elanite.base.foreign import optional
from elanite.errors import ConfigError, UsageError
from elanite.results.numbers import Number
from elanite.study.basis import measured
from elanite.study.vary import scaled
from elanite.validation.verdict import judge

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from elanite.inputs.machine import Parameter
    from elanite.inputs.plan import Plan
    from elanite.store import Store
    from elanite.study.basis import Study
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

REFUSED = 10.0
"""Every claim's error, in tolerances, for a machine that refuses its parameters or does not end a
run.
"""

CLOSE = 1e-3
"""The search ends if values or errors change by less than this fraction."""


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
    search = ClaimSearch(study, parameters, taken, store, jobs)
    best = search.nearest([1.0] * len(parameters), _least_squares(most))
    texts = search.texts(best)
    before, after = (search.verdicts(values) for values in ([1.0] * len(parameters), best))
    order = sorted(before, key=lambda claim: claim not in {each.id for each in taken})
    return RefitResult(
        values=[
            RefitValue(p.key, str(p.value), text) for p, text in zip(parameters, texts, strict=True)
        ],
        stay=stay,
        verdicts=[(before[claim], after[claim]) for claim in order if claim in after],
        taken=[claim.id for claim in taken],
        before=_root(search.errors([1.0] * len(parameters))),
        after=_root(search.errors(best)),
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
class ClaimSearch:
    """Claim errors over parameter factors."""

    study: Study
    parameters: Sequence[Parameter]
    taken: Sequence[Claim]
    store: Store
    jobs: int | None
    tried: set[tuple[str, ...]] = field(default_factory=set)

    @property
    def fast(self) -> Study:
        """The study with the participating claims alone."""
        return replace(
            self.study, parts={claim.id: self.study.parts[claim.id] for claim in self.taken}
        )

    def nearest(self, start: list[float], optimiser: Callable[..., list[float]]) -> list[float]:
        """The best factors that the optimiser finds, or the start's if it does not find better
        ones.
        """
        ends = [self.ends(each) for each in self.parameters]
        best = optimiser(self.errors, start, ends)
        return best if _root(self.errors(best)) < _root(self.errors(start)) else start

    def ends(self, each: Parameter) -> tuple[float, float]:
        """Between which factors a parameter may be; a direction in which the machine takes no value
        is closed.
        """
        low, high = (scaled(self.study.machine, each, 1 + side * DIFFERENCE) for side in (-1, 1))
        return 1 / FARTHEST if low else 1.0, FARTHEST if high else 1.0

    def texts(self, factors: Sequence[float]) -> list[str]:
        """The parameters' values; a value that the machine refuses stays as it was."""
        pairs = zip(self.parameters, factors, strict=True)
        return [
            (
                str(each.value)
                if factor == 1.0
                else scaled(self.study.machine, each, factor) or str(each.value)
            )
            for each, factor in pairs
        ]

    def errors(self, factors: Sequence[float]) -> list[float]:
        """The claims' errors in tolerances: 1 is the bound for a claim that holds."""
        plans = self._run(self.fast, factors)
        found = []
        for claim in self.taken:
            figure = measured(claim, plans, self.store) if plans else None
            low, high = claim.bounds
            if isinstance(figure, Number):
                found.append((figure.mean - (low + high) / 2) / ((high - low) / 2))
            else:
                found.append(REFUSED)
        return found

    def verdicts(self, factors: Sequence[float]) -> dict[str, Verdict]:
        """The verdicts on all claims in the study."""
        plans = self._run(self.study, factors) or {}
        found = {}
        for claim in self.study.claims:
            figure = measured(claim, plans, self.store) if plans else None
            if figure is not None:
                found[claim.id] = judge(claim, figure)
        return found

    def _run(self, study: Study, factors: Sequence[float]) -> dict[str, Plan] | None:
        """The finished points with these factors; `None` if the machine refuses them."""
        texts = self.texts(factors)
        self.tried.add(tuple(texts))
        pairs = zip(self.parameters, texts, strict=True)
        overrides = [f"{each.key}={text}" for each, text in pairs if text != str(each.value)]
        try:
            plans = study.plans(overrides)
        except ConfigError:
            return None
        outcome = campaign.run(list(plans.values()), self.store, self.jobs)
        if outcome.interrupted:
            raise KeyboardInterrupt
        return plans


def _least_squares(most: int | None) -> Callable[..., list[float]]:
    """SciPy's optimiser: trust regions within bounds, derivatives by differences."""
    with optional("a refit needs SciPy: pip install scipy"):
        from scipy.optimize import least_squares

    def search(
        errors: Callable[..., list[float]], start: list[float], ends: list[tuple[float, float]]
    ) -> list[float]:
        # A closed direction still needs some room, as the optimiser stays within its bounds.
        bounds = ([low - 1e-6 for low, _ in ends], [high + 1e-6 for _, high in ends])
        result = least_squares(
            errors,
            start,
            bounds=bounds,
            diff_step=DIFFERENCE,
            xtol=CLOSE,
            ftol=CLOSE,
            gtol=CLOSE,
            max_nfev=most,
        )
        return [float(factor) for factor in result.x]

    return search


def _root(errors: Sequence[float]) -> float:
    """Root of the mean of the squares."""
    return float((sum(error * error for error in errors) / len(errors)) ** 0.5)
