"""The type of a learned machine as JSON."""

from typing import Literal, TypedDict

from krohn.algebra.formats.json_format import MachineFile
from krohn.instruments.learning.teacher import Kind
from krohn.schemas.answers import Counterexample


class LearnedMachine(TypedDict):
    """The machine that a network follows.

    Attributes:
        verdict: isomorphic to the machine that it was held against, different, or
            unnamed: there is none.
        length: Words of up to so many letters were asked.
        right: The network follows the machine on all words of up to so many letters.
        spent: What ended the search early.
        parted: A word on which the network leaves every machine that so few words tell of.
        bijection: The state of the other machine for each state.
        differs: A shortest word on which both machines differ.
    """

    network: str
    verdict: Literal["isomorphic", "different", "unnamed"]
    method: str
    kind: Kind
    states: int
    length: int
    right: int
    queries: int
    words: int
    rounds: int
    spent: str | None
    chow: int | None
    parted: Counterexample | None
    shortest: bool | None
    minimality: str | None
    searched: int
    wanted: str | None
    bijection: dict[str, str] | None
    differs: list[str] | None
    machine: MachineFile
    seconds: float
    file: str | None
