"""Result metrics have meanings, and pages and commands describe the metrics that they show."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import elanite as el
from conftest import Ended
from elanite import figures
from elanite.explain import meanings
from elanite.report.pages.frame import Page, render
from elanite.report.pages.inputs import Inputs
from elanite.results.metrics import MEANINGS, notes

Run = Callable[..., Ended]

ROWS = Path(__file__).parents[1] / "crates" / "workload" / "src" / "rows.rs"


@pytest.mark.skipif(not ROWS.is_file(), reason="not a checkout")
def test_every_metric_has_a_meaning() -> None:
    (listed,) = re.findall(
        r"pub const METRICS: &\[&str\] = &\[(.*?)\n\];", ROWS.read_text(encoding="utf-8"), re.DOTALL
    )
    names = set(re.findall(r'"(\w+)"', listed))
    assert names
    assert names <= MEANINGS.keys()
    for name in names:
        found = meanings.explain(name)
        assert found.text == MEANINGS[name][0]
        assert ("where", MEANINGS[name][1]) in found.facts


def test_offered_load_is_what_the_sources_offer() -> None:
    """The column with the same name in the node table comes second."""
    found = meanings.explain("offered")
    assert found.text.startswith("Load that the sources offered")
    assert [text for name, text in found.facts if name == "also" and "table `nodes`" in text]


def test_a_misleading_metric_has_a_note() -> None:
    (note,) = notes(["latency", "wire_bandwidth"])
    assert note.startswith("wire_bandwidth: bytes on the wire")
    assert notes(["latency"]) == []


def test_variants_of_a_machine_have_a_line_each(elanite: Run, tmp_path: Path) -> None:
    text = """title = "Variants"
machine = "es40-qsnet"
[[series]]
name = "size"
machine = [{ switch.ascent = "deterministic", faults.detect = "0 s" }, {}]
[series.ping]
from = 0
to = 5
directions = "one"
source = "main"
destination = "main"
message = ["0 B", "64 B"]
repeats = 1
"""
    (tmp_path / "variants.toml").write_text(text, encoding="utf-8")
    lines = [line.split() for line in elanite("show", "variants.toml").out.splitlines()]
    assert ["machine", "faults.detect=0", "s,", "switch.ascent=deterministic"] in lines
    assert ["unchanged"] in lines
    assert ["message", "0", "B,", "64", "B"] in lines


def test_a_page_names_changed_keys_and_opens_what_it_has() -> None:
    machine = el.Machine.load("es40-qsnet", ["bus.rate=200 MB/s"])
    page = render(Page("mine", ["elanite", "run"], Inputs(["elanite", "run"]), machines=[machine]))
    assert "here with <code>bus.rate=200 MB/s</code>" in page
    assert "elanite open" not in page.partition('id="rerun"')[2].partition("</section>")[0], (
        "there is nothing to write"
    )
    inside = render(Page("mine", ["elanite", "run"], Inputs(["elanite", "run"], {"a.toml": b"x"})))
    assert "elanite open PAGE" in inside


def test_captions_and_axes_of_general_figures(tmp_path: Path) -> None:
    job = {
        "pattern": "uniform",
        "nodes": 8,
        "message": "4 KB",
        "sizes": "fixed",
        "arrivals": "exponential",
    }
    ping = {
        "from": 0,
        "to": 5,
        "directions": "one",
        "source": "main",
        "destination": "main",
        "repeats": 1,
    }
    content = {
        "title": "Both",
        "machine": "es40-qsnet",
        "run": {"warm_up": "20 us", "window": "100 us", "batches": 3, "seeds": 1},
        "series": [
            {
                "name": "load",
                "jobs": {"a": job | {"processes": 1, "load": ["50 MB/s", "100 MB/s"]}},
            },
            {"name": "size", "ping": ping | {"message": ["0 B", "4 KB"]}},
        ],
    }
    result = el.run(el.Experiment.from_dict(content, "both"), out=tmp_path, jobs=1)
    found = {figure.title: figure for figure in figures.drawn(result.plan, result.store)}
    assert found["size: latency"].caption.startswith("Each mark is one value.")
    accepted = found["load: accepted"]
    assert accepted.caption.startswith("Mean of accepted over batches.")
    titles = {layer["encoding"]["x"].get("title") for layer in accepted.spec()["layer"]}
    assert titles == {"nominal load, MB/s per node"}


def test_the_fault_of_the_template_is_valid(elanite: Run, tmp_path: Path) -> None:
    assert elanite("new", "experiment", "mine").code == 0
    file = tmp_path / "mine.toml"
    text, count = re.subn(
        r"^# (\[\[series\.fault|links = |count = |pick = |at = )",
        r"\1",
        file.read_text("utf-8"),
        flags=re.M,
    )
    assert count == 5
    file.write_text(text, encoding="utf-8")
    ended = elanite("show", "mine.toml")
    assert ended.code == 0, ended.err
    assert re.search(r"fault\.count +1, 2", ended.out)


def test_a_curve_behind_another_one_is_named() -> None:
    def row(curve: str, size: int, value: float) -> dict[str, object]:
        names = {
            "experiment": "x",
            "series": "s",
            "metric": "latency",
            "unit": "us",
            "seed": 1,
            "batch": None,
        }
        return names | {
            "source": curve,
            "message": f"{size} KB",
            "message_bytes": 1024 * size,
            "value": value,
        }

    rows = [row("main", size, float(size)) for size in (1, 2, 4)]
    rows += [row("elan", size, float(size)) for size in (1, 2, 4)] + [
        row("other", size, 9.0) for size in (1, 2, 4)
    ]
    (figure,) = figures.default_figures.draw(
        pl.DataFrame(rows, schema_overrides={"batch": pl.UInt32}), {"s": "ping"}
    )
    assert "Curves with equal values lie on each other: main behind elan." in figure.caption
    near = [
        one | {"value": float(str(one["value"])) * (1.002 if one["source"] == "main" else 1)}
        for one in rows
    ]
    (figure,) = figures.default_figures.draw(
        pl.DataFrame(near, schema_overrides={"batch": pl.UInt32}), {"s": "ping"}
    )
    assert "Curves too near to be told apart: main behind elan." in figure.caption
    named = [
        one | {"source": {"main": "1; 1", "elan": "2; 1"}.get(str(one["source"]), "9")}
        for one in rows
    ]
    (figure,) = figures.default_figures.draw(
        pl.DataFrame(named, schema_overrides={"batch": pl.UInt32}), {"s": "ping"}
    )
    assert "Curves with equal values lie on each other: “1; 1” behind “2; 1”." in figure.caption
    (apart,) = figures.default_figures.draw(
        pl.DataFrame(rows[3:], schema_overrides={"batch": pl.UInt32}), {"s": "ping"}
    )
    assert "on each other" not in apart.caption
