"""The functions of the library said once more, in plain Python on whole words.

Each takes a word and returns what is said at each of its letters.
"""

from collections.abc import Callable, Mapping
from typing import Any

BLANK = ""


def prefixes(word: str) -> list[str]:
    """The word up to each of its letters."""
    return [word[: t + 1] for t in range(len(word))]


def is_shuffle(word: str, pairs: list[str]) -> bool:
    """Whether each pair is balanced by itself: strike out () again and again."""
    for opening, closing in pairs:
        own = "".join(c for c in word if c in (opening, closing))
        while opening + closing in own:
            own = own.replace(opening + closing, "")
        if own:
            return False
    return True


def distinct(word: str) -> list[str]:
    """The different letters in their order, and blanks."""
    found = sorted(set(word))
    return found + [BLANK] * (len(word) - len(found))


Plain = Callable[[str], list[Any]]
PLAIN: Mapping[str, Plain] = {
    "length": lambda w: [len(w)] * len(w),
    "count": lambda w: [w.count("a")] * len(w),
    "count-so-far": lambda w: [p.count("a") for p in prefixes(w)],
    "histogram": lambda w: [w.count(a) for a in w],
    "histogram-so-far": lambda w: [p.count(p[-1]) for p in prefixes(w)],
    "fraction-of-previous": lambda w: [f"{p.count('a')}/{len(p)}" for p in prefixes(w)],
    "shift": lambda w: [BLANK, *w][: len(w)],
    "pattern": lambda w: [p.endswith("abca") for p in prefixes(w)],
    "reverse": lambda w: list(reversed(w)),
    "sort": sorted,
    "sort-unique": distinct,
    "sort-by-frequency": lambda w: sorted(w, key=lambda a: -w.count(a)),
    "pair-balance": lambda w: [
        f"{p.count('(') - p.count(')')}/{len(p)}" for p in prefixes(w)
    ],
    "shuffle-dyck1": lambda w: [is_shuffle(w, ["()"])] * len(w),
    "shuffle-dyck2": lambda w: [is_shuffle(w, ["()", "[]"])] * len(w),
    "shuffle-dyck2-so-far": lambda w: [
        is_shuffle(p, ["()", "[]"]) for p in prefixes(w)
    ],
    "dyck": lambda w: [is_shuffle(p, ["()"]) for p in prefixes(w)],
    "parity": lambda w: [p.count("1") % 2 for p in prefixes(w)],
    "majority": lambda w: [p.count("a") > p.count("b") for p in prefixes(w)],
    "a^n-b^n": lambda w: [
        p == "a" * (len(p) // 2) + "b" * (len(p) // 2) for p in prefixes(w)
    ],
}
