"""HOA as acceptors of finite words."""

import random

import pytest

from krohn.algebra.errors import MachineError
from krohn.algebra.formats import hoa
from krohn.algebra.formats.assembly import acceptance

HEAD = """HOA: v1
name: "F(a & X b)" tool: "ltl2tgba" "2.11"
States: 3
Start: 1
AP: 2 "a" "b"
acc-name: Buchi
Acceptance: 1 Inf(0)
properties: trans-labels state-acc /* of Spot */ complete !weak spot.states: 0 1
Alias: @x 0 & !1
"""
BODY = """--BODY--
State: 0 {0}
[t] 0
State: 1 "init"
[@x | 0&1] 2
[!0] 1
State: 2
[1] 0
[!1] 2
--END--
"""


def accepted(text: str, word: list[str]) -> bool:
    machine = hoa.read(text, "m.hoa")
    accepting = acceptance(machine)
    assert accepting is not None
    trace = machine.semiautomaton.trace(machine.encode(word), machine.start)
    return accepting[[machine.start, *trace][-1]]


def test_a_deterministic_automaton_of_spot() -> None:
    machine = hoa.read(HEAD + BODY, "m.hoa")
    assert machine.letters == ("00", "01", "10", "11")
    assert machine.states == ("0", "1", "2")
    assert machine.run(["01", "10", "00", "11"]) == ("reject",) * 3 + ("accept",)
    assert "that can end in an accepting state; the digits of a letter are a, b" in (
        machine.remark
    )


def test_labels_of_states_implicit_ones_and_several_starts() -> None:
    head = HEAD.replace("Start: 1\n", "Start: 1 Start: 2\n").replace("1 Inf(0)", "0 t")
    body = "--BODY--\nState: [0] 1 2\nState: 2 0 1 1 2\nState: 0 --END--"
    # State 2 goes by !a!b, a!b, !ab, ab: the first proposition changes first.
    words = {"00": True, "10": True, "01": True, "11": True}
    assert {a: accepted(head + body, [a]) for a in words} == words
    assert accepted(head + body, ["01", "11"])
    assert not accepted(head + body, ["01", "01"])  # 2 leads to 1, and 1 needs a
    assert not accepted(head + body, ["00", "00"])


def test_conditions_hold_as_they_say() -> None:
    draw = random.Random(3)
    for _ in range(30):
        condition, python = drawn(draw, 3)
        body = f"--BODY-- State: 0 [{condition}] 1 State: 1 {{0}} [t] 1 --END--"
        machine = hoa.read(HEAD.replace("Start: 1", "Start: 0") + body, "m.hoa")
        for letter in machine.letters:
            values = {"p0": letter[0] == "1", "p1": letter[1] == "1"}
            right = "accept" if eval(python, values) else "reject"
            assert machine.run([letter]) == (right,)


def drawn(draw: random.Random, deep: int) -> tuple[str, str]:
    """A condition, as HOA and as Python write it."""
    if not deep or draw.random() < 0.2:
        return draw.choice([("0", "p0"), ("1", "p1"), ("t", "True"), ("f", "False")])
    first, second = drawn(draw, deep - 1), drawn(draw, deep - 1)
    sign, word = draw.choice([("&", "and"), ("|", "or"), ("!", "not")])
    if word == "not":
        return f"!({first[0]})", f"not ({first[1]})"
    return f"({first[0]}) {sign} ({second[0]})", f"({first[1]}) {word} ({second[1]})"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", ":1: not HOA: column 1: expected"),
        (HEAD, "not HOA"),
        (HEAD.replace("v1", "v2") + BODY, ":1: HOA v2; version 1 is read"),
        (HEAD + BODY + HEAD + BODY, "not HOA: column 1: expected the end"),
        (
            HEAD.replace("1 Inf(0)", "1 Fin(0)") + BODY,
            ":7: the acceptance '1Fin(0)' means",
        ),
        (
            HEAD.replace("1 Inf(0)", "2 Inf(0)&Inf(1)") + BODY,
            "means nothing for finite",
        ),
        (HEAD.replace("Acceptance: 1 Inf(0)\n", "") + BODY, "the acceptance '' means"),
        (HEAD + BODY.replace("2\n[!0]", "2 {0}\n[!0]"), ":14: acceptance on edges"),
        (HEAD + BODY.replace("[t] 0", "[t] 0&1"), ":12: several states at once"),
        (HEAD.replace("Start: 1", "Start: 1&2") + BODY, ":4: several states at once"),
        (HEAD.replace("Start: 1\n", "") + BODY, "no line 'Start:'"),
        (HEAD.replace("Start: 1", "Start: 7") + BODY, ":4: 7 is no state of the body"),
        (HEAD + BODY.replace("[t] 0", "[t] 9"), ":12: 9 is no state of the body"),
        (HEAD + BODY.replace("[t]", "[2]"), ":12: '2' is no proposition and no alias"),
        (
            HEAD + BODY.replace("[t]", "[@y]"),
            ":12: '@y' is no proposition and no alias",
        ),
        (HEAD + BODY.replace("[t] 0", "0 0"), ":11: 4 edges without labels are needed"),
        (
            HEAD + BODY.replace("State: 2", "State: 0"),
            ":16: the state 0 is there twice",
        ),
        (HEAD.replace('2 "a" "b"', '3 "a" "b"') + BODY, ":5: AP: 3 different names"),
        (
            HEAD.replace('"a" "b"', '"a" "alive"') + BODY,
            "spot.to_finite removes it",
        ),
        (HEAD.replace('AP: 2 "a" "b"\n', "") + BODY, "no propositions (AP:)"),
        (
            HEAD.replace('2 "a" "b"', "9 " + " ".join(f'"p{i}"' for i in range(9)))
            + BODY,
            "conditions on 9 propositions",
        ),
        (HEAD + "Foo: 3\n" + BODY, ":10: the line 'Foo:' is not read"),
        (HEAD + 'AP: 1 "c"\n' + BODY, ":10: this line is there twice"),
        (HEAD + BODY.replace("[t]", "[" + "!" * 200 + "t]"), "nested too deeply"),
    ],
)
def test_what_is_no_acceptor_of_finite_words(text: str, said: str) -> None:
    with pytest.raises(MachineError) as refused:
        hoa.read(text, "m.hoa")
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)
