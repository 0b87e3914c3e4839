"""The same campaign on every engine; engines with workers that die, refuse, see no store, or are
lost entirely.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from conftest import BIN, FILES, PATIENCE, SMALL, Ended, command, end, environment, execute, until
from elanite import _core
from elanite import campaign as campaigns
from elanite.campaign import EngineError, work
from elanite.errors import Exit
from elanite.inputs import sources
from elanite.inputs.plan import Plan, plan
from elanite.store import Store, owner
from elanite.store.leases import CLAIM
from stores import contents
from test_store import finished

MANY = str(FILES / "many.toml")
"""480 points of some milliseconds."""

LONG = ("run", MANY, "--set", "run.window=3 ms", "--set", "run.seeds=1", "--format", "csv")
"""240 points, mostly of some hundredths of a second."""

PROGRAMS = "distributed.cli"

HELP = FILES.parent / "engines"


def around(folder: Path) -> dict[str, str]:
    """The environment for a command that finds the factories and the Slurm stand-in."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "jobs").mkdir(exist_ok=True)
    chosen = environment() | {"ENGINE_FILES": str(folder), "SLURM_STANDIN": str(folder / "jobs")}
    chosen["PATH"] = f"{HELP / 'bin'}{os.pathsep}{BIN}{os.pathsep}{chosen['PATH']}"
    chosen["PYTHONPATH"] = f"{HELP.parent}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    return chosen


def small() -> Plan:
    return plan(sources.read("experiment", SMALL))


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the 480-point campaign, by threads."""
    out = tmp_path_factory.mktemp("many")
    assert execute(command("run", MANY, "--out", str(out), "--format", "csv")).code == 0
    return out


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The long campaign's folder after an uninterrupted run."""
    out = tmp_path_factory.mktemp("long")
    assert execute(command(*LONG, "--out", str(out))).code == 0
    return out


MPI = ("mpiexec", "-n", "3", sys.executable, "-m")
ENGINES = {
    "dask here": (command(), ("--executor", "dask", "--workers", "4")),
    "executorlib single node": (
        command(),
        ("--executor", "engines.factories:single_node", "--workers", "2"),
    ),
    "executorlib test cluster": (
        command(),
        ("--executor", "engines.factories:test_cluster", "--workers", "2"),
    ),
    "slurm": (command(), ("--executor", "slurm", "--workers", "2")),
    "mpi": ([*MPI, "elanite"], ("--executor", "mpi")),
    "mpi4py.futures": ([*MPI, "mpi4py.futures", "-m", "elanite"], ("--executor", "mpi")),
    "processes": (command(), ("--executor", "processes", "--workers", "2")),
    "processes of Python": (
        command(),
        ("--executor", "engines.factories:processes", "--workers", "2"),
    ),
}
NEEDS = {"executorlib test cluster": ["h5py"], "slurm": ["h5py", "pysqa"]}


def on_engine(engine: str, experiment: str, out: Path, folder: Path) -> Ended:
    for package in NEEDS.get(engine, []):
        pytest.importorskip(package)
    program, options = ENGINES[engine]
    words = ["run", experiment, "--out", str(out), "--format", "csv", *options]
    return execute([*program, *words], env=around(folder))


QUICK = ("processes", "executorlib single node", "mpi")


@pytest.mark.parametrize(
    "engine",
    [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in ENGINES],
)
def test_every_engine_gives_the_same_store(campaign: Path, tmp_path: Path, engine: str) -> None:
    ended = on_engine(engine, SMALL, tmp_path / "out", tmp_path)
    assert ended.code == 0, ended
    assert "small: 56 points" in ended.err
    assert contents(tmp_path / "out") == contents(campaign)
    # No files are left beside the store, from the campaign or the engine.
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["store"]
    assert not list((tmp_path / "out" / "store").glob(".*"))


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_gives_the_same_store_of_480_points(
    many: Path, tmp_path: Path, engine: str
) -> None:
    ended = on_engine(engine, MANY, tmp_path / "out", tmp_path)
    assert ended.code == 0, ended
    assert "many: 480 points" in ended.err
    assert contents(tmp_path / "out") == contents(many)


def test_an_engine_in_a_program(campaign: Path, tmp_path: Path) -> None:
    with ThreadPoolExecutor(2) as pool:
        outcome = campaigns.run([small()], Store(tmp_path / "store"), 2, executor=pool)
    assert (outcome.simulated, outcome.deaths, outcome.exit_code) == (outcome.total, 0, 0)
    assert outcome.spent["small"].points == outcome.total
    assert contents(tmp_path) == contents(campaign)


class Changed(ThreadPoolExecutor):
    """An engine that gets another text than the campaign has sent."""

    def __init__(self, **changes: object) -> None:
        super().__init__(2)
        self.changes = changes

    def submit(self, fn, text):  # type: ignore[no-untyped-def, override]
        return super().submit(fn, json.dumps(json.loads(text) | self.changes))


def test_workers_without_the_file_system_return_the_tables(campaign: Path, tmp_path: Path) -> None:
    with Changed(
        store=str(tmp_path / "absent" / "store"), sign=str(tmp_path / "absent" / "sign")
    ) as pool:
        outcome = campaigns.run([small()], Store(tmp_path / "here" / "store"), 2, executor=pool)
    assert outcome.simulated == outcome.total
    assert not (tmp_path / "absent").exists()
    assert contents(tmp_path / "here") == contents(campaign)


def test_workers_with_another_model_refuse(tmp_path: Path) -> None:
    other = _core.MODEL_REVISION + 1
    with (
        Changed(revision=other) as pool,
        pytest.raises(EngineError, match=f"the campaign has revision {other}"),
    ):
        campaigns.run([small()], Store(tmp_path / "store"), 2, executor=pool)
    assert not list((tmp_path / "store").glob("*"))


def test_workers_with_another_engine_refuse(tmp_path: Path) -> None:
    with (
        Changed(engine="f" * 32) as pool,
        pytest.raises(EngineError, match="compiled from different sources"),
    ):
        campaigns.run([small()], Store(tmp_path / "store"), 2, executor=pool)
    assert not list((tmp_path / "store").glob("*"))


class Deadly(Executor):
    """An engine with a point that kills its worker, after the previous points in its batch are
    done.
    """

    def __init__(self, deadly: str, times: int) -> None:
        self.deadly, self.times = deadly, times
        self.sizes: list[int] = []

    def submit(self, fn, text):  # type: ignore[no-untyped-def, override]
        future: Future[str] = Future()
        task = json.loads(text)
        ids = [point["id"] for point in task["points"]]
        if self.deadly in ids and self.times:
            self.times -= 1
            self.sizes.append(len(ids))
            fn(json.dumps(task | {"points": task["points"][: ids.index(self.deadly)]}))
            future.set_exception(OSError("the worker is gone"))
        else:
            future.set_result(fn(text))
        return future


def test_a_point_that_kills_its_workers_is_found_alone(campaign: Path, tmp_path: Path) -> None:
    planned = small()
    deadly = planned.points[30]
    engine = Deadly(deadly.id, 100)
    outcome = campaigns.run([planned], Store(tmp_path / "store"), 2, executor=engine)
    (failure,) = outcome.failures
    assert failure.point == deadly
    assert failure.message == "its worker died 4 times; the last time: OSError: the worker is gone"
    assert failure.command == f"elanite run {SMALL} --point {deadly.id}"
    assert (outcome.deaths, outcome.simulated, outcome.exit_code) == (
        4,
        outcome.total - 1,
        Exit.FAILED,
    )
    assert engine.sizes[0] > engine.sizes[2] == engine.sizes[3] == 1
    whole = contents(campaign)
    assert contents(tmp_path) == {
        name: data for name, data in whole.items() if deadly.id not in name
    }


def test_a_worker_that_dies_three_times_loses_nothing(campaign: Path, tmp_path: Path) -> None:
    planned = small()
    outcome = campaigns.run(
        [planned], Store(tmp_path / "store"), 2, executor=Deadly(planned.points[30].id, 3)
    )
    assert (outcome.deaths, outcome.simulated, outcome.exit_code) == (3, outcome.total, 0)
    assert contents(tmp_path) == contents(campaign)


def test_an_engine_that_takes_no_more_work_ends_the_campaign(tmp_path: Path) -> None:
    pool = ThreadPoolExecutor(2)
    pool.shutdown()
    with pytest.raises(
        EngineError, match=r"takes no more work: RuntimeError.*\n.* The same command goes on"
    ):
        campaigns.run([small()], Store(tmp_path / "store"), 2, executor=pool)
    assert not list(tmp_path.glob(".campaign-*"))


def test_points_of_others_are_waited_for_and_taken_over(campaign: Path, tmp_path: Path) -> None:
    planned, store = small(), Store(tmp_path / "store")
    store.prepare()
    held = store.claim(planned.points[3].id)
    assert held is not None
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(campaigns.run, [planned], store, 2)
        assert until(lambda: finished(tmp_path) == len(planned.points) - 1)
        time.sleep(0.5)
        assert not running.done()
        held.release()
        outcome = running.result(PATIENCE)
    assert outcome.simulated == outcome.total
    assert contents(tmp_path) == contents(campaign)


def summed(text: str) -> int:
    """A command's reported count of simulated points."""
    return sum(int(number) for number in re.findall(r"^\w+: (\d+) points?, ", text, re.MULTILINE))


def test_two_campaigns_share_the_points(campaign: Path, tmp_path: Path) -> None:
    line = command("run", SMALL, "--out", str(tmp_path), "--format", "csv", "--jobs", "1")
    both = [
        subprocess.Popen(
            line, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment()
        )
        for _ in range(2)
    ]
    told = [process.communicate(timeout=PATIENCE)[1] for process in both]
    assert [process.returncode for process in both] == [0, 0], told
    assert sum(summed(text) for text in told) == 56, told
    assert contents(tmp_path) == contents(campaign)


def workers(driver: int) -> list[psutil.Process]:
    """A command's worker processes."""
    found = []
    for process in psutil.Process(driver).children(recursive=True):
        try:
            if "spawn_main" in " ".join(process.cmdline()):
                found.append(process)
        except psutil.Error:
            pass
    return found


def started(out: Path, *options: str) -> subprocess.Popen[str]:
    """The long campaign on two processes, after its first point."""
    driver = subprocess.Popen(
        command(
            *LONG, "--out", str(out), *(options or ("--executor", "processes", "--workers", "2"))
        ),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    )
    before = finished(out)
    assert until(lambda: finished(out) > before or driver.poll() is not None)
    return driver


def kill_workers(long: Path, out: Path, kills: int, pause: float) -> None:
    """Kill the campaign's workers at random moments; start it again if it ends before the last
    kill.
    """
    draw = random.Random(kills)
    done = 0
    while done < kills:
        missing = finished(long) - finished(out)
        driver = started(out)
        while done < kills and driver.poll() is None:
            before = finished(out)
            assert until(lambda: finished(out) > before or driver.poll() is not None)  # noqa: B023
            time.sleep(draw.uniform(0, pause))
            alive = workers(driver.pid)
            if alive and driver.poll() is None:
                draw.choice(alive).kill()
                done += 1
        _, err = driver.communicate(timeout=PATIENCE)
        assert driver.returncode == 0, err
        # No point is simulated twice. A point counts as found if its worker died after storing it.
        assert missing - kills <= summed(err) <= missing, err
        assert contents(out) == contents(long)
        if done < kills:  # another round, with some points of the store removed
            for folder in draw.sample(
                sorted((out / "store").glob("[!.]*")), finished(long) * 3 // 4
            ):
                shutil.rmtree(folder)
    assert not list((out / "store").glob(".*"))


@pytest.mark.slow
def test_workers_killed_at_50_random_moments(long: Path, tmp_path: Path) -> None:
    kill_workers(long, tmp_path, 50, 0.2)


def at_work(out: Path) -> list[int]:
    """The processes that currently simulate a point in the campaign: claims name them."""
    found = []
    for claim in (out / "store").glob(f"{CLAIM}*"):
        try:
            said = owner.parse(json.loads(claim.read_bytes())["owner"])
        except (OSError, ValueError):  # it has just been given back, or is being made
            continue
        if said is not None:
            found.append(said.pid)
    return found


def test_a_worker_killed_at_its_work(tmp_path: Path) -> None:
    """The longest points come first and last about a second, so that the kill strikes one."""
    words = ("run", SMALL, "--set", "run.window=40 ms", "--set", "run.seeds=1", "--format", "csv")
    assert execute(command(*words, "--out", str(tmp_path / "whole"))).code == 0
    driver = subprocess.Popen(
        command(
            *words, "--out", str(tmp_path / "struck"), "--executor", "processes", "--workers", "2"
        ),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    )
    assert until(lambda: bool(at_work(tmp_path / "struck")))
    os.kill(at_work(tmp_path / "struck")[0], signal.SIGKILL)
    _, err = driver.communicate(timeout=PATIENCE)
    assert driver.returncode == 0, err
    assert "a worker died" in err
    assert contents(tmp_path / "struck") == contents(tmp_path / "whole")


@pytest.mark.slow
def test_the_driver_killed_and_started_again(long: Path, tmp_path: Path) -> None:
    for _ in range(3):
        driver = started(tmp_path)
        below = workers(driver.pid)
        driver.kill()
        driver.communicate(timeout=PATIENCE)
        ended = until(lambda: not any(process.is_running() for process in below))  # noqa: B023
        assert ended, "workers outlive the driver"
    assert 0 < finished(tmp_path) < finished(long)
    ended = execute(
        command(*LONG, "--out", str(tmp_path), "--executor", "processes", "--workers", "2")
    )
    assert ended.code == 0, ended
    assert contents(tmp_path) == contents(long)


def test_an_interrupt_stops_the_workers(tmp_path: Path) -> None:
    driver = started(tmp_path)
    below = workers(driver.pid)
    driver.send_signal(signal.SIGINT)
    _, err = driver.communicate(timeout=PATIENCE)
    assert driver.returncode == Exit.INTERRUPTED, err
    told = re.search(
        r"interrupted; (\d+) of 240 points are kept. To resume: elanite run .*--executor processes",
        err,
    )
    assert told is not None, err
    assert 0 < int(told[1]) == finished(tmp_path) < 240
    assert "Traceback" not in err
    assert until(lambda: not any(process.is_running() for process in below))
    assert [path.name for path in tmp_path.iterdir()] == ["store"]
    assert not list((tmp_path / "store").glob(".*"))


@pytest.mark.slow
def test_a_scheduler_that_is_lost(long: Path, tmp_path: Path) -> None:
    address = ""

    def cluster(port: int) -> list[subprocess.Popen[bytes]]:
        nonlocal address
        address = f"tcp://127.0.0.1:{port}"
        quiet = {
            "stdout": subprocess.DEVNULL,
            "stderr": subprocess.DEVNULL,
            "env": environment(),
            "cwd": tmp_path,
        }
        scheduler = [
            f"{PROGRAMS}.dask_scheduler",
            "--host",
            "127.0.0.1",
            "--port",
            str(port),
            "--no-dashboard",
        ]
        worker = [
            f"{PROGRAMS}.dask_worker",
            address,
            "--nthreads",
            "1",
            "--no-dashboard",
            "--death-timeout",
            "20",
        ]
        words = [scheduler, worker, worker]
        return [subprocess.Popen([sys.executable, "-m", *line], **quiet) for line in words]  # type: ignore[call-overload]

    out = tmp_path / "out"
    running = cluster(18786)
    try:
        driver = started(out, "--executor", "dask", "--scheduler", address)
        running[0].kill()
        _, err = driver.communicate(timeout=PATIENCE)
        assert driver.returncode == Exit.FAILED, err
        assert "the engine ended the campaign" in err
        assert "The same command goes on" in err
        assert "Traceback" not in err
        kept = finished(out)
        assert 0 < kept < finished(long)
        running += cluster(18787)
        ended = execute(
            command(*LONG, "--out", str(out), "--executor", "dask", "--scheduler", address)
        )
        assert ended.code == 0, ended
    finally:
        end(running)
    assert contents(out) == contents(long)


@pytest.mark.slow
def test_jobs_of_slurm_survive_the_driver(many: Path, tmp_path: Path) -> None:
    for package in NEEDS["slurm"]:
        pytest.importorskip(package)
    words = command(
        "run", MANY, "--out", str(tmp_path / "out"), "--format", "csv", "--executor", "slurm"
    )
    how = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "env": around(tmp_path)}
    driver = subprocess.Popen(words, **how)  # type: ignore[call-overload]
    assert until(lambda: len(list((tmp_path / "jobs").iterdir())) >= 2)
    driver.kill()
    driver.wait()
    before = finished(tmp_path / "out")
    assert until(lambda: finished(tmp_path / "out") > before), "the jobs died with the driver"
    ended = execute(words, env=around(tmp_path))
    assert ended.code == 0, ended
    assert contents(tmp_path / "out") == contents(many)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ("--executor", "spark"),
            (
                "there is no executor `spark`: choose one of threads, processes, dask, slurm, flux,"
                " mpi or"
            ),
        ),
        (("--executor", "no.such:thing"), "--executor no.such:thing: No module named 'no'"),
        (("--executor", "processes", "--workers", "1" + 18 * "0"), " has room for "),
        (("--executor", "mpi"), "--executor mpi needs at least two processes"),
        (
            ("--scheduler", "tcp://127.0.0.1:1"),
            "--scheduler is for --executor dask, not for threads",
        ),
        (("--tls", "ca", "cert", "key"), "--tls is for the scheduler of Dask: name it"),
        (
            ("--executor", "dask", "--scheduler", "tls://127.0.0.1:1"),
            "tls://127.0.0.1:1 needs the files of TLS: --tls",
        ),
        (
            (
                "--executor",
                "dask",
                "--scheduler",
                "tcp://127.0.0.1:1",
                "--tls",
                "ca",
                "cert",
                "key",
            ),
            "--tls: the address tcp://127.0.0.1:1 is without TLS; write it as tls://host:port",
        ),
        (
            (
                "--executor",
                "dask",
                "--scheduler",
                "tls://127.0.0.1:1",
                "--tls",
                "absent",
                "cert",
                "key",
            ),
            "--tls: there is no file absent",
        ),
        (
            ("--workers", "3"),
            "--workers is for other executors than threads; for threads it is --jobs",
        ),
        (
            ("--executor", "dask", "--jobs", "3"),
            "--jobs is for threads; for --executor dask it is --workers",
        ),
        (("--shard", "5/4"), "there is no shard 5"),
        (
            ("--max-cost", "0"),
            "56 points would take about .* CPU-hours, more than --max-cost 0 \\(most: small",
        ),
    ],
)
def test_a_wrong_engine_is_told(tmp_path: Path, options: tuple[str, ...], message: str) -> None:
    ended = execute(command("run", SMALL, "--out", str(tmp_path / "out"), *options))
    assert ended.code == Exit.USAGE, ended
    assert re.search(message, ended.err), ended
    assert not list(tmp_path.glob("out/store/*"))


def test_shards_make_the_store_of_one_run(campaign: Path, tmp_path: Path) -> None:
    for number in (1, 2, 3):
        outcome = campaigns.run([small()], Store(tmp_path / "store"), 2, shard=f"{number}/3")
        assert 0 < outcome.simulated == outcome.total < 56
    assert contents(tmp_path) == contents(campaign)


def test_a_campaign_that_has_ended_stops_its_batches(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    store.prepare()
    sign = work.Sign(store)
    text = work.batch(small().points[:3], store, sign, 0)
    sign.stop()
    report = work.BatchReport.read(work.simulate(text))
    assert (report.done, report.failed, report.elsewhere) == ({}, {}, [])
    assert store.identities() == []
