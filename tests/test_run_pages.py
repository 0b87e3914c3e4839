"""Run and replay pages: everything that they show equals the run's tables."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

import polars as pl
import pytest

from conftest import SMALL, Ended, needs_mpi
from elanite import _core
from elanite.base.text import number, part
from elanite.cli.mpirun import Mpirun
from elanite.inputs import sources
from elanite.inputs.plan import plan
from elanite.mpirun.run_tables import KeptRun
from elanite.mpirun.summary import by_size, hottest, size, summarise, time_in_mpi
from elanite.report.pages import traffic
from elanite.report.pages.programs import shared, shared_links
from elanite.report.pages.run import _of_library
from elanite.store import frame
from test_pages import Parts
from timelines import Tables, a_run, agree, embedded, page_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from elanite.mpirun.session import Run
    from elanite.store import Store

Command = Callable[..., Ended]


def tables_agree(page: str, tables: Mapping[str, pl.DataFrame]) -> None:
    """Check a page's tables: calls, ranks, sizes, pairs and links."""
    shown = Tables(page).found
    durations: dict[str, list[float]] = {}
    for call, begin, end in tables["calls"].select("call", "begin_us", "end_us").iter_rows():
        durations.setdefault(call, []).append(end - begin)
    whole = sum(tables["ranks"]["end_us"])
    expected = {
        call: [
            f"{len(each):,}",
            number(sum(each)),
            number(sum(each) / len(each)),
            number(max(each)),
        ]
        for call, each in durations.items()
    }
    by_call = shown["Calls by their share of all ranks' time"]
    assert {row[0]: row[1:5] for row in by_call.rows} == expected
    assert [row[5] for row in by_call.rows] == [
        part(sum(durations[row[0]]) / whole, 1) for row in by_call.rows
    ]
    ranks = {f"rank {row['rank']}": row for row in tables["ranks"].iter_rows(named=True)}
    by_rank = shown["Ranks, the slowest first"]
    assert len(by_rank.rows) == len(ranks)
    # All ends have the same extra digits, which distinguish them.
    ends = {rank: end for rank, _, end, *_ in by_rank.rows}
    assert any(
        ends == {rank: number(row["end_us"], more) for rank, row in ranks.items()}
        for more in range(13)
    )
    assert len(set(ends.values())) > 1 or len(set(tables["ranks"]["end_us"])) == 1
    for rank, node, _, inside, outside, sent, received in by_rank.rows:
        row = ranks[rank]
        assert node == str(row["node"])
        assert inside == number(row["mpi_us"])
        assert outside == number(row["end_us"] - row["mpi_us"])
        assert sent == f"{row['messages_sent']:,} · {size(row['bytes_sent'])}"
        assert received == f"{row['messages_received']:,} · {size(row['bytes_received'])}"
    sizes = shown["Messages by size"]
    assert sum(int(row[1].replace(",", "")) for row in sizes.rows) == len(tables["messages"])
    pairs = Counter[str]()
    for source, destination, count in (
        tables["messages"].select("source", "destination", "bytes").iter_rows()
    ):
        pairs[f"rank {source} → rank {destination}"] += count
    for pair, _, payload in shown["Pairs of ranks with the most payload"].rows:
        assert payload == size(pairs[pair])
    assert size(max(pairs.values())) == shown["Pairs of ranks with the most payload"].rows[0][2]
    names = {f"{row['from']} → {row['to']}": row for row in tables["links"].iter_rows(named=True)}
    time_ps = max(tables["ranks"]["end_us"]) * 1e6
    for name, _, busy, packets, waits in shown["Hottest links"].rows:
        assert busy == part(names[name]["busy_ps"] / time_ps, 1)
        assert packets == f"{names[name]['packets']:,}"
        assert waits == ("" if name.startswith("node") else number(names[name]["waiting_ps"] / 1e6))


def test_the_tables_of_a_page_are_sums_of_the_tables_of_the_run() -> None:
    run = a_run(9, ranks=5, calls=50)
    page = page_of(run)
    tables_agree(page, run.tables)
    spoilt = dict(run.tables)
    spoilt["calls"] = run.tables["calls"].tail(-1)
    with pytest.raises(AssertionError):
        tables_agree(page, spoilt)


@pytest.mark.parametrize("seed", range(4))
def test_findings_are_the_extremes_of_the_tables(seed: int) -> None:
    run = a_run(seed, ranks=3 + seed, calls=20)
    findings = " ".join(Parts(page_of(run)).findings)
    ranks = list(run.tables["ranks"].iter_rows(named=True))
    slowest = max(ranks, key=lambda row: row["end_us"])
    assert (
        f"takes {number(slowest['end_us'])} µs of simulated time; rank {slowest['rank']} is the"
        " slowest" in findings
    )
    inside = [row["mpi_us"] for row in ranks]
    assert (
        f"spend {part(sum(inside) / sum(row['end_us'] for row in ranks), 1)} of their time in MPI"
        in findings
    )
    least, most = (
        next(row["rank"] for row in ranks if row["mpi_us"] == time)
        for time in (min(inside), max(inside))
    )
    assert (
        f"least {number(min(inside))} µs (rank {least}), mean"
        f" {number(sum(inside) / len(inside))} µs" in findings
    )
    assert f"most {number(max(inside))} µs (rank {most})" in findings
    busiest = max(run.tables["links"].iter_rows(named=True), key=lambda row: row["busy_ps"])
    place = "between switches" if busiest["level"] else "of a node"
    share = busiest["busy_ps"] / run.summary["time_us"] / 1e6
    assert (
        f"Busiest link: {busiest['from']} → {busiest['to']} ({place}), busy {part(share, 1)} of the"
        " time" in findings
    )
    assert "No packet waited at a switch." in findings
    pairs: Counter[tuple[int, int]] = Counter()
    for source, destination, count in (
        run.tables["messages"].select("source", "destination", "bytes").iter_rows()
    ):
        pairs[source, destination] += count
    alike = [pair for pair, total in pairs.items() if total == max(pairs.values())]
    ends = f"from rank {min(alike)[0]} to rank {min(alike)[1]} go {size(max(pairs.values()))} in"
    assert ends in findings
    assert ("more than between any other pair" in findings) == (len(alike) == 1)


PLAIN = '{"machine": {"topology": {}}}'
"""The configuration of a machine whose nodes have no names."""


def links(*rows: tuple[str, str, int, bool, int, int, int]) -> pl.DataFrame:
    """Links with their ends, level, way, packets, busy time and waits."""
    columns = ("from", "to", "level", "up", "packets", "busy_ps", "waiting_ps")
    return pl.DataFrame(rows, schema=columns, orient="row").with_row_index("link")


def test_the_hottest_link_is_the_one_that_packets_waited_for() -> None:
    """An adapter's queue is not a wait, links that pages write alike count as alike, and the
    busiest has its name.
    """
    found = links(
        ("node 0", "switch 1.0", 0, True, 691, 18_200_000, 2_368_000_000),
        ("switch 1.0", "switch 2.3", 1, True, 181, 5_600_000, 7_000_000),
        ("switch 1.1", "switch 2.3", 1, True, 181, 5_601_000, 7_000_400),
        ("switch 1.2", "node 9", 0, False, 3, 18_210_000, 4_000_000),
    )
    assert (
        traffic.link(found, 100.0, PLAIN)
        == "Hottest link, by the time that packets waited for it: switch 1.1 → switch 2.3 (between"
        " switches); 181 packets cross it, with 7 µs of waits in total, as 1 other link, busy"
        " 5.6% of the time. Busiest link: switch 1.2 → node 9 (of a node), busy 18.2% of the"
        " time, as 1 other link."
    )
    assert [
        (row["link"], row["waiting_us"]) for row in hottest(found, 100.0).iter_rows(named=True)
    ] == [
        (2, 7.0004),
        (1, 7.0),
        (3, 4.0),
        (0, None),
    ]
    idle = traffic.link(found.with_columns(waiting_ps=pl.lit(0)), 100.0, PLAIN)
    assert idle.startswith("No packet waited at a switch. Busiest link: switch 1.2 → node 9")
    hardly = traffic.link(found.tail(1), 1e6, PLAIN)
    assert hardly.endswith("the busiest, busy less than 0.1% of the time."), "but not idle"
    one = traffic.link(found.tail(1), 100.0, PLAIN)
    assert one.endswith(
        "(of a node); 3 packets cross it, with 4 µs of waits in total; the link is also the"
        " busiest, busy 18.2% of the time."
    )
    tied = links(
        ("node 8", "switch 1.0", 0, True, 2, 34_000_300, 0),
        ("switch 1.0", "node 8", 0, False, 2, 34_000_200, 1_000_000),
    )
    assert traffic.link(tied, 100.0, PLAIN).endswith(
        "switch 1.0 → node 8 (of a node); 2 packets cross it, with 1 µs of waits in total; the link"
        " is also the busiest, busy 34.0% of the time, as 1 other link."
    ), "no two links with one figure, of which one is busier"


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        ([16384] * 7, "7 messages of 16 KB with 112 KB"),
        ([8, 2048, 16384], "2 messages of 2 KB to 16 KB with 18 KB"),
        ([1_000_000] * 2, "2 messages of 1000000 B with 1.9 MB"),
        ([1 << 21, 1 << 23], "1 message of 8 MB"),
        ([0, 100], "1 message of 100 B"),
    ],
)
def test_the_largest_messages_have_their_own_sizes(counts: list[int], words: str) -> None:
    """A size class has bounds that its messages need not have."""
    sends = pl.DataFrame({"source": 0, "destination": 1, "bytes": counts})
    found = traffic.largest_messages(by_size(sends), sends)
    assert found.startswith(f"Largest messages by volume: {words}, "), found


def test_waits_for_links_from_nodes_are_in_no_table() -> None:
    """An adapter's backlog is not a wait of the network: tables of shared links leave it blank, as
    all others.
    """
    point, *_ = plan(sources.read("experiment", SMALL)).series("load")
    wires = dict(
        frame(_core.wiring(point.json))
        .select(pl.concat_str("from", "to", separator=" → "), "link")
        .iter_rows()
    )
    both = [wires["node 0 → switch 1.0"], wires["switch 1.0 → switch 2.0"]]
    names = {"link": both, "from": ["node 0", "switch 1.0"], "to": ["switch 1.0", "switch 2.0"]}
    shares = pl.concat(
        pl.DataFrame(names | {"job": job, "bytes": [100, 200]}) for job in ("a", "b")
    )
    used = pl.DataFrame(
        names | {"level": [0, 1], "up": [True, True], "waiting_ps": [3_614_000_000, 7_000_000]}
    )
    assert dict(shared(shares, used).select("from", "waiting_ps").rows()) == {
        "node 0": None,
        "switch 1.0": 7_000_000,
    }

    class Tables:
        def table(self, _: str, name: str) -> pl.DataFrame:
            return shares if name == "shares" else used

    (table,), _ = shared_links([point], cast("Store", Tables()), [])
    assert {row[0]: row[-1] for row in table.rows} == {
        "node 0 → switch 1.0": "",
        "switch 1.0 → switch 2.0": "7",
    }
    assert table.note.endswith("those in a node, before its own link, are not counted.")


def with_ranks(run: Run, ends: list[float], inside: list[float]) -> Run:
    """The run with other rank times."""
    columns = {"end_us": pl.Series(ends), "mpi_us": pl.Series(inside)}
    summary = run.tables["summary"].with_columns(time_us=pl.lit(max(ends)))
    return replace(
        run,
        tables={
            **run.tables,
            "ranks": run.tables["ranks"].with_columns(**columns),
            "summary": summary,
        },
    )


def test_ranks_that_end_together_have_no_slowest_and_may_have_a_straggler() -> None:
    run = with_ranks(
        a_run(3, ranks=3, calls=9), [3260.12, 3260.08, 3260.04], [3260.12, 2627.0, 3260.04]
    )
    page = page_of(run)
    said = Parts(page).findings
    assert said[0].endswith("all ranks end within 0.08 µs of one another, rank 0 as the last.")
    assert said[1] == "Rank 1 spends 633.1 µs outside of MPI, any other rank 0 µs at most."
    ends = [row[2] for row in Tables(page).found["Ranks, the slowest first"].rows]
    assert ends == ["3,260.1", "3,260.1", "3,260"]
    even = Parts(
        page_of(with_ranks(run, [3260.0, 3260.0, 3000.0], [2000.0, 2100.0, 1900.0]))
    ).findings
    assert even[0].endswith(
        "rank 0 and 1 other are the slowest; rank 0 is the first of them, with 2,000 µs in MPI."
    )
    assert "outside of MPI" not in even[1]


def test_messages_of_the_library_are_named() -> None:
    run = a_run(3, ranks=2, calls=4)
    calls = pl.DataFrame(
        {"rank": [0, 0, 1], "call": ["MPI_Init", "MPI_Send", "MPI_Finalize"]}
    ).with_columns(begin_us=pl.Series([0.0, 35.5, 90.0]), end_us=pl.Series([35.5, 40.0, 95.0]))
    messages = (
        run.tables["messages"]
        .head(4)
        .with_columns(
            source=pl.Series([0, 0, 1, 1]),
            posted_us=pl.Series([0.0, 35.5, 20.0, 91.0]),
            bytes=pl.Series([8, 8, 8, 16]),
        )
    )
    said = " ".join(
        _of_library(replace(run, tables={**run.tables, "calls": calls, "messages": messages}))
    )
    assert (
        said == "2 of 4 messages, with 24 B, are not the program's own: the library sends them in"
        " MPI_Finalize and MPI_Init."
    )
    calls = calls.filter(pl.col("call") == "MPI_Send")
    assert (
        _of_library(replace(run, tables={**run.tables, "calls": calls, "messages": messages})) == []
    )


@needs_mpi
def test_the_page_of_a_real_run(elanite: Command, tmp_path: Path, mpi_programs: Path) -> None:
    words = [
        "mpirun",
        "-n",
        "4",
        "--ranks-per-node",
        "2",
        "--html",
        "my page.html",
        str(mpi_programs / "patterns"),
        "halo",
    ]
    ended = elanite(*words)
    assert ended.code == 0, ended
    assert "page: my page.html" in ended.err
    page = (tmp_path / "my page.html").read_text(encoding="utf-8")
    (folder,) = (tmp_path / "out" / "mpirun").iterdir()
    kept = KeptRun.load(folder)
    tables = {name: kept.table(name) for name in ("calls", "messages", "ranks", "links", "series")}
    agree(embedded(page), tables)
    tables_agree(page, tables)
    parts = Parts(page)
    assert parts.loads == []
    assert sorted(shlex.split(parts.command)) == sorted(
        ["elanite", *words, "--machine", "es40-qsnet"]
    )
    findings = " ".join(parts.findings)
    ranks = tables["ranks"]
    last = ranks.sort("end_us", "rank", descending=[True, False]).row(0, named=True)
    assert (
        f"{number(kept.manifest['time_us'])} µs of simulated time; rank {last['rank']} is the"
        " slowest" in findings
    )
    share = ranks["mpi_us"].sum() / ranks["end_us"].sum()
    assert f"{part(share, 1)} of their time in MPI" in findings
    assert "--compute none" in findings
    busiest = tables["links"].sort("busy_ps", "link", descending=[True, False]).row(0, named=True)
    alike = tables["links"].filter(tables["links"]["busy_ps"] > 0.999 * busiest["busy_ps"])
    assert any(f"{link['from']} → {link['to']}" in findings for link in alike.iter_rows(named=True))
    scales = re.findall(r"Sums in µs; k is 1,000 µs\. The darkest link has ([0-9.,]+) µs", page)
    links = tables["links"]
    waits = links.filter(pl.col("from").str.starts_with("switch"))["waiting_ps"]
    assert scales == [number(sums.max() / 1e6) for sums in (waits, links["delay_ps"])], (
        "absolute sums, as on pages of experiments"
    )
    assert "In a folder with the files that are not inside the page" in " ".join(page.split())
    block = re.search(r'id="elanite-inputs">(.*?)</script>', page)
    assert block is not None
    inputs = json.loads(block[1])
    assert inputs["files"] == []
    (program,) = inputs["absent"]
    assert program["name"] == "patterns"
    assert program["sha256"] in page.replace(block[0], "")


@needs_mpi
def test_a_deadlock_has_a_page(elanite: Command, tmp_path: Path, mpi_programs: Path) -> None:
    ended = elanite("mpirun", "-n", "4", "--html", "dead.html", str(mpi_programs / "deadlock"))
    assert ended.code == 3, ended
    page = (tmp_path / "dead.html").read_text(encoding="utf-8")
    waits = [
        [f"rank {rank}", "MPI_Recv", f"receives a message of rank {(rank + 1) % 4}, tag 7"]
        for rank in range(4)
    ]
    assert Tables(page).found["Ranks at the end of the run"].rows == waits
    assert embedded(page)["ends"] == {
        str(rank): f"MPI_Recv: {what}" for rank, (_, _, what) in enumerate(waits)
    }
    assert Parts(page).findings[0].endswith("of simulated time: a deadlock.")


def test_a_page_that_cannot_be_written_costs_no_run(elanite: Command, tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    for words in (
        ("mpirun", "-n", "2", "--html", "here", "true"),
        ("replay", "absent.goal", "--html", "here"),
    ):
        ended = elanite(*words)
        assert ended.code == 1, ended
        assert "here cannot be written: it is a folder" in ended.err
        assert not (tmp_path / "out").exists()


def test_the_inputs_of_a_program_are_texts_and_checksums(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.txt").write_text("8 cells\n")
    (tmp_path / "table.bin").write_bytes(b"\xff\x00")
    (tmp_path / "solver").write_bytes(b"\x7fELF")
    source = sources.read("machine", "es40-qsnet")
    program = [str(tmp_path / "solver"), "--cells", "in.txt", "table.bin", "7"]
    inputs = Mpirun(program=program, ranks=4).inputs(source, tmp_path / "p.html")
    assert dict(inputs.files) == {"in.txt": b"8 cells\n"}
    assert inputs.absent == {
        name: hashlib.sha256((tmp_path / name).read_bytes()).hexdigest()
        for name in ("solver", "table.bin")
    }
    assert list(inputs.words[-7:]) == [
        "--html",
        "p.html",
        "./solver",
        "--cells",
        "in.txt",
        "table.bin",
        "7",
    ]
    python = Mpirun(program=["python3", "in.txt"], ranks=4).inputs(source, None)
    assert list(python.words[-2:]) == ["python3", "in.txt"]
    assert not python.absent


def test_a_program_for_the_simulated_libraries_has_calls_and_no_mpi() -> None:
    native = replace(a_run(1, ranks=2, calls=5), native=True)
    page = page_of(native)
    assert "of their time in calls" in page
    assert "in calls, µs" in Tables(page).found["Ranks, the slowest first"].columns


def test_ranks_without_a_seen_call_have_unknown_times() -> None:
    """Their time in MPI is not zero: Elanite does not know it."""
    run = a_run(5, ranks=4, calls=9)
    page = page_of(
        replace(
            run,
            ended=replace(run.ended, unseen=(1, 3), message="calls bypass Elanite", exit_code=4),
        )
    )
    assert Tables(page).found["Ranks, the slowest first"].columns == [
        "rank",
        "node",
        "end, µs",
        "sent",
        "received",
    ]
    assert "Elanite saw no call of ranks 1, 3: their lanes are empty." in page
    assert "of their time in MPI" not in page


def test_all_ranks_with_the_least_or_the_most_time_in_mpi_are_named() -> None:
    run = a_run(5, ranks=6, calls=9)
    times = pl.Series("mpi_us", [4.0, 2.0, 9.0, 2.0, 9.0, 9.0])
    run.tables["ranks"] = run.tables["ranks"].with_columns(times)
    words = "least 2 µs (ranks 1, 3), mean 5.83 µs, most 9 µs (ranks 2, 4, 5)"
    assert time_in_mpi(summarise(run.tables), (), "host")[0] == words
    assert words in Parts(page_of(run)).findings[1]
    assert run.as_json(None)["mpi_us"]["most"] == {"time": 9.0, "rank": 2, "ranks": 3}


def test_time_that_passes_at_clocks_is_said() -> None:
    """Else a program that measures its computation seems to take long in the network."""
    run = a_run(5, ranks=3, calls=9)
    whole = float(run.tables["summary"]["time_us"].item())
    assert len(time_in_mpi(summarise(run.tables), (), "host")) == 1
    run.tables["ranks"] = run.tables["ranks"].with_columns(
        pl.Series("clocks_us", [0.0, 0.75 * whole, 0.75 * whole])
    )
    said = time_in_mpi(summarise(run.tables), (), "host")[1]
    assert said.startswith(
        f"{number(0.75 * whole)} µs of rank 1 (75.0% of the run) passed while it read a clock in"
        " a row"
    )
    assert said in page_of(run)
    assert run.as_json(None)["clocks_us"] == {"time": 0.75 * whole, "rank": 1}


def test_ranks_with_the_same_time_are_counted() -> None:
    ranks = pl.DataFrame({"rank": [0, 1, 2], "computed_us": [40.0, 40.0, 7.0]})
    first, _, last = ranks.rows(named=True)
    words = ("computed_us", "computes", "compute")
    assert traffic.with_others(ranks, first, *words) == "rank 0 and 1 other compute"
    assert traffic.with_others(ranks, last, *words) == "rank 2 computes"


def test_messages_within_a_node_are_in_no_packet() -> None:
    ranks = pl.DataFrame({"rank": [0, 1, 2, 3], "node": [0, 1, 0, 1]})
    pairs = pl.DataFrame(
        {"source": [0, 0, 1, 3], "destination": [1, 2, 3, 0], "bytes": [1024, 2048, 1024, 10]}
    )
    assert (
        traffic.crossing(pairs, ranks, 7)
        == "7 packets cross the network; 2 messages with 3 KB stay within a node."
    )
    assert traffic.crossing(pairs.head(1), ranks, 1) == "1 packet crosses the network."
