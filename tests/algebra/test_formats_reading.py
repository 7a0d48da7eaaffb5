"""Reading the machine files that people have."""

import itertools
import re
from pathlib import Path

import numpy as np
import pytest

from krohn import machines as sources
from krohn.algebra.errors import MachineError
from krohn.algebra.formats import (
    acceptors,
    dot,
    gap,
    kiss2,
    learnlib,
    read,
    write,
)
from krohn.algebra.formats.att import read as read_att
from krohn.algebra.formats.regex import from_regex

MACHINES = Path(__file__).parents[3] / "shared" / "machines"

MEALY = """digraph turnstile {
locked [label="locked"];
open [label="open"];
open -> locked [label="push/ turn"];
open -> open [label="coin/thanks / again"];
locked -> open [label="coin/thanks"];
locked -> locked [label="push/ -"];
__start0 [label="", shape=none];
__start0 -> locked [label=""];
}
"""
RECORDS = """digraph g {
    __start0 [label="" shape="none"];
    __start0 -> A;
    A [shape="record", style="rounded", label="{ A | dark }"];
    B [shape="doublecircle", style="rounded", label="{ B | light }"];
    A -> B [label="press"];  B -> A [label="press"];
}
"""
HTML = """digraph g {
__start0 [shape="none", label=""];
s0 [shape="circle", label="0"];
s1 [shape="circle", label="1"];
s0 -> s1 [label=<Hello<br />Server &amp; Key / Done>];
s0 -> s0 [label=<Ping | Data<br />Empty>];
s1 -> s0 [label=<Hello | Ping | Data<br />Closed>];
__start0 -> s1 [label=<Ping<br />Empty>];
}
"""


def test_dot_mealy_labels_divide_at_the_first_slash() -> None:
    machine = dot.read(MEALY, "dir/turnstile.dot")
    assert machine.name == "turnstile"
    assert machine.states == ("locked", "open")
    assert machine.run(["push", "coin", "coin", "push"]) == (
        "-",
        "thanks",
        "thanks / again",
        "turn",
    )


def test_dot_records_make_a_moore_machine() -> None:
    machine = dot.read(RECORDS, "x")
    assert machine.run(["press", "press"]) == ("light", "dark")


@pytest.mark.parametrize("sign", ["|", "/"])
def test_dot_moore_labels_without_a_record(sign: str) -> None:
    text = f'digraph {{ a [label="A{sign}0|0"]; b [label="B{sign}1"];'
    text += "a -> b [label=x]; b -> a [label=x] }"
    assert dot.read(text, "x").run(["x", "x"]) == ("1", "0|0")


def test_dot_labels_that_states_share_are_outputs() -> None:
    text = "digraph {\na [label=N];\nb [label=N];\nc [label=A];\n"
    text += "a -> b [label=x];\nb -> c [label=x];\nc -> a [label=x];\n}"
    assert dot.read(text, "x").run("xxx") == ("N", "A", "N")


def test_dot_doubled_circles_accept() -> None:
    text = "digraph {\nnode [shape=doublecircle]; b;\nnode [shape=circle];\n"
    text += "start [shape=point]; start -> a; a -> b [label=x]; b -> a [label=x];}"
    machine = dot.read(text, "x")
    assert machine.run("xx") == ("accept", "reject")
    assert machine.output is not None
    assert machine.output.names == ("reject", "accept")
    assert set(machine.states) == {"a", "b"}


@pytest.mark.parametrize("group", ["", "subgraph accepting "])
def test_dot_defaults_of_a_group_end_with_it(group: str) -> None:
    text = f"digraph {{ {group}{{ node [shape=doublecircle] edge [label=y] b -> b }}"
    machine = dot.read(text + "edge [label=x] a -> b -> a a -> a [label=y] }", "x")
    assert machine.letters == ("y", "x")
    assert machine.with_start("a").run("yxx") == ("reject", "accept", "reject")


def test_dot_without_any_output_shows_the_states() -> None:
    machine = dot.read("digraph { b -> c [label=x]; c -> b:w [label=x]}", "x")
    assert machine.run("xx") == ("c", "b")


def test_dot_html_labels_list_inputs_before_the_break() -> None:
    machine = dot.read(HTML, "x")
    assert set(machine.letters) == {"Hello", "Ping", "Data"}
    assert machine.run(["Ping", "Data", "Hello"]) == (
        "Closed",
        "Empty",
        "Server & Key / Done",
    )


def test_dot_completions() -> None:
    text = "digraph {\na -> b [label=x];\nb -> a [label=y];\n}"
    stay = dot.read(text, "x", "stay")
    assert stay.run("yxx") == ("a", "b", "b")
    sink = dot.read(text, "x", "sink")
    assert sink.run("xyyx") == ("b", "a", "sink", "sink")
    mealy = dot.read(text.replace("x]", '"x/0"]').replace("y]", '"y/1"]'), "x", "sink")
    assert mealy.run("xyyx") == ("0", "1", "undefined", "undefined")
    accept = dot.read(text.replace("{", "{\nb [peripheries=2];", 1), "x", "sink")
    assert accept.run("xyyx") == ("accept", "reject", "reject", "reject")


def test_kiss2_cubes_expand_to_all_minterms() -> None:
    text = "# lamp\n.i 2\n.o 2\n.p 3\n.s 2\n.r off\n"
    text += "-1 on off 0- # to\n0- * on 10\n1- * off 1-\n.e\nignored"
    with pytest.raises(MachineError, match="in state 'on' the input 01"):
        kiss2.read(text, "x")
    machine = kiss2.read(text.replace("-1 on off 0-", "11 on off -1"), "x")
    assert machine.letters == ("00", "01", "10", "11")
    assert machine.run(["10", "00", "11"]) == ("10", "10", "11")
    assert machine.states[machine.start] == "off"


def test_kiss2_inside_of_blif_and_without_a_reset() -> None:
    text = ".model m\n.inputs a\n.start_kiss\n.i 1\n.o 1\n- p q 1\n- q p 0\n.end_kiss\n"
    machine = kiss2.read(text, "x")
    assert machine.run(["0", "1"]) == ("1", "0")
    assert machine.states[machine.start] == "p"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("m.kiss2", ".i 1\n.o 2\n0 p q 11\n1 q q 10\n0 q p 11\n"),
        (
            "m.dot",
            'digraph { p -> q [label="0/11"]; q -> q [label="1/10"]; '
            'q -> p [label="0/11"] }',
        ),
        ("m.csv", "state,letter,next,output\np,0,q,11\nq,1,q,10\nq,0,p,11\n"),
    ],
)
def test_outputs_that_no_file_states_are_undefined(
    name: str, text: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(MachineError, match="either way their output is `undefined`"):
        sources.read(path)
    assert sources.read(path, "stay").run("10") == ("undefined", "11")
    assert sources.read(path, "sink").run("10") == ("undefined", "undefined")


def test_kiss2_says_which_bits_are_left_open() -> None:
    text = ".i 1\n.o 2\n0 p q 1-\n1 p p 11\n- q p --\n0 q p 1-\n"
    machine = kiss2.read(text, "x")
    assert machine.run("01") == ("10", "00")
    assert machine.remark == (
        "x: 3 of 4 transitions leave output bits open ('-'), which are read as 0"
    )
    decided = text.replace("- q p --", "- q p 10").replace("p q 1-", "p q 11")
    assert not kiss2.read(decided, "x").remark


def test_kiss2_completions() -> None:
    text = ".i 1\n.o 2\n0 p q 11\n0 q p 11\n"
    sink = kiss2.read(text, "x", "sink")
    assert sink.states == ("p", "q", "sink")
    named = kiss2.read(text.replace("q", "sink"), "x", "sink")
    assert named.states == ("p", "sink", "sink_")


def test_att_acceptors_and_transducers() -> None:
    acceptor = read_att("0 1 a\n1 0 b\n1 0\n", "x")
    assert acceptor.remark.startswith("2 of 4 transitions are missing")
    assert acceptor.run("abaa") == ("accept", "reject", "accept", "reject")
    printed = read_att("0 1 a a\n1 1 a a 0\n1\n", "x")
    assert printed.run("a") == ("accept",)
    mealy = read_att("s\tt\ta\tx\t0\nt\ts\ta\ty\n", "x")
    assert mealy.run("aa") == ("x", "y")
    never = read_att("0 0 a\n", "x")
    assert never.run("a") == ("reject",)


@pytest.mark.parametrize(
    ("text", "letters", "last"),
    [
        ("0\t1\ta\ta\n1\t2\t \t \n2\t0\tb\tb\n0\n", ("a", " ", "b"), 2),
        ("0\t1\ta b\n1\t0\t c\n0\n", ("a b", " c"), 1),
        ("0\t1\ta\ta\t0.0\t\n1\t0\tb\tb\t0.0\t\n0\t0.0\n", ("a", "b"), 1),
        ("0\t1\ta\t\r\n1\t0\t \t\r\n1\t\t\t\r\n", ("a", " "), 0),
        ("0 1 @_SPACE_@\n1 0 a@_TAB_@\n1\n", (" ", "a\t"), 0),
        ("0 1 \u00a0\n1 0 \u3000\n1 0\n", ("\u00a0", "\u3000"), 0),
    ],
)
def test_att_with_blanks_in_letters(
    text: str, letters: tuple[str, ...], last: int
) -> None:
    """As foma, HFST and lttoolbox write them; and a table of as many cells in each row.

    A ring reads the letters in turn; a word may end with the one at `last`.
    """
    machine = read_att(text, "x")
    assert machine.letters == letters
    divided = any(" " in letter for letter in letters) and "@" not in text
    assert ("tabs alone divide its parts" in machine.remark) == divided
    assert len(machine.states) == len(letters) + 1  # a ring, and a sink
    assert [i for i, said in enumerate(machine.run(letters)) if said == "accept"] == [
        last
    ]
    assert machine.run(letters[::-1])[-1] == "reject"


@pytest.mark.parametrize("form", ["att", "dot"])
def test_acceptors_with_choices_and_empty_moves(form: str) -> None:
    """One of a*b and ab*: they share only ab."""
    arcs = [("s", "p", ""), ("s", "q", ""), ("p", "p", "a"), ("p", "f", "b")]
    arcs += [("q", "g", "a"), ("g", "g", "b")]
    if form == "att":
        lines = [f"{q} {r} {a or '<eps>'}" for q, r, a in arcs]
        machine = read_att("\n".join([*lines, "f", "g", ""]), "x")
    else:
        plain = [f'{q} -> {r} [label="{a}"];' for q, r, a in arcs if a]
        also = ['s -> p [label="a"]; s -> f [label="b"]; s -> g [label="a"];']
        final = [
            "f [shape=doublecircle]; g [shape=doublecircle]; i [shape=point]; i -> s;"
        ]
        machine = dot.read("digraph {" + " ".join(final + also + plain) + "}", "x")
    words = ("".join(w) for n in range(1, 6) for w in itertools.product("ab", repeat=n))
    for word in words:
        right = re.fullmatch("a*b|ab*", word) is not None
        assert (machine.run(word)[-1] == "accept") == right
    assert machine.remark.startswith("x: nondeterministic")


@pytest.mark.parametrize(
    ("limit", "most"), [("MAX_STATES", 50), ("MAX_MOVES", 100), ("MAX_STEPS", 100)]
)
def test_the_work_on_choices_is_bounded(
    limit: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which letter stood nine ago needs 2^9 states."""
    monkeypatch.setattr(acceptors, limit, most)
    chain = [f"{i} {i + 1} {a}" for i in range(1, 10) for a in "ab"]
    text = "\n".join(["0 0 a", "0 0 b", "0 1 a", *chain, "10"])
    with pytest.raises(MachineError, match=rf"^x: nondeterministic.*more than {most} "):
        read_att(text, "x")


DOUBLED = "0 0 b b\n0 1 a a\n1 0 b b\n0\n1\n"


def test_att_with_doubled_labels_accepts_the_words_that_can_be_read() -> None:
    machine = read_att(DOUBLED, "x", "sink")
    assert machine.run("abaab") == ("accept", "accept", "accept", "reject", "reject")
    assert machine.remark.startswith("x: read as an acceptor")
    assert "--as mealy" in machine.remark
    assert machine.with_start("1").remark == machine.remark


def test_att_is_read_as_it_is_asked_to() -> None:
    mealy = read_att(DOUBLED, "x", "stay", "mealy")
    assert (mealy.run("ab"), mealy.remark) == (("a", "b"), "")
    assert read_att(DOUBLED, "x", "sink", "acceptor").remark == ""
    both = "0 1 a x\n1 0 a y\n1\n"
    assert read_att(both, "x", kind="mealy").run("aa") == ("x", "y")
    assert read_att(both, "x", kind="acceptor").run("aa") == ("accept", "reject")
    with pytest.raises(MachineError, match="no outputs, so it is no Mealy machine"):
        read_att("0 0 a\n", "x", kind="mealy")


def test_att_without_final_states_repeats_its_letters() -> None:
    machine = read_att("0 1 a a\n1 1 a a\n", "x")
    assert machine.run("aa") == ("a", "a")
    assert "--as acceptor" in machine.remark


def test_only_att_can_be_read_in_two_ways(tmp_path: Path) -> None:
    path = tmp_path / "m.dfa"
    path.write_text("1 1\n1\n0\n")
    for source in (path, "S3", "regex:a*"):
        with pytest.raises(
            MachineError, match="read_as= says how to read an AT&T text"
        ):
            sources.read(source, read_as="acceptor")


def test_numbers_alone_are_att_text_with_a_remark(tmp_path: Path) -> None:
    (path := tmp_path / "machine").write_text("0 1 2\n1\n2 0\n")
    assert "although lists of other numbers look like it" in read(path).remark
    path.write_text("0 1 a\n1 0 a\n1\n")
    assert "lists of other numbers" not in read(path).remark
    (path := tmp_path / "machine.att").write_text("0 1 2\n1 0 2\n1\n")
    assert not read(path).remark


def test_gap_lists_names_and_permutations() -> None:
    listed = gap.read("[ Transformation( [ 2, 3, 1 ] ), (1,4)(2,3) ];", "x")
    assert listed.letters == ("g1", "g2")
    assert listed.transitions.tolist() == [[1, 2, 0, 3], [3, 2, 1, 0]]
    assert listed.states == ("1", "2", "3", "4")
    text = "# the symmetric group\nr := (1,2,3);\ns := Transformation([2,1]);\n"
    assert gap.read(text, "x").letters == ("r", "s")
    group = gap.read(text + "G := Group(s, (), r);", "x")
    assert group.letters == ("s", "g2", "r")
    assert group.transitions[1].tolist() == [0, 1, 2]
    assert gap.read("Semigroup([(1,2)])", "x").letters == ("g1",)
    assert gap.read("(1,2)(3,4), (1,2,3)", "x").transitions.shape == (2, 4)


@pytest.mark.parametrize(
    ("text", "names", "maps"),
    [
        ("PartialPerm([1, 2], [2, 3]);", "1230", ["2300"]),
        ("PartialPermNC( [ 2, 0, 3 ] )", "1230", ["2030"]),
        ("[1,2,3](4,5)", "123450", ["230540"]),
        ("[ [1,2](3), (1,3)(2) ]", "1230", ["2030", "3210"]),
        ("PartialPerm([2, 1, 3])", "123", ["213"]),
        ("PartialPerm([])", "10", ["00"]),
        ("Transformation([1, 3], [3, 1])", "123", ["321"]),
        ("[ IdentityTransformation, TransformationNC([1, 1]) ]", "12", ["12", "11"]),
        ("gens := [ (1,2), (2,3) ];\nG := Group(gens);", "123", ["213", "132"]),
    ],
)
def test_gap_points_and_their_images(text: str, names: str, maps: list[str]) -> None:
    machine = gap.read(text, "x")
    assert machine.states == tuple(names)
    led = ["".join(names[q] for q in row) for row in machine.transitions]
    assert [images[: len(names)] for images in led] == maps
    assert ("lead to the state 0" in machine.remark) == ("0" in names)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[2,3,1]", r"write Transformation\(\[...\]\) or PartialPerm"),
        ("PartialPerm([1, 2], [2, 2])", "two points have one image"),
        ("PartialPerm([1, 1], [2, 3])", "a point occurs twice"),
        ("PartialPerm([1, 2], [2])", "2 points and 1 images"),
        ("(1,2)\n(3,4)\n", "cycles on several lines may be one element or several"),
        ("G := SymmetricGroup(4);", "write generators as cycles or as Transformation"),
        ("[ PartialPerm([2, 0]), Transformation([2, 1]) ]", "beside other elements"),
        ("[ PartialPerm([2, 0, 1]), (1,2) ]", "beside other elements"),
        ("S := InverseSemigroup(PartialPerm([2, 0]))", "has the inverses of its gen"),
        ("a := Group((1,2)); b := Group((1,3));", "2 lists of elements; leave one"),
        ("Group((1,2)); (1,3)", "2 lists of elements; leave one"),
    ],
)
def test_gap_is_never_read_as_other_elements(text: str, message: str) -> None:
    with pytest.raises(MachineError, match=message):
        gap.read(text, "x")


def test_learnlib_rows() -> None:
    machine = learnlib.read("2 2\n0 1 \n1 0 \n1 0 \n", "x")
    assert machine.run("011") == ("accept", "reject", "reject")


def test_patterns_number_states_from_the_start() -> None:
    machine = from_regex(r"ab|\*")
    assert machine.letters == ("*", "a", "b")
    assert machine.start == 0
    assert machine.states == tuple(map(str, range(len(machine.states))))
    order = machine.transitions.T.reshape(-1).tolist()
    first = [order.index(q) for q in range(1, len(machine.states)) if q in order]
    assert first == sorted(first)


ACCEPTOR = from_regex("(ab)*")


@pytest.mark.parametrize(
    "name",
    ["m.json", "m.DOT", "m.gv", "m.att", "m.fst.txt", "m.g", "m.dfa", "m.dfa.gz"],
)
def test_formats_follow_from_the_name_or_else_the_content(
    tmp_path: Path, name: str
) -> None:
    path = tmp_path / name
    write(ACCEPTOR, path)
    machine = read(str(path))
    assert machine.name == {"m.json": "pattern", "m.fst.txt": "m.fst"}.get(name, "m")
    assert np.array_equal(machine.transitions, ACCEPTOR.transitions)
    hidden = tmp_path / ("other.gz" if name.endswith(".gz") else "other.txt")
    hidden.write_bytes(path.read_bytes())
    assert np.array_equal(read(hidden).transitions, ACCEPTOR.transitions)


def test_kiss2_is_known_by_its_content(tmp_path: Path) -> None:
    path = tmp_path / "machine"
    path.write_text("\n# a comment\n.i 1\n.o 1\n- p p 1\n")
    assert read(path).run(["1"]) == ("1",)


@pytest.mark.skipif(not MACHINES.is_dir(), reason="the real machines are not here")
def test_real_machines_are_read_or_refused_with_the_reason() -> None:
    paths = [p for p in MACHINES.rglob("*") if p.suffix in (".dot", ".kiss2")]
    shapes = {}
    for path in paths:
        if "stochastic" in path.name:
            with pytest.raises(MachineError, match="stochastic: every label"):
                read(path, "stay")
        else:
            shapes[path.name] = read(path, "stay").transitions.shape
    assert shapes["JSSE_1.8.0_25_server_regular.dot"] == (8, 9)
    assert shapes["ex6.kiss2"] == (32, 8)
