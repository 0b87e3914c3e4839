"""Estimates of points' processor time, and the batches that a campaign makes by them."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from conftest import SMALL
from elanite import campaign as campaigns
from elanite.campaign.batches import MOST, SECONDS, batches
from elanite.campaign.cost import FREE, CostModel
from elanite.errors import UsageError
from elanite.inputs import sources
from elanite.inputs.plan import Point, plan
from elanite.store import Store
from test_engines import small


def test_what_costs_too_much_is_refused_before_anything_is_simulated(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    model = CostModel.shipped()
    hours = model.total(small().points) / 3600
    with pytest.raises(UsageError, match=f"about {hours:.3g} CPU-hours"):
        campaigns.run([small()], store, max_cost=0.9 * hours)
    assert store.identities() == []
    assert campaigns.run([small()], store, max_cost=1.1 * hours).exit_code == 0
    assert campaigns.run([small()], store, max_cost=0).exit_code == 0  # nothing is left to pay for


def test_estimates_come_from_the_point_the_series_the_experiment_or_the_kind(
    campaign: Path,
) -> None:
    store = Store(campaign / "store")
    model = CostModel.learn(store)
    for point in small().points:
        manifest = store.get(point.id)
        assert manifest is not None
        assert model.seconds(point) == manifest.cpu_seconds
    # Other points in the series: in proportion to the packets that they offer.
    loads = [
        point
        for point in plan(sources.read("experiment", SMALL), seed=7).points
        if point.series == "load"
    ]
    known = [point for point in small().points if point.series == "load"]
    mean = model.total(known) / len(known)
    assert model.total(loads) / len(loads) == pytest.approx(mean)
    heavy, light = (
        {model.seconds(point) for point in loads if str(load) in str(point.parameters["load"])}
        for load in (300, 50)
    )
    assert max(heavy) == pytest.approx(6 * 307 / 350 * max(light), rel=0.2)
    longer = plan(sources.read("experiment", SMALL), overrides=["run.window=220 us"], seed=7)
    ratio = model.total(longer.series("load")) / model.total(loads)
    assert ratio == pytest.approx((220 + 20) / (100 + 20))
    # A point without simulated relatives has its kind's rate for the packets that it offers: those
    # of 4 KB are 13 of 320 bytes.
    load = 300 if "300" in str(known[0].parameters["load"]) else 50
    packets = 16 * load * 120 / 4096 * 13
    assert CostModel.shipped().seconds(known[0]) == pytest.approx(
        CostModel.shipped().means["jobs"].seconds * packets / 1000
    )


def test_estimates_of_jobs_follow_loads_sizes_and_what_adapters_carry() -> None:
    model = CostModel.shipped()

    def total(*overrides: str) -> float:
        points = plan(sources.read("experiment", SMALL), overrides=overrides).series("load")
        return model.total(points)

    jobs = "series.load.jobs.uniform"
    slow = total(f'{jobs}.load="50 MB/s"')
    assert total(f'{jobs}.load="100 MB/s"') / slow == pytest.approx(2)
    assert total(f'{jobs}.load="50 MB/s"', f"{jobs}.nodes=8") / slow == pytest.approx(1 / 2)
    assert total(f'{jobs}.load="50 MB/s"', f'{jobs}.nodes="0-7"') / slow == pytest.approx(1 / 2)
    # A message of 8 KB is 26 packets of 320 bytes, and one of 32 bytes is a packet.
    assert total(f'{jobs}.load="50 MB/s"', f'{jobs}.message="8 KB"') / slow == pytest.approx(1)
    short = (f'{jobs}.load="50 MB/s"', f'{jobs}.message="32 B"')
    assert total(*short, f"{jobs}.processes=16") / slow == pytest.approx(128 / 13)
    # A process waits for each message, and sends fewer of them in this time.
    assert total(*short) < 0.6 * total(*short, f"{jobs}.processes=16")
    # More than the links and buses carry costs the same.
    assert total(f'{jobs}.load="2 GB/s"') == pytest.approx(total(f'{jobs}.load="4 GB/s"'))


def test_networks_that_hold_no_circuit_are_a_kind_of_their_own() -> None:
    model = CostModel.shipped()
    free, held = model.means[FREE].seconds, model.means["jobs"].seconds
    assert free > 1.5 * held

    def total(circuit: str) -> float:
        changed = [f"switch.circuit={circuit}"]
        points = plan(sources.read("experiment", SMALL), overrides=changed).series("load")
        return model.total(points)

    assert total("until-delivered") == pytest.approx(total("until-acknowledged"))
    assert total("wormhole") / total("until-acknowledged") == pytest.approx(free / held)


def test_estimates_follow_windows_repeats_and_doublings() -> None:
    model = CostModel.shipped()

    def total(name: str, series: str, *overrides: str) -> float:
        return model.total(
            plan(sources.read("experiment", name), overrides=overrides).series(series)
        )

    barriers = model.means["collectives/barrier software-loaded"]
    fewer = total(
        "collectives/barrier", "software-loaded", "series.software-loaded.collective.repeats=60"
    )
    whole = total("collectives/barrier", "software-loaded")
    assert fewer / whole == pytest.approx(
        (5 + 60 * barriers.stretch) / (5 + 300 * barriers.stretch)
    )
    loads = model.means["qsnet/permutations saturation"]
    assert loads.stretch > 1
    fixed = total("qsnet/permutations", "saturation", "series.saturation.run.precision=0")
    assert fixed / total("qsnet/permutations", "saturation") == pytest.approx(
        (5 + 7.5) / (5 + 7.5 * loads.stretch)
    )


def test_estimates_of_traces_are_in_proportion_to_the_bytes_of_their_messages() -> None:
    model = CostModel.shipped()

    def total(name: str, series: str, *overrides: str) -> float:
        short = [f"series.{series}.trace.{change}" for change in overrides]
        return model.total(plan(sources.read("experiment", name), overrides=short).series(series))

    ring = total("today/slingshot", "allreduce", 'message="1 MB"')
    assert total("today/slingshot", "allreduce", 'message="256 MB"') / ring == pytest.approx(256)
    assert total(
        "today/slingshot", "allreduce", 'message="1 MB"', "nodes=32"
    ) / ring == pytest.approx(2)
    every = total("today/rails", "exchange-all", "nodes=64")
    assert total("today/rails", "exchange-all", "nodes=128") / every == pytest.approx(4)


def check_batches(points: list[Point], cost: dict[str, float], count: int) -> list[list[Point]]:
    found = batches(points, cost, count)
    assert sorted(point.id for batch in found for point in batch) == sorted(
        point.id for point in points
    )
    for batch in found:
        assert len(batch) == 1 or sum(cost[point.id] for point in batch) <= SECONDS * (1 + 1e-9)
        assert 1 <= len(batch) <= MOST
    return found


def test_batches_hold_every_point_once_and_half_a_minute_at_most() -> None:
    points = [Point(f"{n:020x}", "e", "s", {}, 1, "{}", "m", "ping") for n in range(5000)]
    draw = random.Random(5)
    cost = {point.id: draw.lognormvariate(0, 2) for point in points}
    found = check_batches(points, cost, 8)
    assert cost[found[0][0].id] == max(cost.values())
    least = sum(min(seconds, SECONDS) for seconds in cost.values()) / SECONDS
    assert least <= len(found) < 1.5 * least
    assert (
        32 <= len(check_batches(points, dict.fromkeys(cost, 1e-6), 8)) <= 34
    )  # four for every worker
    assert len(check_batches(points[:3], cost, 8)) == 3
    assert check_batches([], {}, 8) == []
