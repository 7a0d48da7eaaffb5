"""One function, many attention patterns: how much networks differ inside and outside.

After the thesis, section 3.6.3: the attention variation of two networks is ‖A₁ − A₂‖² in
the Frobenius norm, on one prefix.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import torch

from krohn.algebra.automaton import Automaton, IntArray
from krohn.algebra.brackets import BracketDistribution, Stack, distribution
from krohn.algebra.errors import KrohnError
from krohn.algebra.formats import json_format
from krohn.algebra.wording import rational
from krohn.network.architecture import kind_of
from krohn.network.model import Model
from krohn.network.modelfile import ModelFile
from krohn.network.precision import FloatArray
from krohn.network.transformer import Attention, Transformer

STACK_LIKE = "dyck"


@dataclass(frozen=True)
class Reader:
    """A network that follows nested brackets: a generator, or a stack-like Transformer.

    Attributes:
        file: Its model file.
        machine: The stacks.
        law: The distribution; for a Transformer, which says the stack, any will do.
    """

    file: ModelFile
    machine: Automaton
    law: BracketDistribution

    def laws(self, words: IntArray) -> FloatArray:
        """The law of the next letter after each letter, ``(count, length, letters)``."""
        raise NotImplementedError

    def attention(self, word: Sequence[int]) -> FloatArray:
        """The pattern ``(positions, positions)`` that finds the top bracket."""
        raise NotImplementedError

    def facts(self) -> dict[str, float]:
        """Further facts about its attention, by name."""
        return {}


class Speaker(Reader):
    """A generator; the pattern is the last layer's."""

    def laws(self, words: IntArray) -> FloatArray:
        """The law of the next letter at each position of words."""
        from krohn.architectures.generator.engine import Generator

        with torch.inference_mode():
            outputs = Generator(self.file)(torch.from_numpy(words))[:, 1:]
        return np.asarray(outputs.double().numpy())

    def attention(self, word: Sequence[int]) -> FloatArray:
        """As torch computes it."""
        from krohn.architectures.generator.engine import Generator

        with torch.inference_mode():
            tokens = torch.tensor([list(word)], dtype=torch.int64)
            weights = Generator(self.file).attention(tokens)[-1][0]
        return np.asarray(weights.double().numpy())

    def facts(self) -> dict[str, float]:
        """How well it balances, if that is defined."""
        if self.law.brackets.kinds < 2 or self.law.brackets.depth < 2:
            return {}
        from krohn.instruments.limits.balance import balance

        result = balance(self.file, self.machine)
        return {"beta": result.beta, "worst S/P": result.worst}


class StackLike(Reader):
    """A Transformer that says the stack."""

    def laws(self, words: IntArray) -> FloatArray:
        """The law of the stack that it says."""
        from krohn.architectures.generator.find_words import laws_of

        with torch.inference_mode():
            states = Model(self.file)(torch.from_numpy(words)).argmax(dim=-1).numpy()
        return np.asarray(laws_of(self.law)[states])

    def attention(self, word: Sequence[int]) -> FloatArray:
        """For each position the row of the head that looks for the latest of its depth."""
        return _stack_like(self.file, word, self.law.stacks(word))


def reader(file: ModelFile, opening: Fraction = Fraction(1, 2)) -> Reader:
    """The network of a file.

    Args:
        file: A generator, or a Transformer of the construction ``dyck``.
        opening: The probability of opening, where the file does not say it.

    Raises:
        KrohnError: If it is neither.
    """
    header = file.header
    speaks = kind_of(file.architecture).answers == "laws"
    if not speaks and header.get("construction") != STACK_LIKE:
        raise KrohnError(
            "attention is compared for --construction balanced and dyck, not "
            f"{header.get('construction')}"
        )
    machine = json_format.from_object(header["machine"])
    if speaks:
        chance = rational(file.claim.opening)
        return Speaker(file, machine, distribution(machine, chance))
    return StackLike(file, machine, distribution(machine, opening))


def _stack_like(
    file: ModelFile, word: Sequence[int], stacks: list[Stack]
) -> FloatArray:
    network = Model(file).network
    if not isinstance(network, Transformer):
        raise KrohnError("only a Transformer has heads")
    with torch.inference_mode():
        tokens = torch.tensor([list(word)], dtype=torch.int64)
        snapshots = network.snapshots(tokens)
    channels = {c["name"]: c for c in file.header["program"]["channels"] if "head" in c}
    pattern = np.zeros((len(word) + 1, len(word) + 1))
    for t, stack in enumerate(stacks):
        if not stack:
            pattern[t, 0] = 1.0  # nothing is looked for
            continue
        channel = channels[f"latest{len(stack)}"]
        born, head = channel["snapshots"][0], channel["head"]
        heads = network.attention[born // 2]
        assert isinstance(heads, Attention)
        with torch.inference_mode():
            weights = heads.weights(snapshots[born - 1])[0, head, t]
        pattern[t] = weights.double().numpy()
    return pattern


def probe(law: BracketDistribution) -> list[int]:
    """A prefix with all kinds and depths: ``[[[[]]]](((()))`` for two kinds, depth 4."""
    brackets = law.brackets
    word: list[int] = []
    for kind in reversed(range(brackets.kinds)):
        word += [brackets.opens.index(kind)] * brackets.depth
        word += [brackets.closes.index(kind)] * brackets.depth
    return word[:-1]


def variation(first: FloatArray, second: FloatArray) -> float:
    """‖A₁ − A₂‖² of two attention patterns."""
    return float(((first - second) ** 2).sum())


def mean_variation(patterns: Sequence[FloatArray]) -> float:
    """The mean over all pairs of patterns.

    Raises:
        KrohnError: If there are fewer than two.
    """
    if len(patterns) < 2:
        raise KrohnError("attention is compared between two networks at least")
    pairs = [variation(a, b) for i, a in enumerate(patterns) for b in patterns[i + 1 :]]
    return float(np.mean(pairs))


def baseline(positions: int) -> Fraction:
    """The mean variation of two independent random patterns, Σ 2(i − 1)/(i(i + 1)).

    Row i is uniform on the simplex of i weights: each has mean 1/i and variance
    (i − 1)/(i²(i + 1)), and the square of a difference of two has twice the variance.
    """
    return sum(
        (Fraction(2 * (i - 1), i * (i + 1)) for i in range(1, positions + 1)),
        Fraction(0),
    )


def on_top(pattern: FloatArray, law: BracketDistribution, word: Sequence[int]) -> float:
    """The mean weight on the top bracket, over letters that close and leave one open."""
    stacks, weights = law.stacks(word), []
    for t, letter in enumerate(word, start=1):
        depth = len(stacks[t])
        if depth and law.brackets.opens[letter] is None:
            opened = [s for s in range(1, t) if len(stacks[s]) == depth]
            top = max(s for s in opened if len(stacks[s - 1]) < depth)
            weights.append(pattern[t, top])
    return float(np.mean(weights)) if weights else 0.0


def function_error(readers: Sequence[Reader], words: IntArray) -> float:
    """The greatest difference of two networks' laws, over words and networks."""
    laws = np.stack([r.laws(words) for r in readers])
    return float((laws.max(axis=0) - laws.min(axis=0)).max())
