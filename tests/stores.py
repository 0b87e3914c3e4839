"""Small campaign stores for tests: their content, copies, and points as written by another
program.
"""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import polars as pl

from conftest import SMALL
from elanite.inputs import sources
from elanite.inputs.plan import Plan, plan
from elanite.store import manifest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def contents(out: Path) -> dict[str, bytes]:
    """Every file in a store, without the times in the manifests, which may differ."""
    found = {}
    for path in sorted((out / "store").rglob("*")):
        if path.is_file():
            data = path.read_bytes()
            if path.name == "manifest.json":
                manifest = json.loads(data)
                del manifest["times"]
                data = json.dumps(manifest).encode()
            found[str(path.relative_to(out))] = data
    return found


def small() -> Plan:
    return plan(sources.read("experiment", SMALL))


def copied(folder: Path, to: Path) -> Path:
    """A copy of a campaign's folder."""
    shutil.copytree(folder / "store", to / "store")
    return to


def rewritten(
    store: Path,
    identity: str,
    change: Callable[[dict[str, pl.DataFrame], dict], None],
    *,
    bound: bool = False,
) -> None:
    """A folder with other content, sealed; ``bound``: as a program would that computes something
    else.
    """
    folder = store / identity
    data = json.loads((folder / "manifest.json").read_bytes())
    tables = {path.stem: pl.read_parquet(path) for path in folder.glob("*.parquet")}
    change(tables, data)
    for name, content in manifest.seal(tables, data, bound=bound).items():
        (folder / name).write_bytes(content)


def other_values(tables: dict[str, pl.DataFrame], _: Any) -> None:
    tables["rows"] = tables["rows"].with_columns(pl.col("value") * 2)
