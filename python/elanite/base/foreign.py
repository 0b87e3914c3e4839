"""Foreign libraries that read users' files: each of their exceptions becomes an error with the place.

A library documents some of its exceptions on wrong input and raises others: a ``KeyError`` from a name table, an
``AttributeError`` for a missing element, a Rust library's panic, which is not even an ``Exception``. An exception list
is complete until the next damaged file. So a reader calls such a library within ``reading``, which takes them all and
raises one error with the file, the position where it is known, the library's words and a remedy.

Elanite's errors pass as they are. So do interrupts and exits, and the exceptions in ``passing``: a full disk's, for
example, where the same lines also write.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from elanite.errors import ElaniteError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_PANIC = "PanicException"
"""The exception from Rust libraries, which cannot be imported: it belongs to no module."""


@contextmanager
def reading(
    place: object | Callable[[], object],
    problem: str,
    remedy: str = "",
    *,
    error: Callable[[str], Exception] = UsageError,
    passing: tuple[type[BaseException], ...] = (),
) -> Iterator[None]:
    """Turn any exception from the calls within into ``error``: ``place: problem: words of the library; remedy``.

    ``place`` is a path, or a function that returns the place at the exception's time.
    """
    try:
        yield
    except BaseException as raised:
        known = isinstance(raised, Exception) or type(raised).__name__ == _PANIC
        if not known or isinstance(raised, (ElaniteError, *passing)):
            raise
        where = place() if callable(place) else place
        text = f"{where}: {problem}: {words(raised)}"
        raise error(f"{text}; {remedy}" if remedy else text) from raised


def words(raised: BaseException) -> str:
    """An exception's message; with its type where the message alone, such as ``43``, is no explanation."""
    if isinstance(raised, OSError) and raised.strerror:
        return raised.strerror
    text = str(raised).strip()
    if " " in text:
        return text
    return f"{type(raised).__name__}: {text}" if text else type(raised).__name__
