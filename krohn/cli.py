"""The ``krohn`` command: arguments in, text or JSON out, exit code 0, 1 or 2."""

import os
import sys
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from inspect import getdoc
from typing import Annotated

import typer

import krohn
from krohn.algebra.errors import KrohnError
from krohn.algebra.formats import SUFFIXES
from krohn.commands.command import Command, Group, UsageError, split_docstring
from krohn.commands.options import CANNOT, DONE, json_line
from krohn.program.extras import name_missing_extra
from krohn.program.quoting import on_a_line
from krohn.program.slices import find, slice_sources, slices
from krohn.program.wording import in_a_command

QUIET = "-q"
INTERRUPTED = 130  # what typer makes of Ctrl-C

OWN = {
    "zoo": "krohn.commands.explain:zoo",
    "explain": "krohn.commands.explain:explain",
    "decompose": "krohn.commands.explain:decompose",
    "compile": "krohn.commands.compile:compile",
    "verify": "krohn.commands.verify:verify",
    "recheck": "krohn.commands.verify:recheck",
    "run": "krohn.commands.run:run",
    "draw": "krohn.commands.draw:draw",
    "schema": "krohn.commands.explain:schema",
}
"""The commands that are no slice's."""
FORMS = {
    "compile": "krohn.commands.compile:CompileCommand",
    "run": "krohn.commands.run:BareExpect",
}
"""The classes of commands that read their arguments in another way."""
FIRST = ("compile", "verify", "compare")
"""What people come for; the others follow by their names."""


def commands() -> dict[str, str]:
    """The function of each command, in the order of ``--help``."""
    known = {n: f for each in slices().values() for n, f in each.commands.items()} | OWN
    first = [name for name in FIRST if name in known]
    return {name: known[name] for name in [*first, *sorted(known.keys() - {*first})]}


def _help() -> str:
    """The text above the list of commands."""
    ends = sorted({end for source in slice_sources().values() for end in source.ends})
    return (
        "Compile finite machines, and other sources by name, to neural networks, and prove "
        "that they compute them.\n\n"
        "MACHINE is a name (see `krohn zoo`), a file, regex:PATTERN or formal:EXPRESSION. "
        f"Files of machines: {' '.join(SUFFIXES)}, or a model file for the machine that it "
        f"states; of other sources: {' '.join(ends)}. "
        "Exit codes: 0 done or verified, 1 refuted, 2 cannot."
    )


@cache
def application(only: str = "") -> typer.Typer:
    """The command line; with one command, if ``only`` is its name."""
    known = commands()
    app = typer.Typer(
        name="krohn",
        cls=Group,
        help=_help(),
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    for name in [only] if only in known else known:
        form = find(FORMS[name]) if name in FORMS else Command
        function = find(known[name])
        text, examples = split_docstring(getdoc(function) or "")
        app.command(name, cls=form, help=text, epilog=examples)(function)
    app.callback()(everywhere)
    return app


def _version(wanted: bool) -> None:
    if wanted:
        print(f"krohn {krohn.__version__}")
        raise typer.Exit


def everywhere(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            is_eager=True,
            callback=_version,
            help="Print the version, and no more.",
        ),
    ] = False,
    quiet: Annotated[
        bool,
        typer.Option(
            QUIET,
            help="Print errors only, and what --json asks for; see the exit code.",
        ),
    ] = False,
) -> None:
    """Apply the options that every command has."""
    if quiet:
        nowhere = context.with_resource(open(os.devnull, "w"))  # noqa: SIM115
        context.with_resource(redirect_stderr(nowhere))
        if "--json" not in context.obj:
            context.with_resource(redirect_stdout(nowhere))


def run(arguments: list[str]) -> int:
    """The command with its arguments; returns the exit code.

    Every problem is one line on standard error, and exit code 2; 1 if a file makes another
    claim than was asked for.
    """
    with in_a_command():
        return _run(arguments, "--json" in arguments)


def _run(arguments: list[str], wants_json: bool) -> int:
    try:
        # What was asked for is kept for commands that say how to ask again.
        asked = _quiet_first(arguments) or ["--help"]
        only = next((a for a in asked if not a.startswith("-")), "")
        words = " ".join(asked).replace("=", " ").split()
        with name_missing_extra(f"krohn {only}", words=words):
            # A command is imported only if it is the one that was asked for.
            app = application(only)
            code = app(asked, "krohn", standalone_mode=False, obj=arguments)
    except (typer.Abort, KeyboardInterrupt):
        return _cannot("interrupted; nothing was written", wants_json)
    except UsageError as error:
        whose = (
            "krohn"
            if error.ctx is None or error.ctx.parent is None
            else f"krohn {only}"
        )
        why = f"{error.format_message()} (see `{whose} --help`)"
        return _cannot(why, wants_json)
    except KrohnError as error:
        return _cannot(str(error), wants_json, getattr(error, "exit_code", CANNOT))
    except (BrokenPipeError, SystemExit) as left:  # typer leaves by the latter
        if getattr(left, "code", 1) in (None, DONE):
            return DONE
        # The reader has gone; there is nobody to tell.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return CANNOT
    except MemoryError:
        return _cannot(
            "out of memory; ask for shorter words, fewer of them at once, or a smaller "
            "network, as --minimise parameters and --arch rnn give it",
            wants_json,
        )
    except OSError as error:
        return _cannot(
            f"{error.filename or 'input/output'}: {error.strerror}", wants_json
        )
    if code == INTERRUPTED:
        return _cannot("interrupted; nothing was written", wants_json)
    return code if isinstance(code, int) else DONE


def _quiet_first(arguments: list[str]) -> list[str]:
    """The arguments with ``-q``, which is of all commands, before the command."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    own = [a for a in arguments[:end] if a != QUIET]
    return [QUIET] * (len(own) < end) + own + arguments[end:]


def _cannot(message: str, wants_json: bool, code: int = CANNOT) -> int:
    line = on_a_line(" ".join(message.split()))
    if wants_json:
        print(json_line("error", {"error": line}))
    print(f"krohn: {line}", file=sys.stderr)
    return code
