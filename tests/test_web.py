"""The pages' engine, in WebAssembly: the native engine's records, its errors, and its worker in a
browser.

``make web-engine`` builds the module, for which Rust needs the target ``wasm32-unknown-unknown``.
These tests are skipped without the module, with a module from other sources, and without node.
"""

from __future__ import annotations

import functools
import http.server
import json
import re
import shutil
import subprocess
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from conftest import PATIENCE
from elanite import _core
from elanite.errors import ConfigError, RunError
from test_report_browser import CHROMIUM, browser

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

__all__ = ["browser"]

ROOT = Path(__file__).parents[1]
ENGINE = ROOT / "web" / "engine"
BUILT = ENGINE / "built"
MACHINES = ROOT / "machines"
NODE = shutil.which("node")
POINTS = sorted((ROOT / "tests" / "web_points").glob("*.toml"))

WRONG = (
    'title = "x"\nmachine = "es40-qsnet"\n[[series]]\nname = "a"\n[series.jobs.traffic]\npattern ='
    ' "unifrm"\n'
)
"""A file with several mistakes."""


def answered(*calls: tuple[str, list[Any]]) -> tuple[list[dict[str, Any]], int]:
    """The answers to calls, and how often the observer was called."""
    words = [str(NODE), str(ROOT / "tests" / "web_calls.mjs"), str(BUILT)]
    text = json.dumps(calls)
    ended = subprocess.run(
        words, input=text, capture_output=True, text=True, check=True, timeout=PATIENCE
    )
    found = json.loads(ended.stdout)
    return found["answers"], found["seen"]


def reason() -> str | None:
    """Why the module cannot be tested."""
    if not (BUILT / "elanite_web_bg.wasm").exists():
        return "no web/engine/built: rustup target add wasm32-unknown-unknown, then make web-engine"
    if NODE is None:
        return "no node on the PATH: apt-get install nodejs"
    (version,), _ = answered(("version", []))
    if version["ok"]["engine"] != _core.fingerprints(ROOT)[0]:
        return "web/engine/built is of other sources: make web-engine"
    return None


@pytest.fixture(scope="module", autouse=True)
def module() -> None:
    """The module, or no test."""
    if found := reason():
        pytest.skip(found)


def plan_words(file: Path) -> list[Any]:
    """The arguments for the call that plans a point file."""
    machine = MACHINES / file.name
    return [machine.read_text(), machine.name, "web", file.read_text(), file.name, [], 1]


def native(point: str) -> dict[str, Any]:
    """A point's records by the native engine, without the memory, which depends on the host."""
    records: dict[str, Any] = {**_core.simulate(point, _core.Cancel())}
    del records["peak_memory_bytes"]
    return json.loads(json.dumps(records))


@pytest.mark.parametrize("file", POINTS, ids=lambda file: file.stem)
def test_points_have_the_records_of_the_native_engine(file: Path) -> None:
    words = plan_words(file)
    planned = _core.plan(*words)
    texts = [text for text, _, _ in planned]
    calls: list[tuple[str, list[Any]]] = [("plan", words)]
    for text in texts:
        calls += [("simulate", [text]), ("wiring", [text])]
    (plan, *found), seen = answered(*calls)
    assert plan["ok"] == [list(point) for point in planned]
    assert seen > 0
    for text, run, wiring in zip(texts, found[::2], found[1::2], strict=True):
        records = run["ok"]
        latencies = records.pop("latencies")
        del records["peak_memory_bytes"]
        assert records == native(text)
        assert wiring["ok"] == json.loads(json.dumps(_core.wiring(text)))
        rows = records["tables"]["rows"]
        messages = zip(rows["job"][1], rows["metric"][1], rows["value"][1], strict=True)
        counted = {job: value for job, metric, value in messages if metric == "messages"}
        if "jobs" in json.loads(text)["workload"]:
            assert {one["job"]: sum(one["count"]) for one in latencies} == counted


def test_the_points_are_of_all_topologies_both_generations_and_with_faults() -> None:
    points = [json.loads(text) for file in POINTS for text, _, _ in _core.plan(*plan_words(file))]
    kinds = {
        point["machine"]["topology"].get("kind", {"value": "fat-tree"})["value"] for point in points
    }
    told = _core.schema("machine")
    assert kinds >= {
        "fat-tree",
        "torus",
        "dragonfly",
        "hyperx",
        "graph",
        "slim-fly",
        "jellyfish",
        "megafly",
    }
    assert all(kind in told for kind in kinds)
    assert {file.stem for file in POINTS} == {file.stem for file in MACHINES.glob("*.toml")}
    assert sum("faults" in point for point in points) >= 2
    assert len(points) >= 20


def test_the_machines_are_those_that_are_shipped() -> None:
    (found,), _ = answered(("machines", []))
    assert {one["name"]: one["text"] for one in found["ok"]} == {
        file.stem: file.read_text() for file in MACHINES.glob("*.toml")
    }
    assert all(one["title"] for one in found["ok"])


def test_errors_are_those_of_the_native_engine() -> None:
    machine = (MACHINES / "es40-qsnet.toml").read_text()
    words = [machine, "es40-qsnet.toml", "web", WRONG, "wrong.toml", [], 1]
    with pytest.raises(ConfigError) as wrong:
        _core.plan(*words)
    few = [*plan_words(POINTS[0])[:5], ["run.max_events=1000"], 1]
    point = _core.plan(*few)[0][0]
    with pytest.raises(RunError) as stopped:
        _core.simulate(point, _core.Cancel())
    answers, _ = answered(("plan", words), ("simulate", [point]), ("no-such-call", []))
    assert answers[0]["config"] == list(wrong.value.args)
    memory = re.compile(r"\d+ KB of memory")  # of lists whose addresses are shorter
    (said, code), (text, native_code) = answers[1]["run"], stopped.value.args
    assert (memory.sub("", said), code) == (memory.sub("", text), native_code)
    assert answers[2]["run"][1] == 2


@pytest.fixture(scope="module")
def page(browser: Browser) -> Iterator[Page]:
    """A page that may import the engine."""
    handler = functools.partial(Quiet, directory=str(ENGINE))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        serving = threading.Thread(target=server.serve_forever)
        serving.start()
        page = browser.new_page()
        page.set_default_timeout(PATIENCE * 1000)
        page.goto(f"http://127.0.0.1:{server.server_port}/engine.js")
        yield page
        page.close()
        server.shutdown()
        serving.join()


class Quiet(http.server.SimpleHTTPRequestHandler):
    """A silent server."""

    def log_message(self, *_: object) -> None:
        """Discard the message."""


RUN = """async ([request]) => {
  const { Engine } = await import("/engine.js");
  const engine = new Engine({ workers: 2 });
  const points = await engine.plan(request);
  const shares = [];
  const records = await Promise.all(
    points.map((point) =>
      engine.simulate(point, { onProgress: ({ share }) => shares.push(share) }),
    ),
  );
  const wiring = await engine.wiring(points[0]);
  engine.close();
  return { digests: records.map(({ digest }) => digest), links: wiring.link.length, shares,
    metrics: records[0].tables.rows.metric, latencies: records[0].latencies.length };
}"""

CANCEL = """async ([request]) => {
  const { Engine, EngineError } = await import("/engine.js");
  const engine = new Engine({ workers: 1 });
  const [long] = await engine.plan({ ...request, overrides: ["run.window=10 s"] });
  const [short] = await engine.plan(request);
  const running = new AbortController();
  const waiting = new AbortController();
  const caught = (error) => [error instanceof EngineError, error.code, error.message];
  const stop = { signal: running.signal, onProgress: () => running.abort() };
  const first = engine.simulate(long, stop).catch(caught);
  const second = engine.simulate(long, { signal: waiting.signal }).catch(caught);
  const third = engine.simulate(short);
  waiting.abort();
  const wrong = await engine.plan({ ...request, experiment: "title = 1" })
    .catch(({ code, problems }) => [code, problems.length > 0]);
  const found = { first: await first, second: await second, digest: (await third).digest, wrong };
  const open = engine.simulate(long).catch(caught);
  engine.close();
  return { ...found, closed: await open };
}"""


def request(file: Path) -> dict[str, str]:
    """A page's requests."""
    return {"machine": (MACHINES / file.name).read_text(), "experiment": file.read_text()}


@pytest.mark.skipif(not CHROMIUM, reason="no chromium on the PATH: apt-get install chromium")
def test_a_page_simulates_in_workers(page: Page) -> None:
    file = next(file for file in POINTS if file.stem == "es40-qsnet")
    found = page.evaluate(RUN, [request(file)])
    texts = [text for text, _, _ in _core.plan(*plan_words(file))]
    assert found["digests"] == [_core.simulate(text, _core.Cancel())["digest"] for text in texts]
    assert found["links"] == _core.links(texts[0])
    assert "accepted" in found["metrics"]
    assert found["latencies"] == 1
    assert all(share is None or 0 <= share <= 1 for share in found["shares"])


@pytest.mark.skipif(not CHROMIUM, reason="no chromium on the PATH: apt-get install chromium")
def test_a_page_cancels_runs_and_reads_errors(page: Page) -> None:
    file = next(file for file in POINTS if file.stem == "es40-qsnet")
    found = page.evaluate(CANCEL, [request(file)])
    cancelled = [True, 130, "the run was cancelled"]
    assert found["first"] == cancelled
    assert found["second"] == cancelled
    text = _core.plan(*plan_words(file))[0][0]
    assert found["digest"] == _core.simulate(text, _core.Cancel())["digest"]
    assert found["wrong"] == [2, True]
    assert found["closed"] == [True, 130, "the engine was closed"]
