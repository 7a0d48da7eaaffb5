"""Where heads look: leaks are those of the worst flagging, errors those of real scores."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings, strategies as st

import krohn
from krohn.algebra import zoo
from krohn.instruments.attack.rounding import (
    network,
    whole,
)
from krohn.network.modelfile import ModelFile
from krohn.network.precision import FLOAT32, FloatArray
from krohn.program import At, Earliest, Latest, LookBack, Shift, SiblingLatest
from krohn.program.errors import Refused
from krohn.verify.checker import sublayers, transformer as checker
from krohn.verify.checker.affine_arithmetic import Noisy, exact
from krohn.verify.checker.arithmetic import FORMATS
from krohn.verify.checker.model_file import Model
from krohn.verify.checker.residual_stream import Stream
from krohn.verify.checker.scores import NEVER, largest_error, scores_of, worst_leak
from krohn.verify.checker.sums import bound_unevenness
from krohn.verify.search.find import model_of

torch.set_num_threads(1)
LENGTH = 6
SEEDS = pytest.mark.parametrize("seed", range(5))


def worst(operation: LookBack, on: FloatArray, off: FloatArray, t: int) -> float:
    """The logarithm of the worst leak of row t over all flaggings, one by one."""
    found = NEVER
    bos = isinstance(operation, Latest | SiblingLatest)
    for word in product([0, 1], repeat=t):
        flags = np.array([[int(bos), *word]])
        right = int(operation.position([flags], np.arange(t + 1))[0, t])
        scores = np.where(flags[0] == 1, on[: t + 1], off[: t + 1])
        scores[0] = on[0]
        others = np.delete(scores, right)
        found = max(found, float(np.logaddexp.reduce(others) - scores[right]))
    return found


def inside(operation: LookBack, t: int) -> FloatArray:
    """Where the flagged position can be that is right."""
    j = np.arange(LENGTH + 1)
    if isinstance(operation, Latest):
        return j <= t
    if isinstance(operation, Earliest):
        return (1 <= j) & (j <= t)
    assert isinstance(operation, SiblingLatest)
    block = t >> operation.level
    return (j > 0) & (j >> operation.level == block - 1) & (block % 2 == 1)


@pytest.mark.sample(6)
@SEEDS
@pytest.mark.parametrize(
    "operation",
    [Latest("x", "f"), Earliest("x", "f")]
    + [SiblingLatest("x", "f", i) for i in range(3)],
    ids=str,
)
def test_the_leak_is_that_of_the_worst_flagging(operation: LookBack, seed: int) -> None:
    on, off = 3 * np.random.default_rng(seed).normal(size=(2, LENGTH + 1))
    for t in range(1, LENGTH + 1):
        hidden = np.arange(LENGTH + 1) > t
        rows = [np.where(hidden, NEVER, x)[None] for x in (on, off)]
        rows[1][0, 0] = NEVER
        found = worst_leak(
            *rows,
            inside(operation, t)[None],
            not isinstance(operation, Latest),
            isinstance(operation, Earliest),
        )
        assert found == pytest.approx(worst(operation, on, off, t), abs=1e-12)


@SEEDS
def test_the_leak_of_one_right_position_is_the_sum_of_all_others(seed: int) -> None:
    """As of shifts, and of pointers: BOS is right for those that point ahead."""
    scores = 3 * np.random.default_rng(seed).normal(size=(1, LENGTH + 1))
    j = np.arange(LENGTH + 1)
    for t, by in product(range(1, LENGTH + 1), range(1, 4)):
        seen = np.where(j > t, NEVER, scores)
        right = int(Shift("x", by).position([], j)[t])
        others = np.logaddexp.reduce(np.delete(seen[0], right)) - scores[0, right]
        alone = j[None] == right
        assert worst_leak(seen, seen, alone, False) == pytest.approx(others, abs=1e-12)
    digits = [np.full((1, LENGTH + 1), bit) for bit in (1, 0, 1)]
    pointed = At("x", ("a", "b", "c")).position(digits, j)[0]
    for t in range(1, LENGTH + 1):
        seen = np.where(j > t, NEVER, scores)
        others = np.delete(seen[0], pointed[t])
        least = float(np.logaddexp.reduce(others) - scores[0, pointed[t]])
        five = j[None] == 5
        found = worst_leak(seen, np.where(five, NEVER, seen), five, True)
        assert found >= least - 1e-12
    assert set(pointed) == {0, 5}


def first_block(file: ModelFile, noise: dict[str, float]) -> tuple[Model, Stream]:
    """A network, and what it embeds with noise on some channels."""
    model = model_of(file)
    program = checker.read_program(model, len(file.header["machine"]["letters"]))
    stream = sublayers.embedding(model, program)
    noisy = {n: np.full_like(x, noise.get(n, 0.0)) for n, x in stream.noise.items()}
    return model, replace(stream, noise=noisy)


def stated(file: ModelFile, name: str) -> dict[str, Any]:
    return next(c for c in file.header["program"]["channels"] if c["name"] == name)


def memory() -> tuple[ModelFile, str, str]:
    """A network, a channel that its heads write, and the flag that they read."""
    file = krohn.compile("Memory3", LENGTH, "memory").file
    latest = next(c for c in file.header["program"]["channels"] if c["op"] == "latest")
    return file, str(latest["name"]), str(latest["where"])


def test_noise_of_what_keys_read_counts() -> None:
    file, name, flag = memory()
    clean, noisy = (
        sublayers.attention(*first_block(file, {flag: noise}), 0)[1][name]
        for noise in (0.0, 1e-3)
    )
    assert noisy.gap == clean.gap
    assert noisy.error > clean.error + 1e-3
    assert noisy.leak > clean.leak
    with pytest.raises(Refused, match="may read wrong positions"):
        sublayers.attention(*first_block(file, {flag: 0.4}), 0)


@pytest.mark.slow
@settings(max_examples=12)
@given(st.integers(0, 999), st.sampled_from([1e-6, 1e-4, 1e-3]))
def test_true_scores_stay_within_the_stated_error(seed: int, noise: float) -> None:
    file, name, flag = memory()
    model, stream = first_block(file, {flag: noise})
    look = sublayers.attention(model, stream, 0)[1][name]
    rng, head = np.random.default_rng(seed), stated(file, name)["head"]
    query, key = (
        model.tensors[f"blocks.0.attention.{n}"][head] for n in ("query", "key")
    )
    x = stream.positions.copy()
    x[:, stated(file, flag)["dims"][0]] = rng.integers(2, size=len(x))
    exact = (x @ query) @ (x @ key).T
    x[:, stated(file, flag)["dims"][0]] += rng.uniform(-noise, noise, len(x))
    assert np.abs((x @ query) @ (x @ key).T - exact).max() <= look.error


@given(st.integers(0, 999), st.sampled_from(list(FORMATS)), st.booleans())
def test_errors_are_no_less_where_not_every_score_is_looked_at(
    seed: int, name: str, binary: bool
) -> None:
    """Of keys with noise in common and apart, of either sign, on a grid or on none."""
    rng, form, count = np.random.default_rng(seed), FORMATS[name], 9
    t, one = np.arange(count), np.ones(count)
    query = np.stack([16 * (t + count), one, one if binary else one / 3], axis=1)
    plain = 32 * np.stack([0 * t, t, one], axis=1)
    keys = np.vstack([plain, plain + np.array([32, 0, 0])])
    slopes, rest = rng.normal(size=(1, 2 * count, 3)), rng.random((2 * count, 3))
    one_noise, own_noise = rng.choice([0, 1e-3], 2)
    q, k = exact(query, form), Noisy(keys, one_noise * slopes, own_noise * rest, form)
    (found, _), each = largest_error(q, k), scores_of(q, k)
    most = each.off.max() + each.exponent * each.sizes.max()
    assert found >= (1 - 1e-6) * most


@pytest.mark.parametrize("size", [2.0**-20, 2.0**-80, 2.0**-110])
def test_sums_of_numbers_on_no_grid_are_not_exact(size: float) -> None:
    """However small they are, and though keys are multiples of a large power of two."""
    form = FORMATS["float32"]
    q = exact(np.full((1, 40), size / 3).astype(np.float32).astype(float), form)
    k = exact(np.full((1, 40), 2.0**32), form)
    assert largest_error(q, k)[0] > 40 * form.sum_unit * 40 * size / 3 * 2.0**32


PARITY = zoo.machine("Parity8@2,3,6")


def selecting() -> ModelFile:
    """The parity of three of eight letters, which a head selects and adds up."""
    options = {"dtype": "float32", "observe": "outputs"}
    return krohn.compile(PARITY, 8, "parity-selected", **options).file


def weighted(file: ModelFile) -> Iterator[ModelFile]:
    """With other scores of BOS and of what does not count."""
    name = "blocks.0.attention.query"
    query = file.tensors[name]
    for index, factor in product(np.argwhere(query), np.linspace(0.8, 1.2, 9)):
        changed = query.copy()
        changed[tuple(index)] *= factor
        tensors = {**file.tensors, name: FLOAT32.round(changed)}
        yield replace(file, tensors=tensors)


@pytest.mark.slow
def test_sums_stay_within_their_bounds_whatever_the_weights() -> None:
    words = torch.tensor(list(product((0, 1), repeat=8)))
    counts = torch.tensor(np.isin(np.arange(1, 9), (2, 3, 6)))
    expected = (words * counts).cumsum(dim=1)
    accepted, largest = 0, 0.0
    for file in [selecting(), *weighted(selecting())]:
        try:
            after, looks = sublayers.attention(*first_block(file, {}), 0)
        except Refused:
            continue
        accepted += 1
        at = stated(file, "sum0")["dims"][0]
        seen = whole(network(file).net, words)[0][1][:, 1:, at].double()
        off = (seen - expected).abs().numpy()
        largest = max(largest, float(off.max()))
        assert looks["sum0"].gap == 0
        channel = after.program.channels["sum0"]
        assert (off <= after.noise["sum0"][channel.place(expected.numpy())]).all()
    assert accepted > 5
    assert largest > 1e-3


@given(st.integers(0, 999), st.sampled_from(list(FORMATS)))
def test_scores_of_a_sum_are_no_more_uneven_than_is_said(seed: int, name: str) -> None:
    """Of keys without a code whose noise is in common or apart, of either sign."""
    rng, form = np.random.default_rng(seed), FORMATS[name]
    q = exact(16 * rng.normal(size=(5, 2)), form)
    common, apart = 1e-3 * rng.integers(-1, 2, (2, 1, 9, 2))
    k = Noisy(np.zeros((9, 2)), common, np.abs(apart[0]), form)
    assert bound_unevenness(q, k) >= (1 - 1e-6) * scores_of(q, k).off.max()
