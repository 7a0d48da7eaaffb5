"""Heads for the earliest flag and for where digits point: spoilt ones are refused."""

import json
from typing import Any

import numpy as np
import pytest
import torch
from model_files import lowered, place, redescribed, stated, with_entries, with_tensors
from pointer_programs import machine, program
from slices_here import needs

from krohn.compiler.pipeline import Options, arrange, optimise
from krohn.compiler.transformer import describe, lower
from krohn.instruments.attack.campaign import (
    Extent,
    attack,
)
from krohn.instruments.attack.residual_stream import values as true_values
from krohn.network.model import Model
from krohn.network.modelfile import ModelFile, pack
from krohn.network.precision import PRECISIONS
from krohn.page.verification_page import operations
from krohn.program import AtAnywhere, Map, Position, Program, Token, table
from krohn.program.errors import Refused
from krohn.program.interpreter import interpret
from krohn.program.statement import parse
from krohn.verify.proof import prove
from krohn.verify.search.find import find
from krohn.verify.testing.exhaustive import exhaustive

torch.set_num_threads(1)

WORD, LENGTH = (0, 1, 1, 2), 6
MACHINE = machine(WORD)
FIRST, POINTER = "first2", "last12"
DAMAGES = {
    "later flags first": ("key", FIRST, "index", 0, -1.0),
    "no order": ("key", FIRST, "index", 0, 0.0),
    "flags do not count": ("key", FIRST, "test2", 0, 0.0),
    "flags count against": ("key", FIRST, "test2", 0, -1.0),
    "flags count too little": ("key", FIRST, "test2", 0, 1 / 8),
    "the scale is turned round": ("query", FIRST, "one", 0, -1.0),
    "the scale is nothing": ("query", FIRST, "one", 0, 0.0),
    "one position comes too early": ("position", 4, "index", 0, 0.0),
    "a digit does not count": ("query", POINTER, "last2[0]", 0, 0.0),
    "a digit is turned round": ("query", POINTER, "last2[1]", 0, -1.0),
    "a digit of the key is turned round": ("key", POINTER, "bits", 1, -1.0),
    "a digit of the key is nothing": ("key", POINTER, "bits", 0, 0.0),
    "BOS is no sink": ("key", POINTER, "bos", 0, 0.0),
    "BOS is above what is pointed at": ("key", POINTER, "bos", 0, 3.0),
    "pointers have no scale": ("query", POINTER, "one", 0, 0.0),
    "a digit of one position is wrong": ("position", 3, "bits", 0, -1.0),
    "another position is a sink": ("position", 2, "bos", 0, 2.0),
    "a pointer counts twice": ("weight", 0, POINTER, 0, 2.0),
    "a pointer is not read": ("weight", 0, POINTER, 0, 0.0),
    "what is left counts against": ("weight", 0, FIRST, 0, -1.0),
    "the step is elsewhere": ("bias", 0, "test4", 0, 1.0),
    "the step is half as high": ("bias", 1, "test4", 0, -0.5),
}
"""What is multiplied: a row of a head's matrix or of a layer of the last test's MLP, by the
head or the layer and the feature or channel that it reads. Of the table of positions an
entry is set, and biases are moved.
"""
# A pointer to nothing then reads positions 1, 2 and 4, where pointers are low here.
LUCKY = ("BOS is no sink",)


@pytest.fixture(scope="module")
def right() -> ModelFile:
    return lowered(program(WORD, LENGTH), MACHINE)


def damaged(
    file: ModelFile, part: str, at: Any, name: str, offset: int, by: float
) -> Any:
    row, block = (
        place(file, name) + offset,
        stated(file, "test4")["snapshots"][0] // 2 - 1,
    )
    if part == "position":
        return with_entries(file, "embed.position", (at, row), by)
    if part == "bias":
        return with_entries(
            file, f"blocks.{block}.mlp.{at}.bias", ..., lambda b: b + by
        )
    if part == "weight":
        weight = f"blocks.{block}.mlp.{at}.weight"
        return with_entries(file, weight, row, lambda old: by * old)
    head = stated(file, at)
    matrix = f"blocks.{(head['snapshots'][0] - 1) // 2}.attention.{part}"
    return with_entries(file, matrix, (head["head"], row), lambda old: by * old)


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_network_is_noticed(name: str, right: ModelFile) -> None:
    wrong = damaged(right, *DAMAGES[name])
    if name not in LUCKY:
        assert not exhaustive(Model(wrong), MACHINE, LENGTH).has_passed
    assert prove(wrong, MACHINE).verdict != "verified"
    with pytest.raises(Refused):
        find(pack(wrong.header, wrong.tensors))


LONGEST = {"float32": 512, "float64": 512, "float16": 60, "bfloat16": 127}


@pytest.mark.sample(1)
@pytest.mark.parametrize("dtype", LONGEST)
def test_every_format_is_proved(dtype: str) -> None:
    file = lowered(program(WORD, LONGEST[dtype]), MACHINE, dtype)
    assert prove(file, MACHINE).verdict == "verified"


@pytest.mark.sample(1)
@pytest.mark.parametrize("dtype", LONGEST)
def test_the_network_is_right_on_all_words(dtype: str) -> None:
    """Also in the strict form, which has one hidden layer."""
    for strict in (False, True):
        file = lowered(program(WORD, 7), MACHINE, dtype, strict)
        assert exhaustive(Model(file), MACHINE, 7).has_passed


@pytest.mark.slow
def test_the_strict_form_is_proved() -> None:
    """The comparison of positions is rounded before a head reads it."""
    file = lowered(program(WORD, 512), MACHINE, strict=True)
    assert prove(file, MACHINE).verdict == "verified"
    blocks = file.header["architecture"]["blocks"]
    assert all(len(block["mlp"]) == 1 for block in blocks)
    assert sum(block["heads"] > 0 for block in blocks) == 2


def test_a_comparison_is_two_units_at_every_length() -> None:
    """One step along the sum of two positions, not a table of them."""
    for length in (16, 512):
        file = lowered(program((0, 1), length), machine((0, 1)))
        assert file.header["architecture"]["blocks"][0]["mlp"] == [1, 1]


def test_digits_must_be_there_and_binary(right: ModelFile) -> None:
    """A letter in the place of a digit, and one digit twice."""
    for other in ("is0", "last2[1]", "before"):
        digits = [other, *stated(right, POINTER)["digits"][1:]]
        wrong = redescribed(right, POINTER, digits=digits)
        assert prove(wrong, MACHINE).verdict != "verified"
        with pytest.raises(Refused):
            find(pack(wrong.header, wrong.tensors))


@pytest.mark.slow
@pytest.mark.parametrize(("dtype", "length"), [("float32", 40), ("bfloat16", 30)])
def test_no_arithmetic_violates_a_bound(dtype: str, length: int) -> None:
    """Words bred to be bad, noise at its bounds; leaks come close to theirs."""
    file = lowered(program(WORD, length), MACHINE, dtype)
    found = attack(
        file, MACHINE, prove(file, MACHINE), Extent(positions=15_000), seed=1
    )
    assert found.has_passed, found.violations[0]
    for kind in ("earliest: leak", "at: leak"):
        assert 0.9 < found.tightest[kind].share <= 1


def test_attacks_evaluate_what_the_operations_mean(right: ModelFile) -> None:
    said = parse(right.header["program"], 3, LENGTH)
    words = np.random.default_rng(0).integers(0, 3, (200, LENGTH))
    meant = true_values(said, torch.from_numpy(words))
    values = interpret(program(WORD, LENGTH), words)
    for name in ("seen1", FIRST, POINTER, "test4"):
        assert np.array_equal(meant[name].numpy(), values[name])


def test_pages_and_drawings_say_where_a_head_points(right: ModelFile) -> None:
    """The digits of a pointer are one bar, and what the head does is one phrase."""
    rows, left = operations(right, {}, embedded=True)
    does = {row.name: row.does for row in rows}
    assert not left
    digits = "whose binary digits, the lowest first, are last2[0], last2[1], last2[2]"
    at = f"the position so far {digits}"
    assert does[POINTER] == f"last1 at {at}"
    assert does[FIRST] == "left at the first letter where test2 is 1"
    assert "last2[0..2]" in does


@needs("kinds.sequence_functions")
def test_where_a_head_of_the_whole_word_points_is_looked_at_beyond_its_position() -> (
    None
):
    """Positions 1 and 2 ask for 1, position 3 for itself; then 3 answers them all."""
    asked, letters = (0, 1, 1, 3), {(x,): x for x in range(3)}
    digits = (Position(tuple(p >> b & 1 for p in asked)) for b in range(2))
    source = Program(
        ("a", "b"),
        3,
        3,
        {
            "token": Token(),
            "letter": Map(table(letters), ("token",)),
            **dict(zip(("d0", "d1"), digits, strict=True)),
            "said": AtAnywhere("letter", ("d0", "d1")),
        },
        ("said",),
        letters,
    )
    options = Options(PRECISIONS["float32"])
    layout, features = arrange(optimise(source, options), options)
    network = lower(layout, features, False)
    told = json.loads(json.dumps(describe(layout, network)))
    names = {"letters": ["a", "b"], "classes": ["a", "b", "none"]}
    header = {
        "architecture": network.architecture,
        "claim": {"kind": "exact", "length": 3, "dtype": "float32"},
        "program": told,
        "source": {"kind": "program", "name": "asked", "program": told, **names},
    }
    file = ModelFile(header, network.tensors, options.precision)
    assert prove(file, None).verdict == "verified"
    position = file.tensors["embed.position"].copy()
    position[3, slice(*told["features"]["bits"])] = 5, -1
    wrong = with_tensors(file, {"embed.position": position})
    words = torch.tensor([[0, 0, 1]])
    assert Model(wrong)(words).argmax(dim=-1).tolist() == [[1, 1, 1]]
    assert Model(file)(words).argmax(dim=-1).tolist() == [[0, 0, 1]]
    assert "read wrong positions" in prove(wrong, None).reason
