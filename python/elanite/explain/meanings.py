"""The meaning of a key, a claim or a result column.

A machine parameter and an experiment file key have the schema's words, with the file reader's
bounds and the values in the shipped machines. A parameter also has the claims that it moves, by the
shipped studies (see ``studied``), and a claim the parameters that move it.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from elanite import _core
from elanite.base.schema import resolved
from elanite.base.text import counted, plain, symbol
from elanite.errors import ConfigError, UsageError
from elanite.explain.catalog import SchemaParameter, every_parameter, fields_of, words_of
from elanite.inputs import sources
from elanite.inputs.machine import Machine
from elanite.results.metrics import MEANINGS
from elanite.study import study_findings
from elanite.study.basis import machine_claims, studies
from elanite.study.variation import is_uncertain
from elanite.validation import ablation_verdicts
from elanite.validation.cells import published
from elanite.validation.claim import COUNTED, fitted_parameters
from elanite.validation.claims import claims

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from elanite.inputs.sources import Source
    from elanite.study.study_findings import Effect, StudyOutcome
    from elanite.validation.claim import Claim

MOST_UNSEEN = 4
"""Claims at most that are named as not looked at."""


@dataclass(frozen=True)
class Meaning:
    """A key's meaning."""

    key: str
    text: str
    """A sentence or two."""
    allowed: str = ""
    """Type, unit and bounds."""
    allowed_on: str = ""
    """The bounds' machine; they may depend on its other values, as a delay's bounds on its
    cycle.
    """
    facts: list[tuple[str, str]] = field(default_factory=list)
    """More facts, as name and text pairs."""
    moves: list[StudyResult] = field(default_factory=list)
    """Which claims a parameter moves, or which parameters move a claim, on each machine."""


@dataclass(frozen=True)
class StudyResult:
    """The result of a machine's study for a parameter or a claim."""

    name: str
    text: str
    """The study's size and origin, or the reason for its absence."""
    steps: tuple[str, str] = ("lower", "higher")
    """The parameter's two values, in short."""
    effects: list[Effect] = field(default_factory=list)
    """The strongest first; empty without a study, or if no value moved."""
    fitted: frozenset[tuple[str, str]] = frozenset()
    """The parameter and claim pairs in which the parameter was fitted to the claim."""


SYNONYMS = {
    "latency": ("link.hop_delay", "adapter.dma_start", "adapter.input"),
    "delay": ("link.hop_delay",),
    "bandwidth": ("link.rate", "bus.rate"),
    "speed": ("link.rate", "bus.rate"),
    "mtu": ("packet.payload",),
    "packet_size": ("packet.payload",),
    "buffers": ("link.buffer", "adapter.input_buffers"),
    "credits": ("link.buffer", "link.credit_delay"),
    "queue_depth": ("adapter.queue", "adapter.packets_in_flight"),
    "window": ("run.window", "adapter.packets_in_flight"),
    "vcs": ("link.channels",),
    "virtual_channels": ("link.channels",),
    "virtual_lanes": ("link.channels",),
    "ports": ("topology.down", "topology.up"),
    "radix": ("topology.down", "topology.up"),
    "oversubscription": ("topology.up", "topology.parallel"),
    "taper": ("topology.up", "topology.parallel"),
    "levels": ("topology.down", "topology.up"),
    "switches": ("topology.down", "topology.up"),
    "cores": ("host.cpus",),
    "nics": ("rails.count",),
    "pcie": ("bus.rate", "bus.duplex", "elan4.split"),
    "eager": ("tport.big", "tport.small"),
    "eager_limit": ("tport.big", "tport.small"),
    "rendezvous": ("tport.big",),
    "switch_latency": ("link.hop_delay",),
    "switch_delay": ("link.hop_delay",),
    "cable": ("link.hop_delay", "link.credit_delay"),
    "overhead": ("host.call", "host.request", "bus.burst_overhead", "packet.transaction_overhead"),
    "arbiter": ("switch.arbitration",),
    "adaptive": ("switch.ascent", "topology.routing"),
}
"""Other names for the parameters, the most frequent meaning first."""


def explain(key: str, machine: Source | None = None) -> Meaning:
    """A key's meaning, in the shipped machines or in one machine.

    Raises ``UsageError`` with similar keys for an unknown one.
    """
    known = _known(machine)
    if key in known:
        return known[key]()
    tails = sorted(name for name in known if name.rsplit(".", 1)[-1] == key)
    if len(tails) == 1:
        return explain(tails[0], machine)
    if meant := _matches(key):
        hint = f"; here that is {' or '.join(f'`{one}`' for one in meant)}"
    else:
        hint = f"; there are: {', '.join(tails)}" if tails else sources.did_you_mean(key, known)
    raise UsageError(
        f"there is no parameter, claim, key or column `{key}`{hint}\n  `elanite list parameters`"
        " lists parameters"
    )


def _known(machine: Source | None) -> dict[str, Callable[[], Meaning]]:
    """All explainable names: parameters, claims, experiment file keys, result columns."""
    known: dict[str, Callable[[], Meaning]] = {
        one.key: partial(_parameter, one, machine) for one in every_parameter()
    }
    known |= {claim.id: partial(_claim, claim) for claim in claims()}
    columns = _columns()
    others = [(name, text, [("where", "experiment files")]) for name, text in _experiment_keys()]
    for name, (text, where) in MEANINGS.items():
        others.append(
            (
                name,
                text,
                [("where", where), *(("also", f"{said}. {more}") for said, more in columns[name])],
            )
        )
    others += [
        (name, places[0][1], [("where", places[0][0])])
        for name, places in columns.items()
        if places
    ]
    for name, text, facts in others:
        known.setdefault(name, partial(Meaning, name, text, facts=facts))
    return known


def _parameter(one: SchemaParameter, machine: Source | None) -> Meaning:
    allowed, where = _allowed(one, machine)
    chosen = (
        [machine]
        if machine
        else [sources.read("machine", name) for name in sources.shipped("machine")]
    )
    moves = _moves_here(one.key, machine) if machine else _moves(one.key)
    return Meaning(one.key, one.text, allowed, where, list(_values(one.key, chosen)), list(moves))


def _claim(claim: Claim) -> Meaning:
    facts = [
        ("published", published(claim)),
        ("source", claim.cited),
        ("role", claim.standing),
        ("rests on", ", ".join(claim.rests_on)),
        ("not in the headline", claim.because),
        ("turned by", _turned(claim)),
        ("experiment", claim.experiment),
        ("tested as", claim.test),
        ("bounds of ours", claim.ours),
        ("figure of one run", claim.one_run),
        (
            "also judged over",
            f"the admissible range of {claim.admissible}" if claim.admissible else "",
        ),
        ("one miss with", claim.one_miss),
        ("known miss", claim.known_miss),
        ("inference", claim.inference),
        ("fitted by", ", ".join(_fitted_by(claim.id))),
    ]
    return Meaning(
        claim.id,
        claim.says,
        facts=[fact for fact in facts if fact[1]],
        moves=list(_moved(claim.id)),
    )


def _columns() -> dict[str, list[tuple[str, str]]]:
    """All tables' columns by name: for each table that has one, its place and its meaning."""
    found: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for table, columns in _core.tables():
        for column, kind, unit, text in columns:
            said = f"a column of the table `{table}`: {kind}{f', {symbol(unit)}' if unit else ''}"
            found[column].append((said, text))
    return found


def _turned(claim: Claim) -> str:
    """The model mechanisms with a removal that turns the verdict on a claim that the headline may
    count.
    """
    if claim.role != "predicted" or claim.rank not in COUNTED or claim.today:
        return ""
    rows = ablation_verdicts.shipped().get(claim.id)
    if rows is None:
        return "not yet ablated"
    if not ablation_verdicts.agrees(claim, rows):
        return (
            "not yet ablated, as short runs give another verdict on the unchanged model than the"
            " scoreboard"
        )
    return (
        ", ".join(ablation_verdicts.turning(rows))
        or "no removed mechanism, so that the headline does not count it"
    )


def _matches(key: str) -> tuple[str, ...]:
    """The parameters with this other name; only the named section's, if it has one."""
    section, _, word = key.rpartition(".")
    word = word.replace("-", "_").lower()
    found = next(
        (SYNONYMS[each] for each in (word, f"{word}s", word.removesuffix("s")) if each in SYNONYMS),
        (),
    )
    return tuple(one for one in found if one.startswith(f"{section}.")) or found


TRIALS = (
    '"?"',
    "0",
    '"0 B"',
    '"0 MB/s"',
    '"0 flits"',
    '"100000 s"',
    '"100000 GB"',
    "4000000000",
    "-1",
)
"""Values that a machine file reader refuses with the bounds, or takes."""

FILES = ("files.latency=1 us", "files.rate=1 GB/s", "files.total=1 GB/s", "files.servers=1")
"""A file system for the trials: no shipped machine has one, and each key of the section needs
others.
"""


def _allowed(parameter: SchemaParameter, machine: Source | None = None) -> tuple[str, str]:
    """A parameter's type and bounds, in the machine file reader's words, and the machine that it
    read.
    """
    name = "es40-qsnet" if not parameter.key.startswith(("elan4.", "rails.")) else "opteron-qsnet2"
    if parameter.key.startswith("rails."):
        name = "smart-multirail"
    source = machine or sources.read("machine", name)
    section = FILES if parameter.key.startswith("files.") else ()
    others = [one for one in section if not one.startswith(f"{parameter.key}=")]
    said: list[str] = []
    for trial in TRIALS:
        try:
            _core.load_machine(source.text, source.file, [*others, f"{parameter.key}={trial}"])
        except ConfigError as error:
            said += [
                problem["allowed"]
                for problem in json.loads(error.args[1])
                if problem["key"].removesuffix(".value") == parameter.key and problem["allowed"]
            ]
    # The type in words once, and every bound.
    types = [one for one in said if "such as" in one or one.startswith("a decimal number")]
    bounds = [one for one in said if one not in types]
    return "; ".join(dict.fromkeys([*types[-1:], *bounds])).replace(" us", " µs"), source.name


def _values(key: str, machines: Sequence[Source]) -> Iterator[tuple[str, str]]:
    """A parameter's value in each machine that has it, with its source, and the claims that fitted
    it.
    """
    for machine in machines:
        for one in Machine.of(machine).parameters:
            if one.key == key:
                fitted = f"; fitted to {', '.join(one.fitted_to)}" if one.fitted_to else ""
                yield machine.name, f"{plain(one.value)}: {one.provenance}{fitted}"


def _moves(key: str) -> Iterator[StudyResult]:
    """Which claims a parameter moves, on each shipped machine that has the parameter."""
    others: dict[str, list[str]] = {}
    for name in sources.shipped("machine"):
        machine = Machine.load(name)
        one = next((each for each in machine.parameters if each.key == key), None)
        study = study_findings.shipped().get(name)
        if one is None:
            continue
        if study is None:
            made = (
                f"; elanite sweep {name} --one-at-a-time makes a study" if name in studies() else ""
            )
            others.setdefault(f"not studied{made}", []).append(name)
        elif not is_uncertain(one):
            others.setdefault(
                "not studied, as studies change only values that were fitted or assumed", []
            ).append(name)
        elif key not in study.values:
            why = "not studied, as the value has no step that the machine and the experiments take"
            others.setdefault(why, []).append(name)
        else:
            values, effects = study.values[key], study.of(key)
            stale = study.stale(key, str(one.value))
            of = f"of {counted(len(study.claims), 'claim')} studied ({stale or study.date})"
            said = f"{len(effects) or 'none'} {of}{_unknown_effects(name, study)}"
            steps = (plain(values.get("less", "")), plain(values.get("more", "")))
            yield StudyResult(f"moves on {name}", said, steps, effects, _pairs(name))
    for why, names in others.items():
        yield StudyResult(f"moves on {', '.join(names)}", why)


def _moves_here(key: str, machine: Source) -> Iterator[StudyResult]:
    """Which claims a parameter moves on one machine, which may be the user's."""
    shipped = sources.shipped("machine")
    if machine.name in shipped and sources.read("machine", machine.name).text == machine.text:
        for each in _moves(key):
            if machine.name in (names := each.name.removeprefix("moves on ").split(", ")):
                yield (
                    each if len(names) == 1 else StudyResult(f"moves on {machine.name}", each.text)
                )
    else:
        yield StudyResult(
            f"moves on {machine.name}",
            "not studied: there are no claims about a machine of your own",
        )


def _unknown_effects(machine: str, study: StudyOutcome) -> str:
    """The predicted claims about a machine that its study does not have, in words: their effects
    are unknown.
    """
    names = [
        claim.id
        for claim in machine_claims(machine)
        if claim.role == "predicted" and claim.id not in study.claims
    ]
    if not names:
        return ""
    more = f" and {len(names) - MOST_UNSEEN} more" if len(names) > MOST_UNSEEN else ""
    return f"; not looked at: {', '.join(names[:MOST_UNSEEN])}{more}"


def _moved(claim: str) -> Iterator[StudyResult]:
    """Which parameters move a claim."""
    machines = [name for name in studies() if any(one.id == claim for one in machine_claims(name))]
    if machines and not any(claim in study.claims for study in study_findings.shipped().values()):
        yield StudyResult(
            f"moved on {', '.join(machines)} by", "not looked at: no study has this claim"
        )
    for name, study in study_findings.shipped().items():
        if claim in study.claims:
            effects = study.on(claim)
            of = f"of {counted(len(study.values), 'parameter')} that were fitted or assumed"
            said = f"{len(effects) or 'none'} {of} (studied {study.date})"
            yield StudyResult(f"moved on {name} by", said, effects=effects, fitted=_pairs(name))


def _pairs(machine: str) -> frozenset[tuple[str, str]]:
    """The fitted parameters, each with each of its claims."""
    return frozenset(
        (key, claim)
        for key, names in fitted_parameters().get(machine, {}).items()
        for claim in names
    )


def _fitted_by(claim: str) -> list[str]:
    """The parameters that were fitted to a claim, with their machines."""
    return [
        f"{key} ({machine})"
        for machine, fitted in fitted_parameters().items()
        for key, names in fitted.items()
        if claim in names
    ]


def _experiment_keys() -> Iterator[tuple[str, str]]:
    """The experiment file keys, from the schema."""
    schema = json.loads(_core.schema("experiment"))
    for section, entry in schema["properties"].items():
        found = resolved(entry, schema)
        yield section, words_of(entry) or words_of(found)
        for key, one in fields_of(found, schema):
            yield f"{section}.{key}", words_of(one)
            if section == "series":
                for inner, each in fields_of(one, schema):
                    yield f"{section}.{key}.{inner}", words_of(each)
