"""Claims: one living process has a point, and a dead one's claim is taken over; two hosts on one
store.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from conftest import FILES, PATIENCE, environment, until
from elanite import _core, campaign
from elanite.base import bounded
from elanite.inputs import sources
from elanite.inputs.plan import Point, plan
from elanite.store import Store, UnreadableError, owner
from elanite.store.leases import CLAIM
from hosts import hosts, on_a_host

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from io import BufferedReader

__all__ = ["hosts"]

HOST = Path(__file__).parent / "store_host.py"
CHEAP = str(FILES / "cheap.toml")


def cheap(many: int) -> list[Point]:
    return list(plan(sources.read("experiment", CHEAP)).points[:many])


def left(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if path.name.startswith(".")]


def test_one_caller_has_a_claim_until_it_is_released(tmp_path: Path) -> None:
    with Store(tmp_path).claim("0123") as claim:
        assert claim.renew()
        assert Store(tmp_path).claim("0123") is None
        with Store(tmp_path).claim("4567"):
            assert sorted(left(tmp_path)) == [".claim-0123", ".claim-4567"]
        Store(tmp_path).clean()
        assert left(tmp_path) == [".claim-0123"]
    assert not left(tmp_path)
    with Store(tmp_path).claim("0123"):
        pass


def test_a_point_that_was_finished_meanwhile_is_not_claimed(tmp_path: Path) -> None:
    (point,) = cheap(1)
    store = Store(tmp_path)
    assert store.get(point.id) is None
    Store(tmp_path).put(point, _core.simulate(point.json, _core.Cancel()), {"cpu_seconds": 1.0})
    assert store.claim(point.id) is None
    assert not left(tmp_path)


def claimed(folder: Path, by: owner.Owner, seconds: float = 600) -> Path:
    """A claim that another process has made."""
    file = folder / f"{CLAIM}0123"
    file.write_text(json.dumps({"owner": str(by), "seconds": seconds, "number": "1"}))
    return file


def test_a_claim_of_another_host_holds_until_it_expires_and_is_then_lost(tmp_path: Path) -> None:
    file = claimed(tmp_path, replace(owner.own_process(), host="elsewhere"))
    store = Store(tmp_path)
    assert store.claim("0123") is None
    os.utime(file, (time.time() - 590,) * 2)
    assert store.claim("0123") is None
    os.utime(file, (time.time() - 610,) * 2)
    mine = store.claim("0123", seconds=5)
    assert mine is not None
    # I am too slow, and lose it in turn; then it is not mine to renew, or to release.
    os.utime(file, (time.time() - 6,) * 2)
    successor = Store(tmp_path).claim("0123")
    assert successor is not None
    assert not mine.renew()
    mine.release()
    assert successor.renew()
    successor.release()
    assert not left(tmp_path)


def test_a_claim_of_a_dead_process_of_this_host_is_taken_over_at_once(tmp_path: Path) -> None:
    dead = subprocess.Popen(["true"])
    dead.wait()
    claimed(tmp_path, replace(owner.own_process(), pid=dead.pid))
    with Store(tmp_path).claim("0123"):
        pass
    claimed(tmp_path, replace(owner.own_process(), pid=dead.pid))
    assert Store(tmp_path).clean() == [".claim-0123"]


def renewed(file: Path) -> None:
    """Wait until a claim that is almost over is renewed."""
    os.utime(file, (time.time() - 590,) * 2)
    assert until(lambda: time.time() - file.stat().st_mtime < 500)


def test_a_claim_in_use_renews_itself(tmp_path: Path) -> None:
    claim = Store(tmp_path).claim("0123")
    assert claim is not None
    # It is renewed three times within these seconds, and holds for the 600 s in its file.
    claim.seconds = 0.3
    with claim:
        for _ in range(3):
            renewed(tmp_path / ".claim-0123")
            assert Store(tmp_path).claim("0123") is None


@pytest.mark.parametrize("ahead", [-86400.0, 86400.0])
def test_the_clock_of_a_host_does_not_matter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ahead: float
) -> None:
    """Ages follow the file system's clock."""
    file = claimed(tmp_path, replace(owner.own_process(), host="elsewhere"))
    now = time.time
    monkeypatch.setattr(time, "time", lambda: now() + ahead)
    assert Store(tmp_path).claim("0123") is None
    os.utime(file, (now() - 610,) * 2)
    assert Store(tmp_path).claim("0123") is not None


def test_of_many_successors_one_wins(tmp_path: Path) -> None:
    """Threads that all find an expired claim: one thread gets the claim, repeatedly."""
    from concurrent.futures import ThreadPoolExecutor
    from threading import Barrier

    barrier = Barrier(8)

    def attempt(_: int) -> bool:
        store = Store(tmp_path)
        barrier.wait()
        return store.claim("0123") is not None

    winners = []
    with ThreadPoolExecutor(8) as pool:
        for _ in range(50):
            file = claimed(tmp_path, replace(owner.own_process(), host="elsewhere"))
            os.utime(file, (time.time() - 610,) * 2)
            winners.append(sum(pool.map(attempt, range(8))))
            file.unlink(missing_ok=True)
    # A successor may lose its claim to another one for a moment (`claims`): seldom, and there is
    # always one.
    assert min(winners) >= 1
    assert Counter(winners)[1] >= 40


def start(host: str, store: Path, points: Path, *words: str) -> subprocess.Popen[str]:
    line = on_a_host(host, sys.executable, HOST, store, points, *words)
    return subprocess.Popen(line, stdout=subprocess.PIPE, text=True, env=environment())


def written(tmp_path: Path, points: list[Point]) -> Path:
    file = tmp_path / "points"
    file.write_text("\n".join(point.id for point in points))
    return file


@pytest.mark.usefixtures("hosts")
@pytest.mark.parametrize("many", [60, pytest.param(1000, marks=pytest.mark.slow)])
def test_two_hosts_share_a_store(tmp_path: Path, many: int) -> None:
    points = cheap(many)
    assert len(points) == many
    file = written(tmp_path, points)
    # Each host has two processes, and they all take the points in the same order: every claim is
    # contended for.
    running = [
        start(host, tmp_path / "store", file, "--others", "3")
        for host in ("first", "first", "second", "second")
    ]
    said = [process.communicate(timeout=PATIENCE)[0] for process in running]
    assert [process.returncode for process in running] == [0] * 4
    store = Store(tmp_path / "store")
    simulated = Counter(line for text in said for line in text.split() if line)
    assert set(simulated) == {point.id for point in points}
    assert all(store.get(point.id) is not None for point in points)
    assert not left(tmp_path / "store")
    twice = sum(simulated.values()) - many
    assert twice <= many // 50
    assert sum(bool(text) for text in said) > 1, "one process did everything"
    for point in points[:: many // 20]:
        alone = Store(tmp_path / "one").put(
            point, _core.simulate(point.json, _core.Cancel()), {"cpu_seconds": 1.0}
        )
        shared = store.get(point.id)
        assert shared is not None
        assert alone["seal"] == shared["seal"]
    sys.stdout.write(
        f"{many} points, {twice} simulated twice, by process"
        f" {[len(text.split()) for text in said]}\n"
    )


@pytest.mark.usefixtures("hosts")
def test_what_a_killed_host_has_claimed_is_taken_over_after_it_has_expired(tmp_path: Path) -> None:
    points = cheap(5)
    file = written(tmp_path, points)
    store = Store(tmp_path / "store")
    hanging = start("first", store.place.path, file, "--hang")
    try:
        name = f".claim-{points[0].id}"
        assert until(lambda: (tmp_path / "store" / name).exists())
        # It lives, and renews its claim; its process is not visible here.
        renewed(tmp_path / "store" / name)
        assert left(store.place.path) == [name]
        assert store.claim(points[0].id) is None
    finally:
        hanging.send_signal(signal.SIGKILL)
        hanging.communicate()
    assert store.claim(points[0].id) is None  # it might live on: this host cannot know
    os.utime(tmp_path / "store" / name, (time.time() - 610,) * 2)
    other = start("second", store.place.path, file, "--wait")
    said, _ = other.communicate(timeout=PATIENCE)
    assert other.returncode == 0
    assert said.split().count(points[0].id) == 1
    assert all(store.get(point.id) is not None for point in points)
    store.clean()
    assert not left(store.place.path)


def test_a_store_that_cannot_be_read_is_not_taken_for_empty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (point,) = cheap(1)
    store = Store(tmp_path)
    store.put(point, _core.simulate(point.json, _core.Cancel()), {"cpu_seconds": 1.0})

    usual = bounded.opened

    def refuse(path: Path | str, most: int | None = None) -> AbstractContextManager[BufferedReader]:
        if Path(path).is_relative_to(tmp_path):
            raise PermissionError(13, "Permission denied", path)
        return usual(path, most)

    monkeypatch.setattr(bounded, "opened", refuse)
    with pytest.raises(UnreadableError, match="Permission denied"):
        Store(tmp_path).get(point.id)
    with pytest.raises(UnreadableError, match="Nothing was changed"):
        campaign.run([plan(sources.read("experiment", CHEAP)).only([point.id])], Store(tmp_path))
    monkeypatch.undo()
    assert Store(tmp_path).get(point.id) is not None
