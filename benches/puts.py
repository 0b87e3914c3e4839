"""The host cost of an 8-byte put, beside an 8-byte MPI message.

python benches/puts.py            prints a table

The cost is the processor time of all processes in a run: ranks, launcher, simulator. The difference
between runs with many and with few operations is the operations' cost alone; starts and ends cancel
out. Put and message runs take turns, so that a busy host disturbs both alike, and the medians
count.
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
BIN = Path(sys.prefix) / "bin"
RUNS = 5
FEW, MANY = 1_000, 21_000
"""Operations in the two runs."""


def cost(*words: str | Path) -> float:
    """A run's processor time in seconds, over all its processes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "elanite", *words], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Prints the table."""
    source = ROOT / "benches" / "puts.c"
    with tempfile.TemporaryDirectory() as folder:
        puts, messages = Path(folder, "puts"), Path(folder, "messages")
        call = "from elanite.mpirun.compilers import oshcc; oshcc()"
        subprocess.run([sys.executable, "-c", call, "-O2", "-o", puts, source], check=True)
        subprocess.run([BIN / "mpicc", "-DMPI", "-O2", "-o", messages, source], check=True)
        print(
            "network  how     a put, us  a message, us  put / message (the ratio of each pair of"
            " runs)"
        )
        for network in ("machine", "ideal"):
            for how in ("stream", "ping"):
                each = 1e6 / (MANY - FEW) / (2 if how == "ping" else 1)
                found: dict[Path, list[float]] = {puts: [], messages: []}
                for _ in range(RUNS):
                    for program, tool in ((puts, "prun"), (messages, "mpirun")):
                        start = [
                            tool,
                            "-q",
                            "-n",
                            "2",
                            "--network",
                            network,
                            "--out",
                            folder,
                            program,
                            how,
                        ]
                        many, few = cost(*start, str(MANY)), cost(*start, str(FEW))
                        found[program].append(each * (many - few))
                put, message = (statistics.median(found[program]) for program in (puts, messages))
                ratios = sorted(
                    one / other for one, other in zip(found[puts], found[messages], strict=True)
                )
                shown = ", ".join(f"{ratio:.2f}" for ratio in ratios)
                print(
                    f"{network:7}  {how:6}  {put:9.2f}  {message:13.2f}  {put / message:.2f}"
                    f" ({shown})",
                    flush=True,
                )


if __name__ == "__main__":
    main()
