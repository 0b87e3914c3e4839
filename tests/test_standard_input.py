"""Inputs that a command line names as ``-``: standard input, read once and bounded as files are."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from conftest import PATIENCE, SMALL, Ended, command, environment
from elanite.base import bounded
from elanite.errors import UsageError
from elanite.inputs import sources

MACHINE = sources.read("machine", "es40-qsnet").text
TRACE = "num_ranks 2\nrank 0 {\nl1: send 8b to 1\n}\nrank 1 {\nl1: recv 8b from 0\n}\n"


def given(folder: Path, text: str, *words: str) -> Ended:
    """A command with this text as its standard input."""
    done = subprocess.run(
        command(*words),
        input=text,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
        cwd=folder,
        env=environment(),
    )
    return Ended(done.returncode, done.stdout, done.stderr)


def test_a_trace_from_a_pipe_is_replayed_as_its_file(tmp_path: Path) -> None:
    (tmp_path / "trace.goal").write_text(TRACE)
    line = ("--network", "ideal", "--format", "json", "--html")
    from_pipe = given(tmp_path, TRACE, "replay", "-", *line, "pipe.html")
    from_file = given(tmp_path, "", "replay", "trace.goal", *line, "file.html")
    assert (from_pipe.code, from_file.code) == (0, 0), (from_pipe, from_file)
    one, other = json.loads(from_pipe.out), json.loads(from_file.out)
    assert one.pop("trace") == "-"
    assert other.pop("trace") == "trace.goal"
    assert one["folder"] == other["folder"]
    opened = given(tmp_path, (tmp_path / "pipe.html").read_text(), "open", "-", "--into", "again")
    assert opened.code == 0, opened
    assert (tmp_path / "again" / "stdin.goal").read_text() == TRACE
    assert not [path for path in tmp_path.glob("*") if path.name.startswith("-")]


def test_a_wrong_trace_from_a_pipe_has_its_line(tmp_path: Path) -> None:
    ended = given(tmp_path, TRACE.replace("recv", "receive"), "replay", "-")
    assert ended.code == 2, ended
    assert "stdin.goal:6: " in ended.err


def test_files_of_all_kinds_come_from_standard_input(tmp_path: Path) -> None:
    experiment = Path(SMALL).read_text()
    (tmp_path / "trace.goal").write_text(TRACE)
    shows = given(tmp_path, MACHINE, "show", "-", "--format", "json")
    assert shows.code == 0, shows
    runs = given(
        tmp_path, experiment, "run", "-", "--out", "out", "--format", "csv", "--html", "page.html"
    )
    assert runs.code == 0, runs
    of_file = given(tmp_path, "", "run", SMALL, "--out", "out", "--format", "csv")
    assert runs.out.replace(",stdin,", f",{Path(SMALL).stem},") == of_file.out
    placed = given(
        tmp_path, "3\n1\n", "replay", "trace.goal", "--placement", "-", "--format", "json"
    )
    assert placed.code == 0, placed
    assert given(tmp_path, "", "check", "-").code == 2


def test_mistakes_of_standard_input_are_named(tmp_path: Path) -> None:
    wrong = given(
        tmp_path,
        MACHINE.replace('rate = { value = "400 MB/s"', 'rate = { value = "400"', 1),
        "check",
        "-",
    )
    assert wrong.code == 2, wrong
    assert "--> -:" in wrong.err or "-:" in wrong.err, wrong
    both = given(tmp_path, MACHINE, "run", "-", "--machine", "-")
    assert both.code == 2, both
    assert "- is a machine, and an experiment is needed here" in both.err
    beside = given(tmp_path, "", "run", str(beside_of(tmp_path)))
    assert beside.code == 2, beside
    assert "`./-` is standard input on a command line only; name a file" in beside.err


def beside_of(folder: Path) -> Path:
    """An experiment with the machine named ``-``."""
    found = folder / "beside.toml"
    lines = [
        'machine = "./-"' if line.startswith("machine") else line
        for line in Path(SMALL).read_text().splitlines()
    ]
    found.write_text("\n".join(lines))
    return Path(found.name)


def test_standard_input_is_bounded_and_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded, "_read", [])
    with Path("/dev/zero").open("rb") as endless:
        monkeypatch.setattr(
            bounded.os, "dup", lambda _: bounded.os.open(endless.name, bounded.os.O_RDONLY)
        )
        with pytest.raises(
            UsageError, match=r"--to: -: it has more than the 1,000 bytes that are read; is it"
        ):
            bounded.text(bounded.STDIN, 1000, named="--to", read=bounded.typed)
    assert len(bounded._read[0]) == 1001
    monkeypatch.setattr(bounded, "_read", [b"once"])
    monkeypatch.setattr(
        bounded.os, "dup", lambda _: bounded.os.open("/dev/null", bounded.os.O_RDONLY)
    )
    assert bounded.typed(bounded.STDIN, 10) == bounded.typed(bounded.STDIN, 10) == b"once"
