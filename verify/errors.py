"""Why a proof stops."""

from algebra.errors import KrohnError


class Rejected(KrohnError):
    """The checker could not establish a step; the message says which and why.

    This is no verdict about the network: what cannot be proved may still be right.
    """


class Differs(Exception):
    """The Program that the file states does not compute the machine.

    Attributes:
        word: Letter indices of a shortest word on which they differ.
    """

    def __init__(self, word: tuple[int, ...]) -> None:
        super().__init__(f"the Program differs from the machine on {word}")
        self.word = word
