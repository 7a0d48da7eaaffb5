"""The types of facts of a hidden Markov model as JSON."""

from typing import TypedDict

from krohn.kinds.linear_systems.commands_facts import ChainFacts


class RecurrentFacts(TypedDict):
    """An RNN for words of every length, as the compiler bounds its error.

    Attributes:
        rnn_of: What its states stand for: ``beliefs`` or ``contexts``.
        rnn_error: At most; 0 of beliefs, which are only rounded.
        contexts: How many last letters are told apart, counted; null of beliefs.
        states: How many states the RNN has; contexts of nearly the same belief share one.
    """

    rnn_of: str
    rnn_error: float
    contexts: int | None
    states: int


class Chain(ChainFacts):
    """The facts of a hidden Markov model, or of a weighted automaton.

    Attributes:
        recurrent: The RNNs for words of every length, the smallest first. A context is
            what the last letters of a word are; contexts of nearly the same belief share
            a state.
    """

    recurrent: list[RecurrentFacts]
