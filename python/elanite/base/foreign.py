"""Foreign libraries that read users' files: each of their exceptions becomes an error with the
place.

A library documents some of its exceptions on wrong input and raises others: a ``KeyError`` from a
name table, an ``AttributeError`` for a missing element, a Rust library's panic, which is not even
an ``Exception``. An exception list is complete until the next damaged file. So a reader calls such
a library within ``reading``, which takes them all and raises one error with the file, the position
where it is known, the library's words and a remedy.

A library that finds no memory, no thread or no descriptor has met a limit of the host: the error
then names the limit and its remedy.

An optional library is imported within ``optional``, which distinguishes a missing one from one that
cannot be loaded.

Elanite's errors pass as they are. So do interrupts and exits, and the exceptions in ``passing``: a
full disk's, for example, where the same lines also write.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from elanite.base import host
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
    """Turn any exception from the calls within into ``error``:
    ``place: problem: words of the library; remedy``.

    ``place`` is a path, or a function that returns the place at the exception's time.
    """
    try:
        yield
    except BaseException as raised:
        known = isinstance(raised, Exception) or type(raised).__name__ == _PANIC
        if not known or isinstance(raised, (ElaniteError, *passing)):
            raise
        where = place() if callable(place) else place
        limit = host.reason(raised)
        text = f"{where}: {problem}: {limit or words(raised)}"
        raise error(f"{text}; {remedy}" if remedy and limit is None else text) from raised


@contextmanager
def optional(needed: str) -> Iterator[None]:
    """Raise ``UsageError`` with ``needed`` if an import within finds no library:
    ``a sample needs SciPy: pip ...``.
    """
    try:
        yield
    except ModuleNotFoundError:
        raise UsageError(needed) from None
    except ImportError as error:
        if host.reason(error) is not None:
            raise  # the host's limit, and no fault of the library
        raise UsageError(
            f"{needed}; the library that is here cannot be loaded: {words(error)}"
        ) from error


def words(raised: BaseException) -> str:
    """An exception's message; with its type where the message alone, such as ``43``, is no
    explanation.
    """
    if isinstance(raised, OSError) and raised.strerror:
        return raised.strerror
    text = str(raised).strip()
    if " " in text:
        return text
    return f"{type(raised).__name__}: {text}" if text else type(raised).__name__
