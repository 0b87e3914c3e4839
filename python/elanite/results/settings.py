"""Finished points' inputs: machine and experiment keys, seeds, and the simulator.

A manifest has the whole point, so that two folders can be compared by inputs, too:
``differing_settings`` lists the keys with values that differ between points with the same work.
Keys are as in ``--set``. Value sources and titles are not inputs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from elanite.base.text import plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from elanite.store.manifest import Manifest

ABSENT = "absent"
"""The value for a key that one side lacks."""

MOST = 4
"""Most listed values per side."""


@dataclass(frozen=True)
class Setting:
    """A key with values that differ between two sides."""

    key: str
    a: tuple[str, ...]
    b: tuple[str, ...]

    @property
    def texts(self) -> tuple[str, str]:
        """Both sides' values, the first few of many."""
        first, second = (
            ", ".join(side[:MOST]) + _more(len(side) - MOST) for side in (self.a, self.b)
        )
        return first, second


def differing_settings(
    pairs: Iterable[tuple[Sequence[Manifest], Sequence[Manifest]]],
) -> tuple[Setting, ...]:
    """The keys that differ between the two sides of any pair, with the values from the pairs in
    which they do.
    """
    found: dict[str, tuple[dict[str, None], dict[str, None]]] = {}
    for sides in pairs:
        a, b = (_of_side(side) for side in sides)
        for key in dict.fromkeys([*a, *b]):
            values = [side.get(key, {ABSENT: None}) for side in (a, b)]
            if values[0].keys() != values[1].keys():
                for kept, new in zip(found.setdefault(key, ({}, {})), values, strict=True):
                    kept.update(new)
    return tuple(Setting(key, _ordered(a), _ordered(b)) for key, (a, b) in found.items())


def _ordered(values: Iterable[str]) -> tuple[str, ...]:
    """Whole numbers, such as seeds, by their size; other values in point order."""
    some = tuple(values)
    return tuple(sorted(some, key=int)) if all(one.isdecimal() for one in some) else some


def _of_side(manifests: Sequence[Manifest]) -> dict[str, dict[str, None]]:
    """Each key's values, in point order."""
    found: dict[str, dict[str, None]] = {}
    for manifest in manifests:
        for key, value in _of_point(manifest):
            found.setdefault(key, {})[plain(value) or "none"] = None
    return found


def _of_point(manifest: Manifest) -> Iterator[tuple[str, object]]:
    point = manifest.data["point"]
    sections: Mapping[str, object] = point["machine"]
    for section, keys in sections.items():
        if section == "machine":
            yield "machine", point["machine"]["machine"]["name"]
            continue
        for key, value in keys.items() if isinstance(keys, dict) else [("", keys)]:
            stated = value["value"] if isinstance(value, dict) and "value" in value else value
            yield f"{section}.{key}".rstrip("."), stated
    for workload in point["workload"].values():
        jobs = workload.get("jobs")
        for name, job in jobs.items() if isinstance(jobs, dict) else [("", workload)]:
            begin = f"series.{point['series']}." + (
                f"{name}." if isinstance(jobs, dict) and len(jobs) > 1 else ""
            )
            yield from ((f"{begin}{key}", value) for key, value in job.items())
    faults = point.get("faults", [])
    for place, fault in enumerate(faults):
        begin = f"fault.{place}." if len(faults) > 1 else "fault."
        yield from ((f"{begin}{key}", value) for key, value in fault.items())
    yield from ((f"run.{key}", value) for key, value in point["run"].items())
    yield "seed", point["seed"]
    build = manifest.build
    yield (
        "simulator",
        (
            f"revision {manifest.data['versions'].get('model', '')}, engine"
            f" {build.engine[:12] or 'unknown'}"
        ),
    )


def _more(count: int) -> str:
    return f" and {count} more" if count > 0 else ""
