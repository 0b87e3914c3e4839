"""Places for a store's files: a ``Folder``, which several hosts may share, or a place that
``remote`` reaches.

A place holds file folders, ``<id>/<name>``, which exist as a whole or not at all, and loose files
beside them, which are claims. Unfinished entries have names that begin with a dot.

**A folder is written aside** (``.partial-<id>-<number>-<process>``), forced to the disk and
renamed. A rename is atomic on local disks and on NFS, Lustre, GPFS and the like; no lock is asked
for, because locks are not reliable there. Names of unfinished entries contain the process
(``owner``). Cleaning removes a dead process's leftovers, and entries without a change for a day; so
files that another host still writes stay.

**Ages are measured by the file system's clock**: a file's time is compared with the time of a file
that was just made beside it. So the hosts' clocks do not matter.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import shutil
import time
from typing import TYPE_CHECKING, Protocol

from elanite.base import bounded, host, whole
from elanite.store import owner
from elanite.store.errors import NoFolderError, StoreError, UnreadableError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

PARTIAL = ".partial-"
ABANDONED = 24 * 3600.0
"""Seconds after which an unchanged entry counts as abandoned, whatever its writer."""

_MEASURED = 10.0
"""Seconds for which the difference between two clocks counts as constant."""

_numbers = itertools.count()


class StorePlace(Protocol):
    """Folders of files, and loose files.

    Operations raise ``StoreError`` and ``UnreadableError``.
    """

    name: str
    """A path or a URL, as the user has named the place; for messages."""
    address: str
    """An absolute path or a URL; a process that can reach the place opens it by this."""

    def prepare(self) -> None:
        """Make the place if it does not exist, and check that it can be written and read."""

    def names(self) -> list[str]:
        """Names of all entries, finished or not; sorted."""

    def exists(self, name: str) -> bool:
        """Whether a folder, or anything else, has a name."""

    def files(self, folder: str) -> list[str]:
        """The file names in a folder, sorted; empty without a folder."""

    def load(self, name: str) -> bytes:
        """A file's bytes. Raises ``FileNotFoundError`` if it is no file."""

    def load_all(self, names: Sequence[str]) -> list[bytes | None]:
        """Several files' bytes; `None` for an entry that is not a file."""

    def keep(self, folder: str, files: Mapping[str, bytes]) -> bool:
        """Write a folder; returns when it is on the disk.

        False if one with that name exists already; it stays.
        """

    def replace(self, folder: str, files: Mapping[str, bytes]) -> None:
        """Write a folder in a damaged one's place; several writers may do so with the same tables
        together.
        """

    def discard(self, folder: str) -> None:
        """Remove a folder."""

    def leftovers(self) -> list[str]:
        """Names of unfinished folders with writers that have died, or were silent for a day."""

    def remove(self, name: str) -> None:
        """Remove an entry from ``leftovers``, as far as that is possible."""

    def create(self, name: str, data: bytes) -> bool:
        """Make a loose file, unless its name exists. True for one caller alone, on any host."""

    def age(self, name: str) -> float:
        """Seconds since a loose file was written or touched. Raises ``FileNotFoundError``."""

    def touch(self, name: str, data: bytes) -> None:
        """Make a loose file young again; ``data`` is its content."""

    def take(self, name: str, data: bytes) -> bool:
        """Remove a loose file if it still holds ``data``."""


_NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}
"""The errors of a file system without links."""


class Folder:
    """A folder on a local disk, or on a file system that several hosts share."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = str(path)
        self.address = str(path.absolute())
        self._ahead: tuple[float, float] | None = None

    def prepare(self) -> None:
        try:
            whole.parents(self.path)
            probe = self._aside("probe")
            try:
                whole.new(probe, whole.PROBE, durable=True)
            finally:
                _unlink(probe)
        except (FileExistsError, NotADirectoryError):
            ways = (self.path, *self.path.parents)
            file = next(
                (path for path in ways if os.path.lexists(path) and not path.is_dir()), self.path
            )
            raise NoFolderError(file, self.path) from None
        except OSError as error:
            raise StoreError(self.path, error.strerror) from error
        try:
            with os.scandir(self.path) as entries:
                next(entries, None)
        except OSError as error:
            raise UnreadableError(self.path, error.strerror) from error

    def names(self) -> list[str]:
        try:
            return sorted(os.listdir(self.path))  # noqa: PTH208 - a million names, and no paths
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            raise UnreadableError(self.path, error.strerror) from error

    def exists(self, name: str) -> bool:
        return os.path.lexists(self.path / name)

    def files(self, folder: str) -> list[str]:
        return Folder(self.path / folder).names()

    def load(self, name: str) -> bytes:
        path = f"{self.path}/{name}"  # objects for paths would take as long as reading
        try:
            with bounded.opened(path) as file:
                size = os.fstat(file.fileno()).st_size
                if size <= bounded.TRACE or _fits(name, size):
                    return file.read()
        except bounded.IrregularFile:
            pass
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
                raise UnreadableError(path, error.strerror) from error
        raise FileNotFoundError(name)

    def load_all(self, names: Sequence[str]) -> list[bytes | None]:
        return [self._load(name) for name in names]

    def _load(self, name: str) -> bytes | None:
        try:
            return self.load(name)
        except FileNotFoundError:
            return None

    def keep(self, folder: str, files: Mapping[str, bytes]) -> bool:
        partial = self._aside(folder)
        try:
            partial.mkdir(parents=True)
            for name, data in files.items():
                whole.new(partial / name, data, durable=True)
            whole.sync(partial)
            first = _rename(partial, self.path / folder)
            whole.sync(self.path)
        except OSError as error:
            raise StoreError(self.path, error.strerror) from error
        finally:
            shutil.rmtree(partial, ignore_errors=True)
        return first

    def replace(self, folder: str, files: Mapping[str, bytes]) -> None:
        self.discard(folder)
        self.keep(folder, files)

    def discard(self, folder: str) -> None:
        doomed = self._aside(folder)
        try:
            (self.path / folder).rename(doomed)
        except FileNotFoundError:
            return  # another process was first
        except OSError as error:
            raise StoreError(self.path / folder, error.strerror) from error
        self.remove(doomed.name)

    def leftovers(self) -> list[str]:
        found = []
        for name in self.names():
            if name.startswith(PARTIAL):
                writer = owner.parse(name.removeprefix(PARTIAL).partition("-")[2].partition("-")[2])
                if (writer is not None and writer.dead()) or self._silent(name):
                    found.append(name)
        return found

    def remove(self, name: str) -> None:
        path = self.path / name
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            _unlink(path)

    def create(self, name: str, data: bytes) -> bool:
        path = self.path / name
        if os.path.lexists(path):
            return False
        aside = self._aside(name.lstrip("."))
        try:
            # A link makes the file with its whole content in one step: a process that is killed
            # here leaves no empty one.
            whole.new(aside, data)
            os.link(aside, path)
            return True
        except FileExistsError:
            return False
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise StoreError(self.path, error.strerror) from error
        finally:
            _unlink(aside)
        try:
            whole.new(path, data)
        except FileExistsError:
            return False
        except OSError as error:
            raise StoreError(self.path, error.strerror) from error
        return True

    def age(self, name: str) -> float:
        try:
            # An open file has the time that the server knows; a path's time may come from this
            # host's cache.
            with bounded.opened(self.path / name) as file:
                return self._clock() - os.fstat(file.fileno()).st_mtime
        except FileNotFoundError:
            raise
        except OSError as error:
            raise StoreError(self.path, error.strerror) from error

    def touch(self, name: str, data: bytes) -> None:  # noqa: ARG002 - the file holds it already
        try:
            os.utime(self.path / name)
        except FileNotFoundError:
            pass  # another process has taken it
        except OSError as error:
            raise StoreError(self.path, error.strerror) from error

    def take(self, name: str, data: bytes) -> bool:
        aside = self._aside(name.lstrip("."))
        try:
            if self._load(name) != data:
                return False  # another process was first, and has made it again
            (self.path / name).rename(aside)
        except FileNotFoundError:
            return False  # another process was first
        except OSError as error:
            raise StoreError(self.path, error.strerror) from error
        try:
            if taken := self._load(aside.name) == data:
                return taken
            # It was taken, and made again, since the caller looked.
            os.link(aside, self.path / name)
        except OSError:
            pass  # there is another by now, or the file system has no links
        finally:
            _unlink(aside)
        return False

    def _aside(self, name: str) -> Path:
        """A unique path for an unfinished entry."""
        return (
            self.path / f"{PARTIAL}{name.replace('-', '_')}-{next(_numbers)}-{owner.own_process()}"
        )

    def _silent(self, name: str) -> bool:
        try:
            return self._clock() - (self.path / name).lstat().st_mtime > ABANDONED
        except OSError:
            return False  # it is gone, or files can be neither made nor removed here

    def _clock(self) -> float:
        """The file system's time."""
        now = time.monotonic()
        if self._ahead is None or now > self._ahead[0] + _MEASURED:
            probe = self._aside("clock")
            try:
                with whole.exclusive(probe) as file:
                    self._ahead = (now, os.fstat(file.fileno()).st_mtime - now)
            finally:
                _unlink(probe)
        return now + self._ahead[1]


def _fits(name: str, size: int) -> bool:
    """Whether a file of more than a gigabyte can be a table that this host reads."""
    room = host.memory()
    return name.endswith(".parquet") and (room is None or size < room.left // 2)


def _rename(partial: Path, folder: Path) -> bool:
    """Give a folder its name. False if another process was first."""
    try:
        partial.rename(folder)
    except FileNotFoundError:
        # NFS repeats a request whose answer was lost, and the second one finds that the first has
        # done it.
        if not folder.is_dir():
            raise
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
            raise
        return False
    return True


def _unlink(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink()


def walk(place: StorePlace) -> Iterator[str]:
    """Names of folders that look finished."""
    return (name for name in place.names() if not name.startswith("."))
