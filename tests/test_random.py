"""Whether a point draws random numbers: the simulator's record, for every benchmark and randomness
kind.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from elanite import _core
from elanite.inputs import sources
from elanite.inputs.plan import Point, plan
from elanite.inputs.sources import Source
from pings import ping
from test_release_build import EXPERIMENTS, ROWS, last_of_each_series, machine

KINDS = [(row["file"], row["series"]) for row in ROWS if row["engine"] == "worm"]

WITHOUT = {
    *(
        ("good", "ping"),
        ("collectives", "ping"),
        ("collectives", "barrier"),
        ("overlap", "overlap"),
    ),
    *(
        ("allocation", "both"),
        ("allocation", "kept"),
        ("goodput", "form"),
        ("goodput", "form-of-levels"),
    ),
    *(("trace", "all-reduce"), ("trace", "all-to-all"), ("noise", "noise"), ("noise", "steps")),
}
"""Series with last points that draw no random numbers on a machine without noise; the others draw
arrivals, sizes, destinations or bit errors.
"""


@cache
def points(name: str) -> dict[str, Point]:
    """Each series' last point, on the Rust tests' machine."""
    whole = plan(
        sources.read("experiment", EXPERIMENTS / f"{name}.toml"), [machine(name == "rails")]
    )
    return {point.series: point for point in last_of_each_series(whole).points}


def simulated(point: str, seed: int) -> dict[str, Any]:
    found = _core.simulate(json.dumps(json.loads(point) | {"seed": seed}), _core.Cancel())
    return {key: value for key, value in found.items() if key != "peak_memory_bytes"}


@pytest.mark.parametrize(("name", "series"), KINDS)
def test_points_without_draws_are_the_same_for_every_seed(name: str, series: str) -> None:
    first, second = (simulated(points(name)[series].json, seed) for seed in (1, 2))
    assert first["random"] is second["random"] is ((name, series) not in WITHOUT)
    assert (first == second) is not first["random"], (
        "a draw that changes nothing, or a change without a draw"
    )


PING = f"""
title = "A ping"
machine = "machine"
[[series]]
name = "ping"
{ping('"4 KB"', to=5, repeats=20)}"""

FAULTS = {
    "a cable that fails at a moment": (
        'link = "switch 1.0, port 5"\nat = "50 us"\nfor = "50 us"',
        False,
    ),
    "a cable that fails at random": (
        'link = "switch 1.0, port 5"\nmtbf = "20 us"\nmttr = "10 us"',
        True,
    ),
    "the worst cables": (
        'links = "level 1"\ncount = 3\npick = "worst"\nat = "50 us"\nfor = "50 us"',
        False,
    ),
    "any cables": (
        'links = "level 1"\ncount = 3\npick = "random"\nat = "5 us"\nfor = "50 us"',
        True,
    ),
    "bit errors": ('links = "all"\nbit_error_rate = 1e-5', True),
    "no bit errors": ('links = "all"\nbit_error_rate = 0', False),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_draw_only_where_chance_decides(fault: str) -> None:
    text, random = FAULTS[fault]
    experiment = Source(
        "experiment", "ping", "ping.toml", "ping.toml", f"{PING}\n[[series.fault]]\n{text}\n"
    )
    (point,) = plan(experiment, [machine(rails=False)]).points
    runs = [simulated(point.json, seed) for seed in range(1, 7)]
    assert {run["random"] for run in runs} == {random}
    assert (len({run["digest"] for run in runs}) > 1) is random


@pytest.mark.parametrize("name", sources.shipped("machine"))
def test_pings_of_shipped_machines_without_noise_draw_nothing(name: str) -> None:
    """With any topology and routing: Valiant's and other random places are packet hashes."""
    experiment = Source("experiment", "ping", "ping.toml", "ping.toml", PING)
    (point,) = plan(experiment, [sources.read("machine", name)]).points
    first, second = (simulated(point.json, seed) for seed in (1, 2))
    assert first["random"] is False
    assert first == second


def test_noise_of_the_machine_makes_computation_random() -> None:
    quiet = machine(rails=False)
    noisy = replace(quiet, text=f"{quiet.text}{NOISE}")
    experiment = sources.read("experiment", EXPERIMENTS / "noise.toml")
    for chosen, random in ((quiet, False), (noisy, True)):
        point = plan(experiment, [chosen], ["series.noise.noise.iterations=50"]).points[0]
        runs = [simulated(point.json, seed) for seed in (1, 2, 3)]
        assert {run["random"] for run in runs} == {random}
        assert (len({run["digest"] for run in runs}) > 1) is random


NOISE = """
[noise.tick]
cpu = { value = "all", source = "made for the test" }
interval = { value = "50 us", source = "made for the test" }
duration = { value = "5 us", source = "made for the test" }
"""
