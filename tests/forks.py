"""``elanite`` commands, and similar scripts, in forks of one process that has imported the command
line.

Importing the command line takes a third of a second of processor time, more than the rest of most
commands, and the tests run a thousand commands. So one process (``serve``) imports the command line
once and waits; for each command, a fork of the process takes the place of the interpreter with
these arguments: the same folder, environment and files. It ends as an interpreter does, except that
remaining modules and objects are not taken down one by one: this would take as long as a short
command.

A fork is safe if no other thread can hold a lock. The process has no thread except its first and
those that polars starts at import: two allocator threads, which are made for forks, and one that
removes spilt tables, and there are no such tables before polars is used. Imports are frozen: the
garbage collector does not scan them in forks, so that forks continue to share their memory.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

MODULES = (
    *("elanite.cli", "elanite.campaign", "elanite.mpirun", "elanite.report.index"),
    *("altair", "jinja2", "polars", "rich.progress", "rich.table", "typer._adapters"),
)
"""The commands' imports, except numpy and its dependents, since numpy starts threads."""

JUDGING = {"claims", "report", "reproduce"}
"""The commands that plan all shipped experiments: two seconds of processor time."""

PAGES = {"--html", "--open", "report", "reproduce"}
"""Words of commands that write a page: its templates are compiled first."""

THREADS = {"jemalloc_bg_thd", "polars-ooc-clea"}
"""The names of the threads that polars starts when it is imported."""


class Commands:
    """The process that commands are forked from."""

    def __init__(self, env: Mapping[str, str]) -> None:
        """The process starts in this environment, and commands with other variables for Python
        cannot be its forks.
        """
        self._python = variables_of_python(env)
        self._here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._turn = threading.Lock()
        with there:
            self._process = subprocess.Popen(
                [sys.executable, __file__, str(there.fileno())],
                stdin=subprocess.DEVNULL,
                env=env,
                pass_fds=[there.fileno()],
            )
        atexit.register(self.close)

    def serves(self, env: Mapping[str, str]) -> bool:
        """Whether a command with this environment can be a fork."""
        return variables_of_python(env) == self._python and self._process.poll() is None

    def run(
        self,
        arguments: Sequence[str],
        env: Mapping[str, str],
        cwd: str | Path | None,
        seconds: float | None,
    ) -> tuple[int, str, str]:
        """A command's exit code, as in ``subprocess``, and its output.

        The arguments are the interpreter's: ``-m elanite`` or a script's path, and the rest. Raises
        ``subprocess.TimeoutExpired`` after these seconds; the command is killed then.
        """
        said = json.dumps(
            {"arguments": list(arguments), "env": dict(env), "cwd": str(cwd or Path.cwd())}
        ).encode()
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            ours, theirs = os.pipe()
            with os.fdopen(ours, "r") as told:
                try:
                    with self._turn:
                        socket.send_fds(self._here, [said], [out.fileno(), err.fileno(), theirs])
                finally:
                    os.close(theirs)
                pid = int(told.readline())
                if not select.select([told], [], [], seconds)[0]:
                    os.kill(pid, signal.SIGKILL)
                    raise subprocess.TimeoutExpired(list(arguments), seconds or 0)
                code = int(told.readline())
            texts = [(file.seek(0), file.read().decode())[1] for file in (out, err)]
        return code, texts[0], texts[1]

    def close(self) -> None:
        """End the process; running commands continue."""
        self._here.close()
        self._process.wait()


def variables_of_python(env: Mapping[str, str]) -> dict[str, str]:
    """The interpreter's inputs at start."""
    return {name: value for name, value in env.items() if name.startswith("PYTHON")}


def serve(channel: socket.socket) -> None:
    """Fork for each request; returns in the forks, which are to run the command."""
    for name in MODULES:
        __import__(name)
    # The commit and the source fingerprints are the same for all commands.
    sys.modules["elanite.base.build"].own_build()
    sys.modules["elanite.base.build"].stale()
    gc.collect()
    gc.freeze()
    others = {
        (task / "comm").read_text().strip()
        for task in Path("/proc/self/task").iterdir()
        if task.name != str(os.getpid())
    }
    if not others <= THREADS:
        sys.exit(
            "a module has started a thread: forks are not safe"
            f" ({', '.join(sorted(others - THREADS))})"
        )
    while True:
        said, files, _, _ = socket.recv_fds(channel, 1 << 20, 3)
        if not said:
            os._exit(0)  # the tests have ended
        asked = json.loads(said)
        if JUDGING & set(asked["arguments"]):
            plan_shipped()
        if PAGES & set(asked["arguments"]):
            compile_templates()
        if os.fork() == 0:
            channel.close()
            command = os.fork()
            if command == 0:
                become(asked, *files)
                return
            report(command, files[2])
        for file in files:
            os.close(file)
        with suppress(ChildProcessError):  # there is none
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


@cache
def plan_shipped() -> None:
    """Plan the shipped experiments once: the forks find the plans, whole and quick, as made."""
    sources, quick = (
        import_module(f"elanite.{name}") for name in ("inputs.sources", "validation.short_runs")
    )
    for name in sources.shipped("experiment"):
        for look in (None, 0):
            quick.planned(name, look=look)
    gc.freeze()


@cache
def compile_templates() -> None:
    """Compile the templates of pages once."""
    report = import_module("elanite.report.layout")
    for file in (Path(report.__file__ or "").parents[1] / "templates").glob("*.j2"):
        report.templates(file.name, str)
    gc.freeze()


def become(asked: dict[str, Any], out: int, err: int, told: int) -> None:
    """Take the place of a process that has just been started."""
    os.close(told)
    for file, number in ((out, 1), (err, 2)):
        os.dup2(file, number)
        os.close(file)
    os.environ.clear()
    os.environ.update(asked["env"])
    os.chdir(asked["cwd"])
    sys.argv[:] = asked["arguments"]


def report(command: int, told: int) -> None:
    """Report the command's process number, and its end. Does not return."""
    os.write(told, f"{command}\n".encode())
    _, status = os.waitpid(command, 0)
    os.write(told, f"{os.waitstatus_to_exitcode(status)}\n".encode())
    os._exit(0)


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
    left: object = None
    try:
        if sys.argv[0] == "-m":
            del sys.argv[0]
            sys.path[0] = str(Path.cwd())
            runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
        else:
            sys.path[0] = str(Path(sys.argv[0]).parent)
            runpy.run_path(sys.argv[0], run_name="__main__")
    except SystemExit as end:
        left = end.code
    if not isinstance(left, int | None):
        sys.stderr.write(f"{left}\n")
        left = 1
    threading._shutdown()  # type: ignore[attr-defined]  # waits for threads, as the end of an interpreter does
    atexit._run_exitfuncs()
    if (mpi := sys.modules.get("mpi4py.MPI")) is not None and not mpi.Is_finalized():
        mpi.Finalize()  # which mpi4py leaves to the interpreter, and which removes shared memory
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(left or 0)
