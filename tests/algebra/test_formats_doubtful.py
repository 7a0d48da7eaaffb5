"""Texts and drawings that may mean another machine: one reading is said, or none taken."""

from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from krohn.algebra.automaton import Automaton, Output
from krohn.algebra.errors import MachineError
from krohn.algebra.formats import att, dot, read


def drawn(first: str, second: str = "b", extra: str = "") -> str:
    """An acceptor of two states with two labels, written as attributes of arrows."""
    return "\n".join(
        [
            "digraph {",
            f"i [shape=point]; i -> p; q [shape=doublecircle]; {extra}",
            f"p -> q [{first}];",
            f"q -> p [{second}];",
            "}",
        ]
    )


def shown(machine: Automaton) -> dict[str, str]:
    output = machine.output
    assert output is not None
    assert output.on == "states"
    return {
        q: output.names[i] for q, i in zip(machine.states, output.table, strict=True)
    }


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('digraph { p -- q [label="a"]; }', "a line -- has no direction"),
        ('digraph { p -> q -- p [label="a"]; }', "a line -- has no direction"),
        (drawn('label="a, Z; AZ"', 'label="b, A; ε"'), "works on a stack"),
        (drawn('label="a,ε→A"', 'label="b,A→ε"'), "works on a stack"),
        (drawn('label="0 → 1, R"', 'label="1 → 0, L"'), "works on a tape"),
        (drawn("label=0.5", "label=.25"), "stochastic"),
        (drawn('label="50%"', 'label="30 %"'), "stochastic"),
        (drawn('label="a (0.5)"', 'label="b (1)"'), "stochastic"),
        (drawn('label="a 0.5"', 'label="b 1.0"'), "stochastic"),
        (
            'digraph { p -> p [label="1/3"]; p -> q [label="2/3"]; q -> q [label="1/1"]}',
            "sum to 1",
        ),
    ],
)
def test_drawings_of_other_things_are_refused(text: str, says: str) -> None:
    with pytest.raises(MachineError, match=says):
        dot.read(text, "m.dot")


@pytest.mark.parametrize(
    ("label", "letters", "remark"),
    [
        ("$0,1$", ("0", "1", "b"), "without the dollars"),
        ("$0$, $1$", ("0", "1", "b"), "without the dollars"),
        ("$", ("$", "b"), ""),
        ("S($end)", ("S($end)", "b"), ""),
        ("{a,c}", ("{a,c}", "b"), "one letter, not as several"),
        ("(a|c)", ("(a|c)", "b"), "one letter, not as several"),
        ("a+c", ("a+c", "b"), "one letter, not as several"),
        ("0..9", ("0..9", "b"), "one letter, not as several"),
        ("*", ("*", "b"), "one letter, not as several"),
        ("^b", ("^b", "b"), "one letter, not as several"),
        ("+", ("+", "b"), ""),
        ("a or c", ("a or c", "b"), "one letter, not as several"),
        ("a - z", ("a - z", "b"), "one letter, not as several"),
        ("a…z", ("a…z", "b"), "one letter, not as several"),
        ("x > 0", ("x > 0", "b"), "one letter, not as several"),
        ("if c", ("if c", "b"), "one letter, not as several"),
        ("c*", ("c*", "b"), "one letter, not as several"),
        ("bb", ("bb", "b"), "not as one after the other"),
        ("a\\lb", ("a\\lb", "b"), "the backslash in 'a\\\\lb' is read as one"),
        ("a\\\\lb", ("a\\lb", "b"), ""),
        ("None", ("b",), "'None' is read as a move without a letter"),
        ("∈", ("b",), "'∈' is read as a move without a letter"),
        ("border", ("border", "b"), ""),
        ("f(a,c)", ("f(a,c)", "b"), ""),
    ],
)
def test_labels_of_arrows(label: str, letters: tuple[str, ...], remark: str) -> None:
    machine = dot.read(drawn(f'label="{label}"', "label=b"), "m.dot", "sink")
    assert set(machine.letters) == set(letters)
    assert remark in machine.remark
    assert bool(remark) == bool(machine.remark.partition("transitions")[0][:-7])


def test_of_strict_drawings_all_arrows_are_read_with_a_remark() -> None:
    once = drawn("label=a", "label=b", "p -> p [label=b]; q -> q [label=a];")
    assert "strict" not in dot.read(f"strict {once}", "m.dot").remark
    twice = once.replace("p -> q", "p -> q [label=c]; p -> q")
    machine = dot.read(f"strict {twice}", "m.dot")
    assert set(machine.letters) == {"a", "b", "c"}
    assert (
        "all arrows 'p' -> 'q' are read, although the graph is strict" in machine.remark
    )


@pytest.mark.parametrize("word", ["reset", "ε", "Start", ""])
def test_words_on_the_arrow_of_a_hidden_start(word: str) -> None:
    text = drawn("label=a", "label=a").replace("i -> p", f'i -> q [label="{word}"]')
    machine = dot.read(text, "m.dot")
    assert machine.states[machine.start] == "q"
    assert (machine.letters, machine.remark) == (("a",), "")


NODES = "digraph {{ p -> q [label=a]; q -> r [label=a]; r -> p [label=a]; {} }}"


@pytest.mark.parametrize(
    ("labels", "outputs", "remark"),
    [
        (["<<b>p</b>>", "<q<sub>0</sub>>", "<<i>r</i>>"], None, ""),
        (["<p<br/>0>", "<q<br/>1>", "<r<br/>1>"], "011", "a state and its output"),
        (['"p\\n0"', '"q\\n1"', '"r\\n1"'], "011", "a state and its output"),
        (['"p: 0"', '"q: 1"', '"r: 1"'], "011", "a state and its output"),
        (['"p [0]"', '"q [1]"', '"r [1]"'], "011", "a state and its output"),
        (['"p: 0"', '"q: 1"', '"r: 2"'], None, "a name, not as a state and its"),
        (['"p two"', '"q"', '"r"'], None, ""),
        (['"<f0>p|<f1>0"', '"<f0>q|<f1>1"', '"{<f0> r | 1}"'], "011", ""),
    ],
)
def test_labels_of_states(labels: list[str], outputs: str | None, remark: str) -> None:
    shape = "record" if "<f0>" in labels[0] else "circle"
    nodes = zip("pqr", labels, strict=True)
    said = " ".join(f"{q} [shape={shape}, label={label}];" for q, label in nodes)
    machine = dot.read(NODES.format(said), "m.dot")
    if outputs is None:
        assert machine.output is None
    else:
        assert shown(machine) == dict(zip("pqr", outputs, strict=True))
    assert remark in machine.remark


def test_lists_of_nodes_share_their_attributes() -> None:
    marked = NODES.format("p, r [shape=doublecircle];")
    assert shown(dot.read(marked, "m.dot")) == {
        "p": "accept",
        "q": "reject",
        "r": "accept",
    }
    arrows = "s -> t [label=a]; t -> s [label=a]"
    after = NODES.format(f"node [shape=doublecircle]; s, t; {arrows}")
    machine = dot.read(after, "m.dot")
    assert {q for q, a in shown(machine).items() if a == "accept"} == {"s", "t"}


def test_shapes_that_are_not_read_are_remarked() -> None:
    alike = NODES.format("node [shape=square]; q [color=red];")
    assert "shapes" not in dot.read(alike, "m.dot").remark
    for mark in ("shape=square", "peripheries=3"):
        machine = dot.read(NODES.format(f"q [{mark}];"), "m.dot")
        assert machine.output is None
        assert "shapes other than double circles are not read" in machine.remark


@pytest.mark.parametrize("sign", ["λ", "eps", "epsilon", "''"])
def test_epsilon_by_other_names_in_att_text(sign: str) -> None:
    text = f"0 1 {sign}\n1 1 a\n1\n"
    acceptor = att.read(text, "m.att", "sink")
    assert acceptor.letters == ("a",)
    assert len(acceptor.states) == 1
    assert "is read as a move without a letter; rename it" in acceptor.remark
    mealy = att.read(f"0 0 {sign} x\n", "m.att")
    assert mealy.letters == (sign,)
    assert "is read as a letter, not as a move without one" in mealy.remark
    named = att.read(f"0 0 {sign} {sign}\n", "m.att", kind="mealy")
    accepting = Output("states", np.zeros(1, dtype=np.int64), ("accept",))
    with pytest.raises(MachineError, match="would be read as epsilon"):
        att.write(replace(named, output=accepting))


def test_signs_for_all_other_letters_are_letters_with_a_remark() -> None:
    machine = att.read("0 1 <rho>\n1 0 a\n1\n", "m.att", "sink")
    assert machine.letters == ("<rho>", "a")
    assert "'<rho>' is read as a letter, not as one for all others" in machine.remark


def test_weights_of_which_some_are_whole() -> None:
    with pytest.raises(MachineError, match=r"weighted: the weight '0\.5'"):
        att.read("0 1 a 0.5\n1 0 a 1\n0\n1\n", "m.att")
    with pytest.raises(MachineError, match="weighted: the weight '1e-3'"):
        att.read("0 1 a 1e-3\n1 0 a 1\n", "m.att")
    assert att.read("0 1 a 1\n1 0 a 0\n", "m.att").output is not None


def test_arrows_of_lists_of_nodes_are_from_each_to_each() -> None:
    lists = """digraph { i [shape=point]; i -> a;
    b -> {node [shape=doublecircle] b "c" c} -> a [label=x]; {{a} d c} -> {d} [label=y]
    {a -> c [label=x]} -> b [label=z] }"""
    arrows = ["b -> b", "b -> c", "b -> a", "c -> a", "a -> c"]
    lines = [f"{each} [label=x]" for each in arrows]
    lines += [f"{each} -> d [label=y]" for each in "adc"]
    lines += [f"{each} -> b [label=z]" for each in "ac"]
    whole = ["digraph { i [shape=point]; i -> a; a; b; c [shape=doublecircle]", *lines]
    machines = [
        dot.read(text, "m", "sink") for text in (lists, "\n".join([*whole, "}"]))
    ]
    languages = []
    for machine in machines:
        final = [q for q, said in shown(machine).items() if said == "accept"]
        words = ("".join(w) for n in range(5) for w in product("xyz", repeat=n))
        languages.append({w for w in words if ends_of(machine, w) in final})
    assert languages[0] == languages[1]
    assert {"x", "xzx"} <= languages[0]


def ends_of(machine: Automaton, word: str) -> str:
    """The state to which a word leads."""
    q = machine.start
    for letter in word:
        q = machine.transitions[machine.letters.index(letter), q]
    return machine.states[q]


def test_accepting_nodes_that_are_no_states_are_remarked() -> None:
    text = "digraph { i [shape=point]; i -> p; p -> p [label=a]; %s }"
    machine = dot.read(text % "legend [peripheries=2]", "m.dot")
    assert machine.remark.startswith("m.dot: no state accepts, for 'legend'")
    assert dot.read(text % "p, legend [peripheries=2]", "m.dot").remark == ""


@pytest.mark.parametrize("key", ["headlabel", "taillabel", "xlabel"])
def test_labels_of_arrows_by_other_names(key: str) -> None:
    machine = dot.read(drawn(f"{key}=a", "label=b"), "m.dot", "sink")
    assert set(machine.letters) == {"a", "b"}
    assert machine.remark.count(f"the {key} of an arrow is read as its label") == 1
    both = drawn(f"{key}=c, label=a", f"{key}=c, label=b")
    machine = dot.read(both, "m.dot", "sink")
    assert set(machine.letters) == {"a", "b"}
    assert machine.remark.count(f"the {key} of an arrow is not read beside") == 1
    assert (
        key
        not in dot.read(drawn(f'{key}="", label=a', "label=b"), "m.dot", "sink").remark
    )
    with pytest.raises(MachineError, match="no input in its label"):
        dot.read(drawn("headlabel=a, xlabel=c", f"{key}=b"), "m.dot")


@pytest.mark.parametrize("output", ["0", "1"])
def test_one_number_at_the_end_of_each_arc_may_be_a_weight(output: str) -> None:
    text = f"0 1 a {output}\n1 0 a {output}\n"
    machine = att.read(text, "m.att")
    assert machine.remark.count(f"m.att: '{output}' at the end of each arc") == 1
    other = text.replace(f"1 0 a {output}", "1 0 a x")
    assert "each arc" not in att.read(other, "m.att").remark
    assert "each arc" not in att.read(text, "m.att", kind="mealy").remark


@pytest.mark.parametrize("comment", ["# p", "// p to q", "#", "% p"])
@pytest.mark.parametrize("line", [1, 2, 3])
def test_comments_in_att_text_are_refused(comment: str, line: int) -> None:
    lines = ["0 1 a", "1 0 a", "1"]
    lines.insert(line - 1, comment)
    with pytest.raises(MachineError, match=f"m.att:{line}: .* begins a comment"):
        att.read("\n".join(lines), "m.att")


def test_a_state_may_be_called_as_comments_begin() -> None:
    machine = att.read("# q a\nq # a\n#\n", "m.att")
    assert set(machine.states) == {"#", "q"}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("m.att", "0 1 λ\n0 1 eps\n0 1 null\n0 1 None\n1 1 ?\n1 1 <rho>\n1\n"),
        ("m.att", "0\t1\ta b\ta b\n0\t0\ta b\ta b\n1\n"),
        ("m.att", "0 0 λ 1\n0 0 eps 1\n0 0 <rho> 1\n0 0 ? 1\n"),
        ("m.dot", drawn('label="a-z"', 'label="0-9"', "p -> p [xlabel=<<s\n>>]")),
        ("m.dot", drawn('label="a,b"', 'label="a"', "; ".join(
            f'q -> q [label="{i}..{i + 1}", xlabel=x]' for i in range(9)))),
        ("m.csv", "state,a,b\np,q,q\n*q,p,\n"),
        ("m.csv", "from,letter,to\np,a,*q\np,a,p\n"),
    ],
)  # fmt: skip
def test_a_remark_names_its_file_once_and_is_one_short_line(
    name: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).write_text(text)
    remark = read(name).remark
    assert remark.count(f"{name}: ") == 1
    assert remark.startswith(f"{name}: ")
    assert len(remark.splitlines()) == 1
    assert len(remark) < 600
