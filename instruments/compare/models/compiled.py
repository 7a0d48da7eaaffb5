"""Compiled networks beside trained ones: frozen, or free to learn."""

from abc import abstractmethod
from functools import partial
from pathlib import Path

import torch
from torch import Generator, Tensor, nn

from krohn.algebra.errors import KrohnError
from krohn.instruments.compare.models.architecture import (
    Derived,
    Noisy,
    Specification,
)
from krohn.instruments.compare.models.network import (
    Inside,
    Network,
    recording,
)
from krohn.network import ModelFileError
from krohn.network.architecture import kind_of
from krohn.network.forward_pass import Hook, Hooks
from krohn.network.model import Model
from krohn.network.modelfile import ModelFile, read
from krohn.network.recurrent import Rnn
from krohn.network.transformer import Transformer

MASK = ".mask"
"""Which dimensions an MLP overwrites is no weight: it is never noisy and never learns."""


class Compiled(Network):
    """A network from a model file, which knows letters and classes by its own names.

    Attributes:
        model: The network as `krohn.network.model` opens it: names, Program, places.
        taps: One for each hidden layer, which passes through it.
    """

    def __init__(self, specification: Specification, model: Model) -> None:
        super().__init__(specification)
        self.model = model
        self.longest = model.longest
        self.taps = nn.ModuleList(nn.Identity() for _ in range(self._snapshots))

    @property
    def letters(self) -> tuple[str, ...]:
        """The names of the letters, in the order of their indices."""
        return self.model.letters

    @property
    def classes(self) -> tuple[str, ...]:
        """The names of the classes, in the order of the logits."""
        return self.model.classes

    def forward(self, letters: Tensor, shift: int = 0) -> Tensor:
        """Logits ``(count, length, classes)``.

        Raises:
            KrohnError: If the words are too long, or positions are shifted.
        """
        self._check(letters, shift)
        return self._run(letters, None)

    def inside(self, letters: Tensor, shift: int = 0) -> Inside:
        """Logits, with the hidden states and the attention of the pass.

        Of a Transformer, `hidden` is the residual stream at the letters after the
        embedding and after every sublayer: 2b + 1 after the heads of block b, 2b + 2
        after its MLP, as in `krohn.network.variables.VariablePlace`; `attention` has for
        each block ``(count, heads, length, length + 1)``: column 0 is BOS, which stands in
        front of every word, and column j the j-th letter. Of an RNN, `hidden` is what the
        letters add to the hidden state, and that state.

        Raises:
            KrohnError: If the words are too long, or positions are shifted.
        """
        self._check(letters, shift)
        attention: list[Tensor] = []
        with recording(self.layers()) as hidden:
            logits = self._run(letters, attention)
        return Inside(logits, tuple(hidden), tuple(attention))

    def layers(self) -> tuple[nn.Module, ...]:
        """The taps: the network goes on with the tensor that a hook returns there.

        BOS stays as it is. In an RNN, hidden states that are changed reach the read-out,
        not the states that follow.
        """
        return tuple(self.taps)

    @property
    @abstractmethod
    def _snapshots(self) -> int:
        """How many hidden layers it shows."""

    @abstractmethod
    def _run(self, letters: Tensor, attention: list[Tensor] | None) -> Tensor:
        """Logits; weights of attention are appended if they are wanted."""

    def _check(self, letters: Tensor, shift: int) -> None:
        if shift:
            raise KrohnError(
                "a compiled network counts positions from the start of a word: its "
                "positions cannot be shifted"
            )
        if self.longest is not None and letters.shape[1] > self.longest:
            raise KrohnError(
                f"this network was compiled for words of up to {self.longest} letters; "
                f"compile it with -T {letters.shape[1]}"
            )


class CompiledTransformer(Compiled):
    """A compiled Transformer."""

    @property
    def _body(self) -> Transformer:
        assert isinstance(self.model.network, Transformer)
        return self.model.network

    @property
    def _snapshots(self) -> int:
        return 2 * len(self._body.mlp) + 1

    def _run(self, letters: Tensor, attention: list[Tensor] | None) -> Tensor:
        hooks: dict[str, list[Hook]] = {
            f"stream.{i}": [partial(_through_tap, tap)]
            for i, tap in enumerate(self.taps)
            if tap._forward_hooks
        }
        body = self._body
        if attention is not None:
            empty = letters.shape[0], 0, letters.shape[1], letters.shape[1] + 1
            attention += [body.weight.new_zeros(empty) for _ in body.mlp]
            for b in range(len(body.mlp)):
                watch = partial(_keep_letters, attention, b)
                hooks[f"blocks.{b}.attention.pattern"] = [watch]
        return body.run_with_hooks(letters, Hooks(hooks)) if hooks else body(letters)


class CompiledRnn(Compiled):
    """A compiled RNN."""

    @property
    def _snapshots(self) -> int:
        return 2

    def _run(self, letters: Tensor, attention: list[Tensor] | None) -> Tensor:
        body = self.model.network
        assert isinstance(body, Rnn)
        added = self.taps[0](body.input[letters])
        h = body.initial.expand(len(letters), -1)
        states = []
        for now in added.unbind(dim=1):
            h = torch.relu(h @ body.hidden + body.hidden_bias + now)
            states.append(h)
        logits: Tensor = self.taps[1](torch.stack(states, dim=1)) @ body.weight
        return logits + body.bias


def wrap_compiled(
    file: ModelFile, source: Derived | None = None, seed: int = 0
) -> Compiled:
    """A compiled network as a `Network`.

    Args:
        file: The model file.
        source: Whether it trains and with what noise; None for a frozen one.
        seed: Seed of the noise.

    Raises:
        KrohnError: If it has no letters and classes by name, or is a generator.
    """
    derived = source or Derived("")
    try:
        model = Model(file)
    except ModelFileError as error:
        raise KrohnError(f"{derived.file}: {error}") from None
    if not isinstance(model.network, Rnn | Transformer):
        called = kind_of(file.architecture).called
        raise KrohnError(
            f"this is {called}, and of compiled networks Transformers and RNNs are compared"
        )
    if derived.trains:
        _free(model.float(), derived, seed)
    longest = model.longest or model.length or 1
    counts = len(model.letters), len(model.classes)
    specification = Specification(derived, *counts, longest)
    if isinstance(model.network, Rnn):
        return CompiledRnn(specification, model)
    return CompiledTransformer(specification, model)


def open_compiled(specification: Specification, seed: int) -> Compiled:
    """The compiled network of a specification, from its file.

    Raises:
        KrohnError: If the file cannot be read, or is of another size.
    """
    source = specification.architecture
    assert isinstance(source, Derived)
    try:
        network = wrap_compiled(read(Path(source.file)), source, seed)
    except ModelFileError as error:
        raise KrohnError(str(error)) from None
    has = network.specification
    if (has.letters, has.classes) != (specification.letters, specification.classes):
        raise KrohnError(
            f"{source.file} reads {has.letters} letters and tells {has.classes} classes "
            f"apart; wanted are {specification.letters} and {specification.classes}"
        )
    if network.longest is not None and network.longest < specification.longest:
        raise KrohnError(
            f"{source.file} is for words of up to {network.longest} letters; compile it "
            f"with -T {specification.longest}"
        )
    network.specification = specification
    return network


def _free(model: Model, derived: Derived, seed: int) -> None:
    """Weights that may learn, with noise."""
    rng = Generator().manual_seed(seed)
    for name, weight in model.named_parameters():
        if name.endswith(MASK):
            continue
        if derived.noise:
            weight.data = with_noise(weight.data, derived.noise, derived.noisy, rng)
        weight.requires_grad_(True)


def _through_tap(tap: nn.Module, x: Tensor) -> Tensor:
    """The stream, of which a tap sees the letters and not BOS."""
    return torch.cat([x[:, :1], tap(x[:, 1:])], dim=1)


def _keep_letters(kept: list[Tensor], block: int, weights: Tensor) -> None:
    """Keep ``(count, heads, length, length + 1)``: what letters take of each position."""
    kept[block] = weights[:, :, 1:]


def with_noise(weight: Tensor, size: float, noisy: Noisy, rng: Generator) -> Tensor:
    """A tensor of the same shape with Gaussian noise.

    Args:
        weight: Any float tensor on the CPU.
        size: Standard deviation of the noise, relative to what it is added to.
        noisy: ``"nonzero"``: each entry w becomes w·(1 + size·z). ``"all"``: w + size·r·z,
            where r is the root mean square of the entries that are not 0.
        rng: Where the z come from.
    """
    z = torch.randn(weight.shape, generator=rng, dtype=weight.dtype)
    if noisy == "nonzero":
        return weight * (1 + size * z)
    here = weight[weight != 0]
    scale = here.square().mean().sqrt() if len(here) else weight.new_tensor(0.0)
    return weight + size * scale * z
