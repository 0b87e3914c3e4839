"""A call of NCCL in words: ``all_reduce 64 MB over 8 x 8 with 4 channels``.

The size is that of the whole vector, as NCCL's tests count: of an all-gather what a rank has at the end, of a
reduce-scatter what a rank puts in. ``over 8 x 8`` are 8 hosts of 8 ranks each, ``over 64`` or ``over 64 ranks`` are 64
ranks with a host each. Without a number of channels there is one, of a tree there are two. The root of a broadcast or
reduce is rank 0.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from elanite import _core
from elanite.errors import UsageError
from elanite.traces.nccl import OPERATIONS, Communicator

if TYPE_CHECKING:
    from elanite.traces.nccl import Algorithm

MOST_RANKS = 1 << 20
MOST_CHANNELS = 64
"""NCCL's MAXCHANNELS."""
_CALL = re.compile(
    r"(?P<what>\w+) +(?P<size>[\d.]+ ?\w*) +over +(?:(?P<hosts>\d+) ?x ?)?(?P<share>\d+)(?: +ranks?)?"
    r"(?: +with +(?P<channels>\d+) +channels?)?",
)
_EXAMPLE = "all_reduce 64 MB over 8 x 8 with 4 channels"


@dataclass(frozen=True)
class Call:
    """A collective operation of all ranks of a job."""

    what: str
    size: int
    """Bytes of the whole vector."""
    algorithm: Algorithm
    communicator: Communicator

    @classmethod
    def of(cls, text: str, algorithm: Algorithm, *, chunk: int | None = None) -> Call:
        """Read a call. Raises ``UsageError`` with the word that is wrong."""
        found = _CALL.fullmatch(text.strip())
        if found is None:
            raise UsageError(f"`{text}` is no call of NCCL; write for example {_EXAMPLE}")
        what = _named(found["what"])
        quantity = _core.quantity(found["size"])
        if quantity is None or quantity[1] != "B":
            raise UsageError(f"`{text}`: the size {found['size']} is not understood; write for example {_EXAMPLE}")
        alone = found["hosts"] is None
        share = 1 if alone else int(found["share"])
        ranks = int(found["share"]) if alone else int(found["hosts"]) * share
        channels = int(found["channels"] or (2 if algorithm == "tree" else 1))
        for name, number, most in (("ranks", ranks, MOST_RANKS), ("channels", channels, MOST_CHANNELS)):
            if not 0 < number <= most:
                raise UsageError(f"`{text}`: {number} {name}; there are 1 to {most:,}")
        size = round(quantity[0])
        if what in ("all_gather", "reduce_scatter") and size % ranks:
            raise UsageError(
                f"`{text}`: {size} bytes are no equal parts of {ranks} ranks; take {size // ranks * ranks}B"
            )
        communicator = Communicator.of(range(ranks), share, channels, chunk)
        if refusal := communicator.refusal(what, algorithm):
            raise UsageError(f"`{text}`: {refusal}")
        return cls(what, size, algorithm, communicator)

    @property
    def part(self) -> int:
        """The bytes of the vector, or of a rank's part in an all-gather or reduce-scatter."""
        return self.size // self.communicator.ranks if self.what in ("all_gather", "reduce_scatter") else self.size


def _named(name: str) -> str:
    """The operation of a name: ``all_reduce``, ``allreduce``, ``AllReduce``."""
    plain = {each.replace("_", ""): each for each in OPERATIONS}
    what = plain.get(name.lower().replace("_", ""))
    if what is None:
        raise UsageError(f"`{name}` is no operation of NCCL here; there are {', '.join(OPERATIONS)}")
    return what
