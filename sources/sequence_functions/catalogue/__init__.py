"""Sequence functions that others compile, written here, by name."""

from collections.abc import Callable, Mapping

from krohn.sources.sequence_functions import SequenceFunction
from krohn.sources.sequence_functions.catalogue import (
    brackets,
    counting,
    patterns,
    sorting,
)

FUNCTIONS: Mapping[str, Callable[[], SequenceFunction]] = {
    "length": counting.length,
    "count": counting.count,
    "count-so-far": counting.count_so_far,
    "histogram": counting.histogram,
    "histogram-so-far": counting.histogram_so_far,
    "fraction-of-previous": counting.fraction_of_previous,
    "shift": patterns.shift,
    "pattern": patterns.pattern,
    "reverse": patterns.reverse,
    "sort": sorting.sort,
    "sort-unique": sorting.sort_unique,
    "sort-by-frequency": sorting.sort_by_frequency,
    "pair-balance": brackets.pair_balance,
    "shuffle-dyck1": lambda: brackets.shuffle_dyck(brackets.PAIRS[:1]),
    "shuffle-dyck2": brackets.shuffle_dyck,
    "shuffle-dyck2-so-far": brackets.shuffle_dyck_so_far,
    "dyck": brackets.dyck,
    "parity": counting.parity,
    "majority": counting.majority,
    "a^n-b^n": brackets.equal_runs,
}
"""What Tracr's library, ALTA and C-RASP programs compute, each with usual letters."""
FAMILIES = {
    "program:reverse": "the word read backwards, as a Program; also program:"
    + ", ".join(name for name in FUNCTIONS if name != "reverse")
}
"""An example of each family, with what it is."""
