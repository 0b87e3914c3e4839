"""``elanite prun``: C programs on a simulated machine, and the compilers ``oshcc`` and
``elancc``.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from conftest import COMPILER, FILES, OTHERS_FILES, PATIENCE, Ended, command, execute, needs_mpi
from elanite.mpirun.run_tables import KeptRun
from timelines import agree, embedded

SOURCES = FILES.parent / "prun"

pytestmark = needs_mpi


def compiler(name: str, *words: str | Path) -> Ended:
    return execute([sys.executable, COMPILER, name, *words])


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("prun")
    for source in SOURCES.glob("*.c"):
        made = compiler("oshcc", "-O2", "-Wall", "-o", folder / source.stem, source)
        assert made.code == 0, made
    return folder


def prun(folder: Path, *words: str | Path) -> Ended:
    return execute(command("prun", *map(str, words)), cwd=folder)


def figures(ended: Ended) -> dict[str, object]:
    found: dict[str, object] = json.loads(ended.err.splitlines()[-1])
    return found


@pytest.mark.parametrize("name", ["oshcc", "elancc"])
def test_a_compiler_shows_what_it_would_do(name: str) -> None:
    shown = compiler(name, "--showme", "-O2", "-o", "x", "x.c")
    words = shown.out.split()
    assert words[0] == "cc"
    assert words[2:6] == ["-O2", "-o", "x", "x.c"]
    assert words[-1] == {"oshcc": "-lsma", "elancc": "-lelan3"}[name]
    assert compiler(name, "--showme:compile").out.startswith("-I")
    assert "-L" not in compiler(name, "-show", "-c", "x.c").out
    wrong = compiler(name, "--showme:what")
    assert (wrong.code, wrong.err) == (
        2,
        "error: --showme:what: write --showme, --showme:compile or --showme:link\n",
    )


def test_a_program_wants_to_be_started_by_prun(programs: Path) -> None:
    alone = execute([programs / "ends"])
    assert alone.code == 1
    assert alone.err.startswith(
        "elanite: this program needs a simulated machine; start it with: elanite prun"
    )


def test_ranks_know_themselves_as_from_the_resource_manager(programs: Path, tmp_path: Path) -> None:
    ended = prun(tmp_path, "-q", "-n", "3", "--ranks-per-node", "2", programs / "ends", "rms")
    assert ended.code == 0, ended
    line = "RANK {0}, NPROCS 3, NNODES 2, NODEID {1}, PROCID {0}, RAILS 1"
    assert sorted(ended.out.splitlines()) == [line.format(rank, rank // 2) for rank in range(3)]


def test_addresses_are_the_same_in_all_ranks(programs: Path, tmp_path: Path) -> None:
    ended = prun(tmp_path, "-q", "-n", "4", programs / "ends", "addresses")
    assert ended.code == 0, ended
    assert len(set(ended.out.splitlines())) == 1


@pytest.mark.parametrize(
    "machine", ["es40-qsnet", pytest.param("opteron-qsnet2", marks=pytest.mark.slow)]
)
def test_a_loop_on_a_word_takes_as_long_as_a_call_that_waits(
    programs: Path, tmp_path: Path, machine: str
) -> None:
    """Runs are equal, whenever the host finds that the program loops."""
    how = ["-n", "2", "--machine", machine, "--format", "json", "--out", "out", programs / "spin"]
    by_call = prun(tmp_path, *how, "200", "wait")
    # The host inspects the program at different places in each run.
    first, *others = (prun(tmp_path, *how, "200", "loop") for _ in range(5))
    for ended in (by_call, first, *others):
        assert ended.code == 0, ended
    assert {ended.out for ended in others} == {first.out}
    assert {figures(ended)["digest"] for ended in others} == {figures(first)["digest"]}
    assert figures(first)["repeatable"]
    times = [float(ended.out.split()[0]) for ended in (by_call, first)]
    assert times[1] == pytest.approx(times[0], rel=0.01)


def test_a_loop_that_counts_ends_too(programs: Path, tmp_path: Path) -> None:
    """It lets time advance by at most 20 us without a write: on a busy host that happens in some
    rounds.
    """
    how = ["-n", "2", "--format", "json", "--out", "out", programs / "spin"]
    counted, waited = prun(tmp_path, *how, "20", "count"), prun(tmp_path, *how, "20", "wait")
    assert counted.code == 0, counted
    assert not figures(counted)["repeatable"]
    times = [float(ended.out.split()[0]) for ended in (waited, counted)]
    assert 0.99 * times[0] < times[1] < times[0] + 20


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["well"], 0, ""),
        (["leaves"], 0, ""),
        (
            ["vanishes"],
            1,
            r"rank 1 .* exited with code 0 at .* time, after \w+, without leaving the simulation",
        ),
        (
            ["exit", "7"],
            7,
            r"error: rank 1 \(pid \d+\) on node 1 exited with code 7 at .* µs of simulated time",
        ),
        (["crash"], 1, r"error: rank 1 \(pid \d+\) on node 1 was killed by signal 11 \(SIGSEGV\)"),
        (["deadlock"], 3, r"error: deadlock at (.|\n)*0, 1   *shmem_wait_until"),
        (["spin"], 3, r"error: deadlock at (.|\n)*0, 1   *no call, a loop on a word"),
        (
            ["nowhere"],
            1,
            r"not symmetric(.|\n)*error: rank 0 \(pid \d+\) on node 0 ended all ranks with code 1",
        ),
        (["silent"], 2, r"error: no rank of .* called OpenSHMEM, Elanlib, Elan3lib or MPI"),
    ],
)
def test_ends(programs: Path, tmp_path: Path, words: list[str], code: int, said: str) -> None:
    ended = prun(tmp_path, "-q", "-n", "2", programs / "ends", *words)
    assert ended.code == code, ended
    assert re.search(said, ended.err), ended
    assert "MPI_" not in ended.err


@pytest.mark.parametrize("how", ["wait", "loop"])
def test_a_dead_cable_ends_the_run_with_its_name(programs: Path, tmp_path: Path, how: str) -> None:
    """A put that the machine cannot execute is a program error, with the cause."""
    recovery = [
        "faults.timeout=50 us",
        "faults.backoff=20 us",
        "faults.detect=200 us",
        "faults.give_up=1 ms",
    ]
    options = [word for one in recovery for word in ("--set", one)]
    fault = ["--fault", "link = 'node 1', at = '100 us'", "--out", "out"]
    ended = prun(tmp_path, "-q", "-n", "2", *options, *fault, programs / "spin", "1000", how)
    assert ended.code not in (0, 4), ended
    assert "panicked" not in ended.err, ended
    assert re.search(
        r"the first message that was lost: rank . puts 8 B .*the cable from node 1", ended.err
    ), ended


def test_a_page(programs: Path, tmp_path: Path) -> None:
    ended = prun(tmp_path, "-n", "4", "--html", "run.html", programs / "ends", "finalized")
    assert ended.code == 0, ended
    page = (tmp_path / "run.html").read_text(encoding="utf-8")
    (folder,) = (tmp_path / "out" / "mpirun").iterdir()
    run = KeptRun.load(folder)
    names = ("calls", "messages", "ranks", "links", "series")
    agree(embedded(page), {name: run.table(name) for name in names})
    calls = run.table("calls")["call"].to_list()
    assert calls.count("shmem_finalize") == 4, "none at the exit"
    assert "4 nodes of es40-qsnet · 0." in page, "no MPI library: none is called"
    assert "elanite prun -n 4" in page
    assert "of their time in calls" in page


def test_mpirun_takes_such_programs_too(programs: Path, tmp_path: Path) -> None:
    ended = execute(
        command("mpirun", "-q", "-n", "2", str(programs / "ends"), "well"), cwd=tmp_path
    )
    assert ended.code == 0, ended


def test_nothing_is_left_of_a_killed_run(programs: Path, tmp_path: Path) -> None:
    words = command(
        "prun",
        "-n",
        "4",
        "--out",
        str(tmp_path / "out"),
        str(programs / "spin"),
        "100000000",
        "wait",
    )
    how = ["--rounds", "4", "--latest", "2", "--words", "2", "--simulator", "elanite prun"]
    how += ["--patience", str(PATIENCE)]
    how += ["--kill", "rank,launcher,simulator,proxy", "--ignore", OTHERS_FILES]
    ended = execute([sys.executable, SOURCES.parent / "mpi" / "kill.py", *how, "--", *words])
    assert ended.code == 0, ended
