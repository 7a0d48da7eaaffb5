"""How well every variable can be read at every layer, beside baselines."""

from collections.abc import Sequence
from dataclasses import dataclass
from zlib import crc32

import numpy as np

from krohn.algebra.semiautomaton import IntArray
from krohn.compare.probes.linear import classifiers, r_squared, whitening
from krohn.compare.probes.variable import Variable
from krohn.network.precision import FloatArray

POSITIONS = 80
"""So many for each dimension fit the probes, and `FEWEST` at least."""

FEWEST = 5000
"""So that frequent values of small networks occur hundreds of times."""

ITEMS = 4
"""For each dimension: of random labels in two classes, a linear function can fit two for
each dimension (Cover, 1965), so half of the items at most are known by heart."""


@dataclass(frozen=True)
class Split:
    """Which words fit probes, choose between them, and test them.

    Attributes:
        fit: Word indices.
        choose: Others.
        test: Others still; nothing is decided by them.
    """

    fit: IntArray
    choose: IntArray
    test: IntArray


@dataclass(frozen=True)
class Score:
    """How well one variable can be read at one layer; all on held-out words.

    Attributes:
        accuracy: Of the probe; None if the values are too many to be told apart.
        error: Its standard error, from the spread over words.
        majority: Accuracy of the most frequent value.
        control: Accuracy of a probe of the same shape for a control task: values, as
            frequent as the variable's, that are drawn at random for each window
            of letters (Hewitt and Liang, 2019).
        explained: R² of a linear regression; None if the values have no order.
    """

    accuracy: float | None
    error: float | None
    majority: float | None
    control: float | None
    explained: float | None


def split(words: int, rng: np.random.Generator) -> Split:
    """Half of the words to fit, a sixth to choose, a third to test."""
    order = rng.permutation(words)
    first, second = words // 2, 2 * words // 3
    return Split(order[:first], order[first:second], order[second:])


def control(shares: tuple[float, ...], words: IntArray, width: int) -> IntArray:
    """A control task: a value for each window of the last letters, at random.

    What a probe makes of it, it has learned by heart. Windows are as short as leaves
    `ITEMS` of them for each dimension. (Pairs of letter and position, the analogue of
    word types, are too few: a probe of 64 dimensions knows all 64 pairs of two letters
    and 32 positions by heart, at every layer of an untrained network.)

    Args:
        shares: How often each value is drawn.
        words: ``(count, length)``.
        width: Of the hidden state.
    """
    letters = int(words.max(initial=1)) + 1
    span = 1
    while letters**span < ITEMS * width:
        span += 1
    window = np.zeros_like(words)
    for back in range(min(span, words.shape[1])):
        digit = np.full_like(words, letters)
        digit[:, back:] = words[:, : words.shape[1] - back]
        window = window * (letters + 1) + digit
    rng = np.random.default_rng(crc32(repr(shares).encode()))
    p = np.array(shares) / sum(shares)
    items, index = np.unique(window, return_inverse=True)
    values = rng.choice(len(shares), size=len(items), p=p)
    return np.asarray(values[index].reshape(words.shape))


def shares_of(v: Variable) -> tuple[float, ...]:
    """How often a variable has its values, most frequent first.

    Rounded up to hundredths: variables that are alike in this share a control task.
    """
    counts = np.sort(np.bincount(v.classes.ravel()))[::-1]
    return tuple((np.ceil(100 * counts / counts.sum()) / 100).tolist())


def score(
    states: FloatArray,
    variables: Sequence[Variable],
    words: IntArray,
    parts: Split,
    seed: int = 0,
) -> list[Score]:
    """Scores of variables at one layer.

    Args:
        states: ``(count, length, width)`` hidden states.
        variables: The variables to look for.
        words: ``(count, length)``, the words of the states and variables.
        parts: Which words serve what.
        seed: Draws the positions to fit on.
    """
    at = places(parts.fit, states, seed)
    white = whitening(states[at])
    fitted, chosen, tested = (
        white(states[words_or_places].reshape(-1, states.shape[2]))
        for words_or_places in (at, parts.choose, parts.test)
    )
    apart = [v for v in variables if v.told_apart]
    alike = {shares_of(v): control(shares_of(v), words, states.shape[2]) for v in apart}
    columns = [*(v.classes for v in apart), *alike.values()]
    fresh = [c[parts.choose].ravel() for c in columns]
    probes = classifiers(fitted, [c[at] for c in columns], (chosen, fresh))
    right = [
        (probe(tested) == c[parts.test].ravel()).reshape(len(parts.test), -1).mean(1)
        for probe, c in zip(probes, columns, strict=True)
    ]
    read = dict(zip(map(id, apart), right, strict=False))
    controls = dict(zip(alike, right[len(apart) :], strict=True))
    return [
        Score(
            *_of_classes(v, read.get(id(v)), controls.get(shares_of(v)), parts),
            _of_numbers(v, (fitted, tested), at, parts),
        )
        for v in variables
    ]


def places(
    chosen: IntArray, states: FloatArray, seed: int
) -> tuple[IntArray, IntArray]:
    """Words and positions to fit on, drawn without repetition if there are too many.

    Args:
        chosen: Word indices.
        states: ``(count, length, width)``.
        seed: Draws them.
    """
    _, length, width = states.shape
    flat = len(chosen) * length
    most = max(FEWEST, POSITIONS * width)
    drawn = np.arange(flat)
    if flat > most:
        drawn = np.random.default_rng(seed).choice(flat, most, replace=False)
    return chosen[drawn // length], drawn % length


def _of_classes(
    v: Variable, by_word: FloatArray | None, controlled: FloatArray | None, parts: Split
) -> tuple[float | None, float | None, float | None, float | None]:
    """The probe's accuracy and error; the most frequent value's, and the control's."""
    if by_word is None or controlled is None:
        return None, None, None, None
    error = by_word.std(ddof=1) / np.sqrt(len(by_word)) if len(by_word) > 1 else 0.0
    most = np.bincount(v.classes[parts.fit].ravel()).argmax()
    majority = (v.classes[parts.test] == most).mean()
    return (
        float(by_word.mean()),
        float(error),
        float(majority),
        float(controlled.mean()),
    )


def _of_numbers(
    v: Variable,
    states: tuple[FloatArray, FloatArray],
    at: tuple[IntArray, IntArray],
    parts: Split,
) -> float | None:
    if v.numbers is None:
        return None
    fitted, tested = states
    return r_squared(
        fitted,
        v.numbers[at].astype(np.float64),
        (tested, v.numbers[parts.test].ravel().astype(np.float64)),
    )
