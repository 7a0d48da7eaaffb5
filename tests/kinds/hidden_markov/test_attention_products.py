"""Theorem W13: what is shown of heads whose weights are factors, and what is not."""

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from belief_networks import LOOSE, changed, measured, shown, words
from hypothesis import given, settings, strategies as st

from krohn.compiler import CompileError
from krohn.compiler.compiled_network import CompiledNetwork
from krohn.compiler.pipeline import Options
from krohn.kinds.hidden_markov import (
    build_attention_products as attention_products,
    check_attention_products as checker,
)
from krohn.kinds.hidden_markov.build_attention_products import (
    NAME,
    network,
)
from krohn.kinds.hidden_markov.check_attention_products import (
    Held,
    OperatorWords,
    _scale_numbers,
    _sums,
)
from krohn.kinds.hidden_markov.check_doubling_tensors import (
    Scaling,
    rows_of,
    steps,
)
from krohn.kinds.hidden_markov.commands import HiddenMarkovModels
from krohn.kinds.hidden_markov.source import HiddenMarkovModel
from krohn.network.modelfile import ModelFile
from krohn.network.precision import PRECISIONS, FloatArray
from krohn.program.domains import IntArray
from krohn.program.errors import Refused
from krohn.verify.checker.arithmetic import FORMATS, Interval, gamma
from krohn.verify.search.find import model_of

REFERENCE = 2.0**-44
"""More than the reference filter, in float64, is off on short words."""


def sparse(states: int, letters: int, seed: int, sticky: float = 0.0) -> Any:
    """A random model with zeros everywhere; some words are impossible."""
    random = np.random.default_rng(seed)

    def laws(*shape: int) -> FloatArray:
        found = random.random(shape) * (random.random(shape) < 0.6)
        found[random.integers(shape[0], size=shape[1]), range(shape[1])] += 0.5
        return np.asarray(found / found.sum(axis=0))

    step = sticky * np.eye(states) + (1 - sticky) * laws(states, states)
    start = laws(states, 1)[:, 0]
    return HiddenMarkovModel.of("sparse", step, laws(letters, states), before=start)


def identity() -> HiddenMarkovModel:
    """Nothing is forgotten: the two states are told apart by counts of letters."""
    say = np.array([[0.75, 0.25], [0.25, 0.75]])
    return HiddenMarkovModel.of("identity", np.eye(2), say, before=[0.5, 0.5])


def built(model: HiddenMarkovModel, length: int, dtype: str = "float64") -> ModelFile:
    """The file of a network, with a claim that nothing can break."""
    options = Options(PRECISIONS[dtype])
    made = network(model, length, options)
    claim = {"length": length, "error": LOOSE}
    return HiddenMarkovModels().file(model, made, claim, options)


@settings(max_examples=5, deadline=None)
@given(
    st.integers(2, 4),
    st.integers(2, 3),
    st.integers(0, 10**6),
    st.integers(1, 9),
    st.sampled_from([0.0, 0.95]),
)
def test_no_error_is_above_what_is_shown(
    states: int, letters: int, seed: int, length: int, sticky: float
) -> None:
    model = sparse(states, letters, seed, sticky)
    file = built(model, length)
    most = shown(file).error
    assert most < 1e-6
    asked = words(letters, min(length, 5))
    assert measured(file, asked) <= most + REFERENCE
    asked = model.sample(16, length, np.random.default_rng(seed))[0]
    assert measured(file, asked) <= most + REFERENCE


@pytest.mark.parametrize("length", [3, 8])
def test_float32_holds_short_words(length: int) -> None:
    model = sparse(3, 2, 5)
    file = built(model, length, "float32")
    asked = model.sample(32, length, np.random.default_rng(0))[0]
    assert measured(file, asked) <= shown(file).error < 1e-3


def test_nothing_need_be_forgotten() -> None:
    """100 times one letter, 100 times the other: beliefs that were 3^-100 are even."""
    file = built(identity(), 200)
    asked = np.repeat([[0, 1]], 100, axis=1)
    assert measured(file, asked) <= shown(file).error + 200 * 2.0**-50 < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("length", [520, pytest.param(1000, marks=pytest.mark.slow)])
def test_windows_are_normalised_where_the_model_forgets(length: int) -> None:
    """After 1,000 letters likelihoods are below every number of float64."""
    model = sparse(3, 3, 11)
    file = built(model, length)
    wide = [block["d_v"] for block in file.header["architecture"]["blocks"]]
    assert 9 in wide
    asked = model.sample(2, length, np.random.default_rng(0))[0]
    if length == 1000:
        assert np.exp(model.filter(asked)[1].sum(axis=1)).max() == 0
    assert measured(file, asked) <= shown(file).error + length * 2.0**-49 < 1e-6


def test_words_that_need_smaller_numbers_are_refused() -> None:
    with pytest.raises(CompileError, match=r"none below 2\^-980"):
        network(identity(), 2000, Options(PRECISIONS["float64"]))
    with pytest.raises(CompileError, match="needs float32 or float64"):
        network(identity(), 8, Options(PRECISIONS["bfloat16"]))


@pytest.mark.sample(1)
@pytest.mark.parametrize("seed", range(6))
def test_bounds_of_long_words_hold_for_all_of_them(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Words of two letters are multiplied out, those of six put together of them."""
    monkeypatch.setattr(checker, "LONGEST", 2)
    model = sparse(3, 2, seed)
    found = OperatorWords.of(model.operators, model.start, 6, Interval.of(0.0))
    for length in range(1, 7):
        for word in product(range(2), repeat=length):
            matrix = np.linalg.multi_dot(
                [np.eye(3), *model.operators[list(word)], np.eye(3)]
            )
            vector = matrix @ model.start
            for each, least, share in (
                (matrix, found.least[length], found.share[length]),
                (vector, found.said[length], found.part[length]),
            ):
                there = each[each > 0]
                if len(there):
                    assert np.log2(there.min()) >= least - 1e-9
                    assert np.log2(there.min() / there.sum()) >= share - 1e-9


def forgetful(states: int, seed: int) -> HiddenMarkovModel:
    """Rank one but for a tenth: each letter forgets most of what was before."""
    random = np.random.default_rng(seed)
    step = 0.9 * random.dirichlet(np.ones(states))[:, None] + 0.1 * np.eye(states)
    say = random.dirichlet(np.ones(2), states).T
    start = random.dirichlet(np.ones(states))
    return HiddenMarkovModel.of("forgetful", step, say, before=start)


@pytest.mark.sample(1)
@pytest.mark.parametrize("seed", range(4))
def test_words_contract_distances_by_what_is_shown(seed: int) -> None:
    """Of words that are multiplied out, and of those that are put together of them."""
    model, random = forgetful(3, seed), np.random.default_rng(seed)
    tau = OperatorWords.of(
        model.operators, model.start, 16, Interval.of(0.0)
    ).contraction
    assert (np.diff(tau) <= 0).all()
    assert tau[0] == 1
    assert tau[4] < 0.5
    for length in (1, 2, 3, 5, 16):
        word = random.integers(2, size=length)
        matrix = np.linalg.multi_dot([np.eye(3), *model.operators[word], np.eye(3)])
        u, v = random.exponential(size=(2, 3)) ** 4
        before, after = (
            np.ptp(np.log(x / y)) for x, y in ((u, v), (matrix @ u, matrix @ v))
        )
        assert after <= tau[length] * before + 1e-12


def test_other_operators_contract_less() -> None:
    """Those of the source may be further apart than those that are held."""
    model = forgetful(3, 0)
    one, other = (
        OperatorWords.of(model.operators, model.start, 2, Interval.of(x)).contraction
        for x in (0.0, 0.25)
    )
    assert (other[1:] > one[1:]).all()


@pytest.mark.parametrize(("letters", "entry"), [(2100, 0.25), (2, 2.0**-950)])
def test_nothing_is_known_where_no_word_is_multiplied_out(
    letters: int, entry: float
) -> None:
    operators, start = np.full((letters, 2, 2), entry), np.array([0.5, 0.5])
    found = OperatorWords.of(operators, start, 4, Interval.of(0.0))
    assert (found.contraction == 1).all()
    assert (found.least[1:] == -np.inf).all()


@pytest.mark.slow
def test_a_model_that_forgets_has_an_error_that_hardly_grows() -> None:
    """Errors of old windows are forgotten: each level adds those of one product."""
    model = forgetful(4, 1)
    errors = [
        shown(built(model, length, "float32")).told["spread"] for length in (8, 64)
    ]
    assert errors[1] < 2.5 * errors[0]
    file = built(model, 64, "float32")
    asked = model.sample(64, 64, np.random.default_rng(0))[0]
    assert measured(file, asked) <= shown(file).error


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10**6))
def test_no_sum_is_outside_of_what_is_shown(seed: int) -> None:
    random = np.random.default_rng(seed)
    a, into, out = (2.0 ** random.uniform(-6, 3, 5) for _ in range(3))
    low, high = np.sort(2.0 ** random.uniform(-6, 4, 2))
    step = Scaling(0, a, into, out, 1.0, 1.0)
    between = Interval(np.asarray(low), np.asarray(high))
    found = _sums(step, between, Interval.of(2.0**-40))
    v = np.append(np.geomspace(low, high, 999), np.clip(a, low, high))[:, None]
    right = (v * into * out * np.maximum(a - v, 0)).sum(axis=1)
    assert found.low <= right.min() + 1e-12
    assert found.high >= right.max() - 1e-12
    assert found.high <= 1.05 * right.max() + 1e-6


def test_what_a_factor_is_off_by_is_the_same_for_all() -> None:
    """Of float32: a sum over 60 heads is off by 60 units, an entry of it by one more."""
    sums, unit = Interval(np.asarray(0.5), np.asarray(1.0)), 2.0**-24
    none = Interval.of(0.0)
    known = Held(-1.0, sums, -0.25, none, none, False)
    step = Scaling(0, np.full(60, 2.0), np.ones(60), np.full(60, 1 / 60), 8.0, 16.0)
    found = _scale_numbers(known, step, 2, FORMATS["float32"])
    assert unit <= found.off.most < 1.01 * unit
    assert 2 * unit <= found.columns.most < 2.02 * unit
    assert found.sums.low < 0.75 * (1 - 60 * unit)  # 0.5·(2 − 0.5)
    assert found.sums.high > 1 + 60 * unit
    off = 2 * found.off.most  # of an entry, in units of the sum
    assert found.share <= known.share - off
    assert 2.0**found.least <= found.sums.low * 2.0**known.share * (1 - off)


@pytest.mark.parametrize("seed", range(3))
def test_a_score_is_off_by_its_largest_part(seed: int) -> None:
    """A − x_1 − … − x_n in any order is within γ_n·max(a, v), v = Σx (Lemma W13d)."""
    random = np.random.default_rng(seed)
    for n in (1, 4, 9, 64):
        a = np.float32(random.random())
        x = random.dirichlet(np.ones(n)).astype(np.float32)
        most = gamma(n, 2.0**-24).most * max(float(a), float(x.astype(float).sum()))
        exact = float(a) - float(x.astype(float).sum())
        for _ in range(50):
            terms = list(random.permutation(np.append(-x, a)))
            while len(terms) > 1:  # any bracketing
                i = random.integers(len(terms) - 1)
                terms[i : i + 2] = [terms[i] + terms[i + 1]]
            assert abs(float(terms[0]) - exact) <= most


MODEL = sparse(2, 2, 8)


def check_every_tensor(file: ModelFile, asked: IntArray) -> None:
    """One number of each tensor changed: refused, or an error that is larger."""
    right, random = shown(file).error, np.random.default_rng(0)
    for name, tensor in file.tensors.items():
        for entry in random.integers(tensor.size, size=4):
            other = tensor.copy()
            other.flat[entry] += 0.25
            wrong = changed(file, **{name.replace(".", "__"): other})
            try:
                error = shown(wrong).error
            except Refused:
                continue
            assert error > right or measured(wrong, asked) <= right + REFERENCE
            assert measured(wrong, asked) <= error + REFERENCE


@pytest.mark.slow
def test_every_tensor_counts() -> None:
    check_every_tensor(built(MODEL, 5), words(2, 5))


@pytest.mark.parametrize(
    ("tensor", "entry", "value", "reason"),
    [
        ("embed__token", (0, 0), None, "0 elsewhere"),
        ("embed__position", (2, 10), 0.5, "positions"),
        ("unembed__bias", 0, 0.125, "bias"),
        ("blocks__0__attention__key", (0, 8, 0), 2.0, "another key"),
        ("blocks__1__attention__value", (0, 0, 0), 0.5, "another value"),
    ],
)
def test_other_tensors_are_refused(
    tensor: str, entry: Any, value: float | None, reason: str
) -> None:
    file = built(MODEL, 5)
    other = file.tensors[tensor.replace("__", ".")].copy()
    # Where an entry of an operator is 0, the network must hold 0, and nothing tiny.
    other[entry] = value if value is not None else 1e-200 * (other[entry] == 0)
    with pytest.raises(Refused, match=reason):
        shown(changed(file, **{tensor: other}))


def test_letters_may_be_scaled_and_other_operators_may_not() -> None:
    file = built(MODEL, 5)
    token = file.tensors["embed.token"].copy()
    token[0] /= 4
    assert shown(changed(file, embed__token=token)).told["spread"] < 1e-12
    token[1, np.flatnonzero(token[1])[0]] *= 0.75
    assert shown(changed(file, embed__token=token)).told["spread"] > 1


@pytest.mark.sample(1)
@pytest.mark.parametrize("back", [-1, -2, 0], ids=["times", "factor", "product"])
def test_wrong_positions_are_shut_out(back: int) -> None:
    """Scores must lose more than they can be."""
    file = built(MODEL, 5)
    at = back % len(file.header["architecture"]["blocks"])
    query = file.tensors[name := f"blocks.{at}.attention.query"].copy()
    query[:, :, 1:] /= 64  # what scores lose
    with pytest.raises(Refused, match="not shut out"):
        shown(changed(file, **{name.replace(".", "__"): query}))


def telling(states: int, letters: int, seed: int) -> HiddenMarkovModel:
    """A random model in which a letter leaves only some states possible."""
    random = np.random.default_rng(seed)
    step = random.dirichlet(np.ones(states), states).T
    said = np.arange(states) % letters  # each state says one letter, most of the time
    say = np.zeros((letters, states))
    say[said, range(states)] = 1
    say[random.integers(letters), 0] += 0.5
    before = np.eye(states)[0]
    return HiddenMarkovModel.of("telling", step, say / say.sum(axis=0), before=before)


@pytest.mark.sample(1)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("states", "letters", "seed"), [(4, 2, 0), (6, 3, 1), (7, 3, 2)]
)
def test_states_that_are_never_possible_together_share_rows(
    states: int, letters: int, seed: int, dtype: str
) -> None:
    model = telling(states, letters, seed)
    layout = attention_products.Layout.of(model, 9, 3, 3)
    assert layout.row_count < states
    file = built(model, 9, dtype)
    most = shown(file).error
    assert most < 1e-5
    asked = words(letters, 5)
    assert measured(file, asked) <= most + REFERENCE
    asked = model.sample(32, 9, np.random.default_rng(seed))[0]
    assert measured(file, asked) <= most + REFERENCE


def test_rows_are_shared_by_no_two_states_of_one_letter() -> None:
    possible = np.array([[1, 1, 0, 0], [0, 0, 1, 1], [0, 1, 1, 0]], bool)
    rows = rows_of(possible)
    assert rows.tolist() == [0, 1, 0, 1]
    for each in possible:
        assert len(set(rows[each])) == each.sum()


@pytest.mark.slow
def test_every_tensor_counts_where_rows_are_shared() -> None:
    """A state that is said to be possible, or a row of no state: both are refused."""
    model = telling(7, 3, 0)
    file = built(model, 4)
    layout = attention_products.Layout.of(model, 4, 0, 0)
    token = file.tensors["embed.token"].copy()
    at = tuple(np.argwhere(token[:-1, : layout.row_count * model.size] == 0)[0])
    token[at] = 2.0**-60
    with pytest.raises(Refused, match=r"not 0|0 elsewhere"):
        shown(changed(file, embed__token=token))
    check_every_tensor(file, words(3, 4))


def test_the_vector_that_is_read_is_the_one_that_is_made() -> None:
    """A file that reads one place further reads zeros."""
    precision = PRECISIONS["float64"]
    letters = attention_products._letters(MODEL, precision)
    plan = attention_products._plan_stages(MODEL, letters, 5, precision)
    stages, source = len(plan.vectors), MODEL
    plan.matrices[0] = plan.vectors[0]
    for more, right in ((0, True), (1, False)):
        layout = attention_products.Layout.of(MODEL, 5, stages + more, stages + 1)
        design = attention_products._Design(layout, letters, MODEL.start, plan)
        tensors = attention_products._network(design, precision)
        made = CompiledNetwork(NAME, tensors, {}, None)
        claim, options = {"length": 5, "error": LOOSE}, Options(precision)
        model = model_of(HiddenMarkovModels().file(MODEL, made, claim, options))
        if right:
            assert len(steps(model, source, 5)[1]) == layout.levels + layout.factors
            continue
        with pytest.raises(Refused, match="not where they must be"):
            steps(model, source, 5)


def test_another_architecture_is_refused() -> None:
    file = built(MODEL, 5)
    said = file.header["architecture"]
    for key, value in (("causal", [False]), ("attention", {"kind": "softmax"})):
        blocks = [dict(block) for block in said["blocks"]]
        blocks[1][key] = value * blocks[1]["heads"] if key == "causal" else value
        header = {**file.header, "architecture": {**said, "blocks": blocks}}
        with pytest.raises(Refused, match="architecture"):
            shown(replace(file, header=header))
    claim = {**file.header["claim"], "length": 6}
    with pytest.raises(Refused, match=r"width|positions"):
        shown(replace(file, header={**file.header, "claim": claim}))


def test_it_is_chosen_where_nothing_else_serves() -> None:
    from krohn.compile_options import CompileOptions

    asked = CompileOptions(64, within=1e-3, formats=("float32", "float64"))
    made, claim = HiddenMarkovModels().build(identity(), asked)
    assert made.construction == NAME
    assert claim["error"] < 1e-3
