"""The memory of prompts that is needed: counts, and pairs that are not kept apart."""

from functools import cache
from itertools import permutations, product
from math import log2

import numpy as np
import pytest
import torch

import krohn
from krohn.instruments.compare.tasks.public_texts import subsequences
from krohn.kinds.dynamic_programs.commands import ChainsOfThought
from krohn.kinds.dynamic_programs.source_memory import (
    bell,
    collision,
    kept_numbers,
    least_width,
    linear_bits,
    sparse_bits,
)
from krohn.kinds.dynamic_programs.statement import ChainOfThought
from krohn.network import transformer
from krohn.network.model import Model
from krohn.network.precision import FloatArray
from krohn.program.architectures.transformer import Transformer
from krohn.program.attention import Sparse
from krohn.program.domains import IntArray


def round_to_digits(numbers: FloatArray, digits: int) -> FloatArray:
    """Numbers with so many binary digits in the significand, ties to even.

    Args:
        numbers: Any; their exponents stay as they are.
        digits: The leading one is among them.
    """
    fraction, exponent = np.frexp(numbers)
    found: FloatArray = np.ldexp(np.rint(np.ldexp(fraction, digits)), exponent - digits)
    return found


def test_texts_of_subsequences_are_counted_by_bell() -> None:
    """All order patterns of up to 6 numbers; of 7, those without ties are enough."""
    assert [bell(n) for n in range(1, 8)] == [1, 2, 5, 15, 52, 203, 877]
    for n in range(1, 7):
        numbers = np.array(list(product(range(n), repeat=n)))
        assert len(np.unique(subsequences(numbers), axis=0)) == bell(n)
    numbers = np.array(list(permutations(range(7))))
    assert len(np.unique(subsequences(numbers), axis=0)) == bell(7)


@pytest.mark.parametrize(("boundary", "counts"), [(2, (2, 9, 76)), (1, (2, 10, 96))])
def test_tables_of_edit_distance_are_few(boundary: int, counts: tuple[int]) -> None:
    """Which letters are equal decides a table: 2n letters are all that one needs."""
    for n, count in enumerate(counts, 1):
        source = _source(f"EditDistance{n},{n}:letters={2 * n},boundary={boundary}")
        low, _ = np.array(source.prompt).T
        words = np.array(list(_patterns(2 * n)))
        prompts = np.tile(low, (len(words), 1))
        prompts[:, :n] += words[:, :n]
        prompts[:, n + 1 : -1] += words[:, n:]
        texts = source.continue_prompts(prompts)[:, len(low) :]
        assert len(np.unique(texts, axis=0)) == count


def _patterns(n: int, used: int = 0) -> list[tuple[int, ...]]:
    """Words in which letters occur first in their order: one for each relabelling."""
    if n == 0:
        return [()]
    first = range(used + 1)
    return [(x, *rest) for x in first for rest in _patterns(n - 1, max(used, x + 1))]


@cache
def _source(name: str) -> ChainOfThought:
    found = ChainsOfThought().find_by_name(name)
    assert found is not None
    return found.chain_of_thought


@pytest.mark.parametrize(
    ("n", "bits", "linear", "block"),
    [(40, 117, 2, 8), (110, 434, 5, 8), (175, 776, 7, 16), (250, 1206, 9, 16)],
)
def test_the_bound_says_nothing_at_the_scale_of_experiments(
    n: int, bits: int, linear: int, block: int
) -> None:
    """M = 3, H = 4, b = 16, where widths of 32 to 1,024 are trained."""
    texts = log2(bell(n))
    assert round(texts) == bits
    assert least_width(texts, lambda d: linear_bits(3, 4, d, 16)) == linear
    kind = Sparse(block, 1, 1)
    assert least_width(texts, lambda d: sparse_bits(3, d, 16, n, kind)) == 1
    assert sparse_bits(3, 1, 16, n, kind) > texts


def test_a_least_width_is_the_least() -> None:
    for texts in (0.5, 7, 100, 12345.6):
        width = least_width(texts, lambda d: linear_bits(2, 3, d, 5))
        assert linear_bits(2, 3, width, 5) >= texts
        assert width == 1 or linear_bits(2, 3, width - 1, 5) < texts


def test_sixteen_memories_do_not_keep_52_texts_apart() -> None:
    """M = H = D = 1 and 2 bits, whatever the head adds up: 2·2 bits are 16 memories.

    Sums are kept in two bits, and what a number adds may depend on its place.
    """
    assert linear_bits(1, 1, 1, 2) == 4
    numbers = np.array(list(permutations(range(5))))
    texts = subsequences(numbers)
    assert len(np.unique(texts, axis=0)) == 52
    rng = np.random.default_rng(0)
    for _ in range(50):
        adds = rng.integers(0, 4, size=(5, 5, 2))
        kept = np.zeros((len(numbers), 2), np.int64)
        for t in range(5):
            kept = np.minimum(kept + adds[t, numbers[:, t]], 3)
        pair = collision(kept.astype(float), texts)
        assert pair is not None
        i, j = pair
        assert (kept[i] == kept[j]).all()
        assert (texts[i] != texts[j]).any()


def test_a_pair_is_the_first_that_there_is() -> None:
    texts = np.array([[0], [1], [0], [1]])
    assert collision(np.array([[1.0], [2.0], [1.0], [2.0]]), texts) is None
    assert collision(np.array([[1.0], [2.0], [2.0], [1.0]]), texts) == (1, 2)
    assert collision(np.zeros((1, 1)), np.zeros((1, 1), np.int64)) is None


def kept(name: str, attention: str) -> tuple[FloatArray, IntArray, int]:
    """The memory of a compiled network for all prompts; the texts; the size by formula."""
    source = _source(name)
    file = krohn.compile(name, attention=attention).file
    network = Model(file).network
    assert isinstance(network, transformer.Transformer)
    low, high = np.array(source.prompt).T
    prompts = np.indices(high - low + 1).reshape(len(low), -1).T + low
    cache = network.start(len(prompts))
    with torch.no_grad():
        for tokens in torch.from_numpy(prompts).T:
            _, cache = network.step(tokens, cache)
    parts = [part.flatten(1).double().numpy() for part in cache.parts]
    texts = source.continue_prompts(prompts)
    size = kept_numbers(Transformer.of(file.header["architecture"]), len(low) + 1)
    return np.hstack(parts), texts[:, len(low) :], size


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", ["EditDistance2,2:letters=3", "LIS3:most=3"])
@pytest.mark.parametrize("attention", ["standard", "linear", "sparse"])
def test_compiled_networks_keep_apart_what_they_must(name: str, attention: str) -> None:
    memories, texts, size = kept(name, attention)
    assert collision(memories, texts) is None
    if attention != "sparse":  # of which less than everything is seen later
        assert memories.shape[1] == size
    # What is kept are small numbers, but not few of them.
    assert collision(round_to_digits(memories, 6), texts) is None
    assert collision(memories[:, :3], texts) is not None


def test_rounding_keeps_so_many_digits() -> None:
    assert round_to_digits(np.array([5.0, 7.0, -0.3, 0.0]), 2).tolist() == [
        4,
        8,
        -0.25,
        0,
    ]
    numbers = np.random.default_rng(0).normal(size=1000)
    assert (round_to_digits(numbers, 24) == numbers.astype(np.float32)).all()
