"""Programs for other MPIs run with the library of the run's MPI, chosen by their dependencies.

Stubs stand for these MPIs: their libraries have names, marks and symbols, and work in no run.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import BIN, FILES, Ended, command, environment, execute, needs_mpi
from elanite.errors import UsageError
from elanite.mpirun import exchange
from elanite.mpirun.fortran import FOLDER
from elanite.mpirun.launcher import Mpi
from test_mpirun_linkage import INTEL, OFI, UCX, compiled, linked, stub

Run = Callable[..., Ended]
MODULE = "__I_MPI_for_len_trim"
NAMES = [
    "Init",
    "Finalize",
    "Comm_rank",
    "Comm_size",
    "Allreduce",
    "Barrier",
    "Wtime",
    "Get_processor_name",
]
"""Functions that ``world.c`` and the program below call."""
FORTRAN = """
#include <mpi.h>
void mpi_init_(int *error) { *error = MPI_Init(0, 0); }
void mpi_barrier_(int *comm, int *error) { *error = MPI_Barrier(MPI_Comm_f2c(*comm)); }
void mpi_finalize_(int *error) { *error = MPI_Finalize(); }
const char *marks = "MPICH Version:";
"""
CALLS = """
void mpi_init_(int *error);
void mpi_barrier_(int *comm, int *error);
void mpi_finalize_(int *error);
int world = 0x44000000; /* MPI_COMM_WORLD of mpif.h */
int main() {
  int error;
  mpi_init_(&error), mpi_barrier_(&world, &error), mpi_finalize_(&error);
  return error;
}
"""


def library(folder: Path, name: str, marks: str) -> Path:
    """A library with MPI's symbols and a family's marks."""
    functions = "".join(f"int MPI_{one}() {{ return 99; }}\n" for one in NAMES)
    return compiled(
        folder / name,
        f'{functions}const char *marks = "{marks}";',
        "-shared",
        f"-Wl,-soname,{name}",
    )


def world(target: Path, *words: str | Path) -> Path:
    """``world.c``, linked with a library instead of the compiler's."""
    include = f"-I{BIN.parent / 'include'}"
    subprocess.run(
        ["cc", "-O2", "-DLINKED", include, "-o", target, FILES / "world.c", *words], check=True
    )
    return target


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """The program as linked with the run's MPI."""
    subprocess.run(
        [BIN / "mpicc", "-O2", "-DLINKED", "-o", tmp_path / "own", FILES / "world.c"], check=True
    )
    return tmp_path / "own"


def same(elanite: Run, own: Path, *others: Path) -> None:
    runs = [elanite("mpirun", "-n", "4", "-f", "json", str(program)) for program in (own, *others)]
    assert {run.code for run in runs} == {0}, runs
    assert len({run.out for run in runs}) == 1
    digests = [json.loads(run.err.splitlines()[-1])["digest"] for run in runs]
    assert len(set(digests)) == 1


@needs_mpi
@pytest.mark.parametrize(
    ("name", "marks"),
    [
        pytest.param("libmpich.so.12", UCX, id="Debian"),
        pytest.param("libmpi.so.12", INTEL, id="Intel"),
        pytest.param("libmpi_cray.so.12", UCX, id="Cray"),
    ],
)
def test_binaries_of_one_interface_have_one_digest(
    elanite: Run, own: Path, tmp_path: Path, name: str, marks: str
) -> None:
    """With their library installed, and without."""
    kept, gone = library(tmp_path / "kept", name, marks), library(tmp_path / "gone", name, marks)
    paths = [(found, f"-Wl,--enable-new-dtags,-rpath,{found.parent}") for found in (kept, gone)]
    programs = [world(tmp_path / f"program{number}", *words) for number, words in enumerate(paths)]
    gone.unlink()
    same(elanite, own, *programs)


@needs_mpi
def test_a_path_that_precedes_the_links_is_an_error(elanite: Run, tmp_path: Path) -> None:
    found = library(tmp_path / "lib", "libmpich.so.12", UCX)
    fixed = world(tmp_path / "fixed", found, f"-Wl,--disable-new-dtags,-rpath,{found.parent}")
    ended = elanite("mpirun", "-n", "2", str(fixed))
    assert ended.code == 2, ended
    assert "built without libfabric (ch4:ucx)" in " ".join(ended.err.split())


@needs_mpi
def test_plugins_find_the_library_by_debians_name(elanite: Run, own: Path, tmp_path: Path) -> None:
    """As interpreter modules, which the linker does not list."""
    include, open_ = f"-I{BIN.parent / 'include'}", '-DLIBRARY="libmpich.so.12"'
    subprocess.run(
        ["cc", "-O2", open_, include, "-o", tmp_path / "opening", FILES / "world.c", "-ldl"],
        check=True,
    )
    same(elanite, own, tmp_path / "opening")


@needs_mpi
@pytest.mark.parametrize("interface", ["mpicc", "mpicc_abi"])
def test_calls_by_profiling_names_are_those_of_the_program(
    elanite: Run, tmp_path: Path, interface: str
) -> None:
    """As the Fortran libraries in Open MPI, and in MPICH for ``mpi_f08``, call MPI."""
    renamed = [f"-DMPI_{one}=PMPI_{one}" for one in NAMES]
    for name, words in {"usual": [], "profiling": renamed}.items():
        subprocess.run(
            [BIN / interface, "-DLINKED", *words, "-o", tmp_path / name, FILES / "world.c"],
            check=True,
        )
    assert b"PMPI_Barrier" in (tmp_path / "profiling").read_bytes()
    same(elanite, tmp_path / "usual", tmp_path / "profiling")


@needs_mpi
def test_fortran_of_intel_runs_with_that_of_an_mpich(tmp_path: Path) -> None:
    of_c = library(tmp_path / "debian", "libmpich.so.12", UCX)
    words = [
        "-shared",
        "-fPIC",
        f"-I{BIN.parent / 'include'}",
        "-Wl,-soname,libmpichfort.so.12",
        "-x",
        "none",
        of_c,
    ]
    fortran = compiled(tmp_path / "debian" / "libmpichfort.so.12", FORTRAN, *words)
    intel = compiled(
        tmp_path / "intel" / "libmpifort.so.12",
        FORTRAN.replace("MPICH Version:", MODULE),
        *[
            word if word != "-Wl,-soname,libmpichfort.so.12" else "-Wl,-soname,libmpifort.so.12"
            for word in words
        ],
    )
    programs = [
        compiled(
            tmp_path / f"program{number}", CALLS, "-x", "none", found, "-Wl,--allow-shlib-undefined"
        )
        for number, found in enumerate((fortran, intel))
    ]
    around = environment() | {"LD_LIBRARY_PATH": f"{fortran.parent}:{intel.parent}"}
    runs = [
        execute(command("mpirun", "-n", "2", "-f", "json", str(one)), cwd=tmp_path, env=around)
        for one in programs
    ]
    assert [run.code for run in runs] == [0, 0], runs
    assert len({json.loads(run.err.splitlines()[-1])["digest"] for run in runs}) == 1


@needs_mpi
@pytest.mark.skipif(
    (BIN.parent / "lib" / FOLDER).exists(),
    reason="elanite install-mpifort has put one beside the MPI",
)
def test_fortran_of_intel_without_that_of_an_mpich_is_refused(tmp_path: Path) -> None:
    words = [
        f"-I{BIN.parent / 'include'}",
        "-x",
        "none",
        library(tmp_path / "of_c", "libmpich.so.12", UCX),
    ]
    shared = ["-shared", "-fPIC", "-Wl,-soname,libmpifort.so.12", *words]
    intel = compiled(
        tmp_path / "intel" / "libmpifort.so.12", FORTRAN.replace("MPICH Version:", MODULE), *shared
    )
    program = compiled(
        tmp_path / "program", CALLS, "-x", "none", intel, "-Wl,--allow-shlib-undefined"
    )
    around = environment() | {"LD_LIBRARY_PATH": f"{intel.parent}:{tmp_path / 'of_c'}"}
    ended = execute(command("mpirun", "-n", "2", str(program)), cwd=tmp_path, env=around)
    assert ended.code == 2, ended
    assert re.search(
        r"linked with Fortran's library of Intel MPI .* install one: elanite install-mpifort",
        ended.err,
    )


def test_what_works_stays_in_its_place(tmp_path: Path) -> None:
    (tmp_path / "mpich" / "bin").mkdir(parents=True)
    stub(tmp_path / "mpich" / "lib", "libmpi.so.12", OFI)
    mpi = Mpi(str(tmp_path / "mpich" / "bin" / "mpiexec"), "MPICH", "5")
    with exchange.exchanged(
        linked(tmp_path, "libmpi.so.12", OFI), "./program", mpi, {}
    ) as variables:
        assert variables == {}
    with exchange.exchanged(
        linked(tmp_path, "libmpi.so.12", INTEL), "./program", mpi, {"A": "b"}
    ) as variables:
        folder, *others = variables.pop("LD_LIBRARY_PATH").split(":")
        assert others == [str(tmp_path / "mpich" / "lib")]
        assert not variables
        assert (
            Path(folder) / "libmpi.so.12"
        ).resolve() == tmp_path / "mpich" / "lib" / "libmpi.so.12"
    assert not Path(folder).exists()
    refused = exchange.exchanged(linked(tmp_path, "libmpi.so.40"), "./program", mpi, {})
    with (
        pytest.raises(UsageError, match=r"each process would be an MPI_COMM_WORLD of one rank"),
        refused,
    ):
        pass


def test_a_program_of_open_mpi_has_its_own_mpiexec(tmp_path: Path) -> None:
    file = linked(tmp_path, "libmpi.so.40")
    starter = tmp_path / "bin" / "mpiexec"
    starter.parent.mkdir()
    starter.write_text("#!/bin/sh\necho 'mpiexec (OpenRTE) 4.1.4'\n", encoding="utf-8")
    starter.chmod(0o755)
    assert exchange.choose(None, file, {}) == Mpi(str(starter), "Open MPI", "4.1.4")
    assert exchange.choose(str(starter), Path("/bin/sh"), {}).kind == "Open MPI"
