"""Random machines, and the shapes of the DOT files in which tools draw them.

The writers of libraries that tests have are used as they are, in
``tests/algebra/test_formats_drawings.py``; those of others are small ones here, which write
what these tools do.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from krohn.algebra.automaton import Automaton

WORDS = ("accept", "reject")


@dataclass(frozen=True)
class Sketch:
    """A machine as lists.

    Attributes:
        states: Their names.
        letters: Their names.
        arcs: Each with a state, a letter (empty for a move without one), a state and an
            output.
        starts: The start states, of an acceptor perhaps several.
        final: The accepting states.
        shown: What each state shows.
    """

    states: Sequence[str]
    letters: Sequence[str]
    arcs: Sequence[tuple[str, str, str, str]]
    starts: Sequence[str]
    final: Sequence[str]
    shown: dict[str, str]

    def accepted(self, word: Sequence[str]) -> str:
        """Whether an acceptor takes a word: ``"accept"`` or ``"reject"``."""
        reached = self._closed(set(self.starts))
        for letter in word:
            led = {r for q, a, r, _ in self.arcs if q in reached and a == letter}
            reached = self._closed(led)
        return WORDS[not reached & {*self.final}]

    def _closed(self, reached: set[str]) -> set[str]:
        while True:
            led = {r for q, a, r, _ in self.arcs if q in reached and a == ""}
            if led <= reached:
                return reached
            reached = reached | led

    def outputs(self, word: Sequence[str], on: str) -> tuple[str, ...]:
        """What a deterministic machine shows, on ``"arcs"``, ``"shown"``, ``"states"``."""
        state, said = self.starts[0], list[str]()
        for letter in word:
            state, output = next(
                (r, o) for q, a, r, o in self.arcs if (q, a) == (state, letter)
            )
            said.append({"arcs": output, "states": state}.get(on, self.shown[state]))
        return tuple(said)

    def words(self, longest: int = 3) -> Iterator[tuple[str, ...]]:
        """All words of up to so many letters, without the empty one."""
        for length in range(1, longest + 1):
            yield from product(self.letters, repeat=length)


def sketch(
    rng: random.Random, names: Sequence[str], *, choices: bool, most: int = 3
) -> Sketch:
    """A random machine of up to four states.

    Args:
        rng: What decides.
        names: The letters to choose from.
        choices: Whether it is an acceptor with choices and moves without a letter;
            else it is deterministic and complete, and its first letter leads to all
            states one after the other.
        most: The most letters; all of them if it is no acceptor with choices and there
            are so many names.
    """
    few = rng.randint(1, min(most, len(names)))
    letters = rng.sample(names, len(names) if most == len(names) else few)
    count = rng.randint(1, 4)
    states = [f"{i}" for i in range(count)]
    arcs = {}
    for i, a in product(range(count), [*letters, ""] if choices else letters):
        led = [rng.choice(states)]
        if choices:
            led = rng.sample(
                states, min(count, rng.choice([0, 1, 1, 2] if a else [0, 0, 1]))
            )
        elif a == letters[0]:
            led = [states[(i + 1) % count]]
        arcs |= {(states[i], a, r): (states[i], a, r, rng.choice("xy")) for r in led}
    if choices:  # at least one arrow, from the start
        arcs[states[0], letters[0], states[-1]] = (
            states[0],
            letters[0],
            states[-1],
            "x",
        )
    final = rng.sample(states, rng.randint(1, count))
    shown = {q: rng.choice("xy") for q in states}
    starts = rng.sample(states, 1) if not choices else states[:1]
    return Sketch(states, letters, [*arcs.values()], starts, final, shown)


def accepts_the_same(machine: Sketch, found: Automaton) -> bool:
    """Whether the letters and the language are the same."""
    letters = {a for _, a, _, _ in machine.arcs if a}
    words = (word for word in machine.words() if {*word} <= letters)
    return {*found.letters} == letters and all(
        found.run(word)[-1] == machine.accepted(word) for word in words
    )


def quoted(text: str) -> str:
    """A text as a string of DOT."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _joined(
    machine: Sketch, sign: str, empty: str = "ε"
) -> Iterator[tuple[str, str, str]]:
    """The arrows, those between the same states as one."""
    found: dict[tuple[str, str], list[str]] = {}
    for q, a, r, _ in machine.arcs:
        found.setdefault((q, r), []).append(a or empty)
    for (q, r), labels in found.items():
        yield q, r, sign.join(sorted(labels))


def as_automata_lib(machine: Sketch) -> str:
    """An acceptor as automata-lib draws it, by pygraphviz: letters in one label."""
    lines = ['digraph "" {', "\tgraph [rankdir=LR,", "\t\tranksep=0.5", "\t];"]
    lines += ['\tnode [label="\\N"];', '\t"3f1c-99"\t[label="",', "\t\tshape=point];"]
    lines += [f'\t"3f1c-99" -> {q}\t[arrowsize=0.85];' for q in machine.starts]
    for q in machine.states:
        shape = "doublecircle" if q in machine.final else "circle"
        lines.append(f"\t{q}\t[fontsize=14.0,\n\t\tshape={shape}];")
    for q, r, label in _joined(machine, ","):
        lines.append(f"\t{q} -> {r}\t[arrowsize=0.85,\n\t\tlabel={quoted(label)}];")
    return "\n".join([*lines, "}", ""])


def as_transitions(machine: Sketch) -> str:
    """A machine as transitions draws it: bars between triggers, the start is active."""
    lines = ['digraph "State Machine" {', '\tgraph [label="State Machine" rankdir=LR]']
    lines.append('\tnode [color=black peripheries=1 style="rounded,filled"]')
    for q in machine.states:
        active = " color=red fillcolor=darksalmon peripheries=2"
        lines.append(f'\t{q} [label="{q}\\l"{active if q in machine.starts else ""}]')
    lines += [
        f"\t{q} -> {r} [label={quoted(a)}]" for q, r, a in _joined(machine, " | ")
    ]
    return "\n".join([*lines, "}", ""])


def as_simple_automata(machine: Sketch) -> str:
    """An acceptor as PySimpleAutomata draws it, with an invisible node for each start."""
    fakes = [f"fake{i}" for i, _ in enumerate(machine.starts)]
    lines = ["digraph {", *(f"\t{fake} [style=invisible]" for fake in fakes)]
    for q in machine.states:
        said = ["root=true"] * (q in machine.starts)
        said += ["shape=doublecircle"] * (q in machine.final)
        lines.append(f"\t{q} [{' '.join(said)}]" if said else f"\t{q}")
    starts = zip(fakes, machine.starts, strict=True)
    lines += [f"\t{fake} -> {q} [style=bold]" for fake, q in starts]
    lines += [f"\t{q} -> {r} [label={quoted(a or 'ε')}]" for q, a, r, _ in machine.arcs]
    return "\n".join([*lines, "}", ""])


def as_openfst(machine: Sketch, *, outputs: bool, doubled: bool = False) -> str:
    """A machine as OpenFst draws it, the start first; all states accept with outputs.

    Args:
        machine: The machine.
        outputs: Whether arcs show outputs.
        doubled: Whether an acceptor is drawn as a transducer that repeats its letters.
    """
    lines = ["digraph FST {", "rankdir = LR;", 'size = "8.5,11";', "center = 1;"]
    (start,) = machine.starts
    for q in sorted(machine.states, key=lambda q: q != start):
        shape = "doublecircle" if outputs or q in machine.final else "circle"
        style = "bold" if q == start else "solid"
        lines.append(f'{q} [label = "{q}", shape = {shape}, style = {style}]')
        for p, a, r, output in machine.arcs:
            if p == q:
                shown = (
                    f":{output}" if outputs else f":{a or '<eps>'}" if doubled else ""
                )
                label = quoted(f"{a or '<eps>'}{shown}")
                lines.append(f"\t{q} -> {r} [label = {label}, fontsize = 14];")
    return "\n".join([*lines, "}", ""])


def as_mona(machine: Sketch) -> str:
    """An acceptor of two bits as MONA draws it: rows of bits, columns of cubes."""
    lines = ["", "digraph MONA_DFA {", " rankdir = LR;", " edge [fontname = Courier];"]
    final = "; ".join(machine.final)
    others = "; ".join(q for q in machine.states if q not in machine.final)
    lines += [f" node [shape = doublecircle]; {final};"]
    lines += [f" node [shape = circle]; {others};" if others else ""]
    lines += [
        ' init [shape = plaintext, label = ""];',
        f" init -> {machine.starts[0]};",
    ]
    for q, r, label in _joined(machine, " "):
        cubes = label.split()
        if {"10", "11"} <= {*cubes}:
            cubes = [c for c in cubes if c[0] != "1"] + ["1X"]
        rows = [" ".join(c[0] for c in cubes), ",".join(c[1] for c in cubes)]
        lines.append(f' {q} -> {r} [label="{rows[0]}\\n{rows[1]}"];')
    return "\n".join([*lines, "}", ""])


def as_ltlf2dfa(machine: Sketch) -> str:
    """An acceptor of two bits as LTLf2DFA draws it: conditions on propositions a, b."""
    lines = ["digraph MONA_DFA {", " rankdir = LR;", " edge [fontname = Courier];"]
    lines.append(f" node [shape = doublecircle]; {'; '.join(machine.final)};")
    lines.append(f" node [shape = circle]; {machine.starts[0]};")
    lines += [
        ' init [shape = plaintext, label = ""];',
        f" init -> {machine.starts[0]};",
    ]
    for q, r, label in _joined(machine, " "):
        cubes = [
            " & ".join(
                p if bit == "1" else f"~{p}" for p, bit in zip("ab", c, strict=True)
            )
            for c in label.split()
        ]
        text = "true" if len(cubes) == 4 else " | ".join(f"({cube})" for cube in cubes)
        lines.append(f' {q} -> {r} [label="{text}"];')
    return "\n".join([*lines, "}"])
