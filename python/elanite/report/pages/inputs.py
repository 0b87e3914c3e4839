"""A page's inputs: the files that a command read, inside the page, and the command for them
elsewhere.

The block is a JSON script element, which browsers do not run. Every file has the name by which the
command finds it in the ``elanite open`` folder, its content (text, or base64 for other bytes) and
its SHA-256. Files that are too large, and programs, stay outside: the block lists their names and
checksums.

    {"format": 1, "elanite": "0.1.0", "model": 3, "command": ["elanite", "run", "place.toml"],
     "files": [{"name": "place.toml", "sha256": "...", "text": "..."}],
     "absent": [{"name": "a.out", "sha256": "..."}]}
"""

from __future__ import annotations

import base64
import hashlib
import shlex
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from elanite import _core
from elanite.base import html
from elanite.base.text import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FORMAT = 1
BLOCK = "elanite-inputs"
"""The script element's identifier."""

MOST_BYTES = 16 * 2**20
"""All embedded files' size together, in bytes; larger ones are absent."""


@dataclass(frozen=True)
class Inputs:
    """A page's embedded files, and the command that reads them."""

    words: Sequence[str]
    """The command in a folder with these files, from the word ``elanite`` on."""
    files: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    """Content by name: relative paths with forward slashes, without ``..``."""
    absent: Mapping[str, str] = field(default_factory=dict)
    """SHA-256 by name for files that the command needs and the page does not hold; empty where it
    is unknown.
    """

    @classmethod
    def gather(
        cls,
        words: Sequence[str],
        contents: Mapping[str, bytes],
        absent: Mapping[str, str] | None = None,
    ) -> Inputs:
        """The inputs with the files in the order given, as far as ``MOST_BYTES`` reaches; the rest
        is absent.
        """
        kept: dict[str, bytes] = {}
        left = dict(absent or {})
        room = MOST_BYTES
        for name, content in contents.items():
            if len(content) > room:
                left[name] = hashlib.sha256(content).hexdigest()
            else:
                kept[name] = content
                room -= len(content)
        return cls(tuple(words), kept, left)

    @property
    def command(self) -> str:
        """The command as a shell line."""
        return shlex.join(self.words)

    @property
    def size(self) -> str:
        """The embedded files' count and size in words: ``48 files, 0.2 MB``."""
        megabytes = sum(map(len, self.files.values())) / 2**20
        return f"{counted(len(self.files), 'file')}, {megabytes:.1f} MB"

    def block(self) -> str:
        """The block's JSON, safe inside a script element."""
        return html.embedded(
            {
                "format": FORMAT,
                "elanite": _core.VERSION,
                "model": _core.MODEL_REVISION,
                "command": list(self.words),
                "files": [_file(name, content) for name, content in self.files.items()],
                "absent": [
                    {"name": name, "sha256": digest} for name, digest in self.absent.items()
                ],
            }
        )


def _file(name: str, content: bytes) -> dict[str, object]:
    found: dict[str, object] = {"name": name, "sha256": hashlib.sha256(content).hexdigest()}
    try:
        found["text"] = content.decode("utf-8")
    except UnicodeDecodeError:
        found["base64"] = base64.b64encode(content).decode("ascii")
    return found
