"""A packet picture: a network over a few microseconds, with the circuits that packets open, hold
and close.

The picture comes from the table ``circuits`` for a point with ``watch`` in its run. A table row is
a channel on a packet's way, and at any moment the channel is in one of four states:

- *waits*: the header is at the link's start and has no channel; the picture names the holders of
  the channels that the header wants;
- *opens*: the packet has the channel, and its first flit has not left yet;
- *carries*: flits cross the link;
- *held*: the last flit has gone, and the channel stays taken until the end-of-packet token has
  passed. This is the cost of holding a circuit until its acknowledgement.

``Scene.at`` returns the states at a moment; the page computes the same states in the browser, and a
test compares the two. The page is one file that needs no network. It shows one rail at a time, and
zooms into networks of up to 1,024 nodes.

The kept run of an MPI program, or a replay, has no circuits in its records, but messages and the
load of links over time. Its scene has these: a message leads straight from node to node, from its
post to its arrival, over links that have the colour of their load.
"""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypedDict

from elanite.base import bounded, html
from elanite.base.text import plain
from elanite.base.units import stated
from elanite.errors import UsageError
from elanite.report.network import network

if TYPE_CHECKING:
    import polars as pl

    from elanite.inputs.plan import Point
    from elanite.mpirun.run_tables import KeptRun
    from elanite.report.network import NetworkDrawing
    from elanite.store import Store

MOST_NODES = 1024
"""Nodes in a picture into which one can zoom."""

MOST_ROWS = 200_000
"""Packet channels, messages or loads of links that a browser draws without delay."""

_MOMENTS = ("waits", "opened", "head", "tail", "closed", "delivered", "acknowledged")


Held = tuple[int, int, int, float, float | None, float | None, float | None, float | None]
"""A packet's channel: hop, link, channel, waits, opened, head, tail, closed."""

Message = tuple[int, int, int, int, int, float, float | None]
"""A message between two nodes: source and destination rank, their nodes, bytes, posted, arrived
(`None`: never).
"""

Load = tuple[float, float, list[tuple[int, int]]]
"""A period's begin and end, and its busy links with their loads in thousandths."""


class Packet(TypedDict):
    """A packet; times in ns, `None` before the event."""

    source: int
    rail: int
    sequence: int
    first: int
    last: int
    flits: int
    delivered: float | None
    acknowledged: float | None
    way: list[Held]


@dataclass(frozen=True)
class Scene:
    """The events in one point's watched time, or in a run. All times are in ns from its start."""

    title: str
    about: str
    """The point's parameters, in words."""
    length: float
    """The watched time's length."""
    network: NetworkDrawing
    packets: list[Packet] = field(default_factory=list)
    """``source``, ``rail``, ``sequence``, ``first``, ``last``, ``flits``, ``delivered``,
    ``acknowledged``, and the channels ``way``: lists of hop, link, channel, waits, opened, head,
    tail, closed; `None` before the event.
    """
    messages: list[Message] | None = None
    """A run's messages between nodes, in posting order; `None` for a point."""
    loads: list[Load] = field(default_factory=list)
    """A run's load of links over time."""

    def at(self, time: float) -> list[tuple[int, int, str]]:
        """The packet's place in ``packets``, the link's number and the state, for all channels at a
        moment.
        """
        found = []
        for place, packet in enumerate(self.packets):
            for _, link, _, waits, opened, head, tail, closed in packet["way"]:
                state = _state(time, waits, opened, head, tail, closed)
                if state:
                    found.append((place, link, state))
        return found

    def sent(self, time: float) -> list[int]:
        """The places of the messages that are on their way at a moment."""
        return [
            place
            for place, (*_, posted, arrived) in enumerate(self.messages or [])
            if posted <= time and (arrived is None or time < arrived)
        ]

    def page(self) -> str:
        """The page as text."""
        import jinja2

        environment = jinja2.Environment(
            autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True
        )
        drawn = self.network
        about = {name: getattr(self, name) for name in ("length", "packets", "messages", "loads")}
        about |= {
            name: getattr(drawn, name)
            for name in ("nodes", "rails", "spots", "links", "aspect", "pitch")
        }
        texts = {name: _template(f"watch.{name}") for name in ("css", "js")}
        template = environment.from_string(_template("watch.html.j2"))
        return template.render(
            title=self.title,
            about=self.about,
            scene=html.embedded(about),
            rails=drawn.rails,
            run=self.messages is not None,
            speeds=_speeds(self.length) if self.messages is not None else _SPEEDS,
            **texts,
        )


_SPEEDS = [(50, "50 ns"), (200, "200 ns"), (1000, "1 µs"), (4000, "4 µs")]
"""Simulated time in a second of a packet picture, in ns and in words."""


def _speeds(length: float) -> list[tuple[float, str]]:
    """Speeds at which a run lasts 5 minutes, 1 minute, 20 seconds and 5 seconds."""
    found = [max(1.0, length / seconds) for seconds in (300, 60, 20, 5)]
    return [(speed, f"{speed / 1e3:,.3g} µs") for speed in found]


def _state(
    time: float,
    waits: float,
    opened: float | None,
    head: float | None,
    tail: float | None,
    closed: float | None,
) -> str | None:
    """The state of a packet's channel at a moment, if it has any."""
    if time < waits or (closed is not None and time >= closed):
        return None
    for moment, state in ((opened, "waits"), (head, "opens"), (tail, "carries")):
        if moment is None or time < moment:
            return state
    return "held"


def check(point: Point) -> None:
    """Raise ``UsageError`` if a point's packets cannot be shown."""
    if point.kind != "jobs":
        raise UsageError(
            f"{point.experiment} {point.series} is a {point.kind}; packets are shown of jobs, for"
            " example of qsnet/uniform"
        )
    nodes = int(json.loads(point.json)["machine"]["topology"]["nodes"]["value"])
    if nodes > MOST_NODES:
        raise UsageError(
            f"{point.machine} has {nodes:,} nodes; the picture shows at most {MOST_NODES:,}\n "
            " Choose a smaller machine with --machine, or with --set topology.nodes=... and --set"
            " topology.down=..."
        )


def scene(point: Point, store: Store) -> Scene:
    """A finished point's scene.

    Raises ``UsageError`` if the point was not watched, or cannot be shown.
    """
    check(point)
    length = stated(point.run["watch"], "us")
    if length == 0:
        raise UsageError(f"point {point.id} was not watched; set run.watch, for example to 20 us")
    rows = store.table(point.id, "circuits")
    if len(rows) > MOST_ROWS:
        raise UsageError(
            f"{len(rows):,} channels were held in {point.run['watch']}; watch a shorter time: --for"
        )
    begin = stated(point.run["warm_up"], "us")
    parameters = ", ".join(f"{key} {plain(value)}" for key, value in point.parameters.items())
    return Scene(
        title=f"{point.experiment}, {point.series}",
        about=(
            f"{point.machine}; {parameters}; seed {point.seed}"
            if parameters
            else f"{point.machine}; seed {point.seed}"
        ),
        length=length * 1e3,
        network=network(point.json),
        packets=_packets(rows, begin * 1e6),
    )


def of_run(kept: KeptRun) -> Scene:
    """The scene of a kept run or replay.

    Raises ``UsageError`` if it has no network, more nodes or messages than fit, or did not keep its
    messages.
    """
    about, folder = kept.manifest, kept.folder
    if about["options"].get("network") == "ideal":
        raise UsageError(
            f"{folder}: the ideal network has no links; run it on the machine's network"
        )
    drawn = network(json.dumps(about["point"]))
    if drawn.nodes > MOST_NODES:
        raise UsageError(
            f"{about['machine']} has {drawn.nodes:,} nodes; the picture shows at most"
            f" {MOST_NODES:,}"
        )
    ranks = kept.table("ranks")
    series = kept.table("series")
    if not len(series):
        keeps = "--html FILE or --timeline FILE" if "program" in about else "--operations"
        raise UsageError(
            f"{folder} has no load of links over time; repeat the run with {keeps}, which keeps it"
        )
    messages = _messages(kept, dict(ranks.select("rank", "node").iter_rows()))
    loads = _loads(series)
    rows = len(messages) + sum(len(links) for *_, links in loads)
    if rows > MOST_ROWS:
        raise UsageError(
            f"{folder} has {rows:,} messages and loads of links; the picture shows {MOST_ROWS:,}"
        )
    words = shlex.join(about["program"]) if "program" in about else f"replay {about['id']}"
    return Scene(
        title=words,
        about=f"{about['options']['ranks']:,} ranks on {about['machine']}",
        length=about["time_us"] * 1e3,
        network=drawn,
        messages=messages,
        loads=loads,
    )


def _messages(kept: KeptRun, nodes: dict[int, int]) -> list[Message]:
    """A run's messages between nodes; those within a node do not cross the network."""
    import polars as pl

    from elanite.report.pages.lanes import messages_of, timed

    if "program" in kept.manifest:
        times = {"begin": 1e3 * pl.col("posted_us"), "end": 1e3 * pl.col("arrived_us")}
        rows = kept.table("messages").with_columns(**times)
    else:
        times = {"begin": pl.col("begin_ps") / 1e3, "end": pl.col("end_ps") / 1e3}
        rows = messages_of(timed(kept.table("operations"))).with_columns(**times)
    rows = rows.select("source", "destination", "bytes", pl.col("begin", "end").round(3)).sort(
        "begin", "source", "destination", maintain_order=True
    )
    found: list[Message] = []
    for source, destination, size, begin, end in rows.iter_rows():
        if nodes[source] != nodes[destination]:
            found.append((source, destination, nodes[source], nodes[destination], size, begin, end))
    return found


def _loads(series: pl.DataFrame) -> list[Load]:
    """The periods with their busy links."""
    import polars as pl

    rows = series.filter(pl.col("thing") == "link", pl.col("busy") > 0).sort("time_us", "id")
    found: dict[tuple[float, float], list[tuple[int, int]]] = {}
    for begin, end, link, busy in rows.select("time_us", "end_us", "id", "busy").iter_rows():
        period = (round(1e3 * begin, 3), round(1e3 * end, 3))
        found.setdefault(period, []).append((link, round(1000 * busy)))
    return [(begin, end, links) for (begin, end), links in found.items()]


def _packets(rows: pl.DataFrame, begin_ps: float) -> list[Packet]:
    """The packets with their channels, in source order."""
    import polars as pl

    names = {f"{moment}_ps": moment for moment in _MOMENTS}
    begun = rows.select(
        *("source", "rail", "sequence", "first", "last", "flits", "hop", "link", "channel"),
        *(
            ((pl.col(column).cast(pl.Int64) - int(begin_ps)) / 1000).alias(name)
            for column, name in names.items()
        ),
    ).sort("source", "rail", "sequence", "hop", "link")
    found: dict[tuple[int, int, int], Packet] = {}
    for row in begun.iter_rows(named=True):
        packet = found.setdefault(
            (row["source"], row["rail"], row["sequence"]),
            {
                "source": row["source"],
                "rail": row["rail"],
                "sequence": row["sequence"],
                "first": row["first"],
                "last": row["last"],
                "flits": row["flits"],
                "delivered": row["delivered"],
                "acknowledged": row["acknowledged"],
                "way": [],
            },
        )
        waits, opened, head, tail, closed = (row[key] for key in _MOMENTS[:5])
        packet["way"].append(
            (row["hop"], row["link"], row["channel"], waits, opened, head, tail, closed)
        )
    return list(found.values())


def _template(name: str) -> str:
    return bounded.packaged("templates", name)
