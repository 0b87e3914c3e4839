"""The search for a difference: program batches, each run natively and in the batch's
configurations.
"""

from __future__ import annotations

import itertools
import shlex
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from . import configurations
from .draw import BATCH, draw, ranks_of
from .emit import emit
from .layouts import BASIC
from .runs import Workshop, differ, first_unlike
from .shrink import shrink
from .steps import Collective, Messages, Window, kind_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from .configurations import Configuration
    from .runs import Ended
    from .steps import Program

LONGEST = 300.0
"""Seconds after which a batch hangs natively, on a host that runs much else; a simulated run may
take so many times as long as the native one, and no less than ...
"""
TIMES, LEAST = 30.0, 300.0


@dataclass
class Options:
    """The command line's options."""

    seed: int = 0
    seconds: float | None = None
    programs: int | None = None
    keep: Path | None = None
    native_only: bool = False
    differences: int = 1
    """After so many it ends."""
    shrink_seconds: float = 120.0
    jobs: int = 2
    slow: float = 1.0


@dataclass
class Difference:
    """A program that does not do the same everywhere."""

    program: Program
    configuration: Configuration
    what: str
    source: str = ""


@dataclass
class Summary:
    """The programs that were run."""

    programs: int = 0
    messages: int = 0
    bytes: int = 0
    steps: Counter[str] = field(default_factory=Counter)
    runs: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    differences: list[Difference] = field(default_factory=list)
    unfit: list[Difference] = field(default_factory=list)
    """Programs that fail natively in the MPI library, so that there is no reference to compare
    with.
    """

    def add(self, programs: Sequence[Program]) -> None:
        """Counts programs that were run."""
        for program in programs:
            self.programs += 1
            for step in program.steps:
                self.steps[kind_of(step)] += 1
                messages, bytes_ = _moved(step)
                self.messages += messages
                self.bytes += bytes_

    def __str__(self) -> str:
        per_minute = 60 * self.programs / self.seconds if self.seconds else 0
        lines = [
            f"{self.programs} programs in {self.seconds:.0f} s ({per_minute:.0f} a minute),"
            f" {self.messages} messages"
        ]
        lines[0] += f" of programs with {self.bytes / 1e6:.1f} MB"
        lines.append(
            "steps: " + ", ".join(f"{count} {kind}" for kind, count in sorted(self.steps.items()))
        )
        lines += [f"  {count} x {name}" for name, count in sorted(self.runs.items())]
        lines += [
            f"not compared: {one.program.seed} fails natively: {one.what[:200]}"
            for one in self.unfit
        ]
        return "\n".join(
            [
                *lines,
                f"{len(self.differences) or 'no'} difference{'s' * (len(self.differences) > 1)}",
            ]
        )


def _moved(step: object) -> tuple[int, int]:
    """Messages and bytes named in the step; a collective operation's messages are the library's."""
    if isinstance(step, Messages):
        return (
            len(step.messages) * step.rounds,
            sum(one.elements * BASIC[one.basic] for one in step.messages) * step.rounds,
        )
    if isinstance(step, Window):
        accesses = [one for epoch in step.epochs for one in epoch.accesses]
        return len(accesses), sum(one.elements * BASIC[one.basic] for one in accesses)
    if isinstance(step, Collective):
        return 0, step.units * step.per_unit * BASIC[step.basic]
    return 0, 0


def batches(options: Options) -> Iterator[list[int]]:
    """The batches' seeds: consecutive ones with the same quotient."""
    seeds = itertools.count(options.seed)
    if options.programs is not None:
        seeds = itertools.islice(seeds, options.programs)  # type: ignore[assignment]
    for _, group in itertools.groupby(seeds, lambda seed: seed // BATCH):
        yield list(itertools.islice(group, BATCH))


def limits(native_seconds: float) -> float:
    """How long a simulated run may take."""
    return max(LEAST, TIMES * native_seconds)


class Fuzz:
    """A search with its folder."""

    def __init__(self, options: Options, say: Callable[[str], None], folder: Path) -> None:
        self.options, self.say = options, say
        self.shop = Workshop(folder, options.slow)
        self.summary = Summary()

    def batch(self, seeds: Sequence[int]) -> Difference | None:
        """Runs a batch's programs."""
        programs = [draw(seed) for seed in seeds]
        number, ranks = seeds[0] // BATCH, programs[0].ranks
        how = configurations.native(ranks)
        found: Difference | None = None
        fault, again = "not run", 2
        while fault and programs and found is None:
            made = self.shop.build(programs)
            begin = time.monotonic()
            native = self.shop.run(made, ranks, how, LONGEST)
            limit = limits(time.monotonic() - begin)
            self.summary.runs[how.name] += 1
            fault = native.fault()
            if fault:
                made.unlink(missing_ok=True)
                unfit = Difference(first_unlike(native, native, programs), how, fault)
                if self.options.native_only:
                    found = unfit
                elif self.look(unfit.program, how):
                    self.summary.unfit.append(unfit)
                    programs.remove(unfit.program)
                elif again > 0:  # it took too long, perhaps
                    again -= 1
                else:
                    found = unfit
        if not fault and not self.options.native_only:
            for other in configurations.simulated(number):
                ended = self.shop.run(made, ranks, other, limit)
                self.summary.runs[other.name] += 1
                what = differ(native, ended)
                if what:
                    found = Difference(first_unlike(native, ended, programs), other, what)
                    break
        made.unlink(missing_ok=True)
        self.summary.add(programs)
        return found

    def look(self, program: Program, how: Configuration) -> str:
        """The difference if a program runs alone."""
        made = self.shop.build([program])
        how = replace(how, words=_with_ranks(how.words, program.ranks))
        native: Ended = self.shop.run(
            made, program.ranks, configurations.native(program.ranks), LONGEST / 4
        )
        what = native.fault()
        if how.name == "native":
            pass
        elif what:
            what = ""  # a smaller program that is not correct itself tells nothing
        else:
            what = differ(native, self.shop.run(made, program.ranks, how, LONGEST / 4))
        made.unlink(missing_ok=True)
        return what

    def explain(self, found: Difference) -> Difference:
        """Shrinks the program that shows a difference."""
        seed = found.program.seed
        self.say(f"program {seed} on {found.configuration.name}: {found.what}")
        self.say("it is made smaller now")
        alone = self.look(found.program, found.configuration)
        smallest, what = found.program, alone or found.what
        if alone:
            last = {found.program: alone}

            def fails(program: Program) -> bool:
                last[program] = self.look(program, found.configuration)
                return bool(last[program])

            smallest = shrink(found.program, fails, self.options.shrink_seconds)
            what = last[smallest]
        how = replace(
            found.configuration, words=_with_ranks(found.configuration.words, smallest.ranks)
        )
        tcp = configurations.network(smallest.ranks)
        there = self.look(smallest, tcp) if found.configuration.simulated else ""
        again = shlex.join(
            ["python", "-m", "tests.mpi_fuzz", "--seed", str(seed), "--programs", "1"]
        )
        if not alone:
            again = shlex.join(
                [
                    "python",
                    "-m",
                    "tests.mpi_fuzz",
                    "--seed",
                    str(seed // BATCH * BATCH),
                    "--programs",
                    str(BATCH),
                ]
            )
        remark = (
            f"What differs: {what}\nThe program it was made from: {again}\nThis one: mpicc -o"
            " program program.c\n"
        )
        remark += (
            f"    {how.shown('./program')}\n   "
            f" {configurations.native(smallest.ranks).shown('./program')}"
        )
        if found.configuration.simulated:
            remark += f"\nNatively through libfabric and TCP: {there or 'no difference'}."
        if not alone:
            remark += (
                "\nAlone, the program shows no difference: it takes those before it, or it does not"
                " always occur."
            )
        return replace(
            found,
            program=smallest,
            what=what,
            source=emit([smallest], remark.replace("*/", "* /"), whole=True),
        )


def _with_ranks(words: tuple[str, ...], ranks: int) -> tuple[str, ...]:
    """The same words for another rank count."""
    place = words.index("-n") + 1
    return (*words[:place], str(ranks), *words[place + 1 :])


def search(options: Options, say: Callable[[str], None]) -> Summary:
    """Runs batches until the time is over, the programs are done, or there is a difference."""
    begin = time.monotonic()
    with (
        tempfile.TemporaryDirectory(prefix="mpi-fuzz-") as folder,
        ThreadPoolExecutor(options.jobs) as pool,
    ):
        fuzz = Fuzz(options, say, options.keep or Path(folder))
        open_: list[tuple[list[int], object]] = []
        left = batches(options)
        more = True
        while more or open_:
            late = options.seconds is not None and time.monotonic() - begin > options.seconds
            if late or len(fuzz.summary.differences) >= options.differences:
                more = False
            while more and len(open_) < options.jobs:
                seeds = next(left, None)
                more = seeds is not None
                if seeds is not None:
                    open_.append((seeds, pool.submit(fuzz.batch, seeds)))
            if open_:
                _, future = open_.pop(0)
                found = future.result()  # type: ignore[attr-defined]
                if found is not None:
                    fuzz.summary.differences.append(found)
        fuzz.summary.seconds = time.monotonic() - begin
        fuzz.summary.differences = [fuzz.explain(one) for one in fuzz.summary.differences]
    return fuzz.summary


assert ranks_of(0) >= 2
assert sys.version_info >= (3, 11)
