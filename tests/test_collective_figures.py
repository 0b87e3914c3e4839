"""Collective operation figures, from synthetic results: pings with MPI, barriers, broadcasts, the
deadlock.
"""

from __future__ import annotations

import itertools

import polars as pl
import pytest

from conftest import Row, data, figures_of, frame
from drawings import layers
from elanite import figures
from elanite.validation.claims import claims
from test_figures import names, ping

KB = 1024


def mpi(*directions: str) -> pl.DataFrame:
    here = (
        (pl.col("source") == "main")
        & (pl.col("destination") == "main")
        & pl.col("directions").is_in(directions)
    )
    series, library, value = pl.lit("mpi"), pl.lit("mpi"), pl.col("value") + 3.0
    return ping().filter(here).with_columns(series=series, library=library, value=value)


def batches(parts: list[Row]) -> pl.DataFrame:
    """Rows with two batches each."""
    return frame(
        [
            part | {"seed": 1, "batch": n, "value": part["value"] + n}
            for part in parts
            for n in (0, 1)
        ]
    )


def barriers() -> pl.DataFrame:
    return batches(
        [
            {
                "series": "loaded" if pattern else "idle",
                "operation": operation,
                "nodes": nodes,
                "job": None,
                "background.pattern": pattern,
                "background.nodes": 64 if pattern else None,
                "background.message": "256 KB" if pattern else None,
                "metric": metric,
                "unit": "us",
                "value": nodes * (10.0 if pattern else 1.0),
            }
            for operation, nodes, pattern, metric in itertools.product(
                ("gsync", "hgsync", "hgsyncevent"),
                (2, 8, 64),
                (None, "uniform", "complement"),
                ("latency", "p93"),
            )
        ]
    )


def broadcasts() -> pl.DataFrame:
    sizes = {"0 B": 0, "4 B": 4, "1 KB": KB, "4 KB": 4 * KB, "64 KB": 64 * KB, "2 MB": 2 * KB * KB}
    parts: list[Row] = []
    for operation, memory, metric, busy in itertools.product(
        ("bcast", "hbcast"), ("elan", "main"), ("latency", "bandwidth"), (False, True)
    ):
        suffix = "-loaded" if busy else ""
        common = {
            "operation": operation,
            "memory": memory,
            "metric": metric,
            "unit": "x",
            "background.pattern": "complement" if busy else None,
            "background.nodes": 48 if busy else None,
            "background.message": "128 KB" if busy else None,
        }
        for message, size in sizes.items():
            if not (busy and message in ("0 B", "2 MB")):
                series = ("latency" if size <= KB else "bandwidth") + suffix
                here = {"series": series, "nodes": 64, "message": message, "message_bytes": size}
                parts.append(common | here | {"value": size + 1.0 + busy})
        for nodes, message in itertools.product(
            (4, 16, 64), ("64 KB",) if busy else ("64 KB", "2 MB")
        ):
            here = {
                "series": f"nodes{suffix}",
                "nodes": nodes,
                "message": message,
                "message_bytes": sizes[message],
            }
            parts.append(
                common | here | {"value": 9.0 if busy else 20.0 + 100 * (message == "2 MB")}
            )
    return batches(parts)


def test_figures_9_and_10_have_the_curves_of_mpi() -> None:
    """Beside Elan3lib's, which are chosen among several series."""
    drawn = figures_of("qsnet/ping", pl.concat([ping(), mpi("one", "both")], how="diagonal"))
    assert names(drawn) == ["figure 9 a", "figure 9 b", "figure 10 a", "figure 10 b"]
    for figure in drawn:
        placements = {row["curve"] for row in data(figure, "curve")}
        assert len(placements) == 5
        assert "MPI, main → main" in placements
    assert "half of a round trip" in drawn[1].caption
    assert "MPI_Sendrecv" in drawn[3].caption
    stated = {row["text"] for row in data(drawn[1], "text")}
    assert "published, MPI: 5.5 µs (Petrini et al. 2003)" in stated


def test_the_ping_of_the_collectives_paper() -> None:
    drawn = figures_of("collectives/ping", pl.concat([ping(), mpi("one")], how="diagonal"))
    assert names(drawn) == ["", ""]
    assert [figure.name for figure in drawn] == ["bandwidth", "latency"]
    for figure in drawn:
        found = list(dict.fromkeys(row["curve"] for row in data(figure, "curve")))
        assert found == ["elan → elan", "main → main", "MPI, main → main"]


def test_barriers_alone_and_among_other_traffic() -> None:
    drawn = figures_of("collectives/barrier", barriers())
    names(drawn)
    assert [figure.name for figure in drawn] == ["barrier", "barrier-uniform", "barrier-complement"]
    lines = [rows for rows in drawn[1].spec()["datasets"].values() if "curve" in rows[0]]
    assert len(lines) == 2, "with other traffic and, dashed, without"
    curves = list(dict.fromkeys(row["curve"] for row in lines[0]))
    assert [curve.split("(")[1] for curve in curves] == [
        "elan_hgsync)",
        "elan_hgsyncevent)",
        "elan_gsync)",
    ]
    assert {row["value"] for row in data(drawn[0], "value")} == {
        6.0,
        15.0,
    }, "the published latencies"


def test_some_barriers_give_fewer_figures() -> None:
    rows = barriers().filter(pl.col("series") == "loaded")
    drawn = figures_of(
        "collectives/barrier", rows.filter(pl.col("background.pattern") == "uniform")
    )
    assert [figure.name for figure in drawn] == ["barrier-uniform"]
    idle = barriers().filter(pl.col("series") == "idle").drop("background.pattern")
    assert [figure.name for figure in figures_of("collectives/barrier", idle)] == ["barrier"]


def distribution() -> pl.DataFrame:
    rows: list[Row] = []
    for operation, series, pattern in (
        ("hgsync", "distribution", None),
        ("gsync", "distribution", None),
        ("hgsync", "hardware-loaded", "uniform"),
        ("gsync", "idle", None),
    ):
        for seed, time in itertools.product((1, 2), range(1, 2001)):
            here = {
                "operation": operation,
                "series": series,
                "background.pattern": pattern,
                "seed": seed,
            }
            here |= {"nodes": 32, "background.nodes": 64, "background.message": "256 KB"}
            rows.append(
                here | {"lower_ps": time * 1_000_000 * (100 if series == "idle" else 1), "count": 5}
            )
    return frame(rows)


def test_distributions_are_cumulative() -> None:
    drawn = figures_of("collectives/barrier", distribution(), "distribution")
    names(drawn)
    assert [figure.name for figure in drawn] == ["distribution-hardware", "distribution-software"]
    assert all(figure.title.endswith("barrier, 32 nodes") for figure in drawn)
    assert ["The other traffic: 64 nodes" in figure.caption for figure in drawn] == [True, False]
    steps = [row for row in data(drawn[0], "share") if "traffic" in row]
    assert {row["traffic"] for row in steps} == {"no other traffic", "uniform traffic"}
    alone = [row for row in steps if row["traffic"] == "no other traffic"]
    assert len(alone) < 1000, "fewer than there are bins"
    shares = [row["share"] for row in alone]
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (0.0, 100.0)
    (half,) = [row["latency"] for row in alone if row["share"] == pytest.approx(50.0)]
    assert half == 1000.0, "calls of both seeds together"
    assert max(row["latency"] for row in data(drawn[1], "traffic")) < 5000, (
        "other series are left out"
    )


def test_published_points_of_distributions_are_those_of_claims() -> None:
    drawn = figures_of("collectives/barrier", distribution(), "distribution")
    hardware, software = ([row["text"] for row in data(figure, "text")] for figure in drawn)
    assert hardware == ["94% < 9 µs", "93% < 20 µs"]
    assert software == ["99% < 30 µs", "93% < 605 µs"]
    assert sum(claim.metric.startswith("latency_p") for claim in claims()) == 4


def test_broadcasts_alone_and_among_other_traffic() -> None:
    drawn = figures_of("collectives/broadcast", broadcasts())
    names(drawn)
    kinds = ["broadcast-bandwidth", "broadcast-latency", "broadcast-nodes"]
    assert [figure.name for figure in drawn] == [*kinds, *(f"{kind}-loaded" for kind in kinds)]
    for figure in drawn:
        curves = list(dict.fromkeys(row["curve"] for row in data(figure, "curve")))
        assert curves[0] == "hardware (elan_hbcast), Elan memory"
        assert curves[-1] == "software (elan_bcast), main memory"
        assert len(curves) == 4
    bandwidth, latency = drawn[:2]
    assert {row["message_bytes"] for row in data(bandwidth, "curve")} == {
        4,
        KB,
        4 * KB,
        64 * KB,
        2 * KB * KB,
    }
    assert {row["message_bytes"] for row in data(latency, "curve")} == {0, 4, KB, 4 * KB}
    assert {row["value"] for row in data(bandwidth, "value")} == {288.0, 200.0}
    assert {row["value"] for row in data(latency, "value")} == {13.0}


def test_scalability_beside_the_same_message_without_other_traffic() -> None:
    drawn = {figure.name: figure for figure in figures_of("collectives/broadcast", broadcasts())}
    alone, loaded = drawn["broadcast-nodes"], drawn["broadcast-nodes-loaded"]
    assert alone.title == "Broadcast of 2 MB: bandwidth by number of nodes"
    assert {row["mean"] for row in data(alone, "mean")} == {120.5}
    assert (
        loaded.title == "Broadcast of 64 KB: bandwidth by number of nodes, with complement traffic"
    )
    assert "Dashed: without other traffic." in loaded.caption
    with_traffic, without = (
        rows for rows in loaded.spec()["datasets"].values() if "curve" in rows[0]
    )
    assert {row["mean"] for row in with_traffic} == {9.5}
    assert {row["mean"] for row in without} == {20.5}, "64 KB, too"
    assert {(row["curve"], row["nodes"]) for row in with_traffic} == {
        (row["curve"], row["nodes"]) for row in without
    }


def test_words_are_of_what_was_run() -> None:
    rows = broadcasts().with_columns(pl.col("background.pattern").replace("complement", "uniform"))
    rows = rows.with_columns(
        nodes=pl.when(pl.col("nodes") == 64).then(32).otherwise(pl.col("nodes"))
    )
    for figure in figures_of("collectives/broadcast", rows):
        if not figure.name.startswith("broadcast-nodes"):
            assert "Broadcast, 32 nodes" in figure.title
        assert figure.title.endswith("with uniform traffic") is figure.name.endswith("-loaded")
        traffic = "48 nodes send messages of 128 KB on average"
        assert (traffic in figure.caption) is figure.name.endswith("-loaded")


def test_curves_without_other_traffic_go_no_further() -> None:
    drawn = {figure.name: figure for figure in figures_of("collectives/broadcast", broadcasts())}
    for name in ("broadcast-bandwidth-loaded", "broadcast-latency-loaded"):
        sets = [rows for rows in drawn[name].spec()["datasets"].values() if "curve" in rows[0]]
        with_traffic, without = ({row["message_bytes"] for row in rows} for rows in sets)
        assert with_traffic == without


def test_predictions_say_that_they_are() -> None:
    parts: list[Row] = []
    for nodes in (16, 4096):
        barrier = {
            "series": "barrier",
            "memory": None,
            "message": None,
            "metric": "latency",
            "unit": "us",
        }
        broadcast = {
            "series": "broadcast",
            "memory": "elan",
            "message": "32 KB",
            "metric": "bandwidth",
            "unit": "MB/s",
        }
        parts += [
            barrier | {"operation": name, "nodes": nodes, "value": 1.0}
            for name in ("hgsync", "gsync")
        ]
        parts += [
            broadcast | {"operation": name, "nodes": nodes, "value": 1.0}
            for name in ("hbcast", "bcast")
        ]
    drawn = figures_of("collectives/prediction", batches(parts))
    names(drawn)
    assert len(drawn) == 2
    assert all(figure.title.startswith("Prediction: ") for figure in drawn)
    assert all(figure.title.endswith(" by number of nodes") for figure in drawn)
    assert all("A prediction: nothing is published" in figure.caption for figure in drawn)


def completion() -> pl.DataFrame:
    parts: list[Row] = []
    for machine, groups in itertools.product(("unchanged", "switch.broadcast=by-source"), (1, 3)):
        stuck = machine != "unchanged" and groups == 3
        here = {
            "machine": machine,
            "groups": groups,
            "nodes": 64,
            "message": "16 KB",
            "background.pattern": "uniform",
        }
        parts.append(here | {"job": None, "metric": "deadlock", "value": float(stuck)})
        parts.append(here | {"job": "background", "metric": "latency", "value": 1e6})
        if not stuck:
            parts.append(here | {"job": None, "metric": "latency", "value": 500.0 * groups})
    rows = [
        part | {"seed": 1, "batch": 0 if part["metric"] == "latency" else None} for part in parts
    ]
    return frame(rows)


def test_who_completes_and_who_does_not() -> None:
    (figure,) = figures_of("collectives/deadlock", completion())
    names([figure])
    bars = {(row["roots"], row["groups"]): row["mean"] for row in data(figure, "mean")}
    serialised, apart = "serialised through one root switch", "each through its own root switch"
    assert bars == {(serialised, 1): 500.0, (serialised, 3): 1500.0, (apart, 1): 500.0}
    words = {
        (row["roots"], row["groups"], row["text"], row["on_bar"])
        for row in data(figure, "deadlocks")
    }
    assert words == {(apart, 3, "deadlock: 1 of 1 runs", False)}
    (text,) = (
        one for one in layers(figure) if one["encoding"].get("text", {}).get("field") == "text"
    )
    assert (text["mark"]["angle"], text["encoding"]["xOffset"]["field"]) == (
        270,
        "roots",
    ), "upright in its own column"


def test_some_seeds_complete_and_some_do_not() -> None:
    rows = completion()
    complete = rows.filter(pl.col("machine") == "unchanged").with_columns(
        machine=pl.lit("switch.broadcast=by-source")
    )
    rows = pl.concat([rows, complete.with_columns(seed=pl.lit(2, pl.Int64))])
    (figure,) = figures_of("collectives/deadlock", rows)
    assert {(row["text"], row["on_bar"]) for row in data(figure, "deadlocks")} == {
        ("deadlock: 1 of 2 runs", True)
    }


def cycle(packets: int) -> pl.DataFrame:
    """Packets from nodes 0, 10, 20 and so on, each waiting for the next; each holds two
    channels.
    """
    rows: list[Row] = []
    for step in range(packets):
        holder = (step + 1) % packets
        common = {
            "id": "0123456789",
            "seed": 3,
            "machine": "switch.broadcast=by-source",
            "groups": 3,
            "source": 10 * step,
            "sequence": 7,
            "first": 0,
            "last": 63,
            "link": 65,
            "to": "node 1",
            "channel": 0,
        }
        held = {"step": None, "from": "switch 2.0", "holder_source": None, "holder_sequence": None}
        held |= {"switch": None, "switch_name": None}
        rows += [common | held, common | held]
        wait = {
            "step": step,
            "switch": 20 + step,
            "switch_name": f"switch 1.{step}",
            "from": f"switch 1.{step}",
        }
        rows.append(common | wait | {"holder_source": 10 * holder, "holder_sequence": 7})
    return frame(rows)


def extent(word: Row) -> Row:
    """About the height of a text line."""
    wide = 6.3 * len(word["text"])
    left = word["x"] - wide * {"left": 0.0, "center": 0.5, "right": 1.0}[word["align"]]
    return {"x": left, "x2": left + wide, "y": word["y"] - 7, "y2": word["y"] + 7}


def apart(one: Row, other: Row) -> bool:
    return (
        one["x2"] <= other["x"]
        or other["x2"] <= one["x"]
        or one["y2"] <= other["y"]
        or other["y2"] <= one["y"]
    )


@pytest.mark.parametrize("packets", range(2, 9))
def test_a_cycle_is_a_circle_of_packets(packets: int) -> None:
    (figure,) = figures.deadlock.cycles(cycle(packets))
    assert figure.wide
    words = [row["text"] for row in data(figure, "text")]
    assert words.count("holds 2 channels") == packets
    for step in range(packets):
        assert f"packet 7 of node {10 * step}" in words
        assert f"waits at switch 1.{step} for channel 0" in words
        assert f"which the packet of node {10 * ((step + 1) % packets)} holds" in words
    boxes = data(figure, "x2")
    outside = [extent(word) for word in data(figure, "text") if word["kind"] == "arrow"]
    for one, other in itertools.combinations(boxes + outside, 2):
        assert apart(one, other), "neither boxes nor words overlap"
    heads = data(figure, "angle")
    for step, head in enumerate(heads):
        box = boxes[(step + 1) % packets]
        gap = max(
            box["x"] - head["x"], head["x"] - box["x2"], box["y"] - head["y"], head["y"] - box["y2"]
        )
        assert 0 < gap < 20, "an arrow ends at the packet that is waited for"
    height = figure.spec()["height"]
    assert all(0 < row["x"] < 1180 and 0 < row["y"] < height for row in data(figure, "text"))


@pytest.mark.parametrize("packets", range(9, 33))
def test_a_long_cycle_is_a_list(packets: int) -> None:
    draw = figures.deadlock.cycles
    (figure,) = draw(cycle(packets))
    assert figure.wide
    assert f"{packets} packets" in figure.title
    assert figure.title.endswith("3 groups, seed 3")
    assert "A row is a packet" in figure.caption
    rows: dict[float, list[str]] = {}
    for word in data(figure, "text"):
        rows.setdefault(word["y"], []).append(word["text"])
    assert len(rows) == packets
    for step, (_, texts) in enumerate(sorted(rows.items())):
        assert texts == [
            f"packet 7 of node {10 * step}; to nodes 0 to 63; holds 2 channels",
            f"waits at switch 1.{step} for channel 0 of the link to node 1,",
            f"which the packet of node {10 * ((step + 1) % packets)} holds",
        ]
    places = sorted(rows)
    assert min(other - one for one, other in itertools.pairwise(places)) > 16
    assert 0 < places[0] < places[-1] < figure.spec()["height"]


def test_a_packet_may_wait_for_its_turn() -> None:
    gone = {
        name: pl.when(pl.col("step") == 0).then(None).otherwise(pl.col(name)).alias(name)
        for name in ("link", "from")
    }
    draw = figures.deadlock.cycles
    for packets in (3, 12):
        (figure,) = draw(cycle(packets).with_columns(gone.values()))
        words = [row["text"] for row in data(figure, "text")]
        assert "waits for its turn at switch 1.0," in words
        assert words.count("which the packet of node 10 has") == 1


def test_no_deadlock_gives_no_cycle() -> None:
    draw = figures.deadlock.cycles
    assert list(draw(cycle(2).clear())) == []
