"""Measured values in benchmark output, and as calibration targets."""

from __future__ import annotations

from dataclasses import astuple
from typing import TYPE_CHECKING

import pytest

from elanite.errors import UsageError
from elanite.formats import benchmarks, recognition
from elanite.inputs import sources
from elanite.inputs.plan import plan
from elanite.study import measurements
from spoiling import (
    attempt,
    cases,
    fuzzing,
    say_how_to_see_it_again,  # noqa: F401 - a fixture of all tests
    spoil,
)

if TYPE_CHECKING:
    from pathlib import Path

OSU = """\
srun: job 17 queued and waiting for resources

# OSU MPI Latency Test v7.4
# Datatype: MPI_CHAR.
# Size          Latency (us)
0                       1.15
1024                    2.25
65536                  11.50
"""
OSU_BW = """\
# OSU MPI Bandwidth Test v5.9
# Size      Bandwidth (MB/s)
1                       3.90
4096                12000.25
"""
IMB = """\
#----------------------------------------------------------------
#    Intel(R) MPI Benchmarks 2021.7, MPI-1 part
#----------------------------------------------------------------
# Benchmarking Allreduce
# #processes = 4
#----------------------------------------------------------------
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
            0         1000         0.04         0.06         0.05
         1024         1000         3.10         3.30         3.20

# All processes entering MPI_Finalize
"""
NCCL = """\
# Collective test starting: all_reduce_perf
# nThread 1 nGpus 1 minBytes 8 maxBytes 8388608 step: 2(factor) warmup iters: 5 iters: 20
#  Rank  0 Group  0 Pid 41 on  host1 device  0 [0x18] NVIDIA H100
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
        1024           256     float     sum      -1    25.10    0.04    0.08      0    24.90    0.04    0.08      0
     8388608       2097152     float     sum      -1   120.50   69.61  130.53      0   121.00   69.33  129.99      0
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 65.2
"""  # noqa: E501 - as the program prints it
PERFTEST = """\
---------------------------------------------------------------------------------------
                    RDMA_Write BW Test
 Number of qps   : 1            Transport type : IB
---------------------------------------------------------------------------------------
 #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]
 4096       5000             98.01              96.00                0.18
"""
PERFTEST_LAT = """\
                    RDMA_Write Latency Test
 #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]
 1024    1000          1.70           28.40          1.80             1.85           0.1
"""

REPORT = """\
{
"test_info": {
"test": "RDMA_Write_BW_Test",
"Device": "mlx5_0",
"Data_ex_method": "Ethernet"
},
"results": {
"MsgSize": 4096,
"n_iterations": 5000,
"BW_peak": 98.01,
"BW_average": 96.00,
"MsgRate": 2.929688
}
}
"""
"""perftest's, with --out_json and --report_gbits."""
LATENCY = """\
{
"test_info": {
"test": "Send_Latency_Test"
},
"results": {
"MsgSize": 1024,
"n_iterations": 1000,
"t_min": 1.70,
"t_typical": 1.80,
"t_avg": 1.85,
"percentile_99.9": 28.40
}
}
"""
ALL = {
    "osu": OSU,
    "osu_bw": OSU_BW,
    "imb": IMB,
    "nccl": NCCL,
    "perftest": PERFTEST,
    "perftest_lat": PERFTEST_LAT,
    "perftest_report": REPORT,
    "perftest_report_lat": LATENCY,
}
READ = {
    "osu": [(0, "latency", 1.15), (1024, "latency", 2.25), (65536, "latency", 11.5)],
    "osu_bw": [(1, "accepted", 3.9), (4096, "accepted", 12000.25)],
    "imb": [(0, "latency", 0.05), (1024, "latency", 3.2)],
    "nccl": [(1024, "latency", 25.1), (8388608, "latency", 120.5)],
    "perftest": [(4096, "accepted", 12000.0)],  # 96 Gb/s
    "perftest_lat": [(1024, "latency", 1.8)],
    "perftest_report": [(4096, "accepted", 12000.0)],
    "perftest_report_lat": [(1024, "latency", 1.8)],
}


@pytest.mark.parametrize("name", ALL)
def test_the_output_of_a_benchmark(tmp_path: Path, name: str) -> None:
    found = recognition.of_text(ALL[name])
    assert isinstance(found, recognition.OtherFormat)
    assert found.remedy == recognition.MEASURED
    read = [
        (each.message, each.metric, each.value) for each in benchmarks.values(ALL[name], tmp_path)
    ]
    assert read == READ[name]


def test_megabytes_of_perftest_are_binary(tmp_path: Path) -> None:
    (found,) = benchmarks.values(
        PERFTEST.replace("Gb/sec", "MB/sec").replace("96.00", "1000.0"), tmp_path
    )
    assert found.value == pytest.approx(1048.576)
    text = REPORT.replace("96.00", "1000.0").replace("2.929688", "0.256")
    assert benchmarks.values(text, tmp_path)[0].value == pytest.approx(1048.576)


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("osu_bw", "MPI Bandwidth", "MPI Bi-Directional Bandwidth"),
        ("perftest", "RDMA_Write BW Test", "RDMA_Write Bidirectional BW Test"),
        ("perftest_report", "RDMA_Write_BW_Test", "RDMA_Write_Bidirectional_BW_Test"),
    ],
)
def test_a_node_sends_half_of_both_directions(
    tmp_path: Path, name: str, old: str, new: str
) -> None:
    assert old in ALL[name]
    found = benchmarks.values(ALL[name].replace(old, new), tmp_path)
    assert [each.value for each in found] == [value / 2 for _, _, value in READ[name]]


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("osu", "2.25", "fast", r":7: `fast` is no value of MPI Latency"),
        ("osu", OSU[OSU.index("0   ") :], "", r": there is no measured value"),
        ("perftest_report", "2.929688", "29.29688", r":7: 96 per second .* neither MB nor Gb"),
        ("perftest_report", '"MsgSize"', "sl: 1,", r":8: perftest's report is no JSON"),
        ("perftest_report", '"BW_average"', '"bw_avg"', r":7: .* no number `BW_average`"),
        ("perftest_report", "RDMA_Write", "Atomic", r":7: Atomic BW: its values are"),
        ("perftest_report_lat", '"results"', '"no"', r": perftest's report has no `test` or no"),
    ],
)
def test_a_wrong_output(tmp_path: Path, name: str, old: str, new: str, message: str) -> None:
    with pytest.raises(UsageError, match=rf"^{tmp_path}{message}"):
        benchmarks.values(ALL[name].replace(old, new), tmp_path)


def test_a_nonblocking_collective_is_its_pure_communication(tmp_path: Path) -> None:
    first, full, last = (
        "Overall(us)  Compute(us)",
        "Coll. Init(us)  MPI_Wait(us)",
        "Pure Comm.(us)  Overlap(%)",
    )
    tables = (
        (f"{first}  {last}", "11.0 6.0 5.0 20.0"),
        (f"{first}  {full}  {last}", "11.0 6.0 0.5 4.0 5.0 20.0"),
    )
    for titles, cells in tables:
        text = (
            f"# OSU MPI Non-blocking Broadcast Latency Test v7.4\n# Size           {titles}\n1024  "
            f" {cells}\n"
        )
        assert recognition.of_text(text).name == "output of the OSU benchmarks"
        assert [each[1:4] for each in map(astuple, benchmarks.values(text, tmp_path))] == [
            (1024, "latency", 5.0)
        ]


@pytest.mark.parametrize(
    "label", ["0: ", "12: ", "[1,0]<stdout>:", "[prterun-n1-7@1,0]<stdout>: ", "[0] "]
)
@pytest.mark.parametrize("name", [name for name in ALL if "report" not in name])
def test_labels_of_launchers_are_skipped(tmp_path: Path, name: str, label: str) -> None:
    text = "".join(f"{label}{line}\n" for line in ALL[name].splitlines())
    assert recognition.of_text(text) == recognition.of_text(ALL[name])
    assert [each[1:4] for each in map(astuple, benchmarks.values(text, tmp_path))] == READ[name]


@pytest.mark.parametrize("name", ALL)
def test_spoilt_outputs(tmp_path: Path, name: str) -> None:
    file = tmp_path / "out.txt"
    refused = count = 0
    for draw in cases(f"benchmarks {name}", 60):
        text = spoil(ALL[name].encode(), draw).decode(errors="replace")
        found, said = attempt(lambda text=text: benchmarks.values(text, file))  # type: ignore[misc]
        assert found or said.startswith(str(file)), said
        refused += found is None
        count += 1
    assert 0 < refused < count or fuzzing()


def test_sizes_belong_to_the_points_of_a_ping(tmp_path: Path) -> None:
    file = tmp_path / "osu.txt"
    notes: list[str] = []
    pings = plan(sources.read("experiment", "today/infiniband"), overrides=[])
    one = [point for point in pings.points if point.series == "ping"]
    sizes = sorted({point.parameters["message"] for point in one})
    file.write_text(OSU.replace("1024", str(_bytes(sizes[0]))))
    with pytest.raises(
        UsageError, match=r"osu\.txt:\d+: \d+ B: 2 configurations are meant: .*ping, .*ping-hdr"
    ):
        measurements.read(file, [pings], notes.append)


OPERATIONS = """\
title = "operations"
source = "my own"
machine = "infiniband-ndr"
[[series]]
name = "traces"
title = "traces"
[series.trace]
pattern = ["all-reduce-ring", "all-to-all"]
nodes = "0-3"
message = "1 KB"
repeats = 1
[[series]]
name = "ping"
title = "ping"
[series.ping]
from = 0
to = 1
directions = "one"
source = "main"
destination = "main"
message = "1 KB"
repeats = 2
"""


def test_a_collective_operation_belongs_to_points_of_the_same_one(tmp_path: Path) -> None:
    """NCCL-tests print a rank's bytes for all ranks of an all-to-all, and the message is that to
    each of them.
    """
    (tmp_path / "operations.toml").write_text(OPERATIONS)
    plans = [plan(sources.read("experiment", str(tmp_path / "operations.toml")))]
    file = tmp_path / "out.txt"
    ranks = "".join(
        f"#  Rank  {each} Group  0 Pid 4{each} on  host1 device  {each} [0x18] NVIDIA H100\n"
        for each in range(4)
    )
    nccl = (
        NCCL.replace("all_reduce_perf", "alltoall_perf")
        .replace("#  Rank  0", f"{ranks}#  Rink")
        .replace(" 1024", " 4096")
    )
    written = {
        OSU: ("ping", ""),
        IMB: ("traces", "all-reduce-ring"),
        nccl: ("traces", "all-to-all"),
    }
    for text, (series, pattern) in written.items():
        file.write_text(text)
        (found,) = measurements.read(file, plans)
        assert found.key[1] == series
        assert pattern in found.key[2]
    file.write_text(IMB.replace("processes = 4", "processes = 16"))
    with pytest.raises(
        UsageError, match=r":9: 16 processes measured this, and the points have 4\n  give a series"
    ):
        measurements.read(file, plans)
    several = OPERATIONS.replace('nodes = "0-3"', 'nodes = ["0-3", "0-14:2"]\nprocesses = [1, 2]')
    (tmp_path / "operations.toml").write_text(several)
    (found,) = measurements.read(
        file, [plan(sources.read("experiment", str(tmp_path / "operations.toml")))]
    )
    assert '"nodes": "0-14:2"' in found.key[2]
    assert '"processes": 2' in found.key[2]
    file.write_text(IMB.replace("Allreduce", "Allgather"))
    with pytest.raises(
        UsageError,
        match=r"no point has a message of one of the sizes .* in an operation `allgather`",
    ):
        measurements.read(file, plans)
    with pytest.raises(
        UsageError, match=r"4096 B of 0 ranks: NCCL-tests count a rank's bytes for all"
    ):
        benchmarks.values(nccl.replace("Rank", "Rink"), file)


WHOLE = """\
# Benchmarking PingPong
# #processes = 2
       #bytes #repetitions      t[usec]   Mbytes/sec
         1024         1000         2.05       499.50
# Benchmarking PingPing
# #processes = 2
       #bytes #repetitions      t[usec]   Mbytes/sec
         1024         1000         2.55       401.57
# Benchmarking Sendrecv
# #processes = 2
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]   Mbytes/sec
         1024         1000         2.60         2.70         2.65       758.52
# Benchmarking Allreduce
# #processes = 2
# ( 2 additional processes waiting in MPI_Barrier)
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
         1024         1000         2.10         2.30         2.20
# Benchmarking Allreduce
# #processes = 4
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
         1024         1000         3.10         3.30         3.20
      4194304 out-of-mem.; needed X=   4.000 GB; use flag "-mem X" or MAX_MEM_USAGE>=X
      8388608 int-overflow; The production rank*size caused int overflow;
# Benchmarking Barrier
# #processes = 4
 #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
         1000         3.00         3.10         3.05
"""
"""IMB's output for `IMB-MPI1 PingPong PingPing Sendrecv Allreduce Barrier` by four processes."""


def test_each_benchmark_of_a_file_belongs_to_its_points(tmp_path: Path) -> None:
    """IMB prints all its benchmarks, each by 2, 4, ... processes, without further options."""
    file, notes = tmp_path / "imb.txt", list[str]()
    file.write_text(WHOLE)
    (tmp_path / "operations.toml").write_text(OPERATIONS)
    found = measurements.read(
        file, [plan(sources.read("experiment", tmp_path / "operations.toml"))], notes.append
    )
    assert [(each.key[1], each.value) for each in found] == [("ping", 2.05), ("traces", 3.2)]
    assert [note.removeprefix(f"{file}:").partition(":")[0] for note in notes[:4]] == [
        "12",
        "27",
        "22",
        "23",
    ]
    assert "out-of-mem" in notes[2]
    assert notes[4:] == [
        f"{file}: 2 of 4 sizes are of no point, and left out (PingPing, Allreduce)"
    ]
    both = OPERATIONS.replace('directions = "one"', 'directions = "both"')
    (tmp_path / "operations.toml").write_text(both)
    plans = [plan(sources.read("experiment", tmp_path / "operations.toml"))]
    assert [each.value for each in measurements.read(file, plans)] == [2.55, 3.2]
    file.write_text(OSU)
    with pytest.raises(
        UsageError, match=r':7: MPI Latency measures messages in one direction.*\n.*ns = "one"'
    ):
        measurements.read(file, plans)


def test_two_benchmarks_of_one_point_are_named(tmp_path: Path) -> None:
    (tmp_path / "operations.toml").write_text(OPERATIONS)
    plans = [plan(sources.read("experiment", tmp_path / "operations.toml"))]
    file = tmp_path / "out.txt"
    file.write_text(WHOLE + OSU)
    with pytest.raises(
        UsageError,
        match=r"1024 B: several benchmarks measured this point, PingPong by 2 processes \(line 4\),"
        r" MPI Latency \(line 34\)\n  give the one that is meant a file of its own",
    ):
        measurements.read(file, plans)
    file.write_text(OSU + OSU)  # two runs of one benchmark
    assert [each.value for each in measurements.read(file, plans)] == [2.25, 2.25]


def test_tables_of_nccl_without_names_keep_their_operations(tmp_path: Path) -> None:
    unnamed = NCCL.partition("\n")[2].replace("0.08", "0.04").replace("130.53", "69.61")
    text = unnamed + unnamed.replace("69.61", "50.00").replace("-1  ", " 0  ", 2)
    found = benchmarks.values(text, tmp_path)
    assert {each.line: each.operation for each in found} == {
        6: "allreduce",
        7: "allreduce",
        15: "reduce",
        16: "reduce",
    }


def _bytes(text: str) -> int:
    number, _, unit = text.partition(" ")
    return int(number) * {"B": 1, "KB": 1024, "MB": 1024**2}[unit]


def test_sizes_without_a_point_are_left_out_with_a_note(tmp_path: Path) -> None:
    file = tmp_path / "osu.txt"
    notes: list[str] = []
    (tmp_path / "own.toml").write_text(
        'title = "pings"\nsource = "own"\nmachine = "es40-qsnet"\n[[series]]\nname ='
        ' "ping"\n[series.ping]\nfrom = 0\nto = 1\ndirections = "one"\nsource = "main"\ndestination'
        ' = "main"\nmessage = ["0 B", "1 KB"]\nrepeats = 1\n'
    )
    own = plan(sources.read("experiment", tmp_path / "own.toml"))
    file.write_text(OSU)
    found = measurements.read(file, [own], notes.append)
    assert [(each.metric, each.value, each.place) for each in found] == [
        ("latency", 1.15, f"{file}:6"),
        ("latency", 2.25, f"{file}:7"),
    ]
    assert notes == [f"{file}: 1 of 3 sizes are of no point, and left out"]
    file.write_text(OSU_BW)
    with pytest.raises(
        UsageError,
        match=r"no point has a message of one of the sizes in the file, 1 to 4096 B, in a job",
    ):
        measurements.read(file, [own])


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (
            'Switch 8 "S-1"\n[1] "H-1"[1] # "a" 4xEDR\n',
            "this is output of ibnetdiscover, and no me",
        ),
        ('{"results": {"MsgSize": 8}}', "this is JSON of no known kind, and no measured values"),
        ("experiment,value\nmy-load,1\n", r":1: there is no column `metric`"),
    ],
)
def test_files_without_measured_values_are_named(tmp_path: Path, text: str, name: str) -> None:
    (tmp_path / "values").write_text(text)
    with pytest.raises(UsageError, match=name):
        measurements.read(tmp_path / "values", [])


def test_a_sum_over_pairs_has_a_note(tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text(
        'title = "job"\nsource = "own"\nmachine = "es40-qsnet"\n[run]\nwarm_up = "1 ms"\nwindow ='
        ' "1 ms"\n[[series]]\nname = "job"\ntitle = "job"\n[series.jobs.own]\npattern = "uniform"\n'
        'nodes = 8\nmessage = "4 KB"\nload = "100 MB/s"\nsizes = "fixed"\narrivals = "fixed"\n'
    )
    own = plan(sources.read("experiment", tmp_path / "own.toml"))
    file = tmp_path / "osu.txt"
    for pairs, count in ((1, 0), (4, 1)):
        notes: list[str] = []
        heading = (
            f"MPI Multiple Bandwidth / Message Rate Test v5.9\n# [ pairs: {pairs} ] [ size: 64 ]"
        )
        file.write_text(OSU_BW.replace("MPI Bandwidth Test v5.9", heading))
        assert [each.value for each in measurements.read(file, [own], notes.append)] == [12000.25]
        found = [one for one in notes if f"the values are sums over {pairs} pairs" in one]
        assert len(found) == count, notes
