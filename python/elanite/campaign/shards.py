"""Shards: a campaign divided among independent jobs, such as a job array's tasks.

``3/64`` is the third of 64 shards. A point's identity alone decides its shard. So the shards are
disjoint and together complete, regardless of each store's content at the start. Identities are
hashes: the point counts vary like those of balls thrown into urns. With 10,000 points in 64 shards,
the largest shard has about 186 and not 156. With fewer than some 30 points in a shard, more jobs
save little time.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Protocol, TypeVar

from elanite.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

MOST = 1_000_000
"""The largest shard count."""


class IdentityHolder(Protocol):
    """A thing with an identity: a point."""

    @property
    def id(self) -> str:
        """Hexadecimal digits, equally distributed."""


One = TypeVar("One", bound=IdentityHolder)


def parse(text: str) -> tuple[int, int]:
    """``3/64`` as the shard number, from 1, and the shard count. Raises ``UsageError``."""
    found = re.fullmatch(r"([0-9]{1,9})/([0-9]{1,9})", text.strip())
    if found is None:
        raise UsageError(f"--shard: `{text}` is not a shard; write the third of 64 shards as 3/64")
    number, many = int(found[1]), int(found[2])
    if not 1 <= many <= MOST:
        raise UsageError(f"--shard: `{text}` asks for {many} shards; there can be 1 to {MOST:,}")
    if number == 0:
        raise UsageError(
            f"--shard: `{text}`: shards are counted from 1; let the job array begin with 1"
        )
    if number > many:
        raise UsageError(
            f"--shard: `{text}`: there is no shard {number}; the last one is {many}/{many}"
        )
    return number, many


def shard(text: str, points: Iterable[One]) -> list[One]:
    """The points that belong to a shard, in their order.

    Raises ``UsageError`` if the text is not a shard.
    """
    number, many = parse(text)
    return [point for point in points if int(point.id, 16) % many == number - 1]
