"""Types of the extension module: the simulator, as Python sees it.

Its errors are ``ConfigError`` and ``RunError`` of ``elanite.errors``.
"""

from collections.abc import Mapping
from os import PathLike
from typing import Literal, NotRequired, TypedDict, final, type_check_only

__all__ = [
    "ENGINE",
    "MODEL_REVISION",
    "SOURCES",
    "VERSION",
    "Cancel",
    "GoalTrace",
    "MpiRun",
    "digests",
    "fingerprints",
    "graph_mistake",
    "hashed",
    "identify",
    "interval",
    "links",
    "load_experiment",
    "load_machine",
    "machine_warnings",
    "measure_noise",
    "measure_processor",
    "nodes",
    "plan",
    "plots",
    "point_warnings",
    "quantity",
    "routes_mistake",
    "schema",
    "simulate",
    "tables",
    "undivided",
    "wiring",
]

ENGINE: str
"""Fingerprint of all that decides the results of points."""
MODEL_REVISION: int
SOURCES: str
"""Fingerprint of all that was compiled."""
VERSION: str

@final
class Cancel:
    """A flag that stops every simulation that was started with it."""

    def __new__(cls) -> Cancel: ...
    def set(self) -> None: ...
    def is_set(self) -> bool: ...

_Values = list[int] | list[float] | list[str] | list[int | None] | list[str | None] | list[bool]
_Columns = dict[str, tuple[str, _Values]]
"""A table: of each column the type, by its name in polars, and the values."""

@type_check_only
class Records(TypedDict):
    """Results of `simulate`: tables by columns (see `tables`), and totals of the point.

    `random`: whether random numbers were drawn; without draws, the results are the same for every
    seed. `cpu_seconds`: of the process of another simulator (`elanite.base.simulator`); `_core`
    runs in the caller's thread.
    """

    tables: dict[str, _Columns]
    base: str
    digest: str
    packets: int
    events: int
    simulated_ps: int
    random: NotRequired[bool]
    peak_memory_bytes: int
    cpu_seconds: NotRequired[float]

@type_check_only
class MpiRecords(TypedDict):
    """What an `MpiRun` leaves: tables by columns.

    Times are simulated, in us, from the start of the ranks on.
    """

    messages: _Columns
    """`source` and `destination` (ranks), `bytes`, `tag`, `kind` (tagged, untagged, put, get),
    `posted_us`, `sent_us` (when its send ended), `arrived_us` (when its receive ended); None if it
    did not.
    """
    calls: _Columns
    """`rank`, `call`, `begin_us`, `end_us`; only where they were asked for."""
    ranks: _Columns
    """`rank`, `node`, `pid`, `messages_sent`, `bytes_sent`, `messages_received`, `bytes_received`,
    `calls` (of MPI, or of the simulated libraries), `mpi_us`, `clocks_us`, `end_us`; operations on
    files that took simulated time: `file_operations`, `file_bytes_read`, `file_bytes_written`,
    `files_us`; those that took none: `untimed_operations`, `untimed_bytes_read`,
    `untimed_bytes_written`.
    """
    links: _Columns
    """The columns of a point's table of links, over the whole run."""
    faults: _Columns
    """The columns of a point's table of faults."""
    series: _Columns
    """`time_us` and `end_us` (of a slice of time), `thing` (link, bus, thread), `id` (the number of
    the link, or of the adapter: its node plus the number of nodes for each rail before its own),
    `busy` (the share of the slice). A thing that was idle in a slice has no row.
    """
    summary: _Columns
    """One row: `time_us`, `messages`, `bytes`, `packets`, `packets_resent`, `digest`, `events`,
    `repeatable`; calls of ranks by who carried them out: `collectives_hardware`,
    `collectives_elan`, `collectives_mpi`.
    """

@final
class MpiRun:
    """A run of ranks, processes of a real MPI program, on a machine."""

    def __new__(
        cls,
        machine_text: str,
        machine_file: str,
        overrides: list[str],
        faults: list[str],
        options_json: str,
    ) -> MpiRun: ...
    def collectives(self) -> Literal["mpi", "elan", "hardware"]: ...
    def environment(self) -> dict[str, str]: ...
    def serve(self, cancel: Cancel, launcher_pid: int) -> str: ...
    def pids(self) -> list[int | None]: ...
    def left(self) -> list[tuple[int, Literal["abort", "error", "exit"], int]]: ...
    def sight(
        self,
    ) -> tuple[int, int, list[tuple[int | None, bool, str, str, int, int, int, int]]]: ...
    def end(self) -> None: ...
    def records(self) -> MpiRecords: ...
    def computed(self) -> tuple[str, int, float] | None: ...
    def write_recording(self, file: str | PathLike[str], head: str) -> None: ...

@type_check_only
class ReplayRecords(TypedDict):
    """What a replay leaves, also one that stopped before its end: tables by columns.

    Times are simulated, in us.
    """

    ranks: _Columns
    """`rank`, `operations`, `messages_sent`, `bytes_sent`, `messages_received`, `bytes_received`,
    `computed_us` (as the trace has it, without noise), `end_us`.
    """
    regions: _Columns
    """Where the trace has regions: `region` (its number; 0 for computations without one), `name`,
    `bound`, `executions`, `computed_us` (in all ranks), `longest_rank` and `longest_us` (of the
    rank that computes longest there).
    """
    operations: _Columns
    """`rank`, `operation` (its number in the rank), `kind` (send, recv, calc), `peer` and `tag`
    (None for computation and for receives from any), `size` (bytes or ns), `region` (of a
    computation), `free_us` (when its dependencies were met), `end_us`; of a receive, `sender` (the
    rank whose message it has taken) and `sent_by` (the number of the send there); only if they were
    asked for.
    """
    waiting: _Columns
    """`rank`, `operation`, `kind`, `peer`, `size`, `tag` and `free_us`, as in `operations`, but not
    ended.
    """
    links: _Columns
    """The columns of a point's table of links, over the whole replay."""
    faults: _Columns
    """The columns of a point's table of faults."""
    series: _Columns
    """The columns of the series of an `MpiRun`; only with operations, and on a machine."""
    summary: _Columns
    """One row: `time_us`, `operations`, `messages`, `bytes`, `packets`, `packets_resent`,
    `digest`.
    """
    processor: float | None
    """The factor from the processor that the trace is of to the machine's; None if one of them is
    not known.
    """
    early: tuple[str, int] | None
    """Why the replay stopped before its end, and the exit code."""

@final
class GoalTrace:
    """A trace in GOAL that has been read and checked."""

    def __new__(cls, file: PathLike[str]) -> GoalTrace: ...
    @property
    def ranks(self) -> int: ...
    @property
    def operations(self) -> int: ...
    @property
    def warnings(self) -> list[str]: ...
    @property
    def regions(self) -> list[str]: ...
    def replay(
        self,
        machine_text: str,
        machine_file: str,
        overrides: list[str],
        faults: list[str],
        options_json: str,
        buffered: int,
        factors: tuple[list[list[float]], list[int]],
        keep: bool,
        cancel: Cancel,
    ) -> ReplayRecords: ...

@type_check_only
class Noise(TypedDict):
    """The result of `measure_noise`: times of iterations, their delays after the shortest one, and
    the profile.
    """

    iterations: int
    base_ps: int
    mean_ps: int
    p50_ps: int
    p99_ps: int
    p99_99_ps: int
    max_ps: int
    above_1_percent: float
    distribution: _Columns
    profile: str

def measure_noise(
    length: str, compute: str, cpu: int | None, source: str, cancel: Cancel
) -> Noise: ...
def measure_processor() -> tuple[str, str, str, int]:
    """The time of a step of the noise test's loop, rates of memory of one and of all processors,
    and their number.
    """

def load_machine(text: str, file: str, overrides: list[str]) -> str: ...
def machine_warnings(text: str, file: str, overrides: list[str]) -> str: ...
def point_warnings(point_json: str) -> str: ...
def load_experiment(text: str, file: str, overrides: list[str]) -> str: ...
def plan(
    machine_text: str,
    machine_file: str,
    experiment_name: str,
    experiment_text: str,
    experiment_file: str,
    overrides: list[str],
    seed: int,
) -> list[tuple[str, str, str]]: ...
def simulate(
    point_json: str, cancel: Cancel, memory: int | None = None, threads: int = 1
) -> Records: ...
def undivided(point_json: str) -> str | None:
    """Why one thread works on the network of a point, for any number of threads; None if several
    may.
    """

def links(point_json: str) -> int: ...
def wiring(point_json: str) -> _Columns: ...
def interval(values: list[float]) -> tuple[float, float, float]: ...
def quantity(text: str) -> tuple[float, str] | None: ...
def plots() -> list[tuple[str, str, list[str]]]: ...
def tables() -> list[tuple[str, list[tuple[str, str, str, str]]]]: ...
def digests(
    points: list[tuple[str, int, int, int]],
    tables: Mapping[str, tuple[list[int], Mapping[str, bytes | list[object]]]],
) -> list[str | None]:
    """Digests of points from their tables: of each point the base, packets, events and simulated
    picoseconds.

    Of each table the rows of all points come one after the other: the number of rows of each point,
    and the columns that digests take. Numbers without gaps may be bytes, eight for each. None for a
    point whose tables lack a value.
    """

def fingerprints(root: str | PathLike[str]) -> tuple[str, str]:
    """``ENGINE`` and ``SOURCES`` of a checkout.

    Raises ``OSError`` if the sources cannot be read.
    """

def hashed() -> dict[str, list[str]]:
    """The columns of each table that its digest takes."""

def identify(manifests: list[bytes]) -> list[tuple[str, str, str, int] | None]:
    """Key, parameters as JSON, series and seed of the point in each manifest; None for a text
    without a point.
    """

def graph_mistake(text: str) -> tuple[int | None, str] | None: ...
def routes_mistake(
    cables: str, terminals: int | None, routes: str
) -> tuple[int | None, str] | None: ...
def nodes(written: str) -> list[int] | None: ...
def schema(kind: str) -> str: ...
