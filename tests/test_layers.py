"""The Python packages: no package uses one above it, and no modules form a use cycle, lazily or for
types.
"""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path

import grimp
import networkx
import pytest

from conftest import BIN, execute

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "python" / "elanite"
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"][
    "contracts"
]


def checked(folder: Path) -> tuple[int, str]:
    """The linter's exit code and output for the package below a folder."""
    words = [str(BIN / "lint-imports"), "--no-cache", str(ROOT / "pyproject.toml")]
    ended = execute(words, cwd=folder, env={"PYTHONPATH": str(folder)})
    return ended.code, ended.out


def test_no_package_uses_one_above_it_and_no_modules_use_each_other_in_a_circle() -> None:
    code, said = checked(ROOT / "python")
    assert code == 0, said


@pytest.mark.parametrize(
    ("module", "line", "broken"),
    [
        (
            "base/text",
            "def _upwards():\n    from elanite.cli import app\n    return app\n",
            "base is not allowed to import",
        ),
        (
            "results/numbers",
            "if TYPE_CHECKING:\n    from elanite.study.sweeps import planned\n",
            "results is not allowed",
        ),
        (
            "store/owner",
            "def _around():\n    import elanite.store.points\n",
            "No cycles are allowed in elanite.store",
        ),
    ],
)
def test_the_linter_finds(module: str, line: str, broken: str, tmp_path: Path) -> None:
    shutil.copytree(
        PACKAGE,
        tmp_path / "elanite",
        ignore=lambda _, names: [n for n in names if "." in n and not n.endswith(".py")],
    )
    with (tmp_path / "elanite" / f"{module}.py").open("a") as file:
        file.write(f"\n\n{line}")
    code, said = checked(tmp_path)
    assert code == 1
    assert broken in " ".join(said.split())


def test_no_package_and_its_own_modules_use_each_other_in_a_circle() -> None:
    """The linter's contract covers a package's modules, and not its front page."""
    imports = grimp.build_graph("elanite", cache_dir=None)
    graph = networkx.DiGraph(
        (module, used)
        for module in imports.modules - {"elanite"}
        for used in imports.find_modules_directly_imported_by(module) - {"elanite"}
    )
    assert [
        circle for circle in networkx.strongly_connected_components(graph) if len(circle) > 1
    ] == []


def test_one_import_is_left_out() -> None:
    """The root's modules; the root lists the public names for type checkers and loads them on first
    use.
    """
    assert {rule for contract in CONTRACTS for rule in contract["ignore_imports"]} == {
        "elanite -> elanite.**"
    }


def test_the_type_checker_sees_every_line_of_the_package() -> None:
    lines = [
        (path, line)
        for path in sorted(PACKAGE.rglob("*.py"))
        for line in path.read_text().splitlines()
    ]
    hidden = [
        f"{path.relative_to(PACKAGE)}: {line.strip()}"
        for path, line in lines
        if "# type: ignore" in line
    ]
    assert hidden == []
