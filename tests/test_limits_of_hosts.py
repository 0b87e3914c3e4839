"""Hosts with little: small limits, full disks, poor alphabets and closed descriptors are errors
with a cause.

The words for each; ``test_limits_matrix.py`` has all commands under all limits.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import PATIENCE, SMALL, Ended, command, environment, execute, needs_mpi
from elanite import cli
from elanite.base import foreign, host
from elanite.base.streams import shown
from elanite.errors import Exit, UsageError

ALPHABET = "export LC_ALL=C PYTHONUTF8=0 PYTHONCOERCECLOCALE=0"


def limited(line: str, words: list[str], folder: Path) -> Ended:
    """A command after a shell line that sets a limit."""
    run = ["bash", "-c", f'{line}; exec "$@"', "bash", *words]
    return execute(run, cwd=folder, env=environment() | {"HOME": str(folder)})


def test_the_limits_are_named(tmp_path: Path) -> None:
    words = command("list", "machines")
    addresses = limited("ulimit -v 900000", words, tmp_path)
    assert addresses.err.startswith(
        "error: the address space of a process is limited to 921 MB, and 1,"
    ), addresses
    assert addresses.err.endswith(" MB are needed; raise the limit: ulimit -v unlimited\n")
    files = limited("ulimit -n 40", words, tmp_path)
    assert (
        files.err
        == "error: a process may open 40 files, and a command needs 64; raise the limit: ulimit -n"
        " 1024\n"
    )
    stack = limited("ulimit -s 120", words, tmp_path)
    assert (
        stack.err
        == "error: the stack of a process is limited to 120 KiB, and a command needs 512; raise the"
        " limit: ulimit -s 8192\n"
    )
    assert (addresses.code, files.code, stack.code) == (2, 2, 2)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("export PYTHONOPTIMIZE=2", "libraries need; unset PYTHONOPTIMIZE"),
        ("export POLARS_MAX_THREADS=0", "POLARS_MAX_THREADS=0: a number of threads from 1 on"),
        ("export RAYON_NUM_THREADS=-1", "RAYON_NUM_THREADS=-1: a number of threads from 1 on"),
    ],
)
def test_variables_that_libraries_cannot_bear_are_refused(
    tmp_path: Path, line: str, words: str
) -> None:
    ended = limited(line, command("list", "machines"), tmp_path)
    assert (ended.code, ended.out) == (2, "")
    assert words in ended.err, ended


@pytest.mark.parametrize(
    ("raised", "words"),
    [
        (MemoryError(), "memory has run out"),
        (OSError(12, "Cannot allocate memory"), "memory has run out"),
        (ImportError("x.so: failed to map segment from shared object"), "memory has run out"),
        (OSError(24, "Too many open files"), "too many files are open"),
        (RuntimeError("can't start new thread"), "no process or thread can be started"),
        (
            BlockingIOError(11, "Resource temporarily unavailable"),
            "no process or thread can be started",
        ),
        (OSError(27, "File too large", "out/x"), "out/x: a file may have"),
    ],
)
def test_exceptions_of_limits_are_told(raised: Exception, words: str) -> None:
    around = ValueError("of a library")
    around.__cause__ = raised
    for one in (raised, around):
        assert words in (host.reason(one) or "")


def test_a_limit_is_told_without_memory_for_its_search(monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> None:
        raise MemoryError

    monkeypatch.setattr(host, "memory", none)
    assert host.reason(MemoryError()) == "memory has run out; use a host with more memory"


def test_a_library_that_meets_a_limit_is_not_blamed() -> None:
    """Neither the file that it reads, nor its absence."""
    words = r"^x.csv: it cannot be read: memory has run out[^;]*; (raise|use)[^;]*$"
    with (
        pytest.raises(UsageError, match=words),
        foreign.reading("x.csv", "it cannot be read", "give a CSV file"),
    ):
        raise MemoryError
    needed = "a sample needs SciPy: pip install scipy"
    with pytest.raises(ImportError, match="failed to map"), foreign.optional(needed):
        raise ImportError("x.so: failed to map segment from shared object")
    with pytest.raises(UsageError, match=f"^{needed}$"), foreign.optional(needed):
        raise ModuleNotFoundError("scipy")
    words = f"^{needed}; the library that is here cannot be loaded: no symbol"
    with pytest.raises(UsageError, match=words), foreign.optional(needed):
        raise ImportError("no symbol x in y.so")


def test_a_limit_stands_beside_the_words_of_the_system(tmp_path: Path, campaign: Path) -> None:
    export = command("store", "export", "rows.parquet", "--store", str(campaign))
    ended = limited("ulimit -f 1", export, tmp_path)
    assert ended.code == 1, ended
    assert "rows.parquet cannot be written: File too large" in ended.err
    assert "a file may have 1,024 bytes; raise the limit: ulimit -f unlimited" in ended.err
    assert list(tmp_path.iterdir()) == []


def test_pictures_without_memory_are_refused_before_the_run(tmp_path: Path) -> None:
    (tmp_path / "trace.goal").write_text("num_ranks 1\nrank 0 {\nl1: calc 5\n}\n")
    line = f"export XDG_CACHE_HOME={tmp_path}; ulimit -d 700000"
    for words in (
        ("replay", "trace.goal", "--html", "page.html"),
        ("run", SMALL, "--svg", "picture.svg"),
    ):
        ended = limited(line, command(*words), tmp_path)
        assert ended.code == 2, ended
        assert (
            f"{words[2]}: the data of a process is limited to 716 MB, and 1,500 MB are needed"
            in ended.err
        )
        assert [path.name for path in tmp_path.iterdir()] == ["trace.goal"]


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


def test_neither_do_those_of_a_command_or_a_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise KeyError("\x1b]0;x\x07")

    for words, code in ((["\x1b]0;x\x07"], Exit.USAGE), (["list"], Exit.BROKEN)):
        if code == Exit.BROKEN:
            monkeypatch.setattr(cli, "app", fails)
        with pytest.raises(SystemExit) as left:
            cli.main(words)
        said = capsys.readouterr().err
        assert left.value.code == code, said
        assert "]0;x" in said
        assert "\x1b" not in said, said


def test_signs_without_an_encoding_are_replaced(tmp_path: Path) -> None:
    ended = limited(ALPHABET, command("run", SMALL, "--out", "out"), tmp_path)
    assert ended.code == 0, ended
    assert ended.out.isascii()
    assert "?" in ended.out + ended.err


def test_closed_descriptors(tmp_path: Path) -> None:
    words = shlex.join(command("list", "machines"))
    for line, code, out in ((f"{words} 2>&- <&-", 0, True), (f"{words} >&-", 1, False)):
        ended = execute(["sh", "-c", line], cwd=tmp_path, env=environment())
        assert (ended.code, "es40-qsnet" in ended.out) == (code, out), ended
    assert ended.err == "error: standard output: it is closed\n"


def test_a_full_standard_error_has_a_documented_exit_code(tmp_path: Path) -> None:
    for words, codes in ((("list", "machines"), (0, 1)), (("check", "nothing.toml"), (1, 2))):
        ended = limited("exec 2>/dev/full", command(*words), tmp_path)
        assert ended.code in codes, ended


def test_bytecode_is_not_kept_where_files_are_cut(tmp_path: Path) -> None:
    """A part of a module's bytecode would end all later commands."""
    code = (
        "import sys; sys.argv[1:] = ['--version']; import runpy; runpy.run_module('elanite',"
        " run_name='__main__')"
    )
    inside = f"import atexit, sys; atexit.register(lambda: print(sys.dont_write_bytecode)); {code}"
    for line, kept in (("ulimit -f 100", "True"), ("true", "False")):
        ended = limited(line, [sys.executable, "-c", inside], tmp_path)
        assert ended.out.splitlines()[-1] == kept, ended


@needs_mpi
@pytest.mark.skipif(os.geteuid() != 0, reason="a file system of its own needs the superuser")
def test_a_full_disk_under_mpirun(mpi_programs: Path, tmp_path: Path) -> None:
    """Space is checked before the ranks start; results without space later go to the temporary
    folder.
    """
    full = tmp_path / "full"
    full.mkdir()
    quoted = shlex.quote(str(full))
    mount = f"mount -t tmpfs -o size=256k tmpfs {quoted} && "
    if subprocess.run(
        ["unshare", "-m", "sh", "-c", f"{mount}true"], capture_output=True, check=False
    ).returncode:
        pytest.skip("this container may not mount")
    run = ["mpirun", "-n", "2", "--out", "full", str(mpi_programs / "messages"), "10"]
    fill = f"head -c 1000000 /dev/zero > {quoted}/filled; "
    before = execute(
        ["unshare", "-m", "sh", "-c", f'{mount}{fill}exec "$@"', "sh", *command(*run)],
        cwd=tmp_path,
        env=environment(),
    )
    assert before.code == 2, before
    assert "full cannot be written: No space left on device" in before.err
    late = tmp_path / "late.sh"
    late.write_text(
        f"#!/bin/sh\nhead -c 1000000 /dev/zero > {quoted}/filled-$$\n"
        f"exec {shlex.quote(str(mpi_programs))}/messages 10\n"
    )
    late.chmod(0o755)
    (tmp_path / "aside").mkdir()
    after = execute(
        ["unshare", "-m", "sh", "-c", f'{mount}exec "$@"', "sh", *command(*run[:5], str(late))],
        PATIENCE,
        cwd=tmp_path,
        env=environment() | {"TMPDIR": str(tmp_path / "aside")},
    )
    assert after.code == 1, after
    assert "cannot be written: No space left on device" in after.err
    assert f"The results of the run are kept in {tmp_path}/aside/elanite-" in after.err
    assert list((tmp_path / "aside").glob("elanite-*/mpirun/*/manifest.json"))
    assert "same command then goes on" not in after.err


def test_processor_time_ends_with_an_error(tmp_path: Path) -> None:
    """The kernel kills at the hard limit, without a word."""
    words = command("list", "machines")
    said = "error: the processor time of a process is limited to {} s, and {}; raise the limit:"
    ended = limited("ulimit -t 1", words, tmp_path)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith(said.format(1, "a command needs 2 s")), ended
    busy = "from elanite.base import host\nhost.require()\nwhile True: pass"
    ended = limited("ulimit -t 2", [sys.executable, "-c", busy], tmp_path)
    assert said.format(2, "this command has used them")[7:] in ended.err, ended


def test_a_mask_that_takes_the_rights_of_the_owner_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1001)
    before = os.umask(0o777)
    try:
        with pytest.raises(UsageError, match="the umask 777 takes your own rights"):
            host.require()
        os.umask(0o077)
        host.require()
    finally:
        assert os.umask(before) == 0o077
