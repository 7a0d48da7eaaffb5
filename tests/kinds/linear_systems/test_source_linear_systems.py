"""Linear systems: what names mean, and the reference interpreter."""

import hashlib
import math
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from linear_networks import rounding, system

from krohn.kinds.linear_systems.source import (
    LinearSystem,
    _normal,
    find_by_name,
)
from krohn.kinds.linear_systems.source_examples import EXAMPLES
from krohn.program.errors import Refused


def test_names_mean_the_same_bytes_everywhere() -> None:
    found = hashlib.sha256(system("MatMul5,5@3").matrices.tobytes()).hexdigest()
    assert found.startswith(MATMUL)
    assert system("Cyclic-DET5,5@3").matrices.argmax(axis=1).tolist() == CYCLIC


MATMUL = "9f7a6e370dbf"
CYCLIC = [
    [2, 4, 1, 0, 3],
    [4, 0, 3, 1, 2],
    [4, 3, 0, 2, 1],
    [2, 4, 1, 0, 3],
    [2, 4, 3, 1, 0],
]


@pytest.mark.parametrize("name", ["Cyclic-DET2,1@0", "Cyclic-DET7,3@1"])
def test_letters_of_cyclic_det_are_cycles_through_all_states(name: str) -> None:
    functions = system(name).functions()
    assert functions is not None
    for function in functions:
        state, seen = 0, set()
        while state not in seen:
            seen.add(state)
            state = int(function[state])
        assert len(seen) == len(function)


@pytest.mark.parametrize("size", [2, 5, 16])
def test_letters_of_mat_mul_are_orthogonal_up_to_rounding(size: int) -> None:
    letters = system(f"MatMul{size},4@1").matrices
    departure = letters.swapaxes(1, 2) @ letters - np.eye(size)
    assert np.abs(departure).max() < 8 * 2.0**-53
    assert system(f"MatMul{size},4@1").functions() is None


def test_mat_mul_is_drawn_by_haars_measure() -> None:
    """First columns are uniform on the sphere: E x² = 1/n, E x⁴ = 3/(n(n + 2))."""
    entries = np.concatenate([system(f"MatMul4,64@{s}").matrices for s in range(40)])
    for moment, expected in ((1, 0.0), (2, 1 / 4), (4, 3 / 24)):
        assert abs((entries**moment).mean() - expected) < 0.01


def test_normal_numbers_have_the_moments_of_normal_numbers() -> None:
    random = Random(7)
    drawn = np.array([_normal(random) for _ in range(20_000)])
    assert abs(drawn.mean()) < 0.03
    assert abs((drawn**2).mean() - 1) < 0.04
    below = (np.abs(drawn) < 1).mean()
    assert abs(below - math.erf(1 / math.sqrt(2))) < 0.01


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_fast_interpreter_is_as_near_to_the_exact_one_as_it_says(name: str) -> None:
    source, length = system(name), 60
    words = np.random.default_rng(0).integers(len(source.letters), size=(3, length))
    bound = Fraction(rounding(source, length))
    for word, fast in zip(words, source.run(words), strict=True):
        for exact, state in zip(source.exactly(word), fast.tolist(), strict=True):
            off = max(abs(a - Fraction(b)) for a, b in zip(exact, state, strict=True))
            assert off <= bound


def test_letters_act_in_the_order_in_which_they_come() -> None:
    """After two letters the state is A_{o_2} A_{o_1} b_0, not A_{o_1} A_{o_2} b_0."""
    source = system("Cyclic-DET5,5@3")
    functions = source.functions()
    assert functions is not None
    state = functions[2][functions[1][0]]
    assert source.run([[1, 2]])[0, 1].argmax() == state
    assert functions[1][functions[2][0]] != state


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_header_says_it_all(name: str) -> None:
    source = system(name)
    again = LinearSystem.from_wire(source.to_wire())
    assert np.array_equal(again.matrices, source.matrices)
    assert again.letters == source.letters


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("kind", "machine"),
        ("start", [0.5]),
        ("start", [True, 0, 0, 0, 0]),
        ("letters", ["1"]),
        ("matrices", [[["a"]]]),
    ],
)
def test_a_header_that_states_no_system_is_refused(key: str, value: object) -> None:
    with pytest.raises(Refused):
        LinearSystem.from_wire({**system("MatMul5,5@3").to_wire(), key: value})


def test_other_names_are_not_ours() -> None:
    for name in ("S5", "MatMul", "MatMul5,5", "Random5,5@3", "MatMul5,5@x"):
        assert find_by_name(name) is None
    for name in ("MatMul1,5@3", "MatMul5,0@3", "MatMul99,5@3"):
        with pytest.raises(Refused, match="states"):
            find_by_name(name)
