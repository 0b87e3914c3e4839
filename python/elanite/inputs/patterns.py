"""Traffic patterns as functions in Python.

A pattern is a function of a node, the nodes of its job and a random generator. It yields the node's
destinations:

    def halves(node, nodes, random):
        yield random.choice(nodes[len(nodes) // 2 :])

    content["series"][0]["jobs"]["load"]["pattern"] = halves

``Experiment.from_dict`` calls the function once for each node in the job, in ascending order, and
keeps the source and destination pairs in the experiment's text. So points, stores, shards and
commands need no function, and the pairs decide a point's identity. A message goes to one of its
node's destinations, drawn by the point's seed; a destination that comes twice is twice as likely. A
node without destinations, or with itself alone, is silent.

Each node has its own generator, seeded by the pattern's seed, its name and the node: one node's
destinations do not depend on another's draws.
"""

from __future__ import annotations

import json
import operator
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from random import Random

from elanite import _core
from elanite.base.foreign import words
from elanite.errors import UsageError

Destinations = Callable[[int, Sequence[int], Random], Iterable[int]]
"""A node's destinations, among its job's nodes."""

MOST = 65_536
"""Most destinations per node: the largest machine's node count."""


@dataclass(frozen=True)
class Pattern:
    """A traffic pattern as a function, with a name for tables and figures, and a seed for its
    draws.
    """

    destinations: Destinations
    name: str = ""
    """The function's name if not given."""
    seed: int = 1
    """The random generators' seed; not the points' seeds, which all have the same pairs."""

    def pairs(self, nodes: Sequence[int], key: str = "pattern") -> dict[str, object]:
        """The pattern as experiment files have it: its name, and source and destination pairs.

        ``key`` is its place in messages. Raises ``UsageError`` if the function fails, or yields no
        nodes.
        """
        name = self.name or getattr(self.destinations, "__name__", "")
        if not name or name == "<lambda>":
            raise UsageError(
                f'{key}: the function has no name: give it one, Pattern(function, name="...")'
            )
        pairs = []
        for node in nodes:
            random = Random(f"{self.seed}/{name}/{node}")  # noqa: S311 - traffic, no secrets
            pairs += [
                [node, to] for to in self._of(node, nodes, f"{key}: {name}({node}, ...)", random)
            ]
        if not pairs:
            raise UsageError(f"{key}: {name} yields no destination for any of {len(nodes)} nodes")
        return {"name": name, "pairs": pairs}

    def _of(self, node: int, nodes: Sequence[int], call: str, random: Random) -> Iterable[int]:
        """A node's destinations, checked."""
        try:
            found = list(islice(self.destinations(node, nodes, random), MOST + 1))
        except Exception as error:
            raise UsageError(
                f"{call} fails: {words(error)}\n  a pattern is a function of a node, the nodes of"
                " the job and a random generator, and yields nodes"
            ) from error
        if len(found) > MOST:
            raise UsageError(f"{call} yields more than {MOST} destinations; end the generator")
        for destination in found:
            try:
                number = operator.index(destination)
            except TypeError:
                number = -1
            if number < 0 or isinstance(destination, bool):
                raise UsageError(
                    f"{call} yields {destination!r}, which is not a node number: 0 or more"
                )
            yield number


def evaluated(content: Mapping[str, object]) -> dict[str, object]:
    """An experiment's content with pairs in place of functions.

    Raises ``UsageError`` if a function fails, or its job's nodes are not known.
    """
    series = content.get("series")
    if not isinstance(series, list | tuple):
        return dict(content)
    return {
        **content,
        "series": [_of_series(each, f"series.{number}") for number, each in enumerate(series)],
    }


def _of_series(series: object, path: str) -> object:
    jobs = series.get("jobs") if isinstance(series, Mapping) else None
    if not isinstance(series, Mapping) or not isinstance(jobs, Mapping):
        return series
    path = f"series.{series.get('name', path.rpartition('.')[2])}.jobs"
    return {**series, "jobs": {name: _of_job(job, f"{path}.{name}") for name, job in jobs.items()}}


def _of_job(job: object, path: str) -> object:
    pattern = job.get("pattern") if isinstance(job, Mapping) else None
    given: list[object] = list(pattern) if isinstance(pattern, list | tuple) else [pattern]
    if not isinstance(job, Mapping) or not any(
        isinstance(each, Pattern) or callable(each) for each in given
    ):
        return job
    nodes = _core.nodes(json.dumps(job.get("nodes"), default=str))
    if nodes is None:
        raise UsageError(
            f"{path}.pattern: a function needs the nodes of the job, and `nodes` is"
            f' {job.get("nodes")!r}\n  write one set of nodes, such as 16 or "0-31"; for several'
            " sets, write a series for each"
        )
    found = [_pairs(each, nodes, f"{path}.pattern") for each in given]
    return {**job, "pattern": found[0] if pattern is given[0] else found}


def _pairs(pattern: object, nodes: Sequence[int], key: str) -> object:
    if isinstance(pattern, Pattern):
        return pattern.pairs(nodes, key)
    return Pattern(pattern).pairs(nodes, key) if callable(pattern) else pattern


def files(text: str) -> Iterator[str]:
    """The pair files that an experiment file names as patterns, and its flow and trace files."""

    def walk(value: object, *keys: str) -> Iterator[str]:
        if isinstance(value, dict):
            for name, each in value.items():
                yield from walk(each, *keys[-2:], name)
        elif isinstance(value, list):
            for each in value:
                yield from walk(each, *keys)
        elif isinstance(value, str) and keys:
            pairs = keys[-1] == "pattern" and value.endswith(".csv")
            if pairs or (keys[-1] == "file" and keys[0] in ("flows", "traces")):
                yield value

    try:
        yield from walk(tomllib.loads(text))
    except tomllib.TOMLDecodeError:
        return
