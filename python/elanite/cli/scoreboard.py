"""The commands ``claims`` and ``report``: finished points beside published figures."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from elanite.base.seeds import FIRST_SEED
from elanite.cli import completion
from elanite.cli.common import (
    OUT,
    AfterQuick,
    BoardFormat,
    MachineFiles,
    Open,
    Out,
    Role,
    Seed,
    Set,
    opened,
    say,
    say_builds,
)
from elanite.cli.request import Request

if TYPE_CHECKING:
    from elanite.store import Store


@dataclass(frozen=True, kw_only=True)
class Claims(Request):
    """Print the scoreboard: published and simulated figures.

    \b
    Examples:
      elanite claims
      elanite claims --missed
      elanite claims --only ping,uniform.64
      elanite claims my-claims.toml
      elanite claims --format json | jq '.[] | select(.holds == false)'
      elanite claims --format json | \\
        jq 'group_by(.role, .state)[] | [.[0].role, .[0].state, length]'

    The role of a claim is predicted, fitted, inference (the authors concluded the claim and did not
    run it) or inconsistent (figures of the same paper refute the claim; the key proof shows how).
    Predicted claims have the rank value, order, bound, consequence (of a fitted figure),
    verification (of an implementation) or repeat (of another claim); the headline counts values and
    orders whose verdict a removed mechanism turns. The table has the claims that are simulated, and
    those without results only if --only names them; json and markdown have all claims. In json, low
    and high are the ends of the 95% confidence interval of the simulated figure; error is
    simulated/published - 1; holds is null for a claim without results, for a claim whose intervals
    are too wide to judge (the state is "not resolved", or "source too vague" if the paper states no
    bound), and for an inconsistent one. The command does not simulate: run `elanite reproduce`
    first, and --quick after `elanite reproduce --quick`.

    A file of your own claims has the keys of `elanite schema claim`, and names your experiments,
    which `elanite run` simulates. A claim with `measured` in place of a value has the values of a
    benchmark's output.
    """

    verb: ClassVar[str] = "claims"

    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="FILE", help="A file of your own claims.  [default: the claims of the papers]"
        ),
    ] = None
    format_: Annotated[
        BoardFormat,
        typer.Option("--format", "-f", help="How to print the scoreboard."),
        Role.OUTPUT,
    ] = BoardFormat.TABLE
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--only",
            metavar="NAMES",
            help="Claims by the first parts of their names, separated by commas.",
        ),
    ] = None
    missed: Annotated[
        bool, typer.Option("--missed", help="Only claims that are missed or not resolved.")
    ] = False
    quick: AfterQuick = False
    out: Out = OUT
    seed: Seed = FIRST_SEED

    def execute(self) -> None:
        """Print the scoreboard of finished points."""
        from elanite.cli import board
        from elanite.errors import UsageError
        from elanite.store import Store
        from elanite.validation.scoreboard import failed
        from elanite.validation.scoreboard import verdicts as judged_of

        if not self.out.is_dir() and self.out != OUT:
            raise UsageError(
                f"there is no folder {self.out}; name the folder that was given to `elanite"
                " reproduce --out`"
            )
        store = Store(self.out / "store")
        if self.file is not None:
            self._own(self.file, store)
            return
        verdicts = board.selection(judged_of(store, self.seed, quick=self.quick), self.only)
        say_builds(store)
        judged = any(verdict.judged for verdict in verdicts)
        if self.missed:
            verdicts = [
                verdict for verdict in verdicts if verdict.judged and verdict.holds is not True
            ]
        board.scoreboard(
            verdicts, self.format_, store.builds(), absent=bool(self.only) and not self.missed
        )
        if not judged:
            say(f"{self.out} has no results for these claims; run: elanite reproduce")
        if failed(verdicts):
            raise typer.Exit(1)

    def _own(self, file: Path, store: Store) -> None:
        """Print a file's claims."""
        from elanite.cli import board
        from elanite.errors import UsageError
        from elanite.study import own_claims
        from elanite.validation.scoreboard import failed, verdict

        if self.quick:
            raise UsageError("--quick: your own claims are judged on whole runs; leave it out")
        own = own_claims.read(file, self.seed)
        for note in own.notes:
            say(f"note: {note}")
        verdicts = [verdict(claim, own.plans[claim.experiment], store) for claim in own.claims]
        verdicts = board.selection(verdicts, self.only)
        say_builds(store)
        for name in dict.fromkeys(each.claim.experiment for each in verdicts if not each.judged):
            say(
                "run first:"
                f" {own.plans[name].command(out=None if self.out == OUT else str(self.out))}"
            )
        if self.missed:
            verdicts = [each for each in verdicts if each.judged and each.holds is not True]
        board.scoreboard(verdicts, self.format_, absent=not self.missed, own=True)
        if failed(verdicts):
            raise typer.Exit(1)


@dataclass(frozen=True, kw_only=True)
class Report(Request):
    """Write the report, or pages of experiments, again.

    \b
    Examples:
      elanite report --out results
      elanite report --site papers --open
      elanite report my-experiment.toml --machine my-machine.toml --open

    The report is one page. As a site, the same report has a page for each paper and each figure,
    with the finding as the title, a search, and every figure as SVG, PNG and PDF at a column's
    width.
    """

    verb: ClassVar[str] = "report"

    experiment: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="EXPERIMENT",
            help=(
                "Experiment files or shipped ones, for a page each.  [default: the report of all"
                " papers]"
            ),
            autocompletion=completion.experiments,
        ),
        Role.INPUT,
    ] = None
    machine: MachineFiles = None
    set_: Set = None
    quick: AfterQuick = False
    site: Annotated[
        Path | None,
        typer.Option(
            "--site", metavar="DIR", help="Write the report of all papers as a site in this folder."
        ),
        Role.OUTPUT,
    ] = None
    out: Out = OUT
    seed: Seed = FIRST_SEED
    open_: Open = False

    def execute(self) -> None:
        """Write the pages from finished points."""
        from elanite.errors import UsageError
        from elanite.inputs import sources
        from elanite.inputs.plan import plan
        from elanite.report import pages
        from elanite.report.index import Writer
        from elanite.report.pages import experiment as own
        from elanite.report.pages import files
        from elanite.results import frames
        from elanite.store import Store

        if not (self.out / "store").is_dir():
            raise UsageError(
                f"there are no results in {self.out}; run: elanite reproduce --out"
                f" {shlex.quote(str(self.out))}"
            )
        store = Store(self.out / "store")
        if not self.experiment:
            if self.machine or self.set_:
                raise UsageError(
                    "--machine and --set need an experiment: elanite report EXPERIMENT"
                    " --machine ..."
                )
            if self.site is not None:
                self._site(store, self.site)
                return
            writer = Writer(self.out, store, self.seed, quick=self.quick)
            page, _ = writer.write()
            if writer.left_out:
                say(f"note: {writer.left_out}")
            say_builds(store)
            say(f"report: {page}\nscoreboard: {self.out / 'scoreboard.json'}")
            if self.open_:
                opened(page)
            return
        if self.site is not None:
            raise UsageError(
                "--site is for the report of all papers; leave out the experiments or --site"
            )
        machines = [sources.read("machine", name) for name in self.machine or []]
        plans = [
            plan(sources.read("experiment", name), machines, self.set_ or [], self.seed)
            for name in self.experiment
        ]
        found = [each for each in plans if frames.finished(each, store)]
        if not found:
            commands = "\n".join(f"  {one.command(out=str(self.out))}" for one in plans)
            raise UsageError(f"none of the points is finished in {self.out}; run:\n{commands}")
        for each in found:
            page = self.out / "report" / f"{each.experiment.name.replace('/', '-')}.html"
            command = shlex.split(each.command(out=None if self.out == OUT else str(self.out)))
            options = self.words(Role.RESULT)
            pages.write(page, own.page(each, store, command, files.of_plan(each, options)))
            say(f"report: {page}")
            if self.open_:
                opened(page)
        say_builds(store)

    def _site(self, store: Store, folder: Path) -> None:
        """Write the site."""
        from elanite.base import host
        from elanite.report import site
        from elanite.report.index import Writer

        host.require_drawing("--site")
        writer = Writer(self.out, store, self.seed, quick=self.quick)
        front, *_ = site.write(folder, writer.read())
        if writer.left_out:
            say(f"note: {writer.left_out}")
        say_builds(store)
        say(f"site: {front}")
        if self.open_:
            opened(front)
