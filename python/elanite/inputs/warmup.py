"""The sources' start: messages that arrive in a window while the arrivals are not yet stationary.

A process's first message arrives at a uniform moment within one mean time between messages, and the
next ones after times from its distribution (``crates/workload/src/source.rs``). Fixed times are
stationary from the start. Exponential times are stationary after one mean time: before, the first
messages come in addition to those that follow them, and the rate grows up to twice the nominal one.
Uniform times (from zero to twice the mean) are nearly stationary after three.

The processes of a node share its load. With many processes and a low load, the mean time between
one process's messages, processes * message / load, is long: 3.3 ms for 16 processes with 4 KB at 20
MB/s.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from elanite.base.units import stated

if TYPE_CHECKING:
    from collections.abc import Iterator

    from elanite.inputs.plan import Point

MOST = 0.05
"""The most that the offered load may exceed, or fall short of, the nominal load on average, as a
fraction.
"""

ENOUGH = {"fixed": 0.0, "exponential": 1.0, "uniform": 3.0}
"""Mean times between messages that are long enough as warm-up for a window with any length, by
distribution.
"""

LONG = 12.0
"""Mean times after which any distribution's arrivals are stationary."""

STEPS = 64
"""Steps in the integral over the first message's moment."""


@dataclass(frozen=True)
class Start:
    """A job's sources in the measured window."""

    job: str
    excess: float
    """The expected offered load over the nominal load, less 1."""
    gap_us: float
    """The mean time between a process's messages."""
    needed_us: float
    """A warm-up that is long enough."""
    searched: bool = False
    """Whether a search for the saturation point begins at this load."""


def excess(arrivals: str, begin: float, end: float) -> float:
    """The expected messages from ``begin`` to ``end`` over the stationary number, less 1; times in
    mean gaps.
    """
    return (_arrived(arrivals, end) - _arrived(arrivals, begin)) / (end - begin) - 1.0


def of_point(point: Point) -> Iterator[Start]:
    """A point's jobs."""
    content = json.loads(point.json)
    begin, window = (stated(content["run"][key]) for key in ("warm_up", "window"))
    if point.kind != "jobs" or window <= 0:
        return
    for name, job in content["workload"]["jobs"]["jobs"].items():
        gap = job.get("processes", 1) * stated(job["message"]) / stated(job["load"])
        more = excess(job["arrivals"], begin / gap, (begin + window) / gap)
        searched = "saturation" in content["workload"]["jobs"]
        yield Start(name, more, gap, gap * ENOUGH[job["arrivals"]], searched)


def long_enough(time_us: float) -> str:
    """A time that is at least as long, with one digit, as experiment files have it: ``4 ms``."""
    digit = 10.0 ** math.floor(math.log10(time_us))
    rounded = math.ceil(time_us / digit - 1e-9) * digit
    return f"{rounded / 1000:g} ms" if rounded >= 1000 else f"{rounded:g} us"


def _arrived(arrivals: str, time: float) -> float:
    """Expected messages until a time, in mean gaps: the first one is uniform within the first
    gap.
    """
    if arrivals == "fixed":
        return time
    if time > LONG:
        return _arrived(arrivals, LONG) + time - LONG
    last = min(time, 1.0)
    if arrivals == "exponential":
        return last * (1.0 + time) - last * last / 2
    step = last / STEPS
    return step * sum(_renewals((time - (index + 0.5) * step) / 2) for index in range(STEPS))


def _renewals(time: float) -> float:
    """Expected renewals until a time, with the one at time 0, for times uniform between 0 and 1."""
    return sum(
        (k - time) ** k / math.factorial(k) * math.exp(time - k) for k in range(int(time) + 1)
    )
