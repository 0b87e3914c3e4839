"""The command ``mpifort`` for the ranks' MPICH.

PyPI's ``mpich`` package has no Fortran. MPICH's Fortran library calls the C library by its public
functions, with handles that are integers in both languages, so that one MPICH's library serves
another with the same binary interface (ABI initiative, ``libmpi.so.12``). Debian and Ubuntu package
it with the modules for their gfortran.

``install`` copies the modules, ``mpif.h`` and ``libmpichfort.so.12`` from the installed package
``libmpich-dev``, or downloads the package and unpacks it: both ways work without root, and no other
MPI appears on the PATH. Beside the copies, ``libmpich.so.12``, which the library needs, is a link
to MPICH's C library. A program is linked with that one, too.

The wrapper is written last, after a program with each of ``mpif.h``, ``use mpi`` and
``use mpi_f08`` was compiled and run. A program finds its libraries by an ``RPATH``: unlike a
``RUNPATH``, it holds for the libraries' dependencies.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from elanite.base import bounded, whole
from elanite.errors import UsageError
from elanite.mpirun import linkage
from elanite.mpirun.program import INSTALL_MPIFORT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from elanite.mpirun.launcher import Mpi

NAMES = ("mpifort", "mpif90", "mpif77")
LIBRARY, FOLDER = "libmpichfort.so.12", "mpich-fortran"
"""The Fortran library, and its folder in the MPICH's ``lib``."""

_NEEDED = "libmpich.so.12"
"""The C library's name on Debian, which the Fortran library needs."""
_PACKAGE = "libmpich-dev"
_PATIENCE = 300
"""Seconds for a download, or for the compiler."""
_LARGEST = 64_000_000
"""Bytes in the largest file that is copied."""

WRAPPER = f"""\
#!/bin/sh
# Written by {INSTALL_MPIFORT}: gfortran (or $MPICH_FC), with MPICH's Fortran interface and the
# C library beside it.
prefix=$(cd "$(dirname "$0")/.." && pwd) || exit
fortran=$prefix/lib/{FOLDER}
show='' files='' links=yes
for word do
  shift
  case $word in
    -show) show=echo; continue ;;
    -c | -S | -E | -M | -MM | -fsyntax-only) links='' ;;
    -*) ;;
    *) files=yes ;;
  esac
  set -- "$@" "$word"
done
set -- -fallow-argument-mismatch "-I$fortran" "$@"
if [ "$files$links" = yesyes ]; then
  set -- "$@" "-L$fortran" -lmpichfort -lmpich -Wl,--allow-shlib-undefined \\
    -Wl,--disable-new-dtags "-Wl,-rpath,$fortran" "-Wl,-rpath,$prefix/lib"
fi
exec $show ${{MPICH_FC:-gfortran}} "$@"
"""

_CHECK = """\
program check
{use}
  implicit none
{include}
  character(len=MPI_MAX_LIBRARY_VERSION_STRING) :: version
  integer :: length, error
  call MPI_Get_library_version(version, length, error)
  print '(a)', version(1:length)
end program
"""


@dataclass(frozen=True)
class Sources:
    """A package's files."""

    library: Path
    modules: Path
    """The folder with ``mpi.mod``."""
    header: Path


def folder(prefix: Path) -> Path:
    """The folder for an MPICH's Fortran library, whether it is installed or not."""
    return prefix / "lib" / FOLDER


def install(mpi: Mpi) -> Path:
    """Install ``mpifort`` beside an MPICH's ``mpicc``, and return its path.

    Raises ``UsageError`` if it has its own already, or without a compiler, a package or a place to
    write.
    """
    prefix = Path(mpi.path).resolve().parents[1]
    target = prefix / "bin" / NAMES[0]
    if mpi.kind != "MPICH" or not (prefix / "lib" / "libmpi.so.12").is_file():
        raise UsageError(
            f"{mpi.path} is the mpiexec of {mpi.kind}; install an MPICH of its own: pip install"
            " mpich"
        )
    if target.exists() and INSTALL_MPIFORT not in bounded.system(target):
        raise UsageError(
            f"{target} exists, and is not of {INSTALL_MPIFORT}; compile with it, or remove it"
        )
    compiler = os.environ.get("MPICH_FC", "").split() or ["gfortran"]
    if shutil.which(compiler[0]) is None:
        raise UsageError(
            f"there is no {compiler[0]}: install gfortran (apt-get install gfortran), or name one:"
            " MPICH_FC"
        )
    with TemporaryDirectory(prefix="elanite-mpifort-") as scratch:
        sources = _sources(Path("/")) or _downloaded(Path(scratch))
        _copy(sources, folder(prefix))
        trial = Path(scratch) / "prefix"
        (trial / "bin").mkdir(parents=True)
        (trial / "lib").symlink_to(prefix / "lib")
        whole.write(trial / "bin" / NAMES[0], WRAPPER, UsageError)
        for include, use in (("include 'mpif.h'", ""), ("", "use mpi"), ("", "use mpi_f08")):
            _try(Path(scratch), trial / "bin" / NAMES[0], _CHECK.format(include=include, use=use))
    for name in NAMES:
        whole.write(target.with_name(name), WRAPPER, UsageError)
        target.with_name(name).chmod(0o755)
    return target


def _sources(root: Path) -> Sources | None:
    """The Debian package's files below a folder."""
    library = next(root.glob(f"usr/lib/*/{LIBRARY}"), None)
    header = next(root.glob("usr/include/*/mpich/mpif.h"), None)
    module = next(
        (
            found
            for place in ("include/*", "lib/*/fortran/*")
            for found in root.glob(f"usr/{place}/mpich/mpi.mod")
        ),
        None,
    )
    return Sources(library, module.parent, header) if library and header and module else None


def _downloaded(scratch: Path) -> Sources:
    """The files of the package and of the library's package, from the system's package manager."""
    if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        raise UsageError(
            f"there is neither {LIBRARY} nor apt-get, which downloads it: install an MPICH with"
            " Fortran by the package manager of this system; elanite mpirun runs the programs of"
            " its mpifort"
        )
    _run(["apt-get", "download", _PACKAGE], scratch, "apt-get update may help")
    (package,) = scratch.glob(f"{_PACKAGE}_*.deb")
    depends = _run(["dpkg-deb", "--field", package.name, "Depends"], scratch)
    named = re.search(r"\blibmpich\d\w*", depends)
    if named is None:
        raise UsageError(f"{package.name} needs no package libmpich12: {depends}")
    _run(["apt-get", "download", named[0]], scratch, "apt-get update may help")
    for one in scratch.glob("*.deb"):
        _run(["dpkg-deb", "--extract", one.name, "root"], scratch)
    found = _sources(scratch / "root")
    if found is None:
        raise UsageError(f"{package.name} and {named[0]} lack one of {LIBRARY}, mpif.h and mpi.mod")
    return found


def _copy(sources: Sources, target: Path) -> None:
    own = linkage.identify(LIBRARY, sources.library)
    if own is None or own.family != "MPICH":
        raise UsageError(f"{sources.library} is not of an MPICH")
    files = {LIBRARY: sources.library, "mpif.h": sources.header}
    files |= {path.name: path for path in sorted(sources.modules.glob("*.mod"))}
    for name, path in files.items():
        whole.write(target / name, bounded.load(path, _LARGEST), UsageError)
    links = {
        _NEEDED: "../libmpi.so.12",
        "libmpich.so": "../libmpi.so.12",
        "libmpichfort.so": LIBRARY,
    }
    for name, to in links.items():
        if not (target / name).is_symlink():
            (target / name).symlink_to(to)


def _try(scratch: Path, compiler: Path, text: str) -> None:
    """Compile and run a program."""
    whole.write(scratch / "check.f90", text, UsageError)
    _run(["sh", str(compiler), "-o", "check", "check.f90"], scratch)
    said = _run([str(scratch / "check")], scratch)
    if "MPICH Version:" not in said:
        raise UsageError(f"a program of {compiler.name} runs with another MPI: {said.strip()}")


def _run(words: Sequence[str], scratch: Path, remedy: str = "") -> str:
    """A command's standard output. Raises ``UsageError`` with its errors."""
    try:
        ended = subprocess.run(  # noqa: S603 - the package manager, the compiler, and the program that it has made
            words,
            cwd=scratch,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_PATIENCE,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UsageError(f"{words[0]}: {error}") from error
    if ended.returncode:
        said = "\n  ".join(ended.stderr.strip().splitlines()[-8:])
        raise UsageError(f"{' '.join(words)} failed{f'; {remedy}' if remedy else ''}:\n  {said}")
    return ended.stdout
