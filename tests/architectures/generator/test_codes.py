"""The shorter codes of letter and depth, (3.38) and (3.39): as printed, and repaired."""

from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest

from krohn.algebra import zoo
from krohn.algebra.brackets import Stack, distribution
from krohn.architectures.generator.build import Freedom
from krohn.architectures.generator.build_maps import angles
from krohn.architectures.generator.check import check_claim
from krohn.architectures.generator.commands import compile_generator
from krohn.network.modelfile import ModelFile
from krohn.network.precision import FloatArray
from krohn.program.errors import Refused
from krohn.verify.search.find import machine_of, model_of

CODES = ("one-hot", "angle")


@cache
def built(code: str, name: str = "Dyck4,2", dtype: str = "float64") -> ModelFile:
    free = Freedom("symmetric", code, seed=3)
    return compile_generator(name, 12, free, dtype=dtype, proof=False).file


def tokens(kinds: int, depth: int) -> list[tuple[int, int]]:
    """Letters with the depths that they lead to: even ones open, as in Dyck4,2."""
    opens = [(2 * kind, d) for kind in range(kinds) for d in range(1, depth + 1)]
    return opens + [(2 * kind + 1, d) for kind in range(kinds) for d in range(depth)]


def printed(code: str, kinds: int, depth: int) -> FloatArray:
    """``(2k, D + 1, d)``: letter ⊕ depth, as the thesis has it."""
    theta = [np.arctan(d / (depth + 2 - d)) for d in range(depth + 1)]
    circle = [[np.cos(t), np.sin(t)] for t in theta]
    depths = np.eye(depth + 1) if code == "one-hot" else np.array(circle)
    letters = np.eye(2 * kinds)
    each = [[[*a, *d] for d in depths] for a in letters]
    return np.array(each)


@pytest.mark.parametrize(
    ("code", "width", "rank"), [("one-hot", 9, 8), ("angle", 6, 6)]
)
def test_printed_codes_are_distinct_and_dependent(
    code: str, width: int, rank: int
) -> None:
    table = printed(code, 2, 4)
    rows = np.array([table[token] for token in tokens(2, 4)])
    assert rows.shape == (16, width)
    assert np.linalg.matrix_rank(rows) == rank
    apart = np.abs(rows[:, None] - rows).max(axis=2) + np.eye(16)
    assert apart.min() > 0.1
    assert np.allclose(built(code).tensors["embed.letter"], table, rtol=0, atol=1e-15)


@pytest.mark.parametrize("depth", [1, 2, 4, 9, 30, 100])
def test_neighbouring_angles_are_a_step_apart(depth: int) -> None:
    gap = np.diff(angles(depth))
    assert (gap >= 1 / (depth + 2) - 1e-12).all()
    assert (1 - np.cos(gap) >= 0.2 / depth**2 / (1 + 2 / depth) ** 2).all()


def right_laws(
    name: str, q: Fraction, most: int
) -> dict[tuple[int, ...], list[Fraction]]:
    """The law after each legal prefix, by a stack that is kept here."""
    depth, kinds = map(int, name.removeprefix("Dyck").split(","))
    found: dict[tuple[int, ...], list[Fraction]] = {}
    layer: list[tuple[tuple[int, ...], Stack]] = [((), ())]
    for _ in range(most + 1):
        after: list[tuple[tuple[int, ...], Stack]] = []
        for word, stack in layer:
            opens = Fraction(len(stack) < depth) * (q if stack else 1)
            law = [opens / kinds, Fraction(0)] * kinds
            if stack:
                law[2 * stack[-1] + 1] = 1 - opens
                after.append(((*word, 2 * stack[-1] + 1), stack[:-1]))
            found[word] = law
            if opens:
                after += [((*word, 2 * kind), (*stack, kind)) for kind in range(kinds)]
        layer = after
    return found


def run(file: ModelFile, word: tuple[int, ...]) -> FloatArray:
    """The law after a word, by numpy."""
    t, moves = file.tensors, file.header["architecture"]["moves"]
    depths = np.cumsum([moves[a] for a in word], dtype=int)
    x = np.concatenate([t["embed.start"][None], t["embed.letter"][list(word), depths]])
    for i, layer in enumerate(file.header["architecture"]["layers"]):
        q, k, v = (
            x @ t[f"layers.{i}.attention.{n}"] for n in ("query", "key", "value")
        )
        weights = np.exp(np.where(np.tri(len(x)) > 0, q @ k.T, -np.inf))
        a = weights / weights.sum(axis=1, keepdims=True) @ v
        a = a - a.mean(axis=1, keepdims=True)
        length = np.linalg.norm(a, axis=1, keepdims=True)
        x = x + a / np.maximum(length, t[f"layers.{i}.constant"])
        for j in range(len(layer["mlp"]) + 1):
            x = np.maximum(x, 0) if j else x
            x = x @ t[f"layers.{i}.mlp.{j}.weight"] + t[f"layers.{i}.mlp.{j}.bias"]
    return np.asarray(x[-1])


@pytest.mark.sample(1)
@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize(
    ("name", "most"), [("Dyck3,2", 6), ("Dyck2,3", 5), ("Dyck4,1", 8)]
)
def test_every_short_prefix_gets_its_law(code: str, name: str, most: int) -> None:
    file = built(code, name)
    for word, law in right_laws(name, Fraction(1, 2), most).items():
        assert np.abs(run(file, word) - np.array(law, dtype=float)).max() < 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
def test_codes_are_proved_in_every_format(code: str, dtype: str) -> None:
    free = Freedom("uniform", code)
    length = 1 if dtype == "bfloat16" else 12
    model = compile_generator("Dyck4,2", length, free, dtype=dtype)
    assert model.file.header["architecture"]["layers"][0]["mlp"] == (
        [17] if code == "one-hot" else [9, 9, 17]
    )
    assert model.proof is not None
    assert model.proof.verdict == "verified"


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", ["Dyck1,1", "Dyck1,3", "Dyck9,1", "Dyck3,3"])
@pytest.mark.parametrize("code", CODES)
def test_codes_of_other_stacks_are_proved(code: str, name: str) -> None:
    model, machine = model_of(built(code, name)), machine_of(zoo.machine(name))
    shown = check_claim(model, {}, machine)
    assert shown.told["first"] == {"depth": "from codes of letters and depths"}
    assert shown.error is not None
    assert shown.error <= 2.0**-53


def changed(file: ModelFile, name: str, at: tuple[int, ...], by: float) -> ModelFile:
    tensor = file.tensors[name].copy()
    tensor[at] += by
    return replace(file, tensors={**file.tensors, name: tensor})


DAMAGES = [
    ("embed.letter", (0, 2, 0), -1.0),
    ("embed.letter", (1, 1, 4), 1.0),
    ("embed.start", (0,), 1.0),
    ("layers.0.attention.value", (0, 1), 1.0),
    ("layers.0.mlp.0.weight", (0, 0), -1.0),
    ("layers.0.mlp.0.bias", (2,), 1.0),
    ("layers.0.mlp.1.weight", (3, 3), 1.0),
    ("layers.0.constant", (0,), -1.0),
]


@pytest.mark.sample(4)
@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("damage", DAMAGES, ids=lambda d: d[0])
def test_damaged_layers_of_codes_are_refused(
    code: str, damage: tuple[str, tuple[int, ...], float]
) -> None:
    damaged = changed(built(code, "Dyck3,2"), *damage)
    machine = machine_of(zoo.machine("Dyck3,2"))
    with pytest.raises(Refused):
        check_claim(model_of(damaged), {}, machine)


def test_a_head_that_speaks_is_refused() -> None:
    file = built("one-hot", "Dyck2,2")
    value = file.tensors["layers.0.attention.value"].copy()
    value[0, :2] = 1.0, -1.0
    spoken = replace(file, tensors={**file.tensors, "layers.0.attention.value": value})
    with pytest.raises(Refused, match="is not silent"):
        check_claim(model_of(spoken), {}, None)


# Proposition D-G: what the codes can do as printed, read by the balanced layer itself.


@pytest.mark.parametrize("code", CODES)
def test_equal_scores_hide_the_order_of_open_brackets(code: str) -> None:
    """(a, 1) + (b, 2) = (b, 1) + (a, 2), so any values add up to the same."""
    table = printed(code, 2, 3)
    assert np.array_equal(table[0, 1] + table[2, 2], table[2, 1] + table[0, 2])


@pytest.mark.slow
def test_scores_that_grow_with_depth_balance_the_one_hot_code() -> None:
    """S = d·ln 2 and V(open) = u, V(close) = −2u: weights 2^d, without rounding."""
    kinds, depth = 2, 4
    table = printed("one-hot", kinds, depth).astype(int)
    exponents, values = np.zeros((9, 9), dtype=int), np.zeros((9, kinds), dtype=int)
    for kind in range(kinds):
        exponents[2 * kinds :, 2 * kind + 1] = range(depth + 1)
        values[2 * kind, kind], values[2 * kind + 1, kind] = 1, -2
    laws, right = right_laws(f"Dyck{depth},{kinds}", Fraction(1, 2), 9), 0
    for word in laws:
        stack: list[int] = []
        x = []
        for a in word:
            stack = stack[:-1] if a % 2 else [*stack, a // 2]
            x.append(table[a, len(stack)])
        if stack and word[-1] % 2:
            weights = [2 ** int(row @ exponents @ x[-1]) for row in x]
            left = np.array(weights) @ np.array(x) @ values
            wanted = np.zeros(kinds, dtype=int)
            for level, kind in enumerate(stack, start=1):
                wanted[kind] += 2**level
            assert np.array_equal(left, wanted)
            assert left.argmax() == stack[-1]
            assert 2 * left.max() > left.sum()
            right += 1
    assert right > 500


def kernel(rows: list[list[Fraction]]) -> list[list[Fraction]]:
    """A basis of what all rows are orthogonal to, by elimination in fractions."""
    left, pivots = [list(row) for row in rows], list[int]()
    width = len(left[0])
    for column in range(width):
        at = next((i for i in range(len(pivots), len(left)) if left[i][column]), None)
        if at is None:
            continue
        here = len(pivots)
        left[here], left[at] = left[at], left[here]
        left[here] = [x / left[here][column] for x in left[here]]
        for i, row in enumerate(left):
            if i != here and row[column]:
                factor = row[column]
                left[i] = [x - factor * y for x, y in zip(row, left[here], strict=True)]
        pivots.append(column)
    basis = []
    for free in sorted({*range(width)} - {*pivots}):
        vector = [Fraction(i == free) for i in range(width)]
        for row, pivot in zip(left, pivots, strict=False):
            vector[pivot] = -row[free]
        basis.append(vector)
    return basis


def balances(rho: list[int], s: list[Fraction]) -> list[list[Fraction]]:
    """Values (a_i, b_i, c_d) with b_i + c_{d−1} + ρ_i s_d (a_i + c_d) = 0 for all i, d."""
    kinds, depth = len(rho), len(s)
    rows = []
    for i, d in product(range(kinds), range(1, depth + 1)):
        row, share = [Fraction(0)] * (2 * kinds + depth + 1), rho[i] * s[d - 1]
        row[i], row[kinds + i] = share, Fraction(1)
        row[2 * kinds + d - 1] += 1
        row[2 * kinds + d] += share
        rows.append(row)
    return kernel(rows)


@pytest.mark.parametrize(
    ("rho", "s", "size"),
    [
        ([1, 3], [2, 2, 2, 2], 3),  # values without the depth, and a shift of all
        ([2, 2], [3, 3, 3, 3], 4),  # and c_d = (−1/6)^d
        ([1, 1], [1, 1, 1], 4),  # equal scores: c_d = (−1)^d
        ([1, 3], [1, 2, 3, 5], 1),  # the shift alone
        ([2, 2], [1, 2, 3, 5], 3),  # kinds are alike
    ],
)
def test_values_that_balance_are_those_of_the_proof(
    rho: list[int], s: list[int], size: int
) -> None:
    found = balances(rho, [Fraction(x) for x in s])
    assert len(found) == size
    if rho[0] == rho[1] and len({*s}) > 1:
        assert all(vector[0] == vector[1] for vector in found)


def test_no_scores_of_angles_grow_evenly() -> None:
    """Cos and sin of D + 1 ≥ 4 angles are no multiple of each other with 1 and d."""
    for depth in range(3, 20):
        theta, d = angles(depth), np.arange(depth + 1)
        four = np.stack([np.cos(theta), np.sin(theta), d / depth, 1 + 0 * d], axis=1)
        assert np.linalg.matrix_rank(four, tol=1e-9) == 4
    root13, root17 = 13**0.5, 17**0.5  # the determinant for D = 3, by hand
    rows = [
        [1, n, root, n * root] for n, root in enumerate((5, root17, root13, root13))
    ]
    by_hand = (root13 - 5) * (root13 - root17)
    assert abs(np.linalg.det(np.array(rows)) - by_hand) < 1e-9


def hidden_tops(depth: int, rng: np.random.Generator) -> bool:
    """Whether some scores leave two stacks of two brackets apart whose tops differ.

    Scores, and all values that balance with them, of the code of angles, kinds 0 and 1.
    """
    grown, (own, other) = (
        rng.normal(size=2) * rng.integers(0, 3),
        rng.normal(size=(2, 2)),
    )
    if rng.integers(2):
        other = own - other[0]  # both kinds have the same ratio
    theta = angles(depth)
    circle = np.stack([np.cos(theta), np.sin(theta)], axis=1)
    height = circle @ grown
    rows = []
    for i, d in product(range(2), range(1, depth + 1)):
        row = np.zeros(6)
        row[i], row[2 + i] = (
            np.exp(own[i] + height[d]),
            np.exp(other[i] + height[d - 1]),
        )
        row[4:] = row[i] * circle[d] + row[2 + i] * circle[d - 1]
        rows.append(row)
    _, sizes, basis = np.linalg.svd(np.array(rows))
    values = basis[np.sum(sizes > 1e-9) :].T
    said = {}
    for stack in product(range(2), repeat=2):
        total = np.zeros(values.shape[1])
        for level, i in enumerate(stack, start=1):
            weight = np.exp(own[i] + height[level])
            total += weight * (values[i] + circle[level] @ values[4:])
        length = np.linalg.norm(total)
        said[stack] = total / length if length > 1e-9 else 0 * total
    pairs = (((0, 0), (1, 1)), ((0, 1), (1, 0)), ((0, 1), (0, 0)), ((1, 0), (1, 1)))
    return any(np.allclose(said[a], said[b], rtol=0, atol=1e-7) for a, b in pairs)


@pytest.mark.sample(1)
@pytest.mark.parametrize("depth", [3, 4, 7])
def test_scores_by_chance_hide_a_top_from_values_of_angles(depth: int) -> None:
    rng = np.random.default_rng(depth)
    assert all(hidden_tops(depth, rng) for _ in range(200))


def test_a_start_with_a_value_makes_up_for_it_at_depth_3() -> None:
    """Both kinds have one value; their scores differ, and the start shows by how much."""
    theta = angles(3)
    circle = np.stack([np.cos(theta), np.sin(theta)], axis=1)
    opening = 1 + circle @ [0.8, 0.5]
    closing = opening - 3.9
    ratios = -closing[:-1] / opening[1:]
    rows = np.column_stack([np.ones(3), np.diff(circle, axis=0)])
    log_rho, *grown = np.linalg.solve(rows, np.log(ratios))
    height, own = circle @ grown, np.array([0.0, 0.3])
    weight = np.exp(own[:, None] + height)
    other = np.exp(own[:, None] - log_rho + height)
    left = weight[:, 1:] * opening[1:] + other[:, :-1] * closing[:-1]
    assert np.abs(left).max() < 1e-12
    said = [weight[a, 1] * opening[1] + weight[b, 2] * opening[2] for a, b in BOTH]
    assert np.abs(np.subtract.outer(said, said) + 9 * np.eye(4)).min() > 0.1


BOTH = tuple(product(range(2), repeat=2))


def test_the_laws_are_those_of_the_distribution() -> None:
    law = distribution(zoo.machine("Dyck3,2"), Fraction(1, 3))
    found = right_laws("Dyck3,2", Fraction(1, 3), 4)
    for word, right in found.items():
        assert tuple(right) == law.law(law.stacks(list(word))[-1])
