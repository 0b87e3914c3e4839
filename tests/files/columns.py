"""Tables as the simulator gives them: each column has its type, by the name in polars, and its
values.
"""

from __future__ import annotations

from typing import Any


def columns(rows: list[Any], *names: str) -> dict[str, tuple[str, list[Any]]]:
    return {name: (kind(name), [row[index] for row in rows]) for index, name in enumerate(names)}


def kind(name: str) -> str:
    """The type of a column, by its name in polars."""
    if name in ("from", "to", "kind", "call", "thing", "digest"):
        return "String"
    if name in ("up", "repeatable"):
        return "Boolean"
    if name == "busy" or name.endswith("_us"):
        return "Float64"
    return (
        "UInt32"
        if name in ("link", "level", "source", "destination", "rank", "node", "pid", "id")
        else "UInt64"
    )
