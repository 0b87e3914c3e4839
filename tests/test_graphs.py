"""Machines with a graph file as their network: edge lists and GraphML."""

from __future__ import annotations

import pickle
import re
from typing import TYPE_CHECKING

import networkx as nx
import pytest

import elanite as el
from elanite.errors import UsageError
from elanite.inputs import graphs, sources
from elanite.inputs.plan import plan

if TYPE_CHECKING:
    from pathlib import Path

TREE = """# a spine and two leaves
switch spine
switch leaf0
switch leaf1
node gpu0
node gpu1
node gpu2
node gpu3
gpu0, leaf0
gpu1, leaf0
gpu2 leaf1
gpu3 leaf1
spine leaf0
spine leaf1
"""


PINGS = {
    "title": "Pings in a graph",
    "source": "test",
    "machine": "es40-qsnet",
    "series": [
        {
            "name": "ping",
            "ping": {
                "from": 0,
                "to": [1, 3],
                "directions": "one",
                "source": "main",
                "destination": "main",
                "message": "0 B",
                "repeats": 1,
            },
        }
    ],
}


def multigraph(text: str) -> nx.MultiGraph[str]:
    """The graph of a list of switches, nodes and cables."""
    graph: nx.MultiGraph[str] = nx.MultiGraph()
    for line in text.splitlines()[1:]:
        one, other = line.replace(",", " ").split()
        if one in ("switch", "node"):
            graph.add_node(other, kind=one)
        else:
            graph.add_edge(one, other)
    return graph


def graphml(text: str) -> str:
    """The same graph in GraphML, as networkx writes it."""
    return "\n".join(nx.generate_graphml(multigraph(text)))


def machine(folder: Path, file: str, content: str, more: str = "", nodes: int = 4) -> Path:
    """A machine file beside a graph file."""
    text = sources.read("machine", "es40-qsnet").text
    text = re.sub(r"^(down|up) = \{[^}]*\}\n", "", text, flags=re.MULTILINE)
    text = re.sub(
        r"^nodes = .*$",
        f'nodes = {{ value = {nodes}, source = "test" }}\nkind = {{ value = "graph", source ='
        f' "test" }}\nfile = {{ value = "{file}", source = "test" }}\n{more}',
        text,
        flags=re.MULTILINE,
    )
    (folder / file).write_text(content)
    path = folder / "own.toml"
    path.write_text(text)
    return path


def ping(path: Path) -> list[str]:
    """The point keys of a short experiment on a machine."""
    planned = plan(el.Experiment.from_dict(PINGS).file, [sources.read("machine", path)])
    return [point.id for point in planned.points]


def test_a_machine_keeps_the_cables_and_not_the_file(tmp_path: Path) -> None:
    path = machine(tmp_path, "net.txt", TREE)
    loaded = el.Machine.load(path)
    keys = ping(path)
    (tmp_path / "net.txt").unlink()
    # Another process has no file and does not need one.
    copied = pickle.loads(pickle.dumps(loaded))  # noqa: S301 - our own
    again = copied.with_({"link.rate": "800 MB/s"})
    assert "spine leaf0" in again["topology.cables"]
    assert again["topology.file"] == "net.txt"
    # The content decides, not the file name or comments.
    assert (
        ping(machine(tmp_path, "other.csv", TREE.replace("# a spine and two leaves", "# else")))
        == keys
    )
    assert ping(machine(tmp_path, "net.graphml", graphml(TREE))) == keys
    assert ping(machine(tmp_path, "net.txt", TREE.replace("gpu2 leaf1", "gpu2 leaf0"))) != keys


def test_a_graph_runs(tmp_path: Path) -> None:
    """Two links to the same leaf; two more hops by the spine."""
    loaded = el.Machine.load(machine(tmp_path, "net.txt", TREE))
    result = el.run(el.Experiment.from_dict(PINGS), loaded, out=tmp_path, jobs=1)
    near, far = result.frame().filter(metric="latency").sort("to")["value"]
    hop = float(loaded["link.hop_delay"].removesuffix(" ns")) / 1000
    assert far - near == pytest.approx(2 * hop, abs=1e-9)


def test_plain_edges_need_terminals(tmp_path: Path) -> None:
    edges = "\n".join(" ".join(map(str, edge)) for edge in nx.petersen_graph().edges())
    terminals = 'terminals = { value = 2, source = "test" }\n'
    loaded = el.Machine.load(machine(tmp_path, "petersen.csv", edges, terminals, nodes=20))
    assert loaded["topology.nodes"] == 20
    assert ping(
        machine(
            tmp_path,
            "petersen.graphml",
            "\n".join(nx.generate_graphml(nx.petersen_graph())),
            terminals,
            20,
        )
    )
    with pytest.raises(
        el.ConfigError, match=r"topology\.terminals must say how many nodes each switch has"
    ):
        el.Machine.load(machine(tmp_path, "petersen.csv", edges))
    with pytest.raises(el.ConfigError, match="21 nodes do not fit: the graph holds 1 to 20"):
        el.Machine.load(machine(tmp_path, "petersen.csv", edges, terminals, nodes=21))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("gpu3 leaf1", "gpu3 leaf2", r"net\.txt:12: there is no node and no switch `leaf2`"),
        ("spine leaf1", "spine spine", r"net\.txt:14: a cable joins `spine` to itself"),
        (
            "spine leaf1",
            "gpu3 leaf0",
            r"net\.txt:14: node `gpu3` has several cables, another one in line 12",
        ),
        ("gpu3 leaf1\n", "", r"net\.txt:8: node `gpu3` has no cable"),
        (
            "spine leaf1\n",
            "",
            (
                r"net\.txt: the graph is in several parts: no way leads from switch spine to switch"
                r" leaf1"
            ),
        ),
        ("node gpu3", "node gpu2", r"net\.txt:8: the name `gpu2` is taken: line 7 has it"),
        ("gpu3 leaf1", "gpu3 leaf1 2", r"net\.txt:12: 3 words are no line of a graph"),
        (
            "node gpu3",
            "".join(f"node x{n}\nx{n} spine\n" for n in range(1025)) + "node gpu3",
            "switch spine has 1027 ports",
        ),
    ],
)
def test_mistakes_of_edge_lists(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in TREE
    path = machine(tmp_path, "net.txt", TREE.replace(old, new, 1))
    with pytest.raises(UsageError, match=message):
        el.Machine.load(path)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("</graph>", "", r"net\.graphml:\d+: not a graph in GraphML: mismatched tag"),
        (
            'edgedefault="undirected"',
            'edgedefault="directed"',
            r"net\.graphml: the graph is directed",
        ),
        (
            '<node id="gpu3">',
            '<node id="gpu2">',
            r"net\.graphml:\d+: the name `gpu2` is taken: line \d+ has it",
        ),
        (
            'target="gpu3"',
            'target="gpu9"',
            r"net\.graphml:\d+: there is no node and no switch `gpu9`",
        ),
        (">node<", ">gpu<", r"net\.graphml:\d+: `gpu0` is neither a node nor a switch"),
        ('id="gpu3"', 'id="gpu 3"', r"net\.graphml:\d+: the name `gpu 3` has a blank"),
        ("<graphml ", "<graph ", r"not a graph in GraphML"),
        ("", "", None),
    ],
)
def test_mistakes_of_graphml(tmp_path: Path, old: str, new: str, message: str | None) -> None:
    text = graphml(TREE)
    assert old in text
    path = machine(tmp_path, "net.graphml", text.replace(old, new, 1))
    if message is None:
        assert el.Machine.load(path)["topology.nodes"] == 4
        return
    with pytest.raises(UsageError, match=message):
        el.Machine.load(path)


def test_lines_of_graphml(tmp_path: Path) -> None:
    """A mistake that the simulator finds has the element's line."""
    text = graphml(TREE)
    path = machine(
        tmp_path,
        "net.graphml",
        text.replace("</graph>", '<edge source="spine" target="spine"/>\n</graph>'),
    )
    line = 1 + text[: text.index("</graph>")].count("\n")
    with pytest.raises(UsageError, match=rf"net\.graphml:{line}: a cable joins `spine` to itself"):
        el.Machine.load(path)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    path = machine(tmp_path, "net.txt", TREE)
    (tmp_path / "net.txt").unlink()
    with pytest.raises(UsageError, match=r"net\.txt: No such file or directory"):
        el.Machine.load(path)
    (tmp_path / "net.txt").write_bytes(b"switch \xff\n")
    with pytest.raises(UsageError, match=r"net\.txt: not a text file in UTF-8"):
        el.Machine.load(path)


def test_another_file_cannot_be_set(tmp_path: Path) -> None:
    path = machine(tmp_path, "net.txt", TREE)
    with pytest.raises(el.ConfigError, match=r"topology\.file.*: the cables are those of net\.txt"):
        el.Machine.load(path, ["topology.file=else.txt"])


def test_a_file_with_its_cables_needs_no_other(tmp_path: Path) -> None:
    """As files are that are written from a machine, with fitted values for example."""
    path = machine(tmp_path, "net.txt", TREE)
    text = sources.read("machine", path).text
    (tmp_path / "net.txt").unlink()
    path.write_text(text)
    assert sources.read("machine", path).text == text
    assert el.Machine.load(path)["topology.nodes"] == 4


def test_roots(tmp_path: Path) -> None:
    roots = 'roots = { value = ["top"], source = "test" }\n'
    with pytest.raises(el.ConfigError, match="the graph has no switch `top`"):
        el.Machine.load(machine(tmp_path, "net.txt", TREE, roots))
    changed = ping(machine(tmp_path, "net.txt", TREE, roots.replace("top", "leaf0")))
    assert changed != ping(machine(tmp_path, "net.txt", TREE))


def test_other_machines_stay_as_they_are(tmp_path: Path) -> None:
    text = sources.read("machine", "es40-qsnet").text
    assert graphs.completed(text, tmp_path / "own.toml") == text
    broken = text + "\n[file\n"
    assert graphs.completed(broken, tmp_path / "own.toml") == broken


def test_edges_have_rates_and_delays(tmp_path: Path) -> None:
    """In GraphML and networkx, with blanks; in the machine, without."""
    graph = nx.MultiGraph()
    graph.add_node("n0", kind="node")
    graph.add_node("n1", kind="node")
    graph.add_node("s", kind="switch")
    graph.add_edge("n0", "s", rate="100 MB/s", delay="80 ns")
    graph.add_edge("n1", "s")
    file = machine(tmp_path, "net.graphml", "\n".join(nx.generate_graphml(graph)), nodes=2)
    both = [el.Machine.load(file), el.Machine.load("es40-qsnet").with_graph(graph, "net")]
    for each in both:
        assert "n0 s rate=100MB/s delay=80ns\nn1 s\n" in str(each["topology.cables"])


def test_a_slow_cable_and_a_degraded_one_are_late_by_as_much(tmp_path: Path) -> None:
    """A 0-byte ping from node 0 to node 1 over a cable with a quarter of the rate: by its line, or
    by a fault.
    """

    def latency(cables: str, more: dict[str, object]) -> float:
        content = PINGS | {"series": [{**PINGS["series"][0], **more}]}  # type: ignore[dict-item]
        loaded = el.Machine.load(machine(tmp_path, "net.txt", cables))
        result = el.run(el.Experiment.from_dict(content), loaded, out=tmp_path, jobs=1)
        return float(result.frame().filter(metric="latency").sort("to")["value"][0])

    usual = latency(TREE, {})
    slow = latency(TREE.replace("gpu1, leaf0", "gpu1 leaf0 rate=100MB/s"), {})
    degraded = latency(TREE, {"fault": [{"link": "node 1", "rate": "100 MB/s"}]})
    assert usual < slow == degraded
