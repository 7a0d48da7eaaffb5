"""One hidden Markov model by every way in: one claim, and the same answers."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import krohn
from krohn.algebra.errors import KrohnError
from krohn.kinds.hidden_markov import (
    build_attention_products as attention_products,
    check_doubling_tensors as doubling_tensors,
    source_files as files,
)
from krohn.kinds.hidden_markov.source_model import law_before

Call = Callable[..., tuple[int, Any]]
FIRST = [0.875, 0.125]
STEP = [[0.25, 0.75], [0.5, 0.5]]
SAY = [[0.125, 0.375, 0.5], [0.5, 0.25, 0.25]]
ARRAYS = {"startprob": FIRST, "transmat": STEP, "emissionprob": SAY}


def fitted(**more: Any) -> Any:
    """An object that holds what hmmlearn's do."""
    learnt = {f"{name}_": np.array(law) for name, law in ARRAYS.items()}
    return SimpleNamespace(**learnt, n_features=3, **more)


def of_npz(path: Path, mark: str) -> Path:
    np.savez(path, **{name + mark: np.array(law) for name, law in ARRAYS.items()})
    return path


def of_json(path: Path) -> Path:
    path.write_text(json.dumps(ARRAYS))
    return path


def of_own(path: Path) -> Path:
    path.write_text(files.text(krohn.hidden_markov(ARRAYS)))
    return path


def said() -> krohn.HiddenMarkovModel:
    """By columns."""
    step, say = np.transpose(STEP), np.transpose(SAY)
    return krohn.HiddenMarkovModel.of(
        "arrays", step, say, first=FIRST, states="01", letters="012"
    )


@pytest.mark.slow
def test_a_model_is_the_same_by_every_way_in(call: Call, tmp_path: Path) -> None:
    ways = {
        "arrays in a dict": ARRAYS,
        "a fitted object": fitted(),
        "columns": said(),
        "npz": of_npz(tmp_path / "plain.npz", ""),
        "npz, underscored": of_npz(tmp_path / "underscored.npz", "_"),
        "json": of_json(tmp_path / "arrays.json"),
        "own json": of_own(tmp_path / "own.json"),
    }
    found = {}
    for way, source in ways.items():
        model = replace(krohn.hidden_markov(source), name="arrays")
        compiled = krohn.compile(model, 4, within=0.05)
        found[way] = compiled.claim.digest
        # What is compiled of the source itself has its own name, and nothing else.
        itself = krohn.compile(source, 4, within=0.05, proof=False)
        assert itself.file.tensors.keys() == compiled.file.tensors.keys()
        for name, tensor in itself.file.tensors.items():
            assert np.array_equal(tensor, compiled.file.tensors[name])
    assert len(set(found.values())) == 1, found
    path = tmp_path / "a.safetensors"
    asked = "-T", 4, "--within", 0.05, "-o", path
    code, told = call("compile", tmp_path / "arrays.json", *asked)
    assert (code, told["digest"]) == (0, found["columns"])
    code, told = call("verify", path, "--machine", tmp_path / "own.json", "--proof")
    assert (code, told["verdict"]) == (0, "verified")


@pytest.mark.parametrize("sticky", [0.0, 0.9])
def test_the_law_before_a_step_is_exact_or_none(sticky: float) -> None:
    """P s is the law of the start to a rounding, entry by entry, however P is."""
    random, found = np.random.default_rng(3), 0
    for size in (2, 3, 5, 8) * 5:
        step = random.random((size, size)) ** 4
        step = sticky * np.eye(size) + (1 - sticky) * step / step.sum(axis=0)
        first = random.random(size)
        first /= first.sum()
        law, rough = law_before(step, first), np.linalg.solve(step, first)
        assert (law is None) == (rough.min() < 0)
        if law is not None:
            found += 1
            assert np.abs(step @ law / first - 1).max() < size * 2.0**-52
    assert 0 < found < 20 or sticky
    assert law_before(np.full((2, 2), 0.5), np.array([0.5, 0.5])) is None
    assert law_before(np.eye(40), np.full(40, 1 / 40)) is None


@pytest.mark.slow
def test_products_serve_arrays_that_forget_slowly() -> None:
    """No operator has an entry 0, as the start is a law before the first step."""
    arrays = {
        "startprob": [0.5, 0.5],
        "transmat": [[0.95, 0.05], [0.1, 0.9]],
        "emissionprob": [[1 / 6] * 6, [0.1] * 5 + [0.5]],
    }
    casino = krohn.compile(arrays, 64, within=1e-3)
    told = casino.summary()
    assert (told["construction"], told["verdict"]) == ("attention-products", "verified")
    assert told["about"]["states"]["count"] == 2


def test_the_first_belief_is_that_of_the_start_law_and_the_letter() -> None:
    """As hmmlearn has it, whose first step comes after the first letter."""
    model, joint = krohn.hidden_markov(ARRAYS), np.array(FIRST) * np.array(SAY)[:, 2]
    right = joint / joint.sum()
    assert np.allclose(model.filter([[2]])[0][0, 0], [*right, 0])
    step, say = np.transpose(STEP), np.transpose(SAY)
    other = krohn.HiddenMarkovModel.of("other", step, say, before=FIRST)
    assert np.abs(other.filter([[2]])[0][0, 0] - right).max() > 0.4


def test_the_start_of_a_pomdp_is_before_the_first_answer(tmp_path: Path) -> None:
    rows = [" ".join(map(str, row)) for row in (*STEP, *SAY, FIRST)]
    lines = [
        *("states: 2", "actions: look", "observations: 3", f"start: {rows[4]}"),
        *("T: look", *rows[:2], "O: look", *rows[2:4]),
    ]
    (tmp_path / "a.pomdp").write_text("\n".join(lines))
    found = krohn.hidden_markov(tmp_path / "a.pomdp").filter([[2, 0, 1]])[0]
    step, say = np.transpose(STEP), np.transpose(SAY)
    same = krohn.HiddenMarkovModel.of("same", step, say, before=FIRST)
    assert np.allclose(found, same.filter([[2, 0, 1]])[0])


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ({**ARRAYS, "startprob": [0.5, 0.25]}, "row 1 of startprob adds up to 0.75"),
        ({**ARRAYS, "transmat": [[1.0]]}, "transmat is no matrix of 2 states"),
        (fitted(n_trials=3), "emits several letters at once"),
        (SimpleNamespace(startprob_=[1.0], transmat_=[[1.0]]), "no emissionprob_"),
        ({"startprob": FIRST}, "needs the arrays startprob, transmat and emissionprob"),
        (
            {"startprob": FIRST, "transmat": STEP, "means": [[0], [1]]},
            "says vectors .mean",
        ),
        ({"startprob": FIRST, "transmat": STEP, "lambdas": [[1]]}, "np.minimum.X, 20."),
        (
            SimpleNamespace(startprob_=FIRST, transmat_=STEP, covars_=[[1.0]]),
            r"says vectors \(covars_\), and no letters: quantise the vectors first",
        ),
        (
            SimpleNamespace(startprob_=FIRST, transmat_=STEP, lambdas_=[[1]]),
            "says counts",
        ),
    ],
)
def test_what_is_no_model_is_refused(source: Any, reason: str) -> None:
    with pytest.raises(KrohnError, match=reason):
        krohn.compile(source, 8, within=0.05)


class Categorical:
    """As pomegranate's, which holds a law for each of its features."""

    def __init__(self, law: list[float]) -> None:
        self.probs = np.array([law])


class Normal:
    means = covs = np.zeros(1)


class Bernoulli:
    probs = np.zeros(1)


def dense(laws: list[Any]) -> Any:
    """An object that holds what a DenseHMM of pomegranate does."""
    logs = {"starts": np.log(FIRST), "edges": np.log(STEP)}
    return SimpleNamespace(**logs, ends=np.full(2, -np.inf), distributions=laws)


def test_an_object_of_pomegranate_is_the_model_of_its_arrays() -> None:
    model = krohn.hidden_markov(dense([*map(Categorical, SAY)]))
    assert np.allclose(model.filter([[2, 0]])[0], said().filter([[2, 0]])[0])


@pytest.mark.parametrize(
    ("law", "reason"),
    [
        (Normal(), "Normal says vectors .means., and no letters: quantise"),
        (Bernoulli(), "a state has a Bernoulli, which says no letters"),
    ],
)
def test_objects_of_pomegranate_that_say_no_letters(law: Any, reason: str) -> None:
    with pytest.raises(KrohnError, match=reason):
        krohn.compile(dense([Categorical(SAY[0]), law]), 8, within=0.05)


@pytest.mark.parametrize("damage", ["cut", "objects"])
def test_an_archive_that_is_not_read_is_not_to_be_renamed(
    damage: str, tmp_path: Path
) -> None:
    path = of_npz(tmp_path / "m.npz", "")
    if damage == "cut":
        path.write_bytes(path.read_bytes()[:200])
    else:
        np.savez(path, letters=np.array(["a", 3], dtype=object))
    with pytest.raises(KrohnError, match="it is damaged, or has objects in it"):
        krohn.hidden_markov(path)


def test_arrays_that_are_not_read_are_named() -> None:
    said = {key: np.array(law) for key, law in ARRAYS.items()}
    assert not krohn.hidden_markov(said).remark
    found = krohn.hidden_markov({**said, "symbols": np.array(["x", "y"])})
    assert found.remark.startswith("arrays: symbols is not read; names of letters are")


@pytest.mark.slow
def test_words_too_long_for_any_proof_are_refused_before_work() -> None:
    model = krohn.hidden_markov({key: np.array(law) for key, law in ARRAYS.items()})
    with pytest.raises(KrohnError, match=r"words of up to 4,096 letters"):
        krohn.compile(model, 10**12, "attention-products")
    with pytest.raises(KrohnError, match=r"proof would take .* steps or more"):
        krohn.compile(krohn.hidden_markov("RanHMM2,2@3"), 10**9, "normalised-products")
    assert attention_products.LONGEST == doubling_tensors.LONGEST
