"""Calibration: parameter values that bring a machine nearest to a real machine's measured values.

    ping = el.Experiment.load("qsnet/ping")
    found = el.calibrate([ping], {"bus.rate": "150 MB/s..400 MB/s"}, "measured.csv")
    found.text  # a machine file with the fitted values

The sum of squares is minimised over all measured values (``study.minimum``): the difference between
the simulated and the measured value, in units of both errors (the measurement's sigma, and the
simulation's standard error where it draws random numbers). Only measured points are simulated. They
are ordinary store points: an interrupted calibration that is repeated uses them again, and has the
same result.

The result has only values that the data determine (``study.identifiability``), each with its
standard error and its 95% interval. A parameter that they do not determine keeps its value; the
machine file notes it in its source. Parameter pairs with similar effects are named (``alike``).

A value set's points run at the same time, and so do the hypercube's sets and a derivative's.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from elanite import campaign
from elanite.base.seeds import FIRST_SEED
from elanite.errors import UsageError
from elanite.inputs.machine import Machine
from elanite.inputs.machines import rewritten
from elanite.inputs.overrides import of_experiment
from elanite.inputs.plan import Plan, plan
from elanite.results import frames
from elanite.store import Store
from elanite.study import measurements, ranges
from elanite.study.fit import Calibration, ErrorGroup, FittedValue, interval, pairs_alike, unlikely
from elanite.study.identifiability import identify
from elanite.study.measurements import ValueComparison
from elanite.study.minimum import minimise
from elanite.study.ranges import Choice, Range
from elanite.study.search import ValueSearch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import Executor

    from elanite.inputs.experiment import Experiment
    from elanite.inputs.plan import Point
    from elanite.study.identifiability import ParameterInterval
    from elanite.study.measurements import MeasuredValue
    from elanite.study.search import Progress

WELL, BADLY = "well", "badly"
"""How the best value fits."""


def calibrate(
    experiments: Sequence[Experiment],
    fit: Mapping[str, str] | Sequence[Choice | Range],
    to: str | Path,
    machine: Machine | None = None,
    *,
    trials: int | None = None,
    seed: int = FIRST_SEED,
    jobs: int | None = None,
    threads: int | None = None,
    out: str | Path = "out",
    name: str | None = None,
    progress: Progress | None = None,
    executor: Executor | None = None,
    note: Callable[[str], None] | None = None,
) -> Calibration:
    """Search the values in ``fit``, ranges by key, with which the experiments come nearest to the
    values in ``to``.

    ``trials`` is the largest count of value sets in the search; the values' intervals need more.
    ``name`` is the fitted machine's name. ``progress`` is called after each step with the count of
    tried sets and the best one's error. ``threads`` and ``executor`` are as in ``run``, ``note`` as
    in ``measured.read``. Raises ``UsageError`` or ``ConfigError`` if a key, a range or the file
    with measured values is wrong, and ``KeyboardInterrupt`` when interrupted; finished points are
    kept.
    """
    search = foreseen(experiments, fit, to, machine, seed=seed, out=out, note=note)
    search.simulate = partial(
        campaign.run,
        store=search.store,
        jobs=jobs,
        out=str(out),
        threads=threads,
        executor=executor,
    )
    search.most, search.progress = trials, progress
    base, keys, targets = search.machine, search.keys, search.targets
    plans = _plans(experiments, base, seed)
    own = search.own()
    search.first(own)
    ended = minimise(search, seed)
    tried = len(search.tried)
    best, known, correlation = identify(search)
    alike = pairs_alike([key.key for key in keys], correlation)
    freedom = len(targets) - sum(each.effect for each in known)
    fits = BADLY if unlikely(search.root(best), len(targets), freedom) else WELL
    values = [
        _value(
            key,
            before,
            after,
            each,
            [other for *pair, _ in alike if key.key in pair for other in pair],
            fits,
        )
        for key, before, after, each in zip(keys, own, best, known, strict=True)
    ]
    fitted = {each.key: (each.after, _fitted(each, to)) for each in values if each.determined}
    kept = {each.key: _kept(each, to) for each in values if not each.determined}
    written = tuple(
        text if each.determined else before
        for each, text, before in zip(values, best, own, strict=True)
    )
    before, after = search.simulated(own), search.simulated(written)
    return Calibration(
        values=values,
        correlation=correlation,
        groups=_groups(targets, before, after),
        before=search.root(own),
        after=search.root(written),
        best=search.root(best),
        places=_places(targets, plans, search, before, after),
        swept={
            (each.experiment.name, series): _swept([p for p in each.points if p.series == series])
            for each in plans
            for series, _ in each.titles
        },
        freedom=freedom,
        trials=tried,
        sets=len(search.tried),
        ended=ended,
        base=base,
        machine=rewritten(base, fitted, name or f"{base.name}-fitted", kept),
    )


def foreseen(
    experiments: Sequence[Experiment],
    fit: Mapping[str, str] | Sequence[Choice | Range],
    to: str | Path,
    machine: Machine | None = None,
    *,
    seed: int = FIRST_SEED,
    out: str | Path = "out",
    note: Callable[[str], None] | None = None,
) -> ValueSearch:
    """The search of a calibration before its first simulation, with its inputs checked.

    Raises ``UsageError`` or ``ConfigError`` as ``calibrate``; metrics and jobs are known only when
    the first points are finished.
    """
    keys = _ranges(fit)
    base = _base(experiments, machine)
    targets = measurements.read(Path(to), _plans(experiments, base, seed), note)
    store = Store(Path(out) / "store")
    simulate = partial(campaign.run, store=store, out=str(out))
    search = ValueSearch(base, experiments, keys, targets, store, seed, simulate)
    search.own()
    search.check_ends()
    return search


def _plans(experiments: Sequence[Experiment], base: Machine, seed: int) -> list[Plan]:
    """The experiments on the machine as it is."""
    return [
        plan(each.file, [base.file], [*each.overrides, *base.overrides], seed)
        for each in experiments
    ]


def _places(
    targets: Sequence[MeasuredValue],
    plans: Sequence[Plan],
    search: ValueSearch,
    before: Sequence[float],
    after: Sequence[float],
) -> list[ValueComparison]:
    """The measured values beside those that were simulated before and after."""
    about = {
        measurements.key(point): frames.identity(point) for each in plans for point in each.points
    }
    found = []
    for each, *sides in zip(targets, search.sigmas, before, after, strict=True):
        unit = search.units[each.metric]
        found.append(
            ValueComparison(
                about[each.key],
                each.job,
                each.metric,
                unit,
                each.value,
                each.sigma,
                each.stated,
                *sides,
            )
        )
    return found


def _swept(points: Sequence[Point]) -> tuple[str, ...]:
    """The parameters that vary among points."""
    names = dict.fromkeys(name for point in points for name in point.parameters)
    return tuple(
        name for name in names if len({repr(point.parameters.get(name)) for point in points}) > 1
    )


def _ranges(fit: Mapping[str, str] | Sequence[Choice | Range]) -> list[Range]:
    keys: list[Choice | Range] = []
    if isinstance(fit, Mapping):
        keys += [ranges.of("--fit", key, text) for key, text in fit.items()]
    else:
        keys += fit
    ranges.unique("--fit", (each.key for each in keys))
    found = []
    for each in keys:
        if not isinstance(each, Range) or each.count:
            raise UsageError(
                f"--fit {each.key}: a fit needs a range\n  for example --fit {each.key}='10"
                " ns..50 ns'"
            )
        if of_experiment(each.key):
            raise UsageError(
                f"--fit {each.key}: this key belongs to the experiment\n  fit parameters of the"
                " machine"
            )
        found.append(each)
    return found


def _base(experiments: Sequence[Experiment], machine: Machine | None) -> Machine:
    """The machine on which all experiments run."""
    if machine is not None:
        return machine
    names = [each.machine for each in experiments]
    if any(not isinstance(name, str) or name != names[0] for name in names):
        raise UsageError(
            "the experiments run on several machines\n  choose the one to calibrate: --machine"
            " MACHINE"
        )
    return Machine.load(str(names[0]))


def _value(
    key: Range, before: str, best: str, known: ParameterInterval, alike: Sequence[str], fits: str
) -> FittedValue:
    share = key.share(best)
    wide = (
        abs(key.number(min(1, share + known.error)) - key.number(max(0, share - known.error))) / 2
    )
    number = abs(key.number(share))
    unit = before.partition(" ")[2]
    low, high = (
        f"{ranges.in_unit(key.number(end), key.unit, unit):.4g} {unit or key.unit}".rstrip()
        for end in (known.low, known.high)
    )
    span = interval(low, high)
    whole = not (known.below or known.above)
    if whole and fits == BADLY:
        low = high = ""
    return FittedValue(
        key=key.key,
        before=before,
        after=ranges.rewritten(best, unit) if known.determined else before,
        low=low,
        high=high,
        error=wide / number if number else wide,
        determined=known.determined,
        reason=(
            ""
            if known.determined
            else _reason(known, span, [each for each in alike if each != key.key], fits)
        ),
    )


def _reason(known: ParameterInterval, span: str, alike: Sequence[str], fits: str) -> str:
    """Why a parameter is not determined. Where no value fits, all sigmas count as so much larger
    that chance explains the best value, and others fit worse, but not clearly.
    """
    if not known.effect:
        return "no measured value depends on it"
    well = fits == WELL
    several = "fit as well" if well else "do not fit clearly worse than the best"
    if alike:
        return f"{' and '.join(alike)} can make up for it: values from {span} {several}"
    if known.below and known.above:
        return f"values from {span} {several}"
    if not (known.below or known.above):
        than = "fit as well as" if well else "do not fit clearly worse than"
        return f"both ends of its range, {span}, {than} the best value"
    end = "upper" if known.below else "lower"
    than = "fits as well as" if well else "does not fit clearly worse than"
    return f"the {end} end of its range {than} values from {span}"


def _fitted(value: FittedValue, to: str | Path) -> str:
    """A fitted value's source."""
    spread = f"standard error {value.error:.1%}, 95% interval {value.interval}"
    return f"fitted to {Path(to).name}, {spread}; {value.before} before"


def _kept(value: FittedValue, to: str | Path) -> str:
    """The addition to the source for a value that the data do not determine."""
    return f"not determined by {Path(to).name}: {value.reason}"


def _groups(
    targets: Sequence[MeasuredValue], before: Sequence[float], after: Sequence[float]
) -> list[ErrorGroup]:
    groups: dict[tuple[str, str, str], list[int]] = {}
    for index, each in enumerate(targets):
        groups.setdefault(each.group, []).append(index)

    def error(index: int, simulated: Sequence[float]) -> float:
        value = targets[index].value
        return (simulated[index] - value) / (abs(value) or 1.0)

    def root(members: Sequence[int], simulated: Sequence[float]) -> float:
        return float((sum(error(index, simulated) ** 2 for index in members) / len(members)) ** 0.5)

    found = []
    for names, members in groups.items():
        worst = max(members, key=lambda index: abs(error(index, after)))
        ends = error(worst, after), targets[worst].place
        found.append(
            ErrorGroup(*names, len(members), root(members, before), root(members, after), *ends)
        )
    return found
