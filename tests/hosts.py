"""Other hosts, simulated by namespaces: their own names, users, mounts and process numbers, and the
same files.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest


def on_a_host(name: str, *words: str | Path) -> list[str]:
    """A command on a host with another name, and its own users, mounts and process numbers."""
    inside = f'hostname {name}; mount -t proc proc /proc 2>/dev/null; exec "$@"'
    return [
        "unshare",
        "-U",
        "-r",
        "-u",
        "-m",
        "-p",
        "--fork",
        "--kill-child",
        "sh",
        "-c",
        inside,
        "sh",
        *map(str, words),
    ]


@pytest.fixture(scope="module")
def hosts() -> None:
    """Skips where hosts cannot be simulated."""
    if shutil.which("unshare") is None:
        pytest.skip("there is no unshare")
    tried = subprocess.run(
        on_a_host("first", "hostname"), capture_output=True, text=True, check=False
    )
    if tried.stdout.strip() != "first":
        pytest.skip(f"unshare is refused: {tried.stderr.strip()}")
