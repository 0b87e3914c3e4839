"""Machine files with other values than those that they were read from.

A machine is written as one table for each section, with one line for each parameter; comments in
its original file are lost. The written file is read again and compared before use.
"""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING

from elanite.inputs import toml
from elanite.inputs.machine import Machine
from elanite.inputs.sources import Source

if TYPE_CHECKING:
    from collections.abc import Mapping

GIVEN = "given on the command line"
"""The provenance of a value from an override."""


def rewritten(
    machine: Machine,
    values: Mapping[str, tuple[str, str]],
    name: str,
    notes: Mapping[str, str] | None = None,
) -> Machine:
    """A machine with other values, each with its source, and with the machine's overrides; by
    another name.

    ``notes``: by parameter that keeps its value, a text to add to its source. Raises
    ``ConfigError`` if the machine refuses a value.
    """
    content = tomllib.loads(machine.file.text)
    own = {each.key: each.value for each in machine.parameters}
    changed = {change.partition("=")[0].strip() for change in machine.overrides}
    given = {key: (value, GIVEN) for key, value in own.items() if key in changed}
    chosen = Machine.of(
        machine.file,
        [*machine.overrides, *(f"{key}={value}" for key, (value, _) in values.items())],
    )
    sources = given | {key: (chosen[key], source) for key, (_, source) in values.items()}
    for key, (value, source) in sources.items():
        section, last = _place(content, key)
        section[last] = (
            {"value": value, "source": source} if not key.startswith("fabric.") else value
        )
    for each in machine.parameters:
        if note := (notes or {}).get(each.key):
            section, last = _place(content, each.key)
            _, source = sources.get(each.key, (None, each.source))
            stated = section.get(last)
            others = stated if isinstance(stated, dict) else {}
            section[last] = {**others, "value": each.value, "source": f"{source}; {note}"}
    content["machine"] = content["machine"] | {"name": name}
    text = (
        f"# Made from {machine.name}: values with other sources are those of that"
        f" machine.\n\n{toml.machine(content)}"
    )
    written = Machine.of(Source("machine", name, f"{name}.toml", f"{name}.toml", text))
    expected = {each.key: each.value for each in chosen.parameters}
    found = {each.key: each.value for each in written.parameters}
    if found != expected:
        wrong = sorted(
            key for key in expected.keys() | found.keys() if expected.get(key) != found.get(key)
        )
        raise AssertionError(f"a machine file that was written differs in {', '.join(wrong)}")
    return written


def _place(content: dict[str, object], key: str) -> tuple[dict[str, object], str]:
    """A parameter's table, and its name there."""
    *path, last = key.split(".")
    section = content
    for step in path:
        below = section.setdefault(step, {})
        if not isinstance(below, dict):
            raise TypeError(f"{key}: {step} is not a table")
        section = below
    return section, last
