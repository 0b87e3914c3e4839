"""Random MPI programs: two batches natively and simulated, and all parts of the fuzz."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import conftest
from conftest import PATIENCE, execute
from mpi_fuzz import communicators, configurations
from mpi_fuzz.__main__ import main
from mpi_fuzz.draw import BATCH, draw, ranks_of
from mpi_fuzz.draw_collectives import MOVES, NEIGHBOURS, REDUCTIONS
from mpi_fuzz.emit import emit
from mpi_fuzz.fit import fit
from mpi_fuzz.fuzz import Fuzz, Options, batches
from mpi_fuzz.layouts import BASIC, KINDS, UNIT_KINDS, shape
from mpi_fuzz.runs import LAST, Ended, Workshop, differ, first_unlike
from mpi_fuzz.shrink import shrink
from mpi_fuzz.steps import Collective, Layout, Messages, Program, Window, kind_of

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).parents[1]

MANY = range(3000)


@pytest.fixture(scope="module")
def programs() -> list[Program]:
    return [draw(seed) for seed in MANY]


def fuzz(*words: str, limit: float | None = None, **more: str) -> conftest.Ended:
    return execute(
        [sys.executable, "-m", "tests.mpi_fuzz", *words], limit, cwd=ROOT, env=os.environ | more
    )


def test_nothing_differs(tmp_path: Path) -> None:
    """The fuzz itself. More of it: make fuzz-mpi SECONDS=600 SEED=1000."""
    ended = fuzz("--programs", str(2 * BATCH), "--keep", str(tmp_path), limit=12 * PATIENCE)
    assert ended.code == 0, ended
    assert ended.out.startswith(f"{2 * BATCH} programs in "), ended


def test_a_seed_is_a_program(programs: list[Program]) -> None:
    assert [draw(seed) for seed in range(64)] == programs[:64]
    shown = [fuzz("--seed", "17", "--show", PYTHONHASHSEED=salt) for salt in ("1", "2")]
    assert shown[0] == shown[1]
    assert shown[0].code == 0
    assert len({emit([program]) for program in programs[:64]}) == 64


def test_ranks(programs: list[Program]) -> None:
    assert {program.ranks for program in programs} == set(range(2, 17))
    assert sum(program.ranks <= 6 for program in programs) > len(programs) / 2
    assert all(program.ranks == ranks_of(program.seed // BATCH) for program in programs)


def test_all_kinds_of_steps_occur(programs: list[Program]) -> None:
    steps = [step for program in programs for step in program.steps]
    kinds = {kind_of(step) for step in steps}
    makes = ("dup", "idup", "split", "create", "group", "inter", "merge", "cart", "graph")
    assert {f"make {how}" for how in makes} <= kinds
    assert {"messages", "persistent messages", "cancels", "nobody"} <= kinds
    names = ["Barrier", *MOVES, *REDUCTIONS, *NEIGHBOURS]
    assert {f"{form}{name}" for form in ("", "I", "persistent ") for name in names} <= kinds
    windows = [step for step in steps if isinstance(step, Window)]
    assert {step.how for step in windows} == {"create", "allocate", "dynamic"}
    epochs = {epoch.how for step in windows for epoch in step.epochs}
    assert epochs >= {
        "fence",
        "groups",
        "groups test",
        "lock",
        "lock exclusive",
        "lock_all",
        "lock_all flush",
    }
    assert epochs >= {"lock flush_local", "tickets", "counter", "swap"}
    accesses = [one for step in windows for epoch in step.epochs for one in epoch.accesses]
    assert {one.call for one in accesses if one.request} == {
        "Put",
        "Get",
        "Accumulate",
        "Get_accumulate",
    }
    assert {one.call for one in accesses} >= {"Fetch_and_op", "Compare_and_swap"}


def test_all_kinds_of_messages_occur(programs: list[Program]) -> None:
    steps = [step for program in programs for step in program.steps if isinstance(step, Messages)]
    messages = [one for step in steps for one in step.messages]
    sends = {
        f"{mode}{kind}"
        for kind in ("send", "send_init")
        for mode in ("", "S", "B", "R", "P", "I", "Is", "Ib", "Ir")
    }
    sends = {one.capitalize() for one in sends} - {
        "Psend",
        "Isend_init",
        "Issend_init",
        "Ibsend_init",
        "Irsend_init",
    }
    both = {"Sendrecv", "Isendrecv", "Sendrecv_replace", "Isendrecv_replace"}
    assert {one.send for one in messages} == sends | both
    receives = {"Recv", "Irecv", "Recv_init", "Precv_init", "Probe", "Iprobe", "Mprobe", "Improbe"}
    assert {one.receive for one in messages} == receives | both
    assert {one.wild for one in messages} == {"", "any source", "any tag", "any"}
    assert {one.into.kind for one in messages} == set(KINDS)
    assert any(one.room < one.elements for one in messages)
    assert any(step.lag for step in steps)
    assert {how for step in steps for how in step.finish} >= {
        "Waitall",
        "Waitany",
        "Waitsome",
        "Testall",
        "Test",
    }
    sizes = {one.elements * BASIC[one.basic] for one in messages}
    assert sizes >= {0, 1, 255, 256, 257, 16384, 65535, 65536, 65537, 524288, 1048576}
    assert max(sizes) >= 32 << 20


def test_what_is_drawn_fits(programs: list[Program]) -> None:
    """No repair is left; and each step is in an existing communicator."""
    for program in programs[:500]:
        assert fit(program) == program
        for number, step in enumerate(program.steps):
            if isinstance(step, (Messages, Collective, Window)):
                assert step.comm in communicators.known(program.ranks, program.steps[:number])


@pytest.mark.parametrize("kind", KINDS)
def test_layouts(kind: str) -> None:
    """All elements have a place, and no two the same one."""
    for salt in range(40):
        for elements in (0, 1, 2, 5, 24, 60, 97, 1000):
            made = shape(Layout(kind, salt), "MPI_INT", elements)
            assert made.size * made.count == 4 * elements
            places = [
                at + time * step + element * made.extent + byte
                for element in range(made.count)
                for at, length, times, step in made.runs
                for time in range(times)
                for byte in range(length)
            ]
            assert len(set(places)) == 4 * elements
            if kind in UNIT_KINDS:
                assert made.single().size == 4 * elements


def test_configurations() -> None:
    drawn = [one for batch in range(600) for one in configurations.simulated(batch)]
    text = [" ".join(one.words) for one in drawn]
    for machine in configurations.NODES:
        assert any(f"--machine {machine}" in one for one in text)
    shares = (
        "--ranks-per-node 2",
        "--ranks-per-node 4",
        "--collectives hardware",
        "--collectives elan",
    )
    for words in (*shares, "--memory elan", "--network ideal", "rails.policy=dynamic"):
        assert any(words in one for one in text), words


def test_batches() -> None:
    seeds = [list(one) for one in batches(Options(seed=14, programs=20))]
    assert seeds == [[14, 15], list(range(16, 32)), [32, 33]]


def test_emitted_programs_compile(tmp_path: Path) -> None:
    """Without a warning: sixteen with the prelude beside them, and the last seed's program, a
    separate file.
    """
    shop = Workshop(tmp_path)
    assert shop.build([draw(seed) for seed in range(16)]).exists()
    alone = tmp_path / "alone.c"
    alone.write_text(
        emit([draw(2**64 - 1)], "It ends /* here.".replace("/*", ""), whole=True), encoding="utf-8"
    )
    words = [
        configurations.BIN / "mpicc",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-o",
        tmp_path / "alone",
        alone,
    ]
    subprocess.run(words, check=True)


def ended(*lines: str, code: int | None = 0) -> Ended:
    return Ended(code, tuple(f"program 7\n{line}\n{LAST}" for line in lines), "words")


def test_differences_are_seen() -> None:
    native = ended("a", "b")
    assert differ(native, ended("a", "b")) == ""
    assert differ(native, ended("a", "c")) == "rank 1: natively 'b', simulated 'c'"
    assert differ(native, ended("a", "b", code=None)) == "did not end in time"
    assert differ(native, ended("a", "b", code=3)) == "exit code 3: words"
    assert differ(native, ended("a", "wrong: x")) == "rank 1: wrong: x"
    assert (
        differ(native, Ended(0, ("program 7\na\n" + LAST, ""), ""))
        == "not all ranks have come to their end"
    )
    assert "2 lines" in differ(native, ended("a", "b\nd")) or "natively" in differ(
        native, ended("a", "b\nd")
    )


def test_the_program_of_a_difference_is_found() -> None:
    three = [Program(seed, 1) for seed in (5, 6, 7)]
    text = "program 5\na\nprogram 6\nb\nprogram 7\nc\n" + LAST
    native = Ended(0, (text,), "")
    assert first_unlike(native, Ended(0, (text.replace("b", "x"),), ""), three).seed == 6
    assert first_unlike(native, Ended(None, ("program 5\na\nprogram 6\n",), ""), three).seed == 6
    assert first_unlike(native, Ended(0, (text.replace("c", "wrong: c"),), ""), three).seed == 7


def test_shrinking(programs: list[Program]) -> None:
    """An injected difference: messages longer than 1,000 bytes to rank 0 or 1. Only one is left."""

    def fails(program: Program) -> bool:
        known = communicators.known(program.ranks, program.steps)
        return any(
            known[step.comm].world(1 - one.side, one.to) < 2
            and one.elements * BASIC[one.basic] > 1000
            for step in program.steps
            if isinstance(step, Messages)
            for one in step.messages
        )

    found = [program for program in programs if fails(program) and len(program.steps) > 4][:8]
    assert found
    for program in found:
        small = shrink(program, fails, math.inf)
        (step,) = small.steps
        assert isinstance(step, Messages)
        (message,) = step.messages
        assert small.ranks == 2
        assert (message.wild, message.shift, message.out.kind, step.rounds) == ("", 0, "plain", 1)
        assert message.elements * BASIC[message.basic] <= 8192
        assert fit(small) == small


def test_shrinking_ends_in_time(programs: list[Program]) -> None:
    assert shrink(programs[0], lambda _: True, 0) == programs[0]


def test_usage() -> None:
    for seed in (-1, 2**64):
        ended = fuzz("--seed", str(seed))
        assert ended.code == 2
        assert "--seed has 64 bits, from 0 on" in ended.err


def test_a_wrong_simulator_is_found(tmp_path: Path) -> None:
    """One that runs programs natively and changes a record: the program is shrunk and printed, the
    exit code is 1.
    """
    fake = tmp_path / "elanite"
    fake.write_text(
        f"#!{sys.executable}\nimport os, subprocess, sys\nwords = sys.argv[1:]\nranks ="
        " words[words.index('-n') + 1]\nnative = {'MPIR_CVAR_CH4_PROGRESS_THROTTLE': '1',"
        " 'MPIR_CVAR_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT': '64'}\nwords ="
        f" [{str(configurations.BIN / 'mpiexec')!r}, '-n', ranks, words[-1]]\nsubprocess.run(words,"
        " env=os.environ | native, check=True)\npath = os.environ['FUZZ_RECORDS'] + '/1'\ntext ="
        " open(path).read()\nopen(path, 'w').write(text.replace(' done', ' gone', 1) if 'message'"
        " in text else text)\n",
        encoding="utf-8",
    )
    fake.chmod(0o755)
    seed = next(
        seed
        for seed in MANY
        if draw(seed).ranks == 2 and any(isinstance(one, Messages) for one in draw(seed).steps)
    )
    words = ("--seed", str(seed), "--programs", "16", "--shrink-seconds", "5")
    ended = fuzz(*words, ELANITE_FUZZ_COMMAND=str(fake))
    assert ended.code == 1, ended
    assert "done', simulated" in ended.out
    assert "int main(int argc, char **argv)" in ended.out
    assert "1 difference" in ended.out.splitlines()[-1]
    assert replace(draw(seed), steps=()) != draw(seed)


class Failing(Workshop):
    """An MPI library that fails natively with some programs, always or only in company; simulated,
    they do not fail.
    """

    def __init__(self, folder: Path, fails: set[int], company: int) -> None:
        self.made, self.fails, self.company, self.slow = folder / "made", fails, company, 1.0
        self.programs: list[Program] = []

    def build(self, programs: Sequence[Program]) -> Path:
        self.programs = list(programs)
        return self.made

    def run(
        self, made: Path, ranks: int, how: configurations.Configuration, seconds: float
    ) -> Ended:
        fails = self.fails if not how.simulated and len(self.programs) >= self.company else set()
        lines = [
            f"program {one.seed}\n" + "wrong: a byte\n" * (one.seed in fails)
            for one in self.programs
        ]
        return Ended(0, ("".join([*lines, LAST]),), "")


def test_programs_that_fail_natively_are_set_aside(tmp_path: Path) -> None:
    fuzz = Fuzz(Options(), print, tmp_path)
    fuzz.shop = Failing(tmp_path, {3, 9}, company=1)
    assert fuzz.batch(range(BATCH)) is None
    assert [one.program.seed for one in fuzz.summary.unfit] == [3, 9]
    assert fuzz.summary.programs == BATCH - 2
    assert "not compared: 9 fails natively: rank 0: wrong: a byte" in str(fuzz.summary)


def test_a_program_that_fails_natively_in_company_only_is_a_difference(tmp_path: Path) -> None:
    fuzz = Fuzz(Options(), print, tmp_path)
    fuzz.shop = Failing(tmp_path, {3}, company=2)
    found = fuzz.batch(range(BATCH))
    assert found is not None
    assert (found.program.seed, fuzz.summary.unfit) == (3, [])


def test_with_nothing_compared_there_is_an_exit_code(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(
        "mpi_fuzz.fuzz.Workshop", lambda folder, _slow: Failing(folder, {3}, company=1)
    )
    assert main(["--seed", "3", "--programs", "1"]) == 1
    assert main(["--seed", "3", "--programs", "2", "--keep", str(tmp_path)]) == 0
