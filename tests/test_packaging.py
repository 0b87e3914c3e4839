"""The source distribution has all that a build needs; ``test_wheel`` has the wheel."""

from __future__ import annotations

import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from conftest import execute

ROOT = Path(__file__).parents[1]

pytestmark = pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a checkout")
pytest.importorskip("maturin")


def test_a_source_distribution_has_every_file(tmp_path: Path) -> None:
    script = "import sys; sys.path.insert(0, 'packaging'); import backend; print(backend.build_sdist(sys.argv[1]))"
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
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert set(listed.splitlines()) <= names
    assert {"crates/fi/Cargo.toml", "python/elanite/data/machines/es40-qsnet.toml"} <= names
    assert not [each for each in names if each.startswith("target")]
