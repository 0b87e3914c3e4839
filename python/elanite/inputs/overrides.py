"""Override keys: ``--set``, ``--vary`` and similar options name keys of the machine or the
experiment.

A key's first word names its owner. People leave it out: they write ``load`` for a job's load. Such
a key is an error, and the error names the keys in this very machine and experiment that end in the
word.
"""

from __future__ import annotations

import difflib
import json
from functools import cache
from typing import TYPE_CHECKING

from elanite import _core
from elanite.base.rows import section
from elanite.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from elanite.inputs.contents import Description
    from elanite.inputs.sources import Source

EXPERIMENT = ("run", "series", "fault")
"""The first words of the experiment's keys; all other keys belong to the machine."""

MOST = 4
"""Most keys that an error proposes."""


def of_experiment(change: str) -> bool:
    """Whether ``KEY=VALUE`` changes the experiment."""
    return change.partition("=")[0].split(".")[0].strip() in EXPERIMENT


def check(keys: Iterable[str], experiment: Source, machine: Source) -> None:
    """Raises ``UsageError`` for a key with an unknown first word: no machine file section and no
    experiment part.
    """
    for key in keys:
        first, *rest = key.split(".")
        if first in EXPERIMENT or (first in _sections() and rest):
            continue
        known = [*_of_experiment_file(experiment), *_of_machine(machine)]
        tails = [one.rsplit(".", 1)[-1] for one in known]
        near = difflib.get_close_matches(key.rsplit(".", 1)[-1], tails, 1)
        alike = [one for one in known if one.endswith(f".{key}")]
        alike = alike or [one for one, tail in zip(known, tails, strict=True) if tail in near]
        more = f", and {len(alike) - MOST} more" if len(alike) > MOST else ""
        hint = (
            f"did you mean {', '.join(alike[:MOST])}{more}?"
            if alike
            else "`elanite show` lists keys and points"
        )
        begins = first if rest else key
        raise UsageError(
            f"{key}: a key begins with a section of the machine, with run or with series.NAME, and"
            f" there is no `{begins}`\n  {experiment.argument} on {machine.name}: {hint}"
        )


@cache
def _sections() -> frozenset[str]:
    """The sections of machine files."""
    return frozenset(json.loads(_core.schema("machine"))["properties"])


def _of_machine(machine: Source) -> list[str]:
    about = json.loads(_core.load_machine(machine.text, machine.file, []))
    return [one["key"] for one in about["parameters"]]


def _of_experiment_file(experiment: Source) -> Iterator[str]:
    """An experiment's keys as overrides write them: ``run.window``, ``series.load.message``."""
    about: Description = json.loads(_core.load_experiment(experiment.text, experiment.file, []))
    yield from (f"run.{key}" for key in about.get("run") or {})
    series: Mapping[str, object]
    for series in about.get("series", ()):
        parts = {
            key: part
            for key, part in series.items()
            if isinstance(part, dict) and key not in ("run", "machine")
        }
        jobs = parts.pop("jobs", {})
        only = len(parts) + len(jobs) == 1
        yield from (
            f"series.{series['name']}.run.{key}" for key in section(series.get("run") or {})
        )
        for part in parts.values():
            yield from (f"series.{series['name']}.{key}" for key in part)
        for name, job in jobs.items():
            yield from (
                f"series.{series['name']}.{key if only else f'{name}.{key}'}" for key in job
            )
