"""Labels of OpenFst's text that mean epsilon: a move with one reads, or says, nothing."""

import re
from collections.abc import Collection

EPSILON = "<eps>"
"""As OpenFst itself writes it."""
EPSILONS = frozenset({EPSILON, "<epsilon>", "@0@", "@_EPSILON_SYMBOL_@", "ε"})
_NUMBER = re.compile(r"\d+")


def may_be_epsilon(labels: Collection[str]) -> bool:
    """Whether 0 is a label and all are numbers: then it is epsilon, or a letter's name."""
    return "0" in labels and all(map(_NUMBER.fullmatch, labels))
