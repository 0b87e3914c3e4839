"""Worker processes on this host without a port: text in, text out, through an unnamed socket pair.

``ProcessPool`` is an executor for functions with one text argument. Each worker is a fresh
interpreter, connected to this process only by an inherited file descriptor, so that the host's
other users have no address to connect to. Python's own ``ProcessPoolExecutor`` breaks as a whole
when a worker dies. Here a worker's death is the failure of its task alone (``WorkerDied``), and a
new worker takes its place.

A worker whose parent has died reads its connection's end and exits immediately, even amid a
computation. Workers ignore an interrupt from the terminal: the parent decides when they stop.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import queue
import signal
import threading
from concurrent.futures import Executor, Future
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.connection import Connection

_GRACE = 5.0
"""Seconds in which a worker without a task exits before it is killed."""

_STARTING = threading.Lock()

_Call = tuple[Future[str], "Callable[[str], str]", str]


class WorkerDied(Exception):
    """A worker process has ended before its task did."""


class ProcessPool(Executor):
    """An executor with a fixed count of worker processes."""

    def __init__(self, workers: int) -> None:
        self._calls: queue.SimpleQueue[_Call | None] = queue.SimpleQueue()
        self._closed = False
        # Each thread feeds one worker, and restarts it. Threads and processes inherit the signal
        # mask: the main thread receives all interrupts, and a worker receives no interrupt before
        # it ignores them.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            self._workers = [_Worker(self._calls) for _ in range(workers)]
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Run a function from the module's top level with one text in a worker; its result is a
        text.
        """
        (text,) = args
        if kwargs or not isinstance(text, str):
            raise TypeError("a task has one text")
        if self._closed:
            raise RuntimeError("the processes have been shut down")
        future: Future[str] = Future()
        self._calls.put((future, fn, text))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Stop the workers: without ``wait`` immediately, else after the tasks that have been
        submitted.
        """
        self._closed = True
        while cancel_futures or not wait:
            try:
                call = self._calls.get_nowait()
            except queue.Empty:
                break
            if call is not None:
                call[0].cancel()
        for _ in self._workers:
            self._calls.put(None)
        for worker in self._workers:
            if not wait:
                worker.kill()
            worker.join()


class _Worker(threading.Thread):
    """The thread that feeds one worker process."""

    def __init__(self, calls: queue.SimpleQueue[_Call | None]) -> None:
        super().__init__(name="worker", daemon=True)
        self._calls = calls
        self._ended = False
        self._process: multiprocessing.process.BaseProcess | None = None
        self._connection: Connection[Any, Any] | None = None
        self.start()

    def run(self) -> None:
        while (call := self._calls.get()) is not None:
            future, function, text = call
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(self._ask(function, text))
            except BaseException as error:  # noqa: BLE001 - the waiting thread raises it again
                future.set_exception(error)
        self._end()

    def kill(self) -> None:
        """End the process without waiting for its task."""
        self._ended = True
        if (process := self._process) is not None:
            with suppress(ValueError):  # it has been closed
                process.kill()

    def _ask(self, function: Callable[[str], str], text: str) -> str:
        if self._process is None:
            self._begin()
        assert self._process is not None  # noqa: S101
        assert self._connection is not None  # noqa: S101
        try:
            self._connection.send((function, text))
            done, result = self._connection.recv()
        except (EOFError, OSError) as error:
            self._process.join(_GRACE)
            code = self._process.exitcode
            self._end()
            raise WorkerDied(_end(code)) from error
        if not done:
            raise result
        return str(result)

    def _begin(self) -> None:
        if self._ended:
            raise WorkerDied("the processes have been shut down")
        spawn = multiprocessing.get_context("spawn")
        ours, theirs = spawn.Pipe()
        process = spawn.Process(target=_serve, args=(theirs,), name="worker", daemon=True)
        with _STARTING:  # the table of children is the module's
            process.start()
        theirs.close()
        self._process, self._connection = process, ours
        if self._ended:
            process.kill()

    def _end(self) -> None:
        if self._connection is not None:
            self._connection.close()
        if self._process is not None:
            self._process.join(_GRACE)
            if self._process.is_alive():
                self._process.kill()
                self._process.join()
        self._connection = self._process = None


def _end(code: int | None) -> str:
    """A process's end in words."""
    if code is not None and code < 0:
        with suppress(ValueError):
            return f"it was killed by signal {-code} ({signal.Signals(-code).name})"
    return f"it ended with exit code {code}"


def _serve(connection: Connection[Any, Any]) -> None:
    """Run tasks until the parent closes the connection: the life of a worker."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    tasks: queue.SimpleQueue[bytes] = queue.SimpleQueue()

    def listen() -> None:
        try:
            while True:
                tasks.put(connection.recv_bytes())
        except (EOFError, OSError):
            os._exit(0)

    threading.Thread(target=listen, name="listen", daemon=True).start()
    while True:
        task = tasks.get()
        answer: tuple[bool, Any]
        try:
            function, text = pickle.loads(task)  # noqa: S301 - from the parent alone; imports, so in the main thread
            answer = (True, function(text))
        except Exception as error:  # noqa: BLE001 - the parent raises it
            answer = (False, error)
        try:
            connection.send(answer)
        except OSError:
            os._exit(0)
