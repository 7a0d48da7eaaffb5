"""A model that forgets: a window of the last letters, with a unit for each context."""

from dataclasses import replace

import numpy as np

from krohn.compiler.compiled_network import CompiledNetwork, compile_program
from krohn.compiler.output_programs import vectors_of
from krohn.compiler.pipeline import Options
from krohn.program import Map, Operation, Program, Row, Shift, Table, Token, Vectors
from krohn.program.domains import joint
from krohn.sources.hidden_markov import HiddenMarkovModel
from krohn.sources.hidden_markov.beliefs import Contexts

NAME = "window"
SUMMARY = "look at the last letters side by side; a unit for each context says its law"


def network(
    model: HiddenMarkovModel, found: Contexts, length: int, options: Options
) -> CompiledNetwork:
    """The network that says the law of the context of each word."""
    laws = vectors_of(found.laws, options.precision)
    program = window(model, found, laws, length)
    return replace(compile_program(program, options), construction=NAME)


def window(
    model: HiddenMarkovModel, found: Contexts, laws: Vectors, length: int
) -> Program:
    """The Program: one layer of look-backs, and a table of the letters that they see."""
    letters = len(model.letters)
    codes = np.arange(letters + 1)
    operations: dict[str, Operation] = {
        "token": Token(),
        "letter": Map(Table(codes[:, None], codes), ("token",)),
    }
    backs = [f"back{by}" for by in range(1, found.width)]
    operations |= {name: Shift("letter", by) for by, name in enumerate(backs, 1)}
    rows = joint([codes] * found.width)
    values = found.numbers.reshape(-1)
    operations["belief"] = Map(Table(rows, values), ("letter", *backs))
    decode: dict[Row, int] = {(value,): value for value in range(len(found.laws))}
    return Program(
        letters=model.letters,
        states=model.size,
        length=length,
        operations=operations,
        outputs=("belief",),
        decode=decode,
        one_hot=frozenset(["letter", *backs]),
        vectors={"belief": laws},
    )
