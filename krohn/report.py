"""The result of a verification, and the way long work reports its progress."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from krohn.algebra.wording import LONGEST, cut, in_runs
from krohn.program.claim import Claim
from krohn.program.inputs import Inputs
from krohn.program.wording import message_for_user
from krohn.verify.testing.simulation_result import Simulation
from krohn.verify.verdict import AllRun, OfTensors, Proved

if TYPE_CHECKING:
    from krohn.instruments.attack.campaign import Attack
    from krohn.instruments.limits.head_limits import HeadBounds
    from krohn.verify.proof import Proof, Verdict
    from krohn.verify.testing.counterexample import Counterexample
    from krohn.verify.testing.few_digits import FewestDigits
    from krohn.verify.testing.shortest_failing import Minimal
    from krohn.verify.verdict import Ground

# The progress of long work.


Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much is done, and of how much."""


Announce = Callable[[object], None]
"""Called with the cost of long work before it starts; as text it is a line."""


def silent(what: str, done: int, total: int) -> None:
    """Tell nobody."""


# The result of a verification.


@dataclass(frozen=True)
class Report:
    """The result of a verification.

    Attributes:
        verdict: ``verified``: everything that was asked for holds. ``refuted``: the
            network is wrong on a word, which was replayed. ``undecided``: the proof does
            not go through and no wrong word was found. ``out-of-range``: longer words
            were asked about than the model has positions for.
        method: What was done, joined by ``+``: ``proof``, ``exhaustive``, ``sample``.
        reason: Why it is not verified.
        length: The longest word that the verdict is about; None for all lengths.
        words: How many words were run through the network.
        ground: What shows it, if it is verified: what was proved, or run to the end.
        counterexample: A word on which network and machine differ.
        minimal: What is known of smaller ones.
        elsewhere: The start state, if the word is one for a network that was compiled on
            the way, for another start state, and is in no file.
        proof: The proof, if one was tried.
        seconds: How long it took.
        heads: What the heads cannot do, if there is no proof.
        notes: What else is to be known.
        kernel: Why the kernel does not say it, if it was asked and does not.
        attack: What came of an attack on the proof, if there was one.
        digits: With how few binary digits it was right, if that was asked.
        runs: The simulations that led to the verdict.
        ran: What was run, in the plural.
        about: The machine or source, with all names, that the verdict is about, and the
            digest of the whole claim; None only while it is being made.
    """

    verdict: "Verdict"
    method: str
    reason: str
    length: int | None
    words: int
    ground: "Ground | None" = None
    counterexample: "Counterexample | None" = None
    proof: "Proof | None" = None
    minimal: "Minimal | None" = None
    elsewhere: str | None = None
    seconds: float = field(default=0.0, compare=False)
    heads: "tuple[HeadBounds, ...]" = ()
    notes: tuple[str, ...] = ()
    kernel: str = ""
    attack: "Attack | None" = None
    digits: "FewestDigits | None" = None
    runs: tuple[Simulation, ...] = ()
    ran: str = "words"
    about: Claim | None = None

    @property
    def covers(self) -> str:
        """What was shown, and on which inputs, if it is verified."""
        if self.verdict == "verified" and self.ground is not None:
            return str(self.ground)
        return "one word" if self.verdict == "refuted" else "nothing"

    @property
    def checked_by(self) -> str | None:
        """Who has proved it, and what is trusted then; None if nobody has."""
        ground = self.ground
        while isinstance(ground, OfTensors):
            ground = ground.ground
        if self.verdict != "verified" or not isinstance(ground, Proved):
            return None
        return (
            f"{ground.by.who}, which rests on {ground.by.rests_on} and on arithmetic as "
            f"docs/soundness.md assumes{self._beside}"
        )

    @property
    def _beside(self) -> str:
        """Why the kernel did not prove what the rules have proved."""
        if not self.kernel:
            return ""
        lacks = self.kernel.startswith("the kernel has no ")
        if lacks:
            lack = self.kernel.removeprefix("the kernel ")
            how = f"was not used: it {lack}"
        else:
            how = f"did not confirm it ({self.kernel}), and --kernel require refuses it"
        return f"; the Coq kernel, which proves the same claims, {how}"

    @property
    def digest(self) -> str | None:
        """SHA-256 of the claim that the verdict is about, 64 hexadecimal digits.

        None where SMT decides: its fractions are not the format of the claim.
        """
        other = self.method in ("smt", "gadgets")
        return None if other or self.about is None else self.about.digest

    @property
    def dtype(self) -> str | None:
        """The number format of the claim that the verdict is about; None as `digest`."""
        return self.about.dtype if self.about and self.digest else None

    @property
    def largest_error(self) -> float | None:
        """How far an output was from what is right, in what was run."""
        seen = [r.largest_error for r in self.runs if r.largest_error is not None]
        return max(seen, default=None)

    def __repr__(self) -> str:
        summary = self.covers if self.verdict == "verified" else self.reason
        name = f" {cut(self.about.name, 40)}" if self.about else ""
        return f"<Report{name}: {self.verdict} ({self.method}): {cut(summary, 80)}>"

    def _repr_html_(self) -> str:
        from krohn.notebook import report

        return report(self)

    def to_object(self) -> dict[str, Any]:
        """As ``krohn verify --json`` prints it."""
        counterexample = self.counterexample
        return {
            "verdict": self.verdict,
            "about": self.about.to_object() if self.about else None,
            "digest": self.digest,
            "dtype": self.dtype,
            "claim": self.about.sense.value if self.about else None,
            "error": self.about.error or None if self.about else None,
            "method": self.method,
            "reason": self.reason,
            "length": self.length,
            "words": self.words,
            "largest_error": self.largest_error,
            "covers": self.covers,
            "checked_by": self.checked_by,
            "counterexample": counterexample.to_object() if counterexample else None,
            "minimal": self.minimal.least if self.minimal else None,
            "minimality": self.minimal.summary if self.minimal else None,
            "evidence": self.proof.evidence if self.proof else None,
            "heads": [head.to_object() for head in self.heads],
            "notes": list(self.notes),
            "attack": self.attack.to_object() if self.attack else None,
            "digits": self.digits.to_object() if self.digits else None,
            "seconds": round(self.seconds, 3),
        }


def report_out_of_range(longest: int, asked: int, method: str = "") -> Report:
    """The report on a question about longer words than there are positions for.

    Args:
        longest: The longest words that the network is for.
        asked: The longest that were asked about.
        method: What was to be done.
    """
    reason = (
        f"the network is for words of up to {longest:,} letters, and {asked:,} were asked "
        "for"
    )
    return Report("out-of-range", method, reason, longest, 0)


def report_refutation(
    runs: Sequence[Simulation],
    found: "Counterexample",
    minimise: Callable[["Counterexample"], "Minimal"],
    method: str,
) -> Report:
    """The report on a word on which network and machine differ.

    It is ``undecided`` if the network is right when it runs the word alone.

    Args:
        runs: What was run; one of them may have found the word.
        found: The word.
        minimise: How to find a smaller one.
        method: What was done.
    """
    run = next((r for r in runs if r.counterexample is found), None)
    minimal = _minimal(minimise, run, found)
    word, words = minimal.found, sum(r.words for r in runs)
    if word.reading == "among others":
        longest = max(r.length for r in runs)
        why = _explain_batch_dependence(word)
        report = Report("undecided", method, why, longest, words)
        return replace(report, runs=tuple(runs))
    return Report(
        verdict="refuted",
        method=method,
        reason=_wrong(word) + (run.about if run else ""),
        length=len(word.word),
        words=words,
        counterexample=word,
        minimal=minimal,
        runs=tuple(runs),
        elsewhere=run.elsewhere if run else None,
    )


def _minimal(
    minimise: Callable[["Counterexample"], "Minimal"],
    run: Simulation | None,
    found: "Counterexample",
) -> "Minimal":
    """The known facts on smaller words; nothing is run if the run knows them already."""
    from krohn.verify.testing.shortest_failing import Minimal

    if run is not None and (run.every or run.elsewhere is not None):
        right = len(found.word) - 1 if run.every else 0
        return Minimal(found, run.every, right, 0, 0)
    return minimise(found)


def _wrong(found: "Counterexample") -> str:
    """Where a word shows that the network is wrong."""
    if not found.word:
        return "the network is wrong at the start, before the first letter"
    # A generator also answers before the first letter.
    position = found.at - (len(found.expected) - len(found.word))
    sentence = f"the network is wrong at letter {position} of this word"
    if found.reading == "letter by letter":
        return f"{sentence}, when it reads letter by letter"
    return sentence + ", because it looks at later letters" * (
        position < len(found.word)
    )


def _explain_batch_dependence(found: "Counterexample") -> str:
    word = cut(in_runs(found.word), LONGEST)
    return (
        f"the network was wrong on {word!r} when it ran that word among "
        "others, and right when it ran it alone: its answers depend on the batch"
    )


@dataclass(frozen=True)
class Question:
    """What runs were to decide.

    Attributes:
        inputs: All inputs that were asked about.
        length: The length of the longest; None for all lengths.
        classes: Whether answers are classes, which a run can see to be right.
        complete: Whether each of these inputs was run.
    """

    inputs: Inputs
    length: int | None
    classes: bool
    complete: bool


def explain_test() -> str:
    """The reason why runs alone leave a claim undecided."""
    return message_for_user("tested, not proved (add --proof for a proof)")


def report_passing_runs(
    runs: Sequence[Simulation], method: str, asked: Question, reason: str
) -> Report:
    """The report on runs of which none was wrong: the most that runs can say.

    They verify answers that are classes, if each input that was asked about was run. They
    never verify numbers: what these are held against is rounded itself, or is compared
    for some inputs only.

    Args:
        runs: What was run.
        method: What was done.
        asked: What they were to decide.
        reason: Why nothing is proved.
    """
    shown = asked.classes and asked.complete
    about = "".join(run.about for run in runs if run.every)
    return Report(
        verdict="verified" if shown else "undecided",
        method=method,
        reason="" if shown else reason,
        length=asked.length,
        words=sum(run.words for run in runs),
        ground=AllRun(asked.inputs, about) if shown else None,
        runs=tuple(runs),
    )
