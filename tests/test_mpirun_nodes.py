"""The node that a program sees is the simulated one, by placement: names, processors, shared
memory.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from conftest import BIN, FILES, Ended, needs_mpi, without_blanks

pytestmark = needs_mpi
Run = Callable[..., Ended]
ASKS = """
import os, platform, socket
from mpi4py import MPI
name = socket.gethostname()
known = {name, platform.node(), os.uname().nodename, MPI.Get_processor_name()}
print(*known, os.cpu_count(), len(os.sched_getaffinity(0)), socket.gethostbyname(name))
"""


@pytest.fixture(scope="module")
def standard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The program by the standard binary interface."""
    source, compiler = FILES.parent / "mpi", f"MPICC={BIN / 'mpicc_abi'}"
    with without_blanks(tmp_path_factory.mktemp("nodes")) as folder:
        words = ["make", "-s", "-C", source, f"OUT={folder}", compiler, folder / "nodes"]
        subprocess.run(words, check=True)
        yield folder / "nodes"


def expected(nodes: list[int], processors: int) -> str:
    """The lines from ``tests/mpi/nodes.c``: each node's first rank raises a flag, and the others
    see it.
    """
    counts = [nodes.count(node) for node in nodes]
    within = counts if len(set(nodes)) > 1 else [0] * len(nodes)
    further = [" further 0" if count else "" for count in within]
    return "".join(
        f"rank {rank} node{node} cpus {processors} online {processors} configured {processors}"
        f" described {processors} shared {count} memory {count} core 0 within"
        f" {within[rank]}{further[rank]} none 0 flag"
        f" {'30[0-9]' if node in nodes[:rank] else '300'}\n"
        for rank, (node, count) in enumerate(zip(nodes, counts, strict=True))
    )


@pytest.mark.parametrize(
    ("words", "nodes", "processors"),
    [
        pytest.param(("--ranks-per-node", "2"), [0, 0, 1, 1], 4, id="block"),
        pytest.param(
            ("--ranks-per-node", "3", "--placement", "cyclic"), [0, 1, 0, 1], 4, id="cyclic"
        ),
        pytest.param(
            ("--ranks-per-node", "3", "--placement", "places"), [5, 2, 5, 5], 4, id="file"
        ),
        pytest.param(("--machine", "infiniband-ndr"), [0, 1, 2, 3], 64, id="a node each"),
        pytest.param(
            ("--ranks-per-node", "4", "--network", "ideal", "--set", "host.cpus=6"),
            [0] * 4,
            6,
            id="one node",
        ),
    ],
)
def test_programs_see_their_simulated_node(
    elanite: Run,
    mpi_programs: Path,
    tmp_path: Path,
    words: tuple[str, ...],
    nodes: list[int],
    processors: int,
) -> None:
    (tmp_path / "places").write_text("".join(f"{node}\n" for node in nodes))
    run = elanite("mpirun", "-n", "4", *words, "-f", "json", str(mpi_programs / "nodes"))
    assert run.code == 0, run
    assert re.fullmatch(expected(nodes, processors), run.out), run.out


def test_both_binary_interfaces_and_repeated_runs_are_equal(
    elanite: Run, mpi_programs: Path, standard: Path
) -> None:
    words = ("mpirun", "-n", "4", "--ranks-per-node", "2", "-f", "json")
    runs = [
        elanite(*words, str(program))
        for program in (mpi_programs / "nodes", mpi_programs / "nodes", standard)
    ]
    assert {run.code for run in runs} == {0}, runs
    assert len({run.out for run in runs}) == 1
    assert len({json.loads(run.err.splitlines()[-1])["digest"] for run in runs}) == 1


def test_interpreters_see_their_simulated_node(elanite: Run) -> None:
    run = elanite("mpirun", "-n", "2", "-q", sys.executable, "-c", ASKS)
    assert (run.code, run.err) == (0, ""), run
    assert sorted(run.out.splitlines()) == [f"node{rank} 4 4 127.0.0.1" for rank in range(2)]


def test_wrappers_and_commands_see_the_node_until_mpi_begins(
    elanite: Run, mpi_programs: Path
) -> None:
    """Programs that a rank starts after ``MPI_Init`` see the host."""
    script = (
        "cat /proc/sys/kernel/hostname; uname -n; nproc; cat /sys/devices/system/cpu/online; exec"
        ' "$0"'
    )
    run = elanite("mpirun", "-n", "1", "-q", "sh", "-c", script, str(mpi_programs / "empty"))
    assert run.code == 0, run
    assert run.out.splitlines()[:4] == ["node0", "node0", "4", "0-3"]


def test_programs_with_mpi_that_a_rank_starts_run_on_the_host(
    elanite: Run, mpi_programs: Path
) -> None:
    script = (
        "from mpi4py import MPI; import subprocess, sys;"
        " print(subprocess.run(sys.argv[1:]).returncode)"
    )
    words = (str(BIN / "mpiexec"), "-n", "2", str(mpi_programs / "empty"))
    run = elanite("mpirun", "-n", "1", "-q", sys.executable, "-c", script, *words)
    assert (run.code, run.out, run.err) == (0, "0\n", ""), run
