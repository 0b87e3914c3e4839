"""Result tables fit the terminal: no column is cut, no two look alike, and no interval is made
up.
"""

from __future__ import annotations

import shlex
from pathlib import Path

import polars as pl
import pytest
from syrupy.assertion import SnapshotAssertion

from conftest import SMALL, Ended, command, environment, execute
from elanite.base.text import brief, estimate, quantity
from elanite.cli.common import OutputFormat
from elanite.cli.output import of_table
from elanite.cli.tables import _wrapped
from elanite.validation.claims import claims

WIDTHS = [60, 80, 120, 200]


def at(width: int, *arguments: str, cwd: Path) -> Ended:
    return execute(command(*arguments), cwd=cwd, env=environment() | {"COLUMNS": str(width)})


@pytest.mark.parametrize("width", WIDTHS)
def test_results_fit(
    campaign: Path, tmp_path: Path, snapshot: SnapshotAssertion, width: int
) -> None:
    ended = at(width, "run", SMALL, "--out", str(campaign), "--series", "load", cwd=tmp_path)
    assert ended.code == 0, ended.err
    assert max(map(len, ended.out.splitlines())) <= width
    assert "…" not in ended.out
    assert "None" not in ended.out
    assert ended.out == snapshot


@pytest.mark.parametrize("width", WIDTHS)
def test_the_scoreboard_fits(campaign: Path, tmp_path: Path, width: int) -> None:
    ended = at(width, "claims", "--only", "ping", "--out", str(campaign), cwd=tmp_path)
    assert ended.code == 0, ended.err
    assert max(map(len, ended.out.splitlines())) <= width
    assert "ping.uni.latency.0B" in ended.out
    assert "2.2 µs" in ended.out


@pytest.mark.parametrize("width", WIDTHS)
def test_claims_without_results_are_a_sentence(campaign: Path, tmp_path: Path, width: int) -> None:
    ended = at(width, "claims", "--out", str(campaign), cwd=tmp_path)
    assert ended.code == 0, ended.err
    assert max(map(len, ended.out.splitlines())) <= width
    assert len(ended.out.splitlines()) < 6
    said = " ".join(ended.out.split())
    assert f"{len(claims())} claims without results" in said
    assert "of qsnet" in said
    assert "hold" not in said


@pytest.mark.parametrize("width", WIDTHS)
def test_explanations_fit(tmp_path: Path, width: int) -> None:
    ended = at(width, "explain", "link.hop_delay", "--machine", "infiniband-ndr", cwd=tmp_path)
    assert ended.code == 0, ended.err
    assert max(map(len, ended.out.splitlines())) <= width


@pytest.mark.parametrize("width", WIDTHS)
def test_machines_fit(tmp_path: Path, width: int) -> None:
    ended = at(width, "show", "es40-qsnet", cwd=tmp_path)
    assert max(map(len, ended.out.splitlines())) <= width
    assert "adapter.share_period" in ended.out


def test_headings_break_where_words_end() -> None:
    assert _wrapped("latency_p99, us", 9) == "latency_\np99, us"
    assert _wrapped("offered, MB/s", 20) == "offered, MB/s"


def test_few_values_tell_no_interval() -> None:
    assert estimate(2.0, 1.0, 3.0, 2) == "2"
    assert estimate(2.0, 1.0, 3.0, 3) == "2 ± 1"
    assert estimate(0.08, 0.06, 0.1, 5, "fraction") == "8 ± 2"


def test_a_time_of_zero_has_no_unit(capsys: pytest.CaptureFixture[str]) -> None:
    frame = pl.DataFrame({"id": ["0"], "series": ["s"], "delay": ["0 ps"], "gap": ["10 ps"]})
    of_table(frame, OutputFormat.TABLE)
    found = capsys.readouterr().out
    assert "0 ps" not in found.replace("10 ps", "")
    assert found.split()[-2:] == ["10", "ps"]
    of_table(frame, OutputFormat.CSV)
    assert "0 ps,10 ps" in capsys.readouterr().out, "machines read the quantity"


def test_units_are_those_of_people() -> None:
    assert quantity(2.2, "us") == "2.2 µs"
    assert quantity(0.08, "fraction") == "8%"
    assert quantity(40.0, "ratio") == "40x"


def test_long_messages_are_cut_to_a_screenful() -> None:
    processes = ", ".join(f"process {number} of job `a`" for number in range(192))
    message = f"deadlock at 1 ms: these wait: {processes}\n" + "\n".join(
        f"packet {n}" for n in range(50)
    )
    short = brief(message, 20)
    assert len(short.splitlines()) == 21
    assert max(map(len, short.splitlines())) < 300
    assert "more\n" in short
    assert "31 more lines" in short


def test_readers_may_leave_early(campaign: Path, tmp_path: Path) -> None:
    for arguments in (
        ["run", SMALL, "--out", str(campaign)],
        ["list", "claims"],
        ["show", "es40-qsnet"],
    ):
        line = f"set -o pipefail; {shlex.join(command(*arguments))} --quiet | head -1"
        ended = execute(["bash", "-c", line], cwd=tmp_path)
        assert ended.code == 0, str(ended)
        assert ended.err == ""


def test_a_deadlock_is_told_in_a_screenful(tmp_path: Path) -> None:
    words = (
        "run",
        "collectives/deadlock",
        "--set",
        "series.groups.collective.may_deadlock=false",
        "--where",
        "groups=3",
    )
    ended = at(80, *words, "--set", "run.seeds=1", "--out", "out", cwd=tmp_path)
    assert ended.code == 3
    assert "can never go on" in ended.err
    assert len(ended.err.splitlines()) < 50
    assert max(map(len, ended.err.splitlines())) < 600
    assert "--point" in ended.err
    whole = (tmp_path / "out" / "failures.txt").read_text(encoding="utf-8")
    assert "can never go on" in whole
    assert len(whole) > 2 * len(ended.err)
