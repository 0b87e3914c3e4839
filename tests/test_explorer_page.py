"""The explorer's page as a whole: its size, its address, progress, printing, keyboard, and the
tours from their first to their last step.
"""

from __future__ import annotations

import gzip
import json
import re
from typing import TYPE_CHECKING

import pytest

from conftest import command, execute
from elanite import _core
from elanite.inputs import sources
from elanite.report import explorer
from test_explorer import address, digest, needs_browser, needs_page, opened
from test_report_browser import browser
from test_web import native

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser, Page

__all__ = ["address", "browser"]

LARGEST = 2_500_000
"""Bytes of the compressed module."""

SMALL = "m=es40-qsnet&n=16&l=20"


@needs_page
def test_the_module_is_small() -> None:
    (module,) = (text for name, text in explorer.built().items() if name.endswith(".wasm"))
    assert len(module) > 1_000_000
    assert len(gzip.compress(module)) <= LARGEST


def choices(page: Page) -> dict[str, str]:
    """The values of all choices, by their labels."""
    read = """all => all.map((one) => [one.labels[0].textContent, one.value])"""
    return dict(page.locator(".choices select, #load").evaluate_all(read))


@needs_browser
def test_every_choice_survives_in_the_address(browser: Browser, address: str) -> None:
    """Each choice of the page takes its last value, where the others allow one."""
    for first in (SMALL, "m=es40-qsnet&n=16&k=2&j=two-jobs", "m=infiniband-ndr&t=torus&n=16"):
        page, said = opened(browser, address, first)
        before = choices(page)
        for label in before:
            box = page.get_by_label(label, exact=True)
            if label.startswith(("nodes", "measured", "topology", "pattern", "machine")):
                continue  # the others depend on them, and some would take long
            if box.get_attribute("type") == "range":
                box.press("ArrowRight")
            elif box.is_enabled():
                last = box.locator("option").last.get_attribute("value")
                box.select_option(last)
        found = choices(page)
        load = f"l={page.input_value('#load')}"  # the last change
        page.wait_for_function("load => location.hash.split(/[#&]/).includes(load)", arg=load)
        state = page.evaluate("location.hash").removeprefix("#")
        changed = [label for label in before if before[label] != found[label]]
        assert len(changed) >= 4, (before, found)
        other, also = opened(browser, address, state)
        assert choices(other) == found
        assert other.evaluate("location.hash") == f"#{state}"
        assert said == also == []
        page.context.close()
        other.context.close()


@needs_browser
def test_the_copied_command_has_the_digest_of_the_page(
    browser: Browser, address: str, tmp_path: Path
) -> None:
    page, _ = opened(browser, address, "m=infiniband-ndr&t=hyperx&n=16&l=25")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    shown = digest(page)
    page.click("text=Copy as command")
    page.wait_for_selector("text=Command copied.")
    line = page.evaluate("navigator.clipboard.readText()")
    page.context.close()
    program, *words = command("run")
    assert line.startswith("elanite run - ")
    script = line.replace("elanite run -", 'exec "$@" - --out out', 1)
    ended = execute(["sh", "-c", script, "sh", program, *words], cwd=tmp_path)
    assert ended.code == 0, ended
    assert json.loads(ended.out)[25 // 5 - 1]["digest"] == shown


@needs_browser
def test_a_run_shows_its_progress_and_is_stopped(browser: Browser, address: str) -> None:
    page, said = opened(browser, address, "m=es40-qsnet&n=16&l=100&x=4")
    bar = page.locator("progress")
    page.wait_for_function("document.querySelector('progress').value > 0")
    # Without the checks of a pointer, which wait for frames that a busy host draws rarely.
    page.get_by_role("button", name="Stop", exact=True).dispatch_event("click")
    resume = page.get_by_role("button", name="Continue", exact=True)
    resume.wait_for()
    share = float(bar.evaluate("one => one.value"))
    assert 0 < share < 1
    page.wait_for_timeout(1000)
    assert float(bar.evaluate("one => one.value")) == share
    resume.dispatch_event("click")
    page.get_by_role("button", name="Stop", exact=True).wait_for()
    # Another experiment takes the place of the one that is being simulated.
    page.get_by_label("measured time", exact=True).select_option("1")
    shown = digest(page)
    text = page.evaluate("window.explorer.experiment('m=es40-qsnet&n=16&l=100')")
    machine = sources.read("machine", "es40-qsnet")
    planned = _core.plan(machine.text, machine.file, "explore", text, "explore.toml", [], 1)
    assert native(planned[-1][0])["digest"] == shown
    assert said == []
    page.context.close()


@needs_browser
def test_the_page_prints_its_results(browser: Browser, address: str) -> None:
    page, _ = opened(browser, address, f"{SMALL}&tour=circuits.1")
    digest(page)
    page.emulate_media(media="print", color_scheme="dark")
    said = page.inner_text("main")
    assert "es40-qsnet: fat tree of 16 nodes, uniform traffic" in said
    assert f"#{SMALL}" in said
    for shown in (".finding", ".chart svg", ".network canvas", ".said"):
        assert page.locator(shown).first.is_visible(), shown
    for hidden in (".choices", ".load", ".guide", ".share", ".row button", "select"):
        assert not any(one.is_visible() for one in page.locator(hidden).all()), hidden
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert paper == "rgb(255, 255, 255)"
    printed = page.pdf(format="A4")
    assert 1 <= len(re.findall(rb"/Type\s*/Page\b", printed)) <= 4
    page.context.close()


def focused(page: Page) -> str:
    """The element with the focus: its label or text."""
    return str(
        page.evaluate(
            """() => { const one = document.activeElement;
            return one.labels?.[0]?.textContent ?? one.getAttribute("aria-label")
              ?? one.textContent.slice(0, 60); }"""
        )
    )


@needs_browser
def test_the_page_is_used_by_keyboard_alone(browser: Browser, address: str) -> None:
    page, said = opened(browser, address, SMALL)
    digest(page)
    page.wait_for_selector("progress.done", state="attached")
    seen: list[str] = []

    def to(label: str) -> None:
        for _ in range(80):
            page.keyboard.press("Tab")
            seen.append(focused(page))
            if seen[-1].startswith(label):
                return
        raise AssertionError((label, seen))

    to("Skip to the results")
    to("circuits")
    page.keyboard.press("w")  # by its first letter is none: "off: wormhole"
    page.keyboard.press("End")
    assert page.get_by_label("circuits", exact=True).input_value() == "cut-through"
    to("What does a held circuit do?")
    page.keyboard.press("Enter")
    page.wait_for_selector(".guide")
    page.locator(".guide input").first.focus()
    page.keyboard.press("ArrowDown")
    page.wait_for_selector(".answer >> text=Yes.")
    to("Leave the tour")
    page.keyboard.press("Enter")
    page.wait_for_selector(".tours")
    to("offered load of each node")
    before = int(page.input_value("#load"))
    page.keyboard.press("ArrowRight")
    assert int(page.input_value("#load")) == before + 5
    digest(page)
    to("Keep this for comparison")
    page.keyboard.press("Enter")
    page.wait_for_selector(".chip")
    page.wait_for_selector(".beside >> text=Against the same: all nodes carry as much at most")
    to("Values")
    page.keyboard.press("Enter")
    page.wait_for_selector("details.data[open]")
    to("Play")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Pause").wait_for()
    page.keyboard.press("Enter")
    to("Copy the address of this page")
    # Nothing holds the focus: behind the last element it leaves the page.
    to("The experiment file")
    outlines = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outlines != "none"
    assert said == []
    page.context.close()


TITLES = {
    "circuits": "What does a held circuit do?",
    "tree": "How does a tree saturate?",
    "routing": "Adaptive or static routes?",
    "placement": "Why does placement matter?",
    "rail": "What happens when a rail fails?",
}


@needs_browser
@pytest.mark.parametrize("name", TITLES)
def test_a_tour_runs_to_its_end(browser: Browser, address: str, name: str) -> None:
    page, said = opened(browser, address, SMALL)
    page.click(f"text={TITLES[name]}")
    texts: set[str] = set()
    for step in range(1, 6):
        page.wait_for_selector(f"text=step {step} of 5")
        assert f"tour={name}.{step}" in page.evaluate("location.hash")
        digest(page)
        assert page.locator(".error").count() == 0
        texts.add(page.inner_text(".guide > p"))
        verdicts = []
        for box in page.locator(".question input").all():
            box.check()
            verdicts.append(page.inner_text(".answer b"))
            assert len(page.inner_text(".answer")) > 40
        assert sorted(verdicts) == ["Not quite.", "Not quite.", "Yes."]
        if step < 5:
            page.click("text=Next step")
    assert len(texts) == 5
    page.click("text=End of the tour")
    page.wait_for_selector(".tours")
    assert "tour=" not in page.evaluate("location.hash")
    assert said == []
    page.context.close()
