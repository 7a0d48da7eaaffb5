"""Fixtures that tests of the commands share."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import chdir, redirect_stdout
from importlib import import_module
from io import StringIO
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import pytest
from command import Command
from slices_here import here

from krohn import cli, commands
from krohn.commands.options import emit
from krohn.program.slices import slices

Call = Callable[..., tuple[int, Any]]


@pytest.fixture(autouse=True, scope="session")
def text_beside_json() -> Iterator[None]:
    """Every result that a test asks for as JSON is printed as text, too, into nothing."""

    def both(
        schema: str, result: Mapping[str, Any], as_json: bool, text: Callable[[], None]
    ) -> None:
        emit(schema, result, as_json, text)
        if as_json:
            with redirect_stdout(StringIO()):
                text()

    core = [m.name for m in iter_modules(commands.__path__, f"{commands.__name__}.")]
    brought = [x for s in slices().values() for x in s.commands.values()]
    with pytest.MonkeyPatch.context() as patch:
        for name in {*core, *(place.partition(":")[0] for place in brought)}:
            module = import_module(name)
            if getattr(module, "emit", None) is emit:
                patch.setattr(module, "emit", both)
        yield


@pytest.fixture(autouse=True, scope="session")
def programs_of_cards_run_here() -> Iterator[None]:
    """Programs of model cards run in this process, as libraries take long to import."""

    def run_program(program: str, place: Path) -> str:
        out = StringIO()
        with chdir(place), redirect_stdout(out):
            exec(compile(program, "README.md", "exec"), {"__name__": "__main__"})
        return out.getvalue()

    with pytest.MonkeyPatch.context() as patch:
        if here("architectures.exports"):
            patch.setattr(
                "krohn.architectures.exports.commands_card.run_program", run_program
            )
        yield


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    """Run the command with --json: its exit code and what it printed."""

    def run(*arguments: object) -> tuple[int, Any]:
        code = cli.run([*map(str, arguments), "--json"])
        (line,) = capsys.readouterr().out.splitlines()
        return code, json.loads(line)

    return run


@pytest.fixture
def compared(capsys: pytest.CaptureFixture[str]) -> Command:
    """`krohn compare`: its exit code, and what it printed."""

    def run(*arguments: object) -> tuple[int, str, str]:
        code = cli.run(["compare", *map(str, arguments)])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run
