"""The plain causal Transformer that a model file describes, as torch modules.

They hold the parameters; what is computed of them says `krohn.network.meaning.forward`.
"""

from collections.abc import Iterable, Mapping
from functools import partial
from itertools import chain
from operator import is_
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn

from krohn.network import ModelFileError
from krohn.network.cache import ONE, Cache, Grow, Tree, grow_cache
from krohn.network.forward_pass import Hooks, in_full
from krohn.network.meaning.attention import View, pattern
from krohn.network.meaning.branches import branch, start
from krohn.network.meaning.fast_tensors import net_tensors, whole
from krohn.network.meaning.forward import check, look, mlp, places, read_out, through
from krohn.network.meaning.hooked import Hooked
from krohn.network.meaning.net import (
    AS_A_WHOLE,
    MATRICES,
    Affine,
    Block,
    Heads,
    Net,
)
from krohn.network.meaning.tensors import CAREFUL, FAST, points, with_bos
from krohn.program.architectures.transformer import Transformer as Declared
from krohn.program.attention import Linear
from krohn.program.quoting import kind_of_value

if TYPE_CHECKING:
    from krohn.network.copies import CopyingHeads


class Mlp(nn.Module):
    """Affine layers with units between them, and the residual connection around them.

    Attributes:
        mask: 1 on dimensions that are added to, 0 on those overwritten; None for all 1.
        runs: For each layer its name, and how many units in a row have which function.
    """

    def __init__(self, block: Block[Tensor]) -> None:
        super().__init__()
        self.runs = [(str(j), layer.runs) for j, layer in enumerate(block.layers)]
        self.weights = nn.ParameterList([layer.weight for layer in block.layers])
        self.biases = nn.ParameterList([layer.bias for layer in block.layers])
        self.mask = None if block.mask is None else nn.Parameter(block.mask)

    @property
    def layers(self) -> tuple[Affine[Tensor], ...]:
        """The layers as data, of the parameters as they are now."""
        if not self.runs:
            return ()
        modules = self._modules
        weights, biases = modules["weights"], modules["biases"]
        return tuple(
            [Affine(_own(weights, j), _own(biases, j), runs) for j, runs in self.runs]
        )

    def forward(self, x: Tensor) -> Tensor:
        """``(…, d)``: ``mask · x + f(x)``."""
        return torch.as_tensor(mlp(FAST, Block(None, self.mask, self.layers), x))


class Attention(nn.Module):
    """Heads without biases; what is weighed are plain inner products.

    Attributes:
        kind: How they weigh positions.
        sights: The positions that each sees.
    """

    def __init__(self, heads: Heads[Tensor]) -> None:
        super().__init__()
        self.kind, self.sights = heads.kind, heads.sights
        self.query, self.key = nn.Parameter(heads.query), nn.Parameter(heads.key)
        self.value, self.out = nn.Parameter(heads.value), nn.Parameter(heads.out)

    @property
    def heads(self) -> Heads[Tensor]:
        """The heads as data, of the parameters as they are now."""
        query, key, value, out = (_own(self, name) for name in MATRICES)
        return Heads(self.kind, self.sights, query, key, value, out)

    def forward(self, x: Tensor) -> Tensor:
        """The sum that the heads add to the stream of whole words ``(batch, time, d)``."""
        return torch.as_tensor(look(CAREFUL, self._view(x), x)[0])

    @in_full
    def weights(self, x: Tensor) -> Tensor:
        """``(batch, heads, time, time)``: how much each position takes of each."""
        view = self._view(x)
        query, key, _ = CAREFUL.project(view.heads, x)
        return torch.as_tensor(pattern(CAREFUL, view.heads, query, key, view))

    def _view(self, x: Tensor) -> View:
        return View(CAREFUL, self.heads, points(x))


class Transformer(nn.Module):
    """Token and position embedding, blocks, and a linear read-out.

    Position 0 holds the symbol BOS, the last row of the token embedding; `forward` puts
    it there. There is no layer norm and no dropout.

    Attributes:
        copies: Says of words which heads copy by position; None if nobody knows.
    """

    copies: "CopyingHeads | None" = None

    def __init__(
        self, architecture: Mapping[str, Any], tensors: Mapping[str, Tensor]
    ) -> None:
        super().__init__()
        given = Net.of(Declared.of(architecture), tensors)
        check(given, FAST)
        self.token, self.position = (
            nn.Parameter(given.token),
            nn.Parameter(given.position),
        )
        self.weight, self.bias = (
            nn.Parameter(given.out.weight),
            nn.Parameter(given.out.bias),
        )
        self.attention, self.mlp = nn.ModuleList(), nn.ModuleList()
        for block in given.blocks:
            heads = block.heads
            self.attention.append(nn.Identity() if heads is None else Attention(heads))
            self.mlp.append(Mlp(block))
        self.causal: bool = given.causal
        self.requires_grad_(False)

    @property
    def net(self) -> Net[Tensor]:
        """The network as data, of the parameters as they are now."""
        return self._data.net

    @property
    def _data(self) -> "_Data":
        if torch.compiler.is_compiling():
            return _Data.of(self)
        known = _DATA.get(self)
        if known is None or not known.is_made_of_the_same():
            known = _DATA[self] = _Data.of(self)
        return known

    @property
    def _heads(self) -> list[Attention]:
        return [each for each in self.attention if isinstance(each, Attention)]

    @property
    def bushy(self) -> int:
        """The most nodes below a word that a pass of `branch` should cover at once.

        Measured on a CPU: a layer of attention that is not the first compares all nodes
        below a word with one another.
        """
        return 64 if len(self._heads) <= 1 else 16

    @property
    def length(self) -> int:
        """The longest word that the position table has room for."""
        return int(self.position.shape[0]) - 1

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
        self.run_with_hooks(tokens, Hooks(dict.fromkeys(places, (seen.append,))))
        return seen

    @in_full
    def run_with_hooks(self, tokens: Tensor, hooks: Hooks) -> Tensor:
        """Logits as of `forward`, with functions at places (`hook_places`).

        Position 0 of what they see is BOS.
        """
        net, o = self.net, Hooked(hooks)
        x, _ = through(net, o, points(with_bos(net, tokens)))
        return torch.as_tensor(read_out(net, o, x)[:, 1:])

    def hook_places(self) -> list[str]:
        """The places at which `run_with_hooks` calls functions, in order."""
        return places(self.net)

    @in_full
    def forward(self, tokens: Tensor) -> Tensor:
        """Logits ``(batch, time, states)`` for letter indices ``(batch, time)``."""
        data, copies = self._data, self.copies
        for part in data.parts:
            if part._forward_hooks or part._forward_pre_hooks:
                return self._in_calls(tokens)
        if copies is None:
            return whole(data.net, tokens)
        return whole(data.net, tokens, copies.of_words)

    def _in_calls(self, tokens: Tensor) -> Tensor:
        """The same, by calls of all parts, for hooks of torch on these.

        Pruning is one, which makes a parameter anew before each call. Hooks are called
        once, so heads take care of numbers that are not finite at once.
        """
        net = self.net
        x = FAST.embed(net, points(with_bos(net, tokens)))
        for attention, units in zip(self.attention, self.mlp, strict=True):
            if isinstance(attention, Attention):
                x = FAST.add(x, attention(x))
            x = units(x)
        return torch.as_tensor(read_out(net, FAST, x[:, 1:]))

    @in_full
    def start(self, batch: int = 1) -> Cache:
        """The memory of BOS, which `step` and `branch` need.

        Raises:
            ModelFileError: If heads see the whole word, which must be there at once.
        """
        if not self.causal:
            raise ModelFileError(AS_A_WHOLE)
        return start(self.net, batch)

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
        logits, added = branch(tokens, cache, tree, given)
        return logits, partial(grow_cache, cache, added, cache.plan.running, tree)

    def scratch(self, seen: int) -> int:
        """How many numbers a pass of `branch` holds for one node, at most.

        Args:
            seen: How many positions the node sees.
        """
        # Scores and weights beside what they are made of; then keys and values, of which
        # a few nodes share a copy of those they see.
        heads, kept = [0], 0
        for attention in self._heads:
            count, _, narrow = attention.query.shape
            both = narrow + attention.value.shape[2]
            heads.append(count * (3 * (seen + self.bushy) + (seen // FEW + 10) * both))
            kept += count * (narrow * both if _sums(attention) else both)
        # A product, its ReLU, and the layer before.
        layers = (layer for block in self.net.blocks for layer in block.layers)
        hidden = (4 * len(layer.bias) for layer in layers)
        width, outputs = self.weight.shape
        return 4 * width + kept + max(*heads, *hidden, 6 * outputs)


class _Data(NamedTuple):
    """A network as data, which takes as long to put together as some of its operations.

    Attributes:
        net: The network.
        parts: The modules of attention, and of MLPs.
        holders: The dicts of modules and parameters that it is made of.
        held: What these hold; nothing if a tensor is no parameter, but made for a pass.
        said: The kinds of heads, and the functions of units.
    """

    net: Net[Tensor]
    parts: tuple[Any, ...]
    holders: list[dict[str, Any]]
    held: list[Any]
    said: list[Any]

    @classmethod
    def of(cls, network: Transformer) -> "_Data":
        """A network as it is now."""
        parts = (*network.attention, *network.mlp)
        both = zip(network.attention, network.mlp, strict=True)
        blocks = tuple([_block(attention, mlp) for attention, mlp in both])
        out: Affine[Tensor] = Affine(network.weight, network.bias)
        net = Net(network.token, network.position, blocks, out)
        modules = list(network.modules())
        holders = [x for m in modules for x in (m._modules, m._parameters)]
        held = _values(holders, parts)
        own = all(isinstance(tensor, nn.Parameter) for tensor in net_tensors(net))
        return cls(net, parts, holders, held if own else [], [*map(_said, parts)])

    def is_made_of_the_same(self) -> bool:
        """Whether the network is still that of the data."""
        held = _values(self.holders, self.parts)
        return (
            len(held) == len(self.held)
            and all(map(is_, held, self.held))
            and [*map(_said, self.parts)] == self.said
        )


_DATA: WeakKeyDictionary[Transformer, _Data] = WeakKeyDictionary()


def _values(holders: Iterable[dict[str, Any]], parts: Iterable[Any]) -> list[Any]:
    """What dicts hold, and masks that are no parameters."""
    held = list(chain.from_iterable(map(dict.values, holders)))
    return [*held, *[part.__dict__.get("mask") for part in parts]]


def _said(part: nn.Module) -> Any:
    """What a part of a network says beside its tensors."""
    said = part.__dict__
    return said.get("runs"), said.get("kind"), said.get("sights")


def _own(module: Any, name: str) -> Tensor:
    """A tensor of a module; torch's own look-up takes as long as a small operation."""
    parameter: Tensor | None = module._parameters.get(name)
    return getattr(module, name) if parameter is None else parameter


def _block(attention: nn.Module, mlp: nn.Module) -> Block[Tensor]:
    for part, known in ((attention, (Attention, nn.Identity)), (mlp, Mlp)):
        if not isinstance(part, known):
            raise ModelFileError(
                f"a part of the network was replaced by {kind_of_value(part)}, which it "
                "does not run: functions at its places change what is computed "
                "(run_with_hooks)"
            )
    assert isinstance(mlp, Mlp)
    heads = attention.heads if isinstance(attention, Attention) else None
    return Block(heads, mlp.mask, mlp.layers)


def _sums(attention: Attention) -> bool:
    """Whether what is remembered of the positions so far are sums."""
    return type(attention.kind) is Linear


FEW = 6
"""Two generations of two letters: the fewest nodes that look back together."""
