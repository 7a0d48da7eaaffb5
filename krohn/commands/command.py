"""How a command reads its arguments, and what its ``--help`` prints."""

from inspect import cleandoc
from textwrap import indent
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from krohn.commands.coercion import read_plain_values

# typer brings its own copy of click or uses the installed one; this is right for both.
UsageError: Any = typer.BadParameter.__bases__[0]

EXAMPLES = "Examples"


def split_docstring(text: str) -> tuple[str, str]:
    """The description in a docstring, and its examples, a command on each line."""
    description, _, examples = text.partition(f"\n\n{EXAMPLES}:\n")
    return description, examples


class Command(TyperCommand):
    """A command that names all that is missing, and prints its options in groups."""

    def get_params(self, ctx: Any) -> Any:
        """Its parameters, ``--help`` among them."""
        return read_plain_values(super().get_params(ctx))

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


class Group(TyperGroup):
    """The commands, with the options that all of them have."""

    def get_params(self, ctx: Any) -> Any:
        """Its parameters, ``--help`` among them."""
        return read_plain_values(super().get_params(ctx))

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
