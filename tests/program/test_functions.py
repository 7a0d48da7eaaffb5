"""Tables look up what they have rows for, and say so of what they have not."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, strategies as st

from krohn.program import Refused, table

ROWS = st.dictionaries(
    st.tuples(st.integers(0, 3), st.integers(0, 9)), st.integers(0, 5), min_size=1
)


@given(ROWS)
def test_every_tuple_has_its_row_or_none(rows: dict[tuple[int, int], int]) -> None:
    found, asked = table(rows), np.array(list(product(range(5), range(11))))
    where = {row: i for i, row in enumerate(sorted(rows))}
    at = found.place(list(asked.T))
    assert at.tolist() == [where.get((x, y), -1) for x, y in asked.tolist()]
    there = asked[at >= 0]
    assert found(list(there.T)).tolist() == [rows[x, y] for x, y in there.tolist()]
    with pytest.raises(Refused, match="no row for the values"):
        found(list(asked.T))
