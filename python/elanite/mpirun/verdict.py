"""How a run ended, in words for people, and the exit code that goes with it.

| end | exit code |
|---|---|
| all ranks ended well | 0 |
| a rank ended with its own exit code, or with ``MPI_Abort``'s | the same |
| the start made no progress | 1 |
| a rank was killed, or ended without ``MPI_Finalize``; its host stopped; a limit | 1 |
| ranks took no part in the run, or took part unseen | 2 or 4 (``missing``) |
| ranks ended early, and the others went on to their ends, as the user wanted | mpiexec's, or 1 |
| all ranks wait for each other | 3 |
| a message arrived with other bytes than it was sent with | 4 |
| a rank wrote what no rank may write into the memory that it shares with the simulator | 1 |

The simulator records which rank ended first, when, and in which call; mpiexec reports how it ended.
"""

from __future__ import annotations

import signal
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from elanite.base.text import counted, number, ranks
from elanite.errors import Exit
from elanite.mpirun import absences, call_sites

if TYPE_CHECKING:
    from collections.abc import Sequence

    from elanite.mpirun.evidence import DeadRank, Evidence, Left, RankStatus, RunOutcome
    from elanite.mpirun.streams import Reports

MOST_GROUPS = 16
"""Most lines in a table of waiting ranks and their waits."""

MOST_SITES = 1024
"""Most ranks for which source lines are looked up."""

_AFTERMATH = {signal.SIGKILL, signal.SIGTERM}
"""The signals by which mpiexec ends ranks after another rank has ended."""


_HELPER_LOST = 255
"""The exit code from mpiexec if its helper ends without a report."""


@dataclass(frozen=True)
class Waiting:
    """A rank's state at the end."""

    rank: int
    call: str
    """The rank's current MPI call, or a text for a rank outside of calls."""
    what: str
    """The awaited event."""


@dataclass(frozen=True)
class RunEnd:
    """How a run ended."""

    end: str
    """The simulator's word: finished, died, stopped, deadlock, launcher gone, no mpi, limit,
    corrupted, foul, stray, absent.
    """
    message: str
    """Empty if all is well."""
    exit_code: int
    time_us: float
    """Simulated time."""
    waiting: tuple[Waiting, ...] = field(default=(), repr=False)
    lost: str = ""
    """The first message that the machine could not deliver, and why; empty without one."""
    unseen: tuple[int, ...] = ()
    """Ranks with calls that bypass Elanite, so that their time in MPI is unknown."""

    @property
    def finished(self) -> bool:
        """Whether all ranks left MPI in order, so that the records cover the whole program."""
        return self.end == "finished"


def judge(evidence: Evidence) -> RunEnd:
    """How the run ended."""
    outcome, reports = evidence.outcome, evidence.reports
    end = outcome["end"]
    waiting = _waiting(outcome)
    if reports.stalled and end != "finished":
        message, code = reports.stalled, int(Exit.FAILED)
    elif end == "deadlock":
        message, code = (
            "\n".join([_deadlock(outcome, waiting), *_early_ends(evidence)]),
            int(Exit.DEADLOCK),
        )
    elif end == "corrupted":
        message, code = outcome["message"], int(Exit.BROKEN)
    elif end in ("stopped", "foul"):
        message, code = outcome["message"], int(Exit.FAILED)
    elif end == "stray":
        message, code = absences.stray_process(evidence)
    elif end == "died" and 0 < len(outcome["dead"]) < len(evidence.placement):
        message, code = _partial_end(evidence)
    elif (abort := _abort(evidence)) is not None and end != "limit":
        message, code = _aborted(abort, evidence)
    elif end == "finished":
        message, code = _late_failure(evidence)
        if not message and outcome.get("unseen"):
            message, code = absences.unseen_calls(evidence)
    elif (
        end in ("died", "launcher gone", "no mpi")
        and evidence.code is not None
        and evidence.code < 0
    ):
        message, code = _launcher_gone(evidence), int(Exit.FAILED)  # mpiexec has ended the ranks
    elif end == "died" or (end == "launcher gone" and _culprit(reports) is not None):
        message, code = _died(evidence, waiting)
    elif end in ("no mpi", "launcher gone") and not outcome["attached"]:
        message, code = absences.no_mpi(evidence)
    elif end == "absent" and _failed(reports):
        message, code = _died(evidence, waiting)
    elif end == "absent" or (end == "launcher gone" and outcome.get("absent")):
        message, code = absences.absence(evidence)
    elif end == "launcher gone":
        message, code = _launcher_gone(evidence), int(Exit.FAILED)
    elif end == "limit":
        message, code = "\n".join([outcome["message"], *_table(waiting)]), int(Exit.FAILED)
    else:
        message, code = outcome["message"] or f"the run ended: {end}", int(Exit.FAILED)
    lost = outcome.get("lost") or ""
    if message and lost:
        message += f"\n  the first message that was lost: {lost}"
    if message and not evidence.windows and _makes_window(outcome):
        message += (
            "\n  Open MPI 5 has no one-sided communication over the simulated network; link the"
            " program with an MPICH or with Open MPI 4"
        )
    unseen = tuple(outcome.get("unseen") or ())
    return RunEnd(end, message, code, float(outcome["time_us"]), waiting, lost, unseen)


def _makes_window(outcome: RunOutcome) -> bool:
    """Whether a rank ended in a call that makes a window."""
    calls = [one["call"] for one in [*outcome.get("waiting", []), *outcome["dead"]]]
    return any(call.startswith(("MPI_Win_create", "MPI_Win_allocate")) for call in calls)


def _waiting(outcome: RunOutcome) -> tuple[Waiting, ...]:
    return tuple(
        Waiting(one["rank"], _call_of(one), one["what"]) for one in outcome.get("waiting", [])
    )


def _call_of(one: RankStatus | DeadRank) -> str:
    """A rank's current call; outside of calls, the last one."""
    call, last = str(one["call"]), str(one.get("last", ""))
    return f"{call}, after {last}" if call == "no call of MPI" and last not in ("", call) else call


def locate(outcome: RunOutcome) -> None:
    """Add the source lines from which ranks have called, while their processes live."""
    if outcome["end"] not in ("deadlock", "limit", "cancelled"):
        return
    sites = {}
    for one in outcome["waiting"][:MOST_SITES]:
        # A rank outside of MPI is where it sleeps; if it runs, its place is unknown.
        outside = one["runs"] and one["call"] == "no call of MPI"
        found = (
            call_sites.site(one["pid"], 0 if outside else one["frame"])
            if one["pid"] and "frame" in one
            else None
        )
        if found is not None:
            sites[one["rank"]] = found
    lines = call_sites.lines(sites.values())
    for one in outcome["waiting"]:
        line = lines.get(sites[one["rank"]]) if one["rank"] in sites else None
        if line is not None:
            at = f"({line})"
            one["what"] = f"{one['what']} {at}" if one["what"] else at


def cancelled(outcome: RunOutcome) -> list[str]:
    """Where a run's ranks were that was interrupted."""
    table = _table(_waiting(outcome))
    return [f"interrupted at {number(outcome['time_us'])} µs of simulated time", *table]


def _deadlock(outcome: RunOutcome, waiting: Sequence[Waiting]) -> str:
    head = f"deadlock at {number(outcome['time_us'])} µs of simulated time: {outcome['message']}"
    return "\n".join([head, *_table(waiting)])


def _table(waiting: Sequence[Waiting]) -> list[str]:
    """Ranks by their call and their wait."""
    groups: dict[tuple[str, str], list[int]] = {}
    for one in waiting:
        groups.setdefault((one.call, one.what), []).append(one.rank)
    rows = [(ranks(who), call, what) for (call, what), who in groups.items()]
    shown = rows[:MOST_GROUPS] if len(rows) > MOST_GROUPS + 1 else rows
    widths = [max(len(row[column]) for row in [("ranks", "call", ""), *shown]) for column in (0, 1)]
    lines = [f"  {'ranks':{widths[0]}}  call"]
    lines += [
        f"  {who:{widths[0]}}  {call:{widths[1]}}  {what}".rstrip() for who, call, what in shown
    ]
    if len(shown) < len(rows):
        hidden = sum(len(who) for who in list(groups.values())[len(shown) :])
        lines.append(
            f"  and {counted(hidden, 'rank that waits', 'ranks that wait')} for other things"
        )
    return lines if rows else []


def _announcements(evidence: Evidence) -> list[Left]:
    """The announcements that count: a rank that exits, and only then calls MPI_Finalize, leaves in
    order.
    """
    finalizing = {
        one["rank"] for one in evidence.outcome["waiting"] if one["call"] == "MPI_Finalize"
    }
    return [one for one in evidence.left if one[1] != "exit" or one[0] not in finalizing]


def _abort(evidence: Evidence) -> tuple[int, int, str] | None:
    """The rank that ended all ranks, the code, and why; the MPI library's message may be lost with
    mpiexec.
    """
    report, said = evidence.reports.abort, _announcements(evidence)
    if not said:
        return report
    rank, how, code = said[0]
    if how == "abort":
        return rank, code, "MPI_Abort"
    if how == "exit":
        return None
    if report is not None and report[0] == rank:
        return report
    return rank, max(evidence.code or 0, 0) or int(Exit.FAILED), ""


def _aborted(abort: tuple[int, int, str], evidence: Evidence) -> tuple[str, int]:
    rank, code, said = abort
    who = _who(rank, evidence)
    # A process's exit code has 8 bits.
    status = code & 0xFF or int(Exit.FAILED)
    if "MPI_Abort" in said:
        if evidence.native and code == 0:
            return "", int(Exit.OK)  # as a program may end all ranks by shmem_global_exit
        return f"{who} {_end_of_all(code, evidence)}", status
    return f"{who} ended the run with an error of MPI{said and ': '}{said.rstrip(': ')}", status


def _end_of_all(code: int, evidence: Evidence) -> str:
    """How a rank has ended all ranks on purpose."""
    return f"{'ended all ranks' if evidence.native else 'called MPI_Abort'} with code {code}"


def _late_failure(evidence: Evidence) -> tuple[str, int]:
    """The message for a run whose ranks left MPI in order: the program may fail afterwards."""
    code = evidence.code or 0
    fatal = evidence.reports.fatal
    if fatal is not None and not evidence.native and evidence.reports.statuses.get(fatal) == 0:
        return (
            (
                f"{_who(fatal, evidence)} ended after MPI_Finalize without its exit functions, as"
                " by _exit"
            ),
            code,
        )
    culprit = _culprit(evidence.reports)
    if culprit is not None:
        rank, status = culprit
        alike = [other for other, its in evidence.reports.statuses.items() if its == status]
        who = _who(rank, evidence) if len(alike) == 1 else f"ranks {ranks(alike)}"
        after = "" if evidence.native else " after MPI_Finalize"
        return f"{who} {_how(status, len(alike))}{after}", _exit_code(status)
    if code < 0:
        return f"mpiexec was killed by {_signal(-code)} at the end of the run", int(Exit.FAILED)
    return (f"mpiexec ended with exit code {code}", code) if code else ("", int(Exit.OK))


def _died(evidence: Evidence, waiting: Sequence[Waiting]) -> tuple[str, int]:
    outcome, reports = evidence.outcome, evidence.reports
    rank = _first(evidence)
    status = reports.statuses.get(rank)
    attached = rank < len(evidence.pids) and evidence.pids[rank] is not None
    times = {one["rank"]: one["time_us"] for one in outcome["dead"]}
    time = number(times.get(rank, outcome["time_us"]))
    when = (
        f" at {time} µs of simulated time"
        if attached
        else f" before it called {'a library' if evidence.native else 'MPI_Init'}"
    )
    calls = {one.rank: one.call for one in waiting} | {
        one["rank"]: _call_of(one) for one in outcome["dead"]
    }
    call = calls.get(rank, "") if attached else ""
    who = _who(rank, evidence)
    if status is None:
        # mpiexec passes on the code from MPI_Abort, or from an MPI error, but not always the rank's
        # message. On a busy host mpiexec sometimes loses its helper before the helper has reported,
        # and ends with its own code.
        code = 0 if evidence.code == _HELPER_LOST else evidence.code
        step = _missing_step(evidence)
        return f"{who} ended{step}{when}{_place(call)}", code or int(Exit.FAILED)
    lacking = _missing_step(evidence, status) if not status & 0x7F and attached else ""
    return f"{who} {_how(status)}{when}{_place(call, lacking)}", _exit_code(status)


def _early_ends(evidence: Evidence) -> list[str]:
    """For each rank that ended while others went on: how it ended."""
    aborts = {rank: code for rank, how, code in evidence.left if how == "abort"}
    lines = []
    for one in evidence.outcome["dead"]:
        rank, status = one["rank"], evidence.reports.statuses.get(one["rank"])
        when = f" at {number(one['time_us'])} µs of simulated time"
        call, lacking = _call_of(one), _missing_step(evidence, status)
        if one.get("stopped"):
            how, lacking = "failed when its host stopped", ""
        elif rank in aborts:
            how, call, lacking = _end_of_all(aborts[rank], evidence), "", ""
        elif status is None:
            how = "ended"
        else:
            how, lacking = _how(status), "" if status & 0x7F else lacking
        lines.append(f"{_who(rank, evidence)} {how}{when}{_place(call, lacking)}")
    return lines


def _missing_step(evidence: Evidence, status: int | None = None) -> str:
    """The step that an early end misses.

    A program for the simulated libraries leaves by exit or _exit.
    """
    if not evidence.native:
        # MPI_Finalize waits for all ranks: with one out of reach it fails, and a program may ignore
        # that.
        return (
            " before MPI_Finalize had ended"
            if evidence.outcome.get("lost")
            else " without MPI_Finalize"
        )
    return " without leaving the simulation" if status == 0 else ""


def _in(call: str) -> str:
    """Where a rank was, or the call that it has made last."""
    if not call:
        return ""
    outside, _, last = call.partition(", after ")
    return f", after {last}," if last else "" if outside.startswith("no call") else f" in {call}"


def _place(call: str, lacking: str = "") -> str:
    """Where a rank was, and the step that it has missed."""
    if call == "MPI_Finalize" and lacking:
        return " before MPI_Finalize had ended"
    return (_in(call) + lacking).removesuffix(",")


def _partial_end(evidence: Evidence) -> tuple[str, int]:
    """The message for a run in which some ranks ended early and the others went on."""
    early = _early_ends(evidence)
    shown = early[:MOST_GROUPS] if len(early) > MOST_GROUPS + 1 else early
    if len(shown) < len(early):
        shown.append(f"and {len(early) - len(shown)} other ranks ended early")
    # Ranks on stopped hosts are killed at the end, and mpiexec reports no more than that.
    stopped = any(one.get("stopped") for one in evidence.outcome["dead"])
    code = (0 if stopped else max(evidence.code or 0, 0)) or int(Exit.FAILED)
    return "\n  ".join([*shown, "the other ranks went on to their ends"]), code


def _launcher_gone(evidence: Evidence) -> str:
    code = evidence.code
    when = (
        f"at {number(evidence.outcome['time_us'])} µs of simulated time, before the ranks had ended"
    )
    said = "".join(f"\n  {line}" for line in evidence.reports.complaints[:4])
    if code is not None and code < 0:
        return f"mpiexec was killed by {_signal(-code)} {when}"
    return f"mpiexec ended {'' if code is None else f'with exit code {code} '}{when}{said}"


def _culprit(reports: Reports) -> tuple[int, int] | None:
    """The rank that failed first, and its status: if possible, a rank that failed by itself."""
    failed = [(rank, status) for rank, status in reports.statuses.items() if status]
    own = [(rank, status) for rank, status in failed if status not in _AFTERMATH]
    return next(iter(own or failed), None)


def _failed(reports: Reports) -> bool:
    """Whether a rank has failed by itself."""
    culprit = _culprit(reports)
    return culprit is not None and culprit[1] not in _AFTERMATH


def _first(evidence: Evidence) -> int:
    """The rank that ended first; mpiexec kills the others, before the simulator looks."""
    reports, named = evidence.reports, evidence.outcome.get("rank")
    culprit = _culprit(reports)
    own = _failed(reports)
    said = [
        rank
        for rank, _, _ in _announcements(evidence)
        if not own or reports.statuses.get(rank) not in _AFTERMATH
    ]
    if said:
        return said[0]
    if culprit is not None and own:
        return culprit[0]
    # A rank that waits in MPI does not exit; if mpiexec gives its status as 0, mpiexec has not
    # waited for it.
    blocked = {
        one["rank"] for one in evidence.outcome["waiting"] if not one["call"].startswith("no call")
    }
    if reports.fatal is not None:
        # A rank without MPI may vanish with code 0, which ends no others; then the simulator ends
        # them by signals.
        left = {*evidence.dead, *(one["rank"] for one in evidence.outcome["waiting"])} - blocked
        vanished = sorted(rank for rank in left if reports.statuses.get(rank) == 0)
        killed = reports.statuses.get(reports.fatal) in _AFTERMATH
        return vanished[0] if killed and vanished else reports.fatal
    # Without a status, and with a code that is not from a signal, a rank made mpiexec end all
    # ranks. That rank was running; the ranks that wait were killed.
    running = [one["rank"] for one in evidence.outcome["waiting"] if one["runs"]]
    if len(running) == 1 and not reports.statuses and 0 < (evidence.code or 0) < 128:
        return int(running[0])
    dead = [rank for rank in evidence.dead if reports.statuses.get(rank) or rank not in blocked]
    if dead:
        return dead[0]
    if evidence.dead and culprit is None:
        return evidence.dead[0]
    if culprit is not None and (evidence.dead or named is None):
        return culprit[0]
    assert named is not None  # noqa: S101 - the caller has checked
    return int(named)


def _who(rank: int, evidence: Evidence) -> str:
    pid = evidence.pids[rank] if rank < len(evidence.pids) else None
    node = f" on node {evidence.placement[rank]}" if rank < len(evidence.placement) else ""
    return f"rank {rank}{f' (pid {pid})' if pid else ''}{node}"


def _how(status: int, ranks: int = 1) -> str:
    if status & 0x7F:
        return f"{'was' if ranks == 1 else 'were'} killed by {_signal(status & 0x7F)}"
    return f"exited with code {status >> 8 & 0xFF}"


def _exit_code(status: int) -> int:
    return status >> 8 & 0xFF or int(Exit.FAILED)


def _signal(number_: int) -> str:
    try:
        return f"signal {number_} ({signal.Signals(number_).name})"
    except ValueError:
        return f"signal {number_}"
