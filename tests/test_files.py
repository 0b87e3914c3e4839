"""Files that commands write and read: devices, pipes and links in their place, and no other module
that opens files.
"""

from __future__ import annotations

import ast
import errno
import gzip
import os
import stat
import subprocess
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import elanite
from conftest import PATIENCE, SMALL, command, environment, until
from elanite import cli
from elanite.base import bounded, whole
from elanite.errors import ElaniteError, UsageError
from elanite.traces import goal_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conftest import Ended

    Elanite = Callable[..., Ended]

PACKAGE = Path(elanite.__file__).parent
OPENING = {
    "open",
    "write_text",
    "write_bytes",
    "read_text",
    "read_bytes",
    "touch",
    "mkstemp",
    "sink_parquet",
}
"""Calls that open files."""
RENAMING = {"replace", "renames"}
"""Calls that rename files, if they have one argument."""
OTHERS = {
    # Objects with methods by these names.
    ("cli/common.py", "webbrowser.open"),
    ("cli/store.py", "Store.open"),
    ("campaign/work.py", "Store.open"),
    ("store/leases.py", "self.place.touch"),
    ("traces/otf2.py", "self.otf2.reader.open"),
    ("report/pages/experiment.py", "pl.col(grouping.MACHINE).replace"),
    # The null device in place of a closed descriptor.
    ("base/streams.py", "os.open"),
    ("base/streams.py", "open"),
    # A library that writes the path that it got from ``whole``.
    (
        "results/export.py",
        "pl.concat([pl.scan_parquet(part) for part in parts], how='diagonal_relaxed').sink_parquet",
    ),
}
"""Calls that open no user file."""
ALONE = {"base/whole.py", "base/bounded.py", "mpirun/guard.py"}
"""The two modules that open files, and a script that starts without the package."""


def calls(tree: ast.AST) -> Iterator[str]:
    """A module's calls that open, replace or link files."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = (
                node.func.attr
                if isinstance(node.func, ast.Attribute)
                else getattr(node.func, "id", "")
            )
            if name in OPENING or (name in RENAMING and len(node.args) == 1 and not node.keywords):
                yield ast.unparse(node.func)


def test_only_two_modules_open_files() -> None:
    found = set()
    for path in PACKAGE.rglob("*.py"):
        name = path.relative_to(PACKAGE).as_posix()
        if name in ALONE or name.startswith("figures/"):  # where `replace` is that of polars
            continue
        found |= {(name, call) for call in calls(ast.parse(path.read_text()))}
    assert found == OTHERS, "write by `whole`, and read by `bounded`"


@pytest.mark.parametrize(
    "line",
    [
        "open(path)",
        "path.open('w')",
        "path.write_text(text)",
        "os.open(path, 0)",
        "tempfile.mkstemp()",
        "aside.replace(path)",
    ],
)
def test_the_search_finds_other_ways_to_open_files(line: str) -> None:
    assert list(calls(ast.parse(line)))


def test_figures_open_no_files() -> None:
    for path in (PACKAGE / "figures").rglob("*.py"):
        assert not {
            call for call in calls(ast.parse(path.read_text())) if not call.endswith(".replace")
        }


def test_a_link_is_followed_and_keeps_its_place(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "second").symlink_to("folder/real.txt")
    (tmp_path / "first").symlink_to("second")
    for text in ("one", "two"):  # the target need not exist
        whole.write(tmp_path / "first", text)
        assert (tmp_path / "folder" / "real.txt").read_text() == text
    assert (tmp_path / "first").is_symlink()
    assert (tmp_path / "second").is_symlink()
    assert sorted(path.name for path in tmp_path.rglob("*")) == [
        "first",
        "folder",
        "real.txt",
        "second",
    ]


def test_links_in_a_circle_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(ElaniteError, match=r"a cannot be written: its links lead in a circle"):
        whole.write(tmp_path / "a", "")


def test_a_file_keeps_its_permissions(tmp_path: Path) -> None:
    file = tmp_path / "file"
    whole.write(file, "one")
    assert stat.S_IMODE(file.stat().st_mode) == 0o644
    file.chmod(0o660)
    whole.write(file, "two")
    assert stat.S_IMODE(file.stat().st_mode) == 0o660


def test_all_names_of_a_file_have_the_new_content(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    for text in ("old", "longer than the old", "short"):
        two.unlink(missing_ok=True)
        one.write_text("old and long" if text == "short" else "old")
        two.hardlink_to(one)
        whole.write(one, text)
        assert two.read_text() == text
    tmp_path.chmod(0o1777)
    whole.write(one, "another user may have made the link")
    assert two.read_text() == "short"
    assert one.stat().st_nlink == 1
    tmp_path.chmod(0o755)
    one.unlink()
    one.hardlink_to(two)

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(ElaniteError, match="one cannot be written: No space left on device"):
        whole.write(one, "too long for this disk")
    assert two.read_text() == "short"


@pytest.mark.skipif(os.geteuid() != 0, reason="only the superuser gives files away")
def test_a_file_keeps_its_owner(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("old")
    os.chown(file, 12345, 12345)
    whole.write(file, "new")
    assert (file.read_text(), file.stat().st_uid, file.stat().st_gid) == ("new", 12345, 12345)


def test_a_file_in_the_way_of_a_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ElaniteError, match=r"b cannot be written: .*file is not a folder$"):
        whole.write(tmp_path / "file" / "a" / "b", "")


def test_a_pipe_is_written_to(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pipe, read, said = tmp_path / "pipe", [], []
    os.mkfifo(pipe)
    writer = threading.Thread(target=whole.write, args=(pipe, "for the reader"))
    writer.start()
    assert until(lambda: bool(said.append(capsys.readouterr().err) or "".join(said)))
    assert "".join(said) == f"{pipe} is a pipe, and waits for its reader\n"
    read.append(pipe.read_text())
    writer.join(PATIENCE)
    assert read == ["for the reader"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.skipif(os.geteuid() != 0, reason="only the superuser makes devices")
def test_a_device_is_written_to(tmp_path: Path, campaign: Path, elanite: Elanite) -> None:
    """In a folder that the command may write, so that it could replace the device."""
    for name, minor in (("null", 3), ("full", 7)):
        try:
            os.mknod(tmp_path / name, 0o666 | stat.S_IFCHR, os.makedev(1, minor))
            (tmp_path / name).open("wb").close()
        except PermissionError:
            pytest.skip("this container has no devices of its own")
    (tmp_path / "trace.goal").write_text(
        "num_ranks 2\nrank 0 {\nl1: send 8b to 1\n}\nrank 1 {\nl1: recv 8b from 0\n}\n"
    )
    for words in (
        ("store", "export", "--store", str(campaign)),
        ("replay", "trace.goal", "--html"),
    ):
        assert elanite(*words, "null").code == 0, words
        ended = elanite(*words, "full")
        assert ended.code == 1, (words, ended)
        assert "full cannot be written: No space left on device" in ended.err, (words, ended)
    assert stat.S_ISCHR((tmp_path / "null").stat().st_mode)
    assert stat.S_ISCHR((tmp_path / "full").stat().st_mode)


def test_standard_output_as_a_file_follows_what_is_there(campaign: Path, tmp_path: Path) -> None:
    """It is a regular file here, which the shell has opened: it is not replaced."""
    inside = 'echo before; "$@"; echo after'
    export = command("store", "export", "/dev/stdout", "--store", str(campaign), "-q")
    file = tmp_path / "output"
    with file.open("wb") as stream:
        subprocess.run(
            ["sh", "-c", inside, "sh", *export], env=environment(), stdout=stream, check=True
        )
    content = file.read_bytes()
    assert content.startswith(b"before\nPAR1")
    assert content.endswith(b"after\n")
    assert content.count(b"PAR1") == 2


def test_names_aside_cannot_be_guessed(tmp_path: Path) -> None:
    """The name is random and new, so that another user's link in the folder is useless."""
    names = set()
    for _ in range(3):
        with whole.replacing(tmp_path / "page.html") as aside:
            names.add(aside.name)
            assert aside.suffix == ".html"
            with pytest.raises(FileExistsError):
                whole.new(aside, "")
    assert len(names) == 3


def test_an_exception_leaves_the_file_that_was_there(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("before")

    def broken() -> None:
        with whole.replacing(file) as aside:
            whole.fill(aside, "half")
            raise OSError(28, "No space left on device")

    with pytest.raises(ElaniteError, match=rf"{file} cannot be written: No space left on device"):
        broken()
    assert file.read_text() == "before"
    assert list(tmp_path.iterdir()) == [file]


def inputs(place: str) -> dict[str, tuple[str, ...]]:
    """A command for each option that names a file to read; ``place`` is the file."""
    return {
        "check": ("check", place),
        "run": ("run", place),
        "show": ("show", place),
        "machine": ("run", SMALL, "--machine", place),
        "graph": ("check", "graph.toml"),
        "pairs": ("run", "pairs.toml", "--set", 'series.load.uniform.pattern="pairs.csv"'),
        "measured": ("calibrate", SMALL, "--to", place, "--fit", "bus.rate=150 MB/s..400 MB/s"),
        "trace": ("replay", place),
        "placement": ("replay", "trace.goal", "--placement", place),
        "page": ("open", place),
        "import": ("goal", "import", place, "--output", "x.goal"),
        "network": ("import", place),
    }


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("/dev/zero", "it is a device"),
        ("pipe", "it is a pipe"),
        ("large", "it has 20,000,000,000 bytes"),
    ],
)
def test_a_file_to_read_is_regular_and_bounded(
    tmp_path: Path, elanite: Elanite, place: str, words: str
) -> None:
    """Before its first byte is read, and before memory is taken."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "large").touch()
    os.truncate(tmp_path / "large", 20_000_000_000)
    (tmp_path / "pairs.csv").symlink_to(place)
    (tmp_path / "pairs.toml").write_text(Path(SMALL).read_text())
    text = (PACKAGE / "data" / "machines" / "es40-qsnet.toml").read_text()
    text = text.replace('kind = "fat-tree"', 'kind = "graph"')
    graph = f'\n[topology.file]\nvalue = "{place}"\nsource = "x"\n'
    (tmp_path / "graph.toml").write_text(text + graph)
    (tmp_path / "trace.goal").write_text("num_ranks 2\nrank 0 {\n}\nrank 1 {\n}\n")
    for name, line in inputs(place).items():
        if place == "large" and name in ("trace", "import"):
            continue  # traces may be larger than memory
        ended = (
            elanite(*line, "--out", "out")
            if name in ("run", "machine", "measured", "placement")
            else elanite(*line)
        )
        assert ended.code == 2, (name, ended)
        if name == "pairs":
            assert "pairs.csv cannot be read: it " in ended.err, ended
        else:
            assert (
                f"{place}: {words}" in ended.err
                or f"{place}: it cannot be read: {words}" in ended.err
            ), (
                name,
                ended,
            )


def odd(name: str) -> dict[str, tuple[str, ...]]:
    """Commands with a name that a file system has, and no text."""
    return {
        "check": ("check", f"{name}.toml"),
        "show": ("show", f"{name}.toml"),
        "run": ("run", f"{name}.toml"),
        "page": ("run", SMALL, "--html", f"{name}.html"),
        "machine": ("run", SMALL, "--machine", f"{name}.toml"),
        "set": ("show", "es40-qsnet", "--set", f"bus.rate={name}"),
        "measured": (
            "calibrate",
            SMALL,
            "--to",
            f"{name}.csv",
            "--fit",
            "bus.rate=150 MB/s..400 MB/s",
        ),
        "import": ("import", f"{name}.txt", "--terminals", "1"),
        "new": ("new", "machine", name, "--nodes", "64"),
        "replay": ("replay", f"{name}.goal"),
        "mpirun": ("mpirun", "-n", "2", "--placement", name, "./program"),
        "store": ("store", "verify", "--store", name),
    }


def test_names_with_bytes_that_are_no_text_are_refused(tmp_path: Path, elanite: Elanite) -> None:
    name = os.fsdecode(b"a\xff")
    for end in ("toml", "csv", "txt", "goal"):
        (tmp_path / f"{name}.{end}").write_text("num_ranks 1\nrank 0 {\n}\n")
    before = sorted(tmp_path.iterdir())
    for case, words in odd(name).items():
        ended = elanite(*words)
        assert ended.code == 2, (case, ended)
        assert ": this name has bytes that are not UTF-8; give it another one\n" in ended.err, (
            case,
            ended,
        )
    assert sorted(tmp_path.iterdir()) == before


def test_a_folder_with_bytes_that_are_no_text_is_no_bug(tmp_path: Path, elanite: Elanite) -> None:
    folder = tmp_path / os.fsdecode(b"a\xff")
    folder.mkdir()
    (folder / "trace.goal").write_text("num_ranks 1\nrank 0 {\nl1: calc 5\n}\n")
    for words in (
        ("run", SMALL, "--html", "page.html"),
        ("replay", "trace.goal", "--html", "replay.html"),
    ):
        ended = elanite(*words, cwd=folder)
        assert ended.code in (0, 2), ended
        assert "Traceback" not in ended.err


def test_folders_within_folders_without_end(tmp_path: Path, elanite: Elanite) -> None:
    """As many as a path may have, and more."""
    deep = "x/" * 1200 + "y"
    whole.write(tmp_path / deep, "deep")
    assert (tmp_path / deep).read_text() == "deep"
    for words in (
        ("--out", "z/" * 2500),
        ("--html", f"{'z/' * 2500}page.html"),
        ("--out", "z" * 300),
    ):
        ended = elanite("run", SMALL, *words)
        assert ended.code in (1, 2), ended
        assert "File name too long" in ended.err, ended
    assert [path.name for path in tmp_path.iterdir()] == ["x"]
    # pytest removes old folders by recursion, and Python 3.11 does not come back from one this
    # deep.
    subprocess.run(["rm", "-r", tmp_path / "x"], check=True)


def test_a_file_that_grows_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "file"
    file.write_text("12345")
    assert bounded.load(file, 5) == b"12345"
    with pytest.raises(
        UsageError,
        match=r"--to: .*file: it has 5 bytes, and at most 4 are read; is it the right file",
    ):
        bounded.text(file, 4, named="--to")
    monkeypatch.setattr(bounded, "_regular", lambda *_: None)
    with pytest.raises(bounded.IrregularFile):
        bounded.load(file, 4)


def test_a_kernel_file_that_would_wait_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `/proc/kmsg`, whose reading takes lines from others."""
    file = tmp_path / "file"
    file.touch()
    assert bounded.load(file, 4) == b""
    monkeypatch.setattr(bounded, "_ready", lambda _: False)
    with pytest.raises(UsageError, match=r"it is a kernel file without data; name a regular file"):
        bounded.text(file, 4)
    file.write_text("1")
    assert bounded.load(file, 4) == b"1"


def test_a_temporary_folder_without_room_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And not the file that is copied, nor standard output."""
    trace = tmp_path / "x.goal.gz"
    trace.write_bytes(gzip.compress(b"num_ranks 1\nrank 0 {\nl1: calc 5\n}\n"))
    assert goal_file.read(trace).ranks == 1
    os.mkfifo(tmp_path / "pipe")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(whole, "fill", full)
    words = rf"No space left on device in {tempfile.gettempdir()}; TMPDIR names another folder"
    with pytest.raises(ElaniteError, match=f"a copy cannot be written: {words}"):
        goal_file.read(trace)
    with pytest.raises(ElaniteError, match=f"pipe cannot be written: {words}"):
        whole.write(tmp_path / "pipe", "x")


def test_an_import_that_finds_no_room_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "edges.txt").write_text("a b\nb c\n")
    monkeypatch.chdir(tmp_path)
    write = whole.write

    def full(path: Path, text: str) -> None:
        if path.suffix == ".toml":
            raise ElaniteError(f"{path} cannot be written: No space left on device")
        write(path, text)

    monkeypatch.setattr(whole, "write", full)
    with pytest.raises(SystemExit) as left:
        cli.main(["import", "edges.txt", "--terminals", "1", "-o", "net.toml"])
    assert left.value.code == 1
    assert [each.name for each in tmp_path.iterdir()] == ["edges.txt"]
