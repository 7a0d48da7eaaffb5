"""Attention heads: one for every pattern of looking back."""

from dataclasses import dataclass

import numpy as np

from algebra.semiautomaton import IntArray
from compiler.features import Positions, flags
from compiler.numerics import (
    count_scale,
    earliest_scale,
    equality_scale,
    mark_penalty,
    mark_scale,
    match_scale,
    pointing_scale,
    recency_scale,
    sibling_scale,
    uniform_scale,
)
from compiler.schedule import Layout
from network.precision import FloatArray
from program import (
    At,
    Earliest,
    Latest,
    LatestMatch,
    MarkedSum,
    Operation,
    PrefixSum,
    Program,
    Shift,
    SiblingLatest,
)
from program.interpreter import interpret

Pattern = tuple[str, int, tuple[str, ...]]
"""How to look: its kind, a number that goes with it, and the channels that say where."""


@dataclass(frozen=True)
class Head:
    """The four matrices of a head, ``(d, k)``, ``(d, k)``, ``(d, v)``, ``(v, d)``."""

    query: FloatArray
    key: FloatArray
    value: FloatArray
    out: FloatArray


def patterns(layout: Layout, block: int) -> dict[Pattern, list[str]]:
    """The channels of a block by where they look; each pattern becomes one head."""
    grouped: dict[Pattern, list[str]] = {}
    for name in layout.plan.attention(block):
        operation = layout.plan.program.operations[name]
        grouped.setdefault(_pattern(operation), []).append(name)
    return grouped


_KINDS: dict[type, str] = {
    Shift: "shift",
    Latest: "latest",
    LatestMatch: "match",
    SiblingLatest: "sibling",
    Earliest: "earliest",
    At: "at",
    PrefixSum: "sum",
    MarkedSum: "marked",
}


def _pattern(operation: Operation) -> Pattern:
    number = 0
    match operation:
        case Shift(_, by):
            number = by
        case SiblingLatest(_, _, level):
            number = level
    return _KINDS[type(operation)], number, operation.reads[1:]


def build(
    layout: Layout, features: Positions, pattern: Pattern, channels: list[str]
) -> Head:
    """The head of a pattern, copying each channel's source to the channel."""
    kind, number, where = pattern
    gain = 1.0
    if kind == "shift":
        query, key = _shift(layout, features, number)
    elif kind == "latest":
        query, key = _latest(layout, features, *where)
    elif kind == "match":
        query, key = _match(layout, features, *where)
    elif kind == "sibling":
        query, key = _sibling(layout, features, number, *where)
    elif kind == "earliest":
        query, key = _earliest(layout, features, *where)
    elif kind == "at":
        query, key = _at(layout, features, where)
    elif kind == "marked":
        query, key, gain = _marked(layout, features, channels[0])
    else:
        query, key = _uniform(layout)
        gain = count_scale(features.length)
    value, out = _copy(layout, channels, gain)
    return Head(query, key, value, out)


def query_size(program: Program, features: Positions, pattern: Pattern) -> int:
    """How many entries the queries and keys of a pattern have."""
    kind, number, where = pattern
    if kind == "shift" and features.code:
        return features.code.dimensions + 1
    if kind == "match":
        return len(_compared(program, *where)) + 1
    if kind == "latest":
        return 2 if features.uniform else 1
    if kind == "marked":
        return 2
    return features.bits - number + 1 if kind in ("sibling", "at") else 1


def _shift(
    layout: Layout, features: Positions, by: int
) -> tuple[FloatArray, FloatArray]:
    """A match at position t − by; BOS is the sink, halfway to all other positions."""
    code = features.code
    assert code is not None
    scale = match_scale(code, features.horizon, features.precision)
    n = code.dimensions
    query = np.zeros((layout.d_model, n + 1))
    key = np.zeros((layout.d_model, n + 1))
    low, high = layout.features["code"]
    query[low:high, :n] = scale * code.rotation(by)
    key[low:high, :n] = scale * np.eye(n)
    query[layout.features["one"][0], n] = scale
    key[layout.features["bos"][0], n] = scale * (code.terms - code.lead)
    return query, key


def _latest(
    layout: Layout, features: Positions, where: str
) -> tuple[FloatArray, FloatArray]:
    """Score slope·(j + bonus·where_j): the latest position with the flag wins."""
    if features.uniform:
        return _uniform_latest(layout, features, where)
    slope, bonus = recency_scale(features.length, features.precision, features.latest)
    query = np.zeros((layout.d_model, 1))
    key = np.zeros((layout.d_model, 1))
    query[layout.features["one"][0], 0] = slope
    key[layout.features["index"][0], 0] = 1.0
    key[layout.places[where].start, 0] = bonus
    return query, key


def _earliest(
    layout: Layout, features: Positions, where: str
) -> tuple[FloatArray, FloatArray]:
    """Score slope·(bonus·where_j − j): the first flag wins, else BOS, which scores 0."""
    scale = earliest_scale(features.length, features.precision, features.earliest)
    query, key = np.zeros((2, layout.d_model, 1))
    query[layout.features["one"][0], 0] = scale[0]
    key[layout.features["index"][0], 0] = -1.0
    key[layout.places[where].start, 0] = scale[1]
    return query, key


def _at(
    layout: Layout, features: Positions, digits: tuple[str, ...]
) -> tuple[FloatArray, FloatArray]:
    """Score slope·(digits that agree − digits that do not); BOS one below a match.

    Digits of the query are 0 and 1, those of positions −1 and 1; BOS has none.
    """
    slope = pointing_scale(features.length, features.precision, features.pointed)
    one, n = layout.features["one"][0], len(digits)
    query, key = np.zeros((2, layout.d_model, n + 1))
    for b, digit in enumerate(digits):
        query[layout.places[digit].start, b] += 2 * slope
    query[one] = [*[-slope] * n, slope]
    key[slice(*layout.features["bits"]), :n] = np.eye(n)
    key[layout.features["bos"][0], n] = n - 1
    return query, key


def _uniform_latest(
    layout: Layout, features: Positions, where: str
) -> tuple[FloatArray, FloatArray]:
    """Score slope·(j + (t + 1)·where_j): the bonus grows with the position that looks."""
    slope = uniform_scale(features.length, features.precision, features.latest)
    one, index = layout.features["one"][0], layout.features["index"][0]
    query, key = np.zeros((2, layout.d_model, 2))
    query[[index, one], 0] = slope
    query[one, 1] = slope
    key[layout.places[where].start, 0] = 1.0
    key[index, 1] = 1.0
    return query, key


def _match(
    layout: Layout, features: Positions, key_name: str, query_name: str
) -> tuple[FloatArray, FloatArray]:
    """Score slope·(j + bonus·[key_j = query]): the latest match wins, else the sink.

    The sink is BOS, at slope·bonus/2. Its own key is subtracted, so that no query finds
    it among the matches.
    """
    program = layout.plan.program
    slope, bonus = equality_scale(features.length, features.precision)
    compared = _compared(program, key_name, query_name)
    n, index = len(compared), np.arange(len(compared))
    query, key = np.zeros((2, layout.d_model, n + 1))
    query[layout.places[query_name].start + compared, index] = slope
    key[layout.places[key_name].start + compared, index] = bonus
    query[layout.features["one"][0], n] = slope
    key[layout.features["index"][0], n] = 1.0
    bos = layout.features["bos"][0]
    key[bos, n] = bonus / 2
    key[bos, index] = -bonus * (compared == _at_bos(program, key_name))
    return query, key


def _compared(program: Program, key: str, query: str) -> IntArray:
    """The values that a key and a query can both have, ascending."""
    assert program.one_hot.issuperset((key, query))
    return np.intersect1d(program.domains[key], program.domains[query])


def _at_bos(program: Program, name: str) -> int:
    return int(interpret(program, np.zeros((1, 0), dtype=np.int64))[name][0, 0])


def _sibling(
    layout: Layout, features: Positions, level: int, where: str
) -> tuple[FloatArray, FloatArray]:
    """Match the higher binary digits of the position, the lowest of them flipped.

    Which positions agree so with t and come before it: those of its sibling block.
    """
    slope = sibling_scale(features.length, features.precision)
    low = layout.features["bits"][0]
    count = features.bits - level
    query = np.zeros((layout.d_model, count + 1))
    key = np.zeros((layout.d_model, count + 1))
    matched = np.arange(count)
    size = 2.0**level
    query[low + level + matched, matched] = np.where(matched == 0, -1, 1) * slope * size
    key[low + level + matched, matched] = 1.0
    query[layout.features["one"][0], count] = slope
    # Centred recency: BOS, which has no digits, stands in the middle.
    key[low + np.arange(level), count] = 2.0 ** (np.arange(level) - 1)
    key[layout.places[where].start, count] = 2 * size
    key[layout.features["bos"][0], count] = size * (count - 1)
    return query, key


def _uniform(layout: Layout) -> tuple[FloatArray, FloatArray]:
    """Score 0 everywhere but at BOS, whose score keeps all weights at 1/C."""
    query = np.zeros((layout.d_model, 1))
    key = np.zeros((layout.d_model, 1))
    query[layout.features["count"][0], 0] = 1.0
    key[layout.features["bos"][0], 0] = 1.0
    return query, key


def _marked(
    layout: Layout, features: Positions, channel: str
) -> tuple[FloatArray, FloatArray, float]:
    """Score 0 where marked, −penalty elsewhere; BOS keeps the weights at 1/C."""
    operation = layout.plan.program.operations[channel]
    assert isinstance(operation, MarkedSum)
    marked = flags(layout.plan.program, operation)
    penalty = mark_penalty(features.length, features.precision)
    one, bos = layout.features["one"][0], layout.features["bos"][0]
    count = layout.features["marked"][0] + features.marks.index(marked)
    query, key = np.zeros((2, layout.d_model, 2))
    query[count, 0] = key[bos, 0] = 1.0
    query[one, 1] = penalty
    key[[layout.places[operation.where].start, bos, one], 1] = 1.0, 1.0, -1.0
    return query, key, mark_scale(sum(marked))


def _copy(
    layout: Layout, channels: list[str], gain: float
) -> tuple[FloatArray, FloatArray]:
    sources: list[int] = []
    targets: list[int] = []
    for name in channels:
        operation = layout.plan.program.operations[name]
        source, target = layout.places[operation.reads[0]], layout.places[name]
        sources += range(source.start, source.stop)
        targets += range(target.start, target.stop)
    value = np.zeros((layout.d_model, len(sources)))
    out = np.zeros((len(sources), layout.d_model))
    value[sources, range(len(sources))] = 1.0
    out[range(len(sources)), targets] = gain
    return value, out
