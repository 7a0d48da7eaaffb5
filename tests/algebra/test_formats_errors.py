"""Bad files: one line that says where and what to do, never a traceback."""

import gzip
import os
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

from krohn.algebra.automaton import Automaton, Output, Semiautomaton
from krohn.algebra.errors import KrohnError, MachineError
from krohn.algebra.formats import acceptors, read, write
from krohn.algebra.formats.files import MAX_CELLS
from krohn.algebra.formats.regex import from_regex
from krohn.program import files
from krohn.program.writing import atomic_write

JSON = (
    '{"format": "krohn-machine", "version": 1, "letters": ["a"], "states": ["p", "q"],'
    ' "start": "p", "transitions": [[1, 0]]}'
)
KISS2 = ".i 1\n.o 1\n0 p q 1\n1 p p 0\n- q p 0\n"
DOT = 'digraph {\np -> q [label="a/x"];\nq -> p [label="a/y"];\n}\n'

# The name of the file, what it says, and a part of the message.
CORPUS = [
    ("m.json", "", ":1: not JSON"),
    ("m.json", "{\n", ":2: not JSON"),
    ("m.json", "[" * 200_000, "nested too deeply"),
    ("m.json", "[]", "expected a JSON object, found a list"),
    ("m.json", "{}", "the key 'format' must be 'krohn-machine'"),
    ("m.json", JSON.replace("1,", "3,", 1), "install a newer krohn"),
    ("m.json", JSON.replace("1,", "true,", 1), "'version' must be a positive whole"),
    ("m.json", JSON.replace("1,", "0,", 1), "'version' must be a positive whole"),
    ("m.json", JSON.replace('"start"', '"begin"'), "unknown key 'begin'; the keys are"),
    ("m.json", JSON.replace(' "start": "p",', ""), "the key 'start' is missing"),
    ("m.json", JSON.replace('"start": "p"', '"start": "r"'), "'r', which is no state"),
    ("m.json", JSON.replace('"start": "p"', '"start": 0'), "'0', not a string"),
    ("m.json", JSON.replace("[1, 0]", "[2, 0]"), "'2', not a whole number in 0..1"),
    ("m.json", JSON.replace("[1, 0]", "[1.0, 0]"), "'1.0', not a whole number"),
    ("m.json", JSON.replace("[1, 0]", "[true, 0]"), "'true', not a whole number"),
    ("m.json", JSON.replace("[1, 0]", "[NaN, 0]"), "NaN is not a number"),
    ("m.json", JSON.replace("[1, 0]", "[1]"), "row 0 of the key 'transitions'"),
    ("m.json", JSON.replace("[1, 0]", "[" + "9" * 5000 + "]"), "not JSON"),
    ("m.json", JSON.replace("[[1, 0]]", "[]"), "must be a list of 1 lists"),
    ("m.json", JSON.replace('"q"', '"p"'), "'states' holds 'p' twice"),
    ("m.json", JSON.replace('["a"]', "[]"), "'letters' must be a list of at least one"),
    ("m.json", JSON.replace('"a"', '"\\ud800"'), "half a surrogate pair"),
    ("m.json", JSON.replace('"format"', '"version": 1, "format"'), "is there twice"),
    ("m.json", JSON[:-1] + ', "output": {"on": "x"}}', "the key 'names' is missing"),
    (
        "m.json",
        JSON[:-1] + ', "output": {"on": "x", "names": ["o"], "table": [0, 0]}}',
        "'output.on' must be 'states' or 'transitions'",
    ),
    ("m.json", JSON[:-1] + ', "action": [[0, 2]]}', "'2', not a whole number in 0..1"),
    ("m.json", JSON[:-1] + ', "action": 3}', "'action' must be a list of 1 lists"),
    ("m.dot", "", "not DOT"),
    (
        "m.dot",
        "digraph {\n a -> \n}",
        ":3: not DOT: column 1: expected a name or '{', found '}'",
    ),
    ("m.dot", "digraph {\n}", "no arrows between states"),
    ("m.dot", "graph {\n a -- b;\n}", "undirected graph"),
    ("m.dot", DOT + DOT, "2 graphs"),
    ("m.dot", "digraph {\na -> b;\n}", "no arrows between states"),
    ("m.dot", "digraph {\na -> b -> c;\n}", ":2: the arrow 'b' -> 'c' has no input"),
    ("m.dot", "digraph { a -> subgraph s {b c} }", "an arrow of the group s"),
    ("m.dot", "digraph { a, b -> c [label=x] }", "write { } around several nodes"),
    ("m.dot", "digraph { a -> b, c [label=x] }", "write { } around several nodes"),
    (
        "m.dot",
        f"digraph {{ {{{' '.join(map(str, range(1001)))}}} -> "
        f"{{{' '.join(map(str, range(1000)))}}} [label=x] }}",
        "more than 1000000 arrows",
    ),
    ("m.dot", DOT.replace("a/y", "a"), ":3: the arrow 'q' -> 'p' has the label 'a'"),
    (
        "m.dot",
        DOT.replace("q -> p", "p -> p"),
        ":3: nondeterministic: in state 'p' the letter 'a' leads to 'q' with output "
        "'x' (line 2) and to 'p' with output 'y' (line 3)",
    ),
    ("m.dot", DOT.replace("/x", ":0.5").replace("/y", ":1.0"), "stochastic: every"),
    ("m.dot", DOT.replace("/x", "/x:0.5").replace("/y", "/y:1.0"), "stochastic: every"),
    ("m.dot", DOT.replace("q -> p", "q -> r"), "1 of 3 transitions are missing"),
    ("m.dot", DOT.replace("q -> p", "q -> r"), "from state 'r' under 'a'; choose"),
    (
        "m.dot",
        DOT[:-2] + "__start0 -> p;\n__start0 -> q;\n}",
        "both 'p' and 'q' are marked as the start",
    ),
    ("m.kiss2", "", "no product terms"),
    ("m.kiss2", KISS2.replace(".i 1", ".i x"), ":1: .i takes a number, not 'x'"),
    ("m.kiss2", KISS2.replace(".i 1", ".i"), ":1: .i takes one value, not 0"),
    ("m.kiss2", ".r p\n.r q\n" + KISS2, ":2: .r is there twice"),
    ("m.kiss2", KISS2 + ".i 1\n", ":6: .i is there twice"),
    ("m.kiss2", KISS2 + ".e\n" + KISS2, ":7: a second machine; give a file with one"),
    ("m.kiss2", KISS2 + "1 - p 0\n", ":6: '-' is no state; '*' stands for all states"),
    ("m.kiss2", KISS2.replace(".i 1", ".i 65"), ":1: 1 to 64 input bits, not 65"),
    ("m.kiss2", KISS2.replace(".i 1", ".i 0"), ":1: 1 to 64 input bits, not 0"),
    ("m.kiss2", KISS2.replace(".i 1", ".q 1"), ":1: '.q' is no line of KISS2"),
    ("m.kiss2", KISS2.replace(".i 1\n", ""), ":2: a product term before .i"),
    ("m.kiss2", KISS2.replace("0 p q 1", "0 p q"), ":3: a product term has four parts"),
    ("m.kiss2", KISS2.replace("0 p q 1", "2 p q 1"), ":3: the input '2' is not 1"),
    ("m.kiss2", KISS2.replace("0 p q 1", "00 p q 1"), ":3: the input '00' is not 1"),
    ("m.kiss2", KISS2.replace("0 p q 1", "0 p q 11"), ":3: the output '11' is not 1"),
    ("m.kiss2", KISS2.replace("0 p q 1", "0 p * 1"), "1 of 4 transitions are missing"),
    ("m.kiss2", KISS2.replace("0 p q 1", "0 p - 1"), "1 of 4 transitions are missing"),
    ("m.kiss2", ".p 4\n" + KISS2, ".p says 4 product terms, but there are 3"),
    ("m.kiss2", ".s 3\n" + KISS2, ".s says 3 states, but there are 2"),
    ("m.kiss2", ".r x\n" + KISS2, ".r names 'x', which no term mentions"),
    (
        "m.kiss2",
        KISS2 + "1 q q 0\n",
        ":6: in state 'q' the input 1 leads to 'p' with output 0 (line 5) and to 'q'",
    ),
    ("m.kiss2", KISS2 + "1 q p 1\n", ":6: in state 'q' the input 1 leads to 'p'"),
    ("m.kiss2", KISS2.replace("1 p p 0\n", ""), "complete='sink'"),
    ("m.att", "0\t1\ta\n1\t0\t\n", ":2: an empty part; write <eps> where no letter"),
    ("m.att", "0\t1\ta\t\n1\t0\tb\tx\n0\n", ":1: an empty part"),
    ("m.att", "0\t\ta\n1\n", ":1: an empty part"),
    ("m.att", "0\t1\ta\n1\t0.0\t\n", ":2: an empty part"),
    (
        "m.att",
        "0 1\ta\n1\n",
        ":1: the state '0 1' has a blank: where some line has a tab",
    ),
    ("m.att", "0 1 a\n1\n--\n0 1 b\n1\n", ":3: several transducers, divided by --"),
    (
        "m.att",
        "0 1 a\n0 0 @_IDENTITY_SYMBOL_@\n",
        ":2: '@_IDENTITY_SYMBOL_@' stands for",
    ),
    ("m.att", "0 1 @_UNKNOWN_SYMBOL_@ a\n", "all letters that are not named"),
    ("m.att", "0 1 @U.CASE.NOM@ <eps>\n1\n", "'@U.CASE.NOM@' is a flag"),
    ("m.att", "0 1 a 2.5\n1\n", "m.att:weights=real, or =log, compiles them"),
    ("m.att", "", "no transitions"),
    ("m.att", "0 1 a b c d\n", ":1: a line has at most five parts"),
    ("m.att", "0 1 a\n0 0 a b 0\n", ":2: this line has five parts"),
    ("m.att", "0 1 a\n1 1 a x\n", ":2: the weight 'x' is no number"),
    ("m.att", "0 1 a\n1 0.5\n", ":2: weighted: the weight '0.5' is not 0"),
    ("m.att", "0 1 a 0.5\n1 0 a 0.5\n", ":1: weighted"),
    ("m.att", "0 1 <eps> x\n", ":1: the label '<eps>' is epsilon"),
    ("m.att", "0 1 <eps>\n", ": no transitions; a machine needs at least one letter"),
    ("m.att", "0 1 1\n1 0 0\n", ":2: the label '0' is epsilon"),
    ("m.att", "0 1 a b\n1 0 a a\n1\n", "only some states are final"),
    ("m.att", "0 1 a b\n1 0 a a\n1\n", "read_as='acceptor' to leave out the outputs"),
    ("m.att", "0 1 a x\n0 0 a x\n", ":2: nondeterministic"),
    ("m.g", "", "no Transformation(...) and no cycles"),
    ("m.g", "Transformation([2,3])", ":1: a list of 2 points cannot send one to 3"),
    ("m.g", "[Transformation([1])\n", ":1: not GAP: column 1: the '[' stays open"),
    ("m.g", "Transformation([1,0])", ":1: a point must be one of 1..1000000"),
    (
        "m.g",
        "Transformation([a])",
        "column 17: expected points 1, 2, 3, … or ']', found",
    ),
    ("m.g", "(1,2)(2,3)", ":1: a point occurs twice in the cycles"),
    ("m.g", "[(1,2000000)]", ":1: a point must be one of"),
    ("m.g", "x := 3;", "column 6: expected Transformation([...]), PartialPerm([...])"),
    ("m.g", "[a]", ":1: no element is named 'a' yet"),
    ("m.g", "a := (1,2);\n[a, a]", "the letter 'a' is named twice"),
    ("m.g", "%", ":1: not GAP: column 1: '%' is nothing of the language"),
    ("m.dfa", "", ":1: the numbers of states and of letters must come first"),
    ("m.dfa", "2 1\n0 1\n1\n", "need 6 numbers, but there are 5"),
    ("m.dfa", "2 1\n0 1\n1\nx\n", ":4: 'x' is no whole number"),
    ("m.dfa", "2 1\n0 2\n1\n0\n", "whether a state accepts is 2, not one of 0..1"),
    ("m.dfa", "2 1\n0 1\n2\n0\n", "a successor is 2, not one of 0..1"),
    ("m.dfa", "900000 900000\n", f"a table of more than {MAX_CELLS} entries"),
    ("m.xyz", "hello", "unknown format; name the file with one of .json, .dot"),
]


@pytest.mark.parametrize(("name", "text", "message"), CORPUS)
def test_bad_files_are_refused_in_one_line(
    tmp_path: Path, name: str, text: str, message: str
) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(MachineError) as error:
        read(path)
    assert message in str(error.value)
    assert str(error.value).startswith(str(path))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("", "no letters in it"),
        ("a(", "the '(' stays open; close it, or write a backslash"),
        ("(a))", "')' has no counterpart; write \\) for the sign itself"),
        (")a(b)", "')' has no counterpart"),
        ("a[", "the '[' stays open"),
        ("((a{99}){99}){99}", "needs more than 100000 states and moves"),
        ("(" * 200 + "a" + ")" * 200, "nested too deeply"),
        ("a" * 3000, "longer than 2000 characters"),
        ("(a|b)*a(a|b){16}", "needs more than 20000 states"),
        ("[\u0001-\u0fff]{9}|(ab){200}", "needs more than 1000000 transitions"),
    ],
)
def test_bad_patterns_are_refused(pattern: str, message: str) -> None:
    with pytest.raises(MachineError) as error:
        from_regex(pattern)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_steps_of_a_pattern_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(acceptors, "MAX_STEPS", 10_000)
    assert len(from_regex("(ab)*(cd)*").states) > 2
    with pytest.raises(MachineError, match="needs more than 10000 steps"):
        from_regex("(a|b)*a(a|b){9}")


def test_files_that_are_no_text_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.dot"
    path.write_bytes(b"digraph {\n\xff\n}")
    with pytest.raises(MachineError, match=r"m\.dot:2: not UTF-8 text"):
        read(path)
    with pytest.raises(MachineError, match="cannot be read: No such file"):
        read(tmp_path / "missing.dot")
    with pytest.raises(MachineError, match="not a regular file: it is a directory"):
        read(tmp_path)
    with pytest.raises(MachineError, match="names no file"):
        read("a\0b.dot")


def test_large_files_are_refused_packed_or_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "MOST_BYTES", 1000)
    for name, data in (
        ("m.json", b" " * 1001),
        ("m.json.gz", gzip.compress(b" " * 1001)),
    ):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(MachineError, match="larger than"):
            read(tmp_path / name)


def test_broken_archives_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.dfa.gz"
    for data in (b"no gzip", gzip.compress(b"1 1\n1\n0\n")[:-9]):
        path.write_bytes(data)
        with pytest.raises(MachineError, match="not a whole gzip file"):
            read(path)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (gzip.compress(b"digraph {}", mtime=0), "gunzip -c F.gz | krohn … -"),
        (b"from,letter,to\np,a,q\n", ".csv or .tsv .*; so save it to a file"),
    ],
)
def test_what_standard_input_cannot_be(
    data: bytes, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(data)))
    with pytest.raises(MachineError, match=says):
        read("-")


def _machine(letter: str = "a", state: str = "p", output: str = "x") -> Automaton:
    return Automaton(
        Semiautomaton([[0]], (letter,), (state,)),
        output=Output("transitions", [[0]], (output,)),
    )


@pytest.mark.parametrize(
    ("name", "machine", "message"),
    [
        ("m.dot", _machine(letter="a/b"), "the letter 'a/b' cannot be written"),
        ("m.dot", _machine(state="__start1"), "the state '__start1' cannot be written"),
        ("m.dot", _machine(output=" x"), "the output ' x' cannot be written"),
        ("m.dot", _machine(output="x:0.5"), "would read as probabilities"),
        ("m.kiss2", _machine(), "the letter 'a' cannot be written"),
        ("m.kiss2", _machine(letter="0", output="1"), "all the bit strings of one"),
        ("m.kiss2", _machine(letter="0", output="x"), "the output 'x' cannot be"),
        ("m.att", _machine(letter="a b"), "the letter 'a b' cannot be written"),
        ("m.att", _machine(letter="<eps>"), "the letter '<eps>' cannot be written"),
        ("m.att", _machine(letter="@_SPACE_@"), "it stands for something else"),
        ("m.att", _machine(letter="@U.CASE.NOM@"), "it stands for something else"),
        (
            "m.att",
            _machine(output="@_UNKNOWN_SYMBOL_@"),
            "it stands for something else",
        ),
        ("m.att", _machine(letter="0", output="1"), "cannot include 0: epsilon"),
        ("m.att", _machine(output="0.5"), "would read as weights"),
        ("m.dfa", _machine(), "is no acceptor"),
        ("m.txt", _machine(), "unknown format"),
    ],
)
def test_machines_that_a_format_cannot_carry_are_refused(
    tmp_path: Path, name: str, machine: Automaton, message: str
) -> None:
    with pytest.raises(MachineError) as error:
        write(machine, tmp_path / name)
    assert message in str(error.value)
    assert not list(tmp_path.iterdir())


def test_a_failed_write_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "m.json"
    path.write_text("old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(KrohnError, match="cannot be written: No space left"):
        atomic_write(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_writes_go_to_files_only(tmp_path: Path) -> None:
    with pytest.raises(KrohnError, match="cannot be written: there is no directory"):
        atomic_write(tmp_path / "no" / "m.json", "x")
    with pytest.raises(KrohnError, match="it is a directory; name a file"):
        atomic_write(tmp_path, "x")
    with pytest.raises(KrohnError, match="half a surrogate pair"):
        atomic_write(tmp_path / "m", "\ud800")
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "target")
    atomic_write(link, b"data")
    assert link.is_symlink()
    assert (tmp_path / "target").read_bytes() == b"data"


def test_an_unknown_completion_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.kiss2"
    path.write_text(KISS2)
    with pytest.raises(MachineError, match="choose of reject, sink, stay"):
        read(path, "loop")
