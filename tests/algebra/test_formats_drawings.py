"""Drawings in DOT, of tools and of people: the machine that was meant, or a refusal."""

import contextlib
import io
import random
import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import aalpy.automata as learned
import pytest
from aalpy.utils import save_automaton_to_file
from drawings import (
    Sketch,
    accepts_the_same,
    as_automata_lib,
    as_ltlf2dfa,
    as_mona,
    as_openfst,
    as_simple_automata,
    as_transitions,
    sketch,
)
from pyformlang.finite_automaton import Epsilon, EpsilonNFA, State, Symbol
from statemachine import State as ChartState, StateMachine
from statemachine.contrib.diagram import DotGraphMachine

from krohn.algebra.errors import MachineError
from krohn.algebra.formats import dot, read

PLAIN = ("a", "b", "c", "0", "1", "coin", "go_on")
ODD = (
    "a b",
    "x/y",
    "it's",
    "(",
    ")",
    "[k]",
    "a|b",
    ";",
    "c:d",
    "!a",
    "p & q",
    "λ",
    "<",
    "a-z",
    "(1, 2)",
    "f(a,b)",
    "\\",
    "&lt;",
    "+",
    "-1",
    "1.5",
    "#",
    "true",
    "{x}",
    ",",
    "a,b",
    "0/1",
    "else",
)
BITS = ("00", "01", "10", "11")


def acceptor(*lines: str) -> str:
    """An acceptor of two states with such arrows, in the style of people."""
    head = "rankdir=LR; i [shape=point]; i -> p; q [shape=doublecircle];"
    return "\n".join(["digraph {", head, *lines, "}"])


# Each writer of drawings: random machines go through it and come back.


def by_pyformlang(machine: Sketch, folder: Path) -> str:
    drawn = EpsilonNFA()
    for q, a, r, _ in machine.arcs:
        drawn.add_transition(State(q), Symbol(a) if a else Epsilon(), State(r))
    for q in machine.starts:
        drawn.add_start_state(State(q))
    for q in machine.final:
        drawn.add_final_state(State(q))
    drawn.write_as_dot(str(folder / "m.dot"))
    return (folder / "m.dot").read_text(encoding="utf-8")


def by_aalpy(machine: Sketch, folder: Path, kind: str) -> str:
    of = {
        "dfa": lambda q: learned.DfaState(q, q in machine.final),
        "moore": lambda q: learned.MooreState(q, machine.shown[q]),
        "mealy": learned.MealyState,
    }[kind]
    states = {q: of(q) for q in machine.states}
    for q, a, r, output in machine.arcs:
        states[q].transitions[a] = states[r]
        if kind == "mealy":
            states[q].output_fun[a] = output
    cls = {"dfa": "Dfa", "moore": "MooreMachine", "mealy": "MealyMachine"}[kind]
    drawn = getattr(learned, cls)(states[machine.starts[0]], [*states.values()])
    with contextlib.redirect_stdout(io.StringIO()):
        path, same = str(folder / "m"), True
        save_automaton_to_file(drawn, path, "dot", display_same_state_trans=same)
    return (folder / "m.dot").read_text(encoding="utf-8")


def by_python_statemachine(machine: Sketch, folder: Path) -> str:
    states = {q: ChartState(initial=q in machine.starts) for q in machine.states}
    ways: dict[str, Any] = {}
    for q, a, r, _ in machine.arcs:
        way = states[q].to(states[r])
        ways[f"E{a}"] = ways[f"E{a}"] | way if f"E{a}" in ways else way
    body = ways | {f"s{q}": state for q, state in states.items()}
    return str(DotGraphMachine(type("Drawn", (StateMachine,), body))().to_string())


def event(letter: str) -> str:
    """What python-statemachine calls the event of a letter."""
    return f"E{letter}".replace("_", " ").capitalize()


ACCEPTORS: dict[str, Callable[[Sketch, Path], str]] = {
    "pyformlang": by_pyformlang,
    "automata-lib": lambda machine, _: as_automata_lib(machine),
    "PySimpleAutomata": lambda machine, _: as_simple_automata(machine),
    "OpenFst": lambda machine, _: as_openfst(machine, outputs=False),
    "pynini": lambda machine, _: as_openfst(machine, outputs=False, doubled=True),
}
MACHINES: dict[str, tuple[Callable[[Sketch, Path], str], str]] = {
    "AALpy, Mealy": (partial(by_aalpy, kind="mealy"), "arcs"),
    "AALpy, Moore": (partial(by_aalpy, kind="moore"), "shown"),
    "OpenFst": (lambda machine, _: as_openfst(machine, outputs=True), "arcs"),
    "transitions": (lambda machine, _: as_transitions(machine), "states"),
    "python-statemachine": (by_python_statemachine, "states"),
}
MANY = pytest.mark.parametrize(
    "count", [25, pytest.param(2000, marks=pytest.mark.slow)]
)


@pytest.mark.sample(2)
@MANY
@pytest.mark.parametrize("writer", ACCEPTORS)
def test_drawn_acceptors_accept_the_same(
    writer: str, count: int, tmp_path: Path
) -> None:
    # OpenFst's label 0 is a move without a letter.
    names = [a for a in PLAIN if a not in "01" or writer not in ("OpenFst", "pynini")]
    for seed in range(count):
        machine = sketch(random.Random(seed), names, choices=True)
        text = ACCEPTORS[writer](machine, tmp_path)
        assert accepts_the_same(machine, dot.read(text, "m.dot")), text


@pytest.mark.sample(2)
@MANY
@pytest.mark.parametrize("writer", MACHINES)
def test_drawn_machines_show_the_same(writer: str, count: int, tmp_path: Path) -> None:
    draw, on = MACHINES[writer]
    names = [a for a in PLAIN if a not in "01" or writer != "OpenFst"]
    for seed in range(count):
        machine = sketch(random.Random(seed), names, choices=False)
        found = dot.read(draw(machine, tmp_path), "m.dot")
        called = event if writer == "python-statemachine" else str
        assert {*found.letters} == {called(a) for a in machine.letters}
        for word in machine.words():
            shown = tuple(q.removeprefix("s") for q in found.run([*map(called, word)]))
            assert shown == machine.outputs(word, on)


@pytest.mark.sample(1)
@MANY
@pytest.mark.parametrize("draw", [as_mona, as_ltlf2dfa])
def test_drawn_conditions_become_letters(
    draw: Callable[[Sketch], str], count: int
) -> None:
    for seed in range(count):
        machine = sketch(random.Random(seed), BITS, choices=False, most=4)
        found = dot.read(text := draw(machine), "m.dot")
        if "~" not in text and "X" not in text:
            continue  # nothing but true, so that nobody knows the propositions
        assert found.letters == BITS
        assert "1 if it is true" in found.remark
        assert accepts_the_same(machine, found)


@pytest.mark.sample(1)
@MANY
@pytest.mark.parametrize("writer", ["pyformlang", "automata-lib", "PySimpleAutomata"])
def test_odd_letters_are_kept_or_refused_or_remarked(
    writer: str, count: int, tmp_path: Path
) -> None:
    for seed in range(count):
        names = [*PLAIN[:3], *ODD]
        machine = sketch(random.Random(seed), names, choices=True)
        text = ACCEPTORS[writer](machine, tmp_path)
        try:
            found = dot.read(text, "m.dot")
        except MachineError:
            continue
        said = found.remark.replace("nondeterministic: read as", "")
        assert accepts_the_same(machine, found) or "read as" in said, text


def test_several_starts_of_an_acceptor(tmp_path: Path) -> None:
    for seed, writer in product(range(3), ["pyformlang", "PySimpleAutomata"]):
        machine = sketch(random.Random(seed), PLAIN, choices=True)
        machine = replace(machine, starts=machine.states)
        text = ACCEPTORS[writer](machine, tmp_path)
        assert accepts_the_same(machine, dot.read(text, "m.dot")), text


# What people bring, and neighbours of it.


@pytest.mark.parametrize(
    "sign",
    [
        "ε",
        "ɛ",
        "ϵ",
        "&epsilon;",
        "&#949;",
        "<eps>",
        "<epsilon>",
        "@0@",
        "@epsilon",
        "",
        "λ",
        "Λ",
        "eps",
        "lambda",
        "$\\\\epsilon$",
        "''",
    ],
)
def test_moves_without_a_letter(sign: str) -> None:
    """x*y*z*, which four states accept."""
    text = f'''digraph nfa {{ rankdir=LR; in [shape=point]; p; q; r [shape=doublecircle];
        in -> p; p -> p [label="x"]; p -> q [label="{sign}"]; q -> q [label="y"];
        q -> r [label="{sign}"]; r -> r [label="z"]; }}'''
    machine = dot.read(text, "m.dot")
    assert machine.letters == ("x", "y", "z")
    assert len(machine.states) == 4
    assert "without a letter" in machine.remark
    for word in product("xyz", repeat=3):
        right = "accept" if re.fullmatch("x*y*z*", "".join(word)) else "reject"
        assert machine.run(word)[-1] == right


@pytest.mark.parametrize("sign", ["ε", "<eps>", "&epsilon;"])
@pytest.mark.parametrize("other", ["a/x", "a"])
def test_only_acceptors_have_moves_without_a_letter(sign: str, other: str) -> None:
    label = f"{sign}/x" if "/" in other else sign
    text = f'digraph {{ p -> q [label="{label}"]; q -> p [label="{other}"]; }}'
    with pytest.raises(MachineError, match="which reads no letter; only acceptors"):
        dot.read(text, "m.dot")


LISTS = [
    ("0/1, 1/1", "0/0, 1/1", "several letters, which commas"),
    ("0/1,1/1", "0/0, 1/1", "several letters, which commas"),
    ("0,1/1", "0/0;1/1", "several letters"),
    ("0/1\\n1/1", "0/0\\n1/1", "several letters, which line breaks"),
    ("0/1\\l1/1\\l", "0/0\\l1/1\\l", "several letters, which line breaks"),
    ("0|1/1", "0/0 | 1/1", "several letters, which bars"),
    ("0/1,\\n1/1", "0/0,\\n1/1", "several letters, which line breaks"),
]


@pytest.mark.parametrize(("there", "back", "remark"), LISTS)
def test_several_letters_with_outputs(there: str, back: str, remark: str) -> None:
    text = f'digraph m {{\n s -> t [label="{there}"];\n t -> s [label="{back}"];\n}}'
    machine = dot.read(text, "m.dot")
    assert machine.letters == ("0", "1")
    assert machine.run("001") == ("1", "0", "1")
    assert remark in machine.remark


@pytest.mark.parametrize(
    ("label", "letters"),
    [
        ("a,b", ("a", "b")),
        ("a, b", ("a", "b")),
        ("b|a", ("b", "a")),
        ("a | b", ("a", "b")),
        ("a;b", ("a", "b")),
        ("a\\nb", ("a", "b")),
        ("(,)", ("(", ")")),
        ("f(a,b)", ("f(a,b)",)),
        (",", (",",)),
        ("|", ("|",)),
        ("a / b", ("a / b",)),
        ("f(a,b),c", ("f(a,b)", "c")),
    ],
)
def test_several_letters_of_an_acceptor(label: str, letters: tuple[str, ...]) -> None:
    text = acceptor(f'p -> q [label="{label}"];', 'q -> q [label="z"];')
    machine = dot.read(text, "m.dot")
    assert machine.letters == (*letters, "z")
    assert ("several letters" in machine.remark) == (len(letters) > 1)


@pytest.mark.parametrize(
    ("labels", "letters"),
    [
        (("ACK(V,V,0)/ok", "SYN(V,V,0)/ACK(N,C,0)"), ("ACK(V,V,0)", "SYN(V,V,0)")),
        (("a/x,y", "b/x|y"), ("a", "b")),
        (("1,2/x", "2,3/y"), ("1,2", "2,3")),
        (("1,2", "2,3"), ("1,2", "2,3")),
    ],
)
def test_one_letter_has_commas(
    labels: tuple[str, str], letters: tuple[str, ...]
) -> None:
    text = f'digraph {{ p -> p [label="{labels[0]}"]; p -> q [label="{labels[1]}"];'
    text += "".join(f' q -> q [label="{label}"];' for label in labels) + "}"
    assert dot.read(text, "m.dot").letters == letters


def test_conditions_with_outputs() -> None:
    text = (
        'digraph { i -> p; p -> p [label="a & !b / x"]; p -> p [label="!a | b / y"]; }'
    )
    machine = dot.read(text, "m.dot")
    assert machine.letters == BITS
    assert machine.run(BITS) == ("y", "y", "x", "y")
    text = text.replace("a & !b", "1").replace("!a | b", "0 & a")
    assert dot.read(text, "m.dot").run("01") == ("x", "x")


def test_no_condition_is_read_from_half_of_the_labels() -> None:
    machine = dot.read(acceptor('p -> q [label="Q & A"];', 'q -> p [label="?"];'), "m")
    assert machine.letters == ("Q & A", "?")
    assert "'Q & A' is read as one letter, not as a condition" in machine.remark


@pytest.mark.parametrize("label", ["a-c", "[a-z]", "Σ", "else", "z y", "!x < 1"])
def test_one_letter_that_looks_like_several_is_remarked(label: str) -> None:
    text = acceptor(f'p -> q [label="{label}"];', 'q -> q [label="z"];')
    machine = dot.read(text, "m.dot")
    assert machine.letters == (label, "z")
    assert f"'{label}' is read as one letter, not as " in machine.remark


@pytest.mark.parametrize("pair", ["a:x", "a → x", "a -> x"])
def test_pairs_that_are_not_divided_are_remarked(pair: str) -> None:
    machine = dot.read(f'digraph {{ i -> p; p -> p [label="{pair}"]; }}', "m.dot")
    assert machine.letters == (pair,)
    assert "is read as one letter, without an output" in machine.remark


def test_nodes_without_arrows_are_no_states() -> None:
    text = acceptor('p -> q [label="a"];', "title [label=lamp];", "q -> p [label=a];")
    assert {*dot.read(text, "m.dot").states} == {"p", "q"}
    text = acceptor("p -> p [label=a];")
    assert dot.read(text, "m.dot").run("aa") == ("reject", "reject")
    text = acceptor("q -> q [label=a];")
    assert dot.read(text, "m.dot").run("aa") == ("reject", "reject")


def test_learnlib_draws_one_letter_on_an_arrow() -> None:
    text = 'digraph { __start0 [label="", shape=none]; __start0 -> p;'
    text += 'p -> p [label="a/x, b/y"]; }'
    machine = dot.read(text, "m.dot")
    assert machine.run("a") == ("x, b/y",)
    assert "is read as one letter" in machine.remark


REFUSED = [
    ('p -> q [label="0/1,1/1"]; q -> p [label="0/1,1"];', "whose parts are not all"),
    ('p -> q [label="go [ok & !no]"];', "has a condition in its label"),
    ("p -> q [label=<Go<br/>[ok]>];", "has a condition in its label"),
    ('p -> q [label="a -> b", dir=back];', "is drawn with dir=back"),
    ('p -> q [label="a", lhead=cluster_q];', "flatten states within states"),
    ('c:d [label=x]; p -> q [label="a"];', "a ':' after the node c"),
    (
        '"c:d" -> p [label=x]; p -> c:d [label="a"];',
        "an arrow ends at 'c', which may be the node 'c:d'",
    ),
    ('":d" [label=x]; p -> "" [label="a"];', "ends at '', which may be the node ':d'"),
    ('p -> q [label="\\"a\\" -> [\\"x\\"]"];', "of a transducer of pyformlang"),
    ('q [shape=doublecircle]; p -> q [label="a/x"];', "read_as='mealy' to leave out"),
    ('q [shape=doublecircle]; p -> q [label="a,,"];', "',' may be a letter or"),
    ('p -> q [label="/x"];', "has no input in its label"),
    ('p -> q [label="a & ~a"];', "no letter meets any of its conditions"),
    ('label="[Büchi]"; p -> q [label="!a"];', "an automaton on infinite words"),
    (
        " ".join(f'p -> q [label="~p{i}"];' for i in range(9)),
        "conditions on 9 propositions, which make 2^9 letters; up to 8 are read",
    ),
]


@pytest.mark.parametrize(("arrows", "message"), REFUSED)
def test_drawings_that_may_mean_another_machine_are_refused(
    arrows: str, message: str
) -> None:
    with pytest.raises(MachineError, match=re.escape(message)):
        dot.read(f"digraph {{ {arrows} }}", "m.dot", "sink")


MARKERS = [
    "i [shape=point]; i -> p;",
    "i [shape=none]; i -> p;",
    "i [shape=plaintext]; i -> p;",
    "i [style=invis]; i -> p;",
    "i [style=invisible]; i -> p [style=bold];",
    'i [label="", shape=circle, style=filled]; i -> p [label=""];',
    "init [shape=box]; init -> p;",
    '"" [shape=none]; "" -> p [label="start"];',
    "i -> p;",
    "__start0 -> p;",
    "p [is_start=True];",
    "p [root=true];",
    "p [fillcolor=darksalmon, peripheries=2, color=red];",
    "q -> p [style=invis]; i [shape=point]; i -> p;",
    'subgraph cluster { __initial_17 [shape=circle, label=""]; __initial_17 -> p; }',
]


@pytest.mark.parametrize("marker", MARKERS)
def test_the_start_is_marked_in_many_ways(marker: str) -> None:
    arrows = 'q -> p [label="a"]; p -> q [label="a"]; q [label="q"]; p [label="p"];'
    machine = dot.read(f"digraph {{ {arrows} {marker} }}", "m.dot")
    assert (machine.states[machine.start], machine.letters) == ("p", ("a",))
    assert {*machine.states} == {"p", "q"}
    assert "no start is marked" not in machine.remark


def test_pyformlang_marks_the_start_by_a_node_without_a_text() -> None:
    text = """digraph {
  0 [is_start=True, is_final=False, peripheries=1, label=0];
  starting_0 [label="", shape=None, height=0.0, width=0.0];
  1 [is_start=False, is_final=True, peripheries=2, label=1];
  starting_0 -> 0 [key=0];
  0 -> 1 [key=0, label=a];
  1 -> 0 [key=0, label=a];
}"""
    machine = dot.read(text, "m.dot")
    assert (machine.letters, machine.states, machine.start) == (("a",), ("0", "1"), 0)
    assert machine.run("aaa") == ("accept", "reject", "accept")
    assert machine.remark == ""


def test_a_start_without_arrows_is_a_state() -> None:
    text = "digraph { p [root=true]; q -> q [label=a]; }"
    assert dot.read(text, "m.dot", "stay").run("a") == ("p",)


def test_outputs_on_arrows_are_taken_before_those_on_states() -> None:
    text = 'digraph { __start0 -> p; p [label="p|x"]; p -> p [label="a/y"]; }'
    machine = dot.read(text, "m.dot")
    assert machine.run("a") == ("y",)
    assert machine.remark == "m.dot: labels of arrows are read as letter/output"


def test_graphs_of_networkx_say_what_accepts() -> None:
    text = "digraph { p [initial=True]; q [accepting=True]; q -> p [label=a];"
    machine = dot.read(text + " p -> q [label=a]; }", "m.dot")
    assert machine.run("aa") == ("accept", "reject")
    assert machine.remark == ""


def test_a_drawing_without_a_start_says_where_it_starts() -> None:
    machine = dot.read("digraph { p -> q [label=a]; q -> p [label=a] }", "m.dot")
    assert machine.remark.startswith("m.dot: no start is marked, so it is 'p', where")


def test_names_of_nodes_are_no_outputs() -> None:
    """GraphViz writes the name of each node as its label; pyformlang repeats it."""
    text = (
        'digraph { node [label="\\\\N"]; i -> p; p -> q [label=a]; q -> p [label=a]; }'
    )
    assert dot.read(text, "m.dot").run("a") == ("q",)
    text = (
        'digraph { "x/0" [label="x/0"]; "y/1" [label="y/1"]; "x/0" -> "y/1" [label=a];'
    )
    assert dot.read(text + '"y/1" -> "x/0" [label=a]; }', "m.dot").run("a") == ("y/1",)


@pytest.mark.parametrize(
    ("label", "message"),
    [
        ("a:b/0.5", "weighted: 'a:b/0.5' ends in a weight"),
        ("a:b:c", "is no symbol, and no two"),
        ("<eps>:x", "the label '<eps>' is epsilon"),
        ("0", "the label '0' is epsilon"),
    ],
)
def test_what_openfst_draws_is_refused_as_its_text_is(label: str, message: str) -> None:
    outputs = ":" in label
    text = as_openfst(sketch(random.Random(1), ["1"], choices=False), outputs=outputs)
    text = re.sub(r'(->.*)"1.*?"', lambda m: f'{m[1]}"{label}"', text, count=1)
    with pytest.raises(MachineError, match=re.escape(message)):
        dot.read(text, "m.dot")


def test_what_openfst_draws_may_have_weights_of_one() -> None:
    text = as_openfst(sketch(random.Random(2), ["a"], choices=False), outputs=True)
    assert dot.read(text, "m.dot").letters == ("a",)
    text = re.sub(r'label = "([^"]*)"', r'label = "\1/0"', text)
    assert dot.read(text, "m.dot").letters == ("a",)


def test_outputs_and_circles_ask_for_a_kind(tmp_path: Path) -> None:
    path = tmp_path / "m.dot"
    path.write_text(acceptor('p -> q [label="a/x"];', 'q -> p [label="a/y"];'))
    assert read(path, kind="mealy").run("aa") == ("x", "y")
    assert read(path, kind="acceptor").run("aa") == ("accept", "reject")
    path.write_text(acceptor('p -> q [label="a"];', 'q -> p [label="a"];'))
    with pytest.raises(MachineError, match="no outputs, so it is no Mealy machine"):
        read(path, kind="mealy")


def test_a_start_that_is_given_is_no_guess() -> None:
    text = "digraph { p -> q [label=a, headlabel=h]; q -> p [label=a]; q [xlabel=x] }"
    machine = dot.read(text, "m.dot")
    assert "; no start is marked" in machine.remark
    started = machine.with_start("q").remark
    assert started.startswith("m.dot: ")
    assert "no start is marked" not in started
    assert "headlabel of an arrow is not read" in started
    alone = dot.read("digraph { p -> q [label=a]; q -> p [label=a] }", "m.dot")
    assert alone.with_start("q").remark == ""


@pytest.mark.parametrize("label", ["a", "a / 1"])
def test_labels_of_states_that_are_not_read_are_told_of(label: str) -> None:
    arrows = (
        f'i -> p; p -> q [label="{label}"]; q -> p [label="{label}"]; i [shape=point]'
    )
    machine = dot.read(
        f"digraph {{ {arrows}; p [label=closed]; q [label=open] }}", "m.dot"
    )
    assert machine.states == ("p", "q")
    assert machine.remark == (
        "m.dot: labels of states are not read, as 'closed' of 'p'; states are called as "
        "their nodes"
    )
