"""Twelve commands under eight limits of a host: no traceback, no abort, no half-written file.

A command under a limit either works, or ends with a documented exit code and an error that names
the limit. Its files are whole or absent, and its store is sound. Each limit has several values
around the least one with which a command works. The quick run has the cells that end before the
command begins to work; ``make test-all`` has all.

Limits of memory and processes are those of the process (``ulimit``). Disks and shared memory are
small file systems in a mount namespace of their own.
"""

from __future__ import annotations

import itertools
import os
import re
import shutil
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from conftest import BIN, FILES, Ended, command, environment, execute
from elanite.base import host
from elanite.store import Store, upkeep

if TYPE_CHECKING:
    from _pytest.mark import ParameterSet

TINY = FILES.parent / "store_kills" / "tiny.toml"
TRACE = "num_ranks 2\nrank 0 {\nl1: send 8b to 1\n}\nrank 1 {\nl1: recv 8b from 0\n}\n"
FIT = ("--fit", "bus.rate=150 MB/s..400 MB/s", "--to", "measured.csv", "--trials", "2")
JOBS = ("--job", "4:shift", "--job", "4:shift", "--steps", "1", "--random", "1", "--search", "0")
COMMANDS = {
    "show": ("show", "es40-qsnet"),
    "check": ("check", "tiny.toml"),
    "import": ("import", "edges.txt", "--terminals", "1", "--output", "net.toml"),
    "run": ("run", "tiny.toml", "--out", "new", "--svg", "picture.svg"),
    "sweep": ("sweep", "tiny.toml", "--vary", "bus.rate=200 MB/s,300 MB/s", "--out", "new"),
    "compare": ("compare", "out", "other", "--html", "page-of-compare.html"),
    "calibrate": ("calibrate", "tiny.toml", *FIT, "--out", "new", "--machine-out", "fitted.toml"),
    "replay": ("replay", "trace.goal", "--out", "new", "--html", "page-of-replay.html"),
    "mpirun": ("mpirun", "-n", "2", "--out", "new", "./messages", "10"),
    "place": ("place", "es40-qsnet", *JOBS, "--out", "new"),
    "verify": ("store", "verify", "--store", "out"),
    "open": ("open", "page.html", "--into", "again"),
}
LIGHT = {"show", "check", "import"}
"""Commands that end in less than a second."""


def kilobytes(bound: host.HostLimit, change: int = 0) -> str:
    return f"{(bound.need() + change * host.MEGABYTE) // 1024}"


ADDRESSES, DATA = host.BOUNDS
PROCESSES = host.LEAST_PROCESSES + host.THREADS * (os.cpu_count() or 1)
LEFT = 'set -e; U=$(df --output=used -k . | tail -1); mount -o remount,size=$((U + {}))k "$PWD"'
SHARED = "mount -t tmpfs -o size={} tmpfs /dev/shm"


@dataclass(frozen=True)
class Limit:
    """Shell lines before a command, from the strictest to the mildest."""

    lines: tuple[str, ...]
    names: str
    """An expression for the words of an error that name the limit; empty if no error can be
    read.
    """
    refused: bool = False
    """Whether the first line refuses every command before it begins."""
    mounts: bool = False
    """Whether the lines need a mount namespace."""
    other: bool = False
    """Whether the limit does not hold for the superuser."""


LIMITS = {
    "memory": Limit(
        (
            f"ulimit -d {kilobytes(DATA, -1)}",
            "ulimit -d 20000",
            f"ulimit -d {kilobytes(DATA, 1)}",
            "ulimit -d 1600000",
        ),
        "the data of a process",
        refused=True,
    ),
    "address space": Limit(
        (
            f"ulimit -v {kilobytes(ADDRESSES, -1)}",
            "ulimit -v 300000",
            f"ulimit -v {kilobytes(ADDRESSES, 1)}",
            "ulimit -v 4000000",
        ),
        "the address space of a process",
        refused=True,
    ),
    "descriptors": Limit(
        ("ulimit -n 40", "ulimit -n 63", "ulimit -n 64", "ulimit -n 80"),
        "open files|may open",
        refused=True,
    ),
    "processes": Limit(
        ("ulimit -u 10", f"ulimit -u {PROCESSES - 1}", f"ulimit -u {PROCESSES + 4}"),
        "processes and threads|processes: |no process or thread",
        refused=True,
        other=True,
    ),
    "disk": Limit(
        (LEFT.format(0), LEFT.format(100), LEFT.format(400), LEFT.format(1500)),
        "No space left",
        mounts=True,
    ),
    "size of files": Limit(("ulimit -f 0", "ulimit -f 4", "ulimit -f 100"), "a file may have"),
    "shared memory": Limit(
        (SHARED.format("64k"), SHARED.format("1m"), SHARED.format("2200k")),
        "room in .*/shm",
        mounts=True,
    ),
    "locale": Limit(
        (
            "export LC_ALL=C PYTHONUTF8=0 PYTHONCOERCECLOCALE=0",
            "export LC_ALL=xx_YY.ISO-8859-1 PYTHONUTF8=0 PYTHONCOERCECLOCALE=0",
            "export PYTHONIOENCODING=ascii:strict",
        ),
        "never an error",
    ),
    "closed descriptors": Limit(
        ("exec <&- >&- 2>&-", "exec >&-", "exec 2>&-", "exec 2>/dev/full", "exec >/dev/full"),
        "standard output: (it is closed|No space left on device)|",
    ),
}
OTHER = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
OTHER += ["--inh-caps=-all,+dac_override", "--ambient-caps=+dac_override"]
"""Another user, since the superuser has no process limit; test files stay readable."""
ALONE = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "-U", "-r", "--mount"]
BAD = (
    *("Traceback", "bug of Elanite", "panicked", "core dumped", "Aborted", "memory allocation of"),
    *("MemoryError", "Fatal", "terminate called", "unraisable", "pip install"),
)
"""Words of a library that gives up, or of an untrue reason."""


def cells(*, quick: bool) -> list[ParameterSet]:
    """Command, limit and shell line; the quick cells are those that end in less than a second."""
    found = []
    for name, (limit, about) in itertools.product(COMMANDS, LIMITS.items()):
        for place, line in enumerate(about.lines):
            refused = about.refused and place == 0
            light = name in LIGHT and place == 0 and not about.mounts
            if quick == (light or (refused and name in ("run", "mpirun"))):
                found.append(pytest.param(name, limit, line, id=f"{name}-{limit}-{place}"))
    return found


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the commands' files, but no results."""
    folder = tmp_path_factory.mktemp("inputs")
    shutil.copy(TINY, folder)
    (folder / "trace.goal").write_text(TRACE)
    (folder / "edges.txt").write_text("a b\nb c\nc d\nd a\n")
    return folder


@pytest.fixture(scope="module")
def results(inputs: Path, tmp_path_factory: pytest.TempPathFactory, mpi_programs: Path) -> Path:
    """The same with two campaigns, a page, measured values and a program."""
    folder = tmp_path_factory.mktemp("results") / "folder"
    shutil.copytree(inputs, folder)
    shutil.copy(mpi_programs / "messages", folder)
    words = ("run", "tiny.toml", "--format", "csv")
    first = execute(command(*words, "--out", "out", "--html", "page.html"), cwd=folder)
    other = execute(command(*words, "--out", "other", "--set", "bus.rate=200 MB/s"), cwd=folder)
    assert (first.code, other.code) == (0, 0), first
    rows = [line for line in first.out.splitlines() if re.search("^id,|,latency,", line)]
    (folder / "measured.csv").write_text("\n".join(rows) + "\n")
    return folder


def limited(words: list[str], limit: Limit, line: str, folder: Path, base: Path) -> Ended:
    """A command's end under a limit; ``folder`` has its files then."""
    aside = folder.with_name("aside")
    aside.mkdir()
    inside = f'{line}; exec "$@"'
    prefix = [*OTHER] if limit.other and os.geteuid() == 0 else []
    if limit.mounts:
        # The file system ends with the command: its files are copied to the folder.
        prefix = [
            *ALONE,
            "bash",
            "-c",
            f'mount -t tmpfs -o size=100m tmpfs "{folder}" && cd "{folder}" || exit 99'
            f'\ncp -r "{base}/." . && "$@"; code=$?; mkdir ../copy && cp -r . ../copy; '
            "ls -A /dev/shm >../aside/shared; exit $code",
            "bash",
        ]
        folder.mkdir()
    else:
        shutil.copytree(base, folder)
    if prefix[:1] == OTHER[:1]:
        for path in (folder, aside):
            path.chmod(0o777)
    env = environment() | {"HOME": str(aside), "TMPDIR": str(aside), "XDG_CACHE_HOME": str(aside)}
    ended = execute([*prefix, "bash", "-c", inside, "bash", *words], cwd=folder, env=env)
    if limit.mounts:
        folder.rmdir()
        folder.with_name("copy").rename(folder)
    return ended


def whole(folder: Path) -> None:
    """No file is half-written, and the stores are sound."""
    for path in folder.rglob("*"):
        assert "partial" not in path.name, path
        if path.suffix in (".html", ".svg"):
            assert path.read_text().rstrip().endswith(f"</{path.suffix[1:]}>"), path
        elif path.suffix == ".toml":
            assert tomllib.loads(path.read_text()), path
        elif path.name == "store":
            assert upkeep.verify(Store(path)).wrong == []


def another() -> bool:
    """Whether another user can run this Python."""
    return bool(shutil.which("setpriv")) and execute([*OTHER, sys.executable, "-c", ""]).code == 0


def sound(name: str, limit: str, line: str, tmp_path: Path, base: Path) -> None:
    about = LIMITS[limit]
    if about.mounts and execute([*ALONE, "true"]).code:
        pytest.skip("this container may not mount")
    if about.other and os.geteuid() == 0 and not another():
        pytest.skip("another user cannot run this Python")
    ended = limited(command(*COMMANDS[name]), about, line, tmp_path / "folder", base)
    assert ended.code in (0, 1, 2), ended
    assert not [one for one in BAD if one in ended.err + ended.out], ended
    if ended.code and "2>" not in line:
        assert "error: " in ended.err.lower(), ended
        assert re.search(about.names, ended.err), ended
    whole(tmp_path / "folder")
    if limit == "shared memory":
        assert (tmp_path / "aside" / "shared").read_text() == "", "the rest of a run"


@pytest.mark.parametrize(("name", "limit", "line"), cells(quick=True))
def test_a_limit_is_an_error_with_a_cause(
    name: str, limit: str, line: str, tmp_path: Path, inputs: Path
) -> None:
    sound(name, limit, line, tmp_path, inputs)


@pytest.mark.skipif(not (BIN / "mpicc").exists(), reason="no mpich")
@pytest.mark.slow
@pytest.mark.parametrize(("name", "limit", "line"), cells(quick=False))
def test_all_limits_of_all_commands(
    name: str, limit: str, line: str, tmp_path: Path, results: Path
) -> None:
    sound(name, limit, line, tmp_path, results)
