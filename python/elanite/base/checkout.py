"""A checkout's commit, and whether its sources differ from it.

The build backend loads this file by its path, before the package is built: the module imports no
other package module.
"""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

SOURCES = ("Cargo.toml", "Cargo.lock", "crates", "python", "machines", "experiments")
"""The sources of results, below a checkout's root."""

_PATIENCE = 30.0
"""Seconds that git may take."""


def state(root: Path) -> tuple[str, bool] | None:
    """A checkout's commit, and whether tracked sources differ from it.

    `None` if the folder is not a checkout's root, or if git is missing or refuses it.
    """
    if not (root / ".git").exists():  # git would find a repository around the folder
        return None
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    words = ["git", "status", "--porcelain=v2", "--branch", "--untracked-files=no", "--", *SOURCES]
    try:
        done = subprocess.run(  # noqa: S603 - fixed words
            words,
            cwd=root,
            env=environment | {"GIT_OPTIONAL_LOCKS": "0"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PATIENCE,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    lines = done.stdout.decode(errors="replace").splitlines()
    commits = [line.split()[2] for line in lines if line.startswith("# branch.oid ")]
    if not commits or commits[0].startswith("("):  # there is no commit yet
        return None
    return commits[0], any(not line.startswith("#") for line in lines)
