"""The result of looking into a network: layers by variables, and the use of these."""

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
        trained: The score of a probe there.
        untrained: The score before training; None if no such network was given.
        gain: The share of the errors of free reading that is gone.
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
        names: Its name, and names of variables equal to it.
        kind: Its kind.
        values: How many values it takes.
        of_answer: Whether it is a function of the answer and nowhere readable before the
            answer is: then it tells how the answer is written, not how it is found.
        constructions: The derived networks that have it.
        cells: One for each layer, the embedding first.
        exchanged: The causal tests.
        verdict: The conclusion from all this, and no more.
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
        """Whether it is neither the answer nor a part of the input."""
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
        """The layers where it can be read better than for free."""
        return tuple(i for i, cell in enumerate(self.cells) if cell.readable)


@dataclass(frozen=True)
class ProbeMap:
    """The variables of derived networks that a network holds, and the ones that it uses.

    Attributes:
        machine: The task.
        words: How many words were looked at.
        length: Letters in each.
        seed: Of everything that was drawn.
        accuracy: Of the network's answers on the words that test.
        layers: The names of the columns.
        rows: The variables; the answer, standard ones, channels, the letter and position.
        of_letter: Channels that are functions of the letter, or of the position, alone.
        left_out: The variables that were not looked for, and why.
        conclusion: The variables that it was shown to use, in one sentence.
        said: The findings, in sentences.
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
        """All values, as JSON holds them."""
        return asdict(self)
