"""Hosts with little: small limits, full disks, poor alphabets and closed descriptors are errors with a cause.

No command ends in a traceback, is aborted by a library, or blames itself.
"""

from __future__ import annotations

import itertools
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import PATIENCE, SMALL, Ended, command, environment, execute, needs_mpi
from elanite.base import host
from elanite.base.streams import shown

LIMITS = {
    "memory of a command": "ulimit -v 1000000",
    "address space": "ulimit -v 2000000",
    "descriptors": "ulimit -n 40",
    "processes": "ulimit -u 10",
    "size of files": "ulimit -f 8",
    "full disk": "exec > /dev/full",
    "alphabet": "export LC_ALL=C PYTHONUTF8=0 PYTHONCOERCECLOCALE=0",
    "closed descriptors": "exec <&- >&- 2>&-",
}
"""Shell lines before the command."""
COMMANDS = {
    "list": ("list", "machines"),
    "show": ("show", "es40-qsnet"),
    "check": ("check", "es40-qsnet"),
    "explain": ("explain", "link.hop_delay"),
    "schema": ("schema", "machine"),
    "run": ("run", SMALL, "--out", "out"),
    "picture": ("run", SMALL, "--out", "out", "--svg", "picture.svg"),
    "page": ("congestion", SMALL, "--out", "out"),
    "goal": ("goal", "allreduce", "--ranks", "8", "--size", "1 KB"),
    "replay": ("replay", "trace.goal", "--out", "out"),
    "store": ("store", "verify", "out"),
    "mpirun": ("mpirun", "-n", "2", "./messages", "10"),
}
OTHER = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
OTHER += ["--inh-caps=-all,+dac_override", "--ambient-caps=+dac_override"]
"""Another user, since the superuser has no process limit; test files stay readable."""
BAD = ("Traceback", "bug of Elanite", "panicked", "core dumped", "Aborted", "memory allocation of", "MemoryError")
QUICK = {("show", "alphabet"), ("run", "memory of a command"), ("picture", "address space"), ("store", "size of files")}


def limited(line: str, words: list[str], folder: Path, *, other_user: bool = False) -> Ended:
    """Run a command under a limit; for the superuser, processes are limited as for another user."""
    drop = OTHER if other_user else []
    text = f'{line}; exec "$@"'
    return execute([*drop, "bash", "-c", text, "bash", *words], cwd=folder, env=environment() | {"HOME": str(folder)})


def fitting(name: str, folder: Path, programs: Path | None) -> list[str]:
    (folder / "trace.goal").write_text("num_ranks 2\nrank 0 {\nl1: send 8b to 1\n}\nrank 1 {\nl1: recv 8b from 0\n}\n")
    if name == "mpirun" and programs is not None:
        shutil.copy(programs / "messages", folder / "messages")
    return command(*COMMANDS[name])


def sound(name: str, limit: str, folder: Path, programs: Path | None) -> None:
    words = fitting(name, folder, programs)
    root = os.geteuid() == 0 and limit == "processes"
    if root:
        folder.chmod(0o777)
        if not shutil.which("setpriv") or execute([*OTHER, "sh", "-c", f"exec {sys.executable} -c ''"]).code:
            pytest.skip("another user cannot run this Python")
    ended = limited(LIMITS[limit], words, folder, other_user=root)
    assert ended.code in (0, 1, 2), (name, limit, ended)
    assert not [one for one in BAD if one in ended.err], (name, limit, ended)
    if ended.code and limit != "closed descriptors":
        assert "error: " in ended.err.lower(), (name, limit, ended)


@pytest.mark.parametrize(("name", "limit"), sorted(QUICK))
def test_a_limit_is_an_error_with_a_cause(name: str, limit: str, tmp_path: Path) -> None:
    sound(name, limit, tmp_path, None)


@needs_mpi
@pytest.mark.slow
@pytest.mark.parametrize(("name", "limit"), list(itertools.product(COMMANDS, LIMITS)))
def test_all_limits_of_all_commands(name: str, limit: str, tmp_path: Path, mpi_programs: Path) -> None:
    sound(name, limit, tmp_path, mpi_programs)


def test_the_limits_are_named(tmp_path: Path) -> None:
    words = command("list", "machines")
    addresses = limited("ulimit -v 900000", words, tmp_path)
    assert addresses.err.startswith("error: the address space of a process is limited to 921 MB, and 1,"), addresses
    assert addresses.err.endswith(" MB are needed; raise the limit: ulimit -v unlimited\n")
    files = limited("ulimit -n 40", words, tmp_path)
    assert files.err == "error: a process may open 40 files, and a command needs 64; raise the limit: ulimit -n 1024\n"
    assert (addresses.code, files.code) == (2, 2)


@pytest.mark.parametrize(
    ("raised", "words"),
    [
        (MemoryError(), "memory has run out"),
        (OSError(12, "Cannot allocate memory"), "memory has run out"),
        (ImportError("x.so: failed to map segment from shared object"), "memory has run out"),
        (OSError(24, "Too many open files"), "too many files are open"),
        (RuntimeError("can't start new thread"), "no process or thread can be started"),
        (BlockingIOError(11, "Resource temporarily unavailable"), "no process or thread can be started"),
        (OSError(27, "File too large", "out/x"), "out/x: a file may have"),
    ],
)
def test_exceptions_of_limits_are_told(raised: Exception, words: str) -> None:
    around = ValueError("of a library")
    around.__cause__ = raised
    for one in (raised, around):
        assert words in (host.reason(one) or "")


def test_other_exceptions_are_not() -> None:
    assert host.reason(ValueError("memory of elephants")) is None
    assert host.reason(FileNotFoundError(2, "No such file or directory")) is None


def test_control_characters_are_shown_as_symbols(tmp_path: Path) -> None:
    assert shown("a\x1b[31m\tb\x7f\n\x9b1m\u202e") == "a\u241b[31m\tb\u2421\n\ufffd1m\ufffd"
    text = Path(SMALL).read_text().replace('title = "', r'title = "\u001b]0;owned\u0007', 1)
    (tmp_path / "foreign.toml").write_text(text)
    shows = execute(command("show", "foreign.toml"), cwd=tmp_path, env=environment())
    assert not {"\x1b", "\x07"} & set(shows.out + shows.err), shows
    assert "\u241b]0;owned" in shows.out


def test_signs_without_an_encoding_are_replaced(tmp_path: Path) -> None:
    line = LIMITS["alphabet"]
    ended = limited(line, command("run", SMALL, "--out", "out"), tmp_path)
    assert ended.code == 0, ended
    assert ended.out.isascii()
    assert "?" in ended.out + ended.err


def test_closed_descriptors(tmp_path: Path) -> None:
    words = shlex.join(command("list", "machines"))
    for line, code, out in ((f"{words} 2>&- <&-", 0, True), (f"{words} >&-", 1, False)):
        ended = execute(["sh", "-c", line], cwd=tmp_path, env=environment())
        assert (ended.code, "es40-qsnet" in ended.out) == (code, out), ended
    assert ended.err == "error: standard output: it is closed\n"


@needs_mpi
@pytest.mark.skipif(os.geteuid() != 0, reason="a file system of its own needs the superuser")
def test_a_full_disk_under_mpirun(mpi_programs: Path, tmp_path: Path) -> None:
    """Space is checked before the ranks start; results without space later go to the temporary folder."""
    full = tmp_path / "full"
    full.mkdir()
    mount = f"mount -t tmpfs -o size=256k tmpfs {full} && "
    if subprocess.run(["unshare", "-m", "sh", "-c", f"{mount}true"], capture_output=True, check=False).returncode:
        pytest.skip("this container may not mount")
    run = ["mpirun", "-n", "2", "--out", "full", str(mpi_programs / "messages"), "10"]
    fill = f"head -c 1000000 /dev/zero > {full}/filled; "
    before = execute(["unshare", "-m", "sh", "-c", f'{mount}{fill}exec "$@"', "sh", *command(*run)],
                     cwd=tmp_path, env=environment())  # fmt: skip
    assert before.code == 2, before
    assert "full cannot be written: No space left on device" in before.err
    late = tmp_path / "late.sh"
    late.write_text(f"#!/bin/sh\nhead -c 1000000 /dev/zero > {full}/filled-$$\nexec {mpi_programs}/messages 10\n")
    late.chmod(0o755)
    (tmp_path / "aside").mkdir()
    after = execute(["unshare", "-m", "sh", "-c", f'{mount}exec "$@"', "sh", *command(*run[:5], str(late))],
                    PATIENCE, cwd=tmp_path, env=environment() | {"TMPDIR": str(tmp_path / "aside")})  # fmt: skip
    assert after.code == 1, after
    assert "cannot be written: No space left on device" in after.err
    assert f"The results of the run are kept in {tmp_path}/aside/elanite-" in after.err
    assert list((tmp_path / "aside").glob("elanite-*/mpirun/*/manifest.json"))
    assert "same command then goes on" not in after.err
