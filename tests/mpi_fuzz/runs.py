"""Compiles programs, runs them, and compares their records."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from .configurations import BIN
from .emit import FOLDER, PRELUDE, emit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .configurations import Configuration
    from .steps import Program

FLAGS = ("-std=c11", "-D_DEFAULT_SOURCE", "-Wall", "-Wextra", "-Werror")

LAST = "all done\n"


@dataclass(frozen=True)
class Ended:
    """A run's end: its exit code (``None``: it did not end in time), each rank's records, its
    output.
    """

    code: int | None
    records: tuple[str, ...]
    said: str

    def fault(self) -> str:
        """The error of the run itself, if any."""
        if self.code is None:
            return "did not end in time"
        for rank, text in enumerate(self.records):
            for line in text.splitlines():
                if line.startswith("wrong"):
                    return f"rank {rank}: {line}"
        if self.code != 0:
            return f"exit code {self.code}: " + " ".join(self.said.split())[:2000]
        if not all(text.endswith(LAST) for text in self.records):
            return "not all ranks have come to their end"
        return ""

    def parts(self) -> dict[int, list[list[str]]]:
        """For each program that has begun, each rank's lines."""
        found: dict[int, list[list[str]]] = {}
        for rank, text in enumerate(self.records):
            lines: list[str] = []
            for line in text.splitlines():
                if line.startswith("program "):
                    lines = []
                    found.setdefault(int(line.split()[1]), [[] for _ in self.records])[rank] = lines
                else:
                    lines.append(line)
        return found


def differ(native: Ended, other: Ended) -> str:
    """The first difference between two runs, in words; empty if they are equal."""
    fault = other.fault()
    if fault:
        return fault
    for rank, (one, two) in enumerate(zip(native.records, other.records, strict=True)):
        for mine, theirs in zip(one.splitlines(), two.splitlines(), strict=False):
            if mine != theirs:
                return f"rank {rank}: natively {mine!r}, simulated {theirs!r}"
        if one != two:
            return (
                f"rank {rank}: natively {len(one.splitlines())} lines of records, simulated"
                f" {len(two.splitlines())}"
            )
    return ""


def first_unlike(native: Ended, other: Ended, programs: Sequence[Program]) -> Program:
    """The program at which two runs part."""
    mine, theirs = native.parts(), other.parts()
    last = programs[0]
    for program in programs:
        if program.seed not in theirs:
            return last  # the one before did not end
        last = program
        same = mine.get(program.seed) == theirs[program.seed]
        if not same or any(
            line.startswith("wrong") for lines in theirs[program.seed] for line in lines
        ):
            return program
    return last


class Workshop:
    """A folder in which programs are compiled and run."""

    def __init__(self, folder: Path, slow: float = 1.0) -> None:
        self.folder = folder
        self.slow = slow
        """The factor for all time limits."""
        self._count = 0
        folder.mkdir(parents=True, exist_ok=True)
        self._objects = [self._object(path) for path in PRELUDE]

    def _object(self, path: Path) -> str:
        made = self.folder / f"{path.stem}.o"
        subprocess.run([BIN / "mpicc", *FLAGS, "-O2", "-c", path, "-o", made], check=True)
        return str(made)

    def build(self, programs: Sequence[Program]) -> Path:
        """An executable with all the programs, one after the other."""
        self._count += 1
        source = self.folder / f"programs-{self._count}.c"
        source.write_text(emit(programs), encoding="utf-8")
        made = source.with_suffix("")
        words = [
            str(BIN / "mpicc"),
            *FLAGS,
            "-O0",
            f"-I{FOLDER}",
            str(source),
            *self._objects,
            "-o",
            str(made),
        ]
        subprocess.run(words, check=True)
        source.unlink()
        return made

    def run(self, made: Path, ranks: int, how: Configuration, seconds: float) -> Ended:
        """Runs an executable."""
        self._count += 1
        place = self.folder / f"run-{self._count}"
        place.mkdir()
        environment = os.environ | how.variables | {"FUZZ_RECORDS": str(place)}
        words = how.command(str(made), str(place / "out"))
        said = place / "said"
        with said.open("wb") as stream:
            process = subprocess.Popen(
                words,
                stdout=stream,
                stderr=stream,
                stdin=subprocess.DEVNULL,
                env=environment,
                start_new_session=True,
            )
            try:
                code: int | None = process.wait(seconds * self.slow)
            except subprocess.TimeoutExpired:
                code = None
                process.send_signal(signal.SIGINT)
                try:
                    process.wait(10)
                except subprocess.TimeoutExpired:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
            except BaseException:
                os.killpg(process.pid, signal.SIGKILL)
                raise
        paths = [place / str(rank) for rank in range(ranks)]
        records = tuple(path.read_text(encoding="utf-8") if path.exists() else "" for path in paths)
        ended = Ended(code, records, said.read_text(encoding="utf-8", errors="replace"))
        shutil.rmtree(place, ignore_errors=True)
        return ended
