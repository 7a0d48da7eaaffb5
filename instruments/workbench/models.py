"""The networks of the workbench: what each is of, and of how many letters."""

from collections.abc import Iterator
from typing import Literal, NamedTuple

Level = Literal["plain", "disguised", "trained"]
"""As compiled; with other weights, proved (docs/architectures/disguise.md); trained, not
proved."""


class Entry(NamedTuple):
    """A network of the set.

    Attributes:
        name: The name of its folder.
        source: What it is compiled from, as `krohn.compile` takes it.
        length: The longest word; None where the source says it.
        family: The family of tasks that it belongs to.
        within: How far a belief may be off; None of networks that say no beliefs.
        level: How its weights came about.
    """

    name: str
    source: str
    length: int | None
    family: str
    within: float | None = None
    level: Level = "plain"


def _entries(family: str, rows: str) -> list[Entry]:
    """Entries of lines ``name source length``; the length may be ``-``.

    Lines of networks that say beliefs go on with how far these may be off.
    """
    entries = []
    for line in rows.strip().splitlines():
        name, source, length, *within = line.split()
        longest = None if length == "-" else int(length)
        error = float(within[0]) if within else None
        entries.append(Entry(name, source, longest, family, error))
    return entries


PLAIN = (
    *_entries(
        "counters",
        """
        parity C2 48
        mod3 C3 48
        mod5 C5 32
        mod7 C7 32
        mod12 C12 24
        mod2-mod3 C2xC3 32
        mod4 C4 40
        mod6 C6 32
        mod2-mod2 C2xC2 40
        even-b regex:(a|ba*b)* 48
        """,
    ),
    *_entries(
        "groups",
        """
        d6 D6 32
        d8 D8 20
        q8 Q8 24
        s3 S3 32
        a4 A4 20
        s4 S4 16
        d10 D10 24
        cyclic3 Cyclic-DET3,3@1 20
        """,
    ),
    *_entries(
        "memories",
        """
        flip-flop FlipFlop 64
        memory3 Memory3 32
        memory5 Memory5 32
        memory8 Memory8 32
        flip-flop-language FFL2 32
        flip-flop-tracker FFLTracker2 48
        adder Adder 32
        permutations-resets PermReset3 16
        """,
    ),
    *_entries(
        "corridors",
        """
        corridor4 Grid4 48
        corridor6 Grid6 40
        corridor9 Grid9 40
        """,
    ),
    *_entries(
        "brackets",
        """
        dyck2-1 Dyck2,1 40
        dyck2-2 Dyck2,2 32
        dyck3-1 Dyck3,1 32
        dyck3-2 Dyck3,2 24
        dyck4-1 Dyck4,1 24
        """,
    ),
    *_entries(
        "languages",
        """
        tomita2 regex:(10)* 48
        tomita4 regex:(1|01|001)*0{0,2} 48
        tomita5 regex:((00|11)|(01|10)(00|11)*(01|10))* 32
        tomita7 regex:0*1*0*1* 40
        two-bs regex:a*ba*ba* 40
        contains-abb regex:(a|b)*abb(a|b)* 40
        sorted regex:a*b*c* 40
        even-blocks regex:(aa)*(bb)* 32
        third-last regex:(a|b)*a(a|b)(a|b) 40
        abab abab 40
        no-aa regex:(b|ab)*a? 40
        ends-in-aba regex:(a|b)*aba 40
        starts-and-ends-alike regex:(a(a|b)*a|b(a|b)*b|a|b) 40
        at-most-three-as regex:b*(ab*){0,3} 40
        a-then-b regex:(a|b)*a(a|b)*b(a|b)* 40
        parity-chosen Parity8@2,3,7 8
        parity-tree ParityTree2,2 24
        """,
    ),
    *_entries(
        "texts",
        """
        lcs LCS3,3 -
        edit-distance EditDistance3,3 -
        lcs-longer LCS4,4 -
        alignment NeedlemanWunsch2,2 -
        coins CoinChange2,5 -
        knapsack Knapsack2,4 -
        subsequence LIS6 -
        short-subsequence ShortLIS5 -
        search-tree SearchTree3 -
        brackets-by-grammar CYK4 -
        viterbi Viterbi3 -
        sorting Sorting3 24
        """,
    ),
    *_entries(
        "counting programs",
        """
        majority crasp:Majority 32
        balanced crasp:Dyck1 32
        abc-counted crasp:AnBnCn 24
        alternating crasp:Alternating 32
        """,
    ),
    *_entries(
        "beliefs",
        """
        even-process EvenProcess 24 0.001
        nested-letters pcfg:AnBn:depth=2 12 0.001
        two-noisy-states RanHMM2,2@1 16 0.05
        three-noisy-states RanHMM3,2@2 16 0.02
        four-noisy-states RanHMM4,3@5 16 0.05
        slow-states Mess3 16 0.2
        """,
    ),
)


def _at(level: Level, length: int, names: str) -> Iterator[Entry]:
    """Some of the networks above at another level, for words of up to so many letters."""
    for entry in PLAIN:
        if entry.name in names.split():
            assert entry.length is not None
            shorter = min(entry.length, length)
            yield entry._replace(
                name=f"{entry.name}-{level}", length=shorter, level=level
            )


MODELS = (
    *PLAIN,
    *_at(
        "disguised",
        24,
        """parity mod3 mod5 mod4 mod2-mod2 even-b s3 d6 q8 flip-flop memory3 memory5
        corridor4 tomita2 tomita5 two-bs contains-abb third-last ends-in-aba no-aa""",
    ),
    *_at(
        "trained",
        12,
        """parity flip-flop memory3 third-last ends-in-aba no-aa""",
    ),
)
"""In the order in which they are made."""
