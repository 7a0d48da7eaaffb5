"""The inputs that a claim is about: one type for each domain, read once from the header.

A reader of the checker says which inputs its proof covers by the same types; a claim is
proved only if both are equal (`krohn.verify.checker.network`). Whoever speaks of inputs
prints one of these.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from math import prod
from typing import Any, TypeAlias

from krohn.program.strict_json import real, reals, whole


@dataclass(frozen=True)
class Words:
    """All words over so many letters; of every length if there is no longest.

    Answers are right after each letter.
    """

    letters: int
    length: int | None

    def __str__(self) -> str:
        if self.length is None:
            return f"all words of every length over {self.letters} letters"
        n = self.length
        return f"all {self.letters}^{n} words of length {n}, and all shorter"


@dataclass(frozen=True)
class PossibleWords:
    """All words that a hidden Markov model can say; of others nothing is claimed."""

    length: int | None

    def __str__(self) -> str:
        return f"all possible words of {_up_to(self.length, 'letters')}"


@dataclass(frozen=True)
class LegalPrefixes:
    """All prefixes of nested brackets that are closed in the right order."""

    length: int

    def __str__(self) -> str:
        return f"all legal prefixes of {_up_to(self.length, 'letters')}"


@dataclass(frozen=True)
class WordsInBlocks:
    """All words, laid out in texts in which what is written after each block is read back.

    Attributes:
        letters: How many there are.
        length: The most letters of a word.
        tokens: The most tokens of its text.
        block: So many letters lie between two that are written, at most.
    """

    letters: int
    length: int
    tokens: int
    block: int

    def __str__(self) -> str:
        n = self.length
        return (
            f"what is written and read back every {self.block} letters in all "
            f"{self.letters}^{n} words of length {n}, and all shorter"
        )


@dataclass(frozen=True)
class Prompts:
    """All prompts, and the whole text after each.

    Attributes:
        sizes: How many tokens may stand at each place of a prompt.
        tokens: How many tokens are read.
    """

    sizes: tuple[int, ...]
    tokens: int

    def __str__(self) -> str:
        alike = Counter(size for size in self.sizes if size > 1)
        powers = (f"{n}^{k}" if k > 1 else str(n) for n, k in alike.items())
        return f"the whole text after each of the {' · '.join(powers) or 1} prompts"


@dataclass(frozen=True)
class Lines:
    """All lines of a rewriting system, and the text after each as far as tokens go."""

    letters: int
    longest: int
    tokens: int

    def __str__(self) -> str:
        return (
            f"the text of every line of up to {self.longest} letters ({self.letters}^"
            f"{self.longest} of this length), as far as {self.tokens} tokens go"
        )


@dataclass(frozen=True)
class Lists:
    """All lists of numbers from 0 to the largest, and the whole text after each."""

    longest: int
    largest: int

    def __str__(self) -> str:
        most = f"up to {self.longest} numbers from 0 to {self.largest}"
        return f"the whole text of every list of {most}"


@dataclass(frozen=True)
class WholePrompts:
    """All prompts of one form; the answer is what is said at their last position.

    Attributes:
        demonstrations: At most so many, each of `segment` letters.
        segment: See there.
        window: The history has at least so many letters.
        history: And at most so many.
    """

    demonstrations: int
    segment: int
    window: int
    history: int

    def __str__(self) -> str:
        return (
            f"the end of all whole prompts of 1 to {self.demonstrations} demonstrations of "
            f"{self.segment} letters and a history of {self.window} to {self.history}"
        )


@dataclass(frozen=True)
class Points:
    """All choices of one point of a grid at each position."""

    count: int
    length: int

    def __str__(self) -> str:
        return f"all {self.count:,} inputs of {self.length} points of the grid"


@dataclass(frozen=True)
class UnitVectors:
    """The unit vectors of letters, up to so many; each is answered by itself."""

    letters: int
    length: int

    def __str__(self) -> str:
        return f"each of the {self.letters} letters, of up to {self.length} at once"


@dataclass(frozen=True)
class Box:
    """All sequences of real vectors whose numbers lie in intervals.

    Attributes:
        intervals: The least and the largest value of each number of a vector.
        least: The fewest vectors of a sequence.
        length: The most.
    """

    intervals: tuple[tuple[float, float], ...]
    least: int
    length: int

    def __str__(self) -> str:
        alike = len(set(self.intervals)) == 1
        each = self.intervals[:1] if alike else self.intervals
        many = f"{self.least} to {self.length}"
        ranges = ", ".join(
            f"{'x' if alike else f'x{k}'} in [{low!r}, {high!r}]"
            for k, (low, high) in enumerate(each, start=1)
        )
        size = f" of {len(self.intervals)} numbers" if len(self.intervals) > 1 else ""
        return (
            f"all inputs of {self.length if self.least == self.length else many} "
            f"vectors{size} with {ranges}"
        )


@dataclass(frozen=True)
class Selections:
    """All inputs of an exact selection (docs/proofs/attention_targets.md, T4).

    Attributes:
        form: What is selected.
        least: The fewest vectors.
        length: The most.
    """

    form: str
    least: int
    length: int

    def __str__(self) -> str:
        many = (
            f"{self.least} to {self.length}"
            if self.least < self.length
            else self.length
        )
        return f"all inputs of {many} {SELECTED[self.form]}"


SELECTED = {
    "nearest-point": "points of the grid, one a candidate",
    "centre-of-gravity": "vectors with masses and segments",
    "selection": "vectors, each of which picks one at least",
}
Inputs: TypeAlias = (
    Words
    | PossibleWords
    | LegalPrefixes
    | WordsInBlocks
    | Prompts
    | Lines
    | Lists
    | WholePrompts
    | Points
    | UnitVectors
    | Box
    | Selections
)


def contains(wider: Inputs, narrower: Inputs) -> bool:
    """Whether all inputs of one domain are some of another: the same, or shorter ones."""
    if type(wider) is not type(narrower):
        return False

    def fits(name: str) -> bool:
        bound, said = getattr(wider, name), getattr(narrower, name)
        if name == "least":
            return bool(bound <= said)
        if name in ("length", "tokens") and not isinstance(wider, Points):
            return bound is None or (said is not None and bool(said <= bound))
        return bool(bound == said)

    return all(fits(field.name) for field in fields(wider))


def _up_to(length: int | None, unit: str) -> str:
    return "every length" if length is None else f"up to {length} {unit}"


# The inputs of each kind of source, from what a header states.


Stated: TypeAlias = Mapping[str, Any]


def of_source(source: Stated, claim: Stated, length: int | None) -> Inputs:
    """The inputs that a claim about a source is about.

    Args:
        source: As the header states it.
        claim: Likewise.
        length: T.

    Raises:
        LookupError: If something is missing, or the kind is unknown.
        Refused: If it is malformed.
        TypeError: If something is of another type.
        ValueError: If something is malformed.
    """
    return OF_SOURCES[source["kind"]](source, claim, length)


def _words(source: Stated, claim: Stated, length: int | None) -> Inputs:
    return Words(len(source["letters"]), length)


def _possible_words(source: Stated, claim: Stated, length: int | None) -> Inputs:
    return PossibleWords(length)


def _in_blocks(source: Stated, claim: Stated, length: int | None) -> Inputs:
    states = len(source["classes"]) if source["kind"] == "text-in-blocks" else 1
    words, tokens, block = _whole(claim["letters"], length, source["block"])
    return WordsInBlocks(len(source["letters"]) - states, words, tokens, block)


def _prompts(source: Stated, claim: Stated, length: int | None) -> Inputs:
    places = whole(source["prompt"], 2)
    return Prompts(tuple((places[:, 1] - places[:, 0] + 1).tolist()), *_whole(length))


def _lines(source: Stated, claim: Stated, length: int | None) -> Inputs:
    return Lines(len(source["letters"]) - 2, *_whole(source["longest"], length))


def _lists(source: Stated, claim: Stated, length: int | None) -> Inputs:
    return Lists(*_whole(source["longest"], source["largest"]))


def _whole_prompts(source: Stated, claim: Stated, length: int | None) -> Inputs:
    names = "demonstrations", "window", "ahead", "history"
    count, window, ahead, history = _whole(*(source[name] for name in names))
    return WholePrompts(count, window + ahead, window, history)


def _points(source: Stated, claim: Stated, length: int | None) -> Inputs:
    return Points(prod(map(len, source["pieces"])), *_whole(length))


def _unit_interval(source: Stated, claim: Stated, length: int | None) -> Inputs:
    return Box(((0.0, 1.0),), 1, *_whole(length))


def _interval(source: Stated, claim: Stated, length: int | None) -> Inputs:
    (most,), (low, high) = _whole(length), reals(source["inputs"], 1).tolist()
    return Box(((low, high),), 1 if source.get("order") is None else most, most)


def _points_or_letters(source: Stated, claim: Stated, length: int | None) -> Inputs:
    letters, (most,) = len(source["letters"]), _whole(length)
    if "radius" not in source:
        return UnitVectors(letters, most)
    radius = real(source["radius"])
    return Box(((-radius, radius),) * letters, 1, most)


def _selections(source: Stated, claim: Stated, length: int | None) -> Inputs:
    (most,) = _whole(length)
    least = most if source["form"] == "selection" else 1
    return Selections(str(source["form"]), least, most)


def _whole(*numbers: Any) -> tuple[int, ...]:
    return tuple(int(whole(number, 0)) for number in numbers)


OF_SOURCES: dict[str, Callable[[Stated, Stated, int | None], Inputs]] = {
    "attention-target": _unit_interval,
    "chain-of-thought": _prompts,
    "context-learner": _whole_prompts,
    "grid-function": _points,
    "hidden-markov": _possible_words,
    "increasing": _lists,
    "kernel": _interval,
    "linear-system": _words,
    "posterior-head": _points_or_letters,
    "program": _words,
    "rewriting": _lines,
    "selected-mean": _selections,
    "text-in-blocks": _in_blocks,
    "vectors-in-blocks": _in_blocks,
}
"""By the kinds of sources, as headers name them: there are no others."""
