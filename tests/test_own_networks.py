"""Topologies as graphs, routings as tables and patterns as functions, from Python."""

from __future__ import annotations

import itertools
import json
import pickle
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import networkx as nx
import pytest

import elanite as el
from conftest import command, execute
from elanite.errors import UsageError
from elanite.inputs import graphs, patterns, sources
from test_graphs import PINGS, TREE, machine, multigraph

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from random import Random

BASE = el.Machine.load("es40-qsnet")


def slim_fly(q: int = 5) -> nx.Graph:
    """The Hoffman-Singleton graph as a Slim Fly: 50 switches, any two of them at most two links
    apart.
    """
    graph = nx.Graph()
    for x, y in itertools.product(range(q), repeat=2):
        graph.add_edge((0, x, y), (0, x, (y + 1) % q))
        graph.add_edge((1, x, y), (1, x, (y + 2) % q))
        graph.add_edges_from(((0, x, y), (1, m, (y - m * x) % q)) for m in range(q))
    return graph


def shortest(graph: nx.Graph) -> dict[Any, dict[Any, list[Any]]]:
    """Forwarding tables for all shortest paths."""
    links = dict(nx.all_pairs_shortest_path_length(graph))
    return {
        at: {
            to: [near for near in graph[at] if links[near][to] < links[at][to]]
            for to in graph
            if to != at
        }
        for at in graph
    }


def traffic(pattern: object, nodes: object = 8) -> dict[str, Any]:
    """A short run for a job with a pattern."""
    job = {
        "pattern": pattern,
        "nodes": nodes,
        "message": "1 KB",
        "sizes": "fixed",
        "arrivals": "exponential",
        "load": "50 MB/s",
    }
    return {
        "title": "Traffic",
        "source": "test",
        "machine": "es40-qsnet",
        "run": {"warm_up": "20 us", "window": "50 us", "batches": 2},
        "series": [{"name": "traffic", "jobs": {"load": job}}],
    }


def halves(_: int, nodes: Sequence[int], random: Random) -> Iterator[int]:
    """A node in the upper half, drawn once."""
    yield random.choice(nodes[len(nodes) // 2 :])


def test_minimal_ways_are_those_of_tables(tmp_path: Path) -> None:
    """All shortest ways with a layer for each link, by tables and by name: the same packets at the
    same times.
    """
    graph = slim_fly()
    wide = BASE.with_({"link.channels": 2})
    tables = wide.with_graph(graph, "tables", terminals=1, routes=shortest(graph), hop_classes=2)
    minimal = wide.with_graph(graph, "minimal", terminals=1, routing="minimal")
    assert (minimal.layers, tables.layers) == (2, None)
    experiment = el.Experiment.from_dict(traffic("uniform", 50))
    found = [
        el.run(experiment, machine, out=tmp_path / machine.name)
        .summary()
        .drop("id", "machine", strict=False)
        for machine in (tables, minimal)
    ]
    assert found[0].equals(found[1])
    with pytest.raises(
        el.ConfigError, match=r"(?s)needs 4 layers of channels, and there are 2 channels.*up-down"
    ):
        wide.with_graph(graph, "valiant", terminals=1, routing="valiant")


def test_a_slim_fly(tmp_path: Path) -> None:
    """Its latencies match one or two links between switches, and its commands need only the saved
    file.
    """
    graph = slim_fly()
    wide = BASE.with_({"link.channels": 2})
    own = wide.with_graph(graph, "slim-fly", terminals=1, routes=shortest(graph), hop_classes=2)
    assert (own["topology.nodes"], own.name) == (50, "slim-fly")
    pings = el.Experiment.from_dict(
        PINGS
        | {
            "series": [
                PINGS["series"][0]
                | {"ping": PINGS["series"][0]["ping"] | {"to": list(range(1, 50))}}
            ]
        }
    )
    result = el.run(pings, own, out=tmp_path, jobs=1)
    latency = result.frame().filter(metric="latency").sort("to")["value"].to_list()
    hop = float(own["link.hop_delay"].removesuffix(" ns")) / 1000
    assert latency.count(pytest.approx(min(latency), abs=1e-9)) == 7, "neighbours"
    assert latency.count(pytest.approx(min(latency) + hop, abs=1e-9)) == 42, "the others"
    # From a file the same points, without a networkx graph.
    again = own.save(tmp_path / "slim-fly.toml")
    assert el.load_results(pings, again, out=tmp_path).points == result.points
    assert "--machine slim-fly.toml" in result.plan.command(result.points[0])


def test_tables_may_deadlock() -> None:
    graph = slim_fly()
    with pytest.raises(
        el.ConfigError, match=r"(?s)deadlocks: .*set topology\.hop_classes to the number of links"
    ):
        BASE.with_graph(graph, "slim-fly", terminals=1, routes=shortest(graph))
    with pytest.raises(
        el.ConfigError, match="the routing needs 3 classes of channels, and there are 2 channels"
    ):
        BASE.with_graph(graph, "slim-fly", terminals=1, routes=shortest(graph), hop_classes=3)


def test_graphs_are_those_of_files(tmp_path: Path) -> None:
    """A networkx graph, one in a file, and switch pairs make the same points."""
    text = f"{TREE}spine leaf1\n"  # a second cable
    from_file = el.Machine.load(machine(tmp_path, "net.txt", text))
    graph = multigraph(text)
    pings = el.Experiment.from_dict(PINGS)
    keys = [
        el.load_results(pings, each).plan.points[0].id
        for each in (from_file, BASE.with_graph(graph, "own"))
    ]
    assert keys[0] == keys[1]
    edges = [("spine", "leaf0"), ("spine", "leaf1")]
    plain = BASE.with_graph(edges, "plain", terminals=2, roots=["spine"])
    assert plain["topology.cables"].split("\n")[:3] == [
        "switch spine",
        "switch leaf0",
        "switch leaf1",
    ]
    assert (plain["topology.nodes"], plain["topology.roots"]) == (6, ["spine"])
    assert pickle.loads(pickle.dumps(plain)) == plain  # noqa: S301 - our own


RING = [("a", "b"), ("b", "c"), ("c", "a")]
WAYS: dict[str, dict[str, Any]] = {
    "a": {"b": "b", "c": ["c"]},
    "b": {"a": "a", "c": {"c"}},
    "c": {"a": "a", "b": "b"},
}


@pytest.mark.parametrize(
    ("routes", "message"),
    [
        (
            WAYS | {"c": {"a": "a"}},
            "switch c has no entry for switch b: add a line with switch c, switch b",
        ),
        (
            WAYS | {"c": {"a": "a", "b": "d"}},
            "wrong at switch c for b: the entry of `c` for `b` names `d`, which is no node",
        ),
        (WAYS | {"c": {"a": "a", "b": []}}, "at switch c for b: there is no next switch"),
        (WAYS | {"c": ["a", "b"]}, "the routes of switch 'c' are not a dictionary"),
        (
            WAYS | {"b": {"a": "c", "c": "c"}, "c": {"a": "b", "b": "b"}},
            r"to switch a return to .* nearer",
        ),
        (WAYS | {"c": {"a": "a", "b": "b", "c": "a"}}, "switch c is at switch c itself"),
    ],
)
def test_wrong_tables(routes: dict[str, Any], message: str) -> None:
    assert BASE.with_graph(RING, "ring", terminals=1, routes=WAYS)["topology.nodes"] == 3
    with pytest.raises(UsageError, match=message):
        BASE.with_graph(RING, "ring", terminals=1, routes=routes)


@pytest.mark.parametrize(
    ("graph", "arguments", "message"),
    [
        (RING, {}, "the graph has no nodes\n  give terminals=N"),
        ([*RING, ("a", "a")], {"terminals": 1}, "a cable joins `a` to itself"),
        ([*RING, ("d", "e")], {"terminals": 1}, "the graph is in several parts"),
        ([("a", "b", 3)], {"terminals": 1}, r"the edge \('a', 'b', 3\) has 3 ends"),
        ([("a b", "c")], {"terminals": 1}, "the name `a b` has a blank"),
        ([(1, "1"), (1, 2)], {"terminals": 1}, "the vertices 1 and '1' have the same name `1`"),
        (nx.DiGraph(RING), {"terminals": 1}, "the graph is directed"),
    ],
)
def test_wrong_graphs(graph: Any, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        BASE.with_graph(graph, "own", **arguments)


TABLES = """# both ways are equally short
leaf0, gpu2, spine    # one node
leaf0 leaf1 spine
leaf1 leaf0 spine
spine leaf0 leaf0
spine leaf1 leaf1
"""
FILE = 'routes_file = { value = "routes.txt", source = "test" }\n'


def test_tables_in_files(tmp_path: Path) -> None:
    """A machine keeps the tables and not the file; comments have no effect."""
    (tmp_path / "routes.txt").write_text(TABLES)
    path = machine(tmp_path, "net.txt", TREE, FILE)
    loaded = el.Machine.load(path)
    keys = [
        point.id for point in el.load_results(el.Experiment.from_dict(PINGS), loaded).plan.points
    ]
    (tmp_path / "routes.txt").write_text(TABLES.replace("# one node", ""))
    pings = el.Experiment.from_dict(PINGS)
    assert [point.id for point in el.load_results(pings, el.Machine.load(path)).plan.points] == keys
    (tmp_path / "routes.txt").unlink()
    with pytest.raises(
        UsageError,
        match=r"routes\.txt: No such file .*; topology\.routes_file of .*own\.toml names it",
    ):
        el.Machine.load(path)
    assert loaded.with_({"link.rate": "800 MB/s"})["topology.routes"].startswith(
        "leaf0 gpu2 spine\nleaf0 leaf1"
    )
    with pytest.raises(
        el.ConfigError, match=r"topology\.routes_file.*the routes are those of routes\.txt"
    ):
        loaded.with_({"topology.routes_file": "else.txt"})


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("leaf1 leaf0 spine", "leaf1 leaf0", r"routes\.txt:4: 2 words are no entry of a table"),
        (
            "leaf0, gpu2, spine",
            "leaf0, gpu2, leaf1",
            (
                r"routes\.txt:2: switch leaf0 has no cable to switch leaf1, the next switch for"
                r" node gpu2: name"
            ),
        ),
        (
            "leaf0, gpu2, spine",
            "leaf0, gpu9, spine",
            r"routes\.txt:2: the entry of `leaf0` for `gpu9` names `gpu9`, which is no node",
        ),
        (
            "spine leaf1 leaf1",
            "spine leaf1 leaf0",
            r"routes\.txt:[26]: packets to node gpu2 return to",
        ),
        (
            "leaf1 leaf0 spine\n",
            "",
            r"routes\.txt: switch leaf1 has no entry for node gpu0: add a line",
        ),
        (
            "spine leaf1 leaf1",
            "spine leaf1 leaf1\nspine leaf1 leaf1",
            r"routes\.txt:7: switch spine has another entry",
        ),
    ],
)
def test_mistakes_of_tables(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in TABLES
    (tmp_path / "routes.txt").write_text(TABLES.replace(old, new, 1))
    with pytest.raises(UsageError, match=message):
        el.Machine.load(machine(tmp_path, "net.txt", TREE, FILE))


def test_wrong_keys_of_tables(tmp_path: Path) -> None:
    classes = 'hop_classes = { value = 2, source = "test" }\n'
    with pytest.raises(
        el.ConfigError, match=r"topology\.hop_classes: up\*/down\* routing has no classes"
    ):
        el.Machine.load(machine(tmp_path, "net.txt", TREE, classes))
    (tmp_path / "routes.txt").write_text(TABLES)
    with pytest.raises(el.ConfigError, match=r"topology\.hop_classes: there are no classes"):
        el.Machine.load(machine(tmp_path, "net.txt", TREE, FILE + classes.replace("2", "0")))
    text = 'routes = { value = "leaf0 leaf1 leaf1", source = "test" }\n'
    with pytest.raises(
        el.ConfigError, match=r"topology\.routes: line 1: switch leaf0 has no cable to switch leaf1"
    ):
        el.Machine.load(machine(tmp_path, "net.txt", TREE, text))
    assert graphs.completed("[topology]\nroutes_file = 3\n", tmp_path / "own.toml").endswith(
        "= 3\n"
    )


def test_the_k_shortest_ways(tmp_path: Path) -> None:
    """Around a ring of five switches there are two ways, which need more layers than one way
    does.
    """
    ring = nx.cycle_graph(5)
    wide = BASE.with_({"link.channels": 4})
    machine = wide.with_graph(ring, "ring", terminals=1, routing="k-shortest", ways=2)
    assert (machine.layers in (3, 4), machine["topology.ways"]) == (True, 2)
    assert wide.with_graph(ring, "ring", terminals=1, routing="k-shortest", ways=1).layers == 2
    experiment = el.Experiment.from_dict(traffic("uniform", 5), "ring")
    assert el.run(experiment, machine, out=tmp_path, jobs=1).points
    with pytest.raises(
        el.ConfigError, match=r"topology\.routing: the routing k-shortest needs a number of ways"
    ):
        wide.with_graph(ring, "ring", terminals=1, routing="k-shortest")
    with pytest.raises(
        el.ConfigError, match=r"topology\.ways: only the routing k-shortest has a number of ways"
    ):
        wide.with_graph(ring, "ring", terminals=1, routing="minimal", ways=2)
    with pytest.raises(
        el.ConfigError, match=r"(?s)topology\.ways: 65 ways between two .*allowed: 1 to 64"
    ):
        wide.with_graph(ring, "ring", terminals=1, routing="k-shortest", ways=65)
    with pytest.raises(el.ConfigError, match=r"a dragonfly has no list of the k shortest ways"):
        el.Machine.load("slingshot-dragonfly").with_({"topology.routing": "k-shortest"})


def test_a_function_is_a_pattern(tmp_path: Path) -> None:
    """The points have pairs: stores, saved files and commands need no function."""
    experiment = el.Experiment.from_dict(
        traffic([halves, el.Pattern(halves, "again", seed=2), "uniform"]), "halves"
    )
    result = el.run(experiment, out=tmp_path, jobs=1)
    names = [point.parameters["pattern"] for point in result.points]
    assert names == ["halves", "again", "uniform"]
    pairs = json.loads(result.points[0].json)["workload"]["jobs"]["jobs"]["load"]["pattern"][
        "pairs"
    ]
    assert [node for node, _ in pairs] == list(range(8))
    assert {to for _, to in pairs} <= {4, 5, 6, 7}
    assert len({to for _, to in pairs}) > 1, "each node draws"
    again = el.Experiment.from_dict(traffic(halves), "halves")
    assert el.load_results(again, out=tmp_path).points == result.points[:1], "equal draws"
    other = el.Experiment.from_dict(traffic([el.Pattern(halves, "halves", seed=3)]), "halves")
    assert not el.load_results(other, out=tmp_path).points, "other draws are other points"
    # A point's command, from the file.
    saved = experiment.save(tmp_path / "halves.toml")
    assert [point.id for point in el.load_results(saved, out=tmp_path).points] == [
        point.id for point in result.points
    ]
    words = shlex.split(result.plan.command(result.points[0], out="again"))
    done = execute(command(*words[1:]), cwd=tmp_path)
    assert done.code == 0, done.err
    assert (tmp_path / "again" / "store").is_dir()
    verified = execute(
        command("store", "verify", "--again", "1", "--store", "again/store"), cwd=tmp_path
    )
    assert verified.code == 0, verified.err


def test_nodes_draw_for_themselves() -> None:
    """A node's destinations depend on the seed, the name and the node, not on other draws."""

    def greedy(node: int, nodes: Sequence[int], random: Random) -> Iterator[int]:
        yield from (random.choice(nodes) for _ in range(node))

    few, all_ = (dict(el.Pattern(greedy).pairs(nodes)["pairs"]) for nodes in ([7], range(8)))
    assert set(few) == {7}
    found = el.Pattern(greedy, seed=4).pairs(range(8))["pairs"]
    assert found == el.Pattern(greedy, seed=4).pairs(range(8))["pairs"]
    assert found != el.Pattern(greedy, seed=5).pairs(range(8))["pairs"]
    assert len(found) == sum(range(8))
    assert set(all_) == set(range(1, 8)), "node 0 is silent"


def test_nodes_of_jobs() -> None:
    """A function sees its job's nodes, as experiment files write them."""
    seen: list[Sequence[int]] = []

    def next_one(node: int, nodes: Sequence[int], _: Random) -> Iterator[int]:
        seen.append(nodes)
        yield nodes[(nodes.index(node) + 1) % len(nodes)]

    patterns.evaluated(traffic(next_one, "0-6:2 except 4"))
    assert seen[0] == [0, 2, 6]
    content = traffic("uniform")
    assert patterns.evaluated(content) == content


def endless(*_: object) -> Iterator[int]:
    return itertools.repeat(0)


def bad(found: Any) -> el.Pattern:
    """A pattern with the same destinations for all nodes."""
    return el.Pattern(lambda *_: found, "bad")


def fails(*_: object) -> list[int]:
    raise ZeroDivisionError("division by zero")


@pytest.mark.parametrize(
    ("pattern", "nodes", "message"),
    [
        (lambda *_: [0], 8, r"series\.traffic\.jobs\.load\.pattern: the function has no name"),
        (el.Pattern(fails, "bad"), 8, r"bad\(0, \.\.\.\) fails: .*division"),
        (
            el.Pattern(lambda: [0], "bad"),
            8,
            r"bad\(0, \.\.\.\) fails: .*\n  a pattern is a function of a node",
        ),
        (bad(3), 8, "not iterable"),
        (bad([-1]), 8, "yields -1, which is not a node number"),
        (bad([True]), 8, "yields True, which is not a node number"),
        (bad(["1"]), 8, "yields '1', which"),
        (bad([]), 8, "bad yields no destination for any of 8 nodes"),
        (endless, 8, r"endless\(0, \.\.\.\) yields more than 65536 destinations"),
        (
            halves,
            [4, 8],
            r"needs the nodes of the job, and `nodes` is \[4, 8\]\n.*a series for each",
        ),
        (halves, "all", "needs the nodes of the job"),
        (halves, 10**9, "needs the nodes of the job"),
    ],
)
def test_wrong_functions(pattern: object, nodes: object, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        el.Experiment.from_dict(traffic(pattern, nodes))


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        (
            {"name": "own", "pairs": [[0, 99]]},
            "the pair of node 0 and node 99: there is no node 99",
        ),
        ({"name": "own", "pairs": [[9, 1]]}, "node 9 is not among the nodes of the job"),
        ({"name": "own", "pairs": [[1, 1]]}, "each of these nodes would send to itself"),
        ({"name": "own", "pairs": []}, "a pattern of pairs has a name and at least one pair"),
        ({"name": " ", "pairs": [[0, 1]]}, "a pattern of pairs has a name and at least one pair"),
        ({"pairs": [[0, 1]]}, r"pattern\.name: this key is missing"),
        ({"name": "own", "pairs": [[0, 1, 2]]}, r"\[0, 1, 2\] is no pair"),
        ({"name": "own", "pairs": [[0, -1]]}, "pairs"),
    ],
)
def test_wrong_pairs(pattern: object, message: str) -> None:
    """Pairs in an experiment file are checked like those in a separate file."""
    with pytest.raises(el.ConfigError, match=message) as raised:
        el.load_results(el.Experiment.from_dict(traffic(pattern)))
    assert re.search(r"experiment\.toml:\d+:\d+", str(raised.value))


@pytest.mark.parametrize(
    ("page", "words"), [("machines-graphs.md", "with_graph"), ("experiments-jobs.md", "el.Pattern")]
)
def test_the_python_of_the_pages_runs(
    page: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A Slim Fly with 50 switches, and a function as a pattern for 64 nodes."""
    monkeypatch.chdir(tmp_path)
    text = (Path(__file__).parents[1] / "docs" / page).read_text(encoding="utf-8")
    (code,) = [
        block for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if words in block
    ]
    names: dict[str, Any] = {}
    exec(code, names)  # noqa: S102 - our own page
    if page == "machines-graphs.md":
        assert (
            el.Machine.load("slim-fly.toml")["topology.routes"]
            == names["machine"]["topology.routes"]
        )
    else:
        job = patterns.evaluated({"series": [{"jobs": {"load": names["job"]}}]})["series"][0][
            "jobs"
        ]["load"]
        assert [len(pattern["pairs"]) for pattern in job["pattern"]] == [256, 256]


def test_other_callables_stay_wrong() -> None:
    content = traffic("uniform")
    content["series"][0]["jobs"]["load"]["message"] = halves
    with pytest.raises(UsageError, match="a function is not a value"):
        el.Experiment.from_dict(content)


def test_base_machines_stay(tmp_path: Path) -> None:
    """A graph changes only the topology, and keeps the changes to other keys."""
    changed = BASE.with_({"link.rate": "800 MB/s", "topology.nodes": 32})
    own = changed.with_graph(RING, "ring", terminals=2)
    assert (own["link.rate"], own["topology.nodes"]) == ("800 MB/s", 6)
    assert sources.read("machine", "es40-qsnet").text == BASE.file.text
    with pytest.raises(UsageError, match="cannot be written"):
        own.save(tmp_path)
