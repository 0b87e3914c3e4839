"""Networks, flows and measurements in other tools' formats, as plain data.

| module | content |
|---|---|
| ``recognition`` | the format of a file by its content |
| ``network`` | nodes, switches, cables and flows, whatever the format |
| ``infiniband`` | ``ibnetdiscover`` |
| ``ns3`` | ``topology.txt`` and ``flow.txt`` of HPCC and its descendants |
| ``htsim`` | ``.topo`` and ``.cm`` |
| ``anynet`` | networks of BookSim2 |
| ``simgrid`` | platforms of SimGrid, in XML |
| ``slurm`` | ``topology.conf``, ``topology.yaml`` |
| ``infragraph`` | infrastructures of InfraGraph, and its graphs |
| ``drawings``, ``edges`` | GraphML, DOT; lists of edges |
| ``networkx_graphs`` | GML, node-link JSON |
| ``metis`` | graphs of METIS |
| ``flow_tables`` | tables of flows with named columns |
| ``benchmarks``, ``perftest_reports`` | measured values of OSU, IMB, NCCL-tests and perftest |
| ``xml``, ``quantities`` | elements with their lines; rates and times |

``inputs.network_import`` writes a network's machine file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from elanite.base import bounded, packed
from elanite.errors import UsageError
from elanite.formats import recognition
from elanite.formats.recognition import FileFormat, format_of

if TYPE_CHECKING:
    from pathlib import Path

    from elanite.formats.network import Network


def read(file: Path) -> tuple[FileFormat, Network]:
    """Read a file in any known format. Raises ``UsageError`` with the name of any other format."""
    with bounded.refused(file):
        content = packed.unpacked(bounded.typed(file, bounded.TABLE), file, bounded.TABLE)
    if not content.strip():
        raise UsageError(f"{file}: the file is empty")
    found = format_of(content)
    if not isinstance(found, FileFormat):
        raise UsageError(f"{file}: this is {found.name}, and no network\n  {found.remedy}")
    return found, found.read(recognition.decoded(content), file)
