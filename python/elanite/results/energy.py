"""A network's energy: link counters times the energy per bit, and idle power times time.

The simulator counts flits, and has no notion of joules. So the parameters decide no result, and
stand in a separate file beside the machine: new values need no new simulation. Each parameter has a
value and a source:

    [energy]
    link_bit = { value = "5 pJ", source = "..." }

| parameter | is |
|---|---|
| ``link_bit`` | energy per bit that crosses a link in one direction: both ends and the cable |
| ``switch_bit`` | energy per bit that leaves a switch |
| ``adapter_bit`` | energy per bit that an adapter sends or receives |
| ``link_idle`` | power of a link for each direction, at any load |
| ``switch_idle`` | power of a switch at any load |
| ``adapter_idle`` | power of an adapter at any load |

Bits are all flits, with packet headers and checksums; acknowledgement tokens are not counted. For a
point, flits and time come from the measured window. Limits: power is linear in load; sleeping
links, fans, power supply losses and the hosts are in no parameter.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from elanite import _core
from elanite.base import bounded
from elanite.base.foreign import reading
from elanite.base.units import stated
from elanite.errors import UsageError
from elanite.store import frame

if TYPE_CHECKING:
    from pathlib import Path

    from elanite.inputs.plan import Point
    from elanite.store import Store

PARAMETERS = {
    "link_bit": "J",
    "switch_bit": "J",
    "adapter_bit": "J",
    "link_idle": "W",
    "switch_idle": "W",
    "adapter_idle": "W",
}
"""All parameters, with their units."""
_PREFIXES = {"": 1.0, "m": 1e-3, "u": 1e-6, "µ": 1e-6, "n": 1e-9, "p": 1e-12, "f": 1e-15, "k": 1e3}
_VALUE = re.compile(r"([0-9]+(?:\.[0-9]+)?(?:e-?[0-9]+)?) ?([muµnpfk]?)([JW])")
_EXAMPLE = {"J": "5 pJ", "W": "0.5 W"}


@dataclass(frozen=True)
class EnergyParameters:
    """Parts' energy, in J per bit, and power, in W."""

    link_bit: float
    switch_bit: float
    adapter_bit: float
    link_idle: float
    switch_idle: float
    adapter_idle: float


def load(path: Path) -> EnergyParameters:
    """A file's parameters. Raises ``UsageError``, which names file and key."""
    with reading(path, "it cannot be read", "name a file with a section [energy]"):
        data = bounded.typed(path, bounded.SETTINGS)
    with reading(path, "this is no TOML"):
        content = tomllib.loads(data.decode())
    section = content.get("energy")
    if not isinstance(section, dict):
        raise UsageError(f"{path}: there is no section [energy]; it needs {', '.join(PARAMETERS)}")
    for key in (*content, *section):
        if key != "energy" and key not in PARAMETERS:
            raise UsageError(
                f"{path}: {key}: this key is unknown; allowed in [energy] are"
                f" {', '.join(PARAMETERS)}"
            )
    return EnergyParameters(**{key: _parameter(path, key, section.get(key)) for key in PARAMETERS})


def _parameter(path: Path, key: str, given: object) -> float:
    unit = PARAMETERS[key]
    example = f'{key} = {{ value = "{_EXAMPLE[unit]}", source = "..." }}'
    if not isinstance(given, dict) or set(given) != {"value", "source"}:
        raise UsageError(
            f"{path}: energy.{key}: it has exactly the keys value and source: {example}"
        )
    if not isinstance(given["source"], str) or not given["source"].strip():
        raise UsageError(
            f"{path}: energy.{key}: name the source of the value: a document or a measurement"
        )
    read = _VALUE.fullmatch(given["value"]) if isinstance(given["value"], str) else None
    if read is None or read[3] != unit:
        raise UsageError(
            f"{path}: energy.{key}: `{given['value']}` is not an amount in {unit}; write for"
            f" example {example}"
        )
    return float(read[1]) * _PREFIXES[read[2]]


def of_point(point: Point, store: Store, energy: EnergyParameters) -> pl.DataFrame:
    """A finished point's energy in its measured window; the columns are as in ``of_tables``."""
    from elanite.results.congestion import window

    begin, end = window(point, store)
    return of_tables(point.json, store.table(point.id, "links"), end - begin, energy)


def of_tables(
    point_json: str, counted: pl.DataFrame, time_us: float, energy: EnergyParameters
) -> pl.DataFrame:
    """The energy of a point's machine, from the link counters in a time.

    One row for links, switches and adapters each, and one for all: ``part``, ``count``, ``bits``,
    ``traffic_J``, ``idle_J``, ``total_J``, ``mean_W``.
    """
    import json

    size = stated(json.loads(point_json)["machine"]["link"]["flit"]["value"], "B")
    links = (
        frame(_core.wiring(point_json))
        .join(counted.select("link", "flits"), on="link", how="left")
        .with_columns(bits=pl.col("flits").fill_null(0).cast(pl.Int64) * round(8 * size))
    )
    from_switch, from_node = (
        links.filter(pl.col("switch").is_not_null()),
        links.filter(pl.col("switch").is_null()),
    )
    to_node = links.filter(pl.col("enters").is_null())
    switches = pl.concat([links["switch"], links["enters"]]).drop_nulls().n_unique()
    parts: list[tuple[str, int, int, float, float]] = [
        ("links", len(links), int(links["bits"].sum()), energy.link_bit, energy.link_idle),
        (
            "switches",
            switches,
            int(from_switch["bits"].sum()),
            energy.switch_bit,
            energy.switch_idle,
        ),
        (
            "adapters",
            len(from_node),
            int(from_node["bits"].sum()) + int(to_node["bits"].sum()),
            energy.adapter_bit,
            energy.adapter_idle,
        ),
    ]
    seconds = time_us / 1e6
    rows = [
        {
            "part": part,
            "count": count,
            "bits": bits,
            "traffic_J": bits * each,
            "idle_J": count * idle * seconds,
        }
        for part, count, bits, each, idle in parts
    ]
    found = pl.DataFrame(rows).with_columns(total_J=pl.col("traffic_J") + pl.col("idle_J"))
    whole = found.select(
        pl.lit("all").alias("part"),
        pl.lit(None, pl.Int64).alias("count"),
        pl.lit(None, pl.Int64).alias("bits"),
        pl.col("traffic_J", "idle_J", "total_J").sum(),
    )
    return pl.concat([found, whole]).with_columns(
        mean_W=pl.col("total_J") / seconds if seconds else pl.lit(None)
    )
