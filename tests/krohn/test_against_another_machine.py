"""A network held against another machine: what is shown counts, and not names of states."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from foreign import FLIP_FLOP, flip_flop

import krohn
from krohn.algebra import formats
from krohn.algebra.automaton import Automaton, Output, Semiautomaton
from krohn.algebra.errors import KrohnError
from krohn.algebra.minimisation import naming
from krohn.checks import Sharding
from krohn.compiled_model import CompiledModel
from krohn.network.modelfile import ModelFile
from krohn.report import Report

Call = Callable[..., tuple[int, Any]]
ROOT = Path(__file__).parents[2]
TURNSTILE = str(ROOT / "examples" / "turnstile.dot")


def acceptor() -> Automaton:
    """Words with an even number of letters a, by a machine with names of its own."""
    table = np.array([[1, 0], [0, 1]])
    output = Output("states", np.array([1, 0]), ("reject", "accept"))
    return Automaton(Semiautomaton(table, ("a", "b"), ("even", "odd")), output=output)


def plain() -> Automaton:
    """Two states that show nothing but themselves."""
    return krohn.automaton(krohn.zoo("FlipFlop"), name="two states")


def other_names(machine: Automaton) -> Automaton:
    """The same machine, its states called otherwise and in another order."""
    count = len(machine.states)
    names = tuple(f"state {q}" for q in range(count))
    table, output = machine.transitions, machine.output
    turned = Semiautomaton(count - 1 - table[:, ::-1], machine.letters, names)
    if output is not None:
        output = Output(output.on, output.table[..., ::-1], output.names)
    return Automaton(turned, count - 1 - machine.start, output, name="other names")


def doubled(machine: Automaton) -> Automaton:
    """A larger machine that shows the same: it counts letters beside, modulo 2."""
    count, output = len(machine.states), machine.output
    assert output is not None
    table = np.hstack([machine.transitions + count, machine.transitions])
    names = tuple(f"{q}, {i}" for i in range(2) for q in machine.states)
    shown = np.concatenate([output.table, output.table], axis=-1)
    return Automaton(
        Semiautomaton(table, machine.letters, names),
        machine.start,
        Output(output.on, shown, output.names),
        name="larger",
    )


def other_outputs(machine: Automaton) -> Automaton:
    """Another machine: its first two outputs are exchanged."""
    output = machine.output
    assert output is not None
    first, second, *rest = output.names
    swapped = Output(output.on, output.table, (second, first, *rest))
    return replace(machine, output=swapped, name="other outputs")


def shown_late(machine: Automaton, letters: int) -> Automaton:
    """Another machine, which shows something else after so many letters, and not before."""
    count, output = len(machine.states), machine.output
    assert output is not None
    assert output.on == "states"
    blocks = [
        machine.transitions + count * min(i + 1, letters) for i in range(letters + 1)
    ]
    names = tuple(f"{q}, {i}" for i in range(letters + 1) for q in machine.states)
    late = (output.table + 1) % len(output.names)
    table = np.concatenate([*[output.table] * letters, late])
    structure = Semiautomaton(np.hstack(blocks), machine.letters, names)
    shown = Output("states", table, output.names)
    return Automaton(structure, machine.start, shown, name="late")


def states_of(machine: Automaton) -> Automaton:
    """A machine whose outputs are the states of another one, as `krohn learn` writes."""
    return other_names(naming(machine))


FILES: dict[str, tuple[Callable[[], Automaton], dict[str, Any]]] = {
    "acceptor": (acceptor, {"length": 6}),
    "outputs": (acceptor, {"length": 6, "observe": "outputs"}),
    "acceptor rnn": (acceptor, {"arch": "rnn"}),
    "outputs on transitions": (lambda: krohn.read(TURNSTILE), {"length": 6}),
}
"""Networks of machines that show something, in each way in which a file says it."""
SAME = (other_names, doubled)
OTHERS = (other_outputs,)
EACH = pytest.mark.parametrize("kind", FILES)


def network(kind: str) -> tuple[Automaton, CompiledModel]:
    made, how = FILES[kind]
    machine = made()
    return machine, krohn.compile(machine, **how)


def judged(file: ModelFile | CompiledModel, machine: Automaton) -> dict[str, Report]:
    """The verdict of each method."""
    ways: dict[str, Any] = {
        "proof": {"proof": True},
        "exhaustive": {"exhaustive": 6},
        "jobs": {"exhaustive": 6, "sharding": Sharding()},
        "sample": {"sample": 50},
    }
    return {name: krohn.verify(file, machine, **how) for name, how in ways.items()}


@pytest.mark.sample(1)
@EACH
@pytest.mark.parametrize("as_another", SAME)
def test_a_machine_that_shows_the_same_is_verified(
    kind: str, as_another: Callable[[Automaton], Automaton]
) -> None:
    machine, model = network(kind)
    held = as_another(machine)
    complete = {"exhaustive", "jobs"} if "length" in FILES[kind][1] else set[str]()
    for name, report in judged(model, held).items():
        verified = name == "proof" or name in complete
        assert report.verdict == ("verified" if verified else "undecided"), name
        assert report.about is not None
        assert (report.about.name, report.about.are) == (held.name, "outputs")


@pytest.mark.sample(1)
@EACH
@pytest.mark.parametrize("as_another", OTHERS)
def test_a_machine_that_shows_something_else_is_refuted_by_a_shortest_word(
    kind: str, as_another: Callable[[Automaton], Automaton]
) -> None:
    machine, model = network(kind)
    held = as_another(other_names(machine))
    for name, report in judged(model, held).items():
        wrong = report.counterexample
        assert (report.verdict, wrong is not None) == ("refuted", True), name
        assert wrong is not None
        assert wrong.expected == held.run(wrong.word)
        assert wrong.actual == machine.run(wrong.word)
        assert len(wrong.word) == 1


@pytest.mark.sample(1)
@pytest.mark.parametrize("kind", ["acceptor", "outputs"])
def test_the_length_of_the_claim_counts(kind: str) -> None:
    """A difference beyond the claim is none; one at its end is, whatever is run."""
    machine, model = network(kind)
    beyond, last = shown_late(machine, 7), shown_late(machine, 6)
    assert krohn.verify(model, beyond, proof=True).verdict == "verified"
    report = krohn.verify(model, last, proof=True)
    assert (report.verdict, report.length) == ("refuted", 6)
    assert krohn.verify(model, last, exhaustive=6).verdict == "refuted"


@pytest.mark.slow
@EACH
def test_every_command_says_the_same(kind: str, tmp_path: Path, call: Call) -> None:
    """Evidence of the file's own claim refutes another machine; so does a search."""
    machine, model = network(kind)
    path = tmp_path / "f.safetensors"
    model.save(path)
    word = machine.letters[:1] * 3
    own = tmp_path / "own.json"
    assert call("verify", path, "--evidence", own)[0] == 0
    against = {0: other_names(machine), 1: other_outputs(other_names(machine))}
    for wrong, held in against.items():
        file, evidence = tmp_path / f"{wrong}.json", tmp_path / f"e{wrong}.json"
        formats.write(held, file)
        code, told = call("verify", path, "--machine", file, "--evidence", evidence)
        assert code == (2 if wrong else 0)
        code, told = call("run", path, *word, "--machine", file, "--expect")
        assert code == wrong
        assert told["agrees"] == (not wrong)
        of_claim = own if wrong else evidence
        code, told = call("recheck", path, of_claim, "--machine", file)
        assert code == wrong
        assert (
            "the evidence shows what the file itself" in told.get("error", "")
        ) == wrong


@pytest.mark.slow
def test_a_machine_that_was_learned_is_verified(tmp_path: Path, call: Call) -> None:
    for kind in FILES:
        machine, model = network(kind)
        path, learned = tmp_path / "f.safetensors", tmp_path / "learned.json"
        model.save(path)
        assert call("learn", path, "-o", learned, "-T", 6)[0] == 0
        code, told = call("verify", path, "--machine", learned)
        assert (code, told["verdict"]) == (0, "verified"), kind
        code, told = call("learn", path, "--machine", learned, "-T", 6)
        assert (code, told["differs"]) == (0, None), kind
        if machine.output is not None and "outputs" not in kind:
            wrong = other_outputs(states_of(machine))
            assert krohn.verify(model, wrong).verdict == "refuted"


def test_a_drawing_is_held_against_a_pattern_and_a_learned_drawing(
    tmp_path: Path, call: Call
) -> None:
    """Words with an odd number of letters a, whose states have other names each time."""
    drawn, path, learned = (tmp_path / f for f in ("m.dot", "f.safetensors", "l.dot"))
    drawn.write_text(
        "digraph m { i [shape=none]; e; o [shape=doublecircle]; i -> e; e -> o [label=a];"
        " o -> e [label=a]; e -> e [label=b]; o -> o [label=b]; }"
    )
    krohn.compile(drawn, 8).save(path)
    assert call("learn", path, "-o", learned)[0] == 0
    for right in ("regex:(b*ab*ab*)*b*ab*", learned):
        code, told = call("verify", path, "--machine", right)
        assert (code, told["verdict"]) == (0, "verified"), right
    code, told = call("verify", path, "--machine", "regex:(b*ab*ab*)*")
    assert (code, told["verdict"]) == (1, "refuted")


def test_states_without_outputs_are_compared_by_their_names() -> None:
    machine = plain()
    model = krohn.compile(machine, 6)
    report = krohn.verify(model, other_names(machine))
    assert report.verdict == "refuted"
    assert krohn.verify(model, states_of(machine)).verdict == "verified"


@pytest.mark.slow
def test_a_wrong_state_that_shows_the_same_refutes_nothing() -> None:
    """What states show is asked about; a file that is wrong about states is not proved."""
    machine = acceptor()
    model = krohn.compile(doubled(machine), 6)
    tensors = dict(model.file.tensors)
    states = [list(doubled(machine).states).index(f"{q}, 0") for q in machine.states]
    bias = tensors["unembed.bias"].copy()
    bias[states] -= 2 * np.abs(tensors["unembed.weight"]).sum() + 100
    changed = replace(model.file, tensors={**tensors, "unembed.bias": bias})
    own = krohn.verify(changed)
    assert own.verdict == "refuted"
    held = krohn.verify(changed, machine)
    assert held.verdict != "verified"
    if held.counterexample is not None:
        assert held.counterexample.expected != held.counterexample.actual


@pytest.mark.slow
def test_brackets_are_held_against_machines_with_other_names() -> None:
    """A law of brackets has no states: the checker finds the stacks of any machine."""
    model = krohn.compile_generator("Dyck2,2", 8)
    machine = krohn.zoo("Dyck2,2")
    assert krohn.verify(model, other_names(machine)).verdict == "verified"
    with pytest.raises(KrohnError, match="a depth is out of range"):
        krohn.verify(model, krohn.zoo("Dyck3,2"))


def test_the_ideal_network_is_held_against_what_is_shown() -> None:
    pytest.importorskip("z3")
    from krohn.instruments.smt.commands import verify_ideal

    machine = plain()
    output = Output("states", np.arange(2), ("low", "high"))
    machine = replace(machine, output=output)
    model = krohn.compile(machine, 4)
    assert verify_ideal(model.file, 3, other_names(machine)).verdict == "verified"
    report = verify_ideal(model.file, 3, other_outputs(other_names(machine)))
    assert report.verdict == "refuted"
    assert report.counterexample is not None
    assert len(report.counterexample.word) == 1


def test_a_file_that_only_names_states_is_held_against_what_was_learned_from_it() -> (
    None
):
    file = flip_flop(8, 4.0)
    right = states_of(FLIP_FLOP)
    report = krohn.verify(file, right)
    assert report.verdict == "verified"
    assert report.about is not None
    assert report.about.are == "outputs"
    assert krohn.verify(file, other_outputs(right)).verdict == "refuted"


@pytest.mark.slow
def test_a_gpt2_is_held_against_what_its_states_show(
    tmp_path: Path, call: Call
) -> None:
    """Nothing is run here: a difference leaves it undecided, and nothing is promised."""
    pytest.importorskip("transformers")
    machine, path, out = acceptor(), tmp_path / "f.safetensors", tmp_path / "gpt2"
    krohn.compile(machine, 5, strict=True).save(path)
    assert call("export", path, "--to", "gpt2", "-o", out, "--sample", 8)[0] == 0
    for held, verdict in (
        (other_names(machine), "verified"),
        (other_outputs(other_names(machine)), "undecided"),
    ):
        report = krohn.verify(out, held)
        assert report.verdict == verdict
        assert (report.ground is None) == (not report.notes) == (verdict == "undecided")
