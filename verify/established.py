"""What a proof knows of the numbers of a Transformer, beside its verdict.

Those who want to break a proof need every bound of it (`verify.attack`).
"""

from collections.abc import Mapping
from dataclasses import dataclass

from verify.heads import Look
from verify.noisy import Noisy
from verify.statement import Statement
from verify.stream import Stream


@dataclass(frozen=True)
class Logits:
    """What is known of the logits.

    Attributes:
        readings: For each tuple of output values that occurs the class that it means.
        numbers: ``(readings, classes)``: the logits of each tuple, in that order.
        margin: How far the right logit stays above every other one, at worst.
    """

    readings: Mapping[tuple[int, ...], int]
    numbers: Noisy
    margin: float


@dataclass(frozen=True)
class Bounds:
    """Every bound that a proof has established, for all words up to T.

    Attributes:
        statement: The Program.
        streams: What is known of the residual stream at each snapshot.
        looks: For each channel that a head writes, where that head looks.
        logits: What is known of the logits.
    """

    statement: Statement
    streams: tuple[Stream, ...]
    looks: Mapping[str, Look]
    logits: Logits
