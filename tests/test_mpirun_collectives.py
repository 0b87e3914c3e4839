"""``elanite mpirun --collectives``: real MPI programs with barriers, broadcasts and reductions done
by Elanlib.

``benchmarks/mpi`` also gives the figures in petrini2001, and those from the simulator's own
programs (``experiments/collectives``).
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import elanite as el
from conftest import Ended, command, execute, needs_mpi

pytestmark = needs_mpi


def mpirun(ranks: int, collectives: str, *words: str | Path, seconds: float = 300) -> Ended:
    options = ("-n", str(ranks), "--collectives", collectives, "--format", "json")
    return execute(command("mpirun", *options, *map(str, words)), seconds)


def row(ended: Ended) -> dict[str, str]:
    assert ended.code == 0, ended
    (found,) = csv.DictReader(io.StringIO(ended.out))
    return found


def summary(ended: Ended) -> dict[str, Any]:
    assert ended.code == 0, ended
    found: dict[str, Any] = json.loads(ended.err.splitlines()[-1])
    return found


@pytest.mark.parametrize(
    ("options", "way"),
    [
        pytest.param((), "hardware", id="Elan3"),
        pytest.param(("--machine", "opteron-qsnet2"), "hardware", id="Elan4"),
        pytest.param(("--machine", "smart-multirail"), "hardware", id="rails"),
        pytest.param(("--machine", "infiniband-ndr"), "mpi", id="packets without circuits"),
        pytest.param(("--machine", "slingshot-dragonfly"), "mpi", id="no tree"),
        pytest.param(("--set", "switch.circuit=wormhole"), "mpi", id="worms"),
        pytest.param(("--network", "ideal"), "mpi", id="ideal"),
        pytest.param(("--record", "run.goal"), "mpi", id="recorded"),
    ],
)
def test_default_is_what_the_machine_has(
    elanite: Callable[..., Ended], benchmarks: Path, options: tuple[str, ...], way: str
) -> None:
    words = ("--format", "json", *options, str(benchmarks / "collective"), "--repeats", "1")
    calls = summary(elanite("mpirun", "-n", "4", *words))["collectives"]
    assert calls[way] > 0
    assert sum(calls.values()) == calls[way]


def own(out: Path, operation: str, memory: str, size: str) -> dict[str, float]:
    """The simulator's own program's results on 64 nodes, by measure name."""
    message = f'memory = "{memory}"\nmessage = "{size}"' if size else ""
    about = out / f"{operation}-{memory}.toml"
    about.write_text(
        f"""title = "Collective"
source = "petrini2001"
machine = "es40-qsnet"
[run]
warm_up = "0 s"
batches = 1
[[series]]
name = "own"
title = "Own program"
[series.collective]
operation = "{operation}"
nodes = 64
repeats = {1 if size else 100}
{message}
""",
        encoding="utf-8",
    )
    frame = el.run(el.Experiment.load(str(about)), out=out).frame()
    return {
        str(metric): float(value) for metric, value in frame.select("metric", "value").iter_rows()
    }


@pytest.mark.parametrize(
    ("way", "operation", "published"), [("hardware", "hgsync", 6.0), ("elan", "gsync", 14.8)]
)
def test_barrier(
    benchmarks: Path, tmp_path: Path, way: str, operation: str, published: float
) -> None:
    """64 nodes: as published, and as by the simulator's own program."""
    ended = mpirun(64, way, "--out", tmp_path, benchmarks / "collective", "--repeats", "20")
    mean = float(row(ended)["latency_us"])
    assert mean == pytest.approx(published, rel=0.01)
    assert mean == pytest.approx(own(tmp_path, operation, "main", "")["latency"], rel=0.01)
    found = summary(ended)
    # Each rank makes two unmeasured calls, and the benchmark begins and ends with its own calls.
    assert found["collectives"]["hardware" if way == "hardware" else "elan"] >= 64 * 22
    assert found["repeatable"]


@pytest.mark.slow
@pytest.mark.parametrize(("memory", "published"), [("elan", 288.0), ("main", 200.0)])
def test_broadcast(benchmarks: Path, tmp_path: Path, memory: str, published: float) -> None:
    """64 nodes, by hardware: the rate without start-up, between 1 and 2 MB, as the claims measure
    it.
    """
    words = (
        "--memory",
        memory,
        "--out",
        tmp_path,
        benchmarks / "collective",
        "--operation",
        "broadcast",
    )
    latency = [
        float(
            row(mpirun(64, "hardware", *words, "--size", size, "--repeats", "1", seconds=600))[
                "latency_us"
            ]
        )
        for size in ("1MB", "2MB")
    ]
    rate = (1 << 20) / (latency[1] - latency[0])
    assert rate == pytest.approx(published, rel=0.015)
    measured = [own(tmp_path, "hbcast", memory, size)["latency"] for size in ("1 MB", "2 MB")]
    assert latency == pytest.approx(measured, rel=0.01)


@pytest.mark.parametrize(
    "more",
    [
        pytest.param((), marks=pytest.mark.slow),
        ("--ranks-per-node", "4"),
        pytest.param(("--network", "ideal"), marks=pytest.mark.slow),
        pytest.param(("--memory", "elan"), marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("way", ["hardware", "elan", "mpi"])
def test_payload(mpi_programs: Path, tmp_path: Path, way: str, more: tuple[str, ...]) -> None:
    """All types and operations against the MPI library's own functions, and unusual calls."""
    ended = mpirun(6, way, *more, "--out", tmp_path, mpi_programs / "reductions")
    assert ended.code == 0, ended
    assert ended.out == "228 reductions\n"
    counts = summary(ended)["collectives"]
    assert (counts["hardware"] > 0) == (way == "hardware")
    assert (counts["elan"] > 0) == (way != "mpi")
    assert counts["mpi"] > 0


@pytest.mark.parametrize(
    "more",
    [
        (),
        pytest.param(("--placement", "random", "--seed", "3"), marks=pytest.mark.slow),
        pytest.param(("--network", "ideal"), marks=pytest.mark.slow),
        pytest.param(("--memory", "elan"), marks=pytest.mark.slow),
        pytest.param(("--machine", "smart-multirail"), marks=pytest.mark.slow),
    ],
    ids=["usual", "random", "ideal", "elan", "rails"],
)
@pytest.mark.parametrize("way", ["hardware", "elan"])
def test_calls_that_do_not_block(
    mpi_programs: Path, tmp_path: Path, way: str, more: tuple[str, ...]
) -> None:
    """Many at a time, among calls that block: all bytes are right, runs repeatable; hosts may
    compute meanwhile.
    """
    words = (*more, "--out", tmp_path, mpi_programs / "posted")
    first, second = (mpirun(5, way, *words) for _ in range(2))
    assert first.code == 0, first
    assert first.out == second.out
    found = summary(first)
    assert found["digest"] == summary(second)["digest"]
    # In each of three communicators a rank begins 72 calls, and 12 reductions, which are the
    # library's. The second one's members agree on their group when they first block, after 6 calls.
    counts = found["collectives"]
    ways = (
        ("hardware",)
        if way == "hardware" and more in ((), ("--network", "ideal"))
        else ("hardware", "elan")
    )
    assert sum(counts[one] for one in ways) > 5 * (72 + 66)
    assert counts["mpi"] == 5 * (3 * 12 + 6)
    (left,) = re.findall(r"^(\d+\.\d+) us left$", first.out, re.MULTILINE)
    assert float(left) < 1.0


def test_calls_that_do_not_block_of_several_ranks_on_a_node(
    mpi_programs: Path, tmp_path: Path
) -> None:
    """Their hosts copy, so the MPI library executes these calls; the halves' members are on
    separate nodes.
    """
    ended = mpirun(
        6,
        "hardware",
        "--ranks-per-node",
        "2",
        "--out",
        tmp_path,
        mpi_programs / "posted",
        "--no-order",
    )
    counts = summary(ended)["collectives"]
    assert counts["hardware"] > 0
    assert counts["mpi"] == 6 * (2 * 12 * 7 + 12 + 5)


def test_a_rank_that_does_not_begin_a_call(tmp_path: Path) -> None:
    """The report names calls that ranks have begun, and which rank is in another call."""
    source, made = tmp_path / "late.c", tmp_path / "late"
    source.write_text(
        """#include <mpi.h>
int main(int argc, char **argv)
{
    int rank, word = 0;
    MPI_Request requests[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 2)
        MPI_Recv(&word, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Ibarrier(MPI_COMM_WORLD, &requests[0]);
    MPI_Ibcast(&word, 1, MPI_INT, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    return MPI_Finalize();
}
""",
        encoding="utf-8",
    )
    assert (
        execute([str(Path(command()[0]).parent / "mpicc"), "-o", str(made), str(source)]).code == 0
    )
    ended = mpirun(4, "hardware", "--out", tmp_path, made)
    assert ended.code == 3, ended
    assert "MPI_Waitall" in ended.err
    assert "has begun a barrier among 4 ranks by hardware" in ended.err
    assert "has begun a broadcast of 4 B from rank 1 among 4 ranks by hardware" in ended.err
    assert "receives a message of rank 0, tag 5" in ended.err


@pytest.mark.parametrize("way", ["hardware", pytest.param("elan", marks=pytest.mark.slow)])
def test_everything(mpi_programs: Path, tmp_path: Path, way: str) -> None:
    """The full MPI program prints the same as without; and a run is repeatable."""
    words = ("--out", tmp_path, mpi_programs / "everything", "--no-order")
    first, second, other = (mpirun(4, one, *words) for one in (way, way, "mpi"))
    assert first.out == second.out == other.out
    assert summary(first)["digest"] == summary(second)["digest"] != summary(other)["digest"]


@pytest.mark.parametrize(
    "program", ["threads", "sessions", pytest.param("itself", marks=pytest.mark.slow)]
)
def test_programs(mpi_programs: Path, tmp_path: Path, program: str) -> None:
    """Threads with their own communicators, sessions, messages to itself."""
    ended = mpirun(4, "hardware", "--out", tmp_path, mpi_programs / program)
    assert ended.code == 0, ended
    assert summary(ended)["repeatable"] is (program != "threads")


def test_deadlock(tmp_path: Path) -> None:
    """A rank that does not arrive: the report names the others' call, and the reason for the
    wait.
    """
    source = tmp_path / "late.c"
    source.write_text(
        """#include <mpi.h>
int main(int argc, char **argv)
{
    int rank, sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 2)
        MPI_Recv(&sum, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return MPI_Finalize();
}
""",
        encoding="utf-8",
    )
    made = tmp_path / "late"
    assert (
        execute([str(Path(command()[0]).parent / "mpicc"), "-o", str(made), str(source)]).code == 0
    )
    ended = mpirun(4, "hardware", "--out", tmp_path, made)
    assert ended.code == 3, ended
    assert "MPI_Allreduce" in ended.err
    assert "calls a reduction for all of 4 B among 4 ranks by Elanlib's tree" in ended.err
    assert "receives a message of rank 0, tag 5" in ended.err


FAULTS = """#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    int rank, wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 300; i++) {
        double data[64];
        int sum = 0;
        for (int k = 0; k < 64; k++)
            data[k] = rank == i % 4 ? i + k : -1;
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Bcast(data, 64, MPI_DOUBLE, i % 4, MPI_COMM_WORLD);
        for (int k = 0; k < 64; k++)
            wrong += data[k] != i + k;
        MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        wrong += sum != 4 * i;
    }
    if (rank == 0)
        printf("%d wrong\\n", wrong);
    return MPI_Finalize();
}
"""


@pytest.fixture(scope="module")
def rounds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Barriers, broadcasts and reductions on four ranks, which last some milliseconds."""
    folder = tmp_path_factory.mktemp("rounds")
    source, made = folder / "rounds.c", folder / "rounds"
    source.write_text(FAULTS, encoding="utf-8")
    assert (
        execute([str(Path(command()[0]).parent / "mpicc"), "-o", str(made), str(source)]).code == 0
    )
    return made


@pytest.mark.parametrize("way", ["hardware", "elan"])
@pytest.mark.parametrize(
    ("fault", "code", "out", "said"),
    [
        ("link = 'node 3', bit_error_rate = 1e-5", 0, "0 wrong\n", ""),
        (
            "node = 2, at = '1 ms'",
            1,
            "",
            "^error: the host of node 2 stopped at 1 ms, and rank 2 with it",
        ),
        (
            "link = 'node 3', at = '1 ms'",
            None,
            "",
            "the first message that was lost: rank . .*the cable from node 3",
        ),
    ],
    ids=["bit errors", "node", "cable"],
)
def test_faults(
    rounds: Path, tmp_path: Path, way: str, fault: str, code: int | None, out: str, said: str
) -> None:
    """Bytes arrive whole in spite of bit errors; a dead node, and a dead cable, end the run with
    their names.
    """
    recovery = [
        *("--set", "faults.timeout=50 us", "--set", "faults.backoff=20 us"),
        *("--set", "faults.detect=200 us", "--set", "faults.give_up=1 ms"),
    ]
    ended = mpirun(4, way, *recovery, "--fault", fault, "--out", tmp_path, rounds)
    assert ended.code == code if code is not None else ended.code not in (0, 4), ended
    assert (ended.out, "panicked" in ended.err) == (out, False), ended
    assert re.search(said, ended.err, re.MULTILINE), ended


@pytest.mark.parametrize(
    "ways", [["hardware", "mpi"], pytest.param(["hardware", "elan", "mpi"], marks=pytest.mark.slow)]
)
def test_conjugate_gradients(benchmarks: Path, tmp_path: Path, ways: list[str]) -> None:
    """An application: the same solution by all ways, and the sooner the better its collective
    operations are.
    """
    words = ("--out", tmp_path, benchmarks / "cg", "--points", "4", "--iterations", "40")
    rows = {way: row(mpirun(27, way, *words)) for way in ways}
    for found in rows.values():
        assert float(found["error"]) < 1e-12
    time = {way: float(found["iteration_us"]) for way, found in rows.items()}
    assert time["hardware"] <= time.get("elan", time["hardware"]) < time["mpi"]
