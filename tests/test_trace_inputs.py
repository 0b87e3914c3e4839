"""Spoilt traces, graphs and energy parameters: refused with the file name, or read otherwise.

Traces in GOAL are read by the simulator: ``crates/goal/tests/reading.rs``.
"""

from __future__ import annotations

import random
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from elanite.inputs import graphs
from elanite.results import energy
from elanite.traces import otf2, translate
from elanite.traces.chakra_reading import ReadingOptions
from spoiling import (
    attempt,
    cases,
    fuzzing,
    say_how_to_see_it_again,  # noqa: F401 - a fixture of all tests
    spoil,
)

if TYPE_CHECKING:
    from test_otf2 import Recorder


@pytest.mark.parametrize("form", ["et", "json"])
def test_spoilt_chakra_traces(tmp_path: Path, form: str) -> None:
    pytest.importorskip("google.protobuf")
    from test_chakra import ALL_REDUCE, binary, message, node, plain

    together = node(2, "COMM_COLL", 1, comm_type=ALL_REDUCE, comm_size=64, pg_name="[0]")
    graph = [
        node(1, "COMP", us=7),
        together,
        message(3, "COMM_SEND", 0, 0, 2),
        node(4, "COMP", 3, us=1),
    ]
    path = tmp_path / f"job.0.{form}"
    (binary if form == "et" else plain)(path, graph)
    whole = path.read_bytes()
    refused = count = 0
    for draw in cases(f"chakra_traces {form}", 150):
        path.write_bytes(spoil(whole, draw))
        found, said = attempt(
            lambda: translate([path], tmp_path / "out.goal", ReadingOptions(replicate=1))
        )
        assert found is not None or str(path) in said
        refused += found is None
        count += 1
    assert 0 < refused < count or fuzzing()


def _talk(to: Recorder, rank: int) -> None:
    to.compute(3000)
    to.send(1 - rank, 0, 8)
    to.recv(1 - rank, 0, 8)
    to.together("BCAST", 8, 8)
    to.together("ALLREDUCE", 8, 8)


def _spoilt(whole: Path, folder: Path, draw: random.Random) -> str:
    """Translate an archive with one spoilt file; returns the refusal's words, or an empty text."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(whole, folder)
    files = sorted(path.relative_to(whole) for path in whole.rglob("*") if path.is_file())
    file = folder / draw.choice(files)
    file.write_bytes(spoil(file.read_bytes(), draw))
    found, said = attempt(lambda: translate([folder / "traces.otf2"], folder.with_suffix(".goal")))
    assert found is not None or str(folder) in said
    return said


def test_spoilt_archives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("otf2")
    from test_otf2 import archive

    monkeypatch.setattr(otf2, "_PATIENCE", 2)
    whole = archive(tmp_path, 2, _talk).parent
    refused = 0
    for draw in cases("spoilt_archives", 20):
        refused += _spoilt(whole, tmp_path / "spoilt", draw) != ""
    assert refused > 0 or fuzzing()


def test_a_collective_operation_without_a_name(tmp_path: Path) -> None:
    """The package finds no name for its number when the name is asked for, after the event was
    read.
    """
    pytest.importorskip("otf2")
    from test_otf2 import archive

    whole = archive(tmp_path, 2, _talk).parent
    said = _spoilt(whole, tmp_path / "spoilt", random.Random("spoilt_archives 32"))
    assert "rank 1, location 1, event" in said
    assert "(MpiCollectiveEnd at" in said
    assert "the archive cannot be read: KeyError: 43" in said


def test_an_anchor_that_the_package_reads_without_an_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("otf2")
    from test_otf2 import archive

    monkeypatch.setattr(otf2, "_PATIENCE", 2)
    anchor = archive(tmp_path, 2, _talk)
    whole = anchor.read_bytes()
    anchor.write_bytes(whole[:52] + whole[2:52] + whole[52:])
    found, said = attempt(lambda: translate([anchor], tmp_path / "out.goal"))
    assert found is None
    assert f"{anchor}: the anchor file is damaged" in said


def test_spoilt_parameters_of_energy(tmp_path: Path) -> None:
    from test_energy import power

    path = power(tmp_path)
    whole = path.read_bytes()
    refused = count = 0
    for draw in cases("parameters_of_energy", 300):
        path.write_bytes(spoil(whole, draw))
        found, said = attempt(lambda: energy.load(path))
        assert found is not None or str(path) in said
        refused += found is None
        count += 1
    assert 0 < refused < count or fuzzing()


def test_spoilt_graphs(tmp_path: Path) -> None:
    pytest.importorskip("networkx")
    from test_graphs import TREE, graphml

    path = tmp_path / "net.graphml"
    whole = graphml(TREE).encode()
    text = '[topology]\nfile = { value = "net.graphml", source = "a test" }\n'
    refused = count = 0
    for draw in cases("spoilt_graphs", 150):
        path.write_bytes(spoil(whole, draw))
        found, said = attempt(lambda: graphs.completed(text, tmp_path / "own.toml"))
        assert found is not None or str(path) in said
        refused += found is None
        count += 1
    assert 0 < refused < count or fuzzing()


LONG = "9" * 5000
"""An integer with more digits than Python converts."""


@pytest.mark.parametrize(
    ("name", "data", "place"),
    [
        pytest.param(
            "p.toml", b"a = " + b"[" * 5000, "this is no TOML: ", id="deep brackets in TOML"
        ),
        pytest.param(
            "p.toml", f"a = {LONG}".encode(), "this is no TOML: ", id="a long number in TOML"
        ),
        pytest.param("p.toml", b"\xff", "this is no TOML: ", id="other letters in TOML"),
        pytest.param("j.0.json", b"[" * 100_000, "this is not JSON: ", id="deep brackets in JSON"),
        pytest.param(
            "j.0.json",
            f'{{"a": {LONG}}}'.encode(),
            "this is not JSON: ",
            id="a long number in JSON",
        ),
        pytest.param(
            "j.0.json",
            '{"workload_graph": [{"Id": 1, "NodeType": 4, "data_deps": [], "runtime":'
            f" {'9' * 400}}}]}}".encode(),
            "workload_graph[0]: a node has `Id` and `NodeType`, and `data_deps`",
            id="a duration beyond all floats",
        ),
    ],
)
def test_what_libraries_raise_without_saying_so(
    tmp_path: Path, name: str, data: bytes, place: str
) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    toml = path.suffix == ".toml"
    found, said = attempt(
        lambda: energy.load(path) if toml else translate([path], tmp_path / "out.goal")
    )
    assert found is None
    assert f"{path}: {place}" in said
