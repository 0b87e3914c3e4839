"""The fabric beside BookSim2: zero-load latency, throughput at saturation, packets per
processor-second.

python benches/booksim.py PROGRAM zero-load
python benches/booksim.py PROGRAM saturation [SEEDS]
python benches/booksim.py PROGRAM speed [ROUNDS]
python benches/booksim.py PROGRAM graphs [SEEDS]

PROGRAM is BookSim2 as its own Makefile builds it. Prints tables for docs/speed-simulators.md, and
with `graphs` for docs/machines-graphs.md; the section "Equal networks in BookSim2" of the former
lists the two models' equal parts and differences; the last lines of `speed` are for
benches/peers.toml.

`saturation`, `speed` and `graphs` need a copy of BookSim2 with these changes:

- The routing function `dateline` for tori: dimension by dimension, the shorter way; between two
  equal ways the one to higher coordinates from even coordinates. The channels' lower half until the
  packet has crossed the ring's wrap-around link, then the upper half; all channels to the node.
- `source_fixed` for fat trees: as `nca`, but up by the port with the same number as the packet's
  input port.
- `least` for dragonflies: as `min`, but with all channels to and from nodes, the lower half before
  the link between groups and on it, and the upper half behind it.
- `layers` for any graph (`anynet`): as `min`, but the channels are divided into as many parts as
  the longest way has links between switches; a packet that has come over n such links takes one in
  part n, and any channel to its node.
- Each flit's priority `network_age` equals that of its packet's first flit.
- The switch DRAGON_LATENCY in the dragonfly source is off: all channels have equal latency.
"""

from __future__ import annotations

import json
import re
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]

FLITS = 16
COMMON = {
    "packet_size": FLITS,
    "vc_buf_size": FLITS,
    "use_noc_latency": 0,
    "wait_for_tail_credit": 1,
    "sw_allocator": "separable_input_first",
    "vc_allocator": "separable_input_first",
    "priority": "network_age",
    "sim_type": "throughput",
    "stopping_thres": 0.0,
    "acc_stopping_thres": 0.0,
    "deadlock_warn_timeout": 1000000,
}
ROUTER = {"routing_delay": 0, "speculative": 1}
"""A router that takes one cycle besides its channels: the route is known, and channel and switch
are allocated together.
"""

PIPELINES = {
    "routing, allocation of a channel, switch": ({"routing_delay": 1}, 3),
    "routing ahead": ({"routing_delay": 0}, 2),
    "routing ahead, speculative allocation": (ROUTER, 1),
}
"""Router parameters, and a header's cycles in each router."""

TORUS: dict[str, Any] = {"topology": "torus", "k": 8, "n": 2, "num_vcs": 4}
TREE: dict[str, Any] = {"topology": "fattree", "k": 4, "n": 3, "num_vcs": 2}
DRAGONFLY: dict[str, Any] = {"topology": "dragonflynew", "k": 2, "n": 1, "num_vcs": 4}
NETWORKS = {
    "torus, 8 x 8": (TORUS, ["topology=torus", "shape=8,8", "channels=4"]),
    "fat tree, 4-ary 3-tree": (TREE, ["topology=fat-tree", "shape=4,4,4,4,4", "channels=2"]),
    "dragonfly, 9 groups of 4 switches": (
        DRAGONFLY,
        ["topology=dragonfly", "shape=2,4,2,9", "channels=4"],
    ),
}
LARGE = {
    "torus, 10 x 10 x 10": (
        TORUS | {"k": 10, "n": 3},
        ["topology=torus", "shape=10,10,10", "channels=4"],
    ),
    "fat tree, 4-ary 5-tree": (
        TREE | {"n": 5},
        ["topology=fat-tree", "shape=4,4,4,4,4,4,4,4,4", "channels=2"],
    ),
    "dragonfly, 33 groups of 8 switches": (
        DRAGONFLY | {"k": 4},
        ["topology=dragonfly", "shape=4,8,4,33", "channels=4"],
    ),
}
GRAPHS = {
    "Slim Fly, q = 5": (["topology=slim-fly", "shape=4,5"], 8),
    "PolarFly, q = 7": (["topology=polarfly", "shape=4,7"], 8),
    "Jellyfish, 50 switches": (["topology=jellyfish", "shape=4,50,10,1"], 9),
    "mesh, 4 x 4": (["topology=rows", "shape=2,4,4"], 12),
}
"""Graphs, and channels per link: about four for each link of the longest way between switches."""

STOCK = {"anynet": "min", "torus": "dim_order", "fattree": "nca", "dragonflynew": "min"}
SAME = {"torus": "dateline", "fattree": "source_fixed", "dragonflynew": "least"}
PATTERNS = {
    "torus": {"uniform": "uniform", "tornado": "tornado"},
    "fattree": {"uniform": "uniform", "transpose": "transpose"},
    "dragonflynew": {"uniform": "uniform", "next-group": "bad_dragon"},
}


def main() -> None:
    """Run the requested comparison."""
    program, task, *rest = sys.argv[1:]
    tasks = {
        "zero-load": zero_load,
        "saturation": saturation,
        "speed": speed,
        "graphs": graphs,
    }
    tasks[task](Path(program).resolve(), build(), *map(int, rest))


def build() -> str:
    """Compiles the program that measures the fabric; returns its path."""
    command = [
        "cargo",
        "bench",
        "--locked",
        "--quiet",
        "--package",
        "elanite-fabric",
        "--bench",
        "network",
    ]
    ended = subprocess.run(
        [*command, "--no-run", "--message-format=json"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        check=True,
    )
    messages = [json.loads(text) for text in ended.stdout.splitlines()]
    (program,) = [message["executable"] for message in messages if message.get("executable")]
    return str(program)


def ours(program: str, words: list[str]) -> tuple[Any, float]:
    """A fabric run's output, and its processor-seconds."""
    text, seconds = timed([program, *words])
    return json.loads(text), seconds


def theirs(program: Path, words: dict[str, Any], folder: str = ".") -> tuple[str, float]:
    """A BookSim2 run's output, and its processor-seconds."""
    with tempfile.NamedTemporaryFile("w", suffix=".cfg") as file:
        file.write(f"input_speedup = {words['num_vcs']};\n")
        file.flush()
        return timed(
            [str(program), file.name, *(f"{key}={value}" for key, value in words.items())], folder
        )


def timed(command: list[str], folder: str = ".") -> tuple[str, float]:
    """A command's output, and its processor-seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    # BookSim2 ends with -1 where a rate has not settled; its figures show whether it has run.
    ended = subprocess.run(command, stdout=subprocess.PIPE, text=True, cwd=folder, check=False)
    return ended.stdout, resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def zero_load(program: Path, fabric: str) -> None:
    """Packets alone: each BookSim2 packet against ours between the same two nodes."""
    print(
        "| network | router of BookSim2 | its cycles | as ours less these cycles | of packets alone"
        " | shorter |"
    )
    print("|---|---|---|---|---|---|")
    for name, (network, words) in NETWORKS.items():
        for router, (parameters, cycles) in PIPELINES.items():
            # Between routers a flit takes two cycles more; in a dragonfly the channels themselves
            # are longer.
            hop = [2 + cycles]
            if "dragonfly" in name:
                hop += [11 + cycles, 101 + cycles]
            delays = ",".join(map(str, hop))
            expected, _ = ours(fabric, ["measure=alone", f"delays={delays}", *words])
            found = lonely(program, COMMON | network | parameters)
            differences = [
                (took - (expected[source][node] - cycles), lone)
                for source, node, took, lone in found
            ]
            equal, shorter = (
                sum(test) for test in zip(*((d == 0, d < 0) for d, _ in differences), strict=True)
            )
            alone = [difference for difference, lone in differences if lone]
            counts = f"{equal} of {len(found)} | {alone.count(0)} of {len(alone)} | {shorter}"
            print(f"| {name} | {router} | {cycles} | {counts} |", flush=True)


def lonely(
    program: Path, words: dict[str, Any], cycles: int = 400_000
) -> list[tuple[int, int, int, bool]]:
    """Source, destination and network latency for a thousand packets, and whether each had the
    network to itself.
    """
    packets = 1000
    watched = "{" + ",".join(map(str, range(packets))) + "}"
    with tempfile.TemporaryDirectory() as folder:
        words |= {
            "routing_function": STOCK[words["topology"]],
            "injection_rate": 0.00005,
            "warmup_periods": 1,
            "sample_period": cycles,
            "max_samples": 1,
            "watch_packets": watched,
            "watch_out": "watched",
        }
        theirs(program, words, folder)
        text = Path(folder, "watched").read_text(encoding="utf-8")
    found = re.findall(
        r"(\d+) \| node\d+ \| Retiring packet .*nlat = (\d+).*src = (\d+), dest = (\d+)", text
    )
    ways = [
        (int(end) - int(took), int(end), int(source), int(node))
        for end, took, source, node in found
    ]
    return [
        (
            source,
            node,
            end - begin,
            sum(begin <= other[1] and other[0] <= end for other in ways) == 1,
        )
        for begin, end, source, node in ways
    ]


def saturation(program: Path, fabric: str, seeds: int = 3) -> None:
    """The networks' accepted load if all nodes offer their full link rate."""
    print("| network | traffic | BookSim2 | Elanite | Elanite over BookSim2 |")
    print("|---|---|---|---|---|")
    for name, (network, words) in NETWORKS.items():
        for pattern, their_pattern in PATTERNS[network["topology"]].items():
            routed = network | {"routing_function": SAME[network["topology"]]}
            rows = [
                (
                    saturated(program, routed, seed, their_pattern),
                    our_saturated(fabric, words, seed, pattern),
                )
                for seed in range(1, seeds + 1)
            ]
            their, our = zip(*rows, strict=True)
            ratio = statistics.mean(our) / statistics.mean(their) - 1
            print(
                f"| {name} | {pattern} | {spread(their)} | {spread(our)} | {ratio:+.1%} |",
                flush=True,
            )


def graphs(program: Path, fabric: str, seeds: int = 3) -> None:
    """Graphs with one shortest way for each pair: packets alone, and the accepted load if all
    nodes offer their full link rate; beside it the same with all shortest ways in Elanite.
    """
    print(
        "| network | nodes | channels | of packets alone, equal | BookSim2, `min`"
        " | BookSim2, `layers` | Elanite, the same ways | over `layers`"
        " | Elanite, all shortest ways |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for name, (words, channels) in GRAPHS.items():
        words = [*words, f"channels={channels}"]
        cables, _ = ours(fabric, [*words, "measure=cables"])
        with tempfile.NamedTemporaryFile("w", suffix=".anynet") as file:
            whole = anynet(cables["cables"], cables["seats"])
            file.write(whole)
            file.flush()
            network = {"topology": "anynet", "network_file": file.name, "num_vcs": channels}
            expected, _ = ours(fabric, [*words, "measure=alone", "delays=3", "ways=one"])
            found = lonely(
                program, COMMON | network | ROUTER, cycles=24_000_000 // len(cables["seats"])
            )
            alone = [
                took == expected[source][node] - 1 for source, node, took, lone in found if lone
            ]
            rows = [
                (
                    *(
                        saturated(program, network | {"routing_function": routing}, seed)
                        for routing in ("min", "layers")
                    ),
                    *(
                        our_saturated(fabric, [*words, f"ways={ways}"], seed)
                        for ways in ("one", "adaptive")
                    ),
                )
                for seed in range(1, seeds + 1)
            ]
        stock, layers, one, every = zip(*rows, strict=True)
        ratio = statistics.mean(one) / statistics.mean(layers) - 1
        print(
            f"| {name} | {len(cables['seats'])} | {channels} | {sum(alone)} of {len(alone)}"
            f" | {spread(stock)} | {spread(layers)} | {spread(one)} | {ratio:+.1%}"
            f" | {spread(every)} |",
            flush=True,
        )


def anynet(cables: list[tuple[int, int]], seats: list[int]) -> str:
    """A graph in the form of BookSim2's `anynet`; all links take one cycle."""
    lines = [f"router {switch} node {node}" for node, switch in enumerate(seats)]
    lines += [f"router {a} router {b}" for a, b in cables]
    return "\n".join([*lines, ""])


WARM_UP, CYCLES = 3000, 9000


def saturated(program: Path, network: dict[str, Any], seed: int, traffic: str = "uniform") -> float:
    """The load that BookSim2 accepts if all nodes offer their full link rate."""
    parameters = {
        "traffic": traffic,
        "injection_rate": 1 / FLITS,
        "warmup_periods": 1,
        "sample_period": WARM_UP,
        "max_samples": 1 + CYCLES // WARM_UP,
        "seed": seed,
    }
    text, _ = theirs(program, COMMON | ROUTER | network | parameters)
    return float(re.findall(r"Accepted flit rate average *= *(\S+)", text)[-1])


def our_saturated(fabric: str, words: list[str], seed: int, pattern: str = "uniform") -> float:
    """The load that the fabric accepts if all nodes offer their full link rate."""
    run = [f"pattern={pattern}", "load=1", "delays=3", f"warm_up={WARM_UP}", f"cycles={CYCLES}"]
    row, _ = ours(fabric, [*words, *run, f"seed={seed}"])
    return float(row["accepted"])


def spread(values: tuple[float, ...]) -> str:
    """The mean, and the lowest and highest value."""
    return f"{statistics.mean(values):.3f} ({min(values):.3f} to {max(values):.3f})"


def speed(program: Path, fabric: str, rounds: int = 3) -> None:
    """Packets per processor-second at a load of 0.3, one program after the other, start-up
    included.
    """
    rows = []
    for name, (network, words) in (NETWORKS | LARGE).items():
        large = name in LARGE
        nodes = ours(fabric, [*words, "cycles=1", "warm_up=0"])[0]["nodes"]
        cycles = 600 if large else 4000
        parameters = {
            "routing_function": SAME[network["topology"]],
            "injection_rate": 0.3 / FLITS,
            "warmup_periods": 1,
            "sample_period": cycles // 2,
            "max_samples": 2,
        }
        run = ["load=0.3", "delays=3", "warm_up=0", f"cycles={20 * cycles}"]
        found = []
        for _ in range(rounds):
            _, seconds = theirs(program, COMMON | ROUTER | network | parameters)
            row, our_seconds = ours(fabric, [*words, *run])
            found.append((0.3 / FLITS * nodes * cycles / seconds, row["packets"] / our_seconds))
        ratio = statistics.median(our / their for their, our in found)
        their, our = map(statistics.median, zip(*found, strict=True))
        rows.append((name, nodes, their, our, ratio))
        print(f"{name:36} {nodes:5} nodes {their:10,.0f} {our:12,.0f} {ratio:8.1f}", flush=True)
    for name, nodes, their, our, ratio in rows:
        print(
            f'    {{ network = "{name}", nodes = {nodes}, theirs = {float(f"{their:.2g}"):.0f}'
            f", ours = {float(f'{our:.2g}'):.0f}, ratio = {float(f'{ratio:.2g}'):g} }},"
        )


if __name__ == "__main__":
    main()
