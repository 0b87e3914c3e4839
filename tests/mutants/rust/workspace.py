"""A copy of the workspace with mutants, and its test programs."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from mutants.rust.planting import Mutant, culprits, mutants, planted

ROOT = Path(__file__).resolve().parents[3]
PLACE = ROOT / "target" / "mutants"
CRATES = ("kernel", "fabric", "elan", "libelan", "goal", "workload")
"""Crates whose code enters results, each after those that it uses."""
ABOVE = ("kernel", "fabric", "elan", "rails", "libelan", "goal", "workload")
"""Crates whose tests judge mutants of their own and of those before them."""
PROGRAMS = ("--test", "all", "--test", "differential", "--test", "memory")
PARTS = ("Cargo.toml", "Cargo.lock", "crates", "examples", "experiments", "machines", "packaging")
SWITCH = """[package]
name = "mutant"
version = "0.0.0"
edition = "2024"
publish = false
"""


@dataclass(frozen=True)
class Program:
    """A test program of a crate."""

    crate: str
    name: str
    path: Path
    folder: Path


def sources(crate: str) -> list[Path]:
    """A crate's files, without the tests among them."""
    folder = ROOT / "crates" / crate / "src"
    found = [path.relative_to(ROOT) for path in sorted(folder.rglob("*.rs"))]
    return [path for path in found if path.name != "tests.rs" and "tests" not in path.parts]


def name(path: Path) -> str:
    """A file's name in the ledger."""
    return str(Path(*path.parts[1:2], *path.parts[3:]))


@lru_cache
def all_mutants(crate: str) -> list[tuple[Path, Mutant]]:
    """All mutants of a crate, with their files."""
    files = [(path, mutants(name(path), (ROOT / path).read_bytes())) for path in sources(crate)]
    return [(path, one) for path, found in files for one in found]


def sample(seed: int, each: int) -> list[tuple[Path, Mutant]]:
    """So many mutants of each crate. A change of the code changes few of them."""

    def rank(one: tuple[Path, Mutant]) -> bytes:
        return hashlib.sha256(f"{seed} {one[1].name}".encode()).digest()

    return [one for crate in CRATES for one in sorted(all_mutants(crate), key=rank)[:each]]


def write(path: Path, content: bytes) -> None:
    """Write a file, unless it has this content: what is older is not compiled again."""
    if not path.exists() or path.read_bytes() != content:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


class Workspace:
    """The copy, with the mutants that compile, by their numbers."""

    def __init__(self, chosen: list[tuple[Path, Mutant]]) -> None:
        self.known = PLACE / "refused.json"
        without = set(json.loads(self.known.read_text()) if self.known.exists() else ())
        self.mutants = {
            number: one for number, one in enumerate(chosen) if one[1].name not in without
        }
        self.regions: dict[Path, list[tuple[int, int, int]]] = {}
        listed = subprocess.run(
            ["git", "ls-files", "--cached", "--others", "--exclude-standard", *PARTS],
            cwd=ROOT, check=True, capture_output=True, text=True,
        )  # fmt: skip
        self.files = [Path(line) for line in listed.stdout.splitlines() if (ROOT / line).exists()]
        for old in [path for path in (PLACE / "crates").rglob("*.rs") if path.is_file()]:
            if not (ROOT / old.relative_to(PLACE)).exists() and "mutant" not in old.parts:
                old.unlink()
        write(PLACE / "crates/mutant/Cargo.toml", SWITCH.encode())
        write(
            PLACE / "crates/mutant/src/lib.rs", Path(__file__).with_name("switch.rs").read_bytes()
        )

    def plant(self) -> None:
        """Write the files, those of mutants with their switches."""
        manifests = {Path("crates") / crate / "Cargo.toml" for crate in CRATES}
        by_file: dict[Path, dict[int, Mutant]] = {}
        for number, (path, mutant) in self.mutants.items():
            by_file.setdefault(path, {})[number] = mutant
        for path in self.files:
            content = (ROOT / path).read_bytes()
            if path in by_file:
                content, self.regions[path] = planted(content, by_file[path])
            elif path in manifests:
                needs = b'[dependencies]\nmutant = { path = "../mutant" }\n'
                content = content.replace(b"[dependencies]\n", needs, 1)
            elif path == Path("Cargo.toml"):
                content = content.replace(b"members = [", b'members = [\n    "crates/mutant",', 1)
            write(PLACE / path, content)

    def cargo(self, *words: str) -> tuple[bool, list[dict]]:
        """Run cargo in the copy; whether it succeeds, and its messages."""
        cargo = shutil.which("cargo") or sys.exit("error: cargo was not found")
        packages = [word for crate in ABOVE for word in ("--package", f"elanite-{crate}")]
        done = subprocess.run(
            [cargo, *words, *packages, "--offline", "--quiet", "--message-format=json"],
            cwd=PLACE, stdout=subprocess.PIPE, text=True,
            env=os.environ | {"CARGO_TARGET_DIR": str(ROOT / "target")},
        )  # fmt: skip
        return done.returncode == 0, [json.loads(line) for line in done.stdout.splitlines()]

    def refused(self, messages: list[dict]) -> set[int]:
        """The mutants that the compiler refuses."""
        found: set[int] = set()
        for message in messages:
            about = message.get("message", {})
            if message["reason"] != "compiler-message" or about["level"] != "error":
                continue
            for span in sorted(about["spans"], key=lambda one: not one["is_primary"]):
                regions = self.regions.get(Path(span["file_name"]), [])
                if numbers := culprits(regions, span["byte_start"], span["byte_end"]):
                    found.update(numbers)
                    break
            else:
                if about["spans"]:
                    found |= self.near(about)
        return found

    def near(self, about: dict) -> set[int]:
        """The mutants of the functions at a place, where no single one is at fault."""
        found = set()
        for span in about["spans"]:
            path = Path(span["file_name"])
            inside = {
                number
                for start, end, number in self.regions.get(path, [])
                if span["byte_start"] <= start and end <= span["byte_end"]
            }
            found |= inside or {
                number
                for number, (file, mutant) in self.mutants.items()
                if file == path and abs(mutant.line - span["line_start"]) < 30
            }
        return found

    def build(self) -> list[Program]:
        """Leave out what does not compile, now and in later trials, and build all test programs."""
        while True:
            self.plant()
            good, messages = self.cargo("test", "--no-run", "--lib", *PROGRAMS)
            if good:
                break
            if not (refused := self.refused(messages)):
                texts = [one["message"]["rendered"] for one in messages if "message" in one]
                sys.exit("error: the copy does not compile\n" + "\n".join(texts[:5]))
            names = [self.mutants.pop(number)[1].name for number in refused]
            known = json.loads(self.known.read_text()) if self.known.exists() else []
            self.known.write_text(json.dumps([*known, *names]))
            print(f"{len(refused)} mutants do not compile", flush=True)  # noqa: T201
        return [
            Program(
                Path(message["manifest_path"]).parent.name,
                message["target"]["name"],
                Path(message["executable"]),
                Path(message["manifest_path"]).parent,
            )
            for message in messages
            if message["reason"] == "compiler-artifact"
            and message["profile"]["test"]
            and message.get("executable")
        ]
