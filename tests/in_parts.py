"""Work that is too long for every run of the tests: a part is quick, and the rest slow."""

import pytest


def part_of(count: int) -> pytest.MarkDecorator:
    """Parametrises ``part`` by 0, 1, …, count − 1, of which all but the first are slow.

    Part p of a list is ``list[p::count]``, so that each part meets things of every kind.
    """
    rest = [pytest.param(part, marks=pytest.mark.slow) for part in range(1, count)]
    return pytest.mark.parametrize("part", [0, *rest])
