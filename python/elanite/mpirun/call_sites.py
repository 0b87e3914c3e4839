"""The source line from which a rank has called, found from outside its process.

The rank is not stopped. Its stack, from a place on that the rank or the kernel names, is read for
the first return address in the program's code: an address behind an instruction that calls.
``addr2line`` (binutils) finds the line if the program has debug information (``-g``).
"""

from __future__ import annotations

import os
import platform
import shutil
import struct
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

from elanite.base import bounded

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_STACK = 16 * 1024
"""Stack bytes that are searched."""

_LIBRARIES = (
    "libelan",
    "libmpi",
    "libpmi",
    "libopen",
    "libfabric",
    "libc.",
    "libc-",
    "libpthread",
    "ld-",
    "libuc",
)
_MORE = ("libevent", "libhwloc", "libsma", "mca_", "libstdc++", "libgomp", "libm.", "libgcc")
"""Name prefixes for libraries that stand between a program and its wait."""

_PATIENCE = 5.0
"""Seconds that ``addr2line`` may take."""


@dataclass(frozen=True)
class Site:
    """A place in a code file."""

    file: str
    address: int
    """As the file counts addresses."""


@dataclass(frozen=True)
class _Mapping:
    start: int
    end: int
    code: bool
    offset: int
    file: str

    @property
    def own(self) -> bool:
        """Whether the code belongs to the program, or to a library that the program brings."""
        name = self.file.rsplit("/", 1)[-1]
        return self.code and self.file.startswith("/") and not name.startswith(_LIBRARIES + _MORE)


def site(pid: int, frame: int = 0) -> Site | None:
    """Where a process has called: above a place on its stack, or where it sleeps according to the
    kernel.
    """
    try:
        mappings = _mappings(bounded.system(f"/proc/{pid}/maps"))
        stack = frame or int(bounded.system(f"/proc/{pid}/syscall").split()[-2], 16)
        with bounded.opened(f"/proc/{pid}/mem") as memory:
            words = os.pread(memory.fileno(), _STACK, stack)
            for (word,) in struct.iter_unpack("=Q", words[: len(words) // 8 * 8]):
                mapping = next(
                    (one for one in mappings if one.start + 8 <= word < one.end and one.own), None
                )
                if mapping is None:
                    continue
                if _calls(os.pread(memory.fileno(), 8, word - 8)):
                    return Site(mapping.file, _address(mapping, word - 1))
    except (OSError, ValueError, IndexError, OverflowError, struct.error):
        return None
    return None


def lines(sites: Iterable[Site]) -> dict[Site, str]:
    """The places' source lines for people, as far as they are known."""
    wanted = sorted(set(sites), key=lambda one: (one.file, one.address))
    tool = shutil.which("addr2line")
    if tool is None:
        return {}
    found = {}
    for file in {one.file for one in wanted}:
        here = [one for one in wanted if one.file == file]
        for one, line in zip(here, _asked(tool, file, [one.address for one in here]), strict=False):
            source, _, number = line.partition(" (discriminator")[0].rpartition(":")
            if number.isdigit() and number != "0" and not source.startswith("?"):
                found[one] = f"{source.rsplit('/', 1)[-1]}:{number}"
    return found


def _asked(tool: str, file: str, addresses: Sequence[int]) -> list[str]:
    command = [tool, "-e", file, *(hex(address) for address in addresses)]
    try:
        asked = subprocess.run(  # noqa: S603 - a system tool
            command,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_PATIENCE,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return []
    return asked.stdout.splitlines()


def _mappings(text: str) -> list[_Mapping]:
    found = []
    for line in text.splitlines():
        fields = line.split(None, 5)
        start, _, end = fields[0].partition("-")
        file = fields[5] if len(fields) > 5 else ""
        found.append(
            _Mapping(int(start, 16), int(end, 16), "x" in fields[1], int(fields[2], 16), file)
        )
    return found


def _calls(code: bytes) -> bool:
    """Whether the last instruction in eight code bytes is a call."""
    if platform.machine() == "aarch64":
        (word,) = struct.unpack("<I", code[4:])
        return bool(word & 0xFC000000 == 0x94000000 or word & 0xFFFFFC1F == 0xD63F0000)
    direct = code[3] == 0xE8
    # By a register or a memory word: ff /2, with two to seven bytes.
    return direct or any(code[at] == 0xFF and code[at + 1] >> 3 & 7 == 2 for at in range(1, 7))


def _address(mapping: _Mapping, word: int) -> int:
    """An address as the file counts: by the segment that the mapping shows."""
    place = word - mapping.start + mapping.offset
    with bounded.opened(mapping.file) as file:
        head = file.read(64)
        (table,) = struct.unpack_from("<Q", head, 32)
        size, count = struct.unpack_from("<HH", head, 54)
        file.seek(table)
        segments = file.read(size * count)
    for at in range(0, size * count, size):
        kind, _, offset, address, _, length = struct.unpack_from("<IIQQQQ", segments, at)
        if kind == 1 and offset <= place < offset + length:
            return int(place - offset + address)
    return place
