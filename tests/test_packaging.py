"""The source distribution has all that a build needs; ``test_wheel`` has the wheel."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

import pytest

from conftest import execute

ROOT = Path(__file__).parents[1]

pytestmark = pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a checkout")
pytest.importorskip("maturin")


def test_a_source_distribution_has_every_file(tmp_path: Path) -> None:
    script = (
        "import sys; sys.path.insert(0, 'packaging'); import backend;"
        " print(backend.build_sdist(sys.argv[1]))"
    )
    ended = execute([sys.executable, "-c", script, str(tmp_path)], cwd=ROOT)
    assert ended.code == 0, ended
    archive = tmp_path / ended.out.split()[-1]
    with tarfile.open(archive) as packed:
        entries = packed.getmembers()
        name = archive.name.removesuffix(".tar.gz")
        information = packed.extractfile(f"{name}/PKG-INFO")
        assert information
        assert b"\nName: elanite\n" in information.read()
    assert all(entry.isfile() or entry.isdir() for entry in entries)  # no links
    names = {entry.name.removeprefix(f"{name}/") for entry in entries}
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    assert set(listed.splitlines()) <= names
    assert {"crates/fi/Cargo.toml", "python/elanite/data/machines/es40-qsnet.toml"} <= names
    assert not [each for each in names if each.startswith("target")]


def cargo() -> tuple[int, int]:
    """Cargo's version, or zeros without it."""
    if not shutil.which("cargo"):
        return (0, 0)
    said = subprocess.run(["cargo", "--version"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"(\d+)\.(\d+)", said)
    return (int(found[1]), int(found[2])) if found else (0, 0)


@pytest.mark.skipif(cargo() < (1, 90), reason="Cargo packs crates that need each other since 1.90")
def test_crates_for_others_are_packages(plain_path: Path) -> None:
    """`make crates` compiles them, too. Their versions are the workspace's."""
    options = f"--offline --no-verify --allow-dirty --quiet --target-dir {plain_path}"
    ended = execute(["make", "--no-print-directory", "crates", f"PACK={options}"], cwd=ROOT)
    assert ended.code == 0, ended
    workspace = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]
    version = workspace["package"]["version"]
    packages = {file.name: file for file in plain_path.glob("package/*.crate")}
    names = {name.removesuffix(f"-{version}.crate") for name in packages}
    assert names >= {f"elanite-{name}" for name in ("units", "kernel", "fabric", "goal")}
    for name, file in packages.items():
        folder = name.removesuffix(".crate")
        with tarfile.open(file) as packed:
            files = {entry.name.removeprefix(f"{folder}/") for entry in packed}
        assert {"Cargo.toml", "LICENSE", "README.md", "src/lib.rs"} <= files, name
        assert not [each for each in files if each.startswith(("tests/", "benches/"))], name
    assert [
        name
        for name, needed in workspace["dependencies"].items()
        if "path" in needed and needed.get("version", version) != version
    ] == []


CROSS = """
import pathlib, sys
sys.path.insert(0, "packaging")
import backend
backend.PACKAGE = pathlib.Path(sys.argv[1])
files = [backend.PACKAGE / name for name in sorted(backend.PARTS.values())]
for file in files:
    file.write_bytes(b"of this machine")
backend.build_parts = lambda: [backend.replace(file, b"of the other") for file in files]
backend.maturin.build_wheel = lambda *_: ", ".join(file.read_bytes().decode() for file in files)
print(backend.build_wheel("."))
print(", ".join(file.read_bytes().decode() for file in files))
"""


@pytest.mark.parametrize(
    ("target", "left"), [("aarch64-unknown-linux-gnu", "of this machine"), ("", "of the other")]
)
def test_a_wheel_for_another_processor_leaves_the_parts_of_this_one(
    tmp_path: Path, target: str, left: str
) -> None:
    """The wheel has its target's parts; the checkout's ranks continue with theirs."""
    environment = os.environ | {"CARGO_BUILD_TARGET": target}
    ended = execute([sys.executable, "-c", CROSS, str(tmp_path)], cwd=ROOT, env=environment)
    assert ended.out.splitlines() == ["of the other, of the other", f"{left}, {left}"], ended
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "elanite-mpiexec",
        "libelanite-fi.so",
    ]


CODE = re.compile(r"^ *//[/!] ```(\w*)\n(?: *//[/!].*\n)*? *//[/!] ```$", re.MULTILINE)
"""A block on an item's page; without a language it is Rust, and a test."""


def test_crates_that_leave_tests_out_have_none() -> None:
    """``test = false`` and ``doctest = false`` shorten the first build, and would silence tests
    that come later.
    """
    left_out = 0
    for manifest in sorted((ROOT / "crates").glob("*/Cargo.toml")):
        library = tomllib.loads(manifest.read_text(encoding="utf-8")).get("lib", {})
        code = "".join(
            path.read_text(encoding="utf-8") for path in (manifest.parent / "src").rglob("*.rs")
        )
        if library.get("test") is False:
            left_out += 1
            assert "#[test]" not in code, manifest
            assert "#[cfg(test)]" not in code, manifest
        if library.get("doctest") is False:
            left_out += 1
            assert not {"", "rust", "should_panic", "no_run"} & {
                found[1] for found in CODE.finditer(code)
            }, manifest
    assert left_out
