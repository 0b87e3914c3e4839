"""Congestion matrices for several points have one time scale, and point differences are differences
of sums.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import altair as alt
import polars as pl
import pytest
import vl_convert as vlc

import elanite as el
from elanite.figures import matrix_comparison, tabular
from elanite.figures.matrix import moments_of, of_delays, of_waits
from elanite.figures.matrix_comparison import PicturePoint
from elanite.figures.matrix_places import LEFT, WIDTH, layout

LETTER = 6.5
"""The width of a letter in a row's name, in pixels."""

EXPERIMENT = {
    "title": "Two loads",
    "source": "test",
    "machine": "es40-qsnet",
    "run": {"warm_up": "10 us", "window": "40 us", "slices": 3, "seeds": 1},
    "series": [
        {
            "name": "load",
            "jobs": {
                "all": {
                    "pattern": "complement",
                    "nodes": 16,
                    "message": "1 KB",
                    "sizes": "fixed",
                    "arrivals": "exponential",
                    "load": ["150 MB/s", "330 MB/s"],
                }
            },
        }
    ],
}


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> list[PicturePoint]:
    """Two loads on a 16-node machine, and one on a smaller machine."""
    out = tmp_path_factory.mktemp("out")
    experiment = el.Experiment.from_dict(EXPERIMENT)
    few = el.Machine.load(
        "es40-qsnet", ["topology.nodes=16", "topology.down=[4,4]", "topology.up=[4]"]
    )
    found = el.run(experiment, few, out=out)
    made = [
        PicturePoint(point.parameters["load"], found.congestion(point)) for point in found.points
    ]
    other = el.run(experiment, el.Machine.load("es40-qsnet"), out=out)
    return [*made, PicturePoint("64 nodes", other.congestion(other.points[1]))]


def layers(spec: dict[str, Any], channel: str) -> list[dict[str, Any]]:
    return [layer["encoding"][channel] for layer in spec["layer"] if channel in layer["encoding"]]


def test_all_pictures_have_one_scale_in_time(cases: list[PicturePoint]) -> None:
    drawn = {figure.name: figure for figure in matrix_comparison.draw(cases)}
    assert list(drawn) == [
        *("waits-1", "waits-1-difference", "waits-2"),
        *("delays-1", "delays-1-difference", "delays-2"),
    ]
    for kind, column in (("waits", "waiting_us"), ("delays", "delay_us")):
        most = {}
        for channel, table in (("color", "links"), ("fill", "switches")):
            domains = [
                layers(drawn[name].spec(), channel)[0]["scale"]["domain"]
                for name in (f"{kind}-1", f"{kind}-2")
            ]
            assert domains[0] == domains[1]
            most[channel] = domains[0][1]
            (low, high) = layers(drawn[f"{kind}-1-difference"].spec(), channel)[0]["scale"][
                "domain"
            ]
            assert (low, high) == (-most[channel], most[channel])
            window = max(getattr(case.matrix, table)[column].fill_null(0).max() for case in cases)
            assert most[channel] >= round(window, 2)
    for name in ("waits-1", "waits-1-difference"):
        assert "<svg" in vlc.vegalite_to_svg(drawn[name].spec())


def test_captions_round_the_exact_sums_as_tables_do(cases: list[PicturePoint]) -> None:
    """Squares keep five digits, and 1796.497 would become 1796.5 and then 1,796 or 1,797."""
    first = cases[0].matrix
    scale = 1796.497 / first.links["waiting_us"].fill_null(0).max()
    longer = replace(first, links=first.links.with_columns(pl.col("waiting_us") * scale))
    figure = next(
        one
        for one in matrix_comparison.draw([replace(cases[0], matrix=longer)])
        if one.name == "waits"
    )
    assert "The darkest link has 1,796 µs" in figure.caption
    longer = replace(
        first, links=first.links.with_columns(pl.col("waiting_us") * scale * 1796.503 / 1796.497)
    )
    figure = next(
        one
        for one in matrix_comparison.draw([replace(cases[0], matrix=longer)])
        if one.name == "waits"
    )
    assert "The darkest link has 1,797 µs" in figure.caption


def test_the_sums_are_those_of_the_matrices(cases: list[PicturePoint]) -> None:
    figure = next(figure for figure in matrix_comparison.draw(cases) if figure.name == "delays-1")
    head, rows = tabular.table(figure)
    assert head == ["where", "150 MB/s, µs", "330 MB/s, µs"]
    for place, case in enumerate(cases[:2], 1):
        sums = {
            f"{row['from']} → {row['to']}": row["delay_us"]
            for row in case.matrix.links.iter_rows(named=True)
        }
        sums |= {row["name"]: row["delay_us"] for row in case.matrix.switches.iter_rows(named=True)}
        told = {row[0]: float(row[place].replace(",", "")) for row in rows}
        assert told
        for name, value in told.items():
            assert value == pytest.approx(sums[name], rel=1e-3, abs=1e-9), name


def test_the_data_of_a_difference_are_differences(cases: list[PicturePoint]) -> None:
    """For the points that the picture shows first: the hotter one less the other."""
    drawn = {figure.name: figure for figure in matrix_comparison.draw(cases, start=1)}
    tips = json.dumps(drawn["delays-1-difference"].spec()["layer"], ensure_ascii=False)
    assert '"title": "difference, µs"' in tips
    assert '"title": "sum, µs"' not in tips
    figures = {name: tabular.table(figure) for name, figure in drawn.items()}
    head, rows = figures["delays-1-difference"]
    assert head == ["where", "330 MB/s, µs", "150 MB/s, µs", "first less second, µs"]
    sums = {row[0]: row[1:] for row in figures["delays-1"][1]}
    values = [
        [float(cell.replace(",", "").replace("\N{MINUS SIGN}", "-")) for cell in row[1:]]
        for row in rows
    ]
    for name, (first, second, less) in zip((row[0] for row in rows), values, strict=True):
        assert [first, second] == [float(cell.replace(",", "")) for cell in reversed(sums[name])]
        assert less == pytest.approx(first - second, rel=1e-2, abs=0.02)
    assert [abs(less) for *_, less in values] == sorted(
        (abs(less) for *_, less in values), reverse=True
    )
    assert len({less for *_, less in values}) > 5


@pytest.mark.parametrize("beside", ["", ", rails.policy=local-dynamic, message 20000 B"])
def test_two_points_with_long_names_have_a_line_each(beside: str) -> None:
    cases = [SimpleNamespace(label=f"load {load}{beside * 2}") for load in (1, 2)]
    picture: Any = SimpleNamespace(cases=cases, moments=["measured window, 0.2 to 1.2 ms"])
    head = matrix_comparison._head(picture, ["one", "two"], "at")
    chosen = [alt.param(name=name, value=value) for name, value in (("one", 0), ("two", 1))]
    chart = head.add_params(*chosen, alt.param(name="at", value=1))
    drawn = re.findall(r">([^<>]+)</t", vlc.vegalite_to_svg(chart.to_json(validate=False)))
    first, second = (case.label for case in cases)
    rest = f"less {second}, {picture.moments[0]}"
    assert drawn == ([first, rest] if beside else [f"{first} {rest}"])


def test_crosses_stand_for_the_links_that_were_down_in_the_chosen_points(
    cases: list[PicturePoint],
) -> None:
    """Each point has its own dead links, and a cross replaces the number."""
    one, two, three = cases[0].matrix.links.drop_nulls("switch")["link"].head(3)
    first, second = (
        replace(case, matrix=replace(case.matrix, failed=frozenset(down)))
        for case, down in zip(cases[:2], ({one, two}, {two, three}), strict=True)
    )
    drawn = {figure.name: figure for figure in matrix_comparison.draw([first, second])}
    for name, where in (
        ("waits", "in this point"),
        ("waits-difference", "in the first or the second point"),
    ):
        spec = drawn[name].spec()
        assert (
            f"A cross in place of a number marks links that were down {where}."
            in drawn[name].caption
        )
        points = [
            param["name"] for param in spec["params"] if not param["name"].startswith("moment")
        ]
        (failed,) = {
            step["calculate"]
            for layer in spec["layer"]
            for step in layer["transform"]
            if step.get("as") == "failed"
        }
        assert failed == " || ".join(f"datum.down[{point}]" for point in points)
        texts = [
            layer
            for layer in spec["layer"]
            if layer["mark"]["type"] == "text" and "calculate" in str(layer)
        ]
        filtered = [
            str(layer["transform"]) for layer in texts if "datum.sum" in str(layer["transform"])
        ]
        assert filtered
        assert all("!datum.failed" in each for each in filtered)
        squares = next(
            rows
            for rows in spec["datasets"].values()
            if "down" in rows[0] and rows[0]["kind"] == "link"
        )
        assert sum(row["down"][0] for row in squares) == sum(row["down"][1] for row in squares) == 2
        assert sum(any(row["down"]) for row in squares) == 3
    healthy = matrix_comparison.draw(cases[:2])
    assert all("cross" not in figure.caption for figure in healthy)


def test_the_picture_of_a_difference_subtracts_the_second_point(cases: list[PicturePoint]) -> None:
    """The squares' expression, and the sums at its places with both points chosen and at the
    measured window.
    """
    figure = next(
        figure for figure in matrix_comparison.draw(cases) if figure.name == "waits-1-difference"
    )
    spec = figure.spec()
    first, second, moment = (param["name"] for param in spec["params"])
    (expression,) = {
        step["calculate"]
        for layer in spec["layer"]
        for step in layer["transform"]
        if step.get("as") == "sum"
    }
    squares = next(
        rows
        for rows in spec["datasets"].values()
        if "us" in rows[0] and any("→" in row["name"] for row in rows)
    )
    steps = len(cases[0].matrix.slices["slice"].unique()) + 1
    assert steps == 4
    waits = [
        {
            f"{row['from']} → {row['to']}": row["waiting_us"]
            for row in case.matrix.links.iter_rows(named=True)
        }
        for case in cases[:2]
    ]
    assert (
        expression
        == f"datum.us[{first} * 4 + {moment} - 1] - datum.us[{second} * 4 + {moment} - 1]"
    )
    for row in squares:
        for one, other in ((1, 0), (0, 1)):
            got = row["us"][one * 4 + 4 - 1] - row["us"][other * 4 + 4 - 1]
            assert got == pytest.approx(
                waits[one][row["name"]] - waits[other][row["name"]], abs=0.011
            )


def test_the_legend_of_a_difference_names_both_ends_with_their_signs(
    cases: list[PicturePoint],
) -> None:
    """Labels at the colour scale's ends are aligned inwards, and inside the picture."""
    figure = next(
        figure for figure in matrix_comparison.draw(cases) if figure.name == "waits-1-difference"
    )
    for channel in ("color", "fill"):
        one = layers(figure.spec(), channel)[0]
        low, high = one["scale"]["domain"]
        assert one["legend"]["values"] == [low, 0, high]
    svg = vlc.vegalite_to_svg(figure.spec())
    signed = re.findall(
        r'<text text-anchor="(\w+)" transform="translate\(([-\d.]+),[^>]*>([^<]*)</text>', svg
    )
    ends = [
        (anchor, float(x), text)
        for anchor, x, text in signed
        if re.fullmatch("[\N{MINUS SIGN}-][0-9.,]+", text)
    ]
    assert [anchor for anchor, _, _ in ends if anchor == "start"] == ["start", "start"]
    assert all(x >= 0 for anchor, x, _ in ends if anchor == "start")


TORUS = ["topology.kind=torus", "topology.nodes=16", "topology.dimensions=[4, 4]"]

DRAGONFLY = [
    "topology.kind=dragonfly",
    "topology.nodes=12",
    "topology.terminals=1",
    "topology.group=4",
]
DRAGONFLY += ["topology.global=1", "topology.groups=3", "topology.routing=minimal"]


@pytest.mark.parametrize(
    ("changes", "kinds", "ends"),
    [
        (TORUS, ["dimension 1", "dimension 2"], "0,0; 1,0; 2,0; … to 3,3"),
        (DRAGONFLY, ["global", "local"], "0.0; 0.1; 0.2; … to 2.3"),
    ],
)
def test_networks_without_levels_have_a_row_for_each_kind_of_links(
    tmp_path: Path, changes: list[str], kinds: list[str], ends: str
) -> None:
    experiment = EXPERIMENT | {"machine": "infiniband-ndr"}
    text = (
        json.dumps(experiment)
        .replace('"nodes": 16', '"nodes": 12')
        .replace("330 MB/s", "30 GB/s")
        .replace("complement", "uniform")
    )
    machine = el.Machine.load(
        "infiniband-ndr", [*changes, "link.channels=8", "link.hop_delay=99.84 ns"]
    )
    found = el.run(el.Experiment.from_dict(json.loads(text)), machine, out=tmp_path / "out")
    matrix = found.congestion(found.points[1])
    for view, rows in (
        (of_waits(matrix), ["to nodes"]),
        (of_delays(matrix), ["from nodes", "at nodes"]),
    ):
        members, labels, _ = layout(view)
        for x, text in labels.select("x", "text").iter_rows():
            assert x > LEFT or x + LETTER * min(len(text), len("from above")) < LEFT, text
        assert labels.filter(pl.col("align") == "left")["text"].to_list()[
            : len(kinds) + len(rows) + 1
        ] == [
            *("switches", *kinds, *rows),
        ]
        assert members.filter(pl.col("kind") == "link").height == len(view.links) + len(
            view.ends
        ), "each link once"
    (first, *_) = matrix_comparison.draw([PicturePoint("a" * 500, matrix)])
    assert ends in first.caption
    assert not re.search("upwards|downwards|above|below", first.caption)
    svg = vlc.vegalite_to_svg(first.spec())
    (width,) = re.findall(r'^<svg[^>]* width="(\d+)"', svg)
    assert int(width) < 1.05 * WIDTH, "a long label does not widen the picture"


def test_a_network_with_much_lower_sums_says_so(cases: list[PicturePoint]) -> None:
    """The last picture shows another network, on the first one's scale."""
    links = cases[2].matrix.links.with_columns(pl.col("waiting_us") / 1000)
    switches = cases[2].matrix.switches.with_columns(pl.col("waiting_us") / 1000)
    low = replace(
        cases[2].matrix, links=links, switches=switches, slices=cases[2].matrix.slices.clear()
    )
    drawn = {
        figure.name: figure.caption
        for figure in matrix_comparison.draw([*cases[:2], PicturePoint("low", low)])
    }
    assert "pale on this scale" in drawn["waits-2"]
    assert all(
        "pale on this scale" not in drawn[name] for name in ("waits-1", "delays-1", "delays-2")
    )


def test_a_window_from_the_start_on_is_the_entire_run(cases: list[PicturePoint]) -> None:
    whole = replace(cases[0].matrix, window=(0.0, 50.0))
    assert moments_of(whole)[-1].startswith("entire run, 0 to ")
    assert moments_of(cases[0].matrix)[-1].startswith("measured window, ")


def test_a_single_point_has_no_list_and_no_difference(cases: list[PicturePoint]) -> None:
    drawn = matrix_comparison.draw([PicturePoint("", cases[0].matrix)])
    assert [figure.name for figure in drawn] == ["waits", "delays"]
    assert all(
        "bind" not in param
        for param in drawn[0].spec()["params"]
        if param["name"].startswith("point")
    )
    assert matrix_comparison.draw([]) == []


def test_points_with_slices_keep_their_slider_beside_points_without(
    cases: list[PicturePoint],
) -> None:
    """A point without slices, or with other ones, has its own picture; it takes the slider from no
    other point.
    """
    first, second, _ = cases
    bare = replace(
        second,
        label="bare",
        matrix=replace(second.matrix, slice_count=0, slices=second.matrix.slices.clear()),
    )
    drawn = {figure.name: figure for figure in matrix_comparison.draw([first, second, bare])}
    titles = {name: figure.title for name, figure in drawn.items() if "difference" not in name}
    assert titles["waits-1"] == "Waits for links that leave switches, 3 slices of 0.017 ms"
    assert titles["waits-2"] == "Waits for links that leave switches, without slices of time"
    for name, figure in drawn.items():
        sliders = [
            one for one in figure.spec()["params"] if one.get("bind", {}).get("input") == "range"
        ]
        assert bool(sliders) == ("-1" in name), name
    (alone,) = (
        figure.title for figure in matrix_comparison.draw([first, second]) if figure.name == "waits"
    )
    assert alone == "Waits for links that leave switches"


def test_too_many_slices_for_a_picture_are_named(
    cases: list[PicturePoint], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matrix_comparison, "MOST_NUMBERS", 10)
    for figure in matrix_comparison.draw(cases[:1]):
        assert 'too many for this picture: result.table("slices") has them' in figure.caption
