"""Boolean formulas: reading them, and their values."""

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from krohn.algebra.errors import KrohnError


class FormulaError(KrohnError):
    """A formula cannot be read or is too large."""


@dataclass(frozen=True)
class Variable:
    """The value of an input."""

    name: str


@dataclass(frozen=True)
class Constant:
    """Always true, or always false."""

    value: bool


@dataclass(frozen=True)
class Not:
    """True where its argument is false."""

    argument: "Formula"


@dataclass(frozen=True)
class And:
    """True where both arguments are."""

    left: "Formula"
    right: "Formula"


@dataclass(frozen=True)
class Xor:
    """True where exactly one argument is."""

    left: "Formula"
    right: "Formula"


Formula = Variable | Constant | Not | And | Xor


def parse(text: str) -> Formula:
    """The formula of a text like ``a & ~b | (c ^ d)``.

    ``~`` binds tightest, then ``&``, ``^`` and ``|``, as in Python, whose ``not``,
    ``and`` and ``or`` may be written as well. ``True`` and ``False`` are constants,
    other names are inputs. ``x | y`` is read as ``~(~x & ~y)``; chains of one gate
    become balanced trees.

    Raises:
        FormulaError: If this is no such formula.
    """
    try:
        return _formula(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise FormulaError(
            f"{text!r} is no formula; write names, ~, &, ^, | and brackets"
        ) from error


def variables(formula: Formula) -> tuple[str, ...]:
    """The inputs of a formula in the order in which they occur first."""
    match formula:
        case Variable(name):
            return (name,)
        case Constant():
            return ()
        case Not(argument):
            return variables(argument)
        case And(left, right) | Xor(left, right):
            return tuple(dict.fromkeys(variables(left) + variables(right)))


def evaluate(formula: Formula, assignment: Mapping[str, bool]) -> bool:
    """The value of a formula.

    Raises:
        FormulaError: If the assignment lacks an input.
    """
    match formula:
        case Variable(name):
            return value_of(name, assignment)
        case Constant(value):
            return value
        case Not(argument):
            return not evaluate(argument, assignment)
        case And(left, right):
            return evaluate(left, assignment) and evaluate(right, assignment)
        case Xor(left, right):
            return evaluate(left, assignment) != evaluate(right, assignment)


def depth(formula: Formula) -> int:
    """How many AND gates lie on a path at most; an XOR is made of three, two deep."""
    match formula:
        case Variable() | Constant():
            return 0
        case Not(argument):
            return depth(argument)
        case And(left, right):
            return 1 + max(depth(left), depth(right))
        case Xor(left, right):
            return 2 + max(depth(left), depth(right))


def value_of(name: str, assignment: Mapping[str, bool]) -> bool:
    """The value of an input.

    Raises:
        FormulaError: If the assignment lacks it.
    """
    if name not in assignment:
        raise FormulaError(f"give a value to {name!r}")
    return bool(assignment[name])


def _formula(node: ast.expr) -> Formula:
    match node:
        case ast.Name(id=name):
            return Variable(name)
        case ast.Constant(value=bool() as value):
            return Constant(value)
        case ast.UnaryOp(op=ast.Invert() | ast.Not(), operand=argument):
            return Not(_formula(argument))
        case ast.BinOp(op=op) if type(op) in _GATES:
            return _folded(_GATES[type(op)], _operands(node, type(op)))
        case ast.BoolOp(op=op, values=values):
            return _folded(_GATES[type(op)], [_formula(value) for value in values])
    raise ValueError


def _operands(node: ast.expr, gate: type[ast.operator]) -> list[Formula]:
    """The arguments of a chain like ``a & b & c``, which Python nests to the left."""
    found = []
    while isinstance(node, ast.BinOp) and type(node.op) is gate:
        found.append(_formula(node.right))
        node = node.left
    return [_formula(node), *reversed(found)]


def _or(left: Formula, right: Formula) -> Formula:
    return Not(And(Not(left), Not(right)))


_Gate = Callable[[Formula, Formula], Formula]
_GATES: dict[type[ast.AST], _Gate] = {
    ast.BitAnd: And,
    ast.And: And,
    ast.BitOr: _or,
    ast.Or: _or,
    ast.BitXor: Xor,
}


def _folded(gate: _Gate, arguments: list[Formula]) -> Formula:
    """A gate of many arguments as a balanced tree."""
    if len(arguments) == 1:
        return arguments[0]
    half = len(arguments) // 2
    return gate(_folded(gate, arguments[:half]), _folded(gate, arguments[half:]))
