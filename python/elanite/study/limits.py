"""Silent limits: warnings about a plan with results that look right and mean less than they seem
to.

A limit is one of these:

- ``credits``, ``detours``: links or routes carry less than a link's rate
  (``crates/machine/src/warning.rs``);
- ``same``: a key changes no point, because points with different values for the key have equal
  content;
- ``idle``: a key changed no result, because points with different values for the key have equal
  digests;
- ``warm-up``: the measured window begins before some sources' arrivals are stationary
  (``inputs.warmup``), so that the offered load differs from the nominal one;
- ``assumed``: values that no source gives (``study.assumptions``), with the claims that they move
  as far as a study has computed that.

A limit changes no result and no exit code. The commands print each limit once per plan, on standard
error: ``check``, ``run``, ``sweep``, ``calibrate`` and ``reproduce`` with one experiment in full,
``reproduce`` with several in one line. Run and sweep pages have all limits except assumed values,
which stand beside their parameters.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from elanite import _core
from elanite.base.text import counted, number, plain
from elanite.inputs import warmup
from elanite.study import assumptions
from elanite.study.assumptions import NAMED

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from elanite.inputs.machine import Machine
    from elanite.inputs.plan import Plan, Point
    from elanite.results.differences import PlanResult

ASSUMED = "assumed"
"""The limit kind for assumed values."""

_CHANGE = re.compile(r", (?=[\w.-]+=)")
"""The end of a change in a machine's label; a list has commas, too."""


@dataclass(frozen=True)
class Limit:
    """A machine's or a plan's limit."""

    kind: str
    """One of the kinds in the module's essay."""
    subject: str
    """The machine, or the experiment and the series."""
    key: str
    value: str
    message: str

    def __str__(self) -> str:
        """The limit as a line."""
        return f"warning: {self.words}"

    @property
    def words(self) -> str:
        """The limit as a note."""
        has = f" = {self.value}" if self.value else ""
        return f"{self.subject}: {self.key}{has}: {self.message}"


def of_machine(machine: Machine) -> list[Limit]:
    """A machine's limits with its overrides."""
    found = _core.machine_warnings(machine.file.text, machine.file.file, list(machine.overrides))
    return _limits(machine.file.name, found)


def of_point(subject: str, point: str) -> list[Limit]:
    """The limits of a point's machine; the point is in the simulator's form."""
    return _limits(subject, _core.point_warnings(point))


def _limits(subject: str, found: str) -> list[Limit]:
    return [
        Limit(one["kind"], subject, one["key"], plain(one["value"]), one["message"])
        for one in json.loads(found)
    ]


def of_work(plans: Sequence[Plan], fitted: Collection[str] = ()) -> list[Limit]:
    """All limits known before a simulation; ``plans`` may have an experiment several times, on
    changed machines.

    Parameters that are ``fitted`` in this work count as known.
    """
    found = [
        Limit(ASSUMED, each.machine, "assumed parameters", each.share, each.effects)
        for plan in _experiments(plans)
        for each in assumptions.of_plan(plan, fitted)
    ]
    return of_plans(plans) + list(dict.fromkeys(found))


def _experiments(plans: Sequence[Plan]) -> list[Plan]:
    """Each experiment's first plan."""
    first: dict[str, Plan] = {}
    for plan in plans:
        first.setdefault(plan.experiment.argument, plan)
    return list(first.values())


def in_brief(plans: Sequence[Plan]) -> str:
    """Shipped experiments' limits in a line, with the command that prints them; empty without
    any.
    """
    found = {plan.experiment.argument: of_work([plan]) for plan in plans}
    kinds = Counter(limit.kind for limits in found.values() for limit in limits)
    if not kinds:
        return ""
    numbers = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
    names = " ".join(name for name, limits in found.items() if limits)
    return f"warning: limits of these experiments ({numbers}), in full: elanite check {names}"


def of_plans(plans: Sequence[Plan]) -> list[Limit]:
    """The limits of all points' machines, and each series' points that are the same.

    A parameter's first limit stands for all its limits, with the count of the other machines. Its
    subject has the changes, among those that differ in this work, with which the machine has the
    limit.
    """
    alike: dict[tuple[str, str, str], list[tuple[Limit, list[str]]]] = {}
    for plan in plans:
        swept = [
            change
            for change in plan.overrides
            if any(change not in other.overrides for other in plans)
        ]
        machines: dict[tuple[str, str], Point] = {}
        for point in plan.points:
            machines.setdefault((point.machine, plain(point.parameters.get("machine", ""))), point)
        for (name, changes), point in machines.items():
            own = _CHANGE.split(changes) if changes and changes != "unchanged" else []
            for limit in of_point(name, point.json):
                alike.setdefault((limit.kind, limit.key, name), []).append((limit, own + swept))
    found = []
    for limits in alike.values():
        (first, _), others = limits[0], len({limit.message for limit, _ in limits}) - 1
        more = (
            f" (and {counted(others, 'other machine')} of this plan, with other figures)"
            if others
            else ""
        )
        with_it = [changes for limit, changes in limits if limit.message == first.message]
        common = [change for change in with_it[0] if all(change in changes for changes in with_it)]
        subject = f"{first.subject} ({', '.join(common)})" if common else first.subject
        found.append(Limit(first.kind, subject, first.key, first.value, first.message + more))
    return found + [
        limit
        for plan in _experiments(plans)
        for limit in (*_redundant_values(plan), *_started(plan))
    ]


def _started(plan: Plan) -> Iterator[Limit]:
    """Each series' jobs with sources that are not stationary in the window, with the point that is
    farthest off.
    """
    found: dict[tuple[str, str], list[tuple[Point, warmup.Start]]] = {}
    for point in plan.points:
        for start in warmup.of_point(point):
            found.setdefault((point.series, start.job), []).append((point, start))
    for (series, job), starts in found.items():
        point, worst = max(starts, key=lambda one: abs(one[1].excess))
        if abs(worst.excess) <= warmup.MOST:
            continue
        owned = f"{job}.load" if f"{job}.load" in point.parameters else "load"
        load, gap = plain(point.parameters[owned]), f"{number(worst.gap_us / 1000)} ms"
        side = "more" if worst.excess > 0 else "less"
        begins = "where the search of the saturation point begins, " if worst.searched else ""
        needed = max((start for _, start in starts), key=lambda start: start.needed_us).needed_us
        yield Limit(
            "warm-up",
            f"{plan.experiment.name}, series {series}",
            "run.warm_up",
            plain(point.run["warm_up"]),
            f"at {load}, {begins}each process of job {job} sends a message in {gap} on average, and"
            " its arrivals are not stationary before: on average the window offers"
            f" {abs(worst.excess):.0%} {side} than the load; raise run.warm_up to"
            f" {warmup.long_enough(needed)}",
        )


def _redundant_values(plan: Plan) -> list[Limit]:
    """Values in an experiment file that make the same points."""
    found: dict[tuple[str, str], dict[str, None]] = {}
    repeated: dict[str, int] = {}
    for series, kept, dropped in plan.same:
        keys = [key for key in kept | dropped if kept.get(key) != dropped.get(key)]
        if not keys:
            repeated[series] = repeated.get(series, 0) + 1
        for key in keys[:1]:
            values = found.setdefault((series, key), {})
            values |= {plain(kept.get(key)): None, plain(dropped.get(key)): None}
    subject = f"{plan.experiment.name}, series "
    message = "these values make the same points"
    limits = [
        Limit("same", subject + series, key, _list(values), message)
        for (series, key), values in found.items()
    ]
    message = (
        "left out, as they repeat others: a list of the series has a value twice, or a value that"
        " changes no point"
    )
    return limits + [
        Limit("same", subject + series, counted(count, "point"), "", message)
        for series, count in repeated.items()
    ]


def _list(values: Iterable[str]) -> str:
    """Some values, the first of many."""
    all_ = list(values)
    more = f" and {len(all_) - NAMED} more" if len(all_) > NAMED else ""
    mark = "; " if any(", " in value for value in all_) else ", "
    return mark.join(all_[:NAMED]) + more


def equal_values(
    points: Sequence[Point], content: Callable[[Point], str | None]
) -> dict[str, list[list[str]]]:
    """For each parameter the lists of its values that make no difference to any point's content.

    Points are compared that differ in this parameter only. Points without content are left out.
    """
    known = [(point, found) for point in points if (found := content(point)) is not None]
    keys = dict.fromkeys(key for point, _ in known for key in point.parameters)
    result: dict[str, list[list[str]]] = {}
    for key in keys:
        contents: dict[str, set[tuple[str, str]]] = {}
        for point, found in known:
            if key in point.parameters:
                others = {name: value for name, value in point.parameters.items() if name != key}
                place = json.dumps(
                    [point.series, point.machine, point.seed, others], sort_keys=True
                )
                contents.setdefault(plain(point.parameters[key]), set()).add((place, found))
        classes: dict[frozenset[tuple[str, str]], list[str]] = {}
        for value, places in contents.items():
            classes.setdefault(frozenset(places), []).append(value)
        several = [values for values in classes.values() if len(values) > 1]
        if several:
            result[key] = several
    return result


def _of_alike(
    kind: str, subject: str, found: dict[str, list[list[str]]], message: str
) -> list[Limit]:
    return [
        Limit(kind, subject, key, _list(values), message)
        for key, several in found.items()
        for values in several
    ]


def without_effect(name: str, points: Sequence[Point]) -> list[Limit]:
    """Planned points' parameters with values that make the same points."""
    message = (
        "these values make the same points: nothing in the experiment uses the key, or the values"
        " are equal"
    )
    return _of_alike("same", name, equal_values(points, lambda point: point.id), message)


def without_results(result: PlanResult) -> list[Limit]:
    """Finished points' parameters with values that gave equal results, though the points differ."""
    points = result.points
    same = equal_values(points, lambda point: point.id)
    found = equal_values(points, lambda point: str(result.manifest(point)["digest"]))
    new = {key: several for key, several in found.items() if same.get(key) != several}
    message = (
        "these values had no effect: all points with them have equal results, packet by packet"
    )
    return _of_alike("idle", result.plan.experiment.argument, new, message)


def as_data(limits: Iterable[Limit]) -> list[dict[str, object]]:
    """Limits as plain data."""
    return [
        {name: getattr(limit, name) for name in ("kind", "subject", "key", "value", "message")}
        for limit in limits
    ]
