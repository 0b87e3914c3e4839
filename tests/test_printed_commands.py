"""Every command printed in README and pages is right: it runs, or is checked as far as possible
without a run.

The quick tests read all commands: options, names, files, experiments that are planned and not
simulated, packages, make targets. The slow tests run those ``elanite`` and compiler commands, page
by page in one folder, that are not marked as not run, and that take seconds.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

from conftest import BIN, SMALL, Ended, command, execute, needs_mpi
from formats_files import IBNETDISCOVER
from printed import (
    COMPILERS,
    PAGES,
    ROOT,
    Printed,
    commands,
    crates,
    parse,
    planned,
    sources,
    targets,
)

pytestmark = pytest.mark.skipif(not (ROOT / "docs").is_dir(), reason="not a checkout")

PRINTED = [each for page in PAGES if page.is_file() for each in commands(page)]

SIMULATES = (
    "ablate",
    "calibrate",
    "claims",
    "explore",
    "open",
    "place",
    "report",
    "reproduce",
    "run",
    "sweep",
    "watch",
)
"""``elanite`` commands that take minutes, serve without end, or need results: words are read,
points planned.
"""

FREE = ("cat", "cd", "export", "git", "mpiexec")
"""Programs with words that cannot be checked here."""

LIMIT = 300
"""Seconds in which a command must end."""


def named(each: Printed) -> str:
    return f"{each.page.relative_to(ROOT)}:{each.line}"


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that the pages call the reader's own; the quick tests only read
    it.
    """
    folder = tmp_path_factory.mktemp("workplace")
    prepare(folder)
    for words in (
        ["import", "fabric.ibnetdiscover", "--output", "my-fabric.toml"],
        ["new", "experiment", "my-load", "--from", "my-fabric.toml"],
        *(
            ["new", "machine", name, "--nodes", "32", "--link", "NDR"]
            for name in ("full", "half", "quarter")
        ),
        ["new", "experiment", "ratios", "--from", "full.toml"],
    ):
        ended = execute(command(*words), cwd=folder)
        assert ended.code == 0, ended
    return folder


@pytest.fixture
def workplace(prepared: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The reader's folder, as the current one."""
    monkeypatch.chdir(prepared)
    return prepared


def prepare(folder: Path) -> None:
    for name in ("my-machine.toml", "noisy.toml"):
        text = (ROOT / "machines" / "es40-qsnet.toml").read_text(encoding="utf-8")
        (folder / name).write_text(
            text.replace('name = "es40-qsnet"', f'name = "{name}"'), encoding="utf-8"
        )
    shutil.copy(SMALL, folder / "my-experiment.toml")
    shutil.copy(ROOT / "experiments" / "qsnet2" / "noise.toml", folder / "my-noise.toml")
    shutil.copy(ROOT / "tests" / "mpi" / "ring.py", folder / "my_script.py")
    (folder / "fabric.ibnetdiscover").write_text(
        IBNETDISCOVER.replace("2xQDR", "4xHDR"), encoding="utf-8"
    )
    for words in (
        ["new", "machine", "my-cluster", "--from", "opteron-qsnet2", "--nodes", "32"],
        ["new", "experiment", "my-traffic", "--from", "my-cluster.toml"],
    ):
        ended = execute(command(*words), cwd=folder)
        assert ended.code == 0, ended


def test_pages_print_commands() -> None:
    assert len(PRINTED) > 60
    assert {each.page.name for each in PRINTED} >= {
        "README.md",
        "mpirun.md",
        "shmem.md",
        "experiments.md",
    }


@pytest.mark.parametrize(
    "each", [each for each in PRINTED if each.words[0] == "elanite"], ids=named
)
def test_elanite_takes_the_words(each: Printed, workplace: Path) -> None:
    del workplace
    assert parse(each.words) == "", each


@pytest.mark.parametrize(
    "each", [each for each in PRINTED if each.words[:2] == ["elanite", "run"]], ids=named
)
def test_experiments_are_planned(each: Printed, workplace: Path) -> None:
    del workplace
    if each.reason or "FOLDER/NAME" in each.words:
        pytest.skip(each.reason or "a name that the reader chooses")
    assert planned(each.words) == "", each


def test_other_programs_get_what_there_is() -> None:
    wrong = []
    for each in PRINTED:
        first, *rest = each.words
        if first == "make":
            folder = each.page.parent if (each.page.parent / "Makefile").is_file() else ROOT
            known = targets(folder / "Makefile")
            wrong += [
                f"{each}: no target {word}"
                for word in rest
                if "=" not in word and word not in known
            ]
        elif first == "cargo":
            packages = re.findall(r"(?:-p|--package) (\S+)", each.text)
            wrong += [f"{each}: no package {name}" for name in packages if name not in crates()]
        elif first in ("python", "pytest"):
            files = [
                word
                for word in rest
                if word.startswith("tests") or ("/" in word and word.endswith(".py"))
            ]
            there = [
                ROOT / file if file.endswith(".py") else ROOT / file.replace(".", "/")
                for file in files
            ]
            missing = [
                file for file in there if not file.exists() and not file.with_suffix(".py").exists()
            ]
            wrong += [f"{each}: no file {file}" for file in missing]
        elif not each.reason and first not in ("elanite", "pip", *COMPILERS, *FREE):
            wrong.append(
                f"{each}: what is {first}? Add a check, or <!-- not run: reason --> before the"
                " block"
            )
    assert wrong == []


def test_nothing_is_installed_from_an_index_that_is_not_there() -> None:
    """Elanite is in no package index: extras come from a checkout, and errors name the package
    itself.
    """
    folders = ("python", "docs", "benchmarks", "notebooks", "website", "packaging", "crates")
    kinds = (".py", ".md", ".ipynb", ".rs")
    files = [
        file for folder in folders for file in (ROOT / folder).rglob("*") if file.suffix in kinds
    ]
    files += [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "pyproject.toml"]
    assert len(files) > 100
    asks = re.compile(r"pip3? install [^`\n]*\belanite\b(?!-)")
    wrong = [str(file) for file in files if asks.search(file.read_text(encoding="utf-8"))]
    assert wrong == []


def runnable(page: Path) -> list[Printed]:
    return [each for each in commands(page) if not each.reason and takes_seconds(each.words)]


def takes_seconds(words: list[str]) -> bool:
    """Whether a command runs without a long simulation's results."""
    if words[:2] == ["elanite", "congestion"]:
        return "out/mpirun" in words[2]
    return words[0] in COMPILERS or (words[0] == "elanite" and words[1] not in SIMULATES)


@needs_mpi
@pytest.mark.slow
@pytest.mark.parametrize(
    "page", [page for page in PAGES if runnable(page)], ids=lambda page: page.stem
)
def test_commands_run(page: Path, tmp_path: Path, benchmarks: Path) -> None:
    prepare(tmp_path)
    shutil.copytree(benchmarks, tmp_path / "benchmarks" / "mpi")
    for name, text in sources(page).items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "my_program.c").write_text(
        sources(ROOT / "docs" / "mpirun.md")["ring.c"], encoding="utf-8"
    )
    built = execute(["mpicc", "-o", "my_program", "my_program.c"], cwd=tmp_path, env=variables())
    assert built.code == 0, built
    for file in page.parent.glob("*.[ch]"):  # the programs of a folder of benchmarks
        shutil.copy(file, tmp_path)
    if (page.parent / "Makefile").is_file() and page.parent != ROOT:
        shutil.copy(page.parent / "Makefile", tmp_path)
        assert execute(["make", "--silent"], cwd=tmp_path, env=variables()).code == 0
    kept = ""
    for each in runnable(page):
        # A folder with a run's tables has the previous run's name.
        text = re.sub(r"out/mpirun/[0-9a-f]{20}", kept, each.text) if kept else each.text
        ended: Ended = execute(["bash", "-euc", text], seconds=LIMIT, cwd=tmp_path, env=variables())
        assert ended.code == 0, f"{each}\n{ended}"
        found = re.search(r"^kept in (\S+)", ended.err, re.MULTILINE)
        kept = found[1] if found else kept


def variables() -> dict[str, str]:
    """A reader's environment with the checkout's programs on the PATH."""
    return os.environ | {
        "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": "100",
        "NO_COLOR": "1",
    }
