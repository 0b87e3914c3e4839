"""A run's options, in the command-line form and in the form that the simulator reads."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypedDict

from elanite.base import bounded
from elanite.base.units import amount
from elanite.errors import UsageError

RULES = ("block", "cyclic", "random")
"""Placements that need no file."""

Network = Literal["machine", "ideal"]
Memory = Literal["main", "elan"]
Collectives = Literal["mpi", "elan", "hardware"]

_SAMPLED = "sampled:"


MOST_KINDS = 1000
"""Characters in memory kinds: MPICH's values have at most 1,023."""

MOST_RANKS = (1 << 32) - 1
"""More ranks than any run has: a larger share of a node is the same."""


@dataclass(frozen=True)
class Options:
    """How a program runs on a machine."""

    ranks: int
    ranks_per_node: int = 1
    placement: str = "block"
    """One of the ``RULES``, or the path to a file with a rank's node on each line."""
    compute: str = "none"
    """The time for computation between MPI calls: ``none``, ``2us per call``, ``measured``,
    ``measured:FACTOR`` or ``sampled:FILE``.
    """
    network: Network = "machine"
    """The machine's network, or an ideal one without any contention."""
    memory: Memory = "main"
    """The memory with the message buffers: main memory, across the bus, or the adapter's."""
    collectives: Collectives | None = None
    """The executor of barriers, broadcasts and reductions: the MPI library, Elanlib's software
    trees, or Elanlib by the hardware wherever that serves a communicator. By default the hardware
    on a machine that has it, and else the MPI library; the MPI library, too, if the run is
    recorded. ``Run.options`` has the choice.
    """
    seed: int = 1
    limit_time: str | None = None
    """Simulated time after which the run is ended."""
    faults: tuple[str, ...] = ()
    """Faults: inline TOML tables without their braces, such as ``link = 'node 3', at = '1 ms'``."""
    timeline: bool = False
    record: bool = False
    """Whether the run is recorded as a trace in GOAL."""
    checksums: bool = True
    """Whether the bytes that ranks store are compared with the sent bytes' checksum."""
    cleanup: bool = True
    """Whether mpiexec ends all ranks when one ends without leaving MPI."""
    memory_alloc_kinds: str | None = None
    """The memory kinds that are requested of MPI (``mpi_memory_alloc_kinds`` in MPI 4.1), such as
    ``mpi:alloc_mem,system``.
    """
    universe: int | None = None
    """How many ranks there may be in all, with those that the program starts (``MPI_Comm_spawn``):
    they have places from the beginning. By default ``ranks``.
    """

    def __post_init__(self) -> None:
        computation(self.compute)
        if self.memory_alloc_kinds is not None:
            _check_kinds(self.memory_alloc_kinds)
        if self.room < self.ranks:
            begin = f"the run begins with {_ranks(self.ranks)}"
            raise UsageError(f"--universe {self.universe}: {begin}; name at least as many")
        if self.record and self.room > self.ranks:
            raise UsageError(
                "--record: a trace in GOAL has the ranks of the start; leave out --universe"
            )
        if self.network == "ideal" and self.memory == "elan":
            raise UsageError(
                "--memory elan: the ideal network has no adapters; leave out --network or --memory"
            )
        if self.network == "ideal" and self.faults:
            raise UsageError(
                "--fault: the ideal network has no parts that fail; leave out --network or --fault"
            )
        if self.record and self.collectives not in (None, "mpi"):
            raise UsageError(
                "--record: a trace in GOAL has no collective operations of Elanlib; leave out"
                " --collectives"
            )
        if self.record and self.faults:
            raise UsageError(
                "--record: a trace has the program alone, without the effects of faults; leave out"
                " --fault"
            )
        if self.limit_time is not None:
            _time("--limit-time", self.limit_time)

    @property
    def measured(self) -> bool:
        """Whether the host's processor time enters the run."""
        return self.compute.startswith("measured")

    @property
    def table(self) -> Path | None:
        """The table file for sampled computation, if computation is sampled."""
        _, found, file = self.compute.strip().partition(_SAMPLED)
        return Path(file) if found else None

    @property
    def room(self) -> int:
        """How many ranks there may be in all."""
        return self.ranks if self.universe is None else self.universe

    def nodes(self, available: int) -> list[int]:
        """Each possible rank's node, by a rule or from a file, on a machine with this many
        nodes.
        """
        ranks, share, rule = self.room, self.ranks_per_node, self.placement
        if rule not in RULES:
            return _of_file(Path(rule), ranks, share, available)
        needed = -(-ranks // share)
        if rule == "cyclic":
            return [rank % needed for rank in range(ranks)]
        block = [rank // share for rank in range(ranks)]
        if rule == "block" or needed > available:
            return block  # the machine's own check reports too few nodes
        chosen = _shuffled(range(available), f"nodes {self.seed}")[:needed]
        return [chosen[place] for place in _shuffled(block, f"ranks {self.seed}")]

    def as_json(self, placement: list[int]) -> str:
        """The options in the form that ``_core.MpiRun`` reads."""
        return json.dumps(
            {
                "ranks": self.ranks,
                "ranks_per_node": min(self.ranks_per_node, MOST_RANKS),
                # With rank blocks on nodes, the simulator gives the better error if there are too
                # few nodes.
                "placement": None if self.placement == "block" else placement,
                "compute": computation(self.compute),
                "network": self.network,
                "memory": self.memory,
                "seed": self.seed,
                "limit_time": self.limit_time,
                "timeline": self.timeline,
                "calls": self.timeline,
                "checksums": self.checksums,
                "keep_going": not self.cleanup,
                **({} if self.collectives is None else {"collectives": self.collectives}),
                **({"record": True} if self.record else {}),
                **({"universe": self.room} if self.room > self.ranks else {}),
            }
        )


class OptionKeywords(TypedDict, total=False):
    """Fields of ``Options`` as keywords: all but the rank count."""

    ranks_per_node: int
    placement: str
    compute: str
    network: Network
    memory: Memory
    collectives: Collectives | None
    seed: int
    limit_time: str | None
    faults: tuple[str, ...]
    timeline: bool
    record: bool
    checksums: bool
    cleanup: bool
    memory_alloc_kinds: str | None
    universe: int | None


def _check_kinds(text: str) -> None:
    """Raise ``UsageError`` if these are no memory kinds: names with restrictors."""
    name = r"[A-Za-z]\w*"
    kind = rf"{name}(:{name})*"
    if not re.fullmatch(rf"{kind}(,{kind})*", text, re.ASCII) or len(text) > MOST_KINDS:
        raise UsageError(
            f"--memory-alloc-kinds: {text!r} are no memory kinds; allowed are names with"
            " restrictors, such as mpi:alloc_mem,system"
        )


def computation(text: str) -> str:
    """The computation in the simulator's form: none, ``<time> per call``, ``measured x <factor>``
    or ``sampled``.
    """
    text = text.strip()
    if text == "none":
        return text
    if text.startswith(_SAMPLED) and text != _SAMPLED:
        return "sampled"
    if text.startswith("measured"):
        factor = text.removeprefix("measured").removeprefix(":") or "1"
        if re.fullmatch(r"\d+(\.\d+)?|\.\d+", factor) and float(factor) > 0:
            return f"measured x {factor}"
    else:
        time = text.removesuffix("per call").strip()
        if amount(time, "us") is not None:
            return f"{time} per call"
    raise UsageError(
        f"--compute: `{text}` is not understood; allowed: none, a time as in `2us per call`,"
        " measured, measured:FACTOR as in measured:0.5, or sampled:FILE with the file of a table"
    )


def _shuffled(items: range | list[int], stream: str) -> list[int]:
    """The items in an order that depends only on the stream's name, on any host and Python
    version.
    """

    def key(index: int) -> bytes:
        return hashlib.sha256(f"elanite mpirun placement, {stream}, {index}".encode()).digest()

    return [items[index] for index in sorted(range(len(items)), key=key)]


def _of_file(path: Path, ranks: int, share: int, available: int) -> list[int]:
    allowed = f"allowed: {', '.join(RULES)}, or a file with a node on each line"
    text = bounded.text(path, bounded.SETTINGS, allowed, "--placement", bounded.typed)
    nodes: list[int] = []
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split("#", 1)[0].strip()
        if not words:
            continue
        place = f"{path}:{number}"
        if not re.fullmatch(r"[0-9]{1,9}", words):
            raise UsageError(
                f"{place}: `{words}` is not a node; write one number on each line, 0 to"
                f" {available - 1}"
            )
        node = int(words)
        if node >= available:
            raise UsageError(
                f"{place}: there is no node {node}; the machine has the nodes 0 to {available - 1}"
            )
        if nodes.count(node) >= share:
            remedy = f"raise --ranks-per-node, which is {share}"
            raise UsageError(
                f"{place}: node {node} has {_ranks(share)} already; name another node, or {remedy}"
            )
        nodes.append(node)
    if len(nodes) != ranks:
        raise UsageError(
            f"{path}: {len(nodes)} nodes for {_ranks(ranks)}; write one line for each rank"
        )
    return nodes


def _ranks(count: int) -> str:
    return "1 rank" if count == 1 else f"{count} ranks"


def _time(option: str, text: str) -> None:
    if amount(text, "us") is None:
        raise UsageError(f"{option}: `{text}` is not a time; write one as in 500us, 20ms or 1s")
