"""Networks that say beliefs: what is shown is never exceeded, and forgeries are refused."""

import copy
from typing import Any

import numpy as np
import pytest
from belief_networks import (
    MODELS,
    built,
    changed,
    golden,
    measured,
    mixing,
    outputs,
    shown,
    words,
)
from hypothesis import given, settings

from krohn.algebra.errors import KrohnError
from krohn.kinds.hidden_markov.source import HiddenMarkovModel
from krohn.network.modelfile import ModelFile
from krohn.network.precision import PRECISIONS
from krohn.program.errors import Refused

SLACK = 1e-12
"""How far the reference filter is off at these lengths, at most."""


def forged(file: ModelFile, **places: Any) -> ModelFile:
    """The file with other values in its header; keys are paths, with two underscores."""
    header = copy.deepcopy(file.header)
    for path, value in places.items():
        *way, last = path.split("__")
        at: Any = header
        for key in way:
            at = at[int(key) if key.isdigit() else key]
        at[int(last) if last.isdigit() else last] = value
    header["claim"].pop("model_error", None)
    return changed(file, header)


@pytest.fixture(scope="module")
def window() -> ModelFile:
    return built(mixing(3, 2, 1), 12, "window", 0.02)


@pytest.fixture(scope="module")
def finite() -> ModelFile:
    return built(golden(), 12)


def channel(file: ModelFile, name: str) -> int:
    """The place of a channel in the header."""
    names = [entry["name"] for entry in file.header["program"]["channels"]]
    return names.index(name)


@settings(max_examples=8, deadline=None)
@given(MODELS)
def test_no_word_is_further_off_than_what_is_shown(model: HiddenMarkovModel) -> None:
    """All words of 7 letters (5, if there are three)."""
    length = 7 if len(model.letters) == 2 else 5
    try:
        file = built(model, length, "window", 0.2)
    except KrohnError:
        return  # it forgets too slowly
    assert (
        measured(file, words(len(model.letters), length)) <= shown(file).error + SLACK
    )


@pytest.mark.sample(1)
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
def test_the_shown_error_holds_in_every_format(dtype: str) -> None:
    model, every = golden(), words(2, 10)
    for file in (
        built(model, 10, dtype=dtype),
        built(mixing(3, 2, 1), 10, "window", 0.03, dtype),
    ):
        found = shown(file)
        assert measured(file, every) <= found.error + SLACK
        assert found.error - found.model < {"bfloat16": 2e-2, "float16": 2e-3}.get(
            dtype, 1e-4
        )


def test_a_read_out_that_adds_something_costs_as_much(window: ModelFile) -> None:
    bias = window.tensors["unembed.bias"] + 0.5
    assert shown(window).error < 0.1
    assert 0.4 < shown(changed(window, unembed__bias=bias)).error < 0.6


def beside_the_law() -> ModelFile:
    """A unit reads 1/4, which a vector has for the value 1, where an integer 1 is due.

    After each letter the hidden state is the second one; the network says 3/4 and 1/4.
    """
    table = {"op": "map", "function": "table"}
    one = {
        "op": "map",
        "function": "piecewise",
        "expression": [0, [[1, "argument", 0]]],
    }
    v = {"name": "v", **table, "inputs": ["token"], "rows": [[0, 1], [1, 1]]}
    p = {"name": "p", **one, "inputs": ["x"], "domain": [0, 1], "code": "integer"}
    y = {"name": "y", **table, "inputs": ["p"], "rows": [[0, 0], [1, 1]]}
    vectors = {"code": "vector", "domain": [1], "vectors": [[0.0], [0.25]]}
    laws = {"code": "vector", "domain": [0, 1], "vectors": [[1.0, 0.0], [0.0, 1.0]]}
    channels = [
        {"name": "token", "op": "token", "domain": [0, 1]},
        v | vectors | {"dims": [0, 1], "snapshots": [0, 4]},
        v
        | {"name": "x", "domain": [1], "code": "integer"}
        | {"dims": [1, 2], "snapshots": [0, 4]},
        p | {"dims": [2, 3], "snapshots": [2, 4]},
        y | laws | {"dims": [3, 5], "snapshots": [4, 4]},
    ]
    d, block = np.eye(5), {"heads": 0, "d_qk": 0, "d_v": 0, "mlp": [1]}
    tensors = {
        "embed.token": np.tile(d[0] / 4 + d[1], (2, 1)),
        "embed.position": np.zeros((5, 5)),
        "blocks.0.mlp.0.weight": d[:, [0]],
        "blocks.0.mlp.1.weight": d[[2]],
        "blocks.1.mlp.0.weight": d[:, [2]],
        "blocks.1.mlp.1.weight": d[[4]] - d[[3]],
        "blocks.1.mlp.1.bias": d[3],
        "unembed.weight": d[:, 3:],
        "unembed.bias": np.zeros(2),
    }
    for name in ("blocks.0.mlp.0", "blocks.0.mlp.1", "blocks.1.mlp.0"):
        tensors[f"{name}.bias"] = np.zeros(tensors[f"{name}.weight"].shape[1])
    header = copy.deepcopy(built(golden(), 4).header)
    header["architecture"] |= {"dtype": "float64", "strict": True, "d_model": 5}
    header["architecture"] |= {"vocabulary": 2, "blocks": [block, block]}
    header["architecture"] |= {"positions": 5}
    header["claim"] = {"kind": "within", "dtype": "float64", "length": 4, "error": 0.5}
    header["source"] |= {"letters": ["a"], "matrices": [[[0.0, 0.0], [1.0, 1.0]]]}
    header["source"] |= {"start": [1.0, 0.0]}
    program = {"channels": channels, "features": {}, "outputs": ["y"]}
    program |= {"decode": [[[0], 0], [[1], 1]]}
    machine = {"start": 0, "transitions": [[1, 1]]}
    header["program"] = program | {"machine": machine}
    return ModelFile(header, tensors, PRECISIONS["float64"])


def test_what_a_vector_holds_is_no_integer() -> None:
    file = beside_the_law()
    assert measured(file, words(1, 3)) == 0.75
    with pytest.raises(Refused, match="no integer"):
        shown(file)


class TestForgedWindows:
    def test_a_law_that_is_off_costs_as_much(self, window: ModelFile) -> None:
        """The vectors of the header are no more than a name for what tensors write."""
        at = channel(window, "belief")
        vectors = np.array(window.header["program"]["channels"][at]["vectors"])
        vectors[:, 0] += 0.01
        found = forged(
            window, **{f"program__channels__{at}__vectors": vectors.tolist()}
        )
        assert shown(found).error >= shown(window).error - SLACK
        assert shown(found).error > measured(found, words(2, 8))

    def test_a_value_without_a_vector(self, window: ModelFile) -> None:
        at = channel(window, "belief")
        few = window.header["program"]["channels"][at]["vectors"][:2]
        with pytest.raises(Refused, match="without a vector"):
            shown(forged(window, **{f"program__channels__{at}__vectors": few}))

    def test_a_context_that_is_no_suffix(self, window: ModelFile) -> None:
        """The table reads one letter twice, or letters in another order."""
        at = channel(window, "belief")
        inputs = window.header["program"]["channels"][at]["inputs"]
        for other in ([inputs[0]] * len(inputs), inputs[::-1]):
            with pytest.raises(Refused):
                shown(forged(window, **{f"program__channels__{at}__inputs": other}))

    def test_a_look_back_of_another_distance(self, window: ModelFile) -> None:
        at = channel(window, "back1")
        with pytest.raises(Refused):
            shown(forged(window, **{f"program__channels__{at}__by": 2}))

    def test_a_letter_that_is_another(self, window: ModelFile) -> None:
        at = channel(window, "letter")
        rows = [[0, 1], [1, 0], [2, 2]]
        with pytest.raises(Refused):
            shown(forged(window, **{f"program__channels__{at}__rows": rows}))

    def test_two_contexts_exchanged(self, window: ModelFile) -> None:
        """The tensors write another law than the table says: so much can it be off."""
        at = channel(window, "belief")
        rows = np.array(window.header["program"]["channels"][at]["rows"])
        first, second = rows[0, -1], rows[rows[:, -1] != rows[0, -1]][0, -1]
        rows[rows[:, -1] == first, -1] = second
        path = f"program__channels__{at}__rows"
        found = shown(forged(window, **{path: rows.tolist()}))
        vectors = np.array(window.header["program"]["channels"][at]["vectors"])
        apart = np.abs(vectors[first] - vectors[second]).max()
        assert found.error >= 2 * apart - shown(window).error

    def test_another_operator_is_another_error(self, window: ModelFile) -> None:
        operators = np.array(window.header["source"]["matrices"])
        operators[0] = operators[0][::-1]
        found = forged(window, source__matrices=operators.tolist())
        assert shown(found).error > 2 * shown(window).error
        assert shown(found).error + SLACK >= measured(found, words(2, 9))

    @pytest.mark.parametrize(
        ("entry", "reason"),
        [
            (-1e-9, "is negative"),
            (float("nan"), "Out of range"),
            (1e-300, "leave the range"),
        ],
    )
    def test_an_entry_that_is_no_weight_or_too_small(
        self, window: ModelFile, entry: float, reason: str
    ) -> None:
        with pytest.raises(Refused, match=reason):
            shown(forged(window, source__matrices__0__0__0=entry))

    def test_a_start_of_nothing(self, window: ModelFile) -> None:
        with pytest.raises(Refused, match="has the weight 0"):
            shown(forged(window, source__start=[0.0] * 3))

    def test_columns_of_zeros_are_no_beliefs(self) -> None:
        """States that a letter excludes: no vertex, and no division by 0."""
        model = mixing(3, 2, 5, zeros=True)
        operators = model.operators.copy()
        operators[1] = 0.0
        operators[0] = np.eye(3)[[1, 2, 0]] / 3 + 2 / 9
        source = HiddenMarkovModel(
            "one", model.states, model.letters, operators, model.start
        )
        file = built(source, 6, "window", 0.2)
        assert shown(file).error + SLACK >= measured(file, words(2, 6))


class TestForgedMachines:
    def test_a_transition_to_another_belief(self, finite: ModelFile) -> None:
        with pytest.raises(Refused):
            shown(forged(finite, program__machine__transitions__0__1=2))

    def test_a_possible_letter_called_impossible(self, finite: ModelFile) -> None:
        moves = np.array(finite.header["program"]["machine"]["transitions"])
        at = np.argwhere(moves >= 0)[0]
        moves[tuple(at)] = -1
        with pytest.raises(Refused, match="leads nowhere"):
            shown(forged(finite, program__machine__transitions=moves.tolist()))

    def test_two_beliefs_as_one_situation(self, finite: ModelFile) -> None:
        moves = np.zeros((2, 1), np.int64).tolist()
        with pytest.raises((Refused, KeyError)):
            shown(forged(finite, program__machine__transitions=moves))

    def test_another_start(self, finite: ModelFile) -> None:
        with pytest.raises(Refused):
            shown(forged(finite, program__machine__start=1))

    def test_an_operator_off_by_a_little(self, finite: ModelFile) -> None:
        """Then its beliefs are no longer finitely many."""
        with pytest.raises(Refused, match="two beliefs"):
            shown(forged(finite, source__matrices__0__1__0=2.0**-40))

    @pytest.mark.parametrize("bad", [[[0.0]], [[-2, 0]], [0, 1], "x", [[9, 9, 9]] * 2])
    def test_no_machine(self, finite: ModelFile, bad: Any) -> None:
        with pytest.raises((Refused, ValueError, TypeError)):
            shown(forged(finite, program__machine__transitions=bad))

    def test_a_program_of_vectors_computes_no_machine(self, finite: ModelFile) -> None:
        header = {**finite.header, "machine": {"letters": ["0", "1"]}}
        with pytest.raises(Refused):
            shown(changed(finite, header))


def test_the_total_variation_is_bounded_too(window: ModelFile) -> None:
    model = HiddenMarkovModel.from_wire(window.header["source"])
    asked = words(2, 9)
    off = np.abs(outputs(window, asked) - model.filter(asked)[0]).sum(axis=2) / 2
    found = shown(window)
    variation = found.facts()["total variation"]
    assert off.max() <= variation + SLACK
    assert 0 < variation < 3 * found.error


def test_the_error_of_the_model_is_no_larger_than_claimed(window: ModelFile) -> None:
    header = copy.deepcopy(window.header)
    header["claim"]["model_error"] /= 2
    with pytest.raises(Refused, match="error of the model"):
        shown(changed(window, header))
