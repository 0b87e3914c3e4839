"""The published MPI benchmarks as C programs: they build without a warning, measure, and report
errors.
"""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from conftest import BIN, Ended, execute


def run(benchmarks: Path, processes: int, *words: str) -> Ended:
    return execute([BIN / "mpiexec", "-n", str(processes), benchmarks / words[0], *words[1:]])


def rows(benchmarks: Path, processes: int, *words: str) -> list[dict[str, str]]:
    done = run(benchmarks, processes, *words)
    assert done.code == 0, done
    return list(csv.DictReader(io.StringIO(done.out)))


def test_ping(benchmarks: Path) -> None:
    found = rows(benchmarks, 2, "ping", "--size", "0B,4KB", "--repeats", "5")
    shown = [(row["directions"], row["bytes"]) for row in found]
    assert shown == [("one", "0"), ("one", "4096"), ("both", "0"), ("both", "4096")]
    for row in found:
        latency, bandwidth = float(row["latency_us"]), float(row["bandwidth_MBps"])
        assert 0 < float(row["median_us"]) <= float(row["largest_us"])
        # Both are rounded: to a nanosecond, and to 0.1 MB/s.
        assert bandwidth == pytest.approx(int(row["bytes"]) / latency, rel=1e-2, abs=0.1)


def test_overlap(benchmarks: Path) -> None:
    found = rows(
        benchmarks, 2, "overlap", "--size", "8KB", "--compute", "0us,500us", "--repeats", "5"
    )
    for row in found:
        phases = [float(row[phase]) for phase in ("call_us", "compute_phase_us", "wait_us")]
        assert sum(phases) == pytest.approx(float(row["round_us"]), abs=0.01)
        assert float(row["availability"]) == pytest.approx(phases[1] / sum(phases), abs=0.001)
    # The computation takes about its stated time; more where others use the processor meanwhile.
    assert float(found[0]["compute_phase_us"]) < 50
    assert float(found[1]["compute_phase_us"]) > 350


@pytest.mark.parametrize("operation", ["barrier", "broadcast", "reduce"])
@pytest.mark.parametrize("background", ["0B", "64KB"])
def test_collective(benchmarks: Path, operation: str, background: str) -> None:
    words = ["collective", "--operation", operation, "--background", background, "--repeats", "3"]
    (row,) = rows(benchmarks, 3, *words)
    assert (row["operation"], row["processes"]) == (operation, "3")
    assert row["bytes"] == ("4" if operation == "broadcast" else "0")
    assert 0 < float(row["median_us"]) <= float(row["largest_us"])


def test_permutation(benchmarks: Path) -> None:
    words = [
        "permutation",
        "--pattern",
        "neighbor,transpose,shuffle",
        "--size",
        "1KB,64KB",
        "--lengths",
        "uniform",
    ]
    found = rows(benchmarks, 4, *words, "--warm-up", "1ms", "--window", "20ms")
    assert [(row["pattern"], row["communicating"], row["bytes"]) for row in found] == [
        (pattern, communicating, size)
        for pattern, communicating in (("neighbor", "4"), ("transpose", "2"), ("shuffle", "2"))
        for size in ("1024", "65536")
    ]
    for row in found:
        least, mean, most = (
            float(row[f"{which}MBps"]) for which in ("least_", "bandwidth_", "most_")
        )
        assert least <= mean <= most


@pytest.mark.parametrize("lengths", ["fixed", "exponential"])
def test_lengths_of_permutation(benchmarks: Path, lengths: str) -> None:
    words = [
        "permutation",
        "--pattern",
        "complement",
        "--size",
        "4KB",
        "--lengths",
        lengths,
        "--outstanding",
        "1",
    ]
    (row,) = rows(benchmarks, 2, *words, "--window", "100ms")
    assert float(row["most_MBps"]) > 0


def test_noise(benchmarks: Path) -> None:
    found = rows(benchmarks, 2, "noise", "--compute", "100us", "--repeats", "50")
    for process in ("0", "1"):
        own = [row for row in found if row["process"] == process]
        assert sum(int(row["count"]) for row in own) == 50
        assert float(own[0]["shortest_us"]) > 50


@pytest.mark.parametrize(
    ("processes", "words", "message"),
    [
        (3, ["ping"], "a ping needs 2 processes, not 3"),
        (1, ["overlap"], "post-compute-wait needs 2 processes, not 1"),
        (1, ["collective"], "needs 2 processes or more"),
        (1, ["noise", "--sise", "1"], "there is no option --sise; --help lists them"),
        (1, ["noise", "--compute"], "--compute needs a value"),
        (
            1,
            ["noise", "--compute", "1 min"],
            "--compute 1 min is not understood; write it as in 0us, 50us or 1ms",
        ),
        (2, ["ping", "--size", "4KB,"], "--size  is not understood"),
        (2, ["ping", "--size", "2000MB"], "--size: more than 1024MB"),
        (2, ["ping", "--repeats", "0"], "--repeats 0 is no number of at least 1"),
        (
            2,
            ["collective", "--operation", "scan"],
            "--operation scan is unknown: barrier, broadcast or reduce",
        ),
        (
            2,
            ["permutation", "--pattern", "random"],
            "--pattern random is unknown: neighbor, butterfly, complement, shuffle",
        ),
        (
            3,
            ["permutation", "--pattern", "neighbor"],
            "neighbor needs an even number of processes, not 3",
        ),
        (3, ["permutation"], "bit-reversal needs a power of two of processes, not 3"),
        (
            2,
            ["permutation", "--pattern", "transpose"],
            "transpose needs a power of four of processes, not 2",
        ),
        (
            2,
            ["permutation", "--pattern", "complement,shuffle"],
            "in shuffle, each of 2 processes is its own partner",
        ),
        (
            2,
            ["permutation", "--pattern", "neighbor", "--lengths", "long"],
            "--lengths long is unknown: fixed, uniform",
        ),
        (
            2,
            ["permutation", "--pattern", "neighbor", "--outstanding", "65"],
            "--outstanding 65: more than 64",
        ),
        (2, ["permutation", "--pattern", "neighbor", "--size", "1KB,8MB"], "--size: more than 4MB"),
        (
            2,
            ["permutation", "--pattern", "neighbor", "--window", "0us"],
            "--window 0us: nothing arrives in no time",
        ),
    ],
)
def test_bad_words(benchmarks: Path, processes: int, words: list[str], message: str) -> None:
    done = run(benchmarks, processes, *words)
    assert done.code == 2
    assert message in done.err


def test_help(benchmarks: Path) -> None:
    done = run(benchmarks, 1, "collective", "--help")
    assert done.code == 0
    assert "--background   length of other messages, 0B for none (0B)" in done.out
