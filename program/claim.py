"""The claim of a file, read once and whole: what a proof, a run or a sentence is about.

Compiler, checker, commands, exports and pages all take this object, made by `Claim.of`
from the header of a file; none of them reads the header for what it means. Whatever a
header states has a field here or is refused.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from math import inf
from typing import Any

from krohn.program import inputs
from krohn.program.architecture import Architecture, architecture_named
from krohn.program.errors import Refused, demand, refuse_unknown
from krohn.program.inputs import Inputs, LegalPrefixes, Words
from krohn.program.slices import slice_sources
from krohn.program.strict_json import canonical

MACHINE = "machine"
FEWEST = 32
"""So many digits of a digest say which one it is: no two claims with these are found."""
SHORT = 12
"""So many are printed, for the eye."""
ROOM = 24
"""In characters, for the names of letters, states or answers on a line."""
MOST_NAMES = 8
LONGEST_NAME = 40
LABELS = ("name", "written")
"""What a machine or source is called, and the text that it was read from: nothing follows
from them, and no proof reads them."""
FORMATS = ("float64", "float32", "float16", "bfloat16")
OWN_FORMAT = "its own format"
"""Of a network that is run only, by code that is not ours."""
_HEADER = {
    *("format", "version", "digest", "architecture", "machine", "source", "claim"),
    *("program", "construction", "search", "evidence", "stored", "freedom", "action"),
}
_MACHINE = {
    *("format", "version", "name", "letters", "states", "start", "transitions"),
    *("output", "inputs"),
}
_OUTPUT, _INPUTS = {"on", "names", "table"}, {"bits", "nodes"}
_ALWAYS = {"kind", "dtype", "length"}


class Sense(StrEnum):
    """What a network is claimed to say."""

    EXACT = "exact"
    """The largest logit is that of the right answer."""
    WITHIN = "within"
    """Every output is right up to an error."""
    GENERATES = "generates"
    """The largest logit is that of the right next token, whatever was right before."""
    LAWS = "laws"
    """Every output is the probability of a next letter up to a tolerance."""


class Shows(StrEnum):
    """What the logits of a network of a machine stand for."""

    STATES = "states"
    OUTPUTS = "outputs"


@dataclass(frozen=True)
class Claim:
    """The function that a network is said to compute, and where.

    Attributes:
        kind: ``"machine"``, or the kind of another source.
        name: What the machine or source is called: a label.
        letters: The names of letters or tokens; empty if inputs are real numbers.
        states: The names of states; empty if there are none.
        answers: What each logit stands for, by name; empty for real numbers.
        outputs: What states or transitions show, where answers are states.
        sense: What is claimed of the outputs.
        shows: What logits stand for, of a machine.
        inputs: On which inputs.
        length: The longest word, in letters; None for every length.
        dtype: The format of the tensors, and of the arithmetic.
        error: How far any output may be off; 0 where answers are chosen.
        model_error: Of these, in exact arithmetic; infinite if nothing is claimed.
        opening: Of laws, the probability of opening a bracket, as a fraction.
        architecture: The network, whole; None of a network that is run only.
        digest: SHA-256 of the claim without labels, 64 hexadecimal digits.
    """

    kind: str
    name: str
    letters: tuple[str, ...]
    states: tuple[str, ...]
    answers: tuple[str, ...]
    outputs: tuple[str, ...]
    sense: Sense
    shows: Shows
    inputs: Inputs
    length: int | None
    dtype: str
    error: float
    model_error: float
    opening: str
    architecture: Architecture | None
    digest: str

    @classmethod
    def of(
        cls, header: Mapping[str, Any], tokenizer: Mapping[str, Any] | None = None
    ) -> "Claim":
        """The claim of a file; it is only as good as the proof that it holds.

        Args:
            header: Of the file: ``machine`` or ``source``, ``claim``, ``architecture``.
            tokenizer: The files of the tokenizer, by name, if texts are read by one.

        Raises:
            Refused: If something is malformed, missing, or means nothing here.
        """
        try:
            return _claim(header, tokenizer)
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            reason = str(error)[:100]
            raise Refused(f"the claim is malformed ({reason})") from None

    @property
    def longest(self) -> int:
        """The longest word of a claim that has one.

        Raises:
            Refused: If it is about every length.
        """
        demand(self.length is not None, "the file claims no length")
        return self.length or 0

    @property
    def of_machine(self) -> bool:
        """Whether it is about a machine."""
        return self.kind == MACHINE

    @cached_property
    def are(self) -> str:
        """What answers are, in words; how far they may be off, a proof says."""
        match self.sense:
            case Sense.LAWS:
                return "laws of the next letter"
            case Sense.WITHIN:
                return "numbers"
            case Sense.GENERATES:
                return "the next tokens"
            case Sense.EXACT:
                return str(self.shows) if self.of_machine else "classes"
            case other:
                return refuse_unknown(other, "a claim")

    def lines(self) -> tuple[str, str]:
        """Two lines that a command prints about the claim; long names are cut."""
        parts = [
            _count_in_words(self.letters, "letter"),
            _count_in_words(self.states, "state"),
        ]
        listed = ", ".join(filter(None, parts)) or "inputs are real numbers"
        kind = "" if self.of_machine else f"{legibly(self.kind)} "
        answers = self._answer_line()
        return (
            f"about {kind}{_cut_within(legibly(self.name, ''))}: {listed}",
            f"answers are {answers}; {self.dtype}; digest {self.digest[:SHORT]}…",
        )

    def _answer_line(self) -> str:
        """The answers, in words; with number and names if they are outputs or classes."""
        if self.outputs:
            return (
                "the states after each letter; `run` prints the output of each step, one "
                f"of {len(self.outputs):,} {_first_names(self.outputs)}"
            )
        singular = {"outputs": "output", "classes": "class"}.get(self.are)
        return self.are if singular is None else _count_in_words(self.answers, singular)

    def to_object(self) -> dict[str, Any]:
        """As ``--json`` prints it: the first names, and how many there are."""
        lists = ("letters", "states", "answers", "outputs")
        named = {key: _count_and_first(getattr(self, key)) for key in lists}
        named["answers"] = {"are": self.are, **named["answers"]}
        facts = {"kind": self.kind, "name": self.name, **named}
        return {**facts, "length": self.length, "dtype": self.dtype}

    def problem(self, wanted: str) -> str:
        """Why it is not the claim with a digest; empty if it is.

        Args:
            wanted: The digest, or its first digits, at least `FEWEST`.
        """
        digits = wanted.lower()
        if set(digits) - set("0123456789abcdef") or len(digits) > 64:
            return f"a digest is {FEWEST} to 64 hexadecimal digits, which {wanted!r} is not"
        if len(digits) < FEWEST:
            return (
                f"{len(digits)} digits of a digest are too few to demand: other claims "
                f"with the same ones can be made; give {FEWEST} or more, which --json says"
            )
        if self.digest.startswith(digits):
            return ""
        return (
            f"the claim is not the one asked for: its digest is {self.digest}, not "
            f"{digits}; it is {self.lines()[0]}"
        )


def _claim(header: Mapping[str, Any], tokenizer: Mapping[str, Any] | None) -> Claim:
    _refuse_unknown_keys(header, _HEADER, "the file")
    both = {"machine", "source"} <= header.keys()
    demand(not both, "the file is about a machine and about another source")
    stated, subject = header["claim"], header.get("source", header.get("machine", {}))
    objects = all(
        isinstance(x, dict) for x in (stated, subject, header["architecture"])
    )
    demand(objects, "the file does not say what it is about")
    kind = str(subject["kind"]) if "source" in header else MACHINE
    architecture = _architecture(header)
    sense = _sense(stated, kind, architecture)
    _refuse_unknown_keys(stated, _ALWAYS | _terms(kind, sense), "the claim")
    length, dtype = _length(stated), _dtype(header)
    if kind == MACHINE:
        _check_machine(subject)
        start = stated.get("start")
        alike = start is None or subject.get("start", start) == start
        demand(alike, "the file claims another start state than that of its machine")
    letters, states, classes = (
        _names(subject, key) for key in ("letters", "states", "classes")
    )
    shows = Shows(stated.get("shows", "states"))
    outputs = _names(subject.get("output", {}), "names") if kind == MACHINE else ()
    demand(bool(outputs) or shows is Shows.STATES, "the machine has no outputs to say")
    answers = {MACHINE: outputs if shows is Shows.OUTPUTS else states}.get(
        kind, classes
    )
    error = {Sense.WITHIN: "error", Sense.LAWS: "tolerance"}.get(sense)
    return Claim(
        kind=kind,
        name=_label(subject, kind),
        letters=letters,
        states=states,
        answers=letters if sense is Sense.LAWS else answers,
        outputs=outputs if shows is Shows.STATES and sense is Sense.EXACT else (),
        sense=sense,
        shows=shows,
        inputs=_inputs(subject, stated, kind, sense, architecture),
        length=length,
        dtype=dtype,
        error=0.0 if error is None else _positive(stated, error),
        model_error=_positive(stated, "model_error")
        if "model_error" in stated
        else inf,
        opening=str(stated.get("opening", "")),
        architecture=architecture,
        digest=digest_of(header, tokenizer),
    )


def _refuse_unknown_keys(said: Mapping[str, Any], keys: set[str], who: str) -> None:
    """Refuse a key that means nothing there."""
    others = sorted(map(str, said.keys() - keys))
    demand(
        not others, f"{who} has {str(others[:3])[:80]}, which nothing is proved about"
    )


def _architecture(header: Mapping[str, Any]) -> Architecture | None:
    wire_form = header["architecture"]
    if wire_form.keys() == {"dtype"}:
        return None
    architecture = architecture_named(wire_form["kind"]).of(wire_form)
    first = _first_version(header, architecture)
    version = header.get("version", first)
    known = type(version) is int and first <= version
    demand(known, "a file of this version has no such network")
    return architecture


def first_version(header: Mapping[str, Any]) -> int:
    """The first version of model files whose readers understand a file.

    Raises:
        Refused: If it states no architecture.
    """
    wire_form = header["architecture"]
    return _first_version(
        header, architecture_named(wire_form.get("kind")).of(wire_form)
    )


def _first_version(header: Mapping[str, Any], architecture: Architecture) -> int:
    least = 7 if "stored" in header else 5 if "source" in header else 1
    return max(least, architecture.version)


def _sense(
    stated: Mapping[str, Any], kind: str, architecture: Architecture | None
) -> Sense:
    if kind == MACHINE:
        demand(
            "kind" not in stated or stated["kind"] == "exact", "a claim of a wrong kind"
        )
        laws = architecture is not None and "tolerance" in architecture.terms
        return Sense.LAWS if laws else Sense.EXACT
    known = slice_sources().get(kind)
    sense = Sense.WITHIN if known is None else Sense(known.sense)
    demand(stated["kind"] == sense, f"a claim of a wrong kind: of {kind} it is {sense}")
    return sense


def _terms(kind: str, sense: Sense) -> set[str]:
    """The terms that a claim may have beside those that all have."""
    match sense:
        case Sense.LAWS:
            return {"start", "opening", "tolerance"}
        case Sense.EXACT:
            return {"start", "shows"} if kind == MACHINE else set()
        case Sense.WITHIN | Sense.GENERATES:
            more = {"letters"} if kind.endswith("-in-blocks") else set()
            return more | ({"error", "model_error"} if sense is Sense.WITHIN else set())
        case other:
            return refuse_unknown(other, "a claim")


def _length(stated: Mapping[str, Any]) -> int | None:
    length = stated.get("length")
    right = length is None or (type(length) is int and length > 0)
    demand(right, f"the file claims the length {length!r}")
    return length


def _dtype(header: Mapping[str, Any]) -> str:
    dtype = header["architecture"]["dtype"]
    known = FORMATS if "kind" in header["architecture"] else (*FORMATS, OWN_FORMAT)
    demand(dtype in known, f"there is no format {str(dtype)[:40]!r}")
    claimed = header["claim"].get("dtype", dtype)
    demand(claimed == dtype, f"the file claims {claimed!r}, its tensors are {dtype}")
    return str(dtype)


def _positive(stated: Mapping[str, Any], key: str) -> float:
    value = stated.get(key)
    right = type(value) is float and 0 < value < inf
    demand(right, f"the file claims the {key} {value!r}")
    return float(value)  # type: ignore[arg-type]


def _check_machine(said: Mapping[str, Any]) -> None:
    _refuse_unknown_keys(said, _MACHINE, "the machine")
    named = said.get("format", "krohn-machine"), said.get("version", 1)
    right = named[0] == "krohn-machine" and type(named[1]) is int
    demand(right and 1 <= named[1] <= 2, "the machine is in an unknown format")
    for key, known in (("output", _OUTPUT), ("inputs", _INPUTS)):
        _refuse_unknown_keys(said.get(key, {}), known, f"the machine's {key}")


def _label(said: Mapping[str, Any], kind: str) -> str:
    without = {"name": "a machine without a name"} if kind == MACHINE else {}
    name = {**without, **said}["name"]
    demand(type(name) is str, "what a source is called is no text")
    return str(name)


def _names(holder: Mapping[str, Any], key: str) -> tuple[str, ...]:
    """Names that are listed; a name of several letters is told as one."""
    names = holder.get(key)
    if not isinstance(names, list | tuple):
        return ()
    whole = [n if isinstance(n, list | tuple) else [n] for n in names]
    return tuple([" ".join(map(str, name)) for name in whole])


def _inputs(
    said: Mapping[str, Any],
    stated: Mapping[str, Any],
    kind: str,
    sense: Sense,
    architecture: Architecture | None,
) -> Inputs:
    length = _length(stated)
    if kind != MACHINE:
        return inputs.of_source(said, stated, length)
    if sense is Sense.LAWS:
        return LegalPrefixes(length or 0)
    letters = len(said.get("letters", ()))
    if not letters and architecture is not None:
        letters = vars(architecture)["vocabulary"] - architecture.marks
    return Words(letters, length)


# The digest of a claim.


def digest_of(
    header: Mapping[str, Any], tokenizer: Mapping[str, Any] | None = None
) -> str:
    """The SHA-256 of the claim of a file, 64 hexadecimal digits; labels are outside.

    Args:
        header: Of the file: ``machine`` or ``source``, ``claim``, ``architecture``.
        tokenizer: The files of the tokenizer, by name, if texts are read by one.

    Raises:
        ValueError: If a number in it is not finite.
    """
    return _digest(header, tokenizer, 2, _without_labels)


def check_digest(
    header: Mapping[str, Any], tokenizer: Mapping[str, Any] | None = None
) -> None:
    """Refuse a file that states another digest than that of its claim.

    Files of earlier versions state none, or one with labels.

    Raises:
        Refused: If it does.
    """
    if "digest" not in header:
        return
    earlier = _digest(header, tokenizer, 1, lambda said: said)
    right = header["digest"] in (digest_of(header, tokenizer), earlier)
    demand(right, "the digest that the file states is not that of its claim")


def _digest(
    header: Mapping[str, Any],
    tokenizer: Mapping[str, Any] | None,
    version: int,
    kept: Callable[[Any], Any],
) -> str:
    parts = {key: kept(header[key]) for key in ("machine", "source") if key in header}
    parts |= {"claim": header["claim"], "dtype": header["architecture"]["dtype"]}
    if tokenizer is not None:
        parts["tokenizer"] = tokenizer
    hashed_object = {"format": "krohn-claim", "version": version, **parts}
    return hashlib.sha256(canonical(hashed_object).encode()).hexdigest()


def _without_labels(said: Any) -> Any:
    if not isinstance(said, dict):
        return said
    return {key: value for key, value in said.items() if key not in LABELS}


# Names, as a line prints them.


def _count_and_first(names: tuple[str, ...]) -> dict[str, Any]:
    return {"count": len(names), "names": list(names[:MOST_NAMES])}


def _count_in_words(names: tuple[str, ...], noun: str) -> str:
    """The number of names with a noun, and the first names; empty if there is none."""
    if not names:
        return ""
    ends = "" if len(names) == 1 else "es" if noun.endswith("s") else "s"
    return f"{len(names):,} {noun}{ends} {_first_names(names)}"


def _first_names(names: tuple[str, ...]) -> str:
    """As many names as there is room for, in brackets."""
    shown, room = list[str](), ROOM
    for name in map(legibly, names[: ROOM + 1]):
        room -= len(name) + 2
        if shown and room < 0:
            break
        shown.append(_cut(name, ROOM))
    more = ["…"] if len(shown) < len(names) else []
    return f"({', '.join([*shown, *more])})"


def legibly(name: str, between: str = ",") -> str:
    """A name; quoted if empty, or if it has the separator or control characters."""
    plain = name.isprintable() and name and not (between and between in name)
    return name if plain else json.dumps(name, ensure_ascii=not name.isprintable())


def _cut_within(name: str) -> str:
    """A name without its middle if it is long: its end may say what was left out."""
    if len(name) <= LONGEST_NAME:
        return name
    half = LONGEST_NAME // 2
    return f"{name[:half]}…{name[half + 1 - LONGEST_NAME :]}"


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
