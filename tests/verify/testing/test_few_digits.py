"""Forward passes whose numbers have few digits, and the fewest that are enough."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from every_kind import compiled

import krohn
from krohn import cli
from krohn.algebra.errors import KrohnError
from krohn.network.short_mantissas import ShortMantissas
from krohn.verify.testing.few_digits import FewestDigits


def test_all_results_have_so_many_digits() -> None:
    x = torch.randn(
        500, dtype=torch.float64, generator=torch.Generator().manual_seed(0)
    )
    with ShortMantissas(24):
        copied, table = x * 1, torch.zeros(2, 500, dtype=torch.float64)
        table[0] = x
        infinite = torch.tensor([torch.inf, -torch.inf, 1e308], dtype=torch.float64) * 1
    assert torch.equal(copied, x.float().double())
    assert torch.equal(table[0], copied)
    assert infinite.tolist()[:2] == [torch.inf, -torch.inf]
    assert not torch.equal(x, copied)


def fewest(file: object, most: int = 24, sample: int = 8) -> FewestDigits:
    digits = krohn.verify(file, sample=sample, digits=most).digits
    assert digits is not None
    return digits


@pytest.mark.slow
@pytest.mark.parametrize("attention", ["standard", "linear", "sparse"])
def test_texts_survive_few_digits_and_not_fewer(attention: str) -> None:
    """Heads take fewer than the read-out, which squares the numbers that it tells apart."""
    name = "EditDistance2,2:letters=4"
    digits = fewest(krohn.compile(name, attention=attention))
    assert digits.everywhere is not None
    assert digits.in_heads is not None
    assert 5 < digits.everywhere <= 8
    assert 1 < digits.in_heads <= 5


@pytest.mark.sample(1)
@pytest.mark.parametrize("k", [3, 10, 23])
def test_a_network_by_hand_needs_one_digit_more_than_its_bias(k: int) -> None:
    """It says whether the last letter, stored as 2^k − 1 or 2^k + 1, is above 2^k.

    The larger one has k + 1 digits; with k it is 2^k, and both logits are alike.
    """
    table = {state: {"0": "a", "1": "b"} for state in "ab"}
    file = krohn.compile(table, length=4).file
    assert not file.header["architecture"]["blocks"]
    letters = np.array([[2**k - 1], [2**k + 1], [0.0]])
    own = {"embed.token": letters, "unembed.weight": np.array([[0.0, 1]])}
    own["unembed.bias"] = np.array([0.0, -(2**k)])
    by_hand = replace(file, tensors=file.tensors | own)
    assert fewest(by_hand) == FewestDigits(24, 8, k + 1, False, None)
    assert fewest(by_hand, most=k) == FewestDigits(k, 8, None, False, None)


@pytest.mark.sample(1)
@pytest.mark.parametrize("length", [8, 20, 50])
def test_a_flip_flop_needs_the_digits_of_its_largest_scores(length: int) -> None:
    """The head scores 32 (j + p) at a letter j that writes, p a power of 2 above T.

    All these numbers have as many digits as p; with one less two in a row are the same.
    """
    file = krohn.compile("FlipFlop", length=length).file
    p = int(file.tensors["blocks.0.attention.key"].max())
    assert length < p == 2 ** (p.bit_length() - 1)
    digits = fewest(file, sample=64)
    assert (digits.everywhere, digits.in_heads) == (p.bit_length(), p.bit_length())


def test_what_is_not_right_with_the_most_says_so() -> None:
    digits = fewest(krohn.compile("FlipFlop", length=20), most=3)
    assert digits == FewestDigits(3, 8, None, True, None)
    assert "wrong with 3 binary digits everywhere" in str(digits)


@pytest.mark.slow
def test_a_recurrent_network_of_units_needs_one_digit() -> None:
    digits = fewest(krohn.compile("C3", arch="rnn"))
    assert digits == FewestDigits(24, 8, 1, False, None)


@pytest.mark.slow
def test_what_rounding_holds_needs_just_its_own_format() -> None:
    """A state space model keeps a bit by the rounding of float32, which is its proof."""
    model = krohn.compile("FlipFlop", arch="ssm")
    assert fewest(model, 24, sample=4) == FewestDigits(24, 4, 24, False, None)
    assert fewest(model, 53, sample=4) == FewestDigits(53, 4, None, False, None)


@pytest.mark.slow
def test_the_command_says_it_beside_a_proof(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / "f.safetensors")
    krohn.compile("FlipFlop", length=20).save(path)
    assert cli.run(["verify", path, "--digits", "9", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["method"] == "proof"
    assert answer["digits"] == vars(FewestDigits(9, 32, 6, True, 6))
    assert cli.run(["verify", path, "--digits", "9", "--sample", "5"]) == 2
    assert "tested on 5 inputs, not proved: right with" in capsys.readouterr().out
    assert cli.run(["verify", path, "--digits", "54"]) == 2


@pytest.mark.sample(1)
@pytest.mark.parametrize("kind", ["hidden-markov", "generator"])
def test_numbers_and_laws_are_neither_right_nor_wrong(kind: str) -> None:
    with pytest.raises(KrohnError, match="networks that say classes or texts"):
        krohn.verify(compiled(kind), digits=9)


def test_digits_are_those_of_float64() -> None:
    file = krohn.compile("FlipFlop", length=4)
    for digits, why in ((54, "up to 53"), (0, "at least 1"), ("9", "whole number")):
        with pytest.raises(KrohnError, match=why):
            krohn.verify(file, digits=digits)  # type: ignore[arg-type]
