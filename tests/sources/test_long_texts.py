"""Every text of small sizes, and long texts that are hard: all are written right."""

from functools import cache
from itertools import product

import numpy as np
import pytest
import torch

import krohn
from krohn.compiled_model import CompiledModel
from krohn.kinds.dynamic_programs.commands import ChainsOfThought
from krohn.kinds.dynamic_programs.statement import ChainOfThought
from krohn.network.model import Model
from krohn.network.transformer import Transformer
from krohn.program.domains import IntArray
from krohn.program.word_texts import BLANK
from krohn.source_kinds.written_texts import blank_after_prompt

KIND = ChainsOfThought()
KINDS = ("standard", "sparse", "linear")


@cache
def proved(name: str, kind: str = "standard", dtype: str = "float32") -> CompiledModel:
    model = krohn.compile(name, attention=kind, dtype=dtype)
    assert model.proof is not None
    assert model.proof.verdict == "verified"
    return model


def right(model: CompiledModel, prompts: IntArray) -> None:
    source = KIND.of_file(model.file)
    for batch in np.array_split(prompts, -(-len(prompts) // 512)):
        wanted = source.continue_prompts(batch)
        rows = [blank_after_prompt(text, batch.shape[1]) for text in wanted.tolist()]
        assert KIND.texts(model.file, rows) == wanted.tolist()


def increasing(word: list[int]) -> int:
    """The longest increasing subsequence, by the smallest end of each length."""
    ends = list[int]()
    for x in word:
        at = sum(end < x for end in ends)
        ends[at : at + 1] = [x]
    return len(ends)


def patterns(length: int) -> IntArray:
    """Every order of some letters, ties included: ranks from 0 without a gap."""
    every = np.array(list(product(range(length), repeat=length)))
    ranks = np.sort(every, axis=1)
    dense = (ranks[:, 0] == 0) & (np.diff(ranks, axis=1) <= 1).all(axis=1)
    return np.asarray(every[dense])


def test_there_are_as_many_orders_as_fubini_counted() -> None:
    assert [len(patterns(n)) for n in range(1, 6)] == [1, 3, 13, 75, 541]


@pytest.mark.sample(1)
@pytest.mark.parametrize("length", [1, 2, 3, 4, 5, 6])
@pytest.mark.parametrize("kind", KINDS)
def test_every_order_of_letters_has_its_longest_increasing_subsequence(
    kind: str, length: int
) -> None:
    most = max(length - 1, 1)
    model = proved(f"LIS{length}:most={most}", kind)
    source, words = KIND.of_file(model.file), patterns(length)
    end = np.full((len(words), 1), source.tokens.index("<sep>"))
    blank = np.full((len(words), len(source.steps)), BLANK)
    texts = KIND.texts(model.file, np.hstack([words, end, blank]).tolist())
    for word, text in zip(words.tolist(), texts, strict=True):
        assert source.tokens[text[source.answer - 1]] == str(increasing(word))


@pytest.mark.slow
@pytest.mark.parametrize("boundary", [1, 2])
@pytest.mark.parametrize("kind", ["sparse", "linear"])
def test_every_pair_of_short_binary_words_by_other_heads(
    kind: str, boundary: int
) -> None:
    for rows, columns in product((1, 2, 3), repeat=2):
        name = f"EditDistance{rows},{columns}:letters=2,boundary={boundary}"
        found = KIND.every(proved(name, kind).file, rows + columns + 2, lambda *_: None)
        assert found.has_passed
        assert found.words == 2 ** (rows + columns)


@pytest.mark.slow
def test_running_sums_say_what_whole_texts_say() -> None:
    """Linear heads of a derived network: the recurrent form and the parallel one (A.8)."""
    model = proved("EditDistance4,4:letters=4", "linear", "float64")
    source, network = KIND.of_file(model.file), Model(model.file).network
    assert isinstance(network, Transformer)
    low, high = np.array(source.prompt).T
    prompts = np.random.default_rng(2).integers(low, high + 1, size=(8, len(low)))
    text = torch.from_numpy(source.continue_prompts(prompts)[:, :-1])
    cache, said = network.start(len(text)), []
    for tokens in text.T:
        logits, cache = network.step(tokens, cache)
        said.append(logits)
    whole = network(text)
    apart = (torch.stack(said, dim=1) - whole).abs().max() / whole.abs().max()
    assert apart < 1e-12


def hard(source: ChainOfThought) -> IntArray:
    """Prompts whose numbers are extreme, equal, or change from place to place."""
    low, high = np.array(source.prompt).T
    t = np.arange(len(low))
    shapes = [
        low,
        high,
        np.where(t % 2, low, high),
        np.where(t < len(t) // 2, low, high),
        np.where(t < len(t) // 2, high, low),
        low + t % (high - low + 1),
        high - t % (high - low + 1),
        low + t // 2 % (high - low + 1),
        low + t * t % (high - low + 1),
    ]
    rng = np.random.default_rng(5)
    some = rng.integers(low, high + 1, size=(23, len(low)))
    return np.vstack([*shapes, some])


CASES = [
    ("EditDistance20,22", "standard", "float32"),
    ("EditDistance20,20", "sparse", "float32"),
    ("EditDistance20,20:letters=4", "linear", "float64"),
    ("LIS30:most=40", "standard", "float32"),
    ("LocalEditDistance12,12:letters=4", "sparse", "float32"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "kind", "dtype"), CASES)
def test_texts_of_some_500_tokens(name: str, kind: str, dtype: str) -> None:
    model = proved(name, kind, dtype)
    source = KIND.of_file(model.file)
    assert 460 < source.length < 515
    right(model, hard(source))
