"""kill -9 on any process in a run: soon the whole run is gone, with its shared memory and its
temporary files.
"""

from __future__ import annotations

import contextlib
import runpy
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from conftest import OTHERS_FILES, PATIENCE, command, environment, execute, needs_mpi, until
from elanite.mpirun import guard, launcher

MANAGER = launcher.MANAGER
HARNESS = Path(__file__).parent / "mpi" / "kill.py"

pytestmark = needs_mpi


def test_a_run_of_no_name_sweeps_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "SHARED", tmp_path)
    names = {"mpich_shm_12_0", "mpich_vci_12_3", "mpich_shm_13_0", "mpich_shm_12", "other"}
    for name in names:
        (tmp_path / name).touch()
    guard.sweep(frozenset({"12"}))
    assert {path.name for path in tmp_path.iterdir()} == names - {
        "mpich_shm_12_0",
        "mpich_vci_12_3",
    }


def test_files_of_a_launcher_that_no_run_has_started_are_foreign(tmp_path: Path) -> None:
    """MPICH's launcher leaves files in /tmp, and other tests start it meanwhile."""
    foreign = runpy.run_path(str(HARNESS))["foreign"]
    topology = str(tmp_path / "hydra_hwloc_xmlfile_soUHlf")
    assert foreign(topology, set(), hydra=False)
    assert not foreign(topology, set(), hydra=True)
    assert not foreign(str(tmp_path / "elanite-mpi-1"), set(), hydra=False)


OVERWRITES = """
import ctypes, time
environ = ctypes.POINTER(ctypes.c_void_p).in_dll(ctypes.CDLL(None), "environ")
ctypes.memset(environ[0], 0, 5)
print(flush=True)
time.sleep(1000)
"""


def test_a_process_that_overwrites_its_environment_is_found() -> None:
    """As programs do that write their title there. psutil reads an environment up to its first
    empty word.
    """
    mark = f"{launcher.RUN}=overwrites"
    around = dict([("AAAA", "1"), mark.split("=")])
    words = [sys.executable, "-c", OVERWRITES]
    with subprocess.Popen(words, env=around, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout
            process.stdout.readline()
            assert guard.living(mark.encode()) == [process.pid]
            assert psutil.Process(process.pid).environ() == {}, "psutil would do, too"
        finally:
            process.kill()


def test_names_of_files_are_foreseen(mpi_programs: Path, tmp_path: Path) -> None:
    """The guard would remove the files that MPICH makes.

    If not, they have other names in this version.
    """
    words = command("mpirun", "-n", "2", str(mpi_programs / "messages"), "100000000")
    with subprocess.Popen(
        words, cwd=tmp_path, env=environment(), stderr=subprocess.DEVNULL
    ) as process:

        def made() -> set[str]:
            lines = []
            for child in psutil.Process(process.pid).children():
                with contextlib.suppress(psutil.Error):  # it has ended
                    lines.append(child.cmdline())
            chosen = [
                name
                for line in lines
                if line and MANAGER in line[0]
                for name in guard.worlds(line[3])
            ]
            found = [guard.NAME.fullmatch(path.name) for path in guard.SHARED.iterdir()]
            return {one[0] for one in found if one and one[1] in chosen}

        try:
            assert until(lambda: len(made()) == 2)
            names = made()
        finally:
            process.kill()
    assert until(lambda: not any((guard.SHARED / name).exists() for name in names))


@pytest.mark.parametrize("rounds", [4, pytest.param(50, marks=pytest.mark.slow)])
def test_nothing_is_left_of_a_killed_run(mpi_programs: Path, tmp_path: Path, rounds: int) -> None:
    """At its start, and while its ranks exchange messages.

    Other jobs on this host may have files in /tmp.
    """
    words = command(
        "mpirun",
        "-n",
        "4",
        "--out",
        str(tmp_path / "out"),
        str(mpi_programs / "messages"),
        "100000000",
    )
    how = [
        "--rounds",
        str(rounds),
        "--latest",
        "2",
        "--words",
        "2",
        "--simulator",
        "elanite mpirun",
    ]
    how += ["--patience", str(PATIENCE)]
    how += ["--kill", "rank,launcher,simulator", "--ignore", OTHERS_FILES]
    ended = execute([sys.executable, HARNESS, *how, "--", *words], 4 * PATIENCE + 15 * rounds)
    assert ended.code == 0, ended
    assert not list(tmp_path.glob("out/mpirun/*"))
