"""Words that the shell offers: file names, option keys, and values.

A completion returns words with the incomplete word as their beginning. It reads no results. A wrong
file yields no words; the command reports the mistake.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from typer import Context  # noqa: TC002 - typer reads the annotation

from elanite.errors import ElaniteError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from elanite.base.schema import Entry
    from elanite.inputs.plan import Plan
    from elanite.inputs.sources import Kind


def experiments(incomplete: str) -> list[str]:
    """Shipped experiment names."""
    return _shipped("experiment", incomplete)


def machines(incomplete: str) -> list[str]:
    """Shipped machine names."""
    return _shipped("machine", incomplete)


def files(incomplete: str) -> list[str]:
    """Shipped machine and experiment names."""
    return machines(incomplete) + experiments(incomplete)


def meanings(incomplete: str) -> list[str]:
    """Parameter and claim names."""
    from elanite.explain import catalog

    keys = [row["parameter"] for row in catalog.parameters()] + [
        row["claim"] for row in catalog.claimed()
    ]
    return _beginning(keys, incomplete)


def keys(incomplete: str) -> list[str]:
    """Keys of machine and experiment files, as ``--set`` takes them."""
    from elanite import _core

    found = [
        f"{key}="
        for kind in ("machine", "experiment")
        for key in _keys(json.loads(_core.schema(kind)))
    ]
    return _beginning(found, incomplete)


def claims(incomplete: str) -> list[str]:
    """Claim names."""
    from elanite.validation.claims import claims as published

    return _beginning((claim.id for claim in published()), incomplete)


def metrics(incomplete: str) -> list[str]:
    """Metric names."""
    from elanite.results.metrics import MEANINGS

    return _beginning(MEANINGS, incomplete)


def links(incomplete: str) -> list[str]:
    """Names of current links."""
    from elanite.inputs.links import LINKS

    return _beginning(LINKS, incomplete)


def jobs(incomplete: str) -> list[str]:
    """Patterns of ``--job``, once it has a node count."""
    from elanite.traces.patterns import NAMES

    nodes, colon, _ = incomplete.partition(":")
    return (
        _beginning((f"{nodes}:{name}" for name in NAMES), incomplete)
        if colon and nodes.isdecimal()
        else []
    )


def tables(incomplete: str) -> list[str]:
    """The point tables."""
    from elanite.store import TABLES

    return _beginning(TABLES, incomplete)


def series(context: Context, incomplete: str) -> list[str]:
    """Series names from the experiment that the command names."""
    planned = _planned(context)
    return (
        _beginning(dict.fromkeys(each.series for each in planned.points), incomplete)
        if planned
        else []
    )


def conditions(context: Context, incomplete: str) -> list[str]:
    """Point parameters from the experiment that the command names, with their values once a key is
    complete.
    """
    from elanite.base.text import plain

    planned = _planned(context)
    points = planned.points if planned else ()
    named, equals, _ = incomplete.partition("=")
    if not equals:
        return _beginning((f"{key}=" for point in points for key in point.parameters), incomplete)
    values = (point.parameters[named] for point in points if named in point.parameters)
    return _beginning((f"{named}={plain(value)}" for value in values), incomplete)


def _planned(context: Context) -> Plan | None:
    from elanite.inputs import sources
    from elanite.inputs.plan import plan

    # The option without a value ends the parsing before words become arguments.
    named = context.params.get("experiment") or next(iter(context.args), None)
    if not isinstance(named, str):
        return None
    try:
        return plan(sources.read("experiment", named))
    except (ElaniteError, OSError):
        return None


def _keys(schema: Entry) -> Iterator[str]:
    """The keys in all sections that are one table."""
    from elanite.base.schema import resolved

    for section, entry in schema["properties"].items():
        table = resolved(entry, schema)
        own = table.get("properties", {})
        yield from (f"{section}.{key}" for key in own)
        if not own and "items" not in table and "additionalProperties" not in table:
            yield section


def _shipped(kind: Kind, incomplete: str) -> list[str]:
    from elanite.inputs import sources

    return _beginning(sources.shipped(kind), incomplete)


def _beginning(words: Iterable[str], incomplete: str) -> list[str]:
    return [word for word in dict.fromkeys(words) if word.startswith(incomplete)]
