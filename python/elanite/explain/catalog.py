"""Lists for people: machines, experiments, claims, parameters and figures, as rows."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from elanite import _core
from elanite.base.schema import resolved
from elanite.base.text import duration, plain
from elanite.campaign.cost import CostModel
from elanite.inputs import sources
from elanite.inputs.plan import plan
from elanite.validation.cells import published
from elanite.validation.claims import claims

if TYPE_CHECKING:
    from collections.abc import Iterator

    from elanite.base.schema import Entry
    from elanite.inputs.contents import MachineFile
    from elanite.inputs.sources import Source
    from elanite.store import Store

WHAT = ("machines", "experiments", "claims", "parameters", "figures")
"""Listable topics."""

Row = dict[str, str]

_PANEL = re.compile(r"\{[^{}]*\}")


def machines() -> list[Row]:
    """The shipped machines: nodes, parameters, title."""
    found = []
    for name in sources.shipped("machine"):
        machine = _machine(name)
        values = {one["key"]: one["value"] for one in machine["parameters"]}
        nodes = values["topology.nodes"]
        found.append({"machine": name, "nodes": f"{nodes:,}", "title": machine["title"]})
    return found


def experiments(store: Store) -> list[Row]:
    """The shipped experiments: points, expected processor time, claims, title."""
    model = CostModel.learn(store)
    found = []
    for name in sources.shipped("experiment"):
        planned = plan(sources.read("experiment", name))
        decided = sum(claim.experiment == name for claim in claims())
        found.append(
            {
                "experiment": name,
                "points": str(len(planned.points)),
                "processor time": duration(model.total(planned.points)),
                "claims": str(decided or ""),
                "title": planned.title,
            }
        )
    return found


def claimed() -> list[Row]:
    """The claims: role with rank, published figure, experiment, statement."""
    return [
        {
            "claim": claim.id,
            "role": claim.standing,
            "published": published(claim),
            "experiment": claim.experiment,
            "says": claim.says,
        }
        for claim in claims()
    ]


def parameters() -> list[Row]:
    """The parameters in machine files: value in the first machine that has one, and each one's
    meaning.
    """
    return [
        {"parameter": one.key, "value": one.example, "meaning": one.text}
        for one in every_parameter()
    ]


def sections() -> dict[str, str]:
    """Each machine file section's meaning."""
    schema = json.loads(_core.schema("machine"))
    return {
        name: words_of(entry) or words_of(resolved(entry, schema))
        for name, entry in schema["properties"].items()
    }


def figures() -> list[Row]:
    """The shipped experiments' figures."""
    found = []
    for name in sources.shipped("experiment"):
        source = sources.read("experiment", name)
        about = json.loads(_core.load_experiment(source.text, source.file, []))
        found += [
            {
                "experiment": name,
                # A figure for each panel: its letter and values are known when it is drawn.
                "figure": _PANEL.sub("*", one["name"]),
                "published as": _PANEL.sub("*", one.get("paper") or ""),
                "title": _PANEL.sub("…", one["title"]),
            }
            for one in about.get("figure", ())
        ]
    return found


@dataclass(frozen=True)
class SchemaParameter:
    """A machine file parameter by the schema."""

    key: str
    text: str
    schema: Entry
    example: str


def _machine(name: str) -> MachineFile:
    return _loaded(sources.read("machine", name))


def _loaded(source: Source) -> MachineFile:
    found: MachineFile = json.loads(_core.load_machine(source.text, source.file, []))
    return found


@cache
def every_parameter() -> tuple[SchemaParameter, ...]:
    """The machine file parameters, from the schema, with a value from a shipped machine."""
    return tuple(_parameters())


def _parameters() -> Iterator[SchemaParameter]:
    schema: Entry = json.loads(_core.schema("machine"))
    values: dict[str, object] = {}
    for name in sources.shipped("machine"):
        for stated in _machine(name)["parameters"]:
            values.setdefault(stated["key"], stated["value"])
    for section, entry in schema["properties"].items():
        for key, one in fields_of(resolved(entry, schema), schema):
            path = f"{section}.NAME.{key}" if section == "noise" else f"{section}.{key}"
            shown = values.get(path)
            yield SchemaParameter(path, words_of(one), one, plain(shown))


def fields_of(entry: Entry, schema: Entry) -> list[tuple[str, Entry]]:
    """A section's keys: in a table, in a list's entries, or in tables with free names."""
    if "items" in entry:
        entry = resolved(entry["items"], schema)
    named = entry.get("additionalProperties")
    if isinstance(named, dict):
        entry = resolved(named, schema)
    return [(key, _described(one, schema)) for key, one in entry.get("properties", {}).items()]


def _described(entry: Entry, schema: Entry) -> Entry:
    """A key with its type resolved, and its own description."""
    return resolved(entry, schema) | {"description": entry.get("description", "")}


def words_of(entry: Entry) -> str:
    """The description in a schema, on one line."""
    return " ".join(entry.get("description", "").split())
