"""The fewest binary digits of numbers with which a network is still right: tested."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from krohn.algebra.automaton import Automaton
from krohn.algebra.wording import count as count_of
from krohn.network.model import Model
from krohn.network.modelfile import ModelFile
from krohn.network.running_file import plain_network
from krohn.network.short_mantissas import DOUBLE as DOUBLE, has_heads, shorten
from krohn.network.stepping import stepping
from krohn.verify.testing.counterexample import pair
from krohn.verify.testing.sampling import draws
from krohn.verify.testing.simulation_result import Progress


@dataclass(frozen=True)
class FewestDigits:
    """With how few digits a network was right on some inputs, which proves nothing.

    Attributes:
        most: The most digits that were tried.
        inputs: How many inputs were run.
        everywhere: The fewest, where all results and weights have so few; None if the
            network is wrong with the most.
        heads: Whether the network has heads.
        in_heads: The fewest, where only heads round; None as before, or without heads.
    """

    most: int
    inputs: int
    everywhere: int | None
    heads: bool
    in_heads: int | None

    def __str__(self) -> str:
        asked = [(self.everywhere, "everywhere")]
        asked += [(self.in_heads, "in heads alone")] * self.heads
        parts = [self._say(fewest, where) for fewest, where in asked]
        inputs = count_of(self.inputs, "input")
        return f"tested on {inputs}, not proved: {'; '.join(parts)}"

    def _say(self, fewest: int | None, where: str) -> str:
        if fewest is None:
            return f"wrong with {count_of(self.most, 'binary digit')} {where}"
        fewer = f", wrong with {fewest - 1}" * (fewest > 1)
        return f"right with {count_of(fewest, 'binary digit')} {where}{fewer}"

    def to_object(self) -> dict[str, Any]:
        """Itself for JSON."""
        return {**vars(self)}


def find_fewest_digits(
    file: ModelFile,
    most: int,
    is_right: Callable[[nn.Module], bool],
    inputs: int,
    progress: Progress,
) -> FewestDigits:
    """Search the fewest digits with which a network is right, by bisection.

    With one less it is wrong. Who is right with some digits is taken to be with more.

    Args:
        file: The network.
        most: How many digits are tried first, 1 to 53.
        is_right: Whether an open network is right on the inputs.
        inputs: How many these are.
        progress: Called with how many numbers of digits were tried, and of how many.

    Raises:
        KrohnError: If it does not answer letter by letter.
    """
    heads = has_heads(plain_network(file))
    total, tried = (1 + heads) * (1 + (most - 1).bit_length()), 0

    def suffices(digits: int, in_heads: bool) -> bool:
        nonlocal tried
        progress(tried, total)
        tried += 1
        network = plain_network(file)
        shorten(network, digits, in_heads)
        return is_right(network)

    def fewest(in_heads: bool) -> int | None:
        if not suffices(most, in_heads):
            return None
        few, enough = 0, most
        while enough - few > 1:
            middle = (few + enough) // 2
            if suffices(middle, in_heads):
                enough = middle
            else:
                few = middle
        return enough

    everywhere = fewest(in_heads=False)
    return FewestDigits(
        most, inputs, everywhere, heads, fewest(in_heads=True) if heads else None
    )


class LetterByLetter(nn.Module):
    """A model whose open network reads words a letter at a time.

    Attributes:
        model: What says the names.
        network: What is run.
    """

    def __init__(self, file: ModelFile, network: Any) -> None:
        super().__init__()
        self.model, self.network = Model(file), network
        self.letters, self.classes = self.model.letters, self.model.classes
        self.shows, self.longest = self.model.shows, self.model.longest

    @property
    def device(self) -> torch.device:
        """Where tokens are to be."""
        return self.model.device

    def forward(self, tokens: Tensor) -> Tensor:
        """Logits ``(count, length, classes)`` for letter indices ``(count, length)``."""
        reading = stepping(self.network)(len(tokens))
        logits = [reading.read(letters) for letters in tokens.cpu().numpy().T]
        return torch.from_numpy(np.stack(logits, axis=1))


def is_right_on_words(
    file: ModelFile,
    network: nn.Module,
    machine: Automaton,
    count: int,
    length: int,
    seed: int,
) -> bool:
    """Whether an open network of a file is right on words of every strategy.

    It reads them side by side, letter by letter.
    """
    judge = pair(LetterByLetter(file, network), machine, length)
    words = np.concatenate([each for _, each in draws(machine, count, length, seed)])
    return bool((judge.margins(words) > 0).all())
