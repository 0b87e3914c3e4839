"""A host without room for the ranks is known before the first rank starts."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from conftest import command, environment, execute, needs_mpi
from elanite.base import host
from elanite.errors import UsageError
from elanite.mpirun.resources import Host, check

ENOUGH = Host(memory=None, shared=None, descriptors=None, processes=None)


def test_a_host_of_unknown_limits_is_enough() -> None:
    check(65_536, ENOUGH)


@pytest.mark.parametrize(
    ("host", "words"),
    [
        (
            Host(7_680_819_199, None, None, None),
            "memory: 7,681 MB needed, 7,680 MB left; start fewer ranks",
        ),
        (
            Host(None, 1_086_914_559, None, None),
            "room in /dev/shm: 1,087 MB needed, 1,086 MB left; enlarge it: mount",
        ),
        (
            Host(None, None, 2_111, None),
            "open files of a process: 2,112 needed, 2,111 left; raise the hard limit",
        ),
        (Host(None, None, None, 1_024), "processes: 1,025 needed, 1,024 left; raise the limit"),
    ],
)
def test_each_limit_is_named(host: Host, words: str) -> None:
    """One less than the requirement is an error, and the requirement is enough."""
    with pytest.raises(UsageError) as raised:
        check(1024, host)
    assert str(raised.value).startswith(f"this host has no room for 1,024 ranks:\n  {words}")
    check(1024, Host(*(None if one is None else one + 1 for one in vars(host).values())))


def test_all_limits_are_named_at_once() -> None:
    with pytest.raises(UsageError) as raised:
        check(2, Host(0, 0, 0, 0))
    assert len(str(raised.value).splitlines()) == 5


@needs_mpi
def test_a_run_with_few_open_files_does_not_start(mpi_programs: Path, tmp_path: Path) -> None:
    words = [
        "sh",
        "-c",
        'ulimit -n 128; exec "$@"',
        "sh",
        *command("mpirun", "-n", "33", str(mpi_programs / "messages")),
    ]
    ended = execute(words, cwd=tmp_path, env=environment())
    assert ended.code == 2, ended
    assert "open files of a process: 130 needed, 128 left" in ended.err


@needs_mpi
@pytest.mark.skipif(os.geteuid() != 0, reason="a file system of its own needs the superuser")
def test_a_run_in_a_container_with_little_shared_memory_does_not_start(
    mpi_programs: Path, tmp_path: Path
) -> None:
    """Docker gives 64 MB: 60 ranks find room, and more do not."""
    inside = 'mount -t tmpfs -o size=64M tmpfs /dev/shm && exec "$@"'
    words = ["unshare", "--mount", "sh", "-c", inside, "sh"]
    if subprocess.run([*words, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this container may not mount")
    for ranks, code in ((8, 0), (64, 2)):
        run = command("mpirun", "-n", str(ranks), "-q", str(mpi_programs / "messages"), "10")
        ended = execute([*words, *run], cwd=tmp_path, env=environment())
        assert ended.code == code, ended
    assert "room in /dev/shm: 68 MB needed, 67 MB left" in ended.err


def test_limits_of_groups_around_this_one_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    for folder, limit, now in ((inner, "max", 5), (inner.parent, "100", 30)):
        (folder / "pids.max").write_text(limit)
        (folder / "pids.current").write_text(str(now))
    own = tmp_path / "own"
    own.write_text("0::/a/b\n")
    monkeypatch.setattr(host, "_GROUPS", tmp_path)
    monkeypatch.setattr(host, "_OWN_GROUP", own)
    assert host.group_left("pids.max", "pids.current") == 70
    assert host.group_left("memory.max", "memory.current") is None


def test_files_in_memory_are_no_used_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel counts them in a group, and drops them where a process needs memory."""
    (tmp_path / "job").mkdir()
    own = tmp_path / "own"
    own.write_text("0::/job\n")
    stat = "anon 290\ninactive_anon 290\nactive_file 500\ninactive_file 100\nshmem 10\n"
    texts = {"memory.max": "1000", "memory.current": "900", "memory.stat": stat}
    for name, text in texts.items():
        (tmp_path / "job" / name).write_text(text)
    monkeypatch.setattr(host, "_GROUPS", tmp_path)
    monkeypatch.setattr(host, "_OWN_GROUP", own)
    monkeypatch.setattr(host, "available", lambda: None)
    room = host.memory()
    assert room is not None
    assert room.left == 1000 - (900 - 500 - 100)


def test_limits_of_groups_of_the_first_version_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = tmp_path / "memory" / "slurm" / "job"
    job.mkdir(parents=True)
    for folder, limit in ((job, 9223372036854771712), (job.parent, 5_000_000_000)):
        (folder / "memory.limit_in_bytes").write_text(f"{limit}\n")
        (folder / "memory.usage_in_bytes").write_text("2000000000\n")
        (folder / "memory.stat").write_text(
            "inactive_file 1\ntotal_inactive_file 7\ntotal_active_file 0\n"
        )
    own = tmp_path / "own"
    own.write_text("12:pids:/slurm/job\n4:cpu,memory:/slurm/job\n")
    monkeypatch.setattr(host, "_GROUPS", tmp_path)
    monkeypatch.setattr(host, "_OWN_GROUP", own)
    monkeypatch.setattr(host, "available", lambda: 8_000_000_000)
    room = host.memory()
    assert room is not None
    assert (room.left, room.limit) == (3_000_000_007, "the memory limit of the control group")


@pytest.mark.parametrize(
    ("quota", "processors"), [("max 100000", 16), ("250000 100000", 2), ("50000 100000", 1)]
)
def test_a_quota_of_processor_time_counts(
    quota: str, processors: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (inner / "cpu.max").write_text("max 100000\n")
    (inner.parent / "cpu.max").write_text(f"{quota}\n")
    own = tmp_path / "own"
    own.write_text("0::/a/b\n")
    monkeypatch.setattr(host, "_GROUPS", tmp_path)
    monkeypatch.setattr(host, "_OWN_GROUP", own)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(16)))
    assert host.processors() == processors


@pytest.mark.parametrize(("quota", "processors"), [(-1, 16), (400_000, 4)])
def test_a_quota_of_the_first_version_counts(
    quota: int, processors: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = tmp_path / "cpu" / "job"
    job.mkdir(parents=True)
    (job / "cpu.cfs_quota_us").write_text(f"{quota}\n")
    (job / "cpu.cfs_period_us").write_text("100000\n")
    own = tmp_path / "own"
    own.write_text("4:cpu,cpuacct:/job\n")
    monkeypatch.setattr(host, "_GROUPS", tmp_path)
    monkeypatch.setattr(host, "_OWN_GROUP", own)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(16)))
    assert host.processors() == processors
