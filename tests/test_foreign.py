"""Exceptions from other libraries on user files: each is one error with the place
(``elanite.base.foreign``).
"""

from __future__ import annotations

import polars as pl
import pytest

from elanite.base.foreign import reading
from elanite.errors import ElaniteError, RunError, UsageError


class PanicException(BaseException):
    """As libraries in Rust name it."""


@pytest.mark.parametrize(
    ("raised", "words"),
    [
        (KeyError(43), "KeyError: 43"),
        (ValueError("line 3 has no end"), "line 3 has no end"),
        (AssertionError(), "AssertionError"),
        (
            UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"),
            "can't decode byte 0xff",
        ),
        (FileNotFoundError(2, "No such file or directory", "x"), "No such file or directory"),
        (RecursionError("maximum recursion depth exceeded"), "maximum recursion depth exceeded"),
        (PanicException("index out of bounds: 7"), "index out of bounds: 7"),
    ],
    ids=lambda one: type(one).__name__,
)
def test_any_exception_is_an_error_with_its_place(raised: BaseException, words: str) -> None:
    with pytest.raises(UsageError) as told, reading("a.graphml", "not a graph", "draw it again"):
        raise raised
    text = str(told.value)
    assert text.startswith("a.graphml: not a graph: ")
    assert words in text
    assert text.endswith("; draw it again")
    assert told.value.__cause__ is raised


@pytest.mark.parametrize(
    "raised", [KeyboardInterrupt(), SystemExit(3), GeneratorExit(), RunError("own words")]
)
def test_interrupts_exits_and_own_errors_pass(raised: BaseException) -> None:
    with pytest.raises(type(raised)) as told, reading("a", "b"):
        raise raised
    assert told.value is raised


def test_the_place_is_that_of_the_exception() -> None:
    at = 0

    def read() -> None:
        nonlocal at
        with reading(lambda: f"event {at}", "unreadable", error=RunError):
            for at in range(5):
                {0: 0, 1: 0}[at]

    with pytest.raises(RunError, match=r"^event 2: unreadable: KeyError: 2$"):
        read()


def test_a_disk_that_is_full_is_no_mistake_of_the_file() -> None:
    with pytest.raises(OSError, match="No space"), reading("a", "b", passing=(OSError,)):
        raise OSError(28, "No space left on device")


def test_a_panic_of_polars_is_an_error_and_not_the_end_of_the_process() -> None:
    """The name by which a panic is known is the one that libraries in Rust use."""
    assert pl.exceptions.PanicException.__name__ == "PanicException"
    assert not issubclass(pl.exceptions.PanicException, Exception)
    with pytest.raises(ElaniteError), reading("a", "b"):
        raise pl.exceptions.PanicException("a panic")
