"""The options that several commands have."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from algebra.errors import KrohnError
from algebra.formats import Complete

if TYPE_CHECKING:
    from algebra.automaton import Automaton

Machine = Annotated[
    str, typer.Argument(metavar="MACHINE", help="Zoo name, file, or regex:…")
]
Json = Annotated[
    bool, typer.Option("--json", help="Print one JSON object and nothing else.")
]
Length = Annotated[int, typer.Option("-T", "--length", min=1, help="The longest word.")]
Dtype = Annotated[str, typer.Option(help="float64, float32, bfloat16 or float16.")]
Start = Annotated[
    str | None, typer.Option(metavar="STATE", help="Start state by name.")
]
Strict = Annotated[
    bool,
    typer.Option(help="Plain residuals x + f(x), one hidden layer per MLP."),
]
Activation = Annotated[
    str,
    typer.Option(
        help="relu, or sine: counters whose width does not grow with the length."
    ),
]
Uniform = Annotated[
    bool,
    typer.Option(
        "--uniform",
        help="Weights that do not depend on the length: only the positions grow with it.",
    ),
]
Minimise = Annotated[
    str,
    typer.Option(help="What to choose by: depth, width, parameters or latency."),
]
Observe = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Say what a state shows instead of the state: outputs (the machine's own), "
        "stack-top, balance, boundary, first-chair, occupant, zero, location, accept.",
    ),
]
Fill = Annotated[
    str,
    typer.Option(
        "--complete",
        metavar="HOW",
        help="Missing transitions of a file: reject, sink (a new state) or stay.",
    ),
]


Against = Annotated[
    str | None,
    typer.Option(help="The machine to hold it against (default: the file's own)."),
]


@dataclass(frozen=True)
class Wanted:
    """The machine that a model is held against, as the options say it.

    Attributes:
        machine: What names it; None for the file's own.
        start: Its start state.
        observation: What is seen of it.
        complete: What is done about missing transitions.
    """

    machine: str | None
    start: str | None
    observation: str | None
    complete: str

    def read(self) -> "Automaton | None":
        """The machine; None for the file's own.

        Raises:
            KrohnError: If there is none, or it has no such state.
        """
        from krohn.sources import read

        if self.machine is not None:
            found = read(self.machine, filled(self.complete))
            return found if self.start is None else found.with_start(self.start)
        if self.start is not None:
            raise KrohnError(
                "--start needs --machine: the file states its own start state"
            )
        return None

    def refuse(self, needed: str) -> None:
        """Refuse options that do nothing.

        Args:
            needed: The option without which they do nothing.

        Raises:
            KrohnError: If any was given.
        """
        for option in self.arguments():
            raise KrohnError(f"{option.partition('=')[0]} needs {needed}")

    def arguments(self) -> list[str]:
        """The options again, as they were given."""
        given = {
            "--machine": self.machine,
            "--start": self.start,
            "--observe": self.observation,
            "--complete": None if self.complete == "reject" else self.complete,
        }
        return [f"{option}={value}" for option, value in given.items() if value]


def filled(how: str) -> Complete:
    """What to do about missing transitions.

    Raises:
        KrohnError: If it is no such way.
    """
    if how not in ("reject", "sink", "stay"):
        raise KrohnError(f"--complete takes reject, sink or stay, not {how!r}")
    return how  # type: ignore[return-value]
