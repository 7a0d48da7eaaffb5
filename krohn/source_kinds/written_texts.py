"""Texts that a network writes after a line, until it says that they end."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from krohn.algebra.errors import KrohnError
from krohn.network.modelfile import ModelFile
from krohn.program.domains import IntArray
from krohn.progress import Progress
from krohn.verify.testing.simulation_result import Simulation

BATCH = 256
MOST_LINES = 2**16
"""So many lines are run at most."""
Line = tuple[int, ...]


class Texts(Protocol):
    """What writes a text after a line, and after it a token."""

    @property
    def end(self) -> int:
        """The token after a line; that after the text is one more."""
        ...

    @property
    def tokens(self) -> tuple[str, ...]:
        """The name of each token."""
        ...

    def text(self, line: Sequence[int], most: int, /) -> list[int]:
        """The first tokens of the text of a line."""
        ...


def decoded(
    file: ModelFile, source: Texts, lines: Sequence[Line], length: int
) -> IntArray:
    """What the network writes after lines of one length, up to the first end of a text.

    Raises:
        KrohnError: If it is to read fewer tokens than a line has.
    """
    import torch

    from krohn.network.decoding import BLANK, decode
    from krohn.network.model import Model
    from krohn.network.transformer import Transformer

    network = Model(file).network
    assert isinstance(network, Transformer)
    prompt = np.array([[*line, source.end] for line in lines])
    if prompt.shape[1] > length:
        raise KrohnError(f"the file is for texts of up to {length} tokens")
    blank = np.full((len(lines), length + 1 - prompt.shape[1]), BLANK)
    with torch.no_grad():
        text = decode(network, torch.from_numpy(np.hstack([prompt, blank]))).numpy()
    return np.asarray(text)


def cut(source: Texts, text: Sequence[int]) -> list[int]:
    """A text up to its end."""
    found = list(text)
    last = source.end + 1
    return found[: found.index(last) + 1] if last in found else found


def simulated(
    file: ModelFile,
    source: Texts,
    lines: Sequence[Line],
    progress: Progress,
    every: bool = False,
) -> Simulation:
    """Hold what the network writes against the rules, lines of one length together."""
    from krohn.verify.testing.counterexample import Counterexample

    length, done = file.header["claim"]["length"], 0
    for size in sorted({len(line) for line in lines}):
        alike = [line for line in lines if len(line) == size]
        for at in range(0, len(alike), BATCH):
            batch = alike[at : at + BATCH]
            progress("running lines", done, len(lines))
            right = [source.text(line, length + 1) for line in batch]
            room = max(map(len, right)) - 1
            for wanted, said in zip(
                right, decoded(file, source, batch, room), strict=True
            ):
                done += 1
                found = said[: len(wanted)].tolist()
                if found != wanted:
                    names = [*source.tokens, "(no answer)"]
                    told, shown = (tuple(names[i] for i in x) for x in (wanted, found))
                    wrong = Counterexample(
                        told[:-1], told[1:], shown[1:], "letter by letter"
                    )
                    return Simulation(done, length, wrong)
    return Simulation(done, length, None, every=every)
