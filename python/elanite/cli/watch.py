"""The command ``watch``: a page that shows packets and circuits over a few microseconds, or the
messages of a run.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

import typer

from elanite.base import host
from elanite.base.seeds import FIRST_SEED
from elanite.cli import completion
from elanite.cli.common import (
    OUT,
    DryRun,
    Jobs,
    MachineFile,
    Open,
    Out,
    PointId,
    Role,
    Seed,
    Set,
    opened,
    say,
)
from elanite.cli.request import Request


@dataclass(frozen=True, kw_only=True)
class Watch(Request):
    """Show packets, circuits and waiting headers in a network.

    \b
    Examples:
      elanite watch qsnet/uniform --point 3f2a --open
      elanite watch qsnet/hotspot --set run.warm_up=1ms --for "50 us"
      elanite watch my-experiment.toml --set switch.circuit=wormhole \\
        --html wormhole.html
      elanite watch out/mpirun/8c960da91937d549cd1b
      elanite watch out/replay/d76ade614760b26f362f

    The command simulates one point, and writes a page that needs no network. The page plays, pauses
    and steps through the watched time; a click on a line shows all data of its packet. The network
    may have any topology, several rails and at most 1,024 nodes, into which the page zooms. Of
    several points the first is shown; --point selects another one.

    The folder of a run of an MPI program or of a replay shows its messages and the load of links in
    simulated time. The run must have kept them: `elanite mpirun --html FILE`,
    `elanite replay --operations`.
    """

    verb: ClassVar[str] = "watch"

    experiment: Annotated[
        str,
        typer.Argument(
            metavar="EXPERIMENT|RUN",
            help=(
                "A shipped experiment (qsnet/uniform), an experiment file with jobs, or a folder of"
                " a run."
            ),
            autocompletion=completion.experiments,
        ),
        Role.INPUT,
    ]
    machine: MachineFile = None
    set_: Set = None
    seed: Seed = FIRST_SEED
    point: PointId = None
    length: Annotated[
        str,
        typer.Option(
            "--for", metavar="TIME", help="The watched time, from the end of the warm-up on."
        ),
    ] = "20 us"
    page: Annotated[
        Path | None,
        typer.Option(
            "--html", metavar="FILE", help="Where to write the page.  [default: DIR/watch/ID.html]"
        ),
        Role.OUTPUT,
    ] = None
    open_: Open = False
    jobs: Jobs = None
    dry_run: DryRun = False
    out: Out = OUT

    def execute(self) -> None:
        """Run the command."""
        from elanite import campaign
        from elanite.base import whole
        from elanite.cli.progress import observer
        from elanite.cli.results import finish, stop_if_interrupted
        from elanite.errors import UsageError
        from elanite.inputs import sources
        from elanite.inputs.plan import plan
        from elanite.mpirun import run_tables
        from elanite.report.watch import check, scene
        from elanite.store import Store
        from elanite.traces.replay import FOLDER

        folder = Path(self.experiment)
        if folder.is_dir() or folder.parent.name in (run_tables.FOLDER, FOLDER):
            self._run(folder)
            return
        chosen = [sources.read("machine", self.machine)] if self.machine else []
        # The flit engine knows when the last flit leaves every link; results are those of the worm
        # engine.
        watched = [
            *(self.set_ or []),
            f"run.watch={self.length}",
            "run.slices=0",
            "run.precision=0",
            f"run.window={self.length}",
            "run.batches=1",
        ]
        planned = plan(
            sources.read("experiment", self.experiment),
            chosen,
            [*watched, "fabric.engine=flit"],
            self.seed,
        )
        if self.point:
            of_these = plan(
                sources.read("experiment", self.experiment), chosen, self.set_ or [], self.seed
            )
            wanted = [(p.series, p.parameters, p.seed) for p in of_these.only(self.point).points]
            found = [
                p
                for p in planned.points
                if (p.series, p.parameters, p.seed) in wanted or p.id.startswith(tuple(self.point))
            ]
            if not found:
                raise UsageError(
                    f"{self.experiment} has no point whose identity starts with"
                    f" {' or '.join(self.point)}"
                )
        else:
            found = list(planned.points)
        first, *others = found
        check(first)
        planned = planned.only([first.id])
        store = Store(self.out / "store")
        if self.dry_run:
            from elanite.cli import output

            output.to_do([planned], store, self.jobs or host.processors(), None)
            return
        words = self.again(point=[first.id], length=self.length)
        file = self.page or self.out / "watch" / f"{first.id}.html"
        whole.prepare(file)
        outcome = campaign.run([planned], store, self.jobs, observer(), str(self.out))
        stop_if_interrupted(outcome, words)
        if outcome.failures:
            finish(outcome, words, self.out)
        shown = scene(first, store)
        whole.write(file, shown.page())
        if not shown.packets:
            say(
                "no packet was under way; watch longer with --for, or later with --set"
                " run.warm_up=5ms"
            )
        if others:
            points = f"elanite show {shlex.quote(self.experiment)}"
            say(
                f"the first of {len(found)} points is shown; choose another one with --point; the"
                f" points: {points}"
            )
        say(f"picture: {file}\nreproduce: {shlex.join(words)}")
        if self.open_:
            opened(file)

    def _run(self, folder: Path) -> None:
        """Show a kept run."""
        from elanite.base import whole
        from elanite.cli.congestion import missing_run
        from elanite.errors import UsageError
        from elanite.mpirun.run_tables import KeptRun
        from elanite.report.watch import of_run

        self.refuse("the folder of a run", "experiment", "page", "open_", "out")
        if not folder.is_dir():
            raise UsageError(missing_run(folder))
        shown = of_run(KeptRun.load(folder, replays=True))
        file = self.page or self.out / "watch" / f"{folder.name}.html"
        whole.prepare(file)
        whole.write(file, shown.page())
        say(f"picture: {file}")
        if self.open_:
            opened(file)
