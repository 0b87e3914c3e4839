"""Proofs that a published figure contradicts other figures in the same paper.

A claim is *inconsistent in its source* only if arithmetic on its paper's figures proves it. The
claims file states this arithmetic as a comparison, which is true for the published figures and
cannot be true for a machine::

    [claim.proof]
    of = { all = "hotspot.32.bandwidth", lost = "hotspot.64.loss", ... }
    shows = "... < (1 - lost) * (all - 0.5)"
    implied = 0.136
    says = "..."

``of`` names claim figures: the claim's own, and those that it contradicts. ``shows`` consists of
these names, numbers, the four operations, ``min``, ``max`` and comparisons. ``implied`` is the
figure for this claim that would agree with the others: it has to make the comparison false, so that
the comparison is not trivially true. ``says`` is a sentence for the reader. Proofs are checked when
the claims are loaded, in exact arithmetic. No simulated figure has a name here, so that no claim
becomes inconsistent because the model misses it.
"""

from __future__ import annotations

import ast
import operator
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

from elanite.inputs.sources import did_you_mean
from elanite.validation.claim import Claim, Proof

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from elanite.inputs.tables import DataTable

FUNCTIONS: dict[str, Callable[..., Fraction]] = {"min": min, "max": max}

OPERATIONS: dict[type[ast.operator], Callable[[Fraction, Fraction], Fraction]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}

COMPARISONS: dict[type[ast.cmpop], tuple[str, Callable[[Fraction, Fraction], bool]]] = {
    ast.Lt: ("<", operator.lt),
    ast.LtE: ("<=", operator.le),
    ast.Gt: (">", operator.gt),
    ast.GtE: (">=", operator.ge),
}

KEYS = {"of", "shows", "implied", "says"}

ALLOWED = (
    "allowed: names of `of`, numbers, + - * /, brackets, min, max, and the comparisons < <= > >="
)

REMEDY = (
    "correct the arithmetic, or remove `proof`: without a proof no claim is inconsistent in its"
    " source"
)


def checked(claim: Claim, entry: DataTable, claims: Mapping[str, Claim]) -> Proof:
    """A claim's proof. Raises ``UsageError`` if the proof is irrelevant to this claim."""
    if entry.content.keys() != KEYS:
        raise entry.wrong(
            "",
            f"a proof has the keys {', '.join(sorted(KEYS))}, and here are"
            f" {', '.join(sorted(entry.content))}",
            "the head of the file says what each key is",
        )
    of = entry.table("of")
    names = {name: of.string(name) for name in of.content}
    figures: dict[str, Fraction] = {}
    for name, identity in names.items():
        other = claims.get(identity)
        if other is None:
            wrong = f"there is no such claim{did_you_mean(identity, list(claims))}"
            raise of.wrong(name, wrong, "use the `id` of a claim of this file")
        if not documents(claim) & documents(other):
            wrong = f"the claim is of {other.source}, not of {claim.source}"
            raise of.wrong(name, wrong, "use figures of the same paper")
        if other.value is None:
            wrong = "the claim has no single published figure"
            raise of.wrong(name, wrong, "use claims with a `value`")
        figures[name] = exact(other.value)
    shows, says, implied = (
        entry.string("shows"),
        entry.string("says"),
        entry.number("implied") or 0.0,
    )
    own = [name for name, identity in names.items() if identity == claim.id]
    if not own:
        raise entry.wrong("of", "the claim's own figure is absent", f"add `{claim.id}`")
    try:
        holds, sides, used = compared(shows, figures)
        still, otherwise, _ = compared(shows, figures | dict.fromkeys(own, exact(implied)))
    except (SyntaxError, ValueError, ZeroDivisionError) as error:
        raise entry.wrong("shows", str(error), ALLOWED) from None
    if idle := figures.keys() - used:
        raise entry.wrong(
            "shows",
            f"does not use {', '.join(sorted(idle))}",
            "use every name of `of`, or remove it",
        )
    if not holds:
        raise entry.wrong("shows", f"is false: {sides}", REMEDY)
    if still:
        wrong = f"`shows` is true of this figure, too: {otherwise}"
        raise entry.wrong(
            "implied", wrong, "give the figure that agrees with the others; if none does, " + REMEDY
        )
    return Proof(tuple(names.items()), shows, implied, says, sides)


def documents(claim: Claim) -> set[str]:
    """The papers that state a claim."""
    return {place.split()[0] for place in claim.source.split(";")}


def exact(number: float) -> Fraction:
    """A number as it is written, without binary rounding."""
    return Fraction(str(number))


def compared(text: str, figures: Mapping[str, Fraction]) -> tuple[bool, str, set[str]]:
    """Whether a comparison is true for some figures, its evaluated sides, and the names that it
    uses.
    """
    comparison = ast.parse(text.strip(), mode="eval").body
    if not isinstance(comparison, ast.Compare):
        raise ValueError("is not a comparison")
    sides = [_value(side, figures) for side in (comparison.left, *comparison.comparators)]
    holds, words = True, _plain(sides[0])
    for found, (one, other) in zip(comparison.ops, pairwise(sides), strict=True):
        if type(found) not in COMPARISONS:
            raise ValueError("has a comparison that is not allowed")
        sign, holds_between = COMPARISONS[type(found)]
        holds = holds and holds_between(one, other)
        words += f" {sign} {_plain(other)}"
    return (
        holds,
        words,
        {node.id for node in ast.walk(comparison) if isinstance(node, ast.Name)} - FUNCTIONS.keys(),
    )


def _value(node: ast.expr, figures: Mapping[str, Fraction]) -> Fraction:
    match node:
        case ast.BinOp(left, operation, right) if type(operation) in OPERATIONS:
            return OPERATIONS[type(operation)](_value(left, figures), _value(right, figures))
        case ast.UnaryOp(ast.USub(), operand):
            return -_value(operand, figures)
        case ast.Call(ast.Name(name), [_, _, *_] as some, []) if name in FUNCTIONS:
            return FUNCTIONS[name](*(_value(one, figures) for one in some))
        case ast.Constant(int(value) | float(value)) if not isinstance(value, bool):
            return exact(value)
        case ast.Name(name) if name in figures:
            return figures[name]
        case ast.Name(name):
            raise ValueError(f"`of` has no name `{name}`{did_you_mean(name, list(figures))}")
    raise ValueError(f"`{ast.unparse(node)}` is not allowed")


def _plain(value: Fraction) -> str:
    return f"{float(value):.6g}"
