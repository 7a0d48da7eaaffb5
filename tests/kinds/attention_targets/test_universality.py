"""Functions on grids as attention targets; permuted inputs; and what fails as printed."""

from fractions import Fraction
from random import Random

import numpy as np
import pytest
import torch

from krohn.architectures.attention_layer.engine import AttentionLayer
from krohn.kinds.attention_targets.source_grid_function import (
    GridFunction,
    Inputs,
    Point,
    Vector,
    find_by_name,
    levels,
    read_off,
    simple,
    superpose_triple,
    superposition,
)
from krohn.kinds.attention_targets.source_sampling import aggregate
from krohn.kinds.attention_targets.source_target import (
    Quadrature,
    decompose,
)
from krohn.kinds.attention_targets.statement_grid_function import StatedGridFunction
from krohn.program.domains import FloatArray
from krohn.program.errors import Refused


def pieces(length: int, points: int, dimensions: int = 1) -> list[list[Point]]:
    """Points that say their position: position s has [s/τ, (s + 1)/τ) in each axis."""
    random = Random(0)
    each = [
        sorted({random.randrange(97) for _ in range(points * 3)})[:points]
        for _ in range(length)
    ]
    return [
        [
            tuple(
                Fraction(s * 97 + i + axis, length * 97 + 3)
                for axis in range(dimensions)
            )
            for i in piece
        ]
        for s, piece in enumerate(each)
    ]


def drawn(*shape: int) -> GridFunction:
    random = Random(str(shape))
    return GridFunction.of(
        "",
        pieces(*shape),
        lambda x: tuple(Fraction(random.randint(-9, 9), 7) for _ in x),
    )


def ordered(x: Inputs) -> Vector:
    """The t-th smallest of what the positions hold: no function of pairs."""
    return tuple(sorted((p[0] * len(x)) % 1 for p in x))


SHAPES = [(1, 3), (2, 2), (2, 4, 2), (3, 3), (3, 2, 2), (4, 3)]


@pytest.mark.sample(1)
@pytest.mark.parametrize("shape", SHAPES)
def test_any_function_has_the_form_in_both_sizes(shape: tuple[int, ...]) -> None:
    length, dimensions = shape[0], shape[2] if len(shape) > 2 else 1
    sort = GridFunction.of("", pieces(*shape), ordered)
    for function in (drawn(*shape), sort):
        small, large = simple(function), superpose_triple(function)
        assert small.width == length * dimensions + 1
        assert large.width == length * (2 * length * dimensions + 1) + 1
        count = len(function.values) * length
        assert small.check(function) == large.check(function) == count


def test_inner_functions_are_those_of_all_functions() -> None:
    first, second = drawn(3, 3), GridFunction.of("", pieces(3, 3), ordered)
    parts = [superposition(f) for f in (first, second)]
    assert parts[0].inner == parts[1].inner
    assert len(parts[0].inner) == 2 * 3 + 1
    for function, found in zip((first, second), parts, strict=True):
        for x, t, value in function.enumerate_values():
            assert found.value(x, t) == value
        assert all(0 <= y <= 1 for psi in found.inner for y in psi.values())


def test_the_printed_proof_fails_on_two_positions() -> None:
    # A27. Digits are inner functions that serve every function of two bits, as Theorem
    # A.1 asks; the printed f says them and the code. Then x_1 counts twice: its digit is
    # 1 and that of x_2 is 2, so (1, 0) and (0, 1) have one aggregate at t = 1.
    grid = pieces(2, 2)
    digit = {grid[s][i]: Fraction(i << s, 4) for s in range(2) for i in range(2)}
    printed = {p: (y, Fraction(p in grid[1])) for p, y in digit.items()}
    first = GridFunction.of("", grid, lambda x: (digit[x[0]], Fraction(0)))
    for sums in ({digit[a] + digit[b] for a in grid[0] for b in grid[1]},):
        assert len(sums) == 4  # the superposition itself is fine
    with pytest.raises(Refused, match="F cannot tell them"):
        read_off(first, printed)
    assert superpose_triple(first).check(first) == simple(first).check(first) == 8
    # a function that is the same on both is no counterexample
    parity = GridFunction.of("", grid, lambda x: (digit[x[0]] * 2 + digit[x[1]],) * 2)
    assert read_off(parity, printed).check(parity) == 8


def test_its_coupling_has_as_many_terms_as_positions() -> None:
    grid = pieces(4, 3)
    places = np.repeat(np.arange(4), 3)
    rule = Quadrature(
        np.array([[float(p[0])] for piece in grid for p in piece]), np.full(12, 1 / 12)
    )

    def coupling(u: FloatArray, v: FloatArray) -> FloatArray:
        return np.log(2) * (places[:, None] == places)

    found = decompose(coupling, rule)
    assert found.rank == 4
    np.testing.assert_allclose(found.sigma[:4], np.log(2) / 4)


def test_damaged_triples_and_functions_are_refused() -> None:
    function = drawn(2, 2)
    found = simple(function)
    other = GridFunction(
        "", function.pieces, dict.fromkeys(function.values, (Fraction(0),) * 2)
    )
    with pytest.raises(Refused, match="another value"):
        found.check(other)
    point = function.pieces[0][0]
    for bad, told in (
        (((point,), (point,)), "two positions"),
        (((point,), ()), "needs a point"),
        ((((Fraction(3),),),), r"\[0, 1\]"),
        (((point,), ((Fraction(1), Fraction(1)),)), "dimensions"),
        ((), "position"),
    ):
        with pytest.raises(Refused, match=told):
            GridFunction("", bad, {})
    with pytest.raises(Refused, match="missing"):
        GridFunction("", function.pieces, {})
    with pytest.raises(Refused, match="100,000"):
        GridFunction.of("", pieces(9, 9), ordered)


def test_named_functions_and_what_files_say_of_them() -> None:
    function = find_by_name("Sorted3,4")
    assert function is not None
    assert function.pieces[2] == tuple((Fraction(k, 16),) for k in range(8, 12))
    x = (function.pieces[0][3], function.pieces[1][0], function.pieces[2][1])
    assert function.values[x] == (0, 1, 3)
    assert simple(function).check(function) == 3 * 4**3
    for name in ("Sorted3,4", "RanGrid2,3@1", "Sorted1,1"):
        found = find_by_name(name)
        assert found is not None
        again = GridFunction.from_wire(
            {"kind": StatedGridFunction.kind, **found.to_wire()}
        )
        assert (again.pieces, again.values) == (found.pieces, found.values)
    assert find_by_name("RanGrid2,3@1").values != find_by_name("RanGrid2,3@2").values
    for name in ("Sorted3", "Sorted3,4@1", "RanGrid3,4", "sorted3,4"):
        assert find_by_name(name) is None
    for name in ("Sorted0,4", "Sorted3,0", "RanGrid30,30@1"):
        with pytest.raises(Refused, match=name):
            find_by_name(name)
    third = GridFunction.of("", levels(1, 1), lambda x: (Fraction(1, 3),))
    with pytest.raises(Refused, match="binary fraction"):
        third.to_wire()
    wire = {"kind": StatedGridFunction.kind, **function.to_wire()}
    for bad in ([[0, 1]] * 64, [[float("nan")] * 3] * 64, [[0.0] * 3] * 63):
        with pytest.raises(Refused):
            GridFunction.from_wire(wire | {"values": bad})


LENGTH = 6


def layer(codes: int) -> AttentionLayer:
    """A random layer of three inputs."""
    shape = {
        **{
            "kind": "attention-layer",
            "dtype": "float64",
            "length": LENGTH,
            "inputs": 3,
        },
        **{"codes": codes, "features": 4, "features_units": [8], "d_qk": 4, "d_v": 4},
        **{"memory": 0, "causal": False, "output_units": [5], "outputs": 2},
    }
    sizes = {
        **{"features.0.weight": (3 + codes, 8), "features.0.bias": (8,)},
        **{"features.1.weight": (8, 4), "features.1.bias": (4,)},
        **{f"attention.{part}": (4, 4) for part in ("query", "key", "value")},
        **{"output.0.weight": (4, 5), "output.0.bias": (5,)},
        **{"output.1.weight": (5, 2), "output.1.bias": (2,)},
        **({"code": (LENGTH, codes)} if codes else {}),
    }
    random = torch.Generator().manual_seed(0)
    held = {n: torch.randn(s, generator=random).double() for n, s in sizes.items()}
    return AttentionLayer(shape, held)


@pytest.mark.parametrize("codes", [0, 2])
def test_a_layer_is_permutation_equivariant_unless_it_sees_positions(
    codes: int,
) -> None:
    random = torch.Generator().manual_seed(1)
    inputs = torch.randn(9, LENGTH, 3, generator=random).double()
    order = torch.randperm(LENGTH, generator=random)
    said = layer(codes)(inputs[:, order])
    followed = layer(codes)(inputs)[:, order]
    assert torch.allclose(said, followed, atol=1e-12) == (not codes)


@pytest.mark.parametrize("positional", [True, False])
def test_pieces_of_a_query_can_be_permuted_where_they_are_constant(
    positional: bool,
) -> None:
    # A22: position t asks φ_t(x_t). The altered target is H̃_t(x∘p) = H_t(x). The printed
    # proof gives position t the piece φ_p(t); the token that stands there is x(p(t)).
    random = np.random.default_rng(0)
    rank, count = 3, 200
    slope = random.normal(size=(LENGTH, rank)) * (not positional)
    offset = random.normal(size=(LENGTH, rank))
    keys = random.normal(size=(LENGTH, rank))
    order = np.roll(np.arange(LENGTH), 1)
    x = random.uniform(size=(count, LENGTH))

    def outputs(asked: FloatArray) -> FloatArray:
        return aggregate(asked @ (keys + x[..., None]).swapaxes(1, 2), x)

    own = outputs(offset + slope * x[..., None])
    permuted = x[:, order]
    printed = outputs(offset + slope * permuted[..., None])
    assert np.allclose(own, printed, atol=1e-12) == positional
