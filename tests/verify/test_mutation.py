"""The mill of mutants: the proof accepts none that is wrong, and the mill would see it.

benchmarks/mutation.py grinds models of every construction.
"""

from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from mutants.kinds import KINDS, draw
from mutants.runner import (
    Judgement,
    Outcome,
    by_proof,
    grind,
    reason_class,
    score,
)
from mutants.subject import Subject, same
from mutants.truth import Truth

import krohn
from krohn.algebra.automaton import Automaton
from krohn.algebra.formats import json_format
from krohn.network.modelfile import ModelFile

torch.set_num_threads(1)

Key = tuple[str, str, int, tuple[tuple[str, Any], ...]]
MODELS: list[Key] = [
    ("C3", "counter", 4, ()),
    ("C2", "counter", 5, (("strict", True),)),
    ("C3", "counter", 4, (("activation", "sine"),)),
    ("C3", "counter", 4, (("activation", "gelu"), ("strict", True))),
    ("FlipFlop", "memory", 5, (("uniform", True),)),
    ("FlipFlop", "memory", 5, (("dtype", "float16"),)),
    ("C2xC2", "product", 4, ()),
    ("Grid3", "gridworld", 5, ()),
    ("Dyck2,1", "dyck", 5, (("observe", "stack-top"),)),
    ("C2", "content", 5, ()),
    ("Parity8@2,3,7", "parity-selected", 8, ()),
    ("S3", "cascade", 4, ()),
    ("D6", "scan", 6, ()),
    ("Grid4", "scan", 5, (("dtype", "bfloat16"),)),
    ("Grid3", "sequential", 4, ()),
    ("Grid4", "elman", 0, ()),
    ("C3", "elman of sparse matrices", 0, (("dtype", "float16"),)),
    ("Dyck1,2", "balanced", 4, ()),
]
EACH = pytest.mark.parametrize("key", MODELS, ids=lambda k: f"{k[0]}-{k[1]}")
COUNTER = MODELS[0]


def compiled(key: Key, factor: int) -> ModelFile:
    name, construction, length, how = key
    if construction.startswith("elman"):
        with pytest.MonkeyPatch.context() as patched:
            widest = 1024 if construction == "elman" else 0
            patched.setattr("krohn.architectures.recurrent.build.WIDEST_DENSE", widest)
            return krohn.compile(name, arch="rnn", **dict(how)).file
    if construction == "balanced":
        return krohn.compile_generator(name, factor * length, **dict(how)).file
    return krohn.compile(name, factor * length, construction, **dict(how)).file


@cache
def subject(key: Key) -> Subject:
    file = compiled(key, 1)
    machine = json_format.from_object(file.header["machine"])
    return Subject(file, machine, compiled(key, 2))


@cache
def outcomes(key: Key) -> tuple[Outcome, ...]:
    return tuple(grind(subject(key), seed=(MODELS.index(key),)))


@pytest.mark.sample(1)
@EACH
def test_no_mutant_that_is_wrong_is_accepted(key: Key) -> None:
    found = score(outcomes(key))
    assert found.holes == 0
    assert found.mutants > 20
    assert found.harmful_rejected > 0
    assert found.harmless_accepted > 0


@pytest.mark.sample(1)
@EACH
def test_mutants_of_single_weights_are_among_them(key: Key) -> None:
    kinds = {o.kind for o in outcomes(key)}
    assert kinds >= {"sign flipped", "weight to 0", "machine: one transition"}


@pytest.mark.slow
def test_every_kind_has_something_to_change_somewhere() -> None:
    # No model here has two blocks alike, tells the latest value before a position, or
    # fetches what is rated best (kinds/sequence_functions/test_best.py).
    rare = {"two blocks exchanged", "channel: level ±1", "channel: rating"}
    left, rng = KINDS.keys() - rare, np.random.default_rng(0)
    for key in MODELS:
        each = [kind for kind in sorted(left) for _ in range(4)]
        left -= {kind for kind in each if draw(kind, subject(key), rng)}
        if not left:
            return
    raise AssertionError(left)


@pytest.mark.slow
def test_two_blocks_of_one_shape_can_trade_places() -> None:
    blocks = Subject(krohn.compile("C2", 6, "sequential").file, krohn.read("C2"))
    found = list(grind(blocks, kinds=["two blocks exchanged"], each=4))
    assert found
    assert not any(o.hole for o in found)


def accepts_all(file: ModelFile, machine: Automaton) -> Judgement:
    return Judgement(True)


def rejects_all(file: ModelFile, machine: Automaton) -> Judgement:
    return Judgement(False, "no")


def runs_short_words_only(file: ModelFile, machine: Automaton) -> Judgement:
    try:
        report = krohn.verify(file, machine, exhaustive=1, length=1)
    except krohn.KrohnError as error:
        return Judgement(False, str(error))
    return Judgement(report.verdict == "verified", report.reason)


def raises(file: ModelFile, machine: Automaton) -> Judgement:
    raise KeyError("what it needs")


@pytest.mark.sample(1)
@pytest.mark.parametrize("key", [COUNTER, MODELS[-2], MODELS[-1]])
def test_a_checker_that_accepts_everything_is_found_out(key: Key) -> None:
    found = score(grind(subject(key), accepts_all))
    assert found.holes > 5
    assert found.harmful_rejected == found.harmless_rejected == 0
    assert found.strictness == 0


@pytest.mark.slow
def test_a_checker_that_looks_at_one_letter_is_found_out() -> None:
    found = [o for o in grind(subject(COUNTER), runs_short_words_only, 3) if o.hole]
    assert found
    assert all(o.judgement.accepted and o.harm for o in found)


def test_a_checker_that_rejects_everything_is_sound_and_strict() -> None:
    found = score(grind(subject(COUNTER), rejects_all))
    assert found.holes == found.harmless_accepted == 0
    assert found.strictness == 1


def test_what_a_checker_raises_is_no_acceptance() -> None:
    found = list(grind(subject(COUNTER), raises))
    assert score(found).holes == 0
    assert all("raised KeyError" in o.judgement.reason for o in found)


@pytest.mark.slow
def test_the_same_seed_gives_the_same_mutants() -> None:
    one, again, other = (
        tuple(grind(subject(COUNTER), rejects_all, seed=(n,))) for n in (0, 0, 1)
    )
    assert again == one
    assert [o.where for o in other] != [o.where for o in again]


@pytest.mark.sample(1)
@EACH
def test_units_that_trade_places_change_no_answer(key: Key) -> None:
    right, rng = subject(key), np.random.default_rng(0)
    mutant = draw("two units exchanged", right, rng)
    if mutant is not None:
        assert Truth(right).harm(mutant.subject) == ""
        assert by_proof(mutant.subject.file, mutant.subject.machine).accepted


@pytest.mark.sample(3)
@EACH
def test_a_mutant_is_another_model(key: Key) -> None:
    right = subject(key)
    for name in KINDS:
        mutant = draw(name, right, np.random.default_rng(1))
        if mutant is not None:
            assert not same(mutant.subject, right)


def test_the_truth_is_found_at_the_last_letter() -> None:
    right = subject(COUNTER)
    table = right.file.tensors["embed.position"].copy()
    table[-1] += 100.0
    harm = Truth(right).harm(right.with_tensors({"embed.position": table}))
    assert harm == "wrong after letters [0, 0, 0, 0]"


def test_the_truth_of_long_words_is_sought_near_ties() -> None:
    long = Subject(krohn.compile("FlipFlop", 40, "memory").file, krohn.read("FlipFlop"))
    truth = Truth(long)
    assert not truth.exact
    assert truth.harm(long) == ""
    table = long.file.tensors["embed.position"].copy()
    table[-1] = 0.0
    assert truth.harm(long.with_tensors({"embed.position": table}))


def test_a_word_that_the_checker_names_is_tried() -> None:
    right = subject(MODELS[-3])
    bias = right.file.tensors["hidden.bias"].copy()
    bias[0] -= 2.0**-6  # what is lost at a wall adds up, letter by letter
    slow = right.with_tensors({"hidden.bias": bias})
    word = by_proof(slow.file, slow.machine).word
    assert len(word) > 30
    assert Truth(right).harm(slow) == ""
    assert Truth(right).harm(slow, word) == f"wrong after letters {list(word)}"


def test_a_claim_that_cannot_be_run_is_wrong() -> None:
    right = subject(COUNTER)
    longer = right.with_header(lambda h: h["claim"].update(length=10**18))
    assert "and can read at most" in Truth(right).harm(longer)


def test_reasons_are_counted_without_names_and_numbers() -> None:
    said = {
        reason_class(f"the file's channel {name!r} can be off by {by:.2g} at {(1, 2)}")
        for name, by in (("sum", 0.5), ("a'b", 1e-9))
    }
    assert len(said) == 2
    assert "the file's channel … can be off by # at (…)" in said


COUNTED = [
    (True, "", "harmless_accepted"),
    (False, "", "harmless_rejected"),
    (True, "wrong", "holes"),
    (False, "wrong", "harmful_rejected"),
]


@pytest.mark.parametrize(("accepted", "harm", "counted"), COUNTED)
def test_every_outcome_is_counted_once(accepted: bool, harm: str, counted: str) -> None:
    found = score([Outcome("sign flipped", "here", Judgement(accepted), harm, True)])
    assert found.mutants == 1
    assert getattr(found, counted) == 1
    assert sum(getattr(found, name) for *_, name in COUNTED) == 1
