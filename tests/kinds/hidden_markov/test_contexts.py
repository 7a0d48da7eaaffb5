"""Recurrent networks of contexts: for words of every length, within an error (W8e)."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from belief_networks import MODELS, mixing
from hypothesis import given, settings

import krohn
from krohn.algebra.errors import KrohnError
from krohn.kinds.hidden_markov import build_beliefs, check_contexts, source_contexts
from krohn.kinds.hidden_markov.check_contexts import context_beliefs
from krohn.kinds.hidden_markov.check_situations import Law
from krohn.kinds.hidden_markov.commands_facts import recurrent_facts
from krohn.kinds.hidden_markov.source import HiddenMarkovModel
from krohn.kinds.hidden_markov.source_contexts import context_machine, grow_contexts
from krohn.kinds.hidden_markov.statement import StatedHiddenMarkov
from krohn.network.model import Model
from krohn.network.modelfile import ModelFile
from krohn.network.precision import FloatArray
from krohn.program.domains import IntArray
from krohn.program.errors import Refused
from krohn.verify.checker.model_file import Machine
from krohn.verify.proof import prove, shown_of

ARCHITECTURES = ("rnn", "lstm", "gru")


def file_of(arch: str, within: float = 0.05, **options: Any) -> ModelFile:
    return krohn.compile(mixing(3, 3, 1), arch=arch, within=within, **options).file


def said(file: ModelFile, words: IntArray) -> FloatArray:
    with torch.no_grad():
        found: FloatArray = (
            Model(file).network(torch.from_numpy(words)).double().numpy()
        )
    return found


def words_of(model: HiddenMarkovModel, count: int, length: int) -> IntArray:
    """Words that the model says, and as many of uniform letters."""
    rng = np.random.default_rng(0)
    uniform = rng.integers(len(model.letters), size=(count, length))
    return np.concatenate([model.sample(count, length, rng)[0], uniform])


def farthest(model: HiddenMarkovModel, words: IntArray, outputs: FloatArray) -> float:
    """The largest error after a possible word."""
    return float(np.nanmax(np.abs(outputs - model.filter(words)[0])))


def walked(following: IntArray, words: IntArray) -> IntArray:
    """The state after each letter; -1 after an impossible one."""
    ways = np.hstack([following, np.full((len(following), 1), -1)])
    at = np.zeros(len(words), np.int64)
    return np.stack([at := ways[letter, at] for letter in words.T], axis=1)


def stated(model: HiddenMarkovModel) -> StatedHiddenMarkov:
    return StatedHiddenMarkov(
        "own", model.states, model.letters, model.operators, model.start
    )


def box(law: Law, states: int) -> tuple[FloatArray, FloatArray]:
    """The least and the largest entries of the beliefs of each state."""
    low = np.full((states, law.belief.shape[1]), np.inf)
    high = -low
    np.minimum.at(low, law.value, law.belief - law.off)
    np.maximum.at(high, law.value, law.belief + law.off)
    return low, high


def checked(model: HiddenMarkovModel, following: IntArray) -> Law:
    """What the checker finds of a machine that is stated."""
    machine = Machine(0, following, np.arange(following.shape[1]))
    return context_beliefs(stated(model), machine)


@pytest.mark.slow
@settings(max_examples=8, deadline=None)
@given(model=MODELS)
def test_a_machine_of_contexts_says_the_belief_within_its_error(
    model: HiddenMarkovModel,
) -> None:
    """Every possible word is followed; the checker's beliefs hold those of the filter."""
    suffixes = grow_contexts(model, 0.1)
    if suffixes.error > 0.1:
        return
    machine, words = context_machine(suffixes, 0.1), words_of(model, 20, 40)
    states, beliefs = walked(machine.following, words), model.filter(words)[0]
    possible = ~np.isnan(beliefs[..., 0])
    assert (states[possible] >= 0).all()
    off = np.abs(machine.laws[states[possible]] - beliefs[possible])
    assert off.max() <= 0.1 + 1e-12
    low, high = box(checked(model, machine.following), len(machine.laws))
    assert (low[states[possible]] - 1e-12 <= beliefs[possible]).all()
    assert (beliefs[possible] <= high[states[possible]] + 1e-12).all()


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_a_network_is_right_within_its_error(arch: str, dtype: str) -> None:
    model, file = mixing(3, 3, 1), file_of(arch, dtype=dtype)
    claim = file.header["claim"]
    assert claim["length"] is None
    assert claim["error"] <= 0.05
    assert krohn.verify(file).verdict == "verified"
    words = words_of(model, 10, 500)
    found = farthest(model, words, said(file, words))
    assert claim["error"] / 4 < found <= claim["error"]


@pytest.mark.sample(1)
@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_beliefs_that_are_finitely_many_are_only_rounded(arch: str) -> None:
    file = krohn.compile("GoldenMean", arch=arch).file
    assert file.header["construction"].startswith("beliefs-")
    assert file.header["claim"]["error"] < 1e-4


@pytest.mark.slow
@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_another_read_out_is_as_far_off_as_is_shown(arch: str) -> None:
    """A law of one unit is moved: the claim is refused, and what is shown is larger."""
    file = file_of(arch)
    readout = file.tensors["unembed.weight"].copy()
    readout[2, 0] += 0.25
    damaged = replace(file, tensors={**file.tensors, "unembed.weight": readout})
    assert krohn.verify(damaged).verdict == "undecided"
    claim = {**file.header["claim"], "error": 9.0}
    shown = shown_of(replace(damaged, header={**file.header, "claim": claim}))
    assert shown.error > file.header["claim"]["error"] + 0.1


def changed_machine(file: ModelFile, change: Any) -> ModelFile:
    """The file with other transitions of its machine."""
    machine = file.header["program"]["contexts"]
    ways = np.array(machine["transitions"])
    change(ways)
    program = {"contexts": {**machine, "transitions": ways.tolist()}}
    return replace(file, header={**file.header, "program": program})


@pytest.mark.sample(1)
@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_forged_contexts_are_refused(
    arch: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another transition, none, letters that settle nothing, and another name."""
    file = file_of(arch, 0.1)
    monkeypatch.setattr(check_contexts, "MOST_NUMBERS", 2**12)
    assert prove(file, None).verdict == "verified"

    def other(ways: IntArray) -> None:
        ways[0, 1] = (ways[0, 1] + 2) % ways.shape[1]

    def none(ways: IntArray) -> None:
        ways[1, 2] = -1

    def swap(ways: IntArray) -> None:
        ways[:] = np.arange(ways.shape[1])[::-1]

    for change in (other, none, swap):
        assert prove(changed_machine(file, change), None).verdict != "verified"
    program = {"machine": file.header["program"]["contexts"]}
    for forged in (program, {**file.header["program"], **program}):
        proof = prove(replace(file, header={**file.header, "program": forged}), None)
        assert proof.verdict != "verified"


@pytest.mark.slow
def test_a_letter_that_is_possible_has_to_lead_somewhere() -> None:
    model = mixing(2, 2, 0)
    following = np.array([[1, 1, 1], [2, 2, 2]])
    assert len(np.unique(checked(model, following).value)) == 3
    for letter, state in ((0, 0), (1, 2)):
        broken = following.copy()
        broken[letter, state] = -1
        with pytest.raises(Refused, match="possible leads nowhere"):
            checked(model, broken)


@pytest.mark.slow
def test_letters_that_leave_the_state_open_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A counter, which no word settles; and words that are too many."""
    model = mixing(2, 2, 0)
    following = context_machine(grow_contexts(model, 0.01), 0.01).following
    monkeypatch.setattr(check_contexts, "MOST_NUMBERS", 2**10)
    assert len(checked(model, following).value)
    with pytest.raises(Refused, match="leave the state open"):
        checked(model, np.array([[1, 0], [0, 1]]))
    monkeypatch.setattr(check_contexts, "MOST_NUMBERS", 1)
    with pytest.raises(Refused, match="leave the state open"):
        checked(model, following)


@pytest.mark.parametrize("power", [150, 225, 299, 441])
def test_words_that_float64_calls_impossible_count(power: int) -> None:
    """Three letters c weigh less than the least float64, and are possible."""
    back, drift = [[0.5, 0.5], [0.0005, 0.0005]], [[0.9, 0.05], [0.1, 0.95]]
    operators = np.array([back, np.array(drift) * 2.0**-power])
    source = StatedHiddenMarkov(
        "own", ("p", "q"), ("a", "c"), operators, np.array([1, 0.001])
    )
    machine = Machine(0, np.array([[0, 0], [1, 1]]), np.arange(2))
    low, high = box(context_beliefs(source, machine), 2)
    belief = source.start
    for _ in range(40):
        belief = np.array(drift) @ belief / belief.sum()
        belief = belief / belief.sum()
        assert (low[1] <= belief).all()
        assert (belief <= high[1]).all()


def test_more_letters_before_only_help(monkeypatch: pytest.MonkeyPatch) -> None:
    """The beliefs are nearer to each other the more letters are looked at."""
    model, widths = mixing(3, 3, 1), []
    following = context_machine(grow_contexts(model, 0.05), 0.05).following
    for few in (0, 2**10, 2**16):
        monkeypatch.setattr(check_contexts, "FEW_NUMBERS", few)
        low, high = box(checked(model, following), following.shape[1])
        widths.append((high - low).max())
    assert widths[0] > widths[1] > widths[2] - 1e-9


def test_contexts_that_are_near_become_one_state() -> None:
    """Letters lead from classes to classes, and no class is wider than the error."""
    suffixes = grow_contexts(mixing(3, 3, 1), 0.02)
    states = [len(context_machine(suffixes, error).laws) for error in (0.02, 0.05, 0.2)]
    assert (
        len(suffixes.leaves) + len(suffixes.inner) > states[0] > states[1] > states[2]
    )


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("name", "options", "reason"),
    [
        ("Mess3", {}, "more than 1000 beliefs.*contexts: .*say which is allowed"),
        (
            "RRXOR",
            {"within": 0.1, "construction": "contexts"},
            "does not forget. After",
        ),
        ("Mess3", {"length": 9, "within": 0.1}, "words of every length"),
        ("Mess3", {"within": 0.1, "construction": "window"}, "or beliefs or contexts"),
        ("Mess3", {"arch": "ssm", "within": 0.1}, "rnn or lstm or gru"),
    ],
)
def test_what_does_not_suit_is_refused(
    name: str, options: dict[str, Any], reason: str
) -> None:
    with pytest.raises(KrohnError, match=reason):
        krohn.compile(name, **({"arch": "rnn"} | options))


@pytest.mark.slow
def test_a_refusal_says_the_least_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """With it there is a network; with less there is none."""
    monkeypatch.setattr(source_contexts, "MOST_CONTEXTS", 60)
    with pytest.raises(KrohnError, match=r"there is one with within=0\.17") as refused:
        krohn.compile("Mess3", arch="rnn", within=0.05)
    assert "contexts of up to" in str(refused.value)
    assert (
        krohn.verify(krohn.compile("Mess3", arch="rnn", within=0.17).file).verdict
        == "verified"
    )
    with pytest.raises(KrohnError, match="does not forget fast enough"):
        krohn.compile("Mess3", arch="rnn", within=0.16)


@pytest.mark.slow
def test_a_refused_transformer_names_the_recurrent_network(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It has no longest word, and serves the shorter ones, too."""
    monkeypatch.setattr(build_beliefs, "MOST_PARAMETERS", 0)
    offer = "arch='rnn' and no length="
    with pytest.raises(KrohnError, match=offer):
        krohn.compile("RRXOR", 9, dtype="bfloat16")
    with pytest.raises(KrohnError, match="need a network of") as refused:
        krohn.compile("RRXOR", 9, "beliefs", dtype="bfloat16")
    assert offer not in str(refused.value)


@pytest.mark.slow
def test_explain_counts_the_states_by_error() -> None:
    model = mixing(3, 3, 1)
    rows = recurrent_facts(model, 0.02)
    assert [row["rnn_error"] for row in rows] == [0.1, 0.05, 0.02, 0.01, 0.001]
    for row in rows[:3]:
        file = file_of("rnn", row["rnn_error"])
        assert file.header["architecture"]["hidden"] == row["states"]
    (row,) = recurrent_facts(krohn.hidden_markov("RRXOR"), None)
    assert (row["rnn_of"], row["states"], row["contexts"]) == ("beliefs", 36, None)
