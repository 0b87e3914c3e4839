"""The ways to run a batch's programs: natively, and on simulated machines with ``elanite mpirun``
options.

MPICH's own rendezvous (MPIR_CVAR_CH4_OFI_EAGER_THRESHOLD) is omitted. By default libfabric gets
messages with all lengths. With this rendezvous, MPICH 5.0.2 also fails natively: beside windows,
and for receives from any source with holes in the data.

The configurations follow from the batch number. Impossible ones are never drawn: more ranks than
nodes, or messages longer than an adapter's memory.
"""

from __future__ import annotations

import os
import random
import shlex
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path

from .draw import ranks_of, small

NODES = {"es40-qsnet": 64, "opteron-qsnet2": 8, "smart-multirail": 128}
PROCESSORS = {"es40-qsnet": 4, "opteron-qsnet2": 2, "smart-multirail": 4}
"""Per node, which bounds its rank count."""

RAILS = {
    "rails.count": ("2", "3", "4"),
    "rails.policy": ("basic", "local-dynamic", "dynamic", "hybrid"),
    "rails.striping": ("0", "0.5", "1"),
    "rails.threshold": ("1KB", "8KB", "32KB"),
    "rails.handle": ("200",),
    "rails.poll": ("1us",),
}
"""Multirail keys, and their possible values. "static" needs more rails with more nodes."""

BIN = Path(sys.executable).parent


@dataclass(frozen=True)
class Configuration:
    """A way to run: the words before the program, and variables of the environment."""

    name: str
    words: tuple[str, ...]
    variables: dict[str, str] = field(default_factory=dict)
    simulated: bool = True

    def command(self, program: str, out: str) -> list[str]:
        """The whole command line, with a folder for a simulated run's outputs."""
        return (
            [*self.words, "--out", out, "--quiet", program]
            if self.simulated
            else [*self.words, program]
        )

    def shown(self, program: str) -> str:
        """As a user types it."""
        variables = [f"{name}={value}" for name, value in sorted(self.variables.items())]
        return shlex.join([*variables, *self.words, program])


def native(ranks: int) -> Configuration:
    """MPICH's shared memory on this machine, with the network layer that the simulated runs
    have.
    """
    words = (str(BIN / "mpiexec"), "-n", str(ranks))
    variables = {
        "MPIR_CVAR_CH4_NETMOD": "ofi",
        "FI_PROVIDER": "tcp",
        # There are more ranks than processors: an idle rank leaves its processor to others.
        "MPIR_CVAR_CH4_PROGRESS_THROTTLE": "1",
        "MPIR_CVAR_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT": "64",
    }
    return Configuration("native", words, variables, simulated=False)


def network(ranks: int) -> Configuration:
    """MPICH's messages over libfabric and TCP: differences there, too, are not the simulator's
    fault.
    """
    shared = native(ranks)
    return replace(shared, name="tcp", variables=shared.variables | {"MPIR_CVAR_NOLOCAL": "1"})


def executable() -> str:
    """The command under test; ``ELANITE_FUZZ_COMMAND`` names another one."""
    return os.environ.get("ELANITE_FUZZ_COMMAND") or str(BIN / "elanite")


def simulated(batch: int) -> list[Configuration]:
    """Two simulated ways for a batch's programs: on each of the papers' machines, or a third one
    instead.
    """
    rng = random.Random(f"configurations {batch}")
    machines = ["es40-qsnet", "opteron-qsnet2"]
    if rng.random() < 0.25:
        machines[rng.randrange(2)] = "smart-multirail"
    return [_drawn(rng, batch, machine) for machine in machines]


def _drawn(rng: random.Random, batch: int, machine: str) -> Configuration:
    ranks = ranks_of(batch)
    words = [executable(), "mpirun", "-n", str(ranks), "--machine", machine]
    fitting = [one for one in (1, 1, 1, 2, 2, 4, 4) if one <= PROCESSORS[machine]]
    per_node = rng.choice([one for one in fitting if -(-ranks // one) <= NODES[machine]])
    name = machine
    if per_node > 1:
        words += ["--ranks-per-node", str(per_node)]
        name += f", {per_node} a node"
    place = rng.choice(("block", "block", "cyclic", "random"))
    if place != "block":
        words += ["--placement", place, "--seed", str(1 + batch % 97)]
    way = rng.random()
    if way < 0.12:
        words += ["--network", "ideal"]
        name += ", ideal"
    elif small(batch) and way < 0.6:
        words += ["--memory", "elan"]
        name += ", memory elan"
    elif way < 0.75 or machine == "smart-multirail":
        count, policy = rng.choice(RAILS["rails.count"]), rng.choice(RAILS["rails.policy"])
        own = {"rails.count": count, "rails.policy": policy}
        for key, values in RAILS.items():
            words += ["--set", f"{key}={own.get(key) or rng.choice(values)}"]
        name += f", {count} rails {policy}"
    collectives = random.Random(f"collectives {batch} {machine}").choice(
        ("mpi", "hardware", "hardware", "elan")
    )
    words += ["--collectives", collectives]
    if collectives != "mpi":
        name += f", collectives {collectives}"
    return Configuration(name, tuple(words))
