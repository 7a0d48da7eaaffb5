"""The types of facts of a hidden Markov model as JSON."""

from typing import NotRequired, TypedDict

from krohn.kinds.linear_systems.commands_facts import MixingTime, Observability


class Chain(TypedDict):
    """The facts of a hidden Markov model, or of a weighted automaton.

    Attributes:
        beliefs: How many can be reached; null if they are not known to be finitely many.
        forgets_after: Letters; null if a word forgets nothing, or it is open.
        depth_growth: What it means for the depth of networks.
    """

    properties: list[str]
    beliefs: int | None
    forgets_after: int | None
    contraction: float | None
    mixing_time: NotRequired[MixingTime]
    rank: NotRequired[int]
    observability: NotRequired[Observability | None]
    depth_growth: list[str]
