"""The trial of planted mutants: which tests reach each, and whether one of them fails.

Each test runs once alone without a mutant, which shows what it reaches, and its processor time.
Then a mutant's tests run with it switched on, the shortest first, until one fails. A mutant with
which they take far more processor time than without, or far more memory, is found, too.
"""

from __future__ import annotations

import hashlib
import json
import os
import resource
import signal
import subprocess
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mutants.rust.workspace import Program

LONGEST = 5.0
"""Processor seconds of a test that counts."""
OWN, OTHERS = 30.0, 15.0
"""Processor seconds of all tests for one mutant: its own crate's, and those of crates above."""
TOGETHER = 0.5
"""Processor seconds of tests that run in one process."""
MEMORY = 4 << 30
PINNED = {
    "digest::values_are_fixed",
    "random::the_first_draws_are_fixed",
    "random::the_hundredth_draw_is_fixed",
}
"""Tests that compare values which the program itself has computed."""
ROOT = Path(__file__).resolve().parents[3]
CARGO = tomllib.loads((ROOT / ".cargo" / "config.toml").read_text(encoding="utf-8"))["env"]
QUIET = {**CARGO, "ELANITE_FUZZ_SHRINK": "2", "PROPTEST_MAX_SHRINK_ITERS": "0"}


@dataclass(frozen=True)
class Test:
    """A test, what it reaches, and its processor time."""

    program: Program
    name: str
    reached: frozenset[int] | None
    """Nothing is known of a test that the recording itself disturbs."""
    spent: float

    def reaches(self, number: int) -> bool:
        """Whether it may reach a mutant."""
        return self.reached is None or number in self.reached


def execute(
    program: Program, names: Sequence[str], seconds: float, more: dict[str, str]
) -> tuple[bool, float]:
    """Run tests; whether all pass within this processor time, and the time."""

    def limits() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 2))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    child = subprocess.Popen(
        [str(program.path), "--exact", "--test-threads=1", "--quiet", *names],
        cwd=program.folder,
        env=os.environ | QUIET | more,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=limits,
        start_new_session=True,
    )
    signal.alarm(int(60 + 30 * seconds))  # of a test that waits for ever
    try:
        _, status, usage = os.wait4(child.pid, 0)
    except TimeoutError:
        os.killpg(child.pid, signal.SIGKILL)
        _, status, usage = os.wait4(child.pid, 0)
    finally:
        signal.alarm(0)
    child.returncode = status
    return status == 0, usage.ru_utime + usage.ru_stime


def _late(_signal: int, _frame: object) -> None:
    raise TimeoutError


def listed(program: Program) -> list[str]:
    """The names of the tests that count, but for their time."""

    def names(*words: str) -> list[str]:
        command = [str(program.path), "--list", "--format", "terse", *words]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return [line[:-6] for line in done.stdout.splitlines() if line.endswith(": test")]

    without = {*names("--ignored"), *PINNED}
    return [one for one in names() if one not in without and not one.startswith("mistakes::")]


def record(program: Program) -> list[tuple[str, list[int] | None, float]]:
    """Each test of a program that passes: which mutants it reaches, and its time."""
    found: list[tuple[str, list[int] | None, float]] = []
    for name in listed(program):
        with tempfile.NamedTemporaryFile() as file:
            recording = {"ELANITE_MUTANTS_REACHED": file.name}
            good, spent = execute(program, [name], 2 * LONGEST, recording)
            if good:
                reached = sorted(map(int, Path(file.name).read_text().split()))
                found.append((name, reached, spent))
                continue
        good, spent = execute(program, [name], 2 * LONGEST, {})
        if good:
            found.append((name, None, spent))
    return found


class Trial:
    """The test programs, and what each of their tests reaches."""

    def __init__(self, programs: Sequence[Program], crates: Sequence[str], cache: Path) -> None:
        self.programs, self.crates, self.cache = programs, crates, cache
        self.known: dict[Path, list[Test]] = {}
        signal.signal(signal.SIGALRM, _late)

    def tests(self, program: Program) -> list[Test]:
        """The tests of a program that count. An unchanged program's are those of the last trial."""
        if program.path not in self.known:
            key = hashlib.sha256(program.path.read_bytes()).hexdigest()
            stored = json.loads(self.cache.read_text()) if self.cache.exists() else {}
            if key not in stored:
                stored[key] = record(program)
                self.cache.write_text(json.dumps(stored))
            self.known[program.path] = [
                Test(program, name, None if reached is None else frozenset(reached), spent)
                for name, reached, spent in stored[key]
                if spent <= LONGEST
            ]
        return self.known[program.path]

    def reaching(self, number: int, crates: Sequence[str]) -> list[Test]:
        """The tests of some crates that reach a mutant."""
        programs = [one for one in self.programs if one.crate in crates]
        return [one for program in programs for one in self.tests(program) if one.reaches(number)]

    def killer(self, number: int, crate: str) -> str | None:
        """The first tests that fail with a mutant of a crate."""
        above = self.crates[self.crates.index(crate) + 1 :]
        for crates, most in (((crate,), OWN), (above, OTHERS)):
            for group in grouped(self.reaching(number, crates), most):
                program, names = group[0].program, [one.name for one in group]
                seconds = 4 * sum(one.spent for one in group) + 2
                if not execute(program, names, seconds, {"ELANITE_MUTANT": str(number)})[0]:
                    return f"{program.crate} {names[0]}" + (" .." if names[1:] else "")
        return None


def grouped(tests: Sequence[Test], most: float) -> list[list[Test]]:
    """The shortest tests within a processor time, in groups that run together."""
    groups: list[list[Test]] = []
    total = 0.0
    for test in sorted(tests, key=lambda one: one.spent):
        total += test.spent
        if total > most:
            break
        fits = groups and groups[-1][0].program == test.program
        if fits and sum(one.spent for one in groups[-1]) + test.spent <= TOGETHER:
            groups[-1].append(test)
        else:
            groups.append([test])
    return groups
