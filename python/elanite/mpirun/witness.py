"""Finds the rank that died first. A thread watches all ranks together, through their process
descriptors.

mpiexec kills the other ranks about a millisecond after one has died. Afterwards, all ranks are
dead, most by the same signal, and their order is lost. A process's descriptor becomes readable when
the process ends, and epoll reports descriptors in the order of these ends. Ranks that end by
themselves announce this before, in the link's shared memory; an announcement counts more
(``verdict``).
"""

from __future__ import annotations

import os
import select
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_EVERY = 0.02
"""Seconds between two looks for ranks that have attached."""


class Witness:
    """Watches a run's ranks until ``stop``."""

    def __init__(self, pids: Callable[[], Sequence[int | None]]) -> None:
        self._pids = pids
        self._dead: tuple[int, ...] = ()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="witness", daemon=True)
        self._thread.start()

    def stop(self) -> tuple[int, ...]:
        """Stop watching.

        Returns the ranks that have ended, in this order; ranks that ended last may be missing.
        """
        self._over.set()
        self._thread.join()
        return self._dead

    def _watch(self) -> None:
        known: dict[int, int] = {}
        try:
            with select.epoll() as poll:
                ranks: dict[int, int] = {}
                while not self._over.is_set() and not self._dead:
                    for rank, pid in enumerate(self._pids()):
                        if pid is not None and rank not in known:
                            known[rank] = _open(pid)
                            if known[rank] >= 0:
                                ranks[known[rank]] = rank
                                poll.register(known[rank], select.EPOLLIN)
                    self._dead = tuple(ranks[handle] for handle, _ in poll.poll(_EVERY))
        finally:
            for handle in known.values():
                with suppress(OSError):
                    os.close(handle)


def _open(pid: int) -> int:
    try:
        return os.pidfd_open(pid)
    except (OSError, OverflowError):
        return -1  # it is gone already, or no process has such a number
