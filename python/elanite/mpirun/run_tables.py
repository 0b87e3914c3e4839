"""Run tables on the disk: ``DIR/mpirun/<id>/``, written as the store writes points.

A run is not a point: its description alone does not give its results, because a program takes part
in it. So a run's identity depends on its options *and* on its results. The same command, if
repeatable, finds the same folder; different results are kept beside each other.
"""

from __future__ import annotations

import hashlib
import json
import shlex
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NotRequired, TypedDict

from elanite import _core
from elanite.errors import UsageError
from elanite.store import Store, empty, is_own, keep, read, versions

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import polars as pl

    from elanite.figures import Figure
    from elanite.mpirun.session import Run
    from elanite.results.congestion import Matrix

TABLES = ("messages", "calls", "ranks", "links", "faults", "series")
FOLDER = "mpirun"
_LAYOUT = 2
_UNSEALED = 1


class KeptOptions(TypedDict):
    """A kept run's options, as far as they are read here."""

    ranks: int
    network: NotRequired[str]


class RunManifest(TypedDict):
    """The manifest of a kept run or replay, as far as it is read here."""

    id: str
    program: NotRequired[list[str]]
    trace: NotRequired[str]
    machine: str
    options: KeptOptions
    time_us: float
    point: dict[str, object]
    files: dict[str, object]


def write(run: Run, out: Path, times: Mapping[str, object]) -> Path:
    """Keep a finished run below ``out``; returns its folder."""
    folder = out / FOLDER
    Store(folder).clean()
    asked = {
        "program": list(run.words),
        "machine": run.cluster.name,
        "overrides": list(run.cluster.overrides),
        "options": json.loads(run.options.as_json(list(run.placement))),
        **({"faults": list(run.options.faults)} if run.options.faults else {}),
        "mpi": run.mpi.kind,
        "digest": run.summary["digest"],
    }
    content = json.dumps([asked, run.cluster.parameters, _core.MODEL_REVISION], sort_keys=True)
    identity = hashlib.sha256(content.encode()).hexdigest()[:20]
    data = {
        "layout": _LAYOUT,
        "id": identity,
        **asked,
        "mpi": {"kind": run.mpi.kind, "version": run.mpi.version},
        **{key: value for key, value in run.summary.items() if key != "digest"},
        "repeatable": not run.unrepeatable,
        "why": run.unrepeatable,
        "exit_code": run.ended.exit_code,
        "files": {},
        "versions": versions(),
        "point": json.loads(run.cluster.point),
        "times": {**times, "host_seconds": round(run.host_seconds, 6)},
    }
    if not is_own(folder, identity):
        keep(folder, identity, {name: run.tables[name] for name in TABLES}, data)
    return folder / identity


@dataclass(frozen=True)
class KeptRun:
    """A run on the disk."""

    folder: Path
    manifest: RunManifest = field(repr=False)

    @classmethod
    def load(cls, folder: Path, *, replays: bool = False) -> KeptRun:
        """The run in a folder that ``write`` has written; with ``replays`` also one from
        ``replay.keep``.

        Raises ``UsageError`` if the folder has no undamaged run.
        """
        manifest = read(folder, _LAYOUT, _UNSEALED, RunManifest)
        of = {"program", *(("trace",) if replays else ())}
        if (
            manifest is not None
            and manifest.keys() & of
            and manifest.keys() >= {"point", "time_us"}
        ):
            return cls(folder, manifest)
        if (folder / "manifest.json").is_file():
            raise UsageError(
                f"{folder} is not a folder of a run, or is damaged; run the program again"
            )
        raise UsageError(
            f"{folder} is not a folder of a run; elanite mpirun prints the folder of each run"
        )

    def table(self, name: str) -> pl.DataFrame:
        """One of the ``TABLES``; runs that were kept before machines had faults lack some."""
        import polars as pl

        if name == "faults" and f"{name}.parquet" not in self.manifest["files"]:
            return empty(name)
        return pl.read_parquet(self.folder / f"{name}.parquet")

    def congestion(self) -> Matrix:
        """Where packets waited in the whole run."""
        from elanite.results import congestion

        window = (0.0, self.manifest["time_us"])
        point = json.dumps(self.manifest["point"])
        links, faults = self.table("links"), self.table("faults")
        return congestion.of_tables(point, links, empty("slices"), window, 0, faults)

    def figures(self) -> list[Figure]:
        """The congestion matrix as pictures: one for delays, one for waits."""
        from elanite.figures import matrix

        words = shlex.join(self.manifest.get("program", []))
        return matrix.draw(
            self.congestion(), self.manifest["id"][:8], f"Congestion matrix: {words}"
        )
