"""YAML and JSON documents, whose mappings know their lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elanite.base.foreign import optional, reading

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import yaml

LINE = "__line__"
"""The key with a mapping's line."""


def loaded(text: str, file: Path) -> object:
    """A YAML or JSON document's content; each mapping has its line under ``LINE``.

    Raises ``UsageError``.
    """
    with optional(f"{file}: YAML needs the package PyYAML: pip install pyyaml"):
        import yaml

    safe: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    lined: type[yaml.SafeLoader] = type("Lined", (safe,), {})  # with its own constructor table
    lined.add_constructor("tag:yaml.org,2002:map", _with_line)
    with reading(file, "it is no YAML", "correct the place"):
        return yaml.load(text, Loader=lined)  # noqa: S506 - the loader is safe


def _with_line(loader: yaml.SafeLoader, node: yaml.MappingNode) -> Iterator[dict[object, object]]:
    """A mapping with its line; it is there before its values, which may refer to it."""
    made: dict[object, object] = {}
    yield made
    made.update({**loader.construct_mapping(node), LINE: node.start_mark.line + 1})
