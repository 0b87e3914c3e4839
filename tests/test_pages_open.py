"""Pages carry their inputs: unpacked elsewhere they give the same results, and a hostile page harms
no file.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

from conftest import SMALL, Ended, execute
from elanite.base.simulator import VARIABLE
from elanite.errors import UsageError
from elanite.inputs import sources
from elanite.inputs.plan import plan
from elanite.report import pages
from elanite.report.pages import Inputs, Page, page_extraction
from elanite.report.pages.files import CommandFiles, of_plan
from elanite.traces import goal
from test_pages import Parts

Run = Callable[..., Ended]

PAIRS = "source,destination\n0,3\n1,2\n2,1\n3,0\n"

TRAFFIC = """
title = "Pairs on a graph"
machine = ["{machine}", "es40-qsnet"]
[run]
warm_up = "5 us"
window = "20 us"
batches = 2
seeds = 1
[[series]]
name = "pairs"
[series.jobs.all]
pattern = ["uniform", '../shared files/pairs.csv']
nodes = 4
message = "1 KB"
sizes = "fixed"
arrivals = "exponential"
load = "50 MB/s"
"""


def machine_file(folder: Path) -> None:
    """A four-node machine with its cables in a GraphML file."""
    graph = nx.Graph()
    for node in range(4):
        graph.add_node(f"gpu{node}", kind="node")
        graph.add_node(f"leaf{node // 2}", kind="switch")
        graph.add_edge(f"gpu{node}", f"leaf{node // 2}")
    graph.add_edge("leaf0", "leaf1")
    (folder / "net.graphml").write_text("\n".join(nx.generate_graphml(graph)), encoding="utf-8")
    topology = (
        'nodes = { value = 4, source = "test" }\nkind = { value = "graph", source = "test" }\n'
    )
    topology += 'file = { value = "net.graphml", source = "test" }\n'
    (folder / "own net.toml").write_text(machine_text(topology), encoding="utf-8")


def machine_text(topology: str) -> str:
    text = sources.read("machine", "es40-qsnet").text
    start = text.index("[topology]") + len("[topology]\n")
    rest = text[start:]
    return text[:start] + topology + rest[rest.index("\n[") :]


def digests(elanite: Run, folder: Path, words: list[str]) -> dict[str, str]:
    ended = elanite(*words, "--format", "json", cwd=folder)
    assert ended.code == 0, ended
    return {one["id"]: one["digest"] for one in json.loads(ended.out)}


def reopened(elanite: Run, page: Path, folder: Path) -> list[str]:
    """The command words for a page's inputs, unpacked from another working directory."""
    ended = elanite("open", str(page), "--into", str(folder), cwd=page.parent.parent)
    assert ended.code == 0, ended
    _, _, command = ended.out.partition(" && ")
    words = shlex.split(command)
    assert words[0] == "elanite"
    return words[1:]


def test_a_page_gives_the_same_results_in_another_folder(elanite: Run, tmp_path: Path) -> None:
    """A graph, a pair file beside neither, a machine from another folder."""
    work, there = tmp_path / "work" / "deep", tmp_path / "work" / "shared files"
    work.mkdir(parents=True)
    there.mkdir()
    machine_file(work)
    (there / "pairs.csv").write_text(PAIRS, encoding="utf-8")
    (tmp_path / "work" / "experiments").mkdir()
    experiment = tmp_path / "work" / "experiments" / "-mine.toml"
    experiment.write_text(TRAFFIC.format(machine="../deep/own net.toml"), encoding="utf-8")
    words = [
        "run",
        "../experiments/-mine.toml",
        "--set",
        "bus.rate=200 MB/s",
        "--html",
        "../page.html",
    ]
    first = digests(elanite, work, words)
    assert len(first) == 4
    again = tmp_path / "else where"
    words = reopened(elanite, tmp_path / "work" / "page.html", again)
    assert sorted(one.name for one in again.iterdir()) == [
        "_mine.toml",
        "command.sh",
        "own net.toml",
        "pairs.csv",
    ]
    (tmp_path / "work").rename(tmp_path / "gone")
    assert sorted(digests(elanite, again, words).values()) == sorted(first.values())
    assert not (again / ".." / "page.html").exists()


def test_the_page_of_a_sweep_gives_the_same_results(elanite: Run, tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    machine_file(work)
    (work / "pairs.csv").write_text(PAIRS, encoding="utf-8")
    (work / "more.csv").write_text("source,destination\n0,1\n", encoding="utf-8")
    text = TRAFFIC.format(machine="own net.toml").replace(
        "'../shared files/pairs.csv'", "'tornado'"
    )
    (work / "mine.toml").write_text(text, encoding="utf-8")
    words = [
        "sweep",
        "mine.toml",
        "--vary",
        "series.pairs.pattern=pairs.csv,./more.csv",
        "--html",
        "page.html",
    ]
    words += ["--vary", "bus.rate=200 MB/s,300 MB/s", "--machine", "own net.toml"]
    first = digests(elanite, work, words)
    assert len(first) == 4
    again = reopened(elanite, work / "page.html", tmp_path / "again")
    assert digests(elanite, tmp_path / "again", again) == first


@pytest.mark.parametrize(
    ("words", "there"),
    [
        (
            ["run", SMALL, "--series", "ping", "--html", "new/p.html", "--svg", "new/p.svg"],
            {"p.html", "p.svg"},
        ),
        (
            [
                "sweep",
                SMALL,
                "--vary",
                "bus.rate=200 MB/s",
                "--series",
                "ping",
                "--html",
                "new/s.html",
            ],
            {"s.html"},
        ),
        (
            ["replay", "new/r.goal", "--operations", "--html", "new/other.html"],
            {"r.goal", "other.html"},
        ),
    ],
)
def test_an_opened_command_has_all_options(
    elanite: Run, tmp_path: Path, words: list[str], there: set[str]
) -> None:
    """Result and output options are those that ran; files have their names in the folder."""
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "r.goal").write_text(
        "".join(goal.all_reduce(4, 2000, "ring")), encoding="ascii"
    )
    words += ["--format", "json"]
    ended = elanite(*words)
    assert ended.code == 0, ended.err
    pages = list((tmp_path / "new").glob("*.html"))
    again = reopened(elanite, pages[0], tmp_path / "again")
    ran = shlex.split(Parts(pages[0].read_text(encoding="utf-8")).command)
    named = [Path(word).name if word.startswith("new/") else word for word in words]
    own = [word for word in again if word not in ("--machine", "es40-qsnet")]
    shown = [word for word in ran[1:] if word not in ("--machine", "es40-qsnet")]
    assert sorted(shown) == sorted(words)
    assert sorted(own) == sorted(Path(word).name if word == SMALL else word for word in named)
    ended = elanite(*again, cwd=tmp_path / "again")
    assert ended.code == 0, ended.err
    assert there <= {one.name for one in (tmp_path / "again").iterdir()}


def test_shipped_files_are_named_and_same_names_are_kept_apart(tmp_path: Path) -> None:
    files = CommandFiles()
    assert files.source(sources.read("machine", "es40-qsnet")) == "es40-qsnet"
    assert files.contents == {}
    for folder, text in (("a", "x = 1\n"), ("b", "x = 2\n")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "mine.csv").write_text(text, encoding="utf-8")
    names = [files.path(tmp_path / folder / "mine.csv") for folder in ("a", "b", "a")]
    assert names == ["mine.csv", "2/mine.csv", "mine.csv"]
    own = tmp_path / "es40-qsnet"
    own.write_text(sources.read("machine", "es40-qsnet").text + "\n# mine\n", encoding="utf-8")
    assert files.source(sources.read("machine", own)) == "es40-qsnet"
    assert b"# mine" in files.contents["es40-qsnet"]


def test_a_program_of_the_user_stays_outside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A machine file beside the experiment file is found from any folder; its page names the
    simulating program.
    """
    program = tmp_path / "slim-fly"
    program.write_text("not run here", encoding="utf-8")
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "mine.toml").write_text(sources.read("machine", "es40-qsnet").text, encoding="utf-8")
    text = Path(SMALL).read_text(encoding="utf-8").replace('"es40-qsnet"', '"mine.toml"')
    (folder / "small.toml").write_text(text, encoding="utf-8")
    planned = plan(sources.read("experiment", folder / "small.toml"))
    assert [machine.name for machine in planned.machines] == ["mine"]
    assert of_plan(planned, []).absent == {}
    monkeypatch.setenv(VARIABLE, str(program))
    inputs = of_plan(planned, [])
    assert inputs.words[:5] == ("elanite", "run", "small.toml", "--machine", "mine.toml")
    assert inputs.absent == {"slim-fly": hashlib.sha256(b"not run here").hexdigest()}


def test_large_files_stay_outside() -> None:
    found = Inputs.gather(
        ["elanite", "run", "a.toml"], {"a.toml": b"a", "b.csv": b"b" * (17 << 20), "c.csv": b"c"}
    )
    assert list(found.files) == ["a.toml", "c.csv"]
    assert found.absent == {"b.csv": hashlib.sha256(b"b" * (17 << 20)).hexdigest()}


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("page") / "mine.html"
    inputs = Inputs.gather(
        ["elanite", "run", "mine.toml"], {"mine.toml": b"a = '<b>'", "deep/t.bin": b"\xff\x00"}
    )
    pages.write(file, Page("Mine", ("elanite", "run", "../mine.toml"), inputs))
    return file


def spoilt(page: Path, folder: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    """The page with another block."""
    text = page.read_text(encoding="utf-8")
    start = text.index(">", text.index('id="elanite-inputs"')) + 1
    end = text.index("</script>", start)
    block = json.loads(text[start:end])
    change(block)
    file = folder / "spoilt.html"
    file.write_text(
        text[:start] + json.dumps(block).replace("<", "\\u003c") + text[end:], encoding="utf-8"
    )
    return file


def renamed(name: object) -> Callable[[dict[str, Any]], object]:
    return lambda block: block["files"][0].update(name=name)


def test_files_are_written_as_they_were(elanite: Run, page: Path, tmp_path: Path) -> None:
    ended = elanite("open", str(page))
    assert ended.code == 0, ended
    assert ended.out == "cd mine && elanite run mine.toml\n"
    assert (tmp_path / "mine" / "mine.toml").read_bytes() == b"a = '<b>'"
    assert (tmp_path / "mine" / "deep" / "t.bin").read_bytes() == b"\xff\x00"
    before = (tmp_path / "mine" / "mine.toml").stat()
    ended = elanite("open", str(page))
    assert ended.code == 2
    assert "mine exists and is not empty" in ended.err
    assert (tmp_path / "mine" / "mine.toml").stat() == before


def test_only_a_new_or_an_empty_folder_is_filled(elanite: Run, page: Path, tmp_path: Path) -> None:
    for name in ("empty", "used"):
        (tmp_path / name).mkdir()
    (tmp_path / "used" / "other.txt").write_text("mine", encoding="utf-8")
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    for name, said in (
        ("used", "used exists and is not empty"),
        ("file", "file exists and is not a folder"),
    ):
        ended = elanite("open", str(page), "--into", name)
        assert (ended.code, said in ended.err, "--into FOLDER" in ended.err) == (2, True, True), (
            ended
        )
    assert [one.name for one in (tmp_path / "used").iterdir()] == ["other.txt"]
    assert elanite("open", str(page), "--into", "empty").code == 0
    assert (tmp_path / "empty" / "mine.toml").is_file()


BAD_NAMES = [
    *(
        "/etc/mine",
        "../mine",
        "a/../../mine",
        "a/..",
        "..",
        ".",
        "",
        "a//b",
        "./a",
        "a/",
        "~\\x",
        "a\\..\\b",
        "C:x",
    ),
    *(
        "a\nb",
        "a\x1b[31m",
        "a\u202eb",
        "a\x00b",
        "-rf",
        "a/-rf",
        " a",
        "command.sh",
        "COMMAND.SH",
        "command.sh/x",
    ),
    *("DEEP/t.bin", "deep", "deep/t.bin/x", "x" * 300, "a/" * 20 + "a", "\ud800", 7, None, ["a"]),
]


@pytest.mark.parametrize("name", BAD_NAMES, ids=range(len(BAD_NAMES)))
def test_names_that_lead_elsewhere_are_errors(page: Path, tmp_path: Path, name: object) -> None:
    with pytest.raises(UsageError, match="is damaged: "):
        page_extraction.read(spoilt(page, tmp_path, renamed(name)))


DAMAGE: list[tuple[str, Callable[[dict[str, Any]], object], str]] = [
    ("content", lambda block: block["files"][0].update(text="other"), "differs from its checksum"),
    ("no content", lambda block: block["files"][0].pop("text"), "cannot be decoded"),
    ("two contents", lambda block: block["files"][0].update(base64="aa=="), "cannot be decoded"),
    ("no base64", lambda block: block["files"][1].update(base64="a?"), "cannot be decoded"),
    ("surrogate", lambda block: block["files"][0].update(text="\ud800"), "cannot be decoded"),
    ("no command", lambda block: block.pop("command"), "not a command of Elanite"),
    (
        "other command",
        lambda block: block.update(command=["rm", "-rf", "/"]),
        "not a command of Elanite",
    ),
    ("control", lambda block: block["command"].append("\x1b]0;x\x07"), "control characters"),
    ("no list", lambda block: block.update(files={"a": 1}), "lists of its files"),
    ("no entry", lambda block: block.update(files=["a"]), "a file has no name"),
    ("absent", lambda block: block.update(absent=[{"name": "../x"}]), "not a path inside"),
    ("no version", lambda block: block.update(elanite=3), "version"),
    ("format", lambda block: block.update(format=2), "format 2"),
    ("no format", lambda block: block.pop("format"), "no format"),
]


@pytest.mark.parametrize(
    ("change", "said"), [one[1:] for one in DAMAGE], ids=[one[0] for one in DAMAGE]
)
def test_damaged_blocks_are_errors(
    page: Path, tmp_path: Path, change: Callable[..., object], said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        page_extraction.read(spoilt(page, tmp_path, change))


def test_files_that_are_no_pages_are_errors(elanite: Run, page: Path, tmp_path: Path) -> None:
    text = page.read_text(encoding="utf-8")
    cut = text.index('id="elanite-inputs"') + 60
    cases = {
        "none.html": ("<!doctype html><p>hello", "come from --html of run, sweep, place, compare"),
        "cut.html": (text[:cut], "is damaged"),
        "twice.html": (text + text, "several blocks"),
        "broken.html": (text.replace('{"format":1', '{"format":1,,'), "not JSON"),
    }
    for name, (content, said) in cases.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
        ended = elanite("open", name)
        assert (ended.code, said in ended.err, "Traceback" in ended.err) == (2, True, False), ended
    (tmp_path / "image.html").write_bytes(b"\x89PNG\xff\xff")
    (tmp_path / "folder.html").mkdir()
    for name, said in (
        ("image.html", "UTF-8"),
        ("folder.html", "it is a folder; name a page"),
        ("no.html", "No such file"),
    ):
        ended = elanite("open", name)
        assert (ended.code, said in ended.err) == (2, True), ended
    assert sorted(one.name for one in tmp_path.iterdir() if one.is_dir()) == ["folder.html"]


def test_nothing_is_written_through_links(page: Path, tmp_path: Path) -> None:
    """Not through a link in place of a file or a folder."""
    opened = page_extraction.read(page)
    (tmp_path / "away").mkdir()
    for name, target in (("mine.toml", "nowhere"), ("deep", "away"), ("command.sh", "nowhere")):
        folder = tmp_path / f"into-{name}"
        folder.mkdir()
        (folder / name).symlink_to(tmp_path / target)
        with pytest.raises(UsageError, match="exists"):
            page_extraction.unpack(opened, folder)
        assert [one.name for one in folder.iterdir()] == [name]
    assert not (tmp_path / "nowhere").exists()
    assert list((tmp_path / "away").iterdir()) == []


def test_a_page_of_another_model_and_absent_files_are_told(
    elanite: Run, page: Path, tmp_path: Path
) -> None:
    absent = [{"name": "a.out", "sha256": "12ab"}]
    file = spoilt(page, tmp_path, lambda block: block.update(model=999, absent=absent))
    ended = elanite("open", str(file))
    assert ended.code == 0
    assert "not in the page: a.out, SHA-256 12ab" in ended.err
    assert "model revision 999 made the page" in ended.err


def test_the_file_with_the_command_runs_from_anywhere(page: Path, tmp_path: Path) -> None:
    folder = tmp_path / "it's here"
    page_extraction.unpack(page_extraction.read(page), folder)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "elanite").write_text(
        '#!/bin/sh\nprintf "%s\\n" "$PWD" "$@"\n', encoding="utf-8"
    )
    (tmp_path / "bin" / "elanite").chmod(0o755)
    path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    ended = execute(["sh", str(folder / "command.sh")], cwd="/", env=os.environ | {"PATH": path})
    assert ended.out.splitlines() == [str(folder), "run", "mine.toml"], ended


def test_binary_contents_are_base64(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert base64.b64encode(b"\xff\x00").decode() in text
