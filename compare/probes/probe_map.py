"""The result of looking into a network: layers by variables, and what they are used for."""

from dataclasses import asdict, dataclass
from typing import Any

from krohn.compare.probes.interchange import Interchange
from krohn.compare.probes.scores import Score
from krohn.compare.probes.variable import Kind
from krohn.compare.probes.verdict import READ, Verdict, quality


@dataclass(frozen=True)
class Cell:
    """A variable at a layer.

    Attributes:
        trained: What a probe reads there.
        untrained: The same before training; None if no such network was given.
        gain: Of the errors of what comes for free, the share that is gone.
        readable: Whether this is enough; never in the embedding, which is a reference.
    """

    trained: Score
    untrained: Score | None
    gain: float
    readable: bool


@dataclass(frozen=True)
class Row:
    """A variable at all layers.

    Attributes:
        names: What it is called, and what it is equal to.
        kind: What it is.
        values: How many values it takes.
        of_answer: Whether it is a function of the answer and nowhere readable before the
            answer is: then it tells how the answer is written, not how it is found.
        constructions: The derived networks that have it.
        cells: One for each layer, the embedding first.
        exchanged: The causal tests.
        verdict: What all this shows, and no more.
    """

    names: tuple[str, ...]
    kind: Kind
    values: int
    of_answer: bool
    constructions: tuple[str, ...]
    cells: tuple[Cell, ...]
    exchanged: tuple[Interchange, ...]
    verdict: Verdict

    @property
    def name(self) -> str:
        """The first of its names."""
        return self.names[0]

    @property
    def intermediate(self) -> bool:
        """Whether it is neither what is asked for nor what is read."""
        return not self.of_answer and self.kind != "reference"

    @property
    def held(self) -> tuple[int, ...]:
        """The layers where it can be read, for free or not, and the embedding says less.

        There exchanging it means something.
        """
        if quality(self.cells[0].trained) >= READ:
            return ()
        return tuple(
            i for i, cell in enumerate(self.cells) if quality(cell.trained) >= READ
        )

    @property
    def readable(self) -> tuple[int, ...]:
        """The layers where it can be read, beyond what comes for free."""
        return tuple(i for i, cell in enumerate(self.cells) if cell.readable)


@dataclass(frozen=True)
class ProbeMap:
    """What a network holds and uses of the variables of derived networks.

    Attributes:
        machine: The task.
        words: How many words were looked at.
        length: Letters in each.
        seed: Of everything that was drawn.
        accuracy: Of the network's answers on the words that test.
        layers: What the columns are.
        rows: The variables; the answer, standard ones, channels, the letter and position.
        of_letter: Channels that are functions of the letter, or of the position, alone.
        left_out: What was not looked for, and why.
        conclusion: What it was shown to use, in one sentence.
        said: What was found, in sentences.
    """

    machine: str
    words: int
    length: int
    seed: int
    accuracy: float
    layers: tuple[str, ...]
    rows: tuple[Row, ...]
    of_letter: tuple[str, ...]
    left_out: tuple[str, ...]
    conclusion: str
    said: tuple[str, ...]

    def named(self, name: str) -> Row:
        """The row of a variable.

        Raises:
            KeyError: If there is none.
        """
        for row in self.rows:
            if name in row.names:
                return row
        raise KeyError(name)

    def to_object(self) -> dict[str, Any]:
        """What JSON holds."""
        return asdict(self)
