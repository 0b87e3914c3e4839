"""Elanlib and Elan3lib in C: programs with known answers, and the simulator's own Elanlib times."""

from __future__ import annotations

import csv
import io
import re
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import COMPILER, FILES, Ended, command, execute, needs_mpi

ROOT = FILES.parent.parent
SOURCES = FILES.parent / "elan"
BENCHMARKS = ROOT / "benchmarks" / "elan"
EXAMPLES = ROOT / "examples" / "elan"
HEADERS = ROOT / "python" / "elanite" / "include"
#: The table that ``examples/src/bin/elan_times.rs`` prints, kept by the Rust tests.
TIMES = ROOT / "examples" / "tests" / "snapshots" / "output__elan_times.snap"

pytestmark = needs_mpi


def build(source: Path, program: Path, *words: str) -> None:
    how: list[str | Path] = ["-O2", "-std=gnu11", "-Wall", "-Wextra", *words, "-o", program, source]
    made = execute([sys.executable, COMPILER, "elancc", *how])
    assert made.code == 0, made
    assert made.err == ""


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("elan")
    for source in SOURCES.glob("*.c"):
        build(source, folder / source.stem)
    for source in EXAMPLES.glob("*.c"):
        build(source, folder / f"example_{source.stem}")
    for source in BENCHMARKS.glob("*.c"):
        build(source, folder / f"bench_{source.stem}")
    return folder


def prun(folder: Path, *words: str | Path) -> Ended:
    return execute(command("prun", "--quiet", *map(str, words)), cwd=folder)


QUICK = {
    "nodes": "-n 16 --ranks-per-node 4",
}

SLOW = {
    "two": "-n 2",
    "one": "-n 1",
    "cyclic": "-n 5 --ranks-per-node 2 --placement cyclic",
    "qsnet2": "-n 8 --machine opteron-qsnet2",
    "ideal": "-n 3 --network ideal",
}

WAYS = [pytest.param(how, id=name) for name, how in QUICK.items()]
WAYS += [pytest.param(how, id=name, marks=pytest.mark.slow) for name, how in SLOW.items()]


@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize("name", sorted(source.stem for source in SOURCES.glob("*.c")))
def test_programs_have_right_answers(programs: Path, tmp_path: Path, name: str, how: str) -> None:
    ended = prun(tmp_path, *how.split(), programs / name)
    assert ended.code == 0, ended
    assert ended.out == f"all is well: {how.split()[1]} processes\n"


@pytest.mark.parametrize(
    ("name", "how", "said"),
    [
        ("ring", "-n 4", "a kilobyte has gone to the right, 4 times\n"),
        ("farm", "-n 8 --ranks-per-node 4", "work of 7 processes is done\n"),
        (
            "together",
            "-n 64",
            "barriers of 64 processes take 6.00 us by hardware and 14.76 us by software\n",
        ),
    ],
)
def test_examples(programs: Path, tmp_path: Path, name: str, how: str, said: str) -> None:
    ended = prun(tmp_path, *how.split(), programs / f"example_{name}")
    assert (ended.code, ended.out) == (0, said), ended


@pytest.mark.parametrize("language", ["c -std=c99", "c++ -std=c++11"])
def test_each_header_stands_alone(language: str) -> None:
    kind, standard = language.split()
    for header in HEADERS.glob("*/*.h"):
        name = header.relative_to(HEADERS)
        if name.parts[0] not in ("elan", "elan3", "qsnet"):
            continue
        source = f"#include <{name}>\n#include <{name}>\nint main(void) {{ return 0; }}\n"
        words = [
            "cc",
            "-x",
            kind,
            standard,
            "-Wall",
            "-Wextra",
            "-Werror",
            f"-I{HEADERS}",
            "-fsyntax-only",
            "-",
        ]
        subprocess.run(words, input=source, text=True, check=True)


def test_all_calls_are_there_and_described() -> None:
    """All declarations in the headers are in the library and in the documentation."""
    declared: set[str] = set()
    for header in [*(HEADERS / "elan").glob("*.h"), *(HEADERS / "elan3").glob("*.h")]:
        declared |= set(re.findall(r"^[a-zA-Z].*?\b(elan3?_\w+)\(", header.read_text(), re.M))
    assert len(declared) > 150
    library = (ROOT / "python" / "elanite" / "libelanite-fi.so").read_bytes()
    assert [name for name in sorted(declared) if f"\0{name}\0".encode() not in library] == []
    described = (ROOT / "docs" / "elan.md").read_text()
    named = set(re.findall(r"\belan3?_\w+", described))
    assert sorted(declared - named) == []


def table(text: str) -> list[tuple[str, int, float]]:
    rows = csv.DictReader(io.StringIO(text[text.index("what,") :]))
    return [(row["what"], int(row["bytes"]), float(row["us"])) for row in rows]


@pytest.mark.parametrize(
    ("options", "program", "sizes", "rows"),
    [
        ("-n 2 --placement places", "ping", "0B 8B 1KB 64KB", slice(7)),
        ("-n 2 --placement places", "transfer", "8B 4KB 256KB", slice(7, 19)),
        pytest.param(
            "-n 64", "collective", "0B 8B 4KB 512KB", slice(19, 28), marks=pytest.mark.slow
        ),
        pytest.param(
            "-n 16", "collective", "64KB 8B 4KB 64KB", slice(28, 37), marks=pytest.mark.slow
        ),
        pytest.param(
            "-n 64 --memory elan",
            "collective",
            "0B 8B 4KB 512KB",
            slice(37, 46),
            marks=pytest.mark.slow,
        ),
    ],
)
def test_times_are_those_of_the_simulators_own_library(
    programs: Path, tmp_path: Path, options: str, program: str, sizes: str, rows: slice
) -> None:
    """Among them petrini2001's barriers and broadcasts: 6.0 and 14.8 us, 200 and 288 MB/s at 64
    nodes.
    """
    (tmp_path / "places").write_text("0\n63\n")
    ended = prun(tmp_path, *options.split(), programs / f"bench_{program}", *sizes.split())
    assert ended.code == 0, ended
    measured = table(ended.out)
    own = table(TIMES.read_text())
    assert len(own) == 46
    own = own[rows]
    assert [row[:2] for row in measured] == [row[:2] for row in own]
    for (what, size, here), (_, _, there) in zip(measured, own, strict=True):
        assert here == pytest.approx(there, rel=0.01), (what, size)


MISTAKES = {
    "process": (
        "elan_put: there is no process 9; the last one is 1",
        "elan_wait(elan_put(state, &me, &me, 4, 9), 0);",
    ),
    "root": ("elan_hbcast: the group has no place 5", "elan_hbcast(base->allGroup, &me, 4, 5, 0);"),
    "label": (
        "elan_tportTxStart: the sender's label -1",
        "elan_tportTxStart(port(), 0, 0, -1, 0, &me, 4);",
    ),
    "slot": (
        "longer than a slot can be",
        "elan_queueTx(elan_queueTxInit(state, &q, 0, 0), 1, &q, 100000, 0);",
    ),
    "memory": (
        "rank . puts 4 B at address 0x8 of rank 1",
        "elan_wait(elan_put(state, &me, (void *)8, 4, 1), 0);",
    ),
    "room": (
        "a message of 8 bytes has come, and the buffer has 4",
        (
            "elan_tportTxStart(port(), 0, me, 0, 0, &q, 8);"
            " elan_tportRxWait(elan_tportRxStart(p, 0, 0, 0, 0, 0, &me, 4), 0, 0, 0);"
        ),
    ),
    "queued": (
        "use the queues of Elanlib",
        "E3_DMA d = {.dma_type = E3_DMA_TYPE(0, 0, DMA_QUEUED, 0)}; elan3_putdma_main(0, &d, 0);",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=MISTAKES.keys())
def test_mistakes_are_named(tmp_path: Path, mistake: tuple[str, str]) -> None:
    said, statement = mistake
    source = tmp_path / "mistake.c"
    source.write_text(
        '#include "check.h"\n#include <elan3/elan3.h>\nstatic ELAN_TPORT *p;\nstatic ELAN_QUEUE'
        " q;\nstatic inline ELAN_TPORT *port(void) { return p = elan_tportInit(state, &q, 9, 9,"
        " 9, 9, 0, 0, 0, 0, 0, 0); }\nint main(void) { begin(); (void)port; (void)p; (void)q;"
        f" {statement} return finish(); }}\n"
    )
    build(source, tmp_path / "mistake", f"-I{SOURCES}", "-Wno-unused-function")
    ended = prun(tmp_path, "-n", "2", tmp_path / "mistake")
    assert ended.code == 1, ended
    assert re.search(said, ended.err), ended
