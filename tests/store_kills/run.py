"""Strikes a small campaign repeatedly, and examines its store afterwards.

    python -m store_kills.run --folder DIR --kills 1000 --errors 100 --seed 0

runs in a process into which ``strike.c`` has been preloaded, and forks a campaign for each strike:
two thirds of the kills come at a drawn operation on a store file (half of them with the loss of all
unsynced data), one third at a drawn moment. Each campaign continues with the store left by the
previous kill; when the store is complete, some points are removed from it. After each kill:

- every folder that looks finished has the bytes that an uninterrupted campaign writes;
- no point is lost that was finished before, or that the campaign had reported as finished.

Errors (a full disk, a folder that has become read-only, a disk that fails) come at a drawn
operation. The campaign names the file and the remedy, ends with exit code 1, and leaves no
half-written file where it could remove it.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import random
import shutil
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import polars  # noqa: F401 - imported once, before the forks; its threads start in each campaign

from elanite import campaign
from elanite.campaign import Observer
from elanite.cli import main as elanite
from elanite.inputs import sources
from elanite.inputs.plan import plan
from elanite.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable

    from elanite.campaign import PointFailure
    from elanite.inputs.plan import Point

EXPERIMENT = Path(__file__).with_name("tiny.toml")
KILL, POWER, FULL, LOCKED, BROKEN = range(5)
SAID = {
    FULL: "No space left on device",
    LOCKED: "Read-only file system",
    BROKEN: "Input/output error",
}
LONGEST = 600.0
"""Seconds after which a campaign of some milliseconds hangs, on a host so busy that it takes a
minute.
"""

Contents = dict[str, dict[str, bytes]]


def contents(store: Path) -> Contents:
    """Each finished-looking folder's files, without the times in the manifests."""
    found: Contents = {}
    for folder in store.iterdir() if store.is_dir() else ():
        if folder.name.startswith("."):
            continue
        files = found.setdefault(folder.name, {})
        for path in folder.iterdir():
            data = path.read_bytes()
            if path.name == "manifest.json":
                manifest = json.loads(data)
                del manifest["times"]
                data = json.dumps(manifest).encode()
            files[path.name] = data
    return found


class Reported(Observer):
    """Writes finished points' names to a pipe, as the campaign reports them."""

    def __init__(self, pipe: int) -> None:
        self.pipe = pipe

    def start(self, total: int, done: int) -> None:
        pass

    def point(self, point: Point, failure: PointFailure | None) -> None:
        if failure is None:
            os.write(self.pipe, point.id.encode() + b"\n")

    def stop(self) -> None:
        pass


class Strikes:
    """The campaign, the store left by the kills, and an uninterrupted campaign's store."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.draw = random.Random(seed)
        self.library = ctypes.CDLL(None)
        self.library.strike_count.restype = ctypes.c_long
        self.planned = plan(sources.read("experiment", str(EXPERIMENT)))
        self.out = folder
        self.store = folder / "store"
        reported, end, self.operations, self.seconds = self.campaign(0, KILL, None)
        if end != 0:
            raise SystemExit(f"the campaign ends with {end} when nothing strikes it")
        self.whole = contents(self.store)
        if reported != set(self.whole) or len(self.whole) != len(self.planned.points):
            raise SystemExit("the uninterrupted campaign is incomplete")
        self.kills = dict.fromkeys(("operation", "power", "moment"), 0)
        self.missed = self.rounds = self.left = 0

    def fork(self, work: Callable[[int], None]) -> tuple[int, int]:
        """Runs a function in a child that then ends well; returns the child and the read end of its
        pipe.
        """
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            code = 70
            try:
                work(writing)
                code = 0
            except SystemExit as leaving:
                code = int(leaving.code or 0)
            finally:
                sys.stderr.flush()
                os._exit(code)
        os.close(writing)
        return child, reading

    def campaign(self, at: int, how: int, delay: float | None) -> tuple[set[str], int, int, float]:
        """Runs the campaign: the points that it reported, how it ended, its operations on files,
        and its seconds.
        """

        def work(pipe: int) -> None:
            self.library.strike_arm(os.fsencode(self.store), ctypes.c_long(at), how)
            campaign.run([self.planned], Store(self.store), 2, Reported(pipe))
            os.write(pipe, b"operations %d\n" % self.library.strike_count())

        began = time.monotonic()
        child, pipe = self.fork(work)
        if delay is not None:
            time.sleep(delay)
            os.kill(child, signal.SIGKILL)
        end = self.ended(child)
        said = b""
        while part := os.read(pipe, 1 << 16):
            said += part
        os.close(pipe)
        lines = said.decode().split("\n")[:-1]
        operations = [int(line.split()[1]) for line in lines if line.startswith("operations")]
        return (
            {line for line in lines if " " not in line},
            end,
            sum(operations),
            time.monotonic() - began,
        )

    def ended(self, child: int) -> int:
        """A child's exit code, or minus the signal that killed it."""
        began = time.monotonic()
        while True:
            found, status = os.waitpid(child, os.WNOHANG)
            if found:
                return os.waitstatus_to_exitcode(status)
            if time.monotonic() - began > LONGEST:
                os.kill(child, signal.SIGKILL)
                raise SystemExit("a campaign hangs")
            time.sleep(0.001)

    def renew(self) -> None:
        """Removes points from a complete store."""
        missing = set(self.whole) - set(contents(self.store))
        if missing:
            return
        if list(self.store.glob(".partial-*")):
            # The next campaign removes them, even without points to simulate.
            self.campaign(0, KILL, None)
            if list(self.store.glob(".partial-*")):
                raise SystemExit("a campaign leaves what killed ones had half-written")
        self.rounds += 1
        for name in self.draw.sample(sorted(self.whole), self.draw.randint(1, len(self.whole))):
            shutil.rmtree(self.store / name)

    def kill(self) -> None:
        """One kill, and the check of the store afterwards."""
        self.renew()
        before = set(contents(self.store))
        share = 1 - len(before) / len(self.whole)
        manner = self.draw.choice(list(self.kills))
        if manner == "moment":
            delay = self.draw.uniform(0, self.seconds * (share + 0.3))
            reported, end, _, _ = self.campaign(0, KILL, delay)
        else:
            # A few more: the removal of earlier kills' leftovers counts, too.
            at = self.draw.randint(1, int(self.operations * share * 1.2) + 20)
            reported, end, _, _ = self.campaign(at, POWER if manner == "power" else KILL, None)
        if end == -signal.SIGKILL:
            self.kills[manner] += 1
        elif end == 0:
            self.missed += 1
        else:
            raise SystemExit(f"the campaign ends with {end}")
        self.left += len(list(self.store.glob(".partial-*")))
        self.check(before | reported)

    def check(self, wanted: set[str]) -> None:
        """Every finished-looking folder is right, and no folder is lost."""
        after = contents(self.store)
        for name, files in after.items():
            if files != self.whole.get(name):
                raise SystemExit(
                    f"{name} looks finished, and differs from that of an uninterrupted campaign"
                )
            if Store(self.store).get(name) is None:
                raise SystemExit(f"{name} looks finished, and the store does not take it")
        lost = wanted - set(after)
        if lost:
            raise SystemExit(f"these points were finished, and are lost: {', '.join(sorted(lost))}")

    def error(self) -> None:
        """One campaign with a failing disk."""
        self.renew()
        before = set(contents(self.store))
        how = self.draw.choice([FULL, LOCKED, BROKEN])
        share = 1 - len(before) / len(self.whole)
        at = self.draw.randint(1, max(1, int(self.operations * share * 0.6)))
        log = self.out / "stderr"

        def work(_: int) -> None:
            handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(handle, 1)
            os.dup2(handle, 2)
            self.library.strike_arm(os.fsencode(self.store), ctypes.c_long(at), how)
            elanite(
                ["run", str(EXPERIMENT), "--out", str(self.out), "--jobs", "2", "--format", "csv"]
            )

        child, pipe = self.fork(work)
        end = self.ended(child)
        os.close(pipe)
        text = log.read_text()
        told = (
            "Traceback" not in text
            and SAID[how] in text
            and str(self.store) in text
            and "The same command" in text
        )
        if end != 1 or not told:
            raise SystemExit(f"{SAID[how]} from operation {at} on: exit code {end}\n{text}")
        partial = list(self.store.glob(".partial-*"))
        if partial and how != LOCKED:
            raise SystemExit(
                f"{SAID[how]} from operation {at} on: {partial[0]} is left half-written"
            )
        self.check(before)

    def finish(self) -> None:
        """The last campaign makes the store whole."""
        _, end, _, _ = self.campaign(0, KILL, None)
        if end != 0 or contents(self.store) != self.whole or list(self.store.glob(".partial-*")):
            raise SystemExit("the last campaign does not make the store whole")


def main() -> int:
    """Returns the exit code."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--errors", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    strikes = Strikes(given.folder.resolve(), given.seed)
    number = 0
    try:
        while sum(strikes.kills.values()) < given.kills:
            strikes.kill()
            number += 1
        for _ in range(given.errors):
            strikes.error()
            number += 1
        strikes.finish()
    except SystemExit as failed:
        sys.stderr.write(f"strike {number} of --seed {given.seed}: {failed}\n")
        return 1
    sys.stdout.write(
        f"{sum(strikes.kills.values())} kills: {strikes.kills}; {strikes.left} found half-written;"
        f" {strikes.rounds} campaigns completed, {strikes.missed} of them before the kill;"
        f" {given.errors} errors; {strikes.operations} operations on files in an uninterrupted"
        " campaign\n"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
