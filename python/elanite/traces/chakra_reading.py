"""Rules for Chakra execution traces that leave things open: groups, work rates, copies, and NCCL's
messages.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from elanite import _core

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from elanite.traces.nccl import Algorithm

_STEP_OPERATIONS = 6
"""Operations in a noise test step, which takes the time ``processor.step``."""


@dataclass(frozen=True)
class Roofline:
    """The accelerator: work takes its operations' time or its bytes' time, the longer one.

    Williams, Waterman and Patterson, Commun. ACM 52 (2009). `None`: unknown.
    """

    flops: float | None = None
    """Operations in a second."""
    memory: float | None = None
    """Bytes in a second."""
    source: str = ""
    """The machine parameters that gave these rates."""

    @classmethod
    def of_processor(
        cls, parameters: Mapping[str, object], flops: float | None, memory: float | None
    ) -> Roofline:
        """The given rates, with those of a machine's section ``processor`` as defaults.

        Those of its accelerator (``flops``, ``flops_memory``), or else of a scalar processor: its
        steps, of six operations of which each waits for the one before, and its main memory rate.
        """
        sources = []
        own, step = parameters.get("processor.flops"), parameters.get("processor.step")
        if flops is None and isinstance(own, (int, float)):
            flops = float(own)
            sources.append(f"operations at processor.flops ({own:g}/s)")
        elif flops is None and (found := _core.quantity(str(step))):
            flops = _STEP_OPERATIONS / found[0] * 1e6
            sources.append(f"{_STEP_OPERATIONS} operations in processor.step ({step})")
        for key in ("processor.flops_memory", "processor.core_memory"):
            rate = parameters.get(key)
            if memory is None and rate is not None and (found := _core.quantity(str(rate))):
                memory = found[0] * 1e6
                sources.append(f"bytes at {key} ({rate})")
        return cls(flops, memory, ", ".join(sources))

    def micros(self, operations: float, size: float) -> float:
        """The time for work. Raises ``ValueError`` with the options that are missing."""
        both = ((operations, self.flops, "--flops"), (size, self.memory, "--memory-rate"))
        if missing := [option for amount, rate, option in both if amount and rate is None]:
            raise ValueError(" and ".join(missing))
        return max(amount / rate * 1e6 if rate else 0.0 for amount, rate, _ in both)


@dataclass(frozen=True)
class NcclTransport:
    """NCCL's transport of collective operations (``elanite.traces.nccl``)."""

    algorithm: Algorithm
    """For the operations that have it; others take rings."""
    channels: int = 1
    chunk: int | None = None
    share: int = 1
    """Ranks per host, with consecutive numbers."""


@dataclass(frozen=True)
class ReadingOptions:
    """How traces are read that leave things open."""

    groups: Path | None = None
    """A file with group members."""
    roofline: Roofline = Roofline()
    replicate: int | None = None
    """One trace stands for this many ranks."""
    nccl: NcclTransport | None = None
    """Collective operations are NCCL's; `None`: MPI's."""
