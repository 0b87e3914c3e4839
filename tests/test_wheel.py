"""A wheel from a clean clone is self-contained: another user, in another folder, runs experiments,
MPI and compilers.

Building takes minutes. ``ELANITE_WHEEL=out/wheel/elanite-....whl`` tests a wheel that is there,
before it is released.
"""

from __future__ import annotations

import os
import pwd
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import Ended, execute
from elanite import _core

ROOT = Path(__file__).parents[1]
OTHER = "nobody"
"""The user that installs the wheel if this user is root."""

SUM = r"""
#include <shmem.h>
#include <stdio.h>

int main(void)
{
    static long sum;
    shmem_init();
    shmem_long_atomic_add(&sum, shmem_my_pe(), 0);
    shmem_barrier_all();
    if (shmem_my_pe() == 0)
        printf("%ld\n", sum);
    shmem_finalize();
}
"""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a checkout"),
    pytest.mark.skipif(not shutil.which("cargo"), reason="a wheel is built by cargo"),
]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel from a clean clone, built by `pip wheel .` with the objects that cargo has compiled
    here before.
    """
    if given := os.environ.get("ELANITE_WHEEL"):
        return Path(given).resolve()
    folder = tmp_path_factory.mktemp("clone")
    clone = folder / "elanite"
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
    target = os.environ.get("CARGO_TARGET_DIR", str(ROOT / "target"))
    words = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--no-deps",
        "--no-build-isolation",
        "--wheel-dir",
        str(folder),
        ".",
    ]
    ended = execute(words, seconds=1800, cwd=clone, env=os.environ | {"CARGO_TARGET_DIR": target})
    assert ended.code == 0, ended
    (built,) = folder.glob("*.whl")
    assert (
        subprocess.run(
            ["git", "status", "--porcelain"], cwd=clone, capture_output=True, check=True
        ).stdout
        == b""
    )
    return built


@pytest.fixture(scope="module")
def elsewhere(wheel: Path) -> Iterator[Path]:
    """Another user's folder with an environment in which only the wheel is installed, without the
    checkout.
    """
    folder = Path(tempfile.mkdtemp(prefix="elanite-wheel-"))
    shutil.copy(wheel, folder)
    folder.chmod(0o755)
    if os.geteuid() == 0:
        shutil.chown(folder, OTHER)
    try:
        python = shutil.which("python3", path="/usr/local/bin:/usr/bin:/bin") or sys.executable
        assert as_other(folder, f"{python} -m venv venv").code == 0
        installed = as_other(
            folder, f"venv/bin/pip install --quiet --no-cache-dir '{wheel.name}[mpi]'"
        )
        assert installed.code == 0, installed
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def as_other(folder: Path, line: str) -> Ended:
    """Run a shell line as another user, without this user's environment and folders."""
    chosen = {"HOME": str(folder), "PATH": f"{folder}/venv/bin:/usr/bin:/bin", "NO_COLOR": "1"}
    chosen |= {
        name: value
        for name, value in os.environ.items()
        if name.startswith(("PIP_", "SSL_", "http", "HTTP"))
    }
    words = ["bash", "-euc", line]
    if os.geteuid() == 0:
        user = pwd.getpwnam(OTHER)
        words = [
            "setpriv",
            f"--reuid={user.pw_uid}",
            f"--regid={user.pw_gid}",
            "--clear-groups",
            *words,
        ]
    return execute(words, seconds=600, cwd=folder, env=chosen)


def test_the_wheel_has_all_that_there_is(wheel: Path) -> None:
    assert re.fullmatch(
        r"elanite-\d+\.\d+\.\d+-cp311-abi3-(manylinux_\d+_\d+|linux)_\w+\.whl", wheel.name
    )
    names = set(zipfile.ZipFile(wheel).namelist())
    parts = {"elanite/_core.abi3.so", "elanite/libelanite-fi.so", "elanite/elanite-mpiexec"}
    assert parts | {"elanite/include/shmem.h"} <= names
    assert any(name.endswith("licenses/LICENSE") for name in names)
    shipped = [
        f"experiments/{file.relative_to(ROOT / 'experiments')}"
        for file in (ROOT / "experiments").rglob("*.toml")
    ]
    shipped += [f"machines/{file.name}" for file in (ROOT / "machines").glob("*.toml")]
    assert {f"elanite/data/{name}" for name in shipped} <= names
    package = ROOT / "python" / "elanite"
    own = subprocess.run(
        ["git", "ls-files", "."], cwd=package, capture_output=True, text=True, check=True
    ).stdout
    files = {name for name in own.splitlines() if name not in ("data/experiments", "data/machines")}
    assert {f"elanite/{name}" for name in files} <= names


def test_the_wheel_names_the_build_of_its_sources(elsewhere: Path, tmp_path: Path) -> None:
    """Engine and commit are the clone's, although the wheel has no git and no sources."""
    ended = as_other(elsewhere, "elanite --version")
    assert (ended.code, ended.err) == (0, "")
    if "ELANITE_WHEEL" in os.environ:
        pytest.skip("the wheel may be of another commit")
    subprocess.run(f"git archive HEAD | tar x -C {tmp_path}", shell=True, cwd=ROOT, check=True)  # noqa: S602
    commit = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    engine, _ = _core.fingerprints(tmp_path)
    assert f"engine {engine[:12]}, commit {commit[:12]})" in ended.out


def test_another_user_runs_an_experiment(elsewhere: Path) -> None:
    ended = as_other(
        elsewhere, "elanite run qsnet/ping --point 0 --format json && elanite check es40-qsnet"
    )
    assert ended.code == 0, ended
    where = as_other(elsewhere, "python -c 'import elanite; print(elanite.__file__)'")
    assert where.out.startswith(f"{elsewhere}/venv/lib/"), where


def test_another_user_runs_programs(elsewhere: Path) -> None:
    shutil.copy(ROOT / "tests" / "mpi" / "messages.c", elsewhere)
    for header in (ROOT / "tests" / "mpi").glob("check.[ch]"):
        shutil.copy(header, elsewhere)
    (elsewhere / "sum.c").write_text(SUM)
    for line, said in (
        ("mpicc -O2 -o messages messages.c check.c && elanite mpirun -n 4 ./messages 10", ""),
        ("oshcc -O2 -o sum sum.c && elanite prun -n 8 --quiet ./sum", "28\n"),
    ):
        ended = as_other(elsewhere, line)
        assert ended.code == 0, ended
        assert ended.out.endswith(said)
