"""Why a proof stops."""

from krohn.algebra.errors import KrohnError
from krohn.program.errors import Refused


class Rejected(KrohnError):
    """The checker could not establish a step; the message says which and why.

    This is no verdict about the network: it may be right although that is not proved.
    """


class WrongWord(Refused):
    """The network, or its Program, does not say what the machine says after a word.

    Attributes:
        word: The letters of a shortest such word, by their numbers.
    """

    def __init__(self, word: tuple[int, ...]) -> None:
        where = f"after the letters {word}" if len(word) < 40 else "after a longer word"
        super().__init__(f"the network, or its Program, says another class {where}")
        self.word = word
