"""Probes: the points of a study on which a machine's change acts.

A probe runs a point for a fifth of the time, as it is and with a change. If all tables are the same
byte for byte, the change does not act on this point, and the point as it is stands for both. Only
the other points run for the whole time. Both studies of changed machines begin with probes: one
parameter at a time (``sensitivity``), and machines without a mechanism (``ablation``).
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from elanite import campaign
from elanite.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from elanite.campaign import CampaignOutcome, Observer
    from elanite.inputs.plan import Plan, Point
    from elanite.store import Store
    from elanite.study.basis import Study

PROBE = 0.2
"""A probe's length, as a fraction of the run for which it stands."""

Key = tuple[str, str, int]


def probed(
    study: Study,
    store: Store,
    changes: Sequence[Sequence[str]],
    jobs: int | None = None,
    observer: Observer | None = None,
    out: str | None = None,
) -> tuple[CampaignOutcome, dict[int, dict[str, Plan]]]:
    """Simulate a study's points on changed machines, after probes; ``changes`` are machine file
    overrides.

    Returns each change's plans by its number. A change that an experiment refuses is left out, and
    there are no plans after an interrupt.
    """
    still, probing = probes(study, changes)
    plans = [planned for one in (study.usual, still, *probing.values()) for planned in one.values()]
    first = campaign.run(plans, store, jobs, observer, out)
    if first.interrupted:
        return first, {}
    found = {
        number: _acting(study, store, still, probe, changes[number])
        for number, probe in probing.items()
    }
    last = campaign.run(
        [planned for one in found.values() for planned in one.values()], store, jobs, observer, out
    )
    last.reused += first.reused
    last.simulated += first.simulated
    last.failures = [*first.failures, *last.failures]
    return last, {} if last.interrupted else found


def probes(
    study: Study, changes: Sequence[Sequence[str]]
) -> tuple[dict[str, Plan], dict[int, dict[str, Plan]]]:
    """The probes' plans: on the machine as it is, and with each change by its number, without those
    that an experiment refuses.
    """
    found: dict[int, dict[str, Plan]] = {}
    for number, change in enumerate(changes):
        with suppress(ConfigError):
            found[number] = study.plans(change, PROBE)
    return study.plans(share=PROBE), found


def _acting(
    study: Study,
    store: Store,
    still: Mapping[str, Plan],
    probe: Mapping[str, Plan],
    change: Sequence[str],
) -> dict[str, Plan]:
    """The points with a change, and the points as usual where the probe did not change."""
    found = {}
    for name, planned in study.plans(change).items():
        before, after = (_by_key(plans[name]) for plans in (still, probe))
        usual = _by_key(study.usual[name])
        points = []
        for key, point in _by_key(planned).items():
            same = (
                key in after
                and key in before
                and _tables(store, before[key]) == _tables(store, after[key])
            )
            points.append(usual[key] if same else point)
        found[name] = replace(planned, points=tuple(points))
    return found


def _by_key(planned: Plan) -> dict[Key, Point]:
    """The points by their distinction on one machine."""
    return {
        (point.series, json.dumps(point.parameters), point.seed): point for point in planned.points
    }


def _tables(store: Store, point: Point) -> object:
    """The checksums of all of a finished point's tables."""
    manifest = store.get(point.id)
    return manifest.data["files"] if manifest else point.id
