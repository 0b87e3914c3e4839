"""The files of a release: wheels for x86-64 and aarch64, the sources, the bills of materials, and
their checksums.

    python packaging/release.py out/release
    python packaging/release.py out/release --target x86_64-unknown-linux-gnu

``make release`` installs the linker and calls this. It builds the explorer's page first, which
wheels have and git does not. Every wheel is linked by Zig against glibc 2.28, whatever the build
machine has, so that one wheel serves Debian 10, RHEL 8 and all later systems.

With the same Rust, Zig and Node.js, the files shall depend on the commit alone. Paths of the build
machine are replaced, and times are those of the commit. ``differences`` refuses a wheel that has a
folder of the machine, another time, or modes by a umask; ``tests/test_release.py`` compares the
sources of two folders byte for byte.

It refuses a checkout with changes, as its wheel would name a commit that lacks them, and a folder
that holds anything but an earlier release. A failed build leaves no folder.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import backend

if TYPE_CHECKING:
    from collections.abc import Iterable

ROOT = Path(__file__).resolve().parents[1]
TARGETS = ("x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu")
GLIBC = "2.28"
SUMS = "SHA256SUMS"
BILL = "elanite/data/third-party.cdx.json"


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description="build the files of a release")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--target", action="append", choices=TARGETS, help="by default all")
    given = parser.parse_args()
    commit = git("rev-parse", "HEAD")
    if git("status", "--porcelain"):
        raise SystemExit(
            "error: the checkout has changes, and a release is a commit: commit or stash them"
        )
    folder = given.folder.resolve()
    os.chdir(ROOT)  # where maturin reads its settings
    if folder.exists() and not (folder / SUMS).is_file():
        raise SystemExit(
            f"error: {given.folder} is not an earlier release, and would be replaced: name another"
            " folder"
        )
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".release-") as scratch:
        built = Path(scratch, "release")
        built.mkdir()
        os.environ["SOURCE_DATE_EPOCH"] = git("show", "--no-patch", "--format=%ct", commit)
        page()
        for target in given.target or TARGETS:
            wheel(built, target)
        source = backend.build_sdist(str(built))
        bills(built)
        (built / "NOTES.md").write_text(notes(source), encoding="utf-8")
        (built / SUMS).write_text(sums(built), encoding="utf-8")
        shutil.rmtree(folder, ignore_errors=True)
        built.rename(folder)
    print(f"release of commit {commit[:12]} in {given.folder}")
    for file in sorted(folder.iterdir()):
        print(f"{file.stat().st_size / 1e6:8.2f} MB  {file.name}")


def page() -> None:
    """Build the explorer's page anew: an earlier one has the paths of the machine, or is older."""
    for made in ("web/engine/built", "python/elanite/explorer"):
        shutil.rmtree(ROOT / made, ignore_errors=True)
    around = os.environ | {"CARGO_ENCODED_RUSTFLAGS": "\x1f".join(remapped())}
    subprocess.run(["make", "--no-print-directory", "web"], cwd=ROOT, env=around, check=True)


def wheel(folder: Path, target: str) -> None:
    """Build the wheel for a target into the folder."""
    if target not in output("rustup", "target", "list", "--installed").split():
        raise SystemExit(
            f"error: Rust has no standard library for {target} here: rustup target add {target}"
        )
    around = os.environ | {
        "CARGO_BUILD_TARGET": target,
        "MATURIN_PEP517_ARGS": f"--zig --compatibility manylinux_{GLIBC.replace('.', '_')}",
        "PYO3_NO_PYTHON": "1",
        "CARGO_ENCODED_RUSTFLAGS": "\x1f".join(remapped()),
    }
    around.pop("PYO3_PYTHON", None)
    words = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-build-isolation", "--no-deps"]
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        subprocess.run([*words, "--wheel-dir", scratch, str(ROOT)], env=around, check=True)
        (made,) = Path(scratch).iterdir()
        if found := differences(made, machine(), int(os.environ["SOURCE_DATE_EPOCH"])):
            raise SystemExit(
                f"error: another folder would not repeat {made.name}:\n  " + "\n  ".join(found)
            )
        made.rename(folder / made.name)


def machine() -> dict[str, str]:
    """The folders of this machine that compilers write into messages, and names for them."""
    home = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo"))
    return {
        str(ROOT): "/elanite",
        str(home): "/cargo",
        output("rustc", "--print", "sysroot"): "/rust",
    }


def remapped() -> list[str]:
    """The compiler's options that replace folders of this machine in messages of panics."""
    return [f"--remap-path-prefix={folder}={name}" for folder, name in machine().items()]


def differences(wheel: Path, folders: Iterable[str], epoch: int) -> list[str]:
    """The traces of one machine or moment in a wheel: its folders, other times than the commit's,
    modes by a umask.
    """
    moment = time.gmtime(epoch - epoch % 2)[:6]  # archives count pairs of seconds
    found = []
    with zipfile.ZipFile(wheel) as packed:
        for entry in packed.infolist():
            if entry.date_time != moment:
                found.append(f"{entry.filename}: the time {entry.date_time}")
            if (mode := entry.external_attr >> 16 & 0o777) not in (0o644, 0o755):
                found.append(f"{entry.filename}: the mode {mode:o}")
            content = packed.read(entry)
            found += [
                f"{entry.filename}: the folder {folder}"
                for folder in folders
                if re.search(rb"(?<![\w.-])" + re.escape(folder.encode()) + rb"(?![\w.-])", content)
            ]
    return found


def bills(folder: Path) -> None:
    """Put each wheel's bill of materials beside it: the crates differ by processor."""
    for each in sorted(folder.glob("*.whl")):
        each.with_suffix(".cdx.json").write_bytes(zipfile.ZipFile(each).read(BILL))


def notes(source: str) -> str:
    """The section of the changelog about this version, or an error if it has none."""
    version = source.removesuffix(".tar.gz").partition("-")[2]
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    found = re.search(rf"^## {re.escape(version)}\b.*\n((?:(?!## ).*\n)*)", text, re.MULTILINE)
    if found is None:
        raise SystemExit(f"error: CHANGELOG.md has no section `## {version}`")
    return found[1].strip() + "\n"


def sums(folder: Path) -> str:
    """The checksums of the files, as `sha256sum --check` reads them."""
    lines = [
        f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n"
        for file in sorted(folder.iterdir())
    ]
    return "".join(lines)


def git(*words: str) -> str:
    """The output of a git command, without the last newline."""
    return output("git", *words)


def output(*words: str) -> str:
    """The output of a program, without the last newline."""
    return subprocess.run(
        words, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True
    ).stdout.rstrip("\n")


if __name__ == "__main__":
    main()
