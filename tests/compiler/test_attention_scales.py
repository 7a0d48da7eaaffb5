"""Position codes tell all positions apart; formats that cannot are refused."""

import re
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, strategies as st

import krohn
from krohn.algebra import zoo
from krohn.algebra.errors import KrohnError
from krohn.compiler import CompileError
from krohn.compiler.attention.flagged import earliest_scale, sibling_scale
from krohn.compiler.attention.latest import recency_scale, spread_scale, uniform_scale
from krohn.compiler.attention.places import distance_slope, equality_scale
from krohn.compiler.compiled_network import compile_transformer
from krohn.compiler.pipeline import Options
from krohn.compiler.positions import (
    PositionCode,
    check_count,
    count_scale,
    count_scores,
    leak_target,
    match_scale,
    position_code,
    recency_slope,
    spread,
)
from krohn.network.precision import (
    BFLOAT16,
    FLOAT16,
    FLOAT32,
    FLOAT64,
    PRECISIONS,
    Precision,
)

SIZES = range(1, 10)
ROUNDING = 1e-11


def vectors(code: PositionCode) -> np.ndarray:
    return code.vectors(np.arange(2.0**code.frequencies))


@pytest.mark.parametrize("k", SIZES)
def test_the_closest_two_positions_differ_by_exactly_two(k: int) -> None:
    codes = vectors(PositionCode(k))
    scores = codes @ codes.T
    gaps = np.diag(scores)[:, None] - scores
    np.fill_diagonal(gaps, np.inf)
    assert abs(gaps.min() - 2) < ROUNDING
    assert np.abs(np.diag(scores) - k).max() < ROUNDING


@pytest.mark.sample(2)
@pytest.mark.parametrize("k", SIZES)
def test_looking_back_is_a_rotation(k: int) -> None:
    code = PositionCode(k)
    codes = vectors(code)
    for by in range(2**k):
        rotation = code.rotation(by)
        back = np.roll(codes, by, axis=0)
        assert np.abs(codes @ rotation - back).max() < ROUNDING


@pytest.mark.parametrize("k", range(2, 11))
def test_the_sink_of_a_circle_is_halfway_between_a_position_and_its_neighbours(
    k: int,
) -> None:
    code = PositionCode(k, first=k)
    codes = vectors(code)
    assert codes.shape[1] == code.dimensions == 2
    scores = codes @ codes.T
    np.fill_diagonal(scores, -np.inf)
    assert abs(scores.max() - np.cos(2 * np.pi / 2**k)) < ROUNDING
    assert abs(1 - code.lead - (1 + scores.max()) / 2) < ROUNDING
    # E5, repaired: no two positions are closer than 8/N² (the printed 1 − 2π²/T² fails).
    assert scores.max() <= 1 - 8 / 4**k + ROUNDING
    assert scores.max() > 1 - 2 * np.pi**2 / 4**k


@pytest.mark.parametrize("k", range(2, 8))
def test_looking_back_on_a_circle_is_a_rotation(k: int) -> None:
    code = PositionCode(k, first=k)
    codes = vectors(code)
    for by in range(2**k):
        assert np.abs(codes @ code.rotation(by) - np.roll(codes, by, axis=0)).max() < (
            ROUNDING
        )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("precision", "longest"), [(FLOAT32, 512), (FLOAT16, 16), (BFLOAT16, 4)]
)
def test_a_circle_serves_lengths_up_to_a_limit(
    precision: Precision, longest: int
) -> None:
    built = krohn.compile(
        "C3", longest, "scan", dtype=precision.name, positions="circle"
    )
    assert built.proof is not None
    assert built.proof.verdict == "verified"
    assert built.file.header["program"]["features"]["code"][1] - (
        built.file.header["program"]["features"]["code"][0]
    ) == (2)
    with pytest.raises(KrohnError, match=r"positions|certified"):
        krohn.compile(
            "C3", longest + 1, "scan", dtype=precision.name, positions="circle"
        )


def test_a_circle_is_for_look_backs_of_weights_that_depend_on_the_length() -> None:
    with pytest.raises(CompileError, match="leave positions='circle' out"):
        krohn.compile("C2", 16, "counter", positions="circle")
    with pytest.raises(CompileError, match="leave one of the two out"):
        krohn.compile("C2", 16, "scan", positions="circle", uniform=True)
    with pytest.raises(CompileError, match="positions= takes dyadic or circle"):
        krohn.compile("C2", 16, "scan", positions="square")


@pytest.mark.parametrize("k", SIZES)
def test_one_sine_is_saved(k: int) -> None:
    code = PositionCode(k)
    assert vectors(code).shape[1] == code.dimensions == 2 * k - 1
    assert code.rotation(1).shape == (2 * k - 1, 2 * k - 1)


@given(st.integers(1, 2000), st.data())
def test_no_look_back_wraps_around(length: int, data: st.DataObject) -> None:
    furthest = data.draw(st.integers(1, length))
    code = position_code(length, furthest)
    assert length + furthest < 2**code.frequencies
    assert length + furthest >= 2 ** (code.frequencies - 1) or code.frequencies == 1


@pytest.mark.parametrize("precision", PRECISIONS.values(), ids=PRECISIONS)
@pytest.mark.parametrize("length", [1, 2, 3, 64, 100, 255])
def test_scales_are_powers_of_two(length: int, precision: Precision) -> None:
    code = position_code(length, max(1, length // 2))
    for number in (match_scale(code, length, precision), count_scale(length)):
        assert np.frexp(number)[0] == 0.5


@pytest.mark.parametrize("precision", [FLOAT64, FLOAT32])
@pytest.mark.parametrize("length", [1, 10, 1000])
def test_a_match_leaks_less_than_a_rounding(length: int, precision: Precision) -> None:
    code = position_code(length, length)
    temperature = match_scale(code, length, precision) ** 2
    assert length * np.exp(-temperature) < precision.accumulator_unit


@pytest.mark.parametrize("length", [1, 5, 100])
def test_a_uniform_head_weighs_every_letter_alike(length: int) -> None:
    positions = np.arange(length + 1)
    normaliser = np.exp(count_scores(length)) + positions
    assert np.allclose(normaliser, count_scale(length), rtol=1e-13)
    assert count_scale(length) >= 2 * length


@pytest.mark.parametrize(
    ("precision", "slope", "needed"),
    [
        (BFLOAT16, 16, 9.7),
        (FLOAT16, 16, 11.8),
        (FLOAT32, 32, 18.7),
        (FLOAT64, 64, 38.8),
    ],
)
def test_the_slope_of_recency_is_the_next_power_of_two(
    precision: Precision, slope: float, needed: float
) -> None:
    assert recency_slope(precision, 1) == slope
    assert slope / 2 < needed <= slope
    narrow = precision.digits < precision.accumulator_digits
    leak = precision.unit / 32 if narrow else leak_target(precision)
    assert 2 / np.expm1(needed) == pytest.approx(leak, rel=0.1)


@given(st.integers(1, 300), st.floats(0.5, 20))
def test_the_worst_leak_of_recency_does_not_grow_with_the_length(
    length: int, slope: float
) -> None:
    """An early flag: behind it all flagged, after it none, at distances 1 to T."""
    leak = 2 * np.exp(-slope * np.arange(1, length + 1)).sum()
    assert leak <= 2 / np.expm1(slope) * (1 + 1e-12)


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("length", "precision"), [(127, BFLOAT16), (1023, FLOAT16), (5000, FLOAT32)]
)
def test_scores_of_weights_of_every_length_are_exact(
    length: int, precision: Precision
) -> None:
    slope, t = uniform_scale(length, precision), np.arange(length + 1)
    plain, flagged = slope * t, slope * (t + t[:, None] + 1.0)
    seen = np.tril(flagged)
    assert np.array_equal(precision.round(seen), seen)
    latest = np.where(t <= t[:, None], plain, -np.inf).max(axis=1)
    assert (flagged[:, 0] >= latest + slope).all()


@pytest.mark.parametrize(
    ("length", "precision"), [(3, FLOAT16), (127, FLOAT16), (1000, FLOAT32)]
)
def test_recency_scores_are_exact(length: int, precision: Precision) -> None:
    slope, bonus = recency_scale(length, precision)
    scores = slope * (np.arange(length + 1)[:, None] + bonus * np.array([0, 1]))
    assert np.array_equal(precision.round(scores), scores)
    assert scores[0, 1] > scores[-1, 0]


@pytest.mark.parametrize(
    ("length", "precision"),
    [(1, BFLOAT16), (63, BFLOAT16), (3, FLOAT16), (255, FLOAT16), (1000, FLOAT32)],
)
def test_bos_lies_between_matches_and_mismatches(
    length: int, precision: Precision
) -> None:
    slope, bonus = equality_scale(length, precision)
    scores = slope * (np.arange(length + 1)[:, None] + bonus * np.array([0, 1]))
    assert np.array_equal(precision.round(scores), scores)
    sink = slope * bonus / 2
    assert scores[-1, 0] + slope <= sink
    assert sink + slope * (length + 2) <= scores[1, 1]


@pytest.mark.parametrize(
    ("length", "precision"), [(64, BFLOAT16), (700, FLOAT16), (2**23, FLOAT32)]
)
def test_matching_values_refuses_a_format_that_is_too_coarse(
    length: int, precision: Precision
) -> None:
    with pytest.raises(CompileError, match=f"^{precision.name} cannot order {length}"):
        equality_scale(length, precision)


@pytest.mark.parametrize(
    ("length", "precision"), [(1000, BFLOAT16), (5000, FLOAT16), (2**23, FLOAT32)]
)
def test_recency_refuses_a_format_that_is_too_coarse(
    length: int, precision: Precision
) -> None:
    with pytest.raises(CompileError, match=f"^{precision.name} cannot order {length}"):
        recency_scale(length, precision)


SPREAD = [(128, BFLOAT16), (512, BFLOAT16), (2048, BFLOAT16), (2048, FLOAT16)]


@pytest.mark.parametrize(("length", "precision"), SPREAD)
def test_positions_are_spread_over_the_whole_numbers_of_a_format(
    length: int, precision: Precision
) -> None:
    count = (length + 1) // 2
    found = spread(count, precision)
    whole = np.arange(-found[-1], found[-1] + 1)
    assert np.array_equal(found, whole[precision.round(whole) == whole])
    assert len(found) == 2 * count + 1 > length


@pytest.mark.parametrize(("length", "precision"), SPREAD)
def test_what_has_no_flag_is_rounded_but_stays_below(
    length: int, precision: Precision
) -> None:
    slope, bonus = spread_scale(length, precision)
    index = spread((length + 1) // 2, precision)
    flagged, others = slope * index, precision.round(index - bonus) * slope
    assert precision.round(bonus) == bonus
    assert np.array_equal(precision.round(flagged), flagged)
    assert (np.diff(flagged) >= slope).all()
    largest = bonus * 4 / 9
    assert largest / 2 < index[-1] <= largest == 2 ** round(np.log2(largest))
    assert flagged[0] - precision.round(others).max() >= slope * largest / 5
    assert -precision.round(others).min() <= precision.largest


@pytest.mark.parametrize(
    ("length", "precision"), [(2817, BFLOAT16), (2049, FLOAT16), (2**23, FLOAT32)]
)
def test_spread_positions_end_where_exponents_or_scores_do(
    length: int, precision: Precision
) -> None:
    with pytest.raises(CompileError, match=f"^{precision.name} cannot order {length}"):
        spread_scale(length, precision)


@pytest.mark.parametrize("precision", PRECISIONS.values(), ids=str)
@pytest.mark.parametrize(
    "scale",
    [
        recency_scale,
        spread_scale,
        uniform_scale,
        earliest_scale,
        sibling_scale,
        equality_scale,
        distance_slope,
    ],
)
def test_a_refusal_names_the_longest_length(
    scale: Callable[[int, Precision], object], precision: Precision
) -> None:
    with pytest.raises(CompileError, match="only up to") as refused:
        scale(2**60, precision)
    (longest,) = map(int, re.findall(r"only up to (\d+) by", str(refused.value)))
    scale(longest, precision)
    with pytest.raises(CompileError, match=f"only up to {longest} by"):
        scale(longest + 1, precision)


def test_sums_are_told_apart_up_to_the_length_that_a_refusal_names() -> None:
    """The letters of a shorter word count as much, each, as those of the longer one."""
    for each in (1, 3):
        with pytest.raises(CompileError) as refused:
            check_count(1000, 1000 * each, count_scale(1000), BFLOAT16)
        (longest,) = map(int, re.findall(r"only up to (\d+) by", str(refused.value)))
        check_count(longest, longest * each, count_scale(longest), BFLOAT16)


def test_matching_refuses_a_format_that_is_too_coarse() -> None:
    code = PositionCode(20)
    with pytest.raises(CompileError, match=r"^bfloat16 cannot tell 400000 positions"):
        match_scale(code, 400_000, BFLOAT16)


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("name", "construction", "dtype", "length"),
    [
        ("C3", "counter", "bfloat16", 500),
        ("C3", "counter", "float16", 5000),
        ("C3", "counter", "float32", 100_000),
        ("FlipFlop", "memory", "bfloat16", 3000),
        ("FlipFlop", "memory", "float16", 5000),
    ],
)
def test_a_refusal_says_what_would_work(
    name: str, construction: str, dtype: str, length: int
) -> None:
    options = Options(PRECISIONS[dtype])
    with pytest.raises(CompileError, match=r"shorter length|wider dtype") as caught:
        compile_transformer(zoo.machine(name), length, construction, options)
    assert "\n" not in str(caught.value)
    assert dtype in str(caught.value)
