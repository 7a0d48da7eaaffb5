"""Sequence functions as text: a channel a line, with the operators and calls of Python.

    letters a b
    x = token()
    output prefix_sum(x == "a") > prefix_sum(x == "b")

An expression is parsed by Python's own parser and then read node by node: nothing in it is
run, and it can name nothing but channels, constants and the calls of `CALLS`.
"""

import ast
import operator
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from krohn.kinds.sequence_functions.source_builder import (
    Channel,
    SequenceFunction,
)
from krohn.kinds.sequence_functions.source_realisation import ProgramError

MOST_CHARACTERS, MOST_LINES = 2_000, 10_000
"""Of a line, and of a text."""
CALLS = (
    *("token", "position", "map", "sum", "gate", "where", "select", "shift", "latest"),
    *("earliest", "latest_match", "at", "prefix_sum", "final", "match_anywhere"),
    *("at_anywhere", "best", "mean"),
)
"""The methods of `SequenceFunction` that a text may call."""
OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.Invert: operator.invert,
    ast.USub: operator.neg,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


def parse(text: str, file: str) -> SequenceFunction:
    """The sequence function of a text.

    The first line is ``letters`` and their names; then ``NAME = EXPRESSION`` for each
    channel, and ``output EXPRESSION, …`` at the end. ``#`` begins a remark. The function of
    a ``map`` is a table: ``map(x, {"a": 1, "b": 0})``, of several channels with tuples.

    Args:
        text: The lines.
        file: The name of its file; the function has it without the suffix.

    Raises:
        ProgramError: If a line is wrong; the message names it.
    """
    lines = text.splitlines()
    if len(lines) > MOST_LINES:
        raise ProgramError(f"{file} has more than {MOST_LINES} lines")
    numbered_lines = [(i, _bare(line)) for i, line in enumerate(lines, 1)]
    first, *rest = [line for line in numbered_lines if line[1]] or [(1, "")]
    letters = first[1].split()
    if letters[:1] != ["letters"] or not letters[1:]:
        raise ProgramError(f"{file}:{first[0]}: a program begins with: letters a b …")
    if len(set(letters)) < len(letters):
        raise ProgramError(f"{file}:{first[0]}: a letter is there twice")
    reader = _Reader(SequenceFunction(tuple(letters[1:]), Path(file).stem))
    for number, line in rest:
        reader.read(f"{file}:{number}", line)
    if not reader.function.outputs:
        raise ProgramError(f"{file} has no output; end it with: output CHANNEL")
    reader.function.place = None
    return reader.function


class _Reader:
    """The reader of a function's text, line by line.

    Attributes:
        function: The function in the making.
        channels: By the names of the text.
    """

    def __init__(self, function: SequenceFunction) -> None:
        self.function = function
        self.channels: dict[str, Channel] = {}

    def read(self, place: str, line: str) -> None:
        """A line."""
        self.function.place = place
        try:
            self._read(line)
        except ProgramError as error:
            reason = str(error).removeprefix(f"{place}: ")
            raise ProgramError(f"{place}: {reason}") from None
        except (TypeError, OverflowError) as error:
            reason = str(error).replace("SequenceFunction.", "")
            raise ProgramError(f"{place}: {reason}") from None
        except RecursionError:
            raise ProgramError(f"{place}: the line is nested too deeply") from None

    def _read(self, line: str) -> None:
        if self.function.outputs:
            raise ProgramError("nothing may follow the output")
        if line.split()[0] == "output":
            value = self.value(_parse_expression(line.removeprefix("output").strip()))
            each = value if isinstance(value, tuple) else (value,)
            self.function.output(*map(_channel, each))
            return
        name, equals, expression = (part.strip() for part in line.partition("="))
        if not equals or not name.isidentifier():
            raise ProgramError(
                "a line is NAME = EXPRESSION, or output EXPRESSION; "
                f"{line[:40]!r} is neither"
            )
        if name in self.channels or name in CALLS:
            raise ProgramError(f"{name!r} has a meaning already")
        channel = _channel(self.value(_parse_expression(expression)))
        self.channels[name] = self.function.named(name, channel)

    def value(self, node: ast.AST) -> Any:
        """A channel, a constant, a tuple or a table."""
        match node:
            case ast.Constant(constant) if type(constant) in (int, str, float):
                return constant
            case ast.Name(name) if name in self.channels:
                return self.channels[name]
            case ast.Name(name):
                known = ", ".join(self.channels) or "none yet"
                raise ProgramError(
                    f"there is no channel {name!r} (there are: {known}); "
                    "letters stand in quotes"
                )
            case ast.Tuple(items):
                return tuple(map(self.value, items))
            case ast.Dict(keys, values) if None not in keys:
                return {
                    self.value(k): self.value(v)
                    for k, v in zip(keys, values, strict=True)
                    if k is not None
                }
            case ast.BinOp(left, sign, right) if type(sign) in OPERATORS:
                return self._operate(sign, left, right)
            case ast.Compare(left, [sign], [right]) if type(sign) in OPERATORS:
                return self._operate(sign, left, right)
            case ast.UnaryOp(sign, operand) if type(sign) in OPERATORS:
                return self._operate(sign, operand)
            case ast.Call(ast.Name(name), arguments, keywords):
                return self._call(name, arguments, keywords)
        raise ProgramError(
            f"{ast.unparse(node)[:60]!r} is no part of a program; there are +, -, &, |, ~, "
            f"comparisons of two, and {', '.join(CALLS)}"
        )

    def _operate(self, sign: ast.AST, *operands: ast.AST) -> Any:
        """The value of an operator on channels and constants."""
        values = [self.value(each) for each in operands]
        return OPERATORS[type(sign)](*values)

    def _call(
        self, name: str, arguments: Sequence[ast.AST], keywords: Sequence[ast.keyword]
    ) -> Channel:
        """The value of a call."""
        if name not in CALLS:
            raise ProgramError(f"there is no {name!r}; there are {', '.join(CALLS)}")
        values = [self.value(each) for each in arguments]
        options = {str(k.arg): self.value(k.value) for k in keywords}
        if name == "map":
            *channels, table = values or [None]
            values = [
                _build_table_function(table, len(channels)),
                *map(_channel, channels),
            ]
        channel: Channel = getattr(self.function, name)(*values, **options)
        return channel


def _bare(line: str) -> str:
    """A line without its remark; a # in quotes is a letter."""
    quote = ""
    for i, character in enumerate(line):
        if character == "#" and not quote:
            return line[:i].strip()
        if character in "\"'" and quote in ("", character):
            quote = "" if quote else character
    return line.strip()


def _parse_expression(expression: str) -> ast.AST:
    """The tree of an expression.

    Raises:
        ProgramError: If it is none.
    """
    if len(expression) > MOST_CHARACTERS:
        raise ProgramError(f"the line has more than {MOST_CHARACTERS} characters")
    try:
        return ast.parse(expression, mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise ProgramError(f"{expression[:60]!r} is no expression") from None


def _channel(value: Any) -> Channel:
    if not isinstance(value, Channel):
        raise ProgramError(f"{value!r} is no channel")
    return value


def _build_table_function(table: Any, count: int) -> Callable[..., Any]:
    """A table as a function of the values of so many channels."""
    if not isinstance(table, dict):
        raise ProgramError('a map ends with its table: map(x, {"a": 1, "b": 0})')

    def function(*values: Any) -> Any:
        key = values[0] if count == 1 else values
        if key not in table:
            raise ProgramError(
                f"the table has no row for {key!r}; bos=… says what the value is before "
                "the first letter"
            )
        return table[key]

    return function
