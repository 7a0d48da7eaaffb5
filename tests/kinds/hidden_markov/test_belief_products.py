"""Beliefs within an error: what is shown of normalised products, and what is not."""

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings, strategies as st
from linear_networks import runner, shown
from model_files import restated, stated, with_entries
from normalised_networks import built, climbed, errors, model, positive, words_of

from krohn.compiler import CompileError
from krohn.kinds.hidden_markov.check_products import Held
from krohn.kinds.hidden_markov.source import HiddenMarkovModel
from krohn.network.modelfile import ModelFile
from krohn.network.precision import FloatArray
from krohn.program import LetterMatrix, MatrixProduct, Normalised, Shift
from krohn.program.errors import Refused
from krohn.verify.checker.established import Established

ROUNDED = 2.0**-44
"""More than the reference, in float64, is off on short words."""
PASS, GATE, OUT = (f"blocks.1.mlp.{j}.weight" for j in range(3))
PRODUCT = "blocks.0.mlp.0.weight"


@pytest.mark.slow
def test_120_letters_of_the_family_of_the_paper() -> None:
    """At most 10⁻⁴, and at most ten times what is measured; depth 7."""
    file = built("RanHMM5,5@3", 120)
    found, largest = shown(file).error, errors(file, words_of(file, 60)).max()
    assert largest <= found <= 12 * largest
    assert found < 1e-7
    assert sum(b["heads"] > 0 for b in file.header["architecture"]["blocks"]) == 7


@pytest.mark.slow
@settings(max_examples=4, deadline=None)
@given(
    st.integers(2, 4),
    st.integers(1, 4),
    st.integers(0, 10**6),
    st.integers(1, 20),
    st.sampled_from([2.0**6, 2.0**12, None, 3e4]),
)
def test_no_error_is_above_what_is_shown(
    states: int, letters: int, seed: int, length: int, scale: float | None
) -> None:
    file = built(positive(states, letters, seed, 0.02), length, scale=scale)
    most = shown(file).error
    assert most < 1e-4 or scale == 2.0**6
    assert errors(file, words_of(file, 40, seed)).max() <= most + ROUNDED


@pytest.mark.sample(1)
@pytest.mark.parametrize("length", [8, 32])
def test_float32_holds_some_models(length: int) -> None:
    file = built("RanHMM5,5@3", length, "float32")
    assert errors(file, words_of(file, 40)).max() <= shown(file).error < 0.1


@pytest.mark.slow
@pytest.mark.parametrize("length", [24, pytest.param(64, marks=pytest.mark.slow)])
def test_the_error_of_the_curve_falls_as_the_square_of_its_scale(length: int) -> None:
    scales = [2.0**k for k in (8, 9, 10)]
    bounds = [shown(built("RanHMM5,5@3", length, scale=x)).error for x in scales]
    assert all(3.5 < a / b < 4.5 for a, b in pairwise(bounds))


@pytest.mark.slow
def test_what_is_shown_hardly_grows_with_the_length() -> None:
    """Old errors are forgotten as the model forgets; norms have them grow as T."""
    short, long = (shown(built("RanHMM5,5@3", t)).error for t in (32, 200))
    assert long < 2 * short


@pytest.mark.slow
def test_a_start_with_zeros_and_one_without() -> None:
    for start in (np.eye(5)[2], np.full(5, 0.2), np.array([0.5, 0, 0.5, 0, 0])):
        file = built(replace(model("RanHMM5,5@1"), start=start), 9)
        most = shown(file).error
        assert errors(file, words_of(file, 40)).max() <= most < 1e-6


@pytest.mark.slow
def test_a_start_that_the_format_rounds() -> None:
    """The file holds another start; its distance in the metric is paid for."""
    source = positive(3, 3, 1, 0.2)
    file = built(source, 4, "float32")
    held = file.header["program"]["vector"]
    assert held != source.start.tolist()
    most = shown(file).error
    assert errors(file, words_of(file, 40)).max() <= most < 0.01
    off = source.start * [1, 1, 1.25]
    other = shown(restated(file, "source", start=(off / off.sum()).tolist())).error
    assert most + 0.02 < other < most + 0.06  # of a law, log(1.25)/4 at most
    for start in ([0.5, 0.5, 0.0], [0.5, 0.5]):
        with pytest.raises(Refused):
            shown(restated(file, "source", start=start))


def test_operators_with_zeros_are_refused() -> None:
    operators = model("RanHMM3,2@1").operators.copy()
    operators[0, 1, 2] = 0.0
    operators /= operators.sum(axis=(0, 1))
    source = replace(model("RanHMM3,2@1"), operators=operators)
    with pytest.raises(CompileError, match="never leads from state '3' to '2'"):
        built(source, 4)
    for least in (1e-320, 1e-40):
        far = np.array([[[1 - least, 1.0 - least], [least, least]]])
        with pytest.raises(CompileError, match="too far apart"):
            built(replace(positive(2, 1, 0), operators=far), 4, "float32")
    file = built("RanHMM3,2@1", 4)
    zeros = restated(file, "source", matrices=operators.tolist())
    with pytest.raises(Refused, match="an entry 0"):
        shown(zeros)


def test_what_is_not_possible_is_refused_by_the_compiler() -> None:
    with pytest.raises(CompileError, match="two hidden layers"):
        built("RanHMM5,5@3", 8, strict=True)
    with pytest.raises(CompileError, match="cannot hold products"):
        built("RanHMM5,5@3", 8, "bfloat16")
    with pytest.raises(CompileError, match="64 states of RanHMM64,2@1 and 8 letters"):
        built("RanHMM64,2@1", 8)


def test_masses_are_those_of_the_function_of_the_tensors() -> None:
    """The range of v·c(v) over an interval is that of many of its points."""
    from krohn.kinds.hidden_markov.check_normaliser import Normaliser
    from krohn.kinds.linear_systems.check_product_gates import Gates
    from krohn.verify.checker.arithmetic import Interval

    random = np.random.default_rng(0)
    for _ in range(30):
        points, steps = random.random((2, 4)) * 3
        base, w = float(random.random()), 0.25
        found = Normaliser(Gates(w, 1.0), base, points, steps, np.ones(1))
        low, high = np.sort(random.random(2) * 3)[:, None]
        known = found.masses(Interval(low, high))
        least, most = known.low, known.high
        at = np.append(np.linspace(low[0], high[0], 4001), points)
        at = at[(at >= low) & (at <= high)]
        values = at * found.factor(Interval.of(at)).low
        assert least == pytest.approx(values.min(), rel=1e-9)
        assert most == pytest.approx(values.max(), rel=1e-5)
        assert most >= values.max()


Damage = Callable[[ModelFile], ModelFile]


def entries(name: str, at: Any, value: Any) -> Damage:
    return lambda file: with_entries(file, name, at, value)


def without_other_entries(weight: FloatArray) -> FloatArray:
    """The sum of all entries instead of that of the belief."""
    read = weight.any(axis=1)[:, None]
    return np.where((weight == 0) & (weight.min(axis=0) < 0) & read, -1, weight)


def earlier_times_later(file: ModelFile) -> ModelFile:
    left, right = (range(*stated(file, n)["dims"]) for n in ("belief1", "before1"))
    swapped = file.tensors[PRODUCT][[*right, *left]]
    return with_entries(file, PRODUCT, [*left, *right], swapped)


def relus(file: ModelFile) -> ModelFile:
    blocks = [dict(block) for block in file.header["architecture"]["blocks"]]
    blocks[1]["activation"] = [[["relu", n]] for n in blocks[1]["mlp"]]
    return restated(file, "architecture", blocks=blocks)


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (entries(OUT, 5, 0), "normalised by wrong units"),
        (entries(OUT, [0, 2], lambda pair: pair[::-1]), "wrong sign"),
        (entries(OUT, [0, 4], lambda pair: pair[::-1]), "another place|is missing"),
        (entries(PASS, ..., without_other_entries), "neither an entry nor the mass"),
        (entries(GATE, (0, 7), lambda w: w * (1 + 1e-9)), "unlike"),
        (entries(OUT, 7, lambda w: w * (1 + 1e-9)), "unlike weights"),
        (entries(GATE, ..., np.nan), "uses a wrong entry"),
        (earlier_times_later, "do not meet|another entry"),
        (lambda f: restated(f, "source", start=[0.0, 1.0, 0.0]), "starts elsewhere"),
        (lambda f: restated(f, "claim", length=9), "too few positions"),
        (relus, "no GeLU"),
        # The output is not the channel that was normalised twice.
        (lambda f: restated(f, "program", outputs=["belief8"]), "not there"),
    ],
)
def test_damage_is_refused_with_a_reason(damage: Damage, reason: str) -> None:
    with pytest.raises(Refused, match=reason):
        shown(damage(built("RanHMM3,2@1", 8)))


def test_another_source_is_shown_as_an_error() -> None:
    """Letters need not be multiples of the operators: what they are not counts."""
    file = built("RanHMM3,2@1", 8)
    assert shown(file).error < 1e-5
    matrices = np.array(file.header["source"]["matrices"])
    matrices[1, 2, 0] *= 1.01
    other = restated(file, "source", matrices=matrices.tolist())
    assert 1e-3 < shown(other).error < 0.1


def test_a_moved_point_is_shown_as_an_error() -> None:
    """Breakpoints and gains are read from the tensors, whatever they should be."""
    file = built("RanHMM3,2@1", 8)
    last = f"blocks.{len(file.header['architecture']['blocks']) - 1}.mlp.0.bias"
    moved = with_entries(file, last, ..., lambda b: np.where(b > 0, b * (1 + 1e-3), b))
    worst = errors(moved, words_of(moved, 40)).max()
    assert 1e-5 < worst <= shown(moved).error < 1e-2


NEAR = 1e-11
"""More than logarithms of exact numbers are off here."""


def exact(source: HiddenMarkovModel, found: Established, words: FloatArray) -> dict:
    """For each channel its matrices of mass 1, ``(words, T + 1, n, n)``."""
    first = np.outer(source.start, np.ones(source.size))
    values: dict[str, FloatArray] = {}
    for name, operation in found.streams[0].program.operations.items():
        if isinstance(operation, LetterMatrix):
            bos = np.broadcast_to(first, (len(words), 1, *first.shape))
            made = np.concatenate([bos, source.operators[words]], axis=1)
        elif isinstance(operation, Shift):
            at = np.maximum(np.arange(words.shape[1] + 1) - operation.by, 0)
            made = values[operation.source][:, at]
        elif isinstance(operation, MatrixProduct):
            made = values[operation.left] @ values[operation.right]
        elif isinstance(operation, Normalised):
            made = values[operation.source]
        else:
            continue
        mass = (made @ source.start).sum(axis=-1)
        values[name] = made / mass[..., None, None]
    return values


@pytest.mark.slow
@pytest.mark.parametrize("scale", [2.0**5, 2.0**8, None])
@pytest.mark.parametrize("seed", [0, 1])
def test_each_channel_is_as_far_off_as_it_may_be(
    seed: int, scale: float | None
) -> None:
    source = positive(3, 2, seed, 0.1)
    file = built(source, 12, scale=scale)
    found, words = shown(file), words_of(file, 30)
    ideal = exact(source, found, words)
    with torch.no_grad():
        held = runner(file).snapshots(torch.tensor(words))
    count = 0
    for stream, x in zip(found.streams, held, strict=True):
        for name, noise in stream.noise.items():
            span, count = stream.program.channels[name].span, count + 1
            said = x[..., list(span)].numpy().reshape(*x.shape[:2], *[source.size] * 2)
            known = Held.of(noise)
            mass = (said @ source.start).sum(axis=-1)
            assert (known.mass.low * (1 - NEAR) <= mass).all()
            assert (mass <= known.mass.high * (1 + NEAR)).all()
            beside = np.where(ideal[name] == 0, np.abs(said), 0).max(axis=(0, 2, 3))
            assert (beside <= known.beside.high).all()
            with np.errstate(divide="ignore", invalid="ignore"):
                off = np.log(said / ideal[name])
            off[ideal[name] == 0] = np.nan
            spread = np.nanmax(off, axis=(2, 3)) - np.nanmin(off, axis=(2, 3))
            assert (spread <= known.spread.high + NEAR).all()
            columns = np.nanmax(off, axis=2) - np.nanmin(off, axis=2)
            assert (columns <= known.columns.high[:, None] + NEAR).all()
    assert count > 20


@pytest.mark.slow
@pytest.mark.parametrize("scale", [2.0**5, 2.0**9, None])
@pytest.mark.parametrize("seed", [1, 3])
def test_no_word_that_a_climb_finds_is_worse_than_what_is_shown(
    seed: int, scale: float | None
) -> None:
    file = built(positive(3, 3, seed, 0.1), 10, scale=scale)
    first, worst = climbed(file, 12, seed)
    assert first <= worst <= shown(file).error + ROUNDED
