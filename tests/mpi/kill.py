r"""Kills a running job repeatedly, and examines the leftovers.

A round starts the command, waits for a time drawn from the seed, kills one process with SIGKILL - a
rank, the launcher or the simulator, by the draw - and then waits until all processes in the run are
gone. It fails if one is alive after --patience seconds, if /dev/shm, /tmp, TMPDIR or the System V
segments have new entries, or if an outside process still has one of the run's memory files mapped.
A process belongs to the run if it has the round's mark in its environment, which children inherit,
or descends from such a process.

    python tests/mpi/kill.py --words 2 -- mpiexec -n 4 ./messages 100000000
    python tests/mpi/kill.py --words 2 --simulator 'elanite mpirun' -- \
        elanite mpirun -n 16 --machine es40-qsnet ./messages 100000000

--simulator and --launcher are regular expressions on the run's process command lines; a rank is a
process with the program's command line: the command's last --words. The exit code is 1 if a round
failed. MPICH's plain mpiexec fails: it leaves its shared memory behind, and its ranks where its
helper was killed.

MPI programs beside it may leave shared memory behind, too: the tests of MPICH itself do. Elanite's
runs have their names in the environment of their processes, from which follow the names of MPICH's
files; those of others do not count, nor do those of MPICH's launcher where the run has not started
it.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from elanite.mpirun import guard
from elanite.mpirun.launcher import RUN

PROC = Path("/proc")
MARK = "ELANITE_KILL_ROUND"
# Other programs' leftovers that come and go meanwhile: processes that they start are not the run's.
WATCHED = {Path("/dev/shm"), Path("/tmp"), Path(tempfile.gettempdir()).resolve()}  # noqa: S108


@dataclass(frozen=True)
class Process:
    """A process in the run; the start time distinguishes it from a later one with the same
    number.
    """

    pid: int
    parent: int
    started: int
    command: str

    def alive(self) -> bool:
        now = looked_at(self.pid)
        return now is not None and now.started == self.started


def looked_at(pid: int) -> Process | None:
    """A process, unless it is gone or has only its exit code left."""
    try:
        stat = (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
        command = (
            (PROC / str(pid) / "cmdline")
            .read_bytes()
            .replace(b"\0", b" ")
            .decode(errors="replace")
            .strip()
        )
    except OSError:
        return None
    return None if stat[0] in "ZX" else Process(pid, int(stat[1]), int(stat[19]), command)


def running(mark: str) -> list[Process]:
    """The processes with the mark in their environment, and their descendants."""
    wanted = f"{MARK}={mark}".encode()
    everyone, ours = {}, set()
    for entry in PROC.iterdir():
        if not entry.name.isdigit() or (process := looked_at(int(entry.name))) is None:
            continue
        everyone[process.pid] = process
        with contextlib.suppress(OSError):
            if wanted in (entry / "environ").read_bytes().split(b"\0"):
                ours.add(process.pid)
    grown = True
    while grown:
        more = {process.pid for process in everyone.values() if process.parent in ours} - ours
        ours |= more
        grown = bool(more)
    return sorted((everyone[pid] for pid in ours), key=lambda process: process.pid)


def names_of_runs(processes: list[Process]) -> set[str]:
    """The names of Elanite's runs among these processes."""
    found = set()
    for process in processes:
        with contextlib.suppress(OSError):
            words = (PROC / str(process.pid) / "environ").read_bytes().split(b"\0")
            found |= {
                word.partition(b"=")[2].decode()
                for word in words
                if word.startswith(f"{RUN}=".encode())
            }
    return found


def has_hydra(processes: list[Process]) -> bool:
    """Whether MPICH's launcher, hydra, is among these processes."""
    return any("hydra" in process.command for process in processes)


def foreign(name: str, runs: set[str], *, hydra: bool) -> bool:
    """Whether MPICH has made this for other jobs: shared memory of no rank in these runs, or a file
    of its launcher, which leaves some, where these runs have no ``hydra``.
    """
    if Path(name).name.startswith("hydra_"):
        return not hydra
    matched = guard.NAME.fullmatch(Path(name).name)
    return bool(matched and not any(matched[1] in guard.worlds(f"elanite_{run}") for run in runs))


def memory_files(processes: list[Process]) -> set[str]:
    """The memory files (memfd) that these have mapped, by device and inode."""
    found = set()
    for process in processes:
        with contextlib.suppress(OSError):
            for line in (PROC / str(process.pid) / "maps").read_text().splitlines():
                if "/memfd:" in line:
                    _, _, _, device, inode, _ = line.split(maxsplit=5)
                    found.add(f"{device} {inode}")
    return found


def users_of(files: set[str]) -> list[int]:
    """The processes that have one of these memory files mapped."""
    users = []
    for entry in PROC.iterdir():
        process = looked_at(int(entry.name)) if files and entry.name.isdigit() else None
        if process is not None and memory_files([process]) & files:
            users.append(process.pid)
    return users


def left_overs() -> set[str]:
    """The contents of the temporary folders, and the System V shared segments."""
    names = {str(path) for folder in WATCHED for path in folder.iterdir()}
    with contextlib.suppress(OSError):
        names |= {
            f"System V segment {line.split()[1]}"
            for line in (PROC / "sysvipc/shm").read_text().splitlines()[1:]
        }
    return names


def used(names: set[str]) -> set[str]:
    """Those of these files that a living process has mapped or open: other jobs come and go
    meanwhile.
    """
    found: set[str] = set()
    for entry in PROC.iterdir() if names else ():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                found |= {
                    line.split(maxsplit=5)[5]
                    for line in (entry / "maps").read_text().splitlines()
                    if "/" in line
                }
                found |= {str(handle.readlink()) for handle in (entry / "fd").iterdir()}
    return names & found


@dataclass
class Round:
    """A round's outcome."""

    killed: str
    after: float
    code: int | None = None
    gone: float = 0.0
    wrong: str = ""


def kinds(processes: list[Process], chosen: argparse.Namespace) -> dict[str, list[Process]]:
    """The processes that may be killed, by role."""
    program = " ".join(chosen.command[-chosen.words :])
    found: dict[str, list[Process]] = {"rank": [], "launcher": [], "simulator": []}
    for process in processes:
        if process.command == program:
            found["rank"].append(process)
        elif chosen.simulator and re.search(chosen.simulator, process.command):
            found["simulator"].append(process)
        elif re.search(chosen.launcher, process.command):
            found["launcher"].append(process)
    return {kind: some for kind, some in found.items() if some and kind in chosen.kill.split(",")}


def one_round(draw: random.Random, chosen: argparse.Namespace) -> Round:
    mark, before = uuid.uuid4().hex, left_overs()
    wait, turn, place = draw.uniform(chosen.earliest, chosen.latest), draw.random(), draw.random()
    out = subprocess.DEVNULL
    child = subprocess.Popen(
        chosen.command, stdin=out, stdout=out, stderr=out, env=os.environ | {MARK: mark}
    )
    time.sleep(wait)
    processes = running(mark)
    files, groups, runs = (
        memory_files(processes),
        kinds(processes, chosen),
        names_of_runs(processes),
    )
    if not groups:
        for process in [child, *processes]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGKILL)
        return Round(
            "nothing",
            wait,
            child.wait(),
            wrong="nothing to kill was running; a longer program is needed",
        )
    hydra = has_hydra(processes)
    kind = list(groups)[int(turn * len(groups))]
    victim = groups[kind][int(place * len(groups[kind]))]
    killed = time.monotonic()
    with contextlib.suppress(ProcessLookupError):
        os.kill(victim.pid, signal.SIGKILL)
    told, wrong = Round(kind, wait), []
    while left := [process for process in [*processes, *running(mark)] if process.alive()]:
        runs |= names_of_runs(left)
        hydra |= has_hydra(left)
        child.poll()  # or its exit code keeps it
        if time.monotonic() > killed + chosen.patience:
            wrong.append(
                "alive: "
                + "; ".join(sorted({f"{process.pid} {process.command[:60]}" for process in left}))
            )
            for process in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process.pid, signal.SIGKILL)
            break
        time.sleep(0.02)
    told.gone = time.monotonic() - killed
    with contextlib.suppress(subprocess.TimeoutExpired):
        told.code = child.wait(chosen.patience)
    if told.code == 0:
        wrong.append("the exit code is 0")
    if users := users_of(files):
        wrong.append(f"memory still in use by {users}")
    ignored = re.compile(chosen.ignore) if chosen.ignore else None
    new = {name for name in left_overs() - before if not (ignored and ignored.search(name))}
    new -= {name for name in new if chosen.simulator and foreign(name, runs, hydra=hydra)}
    # Another job's files may have lost their owner a moment ago, and that job's own cleanup removes
    # them.
    while (new := (new - used(new)) & left_overs()) and time.monotonic() < killed + chosen.patience:
        time.sleep(0.1)
    if new:
        wrong.append("left behind: " + ", ".join(sorted(new)[:5]))
    told.wrong = "; ".join(wrong)
    return told


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(
        description="kills a running job again and again, and looks at what is left"
    )
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--earliest", type=float, default=0.05, help="seconds from the start to the kill, at least"
    )
    parser.add_argument("--latest", type=float, default=2.0, help="and at most")
    parser.add_argument(
        "--patience", type=float, default=10.0, help="seconds until all processes must be gone"
    )
    parser.add_argument(
        "--simulator",
        default="",
        help="what the simulator's command line contains; none: no simulator",
    )
    parser.add_argument("--launcher", default="mpiexec", help="what the launcher's contains")
    parser.add_argument("--kill", default="rank,launcher,simulator", help="which of these")
    parser.add_argument(
        "--words", type=int, default=1, help="how many last words of the command are the program's"
    )
    parser.add_argument("--ignore", default="", help="names of new files that others make")
    parser.add_argument("command", nargs="+", help="the command, after --")
    chosen = parser.parse_args()
    draw, failed = random.Random(chosen.seed), 0
    kills: Counter[str] = Counter()
    print(
        "| round | killed | after (s) | gone in (s) | exit code | wrong"
        " |\n|---|---|---|---|---|---|"
    )
    for number in range(1, chosen.rounds + 1):
        told = one_round(draw, chosen)
        failed += bool(told.wrong)
        kills[told.killed] += 1
        code = "none" if told.code is None else told.code
        print(
            f"| {number} | {told.killed} | {told.after:.2f} | {told.gone:.2f} | {code} |"
            f" {told.wrong} |",
            flush=True,
        )
    print(
        f"killed: {', '.join(f'{kind} {count}' for kind, count in sorted(kills.items()))}; {failed}"
        " rounds failed"
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
