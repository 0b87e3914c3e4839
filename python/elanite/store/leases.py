"""Claims: who simulates a point now, so that others mostly do something else.

A claim is a file ``.claim-<id>`` that only one process can make: exclusive creation is atomic on local file systems,
on NFS since version 3, and on object stores with conditional writes. The file says who holds the claim, and for how
many seconds. While a claim is in use as a context, a thread touches the file three times within these seconds, so that
a long point keeps its claim. A claim of a process that has provably died, and one that nobody has touched for its
seconds, is taken over: the process was killed, or its host. The seconds are those of the clock of the file system
(``places``).

Claims save work, and nothing depends on them: whoever has lost a claim without knowing it writes the same bytes as its
successor, and the store keeps one of the two. Of several successors of a claim one wins: the one that makes a file
named after the claim's content, which only one can make, removes the claim.
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
    from elanite.store.places import Place

CLAIM = ".claim-"
SECONDS = 600.0
"""For how long a claim holds that nobody touches."""

BLANK = 2.0
"""For how long a claim holds that does not say whose it is: folders with links show no claim that is being made."""


@dataclass
class Claim:
    """A point that this process may simulate. As a context it renews itself, and is released at the end."""

    place: Place
    identity: str
    seconds: float
    _data: bytes = field(repr=False)
    _ended: threading.Event = field(default_factory=threading.Event, repr=False)
    _thread: threading.Thread | None = field(default=None, repr=False)

    def renew(self) -> bool:
        """Hold the claim for as long as at first from now on. False if another process has taken it over."""
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
        self._thread = threading.Thread(target=self._beat, name=f"claim {self.identity}", daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        if self._thread is not None:
            self._thread.join()
        with contextlib.suppress(ElaniteError):  # the place cannot be written any more; the claim expires
            self.release()

    def _beat(self) -> None:
        while not self._ended.wait(self.seconds / 3):
            try:
                if not self.renew():
                    return
            except ElaniteError:
                pass  # the next time may be better; until then the claim is not known to be lost


def claim(place: Place, identity: str, seconds: float = SECONDS) -> Claim | None:
    """Claim a point for this process; None if somebody holds it. Raises ``StoreError`` if nothing can be made there."""
    name = CLAIM + identity
    data = json.dumps({"owner": str(owner.here()), "seconds": seconds, "number": secrets.token_hex(8)}).encode()
    for _ in range(3):
        if place.create(name, data):
            return Claim(place, identity, seconds, data)
        seen = _load(place, name)
        if seen is not None:
            if not over(place, name, seen):
                return None
            _succeed(place, name, seen, data)
    return None


def _succeed(place: Place, name: str, seen: bytes, data: bytes) -> None:
    """Remove a claim that is over, unless another successor does so: the one that has made a file for this claim."""
    turn = f"{name}.{hashlib.sha256(seen).hexdigest()[:16]}"
    if place.create(turn, data):
        place.take(name, seen)
        place.take(turn, data)
    else:
        forsaken(place, turn)


def over(place: Place, name: str, seen: bytes) -> bool:
    """Whether nobody holds a claim any more: the process has died, or the time is over."""
    holder, seconds = _said(seen)
    if holder is not None and holder.dead():
        return True
    try:
        return place.age(name) > seconds
    except FileNotFoundError:
        return True


def forsaken(place: Place, name: str) -> bool:
    """Remove a claim that nobody holds any more; True if it was removed."""
    seen = _load(place, name)
    return seen is not None and over(place, name, seen) and place.take(name, seen)


def holder(data: bytes) -> Owner | None:
    """Who holds a claim that has this content; None if the content does not say."""
    return _said(data)[0]


def _said(data: bytes) -> tuple[Owner | None, float]:
    """The holder of a claim and its seconds. One that says nothing is just being made, or is what a power loss left."""
    try:
        said = json.loads(data)
        seconds = float(said["seconds"])
        return owner.parse(said["owner"]), min(seconds, ABANDONED) if seconds > 0 else SECONDS
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return None, BLANK


def _load(place: Place, name: str) -> bytes | None:
    try:
        return place.load(name)
    except FileNotFoundError:
        return None
