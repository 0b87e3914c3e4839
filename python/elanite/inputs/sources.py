"""Machine and experiment files: shipped ones by name, others by path.

A machine is named by its file (``es40-qsnet``), an experiment by its document and file
(``qsnet/ping``). Both are read through ``importlib.resources``, so that a checkout and an installed
wheel find them in the same way.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from elanite.base import bounded
from elanite.errors import UsageError
from elanite.inputs.graphs import completed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from importlib.resources.abc import Traversable

Kind = Literal["machine", "experiment"]

_FOLDER: dict[Kind, str] = {"machine": "machines", "experiment": "experiments"}

_NAME = re.compile(r"[\w-][\w.-]{0,99}(/[\w-][\w.-]{0,99})*", re.ASCII)
"""A shipped file's name: no way out of its folder."""


@dataclass(frozen=True)
class Source:
    """The text in one machine or experiment file, and its names."""

    kind: Kind
    name: str
    """Short name: ``es40-qsnet``, ``qsnet/ping``, or the stem of the user's file."""
    file: str
    """The file's name in messages: its path, or a shipped file's place within the package."""
    argument: str
    """The file's name on the command line."""
    text: str
    overrides: tuple[str, ...] = ()
    """``key=value`` texts that change this file alone, where several machines stand side by
    side.
    """


def shipped(kind: Kind) -> list[str]:
    """Names of a kind's shipped files, sorted."""
    return list(_shipped(kind))


@cache
def _shipped(kind: Kind) -> tuple[str, ...]:
    return tuple(sorted(name for name, _ in _walk(_root(kind))))


def read(kind: Kind, named: str | Path) -> Source:
    """Read a machine or experiment: by a file's path or ``-``, standard input, or by a shipped
    name.
    """
    argument, path = str(named), Path(named)
    if _is_path(path):
        found = _read_path(kind, argument, path)
        if _clearly(found.text) not in (kind, None):
            raise _other_kind(kind, argument)
        return found
    wanted = argument.removesuffix(".toml")
    if (known := read_shipped(kind, wanted)) is not None:
        return known
    if wanted in shipped("experiment" if kind == "machine" else "machine"):
        raise _other_kind(kind, argument)
    raise UsageError(_not_found(kind, argument))


@cache
def read_shipped(kind: Kind, name: str) -> Source | None:
    """The shipped machine or experiment with a name; `None` if it does not exist."""
    if not _NAME.fullmatch(name):
        return None
    file = f"{_FOLDER[kind]}/{name}.toml"
    text = bounded.packaged_or_none("data", *file.split("/"))
    return None if text is None else Source(kind, name, file, name, text)


def _clearly(text: str) -> Kind | None:
    """The kind of a file with sections of one kind alone; `None` if it has sections of both kinds,
    or of no kind.
    """
    experiment = re.search(r"^\s*\[\[\s*series\s*\]\]", text, re.MULTILINE)
    machine = re.search(r"^\s*\[\s*(machine|topology|link|adapter)\s*\]", text, re.MULTILINE)
    return None if bool(experiment) == bool(machine) else "experiment" if experiment else "machine"


def _other_kind(kind: Kind, argument: str) -> UsageError:
    """A machine was given where an experiment belongs, or the other way round."""
    if kind == "machine":
        return UsageError(
            f"{argument} is an experiment, and a machine is needed here\n  give the experiment as"
            " the argument, and --machine a machine: elanite run EXPERIMENT --machine MACHINE"
        )
    return UsageError(
        f"{argument} is a machine, and an experiment is needed here\n"
        f"  run an experiment on it: elanite run EXPERIMENT --machine {argument}"
    )


def read_any(argument: str) -> Source:
    """Read a machine or an experiment; the name or the content decides which."""
    path = Path(argument)
    if _is_path(path):
        return _read_path(_shape(_text_of(path)), argument, path)
    wanted = argument.removesuffix(".toml")
    kinds: tuple[Kind, ...] = ("machine", "experiment")
    for kind in kinds:
        if wanted in shipped(kind):
            return read(kind, argument)
    names = shipped("machine") + shipped("experiment")
    start = (
        f"`{argument}` is a folder"
        if path.is_dir()
        else f"there is no file, machine or experiment `{argument}`"
    )
    raise UsageError(
        f"{start}{_suggestions(argument, names)}\n"
        f"  machines:{_listed(shipped('machine'))}\n"
        f"  experiments:{_listed(shipped('experiment'))}"
    )


def select_experiments(selection: Iterable[str] | None = None) -> list[str]:
    """The shipped experiments that the selection names, by name or folder; all without a
    selection.
    """
    names = shipped("experiment")
    if selection is None:
        return names
    chosen: set[str] = set()
    wanted = [part.strip() for text in selection for part in text.split(",")]
    if "" in wanted:
        raise UsageError(
            "a name of an experiment is empty; leave out --only to run all of them\n "
            f" experiments:{_listed(names)}"
        )
    for part in wanted:
        part = part.removesuffix(".toml").rstrip("/")
        found = [name for name in names if name == part or name.startswith(part + "/")]
        if not found:
            folders = sorted({name.rsplit("/", 1)[0] for name in names if "/" in name})
            raise UsageError(
                "there is no experiment or folder of experiments"
                f" `{part}`{did_you_mean(part, names + folders)}\n  folders and their"
                f" experiments:{_listed(names)}"
            )
        chosen.update(found)
    return [name for name in names if name in chosen]


def did_you_mean(word: str, words: Iterable[str]) -> str:
    """``; did you mean `x`?`` if one of the words begins so, is similar, or has the word as a part;
    else empty.
    """
    candidates = list(words)
    tails = {candidate.rsplit("/", 1)[-1]: candidate for candidate in reversed(candidates)}
    for wanted in dict.fromkeys((word, word.lower())):
        longer = [
            candidate
            for candidate in candidates
            if len(wanted) > 1 and candidate.startswith(wanted)
        ]
        near = longer or difflib.get_close_matches(wanted, candidates, 1)
        near = near or [
            tails[tail]
            for tail in difflib.get_close_matches(wanted.rsplit("/", 1)[-1], list(tails), 1)
        ]
        near = near or [
            candidate for candidate in candidates if len(wanted) > 1 and wanted in candidate
        ]
        if near:
            return f"; did you mean `{near[0]}`?"
    return ""


def _root(kind: Kind) -> Traversable:
    return files("elanite").joinpath("data", _FOLDER[kind])


def _walk(folder: Traversable, prefix: str = "") -> Iterator[tuple[str, Traversable]]:
    if not folder.is_dir():
        return
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _walk(entry, f"{prefix}{entry.name}/")
        elif entry.name.endswith(".toml"):
            yield prefix + entry.name.removesuffix(".toml"), entry


def _read_path(kind: Kind, argument: str, path: Path) -> Source:
    if path == bounded.STDIN:
        text = _text_of(path)
        return Source(
            kind, "stdin", argument, argument, completed(text, path) if kind == "machine" else text
        )
    name = path.stem
    for shipped_name, entry in _walk(_root(kind)):
        with as_file(entry) as shipped_path:
            if shipped_path.resolve() == path.resolve():
                name = shipped_name
    text = _text_of(path)
    return Source(
        kind, name, argument, argument, completed(text, path) if kind == "machine" else text
    )


def _is_path(path: Path) -> bool:
    """Whether an argument is a file's path; a device or a pipe is refused as soon as it is read."""
    return path == bounded.STDIN or (path.exists() and not path.is_dir())


def _text_of(path: Path) -> str:
    return bounded.text(path, bounded.SETTINGS, read=bounded.typed)


def _shape(text: str) -> Kind:
    """Experiments have series (or name the machine they run on); everything else is taken for a
    machine.
    """
    if re.search(r"^\s*(\[\[?\s*series\b|\[\s*run\s*\]|machine\s*=)", text, re.MULTILINE):
        return "experiment"
    return "machine"


def _not_found(kind: Kind, argument: str) -> str:
    names = shipped(kind)
    if Path(argument).is_dir():
        start = f"`{argument}` is a folder, and no shipped {kind} of that name"
    elif argument.endswith(".toml") or argument.startswith((".", "/")):
        start = f"there is no file `{argument}`, and no shipped {kind} of that name"
    else:
        start = f"there is no {kind} `{argument}`"
    return f"{start}{_suggestions(argument, names)}\n  shipped:{_listed(names)}"


def _listed(names: Iterable[str]) -> str:
    """Names, on a line for each folder if they have folders."""
    folders: dict[str, list[str]] = {}
    for name in names:
        folder, _, last = name.rpartition("/")
        folders.setdefault(folder, []).append(last)
    if list(folders) == [""]:
        return f" {', '.join(folders[''])}"
    return "".join(f"\n    {folder}/: {', '.join(ones)}" for folder, ones in folders.items())


def _suggestions(argument: str, names: Iterable[str]) -> str:
    """Possible meanings of the argument: a file without its suffix, a file with a similar name, or
    a shipped name.
    """
    path = Path(argument)
    try:
        beside = {
            file.name: str(path.parent / file.name) for file in sorted(path.parent.glob("*.toml"))
        }
    except OSError:
        beside = {}
    if file := beside.get(f"{path.name}.toml"):
        return f"; did you mean the file `{file}`?"
    if path.suffix == ".toml" and (near := difflib.get_close_matches(path.name, list(beside), 1)):
        return f"; did you mean the file `{beside[near[0]]}`?"
    return did_you_mean(argument, names)
