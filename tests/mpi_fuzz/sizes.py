"""Message lengths, mostly at the edges where libraries and adapters change their methods.

| bytes | change |
|---|---|
| 0, 1 | empty; no word |
| 64, 256, 320 | a transaction, libfabric's inject limit, a packet |
| 288, 2,048 | the Tports' limit for data within the envelope on either machine, or near it |
| 8 KB | a time slice of the adapter, a cell of MPICH's shared memory |
| 12, 16, 32, 80 KB | collective algorithms, MPICH's pack buffer, where Tports fetch messages |
| 64 KB, 512 KB | large messages in collective operations, the Tports' buffer |
| 1, 2 MB and more | exceeds every buffer on the way |
"""

from __future__ import annotations

import random

SHORT = (
    0,
    1,
    2,
    3,
    7,
    8,
    9,
    16,
    31,
    33,
    64,
    100,
    128,
    255,
    256,
    257,
    272,
    288,
    289,
    319,
    320,
    321,
    512,
    1000,
)
MIDDLE = (1024, 1500, 2048, 3000, 4096, 5000, 8192, 12288, 16384, 20000, 32768, 40000)
LONG = (65536, 65536, 81920, 100000, 131072, 262144)
LONGER = (524288, 524288, 1048576, 1048576, 2097152)
HUGE = (4194304, 16777216, 33554432, 67108864)
NEAR = (-1, 0, 0, 1)


class Sizes:
    """Draws sizes within the bytes that a program may move, so that the mean program is quick."""

    def __init__(self, rng: random.Random, budget: int) -> None:
        self.rng = rng
        self.left = budget
        self.huge = budget > LONGER[-1] * 16

    def draw(self, times: int = 1, most: int = 1 << 30) -> int:
        """A byte count, with this many bytes moved."""
        rng = self.rng
        allowed = min(self.left // max(times, 1), most)
        place = rng.random()
        if self.huge and place < 0.1:
            kind: tuple[int, ...] = HUGE
        elif place < 0.52:
            kind = SHORT
        elif place < 0.8:
            kind = MIDDLE
        else:
            kind = LONG if place < 0.94 else LONGER
        power = rng.random() < 0.12
        size = 2 ** rng.randint(0, kind[-1].bit_length() - 1) if power else rng.choice(kind)
        size = max(0, size + rng.choice(NEAR)) if size >= 16 else size
        if rng.random() < 0.06:
            size = rng.randint(0, max(size, 1))
        if size > allowed:
            fitting = [one for one in SHORT + MIDDLE + LONG if one <= allowed]
            size = rng.choice(fitting[-12:]) if fitting else 0
        self.left -= size * times
        return size
