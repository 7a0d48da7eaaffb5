"""Replaying one word on a model beside the machine."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from krohn.algebra.automaton import Automaton, shorten
from krohn.algebra.errors import KrohnError
from krohn.program.quoting import in_shell
from krohn.verify.testing.counterexample import (
    Counterexample,
    Pair,
    Simulator,
    pair,
)
from krohn.verify.testing.simulation_result import Reading

ELSEWHERE = "replay.safetensors"
"""Where a network is written that was compiled on the way."""


@dataclass(frozen=True)
class Replay:
    """The answers of a network to a word, beside those expected.

    Attributes:
        word: The letters.
        agrees: Whether every answer that was looked at is as expected.
        position: After how many letters the answers below are: those at the first
            difference, or the last ones if there is none.
        expected: What is expected there.
        actual: What the network says.
        reading: How the network was run when it differed. It agrees only if it does so
            in both ways, at once and letter by letter.
    """

    word: tuple[str, ...]
    agrees: bool
    position: int
    expected: str
    actual: str
    reading: Reading = "at once"

    def to_object(self) -> dict[str, Any]:
        """Itself for JSON."""
        return {**asdict(self), "word": list(self.word)}


def replay(
    model: Simulator,
    machine: Automaton,
    word: Sequence[str],
    state: str | None,
    shows: Automaton | None = None,
) -> Replay:
    """Hold any network that says classes against a machine, as `Target.compare` does.

    Args:
        model: The network.
        machine: The machine.
        word: The letters by name.
        state: What is expected at the end; None for what the machine does all along.
        shows: The file's machine, whose outputs may be expected too; None if the network
            says all that there is.

    Raises:
        KrohnError: If a letter is unknown, the word is too long, or no model could give
            that answer.
    """
    letters = machine.encode(word)
    if not word:
        if state is not None:
            raise KrohnError("a network gives no answer to a word without letters")
        return along(word, None, "")
    judge = pair(model, machine, len(word))
    if state is None:
        return along(word, judge.replay(letters), judge.expected_answers(letters)[-1])
    outputs = () if shows is None or shows.output is None else shows.output.names
    if state not in {*outputs, *judge.model.classes}:
        shown = f"its outputs are {shorten(outputs)}; " if outputs else ""
        raise KrohnError(
            f"the model has no answer {state!r}; {shown}its states are "
            f"{shorten(judge.model.classes)}"
        )
    seen = shows if state in outputs else None  # as `krohn run` prints it
    return _at_the_end(judge, tuple(word), state, seen)


def along(word: Sequence[str], found: Counterexample | None, last: str) -> Replay:
    """A replay whose answers were wrong as found; the last answer if none was."""
    if found is None:
        return Replay(tuple(word), True, len(word), last, last)
    expected, actual = found.expected[found.at - 1], found.actual[found.at - 1]
    # A generator also answers before the first letter.
    position = found.at - (len(found.expected) - len(found.word))
    return Replay(tuple(word), False, position, expected, actual, found.reading)


def _at_the_end(
    judge: Pair, word: tuple[str, ...], wanted: str, shows: Automaton | None
) -> Replay:
    """The last answer, or what a machine shows of it, in both ways of reading."""
    from krohn.running import shown_along  # it loads torch

    letters = judge.machine.encode(word)
    for reading, answers in judge.answers_by_reading(letters):
        shown = answers if shows is None else shown_along(shows, letters, answers)
        if shown[-1] != wanted:
            return Replay(word, False, len(word), wanted, shown[-1], reading)
    return Replay(word, True, len(word), wanted, wanted)


def replay_command(
    file: str, word: Sequence[str], against: Sequence[str] = ()
) -> str | None:
    """The shell command that holds a model against its machine along a word.

    Args:
        file: The model file.
        word: The letters by name.
        against: Options that name the machine, if it is not the file's own.

    Returns:
        None if a letter holds what no command line can: a NUL, or half of a surrogate
        pair.
    """
    line = command_line(["krohn", "run", *against, "--expect", "--", file, *word])
    # Without a letter, words would be read from standard input.
    return line if word or line is None else f"echo | {line}"


def command_line(parts: Sequence[str]) -> str | None:
    """A shell command; None if a part holds what no command line can."""
    try:
        return " ".join(map(in_shell, parts))
    except ValueError:
        return None


def replay_elsewhere(
    file: str,
    claim: Mapping[str, Any],
    start: str,
    word: Sequence[str],
    machine: str | None = None,
) -> str | None:
    """The commands that compile a network for another start state and replay a word.

    Args:
        file: The model file, whose machine is compiled.
        claim: What `krohn compile` is to be told of the network: options and values.
        start: The start state.
        word: The letters by name.
        machine: What names the machine that it is held against, if not the file's own.
    """
    given = [
        f"{option}={value}" for option, value in claim.items() if value is not None
    ]
    made = ["krohn", "compile", *given, f"--start={start}", "--no-proof"]
    against = [] if machine is None else [f"--machine={machine}", f"--start={start}"]
    line = command_line([*made, "-o", ELSEWHERE, "--", file])
    replay = replay_command(ELSEWHERE, word, against)
    return None if line is None or replay is None else f"{line} && {replay}"
