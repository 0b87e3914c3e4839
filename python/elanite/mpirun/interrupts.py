"""Interrupts while a run starts and goes on: they end it in order, wherever they come.

An interrupt that is raised as an exception may come between the start of a process and the line that takes note of it,
or in code whose exceptions nobody sees. So here it only asks the simulator for the end; a second one is raised.
"""

from __future__ import annotations

import signal
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from elanite import _core

if TYPE_CHECKING:
    from types import TracebackType

_NUMBERS = (signal.SIGINT, signal.SIGTERM)


class Interrupts:
    """As a context, in the main thread: signals that would be raised as exceptions set ``cancel``.

    Left without another exception, it raises what would have been raised.
    """

    def __init__(self) -> None:
        self.cancel = _core.Cancel()
        self._came: tuple[int, Any] | None = None
        self._handlers: dict[int, Any] = {}

    def __enter__(self) -> Interrupts:
        try:
            for number in _NUMBERS:
                handler = signal.getsignal(number)
                if callable(handler):  # neither ignored nor left to the system
                    self._handlers[number] = handler
                    signal.signal(number, self._note)
        except BaseException:
            self._restore()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._restore()
        if self._came is not None and kind is None:
            self._raise(*self._came)

    def _restore(self) -> None:
        # The first may bring an exception already.
        with ExitStack() as stack:
            for number, handler in self._handlers.items():
                stack.callback(signal.signal, number, handler)

    def _note(self, number: int, frame: Any) -> None:
        again = self._came is not None
        self._came = (number, frame)
        self.cancel.set()
        if again:
            self._raise(number, frame)

    def _raise(self, number: int, frame: Any) -> None:
        self._handlers[number](number, frame)
