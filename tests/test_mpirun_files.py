"""Operations of a real program on files take the time of the machine's file system."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import Ended, needs_mpi

pytestmark = needs_mpi
Run = Callable[..., Ended]
Files = Callable[..., tuple[dict[str, float], dict[str, object]]]

MB = 1 << 20
LATENCY = 1000.0
"""Of an operation, in us."""
BYTES = LATENCY + MB / 100
"""Of an operation with 1 MB, at 100 MB/s."""

FILES = ("files.latency=1 ms", "files.rate=100 MB/s")

TIMES = {
    "open": LATENCY,
    "write": BYTES,
    "pwrite": BYTES,
    "writev": BYTES,
    "fsync": LATENCY,
    "lseek": 0,
    "read": BYTES,
    "pread": BYTES,
    "readv": BYTES,
    "preadv2": BYTES,
    "pwritev2": BYTES,
    "sendfile": 2 * BYTES,
    "copy_file_range": 2 * BYTES,
    "remove": LATENCY,
    "read at the end": LATENCY,
    "ftruncate": LATENCY,
    "close": LATENCY,
    "stat": LATENCY,
    "rename": LATENCY,
    "unlink": LATENCY,
    "unlink of no file": 0,
    "aio_write": BYTES,
    "fopen": LATENCY,
    "fwrite": BYTES,
    "fprintf": 0,
    "fseek": LATENCY + 4 / 100,
    "fread": BYTES,
    "fclose": LATENCY,
    "a pipe": 0,
    "/proc": 0,
    "/dev/null": 0,
    "memory": 0,
    "standard output": 0,
    "MPI_File_write_at": BYTES,
    "MPI_File_write_at_all": BYTES,
    "MPI_File_read_at_all": BYTES,
    "MPI_File_iread_at": BYTES,
}
"""The simulated time of each, in us."""


@pytest.fixture
def files(elanite: Run, mpi_programs: Path, tmp_path: Path) -> Files:
    """Runs ``tests/mpi/files.c`` on a machine with changes; returns its times and the figures of
    the run.
    """

    def run(*changes: str) -> tuple[dict[str, float], dict[str, object]]:
        sets = [word for change in changes for word in ("--set", change)]
        command = (
            "mpirun",
            "-n",
            "4",
            "--format",
            "json",
            *sets,
            str(mpi_programs / "files"),
            str(tmp_path),
        )
        ended = elanite(*command)
        assert ended.code == 0, ended
        assert "bad" not in ended.out, ended
        times = {line[:28].rstrip(): float(line[28:]) for line in ended.out.splitlines()}
        assert times.keys() == TIMES.keys()
        return times, json.loads(ended.err.splitlines()[-1])

    return run


def test_operations_on_files_take_the_time_of_the_file_system(files: Files) -> None:
    times, figures = files(*FILES)
    for what, asked in TIMES.items():
        # MPI exchanges messages in collective calls: the bytes that a rank has read go to another
        # one, at 80 MB/s.
        more = (
            MB / 80 + 200
            if what == "MPI_File_read_at_all"
            else 200
            if what.startswith("MPI")
            else 0.001
        )
        assert asked - 0.001 <= times[what] <= asked + more, (what, times)
    of_files = figures["files"]
    assert isinstance(of_files, dict)
    # Of rank 0 by calls, and of each rank by MPI-IO.
    assert of_files["bytes_written"] == 8 * MB + 4 + 4 * 2 * MB
    assert of_files["bytes_read"] == 7 * MB + 4 * 2 * MB
    assert of_files["untimed_operations"] == 0
    assert (of_files["rank"], of_files["ranks"]) == (0, 1)
    again = files(*FILES)
    assert (again[0], again[1]["digest"]) == (times, figures["digest"])


def test_io_nodes_are_reached_over_the_network(files: Files) -> None:
    changes = ("files.latency=1 ms", "files.rate=1 GB/s", "files.total=8 GB/s", "files.servers=8")
    without, before = files(*changes[:3])
    times, figures = files(*changes)
    assert without["write"] == pytest.approx(LATENCY + MB / 1000, abs=0.001)
    # The bus of an ES40 is slower than the file system.
    assert times["write"] > LATENCY + MB / 280
    assert times["open"] == pytest.approx(LATENCY, abs=0.001)
    moved = figures["files"], before["files"]
    assert isinstance(moved[0], dict)
    assert isinstance(moved[1], dict)
    assert moved[0]["bytes_written"] == moved[1]["bytes_written"]
    packets = figures["packets"], before["packets"]
    assert isinstance(packets[0], int)
    assert isinstance(packets[1], int)
    assert packets[0] - packets[1] > (moved[0]["bytes_read"] + moved[0]["bytes_written"]) / 320


def test_a_machine_without_a_file_system_says_so(
    elanite: Run, mpi_programs: Path, tmp_path: Path
) -> None:
    ended = elanite("mpirun", "-n", "2", str(mpi_programs / "files"), str(tmp_path))
    assert ended.code == 0, ended
    assert re.search(r"^write +0\.000$", ended.out, re.MULTILINE), ended
    assert "bad" not in ended.out, ended
    said = (
        r" files [1-9]\d* operations, 11 MB read, 12 MB written took no simulated time: the machine"
        r" has no section"
    )
    assert re.search(said, " ".join(ended.err.split())), ended


def test_the_summary_has_a_line_for_files(elanite: Run, mpi_programs: Path, tmp_path: Path) -> None:
    sets = [word for change in FILES for word in ("--set", change)]
    ended = elanite("mpirun", "-n", "2", *sets, str(mpi_programs / "files"), str(tmp_path))
    assert ended.code == 0, ended
    said = " ".join(ended.err.split())
    assert re.search(
        r" files \d+ operations, 11 MB read, 12 MB written; at most [\d,]+ µs \(rank 0\) ", said
    ), ended
    assert "but for sleeps and clocks, and files" in said


@pytest.mark.parametrize("changes", [(), FILES], ids=["no file system", "a file system"])
def test_ranks_wait_in_simulated_time_for_locks_on_files(
    elanite: Run, mpi_programs: Path, tmp_path: Path, changes: tuple[str, ...]
) -> None:
    """The holder of a lock sleeps, or waits for the file system, and the others for the lock."""
    words = ["flock", "15", "fcntl", "15", "lockf", "15", "shared", "1500"]
    sets = [word for change in changes for word in ("--set", change)]
    ended = elanite(
        "mpirun", "-n", "3", *sets, "--format", "json", str(mpi_programs / "locks"), str(tmp_path)
    )
    assert (ended.code, ended.out.split()) == (0, words), ended
    figures = json.loads(ended.err.splitlines()[-1])
    assert figures["repeatable"] is False
    assert figures["simulated_us"] > 3 * 15 * (20 + (2 * LATENCY if changes else 0))
