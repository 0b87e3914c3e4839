"""Random programs in C for OpenSHMEM and Elanlib against an oracle (``tests/library_fuzz``)."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace

import pytest

from conftest import FILES, environment, execute, needs_mpi
from library_fuzz import elanlib, runs, shmem
from library_fuzz.draw import LIBRARIES, draw
from library_fuzz.emit import emit
from library_fuzz.oracle import expected
from library_fuzz.steps import (
    Atomic,
    Await,
    Collectives,
    Operations,
    Place,
    Program,
    Signal,
    Transfer,
    Twice,
)

ROOT = FILES.parents[1]
MANY = range(80)


@pytest.fixture(scope="module")
def programs() -> list[Program]:
    return [draw(library, seed) for seed in MANY for library in LIBRARIES]


@needs_mpi
@pytest.mark.parametrize("seed", [5, pytest.param(100, marks=pytest.mark.slow)])
@pytest.mark.parametrize("library", LIBRARIES)
def test_programs_do_what_the_oracle_says(library: str, seed: int) -> None:
    """One program, or thirty; each runs twice. ``again`` in the message repeats the wrong one."""
    count = 1 if seed == 5 else 30
    words = [
        sys.executable,
        "-m",
        "tests.library_fuzz",
        "--library",
        library,
        "--programs",
        str(count),
    ]
    ended = execute([*words, "--seed", str(seed)], 300 * count, cwd=ROOT)
    assert ended.code == 0, ended
    assert ended.out == f"{count} programs, each run twice, are as the oracle says\n"


def test_a_wrong_program_is_found_and_made_smaller() -> None:
    """A program that differs from the oracle's in one operation among others."""
    right = draw("shmem", 5)
    put = Transfer(0, "put", 1, Place("own", 8), Place("heap", 16), 8, 1, (0, 0), "memory", False)
    noise = replace(put, rank=1, other=0, theirs=Place("fixed", 64))
    program = replace(
        right,
        ranks=2,
        groups=right.groups[:1],
        options=(),
        steps=(Operations(((1, put), (2, noise))),),
    )
    memory = next(expected(program))
    assert runs.differ(program, memory) == ""
    wrong = [memory[0], memory[1][:20] + b"?" + memory[1][21:]]
    found = runs.differ(program, wrong)
    assert re.match(r"step 0, rank 1, heap \+ 20 \(last: heap \+ 20\): found 3f", found)
    assert runs.differ(program, [memory[0], b""]) == "step 0: rank 1 has written only 0 bytes"
    one, other = (
        {"digest": "a", "repeatable": True, "folder": "x"},
        {"digest": "b", "repeatable": True, "folder": "y"},
    )
    assert runs.apart(one, other) == "two runs differ: digest a, b"
    assert runs.apart(one, one | {"folder": "y", "host_seconds": 3}) == ""
    fewer = [len(one.steps[0].all) for one in runs.smaller(program) if one.steps]
    assert fewer == [1, 1]
    assert (
        runs.again(program) == "python -m tests.library_fuzz --library shmem --seed 5 --programs 1"
    )


def test_a_seed_is_a_program(programs: list[Program]) -> None:
    assert [draw(one.library, one.seed) for one in programs[:20]] == programs[:20]
    words = [sys.executable, "-m", "tests.library_fuzz", "--seed", "3", "--programs", "1", "--show"]
    shown = [
        subprocess.run(
            words,
            capture_output=True,
            check=True,
            cwd=ROOT,
            env=environment() | {"PYTHONHASHSEED": salt},
        )
        for salt in ("1", "2")
    ]
    assert (
        shown[0].stdout
        == shown[1].stdout
        == "".join(emit(draw(one, 3)) for one in LIBRARIES).encode()
    )


def test_everything_is_drawn(programs: list[Program]) -> None:
    operations = [
        one
        for p in programs
        for step in p.steps
        if isinstance(step, Operations)
        for _, one in step.all
    ]
    calls = [
        one
        for p in programs
        for step in p.steps
        if isinstance(step, Collectives)
        for one in step.all
    ]
    assert len({type(one) for one in operations}) == 12
    assert {one.how for one in operations if isinstance(one, Transfer)} >= {
        "one",
        "typed",
        "vector",
        "strided",
        "control",
    }
    assert len({one.name for one in operations if isinstance(one, Atomic)}) == 9
    assert {one.how for one in operations if isinstance(one, Await)} == {"call", "test", "loop"}
    assert {one.kind for one in calls} == {
        "broadcast",
        "reduce",
        "fcollect",
        "collect",
        "gather",
        "alltoall",
        "barrier",
    }
    assert {one.operation for one in calls} >= {"matrix", "sum", "xor", "min"}
    assert len({one.options for one in programs}) == 6


def test_what_is_awaited_is_sent_before(programs: list[Program]) -> None:
    """So that no program can deadlock."""
    for program in programs:
        for step in program.steps:
            sent = set()
            for _, one in step.all if isinstance(step, Operations) else ():
                if isinstance(one, Signal):
                    sent.add(one)
                assert not isinstance(one, Await) or one.signal in sent


def test_steps_have_no_race(programs: list[Program]) -> None:
    """With any bundle order, the oracle finds the same memory."""
    for program in programs[:12]:
        turned = []
        for step in program.steps:
            if isinstance(step, Operations):
                bundles = [number for number, _ in reversed(step.all)]
                order = list(dict.fromkeys(bundles))
                step = Operations(tuple(sorted(step.all, key=lambda pair: order.index(pair[0]))))
            turned.append(step)
        for one, other in zip(
            expected(program), expected(replace(program, steps=tuple(turned))), strict=True
        ):
            assert one == other


def test_calls_of_both_libraries() -> None:
    """A few by hand, as in the standard and the header."""
    put = Transfer(0, "put", 3, Place("own", 8), Place("heap", 16), 4, 3, (8, 12), "strided", False)
    assert (
        shmem.transfer(put) == "shmem_int_iput((void *)(heap + 16), (void *)(own + 8), 3, 2, 3, 3);"
    )
    get = replace(put, way="get", how="one", count=1)
    assert shmem.transfer(get) == "*(int *)(void *)(own + 8) = shmem_int_g((void *)(heap + 16), 3);"
    strided = (
        "elan_getss(control, (void *)(heap + 16), (void *)(own + 8), (int[]){12}, (int[]){8},"
        " (unsigned[]){4, 3}, 1, 3)"
    )
    assert elanlib.transfer(replace(put, way="get")) == strided
    twice = Twice(0, 1, Place("own", 0), Place("own", 8), Place("heap", 0), 8, False)
    assert "shmem_fence();" in shmem.operation(twice)
