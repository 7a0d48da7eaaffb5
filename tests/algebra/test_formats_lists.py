"""JFLAP, lists of transitions (AUT, BA, MATA), and tables of them."""

from pathlib import Path

import pytest
from slices_here import needs

from krohn import machines
from krohn.algebra.automaton import Automaton
from krohn.algebra.errors import KrohnError, MachineError
from krohn.algebra.formats import aut, jflap, read, table
from krohn.algebra.formats.assembly import acceptance

HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="no"?><!--JFLAP 6.4-->'
STATES = """<structure>&#13;
<type>fa</type>&#13;
<automaton>&#13;
<!--The list of states.-->&#13;
<state id="0" name="even"><x>59.0</x><y>122.0</y><initial/><final/></state>&#13;
<state id="1" name="odd"><x>9.0</x><y>2.0</y><label>text</label></state>&#13;
"""
WAYS = """<transition><from>0</from><to>1</to><read>a</read></transition>&#13;
<transition><from>1</from><to>0</to><read>a</read><controlx>1</controlx></transition>&#13;
<transition><from>1</from><to>1</to><read>b</read></transition>&#13;
<note><text>x</text><x>1</x><y>2</y></note>
</automaton></structure>
"""
MEALY = """<structure><type>mealy</type><automaton>
<state id="3" name="p"><x>0</x><y>0</y><initial/></state>
<transition><from>3</from><to>3</to><read>a</read><transout>yes</transout></transition>
<transition><from>3</from><to>3</to><read>b</read><transout/></transition>
</automaton></structure>"""
MOORE = """<structure><type>moore</type><automaton>
<state id="0" name="p"><x>0</x><y>0</y><initial/><output>0</output></state>
<state id="1" name="p"><x>0</x><y>0</y><output>1</output></state>
<transition><from>0</from><to>1</to><read>a</read><transout>1</transout></transition>
<transition><from>1</from><to>0</to><read>a</read></transition>
</automaton></structure>"""


def accepts(machine: Automaton, word: str) -> bool:
    state = machine.semiautomaton.trace(machine.encode([*word]), machine.start)
    accepting = acceptance(machine)
    assert accepting is not None
    return accepting[state[-1] if word else machine.start]


def test_acceptors_of_jflap() -> None:
    machine = jflap.read(HEAD + STATES + WAYS, "m.jff")
    assert machine.states == ("even", "odd", "sink")
    words = ["", "a", "aa", "aba", "b", "ab", "abba"]
    assert [w for w in words if accepts(machine, w)] == ["", "aa", "aba", "abba"]


def test_empty_moves_of_jflap_and_a_file_without_the_inner_element() -> None:
    text = (STATES + WAYS).replace("<automaton>", "").replace("</automaton>", "")
    machine = jflap.read(text.replace("<read>b</read>", "<read/>"), "m.jff")
    assert "smallest deterministic acceptor" in machine.remark
    assert accepts(machine, "aa")
    assert not accepts(machine, "a")


def test_machines_of_jflap_with_outputs() -> None:
    assert jflap.read(MEALY, "m.jff").run(["a", "b"]) == ("yes", "λ")
    moore = jflap.read(MOORE, "m.jff")
    assert moore.states == ("0", "1")  # the names do not differ
    assert moore.run(["a", "a"]) == ("1", "0")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (STATES + WAYS.replace(">b<", ">ab<"), ":9: <read> holds 'ab', several signs"),
        (STATES + WAYS.replace(">b<", ">ε<"), "an empty move has an empty <read/>"),
        (STATES + WAYS.replace(">b<", "> <"), "<read> is a blank"),
        (
            STATES + WAYS.replace("<to>0", "<to>7"),
            ":8: <to> is '7', which is the id of",
        ),
        (STATES.replace("<initial/>", "") + WAYS, "no state is marked <initial/>"),
        (STATES.replace("<label>", "<initial/><label>") + WAYS, "2 states are marked"),
        (STATES.replace('"1"', '"0"') + WAYS, ":6: two states have one id"),
        (
            STATES.replace("<label>", "<tag>x</tag><label>") + WAYS,
            "<tag> in a state is",
        ),
        (STATES + WAYS.replace("note>", "block>"), "<block> is not read, only states"),
        (STATES.replace(">fa<", ">pda<") + WAYS, ":1: a pushdown automaton; finite"),
        (
            STATES.replace(">fa<", ">turing<") + WAYS,
            "a Turing machine; finite automata",
        ),
        (
            STATES.replace(">fa<", ">re<") + WAYS,
            "a regular expression; give it as formal:",
        ),
        (STATES.replace(">fa<", ">x<") + WAYS, "of the type 'x'; finite automata"),
        ('<structure type="editor_panel"/>', "no file of JFLAP 7"),
        ("<structure><type>fa</type></structure>", "no states"),
        (
            STATES + WAYS.replace("<read>b</read>", "<read>b</read>" * 2),
            "is there twice",
        ),
        (STATES + "</automaton></structure>", "no transitions in this file of JFLAP"),
        (MEALY.replace("yes", "λ"), "the output 'λ' beside empty ones, which JFLAP"),
        (
            MOORE.replace("<output>1", "<output>λ").replace(">0</out", "></out"),
            "empty its <output>, or rename it",
        ),
        (STATES, "not XML: no element found"),
        (MEALY.replace(">b<", "><"), "reads a letter at each step"),
        (MEALY.replace(">b<", ">a<"), "nondeterministic"),
        (MOORE.replace(">1</tr", ">2</tr"), "a transition shows '2' and its target"),
    ],
)
def test_what_is_no_machine_of_jflap(text: str, said: str) -> None:
    with pytest.raises(MachineError) as refused:
        jflap.read(text, "m.jff")
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


AUT = 'des (0, 4, 3)\n(0, "PUT !6", 1)\n(0, i, 2)\r\n(1,GET(1,2),0)\n(2,"PUT !6",2)\n\n'


def test_transition_systems_accept_the_actions_that_can_follow_one_another() -> None:
    machine = aut.read_aut(AUT, "m.aut")
    assert machine.letters == ("PUT !6", "GET(1,2)")
    assert (
        "the actions that can follow one another; 'i' and 'tau' are" in machine.remark
    )
    shown = machine.run(["PUT !6", "GET(1,2)", "PUT !6", "PUT !6", "GET(1,2)"])
    assert shown == ("accept",) * 4 + ("reject",)


def test_a_transition_system_without_gaps_shows_its_states() -> None:
    text = "des (1,4,2)\n(0,a,1)\n(1,a,0)\n(0,b,0)\n(1,b,1)\n"
    machine = aut.read_aut(text, "m.aut")
    assert (machine.output, machine.remark) == (None, "")
    assert machine.run(["a", "b", "a"]) == ("0", "0", "1")
    partial = text.replace("4,2", "3,2").replace("(1,a,0)\n", "")
    assert aut.read_aut(partial, "m.aut").run(["a", "b"]) == ("reject", "reject")
    assert aut.read_aut(partial, "m.aut", "stay").run(["a", "b"]) == ("1", "1")
    with pytest.raises(MachineError, match="give a smaller machine"):
        aut.read_aut(partial.replace("3,2", "3,999999999"), "m.aut", "stay")


BA = "[p]\na,[p]->[q]\nb,[p]->[p]\na,[p]->[p]\n[q]\n"


def test_acceptors_of_rabit() -> None:
    machine = aut.read_ba(BA, "m.ba")
    assert [w for w in ("", "a", "ba", "ab", "bb") if accepts(machine, w)] == [
        "a",
        "ba",
    ]
    assert "read as one of finite words" in machine.remark
    bare = aut.read_ba("a,p->q\nb,q->q", "m.ba")  # starts in p, and all states accept
    assert [w for w in ("", "a", "b", "abb") if accepts(bare, w)] == ["", "a", "abb"]


MATA = """# of libMATA
@NFA-explicit   # letters one by one
%Alphabet-auto
%Initial q0 | "q 1"
%Final q1
q0 a q1
q0 "x" q0
q1 b "q 1"
"""


def test_acceptors_of_mata_may_start_in_several_states() -> None:
    machine = aut.read_mata(MATA, "m.mata")
    assert machine.letters == ("a", "x", "b")
    assert [w for w in ("", "a", "xxa", "b", "ab") if accepts(machine, w)] == [
        "a",
        "xxa",
    ]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("m.aut", "", ":1: the first line is not: des (start, transitions, states)"),
        ("m.aut", "des (0, 1/2, 1)\n", "the first line is not"),
        ("m.aut", AUT.replace("0, 4", "0, 5"), ":1: 5 transitions from state 0 on are"),
        (
            "m.aut",
            AUT.replace(",2)\n\n", ",3)\n"),
            ":5: '3' is no state, which are 0 to 2",
        ),
        ("m.aut", AUT.replace("(0, i, 2)", "0 i 2"), ":3: '0 i 2' is no transition"),
        ("m.aut", AUT.replace("i, 2", ", 2"), ":3: '(0, , 2)' is no transition"),
        ("m.ba", "", "no transitions"),
        ("m.ba", "[p]\n", "no transitions"),
        ("m.ba", BA.replace("b,", "b "), ":3: 'b [p]->[p]' is no transition"),
        ("m.ba", BA.replace("->[q]", ""), ":2: 'a,[p]' is no transition"),
        ("m.mata", MATA.replace("@NFA-explicit", "@NFA-bits"), "@NFA-bits is not read"),
        (
            "m.mata",
            MATA.replace("@NFA-explicit", ""),
            ":3: '%Alphabet-auto' is no line",
        ),
        (
            "m.mata",
            MATA.replace("q0 a q1", "q0 (a & b) q1"),
            ":6: 'q0 (a & b) q1' is no",
        ),
        (
            "m.mata",
            MATA.replace("%Final q1", "%Final !q1"),
            ":5: '!q1': states are list",
        ),
        ("m.mata", MATA.replace("%Final q1", "%Final true"), ":5: 'true': states are"),
        ("m.mata", MATA.replace('%Initial q0 | "q 1"', "%Initial"), "behind %Initial"),
        ("m.mata", MATA.replace("%Alphabet-auto", "%Foo 3"), ":3: '%Foo 3' is no line"),
        ("m.mata", MATA.replace('"x"', '"x'), ":7: a quote stays open"),
        ("m.mata", "@NFA-explicit\n%Initial q\n%Final q\n", "no transitions"),
    ],
)
def test_what_is_no_list_of_transitions(
    tmp_path: Path, name: str, text: str, said: str
) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(KrohnError) as refused:
        read(tmp_path / name)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


TABLES = {
    "acceptor": ("state,a,b\n->even,odd,even\n*odd,even,odd\n", ["reject", "accept"]),
    "turned": ("q;a;b\nodd;even;odd\n-> * even;odd;-\n", ["accept", "reject"]),
    "no header": (',a,b\n>p,"{p, q}",∅\n*q,,{}\n', ["reject", "accept"]),
    "moore": ("State\ta\tb\tOutput\nx\ty\ty\tred\ny\tx\tx\tgreen\n", ["red", "green"]),
}


@pytest.mark.parametrize("name", TABLES)
def test_tables_with_a_row_for_each_state(name: str) -> None:
    text, shown = TABLES[name]
    machine = table.read(text, "m.csv")
    assert machine.output is not None
    assert machine.letters[0] == "a"
    start = machine.output.names[machine.output.table[machine.start]]
    assert [start, *machine.run(["a"])] == shown


def test_tables_of_mealy_machines_and_without_outputs() -> None:
    wide = (
        "state,coin,push\n->locked,open/thanks,locked/no\nopen,open/ok / 2,locked/ok\n"
    )
    long = (
        "State,Input,Next_State,Output\n-> locked,coin,open,thanks\nlocked,push,locked,no\n"
        "open,coin,open,ok / 2\nopen,push,locked,ok\n"
    )
    for text in (wide, long):
        machine = table.read(text, "m.csv")
        assert machine.run(["coin", "coin", "push"]) == ("thanks", "ok / 2", "ok")
        assert machine.remark == ""
    bare = table.read("from,symbol,to\np,a,q\nq,a,p\n", "m.csv")
    assert bare.run(["a", "a"]) == ("q", "p")
    assert "no state is marked by ->, so it starts in 'p'" in bare.remark


def test_empty_moves_and_several_starts_in_tables() -> None:
    machine = table.read("state,a,ε\n->p,p,q\n->q,r,-\n*r,-,-\n", "m.csv")
    assert [w for w in ("", "a", "aa") if accepts(machine, w)] == ["a", "aa"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "id,a,b\n0,1,0\n1,0,1\n",
            ":1: no table of transitions; a table of transitions",
        ),
        ("from,to\na,b\nb,a\n", ":1: no table of transitions"),
        ("state,next\na,b\nb,a\n", ":1: no table of transitions"),
        ("state,capital\nOhio,Columbus\n", ":2: 'Columbus' is no state of the first"),
        ("state,a\np,q\nq,p,p\n", ":3: 3 cells, where the first line has 2"),
        ("state,a\np,p\np,p\n", ":3: a second row of 'p'"),
        ("state,a,a\np,p,p\n", ":1: each column needs a letter"),
        ("state,a,\np,p,p\n", ":1: each column needs a letter"),
        ("state,a\n->,p\n", ":2: a row without the name of a state"),
        ("state,a\n*p,p/x\n", "outputs in one way"),
        ("state,a,b\np,p/x,p\n", ":2: a cell without an output"),
        ("state,a\np,p/\n", ":2: 'p/' is no state"),
        ("state,a,output\np,q,1\nq,p,\n", "the column of outputs has empty cells"),
        ("state,a\n->p,q\n->q,p\n", "several starts are for acceptors"),
        ("state,ε\np,p\n", "empty moves and several starts are for acceptors"),
        ('state,a\np,"{p,q}"\nq,p\n', "nondeterministic: in state 'p' the letter 'a'"),
        ("state,a,b\np,p,-\n", "1 of 2 transitions are missing"),
        ("state,a,accepting\n0,1,0\n1,0,1\n", ":1: the column 'accepting' may be a"),
        ("q,a,is_final\n0,1,0\n1,0,1\n", "'is_final' may be a letter, or say this"),
        ("q,a,Start?\n0,1,yes\n1,0,no\n", "mark such states by ->, or rename"),
        ("state,output,a\n0,0,1\n1,1,0\n", "the column 'output' is to be the last"),
        ("state,a,output\np,q,\nq,p,\n", ":2: the column of outputs has empty cells"),
        ("state,letter,next,output\np,a,p,\n", ":2: the column of outputs has empty"),
        ("state,lambda\n*p,p\n", ":2: 'lambda' may be a letter or none; write ε"),
        ("state,letter,next\np,a\n", ":2: 3 cells are needed"),
        ('state,a\np,"p\n', "no table: unexpected end of data"),
        ("", "an empty table"),
    ],
)
def test_what_is_no_table_of_transitions(text: str, said: str) -> None:
    with pytest.raises(MachineError) as refused:
        table.read(text, "m.csv")
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_columns_that_are_letters_whatever_they_are_called() -> None:
    machine = table.read("state,start,stop\n->off,on,off\non,on,off\n", "m.csv")
    assert machine.letters == ("start", "stop")
    moore = table.read("Present State,0,Moore output\np,q,0\nq,p,1\n", "m.csv")
    assert moore.letters == ("0",)
    assert moore.run(["0", "0"]) == ("1", "0")


def test_signs_in_quotes_and_empty_moves_of_mata() -> None:
    text = '@NFA-explicit\n%Initial p\n%Final q\np "\\"" q\nq "\\\\" q\n'
    machine = aut.read_mata(text, "m.mata")
    assert machine.letters == ('"', "\\")
    printed = "@NFA-explicit\n%Initial 0\n%Final 1\n0 4294967295 1\n1 97 1\n"
    machine = aut.read_mata(printed, "m.mata")
    assert machine.letters == ("97",)
    assert accepts(machine, "")


@needs("kinds.kernels")
def test_a_table_of_numbers_is_a_kernel(tmp_path: Path) -> None:
    path = tmp_path / "m.csv"
    path.write_text("0,1\n1,0\n")
    with pytest.raises(KrohnError, match="a table of transitions begins"):
        machines.read(str(path))


def test_a_table_of_transitions_is_no_kernel(tmp_path: Path) -> None:
    path = tmp_path / "m.csv"
    path.write_text("state,a\n->p,q\nq,p\n")
    assert machines.read(str(path)).run(["a", "a"]) == ("q", "p")
    assert not table.is_table("q\n0.5\n0.25\n")  # a heading
    path.write_text("digraph { a -> b [label=x] }")
    with pytest.raises(
        KrohnError, match="not a table of transitions: this is GraphViz"
    ):
        machines.read(str(path))


def test_columns_of_a_listing_stand_in_any_order() -> None:
    for text in (
        "from,to,label\np,q,a\nq,p,a\n",
        "Input,Next_State,State\na,q,p\na,p,q\n",
    ):
        assert table.read(text, "m.csv").run(["a", "a"]) == ("q", "p")
    text = "output,event,source,target\nx,a,p,q\ny,a,q,p\n"
    assert table.read(text, "m.csv").run(["a", "a"]) == ("x", "y")


@pytest.mark.parametrize("text", [HEAD + STATES + WAYS, AUT, BA, MATA])
def test_the_text_tells_the_format(tmp_path: Path, text: str) -> None:
    path = tmp_path / "machine"
    path.write_text(text)
    assert read(path).letters
    (wrong := tmp_path / "m.kiss2").write_text(text)
    with pytest.raises(MachineError, match=r"not KISS2: this is .*; end its name in"):
        read(wrong)
