"""An NCCL call in words: ``all_reduce 64 MB over 8 x 8 with 4 channels``.

The size covers the whole vector, as in NCCL's tests: for an all-gather a rank's result, for a
reduce-scatter a rank's input. ``over 8 x 8`` are 8 hosts with 8 ranks each, ``over 64`` or
``over 64 ranks`` are 64 ranks with a host each. The default is one channel, or two for a tree. The
root of a broadcast or reduce is rank 0.
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
    r"(?P<what>\w+) +(?P<size>[\d.]+ ?\w*) +over +(?:(?P<hosts>\d+) ?x ?)?(?P<share>\d+)(?:"
    r" +ranks?)?"
    r"(?: +with +(?P<channels>\d+) +channels?)?",
)
_EXAMPLE = "all_reduce 64 MB over 8 x 8 with 4 channels"


@dataclass(frozen=True)
class NcclCall:
    """A collective operation between all ranks in a job."""

    what: str
    size: int
    """Bytes in the whole vector."""
    algorithm: Algorithm
    communicator: Communicator

    @classmethod
    def of(cls, text: str, algorithm: Algorithm, *, chunk: int | None = None) -> NcclCall:
        """Read a call. Raises ``UsageError`` with the word that is wrong."""
        found = _CALL.fullmatch(text.strip())
        if found is None:
            raise UsageError(f"`{text}` is not a call of NCCL; write for example {_EXAMPLE}")
        what = _named(found["what"])
        plain = re.fullmatch(r"[\d.]+ ?[KMG]", found["size"])  # as NCCL-tests have sizes
        quantity = _core.quantity(f"{found['size']}B" if plain else found["size"])
        if quantity is None or quantity[1] != "B":
            raise UsageError(
                f"`{text}`: the size {found['size']} is not understood; write for example"
                f" {_EXAMPLE}"
            )
        alone = found["hosts"] is None
        share = 1 if alone else int(found["share"])
        ranks = int(found["share"]) if alone else int(found["hosts"]) * share
        channels = int(found["channels"] or (2 if algorithm == "tree" else 1))
        for name, number, most in (
            ("ranks", ranks, MOST_RANKS),
            ("channels", channels, MOST_CHANNELS),
        ):
            if not 0 < number <= most:
                raise UsageError(f"`{text}`: {number} {name}; there are 1 to {most:,}")
        size = round(quantity[0])
        if what in ("all_gather", "reduce_scatter") and size % ranks:
            raise UsageError(
                f"`{text}`: {size} bytes cannot be divided among {ranks} ranks; write"
                f" {size // ranks * ranks}B"
            )
        communicator = Communicator.of(range(ranks), share, channels, chunk)
        if refusal := communicator.refusal(what, algorithm):
            raise UsageError(f"`{text}`: {refusal}")
        return cls(what, size, algorithm, communicator)

    @property
    def part(self) -> int:
        """The vector's bytes, or the bytes in a rank's part for an all-gather or reduce-scatter."""
        return (
            self.size // self.communicator.ranks
            if self.what in ("all_gather", "reduce_scatter")
            else self.size
        )


def _named(name: str) -> str:
    """A name's operation: ``all_reduce``, ``allreduce``, ``AllReduce``, ``all_reduce_perf``."""
    plain = {each.replace("_", ""): each for each in OPERATIONS}
    word = name.lower().removesuffix("_perf").replace("_", "")
    what = plain.get(word)
    if what is None:
        other = "; write it with elanite goal alltoall" if word == "alltoall" else ""
        raise UsageError(
            f"`{name}` is not an operation of NCCL here; there are {', '.join(OPERATIONS)}{other}"
        )
    return what
