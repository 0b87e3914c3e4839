"""How Chakra execution traces are read that leave things open: groups, rates of work, copies, and NCCL's messages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from elanite import _core

if TYPE_CHECKING:
    from pathlib import Path

    from elanite.traces.nccl import Algorithm

_STEP_OPERATIONS = 6
"""Operations in a step of the noise test, which ``processor.step`` is the time of."""


@dataclass(frozen=True)
class Roofline:
    """The accelerator: work takes the longer one of its operations' time and of its bytes' time.

    Williams, Waterman and Patterson, Commun. ACM 52 (2009). None: unknown.
    """

    flops: float | None = None
    """Operations in a second."""
    memory: float | None = None
    """Bytes in a second."""
    source: str = ""
    """The parameters of a machine that gave these rates."""

    @classmethod
    def of_processor(cls, step: str, core_memory: str | None, flops: float | None, memory: float | None) -> Roofline:
        """Rates that are given, and for others those of a processor: its steps, and its rate of main memory.

        A step has six operations, each of which waits for the one before: the rate of a scalar processor.
        """
        sources = []
        if flops is None and (found := _core.quantity(step)):
            flops = _STEP_OPERATIONS / found[0] * 1e6
            sources.append(f"{_STEP_OPERATIONS} operations in processor.step ({step})")
        if memory is None and core_memory is not None and (found := _core.quantity(core_memory)):
            memory = found[0] * 1e6
            sources.append(f"bytes at processor.core_memory ({core_memory})")
        return cls(flops, memory, ", ".join(sources))

    def micros(self, operations: float, size: float) -> float:
        """The time of work. Raises ``ValueError`` with the options that are missing."""
        both = ((operations, self.flops, "--flops"), (size, self.memory, "--memory-rate"))
        if missing := [option for amount, rate, option in both if amount and rate is None]:
            raise ValueError(" and ".join(missing))
        return max(amount / rate * 1e6 if rate else 0.0 for amount, rate, _ in both)


@dataclass(frozen=True)
class Nccl:
    """How NCCL carries the data of collective operations (``elanite.traces.nccl``)."""

    algorithm: Algorithm
    """For the operations that have it; others take rings."""
    channels: int = 1
    chunk: int | None = None
    share: int = 1
    """Ranks of a host, with numbers next to each other."""


@dataclass(frozen=True)
class Reading:
    """How traces are read that leave things open."""

    groups: Path | None = None
    """A file with the members of groups."""
    roofline: Roofline = Roofline()
    replicate: int | None = None
    """One trace stands for so many ranks."""
    nccl: Nccl | None = None
    """Collective operations are NCCL's; None: those of MPI."""
