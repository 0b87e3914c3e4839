"""Figures show each configuration once: random experiments, drawn in all ways, against an
independent count.

Every configuration in a random experiment has a unique mean. The figures must have a mark for each
one, at its place, in a curve shared only with its neighbours on the axis, with its own values'
interval. Planted mistakes in the grouping must be found.
"""

from __future__ import annotations

import itertools
import json
import re
from collections import defaultdict
from dataclasses import dataclass
from random import Random
from statistics import fmean, variance
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import drawings
from conftest import FILES, frame
from elanite import _core, figures
from elanite.base.text import FEWEST, number
from elanite.figures import axes, default_figures, figure_requests, grouping, sides, tabular
from elanite.figures.grouping import value_label
from elanite.inputs import sources

if TYPE_CHECKING:
    from elanite.figures import Figure

SEEDS = range(28)

PATTERNS = (
    "uniform",
    "complement",
    "shift 4",
    "tornado",
    "random 1",
    "shuffle",
    "transpose",
    "neighbor",
    "butterfly",
)
MACHINES = ("mine", "fast", "es40-qsnet", "infiniband-ndr", "wide")
UPS = ("[10]", "[20]", "[8,8]", "[16,8]", "[40]")
PLACES = ("0-63", "0-255:4", "1, 5, 9")
CHANGES = ("unchanged", "switch.circuit=wormhole", "link.channels=1")
WAYS = ("generic", "plain", "curve", "renamed", "loads", "bars", "lists")

MOST = 7
"""Maximum curves per panel."""

Values = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """A random experiment: its configurations' parameters and values, and a way to draw them."""

    way: str
    configurations: list[Values]
    values: list[list[float]]
    """Each configuration's values, by seed and batch."""
    batches: int
    offered: list[float]
    rows: pl.DataFrame


def case(seed: int) -> Case:
    random = Random(seed)
    way = WAYS[seed % len(WAYS)]

    def some(names: tuple[Any, ...], most: int) -> tuple[Any, ...]:
        return tuple(random.sample(names, random.randint(1, min(most, len(names)))))

    keys: dict[str, tuple[Any, ...]] = {
        "on": some(MACHINES, 3),
        "pattern": some(PATTERNS, 9 if random.random() < 0.2 else 4),
        "load": tuple(f"{load} GB/s" for load in sorted(some((1, 5, 10, 20, 40), 4))),
    }
    more = {
        "topology.up": some(UPS, 3),
        "nodes": some(PLACES, 2),
        "machine": some(CHANGES, 2),
        "writes": (0.0, 0.5),
    }
    keys |= {name: more[name] for name in random.sample(list(more), random.randint(0, 2))}
    if way == "lists":
        keys["topology.up"] = tuple(random.sample(UPS, random.randint(2, 4)))
    if way == "generic" and random.random() < 0.5:
        keys.pop("load")
    jobs = ("a", "b") if random.random() < 0.3 else (None,)
    found = [dict(zip(keys, one, strict=True)) for one in itertools.product(*keys.values())]
    found = [one | ({"job": job} if job else {}) for one in found for job in jobs]
    random.shuffle(found) if random.random() < 0.3 else None
    if random.random() < 0.4:  # a key that another one decides, as in a sample of several keys
        leader = random.choice([name for name in keys if name != "load"])
        sampled = random.sample(range(30, 90), len(keys[leader]))
        found = [
            one | {"link.hop_delay": f"{sampled[keys[leader].index(one[leader])]} ns"}
            for one in found
        ]
    seeds, batches = random.randint(1, 3), random.randint(1, 4)
    means = random.sample(range(100, 100_000), len(found))
    noise = random.choice((0.001, 0.9))
    values = [
        [mean * (1 + random.uniform(-noise, noise)) for _ in range(seeds * batches)]
        for mean in means
    ]
    offered = [mean * random.uniform(1, 2) for mean in means]
    rows = []
    for index, one in enumerate(found):
        here = {"experiment": "x", "series": "s"} | one
        if "load" in one:
            here["load_MBps"] = 1000.0 * int(one["load"].split()[0])
        for place, value in enumerate(values[index]):
            run, batch = divmod(place, batches)
            point = here | {"id": f"{index}-{run}", "seed": 1 + run, "batch": batch}
            rows += [
                point | {"metric": "accepted", "unit": "MB/s", "value": value},
                point | {"metric": "offered", "unit": "MB/s", "value": offered[index]},
            ]
    return Case(way, found, values, batches, offered, frame(rows))


def base() -> Values:
    """A ``[[figure]]`` with all its keys."""
    file = sources.read("experiment", str(FILES / "own-figures.toml"))
    (found,) = json.loads(_core.load_experiment(file.text, file.file, []))["figure"]
    empty = {
        "panel": "",
        "curve": [],
        "where": {},
        "series": [],
        "names": {},
        "published": [],
        "caption": "",
    }
    words = dict.fromkeys(("dashed", "legend", "x_title", "y_title"), "") | {
        "name": "own",
        "title": "own",
    }
    return dict(
        found
        | empty
        | words
        | {
            "x_scale": "linear",
            "metric": "accepted",
            "x": "load_MBps",
            "draw": "curves",
        }
    )


def draw(one: Case) -> list[Figure]:
    if one.way == "generic":
        return list(
            default_figures.draw(one.rows.filter(pl.col("metric") == "accepted"), {"s": "jobs"})
        )
    same = [
        [name, "some" if name in ("uniform", "tornado", "shuffle") else name] for name in PATTERNS
    ]
    wanted = {
        "plain": {},
        "curve": {"curve": ["{pattern}"]},
        "renamed": {"curve": ["{pattern}"], "names": {"pattern": same}},
        "loads": {"draw": "loads", "metric": "", "x": ""},
        "bars": {"draw": "bars", "x": "pattern"},
        "lists": {"x": "topology.up"},
    }
    return figures.draw(base() | wanted[one.way], one.rows)


def units(values: list[float], batches: int) -> list[float]:
    """The seed means, if these vary more than means over this many batches, otherwise the
    batches.
    """
    runs = [values[first : first + batches] for first in range(0, len(values), batches)]
    if len(runs) == 1 or batches == 1:
        return values
    means = [fmean(run) for run in runs]
    return means if variance(means) > fmean(variance(run) for run in runs) / batches else values


def check(one: Case) -> None:
    """Compare a case's figures with its configurations."""
    found = draw(one)
    drawn = [mark for figure in found for mark in drawings.marks(figure)]
    assert len(drawn) == len(one.configurations), "the marks are not as many as the configurations"
    by_mean = {
        round(sum(values) / len(values), 6): index for index, values in enumerate(one.values)
    }
    indices = [by_mean.get(round(mark.mean, 6)) for mark in drawn]
    assert None not in indices, "a mean is that of no configuration"
    assert len(set(indices)) == len(indices), "a configuration is drawn twice"

    axis = axis_of(one, found[0])
    curves: dict[tuple[str, str], set[str]] = defaultdict(set)
    for mark, index in zip(drawn, indices, strict=True):
        assert index is not None
        assert at(mark.x, one, index, axis), "a mark has the place of another configuration"
        curves[mark.panel, mark.curve].add(without(one.configurations[index], axis))
        values = units(one.values[index], one.batches)
        if len(values) < FEWEST:
            assert mark.low is mark.high is None, "fewer than three values have an interval"
        elif one.way != "loads":
            assert mark.low == pytest.approx(_core.interval(values)[1]), (
                "an interval is not that of one configuration"
            )
    assert all(len(same) == 1 for same in curves.values()), "a curve has several configurations"
    apart = {without(each, axis) for each in one.configurations}
    assert len(curves) == len(apart), (
        "the curves are not as many as the configurations without the axis"
    )

    data = {(figure.title, *row) for figure in found for row in tabular.table(figure)[1]}
    assert len(data) == len(one.configurations), (
        "rows of the data are equal, or are not those of the configurations"
    )
    for name in {name for each in one.configurations for name in each} - {axis}:
        assert named(one, found, name), (
            "neither curves nor panels, nor caption and data name a parameter"
        )

    enough = any(len(units(values, one.batches)) >= FEWEST for values in one.values)
    heads = [set(tabular.table(figure)[0]) for figure in found]
    ends = [{word.partition(",")[0] for word in head} for head in heads]
    assert all({"interval from", "interval to"} <= one for one in ends) or not enough, (
        "the data have no intervals"
    )
    for figure in found:
        assert len({mark.curve for mark in drawings.marks(figure)}) <= MOST, (
            "a panel has too many curves"
        )
        bounded = sum(mark.low is not None for mark in drawings.marks(figure))
        assert drawings.intervals(figure) == bounded
        assert ("95% confidence" in figure.caption) == (bounded > 0), (
            "the caption names intervals that are not drawn, or does not"
        )
        assert "[" not in " ".join(
            f"{mark.curve} {mark.x} {mark.panel}" for mark in drawings.marks(figure)
        )
    if one.way != "bars" and len(one.configurations) > 1:
        assert len({str(drawings.width(figure)) for figure in found}) == 1, (
            "panels have other horizontal axes"
        )
    tops = [max(mark.mean for mark in drawings.marks(figure)) for figure in found]
    if one.way == "loads" or 10 * min(tops) >= max(tops):
        assert len({drawings.domain(figure) for figure in found}) == 1, "panels have other axes"
        tops = [max(tops)] * len(tops)
    else:
        assert all("axes of their own" in figure.caption for figure in found)
    for figure, most in zip(found, tops, strict=True):
        assert not drawings.outside(figure), "a mark is beyond the axis"
        low, high = drawings.domain(figure)
        assert low == 0
        cut = [mark for mark in drawings.marks(figure) if drawings.cut(mark, (low, high))]
        assert ("cut at the frame" in figure.caption) == bool(cut), (
            "the caption does not have the cut intervals"
        )
        texts = [
            f"({number(mark.low)} to {number(mark.high)})"
            for mark in cut
            if mark.low is not None and mark.high
        ]
        shown = [text for text in texts if text in figure.caption]
        assert len(shown) >= min(len(cut), axes.MOST_CUT), "the caption names other intervals"
        assert (f" {len(cut) - axes.MOST_CUT} other" in figure.caption) == (
            len(cut) > axes.MOST_CUT
        )
        assert most <= high <= 2 * most, "the axis does not fit the means"


def named(one: Case, found: list[Figure], name: str) -> bool:
    """Whether curves or panels have a parameter's values, or the caption its name and the data its
    values.
    """
    texts = {value_label(each[name]) for each in one.configurations if name in each}
    if len(texts) < 2 or (one.way == "renamed" and name == "pattern"):
        return True
    words = " ".join(
        f"{mark.curve} {mark.panel}" for figure in found for mark in drawings.marks(figure)
    )
    cells = {cell for figure in found for row in tabular.table(figure)[1] for cell in row}
    word = grouping.word(name)
    told = any(f"differ in {word}" in one.caption or f"and {word}" in one.caption for one in found)
    return all(text in words for text in texts) or (told and texts <= cells)


def axis_of(one: Case, figure: Figure) -> str:
    """The parameter on the horizontal axis: the one that the file names, or else any that the title
    names.
    """
    if one.way != "generic":
        return {"bars": "pattern", "lists": "topology.up"}.get(one.way, "load")
    title = drawings.means(figure)["encoding"]["x"]["title"]
    return {"nominal load, MB/s per node": "load", "machine": "on", "changes": "machine"}.get(
        title, title
    )


def without(configuration: Values, axis: str) -> str:
    return json.dumps({name: value for name, value in configuration.items() if name != axis})


def at(x: Any, one: Case, index: int, axis: str) -> bool:
    """Whether a place belongs to a configuration, as a reader writes it."""
    if one.way == "loads":
        return bool(x == pytest.approx(one.offered[index]))
    value = one.configurations[index].get(axis, "accepted")
    if axis == "load":
        return bool(x == 1000.0 * int(value.split()[0]))
    return bool(
        x == (re.sub(r"[\[\]]", "", value).replace(",", ", ") if axis == "topology.up" else value)
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_figures_show_each_configuration_once(seed: int) -> None:
    check(case(seed))


PINGS = (
    "ping.uni.elan.bandwidth",
    "ping.uni.main.bandwidth",
    "ping.bi.elan.bandwidth",
    "ping.bi.main.bandwidth",
)
"""Claims about 4 MB."""

ANYWHERE = (
    "permutation.complement",
    "permutation.shuffle",
    "hotspot.32.bandwidth",
    "io.random.clustered",
    "io.deterministic.clustered",
    "io.deterministic.distributed",
)
"""Claims without a message size."""


def check_published(seed: int) -> None:
    """Published ping values are marks at 4 MB; names of rules across are as far apart as their
    letters need.
    """
    random = Random(seed)
    here, across = (
        random.sample(PINGS, random.randint(1, 4)),
        random.sample(ANYWHERE, random.randint(1, 5)),
    )
    stated = [{"claim": claim, "label": "published", "x": None} for claim in (*here, *across)]
    rows = [
        {
            "series": "s",
            "seed": 1,
            "metric": "bandwidth",
            "unit": "MB/s",
            "batch": None,
            "message": text,
        }
        | {"message_bytes": size, "value": random.uniform(1, 400)}
        for text, size in (("64 KB", 2**16), ("4 MB", 2**22))
    ]
    wanted = base() | {
        "metric": "bandwidth",
        "x": "message_bytes",
        "x_scale": "sizes",
        "published": stated,
    }
    (figure,) = figures.draw(wanted, frame(rows))
    marks = [
        row
        for layer in drawings.layers(figure)
        if drawings.kind(layer) == "tick"
        for row in layer["rows"]
    ]
    assert len(marks) == len(here)
    assert {mark["at"] for mark in marks} == {2**22}
    assert len(drawings.across(figure)) == sum(
        2 if claim == "permutation.shuffle" else 1 for claim in across
    )
    assert not drawings.outside(figure)
    low, high = drawings.domain(figure)
    places = sorted(drawings.names_of_rules(figure))
    assert len(places) == len(across)
    pixels = [320 * (high - place) / (high - low) for place in places]
    assert all(above - below >= 26 for below, above in itertools.pairwise(sorted(pixels))), (
        "names overlap"
    )
    assert all(10 <= pixel <= 310 for pixel in pixels)
    assert figure.caption.count(" at 4 MB") == len(here)


@pytest.mark.parametrize("seed", range(12))
def test_published_values_have_places(seed: int) -> None:
    check_published(seed)


def test_machines_are_named_by_the_changes_that_they_do_not_share() -> None:
    """On the axis and in the legend; the caption has the shared ones, and a machine may have no
    others.
    """
    shared = "topology.down=[4,4], topology.nodes=16"
    for names in (
        [f"{shared}, topology.up=[{up}]" for up in (4, 2, 1)],
        [shared, f"{shared}, topology.routing=minimal"],
    ):
        rows = pl.DataFrame(
            {
                "series": "s",
                "job": None,
                "seed": 1,
                "machine": name,
                "pattern": pattern,
                "metric": "accepted",
                "unit": "MB/s",
                "batch": None,
                "value": 1.0 + number,
            }
            for number, name in enumerate(names)
            for pattern in ("uniform", "tornado")
        )
        wanted = base() | {"x": "machine", "curve": ["{pattern}"]}
        for found in (figures.draw(wanted, rows), list(default_figures.draw(rows, {"s": "jobs"}))):
            (figure,) = found
            words = {str(value) for row in drawings.means(figure)["rows"] for value in row.values()}
            curves_or_places = {one for one in words if "topology" in one or "other change" in one}
            own = {name.removeprefix(shared).removeprefix(", ") or grouping.ALONE for name in names}
            assert own <= curves_or_places
            assert f"All machines have {shared}." in figure.caption
            x = drawings.means(figure)["encoding"]["x"]
            longest = max(len(part) for one in own for part in one.split(axes.PART))
            assert longest * len(own) <= axes.LETTERS or x["axis"]["labelAngle"]


@pytest.mark.parametrize(("x", "lines"), [("fault.rail", 0), ("cpu", 0), ("processes", 1)])
def test_no_line_joins_the_numbers_of_parts(x: str, lines: int) -> None:
    """Nor in dashed companions or between two sides, and their axis is not logarithmic."""
    places = [1, 2, 3, 90]
    rows = frame(
        [
            {"series": series, "job": None, "seed": 1, x: place}
            | {"metric": "accepted", "unit": "MB/s", "batch": None, "value": 1.0 + place}
            for series in "st"
            for place in places
        ]
    )
    wanted = base() | {"x": x, "series": ["s"], "beside": {"series": ["t"], "where": {}}}
    (generic,) = default_figures.draw(rows.filter(series="s"), {"s": "jobs"})
    (requested,) = figures.draw(wanted, rows)
    for figure, curves in ((generic, 1), (requested, 2)):
        kinds = [drawings.kind(layer) for layer in drawings.layers(figure)]
        assert kinds.count("line") == curves * lines
        assert kinds.count("point") == 1 + (curves - 1) * (1 - lines)
    assert ("log" in json.dumps(drawings.means(generic)["encoding"]["x"])) == bool(lines)
    (side,) = sides.panels([{x: place} for place in places])
    assert side.lines == bool(lines)


def test_configurations_without_a_value_are_named() -> None:
    rows = pl.DataFrame(
        {
            "series": "s",
            "job": None,
            "seed": 1,
            "fault.count": count,
            "pattern": pattern,
            "metric": metric,
            "unit": unit,
            "batch": None,
            "value": 1.0,
        }
        for count in (1, 8)
        for pattern in ("uniform", "tornado")
        for metric, unit in (("accepted", "MB/s"), ("latency_mean", "us"))
        if metric == "accepted" or (count, pattern) != (8, "tornado")
    )
    accepted, latency = default_figures.draw(rows, {"s": "jobs"})
    assert "No mark" not in accepted.caption
    assert latency.caption.endswith(
        "No mark where no message ended in the measured window: fault.count 8, pattern tornado."
    )
    wanted = base() | {"metric": "latency_mean", "x": "fault.count", "curve": ["{pattern}"]}
    for draw in ("curves", "bars"):
        (own,) = figure_requests.figures_over(wanted | {"draw": draw}, rows)
        assert "in the measured window: fault.count 8, pattern tornado." in own.caption
    (own,) = figure_requests.figures_over(wanted | {"metric": "accepted"}, rows)
    assert "No mark" not in own.caption


def test_the_jobs_beside_a_collective_operation_have_no_marks_of_its_metrics() -> None:
    rows = pl.DataFrame(
        {
            "series": "s",
            "job": job,
            "seed": 1,
            "nodes": str(nodes),
            "metric": metric,
            "unit": unit,
            "batch": None,
            "value": 1.0 + nodes,
        }
        for nodes in (2, 4)
        for job, metric, unit in (
            (None, "latency", "us"),
            ("a", "accepted", "MB/s"),
            ("b", "accepted", "MB/s"),
        )
    )
    for figure in default_figures.draw(rows, {"s": "collective"}):
        assert "No mark" not in figure.caption
