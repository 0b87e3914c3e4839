"""The explorer: the command that serves it, and the page in a browser with the page's simulator.

``make web`` builds the page, which needs Node.js and Rust's WebAssembly target; without it the page
tests are skipped.
"""

from __future__ import annotations

import http.client
import json
import threading
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest

import axe
import elanite
from conftest import command, execute
from elanite import _core
from elanite.errors import UsageError
from elanite.inputs import sources
from elanite.report import explorer
from test_report_browser import CHROMIUM, browser

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

    from conftest import Run

__all__ = ["browser"]

ROOT = Path(elanite.__file__).parents[2]
WEB = ROOT / "web"
BUILT = (Path(elanite.__file__).parent / explorer.FOLDER / "index.html").is_file()

needs_page = pytest.mark.skipif(not BUILT, reason="the page of the explorer is not built: make web")
needs_browser = pytest.mark.skipif(not (BUILT and CHROMIUM), reason="needs `make web` and chromium")
needs_sources = pytest.mark.skipif(not (WEB / "src").is_dir(), reason="not a checkout")


def test_a_missing_page_names_the_command_that_builds_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explorer, "FOLDER", "nowhere")
    with pytest.raises(UsageError, match="`make web` builds it"):
        explorer.built()


def test_a_port_that_is_taken() -> None:
    says = r"--port \d+: .*; leave it out for a port that is free"
    with explorer.Server({"index.html": b"one"}, 0) as first, pytest.raises(UsageError, match=says):
        explorer.Server({}, first.server_port)


def test_the_server_delivers_its_files_and_no_others() -> None:
    page = {"index.html": b"<p>", "assets/module.wasm": b"\0asm"}
    with explorer.Server(page, 0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        here = http.client.HTTPConnection(explorer.HOST, server.server_port)

        def got(name: str) -> tuple[int, str | None, bytes]:
            here.request("GET", name)
            answer = here.getresponse()
            return answer.status, answer.headers["Content-Type"], answer.read()

        assert got("/") == got("/index.html") == (200, "text/html; charset=utf-8", b"<p>")
        assert got("/assets/module.wasm") == (200, "application/wasm", b"\0asm")
        for name in (
            "/../pyproject.toml",
            "/assets/",
            "/etc/passwd",
            "/%2e%2e/elanite/__init__.py",
        ):
            assert got(name)[0] == 404
        here.close()
        server.shutdown()


@needs_page
def test_the_page_is_written_into_a_folder(elanite: Run, tmp_path: Path) -> None:
    ended = elanite("explore", "--into", str(tmp_path / "page"))
    assert ended.code == 0, ended
    assert {
        path: (tmp_path / "page" / path).read_bytes() for path in explorer.built()
    } == explorer.built()
    ended = elanite("explore", "--into", str(tmp_path / "page"), "--port", "0")
    assert (ended.code, "--port is not for --into" in ended.err) == (2, True)


@needs_sources
def test_the_values_of_machines_are_those_of_their_files() -> None:
    """The page derives loads, windows and channels from some machine file values."""
    for one in json.loads((WEB / "src" / "machines.json").read_text(encoding="utf-8")):
        source = sources.read("machine", one["name"])
        found = json.loads(_core.load_machine(source.text, source.file, []))
        values = {each["key"]: each["value"] for each in found["parameters"]}

        def number(key: str, values: dict[str, Any] = values) -> float:
            text = str(values[key]).replace(" flits", "")
            read = _core.quantity(text)
            return read[0] if read else float(text)

        assert number("link.rate") == one["rate"]  # in MB/s
        assert number("packet.payload") == one["payload"]
        assert number("packet.transaction") == one["transaction"]
        assert number("packet.header") == one["header"]
        assert number("packet.transaction_overhead") == one["overhead"]
        assert number("link.flit") == one["flit"]
        assert number("link.buffer") == one["buffer"]
        assert values["switch.circuit"] == one["flow"]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The page's address, served as by ``elanite explore``."""
    with explorer.Server(explorer.built(), 0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.address
        server.shutdown()


PATIENCE = 120_000
"""Milliseconds after which the page hangs, also on a host that runs much else."""


def opened(
    browser: Browser, address: str, state: str = "", width: int = 1400
) -> tuple[Page, list[str]]:
    """The page with a state, and its console messages."""
    context = browser.new_context(viewport={"width": width, "height": 900}, offline=False)
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    # All files come from the command's server: the page works without a network.
    page.route(lambda url: not url.startswith(address), lambda route: route.abort())
    page.goto(f"{address}#{state}")
    page.wait_for_selector(".finding")
    return page, said


def digest(page: Page) -> str:
    """The digest at the chosen load, once it is simulated."""
    page.wait_for_function("document.querySelector('#digest').textContent.length === 32")
    return page.inner_text("#digest")


STATES = [
    "m=es40-qsnet&n=16&l=50",
    "m=infiniband-ndr&t=dragonfly&r=minimal&n=16&l=30",
    "m=es40-qsnet&n=16&c=wormhole&j=two-jobs&w=alternate&b=hot-spot&k=2&f=rail&l=20",
]


@needs_browser
@pytest.mark.parametrize("state", STATES)
def test_the_copied_experiment_has_the_digest_of_the_page(
    browser: Browser, address: str, tmp_path: Path, state: str
) -> None:
    page, said = opened(browser, address, state)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    shown = digest(page)
    load = int(page.input_value("#load"))
    page.click("text=Copy as experiment file")
    page.wait_for_selector("text=Experiment file copied.")
    text = page.evaluate("navigator.clipboard.readText()")
    (tmp_path / "explore.toml").write_text(text, encoding="utf-8")
    page.click("text=Copy as command")
    page.wait_for_selector("text=Command copied.")
    line = page.evaluate("navigator.clipboard.readText()")
    assert said == []
    page.context.close()
    ended = execute(
        command("run", "explore.toml", "--format", "json", "--out", "out"), cwd=tmp_path
    )
    assert ended.code == 0, ended
    points = json.loads(ended.out)
    assert len(points) == 20
    assert points[load // 5 - 1]["digest"] == shown
    # The command is the same file as a shell's standard input.
    assert line == f"elanite run - --format json <<'EXPERIMENT'\n{text}EXPERIMENT\n"


@needs_browser
def test_an_address_holds_the_whole_state(browser: Browser, address: str) -> None:
    """Choices lead to an address, and the address to the same choices."""
    page, _ = opened(browser, address, "m=es40-qsnet&n=16&l=20")
    digest(page)
    page.click("text=Keep this for comparison")
    page.get_by_label("pattern", exact=True).select_option("two-jobs")
    page.get_by_label("circuits", exact=True).select_option("wormhole")
    page.get_by_label("placement", exact=True).select_option("alternate")
    page.focus("[data-node='0']")
    for key in (" ", "ArrowRight", " "):
        page.keyboard.press(key)
    page.focus("#load")
    page.keyboard.press("ArrowRight")
    state = page.evaluate("location.hash")
    assert "w=1b2a1b1a1b1a1b1a1b1a1b1a1b1a1b" in state
    kept = quote("m=es40-qsnet&n=16&l=20", safe="")
    assert f"keep={kept}" in state
    other, said = opened(browser, address, state.removeprefix("#"))
    assert other.evaluate("location.hash") == state
    for each in ("pattern", "circuits"):
        assert (
            other.get_by_label(each, exact=True).input_value()
            == page.get_by_label(each, exact=True).input_value()
        )
    assert other.input_value("#load") == "25"
    assert other.locator(".chip").count() == 1
    assert said == []
    odd, _ = opened(browser, address, "m=es40-qsnet&n=17&t=moebius")
    assert "they were left out: t=moebius, n=17" in odd.inner_text(".note")
    for each in (page, other, odd):
        each.context.close()


@needs_browser
@pytest.mark.parametrize(
    "state", ["m=es40-qsnet&n=16", "m=es40-qsnet&n=16&j=two-jobs&tour=placement.1&w=random"]
)
def test_the_page_fits_a_phone_and_has_no_violation_of_axe(
    browser: Browser, address: str, state: str
) -> None:
    page, said = opened(browser, address, state, 390)
    digest(page)
    page.wait_for_selector("progress.done", state="attached")
    page.click(".choices > summary")
    for details in page.locator("#results summary").all():
        details.click()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert said == []
    if not axe.INSTALLED:
        pytest.skip("axe-core is not installed: npm ci in web/")
    assert axe.violations(page) == []
    page.context.close()


PARTS_OUTSIDE = """() => [...document.querySelectorAll("#results section *")].filter((part) => {
    const edge = part.closest("section").getBoundingClientRect().right;
    return part.getBoundingClientRect().right > edge + 1 && !part.closest(".scrolled, svg");
}).map((part) => part.outerHTML.slice(0, 80))"""


@needs_browser
@pytest.mark.parametrize("width", [800, 1160, 1200, 1400])
def test_no_part_of_a_card_leaves_it(browser: Browser, address: str, width: int) -> None:
    page, _ = opened(browser, address, "m=es40-qsnet&n=16&j=two-jobs&o=4&w=alternating", width)
    page.wait_for_selector(".hottest tbody tr")
    assert page.locator("#results section").count() > 3
    assert page.evaluate(PARTS_OUTSIDE) == []
    page.context.close()


ROUTINGS = {
    "fat-tree": ("adaptive", "destination-modulo", "flow-hash", "deterministic"),
    "torus": ("dimension-order",),
    "dragonfly": ("ugal-local", "minimal", "valiant"),
    "hyperx": ("ugal-local", "minimal", "valiant"),
    "slim-fly": ("minimal", "ugal-local", "valiant", "up-down"),
    "jellyfish": ("minimal", "ugal-local", "valiant", "up-down"),
}
CIRCUITS = ("until-acknowledged", "until-delivered", "wormhole", "cut-through")
FAULTS = (
    "o=2",
    "o=4",
    "k=2&f=rail",
    "f=switch",
    "j=hot-spot",
    "j=two-jobs&w=random&a=tornado",
    "s=64",
    "s=65536",
)


@needs_browser
def test_every_choice_is_an_experiment_that_the_simulator_plans(
    browser: Browser, address: str
) -> None:
    page, _ = opened(browser, address, "m=es40-qsnet&n=16")
    values = "all => all.map((option) => option.value)"
    machines = (
        page.get_by_label("machine: links and adapters").locator("option").evaluate_all(values)
    )
    assert page.get_by_label("topology", exact=True).locator("option").evaluate_all(values) == list(
        ROUTINGS
    )
    states = [
        f"m={machine}&t={topology}&r={routing}&n={nodes}"
        for machine, topology, nodes in product(machines, ROUTINGS, (16, 64, 256))
        for routing in ROUTINGS[topology]
    ]
    payloads = (64, 128, 256, 320, 512, 640, 1024, 2048, 4096)
    states += [
        f"m={one}&c={circuit}&p={bytes_}"
        for one, circuit, bytes_ in product(machines, CIRCUITS, payloads)
    ]
    states += [f"m={one}&t=fat-tree&r=adaptive&{fault}" for one, fault in product(machines, FAULTS)]
    texts = page.evaluate(
        "states => states.map((state) => window.explorer.experiment(state))", states
    )
    page.context.close()
    assert len(set(texts)) > 250
    for state, text in dict(zip(states, texts, strict=True)).items():
        machine = sources.read("machine", state.partition("&")[0].removeprefix("m="))
        points = _core.plan(machine.text, machine.file, "explore", text, "explore.toml", [], 1)
        assert len(points) == 20, state


@needs_browser
@pytest.mark.parametrize("name", ["es40-qsnet", "slingshot-dragonfly", "smart-multirail"])
def test_a_machine_file_is_opened_and_gives_the_same_digest_outside(
    browser: Browser, address: str, tmp_path: Path, name: str
) -> None:
    own = tmp_path / "mine.toml"
    text = sources.read("machine", name).text
    own.write_text(text.replace('"128 flits"', '"256 flits"'), encoding="utf-8")
    assert own.read_text(encoding="utf-8") != text
    wrong = tmp_path / "wrong.toml"
    wrong.write_text(text.replace("[link]", "[lunk]"), encoding="utf-8")
    page, said = opened(browser, address, "m=es40-qsnet&n=16")
    box = page.get_by_label("or open a machine file")
    box.set_input_files(wrong)
    page.wait_for_selector(".choices .error")
    assert "wrong.toml" in page.inner_text(".choices .error")
    box.set_input_files(own)
    page.wait_for_selector(".choices .error", state="detached")
    assert page.get_by_label("machine: links and adapters").input_value() == "mine.toml"
    assert "m=mine.toml" in page.evaluate("location.hash")
    page.wait_for_function("document.querySelector('#digest').textContent.length === 32")
    page.wait_for_selector("progress.done", state="attached")
    shown = digest(page)
    if name == "smart-multirail":  # the file's four rails, side by side
        assert page.get_by_label("rails: networks side by side").input_value() == "4"
        page.wait_for_selector(".network > h3 >> text=rail 3")
        assert page.locator(".network > h3").count() == 4
    load = int(page.input_value("#load"))
    page.click("text=The experiment file")
    (tmp_path / "explore.toml").write_text(page.inner_text(".share pre"), encoding="utf-8")
    assert said == []
    page.context.close()
    ended = execute(
        command("run", "explore.toml", "--format", "json", "--out", "out"), cwd=tmp_path
    )
    assert ended.code == 0, ended
    assert json.loads(ended.out)[load // 5 - 1]["digest"] == shown


@needs_browser
@pytest.mark.parametrize(
    ("state", "links", "rows"),
    [
        (
            "m=es40-qsnet&n=16&l=80",
            48,
            ["level 2", "level 1"],
        ),  # 4 leaves with 8 links, and 4 switches with 4
        (
            "m=infiniband-ndr&t=dragonfly&r=minimal&n=16&l=30",
            None,
            [f"group {group}" for group in range(5)],
        ),
    ],
)
def test_the_matrix_has_a_cell_for_each_link_of_a_switch(
    browser: Browser, address: str, state: str, links: int | None, rows: list[str]
) -> None:
    page, said = opened(browser, address, state)
    digest(page)
    matrix = page.locator(".matrix svg")
    cells = sum(
        way.count("M")
        for way in matrix.locator("path").evaluate_all(
            "all => all.map((way) => way.getAttribute('d'))"
        )
    )
    assert matrix.get_attribute("aria-label").startswith(f"Congestion matrix: {cells} links")  # type: ignore[union-attr]
    assert links is None or cells == links
    assert matrix.locator("text").all_text_contents() == rows
    page.click("text=Waits by switch")
    waits = page.locator(".matrix tbody td:nth-child(2)").all_inner_texts()
    assert waits == sorted(waits, key=lambda text: -float(text.replace(",", "")))
    assert said == []
    page.context.close()


@needs_browser
def test_nodes_are_dragged_and_packets_are_followed(browser: Browser, address: str) -> None:
    page, said = opened(browser, address, "m=es40-qsnet&n=16&j=two-jobs&l=40")
    page.wait_for_selector(".states")
    page.drag_and_drop("[data-node='0']", "[data-node='15']")
    assert "w=1b7a7b1a" in page.evaluate("location.hash")
    page.wait_for_selector(".states", state="detached")
    page.wait_for_selector(".states")
    clock = page.inner_text(".clock")
    page.get_by_label("Next change").click()
    assert page.inner_text(".clock") >= clock
    page.get_by_text("Follow this packet").click()
    assert "waits" in page.locator(".packet tbody td:nth-child(2)").all_inner_texts()
    assert said == []
    page.context.close()
