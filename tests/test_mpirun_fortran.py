"""Programs in Fortran: the compiler made by ``elanite install-mpifort``, and its programs in a run.

Tests with a compiler need gfortran and that command, which downloads a package: a host without them
skips these tests.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import BIN, FILES, Ended, needs_mpi
from elanite.errors import UsageError
from elanite.mpirun import fortran
from elanite.mpirun.launcher import Mpi
from test_mpirun_linkage import compiled, stub

Run = Callable[..., Ended]
WORDS = FILES.parent / "mpi" / "words.F90"
INTERFACES = {"header": [], "mpi": ["-DMODULE=mpi"], "f08": ["-DMODULE=mpi_f08", "-DF08"]}
"""Compiler words for ``include 'mpif.h'``, ``use mpi`` and ``use mpi_f08``."""

needs_mpifort = pytest.mark.skipif(
    shutil.which("gfortran") is None or not (BIN / "mpifort").exists(),
    reason="no gfortran, or no mpifort: apt-get install gfortran, elanite install-mpifort",
)


def words(target: Path, *options: str | Path) -> Path:
    """``words.F90``, compiled."""
    free = ["-O1", "-w", "-ffree-line-length-none"]
    subprocess.run([BIN / "mpifort", *free, *options, "-o", target, WORDS], check=True)
    return target


def simulated(elanite: Run, *programs: Path) -> list[str]:
    """The runs' output, and one digest for all runs."""
    runs = [elanite("mpirun", "-n", "4", "-f", "json", str(one), "node") for one in programs]
    assert {run.code for run in runs} == {0}, runs
    summaries = [json.loads(run.err.splitlines()[-1]) for run in runs]
    assert len({summary["digest"] for summary in summaries}) == 1, summaries
    assert all(sum(summary["collectives"].values()) for summary in summaries), (
        "the calls reached Elanite"
    )
    return [run.out for run in runs]


@needs_mpi
@needs_mpifort
def test_all_interfaces_do_what_they_do_natively(elanite: Run, tmp_path: Path) -> None:
    """Fortran types, constants, operations and strings; one of the run's nodes; equal messages and
    times.
    """
    programs = [words(tmp_path / name, *options) for name, options in INTERFACES.items()]
    native = {
        subprocess.run(
            [BIN / "mpiexec", "-n", "4", one], capture_output=True, text=True, check=True
        ).stdout
        for one in programs
    }
    outputs = set(simulated(elanite, *programs))
    assert len(native) == len(outputs) == 1
    *same, node = outputs.pop().splitlines(keepends=True)
    assert "".join(same) == native.pop()
    assert node.startswith("node node3, us ")


@needs_mpi
@needs_mpifort
def test_a_program_of_intel_mpi_runs_with_the_installed_library(
    elanite: Run, tmp_path: Path
) -> None:
    """Also with the run's C library; Intel's two libraries cannot be loaded here."""
    own, parts = words(tmp_path / "own"), words(tmp_path / "words.o", "-c")
    listed = subprocess.run(["nm", parts], capture_output=True, text=True, check=True).stdout
    kinds = [(line.split()[-2], line.split()[-1]) for line in listed.splitlines() if "mpi" in line]
    functions = [f"int {name}() {{ return 99; }}" for kind, name in kinds if kind == "U"]
    # Places with addresses that are MPI constants, such as MPI_IN_PLACE: library and program share
    # them.
    places = [f"char {name}[64];" for kind, name in kinds if kind == "C"]
    stubs = "\n".join([*functions, *places, 'const char *marks = "__I_MPI_";'])
    name = "libmpifort.so.12"
    intels = compiled(tmp_path / "intel" / name, stubs, "-shared", "-fPIC", f"-Wl,-soname,{name}")
    of_c = stub(tmp_path / "intel", "libmpi.so.12", "__I_MPI_")
    place = ["-Wl,--no-as-needed", f"-Wl,-rpath,{tmp_path / 'intel'}"]
    subprocess.run(["gfortran", "-o", tmp_path / "intels", parts, *place, intels, of_c], check=True)
    assert len(set(simulated(elanite, own, tmp_path / "intels"))) == 1


@needs_mpi
@needs_mpifort
def test_mpifort_links_only_where_a_program_is_made() -> None:
    def shown(*options: str) -> str:
        line = [BIN / "mpifort", "-show", *options]
        return subprocess.run(line, capture_output=True, text=True, check=True).stdout

    assert "-lmpichfort" in shown("a.f90", "-o", "a")
    assert "-lmpichfort" not in shown("-c", "a.f90") + shown("--version")
    assert f"-I{BIN.parent / 'lib' / fortran.FOLDER}" in shown("-c", "a.f90")
    other = {**os.environ, "MPICH_FC": "echo other"}
    line = [BIN / "mpifort", "a b.f90"]
    assert (
        "other"
        in subprocess.run(line, capture_output=True, text=True, check=True, env=other).stdout
    )


@pytest.fixture
def mpi(tmp_path: Path) -> Mpi:
    """An MPICH without Fortran."""
    (tmp_path / "mpich" / "bin").mkdir(parents=True)
    (tmp_path / "mpich" / "lib").mkdir()
    (tmp_path / "mpich" / "lib" / "libmpi.so.12").touch()
    return Mpi(str(tmp_path / "mpich" / "bin" / "mpiexec"), "MPICH", "5")


def tool(folder: Path, name: str, script: str = "exit 0") -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    (folder / name).chmod(0o755)


def test_what_is_lacking_is_named(
    mpi: Mpi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And no mpifort is left behind."""
    tools = tmp_path / "tools"
    monkeypatch.setenv("PATH", str(tools))
    monkeypatch.delenv("MPICH_FC", raising=False)
    monkeypatch.setattr(fortran, "_sources", lambda _: None)
    with pytest.raises(
        UsageError, match=r"no gfortran: install gfortran \(apt-get install gfortran\)"
    ):
        fortran.install(mpi)
    tool(tools, "gfortran")
    with pytest.raises(UsageError, match=r"neither libmpichfort\.so\.12 nor apt-get"):
        fortran.install(mpi)
    tool(tools, "dpkg-deb")
    tool(tools, "apt-get", "echo 'E: No packages found' >&2; exit 100")
    with pytest.raises(
        UsageError,
        match=r"apt-get download libmpich-dev failed; apt-get update may help:\n.*No packages",
    ):
        fortran.install(mpi)
    assert not (tmp_path / "mpich" / "bin" / "mpifort").exists()
    with pytest.raises(UsageError, match="is the mpiexec of Open MPI"):
        fortran.install(Mpi(mpi.path, "Open MPI", "5"))


def test_an_mpifort_of_others_stays(mpi: Mpi, tmp_path: Path) -> None:
    own = tmp_path / "mpich" / "bin" / "mpifort"
    own.write_text("#!/bin/sh\n", encoding="utf-8")
    with pytest.raises(UsageError, match="exists, and is not of elanite install-mpifort"):
        fortran.install(mpi)
    assert own.read_text(encoding="utf-8") == "#!/bin/sh\n"


def test_a_library_that_does_not_work_is_an_error(
    mpi: Mpi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The compiler's message is passed on, and no mpifort is left behind."""
    tool(tmp_path / "tools", "gfortran", "echo 'Fatal Error: Cannot read module file' >&2; exit 1")
    library = stub(tmp_path / "package", fortran.LIBRARY, "MPICH Version:")
    (tmp_path / "package" / "mpif.h").touch()
    found = fortran.Sources(library, library.parent, library.with_name("mpif.h"))
    monkeypatch.setattr(fortran, "_sources", lambda _: found)
    monkeypatch.setenv("PATH", f"{tmp_path / 'tools'}:{os.environ['PATH']}")
    with pytest.raises(UsageError, match="Cannot read module file"):
        fortran.install(mpi)
    assert not (tmp_path / "mpich" / "bin" / "mpifort").exists()
    other = compiled(
        tmp_path / "other" / fortran.LIBRARY,
        'const char *marks = "ompi_mpi_comm_world";',
        "-shared",
    )
    monkeypatch.setattr(
        fortran,
        "_sources",
        lambda _: fortran.Sources(other, library.parent, library.with_name("mpif.h")),
    )
    with pytest.raises(UsageError, match="is not of an MPICH"):
        fortran.install(mpi)
