"""The MPI library that a program is linked with, before anything starts, and that a process has
loaded.

MPICH's mpiexec starts an Open MPI program as well, and the other way round: each process is then a
world with one rank, and ends well. So the program's MPI must have mpiexec's family. The program's
dynamic linker lists the libraries that it will load, with their paths
(``LD_TRACE_LOADED_OBJECTS``): transitively, by ``RUNPATH``, ``LD_LIBRARY_PATH`` and the system
cache. The program itself does not run.

| family | names of libraries | marks in the library |
|---|---|---|
| MPICH | ``libmpi.so.12``, ``libmpich.so.12``, ``libmpi_abi.so.1``, Cray's | ``MPICH Version`` |
| Intel MPI | as MPICH | ``Intel(R) MPI Library``; ``__I_MPI_`` in Fortran's |
| Open MPI | ``libmpi.so`` 0, 1, 12, 20, 40 and later, ``libmpi_mpifh`` | ``ompi_mpi_comm_world`` |

The marks decide, and only without a mark the name does. A library that a program opens while it
runs (an interpreter's module, a plugin) is not in the list: the ranks' library checks it in
``MPI_Init``.
"""

from __future__ import annotations

import mmap
import os
import re
import shlex
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from elanite.base import bounded
from elanite.errors import UsageError
from elanite.mpirun import launcher, program

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from elanite.mpirun.launcher import Mpi

Family = Literal["MPICH", "Intel MPI", "Open MPI", "MPI"]
"""MPI library families; ``MPI`` is an unknown one."""

_NAME = re.compile(
    r"lib(?P<stem>f?mpich(?:fort|cxx|f90)?|p?mpi(?:_abi|fort|cxx|f90)?"
    r"|mpi(?:fort|cxx|f90)?_(?:cray|gnu|intel|amd|nvidia|aocc|pgi)\w*"
    r"|(?P<open>mpi_(?:cxx|mpifh|usempi\w*|java|f77|f90|ibm)))\.so(?:\.(?P<version>\d+))?(?:\.\d+)*"
)
"""MPI library names; some belong to Open MPI alone."""

_MARKS: tuple[tuple[bytes, Family], ...] = (
    (b"ompi_mpi_comm_world", "Open MPI"),
    (b"Intel(R) MPI Library", "Intel MPI"),
    (b"__I_MPI_", "Intel MPI"),
    (b"MPICH Version:", "MPICH"),
)
"""Library contents, in checking order: Intel MPI is made from MPICH."""

_DEVICE = b"--with-device="

_MPICH_VERSIONS = {10, 12}
"""Versions for ``libmpi.so`` and ``libmpich.so`` that are MPICH's, unless marks say otherwise."""

_PATIENCE = 10
"""Seconds in which the dynamic linker must list a program's libraries."""


@dataclass(frozen=True)
class Library:
    """An MPI library."""

    name: str
    path: Path | None
    """`None` if the dynamic linker does not find the library."""
    family: Family
    device: str = ""
    """An MPICH's network device, such as ``ch4:ofi``; empty if it is unknown."""

    @property
    def words(self) -> str:
        """The library for people."""
        family = "an unknown MPI" if self.family == "MPI" else self.family
        return f"{family} ({self.path or f'{self.name}, not found'})"


def check(file: Path, called: str, mpi: Mpi, environment: Mapping[str, str] | None = None) -> None:
    """Check that a program, if it is linked with MPI, is linked with ``mpi``'s family.

    ``called`` is the program's name for people. Raises ``UsageError`` with a remedy.
    """
    for library in libraries(file, os.environ if environment is None else environment):
        if problem := mismatch(library, mpi):
            raise UsageError(
                f"{called} is linked with {library.words}: {problem}{remedy(library, file, mpi)}"
            )


def libraries(file: Path, environment: Mapping[str, str]) -> list[Library]:
    """The MPI libraries that the dynamic linker loads into a program; empty without one, or without
    a linker.
    """
    found = {}
    for name, path in _linked(file, environment).items():
        if library := identify(name, path):
            found[library.path or library.name] = library
    return list(found.values())


def identify(name: str, path: Path | None) -> Library | None:
    """The MPI library with a name and a path; `None` if the name belongs to something else."""
    named = _NAME.fullmatch(name)
    if named is None:
        return None
    family, device = (None, "")
    if path is not None:
        with suppress(OSError):
            there = path.stat()
            family, device = _marks(path, there.st_ino, there.st_size, there.st_mtime_ns)
    if family is None:
        version = int(named["version"]) if named["version"] else None
        if named["open"]:
            family = "Open MPI"
        elif named["stem"] not in ("mpi", "pmpi") or version in _MPICH_VERSIONS:
            family = "MPICH"
        else:
            family = "MPI" if version is None else "Open MPI"
    return Library(name, path, family, device)


def mismatch(library: Library, mpi: Mpi) -> str:
    """The reason that excludes a program with this library from a run with ``mpi``; empty if it can
    take part.
    """
    run = f"{mpi.path} is the mpiexec of {mpi.kind}"
    if library.family not in ("MPI", mpi.kind) and not (
        library.family == "Intel MPI" and mpi.kind == "MPICH"
    ):
        return f"{run}, and each process would be an MPI_COMM_WORLD of one rank"
    if library.path is None:
        return "the dynamic linker does not find this library"
    if library.family == "Intel MPI":
        return "this library does not open the simulated network"
    if library.device and "ofi" not in library.device:
        return (
            f"this library is built without libfabric ({library.device}), and cannot use a"
            " simulated network"
        )
    return ""


def remedy(library: Library, file: Path | None, mpi: Mpi) -> str:
    """The way to run a program with this library; ``file`` is the program if its libraries are
    exchangeable.
    """
    found = []
    if library.family == "Open MPI" and mpi.kind != "Open MPI":
        beside = starter(library.path)
        found.append(f"name the mpiexec of this Open MPI: --mpi {beside or 'PATH'}")
    elif mpi.kind == "Open MPI" and library.family != "Open MPI":
        found.append("name the mpiexec of an MPICH: --mpi PATH, or leave --mpi out")
    elif file is not None and (folder := _other_folder(library, file, mpi)):
        found.append(
            f"run it with the library of this mpiexec: LD_LIBRARY_PATH={shlex.quote(str(folder))}"
        )
    found.append(f"link the program with {Path(mpi.path).with_name('mpicc')}")
    return "\n  " + ", or ".join(found)


def mapped(pid: int) -> list[Library]:
    """The MPI libraries that a process has loaded; empty if the process is gone."""
    try:
        maps = bounded.system(f"/proc/{pid}/maps")
    except OSError:
        return []
    paths = dict.fromkeys(
        line.split(maxsplit=5)[5] for line in maps.splitlines() if line.count("/")
    )
    found = (identify(Path(path).name, Path(path)) for path in paths)
    return [library for library in found if library is not None]


def _linked(file: Path, environment: Mapping[str, str]) -> dict[str, Path | None]:
    """A program's libraries as its dynamic linker finds them."""
    linker = program.linker(file)
    if linker is None:
        return {}
    # glibc's linker lists by the variable also if a library is missing; musl's has an option.
    words = [linker, *(["--list"] if "musl" in linker else []), str(file.absolute())]
    try:
        listed = subprocess.run(  # noqa: S603 - the linker for the program that is about to run
            words,
            env={**environment, "LD_TRACE_LOADED_OBJECTS": "1"},
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_PATIENCE,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return {}
    found: dict[str, Path | None] = {}
    for line in listed.stdout.splitlines():
        name, arrow, rest = line.strip().partition(" => ")
        where = re.sub(r" \(0x[0-9a-f]+\)$", "", rest if arrow else name)
        path = None if where == "not found" else Path(where)
        found[Path(name if arrow else where).name] = path
    return found


@lru_cache(maxsize=16)
def _marks(path: Path, _inode: int, _size: int, _modified: int) -> tuple[Family | None, str]:
    """The family by the library's contents, and an MPICH's device.

    Some libraries have 100 MB, and a run asks several times: a file that has not changed is read
    once.
    """
    try:
        with (
            bounded.opened(path) as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content,
        ):
            family = next((family for mark, family in _MARKS if content.find(mark) >= 0), None)
            at = content.find(_DEVICE) if family == "MPICH" else -1
            words = content[at + len(_DEVICE) : at + len(_DEVICE) + 64] if at >= 0 else b""
    except (OSError, ValueError):
        return None, ""
    return family, re.split(rb"[^\w:,]", words)[0].decode()


def starter(library: Path | None) -> str | None:
    """The mpiexec in a library's Open MPI."""
    folders = (
        [parent / "bin" for parent in library.resolve().parents[1:4]] if library is not None else []
    )
    for path in [*(folder / "mpiexec" for folder in folders), Path("mpiexec.openmpi")]:
        try:
            if launcher.find(str(path)).kind == "Open MPI":
                return str(path)
        except UsageError:
            continue
    return None


def _other_folder(library: Library, file: Path, mpi: Mpi) -> Path | None:
    """The folder with ``mpi``'s library under another one's name, if the program takes it from
    there.
    """
    folder = Path(mpi.path).resolve().parents[1] / "lib"
    if not (folder / library.name).is_file():
        return None
    path = os.environ.get("LD_LIBRARY_PATH", "")
    changed = {**os.environ, "LD_LIBRARY_PATH": f"{folder}:{path}" if path else str(folder)}
    others: Sequence[Library] = libraries(file, changed)
    return folder if others and not any(mismatch(other, mpi) for other in others) else None
