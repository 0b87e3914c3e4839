"""Real MPI programs against the simulator's own programs with the same names, and against published
figures.

Both measure the same quantities on the same machine. The real programs are those in
``benchmarks/mpi``, unchanged.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

import conftest
import elanite as el
from conftest import BIN, Ended, command, environment, execute, needs_mpi
from elanite.validation.claims import claims

if TYPE_CHECKING:
    from elanite.validation.verdict import Verdict

pytestmark = needs_mpi

NODES = {"es40-qsnet": (0, 63), "opteron-qsnet2": (0, 1)}
"""Between which the published pings went."""

SHORT = {"0 B": 0, "64 B": 64, "1 KB": 1024}
LONG = {
    "4 KB": 4096,
    "16 KB": 16384,
    "64 KB": 65536,
    "256 KB": 262144,
    "1 MB": 1 << 20,
    "4 MB": 4 << 20,
}
BYTES = SHORT | LONG

QUIET = ("noise.tick.duration=0 us", "noise.kernel.duration=0 us", "noise.daemon.duration=0 us")
"""A machine without operating system noise."""


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the simulator's own programs leave their points."""
    return tmp_path_factory.mktemp("own")


def mpirun(ranks: int, machine: str, overrides: Sequence[str], *words: str | Path) -> Ended:
    changes = [word for one in overrides for word in ("--set", one)]
    words = ("-n", str(ranks), "--machine", machine, "--collectives", "mpi", *changes, *words)
    ended = execute(command("mpirun", "--quiet", *map(str, words)), 600)
    assert ended.code == 0, ended
    return ended


def pair(folder: Path, machine: str, overrides: Sequence[str], *words: str | Path) -> Ended:
    """Two ranks on the published ping's nodes."""
    (folder / machine).write_text("".join(f"{node}\n" for node in NODES[machine]), encoding="utf-8")
    return mpirun(2, machine, overrides, "--placement", folder / machine, *words)


def rows(ended: Ended) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(ended.out)))


def ping(folder: Path, machine: str, sizes: Sequence[int], repeats: int) -> pl.DataFrame:
    """The ping's table, as an MPI program writes it."""
    words = ("--size", ",".join(f"{size}B" for size in sizes), "--repeats", str(repeats))
    return pl.read_csv(io.StringIO(pair(folder, machine, (), folder / "ping", *words).out))


def own_ping(
    out: Path,
    machine: str,
    direction: str,
    sizes: Sequence[str],
    repeats: int,
    overrides: Sequence[str] = (),
) -> dict[int, float]:
    """The mean latencies, by size, from the simulator's own program: the series ``mpi`` in the
    experiments ``ping``.
    """
    about = out / f"{machine}-{direction}-{repeats}-{len(sizes)}.toml"
    source, destination = NODES[machine]
    messages = ", ".join(f'"{size}"' for size in sizes)
    about.write_text(
        f"""title = "Ping"
source = "petrini2003 s4.1, garcia2005 s3.1"
machine = "{machine}"
[[series]]
name = "mpi"
title = "Ping of MPI"
[series.ping]
from = {source}
to = {destination}
directions = "{direction}"
source = "main"
destination = "main"
message = [{messages}]
repeats = {repeats}
library = "mpi"
""",
        encoding="utf-8",
    )
    result = el.run(el.Experiment.load(str(about)), el.Machine.load(machine, overrides), out=out)
    found = result.frame().filter(pl.col("metric") == "latency")
    return dict(zip(found["message_bytes"].to_list(), found["value"].to_list(), strict=True))


@pytest.mark.parametrize("machine", NODES)
def test_ping_in_one_direction(benchmarks: Path, out: Path, machine: str) -> None:
    """To the nanosecond that the program writes; the median, which interrupts on a noisy host do
    not move.
    """
    real = ping(benchmarks, machine, list(BYTES.values()), 20).filter(pl.col("directions") == "one")
    own = own_ping(out, machine, "one", list(BYTES), 4)
    assert len(own) == len(BYTES)
    for size, median in real.select("bytes", "median_us").iter_rows():
        assert median == pytest.approx(own[size], rel=1e-4, abs=6e-4), size


LONE_CALL = pytest.mark.xfail(
    strict=True,
    reason=(
        "1.5% less: the simulator's own program waits for its send before it takes note of what it"
        " has received, as MPI_Waitall does meanwhile, so that a call of the host of 250 ns more is"
        " in its 15.3 us"
    ),
)


@pytest.mark.parametrize(
    ("sizes", "repeats"),
    [
        pytest.param(SHORT, 1000, id="short"),
        pytest.param(LONG, 4, id="long"),
        pytest.param({"512 B": 512}, 1000, id="512 B", marks=LONE_CALL),
    ],
)
def test_ping_in_both_directions(
    benchmarks: Path, out: Path, sizes: dict[str, int], repeats: int
) -> None:
    """Short messages on the ES40 meet now at one place and now at another, so that only means over
    many agree.
    """
    real = ping(benchmarks, "es40-qsnet", list(sizes.values()), repeats).filter(
        pl.col("directions") == "both"
    )
    own = own_ping(out, "es40-qsnet", "both", list(sizes), repeats)
    for size, mean in real.select("bytes", "latency_us").iter_rows():
        assert mean == pytest.approx(own[size], rel=0.01), size


def test_ping_in_both_directions_between_quiet_hosts(
    mpi_programs: Path, out: Path, tmp_path: Path
) -> None:
    """Between hosts without interrupts, from the same instant on: alike, or one host call apart.

    That call is explained in the reason above. With noise, both programs change their rhythms, each
    at another time.
    """
    machine = "opteron-qsnet2"
    call = 0.1  # host.call, us
    words = [str(size) for size in BYTES.values()]
    ended = pair(tmp_path, machine, QUIET, mpi_programs / "exchange", *words)
    real = {
        int(size): float(mean) for size, mean in (line.split() for line in ended.out.splitlines())
    }
    own = own_ping(out, machine, "both", list(BYTES), 4, QUIET)
    assert real.keys() == own.keys()
    for size, mean in real.items():
        assert mean == pytest.approx(own[size], rel=0.01), size
        assert min(abs(own[size] - mean), abs(own[size] - call - mean)) < 1e-3, size


def judged(identity: str, found: pl.DataFrame) -> Verdict:
    """The verdict on a claim, measured as on the simulator's own points; one batch with one
    seed.
    """
    (claim,) = (claim for claim in claims() if claim.id == identity)
    chosen = found.with_columns(pl.lit(1).alias("seed"), pl.lit(0, pl.UInt32).alias("batch"))
    if "series" in chosen.columns:
        chosen = chosen.filter(pl.col("series").is_in(claim.series))
    for name, values in claim.where:
        # A series without computation has no such column.
        chosen = chosen.filter(pl.col(name).is_in(values) | pl.col(name).is_null())
    return conftest.judged(identity, chosen)


def pings(folder: Path, machine: str, sizes: dict[str, int], repeats: int) -> pl.DataFrame:
    """A ping as store rows."""
    names = {size: name for name, size in sizes.items()}
    table = ping(folder, machine, list(sizes.values()), repeats)
    wide = table.with_columns(
        pl.col("bytes").replace_strict(names).alias("message"),
        pl.col("bytes").alias("message_bytes"),
        pl.col("latency_us").alias("latency"),
        pl.col("bandwidth_MBps").alias("bandwidth"),
    )
    return wide.unpivot(
        ["latency", "bandwidth"],
        index=["directions", "message", "message_bytes"],
        variable_name="metric",
    )


def test_published_ping_of_qsnet(benchmarks: Path) -> None:
    verdict = judged("ping.uni.latency.mpi", pings(benchmarks, "es40-qsnet", {"0 B": 0}, 100))
    assert verdict.holds, verdict


def test_published_ping_of_qsnet2(benchmarks: Path) -> None:
    found = pings(benchmarks, "opteron-qsnet2", {"0 B": 0, "4 MB": 4 << 20}, 10)
    for identity in (
        "qsnet2.uni.latency",
        "qsnet2.uni.bandwidth",
        "qsnet2.bi.latency",
        "qsnet2.bi.bandwidth",
    ):
        verdict = judged(identity, found)
        assert verdict.holds, verdict


OVERLAP = {"8 KB": 8192, "32 KB": 32768, "128 KB": 131072, "256 KB": 262144}
COMPUTE = (0, 5, 10, 20, 40, 60, 80, 100, 150, 200, 250, 300, 400, 500, 600, 700, 800, 900, 1000)
"""As in experiments/qsnet2/overlap.toml, microseconds."""


@pytest.fixture(scope="module")
def overlap(benchmarks: Path) -> pl.DataFrame:
    """Post-compute-wait as store rows, and the round trips for comparison.

    The program cannot check whether transfers are complete without an MPI call. They are complete
    if the wait takes no longer than the host's own work: a call, and for a message that came before
    its receive the copy to its place; and a microsecond for possible interrupts.
    """
    call, copy, big = 0.1, 1200, 16384  # host.call, us; host.copy, MB/s; tport.big, bytes
    names = {size: name for name, size in OVERLAP.items()}
    sizes = ",".join(f"{size}B" for size in names)
    words = (
        "--size",
        sizes,
        "--compute",
        ",".join(f"{time}us" for time in COMPUTE),
        "--repeats",
        "10",
    )
    table = pl.read_csv(
        io.StringIO(pair(benchmarks, "opteron-qsnet2", (), benchmarks / "overlap", *words).out)
    )
    assert table.height == len(OVERLAP) * len(COMPUTE)
    own_share = call + 1 + pl.when(pl.col("bytes") <= big).then(pl.col("bytes") / copy).otherwise(0)
    wide = table.with_columns(
        pl.col("bytes").replace_strict(names).alias("message"),
        pl.col("bytes").alias("message_bytes"),
        pl.format("{} us", pl.col("compute_us").cast(pl.Int64))
        .replace({"1000 us": "1 ms"})
        .alias("compute"),
        pl.col("round_us").alias("round"),
        pl.col("bandwidth_MBps").alias("bandwidth"),
        (pl.col("wait_us") <= own_share).cast(pl.Float64).alias("over"),
    )
    index = ["message", "message_bytes", "compute", "compute_us"]
    long = wide.unpivot(
        ["round", "availability", "bandwidth", "over"], index=index, variable_name="metric"
    )
    trips = pings(benchmarks, "opteron-qsnet2", OVERLAP, 4).filter(pl.col("directions") == "one")
    parts = [
        long.with_columns(pl.lit("overlap").alias("series")),
        trips.with_columns(pl.lit("round-trip").alias("series")),
    ]
    return pl.concat(parts, how="diagonal")


@pytest.mark.parametrize(
    "which", ["overlap.short", "overlap.long", "overlap.bandwidth", "progress"]
)
def test_published_overlap(overlap: pl.DataFrame, which: str) -> None:
    verdict = judged(f"qsnet2.{which}", overlap)
    assert verdict.holds is not bool(verdict.claim.known_miss), verdict


PERMUTATIONS = ["neighbor", "butterfly", "complement", "shuffle", "transpose", "bit-reversal"]


BELOW = pytest.mark.xfail(strict=True, reason="265 MB/s; the published 280 less 5% are 266")


@pytest.mark.slow
@pytest.mark.parametrize(
    "pattern",
    [pytest.param(each, marks=BELOW if each == "complement" else ()) for each in PERMUTATIONS],
)
def test_published_permutation(benchmarks: Path, pattern: str) -> None:
    """64 processes contend, buffers in Elan memory (petrini2003 s4), with a mean of 256 KB, as in
    figure 14.
    """
    # The lengths of messages are drawn: with the program's own window of 30 ms, the mean of one
    # draw may be off by 2%.
    words = ("--memory", "elan", benchmarks / "permutation", "--pattern", pattern)
    words += ("--window", "120ms")
    (row,) = rows(mpirun(64, "es40-qsnet", (), *words))
    rate = float(row["bandwidth_MBps"])
    verdict = judged(
        f"permutation.{pattern}",
        pl.DataFrame({"pattern": pattern, "metric": "accepted", "value": [rate]}),
    )
    assert verdict.holds, verdict


def test_main_memory_is_what_limits_permutations(benchmarks: Path) -> None:
    """With the unchanged bus, neighbors get no more than the ping's 80 MB/s each way (petrini2003
    s5.2).
    """
    words = (
        benchmarks / "permutation",
        "--pattern",
        "neighbor",
        "--lengths",
        "fixed",
        "--size",
        "64KB",
    )
    (row,) = rows(mpirun(4, "es40-qsnet", (), *words, "--warm-up", "2ms", "--window", "20ms"))
    assert float(row["bandwidth_MBps"]) == pytest.approx(80, rel=0.05)


def everything(mpi_programs: Path, ranks: int) -> tuple[str, str]:
    """The program's output, and its digest line."""
    words = command(
        "mpirun", "-n", str(ranks), "--collectives", "mpi", str(mpi_programs / "everything")
    )
    ended = execute(words, 600, cwd=mpi_programs)
    assert ended.code == 0, ended
    (digest,) = [line.split()[1] for line in ended.err.splitlines() if line.startswith("  digest")]
    return ended.out, digest


@pytest.mark.parametrize(("ranks", "times"), [(16, 2), pytest.param(64, 5, marks=pytest.mark.slow)])
def test_everything_is_repeatable(mpi_programs: Path, ranks: int, times: int) -> None:
    """All MPI features that real programs use: the same output, times included, and the same
    records.
    """
    first, *others = (everything(mpi_programs, ranks) for _ in range(times))
    assert others == [first] * (times - 1)
    assert first[0].splitlines()[-1] == "all is well"


@pytest.mark.parametrize("ranks", [4, pytest.param(64, marks=pytest.mark.slow)])
def test_everything_is_as_native(mpi_programs: Path, ranks: int) -> None:
    """The same results as on this host's network, by MPICH's TCP; except for times and arrival
    order.
    """
    words = [str(mpi_programs / "everything"), "--no-order"]
    tcp = environment() | {"MPIR_CVAR_CH4_NETMOD": "ofi", "FI_PROVIDER": "tcp"}
    native = execute([BIN / "mpiexec", "-n", str(ranks), *words], 600, env=tcp)
    assert native.code == 0, native
    assert mpirun(ranks, "es40-qsnet", (), *words).out == native.out
