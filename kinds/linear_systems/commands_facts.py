"""Types of facts of linear systems and chains as JSON."""

from typing import NotRequired, TypedDict


class MixingTime(TypedDict):
    """After how many letters the start is forgotten, estimated from samples."""

    letters: int | None
    interval: list[int | None]
    looked_at: int
    samples: int


class Observability(TypedDict):
    """How far apart the laws of so many letters are at least."""

    gamma: float
    steps: int


class ChainFacts(TypedDict):
    """The facts of a Markov chain that letters drive, or that emits them.

    Attributes:
        properties: The classes of such chains that it belongs to.
        beliefs: The beliefs that words lead to, counted; null if they are not known to
            be finitely many.
        forgets_after: After every word of so many letters the belief is 0 at the same
            states wherever it began, so that each such word brings any two beliefs closer
            by a factor; null if there is no such number, or it is not known.
        contraction: The factor by which one letter brings two beliefs closer, at worst: 1
            if a letter may bring them no closer.
        mixing_time: Letters after which the start hardly matters, on average.
        rank: The rank of the law of words: no smaller linear model has the same law.
        observability: The least distance γ of the laws of the next letters from two
            starts, and how many letters it takes.
        depth_growth: The consequences for the depth of networks.
    """

    properties: list[str]
    beliefs: int | None
    forgets_after: int | None
    contraction: float | None
    mixing_time: NotRequired[MixingTime]
    rank: NotRequired[int]
    observability: NotRequired[Observability | None]
    depth_growth: list[str]
