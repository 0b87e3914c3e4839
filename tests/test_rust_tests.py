"""Every Rust test file runs: it is a module in its crate's one program, or a separate program."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

CRATES = Path(__file__).parents[1] / "crates"
MERGED = sorted(path.parents[1].name for path in CRATES.glob("*/tests/all.rs"))


def test_crates_have_one_program_for_their_tests() -> None:
    several = {path.parents[1].name for path in CRATES.glob("*/tests/*.rs") if path.stem != "all"}
    alone = {"config", "mpirun", "noise"}  # one file
    assert several - alone == set(MERGED)


@pytest.mark.parametrize("crate", MERGED)
def test_no_file_of_tests_is_forgotten(crate: str) -> None:
    folder = CRATES / crate / "tests"
    manifest = tomllib.loads((CRATES / crate / "Cargo.toml").read_text())
    programs = {test["name"] for test in manifest["test"]}
    modules = set(re.findall(r"^mod (\w+);", (folder / "all.rs").read_text(), flags=re.M))
    files = {path.stem for path in folder.glob("*.rs")} | {
        path.parent.name for path in folder.glob("*/mod.rs")
    }
    assert files - {"common"} == (programs | modules) - {"common"}
    assert not programs & modules
