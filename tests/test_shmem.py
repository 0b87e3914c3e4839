"""OpenSHMEM in C: the programs in ``tests/shmem`` check answers, those in ``benchmarks/shmem``
measure times.

The same calls by the simulator's own Shmem (``examples/src/bin/shmem_times.rs``) take the same
times.
"""

from __future__ import annotations

import csv
import io
import re
import sys
from pathlib import Path

import pytest

from conftest import COMPILER, FILES, Ended, command, execute, needs_mpi

pytestmark = needs_mpi

ROOT = FILES.parents[1]
PROGRAMS = Path(__file__).parent / "shmem"

GROUPS = [
    "setup",
    "heap",
    "transfer",
    "strided",
    "atomics",
    "waits",
    "collectives",
    "reductions",
    "locks",
    "contexts",
    "generic",
    "old",
    "teams",
    "signals",
    "threads",
]
"""Programs that end with the line "well"."""


def build(folder: Path, sources: list[Path], *words: str) -> Path:
    for source in sources:
        how = ["-std=gnu11", "-pthread", "-O1", "-Wall", "-Wextra", "-Werror", *words]
        made = execute(
            [sys.executable, COMPILER, "oshcc", *how, "-o", folder / source.stem, source]
        )
        assert made.code == 0, made
    return folder


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("shmem"), sorted(PROGRAMS.glob("*.c")))


@pytest.fixture(scope="module")
def times(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(
        tmp_path_factory.mktemp("times"), sorted((ROOT / "benchmarks" / "shmem").glob("*.c"))
    )


def prun(ranks: int, *words: str | Path, quiet: bool = True) -> Ended:
    options = ["--quiet"] if quiet else []
    return execute(command("prun", *options, "-n", str(ranks), *map(str, words)), 600)


@pytest.mark.parametrize(
    ("ranks", "per_node"),
    [*(pytest.param(ranks, 1, marks=pytest.mark.slow) for ranks in (2, 3, 8)), (8, 4)],
)
@pytest.mark.parametrize("name", GROUPS)
def test_group(programs: Path, name: str, ranks: int, per_node: int) -> None:
    ended = prun(ranks, "--ranks-per-node", str(per_node), programs / name)
    assert (ended.code, ended.out) == (0, "well\n"), ended


@pytest.mark.parametrize(
    "name",
    [
        "collectives",
        *(pytest.param(name, marks=pytest.mark.slow) for name in GROUPS if name != "collectives"),
    ],
)
@pytest.mark.parametrize(
    "words", [["--network", "ideal"], ["--machine", "opteron-qsnet2"], ["--memory", "elan"]]
)
def test_elsewhere(programs: Path, name: str, words: list[str]) -> None:
    ended = prun(5, *words, programs / name)
    assert (ended.code, ended.out) == (0, "well\n"), ended


@pytest.mark.parametrize(
    "name", ["atomics", "locks", pytest.param("collectives", marks=pytest.mark.slow)]
)
def test_repeatable(programs: Path, name: str) -> None:
    """Two runs give the same times for all packets, messages and calls."""
    ended = [prun(6, "--ranks-per-node", "2", programs / name, quiet=False) for _ in range(2)]
    digests = [
        line for one in ended for line in one.err.splitlines() if line.strip().startswith("digest")
    ]
    assert len(digests) == 2, ended[0]
    assert digests[0] == digests[1]


@pytest.mark.parametrize("name", ["setup", "heap"])
def test_one(programs: Path, name: str) -> None:
    """A program with one processing element."""
    ended = prun(1, programs / name)
    assert (ended.code, ended.out) == (0, "well\n"), ended


MISTAKES = {
    "early": (
        "shmem_barrier_all on processing element .*: the program communicates between"
        " shmem_init and"
    ),
    "element": (
        "shmem_put on processing element 1: there is no processing element 3; the last one is 2"
    ),
    "negative": "shmem_get on processing element 1: there is no processing element -1",
    "stack": (
        "shmem_put on processing element 1: 8 bytes at address 0x.* of processing element 0 are not"
        " symmetric"
    ),
    "null": (
        "shmem_atomic_add on processing element 1: 4 bytes at address 0x0 of processing element 0"
        " are not symm"
    ),
    "alignment": (
        "shmem_atomic_add on processing element 1: the word of 8 bytes at address 0x.* does not"
        " begin at"
    ),
    "free": (
        "shmem_free on processing element 1: no memory of the symmetric heap begins at address 0x"
    ),
    "context": "shmem_quiet on processing element 1: there is no such context",
    "set": (
        "shmem_barrier on processing element 1: the active set from 0 on, .* goes beyond the last"
    ),
    "member": "shmem_barrier on processing element 1: the caller is not a member of the active set",
    "lock": "shmem_clear_lock on processing element 1: nobody has this lock",
    "comparison": "shmem_wait_until on processing element 1: there is no comparison 17",
    "late": (
        "shmem_put on processing element 1: the program communicates between shmem_init and"
        " shmem_finalize"
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistake(programs: Path, mistake: str) -> None:
    """The error names call, processing element and address, and the program ends."""
    ended = prun(3, programs / "mistakes", mistake)
    assert ended.code == 1
    assert re.search(MISTAKES[mistake], ended.err), ended


def test_deadlock(programs: Path) -> None:
    ended = prun(3, programs / "mistakes", "wait")
    assert ended.code == 3
    assert "shmem_wait_until" in ended.err
    assert "shmem_barrier_all" in ended.err or "shmem_finalize" in ended.err, ended


@pytest.mark.parametrize(
    ("how", "code", "out"), [("exit", 5, ""), ("zero", 0, ""), ("global", 6, "the end\n")]
)
def test_exit(programs: Path, how: str, code: int, out: str) -> None:
    """One processing element ends all."""
    ended = prun(3, programs / "mistakes", how)
    assert (ended.code, ended.out) == (code, out), ended


def test_heap_size(programs: Path) -> None:
    """The environment sets the heap size."""
    line = command("prun", "--quiet", "-n", "2", str(programs / "heap"))
    full = execute(["env", "SMA_SYMMETRIC_SIZE=1M", *line])
    assert full.code != 0
    wrong = execute(["env", "SHMEM_SYMMETRIC_SIZE=much", *line])
    assert "SHMEM_SYMMETRIC_SIZE" in wrong.err, wrong


def test_without_machine(programs: Path) -> None:
    ended = execute([programs / "setup"])
    assert ended.code == 1
    assert "start it with: elanite prun" in ended.err


def table(ended: Ended) -> dict[tuple[str, int], float]:
    assert ended.code == 0, ended
    rows = csv.DictReader(io.StringIO(ended.out))
    return {(row["what"], int(row["bytes"])): float(row["us"]) for row in rows}


def own_tables() -> tuple[dict[tuple[str, int], float], dict[tuple[str, int], float]]:
    """The simulator's own Shmem times: alone, and collective calls among other puts."""
    text = (ROOT / "examples" / "tests" / "snapshots" / "output__shmem_times.snap").read_text(
        encoding="utf-8"
    )
    lines = text[text.index("what,") :].splitlines()
    barriers = [place for place, line in enumerate(lines) if line.startswith("barrier")]
    head, alone, among = lines[0], lines[1 : barriers[1]], lines[barriers[1] :]
    first, second = (table(Ended(0, "\n".join([head, *part]), "")) for part in (alone, among))
    return first, second


def agrees(found: dict[tuple[str, int], float], expected: dict[tuple[str, int], float]) -> None:
    """Within 1%, and the nanosecond that the clock shows."""
    assert found
    wrong = {
        key: (us, expected[key])
        for key, us in found.items()
        if us != pytest.approx(expected[key], 0.01, 0.002)
    }
    assert not wrong, f"found and expected: {wrong}"


def test_times_between_two(times: Path, tmp_path: Path) -> None:
    (tmp_path / "nodes").write_text("0\n63\n", encoding="utf-8")
    place = ["--machine", "es40-qsnet", "--placement", str(tmp_path / "nodes")]
    alone, _ = own_tables()
    agrees(table(prun(2, *place, times / "ping", "8B", "64B", "72B", "1KB", "64KB")), alone)
    agrees(table(prun(2, *place, times / "transfer", "8B", "64B", "72B", "4KB", "256KB")), alone)


@pytest.mark.parametrize("background", ["0B", "64KB"])
def test_times_of_collectives(times: Path, background: str) -> None:
    expected = own_tables()[background != "0B"]
    words = ["--machine", "es40-qsnet", times / "collective", background, "64B", "4KB", "64KB"]
    agrees(table(prun(16, *words)), expected)
