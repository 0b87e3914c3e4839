"""Measured values in benchmark output: OSU, Intel MPI (IMB), NCCL-tests (and RCCL's), perftest.

Each table line is a message size in bytes and a value in the unit of Elanite's metric:

| benchmark | value | metric |
|---|---|---|
| OSU: latency, one-way or of a collective | latency in µs, its average | ``latency`` |
| OSU: a nonblocking collective | pure communication time in µs, without computation | ``latency`` |
| OSU: bandwidth, message rate | MB/s of 10^6 bytes | ``accepted`` |
| IMB: PingPong, PingPing, collectives | t, t_pure or t_avg in µs | ``latency`` |
| IMB: Uniband, Biband | MB/s | ``accepted`` |
| NCCL-tests | time out of place in µs; an all-to-all's size is divided by the ranks | ``latency`` |
| perftest: ``ib_*_lat`` | the typical time, or the average, in µs | ``latency`` |
| perftest: ``ib_*_bw`` | the average; its MB are 2^20 bytes, its Gb 10^9 bits | ``accepted`` |

A bandwidth test has many messages in flight, and so measures a job's accepted load, not a ping's
``bandwidth``, which is a size over a latency. A test in both directions (OSU's Bi-Directional,
IMB's Biband, perftest's -b) prints their sum; a node sends half of it, which is the value. A test
with several pairs of ranks (OSU's Multiple Bandwidth) prints the sum over the pairs, and not the
nodes on which they are; the values are these sums, and their reader adds a note (`pairs`).

Other times are refused by their name, as they are no message's one way: of both directions and of
neighbours (IMB's Sendrecv, Exchange), of several pairs or threads, of one-sided calls (OSU's
MPI_Put, MPI_Get), of reads and atomic operations (``ib_read_lat``, ``ib_atomic_lat``), and of
barriers, which have no size. So are names and columns that are not known (`benchmark_tables`).
NCCL-tests before 2.13 do not name the test: its reduction, its root and the quotient of its bus and
its algorithm bandwidth tell it, but for all-gathers and all-to-alls, which are equal in these.

OSU's fan-in and fan-out tests print the heading of its bandwidth test, in some versions with a
column of latencies: this column, the file's name or a command in the file tells them apart.

A file may have several benchmarks, each with several numbers of processes, as IMB prints them by
itself; those of no metric are left out beside others. IMB's rows of samples that it did not measure
(``out-of-mem.``, ``int-overflow``, ``time-out.``) are left out, too.

perftest's report as JSON is read as its table (`perftest_reports`).

Lines from other tools among them, such as a batch system, are skipped, and so are the labels that
``mpirun --tag-output``, ``srun --label`` and ``mpiexec -l`` write before each line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from elanite.formats import perftest_reports
from elanite.formats.benchmark_tables import (
    BOTH,
    CONGESTED,
    IMB,
    OSU,
    OTHERS,
    SEVERAL,
    SIZELESS,
    Benchmark,
    Table,
    benchmark,
    heading,
)
from elanite.formats.network import fail

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LARGEST = 2**40
"""Bytes beyond which a size is a mistake."""

_LABEL = re.compile(r"(?:\[[^\]]*\]<std(?:out|err)>:|\d+:|\[\d+\](?=\s))\s*")
"""A line's rank, as ``mpirun --tag-output``, ``srun --label`` and ``mpiexec -l`` write it."""
_PROCESSES = re.compile(r"#\s*#processes = (\d{1,9})\b.*")
"""IMB's heading with a table's number of processes."""

_PAIRS = re.compile(r"#\s*\[ pairs: (\d{1,9}) \].*")
"""OSU's heading with the number of pairs over which values are sums."""

_OPERATIONS = (
    "allreduce",
    "allgather",
    "alltoall",
    "reducescatter",
    "reduce",
    "bcast",
    "gather",
    "scatter",
    "barrier",
)
"""Collective operations; longer names before their parts."""
_PARTS = re.compile(r"(?:Local|Remote) results:")
"""perftest's heading for one direction of a sum that it has printed (--report-both)."""
_NCCL_RANK = re.compile(r"#\s+Rank\s+(\d{1,9})\b.*")
_NCCL_RANKS = re.compile(r"#\s*Using devices")
"""The heading of NCCL's ranks."""
_FAILED = re.compile(r"(?:out-of-mem|int-overflow|time-out)\b")
"""The word in place of the repetitions of a sample that IMB did not measure."""
_FAN = re.compile(r"\bosu_bw_fan_|fan[_-](?:in|out)\b", re.IGNORECASE)
"""A sign of OSU's fan-in and fan-out tests in a command or in a file's name."""

_NUMBER = r"\d{1,15}(?:\.\d{0,9})?(?:[eE][+-]?\d{1,2})?"


@dataclass(frozen=True)
class BenchmarkValue:
    """A measured value."""

    line: int
    message: int
    """Bytes."""
    metric: str
    value: float
    operation: str = ""
    """The collective operation, in small letters (``allreduce``); empty for others, and where it is
    not printed.
    """
    processes: int | None = None
    """The processes of a collective operation, where they are printed."""
    benchmark: str = ""
    """The benchmark's name, as it is printed; empty where it is not."""
    both: bool = False
    """Whether a ping's messages in both directions travel at the same time (IMB's PingPing)."""
    pairs: int = 1
    """The rank pairs over which a bandwidth is the sum: OSU's, and half of IMB's processes."""


def operation(name: str) -> str:
    """The collective operation in a name: ``all_reduce_perf`` is ``allreduce``; empty without
    one.
    """
    plain = re.sub(r"[^a-z]", "", name.lower()).replace("broadcast", "bcast")
    return next((each for each in _OPERATIONS if each in plain), "")


def _bare(line: str) -> str:
    """A line without its rank."""
    bare = line.strip()
    label = _LABEL.match(bare)
    return bare[label.end() :] if label else bare


def values(
    text: str, file: Path, note: Callable[[str], None] | None = None
) -> list[BenchmarkValue]:
    """A file's values. ``note`` gets sentences on tables and rows that are left out.

    Raises ``UsageError``.
    """
    read = _Reading(file)
    for line, written in perftest_reports.lines(text, file):
        read.line(line, _bare(written))
    read.close()
    found, left = read.found, [*read.refused.values(), *read.failed]
    if not found and left:
        fail(file, *left[0])
    if not found:
        fail(
            file,
            None,
            "there is no measured value: give the table of sizes and values that the benchmark"
            " prints",
        )
    if note is not None:
        for line, why in left:
            note(f"{file}:{line}: {why}: left out")
    return found


class _Reading:
    """The tables of a file, line by line."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.table: Table | None = None
        self.named = Benchmark()
        self.processes = self.pairs = 0
        self.parts = False
        self.fan = _FAN.search(file.name) is not None
        self.found: list[BenchmarkValue] = []
        self.refused: dict[str, tuple[int, str]] = {}
        """Benchmarks that measure no metric of points: the first row's line, and the reason."""
        self.failed: list[tuple[int, str]] = []
        """Rows of samples that IMB did not measure."""
        self.ranks: set[str] = set()
        self.unnamed: list[tuple[int, dict[str, str]]] = []
        """The rows of the current table of NCCL-tests, if it does not name its test."""

    def line(self, line: int, bare: str) -> None:
        """Read a line without its label."""
        self.fan = self.fan or _FAN.search(bare) is not None
        if new := benchmark(bare):
            self.close()
            self.named, self.table, self.parts = new, None, False
            self.processes = self.pairs = 0
        if several := _PAIRS.fullmatch(bare):
            self.pairs = int(several[1])
        if several := _PROCESSES.fullmatch(bare):
            self.processes = int(several[1])
        if _NCCL_RANKS.match(bare):
            self.ranks = set()
        if rank := _NCCL_RANK.fullmatch(bare):
            self.ranks.add(rank[1])
        self.parts = self.parts or _PARTS.fullmatch(bare) is not None
        if begun := heading(bare, self.named):
            self.close()
            self.table = None if self.parts else begun
            return
        table, words = self.table, bare.split()
        if table is None:
            return
        if table.refused == SIZELESS and re.match(r"[\d.]+", bare):
            self.refused.setdefault(table.name, (line, f"{table.name}: {SIZELESS}"))
        elif len(words) > 1 and re.fullmatch(r"\d{1,15}", words[0]):
            if table.benchmark.suite == IMB and (why := _FAILED.match(words[1])):
                said = f"{table.name}: {words[0]} B: IMB did not measure it ({why[0]})"
                self.failed.append((line, said))
            elif len(words) > table.column:
                self._row(table, words, line)

    def _row(self, table: Table, words: list[str], line: int) -> None:
        if why := self._refusal(table):
            self.refused.setdefault(table.name, (line, f"{table.name}: {why}"))
            return
        number = _number(table, words, self.file, line)
        if number <= 0:
            return
        name, operation, size = table.benchmark.name, table.benchmark.operation, int(words[0])
        if table.columns and not name:
            self.unnamed.append((line, dict(zip(table.columns, words, strict=False))))
        if operation == "alltoall" and table.columns:
            if not self.ranks or size % len(self.ranks):
                fail(
                    self.file,
                    line,
                    f"{size} B of {len(self.ranks)} ranks: NCCL-tests count a rank's bytes for all:"
                    " keep its ranks",
                )
            size //= len(self.ranks)
        half = table.metric == "accepted" and BOTH.search(name) is not None
        value = number * table.factor * (0.5 if half else 1)
        together = len(self.ranks) if table.columns else self.processes
        self.found.append(
            BenchmarkValue(
                line,
                size,
                table.metric,
                value,
                operation,
                together or None,
                name,
                both=name.startswith("PingPing"),
                pairs=self.pairs or max(self.processes // 2, 1),
            )
        )

    def _refusal(self, table: Table) -> str:
        """Why a benchmark's values are of no metric, beside other benchmarks; empty if they are."""
        if table.refused in OTHERS:
            return table.refused
        if table.benchmark.suite == IMB:
            alone = table.metric != "latency" or table.benchmark.operation or self.processes <= 2
            return "" if alone else SEVERAL
        fan = self.fan and table.benchmark.suite == OSU and table.metric == "accepted"
        return CONGESTED if fan else ""

    def close(self) -> None:
        """End the current table."""
        if self.unnamed:
            operation = _unnamed(self.unnamed, self.file)
            first = len(self.found) - len(self.unnamed)
            rows = [replace(each, operation=operation) for each in self.found[first:]]
            self.found[first:], self.unnamed = rows, []


def _number(table: Table, words: list[str], file: Path, line: int) -> float:
    """The value in a table's row. Raises ``UsageError``."""
    if table.refused:
        fail(file, line, f"{table.name}: {table.refused}")
    number = words[table.column]
    if not re.fullmatch(_NUMBER, number) or int(words[0]) > LARGEST:
        fail(
            file,
            line,
            f"`{number[:40]}` is no value of {table.name}, or {words[0]} no size of a message",
        )
    if len(words) < len(table.columns):
        fail(
            file,
            line,
            f"{table.name}: the row has {len(words)} cells and its heading {len(table.columns)}",
        )
    named = list(zip(table.columns, words, strict=False))
    if ("busbw", "0.00") in named and any(
        name == "algbw" and re.fullmatch(r"0\.[1-9]\d*|[1-9][\d.]*", cell) for name, cell in named
    ):
        fail(
            file,
            line,
            f"{table.name}: the bus bandwidth of a single rank: processes without MPI (make MPI=1)"
            " run apart from each other",
        )
    defects = words[table.defects : table.defects + 1] if table.defects else []
    if (
        "Fail" in words
        or any(re.fullmatch(r"[0.]+", cell) is None for cell in defects)
        or any(name == "#wrong" and cell not in ("0", "N/A") for name, cell in named)
    ):
        fail(
            file,
            line,
            f"{table.name}: its check of the data failed in this line: measure again, or leave the"
            " line out",
        )
    return float(number)


def _unnamed(rows: list[tuple[int, dict[str, str]]], file: Path) -> str:
    """The operation of an NCCL test that does not print its name. Raises ``UsageError``."""
    line, row = rows[-1]
    reduces, root = row.get("redop", "none") != "none", row.get("root", "-1")
    try:
        more = float(row["busbw"]) / float(row["algbw"])
    except (KeyError, ValueError, ZeroDivisionError):
        more = 0.0
    if root == "-1" and not (reduces and more):
        fail(
            file,
            line,
            "the table does not name its test: add a line above it, for example"
            " # Collective test starting: all_reduce_perf",
        )
    if root != "-1":
        return "reduce" if reduces else "bcast"
    return "allreduce" if more > 0.99 else "reducescatter"
