"""Claims: the process that simulates a point now, so that others mostly do something else.

A claim is a file ``.claim-<id>`` that only one process can make: exclusive creation is atomic on
local file systems, on NFS since version 3, and on object stores with conditional writes. The file
names the holder and the claim's seconds. While a claim is in use as a context, a thread touches the
file three times within these seconds, so that a long point keeps its claim. A claim by a process
that has provably died, and one that was not touched for its seconds, is taken over: the process was
killed, or its host. The seconds are counted by the file system's clock (``places``). A claim from
the future, after a clock was set back, would hold for years: it is taken over as well.

Claims save work, and correctness does not depend on them: a process that has lost a claim unawares
writes the same bytes as its successor, and the store keeps one of the two. One of several
successors wins: the one that makes a file named after the claim's content, which only one can make,
removes the claim.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import secrets
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from elanite.errors import ElaniteError
from elanite.store import owner
from elanite.store.places import ABANDONED

if TYPE_CHECKING:
    from types import TracebackType

    from elanite.store.owner import Owner
    from elanite.store.places import StorePlace

CLAIM = ".claim-"
SECONDS = 600.0
"""The time that an untouched claim holds."""

BLANK = 2.0
"""The time that a claim without an owner holds: folders with links show no claim that is being
made.
"""


@dataclass
class Lease:
    """A point that this process may simulate.

    As a context it renews itself, and is released at the end.
    """

    place: StorePlace
    identity: str
    seconds: float
    _data: bytes = field(repr=False)
    _ended: threading.Event = field(default_factory=threading.Event, repr=False)
    _thread: threading.Thread | None = field(default=None, repr=False)

    def renew(self) -> bool:
        """Hold the claim for as long as at first from now on.

        False if another process has taken it over.
        """
        name = CLAIM + self.identity
        if _load(self.place, name) != self._data:
            return False
        self.place.touch(name, self._data)
        return True

    def release(self) -> None:
        """Let others have the point. A claim that another process has taken over stays."""
        name = CLAIM + self.identity
        if _load(self.place, name) == self._data:
            self.place.take(name, self._data)

    def __enter__(self) -> Self:
        self._thread = threading.Thread(
            target=self._beat, name=f"claim {self.identity}", daemon=True
        )
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ended.set()
        if self._thread is not None:
            self._thread.join()
        with contextlib.suppress(
            ElaniteError
        ):  # the place cannot be written any more; the claim expires
            self.release()

    def _beat(self) -> None:
        while not self._ended.wait(self.seconds / 3):
            try:
                if not self.renew():
                    return
            except ElaniteError:
                pass  # the next time may be better; until then the claim is not known to be lost


def claim(place: StorePlace, identity: str, seconds: float = SECONDS) -> Lease | None:
    """Claim a point for this process; `None` if it is held.

    Raises ``StoreError`` if files cannot be made there.
    """
    name = CLAIM + identity
    data = json.dumps(
        {"owner": str(owner.own_process()), "seconds": seconds, "number": secrets.token_hex(8)}
    ).encode()
    for _ in range(3):
        if place.create(name, data):
            return Lease(place, identity, seconds, data)
        seen = _load(place, name)
        if seen is not None:
            if not is_expired(place, name, seen):
                return None
            _succeed(place, name, seen, data)
    return None


def _succeed(place: StorePlace, name: str, seen: bytes, data: bytes) -> None:
    """Remove a claim that is over, unless another successor does so: the one that has made a file
    for this claim.
    """
    turn = f"{name}.{hashlib.sha256(seen).hexdigest()[:16]}"
    if place.create(turn, data):
        place.take(name, seen)
        place.take(turn, data)
    else:
        remove_expired(place, turn)


def is_expired(place: StorePlace, name: str, seen: bytes) -> bool:
    """Whether a claim has no holder any more: the process has died, or the time is over."""
    holder, seconds = _recorded(seen)
    if holder is not None and holder.dead():
        return True
    try:
        # A time in the future is no holder's: the clock was set back since.
        return not -SECONDS <= place.age(name) <= seconds
    except FileNotFoundError:
        return True


def remove_expired(place: StorePlace, name: str) -> bool:
    """Remove a claim without a holder; True if it was removed."""
    seen = _load(place, name)
    return seen is not None and is_expired(place, name, seen) and place.take(name, seen)


def holder(data: bytes) -> Owner | None:
    """The holder of a claim with this content; `None` if the content has none."""
    return _recorded(data)[0]


def _recorded(data: bytes) -> tuple[Owner | None, float]:
    """A claim's holder and seconds.

    An empty one is just being made, or was left by a power loss.
    """
    try:
        said = json.loads(data)
        seconds = float(said["seconds"])
        return owner.parse(said["owner"]), min(seconds, ABANDONED) if seconds > 0 else SECONDS
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return None, BLANK


def _load(place: StorePlace, name: str) -> bytes | None:
    try:
        return place.load(name)
    except FileNotFoundError:
        return None
