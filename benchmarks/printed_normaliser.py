"""The normaliser of Hu et al. 2024, Theorem 5.3, as printed and repaired, with O(T) bits.

Products of operators are not normalised before their end, so that numbers need O(T) bits:
this runs its GeLU gates and ReLU ramps in as many. Heads copy exactly here; the error that
Theorem 5.2 allows before the normaliser is added to one entry. Krohn's own construction
(`kinds/hidden_markov/build_normalised.py`) works in float64.

python benchmarks/printed_normaliser.py
"""

from itertools import product
from math import ceil, exp, log, log2
from typing import Any, NamedTuple

import numpy as np
from mpmath import erf, mp, mpf, pi, sqrt

from krohn.kinds.hidden_markov.source import HiddenMarkovModel

BITS = 4000
Vector = list[Any]
Matrix = list[Vector]
CASES = ((4, 2, 2, 0.2), (8, 2, 3, 0.05), (16, 2, 2, 0.2))


class Variant(NamedTuple):
    """The parts of the construction that are taken as printed.

    Attributes:
        ramp: p(x) = ReLU(1 − ReLU(−x)), which is 1 for all x ≥ 0; the repaired one is
            ReLU(1 − ReLU(1 − x)).
        floors: Stages divide by C to the power of ⌊T/2⌋, ⌊T/4⌋, …; the repaired ones by 2
            to the power of powers of two.
        exponent: η = e^(−4T)/(8n)^(L+1); the repaired one is e^(−(4 + ln C)T)/(8n)^(L+1).
    """

    ramp: bool = False
    floors: bool = False
    exponent: bool = False


REPAIRED = Variant()


def relu(x: Any) -> Any:
    """The larger of x and 0."""
    return x if x > 0 else mpf(0)


def gate(a: Any, b: Any, scale: Any) -> Any:
    """The product of two numbers by four GeLUs; g(x) + g(−x) = x·erf(x/√2)."""

    def pair(x: Any) -> Any:
        return x * erf(x / sqrt(2))

    outside = sqrt(2 * pi) * scale**2 / 8
    return outside * (pair((a + b) / scale) - pair((a - b) / scale))


def multiplied(later: Matrix, earlier: Matrix, scale: Any) -> Matrix:
    """The product of two matrices by gates: (X − 1)Y + Y (Lemma D.2)."""
    size, made = range(len(later)), [list(row) for row in earlier]
    for i, j, k in product(size, size, size):
        made[i][j] += gate(later[i][k] - (i == k), earlier[k][j], scale)
    return made


def unnormalised(model: HiddenMarkovModel, word: list[int], scale: Any) -> Vector:
    """A_{o_t} … A_{o_1} b_0 by windows that double; before the word is the identity."""
    one = np.eye(model.size)
    levels = (len(word) - 1).bit_length()
    matrices = [one] * (2**levels - len(word)) + [model.operators[o] for o in word]
    windows = [[[mpf(x) for x in row] for row in m.tolist()] for m in matrices]
    while len(windows) > 1:
        pairs = zip(windows[1::2], windows[::2], strict=True)
        windows = [multiplied(later, earlier, scale) for later, earlier in pairs]
    start = [mpf(x) for x in model.start.tolist()]
    return [sum(a * b for a, b in zip(row, start, strict=True)) for row in windows[0]]


def stages(length: int, least: float, printed: bool) -> list[Any]:
    """The divisors of a sum of 1 to C^T, each used if the sum is above it.

    The printed ones round exponents of C = 1/least down, and leave up to C^4 at T = 120.
    """
    if printed:
        levels = range((length - 1).bit_length() + 1)
        return [mpf(1 / least) ** (length // 2 ** (k + 1)) for k in levels]
    digits = ceil(-length * log2(least))
    levels = range(max(digits - 1, 1).bit_length() - 1, -1, -1)
    return [mpf(2) ** (2**j) for j in levels]


def rescaled(
    vector: Vector, divisors: list[Any], scale: Any, variant: Variant
) -> Vector:
    """A vector divided so that its sum is 1 to 3.

    Sums may not use absolute values: entries may be below 0.
    """
    for most in divisors:
        x = sum(vector) - most
        over = relu(1 - relu(-x)) if variant.ramp else relu(1 - relu(1 - x))
        under = relu(1 - over)
        factor = over / most + under
        vector = [gate(entry, factor, scale) for entry in vector]
    return vector


def divided(vector: Vector, terms: int, scale: Any) -> Vector:
    """A vector of sum 1 to 3, made to have sum 1: 1/(1 − c) = Π (1 + c^(2^j))."""
    vector = [entry / 3 for entry in vector]
    power = 1 - sum(vector)
    for _ in range(terms):
        vector = [gate(entry, 1 + power, scale) for entry in vector]
        power = gate(power, power, scale)
    return vector


def belief(
    model: HiddenMarkovModel, word: list[int], variant: Variant = REPAIRED
) -> Vector:
    """The belief of the network of Theorem 5.3 after a word."""
    length, size = len(word), model.size
    least = model.operators.sum(axis=1).min()  # |A_o b| is at least the least emission
    rise = 4.0 if variant.exponent else 4.0 - log(least)
    levels = (length - 1).bit_length()
    with mp.workprec(BITS):
        error = mpf(8 * size) ** -(levels + 1) * mp.exp(-rise * length)
        digits = ceil(-length * log2(least))
        vector = unnormalised(model, word, sqrt(2 / (3 * error)))
        vector[-1] += mp.exp(-rise * length)
        vector = [entry / mpf(float(least)) ** length for entry in vector]
        divisors = stages(length, float(least), variant.floors)
        scale = mpf(2) ** (1.5 * digits) * mp.exp(1.5 * length)
        terms = ceil(log2((length + 5) / log(1.5)))
        return divided(rescaled(vector, divisors, scale, variant), terms, scale)


def off(model: HiddenMarkovModel, word: list[int], said: Vector) -> float:
    """The largest error of an entry, against exact fractions."""
    with mp.workprec(BITS):
        right = model.exactly(word)[-1]
        pairs = zip(said, right, strict=True)
        return float(max(abs(x - mpf(y.numerator) / y.denominator) for x, y in pairs))


def random_model(
    states: int, letters: int, least: float, seed: int
) -> HiddenMarkovModel:
    """A model whose emissions are at least ``least``."""
    random = np.random.default_rng(seed)
    step = random.dirichlet(np.ones(states), size=states).T
    say = random.dirichlet(np.ones(letters), size=states).T
    say = least + (1 - letters * least) * say
    start = np.eye(states)[0]
    return HiddenMarkovModel.of(f"least {least}", step, say, before=start)


def unlikely_model() -> HiddenMarkovModel:
    """Both states say the first letter about one time in 100."""
    step = [[0.9, 0.2], [0.1, 0.8]]
    say = [[0.01, 0.012], [0.99, 0.988]]
    return HiddenMarkovModel.of("unlikely", step, say, before=[1.0, 0.0])


def main() -> None:
    """Print how far each variant is off."""
    printed = Variant(ramp=True), Variant(floors=True), Variant(exponent=True)
    print("| model | T | e^−T | repaired | p as printed | ⌊T/2⌋ … | e^−4T |")
    print("|---|---|---|---|---|---|---|")
    rows = [
        (
            f"n = {n}, m = {m}, emissions from {least}",
            random_model(n, m, least, 0),
            t,
            0,
        )
        for t, n, m, least in CASES
    ]
    for letter, share in enumerate(("1", "99")):
        name = f"n = 2, m = 2, the letter of {share} %"
        rows += [(name, unlikely_model(), t, letter) for t in (15, 16)]
    for name, model, length, letter in rows:
        word = [letter] * length
        found = [off(model, word, belief(model, word, v)) for v in (REPAIRED, *printed)]
        told = " | ".join(f"{x:.1e}" for x in found)
        print(f"| {name} | {length} | {exp(-length):.1e} | {told} |")


if __name__ == "__main__":
    main()
