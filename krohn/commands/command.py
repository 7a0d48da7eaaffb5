"""How a command reads its arguments, and what its ``--help`` prints."""

import re
from collections.abc import Callable
from functools import partial
from inspect import cleandoc
from textwrap import indent
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from krohn.commands.coercion import read_plain_values

# typer brings its own copy of click or uses the installed one; this is right for both.
UsageError: Any = typer.BadParameter.__bases__[0]

EXAMPLES = "Examples"
PLACEHOLDERS = {
    "int": "N",
    "integer": "N",
    "float": "X",
    "Path": "FILE",
    "path": "FILE",
}
"""What stands for a value in ``--help``, by its type, as typer and click call it, where no
option says it; else NAME."""
BOUNDS = re.compile(r"([^\s\[]+)<=x<=([^\s\];]+)|x([<>])=([^\s\];]+)")
"""How typer writes the range of a number: ``x>=1``, ``x<=8`` or ``0<=x<=8``."""


def split_docstring(text: str) -> tuple[str, str]:
    """The description in a docstring, and its examples, a command on each line."""
    description, _, examples = text.partition(f"\n\n{EXAMPLES}:\n")
    return description, examples


class Command(TyperCommand):
    """A command that names all that is missing, and prints its options in groups."""

    def get_params(self, ctx: Any) -> Any:
        """Its parameters, ``--help`` among them."""
        return _prepare(super().get_params(ctx))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments.

        Raises:
            UsageError: If they are wrong, or if some are missing, which it names.
        """
        given = list(args)  # which typer takes apart
        try:
            return super().parse_args(ctx, args)
        except UsageError as error:
            from krohn.commands.usage import explain_usage  # only who is refused pays

            bad_value = isinstance(error, typer.BadParameter)
            missing = self._name_missing(ctx, given) if bad_value else ""
            why = f"{ctx.info_name} needs {missing}" if missing else ""
            why = why or explain_usage(error, self, ctx, given)
            raise UsageError(why, ctx) from error

    def _name_missing(self, ctx: Any, args: list[str]) -> str:
        """What is required and not given, in words."""
        try:
            read = self.make_context(ctx.info_name, list(args), resilient_parsing=True)
        except UsageError:
            return ""
        typed, *_ = self.make_parser(ctx).parse_args(list(args))
        read.params |= {n: v for n, v in typed.items() if read.params.get(n) is None}
        return " and ".join(self.list_missing(read))

    def list_missing(self, ctx: Any) -> list[str]:
        """What is required and not given."""
        return [
            (each.metavar or each.name.upper())
            if each.param_type_name == "argument"
            else "/".join(each.opts)
            for each in self.get_params(ctx)
            if each.required and ctx.params.get(each.name) is None
        ]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments, then each group of options under its name.

        A group is what typer calls a help panel. It is plain text, for pipes too.
        """
        groups: dict[str, list[Any]] = {"Arguments": [], "Options": []}
        for each in self.get_params(ctx):
            if (record := each.get_help_record(ctx)) is not None:
                of_none = f"{each.param_type_name.title()}s"
                name = getattr(each, "rich_help_panel", None) or of_none
                groups.setdefault(name, []).append(record)
        for name, records in groups.items():
            if records:
                with formatter.section(name):
                    formatter.write_dl(records)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the examples as they stand."""
        if self.epilog:
            with formatter.section(EXAMPLES):
                formatter.write(indent(cleandoc(self.epilog), "  ") + "\n")


def _prepare(parameters: list[Any]) -> list[Any]:
    """Parameters that are read and described as ours are, and not as typer does it."""
    for parameter in parameters:
        if "get_help_record" not in vars(parameter):
            described = partial(_describe, parameter, parameter.get_help_record)
            parameter.get_help_record = described
    return read_plain_values(parameters)


def _describe(
    parameter: Any, describe: Callable[[Any], Any], ctx: Any
) -> tuple[str, str] | None:
    """What ``--help`` says of a parameter: how it is typed, and what it means.

    Args:
        parameter: The parameter.
        describe: What says so in the way of typer, with types of Python.
        ctx: The context of the command.
    """
    an_argument = parameter.param_type_name == "argument"
    if not an_argument and not parameter.is_flag and parameter.metavar is None:
        parameter.metavar = PLACEHOLDERS.get(_name_type(parameter), "NAME")
    if (record := describe(ctx)) is None:
        return None
    typed, text = record
    if an_argument:
        typed = parameter.metavar or parameter.name.upper()
    return typed, BOUNDS.sub(_name_range, text)


def _name_type(option: Any) -> str:
    """The type of an option, by the name that typer has for it, or click before."""
    if (described := getattr(option, "type_descriptor", None)) is not None:
        return str(getattr(described.annotation, "__name__", ""))
    return str(getattr(option.type, "name", "")).removesuffix(" range")


def _name_range(found: re.Match[str]) -> str:
    """A range of numbers in words."""
    least, most, order, bound = found.groups()
    if order is None:
        return f"{least} to {most}"
    return f"{bound} or {'more' if order == '>' else 'less'}"


class Group(TyperGroup):
    """The commands, with the options that all of them have."""

    def get_params(self, ctx: Any) -> Any:
        """Its parameters, ``--help`` among them."""
        return _prepare(super().get_params(ctx))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the options before the name of a command.

        Raises:
            UsageError: If they are wrong.
        """
        given = list(args)
        try:
            return super().parse_args(ctx, args)
        except UsageError as error:
            from krohn.commands.usage import explain_usage

            raise UsageError(explain_usage(error, self, ctx, given), ctx) from error

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command that was typed.

        Raises:
            UsageError: If there is none of that name.
        """
        if args and args[0] not in self.commands and not ctx.resilient_parsing:
            from krohn.commands.usage import explain_command

            raise UsageError(explain_command(args[0], self.commands), ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the summary of each command, on as many lines as it needs."""
        of = {
            name: (each.help or "").split("\n\n")[0]
            for name, each in self.commands.items()
        }
        with formatter.section("Commands"):
            formatter.write_dl(list(of.items()))
