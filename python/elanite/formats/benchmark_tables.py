"""Names and headings of benchmark tables: the value's column and metric, or why there is no metric.

A table has values only if its benchmark is known by its name; every other name is refused. The
names are those that OSU 3.1 to 7.5, IMB 2017 to 2021, NCCL-tests 2.0 to 2.17 and perftest 4.2 to
26 print. Source: their printed headings.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

OSU, IMB, NCCL, PERFTEST = "OSU", "IMB", "NCCL-tests", "perftest"

_NAMES = (
    (OSU, r"#\s*(?:OSU|OMB) (.+?)(?: Test)?(?: v[\d.]+.*)?"),
    (IMB, r"#\s*Benchmarking (\S+)"),
    (NCCL, r"#\s*Collective test starting: (\S+)"),
    (PERFTEST, r"((?:RDMA_\w+|Send\w*|Atomic)\b.* ?\b(?:BW|Latency)\b.*?)(?: Test)?"),
)

BOTH = re.compile(r"bi-?directional|biband|bi-bandwidth", re.IGNORECASE)
"""Names of tests that print both directions' sum."""

_COLLECTIVE = re.compile(
    r"(?:nonblocking|i)?(allreduce|allgather|alltoall|reducescatter|reduce|bcast|gather|scatter"
    r"|barrier)(?:v|block)?(?:personalizedexchange)?(?:persist(?:ent)?)?(?:pure)?(?:latency)?"
    r"(?:perf)?(?:mpi)?"
)
"""A collective operation's name in small letters. Neighborhood operations are others; OSU prints
one of them as All-to-Allw.
"""
_LIBRARY = re.compile(r"(?:Python )?(?:(?:Open )?MPI|[NR]CCL)(?:-\w+)?(?: MANAGED)?(?: |$)")
"""The library and the memory in the name of an OSU benchmark."""

_ROUND = re.compile(
    r"RDMA_Read|Atomic|MPI_\w+|MEM(?:PUT|GET)|\b(?:Put|Get)(?:_nbi?)?\b"
    r"|(?:^|_)(?:put|get|accumulate|fetch_and_op|compare_and_swap)(?:_|$)",
    re.IGNORECASE,
)
"""Tests that time a request with its answer, or a call with its completion."""
_MANY = re.compile(r"Multi\b.*|Sendrecv.*|Exchange.*|\w+MT|sendrecv_perf.*", re.IGNORECASE)

_ONE_WAY = {
    OSU: r"Latency(?: Persistent)?",
    IMB: r"PingP[io]ng(?:(?:Specific|Any)Source)?",
    NCCL: r"(?!)",
    PERFTEST: r"(?:RDMA_Write|Send)(?:_imm)? Latency",
}
_LOADS = {
    OSU: r"(?:Bi-?[Dd]irectional |Bi-|Multiple )?Bandwidth(?: / Message Rate)?(?: Persistent)?"
    r"|(?:One Sided )?MPI_(?:Put|Get)(?:-\w+)? .*Bandwidth",
    IMB: r"Uniband|Biband",
    NCCL: r"(?!)",
    PERFTEST: r"(?:RDMA_Write|RDMA_Read|Send)(?:_imm)? (?:Bidirectional )?(?:Post List )?BW",
}

_ANSWERED = (
    "its time is that of a request with its answer, and no message's one way; give the values as"
    " CSV, for a series that does the same"
)
SEVERAL = (
    "its time is that of several messages at once, and no metric's; give the values of one pair's"
    " ping, or as CSV"
)
_OTHER = (
    "its values are no ping's, no collective operation's of MPI or NCCL, and no bandwidth of two"
    " processes; give them as CSV, for a series that does the same"
)
CONGESTED = (
    "osu_bw_fan_in and osu_bw_fan_out print the sum of MB/s over all nodes, whatever their heading;"
    " give one node's share as CSV, for a job with this pattern"
)
_NAMELESS = "the table does not name its test: keep the line with the benchmark's name above it"
SIZELESS = "a barrier has no size of a message; give its time as CSV"
OTHERS = frozenset({_ANSWERED, SEVERAL, _OTHER, CONGESTED, SIZELESS})
"""Refusals of a benchmark as such."""
_COLUMNS = (
    "the columns `{}` are not those of a known table; print the benchmark's own table without"
    " further options"
)
_DERIVED = (
    "the sizes are those of a derived datatype (-D), and the network carries other ones; measure"
    " with a plain one"
)


@dataclass(frozen=True)
class Benchmark:
    """A benchmark's name, as it is printed."""

    suite: str = ""
    name: str = ""

    @property
    def operation(self) -> str:
        """The collective operation; empty for others."""
        plain = _LIBRARY.sub("", self.name, count=1) if self.suite == OSU else self.name
        letters = re.sub(r"[^a-z]", "", plain.lower()).replace("broadcast", "bcast")
        found = _COLLECTIVE.fullmatch(letters)
        return found[1] if found and "alltoallvperf" not in letters else ""

    def refusal(self, suite: str, metric: str) -> str:
        """Why a table's values are of no metric; empty if they are."""
        if not self.name or self.suite != suite:
            return "" if suite == NCCL else _NAMELESS
        plain = _LIBRARY.sub("", self.name, count=1) if suite == OSU else self.name
        load = re.fullmatch(_LOADS[suite], plain) is not None
        if suite == OSU and ((load and metric != "accepted") or "Bandwidth Congestion" in plain):
            return CONGESTED
        if metric == "accepted":
            return "" if load else _OTHER
        if self.operation == "barrier":
            return SIZELESS
        if self.operation or re.fullmatch(_ONE_WAY[suite], plain):
            return ""
        if _ROUND.search(plain):
            return _ANSWERED
        return SEVERAL if _MANY.fullmatch(plain) else _OTHER


@dataclass(frozen=True)
class Table:
    """The meaning of a table's columns."""

    benchmark: Benchmark
    metric: str
    column: int
    factor: float = 1.0
    columns: tuple[str, ...] = ()
    """The names of an NCCL table's columns."""
    refused: str = ""
    """Why the table's values are of no metric."""
    defects: int | None = None
    """The column with the result of IMB's check, if it was built with one."""

    @property
    def name(self) -> str:
        """The benchmark, for errors."""
        return self.benchmark.name or "the benchmark"


def benchmark(bare: str) -> Benchmark | None:
    """The benchmark that a line names."""
    for suite, pattern in _NAMES:
        if found := re.fullmatch(pattern, bare):
            return Benchmark(suite, found[1].strip())
    return None


def heading(bare: str, named: Benchmark) -> Table | None:
    """The table that a heading line begins."""
    words = bare.lower().lstrip("#").strip()
    columns = words.split()
    first = columns[0] if columns else ""
    if bare.startswith("#bytes") and "#iterations" in words:
        return _perftest(bare, columns, named)
    if "#repetitions" in words and first in ("bytes", "#bytes", "group"):
        for column in ("t[usec]", "t_pure[usec]", "t_avg[usec]", "mbytes/sec"):
            if column in columns and first != "group":
                metric = "accepted" if column == "mbytes/sec" else "latency"
                table = _table(named, IMB, metric, columns.index(column))
                checked = columns.index("defects") if "defects" in columns else None
                return replace(table, defects=checked)
        return Table(named, "", 0, refused=_COLUMNS.format(bare))
    if bare.startswith("#") and "algbw" in columns:
        if "time" not in columns or first != "size":  # NCCL 1 has bytes, and milliseconds
            return Table(named, "", 0, refused=_COLUMNS.format(bare))
        table = _table(named, NCCL, "latency", columns.index("time"))
        return Table(named, "latency", table.column, columns=tuple(columns), refused=table.refused)
    if words.startswith("uni-directional bandwidth"):  # osu_mbw_mr -V, a column for each window
        return Table(named, "", 0, refused=_COLUMNS.format(bare))
    if bare.startswith("#") and first == "size":
        return _osu(bare, words, named)
    if named.operation == "barrier" and (
        "latency(us)" in words or "(us)" in words or words.startswith("repetitions")
    ):
        return Table(named, "latency", 0, refused=SIZELESS)
    return None


def _table(named: Benchmark, suite: str, metric: str, column: int, factor: float = 1.0) -> Table:
    return Table(named, metric, column, factor, refused=named.refusal(suite, metric))


def _perftest(bare: str, columns: list[str], named: Benchmark) -> Table:
    for column in ("t_typical[usec]", "t_avg[usec]"):
        if column in columns:
            return _table(named, PERFTEST, "latency", columns.index(column))
    found = re.match(r"#bytes\s+#iterations\s+BW peak\[\S+\]\s+BW average\[(\w+)/sec\]", bare)
    factor = {"Gb": 125.0, "MB": 1.048576, "MiB": 1.048576}.get(found[1]) if found else None
    if factor is None:
        return Table(named, "", 0, refused=_COLUMNS.format(bare))
    return _table(named, PERFTEST, "accepted", 3, factor)


def _osu(bare: str, words: str, named: Benchmark) -> Table:
    titles = [title.strip() for title in re.split(r"(?<=\))|\s{2,}|\t", words[len("size") :])]
    titles = [title for title in titles if title and title != "(b)"]
    if "transmit size" in titles:
        return Table(named, "", 0, refused=_DERIVED)
    if "pure comm.(us)" in titles:
        return _table(named, OSU, "latency", 1 + titles.index("pure comm.(us)"))
    title = titles[0].replace(" ", "") if titles else ""
    if title in ("latency(us)", "avglatency(us)"):
        return _table(named, OSU, "latency", 1)
    if title in ("bandwidth(mb/s)", "mb/s"):
        return _table(named, OSU, "accepted", 1)
    return Table(named, "", 0, refused=_COLUMNS.format(bare))
