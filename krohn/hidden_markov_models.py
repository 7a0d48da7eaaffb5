"""Hidden Markov models by name, from files, of machines and of linear systems."""

from pathlib import Path

from algebra.errors import KrohnError
from krohn.source_kinds import named
from krohn.source_kinds.linear_systems import as_model
from krohn.sources import read
from program.errors import Refused
from sources.hidden_markov import HiddenMarkovModel
from sources.hidden_markov.forms import driven
from sources.linear_systems import LinearSystem


def hidden_markov(source: str | Path) -> HiddenMarkovModel:
    """The hidden Markov model of a name or a file.

    A linear system whose letters are stochastic, and every machine, is one whose letters
    are chosen.

    Raises:
        KrohnError: If there is none of this name, or the file states none.
    """
    other = named(str(source))
    if other is None:
        return as_model(read(source))
    found = other[1]
    try:
        if isinstance(found, LinearSystem):
            return driven(found)
    except Refused as reason:
        raise KrohnError(f"{source} is no hidden Markov model: {reason}") from None
    if not isinstance(found, HiddenMarkovModel):
        raise KrohnError(f"{source} is no hidden Markov model")
    return found
