"""Messages name parameters of Python; in a command they name its options.

They are written with the options of the command, which tell best where they are used: at
the end of the message only the command knows who asks.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import ROUND_CEILING, ROUND_FLOOR, Context

SPELLED = {
    "length": "-T",
    "read_as": "--as",
    "expect_own": "--expect",
    "word": "a word",
}
"""Options that are not called like their parameter."""

PARAMETERS = {option: name for name, option in SPELLED.items()}
SWITCHES = ("strict", "uniform", "states", "proof", "every_start", "eggbox")
"""Parameters that are True or False."""
NAMES = (
    "float64|float32|float16|bfloat16|rnn|lstm|gru|ssm|outputs|accept|sink|stay|mealy|"
    "acceptor|balanced|circle|dyadic|relu|sine|gelu|linear|sparse|standard|depth|layers|"
    "auto|pruned|symmetric|transformer|binary|quadratic"
)
"""Values that messages say of options."""
OPTION = re.compile(
    r"`[^`]*`|(?P<leave>\bleave )?(?<![\w-])(?P<option>-T|--[a-z][a-z-]*)(?![\w-])"
    rf"(?: (?:(?P<name>{NAMES})\b(?!-)|(?P<value>[A-Z]\b|\d[\d.]*\d|\d)))?"
)
"""A command, which stays as it is, or an option with what may follow it."""

_commands = 0
"""How many commands are running in this process."""


@contextmanager
def in_a_command() -> Iterator[None]:
    """Leave options in messages as they are: who reads them has typed some."""
    global _commands
    _commands += 1
    try:
        yield
    finally:
        _commands -= 1


def message_for_user(message: str) -> str:
    """A message that names options in a command, and parameters of Python elsewhere."""
    return message if _commands else in_python(message)


def in_python(message: str) -> str:
    """A message with the parameters of the options that it names."""
    return OPTION.sub(_parameter, message)


def _parameter(found: re.Match[str]) -> str:
    option, leave = found["option"], found["leave"] or ""
    if option is None:
        return found[0]
    name = PARAMETERS.get(option, option.lstrip("-").replace("-", "_"))
    value = repr(found["name"]) if found["name"] else found["value"] or ""
    if name in SWITCHES and not leave and not value:
        value = "True"
    return f"{leave}{name}={value}"


def at_most(bound: float, digits: int = 3) -> str:
    """A bound as it is written, in so many digits, rounded up: ``1.24`` for 1.2341."""
    return _round_bound(bound, digits, ROUND_CEILING)


def at_least(bound: float, digits: int = 3) -> str:
    """A bound from below, rounded down: ``1.23`` for 1.2341."""
    return _round_bound(bound, digits, ROUND_FLOOR)


def _round_bound(bound: float, digits: int, way: str) -> str:
    there = Context(prec=digits, rounding=way)
    return f"{float(there.create_decimal(repr(float(bound)))):.{digits}g}"
