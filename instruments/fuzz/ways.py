"""Ways to run one network, which differ in engine, order of sums, kernel or batch."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

import numpy as np
import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel

from krohn.architectures.exports.destinations import destination
from krohn.instruments.attack.rounding import (
    Arithmetic,
    network,
    one_by_one,
    permute,
    tensors,
    with_equal_widths,
    within,
)
from krohn.instruments.attack.transformers import BACKENDS
from krohn.network import ModelFileError
from krohn.network.forward_pass import threads
from krohn.network.meaning import fast_tensors
from krohn.network.meaning.fast_arrays import pack_network
from krohn.network.meaning.net import Net
from krohn.network.modelfile import ModelFile
from krohn.network.precision import FloatArray
from krohn.network.reading import Texts, is_read_by_numpy, plain_reader
from krohn.network.running_file import plain_network
from krohn.program.architectures.transformer import Transformer
from krohn.program.extras import EXTRAS
from krohn.program.slices import slice_exports

Rng: TypeAlias = np.random.Generator
Logits = Callable[[Tensor], Tensor]
"""Letters ``(batch, time)`` to logits ``(batch, time, classes)``."""
Run = Callable[[Tensor, Rng], Tensor]
"""The same by a way that chance takes part in, maybe of the first words alone."""

TORCH, NUMPY = "torch", "numpy"
WHOLE = "whole words"
LARGEST_BATCH, FEW = 256, 64
BATCHES = f"batches of 1 to {LARGEST_BATCH}"
LONGER = "letters after the words"
ORDERS = "dimensions, units, heads permuted"
BY_LETTER = "letter by letter"


@dataclass(frozen=True)
class Way:
    """A way to run a network.

    Attributes:
        engine: Whose operations they are.
        name: What is done, in words.
        run: From words to logits.
        share: How many words go this way, as a share of all: slow ones get fewer.
    """

    engine: str
    name: str
    run: Run
    share: float

    @property
    def key(self) -> tuple[str, str]:
        """The engine and the way."""
        return self.engine, self.name


def engines() -> tuple[str, ...]:
    """The engines by their names, installed or not."""
    return TORCH, NUMPY, *slice_exports()


def is_installed(engine: str) -> bool:
    """Whether the packages of an engine are here."""
    if engine in (TORCH, NUMPY):
        return True
    packages = EXTRAS.get(engine, EXTRAS["huggingface"])
    return all(find_spec(package) is not None for package in packages)


def open_ways(
    file: ModelFile, engine: str, room: int, until: ExitStack
) -> Iterator[Way]:
    """The ways of an engine.

    Args:
        file: The network.
        engine: One of `engines`.
        room: The longest word that is run.
        until: Directories are deleted when it is closed.

    Raises:
        KrohnError: If the engine is not installed, or cannot hold the network.
    """
    shape = file.architecture
    net = Net.of(shape, file.tensors) if isinstance(shape, Transformer) else None
    if engine == TORCH:
        read, share = _open_by_torch(file), 1.0
    elif engine == NUMPY:
        read, share = _open_by_numpy(file), 1 / 2
    else:
        place = destination(engine)
        folder = Path(until.enter_context(TemporaryDirectory()))
        place.write(file, folder, False)
        read, share = place.open(folder), 1 / 8
    yield Way(engine, WHOLE, lambda words, _: read(words), share)
    yield Way(engine, BATCHES, partial(_run_in_batches, read), share / 16)
    if net is None or net.causal:
        yield Way(engine, LONGER, partial(_run_longer_words, read, room), share / 8)
    if net is not None and engine in SPECIAL:
        yield from SPECIAL[engine](file, net)


def _run_in_batches(read: Logits, words: Tensor, rng: Rng) -> Tensor:
    """The first words in batches of one size, small ones as likely as large ones."""
    size = round(LARGEST_BATCH ** rng.random())
    parts = torch.split(words[:LARGEST_BATCH], size)
    return torch.cat([read(part) for part in parts])


def _run_longer_words(read: Logits, room: int, words: Tensor, rng: Rng) -> Tensor:
    """Words with other letters after them, as padding has; kernels see another length."""
    batch, length = words.shape
    more = int(rng.integers(room - length + 1))
    after = torch.from_numpy(rng.integers(int(words.max()) + 1, size=(batch, more)))
    return read(torch.cat([words, after], dim=1))[:, :length]


def _open_by_torch(file: ModelFile) -> Logits:
    opened: Logits = plain_network(file)
    return opened


def _list_ways_of_torch(file: ModelFile, arrays: Net[FloatArray]) -> Iterator[Way]:
    """The ways of a Transformer by torch alone."""
    precision, runtime = file.precision, network(file)
    net, even = runtime.net, tensors(with_equal_widths(arrays), precision)

    def run_permuted(words: Tensor, rng: Rng) -> Tensor:
        other = permute(arrays, rng.permutation(arrays.token.shape[1]), rng)
        return fast_tensors.whole(tensors(other, precision), words)

    def run_kernel(backend: SDPBackend, words: Tensor, _: Rng) -> Tensor:
        return within(partial(sdpa_kernel, backend), even, words)[1]

    def run_threads(words: Tensor, _: Rng) -> Tensor:
        return within(partial(threads, 2), net, words)[1]

    def run_letters(words: Tensor, _: Rng) -> Tensor:
        return one_by_one(runtime, words)[1]

    def run_worst(words: Tensor, rng: Rng) -> Tensor:
        return Arithmetic(precision, rng).run(net, words[:FEW])[1]

    yield Way(TORCH, ORDERS, run_permuted, 1)
    for name, backend in BACKENDS.items():
        yield Way(TORCH, f"attention: {name}", partial(run_kernel, backend), 1 / 8)
    yield Way(TORCH, "two threads", run_threads, 1 / 32)
    if net.causal:
        yield Way(TORCH, BY_LETTER, run_letters, 1 / 16)
    yield Way(TORCH, "the worst arithmetic", run_worst, 1 / 512)


def _open_by_numpy(file: ModelFile) -> Logits:
    if not is_read_by_numpy(file):
        raise ModelFileError(f"it has no products of {file.precision.name}")
    begin = plain_reader(file)
    assert begin is not None

    def read(words: Tensor) -> Tensor:
        return torch.from_numpy(begin(len(words)).read_on(words.numpy()))

    return read


def _list_ways_of_numpy(file: ModelFile, arrays: Net[FloatArray]) -> Iterator[Way]:
    """The ways of a causal Transformer by numpy alone."""
    kind, begin = np.dtype(file.precision.name), plain_reader(file)
    if not arrays.causal or begin is None:
        return

    def cast(array: FloatArray) -> FloatArray:
        return np.asarray(array.astype(kind))

    def run_permuted(words: Tensor, rng: Rng) -> Tensor:
        other = permute(arrays, rng.permutation(arrays.token.shape[1]), rng)
        texts = Texts(pack_network(other.each(cast)), len(words))
        return torch.from_numpy(texts.read_on(words.numpy()))

    def run_letters(words: Tensor, _: Rng) -> Tensor:
        texts = begin(len(words))
        said = [texts.read(letters) for letters in words.numpy().T]
        return torch.from_numpy(np.stack(said, axis=1))

    yield Way(NUMPY, ORDERS, run_permuted, 1 / 2)
    yield Way(NUMPY, BY_LETTER, run_letters, 1 / 16)


SPECIAL = {TORCH: _list_ways_of_torch, NUMPY: _list_ways_of_numpy}
"""Ways that only these have."""
