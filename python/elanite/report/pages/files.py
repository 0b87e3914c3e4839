"""The files that a command read, under names in one folder, and the command with these names.

The folder can be anywhere: a machine file that the experiment names is given by ``--machine``, and
pair, flow and trace files from outside the experiment's folder lose their folders, in the
experiment file, too. Machines with cables from a graph file are complete in themselves
(``elanite.inputs.graphs``). Shipped machines and experiments are named, not embedded.
"""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from elanite.base import bounded
from elanite.base.simulator import VARIABLE
from elanite.inputs import patterns, sources
from elanite.report.pages.inputs import MOST_BYTES, Inputs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from elanite.inputs.plan import Plan
    from elanite.inputs.sources import Source

_PAIRS = re.compile(r"[^\s,=\"'\[\]]+\.csv")
"""A pair file within an option's value."""


class CommandFiles:
    """One command's files: each added file gets a name in the folder, which replaces its path in
    the command.
    """

    def __init__(self) -> None:
        self.contents: dict[str, bytes] = {}
        self.absent: dict[str, str] = {}

    def source(self, source: Source) -> str:
        """Add a machine or experiment file; returns the command's word for it."""
        if (
            source.name in sources.shipped(source.kind)
            and sources.read_shipped(source.kind, source.name) == source
        ):
            return source.name
        text = source.text
        if source.kind == "experiment":
            for named in dict.fromkeys(patterns.files(text)):
                name = self.beside(source, named)
                for quote in "\"'":
                    text = text.replace(f"{quote}{named}{quote}", f"{quote}{name}{quote}")
        return self.content(source.argument, text.encode())

    def beside(self, experiment: Source, named: str) -> str:
        """Add a file that an experiment names, relative to the experiment file; returns its path in
        the folder.

        A path that stays below the experiment file is kept as it is, since point identities contain
        it.
        """
        path = Path(experiment.file).parent / named
        name = PurePosixPath(named)
        inside = (
            not name.is_absolute()
            and ".." not in name.parts
            and all(tame(part) == part for part in name.parts)
        )
        if not inside or not path.is_file():
            return self.path(path)
        content = bounded.load(path, MOST_BYTES)
        if self.contents.get(str(name), content) != content:
            return self.path(path)
        self.contents[str(name)] = content
        return named

    def path(self, path: Path) -> str:
        """Add a file by its path; a file that is too large, or cannot be read, is absent.

        Returns its name.
        """
        try:
            return self.content(str(path), bounded.typed(path, MOST_BYTES))
        except OSError:
            return self.program(path)

    def content(self, path: str, content: bytes) -> str:
        """Add a file by its content; returns its name: the path's last part, in a folder if that
        one is taken.
        """
        last = "stdin" if Path(path) == bounded.STDIN else tame(Path(path).name)
        name, count = last, 1
        while self.contents.get(name, content) != content:
            count += 1
            name = f"{count}/{last}"
        self.contents[name] = content
        return name

    def program(self, path: Path) -> str:
        """Name a file that stays outside the page, such as a program; its checksum is listed if it
        can be read.
        """
        name = tame(path.name)
        try:
            with bounded.opened(path) as file:
                self.absent[name] = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError:
            self.absent[name] = ""
        return name

    def options(self, words: Sequence[str], experiment: Source) -> list[str]:
        """A command's options, with the names of the pair files that they give to a pattern."""
        found = []
        for word in words:
            key, equals, value = word.partition("=")
            if equals and key.endswith("pattern"):
                word = key + equals + _PAIRS.sub(lambda one: self.beside(experiment, one[0]), value)
            elif equals and key.startswith("series.") and key.endswith(".file"):
                word = key + equals + self.beside(experiment, value.strip("\"'"))
            found.append(word)
        return found

    def inputs(self, words: Sequence[str]) -> Inputs:
        """The inputs for a page with the command ``words``, which uses this folder's names."""
        return Inputs.gather(words, self.contents, self.absent)


def outputs(**named: Path | str | None) -> list[str]:
    """Options for output files and formats: files have their last name, in the command's folder."""
    words = []
    for option, value in named.items():
        if value is not None:
            words += [
                f"--{option.replace('_', '-')}",
                tame(value.name) if isinstance(value, Path) else value,
            ]
    return words


def of_plan(
    plan: Plan, options: Sequence[str], verb: str = "run", written: Sequence[str] = ()
) -> Inputs:
    """The inputs for ``elanite run`` or ``elanite sweep``.

    ``options`` are the words that decide the results besides the files: key changes, seeds and
    selections. ``written`` are the words from ``outputs``; without any, the page has the
    experiment's name.
    """
    files = CommandFiles()
    words = ["elanite", verb, files.source(plan.experiment)]
    machines = [files.source(machine) for machine in plan.machines]
    if plan.machine_given or machines != [machine.name for machine in plan.machines]:
        words += [word for name in machines for word in ("--machine", name)]
    words += files.options(options, plan.experiment)
    if program := os.environ.get(VARIABLE):
        files.program(Path(program))
    return files.inputs([*words, *(written or outputs(html=Path(f"{plan.experiment.name}.html")))])


def tame(name: str) -> str:
    """A file name without characters that a folder or a command could misread."""
    found = "".join(
        "_" if ord(one) < 32 or ord(one) == 127 or one in '\\/:*?"<>|' else one for one in name
    )
    return re.sub(r"^-", "_", found)[-120:] or "file"
