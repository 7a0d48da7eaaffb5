"""Networks of Tracr and ALTA as arrays, made by hand: neither is installed here."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from foreign import FLIP_FLOP, flip_flop

import krohn
from krohn.algebra.automaton import Automaton, Semiautomaton
from krohn.network import ModelFileError
from krohn.network.foreign_arrays import from_alta, from_tracr
from krohn.network.model import Model

# What the hand-made head reads stands in dimension 4; the answers go to these.
READ, ANSWERS = 4, (5, 6)
SHARPNESS = 1.5


def linear(weight: np.ndarray, bias: np.ndarray | None = None) -> dict[str, Any]:
    return {"w": weight, "b": np.zeros(weight.shape[1]) if bias is None else bias}


def tracr(sharpness: float = SHARPNESS, length: int = 20) -> dict[str, Any]:
    """The flip-flop of one head in Tracr's layout; its MLP says the weight on letters 2.

    The head is that of `foreign.flip_flop`; values are as wide as keys, and tokens are in
    an order of their own: BOS, padding, 2, 1, ⊥.
    """
    given = flip_flop(length, sharpness).tensors
    wide = ((0, 0), (0, 2))
    token = np.pad(given["embed.token"], wide)
    query, key = (given[f"blocks.0.attention.{n}"][0] for n in ("query", "key"))
    value, out = np.zeros((7, 3)), np.zeros((3, 7))
    value[:5, :1] = given["blocks.0.attention.value"][0]
    out[:1, :5] = given["blocks.0.attention.out"][0]
    first, second = np.zeros((7, 2)), np.zeros((2, 7))
    first[READ] = second[0, ANSWERS[1]] = second[1, ANSWERS[0]] = 1.0
    first[READ, 1] = -1.0
    at = "transformer/layer_0"
    return {
        "token_embed": {"embeddings": token[[3, 0, 2, 1, 0]]},
        "pos_embed": {"embeddings": np.pad(given["embed.position"], wide)},
        f"{at}/attn/query": linear(np.pad(query, ((0, 2), (0, 0))) * np.sqrt(3)),
        f"{at}/attn/key": linear(np.pad(key, ((0, 2), (0, 0)))),
        f"{at}/attn/value": linear(value),
        f"{at}/attn/linear": linear(out),
        f"{at}/mlp/linear_1": linear(first, np.array([0.0, 1.0])),
        f"{at}/mlp/linear_2": linear(second),
    }


NAMED: dict[str, Any] = {
    "letters": {"⊥": 4, "1": 3, "2": 2},
    "bos": 0,
    "classes": {"1": ANSWERS[0], "2": ANSWERS[1]},
    "heads": 1,
    "causal": True,
}


def said_by_tracr(arrays: dict[str, Any], tokens: np.ndarray) -> np.ndarray:
    """The stream of one word at its end, as Tracr's own modules compute it."""
    x = arrays["token_embed"]["embeddings"][tokens]
    x = x + arrays["pos_embed"]["embeddings"][: len(tokens)]
    q, k, v, o = (
        arrays[f"transformer/layer_0/attn/{n}"]["w"]
        for n in ("query", "key", "value", "linear")
    )
    scores = (x @ q) @ (x @ k).T / np.sqrt(q.shape[1])
    scores = np.where(np.tri(len(x)) > 0, scores, -1e30)
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    x = x + weights / weights.sum(axis=1, keepdims=True) @ (x @ v) @ o
    inner, outer = (arrays[f"transformer/layer_0/mlp/linear_{n}"] for n in (1, 2))
    return x + np.maximum(x @ inner["w"] + inner["b"], 0) @ outer["w"] + outer["b"]


def test_a_model_of_tracrs_becomes_a_file_with_the_same_answers() -> None:
    arrays, rng = tracr(), np.random.default_rng(0)
    model = Model(from_tracr(arrays, **NAMED))
    for word in rng.integers(3, size=(20, 15)):
        rows = np.array([NAMED["letters"][model.letters[a]] for a in word])
        wanted = said_by_tracr(arrays, np.array([0, *rows]))[1:, ANSWERS]
        found = model(torch.from_numpy(word[None]))[0].numpy()
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-13)


@pytest.mark.parametrize(
    ("sharpness", "verdict"), [(0.5, "refuted"), (1.5, "undecided")]
)
def test_it_is_examined_as_any_other_file(sharpness: float, verdict: str) -> None:
    """A step of 0.5 loses the first letter beyond one position (docs/independent.md)."""
    report = krohn.verify(from_tracr(tracr(sharpness), **NAMED), FLIP_FLOP)
    assert report.verdict == verdict
    if report.counterexample is not None:
        assert len(report.counterexample.word) == 2


def test_what_a_file_cannot_hold_is_refused() -> None:
    with pytest.raises(ModelFileError, match="token_embed"):
        from_tracr({}, **NAMED)
    biased = tracr()
    biased["transformer/layer_0/attn/key"]["b"] = np.ones(3)
    with pytest.raises(ModelFileError, match="has a bias"):
        from_tracr(biased, **NAMED)
    twice = tracr()
    for name in list(twice):
        twice[name.replace("layer_0", "layer_1")] = twice[name]
    with pytest.raises(ModelFileError, match=r"krohn\.examine"):
        from_tracr(twice, **{**NAMED, "causal": False})
    narrow = tracr()
    narrow["transformer/layer_0/mlp/linear_2"]["b"] = np.zeros(6)
    with pytest.raises(ModelFileError, match=r"mlp\.1\.bias has the shape \(6,\)"):
        from_tracr(narrow, **NAMED)
    with pytest.raises(ModelFileError, match="beyond these"):
        from_tracr(tracr(), **{**NAMED, "classes": {"1": 5, "2": 7}})
    with pytest.raises(ModelFileError, match="no 2 heads"):
        from_tracr(tracr(), **{**NAMED, "heads": 2})


# ALTA: letters a and b, and a start; the letter before is copied, and both are compared.
A, B, BEFORE_A, BEFORE_B = range(4)
STATES = ("nothing", "a after b", "a after a", "b after a", "b after b")


def alta() -> SimpleNamespace:
    """One head that sees the position before, and a table by clipped ReLUs."""
    token = np.zeros((3, 9))
    token[0, A] = token[1, B] = 1.0
    value, out = np.zeros((9, 2)), np.zeros((2, 9))
    value[A, 0] = value[B, 1] = out[0, BEFORE_A] = out[1, BEFORE_B] = 1.0
    first, second = np.zeros((9, 4)), np.zeros((4, 9))
    first[[A, A, B, B], range(4)] = 1.0
    first[[BEFORE_A, BEFORE_B], [0, 2]] = -1.0
    first[[BEFORE_A, BEFORE_B], [1, 3]] = 1.0
    second[range(4), range(5, 9)] = 1.0
    read_out = np.zeros((9, 5))
    read_out[range(4, 9), range(5)] = 1.0
    head = SimpleNamespace(
        query_transform=np.zeros((9, 1)),
        key_transform=np.zeros((9, 1)),
        value_transform=value,
        output_transform=out,
        relative_position_mask=frozenset({-1}),
    )
    layers = [
        SimpleNamespace(weights=first, biases=np.array([0.0, -1.0, 0.0, -1.0])),
        SimpleNamespace(weights=second, biases=np.zeros(9)),
    ]
    embeddings = SimpleNamespace(input_embeddings=token, index_embeddings=None)
    return SimpleNamespace(
        attenion_heads=[head],
        feed_forward_layers=layers,
        embeddings=embeddings,
        output_transform=read_out,
    )


def last_two() -> Automaton:
    """Which letter came last, and whether the one before was the same."""
    after = {"nothing": "", **{s: s[0] for s in STATES[1:]}}
    table = [
        [
            STATES.index(f"{x} after {x}" if before == x else f"{x} after {y}")
            for before in after.values()
        ]
        for x, y in ("ab", "ba")
    ]
    return Automaton(
        Semiautomaton(np.array(table), ("a", "b"), STATES), name="last two"
    )


def test_a_model_of_altas_is_examined_as_a_function() -> None:
    report = krohn.examine(from_alta(alta(), layers=1, start=2), last_two(), 8)
    assert report.verdict == "verified"  # all words of up to 8 letters


def test_a_fault_in_it_is_found() -> None:
    wrong = alta()
    wrong.feed_forward_layers[0].biases[1] = -2.5
    report = krohn.examine(from_alta(wrong, layers=1, start=2), last_two(), 8)
    assert report.verdict == "refuted"
    assert report.counterexample is not None
    assert report.counterexample.word == ("a", "a")
