"""Stores outside of folders: places that ``fsspec`` reaches by URL, object stores above all
(``s3://bucket/store``).

An object store cannot rename a folder. So the tables are written first and the manifest last, and a
point exists when its sealed manifest does. A reader compares the tables with the manifest's
checksums, as in a folder. Two writers of the same point write equal bytes. Where the file system
can create an object on condition that it does not exist (S3 can), the first manifest and the first
claim win; elsewhere two callers may both believe that they were first, which costs a simulation and
no result.

Every operation takes a request or more over the network. Leftovers of unfinished writers are sought
only on request (``elanite store gc``), because the whole place must be listed for this.
"""

from __future__ import annotations

import contextlib
import secrets
from typing import TYPE_CHECKING

from elanite.base.foreign import optional, reading, words
from elanite.errors import ElaniteError
from elanite.store.errors import StoreError, UnreadableError
from elanite.store.places import ABANDONED

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime

_MANIFEST = "manifest.json"
_NONE = (FileNotFoundError, NotADirectoryError, IsADirectoryError)


class Remote:
    """A place that a URL names."""

    def __init__(self, address: str) -> None:
        with optional(f"{address}: stores that are no folders need fsspec: pip install fsspec"):
            import fsspec
        with reading(address, "it cannot be opened", "write for example s3://bucket/store"):
            self._files, root = fsspec.core.url_to_fs(address, use_listings_cache=False)
        self._root = str(root).rstrip("/")
        self.name = self.address = address

    def prepare(self) -> None:
        with self._writing():
            self._probe()

    def names(self) -> list[str]:
        return self.files("")

    def exists(self, name: str) -> bool:
        with self._reading():
            return bool(self._files.exists(self._path(name)))

    def files(self, folder: str) -> list[str]:
        with self._reading():
            try:
                found = self._files.ls(self._path(folder), detail=False)
            except _NONE:
                return []
        return sorted({str(path).rstrip("/").rsplit("/", 1)[-1] for path in found})

    def load(self, name: str) -> bytes:
        (found,) = self.load_all([name])
        if found is None:
            raise FileNotFoundError(name)
        return found

    def load_all(self, names: Sequence[str]) -> list[bytes | None]:
        # The requests for several files go out together where the file system is an asynchronous
        # one.
        with self._reading():
            found = (
                self._files.cat([self._path(name) for name in names], on_error="return")
                if names
                else {}
            )
        loaded: list[bytes | None] = []
        for data in (found.get(self._path(name)) for name in names):
            # Also errors from libraries below fsspec that are not system errors: about credentials,
            # for example.
            if isinstance(data, BaseException) and not isinstance(data, _NONE):
                raise UnreadableError(self.name, words(data))
            loaded.append(data if isinstance(data, bytes) else None)
        return loaded

    def keep(self, folder: str, files: Mapping[str, bytes]) -> bool:
        *tables, last = files
        with self._writing():
            if self._files.exists(self._path(f"{folder}/{last}")):
                return False
            for name in tables:
                self._write(f"{folder}/{name}", files[name])
            return self._create(f"{folder}/{last}", files[last])

    def replace(self, folder: str, files: Mapping[str, bytes]) -> None:
        # Files stay: an apparently damaged one may be a table that the point's other writer has
        # opened and not yet filled, where an object is not written in one step, and that writer
        # would not notice the removal.
        with self._writing():
            for name, data in files.items():  # the manifest is the last
                self._write(f"{folder}/{name}", data)

    def discard(self, folder: str) -> None:
        # The manifest goes first: a folder without it is no point.
        for name in sorted(self.files(folder), key=lambda name: name != _MANIFEST):
            with (
                self._writing(),
                contextlib.suppress(FileNotFoundError),
            ):  # another process removes it, too
                self._files.rm_file(self._path(f"{folder}/{name}"))
        with contextlib.suppress(
            OSError, NotImplementedError
        ):  # there may be no such thing as a folder
            self._files.rmdir(self._path(folder))

    def leftovers(self) -> list[str]:
        found = []
        for folder in self.names():
            names = [] if folder.startswith(".") else self.files(folder)
            if (
                names
                and _MANIFEST not in names
                and min(self.age(f"{folder}/{name}") for name in names) > ABANDONED
            ):
                found.append(folder)
        return found

    def remove(self, name: str) -> None:
        self.discard(name)

    def create(self, name: str, data: bytes) -> bool:
        with self._writing():
            return self._create(name, data)

    def age(self, name: str) -> float:
        """By the place's clock: an object's time is compared with that of an object made now."""
        with self._reading():
            try:
                then: datetime = self._files.modified(self._path(name))
            except FileNotFoundError:
                now = None
            else:
                now = self._probe()
        if now is None:
            raise FileNotFoundError(name)
        return (now - then).total_seconds()

    def touch(self, name: str, data: bytes) -> None:
        with self._writing():
            self._write(name, data)

    def take(self, name: str, data: bytes) -> bool:
        with self._writing(), contextlib.suppress(FileNotFoundError):
            if self._files.cat_file(self._path(name)) == data:
                self._files.rm_file(self._path(name))
                return True
        return False

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}".rstrip("/")

    def _probe(self) -> datetime:
        """Write something, and remove it; returns the time that it had."""
        name = f".probe-{secrets.token_hex(8)}"
        self._write(name, b"")
        try:
            now: datetime = self._files.modified(self._path(name))
        finally:
            self._files.rm_file(self._path(name))
        return now

    def _write(self, name: str, data: bytes) -> None:
        path = self._path(name)
        self._files.makedirs(path.rsplit("/", 1)[0], exist_ok=True)
        self._files.pipe_file(path, data)

    def _create(self, name: str, data: bytes) -> bool:
        path = self._path(name)
        self._files.makedirs(path.rsplit("/", 1)[0], exist_ok=True)
        try:
            self._files.pipe_file(path, data, mode="create")
        except FileExistsError:
            return False
        except NotImplementedError:  # it cannot create under this condition
            if self._files.exists(path):
                return False
            self._files.pipe_file(path, data)
        return True

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except ElaniteError:
            raise
        except Exception as error:
            raise StoreError(self.name, words(error)) from error

    @contextlib.contextmanager
    def _reading(self) -> Iterator[None]:
        try:
            yield
        except ElaniteError:
            raise
        except Exception as error:
            raise UnreadableError(self.name, words(error)) from error
