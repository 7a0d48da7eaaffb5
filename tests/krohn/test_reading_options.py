"""How a machine is read, by the same options in every function and command that reads one.

What a refusal names is taken where it was refused.
"""

import inspect
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, get_type_hints

import networkx as nx
import numpy as np
import pytest
import torch

import krohn
from krohn import cli
from krohn.machine_reading import MachineKeywords
from krohn.program.wording import OPTION, PARAMETERS

LAMP = {"off": {"press": "on", "wait": "off"}, "on": {"press": "off"}}
"""A controller of which one transition is missing."""


def graph(attribute: str) -> nx.MultiDiGraph:
    found = nx.MultiDiGraph()
    for q, row in LAMP.items():
        for letter, to in row.items():
            found.add_edge(q, to, **{attribute: letter})
    return found


def dot(folder: Path) -> Path:
    arrows = (f'{q} -> {to} [label="{a}"];' for q in LAMP for a, to in LAMP[q].items())
    path = folder / "lamp.dot"
    path.write_text(f"digraph lamp {{ {' '.join(arrows)} }}")
    return path


def att(folder: Path) -> Path:
    """A file that may be an acceptor or a Mealy machine."""
    path = folder / "lamp.att"
    path.write_text("0 1 press x\n0 0 wait y\n1 0 press x\n1 1 wait x\n0\n")
    return path


SOURCES: dict[str, Callable[[Path], object]] = {
    "dot": dot,
    "path in words": lambda folder: str(dot(folder)),
    "dict": lambda _: LAMP,
    "graph": lambda _: graph("letter"),
    "graph of others": lambda _: graph("symbol"),
    "function": lambda _: lambda state, letter: LAMP[state].get(letter, state),
    "att": att,
    "name": lambda _: "FlipFlop",
}


class Lamp(torch.nn.Module):
    """A network that says state 0, whatever it reads."""

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.one_hot(torch.zeros_like(tokens), 2).double()


@cache
def compiled() -> krohn.CompiledModel:
    return krohn.compile(LAMP, 3, complete="stay")


Call = Callable[..., object]
CALLS: dict[str, Call] = {
    "automaton": krohn.automaton,
    "compile": lambda source, **how: krohn.compile(source, 3, proof=False, **how),
    "decompose": krohn.decompose,
    "draw": krohn.draw,
    "examine": lambda source, **how: krohn.examine(Lamp(), source, 3, **how),
    "explain": lambda source, **how: krohn.explain(source, 1, effort="low", **how),
    "verify": lambda source, **how: krohn.verify(compiled(), source, **how),
}
SLICES: dict[str, Callable[..., object]] = {
    "compile_generator": lambda source, **how: krohn.compile_generator(
        source, 3, **how
    ),
    "compare": lambda source, **how: krohn.compare(source, device="none", **how),
    "equivalent": lambda source, **how: krohn.equivalent(
        source, source, 3, up_to="names", **how
    ),
    "from_torch": lambda source, **how: krohn.from_torch(Lamp(), source, **how),
    "hidden_markov": lambda source, **how: krohn.hidden_markov(source, **how),
    "learn": lambda source, **how: krohn.learn(compiled(), source, length=3, **how),
}
"""Functions that slices bring."""
CALLS |= {name: call for name, call in SLICES.items() if name in krohn.__all__}
VALUES: dict[str, Any] = {
    "letters": ["press", "wait"],
    "start": "off",
    "edge": "symbol",
}
"""The values of options of which a message cannot say which."""


def test_every_function_of_a_machine_takes_the_options() -> None:
    """Of those that take a model as well, the machine is the argument called so."""
    known = set(get_type_hints(MachineKeywords))
    found = {}
    for name in krohn.__all__:
        function = getattr(krohn, name)
        if inspect.isfunction(function):
            found[name] = set(inspect.signature(function).parameters)
    takers = {name for name, taken in found.items() if known <= taken}
    assert takers == set(CALLS)
    others = {n for n, taken in found.items() if {"complete", "observe"} & taken}
    assert others - takers <= {"read"}  # of a file, in its two ways


def named(message: str) -> list[dict[str, Any]]:
    """The options that a message names, with their values: one, or all without values."""
    told = re.findall(r"\b(\w+)=('(\w+)')?", message)
    keywords = get_type_hints(MachineKeywords)
    ways = [{name: value} for name, _, value in told if value and name in keywords]
    rest = {name: VALUES[name] for name, _, value in told if name in VALUES}
    return [*ways, *([rest] if rest else [])]


@pytest.mark.sample(5)
@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("source", SOURCES)
def test_what_a_refusal_names_is_taken_where_it_was_refused(
    name: str, source: str, tmp_path: Path
) -> None:
    call, given = CALLS[name], SOURCES[source](tmp_path)
    for how in _advice(call, given, {}):
        for more in _advice(call, given, how):
            assert not _advice(call, given, more)


def _advice(call: Call, source: object, how: dict[str, Any]) -> list[dict[str, Any]]:
    """What a refusal says to do, beside what was said; nothing if it was done."""
    try:
        call(source, **how)
    except krohn.KrohnError as error:
        message = str(error)
        assert "no effect" not in message
        advice = [{**how, **more} for more in named(message)]
        assert how not in advice, message
        about = ("missing, the first", "symbol", "final", "function needs")
        assert advice or not any(words in message for words in about), message
        return advice
    return []


def test_the_partial_machine_is_refused_without_advice_taken(tmp_path: Path) -> None:
    """The test above is about refusals that there are."""
    for source in ("dot", "dict", "graph", "graph of others", "function", "att"):
        for name, call in CALLS.items():
            assert _advice(call, SOURCES[source](tmp_path), {}), name


@pytest.mark.slow
@pytest.mark.parametrize("source", ["dot", "dict", "graph"])
@pytest.mark.parametrize(("how", "states"), [("sink", 3), ("stay", 2)])
def test_missing_transitions_mean_the_same_everywhere(
    source: str, how: Any, states: int, tmp_path: Path
) -> None:
    given = SOURCES[source](tmp_path)
    machine = krohn.automaton(given, complete=how)
    assert len(machine.states) == states
    word = ["wait", "press", "wait", "press"]
    model = krohn.compile(given, 4, complete=how).model
    assert tuple(model.run(word)) == machine.run(word)
    assert krohn.explain(given, 1, effort="low", complete=how)["states"] == states
    assert krohn.decompose(given, complete=how).machine == machine
    assert krohn.verify(model, given, complete=how).verdict == "verified"
    other = "sink" if how == "stay" else "stay"
    assert krohn.verify(model, given, complete=other).verdict == "refuted"


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "source", [LAMP, graph("letter"), "FlipFlop", krohn.zoo("FlipFlop")]
)
def test_starts_and_observations_mean_the_same_everywhere(source: object) -> None:
    how: dict[str, Any] = {"complete": "stay", "observe": "outputs"}
    last = krohn.automaton(source, complete="stay").states[-1]
    if source in (LAMP, "FlipFlop"):
        with pytest.raises(krohn.MachineError, match="no outputs of its own"):
            krohn.compile(source, 3, **how)
    for name in ("automaton", "compile", "explain", "decompose"):
        found = CALLS[name](source, complete="stay", start=last)
        machine = getattr(found, "machine", found)
        told = machine["start"] if isinstance(machine, dict) else None
        if told is None and isinstance(machine, krohn.CompiledModel):
            told = machine.file.claim.start
        assert (told or machine.states[machine.start]) == last, name


def test_numbers_and_names_of_states_are_starts() -> None:
    table = {0: {"a": 1}, 1: {"a": 0}}
    for start in (1, "1"):
        assert krohn.automaton(table, start).start == 1
        assert krohn.compile(table, 3, start=start).model.run("a") == ["0"]
    with pytest.raises(krohn.MachineError, match="the start state 2 is no state"):
        krohn.explain(table, 3, start=2)


# The same of commands.


COMMANDS = {
    "compile": ["compile", "{}", "-T", "3", "-o", "{folder}/new.safetensors"],
    "compare": ["compare", "{}", "--device", "none"],
    "crasp": ["crasp", "{}", "-T", "3"],
    "decompose": ["decompose", "{}"],
    "draw": ["draw", "{}", "-o", "{folder}/new.svg"],
    "equivalent": ["equivalent", "{}", "{}", "--up-to", "names"],
    "explain": ["explain", "{}", "-T", "1", "--effort", "low"],
    "learn": ["learn", "{folder}/m.safetensors", "--machine", "{}"],
    "run": ["run", "{folder}/m.safetensors", "press", "--expect", "--machine", "{}"],
    "verify": ["verify", "{folder}/m.safetensors", "--machine", "{}"],
}


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", COMMANDS)
def test_what_a_command_names_it_takes(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    compiled().save(tmp_path / "m.safetensors")
    words = [w.format(dot(tmp_path), folder=tmp_path) for w in COMMANDS[name]]
    assert cli.run(words) == 2
    refusal = capsys.readouterr().err
    ways = [
        (found["option"], found["name"])
        for found in OPTION.finditer(refusal)
        if found["option"]
    ]
    assert ways == [("--complete", "sink"), ("--complete", "stay")]
    assert "complete" not in PARAMETERS  # the option and the keyword have one name
    for option, value in ways:
        cli.run([*words, option, value])
        told = capsys.readouterr().err
        assert "missing" not in told
        assert "No such option" not in told


def test_answers_of_numpy_are_machines_too() -> None:
    """A table is a function; what is said of it is taken by what compiles it."""
    table = np.array([[1, 0], [1, 1]])
    model = krohn.compile(
        lambda q, a: int(table[q, a]), 3, start=0, letters=[0, 1], accepting={1}
    )
    assert model.model.run("00") == ["accept", "accept"]


def test_a_remark_names_options_as_its_reader_writes_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "partial.dot"
    path.write_text('digraph g { a -> b [label="x"]; b [shape=doublecircle]; }')
    assert "complete='stay' keeps the state" in krohn.read(path).remark
    assert "unless start= says another" in krohn.read(path).remark
    partial = krohn.automaton({"a": {"x": "b"}, "b": {}}, accepting={"b"})
    assert "complete='stay' keeps the state" in partial.remark
    for command in (
        ["explain", str(path), "-T", "1", "--effort", "low"],
        ["equivalent", str(path), str(path)],
        ["compare", str(path), "--device", "none"],
    ):
        cli.run(command)
        assert "--complete stay keeps the state" in capsys.readouterr().err
