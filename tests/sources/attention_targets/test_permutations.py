"""Permuted inputs: layers without positions follow them; Proposition 6.2 needs more."""

import numpy as np
import pytest
import torch

from krohn.network.attention_layer import AttentionLayer
from krohn.program.domains import FloatArray
from krohn.sources.attention_targets.sampling import aggregate

LENGTH = 6


def layer(codes: int) -> AttentionLayer:
    """A random layer of three inputs."""
    shape = {"length": LENGTH, "inputs": 3, "features_units": [8], "output_units": [5]}
    sizes = {
        **{"features.0.weight": (3 + codes, 8), "features.0.bias": (8,)},
        **{"features.1.weight": (8, 4), "features.1.bias": (4,)},
        **{f"attention.{part}": (4, 4) for part in ("query", "key", "value")},
        **{"output.0.weight": (4, 5), "output.0.bias": (5,)},
        **{"output.1.weight": (5, 2), "output.1.bias": (2,)},
        **({"code": (LENGTH, codes)} if codes else {}),
    }
    random = torch.Generator().manual_seed(0)
    held = {n: torch.randn(s, generator=random).double() for n, s in sizes.items()}
    return AttentionLayer(shape | {"causal": False, "memory": 0}, held)


@pytest.mark.parametrize("codes", [0, 2])
def test_a_layer_is_permutation_equivariant_unless_it_sees_positions(
    codes: int,
) -> None:
    random = torch.Generator().manual_seed(1)
    inputs = torch.randn(9, LENGTH, 3, generator=random).double()
    order = torch.randperm(LENGTH, generator=random)
    said = layer(codes)(inputs[:, order])
    followed = layer(codes)(inputs)[:, order]
    assert torch.allclose(said, followed, atol=1e-12) == (not codes)


@pytest.mark.parametrize("positional", [True, False])
def test_pieces_of_a_query_can_be_permuted_where_they_are_constant(
    positional: bool,
) -> None:
    # A22: position t asks φ_t(x_t). The altered target is H̃_t(x∘p) = H_t(x). The printed
    # proof gives position t the piece φ_p(t); the token that stands there is x(p(t)).
    random = np.random.default_rng(0)
    rank, count = 3, 200
    slope = random.normal(size=(LENGTH, rank)) * (not positional)
    offset = random.normal(size=(LENGTH, rank))
    keys = random.normal(size=(LENGTH, rank))
    order = np.roll(np.arange(LENGTH), 1)
    x = random.uniform(size=(count, LENGTH))

    def outputs(asked: FloatArray) -> FloatArray:
        return aggregate(asked @ (keys + x[..., None]).swapaxes(1, 2), x)

    own = outputs(offset + slope * x[..., None])
    permuted = x[:, order]
    printed = outputs(offset + slope * permuted[..., None])
    assert np.allclose(own, printed, atol=1e-12) == positional
