"""Replay pages: everything that they show equals the replay's tables; also of replays without an
end.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import elanite as el
from conftest import Ended
from elanite.base.text import number
from elanite.cli.launch import MOST_TRACE
from elanite.cli.replay import Replay
from elanite.inputs import sources
from elanite.traces import goal
from elanite.traces.replay import UnfinishedReplay
from test_pages import Parts
from timelines import Tables, agree, embedded

Command = Callable[..., Ended]


def replayed(
    elanite: Command, tmp_path: Path, *options: str
) -> tuple[str, dict[str, pl.DataFrame]]:
    """Page and tables for a ring with eight ranks, replayed."""
    (tmp_path / "ring.goal").write_text(
        "".join(goal.all_reduce(8, 20_000, "ring", compute=500)), encoding="ascii"
    )
    ended = elanite("replay", "ring.goal", "--html", "ring.html", *options)
    assert ended.code == 0, ended
    (folder,) = (tmp_path / "out" / "replay").iterdir()
    names = ("ranks", "operations", "links", "series")
    return (tmp_path / "ring.html").read_text(encoding="utf-8"), {
        name: pl.read_parquet(folder / f"{name}.parquet") for name in names
    }


@pytest.mark.parametrize("network", ["machine", "ideal"])
def test_the_page_of_a_replay(elanite: Command, tmp_path: Path, network: str) -> None:
    options = () if network == "machine" else ("--network", "ideal")
    page, tables = replayed(elanite, tmp_path, *options)
    agree(embedded(page), tables)
    assert (len(embedded(page)["links"]) > 0) == (network == "machine")
    parts = Parts(page)
    last = tables["ranks"].sort("end_us", "rank", descending=[True, False]).row(0, named=True)
    tied = len(tables["ranks"].filter(pl.col("end_us") == last["end_us"])) - 1
    others = f" and {tied} other{'s' * (tied > 1)} are" if tied else " is"
    assert (
        f"{number(last['end_us'])} µs of simulated time; rank {last['rank']}{others} the slowest"
        in parts.findings[0]
    )
    share = tables["ranks"]["computed_us"].sum() / tables["ranks"]["end_us"].sum()
    assert f"{share:.1%} of the ranks' time" in parts.findings[1]
    shown = Tables(page).found
    for kind, count, mean, longest in shown["Operations by kind"].rows:
        rows = tables["operations"].filter(pl.col("kind") == kind)
        times = [end - free for free, end in rows.select("free_us", "end_us").iter_rows()]
        assert [count, mean, longest] == [
            f"{len(times):,}",
            number(sum(times) / len(times)),
            number(max(times)),
        ]
    operations = tables["operations"]
    sends = (
        operations.filter(pl.col("kind") == "send")
        .select("rank", "operation", "free_us")
        .rows_by_key(["rank", "operation"], unique=True)
    )
    received = operations.drop_nulls("sent_by").select("sender", "sent_by", "end_us").iter_rows()
    times = sorted(end - sends[sender, number_][0] for sender, number_, end in received)
    places = [math.ceil(len(times) * share) - 1 for share in (0.5, 0.99, 0.999)]
    *_, every = shown["Times of messages by size"].rows
    assert every[1:] == [
        f"{len(times):,}",
        *(number(times[place]) for place in places),
        number(times[-1]),
    ]
    block = re.search(r'id="elanite-inputs">(.*?)</script>', page)
    assert block is not None
    inputs = json.loads(block[1])
    assert ("cross the network" in page) == (network == "machine")
    assert [file["name"] for file in inputs["files"]] == ["ring.goal"]
    assert inputs["files"][0]["text"] == (tmp_path / "ring.goal").read_text()
    assert inputs["command"][:3] == ["elanite", "replay", "ring.goal"]


def test_computation_at_the_same_time_is_no_part_of_the_time(
    elanite: Command, tmp_path: Path
) -> None:
    """Three streams of 100 µs are no 300 µs of a replay of 116 µs."""
    streams = "".join(f"l{n}: calc 100000 cpu {n}\n" for n in range(3))
    first = f"{streams}l3: send 1000b to 1 tag 1\nl3 requires l0\n"
    text = f"num_ranks 2\nrank 0 {{\n{first}}}\nrank 1 {{\nl0: recv 1000b from 0 tag 1\n}}\n"
    (tmp_path / "streams.goal").write_text(text, encoding="ascii")
    ended = elanite("replay", "streams.goal", "--html", "page.html")
    assert "rank 0; 300 µs of computation\n" in ended.out
    one, two, *_ = Parts((tmp_path / "page.html").read_text(encoding="utf-8")).findings
    assert one.endswith("µs of simulated time; rank 0 is the slowest, with 300 µs of computation.")
    assert re.fullmatch(
        r"Computation adds up to 13\d\.\d% of the ranks' time; rank 0 has most, 300 µs, some of it"
        r" at the same time\.",
        two,
    )


def test_a_large_trace_is_named_with_its_checksum(tmp_path: Path) -> None:
    trace = tmp_path / "large.goal"
    trace.write_text("x" * (MOST_TRACE + 1))
    inputs = Replay(traces=[trace]).inputs(trace, sources.read("machine", "es40-qsnet"), None)
    assert not inputs.files
    assert inputs.absent == {"large.goal": hashlib.sha256(trace.read_bytes()).hexdigest()}


def test_a_replay_without_an_end_has_a_page(elanite: Command, tmp_path: Path) -> None:
    text = "num_ranks 2\nrank 0 {\nrecv 5b from 1\n}\nrank 1 {\nsend 7b to 0 tag 3\n}\n"
    (tmp_path / "t.goal").write_text(text)
    ended = elanite("replay", "t.goal", "--html", "t.html")
    assert ended.code == 3, ended
    page = (tmp_path / "t.html").read_text(encoding="utf-8")
    rows = Tables(page).found["Operations that wait, or whose messages have no receive"].rows
    assert [row[0].split(":")[1] for row in rows] == ["3", "6"]
    assert all(row[0] in ended.err for row in rows)
    assert "see the lines before" not in page


STUCK = """num_ranks 4
rank 0 {
a: send 5b to 1 tag 1
b: recv 5b from 1 tag 9
b requires a
}
rank 1 {
recv 5b from 0 tag 1
}
rank 2 {
calc 400000
}
rank 3 {
a: calc 100000
b: recv 9b from 0
c: send 9b to 0
b requires a
c requires b
}
"""


@pytest.mark.parametrize("network", ["machine", "ideal"])
def test_a_replay_without_an_end_has_a_timeline(
    elanite: Command, tmp_path: Path, network: str
) -> None:
    """Up to the end, with the operations that had not ended: ranks 0 and 3 wait, and ranks 1 and 2
    are done.
    """
    (tmp_path / "t.goal").write_text(STUCK)
    with pytest.raises(UnfinishedReplay) as raised:
        el.replay(tmp_path / "t.goal", operations=True, network=network)
    left = raised.value.replay
    assert left.tables["waiting"].select("rank", "operation").rows() == [(0, 1), (3, 1)]
    assert left.summary["time_us"] >= 400
    ended = elanite("replay", "t.goal", "--html", "t.html", "--network", network)
    assert ended.code == 3, ended
    page = (tmp_path / "t.html").read_text(encoding="utf-8")
    drawn, parts = embedded(page), Parts(page)
    end = drawn["end"]
    assert end == round(1e6 * left.summary["time_us"])
    names = [name for name, _, _ in drawn["kinds"]]
    unended = {}
    for lane in drawn["lanes"]:
        begin = 0
        for kind, gap, length in zip(lane["kind"], lane["begin"], lane["length"], strict=True):
            begin += gap
            if names[kind] == "recv, not ended":
                unended[lane["rank"]] = begin, begin + length
        assert (lane["end"] == end) == (lane["rank"] in (0, 2, 3))
    since = {
        rank: round(1e6 * free)
        for rank, free in left.tables["waiting"].select("rank", "free_us").iter_rows()
    }
    assert unended == {rank: (free, end) for rank, free in since.items()}
    assert since[3] >= 1e8, "it computes before"
    assert drawn["messages"]["source"] == [0], "of two sends, one was received"
    assert (
        f"at {number(left.summary['time_us'])} µs of simulated time: operations have no partner."
        in parts.findings[0]
    )
    assert (
        "2 operations of ranks 0, 3 had not ended; the first of them: recv of 5 B from rank 1 with"
        " tag 9 at rank 0" in (parts.findings[1])
    )
    assert [row[0] for row in Tables(page).found["Operations that had not ended"].rows] == [
        "rank 0",
        "rank 3",
    ]
    assert "1 operation behind these has not started" in page


def test_a_page_without_an_end_names_what_failed(elanite: Command, tmp_path: Path) -> None:
    (tmp_path / "t.goal").write_text(
        "num_ranks 2\nrank 0 {\nrecv 5b from 1\n}\nrank 1 {\na: calc 9000\nsend 5b to 0\n}\n"
    )
    options = ("--fault", "node = 1, at = '1 us'")
    ended = elanite("replay", "t.goal", "--html", "t.html", *options)
    assert ended.code == 3, ended
    found = Parts((tmp_path / "t.html").read_text(encoding="utf-8")).findings
    assert (
        found[1].startswith("Before the end, the machine failed: host 1") or "node 1" in found[1]
    ), found


def test_a_replay_beyond_its_bound_has_a_timeline(elanite: Command, tmp_path: Path) -> None:
    (tmp_path / "t.goal").write_text(STUCK)
    ended = elanite("replay", "t.goal", "--html", "t.html", "--limit-time", "50us")
    assert ended.code == 1, ended
    page = (tmp_path / "t.html").read_text(encoding="utf-8")
    assert ": a bound was passed." in Parts(page).findings[0]
    rows = Tables(page).found["Operations that had not ended"].rows
    assert [row[:1] + row[2:3] for row in rows] == [
        ["rank 0", "recv of 5 B from rank 1 with tag 9"],
        ["rank 2", "calc of 400 µs"],
        ["rank 3", "calc of 100 µs"],
    ]
    assert embedded(page)["messages"]["source"] == [0]
    ranks = Tables(page).found["Ranks, the longest wait first"]
    assert ranks.columns[2] == "last end, µs"
    since = {row[0]: float(row[3]) for row in rows}
    order = [row[0] for row in ranks.rows if row[0] in since]
    assert order == sorted(since, key=lambda rank: (since[rank], rank))
    assert [row[0] for row in ranks.rows[len(order) :]] == ["rank 1"], "it has ended"


def test_a_wrong_trace_has_no_page(elanite: Command, tmp_path: Path) -> None:
    (tmp_path / "t.goal").write_text("num_ranks 1\nrank 0 {\nl1: calc -5\n}\n")
    assert elanite("replay", "t.goal", "--html", "t.html").code == 2
    assert not (tmp_path / "t.html").exists()


def test_a_page_of_a_replay_is_run_again_elsewhere(elanite: Command, tmp_path: Path) -> None:
    """The unpacked folder has the trace, the machine and the placement; its command gives the same
    digest.
    """
    (tmp_path / "p.txt").write_text("".join(f"{node}\n" for node in (3, 1, 0, 2, 5, 4, 7, 6)))
    text = sources.read("machine", "es40-qsnet").text.replace(
        'name = "es40-qsnet"', 'name = "mine"'
    )
    (tmp_path / "mine.toml").write_text(text)
    options = ("--machine", "mine.toml", "--placement", "p.txt", "--set", "switch.circuit=wormhole")
    replayed(elanite, tmp_path, *options)
    unpacked = elanite("open", "ring.html", "--into", "there")
    assert unpacked.code == 0, unpacked
    page = (tmp_path / "ring.html").read_text(encoding="utf-8")
    block = re.search(r'id="elanite-inputs">(.*?)</script>', page)
    assert block is not None
    _, *words = json.loads(block[1])["command"]
    again = elanite(*words, cwd=tmp_path / "there")
    assert again.code == 0, again
    first, second = (
        re.search(r"digest ([0-9a-f]{32})", (folder / "ring.html").read_text(encoding="utf-8"))
        for folder in (tmp_path, tmp_path / "there")
    )
    assert first is not None
    assert second is not None
    assert first[1] == second[1]


def test_hosts_of_an_imported_network_have_their_names(elanite: Command, tmp_path: Path) -> None:
    """The hottest links name hosts and switches as the network's file does."""
    (tmp_path / "net.txt").write_text(
        "switch leaf\n"
        + "".join(f"node rack-{host}\n" for host in "abcd")
        + "".join(f"rack-{host} leaf\n" for host in "abcd")
    )
    assert elanite("import", "net.txt", "--output", "net.toml").code == 0
    (tmp_path / "ring.goal").write_text("".join(goal.all_reduce(4, 20_000, "ring")))
    ended = elanite("replay", "ring.goal", "--machine", "net.toml", "--html", "ring.html")
    assert ended.code == 0, ended
    for host in (0, 1, 2):
        assert f"node {host} (rack-{'abc'[host]}) to switch leaf" in ended.out
    page = (tmp_path / "ring.html").read_text(encoding="utf-8")
    assert "node 0 (rack-a) → switch leaf" in page
    (folder,) = (tmp_path / "out" / "replay").iterdir()
    assert "node 0" in pl.read_parquet(folder / "links.parquet")["from"].to_list()
