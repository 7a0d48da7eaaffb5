"""The texts of longest increasing subsequences, from what they mean."""

import re
from collections.abc import Sequence

from krohn.kinds.dynamic_programs.statement_increasing import Increasing

NAME = "ShortLIS"
_FORM = re.compile(rf"{NAME}(\d{{1,4}})(?:,(\d{{1,4}}))?(:exact)?")


def find_by_name(text: str) -> Increasing | None:
    """``ShortLIS20``, or ``ShortLIS20,30:exact`` for 20 numbers from 0 to 30.

    Raises:
        Refused: If a number is out of range.
    """
    match = _FORM.fullmatch(text)
    if match is None:
        return None
    longest, largest = int(match[1]), int(match[2] or int(match[1]) + 10)
    return Increasing(text, longest if match[3] else 1, longest, largest)


def text_of(source: Increasing, line: Sequence[int], most: int) -> list[int]:
    """The first tokens of the text of a list, ``most`` of them or all."""
    d: list[int] = []
    for i, x in enumerate(line):
        before = (d[j] for j in range(i) if line[j] < x)
        d.append(1 + max(before, default=0))
    end = source.end
    return [*line, end, *d, end, max(d), end + 1][:most]
