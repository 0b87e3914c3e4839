"""mpi4py's own test suite, under any launcher: fetched once, run module by module, reported test by
test.

The suite is in mpi4py's source distribution, not in its wheels. ``fetch`` gets the distribution
with the version in requirements.lock, by pip and with the hashes there, and keeps it. ``run``
starts one or more modules in one launcher run, and reads each rank's records
(``mpi/suite_rank.py``). So a crash, or an endless run, is reported with the test that caused it.

As a program, with the launcher after ``--``, this file prints a line for every test that did not
pass on some rank:

    python tests/mpi4py_suite.py --quick -- .venv/bin/mpiexec -n 2
    python tests/mpi4py_suite.py --each --limit 60 -- elanite mpirun -n 4 --collectives mpi
"""

from __future__ import annotations

import argparse
import contextlib
import json
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from mpi_suite import stop

ROOT = Path(__file__).parent.parent
RANK = Path(__file__).parent / "mpi" / "suite_rank.py"
ENDED = ("ok", "skip", "failure", "error", "unfinished")

# Modules that exercise the network, and take little time on this machine.
QUICK = (
    "test_p2p_.*",
    "test_msgzero",
    "test_request",
    "test_status",
    "test_pack",
    "test_cco_buf",
    "test_cco_nb_buf",
    "test_cco_vec",
    "test_cco_obj",
    "test_cco_ngh_obj",
    "test_comm",
    "test_comm_inter",
    "test_rma",
    "test_rma_nb",
    "test_win",
)

# `make test` runs these on the simulated cluster, and one that sleeps, except the longest ones in
# processor time. The random programs in tests/mpi_fuzz also have window accesses, partitioned
# messages and all collective calls in all forms; test_pack does not send. test_util_sync, which
# takes as long, runs only in `make test-all`.
EXPENSIVE = "test_(rma|rma_nb|p2p_buf_part|pack|cco_nb_buf|cco_vec)"
QUICK_SIMULATED = ("test_util_pool", *QUICK)

# The same calls once more, on a duplicate of the communicator.
AGAIN = "*Dup.*"

# Processes cannot be started from within a simulated run.
SIMULATED = "test_(?!spawn|dynproc).*"

# Tests that fail in MPICH 5.0.2 on any network; docs/mpi4py.md has the reasons.
FAILURES = {"test_mpiabi.TestMPIABI.testGetFortranInfo"}

# They are thread races in real time, which a busy host decides otherwise. In the first, a thread
# waits for 2 ms while another one sleeps for 200 ms. In the second, a thread ends a pool before
# another one has slept a hundred times, and a sleep in a thread that calls MPI takes simulated
# time.
TIMED = {
    "test_util_pool.TestThreadPool.test_apply_async_timeout",
    "test_util_pool.TestThreadPool.test_terminate",
}

# The same with two ranks, each on its own node: sometimes natively, always on the simulated
# cluster. Where it fails on one rank, the other one waits for ever.
FAILURES_OF_TWO = {
    "test_comm_topo.TestTopoWorld.testDistgraphcomm",
    "test_comm_topo.TestTopoWorldDup.testDistgraphcomm",
}


class Missing(Exception):
    """The suite cannot be fetched."""


def locked() -> tuple[str, str]:
    """mpi4py's version in requirements.lock, and the requirement with its hashes."""
    found = re.search(
        r"^mpi4py==(\S+)(?: *\\\n +--hash=\S+)+",
        (ROOT / "requirements.lock").read_text(),
        re.MULTILINE,
    )
    if not found:
        raise Missing("requirements.lock has no mpi4py; make lock")
    return found[1], found[0]


def fetch(cache: Path = ROOT / "out" / "cache") -> Path:
    """The suite's test folder, under the cache; fetched the first time."""
    version, requirement = locked()
    folder = cache / f"mpi4py-{version}"
    if not folder.is_dir():
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache) as name:
            scratch = Path(name)
            (scratch / "wanted.txt").write_text(requirement + "\n")
            words = [
                sys.executable,
                "-m",
                "pip",
                "--disable-pip-version-check",
                "download",
                "--quiet",
                "--no-deps",
            ]
            words += [
                "--require-hashes",
                "--no-binary",
                "mpi4py",
                "--dest",
                name,
                "-r",
                str(scratch / "wanted.txt"),
            ]
            done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=300)
            archive = scratch / f"{folder.name}.tar.gz"
            if not archive.is_file():
                raise Missing(
                    f"mpi4py {version} could not be fetched; is there a"
                    f" network?\n{done.stderr.strip()}"
                )
            subprocess.run(["tar", "-xzf", archive, "-C", scratch], check=True)
            with contextlib.suppress(OSError):  # another session may have been faster
                (scratch / folder.name).rename(folder)
    return folder / "test"


@dataclass
class Outcome:
    """The outcome of a suite run."""

    code: int | None  # none: it was ended after the time allowed
    seconds: float
    out: str
    # For each test, its end on each rank, and the reason.
    tests: dict[str, dict[int, tuple[str, str]]] = field(default_factory=dict)

    def worst(self) -> dict[str, tuple[str, str]]:
        """For each test, the worst end on any rank, and the reason."""
        return {
            name: max(ranks.values(), key=lambda one: ENDED.index(one[0]))
            for name, ranks in self.tests.items()
        }

    def counts(self) -> Counter[str]:
        return Counter(how for how, _ in self.worst().values())

    def bad(self) -> dict[str, tuple[str, str]]:
        return {name: end for name, end in self.worst().items() if end[0] in ENDED[2:]}


def run(
    launcher: list[str],
    tests: Path,
    words: list[str],
    limit: float,
    environment: dict[str, str] | None = None,
) -> Outcome:
    """Runs the selection (``-i REGEX`` for modules, ``-x PATTERN`` for tests to omit) under a
    launcher.
    """
    with tempfile.TemporaryDirectory() as name:
        logs, code = Path(name), None
        begin = time.monotonic()
        with (logs / "out").open("w") as out:
            process = subprocess.Popen(
                [*launcher, sys.executable, str(RANK), name, str(tests), *words],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                env=environment,
                start_new_session=True,
            )
            try:
                code = process.wait(limit)
            except subprocess.TimeoutExpired:
                stop(process)
        outcome = Outcome(
            code, time.monotonic() - begin, (logs / "out").read_text(errors="replace")
        )
        for log in sorted(logs.glob("*.jsonl")):
            read(log, outcome)
    return outcome


def read(log: Path, outcome: Outcome) -> None:
    """Adds one rank's records to the outcome."""
    rank = int(log.stem)
    for line in log.read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        if "begin" in entry:
            outcome.tests.setdefault(entry["begin"], {})[rank] = ("unfinished", "")
        else:
            outcome.tests.setdefault(entry["test"], {})[rank] = (entry["ended"], entry["why"])


def modules(tests: Path) -> list[str]:
    return sorted(path.stem for path in tests.glob("test_*.py"))


def chosen(tests: Path, pattern: str) -> list[str]:
    """The modules with a full name that matches a pattern."""
    return [name for name in modules(tests) if re.fullmatch(pattern, name)]


def include(names: list[str], but: Iterable[str] = ()) -> list[str]:
    """Words that choose these modules, each named by its file, but for some tests."""
    return ["-i", rf"^({'|'.join(names)})\.py$", *(word for name in but for word in ("-x", name))]


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description="mpi4py's own test suite under a launcher")
    parser.add_argument("--quick", action="store_true", help="the modules of QUICK only")
    parser.add_argument("--modules", default=".*", help="modules whose whole name matches this")
    parser.add_argument("--each", action="store_true", help="every module in a run of its own")
    parser.add_argument(
        "--exclude",
        "-x",
        action="append",
        default=[],
        help="leave out tests that match this pattern",
    )
    parser.add_argument("--limit", type=float, default=300, help="seconds that a run may take")
    parser.add_argument("--cache", type=Path, default=ROOT / "out" / "cache")
    parser.add_argument("launcher", nargs="+", help="the launcher and its words, after --")
    wanted = parser.parse_args()
    tests = fetch(wanted.cache)
    names = chosen(tests, "|".join(QUICK) if wanted.quick else wanted.modules)
    total: Counter[str] = Counter()
    fine = True
    print(
        "| module | s | ok | skipped | failure | error | unfinished | exit code"
        " |\n|---|---|---|---|---|---|---|---|"
    )
    for group in [[name] for name in names] if wanted.each else [names]:
        outcome = run(wanted.launcher, tests, include(group, wanted.exclude), wanted.limit)
        counts = outcome.counts()
        total += counts
        title = group[0] if len(group) == 1 else f"{len(group)} modules"
        code = "none in time" if outcome.code is None else outcome.code
        print(
            f"| {title} | {outcome.seconds:.1f} | {' | '.join(str(counts[how]) for how in ENDED)} |"
            f" {code} |",
            flush=True,
        )
        for name, (how, why) in outcome.bad().items():
            print(f"    {how}: {name}: {why.splitlines()[0] if why else ''}")
        if outcome.code != 0:
            fine = False
            print(
                "".join(f"    {line}\n" for line in outcome.out.splitlines()[-8:] if line.strip()),
                end="",
            )
    print(f"all: {', '.join(f'{total[how]} {how}' for how in ENDED)}")
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
