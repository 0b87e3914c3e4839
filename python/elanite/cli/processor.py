"""The command ``calibrate-host``: this computer's processor, as a machine file section."""

from __future__ import annotations

import json
import platform
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

import typer

from elanite.cli.common import TableFormat, data, say
from elanite.cli.request import Request

FILE = Path("processor.toml")
"""The section's default file."""


@dataclass(frozen=True, kw_only=True)
class CalibrateHost(Request):
    """Measure the processor and memory of this computer.

    \b
    Examples:
      elanite calibrate-host
      elanite calibrate-host --out host.toml --format json

    Measured are the time of a round of the noise test's loop, six operations on one register that
    wait for each other, and the rates at which one processor and all of them copy in main memory
    (bytes read and written). FILE then has the section [processor] of a machine file. On a machine
    with this section, `elanite mpirun --compute sampled:TABLE` scales the times of the table from
    the host that measured them to the machine. Run the command on an idle computer.
    """

    verb: ClassVar[str] = "calibrate-host"

    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="The file of the section.")] = (
        FILE
    )
    format_: Annotated[
        TableFormat, typer.Option("--format", "-f", help="How to print the measurement.")
    ] = TableFormat.TABLE

    def execute(self) -> None:
        """Run the command."""
        from elanite import _core
        from elanite.base import whole
        from elanite.errors import UsageError

        whole.prepare(self.out, UsageError)
        step, core_memory, memory, cores = _core.measure_processor()
        found = {"step": step, "core_memory": core_memory, "memory": memory}
        source = (
            f"measured by elanite calibrate-host, {cores} processors of a machine with"
            f" {platform.system()}"
        )
        lines = [
            f"{key} = {{ value = {json.dumps(value)}, source = {json.dumps(source)} }}"
            for key, value in found.items()
        ]
        whole.write(self.out, "\n".join(["[processor]", *lines, ""]), UsageError)
        if self.format_ is TableFormat.JSON:
            data(json.dumps(found | {"cores": cores}))
        else:
            for key, value in (found | {"cores": cores}).items():
                data(f"{key:12} {value}")
        say(f"wrote {self.out}")
