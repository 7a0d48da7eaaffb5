"""The claim that a proof is about, for people; commands and pages make it by `of`."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from krohn.program.claim_digest import digest_of
from krohn.program.wording import at_most

MACHINE = "machine"
FEWEST = 8
"""So many digits of a digest say which one it is."""
SHORT = 12
"""So many are printed."""
ROOM = 24
"""In characters, for the names of letters, states or answers on a line."""
MOST_NAMES = 8
LONGEST_NAME = 40


@dataclass(frozen=True)
class Claim:
    """The claim of a file: the function that its network is said to compute.

    Attributes:
        kind: ``"machine"``, or the kind of another source.
        name: What the machine or source is called.
        letters: The names of letters or tokens; empty if inputs are real numbers.
        states: The names of states; empty if there are none.
        answers: What each logit stands for, by name; empty for real numbers.
        are: What answers are: ``"states"``, ``"outputs"``, ``"numbers within 0.01"``, …
        outputs: What states or transitions show, where answers are states.
        length: The longest word, in letters; None for every length.
        dtype: The format.
        digest: SHA-256 of the whole claim, 64 hexadecimal digits.
    """

    kind: str
    name: str
    letters: tuple[str, ...]
    states: tuple[str, ...]
    answers: tuple[str, ...]
    are: str
    outputs: tuple[str, ...]
    length: int | None
    dtype: str
    digest: str

    def lines(self) -> tuple[str, str]:
        """Two lines that a command prints about the claim; long names are cut."""
        parts = [
            _count_in_words(self.letters, "letter"),
            _count_in_words(self.states, "state"),
        ]
        listed = ", ".join(filter(None, parts)) or "inputs are real numbers"
        kind = "" if self.kind == MACHINE else f"{_legibly(self.kind)} "
        answers = self._answer_line()
        if self.outputs:
            answers += f", which show {_count_in_words(self.outputs, 'output')}"
        return (
            f"about {kind}{_cut(_legibly(self.name, ''), LONGEST_NAME)}: {listed}",
            f"answers are {answers}; {self.dtype}; digest {self.digest[:SHORT]}",
        )

    def _answer_line(self) -> str:
        """The answers, in words; with number and names if they are outputs or classes."""
        singular = {"outputs": "output", "classes": "class"}.get(self.are)
        return self.are if singular is None else _count_in_words(self.answers, singular)

    def to_object(self) -> dict[str, Any]:
        """As ``--json`` prints it: the first names, and how many there are."""
        lists = ("letters", "states", "answers", "outputs")
        named = {key: _count_and_first(getattr(self, key)) for key in lists}
        named["answers"] = {"are": self.are, **named["answers"]}
        told = {"kind": self.kind, "name": self.name, **named}
        return {**told, "length": self.length, "dtype": self.dtype}

    def problem(self, wanted: str) -> str:
        """Why it is not the claim with a digest; empty if it is.

        Args:
            wanted: The digest, or its first digits, at least `FEWEST`.
        """
        digits = wanted.lower()
        if len(digits) < FEWEST or set(digits) - set("0123456789abcdef"):
            return f"a digest is {FEWEST} to 64 hexadecimal digits, which {wanted!r} is not"
        if self.digest.startswith(digits):
            return ""
        return (
            f"the claim is not the one asked for: its digest is "
            f"{self.digest[: max(SHORT, len(digits))]}, not {digits}; it is "
            f"{self.lines()[0]}"
        )


def of(header: Mapping[str, Any], tokenizer: Mapping[str, Any] | None = None) -> Claim:
    """The claim of a file; it is only as good as the proof that it holds.

    Args:
        header: Of the file: ``machine`` or ``source``, ``claim``, ``architecture``.
        tokenizer: The files of the tokenizer, by name, if the network reads texts by one.

    Raises:
        ValueError: If a number in it is not finite.
    """
    digest, claim = digest_of(header, tokenizer), _object(header["claim"])
    told = _object(header.get("source", header.get("machine")))
    length = claim.get("length")
    kind = str(told.get("kind")) if "source" in header else MACHINE
    letters, states, answers = (
        _names(told, k) for k in ("letters", "states", "classes")
    )
    are, outputs = _kind_of_answers(claim, kind), tuple[str, ...]()
    if kind == MACHINE:
        outputs = _names(_object(told.get("output")), "names")
        answers = {"outputs": outputs, "states": states}.get(are, letters)
        outputs = outputs if are == "states" else ()
    return Claim(
        kind=kind,
        name=str(told.get("name", "a machine without a name")),
        letters=letters,
        states=states,
        answers=answers,
        are=are,
        outputs=outputs,
        length=length if type(length) is int else None,
        dtype=str(header["architecture"]["dtype"]),
        digest=digest,
    )


def _kind_of_answers(claim: Mapping[str, Any], kind: str) -> str:
    for key, what in (("tolerance", "laws of the next letter"), ("error", "numbers")):
        if type(claim.get(key)) is float:
            return f"{what}, within {at_most(claim[key])}"
    if kind == MACHINE:
        return "outputs" if claim.get("shows", "states") != "states" else "states"
    return "the next tokens" if claim.get("kind") == "generates" else "classes"


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _names(holder: Mapping[str, Any], key: str) -> tuple[str, ...]:
    """Names that are listed; a name of several letters is told as one."""
    found = holder.get(key)
    if not isinstance(found, list | tuple):
        return ()
    each = (n if isinstance(n, list | tuple) else [n] for n in found)
    return tuple(" ".join(map(str, name)) for name in each)


def _count_and_first(names: tuple[str, ...]) -> dict[str, Any]:
    return {"count": len(names), "names": list(names[:MOST_NAMES])}


def _count_in_words(names: tuple[str, ...], noun: str) -> str:
    """The number of names with a noun, and the first names; empty if there is none."""
    if not names:
        return ""
    ends = "" if len(names) == 1 else "es" if noun.endswith("s") else "s"
    shown, room = list[str](), ROOM
    for name in map(_legibly, names[: ROOM + 1]):
        room -= len(name) + 2
        if shown and room < 0:
            break
        shown.append(_cut(name, ROOM))
    more = ["…"] if len(shown) < len(names) else []
    return f"{len(names):,} {noun}{ends} ({', '.join([*shown, *more])})"


def _legibly(name: str, between: str = ",") -> str:
    """A name; quoted if empty, or if it has the separator or control characters."""
    plain = name.isprintable() and name and not (between and between in name)
    return name if plain else json.dumps(name, ensure_ascii=not name.isprintable())


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
