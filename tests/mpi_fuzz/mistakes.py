"""Deliberate mistakes in the code that carries real programs' bytes. The fuzz must find them.

Each mistake is small and plausible, and replaces lines that occur exactly once in a source. If the
source has changed and lacks these lines, the mistake must be rewritten. :func:`attempt` makes one
mistake in a copy of the workspace, builds the copy, and runs the fuzz on it, without the checksums,
which would find most mistakes.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

IGNORED = shutil.ignore_patterns("target", ".venv", ".git", "out", "__pycache__", "*.so")


@dataclass(frozen=True)
class Mistake:
    """Source lines that are replaced by wrong ones."""

    name: str
    source: str
    old: str
    new: str

    def make(self, root: Path) -> None:
        """Make the mistake in a copy of the workspace."""
        path = root / self.source
        text = path.read_text(encoding="utf-8")
        if text.count(self.old) != 1:
            raise ValueError(
                f"{self.name}: {self.source} does not have these lines once:\n{self.old}"
            )
        path.write_text(text.replace(self.old, self.new), encoding="utf-8")

    def plant(self, workspace: Path, root: Path) -> None:
        """Copy the workspace's Python part to an empty folder, and make the mistake there."""
        for part in ("python", "tests"):
            shutil.copytree(
                workspace / part, root / part, ignore=shutil.ignore_patterns("__pycache__")
            )
        for part in ("machines", "experiments"):
            shutil.copytree(workspace / part, root / part)
        shutil.copy(workspace / "pyproject.toml", root)
        self.make(root)


MISTAKES = [
    Mistake(
        "a piece without offset",
        "crates/fi/src/progress.rs",
        "operation.buffer.store(part.at(), bytes);",
        "operation.buffer.store(0, bytes);",
    ),
    Mistake(
        "a lost piece",
        "crates/fi/src/progress.rs",
        "} else if let Some(operation) = self.under_way.get(&ended.id) {\n",
        "} else if let Some(operation) = self.under_way.get(&ended.id).filter(|_| part.at() =="
        " 0) {\n",
    ),
    Mistake(
        "a piece twice",
        "crates/fi/src/progress.rs",
        "operation.buffer.store(part.at(), bytes);",
        "operation.buffer.store(part.at(), bytes); operation.buffer.store(part.at() / 2, bytes);",
    ),
    Mistake(
        "a piece of a put in the place of the first one",
        "crates/fi/src/progress/regions.rs",
        "let at = offset.wrapping_add(part.at() as u64);",
        "let at = offset;",
    ),
    Mistake(
        "the last bytes of a message stay what they were",
        "crates/rank/src/memory.rs",
        ".copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());",
        ".copy_from_nonoverlapping(bytes.as_ptr(), bytes.len() - bytes.len() / 301);",
    ),
    Mistake(
        "a wrong length in the status",
        "crates/fi/src/progress.rs",
        "(entry.len, entry.tag) = (message.size as usize, message.tag);",
        "(entry.len, entry.tag) = (room, message.tag);",
    ),
    Mistake(
        "a truncated message is no error",
        "crates/fi/src/progress.rs",
        "            EndStatus::Truncated => FI_ETRUNC,\n",
        "            EndStatus::Truncated => return self.completions.done(binding, entry,"
        " source),\n",
    ),
    Mistake(
        "a cancelled receive is none",
        "crates/fi/src/progress.rs",
        "            EndStatus::Cancelled => FI_ECANCELED,\n",
        "            EndStatus::Cancelled => return self.completions.done(binding, entry,"
        " source),\n",
    ),
    Mistake(
        "the second piece of memory of a message is left out",
        "crates/fi/src/operation.rs",
        "            let all = [&[first][..], &rest].concat();\n",
        "            let all = [&[first][..], &rest[1..], &rest[..1]].concat();\n",
    ),
    Mistake(
        "a get reads the memory before the place",
        "crates/fi/src/progress/regions.rs",
        "let memory = self.memory(key, offset, size, FI_REMOTE_READ);",
        "let memory = self.memory(key, offset & !15, size, FI_REMOTE_READ);",
    ),
    Mistake(
        "a stale buffer: the bytes of the message before",
        "crates/mpirun/src/memory.rs",
        "        let stored = self.node.store(buffer.start(), bytes);\n",
        "        let stored = self.node.store(buffer.start(), &bytes[..bytes.len() - bytes.len() /"
        " 400]);\n",
    ),
    Mistake(
        "a put and a get share their buffers",
        "crates/mpirun/src/tports.rs",
        "        let what = if get { Use::Message } else { Use::Sink };\n",
        "        let what = if get { Use::Message } else { Use::Message };\n",
    ),
]
"""All but the last two are in the library that ranks load, which is built in seconds."""


def attempt(
    mistake: Mistake | None, root: Path, folder: Path, seconds: int
) -> subprocess.CompletedProcess[str]:
    """Run the fuzz on a copy of the workspace with a mistake, or without one; ``folder`` keeps copy
    and builds.
    """
    copy = folder / "workspace"
    shutil.rmtree(copy, ignore_errors=True)
    for part in ("crates", "examples", "python", "machines", "experiments"):
        shutil.copytree(root / part, copy / part, ignore=IGNORED)
    for part in ("Cargo.toml", "Cargo.lock"):
        shutil.copy(root / part, copy / part)
    if mistake is not None:
        mistake.make(copy)
    package = copy / "python" / "elanite"
    built = {
        "elanite-preload": ("libelanite_preload.so", "libelanite-fi.so"),
        "elanite-py": ("lib_core.so", "_core.abi3.so"),
    }
    for crate, (made, name) in built.items():
        ours = mistake is not None and mistake.source.startswith("crates/mpirun") == (
            crate == "elanite-py"
        )
        if not ours:
            shutil.copy(root / "python" / "elanite" / name, package / name)
            continue
        command = ["cargo", "build", "--release", "--locked", "--quiet", "--package", crate]
        environment = {
            **os.environ,
            "CARGO_TARGET_DIR": str(folder / "target"),
            "PYO3_PYTHON": sys.executable,
        }
        subprocess.run(command, cwd=copy, env=environment, check=True)
        shutil.copy(folder / "target" / "release" / made, package / name)
    script = folder / "elanite"
    script.write_text(
        f"#!/bin/sh\nexport PYTHONPATH={copy / 'python'}\nshift\n"
        f'exec {sys.executable} -m elanite mpirun --no-checksums "$@"\n',
        encoding="utf-8",
    )
    script.chmod(0o755)
    environment = {**os.environ, "ELANITE_FUZZ_COMMAND": str(script)}
    words = [
        "-m",
        "tests.mpi_fuzz",
        "--seconds",
        str(seconds),
        "--seed",
        "0",
        "--shrink-seconds",
        "0",
    ]
    return subprocess.run(
        [sys.executable, *words],
        cwd=root,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
