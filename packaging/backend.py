"""The build backend: maturin, with the library that ranks of MPI programs load, and the program
that starts them.

maturin compiles only the extension module. ``libelanite-fi.so`` is a separate library, which no
Python process loads, and ``elanite-mpiexec`` is a program; ``elanite mpirun`` and ``elanite prun``
need both. So they are built first, into the package's folder, from where ``[tool.maturin] include``
in ``pyproject.toml`` takes them. Likewise, maturin's source distribution would lack their crates:
here, it has every repository file.

A wheel and a source distribution name the commit that they were made from: git provides it, and the
package's ``data/build.json`` stores it (``elanite.base.build`` reads it). A source distribution
without git passes on its own file. A wheel has the notices for the crates that it links, and their
bill of materials (``notices``).

With ``CARGO_BUILD_TARGET`` the wheel is for another kind of processor. The checkout then gets back
the two files that it had, which its own ranks need. If maturin links by Zig
(``MATURIN_PEP517_ARGS``), so does cargo here, against the same C library. With
``SOURCE_DATE_EPOCH`` the files of a source distribution have that time.

If cargo or git fails, the build fails with their messages on standard error.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import runpy
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

import maturin
import notices
from maturin import (
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "python" / "elanite"
PARTS = {"elanite_preload": "libelanite-fi.so", "elanite-mpiexec": "elanite-mpiexec"}
"""The parts for ranks: cargo targets, and their files in the package."""
COMMIT = "python/elanite/data/build.json"

if shutil.which("maturin") is None:  # it is beside a Python whose environment is not active
    os.environ["PATH"] += os.pathsep + str(Path(sys.executable).parent)


def build_wheel(
    folder: str, settings: dict[str, Any] | None = None, metadata: str | None = None
) -> str:
    """Build a wheel that does not need the checkout, and return its name."""
    kept = [PACKAGE / file for file in PARTS.values() if os.environ.get("CARGO_BUILD_TARGET")]
    before = {file: file.read_bytes() for file in kept if file.exists()}
    build_parts()
    text = commit()
    if text is not None:
        (ROOT / COMMIT).write_text(text, encoding="utf-8")
    about = notices.write(os.environ.get("CARGO_BUILD_TARGET"))
    try:
        return maturin.build_wheel(folder, settings, metadata)
    finally:
        for file in about:
            file.unlink()
        if text is not None:  # in a checkout, git has it
            (ROOT / COMMIT).unlink()
        for file, content in before.items():
            replace(file, content)


def build_editable(
    folder: str, settings: dict[str, Any] | None = None, metadata: str | None = None
) -> str:
    """Build a wheel that leads to the checkout, and return its name."""
    build_parts()
    return maturin.build_editable(folder, settings, metadata)


def build_sdist(folder: str, settings: dict[str, Any] | None = None) -> str:
    """Pack git's files, with files in place of links, and return the archive's name."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True
    ).stdout
    with tempfile.TemporaryDirectory() as metadata:
        information = Path(metadata, maturin.prepare_metadata_for_build_wheel(metadata, settings))
        name = information.name.removesuffix(".dist-info")
        epoch = os.environ.get("SOURCE_DATE_EPOCH")

        def plain(entry: tarfile.TarInfo) -> tarfile.TarInfo:
            """An entry that depends on the file alone."""
            entry.mtime = entry.mtime if epoch is None else int(epoch)
            entry.mode = 0o755 if entry.mode & 0o100 else 0o644
            entry.uid = entry.gid = 0
            entry.uname = entry.gname = ""
            return entry

        with (
            Path(folder, f"{name}.tar.gz").open("wb") as file,
            gzip.GzipFile(
                "", "wb", fileobj=file, mtime=None if epoch is None else int(epoch)
            ) as packed,
            tarfile.open(fileobj=packed, mode="w", dereference=True) as archive,
        ):
            archive.add(information / "METADATA", f"{name}/PKG-INFO", filter=plain)
            for each in listed.removesuffix("\0").split("\0"):
                archive.add(ROOT / each, f"{name}/{each}", filter=plain)
            if (text := commit()) is not None:
                about = tarfile.TarInfo(f"{name}/{COMMIT}")
                about.size = len(text)
                archive.addfile(plain(about), io.BytesIO(text.encode()))
    return f"{name}.tar.gz"


def commit() -> str | None:
    """The checkout's commit and whether sources differ from it, as JSON; ``None`` if git cannot
    answer.
    """
    found = runpy.run_path(str(ROOT / "python" / "elanite" / "base" / "checkout.py"))["state"](ROOT)
    return None if found is None else json.dumps(dict(zip(("commit", "dirty"), found, strict=True)))


def build_parts() -> None:
    """Compile the parts for ranks, and put them into the package."""
    words = [
        "cargo",
        *linker(),
        "--release",
        "--locked",
        "--quiet",
        "--package",
        "elanite-preload",
        "--package",
        "elanite-launch",
    ]
    line = [*words, "--message-format", "json-render-diagnostics"]
    said = subprocess.run(line, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout
    artifacts = [json.loads(line) for line in said.splitlines()]
    found = {
        artifact["target"]["name"]: artifact["executable"]
        or next(file for file in artifact["filenames"] if file.endswith(".so"))
        for artifact in artifacts
        if artifact["reason"] == "compiler-artifact" and artifact["target"]["name"] in PARTS
    }
    for target, file in PARTS.items():
        replace(PACKAGE / file, Path(found[target]).read_bytes())


def linker() -> list[str]:
    """The command of cargo that links as maturin does, and its target."""
    chosen = os.environ.get("MATURIN_PEP517_ARGS", "").split()
    if "--zig" not in chosen:
        return ["build"]
    glibc = chosen[chosen.index("--compatibility") + 1].removeprefix("manylinux_").replace("_", ".")
    return ["zigbuild", "--target", f"{os.environ['CARGO_BUILD_TARGET']}.{glibc}"]


def replace(file: Path, content: bytes) -> None:
    """Put a file into the package: aside and renamed, so that a run in progress keeps its own."""
    aside = file.with_name(f"{file.name}.new")
    aside.write_bytes(content)
    aside.chmod(0o755)
    aside.replace(file)
