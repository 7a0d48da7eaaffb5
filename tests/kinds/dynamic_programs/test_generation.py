"""Theorem 5g on Programs alone: what is accepted is written; what costs much is refused."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hostile import bounded

from krohn.kinds.dynamic_programs import check as generation
from krohn.kinds.dynamic_programs.build import chain_of_thought
from krohn.kinds.dynamic_programs.check import check
from krohn.kinds.dynamic_programs.statement import (
    Argument,
    ChainOfThought,
    Step,
)
from krohn.program import Map, Operation, Program, Token, table
from krohn.program.errors import Refused
from krohn.program.expressions import argument
from krohn.program.language import program_to_wire
from krohn.program.operations.base import Frame
from krohn.program.statement import Statement, parse
from krohn.program.whole_expressions import maximum, minimum

X, Y = argument(0), argument(1)


def chain(steps: list[Step], numbers: int = 4, other: int = 0) -> ChainOfThought:
    """One number, one more token that may stand there, and some steps."""
    return ChainOfThought(
        "small",
        tuple(map(str, range(numbers + 1))),
        (*range(numbers), other),
        numbers,
        ((0, numbers),),
        (maximum(X, Y), minimum(X, Y)),
        tuple(steps),
        1 + len(steps),
    )


def statement(program: Program, most: int = 40) -> Statement:
    """The Program with domains that are wide enough."""
    domains = {name: tuple(range(most)) for name in program.operations}
    said = program_to_wire(
        replace(program, domains={**domains, **program.domains}), {}, {}
    )
    return parse(said, len(program.letters), program.length)


def copying(content: int) -> Program:
    """A Program that says 0 or the content of one token, through a second table."""
    ends = (0, content)
    operations: dict[str, Operation] = {
        "token": Token(),
        "content": Map(table({(0,): 0, (1,): content, (2,): 0}), ("token",)),
        "next": Map(table({(x,): x for x in ends}), ("content",)),
    }
    domains = {"token": (0, 1, 2), "content": ends, "next": ends}
    decode = {(x,): i for i, x in enumerate(ends)}
    letters = ("t0", "t1")
    return Program(letters, 2, 1, operations, ("next",), decode, domains=domains)


def test_numbers_far_apart_are_not_listed() -> None:
    """Two contents, and 2^31 − 3 numbers between them that do not occur."""
    source = chain([Step(None, 0, (Argument(1, 0),) * 2)], 1, 2**31 - 2)
    with bounded(), pytest.raises(Refused, match=r"too many values|tokens for"):
        check(statement(copying(2**31 - 2)), source)
    fixed = chain([Step(0, 0, ())], 1, 2**31 - 2)
    with bounded(), pytest.raises(Refused, match="too many values"):
        check(statement(copying(2**31 - 2)), fixed)


@pytest.mark.slow
def test_steps_of_many_numbers_are_counted_first() -> None:
    short = chain([Step(None, 0, (Argument(1, 0),) * 2)], 300)
    long = replace(short, steps=short.steps * 60_000)
    program = statement(chain_of_thought(short), 400)
    longer = replace(program, frame=Frame(program.letters, 60_000))
    with bounded(), pytest.raises(Refused, match="too many tokens"):
        check(longer, long)


@pytest.mark.slow
def test_long_rules_of_many_steps_are_counted_first() -> None:
    rule = maximum(*map(argument, range(40)))
    reads = (Argument(1, 0),) * 40
    long = chain([Step(None, 0, reads)] * 20_000)
    with bounded(), pytest.raises(Refused, match="too long"):
        replace(long, rules=(rule,)).boxes()


@pytest.mark.slow
def test_a_read_of_another_place_is_another_text() -> None:
    """Of all places that two steps may read the Program writes only its own."""
    found = []
    for places in product((0, 1, 2), repeat=2):
        steps = [Step(None, 0, (Argument(1, 0), Argument(0, 1)))]
        steps.append(Step(None, 1, tuple(Argument(p, 0) for p in places)))
        found.append(chain(steps))
    for own, other in product(found, repeat=2):
        prompts = np.arange(5)[:, None]
        same = np.array_equal(
            own.continue_prompts(prompts), other.continue_prompts(prompts)
        )
        try:
            check(statement(chain_of_thought(own)), other)
        except Refused:
            assert own != other
        else:
            assert same


def test_channels_at_all_places_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before one is looked at; here forty channels and places are the most."""
    monkeypatch.setattr(generation, "CHANNEL", generation.MOST_WORK // 40)
    few, many = (chain([Step(None, 0, (Argument(1, 0),) * 2)] * n) for n in (2, 9))
    check(statement(chain_of_thought(few)), few)

    def looked_at(*_: object) -> None:
        raise AssertionError("a channel was looked at")

    monkeypatch.setattr(generation.Text, "at", looked_at)
    with pytest.raises(Refused, match="too many channels"):
        check(statement(chain_of_thought(many)), many)


def test_outputs_of_steps_are_counted_with_their_numbers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source = chain([Step(None, 0, (Argument(1, 0),) * 2)])
    program = statement(chain_of_thought(source))
    twice = replace(program, outputs=program.outputs * 2)
    monkeypatch.setattr(generation, "MOST_VALUES", 5)
    with pytest.raises(Refused, match="too many tokens"):
        check(twice, source)


def test_a_text_has_a_prompt() -> None:
    """What a network says at the start symbol is no answer."""
    with pytest.raises(Refused, match="there is no prompt"):
        replace(chain([Step(0, 0, ())]), prompt=(), answer=1)
