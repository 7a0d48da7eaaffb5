"""A head that is trained by hand is trained as torch does it."""

import numpy as np
import pytest
import torch
from given_features import (
    RATE,
    attend,
    bases,
    gradient,
    one_cycle,
    spectrum,
    train_head,
)


def test_gradients_by_hand_are_those_of_autograd() -> None:
    rng = np.random.default_rng(0)
    inputs, wanted = rng.uniform(size=(2, 5, 7))
    matrices = rng.standard_normal((2, 64, 3)) * 0.3
    features = bases(inputs).astype(float)
    weights = torch.tensor(matrices, requires_grad=True)
    read, x = torch.from_numpy(features), torch.from_numpy(inputs)
    scores = (read @ weights[0]) @ (read @ weights[1]).transpose(1, 2)
    means = (scores.softmax(dim=2) @ x[..., None])[..., 0]
    (means - torch.from_numpy(wanted)).square().mean().backward()
    assert np.allclose(attend(matrices, features, inputs)[0], means.detach().numpy())
    assert weights.grad is not None
    found = gradient(matrices, features, inputs, wanted)
    assert np.allclose(found, weights.grad.numpy(), rtol=1e-6, atol=1e-9)


def test_rates_and_momentum_are_those_of_one_cycle_in_torch() -> None:
    weight = torch.zeros(1, requires_grad=True)
    adam = torch.optim.Adam([weight], lr=RATE)
    schedule = torch.optim.lr_scheduler.OneCycleLR(adam, RATE, total_steps=40)
    for step in range(40):
        (group,) = adam.param_groups
        assert one_cycle(step, 40) == pytest.approx((group["lr"], group["betas"][0]))
        adam.step()
        if step < 39:
            schedule.step()


def test_training_finds_a_coupling_of_one_term() -> None:
    """The target is such a head itself, so that its singular value is found."""
    inputs = np.random.default_rng(1).uniform(size=(256, 8))
    true = np.zeros((2, 64, 1), np.float32)
    true[:, 1] = 1.0
    wanted = attend(true, bases(inputs), inputs)[0]
    found = train_head(inputs, wanted, 1, 0, 600)
    off = attend(found, bases(inputs), inputs)[0] - wanted
    assert (off**2).mean() < 1e-6
    assert spectrum(found, 6) == pytest.approx([1.0], abs=0.05)
