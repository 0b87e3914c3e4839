"""Compiles and runs a program, compares it with the oracle, and makes it smaller."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from .emit import PRELUDE, emit, emitter
from .oracle import expected
from .steps import REGIONS, SIZE, Collectives, Operations, Program, Step

FLAGS = (
    "-std=gnu11",
    "-O1",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-Wno-unused-function",
    "-Wno-unused-variable",
)

SECONDS = 120.0
"""The longest that a run may take."""


def again(program: Program) -> str:
    """The command that repeats a program."""
    return (
        f"python -m tests.library_fuzz --library {program.library} --seed {program.seed}"
        " --programs 1"
    )


def build(program: Program, folder: Path) -> Path:
    source, made = folder / "program.c", folder / "program"
    source.write_text(emit(program), encoding="utf-8")
    name = emitter(program.library).COMPILER
    call = f"from elanite.mpirun.compilers import {name}; {name}()"
    subprocess.run(
        [sys.executable, "-c", call, *FLAGS, f"-I{PRELUDE}", "-o", made, source], check=True
    )
    return made


HOST = frozenset({"host_seconds", "folder"})
"""Summary fields that belong to the host, and differ between runs."""


def run(program: Program, made: Path, folder: Path) -> tuple[str, dict[str, object]]:
    """A run's fault, or an empty text, and its summary."""
    records = folder / "records"
    records.mkdir(exist_ok=True)
    words = [
        sys.executable,
        "-m",
        "elanite",
        "prun",
        "--format",
        "json",
        "--out",
        str(folder / "out"),
    ]
    words += ["-n", str(program.ranks), *program.options, str(made)]
    environment = os.environ | {"FUZZ_RECORDS": str(records), "NO_COLOR": "1"}
    try:
        done = subprocess.run(
            words, capture_output=True, text=True, env=environment, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return f"no end after {SECONDS:.0f} s: {shlex.join(words)}", {}
    if done.returncode != 0:
        return f"exit code {done.returncode}\n{done.stdout}{done.stderr}", {}
    found = [(records / str(rank)).read_bytes() for rank in range(program.ranks)]
    return differ(program, found), json.loads(done.stderr.splitlines()[-1])


def differ(program: Program, found: list[bytes]) -> str:
    """The first byte that the oracle does not expect."""
    whole = len(REGIONS) * SIZE
    for number, memory in enumerate(expected(program)):
        for rank, right in enumerate(memory):
            there = found[rank][number * whole : (number + 1) * whole]
            if there == right:
                continue
            if len(there) < whole:
                return f"step {number}: rank {rank} has written only {len(there)} bytes"
            at = next(i for i in range(whole) if there[i] != right[i])
            last = max(i for i in range(whole) if there[i] != right[i])
            place = f"{REGIONS[at // SIZE]} + {at % SIZE}"
            bytes_ = f"found {there[at : at + 16].hex()}, expected {right[at : at + 16].hex()}"
            return (
                f"step {number}, rank {rank}, {place} (last: {REGIONS[last // SIZE]} +"
                f" {last % SIZE}): {bytes_}"
            )
    return ""


def look(program: Program) -> str:
    """The error in a program's two runs, or an empty text."""
    with tempfile.TemporaryDirectory(prefix="library-fuzz-") as name:
        folder = Path(name)
        made = build(program, folder)
        wrong, first = run(program, made, folder)
        if wrong:
            return wrong
        wrong, second = run(program, made, folder)
        return wrong or apart(first, second)


def apart(first: dict[str, object], second: dict[str, object]) -> str:
    """The differences between the summaries of one program's two runs."""
    keys = [key for key in first | second if key not in HOST and first.get(key) != second.get(key)]
    shown = "; ".join(f"{key} {first.get(key)}, {second.get(key)}" for key in keys)
    return f"two runs differ: {shown}" if keys else ""


def smaller(program: Program) -> Iterator[Program]:
    """Programs without a step, then without a bundle or a call."""
    for number, step in enumerate(program.steps):
        rest = program.steps[:number], program.steps[number + 1 :]
        yield replace(program, steps=(*rest[0], *rest[1]))
        parts: list[Step] = []
        if isinstance(step, Operations):
            bundles = dict.fromkeys(bundle for bundle, _ in step.all)
            parts += [
                Operations(tuple(pair for pair in step.all if pair[0] != bundle))
                for bundle in bundles
            ]
        else:
            parts += [
                Collectives(step.all[:one] + step.all[one + 1 :]) for one in range(len(step.all))
            ]
        for part in parts:
            yield replace(program, steps=(*rest[0], part, *rest[1]))
    if program.options:
        yield replace(program, options=())


def shrink(program: Program, seconds: float) -> tuple[Program, str]:
    """The smallest failing program found in this time, and its error."""
    end, what = time.monotonic() + seconds, ""
    candidates = smaller(program)
    while time.monotonic() < end and (candidate := next(candidates, None)) is not None:
        found = look(candidate)
        if found:
            program, what = candidate, found
            candidates = smaller(program)
    return program, what
