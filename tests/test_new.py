"""User files: the output of `elanite new`, the page about machine files, and the tutorial."""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import Ended, command, execute, needs_mpi
from elanite import _core
from elanite.explain import catalog
from elanite.explain.templates import experiment_file, machine_file
from elanite.inputs import sources
from elanite.mpirun.cluster import tree_of

Run = Callable[..., Ended]

DOCS = Path(__file__).parents[1] / "docs"


def values(text: str) -> dict[str, object]:
    return {
        one["key"]: one["value"]
        for one in json.loads(_core.load_machine(text, "file", []))["parameters"]
    }


@pytest.mark.parametrize("preset", sources.shipped("machine"))
def test_a_new_machine_is_like_its_preset(preset: str) -> None:
    source = sources.read("machine", preset)
    text = machine_file("mine", source)
    assert values(text) == values(source.text)
    assert "fitted_to = " not in text
    keys = re.findall(r"^\w+ = \{", text, re.MULTILINE)
    commented = re.findall(r"^#.*\n\w+ = \{", text, re.MULTILINE)
    assert len(commented) == len(keys) > 50


@pytest.mark.parametrize(
    ("preset", "nodes"), [("es40-qsnet", 16), ("es40-qsnet", 65), ("opteron-qsnet2", 1000)]
)
def test_nodes_make_the_smallest_tree(preset: str, nodes: int) -> None:
    source = sources.read("machine", preset)
    about = values(machine_file("mine", source, nodes))
    down = about["topology.down"]
    assert about["topology.nodes"] == nodes
    assert isinstance(down, list)
    size = 1
    for arity in down:
        assert size < nodes
        size *= arity
    assert size >= nodes
    assert len(tree_of(source, nodes)) == 3


@pytest.mark.parametrize(("nodes", "levels"), [(30, 1), (96, 2), (1000, 3)])
def test_nodes_of_a_tree_with_a_delay_for_each_level(nodes: int, levels: int) -> None:
    source = sources.read("machine", "infiniband-ndr")
    before = values(source.text)
    after = values(machine_file("mine", source, nodes))
    delays, parallel = before["link.hop_delay"], before["topology.parallel"]
    assert isinstance(delays, list)
    assert isinstance(parallel, list)
    assert after["topology.nodes"] == nodes
    assert after["link.hop_delay"] == [*delays, delays[-1]][:levels]
    assert after["topology.parallel"] == [*parallel, 1][: levels - 1]
    down = after["topology.down"]
    assert isinstance(down, list)
    assert len(down) == levels


@pytest.mark.parametrize(
    ("preset", "window"), [("es40-qsnet", "2 ms"), ("infiniband-ndr", "400 us")]
)
def test_a_new_experiment_measures_fast_networks_for_a_shorter_time(
    preset: str, window: str
) -> None:
    assert f'\nwindow = "{window}" # ' in experiment_file("mine", sources.read("machine", preset))


def test_a_new_experiment_saturates_the_network_and_not_its_senders(tmp_path: Path) -> None:
    """With an eighth of the links between switches, a new experiment's uniform traffic gets through
    less.
    """
    (tmp_path / "mine.toml").write_text(
        machine_file("mine", sources.read("machine", "infiniband-ndr"), 48)
    )
    (tmp_path / "load.toml").write_text(
        experiment_file("load", sources.read("machine", str(tmp_path / "mine.toml")))
    )
    accepted = []
    for up, parallel in ((32, 8), (4, 1)):
        ended = execute(
            command(
                *(
                    "run",
                    "load.toml",
                    "--series",
                    "load",
                    "--where",
                    "load=40 GB/s",
                    "--metric",
                    "accepted",
                ),
                *(
                    "--set",
                    f"topology.up=[{up}]",
                    "--set",
                    f"topology.parallel=[{parallel}]",
                    "--format",
                    "json",
                ),
                *("--set", "run.window=100 us", "--set", "run.warm_up=100 us"),
            ),
            cwd=tmp_path,
        )
        assert ended.code == 0, ended
        accepted += [row["results"]["accepted"]["mean"] for row in json.loads(ended.out)]
    full, eighth = accepted
    assert full > 15_000
    assert eighth < 0.75 * full


@pytest.mark.parametrize("preset", sources.shipped("machine"))
def test_a_new_experiment_runs_on_any_machine(preset: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(experiment_file("mine", sources.read("machine", preset)), encoding="utf-8")
    checked = execute(command("check", str(file)))
    assert checked.code == 0, checked.err
    assert "13 points" in checked.out


def test_existing_files_stay(elanite: Run, tmp_path: Path) -> None:
    assert elanite("new", "machine", "mine").code == 0
    before = (tmp_path / "mine.toml").read_bytes()
    again = elanite("new", "machine", "mine")
    assert again.code == 2
    assert "mine.toml exists" in again.err
    assert (tmp_path / "mine.toml").read_bytes() == before
    nowhere = elanite("new", "machine", "no/such/folder/mine")
    assert nowhere.code == 2
    assert "cannot be written" in nowhere.err


def test_a_file_of_a_similar_name_is_what_was_meant(elanite: Run, tmp_path: Path) -> None:
    (tmp_path / "load.toml").write_text(
        experiment_file("load", sources.read("machine", "es40-qsnet"))
    )
    for words in (
        ("run", "lod.toml"),
        ("run", "load"),
        ("check", "lod.toml"),
        ("run", "qsnet/ping", "-m", "load"),
    ):
        ended = elanite(*words)
        assert ended.code == 2
        assert "did you mean the file `load.toml`?" in ended.err, words
    assert "did you mean the file" not in elanite("run", "qsnet/unifrom").err


@pytest.mark.skipif(not DOCS.is_dir(), reason="not a checkout")
def test_the_page_has_every_section_and_key() -> None:
    sys.path.insert(0, str(DOCS))
    try:
        import machines
    finally:
        sys.path.remove(str(DOCS))
    assert sorted(
        section for sections in machines.PAGES.values() for section in sections
    ) == sorted(catalog.sections())
    for name, sections in machines.PAGES.items():
        page = (DOCS / name).read_text(encoding="utf-8")
        assert machines.filled(page, sections) == page, "python docs/machines.py"
        for row in catalog.parameters():
            section, *_, key = row["parameter"].split(".")
            assert section not in sections or f"| `{key}` |" in page


@needs_mpi
@pytest.mark.slow
@pytest.mark.skipif(not DOCS.is_dir(), reason="not a checkout")
def test_the_commands_of_the_tutorial_work(tmp_path: Path) -> None:
    page = (DOCS / "my-cluster.md").read_text(encoding="utf-8")
    lines = re.findall(r"^\$ elanite (.*)$", page, re.MULTILINE)
    assert len(lines) > 12
    for line in lines:
        words, _, file = line.partition(" > ")
        arguments = [sys.executable if word == "python" else word for word in shlex.split(words)]
        ended = execute(command(*arguments), cwd=tmp_path)
        assert ended.code == 0, f"{line}: {ended}"
        if file:
            (tmp_path / file).write_text(ended.out, encoding="utf-8")
    assert (tmp_path / "my-traffic.html").stat().st_size > 10_000
    assert "<svg" in (tmp_path / "my-traffic.svg").read_text(encoding="utf-8")


def test_printed_commands_take_any_name(elanite: Run, tmp_path: Path) -> None:
    made = elanite("new", "machine", "--", "-my cluster")
    assert made.err.endswith("change the file, then: elanite check './-my cluster.toml'\n")
    (tmp_path / "edges.txt").write_text("a b\nb c\n")
    imported = elanite("import", "edges.txt", "--terminals", "1", "-o", "my net.toml")
    assert "next: elanite check 'my net.toml'; elanite new " in imported.err
    refused = elanite("new", "machine", "a\nbus.rate = 1")
    assert refused.code == 2
    assert "this name has control characters" in refused.err
    assert {each.name for each in tmp_path.glob("*.toml")} == {"-my cluster.toml", "my net.toml"}
