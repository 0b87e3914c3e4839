"""The store: a point is there as a whole or not at all, whatever happens to the process."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest

from conftest import SMALL, command, environment
from elanite import campaign as campaigns
from elanite import sources
from elanite.plan import Plan, plan
from elanite.store import Store


def contents(out: Path) -> dict[str, bytes]:
    """Every file of a store but for what may differ: the times in the manifests."""
    found = {}
    for path in sorted((out / "store").rglob("*")):
        if path.is_file():
            data = path.read_bytes()
            if path.name == "manifest.json":
                manifest = json.loads(data)
                del manifest["times"]
                data = json.dumps(manifest).encode()
            found[str(path.relative_to(out))] = data
    return found


def small() -> Plan:
    return plan(sources.read("experiment", SMALL))


def test_a_finished_point_is_used_again(campaign: Path) -> None:
    outcome = campaigns.run([small()], Store(campaign / "store"))
    assert outcome.total == outcome.reused > 20
    assert outcome.simulated == 0


def test_manifest_says_what_a_point_is_and_cost(campaign: Path) -> None:
    point = small().points[-1]
    manifest = Store(campaign / "store").get(point.id)
    assert manifest is not None
    assert manifest["parameters"] == point.parameters
    assert manifest["versions"]["model"]
    assert manifest["packets"] > 0
    assert manifest["events"] > 0
    assert manifest["peak_memory_bytes"] > 0
    assert manifest.cpu_seconds > 0
    assert len(manifest["digest"]) == 32


@pytest.mark.parametrize(
    "harm",
    [
        pytest.param(lambda folder: (folder / "manifest.json").write_text("{"), id="manifest cut"),
        pytest.param(lambda folder: (folder / "manifest.json").unlink(), id="manifest gone"),
        pytest.param(lambda folder: (folder / "links.parquet").unlink(), id="table gone"),
        pytest.param(lambda folder: (folder / "rows.parquet").write_bytes(b"PAR1"), id="table cut"),
    ],
)
def test_a_damaged_point_is_simulated_again(campaign: Path, tmp_path: Path, harm) -> None:
    import shutil

    shutil.copytree(campaign / "store", tmp_path / "store")
    point = small().points[0]
    harm(tmp_path / "store" / point.id)
    store = Store(tmp_path / "store")
    assert store.get(point.id) is None
    outcome = campaigns.run([small()], store)
    assert (outcome.simulated, outcome.discarded) == (1, 1)
    assert contents(tmp_path) == contents(campaign)


def test_leftovers_of_dead_processes_are_removed_and_those_of_living_ones_stay(tmp_path: Path) -> None:
    dead = subprocess.Popen(["true"])
    dead.wait()
    folder = tmp_path / "store"
    (folder / f".partial-0123-{dead.pid}").mkdir(parents=True)
    (folder / f".partial-4567-{os.getpid()}").mkdir()
    Store(folder).clean()
    assert [entry.name for entry in folder.iterdir()] == [f".partial-4567-{os.getpid()}"]


def test_two_processes_with_the_same_points_are_harmless(campaign: Path, tmp_path: Path) -> None:
    line = command("run", SMALL, "--out", str(tmp_path), "--format", "csv")
    both = [subprocess.Popen(line, stdout=subprocess.DEVNULL, env=environment()) for _ in range(2)]
    assert [process.wait(300) for process in both] == [0, 0]
    assert contents(tmp_path) == contents(campaign)


def killed(out: Path, moments: list[float]) -> int:
    """Run the campaign, kill it at each of the moments, then let it end; how many kills met a running process."""
    line = command("run", SMALL, "--out", str(out), "--format", "csv", "--jobs", "2")
    met = 0
    for moment in moments:
        process = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment())
        time.sleep(moment)
        process.kill()
        met += process.wait() == -signal.SIGKILL
    subprocess.run(line, check=True, capture_output=True, env=environment(), timeout=300)
    return met


def check_kills(campaign: Path, out: Path, seed: int, times: int) -> None:
    draw = random.Random(seed)
    moments = [draw.uniform(0.3, 1.2) for _ in range(times)]
    assert killed(out, moments) > 0
    assert contents(out) == contents(campaign)


def test_kill_at_random_moments_then_resume(campaign: Path, tmp_path: Path) -> None:
    check_kills(campaign, tmp_path, seed=3, times=3)


@pytest.mark.slow
def test_kill_at_ten_random_moments_then_resume(campaign: Path, tmp_path: Path) -> None:
    check_kills(campaign, tmp_path, seed=10, times=10)


@pytest.mark.parametrize("which", [signal.SIGINT, signal.SIGTERM])
def test_interrupt_keeps_finished_points_and_says_how_to_resume(tmp_path: Path, which: signal.Signals) -> None:
    line = command("run", SMALL, "--set", "run.window=20 ms", "--out", str(tmp_path), "--jobs", "1")
    process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment())
    deadline = time.monotonic() + 60
    while not list(tmp_path.glob("store/*/manifest.json")):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(which)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "points are kept. To go on: elanite run" in err
    assert not list(tmp_path.glob("store/.partial-*"))
    assert list(tmp_path.glob("store/*/manifest.json"))


def test_records_are_the_same_on_any_number_of_threads(campaign: Path, tmp_path: Path) -> None:
    for jobs in (1, 2, 4):
        outcome = campaigns.run([small()], Store(tmp_path / str(jobs) / "store"), jobs)
        assert outcome.simulated == outcome.total
        assert contents(tmp_path / str(jobs)) == contents(campaign)
