"""``elanite`` with a false simulator of MPI programs, which waits for mpiexec and reports the
outcome that it is given.

Arguments are those of ``elanite``. ``FAKE`` in the environment holds the outcome as JSON; without
it, the run is finished when mpiexec has ended. ``FAKE_LIBRARY`` names the library that ranks load.
Ranks are processes of any kind.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from columns import columns

from elanite import _core
from elanite.mpirun import launcher, session
from elanite.store import TABLES

LINK = f"/proc/{os.getpid()}/fd/0"


class FakeRun:
    """Has the methods of ``_core.MpiRun``."""

    def __init__(
        self,
        machine_text: str,
        machine_file: str,
        overrides: list[str],
        faults: list[str],
        options_json: str,
    ) -> None:
        self._faults = faults
        self.options: dict[str, Any] = json.loads(options_json)
        self._nodes = self.options["placement"] or [
            rank // self.options["ranks_per_node"] for rank in range(self.options["ranks"])
        ]
        if where := os.environ.get("FAKE_OPTIONS"):
            Path(where).write_text(options_json, encoding="utf-8")
        self._pids: dict[int, int] = {}

    def collectives(self) -> str:
        return self.options.get("collectives", "mpi")

    def environment(self) -> dict[str, str]:
        return {"ELANITE_LINK": LINK}

    def serve(self, cancel: _core.Cancel, launcher_pid: int) -> str:
        outcome = json.loads(os.environ.get("FAKE", "{}"))
        usual = {
            "end": "finished",
            "message": "",
            "waiting": [],
            "rank": None,
            "dead": [],
            "time_us": 12.345,
        }
        usual["attached"] = self.options["ranks"]
        for_ranks = time.monotonic() + 20
        while (
            outcome.get("end")
            and len(self._ranks()) < self.options["ranks"]
            and time.monotonic() < for_ranks
        ):
            if not Path(f"/proc/{launcher_pid}").exists():
                break
            time.sleep(0.01)
        time.sleep(float(os.environ.get("FAKE_SECONDS", "0")))
        if outcome.get("end", "finished") in ("finished", "died", "launcher gone", "no mpi"):
            while Path(f"/proc/{launcher_pid}").exists() and not cancel.is_set():
                self._ranks()
                time.sleep(0.01)
        if cancel.is_set():
            outcome["end"] = "cancelled"
        return json.dumps(usual | outcome)

    def sight(self) -> tuple[int, int, list[tuple[object, ...]]]:
        return 0, 0, []

    def pids(self) -> list[int | None]:
        if (
            json.loads(os.environ.get("FAKE", "{}")).get("attached") == 0
        ):  # only of those that have attached
            return [None] * self.options["ranks"]
        return [self._pids.get(rank) for rank in range(self.options["ranks"])]

    def left(self) -> list[tuple[int, str, int]]:
        return []

    def end(self) -> None:
        for pid in self._ranks().values():
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)

    def records(self) -> dict[str, dict[str, tuple[str, list[Any]]]]:
        ranks = range(self.options["ranks"])
        link = {
            "link": 3,
            "from": "node 0",
            "to": "switch 1.0",
            "level": 0,
            "up": True,
            "packets": 7,
            "flits": 700,
        }
        times = {"busy_ps": 6_172_500, "waiting_ps": 1_400_000, "delay_ps": 1_500_000}
        links = [link | times | {"errors": 0, "down_ps": 0}]
        calls = (
            [(rank, call, begin, end) for rank in ranks for call, begin, end in CALLS]
            if self.options["calls"]
            else []
        )
        messages = [(rank, (rank + 1) % len(ranks), *rest) for rank in ranks for rest in MESSAGES]
        things = [("bus", 0), ("thread", 1), ("link", 3)]
        series = [(begin, end, *thing, busy) for thing in things for begin, end, busy in SERIES]
        return {
            "messages": columns(
                messages,
                "source",
                "destination",
                "bytes",
                "tag",
                "kind",
                "posted_us",
                "sent_us",
                "arrived_us",
            ),
            "calls": columns(calls, "rank", "call", "begin_us", "end_us"),
            "ranks": columns(
                [
                    (
                        rank,
                        self._nodes[rank],
                        1000 + rank,
                        2,
                        1024,
                        2,
                        1024,
                        4,
                        5.5 + rank,
                        0.0,
                        12.0,
                        *NO_FILES,
                    )
                    for rank in ranks
                ],
                *(
                    "rank",
                    "node",
                    "pid",
                    "messages_sent",
                    "bytes_sent",
                    "messages_received",
                    "bytes_received",
                ),
                *("calls", "mpi_us", "clocks_us", "end_us", *FILES),
            ),
            "links": columns([tuple(row.values()) for row in links], *links[0]),
            "faults": {
                name: (kind, [self._fault(number)[name] for number in range(len(self._faults))])
                for name, kind in TABLES["faults"].items()
            },
            "series": columns(series, "time_us", "end_us", "thing", "id", "busy"),
            "summary": columns(
                [
                    (
                        12.345,
                        len(messages),
                        1024 * len(ranks),
                        9,
                        0,
                        "0123456789abcdef",
                        99,
                        True,
                        0,
                        0,
                        0,
                    )
                ],
                *(
                    "time_us",
                    "messages",
                    "bytes",
                    "packets",
                    "packets_resent",
                    "digest",
                    "events",
                    "repeatable",
                ),
                *("collectives_hardware", "collectives_elan", "collectives_mpi"),
            ),
        }

    def _fault(self, number: int) -> dict[str, Any]:
        """A part that is down from the start, for each fault that was asked for."""
        row: dict[str, Any] = dict.fromkeys(TABLES["faults"])
        return row | {
            "fault": number,
            "part": "switch",
            "name": f"what {self._faults[number]} says",
            "down_ps": 0,
        }

    def _ranks(self) -> dict[int, int]:
        """Processes that have the link and a rank in their environment: those that mpiexec
        started.
        """
        for entry in Path("/proc").iterdir():
            with suppress(OSError, ValueError):
                words = (entry / "environ").read_bytes().split(b"\0")
                if f"ELANITE_LINK={LINK}".encode() in words:
                    for word in words:
                        if word.startswith(b"PMI_RANK="):
                            self._pids.setdefault(
                                int(word.removeprefix(b"PMI_RANK=")), int(entry.name)
                            )
        return self._pids


FILES = (
    *("file_operations", "file_bytes_read", "file_bytes_written", "files_us"),
    *("untimed_operations", "untimed_bytes_read", "untimed_bytes_written"),
)
NO_FILES = (0, 0, 0, 0.0, 0, 0, 0)

CALLS = [
    ("MPI_Init", 0.0, 1.0),
    ("MPI_Send", 2.0, 4.5),
    ("MPI_Recv", 4.5, 10.123456),
    ("MPI_Finalize", 11.0, 12.0),
]

MESSAGES = [(0, 7, "tagged", 2.25, 4.0, 9.75), (1024, 8, "tagged", 10.5, 10.75, 11.5)]

SERIES = [(0.0, 2.0, 0.25), (4.0, 6.0, 1.0), (6.0, 8.0, 0.5)]


_core.MpiRun = FakeRun  # type: ignore[misc, assignment]
launcher.library = lambda: Path(os.environ["FAKE_LIBRARY"])
# Ranks that are no MPI programs do not notice that the simulator has ended.
session.GRACE = 0.5

if __name__ == "__main__":
    from elanite.cli import main

    main(sys.argv[1:])
