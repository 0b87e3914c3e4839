"""The user's own simulators: Rust programs with further kinds of topologies, sources or policies.

``ELANITE_SIMULATOR=PROGRAM`` names such a program (``crates/experiment/src/program.rs``). The calls
that read machine and experiment files or simulate go to the program, each as one process;
everything else is the module ``_core`` as it is. So commands, the store and figures are independent
of simulators. The engine's fingerprint covers the program's file: points from another program build
are points from another engine.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypedDict

from elanite.base import bounded
from elanite.errors import ConfigError, Exit, RunError, UsageError

if TYPE_CHECKING:
    from elanite._core import Cancel, Records
    from elanite._core import _Columns as Columns

VARIABLE = "ELANITE_SIMULATOR"

_LOOK = 0.1
"""Seconds between two looks at the flag that ends a simulation."""


def module() -> ModuleType:
    """The module ``_core``, or the one that calls the program which the environment names."""
    core = import_module("elanite._core")
    program = os.environ.get(VARIABLE)
    return _Simulator(core, Path(program)) if program else core


class Answer(TypedDict, total=False):
    """The program's answer: a result, or the exception that ``_core`` raises in its place."""

    ok: Any
    config: tuple[str, str]
    run: tuple[str, Exit]


class _Simulator(ModuleType):
    """The module ``_core`` where some calls go to a program."""

    def __init__(self, core: ModuleType, program: Path) -> None:
        super().__init__("elanite._core")
        self._core = core
        self._program = program
        self._is_checked = False
        try:
            self._content = bounded.load(program, bounded.TRACE)
        except OSError:
            self._content = b""  # the first call reports it
        self.ENGINE = self._engine(core.ENGINE)

    def __getattr__(self, name: str) -> object:
        return getattr(self._core, name)

    def fingerprints(self, root: str | Path) -> tuple[str, str]:
        engine, sources = self._core.fingerprints(root)
        return self._engine(engine), sources

    def load_machine(self, text: str, file: str, overrides: list[str]) -> str:
        return json.dumps(self._call("load_machine", text, file, overrides))

    def load_experiment(self, text: str, file: str, overrides: list[str]) -> str:
        return json.dumps(self._call("load_experiment", text, file, overrides))

    def machine_warnings(self, text: str, file: str, overrides: list[str]) -> str:
        return json.dumps(self._call("machine_warnings", text, file, overrides))

    def point_warnings(self, point_json: str) -> str:
        return json.dumps(self._call("point_warnings", point_json))

    def plan(self, *arguments: object) -> list[tuple[str, str, str]]:
        return [
            (point, key, parameters) for point, key, parameters in self._call("plan", *arguments)
        ]

    def simulate(
        self,
        point_json: str,
        cancel: Cancel,
        memory: int | None = None,  # noqa: ARG002 - its own
        threads: int = 1,
    ) -> Records:
        more = (threads,) if threads > 1 else ()
        records: Records = self._call("simulate", point_json, *more, cancel=cancel)
        return records

    def undivided(self, point_json: str) -> str | None:
        reason: str | None = self._call("undivided", point_json)
        return reason

    def links(self, point_json: str) -> int:
        return int(self._call("links", point_json))

    def wiring(self, point_json: str) -> Columns:
        columns: Columns = self._call("wiring", point_json)
        return columns

    def _engine(self, core: str) -> str:
        """The fingerprint for the engine from the core's fingerprint."""
        return hashlib.sha256(core.encode() + self._content).hexdigest()[: len(core)]

    def _call(self, name: str, *arguments: object, cancel: Cancel | None = None) -> Any:
        """A call's result. Its failure is the exception that ``_core`` raises for it."""
        if not self._is_checked:
            self._is_checked = True
            revision, own = self._answer("revision", (), None).get("ok"), self._core.MODEL_REVISION
            if revision != own:
                raise UsageError(
                    f"{VARIABLE}={self._program}: the program has model revision {revision}, and"
                    f" elanite has {own}; compile the program with the crates of this version"
                )
        found = self._answer(name, arguments, cancel)
        if "config" in found:
            raise ConfigError(*found["config"])
        if "run" in found:
            raise RunError(*found["run"])
        return found["ok"]

    def _answer(self, name: str, arguments: tuple[object, ...], cancel: Cancel | None) -> Answer:
        pipe = subprocess.PIPE
        try:
            command: list[str | Path] = [self._program, name]
            process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True)  # noqa: S603 - the user's own
        except OSError as error:
            raise UsageError(
                f"{VARIABLE}={self._program}: {error.strerror}; it must name a program"
            ) from error
        with process:
            answer, said = _ended(process, json.dumps(arguments), cancel)
        try:
            found: Answer = json.loads(answer)
        except ValueError as error:
            about = said.strip() or f"it wrote {answer[:80]!r}"
            raise RunError(
                f"{VARIABLE}={self._program}: no answer to `{name}`: {about}", Exit.BROKEN
            ) from error
        return found


def _ended(
    process: subprocess.Popen[str], arguments: str, cancel: Cancel | None
) -> tuple[str, str]:
    """An ended process's standard output and standard error, unless the flag is set before."""
    remaining: str | None = arguments
    while True:
        try:
            return process.communicate(remaining, timeout=None if cancel is None else _LOOK)
        except subprocess.TimeoutExpired:
            remaining = None  # it has been handed over
            if cancel is not None and cancel.is_set():
                process.kill()
                raise RunError("the run was cancelled", Exit.INTERRUPTED) from None
