"""The point memory estimate, against the processes' use, and its consequences."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from conftest import SMALL, environment
from elanite.base.host import Room
from elanite.campaign import memory
from elanite.inputs import sources
from elanite.inputs.plan import plan

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from conftest import Ended
    from elanite.inputs.plan import Point

    Elanite = Callable[..., Ended]

SOME = ("series.load.load=60 MB/s", "run.warm_up=0 s", "run.window=20 us", "run.batches=1")

GROWING = """
title = "More is offered than the network carries"
source = "made for the tests"
machine = "es40-qsnet"

[run]
warm_up = "0 s"
window = "1 s"
seeds = 1

[[series]]
name = "load"
title = "x"

[series.jobs.uniform]
pattern = "uniform"
nodes = [64]
message = "1 B"
sizes = "fixed"
arrivals = "exponential"
load = ["0.000001 MB/s", "350 MB/s"]
"""


def sized(nodes: int, *topology: str) -> Point:
    """Uniform traffic on a network."""
    changes = (f"topology.nodes={nodes}", f"series.load.nodes={nodes}", *SOME)
    keys = (f"topology.{one}" for one in topology)
    return plan(sources.read("experiment", "speed/uniform-64"), overrides=[*changes, *keys]).points[
        0
    ]


def tree(levels: int) -> Point:
    fours = [4] * levels
    return sized(4**levels, f"down={fours}", f"up={fours[1:]}")


def torus(*sizes: int) -> Point:
    nodes = 1
    for size in sizes:
        nodes *= size
    return sized(nodes, "kind=torus", f"dimensions={list(sizes)}")


def dragonfly(terminals: int, group: int, beyond: int, groups: int) -> Point:
    nodes = terminals * group * groups
    keys = {
        "terminals": terminals,
        "group": group,
        "global": beyond,
        "groups": groups,
        "routing": "minimal",
    }
    return sized(nodes, "kind=dragonfly", *(f"{key}={value}" for key, value in keys.items()))


def resident(point: Point) -> int:
    """The peak memory of a process that has simulated a point."""
    # The getrusage peak begins with the parent's peak at the fork.
    code = (
        "import sys, polars; from elanite import _core; _core.simulate(sys.stdin.read(),"
        " _core.Cancel());print(next(line.split()[1] for line in open('/proc/self/status') if"
        " line.startswith('VmHWM')))"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code],
        input=point.json,
        capture_output=True,
        text=True,
        check=True,
        env=environment(),
    )
    return int(ended.stdout) * 1024


@pytest.mark.parametrize(
    "point",
    [
        pytest.param(lambda: tree(3), id="tree of 64"),
        pytest.param(lambda: torus(4, 4, 4), id="torus of 64"),
        pytest.param(lambda: dragonfly(2, 4, 2, 9), id="dragonfly of 72"),
        pytest.param(lambda: tree(6), id="tree of 4,096"),
        pytest.param(lambda: torus(16, 16, 16), id="torus of 4,096"),
        pytest.param(lambda: dragonfly(6, 12, 6, 73), id="dragonfly of 5,256"),
        pytest.param(lambda: tree(8), id="tree of 65,536", marks=pytest.mark.slow),
        pytest.param(lambda: torus(16, 16, 16, 16), id="torus of 65,536", marks=pytest.mark.slow),
        pytest.param(
            lambda: dragonfly(32, 16, 8, 129), id="dragonfly of 66,048", marks=pytest.mark.slow
        ),
    ],
)
def test_the_estimate_is_within_30_percent(point: Callable[[], Point]) -> None:
    one = point()
    assert resident(one) == pytest.approx(memory.PROCESS + memory.of_point(one), rel=0.3)


def test_links_are_counted() -> None:
    """For all rails, and for topology kinds without a measured figure in the estimate."""

    def count(point: Point) -> int:
        return (memory.of_point(point) - memory.NODE * nodes(point)) // memory.LINK

    def nodes(point: Point) -> int:
        machine = json.loads(point.json)["machine"]
        return int(
            machine["topology"]["nodes"]["value"]
            * machine.get("rails", {}).get("count", {}).get("value", 1)
        )

    assert count(tree(3)) == 2 * 3 * 64
    assert count(torus(4, 4, 4)) == 2 * (64 + 3 * 64)
    assert count(dragonfly(2, 4, 2, 9)) == 2 * 72 + 36 * (3 + 2)
    rails = {count(point) for point in plan(sources.read("experiment", "multirail/rails")).points}
    assert {links // 768 for links in rails} >= {1, 2, 4}
    assert {links % 768 for links in rails} == {0}


def points() -> Sequence[Point]:
    return plan(sources.read("experiment", SMALL)).points


def test_fewer_points_are_simulated_at_a_time() -> None:
    several = points()
    need = max(map(memory.of_point, several))
    enough = memory.fitted(several, 2, Room(2 * need, "the limit", "raise it"))
    assert (enough.jobs, enough.refused, enough.line) == (2, {}, "")
    lowered = memory.fitted(several, 2, Room(2 * need - 1, "the limit", "raise it"))
    assert (lowered.jobs, lowered.refused) == (1, {})
    assert enough.share is not None
    assert enough.share.bytes == int(need / memory.OVERHEAD)
    assert re.fullmatch(
        r"simulating 1 point at a time instead of 2: 2 need about \d MB of memory, and \d MB are"
        r" left \(the limit\)",
        lowered.line,
    )


def test_a_point_without_room_fails_alone(
    monkeypatch: pytest.MonkeyPatch, elanite_here: Callable[..., Ended], tmp_path: Path
) -> None:
    several = points()
    monkeypatch.setattr(
        memory, "of_point", lambda point: 9_000_000_000 if point.id == several[0].id else 1
    )
    monkeypatch.setattr(memory, "_room", lambda: Room(2_000_000_000, "the limit", "raise it"))
    ended = elanite_here("run", SMALL, "--out", str(tmp_path / "out"))
    assert ended.code == 1, ended
    assert (
        "it needs about 9,000 MB of memory, and 2,000 MB are left: the limit; raise it" in ended.err
    )
    store = [
        path.name
        for path in (tmp_path / "out" / "store").iterdir()
        if not path.name.startswith(".")
    ]
    assert sorted(store) == sorted(point.id for point in several[1:])


def test_queues_that_grow_are_bounded_by_the_room(
    elanite_here: Callable[..., Ended], tmp_path: Path
) -> None:
    """A point that grows beyond its memory share fails alone, by the host's limit and not by its
    file's limit.
    """
    experiment = tmp_path / "growing.toml"
    experiment.write_text(GROWING)
    room = 4 * memory.of_point(plan(sources.read("experiment", str(experiment))).points[0])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory, "_room", lambda: Room(room, "the limit", "raise it"))
        ended = elanite_here("run", str(experiment), "--out", str(tmp_path / "out"), "--jobs", "2")
    assert ended.code == 1, ended
    assert (
        "for 2 points at a time: the limit; --jobs 1 gives a point all of it; raise it" in ended.err
    )
    assert "run.max_memory" not in ended.err
    assert (
        len(
            [
                path
                for path in (tmp_path / "out" / "store").iterdir()
                if not path.name.startswith(".")
            ]
        )
        == 1
    )
