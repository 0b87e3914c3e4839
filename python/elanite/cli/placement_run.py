"""The experiment behind ``place``: command-line jobs, files in ``out/place``, points, tables and
words.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from elanite.cli.common import Role, console, data
from elanite.cli.results import finish, stop_if_interrupted

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from elanite.campaign import CampaignOutcome
    from elanite.cli.engine import Campaign
    from elanite.cli.request import Request
    from elanite.inputs.plan import Plan, Point
    from elanite.inputs.sources import Source
    from elanite.report.pages.inputs import Inputs
    from elanite.store import Store
    from elanite.study.placements import Placement, PlacementScore, PlacementTrial

MOST_STEPS = 63
"""Most messages per rank, unless the command sets their count."""
MOST_LINKS = 5
"""Shared links that are named on the terminal."""
MOST_TRACE = 1 << 30
"""Most bytes in a user's trace."""
DRAWN = ("packed", "spread")
"""Placements on the page, beside the best one."""


@dataclass(frozen=True)
class JobRequest:
    """A command-line job."""

    name: str
    """Its name in tables."""
    ranks: int
    pattern: str
    """A pattern, or empty."""
    trace: Path | None = None
    """The trace, if the job has one."""


def read(texts: Sequence[str]) -> list[JobRequest]:
    """The ``--job`` jobs. Raises ``UsageError``."""
    from elanite.base import packed
    from elanite.base.text import counted
    from elanite.errors import UsageError
    from elanite.inputs.sources import did_you_mean
    from elanite.traces import goal_file, patterns

    found: list[JobRequest] = []
    for text in texts:
        ranks, colon, what = text.partition(":")
        what = what.strip()
        if not (colon and ranks.isdecimal() and len(ranks) < 7 and what):
            raise UsageError(
                f"--job {text}: this is not NODES:PATTERN\n  for example --job 64:alltoall"
            )
        if int(ranks) < 2:
            raise UsageError(f"--job {text}: messages need two nodes\n  give 2 nodes or more")
        trace = None if patterns.known(what) else Path(what)
        if trace is not None and not trace.is_file():
            raise UsageError(
                f"--job {text}: there is no pattern and no file"
                f" `{what}`{did_you_mean(what, patterns.NAMES)}\n  patterns are"
                f" {', '.join(patterns.NAMES)}; a file is a trace in GOAL"
            )
        if trace and (has := goal_file.read(trace).ranks) != int(ranks):
            raise UsageError(
                f"--job {text}: {counted(has, 'rank')} of {trace} need as many nodes\n  give"
                f" {has}:{trace}"
            )
        base = re.sub(r"[^\w-]+", "-", packed.plain(trace).stem if trace else what)
        base = base.strip("-") or "job"
        names = {job.name for job in found}
        name = next(
            each
            for count in range(1, 1000)
            if (each := base if count == 1 else f"{base}-{count}") not in names
        )
        found.append(JobRequest(name, int(ranks), "" if trace else what, trace))
    return found


@dataclass(frozen=True)
class Terms:
    """The command options that decide its points."""

    message: str
    search: int
    changes: Sequence[str]
    """Machine overrides."""
    seed: int
    out: Path
    engine: Campaign


class Work:
    """The placement experiment: its files, its points and their results."""

    def __init__(
        self,
        request: Request,
        terms: Terms,
        machine: Source,
        jobs: Sequence[JobRequest],
        steps: int,
    ) -> None:
        from elanite.cli.quantities import quantity

        self.request, self.terms, self.machine, self.jobs, self.steps = (
            request,
            terms,
            machine,
            jobs,
            steps,
        )
        self.size = round(quantity("--message", terms.message, "B", "'16 KB' or '1 MB'"))
        words = "-".join(f"{job.ranks}-{job.name}" for job in jobs)
        # Two commands that run at a time have folders of their own, unless they are the same.
        other = json.dumps([self.size, steps, terms.search, *terms.changes, terms.seed])
        mark = hashlib.sha256(f"{words} {other}".encode()).hexdigest()[:8]
        self.folder = terms.out / "place" / f"{f'{machine.name}-{words}'[:90]}-{mark}"
        self.placements: list[Placement] = []
        self._files: dict[str, str] = {}
        self._points: dict[str, Point] = {}

    def costs(self, chosen: Sequence[Placement]) -> None:
        """Print the placements and the expected processor time."""
        from elanite.base.text import counted, duration
        from elanite.study.placements import AT_A_TIME, text

        for each in chosen:
            said = "; ".join(
                f"{job.name} {text(nodes)}"
                for job, nodes in zip(self.jobs, each.nodes, strict=True)
            )
            data(f"{each.name}: {said}")
        more = self.terms.search * AT_A_TIME
        total = len(chosen) + more
        seconds = self.seconds()
        spent = (
            f"about {duration(seconds * total)} of processor time"
            if seconds
            else "the cost of traces is not known"
        )
        data(f"{counted(len(chosen), 'placement')}, and up to {more} of the search: {spent}")

    def seconds(self) -> float:
        """A placement's processor seconds, estimated from replayed patterns; 0 with a user's
        trace.
        """
        from elanite.campaign import cost
        from elanite.mpirun.cluster import Cluster
        from elanite.traces.patterns import messages

        if any(job.trace for job in self.jobs):
            return 0.0
        count = sum(messages(job.pattern, job.ranks, self.steps) for job in self.jobs)
        machine = json.loads(Cluster.of(self.machine, self.terms.changes).point)["machine"]
        # Together, and each job alone.
        return 2 * cost.of_messages(count, count * self.size, machine)

    def tried(
        self, chosen: Sequence[Placement], store: Store
    ) -> tuple[list[PlacementTrial], CampaignOutcome]:
        """Simulate placements."""
        from elanite.errors import UsageError
        from elanite.study.placements import PlacementTrial

        plan = self.plan(chosen)
        outcome = self.terms.engine.run([plan], store, self.terms.out)
        stop_if_interrupted(outcome, self.request.again())
        if outcome.failures:
            finish(outcome, self.request.again(), self.terms.out)
        found = []
        for each, point in zip(chosen, plan.points, strict=True):
            if store.get(point.id) is None:
                raise UsageError(
                    "--shard leaves placements out, and the search needs all of them; leave it out"
                )
            rows = store.table(point.id, "rows")
            values = {
                (row["job"], row["metric"]): row["value"] for row in rows.iter_rows(named=True)
            }
            times = tuple(values[job.name, "time"] for job in self.jobs)
            # One job is alone, and has no second time.
            alone = tuple(
                values.get((job.name, "time_alone"), time)
                for job, time in zip(self.jobs, times, strict=True)
            )
            found.append(PlacementTrial(each, times, alone))
        return found, outcome

    def plan(self, chosen: Sequence[Placement]) -> Plan:
        """These placements' points, in their order; the file has the points of all placements so
        far.
        """
        from elanite.inputs import sources
        from elanite.inputs.plan import plan

        for each in chosen:
            if each not in self.placements:
                self.placements.append(each)
        path = self._written()
        source = sources.read("experiment", str(path))
        changes = list(self.terms.changes)
        whole = plan(source, [self.machine], changes, self.terms.seed)
        self._points |= {point.series: point for point in whole.points}
        return replace(whole, points=tuple(self._points[each.name] for each in chosen))

    def _written(self) -> Path:
        """Write the experiment and the traces."""
        from elanite.base import whole
        from elanite.inputs import toml
        from elanite.study.placements import text
        from elanite.traces import goal_file, patterns

        whole.folder(self.folder)
        if not self._files:
            for job in self.jobs:
                self._files[job.name] = f"{job.name}.goal"
                if job.trace is None:
                    lines = patterns.program(
                        job.pattern, job.ranks, self.steps, self.size, self.terms.seed
                    )
                    trace = "".join(lines).encode()
                else:
                    trace = goal_file.plain(job.trace, MOST_TRACE)
                whole.write(self.folder / self._files[job.name], trace)
        series = [
            {
                "name": each.name,
                "title": f"Placement {each.name}",
                "traces": {
                    job.name: {"file": self._files[job.name], "nodes": text(nodes)}
                    for job, nodes in zip(self.jobs, each.nodes, strict=True)
                },
            }
            for each in self.placements
        ]
        words = ", ".join(f"{job.ranks} nodes of {job.name}" for job in self.jobs)
        content = {
            "title": f"Placements of {words}",
            "source": "my own",
            "machine": _machine_name(self.machine, self.folder),
            "series": series,
        }
        path = self.folder / "place.toml"
        whole.write(path, toml.text(content))
        return path

    def inputs(self, written: Sequence[str]) -> Inputs:
        """The page's inputs: the machine, and the user's traces."""
        from elanite.report.pages.files import CommandFiles

        files = CommandFiles()
        named = files.source(self.machine)
        jobs = [
            f"{job.ranks}:{files.path(job.trace) if job.trace else job.pattern}"
            for job in self.jobs
        ]
        words = self.request.words(Role.INPUT, Role.RESULT, machine=named, job=jobs)
        return files.inputs(["elanite", self.request.verb, *words, *written])

    def shared(self, each: PlacementScore, store: Store) -> pl.DataFrame:
        """The links that jobs share in a placement, by the bytes of all but the largest job, the
        most first.
        """
        from elanite.report.pages.programs import shared

        point = self._point(each)
        return shared(store.table(point.id, "shares"), store.table(point.id, "links"))

    def _point(self, each: PlacementScore) -> Point:
        return self._points[each.tried.placement.name]

    def table(self, found: Sequence[PlacementScore], store: Store) -> pl.DataFrame:
        """A row for each placement and job."""
        import polars as pl

        from elanite.study.placements import text

        rows = []
        for place, each in enumerate(found, 1):
            links = self.shared(each, store)
            most = f"{links['from'][0]} -> {links['to'][0]}" if len(links) else None
            for at, job in enumerate(self.jobs):
                rows.append(
                    {
                        "id": self._point(each).id,
                        "place": place,
                        "placement": each.tried.placement.name,
                        "job": job.name,
                        "slowdown": each.slowdowns[at],
                        "sharing": each.tried.sharing()[at],
                        "time_us": each.tried.times[at],
                        "alone_us": each.tried.alone[at],
                        "shared_links": len(links),
                        "most_shared_link": most,
                        "nodes": text(each.tried.placement.nodes[at]),
                    }
                )
        return pl.DataFrame(rows, infer_schema_length=None)

    def print(self, found: Sequence[PlacementScore], store: Store) -> None:
        """The ranks, the links that jobs share, and the best placement's nodes, for people."""
        from elanite.base.text import number
        from elanite.cli.common import table
        from elanite.mpirun.summary import size
        from elanite.report.pages.placement import sentence
        from elanite.study.placements import text

        names = [job.name for job in self.jobs]
        right = ("slow-down", *names, *(f"{name}, µs" for name in names), "shared links")
        board = table(("placement", *right), right=right)
        for each in found:
            links = self.shared(each, store)
            times = [number(time) for time in each.tried.times]
            board.add_row(
                each.tried.placement.name,
                number(each.score[0]),
                *map(number, each.slowdowns),
                *times,
                str(len(links)),
            )
        screen = console()
        screen.print(board)
        screen.print(sentence(names, found), markup=False, soft_wrap=True)
        for name, nodes in zip(names, found[0].tried.placement.nodes, strict=True):
            screen.print(f"  {name}: {text(nodes)}", markup=False, soft_wrap=True)
        shown = {
            each.tried.placement.name: each
            for each in (found[0], *found)
            if each is found[0] or each.tried.placement.name in DRAWN
        }
        for name, each in shown.items():
            links = self.shared(each, store)
            said = (
                "no link is shared"
                if links.is_empty()
                else "links that jobs share, the most shared first"
            )
            screen.print(f"{name}: {said}", markup=False)
            for row in links.head(MOST_LINKS).iter_rows(named=True):
                parts = ", ".join(f"{job} {size(row[job])}" for job in names if row.get(job))
                screen.print(f"  {row['from']} -> {row['to']}: {parts}", markup=False)


def _machine_name(machine: Source, folder: Path) -> str:
    """The machine as the experiment names it."""
    from elanite.inputs import sources

    if (
        machine.name in sources.shipped("machine")
        and sources.read_shipped("machine", machine.name) == machine
    ):
        return machine.name
    return os.path.relpath(machine.file, folder)
