"""Pages and figures for comparisons and calibrations: every result figure, in the table and as a
mark.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conftest import Ended, data
from elanite.cli import compare
from elanite.figures import Figure, axes, dodge, figure_changes, tabular
from elanite.report.pages import Inputs, comparison, frame
from elanite.results.folders import Comparison, StoreLine, compare_stores
from elanite.results.samples import ComparisonState, Sample, SamplePair
from elanite.store import Store
from elanite.study import residuals
from elanite.study.measurements import ValueComparison
from test_calibrate import SHORT, pings
from test_compare import faster
from test_pages import FOREIGN, Parts, tables_of, text_of

__all__ = ["faster", "pings"]

Run = Callable[..., Ended]


def line(
    message: str, metric: str, a: list[float], b: list[float], drew: bool = False, **more: object
) -> StoreLine:
    pair = SamplePair(
        *(Sample(tuple((n, 0) for n in range(len(each))), tuple(each), drew) for each in (a, b))
    )
    return StoreLine("x", "size", {"message": message, "to": 5} | more, "", metric, "us", pair)


def test_every_figure_of_a_comparison_is_one_mark() -> None:
    lines = [
        line(f"{size} KB", "latency", [float(size)], [size * 1.5], source=source)
        for size in (1, 4, 16, 64)
        for source in ("main", "elan")
    ]
    lines += [line("1 KB", "bandwidth", [0.0], [0.0]), line("4 KB", "bandwidth", [0.0], [3.0])]
    lines += [line("1 KB", "wait", [9.0, 1.0, 5.0], [9.5, 1.4, 5.5], drew=True)]
    lines += [line("4 KB", "wait", [9.0, 1.0], [8.0, 2.0], drew=True)]
    (found,) = figure_changes.draw(lines).values()
    assert [figure.title for figure in found] == ["size: latency", "size: wait"], (
        "a ratio to 0 is not drawn"
    )
    for figure in found:
        figure.chart.to_dict(validate=True)
    marks = data(found[0], "_change")
    assert len(marks) == 8
    assert {(row["message"], row["source"]) for row in marks} == {
        (each.parameters["message"], each.parameters["source"]) for each in lines[:8]
    }
    assert {row["_change"] for row in marks} == {0.5}
    assert {row["curve"] for row in marks} == {"main", "elan"}
    first, second = data(found[1], "_change")
    assert first["_state"] == ComparisonState.DIFFERS
    assert 0 < first["_low"] < first["_change"] < first["_high"]
    assert (second["_state"], second["_low"], second["_high"]) == (
        ComparisonState.UNDECIDED,
        None,
        None,
    ), "no interval of two"


def test_a_name_has_one_colour_and_panels_one_axis() -> None:
    """Lines have point order: the size of a change moves no panel and no colour."""

    def lines(change: float) -> list[StoreLine]:
        some = [
            line(
                f"{size} KB",
                metric,
                [8.0],
                [8.0 + (change if kind == "b" else 1) * size * up],
                kind=kind,
                up=f"u{up}",
            )
            for metric in ("latency", "bandwidth")
            for kind in "abcde"
            for up in (1, 2, 3)
            for size in (1, 4, 16)
            if metric == "latency" or kind not in "ac"
        ]
        return [replace(one, series=series) for series in ("first", "second") for one in some]

    described = []
    for change in (0.1, 5.0):
        drawn = figure_changes.draw(lines(change))
        assert list(drawn) == [("x", "first"), ("x", "second")]
        figures = [figure for several in drawn.values() for figure in several]
        colours: dict[str, dict[str, set[str]]] = {}
        for figure in figures:
            legend = tabular.legends(figure.spec())[0]
            for key in legend.keys:
                colours.setdefault(legend.title, {}).setdefault(key.name, set()).add(key.colour)
        for here in colours.values():
            assert {len(each) for each in here.values()} == {1}
            assert len(set.union(*here.values())) == len(here)
        for metric in ("latency", "bandwidth"):
            panels = [figure for figure in drawn["x", "first"] if metric in figure.title]
            assert (
                len({json.dumps([domain(figure, axis) for axis in "xy"]) for figure in panels}) == 1
            )
            assert len(panels) > (metric == "latency")
        described.append(([figure.title for figure in figures], colours))
    assert described[0] == described[1]


def domain(figure: Figure, axis: str) -> list[float]:
    (found,) = {
        tuple(scale["domain"])
        for layer in figure.spec()["layer"]
        if "domain" in (scale := layer["encoding"].get(axis, {}).get("scale", {}))
    }
    return list(found)


def test_every_state_has_a_sign_and_its_interval_in_the_data() -> None:
    lines = [
        line("1 KB", "wait", [9.0, 1.0, 5.0], [9.5, 1.4, 5.6], drew=True),
        line("4 KB", "wait", [100.0, 100.1, 99.9], [100.1, 99.9, 100.0], drew=True),
        line("16 KB", "wait", [9.0, 1.0], [8.0, 2.0], drew=True),
    ]
    ((figure,),) = figure_changes.draw(lines).values()
    signs = {
        layer["transform"][0]["filter"]["equal"]: (layer["mark"]["shape"], layer["mark"]["filled"])
        for layer in figure.spec()["layer"]
        if "transform" in layer
    }
    assert set(signs) == set(ComparisonState)
    assert len(set(signs.values())) == 3
    head, rows = tabular.table(figure)
    assert head == ["message", "change", "95% interval from", "to", "state"]
    assert [row[1] for row in rows] == ["+10%", "+0%", "+0%"]
    assert rows[0][2:] == ["+5.0317%", "+14.9683%", "differs"]
    assert rows[2][2:] == ["", "", "undecided"]


def test_flags_are_counts_of_runs_in_the_table() -> None:
    lines = [
        line("1 KB", "saturated", [1.0, 0.0], [1.0, 1.0], drew=True),
        line("4 KB", "saturated", [0.0, 0.0], [1.0, 1.0]),
        line("1 KB", "latency", [4.0], [5.0]),
    ]
    ((figure,),) = figure_changes.draw(lines).values()
    assert figure.title == "size: latency, message 1 KB", (
        "a parameter of the series that the marks do not vary"
    )
    page = comparison.page(
        Comparison(tuple(lines), 0, 0, 0, 0), ("a", "b"), ["elanite"], Inputs(["elanite"])
    )
    assert "latency" in page.findings[0]
    rows = {
        (row[0], *row[2:])
        for table in page.sections[-1].tables
        for row in table.rows
        if "queues grow" in row[1]
    }
    assert rows == {
        ("1 KB", "1 of 2", "2 of 2", "", "undecided"),
        ("4 KB", "0 of 2", "2 of 2", "", "differs"),
    }


def test_tables_have_the_parameters_of_the_series(capsys: pytest.CaptureFixture[str]) -> None:
    differs = line("1 KB", "latency", [4.0], [5.0], on="es40-qsnet")
    lines = (differs, line("1 KB", "latency", [4.0], [4.0], on="opteron-qsnet2"))
    page = comparison.page(
        Comparison(lines, 0, 0, 0, 0), ("a", "b"), ["elanite"], Inputs(["elanite"])
    )
    tables = [table for section in page.sections for table in section.tables]
    assert [table.columns[0] for table in tables] == ["machine", "machine"]
    compare._compared(Comparison(lines, 0, 0, 0, 0), every=True)
    assert {"machine", "on"} & set(capsys.readouterr().out.split()) == {"machine"}


def test_the_finding_has_the_factor_of_a_decrease() -> None:
    lines = (line("1 KB", "latency", [5.0], [4.0]), line("4 KB", "latency", [100.0], [124.0]))
    page = comparison.page(
        Comparison(lines, 0, 0, 0, 0), ("a", "b"), ["elanite"], Inputs(["elanite"])
    )
    assert "B / A 0.8, a factor of 1.25; A has 5, B has 4" in page.findings[0]


def test_changes_have_signs_and_separators_on_the_axis() -> None:
    vl_convert = pytest.importorskip("vl_convert")
    lines = [line("1 KB", "latency", [1.0], [21.0]), line("4 KB", "latency", [1.0], [1.0])]
    ((figure,),) = figure_changes.draw(lines).values()
    drawn = vl_convert.vegalite_to_svg(figure.chart.to_json(validate=False))
    assert {"0%", "+1,000%", "+2,000%"} <= set(re.findall(r">([+\d,]+%)<", drawn))


def test_equal_zeros_are_marks_and_others_are_counted() -> None:
    lines = [
        line("0 B", "bandwidth", [0.0], [0.0]),
        line("1 KB", "bandwidth", [5.0], [4.0]),
        line("4 KB", "bandwidth", [0.0], [4.0]),
    ]
    ((figure,),) = figure_changes.draw(lines).values()
    marks = {row["message"]: row for row in data(figure, "_change")}
    assert marks["0 B"]["_change"] == 0
    assert marks["0 B"]["_state"] == ComparisonState.EQUAL
    assert "4 KB" not in marks
    assert figure.caption.endswith("Without a mark, because A is 0: 1 figure; the table has them.")
    assert {row["_low"] for row in marks.values()} == {None}, "exact figures have no interval"


def test_exact_marks_at_one_place_stand_side_by_side() -> None:
    """Points without random numbers have no intervals, and equal changes would hide each other."""
    lines = [
        line(f"{size} KB", "latency", [size], [size * 1.5], source=source)
        for size in (1, 4)
        for source in "ab"
    ]
    ((figure,),) = figure_changes.draw(lines).values()
    assert len({row["_shift"] for row in data(figure, "_change")}) == 2
    assert dodge.SIDE_BY_SIDE in figure.caption


def test_legends_share_the_colours() -> None:
    """Another legend's names leave the first colours to this one's curves, which stay easy to
    distinguish.
    """
    lines = [
        line(f"{size} KB", "latency", [size], [size * 1.5], source=name)
        for size in (1, 4)
        for name in "abcde"
    ]
    other = [
        line(f"{size} KB", "wait", [size], [size * 1.2], target=name)
        for size in (1, 4)
        for name in "vwxyz"
    ]
    ((first, second),) = figure_changes.draw([*lines, *other]).values()
    colours = [
        [key.colour for key in tabular.legends(one.spec())[0].keys] for one in (first, second)
    ]
    assert colours[0] == colours[1]


def place(
    series: str, metric: str, measured: float, job: str | None = None, **about: object
) -> ValueComparison:
    names = {"id": "x", "experiment": "mine", "series": series, "seed": 1}
    return ValueComparison(
        names | about, job, metric, "us", measured, 0.1, True, 0.1, measured + 1, measured + 0.05
    )


def drawn(places: list[ValueComparison]) -> list[Figure]:
    class Found:
        def __init__(self) -> None:
            self.places = places
            self.swept: dict[tuple[str, str], tuple[str, ...]] = {}

    found: Any = Found()
    figures = list(residuals.draw(found.places, found.swept))
    for figure in figures:
        figure.chart.to_dict(validate=True)
    return figures


def test_every_measured_value_is_one_mark() -> None:
    places = [
        place(
            "size",
            "latency",
            3.0 * n,
            message=f"{4**n} KB",
            message_bytes=1024 * 4**n,
            source=source,
        )
        for n in range(1, 5)
        for source in ("main", "elan")
    ]
    places += [
        place("patterns", "accepted", 50, "a", pattern="uniform"),
        place("patterns", "accepted", 40, "b"),
    ]
    places += [place("alone", "latency", 7.0)]
    found = drawn(places)
    names = ["size: latency", "patterns: accepted", "alone: latency"]
    assert [figure.title for figure in found] == [
        text for name in names for text in (name, f"{name}, residuals")
    ]
    assert tabular.table(found[0])[0][-4:] == [
        *(f"{name}, µs" for name in ("measured", "before", "after")),
        "residual, standard errors",
    ]
    joined = ["lines: simulated" in figure.caption for figure in found[::2]]
    kinds = [{layer["mark"]["type"] for layer in figure.spec()["layer"]} for figure in found[::2]]
    assert [("line" in kind, "tick" in kind) for kind in kinds] == [
        (one, not one) for one in joined
    ]
    assert joined == [True, False, False]
    marks = [row for figure in found[::2] for row in data(figure, "_measured")]
    assert sorted(row["_measured"] for row in marks) == sorted(each.measured for each in places)
    for row in marks:
        assert row["_high"] - row["_low"] == pytest.approx(2 * 1.96 * 0.1)
        assert row["_residual"] == pytest.approx(0.5)
        assert row["_before"] == pytest.approx(row["_measured"] + 1)


def test_residuals_that_are_equal_stand_side_by_side() -> None:
    places = [
        place(
            "size", "latency", size, message=f"{size} KB", message_bytes=1024 * size, source=source
        )
        for size in (1, 4)
        for source in ("main", "elan")
    ]
    values, residuals = drawn(places)
    assert len({row["_shift"] for row in data(residuals, "_residual")}) == 2
    assert dodge.SIDE_BY_SIDE in residuals.caption
    assert dodge.SIDE_BY_SIDE in values.caption
    far = [
        replace(each, after=each.measured - 0.2 * (each.about["source"] == "main"))
        for each in places
    ]
    _, residuals = drawn(far)
    assert {row["_shift"] for row in data(residuals, "_residual")} == {0.0}, (
        "none hides another one"
    )
    assert dodge.SIDE_BY_SIDE not in residuals.caption


def test_captions_name_the_error_of_values_without_a_sigma() -> None:
    one = place("size", "latency", 3.0, message="1 KB", message_bytes=1024)
    said = "Values without a sigma count with a standard error of 1%."
    assert not any(said in figure.caption for figure in drawn([one]))
    assert all(said in figure.caption for figure in drawn([replace(one, stated=False)]))


def test_many_configurations_are_panels() -> None:
    places = [
        place(
            "size",
            "latency",
            size + to,
            message=f"{size} KB",
            message_bytes=1024 * size,
            to=to,
            source=source,
        )
        for size in (1, 4, 16, 64)
        for to in range(1, 7)
        for source in ("main", "elan")
    ]
    found = drawn(places)[::2]
    assert len(found) > 1
    assert sum(len(data(figure, "_measured")) for figure in found) == len(places)
    for figure in found:
        assert len({row["curve"] for row in data(figure, "_measured")}) <= 7
        axis = figure.spec()["layer"][0]["encoding"]["y"]["axis"]
        assert set(axis["values"][1:-1]) <= set(axes.DECADES), "as on the pages of runs"


def test_the_page_of_a_comparison(
    elanite: Run, campaign: Path, faster: Path, tmp_path: Path
) -> None:
    words = ("compare", str(campaign), str(faster), "--html", "changes.html")
    ended = elanite(*words, "--format", "json")
    assert ended.code == 0, ended.err
    page = (tmp_path / "changes.html").read_text(encoding="utf-8")
    parts = Parts(page)
    assert parts.loads == []
    assert FOREIGN.search(text_of(page)) is None
    assert parts.headings[0] == f"{campaign} and {faster} compared"
    assert shlex.split(parts.command) == [
        "elanite",
        *words[:3],
        "--format",
        "json",
        "--html",
        "changes.html",
    ]
    found = json.loads(ended.out)
    counts = [sum(each["state"] == state for each in found) for state in ComparisonState]
    assert (
        f"{len(found)} figures of the configurations in both folders: {{}} differ, {{}} equal, {{}}"
        " undecided.".format(*counts)
        in parts.findings
    )
    assert parts.findings[0].startswith(f"Largest change of the {counts[0]} figures that differ: ")
    rows = [
        row
        for table in re.findall(r'<table class="listed">.*?</table>', page, re.DOTALL)
        for row in states(table)
    ]
    assert sorted(rows) == sorted(each["state"] for each in found)
    # The results are inside: the comparison is the same without the folders.
    opened = elanite("open", "changes.html", "--into", "else")
    assert opened.code == 0, opened.err
    again = shlex.split(opened.out.partition(" && ")[2])[1:]
    ended = elanite(*again, cwd=tmp_path / "else")
    assert json.loads(ended.out) == found


def test_large_results_stay_outside_of_a_page(
    campaign: Path, faster: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = compare_stores(Store(campaign / "store"), Store(faster / "store"))
    for name, value in (("MOST_BYTES", 1000), ("MOST_FILES", 3)):
        with monkeypatch.context() as changed:
            changed.setattr(comparison, name, value)
            inside = comparison.inputs(found, campaign, faster, [])
            page = comparison.page(found, ("a", "b"), ["elanite"], inside)
        assert inside.files == {}
        assert list(inside.absent) == [f"{campaign.name}/store", f"{faster.name}/store"]
        assert "the page does not hold them" in page.notes[-1]
    same = [tmp_path / folder / "out" for folder in "xy"]
    empty = Comparison((), 0, 0, 0, 0)
    assert list(comparison.inputs(empty, *same, ["--all"]).words) == [
        "elanite",
        "compare",
        "out-a",
        "out-b",
        "--all",
    ]


def test_a_page_holds_the_compared_points_only(
    campaign: Path, faster: Path, tmp_path: Path
) -> None:
    b = tmp_path / "some"
    kept = sorted(Store(faster / "store").identities())[:4]
    for point in kept:
        shutil.copytree(faster / "store" / point, b / "store" / point)
    found = compare_stores(Store(campaign / "store"), Store(b / "store"))
    inside = comparison.inputs(found, campaign, b, [])
    points = [
        name.split("/") for name in dict.fromkeys(name.rpartition("/")[0] for name in inside.files)
    ]
    assert sorted(point for folder, _, point in points if folder == "some") == kept
    theirs = {point for folder, _, point in points if folder == campaign.name}
    assert found.only_a > 0
    assert len(kept) <= len(theirs) < len(set(Store(campaign / "store").identities()))


def test_many_names_of_inputs_are_folded() -> None:
    for count, folded in ((3, False), (40, True)):
        inputs = Inputs(
            ["elanite", "compare"],
            {f"a/store/{n}/rows.parquet": b"\0" * 2**18 for n in range(count)},
        )
        text = frame.render(frame.Page("Title", ["elanite"], inputs))
        outside = re.sub(
            r"<details class=.listed.>.*?</details>|<script.*?</script>", "", text, flags=re.DOTALL
        )
        assert ("a/store/2/rows.parquet" in outside) is not folded
        assert ("40 files, 10.0 MB." in outside) is folded


@pytest.mark.parametrize(("drew", "words"), [(True, "1.05 ± 0.014"), (False, "1.05")])
def test_the_largest_change_is_that_of_pairs(drew: bool, words: str) -> None:
    """Means with wide intervals differ where their pairs do; the sentence has the interval that
    decides.
    """
    a = [200.0, 225.0, 250.0]
    lines = [
        line("1 KB", "latency", a, [1.05 * each for each in a], drew),
        line("4 KB", "latency", a, a, drew),
    ]
    inputs = Inputs(["elanite"])
    (first, *_) = comparison.page(
        Comparison(tuple(lines), 0, 0, 0, 0), ("a", "b"), ["elanite"], inputs
    ).findings
    assert first.startswith(
        f"Largest change of the figure that differs: latency, µs, B / A {words}"
    )
    assert (", pair by pair;" in first) is drew


def states(table: str) -> list[str]:
    return re.findall(rf"<td[^>]*>({'|'.join(ComparisonState)})</td>\s*</tr>", table)


def test_the_page_of_a_calibration(elanite: Run, pings: Path, tmp_path: Path) -> None:
    words = [
        "calibrate",
        "qsnet/ping",
        "--fit",
        "bus.rate=150 MB/s..400 MB/s",
        "--fit",
        "tport.handle=100..200",
    ]
    words += [
        "--to",
        str(pings),
        "--machine-out",
        "fitted.toml",
        "--html",
        "fit.html",
        "--format",
        "json",
    ]
    words += [*(part for each in SHORT for part in ("--set", each))]
    ended = elanite(*words)
    assert ended.code == 2, "one value is not determined; the page is there"
    page = (tmp_path / "fit.html").read_text(encoding="utf-8")
    parts = Parts(page)
    assert parts.loads == []
    assert parts.headings[0] == "Calibration of es40-qsnet"
    assert sorted(shlex.split(parts.command)) == sorted(["elanite", *words])
    assert re.match(
        r"bus.rate: 231.\d+ MB/s \(95% interval .* to .*\), 264 MB/s before", parts.findings[0]
    )
    assert "Not determined: tport.handle keeps 168; no measured value depends on it." in text_of(
        page
    )
    tables = tables_of(page)
    assert [row[-2] for row in tables["Fitted parameters"][1:]] == ["0.9%", "not determined"]
    assert len(tables["Measured values"]) == 1 + 4
    opened = elanite("open", "fit.html")
    assert opened.code == 0, opened.err
    assert (tmp_path / "fit" / "measured.csv").read_bytes() == pings.read_bytes()
    again = shlex.split(opened.out.partition(" && ")[2])
    named = [
        "--machine",
        "es40-qsnet",
        *("measured.csv" if word == str(pings) else word for word in words),
    ]
    assert sorted(again) == sorted(["elanite", *named]), (
        "all options, and files by their names in the folder"
    )
