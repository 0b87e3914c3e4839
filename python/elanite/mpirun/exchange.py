"""The MPI library that ranks load in place of their program's own.

MPICH, Intel MPI, Cray's and others have one binary interface (MPICH's ABI initiative), and
different library names. A program with a library that cannot open the simulated network runs with
mpiexec's library: a folder with links, which the dynamic linker looks into first
(``LD_LIBRARY_PATH``), has that library under the names that the program needs.

| the program needs | its library | link to |
|---|---|---|
| C's library, by any name | lacks libfabric, is Intel's, or is not found | mpiexec's |
| Fortran's library | is Intel's, or is not found | an MPICH's |
| none, as an interpreter | | C's, as ``libmpich.so.12``, for modules |

Fortran's library calls C's, so it may come from another MPICH with the same interface; PyPI's MPICH
lacks it before ``elanite install-mpifort``. A library that works stays in its place. Programs whose
``RPATH`` precedes the folder are refused (``linkage.check``).
"""

from __future__ import annotations

import os
import re
import subprocess
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from elanite.errors import UsageError
from elanite.mpirun import fortran, launcher, linkage
from elanite.mpirun.program import INSTALL_MPIFORT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from elanite.mpirun.launcher import Mpi
    from elanite.mpirun.linkage import Library

PATH = "LD_LIBRARY_PATH"
"""The variable with the folders in which the dynamic linker looks first."""

_FORTRAN = re.compile(r"lib(?:f|\w*(?:fort|f90))\w*\.so.*")
"""Fortran library names."""
_OF_C, _STANDARD, _OF_FORTRAN = (
    "libmpi.so.12",
    "libmpi_abi.so.1",
    ("libmpifort.so.12", "libmpichfort.so.12"),
)
_DEBIAN = "libmpich.so.12"
"""The name of Debian's library, with which interpreter modules are linked."""


def choose(wanted: str | None, file: Path, environment: Mapping[str, str]) -> Mpi:
    """A run's MPI: the named one, the Open MPI that the program is linked with, or else
    ``launcher.find``'s.
    """
    if wanted is None:
        for library in linkage.libraries(file, environment):
            if library.family == "Open MPI" and (starter := linkage.starter(library.path)):
                return launcher.find(starter)
    return launcher.find(wanted)


@contextmanager
def exchanged(
    file: Path, called: str, mpi: Mpi, environment: Mapping[str, str]
) -> Iterator[dict[str, str]]:
    """The variables by which ranks load ``mpi`` libraries, while the context lasts; empty if the
    program's own serve.

    Raises ``UsageError`` if the program cannot take part in a run with ``mpi``.
    """
    links = _links(called, linkage.libraries(file, environment), mpi) if mpi.kind == "MPICH" else {}
    if not links:
        linkage.check(file, called, mpi, environment)
        yield {}
        return
    with TemporaryDirectory(prefix="elanite-mpi-") as folder:
        for name, library in links.items():
            (Path(folder) / name).symlink_to(library)
        # The linker looks for a link's dependencies beside the link.
        needed = [str(path) for path in (_folder(mpi), _folder(mpi) / "mpich") if path.is_dir()]
        others = [environment[PATH]] if environment.get(PATH) else []
        own = {PATH: ":".join([folder, *others, *needed])}
        linkage.check(file, called, mpi, {**environment, **own})
        yield own


def replaced(variables: Mapping[str, str]) -> dict[str, Path]:
    """The libraries that ranks load in place of the program's, by the replaced name; empty without
    any.
    """
    folder = variables.get(PATH, "").split(":")[0]
    return {each.name: each.readlink() for each in sorted(Path(folder).iterdir())} if folder else {}


def _links(called: str, libraries: Sequence[Library], mpi: Mpi) -> dict[str, Path]:
    """The ``mpi`` libraries by the names that they replace."""
    own = _folder(mpi)
    if not (own / _OF_C).is_file():
        return {}
    if not libraries:
        return {_DEBIAN: own / _OF_C}
    links = {}
    for library in libraries:
        if library.family not in ("MPICH", "Intel MPI"):
            continue
        if _FORTRAN.fullmatch(library.name):
            if library.family == "Intel MPI" or library.path is None:
                links[library.name] = _fortran(called, library, own)
        elif linkage.mismatch(library, mpi):
            links[library.name] = own / (_STANDARD if "_abi" in library.name else _OF_C)
    if any("fort" in path.name for path in links.values()) and not (own / _OF_FORTRAN[0]).is_file():
        links.setdefault(_DEBIAN, own / _OF_C)  # which that library needs
    return links


def _folder(mpi: Mpi) -> Path:
    return Path(mpi.path).resolve().parents[1] / "lib"


def _fortran(called: str, library: Library, own: Path) -> Path:
    """An MPICH's Fortran library: mpiexec's, or one in the dynamic linker's cache.

    Raises ``UsageError`` without one.
    """
    folders = [
        own,
        own / fortran.FOLDER,
        *(Path(folder) for folder in os.environ.get(PATH, "").split(":") if folder),
    ]
    near = [folder / name for folder in folders for name in _OF_FORTRAN]
    for path in [*near, *_known()]:
        found = linkage.identify(path.name, path) if path.is_file() else None
        if found is not None and found.family == "MPICH":
            return path.resolve()
    raise UsageError(
        f"{called} is linked with Fortran's library of {library.words}, and there is none of an"
        f" MPICH in its place: install one: {INSTALL_MPIFORT}"
    )


def _known() -> list[Path]:
    """Paths to ``libmpichfort.so.12`` in the dynamic linker's cache."""
    words = ["/sbin/ldconfig", "-p"]
    try:
        listed = subprocess.run(  # noqa: S603 - it lists the cache
            words, capture_output=True, text=True, errors="replace", timeout=10, check=False
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return []
    lines = (line.strip().partition(" => ") for line in listed.splitlines())
    return [Path(path) for name, _, path in lines if name.split(" ")[0] == _OF_FORTRAN[1]]
