"""Mistakes of people who know Python only: each gets a message that says what to do.

No message is one of Python's own from inside; each is on one line.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
import torch
from every_kind import compiled
from pyformlang.cfg import CFG
from pyformlang.finite_automaton import DeterministicFiniteAutomaton
from transitions import Machine

import krohn
from krohn import workbench

EVEN = {"even": {"a": "odd", "b": "even"}, "odd": {"a": "even", "b": "odd"}}
LAWS = {"startprob": [1, 0], "emissionprob": [[1, 0], [0, 1]]}
HALF = [[0.5, 0.5], [0.5, 0.5]]


def controller(*transitions: Any) -> Machine:
    return Machine(states=["a", "b"], initial="a", transitions=list(transitions))


GO = {"trigger": "go", "source": "a", "dest": "b", "conditions": lambda: True}
NAMES: dict[str, Any] = {
    **{"krohn": krohn, "np": np, "nx": nx, "torch": torch, "Path": Path},
    **{"workbench": workbench, "Machine": Machine, "CFG": CFG, "HALF": HALF},
    **{"DFA": DeterministicFiniteAutomaton, "EVEN": EVEN, "LAWS": LAWS},
    **{"controller": controller, "GO": GO},
}
MISTAKES = r"""
krohn.compile("C2") -> needs the longest length it is for \(length=\)
krohn.compile("C2", "10") -> length is a whole number, not '10'
krohn.compile("C2", 10.0) -> length is a whole number, not 10.0
krohn.compile("C2", 0) -> length must be at least 1
krohn.compile("C2", T=10) -> takes no T= \(say length=\)
krohn.compile("C2", max_length=10) -> say length=
krohn.compile("C2", 10, lenght=3) -> did you mean length\?
krohn.compile("c2", 10) -> did you mean C2
krohn.compile("C2", 10, dtype="fp16") -> there are float64, float32, float16
krohn.compile("C2", 10, dtype=np.int64) -> there is no dtype 'int64'
krohn.compile("C2", 10, arch="RNN") -> did you mean rnn\?
krohn.compile("C2", 10, construction="counters") -> did you mean counter\?
krohn.compile("C2", 10, strict="yes") -> strict is True or False, not 'yes'
krohn.compile("C2", 10, start=7) -> '7' is not a state of C2; its states are 0, 1
krohn.compile("C2", 10, observe="accepts") -> did you mean accept\?
krohn.compile(None, 10) -> help\(krohn.automaton\) says what
krohn.compile(torch.nn.LSTM(2, 4), 10) -> krohn.learn learns the machine that a network
krohn.compile("(ab)*", 10) -> a pattern is written regex:\(ab\)\*
krohn.compile("regex:(ab", 10) -> the '\(' stays open
krohn.compile("machines/mine.dot", 10) -> No such file
krohn.compile(Path("notes.txt"), 10) -> name the file with one of .json, .dot
krohn.compile({}, 10) -> at least one state
krohn.compile({"a": "b", "b": "a"}, 10) -> {state: {letter: state}}
krohn.compile({("p", "a"): "q"}, 10) -> {state: {letter: state}}
krohn.compile({"initial": [1.0], "final": [1.0]}, 4) -> one of start, matrices and final
krohn.automaton({"p": {"a": "q"}, "q": {}}) -> choose complete='sink'
krohn.automaton({"p": {"a": "r"}}) -> leads to 'r', no state
krohn.automaton(EVEN, start="evn") -> the start state 'evn' is no state
krohn.automaton(EVEN, accepting="even") -> of one state: {state}
krohn.automaton(EVEN, accepting=True) -> a collection of states, not True
krohn.automaton(EVEN, accepting={"evn"}) -> 'evn', which is no state
krohn.automaton(EVEN, outputs=["x", "y"]) -> a dict by state, or a function .* not a list
krohn.automaton(EVEN, complete=True) -> 'reject' or 'sink' or 'stay', not True
krohn.automaton({1: {"a": "1"}, "1": {"a": 1}}) -> would both be called '1'
krohn.automaton(lambda q, a: q, 0) -> krohn.automaton\(function, start, letters=letters\)
krohn.automaton(lambda q: q, 0, letters="ab") -> fails for state 0 and letter 'a'
krohn.automaton(lambda q, a: [q], 0, letters="ab") -> use a tuple or a string
krohn.automaton(lambda q, a: q + 1, 0, letters="a", limit=9) -> a larger limit=
krohn.automaton(np.eye(2)) -> table\[state\]\[letter\], start, letters=range\(n\)
krohn.automaton([[0, 0], [1, 1]]) -> any other table as a function: krohn.automaton\(lambda
krohn.automaton(nx.Graph([(0, 1)])) -> give a DiGraph
krohn.automaton(nx.DiGraph([(0, 1)])) -> no attribute 'letter'; say edge=
krohn.automaton(DFA()) -> has no start state
krohn.automaton(CFG.from_text("S -> a S b")) -> no machine in an object of type CFG
krohn.automaton(controller(["go", "a", "b"])) -> choose complete='sink'
krohn.automaton(controller(GO, ["go", "b", "a"])) -> make two letters of it
krohn.automaton(Machine) -> Machine is a class; give an object of it
net.run(["2"]) -> '2' is not a letter .* the letters are 0, 1
net.run(5) -> a word is a string or a list of letters
net.run("1111111") -> compile it again with a larger length
net(torch.zeros(1, 3)) -> `model.encode` makes them
net.write("11") -> run\(word\) gives what it says
text.run("a a | a") -> this has 4 tokens
net.run("x") -> 'x' is not a letter
text.write("hello") -> a prompt of LCS2,2 has the form
net.patch("11", "stored", 1, 1) -> sum, count, and `model.select\(\)` prints all of them$
net.patch("11", "count", 9, 1) -> no position 9 in a word of 2 letters
net.run_with_hooks("11", {"blocks.7.mlp": abs}) -> `model.hook_places\(\)` lists the places
net.run_with_hooks("11", [("logits", abs)]) -> hooks are a dict
net.run_with_hooks("11", None) -> what stands there}, not None
net.run_with_hooks("11", {"count": lambda v: 5}) -> returned an int; there stands a tensor
net.run_with_hooks("11", {"count": lambda v: v[:, 1:]}) -> a tensor \(1, 2\); there stands
net.run_with_hooks("11", {5: abs}) -> called by its name, as 'stored', not by 5
net.run_with_cache("11")[1]["cuont"] -> no place or variable 'cuont' \(did you mean count
net.run_with_cache(None) -> None is neither
net("11", 5) -> model\(\) takes words and no more
net() -> model\(\) missing a required argument: 'words'
net(["1", None]) -> None is not a letter \(letter 2\)
net([["1"], None]) -> word 2 is None; a word is a string or a list of letters
net.run("11", 5) -> takes word by place; all else has a name: states=
net.run("11", state=True) -> did you mean states\?
net.encode(5) -> an int is neither
net.read("11") -> missing a required argument: 'variable'
net.read(channel="count", words="11") -> takes no channel=; it takes words, variable
net.read("11", "count0") -> no variable 'count0' \(did you mean count
net.read("11", ["count"]) -> by its name, as 'stored', not by \['count'\]
net.read(torch.zeros(3).long(), "count") -> a row for each word
net.patch("11", "count", True, 1) -> no position True
net.patch("11", "count", "1", 1) -> no position '1'
net.patch("11", "count", 0, 1) -> at 0 is the start symbol
net.patch("11", "count", 1, 7) -> is never 7; its values after a letter are 0 → 0; 1 → 1$
net.patch("11", "count", 1, "odd") -> is never 'odd'; its values after a letter are 0 → 0
net.patch("11", "count", 1, [1]) -> is never \[1\]
net.patch("11", "count", 1) -> a variable, a position and a value
net.patch("11", {"count": 1}) -> as in patch\(word, "sum", 2, 1\)
net.patch(["1", ["0"]], "count", 1, 1) -> word 1|one word
krohn.automaton("S55") -> ^S55 is not in the zoo: S2 to S8 are$
net.patch("count", "11", 1, 1) -> the word comes first: patch\(word, 'count', position
net.patch("cuont", "11", 1, 1) -> not a letter
net.ablate("sum", "11") -> 'sum' is a variable; the word comes first: ablate\(word, 'sum'\)
net.read("sum", "11") -> 'sum' is a variable; the word comes first: read\(word, 'sum'\)
net.patch("", "count", 1, 1) -> one word with at least one letter
net.patch("11", "count", positon=1) -> did you mean position\?
net.ablate("11", 5) -> by its name, as 'stored', not by 5
net.ablate("11", []) -> name a variable whose head
net.ablate("11", ["sum", "count"]) -> no head writes 'count'; heads write sum$
net.select("sums") -> did you mean sum\?
net.select("x*") -> the network's answer is in count; the variables are increment, sum
net.select(["sum"]) -> by its name, as 'stored', not by \['sum'\]
net.select("*").place -> 3 variables are selected \(increment, sum, count\)
net.select("sum").patch("11", 1) -> missing a required argument: 'value'
net.select("sum").place.read(5) -> a stream is a tensor .* not an int
model.run("11") -> \.model\.run is that of its network
krohn.run("f", "11") -> krohn.load\(path\).run\(word\)
krohn.load("C2") -> `krohn compile` writes model files
krohn.load(model) -> `.model` of what krohn.compile returns
krohn.verify(model, "C2", 6) -> takes model, machine by place; .* proof=, exhaustive=
krohn.verify(model, samples=10) -> say sample=
krohn.verify(model, exhaustive=True) -> exhaustive is a whole number, not True
krohn.verify(model, machine="C3") -> different letters: '2' occurs in only one
krohn.verify(net.network) -> a Transformer says nothing of what it computes
krohn.learn(lambda word: word) -> say vocabulary=, how many letters the network reads
krohn.learn(model, method="L*") -> method= takes lstar, rpni
krohn.compare("C2", preset="small") -> preset= takes desk, paper
krohn.compare("C2", "C3") -> preset= takes desk, paper, not 'C3'
krohn.compare("C2", device="gpu") -> name a device that it has, as cpu
krohn.export(model, "onnx", "out") -> takes model by place; .* to=, directory=
krohn.export(model, to="pytorch", directory="out") -> transformer-lens, huggingface
krohn.equivalent("C2") -> missing a required argument: 'right'
krohn.equivalent("C2", "C2") -> choose by up_to=
krohn.draw("C2", "c2.gif") -> ends in .svg, .png, .pdf
krohn.decompile(model) -> krohn learn recovers the machine
krohn.hidden_markov({**LAWS, "transmat": [[0.5, 0.6], [0.5, 0.5]]}) -> row 1 .* to 1.1
krohn.hidden_markov({**LAWS, "transmat": [[1.5, -0.5], [0.5, 0.5]]}) -> negative entry
krohn.hidden_markov({"startprob": [1, 0], "transmat": HALF}) -> and emissionprob
krohn.hidden_markov({"start": [1, 0], "transition": HALF}) -> startprob, transmat and
krohn.hidden_markov(HALF) -> three arrays, as a dict
krohn.gaussian_hmm([[1, 2], [3, 4]], [[0.9, 0.2], [0.3, 0.7]]) -> column 1 .* not to 1
krohn.masked("GoldenMean", "next") -> say one time or two .* 2given1
krohn.grammar("Dyck2") -> there are pcfg:AnBn
krohn.kernel("1,2,3") -> values is no array of numbers
krohn.kernel(modes=[(1.0, 1.1)], length=4) -> is stable if each \|λ\| < 1
krohn.program(lambda word: word) -> begins with letters, as 'ab', not with a function
krohn.program("for x in w") -> is there twice; the text of a program is a .program file
krohn.dynamic_program("mine.dp") -> krohn.compile takes by its name
krohn.attention_target(np.sin) -> takes nothing by place; all else has a name: rho=
workbench.make("out", "parity") -> only is a list of names, as \['parity'\]
workbench.check(".") -> `krohn workbench DIR` makes one
workbench.score_edges({}, []) -> no circuit.json of Krohn; exports and workbenches have
krohn.compile_generator("C2", 8) -> a machine of the zoo such as Dyck4,2
krohn.compile_generator("Dyck2,2", 8, opening=1.5) -> take one between 0 and 1
"""
INSIDE = ("object has no attribute '_", "NoneType", "not subscriptable", "not iterable")
CASES = [line.rsplit(" -> ", 1) for line in MISTAKES.strip().splitlines()]


@pytest.fixture(autouse=True)
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A folder with a text and nothing else."""
    (tmp_path / "notes.txt").write_text("hello")
    monkeypatch.chdir(tmp_path)
    yield
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


@pytest.fixture(scope="module")
def known() -> dict[str, Any]:
    model = krohn.compile("C2", 6)
    chain = compiled("chain-of-thought")
    return {**NAMES, "model": model, "net": model.model, "text": chain.model}


@pytest.mark.parametrize(("code", "said"), CASES, ids=[code for code, _ in CASES])
def test_a_mistake_is_answered(code: str, said: str, known: dict[str, Any]) -> None:
    """A wrong value is a KrohnError; a name that there is not is Python's own error."""
    own = (krohn.KrohnError, TypeError, AttributeError)
    with pytest.raises(own, match=said) as found:
        eval(code, known)
    message = str(found.value)
    assert "\n" not in message
    assert not any(words in message for words in INSIDE if "None" not in code)
    if not isinstance(found.value, krohn.KrohnError):
        assert any(w in message for w in ("takes", "missing", "krohn", "model"))


def test_there_are_enough_of_them() -> None:
    assert len(CASES) >= 50
