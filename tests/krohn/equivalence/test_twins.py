"""Two networks: one function or two, by their proofs; and what of them is the same."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import krohn
from algebra.automaton import Automaton
from algebra.errors import KrohnError
from krohn.compiled_model import CompiledModel

Call = Callable[..., tuple[int, Any]]
MASKED = "pruned:units=96"


def pruned(machine: object, seed: int = 0) -> CompiledModel:
    return krohn.compile(machine, arch="rnn", construction=f"{MASKED},seed={seed}")


def other_parity() -> Automaton:
    """It flips by the letter 0, where C2 flips by 1."""
    moves = {"0": {"0": "1", "1": "0"}, "1": {"0": "0", "1": "1"}}
    return krohn.automaton(moves, start="0", name="other")


def test_networks_of_other_weights_and_kinds_are_one_function() -> None:
    for other, length in (
        (pruned("C2", seed=1), None),
        (krohn.compile("C2", arch="rnn"), None),
        (krohn.compile("C2", arch="gru"), None),
        (krohn.compile("C2", 20), 20),
    ):
        found = krohn.twins(pruned("C2"), other)
        assert (found.verdict, found.length, found.word) == ("verified", length, None)
        assert not found.random


def test_two_functions_share_a_layer_of_one_random_network() -> None:
    """What the inspected matrix holds does not say what the network computes."""
    one, other = pruned("C2"), pruned(other_parity())
    found = krohn.twins(one, other)
    assert found.verdict == "refuted"
    assert found.word is not None
    assert len(found.word) == 1
    assert found.says is not None
    assert found.says[0] != found.says[1]
    assert found.random
    assert {"hidden.left.values", "hidden.left.columns"} <= set(found.shared)
    left = one.file.tensors["hidden.left.values"]
    assert len(np.unique(left)) == len(left) > 100
    assert "input.right.values" not in found.shared


def test_the_word_on_which_they_part_is_a_shortest_one_within_the_length() -> None:
    short, every = "regex:" + "(a|b)?" * 6, "regex:(a|b)*"
    for length, verdict in ((5, "verified"), (9, "refuted")):
        files = [krohn.compile(m, length, observation="accept") for m in (short, every)]
        found = krohn.twins(*files)
        assert found.verdict == verdict
        if verdict == "refuted":
            assert found.word is not None
            assert len(found.word) == 7
            assert found.says == ("0", "1")
        else:
            assert found.length == 5


def test_a_network_that_is_not_proved_leaves_it_undecided() -> None:
    model = pruned("C2")
    name = "hidden.right.values"
    tensors = {**model.file.tensors, name: -model.file.tensors[name]}
    found = krohn.twins(replace(model.file, tensors=tensors), model)
    assert found.verdict == "undecided"
    assert found.reason
    assert found.word is None


def test_the_command(
    call: Call, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a, b = tmp_path / "a.safetensors", tmp_path / "b.safetensors"
    pruned("C2").save(a)
    pruned(other_parity()).save(b)
    code, found = call("equivalent", a, b)
    assert (code, found["verdict"], found["random"]) == (1, "refuted", True)
    code, found = call("equivalent", a, a)
    assert (code, found["others"], found["length"]) == (0, 0, None)
    code, found = call("equivalent", a, b, "-T", 5)
    assert code == 2
    from krohn import cli

    assert cli.run(["equivalent", str(a), str(b)]) == 1
    told = capsys.readouterr().out
    assert "two functions" in told
    assert "both are masks of one random network" in told


def test_other_letters_and_other_things_are_refused() -> None:
    with pytest.raises(KrohnError, match="different letters"):
        krohn.twins(krohn.compile("C2", 8), krohn.compile("FlipFlop", 8))
    with pytest.raises(KrohnError, match="no model file"):
        krohn.twins("regex:a*", krohn.compile("C2", 8))
