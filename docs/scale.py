"""Simulate the scheduling of a million-point campaign, and write the table and figure in
docs/scale-million.md.

    python docs/scale.py docs/scale-million.md

Events are discrete. The scheduler is one server: it hands one batch to a worker in `SERVICES`
seconds, and requesting workers queue. A worker simulates its batch point by point; the resulting
store operations go to one file server, which also has a queue. Points are drawn at random:
processor seconds are lognormal, and the estimate differs from them by another lognormal factor,
since the cost model is good to a factor of two. Batches are formed from the estimates as in
``elanite.campaign.batches``, and the long ones go first. Left out: worker faults, data transfers,
the network. Requests were counted; the times are assumptions, which the page states.
"""

from __future__ import annotations

import heapq
import itertools
import math
import random
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import altair as alt

from elanite.campaign.batches import MOST

if TYPE_CHECKING:
    from collections.abc import Sequence

POINTS = 1_000_000
MEAN = 10.0
"""Mean processor seconds per point."""

SPREAD, DOUBT = 1.5, 0.6
"""Standard deviations of the logarithms of the seconds, and of the factor between the seconds and
the estimate.
"""

REQUESTS = 35
"""A point's requests to the file server: opens, creations, syncs, renames; counted by strace."""

SERVERS = (10_000, 100_000)
"""Requests per second served by the file server: one server, or a parallel file system."""

WORKERS = (64, 256, 1024, 4096, 16384)
SERVICES = (0.001, 0.01)
LENGTHS = (1.0, 3.0, 10.0, 30.0, 100.0, 300.0)
"""Estimated seconds per batch."""

USUAL = 30.0


@dataclass(frozen=True)
class Campaign:
    """The outcome of a simulated campaign."""

    workers: int
    service: float
    rate: int
    """File server capacity, requests per second."""
    length: float
    tasks: int
    wall: float
    """Seconds."""
    efficiency: float
    """The share of worker time spent on simulation."""
    scheduler: float
    """The scheduler's busy share."""
    server: float
    """The file server's busy share."""
    claims: float
    """Claims per second, made and released."""


def points(seed: int = 1) -> list[tuple[float, float]]:
    """Estimated and true processor seconds per point, the longest estimate first."""
    draw = random.Random(seed)  # noqa: S311 - no cryptography
    drawn = []
    for _ in range(POINTS):
        seconds = MEAN * math.exp(draw.gauss(-(SPREAD**2) / 2, SPREAD))
        drawn.append((seconds * math.exp(draw.gauss(0, DOUBT)), seconds))
    return sorted(drawn, reverse=True)


def batches(drawn: Sequence[tuple[float, float]], length: float) -> list[tuple[int, float]]:
    """Point count and true processor seconds per batch."""
    found: list[tuple[int, float]] = []
    count, estimate, seconds = 0, 0.0, 0.0
    for expected, true in drawn:
        if count and (estimate + expected > length or count == MOST):
            found.append((count, seconds))
            count, estimate, seconds = 0, 0.0, 0.0
        count, estimate, seconds = count + 1, estimate + expected, seconds + true
    return [*found, (count, seconds)]


def campaign(
    work: Sequence[tuple[int, float]], workers: int, service: float, rate: int, length: float
) -> Campaign:
    """Run a campaign. A batch's requests to the file server are one long request at its end."""
    computing, wall = 0.0, 0.0
    scheduler = server = 0.0  # when each is free again
    asked = handed = stored = 0.0
    following = iter(work)
    events: list[tuple[float, int, int, float]] = [(0.0, 0, 0, 0.0)] * workers
    # An event is a time, a kind (0: a worker requests a batch, 1: it has simulated one), points,
    # seconds.
    while events:
        now, what, count, seconds = heapq.heappop(events)
        if what:
            server = max(now, server) + count * REQUESTS / rate
            stored += count * REQUESTS / rate
            wall = max(wall, server)
            heapq.heappush(events, (server, 0, 0, 0.0))
            continue
        batch = next(following, None)
        if batch is None:
            continue
        count, seconds = batch
        scheduler = max(now, scheduler) + service
        handed += service
        asked += 1
        computing += seconds
        heapq.heappush(events, (scheduler + seconds, 1, count, seconds))
    return Campaign(
        workers=workers,
        service=service,
        rate=rate,
        length=length,
        tasks=int(asked),
        wall=wall,
        efficiency=computing / (workers * wall),
        scheduler=handed / wall,
        server=stored / wall,
        claims=2 * POINTS / wall,
    )


def table(found: Sequence[Campaign]) -> list[str]:
    """The campaigns with the usual batch length and the slower scheduler."""
    lines = [
        (
            "| workers | requests/s | tasks | hours | workers simulate | scheduler busy | file"
            " server busy | claims/s |"
        ),
        "|---|---|---|---|---|---|---|---|",
    ]
    for each in found:
        if each.length == USUAL and each.service == SERVICES[-1]:
            shares = " | ".join(
                f"{share:.1%}" for share in (each.efficiency, each.scheduler, each.server)
            )
            hours, claims = f"{each.wall / 3600:,.2f}", f"{each.claims:,.0f}"
            lines.append(
                f"| {each.workers:,} | {each.rate:,} | {each.tasks:,} | {hours} | {shares} |"
                f" {claims} |"
            )
    return lines


def draw(found: Sequence[Campaign], picture: Path) -> None:
    """Efficiency over batch length, a line per worker count."""
    rows: list[dict[str, Any]] = [
        {
            "length": each.length,
            "efficiency": 100 * each.efficiency,
            "workers": f"{each.workers:,}",
            "task": f"scheduler: {each.service * 1e3:.0f} ms per task",
            "server": f"store: {each.rate:,} requests/s",
        }
        for each in found
    ]
    length = alt.X("length:Q", title="length of batches, s", scale=alt.Scale(type="log"))
    efficiency = alt.Y(
        "efficiency:Q", title="time in which workers simulate, %", scale=alt.Scale(domain=[0, 100])
    )
    order = [f"{workers:,}" for workers in WORKERS]
    color = alt.Color("workers:N", title="workers", sort=order)
    chart = (
        alt.Chart(alt.Data(values=rows))
        .mark_line(point=True)
        .encode(x=length, y=efficiency, color=color)
    )
    column, row = alt.Column("task:N", title=None), alt.Row("server:N", title=None)
    facets = chart.properties(width=260, height=180).facet(column=column, row=row)
    facets.properties(background="white").save(str(picture))


def main() -> None:
    """Replace the text between the page's marks, and draw the figure."""
    page = Path(sys.argv[1])
    drawn = points()
    found = []
    for length in LENGTHS:
        work = batches(drawn, length)
        cases = itertools.product(WORKERS, SERVICES, SERVERS)
        found += [
            campaign(work, workers, service, rate, length) for workers, service, rate in cases
        ]
    found.sort(key=lambda each: (each.rate, each.workers, each.service, each.length))
    text = page.read_text(encoding="utf-8")
    marks = re.compile(r"(<!-- simulated -->\n).*?(<!-- end -->)", re.DOTALL)
    if not marks.search(text):
        raise SystemExit(f"{page}: there are no marks <!-- simulated --> and <!-- end -->")
    text = marks.sub(lambda mark: mark[1] + "\n".join(table(found)) + "\n" + mark[2], text)
    page.write_text(text, encoding="utf-8")
    draw(found, page.with_name("scale-batches.svg"))


if __name__ == "__main__":
    main()
