"""Weighted automata: their readers, their networks, and an exact oracle of their own."""

from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import krohn
from krohn.algebra.errors import KrohnError
from krohn.kinds.grammars.source import (
    derivations,
    parse,
)
from krohn.kinds.hidden_markov import source_files as files
from krohn.kinds.hidden_markov.source import HiddenMarkovModel
from krohn.program.errors import Refused
from krohn.source_kinds import find_source
from krohn.source_kinds.real_outputs import outputs

OCCURRENCES: dict[str, Any] = {
    "start": [1, 0],
    "matrices": {"a": [[1, 1], [0, 1]], "b": [[1, 0], [0, 1]]},
    "final": [0, 1],
}
SIGNED: dict[str, Any] = {
    "start": [1, -0.25],
    "matrices": {"u": [[1, -0.5], [0.25, 1]], "d": [[0.75, 0.5], [-0.25, 1.125]]},
    "final": [1, -2],
}


def exact(said: dict[str, Any], word: str) -> list[Fraction]:
    """The weight of each prefix: products of rows and matrices in fractions."""
    row, weights = [Fraction(x) for x in said["start"]], []
    for letter in word:
        matrix = said["matrices"][letter]
        columns = range(len(row))
        row = [
            sum((row[i] * Fraction(matrix[i][j]) for i in columns), Fraction())
            for j in columns
        ]
        ends = zip(row, said["final"], strict=True)
        weights.append(sum((x * Fraction(y) for x, y in ends), Fraction()))
    return weights


@pytest.mark.parametrize("said", [OCCURRENCES, SIGNED])
def test_weights_are_those_of_exact_products(said: dict[str, Any]) -> None:
    model = files.weighted.take_automaton(said)
    assert model is not None
    assert (model.operators >= 0).all()
    for word in product(said["matrices"], repeat=5):
        numbers = np.array([model.letters.index(o) for o in word])
        beliefs = np.array([[float(x) for x in b] for b in model.exactly(numbers)])
        right = [float(x) for x in exact(said, "".join(word))]
        assert model.weights(numbers, beliefs) == pytest.approx(right, rel=1e-12)
        assert model.filter(numbers[None])[0][0] == pytest.approx(beliefs, rel=1e-12)


def test_a_negative_weight_splits_states() -> None:
    """The difference of the two weights of a state is its own."""
    model = files.weighted.take_automaton(SIGNED)
    assert model is not None
    assert model.states == ("1+", "2+", "1-", "2-")
    assert model.start.tolist() == [1, 0, 0, 0.25]
    assert files.weighted.take_automaton(OCCURRENCES).states == ("1", "2")  # type: ignore[union-attr]


@pytest.mark.sample(1)
@pytest.mark.parametrize("seed", range(6))
def test_no_belief_of_a_network_is_off_by_more_than_is_proved(seed: int) -> None:
    """Zeros, weights from 2^-8 to 2^8, and starts that are no law."""
    random = np.random.default_rng(seed)
    size, length = int(random.integers(2, 4)), 6
    there = random.random((2, size, size)) < 0.7
    there[:, 0, 0] = True
    moves = there * 2.0 ** random.uniform(-8, 8, (2, size, size))
    said = {
        "start": 7 * random.random(size) + 0.125,
        "matrices": dict(zip("ab", moves, strict=True)),
        "final": random.normal(size=size),
    }
    made = krohn.compile(said, length)
    assert made.proof is not None
    assert made.proof.verdict == "verified"
    source = HiddenMarkovModel.from_wire(made.file.header["source"])
    most = made.file.header["claim"]["error"]
    words = random.integers(2, size=(6, length))
    said_beliefs = outputs(made.file, words)
    for word, beliefs in zip(words.tolist(), said_beliefs, strict=True):
        right = source.exactly(word)
        for belief, exactly in zip(beliefs.tolist(), right, strict=True):
            for x, y in zip(belief, exactly, strict=True):
                assert abs(Fraction(x) - y) <= Fraction(most)


def test_a_file_and_a_dict_are_one_model(tmp_path: Path) -> None:
    import json

    path = tmp_path / "automaton.json"
    path.write_text(json.dumps(OCCURRENCES))
    one, other = files.read(path), files.weighted.take_automaton(OCCURRENCES)
    assert one is not None
    assert other is not None
    assert one.to_wire() == other.to_wire()
    (tmp_path / "own.json").write_text(files.text(one))
    back = files.read(tmp_path / "own.json")
    assert back is not None
    assert back.to_wire() == one.to_wire()


TEXT = "0 0 a\n0 1 a\n0 0 b\n1 1 a\n1 1 b\n1\n"


def test_text_of_openfst_is_read(tmp_path: Path) -> None:
    model = files.weighted.of_text(TEXT, "k", "real")
    right = files.weighted.take_automaton(OCCURRENCES)
    assert right is not None
    assert np.array_equal(model.operators, right.operators)
    assert model.final is not None
    assert model.final.tolist() == [0, 1]
    path = tmp_path / "k.fst.txt"
    path.write_text("0 0 a a 0.5\n0 0 a a 1.5\n0 1\n0 Infinity\n")
    logs = files.read(Path(f"{path}:weights=log"))
    assert logs is not None
    assert logs.operators[0, 0, 0] == np.exp(-0.5) + np.exp(-1.5)
    assert logs.final is not None
    assert logs.final.tolist() == [np.exp(-1.0)]
    assert find_source(f"{path}:weights=log") is not None


@pytest.mark.parametrize(
    ("text", "read", "reason"),
    [
        ("0 1 <eps> 2\n", "real", "line 1: it reads no letter"),
        ("0 1 a b 2\n", "real", "line 1: it reads 'a' and says another"),
        ("0 1 a x\n", "real", "line 1: 'x' is no weight"),
        ("0 1 1 .5\n1 1 0 .5\n1\n", "real", "the label '0' is epsilon"),
        ("0 1 2 2\n1 1 1 1\n1\n", "real", "its letter or its weight"),
        ("0 1 a 2\n", "tropical", "weights are real or log"),
        ("0 1 a 2000\n", "log", "too small"),
        ("0 1 a 0\n1\n", "real", "every word of k has the weight 0"),
        ("\n", "real", "no transitions"),
        ("0 1 2 3 4 5\n", "real", "at most five parts"),
    ],
)
def test_other_texts_are_refused(text: str, read: str, reason: str) -> None:
    with pytest.raises(Refused, match=reason):
        files.weighted.of_text(text, "k", read)


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"matrices": [[[1]]]}, "must have a matrix for each letter"),
        ({"matrices": {"a": [[1]]}}, "'a' is not one of 2 states"),
        ({"final": [1]}, "must both have one weight for each state"),
        ({"states": ["p"]}, "1 names for 2 states"),
        ({"start": [0, 0]}, "the weight 0"),
        ({"weights": "tropical"}, "weights are real or log"),
        ({"start": [float("nan"), 0]}, "no finite number"),
    ],
)
def test_other_dicts_are_refused(changed: dict[str, Any], reason: str) -> None:
    with pytest.raises(Refused, match=reason):
        files.weighted.take_automaton(OCCURRENCES | changed)


def test_what_needs_probabilities_says_so() -> None:
    model = files.weighted.take_automaton(OCCURRENCES)
    with pytest.raises(KrohnError, match="is a weighted automaton"):
        krohn.hidden_markov(model)
    told = krohn.explain(model, 8)
    assert "weighted" in told["properties"]
    assert "mixing_time" not in told


CATALAN = [1, 1, 2, 5, 14]


def test_derivations_are_counted() -> None:
    """`S -> S S | a`: n letters have as many derivations as there are binary trees."""
    grammar = parse("S -> S S [0.25] | a [0.75]", "trees")
    model = derivations(grammar, 5)
    word = np.zeros(5, np.int64)
    assert model.weights(word, model.filter(word[None])[0][0]) == pytest.approx(CATALAN)
    shallow = derivations(grammar, 1)  # only ((aa)a)… of depth 1: right-branching trees
    weights = shallow.weights(word, shallow.filter(word[None])[0][0])
    assert weights.tolist() == pytest.approx([1] * 5)


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "text",
    [
        "S -> S S [0.3] | a [0.4] | b [0.3]",
        "S -> NP V NP\nNP -> n [0.7] | NP PP [0.3]\nPP -> p NP\nV -> v",
    ],
)
def test_ambiguous_grammars_compile(text: str, tmp_path: Path) -> None:
    """Their beliefs are not finitely many."""
    (tmp_path / "g.pcfg").write_text(text)
    made = krohn.compile(f"{tmp_path / 'g.pcfg'}:depth=3", 12)
    assert made.construction == "attention-products"
    assert made.proof is not None
    assert made.proof.verdict == "verified"
    assert made.file.header["claim"]["error"] < 1e-3
