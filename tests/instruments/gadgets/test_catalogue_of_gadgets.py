"""Every gadget is right for all real inputs of its ranges, and no printed form is."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import mpmath
import numpy as np
import pytest
from gadget_table import ENTRIES, Entry
from hypothesis import given, settings, strategies as st

from krohn import gadgets
from krohn.gadgets import Gadget, certify, largest_deviation, printed
from krohn.instruments.gadgets.certificates import ROOTS
from krohn.instruments.gadgets.pieces import RATIONALS
from krohn.instruments.gadgets.record import affine, between, near
from krohn.network.meaning.net import Affine
from krohn.program.errors import Refused

WRONG = [entry for entry in ENTRIES if entry.printed]


def of_relus(made: Gadget) -> bool:
    return all(name == "relu" for layer in made.layers for name, _ in layer.runs)


EXACT = [entry.made for entry in ENTRIES if of_relus(entry.made)]


def name_of(entry: Entry) -> str:
    return entry.call


@pytest.mark.sample(8)
@pytest.mark.parametrize("entry", ENTRIES, ids=name_of)
def test_a_gadget_is_no_further_off_than_it_says(entry: Entry) -> None:
    found = certify(entry.made)
    assert 0 <= found.error <= entry.made.error
    if of_relus(entry.made):
        off = abs(entry.made.exact(found.inputs, RATIONALS) - found.wanted)
        assert max(off) == found.error


@pytest.mark.sample(4)
@pytest.mark.parametrize("entry", WRONG, ids=name_of)
def test_a_printed_form_is_refused_by_an_input_of_its_range(entry: Entry) -> None:
    assert entry.printed is not None
    with pytest.raises(gadgets.TooFarOff) as refused:
        certify(entry.printed)
    found = refused.value.found
    assert any(case.holds(found.inputs) for case in entry.printed.cases)
    said = entry.printed.exact(found.inputs, RATIONALS)
    assert list(said) == list(found.output)
    assert max(abs(said - found.wanted)) == found.error > entry.printed.error


def test_printed_forms_are_off_by_as_much_as_errata_say() -> None:
    assert largest_deviation(printed.threshold(1, 9)).error == Fraction(1, 8)
    for falling in (False, True):
        made = printed.thermometer(5, falling=falling)
        assert largest_deviation(made).error == Fraction(1, 6)
        quarter = gadgets.thermometer(5, falling=falling)
        assert largest_deviation(replace(made, cases=quarter.cases)).error == 0
    number = largest_deviation(printed.block_number(3))
    assert list(number.output[:2]) == [3, 2]
    lost = largest_deviation(printed.slots(3, 8, next_slot=False))
    assert lost.inputs[0] < 0
    assert not any(lost.output)
    assert largest_deviation(printed.place(4, 2, 9)).error == 10


SIMPLE = [g for g in EXACT if not g.error and len(g.widths) == 1]


@pytest.mark.sample(1)
@pytest.mark.parametrize("made", SIMPLE, ids=lambda g: g.name)
def test_no_unit_can_be_left_out_unless_it_is_always_0(made: Gadget) -> None:
    first, count = made.layers[0], made.widths[0]
    for unit in range(count):
        keep = np.arange(count) != unit
        damaged = replace(first, weight=first.weight * keep, bias=first.bias * keep)
        off = largest_deviation(replace(made, layers=(damaged, *made.layers[1:]))).error
        alone = Affine(1.0 * ~keep[:, None], np.zeros(1))
        zero = affine(np.zeros((len(first.weight), 1), dtype=int), [0])
        cases = tuple(replace(case, wanted=zero) for case in made.cases)
        assert off or not largest_deviation(Gadget("", (first, alone), cases)).error


@pytest.mark.sample(8)
@pytest.mark.parametrize("made", [e.made for e in ENTRIES], ids=lambda g: g.name)
def test_a_damaged_bias_is_refused(made: Gadget) -> None:
    last = made.layers[-1]
    damaged = replace(last, bias=last.bias + 2.0)
    with pytest.raises((gadgets.TooFarOff, Refused)):
        certify(replace(made, layers=(*made.layers[:-1], damaged)))


def random_network(rng: np.random.Generator, sizes: tuple[int, ...]) -> Gadget:
    """ReLUs with small whole weights, compared with 0 on a box."""
    parts = [
        Affine(
            rng.integers(-3, 4, (a, b)) * 1.0,
            rng.integers(-3, 4, b) * 1.0,
            () if i == len(sizes) - 2 else (("relu", b),),
        )
        for i, (a, b) in enumerate(pairwise(sizes))
    ]
    box = [(-2, 2)] * sizes[0]
    zero = between(box, np.zeros((sizes[0], sizes[-1]), dtype=int), [0] * sizes[-1])
    return Gadget("random", tuple(parts), (zero,))


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(
    st.integers(0, 10**6),
    st.sampled_from([(1, 6, 1), (1, 5, 4, 2), (2, 4, 1), (2, 3, 3, 2), (3, 4, 1)]),
)
def test_no_sample_is_further_off_than_the_pieces_say(seed: int, sizes: Any) -> None:
    rng = np.random.default_rng(seed)
    made = random_network(rng, sizes)
    found = largest_deviation(made)
    assert max(abs(made.exact(found.inputs, RATIONALS))) == found.error
    sampled = abs(made(rng.uniform(-2, 2, (4000, sizes[0])))).max()
    assert sampled <= float(found.error) * (1 + 1e-9)
    assert sampled >= 0.5 * float(found.error)


def bends_of(made: Gadget) -> list[float]:
    """Where the units of a gadget of one number bend, by themselves."""
    first = made.layers[0]
    return [-b / w for w, b in zip(first.weight[0], first.bias, strict=True) if w]


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6))
def test_on_a_line_the_pieces_end_where_units_bend(seed: int) -> None:
    made = random_network(np.random.default_rng(seed), (1, 7, 1))
    ends = np.array([-2.0, 2.0, *(x for x in bends_of(made) if -2 < x < 2)])
    most = abs(made(ends[:, None])).max()
    assert float(largest_deviation(made).error) == pytest.approx(most, abs=1e-12)


@settings(max_examples=12, deadline=None)
@given(
    st.lists(st.integers(-9, 9), min_size=2, max_size=5, unique=True),
    st.integers(1, 7),
    st.data(),
)
def test_tables_of_any_points_are_exact_up_to_a_quarter_of_the_gap(
    points: list[int], over: int, data: st.DataObject
) -> None:
    values = data.draw(st.tuples(*[st.integers(-3, 3)] * len(points)))
    exact = [Fraction(x, over) for x in points]
    made = gadgets.table(exact, values)
    assert certify(made).error == 0
    if any(values):
        gap = min(b - a for a, b in pairwise(sorted(exact)))
        with pytest.raises(gadgets.TooFarOff):
            certify(made.with_noise(gap / 4))


@pytest.mark.sample(1)
@pytest.mark.parametrize("tolerance", [0, 0.1, Fraction(1, 3), 0.45])
def test_steps_take_the_noise_that_is_asked_for(tolerance: Any) -> None:
    for made in (gadgets.thermometer(4, tolerance), gadgets.one_hot(4, tolerance)):
        assert certify(made).error == 0
        with pytest.raises(gadgets.TooFarOff):
            certify(made.with_noise(Fraction(1, 2) - Fraction(tolerance)))


DTYPES = (np.float32, np.float64)


@pytest.mark.sample(15)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("entry", ENTRIES, ids=name_of)
def test_numbers_of_a_format_say_what_the_fractions_do(
    entry: Entry, dtype: Any
) -> None:
    made, rng = entry.made.rounded(dtype), np.random.default_rng(7)
    unit, largest = np.finfo(dtype).eps, max(abs(a).max() for a in made.arrays)
    for case in made.cases:
        low, high = (side.astype(float) for side in (case.low, case.high))
        x = rng.uniform(low, high, (50, len(low)))
        inside = [all(r.astype(float) @ p >= c for r, c in case.above) for p in x]
        x = x[inside].astype(dtype)
        wanted = Gadget("", case.wanted, ())(x.astype(object), RATIONALS).astype(float)
        sums = 64 * unit * largest * (1 + abs(x).max(initial=0)) * max(made.widths)
        assert made(x).dtype == dtype
        assert (abs(made(x) - wanted) <= float(entry.made.error) + sums).all()


def test_products_are_within_their_bound_and_near_it() -> None:
    made = gadgets.multiplication(8, 0.01)
    grid = np.linspace(-8, 8, 81)
    a, b = (side.ravel() for side in np.meshgrid(grid, grid))
    off = abs(made(np.stack([a, b], axis=1))[:, 0] - a * b).max()
    bound = float(certify(made).error)
    assert 0.8 * bound < off <= bound
    with pytest.raises(Refused, match="too few digits"):
        gadgets.multiplication(1e9, 1e-9)


def test_the_root_of_two_pi_lies_between_its_bounds() -> None:
    with mpmath.workdps(50):
        low, high = (mpmath.mpf(r.numerator) / r.denominator for r in ROOTS)
        assert low < mpmath.sqrt(2 * mpmath.pi) < high


def test_gelus_are_as_far_off_as_is_said_at_most() -> None:
    for relus in (gadgets.thermometer(3), gadgets.selection(1, 4, 1, 6)):
        made, x = gadgets.with_gelus(relus, 0.01), np.linspace(-6, 6, 3001)
        points = np.stack([x] * len(relus.layers[0].weight), axis=1)
        off = abs(made(points) - relus(points)).max()
        assert 0 < off <= float(certify(made).error) <= 0.01


def test_maps_of_small_norm_stay_small() -> None:
    w = np.array([[0.6, -0.8, 0.0], [0.8, 0.6, 0.0], [0.0, 0.0, -2.0]])
    first, _, out, _ = gadgets.linear(w, 5).arrays
    assert max(np.linalg.norm(first, 2), np.linalg.norm(out, 2)) <= 2 * np.sqrt(2)


@pytest.mark.parametrize("i", range(3))
def test_interpolation_has_no_plateau(i: int) -> None:
    points, values = ((0, 1), (2, 0), (1, 1)), (3, -1, 2)
    made = gadgets.interpolation(points, values, (3, 1))
    assert certify(replace(made, cases=(near(points[i], 0, [values[i]]),))).error == 0
    with pytest.raises(gadgets.TooFarOff):
        certify(replace(made, cases=(near(points[i], Fraction(1, 16), [values[i]]),)))


def test_a_component_needs_no_more_units_than_are_printed() -> None:
    assert gadgets.component(3, 5).widths == (6,)


NOWHERE = between([(0, 1)], [[1]], [0], [([1], 2)])
MISTAKES: list[tuple[Callable[[], Any], str]] = [
    (lambda: gadgets.thermometer(3, 0.5), "less than 1/2"),
    (lambda: gadgets.table([1, 1], [2, 3]), "not as many as values"),
    (lambda: gadgets.table([1], [2]), "two points"),
    (lambda: gadgets.selection(1, 2, 0, 3), "above 0"),
    (lambda: gadgets.multiplication(0, 0.1), "above 0"),
    (lambda: gadgets.division(0, 4), "at least 1"),
    (lambda: gadgets.bends([1]), "two points"),
    (lambda: gadgets.minimum(-1), "range of a gadget is empty"),
    (
        lambda: gadgets.chosen_network([gadgets.composition(2)], [(0, 1)] * 3),
        "one output",
    ),
    (
        lambda: certify(
            Gadget("", affine([[1]], [0]), (between([(0, 1)], [[1]], [0], [([1], 2)]),))
        ),
        "no inputs",
    ),
]


@pytest.mark.parametrize(("call", "says"), MISTAKES)
def test_mistakes_are_told(call: Callable[[], Any], says: str) -> None:
    with pytest.raises(Refused, match=says):
        call()
