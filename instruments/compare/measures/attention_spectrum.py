"""The singular values of the coupling that a head has learned, and their bias.

A head's logits before softmax are ρ̂(x_t, x_s) = q(x_t) · k(x_s). The singular values of
the matrix [ρ̂(x_t, x_s)] / τ tend to those of ρ̂ under the law of the inputs (Jiang & Li,
section 5.2, take their mean over many inputs). At small τ they are biased: by O(1/τ), the
large ones upwards and the small ones down. The bias is estimated from the logits alone
(`of_logits`), predicted from the bases (`expected_bias`), and mostly avoided where queries
and keys are known, since inputs of all sequences then make one large matrix (`of_head`).
docs/proofs/attention_targets.md derives it.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from krohn.algebra.errors import KrohnError
from krohn.architectures.attention_layer.engine import AttentionLayer
from krohn.architectures.attention_layer.meaning import project_features
from krohn.instruments.compare.models.gpt import OWN
from krohn.instruments.compare.models.network import recording
from krohn.network.forward_pass import evaluation_mode
from krohn.network.precision import FloatArray

BLOCKS = 16
"""The jackknife leaves out so many parts of the positions in turn, at most."""


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Singular values, largest first.

    Attributes:
        length: τ.
        averaged: ``(k,)``: the logits' values, averaged over inputs and divided by τ.
        deviation: ``(k,)``: the standard error of that mean.
        bias: ``(k,)``: how far it is too large, estimated.
    """

    length: int
    averaged: FloatArray
    deviation: FloatArray
    bias: FloatArray

    @property
    def corrected_values(self) -> FloatArray:
        """The singular values without the bias, ``(k,)``; their own error is O(1/τ²)."""
        return self.averaged - self.bias


def of_logits(logits: FloatArray, terms: int) -> Spectrum:
    """The spectrum of logits ``(count, τ, τ)``, its bias by the jackknife.

    If b/τ is the bias, leaving out one part of g makes it b/τ · g/(g − 1): so g − 1 times
    the excess of the mean over the parts estimates b/τ (Quenouille 1956).

    Raises:
        KrohnError: If there are fewer than 2 inputs, or fewer positions than terms.
    """
    count, length = logits.shape[:2]
    blocks = min(BLOCKS, length)
    shortest = length - -(-length // blocks)
    if logits.shape[2] != length or count < 2 or not 0 < terms <= shortest:
        raise KrohnError(
            "a spectrum needs square logits of two inputs at least, and fewer terms "
            f"than positions; these are {logits.shape} for {terms} terms"
        )
    each = _values(logits, terms)
    less = [
        _values(np.delete(np.delete(logits, part, axis=1), part, axis=2), terms)
        for part in np.array_split(np.arange(length), blocks)
    ]
    averaged = each.mean(axis=0)
    bias = (blocks - 1) * (np.mean(less, axis=(0, 1)) - averaged)
    return Spectrum(length, averaged, each.std(axis=0, ddof=1) / np.sqrt(count), bias)


def _values(logits: FloatArray, terms: int) -> FloatArray:
    singular_values = np.linalg.svd(logits, compute_uv=False)[:, :terms]
    return np.asarray(singular_values / logits.shape[1], dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Bases:
    """A coupling as a sum Σ σ_k φ_k(u) ψ_k(v), at points with weights.

    Attributes:
        weights: ``(n,)``: of the points; they sum to 1.
        sigma: ``(k,)``: largest first.
        left: ``(n, k)``: φ_k, orthonormal under the weights.
        right: ``(n, k)``: ψ_k.
    """

    weights: FloatArray
    sigma: FloatArray
    left: FloatArray
    right: FloatArray


def expected_bias(bases: Bases, length: int) -> FloatArray:
    """``(k,)``: the bias at τ up to O(1/τ²), where these bases are all that ρ has.

    With Gram matrices I + E of φ and I + D of ψ at the inputs, σ̂² are the eigenvalues of
    Σ(I + E)Σ(I + D); the second order of their perturbation is averaged over inputs.

    Raises:
        KrohnError: If two singular values are equal: then the order mixes them.
    """
    sigma = bases.sigma
    gaps = sigma[:, None] ** 2 - sigma**2
    np.fill_diagonal(gaps, np.inf)
    if not np.all(gaps):
        raise KrohnError("the bias is known where singular values are distinct")
    same = np.eye(len(sigma))
    left, right = bases.left**2, bases.right**2
    both = bases.left * bases.right
    weights = bases.weights[:, None]
    ee, dd = (side.T @ (weights * side) - same for side in (left, right))
    ed = both.T @ (weights * both) - same  # covariances of E_kj and D_kj, times τ
    up, down = sigma[:, None], sigma
    mixed = up * down * (up * down * (ee + dd) + (up**2 + down**2) * ed) / gaps
    second = up[:, 0] * (ed @ sigma) + mixed.sum(axis=1)
    spread = np.diag(ee) + np.diag(dd) + 2 * np.diag(ed)
    bias: FloatArray = (second / (2 * sigma) - sigma * spread / 8) / length
    return bias


@dataclass(frozen=True, eq=False)
class Head:
    """The queries and keys of a head at every position of some inputs.

    Attributes:
        title: The name of the head.
        queries: ``(count, τ, m_h)``, scaled so that logits are their products.
        keys: ``(count, τ, m_h)``.
    """

    title: str
    queries: FloatArray
    keys: FloatArray

    @property
    def logits(self) -> FloatArray:
        """``(count, τ, τ)``: all pairs, also those that a causal mask hides."""
        products: FloatArray = self.queries @ self.keys.swapaxes(1, 2)
        return products

    @property
    def centred_head(self) -> "Head":
        """A head of the same attention weights, with keys of mean 0.

        A term that depends on the query alone changes no weight. Here it is the mean over
        the keys; of all logits with these weights the centred ones are least in L².
        """
        mean = self.keys.mean(axis=(0, 1))
        return Head(self.title, self.queries, self.keys - mean)

    def pool_sequences(self, terms: int) -> Bases:
        """The largest terms of one matrix of all pairs of the inputs of all sequences.

        Its bias is as at τ = count · τ. The matrix is not formed: with QR on each side
        it has the singular values of a matrix of m_h by m_h.
        """
        rows = self.queries.shape[0] * self.queries.shape[1]
        sides = (side.reshape(rows, -1) for side in (self.queries, self.keys))
        (asked, first), (offered, second) = (np.linalg.qr(side) for side in sides)
        left, sigma, right = np.linalg.svd(first @ second.T / rows)
        root = np.sqrt(rows)
        parts = (root * asked @ left, root * offered @ right.T)
        left, right = (part[:, :terms] for part in parts)
        return Bases(np.full(rows, 1 / rows), sigma[:terms], left, right)


def of_layer(layer: AttentionLayer, inputs: Tensor) -> Head:
    """The head of an attention layer, on inputs ``(count, τ, d)``.

    Raises:
        KrohnError: If it looks at the slots of a memory.
    """
    if layer.remembers:
        raise KrohnError("this layer looks at a memory, not at other positions")
    with torch.no_grad():
        sides = project_features(layer.net, layer.encode_inputs(inputs))
    return Head("head", *(side.double().numpy() for side in sides))


def of_gpt2(body: Any, tokens: Tensor) -> list[Head]:
    """All heads of a GPT-2 of Hugging Face's library, on tokens ``(count, τ)``.

    Args:
        body: A ``GPT2Model``: also ``.transformer`` of one with a read-out, or ``.body``
            of a network that `krohn compare` has trained.
        tokens: As it reads them.

    Raises:
        KrohnError: If it is no GPT-2.
    """
    blocks = getattr(body, "h", ())
    parts: list[nn.Module] = [b.attn.c_attn for b in blocks if hasattr(b, "attn")]
    if not parts:
        raise KrohnError("queries and keys are read from networks like GPT-2 only")
    if body.config._attn_implementation.startswith(f"{OWN}linear"):
        raise KrohnError(
            "linear attention has no logits, so its heads have no spectrum"
        )
    with evaluation_mode(body), torch.no_grad(), recording(parts) as given:
        body(tokens)
    all_heads = []
    for layer, (block, each) in enumerate(zip(blocks, given, strict=True)):
        width, heads = block.attn.head_dim, block.attn.num_heads
        scale = width**-0.5 if block.attn.scale_attn_weights else 1.0
        if block.attn.scale_attn_by_inverse_layer_idx:
            scale /= layer + 1
        query, key, _ = (
            part.unflatten(2, (heads, width)).double().cpu().numpy()
            for part in each.chunk(3, dim=2)
        )
        all_heads += [
            Head(f"head {i} of layer {layer + 1}", query[:, :, i] * scale, key[:, :, i])
            for i in range(heads)
        ]
    return all_heads
