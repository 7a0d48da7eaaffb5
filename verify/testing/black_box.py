"""Any function from words to answers, looked at from outside only."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from krohn.algebra.automaton import Automaton
from krohn.algebra.shown import Shows, output_classes
from krohn.verify.testing.counterexample import CheckError


@dataclass(frozen=True)
class BlackBox:
    """Any function from words to answers, as a `Simulator`.

    Attributes:
        reads: A torch module, which is given a tensor of letter indices ``(count,
            length)``, or any callable, which is given an int64 array of this shape. It
            gives logits ``(count, length, classes)``, or whole numbers ``(count,
            length)``: the indices of the classes. An object with an attribute
            ``logits``, as Hugging Face models return, will do.
        letters: The names of the letters.
        classes: The names of its answers.
        shows: Whether these are the states or the outputs of a machine.
        longest: The longest word that it can read; None if there is no limit.
    """

    reads: Callable[[Any], Any]
    letters: tuple[str, ...]
    classes: tuple[str, ...]
    shows: Shows = "states"
    longest: int | None = None

    @property
    def device(self) -> torch.device:
        """Where the parameters of a torch module are; else the CPU."""
        if isinstance(self.reads, nn.Module):
            for parameter in self.reads.parameters():
                return parameter.device
        return torch.device("cpu")

    def __call__(self, tokens: Tensor) -> Tensor:
        """Logits ``(count, length, classes)`` for letter indices ``(count, length)``.

        A class by its index becomes a logit of 1 among zeros.

        Raises:
            CheckError: If the network returns nothing of that kind.
        """
        module = isinstance(self.reads, nn.Module)
        answer = self.reads(tokens if module else tokens.cpu().numpy())
        found = _tensor(getattr(answer, "logits", answer)).to(tokens.device)
        if tuple(found.shape) == tuple(tokens.shape) and not found.is_floating_point():
            return self._one_hot(found.long())
        if tuple(found.shape) != (*tokens.shape, len(self.classes)):
            raise CheckError(
                f"the network answers words of shape {tuple(tokens.shape)} by an array "
                f"of shape {tuple(found.shape)}; logits have the shape "
                f"{(*tokens.shape, len(self.classes))}, class indices "
                f"{tuple(tokens.shape)}"
            )
        return found if found.is_floating_point() else found.double()

    def _one_hot(self, chosen: Tensor) -> Tensor:
        if bool(((chosen < 0) | (chosen >= len(self.classes))).any()):
            raise CheckError(
                f"the network answers with class {int(chosen.max())} or "
                f"{int(chosen.min())}; they are numbered 0..{len(self.classes) - 1}"
            )
        return nn.functional.one_hot(chosen, len(self.classes)).double()


def black_box(
    reads: Callable[[Any], Any],
    machine: Automaton,
    shows: Shows = "states",
    longest: int | None = None,
) -> BlackBox:
    """A function that knows letters and classes by the numbers that a machine gives them.

    Raises:
        MachineError: If it is to say outputs and the machine has none on its states.
    """
    names = output_classes(machine, shows).names
    return BlackBox(reads, machine.letters, names, shows, longest)


def _tensor(answer: object) -> Tensor:
    if isinstance(answer, Tensor):
        return answer.detach()
    if isinstance(answer, np.ndarray):
        return torch.from_numpy(np.ascontiguousarray(answer))
    raise CheckError(
        f"the network answers with {type(answer).__name__!r}, not with an array of logits; "
        "wrap it in a function that returns the logits alone"
    )
