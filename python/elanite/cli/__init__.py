"""The command line. Data goes to standard output, everything else to standard error.

Heavy modules are imported inside the commands, so that ``--help`` is quick. ``elanite.errors.Exit``
has the exit codes.
"""

from __future__ import annotations

import errno
import shlex
import signal
import sys
import traceback
from contextlib import suppress
from dataclasses import dataclass
from typing import ClassVar

import typer

from elanite.base import host
from elanite.base.streams import discard_output, shown
from elanite.cli.ablate import Ablate
from elanite.cli.ask import Ask
from elanite.cli.calibrate import Calibrate
from elanite.cli.common import about_version, data
from elanite.cli.compare import Compare
from elanite.cli.congestion import Congestion
from elanite.cli.energy import Energy
from elanite.cli.explore import Explore
from elanite.cli.finding import Explain, List
from elanite.cli.former_commands import Refit, Sensitivity
from elanite.cli.fortran import InstallMpifort
from elanite.cli.goal import goal_app
from elanite.cli.inspect import Check, Schema, Show
from elanite.cli.manual import page
from elanite.cli.mpirun import Mpirun, Prun
from elanite.cli.network_import import Import
from elanite.cli.new import New
from elanite.cli.noise import Noise
from elanite.cli.page_inputs import Open
from elanite.cli.parser import CommandGroup
from elanite.cli.place import Place
from elanite.cli.processor import CalibrateHost
from elanite.cli.replay import Replay
from elanite.cli.reproduce import Reproduce
from elanite.cli.request import Request, declare, not_text
from elanite.cli.results import Run
from elanite.cli.scoreboard import Claims, Report
from elanite.cli.store import store_app
from elanite.cli.sweep import Sweep
from elanite.cli.watch import Watch
from elanite.errors import ConfigError, ElaniteError, Exit

HELP = """Simulate the Quadrics networks, and compare the results with published figures.

\b
Examples:
  elanite reproduce --quick               all papers in a few minutes
  elanite ask                             questions, with their commands
  elanite list                            machines and experiments, with costs
  elanite reproduce --only qsnet/ping     one experiment, or a folder of them
  elanite run qsnet/uniform --format csv  one experiment, as data
  elanite run qsnet/ping --set switch.circuit=wormhole
  elanite sweep qsnet/ping --vary 'bus.rate=200 MB/s,300 MB/s'
  elanite calibrate qsnet/ping --fit 'bus.rate=150 MB/s..400 MB/s' \\
    --to measured.csv
  elanite congestion qsnet/congestion     where packets waited
  elanite watch qsnet/uniform --open      packets and circuits, as a picture
  elanite explore --open                  networks, simulated in the browser
  elanite open my-traffic.html            the inputs and command of a page
  elanite show es40-qsnet                 every parameter, with provenance
  elanite explain link.hop_delay          meaning, bounds and source
  elanite new machine my-cluster          a machine file with comments
  elanite new machine --nodes 200 --oversubscription 2:1 --link NDR
  elanite place ndr-200.toml --job 64:alltoall --job 64:shift
  elanite import fabric.ibnetdiscover     a machine of another tool's network
  elanite check my-machine.toml           errors with their place and a hint
  elanite claims --format json            published and simulated figures
  elanite sweep es40-qsnet --one-at-a-time    claims with other parameters
  elanite ablate es40-qsnet               claims without a mechanism
  elanite store verify                    check the finished points
  elanite noise --seconds 5               the noise of this computer
  elanite calibrate-host                  the processor of this computer
  elanite mpirun -n 64 ./my_program       a real MPI program
  elanite install-mpifort                 Fortran for such programs
  elanite replay my_program.goal          a trace of messages
  elanite goal allreduce --ranks 64 --size '1 MB' > ring.goal
  elanite prun -n 64 ./my_program         a program for OpenSHMEM or Elanlib
  elanite man > elanite.1                 the manual page

\b
Exit codes:
  0    ok
  1    it ran, but a claim or a point failed
  2    wrong command line or file
  3    simulated deadlock
  4    broken invariant (a bug of ours)
  130  interrupted; the same command resumes
"""

AROUND = 40
"""Letters around a place in a text that an error shows."""

app = typer.Typer(
    name="elanite",
    cls=CommandGroup,
    help=HELP,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
)


@dataclass(frozen=True, kw_only=True)
class Manual(Request):
    """Print the manual page of all commands.

    \b
    Example:
      elanite man > elanite.1 && man ./elanite.1
    """

    verb: ClassVar[str] = "man"

    def execute(self) -> None:
        """Print the page."""
        from elanite import __version__

        data(page(typer.main.get_group(app), str(__version__)))


declare(
    app,
    Reproduce,
    Run,
    Sweep,
    Calibrate,
    Claims,
    Report,
    Congestion,
    Energy,
    Watch,
    Explore,
    Compare,
    Open,
)
declare(app, Ablate, Sensitivity, Refit)
declare(app, Ask, List, Explain, Show, Check, Schema, New, Place, Import, Noise, CalibrateHost)
declare(app, Replay, Mpirun, Prun, InstallMpifort, Manual)
app.add_typer(store_app, name="store")
app.add_typer(goal_app, name="goal")


@app.callback()
def _options(
    version: bool = typer.Option(
        False, "--version", callback=about_version, is_eager=True, help="Print versions and exit."
    ),
) -> None:
    pass


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and leave with its exit code."""
    # Batch systems end jobs by SIGTERM. A signal that the parent has set to be ignored stays
    # ignored: a shell without job control does so with SIGINT for background jobs, and Python
    # installs no handler then.
    if signal.getsignal(signal.SIGTERM) is not signal.SIG_IGN:
        signal.signal(signal.SIGTERM, signal.default_int_handler)
    told = None
    try:
        code = app(arguments, prog_name="elanite")
    except SystemExit as leaving:
        code = Exit.OK if _reader_has_left() else leaving.code
    except ConfigError as error:
        print(shown(str(error)), file=sys.stderr)
        code = Exit.USAGE
    except ElaniteError as error:
        code = _report(error)
    except BrokenPipeError:
        code = Exit.OK
    except KeyboardInterrupt:
        code = Exit.INTERRUPTED
    except OSError as error:
        code = _failed(error)
        told = error.errno
    except BaseException as error:  # libraries in Rust have an exception that is no ``Exception``
        # Python 3.11 wraps an interrupt that comes while a class is made.
        if isinstance(error.__cause__, KeyboardInterrupt):
            sys.exit(Exit.INTERRUPTED)
        if (known := host.failure(error) or _not_text(error)) is not None:
            sys.exit(_flushed(_report(known), told))
        words = shlex.join(["elanite", *(sys.argv[1:] if arguments is None else arguments)])
        print(
            shown(
                f"{traceback.format_exc()}This is a bug of Elanite. Please report it, with the"
                f" command: {words}"
            ),
            file=sys.stderr,
        )
        code = Exit.BROKEN
    sys.exit(_flushed(code, told))


def _not_text(error: BaseException) -> ElaniteError | None:
    """An error about a name that is not UTF-8 and no word of the command: a folder's, or a file's
    in a folder.
    """
    if not isinstance(error, UnicodeEncodeError) or "surrogates" not in error.reason:
        return None
    return not_text(error.object[max(error.start - AROUND, 0) : error.end + AROUND])


def _reader_has_left() -> bool:
    """Whether the reader of standard output left early, as `head` does: typer then replaces the
    stream.
    """
    return type(sys.stdout).__name__ == "PacifyFlushWrapper"


def _report(error: ElaniteError) -> int:
    """Print an error, and the limit of the host that has led to it where its text has only the
    system's words.
    """
    limit = host.reason(error)
    text = f"error: {error}"
    with suppress(OSError):  # standard error is full: the exit code remains
        print(shown(f"{text}\n  {limit}" if limit and limit not in text else text), file=sys.stderr)
    return error.exit_code


def _failed(error: OSError) -> int:
    """Name the file and the system's message. All files have names except standard output."""
    if (known := host.failure(error)) is not None:
        return _report(known)
    where = error.filename or (
        "standard output" if error.errno != errno.ENOENT else "the current folder"
    )
    words = "it is closed" if error.errno == errno.EBADF else error.strerror or error
    return _report(ElaniteError(f"{where}: {words}"))


def _flushed(code: int | str | None, told: int | None) -> int | str | None:
    """Write out the remainder.

    A reader that has left is no error; a disk that is full is one, reported once.
    """
    try:
        sys.stdout.flush()
    except OSError as error:
        if not isinstance(error, BrokenPipeError) and error.errno != told:
            code = _failed(error)
        discard_output()
    try:
        sys.stderr.flush()
    except OSError:
        discard_output(2)
    return code
