"""Machine files with other values than those that they were read from.

A machine is written as one table for each section, with one line for each parameter; comments of the file that it came
from are lost. What was written is read again and compared before anybody gets it.
"""

from __future__ import annotations

import json
import tomllib
from typing import TYPE_CHECKING, Any

from elanite.inputs.sources import Source
from elanite.library.api import Machine

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

GIVEN = "given on the command line"
"""The provenance of a value that an override gave."""


def rewritten(
    machine: Machine, values: Mapping[str, tuple[str, str]], name: str, notes: Mapping[str, str] | None = None
) -> Machine:
    """A machine with other values, each with its source, and with the overrides of the machine; by another name.

    ``notes``: by parameter that keeps its value, a text to add to its source. Raises ``ConfigError`` if the machine
    refuses a value.
    """
    content = tomllib.loads(machine.file.text)
    own = {each.key: each.value for each in machine.parameters}
    changed = {change.partition("=")[0].strip() for change in machine.overrides}
    given = {key: (value, GIVEN) for key, value in own.items() if key in changed}
    chosen = Machine.of(machine.file, [*machine.overrides, *(f"{key}={value}" for key, (value, _) in values.items())])
    sources = given | {key: (chosen[key], source) for key, (_, source) in values.items()}
    for key, (value, source) in sources.items():
        section, last = _place(content, key)
        section[last] = {"value": value, "source": source} if not key.startswith("fabric.") else value
    for each in machine.parameters:
        if note := (notes or {}).get(each.key):
            section, last = _place(content, each.key)
            _, source = sources.get(each.key, (None, each.source))
            stated = section.get(last)
            others = stated if isinstance(stated, dict) else {}
            section[last] = {**others, "value": each.value, "source": f"{source}; {note}"}
    content["machine"] = content["machine"] | {"name": name}
    text = f"# Made from {machine.name}: values with other sources are those of that machine.\n\n{toml(content)}"
    written = Machine.of(Source("machine", name, f"{name}.toml", f"{name}.toml", text))
    expected = {each.key: each.value for each in chosen.parameters}
    found = {each.key: each.value for each in written.parameters}
    if found != expected:
        wrong = sorted(key for key in expected.keys() | found.keys() if expected.get(key) != found.get(key))
        raise AssertionError(f"a machine file that was written differs in {', '.join(wrong)}")
    return written


def _place(content: dict[str, Any], key: str) -> tuple[dict[str, Any], str]:
    """The table of a parameter, and its name there."""
    *path, last = key.split(".")
    section = content
    for step in path:
        section = section.setdefault(step, {})
    return section, last


def toml(content: Mapping[str, Any]) -> str:
    """A machine as the text of a TOML file."""
    return "\n".join(_tables(content, ())) + "\n"


def _tables(content: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[str]:
    """The lines of a table, and of the tables below it."""
    own = {key: each for key, each in content.items() if not _below(each)}
    if own and path:
        yield f"[{'.'.join(path)}]"
    for key, each in own.items():
        yield f"{key} = {_inline(each)}"
    if own:
        yield ""
    for key, each in content.items():
        if isinstance(each, list) and _below(each):
            for entry in each:
                yield f"[[{'.'.join((*path, key))}]]"
                yield from (f"{name} = {_inline(value)}" for name, value in entry.items())
                yield ""
        elif _below(each):
            yield from _tables(each, (*path, key))


def _below(each: Any) -> bool:
    """Whether a value is a table of its own, and no parameter."""
    if isinstance(each, list):
        return bool(each) and all(isinstance(entry, dict) for entry in each)
    return isinstance(each, dict) and "value" not in each


def _inline(value: Any) -> str:
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{key} = {_inline(each)}' for key, each in value.items())} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(_inline, value))}]"
    if isinstance(value, bool):
        return str(value).lower()
    # Texts of JSON are texts of TOML; so are numbers of Python.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f") if isinstance(value, str) else repr(value)
