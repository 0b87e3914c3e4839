"""All files that Elanite writes: as a whole or not at all. No other module opens a file for
writing.

A file is written aside, in its target's folder, and renamed. So a reader never sees half a file,
and a full disk leaves the old file. The name aside is random, and the file must be new
(``O_EXCL``): where several users may write a folder, no user can guess the name, or redirect it by
a link.

A name stands for the object that the system has there:

- a symbolic link is followed, so that its target has the new content and the link stays;
- a file with several names (hard links) is written in its place, unless everybody may write its
  folder: another user could have made the link;
- a device or a pipe is written to, and stays (``--svg /dev/stdout``, ``--record >(gzip > x.gz)``);
- an open file in this process (``/dev/stdout``, ``/dev/fd/3``) is written to at its position.

Errors name the file that was asked for.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
import stat
import sys
import tempfile
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from elanite.base.streams import shown
from elanite.errors import ElaniteError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_OPEN_FILE = re.compile(r"/proc/(?:self|\d+)(?:/task/\d+)?/fd/(\d+)")
PROBE = b"\0" * 65536
"""A file that finds no room shows a full disk."""
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT}
_LINKS = 40
"""Most links that are followed, as in the kernel."""
_LONGEST = 32
"""Most letters in a name's suffix that its name aside has, too."""


def write(
    path: Path, content: str | bytes, error: Callable[[str], Exception] = ElaniteError
) -> None:
    """Write a file, and make its folder. Raises ``error`` if it cannot be written."""
    with replacing(path, error) as aside:
        fill(aside, content)


@contextmanager
def writing(path: Path) -> Iterator[BinaryIO]:
    """A file as ``replacing`` has it, open for bytes."""
    with replacing(path) as aside, aside.open("wb") as file:
        yield file


@contextmanager
def replacing(path: Path, error: Callable[[str], Exception] = ElaniteError) -> Iterator[Path]:
    """A new, empty file to be written within, which becomes ``path`` at the end unless an exception
    leaves the block.

    The folder for ``path`` is made. Libraries that write files themselves get the new file's path,
    which has the suffix of ``path``. Raises ``error`` with the name of ``path`` for every
    ``OSError``.
    """
    with _errors_named(path, error):
        if _special(path):
            with tempfile.TemporaryDirectory(prefix="elanite-") as folder:
                aside = Path(folder) / f"whole{_ending(path)}"
                try:
                    fill(aside, b"")
                    yield aside
                except OSError as raised:
                    if raised.errno in _NO_ROOM:
                        raise OSError(raised.errno, _temporary_words(raised)) from raised
                    raise
                _pour(aside, path)
            return
        target = _target(path)
        if target.is_dir():
            raise IsADirectoryError(0, "it is a folder")
        parents(target.parent)
        aside = _temporary(target)
        try:
            with exclusive(aside):
                pass
            yield aside
            if _linked(target):
                _overwrite(aside, target)
                return
            with suppress(FileNotFoundError):
                about = target.stat()
                with suppress(PermissionError):
                    os.chown(aside, about.st_uid, about.st_gid)
                aside.chmod(stat.S_IMODE(about.st_mode))
            aside.replace(target)
        finally:
            with suppress(OSError):
                aside.unlink(missing_ok=True)


@contextmanager
def copied(content: bytes, name: str) -> Iterator[Path]:
    """A private file with this content, for a library that opens files itself.

    Raises ``ElaniteError`` if the temporary folder has no room.
    """
    with ExitStack() as stack:
        try:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="elanite-"))
            copy = Path(folder) / name
            fill(copy, content)
        except OSError as raised:
            raise ElaniteError(f"a copy cannot be written: {_temporary_words(raised)}") from raised
        yield copy


def prepare(
    path: Path, error: Callable[[str], Exception] = ElaniteError, *, dry: bool = False
) -> None:
    """Make the folder for a file that is to be written later; a ``dry`` look makes nothing.

    Raises ``error`` if the file could not be written now.
    """
    with _errors_named(path, error):
        if _special(path):
            if not os.access(path, os.W_OK):
                raise PermissionError(0, "permission denied")
            return
        target = _target(path)
        if target.is_dir():
            raise IsADirectoryError(0, "it is a folder")
        (permitted if dry else folder)(target.parent)


def parents(path: Path) -> None:
    """Make a folder and those around it, however many there are. Raises ``OSError``."""
    missing = [path]
    while not missing[-1].exists() and missing[-1] != missing[-1].parent:
        missing.append(missing[-1].parent)
    for each in reversed(missing):
        try:
            each.mkdir(exist_ok=True)
        except FileExistsError:
            raise NotADirectoryError(0, f"{each} is not a folder") from None


def permitted(path: Path) -> None:
    """Look whether a folder could be made and files be written there, without making anything.

    Raises ``OSError`` if not; a full disk does not show.
    """
    while not path.exists() and path != path.parent:
        path = path.parent
    if not path.is_dir():
        raise NotADirectoryError(0, f"{path} is not a folder")
    if not os.access(path, os.W_OK | os.X_OK):
        raise PermissionError(0, "permission denied")


def folder(path: Path) -> None:
    """Make a folder, and see whether a file finds room there. Raises ``OSError``."""
    parents(path)
    probe = _temporary(path / "probe")
    new(probe, PROBE)
    probe.unlink()


@contextmanager
def exclusive(path: Path) -> Iterator[BinaryIO]:
    """A file that must be new, open for bytes. Raises ``FileExistsError`` and other ``OSError``."""
    handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o666)
    with os.fdopen(handle, "wb") as file:
        yield file


def new(path: Path, content: str | bytes, *, durable: bool = False) -> None:
    """Write a file that must be new; ``durable`` forces it to the disk. Raises ``FileExistsError``,
    other ``OSError``.

    A file that cannot be filled is removed.
    """
    with exclusive(path) as file:
        try:
            file.write(_bytes(content))
            file.flush()
            if durable:
                os.fsync(file.fileno())
        except OSError:
            with suppress(OSError):
                path.unlink()
            raise


def fill(path: Path, content: str | bytes | Iterable[str]) -> None:
    """Write a private file in its place, such as one that ``replacing`` has made.

    Raises ``OSError``.
    """
    with path.open("wb") as file:
        parts = [content] if isinstance(content, str | bytes) else content
        file.writelines(_bytes(part) for part in parts)


def extend(path: Path) -> None:
    """Write more to a private file that a library could not fill, for the reason.

    Raises ``OSError`` if there is one.
    """
    with path.open("ab") as file:
        file.write(PROBE)


def sync(folder: Path) -> None:
    """Force the names in a folder to the disk. Raises ``OSError``."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _temporary_words(raised: OSError) -> str:
    """The reason why the temporary folder has refused a file, and a remedy."""
    try:
        place = tempfile.gettempdir()
    except OSError:
        place = "the temporary folder"
    return f"{raised.strerror or raised} in {place}; TMPDIR names another folder"


def _bytes(content: str | bytes) -> bytes:
    return content.encode() if isinstance(content, str) else content


@contextmanager
def _errors_named(path: Path, error: Callable[[str], Exception]) -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        if _descriptor(path) is not None:
            raise  # the reader of standard output has left, which is not an error
        raise error(f"{path} cannot be written: its reader has left") from None
    except OSError as raised:
        raise error(f"{path} cannot be written: {raised.strerror or raised}") from raised


def _temporary(target: Path) -> Path:
    return target.with_name(f".{secrets.token_hex(8)}.partial{_ending(target)}")


def _ending(path: Path) -> str:
    return path.suffix if len(path.suffix) <= _LONGEST else ""


def _target(path: Path) -> Path:
    """The file that links lead to, which need not exist.

    Raises ``OSError`` for links in a circle.
    """
    for _ in range(_LINKS):
        if not path.is_symlink():
            return path
        path = path.parent / path.readlink()
    raise OSError(0, "its links lead in a circle")


def _descriptor(path: Path) -> int | None:
    """The descriptor in this process for a name such as ``/dev/stdout``."""
    for _ in range(_LINKS):
        place = _OPEN_FILE.fullmatch(f"{os.path.realpath(path.parent)}/{path.name}")
        if place and os.path.realpath(path.parent).startswith(os.path.realpath("/proc/self")):
            return int(place[1])
        if not path.is_symlink():
            return None
        path = path.parent / path.readlink()
    return None


def _special(path: Path) -> bool:
    """Whether a name stands for something that is written to and not replaced."""
    if _descriptor(path) is not None:
        return True
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _linked(target: Path) -> bool:
    """Whether this user's file has other names, none of which another user could have made."""
    try:
        about, folder = target.stat(), target.parent.stat()
    except FileNotFoundError:
        return False
    return about.st_nlink > 1 and about.st_uid == os.geteuid() and not folder.st_mode & stat.S_IWOTH


def _overwrite(source: Path, target: Path) -> None:
    """Write a finished file in another one's place; a full disk leaves that as it is."""
    with source.open("rb") as whole, target.open("r+b") as file:
        before, after = (os.fstat(each.fileno()).st_size for each in (file, whole))
        try:
            if after > before:
                os.posix_fallocate(file.fileno(), before, after - before)
        except OSError:
            file.truncate(before)
            raise
        shutil.copyfileobj(whole, file)
        file.truncate()


def _pour(source: Path, path: Path) -> None:
    """Write a finished file to a device, a pipe or an open file."""
    if (number := _descriptor(path)) is not None:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        handle = os.dup(number)
    else:
        handle = _open_special(path)
    with source.open("rb") as whole, os.fdopen(handle, "wb") as file:
        shutil.copyfileobj(whole, file)


def _open_special(path: Path) -> int:
    """A device, or a pipe that may lack a reader; says so before it waits for one."""
    flags = os.O_WRONLY | os.O_NOCTTY | os.O_CLOEXEC
    try:
        handle = os.open(path, flags | os.O_NONBLOCK)
    except OSError as error:
        if error.errno != errno.ENXIO or not stat.S_ISFIFO(path.stat().st_mode):
            raise
        sys.stderr.write(f"{shown(str(path))} is a pipe, and waits for its reader\n")
        return os.open(path, flags)
    os.set_blocking(handle, True)
    return handle
