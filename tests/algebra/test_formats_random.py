"""Random machines as files of each format that is only read: the same one comes back."""

import csv
import io
import json
import random
from collections.abc import Callable
from xml.sax.saxutils import quoteattr

import pytest
from drawings import Sketch, accepts_the_same, sketch

from krohn.algebra.automaton import Automaton
from krohn.algebra.formats import aut, hoa, jflap, json_format, scxml, table

SIGNS = [*"abcXY01.,;:/\\'\"<>&#()[]{}|!?+-_~^=%$@", "λ", "é"]
NAMES = [
    "a",
    "b c",
    "x,y",
    "it's",
    'say "so"',
    "a/b",
    "<&>",
    "#1",
    "0",
    "-x",
    "é",
    "(1)",
]
WORDS = ["a", "coin", "go_on", "x.y", "0", "-1", "a=b", "é", "PUT!6", "&", "<"]
BITS = ("00", "01", "10", "11")


def as_jflap(machine: Sketch, kind: str) -> str:
    """As JFLAP 7 writes acceptors (fa), Mealy and Moore machines."""
    states, ways = [], []
    for q in machine.states:
        marks = "<initial/>" * (q in machine.starts)
        if kind == "fa":
            marks += "<final/>" * (q in machine.final)
        if kind == "moore":
            marks += f"<output>{machine.shown[q]}</output>"
        state = f'<state id="{q}" name="q{q}">&#13;\n<x>1.0</x>&#13;\n<y>2.0</y>&#13;\n'
        states.append(f"{state}{marks}</state>&#13;\n")
    for q, a, r, output in machine.arcs:
        letter = f"<read>{quoteattr(a)[1:-1]}</read>" if a else "<read/>"
        shows = f"<transout>{output}</transout>" * (kind == "mealy")
        way = f"<from>{q}</from><to>{r}</to>{letter}{shows}"
        ways.append(f"<transition>{way}</transition>\n")
    body = "".join([*states, *ways])
    return f"<structure><type>{kind}</type><automaton>{body}</automaton></structure>"


def as_aut(machine: Sketch) -> str:
    lines = [f'({q},"{a or "tau"}",{r})' for q, a, r, _ in machine.arcs]
    head = f"des ({machine.starts[0]}, {len(lines)}, {len(machine.states)})"
    return "\n".join([head, *lines])


def as_ba(machine: Sketch) -> str:
    lines = [f"{a or '<eps>'},[{q}]->[{r}]" for q, a, r, _ in machine.arcs]
    heads = [f"[{q}]" for q in machine.starts]
    return "\n".join([*heads, *lines, *(f"[{q}]" for q in machine.final)])


def as_mata(machine: Sketch) -> str:
    lines = [f'q{q} "{a or "<eps>"}" q{r}' for q, a, r, _ in machine.arcs]
    ends = " ".join(f"q{q}" for q in machine.final)
    heads = ["@NFA-explicit", "%Alphabet-auto", f"%Initial q{machine.starts[0]}"]
    return "\n".join([*heads, f"%Final {ends}", *lines])


def as_hoa(machine: Sketch) -> str:
    lines = [
        'HOA: v1\nAP: 2 "p" "q"\nAcceptance: 1 Inf(0)\nacc-name: Buchi',
        *(f"Start: {q}" for q in machine.starts),
        "--BODY--",
    ]
    for state in machine.states:
        lines.append(f"State: {state}" + " {0}" * (state in machine.final))
        for q, a, r, _ in machine.arcs:
            signs = [f"{'' if bit == '1' else '!'}{i}" for i, bit in enumerate(a)]
            lines += [f"[{' & '.join(signs)}] {r}"] if q == state else []
    return "\n".join([*lines, "--END--"])


def as_table(machine: Sketch, kind: str) -> str:
    """A row for each state, with choices in braces; or for each transition."""
    text = io.StringIO()
    write = csv.writer(text).writerow
    marks = {
        q: "->" * (q in machine.starts) + "*" * (kind == "fa" and q in machine.final)
        for q in machine.states
    }
    letters = [*dict.fromkeys(a for _, a, _, _ in machine.arcs)]
    if kind == "listing":
        write(["state", "letter", "next", "output"])
        for q, a, r, output in machine.arcs:
            write([f"{marks[q]}s{q}", a, f"s{r}", output])
        return text.getvalue()
    heads = [a or "ε" for a in letters]
    write(["state", *heads, *["output"] * (kind == "moore")])
    for q in machine.states:
        cells = []
        for a in letters:
            led = [(r, o) for p, b, r, o in machine.arcs if (p, b) == (q, a)]
            ends = [f"s{r}" + f"/{o}" * (kind == "mealy") for r, o in led]
            cells.append(ends[0] if len(ends) == 1 else "{" + ",".join(ends) + "}")
        shows = [machine.shown[q]] * (kind == "moore")
        write([f"{marks[q]}s{q}", *cells, *shows])
    return text.getvalue()


def as_scxml(machine: Sketch) -> str:
    states = {
        q: "".join(
            f'<transition event={quoteattr(a)} target="s{r}"/>'
            for p, a, r, _ in machine.arcs
            if p == q
        )
        for q in machine.states
    }
    inner = "\n".join(f'<state id="s{q}">{ways}</state>' for q, ways in states.items())
    return f'<scxml initial="s{machine.starts[0]}" version="1.0">\n{inner}</scxml>'


def as_xstate(machine: Sketch) -> str:
    states = {
        f"s{q}": {"on": {a: f"s{r}" for p, a, r, _ in machine.arcs if p == q}}
        for q in machine.states
    }
    return json.dumps({"initial": f"s{machine.starts[0]}", "states": states})


ACCEPTORS: dict[
    str, tuple[Callable[[Sketch], str], Callable[[str, str], Automaton], list[str]]
] = {
    "JFLAP": (lambda m: as_jflap(m, "fa"), jflap.read, SIGNS),
    "BA": (as_ba, aut.read_ba, [w for w in WORDS if w != ","]),
    "MATA": (as_mata, aut.read_mata, [w for w in NAMES if '"' not in w]),
    "table": (lambda m: as_table(m, "fa"), table.read, NAMES),
}
MACHINES: dict[
    str, tuple[Callable[[Sketch], str], Callable[[str, str], Automaton], str, list[str]]
] = {
    "JFLAP, Mealy": (lambda m: as_jflap(m, "mealy"), jflap.read, "arcs", SIGNS),
    "JFLAP, Moore": (lambda m: as_jflap(m, "moore"), jflap.read, "shown", SIGNS),
    "AUT": (as_aut, aut.read_aut, "states", [w for w in NAMES if '"' not in w]),
    "table, Mealy": (lambda m: as_table(m, "mealy"), table.read, "arcs", NAMES),
    "table, Moore": (lambda m: as_table(m, "moore"), table.read, "shown", NAMES),
    "listing": (lambda m: as_table(m, "listing"), table.read, "arcs", NAMES),
    "SCXML": (as_scxml, scxml.read, "states", WORDS),
    "XState": (as_xstate, json_format.read, "states", NAMES),
}
MANY = pytest.mark.parametrize(
    "count", [20, pytest.param(2000, marks=pytest.mark.slow)]
)


@MANY
@pytest.mark.parametrize("form", ACCEPTORS)
def test_acceptors_accept_the_same(form: str, count: int) -> None:
    write, read, names = ACCEPTORS[form]
    for seed in range(count):
        machine = sketch(random.Random(seed), names, choices=True)
        text = write(machine)
        assert accepts_the_same(machine, read(text, "m")), text


@MANY
def test_bits_of_hoa(count: int) -> None:
    for seed in range(count):
        machine = sketch(random.Random(seed), BITS, choices=False, most=4)
        assert accepts_the_same(machine, hoa.read(as_hoa(machine), "m"))


@MANY
@pytest.mark.parametrize("form", MACHINES)
def test_machines_show_the_same(form: str, count: int) -> None:
    write, read, on, names = MACHINES[form]
    for seed in range(count):
        machine = sketch(random.Random(seed), names, choices=False)
        found = read(text := write(machine), "m")
        assert {*found.letters} == {*machine.letters}
        for word in machine.words():
            shown = tuple(q.removeprefix("s") for q in found.run(word))
            assert shown == machine.outputs(word, on), text
