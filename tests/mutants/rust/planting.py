"""Mutants of Rust code, each behind a switch: ``a < b`` becomes
``(if ::mutant::on(7) { a <= b } else { a < b })``.

Mutants are found in the syntax tree and planted into the text. Code that the compiler evaluates,
patterns, macros, tests in ``src`` and texts for people (``fmt``) have none, nor have sizes of
allocations and constants of hash functions.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import tree_sitter_rust
from tree_sitter import Language, Parser

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from tree_sitter import Node

PARSER = Parser(Language(tree_sitter_rust.language()))
OPERATORS = {
    "<": ("<=", ">="),
    "<=": ("<", ">"),
    ">": (">=", "<="),
    ">=": (">", "<"),
    "==": ("!=",),
    "!=": ("==",),
    "&&": ("||",),
    "||": ("&&",),
    "+": ("-",),
    "-": ("+",),
    "*": ("/",),
    "/": ("*",),
    "%": ("*",),
    "<<": (">>",),
    ">>": ("<<",),
    "&": ("|",),
    "|": ("&",),
    "^": ("|",),
}
METHODS = (
    ("min", "max"),
    ("min_by_key", "max_by_key"),
    ("any", "all"),
    ("first", "last"),
    ("front", "back"),
    ("is_some", "is_none"),
    ("is_ok", "is_err"),
    ("is_some_and", "is_none_or"),
    ("wrapping_add", "wrapping_sub"),
    ("saturating_add", "saturating_sub"),
    ("checked_add", "checked_sub"),
    ("push_back", "push_front"),
    ("pop_back", "pop_front"),
)
"""Methods that are taken for each other."""
OTHER = {one: other for pair in METHODS for one, other in (pair, pair[::-1])}
CONSTANT = {"const_item", "static_item", "const_block", "attribute_item", "inner_attribute_item"}
NEITHER = CONSTANT | {"macro_invocation", "macro_definition", "parameters", "closure_parameters"}
NEITHER |= {"type_arguments", "type_parameters", "array_type", "enum_variant_list", "where_clause"}
HINTS = {"with_capacity", "reserve", "reserve_exact", "shrink_to", "prefetch"}
TESTING = re.compile(r"#\[cfg\((.*\btest\b|.*\bloom\b)|#\[test\]")
STATEMENTS = {"call_expression", "try_expression", "await_expression", "assignment_expression"}
STATEMENTS |= {"compound_assignment_expr", "return_expression"}


@dataclass(frozen=True)
class Mutant:
    """A change: in a function of a file, one text in place of another."""

    file: str
    function: str
    change: str
    count: int
    """How many like it stand before it in the function."""
    line: int
    start: int
    end: int
    text: str
    """What stands in place of these bytes; a statement that is left out has none."""

    @property
    def name(self) -> str:
        """The name in the ledger, which does not depend on lines."""
        again = f" ({self.count + 1})" if self.count else ""
        return f"{self.file}: {self.function}: {self.change}{again}"


@dataclass
class Finder:
    """The mutants of a file."""

    file: str
    source: bytes
    mutants: list[Mutant] = field(default_factory=list)
    like: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(self, node: Node, function: str, change: str, text: str) -> None:
        count = self.like[function, change]
        self.like[function, change] += 1
        line, start, end = node.start_point[0] + 1, node.start_byte, node.end_byte
        self.mutants.append(Mutant(self.file, function, change, count, line, start, end, text))

    def visit(self, node: Node, names: tuple[str, ...]) -> None:
        """Find the mutants of a node and all below it, in a function by its names."""
        if node.type in NEITHER or node.type.endswith(("_pattern", "_type")) or hint(node):
            if node.type == "match_pattern" and (guard := node.child_by_field_name("condition")):
                self.visit(guard, names)
            return
        if node.type == "function_item":
            words = next((one for one in node.children if one.type == "function_modifiers"), None)
            name = said(node.child_by_field_name("name"))
            if name == "fmt" or (words is not None and "const" in said(words).split()):
                return
            names = (*names, name)
        elif node.type == "impl_item":
            names = (said(node.child_by_field_name("type")).partition("<")[0],)
        elif node.type == "trait_item":
            names = (said(node.child_by_field_name("name")),)
        if len(names) > 0:
            for change, text in changes(node):
                self.add(node, "::".join(names), change, text)
        skipped, testing = untouched(node), False
        for child in node.children:
            if child.type == "attribute_item":
                testing = testing or bool(TESTING.match(said(child)))
            elif child.is_named and child.type not in ("line_comment", "block_comment"):
                if not testing and child.id not in skipped:
                    self.visit(child, names)
                testing = False


def said(node: Node | None) -> str:
    return "" if node is None else (node.text or b"").decode()


def short(node: Node | None) -> str:
    """The text of an expression on one line of at most 32 letters."""
    text = " ".join(said(node).split())
    return text if len(text) <= 32 else f"{text[:20]}..{text[-10:]}"


def hint(node: Node) -> bool:
    """Whether a call only sets a capacity, or only fetches memory."""
    return node.type == "call_expression" and (
        re.split(r"::|\.", said(node.child_by_field_name("function")))[-1] in HINTS
    )


def leaves_out(node: Node) -> bool:
    """Whether a mutant leaves out a statement."""
    return node.type in STATEMENTS and not hint(node)


def untouched(node: Node) -> set[int]:
    """Children that are no expressions, or that the compiler evaluates."""
    names = {
        "let_declaration": ("pattern", "type"),
        "let_condition": ("pattern",),
        "for_expression": ("pattern",),
        "array_expression": ("length",),
        "field_expression": ("field",),
        "type_cast_expression": ("type",),
        "field_initializer": ("field",),
    }.get(node.type, ())
    return {child.id for name in names if (child := node.child_by_field_name(name)) is not None}


def changes(node: Node) -> Iterator[tuple[str, str]]:
    """What may stand in place of a node: words for people, and the text."""
    part = node.child_by_field_name
    match node.type:
        case "binary_expression":
            left, sign, right = part("left"), said(part("operator")), part("right")
            for other in OPERATORS[sign]:
                words = f"{short(left)} {sign} {short(right)} -> {other}"
                yield words, f"({said(left)}) {other} ({said(right)})"
        case "compound_assignment_expr" if (sign := said(part("operator"))[:-1]) in OPERATORS:
            left, right, other = part("left"), part("right"), OPERATORS[sign][0]
            yield (
                f"{short(left)} {sign}= {short(right)} -> {other}=",
                f"{said(left)} {other}= {said(right)}",
            )
        case "unary_expression" if (text := said(node))[0] in "!-":
            yield f"{short(node)} -> without {text[0]}", text[1:]
        case "integer_literal" if len(text := said(node)) < 11:
            yield f"{text} -> {text} + 1", f"{text} + 1"
        case "float_literal":
            yield f"{(text := said(node))} -> {text} + 1.0", f"{text} + 1.0"
        case "boolean_literal":
            text = "false" if said(node) == "true" else "true"
            yield f"{said(node)} -> {text}", text
        case "call_expression" if (function := part("function")).type == "field_expression":
            value, name = function.child_by_field_name("value"), said(function.named_children[-1])
            arguments = said(part("arguments"))
            if name in OTHER:
                yield f"{short(node)} -> {OTHER[name]}", f"{said(value)}.{OTHER[name]}{arguments}"
            elif name in ("is_empty", "contains", "contains_key"):
                yield f"{short(node)} -> !", f"!{said(node)}"
            elif name == "div_ceil":
                yield f"{short(node)} -> /", f"({said(value)}) / {arguments}"
        case "if_expression" | "while_expression" if said(test := part("condition")) != "true":
            simple = "let" not in test.type
            if simple and test.type not in ("binary_expression", "unary_expression"):
                yield f"if {short(test)} -> if !", f"\0{test.start_byte}:{test.end_byte}"
        case "expression_statement" if leaves_out(first := node.named_children[0]):
            if said(node).endswith(";"):
                yield f"{short(first)}; -> (none)", ""
        case "expression_statement" if said(node) == "break;":
            yield "break -> continue", "continue;"


def mutants(file: str, source: bytes) -> list[Mutant]:
    """All mutants of a file."""
    finder = Finder(file, source)
    finder.visit(PARSER.parse(source).root_node, ())
    found = []
    for one in finder.mutants:
        if one.text.startswith("\0"):  # a condition: the test itself becomes its opposite
            start, end = map(int, one.text[1:].split(":"))
            text = f"!({source[start:end].decode()})"
            one = Mutant(one.file, one.function, one.change, one.count, one.line, start, end, text)
        found.append(one)
    return found


def planted(
    source: bytes, chosen: Mapping[int, Mutant]
) -> tuple[bytes, list[tuple[int, int, int]]]:
    """A file with switches, and the bytes there of each mutant."""
    order = sorted(chosen.items(), key=lambda one: (one[1].start, -one[1].end, one[0]))
    regions: list[tuple[int, int, int]] = []
    out = bytearray()

    def copy(start: int, end: int, inner: list[tuple[int, Mutant]]) -> None:
        place = start
        while inner:
            number, mutant = inner[0]
            within = [one for one in inner[1:] if one[1].end <= mutant.end]
            inner = inner[1 + len(within) :]
            out.extend(source[place : mutant.start])
            begin = len(out)
            statement = source[mutant.end - 1 : mutant.end] == b";"
            if statement:
                out.extend(f"if ::mutant::on({number}) {{ {mutant.text} }} else {{ ".encode())
            else:
                out.extend(f"(if ::mutant::on({number}) {{ {mutant.text} }} else {{ ".encode())
            copy(mutant.start, mutant.end, within)
            out.extend(b" }" if statement else b" })")
            regions.append((begin, len(out), number))
            place = mutant.end
        out.extend(source[place:end])

    copy(0, len(source), order)
    return bytes(out), regions


def culprits(regions: Iterable[tuple[int, int, int]], start: int, end: int) -> list[int]:
    """The innermost mutant around a place in a planted file."""
    around = [one for one in regions if one[0] <= start and end <= one[1]]
    return [min(around, key=lambda one: one[1] - one[0])[2]] if around else []
