"""A page's findings are result numbers: they equal the output of ``--format csv``."""

from __future__ import annotations

import csv
import io
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest

from conftest import Ended
from elanite.base.text import number
from elanite.figures.default_figures import GROWING
from elanite.report.pages import hot_links
from test_pages import Parts, tables_of

Run = Callable[..., Ended]
Row = dict[str, str]
Key = tuple[tuple[str, str], ...]

TRAFFIC = """
title = "Own traffic"
machine = "es40-qsnet"
[run]
warm_up = "10 us"
window = "60 us"
batches = 4
seeds = {seeds}
"""

NODES = {"packed": ("0-7", "8-15"), "interleaved": ("0,2,4,6,8,10,12,14", "1,3,5,7,9,11,13,15")}


def placements(loads: list[str], seeds: int = 1, other: str = '"100 MB/s"') -> str:
    """Two jobs on two placements, which are separate series."""
    text = TRAFFIC.format(seeds=seeds)
    for name, nodes in NODES.items():
        text += f'[[series]]\nname = "{name}"\n'
        for job, pattern, where, load in (
            ("a", "uniform", nodes[0], loads),
            ("b", "shift 3", nodes[1], other),
        ):
            text += (
                f'[series.jobs.{job}]\npattern = "{pattern}"\nnodes = "{where}"\nmessage = "1 KB"\n'
            )
            text += f'sizes = "fixed"\narrivals = "exponential"\nload = {load}\n'.replace("'", '"')
    return text


def fast(folder: Path) -> None:
    """A machine with another bus."""
    from elanite.inputs.machine import Machine
    from elanite.inputs.machines import rewritten

    made = rewritten(Machine.load("es40-qsnet"), {"bus.rate": ("130 MB/s", "test")}, "slow-bus")
    (folder / "slow-bus.toml").write_text(made.file.text, encoding="utf-8")


def results(ended: Ended) -> list[Row]:
    assert ended.code == 0, ended
    return list(csv.DictReader(io.StringIO(ended.out)))


def means(rows: list[Row]) -> Iterator[tuple[Row, str, float]]:
    """Each configuration and metric with the plain mean over its batches and seeds."""
    values: dict[Key, list[float]] = defaultdict(list)
    for row in rows:
        values[
            tuple((k, v) for k, v in row.items() if k not in ("id", "seed", "batch", "value"))
        ].append(float(row["value"]))
    for key, each in values.items():
        row = dict(key)
        yield row, row["metric"], sum(each) / len(each)


def accepted(rows: list[Row]) -> dict[str, tuple[str, str, str]]:
    """By configuration, the highest accepted load, where it is, and the lowest saturated load."""
    found: dict[str, list[tuple[float, str, float, float]]] = defaultdict(list)
    state = {key_of(row): mean for row, metric, mean in means(rows) if metric == "saturated"}
    varying = [
        k for k in rows[0] if k not in ("job", "series") and len({row[k] for row in rows}) > 1
    ]
    for row, metric, mean in means(rows):
        if metric == "accepted":
            load = f"{row['job']}.load" if f"{row['job']}.load" in row else "load"
            own = [
                k for k in varying if k.endswith((".load", "load", "pattern", "on")) and k != load
            ]
            key = repr((row["series"], row["job"], [row[k] for k in own]))
            found[key].append((float(row[f"{load}_MBps"]), row[load], mean, state[key_of(row)]))
    answer = {}
    for key, places in found.items():
        places.sort()
        _, at, most, _ = max(places, key=lambda place: place[2])
        answer[key] = (number(most), at, next((place[1] for place in places if place[3] > 0.5), ""))
    return answer


def key_of(row: Row) -> Key:
    return tuple((k, v) for k, v in row.items() if k not in ("metric", "unit"))


def agree(page: str, rows: list[Row]) -> None:
    """The sentences and the throughput table agree with the rows."""
    expected = accepted(rows)
    head, *body = tables_of(page)["Throughput of every configuration"]
    assert [cell.split(",")[0] for cell in head[:3]] == ["configuration", "highest accepted", "at"]
    assert len({row[0] for row in body}) == len(body) == len(expected), (
        "a row for each configuration"
    )
    found = sorted((row[1].partition(" ")[0], row[2], row[4]) for row in body)
    assert found == sorted(expected.values())
    jobs = sorted({row["job"] for row in rows if row["job"]})
    for job in jobs:
        own = {key: one for key, one in expected.items() if f"'{job}'" in key}
        _agree(page, body, own, f" of job {job}" if len(jobs) > 1 else "")


def _agree(
    page: str, body: list[list[str]], expected: dict[str, tuple[str, str, str]], job: str
) -> None:
    """The sentence about a job's throughput agrees with its rows."""
    (first,) = (
        one for one in Parts(page).findings if one.startswith(f"Highest accepted load{job}: ")
    )
    said = re.findall(r"([\d,.]+)(?: ± [\d.,]+)? MB/s per node at ([\d.]+ [MG]B/s)", first)
    ranked = sorted(expected.values(), key=lambda one: float(one[0].replace(",", "")))
    assert said[0] == ranked[-1][:2]
    if ranked[0][0] != ranked[-1][0]:
        assert said[1][0] == ranked[0][0]
        assert f"the lowest of the {len(expected)} maxima" in first
    label = re.search(r"^[^;]* at [\d.]+ [MG]B/s \(([^)]*)\)", first)
    if label and not label[1].startswith("all "):
        (row,) = [row for row in body if row[0] == label[1] + job.replace(" of job", ", job")]
        assert (row[1].partition(" ")[0], row[2]) == said[0]


def test_two_machines_and_two_placements_say_what_the_table_says(
    elanite: Run, tmp_path: Path
) -> None:
    fast(tmp_path)
    (tmp_path / "mine.toml").write_text(
        placements(["60 MB/s", "330 MB/s"], seeds=2), encoding="utf-8"
    )
    words = (
        "run",
        "mine.toml",
        "--machine",
        "es40-qsnet",
        "--machine",
        "slow-bus.toml",
        "--html",
        "page.html",
    )
    rows = results(elanite(*words, "--format", "csv"))
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    agree(page, rows)
    labels = [row[0] for row in tables_of(page)["Throughput of every configuration"][1:]]
    assert sum("slow-bus" in label for label in labels) == len(labels) / 2
    assert sum("interleaved" in label for label in labels) == len(labels) / 2
    links = tables_of(page)["Hottest link of every configuration and load"]
    assert len(links) - 1 == len({row["id"] for row in rows if row["seed"] == "1"})


def test_counters_of_faults_are_no_configurations(elanite: Run, tmp_path: Path) -> None:
    text = TRAFFIC.format(seeds=1) + '[[series]]\nname = "lossy"\n'
    text += (
        'fault = [{ links = "all", bit_error_rate = [0.0, 1e-5] }]\n[series.jobs.u]\npattern ='
        ' "uniform"\n'
    )
    text += (
        'nodes = 8\nmessage = "1 KB"\nsizes = "fixed"\narrivals = "exponential"\nload = ["60 MB/s",'
        ' "250 MB/s"]\n'
    )
    (tmp_path / "mine.toml").write_text(text, encoding="utf-8")
    rows = results(elanite("run", "mine.toml", "--html", "page.html", "--format", "csv"))
    assert any(not row["job"] for row in rows), "rows without a job are what this test is about"
    _, *body = tables_of((tmp_path / "page.html").read_text(encoding="utf-8"))[
        "Throughput of every configuration"
    ]
    configurations = {row["fault.bit_error_rate"] for row in rows if row["metric"] == "accepted"}
    assert len(body) == len(configurations) == 2
    assert all(float(row[1].partition(" ")[0]) > 0 for row in body)
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    head, *lines = tables_of(page)["Packets refused, lost and sent again"]
    resent = {line[0]: float(line[head.index("sent again")].replace(",", "")) for line in lines}
    counts = [mean for _, metric, mean in means(rows) if metric == "packets_resent"]
    assert sorted(resent.values()) == sorted(counts)
    assert max(counts) > 0
    (said,) = (one for one in Parts(page).findings if one.startswith("Failures: "))
    worst = max(resent, key=lambda label: resent[label])
    assert said.startswith(
        f"Failures: at most {number(max(counts))} packets sent again in a run ({worst}), "
    )
    assert not any("job" in row[0] for row in body), "the only job distinguishes nothing"


def test_the_sweep_of_a_list_says_what_the_table_says(elanite: Run, tmp_path: Path) -> None:
    text = (
        TRAFFIC.format(seeds=1)
        + '[[series]]\nname = "load"\n[series.jobs.all]\npattern = ["uniform", "tornado"]\n'
    )
    text += (
        'nodes = 16\nmessage = "1 KB"\nsizes = "fixed"\narrivals = "exponential"\nload = "330'
        ' MB/s"\n'
    )
    (tmp_path / "mine.toml").write_text(text, encoding="utf-8")
    words = (
        "sweep",
        "mine.toml",
        "--vary",
        "bus.rate=120 MB/s,250 MB/s",
        "--html",
        "page.html",
        "--format",
        "csv",
    )
    rows = results(elanite(*words))
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    _, *body = tables_of(page)["Throughput of every configuration"]
    got = {row[0]: row[1].partition(" ")[0] for row in body}
    expected = {
        f"bus.rate {row['bus.rate']}, {row['pattern']}": number(mean)
        for row, metric, mean in means(rows)
        if metric == "accepted"
    }
    assert got == expected
    assert len(got) == 4


def test_random_experiments_say_what_their_tables_say(elanite: Run, tmp_path: Path) -> None:
    """Loads, seeds, patterns and jobs drawn from a seed list."""
    for seed in range(3):
        draw = Random(seed)
        loads = sorted(draw.sample(range(40, 340, 20), draw.randint(1, 4)))
        text = placements(
            [f"{load} MB/s" for load in loads],
            draw.randint(1, 2),
            draw.choice(['"90 MB/s"', '"310 MB/s"']),
        )
        (tmp_path / f"r{seed}.toml").write_text(text, encoding="utf-8")
        rows = results(elanite("run", f"r{seed}.toml", "--html", f"{seed}.html", "--format", "csv"))
        agree((tmp_path / f"{seed}.html").read_text(encoding="utf-8"), rows)


PING = """
title = "Own pings"
machine = ["es40-qsnet", "slow-bus.toml"]
[[series]]
name = "ping"
[series.ping]
from = 0
to = [1, 63]
directions = "one"
source = "main"
destination = "main"
message = ["0 B", "4 KB", "64 KB"]
repeats = 2
"""


def test_pings_are_compared_at_the_ends_of_the_axis(elanite: Run, tmp_path: Path) -> None:
    fast(tmp_path)
    (tmp_path / "ping.toml").write_text(PING, encoding="utf-8")
    rows = results(elanite("run", "ping.toml", "--html", "page.html", "--format", "csv"))
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    said = [one for one in Parts(page).findings if one.startswith("Latency at message")]
    assert len(said) == 2
    for sentence, message in zip(said, ("0 B", "64 KB"), strict=True):
        here = {
            (mean, row["on"], row["to"])
            for row, metric, mean in means(rows)
            if metric == "latency" and row["message"] == message
        }
        low, high = min(here), max(here)
        assert sentence.startswith(f"Latency at message {message}: lowest {number(low[0])} µs (")
        assert f"highest {number(high[0])} µs (" in sentence
        assert high[1] in sentence.partition("highest")[2]
    assert "Hottest links" not in page, "a ping waits for no link"


def test_series_that_vary_other_keys_are_not_compared(elanite: Run, tmp_path: Path) -> None:
    """A series over sizes and one over destinations have their own sentences and charts."""
    fast(tmp_path)
    text = PING + PING[PING.index("[[series]]") :].replace('"ping"', '"far"').replace(
        "[1, 63]", "16"
    )
    (tmp_path / "mine.toml").write_text(text, encoding="utf-8")
    rows = results(elanite("run", "mine.toml", "--html", "page.html", "--format", "csv"))
    said = [
        one
        for one in Parts((tmp_path / "page.html").read_text(encoding="utf-8")).findings
        if "64 KB" in one
    ]
    for series in ("ping", "far"):
        low = min(
            mean
            for row, metric, mean in means(rows)
            if (row["series"], metric, row["message"]) == (series, "latency", "64 KB")
        )
        start = f"Latency of {series} at message 64 KB: lowest {number(low)} µs ("
        assert sum(one.startswith(start) for one in said) == 1, said


def test_changes_that_all_machines_share_stand_in_the_head(elanite: Run, tmp_path: Path) -> None:
    text = placements(["50 MB/s", "300 MB/s"])
    changes = "".join(f'{{ link.channels = {n}, switch.circuit = "wormhole" }},' for n in (2, 4))
    (tmp_path / "own.toml").write_text(
        text.replace("[series.jobs.a]", f"machine = [{changes}]\n[series.jobs.a]")
    )
    ended = elanite("run", "own.toml", "--html", "own.html", "--format", "csv")
    assert ended.code == 0, ended
    page = (tmp_path / "own.html").read_text(encoding="utf-8")
    assert "all with switch.circuit=wormhole" in page
    findings = " ".join(Parts(page).findings)
    assert "link.channels=" in findings
    assert "wormhole" not in findings
    cells = [cell for table in tables_of(page).values() for row in table for cell in row]
    assert any("link.channels=4" in cell for cell in cells)
    assert not any("wormhole" in cell for cell in cells)


def test_the_shares_of_jobs_are_those_of_the_flits(elanite: Run, tmp_path: Path) -> None:
    """Node links carry one job's flits; a link's shares sum to one."""
    from elanite.library.api import load_results

    text = placements(["330 MB/s"], other='"330 MB/s"')
    (tmp_path / "mine.toml").write_text(text, encoding="utf-8")
    results(elanite("run", "mine.toml", "--format", "csv", "--html", "page.html"))
    found = load_results(tmp_path / "mine.toml", out=tmp_path / "out")
    point = next(point for point in found.points if point.series == "interleaved")
    shares = hot_links.shares(point, found.store)
    assert shares is not None
    assert shares.whole
    assert shares.jobs == ("a", "b")
    counted = found.store.table(point.id, "links")
    mixed = 0
    for link in counted.filter(counted["packets"] > 0).iter_rows(named=True):
        each = shares.links[link["link"]]
        assert sum(each.values()) == pytest.approx(1)
        for end in (link["from"], link["to"]):
            if end.startswith("node "):
                assert each["ab"[int(end.split()[1]) % 2]] == 1.0, (link, each)
        mixed += 0.1 < each["a"] < 0.9
    assert mixed > 0, "links between switches carry both jobs"
    sentence = next(
        one
        for one in Parts((tmp_path / "page.html").read_text()).findings
        if one.startswith("Hottest")
    )
    packed = next(point for point in found.points if point.series == "packed")
    best = hot_links.first(hot_links.hottest([packed], found.store, []))
    known = hot_links.shares(packed, found.store)
    assert best is not None
    assert known is not None
    own = known.links[best.links["link"][0]]
    assert own == {"a": 1.0, "b": 0.0}, "a link to a node of job a"
    assert "(packed), busy" in sentence
    assert sentence.endswith("; its flits come from job a (100%).")


WINDOWS = TRAFFIC.format(seeds=2).replace('window = "60 us"\n', "") + "".join(
    f"""[[series]]
name = "{name}"
run = {{ window = "{window}" }}
[series.jobs.a]
pattern = "uniform"
nodes = 8
message = "1 KB"
sizes = "fixed"
arrivals = "exponential"
load = ["60 MB/s", "300 MB/s"]
"""
    for name, window in {"short": "60 us", "long": "240 us"}.items()
)


def test_series_with_other_windows_have_states_of_their_own(elanite: Run, tmp_path: Path) -> None:
    """The reason has the series' own accepted and offered loads, not the mean of both windows."""
    (tmp_path / "mine.toml").write_text(WINDOWS, encoding="utf-8")
    rows = results(elanite("run", "mine.toml", "--format", "csv", "--html", "page.html"))
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    reasons = {(row["series"], row["load"]): row["because"] for row in rows}
    decided = 0
    for row, metric, mean in means(rows):
        said = re.search(r"accepted ([\d,.]+) ", reasons[row["series"], row["load"]])
        if metric == "accepted" and said:
            decided += 1
            assert said[1] == number(mean)
    assert decided >= 2, "the lower load of both"
    cells = tables_of(page)["State of every load"][1:]
    assert {(one[0], one[1]): one[-1] for one in cells} == reasons
    (latency,) = (one for one in Parts(page).findings if one.startswith("Mean latency"))
    assert "saturated" not in latency, "at the lowest load"
    assert page.count(GROWING) == 1, "below the latencies"


def test_a_page_counts_equal_machines_points_and_names_the_jobs_with_messages(
    elanite: Run, tmp_path: Path
) -> None:
    """Points on a copied machine are the same simulations, and drawn again."""
    from elanite.inputs.machine import Machine
    from elanite.inputs.machines import rewritten

    made = rewritten(Machine.load("es40-qsnet"), {}, "copy")
    (tmp_path / "copy.toml").write_text(made.file.text, encoding="utf-8")
    job = '[series.jobs.a]\npattern = "uniform"\nnodes = 8\nmessage = ["1 B", "16 KB"]\n'
    job += 'sizes = "fixed"\narrivals = "exponential"\nload = ["0.2 MB/s", "100 MB/s"]\n'
    text = TRAFFIC.format(seeds=1) + f'[[series]]\nname = "few"\n{job}'
    (tmp_path / "mine.toml").write_text(text, encoding="utf-8")
    words = ("run", "mine.toml", "--machine", "es40-qsnet", "--machine", "copy.toml")
    rows = results(elanite(*words, "--html", "page.html", "--format", "csv"))
    silent = {
        row["message"] for row in rows if row["metric"] == "messages" and row["value"] == "0.0"
    }
    assert silent == {"16 KB"}
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "· 8 points (4 different) ·" in page
    (counts,) = re.findall(r"Packets waited for a link in (\d) of 8 points", page)
    assert 0 < int(counts) < 8
    (latency,) = (one for one in Parts(page).findings if one.startswith("Mean latency"))
    assert latency.startswith("Mean latency in 2 of 4 configurations at load 200 KB/s: "), latency
