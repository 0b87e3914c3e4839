"""Interrupts during a run: an interrupt ends the run in order, whenever it comes.

An interrupt that is raised as an exception may come between the start of a process and the line
that records the process, or in code that drops exceptions. So a first interrupt only asks the
simulator to end the run; a second one is raised.
"""

from __future__ import annotations

import signal
from contextlib import ExitStack
from typing import TYPE_CHECKING

from elanite import _core

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType, TracebackType

_NUMBERS = (signal.SIGINT, signal.SIGTERM)


class Interrupts:
    """A context for the main thread: signals that would raise exceptions set ``cancel`` instead.

    If the context ends without another exception, it raises the signal's exception.
    """

    def __init__(self) -> None:
        self.cancel = _core.Cancel()
        self._came: tuple[int, FrameType | None] | None = None
        self._handlers: dict[int, Callable[[int, FrameType | None], object]] = {}

    def __enter__(self) -> Interrupts:
        try:
            for number in _NUMBERS:
                handler = signal.getsignal(number)
                if callable(handler):  # a handler, and not ignored or left to the system
                    self._handlers[number] = handler
                    signal.signal(number, self._note)
        except BaseException:
            self._restore()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._restore()
        if self._came is not None and kind is None:
            self._raise(*self._came)

    def _restore(self) -> None:
        # The first call may raise an exception already.
        with ExitStack() as stack:
            for number, handler in self._handlers.items():
                stack.callback(signal.signal, number, handler)

    def _note(self, number: int, frame: FrameType | None) -> None:
        again = self._came is not None
        self._came = (number, frame)
        self.cancel.set()
        if again:
            self._raise(number, frame)

    def _raise(self, number: int, frame: FrameType | None) -> None:
        self._handlers[number](number, frame)
