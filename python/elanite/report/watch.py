"""A packet picture: a fat tree over a few microseconds, with the circuits that packets open, hold and close.

The picture comes from the table ``circuits`` for a point with ``watch`` in its run. A table row is a channel on a
packet's way, and at any moment the channel is in one of four states:

- *waits*: the header is at the link's start and has no channel; the picture names the holders of the channels that the
  header wants;
- *opens*: the packet has the channel, and its first flit has not left yet;
- *carries*: flits cross the link;
- *held*: the last flit has gone, and the channel stays taken until the end-of-packet token has passed. This is the cost
  of holding a circuit until its acknowledgement.

``Scene.at`` returns the states at a moment; the page computes the same states in the browser, and a test compares the
two. The page is one file that needs no network. It is for networks that fit a screen: fat trees with at most 64 nodes
and one rail.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict

from elanite import _core
from elanite.base import bounded, html
from elanite.base.text import plain
from elanite.base.units import stated
from elanite.errors import UsageError
from elanite.store import frame

if TYPE_CHECKING:
    import polars as pl

    from elanite.inputs.plan import Point
    from elanite.store import Store

MOST_NODES = 64
"""Nodes that fit a screen."""

MOST_ROWS = 200_000
"""Packet channels that a browser draws without delay."""

_MOMENTS = ("waits", "opened", "head", "tail", "closed", "delivered", "acknowledged")


Held = tuple[int, int, int, float, float | None, float | None, float | None, float | None]
"""A packet's channel: hop, link, channel, waits, opened, head, tail, closed."""


class Packet(TypedDict):
    """A packet; times in ns, `None` before the event."""

    source: int
    sequence: int
    first: int
    last: int
    flits: int
    delivered: float | None
    acknowledged: float | None
    way: list[Held]


@dataclass(frozen=True)
class Scene:
    """The events in one point's watched time. All times are in ns from its start."""

    title: str
    about: str
    """The point's parameters, in words."""
    length: float
    """The watched time's length."""
    nodes: int
    switches: list[dict[str, int | str | float]]
    """``id``, ``name``, ``level`` (from 1) and ``x``, from 0 to 1, by number."""
    links: list[dict[str, int | str]]
    """By number: the ends ``from`` and ``to`` (a node's number, or the node count plus a switch's number), the
    ``name``, and the ``group`` number: a group's links lead to the same place, or upwards from the same switch."""
    packets: list[Packet]
    """``source``, ``sequence``, ``first``, ``last``, ``flits``, ``delivered``, ``acknowledged``, and the channels
    ``way``: lists of hop, link, channel, waits, opened, head, tail, closed; `None` before the event."""

    def at(self, time: float) -> list[tuple[int, int, str]]:
        """The packet's place in ``packets``, the link's number and the state, for all channels at a moment."""
        found = []
        for place, packet in enumerate(self.packets):
            for _, link, _, waits, opened, head, tail, closed in packet["way"]:
                state = _state(time, waits, opened, head, tail, closed)
                if state:
                    found.append((place, link, state))
        return found

    def page(self) -> str:
        """The page as text."""
        import jinja2

        environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
        about = {name: getattr(self, name) for name in ("length", "nodes", "switches", "links", "packets")}
        scene = html.embedded(about)
        texts = {name: _template(f"watch.{name}") for name in ("css", "js")}
        template = environment.from_string(_template("watch.html.j2"))
        return template.render(title=self.title, about=self.about, scene=scene, **texts)


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
            f"{point.experiment} {point.series} is a {point.kind}; packets are shown of jobs, for example of"
            " qsnet/uniform"
        )
    nodes, rails = _size(point)
    if nodes > MOST_NODES or rails > 1 or not _is_tree(point):
        several = f" and {rails} rails" if rails > 1 else ""
        shape = "" if _is_tree(point) else " in a network that is no tree"
        raise UsageError(
            f"{point.machine} has {nodes} nodes{several}{shape}; the picture shows fat trees of at most"
            f" {MOST_NODES} nodes with one rail\n  Choose a smaller machine with --machine, or with"
            " --set topology.nodes=... and --set topology.down=..."
        )


def scene(point: Point, store: Store) -> Scene:
    """A finished point's scene.

    Raises ``UsageError`` if the point was not watched, or cannot be shown.
    """
    check(point)
    length = stated(point.run["watch"], "us")
    if length == 0:
        raise UsageError(f"point {point.id} was not watched; set run.watch, for example to 20 us")
    wiring = frame(_core.wiring(point.json))
    nodes, _ = _size(point)
    rows = store.table(point.id, "circuits")
    if len(rows) > MOST_ROWS:
        raise UsageError(f"{len(rows):,} channels were held in {point.run['watch']}; watch a shorter time: --for")
    begin = stated(point.run["warm_up"], "us")
    parameters = ", ".join(f"{key} {plain(value)}" for key, value in point.parameters.items())
    switches, links = _layout(wiring, nodes)
    return Scene(
        title=f"{point.experiment}, {point.series}",
        about=f"{point.machine}; {parameters}; seed {point.seed}"
        if parameters
        else f"{point.machine}; seed {point.seed}",
        length=length * 1e3,
        nodes=nodes,
        switches=switches,
        links=links,
        packets=_packets(rows, begin * 1e6),
    )


def _packets(rows: pl.DataFrame, begin_ps: float) -> list[Packet]:
    """The packets with their channels, in source order."""
    import polars as pl

    names = {f"{moment}_ps": moment for moment in _MOMENTS}
    begun = rows.select(
        *("source", "sequence", "first", "last", "flits", "hop", "link", "channel"),
        *(((pl.col(column).cast(pl.Int64) - int(begin_ps)) / 1000).alias(name) for column, name in names.items()),
    ).sort("source", "sequence", "hop", "link")
    found: dict[tuple[int, int], Packet] = {}
    for row in begun.iter_rows(named=True):
        packet = found.setdefault(
            (row["source"], row["sequence"]),
            {
                "source": row["source"],
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
        packet["way"].append((row["hop"], row["link"], row["channel"], waits, opened, head, tail, closed))
    return list(found.values())


def _layout(wiring: pl.DataFrame, nodes: int) -> tuple[list[dict[str, int | str | float]], list[dict[str, int | str]]]:
    """Switches with their places, and links with their ends' numbers."""
    leaving = wiring.drop_nulls("switch").unique("switch").sort("switch")
    switches: list[dict[str, int | str | float]] = []
    for level in sorted(set(leaving["level"])):
        of_level = leaving.filter(leaving["level"] == level)
        for place, row in enumerate(of_level.iter_rows(named=True)):
            x = (place + 0.5) / len(of_level)
            switches.append({"id": row["switch"], "name": row["from"], "level": level, "x": x})
    groups: dict[tuple[str, str], int] = {}
    links: list[dict[str, int | str]] = []
    for row in wiring.sort("link").iter_rows(named=True):
        start = _end(row["from"], row["switch"], nodes)
        end = _end(row["to"], row["enters"], nodes)
        group = groups.setdefault((row["from"], "up" if row["up"] else row["to"]), len(groups))
        links.append({"from": start, "to": end, "name": f"{row['from']} → {row['to']}", "group": group})
    return switches, links


def _end(name: str, switch: int | None, nodes: int) -> int:
    return int(name.removeprefix("node ")) if switch is None else nodes + switch


def _size(point: Point) -> tuple[int, int]:
    """How many nodes and rails the machine has."""
    adapters = {row["from"] for row in frame(_core.wiring(point.json)).iter_rows(named=True) if row["switch"] is None}
    rails = {name.partition(" of rail ")[2] for name in adapters}
    return len(adapters) // len(rails), len(rails)


def _is_tree(point: Point) -> bool:
    return "down" in json.loads(point.json)["machine"]["topology"]


def _template(name: str) -> str:
    return bounded.packaged("templates", name)
