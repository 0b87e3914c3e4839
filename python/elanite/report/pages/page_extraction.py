"""The way back from a page: the inputs that a page holds, checked, and written to a folder.

A page may come from anybody. Its names are paths within the folder or an error: no absolute paths,
no ``..``, no control characters, no two names that differ only in case. The folder is new or empty,
so that no file or link that exists is touched. Sizes are compared with limits before anything is
decoded, contents with their checksums before anything is written. The command is text: it is
printed and written to a file, and never run from here.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import os
import re
import shlex
import unicodedata
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import NoReturn

from elanite import _core
from elanite.base import bounded, whole
from elanite.base.text import word
from elanite.errors import ElaniteError, UsageError
from elanite.report.pages.inputs import BLOCK, FORMAT

COMMAND = "command.sh"
"""The file with the command."""

MOST_PAGE = 512 * 2**20
MOST_BYTES = 64 * 2**20
MOST_FILES = 4096
MOST_WORDS = 4096
"""Limits: a page's bytes, its files' bytes together, the file count, and the command's words."""

MOST_NAME, MOST_DEPTH = 200, 8
"""Name limits: characters, and folders."""

_SCRIPT = re.compile(rf'<script type="application/json" id="{BLOCK}">(?P<json>[^<]*)</script>')


@dataclass(frozen=True)
class PageInputs:
    """A page's checked inputs."""

    page: Path
    words: tuple[str, ...]
    """The command in the files' folder."""
    files: dict[str, bytes]
    absent: dict[str, str]
    """SHA-256 by name for files that the page does not hold; empty where it is unknown."""
    elanite: str
    """The version that made the page."""
    model: int
    """The model revision that made the page."""

    @property
    def same_model(self) -> bool:
        """Whether this Elanite has the page's model, so that the results are the same."""
        return self.model == _core.MODEL_REVISION


def read(page: Path) -> PageInputs:
    """Read and check a page's inputs.

    Raises ``UsageError`` if the file is no page with inputs, or damaged.
    """
    text = _text(page)
    blocks = [found["json"] for found in _SCRIPT.finditer(text)]
    if not blocks:
        if f'id="{BLOCK}"' in text:
            _damaged(page, "the block of inputs has no end: the file is not complete")
        raise UsageError(
            f"{page} has no inputs of Elanite\n  pages with inputs come from --html of run, sweep,"
            " place, compare, calibrate, mpirun and replay; the report of `elanite reproduce` has"
            " none"
        )
    if len(blocks) > 1:
        _damaged(page, "there are several blocks of inputs")
    try:
        block = json.loads(blocks[0])
    except (ValueError, RecursionError):
        _damaged(page, "the block of inputs is not JSON")
    return _checked(page, block)


def unpack(opened: PageInputs, folder: Path) -> list[Path]:
    """Write the files and the command to a folder, which is new or empty; returns the files' paths.

    Raises ``UsageError`` before anything is written if the folder has entries or is not a folder,
    and ``ElaniteError`` if a file cannot be written.
    """
    contents = opened.files | {COMMAND: _script(opened).encode()}
    if os.path.lexists(folder) and not folder.is_dir():
        raise UsageError(
            f"{folder} exists and is not a folder\n  name another folder: --into FOLDER"
        )
    with suppress(OSError):
        if any(folder.iterdir()):
            raise UsageError(
                f"{folder} exists and is not empty, and `elanite open` fills a new or an empty"
                " folder only\n  name another folder: --into FOLDER"
            )
    written: list[Path] = []
    try:
        for name, content in contents.items():
            path = folder / name
            whole.parents(path.parent)
            whole.new(path, content)
            written.append(path)
    except OSError as error:
        for path in written:
            with suppress(OSError):
                path.unlink()
        raise ElaniteError(
            f"{error.filename or folder} cannot be written: {error.strerror}"
        ) from error
    return written


def line(opened: PageInputs, folder: Path) -> str:
    """The command as a shell line, from the present folder."""
    return f"cd {word(folder)} && {shlex.join(opened.words)}"


def _script(opened: PageInputs) -> str:
    return (
        f"#!/bin/sh\n# The inputs of a page that Elanite {opened.elanite}, model revision"
        f" {opened.model}, has made.\n"
        f'set -eu\ncd "$(dirname "$0")"\n{shlex.join(opened.words)}\n'
    )


def _text(page: Path) -> str:
    try:
        with bounded.refused(page, "name a page that Elanite has made"):
            return bounded.typed(page, MOST_PAGE).decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(
            f"{page}: not a text file in UTF-8 (byte {error.start}), so no page of Elanite"
        ) from error


def _damaged(page: Path, why: str) -> NoReturn:
    raise UsageError(
        f"{page} is damaged: {why}; no file was written\n  make the page again, or get another copy"
    )


def _checked(page: Path, block: object) -> PageInputs:
    """The block with the right types, safe names and fitting checksums."""
    if not isinstance(block, dict) or not isinstance(block.get("format"), int):
        _damaged(page, "the block of inputs has no format")
    if block["format"] != FORMAT:
        raise UsageError(
            f"{page} has inputs of format {block['format']}, and this Elanite reads format"
            f" {FORMAT}: use the version that made the page ({_shown(block.get('elanite'))})"
        )
    words, listed, absent = block.get("command"), block.get("files"), block.get("absent")
    version, model = block.get("elanite"), block.get("model")
    if (
        not isinstance(words, list)
        or not all(isinstance(word, str) for word in words)
        or words[:1] != ["elanite"]
    ):
        _damaged(page, "its command is not a command of Elanite")
    if not 1 < len(words) <= MOST_WORDS or any(
        _control(re.sub(r"[\n\t]", "", word)) for word in words
    ):
        _damaged(page, "its command is empty, too long, or has control characters")
    if not isinstance(version, str) or _control(version) or not isinstance(model, int):
        _damaged(page, "it does not name the version that made it")
    if (
        not isinstance(listed, list)
        or not isinstance(absent, list)
        or len(listed) + len(absent) > MOST_FILES
    ):
        _damaged(page, "the lists of its files are missing or too long")
    size = sum(
        len(one.get("text") or one.get("base64") or "")
        for one in listed
        if isinstance(one, dict) and _plain(one)
    )
    if size > 2 * MOST_BYTES:
        _damaged(page, f"its files have more than {MOST_BYTES >> 20} MB")
    files: dict[str, bytes] = {}
    missing: dict[str, str] = {}
    for one in listed:
        name = _name(page, one, [*files, COMMAND])
        files[name] = _content(page, one)
    for one in absent:
        name = _name(page, one, [*files, *missing, COMMAND])
        missing[name] = _shown(one.get("sha256") or "").strip('"')
    if sum(map(len, files.values())) > MOST_BYTES:
        _damaged(page, f"its files have more than {MOST_BYTES >> 20} MB")
    return PageInputs(page, tuple(words), files, missing, version, model)


def _plain(one: dict[str, object]) -> bool:
    return isinstance(one.get("text") or one.get("base64") or "", str)


def _name(page: Path, one: object, others: list[str]) -> str:
    """An entry's name, if it is a path inside the folder that no other entry has."""
    name = one.get("name") if isinstance(one, dict) else None
    if not isinstance(name, str) or not name:
        _damaged(page, "a file has no name")
    path = PurePosixPath(name)
    safe = (
        path.parts
        and not path.is_absolute()
        and str(path) == name
        and ".." not in path.parts
        and len(path.parts) <= MOST_DEPTH
        and len(name) <= MOST_NAME
        and not any(one in name for one in '\\:*?"<>|')
        and not _control(name)
        and not any(part.startswith("-") or part != part.strip() for part in path.parts)
    )
    if not safe:
        _damaged(page, f"the name {_shown(name)} is not a path inside a folder")
    for other in others:
        here, there = (unicodedata.normalize("NFC", each).casefold() for each in (name, other))
        if here == there or here.startswith(f"{there}/") or there.startswith(f"{here}/"):
            _damaged(page, f"two files have the name {_shown(name)}")
    return name


def _content(page: Path, one: dict[str, object]) -> bytes:
    """An entry's bytes, which have its checksum."""
    text, encoded = one.get("text"), one.get("base64")
    try:
        if isinstance(text, str) and encoded is None:
            content = text.encode()
        elif isinstance(encoded, str) and text is None:
            content = base64.b64decode(encoded, validate=True)
        else:
            raise ValueError
    except (ValueError, binascii.Error):
        _damaged(page, f"the content of {_shown(one['name'])} cannot be decoded")
    if hashlib.sha256(content).hexdigest() != one.get("sha256"):
        _damaged(page, f"the content of {_shown(one['name'])} differs from its checksum")
    return content


def _control(text: str) -> bool:
    """Whether a text has characters that a terminal or a file system would not show as they are."""
    return any(unicodedata.category(one) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp") for one in text)


def _shown(name: object) -> str:
    return json.dumps(str(name)[:MOST_NAME])
