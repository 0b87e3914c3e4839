r"""Real programs on a model of this computer: simulated times against the programs' own times.

python benches/own_times.py PROGRAMS.toml            prints a table

The file names programs that measure themselves, at several sizes:

    [[program]]
    name = "LULESH"
    words = ["./lulesh2.0", "-s", "{size}", "-i", "20"]
    sizes = [8, 12, 16]
    time = 'Elapsed time += +(\S+)'

`time` finds the measured time in the output, which must be in seconds. Each program runs with one
and with two ranks on one node: natively, where the fastest of three runs counts, and twice on the
modelled computer. The first of these runs measures the computation (`--compute sampled`), the
second one takes all times from the table. The computer must be idle, with a processor for each
rank: computation is measured here, and other work would be part of it.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path

BIN = Path(sys.prefix) / "bin"
RUNS = 3
RANKS = (1, 2)


@dataclass(frozen=True)
class Program:
    """A program that measures itself."""

    name: str
    words: list[str]
    sizes: list[int]
    time: str
    """A pattern with one group: the time in seconds."""

    def line(self, size: int) -> list[str]:
        """The command line for a size."""
        return [word.format(size=size) for word in self.words]

    def seconds(self, command: list[str | Path]) -> float:
        """The time that the program prints in a run."""
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        found = re.search(self.time, done.stdout)
        if found is None:
            raise SystemExit(f"{self.name}: no time in the output of {command}: {self.time}")
        return float(found[1])


def machine(folder: Path) -> Path:
    """A machine file with this computer's processor."""
    elanite = BIN / "elanite"
    for words in (["calibrate-host", "--out", "host.toml"], ["new", "machine", "here"]):
        subprocess.run([elanite, *words], cwd=folder, capture_output=True, check=True)
    file = folder / "here.toml"
    file.write_text(file.read_text() + "\n" + (folder / "host.toml").read_text())
    return file


def compare(program: Program, size: int, ranks: int, folder: Path) -> tuple[float, float]:
    """The program's own time and the simulated one, in seconds."""
    words, count = program.line(size), str(ranks)
    own = min(program.seconds([BIN / "mpiexec", "-n", count, *words]) for _ in range(RUNS))
    table = folder / f"{program.name}-{size}-{ranks}.toml"
    model: list[str | Path]
    model = ["--machine", folder / "here.toml", "--ranks-per-node", count, "--collectives", "mpi"]
    run: list[str | Path]
    run = [BIN / "elanite", "mpirun", "--quiet", "-n", count, *model, "--out", folder / "out"]
    sampled = [*run, "--compute", f"sampled:{table}", *words]
    program.seconds(sampled)
    return own, program.seconds(sampled)


def main() -> None:
    """Prints the table."""
    content = tomllib.loads(Path(sys.argv[1]).read_text())
    programs = [Program(**each) for each in content["program"]]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        machine(folder)
        print("program           size  ranks     own, s  simulated, s  difference")
        for program in programs:
            for size in program.sizes:
                for ranks in RANKS:
                    own, simulated = compare(program, size, ranks, folder)
                    shown = f"{program.name:16}  {size:4}  {ranks:5}  {own:9.4f}  {simulated:12.4f}"
                    print(f"{shown}  {simulated / own - 1:+10.1%}", flush=True)


if __name__ == "__main__":
    main()
