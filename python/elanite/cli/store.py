"""The commands that look after stores: list, verify, gc, merge, export."""

from __future__ import annotations

import json
import math
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from elanite.base import host
from elanite.cli.common import (
    OUT,
    DryRun,
    Jobs,
    TableFormat,
    console,
    data,
    say,
    table,
    warn_if_stale,
)
from elanite.cli.parser import CommandGroup
from elanite.cli.request import Request, declare

if TYPE_CHECKING:
    from collections.abc import Callable

    from elanite.store import Store

HELP = """Check, clean, merge and export stores of finished points.

\b
Examples:
  elanite store list                    points by experiment, running ones too
  elanite store verify --store results  check every point
  elanite store verify --again 1%       simulate a hundredth of them again
  elanite store gc --outdated           remove leftovers and older models
  elanite store merge out-1 out-2 --into out    one store of several
  elanite store export points.parquet   all points as one table

A store is named by the folder that --out names in other commands, by the folder of the store
itself, or by a URL such as s3://bucket/store (pip install fsspec, and the package for the URL, such
as s3fs).
"""

store_app = typer.Typer(
    cls=CommandGroup, name="store", help=HELP, no_args_is_help=True, rich_markup_mode=None
)


At = Annotated[
    str,
    typer.Option(
        "--store", metavar="STORE", help="A folder of results, the folder of a store, or a URL."
    ),
]
DEFAULT = str(OUT)


def opened(name: str, *, new: bool = False) -> Store:
    """The store that a folder or URL names.

    Raises ``UsageError`` if there is none, unless it may be a ``new`` one.
    """
    from elanite.errors import UsageError
    from elanite.store import Store

    if "://" in name:
        return Store.open(name)
    folder = Path(name)
    inner = folder / "store"
    if inner.is_dir():
        return Store(inner)
    if folder.is_dir() and (folder.name == "store" or any(folder.glob("[!.]*/manifest.json"))):
        return Store(folder)
    if new:
        return Store(inner)
    raise UsageError(
        f"there is no store in {name}: neither {inner} nor folders of points are there"
    )


@dataclass(frozen=True, kw_only=True)
class ListStore(Request):
    """List the points of a store by experiment and model revision.

    \b
    Examples:
      elanite store list
      elanite store list --store results --format json

    The command shows, too, which points are claimed, and how many folders are unfinished: by
    running campaigns, or by killed ones.
    """

    verb: ClassVar[str] = "store list"

    store: At = DEFAULT
    format_: Annotated[
        TableFormat, typer.Option("--format", "-f", help="How to print the list.")
    ] = TableFormat.TABLE

    def execute(self) -> None:
        """Run the command."""
        from dataclasses import asdict

        from elanite.base import build
        from elanite.store import upkeep

        found = upkeep.listing(opened(self.store))
        if self.format_ is TableFormat.JSON:
            data(json.dumps(asdict(found), indent=1))
            return
        shown = table(
            ("experiment", "model", "points", "CPU-seconds", "packets"),
            right=("points", "CPU-seconds", "packets"),
        )
        for group in found.groups:
            shown.add_row(
                group.experiment,
                str(group.revision),
                f"{group.points:,}",
                f"{group.cpu_seconds:,.1f}",
                f"{group.packets:,}",
            )
        console().print(shown)
        if note := build.note(found.builds):
            say(note)
        for identity, holder in found.claims:
            say(f"{identity} is claimed by {holder}")
        if found.unfinished:
            say(f"unfinished folders: {len(found.unfinished)}")
        if found.damaged:
            say(f"damaged folders: {found.damaged}; `elanite store verify` names them")


@dataclass(frozen=True, kw_only=True)
class Verify(Request):
    """Compare files with their checksums, points with their identities, and tables with their
    digests.

    \b
    Examples:
      elanite store verify --store results
      elanite store verify --again 1%

    The command names damaged folders, and folders with other results than they claim, with the
    reasons; the exit code is 1 if there are any. The next campaign that needs a damaged point
    simulates it again; remove the other folders. The last lines name the builds that have computed
    the points.

    A point has a checksum of its digest and tables together. --again computes all digests from the
    tables, too, and simulates some of the points again and compares all of their results. Only this
    detects a point that was changed together with its checksums and digest.
    """

    verb: ClassVar[str] = "store verify"

    store: At = DEFAULT
    again_: Annotated[
        str | None,
        typer.Option(
            "--again",
            metavar="N|P%",
            help="Simulate N points, or P% of all, again and compare the results.",
        ),
    ] = None
    seed: Annotated[
        int, typer.Option("--seed", min=0, metavar="N", help="Seed of the random choice of points.")
    ] = 1
    jobs: Jobs = None

    def execute(self) -> None:
        """Run the command."""
        from elanite.base import build
        from elanite.cli.progress import Counts
        from elanite.store import upkeep

        found = opened(self.store)
        wanted = number(self.again_) if self.again_ is not None else None
        with Counts("verifying") as counts:
            verified = upkeep.verify(found, digests=wanted is not None, progress=counts)
        for identity, reason in verified.wrong:
            data(f"{found.place.name}/{identity}: {reason}")
        say(
            f"sound points: {len(verified.sound):,}; damaged or false folders:"
            f" {len(verified.wrong):,}"
        )
        for reason, many in verified.unconfirmed.items():
            say(f"not confirmed, only compared with their checksums: {many:,}; {reason}")
        if note := build.note(verified.builds):
            say(note)
        differing = (
            _resimulated(found, verified.sound, wanted(len(verified.sound)), self.seed, self.jobs)
            if wanted is not None
            else []
        )
        for identity, reason in differing:
            data(f"{found.place.name}/{identity}: {reason}")
        if verified.wrong or differing:
            raise typer.Exit(1)


def _resimulated(
    store: Store, sound: list[str], wanted: int, seed: int, jobs: int | None
) -> list[tuple[str, str]]:
    """Simulate a sample of a store's sound points again; returns those that differ, with the
    reasons.
    """
    from elanite.cli.progress import Counts
    from elanite.store import checks

    chosen = checks.sample(sound, wanted, seed)
    warn_if_stale()
    say(f"simulating again: {len(chosen):,} of {len(sound):,} points")
    with Counts("simulating again") as counts:
        compared = checks.resimulate(store.place, chosen, jobs or host.processors(), counts)
    say(f"simulated again: {compared.points:,}; with other results: {len(compared.differing):,}")
    return compared.differing


def number(wanted: str) -> Callable[[int], int]:
    """The point count that ``--again`` requests, from the total: a count, or a percentage, rounded
    up.
    """
    from elanite.errors import UsageError

    text = wanted.strip()
    try:
        if text.endswith("%"):
            percent = float(text[:-1])
            if 0 < percent <= 100:
                return lambda all_: math.ceil(all_ * percent / 100)
        elif (count := int(text)) > 0:
            return lambda all_: min(count, all_)
    except ValueError:
        pass
    raise UsageError(
        f"--again: `{wanted}` is neither a number of points nor a percentage such as 1% or 100%"
    )


@dataclass(frozen=True, kw_only=True)
class Gc(Request):
    """Remove leftovers of killed campaigns, and unneeded points.

    \b
    Examples:
      elanite store gc
      elanite store gc --outdated --dry-run
      elanite store gc --unknown --known my-experiment

    Unfinished folders and claims are removed if their process has died, or if they have not changed
    for a day (a claim states its own time limit). Everything that a running campaign needs stays,
    whichever host it runs on. With --dry-run, the command lists the points that --outdated and
    --unknown would remove.
    """

    verb: ClassVar[str] = "store gc"

    store: At = DEFAULT
    outdated: Annotated[
        bool, typer.Option("--outdated", help="Remove the points of other model revisions, too.")
    ] = False
    unknown: Annotated[
        bool,
        typer.Option(
            "--unknown", help="Remove the points of experiments that are not shipped, too."
        ),
    ] = False
    known: Annotated[
        list[str] | None,
        typer.Option(
            "--known",
            metavar="EXPERIMENT",
            help="With --unknown: one more known experiment; may be repeated.",
        ),
    ] = None
    dry_run: DryRun = False

    def execute(self) -> None:
        """Run the command."""
        from elanite.errors import UsageError
        from elanite.inputs import sources
        from elanite.store import upkeep

        if self.known and not self.unknown:
            raise UsageError(
                "--known lists the experiments that --unknown keeps; give both options, or neither"
            )
        found = opened(self.store)
        doomed = set(upkeep.outdated(found)) if self.outdated else set()
        if self.unknown:
            names = sources.shipped("experiment") + [
                Path(name).stem if name.endswith(".toml") else name for name in self.known or []
            ]
            doomed |= set(upkeep.unknown(found, names))
        if self.dry_run:
            for identity in sorted(doomed):
                data(f"{found.place.name}/{identity}")
            say(f"points that would be removed: {len(doomed):,}")
            return
        left = found.clean()
        for identity in sorted(doomed):
            found.place.discard(identity)
        say(
            f"removed unfinished folders and claims: {len(left):,}; removed points: {len(doomed):,}"
        )


@dataclass(frozen=True, kw_only=True)
class Merge(Request):
    """Copy the points of several stores into one.

    \b
    Examples:
      elanite store merge out-1 out-2 out-3 out-4 --into out
      elanite store merge s3://bucket/store --into out

    Points are copied byte for byte. Stores with contradictory points are refused before any copy;
    the message names both folders and their builds. So are stores with points that have other
    results than they claim (see `elanite store verify`). Damaged folders are named and not copied,
    and the exit code is then 1.
    """

    verb: ClassVar[str] = "store merge"

    stores: Annotated[
        list[str], typer.Argument(metavar="STORE...", help="The stores to copy from.")
    ]
    into: Annotated[
        str,
        typer.Option("--into", metavar="STORE", help="The store to copy to; created if missing."),
    ]

    def execute(self) -> None:
        """Run the command."""
        from elanite.store import upkeep

        target = opened(self.into, new=True)
        merged = upkeep.merge([opened(name) for name in self.stores], target)
        for folder, reason in merged.damaged:
            data(f"{folder}: {reason}")
        words = f"copied points: {merged.copied:,}; already there: {merged.present:,}"
        say(
            f"{words}; damaged folders, not copied: {len(merged.damaged):,}"
            if merged.damaged
            else words
        )
        if merged.damaged:
            raise typer.Exit(1)


@dataclass(frozen=True, kw_only=True)
class Export(Request):
    """Write one table of all points to one Parquet file.

    \b
    Examples:
      elanite store export points.parquet
      elanite store export links.parquet --table links --store results
      duckdb -c "select experiment, metric, avg(value)
        from 'points.parquet' group by all"

    The file is tidy: one row per point, metric and batch, with the parameters of the point, its
    machine, the model revision, the engine (the fingerprint of the simulator) and the processor
    time. A parameter that a point does not have is null.
    """

    verb: ClassVar[str] = "store export"

    file: Annotated[Path, typer.Argument(metavar="FILE.parquet", help="The file to write.")]
    store: At = DEFAULT
    table_: Annotated[
        str, typer.Option("--table", metavar="TABLE", help="The exported table of the points.")
    ] = "rows"

    def execute(self) -> None:
        """Run the command."""
        from elanite.base import build
        from elanite.results.export import export as write

        points, rows, builds = write(opened(self.store), self.file, self.table_)
        if note := build.note(builds):
            say(f"warning: {note}")
        say(f"{shlex.quote(str(self.file))}: {points:,} points, {rows:,} rows")


declare(store_app, ListStore, Verify, Gc, Merge, Export)
