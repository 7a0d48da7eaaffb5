"""Plain values of options are read as typer reads them, and the others by typer."""

import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.core import TyperCommand
from typer.testing import CliRunner

from krohn.commands.command import Command

TEXTS = (
    *(
        "7",
        "-3",
        "+7",
        " 7",
        "7.0",
        "1_0",
        "9" * 30,
        "٣",
        "0x10",
        "",
        "on",
        "nan",
        "-inf",
    ),
    *("1e-3", ".5", "5.", "1e400", ".", "/", "no/file", "-"),
)


def read(cls: type[TyperCommand], kind: Any, text: str, **how: Any) -> tuple[str, str]:
    """What a command is given for its argument, and what it prints."""
    app = typer.Typer(pretty_exceptions_enable=False, rich_markup_mode=None)
    seen = []

    @app.command(cls=cls)
    def command(value: kind = typer.Option(None, **how)) -> None:  # noqa: B008
        seen.append(value)

    done = CliRunner().invoke(app, [f"--value={text}"])
    return repr(seen), done.output


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("kind", "how"),
    [
        *((kind, {}) for kind in (str, int, float, bool | None, Path, list[str])),
        *((int, {"min": 1}), (float, {"max": 2.0}), (int, {"max": 9, "clamp": True})),
        *(
            (Path, {"exists": True}),
            (Path, {"dir_okay": False}),
            (str, {"parser": len}),
        ),
    ],
)
def test_values_are_those_of_typer(kind: Any, how: dict[str, Any]) -> None:
    for text in TEXTS:
        seen, printed = read(Command, kind, text, **how)
        wanted, refusal = read(TyperCommand, kind, text, **how)
        assert (seen, bool(printed)) == (wanted, bool(refusal))


def test_plain_values_need_no_pydantic(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(
        sys.modules, "typer._adapters", None
    )  # so it cannot be imported
    for kind, text in ((int, "7"), (float, "1e-3"), (str, ""), (Path, "no/file")):
        shown, printed = read(Command, kind, text)
        assert (shown, printed) == (repr([kind(text)]), "")
