"""Ranks that take no part in a run, or a part that Elanite does not see, with real programs and the
real simulator.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conftest import BIN, FILES, Ended, command, environment, execute, needs_mpi
from elanite.mpirun import guard
from elanite.mpirun.program import linker
from elanite.mpirun.verdict import judge
from test_mpirun_linkage import compiled, stub
from test_mpirun_parts import evidence

Run = Callable[..., Ended]
LIBRARY = BIN.parent / "lib" / "libmpi.so.12"
DEEP = """
#define _GNU_SOURCE
#include <dlfcn.h>
int (*announced)(int, char **);
int main(int count, char **words) {
    void *plugin = dlopen(PLUGIN, WHEN | RTLD_LOCAL | RTLD_DEEPBIND);
    if (!announced)
        announced = (int (*)(int, char **))dlsym(plugin, "run");
    return announced(count, words);
}
"""
ANNOUNCED = """
int run(int, char **);
extern int (*announced)(int, char **);
__attribute__((constructor)) static void announce(void) { announced = run; }
"""
STATIC = """
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int MPI_Init(int *count, char ***words) {
    const char *hello = "cmd=init pmi_version=1 pmi_subversion=1\\n";
    const char *bye = "cmd=finalize\\n";
    int manager = atoi(getenv("PMI_FD"));
    char answer[256];
    return write(manager, hello, strlen(hello)) < 0 || read(manager, answer, sizeof answer) <= 0
        || write(manager, bye, strlen(bye)) < 0 || read(manager, answer, sizeof answer) <= 0;
}
int main(int count, char **words) { return MPI_Init(&count, &words); }
"""
TOOL = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
static int count;
int MPI_Barrier(int comm) { count++; return ((int (*)(int))dlsym(RTLD_NEXT, "MPI_Barrier"))(comm); }
__attribute__((destructor)) static void end(void) { if (count) printf("%d barriers\\n", count); }
"""
ALONE = "import ctypes, sys; sys.exit(ctypes.CDLL(sys.argv[1]).MPI_Init(None, None))"


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """``linked`` and ``opening`` from one source, and programs that open it as a plugin with
    ``RTLD_DEEPBIND``, whose slots the linker fills at the first calls, or at once and for good;
    ``announced`` has a function of the plugin without ``dlsym``.
    """
    folder = tmp_path_factory.mktemp("world")
    source = str(FILES / "world.c")
    (folder / "announced.c").write_text(ANNOUNCED, encoding="utf-8")
    plugin = ["-DLINKED", "-Dmain=run", "-shared", "-fPIC", "-Wl,-z,relro"]
    for name, words in {
        "linked": ["-DLINKED"],
        "now.so": [*plugin, "-Wl,-z,now"],
        "lazy.so": [*plugin, "-Wl,-z,lazy"],
        "announced.so": [*plugin, str(folder / "announced.c")],
    }.items():
        subprocess.run([BIN / "mpicc", "-O2", *words, "-o", folder / name, source], check=True)
    # Not linked with MPI.
    words = [
        f'-DLIBRARY="{LIBRARY}"',
        f"-I{BIN.parent / 'include'}",
        "-o",
        str(folder / "opening"),
        source,
        "-ldl",
    ]
    subprocess.run(["cc", "-O2", *words], check=True)
    for plugin_name, when in {"lazy": "LAZY", "now": "NOW", "announced": "NOW"}.items():
        library = folder / f"{plugin_name}.so"
        words = [f'-DPLUGIN="{library}"', f"-DWHEN=RTLD_{when}", "-rdynamic", "-ldl"]
        compiled(folder / plugin_name, DEEP, *words)
    return folder


def told(ended: Ended) -> str:
    return " ".join(ended.err.split())


@needs_mpi
def test_calls_by_other_ways_are_those_of_the_linked_program(elanite: Run, programs: Path) -> None:
    """By ``dlsym`` and in plugins: the same times by both clocks, the same digest, the same
    collective operations.
    """
    linked, *others = (
        elanite("mpirun", "-n", "4", "-f", "json", str(programs / name))
        for name in ("linked", "opening", "lazy", "now")
    )
    assert "4 ranks, sum 6" in linked.out
    assert len(set(re.findall(r"[\d.]+(?= us)", linked.out))) == 1
    figures = json.loads(linked.err.splitlines()[-1])
    assert figures["collectives"]["hardware"] > 0
    for run in others:
        assert (run.code, run.out) == (0, linked.out), run
        other = json.loads(run.err.splitlines()[-1])
        for key in ("digest", "collectives", "mpi_us"):
            assert figures[key] == other[key]


@needs_mpi
def test_the_next_definition_is_that_behind_the_caller(
    programs: Path, tmp_path: Path, plain_path: Path
) -> None:
    """A library that measures a program finds MPI's function behind its own, and not itself."""
    tool = compiled(plain_path / "tool.so", TOOL, "-shared", "-fPIC", "-ldl")
    words = command("mpirun", "-n", "2", "-q", "--collectives", "mpi", str(programs / "linked"))
    ended = execute(words, 60, cwd=tmp_path, env=environment() | {"LD_PRELOAD": str(tool)})
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.count("10 barriers\n") == 2


@needs_mpi
@pytest.mark.parametrize("ranks", ["1", "2"])
def test_a_plugin_that_its_constructor_announces(elanite: Run, programs: Path, ranks: str) -> None:
    """Its calls are recorded from the end of ``MPI_Init`` on, without ``dlsym``."""
    announced, now = (
        elanite("mpirun", "-n", ranks, str(programs / name)) for name in ("announced", "now")
    )
    assert (announced.code, announced.out) == (0, now.out), announced
    times = [re.findall(r"simulated time +([\d.]+)", told(ended)) for ended in (announced, now)]
    assert times[0] == times[1] != []


@needs_mpi
@pytest.mark.parametrize(
    "wrapper", [[], ["sh", "-c", '"$@"; exit 0', "sh"], ["env", "A=1"]], ids=str
)
def test_ranks_without_mpi_init_are_named(
    elanite: Run, programs: Path, tmp_path: Path, wrapper: list[str]
) -> None:
    """The others wait for them in MPI_Init, and would wait forever."""
    ended = elanite("mpirun", "-n", "4", *wrapper, str(programs / "linked"), "half")
    assert (ended.code, ended.out) == (2, ""), ended
    words = (
        f"error: ranks 1, 3 of {[*wrapper, str(programs / 'linked')][0]} ended without MPI_Init;"
        " ranks 0, 2 cannot"
    )
    assert words in told(ended)
    assert not (tmp_path / "out" / "mpirun").exists()


@needs_mpi
@pytest.mark.parametrize(
    "wrapper",
    [["sh", "-c", 'true; "$@"; true', "sh"], ["env", "A=1"], [linker(Path(sys.executable))]],
    ids=["sh", "env", "linker"],
)
def test_wrappers_of_mpi_programs_are_ranks(
    elanite: Run, programs: Path, wrapper: list[str]
) -> None:
    ended = elanite("mpirun", "-n", "2", "-q", *wrapper, str(programs / "linked"))
    assert (ended.code, ended.err) == (0, ""), ended
    assert "2 ranks, sum 1" in ended.out


@needs_mpi
def test_another_mpi_that_a_program_opens_ends_the_run(elanite: Run, tmp_path: Path) -> None:
    """As mpi4py that was built for Open MPI; here MPI_Init ends well, and has not opened the
    network.
    """
    library = stub(tmp_path, "libmpi.so.40")
    ended = elanite("mpirun", "-n", "3", sys.executable, "-c", ALONE, str(library))
    assert (ended.code, ended.out) == (2, ""), ended
    assert "did not open the simulated network: the program has loaded Open MPI" in told(ended)
    assert f"({library})" in told(ended)
    assert "name the mpiexec of this Open MPI: --mpi PATH" in told(ended)
    assert not (tmp_path / "out" / "mpirun").exists()


@needs_mpi
def test_worlds_of_one_rank_end_the_run(elanite: Run, programs: Path, tmp_path: Path) -> None:
    """A process that does not find its process manager is alone, and reaches the network all the
    same.
    """
    numbers = tmp_path / "numbers"
    alone = (
        f"echo $$ >> {shlex.quote(str(numbers))}; unset PMI_FD PMI_SIZE; exec"
        f" {shlex.quote(str(programs / 'linked'))}"
    )
    ended = elanite("mpirun", "-n", "4", "sh", "-c", alone)
    assert (ended.code, ended.out) == (2, ""), ended
    assert "has 1 rank, and the run has 4: the program has loaded MPICH" in told(ended)
    made = [
        guard.SHARED / f"mpich_shm_{int(number):x}_0"
        for number in numbers.read_text(encoding="utf-8").split()
    ]
    assert len(made) == 4
    assert not [path for path in made if path.exists()]


@needs_mpi
def test_a_program_without_mpi(elanite: Run, tmp_path: Path) -> None:
    ended = elanite("mpirun", "-n", "2", "true")
    assert ended.code == 2, ended
    assert "called MPI_Init on the simulated network: it is no MPI program" in told(ended)
    assert elanite("mpirun", "-n", "2", "sh", "-c", "exit 6").code == 6
    own = compiled(tmp_path / "static", STATIC)
    ended = elanite("mpirun", "-n", "2", str(own))
    assert ended.code == 2, ended
    assert "an MPI library of its own, linked statically" in told(ended)
    ended = elanite("mpirun", "-n", "2", "sh", "-c", "sleep 9 >/dev/null 2>&1 & exit 0")
    assert ended.code == 2, ended
    assert "its process has ended, and one that it had started went on" in told(ended)
    assert not (tmp_path / "out" / "mpirun").exists()


def test_several_programs_are_refused(elanite: Run, mpi_programs: Path) -> None:
    """Else the second one's words would be arguments of the first one, in a world without it."""
    empty = str(mpi_programs / "empty")
    quoted = shlex.quote(empty)
    ended = elanite("mpirun", "-n", "1", empty, ":", "-n", "1", empty)
    assert ended.code == 2, ended
    assert "': -n' begins another program, and a run has one" in told(ended)
    choice = f"if [ $PMI_RANK = 0 ]; then exec {quoted}; else exec {quoted} other; fi"
    assert elanite("mpirun", "-q", "-n", "2", "sh", "-c", choice).code == 0


@pytest.mark.parametrize(
    ("outcome", "statuses", "code", "words"),
    [
        (
            {"end": "no mpi", "attached": 0},
            [],
            1,
            "the program ended with exit code 1, and no rank called MPI_Init",
        ),
        (
            {"end": "absent", "absent": [3], "attached": 3},
            [9, 9, 9, 0],
            2,
            "rank 3 of ./x ended without MPI_Init; ranks",
        ),
        (
            {"end": "absent", "absent": [0, 1, 2, 3]},
            [0, 0, 0, 0],
            2,
            "ranks 0 to 3 of ./x ended without MPI_Init",
        ),
        (
            {"end": "absent", "absent": [2]},
            [9, 9, 1536, 9],
            6,
            "rank 2 on node 1 exited with code 6 before it called",
        ),
        (
            {"end": "launcher gone", "absent": [1]},
            [],
            2,
            "rank 1 of ./x ended without MPI_Init; ranks 0, 2, 3 cannot",
        ),
        ({"end": "launcher gone", "absent": []}, [], 1, "mpiexec ended with exit code 1"),
        (
            {"end": "stray", "stray": {"rank": 1, "pid": 12, "world": None}},
            [],
            2,
            "MPI_Init of rank 1 did not open the simulated network: its MPI library is unknown",
        ),
        (
            {"end": "stray", "stray": {"rank": 1, "pid": 12, "world": 1}},
            [],
            2,
            "MPI_COMM_WORLD of rank 1 has 1 rank, and the run has 4: its MPI",
        ),
    ],
)
def test_verdicts(outcome: dict[str, Any], statuses: list[int], code: int, words: str) -> None:
    what = evidence(outcome, statuses)
    if outcome["end"] == "absent":
        pids = [None if rank in outcome["absent"] else 11 + rank for rank in range(4)]
        what = replace(what, pids=pids)
    ended = judge(what)
    assert ended.message.startswith(words)
    assert ended.exit_code == code
