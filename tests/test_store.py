"""The store: a point is there as a whole or not at all, regardless of the process's fate."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from conftest import (
    PATIENCE,
    SMALL,
    Ended,
    background,
    command,
    environment,
    execute,
    until,
    without_blanks,
)
from elanite import campaign as campaigns
from elanite.store import Store, empty, owner
from stores import contents, small

STRIKES = Path(__file__).parent / "store_kills"


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
    assert (outcome.simulated, outcome.damaged) == (1, 1)
    assert contents(tmp_path) == contents(campaign)


def test_leftovers_of_dead_processes_are_removed_and_those_of_living_ones_stay(
    tmp_path: Path,
) -> None:
    dead = subprocess.Popen(["true"])
    dead.wait()
    here = owner.own_process()
    living = [
        here,
        replace(
            here, host="elsewhere", pid=dead.pid
        ),  # nothing is known of the processes of other hosts
        replace(
            here, kernel="01234567", pid=dead.pid
        ),  # a container, or before the host of this name was restarted
    ]
    gone = [
        replace(here, pid=dead.pid),
        replace(here, start=here.start + 1),
    ]  # the number was given to another process
    for number, each in enumerate(living + gone):
        (tmp_path / f".partial-0123-{number}-{each}").mkdir()
    Store(tmp_path).clean()
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        f".partial-0123-{number}-{each}" for number, each in enumerate(living)
    ]


def test_two_processes_with_the_same_points_are_harmless(campaign: Path, tmp_path: Path) -> None:
    line = command("run", SMALL, "--out", str(tmp_path), "--format", "csv")
    both = [subprocess.Popen(line, stdout=subprocess.DEVNULL, env=environment()) for _ in range(2)]
    assert [process.wait(PATIENCE) for process in both] == [0, 0]
    assert contents(tmp_path) == contents(campaign)


# Long enough for a kill to find work in progress: 56 points in a few seconds.
LONG = (
    "run",
    SMALL,
    "--set",
    "run.window=20 ms",
    "--set",
    "run.seeds=2",
    "--format",
    "csv",
    "--jobs",
    "2",
)


def finished(out: Path) -> int:
    """How many points a store holds; folders half-written have names that begin with a dot."""
    return len(list((out / "store").glob("[!.]*/manifest.json")))


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The long campaign's folder after an uninterrupted run."""
    out = tmp_path_factory.mktemp("uninterrupted")
    assert execute(command(*LONG, "--out", str(out))).code == 0
    return out


def kill(out: Path, more: int, delay: float) -> None:
    """Start the campaign and kill it a moment after it finished some more points."""
    wanted = finished(out) + more
    process = subprocess.Popen(
        command(*LONG, "--out", str(out)),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment(),
    )
    try:
        while finished(out) < wanted and process.poll() is None:
            time.sleep(0.002)
        time.sleep(delay)
    finally:
        process.kill()
        code = process.wait()
    assert code == -signal.SIGKILL, "the campaign ended before the kill"


@pytest.fixture(scope="session")
def strike(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The library that strikes a process at an operation on files."""
    with without_blanks(tmp_path_factory.mktemp("strike")) as folder:
        yield built(folder / "strike.so")


def built(made: Path) -> Path:
    """The library in a file."""
    words = [
        "cc",
        "-O1",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-shared",
        "-fPIC",
        "-o",
        str(made),
        str(STRIKES / "strike.c"),
    ]
    subprocess.run([*words, "-ldl"], check=True)
    return made


def struck(strike: Path, folder: Path, *words: str) -> Ended:
    """Strikes a small campaign again and again; see ``store_kills/run.py``."""
    around = environment() | {"LD_PRELOAD": str(strike), "PYTHONPATH": str(STRIKES.parent)}
    around["PYTHONPATH"] += os.pathsep + os.environ.get("PYTHONPATH", "")
    return execute(
        [sys.executable, "-m", "store_kills.run", "--folder", folder, *words], 3000, env=around
    )


@pytest.mark.parametrize(
    ("kills", "errors"),
    [(12, 5), pytest.param(1000, 300, marks=pytest.mark.slow)],
    ids=["some", "1000"],
)
def test_whatever_strikes_a_campaign_nothing_is_lost(
    strike: Path, tmp_path: Path, kills: int, errors: int
) -> None:
    """Kills at file operations, with and without the loss of unsynced data; kills at moments;
    errors.
    """
    ended = struck(strike, tmp_path, "--kills", str(kills), "--errors", str(errors))
    assert ended.code == 0, ended
    assert f"{kills} kills" in ended.out
    sys.stdout.write(ended.out)


def check_kills(uninterrupted: Path, out: Path, seed: int, times: int) -> None:
    """Every kill meets a campaign at work; the last run's store equals an uninterrupted one's."""
    draw = random.Random(seed)
    total = finished(uninterrupted)
    for _ in range(times):
        before = finished(out)
        kill(out, more=draw.randint(1, 4), delay=draw.uniform(0, 0.03))
        assert before < finished(out) < total
    assert execute(command(*LONG, "--out", str(out))).code == 0
    assert contents(out) == contents(uninterrupted)


def test_kill_at_random_moments_then_resume(uninterrupted: Path, tmp_path: Path) -> None:
    check_kills(uninterrupted, tmp_path, seed=3, times=2)


@pytest.mark.slow
def test_kill_at_ten_random_moments_then_resume(uninterrupted: Path, tmp_path: Path) -> None:
    check_kills(uninterrupted, tmp_path, seed=10, times=10)


@pytest.mark.parametrize("ignored", [False, True], ids=["", "background"])
@pytest.mark.parametrize("which", [signal.SIGINT, signal.SIGTERM])
def test_interrupt_keeps_finished_points_and_says_how_to_resume(
    tmp_path: Path, which: signal.Signals, ignored: bool
) -> None:
    """In a script's background Ctrl-C is ignored: the campaign continues, until SIGTERM interrupts
    it.
    """
    line = command("run", SMALL, "--set", "run.window=20 ms", "--out", str(tmp_path), "--jobs", "1")
    process = subprocess.Popen(
        line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(),
        preexec_fn=background if ignored else None,
    )  # fmt: skip
    assert until(lambda: finished(tmp_path) > 0)
    process.send_signal(which)
    if ignored and which == signal.SIGINT:
        before = finished(tmp_path)
        assert until(lambda: finished(tmp_path) > before or process.poll() is not None)
        process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, err
    assert "points are kept. To resume: elanite run" in err
    assert not list(tmp_path.glob("store/.partial-*"))
    assert finished(tmp_path) > 0


def test_records_are_the_same_on_any_number_of_threads(campaign: Path, tmp_path: Path) -> None:
    for jobs in (1, 2, 4):
        outcome = campaigns.run([small()], Store(tmp_path / str(jobs) / "store"), jobs)
        assert outcome.simulated == outcome.total
        assert contents(tmp_path / str(jobs)) == contents(campaign)


def test_a_table_of_an_older_version_has_all_columns(tmp_path: Path) -> None:
    """The link table had no fault columns once."""
    (tmp_path / "0123").mkdir()
    empty("links").drop("errors", "down_ps").clear(2).write_parquet(
        tmp_path / "0123" / "links.parquet"
    )
    found = Store(tmp_path).table("0123", "links")
    assert found.schema == empty("links").schema
    assert found.height == found["errors"].null_count() == found["down_ps"].null_count() == 2
