"""Deliberate mistakes in the readers for files, shared memory and stores: their tests find them.

Slow: each is made in a copy of the workspace, and simulator mistakes rebuild it.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from conftest import environment
from mpi_fuzz.mistakes import IGNORED, Mistake

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).parents[1]

STORE = "python/elanite/store/"

IN_PYTHON = [
    Mistake(
        "files are not forced to the disk",
        "python/elanite/base/whole.py",
        "            if durable:\n                os.fsync(file.fileno())\n",
        "",
    ),
    Mistake(
        "the folder has its name before it is whole",
        STORE + "places.py",
        "        partial = self._aside(folder)\n        try:\n            partial.mkdir",
        "        partial = self.path / folder\n        try:\n            partial.mkdir",
    ),
    Mistake(
        "an error leaves what was half-written",
        STORE + "places.py",
        "        finally:\n            shutil.rmtree(partial, ignore_errors=True)\n",
        "        finally:\n            pass\n",
    ),
    Mistake(
        "an error of the disk is no error of people",
        STORE + "places.py",
        "            whole.sync(self.path)\n        except OSError as error:\n",
        "            whole.sync(self.path)\n        except PermissionError as error:\n",
    ),
    Mistake(
        "leftovers of killed campaigns stay",
        STORE + "points.py",
        "            self.place.remove(name)\n",
        "            continue\n",
    ),
    Mistake(
        "the seal leaves the parameters out",
        STORE + "manifest.py",
        'key not in ("times", "seal")',
        'key not in ("times", "seal", "parameters")',
    ),
    Mistake(
        "tables are not compared with their checksums",
        STORE + "manifest.py",
        "        if hashlib.sha256(data).hexdigest() != sums[name]:\n",
        "        if not sums[name]:\n",
    ),
    Mistake("files may lie outside of the folder", STORE + "manifest.py", ' or "/" in name:', ":"),
    Mistake(
        "all nodes draw the same destinations",
        "python/elanite/inputs/patterns.py",
        'Random(f"{self.seed}/{name}/{node}")',
        'Random(f"{self.seed}/{name}")',
    ),
    Mistake(
        "parallel edges of a graph are one cable",
        "python/elanite/inputs/graphs.py",
        "for one, other, data in graph.edges(data=True)]\n",
        "for (one, other), data in {(a, b): words for a, b, words in"
        " graph.edges(data=True)}.items()]\n",
    ),
    Mistake(
        "another network keeps the changed keys of the old one",
        "python/elanite/inputs/machine.py",
        'if not each.startswith("topology.")]',
        "if each]",
    ),
    Mistake(
        "the manifest of another point is taken",
        STORE + "manifest.py",
        '    if data["id"] != identity:\n',
        "    if not identity:\n",
    ),
]

IN_RUST = [
    (
        ("link", "--test", "all", "hostile::"),
        Mistake(
            "a payload may leave what was written",
            "crates/link/src/area.rs",
            "if part.length() > length - from {",
            "if part.length() > BATCH {",
        ),
    ),
    (
        ("link", "--test", "all", "hostile::"),
        Mistake(
            "room is made for any length",
            "crates/link/src/simulator.rs",
            "reserve_exact(part.whole().min(READY))",
            "reserve_exact(part.whole())",
        ),
    ),
    (
        ("link", "--test", "all", "hostile::"),
        Mistake(
            "the simulator believes that a rank still waits",
            "crates/link/src/simulator.rs",
            "        if !self.has_turn(rank) {\n            return Err(Violation::Running);\n      "
            "  }\n",
            "",
        ),
    ),
    (
        ("link", "--test", "all", "hostile::"),
        Mistake(
            "a rank may end within an order",
            "crates/link/src/simulator.rs",
            "        if all && !up.reassembly.is_closed() {\n            return"
            " Err(Violation::Within);\n        }\n",
            "",
        ),
    ),
    (
        ("mpirun", "--lib", "hostile"),
        Mistake(
            "a rank may name any rank",
            "crates/link/src/order.rs",
            "    if peer < ranks {\n",
            "    if peer < u32::MAX {\n",
        ),
    ),
    (
        ("mpirun", "--lib", "hostile"),
        Mistake(
            "a rank may sleep for ever",
            "crates/mpirun/src/server/rules.rs",
            "            until: until.min(horizon),\n        })),\n",
            "            until,\n        })),\n",
        ),
    ),
    (
        ("mpirun", "--lib", "hostile"),
        Mistake(
            "a message is forgotten of which a look may still tell",
            "crates/mpirun/src/agent.rs",
            "        if state.looks == 0 {\n",
            "        {\n",
        ),
    ),
    (
        ("experiment", "--test", "inputs"),
        Mistake(
            "a fault of a command line is used before its keys are checked",
            "crates/machine/src/fault/part.rs",
            "        self.check()?;\n        let wiring",
            "        let wiring",
        ),
    ),
]

ALL = [*IN_PYTHON, *(mistake for _, mistake in IN_RUST)]


@pytest.mark.parametrize("mistake", ALL, ids=lambda one: one.name)
def test_a_mistake_stands_in_the_sources(mistake: Mistake) -> None:
    assert (ROOT / mistake.source).read_text(encoding="utf-8").count(mistake.old) == 1, (
        mistake.source
    )


def run(
    words: Sequence[str], root: Path, seconds: int, **more: str
) -> subprocess.CompletedProcess[str]:
    around = {**environment(), "ELANITE_FUZZ_SECONDS": str(seconds), **more}
    try:
        return subprocess.run(
            words, cwd=root, env=around, timeout=1800, capture_output=True, text=True, check=False
        )
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(words, 1, "", "it hangs")


@pytest.mark.slow
@pytest.mark.parametrize("mistake", IN_PYTHON, ids=lambda one: one.name)
def test_the_tests_of_inputs_and_stores_find_a_mistake(mistake: Mistake, tmp_path: Path) -> None:
    mistake.plant(ROOT, tmp_path)
    tests = ["tests/test_own_networks.py", "tests/test_inputs.py"]
    tests += ["tests/test_store.py::test_whatever_strikes_a_campaign_nothing_is_lost"]
    words = [sys.executable, "-m", "pytest", "-x", *tests]
    done = run(words, tmp_path, 5, PYTHONPATH=str(tmp_path / "python"))
    assert done.returncode == 1, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tests", "mistake"), IN_RUST, ids=[mistake.name for _, mistake in IN_RUST]
)
def test_the_tests_of_the_simulator_find_a_mistake(
    tests: tuple[str, ...],
    mistake: Mistake,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    for part in ("crates", "machines", "experiments", "examples", "packaging"):
        shutil.copytree(ROOT / part, tmp_path / part, ignore=IGNORED)
    for part in ("Cargo.toml", "Cargo.lock", "clippy.toml"):
        shutil.copy(ROOT / part, tmp_path)
    mistake.make(tmp_path)
    crate, *chosen = tests
    target = str(tmp_path_factory.getbasetemp().parent / "input-mistakes")
    words = ["cargo", "test", "--offline", "--locked", "--package", f"elanite-{crate}", *chosen]
    build = run([*words, "--no-run"], tmp_path, 0, CARGO_TARGET_DIR=target)
    assert build.returncode == 0, build.stderr
    done = run(words, tmp_path, 60, CARGO_TARGET_DIR=target, ELANITE_FUZZ_SEED="4300")
    assert done.returncode != 0, done.stdout + done.stderr
