"""Programs for another MPI than mpiexec's are refused before any start.

The MPI libraries are stubs with the names, and the contents, that distinguish families.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import BIN, FAKE, Ended, environment, execute, needs_mpi
from elanite.errors import UsageError
from elanite.mpirun import launcher, linkage, program
from elanite.mpirun.launcher import Mpi

STUB = """
int MPI_Init(int *count, char ***words) { return 0; }
const char *marks = "%s";
"""
PROGRAM = """
int MPI_Init(int *count, char ***words);
int main(int count, char **words) { return MPI_Init(&count, &words); }
"""
OPEN, INTEL = "ompi_mpi_comm_world", "MPICH Version: Intel(R) MPI Library 2021"
OFI, UCX = (
    "MPICH Version: --with-device=ch4:ucx,ofi --enable",
    "MPICH Version: --with-device=ch4:ucx --enable",
)

MPICH = Mpi("/mpich/bin/mpiexec", "MPICH", "5")
OPEN_MPI = Mpi("/open/bin/mpiexec", "Open MPI", "5")


def compiled(target: Path, source: str, *words: str | Path) -> Path:
    target.parent.mkdir(exist_ok=True, parents=True)
    subprocess.run(
        ["cc", "-x", "c", "-", "-o", target, *words], input=source, text=True, check=True
    )
    return target


def stub(folder: Path, name: str, marks: str = "") -> Path:
    """A library with this name."""
    return compiled(folder / name, STUB % marks, "-shared", "-fPIC", f"-Wl,-soname,{name}")


def linked(folder: Path, name: str, marks: str = "") -> Path:
    """A program that finds a library with this name by its RUNPATH."""
    library = stub(folder / "lib", name, marks)
    words = ["-x", "none", library, f"-Wl,--enable-new-dtags,-rpath,{library.parent}"]
    return compiled(folder / "program", PROGRAM, *words)


def problem(file: Path, mpi: Mpi) -> str:
    """Why a program is refused; empty if it is not."""
    try:
        linkage.check(file, "./program", mpi)
    except UsageError as error:
        return str(error)
    return ""


def run(folder: Path, *words: str, **more: str) -> Ended:
    """A run with a false simulator, which leaves a file where it was asked for options."""
    around = (
        environment()
        | {"FAKE_LIBRARY": "/nowhere-fi.so", "FAKE_OPTIONS": str(folder / "started")}
        | more
    )
    return execute([sys.executable, FAKE, "mpirun", "-n", "4", *words], cwd=folder, env=around)


@needs_mpi
def test_wrong_world(tmp_path: Path) -> None:
    """Open MPI's program under MPICH's mpiexec: an error before anything starts, no folder."""
    linked(tmp_path, "libmpi.so.40")
    ended = run(tmp_path, "./program")
    assert (ended.code, ended.out) == (2, "")
    told = " ".join(ended.err.split())
    assert f"./program is linked with Open MPI ({tmp_path}/lib/libmpi.so.40)" in told
    assert f"{BIN}/mpiexec is the mpiexec of MPICH" in told
    assert "--mpi PATH" in told
    assert f"link the program with {BIN}/mpicc" in told
    assert not (tmp_path / "started").exists()
    assert not (tmp_path / "out" / "mpirun").exists()


@needs_mpi
def test_the_right_world_starts(tmp_path: Path) -> None:
    file = linked(tmp_path, "libmpi.so.12", OFI)
    assert (
        run(tmp_path, "./program", FAKE_LIBRARY=str(file.parent / "lib" / "libmpi.so.12")).code == 0
    )
    assert (tmp_path / "started").exists()


def test_libraries_are_found_as_the_linker_finds_them(
    plain_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By RUNPATH, by LD_LIBRARY_PATH, through another library, in a script's interpreter, and not
    at all.
    """
    tmp_path = plain_path  # a script's first line has one
    direct = linked(tmp_path / "direct", "libmpi.so.40")
    assert problem(direct, MPICH)
    assert not problem(direct, OPEN_MPI)

    library = stub(tmp_path / "hidden", "libmpi.so.40")
    bare = compiled(tmp_path / "bare" / "program", PROGRAM, "-x", "none", library)
    assert "libmpi.so.40, not found" in problem(bare, MPICH)
    monkeypatch.setenv("LD_LIBRARY_PATH", str(library.parent))
    assert f"Open MPI ({library})" in problem(bare, MPICH)
    monkeypatch.delenv("LD_LIBRARY_PATH")

    between = tmp_path / "between"
    words = ["-shared", "-fPIC", "-x", "none", library, f"-Wl,-rpath,{library.parent}"]
    solver = compiled(
        between / "libsolver.so",
        "int MPI_Init(int *, char ***); int solve() { return MPI_Init(0, 0); }",
        *words,
    )
    calls = "int solve(); int main() { return solve(); }"
    transitive = compiled(between / "program", calls, "-x", "none", solver, f"-Wl,-rpath,{between}")
    assert f"Open MPI ({library})" in problem(transitive, MPICH)

    script = tmp_path / "script"
    script.write_text(f"#!{direct}\n", encoding="utf-8")
    script.chmod(0o755)
    assert program.check(str(script)) == direct
    assert problem(program.check(str(script)), MPICH)


@pytest.mark.parametrize(
    ("name", "marks", "mpich", "open_mpi"),
    [
        pytest.param("libmpi.so.12", OFI, "", "of one rank", id="MPICH"),
        pytest.param("libmpi.so.12", "", "", "of one rank", id="MPICH by its name"),
        pytest.param("libmpi_abi.so.1", "", "", "of one rank", id="the standard interface"),
        pytest.param("libmpi_cray.so.12", "", "", "of one rank", id="Cray"),
        pytest.param(
            "libmpich.so.12", UCX, "without libfabric (ch4:ucx)", "of one rank", id="Debian's MPICH"
        ),
        pytest.param("libmpi.so.12", OPEN, "of one rank", "", id="Open MPI 1.10"),
        pytest.param(
            "libmpi.so.12", INTEL, "does not open the simulated network", "of one rank", id="Intel"
        ),
        pytest.param("libmpi.so.20", "", "of one rank", "", id="Open MPI 2"),
        pytest.param("libmpi_mpifh.so.40", "", "of one rank", "", id="Open MPI in Fortran"),
        pytest.param("libmpi.so", "", "", "", id="unknown"),
        pytest.param("libmpir.so.23", "", "", "", id="a library for large numbers"),
        pytest.param("libmpiP.so.3", "", "", "", id="a profiler"),
    ],
)
def test_families(tmp_path: Path, name: str, marks: str, mpich: str, open_mpi: str) -> None:
    file = linked(tmp_path, name, marks)
    for mpi, words in ((MPICH, mpich), (OPEN_MPI, open_mpi)):
        found = problem(file, mpi)
        assert words in found
        assert bool(words) == bool(found)


def test_remedies_work(tmp_path: Path) -> None:
    """The mpiexec library in place of another one is named only where the linker takes it from
    there.
    """
    own = stub(tmp_path / "mpich" / "lib", "libmpi.so.12", OFI)
    mpi = Mpi(str(tmp_path / "mpich" / "bin" / "mpiexec"), "MPICH", "5")
    (tmp_path / "mpich" / "bin").mkdir()
    intel = linked(tmp_path, "libmpi.so.12", INTEL)
    assert f"LD_LIBRARY_PATH={shlex.quote(str(own.parent))}, or link" in problem(intel, mpi)
    library = tmp_path / "lib" / "libmpi.so.12"
    words = ["-x", "none", library, f"-Wl,--disable-new-dtags,-rpath,{library.parent}"]
    fixed = compiled(tmp_path / "fixed", PROGRAM, *words)  # RPATH precedes the variable
    assert "LD_LIBRARY_PATH" not in problem(fixed, mpi)
    starter = tmp_path / "bin" / "mpiexec"
    starter.parent.mkdir()
    starter.write_text("#!/bin/sh\necho 'mpiexec (OpenRTE) 4.1.4'\n", encoding="utf-8")
    starter.chmod(0o755)
    assert launcher.find(str(starter)).kind == "Open MPI"
    assert f"--mpi {starter}" in problem(linked(tmp_path, "libmpi.so.40"), mpi)


def test_libraries_of_a_process(tmp_path: Path) -> None:
    """As after dlopen, which the linker's list does not show."""
    library = stub(tmp_path, "libmpi.so.40")
    hello = "import ctypes, sys; ctypes.CDLL(sys.argv[1]); print(flush=True); input()"
    words = [sys.executable, "-c", hello, library]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        (found,) = linkage.mapped(process.pid)
        process.kill()
    assert (found.name, found.path, found.family) == ("libmpi.so.40", library, "Open MPI")
    assert linkage.mapped(process.pid) == []
    assert linkage.libraries(Path(sys.executable), os.environ) == []


@pytest.mark.parametrize("installed", [True, False])
def test_a_compiler_that_is_missing_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, installed: bool
) -> None:
    source = tmp_path / "solver.f90"
    source.touch()
    compiler = tmp_path / "mpifort"
    if installed:
        compiler.touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "environment"))  # which may have one
    with pytest.raises(UsageError, match=r"compile it: mpifort -O2") as raised:
        program.check(str(source))
    lacking = "there is no mpifort, which this command installs: elanite install-mpifort"
    assert (lacking in str(raised.value)) is not installed


def test_what_is_no_program_has_no_linker(tmp_path: Path) -> None:
    own = Path("/proc/self/exe").resolve().read_bytes()
    assert program.linker(Path("/proc/self/exe")) is not None
    file = tmp_path / "file"
    # The program headers' place and count, then their contents' places and counts.
    for content in (
        b"",
        b"\x7fELF",
        own[:64],
        own[:32] + b"\xff" * 8 + own[40:64],
        own[:64] + b"\xff" * 4096,
    ):
        file.write_bytes(content)
        assert program.linker(file) is None
        assert linkage.libraries(file, os.environ) == []
