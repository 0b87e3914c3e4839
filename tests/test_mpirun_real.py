"""``elanite mpirun`` with real MPI programs and the real simulator: results, repeatability, ends,
files left behind.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from conftest import BIN, FILES, PATIENCE, Ended, command, environment, needs_mpi, until
from elanite.mpirun.run_tables import KeptRun
from test_mpirun_timeline import Trace, check

Run = Callable[..., Ended]

MPICC = str(BIN / "mpicc")

pytestmark = needs_mpi


@pytest.fixture(scope="module")
def ends(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The program, with a unique name in the process table."""
    made = tmp_path_factory.mktemp("ends") / f"ends-{os.getpid()}"[:15]
    subprocess.run(
        [MPICC, "-O2", "-Wall", "-Werror", "-o", str(made), str(FILES / "ends.c")], check=True
    )
    return str(made)


def processes(program: str) -> dict[int, int]:
    """A program's processes, by rank."""
    found = {}
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and (entry / "comm").read_text().strip() == Path(program).name:
                words = (entry / "environ").read_bytes().split(b"\0")
                found |= {
                    int(word[9:]): int(entry.name)
                    for word in words
                    if word.startswith(b"PMI_RANK=")
                }
        except OSError:
            continue
    return found


def gone(program: str) -> bool:
    return until(lambda: not processes(program))


def test_a_run_is_repeatable(elanite: Run, tmp_path: Path, ends: str) -> None:
    """Output, tables and digest; one folder for both."""
    first, second = (elanite("mpirun", "-n", "8", ends) for _ in range(2))
    assert first.code == 0, first
    assert (first.code, first.out) == (second.code, second.out)
    assert re.fullmatch(r"from 7 at \d\.\d{9}\n", first.out)
    assert "repeatable      yes" in first.err
    (folder,) = (tmp_path / "out" / "mpirun").iterdir()
    kept = KeptRun.load(folder)
    assert kept.manifest["digest"] in first.err
    assert kept.table("ranks")["messages_sent"].min() >= 1  # type: ignore[operator]
    assert kept.table("messages").height == kept.manifest["messages"]
    assert kept.congestion().links["packets"].sum() > 0


def test_placement_changes_times(elanite: Run, ends: str) -> None:
    outs = {
        rule: elanite("mpirun", "-q", "-n", "8", "--ranks-per-node", "2", "--placement", rule, ends)
        for rule in ("block", "cyclic", "random")
    }
    assert all(ended.code == 0 for ended in outs.values()), outs
    assert len({ended.out for ended in outs.values()}) > 1


def test_a_timeline(elanite: Run, tmp_path: Path, ends: str) -> None:
    pytest.importorskip("perfetto")
    ended = elanite("mpirun", "-n", "4", "--timeline", "run.perfetto", ends)
    assert ended.code == 0, ended
    trace = Trace(tmp_path / "run.perfetto")
    check(trace)
    names = [name for _, _, name, _ in trace.of("rank 2 on node 2")]
    assert names[0] in ("MPI_Init", "MPI_Comm_rank", "MPI_Sendrecv")
    assert {"MPI_Barrier", "MPI_Finalize"} <= set(names)
    assert "from rank 1" in names
    assert "to rank 3" in names
    bus = [event.double_counter_value for _, event, *_ in trace.of("node 2: I/O bus")]
    assert max(bus) > 0
    assert bus[-1] == 0


@pytest.mark.parametrize(
    ("how", "code"),
    [("code", 5), ("signal", 1), ("exit", 3), ("deadlock", 3), ("without", 2), ("before", 6)],
)
def test_ends(elanite: Run, snapshot: SnapshotAssertion, ends: str, how: str, code: int) -> None:
    ended = elanite("mpirun", "--quiet", "-n", "4", ends, how)
    assert ended.code == code, ended
    assert gone(ends)
    text = ended.err.replace(ends, "ENDS").replace(MPICC, "MPICC")
    text = re.sub(r"pid \d+", "pid PID", text)
    text = re.sub(r"buf=0x[0-9a-f]+", "buf=WHERE", text)
    assert re.sub(r"[\d.,]+ µs", "SOME µs", text) == snapshot


@pytest.mark.parametrize(("how", "code"), [("abort", 7), ("error", 6)])
def test_an_abort(elanite: Run, ends: str, how: str, code: int) -> None:
    """The MPI library's own words on an error may be lost: mpiexec ends before it has passed them
    on.
    """
    ended = elanite("mpirun", "--quiet", "-n", "4", ends, how)
    assert ended.code == code, ended
    words = (
        "called MPI_Abort with code 7$" if how == "abort" else "ended the run with an error of MPI"
    )
    assert re.search(rf"^error: rank 1 \(pid \d+\) on node 1 {words}", ended.err, re.MULTILINE), (
        ended
    )
    assert gone(ends)


@pytest.mark.slow
def test_a_start_without_progress_is_an_error(elanite: Run, mpi_programs: Path) -> None:
    """It takes the ten seconds of patience."""
    script = f"[ $PMI_RANK = 2 ] && sleep 1000; exec {mpi_programs / 'messages'} 1"
    ended = elanite("mpirun", "--quiet", "-n", "4", "sh", "-c", script)
    assert ended.code == 1, ended
    why = "ranks 0-1, 3 wait in MPI_Init for rank 2, which has not called MPI_Init"
    assert ended.err == f"error: the start has made no progress for 10 s: {why}\n"


@pytest.mark.parametrize("network", ["machine", "ideal"])
@pytest.mark.parametrize("machine", ["es40-qsnet", "opteron-qsnet2"])
def test_messages_too_long_are_errors_of_their_receives(
    elanite: Run, mpi_programs: Path, machine: str, network: str
) -> None:
    """Received in every way that MPI has, short and long: see ``truncated.c``."""
    words = ("--machine", machine, "--network", network, str(mpi_programs / "truncated"))
    ended = elanite("mpirun", "--quiet", "-n", "3", *words)
    assert ended.code == 0, ended
    assert ended.out.startswith("176 messages too long\n")


@pytest.mark.parametrize(
    ("how", "first"),
    [("rounds", 1), ("overlap", 1), ("world", 9), ("some", 1), ("late", 0)],
)
def test_mpi_begins_again(elanite: Run, mpi_programs: Path, how: str, first: int) -> None:
    """By sessions, in all ways that MPI allows; the same each time."""
    runs = [elanite("mpirun", "-n", "4", str(mpi_programs / "sessions"), how) for _ in range(2)]
    assert runs[0].code == 0, runs[0]
    rounds = [first, 1, 2, 3] if first == 9 else [0, 1] if how == "late" else [1, 2, 3]
    assert runs[0].out.split() == [word for number in rounds for word in ("round", str(number))]
    digests = [re.findall(r"digest +(\w+)", ended.err) for ended in runs]
    assert digests[0] == digests[1] != []


def test_a_later_session_ends_as_the_first(elanite: Run, mpi_programs: Path) -> None:
    """A rank that has left MPI permanently is not awaited; a rank that may come back is."""
    stuck = elanite("mpirun", "--quiet", "-n", "4", str(mpi_programs / "sessions"), "deadlock")
    assert stuck.code == 3, stuck
    assert re.search(
        r"^error: deadlock at [\d,.]+ µs.*\n.*\n  0 +MPI_Recv +receives a message of rank 1, tag 7",
        stuck.err,
        re.MULTILINE,
    ), stuck
    assert len(stuck.err.splitlines()) == 3, stuck
    for _ in range(4):  # mpiexec may lose its helper before the helper has reported the exit code
        left = elanite("mpirun", "--quiet", "-n", "4", str(mpi_programs / "sessions"), "exit")
        if "exited with code" in left.err:
            break
    assert left.code == 5, left
    assert re.search(
        r"^error: rank 1 .* exited with code 5 at .* without MPI_Finalize$", left.err, re.MULTILINE
    ), left


@pytest.mark.parametrize(
    ("how", "ranks"),
    [("join", 2), ("connect", 2), ("file", 4), ("threads", 1), ("threads", 2), ("window", 2)],
)
def test_mpi_waits_outside_of_the_network(
    elanite: Run, mpi_programs: Path, tmp_path: Path, how: str, ranks: int
) -> None:
    """For a socket, the clock, a file, threads and its own memory: no deadlock; see
    ``outside.c``.
    """
    program = str(mpi_programs / "outside")
    ended = elanite("mpirun", "--quiet", "-n", str(ranks), program, how, cwd=tmp_path)
    assert (ended.code, ended.out) == (0, f"{how}: ended\n"), ended


def test_messages_of_a_rank_to_itself_need_nobody_else(elanite: Run, mpi_programs: Path) -> None:
    """Many at a time end while another rank sleeps for long; see ``itself.c``.

    That was once a deadlock.
    """
    runs = [elanite("mpirun", "-n", "2", str(mpi_programs / "itself")) for _ in range(2)]
    assert runs[0].code == 0, runs[0]
    assert runs[0].out.splitlines()[-1] == "16 of 1048576 bytes", runs[0]
    digests = [re.findall(r"digest +(\w+)", ended.err) for ended in runs]
    assert digests[0] == digests[1] != []


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("abort", "called MPI_Abort with code 7 at "),
        ("exit", "exited with code 7 at "),
        ("busy", "exited with code 7 at "),
    ],
)
def test_ranks_go_on_without_one(elanite: Run, mpi_programs: Path, how: str, words: str) -> None:
    """As natively: the others come to their ends, and the exit code is mpiexec's."""
    program = str(mpi_programs / "leaver")
    ended = elanite("mpirun", "--quiet", "--disable-auto-cleanup", "-n", "4", program, how)
    assert ended.code == 7, ended
    assert ended.out == "3 ranks went on\n", ended
    assert re.search(rf"^error: rank 3 \(pid \d+\) on node 3 {words}", ended.err, re.MULTILINE), (
        ended
    )
    assert ended.err.endswith("the other ranks went on to their ends\n"), ended
    ended = elanite("mpirun", "--quiet", "-n", "4", program, how)
    assert (ended.code, ended.out) == (7, ""), ended


def test_ranks_that_go_on_without_one_end_as_ever(elanite: Run, mpi_programs: Path) -> None:
    """By a deadlock, if they need it; all together by MPI_Abort on all, and by a signal, as with
    mpiexec.
    """
    program, words = (
        str(mpi_programs / "leaver"),
        ("mpirun", "--quiet", "--disable-auto-cleanup", "-n", "4"),
    )
    stuck = elanite(*words, program, "needed")
    assert stuck.code == 3, stuck
    assert re.search(
        r"^  0 +MPI_Recv +receives a message of rank 3, tag 5$", stuck.err, re.MULTILINE
    ), stuck
    assert re.search(
        r"^rank 3 .* exited with code 7 at .* without MPI_Finalize$", stuck.err, re.MULTILINE
    ), stuck
    every = elanite(*words, program, "world")
    assert (every.code, every.out) == (7, ""), every
    assert re.search(r"^error: rank 3 .* called MPI_Abort with code 7$", every.err, re.MULTILINE), (
        every
    )
    killed = elanite(*words, program, "signal")
    assert (killed.code, killed.out) == (1, ""), killed
    assert re.search(
        r"^error: rank 3 .* was killed by signal 11 \(SIGSEGV\)", killed.err, re.MULTILINE
    ), killed


FAULTS = (
    *("--set", "faults.timeout=50 us", "--set", "faults.backoff=20 us"),
    *("--set", "faults.detect=200 us", "--set", "faults.give_up=1 ms"),
)
"""Recovery times that make runs short."""


def test_bytes_arrive_whole_over_bad_cables(
    elanite: Run, tmp_path: Path, mpi_programs: Path
) -> None:
    """Bit errors, and a cable that is down for a while, cost only time; the command repeats its
    run.
    """
    words = ("-n", "8", str(mpi_programs / "faulty"), "50")
    faults = (
        "links = 'all', bit_error_rate = 1e-5",
        "link = 'node 3', at = '300 us', for = '100 us'",
    )
    asked = [word for fault in faults for word in ("--fault", fault)]
    well = elanite("mpirun", *FAULTS, *words)
    first, second = (elanite("mpirun", *FAULTS, *asked, *words) for _ in range(2))
    assert [one.code for one in (well, first, second)] == [0, 0, 0], (well, first)
    assert first.out == second.out
    times = [float(one.out.split()[-1]) for one in (well, first)]
    assert times[0] + 100e-6 < times[1], times
    assert "failed          all cables: bit error rate 1e-05" in first.err
    assert (
        "failed          cable from node 3 to switch 1.0: down from 300 µs to 400 µs\n" in first.err
    )
    assert re.search(r"sent again +[1-9][\d,]* packets", first.err), first
    assert "failed" not in well.err
    assert len(list((tmp_path / "out" / "mpirun").iterdir())) == 2


def test_a_host_that_stops_is_a_failed_rank(elanite: Run, mpi_programs: Path) -> None:
    fault = ("--fault", "node = 3, at = '1 ms'")
    ended = elanite("mpirun", "-q", *fault, "-n", "4", str(mpi_programs / "faulty"), "10000")
    assert (ended.code, ended.out) == (1, ""), ended
    assert ended.err == "error: the host of node 3 stopped at 1 ms, and rank 3 with it\n", ended
    # The first three ranks need the last one only for the first second of a split.
    words = (
        "-q",
        "--disable-auto-cleanup",
        *fault,
        "-n",
        "4",
        str(mpi_programs / "leaver"),
        "stays",
    )
    ended = elanite("mpirun", *words)
    assert (ended.code, ended.out) == (1, "3 ranks went on\n"), ended
    assert re.search(
        r"rank 3 \(pid \d+\) on node 3 failed when its host stopped at 1,000 µs", ended.err
    ), ended


def test_a_message_that_is_lost_is_an_error_of_mpi(elanite: Run, mpi_programs: Path) -> None:
    """MPICH ends the program then; the report names the lost message, and the reason."""
    fault = ("--fault", "link = 'node 3', at = '1 ms'")
    ended = elanite(
        "mpirun", "-q", *FAULTS, *fault, "-n", "4", str(mpi_programs / "faulty"), "10000"
    )
    assert ended.code not in (0, 9), ended
    assert ended.out == "", ended
    assert re.search(
        r"^error: rank [23] .* ended the run with an error of MPI", ended.err, re.MULTILINE
    ), ended
    # The cable may have lost the acknowledgement for the last message that went through.
    outcome = "the message (has not been|may have been) delivered"
    lost = rf"the first message that was lost: rank [23] .*node 3 .* has failed: .*; {outcome}"
    assert re.search(lost, ended.err), ended


def test_a_limit(elanite: Run, ends: str) -> None:
    ended = elanite("mpirun", "--quiet", "-n", "4", "--limit-time", "1ms", ends, "never")
    assert ended.code == 1
    assert "its bound of 1 ms of simulated time" in ended.err
    assert gone(ends)


def test_too_many_ranks(elanite: Run, ends: str) -> None:
    ended = elanite("mpirun", "-n", "65", ends)
    assert ended.code == 2
    assert "65 ranks at 1 a node need 65 nodes, and the machine has 64" in ended.err


@pytest.mark.skipif(not shutil.which("gcc"), reason="no gcc")
def test_a_static_program_is_refused(elanite: Run, tmp_path: Path) -> None:
    (tmp_path / "static.c").write_text("int main(void) { return 0; }\n", encoding="utf-8")
    made = subprocess.run(
        ["gcc", "-static", "-nostartfiles", "-Wl,-e,main", "-o", "static", "static.c"],
        cwd=tmp_path,
        check=False,
    )
    if made.returncode:
        pytest.skip("no static libraries")
    ended = elanite("mpirun", "-n", "2", "./static")
    assert ended.code == 2
    assert "./static is statically linked" in ended.err


@pytest.mark.parametrize("whom", ["rank", "mpiexec", "simulator", "interrupt"])
def test_nothing_is_left(tmp_path: Path, ends: str, whom: str) -> None:
    """Any process, killed in the middle of a run."""
    words = command("mpirun", "-n", "4", ends, "never")
    segments = ""
    with subprocess.Popen(
        words, cwd=tmp_path, env=environment(), stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert until(lambda: len(processes(ends)) == 4)
            time.sleep(0.5)
            maps = Path(f"/proc/{processes(ends)[0]}/maps").read_text()
            segments = (re.findall(r"/dev/shm/(mpich_shm_[0-9a-f]+)", maps) or [""])[0]  # noqa: S108 - the same
            if whom == "rank":
                os.kill(processes(ends)[2], signal.SIGKILL)
            elif whom == "mpiexec":
                children = (
                    Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
                )
                os.kill(int(children[0]), signal.SIGKILL)
            else:
                process.send_signal(signal.SIGINT if whom == "interrupt" else signal.SIGKILL)
            code = process.wait(PATIENCE)
            assert gone(ends)
            assert code == {"rank": 1, "mpiexec": 1, "simulator": -9, "interrupt": 130}[whom]
            said = process.stderr.read() if process.stderr else ""
        finally:
            process.kill()
    if segments and whom != "simulator":
        assert not list(Path("/dev/shm").glob(f"{segments}_*"))  # noqa: S108 - MPICH's own place
    if whom == "mpiexec":
        assert "mpiexec was killed by signal 9 (SIGKILL)" in said
    if whom == "rank":
        assert "was killed by signal 9 (SIGKILL)" in said


@pytest.mark.slow
def test_a_program_with_address_sanitizer_runs(elanite: Run, tmp_path: Path) -> None:
    """Its library wants to be loaded before the ranks' library, and is not."""
    source, program = tmp_path / "program.c", tmp_path / "program"
    options = 'const char *__asan_default_options(void) { return "detect_leaks=0"; }\n'
    source.write_text(options + (FILES.parent / "mpi" / "empty.c").read_text())
    words = [MPICC, "-fsanitize=address", "-o", str(program), str(source)]
    if subprocess.run(words, capture_output=True, timeout=PATIENCE, check=False).returncode:
        pytest.skip("the compiler has no AddressSanitizer")
    ended = elanite("mpirun", "--quiet", "-n", "2", str(program))
    assert (ended.code, ended.err) == (0, ""), ended
