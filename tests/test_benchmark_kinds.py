"""Benchmarks whose values are no metric's, and tables that do not name their test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from elanite.errors import UsageError
from elanite.formats import benchmarks

if TYPE_CHECKING:
    from pathlib import Path

IMB = """\
# Benchmarking {}
# #processes = 2
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]   Mbytes/sec
         1024         1000         2.00         2.10         2.05       1000.0
"""
PERFTEST = """\
                    {} Latency Test
 #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]
 2       1000          1.80           3.50         1.90               1.92
"""
OSU = "# OSU {} Test v7.4\n# Size          {}\n1024             3.5\n"
NCCL = """\
#       size         count      type   redop    root     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)
           8             2     float     {0}      {1}    13.05    0.00    0.00      0
   134217728      33554432     float     {0}      {1}   1059.7  100.00  {2}      0
"""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (IMB.format("Sendrecv"), r":4: Sendrecv: its time is that of several messages at once"),
        (IMB.format("Exchange"), r":4: Exchange: its time is that of several messages at once"),
        (IMB.format("Unidir_Get"), r":4: Unidir_Get: its time is"),
        (PERFTEST.format("RDMA_Read"), r":3: RDMA_Read Latency: its time is that of a request"),
        (OSU.format("MPI_Put Latency", "Latency (us)"), r":3: MPI_Put Latency: its time is that"),
        (OSU.format("MPI_Fetch_and_op latency", "Latency (us)"), r":3: .*: its time is that of a"),
        (
            "# OSU MPI Barrier Latency Test v7.2\n# Avg Latency(us)\n             12.30\n",
            r":3: MPI Barrier Latency: a barrier has no size of a message",
        ),
        (
            "# Benchmarking Barrier\n #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]\n"
            "         1000         3.00         3.10         3.05\n",
            r":3: Barrier: a barrier has no size of a message",
        ),
    ],
)
def test_times_that_are_no_message_one_way(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UsageError, match=rf"out\.txt{said}"):
        benchmarks.values(text, tmp_path / "out.txt")


def test_bandwidths_of_the_same_families_are_loads(tmp_path: Path) -> None:
    for text in (
        OSU.format("MPI_Put Bandwidth", "Bandwidth (MB/s)"),
        IMB.format("PingPong"),
        PERFTEST.format("RDMA_Write"),
    ):
        assert len(benchmarks.values(text, tmp_path / "out.txt")) == 1


@pytest.mark.parametrize(
    ("redop", "root", "quotient", "operation"),
    [
        ("sum", -1, 1.75, "allreduce"),  # 2 (n - 1) / n of eight ranks
        ("sum", -1, 1.0, "allreduce"),  # of two
        ("sum", -1, 0.875, "reducescatter"),
        ("sum", 0, 1.0, "reduce"),
        ("none", 0, 1.0, "bcast"),
        ("none", -1, 0.875, ""),  # an all-gather or an all-to-all
    ],
)
def test_unnamed_tables_of_nccl(
    tmp_path: Path, redop: str, root: int, quotient: float, operation: str
) -> None:
    text = NCCL.format(redop, root, f"{100 * quotient:.2f}")
    if not operation:
        with pytest.raises(UsageError, match=r":4: the table does not tell its test: add a line"):
            benchmarks.values(text, tmp_path / "out.txt")
        named = f"# Collective test starting: all_gather_perf\n{text}"
        operation, text = "allgather", named
    found = benchmarks.values(text, tmp_path / "out.txt")
    assert [(each.message, each.operation) for each in found] == [
        (8, operation),
        (134217728, operation),
    ]
