"""Whether a load is steady, saturated or undecided: one answer for figures, findings and tables.

The simulator decides for each run whether the queues of the sources grow in its window (``saturated``). A short window
or few messages mislead this test, so that the accepted load has a say, too. A point is *saturated* if all of its seeds
are, and *steady* if none is and the accepted load is not below the offered load by more than 5% beyond its confidence
interval. Any other point is *undecided*: its window is too short, or its seeds differ.
"""

from __future__ import annotations

from enum import StrEnum

LOST = 0.05
"""The part of the offered load by which the accepted load of a steady point is below it at most."""


class State(StrEnum):
    """The state of the sources' queues."""

    STEADY = "steady"
    SATURATED = "saturated"
    UNDECIDED = "undecided"


def state(saturated: float | None, high: float | None, offered: float | None) -> State:
    """The state of a point.

    ``saturated`` is the part of its seeds that are saturated, None if this is not measured. ``high`` is the upper end
    of the interval of the accepted load, and ``offered`` the offered load, in the same unit.
    """
    if saturated is not None and saturated >= 1.0:
        return State.SATURATED
    below = high is not None and offered is not None and high < (1.0 - LOST) * offered
    return State.UNDECIDED if below or saturated else State.STEADY
