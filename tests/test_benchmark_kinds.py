"""Benchmarks whose values are no metric's, and tables that do not name their test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from elanite.errors import UsageError
from elanite.formats import benchmarks, recognition

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
        (OSU.format("OpenSHMEM Put_nbi", "Latency (us)"), r":3: .*: its time is that of a request"),
        (OSU.format("UPC MEMGET", "Latency (us)"), r":3: .*: its time is that of a request"),
        (OSU.format("UPC Exchange Latency", "Latency (us)"), r":3: .*: its values are no ping's"),
        (OSU.format("UPC GatherAll Latency", "Latency (us)"), r":3: .*: its values are no ping's"),
        (OSU.format("MPI Neighborhood Allgather Latency", "Avg Latency(us)"), r":3: .*: its val"),
        (OSU.format("MPI Multi-threaded Latency", "Latency (us)"), r":3: .*: its .* of several"),
        (OSU.format("MPI Multi Latency", "Latency (us)"), r":3: .*: its time is that of several"),
        (OSU.format("OpenSHMEM Put Message Rate", "Messages/s"), r":3: .*: the columns `# Size"),
        (
            OSU.format("MPI Latency", "Avg Latency(us)     Transmit Size"),
            r":3: .*: the sizes are those of a derived datatype \(-D\)",
        ),
        (
            OSU.format("MPI Latency", "Latency (us)  Validation").replace("3.5", "3.5  Fail"),
            r":3: MPI Latency: its check of the data failed in this line",
        ),
        (
            "# OSU MPI Multiple Bandwidth / Message Rate Test\n# [ pairs: 4 ] [ window size: varied"
            " ]\n# Uni-directional Bandwidth (MB/sec)\n#  8  16\n1  3.0  4.0\n",
            r":5: MPI Multiple .*: the columns `# Uni-directional",
        ),
        (
            IMB.format("Bcast").replace("/sec", "/sec defects").replace("1000.0", "1000.0 7.00"),
            r":4: Bcast: its check of the data failed",
        ),
        (IMB.format("Multi-PingPong"), r":4: Multi-PingPong: its time is that of several"),
        (IMB.format("PingPongMT"), r":4: PingPongMT: its time is that of several messages"),
        (IMB.format("Reduce_local"), r":4: Reduce_local: its values are no ping's"),
        (
            IMB.format("PingPong").replace("#bytes", "Group #bytes").replace("1024", "0 1024"),
            r":4: PingPong: the columns `Group #bytes",
        ),
        (
            IMB.format("PingPong") + " #bytes #repetitions t_other[usec]\n 1024 1000 7.5\n",
            r":6: PingPong: the columns `#bytes #repetitions t_other",
        ),
        (PERFTEST.format("Atomic FETCH_AND_ADD"), r":3: Atomic .* Latency: its time is that of a"),
        (PERFTEST.partition("\n")[2], r":2: the benchmark: the table does not name its test"),
        (
            "  Send BW Test\n #bytes #sl #iterations BW peak[Gb/sec] BW average[Gb/sec]\n"
            " 64 1 5000 2.00 1.00\n",
            r":3: Send BW: the columns `#bytes #sl",
        ),
        (
            f"# Collective test starting: sendrecv_perf\n{NCCL.format('sum', -1, 100.0)}",
            r":4: sendrecv_perf: its time is that of several messages",
        ),
        (
            f"# Collective test starting: alltoallv_perf\n{NCCL.format('none', -1, 100.0)}",
            r":4: alltoallv_perf: its values are no ping's",
        ),
        (NCCL.format("sum", "", 100.0), r":3: the benchmark: the row has 8 cells and its .* 9"),
        (
            NCCL.format("sum", -1, 100.0).replace("     0\n", "     7\n"),
            r":3: the benchmark: its check of the data failed",
        ),
        (NCCL.format("sum", -1, 1.0).replace(" size", "bytes"), r":3: .*: the columns `#"),
        (NCCL.format("sum", -1, "0.00"), r":4: .*: the bus bandwidth of a single rank"),
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
    assert getattr(recognition.of_text(text), "remedy", "") == recognition.MEASURED
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
    ("text", "value", "operation"),
    [
        (
            OSU.format("NCCL Allreduce Latency", "Avg Latency(us)   Min Latency(us)"),
            3.5,
            "allreduce",
        ),
        (OSU.format("MPI-CUDA Latency Persistent", "Avg Latency(us)   P50 Tail Lat(us)"), 3.5, ""),
        (
            OSU.format("MPI All-to-All Personalized Exchange Latency", "Latency (us)"),
            3.5,
            "alltoall",
        ),
        ("# OMB Python MPI Bcast Test\n# Size (B)      Latency (us)\n1024     3.5\n", 3.5, "bcast"),
        (
            "# Benchmarking Iallreduce \n# #processes = 4 \n #bytes #repetitions t_ovrl[usec]"
            " t_pure[usec] t_CPU[usec] overlap[%]\n 1024 1000 9.0 5.5 4.0 60.0\n",
            5.5,
            "allreduce",
        ),
        (
            "  Send_imm Bidirectional BW Test\n #bytes #iterations BW peak[MiB/sec]"
            " BW average[MiB/sec] MsgRate[Mpps]\n 1024 5000 0.00 1000.0 0.1\n Local results:\n"
            " #bytes #iterations BW peak[MiB/sec] BW average[MiB/sec] MsgRate[Mpps]\n"
            " 1024 5000 0.00 490.0 0.1\n",
            524.288,
            "",
        ),
        (
            "  Send Latency Test\n #bytes #iterations t_avg[usec] tps average\n 1024 9 1.5 7.0\n",
            1.5,
            "",
        ),
    ],
)
def test_forms_of_known_tables(tmp_path: Path, text: str, value: float, operation: str) -> None:
    assert getattr(recognition.of_text(text), "remedy", "") == recognition.MEASURED
    (found,) = benchmarks.values(text, tmp_path / "out.txt")
    assert (found.message, found.value, found.operation) == (1024, value, operation)


def test_half_of_the_processes_of_imb_are_pairs(tmp_path: Path) -> None:
    text = (
        "# Benchmarking Uniband \n# #processes = {} \n #bytes #repetitions Mbytes/sec Msg/sec\n"
        " 1024 1000 900.0 9000\n"
    )
    for count, pairs in ((2, 1), (8, 4)):
        (found,) = benchmarks.values(text.format(count), tmp_path)
        assert found.pairs == pairs


def test_pings_of_several_pairs_are_refused(tmp_path: Path) -> None:
    """IMB-P2P's PingPong has half of the processes at each end."""
    text = IMB.format("PingPong").replace("= 2", "= {}")
    assert len(benchmarks.values(text.format(2), tmp_path)) == 1
    with pytest.raises(UsageError, match=r":4: PingPong: its time is that of several messages"):
        benchmarks.values(text.format(4), tmp_path)


@pytest.mark.parametrize(
    ("name", "before", "title", "heading"),
    [
        ("out.txt", "", "MPI Bandwidth", "Avg Latency(us)"),  # as version 7.4 prints it
        ("osu_bw_fan_in.txt", "", "MPI Bandwidth", "Bandwidth (MB/s)"),
        ("out.txt", "+ srun ./osu_bw_fan_out\n", "MPI Bandwidth", "Bandwidth (MB/s)"),
        ("out.txt", "", "MPI Bandwidth Congestion In", "Bandwidth (MB/s)"),
    ],
)
def test_sums_over_nodes_are_no_bandwidth_of_one(
    tmp_path: Path, name: str, before: str, title: str, heading: str
) -> None:
    text = before + OSU.format(title, heading)
    with pytest.raises(UsageError, match=r"osu_bw_fan_out print the sum of MB/s over all nodes"):
        benchmarks.values(text, tmp_path / name)


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
        with pytest.raises(UsageError, match=r":4: the table does not name its test: add a line"):
            benchmarks.values(text, tmp_path / "out.txt")
        named = f"# Collective test starting: all_gather_perf\n{text}"
        operation, text = "allgather", named
    found = benchmarks.values(text, tmp_path / "out.txt")
    assert [(each.message, each.operation) for each in found] == [
        (8, operation),
        (134217728, operation),
    ]
