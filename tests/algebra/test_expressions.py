"""Expressions as trees: what is counted is what is built."""

from hypothesis import given, strategies as st

from krohn.algebra.formats import expressions
from krohn.algebra.formats.expressions import (
    Concatenation,
    Expression,
    Intersection,
    OneOf,
    Repetition,
    Union,
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
