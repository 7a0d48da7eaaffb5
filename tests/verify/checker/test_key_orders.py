"""No kernel that A1 to A9 allow leaves a bound, whatever its order of keys."""

from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest
from attention_kernels import DIFFERENCE, FUSED, PRODUCTS, Kernel, kernels

import krohn
from krohn.architectures.generator.check_layer_norm import Head
from krohn.network.modelfile import ModelFile
from krohn.network.precision import FloatArray
from krohn.program.domains import IntArray
from krohn.program.interpreter import interpret
from krohn.verify.checker import sublayers, transformer as checker
from krohn.verify.checker.arithmetic import FORMATS, Format, Interval
from krohn.verify.checker.scores import (
    ONE_KEY,
    Scores,
    split_scores_by_flag,
    worst_leak,
)
from krohn.verify.checker.softmax_weights import exponentials, factors, weight_error
from krohn.verify.checker.sums import Keys, Means
from krohn.verify.search.find import model_of

STORED = pytest.mark.parametrize("name", ["float32", "float16", "bfloat16"])


def sum_of(
    score: float, marked: int, others: int, low: float, off: float
) -> list[Keys]:
    """BOS with a score, then keys that count, then others, up to each position."""
    t = np.arange(1 + marked + others)
    counted = np.minimum(t, marked)
    told = [(np.ones_like(t), score), (counted, 0.0), (t - counted, low)]
    return [
        Keys(n, np.full(len(t), float(np.float32(s))), Interval.of(off))
        for n, s in told
    ]


def last_scores(kinds: list[Keys], rng: np.random.Generator) -> FloatArray:
    """Scores of the last row as they may be computed."""
    each = [np.full(keys.many[-1], keys.score[-1]) for keys in kinds]
    off = [
        x.off.most * rng.uniform(-1, 1, len(s))
        for x, s in zip(kinds, each, strict=True)
    ]
    return np.concatenate(each) + np.concatenate(off)


def allowed(
    kinds: list[Keys], gain: float, values: FloatArray, form: Format
) -> FloatArray:
    """What Theorem 13 allows in the last row, for ``(n, columns)`` values."""
    t = np.arange(len(kinds[0].many))
    means, marked = Means.of(kinds, t, form), kinds[1].many[-1]
    sums, largest = values[1 : 1 + marked].sum(axis=0), values.max()
    leaked = means.leaked(2).high[-1] * largest + form.unit * form.smallest
    return np.asarray(sums * means.relative(gain).high[-1] + gain * leaked)


def rows_of_sums(rng: np.random.Generator) -> Iterator[tuple[list[Keys], float]]:
    """Scores of BOS of all sizes, with other keys and without, exact and with noise."""
    for _ in range(12):
        marked, others = int(rng.integers(1, 20)), int(rng.choice([0, 3, 7]))
        gain = 2.0 ** int(rng.integers(0, 8))
        right = np.log(max(gain - marked, 1e-6))
        score = rng.choice([right, right, 0.0, 9.0, -0.3, -9.0, 40.0])
        low, off = rng.choice([-1.0, -20.0]), rng.choice([0, 0, 2e-3])
        yield sum_of(score, marked, others, low, off), gain


@pytest.mark.slow
@STORED
def test_a_sum_is_within_its_bound_in_any_order(name: str) -> None:
    """Sums of many numbers, and of one whose weight is as large, or small, as it can be."""
    rng, form, ratios = np.random.default_rng(5), FORMATS[name], list[float]()
    for kinds, gain in rows_of_sums(rng):
        scores, marked = last_scores(kinds, rng), kinds[1].many[-1]
        values = rng.integers(0, 60, (len(scores), 40)).astype(float)
        values[:, ::2] *= np.eye(len(scores))[rng.integers(1, 1 + marked, 20)].T
        values[0] = 0
        up = rng.random(len(scores)) < 0.5 if rng.random() < 0.5 else values[:, 0] > 0
        right, bound = (
            values[1 : 1 + marked].sum(axis=0),
            allowed(kinds, gain, values, form),
        )
        for kernel in kernels(len(scores), form, up, rng):
            off = np.abs(gain * kernel.mean(scores, values) - right)
            assert (off <= bound).all()
            ratios.append(float((off / bound).max()))
    assert len(ratios) > 300
    assert max(ratios) > 0.5


def rows_of_fetches(rng: np.random.Generator) -> Iterator[tuple[FloatArray, int]]:
    """Scores of one right key, of some near it and of others far below, and its place."""
    for right, many in product((0.0, 2.0**18, -(2.0**21), 2.0**23), (2, 9, 40)):
        lead = right * 2.0**-20 + rng.choice([3.0, 6.0])
        far = 2.0 ** rng.integers(4, 27, many)
        behind = np.where(
            rng.random(many) < 0.5, abs(lead) * (1 + rng.random(many)), far
        )
        scores = np.append(right, right - behind).astype(np.float32)
        order = rng.permutation(many + 1)
        yield scores[order].astype(float), int(order.argmin())


@pytest.mark.sample(1, at=1)
@STORED
def test_what_a_fetch_leaks_is_within_its_bound_in_any_order(name: str) -> None:
    """Far scores are off by more than near ones, and are raised by the difference (R1)."""
    rng, form, ratios = np.random.default_rng(3), FORMATS[name], list[float]()
    for scores, place in rows_of_fetches(rng):
        n, none = len(scores), np.zeros((1, len(scores)))
        size = float(np.abs(scores).max())
        true = Scores(scores[None], none, size, 8 * form.sum_unit)
        right, one = np.arange(n)[None] == place, np.ones(1, bool)
        (on,), off, error, *_ = split_scores_by_flag(
            true, right, none > 0, ONE_KEY, one
        )
        leak = worst_leak(on, off, right, False)
        wrong = exponentials(factors(n, n, form), form, size) + 2 * error
        bound = (Interval.of(leak) + wrong).through(np.exp).most
        values = (np.arange(n) != place)[:, None].astype(float)
        for kernel in kernels(n, form, values[:, 0] > 0, rng):
            share = float(kernel.mean(scores, values)[0])
            ratio = share / max(1 - share, 1e-30) / bound
            ratios.append(ratio * (1 - 2 * form.unit))
    assert max(ratios) <= 1
    assert max(ratios) > 0.2


@pytest.mark.parametrize("gain", [8.0, 16.0, 32.0])
def test_the_maximum_may_rise_at_bos(gain: float) -> None:
    """Backwards, as FlashAttention-2 goes: what counts is rescaled once, by BOS."""
    form, worst = FORMATS["float32"], 0.0
    kinds = sum_of(np.log(gain - 1), 1, 0, 0.0, 0.0)
    values = np.stack([np.zeros(20_000), np.arange(2**15, 2**15 + 20_000)])
    bound = allowed(kinds, gain, values, form)
    order, up = np.array([1, 0]), np.array([False, True])
    for way, flag in product((DIFFERENCE, PRODUCTS, FUSED), (False, True)):
        kernel = Kernel(form, order, 1, 1, way, up, 1.0, reciprocal=flag)
        scores = last_scores(kinds, np.random.default_rng(0))
        found = gain * kernel.mean(scores, values).astype(float)
        worst = max(worst, float((np.abs(found - values[1]) / bound).max()))
    assert 0.65 < worst <= 1


@pytest.mark.sample(1)
@STORED
def test_a_maximum_rises_to_each_score_above_once(name: str) -> None:
    """Counts of Theorem 13: that of BOS, of what counts, and of all others."""
    form = FORMATS[name]

    def factors(score: float, low: float, off: float) -> list[float]:
        kinds = sum_of(score, 5, 7, low, off)
        top = max(score, 0.0)
        errors = Means.of(kinds, np.arange(len(kinds[0].many)), form).off
        own = [weight_error(k.score[-1], top, 0, form).most for k in kinds]
        one = form.exponential + form.sum_unit
        return [
            round(float(e.high[-1] - off - o) / one)
            for e, o in zip(errors, own, strict=True)
        ]

    cap = 2 if form.narrow else 13
    assert factors(3.0, -20.0, 0.0) == [0, 1, 2]
    assert factors(-3.0, -20.0, 0.0) == [1, 0, 2]
    assert factors(0.0, -20.0, 0.0) == [0, 0, 2]
    assert factors(-30.0, -20.0, 0.0) == [2, 0, 1]
    assert factors(3.0, -20.0, 1e-3) == [0, min(5, cap), min(12, cap)]
    assert factors(-30.0, -20.0, 1e-3) == [min(12, cap), min(4, cap), min(11, cap)]


NETWORKS = [
    *product(["FlipFlop"], [20], ["memory"], ["float32", "float16", "bfloat16"]),
    *product(["C2"], [6], ["counter"], ["float32", "float16", "bfloat16"]),
    *product(["Parity8@2,3,7"], [8], ["parity-selected"], ["float32", "float16"]),
    ("Dyck2,2", 8, "dyck", "float32"),
]
"""Heads that look back, add up what comes, and add up what is marked."""


@pytest.mark.slow
@pytest.mark.parametrize(("source", "length", "construction", "name"), NETWORKS)
def test_heads_of_a_network_are_right_in_any_order(
    source: str, length: int, construction: str, name: str
) -> None:
    rng, checked = np.random.default_rng(7), 0
    file = krohn.compile(source, length, construction, dtype=name).file
    letters = len(file.header["machine"]["letters"])
    for word in rng.integers(0, letters, (3, length)):
        for scores, values, right, noise in heads_of(file, word):
            up = rng.random(len(scores)) < 0.5
            for kernel in kernels(len(scores), FORMATS[name], up, rng):
                found = kernel.mean(scores, values).astype(float)
                assert (np.abs(found - right) <= noise).all()
                checked += 1
    assert checked > 100


def heads_of(
    file: ModelFile, word: IntArray
) -> Iterator[tuple[FloatArray, FloatArray, FloatArray, FloatArray]]:
    """Rows of the heads of the first block, on a word.

    Yields:
        The scores of a row and the values, ``(n, d)``, times the gain of the head; the
        code of what the Program says, and how far off the checker lets it be.
    """
    model = model_of(file)
    letters = len(file.header["machine"]["letters"])
    program = checker.read_program(model, letters)
    before = sublayers.embedding(model, program)
    after = sublayers.attention(model, before, 0)[0]
    said = interpret(program, word[None])
    tokens = np.insert(word, 0, letters)
    tensors = {n: np.asarray(x, np.float64) for n, x in model.tensors.items()}
    x = tensors["embed.token"][tokens] + tensors["embed.position"][: len(tokens)]
    at = "blocks.0.attention"
    for channel in program.channels.values():
        if channel.born != 1 or channel.head is None:
            continue
        q, k, v = (
            x @ tensors[f"{at}.{n}"][channel.head] for n in ("query", "key", "value")
        )
        values = v @ tensors[f"{at}.out"][channel.head][:, channel.span]
        for t in (1, len(word) // 2, len(word)):
            value = said[channel.name][0, t]
            place = channel.place(np.array([value]))
            yield (
                q[t] @ k[: t + 1].T,
                values[: t + 1],
                channel.code(np.array([value]))[0],
                after.noise[channel.name][place],
            )


@pytest.mark.sample(1)
@STORED
def test_heads_of_generators_in_any_order(name: str) -> None:
    """Lemma D-B: up to a factor, a head is off by τ times the weighted sizes of values."""
    rng, form = np.random.default_rng(11), FORMATS[name]
    scores = rng.integers(-16, 17, 6) / 16
    values = rng.choice([-1.0, 1.0], (6, 1)) * np.array([1.0, -1.0])
    head = Head(values, scores[:, None], values, 0.5, form)
    for n in (3, 20):
        tokens = rng.integers(0, 6, n)
        weight = np.exp(scores[tokens] - scores[tokens].max())
        weight /= weight.sum()
        tau = head.relative(0, n).most
        right, size = weight @ values[tokens], weight @ np.abs(values[tokens])
        for kernel in kernels(n, form, values[tokens, 0] > 0, rng):
            found = kernel.mean(scores[tokens], values[tokens]).astype(float)
            off = (tau * size + form.unit * np.abs(found)) / (1 - 3 * tau)
            assert (np.abs(found - right) <= off + 3 * tau * np.abs(right)).all()
