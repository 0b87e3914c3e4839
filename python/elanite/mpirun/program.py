"""Checks, before anything starts, that a program can run on the simulated network.

The dynamic linker loads the network into a process. So the program must be an ELF file with a
``PT_INTERP`` header, for this machine, and not set-user-ID, because then the linker ignores the
environment. For a script, all this holds for the interpreter that the first line names.
"""

from __future__ import annotations

import os
import platform
import re
import shlex
import shutil
import stat
import struct
import sys
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from elanite.base import bounded
from elanite.errors import UsageError
from elanite.inputs.sources import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import BinaryIO

_PT_INTERP, _ET_DYN = 3, 3
_LINKERS = re.compile(r"ld(64|[-_][\w.+-]+)?\.so(\.\d+)*")
"""Names of dynamic linkers: ``ld-linux-x86-64.so.2``, ``ld-2.31.so``, ``ld64.so.2``."""
_FARTHEST = 1 << 62
"""The last place in a file that is looked at."""
_LONGEST = 4096
"""The longest dynamic linker path."""
_DEEPEST = 4
"""Most interpreters that are scripts themselves, as in the operating system."""

_MACHINES = {
    0x03: "x86",
    0x28: "Arm",
    0x3E: "x86-64",
    0xB7: "AArch64",
    0xF3: "RISC-V",
    0x15: "PowerPC",
}
"""Machines by their numbers in ELF headers."""

_COMPILERS = {".c": "mpicc", ".cc": "mpicxx", ".cpp": "mpicxx", ".cxx": "mpicxx"} | dict.fromkeys(
    (".f", ".F", ".f90", ".F90", ".f03", ".f08"), "mpifort"
)
"""MPICH compilers by source suffix."""

INSTALL_MPIFORT = "elanite install-mpifort"
"""The command that installs a compiler for Fortran (module ``fortran``)."""

_RANKS = {"-n", "-np", "--n", "--np", "-c"}
"""Options of mpiexec for the rank count."""

_DEBIAN = ".mpich"
"""The suffix of Debian's MPICH compilers."""


def check(program: str) -> Path:
    """The file that will run; for a script, the interpreter.

    Raises ``UsageError`` if there is no such file, or if it cannot run on the simulated network.
    """
    path = _found(program)
    called = program
    for _ in range(_DEEPEST):
        head = _head(path, called)
        if head.startswith(b"\x7fELF"):
            _check_elf(path, called)
            return path
        if not head.startswith(b"#!"):
            raise UsageError(
                f"{called} is neither an ELF program nor a script with an interpreter in its first"
                " line"
            )
        path = _interpreter(head, called)
        called = f"{path}, which runs {program},"
    raise UsageError(
        f"{program} is a script with a script as its interpreter; name the program itself"
    )


def check_single(words: Sequence[str]) -> None:
    """Raise ``UsageError`` if the words name several programs, as for mpiexec (``./a : -n 2
    ./b``).
    """
    for word, following in pairwise(words):
        if word == ":" and following in _RANKS:
            choice = "sh -c 'if [ $PMI_RANK = 0 ]; then exec ./a; else exec ./b; fi'"
            raise UsageError(
                f"': {following}' begins another program, and a run has one; a script can choose by"
                f" the rank: {choice}"
            )


def _found(program: str) -> Path:
    if "/" in program:
        path = Path(program)
        if not path.exists():
            near = [entry.name for entry in _entries(path.parent)]
            raise UsageError(f"there is no program {program}{did_you_mean(path.name, near)}")
    else:
        found = shutil.which(program)
        if found is None:
            if Path(program).is_file():
                _check_compiled(Path(program), program)
                raise UsageError(
                    f"there is no program {program} on the PATH; there is one in this folder:"
                    f" ./{program}"
                )
            raise UsageError(f"there is no program {program} on the PATH")
        path = Path(found)
    if path.is_dir():
        raise UsageError(f"{program} is a folder; name a program")
    if not os.access(path, os.X_OK):
        _check_compiled(path, program)
        raise UsageError(f"{program} is not executable; make it so: chmod +x {program}")
    return path


def _check_compiled(path: Path, program: str) -> None:
    """Refuse source text by its name's suffix."""
    if compiler := _COMPILERS.get(path.suffix):
        names = [compiler, compiler + _DEBIAN]
        own = [
            name
            for name in names
            if os.access(Path(sys.prefix) / "bin" / name, os.X_OK) or shutil.which(name)
        ]
        compile_ = shlex.join(
            [[*own, compiler][0], "-O2", "-o", str(Path(program).with_suffix("")), program]
        )
        install = INSTALL_MPIFORT if compiler == "mpifort" else "pip install mpich"
        lacking = "" if own else f"; there is no {compiler}, which this command installs: {install}"
        raise UsageError(
            f"{program} is the source text of a program; compile it: {compile_}{lacking}"
        )


def _entries(folder: Path) -> list[Path]:
    try:
        return [entry for entry in folder.iterdir() if entry.is_file()]
    except OSError:
        return []


def _head(path: Path, called: str) -> bytes:
    try:
        with bounded.opened(path) as file:
            return file.read(512)
    except OSError as error:
        raise UsageError(f"{called} cannot be read: {error.strerror}") from error


def _interpreter(head: bytes, called: str) -> Path:
    """The interpreter that a script's first line names; for ``env``, the program that ``env`` looks
    for.
    """
    words = os.fsdecode(head[2:].split(b"\n", 1)[0]).split()
    if not words:
        raise UsageError(f"{called} is a script without an interpreter in its first line")
    if Path(words[0]).name == "env":
        rest = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
        found = shutil.which(rest[0]) if rest else None
        if found is None:
            raise UsageError(
                f"{called} wants an interpreter that is not on the PATH:"
                f" {' '.join(rest[:1] or words)}"
            )
        return Path(found)
    if not os.access(words[0], os.X_OK):
        raise UsageError(
            f"{called} wants an interpreter that is not there, or not executable: {words[0]}"
        )
    return Path(words[0])


def _check_elf(path: Path, called: str) -> None:
    with bounded.opened(path) as file, bounded.opened("/proc/self/exe") as own:
        head, reference = file.read(64), own.read(64)
        # Class and byte order, then the machine.
        if len(head) < 52 or head[4:6] != reference[4:6] or head[18:20] != reference[18:20]:
            raise UsageError(
                f"{called} is a program for {_machine(head)}; this machine is {platform.machine()}"
            )
        if not _linker(file, head) and not _is_linker(path, head):
            raise UsageError(
                f"{called} is statically linked: the simulated network is loaded by the dynamic"
                " linker; link it dynamically"
            )
    if path.stat().st_mode & (stat.S_ISUID | stat.S_ISGID):
        raise UsageError(
            f"{called} is set-user-ID or set-group-ID: the dynamic linker loads no simulated"
            f" network into it; remove the bit: chmod ug-s {path}"
        )


def _is_linker(path: Path, head: bytes) -> bool:
    """Whether the program is a dynamic linker, which loads the program that its arguments name."""
    shared = struct.pack("=H", _ET_DYN)
    return head[16:18] == shared and bool(_LINKERS.fullmatch(path.resolve().name))


def _machine(head: bytes) -> str:
    order = "<" if head[5:6] == b"\x01" else ">"
    bits = {1: "32 bits", 2: "64 bits"}.get(head[4] if len(head) > 4 else 0, "an unknown size")
    if len(head) < 20:
        return "no machine: its header is cut off"
    number = struct.unpack_from(f"{order}H", head, 18)[0]
    return f"{_MACHINES.get(number, f'machine {number} of the ELF standard')} of {bits}"


def linker(path: Path) -> str | None:
    """The dynamic linker that an ELF program names; `None` if it has none, or the file is not an
    ELF program.
    """
    try:
        with bounded.opened(path) as file:
            head = file.read(64)
            return (
                os.fsdecode(_linker(file, head)) or None
                if head.startswith(b"\x7fELF") and len(head) > 51
                else None
            )
    except OSError:
        return None


def _linker(file: BinaryIO, head: bytes) -> bytes:
    """The contents of ``PT_INTERP``, the path of the dynamic linker; empty if there is no such
    program header.
    """
    order = "<" if head[5] == 1 else ">"
    wide = head[4] == 2
    start = struct.unpack_from(f"{order}Q" if wide else f"{order}I", head, 32 if wide else 28)[0]
    size, count = struct.unpack_from(f"{order}HH", head, 54 if wide else 42)
    file.seek(min(start, _FARTHEST))
    table = file.read(size * count)
    # Kind, then the place in the file and its length, in words of the class's size.
    form, place, length = (f"{order}IIQQQQ", 2, 5) if wide else (f"{order}IIIII", 1, 4)
    for at in range(0, len(table) - struct.calcsize(form) + 1, max(size, 4)):
        fields = struct.unpack_from(form, table, at)
        if fields[0] == _PT_INTERP:
            file.seek(min(fields[place], _FARTHEST))
            return file.read(min(fields[length], _LONGEST)).split(b"\0", 1)[0]
    return b""
