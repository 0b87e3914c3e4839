"""GOAL traces as files: compressed ones, and texts with a byte order mark, by a plain copy."""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING

from elanite import _core
from elanite.base import bounded, packed, whole
from elanite.errors import RunError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

_WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def read(trace: Path) -> _core.GoalTrace:
    """A trace that has been read and checked; its file is needed no more.

    Raises ``UsageError`` or ``RunError``.
    """
    with bounded.refused(trace), bounded.opened(trace) as file:
        begin = file.read(3)
    if not begin.startswith((codecs.BOM_UTF8, *_WIDE)) and not packed.is_packed(trace):
        return _core.GoalTrace(trace)
    content = plain(trace)
    with whole.copied(content, packed.plain(trace).name) as copy:
        try:
            return _core.GoalTrace(copy)
        except RunError as error:
            said = str(error).replace(str(copy), str(trace))
            raise RunError(said, error.exit_code) from None


def plain(trace: Path, most: int = bounded.TRACE) -> bytes:
    """A trace's bytes, decompressed; those of a text in UTF-8, without a byte order mark.

    Raises ``UsageError``.
    """
    with bounded.refused(trace):
        content = packed.unpacked(bounded.load(trace, most), trace, most)
    if not content.startswith(_WIDE):
        return content.removeprefix(codecs.BOM_UTF8)
    try:
        return content.decode("utf-16").encode()
    except UnicodeError:
        raise UsageError(f"{trace}: it begins as a text in UTF-16, and is none") from None
