"""The functions of the catalogue: what they say, and that their networks are proved."""

import re
from itertools import product
from random import Random
from typing import Any

import pytest
import torch
from plain_functions import PLAIN

import krohn
from krohn.kinds.sequence_functions.source_catalogue import (
    FUNCTIONS,
    shuffle_dyck,
)
from krohn.network.model import Model
from krohn.verify.proof import prove

SHORT, LONG = 9, 64
LARGE = {"pair-balance"}


def words(letters: tuple[str, ...], length: int) -> list[str]:
    """All short words, and some of up to ``length`` letters."""
    random = Random(0)
    every = [w for n in range(1, 4) for w in product(letters, repeat=n)]
    drawn = [random.choices(letters, k=random.randint(1, length)) for _ in range(40)]
    opening = [letters[0]] * (length // 2) + [letters[1]] * (length // 2)
    return ["".join(w) for w in (*every, *drawn, opening)]


def test_each_is_said_in_plain_python() -> None:
    assert FUNCTIONS.keys() == PLAIN.keys()


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_it_says_what_plain_python_says(name: str) -> None:
    function = FUNCTIONS[name]()
    for word in words(function.letters, SHORT):
        assert function.run(word) == PLAIN[name](word), word


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_its_network_is_proved_and_says_the_same(name: str) -> None:
    function = FUNCTIONS[name]()
    compiled = krohn.compile(function, SHORT)
    assert compiled.summary()["verdict"] == "verified"
    model = Model(compiled.file)
    for word in words(function.letters, SHORT):
        said = [str(int(v) if isinstance(v, bool) else v) for v in PLAIN[name](word)]
        assert model.run(word) == said, word


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", sorted(FUNCTIONS.keys() - LARGE))
def test_it_is_proved_for_64_letters(name: str) -> None:
    function = FUNCTIONS[name]()
    compiled = krohn.compile(function, LONG)
    assert compiled.summary()["verdict"] == "verified"


@pytest.mark.slow
@pytest.mark.parametrize("name", LARGE)
def test_large_ones_are_proved_for_64_letters(name: str) -> None:
    test_it_is_proved_for_64_letters(name)


def test_a_network_that_sees_the_whole_word_is_not_run_letter_by_letter() -> None:
    compiled = krohn.compile(shuffle_dyck(), 4)
    with pytest.raises(Exception, match="as a whole"):
        Model(compiled.file).network.start()


def test_bos_sees_itself_only() -> None:
    """At position 0 every channel has one value, whatever the word."""
    compiled = krohn.compile(FUNCTIONS["reverse"](), 4)
    network = Model(compiled.file).network
    streams = [network.snapshots(torch.tensor([w])) for w in ([0, 1], [2, 2, 0, 1])]
    for one, other in zip(*streams, strict=True):
        assert torch.equal(one[:, 0], other[:, 0])


def test_a_source_that_decodes_nothing_is_refused() -> None:
    file = krohn.compile(FUNCTIONS["parity"](), 4).file
    file.header["source"]["program"]["decode"].pop()
    assert "no class" in prove(file, None).reason


@pytest.mark.sample(2)
@pytest.mark.parametrize("what", ["letters", "classes"])
@pytest.mark.parametrize("names", [["0", "0"], [1, "1"], [["0"], ["1"]], "01"])
def test_what_has_no_name_of_its_own_is_refused(what: str, names: Any) -> None:
    """A letter or an answer that could be either of two says nothing."""
    file = krohn.compile(FUNCTIONS["parity"](), 4).file
    file.header["source"][what] = names
    refused = "have no names|have the same name"
    if (what, names) == ("classes", "01"):
        refused = "the file does not name its outputs"
    assert re.search(refused, prove(file, None).reason)
