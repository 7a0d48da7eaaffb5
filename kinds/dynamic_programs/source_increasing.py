"""The texts of longest increasing subsequences, from what they mean."""

from collections.abc import Sequence

from krohn.kinds.dynamic_programs.statement_increasing import Increasing


def text_of(source: Increasing, line: Sequence[int], most: int) -> list[int]:
    """The first tokens of the text of a list, ``most`` of them or all."""
    d: list[int] = []
    for i, x in enumerate(line):
        before = (d[j] for j in range(i) if line[j] < x)
        d.append(1 + max(before, default=0))
    end = source.end
    return [*line, end, *d, end, max(d), end + 1][:most]
