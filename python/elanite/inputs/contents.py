"""File and point contents as the simulator returns them, as types.

The simulator checks a file and returns it as JSON with all defaults filled in (crates ``machine``
and ``experiment``). These types name the keys that Python reads; other keys concern the simulator
only.
"""

from __future__ import annotations

from typing import NotRequired, TypedDict


class PublishedReference(TypedDict):
    """A published value beside a figure."""

    claim: str
    label: str
    x: float | None


class FigureTexts(TypedDict):
    """A figure's texts that may name columns."""

    name: str
    title: str
    paper: str
    caption: str
    dashed: str


class Rows(TypedDict):
    """A row selection."""

    series: list[str]
    where: dict[str, list[object]]


class FigureSection(Rows):
    """An experiment's ``[[figure]]``; empty texts and lists stand for keys that the file leaves
    out.
    """

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
    published: list[PublishedReference]
    mark: float | None
    raw: NotRequired[FigureTexts]
    """The file's texts, where ``figures.figure_requests`` has filled in column names."""
    known: NotRequired[dict[str, str]]
    """The words that it has filled in and that are no columns."""


class SourceRange(TypedDict):
    """The range that a parameter's source leaves open."""

    low: object
    high: object
    source: str


class ParameterEntry(TypedDict):
    """A machine file parameter."""

    key: str
    value: object
    source: str
    fitted_to: NotRequired[list[str] | None]
    admissible: NotRequired[SourceRange | None]


class MachineFile(TypedDict):
    """A machine file, as its parameters."""

    name: str
    title: str
    parameters: list[ParameterEntry]
    layers: int | None


class Series(TypedDict):
    """An experiment's ``[[series]]``, without its benchmark's section."""

    name: str
    title: NotRequired[str]


class Description(TypedDict):
    """An experiment file."""

    title: str
    source: str
    machine: str | list[str]
    run: NotRequired[dict[str, object]]
    series: list[Series]
    figure: NotRequired[list[FigureSection]]


class CountParameter(TypedDict):
    """A whole number among a machine's parameters."""

    value: int


class QuantityParameter(TypedDict):
    """A quantity among a machine's parameters, as text, or one for each level of links."""

    value: str | list[str]


class ResolvedTopology(TypedDict):
    """A resolved machine's wiring."""

    nodes: CountParameter


class ResolvedPacket(TypedDict):
    """The lengths of packets."""

    payload: QuantityParameter
    transaction: QuantityParameter
    header: QuantityParameter
    transaction_overhead: QuantityParameter


class ResolvedLink(TypedDict):
    """Links, or a node's bus."""

    rate: QuantityParameter


class ResolvedSwitch(TypedDict):
    """Switches."""

    circuit: QuantityParameter


class ResolvedRails(TypedDict):
    """A node's adapters."""

    count: CountParameter


class Head(TypedDict):
    """The entry about the machine itself."""

    name: str


class ResolvedMachine(TypedDict):
    """A point's resolved machine."""

    machine: Head
    topology: ResolvedTopology
    packet: ResolvedPacket
    link: ResolvedLink
    switch: ResolvedSwitch
    adapter: NotRequired[dict[str, QuantityParameter]]
    bus: NotRequired[ResolvedLink]
    rails: NotRequired[ResolvedRails]


class RunSettings(TypedDict):
    """How a point is run and measured: ``[run]`` with this point's values; times are texts."""

    warm_up: str
    window: str
    precision: float
    batches: int
    seeds: int
    slices: int
    watch: str
    max_memory: str


class Content(TypedDict):
    """A point's configuration."""

    machine: ResolvedMachine
    run: RunSettings
    seed: int
    series: str
    workload: dict[str, dict[str, object]]
    """The section for its kind: ``ping``, ``jobs``, ``collective``, ..."""
    faults: NotRequired[list[dict[str, object]]]


class RailFailure(TypedDict):
    """A rail that fails permanently beside jobs (a series' ``failure``), and the moment as text."""

    rail: int
    at: str


def failure(content: Content) -> RailFailure | None:
    """The rail that a point's series lets fail, if any."""
    found = content["workload"].get("jobs", {}).get("failure")
    if not isinstance(found, dict):
        return None
    return {"rail": int(found["rail"]), "at": str(found["at"])}
