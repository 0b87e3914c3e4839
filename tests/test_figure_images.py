"""Correct pictures of figures that were wrong once: compared as drawings, by eye once, then by this
test.

A picture is kept as SVG. Another one is alike if it has the same elements, colours and texts, and
all numbers within some pixels: another host's fonts move axes and legends a little.
``--snapshot-update`` renews the pictures.
"""

from __future__ import annotations

import itertools
import json
import re
from random import Random
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import altair as alt
import polars as pl
import pytest
import vl_convert
from syrupy.extensions.image import SVGImageSnapshotExtension

from conftest import figures_of, frame
from elanite import figures
from elanite.figures import default_figures
from test_figure_grouping import base
from test_multirail_figures import FIVE, drawn
from test_multirail_measures import KB, point

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from syrupy.assertion import SnapshotAssertion

    from elanite.figures import Figure

Row = dict[str, Any]

NEAR = 6.0
"""Pixels by which numbers may differ."""

NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")


class Picture(SVGImageSnapshotExtension):
    """A picture that is compared as a drawing."""

    def matches(self, *, serialized_data: Any, snapshot_data: Any) -> bool:
        return alike(serialized_data, snapshot_data)


def alike(one: bytes, other: bytes) -> bool:
    """Whether two pictures have the same elements, texts and colours, at nearly the same places."""
    pairs = itertools.zip_longest(_elements(one), _elements(other))
    return all(
        a is not None and b is not None and a[0] == b[0] and _near(a[1], b[1]) for a, b in pairs
    )


def _elements(picture: bytes) -> Iterator[tuple[str, list[float]]]:
    """A picture's elements: the host-independent parts, and the numbers."""
    for element in ET.fromstring(picture).iter():  # noqa: S314 - a picture of our own
        words = {**element.attrib, "": element.tag, "text": element.text or ""}
        exact = {
            key
            for key in words
            if key in ("fill", "stroke", "text", "class") or key.startswith("aria")
        }
        same = [
            f"{key}={text}" if key in exact else f"{key}={NUMBER.sub('#', text)}"
            for key, text in words.items()
        ]
        numbers = [
            float(n)
            for key, text in words.items()
            if key not in exact
            for n in NUMBER.findall(text)
        ]
        yield "|".join(sorted(same)), numbers


def _near(one: list[float], other: list[float]) -> bool:
    return len(one) == len(other) and all(
        abs(a - b) <= NEAR for a, b in zip(one, other, strict=True)
    )


def picture(found: list[Figure]) -> str:
    """All of some figures in one picture."""
    charts = alt.concat(*(figure.chart for figure in found), columns=2)
    apart = charts.resolve_scale(color="independent", shape="independent", fill="independent")
    svg: str = vl_convert.vegalite_to_svg(json.dumps(apart.to_dict(validate=True)))
    short = re.sub(r' aria-roledescription="[^"]*"', "", svg)
    return re.sub(
        r' (d|transform)="[^"]*"', lambda found: re.sub(r"(\.\d)\d+", r"\1", found[0]), short
    )


def traffic(patterns: tuple[str, ...] = ("uniform",), **more: tuple[str, ...]) -> pl.DataFrame:
    """Accepted and offered load for patterns, and for other parameters, over three loads; four
    batches each.
    """
    random = Random(1)
    keys = {**more, "pattern": patterns, "load": ("10 GB/s", "20 GB/s", "40 GB/s")}
    rows: list[Row] = []
    for index, one in enumerate(itertools.product(*keys.values())):
        here = {"series": "load", "seed": 1, **dict(zip(keys, one, strict=True))}
        load = 1000.0 * int(here["load"].split()[0])
        most = 22_000.0 + 1_400 * patterns.index(here["pattern"]) + 6_000 * ("fast" in one)
        most *= {"[10]": 0.5, "[20]": 0.9}.get(one[0], 1.0)
        accepted = min(load, most)
        here |= {"id": str(index), "load_MBps": load}
        for batch in range(4):
            values = {
                "accepted": accepted * random.uniform(0.99, 1.01),
                "offered": load * random.uniform(0.99, 1.01),
            }
            values["latency_mean"] = 2 + load / 4_000 * (1 + 3 * (load > most)) * random.uniform(
                0.9, 1.1
            )
            rows += [
                here | {"metric": name, "unit": "", "batch": batch, "value": v}
                for name, v in values.items()
            ]
        rows.append(
            here | {"metric": "saturated", "unit": "", "batch": None, "value": float(load > most)}
        )
    return frame(rows)


def pings(**more: tuple[str, ...]) -> pl.DataFrame:
    """Ping latency and bandwidth by buffer memory, on several machines."""
    sizes = {"0 B": 0, "64 B": 64, "4 KB": 4096, "64 KB": 65536, "4 MB": 4194304}
    keys = {
        **more,
        "source": ("elan", "main"),
        "destination": ("elan", "main"),
        "message": tuple(sizes),
    }
    rows: list[Row] = []
    for one in itertools.product(*keys.values()):
        here: Row = {
            "series": "size",
            "seed": 1,
            "directions": "one",
            **dict(zip(keys, one, strict=True)),
        }
        size, new = sizes[here["message"]], here.get("on") in ("infiniband-ndr", "fast")
        most = (47_000.0 if new else 335.0) / (
            1.4 if "main" in (here["source"], here["destination"]) else 1.0
        )
        latency = (1.0 if new else 2.2) + (here["source"] == "main") * 0.4 + size / most
        here |= {"id": str(one), "message_bytes": size, "batch": None}
        rows.append(here | {"metric": "latency", "unit": "us", "value": latency})
        rows.append(here | {"metric": "bandwidth", "unit": "MB/s", "value": size / latency})
    return frame(rows)


def own(rows: pl.DataFrame, **wanted: Any) -> list[Figure]:
    return figures.draw(base() | wanted, rows)


def hot_spot() -> list[Figure]:
    common = {"series": "nodes", "seed": 1, "sizes": "uniform", "arrivals": "uniform", "nodes": 64}
    rows = [
        common
        | {
            "node": node,
            "accepted": 7.8 if node < 4 else 5.2 if node < 16 else 4.2 + 0.02 * (node % 3),
        }
        for node in range(1, 64)
    ]
    return figures_of("qsnet/hotspot", frame(rows), "nodes")


def slingshot() -> list[Figure]:
    sizes = {
        "1 B": 1,
        "8 B": 8,
        "256 B": 256,
        "2 KB": 2048,
        "8 KB": 8192,
        "64 KB": 65536,
        "4 MB": 4194304,
    }
    rows = [
        {
            "series": "ping",
            "seed": 1,
            "directions": directions,
            "message": text,
            "message_bytes": size,
            "batch": None,
        }
        | {"metric": metric, "unit": "", "value": value}
        for directions, part in (("one", 1.0), ("both", 0.98))
        for text, size in sizes.items()
        for metric, value in (
            ("latency", 1.9 + size / 3000),
            ("bandwidth", part * size / (1.9 + size / 24_500)),
        )
    ]
    return figures_of("today/slingshot", frame(rows))


def up_links() -> list[Figure]:
    rows = traffic(
        ("uniform", "shift 40", "complement", "random 1"),
        **{"topology.up": ("[10]", "[20]", "[40]")},
    )
    rows = rows.filter(pl.col("load") == "40 GB/s")
    return list(
        default_figures.draw(
            rows.filter(pl.col("metric").is_in(["accepted", "latency_mean"])), {"load": "jobs"}
        )
    )


def few_values() -> list[Figure]:
    """A window that is too short: intervals as long as the axis."""
    points = []
    for number, (label, load) in enumerate(
        itertools.product(FIVE, (0.05, 0.17, 0.22, 0.32, 0.46, 0.75))
    ):
        random = Random(number)
        rows = point(
            label, load, min(load, 0.15 + 0.13 * load), saturated=load > 0.17, message_bytes=64 * KB
        )
        points.append(
            [
                row | {"value": row["value"] * random.uniform(0.2, 1.8)} if noisy(row) else row
                for row in rows
            ]
        )
    return drawn("multirail/bandwidth", points)[:1]


def noisy(row: Row) -> bool:
    return bool(row["metric"] == "accepted_part" and row["load_MBps"] > 300)


PICTURES: dict[str, Callable[[], list[Figure]]] = {
    "three-patterns": lambda: own(
        traffic(("uniform", "shift 40", "tornado")), draw="loads", metric="", x=""
    ),
    "two-machines": lambda: own(traffic(on=("mine", "fast")), draw="loads", metric="", x=""),
    "own-figure-of-four-patterns": lambda: own(
        traffic(("uniform", "shift 40", "tornado", "random 1")),
        metric="latency_mean",
        y_title="latency, µs",
    ),
    "shipped-ping-on-two-machines": lambda: figures_of(
        "qsnet/ping", pings(on=("es40-qsnet", "infiniband-ndr"))
    )[:2],
    "own-ping-on-two-machines": lambda: own(
        pings(on=("mine", "fast")).filter(
            pl.col("source") == "main", pl.col("destination") == "main"
        ),
        metric="latency",
        x="message_bytes",
        x_scale="steps",
        log=True,
    ),
    "up-links": up_links,
    "nine-patterns": lambda: own(
        traffic(("uniform", "a", "b", "c", "d", "e", "f", "g", "h")),
        metric="accepted",
        y_title="accepted load, MB/s",
    ),
    "hot-spot": hot_spot,
    "slingshot": slingshot,
    "long-intervals": few_values,
}


@pytest.mark.parametrize("name", PICTURES)
def test_figures_look_as_they_did(name: str, snapshot: SnapshotAssertion) -> None:
    svg = picture(PICTURES[name]())
    assert not overlaps(svg), "texts overlap"
    assert svg == snapshot(extension_class=Picture)


def test_another_drawing_is_not_alike() -> None:
    svg = picture(PICTURES["two-machines"]())
    assert alike(svg.encode(), re.sub(r"translate\(0,0\)", "translate(2,1)", svg).encode())
    for old, new in (
        ("#0072B2", "#E69F00"),
        ("mine", "fast"),
        ("translate(0,0)", "translate(90,0)"),
    ):
        assert not alike(svg.encode(), svg.replace(old, new, 1).encode()), (old, new)
    path = re.search(r"<path [^>]*aria-label=\"[^\"]*fast[^>]*/>", svg)
    assert path
    assert not alike(svg.encode(), svg.replace(path[0], "").encode())


LETTER, HIGH = 0.5, 0.9
"""A letter's width and height, as fractions of the font size: below any letter's, so that only real
overlap counts.
"""


def overlaps(svg: str) -> list[tuple[str, str]]:
    """The texts in a picture that lie on each other, except rotated ones."""
    boxes: list[tuple[str, float, float, float, float]] = []

    def walk(element: ET.Element, x: float, y: float) -> None:
        moved = re.match(r"translate\((-?[\d.]+),(-?[\d.]+)\)", element.get("transform", ""))
        x, y = (x + float(moved[1]), y + float(moved[2])) if moved else (x, y)
        if element.tag.endswith("}text") and "rotate" not in element.get("transform", ""):
            lines = [tspan.text or "" for tspan in element] or [element.text or ""]
            size = float(re.sub("px", "", element.get("font-size", "10")))
            wide = LETTER * size * max(map(len, lines))
            left = x - {"middle": wide / 2, "end": wide}.get(
                element.get("text-anchor", "start"), 0.0
            )
            boxes.append(
                (" ".join(lines), left, y - HIGH * size, left + wide, y + 13.0 * (len(lines) - 1))
            )
        for child in element:
            walk(child, x, y)

    walk(ET.fromstring(svg), 0.0, 0.0)  # noqa: S314
    return [
        (a[0], b[0])
        for a, b in itertools.combinations(boxes, 2)
        if a[1] < b[3] and b[1] < a[3] and a[2] < b[4] and b[2] < a[4]
    ]
