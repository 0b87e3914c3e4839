"""Flow lists, and programs side by side, by the command: closed forms, errors with places, tables
and pages.
"""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING

import polars as pl
import pytest

from elanite.base.text import number
from elanite.figures import flows as drawn
from elanite.report.pages.programs import shared
from test_pages import Parts, tables_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Ended

    Run = Callable[..., Ended]

NOISE = """\
[series.jobs.noise]
pattern = "uniform"
nodes = "1-7"
message = "8 KB"
sizes = "fixed"
arrivals = "exponential"
"""
"""A job without its load."""

HEAD = """
title = "Own"
machine = "infiniband-ndr"
[[series]]
name = "shared"
"""

FLOWS = """# two into one host, and one elsewhere
start,source,destination,size,class
0 us,0,5,4000000 B,0
0 us,1,5,4000000 B,0
20 us,40,42,40000 B,0
"""

WEB = '[series.flows.web]\nfile = "flows.csv"\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "flows.csv").write_text(FLOWS)
    (tmp_path / "mine.toml").write_text(HEAD + WEB)
    return tmp_path


def ring(folder: Path, elanite: Run, name: str, ranks: int = 4) -> None:
    made = elanite(
        "goal", "allreduce", "--algorithm", "ring", "--ranks", str(ranks), "--size", "256 KB"
    )
    (folder / name).write_text(made.out)


def table(ended: Ended) -> pl.DataFrame:
    assert ended.code == 0, str(ended)
    return pl.read_csv(io.StringIO(ended.out))


def values(rows: pl.DataFrame, job: str) -> dict[str, float]:
    found = rows.filter(pl.col("job") == job).select("metric", "value")
    return dict(found.iter_rows())


def test_two_flows_into_one_link_take_twice_the_bytes(folder: Path, elanite: Run) -> None:
    flows = table(elanite("run", "mine.toml", "--table", "flows", "--format", "csv"))
    assert flows["flow"].to_list() == [0, 1, 2]
    assert flows["start_ps"].to_list() == [0, 0, 20_000_000]
    first, second, third = flows.iter_rows(named=True)
    assert third["fct_ps"] == third["ideal_ps"]
    assert third["slowdown"] == 1.0
    # One flow with all bytes: two flows share the link to their destination.
    (folder / "flows.csv").write_text("start,source,destination,size\n0 us,0,5,8000000 B\n")
    whole = table(elanite("run", "mine.toml", "--table", "flows", "--format", "csv"))
    last = max(first["fct_ps"], second["fct_ps"])
    assert last == pytest.approx(whole["ideal_ps"][0], rel=0.02)
    assert first["slowdown"] == pytest.approx(2.0, rel=0.02)
    # The rest of a flow behind its first bytes moves at the link rate, less the headers.
    extra = (whole["ideal_ps"][0] - first["ideal_ps"]) / 1e6
    links = table(elanite("run", "mine.toml", "--table", "links", "--format", "csv"))
    into = links.filter(pl.col("to") == "node 5")
    assert into["busy_ps"][0] / 1e6 / 2 == pytest.approx(extra, rel=0.02)


@pytest.mark.usefixtures("folder")
def test_percentiles_by_size_are_rows(elanite: Run) -> None:
    rows = table(elanite("run", "mine.toml", "--format", "csv"))
    assert rows["job"].unique().sort().to_list() == [
        "web",
        "web, 1 MB to 10 MB",
        "web, 10 KB to 100 KB",
    ]
    small = values(rows, "web, 10 KB to 100 KB")
    assert (small["flows"], small["fct_slowdown_p99_9"]) == (1, 1)
    all_ = values(rows, "web")
    assert all_["fct_p99"] == all_["fct_p99_9"] >= all_["fct_p50"] > small["fct_p50"]
    shown = elanite("run", "mine.toml")
    assert (
        "fct_slowdown_p99_9" in shown.out.replace("\n", "").replace(" ", "") or "p99_9" in shown.out
    )


def test_nodes_and_starts_place_a_list(folder: Path, elanite: Run) -> None:
    placed = WEB + 'nodes = "8-63"\nstart = "5 us"\n'
    (folder / "mine.toml").write_text(HEAD + placed)
    flows = table(elanite("run", "mine.toml", "--table", "flows", "--format", "csv"))
    assert flows.select("parameter_source" if "parameter_source" in flows.columns else "source")[
        "source"
    ].to_list() == [8, 9, 48]
    assert flows["destination"].to_list() == [13, 13, 50]
    assert flows["start_ps"].to_list() == [5_000_000, 5_000_000, 25_000_000]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("0,0,5,64 KB,0", ("flows.csv:6:1", "unit", "20 us")),
        ("0 us,0,5,64,0", ("flows.csv:6:10", "unit", "700000 B")),
        ("0 us,0,5,0 B,0", ("flows.csv:6:10", "no size of a flow", "1 B to")),
        ("0 us,3,3,1 KB,0", ("flows.csv:6:8", "node 3 would send to itself", "another node")),
        ("0 us,0,5000,1 KB,0", ("flows.csv:6:8", "node 5000", "0 to 255")),
        ("0 us,0,x,1 KB,0", ("flows.csv:6:8", "`x` is no number of a node")),
        ("0 us,0,5,1 KB,1", ("flows.csv:6:15", "no traffic class 1", "link.classes")),
        ("0 us,0,5", ("flows.csv:6:1", "this line has 3 values", "start,source")),
    ],
)
def test_errors_in_flows_name_their_place(
    folder: Path, elanite: Run, line: str, words: tuple[str, ...]
) -> None:
    (folder / "flows.csv").write_text(f"{FLOWS}{line}\n")
    ended = elanite("check", "mine.toml") if "5000" not in line else elanite("run", "mine.toml")
    assert ended.code == 2, str(ended)
    for word in words:
        assert word in ended.err + ended.out, str(ended)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, ("cannot be read", "relative to the folder")),
        ("", ("there are no flows", "start,source,destination,size,class")),
        (
            "src,dst\n0,5\n",
            ("does not name the columns", "start,source,destination,size,class", "elanite import"),
        ),
        ("start,source,destination,size\n", ("there are no flows", "0 us,0,5,64 KB")),
    ],
)
def test_files_that_are_no_lists_are_named(
    folder: Path, elanite: Run, content: str | None, words: tuple[str, ...]
) -> None:
    (folder / "flows.csv").unlink()
    if content is not None:
        (folder / "flows.csv").write_text(content)
    ended = elanite("check", "mine.toml")
    assert ended.code == 2
    for word in words:
        assert word in ended.err + ended.out, str(ended)


def test_traces_take_what_a_replay_takes(folder: Path, elanite: Run) -> None:
    ring(folder, elanite, "ring.goal")
    alone = json.loads(
        elanite("replay", "ring.goal", "--machine", "infiniband-ndr", "--format", "json").out
    )
    trace = f'{HEAD}[series.traces.ring]\nfile = "ring.goal"\nnodes = 4\n'
    (folder / "mine.toml").write_text(trace)
    rows = values(table(elanite("run", "mine.toml", "--format", "csv")), "ring")
    assert rows == {"time": alone["simulated_us"]}
    # A start only moves the trace among the network's cycles.
    later = table(
        elanite("run", "mine.toml", "--set", 'series.shared.ring.start="3 us"', "--format", "csv")
    )
    assert values(later, "ring")["time"] == pytest.approx(alone["simulated_us"], rel=1e-4)


def test_programs_share_links(folder: Path, elanite: Run) -> None:
    ring(folder, elanite, "ring.goal")
    text = f"""{HEAD}{WEB}
[series.traces.one]
file = "ring.goal"
nodes = "0-3"
[series.traces.two]
file = "ring.goal"
nodes = "100-103"
[series.trace]
pattern = "all-to-all"
nodes = "200-203"
message = "64 KB"
repeats = 1
{NOISE}load = "1 GB/s"
"""
    (folder / "mine.toml").write_text(text)
    page = elanite("run", "mine.toml", "--html", "page.html", "--format", "csv")
    rows = table(page)
    slowdowns = {
        job: values(rows, job)["slowdown"] for job in ("web", "one", "two", "trace", "noise")
    }
    assert slowdowns["two"] == slowdowns["trace"] == 1.0
    assert min(slowdowns[job] for job in ("web", "one", "noise")) > 1.0
    shares = table(elanite("run", "mine.toml", "--table", "shares", "--format", "csv"))
    links = table(elanite("run", "mine.toml", "--table", "links", "--format", "csv"))
    sums = (
        shares.group_by("link")
        .agg(pl.col("packets", "flits").sum())
        .join(links, on="link", suffix="_of_link")
    )
    apart = sums.filter(pl.col("packets") != pl.col("packets_of_link"))
    assert (apart["packets"] - apart["packets_of_link"]).max() in (None, 1, 2)
    # A rank in the ring sends 2 (p - 1) parts, each a quarter of the vector.
    (sent,) = shares.filter((pl.col("job") == "two") & (pl.col("from") == "node 100"))["bytes"]
    assert 6 * 65536 < sent < 6.6 * 65536
    parts = Parts((folder / "page.html").read_text(encoding="utf-8"))
    assert {"Flows", "Shared links"} <= {heading.strip() for heading in parts.headings}
    again = elanite("open", "page.html", "--into", "again")
    assert again.code == 0, str(again)
    assert (folder / "again" / "flows.csv").read_text() == FLOWS
    assert (folder / "again" / "ring.goal").exists()


@pytest.mark.usefixtures("folder")
def test_a_generated_trace_starts_when_it_is_told(folder: Path, elanite: Run) -> None:
    ring(folder, elanite, "ring.goal")
    text = f"""{HEAD}[series.traces.one]
file = "ring.goal"
nodes = "0-3"
[series.trace]
pattern = "all-to-all"
nodes = "0-3"
message = "64 KB"
repeats = 1
start = ["0 us", "2 ms"]
"""
    (folder / "mine.toml").write_text(text)
    rows = table(elanite("run", "mine.toml", "--format", "csv"))
    at_once, late = (
        values(rows.filter(pl.col("trace.start") == start), "trace")["slowdown"]
        for start in rows["trace.start"].unique(maintain_order=True)
    )
    assert at_once > 1.1
    assert late == 1.0


def test_errors_of_traces_name_key_and_remedy(folder: Path, elanite: Run) -> None:
    ring(folder, elanite, "ring.goal")
    for trace, words in (
        ('file = "ring.goal"\nnodes = 5\n', ("ring.goal has 4 ranks, and 5 processes", "nodes")),
        ('file = "none.goal"\nnodes = 4\n', ("cannot be read", "relative to the folder")),
        ('file = "flows.csv"\nnodes = 4\n', ("flows.csv:1", "elanite goal import")),
        ('file = "job.0.et"\nnodes = 4\n', ("elanite goal import",)),
        ("nodes = 4\n", ("file", "this key is missing")),
        ('file = "ring.goal"\nnodes = 4\nprocesses = 400\n', ("400", "1 to 256")),
    ):
        (folder / "job.0.et").write_bytes(b"\x00\x01")
        (folder / "mine.toml").write_text(f"{HEAD}[series.traces.ring]\n{trace}")
        ended = elanite("check", "mine.toml")
        assert ended.code == 2, str(ended)
        for word in words:
            assert word in ended.err + ended.out, f"{trace}{ended}"


def test_a_trace_that_stands_still_says_where(folder: Path, elanite: Run) -> None:
    (folder / "wrong.goal").write_text(
        "num_ranks 2\nrank 0 {\nsend 8b to 1 tag 1\n}\nrank 1 {\nrecv 8b from 0 tag 2\n}\n"
    )
    job = (
        '[series.jobs.noise]\npattern = "uniform"\nnodes = 8\nmessage = "8 KB"\nsizes ='
        ' "fixed"\narrivals = "fixed"\n'
    )
    trace = '[series.traces.ring]\nfile = "wrong.goal"\nnodes = 2\n'
    (folder / "mine.toml").write_text(f'{HEAD}{job}load = "1 GB/s"\n{trace}')
    ended = elanite("run", "mine.toml")
    assert ended.code != 0
    assert "wrong.goal:6" in ended.err, str(ended)


def test_files_count_by_their_content(folder: Path, elanite: Run) -> None:
    """The same bytes elsewhere are the same point; other bytes are another, and a changed file is
    an error.
    """
    first = table(elanite("run", "mine.toml", "--format", "csv"))
    (folder / "moved").mkdir()
    (folder / "moved" / "flows.csv").write_text(FLOWS)
    (folder / "moved" / "mine.toml").write_text(HEAD + WEB)
    moved = table(elanite("run", "moved/mine.toml", "--format", "csv"))
    assert moved["id"].unique().to_list() == first["id"].unique().to_list()
    (folder / "flows.csv").write_text(FLOWS.replace("20 us", "30 us"))
    other = table(elanite("run", "mine.toml", "--format", "csv"))
    assert other["id"].unique().to_list() != first["id"].unique().to_list()
    from elanite import _core
    from elanite.errors import RunError
    from elanite.inputs import sources
    from elanite.inputs.plan import plan

    planned = plan(sources.read("experiment", str(folder / "mine.toml")))
    (folder / "flows.csv").write_text(FLOWS)
    with pytest.raises(RunError, match=r"flows\.csv has changed since the point was planned"):
        _core.simulate(planned.points[0].json, _core.Cancel())


@pytest.mark.usefixtures("folder")
def test_an_override_names_a_program(elanite: Run) -> None:
    flows = table(
        elanite(
            "run",
            "mine.toml",
            "--set",
            'series.shared.web.start="2 us"',
            "--table",
            "flows",
            "--format",
            "csv",
        )
    )
    assert flows["start_ps"].to_list() == [2_000_000, 2_000_000, 22_000_000]


def test_hosts_of_a_graph_have_their_names(folder: Path, elanite: Run) -> None:
    (folder / "net.txt").write_text(
        "switch s0\nswitch s1\n"
        + "".join(f"node h{each}\nh{each} s{each // 2}\n" for each in range(4))
        + "s0 s1\n"
    )
    assert elanite("import", "net.txt").code == 0
    lists = "".join(f'[series.flows.{name}]\nfile = "{name}.csv"\n' for name in "ab")
    for name, ends in (("a", "0,2"), ("b", "3,2")):
        (folder / f"{name}.csv").write_text(f"start,source,destination,size\n0 us,{ends},64 KB\n")
    (folder / "mine.toml").write_text(HEAD.replace("infiniband-ndr", "net.toml") + lists)
    assert elanite("run", "mine.toml", "--html", "page.html").code == 0
    tables = tables_of((folder / "page.html").read_text(encoding="utf-8"))
    assert {row[1] for row in tables["Flows with the largest slowdown"][1:]} == {
        "node 0 (h0)",
        "node 3 (h3)",
    }
    for caption in ("Hottest links", "Links that programs share"):
        assert "switch s1 → node 2 (h2)" in {row[0] for row in tables[caption]}
    assert "switch s1 to node 2 (h2)" in elanite("congestion", "mine.toml").out


def test_nodes_in_another_order_are_no_placement(folder: Path, elanite: Run) -> None:
    """A set of nodes has no order: rank 0 would be on the first node by number."""
    ring(folder, elanite, "ring.goal")
    for section, said in (
        (
            '[series.traces.own]\nfile = "ring.goal"\nnodes = "8-9,0,1"\n',
            "rank 0 would be on node 0",
        ),
        ('[series.flows.own]\nfile = "flows.csv"\nnodes = "64-127,0-63"\n', "node 0 would be on"),
    ):
        (folder / "mine.toml").write_text(HEAD + section)
        for verb in ("check", "run"):
            ended = elanite(verb, "mine.toml")
            assert ended.code == 2, str(ended)
            assert said in ended.err + ended.out
    (folder / "mine.toml").write_text(
        f'{HEAD}[series.traces.own]\nfile = "ring.goal"\nnodes = "0-12:3 except 5-6"\n'
    )
    assert elanite("check", "mine.toml").code == 0


def test_an_empty_table_names_its_reason(folder: Path, elanite: Run) -> None:
    run = '[run]\nwarm_up = "5 us"\nwindow = "50 us"\nbatches = 5\n'
    (folder / "mine.toml").write_text(
        HEAD.replace("[[series]]", f"{run}[[series]]") + NOISE + 'load = "1 GB/s"\n'
    )
    for table, key in (("shares", "[series.traces.NAME]"), ("flows", "[series.flows.NAME]")):
        ended = elanite("run", "mine.toml", "--table", table)
        assert (ended.code, ended.out) == (0, "")
        assert key in ended.err


def test_jobs_that_also_run_alone_have_slowdowns_and_shares(folder: Path, elanite: Run) -> None:
    run = '[run]\nwarm_up = "5 us"\nwindow = "50 us"\nbatches = 5\n'
    jobs = NOISE + 'servers = "0"\nload = "10 GB/s"\n'
    jobs += jobs.replace("noise", "bulk").replace("1-7", "8-16")
    (folder / "mine.toml").write_text(HEAD.replace("[[series]]", f"{run}[[series]]") + jobs)
    together = table(elanite("run", "mine.toml", "--format", "csv"))
    assert "slowdown" not in set(together["metric"])
    own = (folder / "mine.toml").read_text()
    (folder / "mine.toml").write_text(own.replace("[series.jobs", "alone = true\n[series.jobs", 1))
    rows = table(elanite("run", "mine.toml", "--format", "csv"))
    for job in ("noise", "bulk"):
        found = values(rows, job)
        assert found["latency_mean"] == values(together, job)["latency_mean"]
        ratio = found["latency_mean"] / found["latency_alone"]
        assert found["slowdown"] == pytest.approx(ratio, rel=1e-6)
        assert found["slowdown"] > 1.0
    shares = table(elanite("run", "mine.toml", "--table", "shares", "--format", "csv"))
    assert set(shares["job"].to_list()) == {"noise", "bulk"}
    assert elanite("run", "mine.toml", "--html", "page.html").code == 0
    page = (folder / "page.html").read_text(encoding="utf-8")
    most, least = sorted(
        ((values(rows, job)["slowdown"], job) for job in ("noise", "bulk")), reverse=True
    )
    grown = {job for job in ("noise", "bulk") if values(rows, job)["saturated"]}
    assert grown == {"noise", "bulk"}, "the load is above that of the server"
    remark = " (its queues grow)"
    said = f"{most[1]} {number(most[0])}{remark}; {least[1]} {number(least[0])}{remark}. Where"
    assert f"Largest slowdown beside the other programs: {said} queues grow, the slowdown" in page
    assert any(caption.startswith("Links that programs share") for caption in tables_of(page))


@pytest.mark.usefixtures("folder")
def test_an_unknown_table_is_named(elanite: Run) -> None:
    ended = elanite("run", "mine.toml", "--table", "flow")
    assert ended.code == 2
    assert "did you mean" in ended.err
    assert "flows" in ended.err


def test_bins_have_equal_numbers_of_flows() -> None:
    flows = pl.DataFrame(
        {
            "size": range(1, 1001),
            "slowdown": [1 + size / 1000 for size in range(1, 1001)],
            "seed": 1,
        }
    )
    bins = drawn.binned(flows)
    assert bins["least"].unique().to_list() == bins["most"].unique().to_list() == [100]
    median = bins.filter(pl.col("percentile") == "p50").sort("size")
    assert median["size"].to_list() == [100 * place for place in range(1, 11)]
    assert median["slowdown"].to_list() == pytest.approx(
        [1 + (100 * place + 50) / 1000 for place in range(10)]
    )
    few = drawn.binned(flows.with_columns(size=pl.col("size") % 3 + 1))
    assert sorted(few["size"].unique()) == [1, 2, 3]
    last = few.filter((pl.col("size") == 1) & (pl.col("percentile") == "p99.9"))
    assert last["slowdown"].to_list() == [1 + 999 / 1000]


def test_percentiles_of_several_seeds_are_means() -> None:
    """Seeds do not lengthen a list: 3 seeds of 400 flows have no p99.9 of 1,200 flows."""
    slowdown = {1: 2.0, 2: 5.0, 3: 11.0}
    flows = pl.DataFrame(
        {
            "seed": seed,
            "label": "a",
            "size": 1024 * (flow % 20 + 1),
            "fct_ps": 10**6 * seed,
            "slowdown": top,
        }
        for seed, most in slowdown.items()
        for flow in range(400)
        for top in [most if flow >= 395 else 1.0]
    )
    assert drawn.percentiles(flows) == {"p50": 1.0, "p99": 6.0, "p99.9": 6.0}
    assert drawn.flow_count(flows) == "400 flows in each of 3 seeds"
    assert drawn.flow_count(flows.filter(pl.col("seed") == 1)) == "400 flows"
    assert drawn.flow_count(flows.slice(1)) == "399 to 400 flows in each of 3 seeds"
    bins = drawn.binned(flows)
    assert bins["most"].unique().to_list() == [40]
    longest = bins.filter((pl.col("size") == 20 * 1024) & (pl.col("percentile") == "p99.9"))
    assert longest["slowdown"].to_list() == [6.0]
    slowdowns, times = drawn.draw(flows)
    assert "of 400 flows in each of 3 seeds. Bins have 40 flows each." in slowdowns.caption
    assert times.caption.endswith("Mean of the shares of 3 seeds.")
    # A seed whose flows faults have ended counts as much as the others.
    few = flows.filter((pl.col("seed") > 1) | (pl.col("size") == 1024))
    (steps,) = [
        rows for rows in list(drawn.draw(few))[1].spec()["datasets"].values() if "share" in rows[0]
    ]
    assert next(
        row["share"] for row in steps if row["fct"] == 1.0 and row["share"]
    ) == pytest.approx(100 / 3)


SEEDS = """
title = "Own"
machine = "infiniband-ndr"
[run]
seeds = {seeds}
[[series]]
name = "shared"
[series.flows.web]
file = "flows.csv"
{noise}load = {loads}
"""


def test_flows_of_several_seeds_are_as_in_the_rows(folder: Path, elanite: Run) -> None:
    loads = ["1 GB/s", "2 GB/s", "3 GB/s"]
    (folder / "mine.toml").write_text(SEEDS.format(noise=NOISE, seeds=3, loads=json.dumps(loads)))
    rows = table(elanite("run", "mine.toml", "--html", "page.html", "--format", "csv"))
    page = (folder / "page.html").read_text(encoding="utf-8")
    web = rows.filter(pl.col("job") == "web")
    means = {
        (load, metric): mean
        for load, metric, mean in (
            web.group_by("noise.load", "metric").agg(pl.col("value").mean()).iter_rows()
        )
    }
    for load in loads:
        (said,) = (
            one for one in Parts(page).findings if one.startswith("FCT slowdown") and load in one
        )
        assert said.startswith("FCT slowdown of 3 flows in each of 3 seeds")
        for name in ("p50", "p99", "p99.9"):
            expected = number(means[load, f"fct_slowdown_{name.replace('.', '_')}"])
            assert f"{name} {expected}" in said
    tables = tables_of(page)
    assert any("FCT slowdown p99.9" in head for head, *_ in tables.values())
    head, *slowest = tables["Flows with the largest slowdown"]
    flows = [(row[0], row[head.index("seed")]) for row in slowest]
    assert len(set(flows)) == len(flows), "each flow once in a seed"
    shared = [name for name in tables if name.startswith("Links that programs share")]
    assert len(shared) == 6, "each table has a name of its own"
    assert all(any(load in name for name in shared) for load in loads)
    assert all(", seed " in name for name in shared)
    assert "Tables for 6 of 9 points." in page


def test_points_without_shared_links_are_counted(folder: Path, elanite: Run) -> None:
    text = SEEDS.format(noise=NOISE, seeds=1, loads='"1 GB/s"').replace(
        '"1-7"', '["1-7", "100-107"]'
    )
    (folder / "mine.toml").write_text(text)
    assert elanite("run", "mine.toml", "--html", "page.html").code == 0
    page = (folder / "page.html").read_text(encoding="utf-8")
    (shared,) = (name for name in tables_of(page) if name.startswith("Links that programs share"))
    assert "noise.nodes 1-7" in shared
    assert "Tables for 1 of 2 points; the others have no shared link." in page
    _, *body = tables_of(page)[shared]
    assert all(row[-1] for row in body if not row[0].startswith("node "))
    from_nodes = [row for row in body if row[0].startswith("node ")]
    assert from_nodes
    assert not any(row[-1] for row in from_nodes), "these links have no waits, as in other tables"


def test_sentences_that_are_left_out_are_counted(folder: Path, elanite: Run) -> None:
    loads = json.dumps([f"{load} GB/s" for load in range(1, 8)])
    (folder / "mine.toml").write_text(SEEDS.format(noise=NOISE, seeds=1, loads=loads))
    assert elanite("run", "mine.toml", "--html", "page.html").code == 0
    page = (folder / "page.html").read_text(encoding="utf-8")
    said = [one for one in Parts(page).findings if one.startswith("FCT slowdown")]
    assert len(said) == 7
    assert said[-1] == "FCT slowdown: sentences for 6 of 7 flow lists; the figures show all."


def test_links_are_shared_by_several_programs_only() -> None:
    shares = pl.DataFrame(
        {
            "link": [1, 1, 2, 3, 3, 4],
            "from": ["a"] * 6,
            "to": ["b"] * 6,
            "job": ["x", "y", "x", "x", "y", None],
            "bytes": [10, 5, 100, 7, 70, 9],
        }
    )
    places = {"level": [0, 1, 1, 1], "up": [True, True, False, False]}
    links = pl.DataFrame({"link": [1, 2, 3, 4], "waiting_ps": [5, 0, 7, 0], **places})
    found = shared(shares, links)
    assert found["link"].to_list() == [3, 1]
    assert found["waiting_ps"].to_list() == [7, None], "link 1 comes from a node"
    assert found.select("x", "y").rows() == [(7, 70), (10, 5)]


def test_size_classes_have_the_axis_of_their_list(folder: Path, elanite: Run) -> None:
    text = HEAD + WEB + 'start = ["0 us", "50 us"]\n'
    (folder / "mine.toml").write_text(text)
    rows = table(elanite("run", "mine.toml", "--html", "page.html", "--format", "csv"))
    page = (folder / "page.html").read_text()
    (name,) = (one for one in tables_of(page) if one.startswith("Every configuration"))
    assert name == "Every configuration", "of one series"
    head, *body = tables_of(page)[name]
    assert head[1:3] == ["FCT slowdown p50, first", "FCT slowdown p50, last"]
    assert "First and last web.start of each configuration: 0 and 50 µs." in page
    jobs = rows["job"].unique(maintain_order=True).to_list()
    assert [row[0] for row in body] == [f"job {job}" for job in jobs]
    for row, job in zip(body, jobs, strict=True):
        for cell, start in zip(row[1:3], ("0 ps", "50 us"), strict=True):
            (value,) = rows.filter(
                (pl.col("job") == job)
                & (pl.col("web.start") == start)
                & (pl.col("metric") == "fct_slowdown_p50")
            )["value"]
            assert cell == number(value)
