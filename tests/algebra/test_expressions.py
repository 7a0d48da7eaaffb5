"""Expressions as trees: their acceptors take their words, and are counted before."""

from hypothesis import given, strategies as st
from regexes import accepted

from krohn.algebra.errors import MachineError
from krohn.algebra.formats import expressions
from krohn.algebra.formats.expressions import (
    Concatenation,
    Expression,
    Intersection,
    OneOf,
    Repetition,
    Union,
    acceptor_of,
)

PLACES = [OneOf(frozenset(letters)) for letters in ("", "a", "b", "ab")]
BOUNDS = [(0, 0), (0, 1), (0, 3), (0, None), (1, None), (2, 2), (2, 4), (3, None)]


def composed(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    parts = st.lists(inner, min_size=1, max_size=3)
    repeated = st.builds(
        lambda part, bounds: Repetition(part, *bounds), inner, st.sampled_from(BOUNDS)
    )
    return st.one_of(
        repeated,
        *(st.builds(kind, parts) for kind in (Concatenation, Union, Intersection)),
    )


EXPRESSIONS = st.recursive(
    st.sampled_from([*PLACES, Concatenation(())]), composed, max_leaves=8
)


@given(EXPRESSIONS)
def test_expressions_have_no_more_states_and_moves_than_counted(
    expression: Expression,
) -> None:
    members = {place: sorted(place.explicit) for place in PLACES}
    counted = expressions._size(expression, members)
    if counted <= 5_000:
        rows = expressions._moves(expression, members)
        moves = sum(len(targets) for row in rows.values() for targets in row.values())
        assert len(rows) - 2 + moves <= counted


LONGEST = 4


def concatenated(words: set[str], others: set[str]) -> set[str]:
    return {a + b for a in words for b in others if len(a + b) <= LONGEST}


def words_of(expression: Expression) -> set[str]:
    """The short words of an expression, by sets."""
    match expression:
        case OneOf():
            return set(expression.letters(frozenset("ab")))
        case Repetition(part, least, most):
            words, power = set[str](), {""}
            for times in range(LONGEST + 1 if most is None else most + 1):
                words |= power if times >= least else set()
                power = concatenated(power, words_of(part))
            return words
    sets = [words_of(part) for part in expression.parts]
    match expression:
        case Union():
            return set().union(*sets)
        case Intersection():
            return set.intersection(*sets)
        case Concatenation():
            words = {""}
            for others in sets:
                words = concatenated(words, others)
            return words


@given(EXPRESSIONS)
def test_acceptors_take_the_words_of_their_expressions(expression: Expression) -> None:
    either = Union([expression, Concatenation([PLACES[3]] * (LONGEST + 1))])
    machine = acceptor_of(either, frozenset("ab"), "expression", MachineError)
    assert accepted(machine, LONGEST) == words_of(expression)
