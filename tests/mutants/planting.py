"""A module's mutants, each behind a switch: ``a < b`` becomes
``a <= b if __mutant__(7) else a < b``.

Only function and lambda bodies have mutants: code that runs once at import has run before a switch
is on. Exception texts have no mutants.
"""

from __future__ import annotations

import ast
import builtins
from copy import deepcopy
from dataclasses import dataclass
from importlib.machinery import SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import types
    from collections.abc import Iterator, Sequence
    from importlib.machinery import ModuleSpec

SWITCH = "__mutant__"

COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
}
NAMES = {"min": "max", "max": "min", "any": "all", "all": "any", "low": "high", "high": "low"}
"""Functions and attributes that are taken for each other."""


@dataclass(frozen=True)
class Mutant:
    """A change: in a module's function, one expression in place of another."""

    module: str
    function: str
    before: str
    after: str
    count: int
    """How many like it stand before it in the function."""
    line: int

    @property
    def name(self) -> str:
        """The name in the ledger, which does not depend on lines."""
        again = f" ({self.count + 1})" if self.count else ""
        return f"{self.module}: {self.function}: {self.before} -> {self.after}{again}"


class Switch:
    """Which mutant is on, and which have been reached."""

    def __init__(self) -> None:
        self.on = -1
        self.reached: set[int] = set()

    def __call__(self, number: int) -> bool:
        self.reached.add(number)
        return number == self.on


class Planter(ast.NodeTransformer):
    """Puts switches into a module."""

    def __init__(self, module: str, mutants: list[Mutant]) -> None:
        self.module, self.mutants = module, mutants
        self.functions: list[str] = []
        self.depth = 0

    def switched(self, node: ast.expr, pristine: ast.expr, others: Iterator[ast.expr]) -> ast.expr:
        """The expression, or another one for each switch."""
        for other in others:
            before, after = ast.unparse(pristine), ast.unparse(ast.fix_missing_locations(other))
            function = ".".join(self.functions) or "<module>"
            like = Mutant(self.module, function, before, after, 0, pristine.lineno)
            count = sum(
                (one.module, one.function, one.before, one.after)
                == (like.module, function, before, after)
                for one in self.mutants
            )
            test = ast.Call(ast.Name(SWITCH, ast.Load()), [ast.Constant(len(self.mutants))], [])
            self.mutants.append(
                Mutant(self.module, function, before, after, count, pristine.lineno)
            )
            node = ast.copy_location(ast.IfExp(test, other, node), pristine)
        return node

    def visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, ast.Raise | ast.pattern | ast.arguments):
            return node
        if isinstance(node, ast.FunctionDef):
            self.functions.append(node.name)
            self.depth += 1
            node.body = [self.visit(one) for one in node.body]  # type: ignore[misc]
            self.depth -= 1
            self.functions.pop()
            return node
        if isinstance(node, ast.ClassDef):
            self.functions.append(node.name)
            node.body = [self.visit(one) for one in node.body]  # type: ignore[misc]
            self.functions.pop()
            return node
        if isinstance(node, ast.AnnAssign):
            if node.value is not None:
                node.value = self.visit(node.value)  # type: ignore[assignment]
            return node
        if isinstance(node, ast.keyword) and node.arg == "strict":
            return node
        pristine = deepcopy(node)
        self.depth += isinstance(node, ast.Lambda)
        found = self.generic_visit(node)
        self.depth -= isinstance(node, ast.Lambda)
        if not self.depth:
            return found
        if (
            isinstance(found, ast.If)
            and isinstance(pristine, ast.If)
            and not negatable(pristine.test)
        ):
            opposite = ast.UnaryOp(ast.Not(), deepcopy(pristine.test))
            found.test = self.switched(found.test, pristine.test, iter([opposite]))
        if isinstance(found, ast.comprehension) and isinstance(pristine, ast.comprehension):
            pairs = zip(found.ifs, pristine.ifs, strict=True)
            found.ifs = [self.switched(one, old, iter([ast.Constant(True)])) for one, old in pairs]
        if isinstance(found, ast.expr) and isinstance(pristine, ast.expr):
            return self.switched(found, pristine, variants(pristine))
        return found


def negatable(test: ast.expr) -> bool:
    """Whether a mutant of the test itself is its opposite."""
    return (
        isinstance(test, ast.Compare)
        and isinstance(test.ops[0], ast.Eq | ast.NotEq | ast.Is | ast.IsNot | ast.In)
    ) or (isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not))


def variants(node: ast.expr) -> Iterator[ast.expr]:
    """Expressions in place of one."""
    match node:
        case ast.Compare(left, ops, comparators):
            for place, op in enumerate(ops):
                for other in COMPARISONS[type(op)][: 1 if len(ops) > 1 else None]:
                    yield ast.Compare(
                        deepcopy(left),
                        [*ops[:place], other(), *ops[place + 1 :]],
                        deepcopy(comparators),
                    )
        case ast.BoolOp(op, values):
            yield ast.BoolOp(ast.Or() if isinstance(op, ast.And) else ast.And(), deepcopy(values))
        case ast.UnaryOp(ast.Not() | ast.USub(), operand):
            yield deepcopy(operand)
        case ast.BinOp(left, op, right) if type(op) in OPERATORS and not (
            text(left) or text(right)
        ):
            yield ast.BinOp(deepcopy(left), OPERATORS[type(op)](), deepcopy(right))
        case ast.Constant(bool() as value):
            yield ast.Constant(not value)
        case ast.Constant(int() | float() as value):
            yield ast.Constant(value + 1)
        case ast.IfExp(test, body, orelse):
            yield ast.IfExp(deepcopy(test), deepcopy(orelse), deepcopy(body))
        case ast.Call(ast.Name(name), arguments, keywords) if name in ("min", "max", "any", "all"):
            yield ast.Call(
                ast.Name(NAMES[name], ast.Load()), deepcopy(arguments), deepcopy(keywords)
            )
        case ast.Attribute(value, "low" | "high" as name, ast.Load()):
            yield ast.Attribute(deepcopy(value), NAMES[name], ast.Load())


def text(node: ast.expr) -> bool:
    """Whether an expression is a literal text or list."""
    return isinstance(node, ast.JoinedStr | ast.List | ast.Tuple) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


class Mutating(SourceFileLoader):
    """Loads a module with its mutants."""

    def __init__(self, name: str, path: str, mutants: list[Mutant]) -> None:
        super().__init__(name, path)
        self.mutants = mutants

    def get_code(self, fullname: str) -> types.CodeType:
        """The code with switches, which no cache keeps."""
        tree = ast.parse(Path(self.path).read_text(encoding="utf-8"))
        tree = Planter(fullname.removeprefix("elanite."), self.mutants).visit(tree)
        return compile(ast.fix_missing_locations(tree), self.path, "exec")


class Finder:
    """Finds the modules that get mutants."""

    def __init__(self, package: Path, modules: Sequence[str]) -> None:
        self.package, self.modules = package, modules
        self.mutants: list[Mutant] = []

    def find_spec(
        self, name: str, _path: object = None, _target: object = None
    ) -> ModuleSpec | None:
        """The specification for a module that gets mutants."""
        short = name.removeprefix("elanite.")
        if short not in self.modules:
            return None
        file = source_of(self.package, short)
        folder = [str(file.parent)] if file.name == "__init__.py" else None
        loader = Mutating(name, str(file), self.mutants)
        return spec_from_file_location(name, file, loader=loader, submodule_search_locations=folder)


def source_of(package: Path, module: str) -> Path:
    """A module's file, by its name below the package."""
    path = package.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def switch() -> Switch:
    """The switch that all planted modules use."""
    found = getattr(builtins, SWITCH, None)
    if found is None:
        found = Switch()
        setattr(builtins, SWITCH, found)
    return found


def planted(source: str, module: str) -> tuple[ast.AST, list[Mutant]]:
    """A source with switches, and its mutants."""
    mutants: list[Mutant] = []
    tree = Planter(module, mutants).visit(ast.parse(source))
    return ast.fix_missing_locations(tree), mutants
