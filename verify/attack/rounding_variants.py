"""Ways to run a Transformer that differ in nothing but rounding."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from krohn.algebra.semiautomaton import IntArray
from krohn.network import torch_threads
from krohn.network.architectures.transformer import StrArray, activations
from krohn.network.modelfile import ModelFile
from krohn.network.precision import FloatArray
from krohn.network.transformer import Attention, Transformer

Seen = tuple[list[Tensor], Tensor]
"""The stream ``(batch, positions, d)`` at each snapshot, and the logits."""

Push = Callable[[int, Tensor], Tensor]
"""From a snapshot and its stream to another stream that is within the same bounds."""

Run = Callable[[Tensor, Push], Seen]


FEW, IN_TURN = 65, 16
"""Batches of fewer words than that are run so many in turn."""


@dataclass(frozen=True)
class Way:
    """A way to run a network.

    Attributes:
        name: Its name in reports.
        run: From words ``(batch, time)`` to the stream and the logits.
        most: How many words at once; the rest of a batch follows.
        share: How much of the words goes this way, relative to the others.
        pushes: Whether every sublayer is given the worst input that the bounds of the
            sublayer before allow, instead of its output.
        fixed: Whether it takes whole batches of words of full length only.
    """

    name: str
    run: Run
    most: int
    share: float
    pushes: bool = False
    fixed: bool = False

    def size(self, most: int) -> int:
        """How many words of a turn, if there may be ``most``."""
        if self.fixed:
            return self.most
        return min(most, self.most * IN_TURN if self.most < FEW else self.most)

    def __call__(self, words: Tensor, push: Push) -> Seen:
        """Run words, at most ``most`` at once."""
        parts = [self.run(part, push) for part in torch.split(words, self.most)]
        if len(parts) == 1:
            return parts[0]
        seen = [torch.cat(s) for s in zip(*(p[0] for p in parts), strict=True)]
        return seen, torch.cat([logits for _, logits in parts])


def still(snapshot: int, x: Tensor) -> Tensor:
    """Leave the stream as it is."""
    del snapshot
    return x


def network(file: ModelFile, tensors: Mapping[str, FloatArray]) -> Transformer:
    """The runtime with some tensors, in the format of a file."""
    dtype = getattr(torch, file.precision.name)
    loaded = {n: torch.from_numpy(a.copy()).to(dtype) for n, a in tensors.items()}
    return Transformer(file.header["architecture"], loaded).eval()


def whole(net: Transformer, words: Tensor, push: Push = still) -> Seen:
    """By the forward pass on whole words."""
    del push
    seen = net.snapshots(words)
    return seen, net.read_out(seen[-1][:, 1:])


def apart(net: Transformer, words: Tensor, push: Push) -> Seen:
    """Sublayer by sublayer, each on the pushed output of the one before."""
    x = net.embed(net.with_bos(words))
    seen = [x]
    for attention, mlp in zip(net.attention, net.mlp, strict=True):
        seen.append(x + attention(x)[0] if isinstance(attention, Attention) else x)
        x = push(len(seen) - 1, seen[-1])
        seen.append(mlp(x))
        x = push(len(seen) - 1, seen[-1])
    return seen, net.read_out(x[:, 1:])


def one_by_one(net: Transformer, words: Tensor, push: Push = still) -> Seen:
    """Letter by letter, with a cache of keys and values."""
    del push
    with _listening(net) as heard:
        cache = net.start(len(words))
        logits = []
        for letters in words.unbind(1):
            now, cache = net.step(letters, cache)
            logits.append(now)
    embedded = net.embed(net.with_bos(words))
    seen = [torch.cat(parts, dim=1) for parts in heard]
    return [embedded, *seen], torch.stack(logits, dim=1)


@contextmanager
def _listening(net: Transformer) -> Iterator[list[list[Tensor]]]:
    """The input and the output of every MLP, by snapshot."""
    heard: list[list[Tensor]] = [[] for _ in range(2 * len(net.mlp))]

    def hear(block: int, _: nn.Module, given: tuple[Any, ...], left: Tensor) -> None:
        heard[2 * block].append(given[0])
        heard[2 * block + 1].append(left)

    hooks = [
        mlp.register_forward_hook(partial(hear, block))
        for block, mlp in enumerate(net.mlp)
    ]
    try:
        yield heard
    finally:
        for hook in hooks:
            hook.remove()


def with_backend(
    net: Transformer, backend: SDPBackend, words: Tensor, push: Push = still
) -> Seen:
    """With one kernel of attention.

    Raises:
        RuntimeError: If it does not serve the network here.
    """
    with sdpa_kernel(backend):
        return whole(net, words, push)


def with_threads(
    net: Transformer, threads: int, words: Tensor, push: Push = still
) -> Seen:
    """With another number of threads."""
    with torch_threads.threads(threads):
        return whole(net, words, push)


def _run_permuted(net: Transformer, back: Tensor, words: Tensor, push: Push) -> Seen:
    seen, logits = whole(net, words, push)
    return [x[..., back] for x in seen], logits


def with_equal_widths(tensors: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
    """Tensors with keys and values of one width, as flash kernels want them."""
    new = dict(tensors)
    for at in {name.rpartition(".")[0] for name in tensors if "attention" in name}:
        width = max(tensors[f"{at}.{n}"].shape[2] for n in ("key", "value"))
        for name in ("query", "key", "value"):
            matrix = tensors[f"{at}.{name}"]
            more = width - matrix.shape[2]
            new[f"{at}.{name}"] = np.pad(matrix, ((0, 0), (0, 0), (0, more)))
        out = tensors[f"{at}.out"]
        new[f"{at}.out"] = np.pad(out, ((0, 0), (0, width - out.shape[1]), (0, 0)))
    return new


def permute(file: ModelFile, rng: np.random.Generator) -> Run:
    """The network with dimensions, units and heads in another order.

    Matrix products then add up the same terms in another order.
    """
    order = rng.permutation(file.tensors["embed.token"].shape[1])
    new = dict(file.tensors)
    for name in ("embed.token", "embed.position"):
        new[name] = new[name][:, order]
    new["unembed.weight"] = new["unembed.weight"][order]
    for i, block in enumerate(file.header["architecture"]["blocks"]):
        if block["heads"]:
            _permute_heads(new, f"blocks.{i}.attention", order, rng)
        if block["mlp"]:
            _permute_units(new, f"blocks.{i}.mlp", order, activations(block), rng)
        residual = f"blocks.{i}.mlp.residual"
        if residual in new:
            new[residual] = new[residual][order]
    back = torch.from_numpy(np.argsort(order))
    return partial(_run_permuted, network(file, new), back)


def _permute_heads(
    new: dict[str, FloatArray], at: str, order: IntArray, rng: np.random.Generator
) -> None:
    count, _, narrow = new[f"{at}.query"].shape
    heads, keys = rng.permutation(count), rng.permutation(narrow)
    values = rng.permutation(new[f"{at}.value"].shape[2])
    for name, inner in (("query", keys), ("key", keys), ("value", values)):
        new[f"{at}.{name}"] = new[f"{at}.{name}"][np.ix_(heads, order, inner)]
    new[f"{at}.out"] = new[f"{at}.out"][np.ix_(heads, values, order)]


def _permute_units(
    new: dict[str, FloatArray],
    at: str,
    order: IntArray,
    layers: tuple[StrArray, ...],
    rng: np.random.Generator,
) -> None:
    above = order
    for j, names in enumerate(layers):
        # Units stay among those that have their activation.
        units = np.arange(len(names))
        for name in np.unique(names):
            units[names == name] = rng.permutation(units[names == name])
        new[f"{at}.{j}.weight"] = new[f"{at}.{j}.weight"][np.ix_(above, units)]
        new[f"{at}.{j}.bias"] = new[f"{at}.{j}.bias"][units]
        above = units
    last = f"{at}.{len(layers)}"
    new[f"{last}.weight"] = new[f"{last}.weight"][np.ix_(above, order)]
    new[f"{last}.bias"] = new[f"{last}.bias"][order]
