"""The contents of files and points as the simulator returns them, as types.

The simulator checks a file and returns it as JSON with all defaults filled in (crates ``machine`` and ``experiment``).
These types name the keys that Python reads; other keys concern the simulator only.
"""

from __future__ import annotations

from typing import NotRequired, TypedDict


class Published(TypedDict):
    """A published value beside a figure."""

    claim: str
    label: str
    x: float | None


class Texts(TypedDict):
    """The texts of a figure that may name columns."""

    name: str
    title: str
    paper: str
    caption: str
    dashed: str


class Rows(TypedDict):
    """A selection of rows."""

    series: list[str]
    where: dict[str, list[object]]


class Asked(Rows):
    """A ``[[figure]]`` of an experiment; empty texts and lists stand for keys that the file leaves out."""

    name: str
    title: str
    paper: str
    caption: str
    dashed: str
    draw: str
    sustained: bool
    steady: bool
    panel: str
    metric: str
    offered: str
    x: str
    x_title: str
    x_scale: str
    y_title: str
    log: bool
    curve: list[str]
    legend: str
    names: dict[str, list[tuple[str, str]]]
    twice: dict[str, object]
    beside: Rows | None
    published: list[Published]
    mark: float | None
    raw: NotRequired[Texts]
    """The texts of the file, where ``figures.asked`` has filled in the names of columns."""
    known: NotRequired[dict[str, str]]
    """The words that it has filled in and that are no columns."""


class Admissible(TypedDict):
    """The range that the source of a parameter leaves open."""

    low: object
    high: object
    source: str


class Stated(TypedDict):
    """A parameter of a machine file."""

    key: str
    value: object
    source: str
    fitted_to: NotRequired[list[str] | None]
    admissible: NotRequired[Admissible | None]


class MachineFile(TypedDict):
    """A machine file, as its parameters."""

    name: str
    title: str
    parameters: list[Stated]
    layers: int | None


class Series(TypedDict):
    """A ``[[series]]`` of an experiment, without the section of its benchmark."""

    name: str
    title: NotRequired[str]


class Description(TypedDict):
    """An experiment file."""

    title: str
    source: str
    machine: str | list[str]
    run: NotRequired[dict[str, object]]
    series: list[Series]
    figure: NotRequired[list[Asked]]


class Count(TypedDict):
    """A whole number among the parameters of a machine."""

    value: int


class Topology(TypedDict):
    """The wiring of a resolved machine."""

    nodes: Count


class Head(TypedDict):
    """The entry about the machine itself."""

    name: str


class Machine(TypedDict):
    """The resolved machine of a point."""

    machine: Head
    topology: Topology


class Running(TypedDict):
    """How a point is run and measured: ``[run]`` with the values of this point; times are texts."""

    warm_up: str
    window: str
    precision: float
    batches: int
    seeds: int
    slices: int
    watch: str
    max_memory: str


class Content(TypedDict):
    """The configuration of a point."""

    machine: Machine
    run: Running
    seed: int
    series: str
    workload: dict[str, dict[str, object]]
    """The section of its kind: ``ping``, ``jobs``, ``collective``, ..."""
    faults: NotRequired[list[dict[str, object]]]
