"""Files that are written as a whole or not at all.

A file is written aside and renamed, so that a reader never sees half of it, and a full disk leaves the file that was
there. An error names the file that was asked for.
"""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from elanite.errors import ElaniteError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def write(path: Path, text: str) -> None:
    """Write a file, and make its folder. Raises ``ElaniteError`` if it cannot be written."""
    with _aside(path) as aside:
        path.parent.mkdir(parents=True, exist_ok=True)
        aside.write_text(text, encoding="utf-8")
        aside.replace(path)


def prepare(path: Path) -> None:
    """Make the folder of a file that is to be written later. Raises ``ElaniteError`` if it could not be written now."""
    with _aside(path) as aside:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            raise IsADirectoryError(0, "it is a folder")
        aside.touch()


@contextmanager
def _aside(path: Path) -> Iterator[Path]:
    """A name beside the file, which does not outlive the block."""
    aside = path.with_name(f".{path.name}-{os.getpid()}")
    try:
        yield aside
    except OSError as error:
        raise ElaniteError(f"{path} cannot be written: {error.strerror}") from error
    finally:
        with suppress(OSError):
            aside.unlink(missing_ok=True)
