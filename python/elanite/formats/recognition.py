"""A file's format by its content: imported formats, and other commands' formats by name.

A file's name is irrelevant. A rule is a pattern for the beginning or for a line; the first match
names the format. A file without a format is refused with the format list.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from elanite.formats import (
    anynet,
    drawings,
    edges,
    flow_tables,
    htsim,
    htsim_matrix,
    infiniband,
    infragraph,
    metis,
    networkx_graphs,
    ns3,
    perftest_reports,
    quantities,
    simgrid,
    slurm,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from elanite.formats.network import Network

_SAMPLE = 262_144
"""A file's first letters, in which the format shows."""


@dataclass(frozen=True)
class FileFormat:
    """A format that is imported."""

    name: str
    read: Callable[[str, Path], Network]
    flows: bool = False
    """Whether a file has flows and no network."""


@dataclass(frozen=True)
class OtherFormat:
    """A format that another command reads, or that no command reads."""

    name: str
    remedy: str


class KnownFormat(Enum):
    """The formats that are imported."""

    IBNETDISCOVER = FileFormat(infiniband.NAME, infiniband.read)
    NS3_TOPOLOGY = FileFormat(ns3.TOPOLOGY, ns3.topology)
    NS3_FLOWS = FileFormat(ns3.FLOWS, ns3.flows, flows=True)
    HTSIM_TOPOLOGY = FileFormat(htsim.TOPOLOGY, htsim.topology)
    HTSIM_MATRIX = FileFormat(htsim_matrix.NAME, htsim_matrix.read, flows=True)
    ANYNET = FileFormat(anynet.NAME, anynet.read)
    SIMGRID = FileFormat(simgrid.NAME, simgrid.read)
    SLURM = FileFormat(slurm.NAME, slurm.read)
    SLURM_YAML = FileFormat(slurm.YAML, slurm.read_yaml)
    INFRAGRAPH = FileFormat(infragraph.NAME, infragraph.read)
    GRAPHML = FileFormat(drawings.GRAPHML, drawings.graphml)
    DOT = FileFormat(drawings.DOT, drawings.dot)
    GML = FileFormat(networkx_graphs.GML, networkx_graphs.gml)
    NODE_LINK = FileFormat(networkx_graphs.NODE_LINK, networkx_graphs.node_link)
    METIS = FileFormat(metis.NAME, metis.read)
    EDGES = FileFormat(drawings.EDGES, edges.edges)
    FLOW_TABLE = FileFormat(flow_tables.NAME, flow_tables.read, flows=True)


_LABEL = r"^(?:\[[^\]\n]*\]<std(?:out|err)>:|\d+:|\[\d+\](?=\s))?[ \t]*"
"""A line's beginning, behind the rank that a launcher writes (`benchmarks`)."""

MEASURED = "elanite calibrate EXPERIMENT --fit KEY=LOW..HIGH --to FILE"
KINETO = (
    "merge it with PyTorch's execution trace (chakra_trace_link), and convert it (chakra_converter)"
)
CHAKRA = OtherFormat("a Chakra trace", "elanite goal import TRACE... -o FILE.goal")

FABRIC = "give the output of ibnetdiscover, without options"
BETWEEN = "give the network between computers"
_GRAPHML = "write its graph with networkx.write_graphml(GRAPH, FILE), or as a list of edges"
CONVERT = "convert it: networkx.write_graphml(networkx.read_{}(FILE), OUTPUT)"

_XML: dict[str, FileFormat | OtherFormat] = {
    "graphml": KnownFormat.GRAPHML.value,
    "platform": KnownFormat.SIMGRID.value,
    "gexf": OtherFormat("a graph in GEXF", CONVERT.format("gexf")),
    "topology": OtherFormat("the hardware of one computer (lstopo of hwloc)", BETWEEN),
    "system": OtherFormat("the hardware of one computer (NCCL)", BETWEEN),
}

_RULES: tuple[tuple[str, FileFormat | OtherFormat], ...] = (
    (
        r'^[ \t]*(Switch|Ca|Hca|Rt)\s+\d+\s+"|^#\s*Topology file: generated',
        KnownFormat.IBNETDISCOVER.value,
    ),
    (
        r'^[<>][ \t]*(Switch|Ca|Rt)\s+\d+\s+"',
        OtherFormat("a difference of two fabrics (ibnetdiscover --diff)", FABRIC),
    ),
    (r"==\([^)\n]*(Active|Down)\b[^)\n]*\)==>", OtherFormat("output of iblinkinfo", FABRIC)),
    (
        r"^(SW|CA|RT)[ \t]+\d+[ \t]+\d+[ \t]+0x[0-9a-f]+[ \t]",
        OtherFormat("output of ibnetdiscover -p, the list of ports", FABRIC),
    ),
    (
        r"^\{[ \t]*(CA|SW)[ \t]+Ports:",
        OtherFormat("the list of links of OpenSM (opensm-subnet.lst)", FABRIC),
    ),
    (
        r"^(Ca|Switch|Rt)[ \t]*: 0x[0-9a-f]+ ports ",
        OtherFormat("output of ibnetdiscover -l, the list of nodes", FABRIC),
    ),
    (
        r"^[^\s#]+[ \t]+(max[_-])?slots[ \t]*=[ \t]*\d",
        OtherFormat("a list of hosts for mpirun", BETWEEN),
    ),
    (r"\bsubmodules[ \t]*:", OtherFormat("a network of OMNeT++ (NED)", _GRAPHML)),
    (
        r"^(from[ \t]+[\w.]+[ \t]+import\b|import[ \t]+[\w.]+[ \t]*$)",
        OtherFormat("a program in Python", _GRAPHML),
    ),
    (
        r"\A(#.*\n|\s)*(\d+[ \t]*:[ \t]*\d+([ \t,]+\d+)*[ \t]*(\n|\Z)){2}",
        OtherFormat(
            "a list of neighbours", "write each pair on a line of its own, as in a list of edges"
        ),
    ),
    (
        r"^[ \t]*GPU0[ \t]+GPU1\b",
        OtherFormat("output of nvidia-smi topo, the links within a host", BETWEEN),
    ),
    (
        r"\A(#.*\n|\s|Creator .*\n|Version .*\n)*graph\s*\[",
        KnownFormat.GML.value,
    ),
    (
        r"^p[ \t]+(edge|col|sp|max|min|ghct)[ \t]+\d+[ \t]+\d+",
        OtherFormat(
            "a graph of DIMACS",
            'write its edges alone: awk \'$1=="e" || $1=="a" {print $2, $3}\' FILE',
        ),
    ),
    (
        r"(?i)^[ \t]*\*vertices[ \t]+\d+",
        OtherFormat("a graph in Pajek's format", CONVERT.format("pajek")),
    ),
    (r"(?i)^[ \t]*(SwitchName|BlockName|BlockSizes)\s*=", KnownFormat.SLURM.value),
    (
        r"^[ \t]*(router\s+\d+\s+(node|router)\s+\d+|node\s+\d+\s+router\s+\d+)(\s|$)",
        KnownFormat.ANYNET.value,
    ),
    (
        r"(?i)^[ \t]*(Podsize|Radix_Down|Downlink_speed_Gbps)[ \t]+\d",
        KnownFormat.HTSIM_TOPOLOGY.value,
    ),
    (
        r"^[ \t]*(network_file|routing_function|topology)[ \t]*=[^;\n]+;",
        OtherFormat("a configuration of BookSim2", "give the anynet that its network_file names"),
    ),
    (
        r"^[ \t]*(TOPOLOGY_FILE|FLOW_FILE)[ \t]+\S",
        OtherFormat(
            "a configuration of ns-3 (HPCC)", "give the files of its TOPOLOGY_FILE and FLOW_FILE"
        ),
    ),
    (r"^[ \t]*\d+->\d+\s", KnownFormat.HTSIM_MATRIX.value),
    (
        r"^(Nodes|Connections)[ \t]+\d+[ \t]*\n(Connections|Nodes)[ \t]+\d+",
        KnownFormat.HTSIM_MATRIX.value,
    ),
    (r"^[ \t]*num_ranks\s+\d+", OtherFormat("a trace in GOAL", "elanite replay FILE")),
    (
        r"^MPI_\w+ entering at walltime",
        OtherFormat("a trace of DUMPI as text", "elanite goal import TRACE... -o FILE.goal"),
    ),
    (
        r"\A0[0-9a-f]{7} 0[0-9a-f]{7} \d+ \d+ \d+ \d+ \d+ \d+\s",
        OtherFormat("completion times of flows (fct.txt of HPCC)", "give the list of flows"),
    ),
    (
        r"^[ \t]*npus_count\s*:",
        OtherFormat("a network of ASTRA-sim's analytical model", "give its topology.txt of ns-3"),
    ),
    (
        r'"logical-dims"\s*:',
        OtherFormat("the logical dimensions of ASTRA-sim", "give its topology.txt of ns-3"),
    ),
    (
        _LABEL + r"#\s*(OSU|OMB) .*(MPI|NCCL|SHMEM|Test)",
        OtherFormat("output of the OSU benchmarks", MEASURED),
    ),
    (
        r"Intel\(R\) MPI Benchmarks|" + _LABEL + r"# Benchmarking \w",
        OtherFormat("output of the Intel MPI benchmarks", MEASURED),
    ),
    (
        _LABEL + r"#(\s*nThread \d+ nGpus|\s*(size|bytes)\s.*\bbusbw\b)",
        OtherFormat("output of NCCL-tests", MEASURED),
    ),
    (
        _LABEL + r"#bytes\s+#(iterations|sl)\b|" + perftest_reports.REPORT,
        OtherFormat("output of perftest", MEASURED),
    ),
    (
        r"^[ \t]*\[\[?\s*(machine|topology|link|series|run)\b",
        OtherFormat("a file of Elanite", "elanite check FILE"),
    ),
    (
        r"(?i)\A(\s|//.*\n|#.*\n|/\*(?:[^*]|\*(?!/))*\*/)*(strict\s+)?(di)?graph\b[^{]{0,200}\{",
        KnownFormat.DOT.value,
    ),
    (r'"traceEvents"\s*:', OtherFormat("a trace of PyTorch's profiler (Kineto)", KINETO)),
    (
        r'"schema"\s*:\s*"[^"]*[Cc]hakra|"(comm_type|COMM_\w+|ctrl_deps|data_deps)"'
        r'|"workload_graph"',
        CHAKRA,
    ),
    (r"^[ \t]*-[ \t]+\"?topology\"?:", KnownFormat.SLURM_YAML.value),
    (
        r'(^[ \t]*"?|^\{.{0,4000}")(instances|devices|infrastructure)"?\s*:'
        r'|"?composed_device"?\s*:',
        KnownFormat.INFRAGRAPH.value,
    ),
    (
        r'\A\s*\{(?=[\s\S]*"nodes"\s*:\s*\[)[\s\S]*"adjacency"\s*:\s*\[',
        OtherFormat("the adjacency lists of networkx as JSON", _GRAPHML),
    ),
    (
        r'\A\s*\{(?=[\s\S]*"nodes"\s*:\s*\[)[\s\S]*"(links|edges)"\s*:\s*\[',
        KnownFormat.NODE_LINK.value,
    ),
    (
        r"\A(?=[\s\S]*^nodes:)(?=[\s\S]*^(edges|links):)[\s\S]*^directed:",
        OtherFormat(
            "a graph of networkx as YAML, without the types of InfraGraph's components",
            "ask InfraGraph's service for the full annotations, or give the infrastructure",
        ),
    ),
)


def format_of(content: bytes) -> FileFormat | OtherFormat:
    """A file's format."""
    try:
        text = decoded(content)
    except UnicodeError:
        return _binary(content)
    return _binary(content) if "\0" in text[:_SAMPLE] else of_text(text)


def decoded(content: bytes) -> str:
    """A file's text: UTF-8, UTF-16 with a byte order mark, or XML in the encoding of its
    declaration.

    Raises ``UnicodeError``.
    """
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16")
    if content.startswith(b"<?xml") and (
        found := re.match(rb"<\?xml[^>]*encoding=[\"']([\w.-]{1,40})[\"']", content)
    ):
        with suppress(LookupError):  # an encoding that Python lacks
            return content.decode(found[1].decode())
    return content.decode("utf-8-sig")


def of_text(text: str) -> FileFormat | OtherFormat:
    """A text's format."""
    sample = text[:_SAMPLE].lstrip("\ufeff")
    if re.match(r"\s*<(?! )", sample):
        name = _root(sample)
        return _XML.get(name, OtherFormat(f"XML with the root `{name}`", _allowed()))
    for pattern, found in _RULES:
        if re.search(pattern, sample, re.MULTILINE):
            return found
    if metis.recognised(sample, whole=len(text) <= _SAMPLE):
        return KnownFormat.METIS.value
    lines = [words for _, words in ns3.statements(sample)]
    if _square(sample):
        return OtherFormat(
            "a square matrix",
            "a graph by its matrix: networkx.write_graphml(networkx.from_numpy_array(MATRIX),"
            " FILE); traffic is part of an experiment",
        )
    links = [bool(ns3.LINE.fullmatch(" ".join(each))) for each in lines]
    if any(links[1:]) and not (
        links[0] and len(lines[0]) < 5
    ):  # a list of edges has no first line, and no error rates
        return KnownFormat.NS3_TOPOLOGY.value
    if (
        len(lines) > 1
        and len(lines[0]) == _leading_integers(lines[0]) == 1
        and len(lines[1]) in (5, 6)
        and _leading_integers(lines[1])
    ):
        return KnownFormat.NS3_FLOWS.value
    if lines and all(
        len(each) in (5, 6) and all(map(str.isdecimal, each[:4])) for each in lines[:2000]
    ):
        return KnownFormat.NS3_FLOWS.value  # without the first line, which its reader asks for
    if (
        len(lines) > 3
        and len(lines[0]) == 2
        and all(map(str.isdecimal, lines[0]))
        and len(lines[1]) == 3
    ):
        vertices, edges = map(int, (word[:9] for word in lines[0]))
        if len(lines) == 1 + vertices + edges:
            return OtherFormat("a list of places and edges (Inet)", _allowed())
    if lines and lines[0] == ["0", "0"] and lines[-1][-1] in ("100", "1", "1.0"):
        return OtherFormat(
            "a distribution of flow sizes", "draw flows from it with its tool, and give their list"
        )
    if sample.lstrip().startswith("{") and all(
        re.search(rf'"({names})"\s*:\s*\[', text) for names in ("nodes", "links|edges")
    ):  # the second list is behind the sample
        return KnownFormat.NODE_LINK.value
    if sample.lstrip().startswith(("{", "[")):
        return OtherFormat("JSON of no known kind", _allowed())
    keys = re.findall(r"^[ \t]*(?:- )?[\"']?[\w.-]+[\"']?:(?=\s|$)", sample, re.MULTILINE)
    if len(keys) * 2 > sum(bool(line.strip()) for line in sample.splitlines()):
        return OtherFormat("YAML of no known kind", _allowed())
    if _of_flows(sample):
        return KnownFormat.FLOW_TABLE.value
    return (
        KnownFormat.EDGES.value if _edges(sample) else OtherFormat("of no known format", _allowed())
    )


def _root(sample: str) -> str:
    """The name of an XML document's root, without its prefix."""
    start = 0
    while (start := sample.find("<", start)) >= 0:
        kind = next((each for each in ("<!--", "<?", "<!") if sample.startswith(each, start)), "")
        if not kind:
            found = re.compile(r"<(?:[\w.-]+:)?([A-Za-z_][\w.-]*)").match(sample, start)
            return found[1] if found else "?"
        start = sample.find({"<!--": "-->", "<?": "?>", "<!": ">"}[kind], start)
        if start < 0:
            break
    return "?"


def _leading_integers(words: list[str]) -> int:
    """The word count, if at least the first three words are whole numbers; else 0."""
    numbers = [word for word in words if word.isascii() and word.isdigit()]
    return len(words) if len(numbers) >= min(len(words), 3) else 0


def _square(sample: str) -> bool:
    """Whether the text is a matrix with zeros on its diagonal: of neighbours, or of traffic."""
    rows = [re.split(r"[\s,;]+", line.strip()) for line in sample.splitlines() if line.strip()]
    return (
        len(rows) > 2
        and all(len(row) == len(rows) for row in rows)
        and all(quantities.number(row[at]) == 0 for at, row in enumerate(rows))
        and all(quantities.number(word) is not None for row in rows for word in row)
    )


def _of_flows(sample: str) -> bool:
    """Whether the first line names the columns of a list of flows."""
    return edges.of_flows(next(filter(None, map(edges.bare, sample.splitlines())), ""))


def _edges(sample: str) -> bool:
    """Whether nearly all lines are an edge's ends, with data or without, or the first line names
    the columns.
    """
    lines = [
        bare
        for line in sample.splitlines()[:2000]
        if (bare := edges.bare(line).partition("{")[0].strip())
    ]
    if len(lines) > 1 and edges.columns(lines[0]):
        return True
    good = sum(2 <= len(edges.words(line)) <= 5 for line in lines)
    return bool(lines) and good * 2 > len(lines)


def _binary(content: bytes) -> OtherFormat:
    if content.startswith(b"OTF2"):
        return OtherFormat("the anchor of an OTF2 archive", "elanite goal import FILE -o FILE.goal")
    try:
        content.decode()
    except UnicodeDecodeError as error:
        if b"\0" not in content:
            return OtherFormat(
                f"a text that is not UTF-8 (byte {error.start})",
                "convert it: iconv -f LATIN1 -t UTF-8 FILE",
            )
    return OtherFormat(
        "a binary file", "traces: elanite goal import, elanite replay; networks are texts"
    )


def _allowed() -> str:
    return "networks: " + ", ".join(each.value.name for each in KnownFormat)
