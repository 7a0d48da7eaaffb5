"""Words on which the error of a network of a hidden Markov model is large."""

from collections.abc import Callable

import numpy as np
import torch
from worst_orders import Products, worst

from krohn.algebra.automaton import IntArray
from krohn.compiled_model import CompiledModel
from krohn.kinds.hidden_markov.source import HiddenMarkovModel
from krohn.network.model import Model
from krohn.network.precision import FloatArray

HELD_WORDS, HELD_STEPS = 512, 150
"""Words, and generations, of the search by the operators that a file holds."""
WORDS, STEPS = 16, 12
"""The same of the search by the network itself, which costs far more for each word; of
more than 64 letters there are fewer words."""
ORDER_WORDS, ORDER_STEPS = 64, 20
"""The same of the search by sums in bad orders."""
LONGEST_RUN, LONGEST_TURN, MOST_CHANGES = 16, 8, 4

Score = Callable[[IntArray], FloatArray]
"""From words ``(words, T)`` to the error of each."""


def largest_errors(model: CompiledModel, seed: int = 0) -> tuple[float, float | None]:
    """The largest error that is found, and one if sums are taken in bad orders.

    Where a file holds the operators, rounded to its format, words are bred first on which
    these roundings matter most: that is what exact arithmetic would say of the tensors.
    Orders are looked for in networks of `attention-products` only.
    """
    header, random = model.file.header, np.random.default_rng(seed)
    source = HiddenMarkovModel.from_wire(header["source"])
    letters, length = len(source.letters), header["claim"]["length"]
    words = source.sample(HELD_WORDS, length, random)[0]
    in_bad_orders = None
    if model.construction == "attention-products":
        made = Products.of(model.file)
        held = _held(made, source)
        words, _ = bred(
            lambda said: _apart(held.filter(said)[0], source.filter(said)[0]),
            *(words, letters, HELD_STEPS, random),
        )
        _, found = bred(
            lambda said: _in_bad_orders(made, source, held, said),
            *(words[:ORDER_WORDS], letters, ORDER_STEPS, random),
        )
        in_bad_orders = float(found[0])
    runner = Model(model.file)
    _, found = bred(
        lambda said: errors(runner, source, said),
        *(words[: max(2, min(WORDS, WORDS * 64 // length))], letters, STEPS, random),
    )
    return float(found[0]), in_bad_orders


def _in_bad_orders(
    made: Products,
    source: HiddenMarkovModel,
    held: HiddenMarkovModel,
    words: IntArray,
) -> FloatArray:
    """``(words,)``: how far the last belief is off, in the state of which least is sure.

    It is moved to the side to which the operators in the file move it.
    """
    right, near = (each.filter(words)[0][:, -1] for each in (source, held))
    states = np.nan_to_num(right * (1 - right)).argmax(axis=1)
    each = np.arange(len(words)), states
    up = np.where(near[each] >= right[each], 1.0, -1.0)
    off = np.abs(worst(made, words, states, up) - right[each])
    return np.asarray(np.nan_to_num(off))


def _held(made: Products, source: HiddenMarkovModel) -> HiddenMarkovModel:
    """The model whose operators and start are those that the file holds."""
    operators = made.letters[:-1].astype(np.float64).transpose(0, 2, 1)
    by_letter = dict(zip(source.letters, operators, strict=True))
    start = made.begun.astype(np.float64)
    return HiddenMarkovModel.weighted("held", start, by_letter, np.ones(source.size))


def errors(runner: Model, source: HiddenMarkovModel, words: IntArray) -> FloatArray:
    """``(words,)``: the largest error of each, where it is possible."""
    with torch.no_grad():
        said = runner(torch.tensor(words)).double().numpy()
    return _apart(said, source.filter(words)[0])


def _apart(said: FloatArray, right: FloatArray) -> FloatArray:
    off = np.where(np.isnan(right), 0.0, np.abs(said - right))
    return np.asarray(off.max(axis=(1, 2)))


def bred(
    score: Score,
    words: IntArray,
    letters: int,
    generations: int,
    random: np.random.Generator,
) -> tuple[IntArray, FloatArray]:
    """Words with large errors, the worst first, and their errors.

    In each generation children of the worse half of the words take the place of the
    others.
    """
    found, half = score(words), len(words) // 2
    for _ in range(generations):
        best = np.argsort(-found, kind="stable")[:half]
        parents = words[best]
        children = np.array(
            [_child(word, parents, letters, random) for word in parents]
        )
        words = np.concatenate([parents, children])
        found = np.concatenate([found[best], score(children)])
    order = np.argsort(-found, kind="stable")
    return words[order], found[order]


def _child(
    word: IntArray, parents: IntArray, letters: int, random: np.random.Generator
) -> IntArray:
    """A word with other letters, a run of one letter, another end, or turned."""
    child, length = word.copy(), len(word)
    kind, at = random.integers(4), random.integers(length)
    if kind == 0:
        changed = random.integers(length, size=random.integers(1, MOST_CHANGES + 1))
        child[changed] = random.integers(letters, size=len(changed))
    elif kind == 1:
        run = random.integers(1, LONGEST_RUN + 1)
        child[at : at + run] = random.integers(letters)
    elif kind == 2:
        child[at:] = parents[random.integers(len(parents)), at:]
    else:
        child = np.roll(child, random.integers(1, LONGEST_TURN + 1))
    return child
