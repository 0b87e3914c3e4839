"""Compressed files: traces, networks and measurements are often published so.

The first bytes decide, not the name. Files compressed by gzip, bzip2 or xz are decompressed in
memory, up to a bound; zstd is named with a remedy, as Python 3.11 lacks it. An archive with several
files (tar, zip) is refused by its name.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from elanite.base import bounded
from elanite.base.foreign import reading
from elanite.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from typing import BinaryIO

_READERS: dict[bytes, tuple[str, Callable[[BinaryIO], io.BufferedIOBase]]] = {
    b"\x1f\x8b": ("gzip", lambda file: gzip.GzipFile(fileobj=file)),
    b"BZh": ("bzip2", bz2.BZ2File),
    b"\xfd7zXZ\x00": ("xz", lzma.LZMAFile),
}
_REFUSED = {
    b"\x28\xb5\x2f\xfd": "compressed by zstd; decompress it: unzstd FILE",
    b"PK\x03\x04": "an archive (zip); unpack it: unzip FILE",
}
SUFFIXES = (".gz", ".bz2", ".xz", ".zst")
"""What compressors add to a name."""


def plain(path: Path) -> Path:
    """A file's path without a compressor's suffix."""
    return path.with_suffix("") if path.suffix.lower() in SUFFIXES else path


def unpacked(content: bytes, path: Path, most: int) -> bytes:
    """A file's bytes, decompressed if they are compressed; ``path`` is its name in errors.

    Raises ``UsageError`` for an archive, a broken file, or for more than ``most`` bytes.
    """
    for begin, what in _REFUSED.items():
        if content.startswith(begin):
            raise UsageError(f"{path}: this is {what}")
    for begin, (name, reader) in _READERS.items():
        if content.startswith(begin):
            with reading(path, f"it is compressed by {name}, and broken", "copy it again"):
                content = reader(io.BytesIO(content)).read(most + 1)
            if len(content) > most:
                raise UsageError(
                    f"{path}: it has more than the {most:,} bytes that are read, once decompressed"
                )
            break
    if content[257:262] == b"ustar":
        raise UsageError(f"{path}: this is an archive (tar); unpack it: tar -xf FILE")
    return content


@contextmanager
def opened(path: Path) -> Iterator[tuple[BinaryIO, int]]:
    """A file, open for bytes, and its length; a compressed file is decompressed in memory.

    Raises ``UsageError``.
    """
    with bounded.refused(path), bounded.opened(path) as file:
        begin = file.read(512)
        file.seek(0)
        if not _packed(begin):
            yield file, os.fstat(file.fileno()).st_size
            return
        content = unpacked(bounded.load(path, bounded.TRACE), path, bounded.TRACE)
    yield io.BytesIO(content), len(content)


def is_packed(path: Path) -> bool:
    """Whether a file is compressed, or an archive. Raises ``UsageError``."""
    with bounded.refused(path), bounded.opened(path) as file:
        return _packed(file.read(512))


def _packed(begin: bytes) -> bool:
    return begin.startswith((*_READERS, *_REFUSED)) or begin[257:262] == b"ustar"
