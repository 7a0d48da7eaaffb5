"""Networks that are trained or probed: their interface, and the recurrent ones."""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn.functional import one_hot

from krohn.algebra.errors import KrohnError
from krohn.instruments.compare.models.architecture import (
    Lstm,
    RecurrentLayer,
    Rnn,
    Specification,
)


@contextmanager
def recording(modules: Sequence[nn.Module]) -> Iterator[list[Any]]:
    """A list that fills with the outputs of modules, in the order in which they are run.

    A hook of someone else that was there before has changed it already.
    """
    given: list[Any] = []

    def keep(module: nn.Module, arguments: object, output: object) -> None:
        given.append(output)

    handles = [module.register_forward_hook(keep) for module in modules]
    try:
        yield given
    finally:
        for handle in handles:
            handle.remove()


# The interface of every network that is trained or probed.


@dataclass(frozen=True)
class Inside:
    """The inside of a network during one pass.

    Attributes:
        logits: ``(count, length, classes)``.
        hidden: After the embedding and after each layer, ``(count, length, width)`` each;
            for position t the state at the place that read letter t.
        attention: For each layer ``(count, heads, length, length)``, rows are queries;
            empty for networks without. A compiled network has one column more, the
            first one: the weight on BOS.
    """

    logits: Tensor
    hidden: tuple[Tensor, ...]
    attention: tuple[Tensor, ...]


class Network(nn.Module):
    """Letter indices ``(count, length)`` in, logits ``(count, length, classes)`` out.

    Attributes:
        specification: All that it is but its weights.
        longest: The longest word, with its shift, that it can read; None if there is no
            limit.
    """

    longest: int | None = None

    def __init__(self, specification: Specification) -> None:
        super().__init__()
        self.specification = specification

    @abstractmethod
    def forward(self, letters: Tensor, shift: int = 0) -> Tensor:
        """Logits for words; positions, if it has any, count from `shift`."""

    def further(
        self, letters: Tensor, memory: Any = None, shift: int = 0
    ) -> tuple[Tensor, Any]:
        """Logits for letters that follow others, without reading those again.

        Args:
            letters: Letter indices ``(count, length)``.
            memory: Of the letters before, as this gave it; None where words begin. It
                serves once, as it may grow in place.
            shift: Where positions of the whole words begin.

        Returns:
            Logits ``(count, length, classes)``, and the memory of all letters so far.

        Raises:
            KrohnError: If this network reads whole words only.
        """
        raise KrohnError("this network reads whole words only")

    @abstractmethod
    def inside(self, letters: Tensor, shift: int = 0) -> Inside:
        """Logits for words, with the hidden states and the attention before them."""

    @abstractmethod
    def layers(self) -> tuple[nn.Module, ...]:
        """The module whose output is ``hidden[i]``, for each i (to intervene there).

        They run in this order. A forward hook that gives another tensor changes the
        later ones, and `inside` then shows that tensor.
        """


# The LSTM and the plain recurrent network, which answer after every letter.


@contextmanager
def portable() -> Iterator[None]:
    """Run LSTMs by torch's own code, whose results do not depend on the processor.

    oneDNN has no LSTM in bfloat16 for some processors, and rounds otherwise in inference.
    """
    backend: Any = torch.backends.mkldnn
    before, backend.enabled = backend.enabled, False
    try:
        yield
    finally:
        backend.enabled = before


class Recurrent(Network):
    """The common part of both recurrent kinds: they have no positions and no attention."""

    def forward(self, letters: Tensor, shift: int = 0) -> Tensor:
        """Logits ``(count, length, classes)``; there are no positions to shift."""
        return self.further(letters)[0]

    def inside(self, letters: Tensor, shift: int = 0) -> Inside:
        """Logits, what stands for the letters, and what each layer gives."""
        with recording(self.layers()) as hidden:
            logits = self(letters, shift)
        return Inside(logits, tuple(hidden), ())


class LstmNetwork(Recurrent):
    """An embedding, LSTMs one above the other, and a read-out; words of any length.

    Attributes:
        embedding: Of the letters.
        recurrent: The LSTMs.
        given: What each of them gives passes through one of these, with dropout above
            all but the last.
        head: The read-out.
    """

    def __init__(self, specification: Specification, architecture: Lstm) -> None:
        super().__init__(specification)
        self.embedding = nn.Embedding(specification.letters, architecture.embedding)
        layers, hidden = architecture.layers, architecture.hidden
        widths = [architecture.embedding, *[hidden] * (layers - 1)]
        self.recurrent = nn.ModuleList(
            nn.LSTM(width, hidden, batch_first=True) for width in widths
        )
        drops = [*[architecture.dropout] * (layers - 1), 0.0]
        self.given = nn.ModuleList(nn.Dropout(drop) for drop in drops)
        self.head = nn.Linear(hidden, specification.classes)

    def further(
        self, letters: Tensor, memory: Any = None, shift: int = 0
    ) -> tuple[Tensor, Any]:
        """Logits for letters that follow others; memory holds the states of the LSTMs."""
        x: Tensor = self.embedding(letters)
        before = memory or [None] * len(self.recurrent)
        after = []
        for recurrent, given, state in zip(
            self.recurrent, self.given, before, strict=True
        ):
            with portable():
                x, state = recurrent(x, state)
            x = given(x)
            after.append(state)
        logits: Tensor = self.head(x)
        return logits, after

    def layers(self) -> tuple[nn.Module, ...]:
        """The embedding, and the modules that give the hidden states of each layer.

        A change there reaches the layers above, not the memory of the layer.
        """
        return (self.embedding, *self.given)


class RnnNetwork(Recurrent):
    """h_t = ReLU(W x_t + U h_{t−1} + b) of letters as unit vectors; words of any length.

    Attributes:
        letters: Letters to unit vectors.
        recurrent: The layer.
        given: What it gives passes through here.
        head: The read-out.
    """

    def __init__(self, specification: Specification, architecture: Rnn) -> None:
        super().__init__(specification)
        units = architecture.hidden
        self.letters = UnitVectors(specification.letters)
        self.recurrent = nn.RNN(
            specification.letters, units, nonlinearity="relu", batch_first=True
        )
        self.given = nn.Identity()
        self.head = nn.Linear(units, specification.classes)

    def further(
        self, letters: Tensor, memory: Any = None, shift: int = 0
    ) -> tuple[Tensor, Any]:
        """Logits for letters that follow others; memory holds the hidden state."""
        x, state = self.recurrent(self.letters(letters), memory)
        logits: Tensor = self.head(self.given(x))
        return logits, state

    def layers(self) -> tuple[nn.Module, ...]:
        """The modules whose outputs are the letters' unit vectors and the hidden states."""
        return (self.letters, self.given)


class RecurrentLayerNetwork(Recurrent):
    """A layer of torch's, and a read-out.

    Attributes:
        letters: Letters to unit vectors.
        recurrent: The layer.
        given: What it gives passes through here.
        head: The read-out.
    """

    MODULES: ClassVar[dict[str, Callable[..., nn.RNNBase]]] = {
        "rnn": nn.RNN,
        "gru": nn.GRU,
        "lstm": nn.LSTM,
    }

    def __init__(
        self, specification: Specification, architecture: RecurrentLayer
    ) -> None:
        super().__init__(specification)
        units = architecture.hidden
        self.letters = UnitVectors(specification.letters)
        module = self.MODULES[architecture.cell]
        self.recurrent = module(specification.letters, units, batch_first=True)
        self.given = nn.Identity()
        self.head = nn.Linear(units, specification.classes)

    def further(
        self, letters: Tensor, memory: Any = None, shift: int = 0
    ) -> tuple[Tensor, Any]:
        """Logits for letters that follow others; memory holds all that is remembered."""
        x = self.letters(letters)
        with portable():
            x, memory = self.recurrent(x, memory)
        logits: Tensor = self.head(self.given(x))
        return logits, memory

    @torch.no_grad()
    def compute_memory(self, letters: Tensor) -> tuple[list[Tensor], Tensor]:
        """Memory of each layer after words ``(count, length)``, and the last logits.

        Gradients do not go back through it.
        """
        memory = self.recurrent(self.letters(letters))[1]
        parts = memory if isinstance(self.recurrent, nn.LSTM) else (memory,)
        layer_memories = [part[0] for part in parts]
        return layer_memories, self.head(self.given(layer_memories[0]))

    def read_with_noise(
        self, letters: Tensor, noise: float, memory: list[Tensor] | None = None
    ) -> tuple[Tensor, Tensor]:
        """Read words twice, the second time with noise on all that is remembered.

        Args:
            letters: Letter indices ``(count, length)``.
            noise: The standard deviation of what is added after each letter.
            memory: What is remembered before, from `compute_memory`; None for nothing.

        Returns:
            Logits ``(2·count, length, classes)``, those with noise last; and the mean
            squared distance of what both readings remember after a letter, before
            noise is added, in units of the squared noise.
        """
        count, length = letters.shape
        x = self.letters(letters).repeat(2, 1, 1).unbind(1)
        parts = 1 + isinstance(self.recurrent, nn.LSTM)
        if memory is None:
            memory = [x[0].new_zeros(count, self.recurrent.hidden_size)] * parts
        memory = [part.repeat(2, 1) for part in memory]
        added = x[0].new_zeros(length, parts, *memory[0].shape)
        added[:, :, count:].normal_(0, noise)
        memories = []
        for letter, more in zip(x, added, strict=True):
            memories += (memory := self._step(letter, memory))
            memory = [part + own for part, own in zip(memory, more, strict=True)]
        by_letter = torch.stack(memories).reshape(added.shape)
        logits: Tensor = self.head(self.given(by_letter[:, 0].transpose(0, 1)))
        apart = (by_letter[:, :, count:] - by_letter[:, :, :count]).square().mean()
        return logits, apart / noise**2

    def _step(self, x: Tensor, memory: list[Tensor]) -> list[Tensor]:
        """Memory after one more letter; layers start slowly for one letter."""
        weights = self.recurrent.all_weights[0]
        if isinstance(self.recurrent, nn.LSTM):
            return list(torch.lstm_cell(x, memory, *weights))
        cell = (
            torch.gru_cell
            if isinstance(self.recurrent, nn.GRU)
            else torch.rnn_tanh_cell
        )
        return [cell(x, memory[0], *weights)]

    def layers(self) -> tuple[nn.Module, ...]:
        """The layers that give unit vectors, and those that give hidden states."""
        return (self.letters, self.given)


class UnitVectors(nn.Module):
    """Letter indices to unit vectors."""

    def __init__(self, letters: int) -> None:
        super().__init__()
        self.count = letters

    def forward(self, letters: Tensor) -> Tensor:
        """``(…)`` to ``(…, letters)``."""
        return one_hot(letters, self.count).to(torch.get_default_dtype())
