"""The tests' surroundings: the same on every host, for every user, in a terminal or in the
background.

They are settled when this module is imported, before all else; the processes that tests start
inherit the result:

- the environment without the variables that choose how programs look, speak, compile or find their
  networks, with one locale and one time zone, and with an empty cache folder instead of the user's;
- the usual mask for new files, regardless of the user's ``umask``;
- the usual signal dispositions. A shell starts background jobs with SIGINT ignored, and a process
  that inherits an ignored signal ignores it, and so do its children: an interrupt would reach no
  command under test.

``unchanged`` surrounds each test. A test that leaves another environment or another current folder
behind fails, since the tests after it would depend on their order.
"""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

REMOVED = (
    # Languages, terminals, editors.
    *(
        "LANG",
        "LANGUAGE",
        "LC_*",
        "TZ",
        "COLUMNS",
        "LINES",
        "NO_COLOR",
        "FORCE_COLOR",
        "CLICOLOR*",
        "TTY_*",
        "PY_COLORS",
    ),
    *("TERMINAL_WIDTH", "TYPER_*", "_TYPER_*", "JUPYTER_*", "BROWSER", "PAGER", "EDITOR", "VISUAL"),
    # Locations of continuous integration, a build, a shell.
    *(
        "CI",
        "GITHUB_*",
        "MAKEFLAGS",
        "MFLAGS",
        "MAKELEVEL",
        "MAKEOVERRIDES",
        "SOURCE_DATE_EPOCH",
        "GIT_*",
    ),
    *("BASH_ENV", "ENV", "CDPATH", "POSIXLY_CORRECT", "XDG_*"),
    # Interpreters and compilers. Without their bytecode files, commands would compile Elanite each
    # time.
    *(
        "PYTHON*",
        "CFLAGS",
        "CPPFLAGS",
        "CXXFLAGS",
        "LDFLAGS",
        "RUST_*",
        "LD_PRELOAD",
        "MPICH_*",
        "MALLOC_*",
    ),
    # Threads, networks, jobs.
    *("POLARS_*", "DASK_*", "RAYON_*", "OMP_*", "OPENBLAS_*", "MKL_*", "NUMEXPR_*"),
    *(
        "MPI_*",
        "MPIR_*",
        "MPIEXEC_*",
        "HYDRA_*",
        "OMPI_*",
        "OPAL_*",
        "PMI_*",
        "PMIX_*",
        "PRTE_*",
        "I_MPI_*",
        "UCX_*",
        "FI_*",
    ),
    *("SLURM_*", "PBS_*", "FLUX_*", "RMS_*", "LIBELAN_*", "SHMEM_*", "SMA_*", "ELANITE_*"),
)
"""Variables by their names; a star stands for any end."""

KEPT = ("PYTHONPATH", "ELANITE_FUZZ_*", "ELANITE_WHEEL", "XDG_RUNTIME_DIR")
"""The part of these for the tests themselves."""

CONTINUOUS = bool(os.environ.get("CI"))
"""Whether continuous integration runs the tests, where no tool may be absent."""

CHOSEN = {"LC_ALL": "C.UTF-8", "TZ": "UTC"}

LONGEST = 40
"""Bytes in the temporary folder's path."""

IGNORED = {signal.SIGPIPE, signal.SIGXFSZ, signal.SIGHUP}
"""Signals that may stay ignored: Python ignores two and gives its children the default; ``nohup``
ignores the third.
"""


def _among(name: str, patterns: tuple[str, ...]) -> bool:
    return any(name.startswith(one[:-1]) if one.endswith("*") else name == one for one in patterns)


def settle() -> None:
    """Make the surroundings the usual ones, for this process and those that it starts."""
    for name in list(os.environ):
        if _among(name, REMOVED) and not _among(name, KEPT):
            del os.environ[name]
    cache = tempfile.mkdtemp(prefix="elanite-cache-")
    atexit.register(shutil.rmtree, cache, ignore_errors=True)
    os.environ.update(CHOSEN, XDG_CACHE_HOME=cache)
    if len(tempfile.gettempdir()) > LONGEST:
        # By a short name: a socket path has room for 107 bytes, and browsers put theirs below this
        # folder.
        short = Path(tempfile.mkdtemp(prefix="elanite-", dir="/tmp")) / "t"
        short.symlink_to(tempfile.gettempdir())
        atexit.register(shutil.rmtree, short.parent, ignore_errors=True)
        os.environ["TMPDIR"] = str(short)
        tempfile.tempdir = None
    time.tzset()
    os.umask(0o022)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    for number in signal.valid_signals() - IGNORED:
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(
                number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL
            )


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}


def _handlers() -> dict[int, object]:
    return {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}


@contextmanager
def unchanged() -> Iterator[None]:
    """Restore changes made within; raises ``AssertionError`` for a changed environment, folder or
    mask.

    Signal handlers are restored silently, because the command line installs its own.
    """
    environment, folder, handlers = _environment(), Path.cwd(), _handlers()
    yield
    wrong = []
    if (now := _environment()) != environment:
        names = {name for name, _ in set(environment.items()) ^ set(now.items())}
        wrong.append(f"the environment ({', '.join(sorted(names))})")
        for name in now.keys() - environment.keys():
            del os.environ[name]
        os.environ.update(environment)
    try:
        here = Path.cwd()
    except FileNotFoundError:  # it has been removed
        here = Path()
    if here != folder:
        wrong.append(f"the current folder ({here})")
        os.chdir(folder)
    if (mask := os.umask(0o022)) != 0o022:
        wrong.append(f"the mask of new files ({mask:03o})")
    for number, handler in handlers.items():
        if signal.getsignal(number) is not handler and (
            callable(handler) or isinstance(handler, signal.Handlers)
        ):
            signal.signal(number, handler)
    assert not wrong, f"the test leaves another state behind: {', '.join(wrong)}; use monkeypatch"


settle()
