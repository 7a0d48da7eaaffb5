"""The type of a fuzz as JSON."""

from typing import TypedDict


class Ran(TypedDict):
    """The answers of one way.

    Attributes:
        engine: Whose operations they are.
        way: What is done, in words.
        answers: How many answers it gave.
        different: How many of them are not those of torch that reads whole words.
    """

    engine: str
    way: str
    answers: int
    different: int


class Differing(TypedDict):
    """An answer that depends on the way.

    Attributes:
        word: The letters, up to where the answers differ.
        reference: The answer of torch that reads whole words.
        answer: The answer by the way.
    """

    engine: str
    way: str
    word: list[str]
    reference: str
    answer: str


class Fuzz(TypedDict):
    """One network, run in many ways.

    Attributes:
        length: The longest words.
        answers: How many answers, all ways together.
        different: How many of them differ.
        wrong: How many answers of torch that reads whole words are not the machine's.
        orders: In how many orders dimensions, units and heads stood.
        differences: The first answers of each way that differ.
        left_out: Engines and ways that could not be run, with the reason.
    """

    length: int
    answers: int
    different: int
    wrong: int
    orders: int
    ways: list[Ran]
    differences: list[Differing]
    left_out: dict[str, str]
