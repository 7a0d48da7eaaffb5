"""Messages to callers in Python name parameters, where the command names options."""

import re
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from krohn.option_rules import SPELLED
from program.errors import KrohnError

P = ParamSpec("P")
R = TypeVar("R")

PARAMETERS = {option: name for name, option in SPELLED.items()}
"""The parameters of options that are not called like them."""
OPTION = re.compile(
    r"`[^`]*`|(?<![\w-])(?P<option>-T|--[a-z][a-z-]*)"
    r"(?: (?P<value>[A-Z]\b|float64|\d[\d.]*\d|\d))?"
)
"""A command, which stays as it is, or an option with what may follow it."""


def in_python(message: str) -> str:
    """A message with the parameters of the options that it names."""
    return OPTION.sub(_parameter, message)


def _parameter(found: re.Match[str]) -> str:
    option, value = found["option"], found["value"]
    if option is None:
        return found[0]
    name = PARAMETERS.get(option, option.lstrip("-").replace("-", "_"))
    shown = repr(value) if value == "float64" else value or ""
    return f"{name}={shown}"


def for_python(function: Callable[P, R]) -> Callable[P, R]:
    """A function whose errors name its parameters."""

    @wraps(function)
    def called(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except KrohnError as error:
            error.args = tuple(
                in_python(x) if isinstance(x, str) else x for x in error.args
            )
            raise

    return called
