"""Formulas become words of permutations with the formula's value as their product."""

from itertools import product as tuples

import numpy as np
import pytest
from branching_program import (
    CYCLE,
    IDENTITY,
    choose,
    compile_formula,
    machine,
    word,
)
from formula import (
    And,
    Constant,
    Formula,
    FormulaError,
    Not,
    Variable,
    Xor,
    depth,
    evaluate,
    parse,
    variables,
)
from hypothesis import given, settings, strategies as st

from krohn.algebra.groups.naming import name
from krohn.algebra.groups.permutation_group import PermutationGroup

FORMULAS = st.recursive(
    st.sampled_from("abcd").map(Variable) | st.booleans().map(Constant),
    lambda f: f.map(Not) | st.builds(And, f, f) | st.builds(Xor, f, f),
    max_leaves=6,
)
TEXTS = st.recursive(
    st.sampled_from(["a", "b", "c", "d", "True", "False"]),
    lambda t: (
        t.map("~({})".format)
        | st.builds("({} {} {})".format, t, st.sampled_from("&|^"), t)
        | st.builds("{} {} {}".format, t, st.sampled_from("&|^"), t)
    ),
    max_leaves=6,
)


def assignments(formula: Formula) -> list[dict[str, bool]]:
    names = variables(formula)
    values = tuples((False, True), repeat=len(names))
    return [dict(zip(names, row, strict=True)) for row in values]


def total(permutations: tuple[tuple[int, ...], ...]) -> tuple[int, ...]:
    points = np.arange(5)
    for permutation in permutations:
        points = np.array(permutation)[points]
    return tuple(points.tolist())


@given(FORMULAS)
def test_products_are_the_truth_table(formula: Formula) -> None:
    program = compile_formula(formula)
    for assignment in assignments(formula):
        wanted = CYCLE if evaluate(formula, assignment) else IDENTITY
        assert total(choose(program, assignment)) == wanted


@given(FORMULAS)
def test_programs_are_no_longer_than_the_theorem_says(formula: Formula) -> None:
    assert len(compile_formula(formula)) <= 4 ** depth(formula)


@given(TEXTS)
def test_texts_mean_what_they_mean_in_python(text: str) -> None:
    formula = parse(text)
    for assignment in assignments(formula):
        # ~ of a bool is an integer in Python, whose lowest bit is the truth value.
        expected = eval(text, {}, {n: int(v) for n, v in assignment.items()}) & 1
        assert evaluate(formula, assignment) == bool(expected)


@pytest.mark.parametrize("text", ["not a and b", "a or b or not c", "a and (b or c)"])
def test_words_may_be_written_instead_of_signs(text: str) -> None:
    formula = parse(text)
    for assignment in assignments(formula):
        assert evaluate(formula, assignment) == eval(text, {}, dict(assignment))


@settings(max_examples=30)
@given(FORMULAS)
def test_the_machine_shows_the_value(formula: Formula) -> None:
    program = compile_formula(formula)
    automaton = machine(program)
    for assignment in assignments(formula):
        shown = automaton.run(word(program, assignment))[-1]
        assert shown == str(evaluate(formula, assignment)).lower()


def test_one_gate_makes_a_nonsolvable_group() -> None:
    automaton = machine(compile_formula("a & b"))
    group = PermutationGroup(np.array(automaton.action))
    assert name(group) == "A5"
    assert len(automaton.states) == 60


def test_a_conjunction_takes_four_instructions() -> None:
    assert len(compile_formula("a & b")) == 4
    assert len(compile_formula("a & b & c & d")) == 16
    assert len(compile_formula("~~a")) == 1


@pytest.mark.parametrize("text", ["", "a +", "a + b", "f(a)", "a < b", "1", "a &"])
def test_what_is_no_formula_is_refused(text: str) -> None:
    with pytest.raises(FormulaError, match="no formula"):
        parse(text)


def test_what_would_be_too_long_is_refused() -> None:
    deep = "a"
    for _ in range(30):
        deep = f"(a & {deep})"
    with pytest.raises(FormulaError, match="balance"):
        compile_formula(deep)


def test_missing_inputs_are_named() -> None:
    with pytest.raises(FormulaError, match="'b'"):
        word(compile_formula("a & b"), {"a": True})
    with pytest.raises(FormulaError, match="'b'"):
        evaluate(parse("a & b"), {"a": True})


def test_a_formula_without_inputs_is_a_machine_too() -> None:
    for text, shown in (
        ("True", "true"),
        ("True & False", "false"),
        ("False", "false"),
    ):
        program = compile_formula(text)
        assert machine(program).run(word(program, {}))[-1] == shown
