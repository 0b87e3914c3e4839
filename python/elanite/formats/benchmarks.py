"""Measured values in benchmark output: OSU, Intel MPI (IMB), NCCL-tests (and RCCL's), perftest.

Each table line is a message size in bytes and a value in the unit of Elanite's metric:

| benchmark | value | metric |
|---|---|---|
| OSU: latency, one-way or of a collective | latency in µs, its average | ``latency`` |
| OSU: a nonblocking collective | pure communication time in µs, without computation | ``latency`` |
| OSU: bandwidth, message rate | MB/s of 10^6 bytes | ``accepted`` |
| IMB: PingPong, PingPing, collectives | t or t_avg in µs | ``latency`` |
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
neighbours (IMB's Sendrecv, Exchange), of one-sided calls (OSU's MPI_Put, MPI_Get), of reads and
atomic operations (``ib_read_lat``, ``ib_atomic_lat``), and of barriers, which have no size.
NCCL-tests before 2.13 do not name the test: its reduction, its root and the quotient of its bus and
its algorithm bandwidth tell it, but for all-gathers and all-to-alls, which are equal in these.

Lines
from other tools among them, such as a batch system, are skipped, and so are the labels that
``mpirun --tag-output`` and ``srun --label`` write before each line. A file has one benchmark with
one number of processes.

Source: OSU 7.4, IMB 2021.7, NCCL-tests 2.13, perftest 24.01: their printed headings.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from elanite.formats.network import fail

if TYPE_CHECKING:
    from pathlib import Path

LARGEST = 2**40
"""Bytes beyond which a size is a mistake."""

_BOTH = re.compile(r"bi-?directional|biband", re.IGNORECASE)
"""Names of tests that print both directions' sum."""

_LABEL = re.compile(r"(?:\[[^\]]*\]<std(?:out|err)>:|\d+:)\s*")
"""A line's rank, as ``mpirun --tag-output`` and ``srun --label`` write it."""
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
_IMB = re.compile(r"P2P_\w*|PingP[io]ng\w*|Uniband|Biband")
"""IMB's tests that are no collective operations, whose values are those of a message or a job."""
_ROUND = re.compile(
    r"RDMA_Read|Atomic|MPI_(?:Put|Get|Acc|Get_acc|Fetch|Compare)|\b(?:Put|Get)\b", re.IGNORECASE
)
"""Tests whose latency is that of a request and its answer, or of a call with its completion."""
_NCCL_RANK = re.compile(r"#\s+Rank\s+\d+\b.*")

_ANSWERED = (
    "its time is that of a request with its answer, and no message's one way; give the values as"
    " CSV, for a series that does the same"
)
_SEVERAL = (
    "its time is that of several messages at once, and no metric's; give the values of PingPong, or"
    " as CSV"
)
_SIZELESS = "a barrier has no size of a message; give its time as CSV"

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


@dataclass(frozen=True)
class _Table:
    """The meaning of a table's columns."""

    name: str
    metric: str
    column: int
    factor: float = 1.0
    nccl: bool = False
    """Whether sizes are those of NCCL-tests."""
    columns: tuple[str, ...] = ()
    """The names of an NCCL table's columns."""
    refused: str = ""
    """Why the table's values are of no metric."""


def operation(name: str) -> str:
    """The collective operation in a name: ``all_reduce_perf`` is ``allreduce``; empty without
    one.
    """
    plain = re.sub(r"[^a-z]", "", name.lower()).replace("broadcast", "bcast")
    return next((each for each in _OPERATIONS if each in plain), "")


def pairs(text: str) -> int:
    """The number of rank pairs over which a file's bandwidths are sums."""
    found = (_PAIRS.fullmatch(_bare(line)) for line in text.splitlines())
    return next((int(one[1]) for one in found if one), 1)


def _bare(line: str) -> str:
    """A line without its rank."""
    bare = line.strip()
    label = _LABEL.match(bare)
    return bare[label.end() :] if label else bare


def values(text: str, file: Path) -> list[BenchmarkValue]:
    """A file's values. Raises ``UsageError``."""
    table: _Table | None = None
    named = processes = ""
    found: list[BenchmarkValue] = []
    tables: dict[str, int] = {}
    counts: dict[str, int] = {}
    ranks = 0
    unnamed: list[tuple[int, dict[str, str]]] = []
    for line, written in enumerate(text.splitlines(), 1):
        bare = _bare(written)
        named = _name(bare) or named
        ranks += _NCCL_RANK.fullmatch(bare) is not None
        if several := _PROCESSES.fullmatch(bare):
            processes = several[1]
        if heading := _heading(bare, named):
            table = heading
            continue
        words = bare.split()
        if table is not None and table.refused == _SIZELESS and re.match(r"[\d.]+", bare):
            fail(file, line, f"{table.name}: {table.refused}")
        if table is None or len(words) <= table.column or not re.fullmatch(r"\d{1,15}", words[0]):
            continue
        if table.refused:
            fail(file, line, f"{table.name}: {table.refused}")
        number = words[table.column]
        if not re.fullmatch(_NUMBER, number) or int(words[0]) > LARGEST:
            fail(
                file,
                line,
                f"`{number[:40]}` is no value of {table.name}, or {words[0]} no size of a message",
            )
        if float(number) > 0:
            if table.nccl and not operation(table.name):
                unnamed.append((line, dict(zip(table.columns, words, strict=False))))
            tables.setdefault(table.name, line)
            counts.setdefault(processes, line)
            what, size = operation(table.name), int(words[0])
            if what == "alltoall" and table.nccl:
                if not ranks or size % ranks:
                    fail(
                        file,
                        line,
                        f"{size} B of {ranks} ranks: NCCL-tests count a rank's bytes for all: keep"
                        " its ranks",
                    )
                size //= ranks
            half = table.metric == "accepted" and _BOTH.search(table.name) is not None
            value = float(number) * table.factor * (0.5 if half else 1)
            found.append(BenchmarkValue(line, size, table.metric, value, what))
    if unnamed:
        what = _unnamed(unnamed, file)
        found = [replace(each, operation=what) for each in found]
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
            "the table does not tell its test: add a line above it, for example"
            " # Collective test starting: all_reduce_perf",
        )
    if root != "-1":
        return "reduce" if reduces else "bcast"
    return "allreduce" if more > 0.99 else "reducescatter"


def _name(bare: str) -> str:
    """A benchmark's name, if a line gives it."""
    for pattern in (
        r"#\s*OSU (.+?)(?: Test)?(?: v[\d.]+.*)?",
        r"#\s*Benchmarking (\w+)",
        r"#\s*Collective test starting: (\w+)",
    ):
        if found := re.fullmatch(pattern, bare):
            return found[1].strip()
    found = re.fullmatch(r"((?:RDMA_\w+|Send) (?:BW|Latency|Bidirectional BW).*?)(?: Test)?", bare)
    return found[1] if found else ""


def _heading(bare: str, named: str) -> _Table | None:
    """The table that a heading line begins."""
    words = bare.lower().lstrip("#").strip()
    name = named or "the benchmark"
    if bare.startswith("#bytes") and "t_avg[usec]" in words and "#repetitions" not in words:
        columns = words.split()
        known = [each for each in ("t_typical[usec]", "t_avg[usec]") if each in columns]
        refused = _ANSWERED if _ROUND.search(name) else ""
        return _Table(name, "latency", columns.index(known[0]), refused=refused) if known else None
    if bare.startswith("#bytes") and "bw average[" in words:
        return _Table(name, "accepted", 3, 125.0 if "bw average[gb/sec]" in words else 1.048576)
    if words.startswith("bytes") and "#repetitions" in words:
        columns = words.split()
        for column in ("t[usec]", "t_avg[usec]", "mbytes/sec"):
            if column in columns:
                metric = "accepted" if column == "mbytes/sec" else "latency"
                own = operation(name) or _IMB.fullmatch(name) or not named
                return _Table(name, metric, columns.index(column), refused="" if own else _SEVERAL)
    if bare.startswith("#") and words.startswith("size") and "algbw" in words:
        columns = words.split()
        if "time" not in columns:
            return None
        return _Table(name, "latency", columns.index("time"), nccl=True, columns=tuple(columns))
    if bare.startswith("#") and words.startswith("size") and "pure comm.(us)" in words:
        titles = re.findall(r"[^()]*\([^()]*\)", words[len("size") :])
        return _Table(
            name, "latency", 1 + [title.strip() for title in titles].index("pure comm.(us)")
        )
    if bare.startswith("#") and words.startswith("size"):
        metric = "latency" if "latency" in words else "accepted"
        refused = _ANSWERED if metric == "latency" and _ROUND.search(name) else ""
        return (
            _Table(name, metric, 1, refused=refused) if "/s" in words or "(us)" in words else None
        )
    if operation(name) == "barrier" and ("latency(us)" in words or words.startswith("repetitions")):
        return _Table(name, "latency", 0, refused=_SIZELESS)
    return None
