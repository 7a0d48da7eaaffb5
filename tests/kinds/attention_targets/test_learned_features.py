"""A layer of the paper's shape can be trained, and its head can be read."""

import numpy as np
import torch
from learned_features import answers, head_of, layer, train_layer


def test_a_layer_is_trained_and_has_a_head_of_its_width() -> None:
    inputs = np.random.default_rng(0).uniform(size=(32, 6))
    wanted = inputs.mean(axis=1, keepdims=True).repeat(6, axis=1)
    before, after = (train_layer(inputs, wanted, 2, 0, steps) for steps in (2, 30))
    errors = [((answers(n, inputs) - wanted) ** 2).mean() for n in (before, after)]
    assert errors[1] < errors[0] / 4
    sigma = head_of(after, inputs).pool_sequences(4).sigma
    assert (sigma[:2] > 0).all()
    assert np.allclose(sigma[2:], 0, atol=1e-6)


def test_weights_depend_on_the_seed_alone() -> None:
    one, same, other = (layer(6, 2, seed) for seed in (0, 0, 1))
    weights = [
        torch.cat([p.ravel() for p in n.parameters()]) for n in (one, same, other)
    ]
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])
