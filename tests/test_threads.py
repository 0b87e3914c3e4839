"""Threads inside a point: results do not depend on their number, and the choice of it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

import elanite as el
from elanite.campaign import memory, threads, work
from elanite.campaign.memory import Share
from elanite.campaign.threads import Threads
from elanite.errors import UsageError
from elanite.inputs import sources
from elanite.inputs.plan import plan

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Ended
    from elanite.inputs.plan import Point

SHORT = ("run.warm_up=0 s", "run.window=4 us", "run.batches=1", "series.load.load=200 MB/s")
EXPERIMENT = "speed/uniform-64"


def point(nodes: int = 64, *changes: str) -> Point:
    """Uniform traffic on a quaternary tree."""
    levels = (nodes.bit_length() - 1) // 2
    fours = [4] * levels
    tree = (f"topology.nodes={nodes}", f"topology.down={fours}", f"topology.up={fours[1:]}")
    chosen = (*tree, f"series.load.nodes={nodes}", *SHORT, *changes)
    return plan(sources.read("experiment", EXPERIMENT), overrides=chosen).points[0]


@pytest.mark.parametrize(
    "rate", ["400 MB/s", ["100 MB/s", "400 MB/s", "400 MB/s"], ["400 MB/s", "150 MB/s", "150 MB/s"]]
)
def test_no_result_depends_on_the_threads(tmp_path: Path, rate: str | list[str]) -> None:
    """Nor does a point's identity; slow links may stand between regions."""
    found = set()
    experiment = el.Experiment.load(EXPERIMENT, SHORT)
    machine = el.Machine.load("es40-qsnet", [f"link.rate={rate}"])
    for count in (1, 2, 3, 7):
        result = el.run(experiment, machine, threads=count, out=tmp_path / str(count))
        (one,) = result.points
        manifest = result.store.get(one.id)
        assert manifest is not None
        found.add((one.id, manifest.data["digest"], manifest.data["packets"]))
    assert len(found) == 1


def test_a_point_has_threads_if_cores_are_idle_and_its_network_is_large() -> None:
    large, medium, small = point(65536), point(4096), point(1024)
    chosen = Threads(None, free=16)
    assert [chosen.of(large, unfinished) for unfinished in (1, 2, 4, 5, 100)] == [16, 8, 4, 1, 1]
    assert [chosen.of(each, 1) for each in (medium, small)] == [4, 1]
    assert Threads(None, free=3).of(large, 1) == 1
    assert Threads(5, free=1).of(small, 100) == 5


def test_threads_fit_into_the_memory() -> None:
    large = point(65536)
    room = memory.on_threads(large, 5)
    assert memory.of_point(large) < room < memory.on_threads(large, 6)
    assert Threads(None, 16, Share(room, "the limit", room)).of(large, 1) == 5


def test_a_network_with_faults_has_one_thread() -> None:
    flits = point(4096, "fabric.engine=flit")
    failing = next(
        one
        for one in plan(sources.read("experiment", "faults/links")).points
        if '"faults":[' in one.json
    )
    for each in (flits, failing):
        assert Threads(None, free=16).of(each, 1) == 1
        assert Threads(5, free=16).of(each, 1) == 1
    note = Threads(5, free=16).note([flits, point(), failing, flits])
    assert (
        note == "--threads 5: 3 points on one thread: the flit engine moves whole networks (2); the"
        " network may have faults (1)"
    )
    assert Threads(5, free=16).note([point()]) == Threads(None, free=16).note([flits]) == ""


def test_a_run_names_points_on_one_thread_once(
    elanite_here: Callable[..., Ended], tmp_path: Path
) -> None:
    words = [word for change in (*SHORT, "fabric.engine=flit") for word in ("--set", change)]
    ended = elanite_here(
        "run", EXPERIMENT, *words, "--threads", "2", "--out", str(tmp_path / "out")
    )
    assert ended.code == 0, ended
    assert (
        ended.err.count(
            "--threads 2: 1 point on one thread: the flit engine moves whole networks (1)"
        )
        == 1
    )


def test_the_last_points_of_a_campaign_take_the_idle_cores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = []
    simulate = work._records

    def spied(one: Point, cancel: object, share: Share | None = None, threads: int = 1) -> object:
        taken.append(threads)
        return simulate(one, cancel, share, threads)  # type: ignore[arg-type]

    monkeypatch.setattr(work, "_records", spied)
    monkeypatch.setattr(threads, "NODES", 16)
    monkeypatch.setattr("elanite.campaign.idle", lambda _: 12)
    changed = el.Experiment.load(EXPERIMENT, (*SHORT, "run.seeds=4"))
    el.run(changed, jobs=1, out=tmp_path)
    assert taken == [1, 4, 4, 4]


@pytest.mark.parametrize("count", [0, 257])
def test_a_wrong_number_of_threads_is_an_error(count: int, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=rf"threads={count}: 1 to 256 threads"):
        el.run(EXPERIMENT, threads=count, out=tmp_path)


def test_threads_are_not_for_an_engine(tmp_path: Path) -> None:
    with (
        ThreadPoolExecutor(1) as executor,
        pytest.raises(UsageError, match="an engine's workers have one thread"),
    ):
        el.run(EXPERIMENT, threads=2, out=tmp_path, executor=executor)


def test_the_load_of_other_programs_is_not_idle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.getloadavg", lambda: (6.4, 0.0, 0.0))
    assert [threads.idle(cores) for cores in (16, 6)] == [10, 1]
