"""Functions of brackets: their balance, Dyck words, shuffled Dyck words, a^n b^n."""

from collections.abc import Sequence

from krohn.sources.sequence_functions import Channel, SequenceFunction, program

PAIRS = ("()", "[]", "{}")


def pair_balance(pair: str = "()") -> SequenceFunction:
    """Opening minus closing brackets so far, beside how many letters there were."""
    p = program(pair, "pair-balance")
    p.output(height(p, pair), p.position(), show=lambda h, t: f"{h}/{t}")
    return p


def height(p: SequenceFunction, pair: str) -> Channel:
    """Opening minus closing brackets of a pair so far."""
    x = p.token()
    return p.prefix_sum(x == pair[0]) - p.prefix_sum(x == pair[1])


def balanced(p: SequenceFunction, pairs: Sequence[str]) -> Channel:
    """Whether every pair is balanced by itself in what was read so far."""
    heights = [height(p, pair) for pair in pairs]
    flags = [h < 0 for h in heights]
    below = flags[0]
    for flag in flags[1:]:
        below = below | flag
    found = p.prefix_sum(below) == 0
    for h in heights:
        found = found & (h == 0)
    return found


def dyck(pair: str = "()") -> SequenceFunction:
    """Whether the brackets so far are a Dyck word."""
    p = program(pair, "dyck")
    p.output(balanced(p, [pair]))
    return p


def shuffle_dyck_so_far(pairs: Sequence[str] = PAIRS[:2]) -> SequenceFunction:
    """Whether what was read so far is a shuffle of Dyck words, one of each pair."""
    p = program("".join(pairs), f"shuffle-dyck{len(pairs)}-so-far")
    p.output(balanced(p, pairs))
    return p


def shuffle_dyck(pairs: Sequence[str] = PAIRS[:2]) -> SequenceFunction:
    """Whether the word is a shuffle of Dyck words, said at each letter."""
    p = program("".join(pairs), f"shuffle-dyck{len(pairs)}")
    p.output(p.final(balanced(p, pairs)))
    return p


def equal_runs() -> SequenceFunction:
    """Whether the letters so far are a^n b^n."""
    p = program("ab", "a^n-b^n")
    x = p.token()
    back = (x == "a") & (p.shift(x) == "b")
    even = p.prefix_sum(x == "a") == p.prefix_sum(x == "b")
    p.output(even & (p.prefix_sum(back) == 0))
    return p
