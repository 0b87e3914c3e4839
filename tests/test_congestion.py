"""The congestion matrix: figures worked out by hand, and pictures for trees with many shapes."""

from __future__ import annotations

import json
import math
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import polars as pl
import pytest

from conftest import SMALL
from elanite import figures
from elanite.cli.congestion import _print
from elanite.figures import animation, matrix_comparison
from elanite.figures import matrix as picture
from elanite.figures import matrix_places as places
from elanite.inputs import sources
from elanite.inputs.plan import Point, plan
from elanite.results import congestion
from elanite.store import empty

if TYPE_CHECKING:
    from elanite.store import Store


def point(
    down: Sequence[int], up: Sequence[int], slices: int = 0, parallel: Sequence[int] | None = None
) -> Point:
    """A uniform traffic point on a full tree."""
    nodes = math.prod(down)
    overrides = [
        f"topology.down={list(down)}",
        f"topology.up={list(up)}",
        f"topology.parallel={list(parallel or [1] * len(up))}",
        f"topology.nodes={nodes}",
        "series.ping.to=1",
        f"series.load.nodes={nodes}",
        f"series.load.run.slices={slices}",
    ]
    return plan(sources.read("experiment", SMALL), overrides=overrides).series("load")[0]


@dataclass
class Results:
    """A one-point store in which packets have waited for these links, in us: in the window, and
    slice by slice.

    The packets' delay is a hundred times a wait.
    """

    window: dict[int, float]
    slices: Sequence[dict[int, float]] = ()
    simulated: float = 120.0
    """The run length: a window may have doubled."""

    def get(self, identity: str) -> SimpleNamespace:
        return SimpleNamespace(data={"simulated_ps": self.simulated * 1e6})

    def table(self, identity: str, table: str) -> pl.DataFrame:
        times = {"waiting_ps": pl.UInt64, "delay_ps": pl.UInt64}
        if table == "links":
            rows = [
                (link, 1, round(waited * 1e6), round(waited * 1e8))
                for link, waited in self.window.items()
            ]
            return pl.DataFrame(
                rows, {"link": pl.UInt32, "packets": pl.UInt64, **times}, orient="row"
            )
        if table == "faults":
            return empty(table)
        assert table == "slices"
        rows = [
            (number, link, round(waited * 1e6), round(waited * 1e8))
            for number, here in enumerate(self.slices)
            for link, waited in here.items()
        ]
        return pl.DataFrame(rows, {"slice": pl.UInt32, "link": pl.UInt32, **times}, orient="row")


def matrix(chosen: Point, results: Results) -> congestion.Matrix:
    return congestion.matrix(chosen, cast("Store", results))


# Two first-level switches with two nodes each below two at the top. Links: 0 to 3 lead from the
# nodes, 4 to 7 to the nodes, 8 and 9 from switch 1.0 up, 10 and 11 from switch 1.1 up, 12 and 13
# down to 1.0, 14 and 15 down to 1.1.
TINY = Results(
    {0: 1000.0, 4: 30.0, 8: 10.0, 12: 5.0, 14: 20.0}, [{4: 2.0}, {4: 8.0, 8: 2.0, 14: 4.0}]
)


def test_every_wait_is_relative_to_the_longest_for_a_link_that_leaves_a_switch() -> None:
    links = matrix(point([2, 2], [2]), TINY).links
    assert len(links) == 16
    found = {
        (row["from"], row["to"]): row["relative"]
        for row in links.iter_rows(named=True)
        if "node" not in row["from"]
    }
    assert len(found) == 12
    assert found.pop(("switch 1.0", "node 0")) == 100
    assert found.pop(("switch 1.0", "switch 2.0")) == pytest.approx(100 / 3)
    assert found.pop(("switch 2.0", "switch 1.1")) == pytest.approx(200 / 3)
    assert found.pop(("switch 2.0", "switch 1.0")) == pytest.approx(50 / 3)
    assert set(found.values()) == {0}
    nodes = links.filter(pl.col("switch").is_null())
    assert nodes["from"].to_list() == [f"node {node}" for node in range(4)]
    assert nodes["relative"].null_count() == nodes["waiting_us"].null_count() == 4, (
        "the backlog of adapters"
    )


def test_every_delay_is_relative_to_the_longest_of_all_links() -> None:
    links = matrix(point([2, 2], [2]), TINY).links
    found = {(row["from"], row["to"]): row["relative_delay"] for row in links.iter_rows(named=True)}
    assert found.pop(("node 0", "switch 1.0")) == 100
    assert found.pop(("switch 1.0", "node 0")) == pytest.approx(3)
    assert found.pop(("switch 1.0", "switch 2.0")) == pytest.approx(1)
    assert found.pop(("switch 2.0", "switch 1.1")) == pytest.approx(2)
    assert found.pop(("switch 2.0", "switch 1.0")) == pytest.approx(0.5)
    assert set(found.values()) == {0}


def test_every_switch_is_the_sum_of_its_links_relative_to_the_most_loaded() -> None:
    """For the waits for its outgoing links, and the delays on its incoming links."""
    switches = matrix(point([2, 2], [2]), TINY).switches
    columns = ("name", "waiting_us", "relative", "delay_us", "relative_delay")
    assert switches.select(columns).rows() == [
        ("switch 1.0", 40.0, 100.0, 100_500.0, 100.0),
        ("switch 1.1", 0.0, 0.0, 2000.0, pytest.approx(100 * 2000 / 100_500)),
        ("switch 2.0", 25.0, 62.5, 1000.0, pytest.approx(100 * 1000 / 100_500)),
        ("switch 2.1", 0.0, 0.0, 0.0, 0.0),
    ]


def test_the_steps_of_the_path() -> None:
    path = congestion.path(matrix(point([2, 2], [2]), TINY).links)
    assert path.select("up", "link_level").rows() == [(True, 0), (True, 1), (False, 1), (False, 0)]
    assert path["mean"].to_list() == [
        None,
        *(pytest.approx(value) for value in (100 / 12, 250 / 12, 25)),
    ]
    assert path["least"].to_list() == [None, 0, 0, 0]
    assert path["most"].to_list() == [
        None,
        *(pytest.approx(value) for value in (100 / 3, 200 / 3, 100)),
    ]
    assert path["mean_delay"].to_list() == pytest.approx([25, 0.25, 0.625, 0.75])
    assert path["most_delay"].to_list() == pytest.approx([100, 1, 2, 3])
    assert path["way"].to_list() == [
        "up from the nodes to level 1", "up from level 1 to level 2",
        "down from level 2 to level 1", "down from level 1 to the nodes",
    ]  # fmt: skip


def test_the_ways_of_a_torus_are_along_dimensions() -> None:
    es40 = sources.read("machine", "es40-qsnet")
    keys = {"kind": '"torus"', "nodes": 12, "dimensions": [4, 3]}
    section = "\n".join(
        f'{key} = {{ value = {value}, source = "test" }}' for key, value in keys.items()
    )
    torus = replace(
        es40, text=re.sub(r"(?s)(\[topology\]\n).*?\n\n", rf"\1{section}\n\n", es40.text)
    )
    small = plan(
        sources.read("experiment", SMALL), [torus], ["series.ping.to=1", "series.load.nodes=12"]
    )
    path = congestion.path(matrix(small.series("load")[0], Results({12: 10.0, 24: 20.0})).links)
    ways = dict(path.select("way", "most").iter_rows())
    assert list(ways) == [
        "from the nodes", "forwards along dimension 1", "forwards along dimension 2",
        "backwards along dimension 2", "backwards along dimension 1", "to the nodes",
    ]  # fmt: skip
    assert [ways["forwards along dimension 1"], ways["to the nodes"]] == pytest.approx([100, 50])


def test_a_switch_without_links_in_a_direction_is_printed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A mesh's last switch has no links up or from above."""
    es40 = sources.read("machine", "es40-qsnet")
    keys = {"kind": '"torus"', "wraparound": "false", "nodes": 4, "dimensions": [2, 2]}
    section = "\n".join(
        f'{key} = {{ value = {value}, source = "test" }}' for key, value in keys.items()
    )
    mesh = replace(
        es40, text=re.sub(r"(?s)(\[topology\]\n).*?\n\n", rf"\1{section}\n\n", es40.text)
    )
    small = plan(
        sources.read("experiment", SMALL), [mesh], ["series.ping.to=1", "series.load.nodes=4"]
    )
    point = small.series("load")[0]
    _print(matrix(point, Results({8: 10.0})), "a point", "", point.json)
    rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith("switch")]
    assert [row.split("  ")[0] for row in rows] == [
        "switch 0,0",
        "switch 1,0",
        "switch 0,1",
        "switch 1,1",
    ]
    assert re.fullmatch(r"switch 1,1 +0 {12,}0 +0 +0 +0 {12,}0 +0 +0", rows[3].strip()), rows[3]


def test_links_that_were_down_are_marked(capsys: pytest.CaptureFixture[str]) -> None:
    """A cable's two directions, all links of a switch and of the adapter; a host and bit errors
    break no link.
    """
    chosen = point([2, 2], [2])
    parts = {
        "link": ("cable from switch 1.1 to switch 2.1", "switch 1.1", "switch 2.1"),
        "switch": ("switch 2.0", None, None),
        "adapter": ("adapter of node 3", "node 3", "switch 1.1"),
        "node": ("host of node 0", None, None),
        "links": ("all cables", None, None),
    }
    rows = [
        (
            number,
            part,
            *names,
            *((1e-9, None, None, None) if part == "links" else (None, 5_000_000, 9_000_000, None)),
        )
        for number, (part, names) in enumerate(parts.items())
    ]
    faults = pl.DataFrame(rows, schema=empty("faults").schema, orient="row")
    found = {
        part: congestion.of_tables(
            chosen.json,
            TINY.table("", "links"),
            empty("slices"),
            (0.0, 120.0),
            0,
            faults.filter(pl.col("part") == part),
        )
        for part in parts
    }
    failed = {part: sorted(one.failed) for part, one in found.items()}
    assert failed == {
        "link": [11, 15],
        "switch": [8, 10, 12, 14],
        "adapter": [3, 7],
        "node": [],
        "links": [],
    }
    everything = congestion.of_tables(
        chosen.json, TINY.table("", "links"), empty("slices"), (0.0, 120.0), 0, faults
    )
    assert everything.failed == {3, 7, 8, 10, 11, 12, 14, 15}
    _print(everything, "a point", "", chosen.json)
    said = capsys.readouterr().out
    assert "failed: cable from switch 1.1 to switch 2.1: down from 5 µs to 9 µs" in said
    assert "failed: all cables: bit error rate 1e-09" in said
    assert re.search(r"switch 1\.0 .*33x +0\b", said), said
    drawn = json.dumps(
        [figure.chart.to_dict() for figure in picture.draw(everything, "name", "title")]
    )
    assert '"shape": "cross"' in drawn
    assert (
        "A cross in place of a number marks" in picture.draw(everything, "name", "title")[0].caption
    )
    assert "cross" not in json.dumps(
        picture.draw(found["node"], "name", "title")[0].chart.to_dict()
    )


def test_an_idle_network_has_no_most_loaded_link(capsys: pytest.CaptureFixture[str]) -> None:
    small = plan(sources.read("experiment", SMALL))
    point = small.series("load")[0]
    _print(matrix(point, Results({})), "a point", "", point.json)
    printed = capsys.readouterr().out
    assert "delays: none\nwaits: none\n" in printed
    assert "100 of" not in printed


def test_an_idle_network_has_zeros() -> None:
    idle = matrix(point([2, 2], [2], 2), Results({}))
    assert set(idle.links["relative"]) == {None, 0}
    assert set(idle.links["relative_delay"]) == set(idle.switches["relative"]) == {0}
    for drawn in (squares(idle), squares(idle, waits=True)):
        assert all(delay == 0 for delays in drawn["delays"] for delay in delays)


def test_slices_are_delays_over_time() -> None:
    tiny = matrix(point([2, 2], [2], 2), TINY)
    assert tiny.slice_count == 2
    assert tiny.slice_us == 60
    assert tiny.window == (20, 120)
    doubled = matrix(point([2, 2], [2]), Results({4: 30.0}, simulated=220.0))
    assert doubled.window == (20, 220), "what was simulated, and not what the file says"
    waits = {row["name"]: row["delays"] for row in squares(tiny, waits=True).iter_rows(named=True)}
    assert waits["switch 1.0 → node 0"] == [2, 8, 30]
    assert waits["switch 1.0"] == [2, 10, 40]
    assert waits["switch 2.0"] == [0, 4, 25]
    delays = {row["name"]: row["delays"] for row in squares(tiny).iter_rows(named=True)}
    assert delays["switch 1.0 → node 0"] == [200, 800, 3000]
    assert delays["node 0 → switch 1.0"] == [0, 0, 100_000]
    assert delays["switch 1.0"] == [0, 0, 100_500], "what comes in, in slices from nowhere"
    assert delays["switch 1.1"] == [0, 400, 2000]
    # The reference for 100: the maximum over slices for slices, the window's maximum for the
    # window.
    spec = json.dumps(picture.draw(tiny, "x", "x")[1].spec())
    assert '{\\"link\\": [8.0, 8.0, 30.0], \\"switch\\": [10.0, 10.0, 40.0]}' in spec


def test_a_few_ns_are_a_hundred_where_nothing_waits_longer() -> None:
    """Short runs' sums keep their digits: the most loaded link has 100 as written, and not 0 or
    99.
    """
    short = matrix(point([2, 2], [2]), Results({4: 0.001_234, 8: 0.000_617}))
    for waits, most in ((True, 0.001_234), (False, 0.1234)):
        drawn = dict(squares(short, waits).select("name", "delays").iter_rows())
        spec = json.dumps(picture.draw(short, "x", "x")[waits].spec())
        found = re.search(r'{\\"link\\": \[([\d.]+)\]', spec)
        assert found is not None
        assert drawn["switch 1.0 → node 0"] == [most] == [float(found[1])]
        assert 100 * drawn["switch 1.0 → switch 2.0"][0] / most == pytest.approx(50, rel=1e-3)


def squares(drawn: congestion.Matrix, waits: bool = False) -> pl.DataFrame:
    """The squares in the delay or wait picture, as in the specification."""
    spec = picture.draw(drawn, "x", "x")[waits].spec()
    return pl.DataFrame(next(rows for rows in spec["datasets"].values() if "delays" in rows[0]))


TREES = [
    ([4], [], []),
    ([1024], [], []),
    ([2, 2], [2], [1]),
    ([4, 4, 4], [4, 4], [1, 1]),
    ([4, 4, 4], [4, 2], [1, 1]),
    ([4, 4, 4], [4, 4], [1, 2]),
    ([3, 5, 7], [2, 3], [1, 1]),
    ([16, 16], [8], [1]),
    ([4, 4, 4, 4, 4], [4, 4, 4, 4], [1, 1, 1, 1]),
    ([1, 1, 300], [1, 1], [1, 1]),
]


@pytest.mark.parametrize(("down", "up", "parallel"), TREES)
def test_any_tree_has_a_picture(down: list[int], up: list[int], parallel: list[int]) -> None:
    chosen = point(down, up, parallel=parallel)
    links = matrix(chosen, Results({})).links["link"].to_list()
    waiting = {link: float(link * 7919 % 101) for link in links}
    waiting[links[len(links) // 2]] = 1000.0
    full = matrix(chosen, Results(waiting))
    hottest = full.links.sort("delay_us").tail(1)
    levels = len(down)
    for waits, hot_us, rows_of_links in (
        (False, 100_000, 2 * levels),
        (True, 1000, 2 * levels - 1),
    ):
        drawn = squares(full, waits)
        hot = drawn.filter((pl.col("kind") == "link") & (pl.col("delays").list.first() == hot_us))
        assert len(hot) == 1, "the hottest link is there, however many share its square"
        assert f"{hottest['from'][0]} → {hottest['to'][0]}" in hot["name"][0]

        assert drawn["x"].min() >= places.LEFT
        assert drawn["x2"].max() <= places.WIDTH + 1e-9
        rows = drawn.sort("x").group_by("y", maintain_order=True)
        for _, row in rows:
            assert (row["x"][1:] >= row["x2"][:-1] - 1e-9).all(), "squares overlap"
            assert len(row) <= (
                places.MOST_SQUARES if row["kind"][0] == "link" else places.MOST_BLOCKS
            )
        shown = full.links.drop_nulls("switch") if waits else full.links
        assert drawn["packets"].sum() == shown["packets"].sum() + full.switches["packets"].sum()
        assert drawn["y"].n_unique() == rows_of_links + levels


def test_captions_name_squares_of_several() -> None:
    """A tree with 128 switches on its lowest level: a block is two of them, and has the time of the
    hotter one.
    """
    few, many = (
        matrix(point(down, up), Results({}))
        for down, up in (([4, 4, 4], [4, 4]), ([2, 4, 32], [2, 2]))
    )
    for view in (picture.of_delays, picture.of_waits):
        assert places.blocks(view(few)) == "A block is a switch, and a row is a level. "
        assert (
            places.blocks(view(many))
            == "A block is a switch, or several neighbours, and a row is a level."
            f" {places.SEVERAL} "
        )
        names = places.parts_of(places.layout(view(many))[0], view(many)).filter(
            pl.col("kind") == "switch"
        )["name"]
        assert names.str.contains(
            r"^hottest of 2, switch 1\.0 … switch 1\.1; in the window switch 1\.[01]$"
        ).any()
        assert not names.str.contains("together").any(), "no sum"
    cases = [
        matrix_comparison.PicturePoint(
            name, matrix(point([2, 4, 32], [2, 2]), Results(TINY.window))
        )
        for name in ("A", "B")
    ]
    drawn = {figure.name: figure.caption for figure in matrix_comparison.draw(cases)}
    assert places.SEVERAL in drawn["delays"]
    assert (
        f"{places.SEVERAL} In the two points these may be different ones."
        in drawn["delays-difference"]
    )


def test_captions_name_the_rails_of_a_row(tmp_path: Path) -> None:
    job = {
        "pattern": "uniform",
        "nodes": 4,
        "message": "1 KB",
        "sizes": "fixed",
        "arrivals": "exponential",
    }
    file = tmp_path / "rails.toml"
    file.write_text(
        'title = "Rails"\nmachine = "smart-multirail"\n[[series]]\nname = "s"\nmachine = {'
        " rails.count = 3 }\n[series.jobs.a]\n"
        + "".join(
            f"{key} = {json.dumps(value)}\n" for key, value in (job | {"load": "1 MB/s"}).items()
        )
    )
    (chosen,) = plan(sources.read("experiment", str(file))).points
    rails = matrix(chosen, Results({}))
    for view in (picture.of_delays(rails), picture.of_waits(rails)):
        assert (
            "In a row, the switches of rail 0 are on the left, those of rail 2 on the right."
            in places.blocks(view)
        )
        for level in view.switches["level"].unique():
            names = view.switches.filter(pl.col("level") == level).sort("switch")["name"]
            order = names.str.extract(r" of rail (\d+)$").cast(pl.Int64).to_list()
            assert order == sorted(order), "rail by rail"


def test_a_small_tree_shows_every_link() -> None:
    full = matrix(point([4, 4, 4], [4, 4]), Results({}))
    for waits, rows in ((False, 6), (True, 5)):
        drawn = squares(full, waits)
        assert len(drawn) == rows * 64 + 48
        assert (drawn["x2"] - drawn["x"] >= places.DIGITS).all(), "with room for its number"


def test_parallel_links_are_squares_of_their_own() -> None:
    """Half the switches at the top, with eight links down each, in port order."""
    full = matrix(point([4, 4, 4], [4, 4], parallel=[1, 2]), Results({}))
    named = full.links.filter(pl.col("from") == "switch 3.0").select(name=congestion.NAMED)["name"]
    assert named[:3].to_list() == [
        f"switch 3.0 → switch 2.{to} (cable {one} of 2)" for to, one in ((0, 1), (0, 2), (4, 1))
    ]
    cables = congestion.parallel(point([4, 4, 4], [4, 4], parallel=[1, 2]).json)
    assert len(cables) == len(set(cables.values())) == 128 * 2 // 2, (
        "the links between the upper two levels"
    )
    for view in (picture.of_delays(full), picture.of_waits(full)):
        names = pl.concat([part["name"] for part in (view.links, view.ends) if len(part)])
        assert names.is_unique().all(), "no two squares have one name"
    first = full.links.filter(pl.col("from") == "switch 3.0")
    assert first["to"].to_list() == [
        name for name in ("2.0", "2.4", "2.8", "2.12") for name in [f"switch {name}"] * 2
    ]
    assert len(squares(full)) == 6 * 64 + 40


def test_the_slider_is_there_if_the_run_has_slices() -> None:
    def parameters(drawn: figures.Figure) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = drawn.spec()["params"]
        return found

    (still,) = parameters(picture.draw(matrix(point([2, 2], [2]), Results({})), "x", "x")[0])
    assert "bind" not in still
    (slider,), (other,) = (
        parameters(drawn) for drawn in picture.draw(matrix(point([2, 2], [2], 2), TINY), "x", "x")
    )
    assert slider["name"] != other["name"]
    assert slider["value"] == slider["bind"]["max"] == 3, "two slices and the window"


def test_the_moving_picture_plays_the_slices_and_rests_on_the_window() -> None:
    drawn = matrix(point([2, 2], [2], 2), TINY)
    scene = picture.scene(drawn)
    assert len(scene.moments) == 3
    assert all(len(relative) == 3 for relative in scene.squares["relative"])
    svg = ElementTree.fromstring(animation.animated(drawn, "a < b"))  # noqa: S314 - our own text
    name = "{http://www.w3.org/2000/svg}"
    fills = [
        one.get("values", "").split(";")
        for one in svg.iter(f"{name}animate")
        if one.get("attributeName") == "fill"
    ]
    assert len(fills) == len(scene.squares)
    assert {len(one) for one in fills} == {3 + animation.REST}
    for values, relative in zip(fills, scene.squares["relative"], strict=True):
        assert values[:3] == [animation.heat(one) for one in relative]
        assert set(values[3:]) == {values[2]}
    assert [animation.heat(one).lower() for one in (0.0, 100.0)] == [
        congestion.HEAT[0],
        congestion.HEAT[-1],
    ]
    assert svg.findtext(f"{name}title") == "a < b"


def test_the_shipped_experiment_gives_figure_15() -> None:
    planned = plan(sources.read("experiment", "qsnet/congestion"))
    store = cast("Store", Results({64: 2.0}, [{64: 1.0}, {64: 1.0}]))
    drawn = figures.matrices(planned.points, store, planned.figures)
    assert [figure.paper for figure in drawn] == [
        "figure 15 a",
        "",
        "figure 15 b",
        "",
        "",
        "",
        "",
        "",
    ]
    assert len({figure.name for figure in drawn}) == 8
    assert drawn[4].title == "Congestion matrix: build-up, complement"
    assert (
        drawn[5].title
        == "Congestion matrix: build-up, complement, waits for links that leave switches"
    )
    assert picture.BACKLOG in drawn[5].caption, (
        "the squares are not all links that the table of links has"
    )
    assert all(figure.wide for figure in drawn)
    assert "load 1 GB/s" in drawn[0].caption


def test_only_points_with_slices_are_drawn_once_for_all_seeds() -> None:
    small = plan(sources.read("experiment", SMALL), overrides=["series.load.run.slices=3"])
    delays, none = (
        cast("Store", results) for results in (Results({64: 1.0}, [{64: 1.0}]), Results({}))
    )
    assert len(small.series("load")) == 2 * 4, "two seeds"
    assert len(figures.matrices(small.series("load"), delays)) == 2 * 4
    assert figures.matrices(small.series("ping"), delays) == []
    assert figures.matrices(small.series("load"), none) == []


def test_links_keep_their_columns_beside_parameters_with_the_same_names() -> None:
    """A ping has parameters `from` and `to`."""
    small = plan(sources.read("experiment", SMALL), overrides=["series.load.run.slices=3"])
    points = [small.series("ping")[0], small.series("load")[0]]
    store = cast("Store", Results({64: 1.0}))
    found = congestion.links(points, store)
    assert not [name for name in found.columns if name.endswith("_right")]
    ends = [name for point in points for name in congestion.matrix(point, store).links["from"]]
    assert found["from"].to_list() == ends
    assert found.filter(pl.col("series") == "ping")["parameter_from"].unique().to_list() == [0]


def test_empty_positions_of_a_tree_have_no_links() -> None:
    """A tree for 64 nodes with 12: all switches, and the 12 nodes' links."""
    full = point((4, 4, 4), (4, 4))
    few = replace(full, json=full.json.replace('"nodes":{"value":64', '"nodes":{"value":12'))
    assert few.json != full.json
    found = congestion.matrix(few, cast("Store", Results({})))
    nodes = found.links.filter(pl.col("to").str.starts_with("node"))["to"].to_list()
    assert nodes == [f"node {node}" for node in range(12)]
    assert found.links.filter(pl.col("from").str.starts_with("node")).height == 12
    assert (
        found.switches.height
        == congestion.matrix(full, cast("Store", Results({}))).switches.height
        == 48
    )
    _, labels, _ = places.layout(picture.of_waits(found))
    spans = [
        text for text, align in labels.select("text", "align").iter_rows() if align == "center"
    ]
    assert spans == ["0-3", "4-7", "8-11"]


def test_a_dead_cable_marks_no_parallel_one() -> None:
    chosen = point([2, 2], [2], parallel=[2])
    fault = {
        "fault": 0,
        "part": "link",
        "name": "cable from switch 1.1 to switch 2.0 (cable 2 of 2)",
        "from": "switch 1.1",
        "to": "switch 2.0",
        "down_ps": 5_000_000,
    }
    faults = pl.DataFrame([fault], schema=empty("faults").schema)
    found = congestion.of_tables(
        chosen.json, TINY.table("", "links"), empty("slices"), (0.0, 120.0), 0, faults
    )
    ends = {"switch 1.1", "switch 2.0"}
    names = found.links.with_columns(name=congestion.NAMED).filter(
        pl.col("from").is_in(ends) & pl.col("to").is_in(ends)
    )
    assert len(names) == 4, "two cables, each in both directions"
    assert sorted(names.filter(pl.col("link").is_in(found.failed))["name"]) == [
        "switch 1.1 → switch 2.0 (cable 2 of 2)",
        "switch 2.0 → switch 1.1 (cable 2 of 2)",
    ]
    assert len(found.failed) == 2
