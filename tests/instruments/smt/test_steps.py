"""Gadgets of chains of thought, in the weights that the compiler emits, for all reals."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import z3

import krohn
from krohn.instruments.smt.steps import (
    Question,
    decide_steps,
)
from krohn.kinds.dynamic_programs.commands import ChainsOfThought
from krohn.kinds.dynamic_programs.statement import ChainOfThought
from krohn.verify.errors import Rejected

KIND = ChainsOfThought()
MOST = 9
HALF, NEARLY = Fraction(1, 2), Fraction(1, 2) - Fraction(1, 2**20)
Made = Callable[..., Any]


def minimum(*items: Any) -> Any:
    first, *others = items
    for other in others:
        first = z3.If(other < first, other, first)
    return first


def clipped(x: Any) -> Any:
    """X cut off at 0 and 1."""
    return z3.If(x < 0, 0, z3.If(x > 1, 1, x))


def whole(x: Any) -> Any:
    return z3.Or([x == k for k in range(MOST + 1)])


def always(*_: Any) -> Any:
    return z3.BoolVal(True)


GADGETS: dict[str, tuple[Made, Made, Made]] = {
    "minimum": (
        lambda p, a, b, c: p.minimum(a, b),
        lambda a, b, c: minimum(a, b),
        always,
    ),
    "maximum": (
        lambda p, a, b, c: p.maximum(a, b, c),
        lambda a, b, c: -minimum(-a, -b, -c),
        always,
    ),
    "comparison": (lambda p, a, b, c: a > b, lambda a, b, c: clipped(a - b), always),
    "at least": (lambda p, a, b, c: a >= b, lambda a, b, c: 1 - clipped(b - a), always),
    "difference": (
        lambda p, a, b, c: a != b,
        lambda a, b, c: clipped(z3.If(a > b, a - b, b - a)),
        always,
    ),
    "selection": (
        lambda p, a, b, c: p.choose(a > 4, b, c),
        lambda a, b, c: z3.If(a >= 5, b, c),
        lambda a, b, c: whole(a),
    ),
    "both and either": (
        lambda p, a, b, c: ((a > 4) & (b > 4)) | (c > 4),
        lambda a, b, c: z3.If(z3.Or(z3.And(a > 4, b > 4), c > 4), 1, 0),
        lambda a, b, c: z3.And(whole(a), whole(b), whole(c)),
    ),
    "product": (
        lambda p, a, b, c: p.minimum(a, 3) * b,
        lambda a, b, c: z3.If(a >= 3, 3, z3.If(a >= 2, 2, z3.If(a >= 1, 1, 0))) * b,
        lambda a, b, c: whole(a),
    ),
}


def places(source: ChainOfThought) -> list[int]:
    """Which of the three inputs each argument of the only rule is."""
    (step, *_) = [s for s in source.steps if s.token is None]
    return [(read.place - 1) // 2 for read in step.reads]


def of_inputs(made: Made, source: ChainOfThought) -> Callable[[Sequence[Any]], Any]:
    """A function of three numbers as one of what the tokens count that a step reads.

    A token counts as much as its number is above the least one that has a token.
    """
    least = int(source.tokens[0])

    def one(reads: Sequence[Any]) -> Any:
        given = [z3.RealVal(0)] * 3
        for at, read in zip(places(source), reads, strict=True):
            given[at] = read + least
        return made(*given)

    return one


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", GADGETS)
def test_what_is_emitted_is_the_function_for_all_real_numbers(name: str) -> None:
    """0 ≤ a, b, c ≤ 9, all weights as stored; another function is refuted by numbers."""
    built, wanted, where = GADGETS[name]
    p = krohn.dynamic_program("gadget")
    a, b, c = (p.input(n, 1, numbers=(0, MOST))[1] for n in "abc")
    p.answer(built(p, a, b, c))
    file, source = krohn.compile(p).file, p.chain_of_thought

    def counted(*inputs: Any) -> Any:
        return wanted(*inputs) - int(source.tokens[0])

    asked = Question(rule=of_inputs(counted, source), where=of_inputs(where, source))
    (found,) = decide_steps(file, source, asked)
    assert found.verdict == "verified"
    other = replace(asked, rule=lambda reads: wanted_off(asked, reads))
    (found,) = decide_steps(file, source, other)
    assert found.verdict == "refuted"
    assert found.said != found.wanted


def wanted_off(asked: Question, reads: Sequence[Any]) -> Any:
    """The function, but 1/1000 more where the first argument is 7 or more."""
    assert asked.rule is not None
    return asked.rule(reads) + z3.If(reads[0] >= 7, z3.RealVal("1/1000"), z3.RealVal(0))


@pytest.mark.slow
def test_a_table_is_a_line_that_bends_at_whole_numbers() -> None:
    source = KIND.find_by_name("Viterbi2")
    assert source is not None
    file = krohn.compile(source).file
    found = list(decide_steps(file, source.chain_of_thought, Question()))
    assert {f.verdict for f in found} == {"verified"}


@pytest.mark.slow
@pytest.mark.parametrize("addresses", ["binary", "quadratic"])
@pytest.mark.parametrize("name", ["EditDistance3,3:letters=4", "LIS4", "Knapsack2,3"])
def test_all_steps_of_a_text_are_their_rules_for_all_real_numbers(
    name: str, addresses: str
) -> None:
    source = KIND.find_by_name(name)
    assert source is not None
    file = krohn.compile(source, addresses=addresses).file
    chain = source.chain_of_thought
    found = list(decide_steps(file, chain, Question()))
    assert len(found) == sum(step.token is None for step in chain.steps)
    assert {f.verdict for f in found} == {"verified"}


@pytest.mark.slow
def test_edit_distance_takes_noise_of_a_fourteenth() -> None:
    """Heads off by e, and the number said is off by 7e at most, which that is."""
    source = KIND.find_by_name("EditDistance2,2:letters=3")
    assert source is not None
    chain, file = source.chain_of_thought, krohn.compile(source).file
    few = Question(noise=Fraction(1, 14), error=HALF)
    assert {f.verdict for f in decide_steps(file, chain, few)} == {"verified"}
    found = list(decide_steps(file, chain, replace(few, error=NEARLY)))
    assert "refuted" in {f.verdict for f in found}
    more = replace(few, noise=Fraction(1, 13))
    wrong = [f for f in decide_steps(file, chain, more) if f.verdict == "refuted"]
    assert all(abs(f.said - f.wanted) > HALF for f in wrong)
    assert wrong


@pytest.mark.sample(1)
@pytest.mark.parametrize("at", ["1.mlp.0.weight", "2.mlp.0.bias", "1.mlp.1.weight"])
def test_a_changed_weight_is_refuted_with_numbers(at: str) -> None:
    source = KIND.find_by_name("EditDistance2,2:letters=3")
    assert source is not None
    file = krohn.compile(source).file
    name = f"blocks.{at}"
    tensor = file.tensors[name].copy()
    flat = tensor.reshape(-1)
    flat[np.flatnonzero(flat)[-1]] *= 1.5
    damaged = replace(file, tensors={**file.tensors, name: tensor})
    found = list(decide_steps(damaged, source.chain_of_thought, Question()))
    assert "refuted" in {f.verdict for f in found}


@pytest.mark.slow
def test_networks_of_other_heads_are_not_read() -> None:
    for kind in ("sparse", "linear"):
        model = krohn.compile("EditDistance2,2:letters=3", attention=kind)
        with pytest.raises(Rejected, match="softmax heads"):
            next(decide_steps(model.file, KIND.of_file(model.file), Question()))
