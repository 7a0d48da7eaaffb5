"""Machines from Python objects: each is the machine that the object's own library runs."""

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import networkx as nx
import numpy as np
import pytest
from aalpy.automata import (
    Dfa,
    DfaState,
    MarkovChain,
    McState,
    MealyMachine,
    MooreMachine,
    Onfsm,
    OnfsmState,
)
from aalpy.utils import generate_random_deterministic_automata
from automata.fa.dfa import DFA
from automata.fa.gnfa import GNFA
from automata.fa.nfa import NFA
from pyformlang.finite_automaton import DeterministicFiniteAutomaton
from pyformlang.fst import FST
from pyformlang.regular_expression import Regex
from statemachine import State, StateChart, StateMachine
from statemachine.io import load
from sympy.combinatorics import Permutation
from transitions import Machine, State as StateOfTransitions
from transitions.extensions.states import Timeout, add_state_features

import krohn
from krohn.algebra.automaton import Automaton
from krohn.algebra.errors import MachineError

EVEN = {"even": {"a": "odd", "b": "even"}, "odd": {"a": "even", "b": "odd"}}


def words(letters: str, length: int) -> Iterator[tuple[str, ...]]:
    for count in range(1, length + 1):
        yield from product(letters, repeat=count)


def test_a_machine_is_called_as_its_object_is() -> None:
    """Else it is called yours in messages, and never ``machine``."""

    def clock(hour: int, hand: int) -> int:
        return (hour + hand) % 5

    class Lamp(StateMachine):
        off, on = State(initial=True), State()
        push = off.to(on) | on.to(off)

    graph = nx.DiGraph([(0, 1, {"letter": "a"}), (1, 0, {"letter": "a"})], name="ring")
    ways: dict[Any, str] = {clock: "clock", (lambda q, a: q): "your machine"}
    for source, name in ways.items():
        assert krohn.automaton(source, 0, letters=[1, -1]).name == name
    named = [(graph, "ring"), (Lamp, "Lamp"), (Lamp(), "Lamp"), (EVEN, "your machine")]
    for source, name in named:
        assert krohn.automaton(source).name == name
    assert krohn.automaton(EVEN, name="parity").name == "parity"
    with pytest.raises(krohn.KrohnError, match=r"^your machine is no memory"):
        krohn.compile(EVEN, 4, construction="memory")


def test_a_dict_is_its_table() -> None:
    machine = krohn.automaton(EVEN, "odd", accepting={"odd"}, name="parity")
    assert (machine.name, machine.start, machine.letters) == ("parity", 1, ("a", "b"))
    for word in words("ab", 4):
        odd = 1 + word.count("a")
        assert machine.run(word)[-1] == ("accept" if odd % 2 else "reject")


def test_outputs_lie_on_states_or_on_transitions() -> None:
    moore = krohn.automaton(EVEN, outputs={"even": 0, "odd": 1})
    assert moore.run("aab") == ("1", "0", "0")
    told = {"even": {"a": "up", "b": "-"}, "odd": {"a": "down", "b": "-"}}
    mealy = krohn.automaton(EVEN, outputs=told)
    assert mealy.run("aab") == ("up", "down", "-")
    same = krohn.automaton(EVEN, outputs=lambda q, a: told[q][a])
    assert same == mealy


def test_a_function_is_explored_breadth_first() -> None:
    machine = krohn.automaton(
        lambda q, a: (q[1], (q[0] + a) % 3),
        (0, 1),
        letters=[0, 1],
        accepting=lambda q: q[0] == q[1],
    )
    assert len(machine.states) == 9
    assert machine.states[0] == "(0, 1)"
    state = (0, 1)
    for a, shown in zip(word := [1, 0, 0, 1, 1], machine.run("10011"), strict=True):
        state = (state[1], (state[0] + a) % 3)
        assert shown == ("accept" if state[0] == state[1] else "reject")
    assert word


def test_an_error_in_a_function_is_told_with_its_state_and_letter() -> None:
    with pytest.raises(
        MachineError, match="state 2 and letter 'a': ZeroDivision"
    ) as told:
        krohn.automaton(lambda q, a: q + 1 + 0 // (2 - q), 1, letters="a")
    assert isinstance(told.value.__cause__, ZeroDivisionError)


def test_more_states_than_the_limit_are_refused() -> None:
    def count(q: int, a: str) -> int:
        return q + 1

    with pytest.raises(MachineError, match="more than 50 states"):
        krohn.automaton(count, 0, letters="a", limit=50)
    assert (
        len(krohn.automaton(lambda q, a: (q + 1) % 50, 0, letters="a", limit=50).states)
        == 50
    )


@pytest.mark.sample(1)
@pytest.mark.parametrize("wrap", [list, tuple, Permutation], ids=str)
def test_permutations_act_on_points(wrap: Callable[[list[int]], Any]) -> None:
    machine = krohn.automaton([wrap([1, 2, 0]), wrap([1, 0, 2])], letters="rs")
    assert machine.transitions.tolist() == [[1, 2, 0], [1, 0, 2]]
    assert machine.letters == ("r", "s")
    assert krohn.compile(machine, 5).proof is not None


def test_a_dfa_of_automata_lib() -> None:
    dfa = DFA.from_substring(input_symbols={"a", "b"}, substring="aba")
    machine = krohn.automaton(dfa)
    for word in words("ab", 7):
        assert (machine.run(word)[-1] == "accept") == dfa.accepts_input("".join(word))
    partial = DFA.from_finite_language(input_symbols={"a", "b"}, language={"ab"})
    partial = partial.to_partial()
    full = krohn.automaton(partial)
    assert full == krohn.automaton(partial, complete="sink")
    assert (
        "transitions are missing: words that need one are not accepted" in full.remark
    )
    assert [full.run(w)[-1] for w in ("ab", "aba", "ba")] == ["accept", *["reject"] * 2]


@pytest.mark.parametrize("kind", ["dfa", "moore", "mealy"])
@pytest.mark.parametrize("seed", range(3))
def test_automata_of_aalpy(kind: str, seed: int) -> None:
    random.seed(seed)
    told = generate_random_deterministic_automata(kind, 6, 2, 3)
    machine = krohn.automaton(told)
    said = {True: "accept", False: "reject"}
    letters = told.get_input_alphabet()
    for length in range(1, 7):
        for word in product(letters, repeat=length):
            outputs = told.execute_sequence(told.initial_state, list(word))
            shown = machine.run([str(a) for a in word])
            assert shown == tuple(str(said.get(o, o)) for o in outputs)


def test_the_kinds_of_aalpy_are_told_apart() -> None:
    moore = MooreMachine.from_state_setup(
        {"p": ("x", {"a": "q"}), "q": ("y", {"a": "p"})}
    )
    mealy = MealyMachine.from_state_setup({"p": {"a": ("x", "p")}})
    assert krohn.automaton(moore).run("aa") == ("y", "x")
    assert krohn.automaton(mealy).run("aa") == ("x", "x")
    states = [DfaState("p", True), DfaState("q", False)]
    states[0].transitions["a"] = states[1]
    assert krohn.automaton(Dfa(states[0], states)).run("aa") == ("reject", "reject")
    loose = OnfsmState("p")
    loose.add_transition("a", "x", loose)
    with pytest.raises(MachineError, match="nondeterministic"):
        krohn.automaton(Onfsm(loose, [loose]))


def _transducer() -> FST:
    made = FST()
    made.add_start_state("p")
    made.add_transition("p", "a", "p", ["x", "y"])
    return made


def _chain() -> MarkovChain:
    state = McState("p", "x")
    state.transitions.append((state, 1.0))
    return MarkovChain(state, [state])


def _timed() -> Machine:
    states = ["p", {"name": "q", "timeout": 1, "on_timeout": "a"}]
    made = add_state_features(Timeout)(type("Timed", (Machine,), {}))
    return made(states=states, transitions=[["a", "p", "q"]], initial="p")


class _Invoking(StateChart):
    p = State(initial=True, invoke=lambda: 1)
    q = State()
    go = p.to(q) | q.to(p)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (lambda: GNFA.from_nfa(NFA.from_regex("ab")), "a GNFA has expressions"),
        (_transducer, "a FST of pyformlang shows words"),
        (_chain, "a MarkovChain reads no letters"),
        (_timed, "the state 'q' is left after some time (timeout)"),
        (lambda: _Invoking, "the state 'p' runs something beside it (invoke)"),
        (lambda: {"p": {"ε": ["p"], "a": ["p"]}}, "'ε' as a letter may stand for none"),
        (lambda: {"p": {None: "p"}}, "None as a letter may stand for none"),
        (lambda: nx.DiGraph([(0, 0, {"letter": None})]), "None as a letter may stand"),
    ],
)
def test_objects_that_mean_more_than_a_machine(
    source: Callable[[], Any], said: str
) -> None:
    with pytest.raises(MachineError) as refused:
        krohn.automaton(source())
    assert said in str(refused.value)


def test_triggers_of_transitions_are_those_that_the_library_takes() -> None:
    ways = [["a", "p", "q"]]
    states = [StateOfTransitions("p"), StateOfTransitions("q")]
    ignoring = Machine(
        states=states, transitions=ways, initial="p", ignore_invalid_triggers=True
    )
    assert krohn.automaton(ignoring).run("aa") == ("q", "q")
    named = [["to_q", "p", "q"], ["a", "*", "p"]]
    machine = krohn.automaton(
        Machine(states=["p", "q"], transitions=named, initial="p")
    )
    assert machine.letters == ("to_q", "a")


@pytest.mark.parametrize("kind", [nx.DiGraph, nx.MultiDiGraph])
def test_graphs_have_letters_on_edges(kind: type[Any]) -> None:
    graph = kind()
    graph.add_edge(0, 1, by="x")
    graph.add_edge(1, 0, by=["x", "y"])
    graph.add_edge(0, 0, by="y")
    machine = krohn.automaton(graph, edge="by", accepting=[1])
    assert machine.run("xyx") == ("accept", "reject", "accept")


def test_attributes_of_graphs_that_may_mean_something_are_remarked() -> None:
    graph = nx.DiGraph()
    graph.add_node("p", accepting=True, color="red")
    graph.add_edge("p", "p", letter="a", output="x")
    machine = krohn.automaton(graph)
    assert "not read: 'accepting', 'output'; say start=" in machine.remark
    assert not krohn.automaton(graph, accepting=["p"]).remark
    assert "'output'" not in krohn.automaton(graph, edge="output").remark


@dataclass
class _Arc:
    ilabel: int
    olabel: int
    weight: str
    nextstate: int


class _Symbols:
    names = ("<eps>", "a", "b", "zero", "one")

    def find(self, label: int) -> str:
        return self.names[label]


@dataclass
class _Fst:
    """Has the methods of pynini's and OpenFst's Fst that are read."""

    moves: dict[int, list[_Arc]]
    finals: dict[int, str]
    symbols: _Symbols | None = field(default_factory=_Symbols)
    shown: Any = "the same"

    def start(self) -> int:
        return 1

    def states(self) -> list[int]:
        return [0, 1]

    def arcs(self, q: int) -> list[_Arc]:
        return self.moves[q]

    def final(self, q: int) -> str:
        return self.finals.get(q, "Infinity")

    def input_symbols(self) -> _Symbols | None:
        return self.symbols

    def output_symbols(self) -> _Symbols | None:
        return self.symbols if self.shown == "the same" else self.shown


def _moves(*outputs: int) -> dict[int, list[_Arc]]:
    targets = [(0, 1, 1), (0, 2, 0), (1, 1, 0), (1, 2, 1)]
    moves: dict[int, list[_Arc]] = {0: [], 1: []}
    for (q, a, to), o in zip(targets, outputs, strict=True):
        moves[q].append(_Arc(a, o, "0", to))
    return moves


def test_an_fst_is_an_acceptor_or_a_mealy_machine() -> None:
    acceptor = krohn.automaton(_Fst(_moves(1, 2, 1, 2), {0: "0"}))
    assert acceptor.run("aab") == ("accept", "reject", "reject")
    mealy = krohn.automaton(_Fst(_moves(3, 3, 4, 4), {}), read_as="mealy")
    assert mealy.run("aab") == ("one", "zero", "one")
    for bad, reason in (
        (_Fst(_moves(1, 2, 1, 2), {0: "0.5"}), "weighted"),
        (_Fst(_moves(1, 0, 1, 2), {}), "epsilon"),
    ):
        with pytest.raises(MachineError, match=reason):
            krohn.automaton(bad)


def test_one_table_of_symbols_names_the_labels_of_an_acceptor() -> None:
    """OpenFst attaches only the first where an acceptor is compiled with it."""
    moves, table = _moves(1, 2, 1, 2), _Symbols()
    both = krohn.automaton(_Fst(moves, {0: "0"}, table))
    assert krohn.automaton(_Fst(moves, {0: "0"}, table, None)) == both
    assert krohn.automaton(_Fst(moves, {0: "0"}, None, table)) == both
    numbers = krohn.automaton(_Fst(moves, {0: "0"}, None, None))
    assert numbers.letters == ("1", "2")
    assert numbers.remark.count("are the numbers of its labels") == 1
    assert "are the numbers" not in both.remark
    shown = _Fst(_moves(3, 3, 4, 4), {}, table, None)
    assert krohn.automaton(shown).run("aab") == ("4", "3", "4")


def test_labels_of_an_fst_may_have_blanks_and_are_no_tests_of_features() -> None:
    table = _Symbols()
    table.names = ("-", " ", "b c")
    machine = krohn.automaton(_Fst(_moves(1, 2, 1, 2), {0: "0"}, table))
    assert machine.run([" ", " ", "b c"]) == ("accept", "reject", "reject")
    for name, reason in (
        ("@_UNKNOWN_SYMBOL_@", "all letters that are not named"),
        ("@P.CASE.NOM@", "is a flag, which is no letter"),
    ):
        table.names = ("-", name, "b")
        with pytest.raises(MachineError, match=reason):
            krohn.automaton(_Fst(_moves(1, 2, 1, 2), {0: "0"}, table))


def test_what_computes_a_machine_stands_for_it() -> None:
    model = krohn.compile("S3", 4)
    assert krohn.automaton(model) == krohn.automaton(model.model) == model.machine
    assert krohn.automaton("S3", start="213").start == 2


@pytest.mark.slow
def test_all_that_takes_a_machine_takes_objects() -> None:
    dfa = DFA.from_substring(input_symbols={"a", "b"}, substring="ab")
    model = krohn.compile(dfa, 6)
    assert krohn.verify(model, machine=dfa).verdict == "verified"
    assert krohn.verify(model, dfa, exhaustive=6).verdict == "verified"
    assert krohn.explain(dfa, 6)["states"] == krohn.explain(model)["states"] == 3
    assert krohn.explain(model)["length"] == 6
    assert krohn.decompose(dfa).machine.letters == ("a", "b")
    assert krohn.examine(model.model, dfa, 5).verdict == "verified"
    for drawn in (dfa, model, krohn.decompose(model), "S3"):
        assert krohn.draw(drawn).get_size_inches()[0] > 0


def test_the_same_object_gives_the_same_machine() -> None:
    """Sets of automata-lib have no order of their own."""
    tables = set()
    for names in ("abc", "cba"):
        dfa = DFA(
            states=set(names),
            input_symbols=set("xy"),
            transitions={q: {"y": q, "x": "a"} for q in names},
            initial_state="b",
            final_states={"c"},
        )
        machine = krohn.automaton(dfa)
        tables.add((machine.letters, machine.states, machine.transitions.tobytes()))
    assert len(tables) == 1


def test_a_letter_of_automata_lib_may_be_0() -> None:
    moves = {"even": {0: "even", 1: "odd"}, "odd": {0: "odd", 1: "even"}}
    dfa = DFA(
        states=set(moves),
        input_symbols={0, 1},
        transitions=moves,
        initial_state="even",
        final_states={"odd"},
    )
    machine = krohn.automaton(dfa)
    assert machine.states == ("even", "odd")
    assert machine.run("0110")[-2:] == ("reject", "reject")
    assert machine.run("0010") == ("reject", "reject", "accept", "accept")


@pytest.mark.parametrize("symbols", [None, ("<e>", "a", "b"), ("ε", "a", "b")])
def test_label_0_of_an_fst_is_epsilon_whatever_it_is_called(symbols: Any) -> None:
    table = None
    if symbols is not None:
        table = _Symbols()
        table.names = symbols
    arcs = {1: [_Arc(1, 1, "0", 1), _Arc(0, 0, "0", 0)], 0: [_Arc(2, 2, "0", 0)]}
    machine = krohn.automaton(_Fst(arcs, {0: "0"}, table))
    one, two = machine.letters
    assert (one, two) == (("1", "2") if symbols is None else ("a", "b"))
    assert machine.run([one, two]) == ("accept", "accept")
    assert machine.run([two, one]) == ("accept", "reject")


def test_no_other_label_of_an_fst_is_called_as_epsilon_is() -> None:
    table = _Symbols()
    table.names = ("-", "<eps>", "b")
    with pytest.raises(MachineError, match="means epsilon"):
        krohn.automaton(_Fst(_moves(1, 2, 1, 2), {0: "0"}, table))


def test_an_fst_starts_in_its_start_state() -> None:
    arcs = {1: [], 0: [], 10: [_Arc(1, 1, "0", 10)]}
    fst = _Fst(arcs, {10: "0"})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_Fst, "states", lambda self: [0, 1, 10])
        machine = krohn.automaton(fst)
    assert machine.states[machine.start] == "1"
    assert machine.run("aa") == ("reject", "reject")


def test_states_of_aalpy_that_are_called_alike_are_refused() -> None:
    first, other, third = DfaState("q"), DfaState("p"), DfaState("q", True)
    first.transitions, other.transitions = {"a": other}, {"a": third}
    third.transitions = {"a": third}
    with pytest.raises(MachineError, match="two states of the Dfa have the state_id"):
        krohn.automaton(Dfa(first, [first, other, third]))


MISTAKES: dict[str, tuple[Callable[[], Automaton], str]] = {
    "a missing letter": (
        lambda: krohn.automaton({"p": {"a": "p", "b": "p"}, "q": {"a": "p"}}),
        "1 of 4 transitions are missing, the first one from state 'q' under 'b'",
    ),
    "a target that is no key": (
        lambda: krohn.automaton({"p": {"a": "q"}}),
        "from 'p' the letter 'a' leads to 'q', no state",
    ),
    "several targets": (
        lambda: krohn.automaton({"p": {"a": ["p", "q"]}, "q": {"a": "p"}}),
        "nondeterministic",
    ),
    "a letter without a name": (
        lambda: krohn.automaton({"p": {"": "q"}, "q": {"": "p"}}, accepting=["q"]),
        "a letter is called by an empty text",
    ),
    "no table": (lambda: krohn.automaton({"p": "q"}), "not to a dict from letters"),
    "an empty dict": (lambda: krohn.automaton({}), "at least one state"),
    "an unknown start": (lambda: krohn.automaton(EVEN, "x"), "start state 'x'"),
    "an unknown accepting state": (
        lambda: krohn.automaton(EVEN, accepting=["x"]),
        "accepting= names 'x'",
    ),
    "missing outputs": (
        lambda: krohn.automaton(EVEN, outputs={"even": 1}),
        "nothing of the state 'odd'",
    ),
    "an unknown letter": (
        lambda: krohn.automaton(EVEN, letters="a"),
        "has the letter 'b', which letters= lacks",
    ),
    "names that meet": (
        lambda: krohn.automaton({1: {"a": "1"}, "1": {"a": 1}}),
        "would both be called '1'",
    ),
    "states that cannot be told apart": (
        lambda: krohn.automaton(lambda q, a: [q], 0, letters="a"),
        "not hashable",
    ),
    "a function without letters": (
        lambda: krohn.automaton(lambda q, a: q),
        "needs letters= and start=",
    ),
    "permutations of different lengths": (
        lambda: krohn.automaton([[1, 0], [0, 1, 2]]),
        "permutation 1 is of 3 points, permutation 0 of 2",
    ),
    "no permutation": (
        lambda: krohn.automaton([[0, 0]]),
        "not a permutation of 0, …, 1",
    ),
    "too few letters": (
        lambda: krohn.automaton([[1, 0], [0, 1]], letters="a"),
        "1 letters for 2 permutations",
    ),
    "an NFA whose missing moves stay": (
        lambda: krohn.automaton(NFA.from_regex("(ab)*a"), complete="stay"),
        "nondeterministic, so complete='stay' has no meaning",
    ),
    "a graph without letters": (
        lambda: krohn.automaton(nx.DiGraph([(0, 1)])),
        "has no attribute 'letter'",
    ),
    "a graph without directions": (
        lambda: krohn.automaton(nx.Graph([(0, 1)])),
        "no directions",
    ),
    "an option without effect": (
        lambda: krohn.automaton(EVEN, limit=5),
        "limit= has no effect on a dict",
    ),
    "an option beside a name": (
        lambda: krohn.automaton("S3", letters="ab"),
        "letters= has no effect on S3",
    ),
    "no machine": (
        lambda: krohn.automaton(np.zeros(3)),
        "no machine in an object of type ndarray",
    ),
    "no machine to compile": (
        lambda: krohn.automaton(krohn.compile(3.5, 4)),
        "no machine in an object of type float",
    ),
}


def accepted(machine: Automaton, letters: str, longest: int = 6) -> set[str]:
    """The words that a machine accepts, up to a length."""
    every = (
        "".join(w) for n in range(1, longest + 1) for w in product(letters, repeat=n)
    )
    return {w for w in every if machine.run(w)[-1] == "accept"}


LAST_BUT_ONE = re.compile("[ab]*a[ab]")
CHOICES = {0: {"a": [0, 1], "b": 0}, 1: {"a": 2, "b": 2}, 2: {}}


def choosing_graph() -> nx.MultiDiGraph:
    edges = [(0, 0, ["a", "b"]), (0, 1, "a"), (1, 2, ["a", "b"])]
    graph = nx.MultiDiGraph()
    for source, target, letter in edges:
        graph.add_edge(source, target, letter=letter)
    return graph


@pytest.mark.parametrize("named", ["dict", "graph", "automata-lib", "pyformlang"])
def test_acceptors_with_choices_accept_the_same_words(named: str) -> None:
    if named == "dict":
        machine = krohn.automaton(CHOICES, accepting=[2])
    elif named == "graph":
        machine = krohn.automaton(choosing_graph(), accepting=[2])
    elif named == "automata-lib":
        machine = krohn.automaton(NFA.from_regex("(a|b)*a(a|b)"))
    else:
        machine = krohn.automaton(Regex("(a|b)* a (a|b)"))
    every = ("".join(w) for n in range(1, 7) for w in product("ab", repeat=n))
    assert accepted(machine, "ab") == {w for w in every if LAST_BUT_ONE.fullmatch(w)}
    assert len(machine.states) == 4
    assert "nondeterministic: read as the smallest deterministic" in machine.remark


def turnstile(library: str, **said: Any) -> Any:
    """A turnstile as controllers' libraries have it, with what else is said of a coin."""
    if library == "transitions":
        moves = [
            {"trigger": "coin", "source": "locked", "dest": "open", **said},
            {"trigger": "push", "source": "open", "dest": "locked"},
            {"trigger": "look", "source": "*", "dest": None},
        ]
        return Machine(
            states=["locked", "open"],
            initial="locked",
            transitions=moves,
            ignore_invalid_triggers=True,
            model=None,
        )
    locked, opened = State(initial=True), State()
    parts = {
        "locked": locked,
        "open": opened,
        "coin": locked.to(opened, **said) | opened.to.itself(),
        "push": opened.to(locked) | locked.to.itself(),
        "look": opened.to.itself(internal=True) | locked.to.itself(),
        "paid": lambda self: True,
    }
    return type("Turnstile", (StateMachine,), parts)


@pytest.mark.parametrize("library", ["transitions", "python-statemachine"])
def test_controllers_of_other_libraries(library: str) -> None:
    found = turnstile(library)
    machine = krohn.automaton(found)
    assert machine.letters == ("coin", "push", "look")
    ran = ("open", "open", "open", "locked", "locked")
    assert machine.run(["coin", "look", "coin", "push", "push"]) == ran
    if library == "python-statemachine":
        assert krohn.automaton(found()) == machine
    said = {"conditions" if library == "transitions" else "cond": "paid"}
    with pytest.raises(MachineError, match="has a condition; a network sees letters"):
        krohn.automaton(turnstile(library, **said))


def test_a_chart_of_python_statemachine_ignores_what_it_does_not_take() -> None:
    class Light(StateChart):
        red, green = State(initial=True), State()
        go = red.to(green)
        stop = green.to(red)

    machine = krohn.automaton(Light)
    assert machine.run(["stop", "go", "go"]) == ("red", "green", "green")


def test_a_chart_that_python_statemachine_has_loaded() -> None:
    """An event takes all that begin with its words."""
    said = """{"name": "Light", "states": {
        "p": {"initial": true, "transitions": [{"event": "a.b", "target": "p"},
                                               {"event": "a", "target": "q"}]},
        "q": {"transitions": [{"event": "a", "target": "p"}]}}}"""
    chart = load(said, format="json")
    machine = krohn.automaton(chart)
    for word in product(machine.letters, repeat=3):
        running, shown = chart(), list[str]()
        for letter in word:
            running.send(letter)
            shown += [state.id for state in running.configuration]
        assert machine.run(word) == tuple(shown)


def test_what_no_letter_decides_in_a_controller_is_refused() -> None:
    class Checked(StateMachine):
        locked, opened = State(initial=True), State()
        coin = locked.to(opened, validators="paid") | opened.to.itself()

        def paid(self) -> None:
            raise ValueError

    class Passing(StateMachine):
        first, second, third = State(initial=True), State(), State()
        go = first.to(second) | second.to.itself() | third.to(first)
        second.to(third)

    class Any_(StateMachine):
        first, second = State(initial=True), State()
        go = first.to(second) | second.to(first)
        stay = first.to.itself() | second.to.itself(event="*")

    for machine, reason in (
        (Checked, "has a condition"),
        (Passing, "a transition from 'second' has no event"),
        (Any_, "stands for others"),
    ):
        with pytest.raises(MachineError, match=reason):
            krohn.automaton(machine)


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_get_one_line(mistake: str) -> None:
    build, reason = MISTAKES[mistake]
    with pytest.raises(MachineError, match=reason) as caught:
        build()
    assert "\n" not in str(caught.value)


def test_what_equality_is_to_an_object_is_never_asked() -> None:
    class Strict(dict[Any, Any]):
        def __eq__(self, other: object) -> bool:
            raise TypeError("no equality")

        def __ne__(self, other: object) -> bool:
            raise TypeError("no equality")

        __hash__ = None  # type: ignore[assignment]

    source = Strict({"even": {"x": "odd"}, "odd": {"x": "even"}})
    assert krohn.compile(source, 4).proof is not None
    assert krohn.explain(source)["states"] == 2


@pytest.mark.sample(1)
@pytest.mark.parametrize("library", ["automata-lib", "AALpy", "pyformlang"])
def test_objects_of_the_libraries_go_wherever_machines_do(library: str) -> None:
    moves = {"even": {"x": "odd"}, "odd": {"x": "even"}}
    flips: Any
    if library == "automata-lib":
        flips = DFA(
            states=set(moves),
            input_symbols={"x"},
            transitions=moves,
            initial_state="even",
            final_states={"even"},
        )
    elif library == "AALpy":
        even, odd = DfaState("even", True), DfaState("odd", False)
        even.transitions, odd.transitions = {"x": odd}, {"x": even}
        flips = Dfa(even, [even, odd])
    else:
        flips = DeterministicFiniteAutomaton()
        flips.add_start_state("even")
        flips.add_final_state("even")
        flips.add_transitions([("even", "x", "odd"), ("odd", "x", "even")])
    model = krohn.compile(flips, 4)
    assert krohn.verify(model, machine=flips).verdict == "verified"
    assert krohn.explain(flips)["states"] == 2
    assert krohn.decompose(flips) is not None
    assert krohn.draw(flips) is not None
    krohn.equivalent(flips, flips)
