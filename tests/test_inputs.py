"""Files that a person, a program or a disk has spoilt, as Python reads them: stores, runs, rank
places.

No input raises an unforeseen exception. A store folder is accepted only if no bit has changed.
``spoiling.py`` defines the cases. The files themselves (TOML, CSV) are read by the simulator:
``crates/experiment/tests/inputs.rs``; traces and energy parameters are in ``test_trace_inputs.py``.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from conftest import FILES, SMALL
from elanite.cli import main
from elanite.errors import Exit
from elanite.inputs import sources
from elanite.inputs.plan import plan
from elanite.mpirun.options import Options
from elanite.mpirun.run_tables import KeptRun
from elanite.store import Store, keep
from elanite.store.places import ABANDONED
from spoiling import (
    attempt,
    cases,
    fuzzing,
    say_how_to_see_it_again,  # noqa: F401 - a fixture of all tests
    spoil,
)

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

AWKWARD = [
    "null",
    "true",
    "-1",
    "0",
    "1e999",
    "NaN",
    "9" * 400,
    "[]",
    "{}",
    '""',
    '"x"',
    "[[1]]",
    '{"a": {"b": []}}',
]
"""JSON values in wrong places."""


def spoil_json(data: bytes, draw: random.Random) -> bytes:
    """The same, or with another value somewhere in the JSON."""
    if draw.randrange(2):
        return spoil(data, draw)
    text = data.decode()
    places = [place for place, letter in enumerate(text) if letter == ":"]
    start = draw.choice(places) + 1
    end = min(
        found for found in (text.find(",", start), text.find("\n", start), len(text)) if found >= 0
    )
    return (text[:start] + draw.choice(AWKWARD) + text[end:]).encode()


def without_times(manifest: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in manifest.items() if key != "times"}


@pytest.fixture(scope="module")
def point(campaign: Path) -> Path:
    """A finished point's folder."""
    chosen = plan(sources.read("experiment", SMALL)).points[0]
    return campaign / "store" / chosen.id


def copy(folder: Path, to: Path) -> Path:
    """A copy in an otherwise empty store."""
    shutil.rmtree(to, ignore_errors=True)
    shutil.copytree(folder, to / folder.name)
    return to / folder.name


def test_no_changed_bit_of_a_point_is_taken(point: Path, tmp_path: Path) -> None:
    whole = json.loads((point / "manifest.json").read_bytes())
    names = sorted(path.name for path in point.iterdir())
    taken = count = 0
    for draw in cases("changed_bit", 150):
        folder = copy(point, tmp_path / "store")
        name = draw.choice([*names, *["manifest.json"] * len(names)])
        before = (folder / name).read_bytes()
        after = (spoil_json if name == "manifest.json" else spoil)(before, draw)
        (folder / name).write_bytes(after)
        found = Store(tmp_path / "store").get(point.name)
        if found is not None:
            assert without_times(found.data) == without_times(whole)
            assert isinstance(found.cpu_seconds, float)
            assert name == "manifest.json" or before == after
        taken += found is not None
        assert Store(tmp_path / "store").damaged(point.name) == (found is None)
        count += 1
    assert count > 20 or fuzzing()
    assert taken < count / 2


def manifest(**changes: Any) -> Callable[[Path], object]:
    """Writes a manifest with other values, in the layout before seals: only its form is checked."""

    def harm(folder: Path) -> None:
        data = json.loads((folder / "manifest.json").read_bytes())
        del data["seal"]
        text = json.dumps(data | {"layout": 4} | changes)
        (folder / "manifest.json").write_text(text, encoding="utf-8")

    return harm


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def other_file(name: str) -> Callable[[Path], object]:
    """Names a file that does not lie in the folder."""

    def harm(folder: Path) -> None:
        rows = (folder / "rows.parquet").read_bytes()
        (folder.parent / "outside.parquet").write_bytes(b"x")
        manifest(files={"rows.parquet": digest(rows), name: digest(b"x")})(folder)

    return harm


def no_file(folder: Path) -> None:
    (folder / "rows.parquet").unlink()
    os.mkfifo(folder / "rows.parquet")


@pytest.mark.parametrize(
    "harm",
    [
        pytest.param(manifest(layout=3), id="an older layout"),
        pytest.param(manifest(layout=6), id="a newer layout"),
        pytest.param(manifest(layout=5), id="no seal"),
        pytest.param(manifest(layout=[4]), id="a list as layout"),
        pytest.param(manifest(seal="0" * 64), id="a seal where none was"),
        pytest.param(manifest(id="0" * 20), id="another point"),
        pytest.param(manifest(files=["rows.parquet"]), id="a list of files"),
        pytest.param(manifest(files={"rows.parquet": None}), id="a file without a checksum"),
        pytest.param(manifest(times=[]), id="times are a list"),
        pytest.param(manifest(times={"cpu_seconds": "long"}), id="seconds are text"),
        pytest.param(other_file("../outside.parquet"), id="a file outside"),
        pytest.param(other_file("/dev/zero"), id="a file without an end"),
        pytest.param(no_file, id="a pipe instead of a table"),
        pytest.param(
            lambda folder: (folder / "manifest.json").write_text("[" * 100_000), id="deep brackets"
        ),
        pytest.param(lambda folder: (folder / "manifest.json").write_text("7"), id="a number"),
        pytest.param(
            lambda folder: (folder / "manifest.json").write_bytes(b"\xff\xfe"), id="no text"
        ),
    ],
)
def test_a_folder_that_no_campaign_wrote_is_not_taken(
    point: Path, tmp_path: Path, harm: Callable[[Path], object]
) -> None:
    folder = copy(point, tmp_path / "store")
    harm(folder)
    assert Store(tmp_path / "store").get(point.name) is None


def test_a_point_written_before_there_were_seals_is_taken(point: Path, tmp_path: Path) -> None:
    manifest()(copy(point, tmp_path / "store"))
    assert Store(tmp_path / "store").get(point.name) is not None


def test_folders_that_are_swapped_are_not_taken(campaign: Path, tmp_path: Path) -> None:
    shutil.copytree(campaign / "store", tmp_path / "store")
    one, other = sorted((tmp_path / "store").iterdir())[:2]
    one.rename(tmp_path / "aside")
    other.rename(one)
    (tmp_path / "aside").rename(other)
    store = Store(tmp_path / "store")
    assert (store.get(one.name), store.get(other.name)) == (None, None)


@pytest.mark.parametrize("end", ["", "0", "x", "²", "9" * 30, "-" * 10])
def test_leftovers_of_no_process_are_removed_when_they_are_old(tmp_path: Path, end: str) -> None:
    left = tmp_path / f".partial-0123-{end}"
    left.mkdir()
    Store(tmp_path).clean()
    assert list(tmp_path.iterdir()) == [left]
    os.utime(left, (time.time() - 2 * ABANDONED,) * 2)
    Store(tmp_path).clean()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '{"owner": 7, "seconds": 5}',
        '{"owner": "x", "seconds": "long"}',
        '{"owner": "x", "seconds": 1e999}',
    ],
)
def test_a_claim_that_says_nothing_holds_until_it_is_old(tmp_path: Path, text: str) -> None:
    left = tmp_path / ".claim-0123"
    left.write_text(text)
    store = Store(tmp_path)
    assert store.claim("0123") is None
    store.clean()
    os.utime(left, (time.time() - 2 * ABANDONED,) * 2)
    with store.claim("0123") as claim:
        assert claim.renew()
    assert not list(tmp_path.iterdir())


def test_a_claim_from_the_future_does_not_hold(tmp_path: Path) -> None:
    """A clock was set back, or a file was copied with its time."""
    left = tmp_path / ".claim-0123"
    text = json.dumps({"owner": "elsewhere 1 2 3", "seconds": 600})
    left.write_text(text)
    store = Store(tmp_path)
    for ahead, held in ((500, True), (5_000, False)):
        left.write_text(text)
        os.utime(left, (time.time() + ahead,) * 2)
        claim = store.claim("0123")
        assert (claim is None) == held
    assert claim is not None
    claim.release()
    assert not list(tmp_path.iterdir())


@pytest.fixture(scope="module")
def kept(point: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run's folder, with a point's tables instead of its own."""
    import polars as pl

    folder = tmp_path_factory.mktemp("kept")
    data = json.loads((point / "manifest.json").read_bytes())
    data |= {"layout": 2, "id": "run", "program": ["./a.out"], "time_us": 3.5, "files": {}}
    tables = {"links": pl.read_parquet(point / "links.parquet")}
    keep(folder, "run", tables, {key: value for key, value in data.items() if key != "seal"})
    return folder / "run"


def test_no_changed_bit_of_a_run_is_taken(kept: Path, tmp_path: Path) -> None:
    whole = without_times(KeptRun.load(kept).manifest)
    for draw in cases("of_a_run", 150):
        folder = copy(kept, tmp_path / "runs")
        name = draw.choice(["manifest.json", "links.parquet"])
        before = (folder / name).read_bytes()
        (folder / name).write_bytes(
            after := (spoil_json if name == "manifest.json" else spoil)(before, draw)
        )
        found, said = attempt(lambda folder=folder: KeptRun.load(folder))
        if found is None:
            assert str(folder) in said
        else:
            assert without_times(found.manifest) == whole
            assert name == "manifest.json" or before == after


def test_places_of_ranks_are_nodes_or_an_error_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "places"
    for draw in cases("places", 300):
        lines = [f"{draw.randrange(70)}" for _ in range(4)] + [
            "# a comment",
            "",
            "9" * 5000,
            "-1",
            "1.5",
            "\u0663",
        ]
        text = "\n".join(draw.sample(lines, draw.choice([4, 4, 10])))
        file.write_bytes(text.encode() if draw.randrange(3) else spoil(text.encode(), draw))
        nodes, said = attempt(lambda: Options(4, ranks_per_node=2, placement=str(file)).nodes(64))
        if nodes is None:
            assert str(file) in said
        else:
            assert len(nodes) == 4
            assert all(0 <= node < 64 and nodes.count(node) <= 2 for node in nodes)


@pytest.mark.parametrize(
    "text", ["measured:" + "9" * 400, "measured:1e5", "9" * 400 + "us", "2us per call per call"]
)
def test_a_time_of_computation_beyond_reason_is_refused(text: str) -> None:
    asked, said = attempt(lambda: Options(1, compute=text).as_json([0]))
    assert "--compute" in said if asked is None else "inf" not in asked


def test_the_command_refuses_files_without_a_bug(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shipped = [
        sources.read("machine", "es40-qsnet").text,
        sources.read("experiment", "qsnet/ping").text,
    ]
    texts = [text.encode() for text in shipped] + [
        path.read_bytes() for path in FILES.glob("*.toml")
    ]
    file = tmp_path / "file.toml"
    codes = set()
    for draw in cases("command", 40):
        file.write_bytes(spoil(draw.choice(texts), draw))
        with pytest.raises(SystemExit) as leaving:
            main(["check", str(file)])
        said = capsys.readouterr()
        assert leaving.value.code in (0, None, Exit.USAGE), said.err
        if leaving.value.code == Exit.USAGE:
            assert str(file) in said.err
        codes.add(leaving.value.code)
    assert len(codes) > 1 or fuzzing()
