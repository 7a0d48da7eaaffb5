"""Two methods of circuit discovery, as baselines: patching each edge, and its gradient.

The residual stream is the sum of what components write. On a patched edge the later
component reads, instead of what the earlier one writes on a word, what that one writes on
another word (path patching; the test in ACDC, Conmy et al. 2023). Edge attribution patching
(Syed et al. 2023) estimates the effect by a gradient.
"""

from collections.abc import Callable, Iterable, Mapping

import numpy as np
import torch
from torch import Tensor

from krohn.algebra.errors import KrohnError
from krohn.architectures.exports import circuit as circuits
from krohn.architectures.exports.circuit import (
    EMBEDDING,
    READ_OUT,
)
from krohn.instruments.workbench.answers import ROUNDING
from krohn.instruments.workbench.scoring import Edge
from krohn.network.directions import running_tensors
from krohn.network.meaning.attention import View
from krohn.network.meaning.forward import feed, look, read_out
from krohn.network.meaning.net import Net
from krohn.network.meaning.tensors import FAST, points, with_bos
from krohn.network.modelfile import ModelFile
from krohn.program.block_kinds import BlockKinds
from krohn.program.domains import IntArray

PLAIN = BlockKinds("edge patching")

Written = dict[str, Tensor]
"""Vectors that each component adds, ``(batch, length + 1, d)`` each; logits last."""


class Components:
    """A Transformer in float64, as components each of which reads a sum of others.

    Attributes:
        edges: All edges that its circuit could have.
        shape: The architecture.
        tensors: Those that run, by their names in the file.

    Raises:
        KrohnError: If it has other blocks than softmax heads and one layer of ReLUs.
    """

    def __init__(self, file: ModelFile) -> None:
        shape = file.architecture
        PLAIN.check(shape)
        if not shape.strict or any(len(block.mlp) > 1 for block in shape.blocks):
            raise KrohnError(
                "edges are patched in Transformers with plain blocks: compile with "
                "strict=True (--strict)"
            )
        content = circuits.circuit(file)
        self.edges = circuits.possible(content)
        self._sources = {
            node: [u for u, v in self.edges if v == node]
            for node in circuits.nodes(content)
        }
        self.shape = shape
        self.tensors = {
            n: torch.from_numpy(t).double() for n, t in running_tensors(file).items()
        }

    def run(
        self,
        words: IntArray,
        change: Mapping[Edge, Tensor] | None = None,
        watch: Callable[[str, Tensor], None] = lambda *_: None,
    ) -> Written:
        """Vectors that each component writes on words ``(batch, length)`` of letters.

        Args:
            words: The words.
            change: For some edges what is added to what the later component reads.
            watch: Called with each component after the first, and what it reads.
        """
        net = Net.of(self.shape, self.tensors)
        letters = with_bos(net, torch.from_numpy(np.ascontiguousarray(words)))
        written = {EMBEDDING: FAST.embed(net, points(letters))}
        if torch.is_grad_enabled() and not written[EMBEDDING].requires_grad:
            written[EMBEDDING].requires_grad_()
        for node, sources in self._sources.items():
            if node == EMBEDDING:
                continue
            read = torch.stack([written[u] for u in sources]).sum(dim=0)
            for u in sources:
                if change and (u, node) in change:
                    read = read + change[u, node]
            watch(node, read)
            written[node] = _run_component(net, node, read)
        return written


def _run_component(net: Net[Tensor], node: str, read: Tensor) -> Tensor:
    if node == READ_OUT:
        return torch.as_tensor(read_out(net, FAST, read))
    _, layer, part, *head = node.split(".")
    block = net.blocks[int(layer)]
    if part == "mlp":
        return torch.as_tensor(feed(FAST, block.layers, read))
    assert block.heads is not None
    view = View(FAST, block.heads.alone(int(head[0])), points(read))
    return torch.as_tensor(look(FAST, view, read)[0])


def edge_effects(
    file: ModelFile,
    words: IntArray,
    others: IntArray,
    *,
    edges: Iterable[Edge] | None = None,
    at: IntArray | None = None,
) -> dict[Edge, float]:
    """For each possible edge the share of answers that patching it changes.

    Args:
        file: A strict Transformer.
        words: ``(batch, length)``, letter indices.
        others: Of the same shape: where what is patched in comes from.
        edges: Some edges; all by default.
        at: ``(batch,)``: the one position of each word that is patched, from 0, which is
            the start symbol; all by default.

    An answer is the class of the largest logit. That of a network which says laws changes
    if a number changes by more than twice the error that its file claims.

    Raises:
        KrohnError: If the network has other blocks.
    """
    network = Components(file)
    shape = len(words), words.shape[1] + 1, 1
    where = torch.ones(shape, dtype=torch.float64)
    if at is not None:
        where = torch.nn.functional.one_hot(torch.from_numpy(at), shape[1])[..., None]
    with torch.inference_mode():
        clean, other = network.run(words), network.run(others)
        clean_outputs, effects = clean[READ_OUT], {}
        for u, v in network.edges if edges is None else edges:
            change = {(u, v): (other[u] - clean[u]) * where}
            now = network.run(words, change)[READ_OUT]
            effects[u, v] = measure_change(file, clean_outputs[:, 1:], now[:, 1:])
    return effects


def measure_change(file: ModelFile, before: Tensor, after: Tensor) -> float:
    """The share of answers that are others, of logits ``(batch, length, classes)``."""
    error = file.claim.error
    if not error:
        differs = after.argmax(dim=-1) != before.argmax(dim=-1)
    else:
        differs = (after - before).abs().amax(dim=-1) > 2 * error + ROUNDING
    return float(differs.double().mean())


def edge_attributions(
    file: ModelFile, words: IntArray, others: IntArray
) -> dict[Edge, float]:
    """For each possible edge how much patching it changes the loss, to first order.

    The loss is the cross-entropy of the answers that the network gives. Arguments and
    errors are those of `edge_effects`.
    """
    network, reads = Components(file), Written()

    def watch(node: str, read: Tensor) -> None:
        read.retain_grad()
        reads[node] = read

    with torch.inference_mode():
        other = {n: x.clone() for n, x in network.run(others).items()}
    clean = network.run(words, watch=watch)
    logits = clean[READ_OUT][:, 1:].flatten(0, 1)
    loss = torch.nn.functional.cross_entropy(logits, logits.argmax(dim=-1))
    torch.autograd.backward(loss)
    slopes = {
        n: torch.zeros(()) if x.grad is None else x.grad for n, x in reads.items()
    }
    return {
        (u, v): float(((other[u] - clean[u].detach()) * slopes[v]).sum().abs())
        for u, v in network.edges
    }
