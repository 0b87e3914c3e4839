"""perftest's report as JSON (``--out_json``), as the table that perftest prints.

The file has one size, the last one: perftest writes it again for each. It does not say whether its
bandwidth is in MB/s or in Gb/s; the message rate tells that, as both count the same bytes.

Source: perftest 4.5 to 26, ``write_test_info_to_file`` and the functions for its results.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from elanite.formats.network import fail

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

REPORT = r'"test_info"\s*:\s*\{\s*"test"\s*:'
"""The beginning of a report."""

_RESULTS = '"results"'
_VERBS = ("RDMA_Write_imm", "RDMA_Write", "RDMA_Read", "Send_imm", "Send", "Atomic")
"""perftest's operations; longer names before their parts."""
_UNITS = {"MB": 2**20, "Gb": 125e6}
"""Bytes of a unit, by its name in a heading."""
_LATENCIES = ("t_typical", "t_avg")
_PRINT = "give what perftest prints"


def lines(text: str, file: Path) -> Iterator[tuple[int, str]]:
    """A file's lines by their numbers; a report's are those of the table with its value.

    Raises ``UsageError``.
    """
    if re.search(REPORT, text) is None:
        yield from enumerate(text.splitlines(), 1)
        return
    try:
        report = json.loads(text)
        test, results = str(report["test_info"]["test"]), dict(report["results"])
    except json.JSONDecodeError as error:
        fail(file, error.lineno, f"perftest's report is no JSON: {error.msg}: {_PRINT}")
    except (KeyError, TypeError, ValueError, RecursionError):
        fail(file, None, f"perftest's report has no `test` or no `results`: {_PRINT}")
    line = text[: text.index(_RESULTS)].count("\n") + 1
    size = _cell(results, "MsgSize", file, line)
    for column in _LATENCIES:
        if column in results:
            heading, value = f"{column}[usec]", _cell(results, column, file, line)
            break
    else:
        value = _cell(results, "BW_average", file, line)
        unit = _unit(results, file, line)
        heading = f"BW peak[{unit}/sec] BW average[{unit}/sec]"
        value = f"{value} {value}"
    verb = next((each for each in _VERBS if test.startswith(f"{each}_")), "")
    yield line, f"{verb}{test[len(verb) :].replace('_', ' ')}"
    yield line, f"#bytes #iterations {heading}"
    yield line, f"{size} 1 {value}"


def _cell(results: dict[str, object], name: str, file: Path, line: int) -> str:
    number = results.get(name)
    if isinstance(number, bool) or not isinstance(number, int | float):
        fail(file, line, f"perftest's report has no number `{name}`: {_PRINT}")
    return f"{number}"


def _unit(results: dict[str, object], file: Path, line: int) -> str:
    """The unit of a bandwidth, by the message rate in millions."""
    names = ("MsgSize", "MsgRate", "BW_average")
    size, rate, bandwidth = (float(_cell(results, name, file, line)) for name in names)
    sent = size * rate * 1e6
    units = (
        unit
        for unit, count in _UNITS.items()
        if min(sent, bandwidth) > 0 and 1 / 2 < bandwidth * count / sent < 2
    )
    unit = next(units, None)
    if unit is None:
        fail(
            file,
            line,
            f"{bandwidth:g} per second of perftest's report is neither MB nor Gb at"
            f" {rate:g} million messages of {size:g} B: {_PRINT}",
        )
    return unit
