"""A sweep's plans: one experiment with many values for a few keys, in each combination or a sample.

Keys belong to the machine or the experiment, as with ``--set``. Without a sample, all combinations
are planned: a full factorial over the keys, or over key groups with values that go together. A
*Latin hypercube* with n combinations divides each range into n parts and takes one value from each
part, so that a few hundred combinations cover many keys evenly. Every combination is planned before
the first one is simulated, so that a wrong key or value costs no time.
"""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from elanite.base.foreign import optional
from elanite.base.seeds import FIRST_SEED
from elanite.errors import ConfigError, UsageError
from elanite.inputs import sources
from elanite.inputs.overrides import check as check_keys
from elanite.inputs.plan import plan
from elanite.study import limits, ranges
from elanite.study.limits import Limit
from elanite.study.ranges import Choice, Range

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from elanite.inputs.plan import Plan, Point
    from elanite.inputs.sources import Source

METHODS = ("lhs",)
"""How samples are drawn: Latin hypercubes."""

Sample = tuple[str, int]
"""A method and the combination count."""

Together = Sequence[Choice | Range]
"""Keys with values that go together, the first with the first."""


def planned(
    experiment: Source,
    machines: Sequence[Source],
    overrides: Sequence[str],
    varied: Sequence[Choice | Range | Together],
    sample: Sample | None = None,
    seed: int = FIRST_SEED,
) -> tuple[Plan, ...]:
    """The plans for all combinations, or for a sample, without simulation."""
    groups = [(each,) if isinstance(each, Choice | Range) else tuple(each) for each in varied]
    keys = [key for group in groups for key in group]
    ranges.unique("--vary", (each.key for each in keys))
    base = plan(experiment, machines, overrides, seed)
    check_keys((each.key for each in keys), experiment, base.machines[0])
    combinations: dict[tuple[str, ...], None] = {}
    for shares in _sampled(groups, sample, seed) if sample else _all(groups):
        values: list[str] = []
        for each, share in zip(keys, shares, strict=True):
            if isinstance(each, Choice):
                values.append(each.values[min(int(share * len(each.values)), len(each.values) - 1)])
            else:
                before = [
                    f"{other.key}={value}" for other, value in zip(keys, values, strict=False)
                ]
                taken = ranges.taken(
                    each, share, base.machines[0], experiment, [*overrides, *before]
                )
                values.append(ranges.shortest(taken))
        combinations[tuple(values)] = None
    return tuple(
        _plan(experiment, machines, overrides, keys, values, seed) for values in combinations
    )


def without_effect(plans: Sequence[Plan], keys: Sequence[Choice | Range]) -> list[Limit]:
    """The varied keys with values that make the same points; in samples, those without which no
    point changes.
    """
    found = limits.without_effect(plans[0].experiment.argument, merged(plans).points)
    told = {limit.key for limit in found}
    for each in keys:
        if each.key not in told and all(_is_same(one, each.key) for one in plans):
            message = (
                "no value of the sweep changes a point: the machine has this value, or nothing uses"
                " the key"
            )
            found.append(Limit("same", plans[0].experiment.argument, each.key, "", message))
    return found


def _is_same(planned: Plan, key: str) -> bool:
    """Whether a plan has the same points without a key's change."""
    others = [change for change in planned.overrides if change.partition("=")[0].strip() != key]
    machines = planned.machines if planned.machine_given else ()
    try:
        same = plan(planned.experiment, machines, others, planned.seed)
    except ConfigError:
        return False  # the others need it
    chosen = {point.id for point in planned.points}
    return chosen <= {point.id for point in same.points}


def merged(plans: Sequence[Plan]) -> Plan:
    """One plan with all combinations' points; series that no varied key changes occur once.

    The plan has the experiment's figures, with the varied keys as curves or panels, and the general
    figures, in which a varied key may be the axis.
    """
    points = {
        (point.id, json.dumps(point.parameters)): point for each in plans for point in each.points
    }
    return replace(plans[0], general=True, points=tuple(points.values()))


def _plan(
    experiment: Source,
    machines: Sequence[Source],
    overrides: Sequence[str],
    keys: Sequence[Choice | Range],
    values: Sequence[str],
    seed: int,
) -> Plan:
    chosen = {each.key: value for each, value in zip(keys, values, strict=True)}
    changes = [f"{key}={value}" for key, value in chosen.items()]
    try:
        found = plan(experiment, machines, [*overrides, *changes], seed)
    except ConfigError as error:
        words, problems = error.args
        raise ConfigError(f"in the sweep, with {', '.join(changes)}:\n{words}", problems) from None
    points = tuple(
        replace(point, parameters=_varied_keys(chosen, point) | point.parameters)
        for point in found.points
    )
    return replace(found, points=points)


def _varied_keys(chosen: Mapping[str, str], point: Point) -> dict[str, str]:
    """A point's varied keys, without other series' keys and those that are its parameters
    anyway.
    """
    found = {}
    for key, value in chosen.items():
        first, *rest = key.split(".", 2)
        if first == "series" and len(rest) == 2:
            name, field = rest
            # A series with one job or call names its fields without it.
            _, _, bare = field.partition(".")
            if name != point.series or {field, bare, _fault(field)} & point.parameters.keys():
                continue
        elif _fault(key) in point.parameters:
            continue
        found[key] = value
    return found


def _fault(key: str) -> str:
    """A fault's key as a point with one fault names it."""
    return re.sub(r"^fault\.\d+\.", "fault.", key)


def _all(groups: Sequence[Together]) -> Iterator[tuple[float, ...]]:
    """The values' places in all combinations, the last key group fastest."""
    each = [list(zip(*map(_places, group), strict=True)) for group in groups]
    if (count := math.prod(map(len, each))) > ranges.MOST:
        raise UsageError(
            f"--vary: the keys have {count:,} combinations, and a sweep has at most"
            f" {ranges.MOST:,}\n  give fewer values, or draw a sample: --sample lhs 100"
        )
    for combination in itertools.product(*each):
        yield tuple(itertools.chain(*combination))


def _places(key: Choice | Range) -> list[float]:
    """The places of all of a key's values."""
    if isinstance(key, Choice):
        return [(index + 0.5) / len(key.values) for index in range(len(key.values))]
    if key.count is None:
        raise UsageError(
            f"--vary {key}: a range has no end of values\n  ask for some of them, for example"
            f" '{key} in 5', or for a sample of all keys: --sample lhs 100"
        )
    return key.shares()


def _sampled(groups: Sequence[Together], sample: Sample, seed: int) -> Iterator[tuple[float, ...]]:
    """The values' places in a sample with one dimension per key group."""
    method, count = sample
    if method not in METHODS:
        raise UsageError(
            f"--sample {method}: there is no such method{sources.did_you_mean(method, METHODS)};"
            " use lhs"
        )
    if count < 1:
        raise UsageError(
            f"--sample {method} {count}: a sample has one combination at least\n  for example"
            " lhs 100"
        )
    if count > ranges.MOST:
        raise UsageError(
            f"--sample {method} {count}: a sample has at most {ranges.MOST:,} combinations"
        )
    for shares in hypercube(len(groups), count, seed):
        yield tuple(
            (
                key.shares()[min(int(share * key.count), key.count - 1)]
                if isinstance(key, Range) and key.count is not None
                else share
            )
            for group, share in zip(groups, shares, strict=True)
            for key in group
        )


def hypercube(dimensions: int, count: int, seed: int) -> list[list[float]]:
    """Points in a Latin hypercube, each coordinate from 0 to 1.

    They are those of ``scipy.stats.qmc.LatinHypercube``, which takes longer to import than many a
    calibration.
    """
    with optional("a sample needs NumPy: pip install numpy"):
        import numpy as np
    (draws,) = np.random.default_rng(seed).spawn(1)
    within = draws.uniform(size=(count, dimensions))
    parts = np.tile(np.arange(1, count + 1), (dimensions, 1))
    for each in parts:
        draws.shuffle(each)
    drawn: list[list[float]] = ((parts.T - within) / count).tolist()
    return drawn
