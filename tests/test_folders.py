"""Folders that are handed on: the files that a file names are relative to that file, and to no
other folder.
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

import elanite as el
from elanite.errors import UsageError
from elanite.inputs import sources
from elanite.inputs.plan import plan
from test_graphs import TREE, machine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from conftest import Ended

    Elanite = Callable[..., Ended]

EXPERIMENT = """
title = "Pairs"
source = "test"
machine = "MACHINE"
[run]
warm_up = "10 us"
window = "20 us"
[[series]]
name = "pairs"
[series.jobs.pairs]
pattern = "../tables/pairs.csv"
nodes = 4
message = "1 KB"
sizes = "fixed"
arrivals = "exponential"
memory = "main"
load = ["20 MB/s"]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An experiment, a machine, its graph and a pair file, in subfolders."""
    root = tmp_path / "handed on"
    for name in ("work", "machines/nets", "tables"):
        (root / name).mkdir(parents=True)
    (root / "work" / "mine.toml").write_text(EXPERIMENT.replace("MACHINE", "../machines/own.toml"))
    machine(root / "machines", "nets/tree.txt", TREE)
    (root / "tables" / "pairs.csv").write_text("source,destination\n0,1\n2,3\n")
    return root


def identities(file: Path | str) -> list[str]:
    """The point identities of an experiment file, on the machine that it names."""
    return [point.id for point in plan(sources.read("experiment", file)).points]


def elsewhere(root: Path, tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """Folders in which commands may run, with the experiment's path from there."""
    yield root / "work", "mine.toml"
    yield root, "work/mine.toml"
    yield root / "machines", "../work/mine.toml"
    yield tmp_path, f"{root.name}/work/mine.toml"
    yield tmp_path, str(root / "work" / "mine.toml")


def test_files_are_found_from_any_folder(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = identities(folder / "work" / "mine.toml")
    for here, file in elsewhere(folder, tmp_path):
        monkeypatch.chdir(here)
        assert identities(file) == expected, here


def test_a_folder_means_the_same_in_another_place(folder: Path, tmp_path: Path) -> None:
    expected = identities(folder / "work" / "mine.toml")
    shutil.move(folder, tmp_path / "moved")
    assert identities(tmp_path / "moved" / "work" / "mine.toml") == expected


def test_files_of_the_current_folder_do_not_take_part(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files with the same paths from the current folder, with other content."""
    expected = identities(folder / "work" / "mine.toml")
    here = tmp_path / "here" / "below"
    here.mkdir(parents=True)
    (here.parent / "machines").mkdir()
    text = sources.read("machine", "opteron-qsnet2").text
    (here.parent / "machines" / "own.toml").write_text(text)
    (here.parent / "tables").mkdir()
    (here.parent / "tables" / "pairs.csv").write_text("source,destination\n1,0\n")
    (here / "nets").mkdir()
    (here / "nets" / "tree.txt").write_text("node a\nnode b\na b\n")
    monkeypatch.chdir(here)
    assert identities(folder / "work" / "mine.toml") == expected


def test_a_machine_beside_the_experiment_is_the_one_that_is_meant(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file with one name stands beside the experiment and in the current folder."""
    work = folder / "work"
    (work / "mine.toml").write_text(EXPERIMENT.replace("MACHINE", "usual.toml"))
    (work / "usual.toml").write_text(sources.read("machine", "es40-qsnet").text)
    expected = identities(work / "mine.toml")
    (tmp_path / "usual.toml").write_text(sources.read("machine", "opteron-qsnet2").text)
    monkeypatch.chdir(tmp_path)
    assert identities(work / "mine.toml") == expected
    (work / "usual.toml").unlink()
    with pytest.raises(UsageError) as caught:
        identities(work / "mine.toml")
    assert str(caught.value).startswith(
        f"{work / 'mine.toml'}: machine: there is no file `{work / 'usual.toml'}`; paths"
    )
    assert str(caught.value).endswith("write `../../usual.toml`")
    (work / "mine.toml").write_text(EXPERIMENT.replace("MACHINE", "../../usual.toml"))
    assert identities(work / "mine.toml") != expected


def test_shipped_experiments_take_shipped_machines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = identities("qsnet/ping")
    (tmp_path / "es40-qsnet").write_text(sources.read("machine", "opteron-qsnet2").text)
    monkeypatch.chdir(tmp_path)
    assert identities("qsnet/ping") == expected


def test_missing_files_are_named_by_their_paths(folder: Path) -> None:
    (folder / "machines" / "nets" / "tree.txt").unlink()
    with pytest.raises(
        UsageError, match=r"nets/tree\.txt: No such file .*; topology\.file of .*own\.toml names it"
    ):
        identities(folder / "work" / "mine.toml")
    (folder / "machines" / "own.toml").unlink()
    with pytest.raises(
        UsageError, match=r"mine\.toml: machine: there is no file `.*work/\.\./machines/own\.toml`"
    ):
        identities(folder / "work" / "mine.toml")
    (folder / "work" / "mine.toml").write_text(EXPERIMENT.replace("MACHINE", "es40-qsnet"))
    (folder / "tables" / "pairs.csv").unlink()
    with pytest.raises(el.ConfigError, match="relative to the folder of the experiment file"):
        identities(folder / "work" / "mine.toml")


def test_commands_take_the_files_of_a_folder(
    folder: Path, tmp_path: Path, elanite: Elanite
) -> None:
    words = ["run", f"{folder.name}/work/mine.toml", "--out", "out"]
    assert elanite(*words, cwd=tmp_path).code == 0
    assert elanite("check", "work/mine.toml", cwd=folder).code == 0


def test_an_experiment_is_saved_into_another_folder(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    saved = el.Experiment.load(folder / "work" / "mine.toml").save(
        tmp_path / "elsewhere" / "copy.toml"
    )
    assert "../handed on/machines/own.toml" in saved.file.text
    assert "../handed on/tables/pairs.csv" in saved.file.text
    assert identities(tmp_path / "elsewhere" / "copy.toml")
    beside = el.Experiment.load(folder / "work" / "mine.toml").save(folder / "work" / "copy.toml")
    assert beside.file.text == (folder / "work" / "mine.toml").read_text()
