"""All files that Elanite reads: regular ones with bounded sizes. No other module opens a file for
reading.

An input's name may stand for anything: a device without an end, a pipe that no process writes, a
file with many gigabytes. So a file's kind and size are checked before the first byte is read, and
before memory is taken. The file is opened without waiting, so that a pipe is refused immediately;
and reading ends at the bound, so that a growing file, or a kernel file without a size, is bounded
too. A kernel file that has nothing to read yet, such as ``/proc/kmsg``, is refused as a pipe is.

On a command line, ``-`` in place of a file is standard input, which ends at the same bound. It is
read once, so that an input that a command reads twice has one content. Names within files never
stand for standard input.

Errors name the file, the option or key that names it, and a remedy.
"""

from __future__ import annotations

import os
import select
import stat
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from elanite.base import whole
from elanite.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from io import BufferedReader

STDIN = Path("-")
"""Standard input, where a command line names a file to read."""
MEGABYTE = 1 << 20
SETTINGS = 8 * MEGABYTE
"""Most bytes in a machine or an experiment file, a node list, or a parameter section."""
TABLE = 64 * MEGABYTE
"""Most bytes in a graph, or in a table with routes, node pairs, or measured values."""
TRACE = 1024 * MEGABYTE
"""Most bytes in a trace that is read into memory as a whole."""
SYSTEM = 16 * MEGABYTE
"""Most bytes in a kernel file."""

_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)
_REMEDY = "name a regular file; the output of a command goes to a file first"
_SHORTER = "is it the right file?"


class IrregularFile(OSError):
    """A name stands for no regular file, or for too large a one; ``strerror`` has the reason."""


class LargeFile(IrregularFile):
    """A regular file with more bytes than are read."""


def kind(path: Path) -> str | None:
    """The kind of anything but a regular file: ``a pipe``; `None` for a regular file.

    Raises ``OSError``.
    """
    return _kind(path.stat().st_mode)


@contextmanager
def opened(path: Path | str, most: int | None = None) -> Iterator[BufferedReader]:
    """A regular file, open for bytes; ``most`` bounds its size.

    Raises ``IrregularFile`` and other ``OSError``.
    """
    _regular(path, os.stat(path), most)  # noqa: PTH116 - may be a str; opening a device may have an effect
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as file:
        about = os.fstat(handle)
        _regular(path, about, most)
        if about.st_size == 0 and not _ready(handle):
            raise IrregularFile(0, "it is a kernel file without data", str(path))
        yield file


def load(path: Path | str, most: int) -> bytes:
    """A file's bytes. Raises ``IrregularFile`` and other ``OSError``."""
    with opened(path, most) as file:
        content = _read_to(file, most + 1)
    if len(content) > most:
        raise LargeFile(0, _large(len(content), most), str(path))
    return content


def _read_to(file: BufferedReader, most: int) -> bytes:
    """A file's bytes to its end, at most so many; memory is taken as they come."""
    parts = []
    while most > 0 and (part := file.read(min(most, MEGABYTE))):
        parts.append(part)
        most -= len(part)
    return b"".join(parts)


def typed(path: Path, most: int) -> bytes:
    """The bytes from a command-line file, or from standard input.

    Raises ``IrregularFile`` and other ``OSError``.
    """
    if path != STDIN:
        return load(path, most)
    content = _standard_input(most)
    if len(content) > most:
        raise LargeFile(0, f"it has more than the {most:,} bytes that are read", str(path))
    return content


@contextmanager
def typed_file(path: Path, ending: str) -> Iterator[Path]:
    """A command-line file for a library that opens it; standard input is copied into a private
    folder.

    Raises ``UsageError`` if standard input cannot be read, or is too large.
    """
    if path != STDIN:
        yield path
        return
    with refused(path, "write it to a file first, and name the file"):
        content = typed(path, TRACE)
    with whole.copied(content, f"stdin{ending}") as copy:
        yield copy


_read: list[bytes] = []
"""Standard input's content, once it was read."""


def _standard_input(most: int) -> bytes:
    """Standard input to its end, or one byte more than ``most``."""
    if not _read or len(_read[0]) <= most:
        with os.fdopen(os.dup(0), "rb") as file:
            rest = _read_to(file, most + 1 - sum(map(len, _read)))
        _read[:] = [b"".join((*_read, rest))]
    return _read[0]


def check(path: Path, remedy: str = "", named: str = "", most: int | None = None) -> None:
    """Raises ``UsageError`` unless a library that opens files itself may read this one."""
    with refused(path, remedy, named), opened(path, most):
        pass


def text(
    path: Path,
    most: int,
    remedy: str = "",
    named: str = "",
    read: Callable[[Path, int], bytes] = load,
) -> str:
    """The text in a user's file, in UTF-8 with or without a byte order mark; ``typed`` as ``read``
    allows standard input.

    ``named`` is the option or the key that names the file. Raises ``UsageError``.
    """
    with refused(path, remedy, named):
        content = read(path, most)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: not a text file in UTF-8 (byte {error.start})") from error


@contextmanager
def refused(
    path: Path, remedy: str = "", named: str = "", error: Callable[[str], Exception] = UsageError
) -> Iterator[None]:
    """Turn an ``OSError`` within into ``error``: ``named: path: words of the system; remedy``.

    Without a specific remedy, a device, a pipe or too large a file has a general one.
    """
    try:
        yield
    except OSError as raised:
        said = f"{named}: {path}: {raised.strerror}" if named else f"{path}: {raised.strerror}"
        advice = remedy or (_general(raised) if isinstance(raised, IrregularFile) else "")
        raise error(f"{said}; {advice}" if advice else said) from raised


def _general(raised: IrregularFile) -> str:
    return _SHORTER if isinstance(raised, LargeFile) else _REMEDY


def packaged(*parts: str) -> str:
    """The text in a package file, by its folder and name."""
    return files("elanite").joinpath(*parts).read_text(encoding="utf-8")


def packaged_or_none(*parts: str) -> str | None:
    """The text in a package file; `None` if the file does not exist."""
    return packaged(*parts) if files("elanite").joinpath(*parts).is_file() else None


def packaged_bytes(*parts: str) -> bytes:
    """The bytes in a package file."""
    return files("elanite").joinpath(*parts).read_bytes()


def system(path: Path | str) -> str:
    """The text in a kernel file, such as one below ``/proc``. Raises ``OSError``."""
    return load(Path(path), SYSTEM).decode("utf-8", errors="replace")


def _regular(path: Path | str, about: os.stat_result, most: int | None) -> None:
    if (other := _kind(about.st_mode)) is not None:
        raise IrregularFile(0, f"it is {other}", str(path))
    if most is not None and about.st_size > most:
        raise LargeFile(0, _large(about.st_size, most), str(path))


def _ready(handle: int) -> bool:
    """Whether reading would not wait; that it is at the end is known immediately, too."""
    awaited = select.poll()
    awaited.register(handle, select.POLLIN)
    return bool(awaited.poll(0))


def _kind(mode: int) -> str | None:
    if stat.S_ISREG(mode):
        return None
    return next((name for of, name in _KINDS if of(mode)), "no regular file")


def _large(size: int, most: int) -> str:
    return f"it has {size:,} bytes, and at most {most:,} are read"
