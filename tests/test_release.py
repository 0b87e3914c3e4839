"""The files of a release: their notes and checksums, and that they depend on the commit alone."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from conftest import Ended, execute

ROOT = Path(__file__).parents[1]

pytestmark = pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a checkout")
pytest.importorskip("maturin")


def python(folder: Path, line: str, **around: str) -> str:
    """The output of a line of Python with the scripts of a checkout."""
    ended = failing(folder, line, **around)
    assert ended.code == 0, ended
    return ended.out


def failing(folder: Path, line: str, **around: str) -> Ended:
    """The end of such a line."""
    words = [sys.executable, "-c", f"import sys; sys.path.insert(0, 'packaging'); {line}"]
    return execute(words, cwd=folder, env=os.environ | around)


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("another") / "folder"
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(folder)], check=True)
    return folder


def test_source_distributions_of_two_folders_are_equal(clone: Path, tmp_path: Path) -> None:
    """Whatever the modes, owners and times of the files are there."""
    digests = []
    for number, folder in enumerate((clone, clone.with_name("copy"))):
        if number:
            shutil.copytree(clone, folder, symlinks=True)
            (folder / "README.md").chmod(0o600)
            os.utime(folder / "README.md", (1, 1))
        out = tmp_path / str(number)
        out.mkdir()
        python(
            folder,
            f"import backend; backend.build_sdist({str(out)!r})",
            SOURCE_DATE_EPOCH="1700000000",
        )
        (archive,) = out.glob("*.tar.gz")
        digests.append(hashlib.sha256(archive.read_bytes()).hexdigest())
    assert digests[0] == digests[1]


def test_a_checkout_with_changes_is_no_release(clone: Path, tmp_path: Path) -> None:
    changed = clone.with_name("changed")
    shutil.copytree(clone, changed, symlinks=True)
    (changed / "README.md").write_text("changed", encoding="utf-8")
    ended = execute(
        [sys.executable, "packaging/release.py", str(tmp_path / "release")], cwd=changed
    )
    assert ended.code == 1, ended
    assert (
        "error: the checkout has changes, and a release is a commit: commit or stash them"
        in ended.err
    )
    assert not (tmp_path / "release").exists()


def test_a_folder_of_the_user_is_kept(clone: Path, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    ended = execute([sys.executable, "packaging/release.py", str(tmp_path)], cwd=clone)
    assert ended.code == 1, ended
    assert "is not an earlier release, and would be replaced: name another folder" in ended.err
    assert (tmp_path / "thesis.tex").exists()


def test_the_notes_are_the_section_of_the_version(clone: Path) -> None:
    notes = python(clone, "import release; print(release.notes('elanite-0.1.0.tar.gz'), end='')")
    changelog = (clone / "CHANGELOG.md").read_text(encoding="utf-8")
    assert notes.strip() in changelog
    assert notes.startswith("The first release")
    assert not re.search(r"^## ", notes, re.MULTILINE)
    ended = execute(
        [sys.executable, "-c", "import release; release.notes('elanite-9.9.9.tar.gz')"],
        cwd=clone / "packaging",
    )
    assert "error: CHANGELOG.md has no section `## 9.9.9`" in ended.err


@pytest.mark.parametrize(
    ("content", "mode", "second", "found"),
    [
        (b"/elanite/crates/py/src/lib.rs", 0o644, 20, []),
        (b"built in /home/me/other/elanite", 0o755, 20, []),
        (b"at /home/me/elanite/crates/py", 0o644, 20, ["module.so: the folder /home/me/elanite"]),
        (b"file:///home/me/elanite/crates", 0o644, 20, ["module.so: the folder /home/me/elanite"]),
        (b"", 0o600, 20, ["module.so: the mode 600"]),
        (b"", 0o644, 22, ["module.so: the time (2023, 11, 14, 22, 13, 22)"]),
    ],
)
def test_traces_of_a_machine_in_a_wheel_are_found(
    tmp_path: Path, content: bytes, mode: int, second: int, found: list[str]
) -> None:
    entry = zipfile.ZipInfo("module.so", (2023, 11, 14, 22, 13, second))
    entry.external_attr = mode << 16
    with zipfile.ZipFile(tmp_path / "a.whl", "w") as wheel:
        wheel.writestr(entry, content)
    line = (
        "import pathlib, release; print(release.differences("
        f"pathlib.Path({str(tmp_path / 'a.whl')!r}), ['/home/me/elanite'], 1_700_000_000))"
    )
    assert python(ROOT, line).strip() == str(found)


def test_each_wheel_has_its_bill_beside_it(tmp_path: Path) -> None:
    """The crates differ by processor."""
    for processor in ("x86_64", "aarch64"):
        with zipfile.ZipFile(
            tmp_path / f"elanite-0.1.0-cp311-abi3-manylinux_2_28_{processor}.whl", "w"
        ) as wheel:
            wheel.writestr("elanite/data/third-party.cdx.json", processor)
    python(ROOT, f"import pathlib, release; release.bills(pathlib.Path({str(tmp_path)!r}))")
    found = {file.name: file.read_text(encoding="utf-8") for file in tmp_path.glob("*.cdx.json")}
    assert found == {
        "elanite-0.1.0-cp311-abi3-manylinux_2_28_aarch64.cdx.json": "aarch64",
        "elanite-0.1.0-cp311-abi3-manylinux_2_28_x86_64.cdx.json": "x86_64",
    }


def test_checksums_are_those_of_sha256sum(tmp_path: Path) -> None:
    (tmp_path / "b.txt").write_bytes(b"two")
    (tmp_path / "a.txt").write_bytes(b"one")
    line = f"import pathlib, release; print(release.sums(pathlib.Path({str(tmp_path)!r})), end='')"
    (tmp_path / "SHA256SUMS").write_text(python(ROOT, line), encoding="utf-8")
    assert execute(["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=tmp_path).code == 0
    (tmp_path / "a.txt").write_bytes(b"One")
    assert execute(["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=tmp_path).code == 1


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("", ["build"]),
        (
            "--zig --compatibility manylinux_2_28",
            ["zigbuild", "--target", "aarch64-unknown-linux-gnu.2.28"],
        ),
    ],
)
def test_the_parts_of_ranks_are_linked_as_the_module_is(given: str, expected: list[str]) -> None:
    around = {"MATURIN_PEP517_ARGS": given, "CARGO_BUILD_TARGET": "aarch64-unknown-linux-gnu"}
    assert python(ROOT, "import backend; print(backend.linker())", **around).strip() == str(
        expected
    )
