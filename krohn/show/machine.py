"""Printing results about machines: decompositions, comparisons, learned machines."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from krohn.algebra.wording import count, cut
from krohn.program.quoting import on_a_terminal
from krohn.program.word_texts import join_letters
from krohn.program.wording import at_most
from krohn.show.tables import console, cut_short, new_table, print_table, several_lines

if TYPE_CHECKING:
    from krohn.instruments.equivalence.models import Twins
    from krohn.instruments.equivalence.question import Answer
    from krohn.instruments.learning.learner import Learned
    from krohn.kinds.counting.commands_short import Shallowest

# A decomposition: components by level, what they mean, and the proof.


SHOWN_STATES = 12
SHOWN_VALUES = 8
SHOWN_CONTEXTS = 3
SHOWN_READS = 5
WIDE = 96


def decomposition(facts: dict[str, Any]) -> None:
    """A cascade: its components by level, what they mean, and the proof."""
    out = console()
    rows = [row for level in facts["levels"] for row in level]
    out.print(
        f"{facts['machine']}: {count(facts['states'], 'state')}, "
        f"{count(facts['letters'], 'letter')}, decomposed into "
        f"{count(len(rows), 'component')} on {count(len(facts['levels']), 'level')} "
        f"(method {facts['method']})"
    )
    if rows:
        out.print()
        print_table(_components(facts["levels"]), WIDE)
        out.print()
        out.print("The states that are still possible, for each value of a component:")
        for row in sorted(rows, key=lambda row: row["component"]):
            for line in _meaning(row, SHOWN_CONTEXTS if len(rows) <= 10 else 1):
                out.print(line)
    out.print()
    _proof(out, facts)


def _components(levels: list[list[dict[str, Any]]]) -> Table:
    columns = (" level", " no", "what it is", " values", "group", " order")
    table = new_table(*columns, "reads", " nodes")
    for number, level in enumerate(levels, start=1):
        for row in level:
            table.add_row(
                *(str(number), str(row["component"]), cut(row["kind"], 32)),
                *(f"{row['states']:,}", cut(row["group"], 14), _short(row["order"])),
                *(_reads(row["reads"]), f"{row['nodes']:,}"),
            )
    return table


def _reads(numbers: list[int]) -> str:
    if len(numbers) > SHOWN_READS:
        return f"letter and {len(numbers)} components"
    return ", ".join(["letter", *map(str, numbers)])


def _short(number: int) -> str:
    return f"{number:,}" if number < 10**9 else f"{number:.1e}"


def _meaning(row: dict[str, Any], most: int) -> list[str]:
    """Lines on what the values of one component say."""
    meaning = row["meaning"]
    head = f"  {row['component']}: {row['kind']}"
    if not meaning["contexts"]:
        return [f"{head}; none of its values alone rules out a state"]
    if meaning["same_everywhere"]:
        (reading,) = meaning["readings"]
        return [head, *_values(reading, "    ")]
    lines = [head]
    for reading in meaning["readings"][:most]:
        lines += [
            f"    given {_state_set(reading['possible'])}",
            *_values(reading, "      "),
        ]
    hidden = meaning["contexts"] - len(meaning["readings"][:most])
    return [*lines, f"    … {count(hidden, 'more context')}"] if hidden else lines


def _values(reading: dict[str, Any], indent: str) -> list[str]:
    shown = list(reading["leaves"].items())[:SHOWN_VALUES]
    lines = [f"{indent}{value} → {_state_set(states)}" for value, states in shown]
    hidden = len(reading["leaves"]) - len(shown)
    return [*lines, f"{indent}… {count(hidden, 'more value')}"] if hidden else lines


def _state_set(states: list[str]) -> str:
    if not states:
        return "does not occur"
    shown = ", ".join(states[:SHOWN_STATES])
    if len(states) > SHOWN_STATES:
        shown += f", … ({len(states)} in all)"
    return f"{{{shown}}}"


def _proof(out: Console, facts: dict[str, Any]) -> None:
    out.print(
        f"Proved: from each of its {count(facts['coordinates'], 'coordinate')} the cascade "
        f"follows the machine on words of every length ({facts['triples']:,} triples of "
        "nodes were checked)."
    )
    start = facts["start"]
    coordinates = ", ".join(map(str, start["coordinates"]))
    out.print(f"The start {start['state']} has the coordinates ({coordinates}).")
    if facts["tried"]:
        out.print("Methods that were tried:")
    for row in facts["tried"]:
        if "reason" in row:
            out.print(f"  {row['method']}: {row['reason']}")
        else:
            out.print(
                f"  {row['method']}: depth {row['depth']} as a network, "
                f"{count(row['values'], 'value')}, "
                f"{count(row['nodes'], 'node')} of wiring"
            )
    out.print(f"Chosen: {facts['why']}.")
    cut_short(out, facts)


# Counting programs, and whether two accept the same words.


MOST_PAIRS = 6


def equivalence(found: "Answer") -> None:
    """Whether two sources accept the same words, and of which lengths that is known."""
    print(_sentence(found))
    _print_notion(found)
    if found.word is not None:
        print(f"  a shortest word: {join_letters(found.word)}")
        if found.says is not None:
            _says(found)
        else:
            print(f"  {_side(found)} accepts it, and the other does not")
    _renamed(found)
    if found.invariant:
        print("  z3 found an invariant, and each letter was checked to keep it")


def _side(found: "Answer") -> str:
    """The one that accepts the word, by its name if that tells the two apart."""
    if found.left == found.right:
        return "the first" if found.accepts == "left" else "the second"
    return found.left if found.accepts == "left" else found.right


def twins(found: "Twins") -> None:
    """Whether two networks are one function, and what of their tensors is the same."""
    bound = (
        "of every length"
        if found.length is None
        else f"of up to {found.length} letters"
    )
    both = f"{found.left} and {found.right}"
    if found.word is not None:
        print(f"refuted: {both} {_parted(found)}")
        print(f"  a shortest word on which they differ: {join_letters(found.word)}")
        _says(found)
    elif found.verdict == "verified" and found.inputs:
        apart = "the same"
        if found.within is not None:
            apart = f"at most {at_most(found.within)} apart"
        print(f"verified for {found.inputs}: answers of {both} are {apart}")
    elif found.verdict == "verified":
        names = ", up to names" * bool(found.renamed)
        print(f"verified for words {bound}: {both} give the same answers{names}")
        print(
            "  each network was proved to compute its machine, and the machines give "
            "the same answers"
        )
    else:
        print(f"undecided: {found.reason}")
    _print_notion(found)
    _renamed(found)
    for name, claim in zip((found.left, found.right), found.about, strict=True):
        about, answers = claim.lines()
        print(f"  {name}: {about}; {answers.rsplit('; ')[-1]}")
    every = len(found.shared) + found.others
    print(f"  {len(found.shared)} of {every} tensors are the same, byte by byte")
    for name in found.shared:
        print(f"    {name}")
    if found.random:
        print("  both are masks of one random network")


def _print_notion(found: "Twins | Answer") -> None:
    from krohn.instruments.equivalence.question import (
        SAID,  # torch, which --help does without
    )

    print(f"  compared: {SAID[found.notion]}")


def _parted(found: "Twins | Answer") -> str:
    """That two are not the same, by what was compared: not two functions, if one."""
    if found.renamed is not None:
        return "compute the same function up to names, and their names differ"
    return "compute different functions"


def _says(found: "Twins | Answer") -> None:
    assert found.says is not None
    for name, said in zip((found.left, found.right), found.says, strict=True):
        print(f"  {name} says {on_a_terminal(said)}")


def _renamed(found: "Twins | Answer") -> None:
    if not found.renamed:
        return
    pairs = [
        f"{on_a_terminal(a)} is {on_a_terminal(b)}"
        for a, b in found.renamed[:MOST_PAIRS]
    ]
    more = ["…"] if len(found.renamed) > MOST_PAIRS else []
    print(f"  renamed: {', '.join([*pairs, *more])}")


def counting_program(
    text: str, depth: int, least: "Shallowest", found: "Answer", output: str | None
) -> None:
    """The program of a language, or the file that it was written to."""
    console().print(several_lines(text if output is None else f"wrote {output}"))
    tight = least.depth == depth
    no_less = ", and no program has less" if tight else ""
    print(f"counts are nested {depth} deep{no_less}")
    if least.words is not None:
        have = (
            "each letter is as often in both, and the last one is the same"
            if least.depth == 2
            else "both end with the same letter"
        )
        yes, no = (f"“{join_letters(word)}”" for word in least.words)
        bound = "" if tight else f"; so at least {least.depth} deep"
        print(f"  {yes} is accepted, {no} is not; {have}{bound}")
    equivalence(found)


def _sentence(found: "Answer") -> str:
    if found.notion != "accept":
        return _same_output(found)
    if found.word is not None:
        verb = "is not in" if found.relation == "included" else "are not equal:"
        if found.relation == "included":
            return f"refuted: a word of {found.left} {verb} {found.right}"
        return f"refuted: {found.left} and {found.right} {verb} one accepts a word"
    about = (
        f"every word of {found.left} is one of {found.right}"
        if found.relation == "included"
        else f"{found.left} and {found.right} accept the same words"
    )
    if found.verdict == "undecided" and not found.explored:
        return "unproved: too much would be compared, even for words of one letter"
    if found.verdict == "undecided":
        return (
            f"undecided for every length; for words of up to {found.explored} letters: "
            f"{about}"
        )
    words = (
        "of every length"
        if found.length is None
        else f"of up to {found.length} letters"
    )
    return f"verified for words {words}: {about}"


def _same_output(found: "Answer") -> str:
    both = f"{found.left} and {found.right}"
    if found.word is not None:
        return f"refuted: {both} {_parted(found)}"
    names = ", up to names" * bool(found.renamed)
    return f"verified for words of every length: {both} show the same{names}"


# A machine that was learned from a network.


MOST = 24
"""So many states are printed."""


def learned(file: str, found: "Learned", output: Path | None) -> None:
    """The machine, how it was found, what it is like, and where the network leaves it."""
    states = count(len(found.machine.states), "state")
    print(
        f"{file}: learned a machine of {states} ({found.method}, {found.seconds:.1f} s)"
    )
    print(
        f"  {found.queries:,} words were asked, and {found.words:,} run to compare "
        f"{count(found.rounds, 'guess', 'es')}"
    )
    for line in [*_followed(found), *_beside_wanted(found)]:
        print(f"  {line}")
    if output is not None:
        print(f"wrote {output}")


def _followed(found: "Learned") -> list[str]:
    """How far the network follows the machine."""
    lines = [
        f"all words of up to {found.right} letters are answered as this machine says"
    ]
    if found.chow:
        lines.append(
            f"if the network follows any machine of up to {found.chow} states, it is this"
        )
    word = found.parted.word
    if word is None:
        lines.append(
            "no longer word on which they differ was found, up to "
            f"{found.parted.searched}"
        )
        return lines
    at = word.found
    lines.append(
        f"they differ after {join_letters(at.word)}: the network says {at.actual[-1]}, the "
        f"machine {at.expected[-1]}"
    )
    lines.append(f"  {word.summary}")
    if found.spent:
        lines.append(f"  the machine could not be learned: {found.spent}")
    return lines


def _beside_wanted(found: "Learned") -> list[str]:
    """How the machine is beside the one that the network should follow."""
    if found.wanted is None or found.beside is None:
        return []
    if found.states is None:
        word = join_letters(found.differs or ())
        return [
            f"not the minimal machine of {found.wanted.name}: they differ after {word}"
        ]
    lines = [f"isomorphic to the minimal machine of {found.wanted.name}:"]
    wide = max(len(one) for one in found.states)
    pairs = list(found.states.items())
    lines += [f"  {one:{wide}}  {other}" for one, other in pairs[:MOST]]
    return lines + ["  …"] * (len(pairs) > MOST)
