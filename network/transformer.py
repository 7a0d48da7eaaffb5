"""The plain causal Transformer that a model file describes, as torch modules."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from krohn.network import ModelFileError
from krohn.network.cache import ONE, Both, Cache, Grow, Tree, affine, grown
from krohn.network.forward_pass import Hooks, in_full
from krohn.network.mixing import RUNTIME, mixing
from krohn.program.architectures.transformer import (
    Block,
    StrArray,
    Transformer as Declared,
)
from krohn.program.attention import Attention as AttentionKind, Sight, sees_ahead

# The units of a block: affine layers with activations between them.


Affine = Callable[[Tensor, Tensor, Tensor], Tensor]
Function = Callable[[Tensor], Tensor]

FUNCTIONS: Mapping[str, Function] = {
    "relu": torch.relu,
    "sine": torch.sin,
    "gelu": F.gelu,
}


def _affine(x: Tensor, matrix: Tensor, bias: Tensor) -> Tensor:
    return x @ matrix + bias


class Mlp(nn.Module):
    """Affine layers with ReLUs between them, and the residual connection around them.

    Attributes:
        mask: 1 on dimensions that are added to, 0 on those overwritten; None for all 1.
        activations: For each hidden layer how many units in a row have which one.
    """

    def __init__(
        self,
        layers: list[tuple[Tensor, Tensor]],
        mask: Tensor | None,
        names: Sequence[StrArray],
    ) -> None:
        super().__init__()
        self.activations = [
            [(name, len(list(run))) for name, run in groupby(layer.tolist())]
            for layer in names
        ]
        self.weights = nn.ParameterList([weight for weight, _ in layers])
        self.biases = nn.ParameterList([bias for _, bias in layers])
        self.mask = None if mask is None else nn.Parameter(mask)

    def forward(
        self,
        x: Tensor,
        affine: Affine = _affine,
        hidden: Callable[[int, Tensor], Tensor] | None = None,
    ) -> Tensor:
        """``mask · x + f(x)``.

        Args:
            x: ``(…, d)``.
            affine: How to apply an affine map to ``(…, m)``.
            hidden: What becomes of the units of a hidden layer, by its number.
        """
        kept: Tensor = x if self.mask is None else x * self.mask
        # Slices of a ParameterList would be modules, made anew in each step.
        layers = list(zip(self.weights, self.biases, strict=True))
        if not layers:
            return kept
        h = x
        *inner, last = layers
        for i, (layer, runs) in enumerate(zip(inner, self.activations, strict=True)):
            h = activated(affine(h, *layer), runs, FUNCTIONS)
            h = h if hidden is None else hidden(i, h)
        return kept + affine(h, *last)


def activated(
    h: Tensor, runs: Sequence[tuple[str, int]], functions: Mapping[str, Function]
) -> Tensor:
    """Units after the functions that their activations name."""
    if len(runs) == 1:
        return functions[runs[0][0]](h)
    parts = torch.split(h, [count for _, count in runs], dim=-1)
    changed = (functions[name](x) for (name, _), x in zip(runs, parts, strict=True))
    return torch.cat(list(changed), dim=-1)


def widths(mlp: nn.Module) -> list[int]:
    """How many units each layer of an MLP has, the one that writes included."""
    return [int(bias.shape[0]) for bias in mlp.biases] if isinstance(mlp, Mlp) else []


# The plain causal Transformer that a model file describes, as a torch module.


class Attention(nn.Module):
    """Heads without biases; what is weighed are plain inner products.

    Attributes:
        causal: Whether none of them sees positions after its own.
        mixing: What heads make of queries, keys and values.
    """

    def __init__(
        self,
        matrices: Sequence[Tensor],
        sights: Sequence[Sight],
        kind: AttentionKind,
    ) -> None:
        super().__init__()
        query, key, value, out = matrices
        self.causal = True not in [sees_ahead(sight, RUNTIME) for sight in sights]
        self.mixing = mixing(kind, sights)
        self.query, self.key = nn.Parameter(query), nn.Parameter(key)
        self.value, self.out = nn.Parameter(value), nn.Parameter(out)

    def forward(self, x: Tensor) -> tuple[Tensor, Both]:
        """The sum that the heads add to ``x`` ``(batch, time, d)``, and the memory."""
        query, key, value = (
            _project(x, each) for each in (self.query, self.key, self.value)
        )
        mixed = self.mixing.whole(query, key, value)
        return self._write(mixed), self.mixing.remembered(key, value)

    @in_full
    def weights(self, x: Tensor) -> Tensor:
        """``(batch, heads, time, time)``: how much each position takes of each."""
        return self.mixing.weights(_project(x, self.query), _project(x, self.key))

    def hooked(self, x: Tensor, hooks: Hooks, at: str) -> Tensor:
        """The sum that the heads add to ``x``, with hooks at places under ``at``."""
        query, key, value = (
            hooks(f"{at}.{name}", _project(x, each))
            for name, each in zip(
                _MATRICES, (self.query, self.key, self.value), strict=False
            )
        )
        mixed, place = None, f"{at}.pattern"
        if hooks.asks(place):
            pattern = self.mixing.weights(query, key)
            changed = hooks(place, pattern)
            mixed = None if changed is pattern else changed @ value
        if mixed is None:
            mixed = self.mixing.whole(query, key, value)
        return self._write(hooks(f"{at}.taken", mixed))

    def branch(
        self,
        x: Tensor,
        past: Both,
        tree: Tree,
        alike: bool,
        projection: Tensor | None = None,
    ) -> tuple[Tensor, Both]:
        """The sum that the heads add for all the ways in which words go on, and the memory.

        Args:
            x: ``(batch, nodes, d)``: nodes see themselves and what is above them only.
            past: What is remembered of the earlier positions.
            tree: How the nodes hang together.
            alike: Whether x is ``(1, nodes, d)``, for all words, and the same at nodes of
                one kind.
            projection: What `projection` returned, if it is known.
        """
        query, key, value = self._projections(x, projection)
        mixed = self.mixing.branch(query, (key, value), past, tree, alike)
        written = mixed.transpose(1, 2).flatten(2) @ self.out.flatten(0, 1)
        return written, self.mixing.added(key, value)

    def projection(self) -> Tensor:
        """``(d, …)``: the matrix that makes the queries, keys and values of all heads."""
        matrices = (self.query, self.key, self.value)
        return torch.cat([each.transpose(0, 1).flatten(1) for each in matrices], dim=1)

    def _projections(self, x: Tensor, projection: Tensor | None) -> list[Tensor]:
        """Queries, keys and values by one product: narrow ones are slow."""
        heads, _, k = self.query.shape
        widths = [heads * k, heads * k, heads * self.value.shape[2]]
        matrix = self.projection() if projection is None else projection
        return [
            part.reshape(*x.shape[:2], heads, -1).transpose(1, 2)
            for part in torch.split(x @ matrix, widths, dim=2)
        ]

    def _write(self, mixed: Tensor) -> Tensor:
        return torch.einsum("bhtv,hvd->btd", mixed, self.out)


def _project(x: Tensor, matrix: Tensor) -> Tensor:
    """``(batch, time, d)`` by ``(heads, d, k)`` to ``(batch, heads, time, k)``."""
    return torch.einsum("btd,hdk->bhtk", x, matrix)


class Transformer(nn.Module):
    """Token and position embedding, blocks, and a linear read-out.

    Position 0 holds the symbol BOS, the last row of the token embedding; `forward` puts
    it there. There is no layer norm and no dropout.
    """

    def __init__(
        self, architecture: Mapping[str, Any], tensors: Mapping[str, Tensor]
    ) -> None:
        super().__init__()
        self.token = nn.Parameter(tensors["embed.token"])
        self.position = nn.Parameter(tensors["embed.position"])
        self.weight = nn.Parameter(tensors["unembed.weight"])
        self.bias = nn.Parameter(tensors["unembed.bias"])
        self.attention = nn.ModuleList()
        self.mlp = nn.ModuleList()
        for i, block in enumerate(Declared.of(architecture).blocks):
            self._append(f"blocks.{i}", block, tensors)
        self.requires_grad_(False)

    def _append(self, at: str, block: Block, tensors: Mapping[str, Tensor]) -> None:
        heads = [tensors[f"{at}.attention.{m}"] for m in _MATRICES if block.heads]
        self.attention.append(
            Attention(heads, block.sights, block.attention) if heads else nn.Identity()
        )
        affine = range(len(block.mlp) + 1 if block.mlp else 0)
        layers = [
            (tensors[f"{at}.mlp.{j}.weight"], tensors[f"{at}.mlp.{j}.bias"])
            for j in affine
        ]
        mask = tensors.get(f"{at}.mlp.residual")
        named = {str(name) for layer in block.activations for name in layer}
        if others := sorted(named - FUNCTIONS.keys()):
            raise ModelFileError(f"Krohn's runtime is not about {others[0]!r} units")
        self.mlp.append(Mlp(layers, mask, block.activations))

    @property
    def bushy(self) -> int:
        """The most nodes below a word that a pass of `branch` should cover at once.

        Measured on a CPU: a layer of attention that is not the first compares all nodes
        below a word with one another.
        """
        layers = sum(isinstance(attention, Attention) for attention in self.attention)
        return 64 if layers <= 1 else 16

    @property
    def causal(self) -> bool:
        """Whether what it says after a letter depends on no later one."""
        return all(
            attention.causal
            for attention in self.attention
            if isinstance(attention, Attention)
        )

    @property
    def length(self) -> int:
        """The longest word that the position table has room for."""
        return int(self.position.shape[0]) - 1

    def embed(self, tokens: Tensor) -> Tensor:
        """``(batch, time)`` token indices from position 0 on, to the stream."""
        return self.token[tokens] + self.position[: tokens.shape[1]]

    def with_bos(self, tokens: Tensor) -> Tensor:
        """``(batch, time)`` to ``(batch, time + 1)``: BOS in front."""
        bos = tokens.new_full((tokens.shape[0], 1), self.token.shape[0] - 1)
        return torch.cat([bos, tokens], dim=1)

    @in_full
    def snapshots(self, tokens: Tensor) -> list[Tensor]:
        """The residual stream after the embedding and after every sublayer.

        Args:
            tokens: ``(batch, time)`` letter indices, without BOS.

        Returns:
            ``2·blocks + 1`` tensors ``(batch, time + 1, d)``; position 0 is BOS.
        """
        seen: list[Tensor] = []
        places = [f"stream.{i}" for i in range(2 * len(self.mlp) + 1)]
        self.hooked(tokens, Hooks(dict.fromkeys(places, (seen.append,))))
        return seen

    @in_full
    def hooked(self, tokens: Tensor, hooks: Hooks) -> Tensor:
        """Logits as of `forward`, with functions at places (`hook_places`).

        Position 0 of what they see is BOS.
        """
        x = hooks("stream.0", self.embed(self.with_bos(tokens)))
        both = zip(self.attention, self.mlp, strict=True)
        for b, (attention, mlp) in enumerate(both):
            if isinstance(attention, Attention):
                x = x + attention.hooked(x, hooks, f"blocks.{b}.attention")
            x = hooks(f"stream.{2 * b + 1}", x)
            at = f"blocks.{b}.mlp.hidden"
            x = mlp(x, hidden=lambda i, h, at=at: hooks(f"{at}.{i}", h))
            x = hooks(f"stream.{2 * b + 2}", x)
        return hooks("logits", self.read_out(x))[:, 1:]

    def hook_places(self) -> list[str]:
        """The places at which `hooked` calls functions, in order."""
        places = ["stream.0"]
        both = zip(self.attention, self.mlp, strict=True)
        for b, (attention, mlp) in enumerate(both):
            if isinstance(attention, Attention):
                seen = ("query", "key", "value", "pattern", "taken")
                places += [f"blocks.{b}.attention.{name}" for name in seen]
            hidden = range(len(widths(mlp)) - 1)
            places += [f"stream.{2 * b + 1}"]
            places += [f"blocks.{b}.mlp.hidden.{i}" for i in hidden]
            places += [f"stream.{2 * b + 2}"]
        return [*places, "logits"]

    @in_full
    def forward(self, tokens: Tensor) -> Tensor:
        """Logits ``(batch, time, states)`` for letter indices ``(batch, time)``."""
        return self.read_out(self._through(self.embed(self.with_bos(tokens)))[0][:, 1:])

    @in_full
    def start(self, batch: int = 1) -> Cache:
        """The memory of BOS, which `step` and `branch` need.

        Raises:
            ModelFileError: If heads see the whole word, which must be there at once.
        """
        if not self.causal:
            raise ModelFileError(
                "it reads a word as a whole, and not letter by letter: heads see what "
                "comes later"
            )
        bos = torch.full((batch, 1), self.token.shape[0] - 1, device=self.token.device)
        heads = (each for each in self.attention if isinstance(each, Attention))
        projections = tuple(each.projection() for each in heads)
        parts = self._through(self.embed(bos))[1]
        return Cache(1, parts, projections=projections)

    def _through(self, x: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        """All blocks on whole words; the last stream, and keys and values by block."""
        parts: list[Tensor] = []
        for attention, mlp in zip(self.attention, self.mlp, strict=True):
            if isinstance(attention, Attention):
                added, both = attention(x)
                x = x + added
                parts += both
            x = mlp(x)
        return x, tuple(parts)

    def step(
        self, tokens: Tensor, cache: Cache, added: Tensor | None = None
    ) -> tuple[Tensor, Cache]:
        """One more letter for every word.

        Args:
            tokens: ``(batch,)`` letter indices.
            cache: What `start` or the step before returned.
            added: ``(batch, d)``: what is added to their embeddings.

        Returns:
            Logits ``(batch, states)`` and the longer cache.
        """
        logits, grow = self.branch(tokens[:, None], cache, ONE, added)
        return logits[:, 0], grow(0, len(tokens))

    @in_full
    def branch(
        self, tokens: Tensor, cache: Cache, tree: Tree, given: Tensor | None = None
    ) -> tuple[Tensor, Grow]:
        """All the ways in which a tree continues every word, by one pass.

        Args:
            tokens: ``(batch, nodes)`` letter indices, or ``(branches,)`` if they are the
                same below every node.
            cache: What `start` or an earlier step returned.
            tree: How the nodes hang together.
            given: ``(batch, d)``: what is added to the embeddings of a word's nodes.

        Returns:
            Logits ``(batch, nodes, states)``, and a function that makes the longer
            cache of some of the ``batch · leaves`` words, for those who go on.
        """
        x, alike = self._nodes(tokens, cache, tree)
        if given is not None:
            x, alike = x + given[:, None], False
        added: list[Tensor] = []
        running: list[bool] = []
        projections = iter(cache.projections)
        for attention, mlp in zip(self.attention, self.mlp, strict=True):
            if isinstance(attention, Attention):
                n = len(added)
                past = cache.parts[n], cache.parts[n + 1]
                known = next(projections, None)
                written, both = attention.branch(x, past, tree, alike, known)
                x, alike = x + written, False
                added += both
                running += [attention.mixing.running] * 2
            x = mlp(x, affine)
        logits = affine(x, self.weight, self.bias)
        return logits, partial(grown, cache, added, running, tree)

    def _nodes(self, tokens: Tensor, cache: Cache, tree: Tree) -> tuple[Tensor, bool]:
        """The embedded nodes, and whether they are those of all words at once."""
        alone = tree.generations == 1
        at = cache.seen if alone else cache.seen + tree.depth.to(tokens.device)
        places = self.position[at]
        if tokens.dim() == 2:
            return self.token[tokens] + places, False
        x = (self.token[tokens[tree.last.to(tokens.device)]] + places)[None]
        if x.dtype.itemsize >= 4 or not cache.parts:
            return x, True
        return x.expand(len(cache.parts[0]), -1, -1), False

    def scratch(self, seen: int) -> int:
        """How many numbers a pass of `branch` holds for one node, at most.

        Args:
            seen: How many positions the node sees.
        """
        # Scores and weights beside what they are made of; then keys and values, of which
        # a few nodes share a copy of those they see.
        heads, kept, hidden = [0], 0, [0]
        for attention, mlp in zip(self.attention, self.mlp, strict=True):
            if isinstance(attention, Attention):
                count, _, narrow = attention.query.shape
                both = narrow + attention.value.shape[2]
                seen_each = 3 * (seen + self.bushy) + (seen // FEW + 10) * both
                heads.append(count * seen_each)
                sums = attention.mixing.running
                kept += count * (narrow * both if sums else both)
            # A product, its ReLU, and the layer before.
            hidden += [4 * width for width in widths(mlp)]
        width, outputs = self.weight.shape
        return 4 * width + kept + max(*heads, *hidden, 6 * outputs)

    @in_full
    def read_out(self, x: Tensor) -> Tensor:
        """The stream ``(…, d)`` to logits ``(…, states)``."""
        return x @ self.weight + self.bias


FEW = 6
"""Two generations of two letters: the fewest nodes that look back together."""


_MATRICES = ("query", "key", "value", "out")
