r"""MPICH's own test suite, under any launcher: run program by program, reported test by test,
compared run with run.

The suite is the folder ``test/mpi`` in MPICH's sources. Files ``testlist`` list its programs: name,
process count, arguments, environment, perhaps a time limit, and the rule for judging the output.
The suite is built once, outside this project, with the compiler of the MPI in use;
``docs/conformance.md`` has the commands.
This program judges as strictly as the suite's own ``runtests``: a test passes if its output is
``No Errors`` once, and only that, and the exit code is 0. Tests that are expected to fail, or that
need more memory than is allowed, are omitted.

The launcher stands after ``--``. This program appends ``-n`` and the process count to its words:

    python tests/mpi_suite.py run mpich/test/mpi native.jsonl --limit 180 -- .venv/bin/mpiexec
    python tests/mpi_suite.py run mpich/test/mpi simulated.jsonl --limit 600 \
        -- elanite mpirun --quiet --collectives mpi
    python tests/mpi_suite.py compare native.jsonl simulated.jsonl

Each test leaves one JSON line in the results. A test with a line there is not run again, so that a
run can be stopped and resumed. ``--again failure,unfinished`` repeats tests with these results; a
test's last line counts. ``--select`` and ``--leave`` are regular expressions, searched in lines
such as these, which ``list`` prints:

    coll/allred 4 -count=10
    coll/bcasttest 8 MPIR_CVAR_BCAST_INTRA_ALGORITHM=binomial

Options that only wide runs need are given with the width: ``--wide 64 '--ranks-per-node 4'``. A
test's words for mpiexec, ``-disable-auto-cleanup``, go to the launcher with two dashes. Lines that
the launcher itself prints about an expected failure are not test output: ``--own '^(error:|  )'``
names such lines.
"""

# ruff: noqa: T201

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path

ENDED = ("ok", "skip", "failure", "unfinished", "missing")
LISTS = ("testlist", "testlist.dtp")
COUNTED = ("tests", "native", "simulated", "differs")
NONE_IN_TIME = None

FINE = re.compile(r"\s*No [Ee]rrors\s*$")
SKIPPED = re.compile(r"\s*Test Skipped\s*$")
WARNING = re.compile(r"(MPICH: |WARNING: |(Abort.*)?application called MPI_Abort)")
HEARD = 64 << 10  # bytes of output that are read
KEPT = 12  # lines of output that are kept


@dataclass
class Test:
    """One line in a test list."""

    folder: str
    program: str
    processes: int
    words: list[str] = field(default_factory=list)  # of the program
    variables: list[str] = field(default_factory=list)  # of its environment, each NAME=VALUE
    mpiexec: list[str] = field(default_factory=list)  # words of the launcher
    judge: str = ""
    end: str = ""  # seconds after which mpiexec must end it
    limit: float = 0.0  # seconds that the list allows
    memory: float = 0.0  # GB

    @property
    def name(self) -> str:
        """The key for selection and results."""
        return " ".join(
            [f"{self.folder}/{self.program}", str(self.processes), *self.variables, *self.words]
        )


def listed(suite: Path, lists: tuple[str, ...] = LISTS, folder: str = "") -> Iterator[Test]:
    """The tests in a suite folder, and in the folders that its lists name; not those that are
    expected to fail.
    """
    here = suite / folder
    for path in (here / name for name in lists):
        if not path.is_file():
            continue
        for line in path.read_text().splitlines():
            parts = line.split("#")[0].split()
            if not parts or parts[0].startswith("!"):
                continue
            if (here / parts[0]).is_dir():
                yield from listed(suite, lists, str(Path(folder, parts[0])))
                continue
            program = Path(folder, parts[0])
            number = parts[1] if parts[1:] and "=" not in parts[1] else "2"
            test = Test(str(program.parent), program.name, int(number))
            given = [
                (key, value)
                for key, _, value in (part.partition("=") for part in parts[1:])
                if value
            ]
            test.words = [value for key, value in given if key == "arg"]
            test.variables = [value for key, value in given if key == "env"]
            test.mpiexec = [value for key, value in given if key == "mpiexecarg"]
            single = dict(given)
            test.judge = single.get("resultTest", "")
            limit = single.get("timeLimit", "")
            if test.judge.startswith(("TestErr", "TestStatus")):
                test.end = limit
            elif limit.isdecimal():
                test.limit = float(limit)
            test.memory = float(single.get("mem", 0))
            if "xfail" not in single and "hasgpu" not in single:
                yield test


def judge(
    test: Test, code: int, lines: list[str], own: re.Pattern[str] | None = None
) -> tuple[str, str]:
    """How a test ended, by its exit code and its output: ok, skip, or failure and why."""
    fine = skipped = warned = 0
    stray = []
    for line in lines:
        if FINE.match(line) and not fine:
            fine = 1
        elif SKIPPED.match(line):
            skipped += 1
        elif WARNING.match(line):
            warned += 1
        elif not (own and own.search(line)):
            stray.append(line)
    why = []
    if test.judge in ("TestStatus", "TestErrFatal", "TestStatusNoErrors"):
        if code == 0:
            why.append("exit code 0")
    elif code:
        why.append(f"exit code {code}")
    if test.judge in ("", "TestAllowWarnings", "TestStatusNoErrors"):
        if not fine and not (skipped and test.judge != "TestStatusNoErrors"):
            why.append("no No Errors")
        if stray or (warned and not test.judge):
            why.append(f"other output: {stray[0] if stray else 'a warning'}")
    if why:
        return "failure", "; ".join(why)
    return ("skip", "") if skipped else ("ok", "")


def stop(process: subprocess.Popen[bytes]) -> None:
    """Ends a launcher, by a signal that it can pass on first."""
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def run(
    suite: Path, test: Test, launcher: list[str], limit: float, own: re.Pattern[str] | None
) -> dict[str, object]:
    """Runs one test, and returns its outcome."""
    told: dict[str, object] = {"test": test.name, "folder": test.folder, "program": test.program}
    told |= {"processes": test.processes, "words": test.words, "variables": test.variables}
    home = suite / test.folder
    if not (home / test.program).is_file():
        return told | {
            "ended": "missing",
            "why": "not built",
            "code": NONE_IN_TIME,
            "seconds": 0.0,
            "tail": [],
        }
    environment = os.environ | dict(variable.split("=", 1) for variable in test.variables)
    if test.end:
        environment["MPIEXEC_TIMEOUT"] = test.end
    limit = max(limit, test.limit)
    line = [*launcher, *("--" + word.lstrip("-") for word in test.mpiexec)]
    line += ["-n", str(test.processes), f"./{test.program}", *test.words]
    begin = time.monotonic()
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(
            line,
            cwd=home,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        code: int | None
        try:
            code = process.wait(limit)
        except subprocess.TimeoutExpired:
            code = NONE_IN_TIME
            stop(process)
        seconds = time.monotonic() - begin
        out.seek(0)
        lines = out.read(HEARD).decode(errors="replace").splitlines()
    ended, why = (
        ("unfinished", f"not in {limit:g} s") if code is None else judge(test, code, lines, own)
    )
    tail = [
        text[:300]
        for text in (lines if len(lines) <= KEPT else [*lines[:2], "...", *lines[3 - KEPT :]])
    ]
    return told | {
        "ended": ended,
        "why": why,
        "code": code,
        "seconds": round(seconds, 2),
        "tail": tail,
    }


def results(path: Path) -> dict[str, dict[str, object]]:
    """Each test's last result in a file."""
    if not path.is_file():
        return {}
    told = (json.loads(line) for line in path.read_text().splitlines() if line.strip())
    return {str(one["test"]): one for one in told}


def compare(
    native: dict[str, dict[str, object]], simulated: dict[str, dict[str, object]]
) -> list[str]:
    """A table of counts per folder, and every test that passes only in the first one, with its last
    lines.
    """
    both = [(native[name], simulated[name]) for name in native if name in simulated]
    lines = [
        "| folder | tests | ok natively | ok simulated | ok natively only |",
        "|---|---|---|---|---|",
    ]
    counts: dict[str, Counter[str]] = {}
    for one, other in both:
        fine, well = one["ended"] == "ok", other["ended"] == "ok"
        for folder in (str(one["folder"]).split("/")[0], "all"):
            count = counts.setdefault(folder, Counter())
            count.update(name for name, holds in (("native", fine), ("simulated", well)) if holds)
            count.update(["tests", *(["differs"] if fine and not well else [])])
    for folder in sorted(counts, key=lambda name: (name == "all", name)):
        count = counts[folder]
        lines.append(f"| {' | '.join([folder, *(str(count[what]) for what in COUNTED)])} |")
    for one, other in both:
        if one["ended"] == "ok" != other["ended"]:
            times = f"{one['seconds']} s natively, {other['seconds']} s simulated"
            lines += ["", f"{other['ended']}: {one['test']} ({times}): {other['why']}"]
            lines += [f"    {text}" for text in other["tail"]]  # type: ignore[attr-defined]
    return lines


def chosen(wanted: argparse.Namespace) -> list[Test]:
    """The tests that the command line chooses, each once."""
    found = {test.name: test for test in listed(wanted.suite, tuple(wanted.lists.split(",")))}
    return [
        test
        for name, test in found.items()
        if re.search(wanted.select, name)
        and not (wanted.leave and re.search(wanted.leave, name))
        and test.memory <= wanted.memory
    ]


def run_all(wanted: argparse.Namespace) -> int:
    """Runs the tests chosen that have no result yet."""
    done = results(wanted.results)
    again = set(wanted.again.split(","))
    todo = [
        test
        for test in chosen(wanted)
        if test.name not in done or done[test.name]["ended"] in again
    ]
    own = re.compile(wanted.own) if wanted.own else None
    counts: Counter[str] = Counter()

    def one(test: Test) -> dict[str, object]:
        width, words = wanted.wide
        launcher = [*wanted.launcher, *(shlex.split(words) if test.processes > int(width) else [])]
        return run(wanted.suite, test, launcher, wanted.limit, own)

    with ThreadPoolExecutor(wanted.jobs) as pool, wanted.results.open("a") as out:
        try:
            for future in as_completed([pool.submit(one, test) for test in todo]):
                told = future.result()
                out.write(json.dumps(told) + "\n")
                out.flush()
                counts[str(told["ended"])] += 1
                print(
                    f"{told['seconds']:8.2f} s  {told['ended']:10}  {told['test']}  {told['why']}",
                    flush=True,
                )
        finally:  # also when it is stopped: what has begun ends, and nothing more begins
            pool.shutdown(wait=False, cancel_futures=True)
    print(f"all: {', '.join(f'{counts[how]} {how}' for how in ENDED)}")
    return 0 if counts["ok"] + counts["skip"] == len(todo) else 1


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description="MPICH's test suite under a launcher")
    ways = parser.add_subparsers(dest="way", required=True)
    lister = ways.add_parser("list", help="print the tests")
    runner = ways.add_parser("run", help="run the tests")
    comparer = ways.add_parser("compare", help="lay the results of two runs beside each other")
    for one in (lister, runner):
        one.add_argument("suite", type=Path, help="the folder test/mpi, built")
        one.add_argument(
            "--lists", default=",".join(LISTS), help="names of lists; testlist.collalgo is one more"
        )
        one.add_argument("--select", default="", help="tests in whose line this is found")
        one.add_argument("--leave", default="", help="but not those in whose line this is found")
        one.add_argument("--memory", type=float, default=4, help="GB that a test may need")
    runner.add_argument("results", type=Path, help="the file of results, which grows")
    runner.add_argument(
        "--limit",
        type=float,
        default=180,
        help="seconds that a test may take, unless its list allows more",
    )
    runner.add_argument("--jobs", type=int, default=1, help="tests at a time")
    runner.add_argument(
        "--again", default="", help="run tests again that ended so, separated by commas"
    )
    runner.add_argument("--own", default="", help="lines that the launcher writes, not the test")
    runner.add_argument(
        "--wide",
        nargs=2,
        default=["0", ""],
        metavar=("N", "WORDS"),
        help="for more processes than N",
    )
    runner.add_argument("launcher", nargs="+", help="the launcher and its words, after --")
    comparer.add_argument("native", type=Path)
    comparer.add_argument("simulated", type=Path)
    wanted = parser.parse_args()
    if wanted.way == "run":
        wanted.suite = wanted.suite.resolve()
        found = shutil.which(wanted.launcher[0])  # tests run in folders of their own
        if found is None:
            parser.error(f"there is no executable {wanted.launcher[0]}")
        wanted.launcher[0] = str(Path(found).absolute())
        return run_all(wanted)
    if wanted.way == "list":
        print("\n".join(test.name for test in chosen(wanted)))
    else:
        print("\n".join(compare(results(wanted.native), results(wanted.simulated))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
