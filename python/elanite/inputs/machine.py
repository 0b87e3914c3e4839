"""A machine description as a Python object: its parameters, with their provenance, and the file
that gives them.
"""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from elanite import _core
from elanite.base import html, whole
from elanite.errors import UsageError
from elanite.inputs import graphs, sources, toml

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping, Sequence

    from elanite.inputs.contents import MachineFile, SourceRange
    from elanite.inputs.graphs import Graph
    from elanite.inputs.sources import Source


@dataclass(frozen=True)
class Parameter:
    """One machine parameter, with its provenance."""

    key: str
    """Section and name: ``link.rate``."""
    value: object
    """Quantities are texts with their units."""
    source: str
    """The document and section that give the value, or how it was found."""
    fitted_to: tuple[str, ...] = ()
    """The claims to which it was fitted; the scoreboard marks them."""
    admissible: SourceRange | None = None
    """The range that its source leaves open: ``low``, ``high`` and ``source``, the words that do
    so.
    """

    @property
    def provenance(self) -> str:
        """The source, with the range that it leaves open."""
        if self.admissible is None:
            return self.source
        low, high, words = (
            self.admissible["low"],
            self.admissible["high"],
            self.admissible["source"],
        )
        return f"{self.source}; {low} to {high} are admissible: {words}"


@dataclass(frozen=True)
class Machine:
    """A machine description. ``Machine.load`` reads one; ``parameters`` are its resolved values."""

    name: str
    title: str
    parameters: tuple[Parameter, ...] = field(repr=False)
    file: Source = field(repr=False)
    overrides: tuple[str, ...] = ()
    layers: int | None = field(default=None, repr=False)
    """Channel classes that end deadlocks on a graph's shortest ways; ``None`` with other ways."""

    @classmethod
    def load(cls, name: str | Path, overrides: Sequence[str] = ()) -> Machine:
        """Load a shipped machine by name, or a machine file by path, with ``key=value`` overrides.

        Raises ``UsageError`` if there is no such file, and ``ConfigError`` if the file is wrong.
        """
        return cls.of(sources.read("machine", name), overrides)

    @classmethod
    def of(cls, file: Source, overrides: Sequence[str] = ()) -> Machine:
        """Make a machine from a text that was read already."""
        data: MachineFile = json.loads(_core.load_machine(file.text, file.file, list(overrides)))
        parameters = tuple(
            Parameter(
                p["key"],
                p["value"],
                p["source"],
                tuple(p.get("fitted_to") or ()),
                p.get("admissible"),
            )
            for p in data["parameters"]
            if not p["key"].startswith("machine.")  # its name and title
        )
        return cls(
            data["name"], data["title"], parameters, file, tuple(overrides), data.get("layers")
        )

    def with_(self, changes: Mapping[str, object], name: str | None = None) -> Machine:
        """The same machine with other values:
        ``machine.with_({"link.rate": "800 MB/s", "topology.nodes": 128})``.

        Quantities are texts with their units. The name, which distinguishes machines side by side,
        lists the changes unless another one is given. Raises ``ConfigError`` for a wrong key or
        value.
        """
        texts = [
            f"{key}={new if isinstance(new, str) else toml.value(new, key)}"
            for key, new in changes.items()
        ]
        changed = Machine.of(self.file, [*self.overrides, *texts])
        return replace(changed, name=name or ", ".join([self.name, *texts]))

    def with_graph(
        self,
        graph: Graph | Iterable[Sequence[Hashable]],
        name: str,
        *,
        routes: Mapping[object, Mapping[object, object]] | None = None,
        hop_classes: int | None = None,
        terminals: int | None = None,
        roots: Sequence[object] = (),
        routing: str | None = None,
        ways: int | None = None,
        source: str = "a graph made in Python",
    ) -> Machine:
        """The same machine with another network: any graph, by another name.

        ``graph`` is a networkx graph, or a list of edges between switches; parallel edges are
        several cables. Vertices have the data ``kind``, "node" or "switch", or all lack it and each
        switch has ``terminals`` nodes.

        ``routes`` are forwarding tables, ``routes[switch][destination]``: the next switch, or a
        list of switches with equal choice. A destination is a node, or a switch for its nodes
        without a separate entry. Without tables, packets take up*/down* routing with the ``roots``
        at the top, or those ways that ``routing`` names: "minimal", "valiant", "ugal-local", or
        "k-shortest" with the number of ``ways`` between two switches. With ``hop_classes`` packets
        on the tables' ways take another channel class on each link between switches, which ends
        circles of packets that wait for each other.

        Commands that reproduce points name the file ``<name>.toml``, which ``save`` writes. Raises
        ``UsageError`` for a wrong graph or incomplete tables, and ``ConfigError`` if they may
        deadlock or do not fit the machine.
        """
        content = tomllib.loads(self.file.text)
        topology = graphs.section(
            graph, routes, terminals, roots, hop_classes, routing, ways, source
        )
        content |= {"machine": content["machine"] | {"name": name}, "topology": topology}
        file = f"{name}.toml"
        kept = [each for each in self.overrides if not each.startswith("topology.")]
        return Machine.of(sources.Source("machine", name, file, file, toml.machine(content)), kept)

    def save(self, path: str | Path) -> Machine:
        """Write the machine's file, without the overrides, and return the machine in this file."""
        whole.write(Path(path), self.file.text, UsageError)
        return Machine.load(path, self.overrides)

    def _repr_html_(self) -> str:
        rows = [
            (each.key, toml.value(each.value, each.key), each.source) for each in self.parameters
        ]
        parameters = html.table(("parameter", "value", "source"), rows)
        return html.block(
            f"Machine {self.name}",
            html.line(self.title),
            html.folded(html.count(len(rows), "parameter"), parameters),
        )

    def __getitem__(self, key: str) -> object:
        """A parameter's value: ``machine["link.rate"]``."""
        for parameter in self.parameters:
            if parameter.key == key:
                return parameter.value
        keys = [parameter.key for parameter in self.parameters]
        raise KeyError(f"{self.name} has no parameter {key}{sources.did_you_mean(key, keys)}")
