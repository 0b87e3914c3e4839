"""JSON schemas for files, as far as key lists need them."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from collections.abc import Mapping

Entry = TypedDict(
    "Entry",
    {
        "type": str,
        "description": str,
        "properties": "Mapping[str, Entry]",
        "items": "Entry",
        "additionalProperties": "bool | Entry",
        "anyOf": "list[Entry]",
        "enum": "list[str]",
        "$ref": str,
        "$defs": "Mapping[str, Entry]",
    },
    total=False,
)
"""A schema, or a key's schema."""


def resolved(entry: Entry, schema: Entry) -> Entry:
    """An entry without references and without the alternative ``null``."""
    for one in entry.get("anyOf", ()):
        if one.get("type") != "null":
            return resolved(one, schema)
    if "$ref" in entry:
        return resolved(schema["$defs"][entry["$ref"].rsplit("/", 1)[-1]], schema)
    return entry
