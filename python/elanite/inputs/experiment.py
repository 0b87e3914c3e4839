"""An experiment description as a Python object: its content, and the file that gives it."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from elanite import _core
from elanite.base import html, whole
from elanite.errors import UsageError
from elanite.inputs import patterns, sources, toml

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from elanite.inputs.contents import Description
    from elanite.inputs.sources import Source


@dataclass(frozen=True)
class Experiment:
    """An experiment description. ``Experiment.load`` reads one; ``about`` is its content."""

    name: str
    title: str
    source: str
    """Document, sections and figures that the experiment follows."""
    machine: str | list[str]
    """The machine on which it runs unless another one is given, or the machines that it
    compares.
    """
    about: Description = field(repr=False)
    file: Source = field(repr=False)
    overrides: tuple[str, ...] = ()

    @classmethod
    def load(cls, name: str | Path, overrides: Sequence[str] = ()) -> Experiment:
        """Load a shipped experiment by name, or an experiment file by path, with ``key=value``
        overrides.

        Raises ``UsageError`` if there is no such file, and ``ConfigError`` if the file is wrong.
        """
        return cls.of(sources.read("experiment", name), overrides)

    @classmethod
    def of(cls, file: Source, overrides: Sequence[str] = ()) -> Experiment:
        """Make an experiment from a text that was read already."""
        about: Description = json.loads(
            _core.load_experiment(file.text, file.file, list(overrides))
        )
        return cls(
            file.name,
            about["title"],
            about["source"],
            about["machine"],
            about,
            file,
            tuple(overrides),
        )

    @classmethod
    def from_dict(cls, content: Mapping[str, object], name: str = "experiment") -> Experiment:
        """Make an experiment from a dictionary with an experiment file's keys.

        A job's pattern may also be a function that yields a node's destinations, or a ``Pattern``
        with such a function; the experiment keeps the node pairs, not the function
        (``elanite.inputs.patterns``).

        Commands that reproduce its points name the file ``<name>.toml``, which ``save`` writes.
        Raises ``ConfigError`` with a line in this file if the content is wrong, and ``UsageError``
        if a value does not fit TOML.
        """
        file = f"{name}.toml"
        return cls.of(
            sources.Source("experiment", name, file, file, toml.text(patterns.evaluated(content)))
        )

    def with_(self, changes: Mapping[str, object]) -> Experiment:
        """The same experiment with other values: ``experiment.with_({"run.seeds": 1})``."""
        texts = [
            f"{key}={new if isinstance(new, str) else toml.value(new, key)}"
            for key, new in changes.items()
        ]
        return Experiment.of(self.file, [*self.overrides, *texts])

    def save(self, path: str | Path) -> Experiment:
        """Write the experiment's file, without the overrides, and return the experiment in this
        file.

        Paths in the file are relative to it: in another folder they are rewritten, and lead to the
        same files.
        """
        whole.write(Path(path), self._text_in(Path(path).parent), UsageError)
        return Experiment.load(path, self.overrides)

    def _text_in(self, folder: Path) -> str:
        text, here = self.file.text, Path(self.file.file).parent
        machines = [self.machine] if isinstance(self.machine, str) else self.machine
        for name in dict.fromkeys([*machines, *patterns.files(text)]):
            if (here / name).is_file() and not Path(name).is_absolute():
                there = toml.value(os.path.relpath(here / name, folder))
                text = text.replace(toml.value(name), there).replace(f"'{name}'", there)
        return text

    def _repr_html_(self) -> str:
        series = [(each["name"], each.get("title", "")) for each in self.about["series"]]
        machines = self.machine if isinstance(self.machine, str) else ", ".join(self.machine)
        return html.block(
            f"Experiment {self.name}",
            html.line(self.title),
            html.line(f"{self.source}; on {machines}"),
            html.folded(f"{len(series)} series", html.table(("series", "title"), series)),
        )
