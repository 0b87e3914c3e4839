"""Pages for saturation searches, benchmarks beside jobs, fractions, and failures in several seeds.

Every number on such a page is in the output of ``--format csv``, and belongs to the run that it
names.
"""

from __future__ import annotations

import html
import re
from collections import defaultdict
from pathlib import Path
from random import Random

import polars as pl
import pytest

import elanite as el
from drawings import means as drawn
from elanite.base.text import number
from elanite.figures import axes, default_figures, figure_requests
from elanite.library.api import load_results
from elanite.report.pages import curves, findings
from elanite.report.pages.failures import REASONS, failures
from test_figure_grouping import base
from test_page_states import curve
from test_pages import Parts, tables_of
from test_pages_findings import Run, means, results

RUN = """
title = "Own"
machine = "es40-qsnet"
[run]
warm_up = "10 us"
window = "60 us"
batches = 4
seeds = 1
"""

MEASURED = ("id", "seed", "metric", "unit", "batch", "value", "state", "because")
"""Columns that are no parameters."""

JOB = 'nodes = "8-15"\nmessage = "1 KB"\nsizes = "fixed"\narrivals = "exponential"\n'

SEARCH = f"""{RUN}
[[series]]
name = "search"
[series.saturation]
highest = "400 MB/s"
resolution = 0.2
[series.jobs.a]
pattern = ["tornado", "neighbor"]
load = "20 MB/s"
{JOB}
[[series]]
name = "load"
[series.jobs.a]
pattern = "tornado"
load = ["60 MB/s", "330 MB/s"]
{JOB}
"""

BARRIERS = f"""{RUN}
[[series]]
name = "barrier"
[series.collective]
operation = "gsync"
nodes = ["0-3", "0-6:2"]
repeats = 8
[series.jobs.background]
pattern = "uniform"
load = ["30 MB/s", "120 MB/s"]
{JOB}
[[series]]
name = "overlap"
[series.overlap]
from = 0
to = 1
message = ["8 KB", "64 KB"]
compute = ["0 us", "200 us"]
repeats = 2
"""


def test_a_search_has_no_load_where_it_begins(elanite: Run, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(SEARCH, encoding="utf-8")
    rows = results(elanite("run", "mine.toml", "--html", "page.html", "--format", "csv"))
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    text = " ".join(
        [
            *Parts(page).findings,
            *(cell for table in tables_of(page).values() for row in table for cell in row),
        ]
    )
    assert "20 MB/s" not in re.findall(r"(?:at|load|to|from) ([\d.]+ MB/s)", text), (
        "no result is of this load"
    )
    found = {
        (row["pattern"], metric): mean
        for row, metric, mean in means(rows)
        if row["series"] == "search"
    }
    _, *body = tables_of(page)["Saturation point of every configuration of search"]
    assert [row[0] for row in body] == ["tornado", "neighbor"]
    for (label, *cells), pattern in zip(body, ("tornado", "neighbor"), strict=True):
        expected = [
            number(found[pattern, metric]) for metric in ("saturation", "accepted", "latency_mean")
        ]
        assert [cell.partition(" ")[0] for cell in cells] == expected, label
    (said,) = (
        one for one in Parts(page).findings if one.startswith("Saturation point of search: ")
    )
    ends = sorted(found[pattern, "saturation"] for pattern in ("tornado", "neighbor"))
    figures = re.findall(r"([\d,.]+)(?: ± [\d.,]+)? MB/s per node", said)
    assert figures == [number(end) for end in dict.fromkeys(ends)]
    _, *loads = tables_of(page)["Throughput of every configuration of load"]
    assert len(loads) == 1, "the search is no load"


def test_benchmarks_beside_jobs_have_rows_of_their_own_only(elanite: Run, tmp_path: Path) -> None:
    """Background jobs have no barrier latency, and node sets have no first and last one."""
    (tmp_path / "mine.toml").write_text(BARRIERS, encoding="utf-8")
    rows = results(elanite("run", "mine.toml", "--html", "page.html", "--format", "csv"))
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    latency = {
        (row["nodes"], row["background.load"]): mean
        for row, metric, mean in means(rows)
        if row["series"] == "barrier" and not row["job"] and metric == "latency"
    }
    head, *body = tables_of(page)["Every configuration of barrier"]
    assert head == ["configuration", "latency, µs"]
    assert sorted(row[1].partition(" ")[0] for row in body) == sorted(map(number, latency.values()))
    assert all(re.search(r"nodes 0-[36].*background.load", row[0]) for row in body)
    (said,) = (one for one in Parts(page).findings if one.startswith("Latency"))
    assert number(min(latency.values())) in said
    assert number(max(latency.values())) in said
    assert " at nodes " not in said


def test_results_without_a_load_have_no_state(elanite: Run, tmp_path: Path) -> None:
    """Pings and barriers beside jobs are neither steady nor saturated."""
    (tmp_path / "mine.toml").write_text(BARRIERS, encoding="utf-8")
    rows = results(elanite("run", "mine.toml", "--format", "csv"))
    states: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        states[row["job"] or row["series"]].add(row["state"])
    assert states.pop("background") <= {"steady", "saturated", "undecided"}
    assert states == {"barrier": {""}, "overlap": {""}}
    assert {row["because"] for row in rows if not row["state"]} == {""}


SIDES = 4
"""Random pages with series of several kinds."""


def several_kinds(draw: Random) -> str:
    """Jobs, barriers beside jobs, pings and a closed form; the first three with faults or
    without.
    """
    faults = 'fault = [{ links = "all", bit_error_rate = %s }]\n'
    rates = draw.choice(("[0.0, 1e-5]", "[1e-5]", "[0.0]"))
    loads = [f"{load} MB/s" for load in sorted(draw.sample(range(20, 340, 20), draw.randint(1, 3)))]
    errors = [faults % rates if draw.random() < 0.5 else "" for _ in range(3)]
    series = [
        f'name = "load"\n{errors[0]}[series.jobs.a]\npattern = "tornado"\nload = {loads}\n{JOB}',
        (
            'name = "other"\n[series.jobs.a]\npattern = "tornado"\nload = ["20 MB/s", "40'
            f' MB/s"]\n{JOB}'
        ),
        (
            f'name = "barrier"\n{errors[1]}[series.collective]\noperation = "gsync"\nnodes ='
            ' "0-15"\nrepeats = 8\n[series.jobs.aside]\npattern = "neighbor"\nload = ["40 MB/s",'
            f' "150 MB/s"]\n{JOB}'
        ),
        (
            f'name = "ping"\n{errors[2]}[series.ping]\nfrom = 0\nto = 7\ndirections ='
            ' "both"\nsource = "elan"\ndestination = "elan"\nmessage = ["0 B", "16 KB"]\nrepeats'
            " = 4\n"
        ),
        (
            f'name = "good"\n{faults % "[1e-9, 1e-5]"}[series.goodput]\nfrom = 0\nto = 7\nmessage ='
            ' "320 B"\n'
        ),
    ]
    chosen = draw.sample(series, draw.randint(2, len(series)))
    text = RUN.replace("seeds = 1", f"seeds = {draw.randint(1, 2)}")
    return text + "".join(f"[[series]]\n{one}" for one in chosen).replace("'", '"')


@pytest.mark.parametrize("seed", range(SIDES))
def test_findings_cover_all_series_of_a_page(elanite: Run, tmp_path: Path, seed: int) -> None:
    """Failures, hottest links, loads of jobs beside a benchmark, and names of series, on pages with
    several kinds.
    """
    text = several_kinds(Random(seed))
    (tmp_path / "mine.toml").write_text(text, encoding="utf-8")
    rows = results(elanite("run", "mine.toml", "--html", "page.html", "--format", "csv"))
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    said = Parts(page).findings
    found = load_results(tmp_path / "mine.toml", out=tmp_path / "out")
    assert f"{len({point.id for point in found.points})} points" in page

    closed = {point.series for point in found.points if point.kind == "goodput"}
    counters = (*REASONS, "packets_resent")
    counts = [r for r in rows if r["metric"] in counters and r["series"] not in closed]
    failed = [one for one in said if one.startswith("Failures: ")]
    assert bool(failed) == bool(counts)
    if counts:
        assert (failed[0] == "Failures: no packet was refused or lost.") == (
            not any(float(r["value"]) for r in counts)
        )
        most = max(float(row["value"]) for row in counts if row["metric"] == "packets_resent")
        assert f"{number(most)} packets sent again in a run" in failed[0] or not most
        _, *lines = tables_of(page)["Packets refused, lost and sent again"]
        assert len(lines) == len({key_without_seed(row) for row in counts})

    waits = {
        point.id: max(
            row["waiting_us"] or 0.0 for row in found.congestion(point).links.rows(named=True)
        )
        for point in found.points
    }
    for point in found.points:
        start, end = found.congestion(point).window
        manifest = found.store.get(point.id)
        assert manifest is not None
        assert end == manifest.data["simulated_ps"] / 1e6
        assert start == (10.0 if point.kind in ("jobs", "collective") else 0.0), (
            "pings have no warm-up"
        )
    hottest = max(waits.values())
    if hottest:
        (link,) = (one for one in said if one.startswith("Hottest link"))
        assert f"packets waited {number(hottest)} µs for it" in link
        best = next(point for point in found.points if waits[point.id] == hottest)
        assert f"({best.series}" in link

    tables = {
        name: table for name, table in tables_of(page).items() if name.startswith("Throughput")
    }
    shown = [row[1].partition(" ")[0] for _, *body in tables.values() for row in body]
    best_of: dict[tuple[str, ...], float] = defaultdict(float)
    for row, metric, mean in means(rows):
        if metric == "accepted" and row["job"]:
            key = (row["series"], row["job"], row.get("fault.bit_error_rate", ""))
            best_of[key] = max(best_of[key], mean)
    assert sorted(shown) == sorted(map(number, best_of.values()))
    for series in {row["series"] for row in rows}:
        assert any(re.search(rf"\b{series}\b", one) for one in said), f"a finding names {series}"
    last = {load: float(load.split()[0]) for load in re.findall(r"\d+ MB/s", text)}
    (accepted,) = [
        one for one in said if one.startswith("Highest accepted load") and "aside" not in one
    ] or [""]
    if (
        "; the lowest of the " in accepted
        and '"other"' in text
        and max(
            last[x]
            for x in re.findall(
                r"\d+ MB/s", text.partition('name = "load"')[2].partition("[[series]]")[0]
            )
        )
        > 40
    ):
        assert "(other" not in accepted.partition("the lowest of the ")[2].partition(";")[0]


def key_without_seed(row: dict[str, str]) -> str:
    """A configuration."""
    return repr({name: value for name, value in row.items() if name not in MEASURED})


def test_values_are_in_the_unit_of_their_axis() -> None:
    """An axis in % has percentages, regardless of its name."""
    rows = pl.DataFrame(
        {
            "series": "s",
            "job": None,
            "seed": 1,
            "message": f"{size} KB",
            "message_bytes": size * 1024,
            "metric": "availability",
            "unit": "fraction",
            "batch": None,
            "value": value,
        }
        for size, value in ((1, 0.25), (2, 0.96))
    )
    own = base() | {"metric": "availability", "x": "message_bytes", "curve": [], "series": []}
    for found in (
        default_figures.draw(rows, {"s": "overlap"}),
        figure_requests.figures_over(own | {"y_title": ""}, rows),
    ):
        (figure,) = found
        layer = drawn(figure)
        assert layer["encoding"]["y"]["title"] == "availability, %"
        values = [
            row["mean"]
            for each in figure.spec()["datasets"].values()
            for row in each
            if "mean" in row
        ]
        assert values == pytest.approx([25.0, 96.0])


@pytest.mark.parametrize(
    ("column", "title"),
    [
        pytest.param("load_MBps", "nominal load, MB/s per node", id="the only job"),
        pytest.param("io.load_MBps", "nominal load of io, MB/s per node", id="a job"),
        pytest.param("bus.rate_MBps", "bus.rate, MB/s", id="a rate"),
    ],
)
def test_titles_of_loads_name_their_job(column: str, title: str) -> None:
    assert axes.title(column) == title


def test_the_most_resent_packets_are_those_of_a_run() -> None:
    """A mean over seeds is not a run's maximum."""
    counts = {1: (10.0, 50.0), 2: (40.0, 0.0)}
    rows = pl.DataFrame(
        {
            "id": f"{count}{seed}",
            "series": "s",
            "seed": seed,
            "fault.count": count,
            "job": None,
            "metric": "packets_resent",
            "value": value,
        }
        for count, values in counts.items()
        for seed, value in enumerate(values, 1)
    )
    (said,), (table,) = failures(rows, ["fault.count"])
    assert [row[-1] for row in table.rows] == ["30", "20"]
    assert (
        said
        == "Failures: at most 30 packets sent again as the mean of 2 seeds (fault.count 1); at most"
        " 50 packets sent again in a run; no message ends with an error."
    )
    tied = rows.filter(pl.col("fault.count") == 1)
    both = pl.concat([tied, tied.with_columns(pl.lit(3, pl.Int64).alias("fault.count"))])
    (said,), _ = failures(both, ["fault.count"])
    assert "(fault.count 1; as many in 2 of 2 configurations)" in said
    one = tied.rename({"fault.count": "load"})
    (said,), _ = failures(pl.concat([one, one.with_columns(load=pl.lit(3, pl.Int64))]), ["load"])
    assert "(load 1; as many at 2 of 2 loads)" in said


def test_a_failed_rail_is_a_row_and_a_sentence(tmp_path: Path, elanite: Run) -> None:
    """The rail that a series lets fail is in the fault table of the runs that reach the moment, and
    on their page.
    """
    series = (
        'machine = { rails.count = 2 }\n[series.jobs.a]\npattern = "uniform"\nload = ["20 MB/s",'
        ' "40 MB/s"]\n'
    )
    (tmp_path / "rails.toml").write_text(
        RUN.replace("es40-qsnet", "smart-multirail")
        + f'[[series]]\nname = "whole"\n{series}{JOB}'
        + f'[[series]]\nname = "early"\nfailure = {{ rail = 1, at = "30 us" }}\n{series}{JOB}'
        + f'[[series]]\nname = "end"\nfailure = {{ rail = 0, at = "70 us" }}\n{series}{JOB}'
        + f'[[series]]\nname = "late"\nfailure = {{ rail = 1, at = "71 us" }}\n{series}{JOB}'
    )
    ended = elanite("run", "rails.toml", "--html", "page.html", "--out", "out")
    assert ended.code == 0, str(ended)
    page = html.unescape((tmp_path / "page.html").read_text(encoding="utf-8"))
    assert (
        "Failures: rail 1 is down from 30 µs to the end in 2 of 2 points of early; lost packets are"
        in page
    )
    assert (
        "Failures: rail 0 is down from 70 µs to the end in 2 of 2 points of end; lost packets are"
        in page
    )
    assert "Failures: rail 1 has not failed of late" not in page
    assert (
        "Failures: in the points of late, rail 1 has not failed: the runs end before 71 µs." in page
    )
    assert "points of whole" not in page
    found = el.load_results(tmp_path / "rails.toml", out=tmp_path / "out")
    rows = (
        found.table("faults")
        .select("series", "load", "fault", "part", "name", "down_ps", "up_ps", "known_ps")
        .rows()
    )
    assert rows == [
        (name, load, None, "rail", f"rail {rail}", down * 1_000_000, None, None)
        for name, rail, down in (("early", 1, 30), ("end", 0, 70))
        for load in ("20 MB/s", "40 MB/s")
    ]
    for one in found.points:
        failed = {
            row["from"]
            for row in found.congestion(one)
            .links.filter(pl.col("link").is_in(list(found.congestion(one).failed)))
            .iter_rows(named=True)
        }
        rail = {"early": "1", "end": "0"}.get(one.series)
        assert {name[-1] for name in failed} == ({rail} if rail else set())


def test_no_saturated_configuration_is_left_out_of_its_sentence() -> None:
    def saturating(load: float) -> curves.Curve:
        return curve(f"at {load:g}", (load / 2, load / 2, 0), (load, load / 2, 1))

    def said(*loads: float) -> str:
        (found,) = (
            one
            for one in findings.sentences(
                [saturating(load) for load in loads], {"accepted": "MB/s"}
            )
            if one.startswith("Saturation: ")
        )
        return found

    assert [said(10, 20, 30).count(f"saturated from {load} MB/s") for load in (10, 20, 30)] == [
        1,
        1,
        1,
    ]
    many = said(10, 20, 30, 30, 40)
    assert [many.count(f"saturated from {load} MB/s") for load in (10, 20, 30, 40)] == [1, 0, 0, 1]
    assert many.endswith("; the other 3 between these loads.")
    named: dict[float, int] = defaultdict(int)
    for load in (10, 20):
        named[load] += said(10, 20, 20).count(f"saturated from {load} MB/s")
    assert named == {10: 1, 20: 1}


def test_a_page_has_the_warnings_of_its_run(elanite: Run, tmp_path: Path) -> None:
    """From the plan and from the results; assumed values stand beside their parameters."""
    short = SEARCH.replace("10 us", "1 us").replace(
        '"tornado"\nload', '"tornado"\nprocesses = 4\nload'
    )
    (tmp_path / "mine.toml").write_text(short, encoding="utf-8")
    words = ("--vary", "switch.age_bits=4,5", "--series", "load", "--html", "page.html")
    said = [
        line
        for line in elanite("sweep", "mine.toml", *words).err.splitlines()
        if line.startswith("warning: ")
    ]
    notes = re.findall(
        r'<p class="note"[^>]*>(.*?)</p>',
        (tmp_path / "page.html").read_text(encoding="utf-8"),
        re.DOTALL,
    )
    shown = {html.unescape(note).strip() for note in notes}
    kept = {
        f"{line.removeprefix('warning: ')}." for line in said if "assumed parameters" not in line
    }
    kept = {line for line in kept if not line.startswith("the sources have changed")}
    assert any("run.warm_up" in line for line in kept)
    assert kept <= shown


def test_figures_and_warnings_of_a_search_name_it(elanite: Run, tmp_path: Path) -> None:
    early = SEARCH.replace("10 us", "1 us")
    (tmp_path / "mine.toml").write_text(early, encoding="utf-8")
    ended = elanite(
        "run", "mine.toml", "--series", "search", "--html", "page.html", "--format", "csv"
    )
    said = [line for line in ended.err.splitlines() if "run.warm_up" in line]
    assert [
        "at 20 MB/s, where the search of the saturation point begins, " in line for line in said
    ] == [True]
    page = html.unescape((tmp_path / "page.html").read_text(encoding="utf-8"))
    captions = re.findall(r"<figcaption[^>]*>(.*?)</figcaption>", page, re.DOTALL)
    of_results = [one for one in captions if "over batches" in one or "one value" in one]
    assert sum(default_figures.LOWER_END in one for one in of_results) == len(of_results) - 1, (
        "all but the saturation point"
    )


READS = f"""{RUN}
[[series]]
name = "read"
[series.jobs.reader]
pattern = "uniform"
servers = "60"
writes = 0.0
load = "160 MB/s"
{JOB}
[series.jobs.other]
pattern = "tornado"
load = "20 MB/s"
{JOB.replace("8-15", "32-39")}
"""


def test_flits_of_servers_are_those_of_no_job(elanite: Run, tmp_path: Path) -> None:
    """A job's reads come from its servers, which may run no job."""
    (tmp_path / "mine.toml").write_text(READS, encoding="utf-8")
    assert elanite("run", "mine.toml", "--html", "page.html").code == 0
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    (said,) = (one for one in Parts(page).findings if one.startswith("Hottest link"))
    shares = dict(re.findall(r"(job \w+|servers) \((\d+%|less than 1%)\)", said))
    assert "None" not in said
    head, *body = tables_of(page)[
        next(name for name in tables_of(page) if name.startswith("Hottest links"))
    ]
    assert head[-3:] == ["flits of job other", "flits of job reader", "flits of servers"]
    of_link = dict(zip(("job other", "job reader", "servers"), body[0][-3:], strict=True))
    assert {owner: share for owner, share in shares.items() if share[0].isdigit()} == {
        owner: share for owner, share in of_link.items() if share != "0%"
    }
    assert any(row[-1] not in ("", "0%") for row in body), (
        "servers send on some of the hottest links"
    )
    assert all(
        sum(int(cell.rstrip("%")) for cell in row[-3:]) in (99, 100, 101)
        for row in body
        if all(row[-3:])
    )


def test_a_closed_form_has_no_packets_that_fail(elanite: Run, tmp_path: Path) -> None:
    """It simulates messages without errors: their counters show nothing of the faults."""
    text = """
title = "Closed"
machine = "es40-qsnet"
[[series]]
name = "form"
[[series.fault]]
links = "all"
bit_error_rate = [1e-9, 1e-4]
[series.goodput]
from = 0
to = 63
message = "320 B"
"""
    (tmp_path / "mine.toml").write_text(text, encoding="utf-8")
    rows = results(elanite("run", "mine.toml", "--html", "page.html", "--format", "csv"))
    assert {row["state"] for row in rows if row["metric"] == "accepted"} == {""}, "there is no load"
    said = Parts((tmp_path / "page.html").read_text(encoding="utf-8")).findings
    assert any(one.startswith("Accepted: ") for one in said), said
    assert not any(one.startswith("Failures: ") for one in said), "packets failed in the form only"
