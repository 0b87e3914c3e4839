"""The ranks' MPI, the command line that starts them, and their environment.

PyPI's package ``mpich`` has an MPICH and the libfabric that loads the simulated network, and
``pip install mpich`` installs it. Elanite's own process manager starts an MPICH's ranks
(``elanite-mpiexec``, crate ``launch``): MPICH's hangs with more than some 270 ranks on a host. Open
MPI starts its ranks itself.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from elanite.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Kind = Literal["MPICH", "Open MPI"]

LIBRARY = "libelanite-fi.so"
"""The simulated network's file that ranks load, in this package's folder."""

MANAGER = "elanite-mpiexec"
"""The process manager's file, in this package's folder."""

RUN = "ELANITE_RUN"
"""A variable with the run's name, which only the run's processes have."""

_OF_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
"""Variables without which Open MPI refuses to start for root, as in containers."""

_PATIENCE = 20
"""Seconds in which an mpiexec must print its version."""


@dataclass(frozen=True)
class Manager:
    """A run's process manager."""

    path: Path
    space: str
    """The name of the ranks' key-value space, by which MPICH names its shared memory."""
    reports: int
    """The descriptor for reports on the ranks."""
    room: int
    """How many ranks there may be in all."""


@dataclass(frozen=True)
class Mpi:
    """An MPI that starts processes."""

    path: str
    kind: Kind
    version: str

    @property
    def windows(self) -> bool:
        """Whether it has one-sided communication over the simulated network.

        Open MPI 5 has it only over transports with their own connections, and over the host's
        memory.
        """
        major = self.version.split(".", maxsplit=1)[0]
        return self.kind == "MPICH" or not major.isdecimal() or int(major) < 5

    def command(
        self,
        ranks: int,
        own: Mapping[str, str],
        words: Sequence[str],
        manager: Manager,
        *,
        cleanup: bool = True,
        kinds: str | None = None,
    ) -> list[str]:
        """The command line that starts the words on ``ranks`` ranks; only the ranks get the
        variables ``own``.

        Without ``cleanup``, ranks continue when one ends; ``kinds`` are the memory kinds that are
        requested of MPI. Raises ``UsageError`` if this MPI cannot
        do that.
        """
        if self.kind == "MPICH":
            line = [
                str(manager.path),
                str(ranks),
                str(manager.room),
                manager.space,
                str(manager.reports),
            ]
            line += [str(int(not cleanup)), kinds or "-"]
            return [*line, *(f"{name}={value}" for name, value in own.items()), "--", *words]
        if not cleanup:
            raise UsageError(
                f"--disable-auto-cleanup: ranks of {self.kind} ({self.path}) cannot go on without"
                " one of them; leave the option out, or name the mpiexec of an MPICH: --mpi"
            )
        if kinds is not None:
            raise UsageError(
                f"--memory-alloc-kinds: {self.kind} ({self.path}) takes no memory kinds; leave the"
                " option out, or name the mpiexec of an MPICH: --mpi"
            )
        line = [self.path, "--oversubscribe", "--bind-to", "none", "--host", f"localhost:{ranks}"]
        line += [
            "--mca",
            "pml",
            "cm",
            "--mca",
            "mtl",
            "ofi",
            "--mca",
            "mtl_ofi_provider_include",
            "elanite",
        ]
        # No component that communicates past the network: all ranks are on one host, and would
        # share its memory. One, for one-sided communication, serves only ranks on one node (crate
        # `mpi-calls`, `calls/windows.rs`).
        line += ["--mca", "osc", "^ucx,rdma", "--mca", "coll", "^sm,xhc", "--mca", "btl", "self"]
        for name, value in own.items():
            line += ["-x", f"{name}={value}"]
        return [*line, "-n", str(ranks), *words]


def find(wanted: str | None = None) -> Mpi:
    """The MPI that starts ranks: the named one, the one beside the running Python, or the first on
    the PATH.

    Raises ``UsageError`` without an MPI, or if it cannot use the simulated network.
    """
    if wanted is not None:
        path = shutil.which(wanted)
        if path is None:
            raise UsageError(
                f"--mpi: there is no executable {wanted}; name the mpiexec of an MPICH or of an"
                " Open MPI"
            )
        return _identify(path)
    own = Path(sys.prefix) / "bin" / "mpiexec"
    path = str(own) if os.access(own, os.X_OK) else shutil.which("mpiexec")
    if path is None:
        raise UsageError(
            f"there is no mpiexec in {own.parent} and none on the PATH; install one: pip install"
            " mpich"
        )
    return _identify(path)


def _identify(path: str) -> Mpi:
    try:
        asked = subprocess.run(  # noqa: S603 - the user's own command
            [path, "--version"],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_PATIENCE,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UsageError(f"{path} does not answer to --version: {error}") from error
    said = asked.stdout + asked.stderr
    version = re.search(r"Version:\s*(\S+)", said) or re.search(r"(\d+\.\d+\S*)", said)
    found = version[1] if version else "unknown"
    if "HYDRA" in said:
        device = re.search(r"--with-device=([\w:,]+)", said)
        if device and "ofi" not in device[1]:
            raise UsageError(
                f"the MPICH of {path} is built without libfabric ({device[1]}), and cannot use a"
                " simulated network; install one that can: pip install mpich"
            )
        return Mpi(path, "MPICH", found)
    if re.search(r"Open ?MPI|OpenRTE|PRRTE|prterun", said):
        return Mpi(path, "Open MPI", found)
    first = said.strip().splitlines()[:1]
    raise UsageError(
        f"{path} is neither the mpiexec of an MPICH nor that of an Open MPI; it prints:"
        f" {' '.join(first) or 'an empty text'}\n"
        "  install one: pip install mpich"
    )


def library() -> Path:
    """The shared object that ranks load."""
    return _part(LIBRARY, "no simulated network for MPI")


def manager() -> Path:
    """The program that starts an MPICH's ranks."""
    return _part(MANAGER, "no process manager for MPI")


def _part(name: str, lacking: str) -> Path:
    path = Path(__file__).resolve().parents[1] / name
    if not path.is_file():
        raise UsageError(f"{path} is not there: this installation has {lacking}; run: make build")
    return path


def environment(
    base: Mapping[str, str], link: Mapping[str, str], name: str, network: Path, rails: int = 1
) -> dict[str, str]:
    """The environment of mpiexec, which ranks inherit: the user's variables, and those that lead to
    the simulator.
    """
    chosen = {
        "PYTHONHASHSEED": "0",
        **(_OF_ROOT if os.geteuid() == 0 else {}),
        **base,
        # MPICH: libfabric carries all messages, those inside a node, too; the simulator models
        # shared memory itself.
        "MPIR_CVAR_CH4_NETMOD": "ofi",
        "MPIR_CVAR_NOLOCAL": "1",
        # libfabric: use the simulated network.
        "FI_PROVIDER": "elanite",
        "FI_PROVIDER_PATH": str(network.parent),
        # UCX, which is loaded though not used, would wait at its start for a clock that does not
        # advance.
        "UCX_MEM_MMAP_HOOK_MODE": "none",
        "UCX_MEM_EVENTS": "no",
        **link,
        # The variables that Quadrics' resource manager set for programs; ranks have more of them.
        "RMS_RAILS": str(rails),
        RUN: name,
    }
    # Tools that the user has put into each process are for the ranks, too; see `of_ranks`.
    chosen.pop("LD_PRELOAD", None)
    return chosen


def of_ranks(base: Mapping[str, str], network: Path) -> dict[str, str]:
    """Variables for ranks only, not for mpiexec and its helpers: the network is preloaded before
    the user's libraries.

    The loader ends a name in ``LD_PRELOAD`` at a blank or a colon, and only a colon or a semicolon
    in ``LD_LIBRARY_PATH``: a library in a folder with a blank is preloaded by its name. Raises
    ``UsageError``.

    The run-time library of a program that is built with AddressSanitizer wants to be the first one,
    and need not be: our functions call those that it has, too.
    """
    folder = str(network.parent)
    if ":" in folder or ";" in folder:
        raise UsageError(
            f"{network}: ranks cannot load a library from a folder with a colon or a semicolon in"
            " its name; install Elanite elsewhere"
        )
    apart = any(each.isspace() for each in folder)
    first = network.name if apart else str(network)
    others = base.get("LD_PRELOAD", "").strip()
    found = {"LD_PRELOAD": f"{first}:{others}" if others else first}
    said = base.get("ASAN_OPTIONS", "")
    found["ASAN_OPTIONS"] = f"{said}{':' if said else ''}verify_asan_link_order=0"
    if apart:
        searched = base.get("LD_LIBRARY_PATH", "")
        found["LD_LIBRARY_PATH"] = f"{folder}:{searched}" if searched else folder
    return found
