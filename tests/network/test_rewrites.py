"""A network that is rewritten computes the same, number by number."""

from collections.abc import Callable
from dataclasses import replace
from math import fsum
from typing import Any

import numpy as np
import pytest
from random_networks import RandomNetwork, random_transformer

from krohn.network.meaning.arrays import Arrays, whole
from krohn.network.meaning.attention import PROJECT, SCORES
from krohn.network.meaning.net import Affine, Net
from krohn.network.meaning.rewrites import divide_scores, ground, mirror, widen
from krohn.program.domains import FloatArray
from krohn.program.errors import Refused

KINDS = "softmax", "sparse", "relu"
HEADS, WIDTH, UNITS = 5, 6, 7
"""More of everything than random networks have."""
summed = np.vectorize(fsum, signature="(n)->()")


class Sums(Arrays):
    """Sums of products are rounded once, so that no order and no 0 among them matters."""

    def contract(self, axes: str, x: Any, y: Any) -> Any:
        """A sum of products."""
        if axes == PROJECT:
            return _product(x[:, None], y)
        if axes == SCORES:
            return _product(x, y.swapaxes(2, 3))
        wide = x.swapaxes(1, 2).reshape(len(x), x.shape[2], -1)
        return _product(wide, y.reshape(-1, y.shape[2]))

    def combine(self, weights: Any, values: Any, seen: Any) -> Any:
        """What is hidden has the weight 0, and all is finite."""
        return _product(weights, values)

    def affine(self, x: Any, layer: Affine[Any]) -> Any:
        """``x · weight + bias``."""
        return _product(x, layer.weight) + layer.bias


def _product(x: Any, y: Any) -> Any:
    if not x.shape[-1]:
        return x @ y
    return summed(x[..., :, None, :] * y.swapaxes(-1, -2)[..., None, :, :])


REWRITES: dict[str, Callable[[Net[FloatArray]], Net[FloatArray]]] = {
    "widened": lambda net: widen(net, HEADS, WIDTH, UNITS, "gelu"),
    "divided": lambda net: divide_scores(net, 8.0),
    "mirrored": mirror,
    "grounded": ground,
    "all": lambda net: divide_scores(
        widen(ground(mirror(net)), HEADS, WIDTH, UNITS), 4.0
    ),
}


def random(seed: int, longest: int = 6) -> RandomNetwork:
    return random_transformer(seed, kinds=KINDS, longest=longest)


@pytest.mark.sample(5)
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("name", REWRITES)
def test_it_computes_the_same_numbers(name: str, seed: int) -> None:
    """Bit by bit, where sums are rounded once."""
    given = random(seed)
    changed = REWRITES[name](given.net)
    plain, other = (whole(net, Sums(), given.words) for net in (given.net, changed))
    np.testing.assert_array_equal(plain, other)


@pytest.mark.parametrize("seed", range(12))
def test_a_power_of_two_changes_no_bit(seed: int) -> None:
    """Whatever the order of sums is: products of the same matrices are made."""
    given = random(seed, longest=20)
    plain, other = (
        whole(net, Arrays(), given.words)
        for net in (given.net, divide_scores(given.net, 16))
    )
    assert plain.tobytes() == other.tobytes()


@pytest.mark.parametrize("seed", range(4))
def test_a_network_that_reads_less_ground_sees_no_shift(seed: int) -> None:
    """One number that is added to all of the stream is taken off where it is read."""
    some = (random(10 * seed + i) for i in range(10))
    given = next(each for each in some if each.architecture["strict"])
    net = ground(given.net)
    moved = replace(net, token=net.token + 0.75)
    plain, other = (whole(x, Arrays(), given.words) for x in (net, moved))
    np.testing.assert_allclose(plain, other, rtol=0, atol=1e-12)


class Watched(Sums):
    """Keeps the stream, from one sublayer to the next."""

    def __init__(self) -> None:
        self.streams = list[FloatArray]()

    def at(self, place: str, value: Any) -> Any:
        """What stands at a place."""
        if place.startswith("stream."):
            self.streams.append(value)
        return value


@pytest.mark.parametrize("seed", range(6))
def test_a_mirror_is_minus_the_stream_and_ground_is_0(seed: int) -> None:
    given, engine = random(seed), Watched()
    whole(ground(mirror(given.net)), engine, given.words)
    d = given.shape.d_model
    for x in engine.streams:
        np.testing.assert_array_equal(x[..., d:-1], -x[..., :d])
        assert not x[..., -1].any()
    assert len(engine.streams) == 1 + 2 * len(given.net.blocks)


@pytest.mark.parametrize("seed", range(8))
def test_sizes_are_those_asked_for(seed: int) -> None:
    net = REWRITES["widened"](random(seed).net)
    for block in net.blocks:
        assert block.heads is not None
        assert {len(x) for x in (block.heads.sights, block.heads.out)} == {HEADS}
        assert block.heads.key.shape[2] == block.heads.out.shape[1] == WIDTH
        for layer in block.layers[:-1]:
            assert sum(count for _, count in layer.runs) == len(layer.bias) == UNITS


def test_heads_with_features_are_refused() -> None:
    """φ(0) is 1, and φ(2x) is not 2φ(x)."""
    seeds = (random_transformer(s, kinds=("linear",)).net for s in range(9))
    net = next(net for net in seeds if any(b.heads for b in net.blocks))
    for change in (REWRITES["widened"], REWRITES["divided"]):
        with pytest.raises(Refused, match="is not about 'linear'"):
            change(net)
