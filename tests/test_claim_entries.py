"""Claim entries become dataclasses, and a wrong one is refused with file, line, key, value and
remedy.
"""

from __future__ import annotations

import json
import tomllib
from dataclasses import fields

import pytest
from jsonschema import Draft202012Validator

from elanite.base import bounded
from elanite.errors import UsageError
from elanite.inputs import sources
from elanite.validation.claim import Claim
from elanite.validation.claims import MEASURED, OUTPUT, PART, WORDS, claims_of
from elanite.validation.measures import (
    OWN,
    PICKS,
    Bound,
    FigureMeasure,
    FunctionMeasure,
    Ranking,
    Statements,
)
from elanite.validation.measures.quantities import (
    MEASURES,
    ColumnFigure,
    Extreme,
    Limits,
    Mean,
    PairFigure,
    UnaryFigure,
)
from elanite.validation.measures.rows import KINDS

NUMBER = '''# a comment with measure = "none"
[[claim]]
id = "a.gain"
source = "petrini2003 s5.1"
kind = "value"
rank = "value"
value = 3
says = """
[[claim]]
measure = "text"
"""
experiment = "qsnet/ping"
metric = "bandwidth"
measure = "gain"
of = { nodes = "highest", load_MBps = { below = { measure = "twice", of.metric = "latency" } } }
over = { measure = "least", of = { nodes = [2, 4], policy = { not = "" } }, over = "message_bytes" }
each = ["policy"]
pick = "most"
[[claim.part]]
says = "kept"
of = { nodes = 2 }
least = 0.5
touches = [1, 2]
but = 1
'''

SHAPE = """
[[claim]]
id = "b.order"
source = "petrini2003 s5.1"
kind = "order"
rank = "order"
order = ["2 nodes", "4 nodes"]
says = "An order."
experiment = "qsnet/ping"
metric = "bandwidth"
measure = "order"
each = ["nodes"]
[[claim]]
id = "b.noise"
source = "petrini2003 s5.1"
kind = "shape"
rank = "order"
says = "A shape."
experiment = "qsnet/ping"
measure = "noise"
figures = [1, 2.5]
[[claim]]
id = "b.parts"
source = "petrini2003 s5.1"
kind = "shape"
rank = "order"
says = "Statements."
experiment = "qsnet/ping"
measure = "parts"
metric = "latency"
rows = "steady"
part = [{ says = "in a line", of = { nodes = 2 }, above = 1 }]
"""


def test_entries_become_dataclasses() -> None:
    number, order, noise, parts = claims_of(NUMBER + SHAPE, "own.toml")
    figure = number.measure
    assert isinstance(figure, FigureMeasure)
    doubled = UnaryFigure("twice", Mean("latency", {"metric": "latency"}))
    assert figure.quantity == PairFigure(
        "gain",
        Mean("bandwidth", {"nodes": Extreme.HIGHEST, "load_MBps": Limits({"below": doubled})}),
        ColumnFigure(
            "least",
            Mean("bandwidth", {"nodes": (2, 4), "policy": Limits({"not": ""})}),
            "message_bytes",
        ),
    )
    assert (figure.each, figure.pick) == (("policy",), "most")
    (part,) = figure.besides.parts
    assert (part.says, part.excused, part.bound) == ("kept", 1, Bound(least=0.5, touches=(1, 2)))
    assert part.quantity == Mean("bandwidth", {"nodes": 2})
    assert order.measure == Ranking(Mean("bandwidth"), ("nodes",))
    assert noise.measure == FunctionMeasure("noise", (1, 2.5))
    assert isinstance(parts.measure, Statements)
    assert (parts.measure.parts[0].rows, parts.measure.parts[0].bound) == ("steady", Bound(above=1))


WRONG = [
    (
        'pick = "most"',
        'pikc = "most"',
        "`pikc` = `most`",
        18,
        "this key is unknown; did you mean `pick`?",
    ),
    ('measure = "gain"', 'measure = "gian"', "`measure` = `gian`", 14, "did you mean `gain`?"),
    (
        'pick = "most"',
        'pick = "least"',
        "`pick` = `least`",
        18,
        "is not one of most, most-of-several, farthest",
    ),
    (
        'over = "message_bytes" }',
        'ovr = "x" }',
        "`over.ovr` = `x`",
        16,
        "this key is unknown; did you mean `over`?",
    ),
    (', over = "message_bytes"', "", "`over.over`", 16, "the measure least needs this key"),
    ("{ below =", "{ belw =", "`of.load_MBps.belw`", 15, "did you mean `below`?"),
    (
        "policy = { not",
        "policy = { least = 1, not",
        "`over.of.policy.not` = ``",
        16,
        "no other bounds beside them",
    ),
    (
        'measure = "twice"',
        'measure = "order"',
        "`of.load_MBps.below.measure` = `order`",
        15,
        "is not one of value",
    ),
    ('each = ["policy"]', 'each = "policy"', "`each` = `policy`", 17, "a list of texts is needed"),
    ("value = 3", 'value = "3"', "`value` = `3`", 7, "a number is needed"),
    ("value = 3\n", "", "`value`", 2, "and needed there; the kind is value"),
    ("value = 3", "value = 3\nlow = 1", "`low` = `1`", 8, "for the kinds range"),
    ("least = 0.5", "least = true", "`least` = `True`", 22, "a number is needed"),
    ("touches = [1, 2]", "touches = [1]", "`touches`", 23, "a range has two ends"),
    ('says = "kept"\n', "", "`but` = `1`", 23, "a part without `says` is only shown"),
    ('id = "a.gain"\n', "", "`id`", 2, "this key is needed"),
    (
        'each = ["policy"]',
        "figures = [1]",
        "`figures`",
        17,
        "the measure gain does not read this key",
    ),
    (
        'kind = "value"',
        'kind = "max"',
        "`measure` = `parts`",
        14,
        "does not fit a claim of the kind max",
    ),
]
"""Parts of the first claim, wrong ones in their places, and the error: its key, its line, its
words.
"""

BY_THE_READER_ALONE = ("does not read this key", "does not fit a claim of the kind max")
"""Errors for keys that belong to another measure, which the schema lets pass."""


@pytest.mark.parametrize(("old", "new", "key", "line", "said"), WRONG)
def test_a_wrong_entry_is_refused_at_its_line(
    old: str, new: str, key: str, line: int, said: str
) -> None:
    text = NUMBER.replace('measure = "gain"', 'measure = "parts"') if "parts" in key else NUMBER
    assert text.count(old) == 1
    with pytest.raises(UsageError) as refused:
        claims_of(text.replace(old, new), "own.toml")
    words = str(refused.value)
    assert words.startswith("claim `")
    assert f"{key}: " in words.splitlines()[0]
    assert said in words.splitlines()[0]
    assert f"--> own.toml:{line}:1\n" in words


def test_a_second_claim_has_lines_of_its_own() -> None:
    with pytest.raises(
        UsageError, match=r"claim `b\.parts`, part `1`, `abov` = `1`: .*(?s:.*)--> own.toml:56:1"
    ):
        claims_of(NUMBER + SHAPE.replace("above", "abov"), "own.toml")


def test_a_file_that_is_no_toml_is_refused() -> None:
    with pytest.raises(UsageError, match=r"own.toml is not a TOML file: .*line 2"):
        claims_of("[[claim]]\nid = a", "own.toml")


SCHEMA = json.loads(bounded.packaged("data", "claims.schema.json"))


def refused(text: str) -> bool:
    """Whether the JSON schema refuses a claims file."""
    return not Draft202012Validator(SCHEMA).is_valid(tomllib.loads(text))


def test_the_schema_has_the_keys_and_words_of_the_reader() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    defined = SCHEMA["$defs"]
    assert defined["claim"]["properties"].keys() == {
        one.name for one in fields(Claim)
    } | MEASURED | {OUTPUT}
    assert defined["part"]["properties"].keys() == PART
    assert defined["measure"]["enum"] == list(MEASURES)
    assert defined["claim"]["properties"]["measure"]["enum"] == [*MEASURES, *OWN, "order", "parts"]
    assert ["", *defined["rows"]["enum"]] == list(KINDS)
    assert ["", *defined["claim"]["properties"]["pick"]["enum"]] == list(PICKS)
    for key in ("kind", "rank", "confidence"):
        assert defined["claim"]["properties"][key]["enum"] == list(WORDS[key])


def test_the_schema_accepts_the_claims_of_all_shipped_experiments() -> None:
    shipped = tomllib.loads(bounded.packaged("data", "claims.toml"))
    assert [error.message for error in Draft202012Validator(SCHEMA).iter_errors(shipped)] == []
    assert {entry["experiment"] for entry in shipped["claim"]} <= set(sources.shipped("experiment"))
    assert not refused(NUMBER + SHAPE)


@pytest.mark.parametrize(
    ("old", "new"), [wrong[:2] for wrong in WRONG if not wrong[4].endswith(BY_THE_READER_ALONE)]
)
def test_the_schema_refuses_what_the_reader_refuses(old: str, new: str) -> None:
    assert refused(NUMBER.replace(old, new))
