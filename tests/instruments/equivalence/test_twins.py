"""Two networks: one function or two, by their proofs; and what of them is the same."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from every_kind import NETWORKS, OTHERS, SOURCES, compiled

import krohn
from krohn.algebra.automaton import Automaton
from krohn.algebra.errors import KrohnError
from krohn.compiled_model import CompiledModel

Call = Callable[..., tuple[int, Any]]
MASKED = "pruned:units=96"


@cache
def pruned(name: str, seed: int = 0) -> CompiledModel:
    machine = other_parity() if name == "other" else name
    return krohn.compile(machine, arch="rnn", construction=f"{MASKED},seed={seed}")


def other_parity() -> Automaton:
    """It flips by the letter 0, where C2 flips by 1."""
    moves = {"0": {"0": "1", "1": "0"}, "1": {"0": "0", "1": "1"}}
    return krohn.automaton(moves, start="0", name="other")


@pytest.mark.slow
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


@pytest.mark.slow
def test_two_functions_share_a_layer_of_one_random_network() -> None:
    """A matrix of a masked random network does not tell what the network computes."""
    one, other = pruned("C2"), pruned("other")
    found = krohn.twins(one, other)
    assert found.verdict == "refuted"
    assert "hidden.left" in found.matrices
    assert found.word is not None
    assert len(found.word) == 1
    assert found.says is not None
    assert found.says[0] != found.says[1]
    assert found.random
    assert {"hidden.left.values", "hidden.left.columns"} <= set(found.shared)
    left = one.file.tensors["hidden.left.values"]
    assert len(np.unique(left)) == len(left) > 100
    assert "input.right.values" not in found.shared


@pytest.mark.slow
def test_the_word_on_which_they_part_is_a_shortest_one_within_the_length() -> None:
    short, every = "regex:" + "(a|b)?" * 6, "regex:(a|b)*"
    for length, verdict in ((5, "verified"), (9, "refuted")):
        files = [krohn.compile(m, length, observe="accept") for m in (short, every)]
        found = krohn.twins(*files)
        assert found.verdict == verdict
        if verdict == "refuted":
            assert found.word is not None
            assert len(found.word) == 7
            assert found.says == ("reject", "accept")
        else:
            assert found.length == 5


@pytest.mark.slow
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
    pruned("other").save(b)
    code, found = call("equivalent", a, b)
    assert (code, found["verdict"], found["random"]) == (1, "refuted", True)
    code, found = call("equivalent", a, a)
    assert (code, found["others"], found["length"]) == (0, 0, None)
    code, found = call("equivalent", a, b, "-T", 5)
    assert code == 2
    from krohn import cli

    assert cli.run(["equivalent", str(a), str(b)]) == 1
    told = capsys.readouterr().out
    assert "compute different functions" in told
    assert "both are masks of one random network" in told


def test_other_letters_and_other_things_are_refused() -> None:
    with pytest.raises(KrohnError, match="different letters"):
        krohn.twins(krohn.compile("C2", 8), krohn.compile("FlipFlop", 8))
    with pytest.raises(KrohnError, match="no model file"):
        krohn.twins("regex:a*", krohn.compile("C2", 8))


def renamed(
    names: dict[str, str], machine: str = "C3", letters: str = "012"
) -> Automaton:
    """A machine with other names of states, and of letters."""
    own = krohn.read(machine)
    moves = replace(
        own.semiautomaton,
        states=tuple(names.get(q, q) for q in own.states),
        letters=tuple(letters),
    )
    return replace(own, semiautomaton=moves, action=None, name="renamed")


@pytest.mark.slow
def test_networks_that_differ_in_names_only_are_not_two_functions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """States by their names differ; up to names they are one, also with other letters."""
    from krohn import cli

    names = {"0": "zero", "1": "one"}
    files = {
        "a": krohn.compile("C3", 8),
        "b": krohn.compile(renamed(names), 8),
        "c": krohn.compile(renamed({"0": "1", "1": "0"}), 8),
        "d": krohn.compile(renamed({}, letters="xyz"), 8),
        "e": krohn.compile("C3", 9),
    }
    found = krohn.twins(files["a"], files["b"])
    assert (found.verdict, found.notion, found.says) == (
        "refuted",
        "states",
        ("0", "zero"),
    )
    assert found.renamed == (("0", "zero"), ("1", "one"))
    assert found.to_object()["digests"] == [files[n].claim.digest for n in "ab"]
    found = krohn.twins(files["a"], files["b"], up_to="names")
    assert (found.verdict, found.renamed) == ("verified", (("0", "zero"), ("1", "one")))
    assert krohn.twins(files["a"], files["c"]).renamed == (("0", "1"), ("1", "0"))
    assert krohn.twins(files["a"], files["d"], up_to="names").verdict == "verified"
    with pytest.raises(KrohnError, match="different letters"):
        krohn.twins(files["a"], files["d"])
    found = krohn.twins(files["a"], files["e"])
    assert (found.verdict, found.renamed, found.length) == ("verified", (), 8)

    for name, model in files.items():
        model.save(tmp_path / f"{name}.safetensors")
    both = [str(tmp_path / f"{name}.safetensors") for name in "ab"]
    assert cli.run(["equivalent", *both]) == 1
    told = capsys.readouterr().out
    assert "compute the same function up to names, and their names differ" in told
    assert "compared: states by their names" in told
    assert "renamed: 0 is zero, 1 is one" in told
    assert "compute different functions" not in told
    assert cli.run(["equivalent", *both, "--up-to", "names"]) == 0
    told = capsys.readouterr().out
    assert "give the same answers, up to names" in told
    assert "compared: answers up to a renaming, one to one" in told


@pytest.mark.slow
def test_acceptors_are_compared_by_what_they_accept() -> None:
    """Other states, other names of states, states or outputs as answers: one function."""
    pattern = "regex:(ab)*"
    longer = krohn.automaton(
        {
            **{"x": {"a": "y", "b": "no"}, "y": {"a": "no", "b": "z"}},
            **{"z": {"a": "y", "b": "no"}, "no": {"a": "no", "b": "no"}},
        },
        start="x",
        accepting=["x", "z"],
    )
    files = [
        krohn.compile(pattern, 8),
        krohn.compile(pattern, 8, observe="accept"),
        krohn.compile(longer, 8),
    ]
    for other in files:
        found = krohn.twins(files[0], other)
        assert (found.verdict, found.notion) == ("verified", "accept")
    for up_to in ("accept", "outputs"):
        found = krohn.twins(files[0], files[2], up_to=up_to)
        assert (found.verdict, found.notion) == ("verified", up_to)
    with pytest.raises(KrohnError, match=r"C3 does not show accept and reject.*up_to="):
        krohn.twins(krohn.compile("C3", 4), krohn.compile("C3", 4), up_to="accept")


@pytest.mark.slow
def test_two_names_for_one_are_no_renaming() -> None:
    """C2 is no C4 with names that are the same twice, though C4 counts modulo 2, too."""
    even = renamed({}, "C2", "01")
    rough = krohn.automaton(
        {q: {"0": q, "1": str((int(q) + 1) % 4)} for q in "0123"}, start="0"
    )
    for pair in ((even, rough), (rough, even)):
        models = [krohn.compile(machine, 6) for machine in pair]
        found = krohn.twins(*models, up_to="names")
        assert (found.verdict, found.renamed) == ("refuted", None)
        assert found.word == ("1", "1")


@pytest.mark.sample(1)
@pytest.mark.parametrize("kind", [*NETWORKS, "generator"])
def test_a_network_of_each_kind_is_one_function_with_itself(kind: str) -> None:
    """What is said of answers that may be off is the sum of both errors."""
    model = compiled(kind)
    found = krohn.twins(model, model.file)
    assert (found.verdict, found.reason, found.others) == ("verified", "", 0)
    claim = model.file.header["claim"]
    error = claim.get("error", claim.get("tolerance"))
    if error is None:
        assert found.within is None
    else:
        assert found.within is not None
        assert 2 * error <= found.within < 2.001 * error + 1e-300
    assert bool(found.inputs) == (found.notion == "claims")


@pytest.mark.slow
@pytest.mark.parametrize("kind", SOURCES)
def test_networks_of_two_sources_are_not_called_one(kind: str) -> None:
    """Neither claim is proved of the other network; other names are refused."""
    how = NETWORKS[kind][1]
    other = krohn.compile(OTHERS[kind], **how, proof=False)
    refusal = ""
    try:
        found = krohn.twins(compiled(kind), other)
    except KrohnError as error:
        refusal = str(error)
    if refusal:
        assert "have different" in refusal
    else:
        assert found.verdict != "verified"
        assert found.reason


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["text-in-blocks", "vectors-in-blocks"])
def test_networks_are_one_function_only_where_both_are_proved(kind: str) -> None:
    """One may claim fewer words than its texts have room for."""
    file = compiled(kind).file
    fewer = {**file.header["claim"], "letters": 3}
    narrow = replace(file, header={**file.header, "claim": fewer})
    for pair in ((file, narrow), (narrow, file)):
        found = krohn.twins(*pair)
        assert found.verdict == "verified"
        assert found.inputs == str(narrow.claim.inputs) != str(file.claim.inputs)


@pytest.mark.slow
def test_different_kinds_are_not_compared() -> None:
    for one, other in (
        ("states", "generator"),
        ("hidden-markov", "linear-system"),
        ("states", "program"),
    ):
        with pytest.raises(KrohnError, match="they are not compared"):
            krohn.twins(compiled(one), compiled(other))
    with pytest.raises(KrohnError, match="is for networks that say"):
        krohn.twins(compiled("generator"), compiled("generator"), up_to="names")


@pytest.mark.slow
def test_laws_of_brackets_are_compared_as_they_are_claimed(
    tmp_path: Path, call: Call
) -> None:
    """Not by their stacks: two openings are two laws, which both networks say."""
    openings = Fraction(1, 2), Fraction(1, 3)
    half, third = (krohn.compile_generator("Dyck2,2", 4, opening=q) for q in openings)
    found = krohn.twins(half, third)
    assert (found.verdict, found.word) == ("refuted", ("(",))
    assert found.says == ("0.25/0.5/0.25/0", "0.1667/0.6667/0.1667/0")
    deeper = krohn.compile_generator("Dyck3,2", 4)
    assert krohn.twins(half, deeper).word == ("(", "(")
    short = krohn.compile_generator("Dyck2,2", 3)
    for pair in ((half, short), (short, half)):
        found = krohn.twins(*pair)
        assert (found.verdict, found.length) == ("verified", 3)
        assert "up to 3 letters" in found.inputs
    half.save(tmp_path / "a.safetensors")
    third.save(tmp_path / "b.safetensors")
    code, told = call(
        "equivalent", tmp_path / "a.safetensors", tmp_path / "b.safetensors"
    )
    assert (code, told["verdict"]) == (1, "refuted")


def test_a_claim_that_serves_two_sources_is_said_for_its_own_inputs() -> None:
    wide = krohn.compile("GaussianHMM2,1@7", within=0.6)
    narrow = krohn.compile("GaussianHMM2,1@4:2given1:R=0.01", within=0.6)
    for pair in ((wide, narrow), (narrow, wide)):
        found = krohn.twins(*pair)
        assert found.verdict == "verified"
        assert "[-0.01, 0.01]" in found.inputs
        assert found.within is not None
        assert found.within >= 1.2


@pytest.mark.slow
def test_states_that_show_different_outputs_are_refuted() -> None:
    patterns = ("regex:(b*ab*a)*b*", "regex:(b*ab*ab*a)*b*")
    found = krohn.twins(*(krohn.compile(p, 6) for p in patterns))
    assert (found.verdict, found.word) == ("refuted", ("a", "a"))
    assert found.says == ("accept", "reject")
