"""Content as text in TOML, so that an experiment may be made from a Python dictionary.

The text is laid out as people write these files: keys first, then ``[tables]`` and
``[[lists of tables]]``. The simulator reads the text as it reads any file. So mistakes in the
content are reported in the same words, with a line in this text.

No library: ``tomlkit`` takes 1.5 s of processor time for a pattern with 4,096 pairs, which take 5
ms here, and names no key in its errors.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

from elanite.base.rows import section
from elanite.errors import UsageError


def text(content: Mapping[str, object]) -> str:
    """The content as a TOML file. Raises ``UsageError`` if TOML lacks a value, such as ``None``."""
    return "\n".join(_lines(content, ())).lstrip("\n") + "\n"


def value(content: object, key: str = "") -> str:
    """A value on one line. ``key`` is its name in errors."""
    match content:
        case bool():
            return "true" if content else "false"
        case int() | float():
            return repr(content)
        case str():
            return json.dumps(content, ensure_ascii=False).replace("\x7f", "\\u007f")
        case list() | tuple():
            return f"[{', '.join(value(each, key) for each in content)}]"
        case Mapping():
            pairs = (
                f"{_key(name)} = {value(each, f'{key}.{name}')}" for name, each in content.items()
            )
            return f"{{ {', '.join(pairs)} }}"
    raise UsageError(
        f"{key}: a {type(content).__name__} is not a value; allowed: text, numbers, booleans,"
        " lists, dictionaries"
    )


def _lines(table: Mapping[str, object], path: tuple[str, ...]) -> list[str]:
    lines, below = [], []
    for name, each in table.items():
        here = (*path, str(name))
        heading = ".".join(map(_key, here))
        if isinstance(each, Mapping):
            below += ["", f"[{heading}]", *_lines(each, here)]
        elif (
            isinstance(each, list | tuple)
            and each
            and all(isinstance(part, Mapping) and part for part in each)
        ):
            for part in each:
                below += ["", f"[[{heading}]]", *_lines(part, here)]
        else:
            lines.append(f"{_key(str(name))} = {value(each, '.'.join(here))}")
    return lines + below


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name, ensure_ascii=False)


def machine(content: Mapping[str, object]) -> str:
    """A machine file: one table for each section, one line for each parameter."""
    return "\n".join(_tables(content, ())) + "\n"


def _tables(content: Mapping[str, object], path: tuple[str, ...]) -> Iterator[str]:
    """The lines of a table and the tables below it."""
    own = {key: each for key, each in content.items() if not _is_table(each)}
    if own and path:
        yield f"[{'.'.join(path)}]"
    for key, each in own.items():
        yield f"{key} = {value(each, key)}"
    if own:
        yield ""
    for key, each in content.items():
        if isinstance(each, list) and _is_table(each):
            for entry in each:
                yield f"[[{'.'.join((*path, key))}]]"
                yield from (f"{name} = {value(each, name)}" for name, each in entry.items())
                yield ""
        elif _is_table(each):
            yield from _tables(section(each), (*path, key))


def _is_table(each: object) -> bool:
    """Whether a value is a separate table, and not a parameter."""
    if isinstance(each, list):
        return bool(each) and all(isinstance(entry, dict) for entry in each)
    return isinstance(each, dict) and "value" not in each
