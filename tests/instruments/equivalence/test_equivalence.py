"""Two counting programs or machines, held against all words one by one."""

from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import krohn
from krohn import cli
from krohn.algebra.errors import KrohnError
from krohn.commands.options import CANNOT
from krohn.instruments.equivalence.question import equivalent, read
from krohn.kinds.counting import commands_short as short_counting_programs
from krohn.kinds.counting.commands import derive_program
from krohn.kinds.counting.commands_short import (
    proved_program,
    shallowest,
    short_program,
)
from krohn.kinds.counting.source import (
    CountingProgram,
    parse,
    write_program,
)

Call = Callable[..., tuple[int, Any]]
IN_C_RASP = (
    *("(ab)*", "a*b*", "(ab|ba)*", "a(ab)*b", "(a(ab)*b)*", "(abc)*", "ab"),
    *("(ab)*(ba)*", "(aab)*", "(a(a(ab)*b)*b)*", "c*(ab)*", "a*|b*", "(a|b)*ab*ab*"),
)
NOT = ("(a*b)*", "((ab)*c)*", "(aa)*")


def accepted(source: object, length: int) -> dict[str, bool]:
    """Every word of up to so many letters, and whether it is accepted."""
    told = read(source)
    found = {}
    for n in range(1, length + 1):
        every = np.array(list(product(range(len(told.letters)), repeat=n)))
        if isinstance(told, CountingProgram):
            says = told.accepts(every)[:, -1]
        else:
            assert told.output is not None
            state = np.full(len(every), told.start)
            for column in every.T:
                state = told.transitions[column, state]
            yes = told.output.names.index("accept")
            says = told.output.table[state] == yes
        for row, yes in zip(every.tolist(), says.tolist(), strict=True):
            found["".join(told.letters[a] for a in row)] = bool(yes)
    return found


@pytest.mark.sample(1)
@pytest.mark.parametrize("pattern", IN_C_RASP)
def test_the_program_of_a_language_accepts_it_at_every_length(pattern: str) -> None:
    machine = krohn.read(f"regex:{pattern}")
    program = derive_program(machine)
    assert accepted(program, 7) == accepted(machine, 7)
    answer = equivalent(machine, program, 40, always=True)
    assert (answer.verdict, answer.length) == ("verified", None)


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("pattern", "depth", "formulas"),
    [
        ("a*ba*ba*", 1, 2),
        ("a*|b*", 1, 5),
        ("(a|b)*ab*ab*", 1, 2),
        ("a*b*", 2, 5),
        ("(ab)*", 2, 6),
        ("(ab|ba)*", 2, 10),
        ("(a|b)*a(a|b)*b(a|b)*a(a|b)*", 3, 7),
    ],
)
def test_a_short_program_is_as_short_as_people_write_it(
    pattern: str, depth: int, formulas: int
) -> None:
    machine = krohn.read(f"regex:{pattern}")
    program, answer = proved_program(machine, 40, "normal", lambda done, total: None)
    assert (answer.verdict, answer.length) == ("verified", None)
    assert accepted(program, 7) == accepted(machine, 7)
    assert program.depth == depth
    assert len(program.formulas) <= formulas
    again = parse(write_program(program), "again.crasp")
    assert accepted(again, 7) == accepted(machine, 7)


@pytest.mark.slow
@pytest.mark.parametrize("pattern", IN_C_RASP)
def test_no_program_is_less_deep_than_two_words_show(pattern: str) -> None:
    machine = krohn.read(f"regex:{pattern}")
    least = shallowest(machine)
    assert short_program(machine, derive_program(machine)).depth >= least.depth
    if least.words is None:
        return
    (yes, no), says = least.words, accepted(machine, max(map(len, least.words)))
    assert (says["".join(yes)], says["".join(no)]) == (True, False)
    assert yes[-1] == no[-1]
    assert least.depth < 2 or sorted(yes) == sorted(no)


def test_a_program_that_is_not_proved_gives_way_to_a_long_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A search that finds what is wrong costs shortness, never truth."""
    wrong = parse("letters a b\nx := Q_a", "wrong.crasp")
    monkeypatch.setattr(
        short_counting_programs, "short_program", lambda machine, long: wrong
    )
    machine = krohn.read("regex:a*ba*ba*")
    program, answer = proved_program(machine, 40, "normal", lambda done, total: None)
    assert answer.verdict == "verified"
    assert program == derive_program(machine)


@pytest.mark.parametrize("pattern", NOT)
def test_other_languages_have_no_program(pattern: str) -> None:
    with pytest.raises(KrohnError, match="not in C-RASP"):
        derive_program(krohn.read(f"regex:{pattern}"))


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("crasp:Majority", "crasp:MoreAThanB"),
        ("crasp:AStarBStar", "regex:a*b+"),
        ("crasp:Alternating", "regex:(ab)*a?"),
        ("regex:(ab|b)*", "regex:(ab)*b*"),
        ("crasp:PiecewiseABA", "regex:(a|b)*a(a|b)*b(a|b)*"),
    ],
)
@pytest.mark.parametrize("relation", ["equal", "included"])
def test_the_word_found_is_a_shortest_one(left: str, right: str, relation: str) -> None:
    answer = equivalent(left, right, 8, relation=relation)  # type: ignore[arg-type]
    one, other = accepted(left, 8), accepted(right, 8)
    included = relation == "included"
    wrong = [w for w in one if one[w] != other[w] and (one[w] or not included)]
    if not wrong:
        assert answer.verdict == "verified"
        return
    assert answer.word is not None
    assert "".join(answer.word) in wrong
    assert len(answer.word) == len(wrong[0])


def test_inclusion_of_what_no_machine_accepts_is_proved_for_every_length() -> None:
    answer = equivalent(
        "crasp:MoreAThanB", "crasp:Majority", relation="included", always=True
    )
    assert (answer.verdict, answer.length) == ("verified", None)


def test_a_command_asks_for_inclusion(call: Call) -> None:
    asked = ("regex:ab", "regex:(ab)*", "-T", 6)
    code, found = call("equivalent", *asked, "--relation", "included")
    assert (code, found["relation"], found["word"]) == (0, "included", None)
    code, found = call("equivalent", *asked)
    assert (code, found["relation"], found["word"]) == (1, "equal", list("abab"))


def test_what_differs_only_after_many_letters_is_found_there() -> None:
    short = parse("letters a b\nx := #Q_a < 30", "short.crasp")
    always = parse("letters a b\nx := true", "always.crasp")
    answer = equivalent(short, always, 100)
    assert answer.word == ("a",) * 30
    beyond = equivalent(short, always, 20, always=True)
    assert (beyond.verdict, beyond.explored) == ("undecided", 20)


@pytest.mark.parametrize("most", [5, 10, 50])
def test_an_exploration_that_stops_says_how_far_it_came(most: int) -> None:
    less = parse("letters a b\nx := #Q_a < #Q_b", "less.crasp")
    same = parse("letters a b\nx := not (#Q_b <= #Q_a)", "same.crasp")
    answer = equivalent(less, same, 100, most=most)
    assert (answer.verdict, answer.length) == ("verified", answer.explored)
    assert answer.explored < 100
    assert answer.memories <= max(1, most)
    assert equivalent(less, same, answer.explored).memories == answer.memories


@pytest.mark.slow
def test_a_program_whose_check_is_too_large_is_written_unproved(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from krohn.kinds.counting import (
        commands as counting_programs,
        find_invariant as invariant,
    )

    monkeypatch.setattr(counting_programs, "CHECKED", 1)
    monkeypatch.setattr(invariant, "WORK", 1)
    path = tmp_path / "program.crasp"
    assert cli.run(["crasp", "regex:a(ab)*b", "-o", str(path)]) == CANNOT
    program = parse(path.read_text(), path.name)
    assert equivalent(program, "regex:a(ab)*b", 8).verdict == "verified"


def test_an_invariant_that_does_not_hold_is_no_proof(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import z3

    from krohn.kinds.counting import find_invariant as invariant

    def claimed(*_: object) -> z3.BoolRef:
        return z3.BoolVal(True)

    monkeypatch.setattr(invariant, "_condition", claimed)
    answer = equivalent("crasp:Alternating", "regex:(ab)*", always=True)
    assert answer.verdict == "undecided"


@pytest.mark.parametrize(
    ("left", "right", "reason"),
    [
        ("crasp:Dyck1", "crasp:Majority", "different letters"),
        ("S3", "crasp:Majority", "different letters"),
        ("crasp:None", "crasp:Majority", "there is no counting program"),
        ("none.crasp", "crasp:Majority", "cannot be read"),
        (3, "crasp:Majority", "no machine in an object of type int"),
    ],
)
def test_what_cannot_be_compared_is_said(
    left: object, right: object, reason: str
) -> None:
    with pytest.raises(KrohnError, match=reason):
        equivalent(left, right)


@pytest.mark.slow
def test_the_commands(call: Call, tmp_path: Path) -> None:
    file = tmp_path / "turns.crasp"
    code, found = call("crasp", "regex:(ab)*", "-o", file)
    assert (code, found["verdict"], found["length"]) == (0, "verified", None)
    code, found = call("equivalent", file, "regex:(ab)*", "--always")
    assert (code, found["verdict"]) == (0, "verified")
    code, found = call("equivalent", file, "regex:(ab)*a")
    assert (code, found["word"], found["accepts"]) == (1, ["a"], "right")
    code, found = call("equivalent", "regex:(ab)*a", file)
    assert (found["word"], found["accepts"]) == (["a"], "left")
    code, found = call("equivalent", "crasp:Dyck1", "crasp:Dyck1")
    assert (code, found["accepts"]) == (0, None)
    code, found = call("crasp", "regex:(a*b)*")
    assert code == 2
    assert "not in C-RASP" in found["error"]
    code, found = call("crasp", "regex:(ab)*", "-o", tmp_path / "turns.txt")
    assert code == 2
    assert "must end with .crasp" in found["error"]


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("crasp:Dyck1", "regex:(\\(\\))*"),
        ("regex:(a|b)*a", "crasp:MoreAThanB"),
        ("crasp:Majority", "crasp:MoreAThanB"),
    ],
)
def test_the_one_that_accepts_the_word_is_named(left: str, right: str) -> None:
    for first, second in ((left, right), (right, left)):
        answer = equivalent(first, second, 12)
        assert answer.word is not None
        word = "".join(answer.word)
        sides = {"left": first, "right": second}
        for side, source in sides.items():
            assert accepted(source, len(word))[word] == (side == answer.accepts)


def test_the_show_names_the_side(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["equivalent", "regex:(ab)*", "regex:(ab)*a"]) == 1
    assert "regex:(ab)*a accepts it, and the other does not" in capsys.readouterr().out


def test_machines_are_compared_by_what_they_show(call: Call) -> None:
    """Outputs by their names, or anything up to names, for words of every length."""
    turnstile = "examples/turnstile.dot"
    code, found = call("equivalent", turnstile, turnstile, "--up-to", "outputs")
    assert (code, found["notion"], found["length"]) == (0, "outputs", None)
    code, found = call("equivalent", "regex:(ab)*", "regex:(ab)*", "--up-to", "accept")
    assert (code, found["notion"]) == (0, "accept")
    code, found = call("equivalent", "C3", "C2", "--up-to", "names")
    assert (code, "different letters" in found["error"]) == (2, True)
    code, found = call("equivalent", "C3", "C3", "--up-to", "names")
    assert (code, found["notion"], found["renamed"]) == (0, "names", [])
    for arguments, why in (
        (("C3", "C3", "--up-to", "outputs"), "C3 does not show outputs"),
        (("C3", "C3", "--up-to", "states"), "--up-to takes names, outputs, accept"),
        (("C3", "C3", "--up-to", "names", "-T", "5"), "-T, --always and --relation"),
        (("C3", "C3", "--relation", "same"), "--relation takes equal, included"),
        (("crasp:Dyck1", "crasp:Dyck1", "--up-to", "names"), "a counting program"),
        (("C3", "C3"), "choose by --up-to"),
    ):
        code, found = call("equivalent", *arguments)
        assert code == 2
        assert why in found["error"]


def test_acceptors_that_swap_their_answers_are_one_up_to_names() -> None:
    machines = [
        krohn.automaton(
            {"p": {"a": "q", "b": "p"}, "q": {"a": "p", "b": "q"}},
            start="p",
            accepting=[accepting],
        )
        for accepting in "pq"
    ]
    found = equivalent(*machines, up_to="outputs")
    assert (found.verdict, found.says) == ("refuted", ("reject", "accept"))
    assert found.renamed is not None
    assert set(found.renamed) == {("reject", "accept"), ("accept", "reject")}
    assert equivalent(*machines, up_to="names").verdict == "verified"
    assert equivalent(*machines).accepts == "right"
