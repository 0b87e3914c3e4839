"""Every heading in a report has content below it, whichever claims are judged."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import TYPE_CHECKING

import pytest

from elanite.report import layout
from elanite.report.pages import frame
from elanite.validation.claims import claims
from elanite.validation.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from elanite.validation.claim import Claim

HEADINGS = ("h2", "h3", "h4")
UNREAD = ("script", "style", "title")


class Outline(HTMLParser):
    """Collects the headings without text or a lower-level heading after them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.empty: list[str] = []
        self._open: list[str] = []
        self._last = ""
        self._level = ""
        self.feed(page)
        self._next("")

    def _next(self, level: str) -> None:
        if self._level and level <= self._level:
            self.empty.append(self._last.strip())
        self._level, self._last = level, ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._open.append(tag)
        if tag in HEADINGS:
            self._next(tag)

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if any(tag in HEADINGS for tag in self._open):
            self._last += data
        elif data.strip() and not any(tag in UNREAD for tag in self._open):
            self._level = ""


def judged(chosen: Callable[[Claim], bool]) -> list[Verdict]:
    """Verdicts on all claims; the chosen ones have a result."""
    return [
        Verdict(claim, simulated="kept", holds=True)
        if claim.kind not in ("value", "range") and chosen(claim)
        else Verdict(claim, simulated=1.0, error=0.1, holds=True, widest=0.01)
        if chosen(claim)
        else Verdict(claim, note="not yet simulated")
        for claim in claims()
    ]


def number(claim: Claim) -> bool:
    """Whether the claim states a figure, which is a bar on the cover and no tile."""
    return claim.kind in ("value", "range") and claim.role in ("predicted", "fitted")


CASES: dict[str, Sequence[Verdict]] = {
    "no claim": judged(lambda _: False),
    "figures alone": judged(number),
    "statements alone": judged(
        lambda claim: claim.kind not in ("value", "range") and claim.role == "predicted"
    ),
    "all claims": judged(lambda _: True),
}


@pytest.mark.parametrize("verdicts", CASES.values(), ids=CASES)
def test_every_heading_has_content(verdicts: Sequence[Verdict]) -> None:
    assert Outline(layout.render([], verdicts)).empty == []


def test_an_empty_heading_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The findings heading was once there without findings."""
    condition = '{% if statements | selectattr("tiles") | list %}'
    template = frame.template
    original = template("cover.html.j2")
    assert original.count(condition) == 1
    mistaken = original.replace(condition, "{% if true %}")
    monkeypatch.setattr(
        frame, "template", lambda name: mistaken if name == "cover.html.j2" else template(name)
    )
    (empty,) = Outline(layout.render([], CASES["figures alone"])).empty
    assert empty.startswith("Findings")
