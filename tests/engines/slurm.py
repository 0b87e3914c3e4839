"""A stand-in for the Slurm commands: jobs are local processes, and start immediately.

``sbatch`` starts a script in its own session, so that it survives the submitter; ``squeue`` lists
the running jobs; ``scancel`` ends one. The jobs are files in the folder named by ``SLURM_STANDIN``.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

JOBS = Path(os.environ["SLURM_STANDIN"])


def runs(job: int) -> bool:
    try:
        state = Path(f"/proc/{job}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def main() -> None:
    command, *words = sys.argv[1:]
    if command == "sbatch":
        script = Path(words[-1])
        job = subprocess.Popen(
            ["bash", script],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        (JOBS / str(job.pid)).write_text(str(script), encoding="utf-8")
        sys.stdout.write(f"{job.pid}\n")
    elif command == "squeue":
        for file in sorted(JOBS.iterdir()):
            if runs(int(file.name)):
                sys.stdout.write(
                    f"{file.name}|user|R|elanite|{Path(file.read_text(encoding='utf-8')).parent}\n"
                )
    else:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(int(words[-1]), signal.SIGKILL)


main()
