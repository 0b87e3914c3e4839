"""The explorer's guided tours against the simulator: a step's right choice is right."""

from __future__ import annotations

import re
from dataclasses import dataclass
from statistics import fmean, median
from typing import TYPE_CHECKING, Any

import pytest

from elanite import _core
from elanite.inputs import sources
from test_explorer import address, needs_browser, opened
from test_report_browser import browser

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Browser, Page

__all__ = ["address", "browser"]

pytestmark = needs_browser


@dataclass(frozen=True)
class Result:
    """A configuration at a step's load: results by job, the hottest link between switches or to a
    node, and the mean wait for the links from a level of switches to another one, or to nodes.
    """

    accepted: dict[str, float]
    latency: dict[str, float]
    hottest: tuple[str, str]
    waits: dict[tuple[str, str], float]


def tables_of(text: str, *overrides: str) -> dict[str, Any]:
    machine = sources.read("machine", "es40-qsnet")
    ((point, _, _),) = _core.plan(
        machine.text, machine.file, "explore", text, "explore.toml", list(overrides), 1
    )
    return _core.simulate(point, _core.Cancel())["tables"]


def simulated(text: str) -> Result:
    tables = tables_of(text)
    found: dict[str, dict[str, list[float]]] = {"accepted": {}, "latency_mean": {}}
    columns = (tables["rows"][name][1] for name in ("job", "metric", "value"))
    for job, metric, value in zip(*columns, strict=True):
        if metric in found:
            found[str(metric)].setdefault(str(job), []).append(float(value or 0))
    mean = {
        metric: {job: sum(values) / len(values) for job, values in jobs.items()}
        for metric, jobs in found.items()
    }
    links = zip(*(tables["links"][name][1] for name in ("waiting_ps", "from", "to")), strict=True)
    behind = [
        (int(waits or 0), str(start), str(end))
        for waits, start, end in links
        if "switch" in str(start)
    ]
    _, start, end = max(behind)
    levels: dict[tuple[str, str], list[int]] = {}
    for waits, one, other in behind:
        levels.setdefault((level(one), level(other)), []).append(waits)
    waits_of = {between: fmean(waits) for between, waits in levels.items()}
    return Result(mean["accepted"], mean["latency_mean"], (start, end), waits_of)


def level(end: str) -> str:
    """The level of a switch, or "node"."""
    return end.split(".")[0].split(" ")[-1] if "switch" in end else "node"


ALL = "traffic"


def more(
    one: int, other: int, least: float, most: float = 9.9, job: str = ALL
) -> Callable[[list[Result]], bool]:
    """Whether a configuration accepts so many times as much as another one."""
    return lambda found: least <= found[one].accepted[job] / found[other].accepted[job] <= most


def later(
    one: int, other: int, least: float, most: float = 99, job: str = ALL
) -> Callable[[list[Result]], bool]:
    """Whether a configuration's latency is this many times that of another one."""
    return lambda found: least <= found[one].latency[job] / found[other].latency[job] <= most


def climbs(found: list[Result]) -> bool:
    """Whether the hottest link leads up from a leaf."""
    start, end = found[0].hottest
    return start.startswith("switch 1.") and end.startswith("switch 2.")


def near(*loads: float, job: str = ALL) -> Callable[[list[Result]], bool]:
    """Whether the configurations accept these loads, in MB/s."""
    return lambda found: all(
        one.accepted[job] == pytest.approx(load, rel=0.02)
        for one, load in zip(found, loads, strict=False)
    )


def both(*stated: Callable[[list[Result]], bool]) -> Callable[[list[Result]], bool]:
    """Whether several statements hold."""
    return lambda found: all(one(found) for one in stated)


def waits_below(found: list[Result]) -> bool:
    """Whether links up from the leaves of the first tree have over 100 times the waits of the
    second one's, and its links to nodes less.
    """
    up, to_nodes = ("1", "2"), ("1", "node")
    return (
        found[0].waits[up] > 100 * found[1].waits[up]
        and found[0].waits[to_nodes] < found[1].waits[to_nodes]
    )


# The present configuration is 0, those beside it are 1 and 2; steps are counted from 1, as on the
# page.
STATED = {
    ("circuits", 3): both(more(0, 1, 1.1, 1.17), near(138, 124)),
    ("circuits", 4): more(0, 1, 0.97, 1.03),
    ("circuits", 5): both(more(1, 0, 1.05), near(247, 275)),
    ("tree", 2): both(more(0, 1, 0.6, 0.75), near(82)),
    ("tree", 3): both(climbs, waits_below),
    ("tree", 4): later(0, 1, 10, 16, job="a"),
    ("tree", 5): later(1, 0, 10, job="a"),
    ("routing", 1): more(0, 1, 0.9, 1),
    ("routing", 2): lambda found: climbs(found) and more(1, 0, 1.7, 2)(found),
    ("routing", 3): lambda found: more(1, 0, 1.01)(found) and more(0, 2, 1.01)(found),
    ("routing", 4): more(0, 1, 1.2),
    ("routing", 5): both(more(0, 1, 0.4, 0.6), near(125, 277)),
    ("placement", 1): climbs,
    ("placement", 2): lambda found: all(more(0, 1, 1.15, 1.25, job)(found) for job in "ab"),
    ("placement", 3): lambda found: all(more(1, 0, 1.1, job=job)(found) for job in "ab"),
    ("placement", 4): lambda found: (
        later(0, 1, 5, job="a")(found) and later(0, 1, 0.8, 1.25, job="b")(found)
    ),
    ("placement", 5): lambda found: all(more(1, 0, 1.05, job=job)(found) for job in "ab"),
    ("rail", 2): lambda found: later(0, 1, 0.4, 0.6)(found) and more(0, 1, 0.98, 1.02)(found),
    ("rail", 3): lambda found: more(0, 1, 0.98, 1.02)(found) and later(0, 1, 1.5)(found),
    ("rail", 4): lambda found: more(0, 2, 0.97, 1.03)(found) and more(1, 0, 1.7)(found),
    ("rail", 5): more(0, 1, 0.84, 0.91),
}


@pytest.fixture(scope="module")
def page(browser: Browser, address: str) -> Page:
    return opened(browser, address, "m=es40-qsnet&n=16")[0]


def texts(page: Page, name: str, step: int) -> list[str]:
    """The experiment files of a step, the present configuration's first."""
    found: list[str] = page.evaluate(
        "([name, step]) => window.explorer.tour(name, step - 1)", [name, step]
    )
    return found


@pytest.mark.parametrize(("name", "step"), STATED)
def test_what_a_tour_states(page: Page, name: str, step: int) -> None:
    found = [simulated(text) for text in texts(page, name, step)]
    assert STATED[name, step](found), found


@pytest.mark.parametrize(("name", "step"), [("tree", 1), ("rail", 1)])
def test_the_full_tree_saturates_at_120_mb_a_second(page: Page, name: str, step: int) -> None:
    (text,) = texts(page, name, step)
    loads = [
        simulated(re.sub(r'load = "[^"]+"', f'load = "{load} MB/s"', text)).accepted[ALL]
        for load in (100, 160)
    ]
    assert loads[0] == pytest.approx(100, rel=0.02)
    assert loads[1] == pytest.approx(120, rel=0.04)


def test_a_channel_is_free_when_the_acknowledgement_has_returned(page: Page) -> None:
    (text,) = texts(page, "circuits", 1)
    watch = ("run.watch=4 us", "run.window=4 us", "run.batches=1", "fabric.engine=flit")
    circuits = {name: column for name, (_, column) in tables_of(text, *watch)["circuits"].items()}
    holds = [
        (closed - tail, tail - head, acknowledged <= closed)
        for closed, tail, head, acknowledged in zip(
            *(circuits[name] for name in ("closed_ps", "tail_ps", "head_ps", "acknowledged_ps")),
            strict=True,
        )
        if None not in (closed, tail, head, acknowledged)
    ]
    assert len(holds) > 50
    after, flits, answered = zip(*holds, strict=True)
    assert min(after) == pytest.approx(475_000, rel=0.05)
    assert median(after) == pytest.approx(900_000, rel=0.05)
    assert median(flits) == pytest.approx(median(after), rel=0.05)
    assert all(answered)
