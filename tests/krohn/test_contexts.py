"""The meanings of values: said once for all contexts where that is exact."""

import numpy as np
from hypothesis import given, strategies as st

from krohn.algebra.decomposition.diagrams import Reading, common, merged


def reading(possible: str, *refined: str) -> Reading:
    rows = [[c == "1" for c in row] for row in (possible, *refined)]
    return Reading(np.array(rows[0]), np.array(rows[1:]))


def test_contexts_that_agree_become_one() -> None:
    found = merged([reading("1100", "1000", "0100"), reading("0011", "0010", "0001")])
    assert len(found) == 1
    assert found[0].possible.tolist() == [True] * 4
    assert found[0].refined.tolist() == [[True, False] * 2, [False, True] * 2]


def test_contexts_that_disagree_on_a_state_stay_apart() -> None:
    both = [reading("1100", "1000", "0100"), reading("0110", "0100", "0010")]
    assert common(both) is None
    assert merged(both) == tuple(both)


def test_values_that_cannot_occur_do_not_disagree() -> None:
    assert common([reading("110", "100", "010"), reading("011", "000", "011")])
    assert common([]) is None
    assert merged([]) == ()


@given(st.data())
def test_what_a_value_leaves_can_be_read_off_the_common_reading(
    data: st.DataObject,
) -> None:
    row = st.text("01", min_size=4, max_size=4)
    contexts = data.draw(st.lists(st.tuples(row, row), min_size=1, max_size=3))
    readings = []
    for upper, lower in contexts:
        first, second = (np.array([c == "1" for c in r]) for r in (upper, lower))
        readings.append(Reading(first | second, np.stack([first, second])))
    found = common(readings)
    if found is None:
        return
    for one in readings:
        for value, left in enumerate(one.refined):
            if left.any():
                assert (left == (one.possible & found.refined[value])).all()
