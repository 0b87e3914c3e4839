"""Texts for people: numbers, intervals, errors, verdicts; and the scoreboard as Markdown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from elanite import _core
from elanite.base.build import DIGITS, UNKNOWN
from elanite.validation import tally

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from elanite.base.build import Build
    from elanite.validation.claims import Claim, Verdict

SIGN = {
    "holds": "✓",
    "holds again": "✓",
    "missed": "✗",
    "known miss": "✗",
    "not resolved": "?",
    "source too vague": "~",
    "inconsistent": "≠",
    "not run": "·",
    "not yet simulated": "·",
}
"""One character per state of a verdict."""

WIDE = 0.02
"""A wider 95% confidence interval, as a fraction of the mean, is counted as wide."""


def number(value: float, more: int = 0) -> str:
    """A figure with four significant digits at most, and ``more`` if asked for; never in scientific notation."""
    if value == 0:
        return "0"
    text = f"{value:,.{_digits(value) + more}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def distinct(one: float, other: float) -> tuple[str, str]:
    """Two figures, with as many digits as tell them apart if they differ."""
    more = digits_apart(one, other)
    return number(one, more), number(other, more)


def digits_apart(one: float, other: float) -> int:
    """The digits more than usual that tell two figures apart; none if they are equal."""
    if one == other:
        return 0
    return next((more for more in range(12) if number(one, more) != number(other, more)), 12)


def with_half(mean: float, half: float) -> str:
    """A mean and half the width of its interval, if this half is not zero as written."""
    return number(mean) if number(half) == "0" else f"{number(mean)} ± {number(half)}"


def duration(seconds: float) -> str:
    """A time in words, for estimates."""
    if seconds < 1:
        return "less than 1 s"
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def counted(count: int, one: str, several: str = "") -> str:
    """A count with its noun: ``1 point``, ``2 points``, ``3 series``."""
    return f"{count:,} {one if count == 1 else several or one + 's'}"


def are(count: int) -> str:
    """The verb after a count: ``1 of 2 points is``, ``2 of 3 points are``."""
    return "is" if count == 1 else "are"


def ranks(numbers: Sequence[int]) -> str:
    """Some ranks in short: ``0, 2 to 63``."""
    runs: list[list[int]] = []
    for one in sorted(numbers):
        if runs and one == runs[-1][1] + 1:
            runs[-1][1] = one
        else:
            runs.append([one, one])
    spans = [str(a) if a == b else f"{a}, {b}" if b == a + 1 else f"{a} to {b}" for a, b in runs]
    most = 6
    return ", ".join(spans[:most]) + (f", ... ({len(numbers)} ranks)" if len(spans) > most else "")


def plain(value: object) -> str:
    """A value of a machine or experiment file, without the signs of a programming language."""
    if value is None:
        return ""
    if isinstance(value, list):
        return ", ".join(plain(item) for item in value)
    if isinstance(value, str):
        lines = value.splitlines()
        if len(lines) > 1:  # the cables of a graph
            return f"{lines[0]} ... {lines[-1]} ({len(lines):,} lines)"
        return re.sub(r"(?<=\d )us\b", "µs", value)
    if isinstance(value, float):  # 1e-7, not 1e-07
        return re.sub(r"e\+?(-?)0*(?=\d)", r"e\1", str(value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def label(value: object) -> str:
    """A value as a label: ``plain``, with whole numbers and zero times in short, ``0`` for ``0.0`` and for ``0 ps``."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    text = plain(value)
    return "0" if re.fullmatch(r"0 ([pnµm]?s)", text) else text


def minus(text: str) -> str:
    """A text with minus signs in place of the hyphens before numbers; those within a word or a span stay."""
    return re.sub(r"(?<![^\s(])-(?=\.?\d)", "\N{MINUS SIGN}", text)


def alike(value: object, text: str) -> bool:
    """Whether a text of the command line means a value: numbers and quantities are compared as numbers."""
    size = _size(plain(value))
    return plain(value) == text or str(value) == text or (size is not None and size == _size(text))


def _size(text: str) -> tuple[float, str] | None:
    """A number or a quantity with its unit; None for other texts."""
    try:
        return float(text), ""
    except ValueError:
        return _core.quantity(text.replace("µs", "us"))


SYMBOL = {"us": "µs", "fraction": "%", "ratio": "x"}
"""Units as people write them; other units stay as they are."""

SCALE = {"fraction": 100.0}
"""By what figures of a unit are multiplied to be figures of its symbol."""


def symbol(unit: str) -> str:
    """The unit as people write it: ``µs``, ``%``, ``x``."""
    return SYMBOL.get(unit, unit)


def micro(text: str) -> str:
    """A text with values of files, whose microseconds are ``us``, as people write it."""
    return re.sub(r"(?<=\d )us\b", SYMBOL["us"], text)


def quantity(value: float, unit: str, digits: int | None = None) -> str:
    """A figure with its unit: ``2.38 µs``, ``8%``, ``40x``."""
    value *= SCALE.get(unit, 1.0)
    text = number(value) if digits is None else f"{value:,.{digits}f}"
    return f"{text}{symbol(unit)}" if unit in ("fraction", "ratio") else f"{text} {symbol(unit)}".rstrip()


WORDS = {"saturated": "queues grow"}
"""The names of metrics for people. The state of a load may be *saturated* though no queue grows (``states``)."""


def heading(metric: str, unit: str) -> str:
    """The heading of a column of figures: the metric in words, with its unit."""
    metric = WORDS.get(metric, metric)
    return f"{metric}, {symbol(unit)}" if unit else metric


def estimate(mean: float, low: float, high: float, n: int, unit: str = "") -> str:
    """A mean and half the width of its interval, without the interval if there are fewer than three values."""
    scale = SCALE.get(unit, 1.0)
    if n < FEWEST:
        return number(scale * mean)
    return with_half(scale * mean, scale * (high - low) / 2)


YES_OR_NO = ("saturated", "deadlock")
"""Metrics that say yes (1) or no (0); a mean of them has no interval."""

FEWEST = 3
"""Fewest values that tell an interval."""


def percent(value: float | None) -> str:
    """An error as a signed percentage; as a factor if the value is more than ten times the published one."""
    if value is None:
        return ""
    if value > 9:
        return f"{number(1 + value)}x"
    return "0.0%" if abs(value) < 0.0005 else f"{value:+.1%}"


def published(claim: Claim) -> str:
    """What the document states, in short."""
    if claim.kind == "range":
        low = number((claim.low or 0) * SCALE.get(claim.unit, 1.0))
        return f"{low} to {quantity(claim.high or 0, claim.unit)}"
    if claim.kind == "order":
        return " > ".join(claim.order)
    if claim.value is None:
        return "a finding"
    bound = {"max": "at most ", "min": "at least "}.get(claim.kind, "")
    return f"{bound}{quantity(claim.value, claim.unit)}"


def simulated(verdict: Verdict) -> str:
    """The simulated figure, in short."""
    value = verdict.simulated
    if value is None:
        return ""
    if isinstance(value, list):
        return " > ".join(value)
    if isinstance(value, str):
        return value
    return quantity(value, verdict.claim.unit)


def spread(verdict: Verdict) -> str:
    """The confidence interval of a simulated number, if it has any width."""
    if verdict.low is None or verdict.high is None or verdict.low == verdict.high:
        return ""
    scale = SCALE.get(verdict.claim.unit, 1.0)
    digits = _digits(scale * verdict.high)
    return f"[{scale * verdict.low:,.{digits}f}, {scale * verdict.high:,.{digits}f}]"


def one_run(verdict: Verdict) -> str:
    """Where a single run lies, for a figure of one run: ``one run would give 18 to 25 µs``; empty for others."""
    if verdict.one_run is None:
        return ""
    low, high = (SCALE.get(verdict.claim.unit, 1.0) * end for end in verdict.one_run)
    return f"one run would give {number(low)} to {number(high)} {symbol(verdict.claim.unit)}"


def measured(verdict: Verdict) -> str:
    """The simulated figure with its interval, or the simulated order with the figures behind it."""
    from elanite.validation import admissible

    words = [simulated(verdict), spread(verdict)]
    if isinstance(verdict.simulated, list) and verdict.note:
        words.append(f"({verdict.note})")
    words += [f"({said})" for said in (one_run(verdict), admissible.said(verdict)) if said]
    return " ".join(filter(None, words))


MOST_SIGNS = 240
"""Signs of a line of a short message, if the line has a list that can be cut."""

LIST = 6
"""Items of the shortest list; fewer commas are those of a sentence."""


def brief(message: str, lines: int = 20) -> str:
    """A message in a screenful: long lists and texts are cut, and say how much was left out."""
    found = message.splitlines()
    shown = [_brief_line(line) for line in found[:lines]]
    if len(found) > lines:
        shown.append(f"  and {counted(len(found) - lines, 'more line')}")
    return "\n".join(shown)


def _brief_line(line: str) -> str:
    """A line with the start of its list."""
    items = line.split(", ")
    if len(items) < LIST:
        return line
    shown = len(items)
    while shown > 1 and len(", ".join(items[:shown])) > MOST_SIGNS:
        shown -= 1
    return line if shown == len(items) else f"{', '.join(items[:shown])}, and {len(items) - shown} more"


def headline(verdicts: Sequence[Verdict]) -> str:
    """One line: the count of every weight of claims (see ``validation.tally``), predicted values and orders first.

    Claims about networks of today are counted apart, behind those of the papers.
    """
    today = [verdict for verdict in verdicts if verdict.claim.today and verdict.judged]
    line = "; ".join(tally.lines([verdict for verdict in verdicts if not verdict.claim.today]))
    return ". ".join(filter(None, [line, of_today(today)])) or "no claim is judged"


def of_today(verdicts: Sequence[Verdict]) -> str:
    """One line: how many of the claims about networks of today hold; empty if none is judged."""
    found = tally.lines(verdicts)
    return f"Networks of today: {'; '.join(found)}" if found else ""


def totals(verdicts: Sequence[Verdict]) -> str:
    """One line: the headline, and how many claims are missed without a known reason or are not judged."""
    count = {state: sum(v.state == state for v in verdicts) for state in SIGN}
    parts = [headline(verdicts), f"missed without a known reason: {count['missed']}"]
    if count["not run"]:
        parts.append(f"not run: {count['not run']}")
    parts.append(f"not yet simulated: {count['not yet simulated']}")
    return "; ".join(parts)


def fitted(machine: str, parameters: Mapping[str, Sequence[str]]) -> str:
    """One sentence: the fitted parameters of a machine, and the claims to which each was fitted."""
    words = [f"{key} ({', '.join(claims)})" for key, claims in parameters.items()]
    if not words:
        return f"{machine}: no parameter is fitted."
    plural = "s" if len(words) > 1 else ""
    return (
        f"{machine}: {len(words)} fitted parameter{plural}: {'; '.join(words)}. All other claims about this machine are"
        " predictions."
    )


def widest(verdicts: Sequence[Verdict]) -> str:
    """One sentence: how wide the intervals are of the figures on which the verdicts rest."""
    known = [(v.widest, v.claim.id) for v in verdicts if v.widest is not None]
    if not known:
        return "No figure has been judged."
    most, claim = max(known)
    wide = sum(width > WIDE for width, _ in known)
    return (
        f"Of the figures on which verdicts rest, the widest interval is ±{most:.1%} of the figure ({claim}); {wide} of"
        f" {len(known)} claims rest on an interval that is wider than ±{WIDE:.0%}."
    )


def looked(verdicts: Sequence[Verdict]) -> list[str]:
    """The looks at short runs that verdicts rest on; empty if all rest on whole runs."""
    from elanite.results.looks import ERROR, RUNS

    counts = [sum(verdict.look == look for verdict in verdicts) for look in range(len(RUNS))]
    if not any(counts):
        return []
    several = [f"{count} by {counted(runs, 'run')}" for count, runs in zip(counts, RUNS, strict=True) if count]
    return [
        f"Claims that are judged on short runs: {', '.join(several)} of each point, or a multiple. More runs are"
        " simulated while a claim is not resolved. Before the last of these looks, a claim holds only if its whole"
        f" interval is within its bounds; and the intervals of each look are those of {1 - ERROR / len(RUNS):.2%}, so"
        f" that all looks at a claim together cover its figure with {1 - ERROR:.0%}."
    ]


def engines(builds: Sequence[tuple[Build, int]]) -> str:
    """Which engines computed the points of the claims, by their fingerprints (`elanite --version` prints its own)."""
    named = ", ".join(f"{build.engine[:DIGITS] or UNKNOWN} ({many:,})" for build, many in builds)
    return f"Fingerprints of the engines that computed the points of the claims, with the number of points: {named}."


def markdown(verdicts: Sequence[Verdict], builds: Sequence[tuple[Build, int]] = ()) -> str:
    """The page docs/validation.md: the claims by their weight, missed and not yet simulated claims.

    ``builds`` are those that computed the points, each with the number of its points.
    """
    from elanite.validation import admissible
    from elanite.validation.claims import fitted_parameters

    today = [v for v in verdicts if v.judged and v.claim.today]
    judged = [v for v in verdicts if v.judged and not v.claim.today]
    counted = [v for v in judged if v.role in ("predicted", "fitted")]
    contradicted = [v for v in judged if v.role == "inconsistent"]
    lines = {name: [v for v in judged if tally.line_of(v) == name] for name in tally.NAMES}
    found = [
        "# Validation",
        "",
        "<!-- Written by `make docs` from the scoreboard; do not edit. -->",
        "",
        *(paragraph for text in (*INTRODUCTION, *looked(verdicts)) for paragraph in (text, "")),
        f"Model revision {_core.MODEL_REVISION}: {totals(verdicts)}. {widest(judged)}",
        "",
        *([engines(builds), ""] if builds else []),
        f"Before claims had ranks, all predicted claims counted alike; that count would now be {tally.before(judged)}.",
        "",
        "## Predicted",
        "",
        *_table(lines["headline"]),
        "",
        "## Predicted, and turned by no removed mechanism",
        "",
        *_table(lines["steady"]),
        "",
        "## Predicted, and not yet ablated",
        "",
        *_table(lines["open"]),
        "",
        *_ranked("Bounds", lines["bound"]),
        *_ranked("Consequences of fitted figures", lines["consequence"]),
        *_ranked("Verifications of an implementation", lines["verification"]),
        *_ranked("Repeats", lines["repeat"]),
        "## Fitted",
        "",
        *(fitted(machine, parameters) for machine, parameters in fitted_parameters().items()),
        "",
        *_table(lines["fitted"]),
        "",
        "## Inferences of the authors",
        "",
        *_table(lines["inference"]),
        "",
        *(f"- `{v.claim.id}`: {v.claim.inference}." for v in lines["inference"]),
        *_misses([v for v in lines["inference"] if v.holds is not True]),
        "",
        "## Inconsistent in the source",
        "",
        *_table(contradicted),
        "",
        *(f"- `{v.claim.id}`: {v.claim.proof.text}." for v in contradicted if v.claim.proof),
        "",
        "## Missed",
        "",
        *(_misses([v for v in counted if v.holds is False]) or ["None of the claims that were simulated is missed."]),
        "",
        "## Not resolved",
        "",
        *(
            _misses([v for v in counted if v.state == "not resolved"])
            or ["All other claims that were simulated are resolved."]
        ),
        "",
        "## Source too vague",
        "",
        *(f"{line}. {v.claim.vague}." for v in counted if v.state == "source too vague" for line in _misses([v])),
        "",
        "## Networks of today",
        "",
        *_of_today(today),
        "",
        "## Figures of one run",
        "",
        "The source took these figures in one run. The mean of several runs is known better than the figure of one, so"
        " that such a figure is judged by the 95% prediction interval of one run, from the spread of the simulated"
        " runs; its tolerance is that of all figures.",
        "",
        *(
            f"- `{v.claim.id}`: {'. '.join(filter(None, [v.claim.one_run, one_run(v)]))}."
            for v in verdicts
            if v.claim.one_run
        ),
        "",
        "## Admissible ranges",
        "",
        "Where a source states a range and no value, the claims that the parameter may decide are judged at both ends,"
        " too. A claim holds within the range if it holds at an end, or if the published figure lies between those of"
        " two ends. The counts above are those of the values that the machine files have.",
        "",
        *(
            f"- `{v.claim.id}`: {v.state}; {admissible.said(v) or 'not run at the ends of its range'}."
            for v in verdicts
            if v.claim.admissible
        ),
        "",
        "## Bounds of ours",
        "",
        "The sources state no figure for these words. The bounds of the tests are ours, and so are the tolerances of"
        " values.",
        "",
        *(f"- `{v.claim.id}`: {v.claim.ours}." for v in verdicts if v.claim.ours),
        "",
        "## How the findings are tested",
        "",
        *(f"- `{v.claim.id}`: {v.claim.test}." for v in verdicts if v.claim.test),
        "",
        "## Not yet simulated",
        "",
        *(f"- `{v.claim.id}` ({v.claim.cited}): {v.claim.says}" for v in verdicts if not v.judged),
    ]
    return "\n".join(found) + "\n"


INTRODUCTION = (
    "Verification asks whether the simulator does what its specification says; the tests answer that. Validation asks"
    " whether the specification matches reality: this page shows every figure that the source documents state beside"
    " the simulated figure. One set of parameters per machine serves all experiments of that machine.",
    "A claim is *fitted* if some parameter of the machine file was fitted to the claim; otherwise it is *predicted*."
    " Two classes of claims are no predictions, by the text of the paper and not by the result. A claim is"
    " *inconsistent in its source* if arithmetic on the figures of its own paper refutes the claim, and an *inference"
    " of the authors* if the authors conclude the claim and did not run it.",
    "Every claim has a rank. Values and orders (with trends and other shapes) can fail; the headline counts those"
    " predicted ones whose verdict turns when a mechanism of the model is removed. Counted apart are *bounds*, from"
    " which the simulated figure is far or may be; *consequences* of fitted figures; *verifications*, which show that"
    " something is built as described; and *repeats*, figures that the source states twice. Misses with one cause"
    " count as one.",
    "A value holds if the simulated mean is within its tolerance, a range if the mean lies in the range, an order or a"
    " finding if the stated inequality holds. A claim is missed only if the whole interval is outside what would hold;"
    " otherwise it is *not resolved*, or its *source is too vague* if the paper states no bound and the simulated"
    " figure stays at the bound of the test. Intervals are 95% confidence intervals over batches, or over seeds where"
    " these vary more than their batches explain; the interval of a ratio includes the uncertainty of both sides. A"
    " figure of a single run without batches has no interval.",
)
"""The paragraphs at the head of the validation page."""


def _ranked(heading: str, verdicts: Sequence[Verdict]) -> list[str]:
    """A section of claims of one rank that the headline does not count, with the reasons for the rank."""
    reasons = [f"- `{v.claim.id}`{_of(v.claim.rests_on)}: {v.claim.because}." for v in verdicts]
    return [f"## {heading}", "", *_table(verdicts), "", *reasons, *([""] if reasons else [])]


def _of(names: Sequence[str]) -> str:
    """The claims that a claim rests on, in parentheses."""
    return f" (of {', '.join(f'`{name}`' for name in names)})" if names else ""


def _of_today(verdicts: Sequence[Verdict]) -> list[str]:
    """The claims about networks of today, which are counted apart."""
    if not verdicts:
        return ["None of these claims was simulated."]
    predicted, others = ([v for v in verdicts if (v.role == "predicted") is role] for role in (True, False))
    return [
        "The machines and figures of these claims are those of other vendors, decades later; they are counted apart,"
        f" and [networks of today](today.md) tells more. {of_today(verdicts)}.",
        "",
        "Predicted:",
        "",
        *_table(predicted),
        "",
        "Fitted:",
        "",
        *_table(others),
        "",
        *_misses([v for v in verdicts if v.holds is False]),
    ]


def _digits(value: float) -> int:
    size = abs(value)
    return 0 if size >= 1000 else 1 if size >= 100 else 2 if size >= 1 else 3


def _table(verdicts: Iterable[Verdict]) -> list[str]:
    rows = [
        f"| `{v.claim.id}` | {published(v.claim)} | {_with_note(v)} | {percent(v.error)} | {_width(v)} | {v.state} |"
        f" {v.claim.cited} |"
        for v in verdicts
    ]
    if not rows:
        return ["None."]
    head = "| claim | published | simulated | error | widest interval | | source |"
    return [head, "|---|---|---|---|---|---|---|", *rows]


def _with_note(verdict: Verdict) -> str:
    """The simulated figure, with the figures behind it."""
    words = measured(verdict)
    return words if isinstance(verdict.simulated, list) or not verdict.note else f"{words} ({verdict.note})"


def _width(verdict: Verdict) -> str:
    return f"±{verdict.widest:.1%}" if verdict.widest else ""


def _misses(verdicts: Sequence[Verdict]) -> list[str]:
    return [
        f"- `{v.claim.id}`: published {published(v.claim)}, simulated {simulated(v)} {percent(v.error)}".rstrip()
        + (f", one miss with `{v.claim.one_miss}`" if v.claim.one_miss else "")
        + (f". {v.claim.known_miss}" if v.claim.known_miss else "")
        for v in verdicts
    ]
