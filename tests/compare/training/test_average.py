"""Networks are measured with the exponential moving average of their weights."""

import torch

from krohn.compare.models import Lstm, build
from krohn.compare.training.trainer import Average


def test_the_average_is_the_weighted_sum_of_all_weights_so_far() -> None:
    network = build(Lstm(2, 3), 2, 2, 8, seed=0)
    average, bias = Average(network, 0.9), network.head.bias
    seen = [bias.detach().clone()]
    for value in (1.0, -2.0, 5.0):
        bias.data.fill_(value)
        average.follow()
        seen.append(bias.detach().clone())
    shares = [0.9**3, 0.1 * 0.9**2, 0.1 * 0.9, 0.1]
    expected = sum(s * b for s, b in zip(shares, seen, strict=True))
    assert torch.allclose(average.network.head.bias, expected)
    assert seen[-1].tolist() == [5.0, 5.0]


def test_without_decay_the_network_itself_is_measured() -> None:
    network = build(Lstm(2, 3), 2, 2, 8, seed=0)
    average = Average(network, 0.0)
    average.follow()
    assert average.network is network


def test_frozen_weights_are_no_part_of_it() -> None:
    network = build(Lstm(2, 3), 2, 2, 8, seed=0)
    network.embedding.requires_grad_(False)
    average = Average(network, 0.5)
    network.head.bias.data.fill_(4.0)
    average.follow()
    held = average.network.embedding.weight
    assert torch.equal(held, network.embedding.weight)
    before = build(Lstm(2, 3), 2, 2, 8, seed=0).head.bias
    assert torch.allclose(average.network.head.bias, 2.0 + before / 2)
