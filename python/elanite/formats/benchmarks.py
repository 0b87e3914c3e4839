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

Lines from other tools among them, such as a batch system, are skipped, and so are the labels that
``mpirun --tag-output``, ``srun --label`` and ``mpiexec -l`` write before each line. A file has one
benchmark with one number of processes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from elanite.formats.benchmark_tables import (
    BOTH,
    SIZELESS,
    Benchmark,
    Table,
    benchmark,
    heading,
)
from elanite.formats.network import fail

if TYPE_CHECKING:
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


def operation(name: str) -> str:
    """The collective operation in a name: ``all_reduce_perf`` is ``allreduce``; empty without
    one.
    """
    plain = re.sub(r"[^a-z]", "", name.lower()).replace("broadcast", "bcast")
    return next((each for each in _OPERATIONS if each in plain), "")


def pairs(text: str) -> int:
    """The number of rank pairs over which a file's bandwidths are sums: OSU's, and half of IMB's
    processes.
    """
    for line in map(_bare, text.splitlines()):
        if found := _PAIRS.fullmatch(line):
            return int(found[1])
        if found := _PROCESSES.fullmatch(line):
            return max(int(found[1]) // 2, 1)
    return 1


def _bare(line: str) -> str:
    """A line without its rank."""
    bare = line.strip()
    label = _LABEL.match(bare)
    return bare[label.end() :] if label else bare


def values(text: str, file: Path) -> list[BenchmarkValue]:
    """A file's values. Raises ``UsageError``."""
    table: Table | None = None
    named, processes, parts = Benchmark(), "", False
    found: list[BenchmarkValue] = []
    tables: dict[str, int] = {}
    counts: dict[str, int] = {}
    ranks: set[str] = set()
    unnamed: list[tuple[int, dict[str, str]]] = []
    for line, written in enumerate(text.splitlines(), 1):
        bare = _bare(written)
        if new := benchmark(bare):
            named, table, parts = new, None, False
        if rank := _NCCL_RANK.fullmatch(bare):
            ranks.add(rank[1])
        if several := _PROCESSES.fullmatch(bare):
            processes = several[1]
        parts = parts or _PARTS.fullmatch(bare) is not None
        if begun := heading(bare, named):
            table = None if parts else begun
            continue
        words = bare.split()
        if table is not None and table.refused == SIZELESS and re.match(r"[\d.]+", bare):
            fail(file, line, f"{table.name}: {table.refused}")
        if table is None or len(words) <= table.column or not re.fullmatch(r"\d{1,15}", words[0]):
            continue
        number = _number(table, words, file, line)
        if number > 0:
            operation = table.benchmark.operation
            if table.columns and not table.benchmark.name:
                unnamed.append((line, dict(zip(table.columns, words, strict=False))))
            tables.setdefault(table.name, line)
            counts.setdefault(processes, line)
            size = int(words[0])
            if operation == "alltoall" and table.columns:
                if not ranks or size % len(ranks):
                    fail(
                        file,
                        line,
                        f"{size} B of {len(ranks)} ranks: NCCL-tests count a rank's bytes for all:"
                        " keep its ranks",
                    )
                size //= len(ranks)
            half = table.metric == "accepted" and BOTH.search(table.name) is not None
            value = number * table.factor * (0.5 if half else 1)
            together = len(ranks) if table.columns else int(processes or 0)
            found.append(
                BenchmarkValue(line, size, table.metric, value, operation, together or None)
            )
    if unnamed:
        operation = _unnamed(unnamed, file)
        found = [replace(each, operation=operation) for each in found]
    if len(tables) > 1:
        listed = ", ".join(f"{name} (line {line})" for name, line in tables.items())
        fail(file, None, f"there are several benchmarks, {listed}: give each a file of its own")
    if len(counts) > 1:
        listed = ", ".join(
            f"{count or 'no number'} (line {line})" for count, line in counts.items()
        )
        fail(
            file,
            None,
            f"there are several numbers of processes, {listed}: give each a file of its own"
            " (-npmin N)",
        )
    if not found:
        fail(
            file,
            None,
            "there is no measured value: give the table of sizes and values that the benchmark"
            " prints",
        )
    return found


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
    if "Fail" in words or any(
        name == "#wrong" and cell not in ("0", "N/A") for name, cell in named
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
