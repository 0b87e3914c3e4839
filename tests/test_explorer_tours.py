"""The explorer's guided tours against the simulator: a step's right choice is right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

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
    """A configuration at a step's load: results by job, and the hottest link between switches or to
    a node.
    """

    accepted: dict[str, float]
    latency: dict[str, float]
    hottest: tuple[str, str]


def simulated(text: str) -> Result:
    machine = sources.read("machine", "es40-qsnet")
    ((point, _, _),) = _core.plan(
        machine.text, machine.file, "explore", text, "explore.toml", [], 1
    )
    tables = _core.simulate(point, _core.Cancel())["tables"]
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
    _, start, end = max(
        (int(waits or 0), str(start), str(end))
        for waits, start, end in links
        if "switch" in str(start)
    )
    return Result(mean["accepted"], mean["latency_mean"], (start, end))


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


# The present configuration is 0, those beside it are 1 and 2; steps are counted from 1, as on the
# page.
STATED = {
    ("circuits", 3): more(0, 1, 1.1, 1.17),
    ("circuits", 4): more(0, 1, 0.97, 1.03),
    ("circuits", 5): more(1, 0, 1.05),
    ("tree", 2): more(0, 1, 0.6, 0.75),
    ("tree", 3): climbs,
    ("tree", 4): later(0, 1, 7, 15, job="a"),
    ("tree", 5): later(1, 0, 7, job="a"),
    ("routing", 1): more(0, 1, 0.9, 1),
    ("routing", 2): lambda found: climbs(found) and more(1, 0, 1.7, 2)(found),
    ("routing", 3): lambda found: more(1, 0, 1.01)(found) and more(0, 2, 1.01)(found),
    ("routing", 4): more(0, 1, 1.2),
    ("routing", 5): more(0, 1, 0.4, 0.6),
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


@pytest.mark.parametrize(("name", "step"), STATED)
def test_what_a_tour_states(page: Page, name: str, step: int) -> None:
    texts = page.evaluate("([name, step]) => window.explorer.tour(name, step - 1)", [name, step])
    found = [simulated(text) for text in texts]
    assert STATED[name, step](found), found
