"""The types of facts of a hidden Markov model as JSON."""

from typing import NotRequired, TypedDict

from krohn.kinds.linear_systems.commands_facts import MixingTime, Observability


class RecurrentFacts(TypedDict):
    """An RNN for words of every length, as the compiler bounds its error.

    Attributes:
        rnn_of: What its states stand for: ``beliefs`` or ``contexts``.
        rnn_error: At most; 0 of beliefs, which are only rounded.
        contexts: How many there are; null of beliefs.
        states: How many there are when contexts that are near to each other are put
            together.
    """

    rnn_of: str
    rnn_error: float
    contexts: int | None
    states: int


class Chain(TypedDict):
    """The facts of a hidden Markov model, or of a weighted automaton.

    Attributes:
        beliefs: How many can be reached; null if they are not known to be finitely many.
        forgets_after: Letters; null if a word forgets nothing, or it is open.
        depth_growth: What it means for the depth of networks.
        recurrent: The RNNs for words of every length, the smallest first.
    """

    properties: list[str]
    beliefs: int | None
    forgets_after: int | None
    contraction: float | None
    mixing_time: NotRequired[MixingTime]
    rank: NotRequired[int]
    observability: NotRequired[Observability | None]
    depth_growth: list[str]
    recurrent: list[RecurrentFacts]
