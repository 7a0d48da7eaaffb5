"""Block chain of thought through the commands and the public face."""

from pathlib import Path

import numpy as np
import pytest
from command import refused, said

import krohn
from krohn.algebra.errors import KrohnError
from krohn.kinds.blocks.commands import TextsInBlocks
from krohn.kinds.blocks.source import (
    blanks,
    completed_texts,
)
from krohn.kinds.linear_systems.commands import LinearSystems


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(tmp_path_factory.mktemp("blocks") / "f.safetensors")
    told = said("compile", "Cyclic-DET5,5@3", "--block", "8", "-T", "120", "-o", path)
    assert told["claim"] == "generates"
    assert (told["depth"], told["layers"]) == (4, 4)
    assert told["length"] == 134
    assert told["verdict"] == "verified"
    return path


def test_run_writes_a_state_after_each_block(file: str) -> None:
    told = said("run", file, "1 2 3 4 5 1 2 3 4 5")
    machine = krohn.read("Cyclic-DET5,5@3")
    states = [machine.start]
    for letter in machine.semiautomaton.encode([*"1234512345"]):
        states.append(int(machine.transitions[letter, states[-1]]))
    written = [f"({machine.states[states[t]]})" for t in (8, 10)]
    assert told["text"] == [*"12345123", written[0], *"45", written[1]]
    assert (told["passes"], told["answer"]) == (2, written[1])
    refused("'9' is not a letter", "run", file, "9")


def test_explain_says_what_writing_saves() -> None:
    told = said("explain", "Cyclic-DET5,5@3", "--block", "8", "-T", "120")
    assert (told["levels"], told["levels_without_writing"]) == (4, 7)
    assert (told["passes"], told["tokens"]) == (15, 134)


def test_bad_blocks_are_one_line() -> None:
    with pytest.raises(KrohnError, match="block must be at least 1"):
        krohn.compile("C2", 9, block=0)
    with pytest.raises(KrohnError, match="longest word"):
        krohn.compile("C2", block=3)
    with pytest.raises(KrohnError, match="maps of up to 128"):
        krohn.compile("S6", 9, block=3)


@pytest.mark.slow
def test_a_linear_system_writes_vectors(tmp_path: Path) -> None:
    path = str(tmp_path / "m.safetensors")
    told = said("compile", "MatMul5,5@3", "--block", "8", "-T", "40", "-o", path)
    assert (told["claim"], told["verdict"], told["depth"]) == ("within", "verified", 4)
    assert 0 < told["error"] < 1e-5
    told = said("verify", path, "--proof", "--sample", "5")
    assert (told["verdict"], told["words"]) == ("verified", 5)
    told = said("run", path, "1 2 3 4 5 1 2 3 4")
    assert told["passes"] == 2
    assert np.array(told["outputs"]).shape == (9, 5)
    plain = krohn.compile("MatMul5,5@3", 9).file
    kind = LinearSystems()
    right = kind.run(plain, ["1 2 3 4 5 1 2 3 4"])["outputs"]
    assert np.abs(np.array(told["outputs"]) - right).max() < 1e-5
    assert said("explain", "MatMul5,5@3", "--block", "8", "-T", "40")["passes"] == 5


def test_what_writes_no_states_is_refused() -> None:
    with pytest.raises(KrohnError, match="machines and linear systems"):
        krohn.compile("EditDistance2,2", block=3)


@pytest.mark.sample(1)
@pytest.mark.parametrize("room", [9, 20])
def test_words_may_be_longer_than_the_texts_of_a_file(room: int) -> None:
    """It begins anew at a written state, as often as need be."""
    file = krohn.compile("Cyclic-DET5,5@3", room, block=8).file
    source = TextsInBlocks().of_file(file)
    words = np.random.default_rng(0).integers(5, size=(4, 100))
    found = TextsInBlocks().texts(file, blanks(words, source.block).tolist())
    assert found == completed_texts(source, words).tolist()


def test_words_of_half_a_block_are_not_continued() -> None:
    file = krohn.compile("Cyclic-DET5,5@3", 3, block=8).file
    with pytest.raises(KrohnError, match="words of up to 3 letters"):
        TextsInBlocks().run(file, ["1" * 9])
