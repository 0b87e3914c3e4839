"""Several traces on one machine: the experiment behind ``elanite replay`` with more than one trace.

The experiment has a series with a section in ``[series.traces]`` for each trace. The given keys
belong to such a section: ``nodes``, ``start``, ``processes``, ``buffered``, ``class``. A trace
without ``nodes`` has the nodes behind the previous traces' nodes. All else is as in an experiment
file: each trace is also run alone, and links count each trace's packets.
"""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING

from elanite import _core
from elanite.base import bounded
from elanite.base.text import counted
from elanite.errors import UsageError
from elanite.inputs import toml
from elanite.inputs.experiment import Experiment
from elanite.inputs.sources import did_you_mean
from elanite.traces import goal_file

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

KEYS = ("nodes", "start", "processes", "buffered", "class")
"""A trace's keys in ``--at``."""

SERIES = "traces"
"""The experiment's series."""


def experiment(
    traces: Sequence[Path],
    machine: str,
    at: Sequence[str] = (),
    *,
    processes: int = 1,
    buffered: str | None = None,
    faults: Sequence[str] = (),
) -> Experiment:
    """The experiment with these traces; ``at`` are the first traces' keys, as inline tables without
    braces.

    ``processes`` and ``buffered`` hold for traces without these keys. Raises ``UsageError``, and
    ``ConfigError`` if the machine has no place for a trace.
    """
    if len(at) > len(traces):
        raise UsageError(
            f"--at is given {len(at)} times for {counted(len(traces), 'trace')}; give it once for"
            " each"
        )
    sections: dict[str, dict[str, object]] = {}
    free = 0
    for number, trace in enumerate(traces):
        bounded.check(trace, "name a trace in GOAL")
        given = _inline("--at", at[number], KEYS) if number < len(at) else {}
        section: dict[str, object] = {
            "file": str(trace),
            **({"buffered": buffered} if buffered else {}),
        }
        section |= {"processes": processes} if processes > 1 else {}
        section |= given
        if "nodes" not in section:
            section["nodes"] = _next(trace, free, section.get("processes", 1))
        placed = _core.nodes(toml.value(section["nodes"])) or []
        free = max([free, *(node + 1 for node in placed)])
        sections[_name(trace, sections)] = section
    content: dict[str, object] = {
        "title": f"{counted(len(traces), 'trace')} side by side",
        "source": "my own",
        "machine": machine,
        **({"fault": [_inline("--fault", each) for each in faults]} if faults else {}),
        "series": [{"name": SERIES, "traces": sections}],
    }
    return Experiment.from_dict(content, "replay")


def _inline(option: str, text: str, known: Sequence[str] = ()) -> dict[str, object]:
    """The keys and values in an inline table without its braces."""
    try:
        found: dict[str, object] = tomllib.loads(f"x = {{ {text} }}")["x"]
    except tomllib.TOMLDecodeError as error:
        raise UsageError(
            f"{option}: `{text}`: {error}; write for example \"nodes = '16-31', start = '1 ms'\""
        ) from None
    for key in found if known else ():
        if key not in known:
            raise UsageError(
                f"{option}: `{text}`: there is no key `{key}`{did_you_mean(key, known)}:"
                f" {', '.join(known)}"
            )
    return found


def _next(trace: Path, free: int, processes: object) -> str:
    """The nodes behind the first ``free`` ones."""
    ranks = goal_file.read(trace).ranks
    share = processes if isinstance(processes, int) and processes > 0 else 1
    if ranks % share:
        raise UsageError(
            f"{trace}: {ranks} ranks do not fill nodes of {share}; give its nodes by --at, or other"
            " numbers"
        )
    return f"{free}-{free + ranks // share - 1}" if ranks > share else str(free)


def _name(trace: Path, taken: Mapping[str, object]) -> str:
    """A trace's name in tables: the file's name, with a number if another trace has it."""
    stem = (
        "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in trace.stem)
        or "trace"
    )
    return next(
        name
        for name in (stem, *(f"{stem}-{count}" for count in range(2, 10**6)))
        if name not in taken
    )
