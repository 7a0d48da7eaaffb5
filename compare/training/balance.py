"""The balance regulariser: brackets that are closed again should change no answer."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import mse_loss

from krohn.algebra.automaton import Automaton
from krohn.algebra.brackets import Brackets, as_brackets
from krohn.algebra.errors import KrohnError
from krohn.algebra.semiautomaton import IntArray
from krohn.compare.models.network import Network


@dataclass(frozen=True)
class Balance:
    """The mean squared change of logits by nested pairs in front (thesis, eq. 3.40).

    The number of pairs is uniform in 1..D for each batch, and their kinds are uniform
    for each word. The thesis writes a squared norm and calls it a mean; it is the mean
    here, so that the weight means the same at every length.

    Attributes:
        weight: Its share in the loss.

    Raises:
        KrohnError: If the weight is not above 0.
    """

    weight: float

    def __post_init__(self) -> None:
        if not self.weight > 0:
            raise KrohnError(f"balance has a weight above 0, not {self.weight}")

    def __call__(
        self,
        network: Network,
        letters: Tensor,
        logits: Tensor,
        front: IntArray,
        shift: int,
    ) -> Tensor:
        """The term of the loss.

        Args:
            network: The network in training.
            letters: Letter indices ``(count, length)``.
            logits: Its logits for these words.
            front: The letters to put in front, from `draw_nested_pairs`.
            shift: Where positions begin.
        """
        before = torch.from_numpy(front).to(letters.device)
        after = network(torch.cat([before, letters], dim=1), shift)
        return self.weight * mse_loss(
            after[:, front.shape[1] :].float(), logits.float()
        )


def draw_nested_pairs(
    brackets: Brackets, rng: np.random.Generator, count: int
) -> IntArray:
    """Nested pairs ``(count, 2r)`` of random kinds, r uniform in 1..depth."""
    pairs = int(rng.integers(1, brackets.depth + 1))
    kinds = rng.integers(brackets.kinds, size=(count, pairs))
    opening = [brackets.opens.index(kind) for kind in range(brackets.kinds)]
    closing = [brackets.closes.index(kind) for kind in range(brackets.kinds)]
    opened, closed = np.array(opening)[kinds], np.array(closing)[kinds[:, ::-1]]
    return np.concatenate([opened, closed], axis=1)


def stacks(machine: Automaton) -> Brackets:
    """The stacks that a machine keeps.

    Raises:
        KrohnError: If it keeps none, or does not start with the empty one.
    """
    found = as_brackets(machine)
    if found is None or found.stacks[machine.start] != ():
        raise KrohnError(
            f"balance is about brackets, and {machine.name} is no machine of brackets"
        )
    return found
