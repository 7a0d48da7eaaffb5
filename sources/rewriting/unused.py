"""Rules of rewriting systems that no line is ever changed by."""

from collections.abc import Iterator, Sequence

from krohn.program.rewriting import Rewriting, Rule

MOST_WORK = 2**20
"""Windows that are held against others, for all rules; then nothing is said of a rule."""
Window = Sequence[frozenset[int]]


def unused(system: Rewriting) -> list[int]:
    """The numbers of the rules that never apply, the first one 1, whatever the line is.

    Wherever such a rule fits, a window of another rule ends sooner, or at the same place
    and stands before it in the list; or no line is as long as its window. A rule that is
    not in the list may have no line, too: which letters come together is not looked at.
    """
    work = MOST_WORK // len(system.rules)
    return [
        i
        for i, rule in enumerate(system.rules, 1)
        if len(rule.window) > system.longest + 2
        or _covered(_sets(rule), _sooner(system.rules, i - 1), work)
    ]


def _sets(rule: Rule) -> list[frozenset[int]]:
    return [frozenset(letters) for letters in rule.window]


def _sooner(rules: Sequence[Rule], at: int) -> Iterator[tuple[int, Window]]:
    """Windows that lie in that of a rule and are taken before it, and where they begin."""
    size = len(rules[at].window)
    for i, other in enumerate(rules):
        own = len(other.window)
        for first in range(size - own + (i < at)):
            yield first, _sets(other)


def _covered(window: Window, covers: Iterator[tuple[int, Window]], work: int) -> bool:
    """Whether all that fits a window is shown to fit one of those in it."""
    parts = [list(window)]
    for first, cover in covers:
        work -= len(parts)
        if work < 0:
            return False
        left = []
        for part in parts:
            rest = list(part)
            for place, letters in enumerate(cover, first):
                if outside := rest[place] - letters:
                    left.append([*rest[:place], outside, *rest[place + 1 :]])
                rest[place] &= letters
                if not rest[place]:
                    break
        parts = left
    return not parts
