"""The small checker of generators: its cases hold every prefix, and damage is refused."""

import json
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from krohn.algebra import zoo
from krohn.algebra.automaton import Automaton
from krohn.algebra.brackets import BracketDistribution, as_brackets, distribution
from krohn.architectures.generator.build import Freedom
from krohn.architectures.generator.check import (
    all_cases,
    check_claim,
    prove_law,
    tokens,
)
from krohn.architectures.generator.check_brackets import (
    Claim,
    brackets,
    read_claim,
)
from krohn.architectures.generator.check_layer_norm import (
    REAL,
    Head,
    head,
)
from krohn.architectures.generator.commands import compile_generator
from krohn.architectures.generator.find_words import run_all
from krohn.network.modelfile import ModelFile, pack
from krohn.network.precision import FloatArray
from krohn.program.errors import Refused
from krohn.verify.checker.arithmetic import FORMATS
from krohn.verify.checker.network import recheck
from krohn.verify.search.find import find, machine_of, model_of


def opened(
    name: str, length: int, free: Freedom, dtype: str
) -> tuple[BracketDistribution, Claim, Head]:
    machine = zoo.machine(name)
    file = compile_generator(name, length, free, dtype=dtype, proof=False).file
    model = model_of(file)
    claim = read_claim(model, machine_of(machine))
    rows, _ = tokens(model, claim, REAL)
    law = distribution(machine, claim.opening)
    return law, claim, head(model, 0, rows, FORMATS[dtype])


def indices(law: BracketDistribution, claim: Claim, word: tuple[int, ...]) -> list[int]:
    """The tokens of a prefix, the start in front."""
    stack = claim.brackets
    depths = [len(below) for below in law.stacks(word)[1:]]
    letters = zip(stack.letters.tolist(), stack.depths.tolist(), strict=False)
    token = {pair: i for i, pair in enumerate(letters)}
    return [2 * stack.pairs, *(token[p] for p in zip(word, depths, strict=True))]


def normalised(found: Head, read: list[int], dtype: str) -> FloatArray:
    """LN_C of the head at the last position, rounded after every step."""
    scores = found.scores[read, read[-1]].astype(dtype)
    weights = np.exp(scores - scores.max())
    weights = weights / weights.sum(dtype=dtype)
    mixed = np.zeros(found.values.shape[1], dtype=dtype)
    for weight, value in zip(weights, found.values[read].astype(dtype), strict=True):
        mixed = mixed + weight * value
    centred = mixed - mixed.mean(dtype=dtype)
    norm = np.sqrt((centred**2).sum(dtype=dtype))
    return (centred / max(norm, found.constant)).astype(np.float64)


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("name", "pattern", "dtype"),
    [
        ("Dyck3,2", "random", "float32"),
        ("Dyck2,3", "symmetric", "float64"),
        ("Dyck4,1", "uniform", "float32"),
        ("Dyck3,2", "symmetric", "float64"),
    ],
)
def test_every_prefix_lies_in_the_box_of_its_case(
    name: str, pattern: str, dtype: str
) -> None:
    law, claim, found = opened(name, 6, Freedom(pattern, seed=4, scale=0.5), dtype)
    cases, _ = all_cases(found, claim)
    by_law = {(c.token, tuple(claim.law(c.depth, c.top))): c for c in cases}
    closest = np.inf
    for length in range(7):
        for word, stack in law.prefixes(length):
            read = indices(law, claim, word)
            case = by_law[read[-1], law.law(stack)]
            seen = normalised(found, read, dtype)
            room = np.minimum(seen - case.normed.low, case.normed.high - seen)
            closest = min(closest, float(room.min()))
    assert closest >= 0


@pytest.mark.slow
@settings(max_examples=3)
@given(st.integers(0, 10_000))
def test_long_prefixes_in_float32_stay_within_the_bound(seed: int) -> None:
    law, claim, found = opened("Dyck4,2", 256, Freedom("uniform"), "float32")
    cases, _ = all_cases(found, claim)
    by_law = {(c.token, tuple(claim.law(c.depth, c.top))): c for c in cases}
    low = BracketDistribution(law.brackets, law.opening / 4)
    word = tuple(low.sample(np.random.default_rng(seed), 1, 256)[0].tolist())
    stacks = law.stacks(word)
    for end in range(200, 257):
        read = indices(law, claim, word[:end])
        case = by_law[read[-1], law.law(stacks[end])]
        seen = normalised(found, read, "float32")
        assert ((case.normed.low <= seen) & (seen <= case.normed.high)).all()


def test_cases_and_identities_are_counted_as_the_theorem_says() -> None:
    kinds, depth = 2, 4
    _, claim, found = opened("Dyck4,2", 50, Freedom("symmetric"), "float64")
    cases, facts = all_cases(found._replace(form=REAL), claim)
    assert facts["identities"] == kinds * depth * kinds * (depth - 1)
    assert len(cases) == kinds**2 * (depth - 1) + kinds * depth + kinds + 1
    assert facts["exactly balanced"]


def test_values_that_overlap_or_speak_at_the_start_are_refused() -> None:
    _, claim, found = opened("Dyck3,2", 8, Freedom("uniform"), "float64")
    overlapping, speaking = found.values.copy(), found.values.copy()
    overlapping[1] = overlapping[0]
    speaking[-1] = speaking[0]
    for values, trouble in ((overlapping, "overlap"), (speaking, "silent")):
        with pytest.raises(Refused, match=trouble):
            all_cases(found._replace(values=values), claim)


@pytest.mark.parametrize(
    "name", ["Dyck1,1", "Dyck1,3", "Dyck4,1", "Dyck2,3", "Dyck3,2"]
)
def test_stacks_are_recognised_and_their_laws_are_those_of_the_distribution(
    name: str,
) -> None:
    machine = zoo.machine(name)
    law = distribution(machine, Fraction(1, 3))
    found = brackets(machine_of(machine))
    claim = Claim(found, Fraction(1, 3), 1, Fraction(0))
    assert (found.kinds, found.depth) == (law.brackets.kinds, law.brackets.depth)
    for stack in law.brackets.stacks:
        if stack is not None:
            assert tuple(claim.law(len(stack), stack[-1] if stack else 0)) == law.law(
                stack
            )


@given(st.data())
@settings(max_examples=60)
def test_what_is_no_stack_is_refused(data: st.DataObject) -> None:
    machine = zoo.machine(data.draw(st.sampled_from(["Dyck1,2", "Dyck2,2", "Dyck3,1"])))
    table, states = machine.transitions.copy(), len(machine.states)
    for _ in range(data.draw(st.integers(1, 2))):
        place = data.draw(st.integers(0, table.size - 1))
        table.flat[place] = data.draw(st.integers(0, states - 1))
    start = data.draw(st.integers(0, states - 1))
    structure = type(machine.semiautomaton)(table, machine.letters, machine.states)
    changed = Automaton(structure, start)
    known = as_brackets(changed)
    if known is not None and known.stacks[start] == ():
        assert brackets(machine_of(changed)).depth == known.depth
    else:
        with pytest.raises(Refused, match="no empty stack"):
            brackets(machine_of(changed))


@cache
def built(depth: str = "given", dtype: str = "float32") -> ModelFile:
    free = Freedom("uniform", depth)
    return compile_generator("Dyck2,2", 6, free, dtype=dtype, proof=False).file


def packed(file: ModelFile) -> bytes:
    return pack(file.header, file.tensors)


@pytest.mark.sample(1)
@pytest.mark.parametrize("depth", ["given", "attended"])
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
def test_evidence_is_found_and_accepted(depth: str, dtype: str) -> None:
    data = packed(built(depth, dtype))
    evidence = find(data)
    found = recheck(data, json.dumps(evidence).encode()).facts()
    assert (found["length"], found["dtype"]) == (6, dtype)
    assert found["law"]["error"] <= evidence["error"] < 2.0**-10


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        ("opening", "1/3", "can be"),
        ("opening", "2/4", "fraction between"),
        ("opening", "1/0", "no probability"),
        ("opening", "3/2", "fraction between"),
        ("opening", 0.5, "no probability"),
        ("tolerance", -1.0, "the tolerance -1.0"),
        ("tolerance", 1.0, "claims no tolerance"),
        ("tolerance", True, "the tolerance True"),
        ("tolerance", 0.0, "the tolerance 0.0"),
        ("tolerance", 0, "the tolerance 0$"),
        ("length", 0, "the length 0"),
        ("length", True, "the length True"),
        ("length", 2**30, "."),
    ],
)
def test_claims_that_do_not_hold_are_refused(key: str, value: Any, reason: str) -> None:
    file = compile_generator("Dyck2,3", 6, Freedom("uniform"), proof=False).file
    claim = {**file.header["claim"], key: value}
    said = replace(file, header={**file.header, "claim": claim})
    with pytest.raises(Refused, match=reason):
        check_claim(model_of(said), {}, None)


@pytest.mark.parametrize("kind", [float, bool, str])
def test_moves_of_another_type_are_refused(kind: Any) -> None:
    """1.0 is no step from one row of a table to the next."""
    file = compile_generator("Dyck1,2", 4, proof=False).file
    shape = file.header["architecture"]
    shape = {**shape, "moves": [kind(abs(m)) for m in shape["moves"]]}
    said = replace(file, header={**file.header, "architecture": shape})
    with pytest.raises(Refused, match="'moves' is"):
        check_claim(model_of(said), {}, None)


def test_a_query_so_large_that_what_is_added_is_rounded_away_is_refused() -> None:
    """X is in both dimensions of a pair, whose difference hides it from the MLP."""
    machine = zoo.machine("Dyck2,2")
    found = compile_generator(
        "Dyck2,2", 4, Freedom("uniform"), dtype="float16", proof=False
    )
    letters = found.file.tensors["embed.letter"].copy()
    letters[..., 9:] = 2.0**14
    file = replace(found.file, tensors={**found.file.tensors, "embed.letter": letters})
    assert not run_all(file, machine, 4, lambda done, total: None).has_passed
    with pytest.raises(Refused):
        check_claim(model_of(file), {}, machine_of(machine))


def scaled(file: ModelFile, power: int) -> ModelFile:
    """The same function, with values and constant of the last layer times 2^power."""
    at = f"layers.{len(file.header['architecture']['layers']) - 1}"
    names = (f"{at}.attention.value", f"{at}.constant")
    tensors = {n: file.tensors[n] * 2.0**power for n in names}
    return replace(file, tensors={**file.tensors, **tensors})


@pytest.mark.sample(1)
@pytest.mark.parametrize("depth", ["given", "attended"])
def test_values_whose_squares_leave_the_range_are_refused(depth: str) -> None:
    """LayerNorm adds up squares: with values of 2^66 float32 divides by infinity."""
    file = built(depth)
    for power in (-40, 40):
        law = check_claim(model_of(scaled(file, power)), {}, None).told["law"]
        assert law["error"] == check_claim(model_of(file), {}, None).error
    for power, reason in ((66, "overflow"), (120, "overflow"), (-60, "C too small")):
        with pytest.raises(Refused, match=reason):
            check_claim(model_of(scaled(file, power)), {}, None)


def test_without_rounding_the_error_is_that_of_the_stored_law() -> None:
    model = model_of(built(dtype="float64"))
    claim = read_claim(model, model.machine)
    assert prove_law(model, claim, REAL).error == 0
