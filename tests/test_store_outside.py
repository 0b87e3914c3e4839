"""External errors: reported before any simulation, without a traceback, and no leftovers."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from shlex import join, quote

import pytest

from conftest import SMALL, Ended, command, environment, execute
from hosts import hosts, on_a_host

__all__ = ["hosts"]

Run = Callable[..., Ended]

COMMANDS = {
    "run": ["run", SMALL, "--format", "csv"],
    "reproduce": ["reproduce", "--only", "qsnet/ping"],
}


def unwarned(text: str) -> str:
    """Standard error without the plan's warnings."""
    return "".join(
        line for line in text.splitlines(keepends=True) if not line.startswith("warning: ")
    )


def told(ended: Ended, code: int, *words: str) -> None:
    assert ended.code == code, ended
    assert "Traceback" not in ended.err
    assert unwarned(ended.err).startswith("error: "), ended  # nothing before it: no progress
    for word in words:
        assert word in ended.err
    assert not ended.out


@pytest.mark.parametrize("name", COMMANDS)
def test_out_that_is_a_file_is_refused(elanite: Run, tmp_path: Path, name: str) -> None:
    (tmp_path / "taken").write_text("mine")
    told(elanite(*COMMANDS[name], "--out", "taken"), 2, "taken is no folder", "Name another folder")
    told(elanite(*COMMANDS[name], "--out", "taken/deeper"), 2, "taken is no folder", "taken/deeper")
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]
    assert (tmp_path / "taken").read_text() == "mine"


@pytest.mark.parametrize(
    "harm", [Path.touch, lambda path: path.symlink_to("nowhere")], ids=["file", "dangling link"]
)
def test_a_store_that_is_no_folder_is_refused(
    elanite: Run, tmp_path: Path, harm: Callable[[Path], object]
) -> None:
    (tmp_path / "out").mkdir()
    harm(tmp_path / "out" / "store")
    told(elanite(*COMMANDS["run"]), 2, "out/store is no folder")


def test_a_report_that_has_no_place_is_refused_before_the_campaign(
    elanite: Run, tmp_path: Path
) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "report").touch()
    told(elanite(*COMMANDS["reproduce"]), 2, "out/report is no folder")
    assert not (tmp_path / "out" / "store").exists()


def mounted(folder: Path, how: str, *lines: str, size: str = "512k") -> Ended:
    """Commands in a folder where a disk of ``size`` is mounted as ``disk``; ``how`` prepares the
    disk.
    """
    (folder / "disk").mkdir()
    script = "\n".join(
        [
            "set -e",
            f"cd {quote(str(folder))}",
            f"mount -t tmpfs -o size={size},{DISK} tmpfs disk",
            how,
            "set +e",
            *lines,
        ]
    )
    return execute([*on_a_host("first", "sh", "-c", script)], env=environment())


ELANITE = f"{quote(sys.executable)} -m elanite"
DISK = "nosuid,nodev,noexec,relatime"
# Only the mount: a remount of the file system repeats its user, which another user's namespace does
# not have.
READ_ONLY = "mount -o remount,bind,ro disk"


@pytest.mark.usefixtures("hosts")
@pytest.mark.parametrize("name", COMMANDS)
def test_a_full_disk_is_told_before_anything_is_simulated(tmp_path: Path, name: str) -> None:
    full = "dd if=/dev/zero of=disk/file bs=1k count=500 2>/dev/null; mkdir disk/out"
    ended = mounted(
        tmp_path,
        full,
        f"{ELANITE} {join(COMMANDS[name])} --out disk/out; code=$?",
        "ls -A disk/out/*",
        "exit $code",
    )
    assert ended.code == 1, ended
    assert unwarned(ended.err).startswith("error: disk/out/")
    assert "cannot be written: No space left on device" in ended.err
    assert "Make room" in ended.err
    assert ".partial" not in ended.out


@pytest.mark.usefixtures("hosts")
@pytest.mark.parametrize("name", COMMANDS)
def test_a_folder_that_is_only_read_is_told(tmp_path: Path, name: str) -> None:
    ended = mounted(tmp_path, READ_ONLY, f"{ELANITE} {join(COMMANDS[name])} --out disk/out")
    told(
        ended,
        1,
        "error: disk/out/",
        "cannot be written: Read-only file system",
        "choose another one with --out",
    )


@pytest.mark.usefixtures("hosts")
def test_files_without_a_place_are_told_before_anything_is_simulated(tmp_path: Path) -> None:
    page = f"{ELANITE} run {quote(SMALL)} --html disk/page.html"
    ended = mounted(
        tmp_path, READ_ONLY, f"{page}; code=$?; ls; {ELANITE} new machine disk/mine; exit $code"
    )
    assert ended.code == 1, ended
    assert ended.out.split() == ["disk"], "no folder of results"
    assert ended.err.splitlines() == [
        "error: disk/page.html cannot be written: Read-only file system",
        "error: disk/mine.toml cannot be written: Read-only file system",
    ]


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_output_on_a_full_disk_is_an_error(tmp_path: Path, unbuffered: str) -> None:
    line = f"{ELANITE} list machines >/dev/full"
    ended = execute(
        ["sh", "-c", line], cwd=tmp_path, env=environment() | {"PYTHONUNBUFFERED": unbuffered}
    )
    assert (ended.code, ended.err) == (1, "error: standard output: No space left on device\n")


def test_a_current_folder_that_was_removed_is_named(tmp_path: Path) -> None:
    line = f"mkdir gone; cd gone; rmdir ../gone; {ELANITE} run {quote(SMALL)}"
    ended = execute(["sh", "-c", line], cwd=tmp_path, env=environment())
    told(ended, 1, "error: the current folder: No such file or directory")


@pytest.mark.usefixtures("hosts")
def test_finished_points_are_shown_from_a_disk_that_is_only_read(
    campaign: Path, tmp_path: Path
) -> None:
    line = f"{ELANITE} run {quote(SMALL)} --out disk --format csv"
    full = f"cp -r {quote(str(campaign))}/store disk/ && {READ_ONLY}"
    ended = mounted(tmp_path, full, line, size="100m")
    assert ended.code == 0, ended
    assert (
        ended.out == execute(command("run", SMALL, "--out", str(campaign), "--format", "csv")).out
    )


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that other users may enter."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def test_a_store_that_cannot_be_read_is_told(campaign: Path, open_folder: Path) -> None:
    """As another user; the store's files are readable, and must not be taken for damaged when they
    are not.
    """
    shutil.copytree(campaign / "store", open_folder / "store")
    point = min((open_folder / "store").iterdir())
    (point / "rows.parquet").chmod(0)
    prefix = (
        ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if os.geteuid() == 0 else []
    )
    probe = execute([*prefix, *command("--version")])
    if probe.code != 0:
        pytest.skip(f"another user cannot run elanite: {probe.err}")
    line = [*prefix, *command("run", SMALL, "--out", str(open_folder), "--format", "csv")]
    told(
        execute(line),
        1,
        f"{point}/rows.parquet cannot be read: Permission denied",
        "Nothing was changed",
    )
    assert point.is_dir()
    (open_folder / "store").chmod(0)
    told(execute(line), 1, "Permission denied")
    told(
        execute([*prefix, *command("store", "verify", "--store", str(open_folder))]),
        1,
        "Permission denied",
    )
    (open_folder / "store").chmod(0o755)


def test_two_campaigns_at_once_end_well(campaign: Path, tmp_path: Path) -> None:
    """Also when one cleans while the other one writes."""
    lines = [
        command("run", SMALL, "--out", str(tmp_path), "--format", "csv"),
        command("store", "gc", "--store", "out"),
    ]
    (tmp_path / "out").symlink_to(".")
    (tmp_path / "store").mkdir()
    running = subprocess.Popen(lines[0], stdout=subprocess.DEVNULL, env=environment())
    while running.poll() is None:
        assert execute(lines[1], cwd=tmp_path).code == 0
    assert running.returncode == 0
    assert execute(command("store", "verify", "--store", str(tmp_path))).code == 0
    assert len(list((tmp_path / "store").iterdir())) == len(list((campaign / "store").iterdir()))
