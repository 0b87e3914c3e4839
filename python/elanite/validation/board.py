"""The scoreboard in words: its headline, and the page ``docs/validation.md``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from elanite import _core
from elanite.base.build import DIGITS, UNKNOWN
from elanite.base.text import counted, percent
from elanite.results.looks import ERROR, RUNS
from elanite.validation import admissible_ranges, tally
from elanite.validation.cells import SIGN, one_run, published, simulated, spread
from elanite.validation.claim import fitted_parameters

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from elanite.base.build import Build
    from elanite.validation.verdict import Verdict

WIDE = 0.02
"""A wider 95% confidence interval, as a fraction of the mean, is counted as wide."""


def measured(verdict: Verdict) -> str:
    """The simulated figure with its interval, or the simulated order with the figures behind it."""
    words = [simulated(verdict), spread(verdict)]
    if isinstance(verdict.simulated, list) and verdict.note:
        words.append(f"({verdict.note})")
    words += [
        f"({said})" for said in (one_run(verdict), admissible_ranges.verdict_words(verdict)) if said
    ]
    return " ".join(filter(None, words))


def headline(verdicts: Sequence[Verdict]) -> str:
    """One line: the count for every claim weight (see ``validation.tally``), predicted values and
    orders first.

    Claims about current networks are counted apart, behind the papers'.
    """
    today = [verdict for verdict in verdicts if verdict.claim.today and verdict.judged]
    line = "; ".join(tally.lines([verdict for verdict in verdicts if not verdict.claim.today]))
    return ". ".join(filter(None, [line, of_today(today)])) or "no claim is judged"


def own_claims(verdicts: Sequence[Verdict]) -> str:
    """One line on a user's own claims."""
    judged = [verdict for verdict in verdicts if verdict.judged]
    words = [f"{sum(v.holds is True for v in judged)} of {counted(len(judged), 'claim')} hold"]
    for state, said in ((False, "missed"), (None, "not resolved")):
        if many := sum(v.holds is state for v in judged):
            words.append(f"{many} {said}")
    return ", ".join(words)


def of_today(verdicts: Sequence[Verdict]) -> str:
    """One line: the count of claims about current networks that hold; empty without judged
    claims.
    """
    found = tally.lines(verdicts)
    return f"Networks of today: {'; '.join(found)}" if found else ""


def totals(verdicts: Sequence[Verdict]) -> str:
    """One line: the headline, and how many claims are missed without a known reason or are not
    judged.
    """
    count = {state: sum(v.state == state for v in verdicts) for state in SIGN}
    parts = [headline(verdicts), f"missed without a known reason: {count['missed']}"]
    if count["not run"]:
        parts.append(f"not run: {count['not run']}")
    parts.append(f"not yet simulated: {count['not yet simulated']}")
    return "; ".join(parts)


def fitted(machine: str, parameters: Mapping[str, Sequence[str]]) -> str:
    """One sentence: a machine's fitted parameters, and the claims to which each was fitted."""
    words = [f"{key} ({', '.join(claims)})" for key, claims in parameters.items()]
    if not words:
        return f"{machine}: no parameter is fitted."
    plural = "s" if len(words) > 1 else ""
    return (
        f"{machine}: {len(words)} fitted parameter{plural}: {'; '.join(words)}. All other claims"
        " about this machine are predictions."
    )


def widest(verdicts: Sequence[Verdict]) -> str:
    """One sentence: the interval widths of the figures behind the verdicts."""
    known = [(v.widest, v.claim.id) for v in verdicts if v.widest is not None]
    if not known:
        return "No figure has been judged."
    most, claim = max(known)
    wide = sum(width > WIDE for width, _ in known)
    return (
        f"Of the figures on which verdicts rest, the widest interval is ±{most:.1%} of the figure"
        f" ({claim}); {wide} of {len(known)} claims rest on an interval that is wider than"
        f" ±{WIDE:.0%}."
    )


def looks_sentences(verdicts: Sequence[Verdict]) -> list[str]:
    """The looks at short runs that verdicts rest on; empty if all rest on whole runs."""
    counts = [sum(verdict.look == look for verdict in verdicts) for look in range(len(RUNS))]
    if not any(counts):
        return []
    several = [
        f"{count} by {counted(runs, 'run')}"
        for count, runs in zip(counts, RUNS, strict=True)
        if count
    ]
    return [
        f"Claims that are judged on short runs: {', '.join(several)} of each point, or a multiple."
        " More runs are simulated while a claim is not resolved. Before the last of these looks, a"
        " claim holds only if its whole interval is within its bounds; and the intervals of each"
        f" look are those of {1 - ERROR / len(RUNS):.2%}, so that all looks at a claim together"
        f" cover its figure with {1 - ERROR:.0%}."
    ]


def engines(builds: Sequence[tuple[Build, int]]) -> str:
    """Which engines computed the claims' points, by their fingerprints (`elanite --version` prints
    its own).
    """
    named = ", ".join(f"{build.engine[:DIGITS] or UNKNOWN} ({many:,})" for build, many in builds)
    return (
        "Fingerprints of the engines that computed the points of the claims, with the number of"
        f" points: {named}."
    )


def markdown(verdicts: Sequence[Verdict], builds: Sequence[tuple[Build, int]] = ()) -> str:
    """The page docs/validation.md: the claims by their weight, missed and not yet simulated claims.

    ``builds`` are those that computed the points, each with its point count.
    """
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
        *(
            paragraph
            for text in (*INTRODUCTION, *looks_sentences(verdicts))
            for paragraph in (text, "")
        ),
        f"Model revision {_core.MODEL_REVISION}: {totals(verdicts)}. {widest(judged)}",
        "",
        *([engines(builds), ""] if builds else []),
        (
            "Before claims had ranks, all predicted claims counted alike; that count would now be"
            f" {tally.unranked_count(judged)}."
        ),
        "",
        "## Predicted",
        "",
        *table(lines["headline"]),
        "",
        "## Predicted, and turned by no removed mechanism",
        "",
        *table(lines["steady"]),
        "",
        "## Predicted, and not yet ablated",
        "",
        *table(lines["open"]),
        "",
        *_ranked("Bounds", lines["bound"]),
        *_ranked("Consequences of fitted figures", lines["consequence"]),
        *_ranked("Verifications of an implementation", lines["verification"]),
        *_ranked("Repeats", lines["repeat"]),
        "## Fitted",
        "",
        *(fitted(machine, parameters) for machine, parameters in fitted_parameters().items()),
        "",
        *table(lines["fitted"]),
        "",
        "## Inferences of the authors",
        "",
        *table(lines["inference"]),
        "",
        *(f"- `{v.claim.id}`: {v.claim.inference}." for v in lines["inference"]),
        *_misses([v for v in lines["inference"] if v.holds is not True]),
        "",
        "## Inconsistent in the source",
        "",
        *table(contradicted),
        "",
        *(f"- `{v.claim.id}`: {v.claim.proof.text}." for v in contradicted if v.claim.proof),
        "",
        *_open(counted),
        "## Networks of today",
        "",
        *_of_today(today),
        "",
        *_notes(verdicts),
    ]
    return "\n".join(found) + "\n"


def _open(counted: Sequence[Verdict]) -> list[str]:
    """The sections for counted claims that are missed, not resolved, or from too vague a source."""
    return [
        "## Missed",
        "",
        *(
            _misses([v for v in counted if v.holds is False])
            or ["None of the claims that were simulated is missed."]
        ),
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
        *(
            f"{line}. {with_links(v.claim.vague)}."
            for v in counted
            if v.state == "source too vague"
            for line in _misses([v])
        ),
        "",
    ]


def _notes(verdicts: Sequence[Verdict]) -> list[str]:
    """The sections on all claims' tests and bounds."""
    return [
        "## Figures of one run",
        "",
        (
            "The source took these figures in one run. The mean of several runs is known better"
            " than the figure of one, so that such a figure is judged by the 95% prediction"
            " interval of one run, from the spread of the simulated runs; its tolerance is that of"
            " all figures."
        ),
        "",
        *(
            f"- `{v.claim.id}`: {'. '.join(filter(None, [v.claim.one_run, one_run(v)]))}."
            for v in verdicts
            if v.claim.one_run
        ),
        "",
        "## Admissible ranges",
        "",
        (
            "Where a source states a range and no value, the claims that the parameter may decide"
            " are judged at both ends, too. A claim holds within the range if it holds at an end,"
            " or if the published figure lies between those of two ends. The counts above are those"
            " of the values that the machine files have."
        ),
        "",
        *(
            f"- `{v.claim.id}`: {v.state};"
            f" {admissible_ranges.verdict_words(v) or 'not run at the ends of its range'}."
            for v in verdicts
            if v.claim.admissible
        ),
        "",
        "## Bounds of ours",
        "",
        (
            "The sources state no figure for these words. The bounds of the tests are ours, and so"
            " are the tolerances of values."
        ),
        "",
        *(f"- `{v.claim.id}`: {v.claim.ours}." for v in verdicts if v.claim.ours),
        "",
        "## How the findings are tested",
        "",
        *(f"- `{v.claim.id}`: {v.claim.test}." for v in verdicts if v.claim.test),
        *_not_yet_simulated([v for v in verdicts if not v.judged]),
    ]


def _not_yet_simulated(verdicts: Sequence[Verdict]) -> list[str]:
    lines = [f"- `{v.claim.id}` ({v.claim.cited}): {v.claim.says}" for v in verdicts]
    return ["", "## Not yet simulated", "", *lines] if lines else []


INTRODUCTION = (
    (
        "Verification asks whether the simulator does what its specification says; the tests answer"
        " that. Validation asks whether the specification matches reality: this page shows every"
        " figure that the source documents state beside the simulated figure. One set of parameters"
        " per machine serves all experiments of that machine."
    ),
    (
        "A claim is *fitted* if some parameter of the machine file was fitted to the claim;"
        " otherwise it is *predicted*. Two classes of claims are no predictions, by the text of the"
        " paper and not by the result. A claim is *inconsistent in its source* if arithmetic on the"
        " figures of its own paper refutes the claim, and an *inference of the authors* if the"
        " authors conclude the claim and did not run it."
    ),
    (
        "Every claim has a rank. Values and orders (with trends and other shapes) can fail; the"
        " headline counts those predicted ones whose verdict turns when a mechanism of the model is"
        " removed. Counted apart are *bounds*, from which the simulated figure is far or may be;"
        " *consequences* of fitted figures; *verifications*, which show that something is built as"
        " described; and *repeats*, figures that the source states twice. Misses with one cause"
        " count as one."
    ),
    (
        "A value holds if the simulated mean is within its tolerance, a range if the mean lies in"
        " the range, an order or a finding if the stated inequality holds. A claim is missed only"
        " if the whole interval is outside what would hold; otherwise it is *not resolved*, or its"
        " *source is too vague* if the paper states no bound and the simulated figure stays at the"
        " bound of the test. Intervals are 95% confidence intervals over batches, or over seeds"
        " where these vary more than their batches explain; the interval of a ratio includes the"
        " uncertainty of both sides. A figure of a single run without batches has no interval."
    ),
)
"""The paragraphs at the validation page's head."""


def _ranked(heading: str, verdicts: Sequence[Verdict]) -> list[str]:
    """A section for one rank's claims that the headline does not count, with the reasons for the
    rank.
    """
    reasons = [f"- `{v.claim.id}`{_of(v.claim.rests_on)}: {v.claim.because}." for v in verdicts]
    return [f"## {heading}", "", *table(verdicts), "", *reasons, *([""] if reasons else [])]


def _of(names: Sequence[str]) -> str:
    """The claims that a claim rests on, in parentheses."""
    return f" (of {', '.join(f'`{name}`' for name in names)})" if names else ""


def _of_today(verdicts: Sequence[Verdict]) -> list[str]:
    """The claims about current networks, which are counted apart."""
    if not verdicts:
        return ["None of these claims was simulated."]
    predicted, others = (
        [v for v in verdicts if (v.role == "predicted") is role] for role in (True, False)
    )
    return [
        (
            "The machines and figures of these claims are those of other vendors, decades later;"
            " they are counted apart, and [networks of today](today.md) has more on them."
            f" {of_today(verdicts)}."
        ),
        "",
        "Predicted:",
        "",
        *table(predicted),
        "",
        "Fitted:",
        "",
        *table(others),
        "",
        *_misses([v for v in verdicts if v.holds is False]),
    ]


def table(verdicts: Iterable[Verdict]) -> list[str]:
    """A table's lines in Markdown."""
    rows = [
        f"| `{v.claim.id}` | {published(v.claim)} | {_with_note(v)} | {percent(v.error)} |"
        f" {_width(v)} | {v.state} | {v.claim.cited} |"
        for v in verdicts
    ]
    if not rows:
        return ["None."]
    head = "| claim | published | simulated | error | widest interval | | source |"
    return [head, "|---|---|---|---|---|---|---|", *rows]


def _with_note(verdict: Verdict) -> str:
    """The simulated figure, with the figures behind it."""
    words = measured(verdict)
    return (
        words
        if isinstance(verdict.simulated, list) or not verdict.note
        else f"{words} ({verdict.note})"
    )


def _width(verdict: Verdict) -> str:
    return f"±{verdict.widest:.1%}" if verdict.widest else ""


def _misses(verdicts: Sequence[Verdict]) -> list[str]:
    return [
        f"- `{v.claim.id}`: published {published(v.claim)}, simulated {simulated(v)}"
        f" {percent(v.error)}".rstrip()
        + (f", one miss with `{v.claim.one_miss}`" if v.claim.one_miss else "")
        + (f". Reason: {with_links(v.claim.known_miss)}" if v.claim.known_miss else "")
        for v in verdicts
    ]


def with_links(text: str) -> str:
    """A claim's text, in which a page of the documentation is a link for the other pages."""
    return re.sub(r"\bdocs/([\w-]+\.md)", r"[\1](\1)", text)
