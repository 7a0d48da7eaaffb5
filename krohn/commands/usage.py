"""Mistakes in how a command is typed, in the words of Krohn and not of its library."""

import re
from collections.abc import Collection
from typing import Any

from krohn.algebra.wording import near
from krohn.commands.coercion import NUMBERS

KINDS = {int: "a whole number", float: "a number"}
EXTRA = re.compile(r"unexpected extra arguments?\S* \((.*)\)")


def explain_usage(error: Any, command: Any, context: Any, given: list[str]) -> str:
    """The reason why what was typed is no use of a command.

    Args:
        error: What the library of the command line raises.
        command: The command.
        context: Its context.
        given: What was typed after its name.
    """
    if hasattr(error, "possibilities"):
        known = [name for each in command.params for name in each.opts]
        return _no_option(error.option_name, context.info_name, known)
    if hasattr(error, "option_name"):
        takes = "takes no value" if "not take" in error.message else "needs a value"
        return f"{error.option_name} {takes}"
    if found := EXTRA.search(error.message):
        return f"{context.info_name} takes no further argument: {found[1]}"
    if number := _read_number(getattr(error, "param", None)):
        return f"{number}, not {_value(error.param, command, context, given)}"
    return str(error.format_message())


def explain_command(name: str, known: Collection[str]) -> str:
    """The reason why there is no command of a name."""
    return f"there is no command {name!r}{near(name, known)}"


def _no_option(name: str, who: str, known: Collection[str]) -> str:
    options = [each for each in known if each.startswith("-")]
    return f"{who} has no option {name}{near(name, options)}"


def _read_number(parameter: Any) -> str:
    """What an option takes, if it takes a number: its name, the kind and the range."""
    least, most, kind = _range(parameter)
    if kind is None:
        return ""
    if least is None and most is None:
        within = ""
    elif most is None:
        within = f" of {least:g} or more"
    elif least is None:
        within = f" of {most:g} or less"
    else:
        within = f" from {least:g} to {most:g}"
    option = parameter.param_type_name != "argument"
    name = "/".join(parameter.opts) if option else parameter.metavar
    return f"{name} takes {KINDS[kind]}{within}"


def _range(parameter: Any) -> tuple[Any, Any, Any]:
    """The least and the most number of an option, and its type; None for no such thing."""
    described = getattr(parameter, "type_descriptor", None)
    if described is not None:
        info, kind = described.parameter_info, described.annotation
        return info.min, info.max, kind if kind in KINDS else None
    read = getattr(parameter, "type", None)
    names = {"integer": int, "float": float}
    kind = names.get(str(getattr(read, "name", "")).removesuffix(" range"))
    return getattr(read, "min", None), getattr(read, "max", None), kind


def _value(parameter: Any, command: Any, context: Any, given: list[str]) -> str:
    """The value that was typed for an option."""
    values, *_ = command.make_parser(context).parse_args(list(given))
    value = str(values.get(parameter.name, ""))
    return value if NUMBERS[float].fullmatch(value) else repr(value)
