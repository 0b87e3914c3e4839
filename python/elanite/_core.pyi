"""Types of the extension module: the simulator, as Python sees it."""

from typing import TypedDict, final, type_check_only

__all__ = [
    "MODEL_REVISION",
    "VERSION",
    "Cancel",
    "ConfigError",
    "RunError",
    "interval",
    "load_experiment",
    "load_machine",
    "measure_noise",
    "plan",
    "quantity",
    "schema",
    "simulate",
    "wiring",
]

MODEL_REVISION: str
VERSION: str

class ConfigError(Exception):
    """A machine file, an experiment file or an override is wrong: (rendered text, diagnostics as JSON)."""

class RunError(Exception):
    """A point did not finish; the exit code says why: a bound (1), a deadlock (3), our own bug (4), a cancel (130)."""

    exit_code: int

@final
class Cancel:
    """A flag that stops every simulation that was started with it."""

    def __new__(cls) -> Cancel: ...
    def set(self) -> None: ...
    def is_set(self) -> bool: ...

_Column = list[int] | list[float] | list[str] | list[int | None] | list[str | None] | list[bool]

@type_check_only
class Records(TypedDict):
    """What `simulate` gives: eight tables by columns, and totals of the point."""

    rows: dict[str, _Column]
    nodes: dict[str, _Column]
    links: dict[str, _Column]
    switches: dict[str, _Column]
    slices: dict[str, _Column]
    distribution: dict[str, _Column]
    deadlock: dict[str, _Column]
    allocation: dict[str, _Column]
    digest: str
    packets: int
    events: int
    simulated_ps: int
    peak_memory_bytes: int

@type_check_only
class Noise(TypedDict):
    """What `measure_noise` gives: times of iterations, what they took longer than the shortest, and the profile."""

    iterations: int
    base_ps: int
    mean_ps: int
    p50_ps: int
    p99_ps: int
    p99_99_ps: int
    max_ps: int
    above_1_percent: float
    distribution: dict[str, _Column]
    profile: str

def measure_noise(length: str, compute: str, cpu: int | None, source: str, cancel: Cancel) -> Noise: ...
def load_machine(text: str, file: str, overrides: list[str]) -> str: ...
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
def simulate(point_json: str, cancel: Cancel) -> Records: ...
def wiring(point_json: str) -> dict[str, _Column]: ...
def interval(values: list[float]) -> tuple[float, float, float]: ...
def quantity(text: str) -> tuple[float, str] | None: ...
def schema(kind: str) -> str: ...
